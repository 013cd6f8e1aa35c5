/* fib/node.c - a window of 8 bits in one or a few cache lines */

#include "node.h"

#include <string.h>

int node_open(struct table *t)
{
	int r = slab_open(&t->ledger.slab[TABLE_NODES], NODE_BYTES, NODE_MAX, true);

	t->view.node = t->ledger.slab[TABLE_NODES].arena.base;
	return r;
}

static unsigned n_runs(const struct node *n)
{
	uint32_t last = n->part[NODE_PARTS - 1];

	return (last & NODE_BEFORE) + (unsigned)__builtin_popcount(last >> 8);
}

static unsigned lines(unsigned runs, bool small)
{
	size_t each = small ? sizeof(uint16_t) : sizeof(uint32_t);

	return (unsigned)((offsetof(struct node, half) + runs * each + NODE_BYTES - 1) /
			  NODE_BYTES);
}

/* The node itself, not what is below. */
static int doom(struct table *t, uint32_t value)
{
	unsigned n = lines(n_runs(node_at(t, value)), value & VALUE_SMALL);

	return ledger_doom(&t->ledger, TABLE_NODES, n,
			   value & ~(VALUE_NODE | VALUE_SMALL));
}

static void unpack(const struct node *n, bool small, struct runs *ret)
{
	ret->n = 0;
	for (unsigned p = 0; p < NODE_PARTS; p++)
		for (uint32_t map = n->part[p] >> 8; map; map &= map - 1)
			ret->start[ret->n++] = (uint16_t)(p * NODE_PART_SLOTS +
							  (unsigned)__builtin_ctz(map));
	for (unsigned i = 0; i < ret->n; i++)
		ret->value[i] = node_value(n, small, i);
}

static void pack_parts(const struct runs *r, uint32_t part[NODE_PARTS])
{
	uint32_t before = 0;

	memset(part, 0, NODE_PARTS * sizeof(part[0]));
	for (unsigned i = 0; i < r->n; i++)
		part[r->start[i] / NODE_PART_SLOTS] |= UINT32_C(0x100)
						       << r->start[i] % NODE_PART_SLOTS;
	for (unsigned p = 0; p < NODE_PARTS; p++) {
		uint32_t here = (uint32_t)__builtin_popcount(part[p]);

		part[p] |= before;
		before += here;
	}
}

static int pack(struct table *t, const struct runs *r, uint32_t *ret)
{
	uint32_t at, any = 0;
	struct node *n;
	bool small;
	int err;

	for (unsigned i = 0; i < r->n; i++)
		any |= r->value[i];
	small = any <= UINT16_MAX;
	err = ledger_get(&t->ledger, TABLE_NODES, lines(r->n, small), &at);
	if (err < 0)
		return err;
	n = slab_at(&t->ledger.slab[TABLE_NODES], at);
	pack_parts(r, n->part);
	if (small)
		for (unsigned i = 0; i < r->n; i++)
			n->half[i] = (uint16_t)r->value[i];
	else
		memcpy(n->half, r->value, r->n * sizeof(r->value[0]));
	*ret = VALUE_NODE | (small ? VALUE_SMALL : 0) | at;
	return 0;
}

int node_build(struct table *t, uint32_t old, unsigned from, struct change *c,
	       uint32_t *ret)
{
	struct runs was, now;
	int r;

	if (old & VALUE_NODE)
		unpack(node_at(t, old), old & VALUE_SMALL, &was);
	else
		runs_set(&was, old);
	r = window_runs(t, from, from + 8, &was, c, &now);
	if (r < 0)
		return r;
	if (runs_equal(&was, &now)) {
		*ret = old;
		return 0;
	}
	if (old & VALUE_NODE)
		r = doom(t, old);
	if (r < 0)
		return r;
	if (now.n > 1 || now.value[0] & VALUE_NODE)
		return pack(t, &now, ret);
	*ret = now.value[0];
	return 0;
}

int node_doom(struct table *t, uint32_t value)
{
	const struct node *n = node_at(t, value);
	int r = 0;

	if (!(value & VALUE_NODE))
		return 0;
	for (unsigned i = 0; !(value & VALUE_SMALL) && i < n_runs(n) && !r; i++)
		r = node_doom(t, node_value(n, false, i));
	return r < 0 ? r : doom(t, value);
}
