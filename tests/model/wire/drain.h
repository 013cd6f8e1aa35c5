/* wire/drain.h - burst drain: how long a program takes to forward a full receive ring
 *
 * Seen from the device, with nothing added to the program. One round:
 *
 *   probe    (once) a frame goes through: the program is at work
 *   settle   the program has given its buffers back: receive doorbell records rest
 *   place    n frames go in by the ordinary receive path; of the completions, the
 *            first owner byte of each queue is withheld
 *   warm     the lines a network card would have put near the program's core are
 *            pulled there (local), thrown out to memory (dram) or left (remote)
 *   t0       the owner bytes appear; from now on no line of the program's is touched
 *   look     once, when about 75 % should be done: how many packets were posted?
 *            time / (packets + half a burst) is the figure
 *   finish   wait until all are posted, let the device send, check every frame
 *
 *   drain.c        options, states, control     drain_round.c   the steps above
 *   drain_cache.c  where cache lines are        drain_stat.c    medians
 */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../cxmodel/model.h"
#include "frames.h"
#include "wire.h"

enum drain_mode { DRAIN_FWD, DRAIN_RX, DRAIN_TX };
enum drain_temp { DRAIN_LOCAL, DRAIN_DRAM, DRAIN_REMOTE };
enum drain_state {
	DRAIN_IDLE,
	DRAIN_WAIT_QUEUES,
	DRAIN_PROBE,
	DRAIN_SETTLE,
	DRAIN_DONE,
	DRAIN_FAILED
};
enum { DRAIN_QUEUES = 16 };

struct drain_conf {
	uint32_t n;		 /* frames a round, over all ports */
	uint32_t rounds, warmup; /* counted; run before these */
	enum drain_mode mode;
	enum drain_temp temp;
	uint32_t look;		   /* percent of the expected time */
	uint32_t gap_ns, quiet_us; /* of the polling after the look */
	uint32_t settle_us;
	uint32_t slack; /* packets that may be missing at the end of "polled" */
	uint32_t burst; /* the program's */
	uint32_t core, program_core;
	uint32_t fifo; /* priority, 0 = leave the scheduler alone */
	uint32_t pid;  /* program whose thread on program_core becomes SCHED_FIFO */
};

struct drain_series { /* samples of one figure */
	double *v;
	uint32_t n, room;
};

struct drain_lines { /* cache lines to move: up to 64 ranges and single frames */
	struct {
		uint8_t *at;
		size_t bytes;
	} range[8 * DRAIN_QUEUES];
	unsigned n_ranges;
	uint8_t **frame;
	uint32_t n_frames, room;
};

struct drain_puller; /* drain_cache.c */

struct drain {
	struct wire wire;
	struct drain_conf conf;
	struct frames *frames;
	/* The first drain port of the process leads: its poll runs the rounds of all. */
	enum drain_state state;
	uint32_t round;
	uint32_t next;	     /* number of the next frame of this port */
	uint32_t round_base; /* number of the first frame of this round */
	uint64_t settle_sum; /* what the doorbell records added up to, and since when */
	uint64_t settle_tsc, wait_tsc;
	uint32_t probe_sum; /* of what a probe moves, before the first */
	uint32_t probes;    /* sent by this port: frames 0 .. probes - 1 */
	bool probe_back;    /* one of them has come back */
	double expect_tsc;  /* expected length of a round */
	double recent[64];  /* ns per packet of late rounds */
	uint32_t n_recent;
	struct drain_series first, polled, all;
	struct drain_lines lines;
	struct drain_puller *puller;
	uint32_t last_wqebbs[DRAIN_QUEUES];
	/* judgement, per sending set */
	uint8_t *seen; /* one byte per frame of the round */
	uint64_t offered, good, bad, duplicate, foreign;
	uint64_t lost, late, incomplete_rounds;
	uint64_t wqes, wqe_packets, doorbells0;
	char failure[160];
};

extern struct drain *drain_port[MODEL_PORTS]; /* by port index, NULL = other wire */

/* drain_round.c */
bool drain_queues_ready(const struct drain *lead);
/* One frame goes in on each port ... */
void drain_probe(struct drain *lead);
/* ... and when it is taken, or has come back if it should, the program is at work. */
bool drain_probe_taken(const struct drain *lead);
bool drain_settled(struct drain *lead); /* starts its own clock; true once at rest */
void drain_run_round(struct drain *lead);

/* drain_cache.c */
int drain_puller_start(const struct drain_conf *conf, struct drain_puller **ret);
void drain_puller_stop(struct drain_puller *p);
void drain_pull(struct drain_puller *p, struct drain_lines *lines); /* waits for it */
void drain_evict(const struct drain_lines *lines);
void drain_lines_clear(struct drain_lines *lines);
void drain_lines_free(struct drain_lines *lines);
void drain_lines_add(struct drain_lines *lines, const volatile void *at, size_t bytes);
/* @count entries of a ring of 1 << log_size entries, from index @from, wrapping. */
void drain_lines_ring(struct drain_lines *lines, uint8_t *ring, size_t entry_bytes,
		      unsigned log_size, uint32_t from, uint32_t count);
void drain_lines_frame(struct drain_lines *lines, uint8_t *at, uint32_t bytes);
/* SCHED_FIFO for the program's thread that may run on its core only. Return threads changed. */
unsigned drain_fifo_program(const struct drain_conf *conf);
void drain_fifo_self(const struct drain_conf *conf, bool on);
void drain_pin_self(unsigned core);

/* drain_stat.c */
int drain_series_add(struct drain_series *s, double v);
double drain_series_at(struct drain_series *s, unsigned percent); /* sorts */
void drain_series_free(struct drain_series *s);
uint64_t drain_tsc(void);
double drain_tsc_per_ns(void); /* measured once */
void drain_spin_until(uint64_t tsc);
