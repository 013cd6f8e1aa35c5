/* test/test_uverbs_older.c - the same objects by the older commands and by the newest methods
 *
 * uvrig.h makes CQs by method and QPs by extended command, as rdma-core of today does; other
 * programs and other releases come by other ways.
 */
#define _GNU_SOURCE 1
#include "uvrig.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

static struct uvr_ctx a;
static uint8_t *mem;

static int set_up(void **state)
{
	(void)state;
	uvr_start("eth0=loop", NULL);
	uvr_open(&a, 0);
	mem = uvc_mem(65536);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	uvr_close(&a);
	uvr_stop();
	return 0;
}

static int command(uint32_t cmd, const void *in, size_t in_len, void *out, size_t out_len)
{
	struct uvc_write w = { .cmd = cmd,
			       .in = in,
			       .in_len = in_len,
			       .out = out_len ? out : NULL,
			       .out_len = out_len };
	struct uvc c;

	return uvc_write(a.fd, &c, &w);
}

/* ---- completion queues ---- */

static struct mlx5_ib_create_cq cq_driver(void)
{
	return (struct mlx5_ib_create_cq){ .buf_addr = (uintptr_t)mem,
					   .db_addr = (uintptr_t)mem + 32768,
					   .cqe_size = 64,
					   .flags =
						   MLX5_IB_CREATE_CQ_FLAGS_UAR_PAGE_INDEX,
					   .uar_page_index = (uint16_t)a.uar_num };
}

static int old_cq(struct ib_uverbs_create_cq *req, struct ib_uverbs_create_cq_resp *resp)
{
	struct mlx5_ib_create_cq drv = cq_driver();
	uint32_t cqn[2];
	struct uvc_write w = { .cmd = IB_USER_VERBS_CMD_CREATE_CQ,
			       .in = req,
			       .in_len = sizeof(*req),
			       .out = resp,
			       .out_len = sizeof(*resp),
			       .drv_in = &drv,
			       .drv_in_len = sizeof(drv),
			       .drv_out = cqn,
			       .drv_out_len = sizeof(cqn) };
	struct uvc c;

	return uvc_write(a.fd, &c, &w);
}

static void completion_queues(void **state)
{
	int channel = uvr_comp_channel(a.fd);
	struct ib_uverbs_create_cq req = { .cqe = 63, .comp_channel = -1 };
	struct ib_uverbs_create_cq_resp resp = { 0 };
	struct ib_uverbs_destroy_cq destroy = { 0 };
	struct ib_uverbs_destroy_cq_resp counts = { .comp_events_reported = 9 };
	struct ib_uverbs_resize_cq resize = { .cqe = 127 };
	struct ib_uverbs_resize_cq_resp resized;

	(void)state;
	assert_int_equal(old_cq(&req, &resp), 0);
	assert_int_equal(resp.cqe, 63);
	resize.cq_handle = destroy.cq_handle = resp.cq_handle;
	assert_int_equal(command(IB_USER_VERBS_CMD_RESIZE_CQ, &resize, sizeof(resize),
				 &resized, sizeof(resized)),
			 ENOSYS);
	assert_int_equal(command(IB_USER_VERBS_CMD_DESTROY_CQ, &destroy, sizeof(destroy),
				 &counts, sizeof(counts)),
			 0);
	assert_int_equal(counts.comp_events_reported, 0);
	assert_int_equal(command(IB_USER_VERBS_CMD_DESTROY_CQ, &destroy, sizeof(destroy),
				 &counts, sizeof(counts)),
			 ENOENT);
	req.comp_channel = channel;
	assert_int_equal(old_cq(&req, &resp), 0);
	req.comp_channel = a.fd;
	assert_int_equal(old_cq(&req, &resp), EBADF);
	req.comp_channel = 4711;
	assert_int_equal(old_cq(&req, &resp), EBADF);
	req.comp_channel = -1;
	req.comp_vector = 99;
	assert_int_equal(old_cq(&req, &resp), EINVAL);
	close(channel);
}

