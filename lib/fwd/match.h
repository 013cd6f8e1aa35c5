/* fwd/match.h - which packets somebody wants to see
 *
 * Everything that is set must hold. What a frame says is looked at before anything is done with
 * it, its verdict afterwards. Addresses, protocol and ports are those of the packet itself, also
 * where it is an ICMP error; of a fragment that is not the first one the ports are not known.
 * Context: any.
 */
#pragma once

#include "../pkt/flow_hot.h"

/* What a frame is about, as far as it can be told without judging it. */
struct fwd_seen {
	uint8_t family; /* 4 or 6; 0 = neither, or its header is not whole */
	uint8_t ttl;
	uint16_t l3; /* offset of the IP header; up to two VLAN tags are looked through */
	struct pkt_flow flow; /* at = 0: ports are not known */
};

struct fwd_match {
	uint8_t family; /* 0 = any, then addresses do not count */
	bool has_proto, has_port[2], has_verdict, has_reason;
	uint8_t proto[2]; /* either of them */
	uint16_t port[2]; /* source, destination */
	uint64_t addr[2][2],
		mask[2][2]; /* as pkt_flow.addr; an address has no bit past its mask */
	uint8_t verdict, reason; /* enum pkt_verdict, enum pkt_drop or pkt_punt */
};

/* @frame: at an even address; @len: bytes that may be read, any number. */
void fwd_see(const uint8_t *frame, uint32_t len, struct fwd_seen *ret);
bool fwd_match_frame(const struct fwd_match *m, const struct fwd_seen *seen);
bool fwd_match_verdict(const struct fwd_match *m, uint8_t verdict, uint8_t reason);
