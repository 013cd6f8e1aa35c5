/* test/test_cmd_cq.c - CREATE_CQ, MODIFY_CQ, QUERY_CQ, DESTROY_CQ field by field */
#include "cmd_rig.h"

#include <endian.h>
#include <string.h>

#include "../core/dev.h"

enum { CTX = 0x10 }; /* cq_context in the mailboxes */

static struct cx_cq *cq_of(const struct rig *r, uint32_t cqn)
{
	return (struct cx_cq *)cx_obj_get(r->d->dev, CX_CQ, cqn, 0);
}

/* @m is valid with its changes; the queue it makes. */
static struct cx_cq *make(struct rig *r, struct mailbox *m)
{
	enum cx_status st = rig_cmd(r, m);

	d_assert_ok(r->d, st);
	return cq_of(r, (uint32_t)CX_GET(create_cq_out, m->out, cqn));
}

static void query(struct rig *r, uint32_t cqn, uint8_t ctx[CX_BYTES(cqc)])
{
	uint8_t in[16] = { 0 }, out[CX_BYTES(query_cq_out)];

	CX_SET(query_cq_in, in, cqn, cqn);
	d_assert_ok(r->d, d_cmd(r->d, D_QUERY_CQ, in, sizeof(in), out, sizeof(out)));
	memcpy(ctx, CX_AT(query_cq_out, out, cq_context), CX_BYTES(cqc));
}

/* ---- what is accepted ---- */

static void test_create_and_query(void **state)
{
	struct rig *r = rig_open(NULL);
	uint8_t ctx[CX_BYTES(cqc)], *given;
	struct mailbox m;
	struct cx_cq *cq;

	(void)state;
	rig_build(r, D_CREATE_CQ, &m);
	given = CX_AT(create_cq_in, m.in, cq_context);
	CX_SET(cqc, given, oi, 1);
	CX_SET(cqc, given, cq_period_mode, 1);
	CX_SET(cqc, given, cq_period, 0xabc);
	CX_SET(cqc, given, cq_max_count, 0xcdef);
	CX_SET(cqc, given, log_page_size, 2);
	cq = make(r, &m);
	assert_int_equal(cq->log_size, 4);
	assert_int_equal(cq->cqe_bytes, 64);
	assert_ptr_equal(cq->ring, r->umem.p + 0x1000);
	assert_ptr_equal(cq->dbrec, r->umem.p + 0x40);
	assert_true(cq->overrun_ignore);
	assert_int_equal(cq->period, 0xabc);
	assert_int_equal(cq->max_count, 0xcdef);
	assert_int_equal(cq->comp, CX_COMP_NONE);
	query(r, cq->obj.num, ctx);
	CX_SET(cqc, given, st, 10); /* FIRED: nobody armed it */
	assert_memory_equal(ctx, given, sizeof(ctx));
	rig_close(r);
}

static void test_sizes(void **state)
{
	struct rig *r = rig_open(NULL);
	struct mailbox m;

	(void)state;
	for (uint8_t log = 0; log <= 8; log++) {
		rig_build(r, D_CREATE_CQ, &m);
		CX_SET(cqc, m.in + CTX, log_cq_size, log);
		CX_SET(cqc, m.in + CTX, cqe_sz, log & 1);
		make(r, &m);
	}
	rig_close(r);
}

/* All formats of both layouts; format 4 is 0 with the extension. */
static void test_compression(void **state)
{
	struct rig *r = rig_open(NULL);
	struct mailbox m;

	(void)state;
	for (int i = 0; i < 10; i++) {
		enum cx_mini_format mini = (enum cx_mini_format)(i % 5);
		struct cx_cq *cq;

		rig_build(r, D_CREATE_CQ, &m);
		CX_SET(cqc, m.in + CTX, cqe_comp_en, 1);
		CX_SET(cqc, m.in + CTX, cqe_comp_layout, i / 5);
		CX_SET(cqc, m.in + CTX, mini_cqe_res_format,
		       mini == CX_MINI_L34_STRIDE ? 0 : mini);
		CX_SET(cqc, m.in + CTX, mini_cqe_res_format_ext,
		       mini == CX_MINI_L34_STRIDE);
		cq = make(r, &m);
		assert_int_equal(cq->comp, i / 5 ? CX_COMP_ENHANCED : CX_COMP_BASIC);
		assert_int_equal(cq->mini, mini);
	}
	rig_close(r);
}

/* DPDK's drop queue: one entry, compression on, ring and record in 72 bytes of memory.
 * Source: DPDK mlx5_rxq_devx_obj_drop_create, mlx5_devx_cq_create. */
