/* core/cmd_fte.c - commands on flow table entries
 *
 * An entry is named by its table and index. Its list holds destinations first,
 * then counters, 8 bytes each (kernel fs_cmd.c, mlx5_cmd_set_fte).
 *
 * SET_FLOW_TABLE_ENTRY creates with op_mod 0 and changes an entry that is there with
 * op_mod 1; the kernel's DevX path takes 0 for "create", too (devx.c). That the card
 * refuses 0 on an index in use, and a second entry with the same value in one group, is
 * assumed; the kernel never sends either.
 */
#include "call.h"
#include "steer.h"

#define ENTRY_BYTES CX_BYTES(dest_format_struct)

enum { SET_MODIFY = 1 }; /* op_mod; 0 creates */

/* modify_enable_mask; kernel include/linux/mlx5/mlx5_ifc.h, MLX5_SET_FTE_MODIFY_ENABLE_MASK_* */
enum {
	MODIFY_ACTION = 1 << 0,
	MODIFY_TAG = 1 << 1,
	MODIFY_DESTS = 1 << 2,
	MODIFY_COUNTERS = 1 << 3,
	MODIFY_ALL = 0xf,
};

/* ---- the flow context ---- */

static const uint8_t *context(const struct cx_call *call)
{
	return CX_AT(set_fte_in, call->in, flow_context);
}

static const uint8_t *list_entry(const struct cx_call *call, unsigned i)
{
	return call->in + CX_BYTES(set_fte_in) + i * ENTRY_BYTES;
}

static enum cx_status check_unsupported(struct cx_call *call)
{
	static const struct cx_forbidden rows[] = {
		CX_FORBIDDEN(flow_context, push_vlan, "this device does not push tags"),
		CX_FORBIDDEN(flow_context, extended_destination,
			     "no extended destinations"),
		CX_FORBIDDEN(flow_context, flow_source, "no e-switch"),
		CX_FORBIDDEN(flow_context, encrypt_decrypt_type, "no cryptography"),
		CX_FORBIDDEN(flow_context, packet_reformat_id,
			     "this device does not reformat"),
		CX_FORBIDDEN(flow_context, modify_header_id,
			     "this device does not modify headers"),
		CX_FORBIDDEN(flow_context, push_vlan_2, "this device does not push tags"),
		CX_FORBIDDEN(flow_context, encrypt_decrypt_obj_id, "no cryptography"),
		{ 0, NULL, NULL },
	};
	static const struct cx_forbidden level[] = {
		CX_FORBIDDEN(set_fte_in, ignore_flow_level, "levels are never ignored"),
		{ 0, NULL, NULL },
	};
	enum cx_status st = cx_call_forbid(call, call->in, level);

	if (st == CX_ST_OK)
		st = cx_call_forbid(call, context(call), rows);
	if (st != CX_ST_OK)
		return st;
	return cx_call_empty(call, CX_AT(flow_context, context(call), execute_aso), 32,
			     "flow_context.execute_aso");
}

static enum cx_status check_action(struct cx_call *call, uint16_t action)
{
	/* MLX5_FLOW_CONTEXT_ACTION_*, by bit */
	static const char *const name[16] = {
		"ALLOW",	   "DROP",	     "FWD_DEST",    "COUNT",
		"PACKET_REFORMAT", "DECAP",	     "MOD_HDR",	    "VLAN_POP",
		"VLAN_PUSH",	   "bit 9",	     "VLAN_POP_2",  "VLAN_PUSH_2",
		"CRYPTO_DECRYPT",  "CRYPTO_ENCRYPT", "EXECUTE_ASO", "bit 15",
	};
	uint16_t end = action & (CX_ACTION_ALLOW | CX_ACTION_DROP | CX_ACTION_FORWARD);
	uint16_t unknown = (uint16_t)(action & ~(end | CX_ACTION_COUNT));

	if (unknown)
		return cx_refuse(call, CX_ST_BAD_PARAM, "flow_context.action",
				 "0x%x: this device has no %s", action,
				 name[__builtin_ctz(unknown)]);
	if (__builtin_popcount(end) != 1)
		return cx_refuse(call, CX_ST_BAD_PARAM, "flow_context.action",
				 "0x%x is not exactly one of ALLOW, DROP and FWD_DEST",
				 action);
	return CX_ST_OK;
}

