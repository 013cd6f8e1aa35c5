/* m5/txq.h - a send queue and its completion queue
 *
 * Same life as a receive queue. Packets wait in the ring until m5_tx_ring(); their
 * memory is held until the completion that covers them.
 */
#pragma once

#include "dev.h"

struct m5_tx; /* tx_hot.h */
struct m5_txq;

struct m5_txq_conf {
	uint32_t packets; /* that can be in flight; power of two */
	int numa_node;
};

int m5_txq_open(struct m5_dev *dev, const struct m5_txq_conf *conf, struct err *err,
		struct m5_txq **ret);
size_t
m5_txq_bytes(const struct m5_txq_conf *conf); /* that m5_txq_open() would register */
int m5_txq_start(struct m5_txq *q, struct err *err);
int m5_txq_reset(struct m5_txq *q, struct err *err); /* gives back every packet it held */
/* The device is lost: gives back what the queue held, which it will never send, so that the
 * receive queues of other ports do not wait for it. The worker must not be in the queue. */
void m5_txq_abandon(struct m5_txq *q);
void m5_txq_close(struct m5_txq *q);

struct m5_tx *m5_txq_hot(struct m5_txq *q);
uint32_t m5_txq_num(const struct m5_txq *q);
uint32_t m5_txq_packets(const struct m5_txq *q);
