/* uverbs/m_wq.c - receive queues by themselves, and tables of them
 *
 * ibv_create_wq() and ibv_create_rwq_ind_table(): the receive side of programs that
 * do not use DevX. A QP made with a table (qp.c) spreads frames over its queues.
 *
 * Sources: Linux 6.1 core/uverbs_cmd.c (ib_uverbs_ex_create_wq() and its kin),
 * uverbs_std_types_wq.c; hw/mlx5/qp.c (mlx5_ib_create_wq(), create_rq(),
 * mlx5_ib_modify_wq(), mlx5_ib_create_rwq_ind_table()).
 */
#include "uverbs.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../core/layout.h"
#include "opcode.h"

enum { WQS_RESET, WQS_RDY, WQS_ERR };		       /* enum ib_wq_state */
enum { WQ_STATE = 1, WQ_CUR_STATE = 2, WQ_FLAGS = 4 }; /* enum ib_wq_attr_mask */
#define WQT_RQ 0
#define WQ_FLAGS_KNOWN \
	(IB_UVERBS_WQ_FLAGS_CVLAN_STRIPPING | IB_UVERBS_WQ_FLAGS_SCATTER_FCS | \
	 IB_UVERBS_WQ_FLAGS_DELAY_DROP | IB_UVERBS_WQ_FLAGS_PCI_WRITE_END_PADDING)

/* Strides of one work request: 512 << n, with n below 0 for the extended range (fw_map). */
#define LOG_STRIDES_BASE 9
#define LOG_STRIDE_BASE	 6
#define LOG_STRIDE_MAX	 13
#define LOG_STRIDES_MAX	 16

struct wq_conf {
	uint64_t user_handle, type;
	uint32_t max_wr, max_sge, flags;
	struct uv_obj *pd, *cq;
	struct uv_evfile *async;
	struct mlx5_ib_create_wq drv;
};

/* ---- create ---- */

static int check_striding(struct uv_call *call, const struct mlx5_ib_create_wq *d)
{
	unsigned min = uv_cap(call->port, "hca.ext_stride_num_range") ? 3
								      : LOG_STRIDES_BASE;

	if (!uv_cap(call->port, "hca.striding_rq"))
		return uv_refuse(call, EOPNOTSUPP, "comp_mask",
				 "capability striding_rq is 0");
	if (d->single_stride_log_num_of_bytes < LOG_STRIDE_BASE ||
	    d->single_stride_log_num_of_bytes > LOG_STRIDE_MAX)
		return uv_refuse(call, EINVAL, "single_stride_log_num_of_bytes", "%u",
				 d->single_stride_log_num_of_bytes);
	if (d->single_wqe_log_num_of_strides < min ||
	    d->single_wqe_log_num_of_strides > LOG_STRIDES_MAX)
		return uv_refuse(call, EINVAL, "single_wqe_log_num_of_strides", "%u",
				 d->single_wqe_log_num_of_strides);
	return 0;
}

static int check_driver(struct uv_call *call, struct wq_conf *c)
{
	struct mlx5_ib_create_wq *d = &c->drv;
	size_t least =
		UV_END_OF(struct mlx5_ib_create_wq, single_stride_log_num_of_bytes);
	size_t out = uv_uhw_out_len(call);
	int rc;

	if (out && out < sizeof(struct mlx5_ib_create_wq_resp))
		return uv_refuse(call, EINVAL, "driver data", "room for %zu bytes", out);
	if (c->flags & IB_UVERBS_WQ_FLAGS_DELAY_DROP &&
	    !uv_capable(call, UV_CAP_SYS_RAWIO))
		return uv_refuse(call, EPERM, "create_flags",
				 "delay drop without CAP_SYS_RAWIO");
	if (c->type != WQT_RQ)
		return uv_refuse(call, EINVAL, "wq_type", "%llu",
				 (unsigned long long)c->type);
	rc = uv_uhw_in(call, d, sizeof(*d), least);
	if (rc)
		return rc;
	if (d->comp_mask & ~(uint32_t)MLX5_IB_CREATE_WQ_STRIDING_RQ)
		return uv_refuse(call, EOPNOTSUPP, "comp_mask", "0x%x", d->comp_mask);
	return d->comp_mask ? check_striding(call, d) : 0;
}

