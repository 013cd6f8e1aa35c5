/* test/test_comp.c - compressed completions
 *
 * Bursts of packets of known hash, tag, checksum, header type and length go in; the
 * reader of queue_unzip.c takes them out. Whatever the layout and format, everything a
 * mini completion carries must come out as it went in, and so must all that may not
 * differ within a session.
 */
#include "queue_rig.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BASIC = 1, ENHANCED = 2 };
enum { HASH, CSUM, TAG_STRIDE, CSUM_STRIDE, L34_STRIDE };

struct rig {
	struct q_rx rx;
	struct q_zip zip;
	struct cx_rq *rq;
	struct q_cqe want[4096];
	unsigned n_want, n_mini;
	uint32_t random;
};

static struct rig *open_rig(unsigned layout, unsigned mini, uint8_t log_cq, bool striding)
{
	static const char *const caps[] = { "hca2.log_min_stride_wqe_sz=9",
					    "hca.enhanced_cqe_compression=1", NULL };
	struct rig *r = calloc(1, sizeof(*r));
	struct d_cq_conf cq = { .log_size = log_cq,
				.comp = (uint8_t)layout,
				.mini = (uint8_t)mini };
	struct d_rq_conf rq = { .log_size = 8,
				.buf_bytes = 2048,
				.striding = striding,
				.log_strides = 6,
				.log_stride_bytes = 8 };

	assert_non_null(r);
	r->rx = q_rx_open(caps, &cq, &rq);
	r->zip = (struct q_zip){ .cq = r->rx.cq };
	r->rq = q_rq(r->rx.rq);
	d_rq_post(r->rx.rq, 256);
	return r;
}

static void close_rig(struct rig *r)
{
	for (unsigned i = 0; i < r->rx.d->log.n; i++)
		print_error("%s\n", r->rx.d->log.at[i]);
	assert_int_equal(r->rx.d->log.n, 0);
	q_rx_close(&r->rx);
	free(r);
}

static uint32_t rnd(struct rig *r)
{
	r->random = r->random * 1664525 + 1013904223;
	return r->random >> 8;
}

/* ---- in ---- */

struct kind {
	uint32_t len, hash, tag;
	uint8_t l3;
};

static void make(struct cx_pkt *pkt, uint8_t *frame, const struct kind *k, uint8_t seed)
{
	static const uint8_t a[16] = { 1 }, b[16] = { 2 };

	if (k->l3 == 4)
		d_udp4(frame, k->len, 1, 2, 3, 4, seed);
	else
		d_udp6(frame, k->len, a, b, 3, 4, seed);
	cx_parse(pkt, frame, k->len);
	pkt->hash = k->hash;
	pkt->hash_type = 0x55;
	pkt->flow_tag = k->tag;
}

static uint16_t sum_of(const struct cx_pkt *pkt)
{
	uint32_t sum = 0;

	for (uint32_t i = pkt->l3_off; i < pkt->len; i++)
		sum += (uint32_t)pkt->data[i] << ((i - pkt->l3_off) & 1 ? 0 : 8);
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)sum;
}

static void expect(struct rig *r, struct q_cqe c)
{
	assert_true(r->n_want < sizeof(r->want) / sizeof(r->want[0]));
	r->want[r->n_want++] = c;
}

static bool is_striding(const struct rig *r)
{
	return r->rx.rq->conf.striding;
}

static void expect_frame(struct rig *r, const struct cx_pkt *pkt)
{
	struct q_cqe c = { .byte_cnt = pkt->len,
			   .hash = pkt->hash,
			   .tag = pkt->flow_tag,
			   .checksum = sum_of(pkt),
			   .hdr_type = pkt->l3 == 4 ? 0x28 : 0x24,
			   .wqe_counter = r->rq->wq.head };
	uint32_t strides = (pkt->len + 255) / 256;

	if (is_striding(r)) {
		c.byte_cnt |= strides << 16;
		c.wqe_counter = r->rq->wq.stride;
		if (strides > 64u - r->rq->wq.stride) {
			expect(r,
			       (struct q_cqe){ .byte_cnt = 0x80000000 |
							   (64u - r->rq->wq.stride) << 16,
					       .wqe_counter = r->rq->wq.stride });
			c.wqe_counter = 0;
		}
	}
	expect(r, c);
}

static void receive(struct rig *r, struct kind k)
{
	uint16_t head = r->rq->wq.head;
	uint8_t frame[2048];
	struct cx_pkt pkt;

	make(&pkt, frame, &k, (uint8_t)rnd(r));
	expect_frame(r, &pkt);
	assert_int_equal(cx_rq_deliver(r->rx.d->dev, r->rq, &pkt), CX_RX_QUEUED);
	d_rq_post(r->rx.rq, (uint16_t)(r->rq->wq.head - head));
}

