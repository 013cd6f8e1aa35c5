/* unit/test_fib_nexthops.c - next hops: shared, counted, changed at once, reused late */

#include "fib_model.h"

#include "../../lib/fib/memory.h"

enum { MAX = 50 };

static struct fib *open_fib(uint32_t max)
{
	const struct fib_conf conf = { .max_nexthops = max };
	struct fib *fib;

	assert_int_equal(fib_new(&conf, &fib), 0);
	return fib;
}

static const struct fib_nh *seen(const struct fib *fib, uint32_t index)
{
	return &(*fib_live(fib))->nh[index];
}

static void assert_same(const struct fib_nh *a, const struct fib_nh *b)
{
	assert_memory_equal(a, b, sizeof(*a));
}

static void test_shared(void **state)
{
	struct fib *fib = open_fib(MAX);
	struct fib_nh a = model_hop(1), b = model_hop(2);
	uint32_t i, j, k;
	struct fib_sizes s;

	(void)state;
	assert_int_equal(seen(fib, 0)->kind, FIB_NH_NONE);
	assert_int_equal(fib_nh_get(fib, &a, &i), 0);
	assert_int_equal(fib_nh_get(fib, &b, &j), 0);
	assert_int_equal(fib_nh_get(fib, &a, &k), 0);
	assert_true(i && j && i != j);
	assert_int_equal(i, k);
	assert_same(seen(fib, i), &a);
	assert_same(fib_nh_at(fib, j), &b);
	fib_sizes(fib, &s);
	assert_int_equal(s.nexthops, 2);
	b.reserved[35] = 1; /* every byte counts */
	assert_int_equal(fib_nh_get(fib, &b, &k), 0);
	assert_true(k != j);
	fib_free(fib);
}

/* An index nobody refers to is not given to another next hop before a grace period. */
static void test_reuse(void **state)
{
	struct fib *fib = open_fib(MAX);
	struct fib_nh nh = model_hop(1), other = model_hop(2);
	uint32_t i, j;

	(void)state;
	assert_int_equal(fib_nh_get(fib, &nh, &i), 0);
	fib_nh_put(fib, i);
	assert_int_equal(fib_nh_get(fib, &other, &j), 0);
	assert_true(i != j);
	assert_same(seen(fib, i), &nh);
	assert_int_equal(fib_nh_get(fib, &nh, &j), 0); /* revived */
	assert_int_equal(i, j);
	fib_nh_put(fib, i);
	fib_reclaim(fib);
	other = model_hop(3);
	assert_int_equal(fib_nh_get(fib, &other, &j), 0);
	assert_int_equal(i, j);
	fib_free(fib);
}

static void test_full(void **state)
{
	struct fib *fib = open_fib(MAX);
	uint32_t i, first = 0;

	(void)state;
	for (uint32_t n = 1; n <= MAX; n++) {
		struct fib_nh nh = model_hop(n);

		assert_int_equal(fib_nh_get(fib, &nh, &i), 0);
		first = n == 1 ? i : first;
	}
	for (unsigned round = 0; round < 10; round++) {
		struct fib_nh nh = model_hop(1000 + round);

		i = 12345;
		assert_int_equal(fib_nh_get(fib, &nh, &i), -ENOSPC);
		assert_int_equal(i, 12345);
		fib_nh_put(fib, first);
		assert_int_equal(fib_nh_get(fib, &nh, &i),
				 0); /* waits for the grace period */
		assert_int_equal(i, first);
	}
	fib_free(fib);
}

