/* core/parse.c - what a frame is
 *
 *   Ethernet [VLAN [VLAN]]  IPv4 [options] | IPv6 [extensions]  TCP | UDP
 *
 * Each layer looks only at bytes between its own start and `end`; an IP header
 * moves `end` down to its own length, so that Ethernet padding is nobody's. A
 * layer that does not fit is absent, and so is all after it: the frame then
 * matches by what came before. No length in a frame is believed before it was
 * compared with what is there.
 *
 * What the *_ok bits mean is what drivers make of them: L3 ok with an IPv4 header
 * is a good header checksum, L4 ok a good TCP or UDP checksum (DPDK
 * drivers/net/mlx5 "rxq_cq_to_ol_flags", Linux en_rx.c mlx5e_handle_csum). Sources do
 * not say which bit a broken length clears; assumed: the bit of the layer whose
 * length it is.
 */
#include "dev.h"

#include <string.h>

enum { ETH_IPV4 = 0x0800, ETH_IPV6 = 0x86dd, ETH_CVLAN = 0x8100, ETH_SVLAN = 0x88a8 };

/* IANA protocol numbers */
enum {
	PROTO_HOPOPTS = 0,
	PROTO_TCP = 6,
	PROTO_UDP = 17,
	PROTO_ROUTING = 43,
	PROTO_FRAGMENT = 44,
	PROTO_AH = 51,
	PROTO_DSTOPTS = 60,
};

/* A chain this long is an attack; parsers of hardware stop much earlier. Assumed. */
#define MAX_EXTENSIONS 8

struct cursor {
	struct cx_pkt *pkt;
	uint32_t off, end; /* next byte, and the first one that is not ours */
};

static bool fits(const struct cursor *c, uint32_t bytes)
{
	return c->end - c->off >= bytes;
}

static const uint8_t *here(const struct cursor *c)
{
	return c->pkt->data + c->off;
}

/* ---- checksums: RFC 1071, summed in host order, which does not matter to "all ones" ---- */

static uint64_t sum64(uint64_t sum, const uint8_t *p, uint32_t len)
{
	uint64_t word, last = 0;

	for (; len >= 8; p += 8, len -= 8) {
		memcpy(&word, p, 8);
		sum += (word & UINT32_MAX) + (word >> 32);
	}
	memcpy(&last, p, len);
	return sum + (last & UINT32_MAX) + (last >> 32);
}

/* A sum that includes its own checksum is all ones. */
static bool sum_is_good(uint64_t sum)
{
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return sum == 0xffff;
}

/* Addresses, protocol and length (RFC 793, RFC 8200 8.1), then the segment. */
static bool l4_sum_is_good(const struct cx_pkt *pkt, uint32_t len)
{
	const uint8_t *ip = pkt->data + pkt->l3_off;
	uint8_t tail[8] = { 0 };
	uint64_t sum;

	cx_put_be32(tail, len);
	tail[7] = pkt->ip_proto;
	sum = pkt->l3 == 4 ? sum64(0, ip + 12, 8) : sum64(0, ip + 8, 32);
	sum = sum64(sum, tail, sizeof(tail));
	return sum_is_good(sum64(sum, pkt->data + pkt->l4_off, len));
}

/* ---- TCP and UDP ---- */

static void parse_ports(struct cx_pkt *pkt, const uint8_t *p)
{
	pkt->sport = cx_be16(p);
	pkt->dport = cx_be16(p + 2);
}

static void parse_tcp(struct cursor *c)
{
	struct cx_pkt *pkt = c->pkt;
	const uint8_t *p = here(c);
	uint32_t bytes;

	if (!fits(c, 20))
		return;
	bytes = (uint32_t)(p[12] >> 4) * 4;
	if (bytes < 20 || !fits(c, bytes))
		return;
	parse_ports(pkt, p);
	pkt->tcp_flags = cx_be16(p + 12) & 0x1ff;
	pkt->l4_off = (uint16_t)c->off;
	pkt->payload_off = (uint16_t)(c->off + bytes);
	pkt->l4_ok = !pkt->frag && l4_sum_is_good(pkt, c->end - c->off);
}

/* No checksum is a good one in IPv4 (RFC 768) and a bad one in IPv6 (RFC 8200 8.1). */
static bool udp_is_good(const struct cx_pkt *pkt, const uint8_t *p, uint32_t room)
{
	uint32_t bytes = cx_be16(p + 4);

	if (bytes < 8 || bytes > room)
		return false;
	if (!cx_be16(p + 6))
		return pkt->l3 == 4;
	return l4_sum_is_good(pkt, bytes);
}

static void parse_udp(struct cursor *c)
{
	struct cx_pkt *pkt = c->pkt;

	if (!fits(c, 8))
		return;
	parse_ports(pkt, here(c));
	pkt->l4_off = (uint16_t)c->off;
	pkt->payload_off = (uint16_t)(c->off + 8);
	pkt->l4_ok = !pkt->frag && udp_is_good(pkt, here(c), c->end - c->off);
}

/* Only the first fragment has a layer 4; a checksum over one fragment means nothing. */
static void parse_l4(struct cursor *c)
{
	struct cx_pkt *pkt = c->pkt;

	if (pkt->frag && !pkt->first_frag)
		return;
	if (pkt->ip_proto == PROTO_TCP)
		parse_tcp(c);
	else if (pkt->ip_proto == PROTO_UDP)
		parse_udp(c);
}

static void set_fragment(struct cx_pkt *pkt, bool at_start, bool more)
{
	pkt->frag = more || !at_start;
	pkt->first_frag = more && at_start;
}

