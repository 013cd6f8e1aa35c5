/* m5/tx_hot.h - the send path
 *
 * HOT. Packets stand in enhanced multi-packet send WQEs, by pointer or as bytes:
 *
 *   | control | ethernet | pointer | bytes, frame ........ | pointer | ...   16 bytes each
 *   |<----------- 64-byte block ------------>|<---- ...
 *
 * A WQE is opened by the first packet, grows from burst to burst, and is closed by the
 * doorbell, when full, or where the ring ends: none wraps. One that is left with a single
 * packet goes out as an ordinary SEND, which looks the same. Blocks of a ring:
 *
 *   done ........ rung ........ next [ pen: the open WQE ]     16-bit indexes, as the device counts
 *        covered: up to here a completion was asked for
 *
 * Packets by pointer are held until the completion that covers them, copied ones are let go
 * at once; both by runs of packets in one WQE of the receive queue. A completion is asked
 * for when a quarter of the ring or so many held packets are not covered, and under light
 * load whenever none is under way; when the loop has looked twice without a doorbell and none
 * is, what is left is covered by a NOP. So completions are few, and nothing is held for long.
 *
 * Source: DPDK drivers/net/mlx5/mlx5_tx.h for the segment limit, completion rules, and
 * pointers and bytes in one WQE; kernel en_tx.c for the NOP.
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
	bool wide; /* m5_tx_has_avx512() */
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

/* A packet by pointer in a WQE of its own, with the start of the frame in it, which holds the tag
 * if there is one: control | Ethernet | 16 of 18 bytes | pointer. False: the ring is full. */
static __attribute__((noinline)) bool m5_tx_put_single(struct m5_tx_ring *r,
						       struct m5_tx_pen *pen,
						       const struct m5_pkt *p,
						       uint32_t lkey)
{
	uint32_t skip = PRM_L2_INLINE;
	uint8_t *start, *header;

	if (pen->packets)
		m5_tx_close_wqe(r, pen);
	if (!m5_tx_room(r))
		return false;
	start = m5_tx_block(r, r->next);
	header = start + 2 * PRM_DS - PRM_ETH_INLINE_HERE;
	m5_tx_put_segment(start + PRM_DS, (uint64_t)m5_tx_cs(p->flags) << 24,
			  (uint64_t)PRM_L2_INLINE << 16);
	if (p->flags & M5_PKT_INSERT_VLAN) {
		skip -= M5_TX_TAG_BYTES;
		m5_tx_put_tagged(header, p);
		memcpy(header + 16, p->data + 12, 2);
	} else {
		memcpy(header, p->data, PRM_L2_INLINE);
	}
	m5_tx_put_pointer(start + 3 * PRM_DS, lkey, p->data + skip, p->len - skip);
	m5_tx_put_control(r, PRM_OP_SEND, 4);
	r->packets_new++;
	return true;
}

/* ---- references ---- */

ALWAYS_INLINE void m5_tx_hold(struct m5_tx_ring *r, struct m5_rx *rx, uint32_t wqe,
			      uint32_t n)
{
	r->held[r->held_next++ & r->mask] = (struct m5_tx_held){ rx, wqe, n };
	r->held_new += n;
}

/* Drops the references of runs up to, not with, @end. */
ALWAYS_INLINE void m5_tx_let_go(struct m5_tx_ring *r, uint32_t end)
{
	for (; r->held_done != end; r->held_done++) {
		const struct m5_tx_held *h = &r->held[r->held_done & r->mask];

		m5_rx_put(h->rx, h->wqe, h->n);
	}
}

/* ---- rows: packets in one WQE of the receive queue that go the same way into one of ours ---- */

/* What decides how a packet goes. `asks` is a constant everywhere, and so is a limit of 0. */
struct m5_tx_how {
	uint32_t lkey, limit; /* bytes copied; 0 = none */
	bool asks, wide;
};

