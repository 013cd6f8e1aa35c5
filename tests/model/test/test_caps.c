/* test/test_caps.c - capability groups, overrides, and that a capability switched off is meant */
#include "cmd_rig.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../core/dev.h"

#define CAP_BYTES 4096

static enum cx_status query(struct direct *d, uint16_t op_mod, uint8_t cap[CAP_BYTES])
{
	uint8_t in[CX_BYTES(query_hca_cap_in)] = { 0 }, out[CX_BYTES(query_hca_cap_out)];
	enum cx_status st;

	cx_put_be16(in + 6, op_mod);
	st = d_cmd(d, D_QUERY_HCA_CAP, in, sizeof(in), out, sizeof(out));
	memcpy(cap, CX_AT(query_hca_cap_out, out, capability), CAP_BYTES);
	return st;
}

/* ---- groups ---- */

/* Group numbers: kernel include/linux/mlx5/device.h, enum mlx5_cap_type. */
static void test_known_groups(void **state)
{
	static const uint16_t known[] = { 0x00, 0x01, 0x02, 0x03, 0x04, 0x07,
					  0x08, 0x09, 0x0c, 0x0d, 0x0f, 0x20 };
	struct direct *d = d_open(NULL);
	uint8_t current[CAP_BYTES], max[CAP_BYTES];

	(void)state;
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		assert_int_equal(query(d, (uint16_t)(known[i] << 1 | 1), current),
				 CX_ST_OK);
		assert_int_equal(query(d, (uint16_t)(known[i] << 1), max), CX_ST_OK);
		assert_memory_equal(current, max, CAP_BYTES);
	}
	d_close(d);
}

/* Status and syndrome as the card's: kernel logs of QUERY_HCA_CAP with an unknown op_mod. */
static void test_unknown_groups(void **state)
{
	struct direct *d = d_open(NULL);
	uint8_t cap[CAP_BYTES];
	unsigned refused = 0;

	(void)state;
	for (uint16_t group = 0; group < 0x40; group++) {
		d_forget(d);
		if (query(d, (uint16_t)(group << 1 | 1), cap) == CX_ST_OK)
			continue;
		assert_int_equal(d->syndrome, 0x5add95);
		d_assert_log(d, "query_hca_cap_in.op_mod: capability group 0x");
		refused++;
	}
	assert_int_equal(refused, 0x40 - 12);
	d_close(d);
}

static void test_gated_group(void **state)
{
	struct direct *d = d_open((const char *[]){ "hca.hca_cap_2=0", NULL });
	uint8_t cap[CAP_BYTES];

	(void)state;
	assert_int_equal(query(d, 0x41, cap), CX_ST_BAD_PARAM);
	assert_int_equal(d->syndrome, 0x5add95);
	d_close(d);
}

static void test_another_function(void **state)
{
	static const struct refusal rows[] = {
		{ 0, CX_query_hca_cap_in__other_function, 1, CX_ST_BAD_PARAM,
		  "query_hca_cap_in.other_function: 0x1: capability hca.vport_group_manager is 0" },
		{ 0, CX_query_hca_cap_in__function_id, 2, CX_ST_BAD_PARAM,
		  "query_hca_cap_in.function_id: 0x2" },
		{ 0 },
	};
	struct rig *r = rig_open(NULL);

	(void)state;
	rig_refusals(r, D_QUERY_HCA_CAP, rows);
	rig_close(r);
}

