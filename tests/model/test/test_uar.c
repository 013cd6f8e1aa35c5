/* test/test_uar.c - doorbell pages: whose value counts, whose does not; one pass of cx_step() */
#include "direct.h"

#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "../core/dev.h"

#define SELDOM 64 /* as in uar.c: pages without a queue are looked at that often */

struct sq2 {
	struct direct *d;
	struct d_cq *cq;
	struct d_sq *sq;
};

static struct sq2 open_sq(void)
{
	struct sq2 s = { .d = d_open(NULL) };

	s.cq = d_cq(s.d, &(struct d_cq_conf){ .log_size = 8 });
	s.sq = d_sq(s.d, &(struct d_sq_conf){ .log_size = 6, .cq = s.cq });
	d_run(s.d);
	return s;
}

static void put_nop(struct d_sq *sq)
{
	struct d_wqe w = d_wqe(sq, D_NOP_WQE, D_CE_ALWAYS);

	d_sq_put(sq, &w);
}

static unsigned completions(struct d_cq *cq)
{
	unsigned n = 0;

	while (d_cq_poll(cq))
		n++;
	return n;
}

static const uint8_t *last_wqe(const struct d_sq *sq)
{
	return sq->ring + (sq->last & ((1u << sq->conf.log_size) - 1)) * 64;
}

/* ---- registers ---- */

static void test_all_four_registers(void **state)
{
	static const uint32_t regs[] = { 0x800, 0x900, 0xa00, 0xb00 };
	struct sq2 s = open_sq();

	(void)state;
	for (unsigned i = 0; i < 4; i++) {
		put_nop(s.sq);
		d_sq_record(s.sq);
		d_run(s.d);
		assert_int_equal(completions(s.cq), 0);
		d_doorbell(s.d->uar, regs[i], last_wqe(s.sq));
		d_run(s.d);
		assert_int_equal(completions(s.cq), 1);
	}
	assert_int_equal(cx_stats(s.d->dev)->doorbells, 4);
	assert_int_equal(cx_stats(s.d->dev)->bad_doorbells, 0);
	d_close(s.d);
}

/* A taken register is empty; the same value again is a new doorbell. */
static void test_the_same_value_twice(void **state)
{
	struct sq2 s = open_sq();
	uint8_t value[8];
	uint64_t left;

	(void)state;
	put_nop(s.sq);
	d_sq_record(s.sq);
	memcpy(value, last_wqe(s.sq), 8);
	for (unsigned i = 1; i <= 3; i++) {
		d_doorbell(s.d->uar, 0x800, value);
		d_run(s.d);
		assert_int_equal(cx_stats(s.d->dev)->doorbells, i);
		memcpy(&left, s.d->uar->page + 0x800, 8);
		assert_int_equal(left, 0);
	}
	assert_int_equal(completions(s.cq), 1);
	d_close(s.d);
}

/* A BlueFlame copy brings the whole WQE; only its first eight bytes ring. */
static void test_blue_flame_copy(void **state)
{
	struct sq2 s = open_sq();

	(void)state;
	put_nop(s.sq);
	d_sq_record(s.sq);
	memset(s.d->uar->page + 0x800, 0xab, 256);
	d_doorbell(s.d->uar, 0x800, last_wqe(s.sq));
	d_run(s.d);
	assert_int_equal(completions(s.cq), 1);
	assert_int_equal(cx_stats(s.d->dev)->doorbells, 1);
	d_close(s.d);
}

static void test_event_queue_registers_are_tolerated(void **state)
{
	struct sq2 s = open_sq();
	uint8_t value[8] = { 1, 2, 3, 4, 5, 6, 7, 8 };
	uint64_t left[2];

	(void)state;
	d_doorbell(s.d->uar, 0x40, value);
	d_doorbell(s.d->uar, 0x48, value);
	for (unsigned i = 0; i < SELDOM; i++)
		cx_step(s.d->dev);
	memcpy(left, s.d->uar->page + 0x40, 16);
	assert_int_equal(left[0] | left[1], 0);
	assert_int_equal(s.d->log.n, 0);
	assert_int_equal(cx_stats(s.d->dev)->bad_doorbells, 0);
	d_close(s.d);
}

