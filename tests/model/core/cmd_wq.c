/* core/cmd_wq.c - what SQ, RQ and RMP have in common: the ring, its record, the states
 *
 * Sources: kernel drivers/infiniband/hw/mlx5/qp.c (create_raw_packet_qp_sq, _rq,
 * create_rq), DPDK drivers/common/mlx5/mlx5_common_devx.c. A ring of one entry is
 * legal: DPDK's drop queue has one of 16 bytes.
 */
#include "call.h"

#include <endian.h>

/* ---- the wq context ---- */

static const struct cx_forbidden no_in_wq[] = {
	CX_FORBIDDEN(wq, wq_signature, "capability hca.wq_signature is 0"),
	CX_FORBIDDEN(wq, cd_slave, "capability hca.cd is 0"),
	CX_FORBIDDEN(wq, hds_skip_first_sge, "header split is not modelled"),
	CX_FORBIDDEN(wq, log2_hds_buf_size, "header split is not modelled"),
	CX_FORBIDDEN(wq, page_offset, "of a umem wq_umem_offset tells"),
	CX_FORBIDDEN(wq, lwm, "the limit event is not modelled"),
	CX_FORBIDDEN(wq, hw_counter, "the device's to set"),
	CX_FORBIDDEN(wq, sw_counter, "the device's to set"),
	{ 0, NULL, NULL },
};

static const struct cx_forbidden no_in_send[] = {
	CX_FORBIDDEN(wq, end_padding_mode, "receive queues only"),
	CX_FORBIDDEN(wq, log_wqe_num_of_strides, "receive queues only"),
	CX_FORBIDDEN(wq, two_byte_shift_en, "receive queues only"),
	CX_FORBIDDEN(wq, log_wqe_stride_size, "receive queues only"),
	{ 0, NULL, NULL },
};

static const struct cx_forbidden no_in_receive[] = {
	CX_FORBIDDEN(wq, uar_page, "send queues only"),
	{ 0, NULL, NULL },
};

static const struct cx_forbidden no_in_plain[] = {
	CX_FORBIDDEN(wq, log_wqe_num_of_strides, "the queue is not striding"),
	CX_FORBIDDEN(wq, two_byte_shift_en, "the queue is not striding"),
	CX_FORBIDDEN(wq, log_wqe_stride_size, "the queue is not striding"),
	{ 0, NULL, NULL },
};

static enum cx_status take_type(struct cx_call *call, const uint8_t *ctx, bool send,
				struct cx_wq *wq)
{
	uint64_t type = CX_GET(wq, ctx, wq_type);

	if (type == CX_WQ_LINKED || type == CX_WQ_LINKED_STRIDING)
		return cx_refuse(call, CX_ST_BAD_PARAM, "wq.wq_type",
				 "%llu: linked lists are not modelled",
				 (unsigned long long)type);
	if (type > CX_WQ_CYCLIC_STRIDING || (send && type != CX_WQ_CYCLIC))
		return cx_refuse(call, CX_ST_BAD_PARAM, "wq.wq_type",
				 "%llu is not known%s", (unsigned long long)type,
				 send ? " in a send queue" : "");
	if (type == CX_WQ_CYCLIC_STRIDING && !call->dev->lim.striding_rq)
		return cx_refuse(call, CX_ST_BAD_PARAM, "wq.wq_type",
				 "striding, but capability hca.striding_rq is 0");
	wq->type = (enum cx_wq_type)type;
	return CX_ST_OK;
}

/* ---- sizes ---- */

/* A WQE of a striding queue is a next segment and at least one data segment (DPDK mlx5_prm.h,
 * struct mlx5_wqe_mprq). */
#define LOG_MIN_STRIDING_WQE 5

static enum cx_status take_stride(struct cx_call *call, const uint8_t *ctx, bool send,
				  struct cx_wq *wq)
{
	struct cx_dev *dev = call->dev;
	uint64_t log = CX_GET(wq, ctx, log_wq_stride);
	uint32_t min = cx_cap(dev, send ? "hca.log_min_stride_sz_sq"
					: "hca.log_min_stride_sz_rq");
	uint32_t max = cx_cap(dev, send ? "hca.log_max_stride_sz_sq"
					: "hca.log_max_stride_sz_rq");
	uint32_t bytes = cx_cap(dev, send ? "hca.max_wqe_sz_sq" : "hca.max_wqe_sz_rq");

