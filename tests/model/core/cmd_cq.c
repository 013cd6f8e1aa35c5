/* core/cmd_cq.c - completion queues and the event queues they report to
 *
 * Sources: kernel drivers/infiniband/hw/mlx5/cq.c and include/linux/mlx5/cq.h, DPDK
 * drivers/common/mlx5/mlx5_devx_cmds.c (mlx5_devx_cmd_create_cq). A queue of one entry
 * is legal: DPDK's drop queue has one.
 */
#include "call.h"

#include <endian.h>
#include <errno.h>
#include <stdlib.h>

/* ---- CREATE_CQ ---- */

enum { CQE_64_BYTES = 0, CQE_128_BYTES = 1, CQE_128_PADDED = 2 };

static const struct cx_forbidden no_in_create[] = {
	CX_FORBIDDEN(cqc, status, "the device's to set"),
	CX_FORBIDDEN(cqc, st, "the device's to set"),
	CX_FORBIDDEN(cqc, last_notified_index, "the device's to set"),
	CX_FORBIDDEN(cqc, last_solicit_index, "the device's to set"),
	CX_FORBIDDEN(cqc, consumer_counter, "the device's to set"),
	CX_FORBIDDEN(cqc, producer_counter, "the device's to set"),
	CX_FORBIDDEN(cqc, cc, "collapsed queues are not modelled"),
	CX_FORBIDDEN(cqc, always_armed_cq, "the device cannot"),
	CX_FORBIDDEN(cqc, cq_timestamp_format,
		     "the device cannot: work queues have ts_format"),
	CX_FORBIDDEN(cqc, page_offset, "of a umem cq_umem_offset tells"),
	{ 0, NULL, NULL },
};

static const struct cx_needed caps_in_create[] = {
	CX_NEEDED(cqc, oi, "hca.cq_oi"),
	CX_NEEDED(cqc, scqe_break_moderation_en, "hca.scqe_break_moderation"),
	CX_NEEDED(cqc, cq_period_mode, "hca.cq_period_start_from_cqe"),
	CX_NEEDED(cqc, cq_period, "hca.cq_moderation"),
	CX_NEEDED(cqc, cq_max_count, "hca.cq_moderation"),
	CX_NEEDED(cqc, cqe_comp_en, "hca.cqe_compression"),
	CX_NEEDED(cqc, cqe_comp_layout, "hca.enhanced_cqe_compression"),
	CX_NEEDED(cqc, mini_cqe_res_format_ext, "hca.mini_cqe_resp_l3_l4_tag"),
	{ 0, NULL, NULL },
};

static enum cx_status take_size(struct cx_call *call, const uint8_t *ctx,
				struct cx_cq *cq)
{
	uint64_t cqe_sz = CX_GET(cqc, ctx, cqe_sz), log = CX_GET(cqc, ctx, log_cq_size);

	if (log > call->dev->lim.log_max_cq_size)
		return cx_refuse(call, CX_ST_BAD_PARAM, "cqc.log_cq_size",
				 "%llu is over the limit of %u", (unsigned long long)log,
				 call->dev->lim.log_max_cq_size);
	if (cqe_sz == CQE_128_PADDED && !cx_cap(call->dev, "hca.cqe_128_always"))
		return cx_refuse(
			call, CX_ST_BAD_PARAM, "cqc.cqe_sz",
			"padded entries, but capability hca.cqe_128_always is 0");
	if (cqe_sz > CQE_128_PADDED)
		return cx_refuse(call, CX_ST_BAD_PARAM, "cqc.cqe_sz", "%llu is not known",
				 (unsigned long long)cqe_sz);
	cq->log_size = (uint8_t)log;
	cq->cqe_bytes = cqe_sz == CQE_64_BYTES ? 64 : 128;
	return CX_ST_OK;
}

