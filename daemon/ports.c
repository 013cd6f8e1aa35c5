/* daemon/ports.c - ports: device, queues, steering */

#include <string.h>
#include <unistd.h>

#include "../lib/place/near.h"
#include "router.h"

enum { RECEIVE_BYTES_UNKNOWN = 8 << 20 };

struct port *port_by_name(struct router *r, const char *name)
{
	for (unsigned i = 0; i < r->n_ports; i++)
		if (!strcmp(r->port[i].conf->name, name))
			return &r->port[i];
	return NULL;
}

void port_set_nexthop(const struct port *p, struct fib_nh *nh)
{
	memcpy(nh->macs + 6, p->link.mac, sizeof(p->link.mac));
	nh->mtu = (uint16_t)(p->link.mtu < UINT16_MAX ? p->link.mtu : UINT16_MAX);
}

/* ---- devices and queues ---- */

static int open_device(struct port *p, struct err *err)
{
	const struct mirror_link *link =
		mirror_link_by_name(p->router->mirror, p->conf->name);
	const struct m5_caps *caps;
	int r;

	if (!link)
		return err_set(err, -ENODEV,
			       "%s: there is no such network interface here",
			       p->conf->name);
	p->link = *link;
	p->opened_mtu = link->mtu;
	r = claim_port(p->conf->name, err, &p->claim_fd);
	if (!r)
		r = m5_dev_open(p->conf->name, p->index, err, &p->dev);
	if (r < 0)
		return r;
	caps = m5_dev_caps(p->dev);
	m5_clock_open(&p->clock, p->dev, caps->rq_ts_format);
	log_info("port %s: %s (%s, firmware %s), NUMA node %d, %s receive queue",
		 p->conf->name, caps->rdma_name, caps->pci, caps->fw_ver, caps->numa_node,
		 caps->striding_rq && p->conf->striding ? "striding" : "cyclic");
	return 0;
}

/* What is written by the card and read soon after should be in the cache meanwhile, and leave
 * room there for tables and rings; where a card may write into the cache at all, it is into a part
 * of it (Intel: 2 of 11 to 16 ways). */
static size_t receive_bytes(const struct router *r)
{
	long cache = sysconf(_SC_LEVEL3_CACHE_SIZE);
	size_t bytes = cache > 0 ? (size_t)cache / 4 : RECEIVE_BYTES_UNKNOWN;

	if (r->conf.receive_bytes)
		bytes = r->conf.receive_bytes;
	return bytes / (r->n_ports * r->n_workers);
}

static struct m5_rxq_conf rxq_conf(const struct port *p, struct m5_dev *const *peers)
{
	return (struct m5_rxq_conf){
		.packets = p->conf->rx_packets,
		.mtu = (uint16_t)(p->link.mtu < UINT16_MAX ? p->link.mtu : UINT16_MAX),
		.numa_node = -1,
		.striding = p->conf->striding,
		.compression = p->conf->compression,
		.prefetch = p->conf->prefetch,
		.bytes_max = receive_bytes(p->router),
		.peers = peers,
		.n_peers = p->router->n_ports,
	};
}

/* A worker's packets by pointer wait in the send queues of all ports: together these hold at most
 * a quarter of what its smallest receive queue holds of long frames, before they want to know
 * what has left. */
static uint32_t held_packets(const struct router *r)
{
	uint32_t least = UINT32_MAX;

	for (unsigned i = 0; i < r->n_ports; i++) {
		struct m5_rxq_conf conf = rxq_conf(&r->port[i], NULL);
		uint32_t frames = m5_rxq_frames(r->port[i].dev, &conf);

		if (frames < least)
			least = frames;
	}
	least /= 4 * r->n_ports;
	return least ? least : 1;
}

static struct m5_txq_conf txq_conf(const struct port *p)
{
	return (struct m5_txq_conf){
		.packets = p->conf->tx_packets,
		.numa_node = -1,
		.send = p->conf->send,
		.doorbell = p->conf->doorbell,
		.rings = p->conf->send_rings,
		.n_queues = p->router->n_workers,
		.copied_from_queues = p->conf->copied_from_queues,
		.copied_up_to_bytes = p->conf->copied_up_to_bytes,
		.held_packets = held_packets(p->router),
	};
}

