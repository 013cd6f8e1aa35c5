/* bench/fib/ringport.c - a port for l3fwd that is a ring; preloaded, l3fwd is as it is
 *
 * What is put in the place of DPDK's functions: rte_eal_init() also makes the port,
 * rte_eth_dev_start() fills it, and three that configure it leave out what a ring cannot
 * do (receive checksums; packet types, which are in the packets that circulate). The
 * functions that forwarding calls are not touched.
 */

#include <dlfcn.h>
#include <pthread.h>
#include <rte_eal.h>
#include <rte_eth_ring.h>
#include <rte_ethdev.h>
#include <rte_mbuf.h>
#include <stdlib.h>
#include <unistd.h>

#include "clock.h"
#include "destinations.h"
#include "packet.h"
#include "ringport.h"

enum { RING = 32768, ROOM = PACKET_ROOM, IO_BURST = 32, START_TTL = 64, COUNTS = 100 };

static struct rte_ring *ring;
static uint16_t port;
static unsigned flight;
static pthread_t forwarder;

__attribute__((noreturn)) static void fail(const char *what)
{
	fprintf(stderr, "ringport: %s\n", what);
	_exit(3);
}

/* The function of that name that would be called without us. */
#define REAL(name) ((__typeof__(&name))(uintptr_t)real(#name))

static void *real(const char *name)
{
	void *f = dlsym(RTLD_NEXT, name);

	if (!f)
		fail(name);
	return f;
}

static const char *setting(const char *name)
{
	const char *value = getenv(name);

	if (!value)
		fail(name);
	return value;
}

/* ---- configuration ---- */

int rte_eal_init(int argc, char **argv)
{
	int r = REAL(rte_eal_init)(argc, argv), p;

	if (r < 0)
		return r;
	ring = rte_ring_create("ringport", RING, 0, RING_F_SP_ENQ | RING_F_SC_DEQ);
	p = ring ? rte_eth_from_rings("ringport", &ring, 1, &ring, 1, 0) : -1;
	if (p < 0)
		fail("no port");
	port = (uint16_t)p;
	return r;
}

int rte_eth_dev_configure(uint16_t id, uint16_t rx, uint16_t tx,
			  const struct rte_eth_conf *conf)
{
	struct rte_eth_conf less = *conf;

	less.rxmode.offloads = 0;
	return REAL(rte_eth_dev_configure)(id, rx, tx, &less);
}

int rte_eth_rx_queue_setup(uint16_t id, uint16_t queue, uint16_t n, unsigned socket,
			   const struct rte_eth_rxconf *conf, struct rte_mempool *pool)
{
	struct rte_eth_rxconf less = *conf;

	less.offloads = 0;
	return REAL(rte_eth_rx_queue_setup)(id, queue, n, socket, &less, pool);
}

int rte_eth_dev_get_supported_ptypes(uint16_t id, uint32_t mask, uint32_t *types, int n)
{
	static const uint32_t ours[] = { RTE_PTYPE_L3_IPV4, RTE_PTYPE_L3_IPV6 };

	(void)id;
	(void)mask;
	for (int i = 0; i < n && i < 2; i++)
		types[i] = ours[i];
	return 2;
}

/* ---- packets ---- */

static void inject(unsigned family)
{
	struct rte_mempool *pool =
		rte_pktmbuf_pool_create("ringport", flight + 1024, 0, 0, ROOM, 0);
	FILE *list = fopen(setting("RINGPORT_DST"), "r");
	uint8_t dst[16];

	if (!pool || !list)
		fail("no packets");
	for (unsigned i = 0; i < flight; i++) {
		struct rte_mbuf *m = rte_pktmbuf_alloc(pool);

		if (!m || !destinations_next(list, family, dst))
			fail("no packet");
		m->data_len = packet_make(rte_pktmbuf_mtod(m, uint8_t *), family, dst,
					  START_TTL);
		m->pkt_len = m->data_len;
		m->packet_type = RTE_PTYPE_L2_ETHER |
				 (family == 4 ? RTE_PTYPE_L3_IPV4 : RTE_PTYPE_L3_IPV6);
		if (rte_ring_enqueue(ring, m))
			fail("ring full");
	}
	fclose(list);
}

/* ---- questions ---- */

/* Both ends of the ring move while it is counted, so a count may be anything; the most of
 * many is a moment at which all were there. */
static uint32_t count(void)
{
	uint32_t most = 0;

	for (unsigned i = 0; i < COUNTS; i++) {
		uint32_t n = rte_ring_count(ring);

		most = n > most && n <= flight ? n : most;
	}
	return most;
}

static void *tell(void *arg)
{
	char question;

	(void)arg;
	while (read(RINGPORT_ASK, &question, 1) == 1) {
		struct ringport_state s = { .in_ring = count() };
		struct rte_eth_stats stats;
		clockid_t clock;

		if (rte_eth_stats_get(port, &stats) ||
		    pthread_getcpuclockid(forwarder, &clock))
			fail("no figures");
		s.packets = stats.ipackets;
		s.own_ns = clock_ns(clock);
		if (write(RINGPORT_TELL, &s, sizeof(s)) != sizeof(s))
			break;
	}
	_exit(0);
}

static void only_io(void)
{
	struct rte_mbuf *m[IO_BURST];

	for (;;) {
		uint16_t n = rte_eth_rx_burst(port, 0, m, IO_BURST);

		rte_eth_tx_burst(port, 0, m, n);
	}
}

int rte_eth_dev_start(uint16_t id)
{
	int r = REAL(rte_eth_dev_start)(id);
	pthread_t teller;
	cpu_set_t other;

	if (r < 0)
		return r;
	flight = (unsigned)atoi(setting("RINGPORT_FLIGHT"));
	inject((unsigned)atoi(setting("RINGPORT_FAMILY")));
	forwarder = pthread_self(); /* l3fwd's only core is its main one */
	CPU_ZERO(&other);
	CPU_SET(atoi(setting("RINGPORT_CORE")), &other);
	if (pthread_create(&teller, NULL, tell, NULL) ||
	    pthread_setaffinity_np(teller, sizeof(other), &other))
		fail("no thread");
	if (getenv("RINGPORT_IO_ONLY"))
		only_io();
	return r;
}
