/* test/test_cmd_fte.c - commands on flow table entries: what is refused, by what name */
#include "flow_rig.h"

#include <string.h>

#include "../core/steer.h"

#define DPORT	FLOW_OUTER(udp_dport)
#define CONTEXT ((uint32_t)CX_set_fte_in__flow_context >> 16) / 8
#define LIST	CX_BYTES(set_fte_in)

/* A table, a group over udp_dport with indices 4 to 11, a TIR and a counter. */
struct rig {
	struct direct *d;
	uint32_t table, group, tirn, counter;
};

static struct rig rig_open(const char *const *caps)
{
	struct rig r = { .d = d_open(caps) };

	r.table = d_table(r.d, 2, 4);
	r.group = flow_field_group(r.d, r.table, 4, 11, DPORT);
	r.tirn = flow_tir(r.d);
	r.counter = d_flow_counter(r.d);
	return r;
}

static struct d_rule counted(const struct rig *r, uint16_t dport)
{
	struct d_rule rule = flow_to_tir(r->tirn, 7);

	cx_set(rule.value, DPORT, dport);
	rule.action |= D_COUNT;
	rule.counter = r->counter;
	return rule;
}

static uint32_t refs(const struct rig *r, enum cx_obj_type type, uint32_t num)
{
	return cx_obj_get(r->d->dev, type, num, 0)->refs;
}

/* ---- one field spoilt ---- */

