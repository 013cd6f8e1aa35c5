/* uverbs/call.c - one call: the messages of uverbs/proto.h
 *
 *   IOCTL -> check lengths -> bind attributes -> method -> finish -> REPLY
 *   MMAP  -> MAPPED
 *
 * The method may ask back (NEED_MEM in mem.c, NEED_FD here). A client that dies or
 * talks nonsense in the middle is `lost`: what the call made is undone like after
 * any other failure, only nobody is told.
 */
#include "uverbs.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/uio.h>
#include <unistd.h>

/* ---- messages ---- */

static void take_fds(struct msghdr *h, int *fd)
{
	for (struct cmsghdr *c = CMSG_FIRSTHDR(h); c; c = CMSG_NXTHDR(h, c)) {
		size_t n = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);

		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		for (size_t i = 0; i < n; i++) {
			int got;

			memcpy(&got, CMSG_DATA(c) + i * sizeof(int), sizeof(got));
			if (*fd < 0)
				*fd = got;
			else
				close(got);
		}
	}
}

int uv_recvmsg(int sock, void *buf, size_t size, size_t *len, int *fd)
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
	ssize_t n = recvmsg(sock, &h, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);

	*fd = -1;
	*len = 0;
	if (n < 0)
		return errno == EAGAIN || errno == EINTR ? -EAGAIN : -EPIPE;
	take_fds(&h, fd);
	if (n && !(h.msg_flags & MSG_TRUNC)) {
		*len = (size_t)n;
		return 0;
	}
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
	return n ? -EMSGSIZE : -EPIPE;
}

/* Never waits: a pair holds a whole reply, and a client that reads nothing is lost. */
int uv_send(int sock, const void *buf, size_t len, const int *fds, unsigned n_fds)
{
	union {
		struct cmsghdr align;
		char room[CMSG_SPACE(CXP_FDS * sizeof(int))];
	} control = { 0 };
	struct iovec iov = { .iov_base = (void *)(uintptr_t)buf, .iov_len = len };
	struct msghdr h = { .msg_iov = &iov, .msg_iovlen = 1 };

	if (n_fds) {
		h.msg_control = &control;
		h.msg_controllen = CMSG_SPACE(n_fds * sizeof(int));
		control.align =
			(struct cmsghdr){ .cmsg_len = CMSG_LEN(n_fds * sizeof(int)),
					  .cmsg_level = SOL_SOCKET,
					  .cmsg_type = SCM_RIGHTS };
		memcpy(CMSG_DATA(&control.align), fds, n_fds * sizeof(int));
	}
	return sendmsg(sock, &h, MSG_DONTWAIT | MSG_NOSIGNAL) == (ssize_t)len ? 0
									      : -EPIPE;
}

/* A copy of the caller's end may live on in a child: the caller's death is seen by pidfd. */
static bool watch_caller(struct uv_call *call)
{
	if (call->pidfd < 0 && call->cred.pid > 0)
		call->pidfd = pidfd_open(call->cred.pid, 0);
	return call->pidfd >= 0 || !call->cred.pid || errno != ESRCH;
}

static int wait_client(struct uv_call *call)
{
	struct pollfd set[3] = { { .fd = call->sock, .events = POLLIN },
				 { .fd = call->ctx->wake, .events = POLLIN },
				 { .fd = -1, .events = POLLIN } };
	bool woken = false, heard = false, alive = watch_caller(call);

	set[2].fd = call->pidfd;
	while (alive && !heard && !uv_stopping(call->ctx->server)) {
		if (poll(set, 3, -1) < 0)
			continue;
		if (set[1].revents) {
			uv_unwake(call->ctx);
			woken = true;
		}
		heard = set[0].revents;
		alive = !set[2].revents;
	}
	if (woken)
		uv_wake(call->ctx); /* its chores come after the call */
	return heard ? 0 : -EPIPE;
}

int uv_recv(struct uv_call *call, void *buf, size_t size, size_t *len, int *fd)
{
	int rc;

	do {
		rc = uv_recvmsg(call->sock, buf, size, len, fd);
		if (rc == -EAGAIN)
			rc = wait_client(call) ? -EPIPE : -EAGAIN;
	} while (rc == -EAGAIN);
	if (rc)
		call->lost = true;
	return rc;
}

/* ---- refusals ---- */