static void test_smallest_queue_of_dpdk(void **state)
{
	struct rig *r = rig_open(NULL);
	struct d_umem umem = d_umem(r->d, 72);
	struct mailbox m;

	(void)state;
	rig_build(r, D_CREATE_CQ, &m);
	CX_SET(create_cq_in, m.in, cq_umem_id, umem.num);
	CX_SET(create_cq_in, m.in, cq_umem_offset, 0);
	CX_SET(cqc, m.in + CTX, dbr_umem_id, umem.num);
	CX_SET(cqc, m.in + CTX, dbr_addr, 64);
	CX_SET(cqc, m.in + CTX, log_cq_size, 0);
	CX_SET(cqc, m.in + CTX, cqe_comp_en, 1);
	CX_SET(cqc, m.in + CTX, cqe_comp_layout, 1);
	make(r, &m);
	rig_close(r);
}

static void test_every_event_queue(void **state)
{
	struct rig *r = rig_open(NULL);
	struct mailbox m;

	(void)state;
	for (unsigned i = 0; i < CX_COMP_VECTORS; i++) {
		uint32_t eqn = cx_eqn(r->d->dev, i);

		assert_int_not_equal(eqn, 0);
		rig_build(r, D_CREATE_CQ, &m);
		CX_SET(cqc, m.in + CTX, c_eqn, eqn);
		assert_int_equal(make(r, &m)->eqn, eqn);
	}
	assert_int_equal(cx_eqn(r->d->dev, CX_COMP_VECTORS), 0);
	rig_close(r);
}

/* ---- what is refused in CREATE_CQ ---- */

static const struct refusal create_rows[] = {
	{ CTX, CX_cqc__status, 1, CX_ST_BAD_PARAM,
	  "cqc.status: 0x1: the device's to set" },
	{ CTX, CX_cqc__st, 9, CX_ST_BAD_PARAM, "cqc.st: 0x9" },
	{ CTX, CX_cqc__last_notified_index, 1, CX_ST_BAD_PARAM,
	  "cqc.last_notified_index: " },
	{ CTX, CX_cqc__last_solicit_index, 1, CX_ST_BAD_PARAM,
	  "cqc.last_solicit_index: " },
	{ CTX, CX_cqc__consumer_counter, 1, CX_ST_BAD_PARAM, "cqc.consumer_counter: " },
	{ CTX, CX_cqc__producer_counter, 1, CX_ST_BAD_PARAM, "cqc.producer_counter: " },
	{ CTX, CX_cqc__cc, 1, CX_ST_BAD_PARAM, "cqc.cc: 0x1: collapsed" },
	{ CTX, CX_cqc__always_armed_cq, 1, CX_ST_BAD_PARAM, "cqc.always_armed_cq: " },
	{ CTX, CX_cqc__cq_timestamp_format, 1, CX_ST_BAD_PARAM,
	  "cqc.cq_timestamp_format: " },
	{ CTX, CX_cqc__page_offset, 1, CX_ST_BAD_PARAM, "cqc.page_offset: " },
	{ CTX, CX_cqc__scqe_break_moderation_en, 1, CX_ST_BAD_PARAM,
	  "cqc.scqe_break_moderation_en: set, but capability hca.scqe_break_moderation is 0" },
	{ CTX, CX_cqc__cqe_sz, 2, CX_ST_BAD_PARAM, "cqc.cqe_sz: padded" },
	{ CTX, CX_cqc__cqe_sz, 3, CX_ST_BAD_PARAM, "cqc.cqe_sz: 3 is not known" },
	{ CTX, CX_cqc__log_cq_size, 23, CX_ST_BAD_PARAM,
	  "cqc.log_cq_size: 23 is over the limit of 22" },
	{ CTX, CX_cqc__log_cq_size, 10, CX_ST_BAD_PARAM,
	  "create_cq_in.cq_umem_offset: 0x1000 and 65536 bytes from there are not in UMEM" },
	{ CTX, CX_cqc__cq_period_mode, 2, CX_ST_BAD_PARAM,
	  "cqc.cq_period_mode: 2 is not known" },
	{ CTX, CX_cqc__cqe_comp_layout, 1, CX_ST_BAD_PARAM,
	  "cqc.cqe_comp_layout: 0x1: set, but cqe_comp_en is 0" },
	{ CTX, CX_cqc__mini_cqe_res_format, 3, CX_ST_BAD_PARAM,
	  "cqc.mini_cqe_res_format: 0x3" },
	{ CTX, CX_cqc__mini_cqe_res_format_ext, 1, CX_ST_BAD_PARAM,
	  "cqc.mini_cqe_res_format_ext: 0x1" },
	{ CTX, CX_cqc__uar_page, 0xfff, CX_ST_BAD_RES,
	  "cqc.uar_page: there is no UAR 0xfff" },
	{ CTX, CX_cqc__c_eqn, 0xff, CX_ST_BAD_RES, "cqc.c_eqn: there is no EQ 0xff" },
	{ CTX, CX_cqc__c_eqn, 0, CX_ST_BAD_RES, "cqc.c_eqn: there is no EQ 0x0" },
	{ CTX, CX_cqc__dbr_umem_valid, 0, CX_ST_BAD_PARAM, "cqc.dbr_umem_valid: 0" },
	{ CTX, CX_cqc__dbr_umem_id, 0xffff, CX_ST_BAD_RES,
	  "cqc.dbr_umem_id: there is no UMEM" },
	{ CTX, CX_cqc__dbr_addr, 65536 - 4, CX_ST_BAD_PARAM,
	  "cqc.dbr_addr: 0xfffc and 8 bytes" },
	{ CTX, CX_cqc__dbr_addr, UINT64_MAX, CX_ST_BAD_PARAM,
	  "cqc.dbr_addr: 0xffffffffffffffff" },
	{ CTX, CX_cqc__dbr_addr, 0x44, CX_ST_BAD_PARAM,
	  "cqc.dbr_addr: 0x44 is not aligned to 8" },
	{ 0, CX_create_cq_in__cq_umem_valid, 0, CX_ST_BAD_PARAM,
	  "create_cq_in.cq_umem_valid: 0" },
	{ 0, CX_create_cq_in__cq_umem_id, 0xffff, CX_ST_BAD_RES,
	  "create_cq_in.cq_umem_id: there is no UMEM 0xffff" },
	{ 0, CX_create_cq_in__cq_umem_offset, 0x1020, CX_ST_BAD_PARAM,
	  "create_cq_in.cq_umem_offset: 0x1020 is not aligned to 64" },
	{ 0, CX_create_cq_in__cq_umem_offset, 65536 - 960, CX_ST_BAD_PARAM,
	  "create_cq_in.cq_umem_offset: 0xfc40 and 1024 bytes" },
	{ 0, CX_create_cq_in__cq_umem_offset, UINT64_MAX - 63, CX_ST_BAD_PARAM,
	  "create_cq_in.cq_umem_offset: " },
	{ 0 },
};

