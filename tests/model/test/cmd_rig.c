/* test/cmd_rig.c - see cmd_rig.h */
#include "cmd_rig.h"

#include <ctype.h>
#include <string.h>

#define ANY_BYTES 16 /* of an answer with nothing or one number */

/* ---- execution ---- */

enum cx_status rig_cmd(struct rig *r, struct mailbox *m)
{
	const struct rig_row *row = rig_row(m->opcode);
	uint16_t uid = r->d->uid;
	enum cx_status st;

	if (row->kernel)
		r->d->uid = 0;
	st = d_cmd(r->d, m->opcode, m->in, m->in_len, m->out, m->out_len);
	r->d->uid = uid;
	return st;
}

const struct rig_row *rig_row(uint16_t opcode)
{
	for (const struct rig_row *row = rig_rows; row->name; row++)
		if (row->opcode == opcode)
			return row;
	fail_msg("no row for opcode 0x%x", opcode);
	return NULL;
}

void rig_build(struct rig *r, uint16_t opcode, struct mailbox *m)
{
	const struct rig_row *row = rig_row(opcode);

	memset(m, 0, sizeof(*m));
	m->opcode = opcode;
	m->in_len = row->in->bits / 8;
	m->out_len = ANY_BYTES;
	assert_true(m->in_len <= sizeof(m->in));
	row->build(r, m);
}

uint32_t rig_make(struct rig *r, uint16_t opcode)
{
	struct mailbox m;

	rig_build(r, opcode, &m);
	assert_int_equal(rig_cmd(r, &m), CX_ST_OK);
	return (uint32_t)cx_get(m.out, rig_row(opcode)->made);
}

void rig_undo(struct rig *r, const struct rig_row *row, const struct mailbox *m)
{
	uint8_t in[ANY_BYTES] = { 0 }, out[ANY_BYTES];
	uint16_t uid = r->d->uid;

	if (!row->undo)
		return;
	if (row->kernel)
		r->d->uid = 0;
	cx_set(in, row->undo_num, cx_get(m->out, row->made));
	assert_int_equal(d_cmd(r->d, row->undo, in, sizeof(in), out, sizeof(out)),
			 CX_ST_OK);
	r->d->uid = uid;
}

uint32_t rig_objects(const struct rig *r)
{
	uint32_t n = 0;

	for (int type = 0; type < CX_OBJ_TYPE_COUNT; type++)
		n += cx_obj_count(r->d->dev, (enum cx_obj_type)type);
	return n;
}

/* The command's name, as the log has it. */
static void assert_named(const struct rig *r, uint16_t opcode)
{
	const char *name = rig_row(opcode)->name;
	char upper[64] = "";

	for (size_t i = 0; name[i] && i + 1 < sizeof(upper); i++)
		upper[i] = (char)toupper((unsigned char)name[i]);
	d_assert_log(r->d, upper);
}

void rig_refuse(struct rig *r, struct mailbox *m, enum cx_status status, const char *log)
{
	uint32_t objects = rig_objects(r);
	enum cx_status st;

	d_forget(r->d);
	st = rig_cmd(r, m);
	if (st != status)
		fail_msg("%s: status 0x%x, not 0x%x, for \"%s\"",
			 rig_row(m->opcode)->name, st, status, log);
	d_assert_log(r->d, log);
	assert_named(r, m->opcode);
	assert_int_not_equal(r->d->syndrome, 0);
	assert_int_equal(rig_objects(r), objects);
}

void rig_refusals(struct rig *r, uint16_t opcode, const struct refusal *rows)
{
	struct mailbox m;

	for (; rows->status != CX_ST_OK; rows++) {
		rig_build(r, opcode, &m);
		cx_set(m.in + rows->byte, rows->field, rows->value);
		rig_refuse(r, &m, rows->status, rows->log);
	}
}

/* ---- valid mailboxes ---- */

static void b_plain(struct rig *r, struct mailbox *m)
{
	(void)r;
	(void)m;
}

