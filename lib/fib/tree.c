/* fib/tree.c - the routes of one family in the order of listings: a B+ tree */

#include "tree.h"

#include <stdlib.h>
#include <string.h>

enum { WIDTH = 32, DEPTH = 8, FEW = WIDTH / 4 };

struct leaf {
	uint32_t n, next, prev;
	uint16_t tail[WIDTH]; /* length and origin */
	uint64_t hi[WIDTH];
	struct tree_entry entry[WIDTH];
	uint64_t lo[]; /* [WIDTH] if addresses are wide, else absent */
};

/* First keys are lower bounds: the entry a key was taken from may be gone. That of child 0 is
 * not looked at: whatever the fork above sends here and is before child 1 belongs to it. */
struct fork {
	uint32_t n, child[WIDTH];
	uint16_t tail[WIDTH];
	uint64_t hi[WIDTH], lo[WIDTH];
};

/* From the root to a leaf: forks, and which child of each. */
struct tree_path {
	uint32_t fork[DEPTH], slot[DEPTH];
	uint32_t leaf;
};

int tree_open(struct tree *t, bool wide, uint32_t max_leaves)
{
	uint32_t bytes = sizeof(struct leaf) + (wide ? WIDTH * sizeof(uint64_t) : 0);
	int r;

	memset(t, 0, sizeof(*t));
	t->wide = wide;
	t->last = fib_mem_refused() ? NULL : calloc(1, sizeof(*t->last));
	if (!t->last)
		return -ENOMEM;
	r = pool_open(&t->leaves, bytes, max_leaves, true);
	return r < 0 ? r
		     : pool_open(&t->forks, sizeof(struct fork), max_leaves / FEW, false);
}

void tree_close(struct tree *t)
{
	pool_close(&t->leaves);
	pool_close(&t->forks);
	free(t->last);
	t->last = NULL;
}

uint64_t tree_bytes(const struct tree *t)
{
	return t->leaves.arena.used + t->forks.arena.used;
}

static struct leaf *leaf_at(const struct tree *t, uint32_t leaf)
{
	return pool_at(&t->leaves, leaf);
}

static struct fork *fork_at(const struct tree *t, uint32_t fork)
{
	return pool_at(&t->forks, fork);
}

static uint16_t tail_of(const struct tree_key *key)
{
	return (uint16_t)(key->len << 8 | key->origin);
}

/* ---- searching ---- */

/* Of ascending numbers, how many are less than @v; without a branch that depends on them. */
static uint32_t count_less(const uint64_t *number, uint32_t n, uint64_t v)
{
	uint32_t at = 0;

	while (n > 1) {
		uint32_t half = n / 2;

		at += half & -(uint32_t)(number[at + half - 1] < v);
		n -= half;
	}
	return at + (n && number[at] < v);
}

/* Of ascending keys, how many are before @key, or equal to it if @equal. */
static uint32_t count_before(const uint64_t *hi, const uint64_t *lo, const uint16_t *tail,
			     uint32_t n, const struct tree_key *key, bool equal)
{
	uint32_t i = count_less(hi, n, key->addr.hi);

	for (; i < n && hi[i] == key->addr.hi; i++) {
		uint64_t l = lo ? lo[i] : 0;

		if (l > key->addr.lo ||
		    (l == key->addr.lo && tail[i] >= tail_of(key) + equal))
			break;
	}
	return i;
}

static uint32_t leaf_before(const struct tree *t, const struct leaf *l,
			    const struct tree_key *key, bool equal)
{
	return count_before(l->hi, t->wide ? l->lo : NULL, l->tail, l->n, key, equal);
}

/* Work goes on where it was: the last path is tried first. */
static bool finger(const struct tree *t, const struct tree_key *key,
		   struct tree_path *ret)
{
	const struct leaf *l = leaf_at(t, t->last->leaf);

	if (!t->last->leaf || key->addr.hi <= l->hi[0] || key->addr.hi >= l->hi[l->n - 1])
		return false;
	*ret = *t->last;
	return true;
}

/* All lines of what is searched by halving at once, not one after the other. */
static void prefetch(const void *from, size_t bytes)
{
	for (size_t at = 0; at < bytes; at += CACHE_LINE)
		__builtin_prefetch((const uint8_t *)from + at);
}

