/* datapath/rig.c - ports, packet sockets, control socket for the test programs */

#include "rig.h"

#include <arpa/inet.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "../../lib/base/time.h"
#include "../test.h"

/* ---- the model's control socket ---- */

static FILE *dial(void)
{
	struct sockaddr_un sa = { .sun_family = AF_UNIX };
	const char *dir = getenv("CXMODEL");
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_non_null(dir);
	assert_true(fd >= 0);
	snprintf(sa.sun_path, sizeof(sa.sun_path), "%.90s/ctl.sock", dir);
	assert_return_code(connect(fd, (struct sockaddr *)&sa, sizeof(sa)), 0);
	return fdopen(fd, "r+");
}

const char *ctl(const char *fmt, ...)
{
	static char answer[1 << 20];
	static FILE *f;
	char line[512];
	size_t used = 0;
	va_list ap;

	if (!f)
		f = dial();
	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	fprintf(f, "%s\n", line);
	fflush(f);
	answer[0] = '\0';
	while (fgets(answer + used, (int)(sizeof(answer) - used), f)) {
		if (!strcmp(answer + used, "ok\n")) {
			answer[used] = '\0';
			return answer;
		}
		if (!strncmp(answer + used, "error ", 6))
			fail_msg("ctl %s: %s", line, answer + used);
		used += strlen(answer + used);
	}
	fail_msg("ctl %s: the model is gone", line);
	return NULL;
}

static uint64_t number_in(const char *text, const char *name)
{
	size_t len = strlen(name);

	for (const char *p = text; p && *p;
	     p = strchr(p, '\n') ? strchr(p, '\n') + 1 : NULL)
		if (!strncmp(p, name, len) && p[len] == ' ')
			return strtoull(p + len + 1, NULL, 10);
	fail_msg("no line \"%s\" in: %s", name, text);
	return 0;
}

uint64_t ctl_number(const char *line, const char *name)
{
	return number_in(ctl("%s", line), name);
}

void ctl_wait(const char *line, const char *name, uint64_t want)
{
	uint64_t end = time_ns() + 10 * NS_PER_S, is = 0;

	while (time_ns() < end) {
		is = ctl_number(line, name);
		if (is == want)
			return;
		usleep(1000);
	}
	fail_msg("%s of \"%s\" is %llu, not %llu", name, line, (unsigned long long)is,
		 (unsigned long long)want);
}

static void read_census(char text[1024])
{
	const char *all = ctl("stat"), *end = strstr(all, "\nmapped_bytes ");

	assert_non_null(end);
	assert_true(end - all < 1000);
	memcpy(text, all, (size_t)(end - all));
	text[end - all] = '\0';
}

void ctl_census(char text[1024], uint64_t clients)
{
	ctl_wait("stat", "clients", clients);
	read_census(text);
}

/* The first line in which they differ. */
static void say_difference(const char *a, const char *b)
{
	char one[64], two[64];

	while (sscanf(a, "%63[^\n]", one) == 1 && sscanf(b, "%63[^\n]", two) == 1) {
		if (strcmp(one, two) != 0)
			fail_msg("before: %s, now: %s", one, two);
		a += strlen(one) + (a[strlen(one)] != '\0');
		b += strlen(two) + (b[strlen(two)] != '\0');
	}
	assert_string_equal(a, b);
}

void ctl_same_census(const char before[1024])
{
	uint64_t end = time_ns() + 5 * NS_PER_S;
	char now[1024];

	do {
		read_census(now);
		if (!strcmp(before, now))
			return;
		usleep(2000);
	} while (time_ns() < end);
	say_difference(before, now);
}

/* ---- frames ---- */

static const uint8_t test_smac[6] = { 0x02, 0xfe, 0x00, 0x00, 0x00, 0x01 };

static uint32_t sum_be16(uint32_t sum, const uint8_t *p, uint32_t len)
{
	for (uint32_t i = 0; i < len; i++)
		sum += i % 2 ? p[i] : (uint32_t)p[i] << 8;
	return sum;
}

static uint16_t fold(uint32_t sum)
{
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)~sum;
}

static void put16(uint8_t *p, uint32_t v)
{
	p[0] = (uint8_t)(v >> 8);
	p[1] = (uint8_t)v;
}