	if (wq->type == CX_WQ_CYCLIC_STRIDING && min < LOG_MIN_STRIDING_WQE)
		min = LOG_MIN_STRIDING_WQE;
	if (log < min || log > max)
		return cx_refuse(call, CX_ST_BAD_PARAM, "wq.log_wq_stride",
				 "%llu is not in %u .. %u", (unsigned long long)log, min,
				 max);
	if (UINT64_C(1) << log > bytes)
		return cx_refuse(call, CX_ST_BAD_PARAM, "wq.log_wq_stride",
				 "%llu: WQEs of more than %u bytes",
				 (unsigned long long)log, bytes);
	wq->log_stride = (uint8_t)log;
	return CX_ST_OK;
}

static enum cx_status take_size(struct cx_call *call, const uint8_t *ctx,
				struct cx_wq *wq)
{
	uint64_t log = CX_GET(wq, ctx, log_wq_sz);

	if (log > call->dev->lim.log_max_wq_size)
		return cx_refuse(call, CX_ST_BAD_PARAM, "wq.log_wq_sz",
				 "%llu is over the limit of %u", (unsigned long long)log,
				 call->dev->lim.log_max_wq_size);
	wq->log_size = (uint8_t)log;
	return CX_ST_OK;
}

/* 512 * 2^n strides with n signed, in four bits: -6 .. 7. Below 512 only with a capability.
 * Bytes: 64 * 2^n with n in three bits, all legal. Source: kernel qp.c, create_rq (fw_map). */
static enum cx_status take_strides(struct cx_call *call, const uint8_t *ctx,
				   struct cx_wq *wq)
{
	const struct cx_limits *lim = &call->dev->lim;
	int field = (int)CX_GET(wq, ctx, log_wqe_num_of_strides);
	int log = (field < 8 ? field : field - 16) + 9;
	unsigned bytes = 6 + (unsigned)CX_GET(wq, ctx, log_wqe_stride_size);

	if (log < lim->log_min_strides || log > lim->log_max_strides)
		return cx_refuse(call, CX_ST_BAD_PARAM, "wq.log_wqe_num_of_strides",
				 "0x%x is 2^%d strides, not in 2^%u .. 2^%u",
				 (unsigned)field, log, lim->log_min_strides,
				 lim->log_max_strides);
	if ((unsigned)log + bytes < lim->log_min_stride_wqe)
		return cx_refuse(
			call, CX_ST_BAD_PARAM, "wq.log_wqe_num_of_strides",
			"2^%d strides of 2^%u bytes are less than 2^%u in one WQE", log,
			bytes, lim->log_min_stride_wqe);
	wq->log_strides = (uint8_t)log;
	wq->log_stride_bytes = (uint8_t)bytes;
	wq->two_byte_shift = CX_GET(wq, ctx, two_byte_shift_en);
	return CX_ST_OK;
}

/* 0 none, 1 to a cache line; source: kernel mlx5_ifc.h. What is behind the data in a buffer is
 * undefined then, so the model writes nothing there. */
static enum cx_status check_padding(struct cx_call *call, const uint8_t *ctx)
{
	uint64_t mode = CX_GET(wq, ctx, end_padding_mode);

	if (mode > 1)
		return cx_refuse(call, CX_ST_BAD_PARAM, "wq.end_padding_mode",
				 "%llu is not known", (unsigned long long)mode);
	if (mode && !cx_cap(call->dev, "hca.end_pad"))
		return cx_refuse(call, CX_ST_BAD_PARAM, "wq.end_padding_mode",
				 "set, but capability hca.end_pad is 0");
	return CX_ST_OK;
}

/* ---- memory ---- */

/* Offset 64: page_offset counts so (kernel qp.c, mlx5_umem_find_best_quantized_pgoff). The
 * record: a receive and a send word, 8 bytes. The device writes to neither. */