static void descend(const struct tree *t, const struct tree_key *key,
		    struct tree_path *ret)
{
	uint32_t at = t->root;
	const struct leaf *l;

	if (finger(t, key, ret))
		return;
	for (unsigned h = 0; h < t->height; h++) {
		const struct fork *f = fork_at(t, at);

		ret->fork[h] = at;
		ret->slot[h] = count_before(f->hi + 1, f->lo + 1, f->tail + 1, f->n - 1,
					    key, true);
		at = f->child[ret->slot[h]];
		if (h + 1 < t->height)
			prefetch(fork_at(t, at)->hi, sizeof(f->hi));
	}
	ret->leaf = at;
	*t->last = *ret;
	l = leaf_at(t, at);
	prefetch(l, offsetof(struct leaf, entry));
}

/* Leaves or forks are about to change places. */
static void forget(const struct tree *t)
{
	t->last->leaf = 0;
}

struct tree_key tree_key(const struct tree *t, struct tree_at at)
{
	const struct leaf *l = leaf_at(t, at.leaf);

	return (struct tree_key){
		.addr = { l->hi[at.i], t->wide ? l->lo[at.i] : 0 },
		.len = (uint8_t)(l->tail[at.i] >> 8),
		.origin = (uint8_t)l->tail[at.i],
	};
}

struct tree_entry *tree_entry(const struct tree *t, struct tree_at at)
{
	return &leaf_at(t, at.leaf)->entry[at.i];
}

struct tree_at tree_next(const struct tree *t, struct tree_at at)
{
	const struct leaf *l = leaf_at(t, at.leaf);

	if (at.i + 1 < l->n)
		return (struct tree_at){ at.leaf, at.i + 1 };
	return (struct tree_at){ l->next, 0 };
}

struct tree_at tree_from(const struct tree *t, const struct tree_key *key)
{
	struct tree_path p;
	uint32_t i;

	if (!t->root)
		return (struct tree_at){ 0, 0 };
	descend(t, key, &p);
	i = leaf_before(t, leaf_at(t, p.leaf), key, false);
	if (i < leaf_at(t, p.leaf)->n)
		return (struct tree_at){ p.leaf, i };
	return (struct tree_at){ leaf_at(t, p.leaf)->next, 0 };
}

static struct tree_at before(const struct tree *t, struct tree_at at)
{
	uint32_t prev;

	if (at.i)
		return (struct tree_at){ at.leaf, at.i - 1 };
	prev = leaf_at(t, at.leaf)->prev;
	return (struct tree_at){ prev, prev ? leaf_at(t, prev)->n - 1 : 0 };
}

/* The last entry that is not after @key. */
static struct tree_at up_to(const struct tree *t, const struct tree_key *key)
{
	struct tree_at at = { 0, 0 };
	struct tree_path p;

	if (!t->root)
		return at;
	descend(t, key, &p);
	at.leaf = p.leaf;
	at.i = leaf_before(t, leaf_at(t, p.leaf), key, true);
	return before(t, at);
}

struct tree_at tree_find(const struct tree *t, const struct tree_key *key)
{
	struct tree_at at = tree_from(t, key);
	const struct leaf *l = leaf_at(t, at.leaf);

	if (at.leaf && l->hi[at.i] == key->addr.hi && l->tail[at.i] == tail_of(key) &&
	    (!t->wide || l->lo[at.i] == key->addr.lo))
		return at;
	return (struct tree_at){ 0, 0 };
}

/* The last entry of the prefix of @len bits; it is there. */
static struct tree_at group(const struct tree *t, struct tree_addr addr, unsigned len)
{
	struct tree_key key = { addr_mask(addr, len), (uint8_t)len, UINT8_MAX };

	return up_to(t, &key);
}

struct tree_at tree_parent(const struct tree *t, struct tree_at at)
{
	uint8_t len = tree_entry(t, at)->parent;

	if (len == TREE_NO_PARENT)
		return (struct tree_at){ 0, 0 };
	return group(t, tree_key(t, at).addr, len);
}

