/* unit/fib_fuzz_group.h - steps of a fuzzed change sequence that are about groups; fib_fuzz.h
 *
 * What holds for any group: each leg with a weight has a bucket, others have none; a change
 * moves no flow that it need not move; what is refused has changed nothing.
 */
#pragma once

enum { FUZZ_FLOWS = 1024 }; /* no table of buckets is larger here */

/* The leg of each flow, counted by leg as well. */
struct fuzz_flows {
	uint32_t leg[FUZZ_FLOWS];
	uint32_t count[FUZZ_HOPS + 1];
};

static inline void fuzz_flows(const struct fuzz *z, uint32_t index, struct fuzz_flows *f)
{
	const struct fib_nh *nh = &(*fib_live(z->m->fib))->nh[index];

	memset(f, 0, sizeof(*f));
	assert_int_equal(nh->kind, FIB_NH_GROUP);
	for (uint32_t flow = 0; flow < FUZZ_FLOWS; flow++) {
		f->leg[flow] = fib_nh_leg(nh, flow);
		assert_in_range(f->leg[flow], 0, FUZZ_HOPS);
		f->count[f->leg[flow]]++;
	}
}

/* The group says which legs are down: another request may have made it. */
static inline uint32_t fuzz_weight(const struct fib_group *g, uint32_t nh)
{
	for (uint32_t i = 0; i < g->n_legs; i++)
		if (g->leg[i].nh == nh)
			return g->leg[i].down ? 0 : g->leg[i].weight;
	return 0;
}

/* The legs are those asked for, whatever the order, and weights of the same one are summed up. */
static inline void fuzz_check_legs(const struct fuzz_group *g, const struct fib_group *is)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < is->n_legs; i++)
		sum += (uint64_t)is->leg[i].weight * is->leg[i].nh;
	for (uint32_t i = 0; i < g->n_legs; i++)
		sum -= (uint64_t)g->leg[i].weight * g->leg[i].nh;
	assert_true(!sum && is->n_legs <= g->n_legs);
}

static inline void fuzz_check_group(const struct fuzz *z, const struct fuzz_group *g)
{
	uint32_t total = 0;
	struct fib_group is;
	struct fuzz_flows f;

	fuzz_flows(z, g->index, &f);
	fib_group_at(z->m->fib, g->index, &is);
	fuzz_check_legs(g, &is);
	for (uint32_t nh = 1; nh <= FUZZ_HOPS; nh++) {
		uint32_t weight = fuzz_weight(&is, nh);

		assert_true(!weight == !f.count[nh]);
		total += weight;
	}
	assert_true(!total == (f.count[0] == FUZZ_FLOWS));
}

static inline void fuzz_check_groups(const struct fuzz *z)
{
	for (unsigned i = 0; i < FUZZ_GROUPS; i++)
		if (z->group[i].index)
			fuzz_check_group(z, &z->group[i]);
}

static inline void fuzz_group_put(struct fuzz *z, struct fuzz_group *g)
{
	if (g->index)
		fib_nh_put(z->m->fib, g->index);
	g->index = 0;
}

/* Return: buckets that are asked for. */
static inline uint32_t fuzz_legs(struct fuzz *z, struct fuzz_group *g)
{
	uint8_t how = fuzz_byte(z), leg;

	g->n_legs = 1 + how % FUZZ_LEGS;
	for (uint32_t i = 0; i < g->n_legs; i++) {
		g->leg[i].nh = 1 + fuzz_byte(z) % FUZZ_HOPS;
		leg = fuzz_byte(z);
		g->leg[i].weight = leg % 8;
		g->leg[i].down = leg >> 6 == 3;
	}
	/* Weights are so small that default tables are not larger than FUZZ_FLOWS either. */
	return how >> 4;
}

static inline void fuzz_group_get(struct fuzz *z, struct fuzz_group *g)
{
	struct fuzz_group new = { .index = 0 };
	uint32_t buckets = fuzz_legs(z, &new);
	struct fib_group want = { new.leg, new.n_legs, buckets, 0 };
	int r = fib_group_get(z->m->fib, &want, &new.index);

	assert_true(r == 0 || r == -ENOMEM || r == -ENOSPC);
	if (r < 0)
		return;
	fuzz_group_put(z, g);
	*g = new;
}

static inline void fuzz_group_set(struct fuzz *z, struct fuzz_group *g)
{
	struct fuzz_group new = { .index = g->index };
	uint32_t buckets = fuzz_legs(z, &new), moved = 0, must = 0;
	struct fib_group want = { new.leg, new.n_legs, buckets, 0 };
	struct fuzz_flows was, is;
	int r;

	if (!g->index)
		return;
	fuzz_flows(z, g->index, &was);
	r = fib_group_set(z->m->fib, g->index, &want);
	assert_true(r == 0 || r == -ENOMEM || r == -ENOSPC);
	fuzz_flows(z, g->index, &is);
	for (uint32_t flow = 0; flow < FUZZ_FLOWS; flow++)
		moved += was.leg[flow] != is.leg[flow];
	for (uint32_t nh = 0; nh <= FUZZ_HOPS; nh++)
		must += was.count[nh] > is.count[nh] ? was.count[nh] - is.count[nh] : 0;
	assert_int_equal(moved, must);
	if (r < 0)
		assert_int_equal(moved, 0);
	for (unsigned i = 0; i < FUZZ_GROUPS && !r; i++)
		if (z->group[i].index == new.index)
			z->group[i] = new;
}

static inline void fuzz_other(struct fuzz *z, uint8_t action)
{
	struct fuzz_group *g = &z->group[action >> 5 & 3];

	switch ((enum fuzz_other)(action >> 3 & 3)) {
	case FUZZ_RECLAIM:
		fib_reclaim(z->m->fib);
		break;
	case FUZZ_GROUP_GET:
		fuzz_group_get(z, g);
		break;
	case FUZZ_GROUP_SET:
		fuzz_group_set(z, g);
		break;
	case FUZZ_GROUP_PUT:
		fuzz_group_put(z, g);
		break;
	}
}

/* A next hop for a route; a group where there is one. */
static inline uint32_t fuzz_hop(struct fuzz *z)
{
	uint32_t hop = fuzz_byte(z) % (FUZZ_HOPS + FUZZ_GROUPS), group = 0;

	if (hop >= FUZZ_HOPS)
		group = z->group[hop - FUZZ_HOPS].index;
	return group ? group : 1 + hop % FUZZ_HOPS;
}
