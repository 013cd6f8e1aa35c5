/* test/test_uverbs_event.c - who is told what: completions, errors, ports, subscriptions */
#define _GNU_SOURCE 1
#include "uvrig.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>

static const uint8_t mac[6] = { 2, 0, 0, 0, 0, 1 };
static struct uvr_match to_mac;
static struct uvr_ctx a;

enum { EV_COMPLETION = 0, EV_CQ_ERROR = 4, EV_WQ = 5, EV_PORT = 9 };
enum { IB_CQ_ERR = 0, IB_QP_FATAL = 1, IB_DEVICE_FATAL = 8, IB_ACTIVE = 9, IB_DOWN = 10 };

static int set_up(void **state)
{
	(void)state;
	uvr_start("eth0=loop", "eth1=loop");
	uvr_open(&a, 0);
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

/* ---- reading ---- */

static bool has_more(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	return poll(&p, 1, 0) == 1 && p.revents & POLLIN;
}

/* Waits; the poller of the device process sees doorbells when it comes to them. */
static void read_one(int fd, void *buf, size_t len)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	assert_int_equal(poll(&p, 1, 10000), 1);
	assert_int_equal(read(fd, buf, len), len);
}

static uint64_t read_completion(int channel)
{
	struct ib_uverbs_comp_event_desc ev;

	read_one(channel, &ev, sizeof(ev));
	return ev.cq_handle;
}

static void expect_async(int fd, uint32_t type, const void *element)
{
	struct ib_uverbs_async_event_desc ev;

	read_one(fd, &ev, sizeof(ev));
	assert_int_equal(ev.event_type, type);
	assert_int_equal(ev.element, (uintptr_t)element);
}

/* ---- completions of verbs queues ---- */

static void a_completion_is_told_once_per_arm(void **state)
{
	struct ib_uverbs_destroy_cq_resp resp;
	struct uvr_receiver r;
	int channel = uvr_comp_channel(a.fd);
	uint32_t events;

	(void)state;
	uvr_receiver(&a, &r, channel);
	uvr_flow_to(&r, &to_mac, 0);
	assert_int_equal(uvr_frame_to(0, mac), CX_RX_QUEUED);
	uvr_step(0);
	assert_false(has_more(channel)); /* not armed */
	uvr_drain(&r);
	for (unsigned i = 0; i < 5; i++) {
		uvr_arm(&a, &r.cq);
		uvr_step(0);
		assert_int_equal(uvr_frame_to(0, mac), CX_RX_QUEUED);
		assert_int_equal(uvr_frame_to(0, mac), CX_RX_QUEUED);
		assert_int_equal(read_completion(channel), (uintptr_t)&r.cq);
		assert_false(has_more(channel));
		assert_int_equal(uvr_drain(&r), 2);
	}
	assert_int_equal(uvr_destroy_qp(a.fd, r.qp.handle, &events), EBUSY); /* flow */
	close(channel);
	assert_int_equal(uvr_destroy_cq(a.fd, r.cq.handle, &resp), EBUSY); /* QP */
}

/* ibv_destroy_cq() waits until so many were acknowledged as were read: neither more ... */
static void unread_completions_go_with_their_queue(void **state)
{
	struct ib_uverbs_destroy_cq_resp resp;
	struct uvr_receiver r, other;
	int channel = uvr_comp_channel(a.fd);
	uint32_t events, flow;
	static const uint8_t mac2[6] = { 2, 0, 0, 0, 0, 2 };
	struct uvr_match to_mac2;

	(void)state;
	uvr_match_mac(&to_mac2, mac2);
	uvr_receiver(&a, &r, channel);
	uvr_receiver(&a, &other, channel);
	flow = uvr_flow_to(&r, &to_mac, 0);
	uvr_flow_to(&other, &to_mac2, 0);
	for (unsigned i = 0; i < 3; i++) {
		uvr_arm(&a, &r.cq);
		uvr_step(0);
		uvr_frame_to(0, mac);
		uvr_drain(&r);
		if (i < 2)
			read_completion(channel);
		uvr_arm(&a, &other.cq);
		uvr_step(0);
		uvr_frame_to(0, mac2);
		uvr_drain(&other);
		if (i < 2)
			read_completion(channel);
	}
	assert_int_equal(uvr_destroy_flow(a.fd, flow), 0);
	assert_int_equal(uvr_destroy_qp(a.fd, r.qp.handle, &events), 0);
	assert_int_equal(events, 0);
	assert_int_equal(uvr_destroy_cq(a.fd, r.cq.handle, &resp), 0);
	assert_int_equal(resp.comp_events_reported, 2);
	assert_int_equal(resp.async_events_reported, 0);
	/* ... nor is the other's lost */
	assert_int_equal(read_completion(channel), (uintptr_t)&other.cq);
	assert_false(has_more(channel));
	close(channel);
}

