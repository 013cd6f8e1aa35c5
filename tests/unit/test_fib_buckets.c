/* unit/test_fib_buckets.c - shares of legs: exact, fair, and steady when legs come and go */

#include "../test.h"

#include <string.h>

#include "../../lib/base/hot.h"
#include "../../lib/fib/buckets.h"

enum { MAX_LEGS = 40, MAX_BUCKETS = 4096 };

static void test_by_hand(void **state)
{
	static const struct {
		uint32_t buckets, n, weight[4], share[4];
	} rows[] = {
		{ 64, 1, { 7 }, { 64 } },
		{ 64, 2, { 1, 1 }, { 32, 32 } },
		{ 64, 2, { 65536, 65536 }, { 32, 32 } },
		{ 64, 2, { 3, 1 }, { 48, 16 } },
		{ 64, 3, { 1, 1, 1 }, { 22, 21, 21 } },
		{ 128, 3, { 1, 1, 1 }, { 43, 43, 42 } },
		{ 64, 3, { 1, 0, 1 }, { 32, 0, 32 } },
		{ 64, 3, { 0, 0, 0 }, { 0, 0, 0 } },
		{ 64, 3, { 65536, 1, 1 }, { 62, 1, 1 } },
		{ 4, 4, { 65536, 1, 1, 1 }, { 1, 1, 1, 1 } },
		{ 8, 3, { 5, 3, 1 }, { 4, 3, 1 } },	   /* 4.44, 2.67, 0.89 */
		{ 16, 4, { 1, 2, 3, 4 }, { 2, 3, 5, 6 } }, /* 1.6, 3.2, 4.8, 6.4 */
		{ 4096, 2, { 1000, 1 }, { 4092, 4 } },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct fib_leg leg[4];
		uint32_t share[4];

		for (uint32_t k = 0; k < rows[i].n; k++)
			leg[k] = (struct fib_leg){ .nh = k + 1,
						   .weight = rows[i].weight[k] };
		buckets_share(leg, rows[i].n, rows[i].buckets, share);
		assert_memory_equal(share, rows[i].share, rows[i].n * sizeof(share[0]));
	}
}

