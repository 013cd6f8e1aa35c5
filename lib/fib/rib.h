/* fib/rib.h - every route of every origin, and what has changed since the last commit
 *
 * Of the routes of one prefix, the one of the most preferred origin is active. Changes
 * take effect here at once and are logged; the log is either settled (what was replaced
 * is given up) or undone (the routes are exactly as before). Neither needs memory, so
 * neither can fail: a deleted route stays in its place, dead, until the log is settled.
 *
 * Each route holds one reference on its next hop; what it had before a logged change
 * keeps its own until the log is settled.
 *
 * Context: control thread.
 */
#pragma once

#include "fib.h"
#include "tree.h"

struct nexthops;

enum rib_action { RIB_ADDED, RIB_REPLACED, RIB_DELETED };

struct rib_change {
	struct tree_key key;
	uint8_t family, action;
	bool was_dead;	     /* RIB_REPLACED: a route that was deleted in this batch */
	uint32_t nh, metric; /* RIB_REPLACED: what they were */
};

struct rib {
	struct tree tree[2]; /* [0] IPv4, [1] IPv6 */
	struct arena log;    /* of struct rib_change */
	struct nexthops *nexthops;
	uint32_t count[2][FIB_ORIGIN_COUNT];
	uint32_t lengths[FIB_LENGTHS];
};

static inline struct tree_addr rib_addr(const uint8_t addr[16])
{
	uint64_t w[2];

	__builtin_memcpy(w, addr, sizeof(w));
	return (struct tree_addr){ __builtin_bswap64(w[0]), __builtin_bswap64(w[1]) };
}

static inline size_t rib_changes(const struct rib *rib)
{
	return rib->log.used / sizeof(struct rib_change);
}

static inline struct rib_change *rib_change(const struct rib *rib, size_t i)
{
	return (struct rib_change *)(void *)rib->log.base + i;
}

static inline uint32_t rib_routes(const struct rib *rib, unsigned family_index)
{
	uint32_t n = 0;

	for (unsigned o = 0; o < FIB_ORIGIN_COUNT; o++)
		n += rib->count[family_index][o];
	return n;
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

/* The entry of the group that starts at @at which is active, nowhere if all are dead; @ret_next
 * is the first of the next group. */
struct tree_at rib_active(const struct tree *t, struct tree_at at,
			  struct tree_at *ret_next);
/* The longest prefix with an active route that covers the first @len bits of @addr and is not
 * longer than that; nowhere = none. */
struct tree_at rib_around(const struct tree *t, struct tree_addr addr, unsigned len);
