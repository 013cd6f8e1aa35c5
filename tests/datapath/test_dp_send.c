/* datapath/test_dp_send.c - every way of sending puts the same bytes on the wire
 *
 * Frames that lie in memory leave by pointer, copied, or mixed, by one ring or several, by either
 * kind of doorbell. The receiver is a packet socket on the other port: the kernel, not lib/m5.
 * Memory that a queue says it has let go of is overwritten at once.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../lib/base/time.h"
#include "../test.h"
#include "rig.h"

enum { SLOT = FRAME_MAX, SLOTS = 1024 };

static int wire;
static uint8_t dmac[6]; /* of eth1, as no rule there takes the frames */
static struct frame want[SLOTS], is;
static uint32_t two_owners[2]; /* packets that each has out */

static int set_up(void **state)
{
	(void)state;
	wire = wire_open("eth1");
	netdev_mac("eth1", dmac);
	return 0;
}

/* The rows of main() name them. */
#define KIND(name, ...) static const struct rig_conf name = { .tx = { __VA_ARGS__ } }
KIND(pointer, .send = M5_SEND_POINTER, .doorbell = M5_DOORBELL_NC);
KIND(pointer_wc, .send = M5_SEND_POINTER, .doorbell = M5_DOORBELL_WC);
KIND(copied, .send = M5_SEND_COPIED, .rings = 1);
KIND(copied_4, .send = M5_SEND_COPIED, .rings = 4, .doorbell = M5_DOORBELL_WC);
KIND(mixed, .send = M5_SEND_MIXED);
KIND(automatic, .n_queues = 5);

struct sender {
	struct rig r;
	struct source s;
	struct m5_tx *tx;
	unsigned rings;	  /* of the hardware: bursts by several overtake each other */
	uint32_t next;	  /* slot to write to: more of them than can be under way */
	uint32_t n;	  /* frames of the burst */
	uint32_t by_hand; /* of all frames, those whose memory was free at once */
};

/* What a test that failed has left open: the next one begins anew. */
static struct rig *opened[2];

static int close_what_is_left(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 2; i++)
		if (opened[i])
			rig_close(opened[i]);
	opened[0] = opened[1] = NULL;
	ctl("fault eth0 clear");
	while (wire_receive(wire, &is, 0))
		;
	return 0;
}

static void sender_open(struct sender *s, const struct rig_conf *how, uint32_t packets)
{
	struct rig_conf conf = *how;
	struct m5_txq_choice choice;

	memset(s, 0, sizeof(*s));
	conf.tx_packets = packets;
	rig_open(&s->r, &conf);
	m5_txq_choice(s->r.txq, &choice);
	s->rings = choice.rings;
	opened[opened[0] != NULL] = &s->r;
	s->tx = s->r.tx;
	source_open(&s->s, (size_t)SLOTS * SLOT, &s->r.dev, 1);
}

static void sender_close(struct sender *s)
{
	rig_sent(s->tx);
	assert_int_equal(s->s.out, 0);
	source_close(&s->s);
	rig_close(&s->r);
	opened[opened[0] != &s->r] = NULL;
}

/* Family by number, IPv4 where IPv6 does not fit. */
static void make(struct frame *f, uint32_t len, uint32_t number)
{
	frame_make(f, len < 62 || number % 2 ? 4 : 6, len, number, dmac);
}

/* Queues want[n], with what is asked of it. False: the ring is full. */
static bool queue(struct sender *s, const struct frame *f, uint16_t flags, uint16_t vlan)
{
	size_t at = (size_t)(s->next % SLOTS) * SLOT;
	struct m5_pkt pkt = { .data = s->s.mem.base + at,
			      .len = (uint16_t)f->len,
			      .flags = flags,
			      .vlan = vlan };
	uint32_t before = s->s.out;

	memcpy(pkt.data, f->bytes, f->len);
	s->s.out++;
	if (!m5_tx_queue(s->tx, &s->s.rx, &pkt)) {
		s->s.out = before;
		return false;
	}
	s->next++;
	s->n++;
	if (s->s.out == before) {
		memset(pkt.data, 0xdd, f->len);
		s->by_hand++;
	}
	return true;
}

