/* pkt/eth.h - Ethernet header; source: IEEE 802.3-2018 3.1.1, 802.1Q-2018 9.6 */
#pragma once

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

#include "wire.h"

enum {
	ETH_TYPE_IP4 = 0x0800,
	ETH_TYPE_VLAN = 0x8100,
	ETH_TYPE_QINQ = 0x88a8,
	ETH_TYPE_IP6 = 0x86dd
};
enum { ETH_MIN = 60 }; /* shortest frame without FCS */

struct PKT_WIRE eth_hdr {
	uint8_t dst[6], src[6];
	be16_t type;
};

struct PKT_WIRE vlan_hdr { /* after the Ethernet header */
	be16_t tci;	   /* [15:13] priority, [12] drop eligible, [11:0] VLAN */
	be16_t type;
};

static_assert(sizeof(struct eth_hdr) == 14, "wire format");
static_assert(sizeof(struct vlan_hdr) == 4, "wire format");

static inline bool eth_is_multicast(const uint8_t mac[6])
{
	return mac[0] & 1;
}