/* All at once, so that whoever raises the limit does it once. */
static int check_memlock(const struct router *r, struct m5_dev *const *peers,
			 struct err *err)
{
	size_t bytes = 0;

	for (unsigned i = 0; i < r->n_ports; i++) {
		struct m5_rxq_conf rx = rxq_conf(&r->port[i], peers);
		struct m5_txq_conf tx = txq_conf(&r->port[i]);

		bytes += r->n_workers * (m5_rxq_bytes(r->port[i].dev, &rx) +
					 m5_txq_bytes(r->port[i].dev, &tx));
	}
	return m5_mem_allowed(bytes, err);
}

static int open_queues(struct port *p, unsigned worker, struct m5_dev *const *peers,
		       struct err *warn, struct err *err)
{
	struct m5_rxq_conf rx = rxq_conf(p, peers);
	struct m5_txq_conf tx = txq_conf(p);
	struct place_near was;
	int r;

	rx.numa_node = tx.numa_node = place_plan_node(&p->router->place, worker);
	place_near_begin(rx.numa_node, &was); /* and what they allocate beside it */
	r = m5_txq_open(p->dev, &tx, err, &p->txq[worker]);
	if (!r)
		r = m5_rxq_open(p->dev, &rx, warn, err, &p->rxq[worker]);
	place_near_end(&was);
	if (!r)
		r = m5_txq_start(p->txq[worker], err);
	return r ? r : m5_rxq_start(p->rxq[worker], err);
}

int ports_open(struct router *r, struct err *err)
{
	struct m5_dev *peers[FWD_PORTS_MAX];
	struct err warn = { "" };
	int ret = 0;

	r->n_ports = r->conf.n_ports;
	for (unsigned i = 0; i < r->n_ports; i++)
		r->port[i] = (struct port){
			.router = r, .conf = &r->conf.port[i], .index = i, .claim_fd = -1
		};
	for (unsigned i = 0; i < r->n_ports && !ret; i++) {
		ret = open_device(&r->port[i], err);
		peers[i] = r->port[i].dev;
	}
	if (!ret)
		ret = placement_choose(r, err);
	if (!ret)
		ret = check_memlock(r, peers, err);
	for (unsigned i = 0; i < r->n_ports; i++)
		for (unsigned w = 0; w < r->n_workers && !ret; w++)
			ret = open_queues(&r->port[i], w, peers, &warn, err);
	if (warn.text[0]) /* of one queue, for all of them */
		log_warning("%s", warn.text);
	return ret;
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
		if (r->port[i].claim_fd >= 0)
			close(r->port[i].claim_fd);
	}
	r->n_ports = 0;
}

void port_give_up(struct port *p)
{
	if (p->lost)
		return;
	log_error("port %s: the device is lost; the kernel has the port until a restart",
		  p->conf->name);
	p->lost = true;
	workers_set_port(p->router, p);
	legs_follow(p->router);
}

/* ---- steering ---- */

struct locals {
	struct port *port;
	struct err *err;
	int r;
};

/* Without its rule a packet to the host would be taken for transit. */
static void add_local(void *arg, uint8_t family, const uint8_t addr[16])
{
	struct locals *l = arg;

	if (!l->r)
		l->r = m5_steer_local_add(l->port->steer, family, addr, l->err);
}

static int steer_port(struct port *p, struct err *err)
{
	struct m5_steer_conf conf = { .rxq = p->rxq, .n_rxq = p->router->n_workers };
	struct locals locals = { p, err, 0 };
	int r;

	memcpy(conf.mac, p->link.mac, sizeof(conf.mac));
	r = m5_steer_open(p->dev, &conf, err, &p->steer);
	if (r < 0)
		return r;
	mirror_addr_each(p->router->mirror, add_local, &locals);
	if (locals.r < 0)
		return locals.r;
	r = m5_steer_transit(p->steer, true, err);
	return r < 0 ? r : follow_device(p, err);
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
