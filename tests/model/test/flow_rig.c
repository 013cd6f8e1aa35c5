/* test/flow_rig.c - see flow_rig.h */
#include "flow_rig.h"

#include <string.h>

enum cx_status flow_cmd(struct direct *d, uint16_t opcode, void *in, size_t in_len,
			void *out, size_t out_len)
{
	uint16_t uid = d->uid;
	enum cx_status st;

	d->uid = 0;
	st = d_cmd(d, opcode, in, in_len, out, out_len);
	d->uid = uid;
	return st;
}

/* ---- tables ---- */

enum cx_status flow_try_table(struct direct *d, const struct flow_table *conf,
			      uint32_t *table)
{
	uint8_t in[CX_BYTES(create_flow_table_in)] = { 0 };
	uint8_t out[CX_BYTES(create_flow_table_out)];
	uint8_t *ctx = CX_AT(create_flow_table_in, in, flow_table_context);
	enum cx_status st;

	CX_SET(create_flow_table_in, in, table_type, conf->type);
	CX_SET(flow_table_context, ctx, level, conf->level);
	CX_SET(flow_table_context, ctx, log_size, conf->log_size);
	CX_SET(flow_table_context, ctx, table_miss_action, conf->miss != 0);
	CX_SET(flow_table_context, ctx, table_miss_id, conf->miss);
	st = flow_cmd(d, D_CREATE_FLOW_TABLE, in, sizeof(in), out, sizeof(out));
	*table = (uint32_t)CX_GET(create_flow_table_out, out, table_id);
	return st;
}

uint32_t flow_table(struct direct *d, const struct flow_table *conf)
{
	uint32_t table;

	assert_int_equal(flow_try_table(d, conf, &table), CX_ST_OK);
	return table;
}

enum cx_status flow_try_destroy_table(struct direct *d, uint8_t type, uint32_t table)
{
	uint8_t in[CX_BYTES(destroy_flow_table_in)] = { 0 }, out[16];

	CX_SET(destroy_flow_table_in, in, table_type, type);
	CX_SET(destroy_flow_table_in, in, table_id, table);
	return flow_cmd(d, D_DESTROY_FLOW_TABLE, in, sizeof(in), out, sizeof(out));
}

enum cx_status flow_try_miss(struct direct *d, uint32_t table, uint32_t miss)
{
	uint8_t in[CX_BYTES(modify_flow_table_in)] = { 0 }, out[16];
	uint8_t *ctx = CX_AT(modify_flow_table_in, in, flow_table_context);

	CX_SET(modify_flow_table_in, in, table_id, table);
	CX_SET(modify_flow_table_in, in, modify_field_select, 1);
	CX_SET(flow_table_context, ctx, table_miss_action, miss != 0);
	CX_SET(flow_table_context, ctx, table_miss_id, miss);
	return flow_cmd(d, 0x93c, in, sizeof(in), out, sizeof(out));
}

static enum cx_status root(struct direct *d, uint8_t type, uint16_t op_mod,
			   uint32_t table)
{
	uint8_t in[CX_BYTES(set_flow_table_root_in)] = { 0 }, out[16];

	CX_SET(set_flow_table_root_in, in, op_mod, op_mod);
	CX_SET(set_flow_table_root_in, in, table_type, type);
	CX_SET(set_flow_table_root_in, in, table_id, table);
	return flow_cmd(d, D_SET_FLOW_TABLE_ROOT, in, sizeof(in), out, sizeof(out));
}

enum cx_status flow_try_root(struct direct *d, uint8_t type, uint32_t table)
{
	return root(d, type, 0, table);
}

enum cx_status flow_try_root_reset(struct direct *d, uint8_t type)
{
	return root(d, type, 1, 0);
}

/* ---- groups ---- */

enum cx_status flow_try_destroy_group(struct direct *d, uint32_t table, uint32_t group)
{
	uint8_t in[CX_BYTES(destroy_flow_group_in)] = { 0 }, out[16];

	CX_SET(destroy_flow_group_in, in, table_id, table);
	CX_SET(destroy_flow_group_in, in, group_id, group);
	return flow_cmd(d, D_DESTROY_FLOW_GROUP, in, sizeof(in), out, sizeof(out));
}

uint32_t flow_all_group(struct direct *d, uint32_t table, uint32_t first, uint32_t last)
{
	return d_group(d, table, first, last, 0, NULL);
}

uint32_t flow_field_group(struct direct *d, uint32_t table, uint32_t first, uint32_t last,
			  cx_field field)
{
	uint8_t mask[512] = { 0 };

	cx_set(mask, field, UINT32_MAX);
	return d_group(d, table, first, last, FLOW_ENABLE_OUTER, mask);
}

/* ---- rules ---- */

struct d_rule flow_rule(uint16_t action, cx_field field, uint32_t value)
{
	struct d_rule r = { .action = action };

	cx_set(r.value, field, value);
	return r;
}

struct d_rule flow_to_tir(uint32_t tirn, uint32_t tag)
{
	return (struct d_rule){ .action = D_FORWARD,
				.tag = tag,
				.dest = { { D_TO_TIR, tirn } },
				.n_dests = 1 };
}

struct d_rule flow_to_table(uint32_t table, uint32_t tag)
{
	return (struct d_rule){ .action = D_FORWARD,
				.tag = tag,
				.dest = { { D_TO_TABLE, table } },
				.n_dests = 1 };
}

enum cx_status flow_try_modify(struct direct *d, uint32_t table, uint32_t group,
			       uint32_t index, uint8_t mask, const struct d_rule *rule)
{
	d_patch(d, 0, (cx_field)CX_set_fte_in__op_mod, FLOW_MODIFY);
	d_patch(d, 0, (cx_field)CX_set_fte_in__modify_enable_mask, mask);
	return d_try_rule(d, table, group, index, rule);
}

/* ---- the walk ---- */

struct flow_fate flow_steer(struct direct *d, const struct frame *f)
{
	struct flow_fate fate;
	struct cx_pkt pkt;

	cx_parse(&pkt, f->b, f->len);
	fate.n = cx_steer(d->dev, &pkt, fate.dest);
	assert_in_range(fate.n, 1, CX_DEST_MAX);
	assert_int_equal(pkt.flow_tag, fate.dest[0].flow_tag);
	return fate;
}

enum cx_dest_type flow_steer_one(struct direct *d, const struct frame *f)
{
	struct flow_fate fate = flow_steer(d, f);

	assert_int_equal(fate.n, 1);
	return fate.dest[0].type;
}

uint32_t flow_tir(struct direct *d)
{
	struct d_cq *cq = d_cq(d, &(struct d_cq_conf){ .log_size = 4 });
	struct d_rq *rq = d_rq(d, &(struct d_rq_conf){ .log_size = 2, .cq = cq });

	return d_tir(d, rq->num);
}
