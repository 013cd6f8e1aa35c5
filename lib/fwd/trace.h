/* fwd/trace.h - what becomes of some packets, told by the worker that did it
 *
 *   worker   takes frames and their stamps, copies those that match, goes on as always; notes
 *            each decision; pushes what was decided                       -> ring
 *   control thread   gives each worker a trace, takes records out of its ring, takes it back
 *
 * A worker that has a trace runs another build of the packet loop (worker_inside.h), so one that
 * has none pays nothing. It never waits for the ring: what finds no room there is counted. Each
 * worker records at most conf.count packets, then it does as if there was no trace.
 *
 * With a trace, completions are taken one by one, as each has a stamp of its own.
 */
#pragma once

#include "../base/ring.h"
#include "../fib/nexthop.h"
#include "match.h"

struct fwd_trace;
struct fwd_worker;

struct fwd_trace_conf {
	struct fwd_match match;
	uint32_t ports; /* bit i: port i */
	uint32_t count; /* packets to be recorded, at least 1 */
	uint32_t bytes; /* of a frame, at most, that are copied */
	uint32_t ring; /* records, a power of two; so many packets of a burst are followed, too */
};

enum fwd_stamp {
	FWD_STAMP_NONE,	   /* since the trace began no completion had one */
	FWD_STAMP_OWN,	   /* the card saw just this packet then */
	FWD_STAMP_SESSION, /* then it saw the first one of the compressed completions */
};

/* A packet, and what was done with it. */
struct fwd_traced {
	struct fib_nh nh;  /* the next hop that was followed, if routed */
	uint64_t stamp;	   /* m5_clock_ns() */
	uint64_t taken_ns; /* time_ns() when its burst was taken */
	uint64_t lost; /* that should be here and are not, of this worker and trace, before it */
	uint32_t route; /* index of the next hop or group that the table named, if routed */
	uint16_t bytes;	   /* of the frame as it came */
	uint16_t captured; /* of them in @data */
	uint16_t sent_bytes; /* of the frame as it left, without a tag that the card inserts */
	uint8_t port;	     /* where it came in */
	uint8_t verdict, reason;
	uint8_t stamp_kind; /* enum fwd_stamp */
	bool routed;
	bool alone;   /* handled one by one, with a full look at its headers (odd.c) */
	bool checked; /* the card found the IPv4 header checksum right, or it is IPv6 */
	_Alignas(uint16_t) uint8_t data[]; /* as headers want it */
};

/* Written by the worker; read with fwd_read(). */
struct fwd_trace_count {
	uint64_t seen;	   /* packets that were looked at */
	uint64_t recorded; /* pushed */
	uint64_t lost;	   /* matched, but there was no room */
};

/* Return: 0, -EINVAL (ring, count), -ENOMEM. Context: control thread. */
int fwd_trace_new(const struct fwd_trace_conf *conf, struct fwd_trace **ret);
void fwd_trace_free(struct fwd_trace *t);	  /* no worker has it */
struct ring *fwd_trace_ring(struct fwd_trace *t); /* of struct fwd_traced */
const struct fwd_trace_count *fwd_trace_count(const struct fwd_trace *t);

/* Memory of one trace. */
uint64_t fwd_trace_bytes(const struct fwd_trace_conf *conf);
