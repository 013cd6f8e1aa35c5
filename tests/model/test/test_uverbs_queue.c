/* test/test_uverbs_queue.c - regions, completion queues and raw packet QPs by verbs */
#define _GNU_SOURCE 1
#include "uvrig.h"

#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const uint8_t mac[6] = { 2, 0, 0, 0, 0, 1 };
static struct uvr_ctx a;

enum { RESET, INIT, RTR, RTS, SQD, SQE, ERR };
enum { STATE = 1, PORT = 0x20 };

static int set_up(void **state)
{
	(void)state;
	uvr_start("eth0=loop", NULL);
	uvr_open(&a, 0);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	uvr_close(&a);
	uvr_stop();
	return 0;
}

/* ---- it works ---- */

static bool has_sent(void *arg)
{
	(void)arg;
	return cx_stats(uvr_dev(0))->tx_wqes != 0;
}

/* The wire is a loop: what the QP sends comes back to its receive queue. */
static void a_qp_sends_and_receives(void **state)
{
	struct uvr_match m;
	struct uvr_receiver r;
	uint8_t *frame = uvc_mem(4096);
	uint32_t mr, key;
	const uint8_t *cqe;
	unsigned sent = 0, got = 0;

	(void)state;
	uvr_match_mac(&m, mac);
	uvr_receiver(&a, &r, -1);
	uvr_flow_to(&r, &m, 0);
	uvr_frame(frame, mac);
	assert_int_equal(uvr_reg_mr(&a, frame, 4096, 0, &mr, &key), 0);
	uvr_post_send(&a, &r.qp, key, frame, 64);
	uvr_until(has_sent, NULL, "the frame is sent");
	uvr_step(0);
	while ((cqe = uvr_poll(&r.cq)))
		switch (cqe[63] >> 4) {
		case 0:
			sent++;
			break;
		case 2:
			got++;
			break;
		default:
			fail_msg("completion with opcode %u", cqe[63] >> 4);
		}
	assert_int_equal(sent, 1);
	assert_int_equal(got, 1);
	assert_memory_equal(r.bufs, frame, 64);
}

/* ---- states ---- */

static int query_state(uint32_t handle, uint8_t *state)
{
	struct ib_uverbs_query_qp req = { .qp_handle = handle, .attr_mask = STATE };
	struct ib_uverbs_query_qp_resp resp = { 0 };
	struct uvc_write w = { .cmd = IB_USER_VERBS_CMD_QUERY_QP,
			       .in = &req,
			       .in_len = sizeof(req),
			       .out = &resp,
			       .out_len = sizeof(resp) };
	struct uvc c;
	int rc = uvc_write(a.fd, &c, &w);

	*state = resp.qp_state;
	return rc;
}

static void expect_state(uint32_t handle, uint8_t want)
{
	uint8_t got = 99;

	assert_int_equal(query_state(handle, &got), 0);
	assert_int_equal(got, want);
}

static void to(uint32_t handle, uint8_t state)
{
	if (state >= INIT && state != ERR)
		assert_int_equal(uvr_modify_qp(a.fd, handle, STATE | PORT, INIT), 0);
	if (state >= RTR && state != ERR)
		assert_int_equal(uvr_modify_qp(a.fd, handle, STATE, RTR), 0);
	if (state >= RTS && state != ERR)
		assert_int_equal(uvr_modify_qp(a.fd, handle, STATE, RTS), 0);
	if (state == ERR) {
		to(handle, RTS);
		assert_int_equal(uvr_modify_qp(a.fd, handle, STATE, ERR), 0);
	}
}

