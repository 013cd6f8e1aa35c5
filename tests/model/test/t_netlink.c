/* test/t_netlink.c - NETLINK_RDMA byte by byte, as a program sees it that uses no library
 *
 *   t_netlink [NETDEV]    NETDEV: netdev of mlx5_0 in this network namespace
 *
 * Expects at least two devices. What the answers must be: the kernel's
 * drivers/infiniband/core/nldev.c and netlink.c; netlink(7).
 */
#define _GNU_SOURCE 1
#include <fcntl.h>
#include <linux/netlink.h>
#include <net/if.h>
#include <poll.h>
#include <rdma/rdma_netlink.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "client/check.h"

#define TYPE(op) RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, RDMA_NLDEV_CMD_##op)

static int sock;
static uint32_t sequence = 100;

/* ---- requests ---- */

struct request {
	union {
		struct nlmsghdr h;
		uint8_t bytes[512];
	} m;
};

static void begin(struct request *q, uint16_t type, uint16_t flags)
{
	memset(q, 0, sizeof(*q));
	q->m.h = (struct nlmsghdr){ .nlmsg_len = NLMSG_HDRLEN,
				    .nlmsg_type = type,
				    .nlmsg_flags = NLM_F_REQUEST | flags,
				    .nlmsg_seq = ++sequence };
}

static void add(struct request *q, uint16_t type, const void *value, size_t len)
{
	struct nlattr a = { .nla_len = (uint16_t)(NLA_HDRLEN + len), .nla_type = type };

	memcpy(q->m.bytes + q->m.h.nlmsg_len, &a, sizeof(a));
	memcpy(q->m.bytes + q->m.h.nlmsg_len + NLA_HDRLEN, value, len);
	q->m.h.nlmsg_len += NLA_HDRLEN + NLA_ALIGN((uint32_t)len);
}

static void add_u32(struct request *q, uint16_t type, uint32_t v)
{
	add(q, type, &v, sizeof(v));
}

static bool ask(const struct request *q)
{
	struct sockaddr_nl kernel = { .nl_family = AF_NETLINK };

	return sendto(sock, q, q->m.h.nlmsg_len, 0, (void *)&kernel, sizeof(kernel)) ==
	       (ssize_t)q->m.h.nlmsg_len;
}

/* ---- answers ---- */

struct answer {
	union {
		struct nlmsghdr h;
		uint8_t bytes[4096];
	} m;
	ssize_t len;
};

static bool receive(struct answer *a)
{
	struct sockaddr_nl from = { 0 };
	struct iovec iov = { a->m.bytes, sizeof(a->m.bytes) };
	struct msghdr m = { .msg_name = &from,
			    .msg_namelen = sizeof(from),
			    .msg_iov = &iov,
			    .msg_iovlen = 1 };

	a->len = recvmsg(sock, &m, MSG_DONTWAIT);
	return a->len >= NLMSG_HDRLEN && a->m.h.nlmsg_len == (uint32_t)a->len &&
	       a->m.h.nlmsg_seq == sequence && m.msg_namelen == sizeof(from) &&
	       from.nl_family == AF_NETLINK && from.nl_pid == 0;
}

static bool nothing_more(void)
{
	char c;

	return recv(sock, &c, 1, MSG_DONTWAIT) < 0 && errno == EAGAIN;
}

static const void *find(const struct answer *a, unsigned type, size_t *len)
{
	const uint8_t *at = a->m.bytes + NLMSG_HDRLEN, *end = a->m.bytes + a->len;

	while (end - at >= NLA_HDRLEN) {
		const struct nlattr *attr = (const void *)at;

		if (attr->nla_type == type) {
			*len = attr->nla_len - (size_t)NLA_HDRLEN;
			return at + NLA_HDRLEN;
		}
		at += NLA_ALIGN(attr->nla_len);
	}
	*len = 0;
	return NULL;
}

static uint64_t number(const struct answer *a, unsigned type)
{
	uint64_t v = 0;
	size_t len;
	const void *p = find(a, type, &len);

	if (!p || len > sizeof(v))
		return UINT64_MAX;
	memcpy(&v, p, len);
	return v;
}