/* Of @at, the last entry not after the prefix, and what is around it, the first that is around
 * the prefix: whatever is around that comes before it, and is around whatever lies between. */
static struct tree_at around(const struct tree *t, struct tree_at at,
			     struct tree_addr addr, unsigned len)
{
	while (at.leaf) {
		struct tree_key is = tree_key(t, at);

		if (is.len <= len && addr_common(is.addr, addr) >= is.len)
			break;
		at = tree_parent(t, at);
	}
	return at;
}

struct tree_at tree_around(const struct tree *t, struct tree_addr addr, unsigned len)
{
	struct tree_key key = { addr, (uint8_t)len, UINT8_MAX };

	return around(t, up_to(t, &key), addr, len);
}

/* ---- moving entries and children ---- */

static void leaf_move(const struct tree *t, struct leaf *to, uint32_t at,
		      const struct leaf *from, uint32_t i, uint32_t n)
{
	memmove(to->hi + at, from->hi + i, n * sizeof(to->hi[0]));
	memmove(to->tail + at, from->tail + i, n * sizeof(to->tail[0]));
	memmove(to->entry + at, from->entry + i, n * sizeof(to->entry[0]));
	if (t->wide)
		memmove(to->lo + at, from->lo + i, n * sizeof(to->lo[0]));
}

static void fork_move(struct fork *to, uint32_t at, const struct fork *from, uint32_t i,
		      uint32_t n)
{
	memmove(to->hi + at, from->hi + i, n * sizeof(to->hi[0]));
	memmove(to->lo + at, from->lo + i, n * sizeof(to->lo[0]));
	memmove(to->tail + at, from->tail + i, n * sizeof(to->tail[0]));
	memmove(to->child + at, from->child + i, n * sizeof(to->child[0]));
}

static void leaf_put(const struct tree *t, struct leaf *l, uint32_t i,
		     const struct tree_key *key, const struct tree_entry *e)
{
	leaf_move(t, l, i + 1, l, i, l->n - i);
	l->n++;
	l->hi[i] = key->addr.hi;
	l->tail[i] = tail_of(key);
	l->entry[i] = *e;
	if (t->wide)
		l->lo[i] = key->addr.lo;
}

static void fork_put(struct fork *f, uint32_t i, const struct tree_key *key,
		     uint32_t child)
{
	fork_move(f, i + 1, f, i, f->n - i);
	f->n++;
	f->hi[i] = key->addr.hi;
	f->lo[i] = key->addr.lo;
	f->tail[i] = tail_of(key);
	f->child[i] = child;
}

static struct tree_key fork_key(const struct fork *f, uint32_t i)
{
	return (struct tree_key){ { f->hi[i], f->lo[i] },
				  (uint8_t)(f->tail[i] >> 8),
				  (uint8_t)f->tail[i] };
}

/* ---- adding ---- */

/* What a split may need, taken before anything is changed. */
struct spare {
	uint32_t leaf, fork[DEPTH + 1];
	unsigned forks;
};

static void give_back(struct tree *t, struct spare *s)
{
	if (s->leaf)
		pool_put(&t->leaves, s->leaf);
	while (s->forks)
		pool_put(&t->forks, s->fork[--s->forks]);
}

/* One leaf, one fork for each full one above it in a row, one more if that includes the root. */
static int take_spare(struct tree *t, const struct tree_path *p, struct spare *ret)
{
	unsigned h = t->height, need = 0;
	int r = pool_get(&t->leaves, &ret->leaf);

	if (r < 0) {
		ret->leaf = 0;
		return r;
	}
	while (h && fork_at(t, p->fork[h - 1])->n == WIDTH) {
		need++;
		h--;
	}
	need += h == 0;
	if (t->height + 1 > DEPTH)
		r = -ENOSPC;
	while (!r && ret->forks < need) {
		r = pool_get(&t->forks, &ret->fork[ret->forks]);
		if (!r)
			ret->forks++;
	}
	if (r < 0)
		give_back(t, ret);
	return r;
}

