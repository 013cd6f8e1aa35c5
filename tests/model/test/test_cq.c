/* test/test_cq.c - completion queues: slots, laps, the consumer, arming, the hooks */
#include "queue_rig.h"

#include <endian.h>
#include <stdio.h>
#include <string.h>

/* A queue and a sender whose NOPs make one completion each. */
struct rig {
	struct direct *d;
	struct d_cq *cq;
	struct d_sq *sq;
};

static struct rig open_rig(struct d_cq_conf conf)
{
	struct rig r = { .d = d_open(NULL) };

	r.cq = d_cq(r.d, &conf);
	r.sq = d_sq(r.d, &(struct d_sq_conf){
				 .log_size = 6, .cq = r.cq, .user_index = 0x123456 });
	return r;
}

static void nop(struct rig *r, uint8_t ce)
{
	struct d_wqe w = d_wqe(r->sq, D_NOP_WQE, ce);

	d_sq_put(r->sq, &w);
	d_sq_ring(r->sq);
	d_run(r->d);
}

static void nops(struct rig *r, unsigned n)
{
	while (n--)
		nop(r, D_CE_ALWAYS);
}

/* ---- slots ---- */

static void test_requester_fields(void **state)
{
	struct rig r = open_rig((struct d_cq_conf){ .log_size = 2 });
	uint8_t want[64] = { 0 };

	(void)state;
	cx_clock_advance(r.d->dev, UINT64_C(0x11234567890));
	nop(&r, D_CE_ALWAYS);
	nop(&r, D_CE_ALWAYS);
	cx_put_be32(want + 0x20, 0x123456);
	cx_put_be64(want + 0x30, UINT64_C(0x11234567890));
	cx_put_be32(want + 0x38, r.sq->num); /* opcode NOP = 0 in the upper byte */
	cx_put_be16(want + 0x3c, 1);
	assert_memory_equal(d_cqe_at(r.cq, 1), want, 64);
	d_close(r.d);
}

static void test_owner_bit_every_lap(void **state)
{
	struct rig r = open_rig((struct d_cq_conf){ .log_size = 2 });

	(void)state;
	for (uint32_t i = 0; i < 70000; i++) { /* past 2^16 */
		const uint8_t *at = d_cqe_at(r.cq, i);

		if (i >= 4) /* what the lap before left there */
			assert_int_equal(at[63] & 1, (i >> 2 & 1) ^ 1);
		nop(&r, D_CE_ALWAYS);
		assert_int_equal(at[63], i >> 2 & 1);
		assert_int_equal(cx_be16(at + 0x3c), i & 0xffff);
		assert_non_null(d_cq_poll(r.cq));
		assert_null(d_cq_poll(r.cq));
	}
	assert_int_equal(r.d->log.n, 0);
	d_close(r.d);
}

static void test_one_entry(void **state)
{
	struct rig r = open_rig((struct d_cq_conf){ .log_size = 0 });

	(void)state;
	for (int i = 0; i < 100; i++) {
		nop(&r, D_CE_ALWAYS);
		assert_non_null(d_cq_poll(r.cq));
		assert_null(d_cq_poll(r.cq));
	}
	assert_int_equal(r.d->log.n, 0);
	d_close(r.d);
}

static void test_second_half_of_128(void **state)
{
	struct rig r = open_rig((struct d_cq_conf){ .log_size = 2, .cqe128 = true });

	(void)state;
	for (uint32_t i = 0; i < 10; i++) {
		nop(&r, D_CE_ALWAYS);
		assert_int_equal(cx_be16(r.cq->ring + (i & 3) * 128 + 64 + 0x3c), i);
		for (int b = 0; b < 64; b++)
			assert_int_equal(r.cq->ring[(i & 3) * 128 + b], 0xff);
		assert_non_null(d_cq_poll(r.cq));
	}
	d_close(r.d);
}