/* ---- destinations ---- */

enum { DEST_TABLE = 1, DEST_TIR = 2 }; /* kernel enum mlx5_ifc_flow_destination_type */

static enum cx_status parse_table(struct cx_call *call, const struct cx_ft *from,
				  uint32_t id, struct cx_fte_dest *dest)
{
	enum cx_status st = CX_ST_OK;
	const char *path = "dest_format_struct.destination_id";

	dest->ft = (struct cx_ft *)cx_call_obj(call, CX_FT, id, path, &st);
	if (!dest->ft)
		return st;
	if (dest->ft->type != from->type)
		return cx_refuse(call, CX_ST_BAD_PARAM, path, "table 0x%x is of type %u",
				 id, dest->ft->type);
	if (dest->ft->level <= from->level)
		return cx_refuse(call, CX_ST_BAD_PARAM, path,
				 "table 0x%x is at level %u, not after %u", id,
				 dest->ft->level, from->level);
	return CX_ST_OK;
}

static enum cx_status parse_tir(struct cx_call *call, const struct cx_ft *from,
				uint32_t id, struct cx_fte_dest *dest)
{
	enum cx_status st = CX_ST_OK;

	if (from->type != CX_FT_NIC_RX)
		return cx_refuse(call, CX_ST_BAD_PARAM,
				 "dest_format_struct.destination_type",
				 "TIR (2) in a transmit table");
	dest->tir = (struct cx_tir *)cx_call_obj(
		call, CX_TIR, id, "dest_format_struct.destination_id", &st);
	return st;
}

static enum cx_status parse_dest(struct cx_call *call, const struct cx_ft *from,
				 const uint8_t *p, struct cx_fte_dest *dest)
{
	static const struct cx_forbidden rows[] = {
		CX_FORBIDDEN(dest_format_struct, destination_eswitch_owner_vhca_id_valid,
			     "no e-switch"),
		CX_FORBIDDEN(dest_format_struct, packet_reformat,
			     "this device does not reformat"),
		CX_FORBIDDEN(dest_format_struct, destination_eswitch_owner_vhca_id,
			     "no e-switch"),
		{ 0, NULL, NULL },
	};
	uint32_t type = (uint32_t)CX_GET(dest_format_struct, p, destination_type);
	uint32_t id = (uint32_t)CX_GET(dest_format_struct, p, destination_id);
	enum cx_status st = cx_call_forbid(call, p, rows);

	*dest = (struct cx_fte_dest){ .tir = NULL };
	if (st != CX_ST_OK)
		return st;
	if (type == DEST_TABLE)
		return parse_table(call, from, id, dest);
	if (type == DEST_TIR)
		return parse_tir(call, from, id, dest);
	return cx_refuse(call, CX_ST_BAD_PARAM, "dest_format_struct.destination_type",
			 "%u is neither FLOW_TABLE (1) nor TIR (2)", type);
}

/* Several destinations need the capability for them: TIRs alone, or TIRs and tables. That
 * sent frames are not copied is assumed: the capabilities speak of receiving. */
static bool may_copy(const struct cx_call *call, const struct cx_ft *ft, bool to_tables)
{
	const uint8_t *cap = call->dev->cap[CX_FLOW_TABLE_GROUP];

	if (ft->type != CX_FT_NIC_RX)
		return false;
	return to_tables ? CX_GET(flow_table_nic_cap, cap, nic_rx_multi_path_tirs_fts)
			 : CX_GET(flow_table_nic_cap, cap, nic_rx_multi_path_tirs);
}

static enum cx_status check_multipath(struct cx_call *call, const struct cx_ft *ft,
				      const struct cx_fte_act *act)
{
	bool tables = false;

	for (unsigned i = 0; i < act->n_dests; i++)
		tables |= act->dest[i].ft != NULL;
	if (act->n_dests < 2 || may_copy(call, ft, tables))
		return CX_ST_OK;
	return cx_refuse(call, CX_ST_BAD_PARAM, "flow_context.destination_list_size",
			 "%u destinations%s: this device has no such multi-path",
			 act->n_dests, tables ? ", tables among them" : "");
}

