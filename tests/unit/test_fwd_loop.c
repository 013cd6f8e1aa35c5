/* unit/test_fwd_loop.c - the packet loop between fake ports */

#include "../test.h"

#include <string.h>

#include "../../lib/base/rcu.h"
#include "../../lib/pkt/csum.h"
#include "../../lib/pkt/flow_hot.h"
#include "fwd_rig.h"

static void ip4_goes_through(void **state)
{
	struct rig rig;
	uint8_t f[128];
	uint32_t len;

	(void)state;
	open_rig(&rig, 4, 4, 7, 6);
	len = make4(f, 0, 10, 64, 50);
	assert_true(fake_rx_frame(&rig.rx[0], f, len, true));
	run_loop(&rig);
	run_card(&rig);
	assert_int_equal(rig.sent[1], 1);
	assert_int_equal(rig.last_len, 64);
	assert_memory_equal(rig.last, nh[NH_TO_1].macs, 12);
	assert_int_equal(rig.last[22], 63);
	assert_true(csum_ip4_ok(rig.last + 14));
	assert_int_equal(fwd_worker_port_count(rig.w, 0)->forwarded[0], 1);
	assert_int_equal(fwd_worker_port_count(rig.w, 1)->egress[0], 1);
	assert_int_equal(fake_rx_out(&rig.rx[0]), 0);
	close_rig(&rig);
}

static void ip6_goes_through_and_hairpins(void **state)
{
	struct rig rig;
	uint8_t f[128];

	(void)state;
	open_rig(&rig, 4, 0, 11, 6);
	fake_rx_frame(&rig.rx[1], f, make6(f, 1, 0xb9, 9), false);
	fake_rx_frame(&rig.rx[1], f, make6(f, 1, 0xb8, 9), false);
	run_loop(&rig);
	run_card(&rig);
	assert_int_equal(rig.sent[0], 1);
	assert_int_equal(rig.sent[1], 1);
	assert_int_equal(rig.last[21], 8);
	assert_int_equal(fwd_worker_port_count(rig.w, 1)->forwarded[1], 2);
	close_rig(&rig);
}

/* As when a reload changes it. */
static void bursts_are_as_long_as_they_shall_be_now(void **state)
{
	struct fwd_conf conf = { .burst = 4 };
	const uint64_t *bursts;
	struct rig rig;
	uint8_t f[128];

	(void)state;
	open_rig(&rig, 4, 0, 11, 6);
	bursts = fwd_worker_count(rig.w)->bursts;
	for (int round = 0; round < 2; round++) {
		for (int i = 0; i < 10; i++)
			fake_rx_frame(&rig.rx[1], f, make6(f, 1, 0xb9, 9), false);
		run_loop(&rig);
		run_card(&rig);
		fwd_worker_tune(rig.w, &conf);
	}
	assert_int_equal(rig.sent[0], 20);
	assert_int_equal(bursts[4], 1); /* ten: 9 to 16 */
	assert_int_equal(bursts[2], 2); /* four, four, ... */
	assert_int_equal(bursts[1], 1); /* ... two */
	close_rig(&rig);
}

static void every_kind_of_next_hop_has_its_exit(void **state)
{
	static const struct {
		uint8_t key;
		int punt, drop;
	} rows[] = {
		{ 99, PKT_PUNT_NO_ROUTE, -1 },	  { 20, -1, PKT_DROP_BLACKHOLE },
		{ 21, PKT_PUNT_UNREACHABLE, -1 }, { 22, PKT_PUNT_MTU, -1 },
		{ 23, -1, PKT_DROP_LINK_DOWN },	  { 24, -1, PKT_DROP_PORT_DOWN },
	};
	const struct fwd_port_count *c;
	struct rig rig;
	uint8_t f[128];

	(void)state;
	open_rig(&rig, 4, 4, 7, 6);
	c = fwd_worker_port_count(rig.w, 0);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		uint32_t len = make4(f, 0, rows[i].key, 64, 50);

		assert_true(fake_rx_frame(&rig.rx[0], f, len, true));
		run_loop(&rig);
		if (rows[i].drop >= 0) {
			assert_int_equal(c->dropped[rows[i].drop], 1);
			assert_null(ring_peek(&rig.w->punt));
			continue;
		}
		assert_int_equal(c->punted[rows[i].punt], 1);
		/* For the kernel it is as it came. */
		assert_memory_equal(((struct exc_frame *)ring_peek(&rig.w->punt))->data,
				    f, len);
		ring_pop(&rig.w->punt);
	}
	check_conservation(&rig);
	assert_int_equal(fake_rx_out(&rig.rx[0]), 0);
	close_rig(&rig);
}

