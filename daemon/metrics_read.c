/* daemon/metrics_read.c - values of ports, queues, workers and tables */

#include <string.h>

#include "../lib/base/time.h"
#include "../lib/m5/rx_hot.h"
#include "../lib/m5/use_hot.h"
#include "control.h"
#include "keep.h"
#include "latency.h"
#include "metrics_inside.h"

static const struct scrape *scrape_of(const void *of)
{
	return of;
}

static const struct port *port_of(const void *of, unsigned port)
{
	return &scrape_of(of)->router->port[port];
}

/* A counter of somebody's struct; of an array, the @i-th. */
static uint64_t counter_in(const void *s, size_t where, unsigned i)
{
	const char *at = s;

	return fwd_read((const uint64_t *)(const void *)(at + where) + i);
}

METRIC_READ(one)
{
	return metric_whole(ret, 1);
}

/* ---- daemon ---- */

bool router_is_ready(const struct router *r)
{
	for (unsigned i = 0; i < r->n_ports; i++)
		if (r->port[i].lost)
			return false;
	return r->forwarding;
}

METRIC_READ(ready)
{
	return metric_whole(ret, router_is_ready(scrape_of(of)->router));
}

METRIC_READ(reload_done)
{
	return metric_whole(ret, !scrape_of(of)->router->configured.refused);
}

METRIC_READ(reload_time)
{
	return metric_real(ret, scrape_of(of)->router->configured.read_s);
}

METRIC_READ(control_clients)
{
	return metric_whole(ret, control_clients(scrape_of(of)->router->control));
}

METRIC_READ(control_requests)
{
	const struct requested *q = &scrape_of(of)->router->requested;

	return metric_whole(ret, q->count[at[0]][at[2]]);
}

METRIC_READ(scrape_success)
{
	return metric_whole(ret, !(scrape_of(of)->failed >> at[0] & 1));
}

METRIC_READ(scrape_duration)
{
	return metric_real(ret,
			   (double)(time_ns() - scrape_of(of)->started_ns) / NS_PER_S);
}

METRIC_READ(process_whole)
{
	return metric_whole(ret, counter_in(&scrape_of(of)->process, m->where, 0));
}

METRIC_READ(process_real)
{
	const char *facts = (const void *)&scrape_of(of)->process;

	return metric_real(ret, *(const double *)(const void *)(facts + m->where));
}

/* ---- ports ---- */

METRIC_READ(port_flag)
{
	const char *p = (const void *)port_of(of, at[0]);

	return metric_whole(ret, *(const bool *)(p + m->where));
}

METRIC_READ(port_mtu)
{
	return metric_whole(ret, port_of(of, at[0])->link.mtu);
}

METRIC_READ(latency)
{
	struct metric_histogram *out = &ret->histogram;
	struct histogram h;

	latency_sum(scrape_of(of)->router, port_of(of, at[0]), &h);
	*out = (struct metric_histogram){ .n = HISTOGRAM_BOUNDS,
					  .sum = (double)h.sum_ns / 1e9 };
	for (unsigned i = 0; i < HISTOGRAM_BOUNDS; i++)
		out->bound[i] = (double)histogram_bound_ns[i] / 1e9;
	memcpy(out->count, h.bucket, sizeof(h.bucket));
	return 0;
}

METRIC_READ(port_own)
{
	return metric_whole(ret, counter_in(port_of(of, at[0]), m->where, 0));
}

METRIC_READ(port_count)
{
	const struct router *r = scrape_of(of)->router;
	unsigned i = m->label[1] ? at[1] : 0;
	uint64_t sum = counter_in(&r->kept[at[0]].count, m->where, i);

	for (unsigned w = 0; w < r->n_workers; w++)
		sum += counter_in(fwd_worker_port_count(r->worker[w], at[0]), m->where,
				  i);
	return metric_whole(ret, sum);
}

