/* pkt/rewrite_hot.h - what a router changes in a packet it forwards
 *
 * HOT. TTL or hop limit less one, IPv4 checksum to match, both MAC addresses, and
 * the length: bytes after the IP packet are padding of another link and do not leave
 * (RFC 1812 5.2.2; checklist rows 4 and 15).
 */
#pragma once

#include <assert.h>

#include "../base/hot.h"
#include "eth.h"
#include "ip4.h"
#include "ip6.h"

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "of pkt_decrement_ip4()");

/* TTL, protocol and checksum are one word; the TTL is its lowest byte, the checksum its upper half.
 * The checksum is of ones' complement: a word that is 0x0100 less makes it 0x0100 more, carry
 * round included, and 0xffff is written as 0 (RFC 1624 section 3). Sums are the same in either
 * byte order (RFC 1071 section 2 B): here it becomes 1 more, or 2 if it was 0xfffe or 0xffff. */
ALWAYS_INLINE void pkt_decrement_ip4(uint8_t *ip)
{
	uint32_t word;

	memcpy(&word, ip + offsetof(struct ip4_hdr, ttl), sizeof(word));
	word += (word >= 0xfffe0000 ? 0x20000 : 0x10000) - 1;
	memcpy(ip + offsetof(struct ip4_hdr, ttl), &word, sizeof(word));
}

/* Ethernet minimum: the frame's memory reaches at least ETH_MIN bytes. */
ALWAYS_INLINE uint16_t pkt_trim(uint8_t *data, uint32_t end)
{
	if (likely(end >= ETH_MIN))
		return (uint16_t)end;
	memset(data + end, 0, ETH_MIN - end);
	return ETH_MIN;
}

/**
 * pkt_rewrite() - make the frame that leaves
 * @eth:   writable; where it begins, so that its IP header is 14 bytes further
 * @bytes: of the IP packet
 * @macs:  destination and source, 12 bytes, of the next hop
 * @six:   IPv6; a constant
 *
 * Return: its length. Context: owning worker.
 */
ALWAYS_INLINE uint16_t pkt_rewrite(uint8_t *eth, uint32_t bytes, const uint8_t macs[12],
				   bool six)
{
	uint8_t *ip = eth + sizeof(struct eth_hdr);

	memcpy(eth, macs, 12);
	if (six)
		ip[offsetof(struct ip6_hdr, hop_limit)]--;
	else
		pkt_decrement_ip4(ip);
	return pkt_trim(eth, (uint32_t)sizeof(struct eth_hdr) + bytes);
}
