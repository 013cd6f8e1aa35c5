/* uverbs/m_flow.c - flow rules as DevX programs make them: matchers and rules
 *
 * A matcher is a mask and a priority; each rule gives a value for it and says where
 * frames go. Source: Linux 6.1 hw/mlx5/fs.c (MLX5_IB_METHOD_FLOW_MATCHER_CREATE,
 * MLX5_IB_METHOD_CREATE_FLOW, get_dests(), raw_fs_rule_add()).
 */
#include "uverbs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../core/layout.h"
#include "opcode.h"

#define MATCH_BYTES    512 /* fte_match_param */
#define CRITERIA_OUTER 1
#define FLAG_EGRESS    (1u << 2) /* enum ib_flow_flags */
#define TAG_BITS       24

/* ---- matchers ---- */

/* What a longer struct has past the end of match parameters means nothing here. */
static int copy_match(struct uv_call *call, uint16_t id, const char *field,
		      uint8_t to[MATCH_BYTES])
{
	const struct uv_attr *a = uv_attr(call, id);

	if (a->u.len > MATCH_BYTES &&
	    !uv_is_zero(a->bytes + MATCH_BYTES, a->u.len - MATCH_BYTES))
		return uv_refuse(call, EINVAL, field, "bytes after the first %d are set",
				 MATCH_BYTES);
	memset(to, 0, MATCH_BYTES);
	memcpy(to, a->bytes, UV_MIN(a->u.len, MATCH_BYTES));
	return 0;
}

/* mlx5_ib_matcher_ns() */
static int table_type(struct uv_call *call, uint64_t *type)
{
	bool by_type = uv_attr(call, MLX5_IB_ATTR_FLOW_MATCHER_FT_TYPE);
	bool by_flags = uv_attr(call, MLX5_IB_ATTR_FLOW_MATCHER_FLOW_FLAGS);
	uint32_t flags = 0;
	int rc = 0;

	*type = MLX5_IB_UAPI_FLOW_TABLE_TYPE_NIC_RX;
	if (by_type && by_flags)
		return uv_refuse(call, EINVAL, "ft_type", "and flow_flags");
	if (by_type)
		return uv_const(call, MLX5_IB_ATTR_FLOW_MATCHER_FT_TYPE,
				MLX5_IB_UAPI_FLOW_TABLE_TYPE_RDMA_TX, type);
	if (by_flags)
		rc = uv_flags(call, MLX5_IB_ATTR_FLOW_MATCHER_FLOW_FLAGS, FLAG_EGRESS,
			      &flags);
	if (flags)
		*type = MLX5_IB_UAPI_FLOW_TABLE_TYPE_NIC_TX;
	return rc;
}

static int matcher_create(struct uv_call *call)
{
	struct uv_obj *m = uv_in_obj(call, MLX5_IB_ATTR_FLOW_MATCHER_CREATE_HANDLE);
	const struct uv_attr *type = uv_attr(call, MLX5_IB_ATTR_FLOW_MATCHER_FLOW_TYPE);
	uint64_t ft_type;
	int rc = copy_match(call, MLX5_IB_ATTR_FLOW_MATCHER_MATCH_MASK, "mask",
			    m->matcher.mask);

	if (rc)
		return rc;
	m->matcher.flow_type = type->u.attr_data.enum_data.elem_id;
	if (m->matcher.flow_type == MLX5_IB_FLOW_TYPE_NORMAL)
		memcpy(&m->matcher.priority, type->bytes, sizeof(m->matcher.priority));
	uv_in(call, MLX5_IB_ATTR_FLOW_MATCHER_MATCH_CRITERIA, &m->matcher.criteria, 1);
	rc = table_type(call, &ft_type);
	if (rc)
		return rc;
	if (ft_type == MLX5_IB_UAPI_FLOW_TABLE_TYPE_FDB)
		return uv_refuse(call, EINVAL, "ft_type", "FDB without an e-switch");
	m->matcher.ft_type = (uint8_t)ft_type;
	return 0;
}

/* ---- rules: where to ---- */

