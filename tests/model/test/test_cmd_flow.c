/* test/test_cmd_flow.c - commands on tables and groups: what is refused, by what name
 *
 * Entries: test_cmd_fte.c.
 */
#include "flow_rig.h"

#include <string.h>

#include "../core/steer.h"

#define AT(s, sub) ((uint32_t)CX_##s##__##sub >> 16) / 8

/* One field of the next command spoilt, and what comes of it. */
struct spoilt {
	uint32_t byte; /* where the field's structure starts */
	cx_field field;
	uint64_t value;
	enum cx_status want;
	const char *log;
};
#define IN(s, f, v, want, log) \
	{ \
		0, (cx_field)CX_##s##__##f, (v), (want), (log) \
	}

static void assert_spoilt(struct direct *d, const struct spoilt *s, enum cx_status got)
{
	if (got != s->want)
		fail_msg("%s: status 0x%x, not 0x%x", s->log, got, s->want);
	d_assert_log(d, s->log);
	assert_int_not_equal(d->syndrome, 0);
	d_forget(d);
}

/* ---- CREATE_FLOW_TABLE ---- */

#define CTX(f, v, want, log) \
	{ \
		AT(create_flow_table_in, flow_table_context), \
			(cx_field)CX_flow_table_context__##f, (v), (want), (log) \
	}

static const struct spoilt bad_tables[] = {
	IN(create_flow_table_in, op_mod, 1, CX_ST_BAD_PARAM, "op_mod: 0x1"),
	IN(create_flow_table_in, other_vport, 1, CX_ST_BAD_PARAM, "in.other_vport"),
	IN(create_flow_table_in, vport_number, 7, CX_ST_BAD_PARAM, "in.vport_number"),
	IN(create_flow_table_in, table_type, 2, CX_ST_BAD_PARAM, "table_type: 2"),
	IN(create_flow_table_in, table_type, 4, CX_ST_BAD_PARAM, "table_type: 4"),
	CTX(reformat_en, 1, CX_ST_BAD_PARAM, "flow_table_context.reformat_en"),
	CTX(decap_en, 1, CX_ST_BAD_PARAM, "flow_table_context.decap_en"),
	CTX(sw_owner, 1, CX_ST_BAD_PARAM, "flow_table_context.sw_owner"),
	CTX(termination_table, 1, CX_ST_BAD_PARAM,
	    "flow_table_context.termination_table"),
	CTX(rtc_valid, 1, CX_ST_BAD_PARAM, "flow_table_context.rtc_valid"),
	CTX(lag_master_next_table_id, 1, CX_ST_BAD_PARAM,
	    "context.lag_master_next_table_id"),
	CTX(sw_owner_icm_root_0, 1, CX_ST_BAD_PARAM, "context.sw_owner_icm_root_0"),
	CTX(sw_owner_icm_root_1, 1, CX_ST_BAD_PARAM, "context.sw_owner_icm_root_1"),
	CTX(level, 65, CX_ST_LIMIT,
	    "flow_table_context.level: 65 is over the limit of 64"),
	CTX(log_size, 23, CX_ST_LIMIT, "context.log_size: 23 is over the limit of 22"),
	CTX(table_miss_action, 2, CX_ST_BAD_PARAM, "context.table_miss_action: 2"),
	CTX(table_miss_id, 5, CX_ST_BAD_PARAM, "context.table_miss_id: 0x5"),
	{ 0, CX_PACK(0x60, 32), 1, CX_ST_BAD_PARAM,
	  "create_flow_table_in.reserved_at_7f" },
};

static void test_bad_tables(void **state)
{
	struct direct *d = d_open(NULL);
	uint32_t table;

	(void)state;
	for (size_t i = 0; i < sizeof(bad_tables) / sizeof(bad_tables[0]); i++) {
		const struct spoilt *s = &bad_tables[i];

		d_patch(d, s->byte, s->field, s->value);
		assert_spoilt(d, s,
			      flow_try_table(d, &(struct flow_table){ .log_size = 4 },
					     &table));
	}
	assert_int_equal(cx_obj_count(d->dev, CX_FT), 0);
	d_close(d);
}

