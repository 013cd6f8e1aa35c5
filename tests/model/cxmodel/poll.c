/* cxmodel/poll.c - the poller: one thread runs every device, wire and netdev
 *
 * A pass, with the lock held: each device's doorbells and queues, each wire, each
 * netdev. After passes that found nothing the thread takes it easier, step by step:
 *
 *   SPINS passes      at once again
 *   YIELDS passes     sched_yield() between them
 *   then naps         longer the longer nothing happens (ladder below); a frame on a
 *                     wire or netdev ends a nap at once, a doorbell does not: it is a
 *                     store to shared memory that no system call waits for
 *   nothing can ring  no send queue is ready: naps of the longest kind
 *   nobody is there   no client, and no wire must be polled: sleeps until a frame comes
 *                     or the lock is released by somebody who may have changed that
 *
 * Modes: spin never naps while a client is there (lowest latency, a whole core);
 * fifo runs at real-time priority and naps instead of yielding; with work that does not
 * end it still rests a third of the time, since the programs of a small machine, which may
 * be what it waits for, would get 5 % of the core otherwise (the kernel's throttling).
 *
 * Fairness: who wants the lock counts itself in m->waiters, and the poller lets it in.
 */
#define _GNU_SOURCE 1
#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "inside.h"

enum {
	SPINS = 40, /* more than any wire's gap between looks: see TAP_GAP_MAX */
	YIELDS = 240,
	BURST = 64,  /* frames per source and pass */
	POLITE = 64, /* yields to waiters before the poller insists */
	FIFO_PRIORITY = 1,
};

static const struct {
	int64_t idle_ns, nap_ns; /* idle up to .. -> naps of .. */
} ladder[] = {
	{ 2000000, 20000 },	{ 50000000, 100000 },
	{ 500000000, 500000 },	{ INT64_C(5000000000), 2000000 },
	{ INT64_MAX, 4000000 },
};
#define LONGEST_NAP_NS INT64_C(4000000)
#define FIFO_NAP_NS    INT64_C(50000)
/* Of any FIFO_SPAN_NS that it ran, it rests so much. */
#define FIFO_SPAN_NS INT64_C(2000000)
#define FIFO_REST_NS INT64_C(1000000)
/* From here on a nap may be cut short by model_unlock(); shorter ones are over too soon. */
#define WORTH_WAKING_NS INT64_C(500000)
#define FOREVER		INT64_C(-1)

struct poller {
	struct model *m;
	pthread_t thread;
	bool started;
	atomic_bool stop;
	int wake; /* eventfd */
	atomic_bool asleep;
	unsigned idle;	 /* passes without work, or since something ended a nap */
	bool busy;	 /* work since busy_ns */
	int64_t busy_ns; /* time of the last work */
	int64_t span_ns, rested_ns; /* --poll fifo: start of the span, rests since */
	struct pollfd fd[2 * MODEL_PORTS + 1];
	unsigned n_fds;
	atomic_uint_fast64_t passes, busy_passes, naps, blocks;
};

/* ---- the lock ---- */

static void wake(struct poller *p)
{
	uint64_t one = 1;

	if (!p || !atomic_exchange(&p->asleep, false))
		return;
	if (write(p->wake, &one, sizeof(one)) < 0)
		return; /* full: it is being woken already */
}

void model_lock(struct model *m)
{
	atomic_fetch_add(&m->waiters, 1);
	pthread_mutex_lock(&m->lock);
	atomic_fetch_sub(&m->waiters, 1);
}

void model_unlock(struct model *m)
{
	pthread_mutex_unlock(&m->lock);
	wake(m->poller);
}

static void nap(int64_t ns)
{
	struct timespec ts = { .tv_sec = 0, .tv_nsec = ns };

	nanosleep(&ts, NULL);
}

static void lock_politely(struct poller *p)
{
	struct model *m = p->m;

	for (unsigned i = 0; atomic_load(&m->waiters) && i < POLITE; i++) {
		if (i < 8 && m->poll != MODEL_POLL_FIFO)
			sched_yield();
		else
			nap(20000);
	}
	pthread_mutex_lock(&m->lock);
}

/* ---- a pass ---- */

static unsigned pass_port(struct model_port *port)
{
	unsigned work = cx_step(port->dev);

	if (port->tap) {
		port_follow(port);
		work += tap_poll(port->tap, port->dev, BURST);
	}
	return work + port->wire->class->poll(port->wire, BURST);
}

static unsigned pass(struct model *m)
{
	unsigned work = 0;

	for (unsigned i = 0; i < m->n_ports; i++)
		if (m->port[i].dev)
			work += pass_port(&m->port[i]);
	return work;
}

/* ---- between passes ---- */

static int64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * INT64_C(1000000000) + ts.tv_nsec;
}

static void add_fd(struct poller *p, int fd)
{
	p->fd[p->n_fds++] = (struct pollfd){ .fd = fd, .events = POLLIN };
}

/* What may end a nap. Return: false when some wire has no descriptor and must be polled. */
static bool collect_fds(struct poller *p)
{
	bool all = true;

	p->n_fds = 0;
	add_fd(p, p->wake);
	for (unsigned i = 0; i < p->m->n_ports; i++) {
		struct model_port *port = &p->m->port[i];
		int fd;

		if (!port->dev)
			continue;
		fd = port->wire->class->fd(port->wire);
		if (fd >= 0)
			add_fd(p, fd);
		all = all && fd >= 0;
		if (port->tap)
			add_fd(p, tap_fd(port->tap));
	}
	return all;
}

static bool may_ring(const struct model *m)
{
	for (unsigned i = 0; i < m->n_ports; i++)
		if (m->port[i].dev && cx_may_ring(m->port[i].dev))
			return true;
	return false;
}

