/* datapath/test_dp_error.c - queues that fail, and go on after a reset; events of the port */

#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../test.h"
#include "rig.h"

static int wire;
static struct m5_pkt pkts[1024];
static struct frame sent[1024];

static int set_up(void **state)
{
	(void)state;
	wire = wire_open("eth1");
	return 0;
}

static const struct rig_conf striding = { .rx_packets = 256 };
static const struct rig_conf cyclic = { .rx_packets = 256, .cyclic = true };

static void send_frames(struct rig *r, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		frame_make(&sent[i], 4, 60 + test_below(1455), i, r->mac);
		wire_send(wire, &sent[i]);
	}
}

/* Until the card has them, whether somebody looks or not. */
static void send_and_wait(struct rig *r, uint32_t n)
{
	uint64_t before = ctl_number("stats eth0", "rx_queued");

	send_frames(r, n);
	ctl_wait("stats eth0", "rx_queued", before + n);
}

/* In order and unchanged, several laps of the ring. */
static void receives(struct rig *r)
{
	for (unsigned lap = 0; lap < 15; lap++) {
		send_frames(r, 50);
		rig_receive_all(r->rx, pkts, 50);
		for (uint32_t i = 0; i < 50; i++)
			frame_equal(&sent[i], pkts[i].data, pkts[i].len);
		rig_put(r->rx, pkts, 50);
	}
}

/* Until the queue says that it failed; what is received by then is given back. */
static void wait_failed(struct m5_rx *rx)
{
	for (unsigned i = 0; i < 20000 && !m5_rx_failed(rx); i++) {
		rig_put(rx, pkts, m5_rx_burst(rx, pkts, 32));
		usleep(100);
	}
	assert_true(m5_rx_failed(rx));
}

static void reset_rx(struct rig *r)
{
	rig_ok(m5_rxq_reset(r->rxq[0], &r->err), &r->err);
	assert_false(m5_rx_failed(r->rx));
	rig_ok(m5_rxq_start(r->rxq[0], &r->err), &r->err);
}

/* ---- receive ---- */

static void receive_error(void **state)
{
	static const unsigned syndromes[] = { 0x01, 0x02, 0x04, 0x10, 0x11, 0x22 };
	struct rig r;

	rig_open(&r, *state);
	for (size_t i = 0; i < sizeof(syndromes) / sizeof(syndromes[0]); i++) {
		receives(&r);
		ctl("fault eth0 cqe type=rq num=%u syndrome=0x%x vendor=0x%x",
		    m5_rxq_num(r.rxq[0]), syndromes[i], 0x50 + (unsigned)i);
		wait_failed(r.rx);
		assert_int_equal(r.rx->syndrome, syndromes[i]);
		assert_int_equal(r.rx->vendor_syndrome, 0x50 + i);
		/* It takes nothing now, and says so again and again. */
		send_frames(&r, 10);
		assert_int_equal(rig_receive(r.rx, pkts, 10, 50), 0);
		assert_true(m5_rx_failed(r.rx));
		reset_rx(&r);
	}
	receives(&r);
	rig_close(&r);
}

/* Packets that came before the error are received first. */
static void receive_error_behind_packets(void **state)
{
	struct rig r;
	uint32_t n;

	rig_open(&r, *state);
	send_and_wait(&r, 20);
	ctl("fault eth0 cqe type=rq num=%u syndrome=0x04", m5_rxq_num(r.rxq[0]));
	n = rig_receive(r.rx, pkts, 30, 200);
	assert_int_equal(n, 20);
	for (uint32_t i = 0; i < n; i++)
		frame_equal(&sent[i], pkts[i].data, pkts[i].len);
	rig_put(r.rx, pkts, n);
	wait_failed(r.rx);
	reset_rx(&r);
	receives(&r);
	rig_close(&r);
}

/* The queue is healthy: a reset empties it and it goes on. What nobody read is lost. */
static void reset_when_ready(void **state)
{
	struct rig r;

	rig_open(&r, *state);
	for (unsigned i = 0; i < 3; i++) {
		receives(&r);
		send_and_wait(&r, 7);
		reset_rx(&r);
		assert_int_equal(rig_receive(r.rx, pkts, 1, 50), 0);
	}
	receives(&r);
	rig_ok(m5_rxq_start(r.rxq[0], &r.err), &r.err); /* started already */
	receives(&r);
	rig_close(&r);
}

/* A frame longer than the port's MTU was when the queue was made: no room, an error of the card's
 * own. A striding queue has room for it. */
