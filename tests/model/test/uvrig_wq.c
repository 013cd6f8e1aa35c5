/* test/uvrig_wq.c - see uvrig.h: receive queues by themselves, and tables of them */
#define _GNU_SOURCE 1
#include "uvrig.h"

#include <endian.h>
#include <string.h>

#define SEG_BYTES 16u
#define EX(cmd)	  (IB_USER_VERBS_EX_CMD_##cmd | IB_USER_VERBS_CMD_FLAG_EXTENDED)

void uvr_wq_fill(struct uvr_ctx *c, struct uvr_wq *wq, const struct uvr_cq *cq,
		 uint32_t entries)
{
	memset(wq, 0, sizeof(*wq));
	wq->entries = entries;
	wq->ring = uvc_mem(entries * SEG_BYTES + 4096);
	wq->req = (struct ib_uverbs_ex_create_wq){ .wq_type = 0,
						   .user_handle = (uintptr_t)wq,
						   .pd_handle = c->pd,
						   .cq_handle = cq->handle,
						   .max_wr = entries,
						   .max_sge = 1 };
	wq->drv = (struct mlx5_ib_create_wq){ .buf_addr = (uintptr_t)wq->ring,
					      .db_addr = (uintptr_t)wq->ring +
							 entries * SEG_BYTES,
					      .rq_wqe_count = entries,
					      .rq_wqe_shift = 4,
					      .user_index = 7 };
}

int uvr_wq_make(struct uvr_ctx *c, struct uvr_wq *wq)
{
	struct ib_uverbs_ex_create_wq_resp resp = { 0 };
	uint32_t length[2];
	struct uvc_write w = { .cmd = EX(CREATE_WQ),
			       .in = &wq->req,
			       .in_len = sizeof(wq->req),
			       .out = &resp,
			       .out_len = sizeof(resp),
			       .drv_in = &wq->drv,
			       .drv_in_len = sizeof(wq->drv),
			       .drv_out = length,
			       .drv_out_len = sizeof(length) };
	struct uvc call;
	int rc = uvc_write(c->fd, &call, &w);

	wq->handle = resp.wq_handle;
	wq->num = resp.wqn;
	return rc;
}

void uvr_wq_post(struct uvr_wq *wq, uint32_t key, uint8_t *bufs)
{
	for (uint32_t i = 0; i < wq->entries; i++) {
		uint8_t *seg = wq->ring + i * SEG_BYTES;

		cx_put_be32(seg, UVR_BUF_BYTES);
		cx_put_be32(seg + 4, key);
		cx_put_be64(seg + 8, (uintptr_t)bufs + i * UVR_BUF_BYTES);
	}
	__atomic_store_n((uint32_t *)(void *)(wq->ring + wq->entries * SEG_BYTES),
			 htobe32(wq->entries), __ATOMIC_RELEASE);
}

int uvr_modify_wq(int fd, uint32_t handle, uint32_t mask, uint32_t state)
{
	struct mlx5_ib_modify_wq drv = { 0 };
	struct ib_uverbs_ex_modify_wq req = { .attr_mask = mask,
					      .wq_handle = handle,
					      .wq_state = state };
	struct uvc_write w = { .cmd = EX(MODIFY_WQ),
			       .in = &req,
			       .in_len = sizeof(req),
			       .drv_in = &drv,
			       .drv_in_len = sizeof(drv) };
	struct uvc c;

	return uvc_write(fd, &c, &w);
}

int uvr_destroy_wq(int fd, uint32_t handle, uint32_t *events)
{
	struct ib_uverbs_ex_destroy_wq req = { .wq_handle = handle };
	struct ib_uverbs_ex_destroy_wq_resp resp = { 0 };
	struct uvc_write w = { .cmd = EX(DESTROY_WQ),
			       .in = &req,
			       .in_len = sizeof(req),
			       .out = &resp,
			       .out_len = sizeof(resp) };
	struct uvc c;
	int rc = uvc_write(fd, &c, &w);

	*events = resp.events_reported;
	return rc;
}

int uvr_table(int fd, const uint32_t *wq, uint32_t log_size, uint32_t *handle)
{
	struct ib_uverbs_ex_create_rwq_ind_table req = { .log_ind_tbl_size = log_size };
	struct ib_uverbs_ex_create_rwq_ind_table_resp resp = { 0 };
	size_t handles = sizeof(uint32_t) << log_size;
	uint8_t in[sizeof(req) + 4096];
	struct uvc_write w = { .cmd = EX(CREATE_RWQ_IND_TBL),
			       .in = in,
			       .in_len = sizeof(req) + handles,
			       .out = &resp,
			       .out_len = sizeof(resp) };
	struct uvc c;
	int rc;

	assert_true(handles <= 4096);
	memcpy(in, &req, sizeof(req));
	memcpy(in + sizeof(req), wq, handles);
	rc = uvc_write(fd, &c, &w);
	*handle = resp.ind_tbl_handle;
	return rc;
}

int uvr_destroy_table(int fd, uint32_t handle)
{
	struct ib_uverbs_ex_destroy_rwq_ind_table req = { .ind_tbl_handle = handle };
	struct uvc_write w = { .cmd = EX(DESTROY_RWQ_IND_TBL),
			       .in = &req,
			       .in_len = sizeof(req) };
	struct uvc c;

	return uvc_write(fd, &c, &w);
}
