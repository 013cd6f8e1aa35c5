/* uverbs/shim_fd.c - our sockets carry their meaning in the name they are bound to
 *
 * An abstract unix name (unix(7)), read back by getsockname() through any copy of the
 * descriptor in any process:
 *
 *   \0cxuv/N/RANDOM      a context of uverbsN
 *   \0cxnl/PORT/RANDOM   a NETLINK_RDMA socket with that port id
 *
 * The tag is within the first ten bytes after the family: that much of a sender's
 * address fits in the struct sockaddr_nl that a netlink program provides.
 */
#include "shim.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>

static const char tag[2][6] = { [SHIM_UVERBS] = "cxuv/", [SHIM_NETLINK] = "cxnl/" };
#define TAG_LEN 5

int shim_fd_name(int fd, enum shim_kind kind, unsigned n)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	uint64_t random;
	long ret;
	int len;

	do {
		if (SYS(SYS_getrandom, &random, sizeof(random), 0) != sizeof(random))
			return -EIO;
		len = snprintf(addr.sun_path + 1, sizeof(addr.sun_path) - 1,
			       "%s%u/%016llx", tag[kind], n, (unsigned long long)random);
		ret = SYS(SYS_bind, fd, &addr,
			  offsetof(struct sockaddr_un, sun_path) + 1 + len);
	} while (ret == -EADDRINUSE);
	return (int)ret;
}

static bool tagged(const struct sockaddr_un *addr, size_t len, enum shim_kind kind)
{
	return len > offsetof(struct sockaddr_un, sun_path) + 1 + TAG_LEN &&
	       addr->sun_family == AF_UNIX && addr->sun_path[0] == '\0' &&
	       !memcmp(addr->sun_path + 1, tag[kind], TAG_LEN);
}

bool shim_fd_is(int fd, enum shim_kind kind, unsigned *n)
{
	struct sockaddr_un addr;
	socklen_t len = sizeof(addr);
	char text[sizeof(addr.sun_path) + 1] = "";

	if (!shim_dir || SYS(SYS_getsockname, fd, &addr, &len) ||
	    !tagged(&addr, len, kind))
		return false;
	memcpy(text, addr.sun_path + 1 + TAG_LEN,
	       len - offsetof(struct sockaddr_un, sun_path) - 1 - TAG_LEN);
	*n = (unsigned)strtoul(text, NULL, 10);
	return true;
}

bool shim_addr_is_netlink(const void *addr, size_t len)
{
	return tagged(addr, len, SHIM_NETLINK);
}

/* Half way up the program's limit: out of reach of select() and of small numbers that a
 * test may expect, and below numbers that others hide at the very top. */
int shim_fd_hide(int fd)
{
	struct rlimit lim;
	long high;

	if (SYS(SYS_prlimit64, 0, RLIMIT_NOFILE, NULL, &lim))
		return fd;
	high = SYS(SYS_fcntl, fd, F_DUPFD_CLOEXEC,
		   lim.rlim_cur > 65536 ? 32768 : lim.rlim_cur / 2);
	if (shim_sys_failed(high))
		return fd;
	SYS(SYS_close, fd);
	return (int)high;
}