static enum cx_status check_n_dests(struct cx_call *call, const struct cx_ft *ft,
				    uint32_t n, uint16_t action)
{
	uint32_t log_max = (uint32_t)CX_GET(flow_table_prop_layout,
					    cx_flow_props(call->dev, ft->type),
					    log_max_destination);

	if ((n > 0) != !!(action & CX_ACTION_FORWARD))
		return cx_refuse(call, CX_ST_BAD_PARAM,
				 "flow_context.destination_list_size",
				 "%u with action 0x%x", n, action);
	if (n > cx_pow2(log_max) || n > CX_DEST_MAX)
		return cx_refuse(call, CX_ST_LIMIT, "flow_context.destination_list_size",
				 "%u is over the limit of 2^%u, and of %d here", n,
				 log_max, CX_DEST_MAX);
	return CX_ST_OK;
}

static enum cx_status parse_dests(struct cx_call *call, const struct cx_ft *ft,
				  struct cx_fte_act *act)
{
	uint32_t n = (uint32_t)CX_GET(flow_context, context(call), destination_list_size);
	enum cx_status st = check_n_dests(call, ft, n, act->action);

	for (act->n_dests = 0; st == CX_ST_OK && act->n_dests < n; act->n_dests++)
		st = parse_dest(call, ft, list_entry(call, act->n_dests),
				&act->dest[act->n_dests]);
	return st == CX_ST_OK ? check_multipath(call, ft, act) : st;
}

/* ---- counters ---- */

static enum cx_status parse_counter(struct cx_call *call, const uint8_t *p,
				    struct cx_fte_counter *c)
{
	uint32_t id = (uint32_t)CX_GET(flow_counter_list, p, flow_counter_id);
	enum cx_status st = CX_ST_OK;

	/* The mailbox check sees destinations here, and lets their bits pass. */
	if (cx_be32(p + 4))
		return cx_refuse(call, CX_ST_BAD_PARAM,
				 "flow_counter_list.reserved_at_20",
				 "a reserved bit is set");
	c->counter = (struct cx_fcounter *)cx_call_obj(
		call, CX_FCOUNTER, id, "flow_counter_list.flow_counter_id", &st);
	if (c->counter)
		c->slot = id - c->counter->obj.num;
	return st;
}

static enum cx_status check_n_counters(struct cx_call *call, const struct cx_ft *ft,
				       uint32_t n, uint16_t action)
{
	const uint8_t *props = cx_flow_props(call->dev, ft->type);
	uint32_t log_max =
		(uint32_t)CX_GET(flow_table_prop_layout, props, log_max_flow_counter);

	if ((n > 0) != !!(action & CX_ACTION_COUNT))
		return cx_refuse(call, CX_ST_BAD_PARAM,
				 "flow_context.flow_counter_list_size",
				 "%u with action 0x%x", n, action);
	if (n && !CX_GET(flow_table_prop_layout, props, flow_counter))
		return cx_refuse(call, CX_ST_BAD_PARAM,
				 "flow_context.flow_counter_list_size",
				 "this device does not count in tables of type %u",
				 ft->type);
	if (n > cx_pow2(log_max) || n > CX_FTE_COUNTERS)
		return cx_refuse(call, CX_ST_LIMIT, "flow_context.flow_counter_list_size",
				 "%u is over the limit of 2^%u, and of %d here", n,
				 log_max, CX_FTE_COUNTERS);
	return CX_ST_OK;
}

static enum cx_status parse_counters(struct cx_call *call, const struct cx_ft *ft,
				     struct cx_fte_act *act)
{
	uint32_t first =
		(uint32_t)CX_GET(flow_context, context(call), destination_list_size);
	uint32_t n =
		(uint32_t)CX_GET(flow_context, context(call), flow_counter_list_size);
	enum cx_status st = check_n_counters(call, ft, n, act->action);

	for (act->n_counters = 0; st == CX_ST_OK && act->n_counters < n;
	     act->n_counters++)
		st = parse_counter(call, list_entry(call, first + act->n_counters),
				   &act->counter[act->n_counters]);
	return st;
}

/* ---- a whole action ---- */

