/* core/cmd_flow.c - commands on flow tables, their roots and groups
 *
 * The order in which the kernel takes a chain of tables down is kept legal: a root
 * table may be destroyed as root, and the port is then without one (fs_core.c,
 * update_root_ft_destroy sends nothing when no table follows).
 *
 * Statuses: 0x3 for a value that is never right, 0x5 for an object that is not
 * there, 0x8 for a limit, 0x9 for an object in use. Which of them the card uses where
 * is not public; assumed.
 */
#include "call.h"
#include "steer.h"

/* ---- checks that several commands share ---- */

/* Named after one mailbox: all that have these fields have them in the same place. */
static enum cx_status check_vport(struct cx_call *call)
{
	static const struct cx_forbidden rows[] = {
		CX_FORBIDDEN(create_flow_table_in, other_vport,
			     "this device has no other vport"),
		CX_FORBIDDEN(create_flow_table_in, vport_number,
			     "this device has no other vport"),
		{ 0, NULL, NULL },
	};

	return cx_call_forbid(call, call->in, rows);
}

static enum cx_status check_type(struct cx_call *call)
{
	uint32_t type = (uint32_t)CX_GET(create_flow_table_in, call->in, table_type);

	if (type >= CX_FT_TYPE_COUNT)
		return cx_refuse(call, CX_ST_BAD_PARAM, "table_type",
				 "%u is neither NIC_RX (0) nor NIC_TX (1)", type);
	if (!CX_GET(flow_table_prop_layout,
		    cx_flow_props(call->dev, (enum cx_ft_type)type), ft_support))
		return cx_refuse(call, CX_ST_BAD_PARAM, "table_type",
				 "this device has no tables of type %u", type);
	return CX_ST_OK;
}

/* A table that the kernel shares can be seen by all, to forward to it; only its maker adds to it
 * or takes it down. Assumed; the kernel shares the tables of steering anchors (hw/mlx5/fs.c). */
static enum cx_status check_maker(struct cx_call *call, const struct cx_ft *ft)
{
	if (call->uid && ft->obj.uid != call->uid)
		return cx_refuse(call, CX_ST_BAD_RES, "table_id",
				 "FT 0x%x is shared by uid %u", ft->obj.num, ft->obj.uid);
	return CX_ST_OK;
}

struct cx_ft *cx_call_ft(struct cx_call *call, enum cx_status *st)
{
	uint32_t type = (uint32_t)CX_GET(modify_flow_table_in, call->in, table_type);
	uint32_t id = (uint32_t)CX_GET(modify_flow_table_in, call->in, table_id);
	struct cx_ft *ft;

	*st = check_vport(call);
	if (*st != CX_ST_OK)
		return NULL;
	ft = (struct cx_ft *)cx_call_obj(call, CX_FT, id, "table_id", st);
	if (!ft)
		return NULL;
	if (ft->type != type)
		*st = cx_refuse(call, CX_ST_BAD_PARAM, "table_type",
				"%u, but table 0x%x is of type %u", type, id, ft->type);
	else
		*st = check_maker(call, ft);
	return *st == CX_ST_OK ? ft : NULL;
}

static struct cx_fg *call_group(struct cx_call *call, const struct cx_ft *ft,
				enum cx_status *st)
{
	struct cx_fg *fg = (struct cx_fg *)cx_call_obj(
		call, CX_FG, (uint32_t)CX_GET(destroy_flow_group_in, call->in, group_id),
		"group_id", st);

	if (fg && fg->ft != ft) {
		*st = cx_refuse(call, CX_ST_BAD_RES, "group_id",
				"group 0x%x is of table 0x%x", fg->obj.num,
				fg->ft->obj.num);
		return NULL;
	}
	return fg;
}

/* ---- tables ---- */

enum { MISS_DEFAULT = 0, MISS_FORWARD = 1 }; /* kernel enum mlx5_flow_table_miss_action */

