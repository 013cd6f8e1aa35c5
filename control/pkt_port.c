/* control/pkt_port.c - a port: its device, queues and rules, and what is known of it */

#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../lib/base/cleanup.h"
#include "../lib/ctl/row.h"
#include "../lib/m5/steer.h"
#include "mlx5pkt.h"

/* netdevice(7) */
static int read_netdev(struct pkt_port *p)
{
	SCOPED_CLOSE int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct ifreq mac = { 0 }, mtu = { 0 };

	snprintf(mac.ifr_name, sizeof(mac.ifr_name), "%s", p->netdev);
	snprintf(mtu.ifr_name, sizeof(mtu.ifr_name), "%s", p->netdev);
	if (fd < 0 || ioctl(fd, SIOCGIFHWADDR, &mac) || ioctl(fd, SIOCGIFMTU, &mtu))
		return -errno;
	memcpy(p->mac, mac.ifr_hwaddr.sa_data, sizeof(p->mac));
	p->mtu = (uint32_t)mtu.ifr_mtu;
	return 0;
}

int pkt_port_open(struct pkt_port *p, const char *netdev, unsigned index, struct err *err)
{
	int r;

	*p = (struct pkt_port){ .netdev = netdev };
	r = m5_dev_open(netdev, index, err, &p->dev);
	if (r < 0)
		return r;
	r = read_netdev(p);
	return r < 0 ? err_set(err, r, "%s: %s", netdev, strerror(-r)) : 0;
}

static int open_send(struct pkt_port *p, unsigned queue, const struct pkt_options *o,
		     struct err *err)
{
	struct m5_txq_conf conf = { .packets = o->packets,
				    .numa_node = -1,
				    .send = (enum m5_send)o->send,
				    .doorbell = (enum m5_doorbell)o->doorbell,
				    .rings = o->rings,
				    .n_queues = o->queues };
	int r = m5_txq_open(p->dev, &conf, err, &p->txq[queue]);

	return r ? r : m5_txq_start(p->txq[queue], err);
}

static int open_receive(struct pkt_port *p, unsigned queue, const struct pkt_options *o,
			struct err *warn, struct err *err)
{
	struct m5_rxq_conf conf = {
		.packets = o->packets,
		.mtu = (uint16_t)(p->mtu < UINT16_MAX ? p->mtu : UINT16_MAX),
		.numa_node = -1,
		.striding = o->striding,
		.compression = (enum m5_compression)o->compression,
		/* Frames that are only counted are not looked at. */
		.prefetch = o->command == PKT_REFLECT ? M5_PREFETCH_DEFAULT : 0,
		.peers = &p->dev,
		.n_peers = 1
	};
	int r = m5_rxq_open(p->dev, &conf, warn, err, &p->rxq[queue]);

	return r ? r : m5_rxq_start(p->rxq[queue], err);
}

int pkt_port_start(struct pkt_port *p, const struct pkt_options *o, struct err *err)
{
	struct err warn = { "" };
	int r = 0;

	for (unsigned q = 0; q < o->queues && !r; q++) {
		if (o->command == PKT_REFLECT)
			r = open_send(p, q, o, err);
		if (!r)
			r = open_receive(p, q, o, &warn, err);
	}
	if (warn.text[0])
		fprintf(stderr, "mlx5pkt: %s: %s\n", p->netdev, warn.text);
	return r;
}

/* ---- steering ---- */

static int add_local(struct pkt_port *p, const struct sockaddr *sa, struct err *err)
{
	uint8_t addr[16] = { 0 };

	if (sa->sa_family == AF_INET) {
		memcpy(addr, &((const struct sockaddr_in *)sa)->sin_addr, 4);
		return m5_steer_local_add(p->steer, 4, addr, err);
	}
	if (sa->sa_family != AF_INET6)
		return 0;
	memcpy(addr, &((const struct sockaddr_in6 *)sa)->sin6_addr, 16);
	return m5_steer_local_add(p->steer, 6, addr, err);
}

