/* fib/nexthops.c - the table of next hops */

#include "nexthops.h"

#include <stdlib.h>
#include <string.h>

#include "../base/bits.h"

static const struct fib_nh nothing = { .kind = FIB_NH_NONE };

static int grow(struct arena *a, size_t bytes)
{
	size_t at;

	return a->used < bytes ? arena_more(a, bytes - a->used, &at) : 0;
}

/* Room for indexes below n. What has grown when the next part cannot stays for later. */
static int make_room(struct nexthops *t, size_t n)
{
	int r = grow(&t->info, n * sizeof(struct nexthop_info));

	if (!r)
		r = grow(&t->line[0], n * sizeof(struct fib_nh));
	if (!r)
		r = grow(&t->line[1], n * sizeof(struct fib_nh));
	return r;
}

int nexthops_open(struct nexthops *t, uint32_t max)
{
	size_t slots = (size_t)max + 2; /* index 0, and the one of kind KERNEL */
	int r;

	memset(t, 0, sizeof(*t));
	t->max = max;
	t->n_chains = UINT32_C(1) << log2_ceil(slots);
	t->chain = fib_mem_refused() ? NULL : calloc(t->n_chains, sizeof(*t->chain));
	if (!t->chain)
		return -ENOMEM;
	r = arena_open(&t->info, slots * sizeof(struct nexthop_info), false);
	if (!r)
		r = arena_open(&t->line[0], slots * sizeof(struct fib_nh), true);
	if (!r)
		r = arena_open(&t->line[1], slots * sizeof(struct fib_nh), true);
	if (!r)
		r = make_room(t, 2);
	if (!r)
		*nexthops_line(t, 0, 0) = *nexthops_line(t, 1, 0) = nothing;
	return r;
}

void nexthops_close(struct nexthops *t)
{
	groups_close(t);
	free(t->chain);
	arena_close(&t->info);
	arena_close(&t->line[0]);
	arena_close(&t->line[1]);
	memset(t, 0, sizeof(*t));
}

/* ---- by contents ---- */

uint64_t nexthops_mix(uint64_t hash, uint64_t more)
{
	hash = (hash ^ more) * UINT64_C(0x9e3779b97f4a7c15);
	return hash ^ hash >> 29;
}

static uint32_t hash_of(const struct fib_nh *nh)
{
	uint64_t h = 0, w;

	if (nh->kind == FIB_NH_GROUP)
		return groups_hash(nh);
	for (size_t i = 0; i < sizeof(*nh); i += sizeof(w)) {
		memcpy(&w, (const uint8_t *)nh + i, sizeof(w));
		h = nexthops_mix(h, w);
	}
	return (uint32_t)h;
}

uint32_t *nexthops_chain(const struct nexthops *t, uint32_t hash)
{
	return &t->chain[hash & (t->n_chains - 1)];
}

static uint32_t find(const struct nexthops *t, const struct fib_nh *nh)
{
	uint32_t i = *nexthops_chain(t, hash_of(nh));

	while (i && memcmp(nexthops_at(t, i), nh, sizeof(*nh)))
		i = nexthops_info(t, i)->next;
	return i;
}

static void link_in(struct nexthops *t, uint32_t index, const struct fib_nh *nh)
{
	uint32_t *chain = nexthops_chain(t, hash_of(nh));

	nexthops_info(t, index)->next = *chain;
	*chain = index;
}

void nexthops_link_in(struct nexthops *t, uint32_t index)
{
	link_in(t, index, nexthops_at(t, index));
}

void nexthops_link_out(struct nexthops *t, uint32_t index)
{
	uint32_t *link = nexthops_chain(t, hash_of(nexthops_at(t, index)));

	while (*link != index)
		link = &nexthops_info(t, *link)->next;
	*link = nexthops_info(t, index)->next;
}

/* ---- references ---- */

/* An index for a line of this kind. There is memory for one more than there are, so the line
 * of kind KERNEL needs none. */