static void too_long(void **state)
{
	struct rig r;
	struct frame f;

	rig_open(&r, *state);
	receives(&r);
	frame_make(&f, 4, 9014, 1, r.mac);
	wire_send(wire, &f);
	if (r.rx->striding) {
		rig_receive_all(r.rx, pkts, 1);
		frame_equal(&f, pkts[0].data, pkts[0].len);
		rig_put(r.rx, pkts, 1);
	} else {
		wait_failed(r.rx);
		assert_int_equal(r.rx->syndrome, 0x01);
		reset_rx(&r);
	}
	receives(&r);
	rig_close(&r);
}

/* A completion that contradicts what we counted: the queue is in READY for the card. */
static void out_of_step(void **state)
{
	struct rig r;

	rig_open(&r, *state);
	receives(&r);
	if (r.rx->striding) /* as if one had been lost */
		r.rx->stride++;
	else
		r.rx->fill++;
	send_frames(&r, 1);
	wait_failed(r.rx);
	assert_int_equal(r.rx->out_of_step, 1);
	assert_int_equal(r.rx->errors, 0);
	reset_rx(&r);
	receives(&r);
	rig_close(&r);
}

/* One queue fails, the other goes on. */
static void others_go_on(void **state)
{
	struct rig_conf conf = *(const struct rig_conf *)*state;
	uint32_t of_queue[2] = { 0 };
	struct rig r;

	conf.n_rxq = 2;
	rig_open(&r, &conf);
	ctl("fault eth0 cqe type=rq num=%u syndrome=0x02", m5_rxq_num(r.rxq[0]));
	wait_failed(m5_rxq_hot(r.rxq[0]));
	send_frames(&r, 100);
	for (unsigned q = 0; q < 2; q++) {
		of_queue[q] = rig_receive(m5_rxq_hot(r.rxq[q]), pkts, 100, 200);
		rig_put(m5_rxq_hot(r.rxq[q]), pkts, of_queue[q]);
	}
	assert_int_equal(of_queue[0], 0);
	assert_in_range(of_queue[1], 1, 99);
	reset_rx(&r);
	send_frames(&r, 100);
	of_queue[0] = rig_receive(m5_rxq_hot(r.rxq[0]), pkts, 100, 200);
	assert_int_equal(of_queue[0] + of_queue[1], 100);
	rig_put(r.rx, pkts, of_queue[0]);
	rig_close(&r);
}

/* ---- send ---- */

struct sender {
	struct rig r;
	struct source s;
	uint8_t dmac[6];
};

static void sender_open_as(struct sender *s, const struct m5_txq_conf *tx)
{
	struct rig_conf conf = striding;

	conf.tx = *tx;
	rig_open(&s->r, &conf);
	source_open(&s->s, 256 * 2048, &s->r.dev, 1);
	netdev_mac("eth1", s->dmac);
}

static void sender_open(struct sender *s)
{
	sender_open_as(s, &(struct m5_txq_conf){ .send = M5_SEND_POINTER });
}

static void sender_close(struct sender *s)
{
	assert_int_equal(s->s.out, 0);
	source_close(&s->s);
	rig_close(&s->r);
}

static void sends(struct sender *s)
{
	struct frame got;

	for (unsigned lap = 0; lap < 8; lap++) {
		for (uint32_t i = 0; i < 60; i++) {
			frame_make(&sent[i], 4, 60 + test_below(1400), i, s->dmac);
			assert_true(
				source_queue(&s->s, s->r.tx, (size_t)i * 2048, &sent[i]));
			if (test_below(8) == 0)
				m5_tx_ring(s->r.tx);
		}
		m5_tx_ring(s->r.tx);
		for (uint32_t i = 0; i < 60; i++) {
			assert_true(wire_receive(wire, &got, 2000));
			frame_equal(&sent[i], got.bytes, got.len);
		}
		rig_sent(s->r.tx);
	}
}

static void wait_tx_failed(struct m5_tx *tx)
{
	for (unsigned i = 0; i < 20000 && !m5_tx_failed(tx); i++) {
		m5_tx_reap(tx);
		usleep(100);
	}
	assert_true(m5_tx_failed(tx));
}

static void reset_tx(struct sender *s)
{
	rig_ok(m5_txq_reset(s->r.txq, &s->r.err), &s->r.err);
	assert_false(m5_tx_failed(s->r.tx));
	assert_true(m5_tx_idle(s->r.tx));
	assert_int_equal(s->s.out, 0);
	rig_ok(m5_txq_start(s->r.txq, &s->r.err), &s->r.err);
}

