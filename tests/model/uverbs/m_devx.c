/* uverbs/m_devx.c - programs that give commands to the device themselves
 *
 * The kernel looks at the opcode (allow.c), puts the context's number in, sets the
 * "umem valid" bits, remembers how to undo what was made, and compares the number in
 * a MODIFY or QUERY with that of the handle. All else is between program and device:
 * a bad status gives EREMOTEIO, with the device's answer.
 *
 * Source: Linux 6.1 hw/mlx5/devx.c; main.c (MLX5_IB_METHOD_UAR_OBJ_ALLOC).
 */
#include "uverbs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../core/layout.h"
#include "opcode.h"

#define HEADER_BYTES 16 /* general_obj_in_cmd_hdr and _out_ */
#define UMEM_ACCESS \
	(IB_UVERBS_ACCESS_LOCAL_WRITE | IB_UVERBS_ACCESS_REMOTE_WRITE | \
	 IB_UVERBS_ACCESS_REMOTE_READ | IB_UVERBS_ACCESS_RELAXED_ORDERING)

/* ---- who asks, and for what ---- */

int uv_devx_uid(struct uv_call *call, const uint8_t *in, uint16_t *uid)
{
	*uid = call->ctx->uid;
	if (*uid)
		return 0;
	if (!uv_allowed_without_uid(in))
		return uv_refuse(call, EINVAL, "context", "opened without DevX");
	*uid = call->port->devx_uid;
	return *uid ? 0 : uv_refuse(call, EOPNOTSUPP, "context", "opened without DevX");
}

static int check_tunnel(struct uv_call *call, const uint8_t *in)
{
	unsigned id = cx_be16(in + 4);

	return id ? uv_refuse(call, EINVAL, "vhca_tunnel_id", "%u", id) : 0;
}

static int check_class(struct uv_call *call, const uint8_t *in, size_t len,
		       enum uv_cmd_class class)
{
	if (uv_allowed(in, len, class))
		return 0;
	return uv_refuse(call, EINVAL, "opcode", "0x%x may not be given by this method",
			 cx_be16(in));
}

static bool is_of_qp(const struct uv_qp *qp, uint64_t code)
{
	return (qp->rq_entries && code == uv_obj_code(CX_OP_CREATE_RQ, qp->rqn)) ||
	       (qp->sq_entries && code == uv_obj_code(CX_OP_CREATE_SQ, qp->sqn)) ||
	       (qp->sq_entries && code == uv_obj_code(CX_OP_CREATE_TIS, qp->tisn)) ||
	       ((qp->rq_entries || qp->rss) &&
		code == uv_obj_code(CX_OP_CREATE_TIR, qp->tirn));
}

/* Counters made in bulk have one handle and many numbers. */
static bool is_of_devx(const struct uv_obj *obj, uint64_t code, uint16_t opcode)
{
	if (opcode == CX_OP_QUERY_FLOW_COUNTER && obj->devx.counter_bulk)
		return code >= obj->devx.id &&
		       code < obj->devx.id + obj->devx.counter_bulk;
	return code == obj->devx.id;
}

/* devx_is_valid_obj_id() */
static bool is_of(const struct uv_obj *obj, uint64_t code, uint16_t opcode)
{
	switch (obj->type) {
	case UVERBS_OBJECT_CQ:
		return code == uv_obj_code(CX_OP_CREATE_CQ, obj->num);
	case UVERBS_OBJECT_QP:
		return is_of_qp(&obj->qp, code);
	case UVERBS_OBJECT_WQ:
		return code == uv_obj_code(CX_OP_CREATE_RQ, obj->num);
	case UVERBS_OBJECT_RWQ_IND_TBL:
		return code == uv_obj_code(CX_OP_CREATE_RQT, obj->num);
	case MLX5_IB_OBJECT_DEVX_OBJ:
		return is_of_devx(obj, code, opcode);
	default:
		return false;
	}
}