static const struct spoilt {
	uint32_t byte; /* where the field's structure starts */
	cx_field field;
	uint64_t value;
	enum cx_status want;
	const char *log;
} spoilt[] = {
#define IN(f, v, want, log) \
	{ \
		0, (cx_field)CX_set_fte_in__##f, v, want, log \
	}
#define CTX(f, v, want, log) \
	{ \
		CONTEXT, (cx_field)CX_flow_context__##f, v, want, log \
	}
#define DEST(f, v, want, log) \
	{ \
		LIST, (cx_field)CX_dest_format_struct__##f, v, want, log \
	}
#define COUNTER(f, v, want, log) \
	{ \
		LIST + 8, f, v, want, log \
	}
	IN(op_mod, 2, CX_ST_BAD_PARAM, "op_mod: 2"),
	IN(op_mod, 1, CX_ST_BAD_RES_STATE, "flow_index: there is no entry 5"),
	IN(other_vport, 1, CX_ST_BAD_PARAM, "other_vport"),
	IN(vport_number, 1, CX_ST_BAD_PARAM, "vport_number"),
	IN(table_type, 1, CX_ST_BAD_PARAM, "table_type: 1, but table"),
	IN(table_id, 0x7777, CX_ST_BAD_RES, "table_id: there is no FT 0x7777"),
	IN(ignore_flow_level, 1, CX_ST_BAD_PARAM, "set_fte_in.ignore_flow_level"),
	IN(modify_enable_mask, 1, CX_ST_BAD_PARAM,
	   "set_fte_in.modify_enable_mask: not zero"),
	IN(flow_index, 3, CX_ST_BAD_INDEX, "flow_index: 3 is not in group"),
	IN(flow_index, 12, CX_ST_BAD_INDEX, "flow_index: 12 is not in group"),
	IN(flow_index, 0xffffffff, CX_ST_BAD_INDEX, "flow_index: 4294967295 is not"),
	CTX(group_id, 0x7777, CX_ST_BAD_RES, "flow_context.group_id: there is no FG"),
	CTX(push_vlan, 1, CX_ST_BAD_PARAM, "flow_context.push_vlan"),
	CTX(push_vlan_2, 1, CX_ST_BAD_PARAM, "flow_context.push_vlan_2"),
	CTX(extended_destination, 1, CX_ST_BAD_PARAM,
	    "flow_context.extended_destination"),
	CTX(flow_source, 1, CX_ST_BAD_PARAM, "flow_context.flow_source"),
	CTX(encrypt_decrypt_type, 1, CX_ST_BAD_PARAM,
	    "flow_context.encrypt_decrypt_type"),
	CTX(packet_reformat_id, 1, CX_ST_BAD_PARAM, "flow_context.packet_reformat_id"),
	CTX(modify_header_id, 1, CX_ST_BAD_PARAM, "flow_context.modify_header_id"),
	CTX(encrypt_decrypt_obj_id, 1, CX_ST_BAD_PARAM,
	    "flow_context.encrypt_decrypt_obj_id"),
	{ CONTEXT, CX_PACK(0x12e0, 32), 1, CX_ST_BAD_PARAM, "flow_context.execute_aso" },
	{ CONTEXT, CX_PACK(0x1300, 32), 1, CX_ST_BAD_PARAM,
	  "flow_context.reserved_at_131f" },
	CTX(action, 0, CX_ST_BAD_PARAM, "action: 0x0 is not exactly one of"),
	CTX(action, 0x8, CX_ST_BAD_PARAM, "action: 0x8 is not exactly one of"),
	CTX(action, 0xe, CX_ST_BAD_PARAM, "action: 0xe is not exactly one of"),
	CTX(action, 0xd, CX_ST_BAD_PARAM, "action: 0xd is not exactly one of"),
	CTX(action, 0x1c, CX_ST_BAD_PARAM,
	    "action: 0x1c: this device has no PACKET_REFORMAT"),
	CTX(action, 0x2c, CX_ST_BAD_PARAM, "this device has no DECAP"),
	CTX(action, 0x4c, CX_ST_BAD_PARAM, "this device has no MOD_HDR"),
	CTX(action, 0x8c, CX_ST_BAD_PARAM, "this device has no VLAN_POP"),
	CTX(action, 0x10c, CX_ST_BAD_PARAM, "this device has no VLAN_PUSH"),
	CTX(action, 0x400c, CX_ST_BAD_PARAM, "this device has no EXECUTE_ASO"),
	CTX(action, 0xa, CX_ST_BAD_PARAM, "destination_list_size: 1 with action 0xa"),
	CTX(action, 0x4, CX_ST_BAD_PARAM, "flow_counter_list_size: 1 with action 0x4"),
	CTX(destination_list_size, 0, CX_ST_BAD_IN_LEN,
	    "in_len: 848 bytes, not zero after"),
	CTX(destination_list_size, 2, CX_ST_BAD_IN_LEN, "in_len: 848 bytes, 856 needed"),
	CTX(flow_counter_list_size, 0, CX_ST_BAD_IN_LEN,
	    "in_len: 848 bytes, not zero after"),
	CTX(flow_counter_list_size, 2, CX_ST_BAD_IN_LEN, "in_len: 848 bytes, 856 needed"),
	CTX(flow_counter_list_size, 0xffffff, CX_ST_BAD_IN_LEN, "in_len: 848 bytes, "),
	{ CONTEXT + 0x200 / 8, CX_PACK(0x30, 16), 0x800, CX_ST_BAD_PARAM,
	  "match_value.outer_headers.ethertype: a bit is set that is not" },
	{ CONTEXT + 0x200 / 8, CX_PACK(0x400, 32), 1, CX_ST_BAD_PARAM,
	  "match_value.inner_headers.smac_47_16: a bit" },
	DEST(destination_type, 0, CX_ST_BAD_PARAM, "destination_type: 0 is neither"),
	DEST(destination_type, 6, CX_ST_BAD_PARAM, "destination_type: 6 is neither"),
	DEST(destination_id, 0x7777, CX_ST_BAD_RES,
	     "destination_id: there is no TIR 0x7777"),
	DEST(destination_eswitch_owner_vhca_id_valid, 1, CX_ST_BAD_PARAM,
	     "vhca_id_valid"),
	DEST(packet_reformat, 1, CX_ST_BAD_PARAM, "dest_format_struct.packet_reformat"),
	DEST(destination_eswitch_owner_vhca_id, 1, CX_ST_BAD_PARAM, "owner_vhca_id"),
	COUNTER(CX_PACK(0, 32), 0x7777, CX_ST_BAD_RES,
		"flow_counter_id: there is no FCOUNTER"),
	COUNTER(CX_PACK(0x30, 16), 1, CX_ST_BAD_PARAM,
		"flow_counter_list.reserved_at_20"),
};

