/* metrics/histogram.c - what readers make of a histogram */

#include "count_hot.h"

const uint64_t histogram_bound_ns[HISTOGRAM_BOUNDS] = { 1000,	2000,	 5000,	  10000,
							20000,	50000,	 100000,  200000,
							500000, 1000000, 10000000 };

void histogram_sum(struct histogram *to, const struct histogram *from)
{
	uint64_t max_ns = count_read(&from->max_ns);

	for (unsigned i = 0; i <= HISTOGRAM_BOUNDS; i++)
		to->bucket[i] += count_read(&from->bucket[i]);
	to->sum_ns += count_read(&from->sum_ns);
	if (max_ns > to->max_ns)
		to->max_ns = max_ns;
}

uint64_t histogram_count(const struct histogram *h)
{
	uint64_t n = 0;

	for (unsigned i = 0; i <= HISTOGRAM_BOUNDS; i++)
		n += h->bucket[i];
	return n;
}

uint64_t histogram_percentile_ns(const struct histogram *h, unsigned percent)
{
	double rank = (double)histogram_count(h) * percent / 100, below = 0;
	uint64_t low = 0, high, ns;

	for (unsigned i = 0; i <= HISTOGRAM_BOUNDS; i++) {
		double n = (double)h->bucket[i];

		high = i < HISTOGRAM_BOUNDS ? histogram_bound_ns[i] : h->max_ns;
		if (n > 0 && below + n >= rank) {
			ns = low + (uint64_t)((double)(high - low) * (rank - below) / n);
			return ns < h->max_ns ? ns : h->max_ns;
		}
		below += n;
		low = high;
	}
	return 0;
}
