/* core/sq_lso.c - large send: one message in, many frames out
 *
 *   inline header  Ethernet, IP, TCP or UDP; repeated in every frame
 *   data           cut into pieces of mss bytes
 *
 * Of each copy of the header lengths, IPv4 identification, TCP sequence number and
 * checksums are made anew; FIN and PSH stay in the last frame only, CWR in the first
 * (RFC 3168 6.1.2). Sums are always computed: a program cannot know them.
 *
 * Only opcode modifier 0. Modifier 1 is the multi-packet send of ConnectX-4 Lx, which
 * this card does not have; sq.c refuses it.
 *
 * Source: kernel en_tx.c (mlx5e_tx_get_gso_ihs), DPDK mlx5_tx.h (mlx5_tx_burst_tso).
 */
#include "queue.h"

enum { TCP = 6, UDP = 17, FIN_PSH = 0x09, CWR = 0x80 };

/* The message in dev->tx_frame. */
struct lso {
	struct cx_hdrs h;
	uint32_t header, mss, data; /* bytes */
	uint8_t copy[1024];	    /* of the header; inline_hdr_sz has ten bits */
};

static bool fail(struct cx_dev *dev, struct cx_sq *sq, const struct cx_wqe *w,
		 const char *field, uint32_t value, const char *why)
{
	cx_sq_fail(dev, sq, CX_SYND_QP_OP, w->index, field, "%u %s", value, why);
	return false;
}

/* The lengths in the header given to us are those of the message, or zero (the kernel's jumbo
 * IPv6): the headers are found as if the packet ended with the header. */
static void find_headers(struct lso *l)
{
	struct cx_hdrs probe;
	uint8_t *ip;

	cx_hdrs_find(&probe, l->copy, l->header); /* for the VLAN tags */
	ip = l->copy + probe.l3_off;
	if (probe.l3_off + 20 <= l->header && ip[0] >> 4 == 4)
		cx_put_be16(ip + 2, (uint16_t)(l->header - probe.l3_off));
	else if (probe.l3_off + 40 <= l->header && ip[0] >> 4 == 6)
		cx_put_be16(ip + 4, (uint16_t)(l->header - probe.l3_off - 40));
	l->h = (struct cx_hdrs){ .l3 = 0 };
	cx_hdrs_find(&l->h, l->copy, l->header);
}

static bool check(struct cx_dev *dev, struct cx_sq *sq, const struct cx_wqe *w,
		  const struct lso *l)
{
	uint32_t most = UINT32_C(1) << cx_cap(dev, "eth.max_lso_cap");
	uint32_t l4 = l->header - l->h.l4_off;

	if (most == 1)
		return fail(dev, sq, w, "wqe_ctrl.opcode", w->opcode,
			    "is LSO: not in the capabilities");
	if (l->data > most)
		return fail(dev, sq, w, "wqe_data.byte_cnt", l->data,
			    "bytes: more than max_lso_cap");
	if (!l->h.l4_off)
		return fail(dev, sq, w, "wqe_eth.inline_hdr_sz", l->header,
			    "bytes hold no TCP or UDP header");
	if (l4 != (l->h.proto == UDP ? 8u : (l->copy[l->h.l4_off + 12] >> 4) * 4u))
		return fail(dev, sq, w, "wqe_eth.inline_hdr_sz", l->header,
			    "bytes do not end with the TCP or UDP header");
	if (!l->data)
		return fail(dev, sq, w, "wqe_data.byte_cnt", 0, "bytes to cut");
	return true;
}

static void set_lengths(const struct lso *l, uint8_t *frame, struct cx_hdrs *h,
			uint32_t bytes)
{
	uint8_t *ip = frame + h->l3_off;

	h->end = l->header + bytes;
	if (h->l3 == 4)
		cx_put_be16(ip + 2, (uint16_t)(h->end - h->l3_off));
	else
		cx_put_be16(ip + 4, (uint16_t)(h->end - h->l3_off - 40));
	if (h->proto == UDP)
		cx_put_be16(frame + h->l4_off + 4, (uint16_t)(h->end - h->l4_off));
}

static void renumber(uint8_t *frame, const struct cx_hdrs *h, uint32_t piece,
		     uint32_t offset, bool last)
{
	uint8_t *ip = frame + h->l3_off, *l4 = frame + h->l4_off;

	if (h->l3 == 4)
		cx_put_be16(ip + 4, (uint16_t)(cx_be16(ip + 4) + piece));
	if (h->proto != TCP)
		return;
	cx_put_be32(l4 + 4, cx_be32(l4 + 4) + offset);
	if (!last)
		l4[13] &= (uint8_t)~FIN_PSH;
	if (piece)
		l4[13] &= (uint8_t)~CWR;
}

/* The header goes in front of each piece, over the tail of the one already sent. */
static void cut(struct cx_dev *dev, const struct lso *l)
{
	uint32_t bytes;

	for (uint32_t at = 0, piece = 0; at < l->data; at += bytes, piece++) {
		uint8_t *frame = dev->tx_frame + at;
		struct cx_hdrs h = l->h;

		bytes = l->data - at < l->mss ? l->data - at : l->mss;
		memcpy(frame, l->copy, l->header);
		set_lengths(l, frame, &h, bytes);
		renumber(frame, &h, piece, at, at + bytes == l->data);
		cx_csum_fill(frame, &h, true, true);
		cx_transmit(dev, frame, l->header + bytes);
	}
}

bool cx_wqe_lso(struct cx_dev *dev, struct cx_sq *sq, const struct cx_wqe *w)
{
	struct cx_eth eth;
	struct lso l;
	uint32_t len;

	if (!cx_wqe_eth(dev, sq, w, &eth) || !cx_wqe_gather(dev, sq, w, &eth, 0, &len))
		return false;
	l.header = eth.inline_bytes;
	l.mss = eth.mss;
	l.data = len - l.header;
	memcpy(l.copy, dev->tx_frame, l.header);
	find_headers(&l);
	if (!check(dev, sq, w, &l))
		return false;
	CX_SEEN("wqe", "LSO");
	cut(dev, &l);
	return true;
}
