/* unit/test_fwd_trace.c - a worker that has a trace tells what it does, and does the same */

#include "../test.h"

#include <string.h>

#include "../../lib/base/rcu.h"
#include "../../lib/fwd/trace.h"
#include "fwd_rig.h"

static struct fwd_trace *trace;

static void open_traced(struct rig *rig, const struct fwd_trace_conf *conf)
{
	open_rig(rig, 4, 4, 7, 6);
	assert_int_equal(fwd_trace_new(conf, &trace), 0);
	rig->w->trace = trace;
	rig->w->code = &fwd_code_traced;
}

static void close_traced(struct rig *rig)
{
	check_conservation(rig);
	close_rig(rig);
	fwd_trace_free(trace);
}

static void give(struct rig *rig, const uint8_t *frame, uint32_t len, uint64_t stamp)
{
	struct m5_cq_hot *cq = &rig->rx[0].rx.cq;

	assert_true(fake_rx_frame(&rig->rx[0], frame, len, true));
	cq->entry[(rig->rx[0].pi - 1) & cq->mask].timestamp = to_be64(stamp);
}

/* A frame with some bytes behind its headers, and what must be recorded of it. */
static void give4(struct rig *rig, uint8_t key, uint64_t stamp)
{
	uint8_t f[128];
	uint32_t len = make4(f, 0, key, 64, 50);

	f[34] = (uint8_t)stamp;
	give(rig, f, len, stamp);
}

static const struct fwd_traced *next(void)
{
	return ring_peek(fwd_trace_ring(trace));
}

/* The frame is as it came: neither its addresses nor its TTL are those that it left with. */
static void check_record(uint8_t key, uint64_t stamp, unsigned verdict, unsigned reason)
{
	const struct fwd_traced *r = next();
	uint8_t f[128];
	uint32_t len = make4(f, 0, key, 64, 50);

	assert_non_null(r);
	f[34] = (uint8_t)stamp;
	assert_int_equal(r->stamp, stamp);
	assert_int_equal(r->stamp_kind, FWD_STAMP_OWN);
	assert_int_equal(r->port, 0);
	assert_int_equal(r->bytes, len);
	assert_int_equal(r->captured, len);
	assert_memory_equal(r->data, f, len);
	assert_int_equal(r->verdict, verdict);
	assert_int_equal(r->reason, reason);
	assert_true(r->checked);
	assert_int_equal(r->lost, 0);
	ring_pop(fwd_trace_ring(trace));
}

static const struct fwd_trace_conf all = {
	.ports = 1, .count = 100, .bytes = 128, .ring = 64
};

static void each_exit_is_recorded_in_order(void **state)
{
	static const struct {
		uint8_t key;
		uint8_t verdict, reason;
		uint32_t route;
	} rows[] = {
		{ 10, PKT_FORWARD, 0, NH_TO_1 },
		{ 20, PKT_DROP, PKT_DROP_BLACKHOLE, NH_BLACKHOLE },
		{ 172, PKT_FORWARD, 0, NH_TO_0 },
		{ 99, PKT_PUNT, PKT_PUNT_NO_ROUTE, NH_NONE },
		{ 21, PKT_PUNT, PKT_PUNT_UNREACHABLE, NH_UNREACHABLE },
		{ 22, PKT_PUNT, PKT_PUNT_MTU, NH_SMALL },
		{ 26, PKT_FORWARD, 0, NH_TAG_1 },
		{ 23, PKT_DROP, PKT_DROP_LINK_DOWN, NH_DOWN },
		{ 24, PKT_DROP, PKT_DROP_PORT_DOWN, NH_ABSENT },
	};
	struct rig rig;

	(void)state;
	open_traced(&rig, &all);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		give4(&rig, rows[i].key, 1000 + i);
	run_loop(&rig);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const struct fwd_traced *r = next();

		assert_non_null(r);
		assert_true(r->routed);
		assert_int_equal(r->route, rows[i].route);
		assert_memory_equal(&r->nh, &nh[rows[i].route], sizeof(r->nh));
		assert_int_equal(r->sent_bytes, rows[i].verdict == PKT_FORWARD ? 64 : 0);
		check_record(rows[i].key, 1000 + i, rows[i].verdict, rows[i].reason);
	}
	assert_null(next());
	assert_int_equal(fwd_trace_count(trace)->seen, ARRAY_LEN(rows));
	assert_int_equal(fwd_trace_count(trace)->recorded, ARRAY_LEN(rows));
	run_card(&rig);
	assert_int_equal(rig.sent[0] + rig.sent[1], 3);
	close_traced(&rig);
}

