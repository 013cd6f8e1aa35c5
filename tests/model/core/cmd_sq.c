/* core/cmd_sq.c - send queues
 *
 * Sources: kernel drivers/infiniband/hw/mlx5/qp.c (create_raw_packet_qp_sq,
 * modify_raw_packet_qp_sq), DPDK drivers/net/mlx5/mlx5_devx.c
 * (mlx5_txq_create_devx_sq_resources, mlx5_txq_devx_modify).
 */
#include "call.h"

#include <stdlib.h>

static const struct cx_forbidden no_in_create[] = {
	CX_FORBIDDEN(sqc, rlky, "the reserved key is not modelled"),
	CX_FORBIDDEN(sqc, cd_master, "capability hca.cd is 0"),
	CX_FORBIDDEN(sqc, fre, "fast register is not modelled"),
	CX_FORBIDDEN(sqc, state, "a new queue is in RST"),
	CX_FORBIDDEN(sqc, reg_umr, "capability eth.reg_umr_sq is 0"),
	CX_FORBIDDEN(sqc, hairpin, "capability hca.hairpin is 0"),
	CX_FORBIDDEN(sqc, non_wire, "capability hca.non_wire_sq is 0"),
	CX_FORBIDDEN(sqc, static_sq_wq, "capability hca.log_max_static_sq_wq is 0"),
	CX_FORBIDDEN(sqc, packet_pacing_rate_limit_index,
		     "capability qos.packet_pacing is 0"),
	{ 0, NULL, NULL },
};

static const struct cx_needed caps_in_create[] = {
	CX_NEEDED(sqc, allow_multi_pkt_send_wqe, "eth.multi_pkt_send_wqe"),
	CX_NEEDED(sqc, allow_swp, "eth.swp"),
	{ 0, NULL, NULL },
};

/* A context without the right of raw transmit: the kernel gives it to programs with
 * CAP_NET_RAW only (hw/mlx5/devx.c, mlx5_ib_devx_create). That the device asks for it when
 * a send queue is made is assumed. */
static enum cx_status check_right(struct cx_call *call)
{
	enum { RAW_TX = 1 };
	const struct cx_obj *obj = cx_obj_get(call->dev, CX_UCTX, call->uid, 0);
	const struct cx_uctx *uctx = (const struct cx_uctx *)obj;

	if (call->uid && uctx && !(uctx->cap & RAW_TX))
		return cx_refuse(
			call, CX_ST_BAD_PARAM, "uid",
			"context without the right of raw transmit (uctx.cap 0x%x)",
			uctx->cap);
	return CX_ST_OK;
}

/* 0 nothing, 1 layer 2, 2 IP, 3 TCP or UDP header; source: kernel device.h, MLX5_INLINE_MODE_*.
 * The others, of tunnels (DPDK mlx5_prm.h), are off. */
static enum cx_status take_modes(struct cx_call *call, const uint8_t *ctx,
				 struct cx_sq *sq)
{
	uint64_t mode = CX_GET(sqc, ctx, min_wqe_inline_mode),
		 format = CX_GET(sqc, ctx, ts_format);

	if (mode > 3 || mode < call->dev->lim.min_inline_mode)
		return cx_refuse(call, CX_ST_BAD_PARAM, "sqc.min_wqe_inline_mode",
				 "%llu is not in %u .. 3", (unsigned long long)mode,
				 call->dev->lim.min_inline_mode);
	sq->min_inline = (uint8_t)mode;
	sq->ts_format = (uint8_t)format;
	sq->user_index = (uint32_t)CX_GET(sqc, ctx, user_index);
	sq->flush_in_error = CX_GET(sqc, ctx, flush_in_error_en);
	sq->allow_multi_pkt = CX_GET(sqc, ctx, allow_multi_pkt_send_wqe);
	return cx_call_ts_format(call, format, "hca.sq_ts_format", "sqc.ts_format");
}

static enum cx_status take_objects(struct cx_call *call, const uint8_t *ctx,
				   struct cx_sq *sq)
{
	const uint8_t *wq = CX_AT(sqc, ctx, wq);
	uint32_t cqn = (uint32_t)CX_GET(sqc, ctx, cqn);
	uint32_t uar = (uint32_t)CX_GET(wq, wq, uar_page);
	uint32_t tisn = (uint32_t)CX_GET(sqc, ctx, tis_num_0);
	uint64_t n_tis = CX_GET(sqc, ctx, tis_lst_sz);
	enum cx_status st = CX_ST_OK;

	if (n_tis != 1)
		return cx_refuse(call, CX_ST_BAD_PARAM, "sqc.tis_lst_sz",
				 "%llu, must be 1", (unsigned long long)n_tis);
	sq->cq = (struct cx_cq *)cx_call_obj(call, CX_CQ, cqn, "sqc.cqn", &st);
	if (sq->cq)
		sq->tis = (struct cx_tis *)cx_call_obj(call, CX_TIS, tisn,
						       "sqc.tis_num_0", &st);
	if (sq->tis)
		sq->uar = (struct cx_uar *)cx_call_obj(call, CX_UAR, uar, "wq.uar_page",
						       &st);
	return st;
}

