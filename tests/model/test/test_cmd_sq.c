/* test/test_cmd_sq.c - CREATE_SQ, MODIFY_SQ, QUERY_SQ, DESTROY_SQ field by field */
#include "cmd_rig.h"

#include <string.h>

#include "../core/dev.h"

enum { CTX = 0x20, WQ = CTX + 0x30 }; /* in the mailboxes */
enum { RST = 0, RDY = 1, ERR = 3 };

static struct cx_sq *sq_of(const struct rig *r, uint32_t sqn)
{
	return (struct cx_sq *)cx_obj_get(r->d->dev, CX_SQ, sqn, 0);
}

static struct cx_sq *make(struct rig *r, struct mailbox *m)
{
	d_assert_ok(r->d, rig_cmd(r, m));
	return sq_of(r, (uint32_t)CX_GET(create_sq_out, m->out, sqn));
}

static void query(struct rig *r, uint32_t sqn, uint8_t ctx[CX_BYTES(sqc)])
{
	uint8_t in[16] = { 0 }, out[CX_BYTES(query_sq_out)];

	CX_SET(query_sq_in, in, sqn, sqn);
	d_assert_ok(r->d, d_cmd(r->d, D_QUERY_SQ, in, sizeof(in), out, sizeof(out)));
	memcpy(ctx, CX_AT(query_sq_out, out, sq_context), CX_BYTES(sqc));
}

/* ---- what is accepted ---- */

static void test_create_and_query(void **state)
{
	struct rig *r = rig_open(NULL);
	uint8_t ctx[CX_BYTES(sqc)];
	struct mailbox m;
	struct cx_sq *sq;

	(void)state;
	rig_build(r, D_CREATE_SQ, &m);
	CX_SET(sqc, m.in + CTX, min_wqe_inline_mode, 3);
	CX_SET(sqc, m.in + CTX, ts_format, 2);
	CX_SET(wq, m.in + WQ, log_wq_pg_sz, 3);
	sq = make(r, &m);
	assert_int_equal(sq->state, CX_Q_RST);
	assert_int_equal(sq->min_inline, 3);
	assert_int_equal(sq->ts_format, 2);
	assert_int_equal(sq->user_index, 0x123456);
	assert_true(sq->flush_in_error && sq->allow_multi_pkt);
	assert_int_equal(sq->cq->obj.num, r->cq->num);
	assert_int_equal(sq->tis->obj.num, r->d->tisn);
	assert_int_equal(sq->uar->obj.num, r->d->uar->num);
	assert_int_equal(sq->wq.log_size, 4);
	assert_int_equal(sq->wq.pdn, r->d->pdn);
	assert_ptr_equal(sq->wq.ring, r->umem.p + 0x2000);
	assert_ptr_equal(sq->wq.dbrec, r->umem.p + 0x80);
	query(r, sq->obj.num, ctx);
	assert_memory_equal(ctx, m.in + CTX, sizeof(ctx));
	rig_close(r);
}

/* The other way of each flag, and memory that the device may only read: it writes nothing. */
static void test_create_without_flags(void **state)
{
	struct rig *r = rig_open(NULL);
	struct mailbox m;
	struct cx_sq *sq;

	(void)state;
	rig_build(r, D_CREATE_SQ, &m);
	CX_SET(sqc, m.in + CTX, flush_in_error_en, 0);
	CX_SET(sqc, m.in + CTX, allow_multi_pkt_send_wqe, 0);
	CX_SET(sqc, m.in + CTX, ts_format, 1);
	CX_SET(wq, m.in + WQ, wq_umem_id, r->read_only.num);
	CX_SET(wq, m.in + WQ, dbr_umem_id, r->read_only.num);
	CX_SET(wq, m.in + WQ, log_wq_sz, 0);
	sq = make(r, &m);
	assert_false(sq->flush_in_error || sq->allow_multi_pkt);
	assert_int_equal(sq->wq.log_size, 0);
	assert_ptr_equal(sq->wq.ring, r->read_only.p + 0x2000);
	rig_close(r);
}

/* ---- what is refused in CREATE_SQ ---- */

