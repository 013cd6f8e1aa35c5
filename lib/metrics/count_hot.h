/* metrics/count_hot.h - counters and histograms with one writer
 *
 * HOT. The writer does not lock and needs no atomic addition; others read at any time, each
 * number whole. A reader may see a sample counted and not yet in the sum.
 */
#pragma once

#include <stdint.h>

#include "../base/hot.h"

ALWAYS_INLINE void count_add(uint64_t *counter, uint64_t n)
{
	__atomic_store_n(counter, *counter + n, __ATOMIC_RELAXED);
}

static inline uint64_t count_read(const uint64_t *counter)
{
	return __atomic_load_n(counter, __ATOMIC_RELAXED);
}

/* Upper bounds in nanoseconds, each included (le); what is longer than all has a bucket after
 * them. Those of mlx5fwd_forward_latency_seconds. */
enum { HISTOGRAM_BOUNDS = 11 };
extern const uint64_t histogram_bound_ns[HISTOGRAM_BOUNDS];

struct histogram {
	uint64_t bucket[HISTOGRAM_BOUNDS + 1]; /* of this bucket alone */
	uint64_t sum_ns, max_ns;
};

ALWAYS_INLINE void histogram_add(struct histogram *h, uint64_t ns)
{
	unsigned i = 0;

	while (i < HISTOGRAM_BOUNDS && ns > histogram_bound_ns[i])
		i++;
	count_add(&h->bucket[i], 1);
	count_add(&h->sum_ns, ns);
	if (ns > h->max_ns)
		__atomic_store_n(&h->max_ns, ns, __ATOMIC_RELAXED);
}

/* Adds @from, whose writer may be at work, to @to. */
void histogram_sum(struct histogram *to, const struct histogram *from);
uint64_t histogram_count(const struct histogram *h);
/* Estimates the value that @percent of the samples do not exceed: spread evenly in their bucket,
 * and never more than the largest one. 0 of an empty histogram. */
uint64_t histogram_percentile_ns(const struct histogram *h, unsigned percent);
