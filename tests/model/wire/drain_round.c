/* wire/drain_round.c - one round of the burst drain
 *
 * Runs on the poller's thread with the model's lock held, so no other part of
 * the model touches the program's memory meanwhile.
 */

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "../core/bits.h"
#include "drain.h"

enum { WQEBB = 64, CQE = 64, SAMPLES = 8192, OPCODE_SEND = 0x0a, OPCODE_EMPW = 0x29 };
#define CI_MASK 0xffffff

/* The queues of all drain ports, as they were when a round began. */
struct queues {
	struct cx_queue_view v[DRAIN_QUEUES];
	struct cx_dev *dev[DRAIN_QUEUES];
	unsigned n;
};

struct sample { /* what the watched records said at one moment */
	uint64_t tsc;
	uint32_t value[DRAIN_QUEUES];
};

struct round {
	struct queues rq, sq;
	uint32_t placed;
	uint32_t start[DRAIN_QUEUES]; /* of the watched records */
	uint64_t t0;
	struct sample sample[SAMPLES];
	unsigned n_samples;
};

/* Packets posted on queue q when its index was i: packets[q][(uint16_t)(i - start)]. */
static uint32_t packets[DRAIN_QUEUES][65536];
static struct round round_now;

static void collect(enum cx_obj_type type, struct queues *q)
{
	struct cx_queue_view v;

	q->n = 0;
	for (unsigned p = 0; p < MODEL_PORTS; p++) {
		for (unsigned i = 0;
		     drain_port[p] && q->n < DRAIN_QUEUES &&
		     cx_queue_nth(drain_port[p]->wire.port->dev, type, i, &v);
		     i++) {
			/* A start-up drop queue of one entry takes no traffic. */
			if (!v.ready || (v.log_size == 0 && type == CX_RQ))
				continue;
			q->dev[q->n] = drain_port[p]->wire.port->dev;
			q->v[q->n++] = v;
		}
	}
}

bool drain_queues_ready(const struct drain *lead)
{
	struct queues q;

	collect(CX_RQ, &q);
	if (lead->conf.mode == DRAIN_RX)
		return q.n > 0;
	if (lead->conf.mode != DRAIN_TX && !q.n)
		return false;
	collect(CX_SQ, &q);
	return q.n > 0;
}

static uint32_t record(const volatile uint32_t *rec)
{
	uint32_t v = *rec;

	return cx_be32(&v);
}

bool drain_settled(struct drain *lead)
{
	double per_us = drain_tsc_per_ns() * 1000;
	uint64_t now = drain_tsc(), sum = 0;
	struct queues q;

	collect(lead->conf.mode == DRAIN_TX ? CX_SQ : CX_RQ, &q);
	for (unsigned i = 0; i < q.n; i++)
		sum = sum * 31 + record(q.v[i].dbrec);
	if (sum != lead->settle_sum || !lead->settle_tsc) {
		lead->settle_sum = sum;
		lead->settle_tsc = now;
		return false;
	}
	return now - lead->settle_tsc > (uint64_t)(lead->conf.settle_us * per_us);
}

/* What moves when the program takes a frame: consumer indexes of its receive completions. */
static uint32_t taken(void)
{
	struct queues q;
	uint32_t sum = 0;

	collect(CX_RQ, &q);
	for (unsigned i = 0; i < q.n; i++)
		sum += record(q.v[i].cq_dbrec) & CI_MASK;
	return sum;
}

void drain_probe(struct drain *lead)
{
	uint8_t frame[FRAMES_LEN_MAX];

	if (!lead->probes)
		lead->probe_sum = taken();
	for (unsigned p = 0; p < MODEL_PORTS; p++) {
		struct drain *d = drain_port[p];

		if (!d)
			continue;
		cx_rx(d->wire.port->dev, frame, frames_build(d->frames, d->next, frame));
		cx_flush(d->wire.port->dev);
		d->probes = ++d->next;
	}
}

bool drain_probe_taken(const struct drain *lead)
{
	if (lead->conf.mode == DRAIN_RX)
		return taken() != lead->probe_sum;
	for (unsigned p = 0; p < MODEL_PORTS; p++)
		if (lead->conf.mode == DRAIN_FWD && drain_port[p] &&
		    !drain_port[p]->probe_back)
			return false;
	return true;
}

/* ---- place ---- */

