/* fib/rib.c - every route of every origin, and what has changed since the last commit */

#include "rib.h"

#include <string.h>

#include "nexthops.h"

enum {
	MAX_LEAVES = 1 << 22,  /* of 32 routes, of a family */
	MAX_CHANGES = 1 << 25, /* in one commit */
};

int rib_open(struct rib *rib, struct nexthops *nexthops)
{
	int r;

	memset(rib, 0, sizeof(*rib));
	rib->nexthops = nexthops;
	r = tree_open(&rib->tree[0], false, MAX_LEAVES);
	if (!r)
		r = tree_open(&rib->tree[1], true, MAX_LEAVES);
	if (!r)
		r = arena_open(&rib->log, (size_t)MAX_CHANGES * sizeof(struct rib_change),
			       false);
	return r;
}

void rib_close(struct rib *rib)
{
	tree_close(&rib->tree[0]);
	tree_close(&rib->tree[1]);
	arena_close(&rib->log);
}

uint64_t rib_bytes(const struct rib *rib)
{
	return tree_bytes(&rib->tree[0]) + tree_bytes(&rib->tree[1]) + rib->log.used;
}

/* ---- changes ---- */

static struct tree_key key_of(const struct fib_prefix *p, unsigned origin)
{
	return (struct tree_key){ rib_addr(p->addr), p->len, (uint8_t)origin };
}

static struct tree *tree_of(struct rib *rib, uint8_t family)
{
	return &rib->tree[family == 6];
}

static void count(struct rib *rib, const struct rib_change *c, int by)
{
	rib->count[c->family == 6][c->key.origin] += (uint32_t)by;
	rib->lengths[(c->family == 6 ? 33 : 0) + c->key.len] += (uint32_t)by;
}

static int log_more(struct rib *rib, const struct fib_prefix *p, unsigned origin,
		    struct rib_change **ret)
{
	size_t at;
	int r = arena_more(&rib->log, sizeof(struct rib_change), &at);

	if (r < 0)
		return r;
	*ret = (struct rib_change *)(void *)(rib->log.base + at);
	**ret = (struct rib_change){ .key = key_of(p, origin), .family = p->family };
	return 0;
}

static void log_less(struct rib *rib)
{
	rib->log.used -= sizeof(struct rib_change);
}

static void overwrite(struct rib_change *c, struct tree_entry *e, uint32_t nh,
		      uint32_t metric)
{
	c->action = RIB_REPLACED;
	c->was_dead = e->dead;
	c->nh = e->nh;
	c->metric = e->metric;
	e->nh = nh;
	e->metric = metric;
	e->dead = false;
}

static int put(struct rib *rib, const struct fib_prefix *p, unsigned origin, uint32_t nh,
	       uint32_t metric, bool replace)
{
	const struct tree_entry new = { .nh = nh, .metric = metric };
	struct tree *t = tree_of(rib, p->family);
	struct rib_change *c;
	struct tree_at at;
	int r = log_more(rib, p, origin, &c);

	if (r < 0)
		return r;
	c->action = RIB_ADDED;
	r = tree_add(t, &c->key, &new, &at);
	if (r == -EEXIST && (replace || tree_entry(t, at)->dead)) {
		overwrite(c, tree_entry(t, at), nh, metric);
		r = 0;
	}
	if (r < 0)
		log_less(rib);
	else if (c->action == RIB_ADDED || c->was_dead)
		count(rib, c, 1);
	return r;
}

int rib_add(struct rib *rib, const struct fib_prefix *p, enum fib_origin origin,
	    uint32_t nh, uint32_t metric)
{
	return put(rib, p, origin, nh, metric, false);
}

int rib_replace(struct rib *rib, const struct fib_prefix *p, enum fib_origin origin,
		uint32_t nh, uint32_t metric)
{
	return put(rib, p, origin, nh, metric, true);
}

int rib_del(struct rib *rib, const struct fib_prefix *p, enum fib_origin origin)
{
	struct tree *t = tree_of(rib, p->family);
	struct tree_key key = key_of(p, origin);
	struct tree_at at = tree_find(t, &key);
	struct rib_change *c;
	int r;

	if (!at.leaf || tree_entry(t, at)->dead)
		return -ESRCH;
	r = log_more(rib, p, origin, &c);
	if (r < 0)
		return r;
	c->action = RIB_DELETED;
	tree_entry(t, at)->dead = true;
	count(rib, c, -1);
	return 0;
}

/* ---- the end of a batch ---- */

static void remove_route(struct rib *rib, const struct rib_change *c, struct tree_at at)
{
	struct tree *t = tree_of(rib, c->family);

	nexthops_put(rib->nexthops, tree_entry(t, at)->nh);
	tree_del(t, &c->key);
}

/* It may have come back since, or be gone already if it was deleted twice. */
static void bury(struct rib *rib, const struct rib_change *c)
{
	struct tree *t = tree_of(rib, c->family);
	struct tree_at at = tree_find(t, &c->key);

	if (at.leaf && tree_entry(t, at)->dead)
		remove_route(rib, c, at);
}

void rib_settle(struct rib *rib, struct fib_sizes *sizes)
{
	for (size_t i = 0; i < rib_changes(rib); i++) {
		const struct rib_change *c = rib_change(rib, i);
		uint64_t *updates = sizes->updates[c->family == 6];

		switch ((enum rib_action)c->action) {
		case RIB_ADDED:
			updates[FIB_ADDED]++;
			break;
		case RIB_REPLACED:
			updates[c->was_dead ? FIB_ADDED : FIB_REPLACED]++;
			nexthops_put(rib->nexthops, c->nh);
			break;
		case RIB_DELETED:
			updates[FIB_DELETED]++;
			bury(rib, c);
			break;
		}
	}
	arena_reset(&rib->log);
}

