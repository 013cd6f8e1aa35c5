/* daemon/latency.c - how long packets stay here, all workers together */

#include "latency.h"

#include "../lib/ctl/row.h"
#include "router.h"

void latency_sum(const struct router *r, const struct port *p, struct histogram *ret)
{
	*ret = r->kept[p->index].latency;
	for (unsigned w = 0; w < r->n_workers; w++)
		histogram_sum(ret, fwd_worker_latency(r->worker[w], p->index));
}

const char *latency_bound_name(unsigned i)
{
	static const char *const up_to[HISTOGRAM_BOUNDS + 1] = {
		"1us",	 "2us",	  "5us",   "10us", "20us", "50us",
		"100us", "200us", "500us", "1ms",  "10ms", "longer"
	};

	return up_to[i];
}

void latency_show(struct row *row, const struct router *r, const struct port *p)
{
	struct row *latency = row_new(), *buckets = row_new();
	struct histogram h;

	latency_sum(r, p, &h);
	row_set_count(latency, "one_burst_in", r->conf.latency_sample);
	row_set_count(latency, "samples", histogram_count(&h));
	row_set_count(latency, "p50_ns", histogram_percentile_ns(&h, 50));
	row_set_count(latency, "p99_ns", histogram_percentile_ns(&h, 99));
	row_set_count(latency, "max_ns", h.max_ns);
	for (unsigned i = 0; i <= HISTOGRAM_BOUNDS; i++)
		row_set_count(buckets, latency_bound_name(i), h.bucket[i]);
	row_set_row(latency, "up_to", buckets);
	row_set_row(row, "latency", latency);
}