static uint32_t place_port(struct drain *d, uint32_t n)
{
	uint8_t frame[FRAMES_LEN_MAX];
	uint32_t i;

	d->round_base = d->next;
	memset(d->seen, 0, d->conf.n);
	for (i = 0; i < n; i++) {
		uint32_t len = frames_build(d->frames, d->next, frame);

		if (cx_rx(d->wire.port->dev, frame, len) != CX_RX_QUEUED)
			break;
		d->next++;
	}
	cx_flush(d->wire.port->dev);
	d->offered += i;
	return i;
}

static void for_ports(void (*fn)(struct cx_dev *dev))
{
	for (unsigned p = 0; p < MODEL_PORTS; p++)
		if (drain_port[p])
			fn(drain_port[p]->wire.port->dev);
}

static void withhold(struct cx_dev *dev)
{
	cx_cqe_withhold(dev, true);
}
static void let_go(struct cx_dev *dev)
{
	cx_cqe_release(dev);
}
static void obey(struct cx_dev *dev)
{
	cx_cqe_withhold(dev, false);
}

/* Lets the device send all that is posted, and complete it. */
static void drain_device(struct cx_dev *dev)
{
	for (int idle = 0; idle < 2;)
		idle = cx_step(dev) ? 0 : idle + 1;
}

static uint32_t place(struct drain *lead)
{
	unsigned ports = 0;
	uint32_t placed = 0;

	for (unsigned p = 0; p < MODEL_PORTS; p++)
		ports += drain_port[p] != NULL;
	for (unsigned p = 0; p < MODEL_PORTS; p++)
		if (drain_port[p])
			placed += place_port(drain_port[p], lead->conf.n / ports);
	return placed;
}

/* ---- warm ---- */

static void add_frames(struct drain *lead, const struct cx_queue_view *before,
		       struct cx_dev *dev, const struct cx_queue_view *after)
{
	uint32_t mask = (UINT32_C(1) << before->log_size) - 1;
	uint32_t strides = before->striding ? UINT32_C(1) << before->log_strides : 1;
	uint32_t used = (uint16_t)(after->head - before->head) * strides + after->stride -
			before->stride;
	uint32_t len = frames_conf(lead->frames)->len;

	for (uint32_t i = 0; i < used; i++) {
		uint32_t at = before->stride + i;
		uint8_t *wqe =
			before->ring + ((size_t)((before->head + at / strides) & mask)
					<< before->log_stride);
		uint8_t *seg = wqe + (before->striding ? 16 : 0); /* next segment first */
		uint64_t addr = cx_be64(seg + 8) +
				((uint64_t)(at % strides)
				 << (before->striding ? before->log_stride_bytes : 0));
		uint8_t *data = cx_mkey_peek(dev, cx_be32(seg + 4), addr, len);

		if (data)
			drain_lines_frame(&lead->lines, data, len);
	}
}

static void warm(struct drain *lead, const struct round *r)
{
	struct drain_lines *l = &lead->lines;
	struct queues after;

	drain_lines_clear(l);
	collect(CX_RQ, &after);
	for (unsigned i = 0; i < r->rq.n && i < after.n; i++) {
		const struct cx_queue_view *b = &r->rq.v[i], *a = &after.v[i];

		add_frames(lead, b, r->rq.dev[i], a);
		drain_lines_ring(l, b->cq_ring, CQE, b->log_cq_size, b->cq_pi,
				 a->cq_pi - b->cq_pi);
		if (lead->conf.temp == DRAIN_DRAM)
			continue;
		drain_lines_ring(l, b->ring, (size_t)1 << b->log_stride, b->log_size,
				 b->head, (uint16_t)(a->head - b->head) + 1u);
		drain_lines_add(l, b->dbrec, 4);
		drain_lines_add(l, b->cq_dbrec, 8);
	}
	for (unsigned i = 0; i < r->sq.n && lead->conf.temp == DRAIN_LOCAL; i++) {
		const struct cx_queue_view *v = &r->sq.v[i];

		drain_lines_ring(l, v->ring, WQEBB, v->log_size, v->head,
				 lead->last_wqebbs[i] + 64);
		drain_lines_ring(l, v->cq_ring, CQE, v->log_cq_size, v->cq_pi - 64, 64);
		drain_lines_add(l, v->dbrec, 8);
		drain_lines_add(l, v->uar ? v->uar + 0x800 : NULL, 8);
	}
	if (lead->conf.temp == DRAIN_LOCAL)
		drain_pull(lead->puller, l);
	else if (lead->conf.temp == DRAIN_DRAM)
		drain_evict(l);
}

/* ---- watch ---- */

