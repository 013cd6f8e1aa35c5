/* unit/test_m5_tx.c - the send path against a card in plain memory
 *
 * Frames are numbered and made from their number. Whatever way they are sent, by pointer or copied,
 * by one ring or several, what the card takes must be the same bytes, each once.
 */

#include <stdlib.h>
#include <string.h>

#include "../../lib/m5/tx_hot.h"
#include "../test.h"
#include "fake_nic.h"

enum { CHUNKS = 4, SLOTS = 2048, SLOT = 9216, LEAST = 34 };

/* What packets are said to be in: only keys and references are looked at. */
static struct m5_rx rx;
static uint32_t refs[CHUNKS];
static uint8_t (*memory)[SLOT];

/* What was queued, by number % SLOTS. */
static struct {
	uint32_t number;
	uint16_t len, vlan, flags;
	bool out; /* queued, not seen */
} want[SLOTS];

static uint32_t seen,
	in_order; /* frames that the card sent; of these, right behind the last */
static uint32_t last;
static struct fake_tx f;

static int begin(void **state)
{
	(void)state;
	memset(&rx, 0, sizeof(rx));
	memset(refs, 0, sizeof(refs));
	memset(want, 0, sizeof(want));
	rx.refs = refs;
	for (unsigned i = 0; i < M5_DEVS_MAX; i++)
		rx.lkey[i] = to_be32(0x1234 + i);
	seen = in_order = 0;
	last = UINT32_MAX;
	return 0;
}

static int end(void **state)
{
	(void)state;
	fake_tx_close(&f);
	return 0;
}

/* ---- frames ---- */

static uint8_t byte_of(uint32_t number, uint32_t i)
{
	return (uint8_t)(i * 7 + i / 256 * 13 + number * 31 + number / 256 * 11);
}

/* Byte 14 and after hold the number. */
static struct m5_pkt make(uint32_t number, uint32_t len, uint32_t flags)
{
	uint32_t slot = number % SLOTS;
	struct m5_pkt p = { .data = memory[slot],
			    .len = (uint16_t)len,
			    .wqe = (uint16_t)(number / 5 % CHUNKS),
			    .vlan = (uint16_t)(number & 0xefff),
			    .flags = (uint16_t)flags };

	assert_false(want[slot].out);
	for (uint32_t i = 0; i < len; i++)
		p.data[i] = byte_of(number, i);
	memcpy(p.data + 14, &number, 4);
	want[slot].number = number;
	want[slot].len = p.len;
	want[slot].vlan = p.vlan;
	want[slot].flags = p.flags;
	refs[p.wqe]++;
	return p;
}

static void queued(const struct m5_pkt pkt[], uint32_t first, uint32_t taken, uint32_t n)
{
	for (uint32_t i = 0; i < taken; i++)
		want[(first + i) % SLOTS].out = true;
	for (uint32_t i = taken; i < n; i++)
		refs[pkt[i].wqe]--;
}

static bool queue(uint32_t number, uint32_t len, uint32_t flags)
{
	struct m5_pkt p = make(number, len, flags);
	bool taken = m5_tx_queue(&f.tx, &rx, &p);

	queued(&p, number, taken, 1);
	return taken;
}

static uint8_t cs_wanted(uint16_t flags)
{
	return (uint8_t)((flags & M5_PKT_ASK_L3 ? 0x40 : 0) |
			 (flags & M5_PKT_ASK_L4 ? 0x80 : 0));
}

/* The tag stands behind the addresses. */
static const uint8_t *check_tag(uint8_t *plain, const uint8_t *frame, uint32_t len,
				uint16_t vlan)
{
	assert_int_equal(frame[12], 0x81);
	assert_int_equal(frame[13], 0x00);
	assert_int_equal(frame[14] << 8 | frame[15], vlan);
	memcpy(plain, frame, 12);
	memcpy(plain + 12, frame + 16, len - 16);
	return plain;
}

