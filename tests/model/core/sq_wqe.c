/* core/sq_wqe.c - what a send WQE says: SEND and enhanced multi-packet send
 *
 *   SEND          control | Ethernet [inline header] | data ...     one frame
 *   multi-packet  control | Ethernet                 | data ...     a frame per entry
 *
 * A data entry is a pointer (16 bytes) or inline (a 4-byte head, then bytes, padded to
 * 16). Both kinds may stand in one WQE. In a multi-packet WQE the Ethernet segment is
 * every frame's, so it has no inline header and no VLAN tag to insert.
 *
 * Frames shorter than 60 bytes are padded with zeroes: mlx5e hands them over as they are
 * and counts ETH_ZLEN (kernel en_tx.c, mlx5e_sq_xmit_prepare). A frame without a whole
 * Ethernet header is a length error; assumed.
 *
 * Source: kernel include/linux/mlx5/qp.h, en_tx.c; DPDK mlx5_tx.h (mlx5_tx_eseg_none,
 * mlx5_tx_dseg_ptr, mlx5_tx_dseg_empw); rdma-core qp.c (set_data_inl_seg).
 */
#include "queue.h"

#include <stdio.h>

enum { OP_LSO = 0x0e, OP_MULTI = 0x29 };
enum { CX_L2_INLINE = 18 }; /* kernel en.h MLX5E_MIN_INLINE, rdma-core wqe.h */

#define INLINE_FLAG UINT32_C(0x80000000)
#define INLINE_BYTES \
	UINT32_C(0x3ff) /* kernel qp.h, MLX5_WQE_INLINE_SEG_BYTE_COUNT_MASK */

/* ---- to the wire ---- */

/* Two VLAN tags are within what the port takes. */
static uint32_t longest(const struct cx_dev *dev)
{
	return dev->mtu + CX_ETH_MIN + 2u * CX_VLAN_BYTES;
}

void cx_transmit(struct cx_dev *dev, const uint8_t *frame, uint32_t len)
{
	uint8_t padded[CX_FRAME_MIN];

	dev->sent++;
	if (CX_UNLIKELY(len > longest(dev))) {
		CX_SEEN("drop", "oversize frame sent");
		dev->stats.tx_oversize++;
		return;
	}
	if (CX_UNLIKELY(!dev->up || (dev->faults && cx_fault_drop(dev, false)))) {
		dev->stats.tx_lost++;
		return;
	}
	if (CX_UNLIKELY(!cx_steer_tx(dev, frame, len)))
		return; /* a rule of a transmit table drops it; to the queue it is sent */
	if (len < CX_FRAME_MIN) {
		memset(padded, 0, sizeof(padded));
		frame = memcpy(padded, frame, len);
		len = CX_FRAME_MIN;
	}
	dev->stats.tx_frames++;
	dev->stats.tx_bytes += len;
	cx_vport_count(&dev->vport_tx, frame, len);
	if (dev->ops.wire_tx)
		dev->ops.wire_tx(dev->ops.arg, frame, len);
}

/* ---- the Ethernet segment ---- */

static bool fail(struct cx_dev *dev, struct cx_sq *sq, const struct cx_wqe *w,
		 uint8_t syndrome, const char *field, uint32_t value, const char *why)
{
	cx_sq_fail(dev, sq, syndrome, w->index, field, "0x%x %s", value, why);
	return false;
}

/* The field behind a reserved bit; the order is that of the segment. */
static bool __attribute__((cold))
bad_eth(struct cx_dev *dev, struct cx_sq *sq, const struct cx_wqe *w, const uint32_t d[4])
{
	static const char none[] = "is set: not in the capabilities";
	const uint8_t op = CX_SYND_QP_OP;

	if (d[0])
		return fail(dev, sq, w, op, "wqe_eth.swp_offsets", d[0], none);
	if (d[1] & 0x30000000)
		return fail(dev, sq, w, op, "wqe_eth.inner_csum", d[1] >> 28 & 3, none);
	if (d[1] & 0x0f000000)
		return fail(dev, sq, w, op, "wqe_eth.reserved_at_24", d[1] >> 24 & 15,
			    "is set");
	if (d[1] & 0x00ff0000)
		return fail(dev, sq, w, op, "wqe_eth.swp_flags", d[1] >> 16 & 255, none);
	if (d[1] & 0x0000c000)
		return fail(dev, sq, w, op, "wqe_eth.reserved_at_30", d[1] >> 14 & 3,
			    "is set");
	if (d[3] & 0x40000000)
		return fail(dev, sq, w, op, "wqe_eth.insert_trailer", 1, none);
	return fail(dev, sq, w, op, "wqe_eth.reserved_at_61", d[3], "has reserved bits");
}

