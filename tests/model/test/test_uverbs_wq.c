/* test/test_uverbs_wq.c - receive by verbs alone: queues, tables of them, QPs that spread */
#define _GNU_SOURCE 1
#include "uvrig.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const uint8_t mac[6] = { 2, 0, 0, 0, 0, 1 };
static struct uvr_match to_mac;
static struct uvr_ctx a;
static struct uvr_cq cq;

enum { RESET, RDY, ERR };
enum { STATE = 1, CUR_STATE = 2, FLAGS = 4 };
enum { IB_WQ_FATAL = 19 };
#define QUEUES 4u

static int set_up(void **state)
{
	(void)state;
	uvr_start("eth0=loop", NULL);
	uvr_open(&a, 0);
	assert_int_equal(uvr_cq(&a, &cq, 256, -1), 0);
	uvr_match_mac(&to_mac, mac);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	uvr_close(&a);
	uvr_stop();
	return 0;
}

/* ---- a QP that spreads ---- */

struct rss {
	struct uvr_wq wq[QUEUES];
	uint32_t mr, key, table, qp, flow;
	uint8_t *bufs;
	struct mlx5_ib_create_qp_rss drv;
	struct ib_uverbs_ex_create_qp req;
	struct mlx5_ib_create_qp_resp resp;
};

static int make_qp(struct rss *r)
{
	struct ib_uverbs_ex_create_qp_resp resp = { 0 };
	struct uvc_write w = { .cmd = IB_USER_VERBS_EX_CMD_CREATE_QP |
				      IB_USER_VERBS_CMD_FLAG_EXTENDED,
			       .in = &r->req,
			       .in_len = sizeof(r->req),
			       .out = &resp,
			       .out_len = sizeof(resp),
			       .drv_in = &r->drv,
			       .drv_in_len = sizeof(r->drv),
			       .drv_out = &r->resp,
			       .drv_out_len = sizeof(r->resp) };
	struct uvc c;
	int rc = uvc_write(a.fd, &c, &w);

	r->qp = resp.base.qp_handle;
	return rc;
}

static void fill_qp(struct rss *r)
{
	r->req = (struct ib_uverbs_ex_create_qp){
		.pd_handle = a.pd,
		.qp_type = IB_UVERBS_QPT_RAW_PACKET,
		.comp_mask = IB_UVERBS_CREATE_QP_MASK_IND_TABLE,
		.rwq_ind_tbl_handle = r->table
	};
	r->drv = (struct mlx5_ib_create_qp_rss){
		.rx_hash_fields_mask = MLX5_RX_HASH_SRC_IPV4 | MLX5_RX_HASH_DST_IPV4 |
				       MLX5_RX_HASH_SRC_PORT_UDP |
				       MLX5_RX_HASH_DST_PORT_UDP,
		.rx_hash_function = MLX5_RX_HASH_FUNC_TOEPLITZ,
		.rx_key_len = 40
	};
	for (unsigned i = 0; i < 40; i++)
		r->drv.rx_hash_key[i] = (uint8_t)(0x6d + i * 37);
}

static void make_queues(struct rss *r)
{
	uint32_t handles[QUEUES * 2];

	memset(r, 0, sizeof(*r));
	r->bufs = uvc_mem(QUEUES * 64 * UVR_BUF_BYTES);
	assert_int_equal(uvr_reg_mr(&a, r->bufs, QUEUES * 64 * UVR_BUF_BYTES, 1, &r->mr,
				    &r->key),
			 0);
	for (unsigned i = 0; i < QUEUES; i++) {
		uvr_wq_fill(&a, &r->wq[i], &cq, 64);
		assert_int_equal(uvr_wq_make(&a, &r->wq[i]), 0);
		uvr_wq_post(&r->wq[i], r->key, r->bufs + i * 64 * UVR_BUF_BYTES);
		assert_int_equal(uvr_modify_wq(a.fd, r->wq[i].handle, STATE, RDY), 0);
		handles[2 * i] = handles[2 * i + 1] = r->wq[i].handle;
	}
	assert_int_equal(uvr_table(a.fd, handles, 3, &r->table), 0);
}

static void make_rss(struct rss *r)
{
	struct uvr_rule rule = { .match = &to_mac, .qp = &r->qp };

	make_queues(r);
	fill_qp(r);
	assert_int_equal(make_qp(r), 0);
	assert_int_equal(uvr_matcher(a.fd, &to_mac, 1, 0, &rule.matcher), 0);
	assert_int_equal(uvr_flow(a.fd, &rule, &r->flow), 0);
}

