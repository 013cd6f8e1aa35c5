/* test/test_uverbs_life.c - contexts come and go: nothing stays, nobody is held up
 *
 * A client ends by close() or by SIGKILL, between calls and in the middle of one; the
 * device may refuse to let go; one client stands still while others go on.
 */
#define _GNU_SOURCE 1
#include "uvrig.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static int set_up(void **state)
{
	(void)state;
	uvc_on_need_mem = NULL;
	uvr_start("eth0=none", "eth1=none");
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	uvc_on_need_mem = NULL;
	uvr_stop();
	return 0;
}

/* ---- everything there is ---- */

struct all {
	struct uvr_ctx ctx;
	struct uvr_cq cq;
	struct uvr_qp qp;
	uint32_t mr, key, umem, umem_num, td, tdn, counter, counter_id, matcher, flow;
	int channel, async, devx_channel, cmd;
	uint8_t *mem;
	struct uvr_match match;
};

static int devx_fd(int fd, uint16_t object, uint16_t method, uint16_t id)
{
	struct uvc c;

	uvc_begin(&c, object, method);
	uvc_handle(&c, id, 0);
	if (object == MLX5_IB_OBJECT_DEVX_ASYNC_EVENT_FD)
		uvc_u32(&c, MLX5_IB_ATTR_DEVX_ASYNC_EVENT_FD_ALLOC_FLAGS, 0);
	assert_int_equal(uvc_run(fd, &c), 0);
	return (int)uvc_value(&c, id);
}

static void make_fds(struct all *x)
{
	x->async = uvr_async_fd(x->ctx.fd);
	x->channel = uvr_comp_channel(x->ctx.fd);
	x->devx_channel = devx_fd(x->ctx.fd, MLX5_IB_OBJECT_DEVX_ASYNC_EVENT_FD,
				  MLX5_IB_METHOD_DEVX_ASYNC_EVENT_FD_ALLOC,
				  MLX5_IB_ATTR_DEVX_ASYNC_EVENT_FD_ALLOC_HANDLE);
	x->cmd = devx_fd(x->ctx.fd, MLX5_IB_OBJECT_DEVX_ASYNC_CMD_FD,
			 MLX5_IB_METHOD_DEVX_ASYNC_CMD_FD_ALLOC,
			 MLX5_IB_ATTR_DEVX_ASYNC_CMD_FD_ALLOC_HANDLE);
}

static void make_all(struct all *x, unsigned uverbs)
{
	static const uint8_t mac[6] = { 2, 0, 0, 0, 0, 0x11 };
	struct uvr_rule rule = { .match = &x->match,
				 .qp = &x->qp.handle,
				 .counter = &x->counter };
	int fd;

	memset(x, 0, sizeof(*x));
	uvr_open(&x->ctx, uverbs);
	fd = x->ctx.fd;
	make_fds(x);
	x->mem = uvc_mem(16384);
	assert_int_equal(uvr_reg_mr(&x->ctx, x->mem, 8192, 1, &x->mr, &x->key), 0);
	assert_int_equal(uvr_reg_umem(fd, x->mem + 8192, 4096, 1, &x->umem, &x->umem_num),
			 0);
	assert_int_equal(uvr_alloc(fd, CX_OP_ALLOC_TRANSPORT_DOMAIN, &x->td, &x->tdn), 0);
	assert_int_equal(
		uvr_alloc(fd, CX_OP_ALLOC_FLOW_COUNTER, &x->counter, &x->counter_id), 0);
	assert_int_equal(uvr_cq(&x->ctx, &x->cq, 16, x->channel), 0);
	assert_int_equal(uvr_qp(&x->ctx, &x->qp, &x->cq, 16, 16), 0);
	uvr_qp_ready(&x->ctx, &x->qp);
	uvr_match_mac(&x->match, mac);
	assert_int_equal(uvr_matcher(fd, &x->match, 1, 0, &x->matcher), 0);
	rule.matcher = x->matcher;
	assert_int_equal(uvr_flow(fd, &rule, &x->flow), 0);
}

