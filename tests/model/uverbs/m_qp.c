/* uverbs/m_qp.c - queue pairs for raw packets, as verbs ask for them
 *
 * Three ways in: the method QP_CREATE and the older CREATE_QP and EX_CREATE_QP. The
 * other transports are not modelled: EOPNOTSUPP, as from a device without them.
 *
 * Sources: Linux 6.1 core/uverbs_std_types_qp.c, uverbs_cmd.c (create_qp(),
 * modify_qp(), ib_uverbs_query_qp()), verbs.c (qp_state_table).
 */
#include <errno.h>
#include <string.h>

#include "qp.h"

enum { RESET, INIT, RTR, RTS, SQD, SQE, ERR }; /* enum ib_qp_state */

/* enum ib_qp_attr_mask */
#define MASK_STATE	(1u << 0)
#define MASK_PORT	(1u << 5)
#define MASK_RATE_LIMIT (1u << 25)
#define MASK_STANDARD	((1u << 21) - 1)

/* enum ib_qp_create_flags that have no name for programs */
#define CREATE_CROSS_CHANNEL (1u << 2)
#define CREATE_MANAGED_SEND  (1u << 3)
#define CREATE_MANAGED_RECV  (1u << 4)
#define CREATE_SOURCE_QPN    (1u << 10)

#define IOCTL_FLAGS \
	(IB_UVERBS_QP_CREATE_BLOCK_MULTICAST_LOOPBACK | \
	 IB_UVERBS_QP_CREATE_SCATTER_FCS | IB_UVERBS_QP_CREATE_CVLAN_STRIPPING | \
	 IB_UVERBS_QP_CREATE_PCI_WRITE_END_PADDING | IB_UVERBS_QP_CREATE_SQ_SIG_ALL)
#define WRITE_FLAGS \
	((IOCTL_FLAGS & ~IB_UVERBS_QP_CREATE_SQ_SIG_ALL) | CREATE_CROSS_CHANNEL | \
	 CREATE_MANAGED_SEND | CREATE_MANAGED_RECV | CREATE_SOURCE_QPN)

/* ---- create ---- */

static int check_type(struct uv_call *call, uint64_t type)
{
	switch (type) {
	case IB_UVERBS_QPT_RAW_PACKET:
		if (uv_capable(call, UV_CAP_NET_RAW))
			return 0;
		return uv_refuse(call, EPERM, "qp_type",
				 "raw packet without CAP_NET_RAW");
	case IB_UVERBS_QPT_RC:
	case IB_UVERBS_QPT_UC:
	case IB_UVERBS_QPT_UD:
	case IB_UVERBS_QPT_XRC_INI:
	case IB_UVERBS_QPT_XRC_TGT:
	case IB_UVERBS_QPT_DRIVER:
		return uv_refuse(call, EOPNOTSUPP, "qp_type",
				 "%llu: only raw packet is modelled",
				 (unsigned long long)type);
	default:
		return uv_refuse(call, EINVAL, "qp_type", "%llu",
				 (unsigned long long)type);
	}
}

/* uverbs_attr_get_obj() of an object that the call needs */
static int need_obj(struct uv_call *call, uint16_t id, const char *field,
		    struct uv_obj **ret)
{
	*ret = uv_in_obj(call, id);
	return *ret ? 0 : uv_refuse(call, ENOENT, field, "missing");
}

/* With a table there is no receive queue of its own, and the send part is optional. */
static int objects_with_table(struct uv_call *call, struct uv_qp_conf *c)
{
	if (c->cap.max_recv_wr || c->cap.max_recv_sge ||
	    uv_attr(call, UVERBS_ATTR_CREATE_QP_RECV_CQ_HANDLE) ||
	    uv_attr(call, UVERBS_ATTR_CREATE_QP_SRQ_HANDLE))
		return uv_refuse(call, EINVAL, "ind_table", "and a receive queue");
	if (!c->cap.max_send_wr)
		return 0;
	return need_obj(call, UVERBS_ATTR_CREATE_QP_SEND_CQ_HANDLE, "send_cq",
			&c->send_cq);
}