/* Where drivers look for it. Offsets from kernel mlx5_ifc.h, not from caps.def. */
static void test_values_at_their_places(void **state)
{
	static const struct {
		uint16_t group;
		uint32_t bit, width;
		uint64_t value;
	} rows[] = {
		{ 0x00, 0xc8, 8, 22 },	      /* log_max_cq_sz */
		{ 0x00, 0x1b8, 8, 1 },	      /* num_ports */
		{ 0x00, 0x21c, 1, 1 },	      /* eth_net_offloads */
		{ 0x00, 0x4e0, 32, 1000000 }, /* device_frequency_khz */
		{ 0x00, 0x5bf, 1, 1 },	      /* cqe_compression */
		{ 0x00, 0x6a0, 32, 3 },	      /* uctx_cap */
		{ 0x01, 0x00, 1, 1 },	      /* csum_cap */
		{ 0x01, 0x12, 2, 2 },	      /* wqe_inline_mode */
		{ 0x07, 0x200, 1, 1 }, /* flow_table_properties_nic_receive.ft_support */
		{ 0x07, 0x211, 1, 0 }, /* .sw_owner */
		{ 0x07, 0x307, 1, 1 }, /* .ft_field_support.outer_ipv4_ttl */
		{ 0x20, 0xc3, 5, 14 }, /* log_min_stride_wqe_sz */
	};
	struct direct *d = d_open(NULL);
	uint8_t cap[CAP_BYTES];

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_int_equal(query(d, (uint16_t)(rows[i].group << 1 | 1), cap),
				 CX_ST_OK);
		assert_int_equal(cx_get(cap, CX_PACK(rows[i].bit, rows[i].width)),
				 rows[i].value);
	}
	d_close(d);
}

/* ---- overrides ---- */

static void test_override_is_answered(void **state)
{
	struct direct *d = d_open(
		(const char *[]){ "hca.log_max_cq_sz=0x10", "eth.csum_cap=0", NULL });
	uint8_t cap[CAP_BYTES];

	(void)state;
	assert_int_equal(query(d, 0x01, cap), CX_ST_OK);
	assert_int_equal(cx_get(cap, CX_PACK(0xc8, 8)), 16);
	assert_int_equal(query(d, 0x03, cap), CX_ST_OK);
	assert_int_equal(cx_get(cap, CX_PACK(0, 1)), 0);
	assert_int_equal(cx_cap(d->dev, "hca.log_max_cq_sz"), 16);
	assert_int_equal(d->dev->lim.log_max_cq_size, 16);
	d_close(d);
}

static void keep(void *arg, const char *line)
{
	snprintf(arg, 256, "%s", line);
}

static void test_bad_overrides(void **state)
{
	static const struct {
		const char *text, *why;
	} rows[] = {
		{ "hca.cqe_compression", "must be NAME=NUMBER" },
		{ "hca.no_such_thing=1", "there is no such capability" },
		{ "cqe_compression=1", "there is no such capability" },
		{ "hca.cqe_compression=2", "too large for the field" },
		{ "hca.cqe_compression=", "not a number" },
		{ "hca.cqe_compression=-1", "not a number" },
		{ "hca.cqe_compression=0x", "not a number" },
		{ "hca.cqe_compression=1x", "not a number" },
		{ "hca.general_obj_types=0x10000000000000000", "not a number" },
		{ "", "must be NAME=NUMBER" },
	};
	char log[256];
	struct cx_ops ops = { .arg = log, .log = keep };

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const char *caps[] = { rows[i].text, NULL };
		struct cx_conf conf = { .name = "x", .caps = caps };
		struct cx_dev *dev = NULL;

		log[0] = 0;
		assert_int_equal(cx_dev_new(&conf, &ops, &dev), -EINVAL);
		assert_null(dev);
		assert_non_null(strstr(log, rows[i].why));
	}
}

/* ---- the list ---- */

struct marks {
	unsigned documented, assumed, with_source;
	bool cq_size;
};

static void count_marks(void *arg, const char *text)
{
	struct marks *m = arg;

	m->documented += strstr(text, " documented") != NULL;
	m->assumed += strstr(text, " assumed") != NULL;
	m->with_source += strstr(text, " documented: ") != NULL;
	m->cq_size |=
		!strcmp(text, "hca.log_max_cq_sz=22 documented: DEVINFO max_cqe 4194303");
}

static void test_every_value_is_marked(void **state)
{
	struct direct *d = d_open(NULL);
	struct marks m = { 0 };

	(void)state;
	cx_caps_dump(d->dev, count_marks, &m);
	printf("%u capabilities documented, %u assumed\n", m.documented, m.assumed);
	assert_int_equal(m.documented, m.with_source);
	assert_true(m.documented >= 30 && m.assumed >= 100);
	assert_true(m.cq_size);
	d_close(d);
}

