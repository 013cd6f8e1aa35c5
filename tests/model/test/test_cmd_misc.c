/* test/test_cmd_misc.c - the device, its port, registers, contexts, pages and domains */
#include "cmd_rig.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "../core/dev.h"

/* ---- the device ---- */

static void test_query_adapter(void **state)
{
	struct rig *r = rig_open(NULL);
	struct mailbox m;
	uint8_t *block;

	(void)state;
	rig_build(r, 0x101, &m);
	d_assert_ok(r->d, rig_cmd(r, &m));
	block = CX_AT(query_adapter_out, m.out, query_adapter_struct);
	assert_int_equal(CX_GET(query_adapter_param_block, block, ieee_vendor_id),
			 0x02c9);
	assert_string_equal((char *)CX_AT(query_adapter_param_block, block,
					  vsd_contd_psid),
			    "MT_0000000359");
	rig_close(r);
}

static void test_query_issi(void **state)
{
	struct rig *r = rig_open(NULL);
	struct mailbox m;

	(void)state;
	rig_build(r, 0x10a, &m);
	d_assert_ok(r->d, rig_cmd(r, &m));
	assert_int_equal(CX_GET(query_issi_out, m.out, current_issi), 1);
	assert_int_equal(CX_GET(query_issi_out, m.out, supported_issi_dw0), 3);
	rig_close(r);
}

/* The reserved key is no key of packet memory. */
static void test_special_contexts(void **state)
{
	struct rig *r = rig_open(NULL);
	struct mailbox m;
	const char *why;
	uint32_t key;

	(void)state;
	rig_build(r, 0x203, &m);
	d_assert_ok(r->d, rig_cmd(r, &m));
	key = (uint32_t)CX_GET(query_special_contexts_out, m.out, resd_lkey);
	assert_int_not_equal(key, 0);
	assert_null(cx_dma(r->d->dev, key, r->d->pdn, 0, 1, 0, &why));
	assert_int_equal(CX_GET(query_special_contexts_out, m.out, null_mkey), 0);
	rig_close(r);
}

/* ---- the port ---- */

static void test_vport_context(void **state)
{
	struct rig *r = rig_open(NULL);
	struct mailbox m;
	uint8_t *ctx, *mac;

	(void)state;
	rig_build(r, 0x754, &m);
	d_assert_ok(r->d, rig_cmd(r, &m));
	ctx = CX_AT(query_nic_vport_context_out, m.out, nic_vport_context);
	mac = CX_AT(nic_vport_context, ctx, permanent_address);
	assert_int_equal(CX_GET(mac_address_layout, mac, mac_addr_47_32), 0x0200);
	assert_int_equal(CX_GET(mac_address_layout, mac, mac_addr_31_0), 1);
	assert_int_equal(CX_GET(nic_vport_context, ctx, mtu), 1522);
	assert_int_equal(CX_GET(nic_vport_context, ctx, node_guid),
			 UINT64_C(0x0200000300000001));
	assert_int_equal(CX_GET(nic_vport_context, ctx, system_image_guid),
			 UINT64_C(0x0200000300000001));
	assert_int_equal(CX_GET(nic_vport_context, ctx, min_wqe_inline_mode), 0);
	assert_int_equal(CX_GET(nic_vport_context, ctx, allowed_list_size), 0);
	cx_mtu_set(r->d->dev, 9000);
	r->d->dev->system_image_guid = UINT64_C(0x1234567812345678);
	d_assert_ok(r->d, rig_cmd(r, &m));
	assert_int_equal(CX_GET(nic_vport_context, ctx, mtu), 9022);
	assert_int_equal(CX_GET(nic_vport_context, ctx, system_image_guid),
			 UINT64_C(0x1234567812345678));
	rig_close(r);
}

static void test_vport_state(void **state)
{
	struct rig *r = rig_open(NULL);
	struct mailbox m;

	(void)state;
	rig_build(r, 0x750, &m);
	d_assert_ok(r->d, rig_cmd(r, &m));
	assert_int_equal(CX_GET(query_vport_state_out, m.out, state), 1);
	assert_int_equal(CX_GET(query_vport_state_out, m.out, admin_state), 1);
	cx_link_set(r->d->dev, false);
	d_assert_ok(r->d, rig_cmd(r, &m));
	assert_int_equal(CX_GET(query_vport_state_out, m.out, state), 0);
	rig_close(r);
}