/* Formats 0 hash, 1 checksum, 2 tag and stride index, 3 checksum and stride index; the
 * fourth, L3 and L4 type and stride index, is 0 with the extension 1. Source: DPDK
 * drivers/net/mlx5/mlx5_devx.c, mlx5_rxq_create_devx_cq_resources. */
static enum cx_status take_format(struct cx_call *call, const uint8_t *ctx,
				  struct cx_cq *cq)
{
	static const struct {
		enum cx_mini_format mini;
		const char *cap;
	} formats[] = {
		{ CX_MINI_HASH, NULL },
		{ CX_MINI_CSUM, NULL },
		{ CX_MINI_TAG_STRIDE, "hca.mini_cqe_resp_flow_tag" },
		{ CX_MINI_CSUM_STRIDE, "hca.mini_cqe_resp_stride_index" },
	};
	uint64_t format = CX_GET(cqc, ctx, mini_cqe_res_format);
	uint64_t ext = CX_GET(cqc, ctx, mini_cqe_res_format_ext);

	if (ext > 1 || (ext && format))
		return cx_refuse(call, CX_ST_BAD_PARAM, "cqc.mini_cqe_res_format_ext",
				 "%llu with format %llu is not known",
				 (unsigned long long)ext, (unsigned long long)format);
	if (formats[format].cap && !cx_cap(call->dev, formats[format].cap))
		return cx_refuse(call, CX_ST_BAD_PARAM, "cqc.mini_cqe_res_format",
				 "%llu, but capability %s is 0",
				 (unsigned long long)format, formats[format].cap);
	cq->mini = ext ? CX_MINI_L34_STRIDE : formats[format].mini;
	return CX_ST_OK;
}

/* That the other fields must be zero without cqe_comp_en is assumed: drivers leave them so. */
static enum cx_status take_compression(struct cx_call *call, const uint8_t *ctx,
				       struct cx_cq *cq)
{
	static const struct cx_forbidden without[] = {
		CX_FORBIDDEN(cqc, cqe_comp_layout, "set, but cqe_comp_en is 0"),
		CX_FORBIDDEN(cqc, mini_cqe_res_format, "set, but cqe_comp_en is 0"),
		CX_FORBIDDEN(cqc, mini_cqe_res_format_ext, "set, but cqe_comp_en is 0"),
		{ 0, NULL, NULL },
	};
	uint64_t layout = CX_GET(cqc, ctx, cqe_comp_layout);

	cq->comp = CX_COMP_NONE;
	if (!CX_GET(cqc, ctx, cqe_comp_en))
		return cx_call_forbid(call, ctx, without);
	if (layout > 1)
		return cx_refuse(call, CX_ST_BAD_PARAM, "cqc.cqe_comp_layout",
				 "%llu is not known", (unsigned long long)layout);
	if (cq->cqe_bytes == 128 && !cx_cap(call->dev, "hca.cqe_compression_128"))
		return cx_refuse(
			call, CX_ST_BAD_PARAM, "cqc.cqe_comp_en",
			"with 128-byte entries, but capability hca.cqe_compression_128 is 0");
	cq->comp = layout ? CX_COMP_ENHANCED : CX_COMP_BASIC;
	return take_format(call, ctx, cq);
}

/* 0 from the event on, 1 from the completion on; source: kernel mlx5_ifc.h. */
static enum cx_status take_moderation(struct cx_call *call, const uint8_t *ctx,
				      struct cx_cq *cq)
{
	uint64_t mode = CX_GET(cqc, ctx, cq_period_mode);

	if (mode > 1)
		return cx_refuse(call, CX_ST_BAD_PARAM, "cqc.cq_period_mode",
				 "%llu is not known", (unsigned long long)mode);
	cq->overrun_ignore = CX_GET(cqc, ctx, oi);
	cq->period = (uint16_t)CX_GET(cqc, ctx, cq_period);
	cq->max_count = (uint16_t)CX_GET(cqc, ctx, cq_max_count);
	return CX_ST_OK;
}

