/* datapath/test_dp_tx.c - frames from memory through a send queue to the wire
 *
 * The receiver is a packet socket on the other port: the kernel, not lib/m5.
 */

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../test.h"
#include "rig.h"

static int wire;

static int set_up(void **state)
{
	(void)state;
	wire = wire_open("eth1");
	return 0;
}

static uint8_t dmac[6]; /* of eth1, as no rule there takes the frames */

enum { SLOT = FRAME_MAX };

struct sender {
	struct rig r;
	struct source s;
	uint32_t next; /* slot of the source to write to: more of them than can be under way */
	uint32_t slots;
};

static void sender_open(struct sender *s, uint32_t packets)
{
	memset(s, 0, sizeof(*s));
	rig_open(&s->r, &(struct rig_conf){ .tx_packets = packets });
	s->slots = 2 * m5_txq_packets(s->r.txq);
	source_open(&s->s, (size_t)s->slots * SLOT, &s->r.dev, 1);
	netdev_mac("eth1", dmac);
}

static void sender_close(struct sender *s)
{
	rig_sent(s->r.tx);
	assert_int_equal(s->s.out, 0);
	source_close(&s->s);
	rig_close(&s->r);
}

static bool queue(struct sender *s, const struct frame *f)
{
	if (!source_queue(&s->s, s->r.tx, (size_t)(s->next % s->slots) * SLOT, f))
		return false;
	s->next++;
	return true;
}

/* Frame @number as queue_number() made it is what the wire has next. */
static void expect(uint32_t len, uint32_t number)
{
	struct frame want, is;

	frame_make(&want, number % 2 ? 6 : 4, len, number, dmac);
	assert_true(wire_receive(wire, &is, 2000));
	frame_equal(&want, is.bytes, is.len);
}

static bool queue_number(struct sender *s, uint32_t len, uint32_t number)
{
	struct frame f;

	frame_make(&f, number % 2 ? 6 : 4, len, number, dmac);
	return queue(s, &f);
}

/* So many at once: a turn of program, model and kernel takes long on a machine that is busy. */
enum { BATCH = 40 };

static void every_length(void **state)
{
	uint32_t first = 70, len;
	struct sender s;

	(void)state;
	sender_open(&s, 256);
	while (first <= 9014) {
		for (len = first; len <= 9014 && len < first + BATCH; len++) {
			assert_true(queue_number(&s, len, len));
			if (len % 3 == 0)
				m5_tx_ring(s.r.tx);
		}
		m5_tx_ring(s.r.tx);
		for (uint32_t i = first; i < len; i++)
			expect(i, i);
		rig_sent(s.r.tx);
		first = len < 1515 ? len : len + 300; /* all of the usual ones */
	}
	sender_close(&s);
}

/* Bursts of any size, over the end of the ring and of its 16-bit index: each packet is a block of
 * its own, or one of many in an entry. */
static void bursts_past_64k_blocks(void **state)
{
	uint32_t number = 0, blocks = 0, lens[128];
	struct sender s;

	(void)state;
	sender_open(&s, 128);
	while (blocks < 65536 + 1000) {
		uint32_t one_by_one = test_below(4), queued = 0;
		uint16_t before = s.r.tx->next;

		while (queued < 128) {
			lens[queued] = 70 + test_below(100);
			if (!queue_number(&s, lens[queued], number + queued))
				break;
			queued++;
			if (one_by_one || !test_below(9))
				m5_tx_ring(s.r.tx);
		}
		m5_tx_ring(s.r.tx);
		blocks += (uint16_t)(s.r.tx->next - before);
		for (uint32_t i = 0; i < queued; i++)
			expect(lens[i], number + i);
		number += queued;
		rig_sent(s.r.tx);
	}
	sender_close(&s);
}

/* The ring holds what it says, at least one packet a block, and says no to more. */
static void full(void **state)
{
	uint32_t n = 0;
	struct sender s;

	(void)state;
	sender_open(&s, 128);
	while (queue_number(&s, 100, n))
		n++;
	assert_in_range(n, 64, 128);
	for (unsigned i = 0; i < 3; i++)
		assert_false(queue_number(&s, 100, n));
	m5_tx_ring(s.r.tx);
	assert_false(m5_tx_idle(s.r.tx));
	for (uint32_t i = 0; i < n; i++)
		expect(100, i);
	rig_sent(s.r.tx);
	assert_int_equal(s.s.out, 0);
	n = 0;
	while (queue_number(&s, 100, n)) { /* one packet an entry */
		m5_tx_ring(s.r.tx);
		n++;
	}
	assert_in_range(n, 64, 128);
	for (uint32_t i = 0; i < n; i++)
		expect(100, i);
	sender_close(&s);
}

