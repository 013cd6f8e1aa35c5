/* uverbs/shim_netlink.c - a NETLINK_RDMA socket for programs that open one
 *
 * It is a unix datagram socket bound to a name of ours, and what "the kernel" answers is
 * sent from it to itself (unix sockets do not limit the queue for that). poll(), MSG_PEEK,
 * MSG_TRUNC and closing work without help, and dup() and fork(), too.
 *
 * Nothing is intercepted on the way of other sockets: a call made with a netlink address
 * on a unix socket *fails*, and only then is looked whose it is. What is received has a
 * unix sender's address, which becomes the kernel's.
 */
#include "shim.h"

#include <errno.h>
#include <linux/netlink.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

ssize_t __recvfrom_chk(int fd, void *buf, size_t n, size_t size, int flags,
		       struct sockaddr *addr, socklen_t *len);

#define REQUEST_MAX 8192

/* glibc declares the address argument as a transparent union of pointers. */
#define ADDR(arg) ((arg).__sockaddr__)

static int open_netlink(int type)
{
	int flags = type & (SOCK_CLOEXEC | SOCK_NONBLOCK);
	long fd = SYS(SYS_socket, AF_UNIX, SOCK_DGRAM | flags, 0), ret;

	if (fd < 0)
		return (int)shim_ret(fd);
	/* Port ids of netlink sockets start with the process id; netlink(7). */
	ret = shim_fd_name((int)fd, SHIM_NETLINK, (unsigned)SYS(SYS_getpid));
	if (!ret)
		return (int)fd;
	SYS(SYS_close, fd);
	return (int)shim_ret(ret);
}

int socket(int domain, int type, int protocol)
{
	if (shim_dir && domain == AF_NETLINK && protocol == NETLINK_RDMA)
		return open_netlink(type);
	return SHIM_REAL(socket)(domain, type, protocol);
}

/* Was the failed call one on our socket? */
static bool ours(int fd, uint32_t *port_id)
{
	int saved = errno;
	unsigned port;
	bool ret = shim_fd_is(fd, SHIM_NETLINK, &port);

	errno = saved;
	*port_id = port;
	return ret;
}

static void netlink_addr(uint32_t port_id, void *addr, socklen_t *len)
{
	struct sockaddr_nl nl = { .nl_family = AF_NETLINK, .nl_pid = port_id };

	if (!addr || !len)
		return;
	memcpy(addr, &nl, *len < sizeof(nl) ? *len : sizeof(nl));
	*len = sizeof(nl);
}

/* ---- addresses and options ---- */

int bind(int fd, __CONST_SOCKADDR_ARG addr, socklen_t len)
{
	int ret = SHIM_REAL(bind)(fd, addr, len);
	uint32_t port;

	return ret && errno == EINVAL && ours(fd, &port) ? 0 : ret;
}

int connect(int fd, __CONST_SOCKADDR_ARG addr, socklen_t len)
{
	int ret = SHIM_REAL(connect)(fd, addr, len);
	uint32_t port;

	return ret && errno == EINVAL && ours(fd, &port) ? 0 : ret;
}

int getsockname(int fd, __SOCKADDR_ARG addr, socklen_t *len)
{
	socklen_t size = *len;
	int ret = SHIM_REAL(getsockname)(fd, addr, len);
	uint32_t port;

	if (!ret && size >= sizeof(sa_family_t) && ADDR(addr)->sa_family == AF_UNIX &&
	    ours(fd, &port)) {
		*len = size;
		netlink_addr(port, ADDR(addr), len);
	}
	return ret;
}

int setsockopt(int fd, int level, int name, const void *value, socklen_t len)
{
	int ret = SHIM_REAL(setsockopt)(fd, level, name, value, len);
	uint32_t port;

	return ret && level == SOL_NETLINK && ours(fd, &port) ? 0 : ret;
}

/* ---- requests ---- */

static ssize_t request(int fd, ssize_t ret, const void *msg, size_t len)
{
	uint32_t port;
	long rc;

	if (ret >= 0 || (errno != EINVAL && errno != ENOTCONN) || !ours(fd, &port))
		return ret;
	rc = shim_nldev(fd, port, msg, len);
	return rc ? shim_ret(rc) : (ssize_t)len;
}

ssize_t send(int fd, const void *msg, size_t len, int flags)
{
	return request(fd, SHIM_REAL(send)(fd, msg, len, flags), msg, len);
}

ssize_t sendto(int fd, const void *msg, size_t len, int flags, __CONST_SOCKADDR_ARG addr,
	       socklen_t addr_len)
{
	return request(fd, SHIM_REAL(sendto)(fd, msg, len, flags, addr, addr_len), msg,
		       len);
}

ssize_t sendmsg(int fd, const struct msghdr *m, int flags)
{
	ssize_t ret = SHIM_REAL(sendmsg)(fd, m, flags);
	char flat[REQUEST_MAX] __attribute__((aligned(8)));
	size_t len = 0;

	if (ret >= 0 || (errno != EINVAL && errno != ENOTCONN))
		return ret;
	for (size_t i = 0; i < m->msg_iovlen; i++) {
		if (m->msg_iov[i].iov_len > sizeof(flat) - len)
			return ret;
		memcpy(flat + len, m->msg_iov[i].iov_base, m->msg_iov[i].iov_len);
		len += m->msg_iov[i].iov_len;
	}
	return request(fd, ret, flat, len);
}

/* ---- answers come from port 0, the kernel ---- */

ssize_t recvmsg(int fd, struct msghdr *m, int flags)
{
	socklen_t size = m->msg_name ? m->msg_namelen : 0;
	ssize_t ret = SHIM_REAL(recvmsg)(fd, m, flags);

	if (ret >= 0 && size >= sizeof(struct sockaddr_nl) && m->msg_name &&
	    shim_addr_is_netlink(m->msg_name, m->msg_namelen)) {
		m->msg_namelen = size;
		netlink_addr(0, m->msg_name, &m->msg_namelen);
	}
	return ret;
}

static ssize_t received(ssize_t ret, struct sockaddr *addr, socklen_t *len,
			socklen_t size)
{
	if (ret >= 0 && size >= sizeof(struct sockaddr_nl) &&
	    shim_addr_is_netlink(addr, *len)) {
		*len = size;
		netlink_addr(0, addr, len);
	}
	return ret;
}

ssize_t recvfrom(int fd, void *buf, size_t n, int flags, __SOCKADDR_ARG addr,
		 socklen_t *len)
{
	socklen_t size = ADDR(addr) && len ? *len : 0;

	return received(SHIM_REAL(recvfrom)(fd, buf, n, flags, addr, len), ADDR(addr),
			len, size);
}

ssize_t __recvfrom_chk(int fd, void *buf, size_t n, size_t buf_size, int flags,
		       struct sockaddr *addr, socklen_t *len)
{
	socklen_t size = addr && len ? *len : 0;

	return received(SHIM_REAL(__recvfrom_chk)(fd, buf, n, buf_size, flags, addr, len),
			addr, len, size);
}
