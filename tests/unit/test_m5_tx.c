/* unit/test_m5_tx.c - the send path against a card in plain memory: long runs, full rings */

#include <stdlib.h>
#include <string.h>

#include "../../lib/m5/tx_hot.h"
#include "../test.h"
#include "fake_nic.h"

enum { CHUNKS = 4 };

/* What packets are said to be in: only keys and references are looked at. */
static struct m5_rx rx;
static uint32_t refs[CHUNKS];
static uint8_t memory[4096];

static int begin(void **state)
{
	(void)state;
	memset(&rx, 0, sizeof(rx));
	memset(refs, 0, sizeof(refs));
	rx.refs = refs;
	for (unsigned i = 0; i < M5_DEVS_MAX; i++)
		rx.lkey[i] = to_be32(0x1234 + i);
	return 0;
}

/* ---- what the card sent ---- */

static uint32_t seen, wrong;

/* Packet n is n % 1000 + 1 bytes at n % 3000 of the memory. */
static void on_sent(void *arg, const uint8_t *frame, uint32_t len)
{
	(void)arg;
	wrong += frame != memory + seen % 3000 || len != seen % 1000 + 1;
	seen++;
}

static bool queue(struct fake_tx *f, uint32_t n)
{
	struct m5_pkt pkt = { .data = memory + n % 3000,
			      .wqe = (uint16_t)(n % CHUNKS),
			      .len = (uint16_t)(n % 1000 + 1) };

	refs[pkt.wqe]++;
	if (m5_tx_queue(&f->tx, &rx, &pkt))
		return true;
	refs[pkt.wqe]--;
	return false;
}

static uint32_t held(void)
{
	return refs[0] + refs[1] + refs[2] + refs[3];
}

/* Random bursts; the card is behind by as much as it likes. */
static void long_run(void **state)
{
	struct fake_tx f;
	uint32_t n = 0, burst, blocks = 0;
	uint16_t before;

	(void)state;
	seen = wrong = 0;
	fake_tx_open(&f, 6, 0);
	while (n < 400000) {
		before = f.tx.next;
		for (burst = 1 + test_below(test_below(3) ? 4 : 80);
		     burst && queue(&f, n); burst--)
			n++;
		m5_tx_ring(&f.tx);
		blocks += (uint16_t)(f.tx.next - before);
		if (test_below(3) == 0)
			fake_tx_run(&f, on_sent, NULL);
		if (test_below(2) == 0)
			m5_tx_reap(&f.tx);
		assert_true(held() >= n - seen);
		assert_true(held() <= 64);
	}
	fake_tx_run(&f, on_sent, NULL);
	m5_tx_reap(&f.tx);
	assert_int_equal(seen, n);
	assert_int_equal(wrong, 0);
	assert_int_equal(held(), 0);
	assert_true(m5_tx_idle(&f.tx));
	assert_true(blocks > 65536); /* of 16 bits */
	fake_tx_close(&f);
}

/* Nothing of an entry is given back before its completion, everything after it. */
static void held_until_completed(void **state)
{
	struct fake_tx f;

	(void)state;
	seen = wrong = 0;
	fake_tx_open(&f, 6, 0);
	for (uint32_t i = 0; i < 30; i++)
		assert_true(queue(&f, i));
	m5_tx_reap(&f.tx);
	assert_int_equal(held(), 30);
	m5_tx_ring(&f.tx);
	m5_tx_reap(&f.tx);
	assert_int_equal(held(), 30);
	assert_int_equal(fake_tx_run(&f, on_sent, NULL), 30);
	assert_int_equal(held(), 30);
	assert_false(m5_tx_idle(&f.tx));
	/* What is queued meanwhile stays. */
	assert_true(queue(&f, 30));
	m5_tx_reap(&f.tx);
	assert_int_equal(held(), 1);
	fake_tx_close(&f);
}

static void full_ring(void **state)
{
	uint32_t n = 0, room;
	struct fake_tx f;

	(void)state;
	seen = wrong = 0;
	fake_tx_open(&f, 6, 0);
	while (queue(&f, n))
		n++;
	room = n;
	assert_in_range(room, 48, 64);
	for (unsigned i = 0; i < 5; i++)
		assert_false(queue(&f, n));
	m5_tx_ring(&f.tx);
	fake_tx_run(&f, on_sent, NULL);
	assert_false(queue(&f, n)); /* completed, but not looked at */
	m5_tx_reap(&f.tx);
	while (queue(&f, n)) {
		m5_tx_ring(&f.tx); /* a block each */
		n++;
	}
	assert_int_equal(n - room, 64);
	fake_tx_run(&f, on_sent, NULL);
	m5_tx_reap(&f.tx);
	assert_int_equal(seen, n);
	assert_int_equal(wrong, 0);
	assert_int_equal(held(), 0);
	fake_tx_close(&f);
}

/* The doorbell is the start of the last entry, after its index is in the record. */
static void doorbell(void **state)
{
	uint64_t want;
	struct fake_tx f;

	(void)state;
	fake_tx_open(&f, 6, 3);
	m5_tx_ring(&f.tx);
	assert_int_equal(f.doorbell, 0);
	assert_int_equal(f.dbrec[1], 0);
	for (uint32_t i = 0; i < 61; i++) /* more than an entry holds */
		assert_true(queue(&f, i));
	assert_int_equal(f.doorbell, 0);
	m5_tx_ring(&f.tx);
	assert_int_equal(be32toh(f.dbrec[1]), 15 + 2);
	memcpy(&want, f.tx.ring + 15 * 64, 8);
	assert_int_equal(f.doorbell, want);
	assert_int_equal(be64toh(want), UINT64_C(0x00000f29) << 32 | 0x77 << 8 | 5);
	assert_int_equal(f.tx.doorbells, 1);
	m5_tx_ring(&f.tx);
	assert_int_equal(f.tx.doorbells, 1);
	fake_tx_close(&f);
}

/* ---- errors ---- */

static void write_error(struct fake_tx *f, uint16_t block, uint8_t syndrome)
{
	struct prm_err_cqe *e = (void *)&f->tx.cq.entry[f->pi & f->tx.cq.mask];

	memset(e, 0, sizeof(*e));
	e->syndrome = syndrome;
	e->vendor_syndrome = (uint8_t)(syndrome + 1);
	e->wqe_counter = to_be16(block);
	e->op_own = (uint8_t)(PRM_CQE_SEND_ERROR << 4 | (f->pi >> f->log_blocks & 1));
	f->pi++;
}

/* Takes no more; holds what was not sent until a reset lets it go. */
static void error_stops_it(void **state)
{
	struct fake_tx f;

	(void)state;
	fake_tx_open(&f, 6, 0);
	for (uint32_t i = 0; i < 10; i++) {
		assert_true(queue(&f, i));
		m5_tx_ring(&f.tx);
	}
	write_error(&f, 3, 0x04);
	write_error(&f, 4, PRM_SYNDROME_FLUSHED);
	m5_tx_reap(&f.tx);
	assert_true(m5_tx_failed(&f.tx));
	assert_int_equal(f.tx.syndrome, 0x04);
	assert_int_equal(f.tx.vendor_syndrome, 0x05);
	assert_int_equal(f.tx.errors, 2);
	assert_int_equal(held(), 10);
	assert_false(queue(&f, 10));
	m5_tx_let_go(&f.tx, f.tx.held_next);
	assert_int_equal(held(), 0);
	fake_tx_close(&f);
}

#define TEST(f) cmocka_unit_test_setup(f, begin)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(long_run), TEST(held_until_completed), TEST(full_ring),
		TEST(doorbell), TEST(error_stops_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
