/* pkt/flow_hot.h - which flow a packet is of, as a number
 *
 * HOT. Packets of one flow get one number, so that they all leave by one leg of a group:
 *
 *   TCP, UDP         addresses, protocol, ports
 *   ESP, AH          addresses, protocol, SPI
 *   fragments        addresses, protocol; the first one too, so that a datagram stays together
 *   ICMP errors      what the packet they are about has, so that "too big" reaches the box that
 *                    sent it and not its neighbour (RFC 7690)
 *   all else         addresses, protocol and the IPv6 flow label (RFC 6438)
 *
 * Both directions of a flow get the same number, as in Linux (flow_hash_from_keys() sorts the
 * ends): an error goes against the packet that it quotes, and a box that keeps state wants to
 * see both. The label is not taken beside ports: hosts change it in mid-flow, after a loss.
 *
 * Nothing is read past @bytes, whatever the lengths in the packet say. The number depends on the
 * seed and the packet only, not on the machine.
 */
#pragma once

#include "../base/hot.h"
#include "ip4.h"
#include "ip6.h"

/* IANA, "Protocol Numbers". */
enum {
	FLOW_PROTO_ICMP4 = 1,
	FLOW_PROTO_TCP = 6,
	FLOW_PROTO_UDP = 17,
	FLOW_PROTO_ROUTING = 43,
	FLOW_PROTO_FRAGMENT = 44,
	FLOW_PROTO_ESP = 50,
	FLOW_PROTO_AH = 51,
	FLOW_PROTO_ICMP6 = 58,
	FLOW_PROTO_OPTIONS = 60, /* for the destination */
};

enum {
	FLOW_EXTENSIONS_MAX = 8, /* that are looked through */
	FLOW_ICMP_HEADER =
		8, /* before the packet that an error quotes, in both versions */
};

struct pkt_flow {
	uint64_t addr[2][2]; /* source, destination; high and low half, IPv4 in the low */
	uint16_t port[2];
	uint32_t label; /* flow label or SPI */
	uint8_t proto;
	uint32_t at, end; /* what follows the IP header; at = 0: not to be looked into */
};

ALWAYS_INLINE uint16_t flow_u16(const uint8_t *p)
{
	uint16_t v;

	memcpy(&v, p, sizeof(v));
	return be16toh(v);
}

ALWAYS_INLINE uint32_t flow_u32(const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return be32toh(v);
}

ALWAYS_INLINE uint64_t flow_u64(const uint8_t *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return be64toh(v);
}

/* ---- headers ---- */

/* Return: false = not even the addresses are there; *f is as it was. */
ALWAYS_INLINE bool pkt_flow_ip4(const uint8_t *data, uint32_t bytes, struct pkt_flow *f)
{
	const struct ip4_hdr *ip = (const void *)data;
	uint32_t header, total;

	if (bytes < sizeof(*ip))
		return false;
	header = (ip->ver_ihl & 0xfu) * 4;
	total = from_be16(ip->total_len);
	*f = (struct pkt_flow){ .proto = ip->proto,
				.end = total < bytes ? total : bytes };
	f->addr[0][1] = flow_u32(ip->src);
	f->addr[1][1] = flow_u32(ip->dst);
	/* More fragments, or not the first. */
	if (!(from_be16(ip->frag) & 0x3fff) && header >= sizeof(*ip) && header <= f->end)
		f->at = header;
	return true;
}

ALWAYS_INLINE bool flow_is_extension(uint8_t next)
{
	return next == IP6_NEXT_HOP_BY_HOP || next == FLOW_PROTO_ROUTING ||
	       next == FLOW_PROTO_OPTIONS;
}

/* Later fragments may name another protocol than the first (RFC 8200 4.5), so what is in a
 * fragment header counts for none of them. */
ALWAYS_INLINE bool pkt_flow_ip6(const uint8_t *data, uint32_t bytes, struct pkt_flow *f)
{
	const struct ip6_hdr *ip = (const void *)data;
	uint32_t at = sizeof(*ip), total;

	if (bytes < sizeof(*ip))
		return false;
	total = from_be16(ip->payload_len) + (uint32_t)sizeof(*ip);
	*f = (struct pkt_flow){ .proto = ip->next, .end = total < bytes ? total : bytes };
	for (unsigned i = 0; i < 2; i++) {
		f->addr[0][i] = flow_u64(ip->src + 8 * i);
		f->addr[1][i] = flow_u64(ip->dst + 8 * i);
	}
	f->label = from_be32(ip->ver_tc_flow) & 0xfffff;
	for (unsigned i = 0; i < FLOW_EXTENSIONS_MAX && flow_is_extension(f->proto);
	     i++) {
		if (at + 8 > f->end)
			return true;
		f->proto = data[at];
		at += (data[at + 1] + 1u) * 8;
	}
	if (f->proto == FLOW_PROTO_FRAGMENT)
		f->label = 0;
	else if (at <= f->end && !flow_is_extension(f->proto))
		f->at = at;
	return true;
}