static void test_slot_must_be_invalid_before_use(void **state)
{
	struct rig r = open_rig((struct d_cq_conf){ .log_size = 2 });

	(void)state;
	d_cqe_at(r.cq, 1)[63] = 0x01; /* wrong owner for lap 0, but opcode 0 */
	nops(&r, 2);
	d_assert_log(
		r.d,
		"cqe.opcode: entry 1 was not initialised to invalid: op_own is 0x01");
	assert_true(q_event(r.d, CX_EVENT_CQ_ERROR, r.cq->num));
	assert_int_equal(d_cqe_at(r.cq, 1)[63], 0x01);
	assert_int_equal(q_sq(r.sq)->state, CX_Q_ERR);
	d_close(r.d);
}

/* ---- the consumer ---- */

static void test_overrun(void **state)
{
	struct rig r = open_rig((struct d_cq_conf){ .log_size = 2 });
	uint8_t before[256];

	(void)state;
	nops(&r, 4);
	assert_int_equal(r.d->log.n, 0);
	memcpy(before, r.cq->ring, sizeof(before));
	nops(&r, 3);
	d_assert_log(r.d, "overrun at entry 4");
	assert_true(q_event(r.d, CX_EVENT_CQ_ERROR, r.cq->num));
	assert_int_equal(r.d->events.at[0].subtype, 1);
	assert_true(q_event(r.d, CX_EVENT_WQ_CATASTROPHIC, r.sq->num));
	assert_int_equal(cx_stats(r.d->dev)->overruns, 1);
	assert_int_equal(q_sq(r.sq)->state, CX_Q_ERR);
	d_cq_consume(r.cq, 4); /* too late */
	nops(&r, 1);
	assert_memory_equal(before, r.cq->ring, sizeof(before));
	d_close(r.d);
}

static void test_overrun_ignored(void **state)
{
	struct rig r =
		open_rig((struct d_cq_conf){ .log_size = 2, .overrun_ignore = true });

	(void)state;
	nops(&r, 6);
	assert_int_equal(r.d->log.n, 0);
	assert_int_equal(cx_be16(d_cqe_at(r.cq, 5) + 0x3c), 5);
	assert_int_equal(q_sq(r.sq)->state, CX_Q_RDY);
	d_close(r.d);
}

static void test_overrun_fault(void **state)
{
	struct rig r = open_rig((struct d_cq_conf){ .log_size = 2 });
	char line[32];

	(void)state;
	snprintf(line, sizeof(line), "overrun cq=%u", r.cq->num);
	d_fault(r.d, line);
	nops(&r, 1);
	d_assert_log(r.d, "overrun at entry 0: asked for by the fault script");
	assert_true(q_event(r.d, CX_EVENT_CQ_ERROR, r.cq->num));
	assert_null(d_cq_poll(r.cq));
	d_close(r.d);
}

/* A driver with an inverted owner bit takes slots before they are written. */
static void test_inverted_owner_bit(void **state)
{
	struct rig r = open_rig((struct d_cq_conf){ .log_size = 3 });

	(void)state;
	nops(&r, 8);
	for (int i = 0; i < 16; i++) {
		uint8_t op_own = d_cqe_at(r.cq, r.cq->ci)[63];

		if (op_own >> 4 != 15 && (op_own & 1) != !(r.cq->ci >> 3 & 1))
			d_cq_consume(r.cq,
				     1); /* right: never taken the wrong way round */
	}
	assert_int_equal(r.cq->ci, 8);
	d_cq_consume(r.cq, 1); /* the ninth: one bit read the wrong way */
	nops(&r, 1);
	d_assert_log(r.d, "cq_dbrec.ci: 9 is ahead of the device at 8");
	assert_true(q_event(r.d, CX_EVENT_CQ_ERROR, r.cq->num));
	d_close(r.d);
}