/* The program may have its channel under any number, and many times. */
static void a_channel_is_known_by_any_number(void **state)
{
	struct uvr_cq cq, cq2;
	int channel = uvr_comp_channel(a.fd), copy = fcntl(channel, F_DUPFD_CLOEXEC, 500);

	(void)state;
	close(channel);
	assert_int_equal(uvr_cq(&a, &cq, 16, copy), 0);
	assert_int_equal(uvr_cq(&a, &cq2, 16, a.fd), EBADF);
	channel = uvr_async_fd(a.fd);
	assert_int_equal(uvr_cq(&a, &cq2, 16, channel), EBADF); /* of another kind */
	close(channel);
	close(copy);
	assert_int_equal(uvr_cq(&a, &cq2, 16, copy), EBADF);
}

static bool no_files(void *arg)
{
	struct server_stat st;

	(void)arg;
	server_stat(&uvr_m, &st);
	return !st.event_fds;
}

/* Event files are a client's to keep, but the last descriptors are for calls and for others. */
static void channels_leave_descriptors_for_calls(void **state)
{
	enum { MOST = 400 };
	static int channel[MOST];
	struct rlimit old, few;
	struct uvr_cq cq;
	struct uvr_ctx b;
	int top = dup(0), err = 0;
	unsigned n = 0;

	(void)state;
	close(top);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &old), 0);
	few = old;
	few.rlim_cur = (rlim_t)top + 300; /* the server's and ours */
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
	while (n < MOST && !err) {
		err = uvr_try_comp_channel(a.fd, &channel[n]);
		n += !err;
	}
	assert_int_equal(err, EMFILE);
	assert_in_range(n, 50, 299);
	assert_int_equal(uvr_cq(&a, &cq, 16, channel[n - 1]), 0);
	while (n)
		close(channel[--n]);
	uvr_until(no_files, NULL, "the channels are closed here too");
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &old), 0);
	uvr_open(&b, 0);
	uvr_close(&b);
}

static void a_closed_channel_ends_only_the_events(void **state)
{
	struct ib_uverbs_destroy_cq_resp resp;
	struct uvr_receiver r;
	int channel = uvr_comp_channel(a.fd);
	uint32_t events, flow;

	(void)state;
	uvr_receiver(&a, &r, channel);
	flow = uvr_flow_to(&r, &to_mac, 0);
	close(channel);
	uvr_until(no_files, NULL, "the channel is closed here too");
	uvr_arm(&a, &r.cq);
	uvr_step(0);
	assert_int_equal(uvr_frame_to(0, mac), CX_RX_QUEUED);
	assert_int_equal(uvr_drain(&r), 1);
	assert_int_equal(uvr_destroy_flow(a.fd, flow), 0);
	assert_int_equal(uvr_destroy_qp(a.fd, r.qp.handle, &events), 0);
	assert_int_equal(uvr_destroy_cq(a.fd, r.cq.handle, &resp), 0);
	assert_int_equal(resp.comp_events_reported, 0);
}

/* ---- errors of verbs queues ---- */

