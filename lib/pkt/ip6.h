/* pkt/ip6.h - IPv6 header; source: RFC 8200 3, addresses RFC 4291 2 */
#pragma once

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "wire.h"

enum { IP6_NEXT_HOP_BY_HOP = 0 };

struct PKT_WIRE ip6_hdr {
	be32_t ver_tc_flow; /* [31:28] version, [27:20] traffic class, [19:0] flow label */
	be16_t payload_len;
	uint8_t next;
	uint8_t hop_limit;
	uint8_t src[16], dst[16];
};

static_assert(sizeof(struct ip6_hdr) == 40, "wire format");

static inline bool ip6_is_multicast(const uint8_t a[16])
{
	return a[0] == 0xff;
}
static inline bool ip6_is_link_local(const uint8_t a[16])
{
	return a[0] == 0xfe && (a[1] & 0xc0) == 0x80;
}
/* :: or ::1 */
static inline bool ip6_is_host_only(const uint8_t a[16])
{
	uint64_t high, low;

	memcpy(&high, a, 8);
	memcpy(&low, a + 8, 8);
	return high == 0 && be64toh(low) <= 1;
}
