/* uverbs/queue.c - send and receive queues as verbs make them
 *
 * Memory is given to the device as umems, where the kernel gives page lists: the
 * core has no other kind, and to a program there is no difference.
 *
 * Source: Linux 6.1 hw/mlx5/qp.c (create_raw_packet_qp_sq(), _rq(), create_rq(),
 * modify_raw_packet_qp_sq(), _rq(), get_ts_format()).
 */
#include "uverbs.h"

#include <errno.h>

#include "../core/layout.h"
#include "opcode.h"

enum { TS_CAP_FREE_RUNNING, TS_CAP_REAL_TIME, TS_CAP_BOTH };
enum { TS_FREE_RUNNING, TS_DEFAULT, TS_REAL_TIME };

int uv_ts_format(struct uv_call *call, const struct uv_obj *cq, const char *cap,
		 uint8_t *ret)
{
	uint32_t can = uv_cap(call->port, cap);
	bool free_running = can == TS_CAP_FREE_RUNNING || can == TS_CAP_BOTH;
	bool real_time = can == TS_CAP_REAL_TIME || can == TS_CAP_BOTH;

	if (cq->cq.real_time && !real_time)
		return uv_refuse(call, EOPNOTSUPP, "cq", "real time stamps: %s is %u",
				 cap, can);
	if (!cq->cq.real_time && cq->cq.timestamp && !free_running)
		return uv_refuse(call, EOPNOTSUPP, "cq", "free running stamps: %s is %u",
				 cap, can);
	if (cq->cq.real_time)
		*ret = TS_REAL_TIME;
	else
		*ret = free_running ? TS_FREE_RUNNING : TS_DEFAULT;
	return 0;
}

int uv_ring_umem(struct uv_call *call, struct uv_obj *obj, const char *field,
		 uint64_t addr, uint64_t len, uint32_t *umem)
{
	if (!addr || addr % 64)
		return uv_refuse(call, EINVAL, field, "0x%llx is not aligned",
				 (unsigned long long)addr);
	return uv_umem_of(call, obj, addr, len, 0, umem);
}

void uv_fill_wq(uint8_t *wq, const struct uv_ring *r)
{
	CX_SET(wq, wq, pd, r->pdn);
	CX_SET(wq, wq, log_wq_stride, r->log_stride);
	CX_SET(wq, wq, log_wq_sz, r->log_size);
	CX_SET(wq, wq, wq_umem_id, r->ring);
	CX_SET(wq, wq, wq_umem_valid, 1);
	CX_SET(wq, wq, dbr_umem_id, r->record);
	CX_SET(wq, wq, dbr_umem_valid, 1);
}

/* The number is in the same place of every answer. */
int uv_create(struct uv_call *call, struct uv_obj *obj, uint8_t *in, size_t len,
	      const char *name, uint16_t destroyer, uint32_t *num)
{
	uint8_t out[CX_BYTES(create_tir_out)];
	int rc = uv_exec(call->port, obj->uid, in, len, out, sizeof(out));

	if (rc)
		return uv_refuse(call, -rc, "device", "%s failed", name);
	*num = (uint32_t)CX_GET(create_tir_out, out, tirn);
	uv_undo_push(obj, UV_UNDO_CMD, destroyer, *num, NULL);
	return 0;
}

int uv_sq_to(struct uv_call *call, const struct uv_obj *obj, uint32_t sqn, uint8_t from,
	     uint8_t to)
{
	uint8_t in[CX_BYTES(modify_sq_in)] = { 0 }, out[16];
	int rc;

	CX_SET(modify_sq_in, in, opcode, CX_OP_MODIFY_SQ);
	CX_SET(modify_sq_in, in, sq_state, from);
	CX_SET(modify_sq_in, in, sqn, sqn);
	CX_SET(sqc, CX_AT(modify_sq_in, in, ctx), state, to);
	rc = uv_exec(call->port, obj->uid, in, sizeof(in), out, sizeof(out));
	return rc ? uv_refuse(call, -rc, "device", "MODIFY_SQ from %u to %u failed", from,
			      to)
		  : 0;
}

int uv_rq_to(struct uv_call *call, const struct uv_obj *obj, uint32_t rqn, uint8_t from,
	     uint8_t to, uint64_t mask, const uint8_t *rqc)
{
	uint8_t in[CX_BYTES(modify_rq_in)] = { 0 }, out[16];
	uint8_t *ctx = CX_AT(modify_rq_in, in, ctx);
	int rc;

	CX_SET(modify_rq_in, in, opcode, CX_OP_MODIFY_RQ);
	CX_SET(modify_rq_in, in, rq_state, from);
	CX_SET(modify_rq_in, in, rqn, rqn);
	CX_SET(modify_rq_in, in, modify_bitmask, mask);
	if (mask & UV_RQ_VSD)
		CX_SET(rqc, ctx, vsd, CX_GET(rqc, rqc, vsd));
	if (mask & UV_RQ_COUNTER)
		CX_SET(rqc, ctx, counter_set_id, CX_GET(rqc, rqc, counter_set_id));
	CX_SET(rqc, ctx, state, to);
	rc = uv_exec(call->port, obj->uid, in, sizeof(in), out, sizeof(out));
	return rc ? uv_refuse(call, -rc, "device", "MODIFY_RQ from %u to %u failed", from,
			      to)
		  : 0;
}

int uv_sq_ask(struct uv_call *call, const struct uv_obj *obj, uint32_t sqn,
	      uint8_t *state)
{
	uint8_t in[CX_BYTES(query_sq_in)] = { 0 }, out[CX_BYTES(query_sq_out)];
	int rc;

	CX_SET(query_sq_in, in, opcode, CX_OP_QUERY_SQ);
	CX_SET(query_sq_in, in, sqn, sqn);
	rc = uv_exec(call->port, obj->uid, in, sizeof(in), out, sizeof(out));
	if (rc)
		return uv_refuse(call, -rc, "device", "QUERY_SQ failed");
	*state = (uint8_t)CX_GET(sqc, CX_AT(query_sq_out, out, sq_context), state);
	return 0;
}

int uv_rq_ask(struct uv_call *call, const struct uv_obj *obj, uint32_t rqn,
	      uint8_t *state)
{
	uint8_t in[CX_BYTES(query_rq_in)] = { 0 }, out[CX_BYTES(query_rq_out)];
	int rc;

	CX_SET(query_rq_in, in, opcode, CX_OP_QUERY_RQ);
	CX_SET(query_rq_in, in, rqn, rqn);
	rc = uv_exec(call->port, obj->uid, in, sizeof(in), out, sizeof(out));
	if (rc)
		return uv_refuse(call, -rc, "device", "QUERY_RQ failed");
	*state = (uint8_t)CX_GET(rqc, CX_AT(query_rq_out, out, rq_context), state);
	return 0;
}
