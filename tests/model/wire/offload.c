/* wire/offload.c - see offload.h
 *
 * Sources: virtio 1.2, 5.1.6.2 "Packet Transmission" (the meaning of struct
 * virtio_net_hdr); packet(7), PACKET_VNET_HDR and PACKET_AUXDATA; RFC 1071
 * (checksum), RFC 9293 (TCP), RFC 768 (UDP), RFC 9260 appendix A (CRC32c).
 */
#include "offload.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/virtio_net.h>
#include <stdbool.h>
#include <string.h>

#ifndef VIRTIO_NET_HDR_GSO_UDP_L4
#define VIRTIO_NET_HDR_GSO_UDP_L4 5 /* newer than Debian 12's header */
#endif

enum { IP_TCP = 6, IP_UDP = 17, IP_SCTP = 132, MAX_FRAME = 65536 + 64 };
enum {
	TCP_SEQ = 4,
	TCP_OFF = 12,
	TCP_FLAGS = 13,
	TCP_SUM = 16,
	UDP_LEN = 4,
	UDP_SUM = 6
};
enum { TCP_FIN = 0x01, TCP_PSH = 0x08, TCP_CWR = 0x80 };

static uint16_t get16(const uint8_t *p)
{
	return (uint16_t)(p[0] << 8 | p[1]);
}

static void put16(uint8_t *p, uint32_t v)
{
	p[0] = (uint8_t)(v >> 8);
	p[1] = (uint8_t)v;
}

static uint32_t get32(const uint8_t *p)
{
	return (uint32_t)get16(p) << 16 | get16(p + 2);
}

static void put32(uint8_t *p, uint32_t v)
{
	put16(p, v >> 16);
	put16(p + 2, v & 0xffff);
}

static uint32_t sum(const uint8_t *p, uint32_t len, uint32_t start)
{
	uint64_t s = start;

	for (; len > 1; p += 2, len -= 2)
		s += get16(p);
	if (len)
		s += (uint32_t)*p << 8;
	while (s >> 16)
		s = (s & 0xffff) + (s >> 16);
	return (uint32_t)s;
}

static uint32_t crc32c(const uint8_t *p, uint32_t len)
{
	uint32_t crc = UINT32_MAX;

	for (; len; len--) {
		crc ^= *p++;
		for (int i = 0; i < 8; i++)
			crc = crc >> 1 ^ (crc & 1 ? 0x82f63b78 : 0);
	}
	return ~crc;
}

/* ---- where the headers are ---- */

struct layout {
	uint32_t l3, l4;
	uint8_t ip; /* 4, 6 */
	uint8_t proto;
};

static uint32_t find_l3(const uint8_t *f, uint32_t len)
{
	uint32_t l3 = 14;

	while (l3 + 24 <= len &&
	       (get16(f + l3 - 2) == 0x8100 || get16(f + l3 - 2) == 0x88a8))
		l3 += 4;
	return l3;
}

/* csum_start names the transport header, so IPv6 extension headers need no walk: they are
 * copied as they are. It is 0 in a frame that the kernel merged from whole ones. */
static bool find_layout(const uint8_t *f, uint32_t len, uint32_t l4, struct layout *y)
{
	memset(y, 0, sizeof(*y));
	y->l3 = find_l3(f, len);
	if (y->l3 + 20 > len)
		return false;
	y->ip = f[y->l3] >> 4;
	if (!l4)
		l4 = y->l3 + (y->ip == 4 ? (f[y->l3] & 15) * 4u : 40);
	y->l4 = l4;
	if (y->l3 + (y->ip == 4 ? 20 : 40) > l4 || l4 + 8 > len)
		return false;
	y->proto = y->ip == 4 ? f[y->l3 + 9] : y->ip == 6 ? f[y->l3 + 6] : 0;
	return y->proto != 0;
}

/* ---- one frame ---- */

static void emit(const struct offload *o, uint8_t *frame, uint32_t len)
{
	if (o->vlan_tpid) {
		memmove(frame - 4, frame, 12);
		frame -= 4;
		len += 4;
		put16(frame + 12, o->vlan_tpid);
		put16(frame + 14, o->vlan_tci);
	}
	if (len < WIRE_MIN_FRAME) {
		uint8_t padded[WIRE_MIN_FRAME] = { 0 };

		memcpy(padded, frame, len);
		o->emit(o->arg, padded, WIRE_MIN_FRAME);
		return;
	}
	o->emit(o->arg, frame, len);
}