/* Bytes that will be on the wire. */
ALWAYS_INLINE uint32_t m5_tx_wire_bytes(const struct m5_pkt *p, bool asks)
{
	return p->len + (asks && p->flags & M5_PKT_INSERT_VLAN ? M5_TX_TAG_BYTES : 0u);
}

/* Pointers to as many of @n packets as follow the first in all. Return: how many. */
ALWAYS_INLINE uint32_t m5_tx_row(uint8_t *to, uint32_t room, const struct m5_pkt pkt[],
				 uint32_t n, struct m5_tx_how how)
{
	const uint32_t wqe = pkt[0].wqe, flags = pkt[0].flags;
	uint32_t i = 0;

	if (n > room)
		n = room;
	do {
		m5_tx_put_pointer(to + (size_t)i * PRM_DS, how.lkey, pkt[i].data,
				  pkt[i].len);
		i++;
	} while (i < n && pkt[i].wqe == wqe && (!how.limit || pkt[i].len > how.limit) &&
		 (!how.asks || !((pkt[i].flags ^ flags) & M5_PKT_ASKS)));
	return i;
}

/* The same, copied. @ret_bytes: of entries written. */
ALWAYS_INLINE uint32_t m5_tx_row_copied(uint8_t *to, uint32_t room,
					const struct m5_pkt pkt[], uint32_t n,
					struct m5_tx_how how, uint32_t *ret_bytes)
{
	const uint32_t wqe = pkt[0].wqe, flags = pkt[0].flags;
	uint32_t i = 0, at = 0, bytes = m5_tx_wire_bytes(&pkt[0], how.asks), size;

	do {
		size = m5_tx_inline_bytes(bytes);
		if (at + size > room * PRM_DS)
			break;
		m5_tx_put_inline(to + at, &pkt[i], bytes, how.asks);
		at += size;
		if (++i == n)
			break;
		bytes = m5_tx_wire_bytes(&pkt[i], how.asks);
	} while (pkt[i].wqe == wqe && bytes <= how.limit &&
		 (!how.asks || !((pkt[i].flags ^ flags) & M5_PKT_ASKS)));
	*ret_bytes = at;
	return i;
}

#ifdef __x86_64__
#include "tx_avx512_hot.h"
#else
enum { M5_TX_WIDE_BYTES = 0 };
#define m5_tx_has_avx512()				 false
#define m5_tx_row_avx512(to, room, lkey, pkt, n)	 0
#define m5_tx_row_copied_avx512(to, room, pkt, n, bytes) 0
#endif

/* ---- a burst ---- */

/* Next to the pen, where there is room for the first packet at least. */
ALWAYS_INLINE uint32_t m5_tx_write_row(struct m5_tx_pen *pen, const struct m5_pkt pkt[],
				       uint32_t n, struct m5_tx_how how, bool copy)
{
	uint32_t room = (uint32_t)(pen->end - pen->at) / PRM_DS, k, bytes = 0;

	if (!copy) {
		if (how.wide && !how.asks && !how.limit)
			k = m5_tx_row_avx512(pen->at, room, how.lkey, pkt,
					     n < room ? n : room);
		else
			k = m5_tx_row(pen->at, room, pkt, n, how);
		bytes = k * PRM_DS;
	} else if (how.wide && !how.asks && pkt[0].len <= M5_TX_WIDE_BYTES &&
		   room >= PRM_WQEBB / PRM_DS) {
		k = m5_tx_row_copied_avx512(pen->at, room, pkt, n, &bytes);
	} else {
		k = m5_tx_row_copied(pen->at, room, pkt, n, how, &bytes);
	}
	pen->at += bytes;
	pen->packets += k;
	return k;
}

/* Return: packets taken, less than @n when the ring is full. */
ALWAYS_INLINE uint32_t m5_tx_fill(struct m5_tx *tx, struct m5_rx *rx,
				  const struct m5_pkt pkt[], uint32_t n,
				  struct m5_tx_how how)
{
	struct m5_tx_ring *r = &tx->ring[tx->now];
	uint32_t runs = r->mask + 1 - (r->held_next - r->held_done), i = 0, k;
	struct m5_tx_pen pen = r->pen;