static void send_error(void **state)
{
	static const unsigned syndromes[] = { 0x01, 0x02, 0x04, 0x22 };
	struct sender s;

	(void)state;
	sender_open(&s);
	for (size_t i = 0; i < sizeof(syndromes) / sizeof(syndromes[0]); i++) {
		sends(&s);
		ctl("fault eth0 cqe type=sq num=%u syndrome=0x%x vendor=0x%x",
		    m5_txq_num(s.r.txq, 0), syndromes[i], 0x60 + (unsigned)i);
		wait_tx_failed(s.r.tx);
		assert_int_equal(s.r.tx->syndrome, syndromes[i]);
		assert_int_equal(s.r.tx->vendor_syndrome, 0x60 + i);
		assert_false(source_queue(&s.s, s.r.tx, 0, &sent[0]));
		reset_tx(&s);
	}
	sends(&s);
	sender_close(&s);
}

/* Packets are under way, waiting for the doorbell, and half a WQE is open. */
static void send_error_with_packets_held(void **state)
{
	struct sender s;

	(void)state;
	sender_open(&s);
	frame_make(&sent[0], 4, 200, 0, s.dmac);
	ctl("fault eth0 delay us=10000000");
	for (uint32_t i = 0; i < 150; i++) {
		assert_true(source_queue(&s.s, s.r.tx, (size_t)i * 2048, &sent[0]));
		if (i == 99)
			m5_tx_ring(s.r.tx);
	}
	assert_int_equal(s.s.out, 150);
	ctl("fault eth0 cqe type=sq num=%u syndrome=0x02", m5_txq_num(s.r.txq, 0));
	ctl("fault eth0 delay us=0");
	wait_tx_failed(s.r.tx);
	reset_tx(&s);
	while (wire_receive(wire, &(struct frame){ 0 }, 100))
		;
	sends(&s);
	sender_close(&s);
}

/* One of several rings: all of the queue stop, are reset and go on. */
static void error_of_a_ring(void **state)
{
	struct m5_txq_conf conf = { .send = M5_SEND_COPIED, .rings = 4 };
	struct frame got;
	struct sender s;

	(void)state;
	sender_open_as(&s, &conf);
	for (unsigned ring = 0; ring < 4; ring++) {
		for (unsigned lap = 0; lap < 8; lap++) {
			for (uint32_t i = 0; i < 5; i++) {
				frame_make(&sent[i], 4, 60 + test_below(1400), i, s.dmac);
				assert_true(source_queue(&s.s, s.r.tx, (size_t)i * 2048,
							 &sent[i]));
			}
			m5_tx_ring(s.r.tx);
			for (uint32_t i = 0; i < 5; i++) {
				assert_true(wire_receive(wire, &got, 2000));
				frame_equal(&sent[i], got.bytes, got.len);
			}
			rig_sent(s.r.tx);
		}
		ctl("fault eth0 cqe type=sq num=%u syndrome=0x04",
		    m5_txq_num(s.r.txq, ring));
		wait_tx_failed(s.r.tx);
		assert_int_equal(s.r.tx->syndrome, 0x04);
		reset_tx(&s);
	}
	sender_close(&s);
}

/* Real mistakes, seen by the card. */
static void send_bad_key(void **state)
{
	struct sender s;
	be32_t good;

	(void)state;
	sender_open(&s);
	good = s.s.rx.lkey[0];
	frame_make(&sent[0], 4, 200, 0, s.dmac);
	for (unsigned i = 0; i < 3; i++) {
		sends(&s);
		s.s.rx.lkey[0] = to_be32(from_be32(good) ^ 0x5500);
		assert_true(source_queue(&s.s, s.r.tx, 0, &sent[0]));
		m5_tx_ring(s.r.tx);
		wait_tx_failed(s.r.tx);
		assert_int_equal(s.r.tx->syndrome, 0x04);
		s.s.rx.lkey[0] = good;
		reset_tx(&s);
	}
	sends(&s);
	sender_close(&s);
}

