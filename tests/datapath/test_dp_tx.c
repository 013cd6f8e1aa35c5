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

/* Ways to send; what arrives is the same. */
struct way {
	const char *name;
	struct m5_txq_conf conf;
};
static const struct way ways[] = {
	{ "pointer", { .send = M5_SEND_POINTER } },
	{ "mixed", { .send = M5_SEND_MIXED, .rings = 1 } },
	{ "copied", { .send = M5_SEND_COPIED, .rings = 1 } },
	{ "rings", { .send = M5_SEND_MIXED, .rings = 4 } },
	{ "wc", { .send = M5_SEND_COPIED, .rings = 8, .doorbell = M5_DOORBELL_WC } },
};

enum { SLOT = FRAME_MAX };

struct sender {
	struct rig r;
	struct source s;
	uint32_t next; /* slot of the source to write to: more of them than can be under way */
	uint32_t slots;
};

static void sender_open_on(struct sender *s, const char *netdev, const char *peer,
			   uint32_t packets, const struct m5_txq_conf *conf)
{
	memset(s, 0, sizeof(*s));
	rig_open(&s->r, &(struct rig_conf){
				.netdev = netdev, .tx_packets = packets, .tx = *conf });
	s->slots = 2 * m5_txq_packets(s->r.txq);
	source_open(&s->s, (size_t)s->slots * SLOT, &s->r.dev, 1);
	netdev_mac(peer, dmac);
}

static void sender_open(struct sender *s, uint32_t packets, const struct way *w)
{
	sender_open_on(s, "eth0", "eth1", packets, &w->conf);
}

static void sender_close(struct sender *s)
{
	rig_sent(s->r.tx);
	assert_int_equal(s->s.out, 0);
	source_close(&s->s);
	rig_close(&s->r);
}

/* ---- frames by number ---- */

static unsigned family_of(uint32_t number)
{
	return number % 2 ? 6 : 4;
}

static void put_tag(struct frame *f, uint16_t tci)
{
	const uint8_t tag[4] = { 0x81, 0, (uint8_t)(tci >> 8), (uint8_t)tci };

	memmove(f->bytes + 16, f->bytes + 12, f->len - 12);
	memcpy(f->bytes + 12, tag, sizeof(tag));
	f->len += 4;
}

/* Frame @number is what the wire has next. */
static void expect_asked(uint32_t len, uint32_t number, uint32_t flags)
{
	struct frame want, is;

	frame_make(&want, family_of(number), len, number, dmac);
	if (flags & M5_PKT_INSERT_VLAN)
		put_tag(&want, (uint16_t)(number % 4094 + 1));
	assert_true(wire_receive(wire, &is, 2000));
	frame_equal(&want, is.bytes, is.len);
}

static void expect(uint32_t len, uint32_t number)
{
	expect_asked(len, number, 0);
}

/* What the card is asked to compute is not there. */
static void spoil(struct frame *f, unsigned family, uint32_t flags)
{
	uint32_t udp = family == 4 ? 34 : 54;

	if (family == 4 && flags & M5_PKT_ASK_L3)
		f->bytes[24] ^= 0x55;
	if (flags & M5_PKT_ASK_L4)
		f->bytes[udp + 6] ^= 0xaa;
}

static bool queue_frame(struct sender *s, const struct frame *f, uint32_t number,
			uint32_t flags)
{
	struct m5_pkt pkt = { .len = (uint16_t)f->len,
			      .vlan = (uint16_t)(number % 4094 + 1),
			      .flags = (uint16_t)flags };

	pkt.data = s->s.mem.base + (size_t)(s->next % s->slots) * SLOT;
	memcpy(pkt.data, f->bytes, f->len);
	s->s.out++;
	if (m5_tx_queue(s->r.tx, &s->s.rx, &pkt)) {
		s->next++;
		return true;
	}
	s->s.out--;
	return false;
}

static bool queue_asking(struct sender *s, uint32_t len, uint32_t number, uint32_t flags)
{
	struct frame f;

	frame_make(&f, family_of(number), len, number, dmac);
	spoil(&f, family_of(number), flags);
	return queue_frame(s, &f, number, flags);
}

static bool queue_number(struct sender *s, uint32_t len, uint32_t number)
{
	return queue_asking(s, len, number, 0);
}

/* Frames of different doorbells arrive in order when they went by one ring. */
static bool ordered(const struct sender *s)
{
	return s->r.tx->n_rings == 1;
}

/* ---- tests ---- */

/* So many at once: a turn of program, model and kernel takes long on a machine that is busy. What
 * one ring has no room for goes by the next, and could overtake. */
static uint32_t batch(const struct sender *s)
{
	return ordered(s) ? 40 : 12;
}

