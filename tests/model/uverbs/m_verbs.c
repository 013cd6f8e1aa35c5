/* uverbs/m_verbs.c - protection domains, memory regions, completion queues
 *
 * Sources: Linux 6.1 core/uverbs_cmd.c, uverbs_std_types_cq.c, uverbs_std_types_mr.c,
 * verbs.c; hw/mlx5/cq.c (mlx5_ib_create_cq(), create_cq_user(), mlx5_ib_modify_cq()),
 * mr.c, main.c (mlx5_ib_alloc_pd()).
 */
#include "uverbs.h"

#include <errno.h>
#include <string.h>

#include "../core/layout.h"
#include "opcode.h"

/* ---- protection domains ---- */

static int alloc_pd(struct uv_call *call)
{
	struct ib_uverbs_alloc_pd_resp resp = { 0 };
	struct mlx5_ib_alloc_pd_resp driver;
	struct ib_uverbs_alloc_pd req;
	struct uv_obj *pd;
	int rc = uv_req(call, &req, sizeof(req));

	if (!rc)
		rc = uv_new(call, UVERBS_OBJECT_PD, &pd);
	if (rc)
		return rc;
	rc = uv_exec_alloc(call->port, pd->uid, CX_OP_ALLOC_PD, &pd->num);
	if (rc)
		return uv_refuse(call, -rc, "device", "no protection domain");
	uv_undo_push(pd, UV_UNDO_CMD, CX_OP_DEALLOC_PD, pd->num, NULL);
	driver.pdn = pd->num;
	uv_uhw_out(call, &driver, sizeof(driver));
	resp.pd_handle = pd->handle;
	return uv_resp(call, &resp, sizeof(resp));
}

static int dealloc_pd(struct uv_call *call)
{
	struct ib_uverbs_dealloc_pd req;
	int rc = uv_req(call, &req, sizeof(req));

	return rc ? rc : uv_destroy(call, UVERBS_OBJECT_PD, req.pd_handle, NULL);
}

static int pd_query(struct uv_call *call)
{
	const struct uv_obj *pd = uv_in_obj(call, MLX5_IB_ATTR_QUERY_PD_HANDLE);

	return uv_out(call, MLX5_IB_ATTR_QUERY_PD_RESP_PDN, &pd->num, sizeof(pd->num));
}

/* ---- memory ---- */

#define ACCESS_KNOWN \
	((2 * IB_UVERBS_ACCESS_HUGETLB - 1) | IB_UVERBS_ACCESS_OPTIONAL_RANGE)
#define ACCESS_REMOTE (IB_UVERBS_ACCESS_REMOTE_WRITE | IB_UVERBS_ACCESS_REMOTE_ATOMIC)

int uv_check_access(struct uv_call *call, uint32_t flags)
{
	if (flags & ACCESS_REMOTE && !(flags & IB_UVERBS_ACCESS_LOCAL_WRITE))
		return uv_refuse(call, EINVAL, "access_flags",
				 "0x%x: remote write without local", flags);
	if (flags & ~(uint32_t)ACCESS_KNOWN)
		return uv_refuse(call, EINVAL, "access_flags", "0x%x", flags);
	if (flags & IB_UVERBS_ACCESS_ON_DEMAND)
		return uv_refuse(call, EOPNOTSUPP, "access_flags",
				 "0x%x: on-demand paging", flags);
	return 0;
}

/* Does it need memory to write to? */
static bool is_writable(uint32_t access)
{
	return access &
	       (IB_UVERBS_ACCESS_LOCAL_WRITE | ACCESS_REMOTE | IB_UVERBS_ACCESS_MW_BIND);
}

int uv_umem_of(struct uv_call *call, struct uv_obj *obj, uint64_t addr, uint64_t len,
	       uint32_t access, uint32_t *umem)
{
	struct uv_map *map;
	int rc = uv_map_client(call, addr, len, is_writable(access), &map);

	if (rc)
		return uv_refuse(call, -rc, "memory", "0x%llx + %llu",
				 (unsigned long long)addr, (unsigned long long)len);
	rc = cx_umem_reg(call->port->dev, obj->uid, map->at, len,
			 access & IB_UVERBS_ACCESS_LOCAL_WRITE, umem);
	if (rc) {
		uv_map_put(map);
		return uv_refuse(call, -rc, "device", "no user memory of %llu bytes",
				 (unsigned long long)len);
	}
	uv_undo_push(obj, UV_UNDO_UMEM, 0, *umem, map);
	return 0;
}