/* ---- out ---- */

static bool carries_hash(const struct rig *r)
{
	return r->rx.cq->conf.mini == HASH;
}

static bool carries_sum(const struct rig *r)
{
	return r->rx.cq->conf.mini == CSUM || r->rx.cq->conf.mini == CSUM_STRIDE;
}

static void assert_same(struct rig *r, const struct q_cqe *got, const struct q_cqe *want)
{
	uint32_t count = want->byte_cnt;

	if (got->mini && r->rx.cq->conf.mini == TAG_STRIDE)
		count &= 0xffffff; /* the tag took the upper byte */
	assert_int_equal(got->byte_cnt, count);
	assert_int_equal(got->wqe_counter, want->wqe_counter);
	assert_int_equal(got->hdr_type, want->hdr_type);
	assert_int_equal(got->tag, want->tag);
	if (!got->mini || carries_hash(r))
		assert_int_equal(got->hash, want->hash);
	if (!got->mini || carries_sum(r))
		assert_int_equal(got->checksum, want->checksum);
	r->n_mini += got->mini;
}

/* All that is there, compared; what is missing must be held back for company. */
static unsigned take(struct rig *r)
{
	static struct q_cqe got[8192];
	unsigned n = q_unzip(&r->zip, got, 8192);

	assert_true(n <= r->n_want);
	for (unsigned i = 0; i < n; i++)
		assert_same(r, &got[i], &r->want[i]);
	memmove(r->want, r->want + n, (r->n_want - n) * sizeof(r->want[0]));
	r->n_want -= n;
	return n;
}

static void step(struct rig *r)
{
	d_run(r->rx.d);
	cx_flush(r->rx.d->dev);
	take(r);
	assert_int_equal(r->n_want, 0);
}

/* ---- everything, at random ---- */

static struct kind any(struct rig *r, uint32_t variety)
{
	uint32_t pick = rnd(r);

	return (struct kind){ .len = 62 + rnd(r) % 1400,
			      .hash = rnd(r),
			      .tag = pick % variety ? 0 : 0xabcdef + pick % 3,
			      .l3 = pick / 64 % variety ? 4 : 6 };
}

static void run_random(unsigned layout, unsigned mini, bool striding, uint32_t variety,
		       unsigned laps)
{
	struct rig *r = open_rig(layout, mini, 8, striding);
	unsigned all = 0;

	while (all < laps * 256) {
		unsigned n = 1 + rnd(r) % 200;

		for (unsigned i = 0; i < n; i++)
			receive(r, any(r, variety));
		all += n;
		step(r);
	}
	assert_true(r->n_mini > all / 4);
	assert_int_equal(cx_stats(r->rx.d->dev)->mini_cqes, r->n_mini);
	close_rig(r);
}

static void test_random(void **state)
{
	(void)state;
	for (unsigned layout = BASIC; layout <= ENHANCED; layout++) {
		for (unsigned mini = HASH; mini <= L34_STRIDE; mini++) {
			for (int striding = 0; striding < 2; striding++) {
				run_random(layout, mini, striding, 1000, 20);
				run_random(layout, mini, striding, 20, 20);
			}
		}
	}
}

/* The lap number of the enhanced layout is 8 bits: a slot that begins an array once in 256 laps
 * must not look valid before it is written. */
static void test_lap_number_wraps(void **state)
{
	struct rig *r = open_rig(ENHANCED, HASH, 4, false);

	(void)state;
	for (unsigned lap = 0; lap < 3000; lap++) {
		unsigned first = lap % 256 == 3 ? 5 : 16;

		for (unsigned i = 0; i < 16; i++) {
			if (i == first)
				step(r); /* and looks at slot 5 */
			receive(r, (struct kind){ .len = 100, .hash = i, .l3 = 4 });
		}
		step(r);
	}
	assert_true(r->n_mini > 40000);
	close_rig(r);
}

/* ---- the shape of sessions ---- */

static void same(struct rig *r, unsigned n)
{
	while (n--)
		receive(r, (struct kind){ .len = 64, .hash = rnd(r), .l3 = 4 });
}