int uv_devx_check(struct uv_call *call, const struct uv_obj *obj, const uint8_t *in,
		  size_t in_len, enum uv_cmd_class class)
{
	uint64_t code;
	int rc = check_class(call, in, in_len, class);

	if (rc)
		return rc;
	code = uv_cmd_obj(in, in_len);
	if (is_of(obj, code, cx_be16(in)))
		return 0;
	return uv_refuse(call, EINVAL, "handle", "%u is a %s, not object 0x%llx",
			 obj->handle, uv_obj_type_name(obj->type),
			 (unsigned long long)code);
}

/* ---- commands ---- */

struct box { /* both mailboxes of a call */
	uint8_t *in, *out;
	size_t in_len, out_len;
	uint16_t uid;
};

static struct box boxes_of(struct uv_call *call, uint16_t in_id, uint16_t out_id)
{
	struct uv_attr *in = uv_attr(call, in_id), *out = uv_attr(call, out_id);

	return (struct box){ .in = in->bytes,
			     .in_len = in->u.len,
			     .out = out->bytes,
			     .out_len = out->u.len };
}

/* The answer goes to the program also when it is a refusal. */
static int execute(struct uv_call *call, const struct box *b, uint16_t out_id)
{
	int rc = uv_exec_raw(call->port, b->uid, b->in, b->in_len, b->out, b->out_len);

	uv_out(call, out_id, b->out, b->out_len);
	return rc;
}

static int other(struct uv_call *call)
{
	struct box b = boxes_of(call, MLX5_IB_ATTR_DEVX_OTHER_CMD_IN,
				MLX5_IB_ATTR_DEVX_OTHER_CMD_OUT);
	int rc = uv_need_context(call);

	if (!rc)
		rc = uv_devx_uid(call, b.in, &b.uid);
	if (!rc)
		rc = check_class(call, b.in, b.in_len, UV_CMD_GENERAL);
	return rc ? rc : execute(call, &b, MLX5_IB_ATTR_DEVX_OTHER_CMD_OUT);
}

/* ---- objects ---- */

/* mlx5_create_cq() looks for the event queue before the device does. */
static int check_eqn(struct uv_call *call, const struct box *b)
{
	const uint8_t *cqc = CX_AT(create_cq_in, b->in, cq_context);
	uint32_t eqn;

	if (cx_be16(b->in) != CX_OP_CREATE_CQ || b->in_len < CX_BYTES(create_cq_in))
		return 0;
	eqn = (uint32_t)CX_GET(cqc, cqc, c_eqn);
	for (uint32_t i = 0; i < call->port->n_vectors; i++)
		if (call->port->eqn[i] == eqn)
			return 0;
	return uv_refuse(call, ENOENT, "cqc.c_eqn", "0x%x is no event queue", eqn);
}

static int check_mkey(struct uv_call *call, const struct box *b)
{
	size_t least = cx_field_offset(CX_create_mkey_in__memory_key_mkey_entry) / 8 +
		       CX_BYTES(mkc);

	if (cx_be16(b->in) != CX_OP_CREATE_MKEY || b->in_len >= least)
		return 0;
	return uv_refuse(call, EINVAL, "create_mkey_in", "%zu bytes", b->in_len);
}

static uint32_t bulk_of(const uint8_t *in)
{
	uint32_t log;

	if (cx_be16(in) != CX_OP_ALLOC_FLOW_COUNTER)
		return 0;
	log = (uint32_t)CX_GET(alloc_flow_counter_in, in, flow_counter_bulk_log_size);
	return log ? 1u << log
		   : 128 * (uint32_t)CX_GET(alloc_flow_counter_in, in, flow_counter_bulk);
}