static void test_spoilt(void **state)
{
	struct rig r = rig_open(NULL);
	struct d_rule rule = counted(&r, 80);

	(void)state;
	for (size_t i = 0; i < sizeof(spoilt) / sizeof(spoilt[0]); i++) {
		const struct spoilt *s = &spoilt[i];
		enum cx_status st;

		d_patch(r.d, s->byte, s->field, s->value);
		st = d_try_rule(r.d, r.table, r.group, 5, &rule);
		if (st != s->want)
			fail_msg("%s: status 0x%x, not 0x%x", s->log, st, s->want);
		d_assert_log(r.d, s->log);
		d_forget(r.d);
	}
	assert_int_equal(cx_obj_count(r.d->dev, CX_FTE), 0);
	assert_int_equal(refs(&r, CX_TIR, r.tirn) + refs(&r, CX_FCOUNTER, r.counter), 0);
	d_rule(r.d, r.table, r.group, 5, &rule);
	d_close(r.d);
}

/* ---- destinations ---- */

static void test_levels(void **state)
{
	struct rig r = rig_open(NULL);
	uint32_t same = d_table(r.d, 2, 4), before = d_table(r.d, 1, 4),
		 after = d_table(r.d, 3, 4);
	uint32_t tx =
		flow_table(r.d, &(struct flow_table){ .type = FLOW_TX, .level = 9 });
	struct d_rule rule = flow_to_table(same, 0);

	(void)state;
	assert_int_equal(d_try_rule(r.d, r.table, r.group, 4, &rule), CX_ST_BAD_PARAM);
	d_assert_log(r.d, "destination_id: table 0x");
	d_assert_log(r.d, "is at level 2, not after 2");
	rule.dest[0].id = before;
	assert_int_equal(d_try_rule(r.d, r.table, r.group, 4, &rule), CX_ST_BAD_PARAM);
	rule.dest[0].id = r.table;
	assert_int_equal(d_try_rule(r.d, r.table, r.group, 4, &rule), CX_ST_BAD_PARAM);
	rule.dest[0].id = tx;
	assert_int_equal(d_try_rule(r.d, r.table, r.group, 4, &rule), CX_ST_BAD_PARAM);
	d_assert_log(r.d, "is of type 1");
	rule.dest[0].id = after;
	assert_int_equal(d_try_rule(r.d, r.table, r.group, 4, &rule), CX_ST_OK);
	d_close(r.d);
}

static void test_no_tir_when_sending(void **state)
{
	struct rig r = rig_open(NULL);
	uint32_t tx = flow_table(r.d,
				 &(struct flow_table){ .type = FLOW_TX, .log_size = 4 }),
		 group;
	struct d_rule rule = flow_to_tir(r.tirn, 0);

	(void)state;
	d_patch(r.d, 0, (cx_field)CX_create_flow_group_in__table_type, FLOW_TX);
	group = flow_all_group(r.d, tx, 0, 0);
	d_patch(r.d, 0, (cx_field)CX_set_fte_in__table_type, FLOW_TX);
	assert_int_equal(d_try_rule(r.d, tx, group, 0, &rule), CX_ST_BAD_PARAM);
	d_assert_log(r.d, "destination_type: TIR (2) in a transmit table");
	d_close(r.d);
}

static void test_no_copies_when_sending(void **state)
{
	struct rig r = rig_open(NULL);
	struct flow_table conf = { .type = FLOW_TX, .log_size = 4 };
	uint32_t tx = flow_table(r.d, &conf), low, group;
	struct d_rule rule = { .action = D_FORWARD, .n_dests = 2 };

	(void)state;
	conf.level = 1;
	low = flow_table(r.d, &conf);
	rule.dest[0] = rule.dest[1] = (struct d_dest){ D_TO_TABLE, low };
	d_patch(r.d, 0, (cx_field)CX_create_flow_group_in__table_type, FLOW_TX);
	group = flow_all_group(r.d, tx, 0, 0);
	d_patch(r.d, 0, (cx_field)CX_set_fte_in__table_type, FLOW_TX);
	assert_int_equal(d_try_rule(r.d, tx, group, 0, &rule), CX_ST_BAD_PARAM);
	d_assert_log(r.d, "destination_list_size: 2 destinations, tables among them");
	rule.n_dests = 1;
	d_patch(r.d, 0, (cx_field)CX_set_fte_in__table_type, FLOW_TX);
	d_rule(r.d, tx, group, 0, &rule);
	d_close(r.d);
}

