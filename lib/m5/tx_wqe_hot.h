/* m5/tx_wqe_hot.h - a ring of send WQEs, and how packets are written into them
 *
 * HOT. One packet after the other into the WQE that the pen is in; what a burst is made of,
 * and when the device is told, is tx_hot.h.
 *
 *   | control | ethernet | pointer | bytes, frame ........ | pointer | ...   16 bytes each
 *   |<----------- 64-byte block ------------>|<---- ...
 *
 * A WQE is opened by the first packet, grows from burst to burst, and is closed by the
 * doorbell, when full, or where the ring ends: none wraps. One that is left with a single
 * packet goes out as an ordinary SEND, which looks the same.
 *
 * Source: DPDK drivers/net/mlx5/mlx5_tx.h for the segment limit, and pointers and bytes in
 * one WQE.
 */
#pragma once

#include <stdbool.h>
#include <string.h>

#include "../prm/wqe.h"
#include "cq_hot.h"
#include "pkt.h"
#include "rx_hot.h"
#include "txq.h"

enum {
	M5_TX_HEAD_DS = 2 /* control and Ethernet segment */,
	M5_TX_TAG_BYTES = 4,
	M5_TX_LIGHT =
		32, /* packets of a doorbell: fewer say that there is little to do */
	M5_TX_BLOCKS_MAX = PRM_DS_MAX * PRM_DS / PRM_WQEBB, /* of a WQE */
	/* Of a frame's start, with a pointer to the rest behind it. */
	M5_TX_START_MAX = PRM_ETH_INLINE_HERE + (PRM_DS_MAX - M5_TX_HEAD_DS - 1) * PRM_DS,
};

/* Packets by pointer, in one WQE of a receive queue. */
struct m5_tx_held {
	struct m5_rx *rx;
	uint32_t wqe, n;
};

/* By block, of a WQE whose completion was asked for: what that will cover. */
struct m5_tx_asked {
	uint32_t held_end;
	uint16_t next;
	bool sample;
};

/* The WQE being written; in registers during a burst. */
struct m5_tx_pen {
	uint8_t *at, *end; /* equal: none is open */
	uint32_t packets;
	uint32_t cs; /* checksums asked for, of all its packets */
};

struct m5_tx_ring {
	struct m5_tx_pen pen;
	uint8_t *base;
	struct m5_tx_held *held; /* as many as blocks */
	uint32_t held_next, held_done;
	uint16_t next, done, rung, covered; /* blocks */
	uint16_t last;			    /* block of the last closed WQE */
	uint16_t asked_out;		    /* completions under way */
	uint32_t mask;			    /* blocks - 1 */
	uint32_t qpn_shifted;		    /* number << 8 */
	uint32_t packets_new;		    /* closed, not rung */
	uint32_t held_new;		    /* packets held, not covered */
	be64_t first; /* bytes of the last closed WQE: what a doorbell says */
	struct m5_tx_asked *asked;
	be32_t *dbrec;
	struct m5_cq_hot cq;
} CACHE_ALIGNED;

enum m5_tx_sample_state {
	M5_TX_SAMPLE_NONE,
	M5_TX_SAMPLE_ARMED,
	M5_TX_SAMPLE_ASKED,
	M5_TX_SAMPLE_DONE
};

struct m5_tx {
	volatile uint64_t *doorbell; /* register; all rings share it */
	uint32_t copied_up_to;	     /* bytes; 0 = by pointer */
	uint32_t held_packets;	     /* not covered, at most */
	uint16_t dev;		     /* index of our device, for keys */
	uint8_t n_rings, now; /* the ring that bursts go to until the next doorbell */
	bool single;	      /* one packet a WQE, its header inlined */
	bool write_combining;
	bool wide;	     /* m5_tx_has_avx512() */
	uint8_t inline_mode; /* PRM_MIN_INLINE_* */
	bool failed;
	uint8_t syndrome, vendor_syndrome;
	uint64_t doorbells, errors;
	uint64_t flushes; /* NOPs, to be told of what was sent */
	uint64_t full;	  /* packets that found no room */
	uint64_t doorbells_seen;
	uint64_t sample_cookie, sample_stamp;
	enum m5_tx_sample_state sample;
	struct m5_tx_ring ring[M5_TX_RINGS_MAX];
};

