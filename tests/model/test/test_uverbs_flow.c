/* test/test_uverbs_flow.c - the kernel's flow steering, and who may use it
 *
 * Rules by matcher, as DevX programs make them; ibv_create_flow() is in
 * test_uverbs_vflow.c.
 */
#define _GNU_SOURCE 1
#include "uvrig.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const uint8_t mac1[6] = { 2, 0, 0, 0, 0, 1 }, mac2[6] = { 2, 0, 0, 0, 0, 2 };
static const uint8_t group_mac[6] = { 1, 0, 0x5e, 0, 0, 1 };
static struct uvr_match to_mac1, to_mac2, to_group, to_all;
static struct uvr_ctx a, b;
static struct uvr_receiver of_a, of_b;

enum {
	DEFAULT_MISS = MLX5_IB_ATTR_CREATE_FLOW_FLAGS_DEFAULT_MISS,
	DROP = MLX5_IB_ATTR_CREATE_FLOW_FLAGS_DROP
};

static int set_up(void **state)
{
	(void)state;
	uvr_start("eth0=loop", "eth1=loop");
	uvr_open(&a, 0);
	uvr_open(&b, 0);
	uvr_receiver(&a, &of_a, -1);
	uvr_receiver(&b, &of_b, -1);
	uvr_match_mac(&to_mac1, mac1);
	uvr_match_mac(&to_mac2, mac2);
	uvr_match_mac(&to_group, group_mac);
	memset(&to_all, 0, sizeof(to_all));
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	uvr_close(&b);
	uvr_close(&a);
	uvr_stop();
	return 0;
}

/* How many frames each has by now; and what became of the frame. */
static void expect(unsigned verdict, unsigned want, unsigned n_a, unsigned n_b)
{
	assert_int_equal(verdict, want);
	assert_int_equal(uvr_drain(&of_a), n_a);
	assert_int_equal(uvr_drain(&of_b), n_b);
}

static int flow_by(struct uvr_ctx *c, const struct uvr_match *m, uint16_t priority,
		   struct uvr_rule rule, uint32_t *flow)
{
	rule.match = m;
	assert_int_equal(
		uvr_matcher(c->fd, m, m == &to_all ? 0 : 1, priority, &rule.matcher), 0);
	return uvr_flow(c->fd, &rule, flow);
}

static uint32_t flag_flow(struct uvr_ctx *c, const struct uvr_match *m, uint16_t priority,
			  uint32_t flags)
{
	uint32_t flow;

	assert_int_equal(
		flow_by(c, m, priority, (struct uvr_rule){ .flags = flags }, &flow), 0);
	return flow;
}

/* ---- where frames go ---- */

static void a_rule_takes_what_it_matches(void **state)
{
	uint32_t flow;

	(void)state;
	expect(uvr_frame_to(0, mac1), CX_RX_KERNEL, 0, 0);
	flow = uvr_flow_to(&of_a, &to_mac1, 0);
	expect(uvr_frame_to(0, mac1), CX_RX_QUEUED, 1, 0);
	expect(uvr_frame_to(0, mac2), CX_RX_KERNEL, 0, 0);
	expect(uvr_frame_to(1, mac1), CX_RX_KERNEL, 0, 0);
	assert_int_equal(uvr_destroy_flow(a.fd, flow), 0);
	expect(uvr_frame_to(0, mac1), CX_RX_KERNEL, 0, 0);
	assert_int_equal(uvr_count(0, CX_FTE), 0);
}

static void programs_that_want_the_same_both_get_it(void **state)
{
	uint32_t first, second, third;

	(void)state;
	first = uvr_flow_to(&of_a, &to_mac1, 0);
	second = uvr_flow_to(&of_b, &to_mac1, 0);
	third = uvr_flow_to(&of_a, &to_mac1, 0); /* the same place twice is once */
	expect(uvr_frame_to(0, mac1), CX_RX_QUEUED, 1, 1);
	assert_int_equal(uvr_destroy_flow(a.fd, first), 0);
	expect(uvr_frame_to(0, mac1), CX_RX_QUEUED, 1, 1);
	assert_int_equal(uvr_destroy_flow(b.fd, second), 0);
	expect(uvr_frame_to(0, mac1), CX_RX_QUEUED, 1, 0);
	assert_int_equal(uvr_destroy_flow(a.fd, third), 0);
	expect(uvr_frame_to(0, mac1), CX_RX_KERNEL, 0, 0);
}

