/* uverbs/shim_talk.c - messages to the device process; see proto.h */
#include "shim.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/un.h>

#define CONTROL(n) CMSG_SPACE((n) * sizeof(int))

/* The program may have made its descriptor non-blocking; a conversation still waits. */
static void wait_for(int sock, short events)
{
	struct pollfd p = { .fd = sock, .events = events };

	SYS(SYS_ppoll, &p, 1, NULL, NULL, 0);
}

long shim_sendv(int sock, const struct iovec *iov, unsigned n_iov, const int *fd)
{
	union {
		char bytes[CONTROL(1)];
		struct cmsghdr h;
	} control;
	struct msghdr m = { .msg_iov = (struct iovec *)iov, .msg_iovlen = n_iov };
	long ret;

	if (fd) {
		memset(&control, 0, sizeof(control));
		control.h.cmsg_level = SOL_SOCKET;
		control.h.cmsg_type = SCM_RIGHTS;
		control.h.cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(&control.h), fd, sizeof(int));
		m.msg_control = &control;
		m.msg_controllen = sizeof(control);
	}
	for (;;) {
		ret = SYS(SYS_sendmsg, sock, &m, MSG_NOSIGNAL);
		if (ret == -EAGAIN)
			wait_for(sock, POLLOUT);
		else if (ret != -EINTR)
			return ret < 0 ? ret : 0;
	}
}

long shim_send(int sock, const void *msg, size_t len, const int *fd)
{
	struct iovec iov = { .iov_base = (void *)msg, .iov_len = len };

	return shim_sendv(sock, &iov, 1, fd);
}

static void take_fds(struct msghdr *m, struct shim_fds *fds)
{
	for (struct cmsghdr *h = CMSG_FIRSTHDR(m); h; h = CMSG_NXTHDR(m, h)) {
		if (h->cmsg_level != SOL_SOCKET || h->cmsg_type != SCM_RIGHTS)
			continue;
		fds->n = (unsigned)((h->cmsg_len - CMSG_LEN(0)) / sizeof(int));
		memcpy(fds->fd, CMSG_DATA(h), fds->n * sizeof(int));
	}
}

/* Return: length; 0 when the other side is gone; -EMFILE when a descriptor got lost. */
long shim_recv(int sock, void *msg, size_t size, struct shim_fds *fds)
{
	union {
		char bytes[CONTROL(CXP_FDS)];
		struct cmsghdr h;
	} control = { 0 };
	struct iovec iov = { .iov_base = msg, .iov_len = size };
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1 };
	long ret;

	fds->n = 0;
	for (;;) {
		m.msg_control = &control;
		m.msg_controllen = sizeof(control);
		ret = SYS(SYS_recvmsg, sock, &m, MSG_CMSG_CLOEXEC);
		if (ret == -EAGAIN)
			wait_for(sock, POLLIN);
		else if (ret != -EINTR)
			break;
	}
	if (ret <= 0)
		return ret;
	take_fds(&m, fds);
	if (m.msg_flags & (MSG_CTRUNC | MSG_TRUNC)) {
		shim_fds_close(fds, 0);
		return m.msg_flags & MSG_CTRUNC ? -EMFILE : -EMSGSIZE;
	}
	return ret;
}

void shim_fds_close(struct shim_fds *fds, unsigned from)
{
	for (unsigned i = from; i < fds->n; i++)
		SYS(SYS_close, fds->fd[i]);
	fds->n = from < fds->n ? from : fds->n;
}

int shim_connect(unsigned flags)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	long sock, ret;

	if ((size_t)snprintf(addr.sun_path, sizeof(addr.sun_path), "%s/uverbs.sock",
			     shim_dir) >= sizeof(addr.sun_path)) {
		shim_log(
			"CXMODEL=%s is too long for a socket's path; choose a shorter folder",
			shim_dir);
		return -ENAMETOOLONG;
	}
	sock = SYS(SYS_socket, AF_UNIX, SOCK_SEQPACKET | flags, 0);
	if (sock < 0)
		return (int)sock;
	do {
		ret = SYS(SYS_connect, sock, &addr, sizeof(addr));
	} while (ret == -EINTR);
	if (ret) {
		shim_log("no device at %s: %s; is cxmodel running?", addr.sun_path,
			 shim_strerror(ret));
		SYS(SYS_close, sock);
		return (int)ret;
	}
	return (int)sock;
}

int shim_call(int ctx)
{
	const struct cxp_call call = { .type = CXP_CALL };
	int pair[2] = { -1, -1 };
	long ret;

	ret = SYS(SYS_socketpair, AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair);
	if (ret)
		return (int)ret;
	ret = shim_send(ctx, &call, sizeof(call), &pair[1]);
	SYS(SYS_close, pair[1]);
	if (ret) {
		SYS(SYS_close, pair[0]);
		return (int)ret;
	}
	return pair[0];
}

unsigned shim_list(struct cxp_port *port, unsigned max)
{
	const struct cxp_list list = { .type = CXP_LIST };
	struct shim_fds fds;
	unsigned n = 0;
	int sock = shim_connect(SOCK_CLOEXEC);

	if (sock < 0)
		return 0;
	if (!shim_send(sock, &list, sizeof(list), NULL)) {
		while (n < max &&
		       shim_recv(sock, &port[n], sizeof(port[n]), &fds) ==
			       sizeof(port[n]) &&
		       port[n].type == CXP_PORT && !port[n].last)
			n++;
	}
	SYS(SYS_close, sock);
	return n;
}