/* Each destination once, twice, three times, in both directions; then clear. */
static void test_vport_counter(void **state)
{
	static const uint8_t dmac[3][6] = { { 2 },
					    { 1, 0, 0x5e },
					    { 255, 255, 255, 255, 255, 255 } };
	static const cx_field rx[] = {
		CX_query_vport_counter_out__received_eth_unicast,
		CX_query_vport_counter_out__received_eth_multicast,
		CX_query_vport_counter_out__received_eth_broadcast
	};
	static const cx_field tx[] = {
		CX_query_vport_counter_out__transmitted_eth_unicast,
		CX_query_vport_counter_out__transmitted_eth_multicast,
		CX_query_vport_counter_out__transmitted_eth_broadcast
	};
	struct rig *r = rig_open(NULL);
	struct d_sq *sq = d_sq(r->d, &(struct d_sq_conf){ .log_size = 4, .cq = r->cq });
	uint8_t frame[80] = { 0 };
	struct mailbox m;

	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		memcpy(frame, dmac[i], 6);
		for (unsigned n = 0; n <= i; n++) {
			cx_rx(r->d->dev, frame, 70);
			d_send(sq, frame, 80);
			d_run(r->d);
		}
	}
	cx_kernel_tx(r->d->dev, frame,
		     60); /* a broadcast of the kernel leaves here, too */
	rig_build(r, 0x770, &m);
	CX_SET(query_vport_counter_in, m.in, port_num, 1);
	CX_SET(query_vport_counter_in, m.in, clear, 1);
	d_assert_ok(r->d, rig_cmd(r, &m));
	for (unsigned i = 0; i < 3; i++) {
		uint8_t *in = cx_at(m.out, rx[i]), *out = cx_at(m.out, tx[i]);

		assert_int_equal(CX_GET(traffic_counter, in, packets), i + 1);
		assert_int_equal(CX_GET(traffic_counter, in, octets), 70 * (i + 1));
		assert_int_equal(CX_GET(traffic_counter, out, packets), i + 1 + (i == 2));
		assert_int_equal(CX_GET(traffic_counter, out, octets),
				 80 * (i + 1) + (i == 2) * 60);
	}
	d_assert_ok(r->d, rig_cmd(r, &m));
	assert_int_equal(CX_GET(traffic_counter, cx_at(m.out, rx[2]), packets), 0);
	assert_int_equal(CX_GET(traffic_counter, cx_at(m.out, tx[0]), octets), 0);
	rig_close(r);
}

static const struct refusal context_rows[] = {
	{ 0, CX_query_nic_vport_context_in__other_vport, 1, CX_ST_BAD_PARAM,
	  "query_nic_vport_context_in.other_vport: another port" },
	{ 0, CX_query_nic_vport_context_in__vport_number, 1, CX_ST_BAD_PARAM,
	  "query_nic_vport_context_in.other_vport: another port" },
	{ 0, CX_query_nic_vport_context_in__allowed_list_type, 3, CX_ST_BAD_PARAM,
	  "query_nic_vport_context_in.allowed_list_type: 3 is not known" },
	{ 0 },
};

static const struct refusal state_rows[] = {
	{ 0, CX_query_vport_state_in__other_vport, 1, CX_ST_BAD_PARAM,
	  "query_vport_state_in.other_vport: another port" },
	{ 0 },
};

static const struct refusal counter_rows[] = {
	{ 0, CX_query_vport_counter_in__vport_number, 9, CX_ST_BAD_PARAM,
	  "query_vport_counter_in.other_vport: another port" },
	{ 0, CX_query_vport_counter_in__port_num, 2, CX_ST_BAD_PARAM,
	  "query_vport_counter_in.port_num: 2, but the function has one port" },
	{ 0 },
};

static void test_each_refusal_of_the_port(void **state)
{
	struct rig *r = rig_open(NULL);

	(void)state;
	rig_refusals(r, 0x754, context_rows);
	rig_refusals(r, 0x750, state_rows);
	rig_refusals(r, 0x770, counter_rows);
	rig_close(r);
}