static void on_sent(void *arg, const uint8_t *frame, uint32_t len)
{
	static uint8_t plain[SLOT];
	uint32_t tag = len > 18 && frame[12] == 0x81 && frame[13] == 0 ? 4 : 0, number,
		 slot;

	(void)arg;
	memcpy(&number, frame + 14 + tag, 4);
	slot = number % SLOTS;
	assert_true(want[slot].out);
	assert_int_equal(want[slot].number, number);
	assert_int_equal(f.cs_flags, cs_wanted(want[slot].flags));
	if (want[slot].flags & M5_PKT_INSERT_VLAN) {
		frame = check_tag(plain, frame, len, want[slot].vlan);
		len -= 4;
	}
	assert_int_equal(len, want[slot].len);
	for (uint32_t i = 0; i < len; i++)
		if ((i < 14 || i >= 18) && frame[i] != byte_of(number, i))
			fail_msg("frame %u of %u bytes differs at %u", number, len, i);
	want[slot].out = false;
	in_order += number == last + 1;
	last = number;
	seen++;
}

/* Packets not let go; each of the WQE it is in, so none is below zero. */
static uint32_t held(void)
{
	uint32_t n = 0;

	for (unsigned i = 0; i < CHUNKS; i++) {
		assert_in_range(refs[i], 0, SLOTS);
		n += refs[i];
	}
	return n;
}

static uint32_t run(void)
{
	return fake_tx_run(&f, on_sent, NULL);
}

/* Until nothing is under way, or it never ends. */
static void settle(void)
{
	for (unsigned i = 0; i < 4 * M5_TX_RINGS_MAX && !m5_tx_idle(&f.tx); i++) {
		run();
		m5_tx_reap(&f.tx);
	}
	assert_true(m5_tx_idle(&f.tx));
}

/* ---- every way of sending ---- */

struct way {
	const char *name;
	uint32_t copied_up_to;
	unsigned rings;
	bool single;
	bool scalar; /* without what this CPU has more of than others */
};
static const struct way ways[] = {
	{ "pointer", 0, 1, false, false },
	{ "mixed", 256, 1, false, false },
	{ "copied", 924, 1, false, false },
	{ "single", 0, 1, true, false },
	{ "pointer4", 0, 4, false, false },
	{ "mixed4", 256, 4, false, false },
	{ "copied8", 924, 8, false, false },
	{ "pointer, scalar", 0, 1, false, true },
	{ "mixed, scalar", 256, 1, false, true },
};

static void open_way(const struct way *w, unsigned log_blocks, unsigned dev)
{
	fake_tx_open_rings(&f, log_blocks, dev, w->rings);
	f.tx.copied_up_to = w->copied_up_to;
	f.tx.single = w->single;
	f.tx.wide &= !w->scalar;
}

/* Sizes as traffic has them: small, at the limits of copying, anything. */
static uint32_t some_length(void)
{
	switch (test_below(4)) {
	case 0:
		return 60;
	case 1:
		return LEAST + test_below(100);
	case 2:
		return 240 + test_below(40);
	default:
		return LEAST + test_below(1500);
	}
}

static uint32_t some_flags(bool asks)
{
	static const uint32_t flags[] = { 0,
					  0,
					  M5_PKT_INSERT_VLAN,
					  M5_PKT_ASK_L3,
					  M5_PKT_ASK_L4 | M5_PKT_ASK_L3,
					  M5_PKT_ASKS };

	/* What came with the packet is not for the send queue. */
	return (asks ? flags[test_below(ARRAY_LEN(flags))] : 0) | test_below(8);
}

static uint32_t send_some(uint32_t number, bool asks)
{
	uint32_t n = 1 + test_below(test_below(3) ? 8 : 80), taken;
	struct m5_pkt pkt[80];

	for (uint32_t i = 0; i < n; i++)
		pkt[i] = make(number + i, some_length(), some_flags(asks));
	taken = m5_tx_burst(&f.tx, &rx, pkt, n, asks);
	assert_true(taken <= n);
	queued(pkt, number, taken, n);
	return taken;
}

