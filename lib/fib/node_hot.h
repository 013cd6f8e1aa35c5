/* fib/node_hot.h - windows of 8 bits, for lookups
 *
 * HOT. See node.h for how a node is made; what is here, lookups and changes share.
 */
#pragma once

#include <stdint.h>

#include "../base/hot.h"

#define VALUE_NODE \
	UINT32_C( \
		0x80000000) /* a value is the number of a node's first line, or a next hop */

enum { NODE_BYTES = CACHE_LINE };

struct node {
	uint64_t map[4];
	uint8_t before[4];
	uint32_t value[];
};

static_assert(offsetof(struct node, value) == 36, "values follow the counts");

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
	size_t line = value & ~VALUE_NODE;

	return (const void *)((const uint8_t *)nodes + line * NODE_BYTES);
}

ALWAYS_INLINE uint32_t node_slot(const struct node *n, uint32_t slot)
{
	uint64_t map = n->map[slot / 64] << (63 - slot % 64);

	return n->value[n->before[slot / 64] + (uint32_t)__builtin_popcountll(map) - 1];
}

/* The node's line, or line 0 if @value is a next hop: cheaper than a branch. */
ALWAYS_INLINE void node_prefetch(const void *nodes, uint32_t value)
{
	__builtin_prefetch(node_of(nodes, value & -(value >> 31)));
}
