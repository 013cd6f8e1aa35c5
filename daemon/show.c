/* daemon/show.c - requests that only look */

#include <string.h>

#include "../lib/base/time.h"
#include "../lib/ctl/proto.h"
#include "../lib/m5/rx_hot.h"
#include "../lib/m5/tx_hot.h"
#include "requests.h"
#include "router.h"
#include "version.h"

static void set_count(json_t *o, const char *key, uint64_t v)
{
	json_object_set_new(o, key, json_integer((json_int_t)v));
}

/* ---- sums over workers ---- */

static void add_port_count(struct fwd_port_count *sum, const struct fwd_port_count *c)
{
	const uint64_t *from = (const uint64_t *)(const void *)c;
	uint64_t *to = (uint64_t *)(void *)sum;

	for (size_t i = 0; i < sizeof(*sum) / sizeof(*to); i++)
		to[i] += fwd_read(&from[i]);
}

static struct fwd_port_count port_sum(const struct router *r, unsigned port)
{
	struct fwd_port_count sum;

	memset(&sum, 0, sizeof(sum));
	for (unsigned w = 0; w < r->n_workers; w++)
		add_port_count(&sum, fwd_worker_port_count(r->worker[w], port));
	return sum;
}

static uint64_t total(const uint64_t *v, size_t n)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += v[i];
	return sum;
}

/* ---- port show ---- */

static void add_queues(json_t *o, const struct router *r, const struct port *p)
{
	uint64_t out_of_buffer = 0, rx_errors = 0, tx_errors = 0, doorbells = 0, v;

	for (unsigned w = 0; w < r->n_workers; w++) {
		const struct m5_rx *rx = m5_rxq_hot(p->rxq[w]);
		const struct m5_tx *tx = m5_txq_hot(p->txq[w]);

		if (m5_rxq_out_of_buffer(p->rxq[w], &v) == 0)
			out_of_buffer += v;
		rx_errors += fwd_read(&rx->errors) + fwd_read(&rx->out_of_step);
		tx_errors += fwd_read(&tx->errors);
		doorbells += fwd_read(&tx->doorbells);
	}
	set_count(o, "out_of_buffer", out_of_buffer);
	set_count(o, "receive_errors", rx_errors);
	set_count(o, "transmit_errors", tx_errors);
	set_count(o, "doorbells", doorbells);
	set_count(o, "recoveries", p->recoveries);
	set_count(o, "carrier_changes", p->carrier_changes);
}

static void add_punt_results(json_t *o, const struct router *r, unsigned port)
{
	const struct exc_port_count *c = exc_port_count(r->exc, port);
	uint64_t delivered = 0, policed = 0, failed = 0;

	for (unsigned i = 0; i < PKT_PUNT_COUNT; i++) {
		delivered += fwd_read(&c->delivered[i]);
		policed += fwd_read(&c->policed[i]);
		failed += fwd_read(&c->failed[i]);
	}
	set_count(o, "punt_delivered", delivered);
	set_count(o, "punt_policed", policed);
	set_count(o, "punt_failed", failed);
}

static json_t *port_object(const struct router *r, const struct port *p)
{
	struct fwd_port_count c = port_sum(r, p->index);
	const struct m5_caps *caps = m5_dev_caps(p->dev);
	char mac[18];
	json_t *o;

	snprintf(mac, sizeof(mac), "%02x:%02x:%02x:%02x:%02x:%02x", p->link.mac[0], p->link.mac[1],
		 p->link.mac[2], p->link.mac[3], p->link.mac[4], p->link.mac[5]);
	o = json_pack("{sssssssssisbsbsi}", "port", p->conf->name, "rdma_device", caps->rdma_name, "pci",
		      caps->pci, "address", mac, "mtu", (int)p->link.mtu, "up", p->link.up, "carrier",
		      p->link.carrier, "queues", (int)r->n_workers);
	json_object_set_new(o, "state", json_string(p->lost ? "lost" : "forwarding"));
	set_count(o, "received", c.received);
	set_count(o, "received_bytes", c.received_bytes);
	set_count(o, "forwarded", c.forwarded[0] + c.forwarded[1]);
	set_count(o, "forwarded_ipv4", c.forwarded[0]);
	set_count(o, "forwarded_ipv6", c.forwarded[1]);
	set_count(o, "punted", total(c.punted, PKT_PUNT_COUNT));
	set_count(o, "dropped", total(c.dropped, PKT_DROP_COUNT));
	set_count(o, "egress", c.egress);
	set_count(o, "egress_bytes", c.egress_bytes);
	add_punt_results(o, r, p->index);
	add_queues(o, r, p);
	return o;
}