static enum cx_status take_objects(struct cx_call *call, const uint8_t *ctx,
				   struct cx_cq *cq)
{
	uint32_t uar = (uint32_t)CX_GET(cqc, ctx, uar_page);
	uint32_t eqn = (uint32_t)CX_GET(cqc, ctx, c_eqn);
	enum cx_status st = CX_ST_OK;

	cq->uar = (struct cx_uar *)cx_call_obj(call, CX_UAR, uar, "cqc.uar_page", &st);
	if (cq->uar)
		cx_call_obj(call, CX_EQ, eqn, "cqc.c_eqn", &st);
	cq->eqn = eqn;
	return st;
}

/* The record has two words of 32 bits and 29 address bits (rdma-core tests/mlx5_prm_structs.py,
 * SwCqc), so 8 bytes; entries 64 (page_offset counts so). Only entries are written. */
static enum cx_status take_memory(struct cx_call *call, const uint8_t *ctx,
				  struct cx_cq *cq)
{
	struct cx_range ring = {
		.umem = CX_GET(create_cq_in, call->in, cq_umem_id),
		.offset = CX_GET(create_cq_in, call->in, cq_umem_offset),
		.bytes = (uint64_t)cq->cqe_bytes << cq->log_size,
		.align = 64,
		.access = CX_ACCESS_LOCAL_WRITE,
		.umem_field = "create_cq_in.cq_umem_id",
		.offset_field = "create_cq_in.cq_umem_offset",
	};
	struct cx_range record = {
		.umem = CX_GET(cqc, ctx, dbr_umem_id),
		.offset = CX_GET(cqc, ctx, dbr_addr),
		.bytes = 8,
		.align = 8,
		.umem_field = "cqc.dbr_umem_id",
		.offset_field = "cqc.dbr_addr",
	};
	enum cx_status st;
	uint8_t *p;

	if (!CX_GET(create_cq_in, call->in, cq_umem_valid))
		return cx_refuse(call, CX_ST_BAD_PARAM, "create_cq_in.cq_umem_valid",
				 "0, and the model takes no page lists");
	if (!CX_GET(cqc, ctx, dbr_umem_valid))
		return cx_refuse(call, CX_ST_BAD_PARAM, "cqc.dbr_umem_valid",
				 "0, and the model takes no physical addresses");
	st = cx_call_range(call, &ring, &cq->ring_umem, &cq->ring);
	if (st == CX_ST_OK)
		st = cx_call_range(call, &record, &cq->dbrec_umem, &p);
	if (st == CX_ST_OK)
		cq->dbrec = (volatile uint32_t *)(void *)p;
	return st;
}

static enum cx_status check_create(struct cx_call *call, const uint8_t *ctx,
				   struct cx_cq *cq)
{
	size_t fixed = CX_BYTES(create_cq_in);
	enum cx_status st = cx_call_plain(call);

	if (st == CX_ST_OK)
		st = cx_call_empty(call, call->in + fixed, call->in_len - fixed,
				   "create_cq_in.pas");
	if (st == CX_ST_OK)
		st = cx_call_forbid(call, ctx, no_in_create);
	if (st == CX_ST_OK)
		st = take_size(call, ctx, cq);
	if (st == CX_ST_OK)
		st = take_compression(call, ctx, cq);
	if (st == CX_ST_OK)
		st = cx_call_need(call, ctx, caps_in_create);
	if (st == CX_ST_OK)
		st = take_moderation(call, ctx, cq);
	if (st == CX_ST_OK)
		st = take_objects(call, ctx, cq);
	return st == CX_ST_OK ? take_memory(call, ctx, cq) : st;
}

static enum cx_status create_cq(struct cx_call *call)
{
	const uint8_t *ctx = CX_AT(create_cq_in, call->in, cq_context);
	struct cx_cq *cq = calloc(1, sizeof(*cq));
	enum cx_status st;