static void test_basic_shape(void **state)
{
	struct rig *r = open_rig(BASIC, HASH, 8, false);

	(void)state;
	same(r, 20);
	assert_int_equal(take(r), 0); /* held back */
	cx_flush(r->rx.d->dev);
	assert_int_equal(d_cqe_at(r->rx.cq, 0)[63], 0x2c); /* opcode 2, format 3 */
	assert_int_equal(cx_be32(d_cqe_at(r->rx.cq, 0) + 44), 20);
	for (uint32_t i = 2; i < 20; i++) /* the holes keep what they held */
		if (i % 8)
			assert_int_equal(d_cqe_at(r->rx.cq, i)[63], 0xff);
	assert_int_equal(take(r), 20);
	assert_int_equal(r->zip.titles, 1);
	assert_int_equal(r->zip.arrays, 3); /* the last one partial */
	close_rig(r);
}

static void test_enhanced_shape(void **state)
{
	struct rig *r = open_rig(ENHANCED, HASH, 8, false);

	(void)state;
	same(r, 20); /* a title, two arrays of seven, one of five */
	assert_int_equal(take(r), 15);
	cx_flush(r->rx.d->dev);
	assert_int_equal(take(r), 5);
	assert_int_equal(d_cqe_at(r->rx.cq, 0)[63], 0x20);
	assert_int_equal(d_cqe_at(r->rx.cq, 1)[63], 0x6c); /* seven, format 3 */
	assert_int_equal(d_cqe_at(r->rx.cq, 8)[63], 0x6c);
	assert_int_equal(d_cqe_at(r->rx.cq, 15)[63], 0x4c);
	assert_int_equal(d_cqe_at(r->rx.cq, 15)[62], 0);
	assert_int_equal(d_cqe_at(r->rx.cq, 2)[63], 0xff);
	same(r, 3); /* the title goes on to count in the next pass */
	step(r);
	assert_int_equal(d_cqe_at(r->rx.cq, 20)[63], 0x2c);
	close_rig(r);
}

static void test_one_is_written_alone(void **state)
{
	(void)state;
	for (unsigned layout = BASIC; layout <= ENHANCED; layout++) {
		struct rig *r = open_rig(layout, HASH, 8, false);

		for (unsigned i = 0; i < 600; i++) {
			same(r, 1);
			step(r);
		}
		assert_int_equal(r->n_mini, 0);
		close_rig(r);
	}
}

static void test_never_over_the_end(void **state)
{
	(void)state;
	for (unsigned layout = BASIC; layout <= ENHANCED; layout++) {
		for (unsigned burst = 2; burst < 40; burst++) {
			struct rig *r = open_rig(layout, HASH, 5, false);

			for (unsigned i = 0; i < 64; i++) {
				same(r, burst % 32 + 1);
				step(r); /* the reader looks only at slots of the lap */
			}
			close_rig(r);
		}
	}
}

static void test_limits(void **state)
{
	struct rig *r = open_rig(BASIC, HASH, 8, false);

	(void)state;
	cx_comp_limits(r->rx.d->dev, 10, 16);
	same(r, 9);
	step(r);
	assert_int_equal(r->n_mini, 0);
	same(r, 33);
	cx_flush(r->rx.d->dev);
	take(r);
	assert_int_equal(r->zip.titles, 2);
	assert_int_equal(r->n_mini, 32);
	cx_comp_limits(r->rx.d->dev, 0, 0);
	same(r, 64);
	step(r);
	assert_int_equal(r->zip.titles, 3);
	close_rig(r);
}

/* Each of these ends a session: it must come out whole, and in order. */
static void test_what_ends_a_session(void **state)
{
	static const struct kind odd[] = {
		{ .len = 64, .hash = 1, .tag = 7, .l3 = 4 },
		{ .len = 64, .hash = 1, .l3 = 6 },
	};

	(void)state;
	for (unsigned layout = BASIC; layout <= ENHANCED; layout++) {
		for (unsigned i = 0; i < 2; i++) {
			struct rig *r = open_rig(layout, HASH, 8, false);

			same(r, 5);
			receive(r, odd[i]);
			same(r, 5);
			step(r);
			assert_true(r->n_mini >= 8);
			close_rig(r);
		}
	}
}

/* What the format carries does not end one. */
static void test_what_does_not_end_a_session(void **state)
{
	static const struct kind odd[] = {
		[TAG_STRIDE] = { .len = 64, .tag = 0x123456, .l3 = 4 },
		[L34_STRIDE] = { .len = 64, .l3 = 6 },
	};

	(void)state;
	for (unsigned mini = TAG_STRIDE; mini <= L34_STRIDE;
	     mini += L34_STRIDE - TAG_STRIDE) {
		struct rig *r = open_rig(BASIC, mini, 8, false);

		for (unsigned i = 0; i < 30; i++)
			receive(r,
				i % 3 ? (struct kind){ .len = 64, .l3 = 4 } : odd[mini]);
		step(r);
		assert_int_equal(r->zip.titles, 1);
		assert_int_equal(r->n_mini, 30);
		close_rig(r);
	}
}

