/* pkt/plain_hot.h - the frames that nearly all traffic is, told for a whole burst by one branch
 *
 * HOT. Plain: pkt_parse_full() would let the frame go on to its route, untagged and without
 * options, its IP header 14 bytes in. Frames that are not plain are for it to look at; some are
 * forwarded in the end, those with a priority tag, or to 240/4.
 *
 * Of each frame, sixteen bytes at a time, only what differs is gathered; what that comes to is
 * looked at once, at the end of a burst, or after each frame to tell which ones it was.
 *
 *   IPv4  |0  to      |6  from    |12 type |14 45 tos|16 total|18 id frag ttl proto sum from to|34
 *   IPv6  |0  to      |6  from    |12 type |14 6. ..  |18 payload next hops from ... |38 to   |54
 *         '------------ eth: 16 bytes ---------------'       '-- ip: 16 bytes from 18 on ----'
 *
 * Length fields are not among it: who rewrites the frame reads them anyway (pkt_fits()).
 */
#pragma once

#include <stdbool.h>
#include <string.h>

#include "../base/hot.h"
#include "csum.h"
#include "eth.h"
#include "ip4.h"
#include "ip6.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#elif defined(__ARM_NEON)
#include <arm_neon.h>
#endif

typedef uint8_t pkt_16 __attribute__((vector_size(16)));

enum {
	PKT_IP_AT = 18, /* the second sixteen bytes */
	PKT_HEAD4 = sizeof(struct eth_hdr) + sizeof(struct ip4_hdr),
	PKT_HEAD6 = sizeof(struct eth_hdr) + sizeof(struct ip6_hdr),
};

ALWAYS_INLINE pkt_16 pkt_load(const void *p)
{
	pkt_16 v;

	memcpy(&v, p, sizeof(v));
	return v;
}

/* The larger of each pair of bytes. */
ALWAYS_INLINE pkt_16 pkt_max(pkt_16 a, pkt_16 b)
{
#if defined(__SSE2__)
	return (pkt_16)_mm_max_epu8((__m128i)a, (__m128i)b);
#elif defined(__ARM_NEON)
	return (pkt_16)vmaxq_u8((uint8x16_t)a, (uint8x16_t)b);
#else
	pkt_16 larger = (pkt_16)(a > b);

	return (a & larger) | (b & ~larger);
#endif
}

ALWAYS_INLINE bool pkt_any(pkt_16 v)
{
	uint64_t half[2];

	memcpy(half, &v, sizeof(half));
	return half[0] | half[1];
}

/* What frames have had, since pkt_look_at(). */
struct pkt_look {
	/* constant */
	pkt_16 like; /* the first 16 bytes of a plain frame to us */
	pkt_16 own;  /* the end of our address, where the source's is */
	/* gathered */
	pkt_16 differ;	  /* from `like` */
	pkt_16 ours;	  /* equal to `own` */
	pkt_16 most;	  /* of the IP header's bytes, less what they have at least */
	pkt_16 most_to;	  /* the same of an IPv6 destination */
	pkt_16 loop;	  /* 127 */
	uint32_t shorter; /* the top bit: some frame ends before its IP header does */
	uint32_t bad_sums;
	uint32_t flags; /* that every frame has: M5_PKT_* */
};

/* Bits of the first 16 bytes that must be as they are: our address, no multicast source, the type,
 * the version and, of IPv4, the header's length. */
#define PKT_MUST4 \
	{ \
		255, 255, 255, 255, 255, 255, 1, 0, 0, 0, 0, 0, 255, 255, 255, 0 \
	}
#define PKT_MUST6 \
	{ \
		255, 255, 255, 255, 255, 255, 1, 0, 0, 0, 0, 0, 255, 255, 0xf0, 0 \
	}
/* Sources whose last four bytes are ours are looked at more closely. */
#define PKT_OWN_WORD \
	{ \
		0, 0, 0, 0, 0, 0, 0, 0, 255, 255, 255, 255, 0, 0, 0, 0 \
	}
/* IPv4, from byte 18 on: a TTL of 2 or more; addresses not in 0/8, 127/8, 224/3. */
#define PKT_LEAST4 \
	{ \
		0, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0 \
	}
#define PKT_MOST4 \
	{ \
		255, 255, 255, 255, 253, 255, 255, 255, 222, 255, 255, 255, 222, 255, \
			255, 255 \
	}
#define PKT_LOOP4 \
	{ \
		0, 0, 0, 0, 0, 0, 0, 0, 255, 0, 0, 0, 255, 0, 0, 0 \
	}
/* IPv6, from byte 18 on: no hop-by-hop options, a hop limit of 2 or more, a source not in ::/8 or
 * fe00::/7. The last goes for the destination, from byte 38 on. */