/* Bits of the fourth dword that must be zero: VLAN type, or inline size. */
static uint32_t reserved_d3(uint32_t d3)
{
	if (d3 & INLINE_FLAG)
		return d3 & 0x7ffe0000;
	return d3 >> 16 & 0x3ff ? d3 & 0xfc000000 : d3;
}

static bool check_use(struct cx_dev *dev, struct cx_sq *sq, const struct cx_wqe *w,
		      const struct cx_eth *eth)
{
	if (CX_UNLIKELY(!eth->mss != (w->opcode != OP_LSO)))
		return fail(dev, sq, w, CX_SYND_QP_OP, "wqe_eth.mss", eth->mss,
			    "does not go with the opcode");
	if (CX_UNLIKELY(eth->insert_vlan && !dev->lim.vlan_insert))
		return fail(dev, sq, w, CX_SYND_QP_OP, "wqe_eth.insert_vlan", 1,
			    "but capability eth.wqe_vlan_insert is 0");
	if (w->opcode == OP_MULTI && CX_UNLIKELY(eth->inline_bytes || eth->insert_vlan))
		return fail(dev, sq, w, CX_SYND_QP_OP, "wqe_eth.inline_hdr_sz",
			    eth->inline_bytes, "or VLAN insertion in a multi-packet WQE");
	if (CX_UNLIKELY(sq->min_inline && eth->inline_bytes < CX_L2_INLINE))
		return fail(dev, sq, w, CX_SYND_LENGTH, "wqe_eth.inline_hdr_sz",
			    eth->inline_bytes,
			    "is less than the queue's min_wqe_inline_mode asks for");
	if (CX_UNLIKELY(eth->inline_bytes > 2 + (w->ds - 2) * 16))
		return fail(dev, sq, w, CX_SYND_LENGTH, "wqe_eth.inline_hdr_sz",
			    eth->inline_bytes, "does not fit into the WQE");
	return true;
}

bool cx_wqe_eth(struct cx_dev *dev, struct cx_sq *sq, const struct cx_wqe *w,
		struct cx_eth *eth)
{
	const uint8_t *p = cx_wqe_seg(w, 1);
	uint32_t d[4] = { cx_be32(p), cx_be32(p + 4), cx_be32(p + 8), cx_be32(p + 12) };

	if (CX_UNLIKELY(w->ds < 2))
		return fail(dev, sq, w, CX_SYND_QP_OP, "wqe_ctrl.ds", w->ds,
			    "leaves no room for the Ethernet segment");
	if (CX_UNLIKELY(d[0] | (d[1] & 0x3fffc000) | reserved_d3(d[3])))
		return bad_eth(dev, sq, w, d);
	*eth = (struct cx_eth){ .l4_csum = d[1] >> 31,
				.l3_csum = d[1] >> 30 & 1,
				.mss = d[1] & 0x3fff,
				.insert_vlan = d[3] >> 31 };
	if (eth->insert_vlan) {
		cx_put_be16(eth->vlan, d[3] & 0x10000 ? CX_ETH_SVLAN : CX_ETH_CVLAN);
		cx_put_be16(eth->vlan + 2, (uint16_t)d[3]);
	} else {
		eth->inline_bytes = d[3] >> 16 & 0x3ff;
	}
	return check_use(dev, sq, w, eth);
}

/* ---- gathering ---- */

