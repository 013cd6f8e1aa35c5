/* bench/fib/clock.h - time of this thread's own work */
#pragma once

#include <stdint.h>
#include <time.h>

static inline uint64_t clock_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * UINT64_C(1000000000) + (uint64_t)t.tv_nsec;
}

/* While another program has the core, this one stands still. */
static inline uint64_t clock_own_ns(void)
{
	return clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

static inline double clock_own_s(uint64_t since_ns)
{
	return (double)(clock_own_ns() - since_ns) / 1e9;
}