static void test_consumer_in_host_order(void **state)
{
	struct rig r = open_rig((struct d_cq_conf){ .log_size = 2 });

	(void)state;
	nops(&r, 3);
	r.cq->dbrec[0] = 3;
	nops(&r, 1);
	d_assert_log(r.d, "cq_dbrec.ci: 0x03000000 is in the wrong byte order");
	assert_true(q_event(r.d, CX_EVENT_CQ_ERROR, r.cq->num));
	d_close(r.d);
}

/* As after @i completions, with a record of that many bits. */
static void run_width(uint32_t i, uint32_t mask)
{
	struct rig r = open_rig((struct d_cq_conf){ .log_size = 2 });

	q_cq(r.cq)->pi = i;
	for (unsigned n = 0; n < 64; n++, i++) {
		r.cq->dbrec[0] = htobe32(i & mask);
		nops(&r, 1);
		assert_int_equal(d_cqe_at(r.cq, i)[63], i >> 2 & 1);
	}
	assert_int_equal(r.d->log.n, 0);
	r.cq->dbrec[0] = htobe32((i & 0xffff) | 0x00070000);
	nops(&r, 1);
	d_assert_log(r.d, "has bits that no index near");
	d_close(r.d);
}

/* rdma-core keeps 24 bits, DPDK's receive 32, its send 16. */
static void test_consumer_widths(void **state)
{
	static const uint32_t mask[] = { 0xffff, 0xffffff, 0xffffffff };
	static const uint32_t start[] = { 0xfff8, 0xfffff8, 0x142fff8, 0xfffffff8 };

	(void)state;
	for (int s = 0; s < 4; s++)
		for (int m = 0; m < 3; m++)
			run_width(start[s], mask[m]);
}

/* ---- events ---- */

static unsigned completions(const struct rig *r)
{
	unsigned n = 0;

	for (unsigned i = 0; i < r->d->events.n; i++)
		n += r->d->events.at[i].type == CX_EVENT_COMPLETION &&
		     r->d->events.at[i].obj_num == r->cq->num;
	return n;
}

static void test_no_event_unless_armed(void **state)
{
	struct rig r = open_rig((struct d_cq_conf){ .log_size = 4 });

	(void)state;
	nops(&r, 2);
	assert_int_equal(completions(&r), 0);
	d_cq_consume(r.cq, 2);
	d_cq_arm(r.cq, false);
	d_run(r.d);
	assert_int_equal(completions(&r), 0);
	nops(&r, 2);
	assert_int_equal(completions(&r), 1); /* one a time */
	d_close(r.d);
}

static void test_arm_behind_entries_fires_at_once(void **state)
{
	struct rig r = open_rig((struct d_cq_conf){ .log_size = 4 });

	(void)state;
	nops(&r, 1);
	d_cq_arm(r.cq, false); /* ci 0, and an entry is there */
	d_run(r.d);
	assert_int_equal(completions(&r), 1);
	assert_int_equal(cx_stats(r.d->dev)->arms, 1);
	d_close(r.d);
}

static void test_arm_twice_is_one_event(void **state)
{
	struct rig r = open_rig((struct d_cq_conf){ .log_size = 4 });

	(void)state;
	d_cq_arm(r.cq, false);
	d_run(r.d);
	nops(&r, 1);
	r.cq->arm_sn--; /* the event was not seen yet: the same number again */
	d_cq_arm(r.cq, false);
	d_run(r.d);
	nops(&r, 1);
	assert_int_equal(completions(&r), 1);
	d_cq_arm(r.cq, false); /* the next number: entries are there */
	d_run(r.d);
	assert_int_equal(completions(&r), 2);
	d_close(r.d);
}

/* Two queues on one doorbell page, as libmlx5 hands it out: the second arm overwrites the first in
 * the page before the device looks. Both must hold. */