#define PKT_LEAST6 \
	{ \
		0, 0, 1, 2, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 \
	}
#define PKT_MOST6 \
	{ \
		255, 255, 254, 253, 252, 255, 255, 255, 255, 255, 255, 255, 255, 255, \
			255, 255 \
	}
#define PKT_LEAST6_TO \
	{ \
		1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 \
	}
#define PKT_MOST6_TO \
	{ \
		252, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, \
			255, 255 \
	}

/* @mac: of the port. */
ALWAYS_INLINE struct pkt_look pkt_look_at(const uint8_t mac[6], bool six)
{
	pkt_16 like = { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 8, 0, 0x45, 0 }, own = { 0 };

	if (six)
		like = (pkt_16){ 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x86, 0xdd, 0x60, 0 };
	memcpy(&like, mac, 6);
	memcpy((uint8_t *)&own + 8, mac + 2, 4);
	return (struct pkt_look){ .like = like, .own = own, .flags = UINT32_MAX };
}

/* One frame more. At least 60 bytes are there, whatever @len says. */
ALWAYS_INLINE void pkt_look(struct pkt_look *l, const uint8_t *data, uint32_t len,
			    uint32_t flags, bool six, bool l3_ok)
{
	typedef uint32_t words __attribute__((vector_size(16)));
	const pkt_16 least = six ? (pkt_16)PKT_LEAST6 : (pkt_16)PKT_LEAST4;
	pkt_16 eth = pkt_load(data), ip = pkt_load(data + PKT_IP_AT);

	l->differ |= eth ^ l->like;
	l->ours |= (pkt_16)((words)eth == (words)l->own);
	l->most = pkt_max(l->most, ip - least);
	l->shorter |= len - (six ? PKT_HEAD6 : PKT_HEAD4);
	if (six) {
		ip = pkt_load(data + PKT_HEAD6 - 16);
		l->most_to = pkt_max(l->most_to, ip - (pkt_16)PKT_LEAST6_TO);
		return;
	}
	l->loop |= (pkt_16)(ip == 127);
	if (l3_ok)
		l->flags &= flags;
	else
		l->bad_sums |= !csum_ip4_ok(data + sizeof(struct eth_hdr));
}

/* Were all of them plain? @checked: the flag of a frame whose IPv4 header the card has checked. */
ALWAYS_INLINE bool pkt_looked_plain(const struct pkt_look *l, uint32_t checked, bool six)
{
	pkt_16 odd = l->ours & (pkt_16)PKT_OWN_WORD;

	if (six) {
		odd |= l->differ & (pkt_16)PKT_MUST6;
		odd |= (pkt_16)(l->most > (pkt_16)PKT_MOST6);
		odd |= (pkt_16)(l->most_to > (pkt_16)PKT_MOST6_TO);
	} else {
		odd |= l->differ & (pkt_16)PKT_MUST4;
		odd |= (pkt_16)(l->most > (pkt_16)PKT_MOST4);
		odd |= l->loop & (pkt_16)PKT_LOOP4;
	}
	return !pkt_any(odd) && !(l->shorter >> 31) && !l->bad_sums &&
	       (l->flags & checked) == checked;
}

/* Bytes of the IP packet, as its header says. */
ALWAYS_INLINE uint32_t pkt_bytes(const uint8_t *data, bool six)
{
	const struct ip4_hdr *ip4 = (const void *)(data + sizeof(struct eth_hdr));
	const struct ip6_hdr *ip6 = (const void *)(data + sizeof(struct eth_hdr));

	return six ? from_be16(ip6->payload_len) + (uint32_t)sizeof(*ip6)
		   : from_be16(ip4->total_len);
}

/* Does it end inside its plain frame, and not before its header does? */
ALWAYS_INLINE bool pkt_fits(uint32_t bytes, uint32_t len, bool six)
{
	const uint32_t head = six ? PKT_HEAD6 : PKT_HEAD4;

	return bytes - (head - (uint32_t)sizeof(struct eth_hdr)) <= len - head;
}

/* Of one frame: 4 or 6 if it is plain and its packet fits, else 0. */
ALWAYS_INLINE unsigned pkt_plain(const uint8_t *data, uint32_t len, bool l3_ok,
				 const uint8_t mac[6])
{
	struct pkt_look four = pkt_look_at(mac, false), six = pkt_look_at(mac, true);

	pkt_look(&four, data, len, 0, false, false);
	if (l3_ok)
		four.bad_sums = 0;
	pkt_look(&six, data, len, 0, true, true);
	if (pkt_looked_plain(&four, 0, false) &&
	    pkt_fits(pkt_bytes(data, false), len, false))
		return 4;
	if (pkt_looked_plain(&six, 0, true) && pkt_fits(pkt_bytes(data, true), len, true))
		return 6;
	return 0;
}