int uv_refuse(struct uv_call *call, int err, const char *field, const char *fmt, ...)
{
	char text[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	model_log(call->port->port->model, "%s pid %d: %s: %s: %s: %s",
		  call->port->port->rdma_name, (int)call->cred.pid, call->name, field,
		  text, strerrorname_np(err));
	return -err;
}

/* ---- descriptors of the client ---- */

static int ask_fd(struct uv_call *call, int32_t number, int *fd)
{
	struct cxp_need_fd need = { .type = CXP_NEED_FD, .fd = number };
	struct cxp_fd got = { 0 };
	size_t len;

	*fd = -1;
	if (uv_send(call->sock, &need, sizeof(need), NULL, 0) ||
	    uv_recv(call, &got, sizeof(got), &len, fd) || len != sizeof(got) ||
	    got.type != CXP_FD || (got.rc == 0) != (*fd >= 0)) {
		call->lost = true;
		return -EPIPE;
	}
	return got.rc ? -EBADF : 0;
}

int uv_ask_fd(struct uv_call *call, int64_t number, int *fd)
{
	struct model *m = call->port->port->model;
	int rc;

	model_unlock(m);
	rc = ask_fd(call, (int32_t)number, fd);
	if (rc && *fd >= 0) {
		close(*fd);
		*fd = -1;
	}
	model_lock(m);
	return rc;
}

/* ---- the request ---- */

static int bad_message(struct uv_call *call, const char *what)
{
	call->lost = true;
	return uv_refuse(call, EPROTO, "message", "%s", what);
}

/* Points each attribute to its content in the message. */
static int parse_attrs(struct uv_call *call, uint8_t *p, size_t len)
{
	uint8_t *content = p + call->n_attrs * sizeof(struct ib_uverbs_attr);
	size_t left;

	if (len < call->n_attrs * sizeof(struct ib_uverbs_attr))
		return bad_message(call, "shorter than its attributes");
	left = len - call->n_attrs * sizeof(struct ib_uverbs_attr);
	for (unsigned i = 0; i < call->n_attrs; i++) {
		struct uv_attr *a = &call->attr[i];

		memcpy(&a->u, p + i * sizeof(a->u), sizeof(a->u));
		if (a->u.len <= sizeof(a->u.data))
			continue;
		if (a->u.len > left)
			return bad_message(call, "shorter than its content");
		a->bytes = content;
		content += a->u.len;
		left -= a->u.len;
	}
	return left ? bad_message(call, "longer than its content") : 0;
}

static int parse_ioctl(struct uv_call *call, uint8_t *msg, size_t len)
{
	struct cxp_ioctl req;

	if (len < sizeof(req))
		return bad_message(call, "shorter than its header");
	memcpy(&req, msg, sizeof(req));
	if (req.n_attrs > CXP_ATTRS)
		return uv_refuse(call, E2BIG, "n_attrs", "%u of %d", req.n_attrs,
				 CXP_ATTRS);
	memcpy(call->hdr, req.hdr, sizeof(call->hdr));
	call->n_attrs = req.n_attrs;
	return parse_attrs(call, msg + sizeof(req), len - sizeof(req));
}

/* ib_uverbs_ioctl() and ib_uverbs_cmd_verbs() */
static int check_header(struct uv_call *call)
{
	struct ib_uverbs_ioctl_hdr h;

	memcpy(&h, call->hdr, sizeof(call->hdr));
	if (h.num_attrs != call->n_attrs || h.length > UV_PAGE ||
	    h.length != sizeof(call->hdr) + h.num_attrs * sizeof(struct ib_uverbs_attr))
		return uv_refuse(call, EINVAL, "header", "length %u with %u attributes",
				 h.length, h.num_attrs);
	if (h.reserved1 || h.reserved2)
		return uv_refuse(call, EPROTONOSUPPORT, "header", "reserved is set");
	if (h.driver_id != RDMA_DRIVER_MLX5)
		return uv_refuse(call, EINVAL, "header", "driver_id %u", h.driver_id);
	call->method = uv_method_find(h.object_id, h.method_id);
	if (!call->method)
		return uv_refuse(call, EPROTONOSUPPORT, "header",
				 "object 0x%x method 0x%x", h.object_id, h.method_id);
	call->name = call->method->name;
	return 0;
}

/* ---- the method ---- */

/* The object goes first; the handler then tells what was counted for it. */
static int destroy_first(struct uv_call *call)
{
	struct uv_obj *obj = NULL;
	int rc;

	for (unsigned i = 0; i < call->n_attrs; i++)
		if (call->attr[i].spec && call->attr[i].spec->kind == UV_IDR &&
		    call->attr[i].spec->access == UV_DESTROY)
			obj = call->attr[i].obj;
	if (!obj)
		return 0;
	rc = uv_obj_destroy(obj);
	if (rc)
		return uv_refuse(call, -rc, "handle", "%s %u is %s",
				 uv_obj_type_name(obj->type), obj->handle,
				 obj->uses ? "in use" : "not let go by the device");
	call->gone = obj;
	return 0;
}

static void finish(struct uv_call *call, int rc)
{
	if (call->fresh && rc)
		uv_obj_abort(call->fresh);
	else if (call->fresh)
		uv_obj_commit(call->fresh);
	if (call->fresh_file && rc)
		uv_evfile_close(call->fresh_file);
	if (call->gone)
		uv_obj_free(call->gone);
}

static int run(struct uv_call *call)
{
	int rc = check_header(call);

	if (!rc)
		rc = uv_attrs_bind(call);
	if (!rc)
		rc = destroy_first(call);
	if (!rc && call->method->run)
		rc = call->method->run(call);
	if (!rc && call->method->udata)
		uv_uhw_out(call, "", 0); /* the kernel marks it as written in any case */
	finish(call, rc);
	return rc;
}

/* ---- the reply ---- */

static uint8_t *put(uint8_t *at, const void *p, size_t len)
{
	memcpy(at, p, len);
	return at + len;
}

static size_t build_reply(struct uv_call *call, int rc, uint8_t *msg)
{
	struct cxp_reply head = { .type = CXP_REPLY,
				  .rc = -rc,
				  .n_attrs = call->n_attrs,
				  .n_fds = call->n_fds };
	uint8_t *at = put(msg, &head, sizeof(head));

	for (unsigned i = 0; i < call->n_attrs; i++)
		at = put(at, &call->attr[i].u, sizeof(call->attr[i].u));
	for (unsigned i = 0; i < call->n_attrs; i++)
		at = put(at, &call->attr[i].out, sizeof(call->attr[i].out));
	for (unsigned i = 0; i < call->n_attrs; i++)
		if (call->attr[i].out.blob)
			at = put(at, call->attr[i].bytes, call->attr[i].u.len);
	return (size_t)(at - msg);
}

static size_t reply_bytes(const struct uv_call *call)
{
	size_t n = sizeof(struct cxp_reply);

	for (unsigned i = 0; i < call->n_attrs; i++)
		n += sizeof(struct ib_uverbs_attr) + sizeof(struct cxp_out) +
		     (call->attr[i].out.blob ? call->attr[i].u.len : 0);
	return n;
}

/* Descriptors are installed only by a call that succeeded; answers are copied in any case. */
static void drop_fds(struct uv_call *call)
{
	for (unsigned i = 0; i < call->n_fds; i++)
		close(call->fd[i]);
	call->n_fds = 0;
}

static void send_reply(struct uv_call *call, int rc)
{
	if (rc) {
		drop_fds(call);
		for (unsigned i = 0; i < call->n_attrs; i++)
			call->attr[i].out.fd = 0;
	}
	if (!call->lost) {
		size_t len = build_reply(call, rc, call->ctx->out);

		uv_send(call->sock, call->ctx->out, len, call->fd, call->n_fds);
	}
	drop_fds(call);
}

static void serve_ioctl(struct uv_call *call, uint8_t *msg, size_t len)
{
	struct model *m = call->port->port->model;
	int rc = parse_ioctl(call, msg, len);

	model_lock(m);
	if (!rc && reply_bytes(call) + len > CXP_MAX)
		rc = uv_refuse(call, E2BIG, "message", "%zu bytes", len);
	if (!rc)
		rc = run(call);
	model_unlock(m);
	uv_unmap_now(call->ctx);
	send_reply(call, rc);
	for (unsigned i = 0; i < call->n_attrs; i++)
		free(call->attr[i].objs);
}

/* ---- mmap ---- */

static void serve_mmap(struct uv_call *call, const uint8_t *msg, size_t len)
{
	struct cxp_mapped reply = { .type = CXP_MAPPED };
	struct model *m = call->port->port->model;
	struct cxp_mmap req;
	int fd = -1, rc;

	call->name = "mmap";
	if (len != sizeof(req)) {
		bad_message(call, "MMAP of another length");
		return;
	}
	memcpy(&req, msg, sizeof(req));
	model_lock(m);
	rc = uv_uar_mmap(call, &req, &reply.offset, &fd);
	model_unlock(m);
	reply.rc = -rc;
	uv_send(call->sock, &reply, sizeof(reply), &fd, rc ? 0 : 1);
}

/* ---- one call ---- */

static void serve(struct uv_call *call)
{
	uint8_t *msg = call->ctx->in;
	uint32_t type = 0;
	size_t len;
	int fd;

	if (uv_recv(call, msg, CXP_MAX, &len, &fd))
		return;
	if (fd >= 0)
		close(fd);
	if (len >= sizeof(type))
		memcpy(&type, msg, sizeof(type));
	if (type == CXP_IOCTL)
		serve_ioctl(call, msg, len);
	else if (type == CXP_MMAP)
		serve_mmap(call, msg, len);
	else
		bad_message(call, "neither IOCTL nor MMAP");
}

void uv_serve_call(struct uv_ctx *ctx, int pair)
{
	struct uv_call *call = calloc(1, sizeof(*call));
	socklen_t len = sizeof(call->cred);
	int room = 2 * CXP_MAX;

	if (!call)
		return;
	call->ctx = ctx;
	call->port = ctx->port;
	call->sock = pair;
	call->pidfd = -1;
	call->name = "ioctl";
	getsockopt(pair, SOL_SOCKET, SO_PEERCRED, &call->cred, &len);
	setsockopt(pair, SOL_SOCKET, SO_SNDBUF, &room, sizeof(room));
	serve(call);
	if (call->pidfd >= 0)
		close(call->pidfd);
	free(call);
}
