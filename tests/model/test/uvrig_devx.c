/* test/uvrig_devx.c - see uvrig.h: queues that a program makes itself */
#define _GNU_SOURCE 1
#include "uvrig.h"

#include <endian.h>
#include <errno.h>
#include <string.h>

#define ENTRIES	  16u
#define BUF_BYTES 256u

/* ---- completion queues ---- */

uint32_t uvr_eqn(int fd, uint32_t vector)
{
	uint32_t eqn = 0;
	struct uvc c;

	uvc_begin(&c, MLX5_IB_OBJECT_DEVX, MLX5_IB_METHOD_DEVX_QUERY_EQN);
	uvc_u32(&c, MLX5_IB_ATTR_DEVX_QUERY_EQN_USER_VEC, vector);
	uvc_out(&c, MLX5_IB_ATTR_DEVX_QUERY_EQN_DEV_EQN, &eqn, sizeof(eqn));
	assert_int_equal(uvc_run(fd, &c), vector < CX_COMP_VECTORS ? 0 : ENOENT);
	return eqn;
}

void uvr_dcq_fill(const struct uvr_ctx *ctx, const struct uvr_dcq *cq, uint8_t *in)
{
	uint8_t *cqc = CX_AT(create_cq_in, in, cq_context);

	memset(in, 0, CX_BYTES(create_cq_in));
	CX_SET(create_cq_in, in, opcode, CX_OP_CREATE_CQ);
	CX_SET(create_cq_in, in, cq_umem_id, cq->umem_num);
	CX_SET(cqc, cqc, dbr_umem_id, cq->umem_num);
	CX_SET(cqc, cqc, dbr_addr, 4096);
	CX_SET(cqc, cqc, log_cq_size, 4);
	CX_SET(cqc, cqc, uar_page, ctx->uar_num);
	CX_SET(cqc, cqc, c_eqn, uvr_eqn(ctx->fd, 0));
}

void uvr_dcq(const struct uvr_ctx *ctx, struct uvr_dcq *cq)
{
	uint8_t in[CX_BYTES(create_cq_in)], out[16] = { 0 };

	memset(cq, 0, sizeof(*cq));
	cq->ring = uvc_mem(8192);
	cq->dbrec = (void *)(cq->ring + 4096);
	for (unsigned i = 0; i < ENTRIES; i++)
		cq->ring[i * 64 + 63] = 0xf1;
	assert_int_equal(
		uvr_reg_umem(ctx->fd, cq->ring, 8192, 1, &cq->umem, &cq->umem_num), 0);
	uvr_dcq_fill(ctx, cq, in);
	assert_int_equal(
		uvr_create(ctx->fd, in, sizeof(in), out, sizeof(out), &cq->handle), 0);
	cq->cqn = (uint32_t)CX_GET(create_cq_out, out, cqn);
}

const uint8_t *uvr_dpoll(struct uvr_dcq *cq)
{
	const uint8_t *cqe = cq->ring + (cq->ci % ENTRIES) * 64u;
	uint8_t op_own = __atomic_load_n(cqe + 63, __ATOMIC_ACQUIRE);

	if (op_own >> 4 == 0xf || (op_own & 1) != (cq->ci / ENTRIES & 1))
		return NULL;
	cq->ci++;
	__atomic_store_n(cq->dbrec, htobe32(cq->ci & 0xffffff), __ATOMIC_RELEASE);
	return cqe;
}

void uvr_darm(const struct uvr_ctx *ctx, struct uvr_dcq *cq)
{
	uint32_t hi = (cq->arm_sn++ & 3) << 28 | (cq->ci & 0xffffff);
	uint64_t db = (uint64_t)hi << 32 | cq->cqn;

	__atomic_store_n(cq->dbrec + 1, htobe32(hi), __ATOMIC_RELEASE);
	__atomic_store_n((uint64_t *)(void *)(ctx->page + 0x20), htobe64(db),
			 __ATOMIC_RELEASE);
}

/* ---- receive queues ---- */

