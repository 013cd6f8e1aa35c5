/* test/uvrig.c - see uvrig.h: the process, contexts, memory, DevX */
#define _GNU_SOURCE 1
#include "uvrig.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

struct model uvr_m;
static uint32_t objects_at_start[MODEL_PORTS];
static struct sigaction on_sigbus; /* the server's */

/* ---- the process ---- */

static uint32_t objects(unsigned port)
{
	uint32_t n = 0;

	model_lock(&uvr_m);
	for (unsigned t = 0; t < CX_OBJ_TYPE_COUNT; t++)
		n += cx_obj_count(uvr_m.port[port].dev, (enum cx_obj_type)t);
	model_unlock(&uvr_m);
	return n;
}

static void open_port(const char *spec)
{
	struct model_port *p;
	char why[256] = "";

	if (port_open(&uvr_m, spec, why, sizeof(why), &p))
		fail_msg("%s: %s", spec, why);
}

static void begin_ports(void)
{
	char why[256] = "";

	for (unsigned i = 0; i < uvr_m.n_ports; i++) {
		if (port_begin(&uvr_m.port[i], why, sizeof(why)))
			fail_msg("port %u: %s", i, why);
	}
}

static void open_process(void)
{
	char why[256];

	assert_int_equal(log_start(&uvr_m), 0);
	assert_int_equal(dir_take(&uvr_m, why, sizeof(why)), 0);
	assert_int_equal(poller_new(&uvr_m), 0);
}

void uvr_start(const char *port, const char *second)
{
	char dir[] = "/tmp/uvrig.XXXXXX";

	memset(&uvr_m, 0, sizeof(uvr_m));
	uvr_m.lock_fd = -1;
	uvr_m.no_tap = true;
	pthread_mutex_init(&uvr_m.lock, NULL);
	assert_non_null(mkdtemp(dir));
	snprintf(uvr_m.dir, sizeof(uvr_m.dir), "%s", dir);
	snprintf(uvc_path, sizeof(uvc_path), "%s/uverbs.sock", dir);
	open_process();
	open_port(port);
	if (second)
		open_port(second);
	begin_ports();
	assert_int_equal(server_start(&uvr_m, &uvr_m.server), 0);
	if (!on_sigbus.sa_sigaction) /* it does so once in a process */
		sigaction(SIGBUS, NULL, &on_sigbus);
	assert_int_equal(poller_start(&uvr_m), 0);
	for (unsigned i = 0; i < uvr_m.n_ports; i++)
		objects_at_start[i] = objects(i);
}

static void nothing_left(void)
{
	struct server_stat st = uvr_stat();

	assert_int_equal(st.clients, 0);
	assert_int_equal(st.handles, 0);
	assert_int_equal(st.mappings, 0);
	assert_int_equal(st.event_fds, 0);
	assert_int_equal(st.mapped_bytes, 0);
	for (unsigned i = 0; i < uvr_m.n_ports; i++)
		if (uvr_m.port[i].server) /* a test may have taken it off */
			assert_int_equal(objects(i), objects_at_start[i]);
}

void uvr_stop(void)
{
	uvr_until_clients(0);
	poller_stop(&uvr_m);
	nothing_left();
	server_stop(uvr_m.server);
	for (unsigned i = uvr_m.n_ports; i > 0; i--)
		port_close(&uvr_m.port[i - 1]);
	poller_free(&uvr_m);
	dir_release(&uvr_m);
	log_stop(&uvr_m);
	pthread_mutex_destroy(&uvr_m.lock);
	uvc_mem_free_all();
	assert_int_not_equal(access(uvr_m.dir, F_OK), 0);
}

/* cmocka has a handler of its own around every function that it calls. */
void uvr_catch_sigbus(void)
{
	sigaction(SIGBUS, &on_sigbus, NULL);
}

struct cx_dev *uvr_dev(unsigned port)
{
	return uvr_m.port[port].dev;
}

static bool look(bool (*is_so)(void *arg), void *arg)
{
	bool result;

	model_lock(&uvr_m);
	result = is_so(arg);
	model_unlock(&uvr_m);
	return result;
}

