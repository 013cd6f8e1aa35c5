/* test/fuzz_queue.c - a program that does anything to its live queues
 *
 * The input's first bytes choose kinds and sizes of two send queues on one doorbell
 * page and two receive queues (plain, striding or on shared memory; compression), the
 * rest are steps. While a WQE is at work, the wire's end may change the ring under it.
 */
#include "fuzz.h"

#include <endian.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../core/dev.h"
#include "queue_rig.h"

enum { MAX_STEPS = 200, QUEUES = 2, MTU = 1500, LONGEST = MTU + 22 };

struct q {
	struct direct *d;
	struct fuzz f;
	struct d_cq *cq[QUEUES]; /* of the send queues, of the receive queues */
	struct d_sq *sq[QUEUES];
	struct d_rq *rq[QUEUES];
	struct d_mem mem, read_only;
	bool meddle; /* the wire's end changes a ring */
};

/* ---- the wire's end ---- */

static void scribble(struct q *q, uint8_t *p, size_t size)
{
	size_t at = fuzz_below(&q->f, (uint32_t)size), n = fuzz_below(&q->f, 24);

	fuzz_fill(&q->f, p + at, n < size - at ? n : size - at);
}

static struct q *at_work; /* the device's argument is the struct direct, for its log */

static void on_wire(void *arg, const void *frame, uint32_t len)
{
	struct q *q = at_work;
	uint8_t copy[LONGEST];

	(void)arg;

	FUZZ_MUST(len >= 60 && len <= LONGEST);
	memcpy(copy, frame, len);
	if (q->meddle)
		scribble(q, q->sq[0]->ring, 64u << q->sq[0]->conf.log_size);
}

static void on_kernel(void *arg, const void *frame, uint32_t len)
{
	uint8_t copy[LONGEST];

	(void)arg;
	FUZZ_MUST(len >= 14 && len <= LONGEST);
	memcpy(copy, frame, len);
}

/* ---- set-up ---- */

static void make_cqs(struct q *q)
{
	struct d_cq_conf rx = { .log_size = (uint8_t)fuzz_below(&q->f, 8),
				.overrun_ignore = fuzz_below(&q->f, 4) == 0 };

	q->cq[0] = d_cq(
		q->d, &(struct d_cq_conf){ .log_size = (uint8_t)fuzz_below(&q->f, 6),
					   .cqe128 = fuzz_below(&q->f, 2),
					   .overrun_ignore = fuzz_below(&q->f, 4) == 0 });
	rx.comp = (uint8_t)fuzz_below(&q->f, 3);
	rx.mini = rx.comp ? (uint8_t)fuzz_below(&q->f, 5) : 0;
	q->cq[1] = d_cq(q->d, &rx);
	cx_comp_limits(q->d->dev, fuzz_below(&q->f, 4), fuzz_below(&q->f, 66));
}

static void make_sqs(struct q *q)
{
	for (unsigned i = 0; i < QUEUES; i++)
		q->sq[i] =
			d_sq(q->d, &(struct d_sq_conf){
					   .log_size = (uint8_t)fuzz_below(&q->f, 7),
					   .cq = q->cq[0],
					   .min_inline = (uint8_t)fuzz_below(&q->f, 4),
					   .ts_format = (uint8_t)fuzz_below(&q->f, 3),
					   .no_multi_pkt = fuzz_below(&q->f, 4) == 0 });
}

static uint32_t make_rmp(struct q *q, const struct d_rq *like)
{
	uint8_t in[CX_BYTES(create_rmp_in)] = { 0 }, out[64];
	uint8_t *ctx = CX_AT(create_rmp_in, in, ctx), *wq = CX_AT(rmpc, ctx, wq);

	cx_put_be16(in, D_CREATE_RMP);
	cx_put_be16(in + 2, q->d->uid);
	memcpy(wq, CX_AT(rqc, q_rq(like)->ctx, wq), CX_BYTES(wq));
	CX_SET(rmpc, ctx, state, 1);
	CX_SET(rmpc, ctx, basic_cyclic_rcv_wqe, !like->conf.striding);
	FUZZ_MUST(fuzz_exec(q->d, in, sizeof(in), 16, out) == CX_ST_OK);
	return (uint32_t)cx_get(out, CX_PACK(0x48, 24));
}

