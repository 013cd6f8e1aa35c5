/* datapath/test_dp_clock.c - when packets came and left, over wraps of the card's clock
 *
 * The card's clock has 41 bits of nanoseconds. The model sets it ahead, by minutes or hours that
 * are said to have passed on the host too; so wraps come at once.
 */

#include <stdlib.h>
#include <string.h>

#include "../../lib/base/time.h"
#include "../../lib/m5/clock.h"
#include "../test.h"
#include "rig.h"

enum { MOST = 256 };

static struct frame sent[MOST];
static struct m5_pkt pkts[MOST];

static const struct rig_conf off = { .compression = M5_COMPRESSION_OFF };
static const struct rig_conf basic = { .compression = M5_COMPRESSION_BASIC };
static const struct rig_conf enhanced = { .compression = M5_COMPRESSION_ENHANCED };
static const struct rig_conf cyclic = { .compression = M5_COMPRESSION_BASIC,
					.cyclic = true };

struct ends {
	struct rig r;
	struct peer peer;
	struct m5_clock clock;
	uint64_t ahead; /* of the host's clock, as the test has it */
	unsigned family;
};

static void ends_open(struct ends *e, const struct rig_conf *how)
{
	const struct m5_caps *caps;

	memset(e, 0, sizeof(*e));
	e->family = 4;
	rig_open(&e->r, how);
	peer_open(&e->peer, "eth1");
	caps = m5_dev_caps(e->r.dev);
	assert_int_equal(caps->rq_ts_format, caps->sq_ts_format);
	m5_clock_open(&e->clock, e->r.dev, caps->rq_ts_format);
}

static void ends_close(struct ends *e)
{
	peer_close(&e->peer);
	rig_close(&e->r);
}

static uint64_t host_ns(const struct ends *e)
{
	return time_ns() + e->ahead;
}

static void pass_time(struct ends *e, uint64_t ns)
{
	ctl("clock eth0 %llu", (unsigned long long)ns);
	e->ahead += ns;
}

/* Sends @n, receives them, and tells when the first came: of another family than those before, it
 * is in no session of theirs, and has a time of its own. */
static struct m5_rx_stamp receive(struct ends *e, uint32_t n)
{
	uint64_t end = time_ns() + 3 * NS_PER_S;
	struct m5_rx_stamp s, first = { 0 };
	uint32_t have = 0, got;

	e->family = 10 - e->family;
	for (uint32_t i = 0; i < n; i++)
		frame_make(&sent[i], e->family, 70 + i, i, e->r.mac);
	peer_send(&e->peer, sent, n);
	while (have < n && time_ns() < end) {
		got = m5_rx_burst_stamped(e->r.rx, pkts + have, n - have, &s);
		assert_in_range(s.at, 0, got);
		if (!have && got) {
			assert_int_equal(s.at, 0);
			first = s;
		}
		have += got;
	}
	assert_int_equal(have, n);
	for (uint32_t i = 0; i < n; i++)
		frame_equal(&sent[i], pkts[i].data, pkts[i].len);
	return first;
}

/* Minutes and hours, of which several make a wrap and one is several. */
static uint64_t some_time(void)
{
	static const uint64_t most[] = { 1000, NS_PER_S, 1000 * NS_PER_S,
					 20000 * NS_PER_S };

	return test_rand() % most[test_below(4)];
}

/* As much later as the host says, less what receiving takes. */
static void no_wrap_is_lost(void **state)
{
	uint64_t before = 0, from = 0, to = 0;
	static struct ends e;

	ends_open(&e, *state);
	for (uint32_t round = 0; round < 150; round++) {
		uint32_t n = 1 + test_below(100);
		uint64_t start = host_ns(&e);
		struct m5_rx_stamp s = receive(&e, n);
		uint64_t now = host_ns(&e), is = m5_clock_ns(&e.clock, s.raw, now);

		if (round)
			assert_in_range(is - before, start - to, now - from);
		before = is;
		from = start;
		to = now;
		rig_put(e.r.rx, pkts, n);
		pass_time(&e, some_time());
	}
	assert_true(e.ahead >> 41 > 10); /* wraps */
	ends_close(&e);
}

static uint64_t sampled(struct ends *e, uint64_t cookie)
{
	uint64_t end = time_ns() + 3 * NS_PER_S, is = 0, stamp = 0;

	while (!m5_tx_sampled(e->r.tx, &is, &stamp) && time_ns() < end)
		m5_tx_reap(e->r.tx);
	assert_int_equal(is, cookie);
	return stamp;
}

/* From a packet's coming to its leaving, as latency is measured; one wrap may be between. */
static void how_long_it_stayed(void **state)
{
	static struct ends e;
	uint32_t wraps = 0;

	ends_open(&e, *state);
	for (uint32_t round = 0; round < 150; round++) {
		uint64_t start = host_ns(&e), cookie, stamp;
		uint64_t stay = some_time() % (1000 * NS_PER_S); /* under half a wrap */
		struct m5_rx_stamp s = receive(&e, 10);

		cookie = s.raw;
		pass_time(&e, stay);
		assert_int_equal(m5_tx_burst(e.r.tx, e.r.rx, pkts, 10, false), 10);
		assert_true(m5_tx_sample(e.r.tx, cookie));
		assert_false(m5_tx_sample(e.r.tx, 0));
		m5_tx_ring(e.r.tx);
		stamp = sampled(&e, cookie);
		wraps += stamp < cookie;
		assert_in_range(m5_clock_between_ns(&e.clock, cookie, stamp), stay,
				host_ns(&e) - start);
		assert_in_range(-m5_clock_between_ns(&e.clock, stamp, cookie), stay,
				host_ns(&e) - start);
		rig_sent(e.r.tx);
	}
	assert_true(wraps > 0);
	ends_close(&e);
}

#define ONE(kind, test) \
	{ \
#test ", " #kind, test, NULL, NULL, (void *)(uintptr_t)&kind \
	}
#define EACH(test) \
	ONE(off, test), ONE(basic, test), ONE(enhanced, test), ONE(cyclic, test)

int main(void)
{
	const struct CMUnitTest tests[] = {
		EACH(no_wrap_is_lost),
		EACH(how_long_it_stayed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
