/* unit/test_pkt_csum.c - Internet checksum against the definition, word by word */

#include "../test.h"

#include <string.h>

#include "../../lib/pkt/csum.h"

/* RFC 1071, literally: big-endian words, end-around carry after each. */
static uint16_t reference(const uint8_t *p, size_t n)
{
	uint32_t sum = 0;

	for (size_t i = 0; i < n; i += 2) {
		sum += (uint32_t)p[i] << 8 | (i + 1 < n ? p[i + 1] : 0u);
		sum = (sum & 0xffff) + (sum >> 16);
	}
	return (uint16_t)~sum;
}

static void any_length_agrees_with_the_definition(void **state)
{
	uint8_t data[257];

	(void)state;
	for (size_t n = 0; n < sizeof(data); n++) {
		test_fill(data, n);
		assert_int_equal(from_be16(csum_of(data, n)), reference(data, n));
	}
}

static void sums_of_parts_add_up(void **state)
{
	uint8_t data[64];
	size_t cut;
	uint64_t sum;

	(void)state;
	for (int i = 0; i < 1000; i++) {
		test_fill(data, sizeof(data));
		cut = test_below(32) * 2;
		sum = csum_add(0, data, cut);
		sum = csum_add(sum, data + cut, sizeof(data) - cut);
		assert_int_equal((uint16_t)~csum_fold(sum),
				 csum_of(data, sizeof(data)).raw);
	}
}

static void header_check_sees_every_single_bit(void **state)
{
	uint8_t hdr[20];

	(void)state;
	for (int i = 0; i < 200; i++) {
		be16_t c;

		test_fill(hdr, sizeof(hdr));
		memset(hdr + 10, 0, 2);
		c = csum_of(hdr, sizeof(hdr));
		memcpy(hdr + 10, &c, 2);
		assert_true(csum_ip4_ok(hdr));
		for (unsigned bit = 0; bit < 160; bit++) {
			hdr[bit / 8] ^= (uint8_t)(1u << bit % 8);
			assert_false(csum_ip4_ok(hdr));
			hdr[bit / 8] ^= (uint8_t)(1u << bit % 8);
		}
	}
}

static void header_check_takes_both_zeroes(void **state)
{
	/* Words sum to 0xffff without the checksum, so 0x0000 and 0xffff are both right. */
	uint8_t hdr[20] = { 0xff, 0xff };

	(void)state;
	assert_true(csum_ip4_ok(hdr));
	hdr[10] = hdr[11] = 0xff;
	assert_true(csum_ip4_ok(hdr));
	hdr[11] = 0xfe;
	assert_false(csum_ip4_ok(hdr));
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(any_length_agrees_with_the_definition),
	cmocka_unit_test(sums_of_parts_add_up),
	cmocka_unit_test(header_check_sees_every_single_bit),
	cmocka_unit_test(header_check_takes_both_zeroes),
};

int main(void)
{
	return cmocka_run_group_tests(tests, NULL, NULL);
}
