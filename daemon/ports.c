/* daemon/ports.c - ports: device, queues, steering; they follow the kernel's links */

#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "../lib/m5/rx_hot.h"
#include "../lib/m5/tx_hot.h"
#include "router.h"

struct port *port_by_name(struct router *r, const char *name)
{
	for (unsigned i = 0; i < r->n_ports; i++)
		if (!strcmp(r->port[i].conf->name, name))
			return &r->port[i];
	return NULL;
}

/* ---- open ---- */

static int open_device(struct port *p, struct err *err)
{
	const struct mirror_link *link = mirror_link_by_name(p->router->mirror, p->conf->name);
	const struct m5_caps *caps;
	int r;

	if (!link)
		return err_set(err, -ENODEV, "%s: there is no such network interface here", p->conf->name);
	p->link = *link;
	r = claim_port(p->conf->name, err, &p->claim_fd);
	if (r < 0)
		return r;
	r = m5_dev_open(p->conf->name, p->index, err, &p->dev);
	if (r < 0)
		return r;
	caps = m5_dev_caps(p->dev);
	log_info("port %s: %s (%s, firmware %s), NUMA node %d, %s receive queue", p->conf->name,
		 caps->rdma_name, caps->pci, caps->fw_ver, caps->numa_node,
		 caps->striding_rq && p->conf->striding ? "striding" : "cyclic");
	return 0;
}

static int open_queues(struct port *p, unsigned worker, struct m5_dev *const *peers, struct err *err)
{
	struct router *r = p->router;
	struct m5_rxq_conf rx = {
		.packets = p->conf->rx_packets,
		.mtu = (uint16_t)p->link.mtu,
		.numa_node = -1,
		.striding = p->conf->striding,
		.peers = peers,
		.n_peers = r->n_ports,
	};
	struct m5_txq_conf tx = { .packets = p->conf->tx_packets, .numa_node = -1 };
	struct err warn = { "" };
	static bool warned;
	int ret = m5_txq_open(p->dev, &tx, err, &p->txq[worker]);

	if (!ret)
		ret = m5_rxq_open(p->dev, &rx, &warn, err, &p->rxq[worker]);
	if (warn.text[0] && !warned) {
		log_warning("%s", warn.text);
		warned = true;
	}
	if (!ret)
		ret = m5_txq_start(p->txq[worker], err);
	return ret ? ret : m5_rxq_start(p->rxq[worker], err);
}

int ports_open(struct router *r, struct err *err)
{
	struct m5_dev *peers[FWD_PORTS_MAX];
	int ret = 0;

	r->n_ports = r->conf.n_ports;
	for (unsigned i = 0; i < r->n_ports && !ret; i++) {
		struct port *p = &r->port[i];

		p->router = r;
		p->conf = &r->conf.port[i];
		p->index = i;
		p->claim_fd = -1;
		ret = open_device(p, err);
		peers[i] = p->dev;
	}
	for (unsigned i = 0; i < r->n_ports; i++)
		for (unsigned w = 0; w < r->n_workers && !ret; w++)
			ret = open_queues(&r->port[i], w, peers, err);
	return ret;
}

/* ---- steering ---- */

static void add_local(void *arg, uint8_t family, const uint8_t addr[16])
{
	struct port *p = arg;
	struct err err = { "" };

	if (m5_steer_local_add(p->steer, family, addr, &err) < 0)
		log_error("port %s: %s; packets to this address reach the kernel by punt only",
			  p->conf->name, err.text);
}

static void give_up(struct port *p)
{
	log_error("port %s: the device is lost; the kernel has the port until a restart", p->conf->name);
	p->lost = true;
	workers_set_port(p->router, p);
}

static void on_device(void *arg, uint32_t events)
{
	struct port *p = arg;
	struct m5_event ev;

	(void)events;
	while (m5_dev_next_event(p->dev, &ev)) {
		switch (ev.type) {
		case M5_EVENT_LINK_UP:
		case M5_EVENT_LINK_DOWN:
			/* The netdev's carrier says the same, and is what routes follow. */
			log_notice("port %s: device reports link %s", p->conf->name,
				   ev.type == M5_EVENT_LINK_UP ? "up" : "down");
			break;
		case M5_EVENT_FATAL:
			give_up(p);
			break;
		case M5_EVENT_OTHER:
			break;
		}
	}
}

static int steer_port(struct port *p, struct err *err)
{
	struct m5_steer_conf conf = { .rxq = p->rxq, .n_rxq = p->router->n_workers };
	int r;

	memcpy(conf.mac, p->link.mac, sizeof(conf.mac));
	r = m5_steer_open(p->dev, &conf, err, &p->steer);
	if (r < 0)
		return r;
	mirror_addr_each(p->router->mirror, add_local, p);
	r = m5_steer_transit(p->steer, true, err);
	if (r < 0)
		return r;
	r = event_add(p->router->loop, m5_dev_event_fd(p->dev), EPOLLIN, on_device, p, &p->events);
	return r < 0 ? err_set(err, r, "epoll: %s", strerror(-r)) : 0;
}

int ports_steer(struct router *r, struct err *err)
{
	int ret = 0;

	for (unsigned i = 0; i < r->n_ports && !ret; i++)
		ret = steer_port(&r->port[i], err);
	r->forwarding = ret == 0;
	return ret;
}

void ports_release(struct router *r)
{
	r->forwarding = false;
	for (unsigned i = 0; i < r->n_ports; i++)
		if (r->port[i].steer)
			m5_steer_transit(r->port[i].steer, false, NULL);
}

