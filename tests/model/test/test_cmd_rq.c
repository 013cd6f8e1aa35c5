/* test/test_cmd_rq.c - receive queues and shared receive memory, field by field */
#include "cmd_rig.h"

#include <string.h>

#include "../core/dev.h"

enum { CTX = 0x20, WQ = CTX + 0x30 }; /* in the mailboxes */
enum { RST = 0, RDY = 1, ERR = 3 };

static struct cx_rq *rq_of(const struct rig *r, uint32_t rqn)
{
	return (struct cx_rq *)cx_obj_get(r->d->dev, CX_RQ, rqn, 0);
}

static struct cx_rmp *rmp_of(const struct rig *r, uint32_t rmpn)
{
	return (struct cx_rmp *)cx_obj_get(r->d->dev, CX_RMP, rmpn, 0);
}

static struct cx_rq *make(struct rig *r, struct mailbox *m)
{
	d_assert_ok(r->d, rig_cmd(r, m));
	return rq_of(r, (uint32_t)CX_GET(create_rq_out, m->out, rqn));
}

static void query(struct rig *r, uint32_t rqn, uint8_t ctx[CX_BYTES(rqc)])
{
	uint8_t in[16] = { 0 }, out[CX_BYTES(query_rq_out)];

	CX_SET(query_rq_in, in, rqn, rqn);
	d_assert_ok(r->d, d_cmd(r->d, D_QUERY_RQ, in, sizeof(in), out, sizeof(out)));
	memcpy(ctx, CX_AT(query_rq_out, out, rq_context), CX_BYTES(rqc));
}

static void striding(uint8_t *wq, uint8_t log_strides, uint8_t log_bytes)
{
	CX_SET(wq, wq, wq_type, 3);
	CX_SET(wq, wq, log_wq_stride, 5);
	CX_SET(wq, wq, log_wqe_num_of_strides, (log_strides - 9) & 0xf);
	CX_SET(wq, wq, log_wqe_stride_size, log_bytes - 6);
}

/* ---- what is accepted ---- */

static void test_create_and_query(void **state)
{
	struct rig *r = rig_open(NULL);
	uint8_t ctx[CX_BYTES(rqc)];
	struct mailbox m;
	struct cx_rq *rq;

	(void)state;
	rig_build(r, D_CREATE_RQ, &m);
	CX_SET(rqc, m.in + CTX, scatter_fcs, 1);
	CX_SET(rqc, m.in + CTX, ts_format, 1);
	CX_SET(wq, m.in + WQ, end_padding_mode, 1);
	CX_SET(wq, m.in + WQ, log_wq_stride, 9);
	rq = make(r, &m);
	assert_int_equal(rq->state, CX_Q_RST);
	assert_true(rq->vsd && rq->flush_in_error && rq->scatter_fcs);
	assert_int_equal(rq->ts_format, 1);
	assert_int_equal(rq->user_index, 0x654321);
	assert_int_equal(rq->cq->obj.num, r->cq->num);
	assert_int_equal(rq->counter->obj.num, r->q_counter);
	assert_null(rq->rmp);
	assert_int_equal(rq->wq.type, CX_WQ_CYCLIC);
	assert_int_equal(rq->wq.log_stride, 9);
	assert_ptr_equal(rq->wq.ring, r->umem.p + 0x2000);
	assert_ptr_equal(rq->wq.dbrec, r->umem.p + 0x80);
	query(r, rq->obj.num, ctx);
	assert_memory_equal(ctx, m.in + CTX, sizeof(ctx));
	rig_close(r);
}

static void test_create_without_flags(void **state)
{
	struct rig *r = rig_open(NULL);
	struct mailbox m;
	struct cx_rq *rq;

	(void)state;
	rig_build(r, D_CREATE_RQ, &m);
	CX_SET(rqc, m.in + CTX, vsd, 0);
	CX_SET(rqc, m.in + CTX, flush_in_error_en, 0);
	CX_SET(rqc, m.in + CTX, counter_set_id, 0);
	CX_SET(rqc, m.in + CTX, ts_format, 2);
	CX_SET(wq, m.in + WQ, wq_umem_id, r->read_only.num);
	CX_SET(wq, m.in + WQ, dbr_umem_id, r->read_only.num);
	rq = make(r, &m);
	assert_false(rq->vsd || rq->flush_in_error || rq->scatter_fcs);
	assert_null(rq->counter);
	rig_close(r);
}