static struct d_rq_conf rq_conf(struct q *q)
{
	return (struct d_rq_conf){
		.log_size = (uint8_t)fuzz_below(&q->f, 5),
		.cq = q->cq[1],
		.segs = (uint8_t)(1 + fuzz_below(&q->f, 4)),
		.buf_bytes = 1 + fuzz_below(&q->f, 2048),
		.striding = fuzz_below(&q->f, 2),
		.log_strides = (uint8_t)(9 + fuzz_below(&q->f, 2)),
		.log_stride_bytes = (uint8_t)(6 + fuzz_below(&q->f, 3)),
		.strip_vlan = fuzz_below(&q->f, 2),
		.two_byte_shift = fuzz_below(&q->f, 2),
		.ts_format = (uint8_t)fuzz_below(&q->f, 3),
		.counter = fuzz_below(&q->f, 2) ? d_q_counter(q->d) : 0
	};
}

/* With shared memory the first queue only lends its ring: its own state stays RST. */
static void make_rqs(struct q *q)
{
	bool shared = fuzz_below(&q->f, 4) == 0;
	struct d_rq_conf conf = rq_conf(q);

	conf.stay_reset = shared;
	q->rq[0] = d_rq(q->d, &conf);
	conf = rq_conf(q);
	if (shared)
		conf.rmpn = make_rmp(q, q->rq[0]);
	q->rq[1] = d_rq(q->d, &conf);
}

static void make_rules(struct q *q)
{
	uint32_t rqn[2] = { q->rq[0]->num, q->rq[1]->num };
	struct d_tir_conf rss = { .rqtn = d_rqt(q->d, rqn, 2),
				  .hash_fn = (uint8_t)(1 + fuzz_below(&q->f, 2)),
				  .symmetric = fuzz_below(&q->f, 2),
				  .udp = true,
				  .ipv6 = fuzz_below(&q->f, 2),
				  .fields = fuzz_below(&q->f, 16) };

	if (rss.hash_fn == 1)
		rss.symmetric = false;
	d_all_to(q->d,
		 fuzz_below(&q->f, 2) ? d_tir_rss(q->d, &rss) : d_tir(q->d, rqn[1]));
}

static void set_up(struct q *q)
{
	q->d = d_open(NULL);
	make_cqs(q);
	make_sqs(q);
	make_rqs(q);
	make_rules(q);
	q->mem = d_mem(q->d, 70000);
	q->read_only = (struct d_mem){ .p = d_alloc(q->d, 100), .iova = 0x1000 };
	FUZZ_MUST(!cx_mkey_reg(q->d->dev, q->d->uid, q->d->pdn, q->read_only.p, 0x1000,
			       100, 0, &q->read_only.key));
}

/* ---- sending ---- */

static void eth_segment(struct q *q, struct d_wqe *w, uint8_t opcode)
{
	static const uint8_t modes[] = { 0, 0x40, 0x80, 0xc0 };
	uint8_t hdr[1024], *seg = w->b + 16;
	uint32_t n = fuzz_below(&q->f, 3) ? 0 : fuzz_below(&q->f, 200);

	d_udp4(hdr, sizeof(hdr), 1, 2, 3, 4, 5);
	if (opcode == 0x0e)
		n = 42; /* Ethernet, IPv4, UDP */
	d_wqe_eth(w, hdr, n);
	seg[4] = modes[fuzz_below(&q->f, 4)];
	if (opcode == 0x0e)
		CX_SET(wqe_eth, seg, mss, 1 + fuzz_below(&q->f, 9000));
	if (!n && fuzz_below(&q->f, 8) == 0)
		cx_put_be32(seg + 12,
			    UINT32_C(0x80000000) | (uint32_t)fuzz_take(&q->f, 2));
}

static void segments(struct q *q, struct d_wqe *w)
{
	uint8_t data[256];

	d_udp4(data, sizeof(data), 5, 6, 7, 8, 9);
	for (uint32_t n = fuzz_below(&q->f, 6); n && w->ds < 44; n--) {
		uint32_t len = fuzz_below(&q->f, 2) ? fuzz_below(&q->f, 256)
						    : fuzz_below(&q->f, 65536);
		const struct d_mem *m = fuzz_below(&q->f, 8) ? &q->mem : &q->read_only;

		if (fuzz_below(&q->f, 3) == 0)
			d_wqe_inline(w, data, len % 200);
		else
			d_wqe_ptr(w, m->key, m->iova + fuzz_below(&q->f, 300), len);
	}
}

static void put_wqe(struct q *q)
{
	static const uint8_t ops[] = { 0x0a, 0x0a, 0x29, 0x29, 0x0e, 0x00, 0x0b, 0xff };
	struct d_sq *sq = q->sq[fuzz_below(&q->f, QUEUES)];
	uint8_t opcode = ops[fuzz_below(&q->f, 8)];
	struct d_wqe w = d_wqe(sq, opcode, (uint8_t)fuzz_below(&q->f, 4));

	if (opcode) {
		eth_segment(q, &w, opcode);
		segments(q, &w);
	}
	for (uint32_t n = fuzz_below(&q->f, 8); n > 4; n--)
		w.b[fuzz_below(&q->f, w.ds * 16)] ^= (uint8_t)(1 << fuzz_below(&q->f, 8));
	if ((w.ds + 3) / 4 > 1u << sq->conf.log_size)
		return;
	d_sq_put(sq, &w);
	if (fuzz_below(&q->f, 2))
		d_sq_ring(sq);
	else
		d_sq_record(sq);
}

