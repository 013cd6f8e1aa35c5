/* daemon/peer.c - who is at the other end of a Unix socket */

#include "peer.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../lib/base/cleanup.h"

static bool in_further_groups(int fd, gid_t group)
{
	SCOPED_FREE gid_t *groups = NULL;
	socklen_t len = 0;

	/* The first call asks how many there are. */
	if (!getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, NULL, &len) || errno != ERANGE)
		return false;
	groups = malloc(len);
	if (!groups || getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, groups, &len))
		return false;
	for (size_t i = 0; i < len / sizeof(groups[0]); i++)
		if (groups[i] == group)
			return true;
	return false;
}

bool peer_may_write(int fd, gid_t group)
{
	struct ucred cred;
	socklen_t len = sizeof(cred);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &len))
		return false;
	if (cred.uid == 0 || cred.uid == geteuid())
		return true;
	return group != PEER_NO_GROUP &&
	       (cred.gid == group || in_further_groups(fd, group));
}