/* The destroyer is ready before the object is, so that nothing can fail in between. */
static int create(struct uv_call *call, struct uv_obj *obj, const struct box *b)
{
	uint8_t *destroy = calloc(1, 64);
	size_t len;
	uint32_t num;
	int rc;

	if (!destroy)
		return -ENOMEM;
	rc = execute(call, b, MLX5_IB_ATTR_DEVX_OBJ_CREATE_CMD_OUT);
	if (rc) {
		free(destroy);
		return rc;
	}
	num = uv_created(b->in, b->in_len, b->out, b->out_len, destroy, &len);
	uv_undo_push(obj, UV_UNDO_MAILBOX, 0, (uint32_t)len, destroy);
	obj->devx.id = uv_obj_code(uv_creator_code(b->in), num);
	obj->devx.counter_bulk = bulk_of(b->in);
	return 0;
}

static int obj_create(struct uv_call *call)
{
	struct uv_obj *obj = uv_in_obj(call, MLX5_IB_ATTR_DEVX_OBJ_CREATE_HANDLE);
	struct box b = boxes_of(call, MLX5_IB_ATTR_DEVX_OBJ_CREATE_CMD_IN,
				MLX5_IB_ATTR_DEVX_OBJ_CREATE_CMD_OUT);
	int rc = check_tunnel(call, b.in);

	if (!rc)
		rc = uv_devx_uid(call, b.in, &b.uid);
	if (!rc)
		rc = check_class(call, b.in, b.in_len, UV_CMD_CREATE);
	if (!rc)
		rc = check_mkey(call, &b);
	if (!rc)
		rc = check_eqn(call, &b);
	if (rc)
		return rc;
	uv_set_umem_valid(b.in, b.in_len);
	return create(call, obj, &b);
}

static int modify_or_query(struct uv_call *call, uint16_t handle, uint16_t in,
			   uint16_t out, enum uv_cmd_class class)
{
	struct box b = boxes_of(call, in, out);
	int rc = check_tunnel(call, b.in);

	if (!rc)
		rc = uv_devx_uid(call, b.in, &b.uid);
	if (!rc)
		rc = uv_devx_check(call, uv_in_obj(call, handle), b.in, b.in_len, class);
	if (rc)
		return rc;
	if (class == UV_CMD_MODIFY)
		uv_set_umem_valid(b.in, b.in_len);
	return execute(call, &b, out);
}

static int obj_modify(struct uv_call *call)
{
	return modify_or_query(call, MLX5_IB_ATTR_DEVX_OBJ_MODIFY_HANDLE,
			       MLX5_IB_ATTR_DEVX_OBJ_MODIFY_CMD_IN,
			       MLX5_IB_ATTR_DEVX_OBJ_MODIFY_CMD_OUT, UV_CMD_MODIFY);
}

static int obj_query(struct uv_call *call)
{
	return modify_or_query(call, MLX5_IB_ATTR_DEVX_OBJ_QUERY_HANDLE,
			       MLX5_IB_ATTR_DEVX_OBJ_QUERY_CMD_IN,
			       MLX5_IB_ATTR_DEVX_OBJ_QUERY_CMD_OUT, UV_CMD_QUERY);
}

/* ---- numbers ---- */

static int query_eqn(struct uv_call *call)
{
	uint32_t vector = uv_in32(call, MLX5_IB_ATTR_DEVX_QUERY_EQN_USER_VEC);
	int rc = uv_need_context(call);

	if (rc)
		return rc;
	if (vector >= call->port->n_vectors)
		return uv_refuse(call, ENOENT, "vector", "%u of %u", vector,
				 call->port->n_vectors);
	return uv_out(call, MLX5_IB_ATTR_DEVX_QUERY_EQN_DEV_EQN, &call->port->eqn[vector],
		      sizeof(uint32_t));
}

/* Of the doorbell pages that are given at once with a context; here there are none. */
static int query_uar(struct uv_call *call)
{
	int rc = uv_need_context(call);

	return rc ? rc
		  : uv_refuse(call, EINVAL, "user_idx", "%u: no static doorbell pages",
			      uv_in32(call, MLX5_IB_ATTR_DEVX_QUERY_UAR_USER_IDX));
}