/* A fork above the root. */
static void grow(struct tree *t, uint32_t fork, const struct tree_key *key,
		 uint32_t child)
{
	const struct tree_key least = { { 0, 0 }, 0, 0 };
	struct fork *f = fork_at(t, fork);

	f->n = 0;
	fork_put(f, 0, &least, t->root);
	fork_put(f, 1, key, child);
	t->root = fork;
	t->height++;
}

/* A new child beside the one the path leads to, in the fork at height @h; splits upwards. */
static void add_child(struct tree *t, const struct tree_path *p, struct spare *s,
		      unsigned h, struct tree_key key, uint32_t child)
{
	while (h) {
		struct fork *f = fork_at(t, p->fork[h - 1]), *right;
		uint32_t slot = p->slot[h - 1] + 1,
			 half = slot == WIDTH ? WIDTH : WIDTH / 2;
		uint32_t new;

		if (f->n < WIDTH) {
			fork_put(f, slot, &key, child);
			return;
		}
		new = s->fork[--s->forks];
		right = fork_at(t, new);
		right->n = WIDTH - half;
		fork_move(right, 0, f, half, right->n);
		f->n = half;
		if (slot < half || (slot == half && half < WIDTH))
			fork_put(f, slot, &key, child);
		else
			fork_put(right, slot - half, &key, child);
		key = fork_key(right, 0);
		child = new;
		h--;
	}
	grow(t, s->fork[--s->forks], &key, child);
}

/* Routes that come in order fill their leaves: at the end of a leaf, the new one starts empty. */
static int split_leaf(struct tree *t, const struct tree_path *p, uint32_t i,
		      const struct tree_key *key, const struct tree_entry *e)
{
	struct spare s = { .leaf = 0 };
	struct leaf *l = leaf_at(t, p->leaf), *right;
	uint32_t half = i == WIDTH ? WIDTH : WIDTH / 2, new;
	struct tree_at first;
	int r = take_spare(t, p, &s);

	if (r < 0)
		return r;
	forget(t);
	new = s.leaf;
	right = leaf_at(t, new);
	right->n = WIDTH - half;
	leaf_move(t, right, 0, l, half, right->n);
	l->n = half;
	right->next = l->next;
	right->prev = p->leaf;
	if (l->next)
		leaf_at(t, l->next)->prev = new;
	l->next = new;
	if (i <= half && half < WIDTH)
		leaf_put(t, l, i, key, e);
	else
		leaf_put(t, right, i - half, key, e);
	first = (struct tree_at){ new, 0 };
	add_child(t, p, &s, t->height, tree_key(t, first), new);
	return 0;
}

static int add_first(struct tree *t, const struct tree_key *key,
		     const struct tree_entry *e)
{
	uint32_t leaf;
	int r = pool_get(&t->leaves, &leaf);

	if (r < 0)
		return r;
	leaf_at(t, leaf)->n = leaf_at(t, leaf)->next = leaf_at(t, leaf)->prev = 0;
	leaf_put(t, leaf_at(t, leaf), 0, key, e);
	t->root = t->first = leaf;
	return 0;
}

static bool is_inside(const struct tree *t, struct tree_at at, const struct tree_key *key)
{
	struct tree_key is;

	if (!at.leaf)
		return false;
	is = tree_key(t, at);
	return is.len > key->len && addr_common(is.addr, key->addr) >= key->len;
}

/* Prefixes directly inside @key had parent @was; it is @is now. */
static void adopt(const struct tree *t, const struct tree_key *key, uint8_t was,
		  uint8_t is)
{
	struct tree_key last = { key->addr, key->len, UINT8_MAX };
	struct tree_at at = tree_from(t, &last);

	for (; is_inside(t, at, key); at = tree_next(t, at))
		if (tree_entry(t, at)->parent == was)
			tree_entry(t, at)->parent = is;
}

static bool same_prefix(const struct tree *t, struct tree_at at,
			const struct tree_key *key)
{
	struct tree_key is;

	if (!at.leaf)
		return false;
	is = tree_key(t, at);
	return is.len == key->len && is.addr.hi == key->addr.hi &&
	       is.addr.lo == key->addr.lo;
}

