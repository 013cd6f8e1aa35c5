/* test/test_cmd_tir.c - TIS, TIR and receive queue tables, field by field */
#include "cmd_rig.h"

#include <string.h>

#include "../core/dev.h"

enum { CTX = 0x20, MASK = 0x10, LIST = 0x110 }; /* in the mailboxes */
enum { OUTER = CTX + 0x50, INNER = CTX + 0x54 };

static struct cx_tir *tir_of(const struct rig *r, uint32_t tirn)
{
	return (struct cx_tir *)cx_obj_get(r->d->dev, CX_TIR, tirn, 0);
}

static struct cx_tir *make(struct rig *r, struct mailbox *m)
{
	d_assert_ok(r->d, rig_cmd(r, m));
	return tir_of(r, (uint32_t)CX_GET(create_tir_out, m->out, tirn));
}

static void query_tir(struct rig *r, uint32_t tirn, uint8_t ctx[CX_BYTES(tirc)])
{
	uint8_t in[16] = { 0 }, out[CX_BYTES(query_tir_out)];

	CX_SET(query_tir_in, in, tirn, tirn);
	d_assert_ok(r->d, d_cmd(r->d, D_QUERY_TIR, in, sizeof(in), out, sizeof(out)));
	memcpy(ctx, CX_AT(query_tir_out, out, tir_context), CX_BYTES(tirc));
}

/* ---- TIS ---- */

static void test_tis(void **state)
{
	struct rig *r = rig_open(NULL);
	uint32_t tisn = rig_make(r, D_CREATE_TIS);
	uint8_t in[16] = { 0 }, out[CX_BYTES(query_tis_out)];
	struct mailbox m;

	(void)state;
	CX_SET(query_tis_in, in, tisn, tisn);
	d_assert_ok(r->d, d_cmd(r->d, D_QUERY_TIS, in, sizeof(in), out, sizeof(out)));
	assert_int_equal(CX_GET(tisc, out + 0x10, prio), 6);
	assert_int_equal(CX_GET(tisc, out + 0x10, transport_domain), r->d->tdn);
	rig_build(r, D_MODIFY_TIS, &m);
	CX_SET(modify_tis_in, m.in, tisn, tisn);
	d_assert_ok(r->d, rig_cmd(r, &m));
	d_assert_ok(r->d, d_cmd(r->d, D_QUERY_TIS, in, sizeof(in), out, sizeof(out)));
	assert_int_equal(CX_GET(tisc, out + 0x10, prio), 2);
	assert_int_equal(d_simple(r->d, D_DEALLOC_TD, r->d->tdn, NULL),
			 CX_ST_BAD_RES_STATE);
	d_assert_ok(r->d, d_simple(r->d, D_DESTROY_TIS, tisn, NULL));
	rig_close(r);
}

static const struct refusal create_tis_rows[] = {
	{ CTX, CX_tisc__strict_lag_tx_port_affinity, 1, CX_ST_BAD_PARAM,
	  "tisc.strict_lag_tx_port_affinity: " },
	{ CTX, CX_tisc__lag_tx_port_affinity, 1, CX_ST_BAD_PARAM,
	  "tisc.lag_tx_port_affinity: " },
	{ CTX, CX_tisc__tls_en, 1, CX_ST_BAD_PARAM, "tisc.tls_en: " },
	{ CTX, CX_tisc__pd, 1, CX_ST_BAD_PARAM, "tisc.pd: 0x1: for TLS only" },
	{ CTX, CX_tisc__transport_domain, 0xfff, CX_ST_BAD_RES,
	  "tisc.transport_domain: there is no TD 0xfff" },
	{ 0 },
};

static const struct refusal modify_tis_rows[] = {
	{ MASK, CX_modify_tis_bitmask__lag_tx_port_affinity, 1, CX_ST_BAD_PARAM,
	  "modify_tis_bitmask.lag_tx_port_affinity: " },
	{ MASK, CX_modify_tis_bitmask__strict_lag_tx_port_affinity, 1, CX_ST_BAD_PARAM,
	  "modify_tis_bitmask.strict_lag_tx_port_affinity: " },
	{ MASK, CX_modify_tis_bitmask__prio, 0, CX_ST_BAD_PARAM,
	  "modify_tis_bitmask.prio: nothing" },
	{ CTX, CX_tisc__transport_domain, 1, CX_ST_BAD_PARAM,
	  "tisc.transport_domain: 0x1, but" },
	{ 0 },
};

