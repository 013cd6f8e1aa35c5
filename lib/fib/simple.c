/* fib/simple.c - a table for the time being: sorted ranges, searched by halves */

#include "simple.h"

#include <stdlib.h>
#include <string.h>

struct build {
	const struct rib *rib;
	const struct trie *trie;
	struct simple *s;
	size_t room;
};

static bool is_at_most(struct trie_key a, struct trie_key b)
{
	return a.hi != b.hi ? a.hi < b.hi : a.lo <= b.lo;
}

static void emit(struct build *b, struct trie_key start, uint32_t nh)
{
	struct simple_range *last = b->s->n ? &b->s->range[b->s->n - 1] : NULL;

	if (last && last->start.hi == start.hi && last->start.lo == start.lo) {
		last->nh = nh;
		return;
	}
	assert(b->s->n < b->room);
	b->s->range[b->s->n++] = (struct simple_range){ start, nh };
}

/* The first address after the prefix; false if it is the last of all. */
static bool after(const struct trie_node *n, struct trie_key *ret)
{
	struct trie_key last = n->key;

	if (n->len < 64)
		last.hi |= UINT64_MAX >> n->len;
	last.lo |= n->len <= 64 ? UINT64_MAX : n->len < 128 ? UINT64_MAX >> (n->len - 64) : 0;
	ret->lo = last.lo + 1;
	ret->hi = last.hi + !ret->lo;
	return ret->hi || ret->lo;
}

static void paint(struct build *b, uint32_t node, uint32_t cover)
{
	const struct trie_node *n = trie_at(b->trie, node);
	uint32_t nh = n->route ? rib_at(b->rib, n->route)->nh : cover;
	struct trie_key end;

	if (n->route)
		emit(b, n->key, nh);
	for (unsigned i = 0; i < 2; i++)
		if (n->child[i])
			paint(b, n->child[i], nh);
	if (n->route && after(n, &end))
		emit(b, end, cover);
}

int simple_new(const struct rib *rib, unsigned family_index, struct simple **ret)
{
	const struct trie *trie = &rib->trie[family_index];
	struct build b = { .rib = rib, .trie = trie, .room = 2 * (size_t)trie->nodes.used + 2 };

	b.s = fib_mem_refused() ? NULL : malloc(sizeof(*b.s) + b.room * sizeof(b.s->range[0]));
	if (!b.s)
		return -ENOMEM;
	b.s->n = 0;
	emit(&b, (struct trie_key){ 0, 0 }, 0);
	paint(&b, TRIE_ROOT, 0);
	*ret = b.s;
	return 0;
}

static uint32_t search(const struct simple *s, struct trie_key key)
{
	size_t from = 0, to = s->n;

	while (to - from > 1) {
		size_t middle = (from + to) / 2;

		if (is_at_most(s->range[middle].start, key))
			from = middle;
		else
			to = middle;
	}
	return s->range[from].nh;
}

void simple_lookup4(const void *table, const uint32_t *addr, uint32_t *nh, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		nh[i] = search(table, (struct trie_key){ (uint64_t)addr[i] << 32, 0 });
}

void simple_lookup6(const void *table, const uint8_t (*addr)[16], uint32_t *nh, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		nh[i] = search(table, rib_key(addr[i]));
}
