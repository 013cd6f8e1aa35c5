/* mirror/mirror.c - links and own addresses, kept by difference
 *
 * Every entry has a generation; a dump marks what it sees with the new one, and what
 * keeps an old one afterwards is gone.
 */

#include "mirror.h"

#include <endian.h>
#include <linux/if_addr.h>
#include <linux/rtnetlink.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "../base/bits.h"
#include "nl.h"

struct link {
	struct link *next;
	struct mirror_link l;
	unsigned generation;
};

struct addr { /* one address on one interface */
	struct addr *next;
	int ifindex;
	uint8_t family, byte[16];
	unsigned generation;
};

struct mirror {
	struct mnl_socket *nl;
	struct mirror_ops ops;
	struct link *links;
	struct addr *addrs;
	unsigned generation;
	uint64_t overruns;
	bool stale; /* ask for everything again */
};

enum { DUMP_TRIES = 10 };

/* ---- links ---- */

static int link_attr(const struct nlattr *attr, void *data)
{
	struct mirror_link *l = data;

	switch (mnl_attr_get_type(attr)) {
	case IFLA_IFNAME:
		if (mnl_attr_validate(attr, MNL_TYPE_STRING) >= 0)
			snprintf(l->name, sizeof(l->name), "%s", mnl_attr_get_str(attr));
		break;
	case IFLA_ADDRESS:
		if (mnl_attr_get_payload_len(attr) == sizeof(l->mac))
			memcpy(l->mac, mnl_attr_get_payload(attr), sizeof(l->mac));
		break;
	case IFLA_MTU:
		if (mnl_attr_validate(attr, MNL_TYPE_U32) >= 0)
			l->mtu = mnl_attr_get_u32(attr);
		break;
	case IFLA_CARRIER:
		if (mnl_attr_validate(attr, MNL_TYPE_U8) >= 0)
			l->carrier = mnl_attr_get_u8(attr);
		break;
	}
	return MNL_CB_OK;
}

static struct link **find_link(struct mirror *m, int ifindex)
{
	struct link **l = &m->links;

	while (*l && (*l)->l.ifindex != ifindex)
		l = &(*l)->next;
	return l;
}

static void drop_link(struct mirror *m, struct link **at)
{
	struct link *l = *at;

	*at = l->next;
	m->ops.link(m->ops.arg, &l->l, true);
	free(l);
}

static bool same_link(const struct mirror_link *a, const struct mirror_link *b)
{
	return !strcmp(a->name, b->name) && !memcmp(a->mac, b->mac, sizeof(a->mac)) &&
	       a->mtu == b->mtu && a->up == b->up && a->carrier == b->carrier;
}

static void set_link(struct mirror *m, const struct mirror_link *is)
{
	struct link **at = find_link(m, is->ifindex), *l = *at;
	bool same = l && same_link(&l->l, is);

	if (!l) {
		l = calloc(1, sizeof(*l));
		if (!l) {
			m->stale = true; /* the next dump brings it again */
			return;
		}
		l->next = m->links;
		m->links = l;
	}
	l->l = *is;
	l->generation = m->generation;
	if (!same)
		m->ops.link(m->ops.arg, &l->l, false);
}

static void on_link(struct mirror *m, const struct nlmsghdr *msg)
{
	const struct ifinfomsg *ifi = mnl_nlmsg_get_payload(msg);
	struct mirror_link l = { 0 };
	struct link **at;

	/* Bridges and others tell of their ports by links of their own family. */
	if (mnl_nlmsg_get_payload_len(msg) < sizeof(*ifi) || ifi->ifi_family != AF_UNSPEC)
		return;
	at = find_link(m, ifi->ifi_index);
	if (msg->nlmsg_type == RTM_DELLINK) {
		if (*at)
			drop_link(m, at);
		return;
	}
	if (*at)
		l = (*at)->l; /* what a message does not name stays as it was */
	l.ifindex = ifi->ifi_index;
	l.up = ifi->ifi_flags & IFF_UP;
	mnl_attr_parse(msg, sizeof(*ifi), link_attr, &l);
	set_link(m, &l);
}

/* ---- addresses ---- */

struct addr_attrs {
	const struct nlattr *local, *address, *broadcast;
};

static int addr_attr(const struct nlattr *attr, void *data)
{
	struct addr_attrs *a = data;

	if (mnl_attr_get_type(attr) == IFA_LOCAL)
		a->local = attr;
	else if (mnl_attr_get_type(attr) == IFA_ADDRESS)
		a->address = attr;
	else if (mnl_attr_get_type(attr) == IFA_BROADCAST)
		a->broadcast = attr;
	return MNL_CB_OK;
}

static bool same_addr(const struct addr *a, const struct addr *b)
{
	return a->family == b->family && !memcmp(a->byte, b->byte, sizeof(a->byte));
}