static void udp_frame(uint8_t f[64], uint16_t port)
{
	static const uint8_t head[] = { 2,  0,	  0,  0,  0,	1, 2,  0,  0, 0,
					0,  0xee, 8,  0,  0x45, 0, 0,  50, 0, 0,
					0,  0,	  64, 17, 0,	0, 10, 0,  0, 1,
					10, 0,	  0,  2,  0,	0, 0,  53, 0, 30 };

	memset(f, 0, 64);
	memcpy(f, head, sizeof(head));
	cx_put_be16(f + 34, port);
}

static void frames_spread_over_the_queues(void **state)
{
	uint8_t frame[64];
	unsigned n = 0;
	struct rss r;

	(void)state;
	make_rss(&r);
	assert_int_equal(r.resp.comp_mask, MLX5_IB_CREATE_QP_RESP_MASK_TIRN);
	for (unsigned i = 0; i < 100; i++) {
		udp_frame(frame, (uint16_t)(1000 + i));
		assert_int_equal(uvr_rx(0, frame, sizeof(frame)), CX_RX_QUEUED);
	}
	while (uvr_poll(&cq))
		n++;
	assert_int_equal(n, 100);
	for (unsigned i = 0; i < QUEUES;
	     i++) /* each had a part: its first buffer is used */
		assert_int_equal(r.bufs[i * 64 * UVR_BUF_BYTES], mac[0]);
}

static void what_is_in_use_stays(void **state)
{
	struct ib_uverbs_destroy_cq_resp resp;
	uint32_t events;
	struct rss r;

	(void)state;
	make_rss(&r);
	assert_int_equal(uvr_destroy_qp(a.fd, r.qp, &events), EBUSY);
	assert_int_equal(uvr_destroy_table(a.fd, r.table), EBUSY);
	for (unsigned i = 0; i < QUEUES; i++)
		assert_int_equal(uvr_destroy_wq(a.fd, r.wq[i].handle, &events), EBUSY);
	assert_int_equal(uvr_destroy_cq(a.fd, cq.handle, &resp), EBUSY);
	assert_int_equal(uvr_destroy(a.fd, UVERBS_OBJECT_PD, UVERBS_METHOD_PD_DESTROY,
				     UVERBS_ATTR_DESTROY_PD_HANDLE, a.pd),
			 EBUSY);
	assert_int_equal(uvr_destroy_flow(a.fd, r.flow), 0);
	assert_int_equal(uvr_destroy_qp(a.fd, r.qp, &events), 0);
	assert_int_equal(uvr_destroy_table(a.fd, r.table), 0);
	for (unsigned i = 0; i < QUEUES; i++)
		assert_int_equal(uvr_destroy_wq(a.fd, r.wq[i].handle, &events), 0);
	assert_int_equal(uvr_destroy_cq(a.fd, cq.handle, &resp), 0);
	assert_int_equal(uvr_count(0, CX_RQ), 0);
	assert_int_equal(uvr_count(0, CX_RQT), 0);
	assert_int_equal(uvr_count(0, CX_TIR), 0);
}

/* ---- states ---- */

static void states_follow_the_program_and_the_device(void **state)
{
	struct ib_uverbs_async_event_desc ev;
	struct pollfd p = { .events = POLLIN };
	uint32_t events;
	struct rss r;
	char line[64];

	(void)state;
	p.fd = uvr_async_fd(a.fd);
	make_rss(&r);
	assert_int_equal(uvr_modify_wq(a.fd, r.wq[0].handle, STATE, RESET), 0);
	assert_int_equal(uvr_modify_wq(a.fd, r.wq[0].handle, STATE, RDY), 0);
	assert_int_equal(uvr_modify_wq(a.fd, r.wq[0].handle, STATE, ERR), 0);
	assert_int_not_equal(uvr_modify_wq(a.fd, r.wq[0].handle, STATE, RDY), 0);
	assert_int_equal(uvr_modify_wq(a.fd, r.wq[0].handle, STATE, RESET), 0);
	assert_int_equal(uvr_modify_wq(a.fd, r.wq[0].handle, STATE, RDY), 0);
	/* in error by the device: a reset without a query helps, as programs do it */
	snprintf(line, sizeof(line), "cqe type=rq num=%u syndrome=4", r.wq[1].num);
	uvr_fault(0, line);
	assert_int_equal(poll(&p, 1, 10000), 1);
	assert_int_equal(read(p.fd, &ev, sizeof(ev)), sizeof(ev));
	assert_int_equal(ev.event_type, IB_WQ_FATAL);
	assert_int_equal(ev.element, (uintptr_t)&r.wq[1]);
	assert_int_equal(uvr_modify_wq(a.fd, r.wq[1].handle, STATE, RESET), 0);
	assert_int_equal(uvr_modify_wq(a.fd, r.wq[1].handle, STATE, RDY), 0);
	assert_int_equal(uvr_destroy_flow(a.fd, r.flow), 0);
	assert_int_equal(uvr_destroy_qp(a.fd, r.qp, &events), 0);
	assert_int_equal(uvr_destroy_table(a.fd, r.table), 0);
	assert_int_equal(uvr_destroy_wq(a.fd, r.wq[1].handle, &events), 0);
	assert_int_equal(events, 1);
	close(p.fd);
}

