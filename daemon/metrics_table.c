/* daemon/metrics_table.c - every metric: a row each
 *
 * Names: prometheus.io/docs/practices/naming. A row whose source does not exist here (a counter
 * that this driver does not have) has no samples then.
 */

#include "../lib/m5/rxq.h"
#include "metrics_inside.h"

#define LABELS(...) ((const struct metric_label *const[]){ __VA_ARGS__, NULL })
#define PORT	    LABELS(&label_port)
#define QUEUE	    LABELS(&label_port, &label_queue)

/* Unit and type of a row. */
#define COUNT_OF(unit) METRIC_COUNTER, unit
#define GAUGE_OF(unit) METRIC_GAUGE, unit
#define INFO	       METRIC_INFO, ""

#define IN(type, field) offsetof(struct type, field)

const struct metric metrics_table[] = {
	/* ---- daemon and process ---- */
	{ "mlx5fwd_build", INFO, "How the daemon was built",
	  LABELS(&label_version, &label_rdma_core, &label_compiler), COLLECT_DAEMON,
	  read_one, 0 },
	{ "mlx5fwd_ready", GAUGE_OF(""), "1 while every configured port forwards", NULL,
	  COLLECT_DAEMON, read_ready, 0 },
	{ "process_start_time_seconds", GAUGE_OF("seconds"),
	  "When the process started, since the epoch", NULL, COLLECT_PROCESS,
	  read_process_real, IN(process_facts, started_s) },
	{ "process_cpu_seconds", COUNT_OF("seconds"),
	  "CPU time of all threads, user and system", NULL, COLLECT_PROCESS,
	  read_process_real, IN(process_facts, cpu_s) },
	{ "process_resident_memory_bytes", GAUGE_OF("bytes"), "Resident memory", NULL,
	  COLLECT_PROCESS, read_process_whole, IN(process_facts, resident_bytes) },
	{ "process_virtual_memory_bytes", GAUGE_OF("bytes"), "Virtual memory", NULL,
	  COLLECT_PROCESS, read_process_whole, IN(process_facts, virtual_bytes) },
	{ "process_open_fds", GAUGE_OF(""), "Open file descriptors", NULL,
	  COLLECT_PROCESS, read_process_whole, IN(process_facts, open_fds) },
	{ "process_max_fds", GAUGE_OF(""), "File descriptors there may be", NULL,
	  COLLECT_PROCESS, read_process_whole, IN(process_facts, max_fds) },
	{ "mlx5fwd_control_clients", GAUGE_OF(""), "Clients of the control socket", NULL,
	  COLLECT_DAEMON, read_control_clients, 0 },

	/* ---- ports ---- */
	{ "mlx5fwd_port", INFO, "Facts of the port",
	  LABELS(&label_port, &label_rdma_device, &label_pci, &label_firmware,
		 &label_part, &label_mac, &label_port_numa_node),
	  COLLECT_PORTS, read_one, 0 },
	{ "mlx5fwd_port_admin_up", GAUGE_OF(""), "1 if the interface is up", PORT,
	  COLLECT_PORTS, read_port_flag, IN(port, link.up) },
	{ "mlx5fwd_port_carrier", GAUGE_OF(""), "1 if there is a carrier", PORT,
	  COLLECT_PORTS, read_port_flag, IN(port, link.carrier) },
	{ "mlx5fwd_port_lost", GAUGE_OF(""),
	  "1 if the device failed for good and the kernel has the port", PORT,
	  COLLECT_PORTS, read_port_flag, IN(port, lost) },
	{ "mlx5fwd_port_carrier_changes", COUNT_OF(""), "Carrier transitions seen", PORT,
	  COLLECT_PORTS, read_port_own, IN(port, carrier_changes) },
	{ "mlx5fwd_port_mtu_bytes", GAUGE_OF("bytes"), "MTU of the interface", PORT,
	  COLLECT_PORTS, read_port_mtu, 0 },
	{ "mlx5fwd_port_speed_bytes_per_second", GAUGE_OF("bytes_per_second"),
	  "Link speed, where the driver knows it", PORT, COLLECT_CARD, read_port_speed,
	  0 },
	{ "mlx5fwd_queue_recoveries", COUNT_OF(""), "Queues reset after an error", PORT,
	  COLLECT_PORTS, read_port_own, IN(port, recoveries) },

	/* ---- packets: at rest received = forwarded + punted + dropped, on every port ---- */
	{ "mlx5fwd_queue_receive_packets", COUNT_OF(""),
	  "Frames taken from the receive queue", QUEUE, COLLECT_PORTS, read_queue_count,
	  IN(fwd_port_count, received) },
	{ "mlx5fwd_queue_receive_bytes", COUNT_OF("bytes"), "Bytes of those frames",
	  QUEUE, COLLECT_PORTS, read_queue_count, IN(fwd_port_count, received_bytes) },
	{ "mlx5fwd_queue_transmit_packets", COUNT_OF(""),
	  "Frames given to the send queue", QUEUE, COLLECT_PORTS, read_queue_count,
	  IN(fwd_port_count, egress) },
	{ "mlx5fwd_queue_transmit_bytes", COUNT_OF("bytes"), "Bytes of those frames",
	  QUEUE, COLLECT_PORTS, read_queue_count, IN(fwd_port_count, egress_bytes) },
	{ "mlx5fwd_forwarded_packets", COUNT_OF(""), "Packets forwarded, by ingress port",
	  LABELS(&label_port, &label_family), COLLECT_PORTS, read_port_count,
	  IN(fwd_port_count, forwarded) },
	{ "mlx5fwd_forwarded_bytes", COUNT_OF("bytes"),
	  "Bytes forwarded, by ingress port", LABELS(&label_port, &label_family),
	  COLLECT_PORTS, read_port_count, IN(fwd_port_count, forwarded_bytes) },
	{ "mlx5fwd_dropped_packets", COUNT_OF(""),
	  "Packets dropped, by ingress port and reason",
	  LABELS(&label_port, &label_drop_reason), COLLECT_PORTS, read_port_count,
	  IN(fwd_port_count, dropped) },
	{ "mlx5fwd_punted_packets", COUNT_OF(""),
	  "Packets on their way to the kernel, by ingress port and reason",
	  LABELS(&label_port, &label_punt_reason), COLLECT_PORTS, read_port_count,
	  IN(fwd_port_count, punted) },
	{ "mlx5fwd_punt_delivered_packets", COUNT_OF(""), "Punts that the kernel took",
	  PORT, COLLECT_PORTS, read_punt_delivered, 0 },
	{ "mlx5fwd_punt_dropped_packets", COUNT_OF(""),
	  "Punts that did not reach the kernel", LABELS(&label_port, &label_punt_cause),
	  COLLECT_PORTS, read_punt_dropped, 0 },

	/* ---- queues ---- */
	{ "mlx5fwd_receive_descriptors", GAUGE_OF(""),
	  "Packets the receive queue has room for", QUEUE, COLLECT_PORTS,
	  read_descriptors, RECEIVE },
	{ "mlx5fwd_transmit_descriptors", GAUGE_OF(""),
	  "Packets the send queue has room for", QUEUE, COLLECT_PORTS, read_descriptors,
	  TRANSMIT },
	{ "mlx5fwd_completion_errors", COUNT_OF(""), "Error completions",
	  LABELS(&label_port, &label_queue, &label_direction), COLLECT_PORTS,
	  read_completion_errors, 0 },

	/* ---- workers ---- */
	{ "mlx5fwd_worker", INFO, "Where the worker runs",
	  LABELS(&label_worker, &label_cpu), COLLECT_WORKERS, read_one, 0 },
	{ "mlx5fwd_worker_polls", COUNT_OF(""), "Turns of the packet loop",
	  LABELS(&label_worker), COLLECT_WORKERS, read_worker_count,
	  IN(fwd_count, turns) },
	{ "mlx5fwd_worker_empty_polls", COUNT_OF(""), "Turns that found no packet",
	  LABELS(&label_worker), COLLECT_WORKERS, read_worker_count,
	  IN(fwd_count, empty_turns) },
	{ "mlx5fwd_worker_sleeps", COUNT_OF(""), "Times the worker slept until a packet",
	  LABELS(&label_worker), COLLECT_WORKERS, read_worker_count,
	  IN(fwd_count, sleeps) },

	/* ---- tables ---- */
	{ "mlx5fwd_fib_routes", GAUGE_OF(""), "Routes",
	  LABELS(&label_family, &label_origin), COLLECT_TABLES, read_fib_routes, 0 },
	{ "mlx5fwd_fib_memory_bytes", GAUGE_OF("bytes"), "Memory of the lookup tables",
	  LABELS(&label_family), COLLECT_TABLES, read_fib_64,
	  IN(fib_sizes, lookup_bytes) },
	{ "mlx5fwd_fib_rib_memory_bytes", GAUGE_OF("bytes"),
	  "Memory of the control thread's copy of all routes", NULL, COLLECT_TABLES,
	  read_fib_64, IN(fib_sizes, rib_bytes) },
	{ "mlx5fwd_fib_commits", COUNT_OF(""),
	  "Changes that became visible to the workers", NULL, COLLECT_TABLES, read_fib_64,
	  IN(fib_sizes, commits) },
	{ "mlx5fwd_fib_updates", COUNT_OF(""), "Routes changed", LABELS(&label_operation),
	  COLLECT_TABLES, read_fib_64, IN(fib_sizes, adds) },
	{ "mlx5fwd_fib_update_failures", COUNT_OF(""),
	  "Changes given up: no memory, or a table is full", NULL, COLLECT_TABLES,
	  read_fib_64, IN(fib_sizes, failures) },
	{ "mlx5fwd_nexthops", GAUGE_OF(""), "Next hops in use, groups among them", NULL,
	  COLLECT_TABLES, read_fib_32, IN(fib_sizes, nexthops) },
	{ "mlx5fwd_capacity_nexthops", GAUGE_OF(""), "Next hops there may be", NULL,
	  COLLECT_TABLES, read_fib_32, IN(fib_sizes, max_nexthops) },
	{ "mlx5fwd_nexthop_groups", GAUGE_OF(""), "Groups of next hops in use", NULL,
	  COLLECT_TABLES, read_fib_32, IN(fib_sizes, groups) },
	{ "mlx5fwd_capacity_nexthop_groups", GAUGE_OF(""), "Groups there may be", NULL,
	  COLLECT_TABLES, read_fib_32, IN(fib_sizes, max_groups) },
	{ "mlx5fwd_nexthop_group_memory_bytes", GAUGE_OF("bytes"),
	  "Memory of the groups of next hops", NULL, COLLECT_TABLES, read_fib_64,
	  IN(fib_sizes, group_bytes) },
	{ "mlx5fwd_mirror_overruns", COUNT_OF(""),
	  "Times that news of the kernel were lost, and all was asked for again", NULL,
	  COLLECT_TABLES, read_overruns, 0 },

	/* ---- the card ---- */
	{ "mlx5fwd_hw_receive_out_of_buffer", COUNT_OF(""),
	  "Frames that found no buffer, in our receive queues or in the kernel's",
	  LABELS(&label_port, &label_scope), COLLECT_CARD, read_out_of_buffer,
	  CARD_RX_OUT_OF_BUFFER },
	{ "mlx5fwd_hw_receive_discards_phy", COUNT_OF(""),
	  "Frames the card dropped because its buffer was full", PORT, COLLECT_CARD,
	  read_card, CARD_RX_DISCARDS },
	{ "mlx5fwd_hw_receive_steer_missed", COUNT_OF(""), "Frames that no rule wanted",
	  PORT, COLLECT_CARD, read_card, CARD_RX_STEER_MISSED },
	{ "mlx5fwd_hw_receive_errors", COUNT_OF(""), "Bad frames at the port",
	  LABELS(&label_port, &label_error_kind), COLLECT_CARD, read_card, CARD_RX_CRC },
	{ "mlx5fwd_hw_transmit_discards_phy", COUNT_OF(""),
	  "Frames dropped on the way out", PORT, COLLECT_CARD, read_card,
	  CARD_TX_DISCARDS },
	{ "mlx5fwd_hw_transmit_errors_phy", COUNT_OF(""), "Frames that could not be sent",
	  PORT, COLLECT_CARD, read_card, CARD_TX_ERRORS },
	{ "mlx5fwd_hw_pause_frames", COUNT_OF(""), "Link-level pause frames",
	  LABELS(&label_port, &label_direction), COLLECT_CARD, read_card, CARD_RX_PAUSE },
	{ "mlx5fwd_hw_pci_stalled_ratio", GAUGE_OF("ratio"),
	  "Part of the last second that requests to the host waited for credits",
	  LABELS(&label_port, &label_pci_direction), COLLECT_CARD, read_card_ratio,
	  CARD_PCI_STALLED_READ },
	{ "mlx5fwd_hw_pci_buffer_overflow", COUNT_OF(""),
	  "Frames dropped because the host took too long", PORT, COLLECT_CARD, read_card,
	  CARD_PCI_OVERFLOW },
	{ "mlx5fwd_hw_prio_discards", COUNT_OF(""),
	  "Frames dropped for lack of buffer, by priority",
	  LABELS(&label_port, &label_priority), COLLECT_CARD, read_card,
	  CARD_PRIO_DISCARDS },

	/* ---- the scrape; last, when it is known ---- */
	{ "mlx5fwd_scrape_collector_success", GAUGE_OF(""),
	  "0 if something could not be read", LABELS(&label_collector), COLLECT_SCRAPE,
	  read_scrape_success, 0 },
	{ "mlx5fwd_scrape_duration_seconds", GAUGE_OF("seconds"), "Time this scrape took",
	  NULL, COLLECT_SCRAPE, read_scrape_duration, 0 },
};
const size_t metrics_table_rows = ARRAY_LEN(metrics_table);