static int check_size(struct uv_call *call, const struct wq_conf *c)
{
	const struct mlx5_ib_create_wq *d = &c->drv;

	if (c->max_wr > 1u << uv_cap(call->port, "hca.log_max_wq_sz"))
		return uv_refuse(call, EINVAL, "max_wr", "%u", c->max_wr);
	if (!d->rq_wqe_count || d->rq_wqe_shift > 31 ||
	    (uint64_t)d->rq_wqe_count << d->rq_wqe_shift > INT32_MAX)
		return uv_refuse(call, EINVAL, "rq_wqe_count", "%u of 2^%u bytes",
				 d->rq_wqe_count, d->rq_wqe_shift);
	return 0;
}

static int set_flags(struct uv_call *call, uint32_t flags, uint8_t *rqc)
{
	bool offloads = uv_cap(call->port, "hca.eth_net_offloads");
	uint8_t *wq = CX_AT(rqc, rqc, wq);
	uint32_t known = (uv_cap(call->port, "hca.end_pad")
				  ? IB_UVERBS_WQ_FLAGS_PCI_WRITE_END_PADDING
				  : 0u) |
			 (offloads && uv_cap(call->port, "eth.vlan_cap")
				  ? IB_UVERBS_WQ_FLAGS_CVLAN_STRIPPING
				  : 0u) |
			 (offloads && uv_cap(call->port, "eth.scatter_fcs")
				  ? IB_UVERBS_WQ_FLAGS_SCATTER_FCS
				  : 0u) |
			 (uv_cap(call->port, "hca.rq_delay_drop")
				  ? IB_UVERBS_WQ_FLAGS_DELAY_DROP
				  : 0u);

	if (flags & WQ_FLAGS_KNOWN & ~known)
		return uv_refuse(call, EOPNOTSUPP, "create_flags", "0x%x of 0x%x", flags,
				 known);
	CX_SET(wq, wq, end_padding_mode,
	       !!(flags & IB_UVERBS_WQ_FLAGS_PCI_WRITE_END_PADDING));
	CX_SET(rqc, rqc, vsd, !(flags & IB_UVERBS_WQ_FLAGS_CVLAN_STRIPPING));
	CX_SET(rqc, rqc, scatter_fcs, !!(flags & IB_UVERBS_WQ_FLAGS_SCATTER_FCS));
	CX_SET(rqc, rqc, delay_drop_en, !!(flags & IB_UVERBS_WQ_FLAGS_DELAY_DROP));
	return 0;
}

static void set_striding(const struct mlx5_ib_create_wq *d, uint8_t *wq)
{
	if (!d->comp_mask) {
		CX_SET(wq, wq, wq_type, 1); /* cyclic */
		return;
	}
	CX_SET(wq, wq, wq_type, 3); /* cyclic striding */
	CX_SET(wq, wq, two_byte_shift_en, !!d->two_byte_shift_en);
	CX_SET(wq, wq, log_wqe_stride_size,
	       d->single_stride_log_num_of_bytes - LOG_STRIDE_BASE);
	CX_SET(wq, wq, log_wqe_num_of_strides,
	       (d->single_wqe_log_num_of_strides - LOG_STRIDES_BASE) & 0xf);
}

static int fill_rq(struct uv_call *call, const struct wq_conf *c, uint8_t *rqc)
{
	const struct mlx5_ib_create_wq *d = &c->drv;
	uint8_t *wq = CX_AT(rqc, rqc, wq), format = 0;
	int rc = uv_ts_format(call, c->cq, "hca.rq_ts_format", &format);

	assert(c->cq); /* mandatory, the method's row says */
	CX_SET(rqc, rqc, ts_format, format);
	CX_SET(rqc, rqc, user_index, d->user_index);
	CX_SET(rqc, rqc, cqn, c->cq->num);
	CX_SET(rqc, rqc, flush_in_error_en, 1);
	CX_SET(wq, wq, wq_signature, !!(d->flags & MLX5_WQ_FLAG_SIGNATURE));
	set_striding(d, wq);
	return rc ? rc : set_flags(call, c->flags, rqc);
}

