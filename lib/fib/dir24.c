/* fib/dir24.c - IPv4: one word of 16 bits for each /24; changes */

#include "dir24.h"

#include "lookup.h"

enum { MAX_PAGES = DIR24_PAGE - 1 };

static uint16_t *page_at(const struct table *t, uint32_t word)
{
	return slab_at(&t->ledger.slab[TABLE_WIDE], word & ~(uint32_t)DIR24_PAGE);
}

static int open_slabs(struct table *t)
{
	struct slab *pages = &t->ledger.slab[TABLE_WIDE];
	int r = slab_open(pages, DIR24_SLOTS * sizeof(uint16_t), MAX_PAGES, true);

	t->view.wide = pages->arena.base;
	return r;
}

static void unpack(const struct table *t, uint32_t word, struct runs *ret)
{
	ret->n = 0;
	if (!(word & DIR24_PAGE))
		runs_add(ret, 0, word);
	for (unsigned slot = 0; word & DIR24_PAGE && slot < DIR24_SLOTS; slot++)
		runs_add(ret, slot, page_at(t, word)[slot]);
}

static int pack(struct table *t, const struct runs *r, uint32_t *ret)
{
	uint32_t any = 0, at;
	uint16_t *page;
	int err;

	for (unsigned i = 0; i < r->n; i++)
		any |= r->value[i];
	if (any >= DIR24_PAGE)
		return -ENOSPC;
	if (r->n == 1) {
		*ret = any;
		return 0;
	}
	err = ledger_get(&t->ledger, TABLE_WIDE, 1, &at);
	if (err < 0)
		return err;
	*ret = DIR24_PAGE | at;
	page = page_at(t, *ret);
	for (unsigned i = 0, slot = 0; slot < DIR24_SLOTS; slot++) {
		i += i + 1 < r->n && r->start[i + 1] == slot;
		page[slot] = (uint16_t)r->value[i];
	}
	return 0;
}

static int doom(struct table *t, uint32_t word)
{
	if (!(word & DIR24_PAGE))
		return 0;
	return ledger_doom(&t->ledger, TABLE_WIDE, 1, word & ~(uint32_t)DIR24_PAGE);
}

static int stage_default(struct table *t)
{
	uint32_t nh = table_default(t);

	return nh < DIR24_PAGE ? table_set_words(t, DIR24_DEFAULT, DIR24_DEFAULT, nh)
			       : -ENOSPC;
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

const struct table_layout dir24_layout = {
	.name = "dir24",
	.family = 4,
	.floor = 1,
	.from = 0,
	.to = 24,
	.slots_to = 32,
	.pieces = DIR24_PAGE,
	.words = { DIR24_WORDS + 1, DIR24_WORDS, 1, false },
	.open = open_slabs,
	.stage = stage,
	.stage_all = stage_all,
	.unpack = unpack,
	.pack = pack,
	.doom = doom,
	.lookup4 = dir24_lookup,
};