static void test_bad_misses(void **state)
{
	struct direct *d = d_open(NULL);
	uint32_t at3 = d_table(d, 3, 4), table;
	uint32_t tx = flow_table(d, &(struct flow_table){ .type = FLOW_TX, .level = 9 });
	struct flow_table conf = { .level = 2, .miss = 0x7777 };

	(void)state;
	assert_int_equal(flow_try_table(d, &conf, &table), CX_ST_BAD_RES);
	d_assert_log(d, "flow_table_context.table_miss_id: there is no FT 0x7777");
	conf.miss = tx;
	assert_int_equal(flow_try_table(d, &conf, &table), CX_ST_BAD_PARAM);
	d_assert_log(d, "is of type 1");
	conf.miss = at3;
	conf.level = 3;
	assert_int_equal(flow_try_table(d, &conf, &table), CX_ST_BAD_PARAM);
	d_assert_log(d, "is at level 3, not after 3");
	conf.level = 2;
	assert_int_equal(flow_try_table(d, &conf, &table), CX_ST_OK);
	d_close(d);
}

static void test_capabilities_of_tables(void **state)
{
	const char *const none[] = { "ft.tx_ft_support=0",
				     "ft.rx_identified_miss_table_mode=0",
				     "ft.rx_flow_table_modify=0",
				     "ft.rx_log_max_ft_num=1", NULL };
	struct direct *d = d_open(none);
	uint32_t a = d_table(d, 1, 4), b;
	struct flow_table conf = { .miss = a };

	(void)state;
	assert_int_equal(flow_try_table(d, &conf, &b), CX_ST_BAD_PARAM);
	d_assert_log(d, "this device has no miss tables");
	conf.miss = 0;
	assert_int_equal(flow_try_table(d, &conf, &b), CX_ST_OK);
	assert_int_equal(flow_try_miss(d, b, a), CX_ST_BAD_PARAM);
	d_assert_log(d, "does not modify tables");
	assert_int_equal(flow_try_table(d, &conf, &b), CX_ST_LIMIT);
	d_assert_log(d, "there are 2^1 tables of type 0");
	conf.type = FLOW_TX;
	assert_int_equal(flow_try_table(d, &conf, &b), CX_ST_BAD_PARAM);
	d_assert_log(d, "has no tables of type 1");
	d_close(d);
}

/* ---- the life of tables ---- */

static void test_used_tables_stay(void **state)
{
	struct direct *d = d_open(NULL);
	uint32_t low = d_table(d, 5, 4), mid = d_table(d, 3, 4);
	uint32_t top = flow_table(d, &(struct flow_table){ .log_size = 4, .miss = low });
	uint32_t group = flow_all_group(d, top, 0, 0);
	struct d_rule r = flow_to_table(mid, 0);

	(void)state;
	d_rule(d, top, group, 0, &r);
	assert_int_equal(flow_try_destroy_table(d, FLOW_RX, low), CX_ST_BAD_RES_STATE);
	assert_int_equal(flow_try_destroy_table(d, FLOW_RX, mid), CX_ST_BAD_RES_STATE);
	assert_int_equal(flow_try_destroy_table(d, FLOW_RX, top), CX_ST_BAD_RES_STATE);
	assert_int_equal(flow_try_destroy_group(d, top, group), CX_ST_BAD_RES_STATE);
	assert_int_equal(d_rule_del(d, top, 0), CX_ST_OK);
	assert_int_equal(flow_try_destroy_table(d, FLOW_RX, mid), CX_ST_OK);
	assert_int_equal(flow_try_destroy_table(d, FLOW_RX, top), CX_ST_BAD_RES_STATE);
	d_assert_log(d, "table_id: FT 0x");
	assert_int_equal(flow_try_destroy_group(d, top, group), CX_ST_OK);
	assert_int_equal(flow_try_destroy_table(d, FLOW_RX, top), CX_ST_OK);
	assert_int_equal(flow_try_destroy_table(d, FLOW_RX, low), CX_ST_OK);
	assert_int_equal(flow_try_destroy_table(d, FLOW_RX, low), CX_ST_BAD_RES);
	assert_int_equal(cx_obj_count(d->dev, CX_FT) + cx_obj_count(d->dev, CX_FG) +
				 cx_obj_count(d->dev, CX_FTE),
			 0);
	d_close(d);
}