/* @flags: of every fourth frame. */
static void all_lengths(struct sender *s, uint32_t flags)
{
	uint32_t first = 70, len;

	while (first <= 9014) {
		for (len = first; len <= 9014 && len < first + batch(s); len++) {
			assert_true(queue_asking(s, len, len, len % 4 ? 0 : flags));
			if (len % 3 == 0 && ordered(s))
				m5_tx_ring(s->r.tx);
		}
		m5_tx_ring(s->r.tx);
		for (uint32_t i = first; i < len; i++)
			expect_asked(i, i, i % 4 ? 0 : flags);
		rig_sent(s->r.tx);
		first = len < 1515 ? len : len + 600; /* all of the usual ones */
	}
}

static void every_length(void **state)
{
	struct sender s;

	sender_open(&s, 1024, *state);
	all_lengths(&s, 0);
	sender_close(&s);
}

static void asking(void **state)
{
	static const uint32_t flags[] = { M5_PKT_INSERT_VLAN,
					  M5_PKT_ASK_L3 | M5_PKT_ASK_L4, M5_PKT_ASKS };
	struct sender s;

	sender_open(&s, 1024, *state);
	for (size_t i = 0; i < ARRAY_LEN(flags); i++)
		for (uint32_t first = 70; first < 9000;
		     first += first < 300 ? 40 : 2000) {
			for (uint32_t k = 0; k < batch(&s); k++)
				assert_true(queue_asking(&s, first + k / 3, k,
							 k / 2 % 3 ? flags[i] : 0));
			m5_tx_ring(s.r.tx);
			for (uint32_t k = 0; k < batch(&s); k++)
				expect_asked(first + k / 3, k, k / 2 % 3 ? flags[i] : 0);
			rig_sent(s.r.tx);
		}
	sender_close(&s);
}

/* ---- frames whose headers are long, or not what they seem ---- */

enum {
	HOP_BY_HOP = 0,
	TCP = 6,
	UDP = 17,
	ROUTING = 43,
	FRAGMENT = 44,
	AH = 51,
	OPTIONS = 60
};

struct odd {
	uint8_t family, words; /* of an IPv4 header */
	uint8_t proto, tags;
	uint16_t len;
	struct {
		uint8_t kind;
		uint16_t bytes; /* 0: no more */
	} ext[3];
};

static const struct odd odds[] = {
	{ 4, 5, TCP, 0, 60, { { 0 } } },
	{ 4, 15, TCP, 0, 200, { { 0 } } },
	{ 4, 15, UDP, 1, 94, { { 0 } } },
	{ 4, 5, 1, 2, 100, { { 0 } } },
	{ 6, 0, TCP, 0, 74, { { 0 } } },
	{ 6, 0, UDP, 2, 62, { { 0 } } },
	{ 6, 0, TCP, 0, 300, { { HOP_BY_HOP, 8 }, { ROUTING, 24 }, { OPTIONS, 64 } } },
	{ 6, 0, UDP, 1, 200, { { AH, 24 }, { OPTIONS, 8 } } },
	{ 6, 0, UDP, 0, 120, { { FRAGMENT, 8 } } },
	{ 6, 0, TCP, 0, 1500, { { OPTIONS, 840 } } }, /* all that an entry holds */
	{ 6, 0, TCP, 0, 1500, { { OPTIONS, 848 } } },
	{ 6, 0, TCP, 0, 9000, { { OPTIONS, 2048 }, { OPTIONS, 2048 } } },
	{ 6, 0, OPTIONS, 0, 62, { { 0 } } }, /* and nothing follows */
};

static void make_odd(struct frame *f, const struct odd *o, uint32_t number)
{
	uint8_t *at, *next;

	frame_make(f, o->family, o->len, number, dmac);
	at = f->bytes + 14 + 40;
	next = f->bytes + 14 + 6;
	if (o->family == 4) {
		f->bytes[14] = 0x40 | o->words;
		next = f->bytes + 14 + 9;
	}
	for (unsigned i = 0; i < ARRAY_LEN(o->ext) && o->ext[i].bytes; i++) {
		unsigned bytes = o->ext[i].bytes, kind = o->ext[i].kind;

		memset(at, 0, bytes);
		at[1] = (uint8_t)(kind == AH ? bytes / 4 - 2 : bytes / 8 - 1);
		*next = (uint8_t)kind;
		next = at;
		at += bytes;
	}
	*next = o->proto;
	for (unsigned i = 0; i < o->tags; i++)
		put_tag(f, (uint16_t)(7 + i));
}