static void close_fds(struct all *x)
{
	close(x->async);
	close(x->channel);
	close(x->devx_channel);
	close(x->cmd);
}

static void closing_takes_everything_back(void **state)
{
	struct all x;

	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		make_all(&x, i & 1);
		assert_int_equal(uvr_stat().event_fds, 4);
		uvr_close(&x.ctx);
		close_fds(&x);
	} /* uvr_stop() looks for what is left */
}

static void everything_can_be_destroyed_one_by_one(void **state)
{
	struct ib_uverbs_destroy_cq_resp cq;
	struct all x;
	uint32_t events;
	int fd;

	(void)state;
	make_all(&x, 0);
	fd = x.ctx.fd;
	assert_int_equal(uvr_destroy_qp(fd, x.qp.handle, &events), EBUSY); /* flow */
	assert_int_equal(uvr_destroy_cq(fd, x.cq.handle, &cq), EBUSY);	   /* QP */
	assert_int_equal(uvr_destroy(fd, MLX5_IB_OBJECT_FLOW_MATCHER,
				     MLX5_IB_METHOD_FLOW_MATCHER_DESTROY,
				     MLX5_IB_ATTR_FLOW_MATCHER_DESTROY_HANDLE, x.matcher),
			 EBUSY);
	assert_int_not_equal(uvr_devx_destroy(fd, x.counter), 0);
	assert_int_equal(uvr_destroy_flow(fd, x.flow), 0);
	assert_int_equal(uvr_destroy(fd, MLX5_IB_OBJECT_FLOW_MATCHER,
				     MLX5_IB_METHOD_FLOW_MATCHER_DESTROY,
				     MLX5_IB_ATTR_FLOW_MATCHER_DESTROY_HANDLE, x.matcher),
			 0);
	assert_int_equal(uvr_destroy_qp(fd, x.qp.handle, &events), 0);
	assert_int_equal(uvr_destroy_cq(fd, x.cq.handle, &cq), 0);
	assert_int_equal(uvr_devx_destroy(fd, x.counter), 0);
	assert_int_equal(uvr_devx_destroy(fd, x.td), 0);
	assert_int_equal(uvr_dereg_umem(fd, x.umem), 0);
	assert_int_equal(uvr_dereg_mr(fd, x.mr), 0);
	assert_int_equal(uvr_destroy(fd, UVERBS_OBJECT_PD, UVERBS_METHOD_PD_DESTROY,
				     UVERBS_ATTR_DESTROY_PD_HANDLE, x.ctx.pd),
			 0);
	assert_int_equal(uvr_destroy(fd, MLX5_IB_OBJECT_UAR,
				     MLX5_IB_METHOD_UAR_OBJ_DESTROY,
				     MLX5_IB_ATTR_UAR_OBJ_DESTROY_HANDLE, x.ctx.uar),
			 0);
	assert_int_equal(uvr_stat().handles, 0);
	assert_int_equal(uvr_stat().mappings, 0);
	assert_int_equal(uvr_count(0, CX_UAR), 0);
	close_fds(&x);
	uvr_close(&x.ctx);
}

/* As the kernel does it: the page leaves the device when nothing needs it. */
static void a_doorbell_page_in_use_can_be_given_up(void **state)
{
	struct uvr_ctx a;
	struct uvr_cq cq;

	(void)state;
	uvr_open(&a, 0);
	assert_int_equal(uvr_cq(&a, &cq, 16, -1), 0);
	assert_int_equal(uvr_destroy(a.fd, MLX5_IB_OBJECT_UAR,
				     MLX5_IB_METHOD_UAR_OBJ_DESTROY,
				     MLX5_IB_ATTR_UAR_OBJ_DESTROY_HANDLE, a.uar),
			 0);
	assert_int_equal(uvr_count(0, CX_UAR), 1);
	uvr_close(&a);
	assert_int_equal(uvr_count(0, CX_UAR), 0);
}

/* ---- other clients ---- */

