/* core/cmd_rqt.c - receive queue tables, which a hash value indexes
 *
 * Sources: kernel drivers/infiniband/hw/mlx5/qp.c (mlx5_ib_create_rwq_ind_table), DPDK
 * drivers/net/mlx5/mlx5_devx.c (mlx5_devx_ind_table_create_rqt_attr). All drivers make
 * tables of a power of two; that others are refused is assumed.
 */
#include "call.h"

#include <stdlib.h>

enum { LIST_OF_RQ = 0 }; /* kernel mlx5_ifc.h, list_q_type */

static bool is_power_of_two(uint64_t n)
{
	return n && !(n & (n - 1));
}

/* ---- the list ---- */

/* @fixed: bytes of the mailbox before the list. */
static enum cx_status check_list(struct cx_call *call, const uint8_t *ctx, size_t fixed,
				 uint64_t max, const char *tail)
{
	uint64_t n = CX_GET(rqtc, ctx, rqt_actual_size),
		 type = CX_GET(rqtc, ctx, list_q_type);

	if (type != LIST_OF_RQ)
		return cx_refuse(call, CX_ST_BAD_PARAM, "rqtc.list_q_type",
				 "%llu is not known", (unsigned long long)type);
	if (!is_power_of_two(n) || n > max)
		return cx_refuse(call, CX_ST_BAD_PARAM, "rqtc.rqt_actual_size",
				 "%llu is not a power of two up to %llu",
				 (unsigned long long)n, (unsigned long long)max);
	if ((call->in_len - fixed) / CX_BYTES(rq_num) < n)
		return cx_refuse(call, CX_ST_BAD_IN_LEN, "in_len",
				 "%zu bytes hold no %llu entries", call->in_len,
				 (unsigned long long)n);
	fixed += n * CX_BYTES(rq_num);
	return cx_call_empty(call, call->in + fixed, call->in_len - fixed, tail);
}

static enum cx_status take_list(struct cx_call *call, const uint8_t *list, uint32_t n,
				struct cx_rq **rq)
{
	enum cx_status st = CX_ST_OK;

	for (uint32_t i = 0; i < n && st == CX_ST_OK; i++) {
		uint32_t rqn =
			(uint32_t)CX_GET(rq_num, list + i * CX_BYTES(rq_num), rq_num);

		rq[i] = (struct cx_rq *)cx_call_obj(call, CX_RQ, rqn, "rq_num.rq_num",
						    &st);
	}
	return st;
}

static void use_list(struct cx_rqt *rqt)
{
	for (uint32_t i = 0; i < rqt->n; i++)
		cx_use(&rqt->rq[i]->obj);
}

static void unuse_list(struct cx_rqt *rqt)
{
	for (uint32_t i = 0; i < rqt->n; i++)
		cx_unuse(&rqt->rq[i]->obj);
}

/* ---- CREATE_RQT ---- */

static enum cx_status check_create(struct cx_call *call, const uint8_t *ctx)
{
	uint64_t max = CX_GET(rqtc, ctx, rqt_max_size);
	enum cx_status st = cx_call_plain(call);

	if (st != CX_ST_OK)
		return st;
	if (!is_power_of_two(max) || max >> call->dev->lim.log_max_rqt_size > 1)
		return cx_refuse(call, CX_ST_BAD_PARAM, "rqtc.rqt_max_size",
				 "%llu is not a power of two up to %u",
				 (unsigned long long)max,
				 1u << call->dev->lim.log_max_rqt_size);
	return check_list(call, ctx, CX_BYTES(create_rqt_in), max,
			  "create_rqt_in.rq_num");
}

enum cx_status cx_create_rqt(struct cx_call *call)
{
	const uint8_t *ctx = CX_AT(create_rqt_in, call->in, rqt_context);
	enum cx_status st = check_create(call, ctx);
	struct cx_rqt *rqt;

	if (st != CX_ST_OK)
		return st;
	rqt = calloc(1, sizeof(*rqt));
	if (!rqt)
		return cx_call_no_memory(call);
	rqt->max = (uint32_t)CX_GET(rqtc, ctx, rqt_max_size);
	rqt->n = (uint32_t)CX_GET(rqtc, ctx, rqt_actual_size);
	rqt->rq = calloc(rqt->max, sizeof(struct cx_rq *));
	st = rqt->rq ? take_list(call, call->in + CX_BYTES(create_rqt_in), rqt->n,
				 rqt->rq)
		     : cx_call_no_memory(call);
	if (st != CX_ST_OK || cx_obj_add(call->dev, &rqt->obj, CX_RQT, call->uid)) {
		free(rqt->rq);
		free(rqt);
		return st != CX_ST_OK
			       ? st
			       : cx_refuse(call, CX_ST_LIMIT, "create_rqt_out.rqtn",
					   "no number left for another RQT");
	}
	use_list(rqt);
	CX_SET(create_rqt_out, call->out, rqtn, rqt->obj.num);
	return CX_ST_OK;
}