static void test_attach(void **state)
{
	struct direct *d = d_open(NULL);
	uint8_t *page = d_alloc(d, 8192);

	(void)state;
	assert_int_equal(cx_uar_attach(d->dev, 0x7777, page), -ENOENT);
	assert_int_equal(cx_uar_attach(d->dev, d->uar->num, page + 4), -EINVAL);
	assert_int_equal(cx_uar_attach(d->dev, d->uar->num, page), 0);
	d_close(d);
}

/* A page can go, or never have come: its queue just cannot be rung. */
static void test_detached_page(void **state)
{
	struct sq2 s = open_sq();

	(void)state;
	assert_int_equal(cx_uar_attach(s.d->dev, s.d->uar->num, NULL), 0);
	put_nop(s.sq);
	d_sq_ring(s.sq);
	d_run(s.d);
	assert_int_equal(cx_stats(s.d->dev)->doorbells, 0);
	assert_int_equal(cx_uar_attach(s.d->dev, s.d->uar->num, s.d->uar->page), 0);
	d_run(s.d);
	assert_int_equal(completions(s.cq), 1);
	d_close(s.d);
}

/* ---- doorbells that do not count ---- */

/* Rung on a page with no queue of its own, and on one with a queue: ignored and reported. */
static void test_another_page_is_ignored_and_reported(void **state)
{
	struct sq2 s = open_sq();
	struct d_uar *empty = d_uar(s.d), *busy = d_uar(s.d);
	struct d_cq *cq = d_cq(s.d, &(struct d_cq_conf){ .log_size = 4 });
	char want[96];

	(void)state;
	d_sq(s.d, &(struct d_sq_conf){ .log_size = 4, .cq = cq, .uar = busy });
	put_nop(s.sq);
	d_sq_record(s.sq);
	d_doorbell(empty, 0x800, last_wqe(s.sq));
	d_doorbell(busy, 0x800, last_wqe(s.sq));
	for (unsigned i = 0; i < SELDOM; i++)
		d_run(s.d);
	assert_int_equal(completions(s.cq), 0);
	assert_int_equal(cx_stats(s.d->dev)->bad_doorbells, 2);
	for (unsigned i = 0; i < 2; i++) {
		snprintf(want, sizeof(want),
			 "SQ 0x%x: doorbell.page: rung on UAR 0x%x, its own is "
			 "0x%x",
			 s.sq->num, (i ? busy : empty)->num, s.d->uar->num);
		d_assert_log(s.d, want);
	}
	d_sq_ring(s.sq); /* and the right one still works */
	d_run(s.d);
	assert_int_equal(completions(s.cq), 1);
	d_close(s.d);
}

/* Another client's queue cannot be rung from one's own page. */
static void test_page_of_another_client(void **state)
{
	struct sq2 s = open_sq();
	uint16_t first = s.d->uid;
	struct d_uar *theirs;

	(void)state;
	s.d->uid = d_uctx(s.d);
	theirs = d_uar(s.d);
	s.d->uid = first;
	put_nop(s.sq);
	d_sq_record(s.sq);
	d_doorbell(theirs, 0x800, last_wqe(s.sq));
	for (unsigned i = 0; i < SELDOM; i++)
		d_run(s.d);
	assert_int_equal(completions(s.cq), 0);
	d_assert_log(s.d, "doorbell.page");
	d_close(s.d);
}

static void test_no_such_queue(void **state)
{
	struct sq2 s = open_sq();
	struct d_rq *rq = d_rq(s.d, &(struct d_rq_conf){ .log_size = 2, .cq = s.cq });
	uint8_t value[8];

	(void)state;
	put_nop(s.sq);
	d_sq_record(s.sq);
	memcpy(value, last_wqe(s.sq), 8);
	CX_SET(sq_doorbell, value, qpn, s.sq->num ^ 0x800000);
	d_doorbell(s.d->uar, 0x800, value);
	d_run(s.d);
	CX_SET(sq_doorbell, value, qpn, rq->num); /* not a send queue */
	d_doorbell(s.d->uar, 0x900, value);
	d_run(s.d);
	assert_int_equal(completions(s.cq), 0);
	assert_int_equal(cx_stats(s.d->dev)->bad_doorbells, 2);
	d_assert_log(s.d, "doorbell.qpn");
	d_close(s.d);
}