/* A table that no longer misses to another lets it go. */
static void test_miss_is_a_reference(void **state)
{
	struct direct *d = d_open(NULL);
	uint32_t low = d_table(d, 5, 4);
	uint32_t top = flow_table(d, &(struct flow_table){ .log_size = 4, .miss = low });

	(void)state;
	assert_int_equal(flow_try_destroy_table(d, FLOW_RX, low), CX_ST_BAD_RES_STATE);
	assert_int_equal(flow_try_miss(d, top, low), CX_ST_OK); /* the same again */
	assert_int_equal(flow_try_destroy_table(d, FLOW_RX, low), CX_ST_BAD_RES_STATE);
	assert_int_equal(flow_try_miss(d, top, 0), CX_ST_OK);
	assert_int_equal(flow_try_destroy_table(d, FLOW_RX, low), CX_ST_OK);
	d_close(d);
}

static void test_wrong_type_of_a_table(void **state)
{
	struct direct *d = d_open(NULL);
	uint32_t table = d_table(d, 0, 4);

	(void)state;
	assert_int_equal(flow_try_destroy_table(d, FLOW_TX, table), CX_ST_BAD_PARAM);
	d_assert_log(d, "table_type: 1, but table");
	assert_int_equal(flow_try_root(d, FLOW_TX, table), CX_ST_BAD_PARAM);
	assert_int_equal(flow_try_root(d, FLOW_RX, table), CX_ST_OK);
	d_close(d);
}

static void test_bad_modify(void **state)
{
	struct direct *d = d_open(NULL);
	uint32_t table = d_table(d, 4, 4), below = d_table(d, 3, 4);

	(void)state;
	d_patch(d, 0, (cx_field)CX_modify_flow_table_in__modify_field_select, 0x8000);
	assert_int_equal(flow_try_miss(d, table, 0), CX_ST_BAD_PARAM);
	d_assert_log(d, "modify_flow_table_in.modify_field_select: 0x8000");
	d_patch(d, 0, (cx_field)CX_modify_flow_table_in__modify_field_select, 0);
	assert_int_equal(flow_try_miss(d, table, 0), CX_ST_BAD_PARAM);
	assert_int_equal(flow_try_miss(d, table, below), CX_ST_BAD_PARAM);
	d_assert_log(d, "not after 4");
	assert_int_equal(flow_try_miss(d, table, table), CX_ST_BAD_PARAM);
	assert_int_equal(flow_try_miss(d, 0x7777, 0), CX_ST_BAD_RES);
	d_close(d);
}

static void test_query_table(void **state)
{
	struct direct *d = d_open(NULL);
	uint32_t low = d_table(d, 5, 4);
	uint32_t top = flow_table(
		d, &(struct flow_table){ .level = 3, .log_size = 9, .miss = low });
	uint8_t in[CX_BYTES(query_flow_table_in)] = { 0 },
		out[CX_BYTES(query_flow_table_out)];
	uint8_t *ctx = CX_AT(query_flow_table_out, out, flow_table_context);

	(void)state;
	CX_SET(query_flow_table_in, in, table_id, top);
	assert_int_equal(flow_cmd(d, 0x932, in, sizeof(in), out, sizeof(out)), CX_ST_OK);
	assert_int_equal(CX_GET(flow_table_context, ctx, level), 3);
	assert_int_equal(CX_GET(flow_table_context, ctx, log_size), 9);
	assert_int_equal(CX_GET(flow_table_context, ctx, table_miss_action), 1);
	assert_int_equal(CX_GET(flow_table_context, ctx, table_miss_id), low);
	d_close(d);
}

/* ---- SET_FLOW_TABLE_ROOT ---- */

