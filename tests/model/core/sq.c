/* core/sq.c - send queues: record, order, completion modes, errors
 *
 *   ring     2^log_size blocks of 64 bytes; a WQE takes ceil(ds / 4) of them and may wrap
 *   head     16-bit count of blocks done; a WQE carries the count of its first block
 *   record   [1]: count of blocks posted, big-endian, upper 16 bits zero
 *
 * Completion modes (DPDK mlx5_prm.h, MLX5_COMP_*): 0 and 1 make one only on error, and
 * after the first error of the queue 1 makes none; 2 always; 3 always, with an event (kernel
 * include/linux/mlx5/qp.h, MLX5_WQE_CTRL_CQ_UPDATE_AND_EQE). That mode 3 asks for its event
 * by itself, armed or not, is assumed from the two names; no public driver uses it.
 * That is what lets DPDK run a queue of thousands of blocks on a small CQ.
 *
 * An error: one completion with its syndrome, the queue to ERR, an event; then 0x05
 * for everything posted before and after, if flush_in_error. Which of 0x01 and 0x02 the
 * card answers to which broken field is assumed where no source is named.
 */
#include "queue.h"

#include <stdarg.h>
#include <stdio.h>

/* Reserved, signature included: queues here have wq_signature off. */
#define CTRL_D2_RESERVED UINT32_C(0xffffff11)
#define FENCE_MAX	 4 /* kernel qp.h, MLX5_FENCE_MODE_SMALL_AND_FENCE */

static unsigned blocks_of(unsigned ds)
{
	return (ds + 3) / 4;
}

/* ---- the doorbell record ---- */

static void bad_record(struct cx_dev *dev, struct cx_sq *sq, uint32_t raw)
{
	uint16_t swapped = (uint16_t)__builtin_bswap32(raw), head = sq->wq.head;
	uint32_t size = 1u << sq->wq.log_size;

	if (!(raw & 0xffff) && (uint16_t)(swapped - head) <= size)
		cx_sq_fail(dev, sq, CX_SYND_QP_OP, head, "wq_dbrec.snd",
			   "0x%08x is in the wrong byte order", raw);
	else
		cx_sq_fail(dev, sq, CX_SYND_QP_OP, head, "wq_dbrec.snd",
			   "0x%08x is not within %u blocks of %u (byte order?)", raw,
			   size, head);
}

/* Blocks posted and not done; UINT32_MAX when the record is no good. */
static uint32_t posted(struct cx_sq *sq, uint32_t *record)
{
	uint32_t raw = cx_record(&sq->wq.dbrec[1]);
	uint16_t ahead = (uint16_t)(raw - sq->wq.head);

	*record = raw;
	if (sq->stale && raw == sq->stale_record && !sq->named)
		return 0; /* rung for another queue of its page */
	sq->stale = false;
	return raw > 0xffff || ahead > 1u << sq->wq.log_size ? UINT32_MAX : ahead;
}

void cx_sq_reset(struct cx_sq *sq)
{
	sq->wq.head = 0;
	sq->wq.laps = 0;
	sq->rung = sq->named = sq->error_reported = false;
	sq->not_before_ns = 0;
	/* Programs count from 0 again, but leave the old count in the record until they post. */
	sq->stale = true;
	sq->stale_record = cx_record(&sq->wq.dbrec[1]);
}

/* ---- completions ---- */

static struct cx_wqe wqe_at(const struct cx_sq *sq, uint16_t index)
{
	uint32_t bytes = UINT32_C(64) << sq->wq.log_size;

	return (struct cx_wqe){ .ring = sq->wq.ring,
				.mask = bytes - 1,
				.at = index * UINT32_C(64) & (bytes - 1),
				.index = index };
}

static bool complete(struct cx_dev *dev, struct cx_sq *sq, const struct cx_wqe *w)
{
	return cx_cq_push(
		dev, sq->cq,
		&(struct cx_cqe){ .opcode = CX_CQE_REQ,
				  .user_index = sq->user_index,
				  .tag_or_qpn = (uint32_t)w->opcode << 24 | sq->obj.num,
				  .wqe_counter = w->index,
				  .timestamp =
					  cx_stamp(dev, sq->ts_format, cx_clock_ns(dev)),
				  .solicited = w->ce == 3 });
}