	if (unlikely(n > runs))
		n = runs; /* each could be one */
	while (i < n) {
		const struct m5_pkt *p = &pkt[i];
		uint32_t cs = how.asks ? m5_tx_cs(p->flags) : 0;
		uint32_t bytes = m5_tx_wire_bytes(p, how.asks);
		bool copy = how.limit && bytes <= how.limit;
		uint32_t size = copy ? m5_tx_inline_bytes(bytes) : PRM_DS;

		if (how.asks && !copy && bytes != p->len) {
			k = m5_tx_put_single(r, &pen, p, how.lkey);
		} else if (likely((size_t)(pen.end - pen.at) >= size && pen.cs == cs) ||
			   likely(m5_tx_turn_page(r, &pen, size / PRM_DS, cs))) {
			k = m5_tx_write_row(&pen, p, n - i, how, copy);
		} else {
			break;
		}
		if (unlikely(!k))
			break;
		if (copy)
			m5_rx_put(rx, p->wqe, k);
		else
			m5_tx_hold(r, rx, p->wqe, k);
		i += k;
	}
	r->pen = pen;
	return i;
}

/* One call a burst. */
#define M5_TX_FILL(name, up_to, asked) \
	static __attribute__((noinline)) \
	uint32_t m5_tx_fill_##name(struct m5_tx *tx, struct m5_rx *rx, \
				   const struct m5_pkt pkt[], uint32_t n) \
	{ \
		struct m5_tx_how how = { .lkey = from_be32(rx->lkey[tx->dev]), \
					 .limit = (up_to), \
					 .asks = (asked), \
					 .wide = tx->wide }; \
		return m5_tx_fill(tx, rx, pkt, n, how); \
	}
M5_TX_FILL(pointers, 0, false)
M5_TX_FILL(copies, tx->copied_up_to, false)
M5_TX_FILL(asked, tx->copied_up_to, true)
#undef M5_TX_FILL

/* Each packet by itself, its header inlined. */
static __attribute__((noinline)) uint32_t m5_tx_fill_single(struct m5_tx *tx,
							    struct m5_rx *rx,
							    const struct m5_pkt pkt[],
							    uint32_t n)
{
	struct m5_tx_ring *r = &tx->ring[tx->now];
	uint32_t runs = r->mask + 1 - (r->held_next - r->held_done), i;

	for (i = 0; i < n && i < runs; i++) {
		if (!m5_tx_put_single(r, &r->pen, &pkt[i], from_be32(rx->lkey[tx->dev])))
			break;
		m5_tx_hold(r, rx, pkt[i].wqe, 1);
	}
	return i;
}

ALWAYS_INLINE uint32_t m5_tx_fill_now(struct m5_tx *tx, struct m5_rx *rx,
				      const struct m5_pkt pkt[], uint32_t n, bool asks)
{
	if (unlikely(tx->single))
		return m5_tx_fill_single(tx, rx, pkt, n);
	if (asks)
		return m5_tx_fill_asked(tx, rx, pkt, n);
	return tx->copied_up_to ? m5_tx_fill_copies(tx, rx, pkt, n)
				: m5_tx_fill_pointers(tx, rx, pkt, n);
}

/* ---- completions ---- */

/* The completion of the last WQE will cover all until now. */
ALWAYS_INLINE void m5_tx_ask(struct m5_tx_ring *r, bool sample)
{
	struct prm_ctrl *ctrl = (void *)m5_tx_block(r, r->last);

	ctrl->flags = PRM_CE_ALWAYS;
	r->asked[r->last & r->mask] =
		(struct m5_tx_asked){ r->held_next, r->next, sample };
	r->covered = r->next;
	r->held_new = 0;
	r->asked_out++;
}

/* One entry of the completion queue is kept for an error of a WQE that asked for none. */
ALWAYS_INLINE bool m5_tx_may_ask(const struct m5_tx_ring *r)
{
	return r->asked_out < r->cq.mask;
}