	if (!cq)
		return cx_call_no_memory(call);
	st = check_create(call, ctx, cq);
	if (st != CX_ST_OK) {
		free(cq);
		return st;
	}
	st = cx_call_add(call, &cq->obj, CX_CQ, "create_cq_out.cqn");
	if (st != CX_ST_OK)
		return st;
	memcpy(cq->ctx, ctx, sizeof(cq->ctx));
	cx_use(&cq->uar->obj);
	cx_use(&cq->ring_umem->obj);
	cx_use(&cq->dbrec_umem->obj);
	cx_use(cx_obj_get(call->dev, CX_EQ, cq->eqn, 0));
	cx_cq_opened(cq);
	CX_SET(create_cq_out, call->out, cqn, cq->obj.num);
	return CX_ST_OK;
}

/* ---- MODIFY_CQ ---- */

/* op_mod 1 is resize; source of all: kernel cq.h. */
enum { OP_MOD_RESIZE = 1 };
enum { SELECT_PERIOD = 1 << 0, SELECT_COUNT = 1 << 1, SELECT_OVERRUN = 1 << 2 };

static const struct {
	uint32_t bit;
	cx_field field;
} modifiable[] = {
	{ SELECT_PERIOD, CX_cqc__cq_period },
	{ SELECT_COUNT, CX_cqc__cq_max_count },
	{ SELECT_OVERRUN, CX_cqc__oi },
};
#define N_MODIFIABLE (sizeof(modifiable) / sizeof(modifiable[0]))

/* devx.c of the kernel sets cq_umem_valid in each MODIFY_CQ of a program, so it may be set. */
static enum cx_status check_modify(struct cx_call *call, const uint8_t *ctx,
				   uint32_t select)
{
	cx_field fields[N_MODIFIABLE + 1] = { 0 };
	size_t fixed = CX_BYTES(modify_cq_in);
	uint32_t rest = select, n = 0;
	enum cx_status st;

	if (call->op_mod == OP_MOD_RESIZE)
		return cx_refuse(call, CX_ST_BAD_PARAM, "op_mod",
				 "resize, but capability hca.cq_resize is 0");
	st = cx_call_plain(call);
	if (st != CX_ST_OK)
		return st;
	for (size_t i = 0; i < N_MODIFIABLE; i++)
		if (select & modifiable[i].bit) {
			fields[n++] = modifiable[i].field;
			rest &= ~modifiable[i].bit;
		}
	if (rest || !select)
		return cx_refuse(call, CX_ST_BAD_PARAM,
				 "modify_cq_in.modify_field_select", "0x%x selects %s",
				 select, select ? "unknown fields" : "nothing");
	st = cx_call_empty(call, call->in + fixed, call->in_len - fixed,
			   "modify_cq_in.pas");
	return st == CX_ST_OK ? cx_call_only(call, &cx_layout_cqc, ctx, fields) : st;
}

static enum cx_status modify_cq(struct cx_call *call)
{
	const uint8_t *ctx = CX_AT(modify_cq_in, call->in, cq_context);
	uint32_t cqn = (uint32_t)CX_GET(modify_cq_in, call->in, cqn);
	uint32_t select = (uint32_t)CX_GET(modify_cq_in, call->in, modify_field_select);
	enum cx_status st = CX_ST_OK;
	struct cx_cq *cq =
		(struct cx_cq *)cx_call_obj(call, CX_CQ, cqn, "modify_cq_in.cqn", &st);

	if (!cq)
		return st;
	st = check_modify(call, ctx, select);
	if (st == CX_ST_OK)
		st = cx_call_need(call, ctx, caps_in_create);
	if (st != CX_ST_OK)
		return st;
	for (size_t i = 0; i < N_MODIFIABLE; i++)
		if (select & modifiable[i].bit)
			cx_set(cq->ctx, modifiable[i].field,
			       cx_get(ctx, modifiable[i].field));
	return take_moderation(call, cq->ctx, cq);
}

