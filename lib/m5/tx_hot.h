/* m5/tx_hot.h - the send path
 *
 * HOT. Packets stand in enhanced multi-packet send WQEs, by pointer or as bytes, as
 * tx_wqe_hot.h writes them. Blocks of a ring:
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
 * Source: DPDK drivers/net/mlx5/mlx5_tx.h for the completion rules; kernel en_tx.c for the NOP.
 */
#pragma once

#include "tx_wqe_hot.h"

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
			k = m5_tx_put_single(r, &pen, p, how.lkey, PRM_MIN_INLINE_L2);
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
		if (!m5_tx_put_single(r, &r->pen, &pkt[i], from_be32(rx->lkey[tx->dev]),
				      tx->inline_mode))
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
		uint8_t full = tx->now;

		m5_tx_ring(tx);
		if (tx->now == full) /* nothing in it was new */
			m5_tx_next_ring(tx);
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
