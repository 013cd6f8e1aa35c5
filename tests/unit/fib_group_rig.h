/* unit/fib_group_rig.h - a table with some next hops, and where a group sends flows */
#pragma once

#include "fib_model.h"

#include "../../lib/fib/memory.h"

#define LEG(index, share) \
	{ \
		.nh = (index), .weight = (share) \
	}

enum { RIG_FLOWS = 4096 };

/* Flow -> next hop, as workers see it. */
static inline void rig_flows(const struct fib *fib, uint32_t group, uint32_t *leg)
{
	const struct fib_nh *nh = &(*fib_live(fib))->nh[group];

	assert_int_equal(nh->kind, FIB_NH_GROUP);
	for (uint32_t flow = 0; flow < RIG_FLOWS; flow++)
		leg[flow] = fib_nh_leg(nh, flow);
}

static inline uint32_t rig_count(const uint32_t *leg, uint32_t nh)
{
	uint32_t n = 0;

	for (uint32_t flow = 0; flow < RIG_FLOWS; flow++)
		n += leg[flow] == nh;
	return n;
}

/* Of each 1024 flows. A table has a power of two of buckets, so that is exact up to 1024. */
static inline uint32_t rig_moved(const uint32_t *was, const uint32_t *is)
{
	uint32_t n = 0;

	for (uint32_t flow = 0; flow < RIG_FLOWS; flow++)
		n += was[flow] != is[flow];
	return n / (RIG_FLOWS / 1024);
}

static inline uint32_t rig_buckets(const struct fib *fib, uint32_t group)
{
	struct fib_group g;

	fib_group_at(fib, group, &g);
	return g.n_buckets;
}

static inline int rig_get(struct fib *fib, const struct fib_leg *leg, uint32_t n,
			  uint32_t buckets, uint32_t *ret)
{
	const struct fib_group g = { .leg = leg, .n_legs = n, .buckets = buckets };

	return fib_group_get(fib, &g, ret);
}

static inline int rig_set(struct fib *fib, uint32_t group, const struct fib_leg *leg,
			  uint32_t n)
{
	const struct fib_group g = { .leg = leg, .n_legs = n };

	return fib_group_set(fib, group, &g);
}