/* Source: Linux 6.1 core/verbs.c, qp_state_table, for raw packet QPs. */
static void every_way_between_states(void **state)
{
	static const uint8_t from[] = { RESET, INIT, RTR, RTS, ERR };
	static const char *const ok[] = { "RESET", "INIT", "RTR", "RTS",
					  "SQD",   "SQE",  "ERR" };
	static const uint8_t way[7] = {
		/* a bit for each state that it may go to */
		[RESET] = 1 << RESET,
		[INIT] = 1 << RESET | 1 << INIT | 1 << RTR | 1 << ERR,
		[RTR] = 1 << RESET | 1 << RTS | 1 << ERR,
		[RTS] = 1 << RESET | 1 << RTS | 1 << ERR,
		[ERR] = 1 << RESET | 1 << ERR,
	};
	struct uvr_cq cq;
	struct uvr_qp qp;
	uint32_t events;

	(void)state;
	assert_int_equal(uvr_cq(&a, &cq, 64, -1), 0);
	for (size_t f = 0; f < sizeof(from); f++)
		for (unsigned t = RESET; t <= ERR + 1; t++) {
			int rc, want = t <= ERR && way[from[f]] >> t & 1 ? 0 : EINVAL;

			assert_int_equal(uvr_qp(&a, &qp, &cq, 16, 16), 0);
			to(qp.handle, from[f]);
			rc = uvr_modify_qp(a.fd, qp.handle, STATE, (uint8_t)t);
			if (rc != want)
				fail_msg("%s to %s: %d", ok[from[f]],
					 t <= ERR ? ok[t] : "7", rc);
			assert_int_equal(uvr_destroy_qp(a.fd, qp.handle, &events), 0);
		}
}

static void the_device_has_the_last_word(void **state)
{
	struct uvr_receiver r;
	char line[64];

	(void)state;
	uvr_receiver(&a, &r, -1);
	expect_state(r.qp.handle, RTS);
	snprintf(line, sizeof(line), "cqe type=sq num=%u syndrome=0x22", r.qp.resp.sqn);
	uvr_fault(0, line);
	expect_state(r.qp.handle, SQE); /* sends no longer, receives as before */
	assert_int_equal(uvr_modify_qp(a.fd, r.qp.handle, STATE, RESET), 0);
	expect_state(r.qp.handle, RESET);
	uvr_qp_ready(&a, &r.qp);
	expect_state(r.qp.handle, RTS);
	snprintf(line, sizeof(line), "cqe type=rq num=%u syndrome=4", r.qp.resp.rqn);
	uvr_fault(0, line);
	/* without a query before */
	assert_int_equal(uvr_modify_qp(a.fd, r.qp.handle, STATE, RESET), 0);
	uvr_qp_ready(&a, &r.qp);
	expect_state(r.qp.handle, RTS);
	assert_int_equal(uvr_modify_qp(a.fd, r.qp.handle, STATE, ERR), 0);
	expect_state(r.qp.handle, ERR);
}

static void modifications_are_checked(void **state)
{
	struct uvr_cq cq;
	struct uvr_qp qp;
	uint8_t st;

	(void)state;
	assert_int_equal(uvr_cq(&a, &cq, 64, -1), 0);
	assert_int_equal(uvr_qp(&a, &qp, &cq, 16, 16), 0);
	assert_int_equal(uvr_modify_qp(a.fd, qp.handle, STATE, INIT),
			 EINVAL); /* no port */
	assert_int_equal(uvr_modify_qp(a.fd, qp.handle, STATE | PORT | 1 << 3, INIT),
			 EINVAL);
	assert_int_equal(uvr_modify_qp(a.fd, qp.handle, 1u << 25, INIT), EOPNOTSUPP);
	assert_int_equal(uvr_modify_qp(a.fd, 4711, STATE | PORT, INIT), ENOENT);
	assert_int_equal(uvr_modify_qp(a.fd, cq.handle, STATE | PORT, INIT), EINVAL);
	assert_int_equal(query_state(4711, &st), ENOENT);
	expect_state(qp.handle, RESET);
}

/* ---- QPs that are refused ---- */

struct qp_call {
	struct ib_uverbs_ex_create_qp req;
	struct mlx5_ib_create_qp drv;
	size_t drv_len;
	struct ib_uverbs_ex_create_qp_resp resp;
};

