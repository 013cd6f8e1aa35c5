/* core/cmd_mkey.c - memory keys over a umem, as DevX programs make them
 *
 * Only direct keys: a range of addresses is a range of a umem, page by page (DPDK
 * drivers/common/mlx5/mlx5_devx_cmds.c, mlx5_devx_cmd_mkey_create without a list). Keys
 * that point to other keys, keys without translation and keys made to be changed by
 * UMR are refused. Keys of REG_MR come by cx_mkey_reg().
 */
#include "call.h"

#include <stdlib.h>

/* IB_ACCESS_* of the kernel's include/rdma/ib_verbs.h, the first is CX_ACCESS_LOCAL_WRITE; and
 * two of our own. Only the first means something here: the rest is for QUERY_MKEY. */
enum {
	LOCAL_WRITE = 1,
	REMOTE_WRITE = 2,
	REMOTE_READ = 4,
	REMOTE_ATOMIC = 8,
	RELAXED_WRITE = 1 << 24,
	RELAXED_READ = 1 << 25
};
/* kernel mlx5_ifc.h, MLX5_MKC_ACCESS_MODE_* */
enum { MODE_PHYSICAL = 0, MODE_TABLE = 1, MODE_KLM = 2, MODE_KSM = 3 };

#define NO_QP 0xffffff /* the key is not bound to a queue */

static const struct cx_forbidden no_in_create[] = {
	CX_FORBIDDEN(mkc, free, "a key to be filled by UMR is not modelled"),
	CX_FORBIDDEN(mkc, umr_en, "UMR is not modelled"),
	CX_FORBIDDEN(mkc, access_mode_4_2, "not known"),
	CX_FORBIDDEN(mkc, length64, "keys of all memory are not modelled"),
	CX_FORBIDDEN(mkc, bsf_en, "signatures are not modelled"),
	CX_FORBIDDEN(mkc, sync_umr, "UMR is not modelled"),
	CX_FORBIDDEN(mkc, expected_sigerr_count, "signatures are not modelled"),
	CX_FORBIDDEN(mkc, en_rinval, "remote invalidation is not modelled"),
	CX_FORBIDDEN(mkc, small_fence_on_rdma_read_response, "RDMA is not modelled"),
	CX_FORBIDDEN(mkc, bsf_octword_size, "signatures are not modelled"),
	{ 0, NULL, NULL },
};

static const struct cx_needed caps_in_create[] = {
	CX_NEEDED(mkc, relaxed_ordering_write, "hca.relaxed_ordering_write"),
	CX_NEEDED(mkc, relaxed_ordering_read, "hca.relaxed_ordering_read"),
	{ 0, NULL, NULL },
};

static enum cx_status check_mailbox(struct cx_call *call)
{
	size_t fixed = CX_BYTES(create_mkey_in);
	enum cx_status st = cx_call_plain(call);

	if (st != CX_ST_OK)
		return st;
	if (CX_GET(create_mkey_in, call->in, pg_access))
		return cx_refuse(call, CX_ST_BAD_PARAM, "create_mkey_in.pg_access",
				 "set, but capability hca.pg is 0");
	if (!CX_GET(create_mkey_in, call->in, mkey_umem_valid))
		return cx_refuse(call, CX_ST_BAD_PARAM, "create_mkey_in.mkey_umem_valid",
				 "0, and the model takes no page lists");
	return cx_call_empty(call, call->in + fixed, call->in_len - fixed,
			     "create_mkey_in.klm_pas_mtt");
}

static enum cx_status check_mode(struct cx_call *call, const uint8_t *ctx)
{
	uint64_t mode = CX_GET(mkc, ctx, access_mode_1_0), qpn = CX_GET(mkc, ctx, qpn);

	if (mode != MODE_TABLE)
		return cx_refuse(call, CX_ST_BAD_PARAM, "mkc.access_mode_1_0",
				 "%llu: only tables of pages are modelled",
				 (unsigned long long)mode);
	if (qpn != NO_QP)
		return cx_refuse(call, CX_ST_BAD_PARAM, "mkc.qpn",
				 "0x%llx: keys of one queue are not modelled",
				 (unsigned long long)qpn);
	return CX_ST_OK;
}