/* DPDK's drop queue: one entry of 16 bytes, its record right behind. */
static void test_smallest_queue_of_dpdk(void **state)
{
	struct rig *r = rig_open(NULL);
	struct d_umem umem = d_umem(r->d, 24);
	struct mailbox m;

	(void)state;
	rig_build(r, D_CREATE_RQ, &m);
	CX_SET(wq, m.in + WQ, log_wq_sz, 0);
	CX_SET(wq, m.in + WQ, wq_umem_id, umem.num);
	CX_SET(wq, m.in + WQ, wq_umem_offset, 0);
	CX_SET(wq, m.in + WQ, dbr_umem_id, umem.num);
	CX_SET(wq, m.in + WQ, dbr_addr, 16);
	make(r, &m);
	rig_close(r);
}

/* All strides that fit the least WQE of 2^14 bytes; numbers below 512 are negative. */
static void test_every_stride(void **state)
{
	struct rig *r = rig_open(NULL);
	unsigned made = 0, refused = 0;
	struct mailbox m;

	(void)state;
	for (uint8_t n = 3; n <= 16; n++) {
		for (uint8_t bytes = 6; bytes <= 13; bytes++) {
			struct cx_rq *rq;

			rig_build(r, D_CREATE_RQ, &m);
			striding(m.in + WQ, n, bytes);
			CX_SET(wq, m.in + WQ, two_byte_shift_en, n & 1);
			if (n + bytes < 14) {
				rig_refuse(r, &m, CX_ST_BAD_PARAM,
					   "wq.log_wqe_num_of_strides: 2^");
				d_assert_log(r->d, "are less than 2^14 in one WQE");
				refused++;
				continue;
			}
			rq = make(r, &m);
			assert_int_equal(rq->wq.type, CX_WQ_CYCLIC_STRIDING);
			assert_int_equal(rq->wq.log_strides, n);
			assert_int_equal(rq->wq.log_stride_bytes, bytes);
			assert_int_equal(rq->wq.two_byte_shift, n & 1);
			made++;
		}
	}
	assert_int_equal(made + refused, 14 * 8);
	assert_int_equal(refused, 5 + 4 + 3 + 2 + 1);
	rig_close(r);
}

/* ---- what is refused in CREATE_RQ ---- */