/* Random bursts and doorbells; the card is behind by as much as it likes. */
static void long_run(void **state)
{
	const struct way *w = *state;
	uint32_t number = 0, laps = 0;
	uint16_t before;

	open_way(w, w->rings == 1 ? 7 : 6, 3);
	for (uint32_t turn = 0; turn < 60000; turn++) {
		before = f.tx.ring[0].next;
		for (uint32_t k = 1 + test_below(3); k; k--)
			number += send_some(number, test_below(4) == 0);
		if (test_below(8))
			m5_tx_ring(&f.tx);
		if (test_below(3) == 0)
			run();
		if (test_below(2) == 0)
			m5_tx_reap(&f.tx);
		laps += before > f.tx.ring[0].next;
		assert_true(number - seen <= SLOTS - 240);
	}
	m5_tx_ring(&f.tx);
	settle();
	assert_int_equal(seen, number);
	assert_int_equal(held(), 0);
	assert_true(laps > 0); /* of 16 bits */
	assert_int_equal(f.multi > 0, !w->single);
	assert_int_equal(f.inlined > 0, w->copied_up_to > 0);
	if (w->rings == 1)
		assert_int_equal(in_order, seen);
}

/* Every size, at every place in the burst and the ring; the frames are as they were. */
static void every_size(void **state)
{
	struct m5_pkt pkt[16];
	uint32_t number = 0;

	open_way(*state, 9, 0);
	for (uint32_t len = LEAST; len <= 9000; number += 16) {
		for (uint32_t i = 0; i < 16; i++)
			pkt[i] = make(number + i, len <= 9000 ? len++ : 9000,
				      number % 3 ? 0 : M5_PKT_INSERT_VLAN);
		assert_int_equal(m5_tx_burst(&f.tx, &rx, pkt, 16, number % 3 == 0), 16);
		queued(pkt, number, 16, 16);
		m5_tx_ring(&f.tx);
		settle();
	}
	assert_int_equal(seen, number);
	assert_int_equal(held(), 0);
}

/* ---- what is held, and for how long ---- */

static void held_until_completed(void **state)
{
	(void)state;
	fake_tx_open(&f, 7, 0);
	for (uint32_t i = 0; i < 30; i++)
		assert_true(queue(i, 100, 0));
	m5_tx_reap(&f.tx);
	assert_int_equal(held(), 30);
	m5_tx_ring(&f.tx);
	m5_tx_reap(&f.tx);
	assert_int_equal(held(), 30);
	assert_int_equal(run(), 30);
	assert_int_equal(held(), 30);
	assert_false(m5_tx_idle(&f.tx));
	/* What is queued meanwhile stays. */
	assert_true(queue(30, 100, 0));
	m5_tx_reap(&f.tx);
	assert_int_equal(held(), 1);
}

static void copied_is_free_at_once(void **state)
{
	(void)state;
	open_way(&ways[1], 7, 0);
	for (uint32_t i = 0; i < 20; i++)
		assert_true(queue(i, i % 2 ? 256 : 257, 0));
	assert_int_equal(held(), 10);
	memset(memory[1], 0, SLOT); /* as the next frame in its place would */
	m5_tx_ring(&f.tx);
	settle();
	assert_int_equal(seen, 20);
	assert_int_equal(held(), 0);
	assert_int_equal(f.inlined, 10);
}

/* Full bursts: completions come for a quarter of the ring, and when all is quiet a NOP covers what
 * is left. */
static void few_completions(void **state)
{
	struct m5_pkt pkt[64];
	uint32_t number = 0, asked;

	(void)state;
	fake_tx_open(&f, 10, 0);
	for (unsigned k = 0; k < 15; k++, number += 64) {
		for (uint32_t i = 0; i < 64; i++)
			pkt[i] = make(number + i, 60, 0);
		assert_int_equal(m5_tx_burst(&f.tx, &rx, pkt, 64, false), 64);
		queued(pkt, number, 64, 64);
		m5_tx_ring(&f.tx);
		m5_tx_reap(&f.tx);
	}
	asked = f.tx.ring[0].asked_out;
	assert_in_range(asked, 1, 4);
	assert_int_equal(run(), number);
	assert_int_equal(f.tx.flushes, 0);
	m5_tx_reap(&f.tx); /* no doorbell since the last one: a NOP */
	assert_int_equal(held(), number % (256 / 64 * 64));
	assert_int_equal(f.tx.flushes, 1);
	assert_int_equal(run(), 0);
	assert_int_equal(f.nops, 1);
	m5_tx_reap(&f.tx);
	assert_int_equal(held(), 0);
	assert_true(m5_tx_idle(&f.tx));
	for (unsigned i = 0; i < 9; i++)
		m5_tx_reap(&f.tx);
	assert_int_equal(f.tx.flushes, 1);
	assert_int_equal(f.tx.doorbells, 15);
}