METRIC_READ(queue_sent)
{
	const struct fwd_worker *w = scrape_of(of)->router->worker[at[1]];
	const struct fwd_port_count *c = fwd_worker_port_count(w, at[0]);

	return metric_whole(ret, counter_in(c, m->where, 0) + counter_in(c, m->where, 1));
}

METRIC_READ(queue_count)
{
	const struct fwd_worker *w = scrape_of(of)->router->worker[at[1]];

	return metric_whole(ret,
			    counter_in(fwd_worker_port_count(w, at[0]), m->where, 0));
}

static uint64_t total(const uint64_t v[PKT_PUNT_COUNT])
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < PKT_PUNT_COUNT; i++)
		sum += fwd_read(&v[i]);
	return sum;
}

METRIC_READ(punt_delivered)
{
	return metric_whole(
		ret, total(exc_port_count(scrape_of(of)->router->exc, at[0])->delivered));
}

METRIC_READ(punt_dropped)
{
	const struct exc_port_count *c =
		exc_port_count(scrape_of(of)->router->exc, at[0]);

	return metric_whole(ret, total(at[1] ? c->failed : c->policed));
}

/* ---- queues ---- */

METRIC_READ(descriptors)
{
	const struct port *p = port_of(of, at[0]);

	return metric_whole(ret, m->where == RECEIVE ? m5_rxq_packets(p->rxq[0])
						     : m5_txq_packets(p->txq[0]));
}

/* @used of @size parts of a ring that has room for @packets. */
static uint64_t in_packets(uint64_t used, uint64_t size, uint64_t packets)
{
	return (used * packets + size - 1) / size;
}

METRIC_READ(ring_used)
{
	const struct port *p = port_of(of, at[0]);
	const struct m5_rx *rx = m5_rxq_hot(p->rxq[at[1]]);
	const struct m5_tx *tx = m5_txq_hot(p->txq[at[1]]);
	struct fwd_ring_use use =
		fwd_worker_ring_use(scrape_of(of)->router->worker[at[1]], at[0]);

	if (m->where == RECEIVE)
		return metric_whole(ret, in_packets(use.receive, rx->mask + 1,
						    m5_rxq_packets(p->rxq[0])));
	return metric_whole(ret, in_packets(use.transmit, m5_tx_size(tx),
					    m5_txq_packets(p->txq[0])));
}

METRIC_READ(ring_full)
{
	const struct port *p = port_of(of, at[0]);
	uint64_t sum = p->router->kept[p->index].full;

	for (unsigned w = 0; w < p->router->n_workers; w++)
		sum += fwd_read(&m5_txq_hot(p->txq[w])->full);
	return metric_whole(ret, sum);
}

METRIC_READ(compressed)
{
	const struct port *p = port_of(of, at[0]);
	uint64_t sum = p->router->kept[p->index].compressed;

	for (unsigned w = 0; w < p->router->n_workers; w++)
		sum += fwd_read(&m5_rxq_hot(p->rxq[w])->compressed);
	return metric_whole(ret, sum);
}

METRIC_READ(completion_errors)
{
	if (at[1] == TRANSMIT && at[2] == FAILURE_OUT_OF_STEP)
		return -ENODATA;
	return metric_whole(ret, port_of(of, at[0])->failures[at[1]][at[2]]);
}

METRIC_READ(recoveries)
{
	return metric_whole(ret, port_of(of, at[0])->recoveries[at[1]][at[2]]);
}

/* ---- the card ---- */

static int card_value(const void *of, unsigned port, size_t counter, uint64_t *ret)
{
	const struct card_facts *c = &scrape_of(of)->card[port];

	if (!(c->has >> counter & 1))
		return -ENODATA;
	*ret = c->counter[counter];
	return 0;
}

METRIC_READ(card)
{
	uint64_t v;
	int r = card_value(of, at[0], m->where + (m->label[1] ? at[1] : 0), &v);

	return r ? r : metric_whole(ret, v);
}