static void contexts_do_not_see_each_other(void **state)
{
	struct uvr_ctx b;
	struct uvr_cq cq;
	struct all x;
	uint32_t handle, key;

	(void)state;
	make_all(&x, 0);
	uvr_open(&b, 0);
	assert_int_equal(uvr_dereg_mr(b.fd, x.mr), ENOENT);
	assert_int_equal(uvr_devx_destroy(b.fd, x.counter), ENOENT);
	assert_int_equal(uvr_cq(&b, &cq, 16, x.channel), EBADF); /* not its channel */
	b.pd = x.ctx.pd + 50;
	assert_int_equal(uvr_reg_mr(&b, x.mem, 4096, 1, &handle, &key), ENOENT);
	uvr_close(&b);
	uvr_close(&x.ctx);
	close_fds(&x);
}

static void ports_do_not_see_each_other(void **state)
{
	struct all x, y;

	(void)state;
	make_all(&x, 0);
	make_all(&y, 1);
	assert_int_equal(uvr_count(0, CX_CQ), 1);
	assert_int_equal(uvr_count(1, CX_CQ), 1);
	uvr_close(&x.ctx);
	assert_int_equal(uvr_count(1, CX_CQ), 1);
	uvr_close(&y.ctx);
	close_fds(&x);
	close_fds(&y);
}

/* ---- who stands still, and who is killed ---- */

static bool stall(int pair, const struct cxp_need_mem *need)
{
	(void)pair;
	(void)need;
	while (pause())
		;
	return true;
}

/* A client of its own process; @body runs there and must not return. */
static pid_t client(void (*body)(void))
{
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (!pid) {
		body();
		_exit(1);
	}
	return pid;
}

static void hang_in_reg_mr(void)
{
	struct uvr_ctx a;
	uint32_t handle, key;

	uvr_open(&a, 0);
	uvc_on_need_mem = stall;
	uvr_reg_mr(&a, uvc_mem(4096), 4096, 1, &handle, &key);
}

static void hang_with_everything(void)
{
	struct all x;

	make_all(&x, 0);
	for (;;)
		pause();
}

static bool has_uar(void *arg)
{
	(void)arg;
	return cx_obj_count(uvr_dev(0), CX_UAR) > 0;
}

static bool has_flow(void *arg)
{
	(void)arg;
	return cx_obj_count(uvr_dev(0), CX_FTE) > 0;
}

static void kill_and_reap(pid_t pid)
{
	int status;

	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	uvr_until_clients(0);
}

static void a_killed_client_leaves_nothing(void **state)
{
	pid_t pid = client(hang_with_everything);

	(void)state;
	uvr_until(has_flow, NULL, "flow of the client");
	kill_and_reap(pid);
}

static void a_client_killed_in_a_call_leaves_nothing(void **state)
{
	pid_t pid = client(hang_in_reg_mr);

	(void)state;
	uvr_until(has_uar, NULL, "context of the client");
	kill_and_reap(pid);
}

static void one_client_standing_still_holds_up_nobody(void **state)
{
	pid_t pid = client(hang_in_reg_mr);
	struct all x;

	(void)state;
	uvr_until(has_uar, NULL, "context of the client");
	for (unsigned i = 0; i < 3; i++) {
		make_all(&x, 0);
		uvr_close(&x.ctx);
		close_fds(&x);
	}
	kill_and_reap(pid);
}

/* The pair of a call may live on in a child: its maker's death ends the call all the same. */
static void hang_with_a_child(void)
{
	struct uvr_ctx a;
	struct cxp_call msg = { .type = CXP_CALL };
	int pair[2];

	uvr_open(&a, 0);
	socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair);
	uvc_send(a.fd, &msg, sizeof(msg), pair[1]);
	close(pair[1]);
	if (!fork()) {
		close(a.fd);
		signal(SIGTERM, SIG_DFL);
		alarm(30);
		for (;;)
			pause();
	}
	for (;;)
		pause();
}

static void a_call_ends_with_its_caller(void **state)
{
	pid_t pid = client(hang_with_a_child);

	(void)state;
	uvr_until(has_uar, NULL, "context of the client");
	kill_and_reap(pid);
}

