/* wire/link.c - see link.h; messages: rtnetlink(7), "Linux: RTM_NEWLINK" */
#include "link.h"

#include <errno.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define ANSWER_MS 2000
#ifndef IFF_LOWER_UP
#define IFF_LOWER_UP 0x10000 /* linux/if.h, which cannot be included beside net/if.h */
#endif

static int ask(const struct link *l)
{
	struct {
		struct nlmsghdr nh;
		struct ifinfomsg ifi;
	} req = {
		.nh = { .nlmsg_len = sizeof(req),
			.nlmsg_type = RTM_GETLINK,
			.nlmsg_flags = NLM_F_REQUEST },
		.ifi = { .ifi_family = AF_UNSPEC, .ifi_index = l->ifindex },
	};

	return send(l->fd, &req, sizeof(req), 0) < 0 ? -errno : 0;
}

static void take_attrs(struct link *l, const struct ifinfomsg *ifi, int len)
{
	struct rtattr *a = IFLA_RTA(ifi);

	for (; RTA_OK(a, len); a = RTA_NEXT(a, len)) {
		const void *p = RTA_DATA(a);

		if (a->rta_type == IFLA_IFNAME)
			snprintf(l->name, sizeof(l->name), "%s", (const char *)p);
		else if (a->rta_type == IFLA_MTU && RTA_PAYLOAD(a) >= sizeof(l->mtu))
			memcpy(&l->mtu, p, sizeof(l->mtu));
		else if (a->rta_type == IFLA_ADDRESS && RTA_PAYLOAD(a) == sizeof(l->mac))
			memcpy(l->mac, p, sizeof(l->mac));
	}
}

static void take(struct link *l, const struct nlmsghdr *nh)
{
	const struct ifinfomsg *ifi = NLMSG_DATA(nh);

	/* RTM_NEWLINK of other families (bridge ports) lacks most attributes. */
	if (nh->nlmsg_len < NLMSG_LENGTH(sizeof(*ifi)) || ifi->ifi_index != l->ifindex ||
	    ifi->ifi_family != AF_UNSPEC)
		return;
	if (nh->nlmsg_type == RTM_DELLINK) {
		l->present = l->up = l->carrier = false;
	} else if (nh->nlmsg_type == RTM_NEWLINK) {
		l->present = true;
		l->up = ifi->ifi_flags & IFF_UP;
		l->carrier = l->up && (ifi->ifi_flags & IFF_LOWER_UP);
		take_attrs(l, ifi, (int)IFLA_PAYLOAD(nh));
	}
}

static bool same(const struct link *a, const struct link *b)
{
	return a->present == b->present && a->up == b->up && a->carrier == b->carrier &&
	       a->mtu == b->mtu && !memcmp(a->mac, b->mac, sizeof(a->mac)) &&
	       !strcmp(a->name, b->name);
}

bool link_read(struct link *l)
{
	_Alignas(struct nlmsghdr) char buf[32768];
	struct link old = *l;

	if (l->fd < 0)
		return false;
	for (;;) {
		ssize_t n = recv(l->fd, buf, sizeof(buf), MSG_DONTWAIT);
		unsigned left = n > 0 ? (unsigned)n : 0;

		if (n < 0 && errno == EINTR)
			continue;
		/* Messages were lost: the present state is all that matters. */
		if (n < 0 && errno == ENOBUFS) {
			ask(l);
			continue;
		}
		if (n <= 0)
			break;
		for (struct nlmsghdr *nh = (void *)buf; NLMSG_OK(nh, left);
		     nh = NLMSG_NEXT(nh, left))
			take(l, nh);
	}
	return !same(&old, l);
}

static int wait_answer(struct link *l)
{
	struct pollfd p = { .fd = l->fd, .events = POLLIN };

	while (!l->present) {
		int r = poll(&p, 1, ANSWER_MS);

		if (r < 0 && errno == EINTR)
			continue;
		if (r <= 0)
			return r ? -errno : -ETIMEDOUT;
		link_read(l);
	}
	return 0;
}

int link_open(struct link *l, int ifindex)
{
	struct sockaddr_nl sa = { .nl_family = AF_NETLINK, .nl_groups = RTMGRP_LINK };
	int r = 0;

	memset(l, 0, sizeof(*l));
	l->ifindex = ifindex;
	l->fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
	if (l->fd < 0)
		return -errno;
	if (bind(l->fd, (struct sockaddr *)&sa, sizeof(sa)) < 0)
		r = -errno;
	if (!r)
		r = ask(l);
	if (!r)
		r = wait_answer(l);
	if (r < 0)
		link_close(l);
	return r;
}

void link_close(struct link *l)
{
	if (l->fd >= 0)
		close(l->fd);
	l->fd = -1;
}
