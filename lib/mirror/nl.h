/* mirror/nl.h - the door to libmnl: notifications and dumps
 *
 * Only this file includes <libmnl/...>.
 */
#pragma once

#include <libmnl/libmnl.h>
#include <stddef.h>
#include <stdint.h>

#include "../base/err.h"

typedef void (*nl_fn)(void *arg, const struct nlmsghdr *msg);

/* Hears @groups (rtnetlink group numbers, ended by 0). @ret: non-blocking. */
int nl_open(const unsigned *groups, struct err *err, struct mnl_socket **ret);
void nl_close(struct mnl_socket *nl); /* NULL is fine */
int nl_fd(const struct mnl_socket *nl);

/**
 * nl_events() - hand on what has arrived
 * Return: 0 when nothing is left, -ENOBUFS when some was lost: dump again.
 */
int nl_events(struct mnl_socket *nl, nl_fn fn, void *arg);

/**
 * nl_dump() - ask for everything of a kind
 * @type: RTM_GETLINK, RTM_GETADDR ...
 * Return: 0, -EINTR (the kernel changed meanwhile: dump again), or what the kernel answered.
 */
int nl_dump(uint16_t type, nl_fn fn, void *arg);

/* One datagram of notifications, as from the kernel, in memory of a multiple of 4 bytes: libmnl
 * rounds up the length of a message that lies about it. */
void nl_feed(const void *bytes, size_t n, nl_fn fn, void *arg);
