/* mirror/nl.c - the door to libmnl: notifications and dumps */

#include "nl.h"

#include <linux/rtnetlink.h>
#include <string.h>
#include <sys/socket.h>

enum { BUFFER = 32768, RCVBUF = 8 << 20 };

/* NULL: errno says why. */
static struct mnl_socket *open_socket(int flags)
{
	struct mnl_socket *nl = mnl_socket_open2(NETLINK_ROUTE, SOCK_CLOEXEC | flags);
	int saved;

	if (!nl || mnl_socket_bind(nl, 0, MNL_SOCKET_AUTOPID) == 0)
		return nl;
	saved = errno;
	mnl_socket_close(nl);
	errno = saved;
	return NULL;
}

static int join(struct mnl_socket *nl, const unsigned *groups)
{
	for (; *groups; groups++) {
		int group = (int)*groups;

		if (mnl_socket_setsockopt(nl, NETLINK_ADD_MEMBERSHIP, &group,
					  sizeof(group)) < 0)
			return err_errno();
	}
	return 0;
}

/* Beyond the sysctl with CAP_NET_ADMIN, up to it without; an overrun is handled either way. */
static void enlarge(struct mnl_socket *nl)
{
	int size = RCVBUF, fd = mnl_socket_get_fd(nl);

	if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size)) < 0)
		setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof(size));
}

int nl_open(const unsigned *groups, struct err *err, struct mnl_socket **ret)
{
	struct mnl_socket *nl = open_socket(SOCK_NONBLOCK);
	int r;

	if (!nl)
		return err_set(err, err_errno(), "rtnetlink socket: %s", strerror(errno));
	enlarge(nl);
	r = join(nl, groups);
	if (r < 0) {
		nl_close(nl);
		return err_set(err, r, "rtnetlink groups: %s", strerror(-r));
	}
	*ret = nl;
	return 0;
}

void nl_close(struct mnl_socket *nl)
{
	if (nl)
		mnl_socket_close(nl);
}

int nl_fd(const struct mnl_socket *nl)
{
	return mnl_socket_get_fd(nl);
}

/* ---- messages ---- */

/* mnl_cb_run(3) of libmnl before 1.0.5 takes a length over 2 GiB for a good one. */
void nl_feed(const void *bytes, size_t n, nl_fn fn, void *arg)
{
	const struct nlmsghdr *msg = bytes;

	while (n >= sizeof(*msg) && msg->nlmsg_len >= sizeof(*msg) &&
	       msg->nlmsg_len <= n) {
		size_t step = MNL_ALIGN((size_t)msg->nlmsg_len);

		if (msg->nlmsg_type >= NLMSG_MIN_TYPE)
			fn(arg, msg);
		n -= step < n ? step : n;
		msg = (const void *)((const uint8_t *)msg + step);
	}
}

int nl_events(struct mnl_socket *nl, nl_fn fn, void *arg)
{
	char buffer[BUFFER];

	for (;;) {
		ssize_t n = mnl_socket_recvfrom(nl, buffer, sizeof(buffer));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return errno == EAGAIN ? 0 : err_errno();
		nl_feed(buffer, (size_t)n, fn, arg);
	}
}

struct call {
	nl_fn fn;
	void *arg;
};

static int on_message(const struct nlmsghdr *msg, void *data)
{
	const struct call *call = data;

	call->fn(call->arg, msg);
	return MNL_CB_OK;
}

static int send_request(struct mnl_socket *nl, uint16_t type)
{
	char buffer[MNL_NLMSG_HDRLEN + MNL_ALIGN(sizeof(struct ifinfomsg))];
	struct nlmsghdr *req = mnl_nlmsg_put_header(buffer);

	/* The longest header that a dump request may have; only its family is read, 0 = all. */
	mnl_nlmsg_put_extra_header(req, sizeof(struct ifinfomsg));
	req->nlmsg_type = type;
	req->nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
	return mnl_socket_sendto(nl, req, req->nlmsg_len) < 0 ? err_errno() : 0;
}

static int read_dump(struct mnl_socket *nl, nl_fn fn, void *arg)
{
	struct call call = { fn, arg };
	char buffer[BUFFER];
	ssize_t n;
	int r;

	do {
		n = mnl_socket_recvfrom(nl, buffer, sizeof(buffer));
		if (n < 0)
			return err_errno();
		r = mnl_cb_run(buffer, (size_t)n, 0, mnl_socket_get_portid(nl),
			       on_message, &call);
	} while (r > MNL_CB_STOP);
	return r < 0 ? err_errno() : 0;
}

/* A socket of its own: what an interrupted dump leaves unread goes with it. */
int nl_dump(uint16_t type, nl_fn fn, void *arg)
{
	struct mnl_socket *nl = open_socket(0);
	int r;

	if (!nl)
		return err_errno();
	r = send_request(nl, type);
	if (!r)
		r = read_dump(nl, fn, arg);
	mnl_socket_close(nl);
	return r;
}