/* ---- registers ---- */

static void test_register(void **state)
{
	struct rig *r = rig_open(NULL);
	struct mailbox m;

	(void)state;
	cx_clock_advance(r->d->dev, UINT64_C(7000000123));
	rig_build(r, 0xb0c, &m);
	d_assert_ok(r->d, rig_cmd(r, &m));
	assert_int_equal(CX_GET(register_mtutc, m.out + 16, time_stamp_mode), 0);
	assert_int_equal(CX_GET(register_mtutc, m.out + 16, utc_sec), 7);
	assert_int_equal(CX_GET(register_mtutc, m.out + 16, utc_nsec), 123);
	rig_build(r, 0x805, &m);
	d_assert_ok(r->d, rig_cmd(r, &m)); /* by the kernel */
	rig_close(r);
}

static const struct refusal register_rows[] = {
	{ 0, CX_access_register_in__op_mod, 0, CX_ST_BAD_PARAM,
	  "access_register_in.op_mod: registers cannot be written" },
	{ 0, CX_access_register_in__op_mod, 2, CX_ST_BAD_PARAM,
	  "access_register_in.op_mod: not" },
	{ 0, CX_access_register_in__register_id, 0x5006, CX_ST_BAD_RES,
	  "access_register_in.register_id: there is no register 0x5006" },
	{ 0, CX_access_register_in__argument, 1, CX_ST_BAD_PARAM,
	  "access_register_in.argument: 0x1" },
	{ 0 },
};

static void test_each_refusal_of_registers(void **state)
{
	struct rig *r = rig_open(NULL);
	struct mailbox m;

	(void)state;
	rig_refusals(r, 0xb0c, register_rows);
	rig_build(r, 0xb0c, &m);
	m.out_len = 16 + 27;
	rig_refuse(r, &m, CX_ST_BAD_OUT_LEN,
		   "out_len: 43 bytes have no room for register 0x9055");
	rig_close(r);
	r = rig_open((const char *[]){ "hca.access_register_user=0", NULL });
	rig_build(r, 0xb0c, &m);
	rig_refuse(r, &m, CX_ST_BAD_OP,
		   "opcode: capability hca.access_register_user is 0");
	rig_close(r);
}

/* ---- contexts ---- */

static void test_uctx(void **state)
{
	static const struct refusal rows[] = {
		{ 0x10, CX_uctx__cap, 4, CX_ST_BAD_PARAM,
		  "uctx.cap: 0x4 is not in capability hca.uctx_cap 0x3" },
		{ 0 },
	};
	struct rig *r = rig_open(NULL);
	uint16_t uid = (uint16_t)rig_make(r, D_CREATE_UCTX), own = r->d->uid;
	uint32_t pd;
	struct mailbox m;

	(void)state;
	rig_refusals(r, D_CREATE_UCTX, rows);
	r->d->uid = uid;
	pd = d_pd(r->d);
	r->d->uid = own;
	rig_build(r, D_DESTROY_UCTX, &m);
	CX_SET(destroy_uctx_in, m.in, uctx_uid, uid);
	rig_refuse(r, &m, CX_ST_BAD_RES_STATE, "destroy_uctx_in.uctx_uid: UCTX 0x");
	d_assert_log(r->d, "still owns 1 objects");
	assert_int_equal(d_simple(r->d, D_DEALLOC_PD, pd, NULL),
			 CX_ST_BAD_RES); /* not ours */
	r->d->uid = uid;
	d_assert_ok(r->d, d_simple(r->d, D_DEALLOC_PD, pd, NULL));
	r->d->uid = own;
	d_assert_ok(r->d, rig_cmd(r, &m));
	r->d->uid = uid; /* nobody any more */
	assert_int_equal(d_simple(r->d, D_ALLOC_PD, 0, NULL), CX_ST_BAD_PARAM);
	r->d->uid = own;
	rig_close(r);
}

/* Memory does not come by command. */
static void test_umem_commands(void **state)
{
	struct rig *r = rig_open(NULL);
	uint8_t in[CX_BYTES(create_umem_in)] = { 0 }, out[16];

	(void)state;
	assert_int_equal(d_cmd(r->d, 0xa08, in, sizeof(in), out, sizeof(out)),
			 CX_ST_BAD_OP);
	d_assert_log(r->d, "CREATE_UMEM uid");
	d_assert_log(r->d, "opcode: memory comes by cx_umem_reg()");
	assert_int_equal(d_simple(r->d, 0xa0a, r->umem.num, NULL), CX_ST_BAD_OP);
	rig_close(r);
}