static bool text_is(const struct answer *a, unsigned type, const char *text)
{
	size_t len;
	const char *p = find(a, type, &len);

	return p && len == strlen(text) + 1 && !memcmp(p, text, len);
}

/* The errno of an error message, -1 when it is none. */
static int error_of(const struct answer *a)
{
	int error;

	if (a->m.h.nlmsg_type != NLMSG_ERROR ||
	    a->len < NLMSG_HDRLEN + (ssize_t)sizeof(struct nlmsgerr))
		return -1;
	memcpy(&error, a->m.bytes + NLMSG_HDRLEN, sizeof(error));
	return -error;
}

/* ---- checks ---- */

static void is_socket(void)
{
	struct sockaddr_nl local = { .nl_family = AF_NETLINK };
	socklen_t len = sizeof(local);
	int one = 1, size = 32768;
	struct stat st;

	sock = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_RDMA);
	check(sock >= 0 && !fstat(sock, &st) && S_ISSOCK(st.st_mode), "a socket");
	check(!bind(sock, (void *)&local, sizeof(local)), "bind");
	check(!getsockname(sock, (void *)&local, &len) && len == sizeof(local) &&
		      local.nl_family == AF_NETLINK && local.nl_pid == (uint32_t)getpid(),
	      "its address");
	check(!setsockopt(sock, SOL_NETLINK, NETLINK_EXT_ACK, &one, sizeof(one)) &&
		      !setsockopt(sock, SOL_SOCKET, SO_RCVBUF, &size, sizeof(size)) &&
		      !setsockopt(sock, SOL_SOCKET, SO_SNDBUF, &size, sizeof(size)),
	      "options");
	check(nothing_more(), "nothing to receive");
}

static void devices(void)
{
	struct request q;
	struct answer a = { 0 };
	unsigned n = 0;
	bool ok = true;

	begin(&q, TYPE(GET), NLM_F_DUMP);
	check(ask(&q), "dump of devices");
	while (ok && (ok = receive(&a)) && a.m.h.nlmsg_type == TYPE(GET)) {
		char name[16];

		snprintf(name, sizeof(name), "mlx5_%u", n);
		ok = a.m.h.nlmsg_flags & NLM_F_MULTI &&
		     a.m.h.nlmsg_pid == (uint32_t)getpid() &&
		     number(&a, RDMA_NLDEV_ATTR_DEV_INDEX) == n &&
		     text_is(&a, RDMA_NLDEV_ATTR_DEV_NAME, name) &&
		     number(&a, RDMA_NLDEV_ATTR_PORT_INDEX) == 1 &&
		     number(&a, RDMA_NLDEV_ATTR_DEV_NODE_TYPE) == 1 &&
		     number(&a, RDMA_NLDEV_ATTR_NODE_GUID) != UINT64_MAX &&
		     text_is(&a, RDMA_NLDEV_ATTR_DEV_PROTOCOL, "roce");
		n++;
	}
	check(ok && n >= 2 && a.m.h.nlmsg_type == NLMSG_DONE, "%u devices, then the end",
	      n);
	check(nothing_more(), "and no more");
	begin(&q, TYPE(GET), 0);
	add_u32(&q, RDMA_NLDEV_ATTR_DEV_INDEX, 1);
	check(ask(&q) && receive(&a) && a.m.h.nlmsg_flags == 0 &&
		      text_is(&a, RDMA_NLDEV_ATTR_DEV_NAME, "mlx5_1") && nothing_more(),
	      "one device, one message");
}