static void test_each_refusal_of_tis(void **state)
{
	struct rig *r = rig_open(NULL);

	(void)state;
	rig_refusals(r, D_CREATE_TIS, create_tis_rows);
	rig_refusals(r, D_MODIFY_TIS, modify_tis_rows);
	rig_close(r);
}

/* ---- TIR: what is accepted ---- */

static void test_direct(void **state)
{
	struct rig *r = rig_open(NULL);
	uint8_t ctx[CX_BYTES(tirc)];
	struct mailbox m;
	struct cx_tir *tir;

	(void)state;
	rig_build(r, D_CREATE_TIR, &m);
	memset(m.in + CTX, 0, CX_BYTES(tirc));
	CX_SET(tirc, m.in + CTX, inline_rqn, r->rq->num);
	CX_SET(tirc, m.in + CTX, transport_domain, r->d->tdn);
	CX_SET(tirc, m.in + CTX, self_lb_block, 3);
	tir = make(r, &m);
	assert_int_equal(tir->rq->obj.num, r->rq->num);
	assert_null(tir->rqt);
	assert_int_equal(tir->fn, CX_HASH_NONE);
	assert_int_equal(tir->self_lb_block, 3);
	query_tir(r, tir->obj.num, ctx);
	assert_memory_equal(ctx, m.in + CTX, sizeof(ctx));
	rig_close(r);
}

/* Each function, each protocol, each set of fields. */
static void test_indirect(void **state)
{
	struct rig *r = rig_open(NULL);
	uint8_t ctx[CX_BYTES(tirc)];
	struct mailbox m;

	(void)state;
	for (unsigned i = 0; i < 3 * 2 * 64; i++) {
		enum cx_rx_hash_fn fn = (enum cx_rx_hash_fn)(i / 128);
		struct cx_tir *tir;

		rig_build(r, D_CREATE_TIR, &m);
		CX_SET(tirc, m.in + CTX, rx_hash_fn, fn);
		CX_SET(tirc, m.in + CTX, rx_hash_symmetric,
		       fn == CX_HASH_TOEPLITZ && i & 64);
		CX_SET(rx_hash_field_select, m.in + OUTER, l3_prot_type, i & 32 ? 1 : 0);
		CX_SET(rx_hash_field_select, m.in + OUTER, l4_prot_type, i & 16 ? 1 : 0);
		CX_SET(rx_hash_field_select, m.in + OUTER, selected_fields, i & 15);
		tir = make(r, &m);
		assert_int_equal(tir->rqt->obj.num, r->rqtn);
		assert_null(tir->rq);
		assert_int_equal(tir->fn, fn);
		assert_int_equal(tir->symmetric, fn == CX_HASH_TOEPLITZ && i & 64);
		assert_memory_equal(tir->key, d_rss_key, 40);
		assert_int_equal(tir->outer_select, (i & 32 ? 1u << 31 : 0) |
							    (i & 16 ? 1u << 30 : 0) |
							    (i & 15));
		query_tir(r, tir->obj.num, ctx);
		assert_memory_equal(ctx, m.in + CTX, sizeof(ctx));
		d_assert_ok(r->d, d_simple(r->d, D_DESTROY_TIR, tir->obj.num, NULL));
	}
	rig_close(r);
}

/* As DPDK's driver makes it for its drop queue. Destroying it lets nobody else's domain go. */
static void test_domain_0(void **state)
{
	struct rig *r = rig_open(NULL);
	uint32_t tds = cx_obj_count(r->d->dev, CX_TD);
	struct mailbox m;
	struct cx_tir *tir;

	(void)state;
	rig_build(r, D_CREATE_TIR, &m);
	CX_SET(tirc, m.in + CTX, transport_domain, 0);
	tir = make(r, &m);
	assert_null(tir->td);
	d_assert_ok(r->d, d_simple(r->d, D_DESTROY_TIR, tir->obj.num, NULL));
	assert_int_equal(cx_obj_count(r->d->dev, CX_TD), tds);
	rig_close(r);
}

/* ---- TIR: what is refused ---- */