static enum cx_status check_create(struct cx_call *call, const uint8_t *ctx,
				   struct cx_sq *sq)
{
	size_t fixed = CX_BYTES(create_sq_in);
	enum cx_status st = cx_call_plain(call);

	if (st == CX_ST_OK)
		st = check_right(call);
	if (st == CX_ST_OK)
		st = cx_call_empty(call, call->in + fixed, call->in_len - fixed,
				   "create_sq_in.wq_pas");
	if (st == CX_ST_OK)
		st = cx_call_forbid(call, ctx, no_in_create);
	if (st == CX_ST_OK)
		st = cx_call_need(call, ctx, caps_in_create);
	if (st == CX_ST_OK)
		st = take_modes(call, ctx, sq);
	if (st == CX_ST_OK)
		st = take_objects(call, ctx, sq);
	return st == CX_ST_OK ? cx_call_wq(call, CX_AT(sqc, ctx, wq), CX_SQ, &sq->wq)
			      : st;
}

enum cx_status cx_create_sq(struct cx_call *call)
{
	const uint8_t *ctx = CX_AT(create_sq_in, call->in, ctx);
	struct cx_sq *sq = calloc(1, sizeof(*sq));
	enum cx_status st;

	if (!sq)
		return cx_call_no_memory(call);
	st = check_create(call, ctx, sq);
	if (st != CX_ST_OK) {
		free(sq);
		return st;
	}
	st = cx_call_add(call, &sq->obj, CX_SQ, "create_sq_out.sqn");
	if (st != CX_ST_OK)
		return st;
	memcpy(sq->ctx, ctx, sizeof(sq->ctx));
	cx_use(&sq->cq->obj);
	cx_use(&sq->tis->obj);
	cx_use(&sq->uar->obj);
	cx_wq_use(call->dev, &sq->wq);
	CX_SET(create_sq_out, call->out, sqn, sq->obj.num);
	return CX_ST_OK;
}

/* ---- MODIFY_SQ ---- */

/* Bit 0 of the mask, the rate limit, is all that drivers select. */
static enum cx_status check_modify(struct cx_call *call, const uint8_t *ctx)
{
	static const cx_field fields[] = { CX_sqc__state, 0 };
	uint64_t mask = CX_GET(modify_sq_in, call->in, modify_bitmask);

	if (mask)
		return cx_refuse(call, CX_ST_BAD_PARAM, "modify_sq_in.modify_bitmask",
				 "0x%llx: %s", (unsigned long long)mask,
				 mask == 1 ? "capability qos.packet_pacing is 0"
					   : "not known");
	return cx_call_only(call, &cx_layout_sqc, ctx, fields);
}

static void change_state(struct cx_dev *dev, struct cx_sq *sq, enum cx_q_state to)
{
	enum cx_q_state from = sq->state;

	sq->state = to;
	if (to == CX_Q_RST && from != CX_Q_RST)
		cx_sq_reset(sq);
	else if (to == CX_Q_ERR && from == CX_Q_RDY)
		cx_sq_flush(dev, sq);
}

enum cx_status cx_modify_sq(struct cx_call *call)
{
	const uint8_t *ctx = CX_AT(modify_sq_in, call->in, ctx);
	uint64_t to = CX_GET(sqc, ctx, state);
	enum cx_status st;
	struct cx_sq *sq = (struct cx_sq *)CX_ABOUT(call, CX_SQ, modify_sq_in, sqn, &st);

	if (!sq)
		return st;
	st = check_modify(call, ctx);
	if (st == CX_ST_OK)
		st = cx_call_state(call, sq->state,
				   CX_GET(modify_sq_in, call->in, sq_state), to,
				   "modify_sq_in.sq_state", "sqc.state");
	if (st == CX_ST_OK)
		change_state(call->dev, sq, (enum cx_q_state)to);
	return st;
}

/* ---- QUERY_SQ, DESTROY_SQ ---- */

enum cx_status cx_query_sq(struct cx_call *call)
{
	uint8_t *ctx = CX_AT(query_sq_out, call->out, sq_context);
	enum cx_status st;
	struct cx_sq *sq = (struct cx_sq *)CX_ABOUT(call, CX_SQ, query_sq_in, sqn, &st);

	if (!sq)
		return st;
	memcpy(ctx, sq->ctx, sizeof(sq->ctx));
	CX_SET(sqc, ctx, state, sq->state);
	cx_wq_answer(CX_AT(sqc, ctx, wq), &sq->wq, 1);
	return CX_ST_OK;
}

enum cx_status cx_destroy_sq(struct cx_call *call)
{
	enum cx_status st;
	struct cx_sq *sq = (struct cx_sq *)CX_ABOUT(call, CX_SQ, destroy_sq_in, sqn, &st);

	if (!sq)
		return st;
	st = cx_call_unused(call, &sq->obj, "destroy_sq_in.sqn");
	if (st != CX_ST_OK)
		return st;
	cx_unuse(&sq->cq->obj);
	cx_unuse(&sq->tis->obj);
	cx_unuse(&sq->uar->obj);
	cx_wq_unuse(call->dev, &sq->wq);
	cx_obj_free(call->dev, &sq->obj);
	return CX_ST_OK;
}