/* is_flow_dest() */
static int devx_dest(struct uv_call *call, const struct uv_obj *obj,
		     struct uv_flow_spec *spec)
{
	switch ((uint16_t)(obj->devx.id >> 32)) {
	case CX_OP_CREATE_TIR:
		spec->dest[0].type = UV_DEST_TIR;
		break;
	case CX_OP_CREATE_FLOW_TABLE:
		spec->dest[0].type = UV_DEST_TABLE;
		break;
	default:
		return uv_refuse(call, EINVAL, "dest_devx",
				 "object 0x%llx is no destination",
				 (unsigned long long)obj->devx.id);
	}
	spec->dest[0].id = (uint32_t)obj->devx.id;
	spec->n_dests = 1;
	return 0;
}

static int qp_dest(struct uv_call *call, struct uv_obj *qp, struct uv_flow_spec *spec)
{
	if (!qp->qp.rq_entries && !qp->qp.rss)
		return uv_refuse(call, EINVAL, "dest_qp", "%u has no receive queue",
				 qp->handle);
	uv_obj_use(call->fresh, qp);
	spec->dest[0].type = UV_DEST_TIR;
	spec->dest[0].id = qp->qp.tirn;
	spec->n_dests = 1;
	return 0;
}

static int check_dests(struct uv_call *call, bool devx, bool qp, uint32_t flags)
{
	if (flags == (MLX5_IB_ATTR_CREATE_FLOW_FLAGS_DEFAULT_MISS |
		      MLX5_IB_ATTR_CREATE_FLOW_FLAGS_DROP))
		return uv_refuse(call, EINVAL, "flags", "default miss and drop");
	if (devx + qp + !!flags > 1)
		return uv_refuse(call, EINVAL, "dest", "more than one%s%s%s",
				 devx ? " DevX" : "", qp ? " QP" : "",
				 flags ? " flag" : "");
	return 0;
}

static int take_dests(struct uv_call *call, struct uv_flow_spec *spec)
{
	struct uv_obj *devx = uv_in_obj(call, MLX5_IB_ATTR_CREATE_FLOW_DEST_DEVX);
	struct uv_obj *qp = uv_in_obj(call, MLX5_IB_ATTR_CREATE_FLOW_DEST_QP);
	uint32_t flags;
	int rc = uv_flags(call, MLX5_IB_ATTR_CREATE_FLOW_FLAGS,
			  MLX5_IB_ATTR_CREATE_FLOW_FLAGS_DEFAULT_MISS |
				  MLX5_IB_ATTR_CREATE_FLOW_FLAGS_DROP,
			  &flags);

	if (!rc)
		rc = check_dests(call, devx, qp, flags);
	if (!rc && devx)
		rc = devx_dest(call, devx, spec);
	if (!rc && qp)
		rc = qp_dest(call, qp, spec);
	if (spec->n_dests)
		spec->action |= UV_ACT_FWD;
	if (flags & MLX5_IB_ATTR_CREATE_FLOW_FLAGS_DROP)
		spec->action |= UV_ACT_DROP;
	if (flags & MLX5_IB_ATTR_CREATE_FLOW_FLAGS_DEFAULT_MISS)
		spec->action |= UV_ACT_NEXT_NS;
	return rc;
}

/* ---- rules: the rest ---- */

static int counter_offset(struct uv_call *call, uint32_t *offset)
{
	const struct uv_attr *a =
		uv_attr(call, MLX5_IB_ATTR_CREATE_FLOW_ARR_COUNTERS_DEVX_OFFSET);

	*offset = 0;
	if (!a)
		return 0;
	if (a->u.len != sizeof(*offset))
		return uv_refuse(call, EINVAL, "counter offsets", "%u bytes", a->u.len);
	memcpy(offset, a->bytes, sizeof(*offset));
	return 0;
}

/* is_flow_counter() */
static int take_counter(struct uv_call *call, struct uv_flow_spec *spec)
{
	const struct uv_attr *a =
		uv_attr(call, MLX5_IB_ATTR_CREATE_FLOW_ARR_COUNTERS_DEVX);
	const struct uv_obj *c = a ? a->objs[0] : NULL;
	uint32_t offset;
	int rc;

	if (!c)
		return 0;
	rc = counter_offset(call, &offset);
	if (rc)
		return rc;
	if ((uint16_t)(c->devx.id >> 32) != CX_OP_ALLOC_FLOW_COUNTER ||
	    (offset && offset >= c->devx.counter_bulk))
		return uv_refuse(call, EINVAL, "counter",
				 "object 0x%llx, offset %u of %u",
				 (unsigned long long)c->devx.id, offset,
				 c->devx.counter_bulk);
	spec->dest[spec->n_dests].type = UV_DEST_COUNTER;
	spec->dest[spec->n_dests++].id = (uint32_t)c->devx.id + offset;
	spec->action |= UV_ACT_COUNT;
	return 0;
}

