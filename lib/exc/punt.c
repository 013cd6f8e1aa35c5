/* exc/punt.c - the exception thread */

#include "punt.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../base/time.h"
#include "frame.h"
#include "inject.h"
#include "limit.h"
#include "tap.h"

enum { TICK_BUSY_US = 50, TICK_IDLE_US = 1000, RING_BUDGET = 256 };

struct port {
	struct exc_limit limit[PKT_PUNT_COUNT];
	struct exc_port_count count;
	atomic_int ifindex; /* 0 = gone */
	struct exc_tap tap; /* without injection only */
	atomic_int tap_fd;  /* of it, once it can be used; -1 = none */
	bool tap_tried;	    /* control thread's */
};

struct exc {
	struct exc_conf conf;
	struct exc_inject inject;
	struct port port[EXC_PORTS_MAX];
	_Atomic uint64_t
		rate; /* as it shall be: packets a second, and burst, 32 bits each */
	uint64_t rate_used; /* by the thread's policers */
	atomic_bool stop;
	pthread_t thread;
	bool started;
	struct ring *ring[EXC_WORKERS_MAX];
};

/* ---- the thread ---- */

static void add(uint64_t *counter)
{
	__atomic_store_n(counter, *counter + 1, __ATOMIC_RELAXED);
}

static int hand_over(const struct exc *e, struct port *p, const struct exc_frame *f)
{
	int ifindex = atomic_load_explicit(&p->ifindex, memory_order_relaxed), fd;

	if (!ifindex)
		return -ENODEV;
	if (e->inject.prog_fd >= 0)
		return exc_inject_frame(&e->inject, ifindex, f->data, f->len);
	fd = atomic_load_explicit(&p->tap_fd, memory_order_relaxed);
	return fd < 0 || write(fd, f->data, f->len) < 0 ? -EIO : 0;
}

static void deliver(struct exc *e, const struct exc_frame *f)
{
	struct port *p = &e->port[f->port];
	struct exc_port_count *c = &p->count;

	if (!exc_limit_take(&p->limit[f->reason], time_ns()))
		add(&c->policed[f->reason]);
	else if (hand_over(e, p, f) < 0)
		add(&c->failed[f->reason]);
	else
		add(&c->delivered[f->reason]);
}

static uint64_t pack_rate(uint32_t rate_pps, uint32_t burst)
{
	return (uint64_t)rate_pps << 32 | burst;
}

void exc_set_rate(struct exc *e, uint32_t rate_pps, uint32_t burst)
{
	atomic_store_explicit(&e->rate, pack_rate(rate_pps, burst), memory_order_relaxed);
}

/* Policers are the thread's own. */
static void follow_rate(struct exc *e)
{
	uint64_t rate = atomic_load_explicit(&e->rate, memory_order_relaxed);
	uint64_t now;

	if (rate == e->rate_used)
		return;
	now = time_ns();
	for (unsigned p = 0; p < EXC_PORTS_MAX; p++)
		for (unsigned i = 0; i < PKT_PUNT_COUNT; i++)
			exc_limit_init(&e->port[p].limit[i], (uint32_t)(rate >> 32),
				       (uint32_t)rate, now);
	e->rate_used = rate;
}

/* Some of each ring by turns. Return: frames taken. */
static unsigned pass(struct exc *e)
{
	struct exc_frame *f;
	unsigned n = 0;

	for (unsigned i = 0; i < e->conf.n_rings; i++) {
		for (unsigned k = 0; k < RING_BUDGET && (f = ring_peek(e->ring[i]));
		     k++, n++) {
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
		unsigned n, us;

		follow_rate(e);
		n = pass(e);
		us = n ? TICK_BUSY_US : TICK_IDLE_US;
		if (last && !n)
			return NULL;
		nanosleep(&(struct timespec){ .tv_nsec = us * 1000L }, NULL);
	}
}

/* ---- life ---- */

static void init_port(struct port *p)
{
	atomic_init(&p->ifindex, 0);
	atomic_init(&p->tap_fd, -1);
	p->tap.fd = -1;
}

int exc_new(const struct exc_conf *conf, struct err *warn, struct exc **ret)
{
	struct exc *e;

	if (conf->n_rings > EXC_WORKERS_MAX)
		return -EINVAL;
	e = calloc(1, sizeof(*e));
	if (!e)
		return -ENOMEM;
	e->conf = *conf;
	memcpy(e->ring, conf->ring, conf->n_rings * sizeof(struct ring *));
	e->conf.ring = e->ring;
	for (unsigned i = 0; i < EXC_PORTS_MAX; i++)
		init_port(&e->port[i]);
	e->rate_used = ~pack_rate(conf->rate_pps, conf->burst);
	exc_set_rate(e, conf->rate_pps, conf->burst);
	exc_inject_open(&e->inject, warn); /* closed: hand_over() knows what to do */
	*ret = e;
	return 0;
}

void exc_free(struct exc *e)
{
	if (!e)
		return;
	exc_inject_close(&e->inject);
	for (unsigned i = 0; i < EXC_PORTS_MAX; i++)
		exc_tap_close(&e->port[i].tap);
	free(e);
}

bool exc_injects(const struct exc *e)
{
	return e->inject.prog_fd >= 0;
}

static int set_tap(struct port *p, const struct exc_port *is, struct err *err)
{
	bool first = !p->tap_tried;
	int r = 0;

	p->tap_tried = true;
	if (first)
		r = exc_tap_open(&p->tap, err);
	if (!r && p->tap.fd >= 0)
		r = exc_tap_set(&p->tap, is->mac, is->mtu, err);
	atomic_store(&p->tap_fd, r < 0 ? -1 : p->tap.fd);
	return r;
}

int exc_set_port(struct exc *e, unsigned port, const struct exc_port *is, struct err *err)
{
	struct port *p = &e->port[port];

	atomic_store(&p->ifindex, is->ifindex);
	return exc_injects(e) || !is->ifindex ? 0 : set_tap(p, is, err);
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

void exc_set_port_count(struct exc *e, unsigned port, const struct exc_port_count *c)
{
	e->port[port].count = *c;
}

const struct exc_port_count *exc_port_count(const struct exc *e, unsigned port)
{
	return &e->port[port].count;
}
