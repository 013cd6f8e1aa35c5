/* m5/txq.h - a send queue: one hardware ring or several, and what they share
 *
 * Same life as a receive queue. Packets wait in a ring until m5_tx_ring(). A frame leaves
 *
 *   by pointer   16 bytes of work entry; its memory is held until the completion that covers it
 *   copied       into the work entry; its memory is free at once
 *
 * and both may stand in one work entry. One queue by pointer does more than one that copies, but
 * the pointer wall (about 76 Mpps on a ConnectX-6 Dx) is the device's, and copied rings
 * multiply with queues, or with the rings of one, which bursts are dealt to in turn. Frames of a
 * flow in different bursts may then overtake each other in the device; where that matters, as it
 * does to a router, one ring.
 */
#pragma once

#include "dev.h"

struct m5_tx; /* tx_hot.h */
struct m5_txq;

enum { M5_TX_RINGS_MAX = 8 };
enum m5_send {
	M5_SEND_AUTO, /* copied from so many queues on, else by pointer */
	M5_SEND_POINTER,
	M5_SEND_COPIED, /* whatever fits into a work entry */
	M5_SEND_MIXED,	/* small frames copied, others by pointer */
};
enum m5_doorbell { M5_DOORBELL_AUTO, M5_DOORBELL_NC, M5_DOORBELL_WC };

/* Queues of the device from which on copying pays; measured upstream, on a ConnectX-6 Dx. */
enum { M5_COPIED_FROM_FORWARDER = 4, M5_COPIED_FROM_SENDER = 2 };
/* A copied ring takes about a quarter of what a core makes; a router keeps the order of a flow. */
enum { M5_RINGS_FORWARDER = 1, M5_RINGS_SENDER = 4 };
enum {
	M5_COPIED_MIN_BYTES = 64,
	M5_COPIED_BYTES = 256,
	M5_COPIED_MAX_BYTES = 924, /* alone in a work entry */
};

/* 0 of a number: what is usual. */
struct m5_txq_conf {
	uint32_t packets; /* that can be in flight; power of two */
	int numa_node;	  /* -1 = the device's */
	enum m5_send send;
	enum m5_doorbell doorbell;
	unsigned rings; /* of a queue that copies: 1 to 8, usually 1; else there is one */
	unsigned n_queues; /* send queues of this device, all workers' */
	unsigned copied_from_queues;
	uint32_t copied_up_to_bytes;
	/* Packets held, of those sent by pointer, before a completion is asked for. All send
	 * queues together must not hold what the receive queues need. */
	uint32_t held_packets;
};

/* What was made of it, for whoever looks. */
struct m5_txq_choice {
	const char *
		send; /* "pointer", "copied", "mixed", "single": one frame a work entry */
	const char *doorbell; /* "non-cached", "write-combining" */
	unsigned rings;
	uint32_t copied_up_to_bytes; /* 0: none */
	uint32_t min_inline_bytes;
	char reason[96]; /* of `send` */
};

int m5_txq_open(struct m5_dev *dev, const struct m5_txq_conf *conf, struct err *err,
		struct m5_txq **ret);
/* Bytes that m5_txq_open() would register. */
size_t m5_txq_bytes(const struct m5_dev *dev, const struct m5_txq_conf *conf);
int m5_txq_start(struct m5_txq *q, struct err *err);
int m5_txq_reset(struct m5_txq *q, struct err *err); /* gives back every packet it held */
/* The device is lost: gives back what the queue held, which it will never send, so that the
 * receive queues of other ports do not wait for it. The worker must not be in the queue. */
void m5_txq_abandon(struct m5_txq *q);
void m5_txq_close(struct m5_txq *q);

struct m5_tx *m5_txq_hot(struct m5_txq *q);
uint32_t m5_txq_num(const struct m5_txq *q, unsigned ring); /* SQN */
uint32_t m5_txq_packets(const struct m5_txq *q);
void m5_txq_choice(const struct m5_txq *q, struct m5_txq_choice *ret);
