/* fib/table.c - what the layouts share */

#include "table.h"

#include <string.h>

#include "node.h"

int table_open(struct table *t, const struct table_layout *layout, const struct rib *rib)
{
	int r;

	memset(t, 0, sizeof(*t));
	t->layout = layout;
	t->rib = rib;
	t->tree = &rib->tree[layout->family == 6];
	r = ledger_open(&t->ledger);
	if (!r)
		r = words_open(&t->words, &layout->words);
	t->view.word = t->words.live;
	return r < 0 ? r : layout->open(t);
}

void table_close(struct table *t)
{
	words_close(&t->words);
	ledger_close(&t->ledger);
}

uint64_t table_bytes(const struct table *t)
{
	uint64_t sum = words_bytes(&t->words);

	for (unsigned i = 0; i < LEDGER_SLABS; i++)
		sum += t->ledger.slab[i].used;
	return sum;
}

void change_locate(struct change *c, const struct table *t)
{
	const struct tree_key key = { c->addr, (uint8_t)c->len, 0 };
	struct tree_at around, next;
	struct tree_key is;

	c->at = tree_from(t->tree, &key);
	c->cover = 0;
	is = c->at.leaf ? tree_key(t->tree, c->at) : key;
	if (c->at.leaf && is.len == c->len && addr_common(is.addr, c->addr) >= c->len &&
	    rib_active(t->tree, c->at, &next).leaf)
		return;
	around = c->len ? rib_around(t->tree, c->addr, c->len - 1)
			: (struct tree_at){ 0, 0 };
	if (around.leaf && tree_key(t->tree, around).len >= c->floor)
		c->cover = tree_entry(t->tree, around)->nh;
}

uint32_t table_default(const struct table *t)
{
	const struct tree_addr zero = { 0, 0 };
	struct tree_at at = rib_around(t->tree, zero, 0);

	return at.leaf ? tree_entry(t->tree, at)->nh : 0;
}

/* ---- words ---- */

static int doom_word(struct table *t, uint32_t word)
{
	struct runs was;
	int r = 0;

	if (!(word & t->layout->pieces))
		return 0;
	t->layout->unpack(t, word, &was);
	for (unsigned i = 0; i < was.n && !r; i++)
		r = node_doom(t, was.value[i]);
	return r < 0 ? r : t->layout->doom(t, word);
}

static int rebuild_word(struct table *t, uint32_t at, struct change *c)
{
	const struct table_layout *l = t->layout;
	uint32_t old = words_next(&t->words, at), word;
	struct runs was, now;
	int r;

	l->unpack(t, old, &was);
	r = window_runs(t, l->to, l->slots_to, &was, c, &now);
	if (r < 0 || runs_equal(&was, &now))
		return r;
	r = l->pack(t, &now, &word);
	if (!r)
		r = l->doom(t, old);
	if (!r)
		r = words_touch(&t->words, at, 1);
	if (!r)
		words_set(&t->words, at, word);
	return r;
}

/* @pieces: what the words may lead to now is doomed. */
static int fill_words(struct table *t, uint32_t first, uint32_t last, uint32_t word,
		      bool pieces)
{
	uint32_t at = first;
	int r = 0;

	while (at <= last && !r) {
		uint32_t start = at;

		if (!word && words_is_blank(&t->words, at)) {
			at = (at / WORDS_PAGE + 1) * WORDS_PAGE;
			continue;
		}
		for (; at <= last && words_next(&t->words, at) != word && !r; at++)
			r = pieces ? doom_word(t, words_next(&t->words, at)) : 0;
		if (!r && at != start)
			r = words_touch(&t->words, start, at - start);
		for (uint32_t i = start; i < at && !r; i++)
			words_set(&t->words, i, word);
		at += at == start;
	}
	return r;
}

int table_set_words(struct table *t, uint32_t first, uint32_t last, uint32_t word)
{
	return fill_words(t, first, last, word, false);
}

static int stage_words(void *arg, uint32_t first, uint32_t last, uint32_t nh,
		       struct change *inside)
{
	struct table *t = arg;
	struct runs one;
	uint32_t word;
	int r;

	if (inside)
		return rebuild_word(t, first, inside);
	runs_set(&one, nh);
	r = t->layout->pack(t, &one, &word);
	return r < 0 ? r : fill_words(t, first, last, word, true);
}

int table_stage_words(struct table *t, struct change *c)
{
	const struct table_layout *l = t->layout;

	if (c->len > l->to)
		return rebuild_word(t, addr_bits(c->addr, l->from, l->to - l->from), c);
	return window_paint(t, c, l->from, l->to, stage_words, t);
}

int table_stage(struct table *t, struct tree_addr addr, unsigned len)
{
	struct change c = { .addr = addr, .len = len, .floor = t->layout->floor };

	words_prefetch(&t->words,
		       addr_bits(addr, t->layout->from, t->layout->to - t->layout->from));
	return t->layout->stage(t, &c);
}

void table_discard(struct table *t)
{
	words_discard(&t->words);
	ledger_discard(&t->ledger);
}
