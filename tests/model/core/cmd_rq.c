/* core/cmd_rq.c - receive queues, with a ring of their own or on shared memory (RMP)
 *
 * Sources: kernel drivers/infiniband/hw/mlx5/qp.c (create_raw_packet_qp_rq, create_rq,
 * modify_raw_packet_qp_rq), DPDK drivers/net/mlx5/mlx5_devx.c
 * (mlx5_rxq_create_devx_rq_resources, mlx5_devx_modify_rq).
 */
#include "call.h"

#include <stdlib.h>

static const struct cx_forbidden no_in_create[] = {
	CX_FORBIDDEN(rqc, rlky, "the reserved key is not modelled"),
	CX_FORBIDDEN(rqc, state, "a new queue is in RST"),
	CX_FORBIDDEN(rqc, hairpin, "capability hca.hairpin is 0"),
	{ 0, NULL, NULL },
};

static const struct cx_needed caps[] = {
	CX_NEEDED(rqc, delay_drop_en, "hca.rq_delay_drop"),
	CX_NEEDED(rqc, scatter_fcs, "eth.scatter_fcs"),
	{ 0, NULL, NULL },
};

enum { MEM_INLINE = 0, MEM_RMP = 1 }; /* kernel mlx5_ifc.h, MLX5_RQC_MEM_RQ_TYPE_* */

/* ---- CREATE_RQ ---- */

/* vsd 0 asks the device to take the tag out of the frame. */
static enum cx_status check_vsd(struct cx_call *call, const uint8_t *ctx)
{
	if (!CX_GET(rqc, ctx, vsd) && !cx_cap(call->dev, "eth.vlan_cap"))
		return cx_refuse(call, CX_ST_BAD_PARAM, "rqc.vsd",
				 "0, but capability eth.vlan_cap is 0");
	return CX_ST_OK;
}

/* Set 0 is no set: its counters are nobody's. */
static enum cx_status take_counter(struct cx_call *call, const uint8_t *ctx,
				   struct cx_qcounter **counter)
{
	uint32_t set = (uint32_t)CX_GET(rqc, ctx, counter_set_id);
	enum cx_status st = CX_ST_OK;

	*counter = NULL;
	if (set)
		*counter = (struct cx_qcounter *)cx_call_obj(call, CX_QCOUNTER, set,
							     "rqc.counter_set_id", &st);
	return st;
}

static enum cx_status take_context(struct cx_call *call, const uint8_t *ctx,
				   struct cx_rq *rq)
{
	uint32_t cqn = (uint32_t)CX_GET(rqc, ctx, cqn);
	uint64_t format = CX_GET(rqc, ctx, ts_format);
	enum cx_status st =
		cx_call_ts_format(call, format, "hca.rq_ts_format", "rqc.ts_format");

	if (st == CX_ST_OK)
		rq->cq = (struct cx_cq *)cx_call_obj(call, CX_CQ, cqn, "rqc.cqn", &st);
	rq->ts_format = (uint8_t)format;
	rq->user_index = (uint32_t)CX_GET(rqc, ctx, user_index);
	rq->vsd = CX_GET(rqc, ctx, vsd);
	rq->flush_in_error = CX_GET(rqc, ctx, flush_in_error_en);
	rq->delay_drop = CX_GET(rqc, ctx, delay_drop_en);
	rq->scatter_fcs = CX_GET(rqc, ctx, scatter_fcs);
	return st == CX_ST_OK ? take_counter(call, ctx, &rq->counter) : st;
}

/* The ring is the RMP's. devx.c of the kernel sets the two valid bits in each CREATE_RQ. */
static enum cx_status take_rmp(struct cx_call *call, const uint8_t *ctx, struct cx_rq *rq)
{
	static const cx_field fields[] = { CX_wq__wq_umem_valid, CX_wq__dbr_umem_valid,
					   0 };
	uint32_t rmpn = (uint32_t)CX_GET(rqc, ctx, rmpn);
	enum cx_status st = CX_ST_OK;

	rq->rmp = (struct cx_rmp *)cx_call_obj(call, CX_RMP, rmpn, "rqc.rmpn", &st);
	return rq->rmp ? cx_call_only(call, &cx_layout_wq, CX_AT(rqc, ctx, wq), fields)
		       : st;
}

static enum cx_status take_memory(struct cx_call *call, const uint8_t *ctx,
				  struct cx_rq *rq)
{
	uint64_t type = CX_GET(rqc, ctx, mem_rq_type);