/* When all indexes are taken there is one for kernel egress, and a route to it. */
static void reserve(enum fib4_layout layout, uint32_t max, uint32_t really)
{
	const struct fib_conf conf = { .max_nexthops = max, .layout4 = layout };
	const struct fib_nh kernel = { .kind = FIB_NH_KERNEL },
			    none = { .kind = FIB_NH_LOCAL };
	const struct fib_nh other = { .kind = FIB_NH_KERNEL, .mtu = 1 };
	struct fib_prefix p = { .family = 4, .len = 32, .addr = { 10, 0, 0, 1 } };
	struct model *m = calloc(1, sizeof(*m));
	struct fib_sizes s;
	uint32_t i, kept, at = 0x0a000001;

	assert_non_null(m);
	assert_int_equal(fib_new(&conf, &m->fib), 0);
	fib_sizes(m->fib, &s);
	assert_int_equal(s.max_nexthops, really);
	for (uint32_t n = 1; n <= really; n++) {
		struct fib_nh nh = model_hop(n);

		assert_int_equal(fib_nh_get(m->fib, &nh, &i), 0);
	}
	assert_int_equal(fib_nh_get(m->fib, &none, &i), -ENOSPC);
	fib_mem_refuse = 1; /* it needs no memory either */
	assert_int_equal(fib_nh_get(m->fib, &kernel, &kept), 0);
	fib_mem_refuse = 0;
	assert_int_equal(fib_nh_get(m->fib, &kernel, &i), 0);
	assert_int_equal(i, kept);
	assert_int_equal(fib_nh_get(m->fib, &other, &i), -ENOSPC);
	assert_int_equal(fib_nh_get(m->fib, &none, &i), -ENOSPC);
	assert_int_equal(fib_route_add(m->fib, &p, FIB_KERNEL, kept, 0), 0);
	assert_int_equal(fib_commit(m->fib), 0);
	fib_lookup4(*fib_live(m->fib), &at, &at, 1);
	assert_int_equal(at, kept);
	/* One gone is not room for another while the reserve is in use... */
	fib_nh_put(m->fib, 1);
	assert_int_equal(fib_nh_get(m->fib, &none, &i), -ENOSPC);
	/* ... but two are. */
	fib_nh_put(m->fib, 2);
	assert_int_equal(fib_nh_get(m->fib, &none, &i), 0);
	assert_int_equal(fib_nh_get(m->fib, &other, &i), 0);
	model_close(m);
}

static void test_reserve(void **state)
{
	(void)state;
	reserve(FIB4_RUN21, MAX, MAX);
	reserve(FIB4_DIR24, MAX, MAX);
	reserve(FIB4_DIR24, 0, 32766);
	reserve(FIB4_RUN21, 0, 65536);
}

struct collected {
	unsigned n;
	uint32_t index[MAX];
};

static bool collect(void *arg, uint32_t index, const struct fib_nh *nh)
{
	struct collected *c = arg;

	(void)nh;
	c->index[c->n++] = index;
	return c->n < 5;
}

static void test_each(void **state)
{
	struct fib *fib = open_fib(MAX);
	struct collected c = { 0 };
	uint32_t i;

	(void)state;
	for (uint32_t n = 1; n <= 10; n++) {
		struct fib_nh nh = model_hop(n);

		assert_int_equal(fib_nh_get(fib, &nh, &i), 0);
		if (n % 2)
			fib_nh_put(fib, i);
	}
	fib_nh_each(fib, 1, collect, &c);
	assert_int_equal(c.n, 5);
	for (unsigned n = 0; n < 5; n++)
		assert_int_equal(c.index[n], 2 * (n + 1));
	fib_free(fib);
}

/* Found by its new contents, no longer by its old. */
static void test_set(void **state)
{
	struct fib *fib = open_fib(MAX);
	struct fib_nh a = model_hop(1), b = model_hop(2), c = model_hop(3);
	uint32_t i, j, k;

	(void)state;
	assert_int_equal(fib_nh_get(fib, &a, &i), 0);
	assert_int_equal(fib_nh_set(fib, i, &b), 0);
	assert_same(seen(fib, i), &b);
	assert_same(fib_nh_at(fib, i), &b);
	assert_int_equal(fib_nh_get(fib, &b, &j), 0);
	assert_int_equal(i, j);
	assert_int_equal(fib_nh_get(fib, &a, &k), 0);
	assert_true(i != k);
	for (unsigned n = 0; n < 5; n++) { /* each in the copy that the last one left */
		assert_int_equal(fib_nh_set(fib, i, &c), 0);
		assert_same(seen(fib, i), &c);
		assert_same(seen(fib, k), &a);
		assert_int_equal(fib_nh_set(fib, i, &b), 0);
		assert_same(seen(fib, i), &b);
		assert_same(seen(fib, k), &a);
	}
	assert_int_equal(fib_nh_set(fib, k, &c),
			 0); /* what is in one copy gets to the other */
	assert_same(seen(fib, i), &b);
	assert_int_equal(fib_nh_set(fib, k, &a), 0);
	assert_same(seen(fib, i), &b);
	assert_same(seen(fib, k), &a);
	assert_int_equal(fib_nh_set(fib, 0, &c), -ENOENT);
	assert_int_equal(fib_nh_set(fib, MAX + 1, &c), -ENOENT);
	fib_nh_put(fib, k);
	assert_int_equal(fib_nh_set(fib, k, &c), -ENOENT);
	fib_free(fib);
}

