/* daemon/metrics_inside.h - what one scrape looks at; for the files of metrics only */
#pragma once

#include "../lib/metrics/expose.h"
#include "router.h"

/* Who can fail: mlx5fwd_scrape_collector_success. */
enum collector {
	COLLECT_DAEMON,
	COLLECT_PORTS,
	COLLECT_WORKERS,
	COLLECT_TABLES,
	COLLECT_CARD,
	COLLECT_PROCESS,
	COLLECT_SCRAPE,
	COLLECTORS
};

/* proc(5), pid/stat and its like */
struct process_facts {
	double started_s; /* since the epoch */
	double cpu_s;
	uint64_t resident_bytes, virtual_bytes, open_fds, max_fds;
};

/* The driver's counters of a port, by what ethtool -S calls them: metrics_card.c has the names. */
enum card_counter {
	CARD_RX_DISCARDS,
	CARD_RX_OUT_OF_BUFFER,
	CARD_RX_STEER_MISSED,
	CARD_RX_CRC,
	CARD_RX_SYMBOL,
	CARD_RX_LENGTH_IN_RANGE,
	CARD_RX_LENGTH_OUT_OF_RANGE,
	CARD_RX_OVERSIZE,
	CARD_RX_UNDERSIZE,
	CARD_TX_DISCARDS,
	CARD_TX_ERRORS,
	CARD_RX_PAUSE,
	CARD_TX_PAUSE,
	CARD_PCI_STALLED_READ,
	CARD_PCI_STALLED_WRITE,
	CARD_PCI_OVERFLOW,
	CARD_PRIO_DISCARDS,
	CARD_COUNTERS = CARD_PRIO_DISCARDS + 8
};

struct card_facts {
	uint64_t has; /* a bit a counter */
	uint64_t counter[CARD_COUNTERS];
	uint64_t speed_mbps; /* 0 = unknown */
};

struct scrape {
	struct router *router;
	uint64_t started_ns;
	uint32_t failed; /* a bit a collector */
	struct fib_sizes fib;
	struct process_facts process;
	struct card_facts card[FWD_PORTS_MAX];
};

/* metrics.c: every sample, as text to be freed; NULL = no memory. */
char *metrics_scrape(struct router *r, enum metrics_form form, size_t *ret_bytes);

bool router_is_ready(const struct router *r); /* every port forwards */
int process_look(struct process_facts *ret);
/* What the device does not have is not in it. @netdev is of our network namespace. */
int card_look(const char *netdev, struct card_facts *ret);

/* metrics_table.c */
extern const struct metric metrics_table[];
extern const size_t metrics_table_rows;

/* metrics_labels.c */
extern const struct metric_label label_port, label_queue, label_worker, label_family,
	label_direction, label_drop_reason, label_punt_reason, label_punt_cause,
	label_origin, label_operation, label_collector, label_error_kind, label_priority,
	label_scope, label_pci_direction, label_rdma_device, label_pci, label_firmware,
	label_mac, label_part, label_port_numa_node, label_cpu, label_worker_numa_node,
	label_version, label_rdma_core, label_compiler, label_syndrome, label_reset,
	label_length, label_refusal, label_object, label_verb, label_result;

/* What a row of the table reads, metrics_read.c; `where` of the row says which. */
#define MAYBE __attribute__((unused)) /* most use some of these only */
#define METRIC_READ(name) \
	int read_##name(MAYBE const void *of, MAYBE const struct metric *m, \
			MAYBE const unsigned at[], MAYBE struct metric_value *ret)
METRIC_READ(one);
METRIC_READ(ready);
METRIC_READ(reload_done);
METRIC_READ(reload_time);
METRIC_READ(scrape_success);
METRIC_READ(scrape_duration);
METRIC_READ(process_whole);
METRIC_READ(process_real);
METRIC_READ(port_flag);
METRIC_READ(port_mtu);
METRIC_READ(port_speed);
METRIC_READ(latency);
METRIC_READ(port_own); /* uint64_t of struct port */
METRIC_READ(
	port_count); /* of struct fwd_port_count, all workers; an array goes with the label */
METRIC_READ(queue_count); /* the same, one worker */
METRIC_READ(queue_sent);  /* the same, both families */
METRIC_READ(punt_delivered);
METRIC_READ(punt_dropped);
METRIC_READ(descriptors); /* enum direction */
METRIC_READ(ring_used);	  /* the same */
METRIC_READ(ring_full);
METRIC_READ(compressed);
METRIC_READ(completion_errors);
METRIC_READ(recoveries);
METRIC_READ(out_of_buffer);
METRIC_READ(bursts);
METRIC_READ(worker_count);   /* of struct fwd_count */
METRIC_READ(worker_seconds); /* the same, ticks */
METRIC_READ(worker_switches);
METRIC_READ(worker_still);
METRIC_READ(fib_routes);
METRIC_READ(fib_lengths);
METRIC_READ(fib_32); /* of struct fib_sizes */
METRIC_READ(fib_64); /* the same, an array goes with the label */
METRIC_READ(fib_updates);
METRIC_READ(fib_refused);
METRIC_READ(commits);
METRIC_READ(overruns);
METRIC_READ(control_clients);
METRIC_READ(control_requests);
METRIC_READ(card);	 /* enum card_counter */
METRIC_READ(card_ratio); /* the same, of a percentage */
