/* fib/window.c - the slots of one window: painted from the routes, kept as runs */

#include "window.h"

#include <string.h>

#include "node.h"

bool runs_equal(const struct runs *a, const struct runs *b)
{
	return a->n == b->n && !memcmp(a->value, b->value, a->n * sizeof(a->value[0])) &&
	       !memcmp(a->start, b->start, a->n * sizeof(a->start[0]));
}

/* ---- painting ---- */

struct paint {
	const struct table *t;
	unsigned from, to, floor;
	paint_fn fn;
	void *arg;
};

static int paint(const struct paint *p, uint32_t node, uint32_t first, uint32_t last,
		 uint32_t cover);

/* Both halves of a node that is not longer than the window. */
static int paint_inside(const struct paint *p, const struct trie_node *n, uint32_t first,
			uint32_t last, uint32_t cover)
{
	uint32_t nh = n->route && n->len >= p->floor ? rib_at(p->t->rib, n->route)->nh
						     : cover;
	uint32_t middle = first + (last - first) / 2;
	int r;

	if (!n->child[0] && !n->child[1])
		return p->fn(p->arg, first, last, nh, 0);
	r = paint(p, n->child[0], first, middle, nh);
	return r < 0 ? r : paint(p, n->child[1], middle + 1, last, nh);
}

/* Slots [first, last]; @node, if there is one, lies inside them. */
static int paint(const struct paint *p, uint32_t node, uint32_t first, uint32_t last,
		 uint32_t cover)
{
	const struct trie_node *n = trie_at(p->t->trie, node);
	uint32_t at, end;
	int r = 0;

	if (!node)
		return p->fn(p->arg, first, last, cover, 0);
	at = end = key_bits(n->key, p->from, p->to - p->from);
	if (n->len < p->to)
		end += (UINT32_C(1) << (p->to - n->len)) - 1;
	if (first < at)
		r = p->fn(p->arg, first, at - 1, cover, 0);
	if (r < 0)
		return r;
	if (n->len > p->to || (n->len == p->to && (n->child[0] || n->child[1])))
		r = p->fn(p->arg, at, at, cover, node);
	else
		r = paint_inside(p, n, at, end, cover);
	if (!r && end < last)
		r = p->fn(p->arg, end + 1, last, cover, 0);
	return r;
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
	*first = *last = key_bits(c->key, from, to - from);
	if (c->len < to)
		*last += (UINT32_C(1) << (to - c->len)) - 1;
}

int window_paint(const struct table *t, const struct change *c, unsigned from,
		 unsigned to, paint_fn fn, void *arg)
{
	struct paint p = { t, from, to, c->floor, fn, arg };
	uint32_t first, last;

	covered(c, from, to, &first, &last);
	return paint(&p, c->node, first, last, c->cover);
}

/* ---- a window after a change ---- */

struct redo {
	struct table *t;
	unsigned to;
	const struct runs *old;
	unsigned at; /* the run of old that was looked at last */
	const struct change *c;
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

static int put_node(struct redo *d, uint32_t slot, const struct change *c)
{
	uint32_t value;
	int r = node_build(d->t, old_value(d, slot), d->to, c, &value);

	if (!r)
		runs_add(d->ret, slot, value);
	return r;
}

static int put(void *arg, uint32_t first, uint32_t last, uint32_t nh, uint32_t node)
{
	struct redo *d = arg;
	struct change inside = { .floor = d->c->floor, .node = node, .cover = nh };

	if (node)
		return put_node(d, first, &inside);
	runs_add(d->ret, first, nh);
	return doom(d, first, last);
}

int window_runs(struct table *t, unsigned from, unsigned to, const struct runs *old,
		const struct change *c, struct runs *ret)
{
	struct redo d = { t, to, old, 0, c, ret };
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
