/* test/test_sq_hostile.c - programs that write anything into their queues
 *
 * Bits of good WQEs are flipped, rings and records filled with noise. Whatever comes of
 * it, the device touches nothing but what it was given (the sanitizers watch), every
 * frame that leaves is one the port may send, and a queue that stopped has said why.
 */
#include "queue_rig.h"

#include <endian.h>
#include <string.h>

#include "frame.h"

static uint32_t random_state = 12345;

static uint32_t rnd(uint32_t below)
{
	random_state = random_state * 1664525 + 1013904223;
	return (uint32_t)((uint64_t)(random_state >> 1) * below >> 31);
}

static void noise(uint8_t *p, uint32_t len)
{
	for (uint32_t i = 0; i < len; i++)
		p[i] = (uint8_t)rnd(256);
}

static void flip(uint8_t *p, uint32_t len, unsigned bits)
{
	while (bits--) {
		uint32_t bit = rnd(len * 8);

		p[bit / 8] ^= (uint8_t)(1 << bit % 8);
	}
}

/* ---- sending ---- */

enum { LOG_SQ = 6, RING = 64 << LOG_SQ, MEMORY = 1 << 16 };

struct sender {
	struct direct *d;
	struct d_cq *cq;
	struct d_sq *sq;
	struct d_mem mem;
};

static struct sender open_sender(void)
{
	struct sender s = { .d = d_open(NULL) };
	struct frame f = frame_tcp4(1, 2, 0x10);

	s.cq = d_cq(s.d, &(struct d_cq_conf){ .log_size = 8 });
	s.sq = d_sq(s.d, &(struct d_sq_conf){ .log_size = LOG_SQ, .cq = s.cq });
	s.mem = d_mem(s.d, MEMORY);
	for (uint32_t at = 0; at + f.len <= MEMORY; at += 256)
		memcpy(s.mem.p + at, f.b, f.len);
	return s;
}

static void put_something(struct sender *s)
{
	static const uint8_t opcodes[] = { D_NOP_WQE, D_SEND, D_MPSW, 0x0e };
	uint8_t opcode = opcodes[rnd(4)];
	struct d_wqe w = d_wqe(s->sq, opcode, (uint8_t)rnd(4));
	bool lso = opcode == 0x0e;

	if (opcode != D_NOP_WQE) {
		d_wqe_eth(&w, s->mem.p, lso ? 54 : opcode == D_SEND ? rnd(3) * 18 : 0);
		w.b[20] = (uint8_t)(rnd(4) << 6);
		if (lso)
			cx_put_be16(w.b + 22, (uint16_t)(1 + rnd(2000)));
		for (unsigned n = 1 + rnd(5); n; n--) {
			if (rnd(3))
				d_wqe_ptr(&w, s->mem.key, s->mem.iova + rnd(255) * 256,
					  1 + rnd(256));
			else
				d_wqe_inline(&w, s->mem.p, 14 + rnd(100));
		}
	}
	d_sq_put(s->sq, &w);
}

static void assert_frames(const struct sender *s)
{
	for (unsigned i = 0; i < s->d->wire.n; i++)
		assert_in_range(s->d->wire.at[i].len, 60, 1522);
}

static void drain(struct sender *s)
{
	while (d_cq_poll(s->cq))
		;
}

static void restart(struct sender *s)
{
	assert_true(s->d->log.n > 0);
	assert_true(q_event(s->d, CX_EVENT_WQ_CATASTROPHIC, s->sq->num));
	assert_int_equal(d_sq_state(s->sq, 3, 0), CX_ST_OK);
	assert_int_equal(d_sq_state(s->sq, 0, 1), CX_ST_OK);
	s->sq->pi = 0;
	drain(s);
}

static void round_of(struct sender *s, unsigned wqes, unsigned bits)
{
	uint16_t first = s->sq->pi;

	d_forget(s->d);
	for (unsigned i = 0; i < wqes; i++)
		put_something(s);
	for (uint16_t b = first; b != s->sq->pi; b++)
		flip(s->sq->ring + (b % 64) * 64, 64, rnd(bits + 1));
	d_sq_record(s->sq);
	if (!rnd(50))
		s->sq->dbrec[1] = rnd(2) ? htobe32(rnd(0x20000)) : s->sq->pi;
	d_doorbell(s->sq->conf.uar, 0x800,
		   (uint8_t[8]){ 0, 0, 0, 0, (uint8_t)(s->sq->num >> 16),
				 (uint8_t)(s->sq->num >> 8), (uint8_t)s->sq->num, 1 });
	d_run(s->d);
	assert_frames(s);
	drain(s);
	if (q_sq(s->sq)->state == CX_Q_ERR)
		restart(s);
}