static int objects(struct uv_call *call, struct uv_qp_conf *c)
{
	int rc;

	if (uv_attr(call, UVERBS_ATTR_CREATE_QP_XRCD_HANDLE))
		return uv_refuse(call, EINVAL, "xrcd", "of a raw packet QP");
	rc = need_obj(call, UVERBS_ATTR_CREATE_QP_PD_HANDLE, "pd", &c->pd);
	c->table = uv_in_obj(call, UVERBS_ATTR_CREATE_QP_IND_TABLE_HANDLE);
	if (!rc && c->table)
		return objects_with_table(call, c);
	if (!rc)
		rc = need_obj(call, UVERBS_ATTR_CREATE_QP_SEND_CQ_HANDLE, "send_cq",
			      &c->send_cq);
	if (!rc)
		rc = need_obj(call, UVERBS_ATTR_CREATE_QP_RECV_CQ_HANDLE, "recv_cq",
			      &c->recv_cq);
	return rc;
}

static int qp_create(struct uv_call *call)
{
	struct uv_qp_conf c = { .async = uv_in_evfile(call,
						      UVERBS_ATTR_CREATE_QP_EVENT_FD) };
	struct uv_obj *qp = uv_in_obj(call, UVERBS_ATTR_CREATE_QP_HANDLE);
	uint32_t num;
	int rc = uv_in(call, UVERBS_ATTR_CREATE_QP_CAP, &c.cap, sizeof(c.cap));

	if (!rc)
		rc = check_type(call, uv_in64(call, UVERBS_ATTR_CREATE_QP_TYPE));
	if (!rc)
		rc = objects(call, &c);
	if (!rc)
		rc = uv_flags(call, UVERBS_ATTR_CREATE_QP_FLAGS, IOCTL_FLAGS, &c.flags);
	if (!rc && uv_attr(call, UVERBS_ATTR_CREATE_QP_SOURCE_QPN))
		rc = uv_refuse(call, EOPNOTSUPP, "source_qpn", "of a raw packet QP");
	if (rc)
		return rc;
	qp->user_handle = uv_in64(call, UVERBS_ATTR_CREATE_QP_USER_HANDLE);
	qp->qp.sig_all = c.flags & IB_UVERBS_QP_CREATE_SQ_SIG_ALL;
	c.flags &= ~(uint32_t)IB_UVERBS_QP_CREATE_SQ_SIG_ALL;
	rc = uv_qp_make(call, qp, &c);
	if (rc)
		return rc;
	num = uv_qp_num(qp);
	uv_out_or_zero(call, UVERBS_ATTR_CREATE_QP_RESP_CAP, &c.cap, sizeof(c.cap));
	return uv_out(call, UVERBS_ATTR_CREATE_QP_RESP_QP_NUM, &num, sizeof(num));
}

/* ---- create, older commands ---- */

static int handles(struct uv_call *call, const struct ib_uverbs_ex_create_qp *req,
		   struct uv_qp_conf *c)
{
	bool with_table = req->comp_mask & IB_UVERBS_CREATE_QP_MASK_IND_TABLE;
	int rc = 0;

	if (with_table)
		rc = uv_get(call, UVERBS_OBJECT_RWQ_IND_TBL, req->rwq_ind_tbl_handle,
			    "rwq_ind_tbl_handle", &c->table);
	if (!rc && with_table && (req->max_recv_wr || req->max_recv_sge || req->is_srq))
		rc = uv_refuse(call, EINVAL, "rwq_ind_tbl_handle", "and a receive queue");
	if (!rc && req->is_srq)
		rc = uv_refuse(call, ENOENT, "srq_handle", "%u: there are no SRQs",
			       req->srq_handle);
	if (!rc && !with_table)
		rc = uv_get(call, UVERBS_OBJECT_CQ, req->recv_cq_handle, "recv_cq_handle",
			    &c->recv_cq);
	if (!rc && (!with_table || req->max_send_wr))
		rc = uv_get(call, UVERBS_OBJECT_CQ, req->send_cq_handle, "send_cq_handle",
			    &c->send_cq);
	return rc ? rc
		  : uv_get(call, UVERBS_OBJECT_PD, req->pd_handle, "pd_handle", &c->pd);
}

