/* datapath/test_dp_rx.c - frames from the wire through a receive queue
 *
 * The sender is a packet socket on the other port: the kernel, not lib/m5.
 */

#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../lib/base/time.h"
#include "../test.h"
#include "rig.h"

static int wire;
static struct m5_pkt pkts[8192];
static struct frame sent[8192];

static int set_up(void **state)
{
	(void)state;
	wire = wire_open("eth1");
	return 0;
}

/* Every test with each kind of queue and each way of compressing that the device has. */
#define KIND(name, is_cyclic, how, format) \
	static const struct rig_conf name = { .rx_packets = 512, \
					      .cyclic = (is_cyclic), \
					      .compression = M5_COMPRESSION_##how, \
					      .mini = M5_MINI_##format, \
					      .prefetch = 1 }
KIND(striding, false, OFF, AUTO);
KIND(striding_basic, false, BASIC, CSUM_STRIDE);
KIND(striding_basic_type, false, BASIC, TYPE_STRIDE);
KIND(striding_enhanced, false, ENHANCED, CSUM_STRIDE);
KIND(striding_enhanced_type, false, ENHANCED, TYPE_STRIDE);
KIND(cyclic, true, OFF, AUTO);
KIND(cyclic_basic, true, BASIC, HASH);
KIND(cyclic_basic_csum, true, BASIC, CSUM);
KIND(cyclic_enhanced, true, ENHANCED, HASH);
KIND(cyclic_enhanced_csum, true, ENHANCED, CSUM);

static const struct rig_conf *conf_of(void **state)
{
	return *state;
}

static uint64_t out_of_buffer(struct rig *r)
{
	uint64_t n = 0;

	rig_ok(m5_rxq_out_of_buffer(r->rxq[0], &n), NULL);
	return n;
}

/* Sends frames first .. first + n - 1 of random lengths, and keeps them. */
static void send_random(struct rig *r, uint32_t first, uint32_t n, uint32_t max)
{
	for (uint32_t i = first; i < first + n; i++) {
		frame_make(&sent[i], i % 2 ? 6 : 4, 70 + test_below(max - 70 + 1), i,
			   r->mac);
		wire_send(wire, &sent[i]);
	}
}

/* Receives what send_random() sent, in order, and compares each byte. */
static void receive_sent(struct rig *r, uint32_t first, uint32_t n)
{
	rig_receive_all(r->rx, pkts + first, n);
	for (uint32_t i = first; i < first + n; i++)
		frame_equal(&sent[i], pkts[i].data, pkts[i].len);
}

/* So many at once: a turn of program, kernel and model takes long on a machine that is busy. */
enum { BATCH = 40 };

static void every_length(void **state)
{
	struct rig r;
	uint32_t n;

	rig_open(&r, conf_of(state));
	for (uint32_t len = 70; len <= 1514; len += n) {
		n = 1514 - len + 1 < BATCH ? 1514 - len + 1 : BATCH;
		for (uint32_t i = 0; i < n; i++) {
			frame_make(&sent[i], i % 2 ? 6 : 4, len + i, len + i, r.mac);
			wire_send(wire, &sent[i]);
		}
		receive_sent(&r, 0, n);
		for (uint32_t i = 0; i < n; i++) {
			assert_int_equal(pkts[i].flags, M5_PKT_L3_OK | M5_PKT_L4_OK);
		}
		rig_put(r.rx, pkts, n);
	}
	assert_int_equal(r.rx->errors + r.rx->out_of_step, 0);
	rig_close(&r);
}

static void bursts_over_many_laps(void **state)
{
	struct rig r;

	rig_open(&r, conf_of(state));
	for (uint32_t lap = 0; lap < 60; lap++) {
		uint32_t n = 1 + test_below(100);

		send_random(&r, 0, n, 1514);
		receive_sent(&r, 0, n);
		rig_put(r.rx, pkts, n);
	}
	assert_int_equal(out_of_buffer(&r), 0);
	rig_close(&r);
}

/* The card compares the checksums; a wrong one is said, not dropped. */
static void wrong_checksums(void **state)
{
	struct rig r;
	struct frame f;
	struct m5_pkt pkt;

	rig_open(&r, conf_of(state));
	for (unsigned i = 0; i < 3; i++) {
		frame_make(&f, 4, 100, i, r.mac);
		if (i == 1)
			f.bytes[14 + 10] ^= 1; /* IPv4 header */
		if (i == 2)
			f.bytes[14 + 20 + 6] ^= 1; /* UDP */
		wire_send(wire, &f);
		rig_receive_all(r.rx, &pkt, 1);
		frame_equal(&f, pkt.data, pkt.len);
		assert_int_equal(!(pkt.flags & M5_PKT_L3_OK), i == 1);
		assert_int_equal(!(pkt.flags & M5_PKT_L4_OK), i == 2);
		rig_put(r.rx, &pkt, 1);
	}
	rig_close(&r);
}

/* Nothing is given back: what does not fit is counted by the card, and what was received stays
 * as it was. */
