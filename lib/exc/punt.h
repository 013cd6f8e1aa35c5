/* exc/punt.h - the exception thread: punt rings of all workers -> policers -> kernel
 *
 * Wakes by a timer's tick while something comes and sleeps longer when not; a worker
 * never has to wake it. One policer per port and reason, so that a flood of one kind
 * starves no other.
 */
#pragma once

#include <stdint.h>

#include "../base/err.h"
#include "../base/ring.h"
#include "../pkt/verdict.h"

#define EXC_PORTS_MAX 16
#define EXC_WORKERS_MAX 256

/* Written by the exception thread, read by anybody (relaxed). */
struct exc_port_count {
	uint64_t delivered[PKT_PUNT_COUNT];
	uint64_t policed[PKT_PUNT_COUNT];
	uint64_t failed[PKT_PUNT_COUNT]; /* the kernel did not take it, or it was too big */
};

struct exc_conf {
	struct ring *const *ring; /* of struct fwd_punt; one per worker */
	unsigned n_rings;
	uint32_t rate_pps, burst; /* of each policer; rate 0 = no limit */
};

struct exc;

int exc_new(const struct exc_conf *conf, struct err *err, struct exc **ret); /* opens injection */
void exc_free(struct exc *e);
/* -1: the port is gone; its punts are counted as failed. Any thread. */
void exc_set_ifindex(struct exc *e, unsigned port, int ifindex);
int exc_start(struct exc *e);
void exc_stop(struct exc *e); /* delivers what is in the rings, then joins */
const struct exc_port_count *exc_port_count(const struct exc *e, unsigned port);