static int make_mr(struct uv_call *call, struct uv_obj *mr,
		   const struct ib_uverbs_reg_mr *req)
{
	struct uv_map *map;
	struct uv_obj *pd;
	int rc = uv_get(call, UVERBS_OBJECT_PD, req->pd_handle, "pd_handle", &pd);

	if (rc)
		return rc;
	rc = uv_map_client(call, req->start, req->length, is_writable(req->access_flags),
			   &map);
	if (rc)
		return uv_refuse(call, -rc, "memory", "0x%llx + %llu",
				 (unsigned long long)req->start,
				 (unsigned long long)req->length);
	uv_obj_use(mr, pd);
	uv_undo_push(mr, UV_UNDO_MAP, 0, 0, map);
	rc = cx_mkey_reg(call->port->dev, mr->uid, pd->num, map->at, req->hca_va,
			 req->length, req->access_flags, &mr->num);
	if (rc)
		return uv_refuse(call, -rc, "device", "no key over %llu bytes",
				 (unsigned long long)req->length);
	uv_undo_push(mr, UV_UNDO_MKEY, 0, mr->num, NULL);
	mr->mr.iova = req->hca_va;
	mr->mr.len = req->length;
	return 0;
}

static int reg_mr(struct uv_call *call)
{
	struct ib_uverbs_reg_mr_resp resp = { 0 };
	struct ib_uverbs_reg_mr req;
	struct uv_obj *mr;
	int rc = uv_req(call, &req, sizeof(req));

	if (rc)
		return rc;
	if ((req.start ^ req.hca_va) % UV_PAGE)
		return uv_refuse(call, EINVAL, "hca_va",
				 "0x%llx: other page offset than 0x%llx",
				 (unsigned long long)req.hca_va,
				 (unsigned long long)req.start);
	rc = uv_new(call, UVERBS_OBJECT_MR, &mr);
	if (!rc)
		rc = uv_check_access(call, req.access_flags);
	if (!rc)
		rc = make_mr(call, mr, &req);
	if (rc)
		return rc;
	resp.mr_handle = mr->handle;
	resp.lkey = resp.rkey = mr->num;
	return uv_resp(call, &resp, sizeof(resp));
}

static int dereg_mr(struct uv_call *call)
{
	struct ib_uverbs_dereg_mr req;
	int rc = uv_req(call, &req, sizeof(req));

	return rc ? rc : uv_destroy(call, UVERBS_OBJECT_MR, req.mr_handle, NULL);
}

static int query_mr(struct uv_call *call)
{
	const struct uv_obj *mr = uv_in_obj(call, UVERBS_ATTR_QUERY_MR_HANDLE);

	uv_out(call, UVERBS_ATTR_QUERY_MR_RESP_LKEY, &mr->num, sizeof(mr->num));
	uv_out(call, UVERBS_ATTR_QUERY_MR_RESP_RKEY, &mr->num, sizeof(mr->num));
	uv_out(call, UVERBS_ATTR_QUERY_MR_RESP_LENGTH, &mr->mr.len, sizeof(mr->mr.len));
	uv_out_if(call, UVERBS_ATTR_QUERY_MR_RESP_IOVA, &mr->mr.iova,
		  sizeof(mr->mr.iova));
	return 0;
}

/* ---- completion channels ---- */

static int create_comp_channel(struct uv_call *call)
{
	struct ib_uverbs_create_comp_channel_resp resp = { 0 };
	struct ib_uverbs_create_comp_channel req;
	int fd, rc = uv_req(call, &req, sizeof(req));

	if (!rc)
		rc = uv_need_context(call);
	if (rc)
		return rc;
	rc = uv_evfile_new(call->ctx, UV_EV_COMP, false, &call->fresh_file, &fd);
	if (rc)
		return uv_refuse(call, -rc, "channel", "no event file");
	uv_resp(call, &resp, sizeof(resp)); /* the client's library puts the number in */
	uv_pass_fd(call, uv_attr(call, UVERBS_ATTR_CORE_OUT), 2, 0, fd);
	return 0;
}

/* ---- completion queues ---- */

struct cq_conf {
	uint64_t user_handle;
	uint32_t cqe, vector, flags;
	uint32_t entries; /* a power of two */
	struct uv_evfile *comp, *async;
	struct mlx5_ib_create_cq drv;
};