METRIC_READ(card_ratio)
{
	uint64_t percent;
	int r = card_value(of, at[0], m->where + at[1], &percent);

	return r ? r : metric_real(ret, (double)percent / 100);
}

METRIC_READ(out_of_buffer)
{
	uint64_t v;
	int r = at[1] ? card_value(of, at[0], m->where, &v)
		      : keep_out_of_buffer(port_of(of, at[0]), &v);

	return r ? r : metric_whole(ret, v);
}

METRIC_READ(port_speed)
{
	uint64_t mbps = scrape_of(of)->card[at[0]].speed_mbps;

	return mbps ? metric_whole(ret, mbps * 1000000 / 8) : -ENODATA;
}

/* ---- workers ---- */

METRIC_READ(worker_count)
{
	const struct fwd_worker *w = scrape_of(of)->router->worker[at[0]];

	return metric_whole(ret, counter_in(fwd_worker_count(w), m->where, 0));
}

METRIC_READ(worker_seconds)
{
	const struct fwd_worker *w = scrape_of(of)->router->worker[at[0]];

	return metric_real(ret, (double)counter_in(fwd_worker_count(w), m->where, 0) /
					(double)time_ticks_per_s());
}

METRIC_READ(worker_switches)
{
	uint64_t n;
	int r = keep_switches(scrape_of(of)->router, at[0], &n);

	return r ? r : metric_whole(ret, n);
}

METRIC_READ(bursts)
{
	const struct router *r = scrape_of(of)->router;
	const struct fwd_worker *w = r->worker[at[0]];
	struct metric_histogram *out = &ret->histogram;

	*out = (struct metric_histogram){ .n = FWD_BURST_SIZES };
	for (unsigned i = 0; i < FWD_BURST_SIZES; i++) {
		out->bound[i] = 1 << i;
		out->count[i] = fwd_read(&fwd_worker_count(w)->bursts[i]);
	}
	for (unsigned p = 0; p < r->n_ports; p++)
		out->sum += (double)fwd_read(&fwd_worker_port_count(w, p)->received);
	return 0;
}

METRIC_READ(worker_still)
{
	return metric_real(ret, scrape_of(of)->router->watch[at[0]].still_ms / 1000.0);
}

/* ---- tables ---- */

METRIC_READ(fib_routes)
{
	return metric_whole(ret, scrape_of(of)->fib.routes[at[0]][at[1]]);
}

METRIC_READ(fib_32)
{
	const char *sizes = (const void *)&scrape_of(of)->fib;

	return metric_whole(ret, *(const uint32_t *)(const void *)(sizes + m->where));
}

METRIC_READ(fib_64)
{
	return metric_whole(ret, counter_in(&scrape_of(of)->fib, m->where,
					    m->label ? at[0] : 0));
}

METRIC_READ(fib_lengths)
{
	if (!at[0] && at[1] > 32)
		return -ENODATA;
	return metric_whole(ret, scrape_of(of)->fib.lengths[at[0] ? 33 + at[1] : at[1]]);
}

METRIC_READ(fib_updates)
{
	return metric_whole(ret, scrape_of(of)->fib.updates[at[0]][at[1]]);
}

METRIC_READ(fib_refused)
{
	return metric_whole(ret, scrape_of(of)->fib.refused[at[0]][at[1]]);
}

METRIC_READ(commits)
{
	const struct requested *q = &scrape_of(of)->router->requested;
	struct metric_histogram *out = &ret->histogram;

	*out = (struct metric_histogram){ .n = COMMIT_BOUNDS,
					  .sum = (double)q->commits_ns / 1e9 };
	for (unsigned i = 0; i < COMMIT_BOUNDS; i++)
		out->bound[i] = (double)commit_bound_ns[i] / 1e9;
	memcpy(out->count, q->commits, sizeof(q->commits));
	return 0;
}

METRIC_READ(overruns)
{
	return metric_whole(ret, keep_overruns(scrape_of(of)->router));
}