static void modifications_are_checked(void **state)
{
	struct uvr_wq wq;

	(void)state;
	uvr_wq_fill(&a, &wq, &cq, 64);
	assert_int_equal(uvr_wq_make(&a, &wq), 0);
	assert_int_equal(uvr_modify_wq(a.fd, wq.handle, 0, RDY), EINVAL);
	assert_int_equal(uvr_modify_wq(a.fd, wq.handle, 8, RDY), EINVAL);
	assert_int_equal(uvr_modify_wq(a.fd, wq.handle, STATE, 3), EINVAL);
	assert_int_equal(uvr_modify_wq(a.fd, 4711, STATE, RDY), ENOENT);
	assert_int_equal(uvr_modify_wq(a.fd, a.pd, STATE, RDY), EINVAL);
	assert_int_equal(uvr_modify_wq(a.fd, wq.handle, STATE | CUR_STATE, RDY), 0);
	/* "I am in state RESET", which it no longer is */
	assert_int_not_equal(uvr_modify_wq(a.fd, wq.handle, STATE | CUR_STATE, RDY), 0);
}

/* ---- what is refused ---- */

static void queues_are_checked(void **state)
{
	struct uvr_wq good, wq;
	unsigned rows = 0;

	(void)state;
	uvr_wq_fill(&a, &good, &cq, 64);
#define ROW(err, change) \
	do { \
		wq = good; \
		change; \
		assert_int_equal(uvr_wq_make(&a, &wq), err); \
		assert_int_equal(uvr_logged("EX_CREATE_WQ"), ++rows); \
	} while (0)
	ROW(EINVAL, wq.req.wq_type = 1);
	ROW(EOPNOTSUPP, wq.req.comp_mask = 1);
	ROW(ENOENT, wq.req.pd_handle = 4711);
	ROW(EINVAL, wq.req.pd_handle = cq.handle);
	ROW(ENOENT, wq.req.cq_handle = 4711);
	ROW(EINVAL, wq.req.max_wr = 1u << 31);
	ROW(EINVAL, wq.drv.rq_wqe_count = 0);
	ROW(EINVAL, wq.drv.rq_wqe_shift = 40);
	ROW(EINVAL, wq.drv.rq_wqe_count = 1u << 28);
	ROW(EINVAL, wq.drv.buf_addr = 0);
	ROW(EINVAL, wq.drv.buf_addr += 4);
	ROW(EFAULT, wq.drv.buf_addr = 1 << 30);
	ROW(EFAULT, wq.drv.db_addr = 1 << 30);
	ROW(EOPNOTSUPP, wq.drv.comp_mask = 2);
	ROW(EINVAL, {
		wq.drv.comp_mask = MLX5_IB_CREATE_WQ_STRIDING_RQ;
		wq.drv.single_stride_log_num_of_bytes = 5;
	});
	ROW(EINVAL, {
		wq.drv.comp_mask = MLX5_IB_CREATE_WQ_STRIDING_RQ;
		wq.drv.single_stride_log_num_of_bytes = 6;
		wq.drv.single_wqe_log_num_of_strides = 17;
	});
#undef ROW
	assert_int_equal(uvr_wq_make(&a, &good), 0);
}

static void a_queue_of_strides_can_be_made(void **state)
{
	struct uvr_wq wq;

	(void)state;
	uvr_wq_fill(&a, &wq, &cq, 64);
	wq.drv.comp_mask = MLX5_IB_CREATE_WQ_STRIDING_RQ;
	wq.drv.single_stride_log_num_of_bytes = 11;
	wq.drv.single_wqe_log_num_of_strides = 9;
	wq.drv.rq_wqe_shift = 5; /* a next segment and one pointer */
	wq.drv.db_addr = (uintptr_t)wq.ring + 4096;
	assert_int_equal(uvr_wq_make(&a, &wq), 0);
	assert_int_equal(uvr_modify_wq(a.fd, wq.handle, STATE, RDY), 0);
}