/* ---- refusals of the device ---- */

static void what_the_device_keeps_is_tried_again(void **state)
{
	struct all x;

	(void)state;
	make_all(&x, 0);
	/* three passes over the objects, and the last try before the context goes */
	uvr_fault(0, "cmd op=0x401 status=1 times=20");
	uvr_close(&x.ctx);
	close_fds(&x);
	assert_int_equal(uvr_count(0, CX_CQ), 1);
	assert_int_equal(uvr_stat().mapped_bytes,
			 0); /* but not at the client's expense */
	assert_int_not_equal(uvr_logged("stays behind"), 0);
	uvr_fault(0, "clear");
	uvr_open(&x.ctx, 0); /* whoever comes next */
	assert_int_equal(uvr_count(0, CX_CQ), 0);
	uvr_close(&x.ctx);
}

/* A port that goes takes along what its device would not give back. */
static void what_the_device_keeps_goes_with_the_port(void **state)
{
	struct all x;
	int rc;

	(void)state;
	make_all(&x, 1);
	uvr_fault(1, "cmd op=0x401 status=1 times=50"); /* CQ */
	uvr_fault(1, "cmd op=0x938 status=1 times=50"); /* entry of a flow table */
	uvr_fault(1, "cmd op=0x803 status=1 times=50"); /* doorbell page */
	uvr_close(&x.ctx);
	close_fds(&x);
	assert_int_not_equal(uvr_stat().handles, 0);
	model_lock(&uvr_m);
	rc = server_port_del(&uvr_m.port[1]);
	model_unlock(&uvr_m);
	assert_int_equal(rc, 0);
	assert_int_equal(uvr_stat().handles, 0);
}

static void failed_calls_leave_nothing(void **state)
{
	static const char *const op[] = { "0x912", "0x904", "0x908", "0x900" };
	struct uvr_ctx a;
	struct uvr_cq cq;
	struct uvr_qp qp;
	char line[64];

	(void)state;
	uvr_open(&a, 0);
	assert_int_equal(uvr_cq(&a, &cq, 16, -1), 0);
	for (size_t i = 0; i < sizeof(op) / sizeof(op[0]); i++) {
		unsigned handles = uvr_stat().handles, mappings = uvr_stat().mappings;

		snprintf(line, sizeof(line), "cmd op=%s status=8 times=1", op[i]);
		uvr_fault(0, line);
		assert_int_equal(uvr_qp(&a, &qp, &cq, 16, 16), ENOMEM);
		assert_int_equal(uvr_stat().handles, handles);
		assert_int_equal(uvr_stat().mappings, mappings);
		assert_int_equal(uvr_count(0, CX_SQ) + uvr_count(0, CX_TIS), 0);
		assert_int_equal(uvr_count(0, CX_RQ) + uvr_count(0, CX_TIR), 0);
	}
	assert_int_equal(uvr_qp(&a, &qp, &cq, 16, 16), 0);
	uvr_close(&a);
}

static void a_context_that_cannot_be_made_leaves_nothing(void **state)
{
	int fd = uvc_open(0);

	(void)state;
	uvr_fault(0,
		  "cmd op=0x816 status=8 times=1"); /* transport domain, after the UCTX */
	assert_int_equal(uvr_get_context(fd, MLX5_IB_ALLOC_UCTX_DEVX), ENOMEM);
	uvr_fault(0, "cmd op=0xa04 status=8 times=1");
	assert_int_equal(uvr_get_context(fd, MLX5_IB_ALLOC_UCTX_DEVX), ENOMEM);
	assert_int_equal(uvr_get_context(fd, MLX5_IB_ALLOC_UCTX_DEVX), 0);
	close(fd);
}

/* A dead device still lets programs clean up. */
static void a_fatal_device_can_be_left(void **state)
{
	struct all x;
	uint32_t handle, num;

	(void)state;
	make_all(&x, 0);
	uvr_fault(0, "fatal");
	assert_int_equal(uvr_alloc_pd(x.ctx.fd, &handle, &num), EIO);
	uvr_close(&x.ctx);
	close_fds(&x);
}