static void undo(struct rib *rib, const struct rib_change *c)
{
	struct tree *t = tree_of(rib, c->family);
	struct tree_at at = tree_find(t, &c->key);
	struct tree_entry *e = tree_entry(t, at);

	switch ((enum rib_action)c->action) {
	case RIB_ADDED:
		remove_route(rib, c, at);
		count(rib, c, -1);
		break;
	case RIB_REPLACED:
		nexthops_put(rib->nexthops, e->nh);
		e->nh = c->nh;
		e->metric = c->metric;
		e->dead = c->was_dead;
		count(rib, c, c->was_dead ? -1 : 0);
		break;
	case RIB_DELETED:
		e->dead = false;
		count(rib, c, 1);
		break;
	}
}

void rib_undo(struct rib *rib)
{
	for (size_t i = rib_changes(rib); i-- > 0;)
		undo(rib, rib_change(rib, i));
	arena_reset(&rib->log);
}

/* ---- questions ---- */

static bool same_prefix(const struct tree_key *a, const struct tree_key *b)
{
	return a->len == b->len && a->addr.hi == b->addr.hi && a->addr.lo == b->addr.lo;
}

struct tree_at rib_active(const struct tree *t, struct tree_at at,
			  struct tree_at *ret_next)
{
	struct tree_key first = tree_key(t, at), key = first;
	struct tree_at active = { 0, 0 };

	while (same_prefix(&first, &key)) {
		if (!active.leaf && !tree_entry(t, at)->dead)
			active = at;
		at = tree_next(t, at);
		if (!at.leaf)
			break;
		key = tree_key(t, at);
	}
	*ret_next = at;
	return active;
}

/* The first entry of the prefix, which is there. */
static struct tree_at group(const struct tree *t, struct tree_key key)
{
	key.origin = 0;
	return tree_from(t, &key);
}

struct tree_at rib_around(const struct tree *t, struct tree_addr addr, unsigned len)
{
	struct tree_at at = tree_around(t, addr, len), next;

	while (at.leaf) {
		struct tree_at active = rib_active(t, group(t, tree_key(t, at)), &next);

		if (active.leaf)
			return active;
		at = tree_parent(t, at);
	}
	return at;
}

static struct fib_route describe(const struct tree *t, struct tree_at at, bool active)
{
	struct tree_key key = tree_key(t, at);
	const struct tree_entry *e = tree_entry(t, at);
	struct fib_route d = {
		.prefix = { .family = t->wide ? 6 : 4, .len = key.len },
		.origin = (enum fib_origin)key.origin,
		.nh = e->nh,
		.metric = e->metric,
		.active = active,
	};
	uint64_t w[2] = { __builtin_bswap64(key.addr.hi),
			  __builtin_bswap64(key.addr.lo) };

	memcpy(d.prefix.addr, w, sizeof(w));
	return d;
}

bool rib_get(const struct rib *rib, const struct fib_prefix *p, enum fib_origin origin,
	     struct fib_route *ret)
{
	const struct tree *t = &rib->tree[p->family == 6];
	struct tree_key key = key_of(p, origin);
	struct tree_at at = tree_find(t, &key), next, active;

	if (!at.leaf || tree_entry(t, at)->dead)
		return false;
	active = rib_active(t, group(t, key), &next);
	*ret = describe(t, at, active.leaf == at.leaf && active.i == at.i);
	return true;
}

bool rib_match(const struct rib *rib, uint8_t family, const uint8_t addr[16],
	       struct fib_route *ret)
{
	const struct tree *t = &rib->tree[family == 6];
	unsigned width = family == 6 ? 128 : 32;
	struct tree_at at = rib_around(t, addr_mask(rib_addr(addr), width), width);

	if (!at.leaf)
		return false;
	*ret = describe(t, at, true);
	return true;
}

/* Return: false = stop. */
static bool walk_tree(const struct tree *t, struct tree_at at,
		      const struct fib_route *after,
		      bool (*fn)(void *arg, const struct fib_route *route), void *arg)
{
	while (at.leaf) {
		struct tree_at next, active = rib_active(t, at, &next);

		for (; at.leaf != next.leaf || at.i != next.i; at = tree_next(t, at)) {
			struct fib_route d = describe(
				t, at, active.leaf == at.leaf && active.i == at.i);

			if (tree_entry(t, at)->dead ||
			    (after && !fib_prefix_compare(&d.prefix, &after->prefix) &&
			     d.origin <= after->origin))
				continue;
			if (!fn(arg, &d))
				return false;
		}
	}
	return true;
}

void rib_walk(const struct rib *rib, const struct fib_route *after,
	      bool (*fn)(void *arg, const struct fib_route *route), void *arg)
{
	for (uint8_t family = 4; family <= 6; family += 2) {
		const struct tree *t = &rib->tree[family == 6];
		struct tree_key from = { { 0, 0 }, 0, 0 };

		if (after && after->prefix.family > family)
			continue;
		if (after && after->prefix.family == family)
			from = key_of(&after->prefix, 0);
		if (!walk_tree(t, tree_from(t, &from), after, fn, arg))
			return;
	}
}
