/* fwd/worker.h - one worker: a pinned thread that forwards
 *
 * A worker owns one receive and one send queue on every port and shares nothing
 * that is written with other workers. It reads tables by RCU, writes its counters
 * and its punt ring, and is stopped by a flag.
 */
#pragma once

#include <assert.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "../base/hot.h"
#include "../base/ring.h"
#include "../exc/frame.h"
#include "../fib/lookup_hot.h"
#include "../m5/pkt.h"
#include "../metrics/count_hot.h"
#include "../pkt/verdict.h"

#define FWD_PORTS_MAX 16
#define FWD_BURST \
	64 /* packets a turn takes of a port, unless fwd_conf.burst says otherwise */
#define FWD_BURST_MAX 256

struct m5_clock;
struct m5_rx;
struct m5_tx;

/* Per worker and ingress port; written by the worker only, every few hundred bursts and when there
 * is nothing to do; read by anybody (relaxed).
 * At rest: received = forwarded + sum(punted) + sum(dropped). */
struct fwd_port_count {
	uint64_t received, received_bytes;
	uint64_t forwarded[2],
		forwarded_bytes[2];	 /* [0] IPv4, [1] IPv6; accepted by a send ring */
	uint64_t punted[PKT_PUNT_COUNT]; /* accepted by the punt ring */
	uint64_t dropped[PKT_DROP_COUNT];
	uint64_t egress[2],
		egress_bytes[2]; /* this port as the way out, as `forwarded` */
} CACHE_ALIGNED;

/* Bursts by length: up to 1, 2, 4, ... FWD_BURST_MAX packets. */
enum { FWD_BURST_SIZES = 9 };
static_assert(FWD_BURST_MAX == 1 << (FWD_BURST_SIZES - 1), "the last one is the longest");

struct fwd_count {
	uint64_t turns, empty_turns;
	uint64_t sleeps;
	uint64_t busy_ticks, idle_ticks; /* of time_ticks(); busy.c */
	uint64_t bursts[FWD_BURST_SIZES];
} CACHE_ALIGNED;

/* Per worker and port: what is not free, when it was published; at rest nothing. */
struct fwd_ring_use {
	uint32_t receive; /* chunks that the device does not have: packets of them are here */
	uint32_t transmit; /* blocks of the send rings that are under way */
};

/* Reads a counter that its worker may be writing. */
static inline uint64_t fwd_read(const uint64_t *counter)
{
	return __atomic_load_n(counter, __ATOMIC_RELAXED);
}

/* Of a counter by family. */
static inline uint64_t fwd_read_both(const uint64_t counter[2])
{
	return fwd_read(&counter[0]) + fwd_read(&counter[1]);
}

enum fwd_idle { FWD_IDLE_SPIN, FWD_IDLE_PAUSE, FWD_IDLE_SLEEP, FWD_IDLE_ADAPTIVE };

struct fwd_port {
	struct m5_rx *rx; /* NULL: the port is not with us now */
	struct m5_tx *tx;
	int rx_event_fd;
	uint8_t mac[6];
	bool up;		      /* egress allowed */
	const struct m5_clock *clock; /* of its stamps, both ways; NULL = not known */
};

struct fwd_conf {
	unsigned index;
	int cpu; /* -1 = not pinned */
	enum fwd_idle idle;
	uint32_t idle_spin_us; /* adaptive: spin this long, then pause */
	uint32_t idle_pause_us; /* adaptive: pause this long, then sleep until a packet comes */
	uint32_t burst; /* packets a turn takes of a port, 4 to FWD_BURST_MAX; 0 = FWD_BURST */
	uint32_t latency_sample; /* of so many bursts, one is timed; 0 = none */
	struct fib_tables *const *live;
	uint32_t punt_ring;  /* frames, a power of two */
	uint32_t punt_bytes; /* longest frame */
};

struct fwd_trace;
struct fwd_worker;

int fwd_worker_new(const struct fwd_conf *conf, struct fwd_worker **ret);
void fwd_worker_free(struct fwd_worker *w); /* stopped */
/* Before start, or while the worker is paused: its idle, idle_spin_us, idle_pause_us, burst and
 * latency_sample are those of @conf. */
void fwd_worker_tune(struct fwd_worker *w, const struct fwd_conf *conf);
/* Before start, or while the worker is paused. */
void fwd_worker_set_port(struct fwd_worker *w, unsigned port, const struct fwd_port *p);
int fwd_worker_start(struct fwd_worker *w);
void fwd_worker_wake(struct fwd_worker *w); /* ends a sleep; any thread */
/* Handles what was received until now, sends or counts it, and ends the thread. */
void fwd_worker_stop(struct fwd_worker *w);
/* Stops the loop between two turns without ending the thread; used to change ports. Return: 0, or
 * -ETIMEDOUT: no turn has ended in so many milliseconds, and the worker has all it had. It is still
 * asked to pause: call again, or fwd_worker_resume(). */
int fwd_worker_pause(struct fwd_worker *w, unsigned most_ms);
void fwd_worker_resume(struct fwd_worker *w);
/* From its next turn on the worker tells this trace what it does (trace.h); NULL = none. Does not
 * wait for it, nor does the worker stand still. Control thread. */
void fwd_worker_set_trace(struct fwd_worker *w, struct fwd_trace *t);
/* May the worker be using it? */
bool fwd_worker_has_trace(const struct fwd_worker *w, const struct fwd_trace *t);

/* Before start: counters go on from there. */
void fwd_worker_set_counts(struct fwd_worker *w, const struct fwd_count *c);
void fwd_worker_set_port_counts(struct fwd_worker *w, unsigned port,
				const struct fwd_port_count *c,
				const struct histogram *latency);
const struct fwd_port_count *fwd_worker_port_count(const struct fwd_worker *w,
						   unsigned port);
const struct histogram *fwd_worker_latency(const struct fwd_worker *w, unsigned port);
const struct fwd_count *fwd_worker_count(const struct fwd_worker *w);
struct fwd_ring_use fwd_worker_ring_use(const struct fwd_worker *w, unsigned port);
/* The kernel's number of the thread; 0 = it has not begun. */
int fwd_worker_tid(const struct fwd_worker *w);
/* Entries are struct exc_frame. Consumer: exception thread. */
struct ring *fwd_worker_punt(struct fwd_worker *w);
int fwd_worker_cpu(const struct fwd_worker *w);
/* Names of the instructions that loops use here, and of the way in which they wait. */
const char *fwd_worker_instructions(void);
const char *fwd_worker_watch(void);
