/* unit/test_base_number.c - decimal numbers that people type */

#include "../test.h"

#include <inttypes.h>
#include <stdio.h>

#include "../../lib/base/hot.h"
#include "../../lib/base/number.h"

static void only_digits_up_to_the_limit_are_a_number(void **state)
{
	static const struct {
		const char *text;
		uint64_t max;
		int r;
		uint64_t value;
	} rows[] = {
		{ "0", 0, 0, 0 },
		{ "007", 7, 0, 7 },
		{ "8", 7, -ERANGE, 0 },
		{ "10", 9, -ERANGE, 0 },
		{ "5", 3, -ERANGE, 0 },
		{ "4294967295", UINT32_MAX, 0, UINT32_MAX },
		{ "4294967296", UINT32_MAX, -ERANGE, 0 },
		{ "18446744073709551615", UINT64_MAX, 0, UINT64_MAX },
		{ "18446744073709551616", UINT64_MAX, -ERANGE, 0 },
		{ "99999999999999999999999", UINT64_MAX, -ERANGE, 0 },
		{ "", 9, -EINVAL, 0 },
		{ "-1", 9, -EINVAL, 0 },
		{ "+1", 9, -EINVAL, 0 },
		{ " 1", 9, -EINVAL, 0 },
		{ "1 ", 9, -EINVAL, 0 },
		{ "0x1", 9, -EINVAL, 0 },
		{ "1.0", 9, -EINVAL, 0 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		uint64_t v = 77;

		assert_int_equal(number_parse(rows[i].text, rows[i].max, &v), rows[i].r);
		assert_int_equal(v, rows[i].r ? 77 : rows[i].value);
	}
}

/* Whatever is printed comes back, and one more than the limit does not. */
static void numbers_come_back(void **state)
{
	char text[32];

	(void)state;
	for (int i = 0; i < 10000; i++) {
		uint64_t is = test_rand() >> test_below(64);
		uint64_t v = 0;

		snprintf(text, sizeof(text), "%" PRIu64, is);
		assert_int_equal(number_parse(text, is, &v), 0);
		assert_int_equal(v, is);
		if (is)
			assert_int_equal(number_parse(text, is - 1, &v), -ERANGE);
	}
}

static void taking_stops_at_the_first_other_character(void **state)
{
	const char *at = "12-3";
	uint64_t v = 0;

	(void)state;
	assert_int_equal(number_take(&at, 99, &v), 0);
	assert_int_equal(v, 12);
	assert_string_equal(at, "-3");
	assert_int_equal(number_take(&at, 99, &v), -EINVAL);
	assert_string_equal(at, "-3");
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(only_digits_up_to_the_limit_are_a_number),
	cmocka_unit_test(numbers_come_back),
	cmocka_unit_test(taking_stops_at_the_first_other_character),
};

int main(void)
{
	return cmocka_run_group_tests(tests, NULL, NULL);
}
