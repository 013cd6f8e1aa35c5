/* fib/run21.c - IPv4: one word for eight /24; changes */

#include "run21.h"

#include "lookup.h"

enum { MAX_RUNS = (1 << 24) - 1, MAX_WIDE = RUN21_WORDS, SLOTS = 8 };

static const uint16_t *runs_at(const struct table *t, uint32_t word)
{
	return slab_at(&t->ledger.slab[TABLE_RUNS], word >> 8);
}

static uint32_t *wide_at(const struct table *t, uint32_t word)
{
	return slab_at(&t->ledger.slab[TABLE_WIDE], (word & ~RUN21_WIDE) >> 8);
}

static int open_slabs(struct table *t)
{
	struct slab *slab = t->ledger.slab;
	int r = slab_open(&slab[TABLE_RUNS], sizeof(uint16_t), MAX_RUNS, true);

	if (!r)
		r = slab_open(&slab[TABLE_WIDE], SLOTS * sizeof(uint32_t), MAX_WIDE,
			      true);
	if (!r)
		r = node_open(t);
	t->view.run = slab[TABLE_RUNS].arena.base;
	t->view.wide = slab[TABLE_WIDE].arena.base;
	return r;
}

static unsigned bits(uint32_t word) /* set in its map */
{
	return (unsigned)__builtin_popcount(word & 0xff);
}

/* Of each next hop in a word with more than one. */
static unsigned width(unsigned n)
{
	return n == 2 ? RUN21_TWO : RUN21_THREE;
}

static void unpack_inside(uint32_t word, struct runs *ret)
{
	unsigned w = width(bits(word) + 1);
	uint32_t values = word >> 8;

	runs_add(ret, 0, bits(word) ? values & ((1u << w) - 1) : values);
	for (uint32_t map = word & 0xff; map; map &= map - 1) {
		values >>= w;
		runs_add(ret, (unsigned)__builtin_ctz(map), values & ((1u << w) - 1));
	}
}

static void unpack(const struct table *t, uint32_t word, struct runs *ret)
{
	ret->n = 0;
	if (run21_is_wide(word)) {
		for (unsigned slot = 0; slot < SLOTS; slot++)
			runs_add(ret, slot, wide_at(t, word)[slot]);
		return;
	}
	if (!(word & RUN21_LIST)) {
		unpack_inside(word, ret);
		return;
	}
	for (uint32_t map = word & 0xff; map; map &= map - 1)
		runs_add(ret, (unsigned)__builtin_ctz(map), runs_at(t, word)[ret->n]);
}

static bool fits_inside(unsigned n, uint32_t any)
{
	return n == 1 ? any < RUN21_NEXTHOPS : n <= 3 && any < 1u << width(n);
}

static uint32_t pack_inside(const struct runs *r)
{
	uint32_t word = 0, map = 0;

	for (unsigned i = 0; i < r->n; i++) {
		word |= r->value[i] << i * width(r->n);
		map |= UINT32_C(1) << r->start[i];
	}
	return word << 8 | (map & ~(uint32_t)RUN21_LIST);
}

static int pack_wide(struct table *t, const struct runs *r, uint32_t *ret)
{
	uint32_t at, *value;
	int err = ledger_get(&t->ledger, TABLE_WIDE, 1, &at);

	if (err < 0)
		return err;
	*ret = RUN21_WIDE | at << 8;
	value = wide_at(t, *ret);
	for (unsigned i = 0, slot = 0; slot < SLOTS; slot++) {
		i += i + 1 < r->n && r->start[i + 1] == slot;
		value[slot] = r->value[i];
	}
	return 0;
}

static int pack(struct table *t, const struct runs *r, uint32_t *ret)
{
	uint32_t any = 0, at, map = 0;
	uint16_t *run;
	int err;

	for (unsigned i = 0; i < r->n; i++)
		any |= r->value[i];
	if (fits_inside(r->n, any)) {
		*ret = pack_inside(r);
		return 0;
	}
	if (any > UINT16_MAX)
		return pack_wide(t, r, ret);
	err = ledger_get(&t->ledger, TABLE_RUNS, r->n, &at);
	if (err < 0)
		return err;
	run = slab_at(&t->ledger.slab[TABLE_RUNS], at);
	for (unsigned i = 0; i < r->n; i++) {
		map |= UINT32_C(1) << r->start[i];
		run[i] = (uint16_t)r->value[i];
	}
	*ret = at << 8 | map;
	return 0;
}

static int doom(struct table *t, uint32_t word)
{
	if (run21_is_wide(word))
		return ledger_doom(&t->ledger, TABLE_WIDE, 1, (word & ~RUN21_WIDE) >> 8);
	if (word & RUN21_LIST)
		return ledger_doom(&t->ledger, TABLE_RUNS, bits(word), word >> 8);
	return 0;
}

static int stage_default(struct table *t)
{
	uint32_t nh = table_default(t);

	return table_set_words(t, RUN21_DEFAULT, RUN21_DEFAULT, nh);
}

static int stage(struct table *t, struct change *c)
{
	if (c->len == 0)
		return stage_default(t);
	change_locate(c, t);
	return table_stage_words(t, c);
}

static int stage_all(struct table *t)
{
	struct change all = { .floor = t->layout->floor };
	int r;

	change_locate(&all, t);
	r = table_stage_words(t, &all);
	return r < 0 ? r : stage_default(t);
}

const struct table_layout run21_layout = {
	.name = "run21",
	.family = 4,
	.floor = 1,
	.from = 0,
	.to = 21,
	.slots_to = 24,
	.pieces = RUN21_WIDE | 0xff,
	.words = { RUN21_WORDS + 1, RUN21_WORDS, 2, false },
	.open = open_slabs,
	.stage = stage,
	.stage_all = stage_all,
	.unpack = unpack,
	.pack = pack,
	.doom = doom,
	.lookup4 = run21_lookup,
};
