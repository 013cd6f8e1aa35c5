/* test/uvrig_verbs.c - see uvrig.h: completion queues, QPs */
#define _GNU_SOURCE 1
#include "uvrig.h"

#include <endian.h>
#include <string.h>

/* ---- completion queues ---- */

int uvr_try_comp_channel(int fd, int *channel)
{
	struct ib_uverbs_create_comp_channel req = { 0 };
	struct ib_uverbs_create_comp_channel_resp resp = { 0 };
	struct uvc_write w = { .cmd = IB_USER_VERBS_CMD_CREATE_COMP_CHANNEL,
			       .in = &req,
			       .in_len = sizeof(req),
			       .out = &resp,
			       .out_len = sizeof(resp) };
	struct uvc c;
	int err = uvc_write(fd, &c, &w);

	*channel = (int)resp.fd;
	return err;
}

int uvr_comp_channel(int fd)
{
	int channel;

	assert_int_equal(uvr_try_comp_channel(fd, &channel), 0);
	return channel;
}

int uvr_async_fd(int fd)
{
	struct uvc c;

	uvc_begin(&c, UVERBS_OBJECT_ASYNC_EVENT, UVERBS_METHOD_ASYNC_EVENT_ALLOC);
	uvc_handle(&c, UVERBS_ATTR_ASYNC_EVENT_ALLOC_FD_HANDLE, 0);
	assert_int_equal(uvc_run(fd, &c), 0);
	return (int)uvc_value(&c, UVERBS_ATTR_ASYNC_EVENT_ALLOC_FD_HANDLE);
}

int uvr_cq(struct uvr_ctx *ctx, struct uvr_cq *cq, uint32_t entries, int channel)
{
	struct mlx5_ib_create_cq drv = { .cqe_size = 64,
					 .flags = MLX5_IB_CREATE_CQ_FLAGS_UAR_PAGE_INDEX,
					 .uar_page_index = (uint16_t)ctx->uar_num };
	uint32_t cqe = 0;
	struct uvc c;
	int rc;

	*cq = (struct uvr_cq){ .entries = entries,
			       .ring = uvc_mem(entries * 64u + 4096) };
	cq->dbrec = (void *)(cq->ring + entries * 64u);
	for (uint32_t i = 0; i < entries; i++)
		cq->ring[i * 64u + 63] = 0xf1; /* invalid, as libmlx5 leaves them */
	drv.buf_addr = (uintptr_t)cq->ring;
	drv.db_addr = (uintptr_t)cq->dbrec;
	uvc_begin(&c, UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_CREATE);
	uvc_handle(&c, UVERBS_ATTR_CREATE_CQ_HANDLE, 0);
	uvc_u32(&c, UVERBS_ATTR_CREATE_CQ_CQE, entries - 1);
	uvc_u64(&c, UVERBS_ATTR_CREATE_CQ_USER_HANDLE, (uintptr_t)cq);
	uvc_u32(&c, UVERBS_ATTR_CREATE_CQ_COMP_VECTOR, 1);
	uvc_out(&c, UVERBS_ATTR_CREATE_CQ_RESP_CQE, &cqe, sizeof(cqe));
	uvc_in(&c, UVERBS_ATTR_UHW_IN, &drv, sizeof(drv));
	uvc_out(&c, UVERBS_ATTR_UHW_OUT, &cq->cqn, sizeof(cq->cqn));
	if (channel >= 0)
		uvc_handle(&c, UVERBS_ATTR_CREATE_CQ_COMP_CHANNEL, (uint64_t)channel);
	rc = uvc_run(ctx->fd, &c);
	cq->handle = (uint32_t)uvc_value(&c, UVERBS_ATTR_CREATE_CQ_HANDLE);
	if (!rc)
		assert_int_equal(cqe, entries - 1);
	return rc;
}

int uvr_destroy_cq(int fd, uint32_t handle, struct ib_uverbs_destroy_cq_resp *resp)
{
	struct uvc c;

	uvc_begin(&c, UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_DESTROY);
	uvc_handle(&c, UVERBS_ATTR_DESTROY_CQ_HANDLE, handle);
	uvc_out(&c, UVERBS_ATTR_DESTROY_CQ_RESP, resp, sizeof(*resp));
	return uvc_run(fd, &c);
}

const uint8_t *uvr_poll(struct uvr_cq *cq)
{
	const uint8_t *cqe = cq->ring + (cq->ci % cq->entries) * 64u;
	uint8_t op_own = __atomic_load_n(cqe + 63, __ATOMIC_ACQUIRE);

	if (op_own >> 4 == 0xf || (op_own & 1) != (cq->ci / cq->entries & 1))
		return NULL;
	cq->ci++;
	__atomic_store_n(cq->dbrec, htobe32(cq->ci & 0xffffff), __ATOMIC_RELEASE);
	return cqe;
}

/* Source: rdma-core providers/mlx5/cq.c, mlx5_arm_cq(); offset 0x20 of the page. */
void uvr_arm(const struct uvr_ctx *ctx, struct uvr_cq *cq)
{
	uint32_t hi = (cq->arm_sn++ & 3) << 28 | (cq->ci & 0xffffff);
	uint64_t db = (uint64_t)hi << 32 | cq->cqn;

	__atomic_store_n(cq->dbrec + 1, htobe32(hi), __ATOMIC_RELEASE);
	__atomic_store_n((uint64_t *)(void *)(ctx->page + 0x20), htobe64(db),
			 __ATOMIC_RELEASE);
}

/* ---- QPs ---- */

