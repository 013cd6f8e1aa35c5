/* daemon/metrics_labels.c - what labels go over */

#include <stdio.h>

#include "mac.h"
#include "metrics_inside.h"

#define TEXT(name) \
	static const char *name(MAYBE const void *of, MAYBE const unsigned at[], \
				MAYBE unsigned i, MAYBE char room[METRIC_TEXT])
#define COUNT(name) static unsigned name(MAYBE const void *of)

static const struct router *router_of(const void *of)
{
	return ((const struct scrape *)of)->router;
}

/* ---- numbers ---- */

TEXT(decimal)
{
	snprintf(room, METRIC_TEXT, "%u", at[i]);
	return room;
}

COUNT(workers)
{
	return router_of(of)->n_workers;
}

COUNT(priorities)
{
	return 8;
}
COUNT(lengths) /* IPv4 has less of them: read_fib_lengths() */
{
	return 129;
}

/* One receive and one send queue a worker and port. */
const struct metric_label label_queue = { "queue", workers, decimal };
const struct metric_label label_worker = { "worker", workers, decimal };
const struct metric_label label_length = { "length", lengths, decimal };
const struct metric_label label_priority = { "priority", priorities, decimal };

/* ---- words ---- */

#define WORDS(what, ...) \
	static const char *const what##_word[] = { __VA_ARGS__ }; \
	COUNT(what##_count) \
	{ \
		return sizeof(what##_word) / sizeof(what##_word[0]); \
	} \
	TEXT(what##_text) \
	{ \
		return what##_word[at[i]]; \
	}

WORDS(family, "ipv4", "ipv6")
WORDS(direction, "receive", "transmit")
WORDS(pci_direction, "read", "write")
WORDS(punt_cause, "policer", "inject_error")
WORDS(reset, "ok", "failed")
WORDS(error_kind, "crc", "symbol", "length_in_range", "length_out_of_range", "oversize",
      "undersize")
WORDS(scope, "own", "netdev")
WORDS(collector, [COLLECT_DAEMON] = "daemon", [COLLECT_PORTS] = "ports",
      [COLLECT_WORKERS] = "workers", [COLLECT_TABLES] = "tables", [COLLECT_CARD] = "card",
      [COLLECT_PROCESS] = "process", [COLLECT_SCRAPE] = "scrape")

COUNT(operation_count)
{
	return FIB_OPERATION_COUNT;
}

TEXT(operation_text)
{
	return fib_operation_name(at[i]);
}

COUNT(refusal_count)
{
	return FIB_REFUSAL_COUNT;
}

TEXT(refusal_text)
{
	return fib_refusal_name(at[i]);
}

COUNT(result_count)
{
	return REQUEST_RESULTS;
}

TEXT(result_text)
{
	return request_result_name(at[i]);
}

const struct metric_label label_family = { "family", family_count, family_text };
const struct metric_label label_direction = { "direction", direction_count,
					      direction_text };
const struct metric_label label_pci_direction = { "direction", pci_direction_count,
						  pci_direction_text };
const struct metric_label label_punt_cause = { "cause", punt_cause_count,
					       punt_cause_text };
const struct metric_label label_operation = { "operation", operation_count,
					      operation_text };
const struct metric_label label_error_kind = { "kind", error_kind_count,
					       error_kind_text };
const struct metric_label label_reset = { "result", reset_count, reset_text };
const struct metric_label label_refusal = { "reason", refusal_count, refusal_text };
const struct metric_label label_result = { "result", result_count, result_text };
const struct metric_label label_scope = { "scope", scope_count, scope_text };
const struct metric_label label_collector = { "collector", collector_count,
					      collector_text };

/* ---- tables of others ---- */

COUNT(drop_reasons)
{
	return PKT_DROP_COUNT;
}
TEXT(drop_reason)
{
	return pkt_drop_reason[at[i]].name;
}
COUNT(punt_reasons)
{
	return PKT_PUNT_COUNT;
}
TEXT(punt_reason)
{
	return pkt_punt_reason[at[i]].name;
}
COUNT(failures)
{
	return FAILURE_COUNT;
}
TEXT(failure)
{
	return failure_name((enum failure)at[i]);
}
/* What one can ask for: an object, and what is done with it. */
COUNT(kinds_of_request)
{
	return request_kinds();
}
TEXT(object)
{
	return request_object(at[i]);
}
TEXT(verb)
{
	return request_verb(at[i - 1]);
}
COUNT(origins)
{
	return FIB_ORIGIN_COUNT;
}
TEXT(origin)
{
	return fib_origin_name((enum fib_origin)at[i]);
}

const struct metric_label label_drop_reason = { "reason", drop_reasons, drop_reason };
const struct metric_label label_punt_reason = { "reason", punt_reasons, punt_reason };
const struct metric_label label_origin = { "origin", origins, origin };
const struct metric_label label_syndrome = { "syndrome", failures, failure };
const struct metric_label label_object = { "object", kinds_of_request, object };
const struct metric_label label_verb = { "verb", NULL, verb };

/* ---- facts of a port, which is the first label ---- */

static const struct port *port_of(const void *of, const unsigned at[])
{
	return &router_of(of)->port[at[0]];
}

COUNT(ports)
{
	return router_of(of)->n_ports;
}
TEXT(port_name)
{
	return port_of(of, at)->conf->name;
}
TEXT(rdma_device)
{
	return m5_dev_caps(port_of(of, at)->dev)->rdma_name;
}
TEXT(pci)
{
	return m5_dev_caps(port_of(of, at)->dev)->pci;
}
TEXT(firmware)
{
	return m5_dev_caps(port_of(of, at)->dev)->fw_ver;
}
/* The number on the bus, as pci.ids has it: 101d. */
TEXT(part)
{
	snprintf(room, METRIC_TEXT, "%04x", m5_dev_caps(port_of(of, at)->dev)->device_id);
	return room;
}
TEXT(mac)
{
	return mac_text(port_of(of, at)->link.mac, room);
}
TEXT(port_numa_node)
{
	snprintf(room, METRIC_TEXT, "%d", m5_dev_caps(port_of(of, at)->dev)->numa_node);
	return room;
}

const struct metric_label label_port = { "port", ports, port_name };
const struct metric_label label_rdma_device = { "rdma_device", NULL, rdma_device };
const struct metric_label label_pci = { "pci", NULL, pci };
const struct metric_label label_firmware = { "firmware", NULL, firmware };
const struct metric_label label_part = { "part", NULL, part };
const struct metric_label label_mac = { "mac", NULL, mac };
const struct metric_label label_port_numa_node = { "numa_node", NULL, port_numa_node };

/* ---- others that are one text ---- */

TEXT(cpu)
{
	int n = fwd_worker_cpu(router_of(of)->worker[at[0]]);

	snprintf(room, METRIC_TEXT, "%d", n);
	return n < 0 ? "any" : room;
}
TEXT(worker_numa_node)
{
	snprintf(room, METRIC_TEXT, "%d", place_plan_node(&router_of(of)->place, at[0]));
	return room;
}
TEXT(version)
{
	return MLX5FWD_VERSION;
}
TEXT(rdma_core)
{
	return RDMA_CORE_VERSION;
}
TEXT(compiler)
{
#ifdef __clang__
	return __VERSION__;
#else
	return "gcc " __VERSION__;
#endif
}

const struct metric_label label_cpu = { "cpu", NULL, cpu };
const struct metric_label label_worker_numa_node = { "numa_node", NULL,
						     worker_numa_node };
const struct metric_label label_version = { "version", NULL, version };
const struct metric_label label_rdma_core = { "rdma_core", NULL, rdma_core };
const struct metric_label label_compiler = { "compiler", NULL, compiler };