static int make_memory(struct uv_call *call, struct uv_obj *wq, const struct wq_conf *c,
		       uint8_t *rqc)
{
	const struct mlx5_ib_create_wq *d = &c->drv;
	struct uv_ring r = { .pdn = c->pd->num,
			     .log_stride = d->rq_wqe_shift,
			     .log_size = 31 - (unsigned)__builtin_clz(d->rq_wqe_count) };
	int rc = uv_ring_umem(call, wq, "buf_addr", d->buf_addr,
			      (uint64_t)d->rq_wqe_count << d->rq_wqe_shift, &r.ring);

	if (!rc)
		rc = uv_umem_of(call, wq, d->db_addr, 8, 0, &r.record);
	if (!rc)
		uv_fill_wq(CX_AT(rqc, rqc, wq), &r);
	return rc;
}

static void answer_driver(struct uv_call *call)
{
	uint32_t length = sizeof(length);

	if (uv_uhw_out_len(call))
		uv_uhw_out(call, &length, sizeof(length));
}

static int make_wq(struct uv_call *call, struct uv_obj *wq, struct wq_conf *c)
{
	uint8_t in[CX_BYTES(create_rq_in)] = { 0 }, *rqc = CX_AT(create_rq_in, in, ctx);
	int rc = check_driver(call, c);

	if (!rc)
		rc = check_size(call, c);
	if (!rc)
		rc = fill_rq(call, c, rqc);
	if (rc)
		return rc;
	uv_obj_use(wq, c->pd);
	uv_obj_use(wq, c->cq);
	uv_report_async(wq, c->async);
	uv_undo_push(wq, UV_UNDO_WATCH, 0, 0, NULL);
	rc = make_memory(call, wq, c, rqc);
	if (rc)
		return rc;
	wq->user_handle = c->user_handle;
	CX_SET(create_rq_in, in, opcode, CX_OP_CREATE_RQ);
	rc = uv_create(call, wq, in, sizeof(in), "CREATE_RQ", CX_OP_DESTROY_RQ, &wq->num);
	if (!rc)
		rc = uv_watch_add(wq, CX_RQ, wq->num);
	if (!rc)
		answer_driver(call);
	return rc;
}

static int wq_create(struct uv_call *call)
{
	struct uv_obj *wq = uv_in_obj(call, UVERBS_ATTR_CREATE_WQ_HANDLE);
	struct wq_conf c = {
		.user_handle = uv_in64(call, UVERBS_ATTR_CREATE_WQ_USER_HANDLE),
		.type = uv_in64(call, UVERBS_ATTR_CREATE_WQ_TYPE),
		.max_wr = uv_in32(call, UVERBS_ATTR_CREATE_WQ_MAX_WR),
		.max_sge = uv_in32(call, UVERBS_ATTR_CREATE_WQ_MAX_SGE),
		.pd = uv_in_obj(call, UVERBS_ATTR_CREATE_WQ_PD_HANDLE),
		.cq = uv_in_obj(call, UVERBS_ATTR_CREATE_WQ_CQ_HANDLE),
		.async = uv_in_evfile(call, UVERBS_ATTR_CREATE_WQ_EVENT_FD),
	};
	int rc = uv_flags(call, UVERBS_ATTR_CREATE_WQ_FLAGS, WQ_FLAGS_KNOWN, &c.flags);

	if (!rc && !c.cq)
		rc = uv_refuse(call, ENOENT, "cq", "missing");
	if (!rc)
		rc = make_wq(call, wq, &c);
	if (rc)
		return rc;
	uv_out(call, UVERBS_ATTR_CREATE_WQ_RESP_MAX_WR, &c.max_wr, sizeof(c.max_wr));
	uv_out(call, UVERBS_ATTR_CREATE_WQ_RESP_MAX_SGE, &c.max_sge, sizeof(c.max_sge));
	uv_out_if(call, UVERBS_ATTR_CREATE_WQ_RESP_WQ_NUM, &wq->num, sizeof(wq->num));
	return 0;
}