static const struct refusal create_tir_rows[] = {
	{ CTX, CX_tirc__disp_type, 2, CX_ST_BAD_PARAM, "tirc.disp_type: 2 is not known" },
	{ CTX, CX_tirc__packet_merge_mask, 1, CX_ST_BAD_PARAM,
	  "tirc.packet_merge_mask: 0x1: capability eth.lro_cap is 0" },
	{ CTX, CX_tirc__lro_timeout_period_usecs, 32, CX_ST_BAD_PARAM,
	  "tirc.lro_timeout_period_usecs: 0x20: capability eth.lro_cap is 0" },
	{ CTX, CX_tirc__lro_max_ip_payload_size, 1, CX_ST_BAD_PARAM,
	  "tirc.lro_max_ip_payload_size: " },
	{ CTX, CX_tirc__tunneled_offload_en, 1, CX_ST_BAD_PARAM,
	  "tirc.tunneled_offload_en: " },
	{ CTX, CX_tirc__transport_domain, 0xfff, CX_ST_BAD_RES,
	  "tirc.transport_domain: there is no" },
	{ CTX, CX_tirc__inline_rqn, 5, CX_ST_BAD_PARAM,
	  "tirc.inline_rqn: 0x5, but disp_type" },
	{ CTX, CX_tirc__indirect_table, 0xfff, CX_ST_BAD_RES,
	  "tirc.indirect_table: there is no RQT 0xfff" },
	{ CTX, CX_tirc__rx_hash_fn, 3, CX_ST_BAD_PARAM,
	  "tirc.rx_hash_fn: 3 is not known" },
	{ OUTER, CX_rx_hash_field_select__selected_fields, 0x10, CX_ST_BAD_PARAM,
	  "rx_hash_field_select.selected_fields: 0x10: only 0xf can be hashed" },
	{ INNER, CX_rx_hash_field_select__selected_fields, 1, CX_ST_BAD_PARAM,
	  "tirc.rx_hash_field_selector_inner: 0x1: inner headers" },
	{ INNER, CX_rx_hash_field_select__l3_prot_type, 1, CX_ST_BAD_PARAM,
	  "tirc.rx_hash_field_selector_inner: 0x80000000" },
	{ CTX, CX_tirc__disp_type, 0, CX_ST_BAD_PARAM,
	  "tirc.indirect_table: 0x" }, /* a direct one has no table */
	{ 0 },
};

static void test_each_refusal_of_tir(void **state)
{
	struct rig *r = rig_open(NULL);
	struct mailbox m;

	(void)state;
	rig_refusals(r, D_CREATE_TIR, create_tir_rows);
	for (unsigned fn = 0; fn < 2; fn++) {
		rig_build(r, D_CREATE_TIR, &m);
		CX_SET(tirc, m.in + CTX, rx_hash_fn, fn);
		CX_SET(tirc, m.in + CTX, rx_hash_symmetric, 1);
		rig_refuse(r, &m, CX_ST_BAD_PARAM,
			   "tirc.rx_hash_symmetric: with hash function");
	}
	rig_close(r);
}

static void test_refusals_of_a_direct_tir(void **state)
{
	static const struct {
		uint32_t byte;
		cx_field field;
		const char *log;
	} rows[] = {
		{ CTX, CX_tirc__rx_hash_fn, "tirc.rx_hash_fn: 0x1, but" },
		{ CTX, CX_tirc__rx_hash_symmetric, "tirc.rx_hash_symmetric: 0x1, but" },
		{ CTX + 0x28, CX_dword__value, "tirc.rx_hash_toeplitz_key: 0x1, but" },
		{ OUTER, CX_rx_hash_field_select__selected_fields,
		  "selected_fields: 0x1, but" },
	};
	struct rig *r = rig_open(NULL);
	struct mailbox m;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		rig_build(r, D_CREATE_TIR, &m);
		memset(m.in + CTX, 0, CX_BYTES(tirc));
		CX_SET(tirc, m.in + CTX, inline_rqn, r->rq->num);
		CX_SET(tirc, m.in + CTX, transport_domain, r->d->tdn);
		cx_set(m.in + rows[i].byte, rows[i].field, 1);
		rig_refuse(r, &m, CX_ST_BAD_PARAM, rows[i].log);
	}
	CX_SET(rx_hash_field_select, m.in + OUTER, selected_fields, 0);
	CX_SET(tirc, m.in + CTX, inline_rqn, r->sq->num); /* same space, another type */
	rig_refuse(r, &m, CX_ST_BAD_RES, "tirc.inline_rqn: there is no RQ 0x");
	rig_close(r);
}

