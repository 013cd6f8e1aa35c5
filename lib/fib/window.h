/* fib/window.h - the slots of one window: painted from the routes, kept as runs
 *
 * A run is a stretch of slots with one value: it begins where the last one ends. A slot
 * that has longer routes inside leads to a node.
 *
 * Context: control thread.
 */
#pragma once

#include "table.h"

enum { WINDOW_SLOTS = 256 };

struct runs {
	unsigned n;
	uint32_t value[WINDOW_SLOTS];
	uint16_t start[WINDOW_SLOTS];
};

static inline void runs_add(struct runs *r, unsigned start, uint32_t value)
{
	if (r->n && r->value[r->n - 1] == value)
		return;
	r->start[r->n] = (uint16_t)start;
	r->value[r->n++] = value;
}

/* All slots alike. */
static inline void runs_set(struct runs *r, uint32_t value)
{
	r->n = 1;
	r->value[0] = value;
	r->start[0] = 0;
}

bool runs_equal(const struct runs *a, const struct runs *b);

/**
 * paint_fn() - slots [first, last] of the window that is painted, in ascending order
 * @nh:     the next hop of all of them
 * @inside: not NULL: first == last, and the slot has routes inside
 */
typedef int (*paint_fn)(void *arg, uint32_t first, uint32_t last, uint32_t nh,
			struct change *inside);

/* Every slot of window [from, to) that @c covers; @c->at ends after what lies inside them. */
int window_paint(const struct table *t, struct change *c, unsigned from, unsigned to,
		 paint_fn fn, void *arg);

/**
 * window_runs() - a window after a change
 * @old: its runs before
 * @c:   what changed; may be inside one slot, or cover the window
 * @ret: its runs now. Nodes below are built; those of @old that nothing leads to any
 *       more are doomed.
 */
int window_runs(struct table *t, unsigned from, unsigned to, const struct runs *old,
		struct change *c, struct runs *ret);