#define CQ_DRV_FLAGS \
	(MLX5_IB_CREATE_CQ_FLAGS_CQE_128B_PAD | MLX5_IB_CREATE_CQ_FLAGS_UAR_PAGE_INDEX | \
	 MLX5_IB_CREATE_CQ_FLAGS_REAL_TIME_TS)

static int check_cq_size(struct uv_call *call, struct cq_conf *c)
{
	uint32_t max = 1u << uv_cap(call->port, "hca.log_max_cq_sz");

	if (c->vector >= call->port->n_vectors)
		return uv_refuse(call, EINVAL, "comp_vector", "%u of %u", c->vector,
				 call->port->n_vectors);
	if (c->flags & ~(uint32_t)(IB_UVERBS_CQ_FLAGS_TIMESTAMP_COMPLETION |
				   IB_UVERBS_CQ_FLAGS_IGNORE_OVERRUN))
		return uv_refuse(call, EOPNOTSUPP, "flags", "0x%x", c->flags);
	if (c->cqe >= max)
		return uv_refuse(call, EINVAL, "cqe", "%u of %u", c->cqe, max - 1);
	for (c->entries = 1; c->entries < c->cqe + 1;)
		c->entries *= 2;
	return 0;
}

static int check_cq_driver(struct uv_call *call, struct cq_conf *c)
{
	struct mlx5_ib_create_cq *d = &c->drv;
	int rc =
		uv_uhw_in(call, d, sizeof(*d), offsetof(struct mlx5_ib_create_cq, flags));

	if (rc)
		return rc;
	if (d->flags & ~CQ_DRV_FLAGS)
		return uv_refuse(call, EINVAL, "driver flags", "0x%x", d->flags);
	if ((d->cqe_size != 64 && d->cqe_size != 128) || d->reserved0 || d->reserved1)
		return uv_refuse(call, EINVAL, "cqe_size", "%u", d->cqe_size);
	if (d->buf_addr % 64)
		return uv_refuse(call, EINVAL, "buf_addr", "0x%llx is not aligned",
				 (unsigned long long)d->buf_addr);
	if (!(d->flags & MLX5_IB_CREATE_CQ_FLAGS_UAR_PAGE_INDEX))
		return uv_refuse(call, EINVAL, "driver flags",
				 "no doorbell page is named");
	if (d->flags & MLX5_IB_CREATE_CQ_FLAGS_CQE_128B_PAD &&
	    (d->cqe_size != 128 || !uv_cap(call->port, "hca.cqe_128_always")))
		return uv_refuse(call, EOPNOTSUPP, "driver flags",
				 "padding to 128 bytes");
	return 0;
}

/* mini_cqe_res_format_to_hw() */
static int comp_format(struct uv_call *call, unsigned format, unsigned *hw)
{
	switch (format) {
	case MLX5_IB_CQE_RES_FORMAT_HASH:
		*hw = 0;
		return 0;
	case MLX5_IB_CQE_RES_FORMAT_CSUM:
		*hw = 1;
		return 0;
	case MLX5_IB_CQE_RES_FORMAT_CSUM_STRIDX:
		*hw = 3;
		if (uv_cap(call->port, "hca.mini_cqe_resp_stride_index"))
			return 0;
		return uv_refuse(call, EOPNOTSUPP, "cqe_comp_res_format", "stride index");
	default:
		return uv_refuse(call, EINVAL, "cqe_comp_res_format", "%u", format);
	}
}

static int set_compression(struct uv_call *call, const struct mlx5_ib_create_cq *d,
			   uint8_t *cqc)
{
	const char *cap = d->cqe_size == 128 ? "hca.cqe_compression_128"
					     : "hca.cqe_compression";
	unsigned format = 0;
	int rc;

	if (d->cqe_comp_en != 1)
		return 0;
	if (!uv_cap(call->port, cap))
		return uv_refuse(call, EOPNOTSUPP, "cqe_comp_en", "with %u bytes",
				 d->cqe_size);
	rc = comp_format(call, d->cqe_comp_res_format, &format);
	if (rc)
		return rc;
	CX_SET(cqc, cqc, cqe_comp_en, 1);
	CX_SET(cqc, cqc, mini_cqe_res_format, format);
	return 0;
}