static void the_smaller_number_goes_first(void **state)
{
	uint32_t early, late;

	(void)state;
	late = uvr_flow_to(&of_b, &to_mac1, 7);
	expect(uvr_frame_to(0, mac1), CX_RX_QUEUED, 0, 1);
	early = uvr_flow_to(&of_a, &to_mac1, 3);
	expect(uvr_frame_to(0, mac1), CX_RX_QUEUED, 1, 0);
	flag_flow(&a, &to_all, 5, DROP); /* between them, for all */
	expect(uvr_frame_to(0, mac2), CX_RX_RULE_DROP, 0, 0);
	expect(uvr_frame_to(0, mac1), CX_RX_QUEUED, 1, 0);
	assert_int_equal(uvr_destroy_flow(a.fd, early), 0);
	expect(uvr_frame_to(0, mac1), CX_RX_RULE_DROP, 0, 0);
	assert_int_equal(uvr_destroy_flow(b.fd, late), 0);
}

/* "Default miss" passes what programs want later, not only the next priority. */
static void a_default_miss_leaves_frames_to_the_netdev(void **state)
{
	uint32_t miss;

	(void)state;
	uvr_flow_to(&of_b, &to_mac1, 9);
	uvr_flow_to(&of_b, &to_mac2, 9);
	miss = flag_flow(&a, &to_mac1, 2, DEFAULT_MISS);
	expect(uvr_frame_to(0, mac1), CX_RX_KERNEL, 0, 0);
	expect(uvr_frame_to(0, mac2), CX_RX_QUEUED, 0, 1);
	assert_int_equal(uvr_destroy_flow(a.fd, miss), 0);
	expect(uvr_frame_to(0, mac1), CX_RX_QUEUED, 0, 1);
}

static void multicast_has_a_place_after_all(void **state)
{
	(void)state;
	uvr_flow_to(&of_a, &to_group, 0);
	expect(uvr_frame_to(0, group_mac), CX_RX_QUEUED, 1, 0);
	flag_flow(&b, &to_all, 15, DROP);
	expect(uvr_frame_to(0, group_mac), CX_RX_RULE_DROP, 0, 0);
}

/* A table has room for few masks of many values; a mask more than that gets less room. */
static void a_hundred_masks_and_a_thousand_values(void **state)
{
	size_t at = cx_field_offset(CX_fte_match_set_lyr_2_4__dmac_47_16) / 8;
	struct uvr_match m = to_mac1;
	struct uvr_rule rule = { .match = &m, .qp = &of_a.qp.handle };
	uint8_t mac[6];
	uint32_t flow, fg;

	(void)state;
	assert_int_equal(uvr_matcher(a.fd, &m, 1, 0, &rule.matcher), 0);
	for (unsigned i = 0; i < 1000; i++) {
		cx_put_be16(m.value + at + 4, (uint16_t)(i + 1));
		assert_int_equal(uvr_flow(a.fd, &rule, &flow), 0);
	}
	fg = uvr_count(0, CX_FG);
	for (unsigned i = 0; i < 20; i++) {
		memset(m.mask, 0, sizeof(m.mask));
		memset(m.value, 0, sizeof(m.value));
		cx_put_be32(m.mask + at, 1u << (i + 3)); /* not the multicast bit */
		cx_put_be32(m.value + at, 1u << (i + 3));
		uvr_flow_to(&of_b, &m, 0);
	}
	assert_int_equal(uvr_count(0, CX_FG), fg + 20);
	assert_int_equal(uvr_count(0, CX_FTE), 1020);
	memcpy(mac, mac1, 6);
	for (unsigned i = 0; i < 1000; i += 37) {
		cx_put_be16(mac + 4, (uint16_t)(i + 1));
		expect(uvr_frame_to(0, mac), CX_RX_QUEUED, 1, 0);
	}
	uvr_close(&b);
	uvr_close(&a);
	assert_int_equal(uvr_count(0, CX_FTE), 0);
	assert_int_equal(uvr_count(0, CX_FG), 0);
	uvr_open(&a, 0);
	uvr_open(&b, 0);
}

/* ---- destinations ---- */

static uint64_t packets_of(uint32_t handle, uint32_t id)
{
	uint8_t in[CX_BYTES(query_flow_counter_in)] = { 0 };
	uint8_t out[16 + 16] = { 0 };

	CX_SET(query_flow_counter_in, in, opcode, CX_OP_QUERY_FLOW_COUNTER);
	CX_SET(query_flow_counter_in, in, flow_counter_id, id);
	assert_int_equal(uvr_query(a.fd, handle, in, sizeof(in), out, sizeof(out)), 0);
	return cx_be64(out + 16);
}