static void errors_of_queues_are_asynchronous_events(void **state)
{
	struct ib_uverbs_destroy_cq_resp resp;
	struct uvr_receiver r;
	uint32_t events, flow;
	char line[64];
	int async = uvr_async_fd(a.fd);

	(void)state;
	uvr_receiver(&a, &r, -1);
	flow = uvr_flow_to(&r, &to_mac, 0);
	snprintf(line, sizeof(line), "cqe type=sq num=%u syndrome=0x22", r.qp.resp.sqn);
	uvr_fault(0, line);
	expect_async(async, IB_QP_FATAL, &r.qp);
	snprintf(line, sizeof(line), "overrun cq=%u", r.cq.cqn);
	uvr_fault(0, line);
	uvr_frame_to(0, mac);
	expect_async(async, IB_CQ_ERR, &r.cq);
	uvr_frame_to(0, mac); /* the RQ now dies with it; this event is not read */
	assert_int_equal(uvr_destroy_flow(a.fd, flow), 0);
	assert_int_equal(uvr_destroy_qp(a.fd, r.qp.handle, &events), 0);
	assert_int_equal(events, 1);
	assert_int_equal(uvr_destroy_cq(a.fd, r.cq.handle, &resp), 0);
	assert_int_equal(resp.async_events_reported, 1);
	assert_false(has_more(async));
	close(async);
}

/* ---- the port and the device ---- */

static void every_async_file_hears_of_its_port(void **state)
{
	struct uvr_ctx b, other;
	int of_a = uvr_async_fd(a.fd), again = uvr_async_fd(a.fd), of_b, of_other;

	(void)state;
	uvr_open(&b, 0);
	uvr_open(&other, 1);
	of_b = uvr_async_fd(b.fd);
	of_other = uvr_async_fd(other.fd);
	uvr_fault(0, "link down");
	uvr_fault(0, "link up");
	for (unsigned i = 0; i < 3; i++) {
		int fd = i == 0 ? of_a : i == 1 ? again : of_b;

		expect_async(fd, IB_DOWN, (void *)1);
		expect_async(fd, IB_ACTIVE, (void *)1);
		assert_false(has_more(fd));
	}
	assert_false(has_more(of_other));
	uvr_fault(1, "fatal");
	expect_async(of_other, IB_DEVICE_FATAL, (void *)1);
	assert_false(has_more(of_a));
	close(of_a);
	close(again);
	close(of_b);
	close(of_other);
	uvr_close(&b);
	uvr_close(&other);
}

/* ---- DevX ---- */

static int channel_of(int fd, uint32_t flags)
{
	struct uvc c;

	uvc_begin(&c, MLX5_IB_OBJECT_DEVX_ASYNC_EVENT_FD,
		  MLX5_IB_METHOD_DEVX_ASYNC_EVENT_FD_ALLOC);
	uvc_handle(&c, MLX5_IB_ATTR_DEVX_ASYNC_EVENT_FD_ALLOC_HANDLE, 0);
	uvc_u32(&c, MLX5_IB_ATTR_DEVX_ASYNC_EVENT_FD_ALLOC_FLAGS, flags);
	assert_int_equal(uvc_run(fd, &c), 0);
	return (int)uvc_value(&c, MLX5_IB_ATTR_DEVX_ASYNC_EVENT_FD_ALLOC_HANDLE);
}

struct sub {
	int channel;
	const uint32_t *obj;
	uint16_t event[20];
	unsigned bytes; /* of event[] */
	const uint64_t *cookie;
	int eventfd; /* 0 = none */
};

static int subscribe(int fd, const struct sub *s)
{
	struct uvc c;

	uvc_begin(&c, MLX5_IB_OBJECT_DEVX, MLX5_IB_METHOD_DEVX_SUBSCRIBE_EVENT);
	uvc_handle(&c, MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_FD_HANDLE, (uint64_t)s->channel);
	uvc_in(&c, MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_TYPE_NUM_LIST, s->event,
	       s->bytes ? s->bytes : 2);
	if (s->obj)
		uvc_handle(&c, MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_OBJ_HANDLE, *s->obj);
	if (s->cookie)
		uvc_u64(&c, MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_COOKIE, *s->cookie);
	if (s->eventfd)
		uvc_u32(&c, MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_FD_NUM,
			(uint32_t)s->eventfd);
	return uvc_run(fd, &c);
}

