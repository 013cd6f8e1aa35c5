/* test/frame.c - see frame.h; sums are the plain ones of RFC 1071, apart from the core's */
#include "frame.h"

#include <string.h>

#include "../core/bits.h"

const uint8_t frame_src6[16] = { 0x20, 0x01, 0x0d, 0xb8, 1, 2,	3,  4,
				 5,    6,    7,	   8,	 9, 10, 11, 12 };
const uint8_t frame_dst6[16] = { 0x20, 0x01, 0x0d, 0xb8, 0xff, 0xfe, 0xfd, 0xfc,
				 0xfb, 0xfa, 0xf9, 0xf8, 0xf7, 0xf6, 0xf5, 0xf4 };

static uint8_t *grow(struct frame *f, uint32_t bytes)
{
	uint8_t *p = f->b + f->len;

	f->len += bytes;
	return p;
}

void frame_start(struct frame *f)
{
	static const uint8_t macs[12] = { 2, 0xaa, 0xbb, 0xcc, 0xdd, 0xee,
					  2, 0x11, 0x22, 0x33, 0x44, 0x55 };

	memset(f, 0, sizeof(*f));
	memcpy(f->b, macs, sizeof(macs));
	f->len = 14;
	f->type_at = 12;
}

void frame_vlan(struct frame *f, uint16_t tpid, uint16_t tci)
{
	uint8_t *p = grow(f, 4);

	cx_put_be16(f->b + f->type_at, tpid);
	cx_put_be16(p, tci);
	f->type_at = f->len - 2;
}

static void payload_bytes(struct frame *f, uint32_t bytes)
{
	uint8_t *p = grow(f, bytes);

	for (uint32_t i = 0; i < bytes; i++)
		p[i] = (uint8_t)(i * 7 + 3);
}

void frame_type(struct frame *f, uint16_t type, uint32_t payload)
{
	cx_put_be16(f->b + f->type_at, type);
	payload_bytes(f, payload);
}

void frame_ip4(struct frame *f, uint32_t src, uint32_t dst, uint32_t option_bytes)
{
	uint8_t *p = f->b + f->len;

	cx_put_be16(f->b + f->type_at, 0x0800);
	f->ip = 4;
	f->l3 = f->len;
	f->next_at = f->len + 9;
	grow(f, 20);
	p[0] = (uint8_t)(0x45 + option_bytes / 4);
	p[1] = 0xb9; /* DSCP 46, ECN 1 */
	p[8] = 61;
	cx_put_be32(p + 12, src);
	cx_put_be32(p + 16, dst);
	memset(grow(f, option_bytes), 1, option_bytes); /* NOP */
}

void frame_ip4_frag(struct frame *f, uint16_t flags_and_offset)
{
	cx_put_be16(f->b + f->l3 + 6, flags_and_offset);
	f->frag = flags_and_offset & 0x3fff;
}

void frame_ip6(struct frame *f, const uint8_t src[16], const uint8_t dst[16])
{
	uint8_t *p = f->b + f->len;

	cx_put_be16(f->b + f->type_at, 0x86dd);
	f->ip = 6;
	f->l3 = f->len;
	f->next_at = f->len + 6;
	grow(f, 40);
	cx_put_be32(p, 0x6b9abcde); /* traffic class 0xb9, flow label 0xabcde */
	p[7] = 61;
	memcpy(p + 8, src, 16);
	memcpy(p + 24, dst, 16);
}

/* AH counts its length in 4 bytes, less 2; the others in 8, less 1. */
void frame_ext(struct frame *f, uint8_t proto, uint32_t bytes)
{
	f->b[f->next_at] = proto;
	f->next_at = f->len;
	grow(f, bytes)[1] = (uint8_t)(proto == 51 ? bytes / 4 - 2 : bytes / 8 - 1);
}

void frame_ip6_frag(struct frame *f, uint16_t offset_and_more)
{
	uint8_t *p = f->b + f->len;

	frame_ext(f, 44, 8);
	p[1] = 0;
	cx_put_be16(p + 2, offset_and_more);
	f->frag = offset_and_more & 0xfff9;
}

void frame_proto(struct frame *f, uint8_t proto, uint32_t payload)
{
	f->b[f->next_at] = proto;
	f->proto = proto;
	f->l4 = f->len;
	payload_bytes(f, payload);
}