static int check_write_flags(struct uv_call *call, uint32_t flags)
{
	if (flags & ~(uint32_t)WRITE_FLAGS)
		return uv_refuse(call, EINVAL, "create_flags", "0x%x", flags);
	if (flags & CREATE_SOURCE_QPN && !uv_capable(call, UV_CAP_NET_RAW))
		return uv_refuse(call, EPERM, "source_qpn", "without CAP_NET_RAW");
	return 0;
}

static int create_from(struct uv_call *call, const struct ib_uverbs_ex_create_qp *req,
		       struct ib_uverbs_create_qp_resp *resp)
{
	struct uv_qp_conf c = { .cap = { .max_send_wr = req->max_send_wr,
					 .max_recv_wr = req->max_recv_wr,
					 .max_send_sge = req->max_send_sge,
					 .max_recv_sge = req->max_recv_sge,
					 .max_inline_data = req->max_inline_data },
				.flags = req->create_flags };
	struct uv_obj *qp;
	int rc = check_type(call, req->qp_type);

	if (!rc)
		rc = uv_new(call, UVERBS_OBJECT_QP, &qp);
	if (!rc)
		rc = handles(call, req, &c);
	if (!rc)
		rc = check_write_flags(call, c.flags);
	if (rc)
		return rc;
	qp->user_handle = req->user_handle;
	qp->qp.sig_all = req->sq_sig_all;
	rc = uv_qp_make(call, qp, &c);
	if (rc)
		return rc;
	*resp = (struct ib_uverbs_create_qp_resp){ .qp_handle = qp->handle,
						   .qpn = uv_qp_num(qp),
						   .max_send_wr = c.cap.max_send_wr,
						   .max_recv_wr = c.cap.max_recv_wr,
						   .max_send_sge = c.cap.max_send_sge,
						   .max_recv_sge = c.cap.max_recv_sge,
						   .max_inline_data =
							   c.cap.max_inline_data };
	return 0;
}

static int write_create_qp(struct uv_call *call)
{
	struct ib_uverbs_create_qp_resp resp;
	struct ib_uverbs_ex_create_qp ex = { 0 };
	struct ib_uverbs_create_qp r;
	int rc = uv_req(call, &r, sizeof(r));

	if (rc)
		return rc;
	ex.user_handle = r.user_handle;
	ex.pd_handle = r.pd_handle;
	ex.send_cq_handle = r.send_cq_handle;
	ex.recv_cq_handle = r.recv_cq_handle;
	ex.srq_handle = r.srq_handle;
	ex.max_send_wr = r.max_send_wr;
	ex.max_recv_wr = r.max_recv_wr;
	ex.max_send_sge = r.max_send_sge;
	ex.max_recv_sge = r.max_recv_sge;
	ex.max_inline_data = r.max_inline_data;
	ex.sq_sig_all = r.sq_sig_all;
	ex.qp_type = r.qp_type;
	ex.is_srq = r.is_srq;
	rc = create_from(call, &ex, &resp);
	return rc ? rc : uv_resp(call, &resp, sizeof(resp));
}

static int ex_create_qp(struct uv_call *call)
{
	struct ib_uverbs_ex_create_qp_resp resp = { 0 };
	struct ib_uverbs_ex_create_qp req;
	int rc = uv_req(call, &req, sizeof(req));

	if (rc)
		return rc;
	if (req.comp_mask & ~(uint32_t)IB_UVERBS_CREATE_QP_SUP_COMP_MASK || req.reserved)
		return uv_refuse(call, EINVAL, "comp_mask", "0x%x", req.comp_mask);
	rc = create_from(call, &req, &resp.base);
	if (rc)
		return rc;
	resp.response_length = uv_resp_len(call, sizeof(resp));
	return uv_resp(call, &resp, sizeof(resp));
}