/* ---- memory ---- */

/* Some page size from 4 KiB up to the length must be allowed. The core knows no page sizes. */
static int check_page_sizes(struct uv_call *call, uint64_t len)
{
	uint64_t bitmap, largest = UV_PAGE;

	if (!uv_attr(call, MLX5_IB_ATTR_DEVX_UMEM_REG_PGSZ_BITMAP))
		return 0;
	bitmap = uv_in64(call, MLX5_IB_ATTR_DEVX_UMEM_REG_PGSZ_BITMAP);
	while (largest < len && largest << 1)
		largest <<= 1;
	if (bitmap & (largest | (largest - 1)) & ~(uint64_t)(UV_PAGE - 1))
		return 0;
	return uv_refuse(call, EINVAL, "pgsz_bitmap", "0x%llx for %llu bytes",
			 (unsigned long long)bitmap, (unsigned long long)len);
}

static int umem_reg(struct uv_call *call)
{
	struct uv_obj *umem = uv_in_obj(call, MLX5_IB_ATTR_DEVX_UMEM_REG_HANDLE);
	uint64_t addr = uv_in64(call, MLX5_IB_ATTR_DEVX_UMEM_REG_ADDR);
	uint64_t len = uv_in64(call, MLX5_IB_ATTR_DEVX_UMEM_REG_LEN);
	uint32_t access;
	int rc = 0;

	if (!call->ctx->uid)
		return uv_refuse(call, EINVAL, "context", "opened without DevX");
	rc = uv_flags(call, MLX5_IB_ATTR_DEVX_UMEM_REG_ACCESS, UMEM_ACCESS, &access);
	if (!rc)
		rc = uv_check_access(call, access);
	if (!rc && uv_attr(call, MLX5_IB_ATTR_DEVX_UMEM_REG_DMABUF_FD))
		rc = uv_refuse(call, EOPNOTSUPP, "dmabuf_fd", "no DMA buffers");
	if (!rc)
		rc = check_page_sizes(call, len);
	if (!rc)
		rc = uv_umem_of(call, umem, addr, len, access, &umem->num);
	return rc ? rc
		  : uv_out(call, MLX5_IB_ATTR_DEVX_UMEM_REG_OUT_ID, &umem->num,
			   sizeof(umem->num));
}

/* ---- doorbell pages ---- */

static int uar_alloc(struct uv_call *call)
{
	struct uv_obj *uar = uv_in_obj(call, MLX5_IB_ATTR_UAR_OBJ_ALLOC_HANDLE);
	uint64_t type, offset;
	uint32_t length = UV_PAGE;
	int rc = uv_const(call, MLX5_IB_ATTR_UAR_OBJ_ALLOC_TYPE, UINT32_MAX, &type);

	if (rc)
		return rc;
	if (type != MLX5_IB_UAPI_UAR_ALLOC_TYPE_BF &&
	    type != MLX5_IB_UAPI_UAR_ALLOC_TYPE_NC)
		return uv_refuse(call, EOPNOTSUPP, "type", "%llu",
				 (unsigned long long)type);
	if (type == MLX5_IB_UAPI_UAR_ALLOC_TYPE_BF && !uv_cap(call->port, "hca.bf"))
		return uv_refuse(call, EOPNOTSUPP, "type",
				 "write combining: capability bf is 0");
	rc = uv_uar_new(uar);
	if (rc)
		return uv_refuse(call, -rc, "device", "no doorbell page");
	offset = uv_uar_mmap_offset(uar);
	uv_out(call, MLX5_IB_ATTR_UAR_OBJ_ALLOC_MMAP_OFFSET, &offset, sizeof(offset));
	uv_out(call, MLX5_IB_ATTR_UAR_OBJ_ALLOC_PAGE_ID, &uar->num, sizeof(uar->num));
	uv_out(call, MLX5_IB_ATTR_UAR_OBJ_ALLOC_MMAP_LENGTH, &length, sizeof(length));
	return 0;
}