static const struct queues *watched(const struct drain *lead, const struct round *r)
{
	return lead->conf.mode == DRAIN_RX ? &r->rq : &r->sq;
}

static uint32_t watch(const struct drain *lead, const struct cx_queue_view *v)
{
	return lead->conf.mode == DRAIN_RX ? record(v->cq_dbrec) & CI_MASK
					   : record(v->dbrec) & 0xffff;
}

static bool take_sample(const struct drain *lead, struct round *r, bool keep)
{
	const struct queues *q = watched(lead, r);
	struct sample *s = &r->sample[r->n_samples], *last = s - 1;
	bool changed = keep || !r->n_samples;

	for (unsigned i = 0; i < q->n; i++) {
		s->value[i] = watch(lead, &q->v[i]);
		changed |= r->n_samples && s->value[i] != last->value[i];
	}
	s->tsc = drain_tsc();
	if (changed && r->n_samples < SAMPLES - 1)
		r->n_samples++;
	return changed;
}

/* Packets in the WQE at index i, and its length in basic blocks. */
static uint32_t wqe_packets(const struct cx_queue_view *v, uint16_t i, uint32_t *wqebbs)
{
	uint32_t size = UINT32_C(64) << v->log_size, at = (uint32_t)i * WQEBB % size,
		 n = 0;
	const uint8_t *ctrl = v->ring + at;
	uint32_t end = (ctrl[7] & 0x3fu) * 16, o = 32;

	*wqebbs = end ? (end + WQEBB - 1) / WQEBB : 1;
	if (ctrl[3] != OPCODE_EMPW)
		return ctrl[3] == OPCODE_SEND;
	for (; o < end; n++) {
		uint32_t count = cx_be32(v->ring + (at + o) % size);

		o += count >> 31 ? (4 + (count & 0x3ff) + 15) / 16 * 16 : 16;
	}
	return n;
}

/* Fills packets[q] for indexes start .. end and returns the total. */
static uint32_t count_wqes(const struct cx_queue_view *v, unsigned q, uint16_t start,
			   uint16_t end, uint64_t *wqes)
{
	uint32_t done = 0, wqebbs;
	uint16_t i = start;

	packets[q][0] = 0;
	while (i != end && (uint16_t)(end - i) < 0x8000) {
		uint32_t before = done;

		done += wqe_packets(v, i, &wqebbs);
		for (uint32_t k = 1; k < wqebbs; k++)
			packets[q][(uint16_t)(i - start + k)] = before;
		i = (uint16_t)(i + wqebbs);
		packets[q][(uint16_t)(i - start)] = done;
		if (wqes)
			(*wqes)++;
	}
	return done;
}

static uint32_t done_at(const struct drain *lead, const struct round *r,
			const struct sample *s)
{
	const struct queues *q = watched(lead, r);
	uint32_t sum = 0;

	for (unsigned i = 0; i < q->n; i++)
		sum += lead->conf.mode == DRAIN_RX
			       ? (s->value[i] - r->start[i]) & CI_MASK
			       : packets[i][(uint16_t)(s->value[i] - r->start[i])];
	return sum;
}

/* How many packets the last sample shows; counts the WQEs when @wqes is given. */
static uint32_t done_now(const struct drain *lead, const struct round *r, uint64_t *wqes)
{
	const struct sample *last = &r->sample[r->n_samples - 1];

	for (unsigned i = 0; lead->conf.mode != DRAIN_RX && i < r->sq.n; i++)
		count_wqes(&r->sq.v[i], i, (uint16_t)r->start[i],
			   (uint16_t)last->value[i], wqes);
	return done_at(lead, r, last);
}

/* Polls until all that was placed is posted, or five seconds have gone: a program that is not
 * SCHED_FIFO may have to wait for its core. */
static void finish(const struct drain *lead, struct round *r)
{
	double per_ns = drain_tsc_per_ns();
	uint64_t gap = (uint64_t)(lead->conf.gap_ns * per_ns);
	uint64_t quiet = (uint64_t)(lead->conf.quiet_us * 1000 * per_ns);
	uint64_t now = drain_tsc(), changed = now,
		 give_up = r->t0 + (uint64_t)(5e9 * per_ns);

	while (now < give_up) {
		drain_spin_until(now + gap);
		now = drain_tsc();
		if (take_sample(lead, r, false))
			changed = now;
		if (now - changed < quiet)
			continue;
		if (done_now(lead, r, NULL) >= r->placed)
			return;
		changed = now; /* interrupted, not done: wait on */
	}
}

/* ---- account ---- */