static void extended_completion_queues(void **state)
{
	struct mlx5_ib_create_cq drv = cq_driver();
	struct ib_uverbs_ex_create_cq req = {
		.cqe = 63,
		.comp_channel = -1,
		.flags = IB_UVERBS_CQ_FLAGS_TIMESTAMP_COMPLETION
	};
	struct ib_uverbs_ex_create_cq_resp resp = { 0 };
	uint32_t cqn[2];
	struct uvc_write w = { .cmd = IB_USER_VERBS_EX_CMD_CREATE_CQ |
				      IB_USER_VERBS_CMD_FLAG_EXTENDED,
			       .in = &req,
			       .in_len = sizeof(req),
			       .out = &resp,
			       .out_len = sizeof(resp),
			       .drv_in = &drv,
			       .drv_in_len = sizeof(drv),
			       .drv_out = cqn,
			       .drv_out_len = sizeof(cqn) };
	struct uvc c;

	(void)state;
	assert_int_equal(uvc_write(a.fd, &c, &w), 0);
	assert_int_equal(resp.response_length, sizeof(resp));
	assert_int_equal(resp.base.cqe, 63);
	req.flags = 1 << 7;
	assert_int_equal(uvc_write(a.fd, &c, &w), EOPNOTSUPP);
	req.flags = 0;
	req.comp_mask = 1;
	assert_int_equal(uvc_write(a.fd, &c, &w), EINVAL);
}

/* ---- QPs ---- */

static struct mlx5_ib_create_qp qp_driver(void)
{
	return (struct mlx5_ib_create_qp){ .buf_addr = (uintptr_t)mem + 40960,
					   .sq_buf_addr = (uintptr_t)mem + 45056,
					   .db_addr = (uintptr_t)mem + 49152,
					   .sq_wqe_count = 16,
					   .rq_wqe_count = 16,
					   .rq_wqe_shift = 4,
					   .uidx = 7,
					   .flags = MLX5_QP_FLAG_UAR_PAGE_INDEX,
					   .bfreg_index = a.uar_num };
}

static void old_qps(void **state)
{
	struct mlx5_ib_create_qp drv = qp_driver();
	struct mlx5_ib_create_qp_resp drv_out;
	struct ib_uverbs_create_qp req = { .pd_handle = a.pd,
					   .max_send_wr = 16,
					   .max_recv_wr = 16,
					   .max_send_sge = 1,
					   .max_recv_sge = 1,
					   .qp_type = IB_UVERBS_QPT_RAW_PACKET };
	struct ib_uverbs_create_qp_resp resp = { 0 };
	struct ib_uverbs_destroy_qp destroy = { 0 };
	struct ib_uverbs_destroy_qp_resp events;
	struct uvc_write w = { .cmd = IB_USER_VERBS_CMD_CREATE_QP,
			       .in = &req,
			       .in_len = sizeof(req),
			       .out = &resp,
			       .out_len = sizeof(resp),
			       .drv_in = &drv,
			       .drv_in_len = sizeof(drv),
			       .drv_out = &drv_out,
			       .drv_out_len = sizeof(drv_out) };
	struct uvr_cq cq;
	struct uvc c;

	(void)state;
	assert_int_equal(uvr_cq(&a, &cq, 64, -1), 0);
	req.send_cq_handle = req.recv_cq_handle = cq.handle;
	assert_int_equal(uvc_write(a.fd, &c, &w), 0);
	assert_int_equal(resp.qpn, drv_out.sqn);
	assert_int_equal(uvr_modify_qp(a.fd, resp.qp_handle, 0x21, 1), 0);
	destroy.qp_handle = resp.qp_handle;
	assert_int_equal(command(IB_USER_VERBS_CMD_DESTROY_QP, &destroy, sizeof(destroy),
				 &events, sizeof(events)),
			 0);
	assert_int_equal(events.events_reported, 0);
	assert_int_equal(command(IB_USER_VERBS_CMD_DESTROY_QP, &destroy, sizeof(destroy),
				 &events, sizeof(events)),
			 ENOENT);
	req.is_srq = 1;
	assert_int_equal(uvc_write(a.fd, &c, &w), ENOENT);
}

static int modify_ex(uint32_t handle, uint32_t mask, uint8_t state, uint32_t rate,
		     const struct mlx5_ib_modify_qp *drv)
{
	struct ib_uverbs_ex_modify_qp req = { .base = { .qp_handle = handle,
							.attr_mask = mask,
							.qp_state = state,
							.port_num = 1 },
					      .rate_limit = rate };
	struct ib_uverbs_ex_modify_qp_resp resp;
	struct uvc_write w = { .cmd = IB_USER_VERBS_EX_CMD_MODIFY_QP |
				      IB_USER_VERBS_CMD_FLAG_EXTENDED,
			       .in = &req,
			       .in_len = sizeof(req),
			       .out = &resp,
			       .out_len = sizeof(resp),
			       .drv_in = drv,
			       .drv_in_len = drv ? sizeof(*drv) : 0 };
	struct uvc c;
	int rc = uvc_write(a.fd, &c, &w);

	if (!rc)
		assert_int_equal(resp.response_length, sizeof(resp));
	return rc;
}