static int ex_create_wq(struct uv_call *call)
{
	struct ib_uverbs_ex_create_wq_resp resp = { 0 };
	struct ib_uverbs_ex_create_wq req;
	struct wq_conf c = { 0 };
	struct uv_obj *wq;
	int rc = uv_req(call, &req, sizeof(req));

	if (!rc && req.comp_mask)
		rc = uv_refuse(call, EOPNOTSUPP, "comp_mask", "0x%x", req.comp_mask);
	if (!rc)
		rc = uv_new(call, UVERBS_OBJECT_WQ, &wq);
	if (!rc)
		rc = uv_get(call, UVERBS_OBJECT_PD, req.pd_handle, "pd_handle", &c.pd);
	if (!rc)
		rc = uv_get(call, UVERBS_OBJECT_CQ, req.cq_handle, "cq_handle", &c.cq);
	if (rc)
		return rc;
	c.user_handle = req.user_handle;
	c.type = req.wq_type;
	c.max_wr = req.max_wr;
	c.max_sge = req.max_sge;
	c.flags = req.create_flags;
	rc = make_wq(call, wq, &c);
	if (rc)
		return rc;
	resp.wq_handle = wq->handle;
	resp.max_wr = c.max_wr;
	resp.max_sge = c.max_sge;
	resp.wqn = wq->num;
	resp.response_length = uv_resp_len(call, sizeof(resp));
	return uv_resp(call, &resp, sizeof(resp));
}

/* ---- modify ---- */

static int check_modify(struct uv_call *call, const struct ib_uverbs_ex_modify_wq *req)
{
	struct mlx5_ib_modify_wq d;
	int rc;

	if ((req->attr_mask & WQ_CUR_STATE && req->curr_wq_state > WQS_ERR) ||
	    (req->attr_mask & WQ_STATE && req->wq_state > WQS_ERR))
		return uv_refuse(call, EINVAL, "wq_state", "%u from %u", req->wq_state,
				 req->curr_wq_state);
	rc = uv_uhw_in(call, &d, sizeof(d), sizeof(d));
	if (!rc && (d.comp_mask || d.reserved))
		rc = uv_refuse(call, EOPNOTSUPP, "driver data", "comp_mask 0x%x",
			       d.comp_mask);
	return rc;
}

static int modify_flags(struct uv_call *call, const struct ib_uverbs_ex_modify_wq *req,
			uint64_t *mask, uint8_t *rqc)
{
	if (!(req->attr_mask & WQ_FLAGS))
		return 0;
	if (req->flags_mask & IB_UVERBS_WQ_FLAGS_PCI_WRITE_END_PADDING)
		return uv_refuse(call, EOPNOTSUPP, "flags_mask", "0x%x: end padding",
				 req->flags_mask);
	if (!(req->flags_mask & IB_UVERBS_WQ_FLAGS_CVLAN_STRIPPING))
		return 0;
	if (!uv_cap(call->port, "hca.eth_net_offloads") ||
	    !uv_cap(call->port, "eth.vlan_cap"))
		return uv_refuse(call, EOPNOTSUPP, "flags_mask",
				 "capability vlan_cap is 0");
	*mask = UV_RQ_VSD;
	CX_SET(rqc, rqc, vsd, !(req->flags & IB_UVERBS_WQ_FLAGS_CVLAN_STRIPPING));
	return 0;
}

static uint8_t device_state(uint32_t state)
{
	return state == WQS_ERR ? UV_Q_ERR : (uint8_t)state;
}

/* Without a word from the program: see change() of qp.c. */
static int state_now(struct uv_call *call, struct uv_obj *wq)
{
	uint8_t state;
	int rc = uv_rq_ask(call, wq, wq->num, &state);

	if (!rc)
		wq->wq.state = state == UV_Q_ERR ? WQS_ERR : state;
	return rc;
}