ALWAYS_INLINE bool pkt_flow_ip(const uint8_t *ip, uint32_t bytes, uint8_t family,
			       struct pkt_flow *f)
{
	return family == 4 ? pkt_flow_ip4(ip, bytes, f) : pkt_flow_ip6(ip, bytes, f);
}

/* RFC 792; RFC 4443 2.1. Source quench and redirect quote a packet, too. */
ALWAYS_INLINE bool flow_is_icmp_error(uint8_t family, uint8_t type)
{
	const uint32_t four = 1u << 3 | 1u << 4 | 1u << 5 | 1u << 11 | 1u << 12;
	const uint32_t six = 1u << 1 | 1u << 2 | 1u << 3 | 1u << 4;

	return type < 32 && (family == 4 ? four : six) >> type & 1;
}

/* Ports and the like of what @f has found so far. */
ALWAYS_INLINE void pkt_flow_l4(const uint8_t *ip, struct pkt_flow *f)
{
	const uint8_t *l4 = ip + f->at;
	uint32_t room = f->at ? f->end - f->at : 0;

	if ((f->proto == FLOW_PROTO_TCP || f->proto == FLOW_PROTO_UDP) && room >= 4) {
		f->port[0] = flow_u16(l4);
		f->port[1] = flow_u16(l4 + 2);
		f->label = 0;
	} else if (f->proto == FLOW_PROTO_ESP && room >= 4) {
		f->label = flow_u32(l4); /* RFC 4303 2 */
	} else if (f->proto == FLOW_PROTO_AH && room >= 8) {
		f->label = flow_u32(l4 + 4); /* RFC 4302 2 */
	}
}

/**
 * pkt_flow_read() - what tells the flow of a packet
 * @ip:    its IP header
 * @bytes: that may be read from there on, any number
 * Context: any.
 */
ALWAYS_INLINE void pkt_flow_read(const uint8_t *ip, uint32_t bytes, uint8_t family,
				 struct pkt_flow *f)
{
	const uint8_t icmp = family == 4 ? FLOW_PROTO_ICMP4 : FLOW_PROTO_ICMP6;
	uint32_t quoted;

	memset(f, 0, sizeof(*f));
	if (!pkt_flow_ip(ip, bytes, family, f))
		return;
	quoted = f->at + FLOW_ICMP_HEADER;
	if (unlikely(f->proto == icmp) && f->at && quoted <= f->end &&
	    flow_is_icmp_error(family, ip[f->at]) &&
	    pkt_flow_ip(ip + quoted, f->end - quoted, family, f))
		ip += quoted;
	pkt_flow_l4(ip, f);
}

/* ---- the number ---- */

/* Every bit of @x changes about half the bits: the finalizer of SplitMix64 (Steele, Lea, Flood,
 * "Fast splittable pseudorandom number generators", 2014; constants by D. Stafford, mix 13). */
ALWAYS_INLINE uint64_t flow_mix(uint64_t x)
{
	x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
	return x ^ x >> 31;
}

ALWAYS_INLINE uint32_t pkt_flow_number(const struct pkt_flow *f, uint64_t seed)
{
	const uint64_t odd = UINT64_C(0x9e3779b97f4a7c15); /* 2^64 / golden ratio */
	uint64_t sum = 0;

	for (unsigned i = 0; i < 2; i++)
		sum += flow_mix(flow_mix(f->addr[i][0] ^ seed) ^ f->addr[i][1] ^
				f->port[i] * odd);
	return (uint32_t)(flow_mix(sum ^ ((uint64_t)f->label << 8 | f->proto) * odd) >>
			  32);
}

ALWAYS_INLINE uint32_t pkt_flow_hash(const uint8_t *ip, uint32_t bytes, uint8_t family,
				     uint64_t seed)
{
	struct pkt_flow f;

	pkt_flow_read(ip, bytes, family, &f);
	return pkt_flow_number(&f, seed);
}