static enum cx_status check_context(struct cx_call *call, const uint8_t *ctx)
{
	static const struct cx_forbidden rows[] = {
		CX_FORBIDDEN(flow_table_context, reformat_en,
			     "this device does not reformat"),
		CX_FORBIDDEN(flow_table_context, decap_en,
			     "this device does not decapsulate"),
		CX_FORBIDDEN(flow_table_context, sw_owner,
			     "tables are the firmware's only"),
		CX_FORBIDDEN(flow_table_context, termination_table,
			     "no termination tables"),
		CX_FORBIDDEN(flow_table_context, rtc_valid,
			     "tables are the firmware's only"),
		CX_FORBIDDEN(flow_table_context, lag_master_next_table_id,
			     "no link aggregation"),
		CX_FORBIDDEN(flow_table_context, sw_owner_icm_root_1,
			     "tables are the firmware's only"),
		CX_FORBIDDEN(flow_table_context, sw_owner_icm_root_0,
			     "tables are the firmware's only"),
		{ 0, NULL, NULL },
	};

	return cx_call_forbid(call, ctx, rows);
}

/* Where a miss of a table at @conf's level goes. Fills conf->miss. */
static enum cx_status parse_miss(struct cx_call *call, const uint8_t *ctx,
				 struct cx_ft *conf)
{
	uint32_t action = (uint32_t)CX_GET(flow_table_context, ctx, table_miss_action);
	uint32_t id = (uint32_t)CX_GET(flow_table_context, ctx, table_miss_id);
	enum cx_status st = CX_ST_OK;

	conf->miss = NULL;
	if (action > MISS_FORWARD)
		return cx_refuse(call, CX_ST_BAD_PARAM,
				 "flow_table_context.table_miss_action",
				 "%u is neither default (0) nor forward (1)", action);
	if (action == MISS_DEFAULT && id)
		return cx_refuse(call, CX_ST_BAD_PARAM,
				 "flow_table_context.table_miss_id",
				 "0x%x with the default action", id);
	if (action == MISS_DEFAULT)
		return CX_ST_OK;
	if (!CX_GET(flow_table_prop_layout, cx_flow_props(call->dev, conf->type),
		    identified_miss_table_mode))
		return cx_refuse(call, CX_ST_BAD_PARAM,
				 "flow_table_context.table_miss_action",
				 "this device has no miss tables for type %u",
				 conf->type);
	conf->miss = (struct cx_ft *)cx_call_obj(call, CX_FT, id,
						 "flow_table_context.table_miss_id", &st);
	if (!conf->miss)
		return st;
	if (conf->miss->type != conf->type)
		return cx_refuse(call, CX_ST_BAD_PARAM,
				 "flow_table_context.table_miss_id",
				 "table 0x%x is of type %u", id, conf->miss->type);
	if (conf->miss->level <= conf->level)
		return cx_refuse(call, CX_ST_BAD_PARAM,
				 "flow_table_context.table_miss_id",
				 "table 0x%x is at level %u, not after %u", id,
				 conf->miss->level, conf->level);
	return CX_ST_OK;
}

struct type_count {
	enum cx_ft_type type;
	uint32_t n;
};

static bool count_type(void *arg, struct cx_obj *obj)
{
	struct type_count *c = arg;

	c->n += ((struct cx_ft *)obj)->type == c->type;
	return true;
}

static uint32_t tables_of_type(const struct cx_dev *dev, enum cx_ft_type type)
{
	struct type_count c = { type, 0 };

	cx_obj_each(dev, CX_FT, count_type, &c);
	return c.n;
}

static enum cx_status check_limits(struct cx_call *call, const struct cx_ft *conf)
{
	const uint8_t *props = cx_flow_props(call->dev, conf->type);
	uint32_t max_level =
		(uint32_t)CX_GET(flow_table_prop_layout, props, max_ft_level);
	uint32_t log_max =
		(uint32_t)CX_GET(flow_table_prop_layout, props, log_max_ft_size);
	uint32_t log_num =
		(uint32_t)CX_GET(flow_table_prop_layout, props, log_max_ft_num);

	if (conf->level > max_level)
		return cx_refuse(call, CX_ST_LIMIT, "flow_table_context.level",
				 "%u is over the limit of %u", conf->level, max_level);
	if (conf->log_size > log_max)
		return cx_refuse(call, CX_ST_LIMIT, "flow_table_context.log_size",
				 "%u is over the limit of %u", conf->log_size, log_max);
	if (tables_of_type(call->dev, conf->type) >= cx_pow2(log_num))
		return cx_refuse(call, CX_ST_LIMIT, "table_type",
				 "there are 2^%u tables of type %u", log_num, conf->type);
	return CX_ST_OK;
}