static const struct refusal create_rows[] = {
	{ CTX, CX_rqc__rlky, 1, CX_ST_BAD_PARAM, "rqc.rlky: " },
	{ CTX, CX_rqc__delay_drop_en, 1, CX_ST_BAD_PARAM,
	  "rqc.delay_drop_en: set, but capability hca.rq_delay_drop is 0" },
	{ CTX, CX_rqc__state, 1, CX_ST_BAD_PARAM,
	  "rqc.state: 0x1: a new queue is in RST" },
	{ CTX, CX_rqc__hairpin, 1, CX_ST_BAD_PARAM, "rqc.hairpin: " },
	{ CTX, CX_rqc__ts_format, 3, CX_ST_BAD_PARAM, "rqc.ts_format: 3 is not known" },
	{ CTX, CX_rqc__cqn, 0xfff, CX_ST_BAD_RES, "rqc.cqn: there is no CQ 0xfff" },
	{ CTX, CX_rqc__counter_set_id, 0xfe, CX_ST_BAD_RES,
	  "rqc.counter_set_id: there is no QCOUNTER 0xfe" },
	{ CTX, CX_rqc__mem_rq_type, 2, CX_ST_BAD_PARAM,
	  "rqc.mem_rq_type: 2 is not known" },
	{ CTX, CX_rqc__mem_rq_type, 1, CX_ST_BAD_RES, "rqc.rmpn: there is no RMP 0x0" },
	{ CTX, CX_rqc__rmpn, 7, CX_ST_BAD_PARAM,
	  "rqc.rmpn: 0x7, but the queue has a ring" },
	{ WQ, CX_wq__uar_page, 1, CX_ST_BAD_PARAM, "wq.uar_page: 0x1: send queues only" },
	{ WQ, CX_wq__pd, 0xfff, CX_ST_BAD_RES, "wq.pd: there is no PD 0xfff" },
	{ WQ, CX_wq__wq_type, 0, CX_ST_BAD_PARAM, "wq.wq_type: 0: linked lists" },
	{ WQ, CX_wq__wq_type, 2, CX_ST_BAD_PARAM, "wq.wq_type: 2: linked lists" },
	{ WQ, CX_wq__wq_type, 5, CX_ST_BAD_PARAM, "wq.wq_type: 5 is not known" },
	{ WQ, CX_wq__wq_type, 3, CX_ST_BAD_PARAM,
	  "wq.log_wq_stride: 4 is not in 5 .. 13" },
	{ WQ, CX_wq__wq_signature, 1, CX_ST_BAD_PARAM, "wq.wq_signature: " },
	{ WQ, CX_wq__lwm, 1, CX_ST_BAD_PARAM, "wq.lwm: " },
	{ WQ, CX_wq__page_offset, 1, CX_ST_BAD_PARAM, "wq.page_offset: " },
	{ WQ, CX_wq__end_padding_mode, 2, CX_ST_BAD_PARAM,
	  "wq.end_padding_mode: 2 is not known" },
	{ WQ, CX_wq__log_wqe_num_of_strides, 1, CX_ST_BAD_PARAM,
	  "wq.log_wqe_num_of_strides: 0x1: the queue is not striding" },
	{ WQ, CX_wq__two_byte_shift_en, 1, CX_ST_BAD_PARAM, "wq.two_byte_shift_en: " },
	{ WQ, CX_wq__log_wqe_stride_size, 1, CX_ST_BAD_PARAM,
	  "wq.log_wqe_stride_size: " },
	{ WQ, CX_wq__log_wq_stride, 3, CX_ST_BAD_PARAM,
	  "wq.log_wq_stride: 3 is not in 4 .. 13" },
	{ WQ, CX_wq__log_wq_stride, 10, CX_ST_BAD_PARAM,
	  "wq.log_wq_stride: 10: WQEs of more than 512 bytes" },
	{ WQ, CX_wq__log_wq_sz, 16, CX_ST_BAD_PARAM,
	  "wq.log_wq_sz: 16 is over the limit of 15" },
	{ WQ, CX_wq__log_wq_sz, 12, CX_ST_BAD_PARAM,
	  "wq.wq_umem_offset: 0x2000 and 65536 bytes" },
	{ WQ, CX_wq__wq_umem_valid, 0, CX_ST_BAD_PARAM, "wq.wq_umem_valid: 0" },
	{ WQ, CX_wq__dbr_umem_valid, 0, CX_ST_BAD_PARAM, "wq.dbr_umem_valid: 0" },
	{ WQ, CX_wq__wq_umem_offset, 0x2020, CX_ST_BAD_PARAM,
	  "wq.wq_umem_offset: 0x2020 is not aligned to 64" },
	{ WQ, CX_wq__dbr_addr, 0x82, CX_ST_BAD_PARAM,
	  "wq.dbr_addr: 0x82 is not aligned to 8" },
	{ 0 },
};

static void test_each_refusal_of_create(void **state)
{
	struct rig *r = rig_open(NULL);

	(void)state;
	rig_refusals(r, D_CREATE_RQ, create_rows);
	rig_close(r);
}

/* -7 and -8 of the signed four bits: 4 and 2 strides; the drivers' least is 8. */
static void test_too_few_strides(void **state)
{
	struct rig *r = rig_open(NULL);
	struct mailbox m;

	(void)state;
	for (uint8_t field = 8; field <= 9; field++) {
		rig_build(r, D_CREATE_RQ, &m);
		striding(m.in + WQ, 9, 13);
		CX_SET(wq, m.in + WQ, log_wqe_num_of_strides, field);
		rig_refuse(r, &m, CX_ST_BAD_PARAM, "strides, not in 2^3 .. 2^16");
	}
	rig_close(r);
}