static void test_derived_limits(void **state)
{
	struct direct *d = d_open(NULL);
	const struct cx_limits *lim = &d->dev->lim;

	(void)state;
	assert_int_equal(lim->log_min_strides, 3);
	assert_int_equal(lim->log_max_strides, 16);
	assert_int_equal(lim->log_min_stride_bytes, 6);
	assert_int_equal(lim->log_max_stride_bytes, 13);
	assert_int_equal(lim->log_min_stride_wqe, 14);
	assert_int_equal(lim->min_inline_mode, 0);
	assert_true(lim->striding_rq && lim->cqe_compression &&
		    lim->enhanced_compression);
	assert_true(lim->mini_l34 && lim->multi_pkt_send && lim->match_ttl &&
		    lim->ts_real_time);
	d_close(d);
	d = d_open((const char *[]){ "hca.ext_stride_num_range=0",
				     "hca.cqe_compression=0", "eth.wqe_inline_mode=0",
				     NULL });
	lim = &d->dev->lim;
	assert_int_equal(lim->log_min_strides, 9);
	assert_false(lim->enhanced_compression || lim->mini_l34);
	assert_int_equal(lim->min_inline_mode, 1);
	d_close(d);
}

/* ---- a capability switched off is refused where it would be used ---- */

/* Patches on top of a valid mailbox, which is valid with the capability. */
struct off {
	const char *cap;
	uint16_t opcode;
	uint32_t byte;
	cx_field field[2];
	uint64_t value[2];
	const char *log;
};

enum { CQC = 0x10, RQC = 0x20, RQ_WQ = 0x20 + 0x30, RMPC = 0x20 };