static void test_flipped_bits_in_wqes(void **state)
{
	struct sender s = open_sender();

	(void)state;
	for (unsigned i = 0; i < 30000; i++)
		round_of(&s, 1 + rnd(4), i % 3);
	assert_true(cx_stats(s.d->dev)->tx_frames > 10000);
	assert_true(cx_stats(s.d->dev)->wqe_refusals > 10000);
	d_close(s.d);
}

static void test_noise_in_the_ring(void **state)
{
	struct sender s = open_sender();

	(void)state;
	for (unsigned i = 0; i < 3000; i++) {
		noise(s.sq->ring, RING);
		for (unsigned b = 0; b < 64; b++) { /* get past the first checks */
			uint8_t *w = s.sq->ring + b * 64;

			cx_put_be32(w, (b << 8) | (rnd(2) ? D_MPSW : D_SEND));
			cx_put_be32(w + 4, s.sq->num << 8 | (1 + rnd(63)));
			cx_put_be32(w + 8, rnd(4) << 2);
			memset(w + 16, 0, 16);
			cx_put_be16(w + 16 + 12, rnd(2) ? 0 : (uint16_t)rnd(1024));
		}
		s.sq->pi = 64;
		d_forget(s.d);
		d_sq_ring(s.sq);
		d_run(s.d);
		assert_int_equal(q_sq(s.sq)->state, CX_Q_ERR);
		restart(&s);
	}
	d_close(s.d);
}

/* ---- receiving ---- */

static void receive_some(struct q_rx *rx)
{
	uint8_t b[2048];

	for (unsigned n = rnd(20); n; n--) {
		uint32_t len = 60 + rnd(1460);

		q_frame(b, len, n);
		cx_rx(rx->d->dev, b, len);
	}
	while (d_cq_poll(rx->cq))
		;
}

static void run_receiver(const struct d_rq_conf *conf)
{
	struct q_rx rx = q_rx_open(NULL, &(struct d_cq_conf){ .log_size = 8 }, conf);
	uint32_t entry = 1u << rx.rq->log_stride;

	for (unsigned i = 0; i < 5000; i++) {
		uint16_t room = (uint16_t)(q_rq(rx.rq)->wq.head + 16 - rx.rq->pi);

		d_forget(rx.d);
		d_rq_post(rx.rq, rnd(room + 1u));
		if (rnd(3))
			flip(d_rq_wqe(rx.rq, (uint16_t)rnd(16)), entry, 1);
		if (!rnd(30))
			noise(rx.rq->ring, 16 * entry);
		if (!rnd(30))
			rx.rq->dbrec[0] = rnd(0x7fffffff);
		receive_some(&rx);
		if (q_rq(rx.rq)->state != CX_Q_ERR)
			continue;
		assert_true(rx.d->log.n > 0);
		assert_int_equal(d_rq_state(rx.rq, 3, 0), CX_ST_OK);
		rx.rq->pi = 0;
		rx.rq->dbrec[0] = 0;
		assert_int_equal(d_rq_state(rx.rq, 0, 1), CX_ST_OK);
	}
	assert_true(cx_stats(rx.d->dev)->rx[CX_RX_QUEUED] > 1000);
	assert_true(cx_stats(rx.d->dev)->wqe_refusals > 100);
	q_rx_close(&rx);
}

static void test_receive_entries(void **state)
{
	(void)state;
	run_receiver(&(struct d_rq_conf){ .log_size = 4, .segs = 4, .buf_bytes = 512 });
	run_receiver(&(struct d_rq_conf){ .log_size = 4,
					  .striding = true,
					  .log_strides = 6,
					  .log_stride_bytes = 8 });
}

/* ---- completion queues ---- */

static void test_completion_records(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 3000; i++) {
		struct d_cq_conf conf = { .log_size = 4, .comp = (uint8_t)rnd(3) };
		struct d_rq_conf rq = { .log_size = 4, .buf_bytes = 128 };
		struct q_rx rx = q_rx_open(NULL, &conf, &rq);

		d_rq_post(rx.rq, 16);
		rx.cq->dbrec[0] = htobe32(rnd(3) ? rnd(32) : rnd(0x7fffffff));
		if (!rnd(4))
			noise(rx.cq->ring, 16 * 64);
		for (unsigned n = 0; n < 16; n++) {
			uint8_t b[64];

			q_frame(b, 64, n);
			cx_rx(rx.d->dev, b, 64);
			if (!rnd(4))
				cx_flush(rx.d->dev);
		}
		assert_int_equal(q_cq(rx.cq)->error,
				 q_event(rx.d, CX_EVENT_CQ_ERROR, rx.cq->num));
		q_rx_close(&rx);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_flipped_bits_in_wqes),
		cmocka_unit_test(test_noise_in_the_ring),
		cmocka_unit_test(test_receive_entries),
		cmocka_unit_test(test_completion_records),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
