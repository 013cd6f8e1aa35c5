/* fib/nexthops.h - the table of next hops
 *
 * There are two copies of the table. Workers read one; a change goes into the other,
 * and then workers are pointed at that one, so that nobody sees half a change. The copy
 * they have left follows after a grace period (nexthops_sync).
 *
 * An index that nobody refers to any more waits for a grace period, since a worker may
 * still be forwarding by it; until then a request for the same next hop revives it.
 *
 * Context: control thread.
 */
#pragma once

#include "fib.h"
#include "groups.h"
#include "memory.h"

struct nexthops {
	struct arena line[2]; /* of struct fib_nh: the copies */
	struct arena info;    /* of struct nexthop_info, by index */
	struct groups groups; /* of the lines that are such */
	uint32_t *chain;      /* by hash of the contents -> index, 0 = none */
	uint32_t n_chains;    /* power of two */
	unsigned current;     /* the copy that workers read */
	uint32_t max, n, top; /* most there may be, are; highest index ever used */
	uint32_t free;	      /* list through info.next */
	uint32_t dying;	      /* list through info.wait: no reference, maybe still read */
	uint32_t used;	      /* somebody refers to them */
	uint32_t stale_from, stale_to; /* the other copy differs in [from, to) */
};

struct nexthop_info {
	uint32_t refs;
	uint32_t next; /* in its chain or the free list */
	uint32_t wait; /* next of the dying; valid while is_dying */
	bool is_dying;
};

int nexthops_open(struct nexthops *t, uint32_t max);
void nexthops_close(struct nexthops *t);
/* -ENOSPC: none is free; some may be after nexthops_reclaim(). One more than @max is there for
 * the first of kind KERNEL, which is what the caller falls back on. */
int nexthops_get(struct nexthops *t, const struct fib_nh *nh, uint32_t *ret);
/* The same without a look for one that is there. */
int nexthops_new(struct nexthops *t, const struct fib_nh *nh, uint32_t *ret);
void nexthops_ref(struct nexthops *t, uint32_t index);
void nexthops_put(struct nexthops *t, uint32_t index);
/* Writes into the other copy, which no worker may be reading; each index once at most, then
 * nexthops_flip() makes that one current. */
void nexthops_set(struct nexthops *t, uint32_t index, const struct fib_nh *nh);
void nexthops_flip(struct nexthops *t);
/* After a grace period: the other copy becomes equal; the dying become free. */
void nexthops_sync(struct nexthops *t);
void nexthops_reclaim(struct nexthops *t);
uint64_t nexthops_bytes(const struct nexthops *t);

/* For groups.c: contents. */
uint64_t nexthops_mix(uint64_t hash, uint64_t more);
uint32_t *nexthops_chain(const struct nexthops *t, uint32_t hash);
void nexthops_link_in(struct nexthops *t, uint32_t index);
void nexthops_link_out(struct nexthops *t, uint32_t index);

static inline struct nexthop_info *nexthops_info(const struct nexthops *t, uint32_t index)
{
	return (struct nexthop_info *)(void *)t->info.base + index;
}

static inline struct fib_nh *nexthops_line(const struct nexthops *t, unsigned copy,
					   uint32_t index)
{
	return (struct fib_nh *)(void *)t->line[copy].base + index;
}

static inline const struct fib_nh *nexthops_at(const struct nexthops *t, uint32_t index)
{
	return nexthops_line(t, t->current, index);
}

static inline bool nexthops_in_use(const struct nexthops *t, uint32_t index)
{
	return index && index <= t->top && nexthops_info(t, index)->refs;
}