static unsigned cqe_sz(const struct mlx5_ib_create_cq *d)
{
	if (d->cqe_size == 64)
		return 0;
	return d->flags & MLX5_IB_CREATE_CQ_FLAGS_CQE_128B_PAD ? 2 : 1;
}

static void fill_cqc(struct uv_call *call, const struct cq_conf *c, uint8_t *in,
		     uint32_t ring, uint32_t record)
{
	uint8_t *cqc = CX_AT(create_cq_in, in, cq_context);

	CX_SET(create_cq_in, in, opcode, CX_OP_CREATE_CQ);
	CX_SET(create_cq_in, in, cq_umem_id, ring);
	CX_SET(create_cq_in, in, cq_umem_valid, 1);
	CX_SET(cqc, cqc, dbr_umem_id, record);
	CX_SET(cqc, cqc, dbr_umem_valid, 1);
	CX_SET(cqc, cqc, cqe_sz, cqe_sz(&c->drv));
	CX_SET(cqc, cqc, log_cq_size, (unsigned)__builtin_ctz(c->entries));
	CX_SET(cqc, cqc, uar_page, c->drv.uar_page_index);
	CX_SET(cqc, cqc, c_eqn, call->port->eqn[c->vector]);
	CX_SET(cqc, cqc, oi, !!(c->flags & IB_UVERBS_CQ_FLAGS_IGNORE_OVERRUN));
}

void uv_report_async(struct uv_obj *obj, struct uv_evfile *ef)
{
	if (!ef)
		ef = obj->ctx->default_async;
	obj->async = ef;
	if (!ef)
		return;
	uv_evfile_get(ef);
	uv_undo_push(obj, UV_UNDO_EVFILE, 0, 0, ef);
}

static void report_completions(struct uv_obj *cq, struct uv_evfile *ef)
{
	cq->comp = ef;
	if (!ef)
		return;
	uv_evfile_get(ef);
	uv_undo_push(cq, UV_UNDO_EVFILE, 0, 0, ef);
}

static int exec_create_cq(struct uv_call *call, struct uv_obj *cq, uint8_t *in)
{
	uint8_t out[CX_BYTES(create_cq_out)];
	int rc;

	uv_undo_push(cq, UV_UNDO_WATCH, 0, 0, NULL);
	rc = uv_exec(call->port, cq->uid, in, CX_BYTES(create_cq_in), out, sizeof(out));
	if (rc)
		return uv_refuse(call, -rc, "device", "CREATE_CQ failed");
	cq->num = (uint32_t)CX_GET(create_cq_out, out, cqn);
	uv_undo_push(cq, UV_UNDO_CMD, CX_OP_DESTROY_CQ, cq->num, NULL);
	return uv_watch_add(cq, CX_CQ, cq->num);
}

static int make_cq(struct uv_call *call, struct uv_obj *cq, struct cq_conf *c)
{
	uint8_t in[CX_BYTES(create_cq_in)] = { 0 };
	uint32_t ring = 0, record = 0;
	int rc = check_cq_size(call, c);

	if (!rc)
		rc = check_cq_driver(call, c);
	if (!rc)
		rc = set_compression(call, &c->drv, CX_AT(create_cq_in, in, cq_context));
	if (!rc)
		rc = uv_umem_of(call, cq, c->drv.buf_addr,
				(uint64_t)c->entries * c->drv.cqe_size,
				IB_UVERBS_ACCESS_LOCAL_WRITE, &ring);
	if (!rc)
		rc = uv_umem_of(call, cq, c->drv.db_addr, 8, IB_UVERBS_ACCESS_LOCAL_WRITE,
				&record);
	if (rc)
		return rc;
	fill_cqc(call, c, in, ring, record);
	cq->user_handle = c->user_handle;
	cq->cq.entries = c->entries;
	cq->cq.timestamp = c->flags & IB_UVERBS_CQ_FLAGS_TIMESTAMP_COMPLETION;
	cq->cq.real_time = c->drv.flags & MLX5_IB_CREATE_CQ_FLAGS_REAL_TIME_TS;
	report_completions(cq, c->comp);
	uv_report_async(cq, c->async);
	rc = exec_create_cq(call, cq, in);
	if (!rc)
		uv_uhw_out(call, &cq->num, sizeof(cq->num));
	return rc;
}

