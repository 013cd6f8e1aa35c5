/* uverbs/shim_fd.c - our sockets carry their meaning in the name they are bound to
 *
 * An abstract unix name (unix(7)), read back by getsockname() through any copy of the
 * descriptor in any process:
 *
 *   \0 c x KIND NUMBER RANDOM     u: a context of uverbsNUMBER
 *   1 1 1  1     4      2         n: a NETLINK_RDMA socket with that port id
 *
 * With the address family that is as long as a struct sockaddr_nl: what a netlink program
 * provides for the sender's address holds it.
 */
#include "shim.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>

struct name {
	sa_family_t family;
	char zero, tag[3];
	uint8_t number[4], random[2];
};
_Static_assert(sizeof(struct name) == sizeof(struct sockaddr_nl),
	       "fits a netlink address");

static const char tag[2][4] = { [SHIM_UVERBS] = "cxu", [SHIM_NETLINK] = "cxn" };

int shim_fd_name(int fd, enum shim_kind kind, unsigned n)
{
	struct name name = { .family = AF_UNIX };
	uint32_t number = n;
	long ret;

	memcpy(name.tag, tag[kind], sizeof(name.tag));
	memcpy(name.number, &number, sizeof(number));
	do {
		if (SYS(SYS_getrandom, name.random, sizeof(name.random), 0) !=
		    sizeof(name.random))
			return -EIO;
		ret = SYS(SYS_bind, fd, &name, sizeof(name));
	} while (ret == -EADDRINUSE);
	return (int)ret;
}

static bool tagged(const struct name *name, size_t len, enum shim_kind kind)
{
	return len == sizeof(*name) && name->family == AF_UNIX && name->zero == '\0' &&
	       !memcmp(name->tag, tag[kind], sizeof(name->tag));
}

bool shim_fd_is(int fd, enum shim_kind kind, unsigned *n)
{
	struct name name = { 0 };
	socklen_t len = sizeof(name);
	uint32_t number;

	if (!shim_dir || SYS(SYS_getsockname, fd, &name, &len) ||
	    !tagged(&name, len, kind))
		return false;
	memcpy(&number, name.number, sizeof(number));
	*n = number;
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
	struct rlimit lim = { 0 };
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
