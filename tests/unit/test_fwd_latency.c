/* unit/test_fwd_latency.c - bursts that are timed, on two fake ports with clocks we set
 *
 *   rx 0 --> worker --> tx 0 or tx 1, by the first octet of the destination: 10, 11
 */

#include "../test.h"

#include <string.h>

#include "../../lib/base/rcu.h"
#include "../../lib/fwd/worker_inside.h"
#include "../../lib/m5/clock.h"
#include "../../lib/pkt/csum.h"
#include "fake_nic.h"

/* In the place of fwd/idle.c. */
void fwd_idle(struct fwd_worker *w)
{
	atomic_store(&w->stop, true);
}

static const struct fib_nh nh[] = {
	{ .macs = { 2, 0, 0, 0, 0, 9 }, .kind = FIB_NH_FORWARD, .port = 0, .mtu = 1500 },
	{ .macs = { 2, 0, 0, 0, 0, 9 }, .kind = FIB_NH_FORWARD, .port = 1, .mtu = 1500 },
};

static void lookup4(const void *t, const uint32_t *addr, uint32_t *out, uint32_t n)
{
	(void)t;
	for (uint32_t i = 0; i < n; i++)
		out[i] = addr[i] >> 24 & 1;
}

static struct fib_tables tables = { .nh = nh, .lookup4 = lookup4 };
static struct fib_tables *live = &tables;

struct rig {
	struct fwd_worker *w;
	struct fake_rx rx;
	struct fake_tx tx[2];
};

static const uint8_t mac[6] = { 2, 0, 0, 0, 0, 1 };

static void open_rig(struct rig *r, uint32_t one_in,
		     const struct m5_clock *const clock[2])
{
	struct fwd_conf conf = { .cpu = -1,
				 .live = &live,
				 .latency_sample = one_in,
				 .punt_ring = 8,
				 .punt_bytes = 1600 };

	memset(r, 0, sizeof(*r));
	assert_int_equal(fwd_worker_new(&conf, &r->w), 0);
	fake_rx_open(&r->rx, 4, 4, 7);
	for (unsigned p = 0; p < 2; p++) {
		struct fwd_port port = { .tx = &r->tx[p].tx,
					 .rx_event_fd = -1,
					 .up = true,
					 .clock = clock[p] };

		fake_tx_open(&r->tx[p], 6, p);
		if (p == 0)
			port.rx = &r->rx.rx;
		memcpy(port.mac, mac, sizeof(mac));
		fwd_worker_set_port(r->w, p, &port);
	}
}

static void close_rig(struct rig *r)
{
	fwd_worker_free(r->w);
	fake_rx_close(&r->rx);
	fake_tx_close(&r->tx[0]);
	fake_tx_close(&r->tx[1]);
}

static void ignore(void *arg, const uint8_t *frame, uint32_t len)
{
	(void)arg;
	(void)frame;
	(void)len;
}

static void run_loop(struct rig *r)
{
	atomic_store(&r->w->stop, false);
	r->w->code->loop(r->w);
}

static void receive(struct rig *r, uint8_t first_octet, uint64_t stamp)
{
	static const uint8_t head[] = { 2,    0x99, 0x99, 0x99, 0x99, 0x99, 8, 0,
					0x45, 0,    0,	  46,	0,    0,    0, 0,
					64,   17,   0,	  0,	192,  0,    2, 1 };
	uint8_t f[60] = { 0 };
	be16_t sum;

	memcpy(f, mac, 6);
	memcpy(f + 6, head, sizeof(head));
	f[30] = first_octet;
	sum = csum_of(f + 14, 20);
	memcpy(f + 24, &sum, 2);
	/* Its completion is read in the next turn. */
	assert_true(fake_rx_frame(&r->rx, f, sizeof(f), true));
	r->rx.rx.cq.entry[(r->rx.pi - 1) & r->rx.rx.cq.mask].timestamp = to_be64(stamp);
}

/* The completions of all that was sent say this time. */
static void send_at(struct rig *r, uint64_t stamp)
{
	for (unsigned p = 0; p < 2; p++) {
		r->tx[p].clock = stamp - 1; /* counts completions */
		fake_tx_run(&r->tx[p], ignore, NULL);
	}
	run_loop(r);
}

static void pass(struct rig *r, uint8_t first_octet, uint64_t from, uint64_t to)
{
	receive(r, first_octet, from);
	run_loop(r);
	send_at(r, to);
}

