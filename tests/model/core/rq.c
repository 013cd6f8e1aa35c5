/* core/rq.c - receive queues: plain scatter, completions, errors
 *
 *   ring     2^log_size entries of 2^log_stride bytes
 *   head     16-bit count of entries used up
 *   record   [0]: count of entries posted; programs keep it in 16 bits (rdma-core) or 32
 *            (DPDK), so the upper half is zero or the laps of head
 *
 * A plain entry is a list of pointers, filled in order; byte count 0 with key 0x100 ends a
 * short list (rdma-core qp.c, mlx5_post_wq_recv), byte count 0 with another key is passed
 * over (VPP's rdma plug-in fills unused places so).
 *
 * A frame longer than its entry makes an error completion (0x01) and takes the entry, and
 * the queue goes on: both drivers reset a queue only for 0x02, 0x04 and 0x05 (DPDK
 * mlx5_rx.c mlx5_rx_err_handle, kernel en_rx.c mlx5e_handle_rx_err_cqe). Other errors
 * take the queue to ERR, and 0x05 follows for what is posted, if flush_in_error.
 */
#include "queue.h"

#include <stdarg.h>
#include <stdio.h>

/* ---- the ring ---- */

void cx_wq_next(struct cx_wq *wq)
{
	wq->stride = 0;
	if (!++wq->head)
		wq->laps++;
}

static struct cx_wq *wq_of(struct cx_rq *rq)
{
	return rq->rmp ? &rq->rmp->wq : &rq->wq;
}

static bool is_striding(const struct cx_wq *wq)
{
	return wq->type == CX_WQ_CYCLIC_STRIDING || wq->type == CX_WQ_LINKED_STRIDING;
}

/* Entries posted and not used up; UINT32_MAX when the record is no good. */
static uint32_t posted(const struct cx_wq *wq, uint32_t *record)
{
	uint32_t raw = cx_record(&wq->dbrec[0]);
	uint16_t ahead = (uint16_t)(raw - wq->head);
	uint16_t laps = (uint16_t)(wq->laps + ((raw & 0xffff) < wq->head));

	*record = raw;
	if (CX_UNLIKELY(ahead > 1u << wq->log_size || (raw >> 16 && raw >> 16 != laps)))
		return UINT32_MAX;
	return ahead;
}

bool cx_rq_is_posted(struct cx_rq *rq)
{
	uint32_t record, n = posted(wq_of(rq), &record);

	return n && n != UINT32_MAX;
}

static void bad_record(struct cx_dev *dev, struct cx_rq *rq, const struct cx_wq *wq,
		       uint32_t raw)
{
	uint16_t swapped = (uint16_t)__builtin_bswap32(raw);
	uint32_t size = 1u << wq->log_size;

	if (!(raw & 0xffff) && (uint16_t)(swapped - wq->head) <= size)
		cx_rq_fail(dev, rq, CX_SYND_QP_OP, wq->head, "wq_dbrec.rcv",
			   "0x%08x is in the wrong byte order", raw);
	else
		cx_rq_fail(dev, rq, CX_SYND_QP_OP, wq->head, "wq_dbrec.rcv",
			   "0x%08x is not within %u entries of %u (byte order?)", raw,
			   size, wq->head);
}

void cx_rq_reset(struct cx_rq *rq)
{
	rq->wq.head = rq->wq.laps = rq->wq.stride = 0;
}

/* ---- errors ---- */

/* A striding entry is named in wqe_id and gives back the strides it had left, so that a
 * program that counts strides comes out right (kernel en_rx.c, mlx5e_handle_rx_cqe_mpwrq). */
static void error_cqe(struct cx_dev *dev, struct cx_rq *rq, uint8_t syndrome,
		      uint16_t index)
{
	const struct cx_wq *wq = wq_of(rq);
	struct cx_cqe cqe = { .opcode = CX_CQE_RESP_ERR,
			      .user_index = rq->user_index,
			      .tag_or_qpn = rq->obj.num,
			      .wqe_counter = index,
			      .syndrome = syndrome,
			      .vendor_syndrome = cx_vendor_syndrome(dev, syndrome) };

	if (is_striding(wq)) {
		uint16_t used = index == wq->head ? wq->stride : 0;

		cqe.wqe_id = index;
		cqe.wqe_counter = used;
		cqe.byte_cnt = ((1u << wq->log_strides) - used) << 16 & 0x3fff0000;
	}
	cx_cq_push(dev, rq->cq, &cqe);
}

