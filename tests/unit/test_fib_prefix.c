/* unit/test_fib_prefix.c - prefixes as text and bytes */

#include "../test.h"

#include <string.h>

#include "../../lib/base/hot.h"
#include "../../lib/fib/prefix.h"

struct row {
	const char *text, *out; /* out NULL: refused, why has hint in it */
	const char *hint;
};

static const struct row rows[] = {
	{ "10.0.0.0/8", "10.0.0.0/8", NULL },
	{ "10/8", "10.0.0.0/8", NULL },
	{ "10.1/16", "10.1.0.0/16", NULL },
	{ "192.0.2.1", "192.0.2.1/32", NULL },
	{ "192.0.2.1/32", "192.0.2.1/32", NULL },
	{ "0/0", "0.0.0.0/0", NULL },
	{ "0.0.0.0/0", "0.0.0.0/0", NULL },
	{ "default", "0.0.0.0/0", NULL },
	{ "::/0", "::/0", NULL },
	{ "2001:db8::/32", "2001:db8::/32", NULL },
	{ "2001:DB8:0:0::1", "2001:db8::1/128", NULL },
	{ "255.255.255.255/32", "255.255.255.255/32", NULL },
	{ "10.0.0.1/8", NULL, "10.0.0.0/8" },
	{ "2001:db8::1/64", NULL, "2001:db8::/64" },
	{ "128.0.0.0/0", NULL, "0.0.0.0/0" },
	{ "10.0.0.0/33", NULL, "0 to 32" },
	{ "::/129", NULL, "0 to 128" },
	{ "10.0.0.0/-1", NULL, "0 to 32" },
	{ "10.0.0.0/08", NULL, "0 to 32" },
	{ "10.0.0.0/08x", NULL, "0 to 32" },
	{ "10.0.0.0/8x", NULL, "0 to 32" },
	{ "10.0.0.0/", NULL, "0 to 32" },
	{ "10.0.0.0/4294967304", NULL, "0 to 32" },
	{ "256.0.0.0/8", NULL, "not an IPv4" },
	{ "1.2.3.4.5/8", NULL, "not an IPv4" },
	{ "10..0/8", NULL, "not an IPv4" },
	{ "10./8", NULL, "not an IPv4" },
	{ "/8", NULL, "not an IPv4" },
	{ "", NULL, "not an IPv4" },
	{ "0x0a.0.0.0/8", NULL, "not an IPv4" },
	{ "::g/64", NULL, "not an IPv4" },
	{ "2001:db8::1::/64", NULL, "not an IPv4" },
	{ "defaul", NULL, "not an IPv4" },
	{ "11111111111111111111111111111111111111111111111111111111111111111111111", NULL,
	  "too long" },
};

static void text_is_read_as_ip_reads_it(void **state)
{
	struct fib_prefix p;
	char why[256], text[FIB_PREFIX_TEXT];

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		int r = fib_prefix_parse(rows[i].text, 4, &p, why, sizeof(why));

		if (rows[i].out) {
			assert_int_equal(r, 0);
			assert_string_equal(fib_prefix_text(&p, text), rows[i].out);
			continue;
		}
		if (r != -22 || !strstr(why, rows[i].hint))
			fail_msg("%s: returned %d, \"%s\"", rows[i].text, r, why);
	}
}

static void default_takes_the_family_asked_for(void **state)
{
	struct fib_prefix p;
	char why[256], text[FIB_PREFIX_TEXT];

	(void)state;
	assert_int_equal(fib_prefix_parse("default", 6, &p, why, sizeof(why)), 0);
	assert_string_equal(fib_prefix_text(&p, text), "::/0");
}

static void every_length_survives_a_round_trip(void **state)
{
	struct fib_prefix p = { 0 }, q;
	char why[256], text[FIB_PREFIX_TEXT];

	(void)state;
	for (int i = 0; i < 5000; i++) {
		p.family = i & 1 ? 4 : 6;
		p.len = (uint8_t)test_below(p.family == 4 ? 33 : 129);
		memset(p.addr, 0, sizeof(p.addr));
		test_fill(p.addr, (p.len + 7u) / 8);
		if (p.len % 8)
			p.addr[p.len / 8] &= (uint8_t)(0xff << (8 - p.len % 8));
		assert_int_equal(fib_prefix_parse(fib_prefix_text(&p, text), 4, &q, why,
						  sizeof(why)),
				 0);
		assert_int_equal(fib_prefix_compare(&p, &q), 0);
		assert_memory_equal(&p, &q, sizeof(p));
	}
}

static void covers_is_exact_to_the_bit(void **state)
{
	struct fib_prefix p = { .family = 6 };
	uint8_t addr[16];

	(void)state;
	for (unsigned len = 0; len <= 128; len++) {
		memset(addr, 0, sizeof(addr));
		p.len = (uint8_t)len;
		assert_true(fib_prefix_covers(&p, addr));
		for (unsigned bit = 0; bit < 128; bit++) {
			addr[bit / 8] ^= (uint8_t)(0x80 >> bit % 8);
			assert_int_equal(fib_prefix_covers(&p, addr), bit >= len);
			addr[bit / 8] ^= (uint8_t)(0x80 >> bit % 8);
		}
	}
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(text_is_read_as_ip_reads_it),
	cmocka_unit_test(default_takes_the_family_asked_for),
	cmocka_unit_test(every_length_survives_a_round_trip),
	cmocka_unit_test(covers_is_exact_to_the_bit),
};

int main(void)
{
	return cmocka_run_group_tests(tests, NULL, NULL);
}
