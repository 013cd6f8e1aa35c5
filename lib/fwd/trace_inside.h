/* fwd/trace_inside.h - what the packet loop tells a trace; for the files of fwd/ only
 *
 * loop.c and odd.c are built once more with FWD_TRACED, for workers that have a trace. What
 * stands behind "if (FWD_TRACED)" is not in the other builds: nothing is tested there.
 *
 *   fwd_trace_burst()     frames come, and those that match are copied
 *   fwd_trace_route()     the table named a next hop;   fwd_trace_leg()  this one is followed
 *   fwd_trace_alone()     odd.c has this packet now;    fwd_trace_hop()  it found a next hop
 *   fwd_trace_sent() fwd_trace_dropped() fwd_trace_punted()    the end of a packet
 *   fwd_trace_end()       the end of a burst
 *
 * A packet is known by the address of its frame: buffers are not posted again before the next
 * burst of their port is taken.
 */
#pragma once

#include "trace.h"
#include "worker_inside.h"

#ifndef FWD_TRACED
#define FWD_TRACED 0
#endif

struct m5_rx_stamp;

/* As m5_rx_burst_stamped(). */
uint32_t fwd_trace_burst(struct fwd_worker *w, unsigned in, struct m5_pkt pkt[],
			 struct m5_rx_stamp *ret);
void fwd_trace_route(struct fwd_worker *w, const struct m5_pkt pkt[], const uint32_t nh[],
		     uint32_t n);
void fwd_trace_leg(struct fwd_worker *w, const struct fib_tables *t,
		   const struct m5_pkt pkt[], const uint32_t nh[], uint32_t n);
void fwd_trace_sent(struct fwd_worker *w, const struct m5_pkt pkt[], uint32_t n);
void fwd_trace_dropped(struct fwd_worker *w, const struct m5_pkt pkt[], uint32_t n,
		       unsigned reason);
void fwd_trace_alone(struct fwd_worker *w, const struct m5_pkt *pkt);
void fwd_trace_hop(struct fwd_worker *w, uint32_t route, const struct fib_nh *nh);
/* Of the packet that odd.c has; @sent_bytes: 0 = it did not leave. */
void fwd_trace_verdict(struct fwd_worker *w, unsigned verdict, unsigned reason,
		       uint32_t sent_bytes);
void fwd_trace_end(struct fwd_worker *w);

/* odd.c, built so. */
void fwd_odd_traced(struct fwd_worker *w, unsigned in, const struct fib_tables *t,
		    struct m5_pkt pkt[], uint32_t n);
