/* unit/test_daemon_mac.c - Ethernet addresses as people write them */

#include "../test.h"

#include <string.h>

#include "../../daemon/mac.h"
#include "../../lib/base/hot.h"

static void both_separators_and_cases_are_read(void **state)
{
	static const char *const good[] = { "7c:c2:55:be:f3:c7", "7C:C2:55:BE:F3:C7",
					    "7c-c2-55-BE-f3-c7" };
	static const uint8_t expected[6] = { 0x7c, 0xc2, 0x55, 0xbe, 0xf3, 0xc7 };
	uint8_t mac[6];
	char text[MAC_TEXT];

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(good); i++) {
		assert_true(mac_parse(good[i], mac));
		assert_memory_equal(mac, expected, sizeof(mac));
		assert_string_equal(mac_text(mac, text), "7c:c2:55:be:f3:c7");
	}
}

static void nothing_else_is(void **state)
{
	static const char *const bad[] = {
		"",
		"7c",
		"7c:c2:55:be:f3",
		"7c:c2:55:be:f3:c7:",
		"7c:c2:55:be:f3:c",
		"7c:c2:55:be:f3:c77",
		"7c:c2:55-be:f3:c7",
		"7c.c2.55.be.f3.c7",
		"7c c2 55 be f3 c7",
		"7cc2.55be.f3c7....",
		"+c:c2:55:be:f3:c7",
		"-1:c2:55:be:f3:c7",
		" c:c2:55:be:f3:c7",
		"0x:c2:55:be:f3:c7",
		"7g:c2:55:be:f3:c7",
		"7c:c2:55:be:f3:7z",
		"::::::::::::::::: ",
		":::::::::::::::::",
	};
	uint8_t mac[6] = { 1, 2, 3, 4, 5, 6 };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		if (mac_parse(bad[i], mac) || mac[0] != 1)
			fail_msg("%s", bad[i]);
}

static void every_address_comes_back(void **state)
{
	uint8_t mac[6], back[6];
	char text[MAC_TEXT];

	(void)state;
	for (int i = 0; i < 1000; i++) {
		test_fill(mac, sizeof(mac));
		assert_true(mac_parse(mac_text(mac, text), back));
		assert_memory_equal(mac, back, sizeof(mac));
	}
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(both_separators_and_cases_are_read),
	cmocka_unit_test(nothing_else_is),
	cmocka_unit_test(every_address_comes_back),
};

int main(void)
{
	return cmocka_run_group_tests(tests, NULL, NULL);
}
