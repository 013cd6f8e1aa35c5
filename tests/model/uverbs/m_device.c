/* uverbs/m_device.c - opening a context, the port, its GIDs
 *
 * Sources: Linux 6.1 core/uverbs_std_types_device.c, uverbs_std_types_async_fd.c;
 * hw/mlx5/main.c (mlx5_ib_alloc_ucontext(), set_ucontext_resp(),
 * mlx5_query_port_roce()), std_types.c (MLX5_IB_METHOD_QUERY_PORT), devx.c
 * (mlx5_ib_devx_create()).
 */
#include "uverbs.h"

#include <errno.h>
#include <string.h>

#include "../core/layout.h"
#include "opcode.h"

#define CACHE_LINE     64
#define BFREGS_PER_UAR 2 /* MLX5_NON_FP_BFREGS_PER_UAR */
#define UCTX_RAW_TX    1 /* MLX5_UCTX_CAP_* */
#define UCTX_INTERNAL  2
#define GIDS	       255 /* roce_address_table_size of a ConnectX */
#define ROCE_OVERHEAD \
	96 /* GRH, UDP, BTH, XRC, atomic, ICRC; rdma/ib_addr.h iboe_get_mtu() */

/* ---- the context ---- */

typedef struct mlx5_ib_alloc_ucontext_req_v2 ctx_req_t;
typedef struct mlx5_ib_alloc_ucontext_resp ctx_resp_t;

static int read_ctx_req(struct uv_call *call, ctx_req_t *req)
{
	size_t len;
	const uint8_t *p = uv_uhw(call, &len);
	uint32_t bfregs;

	if (len != sizeof(struct mlx5_ib_alloc_ucontext_req) &&
	    len < offsetof(ctx_req_t, max_cqe_version))
		return uv_refuse(call, EINVAL, "driver data", "%zu bytes", len);
	memset(req, 0, sizeof(*req));
	memcpy(req, p, UV_MIN(len, sizeof(*req)));
	if (req->flags & ~(uint32_t)MLX5_IB_ALLOC_UCTX_DEVX)
		return uv_refuse(call, EOPNOTSUPP, "flags", "0x%x", req->flags);
	if (req->comp_mask || req->reserved0 || req->reserved1 || req->reserved2)
		return uv_refuse(call, EOPNOTSUPP, "comp_mask", "or reserved is set");
	bfregs = (req->total_num_bfregs + BFREGS_PER_UAR - 1) & ~(BFREGS_PER_UAR - 1u);
	if (req->num_low_latency_bfregs > bfregs - 1)
		return uv_refuse(call, EINVAL, "num_low_latency_bfregs", "%u of %u",
				 req->num_low_latency_bfregs, bfregs);
	/* Older libraries want doorbell pages given at once; every supported one has this. */
	if (!(req->lib_caps & MLX5_LIB_CAP_DYN_UAR))
		return uv_refuse(call, EOPNOTSUPP, "lib_caps",
				 "0x%llx: no dynamic doorbell pages",
				 (unsigned long long)req->lib_caps);
	return 0;
}

static int create_uctx(struct uv_call *call)
{
	uint8_t in[CX_BYTES(create_uctx_in)] = { 0 }, out[CX_BYTES(create_uctx_out)];
	uint32_t can = uv_cap(call->port, "hca.uctx_cap"), caps = 0;
	struct uv_ctx *ctx = call->ctx;
	int rc;

	if (!uv_cap(call->port, "hca.log_max_uctx"))
		return uv_refuse(call, EINVAL, "flags", "DevX is off");
	if (can & UCTX_RAW_TX && uv_capable(call, UV_CAP_NET_RAW))
		caps |= UCTX_RAW_TX;
	if (can & UCTX_INTERNAL && uv_capable(call, UV_CAP_SYS_RAWIO))
		caps |= UCTX_INTERNAL;
	CX_SET(create_uctx_in, in, opcode, CX_OP_CREATE_UCTX);
	CX_SET(uctx, CX_AT(create_uctx_in, in, uctx), cap, caps);
	rc = uv_exec(call->port, 0, in, sizeof(in), out, sizeof(out));
	if (rc)
		return uv_refuse(call, -rc, "device", "no user context");
	ctx->uid = (uint16_t)CX_GET(create_uctx_out, out, uid);
	ctx->self->uid = ctx->uid;
	uv_undo_push(ctx->self, UV_UNDO_UCTX, 0, ctx->uid, NULL);
	return 0;
}

