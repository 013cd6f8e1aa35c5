/* core/cmd_rmp.c - receive memory that several receive queues share
 *
 * Sources: DPDK drivers/common/mlx5/mlx5_common_devx.c (mlx5_devx_rmp_create), kernel
 * include/linux/mlx5/mlx5_ifc.h (rmpc, MLX5_RMPC_STATE_*).
 */
#include "call.h"

#include <stdlib.h>

/* DPDK makes it in RDY. Without basic_cyclic_rcv_wqe the entries of a cyclic ring would start
 * with a link, as those of a shared receive queue; drivers that make such ask for a list. */
static enum cx_status take_context(struct cx_call *call, const uint8_t *ctx,
				   struct cx_rmp *rmp)
{
	uint64_t state = CX_GET(rmpc, ctx, state);
	bool basic = CX_GET(rmpc, ctx, basic_cyclic_rcv_wqe);
	bool cyclic = rmp->wq.type == CX_WQ_CYCLIC;

	if (state != CX_Q_RST && state != CX_Q_RDY)
		return cx_refuse(call, CX_ST_BAD_PARAM, "rmpc.state",
				 "%llu: a new one is in RST or RDY",
				 (unsigned long long)state);
	if (basic && !cx_cap(call->dev, "hca.basic_cyclic_rcv_wqe"))
		return cx_refuse(call, CX_ST_BAD_PARAM, "rmpc.basic_cyclic_rcv_wqe",
				 "set, but capability hca.basic_cyclic_rcv_wqe is 0");
	if (basic != cyclic)
		return cx_refuse(call, CX_ST_BAD_PARAM, "rmpc.basic_cyclic_rcv_wqe",
				 "%d with wq_type %d is not modelled", basic,
				 rmp->wq.type);
	rmp->state = (enum cx_q_state)state;
	return CX_ST_OK;
}

static enum cx_status check_create(struct cx_call *call, const uint8_t *ctx,
				   struct cx_rmp *rmp)
{
	size_t fixed = CX_BYTES(create_rmp_in);
	enum cx_status st = cx_call_plain(call);

	if (st == CX_ST_OK && !cx_cap(call->dev, "hca.mem_rq_rmp"))
		st = cx_refuse(call, CX_ST_BAD_PARAM, "opcode",
			       "capability hca.mem_rq_rmp is 0");
	if (st == CX_ST_OK)
		st = cx_call_empty(call, call->in + fixed, call->in_len - fixed,
				   "create_rmp_in.wq_pas");
	if (st == CX_ST_OK)
		st = cx_call_wq(call, CX_AT(rmpc, ctx, wq), CX_RMP, &rmp->wq);
	return st == CX_ST_OK ? take_context(call, ctx, rmp) : st;
}

enum cx_status cx_create_rmp(struct cx_call *call)
{
	const uint8_t *ctx = CX_AT(create_rmp_in, call->in, ctx);
	struct cx_rmp *rmp = calloc(1, sizeof(*rmp));
	enum cx_status st;

	if (!rmp)
		return cx_call_no_memory(call);
	st = check_create(call, ctx, rmp);
	if (st != CX_ST_OK) {
		free(rmp);
		return st;
	}
	st = cx_call_add(call, &rmp->obj, CX_RMP, "create_rmp_out.rmpn");
	if (st != CX_ST_OK)
		return st;
	memcpy(rmp->ctx, ctx, sizeof(rmp->ctx));
	cx_wq_use(call->dev, &rmp->wq);
	CX_SET(create_rmp_out, call->out, rmpn, rmp->obj.num);
	return CX_ST_OK;
}

/* Starts the ring over; the queues on it have nothing of their own. */
static void change_state(struct cx_rmp *rmp, enum cx_q_state to)
{
	if (to == CX_Q_RST && rmp->state != CX_Q_RST)
		rmp->wq.head = rmp->wq.laps = rmp->wq.stride = 0;
	rmp->state = to;
}

enum cx_status cx_modify_rmp(struct cx_call *call)
{
	static const cx_field fields[] = { CX_rmpc__state, 0 };
	const uint8_t *ctx = CX_AT(modify_rmp_in, call->in, ctx);
	uint64_t to = CX_GET(rmpc, ctx, state);
	enum cx_status st;
	struct cx_rmp *rmp =
		(struct cx_rmp *)CX_ABOUT(call, CX_RMP, modify_rmp_in, rmpn, &st);

	if (!rmp)
		return st;
	if (CX_GET(rmp_bitmask, CX_AT(modify_rmp_in, call->in, bitmask), lwm))
		st = cx_refuse(call, CX_ST_BAD_PARAM, "rmp_bitmask.lwm",
			       "the limit event is not modelled");
	if (st == CX_ST_OK)
		st = cx_call_only(call, &cx_layout_rmpc, ctx, fields);
	if (st == CX_ST_OK)
		st = cx_call_state(call, rmp->state,
				   CX_GET(modify_rmp_in, call->in, rmp_state), to,
				   "modify_rmp_in.rmp_state", "rmpc.state");
	if (st == CX_ST_OK)
		change_state(rmp, (enum cx_q_state)to);
	return st;
}

enum cx_status cx_query_rmp(struct cx_call *call)
{
	uint8_t *ctx = CX_AT(query_rmp_out, call->out, rmp_context);
	enum cx_status st;
	struct cx_rmp *rmp =
		(struct cx_rmp *)CX_ABOUT(call, CX_RMP, query_rmp_in, rmpn, &st);

	if (!rmp)
		return st;
	memcpy(ctx, rmp->ctx, sizeof(rmp->ctx));
	CX_SET(rmpc, ctx, state, rmp->state);
	cx_wq_answer(CX_AT(rmpc, ctx, wq), &rmp->wq, 0);
	return CX_ST_OK;
}

enum cx_status cx_destroy_rmp(struct cx_call *call)
{
	enum cx_status st;
	struct cx_rmp *rmp =
		(struct cx_rmp *)CX_ABOUT(call, CX_RMP, destroy_rmp_in, rmpn, &st);

	if (!rmp)
		return st;
	st = cx_call_unused(call, &rmp->obj, "destroy_rmp_in.rmpn");
	if (st != CX_ST_OK)
		return st;
	cx_wq_unuse(call->dev, &rmp->wq);
	cx_obj_free(call->dev, &rmp->obj);
	return CX_ST_OK;
}