/* A queue that becomes ready gets the port's counters; that takes the place of other changes. */
static int modify(struct uv_call *call, struct uv_obj *wq,
		  const struct ib_uverbs_ex_modify_wq *req)
{
	uint8_t rqc[CX_BYTES(rqc)] = { 0 };
	uint32_t from = req->curr_wq_state, to;
	uint64_t mask = 0;
	int rc = modify_flags(call, req, &mask, rqc);

	if (!rc && !(req->attr_mask & WQ_CUR_STATE)) {
		rc = state_now(call, wq);
		from = wq->wq.state;
	}
	if (rc)
		return rc;
	to = req->attr_mask & WQ_STATE ? req->wq_state : from;
	if (from == WQS_RESET && to == WQS_RDY &&
	    uv_cap(call->port, "hca.modify_rq_counter_set_id")) {
		mask = UV_RQ_COUNTER;
		CX_SET(rqc, rqc, counter_set_id, call->port->q_counter);
	}
	rc = uv_rq_to(call, wq, wq->num, device_state(from), device_state(to), mask, rqc);
	if (!rc)
		wq->wq.state = (uint8_t)to;
	return rc;
}

static int ex_modify_wq(struct uv_call *call)
{
	struct ib_uverbs_ex_modify_wq req;
	struct uv_obj *wq;
	int rc = uv_req(call, &req, sizeof(req));

	if (!rc &&
	    (!req.attr_mask || req.attr_mask > (WQ_STATE | WQ_CUR_STATE | WQ_FLAGS)))
		rc = uv_refuse(call, EINVAL, "attr_mask", "0x%x", req.attr_mask);
	if (!rc)
		rc = uv_get(call, UVERBS_OBJECT_WQ, req.wq_handle, "wq_handle", &wq);
	if (!rc)
		rc = check_modify(call, &req);
	return rc ? rc : modify(call, wq, &req);
}

/* ---- destroy ---- */

static int wq_destroy(struct uv_call *call)
{
	return uv_out(call, UVERBS_ATTR_DESTROY_WQ_RESP, &call->gone->async_events,
		      sizeof(call->gone->async_events));
}

static int ex_destroy_wq(struct uv_call *call)
{
	struct ib_uverbs_ex_destroy_wq_resp resp = { 0 };
	struct ib_uverbs_ex_destroy_wq req;
	struct uv_obj *wq;
	int rc = uv_req(call, &req, sizeof(req));

	if (!rc && req.comp_mask)
		rc = uv_refuse(call, EOPNOTSUPP, "comp_mask", "0x%x", req.comp_mask);
	if (!rc)
		rc = uv_destroy(call, UVERBS_OBJECT_WQ, req.wq_handle, &wq);
	if (rc)
		return rc;
	resp.events_reported = wq->async_events;
	resp.response_length = uv_resp_len(call, sizeof(resp));
	return uv_resp(call, &resp, sizeof(resp));
}

/* ---- tables of receive queues ---- */

#define MAX_LOG_TABLE 0x0d /* IB_USER_VERBS_MAX_LOG_IND_TBL_SIZE */

/* The handles follow the struct; behind them only zeroes. */
static int read_handles(struct uv_call *call, struct uv_obj **wq, uint32_t n)
{
	size_t len, at = sizeof(struct ib_uverbs_ex_create_rwq_ind_table),
		    bytes = 4 * (size_t)n;
	const uint8_t *p = uv_req_bytes(call, &len);

	if (len < at + bytes)
		return uv_refuse(call, ENOSPC, "wq_handles", "%zu bytes for %u", len - at,
				 n);
	if (!uv_is_zero(p + at + bytes, len - at - bytes))
		return uv_refuse(call, EOPNOTSUPP, "wq_handles", "something follows");
	for (uint32_t i = 0; i < n; i++) {
		uint32_t handle;
		int rc;

		memcpy(&handle, p + at + 4 * (size_t)i, sizeof(handle));
		rc = uv_get(call, UVERBS_OBJECT_WQ, handle, "wq_handles", &wq[i]);
		if (rc)
			return rc;
	}
	return 0;
}

static int check_table_driver(struct uv_call *call, uint32_t log_size)
{
	size_t len, out = uv_uhw_out_len(call);
	const uint8_t *p = uv_uhw(call, &len);

	if (!uv_is_zero(p, len))
		return uv_refuse(call, EOPNOTSUPP, "driver data", "not zero");
	if (log_size > uv_cap(call->port, "hca.log_max_rqt_size"))
		return uv_refuse(call, EINVAL, "log_ind_tbl_size", "%u", log_size);
	if (out && out < sizeof(struct mlx5_ib_create_rwq_ind_tbl_resp))
		return uv_refuse(call, EINVAL, "driver data", "room for %zu bytes", out);
	return 0;
}

