/* unit/test_pkt_rewrite.c - what a forwarded packet looks like */

#include "../test.h"

#include <string.h>

#include "../../lib/pkt/csum.h"
#include "../../lib/pkt/rewrite_hot.h"

static const uint8_t macs[12] = { 2, 0, 0, 0, 0xb, 1, 2, 0, 0, 0, 0xb, 2 };

static void fill_ip4(uint8_t frame[128], uint8_t ttl)
{
	uint8_t *ip = frame + 14;
	be16_t c;

	test_fill(frame, 128);
	ip[0] = 0x45;
	ip[8] = ttl;
	memset(ip + 10, 0, 2);
	c = csum_of(ip, 20);
	memcpy(ip + 10, &c, 2);
}

static void ip4_loses_one_ttl_and_keeps_the_rest(void **state)
{
	uint8_t frame[128], was[128];

	(void)state;
	for (int i = 0; i < 5000; i++) {
		uint8_t ttl = (uint8_t)(2 + test_below(254));

		fill_ip4(frame, ttl);
		memcpy(was, frame, sizeof(was));
		assert_int_equal(pkt_rewrite(frame, 100, macs, false), 114);
		assert_memory_equal(frame, macs, 12);
		assert_int_equal(frame[22], ttl - 1);
		assert_true(csum_ip4_ok(frame + 14));
		was[22] = frame[22];
		memcpy(was + 24, frame + 24, 2);
		assert_memory_equal(frame + 12, was + 12, sizeof(was) - 12);
	}
}

/* RFC 1624 section 3: 0xfeff becomes 0x0000, never 0xffff. */
static void checksum_feff_becomes_plus_zero(void **state)
{
	uint8_t ip[20] = { 0x45, 0, 0, 0, 0, 0, 0, 0, 64, 17 };
	be16_t c;

	(void)state;
	/* Choose the ID so that the checksum comes out as 0xfeff. */
	for (uint32_t id = 0; id <= 0xffff; id++) {
		ip[4] = (uint8_t)(id >> 8);
		ip[5] = (uint8_t)id;
		memset(ip + 10, 0, 2);
		c = csum_of(ip, sizeof(ip));
		if (from_be16(c) == 0xfeff)
			break;
	}
	assert_int_equal(from_be16(c), 0xfeff);
	memcpy(ip + 10, &c, 2);
	pkt_decrement_ip4(ip);
	assert_int_equal(ip[10] << 8 | ip[11], 0x0000);
	assert_true(csum_ip4_ok(ip));
}

/* RFC 1624 equation 3 for every checksum that a header can have, and for the two forms of zero. */
static void every_checksum_is_updated_as_rfc1624_says(void **state)
{
	(void)state;
	for (uint32_t c = 0; c <= 0xffff; c++) {
		uint8_t ip[20] = {
			0x45, 0, 0, 0, 0, 0, 0, 0, 64, 17, (uint8_t)(c >> 8), (uint8_t)c
		};
		uint32_t sum = (~c & 0xffff) + (~UINT32_C(0x4011) & 0xffff) + 0x3f11;

		sum = (sum & 0xffff) + (sum >> 16);
		sum = (sum & 0xffff) + (sum >> 16);
		pkt_decrement_ip4(ip);
		assert_int_equal(ip[10] << 8 | ip[11], ~sum & 0xffff);
		assert_int_equal(ip[8], 63);
	}
}

static void ip6_loses_one_hop_and_keeps_the_rest(void **state)
{
	uint8_t frame[128], was[128];

	(void)state;
	test_fill(frame, sizeof(frame));
	frame[21] = 64;
	memcpy(was, frame, sizeof(was));
	assert_int_equal(pkt_rewrite(frame, 60, macs, true), 74);
	assert_int_equal(frame[21], 63);
	was[21] = 63;
	memcpy(was, macs, 12);
	assert_memory_equal(frame, was, sizeof(was));
}

static void short_packets_leave_with_fresh_padding(void **state)
{
	uint8_t frame[128];

	(void)state;
	fill_ip4(frame, 9);
	assert_int_equal(pkt_rewrite(frame, 30, macs, false), 60);
	for (int i = 44; i < 60; i++)
		assert_int_equal(frame[i], 0);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(ip4_loses_one_ttl_and_keeps_the_rest),
	cmocka_unit_test(checksum_feff_becomes_plus_zero),
	cmocka_unit_test(every_checksum_is_updated_as_rfc1624_says),
	cmocka_unit_test(ip6_loses_one_hop_and_keeps_the_rest),
	cmocka_unit_test(short_packets_leave_with_fresh_padding),
};

int main(void)
{
	return cmocka_run_group_tests(tests, NULL, NULL);
}
