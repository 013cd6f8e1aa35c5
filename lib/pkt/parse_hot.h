/* pkt/parse_hot.h - classify one packet: forward, punt or drop, with the reason
 *
 * HOT. Reads the packet, writes its pkt_meta; looks at no table. Clean unicast
 * transit goes on to the route pass; what the kernel must answer is punted; what is
 * broken is dropped. The numbers in comments are rows of the checklist that the
 * namespace scenarios run against a Linux router.
 *
 * Any frame gets its verdict here; nearly all traffic needs less: plain_hot.h.
 */
#pragma once

#include <string.h>

#include "../base/hot.h"
#include "csum.h"
#include "eth.h"
#include "ip4.h"
#include "ip6.h"
#include "verdict.h"

ALWAYS_INLINE void pkt_drop(struct pkt_meta *m, enum pkt_drop reason)
{
	m->verdict = PKT_DROP;
	m->reason = (uint8_t)reason;
}

ALWAYS_INLINE void pkt_punt(struct pkt_meta *m, enum pkt_punt reason)
{
	m->verdict = PKT_PUNT;
	m->reason = (uint8_t)reason;
}

/* Everything but a clean header; @room is what the frame holds from the IP header on. */
COLD static void pkt_parse_ip4_odd(const struct ip4_hdr *ip, uint32_t room,
				   struct pkt_meta *m)
{
	uint32_t header = (ip->ver_ihl & 0xfu) * 4;
	uint32_t dst;

	memcpy(&dst, ip->dst, 4);
	dst = be32toh(dst);
	if (ip->ver_ihl >> 4 != 4)
		pkt_drop(m, PKT_DROP_IP_VERSION); /* 9, 10 */
	else if (header < sizeof(*ip) || header > room)
		pkt_drop(m, PKT_DROP_IP_HEADER_LENGTH); /* 7, 8 */
	else if (m->bytes < header || m->bytes > room)
		pkt_drop(m, PKT_DROP_IP_TOTAL_LENGTH); /* 5, 6 */
	else if (csum_fold(csum_add(0, ip, header)) != 0xffff)
		pkt_drop(m, PKT_DROP_IP_CHECKSUM); /* 11 */
	else if (dst == UINT32_MAX)
		pkt_punt(m, PKT_PUNT_BROADCAST); /* 71 */
	else if (dst >> 28 == 0xe)
		pkt_punt(m, PKT_PUNT_MULTICAST); /* 72, 73 */
	else if (dst == 0 || dst >> 24 == 127)
		pkt_drop(m, PKT_DROP_MARTIAN_DESTINATION); /* 70, 71 */
	else if (ip->ver_ihl != 0x45)
		pkt_punt(m, PKT_PUNT_OPTIONS); /* 94 - 98 */
	else if (ip->ttl <= 1)
		pkt_punt(m, PKT_PUNT_TTL); /* 31, 32 */
	else
		pkt_drop(m, PKT_DROP_MARTIAN_SOURCE); /* 65 */
}

ALWAYS_INLINE void pkt_parse_ip4(const struct ip4_hdr *ip, uint32_t room, _Bool csum_ok,
				 struct pkt_meta *m)
{
	uint32_t src, dst;
	int odd;

	memcpy(&src, ip->src, 4);
	memcpy(&dst, ip->dst, 4);
	src = be32toh(src);
	dst = be32toh(dst);
	m->family = 4;
	m->bytes = from_be16(ip->total_len);
	m->verdict = PKT_FORWARD;
	/* One branch for a clean packet. 240/4 as a destination is forwarded (P1). */
	odd = ip->ver_ihl != 0x45;
	odd |= m->bytes < sizeof(*ip);
	odd |= m->bytes > room;
	odd |= ip->ttl <= 1;
	odd |= ip4_not_transit(src);
	odd |= ip4_not_transit(dst); /* the same four kinds never leave either */
	odd |= !csum_ok && !csum_ip4_ok(ip);
	if (unlikely(odd))
		pkt_parse_ip4_odd(ip, room, m);
}

COLD static void pkt_parse_ip6_odd(const struct ip6_hdr *ip, uint32_t room,
				   struct pkt_meta *m)
{
	if (from_be32(ip->ver_tc_flow) >> 28 != 6)
		pkt_drop(m, PKT_DROP_IP_VERSION); /* 14 */
	else if (from_be16(ip->payload_len) + sizeof(*ip) > room)
		pkt_drop(m, PKT_DROP_IP_TOTAL_LENGTH); /* 14 */
	else if (ip6_is_multicast(ip->src) || ip6_is_host_only(ip->src))
		pkt_drop(m, PKT_DROP_MARTIAN_SOURCE); /* 67 */
	else if (ip6_is_host_only(ip->dst))
		pkt_drop(m, PKT_DROP_MARTIAN_DESTINATION);
	else if (ip6_is_multicast(ip->dst))
		pkt_punt(m, PKT_PUNT_MULTICAST); /* 72, 73 */
	else if (ip6_is_link_local(ip->dst) || ip6_is_link_local(ip->src))
		pkt_punt(m, PKT_PUNT_LINK_LOCAL); /* 68, 73 */
	else if (ip->hop_limit <= 1)
		pkt_punt(m, PKT_PUNT_TTL); /* 33 */
	else
		pkt_punt(m, PKT_PUNT_HOP_BY_HOP); /* 99 - 102 */
}

