/* daemon/show.c - requests that only look: ports, drops, workers, the daemon */

#include <errno.h>
#include <string.h>

#include "../lib/base/time.h"
#include "../lib/ctl/proto.h"
#include "../lib/ctl/version.h"
#include "../lib/m5/rx_hot.h"
#include "../lib/m5/tx_hot.h"
#include "keep.h"
#include "latency.h"
#include "mac.h"
#include "requests.h"
#include "router.h"
#include "show.h"

/* ---- sums over workers ---- */

static void add_port_count(struct fwd_port_count *sum, const struct fwd_port_count *c)
{
	const uint64_t *from = (const uint64_t *)(const void *)c;
	uint64_t *to = (uint64_t *)(void *)sum;

	for (size_t i = 0; i < sizeof(*sum) / sizeof(*to); i++)
		to[i] += fwd_read(&from[i]);
}

struct fwd_port_count port_sum(const struct router *r, unsigned port)
{
	struct fwd_port_count sum = r->kept[port].count;

	for (unsigned w = 0; w < r->n_workers; w++)
		add_port_count(&sum, fwd_worker_port_count(r->worker[w], port));
	return sum;
}

static uint64_t total(const uint64_t *v, size_t n)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += fwd_read(&v[i]);
	return sum;
}

/* ---- port show ---- */

static void set_link(struct row *row, const struct port *p)
{
	char mac[MAC_TEXT];

	row_set_text(row, "address", mac_text(p->link.mac, mac));
	row_set_count(row, "mtu", p->link.mtu);
	row_set_flag(row, "up", p->link.up);
	row_set_flag(row, "carrier", p->link.carrier);
}

static void set_state(struct row *row, const struct port *p)
{
	row_set_text(row, "state", p->lost ? "lost" : "forwarding");
}

struct row *port_state_row(const struct port *p)
{
	struct row *row = row_new();

	row_set_text(row, "port", p->conf->name);
	set_link(row, p);
	set_state(row, p);
	return row;
}

static void set_identity(struct row *row, const struct router *r, const struct port *p)
{
	const struct m5_caps *caps = m5_dev_caps(p->dev);

	row_set_text(row, "port", p->conf->name);
	row_set_text(row, "rdma_device", caps->rdma_name);
	row_set_text(row, "pci", caps->pci);
	set_link(row, p);
	row_set_count(row, "queues", r->n_workers);
	set_state(row, p);
}

static void set_traffic(struct row *row, const struct router *r, const struct port *p)
{
	struct fwd_port_count c = port_sum(r, p->index);

	row_set_count(row, "received", c.received);
	row_set_count(row, "received_bytes", c.received_bytes);
	row_set_count(row, "forwarded", c.forwarded[0] + c.forwarded[1]);
	row_set_count(row, "forwarded_ipv4", c.forwarded[0]);
	row_set_count(row, "forwarded_ipv6", c.forwarded[1]);
	row_set_count(row, "punted", total(c.punted, PKT_PUNT_COUNT));
	row_set_count(row, "dropped", total(c.dropped, PKT_DROP_COUNT));
	row_set_count(row, "egress", c.egress[0] + c.egress[1]);
	row_set_count(row, "egress_bytes", c.egress_bytes[0] + c.egress_bytes[1]);
}

static void set_punt_results(struct row *row, const struct router *r,
			     const struct port *p)
{
	const struct exc_port_count *c = exc_port_count(r->exc, p->index);

	row_set_count(row, "punt_delivered", total(c->delivered, PKT_PUNT_COUNT));
	row_set_count(row, "punt_policed", total(c->policed, PKT_PUNT_COUNT));
	row_set_count(row, "punt_failed", total(c->failed, PKT_PUNT_COUNT));
}