/* Shared memory is not this queue's to flush. */
void cx_rq_flush(struct cx_dev *dev, struct cx_rq *rq)
{
	uint32_t record, left;

	if (rq->state != CX_Q_ERR || rq->rmp || !rq->flush_in_error)
		return;
	left = posted(&rq->wq, &record);
	for (; left && left != UINT32_MAX; left--) {
		error_cqe(dev, rq, CX_SYND_FLUSH, rq->wq.head);
		cx_wq_next(&rq->wq);
	}
}

void cx_rq_fail(struct cx_dev *dev, struct cx_rq *rq, uint8_t syndrome,
		uint16_t wqe_counter, const char *field, const char *fmt, ...)
{
	struct cx_wq *wq = wq_of(rq);
	char what[256];
	uint32_t record, left;
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(what, sizeof(what), fmt, ap);
	va_end(ap);
	cx_log(dev, "RQ 0x%x: %s: %s", rq->obj.num, field, what);
	if (strcmp(field, "fault")) { /* a fault script's wish is no check of ours */
		cx_cover("refuse", field);
		dev->stats.wqe_refusals++;
	}
	rq->state = CX_Q_ERR;
	error_cqe(dev, rq, syndrome, wqe_counter);
	dev->fault_vendor = 0; /* of this completion, not of the flush */
	cx_event(dev, CX_EVENT_WQ_CATASTROPHIC, 0, &rq->obj);
	left = posted(wq, &record);
	if (wqe_counter == wq->head && left && left != UINT32_MAX)
		cx_wq_next(wq);
	cx_rq_flush(dev, rq);
}

enum cx_rx_verdict cx_rq_die_with_cq(struct cx_dev *dev, struct cx_rq *rq)
{
	cx_log(dev, "RQ 0x%x: rqc.cqn: CQ 0x%x is in error", rq->obj.num,
	       rq->cq->obj.num);
	rq->state = CX_Q_ERR;
	cx_event(dev, CX_EVENT_WQ_CATASTROPHIC, 0, &rq->obj);
	return CX_RX_DEAD;
}

enum cx_rx_verdict cx_rq_no_buffer(const struct cx_rx_job *job)
{
	if (job->rq->counter)
		job->rq->counter->out_of_buffer++;
	return CX_RX_NO_BUFFER;
}

enum cx_rx_verdict cx_rq_too_long(struct cx_rx_job *job, uint32_t room)
{
	struct cx_rq *rq = job->rq;

	cx_log(job->dev,
	       "RQ 0x%x: wqe_data.byte_cnt: a frame of %u bytes, WQE %u holds %u",
	       rq->obj.num, job->len, job->wq->head, room);
	cx_cover("refuse", "frame longer than the WQE");
	job->dev->stats.wqe_refusals++;
	error_cqe(job->dev, rq, CX_SYND_LENGTH, job->wq->head);
	cx_wq_next(job->wq);
	return CX_RX_DEAD;
}

/* ---- the completion ---- */

enum { PROTO_TCP = 6, PROTO_UDP = 17, FLAG_ACK = 0x10 };

/* Of the IP packet, by what its header says. */
static uint32_t l3_end(const struct cx_pkt *pkt)
{
	const uint8_t *ip = pkt->data + pkt->l3_off;

	return pkt->l3_off + (pkt->l3 == 4 ? cx_be16(ip + 2) : 40u + cx_be16(ip + 4));
}

static bool has_payload(const struct cx_pkt *pkt)
{
	return pkt->payload_off < l3_end(pkt);
}