/* ---- modify ---- */

static const struct { /* what raw packet QPs can do of qp_state_table */
	uint8_t from, to;
	uint32_t need, may;
} ways[] = {
	{ RESET, RESET, 0, 0 },
	{ RESET, INIT, MASK_PORT, 0 },
	{ INIT, INIT, 0, 0 },
	{ INIT, RTR, 0, 0 },
	{ INIT, RESET, 0, 0 },
	{ INIT, ERR, 0, 0 },
	{ RTR, RTS, 0, MASK_RATE_LIMIT },
	{ RTR, RESET, 0, 0 },
	{ RTR, ERR, 0, 0 },
	{ RTS, RTS, 0, MASK_RATE_LIMIT },
	{ RTS, RESET, 0, 0 },
	{ RTS, ERR, 0, 0 },
	{ SQE, RTS, 0, 0 },
	{ SQE, RESET, 0, 0 },
	{ SQE, ERR, 0, 0 },
	{ ERR, RESET, 0, 0 },
	{ ERR, ERR, 0, 0 },
};

static bool way_is_ok(uint8_t from, uint8_t to, uint32_t mask)
{
	for (size_t i = 0; i < UV_COUNT(ways); i++)
		if (ways[i].from == from && ways[i].to == to)
			return (mask & ways[i].need) == ways[i].need &&
			       !(mask & ~(ways[i].need | ways[i].may | MASK_STATE));
	return false;
}

static int check_modify_driver(struct uv_call *call)
{
	struct mlx5_ib_modify_qp d;
	size_t len;
	int rc;

	uv_uhw(call, &len);
	if (!len)
		return 0;
	rc = uv_uhw_in(call, &d, sizeof(d), sizeof(d));
	if (rc)
		return rc;
	if (d.comp_mask || d.burst_info.reserved)
		return uv_refuse(call, EOPNOTSUPP, "driver data", "comp_mask 0x%x",
				 d.comp_mask);
	if (d.burst_info.max_burst_sz || d.burst_info.typical_pkt_sz)
		return uv_refuse(call, EINVAL, "driver data",
				 "burst size without a rate limit");
	return 0;
}

static int modify(struct uv_call *call, const struct ib_uverbs_ex_modify_qp *req)
{
	const struct ib_uverbs_modify_qp *r = &req->base;
	struct uv_obj *qp;
	uint8_t to;
	int rc = uv_get(call, UVERBS_OBJECT_QP, r->qp_handle, "qp_handle", &qp);

	if (rc)
		return rc;
	if (r->attr_mask & MASK_PORT && r->port_num != 1)
		return uv_refuse(call, EINVAL, "port_num", "%u", r->port_num);
	if (qp->qp.rss)
		return uv_refuse(call, ENOSYS, "qp_handle", "%u spreads frames only",
				 r->qp_handle);
	rc = check_modify_driver(call);
	if (rc)
		return rc;
	to = r->attr_mask & MASK_STATE ? r->qp_state : qp->qp.state;
	if (!way_is_ok(qp->qp.state, to, r->attr_mask))
		return uv_refuse(call, EINVAL, "qp_state",
				 "from %u to %u with attributes 0x%x", qp->qp.state, to,
				 r->attr_mask);
	if (r->attr_mask & MASK_RATE_LIMIT && req->rate_limit)
		return uv_refuse(call, EOPNOTSUPP, "rate_limit",
				 "capability packet_pacing is 0");
	return qp->qp.state == RESET && to == RESET
		       ? 0
		       : uv_qp_to(call, qp, qp->qp.state, to);
}

