/* fib/groups.h - the lines of the next hop table that are groups
 *
 *   line.group ---> bucket[0 .. 2^n - 1]   a leg's index each; read by workers
 *                   header, legs           of the control thread
 *
 * Legs and buckets of a group are one piece of memory. It is never changed: a change makes
 * another one and leads workers there by ONE store, in either copy of the line. The old
 * piece goes back after a grace period. A group holds a reference on each leg.
 *
 * Context: control thread.
 */
#pragma once

#include "fib.h"

struct nexthops;
struct group;

struct groups {
	struct group *retired; /* pieces that workers may still read */
	uint32_t n, max; /* groups, those that only wait for a grace period included */
	uint64_t bytes, max_bytes; /* of pieces, the retired ones included */
};

/* -EINVAL, -ENOSPC (limits; there may be room after a grace period), -ENOMEM. */
int groups_get(struct nexthops *t, const struct fib_group *g, uint32_t *ret);
int groups_set(struct nexthops *t, uint32_t index, const struct fib_group *g);
void groups_at(const struct nexthops *t, uint32_t index, struct fib_group *ret);
/* The group is gone, and no worker reads it. */
void groups_release(struct nexthops *t, uint32_t index);
void groups_reclaim(struct nexthops *t); /* after a grace period */
void groups_close(struct nexthops *t);
/* Of its legs, for the table of contents. */
uint32_t groups_hash(const struct fib_nh *line);
