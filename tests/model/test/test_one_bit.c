/* test/test_one_bit.c - a driver that is wrong by one bit is refused
 *
 * One test for each thing that drivers get wrong by a bit, and for every bit there is:
 * owner bit, WQE index, byte order of doorbells, number of strides, keys. Each starts
 * from what works, so that only the bit can be what is refused.
 */
#include "queue_rig.h"

#include <endian.h>
#include <string.h>

struct rig {
	struct direct *d;
	struct d_cq *cq;
	struct d_sq *sq;
	struct d_mem mem;
};

static struct rig open_rig(void)
{
	struct rig r = { .d = d_open(NULL) };

	r.cq = d_cq(r.d, &(struct d_cq_conf){ .log_size = 3 });
	r.sq = d_sq(r.d, &(struct d_sq_conf){ .log_size = 3, .cq = r.cq });
	r.mem = d_mem(r.d, 4096);
	q_frame(r.mem.p, 64, 1);
	return r;
}

static void put(struct rig *r, uint32_t key)
{
	struct d_wqe w = d_wqe(r->sq, D_SEND, D_CE_ALWAYS);

	d_wqe_eth(&w, NULL, 0);
	d_wqe_ptr(&w, key, r->mem.iova, 64);
	d_sq_put(r->sq, &w);
}

/* The last WQE put; its first eight bytes are what rings the register. */
static uint8_t *last(const struct rig *r)
{
	return r->sq->ring + r->sq->last * 64;
}

static void send_some(struct rig *r, unsigned n)
{
	for (; n; n--) {
		put(r, r->mem.key);
		d_sq_ring(r->sq);
		d_run(r->d);
	}
}

/* The queue stopped with one error completion, and nothing more was sent. */
static void assert_stopped(struct rig *r, uint8_t syndrome, uint16_t index, unsigned sent)
{
	static const uint8_t vendor[] = { [2] = 0x68, [4] = 0x52 };

	q_assert_error(d_cq_poll(r->cq), (struct q_error){ 13, syndrome, vendor[syndrome],
							   r->sq->num, index });
	assert_int_equal(q_sq(r->sq)->state, CX_Q_ERR);
	assert_int_equal(r->d->wire.n, sent);
	d_close(r->d);
}

/* ---- owner bit ---- */

/* A program that takes every entry whose owner bit is @flip more than it must be. */
static unsigned take_all(struct rig *r, unsigned flip, unsigned most)
{
	unsigned n = 0;

	for (; n < most; n++) {
		uint8_t op_own = d_cqe_at(r->cq, r->cq->ci)[63];

		if (op_own >> 4 == 15 || (op_own & 1) != ((r->cq->ci >> 3 & 1) ^ flip))
			break;
		d_cq_consume(r->cq, 1);
	}
	return n;
}

static void test_owner_bit(void **state)
{
	struct rig good = open_rig(), bad = open_rig();

	(void)state;
	for (unsigned lap = 0; lap < 40; lap++) {
		send_some(&good, 3);
		assert_int_equal(take_all(&good, 0, 8), 3);
	}
	assert_int_equal(good.d->log.n, 0);
	d_close(good.d);
	/* Turned round, what is there looks empty, and what was there looks new. */
	send_some(&bad, 3);
	assert_int_equal(take_all(&bad, 1, 8), 0);
	send_some(&bad, 5);
	d_cq_consume(bad.cq, 8);
	assert_int_equal(take_all(&bad, 1, 5), 5);
	send_some(&bad, 1);
	d_assert_log(
		bad.d,
		"cq_dbrec.ci: 13 is ahead of the device at 8 (owner bit read the wrong");
	assert_true(q_event(bad.d, CX_EVENT_CQ_ERROR, bad.cq->num));
	assert_true(q_cq(bad.cq)->error);
	d_close(bad.d);
}

/* A queue whose entries were initialised as valid, each by the one bit of its opcode that makes it
 * no longer "invalid": a program would take them for completions. */
static void test_owner_of_new_entries(void **state)
{
	(void)state;
	for (unsigned bit = 4; bit < 8; bit++) {
		struct rig r = open_rig();

		d_cqe_at(r.cq, 0)[63] ^= (uint8_t)(1u << bit);
		send_some(&r, 1);
		d_assert_log(r.d, "cqe.opcode: entry 0 was not initialised to invalid");
		assert_true(q_cq(r.cq)->error);
		d_close(r.d);
	}
}