/* 20th percentile of the last rounds: the spread is one-sided, late rounds would hide fast ones. */
static void expect_next(struct drain *lead, double ns_per_packet, uint32_t n)
{
	struct drain_series s = { 0 };
	uint32_t kept = lead->n_recent < 63 ? lead->n_recent : 63;

	lead->recent[lead->n_recent++ & 63] = ns_per_packet;
	for (uint32_t i = 0; i <= kept; i++)
		if (drain_series_add(&s, lead->recent[i]) < 0)
			break;
	lead->expect_tsc = drain_series_at(&s, 20) * n * drain_tsc_per_ns();
	drain_series_free(&s);
}

static void account(struct drain *lead, struct round *r, uint64_t look)
{
	double per_ns = drain_tsc_per_ns(), first = 0, polled = 0, all;
	const struct sample *s = r->sample;
	uint32_t done = done_now(lead, r, &lead->wqes), at_look = done_at(lead, r, &s[0]);
	bool counted = lead->round >= lead->conf.warmup;

	all = (double)(s[r->n_samples - 1].tsc - r->t0) / per_ns / (done ? done : 1);
	for (unsigned i = 0; i < r->n_samples && !polled; i++)
		if (done_at(lead, r, &s[i]) &&
		    done_at(lead, r, &s[i]) + lead->conf.slack >= r->placed)
			polled = (double)(s[i].tsc - r->t0) / per_ns /
				 done_at(lead, r, &s[i]);
	if (at_look + lead->conf.slack >= r->placed)
		lead->late += counted && lead->expect_tsc > 0;
	else if (at_look && s[0].tsc - look < (uint64_t)(2000 * per_ns))
		first = (double)(s[0].tsc - r->t0) / per_ns /
			(at_look + lead->conf.burst / 2.0);
	if (counted && first > 0 && lead->expect_tsc > 0)
		drain_series_add(&lead->first, first);
	if (counted && done >= r->placed) {
		drain_series_add(&lead->polled, polled);
		drain_series_add(&lead->all, all);
	}
	if (done < r->placed)
		lead->lost += r->placed - done;
	lead->wqe_packets += done;
	expect_next(lead,
		    first > 0 && lead->expect_tsc > 0 ? first
		    : polled > 0		      ? polled * 0.85
						      : all,
		    r->placed);
}

static void judge_frames(struct drain *lead, const struct round *r)
{
	uint32_t seen = 0;

	if (lead->conf.mode != DRAIN_FWD)
		return;
	for (unsigned p = 0; p < MODEL_PORTS; p++)
		for (uint32_t i = 0; drain_port[p] && i < lead->conf.n; i++)
			seen += drain_port[p]->seen[i];
	lead->incomplete_rounds += seen != r->placed;
}

static void begin(struct drain *lead, struct round *r)
{
	const struct queues *q;

	r->n_samples = 0;
	collect(CX_RQ, &r->rq);
	collect(CX_SQ, &r->sq);
	for_ports(withhold);
	if (lead->conf.mode == DRAIN_TX)
		for_ports(drain_device);
	else
		r->placed = place(lead);
	q = watched(lead, r);
	for (unsigned i = 0; i < q->n; i++)
		r->start[i] = watch(lead, &q->v[i]);
}

void drain_run_round(struct drain *lead)
{
	struct round *r = &round_now;
	double per_ns = drain_tsc_per_ns();
	uint64_t sent = lead->offered, look;

	begin(lead, r);
	if (lead->conf.mode == DRAIN_TX)
		r->placed = (uint32_t)(lead->offered - sent);
	warm(lead, r);
	drain_spin_until(drain_tsc() +
			 (uint64_t)(60000 * per_ns)); /* back in its empty poll */
	drain_fifo_self(&lead->conf, true);
	r->t0 = drain_tsc();
	for_ports(let_go);
	look = r->t0 + (uint64_t)(lead->expect_tsc * lead->conf.look / 100);
	drain_spin_until(look);
	take_sample(lead, r, true);
	finish(lead, r);
	drain_fifo_self(&lead->conf, false);
	for_ports(obey);
	account(lead, r, look);
	for (unsigned i = 0; i < r->sq.n; i++)
		lead->last_wqebbs[i] =
			lead->conf.mode == DRAIN_RX
				? 0
				: (uint16_t)(r->sample[r->n_samples - 1].value[i] -
					     r->start[i]);
	if (lead->conf.mode != DRAIN_TX)
		for_ports(drain_device);
	judge_frames(lead, r);
	lead->round++;
	lead->settle_tsc = 0;
}