/* ---- MODIFY_RQT ---- */

/* The room stays what it was: rqt_max_size is not looked at, so drivers leave it 0. */
static enum cx_status check_modify(struct cx_call *call, const uint8_t *ctx,
				   const struct cx_rqt *rqt)
{
	static const cx_field fields[] = { CX_rqtc__list_q_type, CX_rqtc__rqt_actual_size,
					   0 };
	const uint8_t *mask = CX_AT(modify_rqt_in, call->in, bitmask);
	enum cx_status st;

	if (!CX_GET(rqt_bitmask, mask, rqn_list))
		return cx_refuse(call, CX_ST_BAD_PARAM, "rqt_bitmask.rqn_list",
				 "nothing selected");
	st = cx_call_only(call, &cx_layout_rqtc, ctx, fields);
	if (st != CX_ST_OK)
		return st;
	return check_list(call, ctx, CX_BYTES(modify_rqt_in), rqt->max,
			  "modify_rqt_in.rq_num");
}

/* The new list is complete before the old one goes. */
static enum cx_status replace_list(struct cx_call *call, struct cx_rqt *rqt, uint32_t n)
{
	struct cx_rq **list = calloc(rqt->max, sizeof(struct cx_rq *));
	enum cx_status st;

	if (!list)
		return cx_call_no_memory(call);
	st = take_list(call, call->in + CX_BYTES(modify_rqt_in), n, list);
	if (st != CX_ST_OK) {
		free(list);
		return st;
	}
	unuse_list(rqt);
	free(rqt->rq);
	rqt->rq = list;
	rqt->n = n;
	use_list(rqt);
	return CX_ST_OK;
}

enum cx_status cx_modify_rqt(struct cx_call *call)
{
	const uint8_t *ctx = CX_AT(modify_rqt_in, call->in, ctx);
	enum cx_status st;
	struct cx_rqt *rqt =
		(struct cx_rqt *)CX_ABOUT(call, CX_RQT, modify_rqt_in, rqtn, &st);

	if (!rqt)
		return st;
	st = check_modify(call, ctx, rqt);
	if (st == CX_ST_OK)
		st = replace_list(call, rqt,
				  (uint32_t)CX_GET(rqtc, ctx, rqt_actual_size));
	return st;
}

/* ---- QUERY_RQT, DESTROY_RQT ---- */

enum cx_status cx_query_rqt(struct cx_call *call)
{
	uint8_t *ctx = CX_AT(query_rqt_out, call->out, rqt_context);
	uint8_t *list = call->out + CX_BYTES(query_rqt_out);
	enum cx_status st;
	struct cx_rqt *rqt =
		(struct cx_rqt *)CX_ABOUT(call, CX_RQT, query_rqt_in, rqtn, &st);

	if (!rqt)
		return st;
	if ((call->out_len - CX_BYTES(query_rqt_out)) / CX_BYTES(rq_num) < rqt->n)
		return cx_refuse(call, CX_ST_BAD_OUT_LEN, "out_len",
				 "%zu bytes have no room for %u entries", call->out_len,
				 rqt->n);
	CX_SET(rqtc, ctx, rqt_max_size, rqt->max);
	CX_SET(rqtc, ctx, rqt_actual_size, rqt->n);
	for (uint32_t i = 0; i < rqt->n; i++)
		CX_SET(rq_num, list + i * CX_BYTES(rq_num), rq_num, rqt->rq[i]->obj.num);
	return CX_ST_OK;
}

enum cx_status cx_destroy_rqt(struct cx_call *call)
{
	enum cx_status st;
	struct cx_rqt *rqt =
		(struct cx_rqt *)CX_ABOUT(call, CX_RQT, destroy_rqt_in, rqtn, &st);

	if (!rqt)
		return st;
	st = cx_call_unused(call, &rqt->obj, "destroy_rqt_in.rqtn");
	if (st != CX_ST_OK)
		return st;
	unuse_list(rqt);
	cx_obj_free(call->dev, &rqt->obj);
	return CX_ST_OK;
}