static void test_page_list(void **state)
{
	struct rig *r = rig_open(NULL);
	struct mailbox m;

	(void)state;
	rig_build(r, D_CREATE_RQ, &m);
	m.in_len += 8;
	m.in[CX_BYTES(create_rq_in)] = 1;
	rig_refuse(r, &m, CX_ST_BAD_PARAM, "create_rq_in.wq_pas: byte 0");
	rig_close(r);
}

/* ---- on shared memory ---- */

/* As DPDK's shared Rx queues; devx.c of the kernel sets the two valid bits. */
static void test_queue_on_shared_memory(void **state)
{
	struct rig *r = rig_open(NULL);
	struct mailbox m;
	struct cx_rq *rq;

	(void)state;
	rig_build(r, D_CREATE_RQ, &m);
	CX_SET(rqc, m.in + CTX, mem_rq_type, 1);
	CX_SET(rqc, m.in + CTX, rmpn, r->rmpn);
	rig_refuse(r, &m, CX_ST_BAD_PARAM, "but the command does not select it");
	memset(m.in + WQ, 0, CX_BYTES(wq));
	CX_SET(wq, m.in + WQ, wq_umem_valid, 1);
	CX_SET(wq, m.in + WQ, dbr_umem_valid, 1);
	rq = make(r, &m);
	assert_int_equal(rq->rmp->obj.num, r->rmpn);
	assert_int_equal(d_simple(r->d, D_DESTROY_RMP, r->rmpn, NULL),
			 CX_ST_BAD_RES_STATE);
	d_assert_log(r->d, "destroy_rmp_in.rmpn: RMP 0x");
	d_assert_ok(r->d, d_simple(r->d, D_DESTROY_RQ, rq->obj.num, NULL));
	d_assert_ok(r->d, d_simple(r->d, D_DESTROY_RMP, r->rmpn, NULL));
	rig_close(r);
}

/* ---- MODIFY_RQ ---- */

static enum cx_status modify(struct rig *r, uint32_t from, uint32_t to)
{
	struct mailbox m;

	rig_build(r, D_MODIFY_RQ, &m);
	CX_SET(modify_rq_in, m.in, rq_state, from);
	CX_SET(rqc, m.in + CTX, state, to);
	return rig_cmd(r, &m);
}

static void test_each_transition(void **state)
{
	static const bool legal[4][4] = {
		[RST] = { [RST] = true, [RDY] = true, [ERR] = true },
		[RDY] = { [RST] = true, [RDY] = true, [ERR] = true },
		[ERR] = { [RST] = true, [ERR] = true },
	};
	static const uint8_t states[] = { RST, RDY, ERR };
	struct rig *r = rig_open(NULL);
	struct cx_rq *rq = rq_of(r, r->rq->num);

	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		for (unsigned j = 0; j < 3; j++) {
			uint8_t from = states[i], to = states[j];
			enum cx_status st;

			rq->state = (enum cx_q_state)from;
			st = modify(r, from, to);
			assert_int_equal(st, legal[from][to] ? CX_ST_OK
							     : CX_ST_BAD_RES_STATE);
			assert_int_equal(rq->state, legal[from][to] ? to : from);
		}
	}
	rq->state = CX_Q_RST;
	assert_int_equal(modify(r, RDY, ERR), CX_ST_BAD_RES_STATE);
	d_assert_log(r->d, "modify_rq_in.rq_state: RDY, but the queue is in RST");
	assert_int_equal(modify(r, RST, 2), CX_ST_BAD_PARAM);
	rig_close(r);
}

/* Each selectable field, in the state that drivers change it in; source: DPDK
 * mlx5_rxq_obj_modify_rq_vlan_strip, mlx5_rxq_obj_modify_counter. */