/* One octword holds two page addresses. Drivers may announce more: DPDK does. */
static enum cx_status check_table(struct cx_call *call, const uint8_t *ctx)
{
	uint64_t log = CX_GET(mkc, ctx, log_page_size), len = CX_GET(mkc, ctx, len);
	uint64_t in_page = CX_GET(mkc, ctx, start_addr) & ((UINT64_C(1) << log) - 1);
	uint64_t pages, octwords = CX_GET(mkc, ctx, translations_octword_size);
	uint64_t actual =
		CX_GET(create_mkey_in, call->in, translations_octword_actual_size);

	if (log < 12)
		return cx_refuse(call, CX_ST_BAD_PARAM, "mkc.log_page_size",
				 "%llu is less than 12", (unsigned long long)log);
	if (!len || len - 1 > UINT64_MAX - CX_GET(mkc, ctx, start_addr))
		return cx_refuse(call, CX_ST_BAD_PARAM, "mkc.len",
				 "0x%llx from 0x%llx on", (unsigned long long)len,
				 (unsigned long long)CX_GET(mkc, ctx, start_addr));
	pages = (in_page + (len - 1)) / (UINT64_C(1) << log) + 1;
	if (octwords < (pages + 1) / 2)
		return cx_refuse(call, CX_ST_BAD_PARAM, "mkc.translations_octword_size",
				 "%llu for %llu pages", (unsigned long long)octwords,
				 (unsigned long long)pages);
	if (actual < (pages + 1) / 2)
		return cx_refuse(call, CX_ST_BAD_PARAM,
				 "create_mkey_in.translations_octword_actual_size",
				 "%llu for %llu pages", (unsigned long long)actual,
				 (unsigned long long)pages);
	return CX_ST_OK;
}

/* A page table keeps the low bits of an address: the card would read beside what was meant,
 * here it is refused. */
static enum cx_status take_memory(struct cx_call *call, const uint8_t *ctx,
				  struct cx_umem **umem, uint8_t **base)
{
	struct cx_range r = {
		.umem = CX_GET(create_mkey_in, call->in, mkey_umem_id),
		.offset = CX_GET(create_mkey_in, call->in, mkey_umem_offset),
		.bytes = CX_GET(mkc, ctx, len),
		.align = 1,
		.access = CX_GET(mkc, ctx, lw) ? CX_ACCESS_LOCAL_WRITE : 0,
		.umem_field = "create_mkey_in.mkey_umem_id",
		.offset_field = "create_mkey_in.mkey_umem_offset",
	};
	uint64_t start = CX_GET(mkc, ctx, start_addr);
	enum cx_status st = cx_call_range(call, &r, umem, base);

	if (st == CX_ST_OK && ((uintptr_t)*base ^ start) & 0xfff)
		return cx_refuse(
			call, CX_ST_BAD_PARAM, "mkc.start_addr",
			"0x%llx has another offset in its page than the memory, 0x%x",
			(unsigned long long)start, (unsigned)((uintptr_t)*base & 0xfff));
	return st;
}

static uint32_t access_of(const uint8_t *ctx)
{
	return (CX_GET(mkc, ctx, lw) ? LOCAL_WRITE : 0) |
	       (CX_GET(mkc, ctx, rw) ? REMOTE_WRITE : 0) |
	       (CX_GET(mkc, ctx, rr) ? REMOTE_READ : 0) |
	       (CX_GET(mkc, ctx, a) ? REMOTE_ATOMIC : 0) |
	       (CX_GET(mkc, ctx, relaxed_ordering_write) ? RELAXED_WRITE : 0) |
	       (CX_GET(mkc, ctx, relaxed_ordering_read) ? RELAXED_READ : 0);
}

static enum cx_status check_create(struct cx_call *call, const uint8_t *ctx)
{
	enum cx_status st = check_mailbox(call);