static void nothing_to_ring(void **state)
{
	struct sender s;
	uint64_t rung;

	(void)state;
	sender_open(&s, 64);
	m5_tx_ring(s.r.tx);
	rung = s.r.tx->doorbells;
	assert_int_equal(rung, 0);
	assert_true(queue_number(&s, 100, 1));
	m5_tx_ring(s.r.tx);
	m5_tx_ring(s.r.tx);
	assert_int_equal(s.r.tx->doorbells, 1);
	expect(100, 1);
	assert_false(wire_receive(wire, &(struct frame){ 0 }, 50));
	sender_close(&s);
}

/* Completions are asked for once a doorbell, not once a packet. */
static void few_completions(void **state)
{
	uint64_t before, cqes;
	struct sender s;

	(void)state;
	sender_open(&s, 256);
	before = ctl_number("stats eth0", "cqes");
	for (uint32_t i = 0; i < 200; i++)
		assert_true(queue_number(&s, 100, i));
	m5_tx_ring(s.r.tx);
	rig_sent(s.r.tx);
	cqes = ctl_number("stats eth0", "cqes") - before;
	assert_int_equal(cqes, 1);
	assert_int_equal(ctl_number("stats eth0", "bad_doorbells"), 0);
	for (uint32_t i = 0; i < 200; i++)
		expect(100, i);
	sender_close(&s);
}

/* ---- from where it arrived ---- */

/* A frame that came in at one port leaves by the other, or by the same, without being copied. Its
 * buffer is held until it is gone. */
static void forward(bool cyclic, bool same_port, uint16_t mtu)
{
	struct rig_conf conf = { .mtu = mtu, .cyclic = cyclic };
	struct m5_txq_conf tx_conf = { .packets = 256, .numa_node = -1 };
	struct m5_rxq_conf rx_conf = {
		.packets = 256, .mtu = mtu, .numa_node = -1, .striding = !cyclic
	};
	struct m5_dev *peer, *peers[1];
	struct m5_rxq *rxq;
	struct m5_txq *txq;
	struct m5_steer_conf steer;
	struct frame f, got;
	struct m5_pkt pkt;
	struct rig r;
	int out;

	/* eth0 of the rig stays idle; its device is opened again for the queues under test. */
	rig_open(&r, &conf);
	m5_steer_close(r.steer);
	rig_ok(m5_dev_open("eth1", 1, &r.err, &peer), &r.err);
	peers[0] = peer;
	rx_conf.peers = peers;
	rx_conf.n_peers = 1;
	rig_ok(m5_rxq_open(r.dev, &rx_conf, &r.warn, &r.err, &rxq), &r.err);
	rig_ok(m5_rxq_start(rxq, &r.err), &r.err);
	rig_ok(m5_txq_open(same_port ? r.dev : peer, &tx_conf, &r.err, &txq), &r.err);
	rig_ok(m5_txq_start(txq, &r.err), &r.err);
	memcpy(steer.mac, r.mac, 6);
	steer.rxq = &rxq;
	steer.n_rxq = 1;
	rig_ok(m5_steer_open(r.dev, &steer, &r.err, &r.steer), &r.err);
	rig_ok(m5_steer_transit(r.steer, true, &r.err), &r.err);

	/* What leaves by eth1 arrives at eth0 again; by its address it is the kernel's there. */
	out = wire_open(same_port ? "eth1" : "eth0");
	for (uint32_t i = 0; i < 500; i++) {
		struct m5_rx *rx = m5_rxq_hot(rxq);

		frame_make(&f, i % 2 ? 6 : 4, 70 + test_below(mtu - 56u), i, r.mac);
		wire_send(wire, &f);
		rig_receive_all(rx, &pkt, 1);
		memcpy(pkt.data, "\x02\x99\x99\x99\x99\x99", 6);
		memcpy(f.bytes, pkt.data, 6);
		assert_true(m5_tx_queue(m5_txq_hot(txq), rx, &pkt));
		assert_int_equal(rx->refs[pkt.wqe] > 0, 1);
		m5_tx_ring(m5_txq_hot(txq));
		assert_true(wire_receive(out, &got, 2000));
		frame_equal(&f, got.bytes, got.len);
		rig_sent(m5_txq_hot(txq));
	}
	close(out);
	m5_steer_close(r.steer);
	r.steer = NULL;
	m5_txq_close(txq);
	m5_rxq_close(rxq);
	m5_dev_close(peer);
	rig_close(&r);
}

static void forward_to_other_port(void **state)
{
	(void)state;
	forward(false, false, 1500);
	forward(true, false, 1500);
}

static void forward_by_same_port(void **state)
{
	(void)state;
	forward(false, true, 1500);
}

static void forward_jumbo(void **state)
{
	(void)state;
	forward(false, false, 9000);
	forward(true, true, 9000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_length),
		cmocka_unit_test(bursts_past_64k_blocks),
		cmocka_unit_test(full),
		cmocka_unit_test(nothing_to_ring),
		cmocka_unit_test(few_completions),
		cmocka_unit_test(forward_to_other_port),
		cmocka_unit_test(forward_by_same_port),
		cmocka_unit_test(forward_jumbo),
	};

	return cmocka_run_group_tests(tests, set_up, NULL);
}