static bool held_elsewhere(const struct mirror *m, const struct addr *but)
{
	for (const struct addr *a = m->addrs; a; a = a->next)
		if (a != but && same_addr(a, but))
			return true;
	return false;
}

static struct addr **find_addr(struct mirror *m, const struct addr *like)
{
	struct addr **a = &m->addrs;

	while (*a && ((*a)->ifindex != like->ifindex || !same_addr(*a, like)))
		a = &(*a)->next;
	return a;
}

static void drop_addr(struct mirror *m, struct addr **at)
{
	struct addr *a = *at;

	*at = a->next;
	if (!held_elsewhere(m, a))
		m->ops.addr(m->ops.arg, a->family, a->byte, false);
	free(a);
}

static void set_addr(struct mirror *m, const struct addr *like)
{
	struct addr *a = *find_addr(m, like);
	bool known = held_elsewhere(m, like);

	if (!a) {
		a = calloc(1, sizeof(*a));
		if (!a) {
			m->stale = true;
			return;
		}
		*a = *like;
		a->next = m->addrs;
		m->addrs = a;
	}
	a->generation = m->generation;
	if (!known)
		m->ops.addr(m->ops.arg, a->family, a->byte, true);
}

static void take_addr(struct mirror *m, const struct nlmsghdr *msg, const uint8_t *byte)
{
	const struct ifaddrmsg *ifa = mnl_nlmsg_get_payload(msg);
	struct addr a = { .family = ifa->ifa_family == AF_INET ? 4 : 6,
			  .ifindex = (int)ifa->ifa_index };
	struct addr **at;

	memcpy(a.byte, byte, a.family == 4 ? 4 : 16);
	if (msg->nlmsg_type == RTM_NEWADDR) {
		set_addr(m, &a);
		return;
	}
	at = find_addr(m, &a);
	if (*at)
		drop_addr(m, at);
}

/* The address of an attribute, NULL when it is absent or has a wrong length. */
static const uint8_t *addr_of(const struct nlattr *attr, uint8_t family)
{
	if (!attr || mnl_attr_get_payload_len(attr) != (family == AF_INET ? 4 : 16))
		return NULL;
	return mnl_attr_get_payload(attr);
}

/* Directed broadcasts are for the host too (RFC 2644): the one that was set, and the last address
 * of the network, which the kernel takes whether it was set or not (fib_frontend.c,
 * fib_add_ifaddr). */
static void take_broadcasts(struct mirror *m, const struct nlmsghdr *msg,
			    const struct addr_attrs *attrs)
{
	const struct ifaddrmsg *ifa = mnl_nlmsg_get_payload(msg);
	const uint8_t *address = addr_of(attrs->address, ifa->ifa_family);
	const uint8_t *broadcast = addr_of(attrs->broadcast, ifa->ifa_family);
	uint32_t last;

	if (broadcast)
		take_addr(m, msg, broadcast);
	if (ifa->ifa_family != AF_INET || !address || ifa->ifa_prefixlen >= 31)
		return;
	memcpy(&last, address, sizeof(last));
	last = htobe32(be32toh(last) | ~mask32(ifa->ifa_prefixlen));
	if (!broadcast || memcmp(&last, broadcast, sizeof(last)))
		take_addr(m, msg, (const uint8_t *)&last);
}

/* Every router of a network answers to its address with all host bits zero (RFC 4291, 2.6.1);
 * as the kernel has it (ipv6/addrconf.c, addrconf_join_anycast), /127 and longer have none. */
static void take_anycast(struct mirror *m, const struct nlmsghdr *msg,
			 const uint8_t own[16])
{
	const struct ifaddrmsg *ifa = mnl_nlmsg_get_payload(msg);
	unsigned whole = ifa->ifa_prefixlen / 8, rest = ifa->ifa_prefixlen % 8;
	static const uint8_t none[16];
	uint8_t addr[16] = { 0 };

	if (ifa->ifa_prefixlen >= 127)
		return;
	memcpy(addr, own, whole);
	if (rest)
		addr[whole] = own[whole] & (uint8_t)(0xff << (8 - rest));
	if (memcmp(addr, none, sizeof(addr)) != 0)
		take_addr(m, msg, addr);
}

/* Two addresses of one network share its broadcast or anycast address: when one goes, a dump tells
 * whether that stays. */
static void on_addr(struct mirror *m, const struct nlmsghdr *msg)
{
	const struct ifaddrmsg *ifa = mnl_nlmsg_get_payload(msg);
	struct addr_attrs attrs = { NULL, NULL, NULL };
	const uint8_t *own;

	if (mnl_nlmsg_get_payload_len(msg) < sizeof(*ifa) ||
	    (ifa->ifa_family != AF_INET && ifa->ifa_family != AF_INET6))
		return;
	mnl_attr_parse(msg, sizeof(*ifa), addr_attr, &attrs);
	/* On a point-to-point link IFA_ADDRESS is the peer's (rtnetlink(7)). */
	own = addr_of(attrs.local ? attrs.local : attrs.address, ifa->ifa_family);
	if (own)
		take_addr(m, msg, own);
	if (own && ifa->ifa_family == AF_INET6)
		take_anycast(m, msg, own);
	take_broadcasts(m, msg, &attrs);
	m->stale |= msg->nlmsg_type == RTM_DELADDR;
}