	if (st == CX_ST_OK)
		st = cx_call_forbid(call, ctx, no_in_create);
	if (st == CX_ST_OK)
		st = cx_call_need(call, ctx, caps_in_create);
	if (st == CX_ST_OK)
		st = check_mode(call, ctx);
	if (st == CX_ST_OK)
		st = check_table(call, ctx);
	if (st == CX_ST_OK)
		cx_call_obj(call, CX_PD, (uint32_t)CX_GET(mkc, ctx, pd), "mkc.pd", &st);
	return st;
}

enum cx_status cx_create_mkey(struct cx_call *call)
{
	const uint8_t *ctx = CX_AT(create_mkey_in, call->in, memory_key_mkey_entry);
	enum cx_status st = check_create(call, ctx);
	struct cx_umem *umem = NULL;
	struct cx_mkey *mkey;
	uint8_t *base = NULL;

	if (st == CX_ST_OK)
		st = take_memory(call, ctx, &umem, &base);
	if (st != CX_ST_OK)
		return st;
	if (cx_mkey_new(call->dev, call->uid, (uint32_t)CX_GET(mkc, ctx, pd), base,
			CX_GET(mkc, ctx, start_addr), CX_GET(mkc, ctx, len),
			access_of(ctx), umem, &mkey))
		return cx_refuse(call, CX_ST_LIMIT, "create_mkey_out.mkey_index",
				 "no number left for another MKEY");
	mkey->variant = (uint8_t)CX_GET(mkc, ctx, mkey_7_0);
	CX_SET(create_mkey_out, call->out, mkey_index, mkey->obj.num);
	return CX_ST_OK;
}

/* ---- QUERY_MKEY, DESTROY_MKEY ---- */

/* The same for keys of CREATE_MKEY and REG_MR: as a table of 4 KiB pages. */
static void answer(uint8_t *ctx, const struct cx_mkey *mkey)
{
	uint64_t pages = ((mkey->iova & 0xfff) + (mkey->len - 1)) / 4096 + 1;

	CX_SET(mkc, ctx, access_mode_1_0, MODE_TABLE);
	CX_SET(mkc, ctx, lr, 1);
	CX_SET(mkc, ctx, lw, !!(mkey->access & LOCAL_WRITE));
	CX_SET(mkc, ctx, rw, !!(mkey->access & REMOTE_WRITE));
	CX_SET(mkc, ctx, rr, !!(mkey->access & REMOTE_READ));
	CX_SET(mkc, ctx, a, !!(mkey->access & REMOTE_ATOMIC));
	CX_SET(mkc, ctx, relaxed_ordering_write, !!(mkey->access & RELAXED_WRITE));
	CX_SET(mkc, ctx, relaxed_ordering_read, !!(mkey->access & RELAXED_READ));
	CX_SET(mkc, ctx, qpn, NO_QP);
	CX_SET(mkc, ctx, mkey_7_0, mkey->variant);
	CX_SET(mkc, ctx, pd, mkey->pdn);
	CX_SET(mkc, ctx, start_addr, mkey->iova);
	CX_SET(mkc, ctx, len, mkey->len);
	CX_SET(mkc, ctx, log_page_size, 12);
	CX_SET(mkc, ctx, translations_octword_size, (pages + 1) / 2);
}

enum cx_status cx_query_mkey(struct cx_call *call)
{
	enum cx_status st;
	struct cx_mkey *mkey =
		(struct cx_mkey *)CX_ABOUT(call, CX_MKEY, query_mkey_in, mkey_index, &st);

	if (!mkey)
		return st;
	if (CX_GET(query_mkey_in, call->in, pg_access))
		return cx_refuse(call, CX_ST_BAD_PARAM, "query_mkey_in.pg_access",
				 "set, but capability hca.pg is 0");
	answer(CX_AT(query_mkey_out, call->out, memory_key_mkey_entry), mkey);
	return CX_ST_OK;
}

enum cx_status cx_destroy_mkey(struct cx_call *call)
{
	enum cx_status st;
	struct cx_mkey *mkey = (struct cx_mkey *)CX_ABOUT(call, CX_MKEY, destroy_mkey_in,
							  mkey_index, &st);

	if (!mkey)
		return st;
	st = cx_call_unused(call, &mkey->obj, "destroy_mkey_in.mkey_index");
	if (st == CX_ST_OK)
		cx_mkey_free(call->dev, mkey);
	return st;
}