static void test_too_many_destinations(void **state)
{
	const char *const caps[] = { "ft.rx_log_max_destination=2", NULL };
	struct rig r = rig_open(caps);
	struct d_rule rule = flow_to_tir(r.tirn, 0);

	(void)state;
	for (rule.n_dests = 1; rule.n_dests < 5; rule.n_dests++)
		rule.dest[rule.n_dests] = rule.dest[0];
	assert_int_equal(d_try_rule(r.d, r.table, r.group, 4, &rule), CX_ST_LIMIT);
	d_assert_log(r.d,
		     "flow_context.destination_list_size: 5 is over the limit of 2^2");
	rule.n_dests = 4;
	assert_int_equal(d_try_rule(r.d, r.table, r.group, 4, &rule), CX_ST_OK);
	assert_int_equal(refs(&r, CX_TIR, r.tirn), 4);
	assert_int_equal(d_rule_del(r.d, r.table, 4), CX_ST_OK);
	assert_int_equal(refs(&r, CX_TIR, r.tirn), 0);
	d_close(r.d);
}

static void test_capabilities_of_copies(void **state)
{
	const char *const caps[] = { "ft.nic_rx_multi_path_tirs_fts=0", NULL };
	const char *const none[] = { "ft.nic_rx_multi_path_tirs=0", NULL };
	struct rig r = rig_open(caps);
	struct d_rule rule = flow_to_tir(r.tirn, 0);

	(void)state;
	rule.n_dests = 2;
	rule.dest[1] = (struct d_dest){ D_TO_TABLE, d_table(r.d, 9, 4) };
	assert_int_equal(d_try_rule(r.d, r.table, r.group, 4, &rule), CX_ST_BAD_PARAM);
	d_assert_log(
		r.d,
		"2 destinations, tables among them: this device has no such multi-path");
	rule.dest[1] = rule.dest[0];
	assert_int_equal(d_try_rule(r.d, r.table, r.group, 4, &rule), CX_ST_OK);
	d_close(r.d);
	r = rig_open(none);
	rule.dest[0].id = rule.dest[1].id = r.tirn;
	assert_int_equal(d_try_rule(r.d, r.table, r.group, 4, &rule), CX_ST_BAD_PARAM);
	d_close(r.d);
}

/* ---- tag and counters ---- */

static void test_capabilities_of_actions(void **state)
{
	const char *const caps[] = { "ft.rx_flow_tag=0", "ft.rx_flow_counter=0",
				     "ft.rx_flow_modify_en=0", "ft.rx_log_max_flow=1",
				     NULL };
	struct rig r = rig_open(caps);
	struct d_rule rule = counted(&r, 80), drop = flow_rule(D_DROP, DPORT, 1);

	(void)state;
	assert_int_equal(d_try_rule(r.d, r.table, r.group, 4, &rule), CX_ST_BAD_PARAM);
	d_assert_log(r.d, "flow_context.flow_tag: this device does not tag");
	rule.tag = 0;
	assert_int_equal(d_try_rule(r.d, r.table, r.group, 4, &rule), CX_ST_BAD_PARAM);
	d_assert_log(r.d,
		     "flow_context.flow_counter_list_size: this device does not count");
	d_rule(r.d, r.table, r.group, 4, &drop);
	assert_int_equal(flow_try_modify(r.d, r.table, r.group, 4, FLOW_MOD_ACTION,
					 &drop),
			 CX_ST_BAD_PARAM);
	d_assert_log(r.d, "op_mod: this device does not modify entries");
	cx_set(drop.value, DPORT, 2);
	d_rule(r.d, r.table, r.group, 5, &drop);
	cx_set(drop.value, DPORT, 3);
	assert_int_equal(d_try_rule(r.d, r.table, r.group, 6, &drop), CX_ST_LIMIT);
	d_assert_log(r.d, "flow_index: there are 2^1 entries");
	d_close(r.d);
}