static void test_modify_fields(void **state)
{
	struct rig *r = rig_open(NULL);
	struct cx_rq *rq = rq_of(r, r->rq->num);
	struct cx_obj *counter = cx_obj_get(r->d->dev, CX_QCOUNTER, r->q_counter, 0);
	uint32_t refs = counter->refs;
	uint8_t ctx[CX_BYTES(rqc)];
	struct mailbox m;

	(void)state;
	d_assert_ok(r->d, modify(r, RST, RDY));
	rig_build(r, D_MODIFY_RQ, &m);
	CX_SET(modify_rq_in, m.in, rq_state, RDY);
	CX_SET(modify_rq_in, m.in, modify_bitmask, 0xe);
	CX_SET(rqc, m.in + CTX, state, RDY);
	CX_SET(rqc, m.in + CTX, vsd, 0);
	CX_SET(rqc, m.in + CTX, scatter_fcs, 1);
	CX_SET(rqc, m.in + CTX, counter_set_id, r->q_counter);
	d_assert_ok(r->d, rig_cmd(r, &m));
	assert_false(rq->vsd);
	assert_true(rq->scatter_fcs);
	assert_ptr_equal(rq->counter, counter);
	assert_int_equal(counter->refs, refs + 1);
	query(r, rq->obj.num, ctx);
	assert_int_equal(CX_GET(rqc, ctx, state), RDY);
	assert_int_equal(CX_GET(rqc, ctx, vsd), 0);
	assert_int_equal(CX_GET(rqc, ctx, scatter_fcs), 1);
	assert_int_equal(CX_GET(rqc, ctx, counter_set_id), r->q_counter);
	CX_SET(modify_rq_in, m.in, modify_bitmask,
	       8); /* the counter alone, back to none */
	CX_SET(rqc, m.in + CTX, scatter_fcs, 0);
	CX_SET(rqc, m.in + CTX, counter_set_id, 0);
	d_assert_ok(r->d, rig_cmd(r, &m));
	assert_null(rq->counter);
	assert_int_equal(counter->refs, refs);
	assert_true(rq->scatter_fcs);
	rig_close(r);
}

static const struct refusal modify_rows[] = {
	{ 0, CX_modify_rq_in__modify_bitmask, 1, CX_ST_BAD_PARAM,
	  "modify_rq_in.modify_bitmask: 0x1: the limit event is not modelled" },
	{ 0, CX_modify_rq_in__modify_bitmask, 0x10, CX_ST_BAD_PARAM,
	  "modify_rq_in.modify_bitmask: 0x10 is not known" },
	{ CTX, CX_rqc__vsd, 1, CX_ST_BAD_PARAM,
	  "rqc.vsd: 0x1, but the command does not select it" },
	{ CTX, CX_rqc__counter_set_id, 1, CX_ST_BAD_PARAM,
	  "rqc.counter_set_id: 0x1, but" },
	{ WQ, CX_wq__lwm, 1, CX_ST_BAD_PARAM, "wq.lwm: 0x1, but" },
	{ 0 },
};

static void test_each_refusal_of_modify(void **state)
{
	struct rig *r = rig_open(NULL);
	struct mailbox m;

	(void)state;
	rig_refusals(r, D_MODIFY_RQ, modify_rows);
	rig_build(r, D_MODIFY_RQ, &m);
	CX_SET(modify_rq_in, m.in, modify_bitmask, 8);
	CX_SET(rqc, m.in + CTX, counter_set_id, 0xfe);
	rig_refuse(r, &m, CX_ST_BAD_RES, "rqc.counter_set_id: there is no QCOUNTER 0xfe");
	rig_close(r);
}