static const struct refusal create_rows[] = {
	{ CTX, CX_sqc__rlky, 1, CX_ST_BAD_PARAM, "sqc.rlky: " },
	{ CTX, CX_sqc__cd_master, 1, CX_ST_BAD_PARAM,
	  "sqc.cd_master: 0x1: capability hca.cd is 0" },
	{ CTX, CX_sqc__fre, 1, CX_ST_BAD_PARAM, "sqc.fre: " },
	{ CTX, CX_sqc__state, 1, CX_ST_BAD_PARAM,
	  "sqc.state: 0x1: a new queue is in RST" },
	{ CTX, CX_sqc__reg_umr, 1, CX_ST_BAD_PARAM, "sqc.reg_umr: " },
	{ CTX, CX_sqc__allow_swp, 1, CX_ST_BAD_PARAM,
	  "sqc.allow_swp: set, but capability eth.swp" },
	{ CTX, CX_sqc__hairpin, 1, CX_ST_BAD_PARAM, "sqc.hairpin: " },
	{ CTX, CX_sqc__non_wire, 1, CX_ST_BAD_PARAM, "sqc.non_wire: " },
	{ CTX, CX_sqc__static_sq_wq, 1, CX_ST_BAD_PARAM, "sqc.static_sq_wq: " },
	{ CTX, CX_sqc__packet_pacing_rate_limit_index, 1, CX_ST_BAD_PARAM,
	  "sqc.packet_pacing_rate_limit_index: 0x1: capability qos.packet_pacing is 0" },
	{ CTX, CX_sqc__min_wqe_inline_mode, 4, CX_ST_BAD_PARAM,
	  "sqc.min_wqe_inline_mode: 4 is not in 0 .. 3" },
	{ CTX, CX_sqc__ts_format, 3, CX_ST_BAD_PARAM, "sqc.ts_format: 3 is not known" },
	{ CTX, CX_sqc__cqn, 0xfff, CX_ST_BAD_RES, "sqc.cqn: there is no CQ 0xfff" },
	{ CTX, CX_sqc__tis_lst_sz, 0, CX_ST_BAD_PARAM, "sqc.tis_lst_sz: 0, must be 1" },
	{ CTX, CX_sqc__tis_lst_sz, 2, CX_ST_BAD_PARAM, "sqc.tis_lst_sz: 2, must be 1" },
	{ CTX, CX_sqc__tis_num_0, 0xfff, CX_ST_BAD_RES,
	  "sqc.tis_num_0: there is no TIS 0xfff" },
	{ WQ, CX_wq__uar_page, 0xfff, CX_ST_BAD_RES,
	  "wq.uar_page: there is no UAR 0xfff" },
	{ WQ, CX_wq__pd, 0xfff, CX_ST_BAD_RES, "wq.pd: there is no PD 0xfff" },
	{ WQ, CX_wq__wq_type, 0, CX_ST_BAD_PARAM, "wq.wq_type: 0: linked lists" },
	{ WQ, CX_wq__wq_type, 2, CX_ST_BAD_PARAM, "wq.wq_type: 2: linked lists" },
	{ WQ, CX_wq__wq_type, 3, CX_ST_BAD_PARAM,
	  "wq.wq_type: 3 is not known in a send queue" },
	{ WQ, CX_wq__wq_type, 4, CX_ST_BAD_PARAM, "wq.wq_type: 4 is not known" },
	{ WQ, CX_wq__wq_signature, 1, CX_ST_BAD_PARAM, "wq.wq_signature: " },
	{ WQ, CX_wq__cd_slave, 1, CX_ST_BAD_PARAM, "wq.cd_slave: " },
	{ WQ, CX_wq__hds_skip_first_sge, 1, CX_ST_BAD_PARAM, "wq.hds_skip_first_sge: " },
	{ WQ, CX_wq__log2_hds_buf_size, 1, CX_ST_BAD_PARAM, "wq.log2_hds_buf_size: " },
	{ WQ, CX_wq__page_offset, 1, CX_ST_BAD_PARAM, "wq.page_offset: " },
	{ WQ, CX_wq__lwm, 1, CX_ST_BAD_PARAM, "wq.lwm: " },
	{ WQ, CX_wq__hw_counter, 1, CX_ST_BAD_PARAM, "wq.hw_counter: " },
	{ WQ, CX_wq__sw_counter, 1, CX_ST_BAD_PARAM, "wq.sw_counter: " },
	{ WQ, CX_wq__end_padding_mode, 1, CX_ST_BAD_PARAM,
	  "wq.end_padding_mode: 0x1: receive" },
	{ WQ, CX_wq__log_wqe_num_of_strides, 1, CX_ST_BAD_PARAM,
	  "wq.log_wqe_num_of_strides: " },
	{ WQ, CX_wq__two_byte_shift_en, 1, CX_ST_BAD_PARAM, "wq.two_byte_shift_en: " },
	{ WQ, CX_wq__log_wqe_stride_size, 1, CX_ST_BAD_PARAM,
	  "wq.log_wqe_stride_size: " },
	{ WQ, CX_wq__log_wq_stride, 5, CX_ST_BAD_PARAM,
	  "wq.log_wq_stride: 5 is not in 6 .. 6" },
	{ WQ, CX_wq__log_wq_stride, 7, CX_ST_BAD_PARAM,
	  "wq.log_wq_stride: 7 is not in 6 .. 6" },
	{ WQ, CX_wq__log_wq_sz, 16, CX_ST_BAD_PARAM,
	  "wq.log_wq_sz: 16 is over the limit of 15" },
	{ WQ, CX_wq__log_wq_sz, 10, CX_ST_BAD_PARAM,
	  "wq.wq_umem_offset: 0x2000 and 65536 bytes from there are not in UMEM" },
	{ WQ, CX_wq__wq_umem_valid, 0, CX_ST_BAD_PARAM, "wq.wq_umem_valid: 0" },
	{ WQ, CX_wq__dbr_umem_valid, 0, CX_ST_BAD_PARAM, "wq.dbr_umem_valid: 0" },
	{ WQ, CX_wq__wq_umem_id, 0xffff, CX_ST_BAD_RES,
	  "wq.wq_umem_id: there is no UMEM 0xffff" },
	{ WQ, CX_wq__dbr_umem_id, 0xffff, CX_ST_BAD_RES,
	  "wq.dbr_umem_id: there is no UMEM" },
	{ WQ, CX_wq__wq_umem_offset, 0x2010, CX_ST_BAD_PARAM,
	  "wq.wq_umem_offset: 0x2010 is not aligned to 64" },
	{ WQ, CX_wq__wq_umem_offset, 65536, CX_ST_BAD_PARAM,
	  "wq.wq_umem_offset: 0x10000" },
	{ WQ, CX_wq__dbr_addr, 0x84, CX_ST_BAD_PARAM,
	  "wq.dbr_addr: 0x84 is not aligned to 8" },
	{ WQ, CX_wq__dbr_addr, 65536 - 4, CX_ST_BAD_PARAM, "wq.dbr_addr: 0xfffc" },
	{ 0 },
};