/* ---- dump and follow ---- */

static void on_message(void *arg, const struct nlmsghdr *msg)
{
	struct mirror *m = arg;

	switch (msg->nlmsg_type) {
	case RTM_NEWLINK:
	case RTM_DELLINK:
		on_link(m, msg);
		break;
	case RTM_NEWADDR:
	case RTM_DELADDR:
		on_addr(m, msg);
		break;
	}
}

static void sweep(struct mirror *m)
{
	for (struct link **l = &m->links; *l;) {
		if ((*l)->generation != m->generation)
			drop_link(m, l);
		else
			l = &(*l)->next;
	}
	for (struct addr **a = &m->addrs; *a;) {
		if ((*a)->generation != m->generation)
			drop_addr(m, a);
		else
			a = &(*a)->next;
	}
}

static int dump(struct mirror *m)
{
	int r = -EINTR;

	m->stale = false;
	for (int i = 0; i < DUMP_TRIES && r == -EINTR; i++) {
		m->generation++;
		r = nl_dump(RTM_GETLINK, on_message, m);
		if (!r)
			r = nl_dump(RTM_GETADDR, on_message, m);
	}
	if (!r)
		sweep(m);
	m->stale |= r < 0;
	return r;
}

int mirror_new(const struct mirror_ops *ops, struct mirror **ret)
{
	struct mirror *m = calloc(1, sizeof(*m));

	if (!m)
		return -ENOMEM;
	m->ops = *ops;
	*ret = m;
	return 0;
}

int mirror_open(const struct mirror_ops *ops, struct err *err, struct mirror **ret)
{
	static const unsigned groups[] = { RTNLGRP_LINK, RTNLGRP_IPV4_IFADDR,
					   RTNLGRP_IPV6_IFADDR, 0 };
	struct mirror *m;
	int r = mirror_new(ops, &m);

	if (r < 0)
		return err_set(err, r, "no memory");
	r = nl_open(groups, err, &m->nl);
	if (!r) {
		r = dump(m);
		if (r < 0)
			err_set(err, r,
				"asking the kernel for its links and addresses: %s",
				strerror(-r));
	}
	if (r < 0) {
		mirror_close(m);
		return r;
	}
	*ret = m;
	return 0;
}

void mirror_close(struct mirror *m)
{
	if (!m)
		return;
	while (m->links) {
		struct link *l = m->links;

		m->links = l->next;
		free(l);
	}
	while (m->addrs) {
		struct addr *a = m->addrs;

		m->addrs = a->next;
		free(a);
	}
	nl_close(m->nl);
	free(m);
}

int mirror_fd(const struct mirror *m)
{
	return nl_fd(m->nl);
}

uint64_t mirror_overruns(const struct mirror *m)
{
	return m->overruns;
}

void mirror_feed(struct mirror *m, const void *bytes, size_t n)
{
	nl_feed(bytes, n, on_message, m);
}

int mirror_process(struct mirror *m)
{
	int r = nl_events(m->nl, on_message, m);

	if (r == -ENOBUFS) { /* what is left is older than the dump */
		m->overruns++;
		m->stale = true;
		r = nl_events(m->nl, on_message, m);
	}
	/* -ENOBUFS again: the next call goes on, the descriptor is still readable. */
	if (r < 0 && r != -ENOBUFS)
		return r;
	m->stale |= r == -ENOBUFS;
	return m->stale ? dump(m) : 0;
}

const struct mirror_link *mirror_link_by_name(const struct mirror *m, const char *name)
{
	for (const struct link *l = m->links; l; l = l->next)
		if (!strcmp(l->l.name, name))
			return &l->l;
	return NULL;
}

bool mirror_addr_has(const struct mirror *m, uint8_t family, const uint8_t addr[16])
{
	struct addr like = { .family = family };

	memcpy(like.byte, addr, sizeof(like.byte));
	return held_elsewhere(m, &like);
}

void mirror_addr_each(const struct mirror *m,
		      void (*fn)(void *arg, uint8_t family, const uint8_t addr[16]),
		      void *arg)
{
	for (const struct addr *a = m->addrs; a; a = a->next) {
		const struct addr *b = m->addrs;

		while (b != a && !same_addr(a, b))
			b = b->next;
		if (b == a) /* the first of its kind */
			fn(arg, a->family, a->byte);
	}
}
