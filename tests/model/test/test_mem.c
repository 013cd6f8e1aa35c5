/* test/test_mem.c - umems and keys: what may be reached through them, and what not */
#include "direct.h"

#include <errno.h>
#include <string.h>

#include "../core/dev.h"

#define LEN 10000

static uint8_t *dma(struct direct *d, uint32_t key, uint64_t addr, uint32_t len)
{
	const char *why = NULL;
	uint8_t *p = cx_dma(d->dev, key, d->pdn, addr, len, CX_ACCESS_LOCAL_WRITE, &why);

	assert_true(p ? !why : !!why);
	return p;
}

static void assert_why(struct direct *d, uint32_t key, uint32_t pdn, uint64_t addr,
		       uint32_t len, const char *text)
{
	const char *why = "";

	assert_null(cx_dma(d->dev, key, pdn, addr, len, CX_ACCESS_LOCAL_WRITE, &why));
	assert_string_equal(why, text);
}

/* ---- keys ---- */

static void test_inside_and_just_outside(void **state)
{
	struct direct *d = d_open(NULL);
	struct d_mem m = d_mem(d, LEN);

	(void)state;
	assert_ptr_equal(dma(d, m.key, m.iova, LEN), m.p);
	assert_ptr_equal(dma(d, m.key, m.iova + LEN - 1, 1), m.p + LEN - 1);
	assert_ptr_equal(dma(d, m.key, m.iova + LEN, 0), m.p + LEN);
	assert_null(dma(d, m.key, m.iova, LEN + 1));
	assert_null(dma(d, m.key, m.iova + LEN, 1));
	assert_null(dma(d, m.key, m.iova - 1, 1));
	assert_null(dma(d, m.key, m.iova - 1, 2));
	assert_null(dma(d, m.key, m.iova + 1, UINT32_MAX));
	assert_null(dma(d, m.key, UINT64_MAX, 2));
	assert_null(dma(d, m.key, 0, 1));
	d_close(d);
}

/* The range may end where addresses end: no sum may wrap. */
static void test_at_the_end_of_addresses(void **state)
{
	struct direct *d = d_open(NULL);
	uint8_t *p = d_alloc(d, 4096);
	uint32_t key;

	(void)state;
	assert_int_equal(cx_mkey_reg(d->dev, d->uid, d->pdn, p, UINT64_MAX - 4095, 4096,
				     1, &key),
			 0);
	assert_ptr_equal(dma(d, key, UINT64_MAX, 1), p + 4095);
	assert_null(dma(d, key, UINT64_MAX, 2));
	assert_null(dma(d, key, UINT64_MAX - 1, 3));
	assert_null(dma(d, key, 0, 1));
	assert_int_equal(cx_mkey_reg(d->dev, d->uid, d->pdn, p, UINT64_MAX - 4094, 4096,
				     1, &key),
			 -EINVAL);
	d_close(d);
}

/* A key over nearly all addresses; nothing is touched through it. */
static void test_an_enormous_key(void **state)
{
	struct direct *d = d_open(NULL);
	uint64_t len = UINT64_MAX - 4096;
	uint8_t *base = (uint8_t *)4096;
	uint32_t key;

	(void)state;
	assert_int_equal(cx_mkey_reg(d->dev, d->uid, d->pdn, base, 0, len, 1, &key), 0);
	assert_null(dma(d, key, len - 1, 2));
	assert_null(dma(d, key, len - 1, UINT32_MAX));
	assert_null(dma(d, key, len + 1, 1));
	d_close(d);
}

static void test_a_key_wrong_by_any_bit(void **state)
{
	struct direct *d = d_open(NULL);
	struct d_mem m = d_mem(d, LEN);

	(void)state;
	for (unsigned bit = 0; bit < 32; bit++)
		assert_why(d, m.key ^ UINT32_C(1) << bit, d->pdn, m.iova, 1,
			   "no such key");
	assert_non_null(dma(d, m.key, m.iova, 1));
	d_close(d);
}

