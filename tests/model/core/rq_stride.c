/* core/rq_stride.c - striding receive: many frames in one WQE
 *
 *   WQE      next segment (16 bytes) | data segment ...
 *   memory   stride 0 | stride 1 | ... | stride 2^log_strides - 1, over the data segments
 *
 * A frame takes whole strides, in order, and never goes on in another WQE: what is too
 * small for it at the end is used up by a filler completion (bit 31, no bytes).
 * The completion says which WQE (wqe_id), the first stride (wqe_counter) and how many
 * (byte_cnt 29:16). With two_byte_shift two zero bytes stand before the frame, and they
 * are not counted.
 *
 * All data segments together hold exactly the strides: one for all (DPDK), one for
 * each and empty ones behind (VPP's rdma plug-in). The next segment's index is not used
 * by a cyclic queue; VPP sets it.
 *
 * The filler comes also when no other WQE is posted. Else a program that gives WQEs
 * back only when they are full would wait for ever.
 *
 * Source: DPDK mlx5_rx.c (mlx5_rx_burst_mprq), mlx5_prm.h (MLX5_MPRQ_*); kernel en_rx.c
 * (mlx5e_handle_rx_cqe_mpwrq), device.h (struct mpwrq_cqe_bc).
 */
#include "queue.h"

#define FILLER UINT32_C(0x80000000)

static uint32_t strides_of(const struct cx_wq *wq)
{
	return 1u << wq->log_strides;
}

static uint32_t bytes_of(const struct cx_wq *wq)
{
	return 1u << (wq->log_strides + wq->log_stride_bytes);
}

/* ---- the WQE ---- */

static bool fail(struct cx_rx_job *job, const char *field, uint32_t is, const char *why)
{
	cx_rq_fail(job->dev, job->rq, CX_SYND_QP_OP, job->wq->head, field, "0x%x %s", is,
		   why);
	return false;
}

static bool check_next(struct cx_rx_job *job, const uint8_t *wqe)
{
	uint32_t reserved = (cx_be32(wqe) & 0xffff0000) | cx_be32(wqe + 4) |
			    cx_be32(wqe + 8) | cx_be32(wqe + 12);

	return !CX_UNLIKELY(reserved) ||
	       fail(job, "wqe_next", reserved, "has reserved bits or a signature");
}

static bool check_sizes(struct cx_rx_job *job, const uint8_t *wqe)
{
	uint32_t size = 1u << job->wq->log_stride;
	uint64_t sum = 0;

	for (uint32_t at = 16; at < size; at += 16)
		sum += cx_be32(wqe + at);
	if (CX_UNLIKELY(sum != bytes_of(job->wq)))
		return fail(job, "wqe_data.byte_cnt", (uint32_t)sum,
			    "bytes are not those of all strides");
	return true;
}

/* ---- writing ---- */

/* A walk over the data segments of a WQE, a piece of memory at a time. */
struct target {
	struct cx_rx_job *job;
	const uint8_t *seg, *end;
	uint32_t off; /* in seg */
};

/* Return: memory for up to *@n bytes, NULL after cx_rq_fail(). */
static uint8_t *piece(struct target *t, uint32_t *n)
{
	const struct cx_rx_job *job = t->job;
	const char *why = "behind the last data segment";
	uint8_t *to = NULL;
	uint32_t bytes = 0, key = 0;
	uint64_t addr = 0;

	for (; t->seg < t->end; t->seg += 16, t->off -= bytes) {
		bytes = cx_be32(t->seg);
		if (t->off < bytes)
			break;
	}
	if (t->seg < t->end) {
		key = cx_be32(t->seg + 4);
		addr = cx_be64(t->seg + 8) + t->off;
		*n = *n < bytes - t->off ? *n : bytes - t->off;
		to = cx_dma(job->dev, key, job->wq->pdn, addr, *n, CX_ACCESS_LOCAL_WRITE,
			    &why);
	}
	if (CX_UNLIKELY(!to))
		cx_rq_fail(job->dev, job->rq, CX_SYND_PROT, job->wq->head,
			   "wqe_data.lkey", "0x%x for 0x%llx + %u: %s", key,
			   (unsigned long long)addr, *n, why);
	t->off += *n;
	return to;
}

static bool put(struct target *t, const uint8_t *p, uint32_t len)
{
	while (len) {
		uint32_t n = len;
		uint8_t *to = piece(t, &n);

		if (!to)
			return false;
		memcpy(to, p, n);
		p += n;
		len -= n;
	}
	return true;
}

static bool write_frame(struct cx_rx_job *job, const uint8_t *wqe)
{
	static const uint8_t shift[2];
	const struct cx_wq *wq = job->wq;
	struct target t = { job, wqe + 16, wqe + (1u << wq->log_stride),
			    (uint32_t)wq->stride << wq->log_stride_bytes };

	if (wq->two_byte_shift && !put(&t, shift, sizeof(shift)))
		return false;
	for (unsigned i = 0; i < job->n_parts; i++)
		if (!put(&t, job->part[i].p, job->part[i].len))
			return false;
	return true;
}

/* ---- strides ---- */

static void use(struct cx_wq *wq, uint32_t strides)
{
	uint32_t next = wq->stride + strides;

	if (next == strides_of(wq))
		cx_wq_next(wq);
	else
		wq->stride = (uint16_t)next;
}

/* Return: false when the completion queue is in error. */
static bool fill_up(struct cx_rx_job *job)
{
	struct cx_wq *wq = job->wq;
	uint32_t rest = strides_of(wq) - wq->stride;
	struct cx_cqe cqe = { .opcode = CX_CQE_RESP_SEND,
			      .user_index = 1u << 24 | job->rq->user_index,
			      .byte_cnt = FILLER | rest << 16,
			      .wqe_counter = wq->stride,
			      .wqe_id = wq->head,
			      .timestamp = cx_stamp(job->dev, job->rq->ts_format,
						    job->pkt->clock) };

	CX_SEEN("cqe", "filler");
	use(wq, rest);
	job->posted--;
	return cx_cq_push(job->dev, job->rq->cq, &cqe);
}

enum cx_rx_verdict cx_rq_stride(struct cx_rx_job *job)
{
	struct cx_wq *wq = job->wq;
	uint32_t bytes = job->len + (wq->two_byte_shift ? 2 : 0);
	uint32_t need = (bytes + (1u << wq->log_stride_bytes) - 1) >>
			wq->log_stride_bytes;
	uint16_t index, first;
	const uint8_t *wqe;

	if (CX_UNLIKELY(need > strides_of(wq)))
		return cx_rq_too_long(job, bytes_of(wq));
	if (need > strides_of(wq) - wq->stride && !fill_up(job))
		return cx_rq_die_with_cq(job->dev, job->rq);
	if (!job->posted)
		return cx_rq_no_buffer(job);
	index = wq->head;
	first = wq->stride;
	wqe = cx_wq_entry(wq, index);
	if (!check_next(job, wqe) || !check_sizes(job, wqe) || !write_frame(job, wqe))
		return CX_RX_DEAD;
	use(wq, need);
	return cx_rq_complete(job, need << 16 | job->len, first, index) ? CX_RX_QUEUED
									: CX_RX_DEAD;
}
