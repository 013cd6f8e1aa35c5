/* fib/groups.c - the lines of the next hop table that are groups */

#include "groups.h"

#include <stdlib.h>
#include <string.h>

#include "../base/bits.h"
#include "buckets.h"
#include "nexthops.h"

struct group {
	struct group *next; /* retired */
	size_t bytes;
	uint32_t hash;
	uint32_t least; /* buckets that were asked for */
	uint32_t n_legs, n_buckets;
	CACHE_ALIGNED uint32_t bucket[]; /* then the legs */
};

/* What a group shall be, in one form for all orders of the same legs. */
struct wanted {
	struct fib_leg leg[FIB_GROUP_LEGS];
	uint32_t n_legs, least;
};

static struct fib_leg *legs_of(const struct group *g)
{
	return (struct fib_leg *)(void *)(uintptr_t)(g->bucket + g->n_buckets);
}

static struct group *group_of(const struct fib_nh *line)
{
	uintptr_t bucket = line->group & ~(uintptr_t)FIB_GROUP_LOG;

	return (struct group *)(bucket - offsetof(struct group, bucket));
}

static bool is_group(const struct nexthops *t, uint32_t index)
{
	return nexthops_at(t, index)->kind == FIB_NH_GROUP;
}

/* ---- what is wanted ---- */

static int by_nh(const void *a, const void *b)
{
	const struct fib_leg *x = a, *y = b;

	return (x->nh > y->nh) - (x->nh < y->nh);
}

static int check(const struct nexthops *t, const struct fib_group *g)
{
	if (!g->n_legs)
		return -EINVAL;
	if (g->n_legs > FIB_GROUP_LEGS || g->buckets > FIB_GROUP_BUCKETS)
		return -ENOSPC;
	for (uint32_t i = 0; i < g->n_legs; i++)
		if (!nexthops_in_use(t, g->leg[i].nh) || is_group(t, g->leg[i].nh) ||
		    g->leg[i].weight > FIB_WEIGHT_MAX)
			return -EINVAL;
	return 0;
}

/* One leg more, sorted; legs that are the same next hop are one, with the weight of both. */
static int add_leg(struct wanted *w, const struct fib_leg *leg)
{
	struct fib_leg *last = w->n_legs ? &w->leg[w->n_legs - 1] : NULL;

	if (!last || last->nh != leg->nh) {
		last = &w->leg[w->n_legs++];
		last->nh = leg->nh;
	}
	last->weight += leg->weight;
	last->down |= leg->down;
	return last->weight > FIB_WEIGHT_MAX ? -EINVAL : 0;
}

static int settle_wanted(const struct nexthops *t, const struct fib_group *g,
			 struct wanted *w)
{
	struct fib_leg leg[FIB_GROUP_LEGS];
	int r = check(t, g);

	if (r < 0)
		return r;
	memset(w, 0, sizeof(*w));
	memcpy(leg, g->leg, g->n_legs * sizeof(leg[0]));
	qsort(leg, g->n_legs, sizeof(leg[0]), by_nh);
	for (uint32_t i = 0; i < g->n_legs && !r; i++)
		r = add_leg(w, &leg[i]);
	w->least = g->buckets ? UINT32_C(1) << log2_ceil(g->buckets) : 0;
	return r;
}

static uint32_t hash_of(const struct wanted *w)
{
	uint64_t h = w->least;

	for (uint32_t i = 0; i < w->n_legs; i++)
		h = nexthops_mix(h, (uint64_t)w->leg[i].nh << 32 | w->leg[i].weight);
	return (uint32_t)h;
}

static bool is_as_wanted(const struct group *g, const struct wanted *w)
{
	const struct fib_leg *leg = legs_of(g);
	bool same = g->n_legs == w->n_legs && g->least == w->least;

	for (uint32_t i = 0; i < w->n_legs && same; i++)
		same = leg[i].nh == w->leg[i].nh && leg[i].weight == w->leg[i].weight;
	return same;
}

/* Of legs that are as wanted. */
static bool is_as_far_up(const struct group *g, const struct wanted *w)
{
	for (uint32_t i = 0; i < w->n_legs; i++)
		if (legs_of(g)[i].down != w->leg[i].down)
			return false;
	return true;
}

/* ---- pieces ---- */

/* A table never shrinks, and grows by doubling, which moves nothing. */
static uint32_t count_buckets(const struct wanted *w, const struct group *was)
{
	uint32_t n = w->least ? w->least : buckets_default(w->leg, w->n_legs), live = 0;

	for (uint32_t i = 0; i < w->n_legs; i++)
		live += w->leg[i].weight != 0;
	if (n < live)
		n = UINT32_C(1) << log2_ceil(live);
	return was && was->n_buckets > n ? was->n_buckets : n;
}

static struct group *alloc_group(struct groups *all, uint32_t n_buckets, uint32_t n_legs,
				 int *ret)
{
	size_t bytes = align_up(sizeof(struct group) + n_buckets * sizeof(uint32_t) +
					n_legs * sizeof(struct fib_leg),
				CACHE_LINE);
	struct group *g;

	*ret = -ENOSPC;
	if (all->bytes + bytes > all->max_bytes)
		return NULL;
	*ret = -ENOMEM;
	g = fib_mem_refused() ? NULL : aligned_alloc(CACHE_LINE, bytes);
	if (!g)
		return NULL;
	memset(g, 0, bytes);
	g->bytes = bytes;
	g->n_buckets = n_buckets;
	g->n_legs = n_legs;
	all->bytes += bytes;
	return g;
}