static enum cx_status take_memory(struct cx_call *call, const uint8_t *ctx,
				  struct cx_wq *wq)
{
	struct cx_range ring = {
		.umem = CX_GET(wq, ctx, wq_umem_id),
		.offset = CX_GET(wq, ctx, wq_umem_offset),
		.bytes = UINT64_C(1) << (wq->log_size + wq->log_stride),
		.align = 64,
		.umem_field = "wq.wq_umem_id",
		.offset_field = "wq.wq_umem_offset",
	};
	struct cx_range record = {
		.umem = CX_GET(wq, ctx, dbr_umem_id),
		.offset = CX_GET(wq, ctx, dbr_addr),
		.bytes = 8,
		.align = 8,
		.umem_field = "wq.dbr_umem_id",
		.offset_field = "wq.dbr_addr",
	};
	enum cx_status st;
	uint8_t *p;

	if (!CX_GET(wq, ctx, wq_umem_valid))
		return cx_refuse(call, CX_ST_BAD_PARAM, "wq.wq_umem_valid",
				 "0, and the model takes no page lists");
	if (!CX_GET(wq, ctx, dbr_umem_valid))
		return cx_refuse(call, CX_ST_BAD_PARAM, "wq.dbr_umem_valid",
				 "0, and the model takes no physical addresses");
	st = cx_call_range(call, &ring, &wq->ring_umem, &wq->ring);
	if (st == CX_ST_OK)
		st = cx_call_range(call, &record, &wq->dbrec_umem, &p);
	if (st == CX_ST_OK)
		wq->dbrec = (volatile uint32_t *)(void *)p;
	return st;
}

/* ---- all of it ---- */

static enum cx_status check_receive(struct cx_call *call, const uint8_t *ctx,
				    struct cx_wq *wq)
{
	enum cx_status st = cx_call_forbid(call, ctx, no_in_receive);

	if (st == CX_ST_OK)
		st = check_padding(call, ctx);
	if (st != CX_ST_OK)
		return st;
	if (wq->type != CX_WQ_CYCLIC_STRIDING)
		return cx_call_forbid(call, ctx, no_in_plain);
	return take_strides(call, ctx, wq);
}

enum cx_status cx_call_wq(struct cx_call *call, const uint8_t *ctx, enum cx_obj_type type,
			  struct cx_wq *wq)
{
	bool send = type == CX_SQ;
	enum cx_status st = take_type(call, ctx, send, wq);

	if (st == CX_ST_OK)
		st = cx_call_forbid(call, ctx, no_in_wq);
	if (st == CX_ST_OK)
		st = take_stride(call, ctx, send, wq);
	if (st == CX_ST_OK)
		st = take_size(call, ctx, wq);
	if (st == CX_ST_OK)
		st = send ? cx_call_forbid(call, ctx, no_in_send)
			  : check_receive(call, ctx, wq);
	if (st != CX_ST_OK)
		return st;
	wq->pdn = (uint32_t)CX_GET(wq, ctx, pd);
	if (!cx_call_obj(call, CX_PD, wq->pdn, "wq.pd", &st))
		return st;
	return take_memory(call, ctx, wq);
}

void cx_wq_use(struct cx_dev *dev, const struct cx_wq *wq)
{
	cx_use(cx_obj_get(dev, CX_PD, wq->pdn, 0));
	cx_use(&wq->ring_umem->obj);
	cx_use(&wq->dbrec_umem->obj);
}

void cx_wq_unuse(struct cx_dev *dev, const struct cx_wq *wq)
{
	cx_unuse(cx_obj_get(dev, CX_PD, wq->pdn, 0));
	cx_unuse(&wq->ring_umem->obj);
	cx_unuse(&wq->dbrec_umem->obj);
}

void cx_wq_answer(uint8_t *ctx, const struct cx_wq *wq, unsigned sw)
{
	CX_SET(wq, ctx, hw_counter, wq->head);
	CX_SET(wq, ctx, sw_counter,
	       be32toh(__atomic_load_n(wq->dbrec + sw, __ATOMIC_RELAXED)));
}

/* ---- states ---- */

static const char *state_name(uint64_t state)
{
	static const char *const names[] = { "RST", "RDY", "2 (no state)", "ERR" };

	return state < 4 ? names[state] : "(no state)";
}

/* From each state: to itself, and RST -> RDY (kernel, DPDK), RST -> ERR (kernel qp.c: 2ERR in
 * optab), RDY -> ERR, RDY -> RST (DPDK MLX5_RXQ_MOD_RDY2RST), ERR -> RST. Not ERR -> RDY:
 * drivers always pass through RST. */