static const struct spoilt bad_roots[] = {
	IN(set_flow_table_root_in, op_mod, 2, CX_ST_BAD_PARAM, "op_mod: 0x2"),
	IN(set_flow_table_root_in, op_mod, 1, CX_ST_BAD_PARAM,
	   "in.table_id: a table with op_mod 1"),
	IN(set_flow_table_root_in, other_vport, 1, CX_ST_BAD_PARAM, "other_vport"),
	IN(set_flow_table_root_in, vport_number, 1, CX_ST_BAD_PARAM, "vport_number"),
	IN(set_flow_table_root_in, table_type, 9, CX_ST_BAD_PARAM, "table_type: 9"),
	IN(set_flow_table_root_in, table_of_other_vport, 1, CX_ST_BAD_PARAM,
	   "table_of_other_vport"),
	IN(set_flow_table_root_in, table_vport_number, 1, CX_ST_BAD_PARAM,
	   "table_vport_number"),
	IN(set_flow_table_root_in, table_id, 0x7777, CX_ST_BAD_RES,
	   "table_id: there is no FT"),
	IN(set_flow_table_root_in, underlay_qpn, 1, CX_ST_BAD_PARAM, "underlay_qpn"),
	IN(set_flow_table_root_in, table_eswitch_owner_vhca_id_valid, 1, CX_ST_BAD_PARAM,
	   "table_eswitch_owner_vhca_id_valid"),
	IN(set_flow_table_root_in, table_eswitch_owner_vhca_id, 1, CX_ST_BAD_PARAM,
	   "table_eswitch_owner_vhca_id"),
};

static void test_bad_roots(void **state)
{
	struct direct *d = d_open(NULL);
	uint32_t table = d_table(d, 0, 4);

	(void)state;
	for (size_t i = 0; i < sizeof(bad_roots) / sizeof(bad_roots[0]); i++) {
		d_patch(d, 0, bad_roots[i].field, bad_roots[i].value);
		assert_spoilt(d, &bad_roots[i], flow_try_root(d, FLOW_RX, table));
	}
	assert_int_equal(flow_try_root_reset(d, 9), CX_ST_BAD_PARAM);
	d_assert_log(d, "table_type: 9");
	assert_null(d->dev->steering->root[FLOW_RX]);
	d_close(d);
}

/* A program that makes tables through DevX sees its own only, and sets no root. */
static void test_owners(void **state)
{
	struct direct *d = d_open(NULL);
	uint8_t in[CX_BYTES(create_flow_table_in)] = { 0 },
		out[CX_BYTES(create_flow_table_out)];
	uint8_t root[CX_BYTES(set_flow_table_root_in)] = { 0 };
	uint8_t end[CX_BYTES(destroy_flow_table_in)] = { 0 };
	uint32_t kernels = d_table(d, 0, 4), mine;

	(void)state;
	assert_int_equal(d_cmd(d, D_CREATE_FLOW_TABLE, in, sizeof(in), out, sizeof(out)),
			 CX_ST_OK);
	mine = (uint32_t)CX_GET(create_flow_table_out, out, table_id);
	CX_SET(set_flow_table_root_in, root, table_id, mine);
	assert_int_equal(d_cmd(d, D_SET_FLOW_TABLE_ROOT, root, sizeof(root), out, 16),
			 CX_ST_BAD_PARAM);
	d_assert_log(d, "uid: the kernel's command");
	CX_SET(destroy_flow_table_in, end, table_id, kernels);
	assert_int_equal(d_cmd(d, D_DESTROY_FLOW_TABLE, end, sizeof(end), out, 16),
			 CX_ST_BAD_RES);
	d_assert_log(d, "belongs to uid 0");
	d->uid = d_uctx(d);
	CX_SET(destroy_flow_table_in, end, table_id, mine);
	assert_int_equal(d_cmd(d, D_DESTROY_FLOW_TABLE, end, sizeof(end), out, 16),
			 CX_ST_BAD_RES);
	d_close(d);
}