/* ---- IPv4: RFC 791 ---- */

static void parse_ipv4(struct cursor *c)
{
	struct cx_pkt *pkt = c->pkt;
	const uint8_t *p = here(c);
	uint32_t header, total;

	if (!fits(c, 20) || p[0] >> 4 != 4)
		return;
	header = (uint32_t)(p[0] & 0xf) * 4;
	if (header < 20 || !fits(c, header))
		return;
	total = cx_be16(p + 2);
	pkt->l3 = 4;
	pkt->l3_off = (uint16_t)c->off;
	pkt->ip_options = header > 20;
	pkt->tos = p[1];
	pkt->ttl = p[8];
	pkt->ip_proto = p[9];
	set_fragment(pkt, !(cx_be16(p + 6) & 0x1fff), p[6] & 0x20);
	if (total < header || !fits(c, total))
		return;
	pkt->l3_ok = sum_is_good(sum64(0, p, header));
	c->end = c->off + total;
	c->off += header;
	pkt->payload_off = (uint16_t)c->off;
	parse_l4(c);
}

/* ---- IPv6: RFC 8200; AH: RFC 4302 ---- */

static bool is_extension(uint8_t proto)
{
	return proto == PROTO_HOPOPTS || proto == PROTO_ROUTING ||
	       proto == PROTO_DSTOPTS || proto == PROTO_FRAGMENT || proto == PROTO_AH;
}

/* Of the extension header at hand, whose first 8 bytes are there. */
static uint32_t extension_bytes(const struct cursor *c)
{
	uint32_t units = here(c)[1];

	if (c->pkt->ip_proto == PROTO_FRAGMENT)
		return 8;
	if (c->pkt->ip_proto == PROTO_AH)
		return (units + 2) * 4;
	return (units + 1) * 8;
}

/* An atomic fragment (RFC 6946) has the header and is none. */
static void parse_fragment_header(struct cursor *c)
{
	uint16_t word = cx_be16(here(c) + 2);

	set_fragment(c->pkt, !(word & 0xfff8), word & 1);
}

/* Leaves ip_proto at the first header that is no extension, or at the one that breaks the
 * chain. Return: is there a layer 4 at the cursor? */
static bool skip_extensions(struct cursor *c)
{
	struct cx_pkt *pkt = c->pkt;

	for (unsigned i = 0; is_extension(pkt->ip_proto); i++) {
		uint32_t bytes;

		if (i == MAX_EXTENSIONS || !fits(c, 8))
			return false;
		bytes = extension_bytes(c);
		if (!fits(c, bytes))
			return false;
		if (pkt->ip_proto == PROTO_FRAGMENT)
			parse_fragment_header(c);
		pkt->ip_options = true; /* the completion has one bit for both; assumed */
		pkt->ip_proto = here(c)[0];
		c->off += bytes;
		pkt->payload_off = (uint16_t)c->off;
		if (pkt->frag && !pkt->first_frag)
			return false; /* what follows is data, whatever the number says */
	}
	return true;
}

static void parse_ipv6(struct cursor *c)
{
	struct cx_pkt *pkt = c->pkt;
	const uint8_t *p = here(c);
	uint32_t payload;

	if (!fits(c, 40) || p[0] >> 4 != 6)
		return;
	payload = cx_be16(p + 4);
	pkt->l3 = 6;
	pkt->l3_off = (uint16_t)c->off;
	pkt->tos = (uint8_t)(cx_be16(p) >> 4);
	pkt->ip_proto = p[6];
	pkt->ttl = p[7];
	if (!fits(c, 40 + payload))
		return;
	pkt->l3_ok = true; /* no checksum of its own */
	c->off += 40;
	c->end = c->off + payload;
	pkt->payload_off = (uint16_t)c->off;
	if (skip_extensions(c))
		parse_l4(c);
}

/* ---- Ethernet, IEEE 802.1Q and 802.1ad ---- */

static bool is_vlan(uint16_t type)
{
	return type == ETH_CVLAN || type == ETH_SVLAN;
}

static void parse_vlans(struct cursor *c)
{
	struct cx_pkt *pkt = c->pkt;

	while (pkt->n_vlan < 2 && is_vlan(pkt->eth_type) && fits(c, 4)) {
		uint16_t tci = cx_be16(here(c));

		if (pkt->n_vlan++ == 0) {
			pkt->vlan_tpid = pkt->eth_type;
			pkt->vlan_tci = tci;
		} else {
			pkt->vlan2_tpid = pkt->eth_type;
			pkt->vlan2_tci = tci;
		}
		pkt->eth_type = cx_be16(here(c) + 2);
		c->off += 4;
	}
}

void cx_parse(struct cx_pkt *pkt, const uint8_t *frame, uint32_t len)
{
	struct cursor c;

	memset(pkt, 0, sizeof(*pkt));
	pkt->data = frame;
	pkt->len = len;
	if (len < 14)
		return;
	pkt->l2_ok = true;
	pkt->eth_type = cx_be16(frame + 12);
	/* Offsets are 16 bits; what is past them can be payload only. */
	c = (struct cursor){ pkt, 14, len < UINT16_MAX ? len : UINT16_MAX };
	parse_vlans(&c);
	pkt->payload_off = (uint16_t)c.off;
	if (pkt->eth_type == ETH_IPV4)
		parse_ipv4(&c);
	else if (pkt->eth_type == ETH_IPV6)
		parse_ipv6(&c);
}