/* ---- tables ---- */

#define CMD_IN(id)  UV_IN_MIN(id, HEADER_BYTES, UV_MANDATORY)
#define CMD_OUT(id) UV_OUT_MIN(id, HEADER_BYTES, UV_MANDATORY)

const struct uv_method uv_methods_devx[] = {
	{ MLX5_IB_OBJECT_DEVX, MLX5_IB_METHOD_DEVX_OTHER, false, "DEVX_OTHER",
	  UV_ATTRS(CMD_IN(MLX5_IB_ATTR_DEVX_OTHER_CMD_IN),
		   CMD_OUT(MLX5_IB_ATTR_DEVX_OTHER_CMD_OUT)),
	  .run = other },
	{ MLX5_IB_OBJECT_DEVX, MLX5_IB_METHOD_DEVX_QUERY_UAR, false, "DEVX_QUERY_UAR",
	  UV_ATTRS(UV_IN_TYPE(MLX5_IB_ATTR_DEVX_QUERY_UAR_USER_IDX, uint32_t,
			      UV_MANDATORY),
		   UV_OUT_TYPE(MLX5_IB_ATTR_DEVX_QUERY_UAR_DEV_IDX, uint32_t,
			       UV_MANDATORY)),
	  .run = query_uar },
	{ MLX5_IB_OBJECT_DEVX, MLX5_IB_METHOD_DEVX_QUERY_EQN, false, "DEVX_QUERY_EQN",
	  UV_ATTRS(UV_IN_TYPE(MLX5_IB_ATTR_DEVX_QUERY_EQN_USER_VEC, uint32_t,
			      UV_MANDATORY),
		   UV_OUT_TYPE(MLX5_IB_ATTR_DEVX_QUERY_EQN_DEV_EQN, uint32_t,
			       UV_MANDATORY)),
	  .run = query_eqn },
	{ MLX5_IB_OBJECT_DEVX_OBJ, MLX5_IB_METHOD_DEVX_OBJ_CREATE, false,
	  "DEVX_OBJ_CREATE",
	  UV_ATTRS(UV_OBJ(MLX5_IB_ATTR_DEVX_OBJ_CREATE_HANDLE, MLX5_IB_OBJECT_DEVX_OBJ,
			  UV_NEW, UV_MANDATORY),
		   CMD_IN(MLX5_IB_ATTR_DEVX_OBJ_CREATE_CMD_IN),
		   CMD_OUT(MLX5_IB_ATTR_DEVX_OBJ_CREATE_CMD_OUT)),
	  .run = obj_create },
	{ MLX5_IB_OBJECT_DEVX_OBJ, MLX5_IB_METHOD_DEVX_OBJ_DESTROY, false,
	  "DEVX_OBJ_DESTROY",
	  UV_ATTRS(UV_OBJ(MLX5_IB_ATTR_DEVX_OBJ_DESTROY_HANDLE, MLX5_IB_OBJECT_DEVX_OBJ,
			  UV_DESTROY, UV_MANDATORY)) },
	{ MLX5_IB_OBJECT_DEVX_OBJ, MLX5_IB_METHOD_DEVX_OBJ_MODIFY, false,
	  "DEVX_OBJ_MODIFY",
	  UV_ATTRS(UV_OBJ(MLX5_IB_ATTR_DEVX_OBJ_MODIFY_HANDLE, UV_ANY_OBJECT, UV_READ,
			  UV_MANDATORY),
		   CMD_IN(MLX5_IB_ATTR_DEVX_OBJ_MODIFY_CMD_IN),
		   CMD_OUT(MLX5_IB_ATTR_DEVX_OBJ_MODIFY_CMD_OUT)),
	  .run = obj_modify },
	{ MLX5_IB_OBJECT_DEVX_OBJ, MLX5_IB_METHOD_DEVX_OBJ_QUERY, false, "DEVX_OBJ_QUERY",
	  UV_ATTRS(UV_OBJ(MLX5_IB_ATTR_DEVX_OBJ_QUERY_HANDLE, UV_ANY_OBJECT, UV_READ,
			  UV_MANDATORY),
		   CMD_IN(MLX5_IB_ATTR_DEVX_OBJ_QUERY_CMD_IN),
		   CMD_OUT(MLX5_IB_ATTR_DEVX_OBJ_QUERY_CMD_OUT)),
	  .run = obj_query },
	{ MLX5_IB_OBJECT_DEVX_UMEM, MLX5_IB_METHOD_DEVX_UMEM_REG, false, "DEVX_UMEM_REG",
	  UV_ATTRS(UV_OBJ(MLX5_IB_ATTR_DEVX_UMEM_REG_HANDLE, MLX5_IB_OBJECT_DEVX_UMEM,
			  UV_NEW, UV_MANDATORY),
		   UV_IN_TYPE(MLX5_IB_ATTR_DEVX_UMEM_REG_ADDR, uint64_t, UV_MANDATORY),
		   UV_IN_TYPE(MLX5_IB_ATTR_DEVX_UMEM_REG_LEN, uint64_t, UV_MANDATORY),
		   { .id = MLX5_IB_ATTR_DEVX_UMEM_REG_DMABUF_FD, .kind = UV_RAW_FD },
		   UV_FLAGS_IN(MLX5_IB_ATTR_DEVX_UMEM_REG_ACCESS, UV_OPTIONAL),
		   UV_CONST_IN(MLX5_IB_ATTR_DEVX_UMEM_REG_PGSZ_BITMAP, UV_OPTIONAL),
		   UV_OUT_TYPE(MLX5_IB_ATTR_DEVX_UMEM_REG_OUT_ID, uint32_t, UV_MANDATORY)),
	  .run = umem_reg },
	{ MLX5_IB_OBJECT_DEVX_UMEM, MLX5_IB_METHOD_DEVX_UMEM_DEREG, false,
	  "DEVX_UMEM_DEREG",
	  UV_ATTRS(UV_OBJ(MLX5_IB_ATTR_DEVX_UMEM_DEREG_HANDLE, MLX5_IB_OBJECT_DEVX_UMEM,
			  UV_DESTROY, UV_MANDATORY)) },
	{ MLX5_IB_OBJECT_UAR, MLX5_IB_METHOD_UAR_OBJ_ALLOC, false, "UAR_OBJ_ALLOC",
	  UV_ATTRS(UV_OBJ(MLX5_IB_ATTR_UAR_OBJ_ALLOC_HANDLE, MLX5_IB_OBJECT_UAR, UV_NEW,
			  UV_MANDATORY),
		   UV_CONST_IN(MLX5_IB_ATTR_UAR_OBJ_ALLOC_TYPE, UV_MANDATORY),
		   UV_OUT_TYPE(MLX5_IB_ATTR_UAR_OBJ_ALLOC_PAGE_ID, uint32_t, UV_MANDATORY),
		   UV_OUT_TYPE(MLX5_IB_ATTR_UAR_OBJ_ALLOC_MMAP_LENGTH, uint32_t,
			       UV_MANDATORY),
		   UV_OUT_TYPE(MLX5_IB_ATTR_UAR_OBJ_ALLOC_MMAP_OFFSET, uint64_t,
			       UV_MANDATORY)),
	  .run = uar_alloc },
	{ MLX5_IB_OBJECT_UAR, MLX5_IB_METHOD_UAR_OBJ_DESTROY, false, "UAR_OBJ_DESTROY",
	  UV_ATTRS(UV_OBJ(MLX5_IB_ATTR_UAR_OBJ_DESTROY_HANDLE, MLX5_IB_OBJECT_UAR,
			  UV_DESTROY, UV_MANDATORY)) },
	{ .name = NULL },
};