static int cq_create(struct uv_call *call)
{
	struct uv_obj *cq = uv_in_obj(call, UVERBS_ATTR_CREATE_CQ_HANDLE);
	struct cq_conf c = {
		.user_handle = uv_in64(call, UVERBS_ATTR_CREATE_CQ_USER_HANDLE),
		.cqe = uv_in32(call, UVERBS_ATTR_CREATE_CQ_CQE),
		.vector = uv_in32(call, UVERBS_ATTR_CREATE_CQ_COMP_VECTOR),
		.comp = uv_in_evfile(call, UVERBS_ATTR_CREATE_CQ_COMP_CHANNEL),
		.async = uv_in_evfile(call, UVERBS_ATTR_CREATE_CQ_EVENT_FD),
	};
	uint32_t cqe;
	int rc = uv_flags(call, UVERBS_ATTR_CREATE_CQ_FLAGS,
			  IB_UVERBS_CQ_FLAGS_TIMESTAMP_COMPLETION |
				  IB_UVERBS_CQ_FLAGS_IGNORE_OVERRUN,
			  &c.flags);

	if (!rc)
		rc = make_cq(call, cq, &c);
	if (rc)
		return rc;
	cqe = c.entries - 1;
	return uv_out(call, UVERBS_ATTR_CREATE_CQ_RESP_CQE, &cqe, sizeof(cqe));
}

static int create_cq_from(struct uv_call *call, const struct ib_uverbs_ex_create_cq *req,
			  struct ib_uverbs_create_cq_resp *resp)
{
	struct cq_conf c = { .user_handle = req->user_handle,
			     .cqe = req->cqe,
			     .vector = req->comp_vector,
			     .flags = req->flags };
	struct uv_obj *cq;
	int rc = uv_new(call, UVERBS_OBJECT_CQ, &cq);

	if (rc)
		return rc;
	if (req->comp_channel >= 0)
		rc = uv_evfile_find(call, req->comp_channel, UV_EV_COMP, &c.comp);
	if (rc)
		return uv_refuse(call, -rc, "comp_channel", "%d", req->comp_channel);
	rc = make_cq(call, cq, &c);
	if (rc)
		return rc;
	resp->cq_handle = cq->handle;
	resp->cqe = c.entries - 1;
	return 0;
}

static int write_create_cq(struct uv_call *call)
{
	struct ib_uverbs_create_cq_resp resp = { 0 };
	struct ib_uverbs_ex_create_cq ex = { 0 };
	struct ib_uverbs_create_cq req;
	int rc = uv_req(call, &req, sizeof(req));

	if (rc)
		return rc;
	ex.user_handle = req.user_handle;
	ex.cqe = req.cqe;
	ex.comp_vector = req.comp_vector;
	ex.comp_channel = req.comp_channel;
	rc = create_cq_from(call, &ex, &resp);
	return rc ? rc : uv_resp(call, &resp, sizeof(resp));
}

static int ex_create_cq(struct uv_call *call)
{
	struct ib_uverbs_ex_create_cq_resp resp = { 0 };
	struct ib_uverbs_ex_create_cq req;
	int rc = uv_req(call, &req, sizeof(req));

	if (rc)
		return rc;
	if (req.comp_mask || req.reserved)
		return uv_refuse(call, EINVAL, "comp_mask", "0x%x", req.comp_mask);
	rc = create_cq_from(call, &req, &resp.base);
	if (rc)
		return rc;
	resp.response_length = uv_resp_len(call, sizeof(resp));
	return uv_resp(call, &resp, sizeof(resp));
}

static struct ib_uverbs_destroy_cq_resp counts_of(const struct uv_obj *cq)
{
	return (struct ib_uverbs_destroy_cq_resp){
		.comp_events_reported = cq->comp_events,
		.async_events_reported = cq->async_events
	};
}

static int cq_destroy(struct uv_call *call)
{
	struct ib_uverbs_destroy_cq_resp resp = counts_of(call->gone);

	return uv_out(call, UVERBS_ATTR_DESTROY_CQ_RESP, &resp, sizeof(resp));
}

static int write_destroy_cq(struct uv_call *call)
{
	struct ib_uverbs_destroy_cq_resp resp;
	struct ib_uverbs_destroy_cq req;
	struct uv_obj *cq;
	int rc = uv_req(call, &req, sizeof(req));

	if (!rc)
		rc = uv_destroy(call, UVERBS_OBJECT_CQ, req.cq_handle, &cq);
	if (rc)
		return rc;
	resp = counts_of(cq);
	return uv_resp(call, &resp, sizeof(resp));
}