/* A rule with @n counters, by hand: the thin API has at most one. */
static enum cx_status many_counters(const struct rig *r, unsigned n, const uint32_t *ids)
{
	uint8_t in[CX_BYTES(set_fte_in) + 8 * 8] = { 0 }, out[16];
	uint8_t *ctx = CX_AT(set_fte_in, in, flow_context);

	CX_SET(set_fte_in, in, table_id, r->table);
	CX_SET(set_fte_in, in, flow_index, 4);
	CX_SET(flow_context, ctx, group_id, r->group);
	CX_SET(flow_context, ctx, action, D_DROP | D_COUNT);
	CX_SET(flow_context, ctx, flow_counter_list_size, n);
	for (unsigned i = 0; i < n; i++)
		CX_SET(flow_counter_list, in + CX_BYTES(set_fte_in) + i * 8,
		       flow_counter_id, ids[i]);
	return flow_cmd(r->d, D_SET_FTE, in, CX_BYTES(set_fte_in) + n * 8, out,
			sizeof(out));
}

static void test_several_counters(void **state)
{
	struct rig r = rig_open(NULL);
	struct frame f = frame_udp4(1, 0, 10);
	uint32_t ids[5];
	uint64_t packets, bytes;

	(void)state;
	for (unsigned i = 0; i < 5; i++)
		ids[i] = d_flow_counter(r.d);
	assert_int_equal(many_counters(&r, 5, ids), CX_ST_LIMIT);
	d_assert_log(r.d,
		     "flow_context.flow_counter_list_size: 5 is over the limit of 2^2");
	assert_int_equal(many_counters(&r, 4, ids), CX_ST_OK);
	for (unsigned i = 0; i < 5; i++)
		assert_int_equal(refs(&r, CX_FCOUNTER, ids[i]), i < 4);
	d_root(r.d, r.table);
	assert_int_equal(flow_steer_one(r.d, &f), CX_DEST_DROP);
	for (unsigned i = 0; i < 5; i++) {
		d_flow_counter_read(r.d, ids[i], &packets, &bytes);
		assert_int_equal(packets, i < 4);
		assert_int_equal(bytes, i < 4 ? f.len : 0);
	}
	d_close(r.d);
}

/* An action that says where to, or to count, with nothing in its list. */
static void test_empty_lists(void **state)
{
	struct rig r = rig_open(NULL);
	struct d_rule rule = { .action = D_FORWARD };

	(void)state;
	assert_int_equal(d_try_rule(r.d, r.table, r.group, 4, &rule), CX_ST_BAD_PARAM);
	d_assert_log(r.d, "flow_context.destination_list_size: 0 with action 0x4");
	assert_int_equal(many_counters(&r, 0, NULL), CX_ST_BAD_PARAM);
	d_assert_log(r.d, "flow_context.flow_counter_list_size: 0 with action 0xa");
	d_close(r.d);
}

/* One of a bulk: the entry counts in its own slot. */
static void test_counter_of_a_bulk(void **state)
{
	struct rig r = rig_open(NULL);
	uint8_t in[CX_BYTES(alloc_flow_counter_in)] = { 0 },
		out[CX_BYTES(alloc_flow_counter_out)];
	struct frame f = frame_udp4(1, 0, 10);
	uint64_t packets, bytes;
	uint32_t first, id;

	(void)state;
	CX_SET(alloc_flow_counter_in, in, flow_counter_bulk, 4); /* 512 */
	assert_int_equal(d_cmd(r.d, D_ALLOC_FLOW_COUNTER, in, sizeof(in), out,
			       sizeof(out)),
			 CX_ST_OK);
	first = (uint32_t)CX_GET(alloc_flow_counter_out, out, flow_counter_id);
	id = first + 511;
	assert_int_equal(many_counters(&r, 1, &id), CX_ST_OK);
	d_root(r.d, r.table);
	flow_steer_one(r.d, &f);
	d_flow_counter_read(r.d, id, &packets, &bytes);
	assert_int_equal(packets, 1);
	d_flow_counter_read(r.d, first, &packets, &bytes);
	assert_int_equal(packets, 0);
	d_close(r.d);
}

