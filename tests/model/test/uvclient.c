/* test/uvclient.c - see uvclient.h */
#define _GNU_SOURCE 1
#include "uvclient.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define PAGE 4096u

char uvc_path[108];
bool (*uvc_on_need_mem)(int pair, const struct cxp_need_mem *need);
void (*uvc_on_message)(const uint8_t *msg, size_t len);

/* ---- messages ---- */

int uvc_send(int sock, const void *buf, size_t len, int fd)
{
	union {
		struct cmsghdr align;
		char room[CMSG_SPACE(sizeof(int))];
	} control = { 0 };
	struct iovec iov = { .iov_base = (void *)(uintptr_t)buf, .iov_len = len };
	struct msghdr h = { .msg_iov = &iov, .msg_iovlen = 1 };

	if (fd >= 0) {
		h.msg_control = &control;
		h.msg_controllen = sizeof(control);
		*CMSG_FIRSTHDR(&h) = (struct cmsghdr){ .cmsg_len = CMSG_LEN(sizeof(int)),
						       .cmsg_level = SOL_SOCKET,
						       .cmsg_type = SCM_RIGHTS };
		memcpy(CMSG_DATA(CMSG_FIRSTHDR(&h)), &fd, sizeof(fd));
	}
	return sendmsg(sock, &h, MSG_NOSIGNAL) == (ssize_t)len ? 0 : -1;
}

long uvc_recv(int sock, void *buf, size_t size, int *fd)
{
	union {
		struct cmsghdr align;
		char room[CMSG_SPACE(CXP_FDS * sizeof(int))];
	} control;
	struct iovec iov = { .iov_base = buf, .iov_len = size };
	struct msghdr h = { .msg_iov = &iov,
			    .msg_iovlen = 1,
			    .msg_control = &control,
			    .msg_controllen = sizeof(control) };
	ssize_t n = recvmsg(sock, &h, MSG_CMSG_CLOEXEC);
	struct cmsghdr *c = n < 0 ? NULL : CMSG_FIRSTHDR(&h);

	*fd = -1;
	if (c && c->cmsg_type == SCM_RIGHTS)
		memcpy(fd, CMSG_DATA(c), sizeof(*fd));
	return n > 0 ? n : -1;
}

/* ---- connections ---- */

int uvc_connect(void)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	int sock = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	memcpy(a.sun_path, uvc_path, sizeof(uvc_path));
	assert_true(sock >= 0);
	assert_int_equal(connect(sock, (struct sockaddr *)&a, sizeof(a)), 0);
	return sock;
}

int uvc_hello(int sock, unsigned uverbs, unsigned version)
{
	struct cxp_hello h = { .type = CXP_HELLO, .version = version, .uverbs = uverbs };
	int fd;

	if (uvc_send(sock, &h, sizeof(h), -1) ||
	    uvc_recv(sock, &h, sizeof(h), &fd) != sizeof(h))
		return -1;
	assert_int_equal(h.type, CXP_HELLO);
	assert_int_equal(fd, -1);
	return h.rc;
}

int uvc_open(unsigned uverbs)
{
	int sock = uvc_connect();

	assert_int_equal(uvc_hello(sock, uverbs, CXP_VERSION), 0);
	return sock;
}