static void a_full_punt_ring_drops_and_counts(void **state)
{
	struct rig rig;
	uint8_t f[128];

	(void)state;
	open_rig(&rig, 4, 4, 7, 6);
	for (int i = 0; i < 100; i++)
		assert_true(fake_rx_frame(&rig.rx[0], f, make4(f, 0, 99, 64, 50), true));
	run_loop(&rig);
	assert_int_equal(fwd_worker_port_count(rig.w, 0)->punted[PKT_PUNT_NO_ROUTE], 64);
	assert_int_equal(fwd_worker_port_count(rig.w, 0)->dropped[PKT_DROP_PUNT_FULL],
			 36);
	assert_int_equal(fake_rx_out(&rig.rx[0]), 0);
	close_rig(&rig);
}

static void look_away(void *arg, const uint8_t *frame, uint32_t len)
{
	(void)arg;
	(void)frame;
	(void)len;
}

/* What other ports have sent is posted again before the worker may sleep, which it does when a turn
 * finds nothing: a card without a buffer raises no event. */
static void at_rest_every_buffer_is_posted(void **state)
{
	struct rig rig;
	uint8_t f[128];

	(void)state;
	open_rig(&rig, 4, 0, 11, 6);
	for (int round = 0; round < 20; round++) {
		while (fake_rx_frame(&rig.rx[0], f, make4(f, 0, 10, 64, 50), true))
			;
		do {
			rig.sent[1] += fake_tx_run(&rig.tx[1], look_away, NULL);
			run_loop(&rig);
		} while (!m5_tx_idle(&rig.tx[1].tx));
		assert_int_equal((uint16_t)(rig.rx[0].rx.post - rig.rx[0].rx.fill),
				 rig.rx[0].rx.mask + 1);
	}
	assert_true(rig.sent[1] > 100);
	close_rig(&rig);
}

/* The egress card does not send: its ring fills, the rest is dropped, the other port goes on. */
static void a_full_send_ring_drops_and_blocks_nobody(void **state)
{
	struct rig rig;
	uint8_t f[128];
	const struct fwd_port_count *c;

	(void)state;
	open_rig(&rig, 4, 5, 7, 6);
	c = fwd_worker_port_count(rig.w, 0);
	for (int i = 0; i < 400; i++)
		assert_true(fake_rx_frame(&rig.rx[0], f, make4(f, 0, 10, 64, 50), true));
	assert_true(fake_rx_frame(&rig.rx[1], f, make4(f, 1, 172, 64, 50), true));
	run_loop(&rig);
	/* A block holds four packets, less what WQEs begin with. */
	assert_in_range(c->forwarded[0], 3 * 64, 4 * 64);
	assert_int_equal(c->dropped[PKT_DROP_TX_FULL], 400 - c->forwarded[0]);
	assert_int_equal(c->forwarded_bytes[0], 64 * c->forwarded[0]);
	assert_int_equal(fwd_worker_port_count(rig.w, 1)->forwarded[0], 1);
	run_card(&rig);
	assert_int_equal(rig.sent[1], c->forwarded[0]);
	assert_int_equal(rig.sent[0], 1);
	assert_int_equal(fake_rx_out(&rig.rx[0]), 0);
	check_conservation(&rig);
	close_rig(&rig);
}

static void a_tagged_next_hop_tags(void **state)
{
	static const uint8_t keys[] = { 26, 27, 10, 26, 26 };
	struct rig rig;
	uint8_t f[128];

	(void)state;
	open_rig(&rig, 4, 4, 7, 6);
	/* Alone, after others, in a row. */
	for (size_t i = 0; i < ARRAY_LEN(keys); i++)
		assert_true(
			fake_rx_frame(&rig.rx[0], f, make4(f, 0, keys[i], 64, 50), true));
	run_loop(&rig);
	run_card(&rig);
	assert_int_equal(rig.sent[0], 1);
	assert_int_equal(rig.sent[1], 4);
	assert_int_equal(rig.last_len, 68);
	assert_memory_equal(rig.last, nh[NH_TAG_1].macs, 12);
	assert_memory_equal(rig.last + 12, ((uint8_t[]){ 0x81, 0, 0, 100, 8, 0 }), 6);
	assert_true(csum_ip4_ok(rig.last + 18));
	fake_rx_frame(&rig.rx[1], f, make6(f, 1, 0xbb, 9), false);
	run_loop(&rig);
	run_card(&rig);
	assert_memory_equal(rig.last + 12, ((uint8_t[]){ 0x81, 0, 0, 100, 0x86, 0xdd }),
			    6);
	check_conservation(&rig);
	close_rig(&rig);
}
/* Others see what was counted also when there is no end of packets. */
static void counters_are_published_under_load(void **state)
{
	enum { BURST = 4, BURSTS = 300 };
	struct rig rig;
	uint8_t f[128];

	(void)state;
	open_rig(&rig, 7, 4, 7, 11);
	rig.w->conf.burst = BURST;
	for (unsigned i = 0; i < BURST * BURSTS; i++)
		assert_true(fake_rx_frame(&rig.rx[0], f, make4(f, 0, 10, 64, 50), true));
	watched.w = rig.w;
	watched.bursts = 0;
	run_loop(&rig);
	watched.w = NULL;
	assert_int_equal(watched.bursts, BURSTS);
	assert_int_equal(watched.seen, BURST * 256);
	assert_true(fwd_worker_count(rig.w)->busy_ticks > 0);
	assert_int_equal(fwd_worker_port_count(rig.w, 0)->received, BURST * BURSTS);
	close_rig(&rig);
}