static void b_caps(struct rig *r, struct mailbox *m)
{
	(void)r;
	cx_put_be16(m->in + 6, 1); /* general, current */
	m->out_len = CX_BYTES(query_hca_cap_out);
}

static void b_big(struct rig *r, struct mailbox *m)
{
	(void)r;
	m->out_len = 1024;
}

static void b_register(struct rig *r, struct mailbox *m)
{
	(void)r;
	cx_put_be16(m->in + 6, 1);
	CX_SET(access_register_in, m->in, register_id, 0x9055);
	m->out_len = 64;
}

static void b_mkey(struct rig *r, struct mailbox *m)
{
	uint8_t *ctx = CX_AT(create_mkey_in, m->in, memory_key_mkey_entry);

	CX_SET(create_mkey_in, m->in, mkey_umem_valid, 1);
	CX_SET(create_mkey_in, m->in, mkey_umem_id, r->umem.num);
	CX_SET(create_mkey_in, m->in, translations_octword_actual_size, 8);
	CX_SET(mkc, ctx, access_mode_1_0, 1);
	CX_SET(mkc, ctx, lr, 1);
	CX_SET(mkc, ctx, lw, 1);
	CX_SET(mkc, ctx, qpn, 0xffffff);
	CX_SET(mkc, ctx, mkey_7_0, 0x5a);
	CX_SET(mkc, ctx, pd, r->d->pdn);
	CX_SET(mkc, ctx, start_addr, 0x7000000000);
	CX_SET(mkc, ctx, len, r->umem.len);
	CX_SET(mkc, ctx, log_page_size, 12);
	CX_SET(mkc, ctx, translations_octword_size, 8);
}

static void b_cq(struct rig *r, struct mailbox *m)
{
	uint8_t *ctx = CX_AT(create_cq_in, m->in, cq_context);

	CX_SET(create_cq_in, m->in, cq_umem_valid, 1);
	CX_SET(create_cq_in, m->in, cq_umem_id, r->umem.num);
	CX_SET(create_cq_in, m->in, cq_umem_offset, 0x1000);
	CX_SET(cqc, ctx, log_cq_size, 4);
	CX_SET(cqc, ctx, uar_page, r->d->uar->num);
	CX_SET(cqc, ctx, c_eqn, r->d->eqn);
	CX_SET(cqc, ctx, dbr_umem_valid, 1);
	CX_SET(cqc, ctx, dbr_umem_id, r->umem.num);
	CX_SET(cqc, ctx, dbr_addr, 0x40);
}

static void b_modify_cq(struct rig *r, struct mailbox *m)
{
	uint8_t *ctx = CX_AT(modify_cq_in, m->in, cq_context);

	CX_SET(modify_cq_in, m->in, cqn, r->cq->num);
	CX_SET(modify_cq_in, m->in, modify_field_select, 3);
	CX_SET(cqc, ctx, cq_period, 16);
	CX_SET(cqc, ctx, cq_max_count, 32);
}

static void wq(struct rig *r, uint8_t *ctx, uint8_t log_stride)
{
	CX_SET(wq, ctx, wq_type, 1);
	CX_SET(wq, ctx, pd, r->d->pdn);
	CX_SET(wq, ctx, log_wq_stride, log_stride);
	CX_SET(wq, ctx, log_wq_sz, 4);
	CX_SET(wq, ctx, wq_umem_valid, 1);
	CX_SET(wq, ctx, wq_umem_id, r->umem.num);
	CX_SET(wq, ctx, wq_umem_offset, 0x2000);
	CX_SET(wq, ctx, dbr_umem_valid, 1);
	CX_SET(wq, ctx, dbr_umem_id, r->umem.num);
	CX_SET(wq, ctx, dbr_addr, 0x80);
}