static void must_queue(struct sender *s, uint32_t len, uint32_t number)
{
	assert_in_range(s->n, 0, SLOTS - 1);
	make(&want[s->n], len, number);
	assert_true(queue(s, &want[s->n], 0, 0));
}

/* Bursts by several rings may overtake each other. */
static void in_any_order(const struct sender *s)
{
	static bool came[SLOTS];
	uint32_t i;

	memset(came, 0, sizeof(came));
	for (uint32_t n = 0; n < s->n; n++) {
		assert_true(wire_receive(wire, &is, 2000));
		for (i = 0; i < s->n; i++)
			if (!came[i] && is.len == want[i].len &&
			    !memcmp(is.bytes, want[i].bytes, is.len))
				break;
		assert_in_range(i, 0, s->n - 1);
		came[i] = true;
	}
}

static void in_order(const struct sender *s)
{
	for (uint32_t i = 0; i < s->n; i++) {
		if (!wire_receive(wire, &is, 2000))
			fail_msg("frame %u of %u of a burst is missing", i, s->n);
		frame_equal(&want[i], is.bytes, is.len);
	}
}

/* All is on the wire, and everything is given back. */
static void arrives(struct sender *s)
{
	if (s->rings > 1)
		in_any_order(s);
	else
		in_order(s);
	s->n = 0;
	rig_sent(s->tx);
	assert_int_equal(s->s.out, 0);
}

static void ring(struct sender *s)
{
	uint64_t before = s->tx->doorbells;

	m5_tx_ring(s->tx);
	assert_int_equal(s->tx->doorbells - before, 1);
}

/* ---- sizes and numbers ---- */

enum { BATCH = 40 };

static void every_size(void **state)
{
	static struct sender s;

	sender_open(&s, *state, 1024);
	for (uint32_t len = 60; len <= 9014;) {
		for (; len <= 9014 && s.n < BATCH; len++)
			must_queue(&s, len, len);
		ring(&s);
		arrives(&s);
	}
	sender_close(&s);
}

/* A large one among small ones, at each place: what is copied stands beside what is not. */
static void sizes_side_by_side(void **state)
{
	static const uint32_t lens[] = {
		60, 70, 255, 256, 257, 907, 908, 909, 1514, 9014
	};
	static struct sender s;

	sender_open(&s, *state, 1024);
	for (uint32_t round = 0; round < 150; round++) {
		uint32_t n = 1 + test_below(BATCH);

		for (uint32_t i = 0; i < n; i++)
			must_queue(&s, lens[test_below(sizeof(lens) / sizeof(lens[0]))],
				   i + round * BATCH);
		ring(&s);
		arrives(&s);
	}
	sender_close(&s);
}

static void every_number_per_doorbell(void **state)
{
	static struct sender s;

	sender_open(&s, *state, 1024);
	for (uint32_t n = 1; n <= 130; n++) {
		uint32_t len = n % 2 ? 60 : 0;

		for (uint32_t i = 0; i < n; i++)
			must_queue(&s, len ? len : 60 + test_below(140), i);
		ring(&s);
		arrives(&s);
	}
	sender_close(&s);
}

/* Many packets in one call, of two owners by turns; what the ring has no room for stays theirs. */
static void in_one_call(void **state)
{
	static struct sender s;
	struct m5_pkt pkt[130];

	sender_open(&s, *state, 128);
	s.s.rx.refs = memset(two_owners, 0, sizeof(two_owners));
	for (uint32_t round = 0; round < 300; round++) {
		uint32_t n = 1 + test_below(130), done;

		for (uint32_t i = 0; i < n; i++) {
			make(&want[i], 60 + test_below(test_below(3) ? 100 : 1400), i);
			pkt[i] = (struct m5_pkt){ .data = s.s.mem.base + i * SLOT,
						  .len = (uint16_t)want[i].len,
						  .wqe = (uint16_t)(i / 5 % 2) };
			memcpy(pkt[i].data, want[i].bytes, want[i].len);
		}
		for (uint32_t i = 0; i < n; i++)
			two_owners[pkt[i].wqe]++;
		done = m5_tx_burst(s.tx, &s.s.rx, pkt, n, false);
		assert_in_range(done, n < 32 ? n : 32, n);
		for (uint32_t i = done; i < n; i++)
			two_owners[pkt[i].wqe]--;
		m5_tx_ring(s.tx);
		s.n = done;
		arrives(&s);
		assert_int_equal(two_owners[0] | two_owners[1], 0);
	}
	s.s.rx.refs = &s.s.out;
	sender_close(&s);
}

