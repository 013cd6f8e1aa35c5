/* test/test_uverbs_hostile.c - clients that talk nonsense
 *
 * First a well-behaved program is recorded, call by call. Then the record is played
 * with bytes changed, calls left out or doubled, and answers that are lies. Whatever
 * comes of it, a client that is gone leaves nothing, and the next one is served.
 *
 * UVERBS_SEED and UVERBS_ROUNDS choose other runs.
 */
#define _GNU_SOURCE 1
#include "uvrig.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

static int set_up(void **state)
{
	(void)state;
	uvc_on_message = NULL;
	uvr_start("eth0=loop", NULL);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	uvr_stop();
	return 0;
}

/* ---- chance ---- */

static uint64_t seed;

static uint32_t chance(uint32_t below)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return below ? (uint32_t)(seed >> 11) % below : 0;
}

static unsigned number(const char *name, unsigned otherwise)
{
	const char *value = getenv(name);

	return value ? (unsigned)strtoul(value, NULL, 0) : otherwise;
}

static unsigned open_files(void)
{
	DIR *dir = opendir("/proc/self/fd");
	unsigned n = 0;

	assert_non_null(dir);
	while (readdir(dir))
		n++;
	closedir(dir);
	return n;
}

static bool so_many_files(void *arg)
{
	return open_files() == *(unsigned *)arg;
}

/* A connection is over a little later than its client. */
static void until_files(unsigned n)
{
	uvr_until_clients(0);
	uvr_until(so_many_files, &n, "descriptors are closed");
}

/* ---- a record ---- */

#define CALLS 160

static struct record {
	uint8_t *msg;
	size_t len;
} record[CALLS];
static unsigned n_records;

static void keep(const uint8_t *msg, size_t len)
{
	if (n_records == CALLS)
		return;
	record[n_records].msg = malloc(len);
	assert_non_null(record[n_records].msg);
	memcpy(record[n_records].msg, msg, len);
	record[n_records++].len = len;
}

static void forget(void)
{
	while (n_records)
		free(record[--n_records].msg);
}

static const uint8_t mac[6] = { 2, 0, 0, 0, 0, 1 };

static void record_devx(struct uvr_ctx *a)
{
	uint8_t in[16] = { 0 }, out[64];
	struct uvr_match m;
	struct uvr_rule rule = { .match = &m };
	struct uvr_dcq cq;
	struct uvr_drq rq;
	uint32_t td, tdn, counter, id, flow, tag = 5;

	uvr_dcq(a, &cq);
	uvr_drq(a, &rq, cq.cqn);
	assert_int_equal(uvr_alloc(a->fd, CX_OP_ALLOC_TRANSPORT_DOMAIN, &td, &tdn), 0);
	assert_int_equal(uvr_alloc(a->fd, CX_OP_ALLOC_FLOW_COUNTER, &counter, &id), 0);
	uvr_match_mac(&m, mac);
	assert_int_equal(uvr_matcher(a->fd, &m, 1, 3, &rule.matcher), 0);
	rule.devx = &rq.tir;
	rule.counter = &counter;
	rule.tag = &tag;
	assert_int_equal(uvr_flow(a->fd, &rule, &flow), 0);
	cx_put_be16(in, CX_OP_QUERY_HCA_CAP);
	uvr_general(a->fd, in, sizeof(in), out, sizeof(out));
	cx_put_be16(in, CX_OP_QUERY_CQ);
	cx_put_be32(in + 8, cq.cqn);
	uvr_query(a->fd, cq.handle, in, sizeof(in), out, sizeof(out));
	uvr_destroy_flow(a->fd, flow);
	uvr_drq_destroy(a, &rq);
}

static void record_events(struct uvr_ctx *a)
{
	static const uint16_t port_change[] = { 9 };
	struct uvc c;
	int channel, async = uvr_async_fd(a->fd);

	uvc_begin(&c, MLX5_IB_OBJECT_DEVX_ASYNC_EVENT_FD,
		  MLX5_IB_METHOD_DEVX_ASYNC_EVENT_FD_ALLOC);
	uvc_handle(&c, MLX5_IB_ATTR_DEVX_ASYNC_EVENT_FD_ALLOC_HANDLE, 0);
	uvc_u32(&c, MLX5_IB_ATTR_DEVX_ASYNC_EVENT_FD_ALLOC_FLAGS, 0);
	assert_int_equal(uvc_run(a->fd, &c), 0);
	channel = (int)uvc_value(&c, MLX5_IB_ATTR_DEVX_ASYNC_EVENT_FD_ALLOC_HANDLE);
	uvc_begin(&c, MLX5_IB_OBJECT_DEVX, MLX5_IB_METHOD_DEVX_SUBSCRIBE_EVENT);
	uvc_handle(&c, MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_FD_HANDLE, (uint64_t)channel);
	uvc_in(&c, MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_TYPE_NUM_LIST, port_change, 2);
	assert_int_equal(uvc_run(a->fd, &c), 0);
	close(channel);
	close(async);
}