static void b_sq(struct rig *r, struct mailbox *m)
{
	uint8_t *ctx = CX_AT(create_sq_in, m->in, ctx);

	CX_SET(sqc, ctx, flush_in_error_en, 1);
	CX_SET(sqc, ctx, allow_multi_pkt_send_wqe, 1);
	CX_SET(sqc, ctx, user_index, 0x123456);
	CX_SET(sqc, ctx, cqn, r->cq->num);
	CX_SET(sqc, ctx, tis_lst_sz, 1);
	CX_SET(sqc, ctx, tis_num_0, r->d->tisn);
	wq(r, CX_AT(sqc, ctx, wq), 6);
	CX_SET(wq, CX_AT(sqc, ctx, wq), uar_page, r->d->uar->num);
}

static void b_modify_sq(struct rig *r, struct mailbox *m)
{
	CX_SET(modify_sq_in, m->in, sqn,
	       r->sq->num); /* RST to RST, as kernel qp.c does */
}

static void b_rq(struct rig *r, struct mailbox *m)
{
	uint8_t *ctx = CX_AT(create_rq_in, m->in, ctx);

	CX_SET(rqc, ctx, vsd, 1);
	CX_SET(rqc, ctx, flush_in_error_en, 1);
	CX_SET(rqc, ctx, user_index, 0x654321);
	CX_SET(rqc, ctx, cqn, r->cq->num);
	CX_SET(rqc, ctx, counter_set_id, r->q_counter);
	wq(r, CX_AT(rqc, ctx, wq), 4);
}

static void b_modify_rq(struct rig *r, struct mailbox *m)
{
	CX_SET(modify_rq_in, m->in, rqn, r->rq->num);
}

static void b_rmp(struct rig *r, struct mailbox *m)
{
	uint8_t *ctx = CX_AT(create_rmp_in, m->in, ctx);

	CX_SET(rmpc, ctx, state, 1);
	CX_SET(rmpc, ctx, basic_cyclic_rcv_wqe, 1);
	wq(r, CX_AT(rmpc, ctx, wq), 4);
}

static void b_modify_rmp(struct rig *r, struct mailbox *m)
{
	CX_SET(modify_rmp_in, m->in, rmpn, r->rmpn);
	CX_SET(modify_rmp_in, m->in, rmp_state, 1);
	CX_SET(rmpc, CX_AT(modify_rmp_in, m->in, ctx), state, 1);
}

static void b_tis(struct rig *r, struct mailbox *m)
{
	CX_SET(tisc, CX_AT(create_tis_in, m->in, ctx), transport_domain, r->d->tdn);
	CX_SET(tisc, CX_AT(create_tis_in, m->in, ctx), prio, 6);
}

static void b_modify_tis(struct rig *r, struct mailbox *m)
{
	CX_SET(modify_tis_in, m->in, tisn, r->d->tisn);
	CX_SET(modify_tis_bitmask, CX_AT(modify_tis_in, m->in, bitmask), prio, 1);
	CX_SET(tisc, CX_AT(modify_tis_in, m->in, ctx), prio, 2);
}

static void hash(uint8_t *ctx)
{
	uint8_t *outer = CX_AT(tirc, ctx, rx_hash_field_selector_outer);

	CX_SET(tirc, ctx, rx_hash_fn, 2);
	memcpy(CX_AT(tirc, ctx, rx_hash_toeplitz_key), d_rss_key, 40);
	CX_SET(rx_hash_field_select, outer, l4_prot_type, 1);
	CX_SET(rx_hash_field_select, outer, selected_fields, 0xf);
}

static void b_tir(struct rig *r, struct mailbox *m)
{
	uint8_t *ctx = CX_AT(create_tir_in, m->in, ctx);

	CX_SET(tirc, ctx, disp_type, 1);
	CX_SET(tirc, ctx, indirect_table, r->rqtn);
	CX_SET(tirc, ctx, transport_domain, r->d->tdn);
	hash(ctx);
}

static void b_modify_tir(struct rig *r, struct mailbox *m)
{
	CX_SET(modify_tir_in, m->in, tirn, r->tirn);
	CX_SET(modify_tir_bitmask, CX_AT(modify_tir_in, m->in, bitmask), hash, 1);
	hash(CX_AT(modify_tir_in, m->in, ctx));
}