static void spoil_sq(struct q *q)
{
	struct d_sq *sq = q->sq[fuzz_below(&q->f, QUEUES)];

	switch (fuzz_below(&q->f, 4)) {
	case 0:
		scribble(q, sq->ring, 64u << sq->conf.log_size);
		break;
	case 1:
		sq->dbrec[1] = htobe32((uint32_t)(sq->pi + (int8_t)fuzz_take(&q->f, 1)));
		break;
	case 2:
		sq->dbrec[1] = (uint32_t)fuzz_take(&q->f, 4);
		break;
	case 3: /* as after a reset */
		sq->pi = (uint16_t)fuzz_take(&q->f, 2);
		break;
	}
}

static void ring(struct q *q)
{
	static const uint16_t reg[] = { 0x20, 0x40, 0x48, 0x800, 0x900, 0xa00, 0xb00 };
	uint8_t value[8];

	if (fuzz_below(&q->f, 2)) {
		d_sq_ring(q->sq[fuzz_below(&q->f, QUEUES)]);
		return;
	}
	fuzz_fill(&q->f, value, sizeof(value));
	d_doorbell(q->d->uar, reg[fuzz_below(&q->f, 7)], value);
}

/* ---- receiving ---- */

static void post(struct q *q)
{
	struct d_rq *rq = q->rq[fuzz_below(&q->f, QUEUES)];

	if (rq->conf.rmpn)
		rq = q->rq[0];
	d_rq_post(rq, fuzz_below(&q->f, (1u << rq->conf.log_size) + 1));
}

static void spoil_rq(struct q *q)
{
	struct d_rq *rq = q->rq[fuzz_below(&q->f, QUEUES)];

	switch (fuzz_below(&q->f, 4)) {
	case 0:
		scribble(q, rq->ring, (size_t)1 << (rq->conf.log_size + rq->log_stride));
		break;
	case 1:
		rq->dbrec[0] = htobe32((uint32_t)(rq->pi + (int8_t)fuzz_take(&q->f, 1)));
		break;
	case 2:
		rq->dbrec[0] = (uint32_t)fuzz_take(&q->f, 4);
		break;
	case 3:
		rq->pi = (uint16_t)fuzz_take(&q->f, 2);
		break;
	}
}

static void frame(struct q *q)
{
	static const uint8_t a6[16] = { 0x20, 1 };
	uint32_t len = 62 + fuzz_below(&q->f, LONGEST - 61 + 4);
	uint8_t *b = malloc(len);

	FUZZ_MUST(b);
	if (fuzz_below(&q->f, 2))
		d_udp4(b, len, 1, fuzz_below(&q->f, 4), 3, 4, 5);
	else
		d_udp6(b, len, a6, a6, (uint16_t)fuzz_below(&q->f, 4), 4, 5);
	if (fuzz_below(&q->f, 4) == 0)
		cx_put_be32(b + 12, UINT32_C(0x81000000) | (uint32_t)fuzz_take(&q->f, 2));
	for (uint32_t n = fuzz_below(&q->f, 8); n > 4; n--)
		b[fuzz_below(&q->f, len)] = (uint8_t)fuzz_take(&q->f, 1);
	for (uint32_t n = fuzz_below(&q->f, 20) + 1; n; n--)
		cx_rx(q->d->dev, b, len);
	if (fuzz_below(&q->f, 4) == 0)
		cx_kernel_tx(q->d->dev, b, len);
	free(b);
}

/* ---- completions ---- */

static void completions(struct q *q)
{
	struct d_cq *cq = q->cq[fuzz_below(&q->f, QUEUES)];

	switch (fuzz_below(&q->f, 8)) {
	default:
		cq->ci = q_cq(cq)->pi;
		d_cq_consume(cq, 0);
		break;
	case 4:
		d_cq_consume(cq, fuzz_below(&q->f, 8));
		break;
	case 5:
		cq->dbrec[fuzz_below(&q->f, 2)] = (uint32_t)fuzz_take(&q->f, 4);
		break;
	case 6:
		d_cq_arm(cq, fuzz_below(&q->f, 2));
		break;
	case 7:
		scribble(q, cq->ring, (64u << cq->conf.cqe128) << cq->conf.log_size);
		break;
	}
}