static void set_queues(struct row *row, const struct router *r, const struct port *p)
{
	const struct kept *k = &r->kept[p->index];
	uint64_t rx_errors = k->receive_errors, tx_errors = k->transmit_errors;
	uint64_t doorbells = k->doorbells, compressed = k->compressed, v;

	for (unsigned w = 0; w < r->n_workers; w++) {
		const struct m5_rx *rx = m5_rxq_hot(p->rxq[w]);
		const struct m5_tx *tx = m5_txq_hot(p->txq[w]);

		rx_errors += fwd_read(&rx->errors) + fwd_read(&rx->out_of_step);
		tx_errors += fwd_read(&tx->errors);
		doorbells += fwd_read(&tx->doorbells);
		compressed += fwd_read(&rx->compressed);
	}
	row_set_count(row, "out_of_buffer",
		      keep_out_of_buffer(p, &v) < 0 ? k->out_of_buffer_told : v);
	row_set_count(row, "receive_errors", rx_errors);
	row_set_count(row, "transmit_errors", tx_errors);
	row_set_count(row, "doorbells", doorbells);
	row_set_count(row, "compressed_completions", compressed);
	row_set_count(row, "recoveries", recover_count(p));
	row_set_count(row, "carrier_changes", p->carrier_changes);
}

/* How frames arrive at a port: of each worker the same. */
static void set_receive(struct row *row, const struct router *r, const struct port *p)
{
	struct row *receive = row_new();
	struct m5_rxq_info i;

	m5_rxq_info(p->rxq[0], &i);
	row_set_text(receive, "queue", i.striding ? "striding" : "cyclic");
	row_set_count(receive, "chunks", i.chunks);
	row_set_count(receive, "strides_of_a_chunk", i.strides);
	row_set_count(receive, "stride_bytes", i.stride_bytes);
	row_set_count(receive, "posted_bytes", i.bytes * r->n_workers);
	row_set_text(receive, "compression", i.compression);
	row_set_text(receive, "compression_reason", i.why);
	row_set_text(receive, "compression_format", i.mini);
	row_set_count(receive, "prefetch", i.prefetch);
	row_set_row(row, "receive", receive);
}

/* How frames leave by a port: of each worker the same. */
static void set_send(struct row *row, const struct port *p)
{
	struct row *send = row_new();
	struct m5_txq_choice c;

	m5_txq_choice(p->txq[0], &c);
	row_set_text(send, "mode", c.send);
	row_set_text(send, "reason", c.reason);
	row_set_count(send, "copied_up_to_bytes", c.copied_up_to_bytes);
	row_set_count(send, "inlined_header_bytes", c.min_inline_bytes);
	row_set_count(send, "rings_of_a_worker", c.rings);
	row_set_text(send, "order",
		     c.rings > 1 ? "frames of a flow may overtake each other" : "kept");
	row_set_text(send, "doorbell", c.doorbell);
	row_set_row(row, "send", send);
}

static void set_counters(struct row *row, const struct router *r, const struct port *p)
{
	set_traffic(row, r, p);
	set_punt_results(row, r, p);
	set_queues(row, r, p);
}

static struct row *port_row(struct router *r, struct port *p)
{
	struct row *row = row_new();

	set_identity(row, r, p);
	set_counters(row, r, p);
	row_less(row, p->base);
	set_receive(row, r, p);
	set_send(row, p);
	latency_show(row, r, p);
	return row;
}

/* One port, or each; NULL rows are none. */
static void each_port(struct request *req, const char *what,
		      struct row *(*fn)(struct router *r, struct port *p))
{
	struct router *r = req->router;
	const struct port *only = req->n ? port_by_name(r, req->arg[0]) : NULL;

	if (req->n && !only) {
		client_error(req->client, -ENODEV, NULL,
			     "%s %s: not a port of this router", what, req->arg[0]);
		return;
	}
	for (unsigned i = 0; i < r->n_ports; i++) {
		struct row *row;

		if (only && only != &r->port[i])
			continue;
		row = fn(r, &r->port[i]);
		if (row)
			client_row(req->client, row);
	}
	keep_counters_shown(r);
	client_ok(req->client);
}

void request_port_show(struct request *req)
{
	each_port(req, "port show", port_row);
}

/* Counters go on as they are: their owners write them, and Prometheus reads them. What is shown
 * here is what has come since. */
static struct row *reset_port(struct router *r, struct port *p)
{
	row_free(p->base);
	p->base = row_new();
	set_counters(p->base, r, p);
	return NULL;
}

void request_port_reset(struct request *req)
{
	each_port(req, "port reset", reset_port);
}

/* ---- drop show: every reason, zero or not ---- */