/* The eight bytes in the other byte order name a queue that is not there. */
static void test_register_in_the_wrong_byte_order(void **state)
{
	struct sq2 s = open_sq();
	uint8_t value[8], wrong[8];

	(void)state;
	put_nop(s.sq);
	d_sq_record(s.sq);
	memcpy(value, last_wqe(s.sq), 8);
	for (unsigned i = 0; i < 8; i++)
		wrong[i] = value[i ^ 3]; /* each word turned round */
	d_doorbell(s.d->uar, 0x800, wrong);
	d_run(s.d);
	assert_int_equal(completions(s.cq), 0);
	assert_int_equal(cx_stats(s.d->dev)->bad_doorbells, 1);
	d_close(s.d);
}

/* The record in host order claims 256 entries for each one posted: more than the ring holds. */
static void test_record_in_the_wrong_byte_order(void **state)
{
	struct sq2 s = open_sq();

	(void)state;
	put_nop(s.sq);
	s.sq->dbrec[1] = s.sq->pi; /* not htobe32() */
	d_doorbell(s.d->uar, 0x800, last_wqe(s.sq));
	d_run(s.d);
	assert_true(s.d->log.n > 0);
	assert_int_equal(cx_stats(s.d->dev)->tx_frames, 0);
	for (unsigned n = 0; n < 10; n++) {
		const uint8_t *cqe = d_cq_poll(s.cq);

		if (cqe)
			assert_int_equal(CX_GET(cqe, cqe, opcode), 13);
	}
	d_close(s.d);
}

static void test_reset_queue_is_not_rung(void **state)
{
	struct direct *d = d_open(NULL);
	struct d_cq *cq = d_cq(d, &(struct d_cq_conf){ .log_size = 4 });
	struct d_sq *sq = d_sq(
		d, &(struct d_sq_conf){ .log_size = 4, .cq = cq, .stay_reset = true });

	(void)state;
	put_nop(sq);
	d_sq_ring(sq);
	d_run(d);
	assert_int_equal(completions(cq), 0);
	d_assert_log(d, "doorbell.state");
	assert_int_equal(cx_stats(d->dev)->bad_doorbells, 1);
	d_close(d);
}

/* A value left on a page by an earlier owner does not run a new queue's WQE unasked. */
static void test_stale_value_for_a_queue_to_come(void **state)
{
	struct sq2 s = open_sq();
	uint8_t value[8];

	(void)state;
	put_nop(s.sq);
	memcpy(value, last_wqe(s.sq), 8);
	CX_SET(sq_doorbell, value, qpn, s.sq->num + 1);
	d_doorbell(s.d->uar, 0xb00, value);
	d_run(s.d);
	assert_int_equal(cx_stats(s.d->dev)->bad_doorbells, 1);
	d_sq(s.d, &(struct d_sq_conf){ .log_size = 4, .cq = s.cq });
	d_run(s.d);
	assert_int_equal(cx_stats(s.d->dev)->doorbells, 1);
	d_close(s.d);
}

/* ---- two queues, one page ---- */

/* The second value overwrote the first before it was seen: both queues run all the same. */
/* What was rung before a command comes before it: neither a mistake, nor for the queue's next
 * life. */
static void test_doorbell_before_a_command(void **state)
{
	struct sq2 s = open_sq();

	(void)state;
	put_nop(s.sq);
	d_sq_ring(s.sq);
	assert_int_equal(d_simple(s.d, D_DESTROY_SQ, s.sq->num, NULL), CX_ST_OK);
	d_run(s.d);
	assert_int_equal(cx_stats(s.d->dev)->doorbells, 1);
	assert_int_equal(cx_stats(s.d->dev)->bad_doorbells, 0);
	s.sq = d_sq(s.d,
		    &(struct d_sq_conf){ .log_size = 4, .cq = s.cq, .stay_reset = true });
	put_nop(s.sq);
	d_sq_ring(s.sq);
	assert_int_equal(d_sq_state(s.sq, 0, 1), CX_ST_OK);
	d_run(s.d);
	d_assert_log(s.d, "doorbell.state: rung in state RST: ignored");
	assert_int_equal(completions(s.cq), 0);
	d_close(s.d);
}

