/* fwd/worker_inside.h - the worker, laid out by who touches it; for the files of fwd/ only */
#pragma once

#include <pthread.h>

#include "worker.h"

struct fwd_worker {
	/* read by the worker, changed only while it is paused */
	struct m5_tx *way_out[FWD_PORTS_MAX]; /* of a port that is up, else NULL */
	struct fwd_port port[FWD_PORTS_MAX];
	unsigned n_ports; /* highest port in use, plus one */
	struct fwd_conf conf;
	struct ring punt;
	uint64_t spin_ticks, pause_ticks; /* conf.idle_*_us */

	/* written by the worker */
	CACHE_ALIGNED struct fwd_count count;
	struct fwd_port_count port_count[FWD_PORTS_MAX];
	uint64_t idle_since; /* ticks; 0 = not idle */
	bool paused;

	/* written by the control thread */
	CACHE_ALIGNED atomic_bool stop, pause;

	/* shared, cold */
	pthread_t thread;
	bool started;
	int wake_fd; /* eventfd: ends a sleep */
	pthread_mutex_t lock;
	pthread_cond_t changed; /* paused or resumed */
};

void fwd_loop(struct fwd_worker *w);  /* loop.c: until stop or pause */
void fwd_drain(struct fwd_worker *w); /* loop.c: what was received before the stop */
void fwd_idle(struct fwd_worker *w);  /* idle.c: nothing came in this turn */
