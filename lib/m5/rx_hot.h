/* m5/rx_hot.h - the receive path
 *
 * HOT. The ring of WQEs never changes: slot i is always the same chunk of the
 * region, so giving it back to the device is moving the doorbell record past it.
 *
 *   chunk 0 | chunk 1 | ... | chunk n-1         a chunk = one WQE = 2^log_strides strides
 *              ^ fill    device writes here; strides used so far in `stride`
 *              ^ ... up to post-1: with the device or still referenced by packets
 *   refs[chunk] = packets out, plus one while the device may write to it
 *
 * Strides of a chunk can be consumed without a packet (filler), and a packet can
 * take several. Source: DPDK drivers/net/mlx5/mlx5_rx.c for the fields used.
 */
#pragma once

#include <stdbool.h>

#include "../prm/wqe.h"
#include "cq_hot.h"
#include "mem.h"
#include "pkt.h"

struct m5_rx {
	struct m5_cq_hot cq;
	uint8_t *region;
	uint32_t *refs; /* by chunk */
	be32_t *dbrec;
	uint16_t fill;	 /* WQE index the device is filling; not masked */
	uint16_t post;	 /* first index not with the device */
	uint32_t stride; /* strides of `fill` used so far */
	uint32_t mask;	 /* chunks - 1 */
	uint8_t log_strides, log_stride_bytes;
	bool failed; /* an error completion came: nothing more until a reset */
	bool striding;
	/* read by the send path: our region's key on each device */
	be32_t lkey[M5_DEVS_MAX];
	/* written here only */
	uint64_t fillers;		   /* completions that only skip strides */
	uint64_t out_of_step;		   /* completions that fit no chunk */
	uint8_t syndrome, vendor_syndrome; /* of the first error */
	uint64_t errors;
	/* arming, cold */
	uint64_t *arm_register;
	uint32_t cqn, arm_sn;
};

/* Drops @n packets' references. */
ALWAYS_INLINE void m5_rx_put(struct m5_rx *rx, uint32_t wqe, uint32_t n)
{
	rx->refs[wqe] -= n;
}

/* Gives the oldest chunks back, in ring order, as far as they are free. */
ALWAYS_INLINE void m5_rx_refill(struct m5_rx *rx)
{
	uint16_t post = rx->post;

	while ((uint16_t)(post - rx->fill) <= rx->mask && !rx->refs[post & rx->mask])
		rx->refs[post++ & rx->mask] = 1;
	if (post == rx->post)
		return;
	rx->post = post;
	m5_wmb_entries();
	WRITE_ONCE(rx->dbrec[PRM_DBREC_RECEIVE].raw, to_be32(post).raw);
}

/* The device is done with the chunk it was filling. */
ALWAYS_INLINE void m5_rx_next_chunk(struct m5_rx *rx)
{
	rx->refs[rx->fill & rx->mask]--;
	rx->fill++;
	rx->stride = 0;
}

/* The first error completion of a queue, which is the cause; those behind it are flushes, and a
 * queue that failed is not read on. */
COLD static void m5_rx_error(struct m5_rx *rx, const struct prm_cqe *e)
{
	const struct prm_err_cqe *err = (const void *)e;

	rx->errors++;
	rx->failed = true;
	rx->syndrome = err->syndrome;
	rx->vendor_syndrome = err->vendor_syndrome;
}

/* An entry that no queue of ours asks for (compressed session) or that contradicts our count. */
COLD static void m5_rx_lost_step(struct m5_rx *rx)
{
	rx->out_of_step++;
	rx->failed = true;
}

ALWAYS_INLINE void m5_rx_fill_pkt(struct m5_rx *rx, const struct prm_cqe *e,
				  uint32_t bytes, struct m5_pkt *pkt)
{
	uint32_t chunk = rx->fill & rx->mask;

	pkt->data = rx->region + ((((size_t)chunk << rx->log_strides) + rx->stride)
				  << rx->log_stride_bytes);
	__builtin_prefetch(pkt->data);
	pkt->len = (uint16_t)bytes;
	pkt->wqe = (uint16_t)chunk;
	pkt->vlan = 0;
	pkt->flags = (e->csum_ok & PRM_CQE_L3_OK ? M5_PKT_L3_OK : 0) |
		     (e->csum_ok & PRM_CQE_L4_OK ? M5_PKT_L4_OK : 0);
	rx->refs[chunk]++;
}

/* One completion. Return: whether it brought a packet. */
ALWAYS_INLINE bool m5_rx_complete(struct m5_rx *rx, const struct prm_cqe *e,
				  struct m5_pkt *pkt)
{
	uint32_t count = from_be32(e->byte_cnt), strides = 1, at = 0;
	bool packet = true;

	if (unlikely(e->op_own >> 4 != PRM_CQE_RECEIVED)) {
		m5_rx_error(rx, e);
		return false;
	}
	if (rx->striding) {
		strides = (count & PRM_CQE_BC_STRIDES) >> PRM_CQE_BC_STRIDES_SHIFT;
		packet = !(count & PRM_CQE_BC_FILLER);
		at = from_be16(e->wqe_counter);
	}
	if (unlikely((e->op_own & PRM_CQE_FORMAT_MASK) == PRM_CQE_COMPRESSED ||
		     at != rx->stride || !strides ||
		     rx->stride + strides > UINT32_C(1) << rx->log_strides)) {
		m5_rx_lost_step(rx);
		return false;
	}
	if (likely(packet))
		m5_rx_fill_pkt(rx, e, count & PRM_CQE_BC_BYTES, pkt);
	else
		rx->fillers++;
	rx->stride += strides;
	if (rx->stride >> rx->log_strides)
		m5_rx_next_chunk(rx);
	return packet;
}

/* Up to @max packets; each holds a reference on its chunk until m5_rx_put(). */
ALWAYS_INLINE uint32_t m5_rx_burst(struct m5_rx *rx, struct m5_pkt pkt[], uint32_t max)
{
	const struct prm_cqe *e;
	uint32_t n = 0, ci = rx->cq.ci;

	m5_rx_refill(rx);
	while (n < max && !rx->failed && (e = m5_cq_peek(&rx->cq))) {
		n += m5_rx_complete(rx, e, &pkt[n]);
		rx->cq.ci++;
	}
	if (rx->cq.ci != ci)
		m5_cq_give_back(&rx->cq);
	return n;
}

ALWAYS_INLINE bool m5_rx_failed(const struct m5_rx *rx)
{
	return rx->failed;
}

/* Asks for an event at the next completion. One that is there already raises it at once, so
 * there is no gap between looking and sleeping. The sequence number counts events that came:
 * arming again before one did repeats the number, and the first is 0. Source: rdma-core
 * providers/mlx5 cq.c, mlx5_arm_cq and mlx5_cq_event; verbs.c, create_cq. */
void m5_rx_arm(struct m5_rx *rx);
/* An event was read. */
ALWAYS_INLINE void m5_rx_event(struct m5_rx *rx)
{
	rx->arm_sn++;
}