static void test_each_refusal_of_create(void **state)
{
	struct rig *r = rig_open(NULL);

	(void)state;
	rig_refusals(r, D_CREATE_SQ, create_rows);
	rig_close(r);
}

/* A program that may not send raw packets: the kernel made its context so. */
static void test_context_without_raw_transmit(void **state)
{
	struct rig *r = rig_open(NULL);
	struct cx_obj *uctx = cx_obj_get(r->d->dev, CX_UCTX, r->d->uid, 0);
	struct mailbox m;

	(void)state;
	((struct cx_uctx *)uctx)->cap = 2;
	rig_build(r, D_CREATE_SQ, &m);
	rig_refuse(r, &m, CX_ST_BAD_PARAM,
		   "uid: context without the right of raw transmit");
	r->d->uid = 0; /* the kernel may */
	cx_put_be16(m.in + 2, 0);
	make(r, &m);
	rig_close(r);
}

static void test_page_list(void **state)
{
	struct rig *r = rig_open(NULL);
	struct mailbox m;

	(void)state;
	rig_build(r, D_CREATE_SQ, &m);
	m.in_len += 8;
	m.in[CX_BYTES(create_sq_in) + 4] = 0x10;
	rig_refuse(r, &m, CX_ST_BAD_PARAM, "create_sq_in.wq_pas: byte 4");
	rig_close(r);
}

