/* daemon/claim.c - one daemon a port
 *
 * A listening socket in the abstract namespace, named after the netdev: it belongs to
 * the network namespace, as the netdev does, needs no file and no privilege, and is
 * gone the moment its owner is. Two daemons would take each other's packets in turns.
 */

#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "router.h"

static socklen_t name_socket(struct sockaddr_un *addr, const char *netdev)
{
	memset(addr, 0, sizeof(*addr));
	addr->sun_family = AF_UNIX;
	return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 +
			   (size_t)snprintf(addr->sun_path + 1,
					    sizeof(addr->sun_path) - 1, "mlx5fwd/port/%s",
					    netdev));
}

/* The owner's pid as the kernel knows it; 0 when it just went. */
static int owner_of(const struct sockaddr_un *addr, socklen_t len)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct ucred cred = { 0 };
	socklen_t size = sizeof(cred);

	if (fd >= 0 && !connect(fd, (const void *)addr, len))
		getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &size);
	if (fd >= 0)
		close(fd);
	return (int)cred.pid;
}

int claim_port(const char *netdev, struct err *err, int *ret_fd)
{
	struct sockaddr_un addr;
	socklen_t len = name_socket(&addr, netdev);
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), r;

	if (fd < 0)
		return err_set(err, -errno, "%s: %s", netdev, strerror(errno));
	r = bind(fd, (const void *)&addr, len) || listen(fd, 1) ? -errno : 0;
	if (!r) {
		*ret_fd = fd;
		return 0;
	}
	close(fd);
	if (r == -EADDRINUSE)
		return err_set(
			err, r,
			"%s: another mlx5fwd (pid %d) has this port; stop it first",
			netdev, owner_of(&addr, len));
	return err_set(err, r, "%s: %s", netdev, strerror(-r));
}
