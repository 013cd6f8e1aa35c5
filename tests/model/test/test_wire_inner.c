/* test/test_wire_inner.c - the queue of frames, and the wires inside the model */
#include "wire_bench.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../wire/fifo.h"

/* ---- fifo ---- */

static uint64_t seed;

static uint32_t draw(uint32_t below)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(seed >> 33) % below;
}

static void fill(uint8_t *frame, uint32_t len, uint32_t nth)
{
	for (uint32_t i = 0; i < len; i++)
		frame[i] = (uint8_t)(nth * 31 + i);
}

/* Frames of random length in and out of a small ring for many laps; an array of numbers is
 * the oracle. */
static void frames_leave_the_queue_in_order_and_whole(void **state)
{
	enum { SIZE = 4096, STEPS = 200000, LEN_MAX = 700 };
	uint8_t frame[LEN_MAX];
	uint32_t put = 0, got = 0, len, waiting[SIZE] = { 0 };
	struct fifo f;

	(void)state;
	assert_int_equal(fifo_open(&f, SIZE), 0);
	for (unsigned i = 0; i < STEPS; i++) {
		bool in = draw(2);

		len = draw(LEN_MAX);
		if (in) {
			fill(frame, len, put);
			if (fifo_put(&f, frame, len))
				waiting[put++ % SIZE] = len;
			else /* refused only when it is really full: a record and a skip */
				assert_true(f.size - (f.tail - f.head) <
					    2 * (LEN_MAX + 8));
		} else {
			const uint8_t *p = fifo_peek(&f, &len);

			assert_int_equal(p != NULL, got < put);
			if (!p)
				continue;
			assert_int_equal(len, waiting[got % SIZE]);
			fill(frame, len, got++);
			assert_memory_equal(p, frame, len);
			fifo_drop(&f);
		}
		assert_int_equal(f.frames, put - got);
	}
	assert_true(put > STEPS / 4);
	fifo_close(&f);
}

static void a_frame_longer_than_the_queue_is_refused(void **state)
{
	static uint8_t frame[8192];
	uint32_t len;
	struct fifo f;

	(void)state;
	assert_int_equal(fifo_open(&f, 4096), 0);
	assert_false(fifo_put(&f, frame, sizeof(frame)));
	assert_false(fifo_put(&f, frame, 4096));
	assert_true(fifo_put(&f, frame, 4092));
	assert_false(fifo_put(&f, frame, 0));
	assert_non_null(fifo_peek(&f, &len));
	assert_int_equal(len, 4092);
	fifo_drop(&f);
	assert_null(fifo_peek(&f, &len));
	fifo_drop(&f);
	fifo_close(&f);
}

/* ---- wires ---- */

static void send_nth(struct model_port *p, uint32_t len, uint32_t nth)
{
	uint8_t frame[9000];

	fill(frame, len, nth);
	bench_send(p, frame, len);
}

static void assert_nth(struct bench *b, struct model_port *p, unsigned at, uint32_t len,
		       uint32_t nth)
{
	uint8_t want[9000] = { 0 };
	uint32_t got_len;
	const uint8_t *got = bench_frame(b, p, at, &got_len);

	fill(want, len, nth);
	assert_int_equal(got_len, len < 60 ? 60 : len); /* padded, as on every wire */
	assert_memory_equal(got, want, got_len);
}

static void a_pair_carries_frames_both_ways(void **state)
{
	struct bench b;
	struct model_port *x, *y;

	(void)state;
	bench_open(&b);
	x = bench_port(&b, "x", "pair:y");
	y = bench_port(&b, "y", "pair:x");
	bench_start(&b);
	assert_true(cx_link_up(x->dev) && cx_link_up(y->dev));
	for (uint32_t i = 0; i < 500; i++) {
		send_nth(x, 14 + i * 17 % 8900, i);
		send_nth(y, 14 + i * 13 % 8900, 1000 + i);
		bench_run(&b);
	}
	for (uint32_t i = 0; i < 500; i++) {
		assert_nth(&b, y, i, 14 + i * 17 % 8900, i);
		assert_nth(&b, x, i, 14 + i * 13 % 8900, 1000 + i);
	}
	assert_int_equal(b.got[0].n + b.got[1].n, 1000);
	assert_int_equal(x->wire->tx_frames, 500);
	assert_int_equal(y->wire->rx_frames, 500);
	bench_close(&b);
}

static void a_loop_brings_back_what_is_sent(void **state)
{
	struct bench b;
	struct model_port *x;

	(void)state;
	bench_open(&b);
	x = bench_port(&b, "x", "loop");
	bench_start(&b);
	send_nth(x, 1500, 1);
	send_nth(x, 20, 2);
	assert_int_equal(b.got[0].n, 0); /* not before the wire is polled */
	assert_int_equal(bench_run(&b), 2);
	assert_nth(&b, x, 0, 1500, 1);
	assert_nth(&b, x, 1, 20, 2);
	bench_close(&b);
}

