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
 * How the region is cut: geometry.h. How completions are compressed: rx_burst.c.
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

enum m5_compression {			   /* of completions */
		      M5_COMPRESSION_AUTO, /* enhanced, else basic, else off */
		      M5_COMPRESSION_OFF,
		      M5_COMPRESSION_BASIC,
		      M5_COMPRESSION_ENHANCED,
		      M5_COMPRESSION_COUNT
};

/* What a mini completion says besides its length. For tests; AUTO is checksum, with the index
 * of the stride where the queue is striding. Without the index a striding queue cannot tell a
 * mini that is out of step. Flow tag and stride index is left out: its tag stands where the
 * number of strides and the filler's bit are. */
enum m5_mini {
	M5_MINI_AUTO,
	M5_MINI_HASH,
	M5_MINI_CSUM,
	M5_MINI_CSUM_STRIDE,
	M5_MINI_TYPE_STRIDE, /* header type, so sessions of different protocols */
	M5_MINI_COUNT
};

enum { M5_PREFETCH_DEFAULT = 1 };

struct m5_rxq_conf {
	uint32_t packets; /* ring depth, power of two; what a packet is: geometry.h */
	uint16_t mtu;	  /* of the netdev; larger frames are not received */
	int numa_node;	  /* where the memory lives, -1 = the device's */
	bool striding;	  /* false: cyclic even where striding is there */
	bool strip_vlan;  /* the card takes a VLAN tag out of the frame: M5_PKT_VLAN */
	size_t bytes_max; /* packet memory wanted at most, 0 = no limit */
	enum m5_compression compression;
	enum m5_mini mini;
	/* When a completion is read, which frame is prefetched? 0 = none, 1 = its own, n = the
	 * one n - 1 packets behind it, taken to be as long. */
	uint32_t prefetch;	     /* M5_PREFETCH_DEFAULT */
	struct m5_dev *const *peers; /* of other ports, for sending from this memory */
	unsigned n_peers;
};

/* -EOPNOTSUPP: compression was asked for by name, and the device lacks it. */
int m5_rxq_open(struct m5_dev *dev, const struct m5_rxq_conf *conf, struct err *warn,
		struct err *err, struct m5_rxq **ret);
/* Bytes that m5_rxq_open() would register, once for each device that knows them;
 * 0 = it would fail. */
size_t m5_rxq_bytes(struct m5_dev *dev, const struct m5_rxq_conf *conf);
/* Frames as long as the MTU that its ring would hold; 0 = it would fail. */
uint32_t m5_rxq_frames(struct m5_dev *dev, const struct m5_rxq_conf *conf);
int m5_rxq_start(struct m5_rxq *q, struct err *err); /* posts every WQE, RESET -> READY */
/* ERROR or READY -> RESET; the worker must not be in m5_rx_burst(), no packet may be out. */
int m5_rxq_reset(struct m5_rxq *q, struct err *err);
void m5_rxq_close(struct m5_rxq *q); /* any state, NULL too */

/* What was chosen. */
struct m5_rxq_info {
	bool striding;
	uint32_t chunks, strides, stride_bytes, prefetch;
	size_t bytes; /* of packet memory, posted */
	const char *compression, *mini;
	const char *why; /* compression is what it is */
};
void m5_rxq_info(const struct m5_rxq *q, struct m5_rxq_info *ret);

struct m5_rx *m5_rxq_hot(struct m5_rxq *q);
uint32_t m5_rxq_num(const struct m5_rxq *q); /* RQN, for an RQT */
uint32_t m5_rxq_packets(const struct m5_rxq *q);
/* Packets that found no buffer, from the device's queue counter. */
int m5_rxq_out_of_buffer(struct m5_rxq *q, uint64_t *ret);
/* Readable after m5_rx_arm() when a completion came; for sleeping. */
int m5_rxq_event_fd(const struct m5_rxq *q);
void m5_rxq_event_clear(struct m5_rxq *q); /* any thread that owns the fd */
