/* test/test_cmd_mkey.c - CREATE_MKEY over a umem, QUERY_MKEY, DESTROY_MKEY */
#include "cmd_rig.h"

#include <string.h>

#include "../core/dev.h"

enum { CTX = 0x10 }; /* mkc in the mailboxes */
#define START UINT64_C(0x7000000000)

static struct cx_mkey *mkey_of(const struct rig *r, uint32_t index)
{
	return (struct cx_mkey *)cx_obj_get(r->d->dev, CX_MKEY, index, 0);
}

static struct cx_mkey *make(struct rig *r, struct mailbox *m)
{
	d_assert_ok(r->d, rig_cmd(r, m));
	return mkey_of(r, (uint32_t)CX_GET(create_mkey_out, m->out, mkey_index));
}

static void query(struct rig *r, uint32_t index, uint8_t ctx[CX_BYTES(mkc)])
{
	uint8_t in[16] = { 0 }, out[CX_BYTES(query_mkey_out)];

	CX_SET(query_mkey_in, in, mkey_index, index);
	d_assert_ok(r->d, d_cmd(r->d, D_QUERY_MKEY, in, sizeof(in), out, sizeof(out)));
	memcpy(ctx, CX_AT(query_mkey_out, out, memory_key_mkey_entry), CX_BYTES(mkc));
}

/* The low byte of the key is the program's to choose; DPDK takes the umem's number. */
static void test_create_and_query(void **state)
{
	struct rig *r = rig_open(NULL);
	uint8_t ctx[CX_BYTES(mkc)];
	struct mailbox m;
	struct cx_mkey *k;
	const char *why;

	(void)state;
	rig_build(r, D_CREATE_MKEY, &m);
	CX_SET(mkc, m.in + CTX, rw, 1);
	CX_SET(mkc, m.in + CTX, rr, 1);
	CX_SET(mkc, m.in + CTX, a, 1);
	CX_SET(mkc, m.in + CTX, relaxed_ordering_write, 1);
	CX_SET(mkc, m.in + CTX, relaxed_ordering_read, 1);
	k = make(r, &m);
	assert_int_equal(k->variant, 0x5a);
	assert_int_equal(k->pdn, r->d->pdn);
	assert_ptr_equal(cx_dma(r->d->dev, k->obj.num << 8 | 0x5a, r->d->pdn, START + 5,
				100, CX_ACCESS_LOCAL_WRITE, &why),
			 r->umem.p + 5);
	assert_null(
		cx_dma(r->d->dev, k->obj.num << 8 | 0x5b, r->d->pdn, START, 1, 0, &why));
	assert_null(cx_dma(r->d->dev, k->obj.num << 8 | 0x5a, r->d->pdn, START + 65536, 1,
			   0, &why));
	query(r, k->obj.num, ctx);
	assert_memory_equal(ctx, m.in + CTX, sizeof(ctx));
	rig_close(r);
}

/* A part of the umem, starting in the middle of a page. */
static void test_offset(void **state)
{
	struct rig *r = rig_open(NULL);
	struct mailbox m;
	struct cx_mkey *k;
	const char *why;

	(void)state;
	rig_build(r, D_CREATE_MKEY, &m);
	CX_SET(create_mkey_in, m.in, mkey_umem_offset, 0x2340);
	CX_SET(mkc, m.in + CTX, start_addr, START + 0x340);
	CX_SET(mkc, m.in + CTX, len, 0x5000);
	k = make(r, &m);
	assert_ptr_equal(cx_dma(r->d->dev, k->obj.num << 8 | 0x5a, r->d->pdn,
				START + 0x340, 0x5000, 0, &why),
			 r->umem.p + 0x2340);
	rig_close(r);
}

