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
	t->trie = &rib->trie[layout->family == 6];
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
	uint32_t at = TRIE_ROOT;

	c->node = c->cover = 0;
	while (at) {
		const struct trie_node *n = trie_at(t->trie, at);

		if (n->len >= c->len) {
			if (trie_common(n->key, c->key) >= c->len)
				c->node = at;
			return;
		}
		if (!trie_covers(n, c->key))
			return;
		if (n->route && n->len >= c->floor)
			c->cover = rib_at(t->rib, n->route)->nh;
		at = n->child[trie_bit(c->key, n->len)];
	}
}

/* ---- words ---- */

static int doom_word(struct table *t, uint32_t word)
{
	struct runs was;
	int r = 0;

	t->layout->unpack(t, word, &was);
	for (unsigned i = 0; i < was.n && !r; i++)
		r = node_doom(t, was.value[i]);
	return r < 0 ? r : t->layout->doom(t, word);
}

static int rebuild_word(struct table *t, uint32_t at, const struct change *c)
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

/* Words that lead straight to a next hop. */
static int fill_words(struct table *t, uint32_t first, uint32_t last, uint32_t word)
{
	uint32_t at = first;
	int r = 0;

	while (at <= last && !r) {
		uint32_t start = at;

		if (!word && words_is_blank(&t->words, at)) {
			at = (at / WORDS_PAGE + 1) * WORDS_PAGE;
			continue;
		}
		while (at <= last && words_next(&t->words, at) != word && !r)
			r = doom_word(t, words_next(&t->words, at++));
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
	int r = 0;

	for (uint32_t at = first; at <= last && !r; at++) {
		if ((!word && words_is_blank(&t->words, at)) ||
		    words_next(&t->words, at) == word)
			continue;
		r = words_touch(&t->words, at, 1);
		if (!r)
			words_set(&t->words, at, word);
	}
	return r;
}

static int stage_words(void *arg, uint32_t first, uint32_t last, uint32_t nh,
		       uint32_t node)
{
	struct table *t = arg;
	struct change inside = { .floor = t->layout->floor, .node = node, .cover = nh };
	struct runs one;
	uint32_t word;
	int r;

	if (node)
		return rebuild_word(t, first, &inside);
	runs_set(&one, nh);
	r = t->layout->pack(t, &one, &word);
	return r < 0 ? r : fill_words(t, first, last, word);
}

int table_stage_words(struct table *t, const struct change *c)
{
	const struct table_layout *l = t->layout;

	if (c->len > l->to)
		return rebuild_word(t, key_bits(c->key, l->from, l->to - l->from), c);
	return window_paint(t, c, l->from, l->to, stage_words, t);
}

int table_stage(struct table *t, struct trie_key key, unsigned len)
{
	struct change c = { .key = key, .len = len, .floor = t->layout->floor };

	return t->layout->stage(t, &c);
}

void table_discard(struct table *t)
{
	words_discard(&t->words);
	ledger_discard(&t->ledger);
}