ALWAYS_INLINE void pkt_parse_ip6(const struct ip6_hdr *ip, uint32_t room,
				 struct pkt_meta *m)
{
	uint32_t bytes = from_be16(ip->payload_len) + (uint32_t)sizeof(*ip);
	int odd;

	m->family = 6;
	m->bytes = (uint16_t)bytes; /* room < 64 KiB, so a longer packet is odd */
	m->verdict = PKT_FORWARD;
	odd = from_be32(ip->ver_tc_flow) >> 28 != 6;
	odd |= bytes > room;
	odd |= ip->hop_limit <= 1;
	odd |= ip->next == IP6_NEXT_HOP_BY_HOP;
	odd |= ip6_is_multicast(ip->src) || ip6_is_multicast(ip->dst);
	odd |= ip6_is_link_local(ip->src) || ip6_is_link_local(ip->dst);
	odd |= ip6_is_host_only(ip->src) || ip6_is_host_only(ip->dst);
	if (unlikely(odd))
		pkt_parse_ip6_odd(ip, room, m);
}

/* Frames that are not plainly for us. */
COLD static void pkt_parse_mac_odd(const struct eth_hdr *eth, const uint8_t our_mac[6],
				   struct pkt_meta *m)
{
	static const uint8_t broadcast[6] = { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff };

	if (eth_is_multicast(eth->src) || !memcmp(eth->src, our_mac, 6))
		pkt_drop(m, PKT_DROP_BAD_MAC); /* 20, P4 */
	else if (!memcmp(eth->dst, broadcast, 6))
		pkt_punt(m, PKT_PUNT_BROADCAST); /* 18 */
	else if (eth_is_multicast(eth->dst))
		pkt_punt(m, PKT_PUNT_MULTICAST); /* 19 */
	else
		pkt_drop(m, PKT_DROP_BAD_MAC); /* 17 */
}

/**
 * pkt_parse_full() - verdict on one received frame
 * @data: from the Ethernet header on
 * @len:  bytes of the frame
 * @l3_ok: the card has checked the IPv4 header checksum
 * @our_mac: of the ingress port
 *
 * One VLAN tag with VLAN 0 is looked through (priority tag, 802.1Q 6.9.1; row 23); other tags
 * are the kernel's. Context: owning worker.
 */
static __attribute__((noinline)) void pkt_parse_full(const uint8_t *data, uint32_t len,
						     _Bool l3_ok,
						     const uint8_t our_mac[6],
						     struct pkt_meta *m)
{
	const struct eth_hdr *eth = (const void *)data;
	uint32_t l3 = sizeof(*eth), room;
	uint16_t type;

	*m = (struct pkt_meta){ .l3 = (uint8_t)l3 };
	if (unlikely(len < sizeof(*eth) + sizeof(struct ip4_hdr))) {
		pkt_drop(m, PKT_DROP_TRUNCATED); /* 12 */
		return;
	}
	if (unlikely(memcmp(eth->dst, our_mac, 6) || eth_is_multicast(eth->src) ||
		     !memcmp(eth->src, our_mac, 6))) {
		pkt_parse_mac_odd(eth, our_mac, m);
		return;
	}
	type = from_be16(eth->type);
	if (unlikely(type == ETH_TYPE_VLAN)) {
		const struct vlan_hdr *tag = (const void *)(eth + 1);

		if (from_be16(tag->tci) & 0xfff) {
			pkt_punt(m, PKT_PUNT_NON_IP);
			return;
		}
		type = from_be16(tag->type);
		l3 += sizeof(*tag);
		m->l3 = (uint8_t)l3;
	}
	room = len - l3;
	if (likely(type == ETH_TYPE_IP4) && likely(room >= sizeof(struct ip4_hdr)))
		pkt_parse_ip4((const void *)(data + l3), room, l3_ok, m);
	else if (type == ETH_TYPE_IP6 && likely(room >= sizeof(struct ip6_hdr)))
		pkt_parse_ip6((const void *)(data + l3), room, m);
	else if (type == ETH_TYPE_IP4 || type == ETH_TYPE_IP6)
		pkt_drop(m, PKT_DROP_TRUNCATED); /* 12, 14 */
	else
		pkt_punt(m, PKT_PUNT_NON_IP);
}