static void odd_headers(struct sender *s)
{
	struct frame f, is;

	for (uint32_t n = 0; n < 4 * ARRAY_LEN(odds); n++) {
		uint32_t flags = n % 2 ? M5_PKT_INSERT_VLAN : 0;

		make_odd(&f, &odds[n / 2 % ARRAY_LEN(odds)], n);
		assert_true(queue_frame(s, &f, n, flags));
		if (flags)
			put_tag(&f, (uint16_t)(n % 4094 + 1));
		m5_tx_ring(s->r.tx);
		assert_true(wire_receive(wire, &is, 2000));
		frame_equal(&f, is.bytes, is.len);
	}
	rig_sent(s->r.tx);
}

static void odd_headers_each_way(void **state)
{
	struct sender s;

	sender_open(&s, 256, *state);
	odd_headers(&s);
	sender_close(&s);
}

/* Ports whose queues want the start of each frame in the work entry, up to the end of a header or
 * another, and one that has no multi-packet entries: each frame is a SEND. */
static void older_cards(void **state)
{
	static const struct {
		const char *caps;
		uint32_t bytes;
	} ports[] = {
		{ ",cap=eth.enhanced_multi_pkt_send_wqe=0", 0 },
		{ ",cap=eth.wqe_inline_mode=0", 18 },
		{ ",cap=eth.wqe_inline_mode=1,inline=2", 34 },
		{ ",cap=eth.wqe_inline_mode=1,inline=3", 42 },
	};
	static const struct m5_txq_conf confs[] = { { .send = M5_SEND_COPIED },
						    { .send = M5_SEND_AUTO } };
	struct m5_txq_choice choice;
	struct sender s;
	int ours = wire;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(ports); i++) {
		ctl("port add old1=pair:old0,mtu=9000");
		ctl("port add old0=pair:old1,mtu=9000%s", ports[i].caps);
		wire = wire_open("old1");
		sender_open_on(&s, "old0", "old1", 256, &confs[i % 2]);
		m5_txq_choice(s.r.txq, &choice);
		assert_string_equal(choice.send, "single");
		assert_int_equal(choice.min_inline_bytes, ports[i].bytes);
		odd_headers(&s);
		all_lengths(&s, M5_PKT_ASKS);
		sender_close(&s);
		close(wire);
		ctl_wait("stat", "clients", 0);
		ctl("port del old0");
		ctl("port del old1");
	}
	wire = ours;
}

/* Bursts of any size, over the end of the ring and of its 16-bit index: each packet is a block of
 * its own, or one of many in an entry. */