static int alloc_td(struct uv_call *call)
{
	struct uv_ctx *ctx = call->ctx;
	int rc = uv_exec_alloc(call->port, ctx->uid, CX_OP_ALLOC_TRANSPORT_DOMAIN,
			       &ctx->tdn);

	if (rc)
		return uv_refuse(call, -rc, "device", "no transport domain");
	uv_undo_push(ctx->self, UV_UNDO_CMD, CX_OP_DEALLOC_TRANSPORT_DOMAIN, ctx->tdn,
		     NULL);
	return 0;
}

/* 1.. = the least a work request must carry inline, plus one. */
static uint8_t min_inline(const struct uv_call *call)
{
	return (uint8_t)(uv_min_inline_mode(call->port) + MLX5_USER_INLINE_MODE_NONE);
}

/* Neither the core clock nor the kernel's clock page is offered: nobody here reads them. */
static void fill_ctx_resp(struct uv_call *call, ctx_resp_t *r, size_t len)
{
	const struct uv_port *p = call->port;

	*r = (ctx_resp_t){
		.qp_tab_size = 1u << uv_cap(p, "hca.log_max_qp"),
		.bf_reg_size =
			uv_cap(p, "hca.bf") ? 1u << uv_cap(p, "hca.log_bf_reg_size") : 0,
		.cache_line_size = CACHE_LINE,
		.max_sq_desc_sz = (uint16_t)uv_cap(p, "hca.max_wqe_sz_sq"),
		.max_rq_desc_sz = (uint16_t)uv_cap(p, "hca.max_wqe_sz_rq"),
		.max_send_wqebb = 1u << uv_cap(p, "hca.log_max_qp_sz"),
		.max_recv_wr = 1u << uv_cap(p, "hca.log_max_qp_sz"),
		.max_srq_recv_wr = 1u << uv_cap(p, "hca.log_max_srq_sz"),
		.num_ports = 1,
		.cqe_version = call->ctx->cqe_version,
		.cmds_supp_uhw = MLX5_USER_CMDS_SUPP_UHW_QUERY_DEVICE |
				 MLX5_USER_CMDS_SUPP_UHW_CREATE_AH,
		.eth_min_inline = min_inline(call),
		.log_uar_size = 12,
		.num_uars_per_page = 1,
		.comp_mask = MLX5_IB_ALLOC_UCONTEXT_RESP_MASK_MKEY_UPDATE_TAG,
		.response_length = (uint32_t)UV_MIN(len, sizeof(ctx_resp_t)),
	};
	if (uv_cap(p, "roce.qp_ts_format"))
		r->comp_mask |= MLX5_IB_ALLOC_UCONTEXT_RESP_MASK_REAL_TIME_TS;
}

static int make_context(struct uv_call *call, const ctx_req_t *req)
{
	struct uv_ctx *ctx = call->ctx;
	uint8_t version = (uint8_t)uv_cap(call->port, "hca.cqe_version");
	int rc = 0;

	ctx->self = uv_ctx_obj(ctx);
	if (!ctx->self)
		return -ENOMEM;
	if (req->flags & MLX5_IB_ALLOC_UCTX_DEVX)
		rc = create_uctx(call);
	if (!rc)
		rc = alloc_td(call);
	if (rc) {
		uv_ctx_undo(ctx);
		return rc;
	}
	ctx->cqe_version = UV_MIN(version, req->max_cqe_version);
	ctx->open = true;
	return 0;
}

static void answer_common(struct uv_call *call, uint16_t vectors_id, uint16_t support_id)
{
	uint32_t vectors = call->port->n_vectors;
	uint64_t support = IB_UVERBS_CORE_SUPPORT_OPTIONAL_MR_ACCESS;

	uv_out_if(call, vectors_id, &vectors, sizeof(vectors));
	uv_out_if(call, support_id, &support, sizeof(support));
}