/* One packet now and then: each is heard of without a NOP. */
static void light_load(void **state)
{
	(void)state;
	fake_tx_open(&f, 8, 0);
	for (uint32_t i = 0; i < 1000; i++) {
		assert_true(queue(i, 60, 0));
		m5_tx_ring(&f.tx);
		run();
		m5_tx_reap(&f.tx);
		assert_int_equal(held(), 0);
		m5_tx_reap(&f.tx);
	}
	assert_int_equal(f.nops, 0);
	assert_int_equal(f.single, 1000);
}

/* A limit on what may be held uncovered. */
static void held_packets(void **state)
{
	(void)state;
	fake_tx_open(&f, 10, 0);
	f.tx.held_packets = 48;
	for (uint32_t i = 0; i < 320; i++) {
		assert_true(queue(i, 60, 0));
		if (i % 40 == 39)
			m5_tx_ring(&f.tx);
		assert_true(f.tx.ring[0].held_new <= 80);
	}
	assert_int_equal(f.tx.ring[0].asked_out, 4);
	settle();
	assert_int_equal(held(), 0);
}

/* Nothing more is asked for than the completion queue takes; what is left comes with the next. */
static void small_completion_queue(void **state)
{
	(void)state;
	fake_tx_open(&f, 8, 0);
	f.tx.ring[0].cq.mask = 7; /* the card's side never has more than that */
	for (uint32_t i = 0; i < 200; i++) {
		assert_true(queue(i, 60, 0));
		f.tx.held_packets = 1;
		m5_tx_ring(&f.tx);
		assert_true(f.tx.ring[0].asked_out <= 7);
	}
	assert_int_equal(f.tx.ring[0].asked_out, 7);
	assert_int_equal(held(), 200);
	f.tx.ring[0].cq.mask = 255;
	settle();
	assert_int_equal(seen, 200);
	assert_int_equal(held(), 0);
}

/* ---- full ---- */

static void full_ring(void **state)
{
	uint32_t n = 0, room;

	(void)state;
	fake_tx_open(&f, 6, 0);
	while (queue(n, 60, 0))
		n++;
	room = n;
	assert_int_equal(room, 64); /* runs, in the worst case one a packet */
	for (unsigned i = 0; i < 5; i++)
		assert_false(queue(n, 60, 0));
	assert_int_equal(f.tx.full, 6);
	m5_tx_ring(&f.tx);
	run();
	assert_false(queue(n, 60, 0)); /* completed, but not looked at */
	m5_tx_reap(&f.tx);
	while (queue(n, 60, 0)) {
		m5_tx_ring(&f.tx); /* a block each */
		n++;
	}
	assert_int_equal(n - room, 64);
	settle();
	assert_int_equal(seen, n);
	assert_int_equal(held(), 0);
}

/* By bytes: the ring ends within a WQE, and none wraps. What one ring has no room for the others
 * take. */
static void full_of_bytes(void **state)
{
	const struct way *w = *state;
	uint32_t n = 0, taken;
	struct m5_pkt pkt[64];

	open_way(w, 6, 0);
	for (unsigned lap = 0; lap < 400; lap++) {
		do {
			for (uint32_t i = 0; i < 64; i++)
				pkt[i] = make(n + i, 60 + test_below(200), 0);
			taken = m5_tx_burst(&f.tx, &rx, pkt, 64, false);
			queued(pkt, n, taken, 64);
			n += taken;
		} while (taken == 64);
		assert_true(n - seen >= w->rings * 64 / 6);
		m5_tx_ring(&f.tx);
		settle();
	}
	assert_int_equal(seen, n);
	assert_true(f.nops > 0); /* where a WQE did not fit before the end */
}

/* ---- work entries ---- */

