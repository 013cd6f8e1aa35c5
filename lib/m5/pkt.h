/* m5/pkt.h - a received packet, as the loop passes it on
 *
 * A burst comes from one receive queue, which is passed beside its packets. The queue's
 * WQE is held by a reference of the packet until m5_rx_put(), or until the send queue
 * that took the packet over lets it go.
 */
#pragma once

#include <assert.h>
#include <stdint.h>

enum {			 /* m5_pkt.flags */
       M5_PKT_L3_OK = 1, /* the card checked the IPv4 header checksum, or it is IPv6 */
       M5_PKT_L4_OK = 2,
       M5_PKT_VLAN = 4, /* the card took a VLAN tag out of the frame: vlan holds it */

       /* Asked of the send queue. */
       M5_PKT_INSERT_VLAN = 8, /* behind the addresses: type 0x8100, TCI from vlan */
       M5_PKT_ASK_L3 = 16,     /* compute the IPv4 header's checksum */
       M5_PKT_ASK_L4 = 32,     /* that of TCP or UDP, pseudo-header and all */
       M5_PKT_ASKS = M5_PKT_INSERT_VLAN | M5_PKT_ASK_L3 | M5_PKT_ASK_L4,
};

struct m5_pkt {
	uint8_t *data; /* Ethernet header; writable; at least 60 bytes are there */
	uint16_t len;  /* frame without FCS */
	uint16_t wqe;  /* index, for m5_rx_put() */
	uint16_t vlan; /* TCI */
	uint16_t flags;
};

static_assert(sizeof(struct m5_pkt) == 16, "one store");