/* op_mod 1 is the demultiplexer of link aggregation (kernel fs_cmd.c). */
static enum cx_status check_create_table(struct cx_call *call, struct cx_ft *conf)
{
	const uint8_t *ctx = CX_AT(create_flow_table_in, call->in, flow_table_context);
	enum cx_status st = cx_call_plain(call);

	if (st == CX_ST_OK)
		st = check_vport(call);
	if (st == CX_ST_OK)
		st = check_type(call);
	if (st == CX_ST_OK)
		st = check_context(call, ctx);
	if (st != CX_ST_OK)
		return st;
	conf->type = (enum cx_ft_type)CX_GET(create_flow_table_in, call->in, table_type);
	conf->level = (uint8_t)CX_GET(flow_table_context, ctx, level);
	conf->log_size = (uint8_t)CX_GET(flow_table_context, ctx, log_size);
	st = check_limits(call, conf);
	return st == CX_ST_OK ? parse_miss(call, ctx, conf) : st;
}

static enum cx_status create_flow_table(struct cx_call *call)
{
	struct cx_ft conf = { .type = CX_FT_NIC_RX };
	enum cx_status st = check_create_table(call, &conf);
	struct cx_ft *ft;

	if (st != CX_ST_OK)
		return st;
	ft = cx_ft_new(call->dev, call->uid, &conf);
	if (!ft)
		return cx_refuse(call, CX_ST_NO_RES, "table_id",
				 "no memory or no number left");
	CX_SET(create_flow_table_out, call->out, table_id, ft->obj.num);
	return CX_ST_OK;
}

#define MODIFY_MISS 1 /* kernel MLX5_MODIFY_FLOW_TABLE_MISS_TABLE_ID */

static enum cx_status check_modify_table(struct cx_call *call, const struct cx_ft *ft)
{
	uint32_t select =
		(uint32_t)CX_GET(modify_flow_table_in, call->in, modify_field_select);
	const uint8_t *ctx = CX_AT(modify_flow_table_in, call->in, flow_table_context);

	if (!CX_GET(flow_table_prop_layout, cx_flow_props(call->dev, ft->type),
		    flow_table_modify))
		return cx_refuse(call, CX_ST_BAD_PARAM, "modify_flow_table_in",
				 "this device does not modify tables of type %u",
				 ft->type);
	if (select != MODIFY_MISS)
		return cx_refuse(call, CX_ST_BAD_PARAM,
				 "modify_flow_table_in.modify_field_select",
				 "0x%x is not the miss table (0x1) alone", select);
	return check_context(call, ctx);
}

static enum cx_status modify_flow_table(struct cx_call *call)
{
	const uint8_t *ctx = CX_AT(modify_flow_table_in, call->in, flow_table_context);
	enum cx_status st = cx_call_plain(call);
	struct cx_ft conf, *ft;

	if (st != CX_ST_OK)
		return st;
	ft = cx_call_ft(call, &st);
	if (!ft)
		return st;
	st = check_modify_table(call, ft);
	if (st != CX_ST_OK)
		return st;
	conf = *ft;
	st = parse_miss(call, ctx, &conf);
	if (st == CX_ST_OK)
		cx_ft_set_miss(ft, conf.miss);
	return st;
}

static enum cx_status query_flow_table(struct cx_call *call)
{
	uint8_t *ctx = CX_AT(query_flow_table_out, call->out, flow_table_context);
	enum cx_status st = cx_call_plain(call);
	const struct cx_ft *ft = st == CX_ST_OK ? cx_call_ft(call, &st) : NULL;

	if (!ft)
		return st;
	CX_SET(flow_table_context, ctx, level, ft->level);
	CX_SET(flow_table_context, ctx, log_size, ft->log_size);
	CX_SET(flow_table_context, ctx, table_miss_action,
	       ft->miss ? MISS_FORWARD : MISS_DEFAULT);
	CX_SET(flow_table_context, ctx, table_miss_id, ft->miss ? ft->miss->obj.num : 0);
	return CX_ST_OK;
}

static enum cx_status destroy_flow_table(struct cx_call *call)
{
	enum cx_status st = cx_call_plain(call);
	struct cx_ft *ft = st == CX_ST_OK ? cx_call_ft(call, &st) : NULL;

	if (!ft)
		return st;
	st = cx_call_unused(call, &ft->obj, "table_id");
	if (st == CX_ST_OK)
		cx_ft_free(call->dev, ft);
	return st;
}

