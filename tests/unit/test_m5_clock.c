/* unit/test_m5_clock.c - stamps of the card as nanoseconds, over wraps */

#include "../../lib/m5/clock.h"

#include "../../lib/base/time.h"
#include "../test.h"

enum { BITS = 41 };
#define MASK ((UINT64_C(1) << BITS) - 1)
#define HOST (UINT64_C(1000) * NS_PER_S) /* any */

/* Each stamp is behind the one before by less than a wrap, or by many. */
static void wraps_are_added_back(void **state)
{
	static const uint64_t steps_ns[] = { 1,
					     1000,
					     MASK / 2,
					     MASK - 5,
					     MASK,
					     MASK + 1,
					     3 * MASK + 17,
					     UINT64_C(86400) * NS_PER_S,
					     UINT64_C(40) * 86400 * NS_PER_S };
	struct m5_clock c;
	uint64_t t = MASK - 100, first;

	(void)state;
	m5_clock_init(&c, PRM_TS_FREE_RUNNING, 1000000, BITS);
	first = m5_clock_ns(&c, t & MASK, HOST + t);
	assert_int_equal(first, t & MASK);
	for (unsigned round = 0; round < 50; round++)
		for (size_t i = 0; i < sizeof(steps_ns) / sizeof(*steps_ns); i++) {
			t += steps_ns[i];
			assert_int_equal(m5_clock_ns(&c, t & MASK, HOST + t), t);
		}
}

/* The host's clock is not the card's: it drifts, is read late, and packets come out of order. */
static void host_is_only_a_hint(void **state)
{
	uint64_t t = 5 * MASK + 1000, late = UINT64_C(60) * NS_PER_S, back;
	struct m5_clock c;

	(void)state;
	m5_clock_init(&c, PRM_TS_FREE_RUNNING, 1000000, BITS);
	back = t - m5_clock_ns(&c, t & MASK, HOST + t);
	for (unsigned i = 0; i < 5000; i++) {
		uint64_t jitter = test_below(1 << 30), host;

		t += (uint64_t)test_below(1 << 30) * 1000; /* 0 .. half a wrap */
		host = HOST + t + t / 10000 + test_below(2) * late + jitter;
		assert_int_equal(m5_clock_ns(&c, (t - jitter) & MASK, host),
				 t - jitter - back);
	}
}

/* Other frequencies: 156.25 MHz (6.4 ns), and one that is no round number of nanoseconds. */
static void frequencies(void **state)
{
	static const uint32_t khz[] = { 156250, 276250, 1000000, 1500001 };

	(void)state;
	for (size_t i = 0; i < sizeof(khz) / sizeof(*khz); i++) {
		struct m5_clock c;
		uint64_t ticks = 0, ns = 0;

		m5_clock_init(&c, PRM_TS_FREE_RUNNING, khz[i], BITS);
		m5_clock_ns(&c, 0, HOST);
		for (unsigned k = 0; k < 1000; k++) { /* a minute each: many wraps */
			ticks += UINT64_C(60000) * khz[i];
			ns += UINT64_C(60) * NS_PER_S;
			assert_int_equal(m5_clock_ns(&c, ticks & MASK, HOST + ns), ns);
		}
	}
}

/* All 64 bits count, or the kernel says so of 63. */
static void wide_clocks(void **state)
{
	struct m5_clock c;

	(void)state;
	for (unsigned bits = 48; bits <= 64; bits++) {
		uint64_t mask = (UINT64_C(1) << (bits < 63 ? bits : 63)) - 1;

		m5_clock_init(&c, PRM_TS_FREE_RUNNING, 1000000, bits);
		assert_int_equal(m5_clock_ns(&c, 77, HOST), 77);
		assert_int_equal(m5_clock_ns(&c, 1000077, HOST + 1000000), 1000077);
		assert_int_equal(m5_clock_between_ns(&c, mask - 4, 5), 10);
	}
}

static void real_time(void **state)
{
	const uint64_t s = UINT64_C(1795982627);
	struct m5_clock c;

	(void)state;
	m5_clock_init(&c, PRM_TS_REAL_TIME, 1000000, BITS);
	assert_int_equal(m5_clock_ns(&c, s << 32 | 999999999, HOST),
			 s * NS_PER_S + 999999999);
	assert_int_equal(m5_clock_between_ns(&c, s << 32 | 999999999, (s + 1) << 32 | 4),
			 5);
	assert_int_equal(m5_clock_between_ns(&c, (s + 1) << 32 | 4, s << 32 | 999999999),
			 -5);
}

static void between_two_stamps(void **state)
{
	struct m5_clock c;

	(void)state;
	m5_clock_init(&c, PRM_TS_FREE_RUNNING, 500000, BITS);
	assert_int_equal(m5_clock_between_ns(&c, 100, 350), 500);
	assert_int_equal(m5_clock_between_ns(&c, 350, 100), -500);
	assert_int_equal(m5_clock_between_ns(&c, MASK - 9, 40), 100);
	assert_int_equal(m5_clock_between_ns(&c, 40, MASK - 9), -100);
	/* A device that counts in more bits than the kernel says. */
	assert_int_equal(
		m5_clock_between_ns(&c, UINT64_C(7) << 50, (UINT64_C(9) << 50) + 1), 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(wraps_are_added_back),
		cmocka_unit_test(host_is_only_a_hint),
		cmocka_unit_test(frequencies),
		cmocka_unit_test(wide_clocks),
		cmocka_unit_test(real_time),
		cmocka_unit_test(between_two_stamps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