static void frames_that_are_refused_have_no_route(void **state)
{
	const struct fwd_traced *r;
	struct rig rig;
	uint8_t f[128];

	(void)state;
	open_traced(&rig, &all);
	make4(f, 1, 10, 64, 50); /* another port's address */
	give(&rig, f, 64, 7);
	give(&rig, f, 64, 8);
	give(&rig, f, make4(f, 0, 10, 1, 50), 9);
	run_loop(&rig);
	for (unsigned i = 0; i < 2; i++) {
		r = next();
		assert_false(r->routed);
		assert_true(r->alone);
		assert_int_equal(r->verdict, PKT_DROP);
		assert_int_equal(r->reason, PKT_DROP_BAD_MAC);
		assert_int_equal(r->stamp, 7 + i);
		ring_pop(fwd_trace_ring(trace));
	}
	r = next();
	assert_int_equal(r->verdict, PKT_PUNT);
	assert_int_equal(r->reason, PKT_PUNT_TTL);
	close_traced(&rig);
}

static void a_priority_tag_is_looked_through(void **state)
{
	const struct fwd_traced *r;
	struct rig rig;
	uint8_t f[128], tagged[128];
	uint32_t len = make4(f, 0, 10, 64, 50);

	(void)state;
	open_traced(&rig, &all);
	memcpy(tagged, f, 12);
	memcpy(tagged + 12, (uint8_t[]){ 0x81, 0, 0xa0, 0 }, 4);
	memcpy(tagged + 16, f + 12, len - 12);
	give(&rig, tagged, len + 4, 3);
	run_loop(&rig);
	r = next();
	assert_int_equal(r->verdict, PKT_FORWARD);
	assert_int_equal(r->route, NH_TO_1);
	assert_true(r->routed && r->alone);
	assert_int_equal(r->bytes, len + 4);
	assert_int_equal(r->sent_bytes, len);
	assert_memory_equal(r->data, tagged, len + 4);
	close_traced(&rig);
}

static void the_leg_of_a_group_is_named(void **state)
{
	const struct fwd_traced *r;
	struct rig rig;

	(void)state;
	open_traced(&rig, &all);
	give4(&rig, 25, 5);
	run_loop(&rig);
	r = next();
	assert_int_equal(r->route, NH_GROUP);
	assert_int_not_equal(r->nh.kind, FIB_NH_GROUP);
	close_traced(&rig);
}

/* What the send ring does not take is dropped: so the record says, not "forward". */
static void a_full_send_ring_is_told(void **state)
{
	enum { FRAMES = 400 };
	const struct fwd_trace_conf conf = {
		.ports = 1, .count = FRAMES, .bytes = 64, .ring = 512
	};
	const struct fwd_port_count *c;
	const struct fwd_traced *r;
	uint64_t sent = 0, full = 0;
	struct rig rig;
	uint8_t f[128];

	(void)state;
	open_rig(&rig, 4, 5, 7, 6);
	assert_int_equal(fwd_trace_new(&conf, &trace), 0);
	rig.w->trace = trace;
	rig.w->code = &fwd_code_traced;
	c = fwd_worker_port_count(rig.w, 0);
	for (int i = 0; i < FRAMES; i++)
		assert_true(fake_rx_frame(&rig.rx[0], f, make4(f, 0, 10, 64, 50), true));
	run_loop(&rig);
	for (; (r = next()); ring_pop(fwd_trace_ring(trace))) {
		sent += r->verdict == PKT_FORWARD;
		full += r->verdict == PKT_DROP && r->reason == PKT_DROP_TX_FULL;
	}
	assert_true(full > 0);
	assert_int_equal(sent, c->forwarded[0]);
	assert_int_equal(full, c->dropped[PKT_DROP_TX_FULL]);
	assert_int_equal(sent + full, FRAMES);
	close_traced(&rig);
}