static void record_wq(struct uvr_ctx *a)
{
	struct uvr_cq cq;
	struct uvr_wq wq;
	uint32_t table, events;

	assert_int_equal(uvr_cq(a, &cq, 64, -1), 0);
	uvr_wq_fill(a, &wq, &cq, 64);
	assert_int_equal(uvr_wq_make(a, &wq), 0);
	assert_int_equal(uvr_modify_wq(a->fd, wq.handle, 1, 1), 0);
	assert_int_equal(uvr_table(a->fd, &wq.handle, 0, &table), 0);
	assert_int_equal(uvr_destroy_table(a->fd, table), 0);
	assert_int_equal(uvr_destroy_wq(a->fd, wq.handle, &events), 0);
}

static void record_flow(const struct uvr_receiver *r)
{
	_Alignas(struct ib_uverbs_create_flow)
		uint8_t in[sizeof(struct ib_uverbs_create_flow) + 40] = { 0 };
	struct ib_uverbs_create_flow *req = (void *)in;
	struct ib_uverbs_create_flow_resp resp;
	struct uvc_write w = { .cmd = IB_USER_VERBS_EX_CMD_CREATE_FLOW |
				      IB_USER_VERBS_CMD_FLAG_EXTENDED,
			       .in = in,
			       .in_len = sizeof(in),
			       .out = &resp,
			       .out_len = sizeof(resp) };
	struct uvc c;
	uint8_t *p = in + sizeof(*req);

	req->qp_handle = r->qp.handle;
	req->flow_attr.port = 1;
	req->flow_attr.num_of_specs = 1;
	req->flow_attr.size = 40;
	p[0] = 0x20; /* Ethernet, 40 bytes */
	p[4] = 40;
	memcpy(p + 8, mac, 6);
	memset(p + 24, 0xff, 6);
	assert_int_equal(uvc_write(r->ctx->fd, &c, &w), 0);
}

static void make_record(void)
{
	struct uvr_match m;
	struct uvr_receiver r;
	struct uvr_ctx a;
	int channel;

	n_records = 0;
	uvc_on_message = keep;
	uvr_open(&a, 0);
	record_events(&a);
	channel = uvr_comp_channel(a.fd);
	uvr_receiver(&a, &r, channel);
	uvr_match_mac(&m, mac);
	uvr_flow_to(&r, &m, 0);
	record_flow(&r);
	record_wq(&a);
	record_devx(&a);
	uvc_on_message = NULL;
	close(channel);
	uvr_close(&a);
	assert_true(n_records > 40);
	assert_true(n_records < CALLS);
}

/* ---- playing it wrong ---- */

static int pool[16]; /* descriptors that the server gave, and others */
static unsigned n_pool;

static void drop_pool(void)
{
	while (n_pool)
		close(pool[--n_pool]);
}

static void give_some_fd(int pair)
{
	struct cxp_fd answer = { .type = CXP_FD };

	if (chance(8) == 0)
		answer.rc = EBADF;
	uvc_send(pair, &answer, sizeof(answer),
		 n_pool && chance(8) ? pool[chance(n_pool)] : -1);
}

/* False: hang up. */
static bool answer_mem(int pair, const struct cxp_need_mem *need)
{
	struct cxp_mem lie = { .type = CXP_MEM,
			       .last = chance(2),
			       .page_bytes = chance(2) ? 4096 : chance(UINT32_MAX),
			       .addr = need->addr & ~4095ull,
			       .len = chance(2) ? 4096 : chance(UINT32_MAX),
			       .offset = chance(4) ? 0 : chance(UINT32_MAX) };

	if (chance(16)) {
		uvc_give_memory(pair, need);
		return true;
	}
	if (!chance(4))
		return false;
	uvc_send(pair, &lie, chance(2) ? sizeof(lie) : 1 + chance(sizeof(lie)),
		 n_pool ? pool[chance(n_pool)] : -1);
	return lie.last; /* nor may it wait for more than it will get */
}