COLD static void m5_tx_error(struct m5_tx *tx, const struct prm_cqe *e)
{
	const struct prm_err_cqe *err = (const void *)e;

	tx->errors++;
	if (tx->failed)
		return;
	tx->failed = true;
	tx->syndrome = err->syndrome;
	tx->vendor_syndrome = err->vendor_syndrome;
}

COLD static void m5_tx_stamp(struct m5_tx *tx, const struct prm_cqe *e)
{
	tx->sample_stamp = from_be64(e->timestamp);
	tx->sample = M5_TX_SAMPLE_DONE;
}

ALWAYS_INLINE void m5_tx_reap_ring(struct m5_tx *tx, struct m5_tx_ring *r)
{
	const struct prm_cqe *e;
	uint32_t ci = r->cq.ci;

	while ((e = m5_cq_peek(&r->cq))) {
		const struct m5_tx_asked *a =
			&r->asked[from_be16(e->wqe_counter) & r->mask];

		if (unlikely(e->op_own >> 4 != PRM_CQE_SENT)) {
			m5_tx_error(tx, e);
		} else {
			m5_tx_let_go(r, a->held_end);
			r->done = a->next;
			r->asked_out--;
			if (unlikely(a->sample))
				m5_tx_stamp(tx, e);
		}
		r->cq.ci++;
	}
	if (r->cq.ci != ci)
		m5_cq_give_back(&r->cq);
}

/* ---- doorbell ---- */

ALWAYS_INLINE void m5_tx_tell(struct m5_tx *tx, struct m5_tx_ring *r)
{
	r->rung = r->next;
	r->packets_new = 0;
	m5_wmb_entries();
	WRITE_ONCE(r->dbrec[PRM_DBREC_SEND].raw, to_be32(r->next).raw);
	m5_wmb_doorbell();
	*tx->doorbell = r->first.raw;
	if (tx->write_combining)
		m5_flush_doorbell();
}

ALWAYS_INLINE void m5_tx_next_ring(struct m5_tx *tx)
{
	tx->now = (uint8_t)(tx->now + 1 < tx->n_rings ? tx->now + 1 : 0);
}

ALWAYS_INLINE bool m5_tx_wants_to_ask(const struct m5_tx *tx, const struct m5_tx_ring *r)
{
	return (uint16_t)(r->next - r->covered) > r->mask / 4 ||
	       r->held_new >= tx->held_packets ||
	       (r->packets_new < M5_TX_LIGHT && !r->asked_out) ||
	       tx->sample == M5_TX_SAMPLE_ARMED;
}

/* For the doorbell that is about to be rung. */
ALWAYS_INLINE void m5_tx_cover(struct m5_tx *tx, struct m5_tx_ring *r)
{
	bool sample = tx->sample == M5_TX_SAMPLE_ARMED, may = m5_tx_may_ask(r);

	if (unlikely(sample))
		tx->sample = may ? M5_TX_SAMPLE_ASKED : M5_TX_SAMPLE_NONE;
	if (likely(may))
		m5_tx_ask(r, sample);
}

/* No doorbell since the last look, and no completion under way: the rest shall be heard of. */
static __attribute__((noinline)) void m5_tx_quiet(struct m5_tx *tx)
{
	struct m5_tx_ring *r = &tx->ring[tx->now];

	if (r->pen.packets || r->next != r->rung || tx->failed)
		return;
	if (r->covered != r->rung && !r->asked_out && m5_tx_room(r)) {
		m5_tx_put_nop(r);
		m5_tx_ask(r, false);
		m5_tx_tell(tx, r);
		tx->flushes++;
	}
	m5_tx_next_ring(tx);
}

/* ---- for the loop ---- */

/* One doorbell for all that was queued since the last; the next burst goes to the next ring. */
ALWAYS_INLINE void m5_tx_ring(struct m5_tx *tx)
{
	struct m5_tx_ring *r = &tx->ring[tx->now];

	if (r->pen.packets)
		m5_tx_close_wqe(r, &r->pen);
	if (r->next == r->rung)
		return;
	if (m5_tx_wants_to_ask(tx, r))
		m5_tx_cover(tx, r);
	m5_tx_tell(tx, r);
	tx->doorbells++;
	m5_tx_next_ring(tx);
}