static struct m5_clock ticking, another, telling; /* main() */
static const struct m5_clock *const mhz100[2] = { &ticking, &ticking },
				    *const real_time[2] = { &telling, &telling },
				    *const different[2] = { &ticking, &another },
				    *const unknown[2] = { NULL, NULL };

static void ticks_become_nanoseconds(void **state)
{
	const struct histogram *h;
	struct rig r;

	(void)state;
	open_rig(&r, 1, mhz100);
	h = fwd_worker_latency(r.w, 0);
	pass(&r, 10, 5000, 5000 + 150); /* 1.5 us */
	assert_int_equal(histogram_count(h), 1);
	assert_int_equal(h->bucket[1], 1);
	assert_int_equal(h->sum_ns, 1500);
	pass(&r, 11, UINT64_MAX - 10, 2000); /* the counter began anew */
	assert_int_equal(histogram_count(h), 2);
	assert_int_equal(h->sum_ns, 1500 + 20110);
	assert_int_equal(h->max_ns, 20110);
	assert_int_equal(histogram_count(fwd_worker_latency(r.w, 1)), 0);
	pass(&r, 10, 9000, 8000); /* the clock was set back */
	assert_int_equal(histogram_count(h), 2);
	close_rig(&r);
}

static void real_time_crosses_a_second(void **state)
{
	struct rig r;

	(void)state;
	open_rig(&r, 1, real_time);
	pass(&r, 11, UINT64_C(7) << 32 | 999999000, UINT64_C(8) << 32 | 2000);
	assert_int_equal(fwd_worker_latency(r.w, 0)->sum_ns, 3000);
	close_rig(&r);
}

static void other_clocks_are_not_compared(void **state)
{
	struct rig r;

	(void)state;
	open_rig(&r, 1, different);
	pass(&r, 11, 5000, 6000);
	assert_int_equal(histogram_count(fwd_worker_latency(r.w, 0)), 0);
	pass(&r, 10, 5000, 6000); /* out by the port where it came in */
	assert_int_equal(histogram_count(fwd_worker_latency(r.w, 0)), 1);
	close_rig(&r);
	open_rig(&r, 1, unknown);
	pass(&r, 10, 5000, 6000);
	assert_int_equal(histogram_count(fwd_worker_latency(r.w, 0)), 0);
	close_rig(&r);
}

/* Nobody knows then what its stamp was of. */
static void a_port_is_lost_meanwhile(void **state)
{
	struct fwd_port lost = { .rx_event_fd = -1 };
	struct rig r;

	(void)state;
	open_rig(&r, 1, mhz100);
	receive(&r, 11, 5000);
	run_loop(&r);
	fwd_worker_set_port(r.w, 0, &lost);
	send_at(&r, 6000);
	assert_int_equal(histogram_count(fwd_worker_latency(r.w, 0)), 0);
	close_rig(&r);
}

static uint64_t samples(uint32_t one_in, unsigned bursts, bool both_ways)
{
	struct rig r;
	uint64_t n;

	open_rig(&r, one_in, mhz100);
	for (unsigned i = 0; i < bursts; i++) {
		receive(&r, 10, 1000);
		if (both_ways && i % 2)
			receive(&r, 11, 1000);
		run_loop(&r);
		send_at(&r, 2000);
	}
	n = histogram_count(fwd_worker_latency(r.w, 0));
	assert_int_equal(fwd_worker_latency(r.w, 0)->sum_ns, n * 10000);
	close_rig(&r);
	return n;
}

static void one_burst_in_so_many_is_timed(void **state)
{
	(void)state;
	assert_int_equal(samples(0, 100, false), 0);
	assert_int_equal(samples(1, 100, false), 100);
	assert_int_equal(samples(10, 100, false), 10);
	/* Each second burst leaves by two ports: the next one is taken. */
	assert_int_equal(samples(1, 100, true), 50);
	assert_in_range(samples(10, 100, true), 8, 10);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(ticks_become_nanoseconds),
	cmocka_unit_test(real_time_crosses_a_second),
	cmocka_unit_test(other_clocks_are_not_compared),
	cmocka_unit_test(a_port_is_lost_meanwhile),
	cmocka_unit_test(one_burst_in_so_many_is_timed),
};

int main(void)
{
	int r;

	m5_clock_init(&ticking, PRM_TS_FREE_RUNNING, 100000, 64);
	another = ticking;
	m5_clock_init(&telling, PRM_TS_REAL_TIME, 0, 64);
	rcu_reader_start();
	r = cmocka_run_group_tests(tests, NULL, NULL);
	rcu_reader_stop();
	return r;
}
