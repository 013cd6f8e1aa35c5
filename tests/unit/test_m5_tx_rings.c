/* unit/test_m5_tx_rings.c - a send queue of several rings, one of which is behind */

#include "../test.h"
#include "fake_nic.h"

static uint32_t seen;

static void on_sent(void *arg, const uint8_t *frame, uint32_t len)
{
	(void)arg;
	(void)frame;
	assert_int_equal(len, 60);
	seen++;
}

static uint32_t burst(struct fake_rx *rx, struct fake_tx *tx, uint32_t n)
{
	static const uint8_t frame[60];
	struct m5_pkt pkt[8];

	for (uint32_t i = 0; i < n; i++)
		assert_true(fake_rx_frame(rx, frame, sizeof(frame), true));
	assert_int_equal(m5_rx_burst(&rx->rx, pkt, n), n);
	return m5_tx_burst(&tx->tx, &rx->rx, pkt, n, false);
}

/* A ring that is full and has nothing new does not stand before the others. */
static void a_full_ring_is_passed_over(void **state)
{
	struct fake_rx rx;
	struct fake_tx tx;
	uint32_t n = 0;

	(void)state;
	fake_rx_open(&rx, 8, 0, 9);
	fake_tx_open_rings(&tx, 6, 0, 2);
	while (m5_tx_room(&tx.tx.ring[0])) {
		tx.tx.now = 0;
		n += burst(&rx, &tx, 1);
		m5_tx_ring(&tx.tx);
	}
	tx.tx.now = 0;
	assert_int_equal(burst(&rx, &tx, 4), 4);
	assert_int_equal(tx.tx.full, 0);
	m5_tx_ring(&tx.tx);
	fake_tx_run(&tx, on_sent, NULL);
	assert_int_equal(seen, n + 4);
	fake_tx_close(&tx);
	fake_rx_close(&rx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_full_ring_is_passed_over),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
