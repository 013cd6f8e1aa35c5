/* fib/nexthop.h - where a packet goes: one cache line
 *
 * The packet loop reads this line and nothing else about the egress. A route holds
 * the index of a next hop; a million routes over one next hop follow a change of
 * its MAC by one store. The control thread is the only writer.
 *
 * A group has a line and an index like any next hop. Its buckets hold the indexes of its
 * legs, each as often as its weight asks for; the packet's flow hash picks one.
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
	FIB_NH_NONE,  /* no route: punt, the kernel answers; index 0 is always this */
	FIB_NH_GROUP, /* one of several, by the packet's flow (fib_nh_leg) */
};

/* fib_nh.group: address of the buckets, and in these bits the log of their number. */
enum { FIB_GROUP_LOG = CACHE_LINE - 1 };

struct fib_nh {
	uint8_t macs[12]; /* destination, source: written over the frame's in one go */
	uint16_t mtu;	  /* IP bytes that fit */
	uint8_t kind;	  /* enum fib_nh_kind */
	uint8_t port;	  /* egress port index; FORWARD only */
	uint16_t vlan;	  /* tag to insert, 0 = none */
	uint16_t flags;
	uint8_t reserved[36]; /* zero: next hops are compared as bytes */
	uintptr_t group;      /* GROUP only, else zero; changes while workers read it */
} CACHE_ALIGNED;

static_assert(sizeof(struct fib_nh) == CACHE_LINE, "a next hop is one cache line");
static_assert(offsetof(struct fib_nh, port) == offsetof(struct fib_nh, kind) + 1 &&
		      offsetof(struct fib_nh, vlan) == offsetof(struct fib_nh, kind) + 2,
	      "fib_nh_way()");

/* Kind, port and VLAN as one number: equal for next hops by which packets leave alike. */
ALWAYS_INLINE uint32_t fib_nh_way(const struct fib_nh *nh)
{
	uint32_t way;

	__builtin_memcpy(&way, &nh->kind, sizeof(way));
	return way;
}

/**
 * fib_nh_leg() - the way that a group has for a flow
 * @group: of kind FIB_NH_GROUP
 * @hash:  of the flow, its low bits count
 *
 * Return: index of a next hop that is no group; 0 if no leg has a weight.
 * Context: any worker; within one turn of its loop.
 */
ALWAYS_INLINE uint32_t fib_nh_leg(const struct fib_nh *group, uint32_t hash)
{
	/* What it leads to was written before it was; the address depends on it (consume). */
	uintptr_t word = __atomic_load_n(&group->group, __ATOMIC_CONSUME);
	const uint32_t *bucket = (const void *)(word & ~(uintptr_t)FIB_GROUP_LOG);

	return bucket[hash & ((UINT32_C(1) << (word & FIB_GROUP_LOG)) - 1)];
}
