/* fib/nexthop.h - where a packet goes: one cache line
 *
 * The packet loop reads this line and nothing else about the egress. A route holds
 * the index of a next hop; a million routes over one next hop follow a change of
 * its MAC by one store. The control thread is the only writer.
 */
#pragma once

#include <stdint.h>

#include "../base/hot.h"

enum fib_nh_kind {
	FIB_NH_FORWARD,	    /* rewrite and send */
	FIB_NH_KERNEL,	    /* "kernel egress": punt, the kernel knows the way */
	FIB_NH_LOCAL,	    /* for the host itself: punt */
	FIB_NH_BLACKHOLE,   /* drop */
	FIB_NH_UNREACHABLE, /* punt: the kernel answers */
	FIB_NH_PROHIBIT,    /* punt: the kernel answers */
	FIB_NH_NONE, /* no route: punt, the kernel answers; index 0 is always this */
};

struct fib_nh {
	uint8_t macs[12]; /* destination, source: written over the frame's in one go */
	uint16_t mtu;	  /* IP bytes that fit */
	uint8_t kind;	  /* enum fib_nh_kind */
	uint8_t port;	  /* egress port index; FORWARD only */
	uint16_t vlan;	  /* tag to insert, 0 = none */
	uint16_t flags;
	uint8_t reserved[44]; /* zero: next hops are compared as bytes */
} CACHE_ALIGNED;

static_assert(sizeof(struct fib_nh) == CACHE_LINE, "a next hop is one cache line");
