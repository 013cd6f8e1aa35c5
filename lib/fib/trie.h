/* fib/trie.h - prefixes of one family: a binary trie without one-way stretches
 *
 * A node is a prefix. It holds routes, or two children, or both; only the root (length
 * 0) may hold neither. Children of a node lie inside it, child[0] before child[1], so
 * that a walk "node, child[0], child[1]" gives prefixes in the order of listings.
 *
 * Addresses are two host-order words with bit 0 the first of the address; an IPv4
 * address fills the top half of hi.
 *
 * Context: control thread.
 */
#pragma once

#include "memory.h"

struct trie_key {
	uint64_t hi, lo;
};

struct trie_node { /* half a cache line */
	struct trie_key key;
	uint32_t child[2]; /* 0 = none */
	uint32_t route;	   /* the best of its routes (rib.h), 0 = none */
	uint8_t len;
};

static_assert(sizeof(struct trie_node) == 32, "a node is half a cache line");

struct trie {
	struct pool nodes;
};

enum { TRIE_ROOT = 1, TRIE_DEPTH = 130 };

static inline struct trie_node *trie_at(const struct trie *t, uint32_t node)
{
	return pool_at(&t->nodes, node);
}

static inline unsigned trie_bit(struct trie_key k, unsigned bit)
{
	return (unsigned)((bit < 64 ? k.hi >> (63 - bit) : k.lo >> (127 - bit)) & 1);
}

/* The first @len bits, the others zero. */
static inline struct trie_key trie_mask(struct trie_key k, unsigned len)
{
	if (len < 64)
		return (struct trie_key){ len ? k.hi & UINT64_MAX << (64 - len) : 0, 0 };
	return (struct trie_key){ k.hi,
				  len < 128 ? k.lo & ~(UINT64_MAX >> (len - 64)) : k.lo };
}

/* How many bits both start with. */
static inline unsigned trie_common(struct trie_key a, struct trie_key b)
{
	if (a.hi != b.hi)
		return (unsigned)__builtin_clzll(a.hi ^ b.hi);
	return a.lo == b.lo ? 128 : 64 + (unsigned)__builtin_clzll(a.lo ^ b.lo);
}

static inline bool trie_covers(const struct trie_node *n, struct trie_key k)
{
	return trie_common(n->key, k) >= n->len;
}

int trie_open(struct trie *t, uint32_t max_nodes);
void trie_close(struct trie *t);
uint32_t trie_find(const struct trie *t, struct trie_key key,
		   unsigned len); /* 0 = absent */
/* Finds or makes the node. Return: 0, -ENOSPC, -ENOMEM; then nothing has changed. */
int trie_insert(struct trie *t, struct trie_key key, unsigned len, uint32_t *ret);
/* Takes the node out again if nothing needs it. */
void trie_prune(struct trie *t, struct trie_key key, unsigned len);
/* The longest node with a route that covers @key and is shorter than @below bits; 0 = none. */
uint32_t trie_match(const struct trie *t, struct trie_key key, unsigned below);
/**
 * trie_walk() - nodes with routes, in the order of listings
 * @from, @len: where to start, this one included
 * @fn: returns false to stop
 */
void trie_walk(const struct trie *t, struct trie_key from, unsigned len,
	       bool (*fn)(void *arg, const struct trie_node *node), void *arg);