static int add_locals(struct pkt_port *p, struct err *err)
{
	struct ifaddrs *list;
	int r = 0;

	if (getifaddrs(&list))
		return err_set(err, -errno, "addresses of this host: %s",
			       strerror(errno));
	for (const struct ifaddrs *a = list; a && !r; a = a->ifa_next)
		if (a->ifa_addr)
			r = add_local(p, a->ifa_addr, err);
	freeifaddrs(list);
	return r;
}

int pkt_port_steer(struct pkt_port *p, const struct pkt_options *o, struct err *err)
{
	struct m5_steer_conf conf = { .rxq = p->rxq, .n_rxq = o->queues };
	int r;

	memcpy(conf.mac, p->mac, sizeof(conf.mac));
	r = m5_steer_open(p->dev, &conf, err, &p->steer);
	if (!r)
		r = add_locals(p, err);
	return r ? r : m5_steer_transit(p->steer, true, err);
}

void pkt_port_release(struct pkt_port *p)
{
	if (p->steer)
		m5_steer_transit(p->steer, false, NULL);
}

void pkt_port_close(struct pkt_port *p)
{
	m5_steer_close(p->steer);
	for (unsigned q = 0; q < PKT_QUEUES_MAX;
	     q++) /* these refer to memory of the others */
		m5_txq_close(p->txq[q]);
	for (unsigned q = 0; q < PKT_QUEUES_MAX; q++)
		m5_rxq_close(p->rxq[q]);
	m5_dev_close(p->dev);
}

/* ---- what is known ---- */

static void set_range(struct row *row, const char *key, uint64_t low, uint64_t high)
{
	char text[64];

	snprintf(text, sizeof(text), "%llu-%llu", (unsigned long long)low,
		 (unsigned long long)high);
	row_set_text(row, key, text);
}

static void describe_receive(const struct m5_caps *c, struct row *row)
{
	row_set_flag(row, "striding_receive", c->striding_rq);
	if (c->striding_rq) {
		set_range(row, "stride_bytes", UINT64_C(1) << c->log_min_stride_bytes,
			  UINT64_C(1) << c->log_max_stride_bytes);
		set_range(row, "strides_of_a_buffer", UINT64_C(1) << c->log_min_strides,
			  UINT64_C(1) << c->log_max_strides);
	}
	row_set_flag(row, "compressed_completions", c->cqe_compression);
	row_set_flag(row, "compressed_completions_enhanced", c->enhanced_cqe_compression);
	row_set_flag(row, "timestamps_real_time", c->ts_real_time);
	row_set_count(row, "clock_khz", c->clock_khz);
}

static void describe_limits(const struct m5_caps *c, struct row *row)
{
	row_set_flag(row, "multi_packet_send", c->enhanced_mpw);
	row_set_count(row, "inline_minimum_bytes", c->min_inline);
	row_set_flag(row, "match_ttl", c->match_ttl);
	row_set_flag(row, "match_hop_limit", c->match_hop_limit);
	row_set_count(row, "work_entries_max", UINT64_C(1) << c->log_max_wq_size);
	row_set_count(row, "completions_max", UINT64_C(1) << c->log_max_cq_size);
	row_set_count(row, "queues_of_a_spread_max", UINT64_C(1) << c->log_max_rqt_size);
}

void pkt_port_describe(const struct pkt_port *p, struct row *row)
{
	const struct m5_caps *c = m5_dev_caps(p->dev);
	const uint8_t *m = p->mac;
	char text[18];

	row_set_text(row, "port", p->netdev);
	row_set_text(row, "device", c->rdma_name);
	row_set_text(row, "pci", c->pci);
	snprintf(text, sizeof(text), "0x%04x", c->device_id);
	row_set_text(row, "device_id", text);
	row_set_text(row, "firmware", c->fw_ver);
	row_set_number(row, "numa_node", c->numa_node);
	snprintf(text, sizeof(text), "%02x:%02x:%02x:%02x:%02x:%02x", m[0], m[1], m[2],
		 m[3], m[4], m[5]);
	row_set_text(row, "address", text);
	row_set_count(row, "mtu", p->mtu);
	describe_receive(c, row);
	describe_limits(c, row);
}
