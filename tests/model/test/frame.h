/* test/frame.h - frames for tests, built header by header
 *
 *   frame_start(&f);
 *   frame_vlan(&f, 0x8100, 5);
 *   frame_ip6(&f, src, dst);
 *   frame_ext(&f, 0, 8);
 *   frame_tcp(&f, 1, 2, 0x10, 20);
 *   frame_finish(&f);
 *
 * Each header names the next one in the one before. frame_finish() writes lengths and
 * checksums; a test then breaks what it wants broken.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct frame {
	uint8_t b[4096];
	uint32_t len;
	uint32_t type_at;  /* of the EtherType that names the next header */
	uint32_t next_at;  /* of the byte that names the next header, inside IP */
	uint32_t l3, l4;   /* offsets, 0 = none */
	uint8_t ip, proto; /* 4 or 6; of layer 4 */
	bool frag;
};

extern const uint8_t frame_src6[16], frame_dst6[16];
#define FRAME_SRC4 UINT32_C(0xc0a80102)
#define FRAME_DST4 UINT32_C(0x0a141e28)

void frame_start(struct frame *f); /* 02:aa:bb:cc:dd:ee from 02:11:22:33:44:55 */
void frame_vlan(struct frame *f, uint16_t tpid, uint16_t tci);
void frame_type(struct frame *f, uint16_t type, uint32_t payload); /* neither IP */
void frame_ip4(struct frame *f, uint32_t src, uint32_t dst, uint32_t option_bytes);
void frame_ip4_frag(struct frame *f, uint16_t flags_and_offset); /* after frame_ip4() */
void frame_ip6(struct frame *f, const uint8_t src[16], const uint8_t dst[16]);
/* Any extension header but fragment: @bytes in all, a multiple of 8. */
void frame_ext(struct frame *f, uint8_t proto, uint32_t bytes);
void frame_ip6_frag(struct frame *f, uint16_t offset_and_more);
void frame_udp(struct frame *f, uint16_t sport, uint16_t dport, uint32_t payload);
void frame_tcp(struct frame *f, uint16_t sport, uint16_t dport, uint16_t flags,
	       uint32_t payload);
void frame_proto(struct frame *f, uint8_t proto, uint32_t payload); /* another layer 4 */
void frame_finish(struct frame *f);
void frame_ip4_sum(struct frame *f); /* the header checksum again */

/* Whole frames: addresses FRAME_*, checksums right, @payload bytes after layer 4. */
struct frame frame_udp4(uint16_t sport, uint16_t dport, uint32_t payload);
struct frame frame_udp6(uint16_t sport, uint16_t dport, uint32_t payload);
struct frame frame_tcp4(uint16_t sport, uint16_t dport, uint16_t flags);
struct frame frame_tcp6(uint16_t sport, uint16_t dport, uint16_t flags);
/* TCP over IPv6 with @n extension headers of 16 bytes. */
struct frame frame_chain(unsigned n);