static void ports(const char *netdev)
{
	struct request q;
	struct answer a = { 0 };

	begin(&q, TYPE(PORT_GET), NLM_F_ACK);
	add_u32(&q, RDMA_NLDEV_ATTR_DEV_INDEX, 0);
	add_u32(&q, RDMA_NLDEV_ATTR_PORT_INDEX, 1);
	check(ask(&q) && receive(&a) && number(&a, RDMA_NLDEV_ATTR_PORT_STATE) == 4 &&
		      number(&a, RDMA_NLDEV_ATTR_PORT_PHYS_STATE) == 5,
	      "a port");
	if (netdev)
		check(text_is(&a, RDMA_NLDEV_ATTR_NDEV_NAME, netdev) &&
			      number(&a, RDMA_NLDEV_ATTR_NDEV_INDEX) ==
				      if_nametoindex(netdev),
		      "with its netdev %s", netdev);
	check(receive(&a) && error_of(&a) == 0 && nothing_more(),
	      "acknowledged, as asked");
	begin(&q, TYPE(PORT_GET), NLM_F_DUMP | NLM_F_ACK);
	add_u32(&q, RDMA_NLDEV_ATTR_DEV_INDEX, 1);
	check(ask(&q) && receive(&a) && a.m.h.nlmsg_flags & NLM_F_MULTI &&
		      text_is(&a, RDMA_NLDEV_ATTR_DEV_NAME, "mlx5_1") && receive(&a) &&
		      a.m.h.nlmsg_type == NLMSG_DONE && nothing_more(),
	      "dump of ports; the end is the acknowledgement");
}

static void chardev(void)
{
	struct request q;
	struct answer a = { 0 };

	begin(&q, TYPE(GET_CHARDEV), 0);
	add_u32(&q, RDMA_NLDEV_ATTR_DEV_INDEX, 1);
	add(&q, RDMA_NLDEV_ATTR_CHARDEV_TYPE, "uverbs", sizeof("uverbs"));
	check(ask(&q) && receive(&a) &&
		      text_is(&a, RDMA_NLDEV_ATTR_CHARDEV_NAME, "uverbs1") &&
		      number(&a, RDMA_NLDEV_ATTR_CHARDEV) == (231 << 8 | 193) &&
		      number(&a, RDMA_NLDEV_ATTR_CHARDEV_ABI) == 1 &&
		      number(&a, RDMA_NLDEV_ATTR_UVERBS_DRIVER_ID) == 1,
	      "the character device");
	begin(&q, TYPE(SYS_GET), 0);
	check(ask(&q) && receive(&a) && number(&a, RDMA_NLDEV_SYS_ATTR_NETNS_MODE) == 1 &&
		      number(&a, RDMA_NLDEV_SYS_ATTR_COPY_ON_FORK) == 1,
	      "the system");
}

static int refused(const struct request *q)
{
	struct answer a = { 0 };

	if (!ask(q) || !receive(&a))
		return -1;
	/* The request comes back behind the error. */
	if (a.len < NLMSG_HDRLEN + 4 + (ssize_t)q->m.h.nlmsg_len ||
	    memcmp(a.m.bytes + NLMSG_HDRLEN + 4, q->m.bytes, q->m.h.nlmsg_len) != 0)
		return -2;
	return nothing_more() ? error_of(&a) : -3;
}

static void errors(void)
{
	struct request q;
	struct answer a = { 0 };
	int done;

	begin(&q, TYPE(GET), 0);
	check(refused(&q) == EINVAL, "a device without its index");
	add_u32(&q, RDMA_NLDEV_ATTR_DEV_INDEX, 77);
	check(refused(&q) == EINVAL, "a device that does not exist");
	begin(&q, TYPE(PORT_GET), 0);
	add_u32(&q, RDMA_NLDEV_ATTR_DEV_INDEX, 0);
	add_u32(&q, RDMA_NLDEV_ATTR_PORT_INDEX, 2);
	check(refused(&q) == EINVAL, "a port that does not exist");
	begin(&q, TYPE(GET_CHARDEV), 0);
	add_u32(&q, RDMA_NLDEV_ATTR_DEV_INDEX, 0);
	add(&q, RDMA_NLDEV_ATTR_CHARDEV_TYPE, "umad", sizeof("umad"));
	check(refused(&q) == EOPNOTSUPP, "a character device of another kind");
	begin(&q, TYPE(GET_CHARDEV), NLM_F_DUMP);
	check(refused(&q) == EINVAL, "a dump of what cannot be dumped");
	begin(&q, TYPE(STAT_GET), 0);
	check(refused(&q) == EINVAL, "a command that is not modelled");
	begin(&q, RDMA_NL_GET_TYPE(RDMA_NL_LS, 0), 0);
	check(refused(&q) == EINVAL, "another client of the family");
	begin(&q, TYPE(PORT_GET), NLM_F_DUMP);
	check(ask(&q) && receive(&a) && a.m.h.nlmsg_type == NLMSG_DONE &&
		      a.len == NLMSG_HDRLEN + (ssize_t)sizeof(done) &&
		      (memcpy(&done, a.m.bytes + NLMSG_HDRLEN, sizeof(done)),
		       done == -EINVAL),
	      "the error of a dump is in its end");
}