static void test_each_refusal_of_create(void **state)
{
	struct rig *r = rig_open(NULL);

	(void)state;
	rig_refusals(r, D_CREATE_CQ, create_rows);
	rig_close(r);
}

static void test_refusals_of_compression(void **state)
{
	struct rig *r = rig_open(NULL);
	struct mailbox m;

	(void)state;
	rig_build(r, D_CREATE_CQ, &m);
	CX_SET(cqc, m.in + CTX, cqe_comp_en, 1);
	CX_SET(cqc, m.in + CTX, cqe_comp_layout, 2);
	rig_refuse(r, &m, CX_ST_BAD_PARAM, "cqc.cqe_comp_layout: 2 is not known");
	CX_SET(cqc, m.in + CTX, cqe_comp_layout, 0);
	CX_SET(cqc, m.in + CTX, mini_cqe_res_format_ext, 2);
	rig_refuse(r, &m, CX_ST_BAD_PARAM,
		   "cqc.mini_cqe_res_format_ext: 2 with format 0");
	CX_SET(cqc, m.in + CTX, mini_cqe_res_format_ext, 1);
	CX_SET(cqc, m.in + CTX, mini_cqe_res_format, 1);
	rig_refuse(r, &m, CX_ST_BAD_PARAM,
		   "cqc.mini_cqe_res_format_ext: 1 with format 1");
	CX_SET(cqc, m.in + CTX, mini_cqe_res_format_ext, 0);
	CX_SET(cqc, m.in + CTX, cqe_sz, 1);
	rig_refuse(r, &m, CX_ST_BAD_PARAM, "cqc.cqe_comp_en: with 128-byte entries");
	rig_close(r);
}

/* The device writes completions: memory that it may not write to is refused. The record it
 * only reads. */
static void test_memory_without_local_write(void **state)
{
	struct rig *r = rig_open(NULL);
	struct mailbox m;

	(void)state;
	rig_build(r, D_CREATE_CQ, &m);
	CX_SET(create_cq_in, m.in, cq_umem_id, r->read_only.num);
	rig_refuse(r, &m, CX_ST_BAD_PARAM, "create_cq_in.cq_umem_id: UMEM 0x");
	d_assert_log(r->d, "is registered without local write");
	rig_build(r, D_CREATE_CQ, &m);
	CX_SET(cqc, m.in + CTX, dbr_umem_id, r->read_only.num);
	make(r, &m);
	rig_close(r);
}

