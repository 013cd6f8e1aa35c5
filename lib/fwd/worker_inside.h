/* fwd/worker_inside.h - the worker, laid out by who touches it; for the files of fwd/ only */
#pragma once

#include <pthread.h>

#include "watch.h"
#include "worker.h"

/* How long a pause may be, with one port to receive from and with several: idle.c. */
enum { FWD_WATCH_ONE_US = 20, FWD_WATCH_MANY_US = 1 };
/* Between two times that an idle worker tells how full rings are: publish.c. */
enum { FWD_USE_US = 1000 };

/* The packet loop, in one set of instructions. */
struct fwd_code {
	void (*loop)(struct fwd_worker *w);  /* until it shall stop or leave */
	void (*drain)(struct fwd_worker *w); /* what was received before the stop */
};
extern const struct fwd_code fwd_code_plain, fwd_code_avx2, fwd_code_avx512;
extern const struct fwd_code fwd_code_traced; /* of a worker that has a trace */

enum fwd_set { FWD_SET_PLAIN, FWD_SET_AVX2, FWD_SET_AVX512, FWD_SET_COUNT };

/* code.c. NULL: this build or this processor does not have it. */
const struct fwd_code *fwd_code_of(enum fwd_set set);
enum fwd_set fwd_set_best(void);
const char *fwd_set_name(enum fwd_set set);

struct fwd_worker {
	/* read by the worker, changed only while it is paused */
	struct m5_tx *way_out[FWD_PORTS_MAX]; /* of a port that is up, else NULL */
	struct fwd_port port[FWD_PORTS_MAX];
	unsigned n_ports; /* highest port in use, plus one */
	struct fwd_conf conf;
	struct ring punt;
	uint64_t spin_ticks, pause_ticks; /* conf.idle_*_us */
	uint64_t watch_ticks;		  /* of one pause */
	fwd_watch_fn *watch;
	const struct fwd_code *code; /* unless there is a trace */

	/* the worker's own */
	CACHE_ALIGNED uint32_t to_ring; /* ports that something was queued for, as bits */
	uint32_t unpublished;		/* bursts that are counted in `own` only */
	uint32_t to_sample;		/* bursts until one is timed; 0 = never */
	uint8_t sampled_in[FWD_PORTS_MAX]; /* by egress port: where the burst came from */
	unsigned heard;			   /* port that had the last packet */
	uint64_t idle_since;		   /* ticks; 0 = not idle */
	uint64_t mark;			   /* ticks: all before is counted; busy.c */
	uint64_t look_ticks;	       /* of a turn that finds nothing; 0 = not known */
	bool holds;		       /* rings may be in use, or be told to be so */
	uint64_t use_at;	       /* ticks: when their use was published */
	uint64_t use_ticks;	       /* after so long again */
	struct fwd_trace *trace;       /* NULL = none */
	bool six_first[FWD_PORTS_MAX]; /* the last burst of this port was IPv6, mostly; ... */
	bool mixed[FWD_PORTS_MAX]
		  [2]; /* ... packets looked at as IPv4, IPv6 were others, too */
	uint64_t bursts[FWD_BURST_SIZES];
	struct fwd_port_count own[FWD_PORTS_MAX];
	struct m5_pkt lane[FWD_PORTS_MAX][FWD_BURST_MAX]; /* by egress port, in a turn */

	/* written by the worker */
	CACHE_ALIGNED struct fwd_count count;
	struct fwd_port_count port_count[FWD_PORTS_MAX]; /* `own` as others see it */
	struct histogram latency[FWD_PORTS_MAX];	 /* by ingress port */
	struct fwd_ring_use use[FWD_PORTS_MAX];
	atomic_int tid;
	bool paused;
	_Atomic(struct fwd_trace *) has_trace; /* `trace`, as others see it */

	/* written by the control thread, and `leave` by the worker as it has left */
	CACHE_ALIGNED atomic_bool stop, leave; /* leave the loop, look at what is below */
	atomic_bool pause;
	_Atomic(struct fwd_trace *) next_trace;

	/* shared, cold */
	pthread_t thread;
	bool started;
	int wake_fd; /* eventfd: ends a sleep */
	pthread_mutex_t lock;
	pthread_cond_t changed; /* paused or resumed */
};

void fwd_idle(struct fwd_worker *w); /* idle.c: nothing came in this turn */
/* publish.c: counters, to whom it may concern; of a worker that has no end of work, with its time;
 * and how full rings are. */
void fwd_publish(struct fwd_worker *w);
void fwd_publish_busy(struct fwd_worker *w);
void fwd_publish_use(struct fwd_worker *w);
/* busy.c: all time until now is counted, ... */
void fwd_time_start(struct fwd_worker *w);		   /* or shall not be */
void fwd_time_busy(struct fwd_worker *w);		   /* packets came all the time */
void fwd_time_nothing(struct fwd_worker *w, uint64_t now); /* the last turn found none */
void fwd_time_waited(struct fwd_worker *w);		   /* since then it waited */
/* latency.c: of a burst that is queued, its ports about to be rung; the stamp of a packet of it. */
void fwd_latency_start(struct fwd_worker *w, unsigned in, uint64_t stamp);
/* latency.c: a timed burst has left by this port. */
void fwd_latency_end(struct fwd_worker *w, unsigned out);
/* odd.c: packets that do not go with the others. */
void fwd_odd(struct fwd_worker *w, unsigned in, const struct fib_tables *t,
	     struct m5_pkt pkt[], uint32_t n);
/* worker.c: why nothing leaves by this port. */
unsigned fwd_shut(const struct fwd_worker *w, unsigned out);
