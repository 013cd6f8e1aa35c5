/* datapath/test_dp_session.c - frames received by compressed completions, and by plain ones
 *
 *   a send queue of eth1, one doorbell a burst --- cable --- eth0: the queue under test
 *
 * Frames of a burst arrive in one pass of the card, so as many of them make a session as may. The
 * same tests run without compression, with each layout, on both kinds of queue: what comes out is
 * compared with what was sent, and so is the same for all of them.
 */

#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../lib/base/time.h"
#include "../test.h"
#include "rig.h"

enum { MOST = 1024 };

static struct frame sent[MOST];
static struct m5_pkt pkts[MOST];

#define KIND(name, ...) static const struct rig_conf name = { __VA_ARGS__ }
#define BASIC		.compression = M5_COMPRESSION_BASIC
#define ENHANCED	.compression = M5_COMPRESSION_ENHANCED
#define CYCLIC		.cyclic = true

/* Without compression; then each layout in the format that the library takes, and in those that
 * this kind of queue accepts besides. */
KIND(off, .compression = M5_COMPRESSION_OFF);
KIND(basic, BASIC);
KIND(enhanced, ENHANCED);
KIND(basic_type, BASIC, .mini = M5_MINI_TYPE_STRIDE);
KIND(enhanced_type, ENHANCED, .mini = M5_MINI_TYPE_STRIDE);
KIND(cyclic_off, CYCLIC, .compression = M5_COMPRESSION_OFF);
KIND(cyclic_basic, CYCLIC, BASIC);
KIND(cyclic_enhanced, CYCLIC, ENHANCED);
KIND(cyclic_basic_hash, CYCLIC, BASIC, .mini = M5_MINI_HASH);
KIND(cyclic_enhanced_hash, CYCLIC, ENHANCED, .mini = M5_MINI_HASH);

/* ---- both ends ---- */

struct ends {
	struct rig r;
	struct peer peer;
	bool compressed;
	uint32_t number;
};

/* What a test that failed has left open: the next one begins anew. */
static struct ends *opened;

static int close_what_is_left(void **state)
{
	(void)state;
	if (opened)
		rig_close(&opened->r);
	opened = NULL;
	ctl("fault eth0 clear");
	return 0;
}

static void ends_open(struct ends *e, const struct rig_conf *how, uint32_t packets,
		      uint16_t mtu)
{
	struct rig_conf conf = *how;

	memset(e, 0, sizeof(*e));
	conf.rx_packets = packets;
	conf.mtu = mtu;
	rig_open(&e->r, &conf);
	opened = e;
	peer_open(&e->peer, "eth1");
	e->compressed = how->compression != M5_COMPRESSION_OFF;
}

static void ends_close(struct ends *e)
{
	assert_int_equal(e->r.rx->errors + e->r.rx->out_of_step, 0);
	peer_close(&e->peer);
	rig_close(&e->r);
	opened = NULL;
}

static uint64_t minis(void)
{
	return ctl_number("stats eth0", "mini_cqes");
}

/* All of one kind, so that nothing ends a session but its length. */
static void make_alike(struct ends *e, uint32_t n, uint32_t longest)
{
	for (uint32_t i = 0; i < n; i++)
		frame_make(&sent[i], 4, 60 + test_below(longest - 59), e->number++,
			   e->r.mac);
}

static void same_packet(uint32_t i)
{
	frame_equal(&sent[i], pkts[i].data, pkts[i].len);
	/* What the card did not say is not said either. */
	assert_false(pkts[i].flags & ~(M5_PKT_L3_OK | M5_PKT_L4_OK));
}

/* Reads @n packets, by calls of at most @max (0: of any size), and compares them. */
static void receive(struct ends *e, uint32_t n, uint32_t max)
{
	uint64_t end = time_ns() + 3 * NS_PER_S;
	uint32_t have = 0;

	while (have < n && time_ns() < end) {
		uint32_t most = max ? max : 1 + test_below(64);

		if (most > n - have)
			most = n - have;
		have += m5_rx_burst(e->r.rx, pkts + have, most);
	}
	if (have != n) /* says what the ports have counted */
		rig_receive_all(e->r.rx, pkts + have, n - have);
	for (uint32_t i = 0; i < n; i++)
		same_packet(i);
	assert_int_equal(m5_rx_burst(e->r.rx, pkts + n, 1), 0);
}

static void receive_and_put(struct ends *e, uint32_t n, uint32_t max)
{
	receive(e, n, max);
	rig_put(e->r.rx, pkts, n);
	assert_int_equal(m5_rx_burst(e->r.rx, pkts, 1), 0); /* gives the buffers back */
}