static int make_qp(struct qp_call *q)
{
	struct mlx5_ib_create_qp_resp drv_out;
	struct uvc_write w = { .cmd = IB_USER_VERBS_EX_CMD_CREATE_QP |
				      IB_USER_VERBS_CMD_FLAG_EXTENDED,
			       .in = &q->req,
			       .in_len = sizeof(q->req),
			       .out = &q->resp,
			       .out_len = sizeof(q->resp),
			       .drv_in = &q->drv,
			       .drv_in_len = q->drv_len,
			       .drv_out = &drv_out,
			       .drv_out_len = sizeof(drv_out) };
	struct uvc c;

	return uvc_write(a.fd, &c, &w);
}

static void fill_qp(struct qp_call *q, const struct uvr_cq *cq)
{
	uint8_t *mem = uvc_mem(8192);

	*q = (struct qp_call){
		.req = { .pd_handle = a.pd,
			 .send_cq_handle = cq->handle,
			 .recv_cq_handle = cq->handle,
			 .max_send_wr = 16,
			 .max_recv_wr = 16,
			 .max_send_sge = 1,
			 .max_recv_sge = 1,
			 .qp_type = IB_UVERBS_QPT_RAW_PACKET },
		.drv = { .buf_addr = (uintptr_t)mem,
			 .sq_buf_addr = (uintptr_t)mem + 1024,
			 .db_addr = (uintptr_t)mem + 4096,
			 .sq_wqe_count = 16,
			 .rq_wqe_count = 16,
			 .rq_wqe_shift = 4,
			 .uidx = 7,
			 .flags = MLX5_QP_FLAG_UAR_PAGE_INDEX,
			 .bfreg_index = a.uar_num },
		.drv_len = sizeof(q->drv),
	};
}

static void qps_are_checked(void **state)
{
	struct qp_call good, q;
	struct uvr_cq cq;
	unsigned rows = 0;

	(void)state;
	assert_int_equal(uvr_cq(&a, &cq, 64, -1), 0);
	fill_qp(&good, &cq);
#define ROW(err, change) \
	do { \
		q = good; \
		change; \
		assert_int_equal(make_qp(&q), err); \
		assert_int_equal(uvr_logged("EX_CREATE_QP"), ++rows); \
	} while (0)
	ROW(EOPNOTSUPP, q.req.qp_type = IB_UVERBS_QPT_RC);
	ROW(EOPNOTSUPP, q.req.qp_type = IB_UVERBS_QPT_UD);
	ROW(EINVAL, q.req.qp_type = 77);
	ROW(ENOENT, q.req.pd_handle = 4711);
	ROW(EINVAL, q.req.pd_handle = cq.handle);
	ROW(ENOENT, q.req.send_cq_handle = 4711);
	ROW(ENOENT, q.req.recv_cq_handle = 4711);
	ROW(ENOENT, q.req.is_srq = 1);
	ROW(EINVAL, q.req.comp_mask = 2);
	ROW(EINVAL, q.req.create_flags = 1u << 31);
	ROW(EOPNOTSUPP,
	    q.req.create_flags = IB_UVERBS_QP_CREATE_BLOCK_MULTICAST_LOOPBACK);
	ROW(EINVAL, q.req.max_recv_wr = 1u << 30);
	ROW(EINVAL, q.req.max_recv_wr = 0);
	ROW(EINVAL, q.drv.rq_wqe_shift = 31);
	ROW(EINVAL, q.drv.rq_wqe_count = 1u << 29);
	ROW(EINVAL, q.drv.sq_wqe_count = 15);
	ROW(EINVAL, q.drv.sq_wqe_count = 1u << 31);
	ROW(EINVAL, q.drv.uidx = 0xffffff);
	ROW(EINVAL, q.drv.uidx = 1u << 24);
	ROW(EINVAL, q.drv.flags = 0);
	ROW(EINVAL, q.drv.flags |= 1u << 20);
	ROW(EOPNOTSUPP, q.drv.flags |= MLX5_QP_FLAG_TYPE_DCT);
	ROW(EINVAL, q.drv.buf_addr += 4);
	ROW(EINVAL, q.drv.sq_buf_addr = 0);
	ROW(EFAULT, q.drv.db_addr = 1 << 30);
	ROW(EINVAL, q.drv_len = 8);
	ROW(EINVAL, q.drv.bfreg_index = 0x7777); /* no such doorbell page */
	ROW(EINVAL, {
		q.req.max_recv_wr = q.drv.rq_wqe_count = q.drv.rq_wqe_shift = 0;
		q.drv.sq_wqe_count = 0;
	});
#undef ROW
	assert_int_equal(make_qp(&good), 0);
	assert_int_equal(uvr_count(0, CX_SQ), 1);
	assert_int_equal(uvr_count(0, CX_RQ), 1);
}