static void error_cqe(struct cx_dev *dev, struct cx_sq *sq, uint8_t syndrome,
		      uint16_t index)
{
	struct cx_wqe w = wqe_at(sq, index);
	uint32_t opcode = cx_wqe_seg(&w, 0)[3];

	sq->error_reported = true;
	cx_cq_push(dev, sq->cq,
		   &(struct cx_cqe){ .opcode = CX_CQE_REQ_ERR,
				     .user_index = sq->user_index,
				     .tag_or_qpn = opcode << 24 | sq->obj.num,
				     .wqe_counter = index,
				     .syndrome = syndrome,
				     .vendor_syndrome =
					     cx_vendor_syndrome(dev, syndrome) });
}

/* ---- errors ---- */

/* The segments a control segment claims, made into blocks that are there. */
static uint16_t step_over(const struct cx_wqe *w, uint32_t left)
{
	unsigned n = blocks_of(cx_be32(cx_wqe_seg(w, 0) + 4) & 63);

	return (uint16_t)(!n ? 1 : n < left ? n : left);
}

static bool reports(const struct cx_sq *sq, const struct cx_wqe *w)
{
	return (cx_wqe_seg(w, 0)[11] >> 2 & 3) != 1 || !sq->error_reported;
}

void cx_sq_flush(struct cx_dev *dev, struct cx_sq *sq)
{
	uint32_t record, left = posted(sq, &record);

	if (sq->state != CX_Q_ERR || left == UINT32_MAX || !sq->flush_in_error)
		return;
	while (left) {
		struct cx_wqe w = wqe_at(sq, sq->wq.head);
		uint16_t n = step_over(&w, left);

		if (reports(sq, &w))
			error_cqe(dev, sq, CX_SYND_FLUSH, w.index);
		sq->wq.head += n;
		left -= n;
	}
}

static void skip_failed(struct cx_sq *sq, uint16_t index)
{
	struct cx_wqe w = wqe_at(sq, index);
	uint32_t record, left = posted(sq, &record);

	if (index == sq->wq.head && left && left != UINT32_MAX)
		sq->wq.head += step_over(&w, left);
}