static void sending(void)
{
	struct request q[2];
	struct answer a = { 0 };
	struct sockaddr_nl kernel = { .nl_family = AF_NETLINK };
	struct iovec iov[3] = { { &q[0], 16 }, { q[0].m.bytes + 16, 0 }, { &q[1], 0 } };
	struct msghdr m = { .msg_name = &kernel,
			    .msg_namelen = sizeof(kernel),
			    .msg_iov = iov,
			    .msg_iovlen = 3 };
	struct pollfd p = { .events = POLLIN };
	ssize_t n;

	for (unsigned i = 0; i < 2; i++) {
		begin(&q[i], TYPE(GET), 0);
		sequence -= i;
		q[i].m.h.nlmsg_seq = sequence;
		add_u32(&q[i], RDMA_NLDEV_ATTR_DEV_INDEX, i);
	}
	iov[1].iov_len = q[0].m.h.nlmsg_len - 16;
	iov[2].iov_len = q[1].m.h.nlmsg_len;
	check(sendmsg(sock, &m, 0) > 0 && receive(&a) &&
		      text_is(&a, RDMA_NLDEV_ATTR_DEV_NAME, "mlx5_0") && receive(&a) &&
		      text_is(&a, RDMA_NLDEV_ATTR_DEV_NAME, "mlx5_1") && nothing_more(),
	      "two requests in one call, in pieces");
	p.fd = sock;
	check(send(sock, &q[1], q[1].m.h.nlmsg_len, 0) > 0 && poll(&p, 1, 0) == 1,
	      "send, poll");
	n = recv(sock, NULL, 0, MSG_PEEK | MSG_TRUNC);
	check(n > NLMSG_HDRLEN && receive(&a) && a.len == n,
	      "its length seen beforehand: %zd", n);
}

/* The socket is a socket: copies of it are the same one. */
static void copies(void)
{
	struct request q;
	struct answer a = { 0 };
	int first = sock, status;
	pid_t pid;

	sock = dup(first);
	close(first);
	begin(&q, TYPE(SYS_GET), 0);
	check(ask(&q) && receive(&a), "after dup() and close()");
	pid = fork();
	if (!pid) {
		begin(&q, TYPE(GET), 0);
		add_u32(&q, RDMA_NLDEV_ATTR_DEV_INDEX, 0);
		_exit(!(ask(&q) && receive(&a) &&
			text_is(&a, RDMA_NLDEV_ATTR_DEV_NAME, "mlx5_0")));
	}
	check(pid > 0 && waitpid(pid, &status, 0) == pid && status == 0, "in a child");
	close(sock);
	check(recv(sock, &a, sizeof(a), 0) < 0 && errno == EBADF, "closed is closed");
}

/* Others are as they were. */
static void others(void)
{
	int route = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE), pair[2];
	struct sockaddr_nl local = { .nl_family = AF_NETLINK };
	socklen_t len = sizeof(local);
	char c;

	check(route >= 0 && !bind(route, (void *)&local, len) &&
		      !getsockname(route, (void *)&local, &len) && local.nl_pid != 0,
	      "NETLINK_ROUTE is the kernel's");
	close(route);
	check(!socketpair(AF_UNIX, SOCK_DGRAM, 0, pair) &&
		      send(pair[0], "x", 1, 0) == 1 && recv(pair[1], &c, 1, 0) == 1 &&
		      c == 'x',
	      "unix sockets work");
	errno = 0;
	check(bind(pair[0], (void *)&local, sizeof(local)) < 0 && errno == EINVAL,
	      "and refuse what they refuse");
	close(pair[0]);
	close(pair[1]);
}

int main(int argc, char **argv)
{
	is_socket();
	devices();
	ports(argc > 1 ? argv[1] : NULL);
	chardev();
	errors();
	sending();
	copies();
	others();
	return check_end();
}