static void held_until_full(void **state)
{
	struct rig r;
	uint32_t n, room;

	rig_open(&r, conf_of(state));
	room = m5_rxq_packets(r.rxq[0]);
	send_random(&r, 0, room + 100, 1514);
	n = rig_receive(r.rx, pkts, room + 100, 300);
	assert_int_equal(n, room);
	assert_int_equal(out_of_buffer(&r), 100);
	for (uint32_t i = 0; i < n; i++)
		frame_equal(&sent[i], pkts[i].data, pkts[i].len);
	rig_put(r.rx, pkts, n);
	m5_rx_burst(r.rx, pkts, 1); /* gives the buffers back */
	send_random(&r, 0, 300, 1514);
	receive_sent(&r, 0, 300);
	rig_put(r.rx, pkts, 300);
	assert_int_equal(out_of_buffer(&r), 100);
	rig_close(&r);
}

/* One packet of the first chunk stays out: the ring stops there, and goes on when it is back. */
static void one_held_long(void **state)
{
	struct rig r;
	uint32_t room, n = 0, got;

	rig_open(&r, conf_of(state));
	room = m5_rxq_packets(r.rxq[0]);
	send_random(&r, 0, room + 50, 200);
	while ((got = rig_receive(r.rx, pkts + n, 16, 200))) {
		if (n == 0)
			rig_put(r.rx, pkts + 1, got - 1);
		else
			rig_put(r.rx, pkts + n, got);
		n += got;
	}
	assert_int_equal(n, room);
	frame_equal(&sent[0], pkts[0].data, pkts[0].len);
	rig_put(r.rx, pkts, 1);
	m5_rx_burst(r.rx, pkts, 1);
	send_random(&r, 0, room, 200);
	receive_sent(&r, 0, room);
	rig_put(r.rx, pkts, room);
	rig_close(&r);
}

/* Packets given back in any order. */
static void held_at_random(void **state)
{
	struct rig r;
	uint32_t out = 0, number = 0;

	rig_open(&r, conf_of(state));
	for (unsigned round = 0; round < 150; round++) {
		uint32_t n = 1 + test_below(20);

		if (out + n > m5_rxq_packets(r.rxq[0]) / 4)
			n = 0;
		for (uint32_t i = 0; i < n; i++, out++) {
			frame_make(&sent[out], 4, 70 + test_below(1445), number++, r.mac);
			wire_send(wire, &sent[out]);
		}
		receive_sent(&r, out - n, n);
		for (uint32_t k = test_below(out + 1); k; k--) {
			uint32_t i = test_below(out);

			frame_equal(&sent[i], pkts[i].data, pkts[i].len);
			rig_put(r.rx, &pkts[i], 1);
			pkts[i] = pkts[--out];
			sent[i] = sent[out];
		}
	}
	rig_put(r.rx, pkts, out);
	assert_int_equal(out_of_buffer(&r), 0);
	rig_close(&r);
}

/* A frame takes several strides, and what is left of a chunk is skipped when too small. */
static void jumbo(void **state)
{
	struct rig_conf conf = *conf_of(state);
	struct rig r;

	conf.mtu = 9000;
	rig_open(&r, &conf);
	assert_int_equal(r.rx->striding, !conf.cyclic);
	for (uint32_t lap = 0; lap < 40; lap++) {
		send_random(&r, 0, 40, 9014);
		receive_sent(&r, 0, 40);
		rig_put(r.rx, pkts, 40);
	}
	if (r.rx->striding)
		assert_true(r.rx->fillers > 10);
	assert_int_equal(r.rx->errors + r.rx->out_of_step + out_of_buffer(&r), 0);
	rig_close(&r);
}

/* The smallest rings the library makes. */
static void smallest(void **state)
{
	struct rig_conf conf = *conf_of(state);
	struct rig r;

	conf.rx_packets = 8;
	for (unsigned i = 0; i < 2; i++) {
		conf.mtu = i ? 9000 : 1500;
		rig_open(&r, &conf);
		assert_int_equal(r.rx->striding, !conf.cyclic);
		for (uint32_t n = 0; n < 100; n++) {
			send_random(&r, 0, 1, conf.mtu + 14u);
			receive_sent(&r, 0, 1);
			rig_put(r.rx, pkts, 1);
		}
		rig_close(&r);
	}
}

/* ---- sleeping ---- */

static bool readable(int fd, int ms)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	return poll(&p, 1, ms) == 1;
}