/* ---- the ring ---- */

/* Small rings, entries of any length: over the end of the ring in each place of an entry, and over
 * that of its 16-bit index. What is counted of blocks is a lower bound. */
static void past_64k_blocks(void **state)
{
	const struct rig_conf *how = *state;
	uint32_t number = 0;
	static struct sender s;
	double blocks = 0;

	sender_open(&s, how, 128);
	while (blocks < 67000.0 * s.rings) {
		while (s.n < 250) {
			uint32_t len = 60 + test_below(190);
			uint32_t before = s.by_hand;

			make(&want[s.n], len, number++);
			if (!queue(&s, &want[s.n], 0, 0))
				break;
			blocks += s.by_hand != before ? len / 64.0 : 0.25;
			if (test_below(3)) {
				blocks += 0.5;
				ring(&s);
			}
		}
		m5_tx_ring(s.tx);
		arrives(&s);
	}
	assert_int_equal(ctl_number("stats eth0", "wqe_refusals"), 0);
	sender_close(&s);
}

/* Takes all it can, says no to more, loses nothing of what it took. */
static void full(void **state)
{
	static struct sender s;

	sender_open(&s, *state, 128);
	for (unsigned round = 0; round < 6; round++) {
		while (s.n < SLOTS - 1) {
			make(&want[s.n], 60 + test_below(60), s.n);
			if (!queue(&s, &want[s.n], 0, 0))
				break;
			if (round % 2)
				m5_tx_ring(s.tx);
		}
		/* Where one ring is full the next takes over, and the card may keep up. */
		if (round % 2 == 0 && s.rings == 1) {
			assert_in_range(s.n, 64, SLOTS - 2);
			assert_false(queue(&s, &want[s.n], 0, 0));
		}
		m5_tx_ring(s.tx);
		arrives(&s);
	}
	assert_false(wire_receive(wire, &is, 20));
	sender_close(&s);
}

/* The card takes nothing out of the rings until "fault eth0 clear". */
static void hold_sends(const struct sender *s)
{
	static char dump[1 << 18];
	const char *name = m5_dev_caps(s->r.dev)->rdma_name;
	unsigned held = 0;
	char *line, *save;
	bool ours = false;
	uint32_t cq;

	snprintf(dump, sizeof(dump), "%s", ctl("dump"));
	for (line = strtok_r(dump, "\n", &save); line;
	     line = strtok_r(NULL, "\n", &save)) {
		if (!strchr(line, ' '))
			ours = !strcmp(line, name);
		if (!ours || sscanf(line, "SQ %*s uid %*u %*s cq %x", &cq) != 1)
			continue;
		ctl("fault eth0 hold cq=%u", cq);
		held++;
	}
	assert_true(held > 0);
}

/* A card that does not send: its ring is full, the other port's goes on. */
static void a_full_ring_blocks_nobody(void **state)
{
	const struct rig_conf *how = *state;
	struct rig_conf other_conf = *how;
	static struct sender s, other;
	int back = wire_open("eth0");
	uint32_t n;

	other_conf.netdev = "eth1";
	sender_open(&s, how, 128);
	sender_open(&other, &other_conf, 128);
	hold_sends(&s);
	for (;;) {
		make(&want[s.n], 100, s.n);
		want[s.n].bytes[5] ^=
			0x55; /* not for the queues of the other, the kernel's */
		if (!queue(&s, &want[s.n], 0, 0))
			break;
	}
	n = s.n;
	m5_tx_ring(s.tx);
	for (uint32_t i = 0; i < 300; i++) {
		struct frame f;

		frame_make(&f, 4, 100, i, s.r.mac);
		f.bytes[5] ^= 0x55;
		other.n = 0;
		assert_true(queue(&other, &f, 0, 0));
		m5_tx_ring(other.tx);
		assert_true(wire_receive(back, &is, 2000));
		frame_equal(&f, is.bytes, is.len);
		rig_sent(other.tx);
		assert_false(queue(&s, &want[0], 0, 0));
	}
	ctl("fault eth0 clear");
	m5_tx_ring(s.tx);
	assert_int_equal(s.n, n);
	arrives(&s);
	close(back);
	other.n = 0;
	sender_close(&other);
	sender_close(&s);
}