static void make_ip4(uint8_t *ip, uint32_t bytes, uint32_t number)
{
	ip[0] = 0x45;
	put16(ip + 2, bytes);
	put16(ip + 4, number);
	ip[8] = 64;
	ip[9] = IPPROTO_UDP;
	ip[12] = 198;
	ip[13] = 18;
	put16(ip + 14, number);
	memcpy(ip + 16, (const uint8_t[]){ 203, 0, 113, 7 }, 4);
	put16(ip + 10, fold(sum_be16(0, ip, 20)));
}

static void make_ip6(uint8_t *ip, uint32_t bytes, uint32_t number)
{
	ip[0] = 0x60;
	put16(ip + 4, bytes - 40);
	ip[6] = IPPROTO_UDP;
	ip[7] = 64;
	ip[8] = 0x20;
	ip[9] = 1;
	ip[10] = 2;
	put16(ip + 22, number);
	memcpy(ip + 24, (const uint8_t[]){ 0x20, 1, 0x0d, 0xb8, 0, 1 }, 6);
	ip[39] = 7;
}

/* Checksum of the IP addresses on (8 or 32 bytes), as RFC 768 and RFC 8200 8.1 want it. */
static void make_udp(uint8_t *udp, uint32_t bytes, uint32_t number, uint32_t addr_bytes)
{
	uint16_t sum;

	put16(udp, 1024 + number % 50000);
	put16(udp + 2, 9);
	put16(udp + 4, bytes);
	for (uint32_t i = 8; i < bytes; i++)
		udp[i] = (uint8_t)(i * 7 + number + number / 256 * 31);
	sum = fold(sum_be16(IPPROTO_UDP + bytes, udp - addr_bytes, addr_bytes + bytes));
	put16(udp + 6, sum ? sum : 0xffff);
}

void frame_make(struct frame *f, unsigned family, uint32_t len, uint32_t number,
		const uint8_t dmac[6])
{
	uint32_t ip_bytes = family == 4 ? 20 : 40;

	assert_in_range(len, 14 + ip_bytes + 8, FRAME_MAX);
	memset(f->bytes, 0, 14 + ip_bytes + 8);
	f->len = len;
	memcpy(f->bytes, dmac, 6);
	memcpy(f->bytes + 6, test_smac, 6);
	put16(f->bytes + 12, family == 4 ? ETH_P_IP : ETH_P_IPV6);
	if (family == 4)
		make_ip4(f->bytes + 14, len - 14, number);
	else
		make_ip6(f->bytes + 14, len - 14, number);
	make_udp(f->bytes + 14 + ip_bytes, len - 14 - ip_bytes, number,
		 family == 4 ? 8 : 32);
}

void frame_equal(const struct frame *f, const uint8_t *bytes, uint32_t len)
{
	assert_int_equal(len, f->len);
	assert_memory_equal(bytes, f->bytes, len);
}

/* ---- packet sockets ---- */

int wire_open(const char *netdev)
{
	struct sockaddr_ll sa = { .sll_family = AF_PACKET,
				  .sll_protocol = htons(ETH_P_ALL),
				  .sll_ifindex = (int)if_nametoindex(netdev) };
	struct packet_mreq all = { .mr_ifindex = sa.sll_ifindex,
				   .mr_type = PACKET_MR_PROMISC };
	int fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0), on = 1, room = 8 << 20;

	assert_true(fd >= 0);
	assert_return_code(
		setsockopt(fd, SOL_PACKET, PACKET_IGNORE_OUTGOING, &on, sizeof(on)), 0);
	assert_return_code(
		setsockopt(fd, SOL_PACKET, PACKET_ADD_MEMBERSHIP, &all, sizeof(all)), 0);
	assert_return_code(
		setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof(room)), 0);
	assert_return_code(setsockopt(fd, SOL_PACKET, PACKET_AUXDATA, &on, sizeof(on)),
			   0);
	assert_return_code(bind(fd, (struct sockaddr *)&sa, sizeof(sa)), 0);
	return fd;
}

void wire_send(int fd, const struct frame *f)
{
	assert_int_equal(send(fd, f->bytes, f->len, 0), f->len);
}