static void rqt(struct rig *r, struct mailbox *m, uint8_t *ctx, size_t fixed)
{
	CX_SET(rqtc, ctx, rqt_actual_size, 4);
	for (unsigned i = 0; i < 4; i++)
		CX_SET(rq_num, m->in + fixed + 4 * i, rq_num, r->rq->num);
	m->in_len = fixed + 16;
}

static void b_rqt(struct rig *r, struct mailbox *m)
{
	uint8_t *ctx = CX_AT(create_rqt_in, m->in, rqt_context);

	rqt(r, m, ctx, CX_BYTES(create_rqt_in));
	CX_SET(rqtc, ctx, rqt_max_size, 8);
}

static void b_modify_rqt(struct rig *r, struct mailbox *m)
{
	CX_SET(modify_rqt_in, m->in, rqtn, r->rqtn);
	CX_SET(rqt_bitmask, CX_AT(modify_rqt_in, m->in, bitmask), rqn_list, 1);
	rqt(r, m, CX_AT(modify_rqt_in, m->in, ctx), CX_BYTES(modify_rqt_in));
}

static void b_query_q_counter(struct rig *r, struct mailbox *m)
{
	CX_SET(query_q_counter_in, m->in, counter_set_id, r->q_counter);
	m->out_len = CX_BYTES(query_q_counter_out);
}

static void b_flow_counter(struct rig *r, struct mailbox *m)
{
	(void)r;
	CX_SET(alloc_flow_counter_in, m->in, flow_counter_bulk, 4); /* 512 */
}

static void b_query_flow_counter(struct rig *r, struct mailbox *m)
{
	CX_SET(query_flow_counter_in, m->in, flow_counter_id, r->flow_counter);
	CX_SET(query_flow_counter_in, m->in, num_of_counters, 4);
	m->out_len = CX_BYTES(query_flow_counter_out) + 4 * CX_BYTES(traffic_counter);
}

/* clang-format off */
/* QUERY of an object that is there, and a destroyer of a fresh one. */
#define QUERY(name, in_field, number)                                                    \
	static void b_##name(struct rig *r, struct mailbox *m)                           \
	{                                                                                \
		cx_set(m->in, (in_field), (number));                                     \
		m->out_len = 1024;                                                       \
	}
#define DESTROY(name, in_field, maker)                                                   \
	static void b_##name(struct rig *r, struct mailbox *m)                           \
	{                                                                                \
		cx_set(m->in, (in_field), rig_make(r, (maker)));                         \
	}
#define AT48 CX_PACK(0x48, 24)
#define AT58 CX_PACK(0x58, 8)
#define AT40 CX_PACK(0x40, 32)

QUERY(query_mkey, AT48, r->mkey)
QUERY(query_cq, AT48, r->cq->num)
QUERY(query_sq, AT48, r->sq->num)
QUERY(query_rq, AT48, r->rq->num)
QUERY(query_rmp, AT48, r->rmpn)
QUERY(query_tis, AT48, r->d->tisn)
QUERY(query_tir, AT48, r->tirn)
QUERY(query_rqt, AT48, r->rqtn)
DESTROY(dealloc_pd, AT48, D_ALLOC_PD)
DESTROY(dealloc_td, AT48, D_ALLOC_TD)
DESTROY(dealloc_uar, AT48, D_ALLOC_UAR)
DESTROY(destroy_mkey, AT48, D_CREATE_MKEY)
DESTROY(destroy_cq, AT48, D_CREATE_CQ)
DESTROY(destroy_sq, AT48, D_CREATE_SQ)
DESTROY(destroy_rq, AT48, D_CREATE_RQ)
DESTROY(destroy_rmp, AT48, D_CREATE_RMP)
DESTROY(destroy_tis, AT48, D_CREATE_TIS)
DESTROY(destroy_tir, AT48, D_CREATE_TIR)
DESTROY(destroy_rqt, AT48, D_CREATE_RQT)
DESTROY(dealloc_q_counter, AT58, D_ALLOC_Q_COUNTER)
DESTROY(dealloc_flow_counter, AT40, D_ALLOC_FLOW_COUNTER)
DESTROY(destroy_uctx, CX_PACK(0x50, 16), D_CREATE_UCTX)
/* clang-format on */