static int get_context(struct uv_call *call)
{
	ctx_req_t req = { 0 };
	ctx_resp_t resp;
	int rc;

	answer_common(call, UVERBS_ATTR_GET_CONTEXT_NUM_COMP_VECTORS,
		      UVERBS_ATTR_GET_CONTEXT_CORE_SUPPORT);
	if (call->ctx->open)
		return uv_refuse(call, EINVAL, "context", "is open");
	rc = read_ctx_req(call, &req);
	if (!rc)
		rc = make_context(call, &req);
	if (rc)
		return rc;
	fill_ctx_resp(call, &resp, uv_uhw_out_len(call));
	uv_uhw_out(call, &resp, sizeof(resp));
	return 0;
}

static int query_context(struct uv_call *call)
{
	ctx_resp_t resp;
	int rc = uv_need_context(call);

	if (rc)
		return rc;
	answer_common(call, UVERBS_ATTR_QUERY_CONTEXT_NUM_COMP_VECTORS,
		      UVERBS_ATTR_QUERY_CONTEXT_CORE_SUPPORT);
	fill_ctx_resp(call, &resp,
		      uv_attr(call, MLX5_IB_ATTR_QUERY_CONTEXT_RESP_UCTX)->u.len);
	return uv_out_or_zero(call, MLX5_IB_ATTR_QUERY_CONTEXT_RESP_UCTX, &resp,
			      sizeof(resp));
}

/* The write command carries the descriptor of the first async file in its answer. libibverbs
 * uses it only where GET_CONTEXT is missing. */
static int write_get_context(struct uv_call *call)
{
	return uv_refuse(call, EOPNOTSUPP, "command", "use the method of the same name");
}

/* ---- the port ---- */

static uint8_t ib_mtu(unsigned mtu)
{
	static const unsigned bytes[] = { 256, 512, 1024, 2048, 4096 };
	uint8_t value = 0;

	for (unsigned i = 0; i < UV_COUNT(bytes); i++)
		if (mtu >= bytes[i] + ROCE_OVERHEAD)
			value = (uint8_t)(i + 1);
	return value;
}

/* 100 Gb/s over four lanes. RoCE itself is off, yet the GIDs of a RoCE port are there: tools
 * for raw Ethernet read the first one before anything else. */
static void fill_port(struct uv_call *call, struct ib_uverbs_query_port_resp *r)
{
	bool up = cx_link_up(call->port->dev);

	*r = (struct ib_uverbs_query_port_resp){
		.port_cap_flags = IB_UVERBS_PCF_CM_SUP | IB_UVERBS_PCF_IP_BASED_GIDS,
		.max_msg_sz = 1u << uv_cap(call->port, "hca.log_max_msg"),
		.gid_tbl_len = GIDS,
		.pkey_tbl_len = 1,
		.state = up ? 4 : 1, /* IB_PORT_ACTIVE, IB_PORT_DOWN */
		.max_mtu = 5,
		.active_mtu = ib_mtu(uv_mtu(call->port)),
		.active_width = 2,	  /* 4X */
		.active_speed = 32,	  /* EDR */
		.phys_state = up ? 5 : 3, /* link up, disabled */
		.link_layer = 2,	  /* Ethernet */
	};
}

static int check_port(struct uv_call *call, uint64_t port)
{
	return port == 1 ? 0
			 : uv_refuse(call, EINVAL, "port", "%llu, not 1",
				     (unsigned long long)port);
}

static int query_port(struct uv_call *call)
{
	struct ib_uverbs_query_port_resp_ex resp = { 0 };
	uint64_t port;
	int rc = uv_need_context(call);

	if (!rc)
		rc = uv_const(call, UVERBS_ATTR_QUERY_PORT_PORT_NUM, UINT8_MAX, &port);
	if (!rc)
		rc = check_port(call, port);
	if (rc)
		return rc;
	fill_port(call, &resp.legacy_resp);
	return uv_out_or_zero(call, UVERBS_ATTR_QUERY_PORT_RESP, &resp, sizeof(resp));
}