static void tables_are_checked(void **state)
{
	uint32_t handles[8], table;
	struct rss r;

	(void)state;
	make_queues(&r);
	for (unsigned i = 0; i < 8; i++)
		handles[i] = r.wq[0].handle;
	assert_int_equal(uvr_table(a.fd, handles, 0, &table), 0);
	assert_int_equal(uvr_destroy_table(a.fd, table), 0);
	assert_int_equal(uvr_destroy_table(a.fd, table), ENOENT);
	handles[7] = 4711;
	assert_int_equal(uvr_table(a.fd, handles, 3, &table), ENOENT);
	handles[7] = a.pd;
	assert_int_equal(uvr_table(a.fd, handles, 3, &table), EINVAL);
	{
		struct ib_uverbs_ex_create_rwq_ind_table req = { .log_ind_tbl_size = 14 };
		struct ib_uverbs_ex_create_rwq_ind_table_resp resp;
		struct uvc_write w = { .cmd = IB_USER_VERBS_EX_CMD_CREATE_RWQ_IND_TBL |
					      IB_USER_VERBS_CMD_FLAG_EXTENDED,
				       .in = &req,
				       .in_len = sizeof(req),
				       .out = &resp,
				       .out_len = sizeof(resp) };
		struct uvc c;

		assert_int_equal(uvc_write(a.fd, &c, &w), EINVAL);
		req.log_ind_tbl_size = 3; /* and no handles */
		assert_int_equal(uvc_write(a.fd, &c, &w), ENOSPC);
		req.comp_mask = 1;
		assert_int_equal(uvc_write(a.fd, &c, &w), EOPNOTSUPP);
	}
}

static void spreading_is_checked(void **state)
{
	uint32_t events;
	struct rss good, r;
	unsigned rows = 0;

	(void)state;
	make_queues(&good);
	fill_qp(&good);
#define ROW(err, change) \
	do { \
		r = good; \
		change; \
		assert_int_equal(make_qp(&r), err); \
		assert_int_equal(uvr_logged("EX_CREATE_QP"), ++rows); \
	} while (0)
	ROW(ENOENT, r.req.rwq_ind_tbl_handle = 4711);
	ROW(EINVAL, r.req.max_recv_wr = 16);
	ROW(EINVAL, {
		r.req.max_send_wr = 16;
		r.req.send_cq_handle = cq.handle;
	});
	ROW(EINVAL, r.req.create_flags = 1 << 9);
	ROW(EOPNOTSUPP, r.drv.comp_mask = 1);
	ROW(EOPNOTSUPP, r.drv.rx_hash_function = 2);
	ROW(EINVAL, r.drv.rx_key_len = 41);
	ROW(EINVAL, r.drv.rx_hash_fields_mask = 0);
	ROW(EINVAL, r.drv.rx_hash_fields_mask |= MLX5_RX_HASH_SRC_IPV6);
	ROW(EINVAL, r.drv.rx_hash_fields_mask |= MLX5_RX_HASH_SRC_PORT_TCP);
	ROW(EOPNOTSUPP, r.drv.rx_hash_fields_mask |= 1u << 31);
	ROW(EINVAL, r.drv.flags = MLX5_QP_FLAG_SIGNATURE);
	ROW(EOPNOTSUPP, r.drv.flags = MLX5_QP_FLAG_TYPE_DCI);
#undef ROW
	r = good;
	assert_int_equal(make_qp(&r), 0);
	assert_int_equal(uvr_modify_qp(a.fd, r.qp, 0x21, 1), ENOSYS);
	assert_int_equal(uvr_destroy_qp(a.fd, r.qp, &events), 0);
}

/* ---- by methods instead of commands ---- */