/* ---- MODIFY_TIR ---- */

static void test_modify_hash(void **state)
{
	struct rig *r = rig_open(NULL);
	struct cx_tir *tir = tir_of(r, r->tirn);
	uint8_t ctx[CX_BYTES(tirc)];
	struct mailbox m;

	(void)state;
	rig_build(r, D_MODIFY_TIR, &m);
	CX_SET(tirc, m.in + CTX, rx_hash_symmetric, 1);
	memset(CX_AT(tirc, m.in + CTX, rx_hash_toeplitz_key), 0x5a, 40);
	CX_SET(rx_hash_field_select, m.in + OUTER, selected_fields, 3);
	d_assert_ok(r->d, rig_cmd(r, &m));
	assert_true(tir->symmetric);
	assert_int_equal(tir->key[39], 0x5a);
	assert_int_equal(tir->outer_select, 1u << 30 | 3);
	query_tir(r, r->tirn, ctx);
	assert_int_equal(CX_AT(tirc, ctx, rx_hash_toeplitz_key)[39], 0x5a);
	assert_int_equal(CX_GET(tirc, ctx, rx_hash_symmetric), 1);
	assert_int_equal(CX_GET(tirc, ctx, indirect_table), r->rqtn); /* as before */
	rig_close(r);
}

static void test_modify_table(void **state)
{
	struct rig *r = rig_open(NULL);
	struct cx_tir *tir = tir_of(r, r->tirn);
	uint32_t rqtn = rig_make(r, D_CREATE_RQT);
	uint8_t ctx[CX_BYTES(tirc)];
	struct mailbox m;

	(void)state;
	rig_build(r, D_MODIFY_TIR, &m);
	memset(m.in + CTX, 0, CX_BYTES(tirc));
	CX_SET(modify_tir_bitmask, m.in + MASK, hash, 0);
	CX_SET(modify_tir_bitmask, m.in + MASK, indirect_table, 1);
	CX_SET(modify_tir_bitmask, m.in + MASK, self_lb_en, 1);
	CX_SET(tirc, m.in + CTX, indirect_table, rqtn);
	CX_SET(tirc, m.in + CTX, self_lb_block, 2);
	d_assert_ok(r->d, rig_cmd(r, &m));
	assert_int_equal(tir->rqt->obj.num, rqtn);
	assert_int_equal(tir->self_lb_block, 2);
	assert_int_equal(tir->fn, CX_HASH_TOEPLITZ); /* as before */
	query_tir(r, r->tirn, ctx);
	assert_int_equal(CX_GET(tirc, ctx, indirect_table), rqtn);
	assert_int_equal(CX_GET(tirc, ctx, self_lb_block), 2);
	d_assert_ok(r->d, d_simple(r->d, D_DESTROY_RQT, r->rqtn, NULL)); /* let go */
	assert_int_equal(d_simple(r->d, D_DESTROY_RQT, rqtn, NULL), CX_ST_BAD_RES_STATE);
	rig_close(r);
}

static const struct refusal modify_tir_rows[] = {
	{ MASK, CX_modify_tir_bitmask__packet_merge, 1, CX_ST_BAD_PARAM,
	  "modify_tir_bitmask.packet_merge: capability eth.lro_cap is 0" },
	{ MASK, CX_modify_tir_bitmask__hash, 0, CX_ST_BAD_PARAM,
	  "but the command does not select" },
	{ MASK, CX_modify_tir_bitmask__indirect_table, 1, CX_ST_BAD_RES,
	  "tirc.indirect_table: there is no RQT 0x0" },
	{ CTX, CX_tirc__transport_domain, 1, CX_ST_BAD_PARAM,
	  "tirc.transport_domain: 0x1, but" },
	{ CTX, CX_tirc__disp_type, 1, CX_ST_BAD_PARAM, "tirc.disp_type: 0x1, but" },
	{ CTX, CX_tirc__rx_hash_fn, 7, CX_ST_BAD_PARAM,
	  "tirc.rx_hash_fn: 7 is not known" },
	{ OUTER, CX_rx_hash_field_select__selected_fields, 0x20, CX_ST_BAD_PARAM,
	  "rx_hash_field_select.selected_fields: 0x20" },
	{ 0 },
};