static void set_drops(struct row *row, const struct router *r, const struct port *p)
{
	struct fwd_port_count c = port_sum(r, p->index);
	struct row *drops = row_new(), *punts = row_new();

	for (unsigned i = 0; i < PKT_DROP_COUNT; i++)
		row_set_count(drops, pkt_drop_reason[i].name, c.dropped[i]);
	for (unsigned i = 0; i < PKT_PUNT_COUNT; i++)
		row_set_count(punts, pkt_punt_reason[i].name, c.punted[i]);
	row_set_text(row, "port", p->conf->name);
	row_set_row(row, "dropped", drops);
	row_set_row(row, "punted", punts);
}

static struct row *drop_row(struct router *r, struct port *p)
{
	struct row *row = row_new();

	set_drops(row, r, p);
	row_less(row, p->drop_base);
	return row;
}

void request_drop_show(struct request *req)
{
	each_port(req, "drop show", drop_row);
}

static struct row *reset_drops(struct router *r, struct port *p)
{
	row_free(p->drop_base);
	p->drop_base = row_new();
	set_drops(p->drop_base, r, p);
	return NULL;
}

void request_drop_reset(struct request *req)
{
	each_port(req, "drop reset", reset_drops);
}

/* ---- worker show ---- */

static struct row *loop_row(void)
{
	struct row *row = row_new();

	row_set_text(row, "instructions", fwd_worker_instructions());
	row_set_text(row, "idle_wait", fwd_worker_watch());
	return row;
}

static struct row *worker_row(const struct router *r, unsigned w)
{
	const struct fwd_count *c = fwd_worker_count(r->worker[w]);
	uint64_t received = 0, forwarded = 0;
	struct row *row = row_new();

	for (unsigned p = 0; p < r->n_ports; p++) {
		const struct fwd_port_count *pc = fwd_worker_port_count(r->worker[w], p);

		received += fwd_read(&pc->received);
		forwarded += fwd_read(&pc->forwarded[0]) + fwd_read(&pc->forwarded[1]);
	}
	row_set_count(row, "worker", w);
	row_set_number(row, "cpu", fwd_worker_cpu(r->worker[w])); /* -1 = any */
	row_set_count(row, "received", received);
	row_set_count(row, "forwarded", forwarded);
	row_set_count(row, "turns", fwd_read(&c->turns));
	row_set_count(row, "empty_turns", fwd_read(&c->empty_turns));
	row_set_count(row, "sleeps", fwd_read(&c->sleeps));
	placement_show(row, r, w);
	row_set_row(row, "loop", loop_row());
	return row;
}

void request_worker_show(struct request *req)
{
	for (unsigned w = 0; w < req->router->n_workers; w++)
		client_row(req->client, worker_row(req->router, w));
	keep_counters_shown(req->router);
	client_ok(req->client);
}

/* ---- status, version ---- */

static unsigned ports_up(const struct router *r)
{
	unsigned up = 0;

	for (unsigned i = 0; i < r->n_ports; i++)
		up += !r->port[i].lost && r->port[i].link.up && r->port[i].link.carrier;
	return up;
}

void request_status(struct request *req)
{
	const struct router *r = req->router;
	struct row *row = row_new();
	struct fib_sizes s;

	fib_sizes(r->fib, &s);
	row_set_text(row, "state", r->forwarding ? "forwarding" : "starting");
	row_set_count(row, "uptime_seconds", (time_ns() - r->started_ns) / NS_PER_S);
	row_set_count(row, "ports", r->n_ports);
	row_set_count(row, "ports_up", ports_up(r));
	row_set_count(row, "workers", r->n_workers);
	row_set_count(row, "routes_ipv4",
		      s.routes[0][FIB_STATIC] + s.routes[0][FIB_KERNEL]);
	row_set_count(row, "routes_ipv6",
		      s.routes[1][FIB_STATIC] + s.routes[1][FIB_KERNEL]);
	row_set_count(row, "nexthops", s.nexthops);
	row_set_count(row, "nexthop_groups", s.groups);
	row_set_count(row, "table_bytes",
		      s.lookup_bytes[0] + s.lookup_bytes[1] + s.rib_bytes);
	row_set_count(row, "netlink_overruns", keep_overruns(r));
	client_row(req->client, row);
	client_ok(req->client);
}

void request_version(struct request *req)
{
	struct row *row = row_new();

	row_set_text(row, "version", MLX5FWD_VERSION);
	row_set_count(row, "protocol", CTL_PROTOCOL);
	client_row(req->client, row);
	client_ok(req->client);
}