static void failing_commands_leave_nothing(void **state)
{
	static const uint16_t op[] = { CX_OP_CREATE_TIS, CX_OP_CREATE_SQ, CX_OP_CREATE_RQ,
				       CX_OP_CREATE_TIR };
	struct qp_call q;
	struct uvr_cq cq;
	char line[64];

	(void)state;
	assert_int_equal(uvr_cq(&a, &cq, 64, -1), 0);
	fill_qp(&q, &cq);
	for (size_t i = 0; i < sizeof(op) / sizeof(op[0]); i++) {
		unsigned mappings = uvr_stat().mappings, umems = uvr_count(0, CX_UMEM);

		snprintf(line, sizeof(line), "cmd op=0x%x status=8 times=1", op[i]);
		uvr_fault(0, line);
		assert_int_not_equal(make_qp(&q), 0);
		assert_int_equal(uvr_count(0, CX_TIS) + uvr_count(0, CX_SQ) +
					 uvr_count(0, CX_RQ) + uvr_count(0, CX_TIR),
				 0);
		assert_int_equal(uvr_count(0, CX_UMEM), umems);
		assert_int_equal(uvr_stat().mappings, mappings);
	}
	assert_int_equal(make_qp(&q), 0);
}

/* One command is enough for a queue of either kind alone. */
static void a_qp_may_do_only_one_of_both(void **state)
{
	struct uvr_cq cq;
	struct uvr_qp sender, receiver;
	uint32_t events;

	(void)state;
	assert_int_equal(uvr_cq(&a, &cq, 64, -1), 0);
	assert_int_equal(uvr_qp(&a, &sender, &cq, 16, 0), 0);
	assert_int_equal(sender.resp.comp_mask, MLX5_IB_CREATE_QP_RESP_MASK_TISN |
							MLX5_IB_CREATE_QP_RESP_MASK_SQN);
	assert_int_equal(sender.num, sender.resp.sqn);
	uvr_qp_ready(&a, &sender);
	expect_state(sender.handle, RTS);
	assert_int_equal(uvr_qp(&a, &receiver, &cq, 0, 16), 0);
	assert_int_equal(receiver.resp.comp_mask,
			 MLX5_IB_CREATE_QP_RESP_MASK_TIRN |
				 MLX5_IB_CREATE_QP_RESP_MASK_RQN);
	uvr_qp_ready(&a, &receiver);
	expect_state(receiver.handle, RTS);
	assert_int_equal(uvr_destroy_qp(a.fd, sender.handle, &events), 0);
	assert_int_equal(uvr_destroy_qp(a.fd, receiver.handle, &events), 0);
	assert_int_equal(uvr_destroy_qp(a.fd, receiver.handle, &events), ENOENT);
}

/* ---- completion queues ---- */

struct cq_call {
	uint32_t cqe, vector, flags;
	bool with_flags;
	struct mlx5_ib_create_cq drv;
	uint32_t got, cqn, handle;
};