/* The doorbell is the start of the last entry, after its index is in the record. */
static void check_doorbell(bool write_combining)
{
	uint64_t bell;

	fake_tx_open(&f, 7, 3);
	f.tx.write_combining = write_combining;
	m5_tx_ring(&f.tx);
	assert_int_equal(f.doorbell, 0);
	assert_int_equal(f.ring[0].dbrec[1], 0);
	for (uint32_t i = 0; i < 60; i++) /* more than an entry holds */
		assert_true(queue(i, 60, 0));
	assert_int_equal(f.doorbell, 0);
	m5_tx_ring(&f.tx);
	assert_int_equal(be32toh(f.ring[0].dbrec[1]), 15 + 1);
	memcpy(&bell, f.tx.ring[0].base + 15 * 64, 8);
	assert_int_equal(f.doorbell, bell);
	assert_int_equal(be64toh(bell), UINT64_C(0x00000f29) << 32 | 0x77 << 8 | 4);
	assert_int_equal(f.tx.doorbells, 1);
	m5_tx_ring(&f.tx);
	assert_int_equal(f.tx.doorbells, 1);
	settle();
	assert_int_equal(seen, 60);
}

static void doorbell(void **state)
{
	(void)state;
	check_doorbell(false);
}

static void doorbell_write_combining(void **state)
{
	(void)state;
	check_doorbell(true);
}

/* An entry stays open from burst to burst, until the doorbell; alone in it, a packet is a SEND. */
static void entries(void **state)
{
	(void)state;
	open_way(&ways[1], 7, 0);
	for (uint32_t i = 0; i < 10; i++)
		assert_true(queue(i, i % 2 ? 60 : 1500, 0));
	m5_tx_ring(&f.tx);
	run();
	assert_int_equal(f.multi, 1);
	assert_true(queue(10, 60, 0));
	m5_tx_ring(&f.tx);
	assert_true(queue(11, 1500, 0));
	m5_tx_ring(&f.tx);
	settle();
	assert_int_equal(f.multi, 1);
	assert_int_equal(f.single, 2);
	assert_int_equal(seen, 12);
}

/* Checksums are asked for by entry: where that changes another begins. A tag goes into a copied
 * frame as it is; by pointer it takes an entry of its own. */
static void asks_close_entries(void **state)
{
	static const uint16_t flags[] = { 0, 0, 16, 16, 48, 48, 0, 0 };

	(void)state;
	open_way(&ways[1], 7, 0);
	for (uint32_t i = 0; i < 8; i++)
		assert_true(queue(i, 100, flags[i]));
	m5_tx_ring(&f.tx);
	settle();
	assert_int_equal(f.multi, 4);
	for (uint32_t i = 8; i < 12; i++)
		assert_true(queue(i, 100, M5_PKT_INSERT_VLAN));
	m5_tx_ring(&f.tx);
	settle();
	assert_int_equal(f.multi, 5);
	assert_int_equal(f.single, 0);
	for (uint32_t i = 12; i < 16; i++)
		assert_true(queue(i, 1000, M5_PKT_INSERT_VLAN));
	m5_tx_ring(&f.tx);
	settle();
	assert_int_equal(f.multi, 5);
	assert_int_equal(f.single, 4);
	/* What an entry asks for is not asked of those after it. */
	assert_true(queue(16, 100, M5_PKT_ASK_L3));
	assert_true(queue(17, 100, 0));
	m5_tx_ring(&f.tx);
	settle();
	assert_int_equal(seen, 18);
	assert_int_equal(held(), 0);
}

/* A doorbell a ring, one after the other. */
static void rings_in_turn(void **state)
{
	(void)state;
	open_way(&ways[5], 7, 0);
	for (uint32_t i = 0; i < 12; i++) {
		struct m5_pkt pkt[2] = { make(2 * i, 60, 0), make(2 * i + 1, 60, 0) };

		assert_int_equal(m5_tx_burst(&f.tx, &rx, pkt, 2, false), 2);
		queued(pkt, 2 * i, 2, 2);
		m5_tx_ring(&f.tx);
		assert_int_equal(be64toh(f.doorbell) >> 8 & 0xff, 0x77 + i % 4);
		assert_int_equal(be32toh(f.ring[i % 4].dbrec[1]), (i / 4 + 1) * 3);
	}
	settle();
	assert_int_equal(seen, 24);
}

/* ---- samples ---- */

