/* pkt/rewrite_hot.h - what a router changes in a packet it forwards
 *
 * HOT. TTL or hop limit less one, IPv4 checksum to match, both MAC addresses, and
 * the length: bytes after the IP packet are padding of another link and do not leave
 * (RFC 1812 5.2.2; checklist rows 4 and 15).
 */
#pragma once

#include "../base/hot.h"
#include "csum.h"
#include "eth.h"
#include "ip4.h"
#include "ip6.h"
#include "verdict.h"

/* The checksum is of ones' complement: a word that is 0x0100 less makes it 0x0100 more, carry
 * round included, and 0xffff is written as 0 (RFC 1624 section 3). Sums are the same in either
 * byte order (RFC 1071 section 2 B). */
ALWAYS_INLINE void pkt_decrement_ip4(struct ip4_hdr *ip)
{
	uint32_t sum = (uint32_t)ip->csum.raw + to_be16(0x0100).raw;

	ip->csum.raw = (uint16_t)(sum + (sum >= 0xffff));
	ip->ttl--;
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
 * pkt_rewrite4(), pkt_rewrite6() - make the frame that leaves
 * @data: writable; a priority tag (m->l3 == 18) is taken out by moving the addresses
 * @macs: destination and source, 12 bytes, of the next hop
 * @start: where the outgoing frame begins
 *
 * Return: its length. Context: owning worker.
 */
ALWAYS_INLINE uint16_t pkt_rewrite4(uint8_t *data, const struct pkt_meta *m,
				    const uint8_t macs[12], uint8_t **start)
{
	uint8_t *ip = data + m->l3, *eth = ip - sizeof(struct eth_hdr);

	memcpy(eth, macs, 12);
	pkt_decrement_ip4((struct ip4_hdr *)(void *)ip);
	*start = eth;
	return pkt_trim(eth, (uint32_t)sizeof(struct eth_hdr) + m->bytes);
}

ALWAYS_INLINE uint16_t pkt_rewrite6(uint8_t *data, const struct pkt_meta *m,
				    const uint8_t macs[12], uint8_t **start)
{
	uint8_t *ip = data + m->l3, *eth = ip - sizeof(struct eth_hdr);

	memcpy(eth, macs, 12);
	((struct ip6_hdr *)(void *)ip)->hop_limit--;
	*start = eth;
	return pkt_trim(eth, (uint32_t)sizeof(struct eth_hdr) + m->bytes);
}
