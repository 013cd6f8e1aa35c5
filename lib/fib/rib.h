/* fib/rib.h - every route of every origin, and what has changed since the last commit
 *
 * Routes of one prefix form a list, the most preferred origin first: that one is
 * active. Changes take effect here at once and are logged; the log is either settled
 * (what was replaced is given up) or undone (the routes are exactly as before). Neither
 * needs memory, so neither can fail.
 *
 * Each route holds one reference on its next hop; a logged route that was deleted or
 * replaced keeps its own until the log is settled.
 *
 * Context: control thread.
 */
#pragma once

#include "fib.h"
#include "trie.h"

struct nexthops;

struct rib_route {
	uint32_t nh, metric;
	uint32_t next; /* less preferred; 0 = none */
	uint32_t origin;
};

enum rib_action { RIB_ADDED, RIB_REPLACED, RIB_DELETED };

struct rib_change {
	struct trie_key key;
	uint8_t family, len, origin, action;
	uint32_t route;	     /* RIB_DELETED: the route, no longer in its list */
	uint32_t nh, metric; /* RIB_REPLACED: what they were */
};

struct rib {
	struct trie trie[2]; /* [0] IPv4, [1] IPv6 */
	struct pool routes;
	struct arena log; /* of struct rib_change */
	struct nexthops *nexthops;
	uint32_t count[2][FIB_ORIGIN_COUNT];
};

static inline struct trie_key rib_key(const uint8_t addr[16])
{
	uint64_t w[2];

	__builtin_memcpy(w, addr, sizeof(w));
	return (struct trie_key){ __builtin_bswap64(w[0]), __builtin_bswap64(w[1]) };
}

static inline struct trie *rib_trie(struct rib *rib, uint8_t family)
{
	return &rib->trie[family == 6];
}

static inline struct rib_route *rib_at(const struct rib *rib, uint32_t route)
{
	return pool_at(&rib->routes, route);
}

static inline size_t rib_changes(const struct rib *rib)
{
	return rib->log.used / sizeof(struct rib_change);
}

static inline struct rib_change *rib_change(const struct rib *rib, size_t i)
{
	return (struct rib_change *)(void *)rib->log.base + i;
}

int rib_open(struct rib *rib, struct nexthops *nexthops);
void rib_close(struct rib *rib);
int rib_add(struct rib *rib, const struct fib_prefix *p, enum fib_origin origin,
	    uint32_t nh, uint32_t metric);
int rib_replace(struct rib *rib, const struct fib_prefix *p, enum fib_origin origin,
		uint32_t nh, uint32_t metric);
int rib_del(struct rib *rib, const struct fib_prefix *p, enum fib_origin origin);
/* Forgets the log; counts what it did into @sizes. */
void rib_settle(struct rib *rib, struct fib_sizes *sizes);
void rib_undo(struct rib *rib);

bool rib_get(const struct rib *rib, const struct fib_prefix *p, enum fib_origin origin,
	     struct fib_route *ret);
bool rib_match(const struct rib *rib, uint8_t family, const uint8_t addr[16],
	       struct fib_route *ret);
void rib_walk(const struct rib *rib, const struct fib_route *after,
	      bool (*fn)(void *arg, const struct fib_route *route), void *arg);
uint64_t rib_bytes(const struct rib *rib);