/* A shared table is a destination for everybody, and nothing more. */
static void test_shared_table(void **state)
{
	struct direct *d = d_open(NULL);
	uint8_t in[CX_BYTES(create_flow_table_in)] = { 0 },
		out[CX_BYTES(create_flow_table_out)];
	uint8_t *ctx = CX_AT(create_flow_table_in, in, flow_table_context);
	uint8_t end[CX_BYTES(destroy_flow_table_in)] = { 0 };
	uint32_t shared;

	(void)state;
	d_patch(d, 0, (cx_field)CX_create_flow_table_in__uid, CX_UID_SHARED);
	shared = d_table(d, 9, 4);
	CX_SET(flow_table_context, ctx, table_miss_action, 1);
	CX_SET(flow_table_context, ctx, table_miss_id, shared);
	assert_int_equal(d_cmd(d, D_CREATE_FLOW_TABLE, in, sizeof(in), out, sizeof(out)),
			 CX_ST_OK);
	CX_SET(destroy_flow_table_in, end, table_id, shared);
	assert_int_equal(d_cmd(d, D_DESTROY_FLOW_TABLE, end, sizeof(end), out, 16),
			 CX_ST_BAD_RES);
	d_assert_log(d, "is shared by uid 65535");
	d_close(d);
}

/* ---- CREATE_FLOW_GROUP ---- */

static const struct spoilt bad_groups[] = {
	IN(create_flow_group_in, op_mod, 1, CX_ST_BAD_PARAM, "op_mod: 0x1"),
	IN(create_flow_group_in, other_vport, 1, CX_ST_BAD_PARAM, "other_vport"),
	IN(create_flow_group_in, table_type, 1, CX_ST_BAD_PARAM, "table_type: 1"),
	IN(create_flow_group_in, table_id, 0x7777, CX_ST_BAD_RES,
	   "table_id: there is no FT"),
	IN(create_flow_group_in, group_type, 1, CX_ST_BAD_PARAM, "in.group_type"),
	IN(create_flow_group_in, source_eswitch_owner_vhca_id_valid, 1, CX_ST_BAD_PARAM,
	   "in.source_eswitch_owner_vhca_id_valid"),
	IN(create_flow_group_in, match_definer_id, 1, CX_ST_BAD_PARAM,
	   "in.match_definer_id"),
	IN(create_flow_group_in, start_flow_index, 8, CX_ST_BAD_PARAM,
	   "in.start_flow_index: 8 is after the end, 7"),
	IN(create_flow_group_in, end_flow_index, 16, CX_ST_BAD_PARAM,
	   "in.end_flow_index: 16 is not in a table of 2^4"),
	IN(create_flow_group_in, end_flow_index, 0xffffffff, CX_ST_BAD_PARAM,
	   "in.end_flow_index"),
	IN(create_flow_group_in, match_criteria_enable, 0x80, CX_ST_BAD_PARAM,
	   "in.match_criteria_enable: 0x80 enables sets that do not exist"),
	{ 0, CX_PACK(0x200 + 0x88, 6), 1, CX_ST_BAD_PARAM,
	  "in.match_criteria_enable: 0x0 is without outer_headers" },
	{ 0, CX_PACK(0x200 + 0x200 + 0x44, 12), 1, CX_ST_BAD_PARAM,
	  "in.match_criteria_enable: 0x0 is without misc_parameters" },
	{ 0, CX_PACK(0x1200, 32), 1, CX_ST_BAD_PARAM,
	  "create_flow_group_in.reserved_at_121f" },
};

static void test_bad_groups(void **state)
{
	struct direct *d = d_open(NULL);
	uint32_t table = d_table(d, 0, 4), group;

	(void)state;
	for (size_t i = 0; i < sizeof(bad_groups) / sizeof(bad_groups[0]); i++) {
		d_patch(d, 0, bad_groups[i].field, bad_groups[i].value);
		assert_spoilt(d, &bad_groups[i],
			      d_try_group(d, table, 0, 7, 0, NULL, &group));
	}
	assert_int_equal(cx_obj_count(d->dev, CX_FG), 0);
	d_close(d);
}