/* @n bytes from @off bytes after the WQE's start; the ring may end between them. */
static void copy_out(const struct cx_wqe *w, uint32_t off, uint8_t *to, uint32_t n)
{
	uint32_t at = (w->at + off) & w->mask, first = w->mask + 1 - at;

	if (first > n)
		first = n;
	memcpy(to, w->ring + at, first);
	memcpy(to + first, w->ring, n - first);
}

/* Segments of an inline entry or header of @n bytes behind a head of @head bytes. */
static unsigned segs_of(uint32_t head, uint32_t n)
{
	return (head + n + 15) / 16;
}

static bool take_inline(struct cx_dev *dev, struct cx_sq *sq, const struct cx_wqe *w,
			unsigned *seg, uint32_t head, uint8_t *to, uint32_t room,
			uint32_t *len)
{
	uint32_t n = head & INLINE_BYTES;
	const char *why = NULL;

	if (head & ~(INLINE_FLAG | INLINE_BYTES))
		why = "has reserved bits";
	else if (!n)
		why = "is a segment of no bytes";
	else if (segs_of(4, n) > w->ds - *seg)
		why = "does not fit into the WQE";
	else if (n > room)
		why = "makes the message too long";
	if (CX_UNLIKELY(why))
		return fail(dev, sq, w, CX_SYND_LENGTH, "wqe_inline.byte_cnt", head, why);
	copy_out(w, *seg * 16 + 4, to, n);
	*seg += segs_of(4, n);
	*len = n;
	return true;
}

static bool take_pointer(struct cx_dev *dev, struct cx_sq *sq, const struct cx_wqe *w,
			 unsigned *seg, uint32_t n, uint8_t *to, uint32_t room,
			 uint32_t *len)
{
	const uint8_t *p = cx_wqe_seg(w, *seg), *from;
	uint32_t key = cx_be32(p + 4);
	const char *why = NULL;

	if (CX_UNLIKELY(!n))
		return fail(dev, sq, w, CX_SYND_LENGTH, "wqe_data.byte_cnt", n,
			    "is a segment of no bytes");
	if (CX_UNLIKELY(n > room))
		return fail(dev, sq, w, CX_SYND_LENGTH, "wqe_data.byte_cnt", n,
			    "makes the message too long");
	from = cx_dma(dev, key, sq->wq.pdn, cx_be64(p + 8), n, 0, &why);
	if (CX_UNLIKELY(!from)) {
		cx_sq_fail(dev, sq, CX_SYND_PROT, w->index, "wqe_data.lkey",
			   "0x%x for 0x%llx + %u: %s", key,
			   (unsigned long long)cx_be64(p + 8), n, why);
		return false;
	}
	memcpy(to, from, n);
	++*seg;
	*len = n;
	return true;
}

/* The entry at *@seg to @to, which has @room bytes; moves *@seg behind it. */
static bool take(struct cx_dev *dev, struct cx_sq *sq, const struct cx_wqe *w,
		 unsigned *seg, uint8_t *to, uint32_t room, uint32_t *len)
{
	uint32_t head = cx_be32(cx_wqe_seg(w, *seg));

	if (head & INLINE_FLAG)
		return take_inline(dev, sq, w, seg, head, to, room, len);
	return take_pointer(dev, sq, w, seg, head, to, room, len);
}

bool cx_wqe_gather(struct cx_dev *dev, struct cx_sq *sq, const struct cx_wqe *w,
		   const struct cx_eth *eth, uint32_t room, uint32_t *len)
{
	uint8_t *to = dev->tx_frame + room;
	uint32_t n = eth->inline_bytes, got;
	unsigned seg = 2;

	if (n) {
		copy_out(w, 16 + 14, to, n); /* two bytes stand in the segment itself */
		seg += n > 2 ? segs_of(0, n - 2) : 0;
	}
	while (seg < w->ds) {
		if (!take(dev, sq, w, &seg, to + n, CX_MESSAGE_MAX - n, &got))
			return false;
		n += got;
	}
	*len = n;
	return true;
}

/* ---- one frame ---- */

/* Modes 2 and 3 want the IP and the TCP or UDP header in the WQE as well (kernel en_tx.c,
 * mlx5e_calc_min_inline; 1, layer 2 only, was checked before). */