static void a_tir_of_the_programs_own(void **state)
{
	struct uvr_dcq cq;
	struct uvr_drq rq;
	const uint8_t *cqe;
	uint32_t flow, tag = 0xabcdef;

	(void)state;
	uvr_dcq(&a, &cq);
	uvr_drq(&a, &rq, cq.cqn);
	assert_int_equal(flow_by(&a, &to_mac1, 0,
				 (struct uvr_rule){ .devx = &rq.tir, .tag = &tag },
				 &flow),
			 0);
	assert_int_equal(uvr_frame_to(0, mac1), CX_RX_QUEUED);
	cqe = uvr_dpoll(&cq);
	assert_non_null(cqe);
	assert_int_equal(cx_be32(cqe + 0x38) & 0xffffff, tag);
	assert_int_equal(uvr_devx_destroy(a.fd, rq.tir), EINVAL); /* a rule leads there */
	assert_int_equal(uvr_destroy_flow(a.fd, flow), 0);
	uvr_drq_destroy(&a, &rq);
	assert_int_equal(flow_by(&a, &to_mac1, 0, (struct uvr_rule){ .devx = &cq.handle },
				 &flow),
			 EINVAL);
}

static void rules_count_and_tag(void **state)
{
	uint32_t counter, id, flow, tag = 0x123456, big = 0x1000000;
	struct uvr_rule rule = { .qp = &of_a.qp.handle,
				 .counter = &counter,
				 .tag = &tag };
	const uint8_t *cqe;

	(void)state;
	assert_int_equal(uvr_alloc(a.fd, CX_OP_ALLOC_FLOW_COUNTER, &counter, &id), 0);
	assert_int_equal(flow_by(&a, &to_mac1, 0, rule, &flow), 0);
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(uvr_frame_to(0, mac1), CX_RX_QUEUED);
	assert_int_equal(packets_of(counter, id), 3);
	cqe = uvr_poll(&of_a.cq);
	assert_non_null(cqe);
	assert_int_equal(cx_be32(cqe + 0x38) & 0xffffff, tag);
	assert_int_equal(uvr_devx_destroy(a.fd, counter), EINVAL); /* in use */
	assert_int_equal(uvr_destroy_flow(a.fd, flow), 0);
	assert_int_equal(uvr_devx_destroy(a.fd, counter), 0);
	rule = (struct uvr_rule){ .qp = &of_a.qp.handle, .tag = &big };
	assert_int_equal(flow_by(&a, &to_mac1, 0, rule, &flow), EINVAL);
	rule = (struct uvr_rule){ .qp = &of_a.qp.handle, .counter = &a.pd };
	assert_int_not_equal(flow_by(&a, &to_mac1, 0, rule, &flow), 0);
}

/* A table that the program filled itself; here an empty one, which leaves frames to the port. */
static void a_table_of_the_programs_own(void **state)
{
	uint8_t in[CX_BYTES(create_flow_table_in)] = { 0 }, out[16] = { 0 };
	uint8_t *ctx = CX_AT(create_flow_table_in, in, flow_table_context);
	uint32_t table, flow;

	(void)state;
	CX_SET(create_flow_table_in, in, opcode, CX_OP_CREATE_FLOW_TABLE);
	CX_SET(flow_table_context, ctx, level, 63);
	CX_SET(flow_table_context, ctx, log_size, 2);
	assert_int_equal(uvr_create(a.fd, in, sizeof(in), out, sizeof(out), &table), 0);
	uvr_flow_to(&of_b, &to_mac1, 5);
	assert_int_equal(
		flow_by(&a, &to_mac1, 0, (struct uvr_rule){ .devx = &table }, &flow), 0);
	expect(uvr_frame_to(0, mac1), CX_RX_KERNEL, 0, 0);
	assert_int_equal(uvr_devx_destroy(a.fd, table), EINVAL); /* a rule leads there */
	assert_int_equal(uvr_destroy_flow(a.fd, flow), 0);
	expect(uvr_frame_to(0, mac1), CX_RX_QUEUED, 0, 1);
	assert_int_equal(uvr_devx_destroy(a.fd, table), 0);
}

/* One entry in such a table, all by commands of DevX: a frame goes through the kernel's rule, the
 * program's table and its TIR into its queue. */