static int write_modify_qp(struct uv_call *call)
{
	struct ib_uverbs_ex_modify_qp req = { 0 };
	int rc = uv_req(call, &req.base, sizeof(req.base));

	if (!rc && req.base.attr_mask & ~MASK_STANDARD)
		rc = uv_refuse(call, EOPNOTSUPP, "attr_mask", "0x%x", req.base.attr_mask);
	return rc ? rc : modify(call, &req);
}

static int ex_modify_qp(struct uv_call *call)
{
	struct ib_uverbs_ex_modify_qp_resp resp = { 0 };
	struct ib_uverbs_ex_modify_qp req;
	int rc = uv_req(call, &req, sizeof(req));

	if (!rc && req.base.attr_mask & ~(MASK_STANDARD | MASK_RATE_LIMIT))
		rc = uv_refuse(call, EOPNOTSUPP, "attr_mask", "0x%x", req.base.attr_mask);
	if (!rc)
		rc = modify(call, &req);
	if (rc)
		return rc;
	resp.response_length = uv_resp_len(call, sizeof(resp));
	return uv_resp(call, &resp, sizeof(resp));
}

/* ---- query and destroy ---- */

static int write_query_qp(struct uv_call *call)
{
	struct ib_uverbs_query_qp_resp resp = { .port_num = 1 };
	struct ib_uverbs_query_qp req;
	struct uv_obj *qp;
	int rc = uv_req(call, &req, sizeof(req));

	if (!rc)
		rc = uv_get(call, UVERBS_OBJECT_QP, req.qp_handle, "qp_handle", &qp);
	if (rc)
		return rc;
	if (qp->qp.rss)
		return uv_refuse(call, ENOSYS, "qp_handle", "%u spreads frames only",
				 req.qp_handle);
	rc = uv_qp_state(call, qp);
	if (rc)
		return rc;
	resp.qp_state = resp.cur_qp_state = qp->qp.state;
	resp.max_recv_wr = qp->qp.rq_entries;
	resp.max_recv_sge = qp->qp.rq_max_gs;
	resp.sq_sig_all = qp->qp.sig_all;
	return uv_resp(call, &resp, sizeof(resp));
}

static int write_destroy_qp(struct uv_call *call)
{
	struct ib_uverbs_destroy_qp_resp resp = { 0 };
	struct ib_uverbs_destroy_qp req;
	struct uv_obj *qp;
	int rc = uv_req(call, &req, sizeof(req));

	if (!rc)
		rc = uv_destroy(call, UVERBS_OBJECT_QP, req.qp_handle, &qp);
	if (rc)
		return rc;
	resp.events_reported = qp->async_events;
	return uv_resp(call, &resp, sizeof(resp));
}

static int qp_destroy(struct uv_call *call)
{
	struct ib_uverbs_destroy_qp_resp resp = { .events_reported =
							  call->gone->async_events };

	return uv_out(call, UVERBS_ATTR_DESTROY_QP_RESP, &resp, sizeof(resp));
}

/* ---- tables ---- */

const struct uv_write uv_writes_qp[] = {
	{ IB_USER_VERBS_CMD_CREATE_QP, "CREATE_QP", sizeof(struct ib_uverbs_create_qp),
	  sizeof(struct ib_uverbs_create_qp_resp), write_create_qp },
	{ IB_USER_VERBS_CMD_MODIFY_QP, "MODIFY_QP", sizeof(struct ib_uverbs_modify_qp), 0,
	  write_modify_qp },
	{ IB_USER_VERBS_CMD_QUERY_QP, "QUERY_QP", sizeof(struct ib_uverbs_query_qp),
	  sizeof(struct ib_uverbs_query_qp_resp), write_query_qp },
	{ IB_USER_VERBS_CMD_DESTROY_QP, "DESTROY_QP", sizeof(struct ib_uverbs_destroy_qp),
	  sizeof(struct ib_uverbs_destroy_qp_resp), write_destroy_qp },
	{ UV_EX(CREATE_QP), "EX_CREATE_QP",
	  UV_END_OF(struct ib_uverbs_ex_create_qp, comp_mask),
	  UV_END_OF(struct ib_uverbs_ex_create_qp_resp, response_length), ex_create_qp },
	{ UV_EX(MODIFY_QP), "EX_MODIFY_QP",
	  UV_END_OF(struct ib_uverbs_ex_modify_qp, base),
	  UV_END_OF(struct ib_uverbs_ex_modify_qp_resp, response_length), ex_modify_qp },
	{ .name = NULL },
};