/* The kernel's mailbox may be longer by unused entries; they must be zero. */
static enum cx_status check_list_length(struct cx_call *call)
{
	uint64_t n = CX_GET(flow_context, context(call), destination_list_size) +
		     CX_GET(flow_context, context(call), flow_counter_list_size);
	uint64_t need = CX_BYTES(set_fte_in) + n * ENTRY_BYTES;

	if (call->in_len < need)
		return cx_refuse(call, CX_ST_BAD_IN_LEN, "in_len",
				 "%zu bytes, %llu needed for %llu list entries",
				 call->in_len, (unsigned long long)need,
				 (unsigned long long)n);
	for (size_t i = (size_t)need; i < call->in_len; i++)
		if (call->in[i])
			return cx_refuse(
				call, CX_ST_BAD_IN_LEN, "in_len",
				"%zu bytes, not zero after the %llu list entries",
				call->in_len, (unsigned long long)n);
	return CX_ST_OK;
}

static enum cx_status check_tag(struct cx_call *call, const struct cx_ft *ft,
				uint32_t tag)
{
	const uint8_t *props = cx_flow_props(call->dev, ft->type);

	if (tag && !CX_GET(flow_table_prop_layout, props, flow_tag))
		return cx_refuse(call, CX_ST_BAD_PARAM, "flow_context.flow_tag",
				 "this device does not tag in tables of type %u",
				 ft->type);
	return CX_ST_OK;
}

static enum cx_status parse_act(struct cx_call *call, const struct cx_ft *ft,
				struct cx_fte_act *act)
{
	enum cx_status st = check_unsupported(call);

	act->action = (uint16_t)CX_GET(flow_context, context(call), action);
	act->tag = (uint32_t)CX_GET(flow_context, context(call), flow_tag);
	if (st == CX_ST_OK)
		st = check_list_length(call);
	if (st == CX_ST_OK)
		st = check_action(call, act->action);
	if (st == CX_ST_OK)
		st = check_tag(call, ft, act->tag);
	if (st == CX_ST_OK)
		st = parse_dests(call, ft, act);
	return st == CX_ST_OK ? parse_counters(call, ft, act) : st;
}

/* ---- set ---- */

static uint32_t index_of(const struct cx_call *call)
{
	return (uint32_t)CX_GET(set_fte_in, call->in, flow_index);
}

/* The group a mailbox names; it must hold the index. */
static struct cx_fg *set_group(struct cx_call *call, const struct cx_ft *ft,
			       enum cx_status *st)
{
	uint32_t index = index_of(call);
	struct cx_fg *fg = (struct cx_fg *)cx_call_obj(
		call, CX_FG, (uint32_t)CX_GET(flow_context, context(call), group_id),
		"flow_context.group_id", st);

	if (!fg)
		return NULL;
	if (fg->ft != ft) {
		*st = cx_refuse(call, CX_ST_BAD_RES, "flow_context.group_id",
				"group 0x%x is of table 0x%x", fg->obj.num,
				fg->ft->obj.num);
		return NULL;
	}
	if (index < fg->start || index > fg->end) {
		*st = cx_refuse(call, CX_ST_BAD_INDEX, "flow_index",
				"%u is not in group 0x%x, %u to %u", index, fg->obj.num,
				fg->start, fg->end);
		return NULL;
	}
	return fg;
}

static enum cx_status check_limit(struct cx_call *call, const struct cx_ft *ft)
{
	uint32_t log_max = (uint32_t)CX_GET(
		flow_table_prop_layout, cx_flow_props(call->dev, ft->type), log_max_flow);

	if (cx_obj_count(call->dev, CX_FTE) >= cx_pow2(log_max))
		return cx_refuse(call, CX_ST_LIMIT, "flow_index",
				 "there are 2^%u entries", log_max);
	return CX_ST_OK;
}

static enum cx_status check_new(struct cx_call *call, const struct cx_fg *fg,
				const struct cx_match *value)
{
	const struct cx_fte *same = cx_fg_find(fg, value);

	if (cx_fg_at_index(fg, index_of(call)))
		return cx_refuse(call, CX_ST_BAD_RES_STATE, "flow_index", "%u is in use",
				 index_of(call));
	if (same)
		return cx_refuse(call, CX_ST_BAD_PARAM, "flow_context.match_value",
				 "entry %u of the group has the same", same->index);
	return check_limit(call, fg->ft);
}