static void qps_by_extended_modify(void **state)
{
	enum { STATE = 1, PORT = 0x20, RATE = 1 << 25 };
	struct mlx5_ib_modify_qp drv = { 0 };
	struct uvr_cq cq;
	struct uvr_qp qp;

	(void)state;
	assert_int_equal(uvr_cq(&a, &cq, 64, -1), 0);
	assert_int_equal(uvr_qp(&a, &qp, &cq, 16, 16), 0);
	assert_int_equal(modify_ex(qp.handle, STATE | PORT, 1, 0, NULL), 0);
	assert_int_equal(modify_ex(qp.handle, STATE, 2, 0, &drv), 0);
	drv.comp_mask = 1;
	assert_int_equal(modify_ex(qp.handle, STATE, 3, 0, &drv), EOPNOTSUPP);
	drv.comp_mask = 0;
	drv.burst_info.max_burst_sz = 5;
	assert_int_equal(modify_ex(qp.handle, STATE, 3, 0, &drv), EINVAL);
	assert_int_equal(modify_ex(qp.handle, STATE | RATE, 3, 1000, NULL), EOPNOTSUPP);
	assert_int_equal(modify_ex(qp.handle, STATE | 1u << 30, 3, 0, NULL), EOPNOTSUPP);
	assert_int_equal(modify_ex(qp.handle, STATE | RATE, 3, 0, NULL), 0);
}

struct newer {
	uint64_t type;
	const uint32_t *pd, *send_cq, *recv_cq, *table, *xrcd;
	uint32_t flags, source_qpn;
	int async; /* 0 = none */
	struct ib_uverbs_qp_cap cap;
	uint32_t handle, num;
};

static int newer_qp(struct newer *q)
{
	struct mlx5_ib_create_qp drv = qp_driver();
	struct mlx5_ib_create_qp_resp drv_out;
	struct uvc c;
	int rc;

	uvc_begin(&c, UVERBS_OBJECT_QP, UVERBS_METHOD_QP_CREATE);
	uvc_handle(&c, UVERBS_ATTR_CREATE_QP_HANDLE, 0);
	if (q->pd)
		uvc_handle(&c, UVERBS_ATTR_CREATE_QP_PD_HANDLE, *q->pd);
	if (q->send_cq)
		uvc_handle(&c, UVERBS_ATTR_CREATE_QP_SEND_CQ_HANDLE, *q->send_cq);
	if (q->recv_cq)
		uvc_handle(&c, UVERBS_ATTR_CREATE_QP_RECV_CQ_HANDLE, *q->recv_cq);
	if (q->table)
		uvc_handle(&c, UVERBS_ATTR_CREATE_QP_IND_TABLE_HANDLE, *q->table);
	if (q->flags)
		uvc_u32(&c, UVERBS_ATTR_CREATE_QP_FLAGS, q->flags);
	if (q->source_qpn)
		uvc_u32(&c, UVERBS_ATTR_CREATE_QP_SOURCE_QPN, q->source_qpn);
	if (q->async)
		uvc_handle(&c, UVERBS_ATTR_CREATE_QP_EVENT_FD, (uint64_t)q->async);
	uvc_u64(&c, UVERBS_ATTR_CREATE_QP_TYPE, q->type);
	uvc_u64(&c, UVERBS_ATTR_CREATE_QP_USER_HANDLE, 77);
	uvc_in(&c, UVERBS_ATTR_CREATE_QP_CAP, &q->cap, sizeof(q->cap));
	uvc_out(&c, UVERBS_ATTR_CREATE_QP_RESP_CAP, &q->cap, sizeof(q->cap));
	uvc_out(&c, UVERBS_ATTR_CREATE_QP_RESP_QP_NUM, &q->num, sizeof(q->num));
	uvc_in(&c, UVERBS_ATTR_UHW_IN, &drv, sizeof(drv));
	uvc_out(&c, UVERBS_ATTR_UHW_OUT, &drv_out, sizeof(drv_out));
	rc = uvc_run(a.fd, &c);
	q->handle = (uint32_t)uvc_value(&c, UVERBS_ATTR_CREATE_QP_HANDLE);
	return rc;
}