static void nothing_is_connected_to_none(void **state)
{
	struct bench b;
	struct model_port *x;

	(void)state;
	bench_open(&b);
	x = bench_port(&b, "x", "none");
	bench_start(&b);
	assert_false(cx_link_up(x->dev));
	cx_link_set(x->dev, true); /* even then, it goes nowhere and is counted */
	send_nth(x, 60, 1);
	assert_int_equal(bench_run(&b), 0);
	assert_int_equal(x->wire->tx_lost, 1);
	bench_close(&b);
}

static void a_full_queue_loses_the_newest_and_counts_them(void **state)
{
	enum { LEN = 8000, SENT = 2000 };
	struct bench b;
	struct model_port *x, *y;

	(void)state;
	bench_open(&b);
	x = bench_port(&b, "x", "pair:y");
	y = bench_port(&b, "y", "pair:x");
	bench_start(&b);
	for (uint32_t i = 0; i < SENT; i++)
		send_nth(x, LEN, i);
	bench_run(&b);
	assert_in_range(b.got[1].n, 1000, SENT - 1);
	assert_int_equal(b.got[1].n + x->wire->tx_lost, SENT);
	assert_int_equal(x->wire->tx_frames, b.got[1].n);
	for (uint32_t i = 0; i < b.got[1].n; i++)
		assert_nth(&b, y, i, LEN, i);
	bench_forget(&b);
	send_nth(x, 100, 7);
	bench_run(&b);
	assert_nth(&b, y, 0, 100, 7);
	bench_close(&b);
}

static void the_other_end_of_a_pair_sees_the_link_go(void **state)
{
	struct bench b;
	struct model_port *x, *y;

	(void)state;
	bench_open(&b);
	x = bench_port(&b, "x", "pair:y");
	y = bench_port(&b, "y", "pair:x");
	bench_start(&b);
	x->admin_up = false;
	x->wire->class->port_state(x->wire);
	port_link_update(x);
	assert_false(cx_link_up(x->dev) || cx_link_up(y->dev));
	x->admin_up = true;
	x->wire->class->port_state(x->wire);
	port_link_update(x);
	assert_true(cx_link_up(x->dev) && cx_link_up(y->dev));
	x->wire->class->close(x->wire);
	x->wire = NULL;
	assert_false(cx_link_up(y->dev));
	send_nth(y, 60, 1); /* to nobody */
	bench_close(&b);
}

static void a_pair_with_a_wrong_other_end_is_refused(void **state)
{
	struct bench b;
	struct wire *w;

	(void)state;
	bench_open(&b);
	assert_int_equal(bench_refused(&b, "x", "pair:"), -EINVAL);
	assert_int_equal(bench_refused(&b, "x", "pair:x"), -EINVAL);
	assert_int_equal(bench_refused(&b, "x", "pair:a-name-of-sixteen"), -EINVAL);
	w = bench_port(&b, "x", "pair:y")->wire;
	assert_int_equal(w->class->start(w, b.why, sizeof(b.why)), -EINVAL);
	assert_non_null(strstr(b.why, "no such port"));
	bench_port(&b, "y", "loop");
	assert_int_equal(w->class->start(w, b.why, sizeof(b.why)), -EINVAL);
	assert_non_null(strstr(b.why, "not a pair with this one"));
	bench_close(&b);
}

static void a_wire_of_no_kind_is_refused(void **state)
{
	struct bench b;

	(void)state;
	bench_open(&b);
	assert_int_equal(bench_refused(&b, "x", "string:1"), -EINVAL);
	assert_non_null(strstr(b.why, "veth"));
	assert_int_equal(bench_refused(&b, "x", "loop:1"), -EINVAL);
	assert_int_equal(bench_refused(&b, "x", "none:1"), -EINVAL);
	assert_int_equal(bench_refused(&b, "x", "veth:"), -EINVAL);
	assert_int_equal(bench_refused(&b, "x", "veth:a@"), -EINVAL);
	assert_int_equal(bench_refused(&b, "x", "veth:seventeen-letters"), -EINVAL);
	bench_close(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(frames_leave_the_queue_in_order_and_whole),
		cmocka_unit_test(a_frame_longer_than_the_queue_is_refused),
		cmocka_unit_test(a_pair_carries_frames_both_ways),
		cmocka_unit_test(a_loop_brings_back_what_is_sent),
		cmocka_unit_test(nothing_is_connected_to_none),
		cmocka_unit_test(a_full_queue_loses_the_newest_and_counts_them),
		cmocka_unit_test(the_other_end_of_a_pair_sees_the_link_go),
		cmocka_unit_test(a_pair_with_a_wrong_other_end_is_refused),
		cmocka_unit_test(a_wire_of_no_kind_is_refused),
	};
	const char *given = getenv("TEST_SEED");

	seed = given ? strtoull(given, NULL, 0) : 20260801;
	printf("TEST_SEED=%llu\n", (unsigned long long)seed);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
