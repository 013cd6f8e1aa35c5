/* pkt/ip4.h - IPv4 header; source: RFC 791 3.1 */
#pragma once

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

#include "wire.h"

struct PKT_WIRE ip4_hdr {
	uint8_t ver_ihl; /* [7:4] version, [3:0] header length in 32-bit words */
	uint8_t tos;
	be16_t total_len;
	be16_t id;
	be16_t frag; /* [14] do not fragment, [13] more fragments, [12:0] offset in 8 bytes */
	uint8_t ttl;
	uint8_t proto;
	be16_t csum;
	uint8_t src[4], dst[4];
};

static_assert(sizeof(struct ip4_hdr) == 20, "wire format");

/* What no packet in transit has as its source, nor as its destination: 0.0.0.0, 127/8, multicast,
 * broadcast (RFC 1812 5.3.7). 240/4 and the rest of 0/8 are forwarded, as Linux does. */
static inline bool ip4_not_transit(uint32_t a)
{
	return a == 0 || a >> 24 == 127 || a >> 28 == 0xe || a == UINT32_MAX;
}
