/* fib/node.h - a window of 8 bits in one or a few cache lines
 *
 *   byte  0  u32 part[11]   by 24 slots: which runs begin in them, and how many before
 *        44  value[]        by run: u16 if all of them are next hops that fit, else u32
 *
 * Three of four nodes of a full IPv6 table fit in their first line.
 */
#pragma once

#include "node_hot.h"
#include "window.h"

enum { NODE_MAX = 1 << 25 }; /* lines */

static inline const struct node *node_at(const struct table *t, uint32_t value)
{
	return slab_at(&t->ledger.slab[TABLE_NODES], value & ~(VALUE_NODE | VALUE_SMALL));
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