static void arm_and_wake(void **state)
{
	struct rig r;
	int fd;

	rig_open(&r, conf_of(state));
	fd = m5_rxq_event_fd(r.rxq[0]);
	for (uint32_t i = 0; i < 20; i++) { /* more events than their number has values */
		m5_rx_arm(r.rx);
		/* From 0 on, as in every program whose source is public. */
		assert_int_equal(from_be32(r.rx->cq.dbrec[PRM_CQ_DBREC_ARM]) >>
					 PRM_CQ_ARM_SN_SHIFT,
				 i & 3);
		assert_false(readable(fd, i ? 2 : 50));
		send_random(&r, i, 1, 100);
		assert_true(readable(fd, 2000));
		m5_rxq_event_clear(r.rxq[0]);
		assert_false(readable(fd, 0));
		receive_sent(&r, i, 1);
		rig_put(r.rx, pkts + i, 1);
		/* Not armed: nobody is told. */
		send_random(&r, i, 1, 100);
		receive_sent(&r, i, 1);
		rig_put(r.rx, pkts + i, 1);
		assert_false(readable(fd, i ? 1 : 20));
	}
	rig_close(&r);
}

/* A completion between the last look and the arming. */
static void arm_too_late(void **state)
{
	struct rig r;
	int fd;

	rig_open(&r, conf_of(state));
	fd = m5_rxq_event_fd(r.rxq[0]);
	for (uint32_t i = 0; i < 10; i++) {
		send_random(&r, i, 1, 100);
		while (!m5_cq_peek_as(&r.rx->cq, (enum m5_cq_layout)r.rx->layout))
			usleep(10);
		m5_rx_arm(r.rx);
		assert_true(readable(fd, 2000));
		m5_rxq_event_clear(r.rxq[0]);
		receive_sent(&r, i, 1);
		rig_put(r.rx, pkts + i, 1);
	}
	rig_close(&r);
}

/* Something else woke the worker; it arms again without having had an event. */
static void arm_again(void **state)
{
	struct rig r;
	int fd;

	rig_open(&r, conf_of(state));
	fd = m5_rxq_event_fd(r.rxq[0]);
	for (uint32_t i = 0; i < 20; i++) {
		for (uint32_t k = test_below(7); k; k--)
			m5_rx_arm(r.rx);
		m5_rx_arm(r.rx);
		send_random(&r, i, 1, 100);
		assert_true(readable(fd, 2000));
		m5_rxq_event_clear(r.rxq[0]);
		receive_sent(&r, i, 1);
		rig_put(r.rx, pkts + i, 1);
	}
	rig_close(&r);
}

/* What a queue has got when all @n packets are there. */
static void receive_over_queues(struct rig *r, uint32_t n, uint32_t got[RIG_QUEUES])
{
	uint64_t end = time_ns() + 10 * NS_PER_S;

	while (n && time_ns() < end)
		for (unsigned q = 0; q < RIG_QUEUES; q++) {
			struct m5_rx *rx = m5_rxq_hot(r->rxq[q]);
			uint32_t k = m5_rx_burst(rx, pkts, n ? n : 1);

			rig_put(rx, pkts, k);
			got[q] += k;
			n -= k;
		}
	assert_int_equal(n, 0);
}

/* All queues of a device may share one doorbell page. */
static void several_armed_at_once(void **state)
{
	struct rig_conf conf = *conf_of(state);
	bool woken[RIG_QUEUES] = { false };
	struct rig r;

	conf.n_rxq = RIG_QUEUES;
	rig_open(&r, &conf);
	for (unsigned round = 0; round < 50; round++) {
		uint32_t got[RIG_QUEUES] = { 0 };

		for (unsigned q = 0; q < RIG_QUEUES; q++)
			m5_rx_arm(m5_rxq_hot(r.rxq[q]));
		send_random(&r, 100 * round % 8000, 16, 100);
		receive_over_queues(&r, 16, got);
		for (unsigned q = 0; q < RIG_QUEUES; q++) {
			woken[q] |= got[q] != 0;
			assert_int_equal(readable(m5_rxq_event_fd(r.rxq[q]),
						  got[q] ? 2000 : 0),
					 got[q] != 0);
			m5_rxq_event_clear(r.rxq[q]);
		}
	}
	for (unsigned q = 0; q < RIG_QUEUES; q++)
		assert_true(woken[q]);
	rig_close(&r);
}

#define ROW(test, kind) \
	{ \
#test ", " #kind, test, NULL, NULL, (void *)(uintptr_t)&kind \
	}
#define BOTH(test) ROW(test, striding), ROW(test, cyclic)
#define EACH(test) \
	BOTH(test), ROW(test, striding_basic), ROW(test, striding_basic_type), \
		ROW(test, striding_enhanced), ROW(test, striding_enhanced_type), \
		ROW(test, cyclic_basic), ROW(test, cyclic_basic_csum), \
		ROW(test, cyclic_enhanced), ROW(test, cyclic_enhanced_csum)

int main(void)
{
	const struct CMUnitTest tests[] = {
		EACH(every_length),    EACH(bursts_over_many_laps),
		EACH(wrong_checksums), EACH(held_until_full),
		EACH(one_held_long),   EACH(held_at_random),
		EACH(jumbo),	       EACH(smallest),
		EACH(arm_and_wake),    EACH(arm_too_late),
		BOTH(arm_again),       EACH(several_armed_at_once),
	};

	return cmocka_run_group_tests(tests, set_up, NULL);
}