static void make_rq(const struct uvr_ctx *ctx, struct uvr_drq *rq, uint32_t cqn)
{
	uint8_t in[CX_BYTES(create_rq_in)] = { 0 }, out[16] = { 0 };
	uint8_t *rqc = CX_AT(create_rq_in, in, ctx), *wq = CX_AT(rqc, rqc, wq);

	CX_SET(create_rq_in, in, opcode, CX_OP_CREATE_RQ);
	CX_SET(rqc, rqc, flush_in_error_en, 1);
	CX_SET(rqc, rqc, cqn, cqn);
	CX_SET(wq, wq, wq_type, 1);
	CX_SET(wq, wq, pd, ctx->pdn);
	CX_SET(wq, wq, log_wq_sz, 4);
	CX_SET(wq, wq, log_wq_stride, 4);
	CX_SET(wq, wq, wq_umem_id, rq->umem_num);
	CX_SET(wq, wq, dbr_umem_id, rq->umem_num);
	CX_SET(wq, wq, dbr_addr, 1024);
	assert_int_equal(
		uvr_create(ctx->fd, in, sizeof(in), out, sizeof(out), &rq->handle), 0);
	rq->rqn = (uint32_t)CX_GET(create_rq_out, out, rqn);
}

static void ready_rq(const struct uvr_ctx *ctx, const struct uvr_drq *rq)
{
	uint8_t in[CX_BYTES(modify_rq_in)] = { 0 }, out[16] = { 0 };

	CX_SET(modify_rq_in, in, opcode, CX_OP_MODIFY_RQ);
	CX_SET(modify_rq_in, in, rqn, rq->rqn);
	CX_SET(rqc, CX_AT(modify_rq_in, in, ctx), state, 1);
	assert_int_equal(
		uvr_modify(ctx->fd, rq->handle, in, sizeof(in), out, sizeof(out)), 0);
}

static void make_tir(const struct uvr_ctx *ctx, struct uvr_drq *rq)
{
	uint8_t in[CX_BYTES(create_tir_in)] = { 0 }, out[16] = { 0 };
	uint8_t *tirc = CX_AT(create_tir_in, in, ctx);

	assert_int_equal(
		uvr_alloc(ctx->fd, CX_OP_ALLOC_TRANSPORT_DOMAIN, &rq->td, &rq->tdn), 0);
	CX_SET(create_tir_in, in, opcode, CX_OP_CREATE_TIR);
	CX_SET(tirc, tirc, inline_rqn, rq->rqn);
	CX_SET(tirc, tirc, transport_domain, rq->tdn);
	assert_int_equal(uvr_create(ctx->fd, in, sizeof(in), out, sizeof(out), &rq->tir),
			 0);
	rq->tirn = (uint32_t)CX_GET(create_tir_out, out, tirn);
}

static void post_all(struct uvr_drq *rq)
{
	for (unsigned i = 0; i < ENTRIES; i++) {
		uint8_t *seg = rq->mem + i * 16;

		cx_put_be32(seg, BUF_BYTES);
		cx_put_be32(seg + 4, rq->key);
		cx_put_be64(seg + 8, (uintptr_t)rq->bufs + i * BUF_BYTES);
	}
	__atomic_store_n((uint32_t *)(void *)(rq->mem + 1024), htobe32(ENTRIES),
			 __ATOMIC_RELEASE);
}

void uvr_drq(const struct uvr_ctx *ctx, struct uvr_drq *rq, uint32_t cqn)
{
	memset(rq, 0, sizeof(*rq));
	rq->mem = uvc_mem(4096);
	rq->bufs = uvc_mem(ENTRIES * BUF_BYTES);
	assert_int_equal(
		uvr_reg_umem(ctx->fd, rq->mem, 4096, 1, &rq->umem, &rq->umem_num), 0);
	assert_int_equal(
		uvr_reg_mr(ctx, rq->bufs, ENTRIES * BUF_BYTES, 1, &rq->mr, &rq->key), 0);
	make_rq(ctx, rq, cqn);
	make_tir(ctx, rq);
	post_all(rq);
	ready_rq(ctx, rq);
}

void uvr_drq_destroy(const struct uvr_ctx *ctx, const struct uvr_drq *rq)
{
	assert_int_equal(uvr_devx_destroy(ctx->fd, rq->tir), 0);
	assert_int_equal(uvr_devx_destroy(ctx->fd, rq->handle), 0);
	assert_int_equal(uvr_devx_destroy(ctx->fd, rq->td), 0);
	assert_int_equal(uvr_dereg_mr(ctx->fd, rq->mr), 0);
	assert_int_equal(uvr_dereg_umem(ctx->fd, rq->umem), 0);
}