/* ---- sessions ---- */

static void of_every_length(void **state)
{
	uint64_t before = minis();
	static struct ends e;

	ends_open(&e, *state, 512, 1500);
	for (uint32_t n = 1; n <= 130; n++) {
		make_alike(&e, n, 200);
		peer_send(&e.peer, sent, n);
		receive_and_put(&e, n, 0);
	}
	if (e.compressed)
		assert_true(minis() - before > 130 * 131 / 2 / 2);
	else
		assert_int_equal(minis(), before);
	ends_close(&e);
}

/* A session is left and taken up again after each of its packets. */
static void read_by_calls_of_every_size(void **state)
{
	static struct ends e;

	ends_open(&e, *state, 512, 1500);
	for (uint32_t max = 1; max <= 70; max++) {
		make_alike(&e, 140, 130);
		peer_send(&e.peer, sent, 140);
		receive_and_put(&e, 140, max);
	}
	ends_close(&e);
}

/* Two or more of them in the queue before anybody looks, and what stands between. */
static void several_wait(void **state)
{
	static struct ends e;

	ends_open(&e, *state, 1024, 1500);
	for (uint32_t round = 0; round < 60; round++) {
		uint32_t n = 0;

		while (n < 300) {
			uint32_t more = 1 + test_below(70);

			for (uint32_t i = n; i < n + more; i++)
				frame_make(&sent[i], more % 2 ? 4 : 6,
					   70 + test_below(500), e.number++, e.r.mac);
			peer_send(&e.peer, sent + n, more);
			n += more;
		}
		receive_and_put(&e, n, 0);
	}
	ends_close(&e);
}

/* ---- what ends a session ---- */

enum fault { GOOD, BAD_L3, BAD_L4, FAULTS };

static void spoil(struct frame *f, enum fault fault)
{
	uint32_t l4 = f->bytes[12] == 0x86 ? 54 : 34;

	if (fault == BAD_L3)
		f->bytes[24] ^= 1;
	if (fault == BAD_L4)
		f->bytes[l4 + 6] ^= 1;
	if (fault == BAD_L4 && !f->bytes[l4 + 6] && !f->bytes[l4 + 7])
		f->bytes[l4 + 7] =
			1; /* 0 says that there is none, which is good (RFC 768) */
}

/* A wrong checksum is never called good. A good one need not be called so where the title speaks
 * for many; without compression it is. */
static void flags_are_true(const struct ends *e, uint32_t i, enum fault fault, bool six)
{
	if (fault == BAD_L3)
		assert_false(pkts[i].flags & M5_PKT_L3_OK);
	if (fault == BAD_L4)
		assert_false(pkts[i].flags & M5_PKT_L4_OK);
	if (!e->compressed && (six || fault != BAD_L3))
		assert_true(pkts[i].flags & M5_PKT_L3_OK);
	if (!e->compressed && fault == GOOD)
		assert_true(pkts[i].flags & M5_PKT_L4_OK);
}

static void kinds_side_by_side(void **state)
{
	static enum fault fault[MOST];
	static bool six[MOST];
	static struct ends e;

	ends_open(&e, *state, 1024, 1500);
	for (uint32_t round = 0; round < 120; round++) {
		uint32_t n = 1 + test_below(200), rare = 1 + test_below(40);

		for (uint32_t i = 0; i < n; i++) {
			six[i] = test_below(rare) == 0;
			fault[i] = test_below(rare) ? GOOD : (int)test_below(FAULTS);
			if (six[i] && fault[i] == BAD_L3)
				fault[i] = GOOD;
			frame_make(&sent[i], six[i] ? 6 : 4, 70 + test_below(700),
				   e.number++, e.r.mac);
			spoil(&sent[i], fault[i]);
		}
		peer_send(&e.peer, sent, n);
		receive(&e, n, 0);
		for (uint32_t i = 0; i < n; i++)
			flags_are_true(&e, i, fault[i], six[i]);
		rig_put(e.r.rx, pkts, n);
	}
	ends_close(&e);
}

/* Frames of one stride and of several; what is left of a chunk is skipped by a filler. */
static void over_strides(void **state)
{
	static const uint32_t lens[] = { 60, 2047, 2048, 2049, 4095, 4096, 4097, 9014 };
	static struct ends e;

	ends_open(&e, *state, 512, 9000);
	for (uint32_t round = 0; round < 150; round++) {
		uint32_t n = 1 + test_below(60), kind = test_below(3);

		for (uint32_t i = 0; i < n; i++) {
			uint32_t len = kind == 0   ? lens[test_below(8)]
				       : kind == 1 ? 60 + test_below(8955)
						   : 60 + test_below(200);

			frame_make(&sent[i], 4, len, e.number++, e.r.mac);
		}
		peer_send(&e.peer, sent, n);
		receive_and_put(&e, n, 0);
	}
	if (e.r.rx->striding)
		assert_true(e.r.rx->fillers > 10);
	ends_close(&e);
}