static void test_default(void **state)
{
	static const struct {
		uint32_t n, weight[3], buckets;
	} rows[] = {
		{ 1, { 1 }, 64 },	  { 2, { 1, 1 }, 64 },
		{ 2, { 400, 400 }, 64 },  { 3, { 1, 1, 1 }, 128 },
		{ 3, { 2, 4, 10 }, 256 }, { 2, { 1000, 1 }, 4096 },
		{ 3, { 0, 5, 0 }, 64 },	  { 2, { 0, 0 }, 64 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct fib_leg leg[3];

		for (uint32_t k = 0; k < rows[i].n; k++)
			leg[k] = (struct fib_leg){ .nh = k + 1,
						   .weight = rows[i].weight[k] };
		assert_int_equal(buckets_default(leg, rows[i].n), rows[i].buckets);
	}
}

/* ---- random legs ---- */

static uint32_t make_legs(struct fib_leg *leg)
{
	static const uint32_t most[] = { 2, 10, 256, FIB_WEIGHT_MAX + 1 };
	uint32_t n = 1 + test_below(MAX_LEGS), kind = test_below(ARRAY_LEN(most));

	for (uint32_t i = 0; i < n; i++) {
		leg[i].nh = 3 * i + 1;
		leg[i].weight = test_below(most[kind]);
	}
	return n;
}

static uint32_t pick_buckets(void)
{
	return 64u << test_below(7);
}

/* The method as it is told: bucket by bucket, the first of each leg before all others. */
static void share_slowly(const struct fib_leg *leg, uint32_t n, uint32_t buckets,
			 uint32_t *share)
{
	memset(share, 0, n * sizeof(share[0]));
	for (uint32_t b = 0; b < buckets; b++) {
		uint32_t best = n;
		double claim = 0;

		for (uint32_t i = 0; i < n; i++) {
			double his =
				leg[i].weight / (share[i] ? 2.0 * share[i] + 1 : 1e-9);

			if (his > claim) {
				best = i;
				claim = his;
			}
		}
		if (best < n)
			share[best]++;
	}
}

static void test_method(void **state)
{
	struct fib_leg leg[MAX_LEGS];
	uint32_t share[MAX_LEGS], slow[MAX_LEGS];

	(void)state;
	for (unsigned round = 0; round < 300; round++) {
		uint32_t n = make_legs(leg), buckets = pick_buckets();

		buckets_share(leg, n, buckets, share);
		share_slowly(leg, n, buckets, slow);
		assert_memory_equal(share, slow, n * sizeof(share[0]));
	}
}

static uint32_t count(const uint32_t *bucket, uint32_t buckets, uint32_t nh)
{
	uint32_t n = 0;

	for (uint32_t b = 0; b < buckets; b++)
		n += bucket[b] == nh;
	return n;
}

static void fill(uint32_t *bucket, uint32_t buckets, const struct fib_leg *leg,
		 uint32_t n)
{
	uint32_t share[MAX_LEGS], left[MAX_LEGS];

	buckets_share(leg, n, buckets, share);
	memcpy(left, share, sizeof(share));
	buckets_fill(bucket, buckets, leg, n, left);
	for (uint32_t i = 0; i < n; i++) {
		assert_int_equal(count(bucket, buckets, leg[i].nh), share[i]);
		assert_int_equal(!share[i], !leg[i].weight);
	}
}

/* One leg loses its weight, gains one, or changes it: nobody else's flows go to a third. */
static void test_one_leg_changes(void **state)
{
	static uint32_t was[MAX_BUCKETS], is[MAX_BUCKETS];
	struct fib_leg leg[MAX_LEGS];
	unsigned gone = 0, moved = 0;

	(void)state;
	for (unsigned round = 0; round < 1000; round++) {
		uint32_t n = make_legs(leg), buckets = pick_buckets(), i = test_below(n);
		uint32_t old = leg[i].weight;

		memset(was, 0, sizeof(was));
		fill(was, buckets, leg, n);
		leg[i].weight = test_below(3) ? test_below(2 * old + 2) : 0;
		if (leg[i].weight > FIB_WEIGHT_MAX)
			leg[i].weight = FIB_WEIGHT_MAX;
		memcpy(is, was, sizeof(is));
		fill(is, buckets, leg, n);
		for (uint32_t b = 0; b < buckets; b++) {
			if (was[b] == is[b])
				continue;
			moved++;
			if (leg[i].weight < old)
				assert_int_equal(was[b], leg[i].nh);
			else
				assert_int_equal(is[b], leg[i].nh);
		}
		gone += old && !leg[i].weight;
	}
	assert_true(gone > 100);
	assert_true(moved > 1000);
}

/* Any change: what is moved is what shares have changed. */
static void test_fewest(void **state)
{
	static uint32_t was[MAX_BUCKETS], is[MAX_BUCKETS];
	struct fib_leg leg[MAX_LEGS];

	(void)state;
	memset(is, 0, sizeof(is));
	for (unsigned round = 0; round < 1000; round++) {
		uint32_t n = make_legs(leg), moved = 0, must = 0;

		memcpy(was, is, sizeof(was));
		fill(is, 1024, leg, n);
		for (uint32_t b = 0; b < 1024; b++)
			moved += was[b] != is[b];
		for (uint32_t nh = 0; nh <= 3 * MAX_LEGS; nh++) {
			uint32_t before = count(was, 1024, nh), now = count(is, 1024, nh);

			must += before > now ? before - now : 0;
		}
		assert_int_equal(moved, must);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_by_hand), cmocka_unit_test(test_default),
		cmocka_unit_test(test_method),	cmocka_unit_test(test_one_leg_changes),
		cmocka_unit_test(test_fewest),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