static bool raise_mtu(void *arg, uint32_t index, struct fib_nh *nh)
{
	(void)index;
	if (nh->macs[0] % 2)
		return false;
	nh->mtu = *(uint16_t *)arg;
	return true;
}

static void test_change(void **state)
{
	struct fib *fib = open_fib(MAX);
	struct fib_nh nh;
	uint32_t index[MAX + 1];
	uint16_t mtu;

	(void)state;
	for (uint32_t n = 1; n <= MAX; n++) {
		nh = model_hop(n);
		assert_int_equal(fib_nh_get(fib, &nh, &index[n]), 0);
	}
	for (mtu = 9000; mtu < 9005; mtu++) {
		fib_nh_change(fib, raise_mtu, &mtu);
		for (uint32_t n = 1; n <= MAX; n++) {
			nh = model_hop(n);
			if (n % 2 == 0)
				nh.mtu = mtu;
			assert_same(seen(fib, index[n]), &nh);
		}
	}
	fib_free(fib);
}

/* References follow routes through replacing, deleting, aborting. */
static void test_references(void **state)
{
	struct fib *fib = open_fib(MAX);
	struct fib_prefix p = { .family = 4, .len = 8, .addr = { 10 } };
	struct fib_nh a = model_hop(1), b = model_hop(2);
	struct fib_sizes s;
	uint32_t i, j;

	(void)state;
	assert_int_equal(fib_nh_get(fib, &a, &i), 0);
	assert_int_equal(fib_route_add(fib, &p, FIB_STATIC, i, 0), 0);
	assert_int_equal(fib_nh_get(fib, &b, &j), 0);
	assert_int_equal(fib_route_replace(fib, &p, FIB_STATIC, j, 0), 0);
	fib_sizes(fib, &s);
	assert_int_equal(s.nexthops, 2); /* the first would be needed by an abort */
	assert_int_equal(fib_commit(fib), 0);
	fib_sizes(fib, &s);
	assert_int_equal(s.nexthops, 1);
	assert_int_equal(fib_route_del(fib, &p, FIB_STATIC), 0);
	fib_abort(fib);
	fib_sizes(fib, &s);
	assert_int_equal(s.nexthops, 1);
	assert_int_equal(fib_route_del(fib, &p, FIB_STATIC), 0);
	assert_int_equal(fib_nh_get(fib, &a, &i), 0);
	assert_int_equal(fib_route_add(fib, &p, FIB_STATIC, i, 0), 0);
	fib_abort(fib);
	fib_sizes(fib, &s);
	assert_int_equal(s.nexthops, 1);
	assert_int_equal(fib_route_del(fib, &p, FIB_STATIC), 0);
	assert_int_equal(fib_commit(fib), 0);
	fib_sizes(fib, &s);
	assert_int_equal(s.nexthops, 0);
	fib_free(fib);
}

/* More next hops than a run of 16 bits can name, in every place they can be. */
static void test_many(void **state)
{
	enum { MANY = 70000 };
	const struct fib_conf conf = { .max_nexthops = MANY };
	struct model *m = calloc(1, sizeof(*m));
	static const uint32_t at[] = { 1,     255,   256,   32767, 32768,
				       65535, 65536, 65537, MANY };

	(void)state;
	assert_non_null(m);
	assert_int_equal(fib_new(&conf, &m->fib), 0);
	for (uint32_t n = 1; n <= MANY; n++) {
		struct fib_nh nh = model_hop(n);
		uint32_t i;

		assert_int_equal(fib_nh_get(m->fib, &nh, &i), 0);
		assert_int_equal(i, n);
	}
	for (unsigned round = 0; round < 400; round++) {
		struct fib_prefix p = model_pick(m);

		model_replace(m, &p, FIB_KERNEL, at[test_below(ARRAY_LEN(at))], 0);
		if (m->n > 200)
			model_del(m, &m->route[test_below(200)].prefix, FIB_KERNEL);
		model_commit(m);
		model_check(m, 40);
	}
	model_close(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_shared),	cmocka_unit_test(test_reuse),
		cmocka_unit_test(test_full),	cmocka_unit_test(test_each),
		cmocka_unit_test(test_reserve), cmocka_unit_test(test_set),
		cmocka_unit_test(test_change),	cmocka_unit_test(test_references),
		cmocka_unit_test(test_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