/* A burst is counted by its length: up to 1, 2, 4, ... packets. */
static void lengths_of_bursts_are_counted(void **state)
{
	static const struct {
		unsigned n, size;
	} bursts[] = { { 1, 0 },  { 1, 0 },  { 2, 1 },	{ 3, 2 },  { 4, 2 },  { 5, 3 },
		       { 16, 4 }, { 17, 5 }, { 64, 6 }, { 65, 7 }, { 129, 8 } };
	uint64_t want[FWD_BURST_SIZES] = { 0 }, packets = 0;
	struct rig rig;
	uint8_t f[128];

	(void)state;
	open_rig(&rig, 8, 0, 7, 8);
	rig.w->conf.burst = FWD_BURST_MAX;
	for (unsigned i = 0; i < sizeof(bursts) / sizeof(bursts[0]); i++) {
		for (unsigned k = 0; k < bursts[i].n; k++)
			assert_true(fake_rx_frame(&rig.rx[0], f, make4(f, 0, 10, 64, 50),
						  true));
		run_loop(&rig);
		run_card(&rig);
		want[bursts[i].size]++;
		packets += bursts[i].n;
		assert_memory_equal(fwd_worker_count(rig.w)->bursts, want, sizeof(want));
	}
	assert_int_equal(fwd_worker_port_count(rig.w, 0)->received, packets);
	close_rig(&rig);
}

/* Random traffic over many laps of every ring and of the 16-bit indexes. */
static void run_random(unsigned log_chunks, unsigned log_strides,
		       unsigned log_stride_bytes)
{
	static const uint8_t keys[] = { 10, 172, 25, 172, 20, 21, 22, 23, 24, 99 };
	struct rig rig;
	uint8_t f[2048];
	uint64_t in = 0, handled;

	open_rig(&rig, log_chunks, log_strides, log_stride_bytes, 7);
	while (in < 150000) {
		uint32_t burst = 1 + test_below(100);

		for (uint32_t i = 0; i < burst; i++) {
			unsigned port = test_below(2);
			uint8_t key = keys[test_below(sizeof(keys))];
			uint32_t len =
				test_below(4)
					? make4(f, port, key, 64, 20 + test_below(400))
					: make6(f, port, 0xb8 + (uint8_t)test_below(4),
						64);

			if (test_below(50) == 0)
				f[test_below(34)] ^= (uint8_t)(1u << test_below(8));
			in += fake_rx_frame(&rig.rx[port], f, len, false);
		}
		run_loop(&rig);
		if (test_below(3))
			run_card(&rig);
		empty_punts(&rig);
	}
	for (unsigned i = 0; i < 4;
	     i++) /* the last completions are asked for when all is quiet */
		run_card(&rig);
	handled = fwd_worker_port_count(rig.w, 0)->received +
		  fwd_worker_port_count(rig.w, 1)->received;
	assert_int_equal(handled, in);
	check_conservation(&rig);
	for (unsigned p = 0; p < 2; p++) {
		assert_int_equal(fake_rx_out(&rig.rx[p]), 0);
		assert_int_equal(rig.rx[p].rx.out_of_step, 0);
		assert_int_equal(rig.sent[p],
				 fwd_read_both(fwd_worker_port_count(rig.w, p)->egress));
	}
	for (unsigned six = 0; six < 2; six++) {
		const struct fwd_port_count *a = fwd_worker_port_count(rig.w, 0),
					    *b = fwd_worker_port_count(rig.w, 1);

		assert_int_equal(a->egress[six] + b->egress[six],
				 a->forwarded[six] + b->forwarded[six]);
		assert_int_equal(a->egress_bytes[six] + b->egress_bytes[six],
				 a->forwarded_bytes[six] + b->forwarded_bytes[six]);
	}
	close_rig(&rig);
}

static void striding_queues_survive_laps(void **state)
{
	(void)state;
	run_random(4, 5, 7); /* packets of up to four strides: fillers too */
}