static void test_a_stale_key(void **state)
{
	struct direct *d = d_open(NULL);
	struct d_mem m = d_mem(d, LEN);
	uint32_t key = 0;

	(void)state;
	assert_int_equal(cx_mkey_dereg(d->dev, d->uid, m.key), 0);
	assert_null(dma(d, m.key, m.iova, 1));
	/* until its number comes again, with another low byte */
	for (unsigned i = 0; i < 100000 && key >> 8 != m.key >> 8; i++) {
		if (key)
			assert_int_equal(cx_mkey_dereg(d->dev, d->uid, key), 0);
		assert_int_equal(cx_mkey_reg(d->dev, d->uid, d->pdn, m.p, m.iova, LEN, 1,
					     &key),
				 0);
	}
	assert_int_equal(key >> 8, m.key >> 8);
	assert_null(dma(d, m.key, m.iova, 1));
	assert_non_null(dma(d, key, m.iova, 1));
	d_close(d);
}

static void test_domain_and_access(void **state)
{
	struct direct *d = d_open(NULL);
	struct d_mem m = d_mem(d, LEN);
	const char *why = "";
	uint32_t ro;

	(void)state;
	assert_why(d, m.key, d_pd(d), m.iova, 1, "key of another protection domain");
	assert_int_equal(cx_mkey_reg(d->dev, d->uid, d->pdn, m.p, m.iova, LEN, 0, &ro),
			 0);
	assert_why(d, ro, d->pdn, m.iova, 1, "key without local write");
	assert_ptr_equal(cx_dma(d->dev, ro, d->pdn, m.iova, 1, 0, &why), m.p);
	assert_why(d, ro, d->pdn, m.iova + LEN, 1, "outside the key's range");
	d_close(d);
}

static void test_what_cannot_be_registered(void **state)
{
	struct direct *d = d_open(NULL);
	uint8_t *p = d_alloc(d, LEN);
	uint16_t other = d_uctx(d);
	uint32_t key = 7, pdn;

	(void)state;
	assert_int_equal(cx_mkey_reg(d->dev, d->uid, d->pdn, p, 0, 0, 1, &key), -EINVAL);
	assert_int_equal(cx_mkey_reg(d->dev, d->uid, d->pdn, NULL, 0, LEN, 1, &key),
			 -EINVAL);
	assert_int_equal(cx_mkey_reg(d->dev, d->uid, d->pdn, p, 0, UINT64_MAX, 1, &key),
			 -EINVAL);
	assert_int_equal(cx_mkey_reg(d->dev, d->uid, 0xdead, p, 0, LEN, 1, &key),
			 -EINVAL);
	assert_int_equal(cx_mkey_reg(d->dev, other, d->pdn, p, 0, LEN, 1, &key), -EINVAL);
	assert_int_equal(cx_mkey_reg(d->dev, 0x7777, d->pdn, p, 0, LEN, 1, &key),
			 -EINVAL);
	assert_int_equal(key, 7);
	assert_int_equal(cx_obj_count(d->dev, CX_MKEY), 0);
	/* a domain that keys use stays */
	assert_int_equal(cx_mkey_reg(d->dev, d->uid, pdn = d_pd(d), p, 0, LEN, 1, &key),
			 0);
	assert_int_equal(d_simple(d, D_DEALLOC_PD, pdn, NULL), CX_ST_BAD_RES_STATE);
	assert_int_equal(cx_mkey_dereg(d->dev, other, key), -ENOENT);
	d_assert_log(d, "no such key of uid");
	assert_int_equal(cx_mkey_dereg(d->dev, d->uid, key ^ 1), -ENOENT);
	assert_int_equal(cx_mkey_dereg(d->dev, d->uid, key), 0);
	assert_int_equal(d_simple(d, D_DEALLOC_PD, pdn, NULL), CX_ST_OK);
	d_close(d);
}

static void test_peek(void **state)
{
	struct direct *d = d_open(NULL);
	struct d_mem m = d_mem(d, LEN);

	(void)state;
	assert_ptr_equal(cx_mkey_peek(d->dev, m.key, m.iova + 5, 10), m.p + 5);
	assert_null(cx_mkey_peek(d->dev, m.key, m.iova + 5, LEN));
	assert_null(cx_mkey_peek(d->dev, m.key ^ 0x100, m.iova, 1));
	d_close(d);
}

/* ---- umems ---- */