static void test_arms_of_one_page_do_not_hide_each_other(void **state)
{
	struct rig r = open_rig((struct d_cq_conf){ .log_size = 4 });
	struct d_cq *other = d_cq(r.d, &(struct d_cq_conf){ .log_size = 4 });

	(void)state;
	nops(&r, 1);
	d_cq_arm(other, false);
	d_run(r.d);
	assert_int_equal(completions(&r), 0); /* nobody armed this one */
	d_cq_arm(r.cq, false); /* an entry is there: fires as soon as the device knows */
	d_cq_arm(other, false);
	d_run(r.d);
	assert_int_equal(completions(&r), 1);
	assert_int_equal(cx_stats(r.d->dev)->arms, 2); /* one register, looked at twice */
	d_close(r.d);
}

static void test_solicited_only(void **state)
{
	struct rig r = open_rig((struct d_cq_conf){ .log_size = 4 });
	struct d_wqe w;

	(void)state;
	nops(&r, 1);
	d_cq_arm(r.cq, true);
	d_run(r.d);
	nops(&r, 1);
	assert_int_equal(completions(&r), 0);
	w = d_wqe(r.sq, 0x3f, D_CE_FIRST_ERROR); /* an error is always worth an event */
	d_sq_put(r.sq, &w);
	d_sq_ring(r.sq);
	d_run(r.d);
	assert_int_equal(completions(&r), 1);
	d_cq_arm(r.cq, true); /* it is still not consumed */
	d_run(r.d);
	assert_int_equal(completions(&r), 2);
	d_cq_consume(r.cq, 3);
	d_cq_arm(r.cq, true);
	d_run(r.d);
	assert_int_equal(completions(&r), 2);
	d_close(r.d);
}

static void test_mode_3_makes_an_event_unarmed(void **state)
{
	struct rig r = open_rig((struct d_cq_conf){ .log_size = 4 });

	(void)state;
	nop(&r, D_CE_SOLICITED);
	assert_int_equal(completions(&r), 1);
	assert_non_null(d_cq_poll(r.cq));
	d_close(r.d);
}

static void ring_arm(struct rig *r, struct d_uar *uar, uint32_t word, uint32_t number)
{
	uint8_t value[8];

	cx_put_be32(value, word);
	cx_put_be32(value + 4, number);
	d_doorbell(uar, 0x20, value);
	for (int i = 0; i < 64; i++) /* pages without queues are looked at seldom */
		cx_step(r->d->dev);
}

static void test_bad_arms_are_ignored(void **state)
{
	struct rig r = open_rig((struct d_cq_conf){ .log_size = 4 });
	struct d_uar *other = d_uar(r.d);

	(void)state;
	nops(&r, 1);
	ring_arm(&r, other, 0, r.cq->num);
	d_assert_log(r.d, "cq_doorbell.page: armed on UAR");
	ring_arm(&r, r.d->uar, 0, 0xabcdef);
	d_assert_log(r.d, "cq_doorbell.cqn: there is no CQ 0xabcdef");
	for (unsigned bit = 24; bit < 32; bit++) { /* those of the number's word ... */
		d_forget(r.d);
		ring_arm(&r, r.d->uar, 0, r.cq->num | 1u << bit);
		d_assert_log(r.d, "cq_doorbell: reserved bits in 00000000");
	}
	for (unsigned bit = 25; bit < 32;
	     bit++) { /* ... and around the sequence number */
		if (bit / 2 == 28 / 2)
			continue;
		d_forget(r.d);
		ring_arm(&r, r.d->uar, 1u << bit, r.cq->num);
		d_assert_log(r.d, "cq_doorbell: reserved bits in ");
	}
	r.cq->dbrec[1] = 0;
	ring_arm(&r, r.d->uar, 1u << 28, r.cq->num);
	d_assert_log(r.d, "cq_dbrec.arm_sn: record 0x00000000, doorbell 0x10000000");
	assert_int_equal(completions(&r), 0);
	assert_int_equal(cx_stats(r.d->dev)->bad_doorbells, 3 + 8 + 5);
	ring_arm(&r, r.d->uar, 0, r.cq->num);
	assert_int_equal(completions(&r), 1);
	d_close(r.d);
}

/* ---- faults and hooks ---- */