static void test_page_list(void **state)
{
	struct rig *r = rig_open(NULL);
	struct mailbox m;

	(void)state;
	rig_build(r, D_CREATE_CQ, &m);
	m.in_len += 16;
	make(r, &m); /* nothing in it */
	rig_build(r, D_CREATE_CQ, &m);
	m.in_len += 16;
	m.in[CX_BYTES(create_cq_in) + 12] = 0x10;
	rig_refuse(r, &m, CX_ST_BAD_PARAM, "create_cq_in.pas: byte 12");
	rig_close(r);
}

/* Everything that the mailbox names, from another program. */
static void test_foreign_objects(void **state)
{
	static const struct {
		uint32_t byte;
		cx_field field;
		const char *log;
	} rows[] = {
		{ CTX, CX_cqc__uar_page, "cqc.uar_page: UAR 0x" },
		{ CTX, CX_cqc__dbr_umem_id, "cqc.dbr_umem_id: UMEM 0x" },
		{ 0, CX_create_cq_in__cq_umem_id, "create_cq_in.cq_umem_id: UMEM 0x" },
	};
	struct rig *r = rig_open(NULL);
	uint16_t uid = r->d->uid;
	struct mailbox m;

	(void)state;
	r->d->uid = r->other;
	uint32_t uar = d_uar(r->d)->num, umem = d_umem(r->d, 65536).num;

	r->d->uid = uid;
	for (size_t i = 0; i < 3; i++) {
		rig_build(r, D_CREATE_CQ, &m);
		cx_set(m.in + rows[i].byte, rows[i].field, i ? umem : uar);
		rig_refuse(r, &m, CX_ST_BAD_RES, rows[i].log);
		d_assert_log(r->d, "belongs to uid ");
	}
	rig_close(r);
}

/* ---- MODIFY_CQ ---- */

static void test_modify(void **state)
{
	struct rig *r = rig_open(NULL);
	struct cx_cq *cq = cq_of(r, r->cq->num);
	uint8_t ctx[CX_BYTES(cqc)];
	struct mailbox m;

	(void)state;
	rig_build(r, D_MODIFY_CQ, &m);
	CX_SET(modify_cq_in, m.in, cq_umem_valid, 1); /* as devx.c of the kernel */
	d_assert_ok(r->d, rig_cmd(r, &m));
	assert_int_equal(cq->period, 16);
	assert_int_equal(cq->max_count, 32);
	rig_build(r, D_MODIFY_CQ, &m);
	memset(m.in + CTX, 0, CX_BYTES(cqc));
	CX_SET(modify_cq_in, m.in, modify_field_select, 4);
	CX_SET(cqc, m.in + CTX, oi, 1);
	d_assert_ok(r->d, rig_cmd(r, &m));
	assert_true(cq->overrun_ignore);
	assert_int_equal(cq->period, 16); /* not selected: as before */
	query(r, cq->obj.num, ctx);
	assert_int_equal(CX_GET(cqc, ctx, oi), 1);
	assert_int_equal(CX_GET(cqc, ctx, cq_max_count), 32);
	rig_close(r);
}

static const struct refusal modify_rows[] = {
	{ 0, CX_modify_cq_in__op_mod, 1, CX_ST_BAD_PARAM,
	  "op_mod: resize, but capability hca.cq_resize is 0" },
	{ 0, CX_modify_cq_in__modify_field_select, 0, CX_ST_BAD_PARAM,
	  "modify_cq_in.modify_field_select: 0x0 selects nothing" },
	{ 0, CX_modify_cq_in__modify_field_select, 0x13, CX_ST_BAD_PARAM,
	  "modify_cq_in.modify_field_select: 0x13 selects unknown fields" },
	{ 0, CX_modify_cq_in__modify_field_select, 1, CX_ST_BAD_PARAM,
	  "cqc.cq_max_count: 0x20, but the command does not select it" },
	{ CTX, CX_cqc__oi, 1, CX_ST_BAD_PARAM,
	  "cqc.oi: 0x1, but the command does not select it" },
	{ CTX, CX_cqc__log_cq_size, 5, CX_ST_BAD_PARAM, "cqc.log_cq_size: 0x5, but" },
	{ CTX, CX_cqc__dbr_addr, 8, CX_ST_BAD_PARAM, "cqc.dbr_addr: 0x8, but" },
	{ 0 },
};