static uint32_t headers_end(const struct cx_sq *sq, const uint8_t *frame, uint32_t len)
{
	struct cx_hdrs h;

	cx_hdrs_find(&h, frame, len);
	if (!h.l3)
		return CX_L2_INLINE;
	if (!h.l4_off)
		return h.l3_off + (h.l3 == 4 ? 20 : 40);
	if (sq->min_inline == 2)
		return h.l4_off;
	return h.l4_off + (h.proto == 17 ? 8 : 20);
}

/* Headers that no WQE has room for are not asked for. Assumed. */
static uint32_t inline_needed(const struct cx_sq *sq, const uint8_t *frame, uint32_t len)
{
	enum { WQE_HOLDS = 2 + (60 - 3) * 16 };
	uint32_t end = headers_end(sq, frame, len);

	return end < WQE_HOLDS ? end : WQE_HOLDS;
}

static bool check_frame(struct cx_dev *dev, struct cx_sq *sq, const struct cx_wqe *w,
			const struct cx_eth *eth, const uint8_t *frame, uint32_t len)
{
	if (CX_UNLIKELY(len < CX_ETH_MIN))
		return fail(dev, sq, w, CX_SYND_LENGTH, "wqe_data.byte_cnt", len,
			    "bytes are no Ethernet frame");
	if (CX_UNLIKELY(sq->min_inline > 1) &&
	    eth->inline_bytes < inline_needed(sq, frame, len))
		return fail(dev, sq, w, CX_SYND_LENGTH, "wqe_eth.inline_hdr_sz",
			    eth->inline_bytes,
			    "does not reach to where min_wqe_inline_mode asks for");
	return true;
}

static void finish(struct cx_dev *dev, const struct cx_eth *eth, uint8_t *frame,
		   uint32_t len)
{
	struct cx_hdrs h;

	if (eth->l3_csum || eth->l4_csum) {
		CX_SEEN("wqe", "checksum");
		cx_hdrs_find(&h, frame, len);
		cx_csum_fill(frame, &h, eth->l3_csum, eth->l4_csum);
	}
	cx_transmit(dev, frame, len);
}

bool cx_wqe_send(struct cx_dev *dev, struct cx_sq *sq, const struct cx_wqe *w)
{
	uint8_t *frame = dev->tx_frame + CX_VLAN_BYTES;
	struct cx_eth eth;
	uint32_t len;

	if (!cx_wqe_eth(dev, sq, w, &eth) ||
	    !cx_wqe_gather(dev, sq, w, &eth, CX_VLAN_BYTES, &len) ||
	    !check_frame(dev, sq, w, &eth, frame, len))
		return false;
	CX_SEEN("wqe", "SEND");
	if (eth.insert_vlan) {
		CX_SEEN("wqe", "VLAN insert");
		frame = memmove(dev->tx_frame, frame, 12);
		memcpy(frame + 12, eth.vlan, CX_VLAN_BYTES);
		len += CX_VLAN_BYTES;
	}
	finish(dev, &eth, frame, len);
	return true;
}

/* Frames before a bad entry are on the wire already, as they would be on the card's. */
bool cx_wqe_multi(struct cx_dev *dev, struct cx_sq *sq, const struct cx_wqe *w)
{
	unsigned seg = 2;
	struct cx_eth eth;
	uint32_t len;

	if (!sq->allow_multi_pkt)
		return fail(dev, sq, w, CX_SYND_QP_OP, "wqe_ctrl.opcode", w->opcode,
			    "without allow_multi_pkt_send_wqe");
	if (!cx_wqe_eth(dev, sq, w, &eth))
		return false;
	if (w->ds == 2)
		return fail(dev, sq, w, CX_SYND_QP_OP, "wqe_ctrl.ds", w->ds,
			    "leaves no frame");
	CX_SEEN("wqe", "multi-packet");
	while (seg < w->ds) {
		if (!take(dev, sq, w, &seg, dev->tx_frame, CX_MESSAGE_MAX, &len) ||
		    !check_frame(dev, sq, w, &eth, dev->tx_frame, len))
			return false;
		finish(dev, &eth, dev->tx_frame, len);
	}
	return true;
}