/* The kernel takes a VLAN tag out of the frame, and hands it beside it. */
static void put_tag_back(struct frame *f, struct msghdr *msg)
{
	struct cmsghdr *c = CMSG_FIRSTHDR(msg);
	struct tpacket_auxdata aux;

	assert_non_null(c);
	assert_int_equal(c->cmsg_type, PACKET_AUXDATA);
	memcpy(&aux, CMSG_DATA(c), sizeof(aux));
	if (!(aux.tp_status & TP_STATUS_VLAN_VALID))
		return;
	assert_in_range(f->len, 14, FRAME_MAX - 4);
	memmove(f->bytes + 16, f->bytes + 12, f->len - 12);
	put16(f->bytes + 12, aux.tp_vlan_tpid);
	put16(f->bytes + 14, aux.tp_vlan_tci);
	f->len += 4;
}

bool wire_receive(int fd, struct frame *f, int ms)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	uint8_t control[128];

	while (poll(&p, 1, ms) == 1) {
		struct iovec iov = { f->bytes, sizeof(f->bytes) };
		struct msghdr msg = { .msg_iov = &iov,
				      .msg_iovlen = 1,
				      .msg_control = control,
				      .msg_controllen = sizeof(control) };
		ssize_t n = recvmsg(fd, &msg, 0);

		assert_true(n > 0);
		f->len = (uint32_t)n;
		if (n < 14 || memcmp(f->bytes + 6, test_smac, sizeof(test_smac)) != 0)
			continue;
		put_tag_back(f, &msg);
		return true;
	}
	return false;
}

/* ---- a port with queues ---- */

void rig_ok(int r, const struct err *err)
{
	if (r < 0)
		fail_msg("%s: %s", err_symbol(r), err->text);
}

void netdev_mac(const char *netdev, uint8_t mac[6])
{
	char path[64];
	FILE *f;

	snprintf(path, sizeof(path), "/sys/class/net/%.15s/address", netdev);
	f = fopen(path, "re");
	assert_non_null(f);
	assert_int_equal(fscanf(f, "%hhx:%hhx:%hhx:%hhx:%hhx:%hhx", &mac[0], &mac[1],
				&mac[2], &mac[3], &mac[4], &mac[5]),
			 6);
	fclose(f);
}

static void open_queues(struct rig *r, const struct rig_conf *conf)
{
	struct m5_rxq_conf rx = { .packets = conf->rx_packets ? conf->rx_packets : 256,
				  .mtu = conf->mtu ? conf->mtu : 1500,
				  .numa_node = -1,
				  .striding = !conf->cyclic,
				  .strip_vlan = conf->strip_vlan,
				  .compression = conf->compression,
				  .mini = conf->mini,
				  .prefetch = conf->prefetch,
				  .bytes_max = conf->rx_bytes_max,
				  .peers = &r->dev,
				  .n_peers = 1 };
	struct m5_txq_conf tx = conf->tx;

	tx.packets = conf->tx_packets ? conf->tx_packets : 256;
	tx.numa_node = -1;
	rig_ok(m5_txq_open(r->dev, &tx, &r->err, &r->txq), &r->err);
	rig_ok(m5_txq_start(r->txq, &r->err), &r->err);
	r->tx = m5_txq_hot(r->txq);
	for (unsigned i = 0; i < r->n_rxq; i++) {
		rig_ok(m5_rxq_open(r->dev, &rx, &r->warn, &r->err, &r->rxq[i]), &r->err);
		rig_ok(m5_rxq_start(r->rxq[i], &r->err), &r->err);
	}
	r->rx = m5_rxq_hot(r->rxq[0]);
}

void rig_open(struct rig *r, const struct rig_conf *conf)
{
	const char *netdev = conf->netdev ? conf->netdev : "eth0";
	struct m5_steer_conf steer;

	memset(r, 0, sizeof(*r));
	r->n_rxq = conf->n_rxq ? conf->n_rxq : 1;
	netdev_mac(netdev, r->mac);
	rig_ok(m5_dev_open(netdev, 0, &r->err, &r->dev), &r->err);
	open_queues(r, conf);
	memcpy(steer.mac, r->mac, sizeof(steer.mac));
	steer.rxq = r->rxq;
	steer.n_rxq = r->n_rxq;
	rig_ok(m5_steer_open(r->dev, &steer, &r->err, &r->steer), &r->err);
	rig_ok(m5_steer_transit(r->steer, true, &r->err), &r->err);
}