/* ---- QUERY_CQ, DESTROY_CQ ---- */

/* Source: kernel mlx5_ifc.h, MLX5_CQC_STATUS_* and MLX5_CQC_ST_*. */
enum { STATUS_OK = 0, STATUS_OVERFLOW = 9 };
enum { ST_SOLICITED_ARMED = 6, ST_ARMED = 9, ST_FIRED = 10 };

static uint32_t st_of(const struct cx_cq *cq)
{
	if (!cq->armed)
		return ST_FIRED;
	return cq->arm_cmd ? ST_SOLICITED_ARMED : ST_ARMED;
}

static enum cx_status query_cq(struct cx_call *call)
{
	uint8_t *ctx = CX_AT(query_cq_out, call->out, cq_context);
	enum cx_status st;
	struct cx_cq *cq = (struct cx_cq *)CX_ABOUT(call, CX_CQ, query_cq_in, cqn, &st);

	if (!cq)
		return st;
	memcpy(ctx, cq->ctx, sizeof(cq->ctx));
	CX_SET(cqc, ctx, status, cq->error ? STATUS_OVERFLOW : STATUS_OK);
	CX_SET(cqc, ctx, st, st_of(cq));
	CX_SET(cqc, ctx, consumer_counter,
	       be32toh(__atomic_load_n(cq->dbrec, __ATOMIC_RELAXED)));
	CX_SET(cqc, ctx, producer_counter, cq->pi);
	return CX_ST_OK;
}

static enum cx_status destroy_cq(struct cx_call *call)
{
	enum cx_status st;
	struct cx_cq *cq = (struct cx_cq *)CX_ABOUT(call, CX_CQ, destroy_cq_in, cqn, &st);

	if (!cq)
		return st;
	st = cx_call_unused(call, &cq->obj, "destroy_cq_in.cqn");
	if (st != CX_ST_OK)
		return st;
	cx_unuse(&cq->uar->obj);
	cx_unuse(&cq->ring_umem->obj);
	cx_unuse(&cq->dbrec_umem->obj);
	cx_unuse(cx_obj_get(call->dev, CX_EQ, cq->eqn, 0));
	cx_obj_free(call->dev, &cq->obj);
	return CX_ST_OK;
}

const struct cx_cmd cx_cmds_cq[] = {
	{ 0x400, "CREATE_CQ", &cx_layout_create_cq_in, &cx_layout_create_cq_out,
	  create_cq },
	{ 0x401, "DESTROY_CQ", &cx_layout_destroy_cq_in, NULL, destroy_cq },
	{ 0x402, "QUERY_CQ", &cx_layout_query_cq_in, &cx_layout_query_cq_out, query_cq },
	{ 0x403, "MODIFY_CQ", &cx_layout_modify_cq_in, NULL, modify_cq },
	{ 0, NULL, NULL, NULL, NULL },
};

/* ---- event queues ---- */

/* There is no CREATE_EQ: events leave the core by ops.event, and the kernel's queues are its
 * own affair. Their numbers exist, because CREATE_CQ must name one. */
int cx_eqs_new(struct cx_dev *dev)
{
	for (unsigned i = 0; i < CX_COMP_VECTORS; i++) {
		struct cx_obj *eq = calloc(1, sizeof(*eq));
		int rc = eq ? cx_obj_add(dev, eq, CX_EQ, 0) : -ENOMEM;

		if (rc) {
			free(eq);
			return rc;
		}
	}
	return 0;
}

struct find_eq {
	unsigned left;
	uint32_t eqn;
};

static bool count_down(void *arg, struct cx_obj *obj)
{
	struct find_eq *f = arg;

	if (f->left--)
		return true;
	f->eqn = obj->num;
	return false;
}

uint32_t cx_eqn(const struct cx_dev *dev, unsigned vector)
{
	struct find_eq f = { vector, 0 };

	cx_obj_each(dev, CX_EQ, count_down, &f);
	return f.eqn;
}