static void a_table_filled_by_the_program(void **state)
{
	uint8_t ft[CX_BYTES(create_flow_table_in)] = { 0 };
	static uint8_t fg[CX_BYTES(create_flow_group_in)],
		fte[CX_BYTES(set_fte_in) + CX_BYTES(dest_format_struct)];
	uint8_t out[CX_BYTES(create_flow_group_out)];
	uint8_t *rule = CX_AT(set_fte_in, fte, flow_context);
	uint32_t table, group, entry, flow, table_id;
	struct uvr_dcq cq;
	struct uvr_drq rq;

	(void)state;
	uvr_dcq(&a, &cq);
	uvr_drq(&a, &rq, cq.cqn);
	CX_SET(create_flow_table_in, ft, opcode, CX_OP_CREATE_FLOW_TABLE);
	CX_SET(flow_table_context, CX_AT(create_flow_table_in, ft, flow_table_context),
	       level, 63);
	assert_int_equal(uvr_create(a.fd, ft, sizeof(ft), out, sizeof(out), &table), 0);
	table_id = (uint32_t)CX_GET(create_flow_table_out, out, table_id);
	CX_SET(create_flow_group_in, fg, opcode, CX_OP_CREATE_FLOW_GROUP);
	CX_SET(create_flow_group_in, fg, table_id, table_id);
	assert_int_equal(uvr_create(a.fd, fg, sizeof(fg), out, sizeof(out), &group), 0);
	CX_SET(set_fte_in, fte, opcode, CX_OP_SET_FLOW_TABLE_ENTRY);
	CX_SET(set_fte_in, fte, table_id, table_id);
	CX_SET(flow_context, rule, group_id,
	       CX_GET(create_flow_group_out, out, group_id));
	CX_SET(flow_context, rule, action, 4); /* forward */
	CX_SET(flow_context, rule, destination_list_size, 1);
	CX_SET(dest_format_struct, fte + CX_BYTES(set_fte_in), destination_type,
	       2); /* TIR */
	CX_SET(dest_format_struct, fte + CX_BYTES(set_fte_in), destination_id, rq.tirn);
	assert_int_equal(uvr_create(a.fd, fte, sizeof(fte), out, sizeof(out), &entry), 0);
	assert_int_equal(
		flow_by(&a, &to_mac1, 0, (struct uvr_rule){ .devx = &table }, &flow), 0);
	assert_int_equal(uvr_frame_to(0, mac1), CX_RX_QUEUED);
	assert_non_null(uvr_dpoll(&cq));
	assert_int_equal(uvr_devx_destroy(a.fd, rq.tir),
			 EINVAL); /* the entry leads there */
	assert_int_equal(uvr_devx_destroy(a.fd, entry), 0);
	assert_int_equal(uvr_frame_to(0, mac1), CX_RX_KERNEL);
	assert_int_equal(uvr_destroy_flow(a.fd, flow), 0);
	assert_int_equal(uvr_devx_destroy(a.fd, group), 0);
	assert_int_equal(uvr_devx_destroy(a.fd, table), 0);
}

static int flow_with_counter(uint32_t counter, const uint32_t *offset, size_t offset_len)
{
	uint32_t matcher;
	struct uvc c;

	assert_int_equal(uvr_matcher(a.fd, &to_mac1, 1, 0, &matcher), 0);
	uvc_begin(&c, UVERBS_OBJECT_FLOW, MLX5_IB_METHOD_CREATE_FLOW);
	uvc_handle(&c, MLX5_IB_ATTR_CREATE_FLOW_HANDLE, 0);
	uvc_in(&c, MLX5_IB_ATTR_CREATE_FLOW_MATCH_VALUE, to_mac1.value, 512);
	uvc_handle(&c, MLX5_IB_ATTR_CREATE_FLOW_MATCHER, matcher);
	uvc_handle(&c, MLX5_IB_ATTR_CREATE_FLOW_DEST_QP, of_a.qp.handle);
	uvc_in(&c, MLX5_IB_ATTR_CREATE_FLOW_ARR_COUNTERS_DEVX, &counter, sizeof(counter));
	uvc_in(&c, MLX5_IB_ATTR_CREATE_FLOW_ARR_COUNTERS_DEVX_OFFSET, offset, offset_len);
	return uvc_run(a.fd, &c);
}