/* What a lost device held is given back without it. */
static void abandoned(void **state)
{
	struct sender s;

	(void)state;
	sender_open(&s);
	frame_make(&sent[0], 4, 200, 0, s.dmac);
	ctl("fault eth0 delay us=10000000");
	for (uint32_t i = 0; i < 100; i++) {
		assert_true(source_queue(&s.s, s.r.tx, (size_t)i * 2048, &sent[0]));
		if (i == 70)
			m5_tx_ring(s.r.tx);
	}
	assert_int_equal(s.s.out, 100);
	m5_txq_abandon(s.r.txq);
	assert_int_equal(s.s.out, 0);
	assert_false(source_queue(&s.s, s.r.tx, 0, &sent[0]));
	m5_txq_abandon(s.r.txq);
	ctl("fault eth0 delay us=0");
	/* This one is not lost. */
	reset_tx(&s);
	while (wire_receive(wire, &(struct frame){ 0 }, 100))
		;
	sends(&s);
	sender_close(&s);
}

static void reset_tx_when_ready(void **state)
{
	struct sender s;

	(void)state;
	sender_open(&s);
	for (unsigned i = 0; i < 3; i++) {
		sends(&s);
		frame_make(&sent[0], 4, 200, 0, s.dmac);
		assert_true(source_queue(&s.s, s.r.tx, 0, &sent[0]));
		reset_tx(&s);
		assert_false(wire_receive(wire, &(struct frame){ 0 }, 20));
	}
	sends(&s);
	sender_close(&s);
}

/* ---- events ---- */

static bool next_event(struct m5_dev *dev, enum m5_event_type *type)
{
	struct pollfd p = { .fd = m5_dev_event_fd(dev), .events = POLLIN };
	struct m5_event ev;

	while (poll(&p, 1, 2000) == 1)
		if (m5_dev_next_event(dev, &ev)) {
			*type = ev.type;
			return true;
		}
	return false;
}

/* The kernel hears of the carrier a little later, and sends nothing before. */
static void wait_cable(struct rig *r)
{
	for (unsigned i = 0; i < 100; i++) {
		send_frames(r, 1);
		if (rig_receive(r->rx, pkts, 1, 50)) {
			rig_put(r->rx, pkts, 1);
			return;
		}
	}
	fail_msg("nothing comes over the cable");
}

static void link_events(void **state)
{
	enum m5_event_type type = M5_EVENT_OTHER;
	struct m5_event none;
	struct rig r;

	(void)state;
	rig_open(&r, &striding);
	assert_false(m5_dev_next_event(r.dev, &none)); /* does not sleep */
	for (unsigned i = 0; i < 3; i++) {
		ctl("link eth0 down");
		assert_true(next_event(r.dev, &type));
		assert_int_equal(type, M5_EVENT_LINK_DOWN);
		ctl("link eth0 up");
		assert_true(next_event(r.dev, &type));
		assert_int_equal(type, M5_EVENT_LINK_UP);
	}
	assert_false(m5_dev_next_event(r.dev, &none));
	wait_cable(&r);
	receives(&r);
	rig_close(&r);
}

/* The device is lost. Everything can be closed, and with the card's reset, which the model has
 * not (the port is removed instead), nothing is left. */
static void device_fatal(void **state)
{
	enum m5_event_type type = M5_EVENT_OTHER;
	char before[1024];
	struct rig r;

	(void)state;
	ctl_census(before, 0);
	ctl("port add lost0=loop");
	rig_open(&r, &(struct rig_conf){ .netdev = "lost0" });
	ctl("fault lost0 fatal");
	assert_true(next_event(r.dev, &type));
	assert_int_equal(type, M5_EVENT_FATAL);
	assert_true(m5_rxq_reset(r.rxq[0], &r.err) < 0);
	rig_close(&r);
	ctl_wait("stat", "clients", 0);
	ctl("port del lost0");
	ctl_same_census(before);
}

#define BOTH(test) \
	{ #test ", striding", test, NULL, NULL, (void *)(uintptr_t)&striding }, \
	{ \
#test ", cyclic", test, NULL, NULL, (void *)(uintptr_t)&cyclic \
	}

int main(void)
{
	const struct CMUnitTest tests[] = {
		BOTH(receive_error),
		BOTH(receive_error_behind_packets),
		BOTH(reset_when_ready),
		BOTH(too_long),
		BOTH(out_of_step),
		BOTH(others_go_on),
		cmocka_unit_test(send_error),
		cmocka_unit_test(send_error_with_packets_held),
		cmocka_unit_test(error_of_a_ring),
		cmocka_unit_test(send_bad_key),
		cmocka_unit_test(abandoned),
		cmocka_unit_test(reset_tx_when_ready),
		cmocka_unit_test(link_events),
		cmocka_unit_test(device_fatal),
	};

	return cmocka_run_group_tests(tests, set_up, NULL);
}