/* ---- same place, same value ---- */

static void test_duplicates(void **state)
{
	struct rig r = rig_open(NULL);
	struct d_rule a = flow_rule(D_DROP, DPORT, 80), b = flow_rule(D_DROP, DPORT, 81);

	(void)state;
	d_rule(r.d, r.table, r.group, 4, &a);
	assert_int_equal(d_try_rule(r.d, r.table, r.group, 4, &b), CX_ST_BAD_RES_STATE);
	d_assert_log(r.d, "flow_index: 4 is in use");
	assert_int_equal(d_try_rule(r.d, r.table, r.group, 5, &a), CX_ST_BAD_PARAM);
	d_assert_log(r.d, "flow_context.match_value: entry 4 of the group has the same");
	assert_int_equal(d_rule_del(r.d, r.table, 4), CX_ST_OK);
	d_rule(r.d, r.table, r.group, 5, &a);
	d_rule(r.d, r.table, r.group, 4, &b);
	d_close(r.d);
}

static void test_full_group(void **state)
{
	struct rig r = rig_open(NULL);

	(void)state;
	for (uint32_t i = 4; i <= 11; i++) {
		struct d_rule rule = flow_rule(D_DROP, DPORT, i);

		d_rule(r.d, r.table, r.group, i, &rule);
	}
	for (uint32_t i = 4; i <= 11; i++) {
		struct d_rule rule = flow_rule(D_DROP, DPORT, 100);

		assert_int_equal(d_try_rule(r.d, r.table, r.group, i, &rule),
				 CX_ST_BAD_RES_STATE);
	}
	d_close(r.d);
}

static void test_group_of_another_table(void **state)
{
	struct rig r = rig_open(NULL);
	uint32_t other = d_table(r.d, 2, 4);
	struct d_rule rule = flow_rule(D_DROP, DPORT, 80);

	(void)state;
	assert_int_equal(d_try_rule(r.d, other, r.group, 4, &rule), CX_ST_BAD_RES);
	d_assert_log(r.d, "flow_context.group_id: group 0x");
	d_close(r.d);
}

/* ---- what an entry holds ---- */

static void test_references(void **state)
{
	struct rig r = rig_open(NULL);
	struct d_rule rule = counted(&r, 80);
	uint8_t in[16] = { 0 }, out[16];

	(void)state;
	d_rule(r.d, r.table, r.group, 4, &rule);
	assert_int_equal(d_simple(r.d, D_DESTROY_TIR, r.tirn, NULL), CX_ST_BAD_RES_STATE);
	CX_SET(dealloc_flow_counter_in, in, flow_counter_id, r.counter);
	assert_int_equal(d_cmd(r.d, D_DEALLOC_FLOW_COUNTER, in, sizeof(in), out,
			       sizeof(out)),
			 CX_ST_BAD_RES_STATE);
	assert_int_equal(d_rule_del(r.d, r.table, 4), CX_ST_OK);
	assert_int_equal(d_simple(r.d, D_DESTROY_TIR, r.tirn, NULL), CX_ST_OK);
	assert_int_equal(d_cmd(r.d, D_DEALLOC_FLOW_COUNTER, in, sizeof(in), out,
			       sizeof(out)),
			 CX_ST_OK);
	d_close(r.d);
}