static void a_full_punt_ring_is_told(void **state)
{
	const struct fwd_traced *r;
	uint64_t punted = 0, full = 0;
	struct rig rig;

	(void)state;
	punt_ring = 4;
	open_traced(&rig, &all);
	punt_ring = 64;
	for (unsigned i = 0; i < 6; i++)
		give4(&rig, 99, i + 1);
	run_loop(&rig);
	for (; (r = next()); ring_pop(fwd_trace_ring(trace))) {
		punted += r->verdict == PKT_PUNT && r->reason == PKT_PUNT_NO_ROUTE;
		full += r->verdict == PKT_DROP && r->reason == PKT_DROP_PUNT_FULL;
	}
	assert_int_equal(punted, 4);
	assert_int_equal(full, 2);
	close_traced(&rig);
}

static void what_does_not_match_is_only_seen(void **state)
{
	struct fwd_trace_conf conf = all;
	struct rig rig;

	(void)state;
	conf.match = (struct fwd_match){ .family = 4,
					 .addr = { { 0, 0 }, { 0, 20u << 24 } },
					 .mask = { { 0, 0 }, { 0, 0xff000000 } } };
	open_traced(&rig, &conf);
	give4(&rig, 10, 1);
	give4(&rig, 20, 2);
	give4(&rig, 10, 3);
	run_loop(&rig);
	check_record(20, 2, PKT_DROP, PKT_DROP_BLACKHOLE);
	assert_null(next());
	assert_int_equal(fwd_trace_count(trace)->seen, 3);
	close_traced(&rig);

	conf = all;
	conf.match = (struct fwd_match){ .has_verdict = true, .verdict = PKT_FORWARD };
	open_traced(&rig, &conf);
	give4(&rig, 20, 1);
	give4(&rig, 10, 2);
	give4(&rig, 99, 3);
	run_loop(&rig);
	check_record(10, 2, PKT_FORWARD, 0);
	assert_null(next());
	close_traced(&rig);

	conf = all;
	conf.ports = 2; /* not the one that packets come by */
	open_traced(&rig, &conf);
	give4(&rig, 10, 1);
	run_loop(&rig);
	assert_null(next());
	assert_int_equal(fwd_trace_count(trace)->seen, 0);
	close_traced(&rig);
}

static void it_ends_at_its_count(void **state)
{
	struct fwd_trace_conf conf = all;
	struct rig rig;

	(void)state;
	conf.count = 3;
	open_traced(&rig, &conf);
	for (unsigned i = 0; i < 5; i++)
		give4(&rig, 10, i + 1);
	run_loop(&rig);
	give4(&rig, 10, 9);
	run_loop(&rig);
	for (unsigned i = 0; i < 3; i++)
		check_record(10, i + 1, PKT_FORWARD, 0);
	assert_null(next());
	assert_int_equal(fwd_trace_count(trace)->seen,
			 5); /* the burst that it ended in */
	assert_int_equal(fwd_trace_count(trace)->lost, 0);
	assert_int_equal(fwd_worker_port_count(rig.w, 0)->forwarded[0], 6);
	close_traced(&rig);
}

/* Nobody takes records: packets go on, and what is missing is counted where it is. */
static void a_full_ring_loses_records_and_no_packet(void **state)
{
	struct fwd_trace_conf conf = all;
	struct rig rig;

	(void)state;
	conf.ring = 4;
	open_traced(&rig, &conf);
	for (unsigned i = 0; i < 7; i++)
		give4(&rig, 10, i + 1);
	run_loop(&rig);
	assert_int_equal(fwd_trace_count(trace)->recorded, 4);
	assert_int_equal(fwd_trace_count(trace)->lost, 3);
	ring_pop(fwd_trace_ring(trace));
	ring_pop(fwd_trace_ring(trace));
	give4(&rig, 10, 8);
	run_loop(&rig);
	ring_pop(fwd_trace_ring(trace));
	ring_pop(fwd_trace_ring(trace));
	assert_int_equal(next()->lost, 3);
	assert_int_equal(next()->stamp, 8);
	assert_int_equal(fwd_worker_port_count(rig.w, 0)->forwarded[0], 8);
	close_traced(&rig);
}

static void a_long_frame_is_cut(void **state)
{
	struct fwd_trace_conf conf = all;
	struct rig rig;

	(void)state;
	conf.bytes = 20;
	open_traced(&rig, &conf);
	give4(&rig, 10, 1);
	run_loop(&rig);
	assert_int_equal(next()->bytes, 64);
	assert_int_equal(next()->captured, 20);
	close_traced(&rig);
}