static void test_hold_and_release(void **state)
{
	struct rig r = open_rig((struct d_cq_conf){ .log_size = 4 });
	char line[32];

	(void)state;
	snprintf(line, sizeof(line), "hold cq=%u", r.cq->num);
	d_fault(r.d, line);
	nops(&r, 3);
	assert_null(d_cq_poll(r.cq));
	snprintf(line, sizeof(line), "release cq=%u", r.cq->num);
	d_fault(r.d, line);
	d_run(r.d);
	for (int i = 0; i < 3; i++)
		assert_non_null(d_cq_poll(r.cq));
	assert_int_equal(r.d->log.n, 0);
	d_close(r.d);
}

static void test_withhold_first_of_each_round(void **state)
{
	struct rig r = open_rig((struct d_cq_conf){ .log_size = 4 });

	(void)state;
	cx_cqe_withhold(r.d->dev, true);
	for (unsigned round = 0; round < 20; round++) {
		nops(&r, 5);
		assert_null(d_cq_poll(r.cq));
		cx_cqe_release(r.d->dev);
		for (unsigned i = 0; i < 5; i++)
			assert_int_equal(cx_be16(d_cq_poll(r.cq) + 0x3c), round * 5 + i);
	}
	nops(&r, 1);
	cx_cqe_withhold(r.d->dev, false); /* lets go of what waits */
	assert_non_null(d_cq_poll(r.cq));
	nops(&r, 1);
	assert_non_null(d_cq_poll(r.cq));
	d_close(r.d);
}

static void test_withheld_event_comes_with_release(void **state)
{
	struct rig r = open_rig((struct d_cq_conf){ .log_size = 4 });

	(void)state;
	d_cq_arm(r.cq, false);
	cx_cqe_withhold(r.d->dev, true);
	nops(&r, 2);
	assert_int_equal(completions(&r), 0);
	cx_cqe_release(r.d->dev);
	assert_int_equal(completions(&r), 1);
	d_close(r.d);
}

static void test_trace(void **state)
{
	struct rig r = open_rig((struct d_cq_conf){ .log_size = 4 });
	bool seen = false;

	(void)state;
	nops(&r, 1);
	assert_int_equal(r.d->trace.n, 0);
	cx_trace_set(r.d->dev, CX_TRACE_CQE | CX_TRACE_WQE);
	nops(&r, 1);
	for (unsigned i = 0; i < r.d->trace.n; i++)
		seen |= strstr(r.d->trace.at[i], "entry 1 ") &&
			strstr(r.d->trace.at[i], "cqe.wqe_counter=0x1");
	assert_true(seen);
	d_close(r.d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_requester_fields),
		cmocka_unit_test(test_owner_bit_every_lap),
		cmocka_unit_test(test_one_entry),
		cmocka_unit_test(test_second_half_of_128),
		cmocka_unit_test(test_slot_must_be_invalid_before_use),
		cmocka_unit_test(test_overrun),
		cmocka_unit_test(test_overrun_ignored),
		cmocka_unit_test(test_overrun_fault),
		cmocka_unit_test(test_inverted_owner_bit),
		cmocka_unit_test(test_consumer_in_host_order),
		cmocka_unit_test(test_consumer_widths),
		cmocka_unit_test(test_no_event_unless_armed),
		cmocka_unit_test(test_arm_behind_entries_fires_at_once),
		cmocka_unit_test(test_arm_twice_is_one_event),
		cmocka_unit_test(test_arms_of_one_page_do_not_hide_each_other),
		cmocka_unit_test(test_solicited_only),
		cmocka_unit_test(test_mode_3_makes_an_event_unarmed),
		cmocka_unit_test(test_bad_arms_are_ignored),
		cmocka_unit_test(test_hold_and_release),
		cmocka_unit_test(test_withhold_first_of_each_round),
		cmocka_unit_test(test_withheld_event_comes_with_release),
		cmocka_unit_test(test_trace),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
