/* mirror/nl.c - the door to libmnl */

#include "nl.h"

#include <fcntl.h>
#include <linux/rtnetlink.h>
#include <string.h>
#include <sys/socket.h>

enum { BUFFER = 32768, RCVBUF = 8 << 20 };

static int open_one(struct mnl_socket **ret, int flags, struct err *err)
{
	*ret = mnl_socket_open2(NETLINK_ROUTE, SOCK_CLOEXEC | flags);
	if (!*ret || mnl_socket_bind(*ret, 0, MNL_SOCKET_AUTOPID) < 0)
		return err_set(err, -errno, "rtnetlink socket: %s", strerror(errno));
	return 0;
}

int nl_open(struct nl *nl, const unsigned *groups, struct err *err)
{
	int size = RCVBUF, r;

	memset(nl, 0, sizeof(*nl));
	r = open_one(&nl->events, SOCK_NONBLOCK, err);
	if (!r)
		r = open_one(&nl->ask, 0, err);
	for (; !r && *groups; groups++) {
		int group = (int)*groups;

		if (mnl_socket_setsockopt(nl->events, NETLINK_ADD_MEMBERSHIP, &group, sizeof(group)) < 0)
			r = err_set(err, -errno, "rtnetlink group %d: %s", group, strerror(errno));
	}
	if (r < 0) {
		nl_close(nl);
		return r;
	}
	/* Beyond the sysctl with CAP_NET_ADMIN, up to it without; an overrun is handled either way. */
	if (setsockopt(mnl_socket_get_fd(nl->events), SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size)) < 0)
		setsockopt(mnl_socket_get_fd(nl->events), SOL_SOCKET, SO_RCVBUF, &size, sizeof(size));
	return 0;
}

void nl_close(struct nl *nl)
{
	if (nl->events)
		mnl_socket_close(nl->events);
	if (nl->ask)
		mnl_socket_close(nl->ask);
	memset(nl, 0, sizeof(*nl));
}

int nl_fd(const struct nl *nl) { return mnl_socket_get_fd(nl->events); }

struct call {
	nl_fn fn;
	void *arg;
	bool interrupted;
};

static int on_message(const struct nlmsghdr *msg, void *data)
{
	struct call *call = data;

	call->interrupted |= msg->nlmsg_flags & NLM_F_DUMP_INTR;
	call->fn(call->arg, msg);
	return MNL_CB_OK;
}

int nl_dump(struct nl *nl, uint16_t type, uint8_t family, nl_fn fn, void *arg)
{
	char buffer[BUFFER];
	struct nlmsghdr *req = mnl_nlmsg_put_header(buffer);
	struct rtgenmsg *gen = mnl_nlmsg_put_extra_header(req, sizeof(struct ifinfomsg));
	struct call call = { fn, arg, false };
	ssize_t n;
	int r = MNL_CB_OK;

	req->nlmsg_type = type;
	req->nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
	req->nlmsg_seq = ++nl->seq;
	gen->rtgen_family = family;
	if (mnl_socket_sendto(nl->ask, req, req->nlmsg_len) < 0)
		return -errno;
	while (r > MNL_CB_STOP) {
		n = mnl_socket_recvfrom(nl->ask, buffer, sizeof(buffer));
		if (n < 0)
			return -errno;
		r = mnl_cb_run(buffer, (size_t)n, nl->seq, mnl_socket_get_portid(nl->ask), on_message, &call);
	}
	if (r < 0)
		return -errno;
	return call.interrupted ? -EINTR : 0;
}

int nl_events(struct nl *nl, nl_fn fn, void *arg)
{
	char buffer[BUFFER];
	struct call call = { fn, arg, false };

	for (;;) {
		ssize_t n = mnl_socket_recvfrom(nl->events, buffer, sizeof(buffer));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return errno == EAGAIN ? 0 : -errno;
		mnl_cb_run(buffer, (size_t)n, 0, 0, on_message, &call);
	}
}