void frame_udp(struct frame *f, uint16_t sport, uint16_t dport, uint32_t payload)
{
	uint8_t *p = f->b + f->len;

	frame_proto(f, 17, 8 + payload);
	memset(p, 0, 8);
	cx_put_be16(p, sport);
	cx_put_be16(p + 2, dport);
	cx_put_be16(p + 4, (uint16_t)(8 + payload));
}

void frame_tcp(struct frame *f, uint16_t sport, uint16_t dport, uint16_t flags,
	       uint32_t payload)
{
	uint8_t *p = f->b + f->len;

	frame_proto(f, 6, 20 + payload);
	memset(p, 0, 20);
	cx_put_be16(p, sport);
	cx_put_be16(p + 2, dport);
	cx_put_be16(p + 12, 0x5000 | flags);
}

/* ---- sums ---- */

static uint32_t sum16(const uint8_t *p, uint32_t len)
{
	uint32_t sum = 0;

	for (uint32_t i = 0; i < len; i++)
		sum += i % 2 ? p[i] : (uint32_t)p[i] << 8;
	return sum;
}

static uint16_t fold(uint32_t sum)
{
	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)~sum;
}

void frame_ip4_sum(struct frame *f)
{
	uint8_t *p = f->b + f->l3;

	cx_put_be16(p + 10, 0);
	cx_put_be16(p + 10, fold(sum16(p, (uint32_t)(p[0] & 0xf) * 4)));
}

static void l4_sum(struct frame *f)
{
	uint32_t len = f->len - f->l4, addr = f->ip == 4 ? 12 : 8,
		 bytes = f->ip == 4 ? 8 : 32;
	uint8_t *sum = f->b + f->l4 + (f->proto == 17 ? 6 : 16);
	uint16_t v;

	if (f->frag || (f->proto != 17 && f->proto != 6))
		return;
	cx_put_be16(sum, 0);
	v = fold(sum16(f->b + f->l3 + addr, bytes) + f->proto + len +
		 sum16(f->b + f->l4, len));
	cx_put_be16(sum, v ? v : 0xffff);
}

void frame_finish(struct frame *f)
{
	uint8_t *p = f->b + f->l3;

	if (f->ip == 4) {
		cx_put_be16(p + 2, (uint16_t)(f->len - f->l3));
		frame_ip4_sum(f);
	} else if (f->ip == 6) {
		cx_put_be16(p + 4, (uint16_t)(f->len - f->l3 - 40));
	}
	if (f->l4)
		l4_sum(f);
}

/* ---- whole frames ---- */

struct frame frame_udp4(uint16_t sport, uint16_t dport, uint32_t payload)
{
	struct frame f;

	frame_start(&f);
	frame_ip4(&f, FRAME_SRC4, FRAME_DST4, 0);
	frame_udp(&f, sport, dport, payload);
	frame_finish(&f);
	return f;
}

struct frame frame_udp6(uint16_t sport, uint16_t dport, uint32_t payload)
{
	struct frame f;

	frame_start(&f);
	frame_ip6(&f, frame_src6, frame_dst6);
	frame_udp(&f, sport, dport, payload);
	frame_finish(&f);
	return f;
}

struct frame frame_tcp4(uint16_t sport, uint16_t dport, uint16_t flags)
{
	struct frame f;

	frame_start(&f);
	frame_ip4(&f, FRAME_SRC4, FRAME_DST4, 0);
	frame_tcp(&f, sport, dport, flags, 30);
	frame_finish(&f);
	return f;
}

struct frame frame_tcp6(uint16_t sport, uint16_t dport, uint16_t flags)
{
	struct frame f;

	frame_start(&f);
	frame_ip6(&f, frame_src6, frame_dst6);
	frame_tcp(&f, sport, dport, flags, 30);
	frame_finish(&f);
	return f;
}

struct frame frame_chain(unsigned n)
{
	static const uint8_t order[] = { 0, 60, 43, 51, 60 };
	struct frame f;

	frame_start(&f);
	frame_ip6(&f, frame_src6, frame_dst6);
	for (unsigned i = 0; i < n; i++)
		frame_ext(&f, order[i % sizeof(order)], 16);
	frame_tcp(&f, 7, 8, 1, 0);
	frame_finish(&f);
	return f;
}
