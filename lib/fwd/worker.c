/* fwd/worker.c - life of a worker: thread, pinning, pause and stop */

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "../base/rcu.h"
#include "../base/time.h"
#include "../m5/tx_hot.h"
#include "../place/pin.h"
#include "worker_inside.h"

/* Waits for it are bounded by time_ns()'s clock. */
static void init_changed(struct fwd_worker *w)
{
	pthread_condattr_t attr;

	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&w->changed, &attr);
	pthread_condattr_destroy(&attr);
}

void fwd_worker_tune(struct fwd_worker *w, const struct fwd_conf *conf)
{
	uint64_t per_us = time_ticks_per_us();

	w->conf.idle = conf->idle;
	w->conf.idle_spin_us = conf->idle_spin_us;
	w->conf.idle_pause_us = conf->idle_pause_us;
	w->conf.burst = conf->burst ? conf->burst : FWD_BURST;
	w->conf.latency_sample = w->to_sample = conf->latency_sample;
	w->spin_ticks = conf->idle_spin_us * per_us;
	w->pause_ticks = conf->idle_pause_us * per_us;
}

int fwd_worker_new(const struct fwd_conf *conf, struct fwd_worker **ret)
{
	struct fwd_worker *w =
		aligned_alloc(CACHE_LINE, align_up(sizeof(*w), CACHE_LINE));
	int r;

	if (!w)
		return -ENOMEM;
	memset(w, 0, sizeof(*w));
	w->conf = *conf;
	fwd_worker_tune(w, conf);
	w->use_ticks = FWD_USE_US * time_ticks_per_us();
	w->watch = fwd_watch_by[fwd_watch_best()];
	w->code = fwd_code_of(fwd_set_best());
	pthread_mutex_init(&w->lock, NULL);
	init_changed(w);
	w->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	r = w->wake_fd < 0 ? -errno : 0;
	if (!r)
		r = ring_init(
			&w->punt, conf->punt_ring,
			(uint32_t)align_up(sizeof(struct exc_frame) + conf->punt_bytes,
					   CACHE_LINE));
	if (r < 0) {
		fwd_worker_free(w);
		return r;
	}
	*ret = w;
	return 0;
}

void fwd_worker_free(struct fwd_worker *w)
{
	if (!w)
		return;
	if (w->wake_fd >= 0)
		close(w->wake_fd);
	ring_fini(&w->punt);
	pthread_cond_destroy(&w->changed);
	pthread_mutex_destroy(&w->lock);
	free(w);
}

void fwd_worker_set_port(struct fwd_worker *w, unsigned port, const struct fwd_port *p)
{
	unsigned n_rx = 0;

	w->port[port] = *p;
	w->way_out[port] = p->up ? p->tx : NULL;
	w->n_ports = 0;
	for (unsigned i = 0; i < FWD_PORTS_MAX; i++) {
		if (w->port[i].rx || w->port[i].tx)
			w->n_ports = i + 1;
		n_rx += w->port[i].rx != NULL;
		if (w->port[i].rx && !w->port[w->heard].rx)
			w->heard = i;
	}
	w->watch_ticks =
		time_ticks_per_us() * (n_rx > 1 ? FWD_WATCH_MANY_US : FWD_WATCH_ONE_US);
}

unsigned fwd_shut(const struct fwd_worker *w, unsigned out)
{
	return w->port[out].tx ? PKT_DROP_LINK_DOWN : PKT_DROP_PORT_DOWN;
}

void fwd_worker_wake(struct fwd_worker *w)
{
	uint64_t one = 1;

	/* A full eventfd is readable, which is all that is wanted. */
	if (write(w->wake_fd, &one, sizeof(one)) < 0)
		return;
}

/* Waits, offline, while the control thread changes ports. */
static void wait_while_paused(struct fwd_worker *w)
{
	rcu_offline();
	pthread_mutex_lock(&w->lock);
	w->paused = true;
	pthread_cond_broadcast(&w->changed);
	while (atomic_load(&w->pause) && !atomic_load(&w->stop))
		pthread_cond_wait(&w->changed, &w->lock);
	w->paused = false;
	pthread_cond_broadcast(&w->changed);
	pthread_mutex_unlock(&w->lock);
	rcu_online();
}

/* A trace comes and goes between two turns. What is said to be in use is looked at once more: the
 * control thread frees what it has taken back and finds unused. */
static const struct fwd_code *code_now(struct fwd_worker *w)
{
	do {
		w->trace = atomic_load(&w->next_trace);
		atomic_store(&w->has_trace, w->trace);
	} while (w->trace != atomic_load(&w->next_trace));
	return w->trace ? &fwd_code_traced : w->code;
}