	if (type == MEM_RMP)
		return take_rmp(call, ctx, rq);
	if (type != MEM_INLINE)
		return cx_refuse(call, CX_ST_BAD_PARAM, "rqc.mem_rq_type",
				 "%llu is not known", (unsigned long long)type);
	if (CX_GET(rqc, ctx, rmpn))
		return cx_refuse(call, CX_ST_BAD_PARAM, "rqc.rmpn",
				 "0x%x, but the queue has a ring of its own",
				 (unsigned)CX_GET(rqc, ctx, rmpn));
	return cx_call_wq(call, CX_AT(rqc, ctx, wq), CX_RQ, &rq->wq);
}

static enum cx_status check_create(struct cx_call *call, const uint8_t *ctx,
				   struct cx_rq *rq)
{
	size_t fixed = CX_BYTES(create_rq_in);
	enum cx_status st = cx_call_plain(call);

	if (st == CX_ST_OK)
		st = cx_call_empty(call, call->in + fixed, call->in_len - fixed,
				   "create_rq_in.wq_pas");
	if (st == CX_ST_OK)
		st = cx_call_forbid(call, ctx, no_in_create);
	if (st == CX_ST_OK)
		st = cx_call_need(call, ctx, caps);
	if (st == CX_ST_OK)
		st = check_vsd(call, ctx);
	if (st == CX_ST_OK)
		st = take_context(call, ctx, rq);
	return st == CX_ST_OK ? take_memory(call, ctx, rq) : st;
}

static void use_all(struct cx_dev *dev, struct cx_rq *rq)
{
	cx_use(&rq->cq->obj);
	if (rq->counter)
		cx_use(&rq->counter->obj);
	if (rq->rmp)
		cx_use(&rq->rmp->obj);
	else
		cx_wq_use(dev, &rq->wq);
}

enum cx_status cx_create_rq(struct cx_call *call)
{
	const uint8_t *ctx = CX_AT(create_rq_in, call->in, ctx);
	struct cx_rq *rq = calloc(1, sizeof(*rq));
	enum cx_status st;

	if (!rq)
		return cx_call_no_memory(call);
	st = check_create(call, ctx, rq);
	if (st != CX_ST_OK) {
		free(rq);
		return st;
	}
	st = cx_call_add(call, &rq->obj, CX_RQ, "create_rq_out.rqn");
	if (st != CX_ST_OK)
		return st;
	memcpy(rq->ctx, ctx, sizeof(rq->ctx));
	use_all(call->dev, rq);
	CX_SET(create_rq_out, call->out, rqn, rq->obj.num);
	return CX_ST_OK;
}

/* ---- MODIFY_RQ ---- */

/* Source: kernel mlx5_ifc.h, MLX5_MODIFY_RQ_IN_MODIFY_BITMASK_*; DPDK adds bit 0, the limit. */
enum {
	SELECT_LIMIT = 1 << 0,
	SELECT_VSD = 1 << 1,
	SELECT_FCS = 1 << 2,
	SELECT_COUNTER = 1 << 3
};

static const struct {
	uint64_t bit;
	cx_field field;
} modifiable[] = {
	{ SELECT_VSD, CX_rqc__vsd },
	{ SELECT_FCS, CX_rqc__scatter_fcs },
	{ SELECT_COUNTER, CX_rqc__counter_set_id },
};
#define N_MODIFIABLE (sizeof(modifiable) / sizeof(modifiable[0]))

static enum cx_status check_mask(struct cx_call *call, uint64_t mask)
{
	if (mask & SELECT_LIMIT)
		return cx_refuse(call, CX_ST_BAD_PARAM, "modify_rq_in.modify_bitmask",
				 "0x%llx: the limit event is not modelled",
				 (unsigned long long)mask);
	if (mask >> 4)
		return cx_refuse(call, CX_ST_BAD_PARAM, "modify_rq_in.modify_bitmask",
				 "0x%llx is not known", (unsigned long long)mask);
	if (mask & SELECT_COUNTER && !cx_cap(call->dev, "hca.modify_rq_counter_set_id"))
		return cx_refuse(
			call, CX_ST_BAD_PARAM, "modify_rq_in.modify_bitmask",
			"0x%llx, but capability hca.modify_rq_counter_set_id is 0",
			(unsigned long long)mask);
	return CX_ST_OK;
}