static int write_query_port(struct uv_call *call)
{
	struct ib_uverbs_query_port req;
	struct ib_uverbs_query_port_resp resp;
	int rc = uv_need_context(call);

	if (!rc)
		rc = uv_req(call, &req, sizeof(req));
	if (!rc)
		rc = check_port(call, req.port_num);
	if (rc)
		return rc;
	fill_port(call, &resp);
	return uv_resp(call, &resp, sizeof(resp));
}

/* Only an e-switch in switchdev mode would have something to tell. */
static int mlx5_query_port(struct uv_call *call)
{
	struct mlx5_ib_uapi_query_port resp = { 0 };
	int rc = uv_need_context(call);

	if (!rc)
		rc = check_port(call, uv_in32(call, MLX5_IB_ATTR_QUERY_PORT_PORT_NUM));
	return rc ? rc
		  : uv_out_or_zero(call, MLX5_IB_ATTR_QUERY_PORT, &resp, sizeof(resp));
}

/* ---- GIDs: the link-local address in both RoCE versions, as a netdev without others ---- */

#define GIDS_VALID 2

/* The netdev is in a network namespace of its own: its index means nothing here. */
static void fill_gid(struct uv_call *call, uint32_t index, struct ib_uverbs_gid_entry *e)
{
	uint8_t gid[16] = { 0xfe, 0x80 }, mac[6];

	cx_mac_get(call->port->dev, mac);
	memcpy(gid + 8, mac, 3);
	gid[8] ^= 2;
	gid[11] = 0xff;
	gid[12] = 0xfe;
	memcpy(gid + 13, mac + 3, 3);
	*e = (struct ib_uverbs_gid_entry){ .gid_index = index,
					   .port_num = 1,
					   .gid_type =
						   index ? IB_UVERBS_GID_TYPE_ROCE_V2
							 : IB_UVERBS_GID_TYPE_ROCE_V1 };
	memcpy(e->gid, gid, sizeof(gid));
}

static int query_gid_table(struct uv_call *call)
{
	struct uv_attr *a = uv_attr(call, UVERBS_ATTR_QUERY_GID_TABLE_RESP_ENTRIES);
	uint64_t size, n = GIDS_VALID;
	uint32_t flags;
	int rc = uv_flags(call, UVERBS_ATTR_QUERY_GID_TABLE_FLAGS, 0, &flags);

	if (!rc)
		rc = uv_const(call, UVERBS_ATTR_QUERY_GID_TABLE_ENTRY_SIZE, UINT32_MAX,
			      &size);
	if (!rc)
		rc = uv_need_context(call);
	if (rc)
		return rc;
	if (!size || a->u.len % size || a->u.len / size < GIDS_VALID)
		return uv_refuse(call, EINVAL, "entry size", "%llu of %u bytes",
				 (unsigned long long)size, a->u.len);
	uv_out(call, a->u.attr_id, "", 0);
	memset(a->bytes, 0, a->u.len);
	for (uint32_t i = 0; i < GIDS_VALID; i++) {
		struct ib_uverbs_gid_entry e;

		fill_gid(call, i, &e);
		memcpy(a->bytes + i * size, &e, UV_MIN(size, sizeof(e)));
	}
	return uv_out(call, UVERBS_ATTR_QUERY_GID_TABLE_RESP_NUM_ENTRIES, &n, sizeof(n));
}

static int query_gid_entry(struct uv_call *call)
{
	struct ib_uverbs_gid_entry e;
	uint64_t port, index;
	uint32_t flags;
	int rc = uv_flags(call, UVERBS_ATTR_QUERY_GID_ENTRY_FLAGS, 0, &flags);

	if (!rc)
		rc = uv_const(call, UVERBS_ATTR_QUERY_GID_ENTRY_PORT, UINT32_MAX, &port);
	if (!rc)
		rc = uv_const(call, UVERBS_ATTR_QUERY_GID_ENTRY_GID_INDEX, UINT32_MAX,
			      &index);
	if (!rc)
		rc = uv_need_context(call);
	if (!rc)
		rc = check_port(call, port);
	if (rc)
		return rc;
	if (index >= GIDS)
		return uv_refuse(call, EINVAL, "gid_index", "%llu",
				 (unsigned long long)index);
	if (index >= GIDS_VALID)
		return -ENODATA; /* an empty place; programs walk the table until here */
	fill_gid(call, (uint32_t)index, &e);
	return uv_out_or_zero(call, UVERBS_ATTR_QUERY_GID_ENTRY_RESP_ENTRY, &e,
			      sizeof(e));
}

