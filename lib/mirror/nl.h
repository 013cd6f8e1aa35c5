/* mirror/nl.h - the door to libmnl: two sockets, requests, dumps, overruns
 *
 * One socket hears notifications, the other asks. Only this file and nl.c include
 * <libmnl/...>.
 */
#pragma once

#include <libmnl/libmnl.h>
#include <stdbool.h>
#include <stdint.h>

#include "../base/err.h"

struct nl {
	struct mnl_socket *events; /* non-blocking */
	struct mnl_socket *ask;
	uint32_t seq;
};

typedef void (*nl_fn)(void *arg, const struct nlmsghdr *msg);

/* Joins @groups (rtnetlink group numbers, ended by 0) before anything is dumped. */
int nl_open(struct nl *nl, const unsigned *groups, struct err *err);
void nl_close(struct nl *nl);
int nl_fd(const struct nl *nl);

/**
 * nl_dump() - ask for everything of a kind
 * @type:   RTM_GETLINK, RTM_GETADDR ...
 * @family: AF_UNSPEC = all
 * Return: 0, -EINTR (the kernel changed meanwhile: dump again), or what the kernel answered.
 */
int nl_dump(struct nl *nl, uint16_t type, uint8_t family, nl_fn fn, void *arg);

/**
 * nl_events() - hand on what has arrived
 * Return: 0 when nothing is left, -ENOBUFS when some was lost: dump again.
 */
int nl_events(struct nl *nl, nl_fn fn, void *arg);
