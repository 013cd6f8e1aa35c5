/* unit/test_metrics_histogram.c - buckets, sums, percentiles */

#include "../test.h"

#include <string.h>

#include "../../lib/metrics/count_hot.h"

static void each_sample_has_one_bucket(void **state)
{
	(void)state;
	for (unsigned i = 0; i < HISTOGRAM_BOUNDS; i++) {
		struct histogram h = { .max_ns = 0 };

		histogram_add(&h, histogram_bound_ns[i]); /* le */
		histogram_add(&h, histogram_bound_ns[i] + 1);
		assert_int_equal(h.bucket[i], 1);
		assert_int_equal(h.bucket[i + 1], 1);
		assert_int_equal(histogram_count(&h), 2);
		assert_int_equal(h.sum_ns, 2 * histogram_bound_ns[i] + 1);
		assert_int_equal(h.max_ns, histogram_bound_ns[i] + 1);
	}
}

static void a_sum_is_that_of_its_parts(void **state)
{
	struct histogram part[3], all, sum;

	(void)state;
	memset(part, 0, sizeof(part));
	memset(&all, 0, sizeof(all));
	memset(&sum, 0, sizeof(sum));
	for (int i = 0; i < 1000; i++) {
		uint64_t ns = test_rand() >> (40 + test_below(20));
		unsigned which = test_below(3);

		histogram_add(&part[which], ns);
		histogram_add(&all, ns);
	}
	for (int i = 0; i < 3; i++)
		histogram_sum(&sum, &part[i]);
	assert_memory_equal(&sum, &all, sizeof(sum));
}

/* In the bucket of the true one, and never more than the largest. */
static void a_percentile_is_in_its_bucket(void **state)
{
	struct histogram h = { .max_ns = 0 };

	(void)state;
	assert_int_equal(histogram_percentile_ns(&h, 99), 0);
	for (uint64_t ns = 1; ns <= 100; ns++)
		histogram_add(&h, ns * 100); /* 0.1 to 10 us */
	assert_in_range(histogram_percentile_ns(&h, 50), 2001, 5000);
	assert_in_range(histogram_percentile_ns(&h, 99), 9800, 10000);
	assert_int_equal(histogram_percentile_ns(&h, 100), 10000);
	histogram_add(&h, 30000000); /* past the last bound */
	assert_in_range(histogram_percentile_ns(&h, 99), 9800, 10000);
	assert_int_equal(histogram_percentile_ns(&h, 100), 30000000);
}

static void one_sample_is_every_percentile(void **state)
{
	struct histogram h = { .max_ns = 0 };

	(void)state;
	histogram_add(&h, 1234);
	for (unsigned p = 1; p <= 100; p++)
		assert_in_range(histogram_percentile_ns(&h, p), 1000, 1234);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(each_sample_has_one_bucket),
	cmocka_unit_test(a_sum_is_that_of_its_parts),
	cmocka_unit_test(a_percentile_is_in_its_bucket),
	cmocka_unit_test(one_sample_is_every_percentile),
};

int main(void)
{
	return cmocka_run_group_tests(tests, NULL, NULL);
}