struct devx_queues {
	struct uvr_dcq cq;
	struct uvr_drq rq;
	uint32_t matcher, flow;
};

static void make_queues(struct devx_queues *q)
{
	struct uvr_rule rule = { .match = &to_mac, .devx = &q->rq.tir };

	uvr_dcq(&a, &q->cq);
	uvr_drq(&a, &q->rq, q->cq.cqn);
	assert_int_equal(uvr_matcher(a.fd, &to_mac, 1, 0, &q->matcher), 0);
	rule.matcher = q->matcher;
	assert_int_equal(uvr_flow(a.fd, &rule, &q->flow), 0);
}

struct devx_event {
	uint64_t cookie;
	uint8_t eqe[64];
};

static void a_record_has_the_event_itself(void **state)
{
	struct devx_queues q;
	struct devx_event ev;
	uint64_t cookie = 0x1122334455667788, second = 2;
	int channel = channel_of(a.fd, 0);
	struct sub s = { .channel = channel,
			 .obj = &q.cq.handle,
			 .cookie = &cookie,
			 .event = { EV_COMPLETION, EV_CQ_ERROR },
			 .bytes = 4 };
	char line[64];

	(void)state;
	make_queues(&q);
	assert_int_equal(subscribe(a.fd, &s), 0);
	s = (struct sub){ .channel = channel,
			  .obj = &q.rq.handle,
			  .cookie = &second,
			  .event = { EV_WQ } };
	assert_int_equal(subscribe(a.fd, &s), 0);
	for (unsigned i = 0; i < 2; i++) {
		uvr_darm(&a, &q.cq);
		uvr_step(0);
		assert_int_equal(uvr_frame_to(0, mac), CX_RX_QUEUED);
		assert_non_null(uvr_dpoll(&q.cq));
	}
	for (unsigned i = 0; i < 2; i++) {
		read_one(channel, &ev, sizeof(ev));
		assert_int_equal(ev.cookie, cookie);
		assert_int_equal(ev.eqe[1], EV_COMPLETION);
		assert_int_equal(cx_be32(ev.eqe + 32 + 24), q.cq.cqn);
	}
	snprintf(line, sizeof(line), "overrun cq=%u", q.cq.cqn);
	uvr_fault(0, line);
	uvr_frame_to(0, mac);
	read_one(channel, &ev, sizeof(ev));
	assert_int_equal(ev.cookie, cookie);
	assert_int_equal(ev.eqe[1], EV_CQ_ERROR);
	assert_int_equal(cx_be32(ev.eqe + 32), q.cq.cqn);
	uvr_frame_to(0, mac); /* its queue notices */
	read_one(channel, &ev, sizeof(ev));
	assert_int_equal(ev.cookie, second);
	assert_int_equal(ev.eqe[1], EV_WQ);
	assert_int_equal(cx_be32(ev.eqe + 32 + 24) & 0xffffff, q.rq.rqn);
	assert_false(has_more(channel));
	close(channel);
}

/* Without data a subscription stands in the channel once, however often it fires. */
static void without_data_only_the_cookie_comes(void **state)
{
	struct devx_queues q;
	uint64_t cookie = 77, port_cookie = 78, got;
	int channel = channel_of(a.fd, MLX5_IB_UAPI_DEVX_CR_EV_CH_FLAGS_OMIT_DATA);
	struct sub s = { .channel = channel,
			 .obj = &q.cq.handle,
			 .cookie = &cookie,
			 .event = { EV_COMPLETION } };

	(void)state;
	make_queues(&q);
	assert_int_equal(subscribe(a.fd, &s), 0);
	s = (struct sub){ .channel = channel,
			  .cookie = &port_cookie,
			  .event = { EV_PORT } };
	assert_int_equal(subscribe(a.fd, &s), 0);
	for (unsigned round = 0; round < 2; round++) {
		for (unsigned i = 0; i < 3; i++) {
			uvr_darm(&a, &q.cq);
			uvr_step(0);
			assert_int_equal(uvr_frame_to(0, mac), CX_RX_QUEUED);
			assert_non_null(uvr_dpoll(&q.cq));
		}
		uvr_fault(0, "link down");
		uvr_fault(0, "link up");
		read_one(channel, &got, sizeof(got));
		assert_int_equal(got, cookie);
		read_one(channel, &got, sizeof(got));
		assert_int_equal(got, port_cookie);
		assert_false(has_more(channel));
	}
	close(channel);
}

