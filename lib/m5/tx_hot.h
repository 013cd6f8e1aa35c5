/* m5/tx_hot.h - the send path
 *
 * HOT. Packets are pointers in enhanced multi-packet send WQEs: 16 bytes of descriptor
 * each, no copy. A WQE is opened by the first packet, grows by one segment a packet and
 * is closed by the doorbell or when full:
 *
 *   | control | ethernet | pointer | pointer | pointer | ...      16 bytes each
 *   |<----------- 64-byte block ------------>|<---- ...
 *
 * The packets of a WQE are held until its completion. The last WQE of each doorbell
 * asks for one; it covers all before it. Two rings run side by side:
 *
 *   blocks  done .. next     in 64-byte blocks, 16-bit indexes as the device counts
 *   held    held_done .. held_next   one entry a packet; end_of[block] says where a
 *                                    WQE's packets end
 *
 * Source: DPDK drivers/net/mlx5/mlx5_tx.h for the segment limit and completion rules.
 */
#pragma once

#include <stdbool.h>
#include <string.h>

#include "../prm/wqe.h"
#include "cq_hot.h"
#include "pkt.h"
#include "rx_hot.h"

enum { M5_TX_HEAD_DS = 2 /* control and Ethernet segment */ };

struct m5_tx_held {
	struct m5_rx *rx;
	uint32_t wqe;
};

struct m5_tx {
	struct m5_cq_hot cq;
	uint8_t *ring;
	struct m5_tx_held *held;
	uint32_t *end_of; /* by block */
	be32_t *dbrec;
	volatile uint64_t *doorbell;
	uint32_t mask;	    /* blocks - 1 */
	uint32_t held_mask; /* packets - 1 */
	uint32_t held_next, held_done;
	uint16_t next, done; /* blocks */
	uint16_t ds;	     /* segments of the open WQE, 0 = none is open */
	uint16_t rung;	     /* blocks the device knows of */
	uint16_t last;	     /* block of the last closed WQE */
	uint16_t dev;	     /* index of our device, for keys */
	bool failed;
	uint32_t qpn_shifted; /* number << 8 */
	uint64_t doorbells, errors;
	uint8_t syndrome, vendor_syndrome;
};

ALWAYS_INLINE uint32_t m5_tx_blocks(uint32_t ds)
{
	return (ds + 3) / 4;
}

/* Segment @ds of the WQE that starts at block `next`; the ring wraps between segments. */
ALWAYS_INLINE void *m5_tx_segment(struct m5_tx *tx, uint32_t ds)
{
	uint32_t block = (tx->next + ds / 4) & tx->mask;

	return tx->ring + (size_t)block * PRM_WQEBB + (size_t)(ds % 4) * PRM_DS;
}

/* Ends the open WQE. Its completion is asked for by m5_tx_ring(), if it is the last one. */
ALWAYS_INLINE void m5_tx_close_wqe(struct m5_tx *tx)
{
	struct prm_ctrl *ctrl = m5_tx_segment(tx, 0);

	ctrl->op = to_be32((uint32_t)tx->next << 8 | PRM_OP_ENHANCED_MPW);
	ctrl->qpn_ds = to_be32(tx->qpn_shifted | tx->ds);
	ctrl->flags = PRM_CE_FIRST_ERROR;
	tx->end_of[tx->next & tx->mask] = tx->held_next;
	tx->last = tx->next;
	tx->next = (uint16_t)(tx->next + m5_tx_blocks(tx->ds));
	tx->ds = 0;
}

ALWAYS_INLINE void m5_tx_open_wqe(struct m5_tx *tx)
{
	memset(m5_tx_segment(tx, 0), 0, M5_TX_HEAD_DS * PRM_DS);
	tx->ds = M5_TX_HEAD_DS;
}