static void one_of_many_counters(void **state)
{
	uint8_t in[CX_BYTES(alloc_flow_counter_in)] = { 0 }, out[16] = { 0 };
	uint32_t counter, id, offset[2] = { 5, 0 };

	(void)state;
	CX_SET(alloc_flow_counter_in, in, opcode, CX_OP_ALLOC_FLOW_COUNTER);
	CX_SET(alloc_flow_counter_in, in, flow_counter_bulk, 4); /* 512 */
	assert_int_equal(uvr_create(a.fd, in, sizeof(in), out, sizeof(out), &counter), 0);
	id = (uint32_t)CX_GET(alloc_flow_counter_out, out, flow_counter_id);
	assert_int_equal(flow_with_counter(counter, offset, 8), EINVAL);
	offset[0] = 512;
	assert_int_equal(flow_with_counter(counter, offset, 4), EINVAL);
	offset[0] = 511;
	assert_int_equal(flow_with_counter(counter, offset, 4), 0);
	expect(uvr_frame_to(0, mac1), CX_RX_QUEUED, 1, 0);
	assert_int_equal(packets_of(counter, id + 511), 1);
}

/* ---- what is refused ---- */

static void destinations_are_checked(void **state)
{
	struct uvr_qp sender;
	struct uvr_dcq cq;
	struct uvr_drq rq;
	uint32_t flow;
	const struct {
		struct uvr_rule rule;
		int err;
	} bad[] = {
		{ { .flags = DROP | DEFAULT_MISS }, EINVAL },
		{ { .flags = 8 }, EINVAL },
		{ { .qp = &of_a.qp.handle, .flags = DROP }, EINVAL },
		{ { .qp = &of_a.qp.handle, .devx = &rq.tir }, EINVAL },
		{ { .qp = &sender.handle }, EINVAL },
		{ { .devx = &rq.handle }, EINVAL },
		{ { 0 }, EINVAL },
	};

	(void)state;
	uvr_dcq(&a, &cq);
	uvr_drq(&a, &rq, cq.cqn);
	assert_int_equal(uvr_qp(&a, &sender, &of_a.cq, 16, 0), 0);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		unsigned lines = uvr_logged("CREATE_FLOW");

		assert_int_equal(flow_by(&a, &to_mac1, 0, bad[i].rule, &flow),
				 bad[i].err);
		assert_int_equal(uvr_logged("CREATE_FLOW"), lines + 1);
	}
	expect(uvr_frame_to(0, mac1), CX_RX_KERNEL, 0, 0);
}

static int matcher_of(struct uvc *c, uint8_t type, const void *prio, size_t bytes)
{
	static const uint8_t criteria = 1;
	struct uvc_attr *t;

	uvc_begin(c, MLX5_IB_OBJECT_FLOW_MATCHER, MLX5_IB_METHOD_FLOW_MATCHER_CREATE);
	uvc_handle(c, MLX5_IB_ATTR_FLOW_MATCHER_CREATE_HANDLE, 0);
	uvc_in(c, MLX5_IB_ATTR_FLOW_MATCHER_MATCH_MASK, to_mac1.mask, 512);
	uvc_in(c, MLX5_IB_ATTR_FLOW_MATCHER_MATCH_CRITERIA, &criteria, 1);
	t = uvc_in(c, MLX5_IB_ATTR_FLOW_MATCHER_FLOW_TYPE, prio, bytes);
	t->a.attr_data.enum_data.elem_id = type;
	return 0;
}

static void matchers_are_checked(void **state)
{
	uint16_t prio = 16;
	uint32_t flow;
	struct uvc c;
	struct uvr_rule rule = { .match = &to_mac1, .qp = &of_a.qp.handle };

	(void)state;
	/* A priority there is no table for is found out by the first rule. */
	matcher_of(&c, MLX5_IB_FLOW_TYPE_NORMAL, &prio, 2);
	assert_int_equal(uvc_run(a.fd, &c), 0);
	rule.matcher = (uint32_t)uvc_value(&c, MLX5_IB_ATTR_FLOW_MATCHER_CREATE_HANDLE);
	assert_int_equal(uvr_flow(a.fd, &rule, &flow), ENOMEM);
	/* So is a kind of table that is not modelled. */
	prio = 0;
	matcher_of(&c, MLX5_IB_FLOW_TYPE_NORMAL, &prio, 2);
	uvc_u64(&c, MLX5_IB_ATTR_FLOW_MATCHER_FT_TYPE,
		MLX5_IB_UAPI_FLOW_TABLE_TYPE_NIC_TX);
	assert_int_equal(uvc_run(a.fd, &c), 0);
	rule.matcher = (uint32_t)uvc_value(&c, MLX5_IB_ATTR_FLOW_MATCHER_CREATE_HANDLE);
	assert_int_equal(uvr_flow(a.fd, &rule, &flow), EOPNOTSUPP);
	matcher_of(&c, MLX5_IB_FLOW_TYPE_NORMAL, &prio, 2);
	uvc_u64(&c, MLX5_IB_ATTR_FLOW_MATCHER_FT_TYPE, MLX5_IB_UAPI_FLOW_TABLE_TYPE_FDB);
	assert_int_equal(uvc_run(a.fd, &c), EINVAL);
	matcher_of(&c, MLX5_IB_FLOW_TYPE_NORMAL, &prio, 2);
	uvc_u64(&c, MLX5_IB_ATTR_FLOW_MATCHER_FT_TYPE, 99);
	assert_int_equal(uvc_run(a.fd, &c), EINVAL);
	matcher_of(&c, MLX5_IB_FLOW_TYPE_NORMAL, &prio, 2);
	uvc_u64(&c, MLX5_IB_ATTR_FLOW_MATCHER_FT_TYPE, 0);
	uvc_u32(&c, MLX5_IB_ATTR_FLOW_MATCHER_FLOW_FLAGS, 0);
	assert_int_equal(uvc_run(a.fd, &c), EINVAL);
	/* Mask and value longer than the kernel knows: zeroes pass. */
	{
		uint8_t longer[sizeof(struct mlx5_ib_match_params)] = { 0 };

		memcpy(longer, to_mac1.mask, 512);
		matcher_of(&c, MLX5_IB_FLOW_TYPE_NORMAL, &prio, 2);
		c.attr[1].in = longer;
		c.attr[1].a.len = sizeof(longer);
		assert_int_equal(uvc_run(a.fd, &c), 0);
		longer[sizeof(longer) - 1] = 1;
		if (sizeof(longer) > 512)
			assert_int_equal(uvc_run(a.fd, &c), EINVAL);
	}
}