/* ---- WQEs ---- */

ALWAYS_INLINE uint32_t m5_tx_blocks(uint32_t ds)
{
	return (ds + 3) / 4;
}

ALWAYS_INLINE uint32_t m5_tx_room(const struct m5_tx_ring *r)
{
	return r->mask + 1 - (uint16_t)(r->next - r->done);
}

ALWAYS_INLINE uint8_t *m5_tx_block(const struct m5_tx_ring *r, uint16_t block)
{
	return r->base + (size_t)(block & r->mask) * PRM_WQEBB;
}

ALWAYS_INLINE void m5_tx_put_segment(uint8_t *to, uint64_t a, uint64_t b)
{
	be64_t s[2] = { to_be64(a), to_be64(b) };

	memcpy(to, s, sizeof(s));
}

/* Segments of @ds 16 bytes at `next` are a WQE now. */
ALWAYS_INLINE void m5_tx_put_control(struct m5_tx_ring *r, uint32_t opcode, uint32_t ds)
{
	uint64_t first = ((uint64_t)r->next << 8 | opcode) << 32 | r->qpn_shifted | ds;

	m5_tx_put_segment(m5_tx_block(r, r->next), first,
			  (uint64_t)PRM_CE_FIRST_ERROR << 32);
	r->first = to_be64(first);
	r->last = r->next;
	r->next = (uint16_t)(r->next + m5_tx_blocks(ds));
}

ALWAYS_INLINE void m5_tx_close_wqe(struct m5_tx_ring *r, struct m5_tx_pen *pen)
{
	uint8_t *start = m5_tx_block(r, r->next);
	uint32_t ds = (uint32_t)(pen->at - start) / PRM_DS;

	m5_tx_put_segment(start + PRM_DS, (uint64_t)pen->cs << 24, 0);
	m5_tx_put_control(r, pen->packets == 1 ? PRM_OP_SEND : PRM_OP_ENHANCED_MPW, ds);
	r->packets_new += pen->packets;
	*pen = (struct m5_tx_pen){ .packets = 0 };
}

ALWAYS_INLINE void m5_tx_put_nop(struct m5_tx_ring *r)
{
	m5_tx_put_control(r, PRM_OP_NOP, 1);
}

/* Up to the end of the ring, where the next WQE does not fit. */
COLD static void m5_tx_pad(struct m5_tx_ring *r)
{
	do
		m5_tx_put_nop(r);
	while (r->next & r->mask);
}

/* Closes the WQE and opens one with room for @ds segments. False: the ring is full. */
ALWAYS_INLINE bool m5_tx_turn_page(struct m5_tx_ring *r, struct m5_tx_pen *pen,
				   uint32_t ds, uint32_t cs)
{
	uint32_t need = m5_tx_blocks(M5_TX_HEAD_DS + ds), edge, blocks;

	if (pen->packets)
		m5_tx_close_wqe(r, pen);
	edge = r->mask + 1 - (r->next & r->mask);
	if (unlikely(m5_tx_room(r) < (need > edge ? edge + need : need)))
		return false;
	if (unlikely(need > edge)) {
		m5_tx_pad(r);
		edge = r->mask + 1;
	}
	blocks = m5_tx_room(r) < edge ? m5_tx_room(r) : edge;
	if (blocks > M5_TX_BLOCKS_MAX)
		blocks = M5_TX_BLOCKS_MAX;
	pen->at = m5_tx_block(r, r->next) + (size_t)M5_TX_HEAD_DS * PRM_DS;
	pen->end = m5_tx_block(r, r->next) + (size_t)blocks * PRM_WQEBB;
	pen->cs = cs;
	return true;
}

/* ---- packets ---- */

