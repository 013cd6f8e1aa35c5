/* control/mlx5pkt.h - a card without the daemon: ports, their queues, and who serves them
 *
 *   pkt_options.c   the command line     pkt_port.c   device, queues, rules, what is known of them
 *   mlx5pkt.c       commands, rows       pkt_run.c    threads: receive and count, or send back
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "../lib/base/err.h"
#include "../lib/m5/rxq.h"
#include "../lib/m5/txq.h"

struct row;

enum { PKT_PORTS_MAX = M5_DEVS_MAX, PKT_QUEUES_MAX = 64, PKT_CPUS_MAX = 64 };

enum pkt_command { PKT_INFO, PKT_DROP, PKT_REFLECT };

struct pkt_options {
	enum pkt_command command;
	const char *port[PKT_PORTS_MAX];
	unsigned n_ports;
	uint32_t queues; /* and workers */
	int cpu[PKT_CPUS_MAX];
	unsigned n_cpus; /* 0 = choose */
	uint32_t packets;
	uint32_t striding, compression; /* yes or no; enum m5_compression */
	uint32_t send, rings, doorbell; /* enum m5_send; 0 = choose; enum m5_doorbell */
	uint32_t interval_s, seconds;	/* 0 = never, no end */
	bool json;
};

/* Return: -1 = go on, else the status to exit with; what there was to say is said. */
int pkt_options_parse(int argc, char **argv, struct pkt_options *ret);

struct pkt_port {
	const char *netdev;
	struct m5_dev *dev;
	struct m5_steer *steer;
	struct m5_rxq *rxq[PKT_QUEUES_MAX];
	struct m5_txq *txq[PKT_QUEUES_MAX]; /* PKT_REFLECT */
	uint8_t mac[6];
	uint32_t mtu;
};

/* Opens the device; info needs no more. */
int pkt_port_open(struct pkt_port *p, const char *netdev, unsigned index,
		  struct err *err);
int pkt_port_start(struct pkt_port *p, const struct pkt_options *o, struct err *err);
/* From now on packets come. What is for an address of this host stays with the kernel. */
int pkt_port_steer(struct pkt_port *p, const struct pkt_options *o, struct err *err);
void pkt_port_release(struct pkt_port *p); /* no more come */
void pkt_port_close(struct pkt_port *p);
void pkt_port_describe(const struct pkt_port *p, struct row *row);

/* Serves the ports until a signal, the end of time, or a queue that fails. @say: rows of rates,
 * then of sums. */
int pkt_run(struct pkt_port port[], const struct pkt_options *o,
	    void (*say)(const struct row *row), struct err *err);