/* clang-format off */
static const struct off offs[] = {
	{ "hca.cq_oi=0", D_CREATE_CQ, CQC, { CX_cqc__oi }, { 1 }, "cqc.oi: " },
	{ "hca.cq_moderation=0", D_CREATE_CQ, CQC, { CX_cqc__cq_period }, { 9 },
	  "cqc.cq_period: " },
	{ "hca.cq_moderation=0", D_CREATE_CQ, CQC, { CX_cqc__cq_max_count }, { 9 },
	  "cqc.cq_max_count: " },
	{ "hca.cq_moderation=0", D_MODIFY_CQ, CQC, { 0 }, { 0 }, "cqc.cq_period: " },
	{ "hca.cq_period_start_from_cqe=0", D_CREATE_CQ, CQC, { CX_cqc__cq_period_mode }, { 1 },
	  "cqc.cq_period_mode: " },
	{ "hca.cqe_compression=0", D_CREATE_CQ, CQC, { CX_cqc__cqe_comp_en }, { 1 },
	  "cqc.cqe_comp_en: " },
	{ "hca.enhanced_cqe_compression=0", D_CREATE_CQ, CQC,
	  { CX_cqc__cqe_comp_en, CX_cqc__cqe_comp_layout }, { 1, 1 }, "cqc.cqe_comp_layout: " },
	{ "hca.mini_cqe_resp_flow_tag=0", D_CREATE_CQ, CQC,
	  { CX_cqc__cqe_comp_en, CX_cqc__mini_cqe_res_format }, { 1, 2 },
	  "cqc.mini_cqe_res_format: " },
	{ "hca.mini_cqe_resp_stride_index=0", D_CREATE_CQ, CQC,
	  { CX_cqc__cqe_comp_en, CX_cqc__mini_cqe_res_format }, { 1, 3 },
	  "cqc.mini_cqe_res_format: " },
	{ "hca.mini_cqe_resp_l3_l4_tag=0", D_CREATE_CQ, CQC,
	  { CX_cqc__cqe_comp_en, CX_cqc__mini_cqe_res_format_ext }, { 1, 1 },
	  "cqc.mini_cqe_res_format_ext: " },
	{ "hca.log_max_cq_sz=3", D_CREATE_CQ, CQC, { 0 }, { 0 },
	  "cqc.log_cq_size: 4 is over the limit of 3" },
	{ "eth.multi_pkt_send_wqe=0", D_CREATE_SQ, 0, { 0 }, { 0 },
	  "sqc.allow_multi_pkt_send_wqe: " },
	{ "eth.wqe_inline_mode=0", D_CREATE_SQ, 0, { 0 }, { 0 },
	  "sqc.min_wqe_inline_mode: 0 is not in 1 .. 3" },
	{ "hca.sq_ts_format=0", D_CREATE_SQ, RQC, { CX_sqc__ts_format }, { 2 },
	  "sqc.ts_format: real time, but capability hca.sq_ts_format is 0" },
	{ "hca.rq_ts_format=0", D_CREATE_RQ, RQC, { CX_rqc__ts_format }, { 2 },
	  "rqc.ts_format: real time, but capability hca.rq_ts_format is 0" },
	{ "hca.rq_ts_format=1", D_CREATE_RQ, 0, { 0 }, { 0 }, "rqc.ts_format: free running" },
	{ "hca.log_max_wq_sz=3", D_CREATE_RQ, 0, { 0 }, { 0 },
	  "wq.log_wq_sz: 4 is over the limit of 3" },
	{ "hca.striding_rq=0", D_CREATE_RQ, RQ_WQ, { CX_wq__wq_type }, { 3 },
	  "wq.wq_type: striding" },
	{ "hca.end_pad=0", D_CREATE_RQ, RQ_WQ, { CX_wq__end_padding_mode }, { 1 },
	  "wq.end_padding_mode: " },
	{ "eth.vlan_cap=0", D_CREATE_RQ, RQC, { CX_rqc__vsd }, { 0 }, "rqc.vsd: " },
	{ "eth.scatter_fcs=0", D_CREATE_RQ, RQC, { CX_rqc__scatter_fcs }, { 1 },
	  "rqc.scatter_fcs: " },
	{ "hca.modify_rq_counter_set_id=0", D_MODIFY_RQ, 0, { CX_modify_rq_in__modify_bitmask },
	  { 8 }, "modify_rq_in.modify_bitmask: 0x8, but capability" },
	{ "hca.basic_cyclic_rcv_wqe=0", D_CREATE_RMP, 0, { 0 }, { 0 },
	  "rmpc.basic_cyclic_rcv_wqe: " },
	{ "hca.mem_rq_rmp=0", D_CREATE_RMP, 0, { 0 }, { 0 }, "capability hca.mem_rq_rmp is 0" },
	{ "hca.modify_tis=0", D_MODIFY_TIS, 0, { 0 }, { 0 }, "capability hca.modify_tis is 0" },
	{ "eth.self_lb_en_modifiable=0", D_MODIFY_TIR, 0x10, { CX_modify_tir_bitmask__self_lb_en },
	  { 1 }, "modify_tir_bitmask.self_lb_en: " },
	{ "hca.log_max_rqt_size=2", D_CREATE_RQT, 0, { 0 }, { 0 },
	  "rqtc.rqt_max_size: 8 is not a power of two up to 4" },
	{ "hca.relaxed_ordering_write=0", D_CREATE_MKEY, 0x10, { CX_mkc__relaxed_ordering_write },
	  { 1 }, "mkc.relaxed_ordering_write: " },
	{ "hca.relaxed_ordering_read=0", D_CREATE_MKEY, 0x10, { CX_mkc__relaxed_ordering_read },
	  { 1 }, "mkc.relaxed_ordering_read: " },
	{ "hca.flow_counter_bulk_alloc=0", D_ALLOC_FLOW_COUNTER, 0, { 0 }, { 0 },
	  "alloc_flow_counter_in.flow_counter_bulk: " },
	{ "hca.log_max_flow_counter_bulk=1", D_QUERY_FLOW_COUNTER, 0, { 0 }, { 0 },
	  "query_flow_counter_in.num_of_counters: 4 is over 2^1" },
};
/* clang-format on */

/* A device that has it makes the objects; they and the mailbox go to one that has not. */
static void spoil(const struct off *off, struct mailbox *m)
{
	for (int i = 0; i < 2; i++)
		if (off->field[i])
			cx_set(m->in + off->byte, off->field[i], off->value[i]);
}