/* A matcher stays while it has rules; a rule stays while its queue would be destroyed. */
static void what_rules_need_stays(void **state)
{
	struct uvr_rule rule = { .match = &to_mac1, .qp = &of_a.qp.handle };
	uint32_t flow, events;

	(void)state;
	assert_int_equal(uvr_matcher(a.fd, &to_mac1, 1, 0, &rule.matcher), 0);
	assert_int_equal(uvr_flow(a.fd, &rule, &flow), 0);
	assert_int_equal(uvr_destroy(a.fd, MLX5_IB_OBJECT_FLOW_MATCHER,
				     MLX5_IB_METHOD_FLOW_MATCHER_DESTROY,
				     MLX5_IB_ATTR_FLOW_MATCHER_DESTROY_HANDLE,
				     rule.matcher),
			 EBUSY);
	assert_int_equal(uvr_destroy_qp(a.fd, of_a.qp.handle, &events), EBUSY);
	expect(uvr_frame_to(0, mac1), CX_RX_QUEUED, 1, 0);
	assert_int_equal(uvr_destroy_flow(a.fd, flow), 0);
	assert_int_equal(uvr_destroy(a.fd, MLX5_IB_OBJECT_FLOW_MATCHER,
				     MLX5_IB_METHOD_FLOW_MATCHER_DESTROY,
				     MLX5_IB_ATTR_FLOW_MATCHER_DESTROY_HANDLE,
				     rule.matcher),
			 0);
}

/* Every command that a rule needs fails once: nothing stays, and the next rule works. */
static void a_rule_is_whole_or_not_there(void **state)
{
	static const uint16_t op[] = { CX_OP_CREATE_FLOW_TABLE, CX_OP_CREATE_FLOW_GROUP,
				       CX_OP_SET_FLOW_TABLE_ENTRY,
				       CX_OP_SET_FLOW_TABLE_ROOT };
	struct uvr_rule rule = { .qp = &of_a.qp.handle };
	uint32_t flow, tables;
	char line[64];

	(void)state;
	flow = uvr_flow_to(&of_b, &to_mac2, 4);
	tables = uvr_count(0, CX_FT);
	for (size_t i = 0; i < sizeof(op) / sizeof(op[0]); i++) {
		uint32_t f;

		snprintf(line, sizeof(line), "cmd op=0x%x status=8 times=1", op[i]);
		uvr_fault(0, line);
		assert_int_not_equal(flow_by(&a, &to_mac1, 0, rule, &f), 0);
		assert_int_equal(uvr_count(0, CX_FT), tables);
		assert_int_equal(uvr_count(0, CX_FTE), 1);
		expect(uvr_frame_to(0, mac1), CX_RX_KERNEL, 0, 0);
		expect(uvr_frame_to(0, mac2), CX_RX_QUEUED, 0, 1);
		assert_int_equal(flow_by(&a, &to_mac1, 0, rule, &f), 0);
		expect(uvr_frame_to(0, mac1), CX_RX_QUEUED, 1, 0);
		expect(uvr_frame_to(0, mac2), CX_RX_QUEUED, 0, 1);
		assert_int_equal(uvr_destroy_flow(a.fd, f), 0);
	}
	assert_int_equal(uvr_destroy_flow(b.fd, flow), 0);
}