/* The parent of an entry that is to come after @prev. */
static uint8_t parent_of(const struct tree *t, struct tree_at prev,
			 const struct tree_key *key)
{
	struct tree_at at = around(t, prev, key->addr, key->len);

	if (!at.leaf)
		return TREE_NO_PARENT;
	return same_prefix(t, at, key) ? tree_entry(t, at)->parent : tree_key(t, at).len;
}

int tree_add(struct tree *t, const struct tree_key *key, const struct tree_entry *e,
	     struct tree_at *ret_there)
{
	struct tree_entry new = *e;
	struct tree_at at, next, prev;
	bool adopts;
	struct tree_path p;
	int r;

	new.parent = TREE_NO_PARENT;
	if (!t->root)
		return add_first(t, key, &new);
	descend(t, key, &p);
	at = (struct tree_at){ p.leaf, leaf_before(t, leaf_at(t, p.leaf), key, false) };
	next = at.i < leaf_at(t, at.leaf)->n
		       ? at
		       : (struct tree_at){ leaf_at(t, at.leaf)->next, 0 };
	if (same_prefix(t, next, key) && tree_key(t, next).origin == key->origin) {
		*ret_there = next;
		return -EEXIST;
	}
	prev = before(t, at);
	adopts = is_inside(t, next, key) && !same_prefix(t, prev, key);
	new.parent = same_prefix(t, next, key) ? tree_entry(t, next)->parent
					       : parent_of(t, prev, key);
	if (leaf_at(t, at.leaf)->n == WIDTH)
		r = split_leaf(t, &p, at.i, key, &new);
	else
		r = 0, leaf_put(t, leaf_at(t, at.leaf), at.i, key, &new);
	if (!r && adopts)
		adopt(t, key, new.parent, key->len);
	return r;
}

/* ---- deleting ---- */

static void drop_child(struct tree *t, const struct tree_path *p, unsigned h)
{
	while (h) {
		struct fork *f = fork_at(t, p->fork[h - 1]);
		uint32_t slot = p->slot[h - 1];

		fork_move(f, slot, f, slot + 1, f->n - slot - 1);
		if (--f->n)
			break;
		pool_put(&t->forks, p->fork[--h]);
		if (!h)
			t->root = t->height = 0;
	}
	while (t->height && fork_at(t, t->root)->n == 1) {
		uint32_t only = fork_at(t, t->root)->child[0];

		pool_put(&t->forks, t->root);
		t->root = only;
		t->height--;
	}
}

static void drop_leaf(struct tree *t, const struct tree_path *p)
{
	const struct leaf *l = leaf_at(t, p->leaf);

	forget(t);
	if (l->next)
		leaf_at(t, l->next)->prev = l->prev;
	if (l->prev)
		leaf_at(t, l->prev)->next = l->next;
	else
		t->first = l->next;
	pool_put(&t->leaves, p->leaf);
	if (t->height)
		drop_child(t, p, t->height);
	else
		t->root = 0;
}

/* A leaf with few entries gives them to the one before it, if that is under the same fork. */
static void merge(struct tree *t, const struct tree_path *p)
{
	struct leaf *l = leaf_at(t, p->leaf), *left;

	if (l->n > FEW || !t->height || !p->slot[t->height - 1])
		return;
	left = leaf_at(t, l->prev);
	if (left->n > WIDTH - 2 * FEW)
		return;
	leaf_move(t, left, left->n, l, 0, l->n);
	left->n += l->n;
	drop_leaf(t, p);
}

void tree_del(struct tree *t, const struct tree_key *key)
{
	struct tree_at at, next;
	bool orphans;
	struct leaf *l;
	struct tree_path p;
	uint8_t parent;

	descend(t, key, &p);
	l = leaf_at(t, p.leaf);
	at = (struct tree_at){ p.leaf, leaf_before(t, l, key, false) };
	next = tree_next(t, at);
	orphans = is_inside(t, next, key) && !same_prefix(t, before(t, at), key);
	parent = l->entry[at.i].parent;
	l->n--;
	leaf_move(t, l, at.i, l, at.i + 1, l->n - at.i);
	if (l->n)
		merge(t, &p);
	else
		drop_leaf(t, &p);
	if (orphans)
		adopt(t, key, key->len, parent);
}