static void cyclic_queues_survive_laps(void **state)
{
	(void)state;
	run_random(8, 0, 9);
}

static void an_error_completion_stops_only_its_queue(void **state)
{
	struct rig rig;
	uint8_t f[128], *e;

	(void)state;
	open_rig(&rig, 4, 4, 7, 6);
	e = (uint8_t *)&rig.rx[0].rx.cq.entry[0];
	memset(e, 0, 63);
	e[54] = 0x51;
	e[55] = 0x04;
	e[63] = 14 << 4;
	assert_true(fake_rx_frame(&rig.rx[1], f, make4(f, 1, 172, 64, 50), true));
	run_loop(&rig);
	assert_true(m5_rx_failed(&rig.rx[0].rx));
	assert_int_equal(rig.rx[0].rx.syndrome, 0x04);
	assert_int_equal(rig.rx[0].rx.vendor_syndrome, 0x51);
	assert_int_equal(fwd_worker_port_count(rig.w, 1)->forwarded[0], 1);
	close_rig(&rig);
}

/* One of many flows to the group, or a packet that has nothing to do with it; *ret_leg is the
 * next hop it must meet. */
static uint32_t make_flow(uint8_t *f, uint32_t i, uint32_t *ret_leg)
{
	bool six = i % 3 == 0;
	uint32_t len = six ? make6(f, 0, 0xba, 9) : make4(f, 0, 25, 64, 46);
	uint8_t *ip = f + 14;
	be16_t sum = { 0 };

	*ret_leg = NH_TO_0;
	if (i % 7 == 0)
		return make4(f, 0, 172, 64, 46);
	ip[six ? 23 : 15] = (uint8_t)i;	       /* source */
	ip[six ? 40 : 21] = (uint8_t)(i >> 4); /* no header that we know; a port */
	if (!six) {
		memcpy(ip + 10, &sum, 2);
		sum = csum_of(ip, 20);
		memcpy(ip + 10, &sum, 2);
	}
	*ret_leg = buckets[pkt_flow_hash(ip, six ? 60 : 46, six ? 6 : 4, SEED) %
			   ARRAY_LEN(buckets)];
	return len;
}

/* Each packet meets what the leg of its flow does, alone or among others. */
static void a_group_sends_each_flow_to_its_leg(void **state)
{
	const struct fwd_port_count *c;
	uint32_t met[NH_COUNT] = { 0 }, leg;
	struct rig rig;
	uint8_t f[128];

	(void)state;
	open_rig(&rig, 6, 4, 7, 9);
	c = fwd_worker_port_count(rig.w, 0);
	for (uint32_t i = 0; i < 400; i++) {
		uint32_t len = make_flow(f, i, &leg);

		met[leg]++;
		assert_true(fake_rx_frame(&rig.rx[0], f, len, false));
		if (i % 50)
			continue;
		run_loop(&rig);
		run_card(&rig);
		empty_punts(&rig);
	}
	run_loop(&rig);
	run_card(&rig);
	assert_int_equal(rig.sent[1], met[NH_TO_1]);
	assert_int_equal(rig.sent[0], met[NH_TO_0]);
	assert_int_equal(c->dropped[PKT_DROP_BLACKHOLE], met[NH_BLACKHOLE]);
	assert_int_equal(c->punted[PKT_PUNT_MTU], met[NH_SMALL]);
	assert_int_equal(c->punted[PKT_PUNT_NO_ROUTE], met[NH_NONE]);
	for (leg = 0; leg < NH_UNREACHABLE; leg++)
		assert_true(met[leg] > 20);
	check_conservation(&rig);
	close_rig(&rig);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(ip4_goes_through),
	cmocka_unit_test(ip6_goes_through_and_hairpins),
	cmocka_unit_test(bursts_are_as_long_as_they_shall_be_now),
	cmocka_unit_test(every_kind_of_next_hop_has_its_exit),
	cmocka_unit_test(a_group_sends_each_flow_to_its_leg),
	cmocka_unit_test(a_full_punt_ring_drops_and_counts),
	cmocka_unit_test(at_rest_every_buffer_is_posted),
	cmocka_unit_test(a_full_send_ring_drops_and_blocks_nobody),
	cmocka_unit_test(a_tagged_next_hop_tags),
	cmocka_unit_test(counters_are_published_under_load),
	cmocka_unit_test(lengths_of_bursts_are_counted),
	cmocka_unit_test(striding_queues_survive_laps),
	cmocka_unit_test(cyclic_queues_survive_laps),
	cmocka_unit_test(an_error_completion_stops_only_its_queue),
};

int main(void)
{
	int r;

	rcu_reader_start();
	r = cmocka_run_group_tests(tests, NULL, NULL);
	rcu_reader_stop();
	return r;
}