/* What comes back must make sense, whatever was asked. */
static void check_reply(const uint8_t *msg, size_t len, unsigned sent_attrs)
{
	struct cxp_reply r;

	assert_true(len >= sizeof(r));
	memcpy(&r, msg, sizeof(r));
	assert_true(r.rc >= 0 && r.rc < 4096);
	assert_true(r.n_attrs == 0 || r.n_attrs == sent_attrs);
	assert_true(len >= sizeof(r) + r.n_attrs * (16 + sizeof(struct cxp_out)));
}

static void converse(int pair, unsigned sent_attrs)
{
	uint8_t *msg = aligned_alloc(16, CXP_MAX);
	struct cxp_need_mem need;
	uint32_t type;
	bool go_on = true;
	long n;
	int fd;

	assert_non_null(msg);
	while (go_on && (n = uvc_recv(pair, msg, CXP_MAX, &fd)) > 0) {
		assert_true(n >= (long)sizeof(type));
		memcpy(&type, msg, sizeof(type));
		if (fd >= 0 && n_pool < 16)
			pool[n_pool++] = fd;
		else if (fd >= 0)
			close(fd);
		if (type == CXP_NEED_MEM) {
			assert_int_equal(n, sizeof(need));
			memcpy(&need, msg, sizeof(need));
			go_on = answer_mem(pair, &need);
		} else if (type == CXP_NEED_FD) {
			give_some_fd(pair);
		} else {
			assert_int_equal(type, CXP_REPLY);
			check_reply(msg, (size_t)n, sent_attrs);
			go_on = false;
		}
	}
	free(msg);
}

static uint64_t some_value(void)
{
	static const uint64_t odd[] = {
		0,	    1,		2,	   7,	       8,
		15,	    16,		63,	   64,	       255,
		4095,	    4096,	0x7fff,	   0xffff,     0x7fffffff,
		0x80000000, UINT32_MAX, INT64_MAX, UINT64_MAX, UINT64_MAX - 4095
	};

	return chance(3) ? odd[chance(sizeof(odd) / sizeof(odd[0]))] : chance(UINT32_MAX);
}

/* Bytes anywhere, or a field of the header of the call or of one of its attributes. */
static void spoil(uint8_t *msg, size_t *len)
{
	size_t head = sizeof(struct cxp_ioctl);
	uint64_t value = some_value();
	struct cxp_ioctl req;
	size_t at, size;

	memcpy(&req, msg, sizeof(req));
	switch (chance(req.n_attrs && req.n_attrs < 32 ? 8 : 3)) {
	case 0:
		*len = 1 + chance((uint32_t)*len);
		return;
	case 1:
		msg[chance((uint32_t)*len)] ^= (uint8_t)(1u << chance(8));
		return;
	case 2:
		at = chance(sizeof(req) / 2) * 2u;
		size = 2;
		break;
	case 3:
	case 4:
		at = head + chance(req.n_attrs) * 16 + 8; /* its value */
		size = 8;
		break;
	case 5:
		at = head + chance(req.n_attrs) * 16 + 2u * chance(4);
		size = 2;
		break;
	default: /* what is in a struct: four bytes at four */
		at = head + req.n_attrs * 16;
		if (at + 4 > *len)
			return;
		at += chance((uint32_t)(*len - at) / 4) * 4u;
		size = 4;
	}
	if (at + size <= *len)
		memcpy(msg + at, &value, size);
}

static void play_one(int ctx, const struct record *r, unsigned spoiled)
{
	uint8_t *msg = malloc(r->len + 8);
	struct cxp_ioctl req = { 0 };
	size_t len = r->len;
	int pair = uvc_begin_call(ctx);

	assert_non_null(msg);
	if (pair >= 0) {
		memcpy(msg, r->msg, len);
		while (spoiled--)
			if (len >= sizeof(req))
				spoil(msg, &len);
		if (len >= sizeof(req))
			memcpy(&req, msg, sizeof(req));
		uvc_send(pair, msg, len, n_pool && !chance(20) ? pool[0] : -1);
		if (chance(40)) /* or go away at once */
			converse(pair, req.n_attrs);
		close(pair);
	}
	free(msg);
}

static void play(void)
{
	uint8_t frame[64];
	int ctx = uvc_open(0);

	pool[0] = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	pool[1] = open("/dev/null", O_RDWR | O_CLOEXEC);
	n_pool = 2;
	uvr_frame(frame, mac);
	for (unsigned i = 0; i < n_records; i++) {
		const struct record *r = &record[chance(10) ? i : chance(n_records)];

		play_one(ctx, r, i > 3 && chance(4) == 0 ? 1 + chance(3) : 0);
		if (!chance(20))
			uvr_rx(0, frame, sizeof(frame));
	}
	drop_pool();
	close(ctx);
}

