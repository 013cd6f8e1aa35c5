/* unit/test_prm_bits.c - fields of mailboxes, bit by bit; statuses and syndromes in words */

#include <string.h>

#include <infiniband/mlx5dv.h>

#include "../../lib/prm/bits.h"
#include "../../lib/prm/cmd.h"
#include "../../lib/prm/cqe.h"
#include "../test.h"

enum { BYTES = 64 };

/* Bit 0 is the highest of the first byte. */
static bool bit_get(const uint8_t *p, unsigned bit)
{
	return p[bit / 8] >> (7 - bit % 8) & 1;
}

static void bit_set(uint8_t *p, unsigned bit, bool on)
{
	uint8_t mask = (uint8_t)(0x80 >> bit % 8);

	p[bit / 8] = (uint8_t)(on ? p[bit / 8] | mask : p[bit / 8] & ~mask);
}

/* Up to 32 bits within a word, or 64 at a word's start. */
static struct prm_field random_field(void)
{
	unsigned word = test_below(BYTES / 4 - 1) * 32, at = test_below(32);

	if (test_below(8) == 0)
		return PRM_FIELD((uint16_t)word, 64);
	return PRM_FIELD((uint16_t)(word + at), (uint16_t)(1 + test_below(32 - at)));
}

static void get_is_the_bits(void **state)
{
	be32_t words[BYTES / 4];
	uint8_t *bytes = (uint8_t *)words;

	(void)state;
	for (unsigned i = 0; i < 20000; i++) {
		struct prm_field f = random_field();
		uint64_t want = 0;

		test_fill(bytes, BYTES);
		for (unsigned b = 0; b < f.width; b++)
			want = want << 1 | bit_get(bytes, f.bit + b);
		assert_int_equal(prm_get(words, f), want);
	}
}

/* Its own bits, and no other; what does not fit is cut off. */
static void set_is_the_bits(void **state)
{
	be32_t words[BYTES / 4];
	uint8_t *bytes = (uint8_t *)words, want[BYTES];

	(void)state;
	for (unsigned i = 0; i < 20000; i++) {
		struct prm_field f = random_field();
		uint64_t v = test_rand();

		test_fill(bytes, BYTES);
		memcpy(want, bytes, BYTES);
		for (unsigned b = 0; b < f.width; b++)
			bit_set(want, f.bit + b, v >> (f.width - 1 - b) & 1);
		prm_set(words, f, v);
		assert_memory_equal(bytes, want, BYTES);
	}
}

static void inner_structure(void **state)
{
	uint32_t words[16] = { 0 };

	(void)state;
	prm_set(prm_at(words, 0x80), PRM_FIELD(0x20, 32), 0x12345678);
	assert_int_equal(prm_get(words, PRM_FIELD(0xa0, 32)), 0x12345678);
	assert_ptr_equal(prm_at(words, 0x1e0), (uint8_t *)words + 60);
}

static void every_status_has_words(void **state)
{
	/* Linux include/linux/mlx5/device.h, MLX5_CMD_STAT_* */
	static const uint8_t known[] = { 0x00, 0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x08,
					 0x09, 0x0a, 0x0f, 0x10, 0x30, 0x40, 0x50, 0x51 };
	unsigned n = 0;

	(void)state;
	for (unsigned s = 0; s < 256; s++)
		n += strcmp(prm_status_text(s), "unknown status") != 0;
	assert_int_equal(n, sizeof(known));
	for (size_t i = 0; i < sizeof(known); i++)
		assert_string_not_equal(prm_status_text(known[i]), "unknown status");
	assert_string_equal(prm_status_text(0x103), "unknown status");
}

static void every_syndrome_has_words(void **state)
{
	static const unsigned known[] = {
		MLX5_CQE_SYNDROME_LOCAL_LENGTH_ERR,
		MLX5_CQE_SYNDROME_LOCAL_QP_OP_ERR,
		MLX5_CQE_SYNDROME_LOCAL_PROT_ERR,
		MLX5_CQE_SYNDROME_WR_FLUSH_ERR,
		MLX5_CQE_SYNDROME_MW_BIND_ERR,
		MLX5_CQE_SYNDROME_BAD_RESP_ERR,
		MLX5_CQE_SYNDROME_LOCAL_ACCESS_ERR,
		MLX5_CQE_SYNDROME_REMOTE_INVAL_REQ_ERR,
		MLX5_CQE_SYNDROME_REMOTE_ACCESS_ERR,
		MLX5_CQE_SYNDROME_REMOTE_OP_ERR,
		MLX5_CQE_SYNDROME_TRANSPORT_RETRY_EXC_ERR,
		MLX5_CQE_SYNDROME_RNR_RETRY_EXC_ERR,
		MLX5_CQE_SYNDROME_REMOTE_ABORTED_ERR,
	};
	unsigned n = 0;

	(void)state;
	for (unsigned s = 0; s < 256; s++)
		n += strcmp(prm_syndrome_text(s), "unknown syndrome") != 0;
	assert_int_equal(n, sizeof(known) / sizeof(known[0]));
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		assert_string_not_equal(prm_syndrome_text(known[i]), "unknown syndrome");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(get_is_the_bits),
		cmocka_unit_test(set_is_the_bits),
		cmocka_unit_test(inner_structure),
		cmocka_unit_test(every_status_has_words),
		cmocka_unit_test(every_syndrome_has_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