static enum cx_status create_fte(struct cx_call *call, struct cx_fg *fg,
				 const struct cx_match *value,
				 const struct cx_fte_act *act)
{
	enum cx_status st = check_new(call, fg, value);

	if (st != CX_ST_OK)
		return st;
	if (CX_GET(set_fte_in, call->in, modify_enable_mask))
		return cx_refuse(call, CX_ST_BAD_PARAM, "set_fte_in.modify_enable_mask",
				 "not zero for a new entry");
	if (!cx_fte_new(call->dev, call->uid, fg, index_of(call), value, act))
		return cx_refuse(call, CX_ST_NO_RES, "flow_index", "no memory");
	return CX_ST_OK;
}

static void take_dests(struct cx_fte_act *to, const struct cx_fte_act *from)
{
	to->n_dests = from->n_dests;
	memcpy(to->dest, from->dest, sizeof(to->dest));
}

static void take_counters(struct cx_fte_act *to, const struct cx_fte_act *from)
{
	to->n_counters = from->n_counters;
	memcpy(to->counter, from->counter, sizeof(to->counter));
}

/* What the mask names comes from the mailbox, the rest stays. */
static struct cx_fte_act merge(const struct cx_fte_act *old,
			       const struct cx_fte_act *new_act, uint32_t mask)
{
	struct cx_fte_act act = *old;

	if (mask & MODIFY_ACTION)
		act.action = new_act->action;
	if (mask & MODIFY_TAG)
		act.tag = new_act->tag;
	if (mask & MODIFY_DESTS)
		take_dests(&act, new_act);
	if (mask & MODIFY_COUNTERS)
		take_counters(&act, new_act);
	return act;
}

static enum cx_status check_merged(struct cx_call *call, const struct cx_fte_act *act)
{
	if ((act->n_dests > 0) != !!(act->action & CX_ACTION_FORWARD) ||
	    (act->n_counters > 0) != !!(act->action & CX_ACTION_COUNT))
		return cx_refuse(
			call, CX_ST_BAD_PARAM, "set_fte_in.modify_enable_mask",
			"leaves action 0x%x with %u destinations and %u counters",
			act->action, act->n_dests, act->n_counters);
	return CX_ST_OK;
}

static enum cx_status check_modify(struct cx_call *call, const struct cx_fg *fg,
				   const struct cx_fte *fte, const struct cx_match *value)
{
	uint32_t mask = (uint32_t)CX_GET(set_fte_in, call->in, modify_enable_mask);

	if (!CX_GET(flow_table_prop_layout, cx_flow_props(call->dev, fg->ft->type),
		    flow_modify_en))
		return cx_refuse(call, CX_ST_BAD_PARAM, "op_mod",
				 "this device does not modify entries");
	if (!fte)
		return cx_refuse(call, CX_ST_BAD_RES_STATE, "flow_index",
				 "there is no entry %u", index_of(call));
	if (!mask || mask & ~(uint32_t)MODIFY_ALL)
		return cx_refuse(call, CX_ST_BAD_PARAM, "set_fte_in.modify_enable_mask",
				 "0x%x is not among 0x%x", mask, MODIFY_ALL);
	if (memcmp(value, &fte->value, sizeof(*value)) != 0)
		return cx_refuse(call, CX_ST_BAD_PARAM, "flow_context.match_value",
				 "is not that of the entry; a value cannot be modified");
	return CX_ST_OK;
}

static enum cx_status modify_fte(struct cx_call *call, const struct cx_fg *fg,
				 const struct cx_match *value,
				 const struct cx_fte_act *act)
{
	struct cx_fte *fte = cx_fg_at_index(fg, index_of(call));
	enum cx_status st = check_modify(call, fg, fte, value);
	struct cx_fte_act merged;

	if (st != CX_ST_OK)
		return st;
	merged = merge(&fte->act, act,
		       (uint32_t)CX_GET(set_fte_in, call->in, modify_enable_mask));
	st = check_merged(call, &merged);
	if (st == CX_ST_OK)
		cx_fte_set_act(fte, &merged);
	return st;
}

