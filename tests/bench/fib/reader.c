/* bench/fib/reader.c - a thread that looks up as a worker does, and says how fast it is */

#include "reader.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

#include "../../../lib/base/rcu.h"
#include "../../../lib/fib/lookup_hot.h"
#include "clock.h"
#include "quiet.h"

enum { BURST = 64, BURSTS_A_REPORT = 256 };

void reader_own_core(unsigned core)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(core, &set);
	if (sched_setaffinity(0, sizeof(set), &set)) {
		fprintf(stderr, "no core %u\n", core);
		exit(2);
	}
	quiet_begin(0);
}

static void look_up(struct reader *r, uint32_t at)
{
	const struct fib_tables *t = rcu_read(*r->live);
	const void *addr = traffic_at(r->traffic, TRAFFIC_BY_PREFIX, at);
	uint32_t nh[BURST];

	if (r->traffic->family == 4)
		fib_lookup4(t, addr, nh, BURST);
	else
		fib_lookup6(t, (const uint8_t(*)[16])addr, nh, BURST);
	__asm__ volatile("" : : "r"(nh) : "memory");
	rcu_turn();
}

static void *reader_main(void *arg)
{
	struct reader *r = arg;
	uint32_t at = 0, bursts = 0;
	uint64_t lookups = 0;

	reader_own_core(r->core);
	rcu_reader_start();
	while (!atomic_load_explicit(&r->stop, memory_order_relaxed)) {
		look_up(r, at);
		at = at + 2 * BURST <= r->traffic->n ? at + BURST : 0;
		lookups += BURST;
		if (++bursts % BURSTS_A_REPORT)
			continue;
		atomic_store_explicit(&r->lookups, lookups, memory_order_relaxed);
		atomic_store_explicit(&r->own_ns, clock_own_ns(), memory_order_relaxed);
	}
	rcu_reader_stop();
	return NULL;
}

void reader_start(struct reader *r)
{
	if (pthread_create(&r->thread, NULL, reader_main, r)) {
		fprintf(stderr, "no thread\n");
		exit(2);
	}
	while (!atomic_load(&r->own_ns))
		sched_yield();
}

void reader_stop(struct reader *r)
{
	atomic_store(&r->stop, true);
	pthread_join(r->thread, NULL);
}

struct reader_mark reader_mark(struct reader *r)
{
	return (struct reader_mark){ atomic_load(&r->lookups), atomic_load(&r->own_ns) };
}

double reader_speed(struct reader *r, struct reader_mark since)
{
	struct reader_mark now = reader_mark(r);

	return (double)(now.lookups - since.lookups) /
	       (double)(now.own_ns - since.own_ns);
}
