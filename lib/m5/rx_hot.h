/* m5/rx_hot.h - the receive path
 *
 * HOT. The ring of WQEs never changes: slot i is always the same chunk of the
 * region, so giving it back to the device is moving the doorbell record past it.
 *
 *   chunk 0 | chunk 1 | ... | chunk n-1         a chunk = one WQE = 2^log_strides strides
 *              ^ fill    device writes here; strides used so far in `stride`
 *              ^ ... up to post-1: with the device or still referenced by packets
 *   refs[chunk] = packets out, plus one while the device may write to it
 *
 * Strides of a chunk can be consumed without a packet (filler), and a packet can
 * take several. In a cyclic queue a chunk is one packet. rx_burst.c reads completions.
 */
#pragma once

#include <stdbool.h>

#include "../prm/wqe.h"
#include "cq_hot.h"
#include "mem.h"
#include "pkt.h"

struct m5_rx {
	/* one line: what every burst reads */
	struct m5_cq_hot cq;
	uint8_t *region;
	uint32_t *refs; /* by chunk */
	be32_t *dbrec;
	uint16_t fill; /* WQE index the device is filling; not masked */
	uint16_t post; /* first index not with the device */
	bool striding;
	uint8_t layout; /* enum m5_cq_layout */
	bool failed;	/* an error completion came: nothing more until a reset */
	uint8_t log_strides, log_stride_bytes;

	uint32_t stride; /* strides of `fill` used so far */
	uint32_t mask;	 /* chunks - 1 */
	uint32_t pitch;	 /* bytes from chunk to chunk */
	uint32_t ahead;	 /* prefetch distance, 0 = none; rxq.h */
	/* of the last ordinary completion, the title of what follows it: */
	uint32_t header; /* as it stands there */
	uint32_t marks;	 /* and as a packet has it: flags << 16 | vlan */
	/* a compressed session at work */
	const struct prm_mini *mini; /* the next one */
	uint32_t minis, in_array;    /* left: in the session, and before the next array */
	uint64_t own; /* of a packet's second half: what each mini says itself (M5_PKT_VLAN) */
	uint64_t *stale; /* basic layout: a bit a slot, set = not marked invalid since the device
			  * wrote it */
	struct prm_mini kept[PRM_MINIS]; /* of a session that is larger than the burst */

	/* read by the send path: our region's key on each device */
	be32_t lkey[M5_DEVS_MAX];
	/* written here only */
	uint64_t compressed;		   /* completions that came as minis */
	uint64_t fillers;		   /* completions that only skip strides */
	uint64_t out_of_step;		   /* completions that contradict our count */
	uint8_t syndrome, vendor_syndrome; /* of the first error */
	uint64_t errors;
	/* arming, cold */
	uint64_t *arm_register;
	uint32_t cqn, arm_sn;
};

/* Drops @n packets' references. */
ALWAYS_INLINE void m5_rx_put(struct m5_rx *rx, uint32_t wqe, uint32_t n)
{
	rx->refs[wqe] -= n;
}

/* Gives the oldest chunks back, in ring order, as far as they are free. */
ALWAYS_INLINE void m5_rx_refill(struct m5_rx *rx)
{
	uint16_t post = rx->post;

	while ((uint16_t)(post - rx->fill) <= rx->mask && !rx->refs[post & rx->mask])
		rx->refs[post++ & rx->mask] = 1;
	if (post == rx->post)
		return;
	rx->post = post;
	m5_wmb_consumed(); /* frames were copied from there */
	WRITE_ONCE(rx->dbrec[PRM_DBREC_RECEIVE].raw, to_be32(post).raw);
}

/* When the card saw a packet of a burst. */
struct m5_rx_stamp {
	uint64_t raw; /* for m5_clock_ns() */
	uint32_t at;  /* which packet of the burst; the burst's length = none has one */
};

/**
 * m5_rx_burst() - what has arrived
 * @pkt: room for @max packets, @max > 0
 *
 * Gives free chunks back to the device first. Prefetches each frame. Each packet holds a
 * reference on its chunk until m5_rx_put(). Errors are counted, not returned: a queue in
 * error has m5_rx_failed() and brings nothing until m5_rxq_reset().
 *
 * Context: owning worker; does not sleep.
 * Return: packets.
 */
uint32_t m5_rx_burst(struct m5_rx *rx, struct m5_pkt pkt[], uint32_t max);

/**
 * m5_rx_burst_stamped() - the same, with the time when the first packet of its kind arrived
 *
 * A packet has a time of its own when its completion is an ordinary one, or the title of a
 * session in the basic layout. All others of a session share the title's (DPDK and Linux
 * both do without compression when they want a time for each packet).
 */
uint32_t m5_rx_burst_stamped(struct m5_rx *rx, struct m5_pkt pkt[], uint32_t max,
			     struct m5_rx_stamp *ret);

ALWAYS_INLINE bool m5_rx_failed(const struct m5_rx *rx)
{
	return rx->failed;
}

/* Asks for an event at the next completion. One that is there already raises it at once, so
 * there is no gap between looking and sleeping. The sequence number counts events that came:
 * arming again before one did repeats the number, and the first is 0. Source: rdma-core
 * providers/mlx5 cq.c, mlx5_arm_cq and mlx5_cq_event; verbs.c, create_cq. */
void m5_rx_arm(struct m5_rx *rx);
/* An event was read. */
ALWAYS_INLINE void m5_rx_event(struct m5_rx *rx)
{
	rx->arm_sn++;
}
