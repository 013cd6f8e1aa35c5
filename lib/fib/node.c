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
	return n->before[3] + (unsigned)__builtin_popcountll(n->map[3]);
}

static unsigned lines(unsigned runs)
{
	return (unsigned)(offsetof(struct node, value) + runs * sizeof(uint32_t) +
			  NODE_BYTES - 1) /
	       NODE_BYTES;
}

static void unpack(const struct node *n, struct runs *ret)
{
	ret->n = 0;
	for (unsigned w = 0; w < 4; w++)
		for (uint64_t map = n->map[w]; map; map &= map - 1)
			ret->start[ret->n++] =
				(uint16_t)(w * 64 + (unsigned)__builtin_ctzll(map));
	memcpy(ret->value, n->value, ret->n * sizeof(n->value[0]));
}

static int pack(struct table *t, const struct runs *r, uint32_t *ret)
{
	struct node *n;
	uint32_t at;
	int err = ledger_get(&t->ledger, TABLE_NODES, lines(r->n), &at);

	if (err < 0)
		return err;
	n = slab_at(&t->ledger.slab[TABLE_NODES], at);
	memset(n->map, 0, sizeof(n->map));
	for (unsigned i = 0; i < r->n; i++)
		n->map[r->start[i] / 64] |= UINT64_C(1) << r->start[i] % 64;
	n->before[0] = 0;
	for (unsigned w = 0; w < 3; w++)
		n->before[w + 1] =
			(uint8_t)(n->before[w] + __builtin_popcountll(n->map[w]));
	memcpy(n->value, r->value, r->n * sizeof(n->value[0]));
	*ret = VALUE_NODE | at;
	return 0;
}

int node_build(struct table *t, uint32_t old, unsigned from, struct change *c,
	       uint32_t *ret)
{
	struct runs was, now;
	int r;

	if (old & VALUE_NODE)
		unpack(node_at(t, old), &was);
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
		r = ledger_doom(&t->ledger, TABLE_NODES, lines(was.n), old & ~VALUE_NODE);
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
	for (unsigned i = 0; i < n_runs(n) && !r; i++)
		r = node_doom(t, n->value[i]);
	return r < 0 ? r
		     : ledger_doom(&t->ledger, TABLE_NODES, lines(n_runs(n)),
				   value & ~VALUE_NODE);
}
