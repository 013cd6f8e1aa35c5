/* fib/window.c - the slots of one window: painted from the routes, kept as runs */

#include "window.h"

#include <string.h>

#include "node.h"

enum {
	DEEPEST = 32
}; /* prefixes around a slot: one a bit of the window, and one around it */

bool runs_equal(const struct runs *a, const struct runs *b)
{
	return a->n == b->n && !memcmp(a->value, b->value, a->n * sizeof(a->value[0])) &&
	       !memcmp(a->start, b->start, a->n * sizeof(a->start[0]));
}

/* ---- painting ---- */

struct paint {
	const struct table *t;
	struct change *c;
	unsigned from, to;
	paint_fn fn;
	void *arg;
	uint32_t next; /* slots before this one are done */
	/* Routes around the next slot, the longest last: the last slot and next hop of each. */
	unsigned depth;
	uint32_t last[DEEPEST], nh[DEEPEST];
};

static int paint_to(struct paint *p, uint32_t end)
{
	uint32_t first = p->next;

	if (first >= end)
		return 0;
	p->next = end;
	return p->fn(p->arg, first, end - 1, p->nh[p->depth - 1], NULL);
}

/* Slots before @slot, and the routes that end there; the outermost one stays. */
static int leave(struct paint *p, uint32_t slot)
{
	int r = 0;

	while (p->depth > 1 && p->last[p->depth - 1] < slot && !r) {
		r = paint_to(p, p->last[p->depth - 1] + 1);
		p->depth--;
	}
	return r < 0 ? r : paint_to(p, slot);
}

/* Past everything that starts with the first @len bits of @addr. */
static struct tree_at after(const struct tree *t, struct tree_addr addr, unsigned len)
{
	struct tree_addr bits =
		addr_mask((struct tree_addr){ UINT64_MAX, UINT64_MAX }, len);
	struct tree_key last = { { addr.hi | ~bits.hi, addr.lo | ~bits.lo },
				 UINT8_MAX,
				 UINT8_MAX };

	return tree_from(t, &last);
}

static int paint_inside(struct paint *p, const struct tree_key *key, uint32_t slot)
{
	struct change inside = {
		.addr = addr_mask(key->addr, p->to),
		.len = p->to,
		.floor = p->c->floor,
		.at = p->c->at,
		.cover = p->nh[p->depth - 1],
	};
	int r;

	p->next = slot + 1;
	r = p->fn(p->arg, slot, slot, inside.cover, &inside);
	if (inside.at.leaf == p->c->at.leaf &&
	    inside.at.i == p->c->at.i) /* not looked at */
		inside.at = after(p->t->tree, inside.addr, inside.len);
	p->c->at = inside.at;
	return r;
}

/* The prefix at c->at and its slots; what is in longer prefixes is up to the callback. */
static int paint_prefix(struct paint *p, const struct tree_key *key)
{
	const struct tree *t = p->t->tree;
	uint32_t slot =
		key->len > p->from ? addr_bits(key->addr, p->from, p->to - p->from) : 0;
	struct tree_at active;
	int r = leave(p, slot);

	if (r < 0)
		return r;
	if (key->len > p->to)
		return paint_inside(p, key, slot);
	active = rib_active(t, p->c->at, &p->c->at);
	if (!active.leaf || key->len < p->c->floor)
		return 0;
	p->nh[p->depth] = tree_entry(t, active)->nh;
	p->last[p->depth++] = slot + (uint32_t)((UINT64_C(1) << (p->to - key->len)) - 1);
	return 0;
}

/* The slots of window [from, to) that a prefix covers. */
static void covered(const struct change *c, unsigned from, unsigned to, uint32_t *first,
		    uint32_t *last)
{
	if (c->len <= from) {
		*first = 0;
		*last = (uint32_t)((UINT64_C(1) << (to - from)) - 1);
		return;
	}
	*first = *last = addr_bits(c->addr, from, to - from);
	if (c->len < to)
		*last += (UINT32_C(1) << (to - c->len)) - 1;
}

int window_paint(const struct table *t, struct change *c, unsigned from, unsigned to,
		 paint_fn fn, void *arg)
{
	struct paint p;
	uint32_t last;
	int r = 0;

	p.t = t;
	p.c = c;
	p.from = from;
	p.to = to;
	p.fn = fn;
	p.arg = arg;
	covered(c, from, to, &p.next, &last);
	p.depth = 1;
	p.last[0] = last;
	p.nh[0] = c->cover;
	while (c->at.leaf && !r) {
		struct tree_key key = tree_key(t->tree, c->at);

		if (key.len < c->len || addr_common(key.addr, c->addr) < c->len)
			break;
		r = paint_prefix(&p, &key);
	}
	return r < 0 ? r : leave(&p, last + 1);
}

/* ---- a window after a change ---- */

struct redo {
	struct table *t;
	unsigned to;
	const struct runs *old;
	unsigned at; /* the run of old that was looked at last */
	struct runs *ret;
};

/* Slots are asked for in ascending order. */
static uint32_t old_value(struct redo *d, uint32_t slot)
{
	while (d->at + 1 < d->old->n && d->old->start[d->at + 1] <= slot)
		d->at++;
	return d->old->value[d->at];
}

static void keep(struct redo *d, uint32_t first, uint32_t end)
{
	for (uint32_t slot = first; slot < end;) {
		runs_add(d->ret, slot, old_value(d, slot));
		slot = d->at + 1 < d->old->n ? d->old->start[d->at + 1] : end;
	}
}

/* Nodes of the old window in these slots lead nowhere now. */
static int doom(struct redo *d, uint32_t first, uint32_t last)
{
	int r = 0;

	for (uint32_t slot = first; slot <= last && !r;) {
		r = node_doom(d->t, old_value(d, slot));
		if (d->at + 1 == d->old->n)
			break;
		slot = d->old->start[d->at + 1];
	}
	return r;
}

static int put_node(struct redo *d, uint32_t slot, struct change *c)
{
	uint32_t value;
	int r = node_build(d->t, old_value(d, slot), d->to, c, &value);

	if (!r)
		runs_add(d->ret, slot, value);
	return r;
}

static int put(void *arg, uint32_t first, uint32_t last, uint32_t nh,
	       struct change *inside)
{
	struct redo *d = arg;

	if (inside)
		return put_node(d, first, inside);
	runs_add(d->ret, first, nh);
	return doom(d, first, last);
}

int window_runs(struct table *t, unsigned from, unsigned to, const struct runs *old,
		struct change *c, struct runs *ret)
{
	struct redo d = { t, to, old, 0, ret };
	uint32_t first, last;
	int r;

	ret->n = 0;
	covered(c, from, to, &first, &last);
	keep(&d, 0, first);
	if (c->len > to)
		r = put_node(&d, first, c);
	else
		r = window_paint(t, c, from, to, put, &d);
	keep(&d, last + 1, UINT32_C(1) << (to - from));
	return r;
}
