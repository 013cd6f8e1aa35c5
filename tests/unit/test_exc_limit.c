/* unit/test_exc_limit.c - token bucket, at made-up times */

#include "../test.h"

#include "../../lib/base/time.h"
#include "../../lib/exc/limit.h"

static unsigned take_all(struct exc_limit *l, uint64_t now)
{
	unsigned n = 0;

	while (n < 100000 && exc_limit_take(l, now))
		n++;
	return n;
}

static void it_starts_full_and_fills_at_its_rate(void **state)
{
	struct exc_limit l;
	uint64_t now = 12345;

	(void)state;
	exc_limit_init(&l, 1000, 100, now);
	assert_int_equal(take_all(&l, now), 100);
	assert_int_equal(take_all(&l, now += NS_PER_MS), 1);
	assert_int_equal(take_all(&l, now += 10 * NS_PER_MS), 10);
	assert_int_equal(take_all(&l, now += NS_PER_S), 100); /* no more than full */
	assert_int_equal(take_all(&l, now += NS_PER_MS - 1), 0);
	assert_int_equal(take_all(&l, now += 1), 1); /* no fraction was lost */
}

static void rate_zero_is_no_limit(void **state)
{
	struct exc_limit l;

	(void)state;
	exc_limit_init(&l, 0, 1, 0);
	assert_int_equal(take_all(&l, 0), 100000);
}

/* Asked often enough to be never full again, it gives burst + rate x time, to the token. */
static void over_any_time_it_gives_burst_and_rate(void **state)
{
	(void)state;
	for (int round = 0; round < 100; round++) {
		uint32_t rate = 1 + test_below(1000000), burst = 1000 + test_below(1000);
		uint64_t start = test_rand() >> 1, now = start, taken = 0;
		struct exc_limit l;

		exc_limit_init(&l, rate, burst, now);
		for (int i = 0; i < 1000; i++) {
			taken += take_all(&l, now);
			now += test_below(NS_PER_MS);
		}
		taken += take_all(&l, now);
		assert_int_equal(taken, burst + (now - start) * rate / NS_PER_S);
	}
}

static void the_largest_numbers_do_not_overflow(void **state)
{
	struct exc_limit l;

	(void)state;
	exc_limit_init(&l, 10000000, 1000000, 0);
	assert_int_equal(take_all(&l, UINT64_MAX / 2), 100000);
	exc_limit_init(&l, 1, 1, 0);
	assert_int_equal(take_all(&l, UINT64_MAX), 1);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(it_starts_full_and_fills_at_its_rate),
	cmocka_unit_test(rate_zero_is_no_limit),
	cmocka_unit_test(over_any_time_it_gives_burst_and_rate),
	cmocka_unit_test(the_largest_numbers_do_not_overflow),
};

int main(void)
{
	return cmocka_run_group_tests(tests, NULL, NULL);
}
