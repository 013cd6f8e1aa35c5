/* datapath/dp_echo.c - forwards every frame of two ports to the other one, unchanged
 *
 *   dp_echo PORT PORT RX-PACKETS TX-PACKETS MTU striding|cyclic
 *
 * Prints "ready", forwards until SIGTERM, waits for what is under way, and prints what it counted.
 * For wires that make and check frames themselves.
 */

#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../lib/base/time.h"
#include "../test.h"
#include "rig.h"

struct port {
	struct m5_dev *dev;
	struct m5_rxq *rxq;
	struct m5_txq *txq;
	struct m5_steer *steer;
	struct m5_rx *rx;
	struct m5_tx *tx;
	uint64_t received, sent, dropped;
};

static struct port port[2];
static volatile sig_atomic_t stopped;

static void on_term(int sig)
{
	(void)sig;
	stopped = 1;
}

static void must(int r, const struct err *err)
{
	if (r >= 0)
		return;
	fprintf(stderr, "dp_echo: %s\n", err->text);
	exit(1);
}

static void open_port(struct port *p, char **argv, struct m5_dev *const peers[2])
{
	struct m5_rxq_conf rx = { .packets = (uint32_t)atoi(argv[3]),
				  .mtu = (uint16_t)atoi(argv[5]),
				  .numa_node = -1,
				  .striding = !strcmp(argv[6], "striding"),
				  .peers = peers,
				  .n_peers = 2 };
	struct m5_txq_conf tx = { .packets = (uint32_t)atoi(argv[4]), .numa_node = -1 };
	struct err err, warn;

	must(m5_txq_open(p->dev, &tx, &err, &p->txq), &err);
	must(m5_txq_start(p->txq, &err), &err);
	must(m5_rxq_open(p->dev, &rx, &warn, &err, &p->rxq), &err);
	must(m5_rxq_start(p->rxq, &err), &err);
	p->rx = m5_rxq_hot(p->rxq);
	p->tx = m5_txq_hot(p->txq);
}

static void steer(struct port *p, const char *netdev)
{
	struct m5_steer_conf conf = { .rxq = &p->rxq, .n_rxq = 1 };
	struct err err;

	netdev_mac(netdev, conf.mac);
	must(m5_steer_open(p->dev, &conf, &err, &p->steer), &err);
	must(m5_steer_transit(p->steer, true, &err), &err);
}

static uint32_t turn(struct port *in, struct port *out)
{
	struct m5_pkt pkt[32];
	uint32_t n = m5_rx_burst(in->rx, pkt, 32);

	for (uint32_t i = 0; i < n; i++) {
		if (m5_tx_queue(out->tx, in->rx, &pkt[i])) {
			out->sent++;
		} else {
			out->dropped++;
			m5_rx_put(in->rx, pkt[i].wqe, 1);
		}
	}
	in->received += n;
	m5_tx_ring(out->tx);
	m5_tx_reap(out->tx);
	return n;
}

static void run(void)
{
	uint64_t end = 0;

	while (!stopped || time_ns() < end) {
		if (!(turn(&port[0], &port[1]) | turn(&port[1], &port[0])))
			sched_yield();
		if (stopped && !end)
			end = time_ns() + 100 * NS_PER_MS;
	}
}

static void report(const struct port *p, const char *name)
{
	const struct {
		const char *what;
		uint64_t n;
	} row[] = {
		{ "received", p->received },
		{ "sent", p->sent },
		{ "dropped", p->dropped },
		{ "fillers", p->rx->fillers },
		{ "lost_step", p->rx->out_of_step },
		{ "errors", p->rx->errors + p->tx->errors },
	};

	for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++)
		printf("%s %s %llu\n", name, row[i].what, (unsigned long long)row[i].n);
}

static void close_ports(void)
{
	for (unsigned i = 0; i < 2; i++) {
		m5_steer_close(port[i].steer);
		m5_txq_close(port[i].txq);
	}
	for (unsigned i = 0; i < 2; i++)
		m5_rxq_close(port[i].rxq);
	for (unsigned i = 0; i < 2; i++)
		m5_dev_close(port[i].dev);
}

int main(int argc, char **argv)
{
	struct m5_dev *peers[2];
	struct err err;

	if (argc != 7) {
		fprintf(stderr,
			"use: dp_echo PORT PORT RX-PACKETS TX-PACKETS MTU striding|cyclic\n");
		return 1;
	}
	signal(SIGTERM, on_term);
	for (unsigned i = 0; i < 2; i++) {
		must(m5_dev_open(argv[1 + i], i, &err, &port[i].dev), &err);
		peers[i] = port[i].dev;
	}
	for (unsigned i = 0; i < 2; i++)
		open_port(&port[i], argv, peers);
	for (unsigned i = 0; i < 2; i++)
		steer(&port[i], argv[1 + i]);
	printf("ready\n");
	fflush(stdout);
	run();
	for (unsigned i = 0; i < 2; i++)
		report(&port[i], argv[1 + i]);
	close_ports();
	return 0;
}
