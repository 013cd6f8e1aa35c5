/* place/pin.c - which CPU a thread runs on */

#include "pin.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>

int place_pin_self(int cpu)
{
	cpu_set_t set;

	if (cpu < 0 || cpu >= CPU_SETSIZE)
		return -EINVAL;
	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	return -pthread_setaffinity_np(pthread_self(), sizeof(set), &set);
}