static void fail_next(unsigned op, unsigned times)
{
	char line[64];

	snprintf(line, sizeof(line), "cmd op=0x%x status=8 times=%u", op, times);
	uvr_fault(0, line);
}

/* What the device does not let go keeps its handle, and works until it is let go. */
static void a_rule_that_cannot_go_stays(void **state)
{
	uint32_t alone, shared, other, far;

	(void)state;
	alone = uvr_flow_to(&of_a, &to_mac2, 0);
	fail_next(CX_OP_DELETE_FLOW_TABLE_ENTRY, 1);
	assert_int_not_equal(uvr_destroy_flow(a.fd, alone), 0);
	expect(uvr_frame_to(0, mac2), CX_RX_QUEUED, 1, 0);
	assert_int_equal(uvr_destroy_flow(a.fd, alone), 0);
	shared = uvr_flow_to(&of_a, &to_mac1, 0);
	other = uvr_flow_to(&of_b, &to_mac1, 0);
	fail_next(CX_OP_SET_FLOW_TABLE_ENTRY, 1);
	assert_int_not_equal(uvr_destroy_flow(a.fd, shared), 0);
	expect(uvr_frame_to(0, mac1), CX_RX_QUEUED, 1, 1);
	assert_int_equal(uvr_destroy_flow(a.fd, shared), 0);
	expect(uvr_frame_to(0, mac1), CX_RX_QUEUED, 0, 1);
	/* groups and tables that the device keeps are used again */
	far = uvr_flow_to(&of_b, &to_mac2, 9);
	fail_next(CX_OP_DESTROY_FLOW_GROUP, 1);
	assert_int_equal(uvr_destroy_flow(b.fd, other), 0);
	other = uvr_flow_to(&of_b, &to_mac1, 0);
	expect(uvr_frame_to(0, mac1), CX_RX_QUEUED, 0, 1);
	fail_next(CX_OP_DESTROY_FLOW_TABLE, 1);
	assert_int_equal(uvr_destroy_flow(b.fd, other), 0);
	expect(uvr_frame_to(0, mac1), CX_RX_KERNEL, 0, 0);
	expect(uvr_frame_to(0, mac2), CX_RX_QUEUED, 0, 1);
	other = uvr_flow_to(&of_b, &to_mac1, 0);
	expect(uvr_frame_to(0, mac1), CX_RX_QUEUED, 0, 1);
	assert_int_equal(uvr_destroy_flow(b.fd, other), 0);
	fail_next(CX_OP_SET_FLOW_TABLE_ROOT, 1);
	assert_int_equal(uvr_destroy_flow(b.fd, far), 0);
	expect(uvr_frame_to(0, mac2), CX_RX_KERNEL, 0, 0);
	uvr_fault(0, "clear");
	far = uvr_flow_to(&of_b, &to_mac2, 9);
	expect(uvr_frame_to(0, mac2), CX_RX_QUEUED, 0, 1);
	assert_int_equal(uvr_destroy_flow(b.fd, far), 0);
}

/* A new priority's table is put between two others: when the one before cannot be told, nothing
 * stays; and when one that goes cannot be bridged, it stays, empty, and all others work. */
static void a_table_that_cannot_be_chained(void **state)
{
	struct uvr_rule rule = { .qp = &of_a.qp.handle };
	uint32_t flow, tables;

	(void)state;
	uvr_flow_to(&of_a, &to_mac1, 0);
	uvr_flow_to(&of_b, &to_mac2, 9);
	tables = uvr_count(0, CX_FT);
	fail_next(CX_OP_MODIFY_FLOW_TABLE, 1);
	assert_int_not_equal(flow_by(&a, &to_group, 4, rule, &flow), 0);
	assert_int_equal(uvr_count(0, CX_FT), tables);
	expect(uvr_frame_to(0, group_mac), CX_RX_KERNEL, 0, 0);
	expect(uvr_frame_to(0, mac1), CX_RX_QUEUED, 1, 0);
	expect(uvr_frame_to(0, mac2), CX_RX_QUEUED, 0, 1);
	assert_int_equal(flow_by(&a, &to_group, 4, rule, &flow), 0);
	expect(uvr_frame_to(0, group_mac), CX_RX_QUEUED, 1, 0);
	fail_next(CX_OP_MODIFY_FLOW_TABLE, 1);
	assert_int_equal(uvr_destroy_flow(a.fd, flow), 0);
	assert_int_equal(uvr_count(0, CX_FT), tables + 1);
	expect(uvr_frame_to(0, group_mac), CX_RX_KERNEL, 0, 0);
	expect(uvr_frame_to(0, mac1), CX_RX_QUEUED, 1, 0);
	expect(uvr_frame_to(0, mac2), CX_RX_QUEUED, 0, 1);
	assert_int_equal(flow_by(&a, &to_group, 4, rule, &flow), 0); /* used again */
	assert_int_equal(uvr_count(0, CX_FT), tables + 1);
	expect(uvr_frame_to(0, group_mac), CX_RX_QUEUED, 1, 0);
	assert_int_equal(uvr_destroy_flow(a.fd, flow), 0);
	assert_int_equal(uvr_count(0, CX_FT), tables);
	expect(uvr_frame_to(0, mac2), CX_RX_QUEUED, 0, 1);
}

