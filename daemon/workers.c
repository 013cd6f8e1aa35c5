/* daemon/workers.c - packet threads and the exception thread */

#include <sched.h>
#include <string.h>

#include "../lib/base/time.h"
#include "../lib/m5/rx_hot.h"
#include "../lib/m5/tx_hot.h"
#include "../lib/place/near.h"
#include "../lib/prm/ctx.h"
#include "router.h"
#include "watchdog.h"

enum {
	PUNT_EXTRA = 64, /* headers beyond the MTU */
	FLUSH_MS = 2000, /* the far end may hold frames back with pause frames */
};

static uint32_t punt_bytes(const struct router *r)
{
	uint32_t mtu = 1500;

	for (unsigned i = 0; i < r->n_ports; i++)
		if (r->port[i].link.mtu > mtu)
			mtu = r->port[i].link.mtu;
	return mtu + PUNT_EXTRA;
}

/* What can be changed while it runs. */
static struct fwd_conf tuning(const struct config *c)
{
	return (struct fwd_conf){
		.idle = c->idle,
		.idle_spin_us = c->idle_spin_us,
		.idle_pause_us = c->idle_pause_us,
		.burst = c->burst,
		.latency_sample = c->latency_sample,
	};
}

void workers_tune(struct router *r)
{
	struct fwd_conf conf = tuning(&r->conf);

	for (unsigned w = 0; w < r->n_workers; w++) {
		watchdog_pause(r, w);
		fwd_worker_tune(r->worker[w], &conf);
		fwd_worker_resume(r->worker[w]);
	}
}

static int open_worker(struct router *r, unsigned w, struct err *err)
{
	struct fwd_conf conf = tuning(&r->conf);
	struct place_near was;
	int ret;

	conf.index = w;
	conf.cpu = r->place.cpu[w];
	conf.live = fib_live(r->fib);
	conf.punt_ring = r->conf.punt_ring;
	conf.punt_bytes = punt_bytes(r);
	place_near_begin(place_plan_node(&r->place, w), &was);
	ret = fwd_worker_new(&conf, &r->worker[w]);
	place_near_end(&was);
	return ret < 0 ? err_set(err, ret, "worker %u: %s", w, strerror(-ret)) : 0;
}

static int open_exceptions(struct router *r, struct err *err)
{
	struct ring *ring[ROUTER_WORKERS_MAX];
	struct exc_conf conf = { .ring = ring,
				 .n_rings = r->n_workers,
				 .rate_pps = r->conf.punt_rate_pps,
				 .burst = r->conf.punt_burst };
	struct err warn = { "" };
	int ret;

	for (unsigned w = 0; w < r->n_workers; w++)
		ring[w] = fwd_worker_punt(r->worker[w]);
	ret = exc_new(&conf, &warn, &r->exc);
	if (ret < 0)
		return err_set(err, ret, "exception path: %s", strerror(-ret));
	if (warn.text[0])
		log_warning("%s; a TAP device of each port takes punts instead",
			    warn.text);
	return 0;
}

int workers_open(struct router *r, struct err *err)
{
	int ret = 0;

	placement_log(r);
	for (unsigned w = 0; w < r->n_workers && !ret; w++)
		ret = open_worker(r, w, err);
	if (!ret)
		ret = open_exceptions(r, err);
	for (unsigned i = 0; i < r->n_ports && !ret; i++)
		workers_set_port(r, &r->port[i]);
	return ret;
}

static void set_punts(struct router *r, const struct port *p)
{
	struct exc_port is = { .ifindex = p->link.ifindex, .mtu = p->link.mtu };
	struct err err = { "" };

	memcpy(is.mac, p->link.mac, sizeof(is.mac));
	if (exc_set_port(r->exc, p->index, &is, &err) < 0)
		log_error("port %s: %s; its punts are counted as failed", p->conf->name,
			  err.text);
}

/* Each device has a clock of its own. Where stamps have another format, we do not know which. */
static const struct m5_clock *clock_of(const struct port *p)
{
	const struct m5_caps *caps = m5_dev_caps(p->dev);

	return caps->rq_ts_format != PRM_TS_DEFAULT &&
			       caps->rq_ts_format == caps->sq_ts_format
		       ? &p->clock
		       : NULL;
}

void workers_set_port(struct router *r, const struct port *p)
{
	struct fwd_port fp = { .up = p->link.up && p->link.carrier,
			       .clock = clock_of(p) };

	memcpy(fp.mac, p->link.mac, sizeof(fp.mac));
	for (unsigned w = 0; w < r->n_workers; w++) {
		fp.rx = p->lost ? NULL : m5_rxq_hot(p->rxq[w]);
		fp.tx = p->lost ? NULL : m5_txq_hot(p->txq[w]);
		fp.rx_event_fd = m5_rxq_event_fd(p->rxq[w]);
		watchdog_pause(r, w);
		if (p->lost)
			m5_txq_abandon(p->txq[w]);
		fwd_worker_set_port(r->worker[w], p->index, &fp);
		fwd_worker_resume(r->worker[w]);
	}
	set_punts(r, p);
}

int workers_start(struct router *r, struct err *err)
{
	int ret = exc_start(r->exc);

	for (unsigned w = 0; w < r->n_workers && !ret; w++)
		ret = fwd_worker_start(r->worker[w]);
	return ret < 0 ? err_set(err, ret, "starting threads: %s", strerror(-ret)) : 0;
}

void workers_flush(struct router *r, unsigned worker, uint64_t until_ns)
{
	for (unsigned i = 0; i < r->n_ports; i++) {
		struct port *p = &r->port[i];
		struct m5_tx *tx = p->txq[worker] ? m5_txq_hot(p->txq[worker]) : NULL;

		while (tx && !p->lost && !tx->failed && !m5_tx_idle(tx) &&
		       time_ns() < until_ns) {
			m5_tx_reap(tx);
			sched_yield();
		}
	}
}

void workers_stop(struct router *r)
{
	uint64_t until_ns;

	for (unsigned w = 0; w < r->n_workers; w++)
		if (r->worker[w]) {
			watchdog_pause(r, w);
			fwd_worker_stop(r->worker[w]);
		}
	until_ns = time_ns() + FLUSH_MS * NS_PER_MS;
	for (unsigned w = 0; w < r->n_workers; w++)
		workers_flush(r, w, until_ns);
	exc_stop(r->exc);
}

void workers_close(struct router *r)
{
	exc_free(r->exc);
	r->exc = NULL;
	for (unsigned w = 0; w < r->n_workers; w++) {
		fwd_worker_free(r->worker[w]);
		r->worker[w] = NULL;
	}
}