static bool each_port(struct request *req, json_t *(*object)(const struct router *r, const struct port *p))
{
	struct router *r = req->router;
	const struct port *only = req->n ? port_by_name(r, req->arg[0]) : NULL;

	if (req->n && !only) {
		client_error(req->client, -ENODEV, "%s: not a port of this router", req->arg[0]);
		return false;
	}
	for (unsigned i = 0; i < r->n_ports; i++)
		if (!only || only == &r->port[i])
			client_object(req->client, object(r, &r->port[i]));
	client_ok(req->client);
	return true;
}

void request_port_show(struct request *req) { each_port(req, port_object); }

/* ---- drop show: every reason, zero or not ---- */

static json_t *drop_object(const struct router *r, const struct port *p)
{
	struct fwd_port_count c = port_sum(r, p->index);
	json_t *o = json_object(), *drops = json_object(), *punts = json_object();

	for (unsigned i = 0; i < PKT_DROP_COUNT; i++)
		set_count(drops, pkt_drop_reason[i].name, c.dropped[i]);
	for (unsigned i = 0; i < PKT_PUNT_COUNT; i++)
		set_count(punts, pkt_punt_reason[i].name, c.punted[i]);
	json_object_set_new(o, "port", json_string(p->conf->name));
	json_object_set_new(o, "dropped", drops);
	json_object_set_new(o, "punted", punts);
	return o;
}

void request_drop_show(struct request *req) { each_port(req, drop_object); }

/* ---- worker show ---- */

static json_t *worker_object(const struct router *r, unsigned w)
{
	const struct fwd_count *c = fwd_worker_count(r->worker[w]);
	uint64_t received = 0, forwarded = 0;
	json_t *o = json_object();

	for (unsigned p = 0; p < r->n_ports; p++) {
		const struct fwd_port_count *pc = fwd_worker_port_count(r->worker[w], p);

		received += fwd_read(&pc->received);
		forwarded += fwd_read(&pc->forwarded[0]) + fwd_read(&pc->forwarded[1]);
	}
	json_object_set_new(o, "worker", json_integer((json_int_t)w));
	json_object_set_new(o, "cpu", fwd_worker_cpu(r->worker[w]) < 0 ?
					      json_null() :
					      json_integer(fwd_worker_cpu(r->worker[w])));
	set_count(o, "received", received);
	set_count(o, "forwarded", forwarded);
	set_count(o, "turns", fwd_read(&c->turns));
	set_count(o, "empty_turns", fwd_read(&c->empty_turns));
	set_count(o, "sleeps", fwd_read(&c->sleeps));
	return o;
}

void request_worker_show(struct request *req)
{
	for (unsigned w = 0; w < req->router->n_workers; w++)
		client_object(req->client, worker_object(req->router, w));
	client_ok(req->client);
}

/* ---- status, version ---- */

void request_status(struct request *req)
{
	struct router *r = req->router;
	struct fib_sizes s;
	unsigned up = 0;
	json_t *o = json_object();

	json_object_set_new(o, "state", json_string(r->forwarding ? "forwarding" : "starting"));
	fib_sizes(r->fib, &s);
	for (unsigned i = 0; i < r->n_ports; i++)
		up += !r->port[i].lost && r->port[i].link.up && r->port[i].link.carrier;
	set_count(o, "uptime_seconds", (time_ns() - r->started_ns) / NS_PER_S);
	set_count(o, "ports", r->n_ports);
	set_count(o, "ports_up", up);
	set_count(o, "workers", r->n_workers);
	set_count(o, "routes_ipv4", s.routes[0][FIB_STATIC] + s.routes[0][FIB_KERNEL]);
	set_count(o, "routes_ipv6", s.routes[1][FIB_STATIC] + s.routes[1][FIB_KERNEL]);
	set_count(o, "nexthops", s.nexthops);
	set_count(o, "table_bytes", s.lookup_bytes[0] + s.lookup_bytes[1] + s.rib_bytes);
	set_count(o, "netlink_overruns", mirror_overruns(r->mirror));
	client_object(req->client, o);
	client_ok(req->client);
}

void request_version(struct request *req)
{
	client_object(req->client, json_pack("{sssi}", "version", MLX5FWD_VERSION, "protocol", CTL_PROTOCOL));
	client_ok(req->client);
}