/* ---- MODIFY_SQ ---- */

static enum cx_status modify(struct rig *r, uint32_t from, uint32_t to)
{
	struct mailbox m;

	rig_build(r, D_MODIFY_SQ, &m);
	CX_SET(modify_sq_in, m.in, sq_state, from);
	CX_SET(sqc, m.in + CTX, state, to);
	return rig_cmd(r, &m);
}

/* Every pair of states: what drivers do, and nothing else. */
static void test_each_transition(void **state)
{
	static const bool legal[4][4] = {
		[RST] = { [RST] = true, [RDY] = true, [ERR] = true },
		[RDY] = { [RST] = true, [RDY] = true, [ERR] = true },
		[ERR] = { [RST] = true, [ERR] = true },
	};
	static const uint8_t states[] = { RST, RDY, ERR };
	struct rig *r = rig_open(NULL);
	struct cx_sq *sq = sq_of(r, r->sq->num);

	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		for (unsigned j = 0; j < 3; j++) {
			uint8_t from = states[i], to = states[j];
			enum cx_status st;

			sq->state = (enum cx_q_state)from;
			st = modify(r, from, to);
			assert_int_equal(st, legal[from][to] ? CX_ST_OK
							     : CX_ST_BAD_RES_STATE);
			assert_int_equal(sq->state, legal[from][to] ? to : from);
		}
	}
	d_assert_log(r->d, "sqc.state: no way from ERR to RDY");
	rig_close(r);
}

static void test_wrong_states(void **state)
{
	struct rig *r = rig_open(NULL);

	(void)state;
	assert_int_equal(modify(r, RDY, ERR), CX_ST_BAD_RES_STATE);
	d_assert_log(r->d, "modify_sq_in.sq_state: RDY, but the queue is in RST");
	assert_int_equal(modify(r, ERR, RST), CX_ST_BAD_RES_STATE);
	assert_int_equal(modify(r, RST, 2), CX_ST_BAD_PARAM);
	d_assert_log(r->d, "sqc.state: 2 is no state");
	assert_int_equal(modify(r, RST, 9), CX_ST_BAD_PARAM);
	assert_int_equal(modify(r, 2, RDY), CX_ST_BAD_RES_STATE);
	assert_int_equal(sq_of(r, r->sq->num)->state, CX_Q_RST);
	rig_close(r);
}

static const struct refusal modify_rows[] = {
	{ 0, CX_modify_sq_in__modify_bitmask, 1, CX_ST_BAD_PARAM,
	  "modify_sq_in.modify_bitmask: 0x1: capability qos.packet_pacing is 0" },
	{ 0, CX_modify_sq_in__modify_bitmask, 4, CX_ST_BAD_PARAM,
	  "modify_sq_in.modify_bitmask: 0x4: not known" },
	{ CTX, CX_sqc__cqn, 1, CX_ST_BAD_PARAM,
	  "sqc.cqn: 0x1, but the command does not select it" },
	{ WQ, CX_wq__pd, 1, CX_ST_BAD_PARAM,
	  "wq.pd: 0x1, but the command does not select it" },
	{ 0 },
};

static void test_each_refusal_of_modify(void **state)
{
	struct rig *r = rig_open(NULL);

	(void)state;
	rig_refusals(r, D_MODIFY_SQ, modify_rows);
	rig_close(r);
}

/* RDY to ERR flushes what is posted; ERR to RST to RDY starts over at index 0, as a driver's
 * recovery does (DPDK mlx5_txq_devx_modify, ERR2RDY). */