/* Far fewer completions than packets; and when nothing more comes nothing stays behind. */
static void completions_are_few(void **state)
{
	uint64_t before;
	static struct sender s;

	sender_open(&s, *state, 1024);
	before = ctl_number("stats eth0", "cqes");
	for (uint32_t burst = 0; burst < 30; burst++) {
		for (uint32_t i = 0; i < 32; i++)
			must_queue(&s, 60 + i, i);
		ring(&s);
		for (uint32_t i = 0; i < s.n; i++)
			assert_true(wire_receive(wire, &is, 2000));
		s.n = 0;
		m5_tx_reap(s.tx);
	}
	rig_sent(s.tx);
	assert_int_equal(s.s.out, 0);
	/* One a burst, and one more a burst for those that asked when it had ended.
   */
	assert_in_range(ctl_number("stats eth0", "cqes") - before, 0, 60);
	sender_close(&s);
}

/* One packet is seen to be gone although nothing follows it. */
static void the_last_one_is_freed(void **state)
{
	static struct sender s;

	sender_open(&s, *state, 256);
	for (uint32_t i = 0; i < 100; i++) {
		must_queue(&s, 1514, i);
		ring(&s);
		arrives(&s);
		assert_true(m5_tx_idle(s.tx));
	}
	sender_close(&s);
}

/* ---- what is asked of the card ---- */

static void insert_tag(struct frame *f, uint16_t tci)
{
	memmove(f->bytes + 16, f->bytes + 12, f->len - 12);
	memcpy(f->bytes + 12, (const uint8_t[]){ 0x81, 0, tci >> 8, tci & 0xff }, 4);
	f->len += 4;
}

static void tags_are_inserted(void **state)
{
	static const uint16_t tcis[] = { 0, 1, 0x0fff, 0x6005, 0xe123, 0xffff };
	static struct sender s;

	sender_open(&s, *state, 1024);
	for (uint32_t round = 0; round < 200; round++) {
		uint32_t n = 1 + test_below(BATCH);

		while (s.n < n) {
			struct frame *f = &want[s.n];
			uint16_t tci = tcis[test_below(6)];
			bool tag = test_below(round % 3 + 1);

			make(f, 60 + test_below(test_below(4) ? 140 : 1440), s.n + round);
			assert_true(queue(&s, f, tag ? M5_PKT_INSERT_VLAN : 0, tci));
			if (tag)
				insert_tag(f, tci);
		}
		ring(&s);
		arrives(&s);
	}
	sender_close(&s);
}

/* Of a frame that has none, or a wrong one. UDP. */
static uint16_t spoil_sums(struct frame *f)
{
	bool six = f->bytes[12] == 0x86;
	uint16_t asked = 0;

	if (!six && test_below(2)) {
		memset(f->bytes + 14 + 10, (int)test_below(256), 2);
		asked |= M5_PKT_ASK_L3;
	}
	if (test_below(2)) {
		memset(f->bytes + 14 + (six ? 40 : 20) + 6, (int)test_below(256), 2);
		asked |= M5_PKT_ASK_L4;
	}
	return asked;
}

static void checksums_are_computed(void **state)
{
	static struct sender s;

	sender_open(&s, *state, 1024);
	for (uint32_t round = 0; round < 200; round++) {
		uint32_t n = 1 + test_below(BATCH);

		while (s.n < n) {
			struct frame f;
			uint16_t asked;

			make(&f, 62 + test_below(test_below(4) ? 140 : 1440),
			     s.n + round);
			want[s.n] = f;
			asked = spoil_sums(&f);
			if (test_below(5) == 0) {
				assert_true(queue(&s, &f, asked | M5_PKT_INSERT_VLAN, 5));
				insert_tag(&want[s.n - 1], 5);
			} else {
				assert_true(queue(&s, &f, asked, 0));
			}
		}
		ring(&s);
		arrives(&s);
	}
	sender_close(&s);
}

/* ---- errors ---- */