static int create_rqt(struct uv_call *call, struct uv_obj *table,
		      struct uv_obj *const *wq, uint32_t n)
{
	size_t len = CX_BYTES(create_rqt_in) + 4 * (size_t)n;
	uint8_t *in = calloc(1, len), *rqtc;
	int rc;

	if (!in)
		return -ENOMEM;
	rqtc = CX_AT(create_rqt_in, in, rqt_context);
	CX_SET(create_rqt_in, in, opcode, CX_OP_CREATE_RQT);
	CX_SET(rqtc, rqtc, rqt_max_size, n);
	CX_SET(rqtc, rqtc, rqt_actual_size, n);
	for (uint32_t i = 0; i < n; i++)
		cx_put_be32(in + CX_BYTES(create_rqt_in) + 4 * (size_t)i, wq[i]->num);
	rc = uv_create(call, table, in, len, "CREATE_RQT", CX_OP_DESTROY_RQT,
		       &table->num);
	free(in);
	return rc;
}

static int make_table(struct uv_call *call, uint32_t log_size, struct uv_obj **ret)
{
	uint32_t n = 1u << log_size;
	struct uv_obj **wq = calloc(n, sizeof(struct uv_obj *));
	int rc = wq ? read_handles(call, wq, n) : -ENOMEM;

	if (!rc)
		rc = uv_new(call, UVERBS_OBJECT_RWQ_IND_TBL, ret);
	if (!rc)
		rc = check_table_driver(call, log_size);
	if (rc) {
		free(wq);
		return rc;
	}
	uv_obj_use_all(*ret, wq, n);
	rc = create_rqt(call, *ret, wq, n);
	if (!rc)
		answer_driver(call);
	return rc;
}

static int ex_create_table(struct uv_call *call)
{
	struct ib_uverbs_ex_create_rwq_ind_table_resp resp = { 0 };
	struct ib_uverbs_ex_create_rwq_ind_table req;
	struct uv_obj *table;
	size_t len;
	int rc;

	memcpy(&req, uv_req_bytes(call, &len),
	       sizeof(req)); /* the table of methods checked it */
	if (req.comp_mask)
		return uv_refuse(call, EOPNOTSUPP, "comp_mask", "0x%x", req.comp_mask);
	if (req.log_ind_tbl_size > MAX_LOG_TABLE)
		return uv_refuse(call, EINVAL, "log_ind_tbl_size", "%u",
				 req.log_ind_tbl_size);
	rc = make_table(call, req.log_ind_tbl_size, &table);
	if (rc)
		return rc;
	table->rwq.log_size = (uint8_t)req.log_ind_tbl_size;
	resp.ind_tbl_handle = table->handle;
	resp.ind_tbl_num = table->num;
	resp.response_length = uv_resp_len(call, sizeof(resp));
	return uv_resp(call, &resp, sizeof(resp));
}

static int ex_destroy_table(struct uv_call *call)
{
	struct ib_uverbs_ex_destroy_rwq_ind_table req;
	int rc = uv_req(call, &req, sizeof(req));

	if (!rc && req.comp_mask)
		rc = uv_refuse(call, EOPNOTSUPP, "comp_mask", "0x%x", req.comp_mask);
	return rc ? rc
		  : uv_destroy(call, UVERBS_OBJECT_RWQ_IND_TBL, req.ind_tbl_handle, NULL);
}

/* ---- tables ---- */

#define EX(cmd, req, req_last, resp, resp_last, run) \
	{ \
		IB_USER_VERBS_EX_CMD_##cmd | IB_USER_VERBS_CMD_FLAG_EXTENDED, \
			"EX_" #cmd, UV_END_OF(struct req, req_last), \
			UV_END_OF(struct resp, resp_last), run \
	}