/* ---- what is in use stays ---- */

struct use {
	const char *name;
	uint16_t opcode;
	uint32_t num, refs;
};

static void test_each_object_in_use(void **state)
{
	struct rig *r = rig_open(NULL);
	uint32_t tirn = d_tir(r->d, r->rq->num), n = 0;
	struct use uses[] = {
		{ "PD", D_DEALLOC_PD, r->d->pdn, 0 },
		{ "TD", D_DEALLOC_TD, r->d->tdn, 0 },
		{ "UAR", D_DEALLOC_UAR, r->d->uar->num, 0 },
		{ "CQ", D_DESTROY_CQ, r->cq->num, 0 },
		{ "RQ", D_DESTROY_RQ, r->rq->num, 0 },
		{ "TIS", D_DESTROY_TIS, r->d->tisn, 0 },
		{ "RQT", D_DESTROY_RQT, r->rqtn, 0 },
		{ "TIR", D_DESTROY_TIR, tirn, 0 },
	};

	(void)state;
	d_all_to(r->d, tirn);
	for (; n < sizeof(uses) / sizeof(uses[0]); n++) {
		char text[32];

		d_forget(r->d);
		snprintf(text, sizeof(text), "%s 0x%x is in use (", uses[n].name,
			 uses[n].num);
		assert_int_equal(d_simple(r->d, uses[n].opcode, uses[n].num, NULL),
				 CX_ST_BAD_RES_STATE);
		d_assert_log(r->d, text);
		assert_int_not_equal(r->d->syndrome, 0);
	}
	/* Syndrome: kernel commit messages, "DEALLOC_PD failed, bad resource state, 0xef0c8a". */
	assert_int_equal(d_simple(r->d, D_DEALLOC_PD, r->d->pdn, NULL),
			 CX_ST_BAD_RES_STATE);
	assert_int_equal(r->d->syndrome, 0xef0c8a);
	assert_int_equal(cx_umem_dereg(r->d->dev, r->d->uid, r->umem.num), -EBUSY);
	rig_close(r);
}

/* In the order of a program that cleans up. Nothing stays, neither object nor reference. */
static void test_everything_goes(void **state)
{
	struct rig *r = rig_open(NULL);
	struct direct *d = r->d;
	uint8_t in[16] = { 0 }, out[16];
	uint16_t uid = d->uid;

	(void)state;
	d_assert_ok(d, d_simple(d, D_DESTROY_TIR, r->tirn, NULL));
	d_assert_ok(d, d_simple(d, D_DESTROY_RQT, r->rqtn, NULL));
	d_assert_ok(d, d_simple(d, D_DESTROY_RQ, r->rq->num, NULL));
	d_assert_ok(d, d_simple(d, D_DESTROY_RMP, r->rmpn, NULL));
	d_assert_ok(d, d_simple(d, D_DESTROY_SQ, r->sq->num, NULL));
	d_assert_ok(d, d_simple(d, D_DESTROY_CQ, r->cq->num, NULL));
	d_assert_ok(d, d_simple(d, D_DESTROY_MKEY, r->mkey, NULL));
	d_assert_ok(d, d_simple(d, D_DESTROY_TIS, d->tisn, NULL));
	d_assert_ok(d, d_simple(d, D_DEALLOC_TD, d->tdn, NULL));
	d_assert_ok(d, d_simple(d, D_DEALLOC_UAR, d->uar->num, NULL));
	CX_SET(dealloc_flow_counter_in, in, flow_counter_id, r->flow_counter);
	d_assert_ok(d,
		    d_cmd(d, D_DEALLOC_FLOW_COUNTER, in, sizeof(in), out, sizeof(out)));
	memset(in, 0, sizeof(in));
	CX_SET(dealloc_q_counter_in, in, counter_set_id, r->q_counter);
	d_assert_ok(d, d_cmd(d, D_DEALLOC_Q_COUNTER, in, sizeof(in), out, sizeof(out)));
	for (uint32_t key = 0x100; cx_obj_count(d->dev, CX_MKEY);
	     key++) { /* the queues' own */
		struct cx_obj *obj = cx_obj_get(d->dev, CX_MKEY, key, 0);

		if (obj)
			d_assert_ok(d, d_simple(d, D_DESTROY_MKEY, key, NULL));
	}
	for (uint32_t num = 1; cx_obj_count(d->dev, CX_UMEM); num++)
		if (cx_obj_get(d->dev, CX_UMEM, num, 0))
			assert_int_equal(cx_umem_dereg(d->dev, uid, num), 0);
	d_assert_ok(d, d_simple(d, D_DEALLOC_PD, d->pdn, NULL));
	assert_int_equal(cx_obj_count_uid(d->dev, uid), 0);
	memset(in, 0, sizeof(in));
	CX_SET(destroy_uctx_in, in, uctx_uid, uid);
	d->uid = 0;
	d_assert_ok(d, d_cmd(d, D_DESTROY_UCTX, in, sizeof(in), out, sizeof(out)));
	assert_int_equal(rig_objects(r),
			 CX_COMP_VECTORS + 1); /* event queues, other context */
	rig_close(r);
}