static void reset(struct sender *s)
{
	for (unsigned i = 0; i < 20000 && !m5_tx_failed(s->tx); i++) {
		m5_tx_reap(s->tx);
		usleep(100);
	}
	assert_true(m5_tx_failed(s->tx));
	assert_false(queue(s, &want[0], 0, 0));
	rig_ok(m5_txq_reset(s->r.txq, &s->r.err), &s->r.err);
	assert_int_equal(s->s.out, 0);
	assert_false(m5_tx_failed(s->tx));
	assert_true(m5_tx_idle(s->tx));
	rig_ok(m5_txq_start(s->r.txq, &s->r.err), &s->r.err);
	s->n = 0;
}

static void sends(struct sender *s)
{
	for (uint32_t burst = 0; burst < 10; burst++) {
		while (s->n < BATCH)
			must_queue(s, 60 + test_below(1400), s->n);
		ring(s);
		arrives(s);
	}
}

/* The card finds packet @k of @n bad: those before it have left, none behind it has. */
static void one_bad_packet(struct sender *s, uint32_t k, uint32_t n)
{
	be32_t good = s->s.rx.lkey[0];

	for (uint32_t i = 0; i < n; i++) {
		if (i == k)
			s->s.rx.lkey[0] = to_be32(from_be32(good) ^ 0x5500);
		must_queue(s, 1000 + i, i); /* too long to be copied */
		s->s.rx.lkey[0] = good;
	}
	m5_tx_ring(s->tx);
	for (uint32_t i = 0; i < k; i++) {
		assert_true(wire_receive(wire, &is, 2000));
		frame_equal(&want[i], is.bytes, is.len);
	}
	reset(s);
	assert_int_equal(s->tx->syndrome, 0x04);
	assert_false(wire_receive(wire, &is, 5));
}

static void an_error_in_the_middle_of_a_doorbell(void **state)
{
	static const uint32_t numbers[] = { 1, 2, 29, 58, 59, 130 };
	static struct sender s;

	sender_open(&s, *state, 1024);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		uint32_t n = numbers[i];

		sends(&s);
		one_bad_packet(&s, 0, n);
		one_bad_packet(&s, n / 2, n);
		one_bad_packet(&s, n - 1, n);
	}
	sends(&s);
	sender_close(&s);
}

/* In each of the hardware's rings, with packets in all of them. */
static void an_error_in_any_ring(void **state)
{
	const struct rig_conf *how = *state;
	static struct sender s;

	sender_open(&s, how, 256);
	for (unsigned i = 0; i < s.rings; i++) {
		sends(&s);
		ctl("fault eth0 delay us=10000000");
		for (uint32_t burst = 0; burst < 2 * s.rings; burst++) {
			for (uint32_t k = 0; k < 8; k++)
				must_queue(&s, 60 + test_below(200), k);
			m5_tx_ring(s.tx);
		}
		ctl("fault eth0 cqe type=sq num=%u syndrome=0x%x", m5_txq_num(s.r.txq, i),
		    0x02 + i);
		ctl("fault eth0 clear");
		reset(&s);
		assert_int_equal(s.tx->syndrome, 0x02 + i);
		while (wire_receive(wire, &is, 50))
			;
	}
	sends(&s);
	sender_close(&s);
}

#define ONE(kind, test) \
	{ \
#test ", " #kind, test, NULL, close_what_is_left, \
			(void *)(uintptr_t)&kind \
	}
#define EACH(test) \
	ONE(pointer, test), ONE(pointer_wc, test), ONE(copied, test), \
		ONE(copied_4, test), ONE(mixed, test), ONE(automatic, test)

int main(void)
{
	const struct CMUnitTest tests[] = {
		EACH(every_size),
		EACH(sizes_side_by_side),
		EACH(every_number_per_doorbell),
		EACH(in_one_call),
		EACH(past_64k_blocks),
		EACH(full),
		EACH(a_full_ring_blocks_nobody),
		EACH(completions_are_few),
		EACH(the_last_one_is_freed),
		EACH(tags_are_inserted),
		EACH(checksums_are_computed),
		EACH(an_error_in_the_middle_of_a_doorbell),
		EACH(an_error_in_any_ring),
	};

	return cmocka_run_group_tests(tests, set_up, NULL);
}