/* ---- roots ---- */

enum {
	ROOT_SET = 0,
	ROOT_RESET = 1
}; /* op_mod; kernel fs_cmd.c, mlx5_cmd_update_root_ft */

static enum cx_status check_root(struct cx_call *call)
{
	static const struct cx_forbidden rows[] = {
		CX_FORBIDDEN(set_flow_table_root_in, table_of_other_vport,
			     "no other vport"),
		CX_FORBIDDEN(set_flow_table_root_in, table_vport_number,
			     "no other vport"),
		CX_FORBIDDEN(set_flow_table_root_in, underlay_qpn,
			     "the port is Ethernet"),
		CX_FORBIDDEN(set_flow_table_root_in, table_eswitch_owner_vhca_id_valid,
			     "no e-switch"),
		CX_FORBIDDEN(set_flow_table_root_in, table_eswitch_owner_vhca_id,
			     "no e-switch"),
		{ 0, NULL, NULL },
	};
	enum cx_status st = cx_call_kernel(call); /* not on the lists of kernel devx.c */

	if (st == CX_ST_OK && call->op_mod > ROOT_RESET)
		return cx_refuse(call, CX_ST_BAD_PARAM, "op_mod", "0x%x is not known",
				 call->op_mod);
	if (st == CX_ST_OK)
		st = check_vport(call);
	if (st == CX_ST_OK)
		st = check_type(call);
	return st == CX_ST_OK ? cx_call_forbid(call, call->in, rows) : st;
}

static enum cx_status set_flow_table_root(struct cx_call *call)
{
	uint32_t type = (uint32_t)CX_GET(set_flow_table_root_in, call->in, table_type);
	enum cx_status st = check_root(call);
	struct cx_ft *ft;

	if (st != CX_ST_OK)
		return st;
	if (call->op_mod == ROOT_RESET &&
	    CX_GET(set_flow_table_root_in, call->in, table_id))
		return cx_refuse(call, CX_ST_BAD_PARAM, "set_flow_table_root_in.table_id",
				 "a table with op_mod 1, back to default");
	if (call->op_mod == ROOT_RESET) {
		call->dev->steering->root[type] = NULL;
		return CX_ST_OK;
	}
	ft = cx_call_ft(call, &st);
	if (ft)
		call->dev->steering->root[type] = ft;
	return st;
}

/* ---- groups ---- */

static enum cx_status check_range(struct cx_call *call, const struct cx_fg *conf)
{
	const struct cx_fg *other;

	if (conf->start > conf->end)
		return cx_refuse(call, CX_ST_BAD_PARAM,
				 "create_flow_group_in.start_flow_index",
				 "%u is after the end, %u", conf->start, conf->end);
	if ((uint64_t)conf->end >> conf->ft->log_size)
		return cx_refuse(call, CX_ST_BAD_PARAM,
				 "create_flow_group_in.end_flow_index",
				 "%u is not in a table of 2^%u", conf->end,
				 conf->ft->log_size);
	other = cx_ft_group_at(conf->ft, conf->start, conf->end);
	if (other)
		return cx_refuse(call, CX_ST_BAD_PARAM,
				 "create_flow_group_in.start_flow_index",
				 "%u to %u overlaps group 0x%x, %u to %u", conf->start,
				 conf->end, other->obj.num, other->start, other->end);
	return CX_ST_OK;
}

static enum cx_status check_create_group(struct cx_call *call, struct cx_fg *conf)
{
	static const struct cx_forbidden rows[] = {
		CX_FORBIDDEN(create_flow_group_in, group_type,
			     "only groups of one mask (0)"),
		CX_FORBIDDEN(create_flow_group_in, source_eswitch_owner_vhca_id_valid,
			     "no e-switch"),
		CX_FORBIDDEN(create_flow_group_in, match_definer_id, "no match definers"),
		{ 0, NULL, NULL },
	};
	const uint8_t *mask = CX_AT(create_flow_group_in, call->in, match_criteria);
	enum cx_status st = cx_call_plain(call);