/* ---- connections ---- */

static void wrong_first_messages_are_answered(void **state)
{
	struct cxp_hello h = { .type = CXP_HELLO, .version = CXP_VERSION };
	int sock = uvc_connect(), fd;
	char rest[8];

	(void)state;
	assert_int_equal(uvc_hello(sock, 0, CXP_VERSION + 1), EPROTO);
	assert_int_equal(uvc_recv(sock, rest, sizeof(rest), &fd), -1); /* and closed */
	close(sock);
	sock = uvc_connect();
	assert_int_equal(uvc_hello(sock, 2, CXP_VERSION), ENODEV);
	close(sock);
	sock = uvc_connect();
	assert_int_equal(uvc_send(sock, &h, 3, -1), 0);
	assert_int_equal(uvc_recv(sock, rest, sizeof(rest), &fd), -1);
	close(sock);
}

static void the_list_has_every_port(void **state)
{
	struct cxp_list msg = { .type = CXP_LIST };
	struct cxp_port p;
	int sock = uvc_connect(), fd;

	(void)state;
	assert_int_equal(uvc_send(sock, &msg, sizeof(msg), -1), 0);
	for (unsigned i = 0; i < 3; i++) {
		assert_int_equal(uvc_recv(sock, &p, sizeof(p), &fd), sizeof(p));
		assert_int_equal(p.type, CXP_PORT);
		assert_int_equal(p.last, i == 2);
		if (!p.last)
			assert_int_equal(p.uverbs, i);
	}
	close(sock);
}

static void a_port_in_use_stays(void **state)
{
	struct uvr_ctx a;
	int rc;

	(void)state;
	uvr_open(&a, 1);
	model_lock(&uvr_m);
	rc = server_port_del(&uvr_m.port[1]);
	model_unlock(&uvr_m);
	assert_int_equal(rc, -EBUSY);
	uvr_close(&a);
}

/* The server ends under clients: they see the end of their connection. */
static void clients_are_ended_with_the_server(void **state)
{
	struct uvr_ctx a;
	struct pollfd set;
	struct uvc c;

	(void)state;
	uvr_open(&a, 0);
	poller_stop(&uvr_m);
	server_stop(uvr_m.server);
	set = (struct pollfd){ .fd = a.fd, .events = POLLIN };
	assert_int_equal(poll(&set, 1, 10000), 1);
	uvc_begin(&c, UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_CONTEXT);
	assert_int_equal(uvc_run(a.fd, &c), -1);
	uvr_drop(&a);
	assert_int_equal(server_start(&uvr_m, &uvr_m.server), 0);
}

int main(void)
{
	struct CMUnitTest tests[] = {
		cmocka_unit_test(closing_takes_everything_back),
		cmocka_unit_test(everything_can_be_destroyed_one_by_one),
		cmocka_unit_test(a_doorbell_page_in_use_can_be_given_up),
		cmocka_unit_test(contexts_do_not_see_each_other),
		cmocka_unit_test(ports_do_not_see_each_other),
		cmocka_unit_test(a_killed_client_leaves_nothing),
		cmocka_unit_test(a_client_killed_in_a_call_leaves_nothing),
		cmocka_unit_test(one_client_standing_still_holds_up_nobody),
		cmocka_unit_test(a_call_ends_with_its_caller),
		cmocka_unit_test(what_the_device_keeps_is_tried_again),
		cmocka_unit_test(what_the_device_keeps_goes_with_the_port),
		cmocka_unit_test(failed_calls_leave_nothing),
		cmocka_unit_test(a_context_that_cannot_be_made_leaves_nothing),
		cmocka_unit_test(a_fatal_device_can_be_left),
		cmocka_unit_test(wrong_first_messages_are_answered),
		cmocka_unit_test(the_list_has_every_port),
		cmocka_unit_test(a_port_in_use_stays),
		cmocka_unit_test(clients_are_ended_with_the_server),
	};

	for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++) {
		tests[i].setup_func = set_up;
		tests[i].teardown_func = tear_down;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