int uvc_begin_call(int ctx)
{
	struct cxp_call msg = { .type = CXP_CALL };
	int pair[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
	if (uvc_send(ctx, &msg, sizeof(msg), pair[1])) {
		close(pair[0]);
		pair[0] = -1;
	}
	close(pair[1]);
	return pair[0];
}

/* ---- memory ---- */

static struct region {
	struct region *next;
	uint8_t *at, *alias;
	size_t len;
	int fd;
} * regions;

void *uvc_mem(size_t len)
{
	struct region *r = calloc(1, sizeof(*r));

	assert_non_null(r);
	r->len = (len + PAGE - 1) & ~(size_t)(PAGE - 1);
	r->fd = memfd_create("uvclient", MFD_CLOEXEC);
	assert_true(r->fd >= 0);
	assert_int_equal(ftruncate(r->fd, (off_t)r->len), 0);
	r->at = mmap(NULL, r->len, PROT_READ | PROT_WRITE, MAP_SHARED, r->fd, 0);
	assert_true(r->at != MAP_FAILED);
	r->alias = r->at;
	r->next = regions;
	regions = r;
	return r->at;
}

static struct region **find(uint64_t addr)
{
	struct region **p = &regions;

	while (*p && addr - (uintptr_t)(*p)->at >= (*p)->len &&
	       addr - (uintptr_t)(*p)->alias >= (*p)->len)
		p = &(*p)->next;
	return p;
}

void uvc_mem_alias(void *p, void *at)
{
	(*find((uintptr_t)p))->alias = at;
}

int uvc_mem_fd(const void *p)
{
	return (*find((uintptr_t)p))->fd;
}

static void mem_free(void *p)
{
	struct region **at = find((uintptr_t)p), *r = *at;

	*at = r->next;
	munmap(r->at, r->len);
	close(r->fd);
	free(r);
}

void uvc_mem_free_all(void)
{
	while (regions)
		mem_free(regions->at);
}

void uvc_give_memory(int pair, const struct cxp_need_mem *need)
{
	uint64_t at = need->addr & ~(uint64_t)(PAGE - 1), end = need->addr + need->len;
	struct cxp_mem last = { .type = CXP_MEM, .last = 1 };

	while (at < end && !last.rc) {
		const struct region *r = *find(at);
		struct cxp_mem m = { .type = CXP_MEM, .page_bytes = PAGE, .addr = at };

		if (!r) {
			last.rc = EFAULT;
			continue;
		}
		m.offset = at - (uintptr_t)r->at;
		if (m.offset >= r->len)
			m.offset = at - (uintptr_t)r->alias;
		m.len = r->len - m.offset;
		if (m.len > end - at)
			m.len = (end - at + PAGE - 1) & ~(uint64_t)(PAGE - 1);
		uvc_send(pair, &m, sizeof(m), r->fd);
		at += m.len;
	}
	uvc_send(pair, &last, sizeof(last), -1);
}

static void give_fd(int pair, const struct cxp_need_fd *need)
{
	struct cxp_fd answer = { .type = CXP_FD };
	bool there = fcntl(need->fd, F_GETFD) >= 0;

	answer.rc = there ? 0 : EBADF;
	uvc_send(pair, &answer, sizeof(answer), there ? need->fd : -1);
}

/* ---- attributes ---- */

void uvc_begin(struct uvc *c, uint16_t object, uint16_t method)
{
	memset(c, 0, sizeof(*c));
	c->hdr.object_id = object;
	c->hdr.method_id = method;
	c->hdr.driver_id = RDMA_DRIVER_MLX5;
	c->fd = -1;
}

static struct uvc_attr *add(struct uvc *c, uint16_t id, size_t len)
{
	struct uvc_attr *a = &c->attr[c->n++];

	assert_true(c->n <= UVC_ATTRS);
	*a = (struct uvc_attr){ .a = { .attr_id = id,
				       .len = (uint16_t)len,
				       .flags = UVERBS_ATTR_F_MANDATORY } };
	return a;
}

struct uvc_attr *uvc_in(struct uvc *c, uint16_t id, const void *p, size_t len)
{
	struct uvc_attr *a = add(c, id, len);

	if (len <= sizeof(a->a.data))
		memcpy(&a->a.data, p, len);
	else
		a->in = p;
	return a;
}

struct uvc_attr *uvc_u32(struct uvc *c, uint16_t id, uint32_t v)
{
	return uvc_in(c, id, &v, sizeof(v));
}

struct uvc_attr *uvc_u64(struct uvc *c, uint16_t id, uint64_t v)
{
	return uvc_in(c, id, &v, sizeof(v));
}

struct uvc_attr *uvc_out(struct uvc *c, uint16_t id, void *p, size_t len)
{
	struct uvc_attr *a = add(c, id, len);

	a->out = p;
	a->in = p;
	return a;
}

struct uvc_attr *uvc_handle(struct uvc *c, uint16_t id, uint64_t handle)
{
	struct uvc_attr *a = add(c, id, 0);

	a->a.data = handle;
	return a;
}

uint64_t uvc_value(const struct uvc *c, uint16_t id)
{
	for (unsigned i = 0; i < c->n; i++)
		if (c->attr[i].a.attr_id == id)
			return c->attr[i].a.data;
	fail_msg("no attribute 0x%x in the call", id);
	return 0;
}

/* ---- the request ---- */

static uint8_t *put(uint8_t *at, const void *p, size_t len)
{
	memcpy(at, p, len);
	return at + len;
}

static size_t build(struct uvc *c, uint8_t *msg)
{
	struct cxp_ioctl req = { .type = CXP_IOCTL,
				 .n_attrs = c->n,
				 .pid = (uint32_t)getpid() };
	uint8_t *at = msg + sizeof(req);

	if (!c->hdr.num_attrs)
		c->hdr.num_attrs = (uint16_t)c->n;
	if (!c->hdr.length)
		c->hdr.length =
			(uint16_t)(sizeof(c->hdr) + c->n * sizeof(struct ib_uverbs_attr));
	memcpy(req.hdr, &c->hdr, sizeof(req.hdr));
	memcpy(msg, &req, sizeof(req));
	for (unsigned i = 0; i < c->n; i++)
		at = put(at, &c->attr[i].a, sizeof(c->attr[i].a));
	for (unsigned i = 0; i < c->n; i++)
		if (c->attr[i].a.len > sizeof(c->attr[i].a.data))
			at = put(at, c->attr[i].in, c->attr[i].a.len);
	return (size_t)(at - msg);
}

/* ---- the reply ---- */

static void take_attr(struct uvc *c, struct uvc_attr *a, const struct ib_uverbs_attr *got,
		      const struct cxp_out *out, const uint8_t **blob)
{
	a->a.flags = got->flags;
	if (out->handle)
		a->a.data = got->data;
	if (out->fd == 1)
		a->a.data = (uint64_t)c->fd;
	if (!out->blob)
		return;
	assert_non_null(a->out);
	memcpy(a->out, *blob, a->a.len);
	if (out->fd == 2)
		memcpy((uint8_t *)a->out + out->fd_off, &c->fd, sizeof(c->fd));
	*blob += a->a.len;
}

static int take_reply(struct uvc *c, const uint8_t *msg, size_t len)
{
	const struct cxp_reply *r = (const struct cxp_reply *)(const void *)msg;
	const struct ib_uverbs_attr *got = (const void *)(r + 1);
	const struct cxp_out *out = (const void *)(got + c->n);
	const uint8_t *blob = (const void *)(out + c->n);

	if (r->n_attrs == c->n)
		for (unsigned i = 0; i < c->n; i++)
			take_attr(c, &c->attr[i], &got[i], &out[i], &blob);
	else
		assert_int_equal(r->n_attrs, 0); /* not understood */
	if (r->n_attrs)
		assert_int_equal(blob - msg, len);
	assert_int_equal(r->n_fds, c->fd >= 0);
	c->replies++;
	return r->rc;
}

/* ---- the conversation ---- */

static int talk(int pair, struct uvc *c, uint8_t *msg)
{
	for (;;) {
		long n = uvc_recv(pair, msg, CXP_MAX, &c->fd);
		uint32_t type;

		if (n < (long)sizeof(type))
			return -1;
		memcpy(&type, msg, sizeof(type));
		if (type == CXP_REPLY)
			return take_reply(c, msg, (size_t)n);
		if (type == CXP_NEED_MEM) {
			const struct cxp_need_mem *need = (const void *)msg;

			if (!uvc_on_need_mem || !uvc_on_need_mem(pair, need))
				uvc_give_memory(pair, need);
		} else {
			assert_int_equal(type, CXP_NEED_FD);
			give_fd(pair, (const void *)msg);
		}
	}
}

int uvc_run(int ctx, struct uvc *c)
{
	uint8_t *msg = aligned_alloc(16, CXP_MAX);
	int pair = uvc_begin_call(ctx), rc = -1;
	int room = 2 * CXP_MAX;
	size_t len;

	assert_non_null(msg);
	c->fd = -1;
	if (pair >= 0) {
		setsockopt(pair, SOL_SOCKET, SO_SNDBUF, &room, sizeof(room));
		len = build(c, msg);
		if (uvc_on_message)
			uvc_on_message(msg, len);
		if (!uvc_send(pair, msg, len, -1))
			rc = talk(pair, c, msg);
		close(pair);
	}
	free(msg);
	return rc;
}

int uvc_write(int ctx, struct uvc *c, const struct uvc_write *w)
{
	uvc_begin(c, UVERBS_OBJECT_DEVICE, UVERBS_METHOD_INVOKE_WRITE);
	uvc_u64(c, UVERBS_ATTR_WRITE_CMD, w->cmd);
	if (w->in)
		uvc_in(c, UVERBS_ATTR_CORE_IN, w->in, w->in_len);
	if (w->out)
		uvc_out(c, UVERBS_ATTR_CORE_OUT, w->out, w->out_len);
	if (w->drv_in)
		uvc_in(c, UVERBS_ATTR_UHW_IN, w->drv_in, w->drv_in_len);
	if (w->drv_out)
		uvc_out(c, UVERBS_ATTR_UHW_OUT, w->drv_out, w->drv_out_len);
	return uvc_run(ctx, c);
}

int uvc_map(int ctx, uint64_t offset, uint64_t len, int *fd, uint64_t *at)
{
	struct cxp_mmap req = {
		.type = CXP_MMAP, .prot = PROT_WRITE, .offset = offset, .len = len
	};
	struct cxp_mapped got = { 0 };
	int pair = uvc_begin_call(ctx);

	assert_int_equal(uvc_send(pair, &req, sizeof(req), -1), 0);
	assert_int_equal(uvc_recv(pair, &got, sizeof(got), fd), sizeof(got));
	assert_int_equal(got.type, CXP_MAPPED);
	assert_int_equal(*fd >= 0, !got.rc);
	*at = got.offset;
	close(pair);
	return got.rc;
}