static void an_eventfd_may_stand_for_the_channel(void **state)
{
	struct devx_queues q;
	uint64_t count;
	int channel = channel_of(a.fd, 0), efd = eventfd(0, EFD_CLOEXEC);
	struct sub s = { .channel = channel,
			 .obj = &q.cq.handle,
			 .eventfd = efd,
			 .event = { EV_COMPLETION } };

	(void)state;
	make_queues(&q);
	assert_int_equal(subscribe(a.fd, &s), 0);
	for (unsigned i = 0; i < 3; i++) {
		uvr_darm(&a, &q.cq);
		uvr_step(0);
		assert_int_equal(uvr_frame_to(0, mac), CX_RX_QUEUED);
		assert_non_null(uvr_dpoll(&q.cq));
	}
	read_one(efd, &count, sizeof(count));
	assert_int_equal(count, 3);
	assert_false(has_more(channel));
	/* a full one holds up nobody */
	count = UINT64_MAX - 1;
	assert_int_equal(write(efd, &count, sizeof(count)), sizeof(count));
	uvr_darm(&a, &q.cq);
	uvr_step(0);
	assert_int_equal(uvr_frame_to(0, mac), CX_RX_QUEUED);
	close(efd);
	close(channel);
}

static void subscriptions_are_checked(void **state)
{
	static const uint16_t unknown[] = { 6, 9, 0x15, 0x1a, 0xff };
	struct uvr_dcq cq;
	struct uvr_ctx b;
	uint64_t cookie = 1;
	int channel = channel_of(a.fd, 0), of_b, sock;
	struct sub s = { .channel = channel, .obj = &cq.handle }, bad;
	uint32_t none = 4711;

	(void)state;
	uvr_dcq(&a, &cq);
	for (size_t i = 0; i < sizeof(unknown) / sizeof(unknown[0]); i++) {
		bad = s;
		bad.event[0] = unknown[i];
		assert_int_equal(subscribe(a.fd, &bad), EINVAL);
	}
	bad = (struct sub){ .channel = channel, .event = { EV_COMPLETION } };
	assert_int_equal(subscribe(a.fd, &bad), EINVAL); /* of an object only */
	bad = s;
	bad.bytes = 3;
	assert_int_equal(subscribe(a.fd, &bad), EINVAL);
	bad.bytes = 34; /* MAX_NUM_EVENTS is 16 */
	assert_int_equal(subscribe(a.fd, &bad), EINVAL);
	bad = s;
	bad.obj = &none;
	assert_int_equal(subscribe(a.fd, &bad), ENOENT);
	bad = s;
	bad.obj = &a.pd; /* no DevX object */
	assert_int_equal(subscribe(a.fd, &bad), EINVAL);
	bad = s;
	bad.eventfd = eventfd(0, EFD_CLOEXEC);
	bad.cookie = &cookie;
	assert_int_equal(subscribe(a.fd, &bad), EINVAL);
	close(bad.eventfd);
	bad.cookie = NULL;
	bad.eventfd = 4711;
	assert_int_equal(subscribe(a.fd, &bad), EBADF);
	bad.eventfd = channel;
	assert_int_equal(subscribe(a.fd, &bad), EINVAL);
	uvr_open(&b, 0);
	of_b = channel_of(b.fd, 0);
	bad = s;
	bad.channel = of_b;
	assert_int_equal(subscribe(a.fd, &bad), EBADF); /* of another context */
	close(of_b);
	uvr_close(&b);
	sock = uvc_open(0);
	assert_int_equal(uvr_get_context(sock, 0), 0);
	bad = (struct sub){ .channel = channel, .event = { EV_PORT } };
	assert_int_not_equal(subscribe(sock, &bad), 0); /* no DevX there */
	close(sock);
	assert_int_equal(subscribe(a.fd, &s), 0);
	close(channel);
}