/* ---- the rest ---- */

static int info_handles(struct uv_call *call)
{
	struct uv_attr *list = uv_attr(call, UVERBS_ATTR_INFO_HANDLES_LIST);
	uint64_t type, total = 0;
	int rc = uv_const(call, UVERBS_ATTR_INFO_OBJECT_ID, UINT16_MAX, &type);

	if (rc)
		return rc;
	if (!list || list->u.len % sizeof(uint32_t))
		return uv_refuse(call, EINVAL, "list", "%u bytes",
				 list ? list->u.len : 0);
	uv_out(call, UVERBS_ATTR_INFO_HANDLES_LIST, "", 0);
	for (struct uv_obj *o = call->ctx->newest; o; o = o->older) {
		if (o->type != type || (total + 1) * sizeof(uint32_t) > list->u.len)
			continue;
		memcpy(list->bytes + total++ * sizeof(uint32_t), &o->handle,
		       sizeof(uint32_t));
	}
	uv_out_if(call, UVERBS_ATTR_INFO_TOTAL_HANDLES, &total, sizeof(total));
	return 0;
}

/* The first one is where QPs and CQs report that name no other. */
static int async_event_alloc(struct uv_call *call)
{
	if (!call->ctx->default_async)
		call->ctx->default_async = call->fresh_file;
	return 0;
}

/* ---- tables ---- */

const struct uv_write uv_writes_device[] = {
	{ IB_USER_VERBS_CMD_GET_CONTEXT, "GET_CONTEXT",
	  sizeof(struct ib_uverbs_get_context), sizeof(struct ib_uverbs_get_context_resp),
	  write_get_context },
	{ IB_USER_VERBS_CMD_QUERY_DEVICE, "QUERY_DEVICE",
	  sizeof(struct ib_uverbs_query_device),
	  sizeof(struct ib_uverbs_query_device_resp), uv_query_device },
	{ IB_USER_VERBS_CMD_QUERY_PORT, "QUERY_PORT", sizeof(struct ib_uverbs_query_port),
	  sizeof(struct ib_uverbs_query_port_resp), write_query_port },
	{ UV_EX(QUERY_DEVICE), "EX_QUERY_DEVICE",
	  sizeof(struct ib_uverbs_ex_query_device),
	  UV_END_OF(struct ib_uverbs_ex_query_device_resp, response_length),
	  uv_ex_query_device },
	{ .name = NULL },
};