/* Completions: what was sent goes back to its receive queue. Once a turn; with several rings, that
 * of the next burst, or one after the other when nothing is sent. */
ALWAYS_INLINE void m5_tx_reap(struct m5_tx *tx)
{
	m5_tx_reap_ring(tx, &tx->ring[tx->now]);
	if (unlikely(tx->doorbells == tx->doorbells_seen))
		m5_tx_quiet(tx);
	tx->doorbells_seen = tx->doorbells;
}

/* The ring is full: the other rings take what they can. */
COLD static uint32_t m5_tx_burst_rest(struct m5_tx *tx, struct m5_rx *rx,
				      const struct m5_pkt pkt[], uint32_t n,
				      uint32_t done, bool asks)
{
	for (unsigned i = 1; i < tx->n_rings && done < n; i++) {
		m5_tx_ring(tx);
		m5_tx_reap_ring(tx, &tx->ring[tx->now]);
		done += m5_tx_fill_now(tx, rx, pkt + done, n - done, asks);
	}
	tx->full += n - done;
	return done;
}

/**
 * m5_tx_burst() - queues packets of one receive queue, in order
 * @asks: packets may have flags of M5_PKT_ASKS; without, those are not looked at
 *
 * Takes over the packets it returns the number of, the first of @pkt; the rest found the ring
 * full, or the queue is in error. No packet may be shorter than an Ethernet and an IPv4 header: a
 * segment of 0 bytes would stop the queue. Nothing leaves before m5_tx_ring().
 */
ALWAYS_INLINE uint32_t m5_tx_burst(struct m5_tx *tx, struct m5_rx *rx,
				   const struct m5_pkt pkt[], uint32_t n, bool asks)
{
	uint32_t done;

	if (unlikely(tx->failed || !n))
		return 0;
	done = m5_tx_fill_now(tx, rx, pkt, n, asks);
	return likely(done == n) ? n : m5_tx_burst_rest(tx, rx, pkt, n, done, asks);
}

ALWAYS_INLINE bool m5_tx_queue(struct m5_tx *tx, struct m5_rx *rx,
			       const struct m5_pkt *pkt)
{
	return m5_tx_burst(tx, rx, pkt, 1, pkt->flags & M5_PKT_ASKS);
}

/**
 * m5_tx_sample() - the next doorbell is timed
 * @cookie: given back with the stamp; such as when the packet came
 *
 * To be called when something is queued. One at a time: false while another is under way.
 */
ALWAYS_INLINE bool m5_tx_sample(struct m5_tx *tx, uint64_t cookie)
{
	if (tx->sample != M5_TX_SAMPLE_NONE)
		return false;
	tx->sample_cookie = cookie;
	tx->sample = M5_TX_SAMPLE_ARMED;
	return true;
}

/* After m5_tx_reap(): @stamp is the completion's, as the device writes it. */
ALWAYS_INLINE bool m5_tx_sampled(struct m5_tx *tx, uint64_t *cookie, uint64_t *stamp)
{
	if (likely(tx->sample != M5_TX_SAMPLE_DONE))
		return false;
	*cookie = tx->sample_cookie;
	*stamp = tx->sample_stamp;
	tx->sample = M5_TX_SAMPLE_NONE;
	return true;
}

/* Nothing is queued or under way. */
ALWAYS_INLINE bool m5_tx_idle(const struct m5_tx *tx)
{
	bool idle = true;

	for (unsigned i = 0; i < tx->n_rings; i++) {
		const struct m5_tx_ring *r = &tx->ring[i];

		idle &= r->done == r->next && !r->pen.packets;
	}
	return idle;
}
ALWAYS_INLINE bool m5_tx_failed(const struct m5_tx *tx)
{
	return tx->failed;
}
