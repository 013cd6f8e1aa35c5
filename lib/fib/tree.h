/* fib/tree.h - the routes of one family in the order of listings: a B+ tree
 *
 * An entry is a prefix of one origin. Entries are ordered by address, length, origin, so
 * those of one prefix are neighbours (a group), and whatever lies inside a prefix follows
 * it. Each entry knows the length of the nearest prefix around it ("parent"), so that
 * the routes that cover an address are found one from the other.
 *
 *   leaf  32 entries; keys apart from the rest, because a search looks at keys only
 *   fork  up to 32 leaves or forks, with the first key of each
 *
 * An entry may be dead: a deleted route that comes back if the batch is given up. It has
 * its place in the order and as a parent, but routes nothing.
 *
 * Addresses are two host-order words with bit 0 the first of the address; an IPv4
 * address fills the top half of hi.
 *
 * Context: control thread.
 */
#pragma once

#include "memory.h"

struct tree_addr {
	uint64_t hi, lo;
};

struct tree_key {
	struct tree_addr addr;
	uint8_t len, origin;
};

enum { TREE_NO_PARENT = 255 };

struct tree_entry {
	uint32_t nh, metric;
	uint8_t parent; /* length of the nearest prefix around this one, or TREE_NO_PARENT */
	bool dead;
};

struct tree_path;

struct tree {
	struct pool leaves, forks;
	struct tree_path *last; /* the path that was taken last */
	uint32_t root, first;	/* first leaf; 0 = the tree is empty */
	unsigned height;	/* forks above each leaf */
	bool wide;		/* addresses have 128 bits */
};

struct tree_at {       /* where an entry is; valid until the tree changes */
	uint32_t leaf; /* 0 = nowhere: past the last or before the first */
	uint32_t i;
};

/* ---- addresses ---- */

/* The first @len bits, the others zero. */
static inline struct tree_addr addr_mask(struct tree_addr a, unsigned len)
{
	if (len < 64)
		return (struct tree_addr){ len ? a.hi & UINT64_MAX << (64 - len) : 0, 0 };
	return (struct tree_addr){ a.hi, len < 128 ? a.lo & ~(UINT64_MAX >> (len - 64))
						   : a.lo };
}

/* How many bits both start with. */
static inline unsigned addr_common(struct tree_addr a, struct tree_addr b)
{
	if (a.hi != b.hi)
		return (unsigned)__builtin_clzll(a.hi ^ b.hi);
	return a.lo == b.lo ? 128 : 64 + (unsigned)__builtin_clzll(a.lo ^ b.lo);
}

/* Bits [from, from + n) of an address, n 0..32; they do not cross bit 64. */
static inline uint32_t addr_bits(struct tree_addr a, unsigned from, unsigned n)
{
	uint64_t w = from < 64 ? a.hi : a.lo;

	return n ? (uint32_t)(w << from % 64 >> (64 - n)) : 0;
}

/* ---- entries ---- */

int tree_open(struct tree *t, bool wide, uint32_t max_leaves);
void tree_close(struct tree *t);

struct tree_key tree_key(const struct tree *t, struct tree_at at);
struct tree_entry *tree_entry(const struct tree *t, struct tree_at at);
struct tree_at tree_next(const struct tree *t, struct tree_at at);

/* The first entry that is not before @key. */
struct tree_at tree_from(const struct tree *t, const struct tree_key *key);
/* Exactly this entry; nowhere if absent. */
struct tree_at tree_find(const struct tree *t, const struct tree_key *key);
/* An entry of the longest prefix there is that covers the first @len bits of @addr and is not
 * longer; dead ones included. Nowhere = none. */
struct tree_at tree_around(const struct tree *t, struct tree_addr addr, unsigned len);
/* An entry of the parent of the one at @at. */
struct tree_at tree_parent(const struct tree *t, struct tree_at at);

/* @ret_there: written if the entry is there already. Return: 0, -EEXIST, -ENOSPC, -ENOMEM; then
 * nothing has changed. */
int tree_add(struct tree *t, const struct tree_key *key, const struct tree_entry *e,
	     struct tree_at *ret_there);
/* @key is there. */
void tree_del(struct tree *t, const struct tree_key *key);

uint64_t tree_bytes(const struct tree *t);