const struct uv_method uv_methods_device[] = {
	{ UVERBS_OBJECT_DEVICE, UVERBS_METHOD_INVOKE_WRITE, true, "INVOKE_WRITE",
	  UV_ATTRS(UV_CONST_IN(UVERBS_ATTR_WRITE_CMD, UV_MANDATORY),
		   UV_IN_MIN(UVERBS_ATTR_CORE_IN, 4, UV_OPTIONAL),
		   UV_OUT_MIN(UVERBS_ATTR_CORE_OUT, 0, UV_OPTIONAL), UV_UHW),
	  .run = uv_invoke_write },
	{ UVERBS_OBJECT_DEVICE, UVERBS_METHOD_GET_CONTEXT, true, "GET_CONTEXT",
	  UV_ATTRS(UV_OUT_TYPE(UVERBS_ATTR_GET_CONTEXT_NUM_COMP_VECTORS, uint32_t,
			       UV_OPTIONAL),
		   UV_OUT_TYPE(UVERBS_ATTR_GET_CONTEXT_CORE_SUPPORT, uint64_t,
			       UV_OPTIONAL),
		   UV_UHW),
	  .run = get_context },
	{ UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_CONTEXT, false, "QUERY_CONTEXT",
	  UV_ATTRS(UV_OUT_TYPE(UVERBS_ATTR_QUERY_CONTEXT_NUM_COMP_VECTORS, uint32_t,
			       UV_OPTIONAL),
		   UV_OUT_TYPE(UVERBS_ATTR_QUERY_CONTEXT_CORE_SUPPORT, uint64_t,
			       UV_OPTIONAL),
		   UV_OUT_STRUCT(MLX5_IB_ATTR_QUERY_CONTEXT_RESP_UCTX, ctx_resp_t,
				 dump_fill_mkey, UV_MANDATORY)),
	  .run = query_context },
	{ UVERBS_OBJECT_DEVICE, UVERBS_METHOD_INFO_HANDLES, false, "INFO_HANDLES",
	  UV_ATTRS(UV_CONST_IN(UVERBS_ATTR_INFO_OBJECT_ID, UV_MANDATORY),
		   UV_OUT_TYPE(UVERBS_ATTR_INFO_TOTAL_HANDLES, uint32_t, UV_OPTIONAL),
		   UV_OUT_MIN(UVERBS_ATTR_INFO_HANDLES_LIST, 4, UV_OPTIONAL)),
	  .run = info_handles },
	{ UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_PORT, false, "QUERY_PORT",
	  UV_ATTRS(UV_CONST_IN(UVERBS_ATTR_QUERY_PORT_PORT_NUM, UV_MANDATORY),
		   UV_OUT_STRUCT(UVERBS_ATTR_QUERY_PORT_RESP,
				 struct ib_uverbs_query_port_resp_ex, reserved,
				 UV_MANDATORY)),
	  .run = query_port },
	{ UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_GID_TABLE, false, "QUERY_GID_TABLE",
	  UV_ATTRS(UV_CONST_IN(UVERBS_ATTR_QUERY_GID_TABLE_ENTRY_SIZE, UV_MANDATORY),
		   UV_FLAGS_IN(UVERBS_ATTR_QUERY_GID_TABLE_FLAGS, UV_OPTIONAL),
		   UV_OUT_MIN(UVERBS_ATTR_QUERY_GID_TABLE_RESP_ENTRIES, 0, UV_MANDATORY),
		   UV_OUT_TYPE(UVERBS_ATTR_QUERY_GID_TABLE_RESP_NUM_ENTRIES, uint64_t,
			       UV_MANDATORY)),
	  .run = query_gid_table },
	{ UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_GID_ENTRY, false, "QUERY_GID_ENTRY",
	  UV_ATTRS(UV_CONST_IN(UVERBS_ATTR_QUERY_GID_ENTRY_PORT, UV_MANDATORY),
		   UV_CONST_IN(UVERBS_ATTR_QUERY_GID_ENTRY_GID_INDEX, UV_MANDATORY),
		   UV_FLAGS_IN(UVERBS_ATTR_QUERY_GID_ENTRY_FLAGS, UV_MANDATORY),
		   UV_OUT_STRUCT(UVERBS_ATTR_QUERY_GID_ENTRY_RESP_ENTRY,
				 struct ib_uverbs_gid_entry, netdev_ifindex,
				 UV_MANDATORY)),
	  .run = query_gid_entry },
	{ UVERBS_OBJECT_DEVICE, MLX5_IB_METHOD_QUERY_PORT, false, "MLX5_QUERY_PORT",
	  UV_ATTRS(UV_IN_TYPE(MLX5_IB_ATTR_QUERY_PORT_PORT_NUM, uint32_t, UV_MANDATORY),
		   UV_OUT_STRUCT(MLX5_IB_ATTR_QUERY_PORT, struct mlx5_ib_uapi_query_port,
				 reg_c0, UV_MANDATORY)),
	  .run = mlx5_query_port },
	{ UVERBS_OBJECT_ASYNC_EVENT, UVERBS_METHOD_ASYNC_EVENT_ALLOC, false,
	  "ASYNC_EVENT_ALLOC",
	  UV_ATTRS(UV_EVFD(UVERBS_ATTR_ASYNC_EVENT_ALLOC_FD_HANDLE, UV_EV_ASYNC, UV_NEW,
			   UV_MANDATORY)),
	  .run = async_event_alloc },
	{ .name = NULL },
};