enum cx_status cx_set_fte(struct cx_call *call)
{
	const uint8_t *param = CX_AT(flow_context, context(call), match_value);
	struct cx_fte_act act = { .action = 0 };
	struct cx_match value;
	enum cx_status st;
	struct cx_ft *ft;
	struct cx_fg *fg;

	if (call->op_mod > SET_MODIFY)
		return cx_refuse(call, CX_ST_BAD_PARAM, "op_mod", "%u is over 1",
				 call->op_mod);
	ft = cx_call_ft(call, &st);
	fg = ft ? set_group(call, ft, &st) : NULL;
	if (!fg)
		return st;
	st = cx_match_check_value(call, &fg->mask, param);
	if (st == CX_ST_OK)
		st = parse_act(call, ft, &act);
	if (st != CX_ST_OK)
		return st;
	cx_match_pack(&value, param);
	if (call->op_mod == SET_MODIFY)
		return modify_fte(call, fg, &value, &act);
	return create_fte(call, fg, &value, &act);
}

/* ---- query and delete ---- */

/* The entry at the index, in whichever group of the table that is. */
static struct cx_fte *call_fte(struct cx_call *call, const struct cx_ft *ft,
			       enum cx_status *st)
{
	uint32_t index = index_of(call);
	const struct cx_fg *fg = cx_ft_group_at(ft, index, index);
	struct cx_fte *fte = fg ? cx_fg_at_index(fg, index) : NULL;

	if (!fte)
		*st = cx_refuse(call, CX_ST_BAD_INDEX, "flow_index",
				"there is no entry %u in table 0x%x", index, ft->obj.num);
	return fte;
}

static struct cx_fte *named_fte(struct cx_call *call, enum cx_status *st)
{
	const struct cx_ft *ft;

	*st = cx_call_plain(call);
	ft = *st == CX_ST_OK ? cx_call_ft(call, st) : NULL;
	return ft ? call_fte(call, ft, st) : NULL;
}

static void put_context(uint8_t *ctx, const struct cx_fte *fte)
{
	CX_SET(flow_context, ctx, group_id, fte->fg->obj.num);
	CX_SET(flow_context, ctx, flow_tag, fte->act.tag);
	CX_SET(flow_context, ctx, action, fte->act.action);
	CX_SET(flow_context, ctx, destination_list_size, fte->act.n_dests);
	CX_SET(flow_context, ctx, flow_counter_list_size, fte->act.n_counters);
	cx_match_unpack(&fte->value, CX_AT(flow_context, ctx, match_value));
}

static void put_list(uint8_t *p, const struct cx_fte_act *act)
{
	for (unsigned i = 0; i < act->n_dests; i++, p += ENTRY_BYTES) {
		const struct cx_fte_dest *d = &act->dest[i];

		CX_SET(dest_format_struct, p, destination_type,
		       d->ft ? DEST_TABLE : DEST_TIR);
		CX_SET(dest_format_struct, p, destination_id,
		       d->ft ? d->ft->obj.num : d->tir->obj.num);
	}
	for (unsigned i = 0; i < act->n_counters; i++, p += ENTRY_BYTES)
		CX_SET(flow_counter_list, p, flow_counter_id,
		       act->counter[i].counter->obj.num + act->counter[i].slot);
}

enum cx_status cx_query_fte(struct cx_call *call)
{
	enum cx_status st = CX_ST_OK;
	const struct cx_fte *fte = named_fte(call, &st);
	size_t need;

	if (!fte)
		return st;
	need = CX_BYTES(query_fte_out) +
	       (fte->act.n_dests + fte->act.n_counters) * ENTRY_BYTES;
	if (call->out_len < need)
		return cx_refuse(call, CX_ST_BAD_OUT_LEN, "out_len",
				 "%zu bytes, %zu needed", call->out_len, need);
	put_context(CX_AT(query_fte_out, call->out, flow_context), fte);
	put_list(call->out + CX_BYTES(query_fte_out), &fte->act);
	return CX_ST_OK;
}

enum cx_status cx_delete_fte(struct cx_call *call)
{
	enum cx_status st = CX_ST_OK;
	struct cx_fte *fte = named_fte(call, &st);

	if (fte)
		cx_fte_free(call->dev, fte);
	return st;
}