/* Source: kernel device.h, CQE_L4_HDR_TYPE_*. Fragments have none; assumed. */
static uint8_t l4_type(const struct cx_pkt *pkt)
{
	if (!pkt->l4_off || pkt->frag)
		return 0;
	if (pkt->ip_proto == PROTO_UDP)
		return 2;
	if (pkt->ip_proto != PROTO_TCP)
		return 0;
	if (!(pkt->tcp_flags & FLAG_ACK))
		return 1;
	return has_payload(pkt) ? 4 : 3;
}

/* Byte 0x1d: fragment, L4 type, L3 type, IP options, VLAN tag taken out. */
static uint8_t hdr_type(const struct cx_pkt *pkt, bool stripped)
{
	uint8_t l3 = pkt->l3 == 4 ? 2 : pkt->l3 == 6 ? 1 : 0;

	return (uint8_t)(pkt->frag << 7 | l4_type(pkt) << 4 | l3 << 2 |
			 pkt->ip_options << 1 | stripped);
}

/* With cqe_checksum_full "all received bytes" behind the Ethernet header, tags and padding and all;
 * without, those of the IP packet (kernel en_rx.c, mlx5e_handle_csum, mlx5e_skb_csum_fixup). That
 * a tag taken out, and the FCS, do not count, and that there is no sum without IP, is assumed. */
static uint16_t sum_of(const struct cx_dev *dev, const struct cx_pkt *pkt, bool stripped)
{
	uint32_t from = CX_ETH_MIN + (stripped ? CX_VLAN_BYTES : 0), end = pkt->len;

	if (!pkt->l3)
		return 0;
	if (!dev->lim.csum_full) {
		from = pkt->l3_off;
		end = l3_end(pkt);
	}
	if (end > pkt->len || end < from)
		end = pkt->len;
	return cx_sum(pkt->data + from, end - from);
}

/* lro_num_seg (the upper byte of user_index) is 1; assumed, drivers ask for more than 1. */
bool cx_rq_complete(const struct cx_rx_job *job, uint32_t byte_cnt, uint16_t wqe_counter,
		    uint16_t wqe_id)
{
	const struct cx_pkt *pkt = job->pkt;
	struct cx_rq *rq = job->rq;
	struct cx_cqe cqe = {
		.opcode = CX_CQE_RESP_SEND,
		.user_index = 1u << 24 | rq->user_index,
		.byte_cnt = byte_cnt,
		.tag_or_qpn = pkt->flow_tag & 0xffffff,
		.wqe_counter = wqe_counter,
		.wqe_id = wqe_id,
		.checksum = sum_of(job->dev, pkt, job->stripped),
		.csum_ok = (uint8_t)(pkt->l4_ok << 2 | pkt->l3_ok << 1 | pkt->l2_ok),
		.hdr_type = hdr_type(pkt, job->stripped),
		.vlan = job->stripped ? pkt->vlan_tci : 0,
		.hash = pkt->hash,
		.hash_type = pkt->hash_type,
		.metadata = pkt->metadata,
		.timestamp = cx_stamp(job->dev, rq->ts_format, pkt->clock),
		.compressible = true,
	};

	if (cx_cq_push(job->dev, rq->cq, &cqe))
		return true;
	cx_rq_die_with_cq(job->dev, rq);
	return false;
}

/* ---- the frame ---- */

static void add_part(struct cx_rx_job *job, const uint8_t *p, uint32_t len)
{
	job->part[job->n_parts].p = p;
	job->part[job->n_parts++].len = len;
	job->len += len;
}

/* Only a C-tag is taken out (kernel: NETIF_F_HW_VLAN_CTAG_RX); the FCS is that of the wire. */
static void parts_of(struct cx_rx_job *job)
{
	const struct cx_pkt *pkt = job->pkt;

	job->stripped = !job->rq->vsd && pkt->n_vlan && pkt->vlan_tpid == CX_ETH_CVLAN;
	if (job->stripped) {
		add_part(job, pkt->data, 12);
		add_part(job, pkt->data + 12 + CX_VLAN_BYTES,
			 pkt->len - 12 - CX_VLAN_BYTES);
	} else {
		add_part(job, pkt->data, pkt->len);
	}
	if (job->rq->scatter_fcs) {
		cx_fcs(pkt->data, pkt->len, job->fcs);
		add_part(job, job->fcs, sizeof(job->fcs));
	}
}