static void test_modify_moves_references(void **state)
{
	struct rig r = rig_open(NULL);
	uint32_t second = flow_tir(r.d), c2 = d_flow_counter(r.d);
	struct d_rule rule = counted(&r, 80), other = rule;

	(void)state;
	other.dest[0].id = second;
	other.counter = c2;
	d_rule(r.d, r.table, r.group, 4, &rule);
	assert_int_equal(flow_try_modify(r.d, r.table, r.group, 4, FLOW_MOD_DESTS,
					 &other),
			 CX_ST_OK);
	assert_int_equal(refs(&r, CX_TIR, r.tirn), 0);
	assert_int_equal(refs(&r, CX_TIR, second), 1);
	assert_int_equal(refs(&r, CX_FCOUNTER, r.counter), 1);
	assert_int_equal(flow_try_modify(r.d, r.table, r.group, 4, FLOW_MOD_COUNTERS,
					 &other),
			 CX_ST_OK);
	assert_int_equal(refs(&r, CX_FCOUNTER, r.counter), 0);
	assert_int_equal(refs(&r, CX_FCOUNTER, c2), 1);
	assert_int_equal(flow_try_modify(r.d, r.table, r.group, 4, 0xf, &other),
			 CX_ST_OK);
	assert_int_equal(refs(&r, CX_TIR, second), 1);
	other.action = D_FORWARD; /* counts no longer */
	assert_int_equal(flow_try_modify(r.d, r.table, r.group, 4,
					 FLOW_MOD_ACTION | FLOW_MOD_COUNTERS, &other),
			 CX_ST_OK);
	assert_int_equal(refs(&r, CX_FCOUNTER, c2), 0);
	assert_int_equal(d_rule_del(r.d, r.table, 4), CX_ST_OK);
	assert_int_equal(refs(&r, CX_TIR, second) + refs(&r, CX_FCOUNTER, c2), 0);
	d_close(r.d);
}

static void test_bad_modify(void **state)
{
	struct rig r = rig_open(NULL);
	struct d_rule rule = counted(&r, 80), drop = flow_rule(D_DROP, DPORT, 80);

	(void)state;
	d_rule(r.d, r.table, r.group, 4, &rule);
	assert_int_equal(flow_try_modify(r.d, r.table, r.group, 4, 0, &rule),
			 CX_ST_BAD_PARAM);
	d_assert_log(r.d, "set_fte_in.modify_enable_mask: 0x0 is not among");
	assert_int_equal(flow_try_modify(r.d, r.table, r.group, 4, 0x10, &rule),
			 CX_ST_BAD_PARAM);
	assert_int_equal(flow_try_modify(r.d, r.table, r.group, 4, FLOW_MOD_ACTION,
					 &drop),
			 CX_ST_BAD_PARAM);
	d_assert_log(r.d, "leaves action 0x2 with 1 destinations and 1 counters");
	cx_set(rule.value, DPORT, 81);
	assert_int_equal(flow_try_modify(r.d, r.table, r.group, 4, FLOW_MOD_TAG, &rule),
			 CX_ST_BAD_PARAM);
	d_assert_log(r.d, "flow_context.match_value: is not that of the entry");
	assert_int_equal(flow_try_modify(r.d, r.table, r.group, 5, FLOW_MOD_TAG, &rule),
			 CX_ST_BAD_RES_STATE);
	d_close(r.d);
}

/* ---- query and delete ---- */

