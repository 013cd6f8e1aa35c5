/* fib/trie.c - prefixes of one family: a binary trie without one-way stretches */

#include "trie.h"

#include <string.h>

int trie_open(struct trie *t, uint32_t max_nodes)
{
	uint32_t root;
	int r = pool_open(&t->nodes, sizeof(struct trie_node), max_nodes, true);

	if (!r)
		r = pool_get(&t->nodes, &root);
	if (!r)
		memset(trie_at(t, root), 0, sizeof(struct trie_node));
	return r;
}

void trie_close(struct trie *t)
{
	pool_close(&t->nodes);
}

uint32_t trie_find(const struct trie *t, struct trie_key key, unsigned len)
{
	uint32_t at = TRIE_ROOT;

	while (at) {
		const struct trie_node *n = trie_at(t, at);

		if (n->len >= len)
			return n->len == len && n->key.hi == key.hi && n->key.lo == key.lo
				       ? at
				       : 0;
		at = n->child[trie_bit(key, n->len)];
	}
	return 0;
}

static int make(struct trie *t, struct trie_key key, unsigned len, uint32_t *ret)
{
	int r = pool_get(&t->nodes, ret);

	if (!r)
		*trie_at(t, *ret) = (struct trie_node){ .key = trie_mask(key, len),
							.len = (uint8_t)len };
	return r;
}

/* Puts a node for @key in the place of @below, which does not cover it. */
static int split(struct trie *t, uint32_t *link, struct trie_key key, unsigned len,
		 uint32_t *ret)
{
	uint32_t below = *link, leaf, fork;
	const struct trie_node *b = trie_at(t, below);
	unsigned common = trie_common(b->key, key);
	int r;

	r = make(t, key, len, &leaf);
	if (r < 0)
		return r;
	if (common >= len) { /* @below lies inside the new prefix */
		trie_at(t, leaf)->child[trie_bit(b->key, len)] = below;
		*ret = *link = leaf;
		return 0;
	}
	r = make(t, key, common, &fork);
	if (r < 0) {
		pool_put(&t->nodes, leaf);
		return r;
	}
	trie_at(t, fork)->child[trie_bit(key, common)] = leaf;
	trie_at(t, fork)->child[!trie_bit(key, common)] = below;
	*link = fork;
	*ret = leaf;
	return 0;
}

int trie_insert(struct trie *t, struct trie_key key, unsigned len, uint32_t *ret)
{
	uint32_t root = TRIE_ROOT, *link = &root;
	int r;

	for (;;) {
		struct trie_node *n = trie_at(t, *link);

		if (n->len > len || !trie_covers(n, key))
			return split(t, link, key, len, ret);
		if (n->len == len) {
			*ret = *link;
			return 0;
		}
		link = &n->child[trie_bit(key, n->len)];
		if (*link)
			continue;
		r = make(t, key, len, ret);
		if (!r)
			*link = *ret;
		return r;
	}
}

/* A node with a route or two children stays, one with a single child gives it its place. */
static bool unlink_node(struct trie *t, uint32_t *link)
{
	struct trie_node *n = trie_at(t, *link);
	uint32_t gone = *link;

	if (gone == TRIE_ROOT || n->route || (n->child[0] && n->child[1]))
		return false;
	*link = n->child[0] ? n->child[0] : n->child[1];
	pool_put(&t->nodes, gone);
	return true;
}

void trie_prune(struct trie *t, struct trie_key key, unsigned len)
{
	uint32_t root = TRIE_ROOT, *link = &root, *above = NULL;

	while (*link) {
		struct trie_node *n = trie_at(t, *link);

		if (n->len >= len) {
			/* The fork above may have been there for this node only. */
			if (n->len == len && trie_covers(n, key) &&
			    unlink_node(t, link) && !*link && above)
				unlink_node(t, above);
			return;
		}
		above = link;
		link = &n->child[trie_bit(key, n->len)];
	}
}

uint32_t trie_match(const struct trie *t, struct trie_key key, unsigned below)
{
	uint32_t at = TRIE_ROOT, best = 0;

	while (at) {
		const struct trie_node *n = trie_at(t, at);

		if (n->len >= below || !trie_covers(n, key))
			break;
		if (n->route)
			best = at;
		if (n->len == 128)
			break;
		at = n->child[trie_bit(key, n->len)];
	}
	return best;
}

static bool is_before(struct trie_key a, struct trie_key b)
{
	return a.hi != b.hi ? a.hi < b.hi : a.lo < b.lo;
}

/* Every prefix in the node comes before @from. */
static bool ends_before(const struct trie_node *n, struct trie_key from)
{
	return !trie_covers(n, from) && is_before(n->key, from);
}

void trie_walk(const struct trie *t, struct trie_key from, unsigned len,
	       bool (*fn)(void *arg, const struct trie_node *node), void *arg)
{
	uint32_t stack[TRIE_DEPTH];
	unsigned depth = 0;

	stack[depth++] = TRIE_ROOT;
	while (depth) {
		const struct trie_node *n = trie_at(t, stack[--depth]);
		bool first = is_before(n->key, from);

		if (ends_before(n, from))
			continue;
		if (!first && n->key.hi == from.hi && n->key.lo == from.lo)
			first = n->len < len;
		if (n->route && !first && !fn(arg, n))
			return;
		for (unsigned i = 2; i-- > 0;)
			if (n->child[i])
				stack[depth++] = n->child[i];
	}
}