	conf->ft = st == CX_ST_OK ? cx_call_ft(call, &st) : NULL;
	if (!conf->ft)
		return st;
	conf->start = (uint32_t)CX_GET(create_flow_group_in, call->in, start_flow_index);
	conf->end = (uint32_t)CX_GET(create_flow_group_in, call->in, end_flow_index);
	conf->enable =
		(uint8_t)CX_GET(create_flow_group_in, call->in, match_criteria_enable);
	cx_match_pack(&conf->mask, mask);
	st = cx_call_forbid(call, call->in, rows);
	if (st == CX_ST_OK)
		st = check_range(call, conf);
	return st == CX_ST_OK
		       ? cx_match_check_mask(call, conf->ft->type, mask, conf->enable)
		       : st;
}

static enum cx_status create_flow_group(struct cx_call *call)
{
	struct cx_fg conf = { .start = 0 };
	enum cx_status st = check_create_group(call, &conf);
	struct cx_fg *fg;

	if (st != CX_ST_OK)
		return st;
	fg = cx_fg_new(call->dev, call->uid, &conf);
	if (!fg)
		return cx_refuse(call, CX_ST_NO_RES, "group_id",
				 "no memory or no number left");
	CX_SET(create_flow_group_out, call->out, group_id, fg->obj.num);
	return CX_ST_OK;
}

static enum cx_status query_flow_group(struct cx_call *call)
{
	enum cx_status st = cx_call_plain(call);
	const struct cx_ft *ft = st == CX_ST_OK ? cx_call_ft(call, &st) : NULL;
	const struct cx_fg *fg = ft ? call_group(call, ft, &st) : NULL;

	if (!fg)
		return st;
	CX_SET(query_flow_group_out, call->out, start_flow_index, fg->start);
	CX_SET(query_flow_group_out, call->out, end_flow_index, fg->end);
	CX_SET(query_flow_group_out, call->out, match_criteria_enable, fg->enable);
	cx_match_unpack(&fg->mask,
			CX_AT(query_flow_group_out, call->out, match_criteria));
	return CX_ST_OK;
}

static enum cx_status destroy_flow_group(struct cx_call *call)
{
	enum cx_status st = cx_call_plain(call);
	const struct cx_ft *ft = st == CX_ST_OK ? cx_call_ft(call, &st) : NULL;
	struct cx_fg *fg = ft ? call_group(call, ft, &st) : NULL;

	if (!fg)
		return st;
	st = cx_call_unused(call, &fg->obj, "group_id");
	if (st == CX_ST_OK)
		cx_fg_free(call->dev, fg);
	return st;
}

/* Opcodes: kernel include/linux/mlx5/mlx5_ifc.h, MLX5_CMD_OP_* */
const struct cx_cmd cx_cmds_flow[] = {
	{ 0x92f, "SET_FLOW_TABLE_ROOT", &cx_layout_set_flow_table_root_in, NULL,
	  set_flow_table_root },
	{ 0x930, "CREATE_FLOW_TABLE", &cx_layout_create_flow_table_in,
	  &cx_layout_create_flow_table_out, create_flow_table },
	{ 0x931, "DESTROY_FLOW_TABLE", &cx_layout_destroy_flow_table_in, NULL,
	  destroy_flow_table },
	{ 0x932, "QUERY_FLOW_TABLE", &cx_layout_query_flow_table_in,
	  &cx_layout_query_flow_table_out, query_flow_table },
	{ 0x933, "CREATE_FLOW_GROUP", &cx_layout_create_flow_group_in,
	  &cx_layout_create_flow_group_out, create_flow_group },
	{ 0x934, "DESTROY_FLOW_GROUP", &cx_layout_destroy_flow_group_in, NULL,
	  destroy_flow_group },
	{ 0x935, "QUERY_FLOW_GROUP", &cx_layout_query_flow_group_in,
	  &cx_layout_query_flow_group_out, query_flow_group },
	{ 0x936, "SET_FLOW_TABLE_ENTRY", &cx_layout_set_fte_in, NULL, cx_set_fte },
	{ 0x937, "QUERY_FLOW_TABLE_ENTRY", &cx_layout_query_fte_in,
	  &cx_layout_query_fte_out, cx_query_fte },
	{ 0x938, "DELETE_FLOW_TABLE_ENTRY", &cx_layout_delete_fte_in, NULL,
	  cx_delete_fte },
	{ 0x93c, "MODIFY_FLOW_TABLE", &cx_layout_modify_flow_table_in, NULL,
	  modify_flow_table },
	{ 0, NULL, NULL, NULL, NULL },
};
