/* wire/drain_stat.c - time stamps and percentiles of the burst drain */

#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "drain.h"

int drain_series_add(struct drain_series *s, double v)
{
	double *grown;

	if (s->n == s->room) {
		s->room = s->room ? 2 * s->room : 1024;
		grown = realloc(s->v, s->room * sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		s->v = grown;
	}
	s->v[s->n++] = v;
	return 0;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

double drain_series_at(struct drain_series *s, unsigned percent)
{
	if (!s->n)
		return 0;
	qsort(s->v, s->n, sizeof(*s->v), compare);
	return s->v[(uint64_t)(s->n - 1) * percent / 100];
}

void drain_series_free(struct drain_series *s)
{
	free(s->v);
	s->v = NULL;
	s->n = s->room = 0;
}

#ifdef __x86_64__
uint64_t drain_tsc(void)
{
	return __builtin_ia32_rdtsc();
}
static inline void relax(void)
{
	__builtin_ia32_pause();
}
#else /* aarch64: the generic timer */
uint64_t drain_tsc(void)
{
	uint64_t t;

	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(t));
	return t;
}
static inline void relax(void)
{
	__asm__ volatile("yield");
}
#endif

static uint64_t monotonic_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

double drain_tsc_per_ns(void)
{
	static double rate;
	uint64_t ns, tsc;

	if (rate > 0)
		return rate;
	ns = monotonic_ns();
	tsc = drain_tsc();
	while (monotonic_ns() - ns < 50000000)
		relax();
	rate = (double)(drain_tsc() - tsc) / (double)(monotonic_ns() - ns);
	return rate;
}

void drain_spin_until(uint64_t tsc)
{
	while ((int64_t)(tsc - drain_tsc()) > 0)
		relax();
}