static void test_ranges_do_not_overlap(void **state)
{
	static const struct {
		uint32_t first, last;
		bool good;
	} row[] = {
		{ 20, 29, true },  { 20, 29, false }, { 0, 20, false },
		{ 29, 40, false }, { 25, 25, false }, { 0, 63, false },
		{ 30, 30, true },  { 0, 19, true },   { 31, 63, true },
		{ 19, 19, false }, { 63, 63, false },
	};
	struct direct *d = d_open(NULL);
	uint32_t table = d_table(d, 0, 6), group;

	(void)state;
	for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		enum cx_status st =
			d_try_group(d, table, row[i].first, row[i].last, 0, NULL, &group);

		assert_int_equal(st, row[i].good ? CX_ST_OK : CX_ST_BAD_PARAM);
	}
	d_assert_log(d, "create_flow_group_in.start_flow_index: 63 to 63 overlaps group");
	assert_int_equal(cx_obj_count(d->dev, CX_FG), 4);
	d_close(d);
}

static void test_group_of_another_table(void **state)
{
	struct direct *d = d_open(NULL);
	uint32_t a = d_table(d, 0, 4), b = d_table(d, 0, 4),
		 group = flow_all_group(d, a, 0, 3);

	(void)state;
	assert_int_equal(flow_try_destroy_group(d, b, group), CX_ST_BAD_RES);
	d_assert_log(d, "group_id: group 0x");
	assert_int_equal(flow_try_destroy_group(d, a, 0x7777), CX_ST_BAD_RES);
	assert_int_equal(flow_try_destroy_group(d, a, group), CX_ST_OK);
	d_close(d);
}

static void test_query_group(void **state)
{
	struct direct *d = d_open(NULL);
	uint32_t table = d_table(d, 0, 6), group;
	uint8_t in[CX_BYTES(query_flow_group_in)] = { 0 },
		out[CX_BYTES(query_flow_group_out)];
	uint8_t mask[512] = { 0 };

	(void)state;
	cx_set(mask, FLOW_OUTER(first_vid), 0xfff);
	cx_set(mask, FLOW_MISC(outer_ipv6_flow_label), 0xfffff);
	group = d_group(d, table, 5, 9, 3, mask);
	CX_SET(query_flow_group_in, in, table_id, table);
	CX_SET(query_flow_group_in, in, group_id, group);
	assert_int_equal(flow_cmd(d, 0x935, in, sizeof(in), out, sizeof(out)), CX_ST_OK);
	assert_int_equal(CX_GET(query_flow_group_out, out, start_flow_index), 5);
	assert_int_equal(CX_GET(query_flow_group_out, out, end_flow_index), 9);
	assert_int_equal(CX_GET(query_flow_group_out, out, match_criteria_enable), 3);
	assert_memory_equal(CX_AT(query_flow_group_out, out, match_criteria), mask, 512);
	d_close(d);
}

/* ---- masks ---- */

static bool compared(uint32_t bit)
{
	static const cx_field misc[] = {
		FLOW_MISC(outer_second_prio),	   FLOW_MISC(outer_second_cfi),
		FLOW_MISC(outer_second_vid),	   FLOW_MISC(outer_second_cvlan_tag),
		FLOW_MISC(outer_second_svlan_tag), FLOW_MISC(outer_ipv6_flow_label),
	};

	if (bit < 0x200)
		return !(bit >= 0xc0 &&
			 bit < 0xd8); /* reserved, ipv4_ihl, the *_ok bits */
	for (size_t i = 0; i < sizeof(misc) / sizeof(misc[0]); i++)
		if (bit - cx_field_offset(misc[i]) < cx_field_width(misc[i]))
			return true;
	return false;
}