/* What was told stays told; what comes later goes nowhere, whoever has the number then. */
static void subscriptions_end_with_their_object(void **state)
{
	struct devx_queues q;
	struct devx_event ev;
	uint64_t cookie = 5;
	int channel = channel_of(a.fd, 0);
	struct sub s = { .channel = channel,
			 .obj = &q.cq.handle,
			 .cookie = &cookie,
			 .event = { EV_COMPLETION } };
	uint32_t cqn;

	(void)state;
	make_queues(&q);
	assert_int_equal(subscribe(a.fd, &s), 0);
	uvr_darm(&a, &q.cq);
	uvr_step(0);
	assert_int_equal(uvr_frame_to(0, mac), CX_RX_QUEUED);
	assert_int_equal(uvr_destroy_flow(a.fd, q.flow), 0);
	uvr_drq_destroy(&a, &q.rq);
	cqn = q.cq.cqn;
	assert_int_equal(uvr_devx_destroy(a.fd, q.cq.handle), 0);
	read_one(channel, &ev, sizeof(ev));
	assert_int_equal(ev.cookie, cookie);
	assert_int_equal(cx_be32(ev.eqe + 32 + 24), cqn);
	make_queues(&q);
	uvr_darm(&a, &q.cq);
	uvr_step(0);
	assert_int_equal(uvr_frame_to(0, mac), CX_RX_QUEUED);
	assert_false(has_more(channel));
	close(channel);
}

static void subscriptions_end_with_their_channel(void **state)
{
	struct devx_queues q;
	int channel = channel_of(a.fd, 0);
	struct sub s = { .channel = channel,
			 .obj = &q.cq.handle,
			 .event = { EV_COMPLETION } };

	(void)state;
	make_queues(&q);
	assert_int_equal(subscribe(a.fd, &s), 0);
	close(channel);
	uvr_until(no_files, NULL, "the channel is closed here too");
	uvr_darm(&a, &q.cq);
	uvr_step(0);
	assert_int_equal(uvr_frame_to(0, mac), CX_RX_QUEUED);
	assert_int_equal(uvr_destroy_flow(a.fd, q.flow), 0);
	uvr_drq_destroy(&a, &q.rq);
	assert_int_equal(uvr_devx_destroy(a.fd, q.cq.handle), 0);
}

/* Far more than a pipe holds; the reader comes late, another program reads meanwhile. */
static void who_does_not_read_loses_nothing_and_holds_up_nobody(void **state)
{
	struct uvr_ctx b;
	struct devx_event ev;
	int channel = channel_of(a.fd, 0), async;
	struct sub s = { .channel = channel, .event = { EV_PORT } };

	(void)state;
	assert_int_equal(subscribe(a.fd, &s), 0);
	uvr_open(&b, 0);
	async = uvr_async_fd(b.fd);
	for (unsigned i = 0; i < 500; i++) {
		uvr_fault(0, "link down");
		uvr_fault(0, "link up");
		expect_async(async, IB_DOWN, (void *)1);
		expect_async(async, IB_ACTIVE, (void *)1);
	}
	for (unsigned i = 0; i < 1000; i++) {
		read_one(channel, &ev, sizeof(ev));
		assert_int_equal(ev.eqe[1], EV_PORT);
		assert_int_equal(ev.eqe[3], i & 1 ? 4 : 1);
	}
	assert_false(has_more(channel));
	close(channel);
	close(async);
	uvr_close(&b);
}

/* ---- answers that come later ---- */

static int query_later(int cmd, uint32_t handle, const uint8_t *in, uint64_t out_len,
		       uint64_t id)
{
	struct uvc c;

	uvc_begin(&c, MLX5_IB_OBJECT_DEVX_OBJ, MLX5_IB_METHOD_DEVX_OBJ_ASYNC_QUERY);
	uvc_handle(&c, MLX5_IB_ATTR_DEVX_OBJ_QUERY_ASYNC_HANDLE, handle);
	uvc_in(&c, MLX5_IB_ATTR_DEVX_OBJ_QUERY_ASYNC_CMD_IN, in, 16);
	uvc_u64(&c, MLX5_IB_ATTR_DEVX_OBJ_QUERY_ASYNC_OUT_LEN, out_len);
	uvc_handle(&c, MLX5_IB_ATTR_DEVX_OBJ_QUERY_ASYNC_FD, (uint64_t)cmd);
	uvc_u64(&c, MLX5_IB_ATTR_DEVX_OBJ_QUERY_ASYNC_WR_ID, id);
	return uvc_run(a.fd, &c);
}

