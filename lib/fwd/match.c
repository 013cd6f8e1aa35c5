/* fwd/match.c - which packets somebody wants to see */

#include "match.h"

#include "../pkt/eth.h"

enum { TAGS_MAX = 2 };

/* Type of what follows the Ethernet header and its tags, and where that begins; 0 = too short. */
static uint16_t type_of(const uint8_t *frame, uint32_t len, uint32_t *l3)
{
	uint16_t type;

	*l3 = sizeof(struct eth_hdr);
	if (len < *l3)
		return 0;
	type = flow_u16(frame + *l3 - 2);
	for (unsigned i = 0; i < TAGS_MAX; i++) {
		if (type != ETH_TYPE_VLAN && type != ETH_TYPE_QINQ)
			break;
		*l3 += sizeof(struct vlan_hdr);
		if (len < *l3)
			return 0;
		type = flow_u16(frame + *l3 - 2);
	}
	return type;
}

void fwd_see(const uint8_t *frame, uint32_t len, struct fwd_seen *ret)
{
	uint32_t l3;
	uint16_t type = type_of(frame, len, &l3);
	uint8_t family = type == ETH_TYPE_IP4 ? 4 : type == ETH_TYPE_IP6 ? 6 : 0;
	const uint8_t *ip = frame + l3;

	*ret = (struct fwd_seen){ .l3 = (uint16_t)l3 };
	if (!family || !pkt_flow_ip(ip, len - l3, family, &ret->flow))
		return;
	ret->family = family;
	ret->ttl = family == 4 ? ip[offsetof(struct ip4_hdr, ttl)]
			       : ip[offsetof(struct ip6_hdr, hop_limit)];
	if (ret->flow.proto != FLOW_PROTO_TCP && ret->flow.proto != FLOW_PROTO_UDP)
		ret->flow.at = 0;
	else if (ret->flow.end - ret->flow.at < 4)
		ret->flow.at = 0;
	pkt_flow_l4(ip, &ret->flow);
}

static bool is_within(const uint64_t addr[2], const uint64_t net[2],
		      const uint64_t mask[2])
{
	return (addr[0] & mask[0]) == net[0] && (addr[1] & mask[1]) == net[1];
}

bool fwd_match_frame(const struct fwd_match *m, const struct fwd_seen *seen)
{
	const struct pkt_flow *f = &seen->flow;

	if (m->family && m->family != seen->family)
		return false;
	if (m->has_proto &&
	    (!seen->family || (f->proto != m->proto[0] && f->proto != m->proto[1])))
		return false;
	for (unsigned i = 0; i < 2; i++) {
		if (m->family && !is_within(f->addr[i], m->addr[i], m->mask[i]))
			return false;
		if (m->has_port[i] && (!f->at || f->port[i] != m->port[i]))
			return false;
	}
	return true;
}

bool fwd_match_verdict(const struct fwd_match *m, uint8_t verdict, uint8_t reason)
{
	if (m->has_verdict && verdict != m->verdict)
		return false;
	return !m->has_reason || reason == m->reason;
}
