/* place/pin.c - which CPU a thread runs on */

#include "pin.h"

#include <errno.h>
#include <sched.h>

int place_thread_start(int cpu, void *(*run)(void *arg), void *arg, pthread_t *ret)
{
	pthread_attr_t attr;
	cpu_set_t set;
	int r;

	if (cpu >= CPU_SETSIZE)
		return -EINVAL;
	r = pthread_attr_init(&attr);
	if (r)
		return -r;
	if (cpu >= 0) {
		CPU_ZERO(&set);
		CPU_SET(cpu, &set);
		r = pthread_attr_setaffinity_np(&attr, sizeof(set), &set);
	}
	if (!r)
		r = pthread_create(ret, &attr, run, arg);
	pthread_attr_destroy(&attr);
	return -r;
}
