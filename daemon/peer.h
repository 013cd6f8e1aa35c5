/* daemon/peer.h - who is at the other end of a Unix socket
 *
 * As the kernel noted it when the peer connected, unix(7): SO_PEERCRED, SO_PEERGROUPS.
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#define PEER_NO_GROUP ((gid_t)-1)

/* Root, the daemon's own user, and members of @group, by first or further groups. */
bool peer_may_write(int fd, gid_t group);