static void bursts_past_64k_blocks(void **state)
{
	uint32_t number = 0, blocks = 0, lens[128];
	struct sender s;

	sender_open(&s, 128, *state);
	while (blocks < 65536 + 1000) {
		uint32_t one_by_one = test_below(4), queued = 0;
		uint16_t before = s.r.tx->ring[0].next;

		while (queued < 128) {
			lens[queued] = 70 + test_below(100);
			if (!queue_number(&s, lens[queued], number + queued))
				break;
			queued++;
			if (one_by_one || !test_below(9))
				m5_tx_ring(s.r.tx);
		}
		m5_tx_ring(s.r.tx);
		blocks += (uint16_t)(s.r.tx->ring[0].next - before);
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
	sender_open(&s, 128, &ways[0]);
	while (queue_number(&s, 100, n))
		n++;
	assert_int_equal(n, 128);
	for (unsigned i = 0; i < 3; i++)
		assert_false(queue_number(&s, 100, n));
	assert_int_equal(s.r.tx->full, 4);
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
	assert_in_range(n, 127, 128);
	for (uint32_t i = 0; i < n; i++)
		expect(100, i);
	sender_close(&s);
}

static void nothing_to_ring(void **state)
{
	struct sender s;

	(void)state;
	sender_open(&s, 64, &ways[0]);
	m5_tx_ring(s.r.tx);
	assert_int_equal(s.r.tx->doorbells, 0);
	assert_true(queue_number(&s, 100, 1));
	m5_tx_ring(s.r.tx);
	m5_tx_ring(s.r.tx);
	assert_int_equal(s.r.tx->doorbells, 1);
	expect(100, 1);
	assert_false(wire_receive(wire, &(struct frame){ 0 }, 50));
	sender_close(&s);
}

/* Completions are asked for once a quarter of the ring, not once a doorbell; a NOP tells of the
 * end. */
static void few_completions(void **state)
{
	uint64_t before, cqes;
	struct sender s;

	(void)state;
	sender_open(&s, 256, &ways[0]);
	before = ctl_number("stats eth0", "cqes");
	for (uint32_t i = 0; i < 240; i++) {
		assert_true(queue_number(&s, 100, i));
		if (i % 40 == 39)
			m5_tx_ring(s.r.tx);
	}
	rig_sent(s.r.tx);
	cqes = ctl_number("stats eth0", "cqes") - before;
	assert_in_range(cqes, 2, 4);
	assert_int_equal(s.r.tx->doorbells, 6);
	assert_in_range(s.r.tx->flushes, 0, 1);
	assert_int_equal(ctl_number("stats eth0", "bad_doorbells"), 0);
	for (uint32_t i = 0; i < 240; i++)
		expect(100, i);
	sender_close(&s);
}

/* The card's clock at the end of a send, in the order of sends. */
static void stamps(void **state)
{
	uint64_t cookie, stamp, last = 0;
	struct sender s;

	sender_open(&s, 256, *state);
	for (uint32_t i = 0; i < 50; i++) {
		assert_true(queue_number(&s, 100, i));
		assert_true(m5_tx_sample(s.r.tx, i));
		m5_tx_ring(s.r.tx);
		rig_sent(s.r.tx);
		assert_true(m5_tx_sampled(s.r.tx, &cookie, &stamp));
		assert_int_equal(cookie, i);
		assert_true(stamp > last);
		last = stamp;
		expect(100, i);
	}
	sender_close(&s);
}

/* ---- what is chosen ---- */

static void choices(void **state)
{
	static const struct {
		struct m5_txq_conf conf;
		struct m5_txq_choice is;
	} rows[] = {
		{ { .send = M5_SEND_AUTO },
		  { "pointer", "non-cached", 1, 0, 0,
		    "auto: 1 send queue, copied from 4 on" } },
		{ { .n_queues = 3 },
		  { "pointer", "non-cached", 1, 0, 0,
		    "auto: 3 send queues, copied from 4 on" } },
		{ { .n_queues = 4, .doorbell = M5_DOORBELL_NC },
		  { "mixed", "non-cached", 1, 256, 0,
		    "auto: 4 send queues, copied from 4 on" } },
		{ { .n_queues = 2,
		    .copied_from_queues = M5_COPIED_FROM_SENDER,
		    .copied_up_to_bytes = 128,
		    .rings = 2 },
		  { "mixed", "non-cached", 2, 128, 0,
		    "auto: 2 send queues, copied from 2 on" } },
		{ { .n_queues = 64,
		    .send = M5_SEND_POINTER,
		    .rings = 8,
		    .doorbell = M5_DOORBELL_WC },
		  { "pointer", "write-combining", 1, 0, 0, "configured" } },
		{ { .send = M5_SEND_COPIED, .rings = 8, .copied_up_to_bytes = 64 },
		  { "copied", "non-cached", 8, 924, 0, "configured" } },
		{ { .send = M5_SEND_MIXED },
		  { "mixed", "non-cached", 1, 256, 0, "configured" } },
	};
	struct m5_txq_choice is;
	struct rig r;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		rig_open(&r, &(struct rig_conf){ .tx = rows[i].conf });
		m5_txq_choice(r.txq, &is);
		assert_string_equal(is.send, rows[i].is.send);
		assert_string_equal(is.doorbell, rows[i].is.doorbell);
		assert_int_equal(is.rings, rows[i].is.rings);
		assert_int_equal(is.copied_up_to_bytes, rows[i].is.copied_up_to_bytes);
		assert_int_equal(is.min_inline_bytes, 0);
		assert_string_equal(is.reason, rows[i].is.reason);
		assert_int_equal(ctl_number("stat eth0", "SQ"), is.rings);
		rig_close(&r);
	}
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

#define WAY(test, i) \
	{ \
#test " " #i, test, NULL, NULL, (void *)&ways[i] \
	}
#define EVERY_WAY(test) \
	WAY(test, 0), WAY(test, 1), WAY(test, 2), WAY(test, 3), WAY(test, 4)

int main(void)
{
	const struct CMUnitTest tests[] = {
		EVERY_WAY(every_length),
		EVERY_WAY(asking),
		WAY(odd_headers_each_way, 0),
		WAY(odd_headers_each_way, 1),
		cmocka_unit_test(older_cards),
		WAY(bursts_past_64k_blocks, 0),
		WAY(bursts_past_64k_blocks, 1),
		cmocka_unit_test(full),
		cmocka_unit_test(nothing_to_ring),
		cmocka_unit_test(few_completions),
		WAY(stamps, 0),
		WAY(stamps, 3),
		cmocka_unit_test(choices),
		cmocka_unit_test(forward_to_other_port),
		cmocka_unit_test(forward_by_same_port),
		cmocka_unit_test(forward_jumbo),
	};

	return cmocka_run_group_tests(tests, set_up, NULL);
}
