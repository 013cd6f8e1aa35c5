/* fib/node.h - a window of 8 bits in one or a few cache lines
 *
 *   byte  0  u64 map[4]     bit = a run begins in this slot; slot 0's is set
 *        32  u8 before[4]   runs that begin in the words of the map before this one
 *        36  u32 value[]    by run
 *
 * so a slot is in run  before[slot / 64] + (set bits of its word up to the slot's).
 * Two of three nodes of a full IPv6 table fit in their first line.
 */
#pragma once

#include "node_hot.h"
#include "window.h"

enum { NODE_MAX = 1 << 25 }; /* lines */

static inline const struct node *node_at(const struct table *t, uint32_t value)
{
	return slab_at(&t->ledger.slab[TABLE_NODES], value & ~VALUE_NODE);
}

int node_open(struct table *t); /* the slab */
/**
 * node_build() - what a slot leads to after a change inside it
 * @old:  what it led to
 * @from: the slot's prefix length, a multiple of 8
 * @ret:  @old if it is the same now; else @old's node is doomed
 */
int node_build(struct table *t, uint32_t old, unsigned from, struct change *c,
	       uint32_t *ret);
/* The node and all below; nothing if @value is a next hop. */
int node_doom(struct table *t, uint32_t value);