static void queries_may_answer_later(void **state)
{
	static uint8_t answer[8 + 65535];
	uint8_t in[16] = { 0 };
	uint64_t id;
	struct uvr_dcq cq;
	struct uvc c;
	unsigned n = 0;
	int cmd, rc;

	(void)state;
	uvr_dcq(&a, &cq);
	uvc_begin(&c, MLX5_IB_OBJECT_DEVX_ASYNC_CMD_FD,
		  MLX5_IB_METHOD_DEVX_ASYNC_CMD_FD_ALLOC);
	uvc_handle(&c, MLX5_IB_ATTR_DEVX_ASYNC_CMD_FD_ALLOC_HANDLE, 0);
	assert_int_equal(uvc_run(a.fd, &c), 0);
	cmd = (int)uvc_value(&c, MLX5_IB_ATTR_DEVX_ASYNC_CMD_FD_ALLOC_HANDLE);
	CX_SET(query_cq_in, in, opcode, CX_OP_QUERY_CQ);
	CX_SET(query_cq_in, in, cqn, cq.cqn);
	assert_int_equal(query_later(cmd, cq.handle, in, 15, 1), EINVAL);
	assert_int_equal(query_later(cmd, cq.handle, in, 65536, 1), EINVAL);
	assert_int_equal(query_later(cmd, a.pd, in, 1024, 1), EINVAL);
	assert_false(has_more(cmd));
	while (!(rc = query_later(cmd, cq.handle, in, 65535, n)))
		n++;
	assert_int_equal(rc, EAGAIN); /* a megabyte lies there */
	assert_in_range(n, 15, 16);
	for (unsigned i = 0; i < n; i++) {
		read_one(cmd, answer, sizeof(answer));
		memcpy(&id, answer, sizeof(id));
		assert_int_equal(id, i);
		assert_int_equal(answer[8], 0);
		assert_int_equal(CX_GET(cqc, CX_AT(query_cq_out, answer + 8, cq_context),
					log_cq_size),
				 4);
	}
	assert_int_equal(query_later(cmd, cq.handle, in, 1024, 99), 0);
	read_one(cmd, answer, 8 + 1024);
	memcpy(&id, answer, sizeof(id));
	assert_int_equal(id, 99);
	close(cmd);
	assert_int_equal(query_later(cmd, cq.handle, in, 1024, 99), EBADF);
}

int main(void)
{
	struct CMUnitTest tests[] = {
		cmocka_unit_test(a_completion_is_told_once_per_arm),
		cmocka_unit_test(unread_completions_go_with_their_queue),
		cmocka_unit_test(a_channel_is_known_by_any_number),
		cmocka_unit_test(a_closed_channel_ends_only_the_events),
		cmocka_unit_test(channels_leave_descriptors_for_calls),
		cmocka_unit_test(errors_of_queues_are_asynchronous_events),
		cmocka_unit_test(every_async_file_hears_of_its_port),
		cmocka_unit_test(a_record_has_the_event_itself),
		cmocka_unit_test(without_data_only_the_cookie_comes),
		cmocka_unit_test(an_eventfd_may_stand_for_the_channel),
		cmocka_unit_test(subscriptions_are_checked),
		cmocka_unit_test(subscriptions_end_with_their_object),
		cmocka_unit_test(subscriptions_end_with_their_channel),
		cmocka_unit_test(who_does_not_read_loses_nothing_and_holds_up_nobody),
		cmocka_unit_test(queries_may_answer_later),
	};

	for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++) {
		tests[i].setup_func = set_up;
		tests[i].teardown_func = tear_down;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