/* Every bit of the parameters alone: a group, or a refusal that names the field. */
static void test_every_mask_bit(void **state)
{
	struct direct *d = d_open(NULL);
	uint32_t table = d_table(d, 0, 4), group;

	(void)state;
	for (uint32_t bit = 0; bit < 0x1000; bit++) {
		uint8_t mask[512] = { 0 }, enable = (uint8_t)(1 << bit / 0x200 & 0x7f);
		enum cx_status st;

		mask[bit / 8] = (uint8_t)(0x80 >> bit % 8);
		st = d_try_group(d, table, 0, 3, enable, mask, &group);
		assert_int_equal(st, compared(bit) ? CX_ST_OK : CX_ST_BAD_PARAM);
		if (st == CX_ST_OK)
			assert_int_equal(flow_try_destroy_group(d, table, group),
					 CX_ST_OK);
	}
	d_assert_log(
		d,
		"match_criteria.outer_headers.l4_checksum_ok: this device does not compare");
	d_assert_log(d, "match_criteria.misc_parameters.source_port: this");
	d_assert_log(d, "match_criteria.misc_parameters.vxlan_vni: this");
	d_assert_log(d, "match_criteria.misc_parameters.gre_key: this");
	d_assert_log(d, "match_criteria.inner_headers.dmac_47_16: this");
	d_assert_log(
		d, "match_criteria.misc_parameters_2.outer_first_mpls.mpls_label: this");
	d_assert_log(d, "match_criteria.misc_parameters_2.metadata_reg_c_0: this");
	d_assert_log(d, "match_criteria.misc_parameters_3.icmp_type: this");
	d_assert_log(d,
		     "match_criteria.misc_parameters_4.prog_sample_field_value_0: this");
	d_assert_log(d, "match_criteria.misc_parameters_5.tunnel_header_0: this");
	d_close(d);
}

static void test_capabilities_of_fields(void **state)
{
	static const char *const caps[] = { "ft.rx_outer_ipv4_ttl=0",
					    "ft.rx_outer_ipv6_hop_limit=0",
					    "ft.rx_outer_dmac=0",
					    "ft.rx_outer_second_svlan=0", NULL };
	static const cx_field gone[] = { FLOW_OUTER(ttl_hoplimit), FLOW_OUTER(dmac_47_16),
					 FLOW_OUTER(dmac_15_0),
					 FLOW_MISC(outer_second_svlan_tag) };
	struct direct *d = d_open(caps);
	uint32_t table = d_table(d, 0, 4), group;

	(void)state;
	for (unsigned i = 0; i < 4; i++) {
		uint8_t mask[512] = { 0 };

		cx_set(mask, gone[i], UINT32_MAX);
		assert_int_equal(d_try_group(d, table, 0, 3, 3, mask, &group),
				 CX_ST_BAD_PARAM);
	}
	d_assert_log(d, "match_criteria.outer_headers.ttl_hoplimit: this device");
	flow_field_group(d, table, 0, 3, FLOW_OUTER(smac_47_16));
	d_close(d);
}

/* One of the two is enough. */
static void test_ttl_by_either_capability(void **state)
{
	static const char *const caps[2][2] = { { "ft.rx_outer_ipv4_ttl=0", NULL },
						{ "ft.rx_outer_ipv6_hop_limit=0",
						  NULL } };

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		struct direct *d = d_open(caps[i]);

		flow_field_group(d, d_table(d, 0, 4), 0, 3, FLOW_OUTER(ttl_hoplimit));
		d_close(d);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bad_tables),
		cmocka_unit_test(test_bad_misses),
		cmocka_unit_test(test_capabilities_of_tables),
		cmocka_unit_test(test_used_tables_stay),
		cmocka_unit_test(test_miss_is_a_reference),
		cmocka_unit_test(test_wrong_type_of_a_table),
		cmocka_unit_test(test_bad_modify),
		cmocka_unit_test(test_query_table),
		cmocka_unit_test(test_bad_roots),
		cmocka_unit_test(test_owners),
		cmocka_unit_test(test_shared_table),
		cmocka_unit_test(test_bad_groups),
		cmocka_unit_test(test_ranges_do_not_overlap),
		cmocka_unit_test(test_group_of_another_table),
		cmocka_unit_test(test_query_group),
		cmocka_unit_test(test_every_mask_bit),
		cmocka_unit_test(test_capabilities_of_fields),
		cmocka_unit_test(test_ttl_by_either_capability),
	};

	return cmocka_run_group_tests_name("cmd_flow", tests, NULL, NULL);
}
