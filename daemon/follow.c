/* daemon/follow.c - links, addresses and device events while the daemon runs */

#include <string.h>
#include <sys/epoll.h>

#include "events.h"
#include "router.h"

/* ---- links ---- */

struct nh_change {
	struct router *router;
	const struct port *port;
};

static bool update_nexthop(void *arg, uint32_t index, const struct fib_nh *nh)
{
	struct nh_change *c = arg;
	struct fib_nh is = *nh;

	if (nh->kind != FIB_NH_FORWARD || nh->port != c->port->index)
		return true;
	port_set_nexthop(c->port, &is);
	fib_nh_set(c->router->fib, index, &is);
	return true;
}

static void mtu_changed(const struct port *p)
{
	if (p->link.mtu > p->opened_mtu)
		log_warning(
			"port %s: MTU %u is over the %u that its queues were made for: "
			"larger packets are not received until a restart",
			p->conf->name, p->link.mtu, p->opened_mtu);
}

static void mac_changed(struct port *p)
{
	struct err err = { "" };

	if (m5_steer_mac_set(p->steer, p->link.mac, &err) < 0)
		log_error("port %s: new MAC address: %s", p->conf->name, err.text);
}

static void link_changed(struct port *p, const struct mirror_link *was)
{
	struct nh_change change = { p->router, p };
	const struct mirror_link *is = &p->link;
	bool new_mac = memcmp(was->mac, is->mac, sizeof(is->mac)) != 0;

	if (was->carrier != is->carrier || was->up != is->up) {
		p->carrier_changes++;
		log_notice("port %s: %s, %s", p->conf->name, is->up ? "up" : "down",
			   is->carrier ? "carrier" : "no carrier");
	}
	if (strcmp(was->name, is->name) != 0)
		log_notice("port %s: the interface is called %s now", p->conf->name,
			   is->name);
	if (was->mtu != is->mtu)
		mtu_changed(p);
	if (new_mac)
		mac_changed(p);
	if (new_mac || was->mtu != is->mtu)
		fib_nh_each(p->router->fib, 1, update_nexthop, &change);
	workers_set_port(p->router, p);
	legs_follow(p->router);
	events_port(p->router, p);
}

/* By index: a port keeps its name in the configuration when the interface is renamed. One that went
 * (to another network namespace, or with a reset of its driver) comes back with another index. */
static struct port *port_of_link(struct router *r, const struct mirror_link *link)
{
	struct port *named = port_by_name(r, link->name);

	for (unsigned i = 0; i < r->n_ports; i++)
		if (r->port[i].link.ifindex == link->ifindex)
			return &r->port[i];
	return named && !named->link.ifindex ? named : NULL;
}

static void on_link(void *arg, const struct mirror_link *link, bool gone)
{
	struct port *p = port_of_link(arg, link);
	struct mirror_link was;

	if (!p || !p->steer || p->lost)
		return;
	was = p->link;
	if (gone) {
		log_error("port %s: the interface is gone", p->conf->name);
		p->link.ifindex = 0;
		p->link.up = p->link.carrier = false;
	} else {
		if (!was.ifindex)
			log_notice("port %s: the interface is back", p->conf->name);
		p->link = *link;
	}
	link_changed(p, &was);
}

/* ---- addresses ---- */

static void on_addr(void *arg, uint8_t family, const uint8_t addr[16], bool added)
{
	struct router *r = arg;
	struct err err = { "" };

	for (unsigned i = 0; i < r->n_ports; i++) {
		struct port *p = &r->port[i];
		int ret;

		if (!p->steer || p->lost)
			continue;
		ret = added ? m5_steer_local_add(p->steer, family, addr, &err)
			    : m5_steer_local_del(p->steer, family, addr, &err);
		if (ret < 0)
			log_error("port %s: %s; packets to an address of the host are "
				  "%s",
				  p->conf->name, err.text,
				  added ? "taken for transit" : "left to the kernel");
	}
}

/* ---- device events ---- */

/* Unplugged, or its driver unloaded: from then on the descriptor is always ready, with an error.
 * Source: Linux drivers/infiniband/core/uverbs_main.c, ib_uverbs_event_poll(). */
static void device_gone(struct port *p)
{
	event_del(p->router->loop, p->events);
	p->events = NULL;
	port_give_up(p);
	events_port(p->router, p);
}

static void on_device(void *arg, uint32_t events)
{
	struct port *p = arg;
	struct m5_event ev;

	while (m5_dev_next_event(p->dev, &ev)) {
		switch (ev.type) {
		case M5_EVENT_LINK_UP:
		case M5_EVENT_LINK_DOWN:
			/* The netdev's carrier says the same, and is what routes follow. */
			log_info("port %s: the device reports link %s", p->conf->name,
				 ev.type == M5_EVENT_LINK_UP ? "up" : "down");
			break;
		case M5_EVENT_FATAL:
			port_give_up(p);
			events_port(p->router, p);
			break;
		case M5_EVENT_OTHER:
			break;
		}
	}
	if (events & (EPOLLERR | EPOLLHUP))
		device_gone(p);
}

int follow_device(struct port *p, struct err *err)
{
	int r = event_add(p->router->loop, m5_dev_event_fd(p->dev), EPOLLIN, on_device, p,
			  &p->events);

	return r < 0 ? err_set(err, r, "events of %s: %s", p->conf->name, strerror(-r))
		     : 0;
}

/* ---- the kernel's notifications ---- */

static void process(struct router *r)
{
	int ret = mirror_process(r->mirror);

	if (ret < 0 && !r->mirror_fails) /* said once, not at every tick */
		log_error(
			"asking the kernel for its links and addresses: %s; trying again",
			strerror(-ret));
	r->mirror_fails = ret < 0;
}

static void on_netlink(void *arg, uint32_t events)
{
	(void)events;
	process(arg);
}

/* What could not be asked for is asked for again. */
void follow_tick(struct router *r)
{
	process(r);
}

int follow_open(struct router *r, struct err *err)
{
	struct mirror_ops ops = { .arg = r, .link = on_link, .addr = on_addr };
	int ret = mirror_open(&ops, err, &r->mirror);

	if (ret < 0)
		return ret;
	ret = event_add(r->loop, mirror_fd(r->mirror), EPOLLIN, on_netlink, r,
			&r->mirror_events);
	return ret < 0 ? err_set(err, ret, "epoll: %s", strerror(-ret)) : 0;
}

void follow_close(struct router *r)
{
	event_del(r->loop, r->mirror_events);
	mirror_close(r->mirror);
}