/* Completions that were compressed have no stamp but that of their title. */
static void a_session_has_the_stamp_of_its_title(void **state)
{
	struct rig rig;
	uint8_t f[128];
	unsigned own = 0, session = 0;
	const struct fwd_traced *r;

	(void)state;
	open_traced(&rig, &all);
	fake_rx_compress(&rig.rx[0], M5_CQ_BASIC, 8);
	for (unsigned i = 0; i < 8; i++)
		assert_true(fake_rx_frame(&rig.rx[0], f, make4(f, 0, 10, 64, 50), true));
	fake_rx_flush(&rig.rx[0]);
	rig.rx[0].rx.cq.entry[0].timestamp = to_be64(77);
	run_loop(&rig);
	for (; (r = next()); ring_pop(fwd_trace_ring(trace))) {
		assert_int_equal(r->stamp, 77);
		own += r->stamp_kind == FWD_STAMP_OWN;
		session += r->stamp_kind == FWD_STAMP_SESSION;
	}
	assert_int_equal(own, 1);
	assert_int_equal(session, 7);
	close_traced(&rig);
}

static void the_same_is_done_with_a_trace_and_without(void **state)
{
	enum { FRAMES = 300 };
	struct fwd_port_count count[2];
	uint64_t seed = test_rand();
	struct rig rig;

	(void)state;
	for (unsigned traced = 0; traced < 2; traced++) {
		uint64_t x = seed;

		if (traced)
			open_traced(&rig, &all);
		else
			open_rig(&rig, 4, 4, 7, 6);
		for (unsigned i = 0; i < FRAMES; i++) {
			static const uint8_t keys[] = { 10, 172, 20, 21, 22,
							23, 24,	 25, 26, 99 };
			uint8_t f[128];
			bool six;

			x = x * UINT64_C(6364136223846793005) + 1442695040888963407;
			six = x >> 40 & 1;
			give(&rig, f,
			     six ? make6(f, 0, 0xb8 + (x >> 41 & 3),
					 (uint8_t)(1 + (x >> 50 & 1)))
				 : make4(f, 0, keys[(x >> 33) % ARRAY_LEN(keys)],
					 (uint8_t)(1 + (x >> 50 & 3)), 50),
			     i + 1);
			if (i % 37 == 0) {
				run_loop(&rig);
				run_card(&rig);
				empty_punts(&rig);
			}
		}
		run_loop(&rig);
		count[traced] = *fwd_worker_port_count(rig.w, 0);
		if (traced)
			close_traced(&rig);
		else
			close_rig(&rig);
	}
	assert_memory_equal(&count[0], &count[1], sizeof(count[0]));
	assert_true(count[0].forwarded[0] && count[0].forwarded[1]);
}

static void nonsense_is_refused(void **state)
{
	struct fwd_trace_conf conf = all;
	struct fwd_trace *t = NULL;

	(void)state;
	conf.ring = 3;
	assert_int_equal(fwd_trace_new(&conf, &t), -EINVAL);
	conf.ring = 4;
	conf.count = 0;
	assert_int_equal(fwd_trace_new(&conf, &t), -EINVAL);
	assert_null(t);
	assert_true(fwd_trace_bytes(&all) > 2 * 64 * 128);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_exit_is_recorded_in_order),
		cmocka_unit_test(frames_that_are_refused_have_no_route),
		cmocka_unit_test(a_priority_tag_is_looked_through),
		cmocka_unit_test(the_leg_of_a_group_is_named),
		cmocka_unit_test(a_full_send_ring_is_told),
		cmocka_unit_test(a_full_punt_ring_is_told),
		cmocka_unit_test(what_does_not_match_is_only_seen),
		cmocka_unit_test(it_ends_at_its_count),
		cmocka_unit_test(a_full_ring_loses_records_and_no_packet),
		cmocka_unit_test(a_long_frame_is_cut),
		cmocka_unit_test(a_session_has_the_stamp_of_its_title),
		cmocka_unit_test(the_same_is_done_with_a_trace_and_without),
		cmocka_unit_test(nonsense_is_refused),
	};
	int r;

	rcu_reader_start();
	r = cmocka_run_group_tests(tests, NULL, NULL);
	rcu_reader_stop();
	return r;
}