/* ---- one after the other, as DPDK opens a port ---- */

/* Source: DPDK mlx5_dev_ctx (TIS, TD), mlx5_txq_devx_obj_new, mlx5_rxq_devx_obj_new,
 * mlx5_devx_drop_action_create, and what the real program was seen to send. */
static void test_as_dpdk_does(void **state)
{
	struct direct *d = d_open(NULL);
	uint32_t tdn = d_td(d), rqn[1], rqtn, tirn;
	struct d_cq *tx_cq = d_cq(d, &(struct d_cq_conf){ .log_size = 3 });
	struct d_cq *rx_cq =
		d_cq(d, &(struct d_cq_conf){ .log_size = 8, .comp = 2, .mini = 3 });
	struct d_cq *drop_cq = d_cq(d, &(struct d_cq_conf){ .log_size = 0, .comp = 2 });
	struct d_tir_conf tir = { .hash_fn = 2 };
	struct d_rq *drop, *rx;
	struct d_sq *tx;

	(void)state;
	d->tdn = tdn;
	d->tisn = d_tis(d);
	drop = d_rq(d, &(struct d_rq_conf){ .log_size = 0, .cq = drop_cq });
	rqn[0] = drop->num;
	d_assert_ok(d, d_try_rqt(d, rqn, 1, 512, &rqtn));
	tir.rqtn = rqtn; /* Toeplitz over nothing: the drop queue's TIR */
	d_assert_ok(d, d_try_tir(d, &tir, &tirn));
	tx = d_sq(d, &(struct d_sq_conf){ .log_size = 8, .cq = tx_cq, .ts_format = 1 });
	rx = d_rq(d, &(struct d_rq_conf){ .log_size = 4,
					  .cq = rx_cq,
					  .striding = true,
					  .log_strides = 6,
					  .log_stride_bytes = 11,
					  .ts_format = 1 });
	d_assert_ok(d, d_rq_state(rx, 1, 0)); /* port stop and start: RDY2RST, RST2RDY */
	d_assert_ok(d, d_rq_state(rx, 0, 1));
	d_assert_ok(d, d_sq_state(tx, 1, 0));
	d_assert_ok(d, d_sq_state(tx, 0, 1));
	d_assert_no_log(d, "mlx5_0: ");
	d_close(d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_query_adapter),
		cmocka_unit_test(test_query_issi),
		cmocka_unit_test(test_special_contexts),
		cmocka_unit_test(test_vport_context),
		cmocka_unit_test(test_vport_state),
		cmocka_unit_test(test_vport_counter),
		cmocka_unit_test(test_each_refusal_of_the_port),
		cmocka_unit_test(test_register),
		cmocka_unit_test(test_each_refusal_of_registers),
		cmocka_unit_test(test_uctx),
		cmocka_unit_test(test_umem_commands),
		cmocka_unit_test(test_each_object_in_use),
		cmocka_unit_test(test_everything_goes),
		cmocka_unit_test(test_as_dpdk_does),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