/* Other threads bring the state about; there is nothing to wait on. */
void uvr_until(bool (*is_so)(void *arg), void *arg, const char *what)
{
	struct timespec start, now, pause = { .tv_nsec = 200000 };

	clock_gettime(CLOCK_MONOTONIC, &start);
	while (!look(is_so, arg)) {
		clock_gettime(CLOCK_MONOTONIC, &now);
		if (now.tv_sec > start.tv_sec + 10)
			fail_msg("after 10 s still not: %s", what);
		nanosleep(&pause, NULL);
	}
}

static bool at_most(void *arg)
{
	struct server_stat st;

	server_stat(&uvr_m, &st);
	return st.clients <= *(unsigned *)arg;
}

void uvr_until_clients(unsigned n)
{
	uvr_until(at_most, &n, "clients gone");
}

struct server_stat uvr_stat(void)
{
	struct server_stat st;

	model_lock(&uvr_m);
	server_stat(&uvr_m, &st);
	model_unlock(&uvr_m);
	return st;
}

uint32_t uvr_count(unsigned port, enum cx_obj_type type)
{
	uint32_t n;

	model_lock(&uvr_m);
	n = cx_obj_count(uvr_dev(port), type);
	model_unlock(&uvr_m);
	return n;
}

void uvr_fault(unsigned port, const char *line)
{
	char why[256] = "";
	int rc;

	model_lock(&uvr_m);
	rc = cx_fault(uvr_dev(port), line, why, sizeof(why));
	model_unlock(&uvr_m);
	if (rc)
		fail_msg("%s: %s", line, why);
}

struct count {
	const char *text;
	unsigned n;
};

static void count_line(void *arg, const char *line)
{
	struct count *c = arg;

	c->n += strstr(line, c->text) != NULL;
}

unsigned uvr_logged(const char *text)
{
	struct count c = { .text = text };

	log_each(&uvr_m, 0, count_line, &c);
	return c.n;
}

void uvr_step(unsigned port)
{
	model_lock(&uvr_m);
	while (cx_step(uvr_dev(port)))
		;
	model_unlock(&uvr_m);
}

enum cx_rx_verdict uvr_rx(unsigned port, const void *frame, uint32_t len)
{
	enum cx_rx_verdict v;

	model_lock(&uvr_m);
	v = cx_rx(uvr_dev(port), frame, len);
	cx_flush(uvr_dev(port));
	model_unlock(&uvr_m);
	return v;
}

/* ---- contexts ---- */

int uvr_get_context(int fd, uint32_t flags)
{
	struct mlx5_ib_alloc_ucontext_req_v2 req = { .total_num_bfregs = 16,
						     .num_low_latency_bfregs = 4,
						     .flags = flags,
						     .max_cqe_version = 1,
						     .lib_caps = MLX5_LIB_CAP_4K_UAR |
								 MLX5_LIB_CAP_DYN_UAR };
	struct mlx5_ib_alloc_ucontext_resp resp = { 0 };
	uint32_t vectors = 0;
	struct uvc c;
	int rc;

	uvc_begin(&c, UVERBS_OBJECT_DEVICE, UVERBS_METHOD_GET_CONTEXT);
	uvc_out(&c, UVERBS_ATTR_GET_CONTEXT_NUM_COMP_VECTORS, &vectors, sizeof(vectors));
	uvc_in(&c, UVERBS_ATTR_UHW_IN, &req, sizeof(req));
	uvc_out(&c, UVERBS_ATTR_UHW_OUT, &resp, sizeof(resp));
	rc = uvc_run(fd, &c);
	if (rc)
		return rc;
	assert_int_equal(vectors, CX_COMP_VECTORS);
	assert_int_equal(resp.cqe_version, 1);
	assert_int_equal(resp.tot_bfregs, 0);
	assert_int_equal(resp.response_length, sizeof(resp));
	return 0;
}

int uvr_alloc_pd(int fd, uint32_t *handle, uint32_t *num)
{
	struct ib_uverbs_alloc_pd req = { 0 };
	struct ib_uverbs_alloc_pd_resp resp = { 0 };
	struct uvc_write w = { .cmd = IB_USER_VERBS_CMD_ALLOC_PD,
			       .in = &req,
			       .in_len = sizeof(req),
			       .out = &resp,
			       .out_len = sizeof(resp),
			       .drv_out = num,
			       .drv_out_len = sizeof(*num) };
	struct uvc c;
	int rc = uvc_write(fd, &c, &w);

	*handle = resp.pd_handle;
	return rc;
}