int uvr_qp(struct uvr_ctx *ctx, struct uvr_qp *qp, const struct uvr_cq *cq, uint32_t n_sq,
	   uint32_t n_rq)
{
	struct mlx5_ib_create_qp drv = { .sq_wqe_count = n_sq,
					 .rq_wqe_count = n_rq,
					 .rq_wqe_shift = n_rq ? 4 : 0,
					 .uidx = 7,
					 .flags = MLX5_QP_FLAG_UAR_PAGE_INDEX,
					 .bfreg_index = ctx->uar_num };
	struct ib_uverbs_ex_create_qp req = { .user_handle = (uintptr_t)qp,
					      .pd_handle = ctx->pd,
					      .send_cq_handle = cq->handle,
					      .recv_cq_handle = cq->handle,
					      .max_send_wr = n_sq,
					      .max_recv_wr = n_rq,
					      .max_send_sge = 1,
					      .max_recv_sge = 1,
					      .qp_type = IB_UVERBS_QPT_RAW_PACKET };
	struct ib_uverbs_ex_create_qp_resp resp = { 0 };
	struct uvc_write w = { .cmd = IB_USER_VERBS_EX_CMD_CREATE_QP |
				      IB_USER_VERBS_CMD_FLAG_EXTENDED,
			       .in = &req,
			       .in_len = sizeof(req),
			       .out = &resp,
			       .out_len = sizeof(resp),
			       .drv_in = &drv,
			       .drv_in_len = sizeof(drv),
			       .drv_out = &qp->resp,
			       .drv_out_len = sizeof(qp->resp) };
	uint8_t *mem = uvc_mem(n_sq * 64u + n_rq * 16u + 4096);
	struct uvc c;
	int rc;

	*qp = (struct uvr_qp){
		.n_sq = n_sq, .n_rq = n_rq, .sq = mem, .rq = mem + n_sq * 64u
	};
	qp->dbrec = (void *)(mem + n_sq * 64u + ((n_rq * 16u + 63) & ~63u));
	drv.buf_addr = (uintptr_t)qp->rq;
	drv.sq_buf_addr = (uintptr_t)qp->sq;
	drv.db_addr = (uintptr_t)qp->dbrec;
	rc = uvc_write(ctx->fd, &c, &w);
	qp->handle = resp.base.qp_handle;
	qp->num = resp.base.qpn;
	return rc;
}

int uvr_modify_qp(int fd, uint32_t handle, uint32_t mask, uint8_t state)
{
	struct ib_uverbs_modify_qp req = {
		.qp_handle = handle, .attr_mask = mask, .qp_state = state, .port_num = 1
	};
	struct uvc_write w = { .cmd = IB_USER_VERBS_CMD_MODIFY_QP,
			       .in = &req,
			       .in_len = sizeof(req) };
	struct uvc c;

	return uvc_write(fd, &c, &w);
}

void uvr_qp_ready(struct uvr_ctx *c, const struct uvr_qp *qp)
{
	assert_int_equal(uvr_modify_qp(c->fd, qp->handle, 0x21, 1),
			 0); /* INIT, with port */
	assert_int_equal(uvr_modify_qp(c->fd, qp->handle, 0x1, 2), 0); /* RTR */
	assert_int_equal(uvr_modify_qp(c->fd, qp->handle, 0x1, 3), 0); /* RTS */
}

int uvr_destroy_qp(int fd, uint32_t handle, uint32_t *events)
{
	struct ib_uverbs_destroy_qp_resp resp = { 0 };
	struct uvc c;
	int rc;

	uvc_begin(&c, UVERBS_OBJECT_QP, UVERBS_METHOD_QP_DESTROY);
	uvc_handle(&c, UVERBS_ATTR_DESTROY_QP_HANDLE, handle);
	uvc_out(&c, UVERBS_ATTR_DESTROY_QP_RESP, &resp, sizeof(resp));
	rc = uvc_run(fd, &c);
	*events = resp.events_reported;
	return rc;
}

static void put_segment(uint8_t *p, uint32_t key, const void *at, uint32_t len)
{
	cx_put_be32(p, len);
	cx_put_be32(p + 4, key);
	cx_put_be64(p + 8, (uintptr_t)at);
}

void uvr_post_recv(struct uvr_qp *qp, uint32_t key, const void *p, uint32_t len)
{
	put_segment(qp->rq + (qp->rq_pi++ % qp->n_rq) * 16u, key, p, len);
	__atomic_store_n(qp->dbrec, htobe32(qp->rq_pi & 0xffff), __ATOMIC_RELEASE);
}

/* Control, Ethernet without inline, one pointer: three segments in one basic block. */
void uvr_post_send(const struct uvr_ctx *ctx, struct uvr_qp *qp, uint32_t key,
		   const void *p, uint32_t len)
{
	uint8_t *wqe = qp->sq + (qp->sq_pi % qp->n_sq) * 64u;

	memset(wqe, 0, 64);
	cx_put_be32(wqe, (qp->sq_pi & 0xffff) << 8 | 0xa); /* SEND */
	cx_put_be32(wqe + 4, qp->resp.sqn << 8 | 3);
	wqe[11] = 8; /* completion wanted */
	put_segment(wqe + 32, key, p, len);
	qp->sq_pi++;
	__atomic_store_n(qp->dbrec + 1, htobe32(qp->sq_pi & 0xffff), __ATOMIC_RELEASE);
	__atomic_store_n((uint64_t *)(void *)(ctx->page + 0x800),
			 *(uint64_t *)(void *)wqe, __ATOMIC_RELEASE);
}