ALWAYS_INLINE void m5_tx_put_pointer(uint8_t *to, uint32_t lkey, const uint8_t *data,
				     uint32_t bytes)
{
	m5_tx_put_segment(to, (uint64_t)bytes << 32 | lkey, (uintptr_t)data);
}

ALWAYS_INLINE void m5_tx_copy16(uint8_t *to, const uint8_t *from)
{
	typedef uint64_t two __attribute__((vector_size(16), aligned(1), may_alias));

	*(two *)(void *)to = *(const two *)(const void *)from;
}

/* 16 bytes at least; the last move overlaps the one before. */
ALWAYS_INLINE void m5_tx_copy(uint8_t *to, const uint8_t *from, uint32_t n)
{
	uint32_t i = 0;

	if (likely(n > 48)) {
		for (; unlikely(i + 64 < n); i += 16)
			m5_tx_copy16(to + i, from + i);
		m5_tx_copy16(to + i, from + i);
		i = n - 48;
		m5_tx_copy16(to + i, from + i);
		m5_tx_copy16(to + i + 16, from + i + 16);
	} else if (n > 16) {
		m5_tx_copy16(to, from);
		if (n > 32)
			m5_tx_copy16(to + 16, from + 16);
	}
	m5_tx_copy16(to + n - 16, from + n - 16);
}

ALWAYS_INLINE uint32_t m5_tx_inline_bytes(uint32_t bytes)
{
	return (uint32_t)(sizeof(struct prm_inline) + bytes + PRM_DS - 1) &
	       ~(PRM_DS - 1u);
}

/* The addresses and behind them @tag: 16 bytes. */
ALWAYS_INLINE void m5_tx_put_tagged(uint8_t *to, const struct m5_pkt *p)
{
	be32_t tag = to_be32(UINT32_C(0x8100) << 16 | p->vlan);

	memcpy(to, p->data, 12);
	memcpy(to + 12, &tag, sizeof(tag));
}

/* @bytes: with the tag, if one is to be inserted. @asks: a constant, whether that can be. */
ALWAYS_INLINE void m5_tx_put_inline(uint8_t *to, const struct m5_pkt *p, uint32_t bytes,
				    bool asks)
{
	be32_t head = to_be32(PRM_INLINE | bytes);

	memcpy(to, &head, sizeof(head));
	to += sizeof(head);
	if (asks && bytes != p->len) {
		m5_tx_put_tagged(to, p);
		m5_tx_copy(to + 16, p->data + 12, p->len - 12u);
	} else {
		m5_tx_copy(to, p->data, bytes);
	}
}

ALWAYS_INLINE uint32_t m5_tx_cs(uint32_t flags)
{
	return (flags & M5_PKT_ASK_L3 ? PRM_ETH_L3_CSUM : 0) |
	       (flags & M5_PKT_ASK_L4 ? PRM_ETH_L4_CSUM : 0);
}

/* Bytes that will be on the wire. */
ALWAYS_INLINE uint32_t m5_tx_wire_bytes(const struct m5_pkt *p, bool asks)
{
	return p->len + (asks && p->flags & M5_PKT_INSERT_VLAN ? M5_TX_TAG_BYTES : 0u);
}

/* ---- a packet in a WQE of its own, with the start of the frame in it ---- */

enum m5_tx_next_header { /* IANA protocol numbers of IPv6 extension headers */
			 M5_TX_HOP_BY_HOP = 0,
			 M5_TX_ROUTING = 43,
			 M5_TX_FRAGMENT = 44,
			 M5_TX_DESTINATION = 60,
};

/* 0: none that is looked behind. RFC 8200 4. */
static inline uint32_t m5_tx_extension_bytes(uint32_t kind, const uint8_t *header)
{
	switch (kind) {
	case M5_TX_HOP_BY_HOP:
	case M5_TX_ROUTING:
	case M5_TX_DESTINATION:
		return (header[1] + 1u) * 8;
	case M5_TX_FRAGMENT:
		return 8;
	default:
		return 0;
	}
}

