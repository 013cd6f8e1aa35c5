/* fib/rl6.c - IPv6: one word for eight /32; changes */

#include "rl6.h"

#include "lookup.h"

enum { MAX_RUNS = (1 << 24) - 1, INSIDE_LEN = 3, TOP_LEN = 16 };

static const struct tree_addr inside = { UINT64_C(0x2000) << 48, 0 };

static int open_slabs(struct table *t)
{
	struct slab *slab = t->ledger.slab;
	int r = slab_open(&slab[TABLE_RUNS], sizeof(uint32_t), MAX_RUNS, true);

	if (!r)
		r = node_open(t);
	t->view.run = slab[TABLE_RUNS].arena.base;
	return r;
}

static void unpack(const struct table *t, uint32_t word, struct runs *ret)
{
	const uint32_t *run = slab_at(&t->ledger.slab[TABLE_RUNS], word >> 8);

	ret->n = 0;
	if (!(word & 0xff))
		runs_add(ret, 0, word >> 8);
	for (uint32_t map = word & 0xff; map; map &= map - 1)
		runs_add(ret, (unsigned)__builtin_ctz(map), run[ret->n]);
}

static int pack(struct table *t, const struct runs *r, uint32_t *ret)
{
	uint32_t at, map = 0, *run;
	int err;

	if (r->n == 1) {
		*ret = r->value[0] << 8;
		return 0;
	}
	err = ledger_get(&t->ledger, TABLE_RUNS, r->n, &at);
	if (err < 0)
		return err;
	run = slab_at(&t->ledger.slab[TABLE_RUNS], at);
	for (unsigned i = 0; i < r->n; i++) {
		map |= UINT32_C(1) << r->start[i];
		run[i] = r->value[i];
	}
	*ret = at << 8 | map;
	return 0;
}

static int doom(struct table *t, uint32_t word)
{
	if (!(word & 0xff))
		return 0;
	return ledger_doom(&t->ledger, TABLE_RUNS,
			   (unsigned)__builtin_popcount(word & 0xff), word >> 8);
}

/* ---- routes of 16 bits and less ---- */

static int put_top(void *arg, uint32_t first, uint32_t last, uint32_t nh,
		   struct change *within)
{
	(void)within;
	return table_set_words(arg, RL6_TOP + first, RL6_TOP + last, nh);
}

static int stage_top(struct table *t, struct change *c)
{
	c->floor = 0;
	change_locate(c, t);
	return window_paint(t, c, 0, TOP_LEN, put_top, t);
}

/* ---- outside 2000::/3 ---- */

static int rebuild_side(struct table *t, uint32_t at, struct change *c)
{
	uint32_t value;
	int r = node_build(t, words_next(&t->words, at), TOP_LEN, c, &value);

	return r < 0 ? r : table_set_words(t, at, at, value);
}

static int put_side(void *arg, uint32_t first, uint32_t last, uint32_t nh,
		    struct change *within)
{
	struct change nothing = { .floor = TOP_LEN + 1 };
	struct table *t = arg;
	int r = 0;

	(void)nh;
	if (first >> (TOP_LEN - INSIDE_LEN) == 1)
		return 0;
	if (within)
		return rebuild_side(t, RL6_SIDE + first, within);
	for (uint32_t at = RL6_SIDE + first; at <= RL6_SIDE + last && !r; at++)
		if (words_next(&t->words, at))
			r = rebuild_side(t, at, &nothing);
	return r;
}

static int stage_all(struct table *t)
{
	struct change in = { .addr = inside,
			     .len = INSIDE_LEN,
			     .floor = t->layout->floor };
	struct change all = { .floor = t->layout->floor }, top = { .floor = 0 };
	int r;

	change_locate(&in, t);
	change_locate(&all, t);
	top.at = all.at;
	r = table_stage_words(t, &in);
	if (!r)
		r = window_paint(t, &all, 0, TOP_LEN, put_side, t);
	return r < 0 ? r : window_paint(t, &top, 0, TOP_LEN, put_top, t);
}

static int stage(struct table *t, struct change *c)
{
	if (c->len <= TOP_LEN)
		return stage_top(t, c);
	change_locate(c, t);
	if (addr_common(c->addr, inside) >= INSIDE_LEN)
		return table_stage_words(t, c);
	return rebuild_side(t, RL6_SIDE + addr_bits(c->addr, 0, TOP_LEN), c);
}

const struct table_layout rl6_layout = {
	.name = "rl6",
	.family = 6,
	.floor = TOP_LEN + 1,
	.from = INSIDE_LEN,
	.to = 29,
	.slots_to = 32,
	.pieces = 0xff,
	.words = { RL6_END, RL6_TOP, 2, true },
	.open = open_slabs,
	.stage = stage,
	.stage_all = stage_all,
	.unpack = unpack,
	.pack = pack,
	.doom = doom,
	.lookup6 = rl6_lookup,
};