/* RDY to ERR flushes what is posted, through RST the queue starts at index 0 again. */
static void test_error_and_recovery(void **state)
{
	struct rig *r = rig_open(NULL);
	struct d_cq *cq = d_cq(r->d, &(struct d_cq_conf){ .log_size = 4 });
	struct d_rq *rq = d_rq(r->d, &(struct d_rq_conf){ .log_size = 3, .cq = cq });
	uint8_t ctx[CX_BYTES(rqc)], frame[60];
	const uint8_t *cqe;

	(void)state;
	d_all_to(r->d, d_tir(r->d, rq->num));
	d_udp4(frame, sizeof(frame), 1, 2, 3, 4, 5);
	d_rq_post(rq, 3);
	assert_int_equal(cx_rx(r->d->dev, frame, sizeof(frame)), CX_RX_QUEUED);
	assert_non_null(d_cq_poll(cq));
	query(r, rq->num, ctx);
	assert_int_equal(CX_GET(wq, CX_AT(rqc, ctx, wq), hw_counter), 1);
	assert_int_equal(CX_GET(wq, CX_AT(rqc, ctx, wq), sw_counter), 3);
	d_assert_ok(r->d, d_rq_state(rq, RDY, ERR));
	for (int i = 0; i < 2; i++) {
		cqe = d_cq_poll(cq);
		assert_non_null(cqe);
		assert_int_equal(cqe[63] >> 4, 14);
		assert_int_equal(cqe[55], 0x05); /* flushed */
	}
	assert_null(d_cq_poll(cq));
	assert_int_equal(cx_rx(r->d->dev, frame, sizeof(frame)), CX_RX_DEAD);
	d_assert_ok(r->d, d_rq_state(rq, ERR, RST));
	query(r, rq->num, ctx);
	assert_int_equal(CX_GET(rqc, ctx, state), RST);
	assert_int_equal(CX_GET(wq, CX_AT(rqc, ctx, wq), hw_counter), 0);
	rq->pi = 0;
	d_assert_ok(r->d, d_rq_state(rq, RST, RDY));
	d_rq_post(rq, 1);
	assert_int_equal(cx_rx(r->d->dev, frame, sizeof(frame)), CX_RX_QUEUED);
	rig_close(r);
}

/* ---- DESTROY_RQ ---- */

static void test_destroy_lets_go(void **state)
{
	struct rig *r = rig_open(NULL);
	static const enum cx_obj_type types[] = { CX_CQ, CX_QCOUNTER, CX_PD, CX_UMEM };
	uint32_t nums[] = { r->cq->num, r->q_counter, r->d->pdn, r->umem.num };
	static const uint32_t uses[] = { 1, 1, 1, 2 };
	uint32_t before[4], rqn;

	(void)state;
	for (int i = 0; i < 4; i++)
		before[i] = cx_obj_get(r->d->dev, types[i], nums[i], 0)->refs;
	rqn = rig_make(r, D_CREATE_RQ);
	for (int i = 0; i < 4; i++)
		assert_int_equal(cx_obj_get(r->d->dev, types[i], nums[i], 0)->refs,
				 before[i] + uses[i]);
	d_assert_ok(r->d, d_simple(r->d, D_DESTROY_RQ, rqn, NULL));
	for (int i = 0; i < 4; i++)
		assert_int_equal(cx_obj_get(r->d->dev, types[i], nums[i], 0)->refs,
				 before[i]);
	assert_int_equal(d_simple(r->d, D_DESTROY_RQ, rqn, NULL), CX_ST_BAD_RES);
	assert_int_equal(d_simple(r->d, D_DESTROY_RQ, r->sq->num, NULL), CX_ST_BAD_RES);
	rig_close(r);
}

static void test_destroy_in_use(void **state)
{
	struct rig *r = rig_open(NULL);

	(void)state;
	assert_int_equal(d_simple(r->d, D_DESTROY_RQ, r->rq->num, NULL),
			 CX_ST_BAD_RES_STATE);
	d_assert_log(r->d, "destroy_rq_in.rqn: RQ 0x");
	d_assert_log(r->d,
		     "is in use (4 references)"); /* four entries of the rig's table */
	rig_close(r);
}

/* ---- RMP ---- */