/* Where the copying is. */
struct source {
	unsigned part;
	uint32_t off;
};

static void copy_in(const struct cx_rx_job *job, struct source *s, uint8_t *to,
		    uint32_t n)
{
	while (n && s->part < job->n_parts) {
		uint32_t left = job->part[s->part].len - s->off,
			 some = n < left ? n : left;

		memcpy(to, job->part[s->part].p + s->off, some);
		to += some;
		n -= some;
		s->off += some;
		if (s->off == job->part[s->part].len)
			*s = (struct source){ s->part + 1, 0 };
	}
}

/* ---- plain entries ---- */

/* Return: false after cx_rq_fail(). */
static bool fill_segment(struct cx_rx_job *job, struct source *s, const uint8_t *seg,
			 uint32_t n)
{
	uint32_t key = cx_be32(seg + 4);
	const char *why = NULL;
	uint8_t *to = cx_dma(job->dev, key, job->wq->pdn, cx_be64(seg + 8), n,
			     CX_ACCESS_LOCAL_WRITE, &why);

	if (CX_UNLIKELY(!to)) {
		cx_rq_fail(job->dev, job->rq, CX_SYND_PROT, job->wq->head,
			   "wqe_data.lkey", "0x%x for 0x%llx + %u: %s", key,
			   (unsigned long long)cx_be64(seg + 8), n, why);
		return false;
	}
	copy_in(job, s, to, n);
	return true;
}

static bool ends_list(const uint8_t *seg, uint32_t bytes)
{
	return !bytes && cx_be32(seg + 4) == CX_LKEY_END;
}

static enum cx_rx_verdict into_plain(struct cx_rx_job *job)
{
	struct cx_wq *wq = job->wq;
	const uint8_t *seg = cx_wq_entry(wq, wq->head),
		      *end = seg + (1u << wq->log_stride);
	uint16_t index = wq->head;
	struct source s = { 0, 0 };
	uint32_t done = 0;

	for (; done < job->len && seg < end; seg += 16) {
		uint32_t bytes = cx_be32(seg);

		if (CX_UNLIKELY(bytes >> 31)) {
			cx_rq_fail(job->dev, job->rq, CX_SYND_QP_OP, index,
				   "wqe_data.inline_data", "is set in a receive WQE");
			return CX_RX_DEAD;
		}
		if (ends_list(seg, bytes))
			break;
		if (bytes > job->len - done)
			bytes = job->len - done;
		if (bytes && !fill_segment(job, &s, seg, bytes))
			return CX_RX_DEAD;
		done += bytes;
	}
	if (CX_UNLIKELY(done < job->len))
		return cx_rq_too_long(job, done);
	cx_wq_next(wq);
	return cx_rq_complete(job, job->len, index, 0) ? CX_RX_QUEUED : CX_RX_DEAD;
}

/* ---- delivery ---- */

static enum cx_rx_verdict not_ready(struct cx_dev *dev, struct cx_rq *rq)
{
	cx_rq_flush(dev, rq); /* what was posted since the error */
	return CX_RX_DEAD;
}

enum cx_rx_verdict cx_rq_deliver(struct cx_dev *dev, struct cx_rq *rq,
				 const struct cx_pkt *pkt)
{
	struct cx_rx_job job = { .dev = dev, .rq = rq, .wq = wq_of(rq), .pkt = pkt };
	uint32_t record, left;

	if (rq->state != CX_Q_RDY || (rq->rmp && rq->rmp->state != CX_Q_RDY))
		return not_ready(dev, rq);
	if (CX_UNLIKELY(rq->cq->error))
		return cx_rq_die_with_cq(dev, rq);
	left = posted(job.wq, &record);
	if (CX_UNLIKELY(left == UINT32_MAX)) {
		bad_record(dev, rq, job.wq, record);
		return CX_RX_DEAD;
	}
	if (CX_UNLIKELY(!left || rq->cq->held))
		return cx_rq_no_buffer(&job);
	job.posted = (uint16_t)left;
	parts_of(&job);
	return is_striding(job.wq) ? cx_rq_stride(&job) : into_plain(&job);
}