void rig_close(struct rig *r)
{
	m5_steer_close(r->steer);
	m5_txq_close(r->txq);
	for (unsigned i = 0; i < r->n_rxq; i++)
		m5_rxq_close(r->rxq[i]);
	m5_dev_close(r->dev);
	memset(r, 0, sizeof(*r));
}

uint32_t rig_receive(struct m5_rx *rx, struct m5_pkt pkt[], uint32_t n, int ms)
{
	uint64_t end = time_ns() + (uint64_t)ms * NS_PER_MS;
	uint32_t have = 0, got;

	while (have < n && time_ns() < end) {
		got = m5_rx_burst(rx, pkt + have, n - have < 32 ? n - have : 32);
		have += got;
		if (got)
			end = time_ns() + (uint64_t)ms * NS_PER_MS;
		else
			usleep(50);
	}
	return have;
}

void rig_receive_all(struct m5_rx *rx, struct m5_pkt pkt[], uint32_t n)
{
	uint32_t have = rig_receive(rx, pkt, n, 2000);

	if (have == n)
		return;
	print_message("eth0:\n%s", ctl("stats eth0"));
	print_message("eth1:\n%s", ctl("stats eth1"));
	fail_msg("%u packets of %u; failed %d, errors %llu, out of step %llu", have, n,
		 rx->failed, (unsigned long long)rx->errors,
		 (unsigned long long)rx->out_of_step);
}

void rig_put(struct m5_rx *rx, const struct m5_pkt pkt[], uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		m5_rx_put(rx, pkt[i].wqe, 1);
}

void rig_sent(struct m5_tx *tx)
{
	uint64_t end = time_ns() + 10 * NS_PER_S;

	while (!m5_tx_idle(tx) && !m5_tx_failed(tx) && time_ns() < end) {
		m5_tx_reap(tx);
		usleep(20);
	}
	assert_true(m5_tx_idle(tx));
}

/* ---- memory to send from ---- */

void source_open(struct source *s, size_t bytes, struct m5_dev *const dev[],
		 unsigned n_dev)
{
	struct err err, warn;

	memset(s, 0, sizeof(*s));
	assert_return_code(m5_mem_map(&s->mem, bytes, -1, &warn), 0);
	for (unsigned i = 0; i < n_dev; i++)
		rig_ok(m5_mem_register(&s->mem, dev[i], &err), &err);
	memcpy(s->rx.lkey, s->mem.lkey, sizeof(s->rx.lkey));
	s->rx.refs = &s->out;
}

void source_close(struct source *s)
{
	m5_mem_unmap(&s->mem);
}

bool source_queue(struct source *s, struct m5_tx *tx, size_t at, const struct frame *f)
{
	struct m5_pkt pkt = { .data = s->mem.base + at, .len = (uint16_t)f->len };

	assert_true(at + f->len <= s->mem.bytes);
	memcpy(pkt.data, f->bytes, f->len);
	s->out++;
	if (m5_tx_queue(tx, &s->rx, &pkt))
		return true;
	s->out--;
	return false;
}

/* ---- another port as the sender ---- */

enum { PEER_PACKETS = 1024, PEER_SLOT = 9216 };

void peer_open(struct peer *p, const char *netdev)
{
	struct m5_txq_conf conf = { .packets = PEER_PACKETS, .numa_node = -1 };
	struct err err;

	memset(p, 0, sizeof(*p));
	rig_ok(m5_dev_open(netdev, 1, &err, &p->dev), &err);
	rig_ok(m5_txq_open(p->dev, &conf, &err, &p->txq), &err);
	rig_ok(m5_txq_start(p->txq, &err), &err);
	source_open(&p->source, (size_t)PEER_PACKETS * PEER_SLOT, &p->dev, 1);
}

void peer_close(struct peer *p)
{
	rig_sent(m5_txq_hot(p->txq));
	source_close(&p->source);
	m5_txq_close(p->txq);
	m5_dev_close(p->dev);
}

void peer_send(struct peer *p, const struct frame f[], uint32_t n)
{
	struct m5_tx *tx = m5_txq_hot(p->txq);

	for (uint32_t i = 0; i < n; i++)
		assert_true(source_queue(&p->source, tx, (size_t)i * PEER_SLOT, &f[i]));
	m5_tx_ring(tx);
	rig_sent(tx);
}
