/* reflect.c - sends back what comes in by a ConnectX port, and counts it
 *
 *     cc -O2 reflect.c -o reflect $(pkg-config --cflags --libs m5io)
 *     sudo ./reflect eth0
 *
 * One queue each way, one thread. It gets IPv4 and IPv6 to the port's MAC address, except for
 * what is for an address of this host: that and all else stays with the kernel. SIGINT or
 * SIGTERM ends it, and the kernel has the port back.
 */
#include <ifaddrs.h>
#include <inttypes.h>
#include <net/if.h>
#include <netinet/in.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <m5/rx_hot.h>
#include <m5/steer.h>
#include <m5/tx_hot.h>

struct port {
	struct m5_dev *dev;
	struct m5_rxq *rxq;
	struct m5_txq *txq;
	struct m5_steer *steer;
	uint8_t mac[6];
	uint16_t mtu;
};

static volatile sig_atomic_t stop;

static void on_signal(int number)
{
	(void)number;
	stop = 1;
}

static int netdev_read(struct port *p, const char *name, struct err *err)
{
	int fd = socket(AF_INET, SOCK_DGRAM, 0), r = 0;
	struct ifreq mac = { 0 }, mtu = { 0 };

	snprintf(mac.ifr_name, sizeof(mac.ifr_name), "%s", name);
	snprintf(mtu.ifr_name, sizeof(mtu.ifr_name), "%s", name);
	if (ioctl(fd, SIOCGIFHWADDR, &mac) || ioctl(fd, SIOCGIFMTU, &mtu))
		r = err_set(err, -errno, "%s: %s", name, strerror(errno));
	memcpy(p->mac, mac.ifr_hwaddr.sa_data, sizeof(p->mac));
	p->mtu = (uint16_t)mtu.ifr_mtu;
	close(fd);
	return r;
}

static int keep_local(struct m5_steer *steer, const struct sockaddr *sa, struct err *err)
{
	uint8_t addr[16] = { 0 };

	if (sa && sa->sa_family == AF_INET) {
		memcpy(addr, &((const struct sockaddr_in *)sa)->sin_addr, 4);
		return m5_steer_local_add(steer, 4, addr, err);
	}
	if (!sa || sa->sa_family != AF_INET6)
		return 0;
	memcpy(addr, &((const struct sockaddr_in6 *)sa)->sin6_addr, 16);
	return m5_steer_local_add(steer, 6, addr, err);
}

static int keep_locals(struct m5_steer *steer, struct err *err)
{
	struct ifaddrs *list, *a;
	int r = 0;

	if (getifaddrs(&list))
		return err_set(err, -errno, "addresses of this host: %s",
			       strerror(errno));
	for (a = list; a && !r; a = a->ifa_next)
		r = keep_local(steer, a->ifa_addr, err);
	freeifaddrs(list);
	return r;
}

static int queues_open(struct port *p, struct err *err)
{
	struct m5_txq_conf send = { .packets = 1024, .numa_node = -1, .n_queues = 1 };
	struct m5_rxq_conf receive = { .packets = 1024,
				       .mtu = p->mtu,
				       .numa_node = -1,
				       .striding = true, /* where the card can */
				       .peers = &p->dev,
				       .n_peers = 1 };
	struct err warn = { "" };
	int r = m5_txq_open(p->dev, &send, err, &p->txq);

	if (!r)
		r = m5_txq_start(p->txq, err);
	if (!r)
		r = m5_rxq_open(p->dev, &receive, &warn, err, &p->rxq);
	if (!r)
		r = m5_rxq_start(p->rxq, err);
	if (warn.text[0])
		fprintf(stderr, "reflect: %s\n", warn.text);
	return r;
}

/* Packets come when the last step is done. */
static int port_open(struct port *p, const char *name, struct err *err)
{
	struct m5_steer_conf steer = { .n_rxq = 1 };
	int r = m5_dev_open(name, 0, err, &p->dev);

	if (!r)
		r = netdev_read(p, name, err);
	if (!r)
		r = queues_open(p, err);
	memcpy(steer.mac, p->mac, sizeof(steer.mac));
	steer.rxq = &p->rxq;
	if (!r)
		r = m5_steer_open(p->dev, &steer, err, &p->steer);
	if (!r)
		r = keep_locals(p->steer, err);
	return r ? r : m5_steer_transit(p->steer, true, err);
}

/* The send queue holds memory of the receive queue, so it goes first. */
static void port_close(struct port *p)
{
	m5_steer_close(p->steer);
	m5_txq_close(p->txq);
	m5_rxq_close(p->rxq);
	m5_dev_close(p->dev);
}

static void swap_macs(uint8_t *frame)
{
	uint8_t to[6];

	memcpy(to, frame, 6);
	memcpy(frame, frame + 6, 6);
	memcpy(frame + 6, to, 6);
}

/* Return: packets that were sent; those that found no room are given back here. */
static uint32_t turn(struct m5_rx *rx, struct m5_tx *tx)
{
	struct m5_pkt pkt[64];
	uint32_t n, sent;

	m5_tx_reap(tx);
	n = m5_rx_burst(rx, pkt, 64);
	for (uint32_t i = 0; i < n; i++)
		swap_macs(pkt[i].data);
	sent = m5_tx_burst(tx, rx, pkt, n, false);
	m5_tx_ring(tx); /* one doorbell a burst */
	for (uint32_t i = sent; i < n; i++)
		m5_rx_put(rx, pkt[i].wqe, 1);
	return sent;
}

int main(int argc, char **argv)
{
	struct port port = { .dev = NULL };
	struct err err = { "" };
	uint64_t sent = 0;
	struct m5_rx *rx;
	struct m5_tx *tx;

	signal(SIGINT, on_signal);
	signal(SIGTERM, on_signal);
	if (argc != 2 || port_open(&port, argv[1], &err)) {
		fprintf(stderr, "reflect: %s\n", argc == 2 ? err.text : "name one port");
		port_close(&port);
		return 1;
	}
	rx = m5_rxq_hot(port.rxq);
	tx = m5_txq_hot(port.txq);
	puts("ready");
	fflush(stdout);
	while (!stop && !m5_rx_failed(rx) && !m5_tx_failed(tx))
		sent += turn(rx, tx);
	m5_steer_transit(port.steer, false, NULL);
	while (!m5_tx_idle(tx) &&
	       !m5_tx_failed(tx)) /* the device still reads our memory */
		sent += turn(rx, tx);
	printf("sent %" PRIu64 "\n", sent);
	port_close(&port);
	return 0;
}