void cx_sq_fail(struct cx_dev *dev, struct cx_sq *sq, uint8_t syndrome,
		uint16_t wqe_counter, const char *field, const char *fmt, ...)
{
	char what[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(what, sizeof(what), fmt, ap);
	va_end(ap);
	cx_log(dev, "SQ 0x%x: %s: %s", sq->obj.num, field, what);
	if (strcmp(field, "fault")) { /* a fault script's wish is no check of ours */
		cx_cover("refuse", field);
		dev->stats.wqe_refusals++;
	}
	sq->state = CX_Q_ERR;
	error_cqe(dev, sq, syndrome, wqe_counter);
	dev->fault_vendor = 0; /* of this completion, not of the flush */
	cx_event(dev, CX_EVENT_WQ_CATASTROPHIC, 0, &sq->obj);
	skip_failed(sq, wqe_counter);
	cx_sq_flush(dev, sq);
}

/* No completion can tell of it: the queue dies with its CQ, and the event says so. */
static void die_with_cq(struct cx_dev *dev, struct cx_sq *sq)
{
	cx_log(dev, "SQ 0x%x: sqc.cqn: CQ 0x%x is in error", sq->obj.num,
	       sq->cq->obj.num);
	sq->state = CX_Q_ERR;
	cx_event(dev, CX_EVENT_WQ_CATASTROPHIC, 0, &sq->obj);
}

/* ---- the control segment ---- */

/* The first field that is wrong, in the order of the segment. */
static void __attribute__((cold))
bad_ctrl(struct cx_dev *dev, struct cx_sq *sq, const struct cx_wqe *w,
	 const uint32_t d[3], uint32_t left)
{
	const struct {
		const char *field;
		uint32_t is, must;
	} list[] = {
		{ "wqe_ctrl.opmod", d[0] >> 24, 0 },
		{ "wqe_ctrl.index", d[0] >> 8 & 0xffff, w->index },
		{ "wqe_ctrl.qpn", d[1] >> 8, sq->obj.num },
		{ "wqe_ctrl.reserved_at_38", d[1] >> 6 & 3, 0 },
		{ "wqe_ctrl.signature", d[2] >> 24, 0 },
		{ "wqe_ctrl.reserved_at_48", d[2] & CTRL_D2_RESERVED, 0 },
	};

	for (size_t i = 0; i < sizeof(list) / sizeof(list[0]); i++) {
		if (list[i].is == list[i].must)
			continue;
		cx_sq_fail(dev, sq, CX_SYND_QP_OP, w->index, list[i].field,
			   "0x%x, expected 0x%x", list[i].is, list[i].must);
		return;
	}
	if ((d[2] >> 5 & 7) > FENCE_MAX)
		cx_sq_fail(dev, sq, CX_SYND_QP_OP, w->index, "wqe_ctrl.fence",
			   "%u is unknown", d[2] >> 5 & 7);
	else if (w->ds > dev->lim.max_send_segs)
		cx_sq_fail(dev, sq, CX_SYND_QP_OP, w->index, "wqe_ctrl.ds",
			   "%u, but capability hca.max_wqe_sz_sq lets %u in", w->ds,
			   dev->lim.max_send_segs);
	else
		cx_sq_fail(dev, sq, CX_SYND_QP_OP, w->index, "wqe_ctrl.ds",
			   "%u, with %u blocks of 4 posted", w->ds, left);
}

static bool read_ctrl(struct cx_dev *dev, struct cx_sq *sq, struct cx_wqe *w,
		      uint32_t left)
{
	const uint8_t *p = cx_wqe_seg(w, 0);
	uint32_t d[3] = { cx_be32(p), cx_be32(p + 4), cx_be32(p + 8) };

	w->opcode = (uint8_t)d[0];
	w->ds = d[1] & 63;
	w->ce = d[2] >> 2 & 3;
	if (CX_UNLIKELY((d[0] >> 8 ^ w->index) | (d[1] >> 8 ^ sq->obj.num) |
			(d[1] & 0xc0) | (d[2] & CTRL_D2_RESERVED)) ||
	    CX_UNLIKELY((d[2] >> 5 & 7) > FENCE_MAX || !w->ds ||
			w->ds > dev->lim.max_send_segs || blocks_of(w->ds) > left)) {
		bad_ctrl(dev, sq, w, d, left);
		return false;
	}
	return true;
}

/* ---- running ---- */

enum { OP_NOP = 0x00, OP_SEND = 0x0a, OP_LSO = 0x0e, OP_MULTI = 0x29 };

static bool execute(struct cx_dev *dev, struct cx_sq *sq, const struct cx_wqe *w)
{
	switch (w->opcode) {
	case OP_NOP:
		CX_SEEN("wqe", "NOP");
		return true;
	case OP_SEND:
		return cx_wqe_send(dev, sq, w);
	case OP_LSO:
		return cx_wqe_lso(dev, sq, w);
	case OP_MULTI:
		return cx_wqe_multi(dev, sq, w);
	}
	cx_sq_fail(dev, sq, CX_SYND_QP_OP, w->index, "wqe_ctrl.opcode",
		   "0x%02x is unknown", w->opcode);
	return false;
}

static void __attribute__((cold))
trace(struct cx_dev *dev, const struct cx_sq *sq, const struct cx_wqe *w)
{
	char title[48];

	for (unsigned i = 0; i < w->ds; i++) {
		snprintf(title, sizeof(title), "SQ 0x%x WQE %u segment %u", sq->obj.num,
			 w->index, i);
		cx_trace_hex(dev, CX_TRACE_WQE, title, cx_wqe_seg(w, i), 16);
	}
}

/* Return: blocks done, 0 when the queue stopped. */
static unsigned run_one(struct cx_dev *dev, struct cx_sq *sq, uint32_t left)
{
	struct cx_wqe w = wqe_at(sq, sq->wq.head);

	if (!read_ctrl(dev, sq, &w, left))
		return 0;
	if (CX_UNLIKELY(dev->trace & CX_TRACE_WQE))
		trace(dev, sq, &w);
	if (!execute(dev, sq, &w))
		return 0;
	dev->stats.tx_wqes++;
	sq->wq.head += (uint16_t)blocks_of(w.ds);
	if (w.ce >= 2 && !complete(dev, sq, &w)) {
		die_with_cq(dev, sq);
		return 0;
	}
	return blocks_of(w.ds);
}

/* Frames weigh as much as WQEs: a multi-packet WQE has up to 59. */
unsigned cx_sq_run(struct cx_dev *dev, struct cx_sq *sq, unsigned budget)
{
	uint64_t end = dev->sent + UINT64_C(4) * budget;
	uint32_t record, left = posted(sq, &record);
	unsigned n, done = 0;

	sq->named = false;
	if (sq->state == CX_Q_ERR)
		cx_sq_flush(dev, sq);
	if (sq->state != CX_Q_RDY || sq->cq->held)
		return 0;
	if (left == UINT32_MAX)
		bad_record(dev, sq, record);
	else if (sq->cq->error && left)
		die_with_cq(dev, sq);
	for (; sq->state == CX_Q_RDY && left; left -= n, done++) {
		if (done == budget || dev->sent >= end) {
			sq->rung = true;
			break;
		}
		n = run_one(dev, sq, left);
		if (!n)
			break;
	}
	return done;
}
