/* fib/node_hot.h - windows of 8 bits, for lookups
 *
 * HOT. See node.h for how a node is made; what is here, lookups and changes share.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "../base/hot.h"

/* A value is a next hop, or the number of a node's first line; a small node has values of 16
 * bits, which are all next hops. */
#define VALUE_NODE  UINT32_C(0x80000000)
#define VALUE_SMALL UINT32_C(0x40000000)

enum { NODE_BYTES = CACHE_LINE };

/* A part: bits 8..31 = a run begins in that slot, bits 0..7 = runs that begin in the parts
 * before. One load tells which run a slot is in. */
enum { NODE_PART_SLOTS = 24, NODE_PARTS = 11, NODE_BEFORE = 0xff };

struct node {
	uint32_t part[NODE_PARTS];
	uint16_t half[]; /* values, in one half each if the node is small, else in two */
};

static_assert(offsetof(struct node, half) == 44, "values follow the parts");

/* A word or its successor: what it leads to was complete before the word was stored and
 * never changes, so the address dependency is order enough (as in rcu_dereference()).
 * ThreadSanitizer wants to hear of it. */
#ifdef BUILT_FOR_TSAN
#define NODE_ORDER __ATOMIC_ACQUIRE
#else
#define NODE_ORDER __ATOMIC_RELAXED
#endif

#define WORD_LOAD(p) __atomic_load_n((p), NODE_ORDER)

/* Addresses that are looked up together: their misses overlap. */
enum { LOOKUP_CHUNK = 64 };

ALWAYS_INLINE const struct node *node_of(const void *nodes, uint32_t value)
{
	size_t line = value & ~(VALUE_NODE | VALUE_SMALL);

	return (const void *)((const uint8_t *)nodes + line * NODE_BYTES);
}

ALWAYS_INLINE uint32_t node_value(const struct node *n, bool small, uint32_t run)
{
	uint32_t value;

	if (small)
		return n->half[run];
	__builtin_memcpy(&value, &n->half[2 * run], sizeof(value));
	return value;
}

/* @value leads to a node. */
ALWAYS_INLINE uint32_t node_slot(const void *nodes, uint32_t value, uint32_t slot)
{
	const struct node *n = node_of(nodes, value);
	uint32_t part = n->part[slot / NODE_PART_SLOTS];
	uint32_t map = (part & ~(uint32_t)NODE_BEFORE)
		       << (NODE_PART_SLOTS - 1 - slot % NODE_PART_SLOTS);
	uint32_t run = (part & NODE_BEFORE) + (uint32_t)__builtin_popcount(map) - 1;

	return node_value(n, value & VALUE_SMALL, run);
}

/* The node's line, or line 0 if @value is a next hop: cheaper than a branch. */
ALWAYS_INLINE void node_prefetch(const void *nodes, uint32_t value)
{
	__builtin_prefetch(node_of(nodes, value & -(value >> 31)));
}
