/* m5/pkt.h - a received packet, as the loop passes it on */
#pragma once

#include <stdint.h>

struct m5_rx;

enum {			 /* m5_pkt.flags */
       M5_PKT_L3_OK = 1, /* the card checked the IPv4 header checksum, or it is IPv6 */
       M5_PKT_L4_OK = 2,
       M5_PKT_VLAN = 4, /* the card took a VLAN tag out of the frame: vlan holds it */
};

struct m5_pkt {
	uint8_t *data;	  /* Ethernet header; writable; at least 60 bytes are there */
	struct m5_rx *rx; /* queue whose memory it is in */
	uint32_t wqe;	  /* for m5_rx_put() */
	uint16_t len;	  /* frame without FCS */
	uint16_t vlan;
	uint32_t hash; /* RSS hash, 0 = none */
	uint8_t flags;
	uint8_t reserved[3];
};

/* The hot functions (rx_hot.h, tx_hot.h), all for the owning worker, none sleeps:
 *
 *   uint32_t m5_rx_burst(struct m5_rx *rx, struct m5_pkt pkt[], uint32_t max);
 *           up to max packets; prefetches each frame; gives free WQEs back to the device first.
 *           Error completions are counted, not returned.
 *   void m5_rx_put(struct m5_rx *rx, uint32_t wqe);      drop one packet's reference
 *   bool m5_rx_arm(struct m5_rx *rx);                    ask for an event at the next completion
 *   bool m5_rx_failed(const struct m5_rx *rx);           the queue is in error: needs a reset
 *
 *   bool m5_tx_queue(struct m5_tx *tx, const struct m5_pkt *pkt);
 *           takes over the packet when true; false = ring full
 *   void m5_tx_ring(struct m5_tx *tx);                   one doorbell for what was queued
 *   void m5_tx_reap(struct m5_tx *tx);                   completions -> m5_rx_put() of each packet
 *   bool m5_tx_idle(const struct m5_tx *tx);             nothing in flight
 *   bool m5_tx_failed(const struct m5_tx *tx);
 */