const struct uv_method uv_methods_qp[] = {
	{ UVERBS_OBJECT_QP, UVERBS_METHOD_QP_CREATE, true, "QP_CREATE",
	  UV_ATTRS(UV_OBJ(UVERBS_ATTR_CREATE_QP_HANDLE, UVERBS_OBJECT_QP, UV_NEW,
			  UV_MANDATORY),
		   UV_OBJ(UVERBS_ATTR_CREATE_QP_XRCD_HANDLE, UVERBS_OBJECT_XRCD, UV_READ,
			  UV_OPTIONAL),
		   UV_OBJ(UVERBS_ATTR_CREATE_QP_PD_HANDLE, UVERBS_OBJECT_PD, UV_READ,
			  UV_OPTIONAL),
		   UV_OBJ(UVERBS_ATTR_CREATE_QP_SRQ_HANDLE, UVERBS_OBJECT_SRQ, UV_READ,
			  UV_OPTIONAL),
		   UV_OBJ(UVERBS_ATTR_CREATE_QP_SEND_CQ_HANDLE, UVERBS_OBJECT_CQ, UV_READ,
			  UV_OPTIONAL),
		   UV_OBJ(UVERBS_ATTR_CREATE_QP_RECV_CQ_HANDLE, UVERBS_OBJECT_CQ, UV_READ,
			  UV_OPTIONAL),
		   UV_OBJ(UVERBS_ATTR_CREATE_QP_IND_TABLE_HANDLE,
			  UVERBS_OBJECT_RWQ_IND_TBL, UV_READ, UV_OPTIONAL),
		   UV_IN_TYPE(UVERBS_ATTR_CREATE_QP_USER_HANDLE, uint64_t, UV_MANDATORY),
		   UV_IN_STRUCT(UVERBS_ATTR_CREATE_QP_CAP, struct ib_uverbs_qp_cap,
				max_inline_data, UV_MANDATORY),
		   UV_CONST_IN(UVERBS_ATTR_CREATE_QP_TYPE, UV_MANDATORY),
		   UV_FLAGS_IN(UVERBS_ATTR_CREATE_QP_FLAGS, UV_OPTIONAL),
		   UV_IN_TYPE(UVERBS_ATTR_CREATE_QP_SOURCE_QPN, uint32_t, UV_OPTIONAL),
		   UV_EVFD(UVERBS_ATTR_CREATE_QP_EVENT_FD, UV_EV_ASYNC, UV_READ,
			   UV_OPTIONAL),
		   UV_OUT_STRUCT(UVERBS_ATTR_CREATE_QP_RESP_CAP, struct ib_uverbs_qp_cap,
				 max_inline_data, UV_MANDATORY),
		   UV_OUT_TYPE(UVERBS_ATTR_CREATE_QP_RESP_QP_NUM, uint32_t, UV_MANDATORY),
		   UV_UHW),
	  .run = qp_create },
	{ UVERBS_OBJECT_QP, UVERBS_METHOD_QP_DESTROY, false, "QP_DESTROY",
	  UV_ATTRS(UV_OBJ(UVERBS_ATTR_DESTROY_QP_HANDLE, UVERBS_OBJECT_QP, UV_DESTROY,
			  UV_MANDATORY),
		   UV_OUT_TYPE(UVERBS_ATTR_DESTROY_QP_RESP,
			       struct ib_uverbs_destroy_qp_resp, UV_MANDATORY)),
	  .run = qp_destroy },
	{ .name = NULL },
};
