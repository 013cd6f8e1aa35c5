/* unit/test_fib_tree.c - the ordered tree of routes, against a sorted array
 *
 * Addresses come from a few bits only, so that prefixes nest and leaves fill, split,
 * empty and merge.
 */

#include "../test.h"

#include <errno.h>
#include <string.h>

#include "../../lib/fib/tree.h"

enum { MAX = 20000 };

struct item {
	struct tree_key key;
	struct tree_entry entry;
};

static struct item list[MAX];
static size_t n;

static int compare(const struct tree_key *a, const struct tree_key *b)
{
	if (a->addr.hi != b->addr.hi)
		return a->addr.hi < b->addr.hi ? -1 : 1;
	if (a->addr.lo != b->addr.lo)
		return a->addr.lo < b->addr.lo ? -1 : 1;
	if (a->len != b->len)
		return a->len < b->len ? -1 : 1;
	return (a->origin > b->origin) - (a->origin < b->origin);
}

/* The first that is not before the key. */
static size_t place(const struct tree_key *key)
{
	size_t from = 0, to = n;

	while (from < to) {
		size_t middle = (from + to) / 2;

		if (compare(&list[middle].key, key) < 0)
			from = middle + 1;
		else
			to = middle;
	}
	return from;
}

static struct tree_key pick(bool wide)
{
	unsigned width = wide ? 128 : 32, bit = test_below(width);
	struct tree_addr addr = { test_rand(), wide ? test_rand() : 0 };
	struct tree_key key;

	/* Bits before @bit are 0 mostly. */
	if (test_below(4)) {
		struct tree_addr zero = addr_mask(addr, bit);

		addr.hi ^= zero.hi;
		addr.lo ^= zero.lo;
	}
	key.len = (uint8_t)test_below(width + 1);
	key.addr = addr_mask(addr, key.len);
	key.origin = (uint8_t)test_below(2);
	return key;
}

static void add(struct tree *t, const struct tree_key *key)
{
	struct item new = {
		*key, { .nh = (uint32_t)test_rand(), .metric = (uint32_t)test_rand() }
	};
	size_t at = place(key);
	struct tree_at there;

	if (at < n && !compare(&list[at].key, key)) {
		assert_int_equal(tree_add(t, key, &new.entry, &there), -EEXIST);
		assert_int_equal(tree_entry(t, there)->nh, list[at].entry.nh);
		return;
	}
	if (n == MAX)
		return;
	assert_int_equal(tree_add(t, key, &new.entry, &there), 0);
	memmove(list + at + 1, list + at, (n - at) * sizeof(list[0]));
	list[at] = new;
	n++;
}

static void del(struct tree *t, size_t at)
{
	tree_del(t, &list[at].key);
	n--;
	memmove(list + at, list + at + 1, (n - at) * sizeof(list[0]));
}

/* The nearest prefix around one that is longer than none of its bits. */
static uint8_t parent(size_t at)
{
	const struct tree_key *key = &list[at].key;

	while (at-- > 0)
		if (list[at].key.len < key->len &&
		    addr_common(list[at].key.addr, key->addr) >= list[at].key.len)
			return list[at].key.len;
	return TREE_NO_PARENT;
}

static void check_all(const struct tree *t, bool parents)
{
	const struct tree_key zero = { { 0, 0 }, 0, 0 };
	struct tree_at at = tree_from(t, &zero);

	for (size_t i = 0; i < n; i++, at = tree_next(t, at)) {
		struct tree_key key;

		assert_true(at.leaf);
		key = tree_key(t, at);
		assert_int_equal(compare(&key, &list[i].key), 0);
		assert_int_equal(tree_entry(t, at)->nh, list[i].entry.nh);
		if (parents)
			assert_int_equal(tree_entry(t, at)->parent, parent(i));
	}
	assert_false(at.leaf);
}

static void check_find(const struct tree *t, const struct tree_key *key)
{
	size_t at = place(key);
	bool there = at < n && !compare(&list[at].key, key);
	struct tree_at found = tree_find(t, key), from = tree_from(t, key);

	assert_int_equal(!!found.leaf, there);
	assert_int_equal(!!from.leaf, at < n);
	if (there)
		assert_int_equal(tree_entry(t, found)->nh, list[at].entry.nh);
	if (at < n)
		assert_int_equal(tree_entry(t, from)->nh, list[at].entry.nh);
}

static void work(bool wide, size_t most)
{
	struct tree t;

	n = 0;
	assert_int_equal(tree_open(&t, wide, 1 << 16), 0);
	for (unsigned round = 0; round < 20; round++) {
		unsigned adds = round % 4 == 3 ? 0 : (unsigned)most / 2;

		for (unsigned i = 0; i < adds; i++) {
			struct tree_key key = pick(wide);

			add(&t, &key);
			key = pick(wide);
			check_find(&t, &key);
		}
		check_all(&t, most < 1000);
		if (n > most) /* whole leaves, neighbours */
			for (size_t at = test_below((uint32_t)(n - most / 2)),
				    k = most / 2;
			     k; k--)
				del(&t, at);
		while (n > most ||
		       (n && adds == 0 && test_below(round == 19 ? UINT32_MAX : 500)))
			del(&t, test_below((uint32_t)n));
		check_all(&t, most < 1000);
	}
	assert_int_equal(n, 0);
	assert_int_equal(t.leaves.used, 0);
	assert_int_equal(t.forks.used, 0);
	tree_close(&t);
}

static void test_narrow(void **state)
{
	(void)state;
	work(false, 300);
	work(false, 4000);
}

static void test_wide(void **state)
{
	(void)state;
	work(true, 300);
	work(true, 4000);
}

/* Routes that come in order fill their leaves. */
static void test_in_order(void **state)
{
	struct tree_entry e = { .nh = 1 };
	struct tree_at at;
	struct tree t;

	(void)state;
	assert_int_equal(tree_open(&t, false, 1 << 16), 0);
	for (uint32_t i = 0; i < 32 * 1000; i++) {
		struct tree_key key = { { (uint64_t)i << 40, 0 }, 24, 0 };

		assert_int_equal(tree_add(&t, &key, &e, &at), 0);
	}
	assert_int_equal(t.leaves.used, 1000);
	tree_close(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_narrow),
		cmocka_unit_test(test_wide),
		cmocka_unit_test(test_in_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