static void a_record_played_wrong(void **state)
{
	unsigned rounds = number("UVERBS_ROUNDS", 60), before;
	struct uvr_ctx a;

	(void)state;
	seed = number("UVERBS_SEED", 4711) + 1;
	make_record();
	before = open_files();
	for (unsigned i = 0; i < rounds; i++) {
		play();
		uvr_until_clients(0);
		assert_int_equal(uvr_stat().handles, 0);
		assert_int_equal(uvr_stat().mappings, 0);
		assert_int_equal(uvr_stat().event_fds, 0);
		until_files(before);
	}
	forget();
	uvr_open(&a, 0); /* and the next is served */
	uvr_close(&a);
}

/* ---- messages that are none ---- */

static bool hung_up(int sock)
{
	struct pollfd p = { .fd = sock, .events = POLLIN };
	uint8_t buf[256];
	int fd;

	while (poll(&p, 1, 10000) == 1)
		if (uvc_recv(sock, buf, sizeof(buf), &fd) < 0)
			return true;
	return false;
}

/* A context's connection takes calls and nothing else. */
static void wrong_messages_end_the_connection(void **state)
{
	static const uint32_t types[] = { 0,	     CXP_HELLO, CXP_LIST,     CXP_PORT,
					  CXP_IOCTL, CXP_REPLY, CXP_NEED_MEM, CXP_MAPPED,
					  99 };
	static uint8_t big[CXP_MAX + 4096];
	uint32_t call = CXP_CALL;
	unsigned before = open_files();

	(void)state;
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		int ctx = uvc_open(0);

		uvc_send(ctx, &types[i], sizeof(types[i]), STDIN_FILENO);
		assert_true(hung_up(ctx));
		close(ctx);
	}
	for (unsigned len = 1; len < 12; len++) {
		int ctx = uvc_open(0);

		if (len == sizeof(call))
			uvc_send(ctx, &call, len, -1); /* without a descriptor */
		else
			uvc_send(ctx, &call, len < 4 ? len : 4, STDIN_FILENO);
		close(ctx); /* whatever it makes of it */
	}
	{
		int ctx = uvc_open(0), room = 4 * CXP_MAX;

		setsockopt(ctx, SOL_SOCKET, SO_SNDBUF, &room, sizeof(room));
		if (!uvc_send(ctx, big, sizeof(big), -1))
			assert_true(hung_up(ctx));
		close(ctx);
	}
	until_files(before);
}

/* A pair that is no socket, or one that nobody reads. */
static void wrong_pairs_end_the_call_only(void **state)
{
	struct cxp_call call = { .type = CXP_CALL };
	struct uvr_ctx a;
	int pipes[2], pair, fd;
	uint32_t pd, num;
	uint8_t buf[64] = { CXP_IOCTL };

	(void)state;
	uvr_open(&a, 0);
	fd = eventfd(0, EFD_CLOEXEC);
	uvc_send(a.fd, &call, sizeof(call), fd);
	assert_int_equal(pipe(pipes), 0);
	uvc_send(a.fd, &call, sizeof(call), pipes[0]);
	uvc_send(a.fd, &call, sizeof(call), pipes[1]);
	close(fd);
	close(pipes[0]);
	close(pipes[1]);
	for (size_t len = 1; len < sizeof(buf); len++) {
		pair = uvc_begin_call(a.fd);
		uvc_send(pair, buf, len, -1);
		close(pair);
	}
	pair = uvc_begin_call(a.fd);
	close(pair);
	assert_int_equal(uvr_alloc_pd(a.fd, &pd, &num), 0); /* it goes on */
	uvr_close(&a);
}

/* Without a word for long, many of them: threads, not time, are what they cost. */
static void many_silent_clients(void **state)
{
	int sock[200];
	unsigned before = open_files();

	(void)state;
	for (unsigned i = 0; i < 200; i++)
		sock[i] = i & 1 ? uvc_connect() : uvc_open(0);
	{
		struct uvr_ctx a;
		uint32_t pd, num;

		uvr_open(&a, 0);
		assert_int_equal(uvr_alloc_pd(a.fd, &pd, &num), 0);
		uvr_drop(&a);
	}
	for (unsigned i = 0; i < 200; i++)
		close(sock[i]);
	until_files(before);
}

int main(void)
{
	struct CMUnitTest tests[] = {
		cmocka_unit_test(a_record_played_wrong),
		cmocka_unit_test(wrong_messages_end_the_connection),
		cmocka_unit_test(wrong_pairs_end_the_call_only),
		cmocka_unit_test(many_silent_clients),
	};

	for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++) {
		tests[i].setup_func = set_up;
		tests[i].teardown_func = tear_down;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