static int make_cq(struct cq_call *q)
{
	struct uvc c;
	int rc;

	uvc_begin(&c, UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_CREATE);
	uvc_handle(&c, UVERBS_ATTR_CREATE_CQ_HANDLE, 0);
	uvc_u32(&c, UVERBS_ATTR_CREATE_CQ_CQE, q->cqe);
	uvc_u64(&c, UVERBS_ATTR_CREATE_CQ_USER_HANDLE, 1);
	uvc_u32(&c, UVERBS_ATTR_CREATE_CQ_COMP_VECTOR, q->vector);
	if (q->with_flags)
		uvc_u32(&c, UVERBS_ATTR_CREATE_CQ_FLAGS, q->flags);
	uvc_out(&c, UVERBS_ATTR_CREATE_CQ_RESP_CQE, &q->got, 4);
	uvc_in(&c, UVERBS_ATTR_UHW_IN, &q->drv, sizeof(q->drv));
	uvc_out(&c, UVERBS_ATTR_UHW_OUT, &q->cqn, 4);
	rc = uvc_run(a.fd, &c);
	q->handle = (uint32_t)uvc_value(&c, UVERBS_ATTR_CREATE_CQ_HANDLE);
	return rc;
}

static void completion_queues_are_checked(void **state)
{
	uint8_t *mem = uvc_mem(65536);
	struct cq_call good = { .cqe = 100,
				.drv = { .buf_addr = (uintptr_t)mem,
					 .db_addr = (uintptr_t)mem + 32768,
					 .cqe_size = 64,
					 .flags = MLX5_IB_CREATE_CQ_FLAGS_UAR_PAGE_INDEX,
					 .uar_page_index = (uint16_t)a.uar_num } },
		       q;
	unsigned rows = 0;

	(void)state;
#define ROW(err, change) \
	do { \
		q = good; \
		change; \
		assert_int_equal(make_cq(&q), err); \
		assert_int_equal(uvr_logged("CQ_CREATE"), ++rows); \
	} while (0)
	ROW(EINVAL, q.vector = 8);
	ROW(EINVAL, q.cqe = 1u << 31);
	ROW(EINVAL, q.cqe = UINT32_MAX);
	ROW(EINVAL, {
		q.with_flags = true;
		q.flags = 8;
	});
	ROW(EINVAL, q.drv.cqe_size = 32);
	ROW(EINVAL, q.drv.reserved0 = 1);
	ROW(EINVAL, q.drv.flags = 0);
	ROW(EINVAL, q.drv.flags |= 1 << 9);
	ROW(EINVAL, q.drv.buf_addr += 4);
	ROW(EFAULT, q.drv.buf_addr = 1 << 30);
	ROW(EFAULT, q.drv.db_addr = 1 << 30);
	ROW(EFAULT, q.cqe = 2000); /* longer than what is there */
	ROW(EINVAL, q.drv.uar_page_index = 0x7777);
	ROW(EINVAL, {
		q.drv.cqe_comp_en = 1;
		q.drv.cqe_comp_res_format = 3;
	});
#undef ROW
	assert_int_equal(make_cq(&good), 0);
	assert_int_equal(good.got, 127); /* whole powers of two */
	good.with_flags = true;
	good.flags = IB_UVERBS_CQ_FLAGS_TIMESTAMP_COMPLETION |
		     IB_UVERBS_CQ_FLAGS_IGNORE_OVERRUN;
	assert_int_equal(make_cq(&good), 0);
	good.drv.cqe_comp_en = 1;
	good.drv.cqe_comp_res_format = MLX5_IB_CQE_RES_FORMAT_CSUM;
	assert_int_equal(make_cq(&good), 0);
	good.drv.cqe_size = 128;
	assert_int_equal(make_cq(&good), EOPNOTSUPP); /* cqe_compression_128 is 0 */
	good.drv.cqe_comp_en = 0;
	assert_int_equal(make_cq(&good), 0);
}

static int modify_cq(uint32_t handle, uint32_t mask, uint16_t count, uint16_t period)
{
	struct ib_uverbs_ex_modify_cq req = { .cq_handle = handle,
					      .attr_mask = mask,
					      .attr = { .cq_count = count,
							.cq_period = period } };
	struct uvc_write w = { .cmd = IB_USER_VERBS_EX_CMD_MODIFY_CQ |
				      IB_USER_VERBS_CMD_FLAG_EXTENDED,
			       .in = &req,
			       .in_len = sizeof(req) };
	struct uvc c;

	return uvc_write(a.fd, &c, &w);
}

