/* pkt/plain_hot.h - the frames that nearly all traffic is, told by one branch
 *
 * HOT. Plain: pkt_parse_full() would forward the frame, with the same pkt_meta. Else: it has
 * to look; also frames that it forwards in the end, if they are rare (a tag, 240/4).
 */
#pragma once

#include <stdbool.h>
#include <string.h>

#include "../base/hot.h"
#include "csum.h"
#include "eth.h"
#include "ip4.h"
#include "ip6.h"
#include "verdict.h"

/* A MAC address and two bytes of 0, as they lie in memory. */
ALWAYS_INLINE be64_t pkt_mac(const uint8_t mac[6])
{
	be64_t word = { 0 };

	memcpy(&word, mac, 6);
	return word;
}

/* What is wrong with an Ethernet header: 0 when it has @type, is for @own, and comes from
 * another station. Words are compared as they lie in memory:
 *
 *   to    destination, first two bytes of the source (a bit of them: multicast)
 *   from  source, type */
ALWAYS_INLINE uint64_t pkt_eth_odd(const uint8_t *data, be64_t own, uint16_t type)
{
	const uint64_t address = to_be64(UINT64_C(0xffffffffffff0000)).raw,
		       multicast = to_be64(0x0100).raw;
	be64_t to, from;

	memcpy(&to, data, 8);
	memcpy(&from, data + 6, 8);
	to.raw ^= own.raw;
	from.raw ^= own.raw ^ to_be64(type).raw;
	return (to.raw & (address | multicast)) | (from.raw & ~address) |
	       !(from.raw & address);
}

/* May an address with this first octet be one that is not forwarded? 0/8, 127/8, 224/4, 240/4;
 * ::/8, fe00::/8, ff00::/8. */
extern const uint8_t pkt_odd_octet4[256], pkt_odd_octet6[256];

ALWAYS_INLINE void pkt_clean(struct pkt_meta *m, uint8_t family, uint32_t bytes)
{
	m->verdict = PKT_FORWARD;
	m->reason = 0;
	m->family = family;
	m->l3 = sizeof(struct eth_hdr);
	m->bytes = (uint16_t)bytes;
	m->port = 0;
	m->reserved = 0;
}

/* @own: pkt_mac() of the port; the others as for pkt_parse_full(). */
ALWAYS_INLINE bool pkt_plain4(const uint8_t *data, uint32_t len, bool l3_ok, be64_t own,
			      struct pkt_meta *m)
{
	const uint32_t head = sizeof(struct eth_hdr) + sizeof(struct ip4_hdr);
	const struct ip4_hdr *ip = (const void *)(data + sizeof(struct eth_hdr));
	uint32_t bytes;
	uint64_t odd;

	if (unlikely(len < head))
		return false;
	bytes = from_be16(ip->total_len);
	odd = pkt_eth_odd(data, own, ETH_TYPE_IP4) | (ip->ver_ihl ^ 0x45u);
	odd |= bytes - (uint32_t)sizeof(*ip) > len - head; /* too short wraps */
	odd |= ip->ttl <= 1;
	odd |= pkt_odd_octet4[ip->src[0]] | pkt_odd_octet4[ip->dst[0]];
	if (!l3_ok)
		odd |= !csum_ip4_ok(ip);
	if (unlikely(odd))
		return false;
	pkt_clean(m, 4, bytes);
	return true;
}

ALWAYS_INLINE bool pkt_plain6(const uint8_t *data, uint32_t len, be64_t own,
			      struct pkt_meta *m)
{
	const uint32_t head = sizeof(struct eth_hdr) + sizeof(struct ip6_hdr);
	const struct ip6_hdr *ip = (const void *)(data + sizeof(struct eth_hdr));
	uint32_t payload;
	uint64_t odd;

	if (unlikely(len < head))
		return false;
	payload = from_be16(ip->payload_len);
	odd = pkt_eth_odd(data, own, ETH_TYPE_IP6);
	odd |= from_be32(ip->ver_tc_flow) >> 28 ^ 6;
	odd |= payload > len - head;
	odd |= ip->hop_limit <= 1;
	odd |= ip->next == IP6_NEXT_HOP_BY_HOP;
	odd |= pkt_odd_octet6[ip->src[0]] | pkt_odd_octet6[ip->dst[0]];
	if (unlikely(odd))
		return false;
	pkt_clean(m, 6, payload + (uint32_t)sizeof(*ip));
	return true;
}

/* Return: 4 or 6 if the frame is plain, else 0, and nothing was written. */
ALWAYS_INLINE unsigned pkt_plain(const uint8_t *data, uint32_t len, bool l3_ok,
				 be64_t own, struct pkt_meta *m)
{
	if (likely(pkt_plain4(data, len, l3_ok, own, m)))
		return 4;
	return pkt_plain6(data, len, own, m) ? 6 : 0;
}
