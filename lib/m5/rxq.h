/* m5/rxq.h - a receive queue and its completion queue
 *
 * One queue owns one region, cut into WQEs, each WQE into strides:
 *
 *   region = n_wqe x [ stride 0 | stride 1 | ... ]
 *
 * A packet occupies whole strides. Whoever takes a packet from m5_rx_burst() holds
 * a reference on its WQE until m5_rx_put(); a WQE goes back to the device, in ring
 * order, when it is used up and its last reference is gone. Where the device has no
 * striding receive queue a WQE is one stride, as long as the port's longest frame.
 *
 * State: open -> RESET -start-> READY -error completion-> ERROR -reset-> RESET -start-> READY
 *        any -close-> gone.
 *
 * Set-up only; the receive path is rx_hot.h. Context: control thread, sleeps.
 */
#pragma once

#include "dev.h"
#include "mem.h"

struct m5_rx; /* rx_hot.h */
struct m5_rxq;

struct m5_rxq_conf {
	uint32_t packets;	     /* ring depth in packets up to 2 KiB; power of two */
	uint16_t mtu;		     /* of the netdev; larger frames are not received */
	int numa_node;		     /* where the memory lives, -1 = the device's */
	bool striding;		     /* false: cyclic even where striding is there */
	struct m5_dev *const *peers; /* of other ports, for sending from this memory */
	unsigned n_peers;
};

int m5_rxq_open(struct m5_dev *dev, const struct m5_rxq_conf *conf, struct err *warn,
		struct err *err, struct m5_rxq **ret);
/* Bytes that m5_rxq_open() would register, once for each device that knows them;
 * 0 = it would fail. */
size_t m5_rxq_bytes(struct m5_dev *dev, const struct m5_rxq_conf *conf);
int m5_rxq_start(struct m5_rxq *q, struct err *err); /* posts every WQE, RESET -> READY */
/* ERROR or READY -> RESET; the worker must not be in m5_rx_burst(), no packet may be out. */
int m5_rxq_reset(struct m5_rxq *q, struct err *err);
void m5_rxq_close(struct m5_rxq *q); /* any state, NULL too */

struct m5_rx *m5_rxq_hot(struct m5_rxq *q);
uint32_t m5_rxq_num(const struct m5_rxq *q); /* RQN, for an RQT */
uint32_t m5_rxq_packets(const struct m5_rxq *q);
/* Packets that found no buffer, from the device's queue counter. */
int m5_rxq_out_of_buffer(struct m5_rxq *q, uint64_t *ret);
/* Readable after m5_rx_arm() when a completion came; for sleeping. */
int m5_rxq_event_fd(const struct m5_rxq *q);
void m5_rxq_event_clear(struct m5_rxq *q); /* any thread that owns the fd */
