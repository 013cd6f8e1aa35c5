/* bench/fib/quiet.h - nobody between: for the moments that are measured
 *
 * What else runs on this machine would take the core in the middle of a measurement and
 * leave its own data in the caches. CPU time does not see the first and suffers from the
 * second, so a measurement takes the core before everybody else, for milliseconds.
 */
#pragma once

#include <sched.h>
#include <stdio.h>

enum { QUIET_PRIORITY = 50 };

static inline void quiet_set(pid_t thread, int policy, int priority)
{
	const struct sched_param param = { .sched_priority = priority };
	static int said;

	if (sched_setscheduler(thread, policy, &param) && !said++)
		printf("no SCHED_FIFO: other programs come between\n");
}

/* This thread, 0, or another one. */
static inline void quiet_begin(pid_t thread)
{
	quiet_set(thread, SCHED_FIFO, QUIET_PRIORITY);
}

static inline void quiet_end(pid_t thread)
{
	quiet_set(thread, SCHED_OTHER, 0);
}
