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

ALWAYS_INLINE void pkt_decrement_ip4(struct ip4_hdr *ip)
{
	be16_t was, is;

	memcpy(&was, &ip->ttl, 2); /* TTL and protocol are one checksum word */
	ip->ttl--;
	memcpy(&is, &ip->ttl, 2);
	ip->csum = csum_update(ip->csum, was, is);
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
 * @data: writable; a priority tag (m->l3 == 18) is taken out by moving the addresses
 * @macs: destination and source, 12 bytes, of the next hop
 * @start: where the outgoing frame begins
 *
 * Return: its length. Context: owning worker.
 */
ALWAYS_INLINE uint16_t pkt_rewrite(uint8_t *data, const struct pkt_meta *m,
				   const uint8_t macs[12], uint8_t **start)
{
	uint8_t *ip = data + m->l3, *eth = ip - sizeof(struct eth_hdr);

	memcpy(eth, macs, 12);
	if (m->family == 4) {
		pkt_decrement_ip4((struct ip4_hdr *)(void *)ip);
	} else {
		((struct ip6_hdr *)(void *)ip)->hop_limit--;
	}
	*start = eth;
	return pkt_trim(eth, (uint32_t)sizeof(struct eth_hdr) + m->bytes);
}