/* A second program's rule that cannot be made does not touch the first one's. */
static void a_rule_that_cannot_be_shared(void **state)
{
	struct uvr_rule rule = { .qp = &of_b.qp.handle };
	uint32_t flow, tag = 7;

	(void)state;
	uvr_flow_to(&of_a, &to_mac1, 0);
	fail_next(CX_OP_SET_FLOW_TABLE_ENTRY, 1);
	assert_int_not_equal(flow_by(&b, &to_mac1, 0, rule, &flow), 0);
	expect(uvr_frame_to(0, mac1), CX_RX_QUEUED, 1, 0);
	rule.tag = &tag;
	assert_int_equal(flow_by(&b, &to_mac1, 0, rule, &flow), EEXIST);
	rule = (struct uvr_rule){ .flags = DROP };
	assert_int_equal(flow_by(&b, &to_mac1, 0, rule, &flow), EEXIST);
	expect(uvr_frame_to(0, mac1), CX_RX_QUEUED, 1, 0);
}

/* ---- who may ---- */

static void only_with_cap_net_raw(void **state)
{
	uint32_t flow;
	pid_t pid;
	int status;

	(void)state;
	if (getuid()) {
		print_message("not root: cannot give up what is not there\n");
		skip();
	}
	pid = fork();
	if (!pid) {
		struct uvr_rule rule = { .match = &to_mac1, .flags = DROP };
		struct uvr_cq cq;
		struct uvr_qp qp;

		if (setuid(65534))
			_exit(1);
		if (uvr_matcher(a.fd, &to_mac1, 1, 0, &rule.matcher))
			_exit(2);
		if (uvr_flow(a.fd, &rule, &flow) != EPERM)
			_exit(3);
		if (uvr_cq(&a, &cq, 16, -1))
			_exit(4);
		if (uvr_qp(&a, &qp, &cq, 16, 16) != EPERM)
			_exit(5);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
	expect(uvr_frame_to(0, mac1), CX_RX_KERNEL, 0, 0);
	flag_flow(&a, &to_mac1, 0, DROP); /* the context is as good as before */
	expect(uvr_frame_to(0, mac1), CX_RX_RULE_DROP, 0, 0);
}

int main(void)
{
	struct CMUnitTest tests[] = {
		cmocka_unit_test(a_rule_takes_what_it_matches),
		cmocka_unit_test(programs_that_want_the_same_both_get_it),
		cmocka_unit_test(the_smaller_number_goes_first),
		cmocka_unit_test(a_default_miss_leaves_frames_to_the_netdev),
		cmocka_unit_test(multicast_has_a_place_after_all),
		cmocka_unit_test(a_hundred_masks_and_a_thousand_values),
		cmocka_unit_test(a_tir_of_the_programs_own),
		cmocka_unit_test(a_table_of_the_programs_own),
		cmocka_unit_test(a_table_filled_by_the_program),
		cmocka_unit_test(rules_count_and_tag),
		cmocka_unit_test(one_of_many_counters),
		cmocka_unit_test(destinations_are_checked),
		cmocka_unit_test(matchers_are_checked),
		cmocka_unit_test(what_rules_need_stays),
		cmocka_unit_test(a_rule_is_whole_or_not_there),
		cmocka_unit_test(a_rule_that_cannot_go_stays),
		cmocka_unit_test(a_table_that_cannot_be_chained),
		cmocka_unit_test(a_rule_that_cannot_be_shared),
		cmocka_unit_test(only_with_cap_net_raw),
	};

	for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++) {
		tests[i].setup_func = set_up;
		tests[i].teardown_func = tear_down;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