static int take_tag(struct uv_call *call, struct uv_flow_spec *spec)
{
	if (!uv_attr(call, MLX5_IB_ATTR_CREATE_FLOW_TAG))
		return 0;
	spec->tag = uv_in32(call, MLX5_IB_ATTR_CREATE_FLOW_TAG);
	spec->has_tag = true;
	if (spec->tag >> TAG_BITS)
		return uv_refuse(call, EINVAL, "tag", "0x%x", spec->tag);
	return 0;
}

/* raw_fs_is_multicast(): such rules have a table of their own, after all priorities. */
static bool is_multicast(const struct uv_flow_spec *spec)
{
	const uint8_t *v = CX_AT(fte_match_param, spec->value, outer_headers);
	const uint8_t *m = CX_AT(fte_match_param, spec->mask, outer_headers);
	const uint8_t *mac_v = CX_AT(fte_match_set_lyr_2_4, v, dmac_47_16);
	const uint8_t *mac_m = CX_AT(fte_match_set_lyr_2_4, m, dmac_47_16);
	const uint8_t *ip_v = CX_AT(fte_match_set_lyr_2_4, v, dst_ipv4_dst_ipv6) + 12;
	const uint8_t *ip_m = CX_AT(fte_match_set_lyr_2_4, m, dst_ipv4_dst_ipv6) + 12;

	if (!(spec->criteria & CRITERIA_OUTER))
		return false;
	return (mac_v[0] & 1 && mac_m[0] & 1) ||
	       (ip_v[0] >> 4 == 0xe && ip_m[0] >> 4 == 0xe);
}

static int check_matcher(struct uv_call *call, const struct uv_obj *m)
{
	if (m->matcher.flow_type != MLX5_IB_FLOW_TYPE_NORMAL)
		return uv_refuse(call, EOPNOTSUPP, "matcher", "flow type %u",
				 m->matcher.flow_type);
	if (m->matcher.priority > UV_LAST_USER_PRIO)
		return uv_refuse(call, ENOMEM, "matcher", "priority %u",
				 m->matcher.priority);
	if (m->matcher.ft_type != MLX5_IB_UAPI_FLOW_TABLE_TYPE_NIC_RX)
		return uv_refuse(call, EOPNOTSUPP, "matcher",
				 "table type %u: only receive tables are modelled",
				 m->matcher.ft_type);
	return 0;
}

/* The value is as long as the program made it; the rest is zero, as its mask must be. */
static int fill_spec(struct uv_call *call, const struct uv_obj *m,
		     struct uv_flow_spec *spec)
{
	int rc = take_dests(call, spec);

	if (!rc)
		rc = take_counter(call, spec);
	if (!rc)
		rc = take_tag(call, spec);
	if (!rc)
		rc = check_matcher(call, m);
	if (!rc)
		rc = copy_match(call, MLX5_IB_ATTR_CREATE_FLOW_MATCH_VALUE, "value",
				spec->value);
	memcpy(spec->mask, m->matcher.mask, sizeof(spec->mask));
	spec->criteria = m->matcher.criteria;
	return rc;
}

static int add_rule(struct uv_call *call, struct uv_obj *m,
		    const struct uv_flow_spec *spec)
{
	unsigned prio = is_multicast(spec) ? UV_PRIO_MCAST : m->matcher.priority * 2u + 1;
	struct uv_rule *rule;
	const char *why;
	int rc = uv_rule_add(call->port, prio, spec, &why, &rule);

	if (rc)
		return uv_refuse(call, -rc, "rule", "priority %u: %s",
				 m->matcher.priority, why);
	uv_obj_use(call->fresh, m);
	uv_undo_push(call->fresh, UV_UNDO_RULE, 0, 0, rule);
	return 0;
}