/* ---- rings ---- */

/* The completion queue's index goes past 16 bits, and that of the receive queue if it is cyclic (a
 * striding one counts chunks: tests/unit). Bursts leave both rings at every place. */
static void many_laps(void **state)
{
	const struct rig_conf *how = *state;
	uint32_t wraps = 0, frames = 0;
	static struct ends e;
	uint16_t fill;

	ends_open(&e, how, 512, 1500);
	fill = e.r.rx->fill;
	while (frames < 70000) {
		uint32_t n = 200 + test_below(200);

		make_alike(&e, n, 150);
		peer_send(&e.peer, sent, n);
		receive_and_put(&e, n, 0);
		frames += n;
		wraps += e.r.rx->fill < fill;
		fill = e.r.rx->fill;
	}
	assert_true(!how->cyclic || wraps == 1);
	ends_close(&e);
}

/* A session is left in the middle, and the card writes over what was read of it: as many frames
 * more as were given back. */
static void written_over_while_half_read(void **state)
{
	const struct rig_conf *how = *state;
	static struct ends e;
	uint32_t first, more;

	ends_open(&e, how, 64, 1500);
	for (uint32_t round = 0; round < 300; round++) {
		make_alike(&e, 128, 150);
		peer_send(&e.peer, sent, 64);
		first = 1 + test_below(63);
		rig_receive_all(e.r.rx, pkts, first);
		for (uint32_t i = 0; i < first; i++)
			same_packet(i);
		rig_put(e.r.rx, pkts, first);
		m5_rx_refill(e.r.rx);
		more = how->cyclic ? first : 0; /* a chunk is not free before its end */
		peer_send(&e.peer, sent + 64, more);
		rig_receive_all(e.r.rx, pkts + first, 64 - first + more);
		for (uint32_t i = first; i < 64 + more; i++)
			same_packet(i);
		rig_put(e.r.rx, pkts + first, 64 - first + more);
		assert_int_equal(m5_rx_burst(e.r.rx, pkts, 1), 0);
	}
	ends_close(&e);
}

/* The card may be behind: it counts what it has no buffer for after we have read what it had one
 * for. Nothing is posted meanwhile. */
static void wait_lost(struct m5_rxq *q, uint64_t want)
{
	uint64_t lost = 0, end = time_ns() + 10 * NS_PER_S;

	do
		rig_ok(m5_rxq_out_of_buffer(q, &lost), NULL);
	while (lost < want && time_ns() < end);
	assert_int_equal(lost, want);
}

/* Nothing is given back: what does not fit is counted by the card. Then it goes on. */
static void full(void **state)
{
	static struct ends e;
	uint32_t room;

	ends_open(&e, *state, 256, 1500);
	for (unsigned round = 0; round < 5; round++) {
		room = m5_rxq_packets(e.r.rxq[0]);
		make_alike(&e, room + 100, 90);
		peer_send(&e.peer, sent, room + 100);
		receive(&e, room, 0);
		wait_lost(e.r.rxq[0], (round + 1) * 100);
		rig_put(e.r.rx, pkts, room);
		assert_int_equal(m5_rx_burst(e.r.rx, pkts, 1), 0);
	}
	ends_close(&e);
}

/* ---- errors ---- */

static void error_behind(struct ends *e, uint32_t before, unsigned syndrome)
{
	uint64_t queued = ctl_number("stats eth0", "rx_queued");
	uint32_t n = 0, got;

	make_alike(e, before ? before : 1, 150);
	if (before)
		peer_send(&e->peer, sent, before);
	ctl_wait("stats eth0", "rx_queued", queued + before);
	ctl("fault eth0 cqe type=rq num=%u syndrome=0x%x vendor=0x%x",
	    m5_rxq_num(e->r.rxq[0]), syndrome, 0x40 + before);
	while (!m5_rx_failed(e->r.rx)) {
		got = m5_rx_burst(e->r.rx, pkts + n, 64);
		n += got;
		assert_in_range(n, 0, before);
	}
	assert_int_equal(n, before);
	for (uint32_t i = 0; i < n; i++)
		same_packet(i);
	assert_int_equal(e->r.rx->syndrome, syndrome);
	assert_int_equal(e->r.rx->vendor_syndrome, 0x40 + before);
	assert_int_equal(m5_rx_burst(e->r.rx, pkts + n, 64), 0);
	rig_put(e->r.rx, pkts, n);
	rig_ok(m5_rxq_reset(e->r.rxq[0], &e->r.err), &e->r.err);
	assert_false(m5_rx_failed(e->r.rx));
	rig_ok(m5_rxq_start(e->r.rxq[0], &e->r.err), &e->r.err);
	e->r.rx->errors = 0;
}