/* ---- WQE index ---- */

static void test_wqe_index(void **state)
{
	(void)state;
	for (unsigned bit = 0; bit < 16; bit++) {
		struct rig r = open_rig();
		uint8_t *wqe;

		send_some(&r, 5);
		d_cq_consume(r.cq, 5);
		put(&r, r.mem.key);
		wqe = last(&r);
		CX_SET(wqe_ctrl, wqe, index, 5 ^ 1u << bit);
		d_sq_ring(r.sq);
		d_run(r.d);
		d_assert_log(r.d, "wqe_ctrl.index: 0x");
		assert_stopped(&r, 2, 5, 5);
	}
}

/* ---- doorbells ---- */

static void test_doorbell_record_byte_order(void **state)
{
	struct rig r = open_rig();

	(void)state;
	put(&r, r.mem.key);
	r.sq->dbrec[1] = r.sq->pi; /* not htobe32() */
	d_doorbell(r.d->uar, 0x800, last(&r));
	d_run(r.d);
	d_assert_log(r.d, "wq_dbrec.snd: 0x01000000 is in the wrong byte order");
	assert_stopped(&r, 2, 0, 0);
}

/* The index has 16 bits, and lies within the ring. */
static void test_doorbell_record(void **state)
{
	(void)state;
	for (unsigned bit = 4; bit < 32; bit++) {
		struct rig r = open_rig();

		put(&r, r.mem.key);
		r.sq->dbrec[1] = htobe32(r.sq->pi ^ 1u << bit);
		d_doorbell(r.d->uar, 0x800, last(&r));
		d_run(r.d);
		d_assert_log(r.d, "wq_dbrec.snd: 0x");
		assert_stopped(&r, 2, 0, 0);
	}
}

/* A register says which queue: in the wrong order, or with one bit of the number wrong, nothing
 * happens but one line in the log; the record alone sends nothing. */
static void ring_wrongly(const uint8_t order[8], unsigned bit)
{
	struct rig r = open_rig();
	uint8_t value[8];

	put(&r, r.mem.key);
	d_sq_record(r.sq);
	for (unsigned i = 0; i < 8; i++)
		value[i] = last(&r)[order[i]];
	if (bit)
		value[bit / 8] ^= (uint8_t)(0x80 >> bit % 8);
	d_doorbell(r.d->uar, 0x800, value);
	d_run(r.d);
	assert_int_equal(r.d->wire.n, 0);
	assert_null(d_cq_poll(r.cq));
	assert_int_equal(cx_stats(r.d->dev)->bad_doorbells, 1);
	assert_int_equal(r.d->log.n, 1);
	d_sq_ring(r.sq); /* the right one is not spoiled by it */
	d_run(r.d);
	assert_int_equal(r.d->wire.n, 1);
	d_close(r.d);
}

static void test_doorbell_register(void **state)
{
	static const uint8_t right[8] = { 0, 1, 2, 3, 4, 5, 6, 7 };
	static const uint8_t words_turned[8] = { 3, 2, 1, 0, 7, 6, 5, 4 };
	static const uint8_t all_turned[8] = { 7, 6, 5, 4, 3, 2, 1, 0 };
	static const uint8_t words_swapped[8] = { 4, 5, 6, 7, 0, 1, 2, 3 };

	(void)state;
	ring_wrongly(words_turned, 0);
	ring_wrongly(all_turned, 0);
	ring_wrongly(words_swapped, 0);
	for (unsigned bit = 32; bit < 56; bit++)
		ring_wrongly(right, bit);
}

static void test_consumer_byte_order(void **state)
{
	struct rig r = open_rig();

	(void)state;
	send_some(&r, 3);
	r.cq->dbrec[0] = 3; /* not htobe32() */
	send_some(&r, 1);
	d_assert_log(r.d, "cq_dbrec.ci: 0x03000000 is in the wrong byte order");
	assert_true(q_cq(r.cq)->error);
	d_close(r.d);
}