static void *worker_main(void *arg)
{
	struct fwd_worker *w = arg;

	atomic_store(&w->tid, gettid());
	rcu_reader_start();
	fwd_time_start(w);
	while (!atomic_load(&w->stop)) {
		code_now(w)->loop(w);
		/* Before a look at why: who asks now is heard, too. */
		atomic_store(&w->leave, false);
		if (atomic_load(&w->pause)) {
			wait_while_paused(w);
			fwd_time_start(w);
		}
	}
	w->code->drain(w);
	rcu_reader_stop();
	return NULL;
}

int fwd_worker_start(struct fwd_worker *w)
{
	int r = place_thread_start(w->conf.cpu, worker_main, w, &w->thread);

	w->started = r == 0;
	return r;
}

void fwd_worker_stop(struct fwd_worker *w)
{
	if (!w->started)
		return;
	atomic_store(&w->stop, true);
	pthread_mutex_lock(&w->lock);
	pthread_cond_broadcast(&w->changed);
	pthread_mutex_unlock(&w->lock);
	fwd_worker_wake(w);
	pthread_join(w->thread, NULL);
	w->started = false;
}

static void leave(struct fwd_worker *w)
{
	atomic_store(&w->leave, true);
	fwd_worker_wake(w);
}

static struct timespec from_now(unsigned ms)
{
	uint64_t ns = time_ns() + ms * NS_PER_MS;

	return (struct timespec){ .tv_sec = (time_t)(ns / NS_PER_S),
				  .tv_nsec = (long)(ns % NS_PER_S) };
}

int fwd_worker_pause(struct fwd_worker *w, unsigned most_ms)
{
	struct timespec end = from_now(most_ms);
	int r = 0;

	atomic_store(&w->pause, true);
	leave(w);
	pthread_mutex_lock(&w->lock);
	while (w->started && !w->paused && !r)
		r = pthread_cond_timedwait(&w->changed, &w->lock, &end);
	if (!w->started || w->paused)
		r = 0;
	pthread_mutex_unlock(&w->lock);
	return -r;
}

void fwd_worker_resume(struct fwd_worker *w)
{
	pthread_mutex_lock(&w->lock);
	atomic_store(&w->pause, false);
	pthread_cond_broadcast(&w->changed);
	pthread_mutex_unlock(&w->lock);
}

void fwd_worker_set_trace(struct fwd_worker *w, struct fwd_trace *t)
{
	atomic_store(&w->next_trace, t);
	leave(w);
}

bool fwd_worker_has_trace(const struct fwd_worker *w, const struct fwd_trace *t)
{
	return w->started && atomic_load(&w->has_trace) == t;
}

void fwd_worker_set_counts(struct fwd_worker *w, const struct fwd_count *c)
{
	w->count = *c;
	memcpy(w->bursts, c->bursts, sizeof(w->bursts));
}

void fwd_worker_set_port_counts(struct fwd_worker *w, unsigned port,
				const struct fwd_port_count *c,
				const struct histogram *latency)
{
	w->own[port] = w->port_count[port] = *c;
	w->latency[port] = *latency;
}

const struct fwd_port_count *fwd_worker_port_count(const struct fwd_worker *w,
						   unsigned port)
{
	return &w->port_count[port];
}
const struct histogram *fwd_worker_latency(const struct fwd_worker *w, unsigned port)
{
	return &w->latency[port];
}
const struct fwd_count *fwd_worker_count(const struct fwd_worker *w)
{
	return &w->count;
}
struct fwd_ring_use fwd_worker_ring_use(const struct fwd_worker *w, unsigned port)
{
	const struct fwd_ring_use *u = &w->use[port];

	return (struct fwd_ring_use){
		.receive = __atomic_load_n(&u->receive, __ATOMIC_RELAXED),
		.transmit = __atomic_load_n(&u->transmit, __ATOMIC_RELAXED),
	};
}
int fwd_worker_tid(const struct fwd_worker *w)
{
	return atomic_load(&w->tid);
}
struct ring *fwd_worker_punt(struct fwd_worker *w)
{
	return &w->punt;
}
const char *fwd_worker_instructions(void)
{
	return fwd_set_name(fwd_set_best());
}
const char *fwd_worker_watch(void)
{
	return fwd_watch_name(fwd_watch_best());
}
int fwd_worker_cpu(const struct fwd_worker *w)
{
	return w->conf.cpu;
}