static void test_umem_ranges(void **state)
{
	struct direct *d = d_open(NULL);
	struct d_umem m = d_umem(d, LEN);
	struct cx_umem *umem =
		(struct cx_umem *)cx_obj_get(d->dev, CX_UMEM, m.num, d->uid);

	(void)state;
	assert_ptr_equal(cx_umem_at(umem, 0, LEN), m.p);
	assert_ptr_equal(cx_umem_at(umem, LEN, 0), m.p + LEN);
	assert_null(cx_umem_at(umem, 0, LEN + 1));
	assert_null(cx_umem_at(umem, LEN, 1));
	assert_null(cx_umem_at(umem, UINT64_MAX, 2));
	assert_null(cx_umem_at(umem, 8, UINT64_MAX - 4));
	d_close(d);
}

static void test_what_is_no_umem(void **state)
{
	struct direct *d = d_open(NULL);
	uint8_t *p = d_alloc(d, LEN);
	uint32_t num = 7;

	(void)state;
	assert_int_equal(cx_umem_reg(d->dev, d->uid, p, 0, 1, &num), -EINVAL);
	assert_int_equal(cx_umem_reg(d->dev, d->uid, NULL, 1, 1, &num), -EINVAL);
	assert_int_equal(cx_umem_reg(d->dev, d->uid, p, UINT64_MAX, 1, &num), -EINVAL);
	assert_int_equal(cx_umem_reg(d->dev, d->uid, p, LEN, 2, &num), -EINVAL);
	assert_int_equal(cx_umem_reg(d->dev, 0x7777, p, LEN, 1, &num), -EINVAL);
	assert_int_equal(num, 7);
	assert_int_equal(cx_umem_dereg(d->dev, d->uid, 0x7777), -ENOENT);
	d_close(d);
}

static void test_a_used_umem_stays(void **state)
{
	struct direct *d = d_open(NULL);
	struct d_cq *cq = d_cq(d, &(struct d_cq_conf){ .log_size = 2 });

	(void)state;
	assert_int_equal(cx_umem_dereg(d->dev, d_uctx(d), cq->umem.num), -ENOENT);
	assert_int_equal(cx_umem_dereg(d->dev, d->uid, cq->umem.num), -EBUSY);
	d_assert_log(d, "still used by");
	assert_int_equal(d_simple(d, D_DESTROY_CQ, cq->num, NULL), CX_ST_OK);
	assert_int_equal(cx_umem_dereg(d->dev, d->uid, cq->umem.num), 0);
	assert_int_equal(cx_obj_count(d->dev, CX_UMEM), 0);
	d_close(d);
}

/* ---- the same, seen from a queue ---- */

/* A send with a key wrong by one bit: local protection error, nothing leaves. */
static void test_send_with_a_key_wrong_by_one_bit(void **state)
{
	(void)state;
	for (unsigned bit = 0; bit < 32; bit++) {
		struct direct *d = d_open(NULL);
		struct d_cq *cq = d_cq(d, &(struct d_cq_conf){ .log_size = 4 });
		struct d_sq *sq = d_sq(d, &(struct d_sq_conf){ .log_size = 4, .cq = cq });
		struct d_wqe w = d_wqe(sq, D_SEND, D_CE_ALWAYS);
		const uint8_t *cqe;

		d_wqe_eth(&w, NULL, 0);
		d_wqe_ptr(&w, sq->mem.key ^ UINT32_C(1) << bit, sq->mem.iova, 60);
		d_sq_put(sq, &w);
		d_sq_ring(sq);
		d_run(d);
		cqe = d_cq_poll(cq);
		assert_non_null(cqe);
		assert_int_equal(CX_GET(err_cqe, cqe, opcode), 13);
		assert_int_equal(CX_GET(err_cqe, cqe, syndrome), 0x04);
		assert_int_equal(d->wire.n, 0);
		d_assert_log(d, "key");
		d_close(d);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_inside_and_just_outside),
		cmocka_unit_test(test_at_the_end_of_addresses),
		cmocka_unit_test(test_an_enormous_key),
		cmocka_unit_test(test_a_key_wrong_by_any_bit),
		cmocka_unit_test(test_a_stale_key),
		cmocka_unit_test(test_domain_and_access),
		cmocka_unit_test(test_what_cannot_be_registered),
		cmocka_unit_test(test_peek),
		cmocka_unit_test(test_umem_ranges),
		cmocka_unit_test(test_what_is_no_umem),
		cmocka_unit_test(test_a_used_umem_stays),
		cmocka_unit_test(test_send_with_a_key_wrong_by_one_bit),
	};

	return cmocka_run_group_tests_name("mem", tests, NULL, NULL);
}