static void test_filler_between(void **state)
{
	(void)state;
	for (unsigned layout = BASIC; layout <= ENHANCED; layout++) {
		struct rig *r = open_rig(layout, CSUM_STRIDE, 8, true);

		for (unsigned i = 0; i < 300;
		     i++) { /* 13 of five strides in 64 do not fit */
			receive(r, (struct kind){ .len = 1100, .hash = i, .l3 = 4 });
			if (i % 50 == 49)
				step(r);
		}
		step(r);
		assert_true(r->n_mini > 200);
		close_rig(r);
	}
}

/* ---- beside ordinary completions ---- */

static void test_sender_on_the_same_queue(void **state)
{
	struct rig *r = open_rig(BASIC, HASH, 8, false);
	struct d_sq *sq =
		d_sq(r->rx.d, &(struct d_sq_conf){ .log_size = 4, .cq = r->rx.cq });
	struct d_wqe w = d_wqe(sq, D_NOP_WQE, D_CE_ALWAYS);

	(void)state;
	same(r, 10);
	d_sq_put(sq, &w);
	d_sq_ring(sq);
	expect(r, (struct q_cqe){ .tag = sq->num });
	d_run(r->rx.d); /* ends the session before its own completion */
	assert_int_equal(take(r), 11);
	assert_int_equal(r->n_mini, 10);
	close_rig(r);
}

static void test_event_comes_with_the_entries(void **state)
{
	struct rig *r = open_rig(BASIC, HASH, 8, false);

	(void)state;
	d_cq_arm(r->rx.cq, false);
	d_run(r->rx.d);
	same(r, 10);
	assert_int_equal(r->rx.d->events.n, 0);
	cx_flush(r->rx.d->dev);
	assert_int_equal(r->rx.d->events.n, 1);
	take(r);
	close_rig(r);
}

static void test_held_queue_keeps_its_session(void **state)
{
	struct rig *r = open_rig(BASIC, HASH, 8, false);
	char line[32];

	(void)state;
	same(r, 10);
	snprintf(line, sizeof(line), "hold cq=%u", r->rx.cq->num);
	d_fault(r->rx.d, line);
	cx_flush(r->rx.d->dev);
	assert_int_equal(take(r), 0);
	d_fault(r->rx.d, "clear");
	cx_flush(r->rx.d->dev);
	assert_int_equal(take(r), 10);
	close_rig(r);
}

static void test_withheld_session(void **state)
{
	(void)state;
	for (unsigned layout = BASIC; layout <= ENHANCED; layout++) {
		struct rig *r = open_rig(layout, HASH, 8, false);

		cx_cqe_withhold(r->rx.d->dev, true);
		for (unsigned i = 0; i < 100; i++) {
			same(r, 64);
			cx_flush(r->rx.d->dev);
			assert_int_equal(take(r), 0);
			cx_cqe_release(r->rx.d->dev);
			assert_int_equal(take(r), 64);
		}
		close_rig(r);
	}
}

/* A full queue with a session open is an overrun, and the session is not written. */
static void test_overrun_with_a_session(void **state)
{
	struct rig *r = open_rig(BASIC, HASH, 5, false);
	uint8_t frame[64];
	struct cx_pkt pkt;

	(void)state;
	same(r, 32);
	cx_flush(r->rx.d->dev);
	r->random = 1;
	make(&pkt, frame, &(struct kind){ .len = 64, .l3 = 4 }, 0);
	assert_int_equal(cx_rq_deliver(r->rx.d->dev, r->rq, &pkt), CX_RX_DEAD);
	assert_true(q_event(r->rx.d, CX_EVENT_CQ_ERROR, r->rx.cq->num));
	assert_int_equal(take(r), 32);
	q_rx_close(&r->rx);
	free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_lap_number_wraps),
		cmocka_unit_test(test_basic_shape),
		cmocka_unit_test(test_enhanced_shape),
		cmocka_unit_test(test_one_is_written_alone),
		cmocka_unit_test(test_never_over_the_end),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_what_ends_a_session),
		cmocka_unit_test(test_what_does_not_end_a_session),
		cmocka_unit_test(test_filler_between),
		cmocka_unit_test(test_sender_on_the_same_queue),
		cmocka_unit_test(test_event_comes_with_the_entries),
		cmocka_unit_test(test_held_queue_keeps_its_session),
		cmocka_unit_test(test_withheld_session),
		cmocka_unit_test(test_overrun_with_a_session),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