static int write_resize_cq(struct uv_call *call)
{
	struct ib_uverbs_resize_cq req;
	struct uv_obj *cq;
	int rc = uv_req(call, &req, sizeof(req));

	if (!rc)
		rc = uv_get(call, UVERBS_OBJECT_CQ, req.cq_handle, "cq_handle", &cq);
	return rc ? rc : uv_refuse(call, ENOSYS, "device", "capability cq_resize is 0");
}

/* enum ib_cq_attr_mask; MLX5_CQ_MODIFY_PERIOD and _COUNT */
#define CQ_MODERATE   1
#define SELECT_BOTH   3
#define MAX_CQ_PERIOD 0xfff

static int ex_modify_cq(struct uv_call *call)
{
	uint8_t in[CX_BYTES(modify_cq_in)] = { 0 }, out[16];
	uint8_t *cqc = CX_AT(modify_cq_in, in, cq_context);
	struct ib_uverbs_ex_modify_cq req;
	struct uv_obj *cq;
	int rc = uv_req(call, &req, sizeof(req));

	if (rc)
		return rc;
	if (!req.attr_mask || req.reserved)
		return uv_refuse(call, EINVAL, "attr_mask", "0x%x", req.attr_mask);
	if (req.attr_mask > CQ_MODERATE)
		return uv_refuse(call, EOPNOTSUPP, "attr_mask", "0x%x", req.attr_mask);
	rc = uv_get(call, UVERBS_OBJECT_CQ, req.cq_handle, "cq_handle", &cq);
	if (rc)
		return rc;
	if (!uv_cap(call->port, "hca.cq_moderation"))
		return uv_refuse(call, EOPNOTSUPP, "device",
				 "capability cq_moderation is 0");
	if (req.attr.cq_period > MAX_CQ_PERIOD)
		return uv_refuse(call, EINVAL, "cq_period", "%u", req.attr.cq_period);
	CX_SET(modify_cq_in, in, opcode, CX_OP_MODIFY_CQ);
	CX_SET(modify_cq_in, in, cqn, cq->num);
	CX_SET(modify_cq_in, in, modify_field_select, SELECT_BOTH);
	CX_SET(cqc, cqc, cq_period, req.attr.cq_period);
	CX_SET(cqc, cqc, cq_max_count, req.attr.cq_count);
	rc = uv_exec(call->port, cq->uid, in, sizeof(in), out, sizeof(out));
	return rc ? uv_refuse(call, -rc, "device", "MODIFY_CQ failed") : 0;
}

/* ---- tables ---- */

#define W(cmd, req, resp, run) \
	{ \
		IB_USER_VERBS_CMD_##cmd, #cmd, sizeof(struct req), sizeof(struct resp), \
			run \
	}
#define W_IN(cmd, req, run) \
	{ \
		IB_USER_VERBS_CMD_##cmd, #cmd, sizeof(struct req), 0, run \
	}

const struct uv_write uv_writes_verbs[] = {
	W(ALLOC_PD, ib_uverbs_alloc_pd, ib_uverbs_alloc_pd_resp, alloc_pd),
	W_IN(DEALLOC_PD, ib_uverbs_dealloc_pd, dealloc_pd),
	W(REG_MR, ib_uverbs_reg_mr, ib_uverbs_reg_mr_resp, reg_mr),
	W_IN(DEREG_MR, ib_uverbs_dereg_mr, dereg_mr),
	W(CREATE_COMP_CHANNEL, ib_uverbs_create_comp_channel,
	  ib_uverbs_create_comp_channel_resp, create_comp_channel),
	W(CREATE_CQ, ib_uverbs_create_cq, ib_uverbs_create_cq_resp, write_create_cq),
	W(RESIZE_CQ, ib_uverbs_resize_cq, ib_uverbs_resize_cq_resp, write_resize_cq),
	W(DESTROY_CQ, ib_uverbs_destroy_cq, ib_uverbs_destroy_cq_resp, write_destroy_cq),
	{ UV_EX(CREATE_CQ), "EX_CREATE_CQ",
	  UV_END_OF(struct ib_uverbs_ex_create_cq, reserved),
	  UV_END_OF(struct ib_uverbs_ex_create_cq_resp, response_length), ex_create_cq },
	{ UV_EX(MODIFY_CQ), "EX_MODIFY_CQ", sizeof(struct ib_uverbs_ex_modify_cq), 0,
	  ex_modify_cq },
	{ .name = NULL },
};