static int create_flow(struct uv_call *call)
{
	struct uv_obj *m = uv_in_obj(call, MLX5_IB_ATTR_CREATE_FLOW_MATCHER);
	struct uv_flow_spec *spec;
	int rc;

	if (!uv_capable(call, UV_CAP_NET_RAW))
		return uv_refuse(call, EPERM, "caller", "without CAP_NET_RAW");
	spec = calloc(1, sizeof(*spec));
	if (!spec)
		return -ENOMEM;
	rc = fill_spec(call, m, spec);
	if (!rc)
		rc = add_rule(call, m, spec);
	free(spec);
	return rc;
}

/* ---- actions ---- */

static int no_actions(struct uv_call *call)
{
	return uv_refuse(call, EOPNOTSUPP, "device",
			 "neither rewrites headers nor reformats packets");
}

/* ---- tables ---- */

static const struct uv_spec flow_types[] = {
	[MLX5_IB_FLOW_TYPE_NORMAL] = { .id = MLX5_IB_ATTR_FLOW_MATCHER_FLOW_TYPE,
				       .kind = UV_IN,
				       .min = 2,
				       .max = 2 },
	[MLX5_IB_FLOW_TYPE_SNIFFER] = { .id = MLX5_IB_ATTR_FLOW_MATCHER_FLOW_TYPE,
					.kind = UV_IN },
	[MLX5_IB_FLOW_TYPE_ALL_DEFAULT] = { .id = MLX5_IB_ATTR_FLOW_MATCHER_FLOW_TYPE,
					    .kind = UV_IN },
	[MLX5_IB_FLOW_TYPE_MC_DEFAULT] = { .id = MLX5_IB_ATTR_FLOW_MATCHER_FLOW_TYPE,
					   .kind = UV_IN },
};