static void test_shared_page_is_a_hint(void **state)
{
	struct sq2 s = open_sq();
	struct d_cq *cq = d_cq(s.d, &(struct d_cq_conf){ .log_size = 4 });
	struct d_sq *sq = d_sq(s.d, &(struct d_sq_conf){ .log_size = 4, .cq = cq });

	(void)state;
	put_nop(s.sq);
	put_nop(sq);
	d_sq_record(s.sq);
	d_sq_record(sq);
	d_doorbell(s.d->uar, 0x800, last_wqe(s.sq));
	d_doorbell(s.d->uar, 0x800, last_wqe(sq));
	d_run(s.d);
	assert_int_equal(completions(s.cq), 1);
	assert_int_equal(completions(cq), 1);
	d_close(s.d);
}

/* A value that is nobody's is not even a hint. */
static void test_bad_value_on_a_shared_page(void **state)
{
	struct sq2 s = open_sq();
	struct d_sq *sq = d_sq(s.d, &(struct d_sq_conf){ .log_size = 4, .cq = s.cq });
	uint8_t value[8];

	(void)state;
	put_nop(sq);
	d_sq_record(sq);
	memcpy(value, last_wqe(sq), 8);
	CX_SET(sq_doorbell, value, qpn, 0x333333);
	d_doorbell(s.d->uar, 0x800, value);
	d_run(s.d);
	assert_int_equal(completions(s.cq), 0);
	d_close(s.d);
}

/* ---- one pass ---- */

static void test_hold(void **state)
{
	struct sq2 s = open_sq();
	uint64_t value;

	(void)state;
	cx_hold(s.d->dev, true);
	put_nop(s.sq);
	d_sq_ring(s.sq);
	assert_int_equal(d_run(s.d), 0);
	memcpy(&value, s.d->uar->page + 0x800, 8);
	assert_int_not_equal(value, 0);
	assert_false(cx_may_ring(s.d->dev));
	cx_hold(s.d->dev, false);
	assert_int_not_equal(d_run(s.d), 0);
	assert_int_equal(completions(s.cq), 1);
	d_close(s.d);
}

static void test_may_ring(void **state)
{
	struct direct *d = d_open(NULL);

	(void)state;
	assert_false(cx_may_ring(d->dev));
	d_cq(d, &(struct d_cq_conf){ .log_size = 4 }); /* it can be armed */
	assert_true(cx_may_ring(d->dev));
	d_close(d);
}

/* A queue with much to do does not keep another waiting for more than one pass. */
static void test_budget_is_fair(void **state)
{
	struct direct *d = d_open(NULL);
	struct d_cq *cq_long = d_cq(d, &(struct d_cq_conf){ .log_size = 9 });
	struct d_cq *cq_short = d_cq(d, &(struct d_cq_conf){ .log_size = 4 });
	struct d_sq *sq = d_sq(d, &(struct d_sq_conf){ .log_size = 9, .cq = cq_long });
	struct d_sq *other = d_sq(
		d, &(struct d_sq_conf){ .log_size = 4, .cq = cq_short, .uar = d_uar(d) });
	unsigned first;

	(void)state;
	for (unsigned i = 0; i < 500; i++)
		put_nop(sq);
	put_nop(other);
	d_sq_ring(sq);
	d_sq_ring(other);
	cx_step(d->dev);
	first = completions(cq_long);
	assert_in_range(first, 1, 499);
	assert_int_equal(completions(cq_short), 1);
	d_run(d); /* without another doorbell */
	assert_int_equal(first + completions(cq_long), 500);
	d_close(d);
}

/* A multi-packet WQE of 40 frames. */
static void put_many(struct d_sq *sq)
{
	struct d_wqe w = d_wqe(sq, D_MPSW, D_CE_ERROR);

	d_wqe_eth(&w, NULL, 0);
	for (unsigned i = 0; i < 40; i++)
		d_wqe_ptr(&w, sq->mem.key, sq->mem.iova, 60);
	d_sq_put(sq, &w);
}