static int take_index(struct nexthops *t, uint8_t kind, uint32_t *ret)
{
	int r;

	if (t->n >= t->max + (kind == FIB_NH_KERNEL))
		return -ENOSPC;
	if (t->free) {
		if (kind != FIB_NH_KERNEL && fib_mem_refused())
			return -ENOMEM;
		*ret = t->free;
		t->free = nexthops_info(t, *ret)->next;
		return 0;
	}
	r = make_room(t, (size_t)t->top + 2 + (t->top < t->max));
	if (r < 0)
		return r;
	*ret = ++t->top;
	return 0;
}

int nexthops_new(struct nexthops *t, const struct fib_nh *nh, uint32_t *ret)
{
	uint32_t index;
	int r = take_index(t, nh->kind, &index);

	if (r < 0)
		return r;
	/* No worker has met this index since its grace period: both copies may be written. */
	*nexthops_line(t, 0, index) = *nh;
	*nexthops_line(t, 1, index) = *nh;
	*nexthops_info(t, index) = (struct nexthop_info){ .refs = 1 };
	link_in(t, index, nh);
	t->n++;
	t->used++;
	*ret = index;
	return 0;
}

int nexthops_get(struct nexthops *t, const struct fib_nh *nh, uint32_t *ret)
{
	uint32_t index = find(t, nh);

	if (!index)
		return nexthops_new(t, nh, ret);
	nexthops_ref(t, index);
	*ret = index;
	return 0;
}

void nexthops_ref(struct nexthops *t, uint32_t index)
{
	if (nexthops_info(t, index)->refs++ == 0)
		t->used++;
}

void nexthops_put(struct nexthops *t, uint32_t index)
{
	struct nexthop_info *info = nexthops_info(t, index);

	assert(info->refs);
	if (--info->refs)
		return;
	t->used--;
	if (info->is_dying) /* died, was revived and dies again within one grace period */
		return;
	info->is_dying = true;
	info->wait = t->dying;
	t->dying = index;
}

void nexthops_set(struct nexthops *t, uint32_t index, const struct fib_nh *nh)
{
	nexthops_link_out(t, index);
	*nexthops_line(t, t->current ^ 1, index) = *nh;
	if (t->stale_from == t->stale_to)
		t->stale_from = t->stale_to = index;
	if (index < t->stale_from)
		t->stale_from = index;
	if (index >= t->stale_to)
		t->stale_to = index + 1;
	link_in(t, index, nh);
}

void nexthops_flip(struct nexthops *t)
{
	t->current ^= 1;
}

void nexthops_sync(struct nexthops *t)
{
	if (t->stale_from == t->stale_to)
		return;
	memcpy(nexthops_line(t, t->current ^ 1, t->stale_from),
	       nexthops_line(t, t->current, t->stale_from),
	       (t->stale_to - t->stale_from) * sizeof(struct fib_nh));
	t->stale_from = t->stale_to = 0;
}

/* A group that goes puts its legs, which workers have met by nothing newer. */
static void free_line(struct nexthops *t, uint32_t index)
{
	nexthops_link_out(t, index);
	if (nexthops_at(t, index)->kind == FIB_NH_GROUP)
		groups_release(t, index);
	*nexthops_line(t, 0, index) = *nexthops_line(t, 1, index) = nothing;
	nexthops_info(t, index)->next = t->free;
	t->free = index;
	t->n--;
}

void nexthops_reclaim(struct nexthops *t)
{
	groups_reclaim(t);
	while (t->dying) {
		uint32_t index = t->dying;
		struct nexthop_info *info = nexthops_info(t, index);

		t->dying = info->wait;
		info->is_dying = false;
		if (!info->refs)
			free_line(t, index);
	}
}

uint64_t nexthops_bytes(const struct nexthops *t)
{
	return t->line[0].used + t->line[1].used + t->info.used +
	       t->n_chains * sizeof(*t->chain) + t->groups.bytes;
}