/* ---- all of them ---- */

/* clang-format off */
#define IN(s) &cx_layout_##s
#define PLAIN(op, s, build) { #s, IN(s##_in), build, 0, 0, 0, 0, op, false }
#define MAKE(op, s, build, undo) MAKE_AT(op, s, build, undo, AT48, AT48)
#define MAKE_AT(op, s, build, undo, made, undo_num) \
	{ #s, IN(s##_in), build, 0, made, undo_num, undo, op, false }
#define ABOUT(op, s, build) ABOUT_AT(op, s, build, AT48)
#define ABOUT_AT(op, s, build, num) { #s, IN(s##_in), build, num, 0, 0, 0, op, false }

const struct rig_row rig_rows[] = {
	PLAIN(D_QUERY_HCA_CAP, query_hca_cap, b_caps),
	PLAIN(0x101, query_adapter, b_big),
	PLAIN(0x10a, query_issi, b_big),
	PLAIN(0x203, query_special_contexts, b_big),
	PLAIN(0x750, query_vport_state, b_plain),
	PLAIN(0x754, query_nic_vport_context, b_big),
	PLAIN(0x770, query_vport_counter, b_big),
	PLAIN(D_NOP, nop, b_plain),
	PLAIN(0xb0c, access_register, b_register),
	{ "access_reg", IN(access_register_in), b_register, 0, 0, 0, 0, 0x805, true },
	{ "create_uctx", IN(create_uctx_in), b_plain, 0, CX_PACK(0x50, 16),
	  CX_PACK(0x50, 16), D_DESTROY_UCTX, D_CREATE_UCTX, true },
	{ "destroy_uctx", IN(destroy_uctx_in), b_destroy_uctx, CX_PACK(0x50, 16), 0, 0, 0,
	  D_DESTROY_UCTX, true },
	MAKE(D_ALLOC_UAR, alloc_uar, b_plain, D_DEALLOC_UAR),
	ABOUT(D_DEALLOC_UAR, dealloc_uar, b_dealloc_uar),
	MAKE(D_ALLOC_PD, alloc_pd, b_plain, D_DEALLOC_PD),
	ABOUT(D_DEALLOC_PD, dealloc_pd, b_dealloc_pd),
	MAKE(D_ALLOC_TD, alloc_transport_domain, b_plain, D_DEALLOC_TD),
	ABOUT(D_DEALLOC_TD, dealloc_transport_domain, b_dealloc_td),
	MAKE(D_CREATE_MKEY, create_mkey, b_mkey, D_DESTROY_MKEY),
	ABOUT(D_QUERY_MKEY, query_mkey, b_query_mkey),
	ABOUT(D_DESTROY_MKEY, destroy_mkey, b_destroy_mkey),
	MAKE(D_CREATE_CQ, create_cq, b_cq, D_DESTROY_CQ),
	ABOUT(D_MODIFY_CQ, modify_cq, b_modify_cq),
	ABOUT(D_QUERY_CQ, query_cq, b_query_cq),
	ABOUT(D_DESTROY_CQ, destroy_cq, b_destroy_cq),
	MAKE(D_CREATE_SQ, create_sq, b_sq, D_DESTROY_SQ),
	ABOUT(D_MODIFY_SQ, modify_sq, b_modify_sq),
	ABOUT(D_QUERY_SQ, query_sq, b_query_sq),
	ABOUT(D_DESTROY_SQ, destroy_sq, b_destroy_sq),
	MAKE(D_CREATE_RQ, create_rq, b_rq, D_DESTROY_RQ),
	ABOUT(D_MODIFY_RQ, modify_rq, b_modify_rq),
	ABOUT(D_QUERY_RQ, query_rq, b_query_rq),
	ABOUT(D_DESTROY_RQ, destroy_rq, b_destroy_rq),
	MAKE(D_CREATE_RMP, create_rmp, b_rmp, D_DESTROY_RMP),
	ABOUT(D_MODIFY_RMP, modify_rmp, b_modify_rmp),
	ABOUT(D_QUERY_RMP, query_rmp, b_query_rmp),
	ABOUT(D_DESTROY_RMP, destroy_rmp, b_destroy_rmp),
	MAKE(D_CREATE_TIS, create_tis, b_tis, D_DESTROY_TIS),
	ABOUT(D_MODIFY_TIS, modify_tis, b_modify_tis),
	ABOUT(D_QUERY_TIS, query_tis, b_query_tis),
	ABOUT(D_DESTROY_TIS, destroy_tis, b_destroy_tis),
	MAKE(D_CREATE_TIR, create_tir, b_tir, D_DESTROY_TIR),
	ABOUT(D_MODIFY_TIR, modify_tir, b_modify_tir),
	ABOUT(D_QUERY_TIR, query_tir, b_query_tir),
	ABOUT(D_DESTROY_TIR, destroy_tir, b_destroy_tir),
	MAKE(D_CREATE_RQT, create_rqt, b_rqt, D_DESTROY_RQT),
	ABOUT(D_MODIFY_RQT, modify_rqt, b_modify_rqt),
	ABOUT(D_QUERY_RQT, query_rqt, b_query_rqt),
	ABOUT(D_DESTROY_RQT, destroy_rqt, b_destroy_rqt),
	MAKE_AT(D_ALLOC_Q_COUNTER, alloc_q_counter, b_plain, D_DEALLOC_Q_COUNTER, AT58, AT58),
	ABOUT_AT(D_QUERY_Q_COUNTER, query_q_counter, b_query_q_counter,
		 CX_query_q_counter_in__counter_set_id),
	ABOUT_AT(D_DEALLOC_Q_COUNTER, dealloc_q_counter, b_dealloc_q_counter, AT58),
	MAKE_AT(D_ALLOC_FLOW_COUNTER, alloc_flow_counter, b_flow_counter,
		D_DEALLOC_FLOW_COUNTER, AT40, AT40),
	ABOUT_AT(D_QUERY_FLOW_COUNTER, query_flow_counter, b_query_flow_counter,
		 CX_query_flow_counter_in__flow_counter_id),
	ABOUT_AT(D_DEALLOC_FLOW_COUNTER, dealloc_flow_counter, b_dealloc_flow_counter, AT40),
	{ NULL, NULL, NULL, 0, 0, 0, 0, 0, false },
};
/* clang-format on */

/* ---- life ---- */

static struct d_umem read_only(struct direct *d)
{
	struct d_umem m = { .p = d_alloc(d, 65536), .len = 65536 };

	assert_int_equal(cx_umem_reg(d->dev, d->uid, m.p, m.len, 0, &m.num), 0);
	return m;
}

struct rig *rig_open(const char *const *caps)
{
	struct direct *d = d_open(caps);
	struct rig *r = d_alloc(d, sizeof(*r));

	r->d = d;
	r->other = d_uctx(d);
	r->umem = d_umem(d, 65536);
	r->read_only = read_only(d);
	r->cq = d_cq(d, &(struct d_cq_conf){ .log_size = 4 });
	r->sq = d_sq(
		d, &(struct d_sq_conf){ .log_size = 4, .cq = r->cq, .stay_reset = true });
	r->rq = d_rq(
		d, &(struct d_rq_conf){ .log_size = 4, .cq = r->cq, .stay_reset = true });
	r->q_counter = d_q_counter(d);
	r->flow_counter = rig_make(r, D_ALLOC_FLOW_COUNTER);
	r->mkey = rig_make(r, D_CREATE_MKEY);
	r->rmpn = rig_make(r, D_CREATE_RMP);
	r->rqtn = rig_make(r, D_CREATE_RQT);
	r->tirn = rig_make(r, D_CREATE_TIR);
	d_forget(d);
	return r;
}

void rig_close(struct rig *r)
{
	d_close(r->d);
}
