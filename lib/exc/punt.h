/* exc/punt.h - the exception thread: punt rings of all workers -> policers -> kernel
 *
 * Wakes by a timer's tick while something comes and sleeps longer when not; a worker
 * never has to wake it. One policer per port and reason, so that a flood of one kind
 * starves no other.
 *
 * Frames are injected as received on the real netdev (inject.h); where that is
 * impossible a TAP device per port takes them (tap.h), and where that is impossible too
 * they are counted as failed.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "../base/err.h"
#include "../base/ring.h"
#include "../pkt/verdict.h"

#define EXC_PORTS_MAX	16
#define EXC_WORKERS_MAX 256

/* Written by the exception thread, read by anybody (relaxed). */
struct exc_port_count {
	uint64_t delivered[PKT_PUNT_COUNT];
	uint64_t policed[PKT_PUNT_COUNT];
	uint64_t failed[PKT_PUNT_COUNT]; /* the kernel did not take it, or it was too big */
};

struct exc_conf {
	struct ring *const *ring; /* of struct exc_frame; one per worker */
	unsigned n_rings;
	uint32_t rate_pps, burst; /* of each policer; rate 0 = no limit */
};

struct exc_port {
	int ifindex; /* 0 = gone: its punts are counted as failed */
	uint8_t mac[6];
	uint32_t mtu;
};

struct exc;

/* @warn: "" or why nothing can be injected, so that TAP devices have to do. */
int exc_new(const struct exc_conf *conf, struct err *warn, struct exc **ret);
void exc_free(struct exc *e);
/* Other limits for every policer, which start full; @rate 0 = none. Context: control thread, also
 * while the exception thread runs. */
void exc_set_rate(struct exc *e, uint32_t rate_pps, uint32_t burst);
bool exc_injects(const struct exc *e);
/**
 * exc_set_port() - where a port's punts go
 *
 * Context: control thread, also while the exception thread runs.
 * Return: 0, or what is wrong with its TAP device; the punts are counted as failed then, and the
 *         device is not tried again.
 */
int exc_set_port(struct exc *e, unsigned port, const struct exc_port *is,
		 struct err *err);
int exc_start(struct exc *e);
void exc_stop(struct exc *e); /* delivers what is in the rings, then joins */
/* Before start: counters go on from there. */
void exc_set_port_count(struct exc *e, unsigned port, const struct exc_port_count *c);
const struct exc_port_count *exc_port_count(const struct exc *e, unsigned port);