static void test_each_refusal_of_modify_tir(void **state)
{
	struct rig *r = rig_open(NULL);
	struct cx_tir *tir = tir_of(r, r->tirn);
	uint32_t direct = d_tir(r->d, r->rq->num), select = tir->outer_select;
	struct mailbox m;

	(void)state;
	rig_refusals(r, D_MODIFY_TIR, modify_tir_rows);
	assert_int_equal(tir->outer_select, select);
	rig_build(r, D_MODIFY_TIR, &m);
	CX_SET(modify_tir_in, m.in, tirn, direct);
	rig_refuse(r, &m, CX_ST_BAD_PARAM, "modify_tir_bitmask.hash: TIR 0x");
	d_assert_log(r->d, "is direct");
	rig_close(r);
}

/* ---- RQT ---- */

static void query_rqt(struct rig *r, uint32_t rqtn, uint8_t *out, size_t out_len)
{
	uint8_t in[16] = { 0 };

	CX_SET(query_rqt_in, in, rqtn, rqtn);
	d_assert_ok(r->d, d_cmd(r->d, D_QUERY_RQT, in, sizeof(in), out, out_len));
}

static void test_rqt(void **state)
{
	struct rig *r = rig_open(NULL);
	struct d_rq *rq[4];
	uint32_t rqn[8], rqtn;
	uint8_t out[LIST + 8 * 4];
	struct mailbox m;

	(void)state;
	for (int i = 0; i < 4; i++)
		rq[i] = d_rq(r->d, &(struct d_rq_conf){ .log_size = 1, .cq = r->cq });
	for (int i = 0; i < 8; i++)
		rqn[i] = rq[i % 4]->num;
	d_assert_ok(r->d, d_try_rqt(r->d, rqn, 8, 8, &rqtn));
	query_rqt(r, rqtn, out, sizeof(out));
	assert_int_equal(CX_GET(rqtc, out + CTX, rqt_max_size), 8);
	assert_int_equal(CX_GET(rqtc, out + CTX, rqt_actual_size), 8);
	for (int i = 0; i < 8; i++)
		assert_int_equal(CX_GET(rq_num, out + LIST + 4 * i, rq_num), rqn[i]);
	assert_int_equal(d_simple(r->d, D_DESTROY_RQ, rqn[3], NULL), CX_ST_BAD_RES_STATE);
	rig_build(r, D_MODIFY_RQT, &m); /* to four times the rig's queue */
	CX_SET(modify_rqt_in, m.in, rqtn, rqtn);
	d_assert_ok(r->d, rig_cmd(r, &m));
	query_rqt(r, rqtn, out, sizeof(out));
	assert_int_equal(CX_GET(rqtc, out + CTX, rqt_max_size), 8);
	assert_int_equal(CX_GET(rqtc, out + CTX, rqt_actual_size), 4);
	assert_int_equal(CX_GET(rq_num, out + LIST + 12, rq_num), r->rq->num);
	d_assert_ok(r->d, d_simple(r->d, D_DESTROY_RQ, rqn[3], NULL)); /* let go */
	d_assert_ok(r->d, d_simple(r->d, D_DESTROY_RQT, rqtn, NULL));
	rig_close(r);
}

/* As many entries as the capability says, 2048; DPDK's drop table has one. */
static void test_rqt_sizes(void **state)
{
	struct rig *r = rig_open(NULL);
	static uint32_t rqn[2048];
	uint32_t rqtn;

	(void)state;
	for (int i = 0; i < 2048; i++)
		rqn[i] = r->rq->num;
	for (uint32_t n = 1; n <= 2048; n *= 2)
		d_assert_ok(r->d, d_try_rqt(r->d, rqn, n, 2048, &rqtn));
	assert_int_equal(cx_obj_get(r->d->dev, CX_RQ, r->rq->num, 0)->refs,
			 4 + 2 * 2048 - 1);
	rig_close(r);
}

