/* datapath/rig.h - lib/m5 on the modelled card, and what stands at its other end
 *
 *   program: m5_rxq, m5_txq --- eth0 ---- cable ---- eth1 --- the kernel: packet sockets
 *
 * Programs run under on_card.sh, which makes two ports of the model with a cable between
 * them. What a test sends from its own memory, or from a packet socket, is compared byte by
 * byte with what comes out at the other end. More ports, faults and counters are had by the
 * model's control socket. Every function fails the running test when it cannot do its part.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "../../lib/m5/mem.h"
#include "../../lib/m5/rx_hot.h"
#include "../../lib/m5/rxq.h"
#include "../../lib/m5/steer.h"
#include "../../lib/m5/tx_hot.h"
#include "../../lib/m5/txq.h"

/* ---- the model's control socket ---- */

/* The answer's lines, without the last "ok"; valid until the next call. */
const char *ctl(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* The number after @name in the answer to @line. */
uint64_t ctl_number(const char *line, const char *name);
/* Objects, handles, mappings of all ports, once there are so many open devices: an end takes its
 * time. Before and after something it must be the same. */
void ctl_census(char text[1024], uint64_t clients);
void ctl_same_census(const char before[1024]);
/* Waits until the number after @name is @want; at most 10 s. */
void ctl_wait(const char *line, const char *name, uint64_t want);

/* ---- frames ---- */

enum { FRAME_MAX = 9216 };

struct frame {
	uint32_t len;
	uint8_t bytes[FRAME_MAX];
};

/* UDP in IPv4 or IPv6 to @dmac, good checksums, contents from @number; @len 60 (70 for IPv6)
 * or more. */
void frame_make(struct frame *f, unsigned family, uint32_t len, uint32_t number,
		const uint8_t dmac[6]);
void frame_equal(const struct frame *f, const uint8_t *bytes, uint32_t len);

/* ---- packet sockets ---- */

int wire_open(const char *netdev);
void wire_send(int fd, const struct frame *f);
/* The next frame made by frame_make(); others are passed over. False: none within @ms. */
bool wire_receive(int fd, struct frame *f, int ms);

/* ---- a port with queues ---- */

#define RIG_QUEUES 4

struct rig_conf {
	const char *netdev;		 /* NULL: eth0 */
	uint32_t rx_packets, tx_packets; /* 0: 256 */
	uint16_t mtu;			 /* 0: 1500 */
	bool cyclic, strip_vlan;
	enum m5_compression compression;
	enum m5_mini mini;
	uint32_t prefetch;
	size_t rx_bytes_max;
	unsigned n_rxq;	       /* 0: 1 */
	struct m5_txq_conf tx; /* but for packets and node */
};

struct rig {
	struct m5_dev *dev;
	struct m5_rxq *rxq[RIG_QUEUES];
	struct m5_txq *txq;
	struct m5_steer *steer;
	struct m5_rx *rx; /* of the first queue */
	struct m5_tx *tx;
	unsigned n_rxq;
	uint8_t mac[6];
	struct err err, warn;
};

void rig_open(struct rig *r,
	      const struct rig_conf *conf); /* everything started, transit on */
void rig_close(struct rig *r);
void netdev_mac(const char *netdev, uint8_t mac[6]);
/* Packets of one queue until there are @n, or nothing comes for @ms. */
uint32_t rig_receive(struct m5_rx *rx, struct m5_pkt pkt[], uint32_t n, int ms);
/* The same, and it must be @n; else the test fails with what the ports counted. */
void rig_receive_all(struct m5_rx *rx, struct m5_pkt pkt[], uint32_t n);
void rig_put(struct m5_rx *rx, const struct m5_pkt pkt[], uint32_t n);
/* Reaps until all that was sent is done, at most 10 s. */
void rig_sent(struct m5_tx *tx);
/* Passes when r < 0 is not so; else fails with what the library said. */
void rig_ok(int r, const struct err *err);

/* ---- memory to send from that no receive queue owns ---- */

struct source {
	struct m5_mem mem;
	struct m5_rx rx; /* only keys and references are used */
	uint32_t out;	 /* frames held by send queues */
};

void source_open(struct source *s, size_t bytes, struct m5_dev *const dev[],
		 unsigned n_dev);
void source_close(struct source *s);
/* Copies the frame to @at and queues it. False: the ring is full. */
bool source_queue(struct source *s, struct m5_tx *tx, size_t at, const struct frame *f);

/* ---- another port as the sender ---- */

/* By a send queue of lib/m5: all frames of a call arrive one behind the other, at once. */
struct peer {
	struct m5_dev *dev; /* index 1: none of the rig */
	struct m5_txq *txq;
	struct source source;
};

void peer_open(struct peer *p, const char *netdev);
void peer_close(struct peer *p);
/* At most 1024. On return they have left, and have not all been looked at by the other port. */
void peer_send(struct peer *p, const struct frame f[], uint32_t n);