/* The rig cannot be built without most of them: so the capability goes when it stands. */
static void switch_off(struct direct *d, const char *text)
{
	const char *caps[] = { text, NULL };

	cx_caps_free(d->dev);
	assert_int_equal(cx_caps_new(d->dev, caps), 0);
}

/* 0: always layer 2, 1: what the port says, 2: nothing. */
static void test_what_sends_must_hold(void **state)
{
	(void)state;
	for (uint8_t port = 0; port < 4; port++) {
		const uint8_t want[] = { 1, port, 0 };
		struct direct *d = d_open(NULL);

		d->dev->port_inline_mode = port;
		for (unsigned cap = 0; cap < 3; cap++) {
			char text[] = "eth.wqe_inline_mode=0";

			text[sizeof(text) - 2] = (char)('0' + cap);
			switch_off(d, text);
			assert_int_equal(d->dev->lim.min_inline_mode, want[cap]);
		}
		d_close(d);
	}
}

static void test_each_capability_off(void **state)
{
	struct mailbox m;

	(void)state;
	for (size_t i = 0; i < sizeof(offs) / sizeof(offs[0]); i++) {
		struct rig *r = rig_open(NULL);
		const struct off *off = &offs[i];
		enum cx_status st;

		rig_build(r, off->opcode, &m);
		switch_off(r->d, off->cap);
		spoil(off, &m);
		d_forget(r->d);
		st = rig_cmd(r, &m);
		assert_true(st == CX_ST_BAD_PARAM || st == CX_ST_BAD_OP);
		d_assert_log(r->d, off->log);
		rig_close(r);
	}
}

/* Without the wider range 512 strides are the least: 2^9 = 512 * 2^0. */
static void test_strides_without_the_wider_range(void **state)
{
	struct direct *d = d_open((const char *[]){ "hca.ext_stride_num_range=0", NULL });
	struct d_cq *cq = d_cq(d, &(struct d_cq_conf){ .log_size = 4 });
	struct d_rq_conf conf = { .log_size = 2,
				  .cq = cq,
				  .striding = true,
				  .log_strides = 8,
				  .log_stride_bytes = 8 };
	struct d_rq *rq;

	(void)state;
	assert_int_equal(d_try_rq(d, &conf, &rq), CX_ST_BAD_PARAM);
	d_assert_log(d,
		     "wq.log_wqe_num_of_strides: 0xf is 2^8 strides, not in 2^9 .. 2^16");
	conf.log_strides = 9;
	assert_int_equal(d_try_rq(d, &conf, &rq), CX_ST_OK);
	d_close(d);
}

/* Numbers: as many objects as the capability says, then "limits exceeded". */
static void test_limit_of_objects(void **state)
{
	struct direct *d = d_open((const char *[]){ "hca.log_max_pd=2", NULL });
	uint32_t pd = 0;

	(void)state;
	while (cx_obj_count(d->dev, CX_PD) < 4)
		assert_int_equal(d_simple(d, D_ALLOC_PD, 0, &pd), CX_ST_OK);
	assert_int_equal(d_simple(d, D_ALLOC_PD, 0, NULL), CX_ST_LIMIT);
	d_assert_log(d, "alloc_pd_out.pd: no number left for another PD");
	assert_int_equal(d_simple(d, D_DEALLOC_PD, pd, NULL), CX_ST_OK);
	assert_int_equal(d_simple(d, D_ALLOC_PD, 0, NULL), CX_ST_OK);
	d_close(d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_known_groups),
		cmocka_unit_test(test_unknown_groups),
		cmocka_unit_test(test_gated_group),
		cmocka_unit_test(test_another_function),
		cmocka_unit_test(test_values_at_their_places),
		cmocka_unit_test(test_override_is_answered),
		cmocka_unit_test(test_bad_overrides),
		cmocka_unit_test(test_every_value_is_marked),
		cmocka_unit_test(test_derived_limits),
		cmocka_unit_test(test_what_sends_must_hold),
		cmocka_unit_test(test_each_capability_off),
		cmocka_unit_test(test_strides_without_the_wider_range),
		cmocka_unit_test(test_limit_of_objects),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