static bool can_go(enum cx_q_state from, uint64_t to)
{
	static const uint8_t next[] = {
		[CX_Q_RST] = 1 << CX_Q_RST | 1 << CX_Q_RDY | 1 << CX_Q_ERR,
		[CX_Q_RDY] = 1 << CX_Q_RST | 1 << CX_Q_RDY | 1 << CX_Q_ERR,
		[CX_Q_ERR] = 1 << CX_Q_RST | 1 << CX_Q_ERR,
	};

	return next[from] >> to & 1;
}

/* Status: assumed from its meaning in kernel device.h; the kernel's logs show it for a wrong
 * state of a QP ("2RST_QP failed, status bad resource state"). */
enum cx_status cx_call_state(struct cx_call *call, enum cx_q_state state, uint64_t from,
			     uint64_t to, const char *from_field, const char *to_field)
{
	if (from != (uint64_t)state)
		return cx_refuse(call, CX_ST_BAD_RES_STATE, from_field,
				 "%s, but the queue is in %s", state_name(from),
				 state_name(state));
	if (to != CX_Q_RST && to != CX_Q_RDY && to != CX_Q_ERR)
		return cx_refuse(call, CX_ST_BAD_PARAM, to_field, "%llu is no state",
				 (unsigned long long)to);
	if (!can_go(state, to))
		return cx_refuse(call, CX_ST_BAD_RES_STATE, to_field,
				 "no way from %s to %s", state_name(state),
				 state_name(to));
	return CX_ST_OK;
}

/* ---- timestamps ---- */

enum { TS_FREE_RUNNING = 0, TS_DEFAULT = 1, TS_REAL_TIME = 2 };
enum { TS_CAP_FREE_RUNNING = 0, TS_CAP_REAL_TIME = 1 }; /* 2: both */

enum cx_status cx_call_ts_format(struct cx_call *call, uint64_t format, const char *cap,
				 const char *field)
{
	uint32_t can = cx_cap(call->dev, cap);

	if (format > TS_REAL_TIME)
		return cx_refuse(call, CX_ST_BAD_PARAM, field, "%llu is not known",
				 (unsigned long long)format);
	if ((format == TS_FREE_RUNNING && can == TS_CAP_REAL_TIME) ||
	    (format == TS_REAL_TIME && can == TS_CAP_FREE_RUNNING))
		return cx_refuse(call, CX_ST_BAD_PARAM, field,
				 "%s, but capability %s is %u",
				 format == TS_REAL_TIME ? "real time" : "free running",
				 cap, can);
	return CX_ST_OK;
}

/* ---- the table ---- */

const struct cx_cmd cx_cmds_wq[] = {
	{ 0x904, "CREATE_SQ", &cx_layout_create_sq_in, &cx_layout_create_sq_out,
	  cx_create_sq },
	{ 0x905, "MODIFY_SQ", &cx_layout_modify_sq_in, NULL, cx_modify_sq },
	{ 0x906, "DESTROY_SQ", &cx_layout_destroy_sq_in, NULL, cx_destroy_sq },
	{ 0x907, "QUERY_SQ", &cx_layout_query_sq_in, &cx_layout_query_sq_out,
	  cx_query_sq },
	{ 0x908, "CREATE_RQ", &cx_layout_create_rq_in, &cx_layout_create_rq_out,
	  cx_create_rq },
	{ 0x909, "MODIFY_RQ", &cx_layout_modify_rq_in, NULL, cx_modify_rq },
	{ 0x90a, "DESTROY_RQ", &cx_layout_destroy_rq_in, NULL, cx_destroy_rq },
	{ 0x90b, "QUERY_RQ", &cx_layout_query_rq_in, &cx_layout_query_rq_out,
	  cx_query_rq },
	{ 0x90c, "CREATE_RMP", &cx_layout_create_rmp_in, &cx_layout_create_rmp_out,
	  cx_create_rmp },
	{ 0x90d, "MODIFY_RMP", &cx_layout_modify_rmp_in, NULL, cx_modify_rmp },
	{ 0x90e, "DESTROY_RMP", &cx_layout_destroy_rmp_in, NULL, cx_destroy_rmp },
	{ 0x90f, "QUERY_RMP", &cx_layout_query_rmp_in, &cx_layout_query_rmp_out,
	  cx_query_rmp },
	{ 0, NULL, NULL, NULL, NULL },
};