static void test_rmp(void **state)
{
	struct rig *r = rig_open(NULL);
	uint8_t in[16] = { 0 }, out[CX_BYTES(query_rmp_out)];
	struct cx_rmp *rmp = rmp_of(r, r->rmpn);
	struct mailbox m;

	(void)state;
	assert_int_equal(rmp->state, CX_Q_RDY);
	assert_int_equal(rmp->wq.log_size, 4);
	rmp->wq.head = 5;
	CX_SET(query_rmp_in, in, rmpn, r->rmpn);
	d_assert_ok(r->d, d_cmd(r->d, D_QUERY_RMP, in, sizeof(in), out, sizeof(out)));
	assert_int_equal(CX_GET(rmpc, out + 0x20, state), RDY);
	assert_int_equal(CX_GET(wq, out + 0x50, hw_counter), 5);
	assert_int_equal(CX_GET(wq, out + 0x50, wq_umem_offset), 0x2000);
	rig_build(r, D_MODIFY_RMP, &m);
	CX_SET(rmpc, m.in + CTX, state, RST);
	d_assert_ok(r->d, rig_cmd(r, &m));
	assert_int_equal(rmp->state, CX_Q_RST);
	assert_int_equal(rmp->wq.head, 0);
	rig_build(r, D_CREATE_RMP, &m); /* striding, not yet ready */
	striding(m.in + WQ, 6, 11);
	CX_SET(rmpc, m.in + CTX, basic_cyclic_rcv_wqe, 0);
	CX_SET(rmpc, m.in + CTX, state, RST);
	d_assert_ok(r->d, rig_cmd(r, &m));
	rmp = rmp_of(r, (uint32_t)CX_GET(create_rmp_out, m.out, rmpn));
	assert_int_equal(rmp->wq.log_strides, 6);
	assert_int_equal(rmp->state, CX_Q_RST);
	rig_close(r);
}

static const struct refusal rmp_rows[] = {
	{ CTX, CX_rmpc__state, 3, CX_ST_BAD_PARAM,
	  "rmpc.state: 3: a new one is in RST or RDY" },
	{ CTX, CX_rmpc__basic_cyclic_rcv_wqe, 0, CX_ST_BAD_PARAM,
	  "rmpc.basic_cyclic_rcv_wqe: 0 with wq_type 1" },
	{ WQ, CX_wq__wq_type, 0, CX_ST_BAD_PARAM, "wq.wq_type: 0: linked lists" },
	{ WQ, CX_wq__uar_page, 1, CX_ST_BAD_PARAM, "wq.uar_page: " },
	{ WQ, CX_wq__lwm, 1, CX_ST_BAD_PARAM, "wq.lwm: " },
	{ WQ, CX_wq__wq_umem_id, 0xffff, CX_ST_BAD_RES, "wq.wq_umem_id: " },
	{ 0 },
};

static const struct refusal modify_rmp_rows[] = {
	{ 0x10, CX_rmp_bitmask__lwm, 1, CX_ST_BAD_PARAM, "rmp_bitmask.lwm: " },
	{ 0, CX_modify_rmp_in__rmp_state, 0, CX_ST_BAD_RES_STATE,
	  "modify_rmp_in.rmp_state: RST, but the queue is in RDY" },
	{ CTX, CX_rmpc__state, 2, CX_ST_BAD_PARAM, "rmpc.state: 2 is no state" },
	{ CTX, CX_rmpc__basic_cyclic_rcv_wqe, 1, CX_ST_BAD_PARAM,
	  "rmpc.basic_cyclic_rcv_wqe: 0x1" },
	{ 0 },
};

static void test_each_refusal_of_rmp(void **state)
{
	struct rig *r = rig_open(NULL);
	struct mailbox m;

	(void)state;
	rig_refusals(r, D_CREATE_RMP, rmp_rows);
	rig_refusals(r, D_MODIFY_RMP, modify_rmp_rows);
	rig_build(r, D_CREATE_RMP, &m);
	m.in_len += 8;
	m.in[CX_BYTES(create_rmp_in)] = 1;
	rig_refuse(r, &m, CX_ST_BAD_PARAM, "create_rmp_in.wq_pas: byte 0");
	rig_close(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_create_and_query),
		cmocka_unit_test(test_create_without_flags),
		cmocka_unit_test(test_smallest_queue_of_dpdk),
		cmocka_unit_test(test_every_stride),
		cmocka_unit_test(test_each_refusal_of_create),
		cmocka_unit_test(test_too_few_strides),
		cmocka_unit_test(test_page_list),
		cmocka_unit_test(test_queue_on_shared_memory),
		cmocka_unit_test(test_each_transition),
		cmocka_unit_test(test_modify_fields),
		cmocka_unit_test(test_each_refusal_of_modify),
		cmocka_unit_test(test_error_and_recovery),
		cmocka_unit_test(test_destroy_lets_go),
		cmocka_unit_test(test_destroy_in_use),
		cmocka_unit_test(test_rmp),
		cmocka_unit_test(test_each_refusal_of_rmp),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