static void free_group(struct groups *all, struct group *g)
{
	all->bytes -= g->bytes;
	free(g);
}

/* @was: what it follows on, or NULL. */
static int make_group(struct groups *all, const struct wanted *w, const struct group *was,
		      struct group **ret)
{
	uint32_t n = count_buckets(w, was), share[FIB_GROUP_LEGS];
	struct fib_leg live[FIB_GROUP_LEGS];
	int r;
	struct group *g = alloc_group(all, n, w->n_legs, &r);

	if (!g)
		return r;
	g->hash = hash_of(w);
	g->least = w->least;
	memcpy(legs_of(g), w->leg, w->n_legs * sizeof(w->leg[0]));
	for (uint32_t i = 0; was && i < n; i++)
		g->bucket[i] = was->bucket[i & (was->n_buckets - 1)];
	memcpy(live, w->leg, w->n_legs * sizeof(live[0]));
	for (uint32_t i = 0; i < w->n_legs; i++)
		live[i].weight = live[i].down ? 0 : live[i].weight;
	buckets_share(live, w->n_legs, n, share);
	buckets_fill(g->bucket, n, live, w->n_legs, share);
	*ret = g;
	return 0;
}

static void ref_legs(struct nexthops *t, const struct group *g)
{
	for (uint32_t i = 0; i < g->n_legs; i++)
		nexthops_ref(t, legs_of(g)[i].nh);
}

static void put_legs(struct nexthops *t, const struct group *g)
{
	for (uint32_t i = 0; i < g->n_legs; i++)
		nexthops_put(t, legs_of(g)[i].nh);
}

/* Buckets start at a cache line, so the low bits of their address hold the log of their number. */
static uintptr_t word_of(const struct group *g)
{
	static_assert(offsetof(struct group, bucket) % CACHE_LINE == 0, "as said");
	return (uintptr_t)g->bucket | log2_ceil(g->n_buckets);
}

/* ---- groups ---- */

uint32_t groups_hash(const struct fib_nh *line)
{
	return group_of(line)->hash;
}

static uint32_t find_group(const struct nexthops *t, const struct wanted *w)
{
	uint32_t i = *nexthops_chain(t, hash_of(w));

	while (i && !(is_group(t, i) && is_as_wanted(group_of(nexthops_at(t, i)), w)))
		i = nexthops_info(t, i)->next;
	return i;
}

static int new_group(struct nexthops *t, const struct wanted *w, uint32_t *ret)
{
	struct fib_nh line = { .kind = FIB_NH_GROUP };
	struct group *g;
	int r;

	if (t->groups.n == t->groups.max)
		return -ENOSPC;
	r = make_group(&t->groups, w, NULL, &g);
	if (r < 0)
		return r;
	line.group = word_of(g);
	r = nexthops_new(t, &line, ret);
	if (r < 0) {
		free_group(&t->groups, g);
		return r;
	}
	ref_legs(t, g);
	t->groups.n++;
	return 0;
}

int groups_get(struct nexthops *t, const struct fib_group *g, uint32_t *ret)
{
	struct wanted w;
	uint32_t index;
	int r = settle_wanted(t, g, &w);

	if (r < 0)
		return r;
	index = find_group(t, &w);
	if (!index)
		return new_group(t, &w, ret);
	nexthops_ref(t, index);
	*ret = index;
	return 0;
}

/* Both copies, as workers may be in either; what the copies are for is told in nexthops.h. */
static void point_to(struct nexthops *t, uint32_t index, const struct group *g)
{
	for (unsigned copy = 0; copy < 2; copy++)
		__atomic_store_n(&nexthops_line(t, copy, index)->group, word_of(g),
				 __ATOMIC_RELEASE);
}

int groups_set(struct nexthops *t, uint32_t index, const struct fib_group *g)
{
	struct group *was, *is;
	struct wanted w;
	int r;

	if (!nexthops_in_use(t, index) || !is_group(t, index))
		return -ENOENT;
	r = settle_wanted(t, g, &w);
	if (r < 0)
		return r;
	was = group_of(nexthops_at(t, index));
	if (is_as_wanted(was, &w) && is_as_far_up(was, &w))
		return 0;
	r = make_group(&t->groups, &w, was, &is);
	if (r < 0)
		return r;
	ref_legs(t, is);
	nexthops_link_out(t, index);
	point_to(t, index, is);
	nexthops_link_in(t, index);
	put_legs(t, was);
	was->next = t->groups.retired;
	t->groups.retired = was;
	return 0;
}

void groups_at(const struct nexthops *t, uint32_t index, struct fib_group *ret)
{
	const struct group *g = group_of(nexthops_at(t, index));

	*ret = (struct fib_group){ legs_of(g), g->n_legs, g->least, g->n_buckets };
}

void groups_release(struct nexthops *t, uint32_t index)
{
	struct group *g = group_of(nexthops_at(t, index));

	put_legs(t, g);
	free_group(&t->groups, g);
	t->groups.n--;
}

void groups_reclaim(struct nexthops *t)
{
	while (t->groups.retired) {
		struct group *g = t->groups.retired;

		t->groups.retired = g->next;
		free_group(&t->groups, g);
	}
}

void groups_close(struct nexthops *t)
{
	groups_reclaim(t);
	for (uint32_t i = 1; i <= t->top; i++)
		if (is_group(t, i))
			free_group(&t->groups, group_of(nexthops_at(t, i)));
}