static inline uint32_t m5_tx_ip6_end(const uint8_t *f, uint32_t at, uint32_t len)
{
	uint32_t kind = f[at + 6], bytes;

	at += 40;
	while (at + 8 <= len && (bytes = m5_tx_extension_bytes(kind, f + at))) {
		kind = f[at];
		at += bytes;
	}
	return at;
}

/* Where the IP header ends with all that belongs to it; where it begins when there is none. */
static inline uint32_t m5_tx_ip_end(const uint8_t *f, uint32_t len)
{
	uint32_t at = 12, type;

	for (;; at += M5_TX_TAG_BYTES) {
		type = (uint32_t)f[at] << 8 | f[at + 1];
		if ((type != 0x8100 && type != 0x88a8) || at + 6 > len)
			break;
	}
	at += 2;
	if (type == 0x0800 && at + 20 <= len)
		return at + (f[at] & 15) * 4u;
	if (type == 0x86dd && at + 40 <= len)
		return m5_tx_ip6_end(f, at, len);
	return at;
}

/* How much of the frame on the wire the device wants in the WQE. More than that does no harm: TCP's
 * header is taken for whatever follows IP. Source: kernel en_tx.c, mlx5e_calc_min_inline. */
static inline uint32_t m5_tx_start_bytes(const struct m5_pkt *p, uint32_t mode)
{
	uint32_t wire = m5_tx_wire_bytes(p, true), bytes = 0;

	if (mode > PRM_MIN_INLINE_L2)
		bytes = wire - p->len + m5_tx_ip_end(p->data, p->len) +
			(mode == PRM_MIN_INLINE_TCP_UDP ? 20 : 0);
	if (bytes < PRM_L2_INLINE)
		return PRM_L2_INLINE;
	if (bytes > M5_TX_START_MAX)
		bytes = M5_TX_START_MAX;
	return bytes < wire ? bytes : wire;
}

/* By pointer but for its start, which holds the tag if there is one: before the frame there is no
 * room for it, as what stands there can be the end of another frame that has not left yet.
 *
 *   control | Ethernet, 2 bytes of the start | 16 of it | ... | pointer, if there is a rest
 *
 * False: the ring is full. */
static __attribute__((noinline, unused)) bool
m5_tx_put_single(struct m5_tx_ring *r, struct m5_tx_pen *pen, const struct m5_pkt *p,
		 uint32_t lkey, uint32_t mode)
{
	uint32_t bytes = m5_tx_start_bytes(p, mode);
	uint32_t skip = bytes - (m5_tx_wire_bytes(p, true) - p->len);
	uint32_t ds = M5_TX_HEAD_DS +
		      (bytes - PRM_ETH_INLINE_HERE + PRM_DS - 1) / PRM_DS +
		      (skip < p->len);
	uint8_t *block, *start;

	if (!m5_tx_turn_page(r, pen, ds - M5_TX_HEAD_DS, 0))
		return false;
	block = m5_tx_block(r, r->next);
	start = block + M5_TX_HEAD_DS * PRM_DS - PRM_ETH_INLINE_HERE;
	m5_tx_put_segment(block + PRM_DS, (uint64_t)m5_tx_cs(p->flags) << 24,
			  (uint64_t)bytes << 16);
	if (skip != bytes) {
		/* 16 at least: a pointer is written over what is too much. */
		m5_tx_copy(start + M5_TX_TAG_BYTES, p->data, skip < 16 ? 16 : skip);
		m5_tx_put_tagged(start, p);
	} else {
		m5_tx_copy(start, p->data, bytes);
	}
	if (skip < p->len)
		m5_tx_put_pointer(block + (size_t)(ds - 1) * PRM_DS, lkey, p->data + skip,
				  p->len - skip);
	m5_tx_put_control(r, PRM_OP_SEND, ds);
	r->packets_new++;
	*pen = (struct m5_tx_pen){ .packets = 0 };
	return true;
}