static bool nobody(struct model *m)
{
	struct server_stat st = { 0 };

	server_stat(m, &st);
	return st.clients == 0;
}

static int64_t step_of_ladder(const struct poller *p)
{
	int64_t idle_ns = now_ns() - p->busy_ns;
	unsigned i = 0;

	while (idle_ns > ladder[i].idle_ns)
		i++;
	return ladder[i].nap_ns;
}

/* How long to rest, with the lock held: 0 = not at all. */
static int64_t plan(struct poller *p)
{
	struct model *m = p->m;
	int64_t ns;
	bool ring;

	if (p->idle <= SPINS)
		return 0;
	if (p->idle <= YIELDS && m->poll != MODEL_POLL_FIFO)
		return 0;
	ring = !collect_fds(p) || may_ring(m);
	if (!ring && nobody(m))
		return FOREVER;
	if (m->poll == MODEL_POLL_SPIN)
		return 0;
	ns = ring ? step_of_ladder(p) : LONGEST_NAP_NS;
	return m->poll == MODEL_POLL_FIFO && ns < FIFO_NAP_NS ? FIFO_NAP_NS : ns;
}

static void rest(struct poller *p, int64_t ns)
{
	struct timespec ts = { .tv_sec = 0, .tv_nsec = ns };
	int64_t start = now_ns();
	uint64_t n;
	int r;

	atomic_fetch_add(ns == FOREVER ? &p->blocks : &p->naps, 1);
	r = ppoll(p->fd, p->n_fds, ns == FOREVER ? NULL : &ts, NULL);
	atomic_store(&p->asleep, false);
	p->rested_ns += now_ns() - start;
	if (r <= 0)
		return;
	if (p->fd[0].revents && read(p->wake, &n, sizeof(n)) < 0)
		return;
	p->idle = 0; /* somebody brought work, or will within microseconds */
}

static void rest_a_third(struct poller *p)
{
	int64_t now = now_ns();

	if (now - p->span_ns < FIFO_SPAN_NS)
		return;
	if (p->rested_ns < FIFO_REST_NS)
		nap(FIFO_REST_NS - p->rested_ns);
	p->span_ns = now_ns();
	p->rested_ns = 0;
}

static void turn(struct poller *p)
{
	unsigned work;
	int64_t ns;

	lock_politely(p);
	work = pass(p->m);
	atomic_fetch_add_explicit(&p->passes, 1, memory_order_relaxed);
	p->idle = work ? 0 : p->idle + 1;
	p->busy = p->busy || work;
	if (p->busy && p->idle == SPINS) {
		p->busy_ns = now_ns();
		p->busy = false;
	}
	ns = plan(p);
	/* Under the lock: whoever changes something takes it later, and finds us asleep. */
	if (ns == FOREVER || ns >= WORTH_WAKING_NS)
		atomic_store(&p->asleep, true);
	pthread_mutex_unlock(&p->m->lock);
	if (work)
		atomic_fetch_add_explicit(&p->busy_passes, 1, memory_order_relaxed);
	if (ns)
		rest(p, ns);
	else if (p->idle > SPINS && p->m->poll != MODEL_POLL_FIFO)
		sched_yield();
	if (p->m->poll == MODEL_POLL_FIFO)
		rest_a_third(p);
}

/* ---- the thread ---- */

static void real_time(struct model *m)
{
	struct sched_param sp = { .sched_priority = FIFO_PRIORITY };
	int r = pthread_setschedparam(pthread_self(), SCHED_FIFO, &sp);

	if (!r)
		return;
	model_log(m, "--poll fifo: %s; going on as --poll nap", strerror(r));
	m->poll = MODEL_POLL_NAP;
}

static void *run(void *arg)
{
	struct poller *p = arg;

	pthread_setname_np(pthread_self(), "poller");
	prctl(PR_SET_TIMERSLACK,
	      5000UL); /* ns; the default of 50 us is longer than a nap */
	if (p->m->poll == MODEL_POLL_FIFO)
		real_time(p->m);
	p->busy_ns = now_ns();
	while (!atomic_load(&p->stop))
		turn(p);
	return NULL;
}

int poller_new(struct model *m)
{
	struct poller *p = calloc(1, sizeof(*p));

	if (!p)
		return -ENOMEM;
	p->m = m;
	p->wake = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	if (p->wake < 0) {
		free(p);
		return -EMFILE;
	}
	m->poller = p;
	return 0;
}

int poller_start(struct model *m)
{
	int r = pthread_create(&m->poller->thread, NULL, run, m->poller);

	m->poller->started = r == 0;
	return -r;
}

void poller_stop(struct model *m)
{
	struct poller *p = m->poller;
	uint64_t one = 1;

	if (!p || !p->started)
		return;
	atomic_store(&p->stop, true);
	if (write(p->wake, &one, sizeof(one)) == sizeof(one))
		pthread_join(p->thread, NULL);
	p->started = false;
}

void poller_free(struct model *m)
{
	if (!m->poller)
		return;
	close(m->poller->wake);
	free(m->poller);
	m->poller = NULL;
}

void poller_stat(const struct model *m, struct poller_stat *st)
{
	struct poller *p = m->poller;
	struct timespec ts = { 0 };
	clockid_t clock;

	if (p->started && pthread_getcpuclockid(p->thread, &clock) == 0)
		clock_gettime(clock, &ts);
	st->cpu_us = (uint64_t)ts.tv_sec * 1000000u + (uint64_t)ts.tv_nsec / 1000u;
	st->passes = atomic_load(&p->passes);
	st->busy_passes = atomic_load(&p->busy_passes);
	st->naps = atomic_load(&p->naps);
	st->blocks = atomic_load(&p->blocks);
}
