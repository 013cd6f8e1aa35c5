/* bench/fib/reader.h - a thread that looks up as a worker does, and says how fast it is */
#pragma once

#include <pthread.h>
#include <stdatomic.h>

#include "traffic.h"

struct reader {
	struct fib_tables *const *live;
	const struct traffic *traffic;
	unsigned core;
	pthread_t thread;
	atomic_bool stop;
	/* written by the thread, now and then */
	_Atomic uint64_t lookups, own_ns;
};

void reader_start(struct reader *r);
void reader_stop(struct reader *r);

struct reader_mark {
	uint64_t lookups, own_ns;
};
struct reader_mark reader_mark(struct reader *r);
/* Lookups a nanosecond of the thread's own time since then. */
double reader_speed(struct reader *r, struct reader_mark since);

/* On this core, before everybody else, if we may. */
void reader_own_core(unsigned core);
