/* exc/punt.c - the exception thread */

#include "punt.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "../base/time.h"
#include "frame.h"
#include "inject.h"
#include "limit.h"

enum { TICK_BUSY_US = 50, TICK_IDLE_US = 1000, RING_BUDGET = 256 };

struct exc {
	struct exc_conf conf;
	struct exc_inject inject;
	struct exc_limit limit[EXC_PORTS_MAX][PKT_PUNT_COUNT];
	struct exc_port_count count[EXC_PORTS_MAX];
	atomic_int ifindex[EXC_PORTS_MAX];
	atomic_bool stop;
	pthread_t thread;
	bool started;
	struct ring *ring[EXC_WORKERS_MAX];
};

static void add(uint64_t *counter)
{
	__atomic_store_n(counter, *counter + 1, __ATOMIC_RELAXED);
}

static void deliver(struct exc *e, const struct exc_frame *f)
{
	struct exc_port_count *c = &e->count[f->port];
	int ifindex = atomic_load_explicit(&e->ifindex[f->port], memory_order_relaxed);

	if (!exc_limit_take(&e->limit[f->port][f->reason], time_ns()))
		add(&c->policed[f->reason]);
	else if (ifindex < 0 || exc_inject_frame(&e->inject, ifindex, f->data, f->len) < 0)
		add(&c->failed[f->reason]);
	else
		add(&c->delivered[f->reason]);
}

/* Some of each ring by turns. Return: frames taken. */
static unsigned pass(struct exc *e)
{
	struct exc_frame *f;
	unsigned n = 0;

	for (unsigned i = 0; i < e->conf.n_rings; i++) {
		for (unsigned k = 0; k < RING_BUDGET && (f = ring_peek(e->ring[i])); k++, n++) {
			deliver(e, f);
			ring_pop(e->ring[i]);
		}
	}
	return n;
}

static void *exc_main(void *arg)
{
	struct exc *e = arg;

	for (;;) {
		bool last = atomic_load(&e->stop);
		unsigned n = pass(e), us = n ? TICK_BUSY_US : TICK_IDLE_US;

		if (last && !n)
			return NULL;
		nanosleep(&(struct timespec){ .tv_nsec = us * 1000L }, NULL);
	}
}

int exc_new(const struct exc_conf *conf, struct err *err, struct exc **ret)
{
	struct exc *e;
	int r;

	if (conf->n_rings > EXC_WORKERS_MAX)
		return err_set(err, -EINVAL, "more than %d workers", EXC_WORKERS_MAX);
	e = calloc(1, sizeof(*e));
	if (!e)
		return -ENOMEM;
	e->conf = *conf;
	memcpy(e->ring, conf->ring, conf->n_rings * sizeof(*e->ring));
	for (unsigned p = 0; p < EXC_PORTS_MAX; p++) {
		atomic_init(&e->ifindex[p], -1);
		for (unsigned k = 0; k < PKT_PUNT_COUNT; k++)
			exc_limit_init(&e->limit[p][k], conf->rate_pps, conf->burst, time_ns());
	}
	r = exc_inject_open(&e->inject, err);
	if (r < 0) {
		free(e);
		return r;
	}
	*ret = e;
	return 0;
}

void exc_free(struct exc *e)
{
	if (!e)
		return;
	exc_inject_close(&e->inject);
	free(e);
}

void exc_set_ifindex(struct exc *e, unsigned port, int ifindex)
{
	atomic_store(&e->ifindex[port], ifindex);
}

int exc_start(struct exc *e)
{
	int r = pthread_create(&e->thread, NULL, exc_main, e);

	e->started = r == 0;
	return -r;
}

void exc_stop(struct exc *e)
{
	if (!e || !e->started)
		return;
	atomic_store(&e->stop, true);
	pthread_join(e->thread, NULL);
	e->started = false;
}

const struct exc_port_count *exc_port_count(const struct exc *e, unsigned port)
{
	return &e->count[port];
}