static enum cx_status check_modify(struct cx_call *call, const uint8_t *ctx,
				   uint64_t mask)
{
	cx_field fields[N_MODIFIABLE + 2] = { CX_rqc__state };
	enum cx_status st = check_mask(call, mask);
	unsigned n = 1;

	for (size_t i = 0; i < N_MODIFIABLE; i++)
		if (mask & modifiable[i].bit)
			fields[n++] = modifiable[i].field;
	if (st == CX_ST_OK)
		st = cx_call_only(call, &cx_layout_rqc, ctx, fields);
	if (st == CX_ST_OK)
		st = cx_call_need(call, ctx, caps);
	return st == CX_ST_OK && mask & SELECT_VSD ? check_vsd(call, ctx) : st;
}

static void change_state(struct cx_dev *dev, struct cx_rq *rq, enum cx_q_state to)
{
	enum cx_q_state from = rq->state;

	rq->state = to;
	if (to == CX_Q_RST && from != CX_Q_RST)
		cx_rq_reset(rq);
	else if (to == CX_Q_ERR && from == CX_Q_RDY)
		cx_rq_flush(dev, rq);
}

static void change_counter(struct cx_rq *rq, struct cx_qcounter *counter)
{
	if (rq->counter)
		cx_unuse(&rq->counter->obj);
	rq->counter = counter;
	if (counter)
		cx_use(&counter->obj);
}

static void change_fields(struct cx_rq *rq, const uint8_t *ctx, uint64_t mask,
			  struct cx_qcounter *counter)
{
	for (size_t i = 0; i < N_MODIFIABLE; i++)
		if (mask & modifiable[i].bit)
			cx_set(rq->ctx, modifiable[i].field,
			       cx_get(ctx, modifiable[i].field));
	rq->vsd = CX_GET(rqc, rq->ctx, vsd);
	rq->scatter_fcs = CX_GET(rqc, rq->ctx, scatter_fcs);
	if (mask & SELECT_COUNTER)
		change_counter(rq, counter);
}

enum cx_status cx_modify_rq(struct cx_call *call)
{
	const uint8_t *ctx = CX_AT(modify_rq_in, call->in, ctx);
	uint64_t mask = CX_GET(modify_rq_in, call->in, modify_bitmask);
	uint64_t to = CX_GET(rqc, ctx, state);
	enum cx_status st;
	struct cx_rq *rq = (struct cx_rq *)CX_ABOUT(call, CX_RQ, modify_rq_in, rqn, &st);
	struct cx_qcounter *counter = NULL;

	if (!rq)
		return st;
	st = check_modify(call, ctx, mask);
	if (st == CX_ST_OK)
		st = take_counter(call, ctx, &counter);
	if (st == CX_ST_OK)
		st = cx_call_state(call, rq->state,
				   CX_GET(modify_rq_in, call->in, rq_state), to,
				   "modify_rq_in.rq_state", "rqc.state");
	if (st != CX_ST_OK)
		return st;
	change_fields(rq, ctx, mask, counter);
	change_state(call->dev, rq, (enum cx_q_state)to);
	return CX_ST_OK;
}

/* ---- QUERY_RQ, DESTROY_RQ ---- */

enum cx_status cx_query_rq(struct cx_call *call)
{
	uint8_t *ctx = CX_AT(query_rq_out, call->out, rq_context);
	enum cx_status st;
	struct cx_rq *rq = (struct cx_rq *)CX_ABOUT(call, CX_RQ, query_rq_in, rqn, &st);

	if (!rq)
		return st;
	memcpy(ctx, rq->ctx, sizeof(rq->ctx));
	CX_SET(rqc, ctx, state, rq->state);
	if (!rq->rmp)
		cx_wq_answer(CX_AT(rqc, ctx, wq), &rq->wq, 0);
	return CX_ST_OK;
}

enum cx_status cx_destroy_rq(struct cx_call *call)
{
	enum cx_status st;
	struct cx_rq *rq = (struct cx_rq *)CX_ABOUT(call, CX_RQ, destroy_rq_in, rqn, &st);

	if (!rq)
		return st;
	st = cx_call_unused(call, &rq->obj, "destroy_rq_in.rqn");
	if (st != CX_ST_OK)
		return st;
	cx_unuse(&rq->cq->obj);
	change_counter(rq, NULL);
	if (rq->rmp)
		cx_unuse(&rq->rmp->obj);
	else
		cx_wq_unuse(call->dev, &rq->wq);
	cx_obj_free(call->dev, &rq->obj);
	return CX_ST_OK;
}