const struct uv_write uv_writes_wq[] = {
	EX(CREATE_WQ, ib_uverbs_ex_create_wq, max_sge, ib_uverbs_ex_create_wq_resp, wqn,
	   ex_create_wq),
	EX(DESTROY_WQ, ib_uverbs_ex_destroy_wq, wq_handle, ib_uverbs_ex_destroy_wq_resp,
	   reserved, ex_destroy_wq),
	{ UV_EX(MODIFY_WQ), "EX_MODIFY_WQ",
	  UV_END_OF(struct ib_uverbs_ex_modify_wq, curr_wq_state), 0, ex_modify_wq },
	EX(CREATE_RWQ_IND_TBL, ib_uverbs_ex_create_rwq_ind_table, log_ind_tbl_size,
	   ib_uverbs_ex_create_rwq_ind_table_resp, ind_tbl_num, ex_create_table),
	{ UV_EX(DESTROY_RWQ_IND_TBL), "EX_DESTROY_RWQ_IND_TBL",
	  sizeof(struct ib_uverbs_ex_destroy_rwq_ind_table), 0, ex_destroy_table },
	{ .name = NULL },
};

const struct uv_method uv_methods_wq[] = {
	{ UVERBS_OBJECT_WQ, UVERBS_METHOD_WQ_CREATE, true, "WQ_CREATE",
	  UV_ATTRS(UV_OBJ(UVERBS_ATTR_CREATE_WQ_HANDLE, UVERBS_OBJECT_WQ, UV_NEW,
			  UV_MANDATORY),
		   UV_OBJ(UVERBS_ATTR_CREATE_WQ_PD_HANDLE, UVERBS_OBJECT_PD, UV_READ,
			  UV_MANDATORY),
		   UV_CONST_IN(UVERBS_ATTR_CREATE_WQ_TYPE, UV_MANDATORY),
		   UV_IN_TYPE(UVERBS_ATTR_CREATE_WQ_USER_HANDLE, uint64_t, UV_MANDATORY),
		   UV_IN_TYPE(UVERBS_ATTR_CREATE_WQ_MAX_WR, uint32_t, UV_MANDATORY),
		   UV_IN_TYPE(UVERBS_ATTR_CREATE_WQ_MAX_SGE, uint32_t, UV_MANDATORY),
		   UV_FLAGS_IN(UVERBS_ATTR_CREATE_WQ_FLAGS, UV_MANDATORY),
		   UV_OBJ(UVERBS_ATTR_CREATE_WQ_CQ_HANDLE, UVERBS_OBJECT_CQ, UV_READ,
			  UV_OPTIONAL),
		   UV_EVFD(UVERBS_ATTR_CREATE_WQ_EVENT_FD, UV_EV_ASYNC, UV_READ,
			   UV_OPTIONAL),
		   UV_OUT_TYPE(UVERBS_ATTR_CREATE_WQ_RESP_MAX_WR, uint32_t, UV_MANDATORY),
		   UV_OUT_TYPE(UVERBS_ATTR_CREATE_WQ_RESP_MAX_SGE, uint32_t, UV_MANDATORY),
		   UV_OUT_TYPE(UVERBS_ATTR_CREATE_WQ_RESP_WQ_NUM, uint32_t, UV_OPTIONAL),
		   UV_UHW),
	  .run = wq_create },
	{ UVERBS_OBJECT_WQ, UVERBS_METHOD_WQ_DESTROY, false, "WQ_DESTROY",
	  UV_ATTRS(UV_OBJ(UVERBS_ATTR_DESTROY_WQ_HANDLE, UVERBS_OBJECT_WQ, UV_DESTROY,
			  UV_MANDATORY),
		   UV_OUT_TYPE(UVERBS_ATTR_DESTROY_WQ_RESP, uint32_t, UV_MANDATORY)),
	  .run = wq_destroy },
	{ UVERBS_OBJECT_RWQ_IND_TBL, UVERBS_METHOD_RWQ_IND_TBL_DESTROY, false,
	  "RWQ_IND_TBL_DESTROY",
	  UV_ATTRS(UV_OBJ(UVERBS_ATTR_DESTROY_RWQ_IND_TBL_HANDLE,
			  UVERBS_OBJECT_RWQ_IND_TBL, UV_DESTROY, UV_MANDATORY)) },
	{ .name = NULL },
};