static void the_newer_way_makes_the_same(void **state)
{
	struct uvr_wq wq;
	struct uvc c;
	uint32_t max_wr = 0, max_sge = 0, num = 0, handle, events = 9;
	struct rss r;

	(void)state;
	uvr_wq_fill(&a, &wq, &cq, 64);
	uvc_begin(&c, UVERBS_OBJECT_WQ, UVERBS_METHOD_WQ_CREATE);
	uvc_handle(&c, UVERBS_ATTR_CREATE_WQ_HANDLE, 0);
	uvc_handle(&c, UVERBS_ATTR_CREATE_WQ_PD_HANDLE, a.pd);
	uvc_handle(&c, UVERBS_ATTR_CREATE_WQ_CQ_HANDLE, cq.handle);
	uvc_u64(&c, UVERBS_ATTR_CREATE_WQ_TYPE, 0);
	uvc_u64(&c, UVERBS_ATTR_CREATE_WQ_USER_HANDLE, 5);
	uvc_u32(&c, UVERBS_ATTR_CREATE_WQ_MAX_WR, 64);
	uvc_u32(&c, UVERBS_ATTR_CREATE_WQ_MAX_SGE, 1);
	uvc_u32(&c, UVERBS_ATTR_CREATE_WQ_FLAGS, 0);
	uvc_out(&c, UVERBS_ATTR_CREATE_WQ_RESP_MAX_WR, &max_wr, 4);
	uvc_out(&c, UVERBS_ATTR_CREATE_WQ_RESP_MAX_SGE, &max_sge, 4);
	uvc_out(&c, UVERBS_ATTR_CREATE_WQ_RESP_WQ_NUM, &num, 4);
	uvc_in(&c, UVERBS_ATTR_UHW_IN, &wq.drv, sizeof(wq.drv));
	assert_int_equal(uvc_run(a.fd, &c), 0);
	handle = (uint32_t)uvc_value(&c, UVERBS_ATTR_CREATE_WQ_HANDLE);
	assert_int_equal(max_wr, 64);
	assert_int_equal(max_sge, 1);
	assert_int_not_equal(num, 0);
	assert_int_equal(uvr_modify_wq(a.fd, handle, STATE, RDY), 0);
	assert_int_equal(uvr_table(a.fd, &handle, 0, &r.table), 0);
	assert_int_equal(uvr_destroy(a.fd, UVERBS_OBJECT_RWQ_IND_TBL,
				     UVERBS_METHOD_RWQ_IND_TBL_DESTROY,
				     UVERBS_ATTR_DESTROY_RWQ_IND_TBL_HANDLE, r.table),
			 0);
	uvc_begin(&c, UVERBS_OBJECT_WQ, UVERBS_METHOD_WQ_DESTROY);
	uvc_handle(&c, UVERBS_ATTR_DESTROY_WQ_HANDLE, handle);
	uvc_out(&c, UVERBS_ATTR_DESTROY_WQ_RESP, &events, 4);
	assert_int_equal(uvc_run(a.fd, &c), 0);
	assert_int_equal(events, 0);
}

/* Every command on the way fails once; what was made before it is undone. */
static void failing_commands_leave_nothing(void **state)
{
	static const uint16_t op[] = { CX_OP_CREATE_RQ, CX_OP_CREATE_RQT,
				       CX_OP_CREATE_TIR };
	struct uvr_wq wq;
	struct rss r;
	char line[64];

	(void)state;
	for (size_t i = 0; i < sizeof(op) / sizeof(op[0]); i++) {
		uint32_t table = 0, events;

		uvr_wq_fill(&a, &wq, &cq, 64);
		snprintf(line, sizeof(line), "cmd op=0x%x status=8 times=1", op[i]);
		uvr_fault(0, line);
		if (uvr_wq_make(&a, &wq))
			assert_int_equal(uvr_wq_make(&a, &wq), 0);
		if (uvr_table(a.fd, &wq.handle, 0, &table))
			assert_int_equal(uvr_table(a.fd, &wq.handle, 0, &table), 0);
		memset(&r, 0, sizeof(r));
		r.table = table;
		fill_qp(&r);
		if (make_qp(&r))
			assert_int_equal(make_qp(&r), 0);
		assert_int_equal(uvr_logged("failed"), i + 1);
		assert_int_equal(uvr_destroy_qp(a.fd, r.qp, &events), 0);
		assert_int_equal(uvr_destroy_table(a.fd, table), 0);
		assert_int_equal(uvr_destroy_wq(a.fd, wq.handle, &events), 0);
		assert_int_equal(uvr_count(0, CX_RQ) + uvr_count(0, CX_RQT) +
					 uvr_count(0, CX_TIR),
				 0);
	}
}

int main(void)
{
	struct CMUnitTest tests[] = {
		cmocka_unit_test(frames_spread_over_the_queues),
		cmocka_unit_test(what_is_in_use_stays),
		cmocka_unit_test(states_follow_the_program_and_the_device),
		cmocka_unit_test(modifications_are_checked),
		cmocka_unit_test(queues_are_checked),
		cmocka_unit_test(a_queue_of_strides_can_be_made),
		cmocka_unit_test(tables_are_checked),
		cmocka_unit_test(spreading_is_checked),
		cmocka_unit_test(the_newer_way_makes_the_same),
		cmocka_unit_test(failing_commands_leave_nothing),
	};

	for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++) {
		tests[i].setup_func = set_up;
		tests[i].teardown_func = tear_down;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