/* Many frames, few WQEs: a pass ends early and the next goes on, with nobody left out. */
static void test_pass_is_short(void **state)
{
	enum { QUEUES = 12, WQES = 20, FRAMES = QUEUES * WQES * 40 };
	struct direct *d = d_open(NULL);
	struct d_cq *cq = d_cq(d, &(struct d_cq_conf){ .log_size = 4 });
	unsigned longest = 0, before = 0, passes = 0;

	(void)state;
	for (unsigned i = 0; i < QUEUES; i++) {
		struct d_sq *sq = d_sq(d, &(struct d_sq_conf){ .log_size = 8,
							       .cq = cq,
							       .uar = d_uar(d) });

		for (unsigned k = 0; k < WQES; k++)
			put_many(sq);
		d_sq_ring(sq);
	}
	for (; cx_step(d->dev); passes++) {
		unsigned n = d->wire.n - before;

		before = d->wire.n;
		longest = n > longest ? n : longest;
	}
	assert_int_equal(d->wire.n, FRAMES);
	assert_in_range(longest, 2048, 2048 + 256 + 40);
	assert_in_range(passes, FRAMES / longest, FRAMES / 256);
	d_close(d);
}

static void test_arm(void **state)
{
	struct sq2 s = open_sq();

	(void)state;
	d_cq_arm(s.cq, false);
	d_run(s.d);
	assert_int_equal(cx_stats(s.d->dev)->arms, 1);
	assert_int_equal(s.d->events.n, 0);
	put_nop(s.sq);
	d_sq_ring(s.sq);
	d_run(s.d);
	assert_int_equal(s.d->events.n, 1);
	assert_int_equal(s.d->events.at[0].type, CX_EVENT_COMPLETION);
	assert_int_equal(s.d->events.at[0].obj_num, s.cq->num);
	assert_int_equal(s.d->events.at[0].uid, s.d->uid);
	d_close(s.d);
}

static void test_queue_views(void **state)
{
	struct sq2 s = open_sq();
	struct d_rq *rq = d_rq(s.d, &(struct d_rq_conf){ .log_size = 3,
							 .cq = s.cq,
							 .striding = true,
							 .log_strides = 7,
							 .log_stride_bytes = 9 });
	struct cx_queue_view v;

	(void)state;
	assert_true(cx_queue_nth(s.d->dev, CX_SQ, 0, &v));
	assert_false(cx_queue_nth(s.d->dev, CX_SQ, 1, &v));
	assert_false(cx_queue_nth(s.d->dev, CX_CQ, 0, &v));
	assert_true(cx_queue_nth(s.d->dev, CX_RQ, 0, &v));
	assert_int_equal(v.num, rq->num);
	assert_int_equal(v.uid, s.d->uid);
	assert_int_equal(v.cqn, s.cq->num);
	assert_int_equal(v.log_size, 3);
	assert_ptr_equal(v.ring, rq->ring);
	assert_ptr_equal(v.dbrec, rq->dbrec);
	assert_ptr_equal(v.cq_dbrec, s.cq->dbrec);
	assert_true(v.ready && v.striding);
	assert_int_equal(v.log_strides, 7);
	assert_int_equal(v.log_stride_bytes, 9);
	d_close(s.d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_four_registers),
		cmocka_unit_test(test_the_same_value_twice),
		cmocka_unit_test(test_blue_flame_copy),
		cmocka_unit_test(test_event_queue_registers_are_tolerated),
		cmocka_unit_test(test_attach),
		cmocka_unit_test(test_detached_page),
		cmocka_unit_test(test_another_page_is_ignored_and_reported),
		cmocka_unit_test(test_page_of_another_client),
		cmocka_unit_test(test_no_such_queue),
		cmocka_unit_test(test_register_in_the_wrong_byte_order),
		cmocka_unit_test(test_record_in_the_wrong_byte_order),
		cmocka_unit_test(test_reset_queue_is_not_rung),
		cmocka_unit_test(test_stale_value_for_a_queue_to_come),
		cmocka_unit_test(test_doorbell_before_a_command),
		cmocka_unit_test(test_shared_page_is_a_hint),
		cmocka_unit_test(test_bad_value_on_a_shared_page),
		cmocka_unit_test(test_hold),
		cmocka_unit_test(test_may_ring),
		cmocka_unit_test(test_budget_is_fair),
		cmocka_unit_test(test_pass_is_short),
		cmocka_unit_test(test_arm),
		cmocka_unit_test(test_queue_views),
	};

	return cmocka_run_group_tests_name("uar", tests, NULL, NULL);
}