/* The field already holds the sum of the pseudo header. */
static int complete(const struct virtio_net_hdr *h, uint8_t *f, uint32_t len)
{
	uint32_t start = h->csum_start, at = start + h->csum_offset;
	struct layout y;
	uint32_t s;

	if (start >= len || at + 2 > len)
		return -EINVAL;
	/* The header cannot tell SCTP's CRC32c from a checksum; offset 8 and the protocol do. */
	if (h->csum_offset == 8 && at + 4 <= len && find_layout(f, len, start, &y) &&
	    y.proto == IP_SCTP) {
		memset(f + at, 0, 4);
		s = crc32c(f + start, len - start);
		f[at] = (uint8_t)s, f[at + 1] = (uint8_t)(s >> 8);
		f[at + 2] = (uint8_t)(s >> 16), f[at + 3] = (uint8_t)(s >> 24);
		return 0;
	}
	s = ~sum(f + start, len - start, 0) & 0xffff;
	/* RFC 768: a computed zero is sent as all ones. Harmless for TCP: both mean zero. */
	put16(f + at, s ? s : 0xffff);
	return 0;
}

/* ---- several segments in one ---- */

static uint32_t pseudo(const uint8_t *f, const struct layout *y, uint32_t l4_len)
{
	const uint8_t *ip = f + y->l3;
	uint32_t s = y->ip == 4 ? sum(ip + 12, 8, 0) : sum(ip + 8, 32, 0);

	s += y->proto + (l4_len & 0xffff) + (l4_len >> 16);
	return s;
}

static void fix_ip(uint8_t *f, const struct layout *y, uint32_t len, uint32_t nth)
{
	uint8_t *ip = f + y->l3;

	if (y->ip == 6) {
		put16(ip + 4, len - y->l3 - 40);
		return;
	}
	put16(ip + 2, len - y->l3);
	put16(ip + 4, get16(ip + 4) + nth);
	put16(ip + 10, 0);
	put16(ip + 10, ~sum(ip, (ip[0] & 15) * 4u, 0) & 0xffff);
}

static void fix_tcp(uint8_t *tcp, uint32_t done, bool first, bool last)
{
	put32(tcp + TCP_SEQ, get32(tcp + TCP_SEQ) + done);
	/* FIN and PSH belong to the last segment, CWR to the first (RFC 3168, 6.1.2). */
	if (!last)
		tcp[TCP_FLAGS] &= (uint8_t) ~(TCP_FIN | TCP_PSH);
	if (!first)
		tcp[TCP_FLAGS] &= (uint8_t)~TCP_CWR;
}

static void fix_l4(uint8_t *f, const struct layout *y, uint32_t len, uint32_t done,
		   bool last)
{
	uint8_t *l4 = f + y->l4;
	uint32_t l4_len = len - y->l4;
	uint32_t at = y->proto == IP_TCP ? TCP_SUM : UDP_SUM;
	uint32_t s;

	if (y->proto == IP_TCP)
		fix_tcp(l4, done, done == 0, last);
	else
		put16(l4 + UDP_LEN, l4_len);
	put16(l4 + at, 0);
	s = ~sum(l4, l4_len, pseudo(f, y, l4_len)) & 0xffff;
	put16(l4 + at, s ? s : 0xffff);
}

static int segment(const struct offload *o, uint8_t *frame, uint32_t len)
{
	static _Thread_local uint8_t room[OFFLOAD_ROOM + MAX_FRAME];
	const struct virtio_net_hdr *h = o->hdr;
	uint8_t *out = room + OFFLOAD_ROOM;
	uint32_t head, nth = 0;
	struct layout y;
	uint32_t l4 = h->flags & VIRTIO_NET_HDR_F_NEEDS_CSUM ? h->csum_start : 0;

	if (!h->gso_size || len > MAX_FRAME || !find_layout(frame, len, l4, &y))
		return -EINVAL;
	/* An extension header between IPv6 and TCP hides the protocol: the type tells it. */
	y.proto = (h->gso_type & ~VIRTIO_NET_HDR_GSO_ECN) == VIRTIO_NET_HDR_GSO_UDP_L4
			  ? IP_UDP
			  : IP_TCP;
	if (y.proto == IP_TCP && y.l4 + 20 > len)
		return -EINVAL;
	head = y.l4 + (y.proto == IP_TCP ? (frame[y.l4 + TCP_OFF] >> 4) * 4u : 8);
	if (head >= len)
		return -EINVAL;
	for (uint32_t done = 0; done < len - head; done += h->gso_size, nth++) {
		uint32_t n = len - head - done < h->gso_size ? len - head - done
							     : h->gso_size;

		memcpy(out, frame, head);
		memcpy(out + head, frame + head + done, n);
		fix_ip(out, &y, head + n, nth);
		fix_l4(out, &y, head + n, done, done + n == len - head);
		emit(o, out, head + n);
	}
	return 0;
}

int offload_finish(const struct offload *o, uint8_t *frame, uint32_t len)
{
	const struct virtio_net_hdr *h = o->hdr;

	if (len < 14)
		return -EINVAL;
	if (h && h->gso_type != VIRTIO_NET_HDR_GSO_NONE)
		return segment(o, frame, len);
	if (h && (h->flags & VIRTIO_NET_HDR_F_NEEDS_CSUM) && complete(h, frame, len) < 0)
		return -EINVAL;
	emit(o, frame, len);
	return 0;
}