static void test_error_and_recovery(void **state)
{
	struct rig *r = rig_open(NULL);
	struct d_cq *cq = d_cq(r->d, &(struct d_cq_conf){ .log_size = 4 });
	struct d_sq *sq = d_sq(r->d, &(struct d_sq_conf){ .log_size = 4, .cq = cq });
	uint8_t frame[60] = { 0 }, ctx[CX_BYTES(sqc)];
	const uint8_t *cqe;
	struct d_wqe w;

	(void)state;
	d_send(sq, frame, sizeof(frame));
	d_run(r->d);
	assert_non_null(d_cq_poll(cq));
	query(r, sq->num, ctx);
	assert_int_equal(CX_GET(sqc, ctx, state), RDY);
	assert_int_equal(CX_GET(wq, CX_AT(sqc, ctx, wq), hw_counter), 1);
	assert_int_equal(CX_GET(wq, CX_AT(sqc, ctx, wq), sw_counter), 1);
	w = d_wqe(sq, D_NOP_WQE, D_CE_ALWAYS);
	d_sq_put(sq, &w); /* in the record, but no doorbell */
	d_sq_record(sq);
	d_assert_ok(r->d, d_sq_state(sq, RDY, ERR));
	cqe = d_cq_poll(cq);
	assert_non_null(cqe);
	assert_int_equal(cqe[63] >> 4, 13);
	assert_int_equal(cqe[55], 0x05); /* flushed */
	assert_int_equal(r->d->wire.n, 1);
	d_assert_ok(r->d, d_sq_state(sq, ERR, RST));
	query(r, sq->num, ctx);
	assert_int_equal(CX_GET(wq, CX_AT(sqc, ctx, wq), hw_counter), 0);
	sq->pi = 0;
	d_sq_record(sq);
	d_assert_ok(r->d, d_sq_state(sq, RST, RDY));
	d_send(sq, frame, sizeof(frame));
	d_run(r->d);
	assert_int_equal(r->d->wire.n, 2);
	rig_close(r);
}

/* ---- DESTROY_SQ ---- */

static void test_destroy_lets_go(void **state)
{
	struct rig *r = rig_open(NULL);
	static const enum cx_obj_type types[] = { CX_CQ, CX_TIS, CX_UAR, CX_PD, CX_UMEM };
	uint32_t nums[] = { r->cq->num, r->d->tisn, r->d->uar->num, r->d->pdn,
			    r->umem.num };
	static const uint32_t uses[] = { 1, 1, 1, 1, 2 };
	uint32_t before[5], sqn;

	(void)state;
	for (int i = 0; i < 5; i++)
		before[i] = cx_obj_get(r->d->dev, types[i], nums[i], 0)->refs;
	sqn = rig_make(r, D_CREATE_SQ);
	for (int i = 0; i < 5; i++)
		assert_int_equal(cx_obj_get(r->d->dev, types[i], nums[i], 0)->refs,
				 before[i] + uses[i]);
	assert_int_equal(d_simple(r->d, D_DESTROY_SQ, sqn, NULL), CX_ST_OK);
	for (int i = 0; i < 5; i++)
		assert_int_equal(cx_obj_get(r->d->dev, types[i], nums[i], 0)->refs,
				 before[i]);
	assert_int_equal(d_simple(r->d, D_DESTROY_SQ, sqn, NULL), CX_ST_BAD_RES);
	/* a number of the same space, but of another type */
	assert_int_equal(d_simple(r->d, D_DESTROY_SQ, r->rq->num, NULL), CX_ST_BAD_RES);
	rig_close(r);
}

/* A queue with work on its way is gone, and so are its doorbells. */
static void test_destroy_at_work(void **state)
{
	struct rig *r = rig_open(NULL);
	struct d_sq *sq = d_sq(r->d, &(struct d_sq_conf){ .log_size = 4, .cq = r->cq });
	uint8_t frame[60] = { 0 };

	(void)state;
	d_send(sq, frame, sizeof(frame));
	d_assert_ok(r->d, d_simple(r->d, D_DESTROY_SQ, sq->num, NULL));
	d_run(r->d);
	assert_int_equal(r->d->wire.n, 0);
	rig_close(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_create_and_query),
		cmocka_unit_test(test_create_without_flags),
		cmocka_unit_test(test_each_refusal_of_create),
		cmocka_unit_test(test_context_without_raw_transmit),
		cmocka_unit_test(test_page_list),
		cmocka_unit_test(test_each_transition),
		cmocka_unit_test(test_wrong_states),
		cmocka_unit_test(test_each_refusal_of_modify),
		cmocka_unit_test(test_error_and_recovery),
		cmocka_unit_test(test_destroy_lets_go),
		cmocka_unit_test(test_destroy_at_work),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