int uvr_alloc_uar(int fd, uint32_t *handle, uint32_t *num, uint64_t *offset)
{
	uint32_t length = 0;
	struct uvc c;
	int rc;

	uvc_begin(&c, MLX5_IB_OBJECT_UAR, MLX5_IB_METHOD_UAR_OBJ_ALLOC);
	uvc_handle(&c, MLX5_IB_ATTR_UAR_OBJ_ALLOC_HANDLE, 0);
	uvc_u64(&c, MLX5_IB_ATTR_UAR_OBJ_ALLOC_TYPE, MLX5_IB_UAPI_UAR_ALLOC_TYPE_BF);
	uvc_out(&c, MLX5_IB_ATTR_UAR_OBJ_ALLOC_PAGE_ID, num, sizeof(*num));
	uvc_out(&c, MLX5_IB_ATTR_UAR_OBJ_ALLOC_MMAP_LENGTH, &length, sizeof(length));
	uvc_out(&c, MLX5_IB_ATTR_UAR_OBJ_ALLOC_MMAP_OFFSET, offset, sizeof(*offset));
	rc = uvc_run(fd, &c);
	*handle = (uint32_t)uvc_value(&c, MLX5_IB_ATTR_UAR_OBJ_ALLOC_HANDLE);
	return rc;
}

void uvr_open(struct uvr_ctx *c, unsigned uverbs)
{
	uint64_t offset, at;
	int fd;

	c->fd = uvc_open(uverbs);
	assert_int_equal(uvr_get_context(c->fd, MLX5_IB_ALLOC_UCTX_DEVX), 0);
	assert_int_equal(uvr_alloc_pd(c->fd, &c->pd, &c->pdn), 0);
	assert_int_equal(uvr_alloc_uar(c->fd, &c->uar, &c->uar_num, &offset), 0);
	assert_int_equal(uvc_map(c->fd, offset, 4096, &fd, &at), 0);
	c->page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)at);
	assert_true(c->page != MAP_FAILED);
	close(fd);
}

void uvr_drop(struct uvr_ctx *c)
{
	close(c->fd);
	munmap(c->page, 4096);
}

void uvr_close(struct uvr_ctx *c)
{
	unsigned before = uvr_stat().clients;

	uvr_drop(c);
	uvr_until_clients(before - 1);
}

int uvr_destroy(int fd, uint16_t object, uint16_t method, uint16_t id, uint32_t handle)
{
	struct uvc c;

	uvc_begin(&c, object, method);
	uvc_handle(&c, id, handle);
	return uvc_run(fd, &c);
}

/* ---- memory ---- */

int uvr_reg_mr(const struct uvr_ctx *c, void *p, size_t len, uint32_t access,
	       uint32_t *handle, uint32_t *key)
{
	struct ib_uverbs_reg_mr req = { .start = (uintptr_t)p,
					.length = len,
					.hca_va = (uintptr_t)p,
					.pd_handle = c->pd,
					.access_flags = access };
	struct ib_uverbs_reg_mr_resp resp = { 0 };
	struct uvc_write w = { .cmd = IB_USER_VERBS_CMD_REG_MR,
			       .in = &req,
			       .in_len = sizeof(req),
			       .out = &resp,
			       .out_len = sizeof(resp) };
	struct uvc call;
	int rc = uvc_write(c->fd, &call, &w);

	*handle = resp.mr_handle;
	*key = resp.lkey;
	return rc;
}

int uvr_dereg_mr(int fd, uint32_t handle)
{
	return uvr_destroy(fd, UVERBS_OBJECT_MR, UVERBS_METHOD_MR_DESTROY,
			   UVERBS_ATTR_DESTROY_MR_HANDLE, handle);
}

int uvr_reg_umem(int fd, void *p, size_t len, uint32_t access, uint32_t *handle,
		 uint32_t *num)
{
	struct uvc c;
	int rc;

	uvc_begin(&c, MLX5_IB_OBJECT_DEVX_UMEM, MLX5_IB_METHOD_DEVX_UMEM_REG);
	uvc_handle(&c, MLX5_IB_ATTR_DEVX_UMEM_REG_HANDLE, 0);
	uvc_u64(&c, MLX5_IB_ATTR_DEVX_UMEM_REG_ADDR, (uintptr_t)p);
	uvc_u64(&c, MLX5_IB_ATTR_DEVX_UMEM_REG_LEN, len);
	uvc_u32(&c, MLX5_IB_ATTR_DEVX_UMEM_REG_ACCESS, access);
	uvc_out(&c, MLX5_IB_ATTR_DEVX_UMEM_REG_OUT_ID, num, sizeof(*num));
	rc = uvc_run(fd, &c);
	*handle = (uint32_t)uvc_value(&c, MLX5_IB_ATTR_DEVX_UMEM_REG_HANDLE);
	return rc;
}