const struct uv_method uv_methods_flow[] = {
	{ MLX5_IB_OBJECT_FLOW_MATCHER, MLX5_IB_METHOD_FLOW_MATCHER_CREATE, false,
	  "FLOW_MATCHER_CREATE",
	  UV_ATTRS(UV_OBJ(MLX5_IB_ATTR_FLOW_MATCHER_CREATE_HANDLE,
			  MLX5_IB_OBJECT_FLOW_MATCHER, UV_NEW, UV_MANDATORY),
		   UV_IN_RANGE(MLX5_IB_ATTR_FLOW_MATCHER_MATCH_MASK, 1,
			       sizeof(struct mlx5_ib_match_params), UV_MANDATORY),
		   { .id = MLX5_IB_ATTR_FLOW_MATCHER_FLOW_TYPE,
		     .kind = UV_ENUM,
		     .flags = UV_MANDATORY,
		     .variant = flow_types,
		     .n_variants = UV_COUNT(flow_types) },
		   UV_IN_TYPE(MLX5_IB_ATTR_FLOW_MATCHER_MATCH_CRITERIA, uint8_t,
			      UV_MANDATORY),
		   UV_FLAGS_IN(MLX5_IB_ATTR_FLOW_MATCHER_FLOW_FLAGS, UV_OPTIONAL),
		   UV_CONST_IN(MLX5_IB_ATTR_FLOW_MATCHER_FT_TYPE, UV_OPTIONAL)),
	  .run = matcher_create },
	{ MLX5_IB_OBJECT_FLOW_MATCHER, MLX5_IB_METHOD_FLOW_MATCHER_DESTROY, false,
	  "FLOW_MATCHER_DESTROY",
	  UV_ATTRS(UV_OBJ(MLX5_IB_ATTR_FLOW_MATCHER_DESTROY_HANDLE,
			  MLX5_IB_OBJECT_FLOW_MATCHER, UV_DESTROY, UV_MANDATORY)) },
	{ UVERBS_OBJECT_FLOW, MLX5_IB_METHOD_CREATE_FLOW, false, "MLX5_CREATE_FLOW",
	  UV_ATTRS(UV_OBJ(MLX5_IB_ATTR_CREATE_FLOW_HANDLE, UVERBS_OBJECT_FLOW, UV_NEW,
			  UV_MANDATORY),
		   UV_IN_RANGE(MLX5_IB_ATTR_CREATE_FLOW_MATCH_VALUE, 1,
			       sizeof(struct mlx5_ib_match_params), UV_MANDATORY),
		   UV_OBJ(MLX5_IB_ATTR_CREATE_FLOW_MATCHER, MLX5_IB_OBJECT_FLOW_MATCHER,
			  UV_READ, UV_MANDATORY),
		   UV_OBJ(MLX5_IB_ATTR_CREATE_FLOW_DEST_QP, UVERBS_OBJECT_QP, UV_READ,
			  UV_OPTIONAL),
		   UV_OBJ(MLX5_IB_ATTR_CREATE_FLOW_DEST_DEVX, MLX5_IB_OBJECT_DEVX_OBJ,
			  UV_READ, UV_OPTIONAL),
		   UV_OBJS(MLX5_IB_ATTR_CREATE_FLOW_ARR_FLOW_ACTIONS,
			   UVERBS_OBJECT_FLOW_ACTION, 1, 2, UV_OPTIONAL),
		   UV_IN_TYPE(MLX5_IB_ATTR_CREATE_FLOW_TAG, uint32_t, UV_OPTIONAL),
		   UV_OBJS(MLX5_IB_ATTR_CREATE_FLOW_ARR_COUNTERS_DEVX,
			   MLX5_IB_OBJECT_DEVX_OBJ, 1, 1, UV_OPTIONAL),
		   UV_IN_MIN(MLX5_IB_ATTR_CREATE_FLOW_ARR_COUNTERS_DEVX_OFFSET, 4,
			     UV_OPTIONAL),
		   UV_FLAGS_IN(MLX5_IB_ATTR_CREATE_FLOW_FLAGS, UV_OPTIONAL)),
	  .run = create_flow },
	{ UVERBS_OBJECT_FLOW, MLX5_IB_METHOD_DESTROY_FLOW, false, "MLX5_DESTROY_FLOW",
	  UV_ATTRS(UV_OBJ(MLX5_IB_ATTR_CREATE_FLOW_HANDLE, UVERBS_OBJECT_FLOW, UV_DESTROY,
			  UV_MANDATORY)) },
	{ UVERBS_OBJECT_FLOW, UVERBS_METHOD_FLOW_DESTROY, false, "FLOW_DESTROY",
	  UV_ATTRS(UV_OBJ(UVERBS_ATTR_DESTROY_FLOW_HANDLE, UVERBS_OBJECT_FLOW, UV_DESTROY,
			  UV_MANDATORY)) },
	{ UVERBS_OBJECT_FLOW_ACTION, MLX5_IB_METHOD_FLOW_ACTION_CREATE_MODIFY_HEADER,
	  false, "FLOW_ACTION_CREATE_MODIFY_HEADER",
	  UV_ATTRS(UV_OBJ(MLX5_IB_ATTR_CREATE_MODIFY_HEADER_HANDLE,
			  UVERBS_OBJECT_FLOW_ACTION, UV_NEW, UV_MANDATORY),
		   UV_IN_MIN(MLX5_IB_ATTR_CREATE_MODIFY_HEADER_ACTIONS_PRM, 8,
			     UV_MANDATORY),
		   UV_CONST_IN(MLX5_IB_ATTR_CREATE_MODIFY_HEADER_FT_TYPE, UV_MANDATORY)),
	  .run = no_actions },
	{ UVERBS_OBJECT_FLOW_ACTION, MLX5_IB_METHOD_FLOW_ACTION_CREATE_PACKET_REFORMAT,
	  false, "FLOW_ACTION_CREATE_PACKET_REFORMAT",
	  UV_ATTRS(
		  UV_OBJ(MLX5_IB_ATTR_CREATE_PACKET_REFORMAT_HANDLE,
			 UVERBS_OBJECT_FLOW_ACTION, UV_NEW, UV_MANDATORY),
		  UV_IN_MIN(MLX5_IB_ATTR_CREATE_PACKET_REFORMAT_DATA_BUF, 1, UV_OPTIONAL),
		  UV_CONST_IN(MLX5_IB_ATTR_CREATE_PACKET_REFORMAT_TYPE, UV_MANDATORY),
		  UV_CONST_IN(MLX5_IB_ATTR_CREATE_PACKET_REFORMAT_FT_TYPE, UV_MANDATORY)),
	  .run = no_actions },
	{ .name = NULL },
};