static void test_read_only(void **state)
{
	struct rig *r = rig_open(NULL);
	struct mailbox m;
	struct cx_mkey *k;
	const char *why;

	(void)state;
	rig_build(r, D_CREATE_MKEY, &m);
	CX_SET(create_mkey_in, m.in, mkey_umem_id, r->read_only.num);
	rig_refuse(r, &m, CX_ST_BAD_PARAM, "create_mkey_in.mkey_umem_id: UMEM 0x");
	d_assert_log(r->d, "is registered without local write");
	CX_SET(mkc, m.in + CTX, lw, 0);
	k = make(r, &m);
	assert_non_null(
		cx_dma(r->d->dev, k->obj.num << 8 | 0x5a, r->d->pdn, START, 1, 0, &why));
	assert_null(cx_dma(r->d->dev, k->obj.num << 8 | 0x5a, r->d->pdn, START, 1,
			   CX_ACCESS_LOCAL_WRITE, &why));
	rig_close(r);
}

/* Keys of REG_MR can be asked, too. */
static void test_query_of_a_registered_key(void **state)
{
	struct rig *r = rig_open(NULL);
	struct d_mem mem = d_mem(r->d, 8192);
	uint8_t ctx[CX_BYTES(mkc)];

	(void)state;
	query(r, mem.key >> 8, ctx);
	assert_int_equal(CX_GET(mkc, ctx, mkey_7_0), mem.key & 0xff);
	assert_int_equal(CX_GET(mkc, ctx, start_addr), mem.iova);
	assert_int_equal(CX_GET(mkc, ctx, len), 8192);
	assert_int_equal(CX_GET(mkc, ctx, lw), 1);
	assert_int_equal(CX_GET(mkc, ctx, rw), 0);
	assert_int_equal(CX_GET(mkc, ctx, pd), r->d->pdn);
	rig_close(r);
}

static const struct refusal create_rows[] = {
	{ 0, CX_create_mkey_in__pg_access, 1, CX_ST_BAD_PARAM,
	  "create_mkey_in.pg_access: set, but capability hca.pg is 0" },
	{ 0, CX_create_mkey_in__mkey_umem_valid, 0, CX_ST_BAD_PARAM,
	  "create_mkey_in.mkey_umem_valid: 0" },
	{ 0, CX_create_mkey_in__mkey_umem_id, 0xffff, CX_ST_BAD_RES,
	  "create_mkey_in.mkey_umem_id: there is no UMEM 0xffff" },
	{ 0, CX_create_mkey_in__mkey_umem_offset, 0x1000, CX_ST_BAD_PARAM,
	  "create_mkey_in.mkey_umem_offset: 0x1000 and 65536 bytes from there are not in UMEM" },
	{ 0, CX_create_mkey_in__translations_octword_actual_size, 7, CX_ST_BAD_PARAM,
	  "create_mkey_in.translations_octword_actual_size: 7 for 16 pages" },
	{ CTX, CX_mkc__translations_octword_size, 7, CX_ST_BAD_PARAM,
	  "mkc.translations_octword_size: 7 for 16 pages" },
	{ CTX, CX_mkc__free, 1, CX_ST_BAD_PARAM, "mkc.free: " },
	{ CTX, CX_mkc__umr_en, 1, CX_ST_BAD_PARAM, "mkc.umr_en: " },
	{ CTX, CX_mkc__access_mode_4_2, 1, CX_ST_BAD_PARAM, "mkc.access_mode_4_2: " },
	{ CTX, CX_mkc__access_mode_1_0, 0, CX_ST_BAD_PARAM,
	  "mkc.access_mode_1_0: 0: only" },
	{ CTX, CX_mkc__access_mode_1_0, 2, CX_ST_BAD_PARAM,
	  "mkc.access_mode_1_0: 2: only" },
	{ CTX, CX_mkc__access_mode_1_0, 3, CX_ST_BAD_PARAM,
	  "mkc.access_mode_1_0: 3: only" },
	{ CTX, CX_mkc__length64, 1, CX_ST_BAD_PARAM, "mkc.length64: " },
	{ CTX, CX_mkc__bsf_en, 1, CX_ST_BAD_PARAM, "mkc.bsf_en: " },
	{ CTX, CX_mkc__sync_umr, 1, CX_ST_BAD_PARAM, "mkc.sync_umr: " },
	{ CTX, CX_mkc__expected_sigerr_count, 1, CX_ST_BAD_PARAM,
	  "mkc.expected_sigerr_count: " },
	{ CTX, CX_mkc__en_rinval, 1, CX_ST_BAD_PARAM, "mkc.en_rinval: " },
	{ CTX, CX_mkc__small_fence_on_rdma_read_response, 1, CX_ST_BAD_PARAM,
	  "mkc.small_fence_on_rdma_read_response: " },
	{ CTX, CX_mkc__bsf_octword_size, 1, CX_ST_BAD_PARAM, "mkc.bsf_octword_size: " },
	{ CTX, CX_mkc__qpn, 0, CX_ST_BAD_PARAM, "mkc.qpn: 0x0: keys of one queue" },
	{ CTX, CX_mkc__pd, 0xfff, CX_ST_BAD_RES, "mkc.pd: there is no PD 0xfff" },
	{ CTX, CX_mkc__log_page_size, 11, CX_ST_BAD_PARAM,
	  "mkc.log_page_size: 11 is less than 12" },
	{ CTX, CX_mkc__len, 0, CX_ST_BAD_PARAM, "mkc.len: 0x0 from 0x7000000000 on" },
	{ CTX, CX_mkc__len, UINT64_MAX, CX_ST_BAD_PARAM, "mkc.len: 0xffffffffffffffff" },
	{ CTX, CX_mkc__start_addr, UINT64_MAX - 0xfff, CX_ST_BAD_PARAM,
	  "mkc.len: 0x10000 from" },
	{ 0 },
};