/* Send queues first: they refer to memory of every port's receive queues. */
void ports_close(struct router *r)
{
	for (unsigned i = 0; i < r->n_ports; i++) {
		event_del(r->loop, r->port[i].events);
		m5_steer_close(r->port[i].steer);
		for (unsigned w = 0; w < r->n_workers; w++)
			m5_txq_close(r->port[i].txq[w]);
	}
	for (unsigned i = 0; i < r->n_ports; i++)
		for (unsigned w = 0; w < r->n_workers; w++)
			m5_rxq_close(r->port[i].rxq[w]);
	for (unsigned i = 0; i < r->n_ports; i++) {
		m5_dev_close(r->port[i].dev);
		if (r->port[i].conf && r->port[i].claim_fd >= 0)
			close(r->port[i].claim_fd);
	}
	r->n_ports = 0;
}

/* ---- following the kernel ---- */

struct nh_change {
	struct router *r;
	const struct port *port;
};

/* Next hops over this port take its MAC as their source and its MTU as their limit. */
static bool update_nh(void *arg, uint32_t index, const struct fib_nh *nh)
{
	struct nh_change *c = arg;
	struct fib_nh is = *nh;

	if (nh->kind != FIB_NH_FORWARD || nh->port != c->port->index)
		return true;
	memcpy(is.macs + 6, c->port->link.mac, 6);
	is.mtu = (uint16_t)c->port->link.mtu;
	fib_nh_set(c->r->fib, index, &is);
	return true;
}

static void link_changed(struct port *p, const struct mirror_link *was)
{
	struct nh_change change = { p->router, p };
	struct err err = { "" };

	if (was->carrier != p->link.carrier || was->up != p->link.up) {
		p->carrier_changes++;
		log_notice("port %s: %s, %s", p->conf->name, p->link.up ? "up" : "down",
			   p->link.carrier ? "carrier" : "no carrier");
	}
	if (memcmp(was->mac, p->link.mac, 6) && p->steer &&
	    m5_steer_mac_set(p->steer, p->link.mac, &err) < 0)
		log_error("port %s: new MAC address: %s", p->conf->name, err.text);
	if (memcmp(was->mac, p->link.mac, 6) || was->mtu != p->link.mtu)
		fib_nh_each(p->router->fib, update_nh, &change);
	workers_set_port(p->router, p);
}

void ports_on_link(struct router *r, const struct mirror_link *link, bool gone)
{
	for (unsigned i = 0; i < r->n_ports; i++) {
		struct port *p = &r->port[i];
		struct mirror_link was = p->link;

		/* By index: a port keeps its name in the configuration when it is renamed. */
		if (!p->dev || link->ifindex != was.ifindex)
			continue;
		if (gone)
			p->link.up = p->link.carrier = false;
		else
			p->link = *link;
		if (p->steer)
			link_changed(p, &was);
	}
}

void ports_on_addr(struct router *r, uint8_t family, const uint8_t addr[16], bool added)
{
	for (unsigned i = 0; i < r->n_ports; i++) {
		struct port *p = &r->port[i];
		struct err err = { "" };

		if (!p->steer)
			continue;
		if (added)
			add_local(p, family, addr);
		else if (m5_steer_local_del(p->steer, family, addr, &err) < 0)
			log_error("port %s: %s", p->conf->name, err.text);
	}
}

/* ---- recovery ---- */

static bool worker_needs_reset(const struct router *r, unsigned w)
{
	for (unsigned i = 0; i < r->n_ports; i++) {
		const struct port *p = &r->port[i];

		if (!p->lost && (READ_ONCE(m5_rxq_hot(p->rxq[w])->failed) ||
				 READ_ONCE(m5_txq_hot(p->txq[w])->failed)))
			return true;
	}
	return false;
}

static int reset_queues(struct port *p, unsigned w, struct err *err)
{
	struct m5_rx *rx = m5_rxq_hot(p->rxq[w]);
	struct m5_tx *tx = m5_txq_hot(p->txq[w]);
	int r = 0;

	if (rx->failed)
		log_warning("port %s: receive queue of worker %u in error: %s (0x%02x, vendor 0x%02x), "
			    "resetting it", p->conf->name, w, prm_syndrome_text(rx->syndrome), rx->syndrome,
			    rx->vendor_syndrome);
	if (tx->failed)
		log_warning("port %s: send queue of worker %u in error: %s (0x%02x, vendor 0x%02x), "
			    "resetting it", p->conf->name, w, prm_syndrome_text(tx->syndrome), tx->syndrome,
			    tx->vendor_syndrome);
	if (tx->failed || !m5_tx_idle(tx))
		r = m5_txq_reset(p->txq[w], err);
	if (!r)
		r = m5_txq_start(p->txq[w], err);
	if (!r && rx->failed)
		r = m5_rxq_reset(p->rxq[w], err);
	if (!r)
		r = m5_rxq_start(p->rxq[w], err);
	if (!r)
		p->recoveries++;
	return r;
}

/* All queues of the worker are looked at together: a packet received on one port may wait in the
 * send queue of another. Send queues first, so that no packet is out when a receive queue is reset. */
static void reset_worker(struct router *r, unsigned w)
{
	struct err err = { "" };

	fwd_worker_pause(r->worker[w]);
	for (unsigned i = 0; i < r->n_ports; i++)
		m5_tx_reap(m5_txq_hot(r->port[i].txq[w]));
	for (unsigned i = 0; i < r->n_ports; i++) {
		struct port *p = &r->port[i];

		if (!p->lost && reset_queues(p, w, &err) < 0) {
			log_error("port %s: %s", p->conf->name, err.text);
			give_up(p);
		}
	}
	fwd_worker_resume(r->worker[w]);
}

void ports_recover(struct router *r)
{
	for (unsigned w = 0; w < r->n_workers; w++)
		if (worker_needs_reset(r, w))
			reset_worker(r, w);
}