/* In each position of a burst of 64, the first of the next one, and behind sessions of each
 * length. */
static void an_error_in_each_position(void **state)
{
	static const unsigned syndromes[] = { 0x01, 0x02, 0x04, 0x11, 0x22 };
	static struct ends e;

	ends_open(&e, *state, 256, 1500);
	for (uint32_t k = 0; k <= 66; k++) {
		error_behind(&e, k, syndromes[k % 5]);
		make_alike(&e, 100, 1514);
		peer_send(&e.peer, sent, 100);
		receive_and_put(&e, 100, 0);
	}
	ends_close(&e);
}

/* A queue that is reset forgets the session that it was reading. */
static void a_reset_within_a_session(void **state)
{
	static struct ends e;

	ends_open(&e, *state, 256, 1500);
	for (uint32_t k = 1; k <= 66; k++) {
		uint64_t before = ctl_number("stats eth0", "rx_queued");

		make_alike(&e, 66, 150);
		peer_send(&e.peer, sent, 66);
		ctl_wait("stats eth0", "rx_queued", before + 66); /* or they come later */
		rig_receive_all(e.r.rx, pkts, k);
		rig_put(e.r.rx, pkts, k);
		rig_ok(m5_rxq_reset(e.r.rxq[0], &e.r.err), &e.r.err);
		rig_ok(m5_rxq_start(e.r.rxq[0], &e.r.err), &e.r.err);
		assert_int_equal(m5_rx_burst(e.r.rx, pkts, 64), 0);
		make_alike(&e, 100, 150);
		peer_send(&e.peer, sent, 100);
		receive_and_put(&e, 100, 0);
	}
	ends_close(&e);
}

/* ---- sleeping ---- */

static bool readable(int fd, int ms)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	return poll(&p, 1, ms) == 1;
}

/* Armed in the middle of a session, before one, and when all is read. */
static void wakes_a_sleeper(void **state)
{
	static struct ends e;
	int fd;

	ends_open(&e, *state, 256, 1500);
	fd = m5_rxq_event_fd(e.r.rxq[0]);
	for (uint32_t k = 0; k <= 40; k++) {
		make_alike(&e, 40, 150);
		peer_send(&e.peer, sent, 40);
		rig_receive_all(e.r.rx, pkts, k);
		m5_rx_arm(e.r.rx);
		if (k < 40) {
			/* Those of a session that was begun are ours to remember. */
			if (!e.compressed)
				assert_true(readable(fd, 2000));
			rig_receive_all(e.r.rx, pkts + k, 40 - k);
			if (readable(fd, 0))
				m5_rxq_event_clear(e.r.rxq[0]);
			m5_rx_arm(e.r.rx);
		}
		for (uint32_t i = 0; i < 40; i++)
			same_packet(i);
		rig_put(e.r.rx, pkts, 40);
		make_alike(&e, 3, 150);
		peer_send(&e.peer, sent, 3);
		assert_true(readable(fd, 2000));
		m5_rxq_event_clear(e.r.rxq[0]);
		receive_and_put(&e, 3, 0);
	}
	ends_close(&e);
}

#define ONE(kind, test) \
	{ \
#test ", " #kind, test, NULL, close_what_is_left, \
			(void *)(uintptr_t)&kind \
	}
#define EACH(test) \
	ONE(off, test), ONE(basic, test), ONE(enhanced, test), ONE(basic_type, test), \
		ONE(enhanced_type, test), ONE(cyclic_off, test), \
		ONE(cyclic_basic, test), ONE(cyclic_enhanced, test), \
		ONE(cyclic_basic_hash, test), ONE(cyclic_enhanced_hash, test)

int main(void)
{
	const struct CMUnitTest tests[] = {
		EACH(of_every_length),
		EACH(read_by_calls_of_every_size),
		EACH(several_wait),
		EACH(kinds_side_by_side),
		EACH(over_strides),
		EACH(many_laps),
		EACH(written_over_while_half_read),
		EACH(full),
		EACH(an_error_in_each_position),
		EACH(a_reset_within_a_session),
		EACH(wakes_a_sleeper),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