static void test_query(void **state)
{
	struct rig r = rig_open(NULL);
	struct d_rule rule = counted(&r, 80);
	uint8_t in[CX_BYTES(query_fte_in)] = { 0 }, out[CX_BYTES(query_fte_out) + 24];
	uint8_t *ctx = CX_AT(query_fte_out, out, flow_context),
		*list = out + CX_BYTES(query_fte_out);

	(void)state;
	rule.n_dests = 2;
	rule.dest[1] = (struct d_dest){ D_TO_TABLE, d_table(r.d, 8, 4) };
	d_rule(r.d, r.table, r.group, 9, &rule);
	CX_SET(query_fte_in, in, table_id, r.table);
	CX_SET(query_fte_in, in, flow_index, 9);
	assert_int_equal(flow_cmd(r.d, 0x937, in, sizeof(in), out, sizeof(out) - 1),
			 CX_ST_BAD_OUT_LEN);
	assert_int_equal(flow_cmd(r.d, 0x937, in, sizeof(in), out, sizeof(out)),
			 CX_ST_OK);
	assert_int_equal(CX_GET(flow_context, ctx, group_id), r.group);
	assert_int_equal(CX_GET(flow_context, ctx, flow_tag), 7);
	assert_int_equal(CX_GET(flow_context, ctx, action), D_FORWARD | D_COUNT);
	assert_int_equal(CX_GET(flow_context, ctx, destination_list_size), 2);
	assert_int_equal(CX_GET(flow_context, ctx, flow_counter_list_size), 1);
	assert_memory_equal(CX_AT(flow_context, ctx, match_value), rule.value, 512);
	assert_int_equal(CX_GET(dest_format_struct, list, destination_type), D_TO_TIR);
	assert_int_equal(CX_GET(dest_format_struct, list, destination_id), r.tirn);
	assert_int_equal(CX_GET(dest_format_struct, list + 8, destination_type),
			 D_TO_TABLE);
	assert_int_equal(CX_GET(dest_format_struct, list + 8, destination_id),
			 rule.dest[1].id);
	assert_int_equal(CX_GET(flow_counter_list, list + 16, flow_counter_id),
			 r.counter);
	CX_SET(query_fte_in, in, flow_index, 8);
	assert_int_equal(flow_cmd(r.d, 0x937, in, sizeof(in), out, sizeof(out)),
			 CX_ST_BAD_INDEX);
	CX_SET(query_fte_in, in, flow_index, 0);
	assert_int_equal(flow_cmd(r.d, 0x937, in, sizeof(in), out, sizeof(out)),
			 CX_ST_BAD_INDEX);
	d_close(r.d);
}

static void test_delete(void **state)
{
	struct rig r = rig_open(NULL);
	struct d_rule rule = counted(&r, 80);

	(void)state;
	assert_int_equal(d_rule_del(r.d, r.table, 5), CX_ST_BAD_INDEX);
	d_assert_log(r.d, "flow_index: there is no entry 5 in table");
	d_rule(r.d, r.table, r.group, 5, &rule);
	assert_int_equal(d_rule_del(r.d, r.table, 4), CX_ST_BAD_INDEX);
	d_patch(r.d, 0, (cx_field)CX_delete_fte_in__op_mod, 1);
	assert_int_equal(d_rule_del(r.d, r.table, 5), CX_ST_BAD_PARAM);
	assert_int_equal(d_rule_del(r.d, r.table, 5), CX_ST_OK);
	assert_int_equal(d_rule_del(r.d, r.table, 5), CX_ST_BAD_INDEX);
	d_close(r.d);
}

/* The end of the device with everything in place: nothing leaks, nothing is touched twice. */
static void test_device_ends_full(void **state)
{
	struct rig r = rig_open(NULL);
	struct d_rule rule = counted(&r, 80), on = flow_to_table(d_table(r.d, 9, 4), 0);

	(void)state;
	d_root(r.d, r.table);
	d_rule(r.d, r.table, r.group, 5, &rule);
	d_rule(r.d, r.table, r.group, 6, &on);
	assert_int_equal(flow_try_miss(r.d, r.table, d_table(r.d, 7, 4)), CX_ST_OK);
	d_close(r.d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_spoilt),
		cmocka_unit_test(test_levels),
		cmocka_unit_test(test_no_tir_when_sending),
		cmocka_unit_test(test_no_copies_when_sending),
		cmocka_unit_test(test_too_many_destinations),
		cmocka_unit_test(test_capabilities_of_copies),
		cmocka_unit_test(test_capabilities_of_actions),
		cmocka_unit_test(test_several_counters),
		cmocka_unit_test(test_empty_lists),
		cmocka_unit_test(test_counter_of_a_bulk),
		cmocka_unit_test(test_duplicates),
		cmocka_unit_test(test_full_group),
		cmocka_unit_test(test_group_of_another_table),
		cmocka_unit_test(test_references),
		cmocka_unit_test(test_modify_moves_references),
		cmocka_unit_test(test_bad_modify),
		cmocka_unit_test(test_query),
		cmocka_unit_test(test_delete),
		cmocka_unit_test(test_device_ends_full),
	};

	return cmocka_run_group_tests_name("cmd_fte", tests, NULL, NULL);
}