static void moderation_is_set(void **state)
{
	struct uvr_cq cq;

	(void)state;
	assert_int_equal(uvr_cq(&a, &cq, 64, -1), 0);
	assert_int_equal(modify_cq(cq.handle, 1, 16, 100), 0);
	assert_int_equal(modify_cq(cq.handle, 1, 16, 0x1000), EINVAL);
	assert_int_equal(modify_cq(cq.handle, 0, 16, 100), EINVAL);
	assert_int_equal(modify_cq(cq.handle, 2, 16, 100), EOPNOTSUPP);
	assert_int_equal(modify_cq(4711, 1, 16, 100), ENOENT);
}

/* ---- regions and domains ---- */

static void regions_are_checked(void **state)
{
	uint8_t *p = uvc_mem(4096);
	uint32_t handle, key, lkey, rkey;
	uint64_t length, iova;
	struct uvr_ctx other = a;
	struct uvc c;

	(void)state;
	assert_int_equal(uvr_reg_mr(&a, p, 100, 2, &handle, &key),
			 EINVAL); /* remote write */
	assert_int_equal(uvr_reg_mr(&a, p, 100, 1 << 8, &handle, &key), EINVAL);
	assert_int_equal(uvr_reg_mr(&a, p, 100, IB_UVERBS_ACCESS_ON_DEMAND, &handle,
				    &key),
			 EOPNOTSUPP);
	other.pd = 4711;
	assert_int_equal(uvr_reg_mr(&other, p, 100, 1, &handle, &key), ENOENT);
	assert_int_equal(uvr_reg_mr(&a, p + 7, 100, IB_UVERBS_ACCESS_RELAXED_ORDERING | 1,
				    &handle, &key),
			 0);
	uvc_begin(&c, UVERBS_OBJECT_MR, UVERBS_METHOD_QUERY_MR);
	uvc_handle(&c, UVERBS_ATTR_QUERY_MR_HANDLE, handle);
	uvc_out(&c, UVERBS_ATTR_QUERY_MR_RESP_LKEY, &lkey, 4);
	uvc_out(&c, UVERBS_ATTR_QUERY_MR_RESP_RKEY, &rkey, 4);
	uvc_out(&c, UVERBS_ATTR_QUERY_MR_RESP_LENGTH, &length, 8);
	uvc_out(&c, UVERBS_ATTR_QUERY_MR_RESP_IOVA, &iova, 8);
	assert_int_equal(uvc_run(a.fd, &c), 0);
	assert_int_equal(lkey, key);
	assert_int_equal(rkey, key);
	assert_int_equal(length, 100);
	assert_int_equal(iova, (uintptr_t)p + 7);
	assert_int_equal(uvr_destroy(a.fd, UVERBS_OBJECT_PD, UVERBS_METHOD_PD_DESTROY,
				     UVERBS_ATTR_DESTROY_PD_HANDLE, a.pd),
			 EBUSY);
	assert_int_equal(uvr_dereg_mr(a.fd, handle), 0);
	assert_int_equal(uvr_dereg_mr(a.fd, handle), ENOENT);
}

int main(void)
{
	struct CMUnitTest tests[] = {
		cmocka_unit_test(a_qp_sends_and_receives),
		cmocka_unit_test(every_way_between_states),
		cmocka_unit_test(the_device_has_the_last_word),
		cmocka_unit_test(modifications_are_checked),
		cmocka_unit_test(qps_are_checked),
		cmocka_unit_test(failing_commands_leave_nothing),
		cmocka_unit_test(a_qp_may_do_only_one_of_both),
		cmocka_unit_test(completion_queues_are_checked),
		cmocka_unit_test(moderation_is_set),
		cmocka_unit_test(regions_are_checked),
	};

	for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++) {
		tests[i].setup_func = set_up;
		tests[i].teardown_func = tear_down;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