static const struct refusal create_rqt_rows[] = {
	{ CTX, CX_rqtc__list_q_type, 1, CX_ST_BAD_PARAM,
	  "rqtc.list_q_type: 1 is not known" },
	{ CTX, CX_rqtc__rqt_max_size, 0, CX_ST_BAD_PARAM,
	  "rqtc.rqt_max_size: 0 is not a power" },
	{ CTX, CX_rqtc__rqt_max_size, 12, CX_ST_BAD_PARAM,
	  "rqtc.rqt_max_size: 12 is not a power" },
	{ CTX, CX_rqtc__rqt_max_size, 4096, CX_ST_BAD_PARAM,
	  "rqtc.rqt_max_size: 4096 is not a power of two up to 2048" },
	{ CTX, CX_rqtc__rqt_max_size, 2, CX_ST_BAD_PARAM,
	  "rqtc.rqt_actual_size: 4 is not a power of two up to 2" },
	{ CTX, CX_rqtc__rqt_actual_size, 0, CX_ST_BAD_PARAM, "rqtc.rqt_actual_size: 0" },
	{ CTX, CX_rqtc__rqt_actual_size, 3, CX_ST_BAD_PARAM, "rqtc.rqt_actual_size: 3" },
	{ CTX, CX_rqtc__rqt_actual_size, 8, CX_ST_BAD_IN_LEN,
	  "in_len: 288 bytes hold no 8 entries" },
	{ CTX, CX_rqtc__rqt_actual_size, 2, CX_ST_BAD_PARAM,
	  "create_rqt_in.rq_num: byte 2" },
	{ LIST, CX_rq_num__rq_num, 0xfff, CX_ST_BAD_RES,
	  "rq_num.rq_num: there is no RQ 0xfff" },
	{ LIST + 12, CX_rq_num__rq_num, 0, CX_ST_BAD_RES,
	  "rq_num.rq_num: there is no RQ 0x0" },
	{ 0 },
};

static const struct refusal modify_rqt_rows[] = {
	{ MASK, CX_rqt_bitmask__rqn_list, 0, CX_ST_BAD_PARAM,
	  "rqt_bitmask.rqn_list: nothing" },
	{ CTX, CX_rqtc__rqt_max_size, 8, CX_ST_BAD_PARAM, "rqtc.rqt_max_size: 0x8, but" },
	{ CTX, CX_rqtc__rqt_actual_size, 16, CX_ST_BAD_PARAM,
	  "rqtc.rqt_actual_size: 16" },
	{ CTX, CX_rqtc__rqt_actual_size, 1, CX_ST_BAD_PARAM,
	  "modify_rqt_in.rq_num: byte 2" },
	{ LIST + 4, CX_rq_num__rq_num, 0xfff, CX_ST_BAD_RES,
	  "rq_num.rq_num: there is no RQ" },
	{ 0 },
};

/* A refused change leaves the old list as it was. */
static void test_each_refusal_of_rqt(void **state)
{
	struct rig *r = rig_open(NULL);
	struct cx_obj *rq = cx_obj_get(r->d->dev, CX_RQ, r->rq->num, 0);
	uint8_t in[16] = { 0 }, out[LIST + 12];

	(void)state;
	rig_refusals(r, D_CREATE_RQT, create_rqt_rows);
	rig_refusals(r, D_MODIFY_RQT, modify_rqt_rows);
	assert_int_equal(rq->refs, 4);
	CX_SET(query_rqt_in, in, rqtn, r->rqtn);
	assert_int_equal(d_cmd(r->d, D_QUERY_RQT, in, sizeof(in), out, sizeof(out)),
			 CX_ST_BAD_OUT_LEN);
	d_assert_log(r->d, "have no room for 4 entries");
	rig_close(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tis),
		cmocka_unit_test(test_each_refusal_of_tis),
		cmocka_unit_test(test_direct),
		cmocka_unit_test(test_indirect),
		cmocka_unit_test(test_domain_0),
		cmocka_unit_test(test_each_refusal_of_tir),
		cmocka_unit_test(test_refusals_of_a_direct_tir),
		cmocka_unit_test(test_modify_hash),
		cmocka_unit_test(test_modify_table),
		cmocka_unit_test(test_each_refusal_of_modify_tir),
		cmocka_unit_test(test_rqt),
		cmocka_unit_test(test_rqt_sizes),
		cmocka_unit_test(test_each_refusal_of_rqt),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