const struct uv_method uv_methods_verbs[] = {
	{ UVERBS_OBJECT_PD, UVERBS_METHOD_PD_DESTROY, false, "PD_DESTROY",
	  UV_ATTRS(UV_OBJ(UVERBS_ATTR_DESTROY_PD_HANDLE, UVERBS_OBJECT_PD, UV_DESTROY,
			  UV_MANDATORY)) },
	{ UVERBS_OBJECT_PD, MLX5_IB_METHOD_PD_QUERY, false, "PD_QUERY",
	  UV_ATTRS(UV_OBJ(MLX5_IB_ATTR_QUERY_PD_HANDLE, UVERBS_OBJECT_PD, UV_READ,
			  UV_MANDATORY),
		   UV_OUT_TYPE(MLX5_IB_ATTR_QUERY_PD_RESP_PDN, uint32_t, UV_MANDATORY)),
	  .run = pd_query },
	{ UVERBS_OBJECT_MR, UVERBS_METHOD_MR_DESTROY, false, "MR_DESTROY",
	  UV_ATTRS(UV_OBJ(UVERBS_ATTR_DESTROY_MR_HANDLE, UVERBS_OBJECT_MR, UV_DESTROY,
			  UV_MANDATORY)) },
	{ UVERBS_OBJECT_MR, UVERBS_METHOD_QUERY_MR, false, "QUERY_MR",
	  UV_ATTRS(UV_OBJ(UVERBS_ATTR_QUERY_MR_HANDLE, UVERBS_OBJECT_MR, UV_READ,
			  UV_MANDATORY),
		   UV_OUT_TYPE(UVERBS_ATTR_QUERY_MR_RESP_RKEY, uint32_t, UV_MANDATORY),
		   UV_OUT_TYPE(UVERBS_ATTR_QUERY_MR_RESP_LKEY, uint32_t, UV_MANDATORY),
		   UV_OUT_TYPE(UVERBS_ATTR_QUERY_MR_RESP_LENGTH, uint64_t, UV_MANDATORY),
		   UV_OUT_TYPE(UVERBS_ATTR_QUERY_MR_RESP_IOVA, uint64_t, UV_OPTIONAL)),
	  .run = query_mr },
	{ UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_CREATE, true, "CQ_CREATE",
	  UV_ATTRS(UV_OBJ(UVERBS_ATTR_CREATE_CQ_HANDLE, UVERBS_OBJECT_CQ, UV_NEW,
			  UV_MANDATORY),
		   UV_IN_TYPE(UVERBS_ATTR_CREATE_CQ_CQE, uint32_t, UV_MANDATORY),
		   UV_IN_TYPE(UVERBS_ATTR_CREATE_CQ_USER_HANDLE, uint64_t, UV_MANDATORY),
		   UV_EVFD(UVERBS_ATTR_CREATE_CQ_COMP_CHANNEL, UV_EV_COMP, UV_READ,
			   UV_OPTIONAL),
		   UV_IN_TYPE(UVERBS_ATTR_CREATE_CQ_COMP_VECTOR, uint32_t, UV_MANDATORY),
		   UV_FLAGS_IN(UVERBS_ATTR_CREATE_CQ_FLAGS, UV_OPTIONAL),
		   UV_OUT_TYPE(UVERBS_ATTR_CREATE_CQ_RESP_CQE, uint32_t, UV_MANDATORY),
		   UV_EVFD(UVERBS_ATTR_CREATE_CQ_EVENT_FD, UV_EV_ASYNC, UV_READ,
			   UV_OPTIONAL),
		   UV_UHW),
	  .run = cq_create },
	{ UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_DESTROY, false, "CQ_DESTROY",
	  UV_ATTRS(UV_OBJ(UVERBS_ATTR_DESTROY_CQ_HANDLE, UVERBS_OBJECT_CQ, UV_DESTROY,
			  UV_MANDATORY),
		   UV_OUT_TYPE(UVERBS_ATTR_DESTROY_CQ_RESP,
			       struct ib_uverbs_destroy_cq_resp, UV_MANDATORY)),
	  .run = cq_destroy },
	{ .name = NULL },
};