static void sample(void **state)
{
	uint64_t cookie, stamp;

	(void)state;
	fake_tx_open(&f, 8, 0);
	f.clock = 1000;
	for (uint32_t i = 0; i < 40; i++)
		assert_true(queue(i, 60, 0));
	assert_true(m5_tx_sample(&f.tx, 7));
	assert_false(m5_tx_sample(&f.tx, 8));
	m5_tx_ring(&f.tx);
	assert_int_equal(f.tx.ring[0].asked_out, 1);
	m5_tx_reap(&f.tx);
	assert_false(m5_tx_sampled(&f.tx, &cookie, &stamp));
	run();
	m5_tx_reap(&f.tx);
	assert_true(m5_tx_sampled(&f.tx, &cookie, &stamp));
	assert_int_equal(cookie, 7);
	assert_int_equal(stamp, 1001);
	assert_false(m5_tx_sampled(&f.tx, &cookie, &stamp));
	assert_true(m5_tx_sample(&f.tx, 9));
	assert_true(queue(40, 60, 0));
	m5_tx_ring(&f.tx);
	settle();
	assert_true(m5_tx_sampled(&f.tx, &cookie, &stamp));
	assert_int_equal(cookie, 9);
	assert_int_equal(stamp, 1002);
}

/* ---- errors ---- */

static void write_error(uint16_t block, uint8_t syndrome)
{
	uint32_t *pi = &f.ring[0].pi;
	struct prm_err_cqe *e =
		(void *)&f.tx.ring[0].cq.entry[*pi & f.tx.ring[0].cq.mask];

	memset(e, 0, sizeof(*e));
	e->syndrome = syndrome;
	e->vendor_syndrome = (uint8_t)(syndrome + 1);
	e->wqe_counter = to_be16(block);
	e->op_own = (uint8_t)(PRM_CQE_SEND_ERROR << 4 | (*pi >> f.log_blocks & 1));
	++*pi;
}

/* Takes no more; holds what was not sent until a reset lets it go. */
static void error_stops_it(void **state)
{
	(void)state;
	fake_tx_open(&f, 6, 0);
	for (uint32_t i = 0; i < 10; i++) {
		assert_true(queue(i, 100, 0));
		m5_tx_ring(&f.tx);
	}
	write_error(3, 0x04);
	write_error(4, PRM_SYNDROME_FLUSHED);
	m5_tx_reap(&f.tx);
	assert_true(m5_tx_failed(&f.tx));
	assert_int_equal(f.tx.syndrome, 0x04);
	assert_int_equal(f.tx.vendor_syndrome, 0x05);
	assert_int_equal(f.tx.errors, 2);
	assert_int_equal(held(), 10);
	assert_false(queue(10, 100, 0));
	for (unsigned i = 0; i < 3; i++)
		m5_tx_reap(&f.tx);
	assert_int_equal(f.tx.flushes, 0);
	m5_tx_let_go(&f.tx.ring[0], f.tx.ring[0].held_next);
	assert_int_equal(held(), 0);
}

#define TEST(t) cmocka_unit_test_setup_teardown(t, begin, end)
#define WAY(t, i) \
	{ \
#t " " #i, t, begin, end, (void *)&ways[i] \
	}
#define EVERY_WAY(t) \
	WAY(t, 0), WAY(t, 1), WAY(t, 2), WAY(t, 3), WAY(t, 4), WAY(t, 5), WAY(t, 6), \
		WAY(t, 7), WAY(t, 8)

int main(void)
{
	const struct CMUnitTest tests[] = {
		EVERY_WAY(long_run),
		EVERY_WAY(every_size),
		TEST(held_until_completed),
		TEST(copied_is_free_at_once),
		TEST(few_completions),
		TEST(light_load),
		TEST(held_packets),
		TEST(small_completion_queue),
		TEST(full_ring),
		WAY(full_of_bytes, 1),
		WAY(full_of_bytes, 6),
		TEST(doorbell),
		TEST(doorbell_write_combining),
		TEST(entries),
		TEST(asks_close_entries),
		TEST(rings_in_turn),
		TEST(sample),
		TEST(error_stops_it),
	};

	memory = calloc(SLOTS, SLOT);
	assert_non_null(memory);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