/* Room for one segment more in the open or a new WQE, and for one packet held? */
ALWAYS_INLINE bool m5_tx_has_room(const struct m5_tx *tx)
{
	uint32_t ds = tx->ds ? tx->ds : M5_TX_HEAD_DS;
	uint32_t blocks = (uint16_t)(tx->next - tx->done) + m5_tx_blocks(ds + 1);

	return blocks <= tx->mask + 1 && tx->held_next - tx->held_done <= tx->held_mask;
}

/* Takes over a packet of @rx when true; false = ring full, or the queue is in error. Never called with
 * an empty packet: a segment of 0 bytes would stop the queue. */
ALWAYS_INLINE bool m5_tx_queue(struct m5_tx *tx, struct m5_rx *rx,
			       const struct m5_pkt *pkt)
{
	struct prm_data *data;
	struct m5_tx_held *held;

	if (unlikely(tx->failed || !m5_tx_has_room(tx)))
		return false;
	if (!tx->ds)
		m5_tx_open_wqe(tx);
	data = m5_tx_segment(tx, tx->ds++);
	data->bytes = to_be32(pkt->len);
	data->lkey = rx->lkey[tx->dev];
	data->addr = to_be64((uint64_t)(uintptr_t)pkt->data);
	held = &tx->held[tx->held_next++ & tx->held_mask];
	held->rx = rx;
	held->wqe = pkt->wqe;
	if (tx->ds == PRM_DS_MAX)
		m5_tx_close_wqe(tx);
	return true;
}

/* One doorbell for all that was queued since the last. */
ALWAYS_INLINE void m5_tx_ring(struct m5_tx *tx)
{
	struct prm_ctrl *ctrl;
	uint64_t first;

	if (tx->ds)
		m5_tx_close_wqe(tx);
	if (tx->next == tx->rung)
		return;
	ctrl = (void *)(tx->ring + (size_t)(tx->last & tx->mask) * PRM_WQEBB);
	ctrl->flags = PRM_CE_ALWAYS;
	memcpy(&first, ctrl, sizeof(first));
	tx->rung = tx->next;
	m5_wmb_entries();
	WRITE_ONCE(tx->dbrec[PRM_DBREC_SEND].raw, to_be32(tx->next).raw);
	m5_wmb_doorbell();
	*tx->doorbell = first;
	tx->doorbells++;
}

/* Drops the references of packets up to, not with, @end. */
ALWAYS_INLINE void m5_tx_let_go(struct m5_tx *tx, uint32_t end)
{
	for (; tx->held_done != end; tx->held_done++) {
		const struct m5_tx_held *h = &tx->held[tx->held_done & tx->held_mask];

		m5_rx_put(h->rx, h->wqe, 1);
	}
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

/* Completions: what was sent goes back to its receive queue. */
ALWAYS_INLINE void m5_tx_reap(struct m5_tx *tx)
{
	const struct prm_cqe *e;
	uint32_t ci = tx->cq.ci;

	while ((e = m5_cq_peek(&tx->cq))) {
		uint16_t wqe = from_be16(e->wqe_counter);

		if (unlikely(e->op_own >> 4 != PRM_CQE_SENT)) {
			m5_tx_error(tx, e);
		} else {
			const struct prm_ctrl *ctrl =
				(void *)(tx->ring + (size_t)(wqe & tx->mask) * PRM_WQEBB);

			m5_tx_let_go(tx, tx->end_of[wqe & tx->mask]);
			tx->done = (uint16_t)(wqe + m5_tx_blocks(from_be32(ctrl->qpn_ds) &
								 0x3f));
		}
		tx->cq.ci++;
	}
	if (tx->cq.ci != ci)
		m5_cq_give_back(&tx->cq);
}

ALWAYS_INLINE bool m5_tx_idle(const struct m5_tx *tx)
{
	return tx->held_next == tx->held_done;
}
ALWAYS_INLINE bool m5_tx_failed(const struct m5_tx *tx)
{
	return tx->failed;
}