static void test_each_refusal_of_modify(void **state)
{
	struct rig *r = rig_open(NULL);
	struct cx_cq *cq = cq_of(r, r->cq->num);

	(void)state;
	rig_refusals(r, D_MODIFY_CQ, modify_rows);
	assert_int_equal(cq->period, 0); /* nothing was taken over */
	assert_int_equal(cq->max_count, 0);
	rig_close(r);
}

/* ---- QUERY_CQ ---- */

static void test_query_of_a_queue_at_work(void **state)
{
	struct rig *r = rig_open(NULL);
	struct d_cq *cq = d_cq(r->d, &(struct d_cq_conf){ .log_size = 1 });
	struct d_sq *sq = d_sq(r->d, &(struct d_sq_conf){ .log_size = 4, .cq = cq });
	uint8_t ctx[CX_BYTES(cqc)], frame[60] = { 0 };

	(void)state;
	d_send(sq, frame, sizeof(frame));
	d_run(r->d);
	assert_non_null(d_cq_poll(cq));
	d_cq_arm(cq, false);
	d_run(r->d);
	query(r, cq->num, ctx);
	assert_int_equal(CX_GET(cqc, ctx, st), 9); /* armed */
	assert_int_equal(CX_GET(cqc, ctx, consumer_counter), 1);
	assert_int_equal(CX_GET(cqc, ctx, producer_counter), 1);
	d_cq_arm(cq, true);
	d_run(r->d);
	query(r, cq->num, ctx);
	assert_int_equal(CX_GET(cqc, ctx, st), 6); /* armed for solicited ones */
	for (int i = 0; i < 4; i++)
		d_send(sq, frame, sizeof(frame));
	d_run(r->d);
	query(r, cq->num, ctx);
	assert_int_equal(CX_GET(cqc, ctx, status), 9); /* overflow */
	rig_close(r);
}

/* ---- DESTROY_CQ ---- */

/* Syndrome: kernel logs, "DESTROY_CQ failed, bad resource state(0x9), syndrome (0x1870ad)". */
static void test_destroy_in_use(void **state)
{
	struct rig *r = rig_open(NULL);

	(void)state;
	assert_int_equal(d_simple(r->d, D_DESTROY_CQ, r->cq->num, NULL),
			 CX_ST_BAD_RES_STATE);
	assert_int_equal(r->d->syndrome, 0x1870ad);
	d_assert_log(r->d, "destroy_cq_in.cqn: CQ 0x");
	d_assert_log(r->d, "is in use (");
	assert_non_null(cq_of(r, r->cq->num));
	rig_close(r);
}

/* Nothing that it named stays in use. */
static void test_destroy_lets_go(void **state)
{
	struct rig *r = rig_open(NULL);
	struct cx_obj *umem = cx_obj_get(r->d->dev, CX_UMEM, r->umem.num, 0);
	struct cx_obj *uar = cx_obj_get(r->d->dev, CX_UAR, r->d->uar->num, 0);
	struct cx_obj *eq = cx_obj_get(r->d->dev, CX_EQ, r->d->eqn, 0);
	uint32_t refs[3] = { umem->refs, uar->refs, eq->refs };
	uint32_t cqn = rig_make(r, D_CREATE_CQ);

	(void)state;
	assert_int_equal(umem->refs, refs[0] + 2);
	assert_int_equal(uar->refs, refs[1] + 1);
	assert_int_equal(eq->refs, refs[2] + 1);
	assert_int_equal(d_simple(r->d, D_DESTROY_CQ, cqn, NULL), CX_ST_OK);
	assert_int_equal(umem->refs, refs[0]);
	assert_int_equal(uar->refs, refs[1]);
	assert_int_equal(eq->refs, refs[2]);
	assert_int_equal(d_simple(r->d, D_DESTROY_CQ, cqn, NULL), CX_ST_BAD_RES);
	rig_close(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_create_and_query),
		cmocka_unit_test(test_sizes),
		cmocka_unit_test(test_compression),
		cmocka_unit_test(test_smallest_queue_of_dpdk),
		cmocka_unit_test(test_every_event_queue),
		cmocka_unit_test(test_each_refusal_of_create),
		cmocka_unit_test(test_refusals_of_compression),
		cmocka_unit_test(test_memory_without_local_write),
		cmocka_unit_test(test_page_list),
		cmocka_unit_test(test_foreign_objects),
		cmocka_unit_test(test_modify),
		cmocka_unit_test(test_each_refusal_of_modify),
		cmocka_unit_test(test_query_of_a_queue_at_work),
		cmocka_unit_test(test_destroy_in_use),
		cmocka_unit_test(test_destroy_lets_go),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