int uvr_dereg_umem(int fd, uint32_t handle)
{
	return uvr_destroy(fd, MLX5_IB_OBJECT_DEVX_UMEM, MLX5_IB_METHOD_DEVX_UMEM_DEREG,
			   MLX5_IB_ATTR_DEVX_UMEM_DEREG_HANDLE, handle);
}

/* ---- DevX ---- */

int uvr_create(int fd, void *in, size_t in_len, void *out, size_t out_len,
	       uint32_t *handle)
{
	struct uvc c;
	int rc;

	uvc_begin(&c, MLX5_IB_OBJECT_DEVX_OBJ, MLX5_IB_METHOD_DEVX_OBJ_CREATE);
	uvc_handle(&c, MLX5_IB_ATTR_DEVX_OBJ_CREATE_HANDLE, 0);
	uvc_in(&c, MLX5_IB_ATTR_DEVX_OBJ_CREATE_CMD_IN, in, in_len);
	uvc_out(&c, MLX5_IB_ATTR_DEVX_OBJ_CREATE_CMD_OUT, out, out_len);
	rc = uvc_run(fd, &c);
	*handle = (uint32_t)uvc_value(&c, MLX5_IB_ATTR_DEVX_OBJ_CREATE_HANDLE);
	return rc;
}

int uvr_modify(int fd, uint32_t handle, void *in, size_t in_len, void *out,
	       size_t out_len)
{
	struct uvc c;

	uvc_begin(&c, MLX5_IB_OBJECT_DEVX_OBJ, MLX5_IB_METHOD_DEVX_OBJ_MODIFY);
	uvc_handle(&c, MLX5_IB_ATTR_DEVX_OBJ_MODIFY_HANDLE, handle);
	uvc_in(&c, MLX5_IB_ATTR_DEVX_OBJ_MODIFY_CMD_IN, in, in_len);
	uvc_out(&c, MLX5_IB_ATTR_DEVX_OBJ_MODIFY_CMD_OUT, out, out_len);
	return uvc_run(fd, &c);
}

int uvr_query(int fd, uint32_t handle, void *in, size_t in_len, void *out, size_t out_len)
{
	struct uvc c;

	uvc_begin(&c, MLX5_IB_OBJECT_DEVX_OBJ, MLX5_IB_METHOD_DEVX_OBJ_QUERY);
	uvc_handle(&c, MLX5_IB_ATTR_DEVX_OBJ_QUERY_HANDLE, handle);
	uvc_in(&c, MLX5_IB_ATTR_DEVX_OBJ_QUERY_CMD_IN, in, in_len);
	uvc_out(&c, MLX5_IB_ATTR_DEVX_OBJ_QUERY_CMD_OUT, out, out_len);
	return uvc_run(fd, &c);
}

int uvr_general(int fd, void *in, size_t in_len, void *out, size_t out_len)
{
	struct uvc c;

	uvc_begin(&c, MLX5_IB_OBJECT_DEVX, MLX5_IB_METHOD_DEVX_OTHER);
	uvc_in(&c, MLX5_IB_ATTR_DEVX_OTHER_CMD_IN, in, in_len);
	uvc_out(&c, MLX5_IB_ATTR_DEVX_OTHER_CMD_OUT, out, out_len);
	return uvc_run(fd, &c);
}

int uvr_devx_destroy(int fd, uint32_t handle)
{
	return uvr_destroy(fd, MLX5_IB_OBJECT_DEVX_OBJ, MLX5_IB_METHOD_DEVX_OBJ_DESTROY,
			   MLX5_IB_ATTR_DEVX_OBJ_DESTROY_HANDLE, handle);
}

int uvr_alloc(int fd, uint16_t opcode, uint32_t *handle, uint32_t *num)
{
	uint8_t in[16] = { 0 }, out[16] = { 0 };
	int rc;

	cx_put_be16(in, opcode);
	rc = uvr_create(fd, in, sizeof(in), out, sizeof(out), handle);
	*num = cx_be32(out + 8);
	return rc;
}