static void newer_qps(void **state)
{
	struct uvr_cq cq;
	struct uvr_wq wq;
	uint32_t table, events;
	struct newer good = { .type = IB_UVERBS_QPT_RAW_PACKET,
			      .pd = &a.pd,
			      .send_cq = &cq.handle,
			      .recv_cq = &cq.handle,
			      .cap = { 16, 16, 1, 1, 0 } },
		     q;
	unsigned rows = 0;

	(void)state;
	assert_int_equal(uvr_cq(&a, &cq, 64, -1), 0);
	uvr_wq_fill(&a, &wq, &cq, 64);
	assert_int_equal(uvr_wq_make(&a, &wq), 0);
	assert_int_equal(uvr_table(a.fd, &wq.handle, 0, &table), 0);
#define ROW(err, change) \
	do { \
		q = good; \
		change; \
		assert_int_equal(newer_qp(&q), err); \
		assert_int_equal(uvr_logged("QP_CREATE"), ++rows); \
	} while (0)
	ROW(EOPNOTSUPP, q.type = IB_UVERBS_QPT_RC);
	ROW(EINVAL, q.type = 99);
	ROW(ENOENT, q.pd = NULL);
	ROW(ENOENT, q.send_cq = NULL);
	ROW(ENOENT, q.recv_cq = NULL);
	ROW(EINVAL, q.table = &table); /* and a receive queue */
	ROW(EINVAL, q.flags = 1u << 31);
	ROW(EOPNOTSUPP, q.flags = IB_UVERBS_QP_CREATE_BLOCK_MULTICAST_LOOPBACK);
	ROW(EOPNOTSUPP, q.source_qpn = 5);
	ROW(EINVAL, q.pd = &cq.handle);
#undef ROW
	q = good;
	q.flags = IB_UVERBS_QP_CREATE_SQ_SIG_ALL;
	q.async = uvr_async_fd(a.fd);
	assert_int_equal(newer_qp(&q), 0);
	assert_int_not_equal(q.num, 0);
	close(q.async);
	assert_int_equal(uvr_modify_qp(a.fd, q.handle, 0x21, 1), 0);
	assert_int_equal(uvr_destroy_qp(a.fd, q.handle, &events), 0);
}

/* ---- the rest ---- */

static void regions_and_domains(void **state)
{
	struct ib_uverbs_dereg_mr dereg;
	struct ib_uverbs_dealloc_pd dealloc;
	uint32_t mr, key, pd, pdn;
	struct uvr_ctx other = a;

	(void)state;
	assert_int_equal(uvr_alloc_pd(a.fd, &pd, &pdn), 0);
	other.pd = pd;
	assert_int_equal(uvr_reg_mr(&other, mem, 4096, 1, &mr, &key), 0);
	dereg = (struct ib_uverbs_dereg_mr){ .mr_handle = mr };
	dealloc = (struct ib_uverbs_dealloc_pd){ .pd_handle = pd };
	assert_int_equal(command(IB_USER_VERBS_CMD_DEALLOC_PD, &dealloc, sizeof(dealloc),
				 NULL, 0),
			 EBUSY);
	assert_int_equal(
		command(IB_USER_VERBS_CMD_DEREG_MR, &dereg, sizeof(dereg), NULL, 0), 0);
	assert_int_equal(command(IB_USER_VERBS_CMD_DEREG_MR, &dereg, sizeof(dereg), NULL,
				 0),
			 ENOENT);
	assert_int_equal(command(IB_USER_VERBS_CMD_DEALLOC_PD, &dealloc, sizeof(dealloc),
				 NULL, 0),
			 0);
}

/* Commands that mlx5_ib has, the model not; commands that nobody has. */
static void commands_that_are_not_there(void **state)
{
	static const uint32_t cmds[] = {
		IB_USER_VERBS_CMD_CREATE_AH,
		IB_USER_VERBS_CMD_CREATE_SRQ,
		IB_USER_VERBS_CMD_OPEN_XRCD,
		IB_USER_VERBS_CMD_ALLOC_MW,
		IB_USER_VERBS_CMD_ATTACH_MCAST,
		IB_USER_VERBS_CMD_POLL_CQ,
		IB_USER_VERBS_CMD_REQ_NOTIFY_CQ,
		IB_USER_VERBS_CMD_REREG_MR,
		200,
		1u << 31 | 200,
		IB_USER_VERBS_CMD_FLAG_EXTENDED | 3,
	};
	uint8_t in[128] = { 0 }, out[128];

	(void)state;
	for (size_t i = 0; i < sizeof(cmds) / sizeof(cmds[0]); i++)
		assert_int_equal(command(cmds[i], in, sizeof(in), out, sizeof(out)),
				 EOPNOTSUPP);
	assert_int_equal(command(0xffffff, in, sizeof(in), out, sizeof(out)), EINVAL);
}

int main(void)
{
	struct CMUnitTest tests[] = {
		cmocka_unit_test(completion_queues),
		cmocka_unit_test(extended_completion_queues),
		cmocka_unit_test(old_qps),
		cmocka_unit_test(qps_by_extended_modify),
		cmocka_unit_test(newer_qps),
		cmocka_unit_test(regions_and_domains),
		cmocka_unit_test(commands_that_are_not_there),
	};

	for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++) {
		tests[i].setup_func = set_up;
		tests[i].teardown_func = tear_down;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