static void test_receive_byte_order(void **state)
{
	struct q_rx rx = q_rx_open(NULL, &(struct d_cq_conf){ .log_size = 4 },
				   &(struct d_rq_conf){ .log_size = 3 });
	uint8_t frame[64];

	(void)state;
	q_frame(frame, sizeof(frame), 1);
	d_rq_post(rx.rq, 1);
	rx.rq->dbrec[0] = rx.rq->pi; /* not htobe32() */
	assert_int_equal(cx_rx(rx.d->dev, frame, sizeof(frame)), CX_RX_DEAD);
	d_assert_log(rx.d, "wq_dbrec.rcv: 0x01000000 is in the wrong byte order");
	assert_int_equal(q_rq(rx.rq)->state, CX_Q_ERR);
	q_rx_close(&rx);
}

/* ---- number of strides ---- */

/* The driver fills WQEs of 2^9 strides (the field is 0) and tells the device another number. */
static void test_stride_count(void **state)
{
	enum { FILLED = 9, LOG_BYTES = 6 };
	uint8_t frame[64];

	(void)state;
	q_frame(frame, sizeof(frame), 1);
	for (int bit = 0; bit < 4; bit++) {
		int field = 1 << bit;
		struct d_rq_conf conf = {
			.log_size = 1,
			.striding = true,
			.log_strides = (uint8_t)((field < 8 ? field : field - 16) + 9),
			.log_stride_bytes = LOG_BYTES
		};
		struct direct *d = d_open(NULL);
		struct d_rq *rq = NULL;

		conf.cq = d_cq(d, &(struct d_cq_conf){ .log_size = 4 });
		if (d_try_rq(d, &conf, &rq) != CX_ST_OK) { /* the sign: -8 */
			assert_int_equal(bit, 3);
			d_assert_log(d, "wq.log_wqe_num_of_strides: 0x8 is 2^1 strides");
			d_close(d);
			continue;
		}
		d_all_to(d, d_tir(d, rq->num));
		rq->conf.log_strides = FILLED;
		rq->wqe_bytes = 1u << (FILLED + LOG_BYTES);
		d_rq_post(rq, 1);
		assert_int_equal(cx_rx(d->dev, frame, sizeof(frame)), CX_RX_DEAD);
		d_assert_log(d, "bytes are not those of all strides");
		assert_int_equal(q_rq(rq)->state, CX_Q_ERR);
		d_close(d);
	}
}

/* ---- keys ---- */

static void test_send_key(void **state)
{
	(void)state;
	for (unsigned bit = 0; bit < 32; bit++) {
		struct rig r = open_rig();

		send_some(&r, 1);
		d_cq_consume(r.cq, 1);
		put(&r, r.mem.key ^ 1u << bit);
		d_sq_ring(r.sq);
		d_run(r.d);
		d_assert_log(r.d, "wqe_data.lkey: 0x");
		assert_stopped(&r, 4, 1, 1);
	}
}

static void receive_key(bool striding, unsigned bit)
{
	struct q_rx rx = q_rx_open(NULL, &(struct d_cq_conf){ .log_size = 4 },
				   &(struct d_rq_conf){ .log_size = 2,
							.striding = striding,
							.log_strides = 6,
							.log_stride_bytes = 8 });
	uint8_t frame[64], *key;

	q_frame(frame, sizeof(frame), 1);
	d_rq_post(rx.rq, 1);
	key = d_rq_wqe(rx.rq, 0) + (striding ? 16 : 0) + 4;
	cx_put_be32(key, cx_be32(key) ^ 1u << bit);
	assert_int_equal(cx_rx(rx.d->dev, frame, sizeof(frame)), CX_RX_DEAD);
	d_assert_log(rx.d, "wqe_data.lkey: 0x");
	q_assert_error(d_cq_poll(rx.cq), (struct q_error){ 14, 4, 0x52, rx.rq->num, 0 });
	assert_int_equal(q_rq(rx.rq)->state, CX_Q_ERR);
	q_rx_close(&rx);
}

static void test_receive_key(void **state)
{
	(void)state;
	for (unsigned bit = 0; bit < 32; bit++) {
		receive_key(false, bit);
		receive_key(true, bit);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_owner_bit),
		cmocka_unit_test(test_owner_of_new_entries),
		cmocka_unit_test(test_wqe_index),
		cmocka_unit_test(test_doorbell_record_byte_order),
		cmocka_unit_test(test_doorbell_record),
		cmocka_unit_test(test_doorbell_register),
		cmocka_unit_test(test_consumer_byte_order),
		cmocka_unit_test(test_receive_byte_order),
		cmocka_unit_test(test_stride_count),
		cmocka_unit_test(test_send_key),
		cmocka_unit_test(test_receive_key),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