static void test_each_refusal(void **state)
{
	struct rig *r = rig_open(NULL);
	struct mailbox m;

	(void)state;
	rig_refusals(r, D_CREATE_MKEY, create_rows);
	rig_build(r, D_CREATE_MKEY,
		  &m); /* another offset in the page than the memory has */
	CX_SET(mkc, m.in + CTX, start_addr, START + 8);
	CX_SET(mkc, m.in + CTX, len, 4096);
	rig_refuse(r, &m, CX_ST_BAD_PARAM,
		   "mkc.start_addr: 0x7000000008 has another offset");
	rig_build(r, D_CREATE_MKEY, &m);
	m.in_len += 16;
	m.in[CX_BYTES(create_mkey_in) + 7] = 1;
	rig_refuse(r, &m, CX_ST_BAD_PARAM, "create_mkey_in.klm_pas_mtt: byte 7");
	rig_build(r, D_QUERY_MKEY, &m);
	CX_SET(query_mkey_in, m.in, pg_access, 1);
	rig_refuse(r, &m, CX_ST_BAD_PARAM, "query_mkey_in.pg_access: ");
	rig_close(r);
}

static void test_destroy_lets_go(void **state)
{
	struct rig *r = rig_open(NULL);
	struct cx_obj *pd = cx_obj_get(r->d->dev, CX_PD, r->d->pdn, 0);
	struct cx_obj *umem = cx_obj_get(r->d->dev, CX_UMEM, r->umem.num, 0);
	uint32_t refs[2] = { pd->refs, umem->refs };
	uint32_t index = rig_make(r, D_CREATE_MKEY);

	(void)state;
	assert_int_equal(pd->refs, refs[0] + 1);
	assert_int_equal(umem->refs, refs[1] + 1);
	d_assert_ok(r->d, d_simple(r->d, D_DESTROY_MKEY, index, NULL));
	assert_int_equal(pd->refs, refs[0]);
	assert_int_equal(umem->refs, refs[1]);
	assert_int_equal(d_simple(r->d, D_DESTROY_MKEY, index, NULL), CX_ST_BAD_RES);
	rig_close(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_create_and_query),
		cmocka_unit_test(test_offset),
		cmocka_unit_test(test_read_only),
		cmocka_unit_test(test_query_of_a_registered_key),
		cmocka_unit_test(test_each_refusal),
		cmocka_unit_test(test_destroy_lets_go),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