/* ---- states, faults, and what the front end does ---- */

static void sq_state(struct q *q)
{
	d_sq_state(q->sq[fuzz_below(&q->f, QUEUES)], (uint8_t)fuzz_below(&q->f, 4),
		   (uint8_t)fuzz_below(&q->f, 4));
}

static void rq_state(struct q *q)
{
	d_rq_state(q->rq[fuzz_below(&q->f, QUEUES)], (uint8_t)fuzz_below(&q->f, 4),
		   (uint8_t)fuzz_below(&q->f, 4));
}

static void fault(struct q *q)
{
	static const char *const lines[] = {
		"hold cq=%u",	 "release cq=%u",
		"overrun cq=%u", "cqe type=sq num=%u syndrome=4",
		"delay us=1",	 "cqe type=rq num=%u syndrome=2 vendor=9",
		"drop rx nth=2", "drop tx nth=1 times=3",
		"clear",	 "link down",
		"link up",	 "fatal",
	};
	static const uint8_t about[] = { 1, 1, 1, 2, 0, 3, 0, 0, 0, 0, 0, 0 };
	uint32_t i = fuzz_below(&q->f, 12), k = fuzz_below(&q->f, QUEUES);
	uint32_t num = about[i] == 1   ? q->cq[k]->num
		       : about[i] == 2 ? q->sq[k]->num
				       : q->rq[k]->num;
	char line[128], why[128];

	snprintf(line, sizeof(line), lines[i], num);
	cx_fault(q->d->dev, line, why, sizeof(why));
}

static void front_end(struct q *q)
{
	struct cx_dev *dev = q->d->dev;
	struct cx_queue_view v;

	switch (fuzz_below(&q->f, 9)) {
	case 0:
		cx_hold(dev, fuzz_below(&q->f, 2));
		break;
	case 1:
		cx_cqe_withhold(dev, fuzz_below(&q->f, 2));
		break;
	case 2:
		cx_cqe_release(dev);
		break;
	case 3:
		cx_trace_set(dev, fuzz_below(&q->f, 16));
		break;
	case 4:
		cx_clock_advance(dev, fuzz_take(&q->f, 6));
		break;
	case 5:
		cx_flush(dev);
		break;
	case 6:
		cx_queue_nth(dev, fuzz_below(&q->f, 2) ? CX_SQ : CX_RQ,
			     fuzz_below(&q->f, 4), &v);
		break;
	case 7:
		q->meddle = fuzz_below(&q->f, 2);
		break;
	case 8:
		if (q->mem.key && fuzz_below(&q->f, 8) == 0)
			cx_mkey_dereg(dev, q->d->uid, q->mem.key);
		break;
	}
}

static void step(struct q *q)
{
	switch (fuzz_below(&q->f, 16)) {
	case 0:
	case 1:
	case 2:
		put_wqe(q);
		break;
	case 3:
		spoil_sq(q);
		break;
	case 4:
		ring(q);
		break;
	case 5:
	case 6:
		post(q);
		break;
	case 7:
		spoil_rq(q);
		break;
	case 8:
	case 9:
		frame(q);
		break;
	case 10:
		completions(q);
		break;
	case 11:
		sq_state(q);
		break;
	case 12:
		rq_state(q);
		break;
	case 13:
		fault(q);
		break;
	case 14:
		front_end(q);
		break;
	default:
		cx_step(q->d->dev);
		break;
	}
}

/* Every frame has one fate, and no completion was written over one not consumed. */
static void check(const struct q *q)
{
	const struct cx_stats *s = cx_stats(q->d->dev);
	uint64_t sum = 0;

	for (int i = 0; i < CX_RX_VERDICT_COUNT; i++)
		sum += s->rx[i];
	FUZZ_MUST(sum == s->rx_frames);
	FUZZ_MUST(s->bad_doorbells <= s->doorbells + s->arms);
	FUZZ_MUST(s->mini_cqes <= s->cqes);
}

int fuzz_queue(const uint8_t *data, size_t size)
{
	struct q q = { .f = { data, size } };

	set_up(&q);
	q.d->dev->ops.wire_tx = on_wire;
	q.d->dev->ops.kernel_rx = on_kernel;
	at_work = &q;
	for (unsigned i = 0; q.f.left && i < MAX_STEPS; i++) {
		step(&q);
		check(&q);
		d_forget(q.d);
	}
	cx_hold(q.d->dev, false);
	cx_step(q.d->dev);
	fuzz_drain(q.d);
	d_close(q.d);
	return 0;
}

FUZZ_TARGET(fuzz_queue)
