/* unit/test_fwd_busy.c - what a worker says of itself: time, lengths of bursts, rings
 *
 * The worker's own idle strategy is at work here, on a card in plain memory.
 */

#include <string.h>

#include "../../lib/base/time.h"
#include "../../lib/m5/use_hot.h"
#include "../../lib/fwd/worker_inside.h"
#include "../test.h"
#include "fake_nic.h"

enum { WAIT_TICKS = 1000 * 1000, FRAME = 60 };

static struct fake_rx card;
static struct fake_tx out;

static void wait_long(const uint64_t *word, uint64_t seen, uint64_t ticks)
{
	uint64_t start = time_ticks();

	(void)word;
	(void)seen;
	(void)ticks;
	while (time_ticks() - start < WAIT_TICKS)
		time_relax();
}

static void drop(void *arg, const uint8_t *frame, uint32_t len)
{
	(void)arg;
	(void)frame;
	(void)len;
}

static struct fwd_worker *open_worker(enum fwd_idle idle)
{
	struct fwd_conf conf = {
		.cpu = -1, .idle = idle, .punt_ring = 8, .punt_bytes = 64
	};
	struct fwd_port port = { .rx = &card.rx, .tx = &out.tx, .rx_event_fd = -1 };
	struct fwd_worker *w;

	fake_rx_open(&card, 6, 0, 9);
	fake_tx_open(&out, 6, 0);
	assert_int_equal(fwd_worker_new(&conf, &w), 0);
	fwd_worker_set_port(w, 0, &port);
	w->watch = wait_long;
	fwd_time_start(w);
	return w;
}

static void close_worker(struct fwd_worker *w)
{
	fwd_worker_free(w);
	fake_rx_close(&card);
	fake_tx_close(&out);
}

static uint64_t busy(const struct fwd_worker *w)
{
	return fwd_worker_count(w)->busy_ticks;
}

static uint64_t idle(const struct fwd_worker *w)
{
	return fwd_worker_count(w)->idle_ticks;
}

/* As the loop does after turns that brought packets. */
static void work(struct fwd_worker *w, uint64_t ticks)
{
	uint64_t start = time_ticks();

	while (time_ticks() - start < ticks)
		time_relax();
	w->idle_since = 0;
}

/* ---- time ---- */

static void work_is_busy_and_a_wait_is_idle(void **state)
{
	struct fwd_worker *w = open_worker(FWD_IDLE_PAUSE);

	(void)state;
	fwd_idle(w); /* waits */
	assert_true(idle(w) >= WAIT_TICKS);
	w->count.busy_ticks = w->count.idle_ticks = 0;
	work(w, WAIT_TICKS);
	assert_int_equal(busy(w), 0); /* nobody has looked at the clock */
	fwd_idle(w);
	assert_true(busy(w) >= WAIT_TICKS / 2); /* but for a look; see below */
	assert_true(idle(w) >= WAIT_TICKS);
	close_worker(w);
}

static void all_time_is_one_or_the_other(void **state)
{
	struct fwd_worker *w = open_worker(FWD_IDLE_SPIN);
	uint64_t start = w->mark;

	(void)state;
	for (unsigned i = 0; i < 1000; i++) {
		if (test_below(2))
			work(w, test_below(2000));
		if (test_below(10))
			fwd_idle(w);
		else
			fwd_time_busy(w);
		assert_int_equal(busy(w) + idle(w), w->mark - start);
	}
	assert_true(busy(w) > 0 && idle(w) > 0);
	close_worker(w);
}

/* A burst, nothing, a burst, nothing: what the looks took is not work. */
static void a_look_for_packets_is_no_work(void **state)
{
	enum { LOOK = 10000, WORK = 30000, ROUNDS = 100 };
	struct fwd_worker *w = open_worker(FWD_IDLE_SPIN);
	uint64_t now;

	(void)state;
	fwd_time_nothing(w, now = w->mark);
	fwd_time_nothing(w, now += LOOK);     /* two in a row: so long is one */
	fwd_time_nothing(w, now += 9 * LOOK); /* kept from its CPU meanwhile */
	w->count.busy_ticks = w->count.idle_ticks = 0;
	for (unsigned i = 0; i < ROUNDS; i++) {
		w->idle_since = 0;
		fwd_time_nothing(w, now += WORK + LOOK);
	}
	assert_int_equal(busy(w), ROUNDS * WORK);
	assert_int_equal(idle(w), ROUNDS * LOOK);
	close_worker(w);
}

static void load_without_end_is_published(void **state)
{
	struct fwd_worker *w = open_worker(FWD_IDLE_SPIN);

	(void)state;
	work(w, WAIT_TICKS);
	fwd_publish_busy(w);
	assert_true(busy(w) >= WAIT_TICKS);
	assert_int_equal(idle(w), 0);
	close_worker(w);
}

/* ---- rings ---- */

static void a_ring_in_use_is_told_until_it_is_not(void **state)
{
	struct fwd_worker *w = open_worker(FWD_IDLE_SPIN);
	static const uint8_t frame[FRAME];
	struct m5_pkt pkt[4];

	(void)state;
	for (unsigned i = 0; i < 4; i++)
		assert_true(fake_rx_frame(&card, frame, FRAME, true));
	assert_int_equal(m5_rx_burst(&card.rx, pkt, 4), 4);
	assert_int_equal(m5_tx_burst(&out.tx, &card.rx, pkt, 3, false), 3);
	m5_tx_ring(&out.tx);
	fwd_publish_busy(w);
	assert_int_equal(fwd_worker_ring_use(w, 0).receive, 4);
	assert_int_equal(fwd_worker_ring_use(w, 0).transmit, m5_tx_used(&out.tx));
	assert_true(m5_tx_used(&out.tx) > 0 && m5_tx_used(&out.tx) < m5_tx_size(&out.tx));

	m5_rx_put(&card.rx, pkt[3].wqe, 1);
	assert_int_equal(fake_tx_run(&out, drop, NULL), 3);
	m5_tx_reap(&out.tx);
	assert_int_equal(m5_rx_burst(&card.rx, pkt, 4), 0); /* and posts what is free */
	fwd_idle(w);
	assert_int_equal(fwd_worker_ring_use(w, 0).receive, 4); /* not all the time */
	while (time_ticks() - w->use_at <= w->use_ticks)
		time_relax();
	fwd_idle(w);
	assert_int_equal(fwd_worker_ring_use(w, 0).receive, 0);
	assert_int_equal(fwd_worker_ring_use(w, 0).transmit, 0);
	close_worker(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(work_is_busy_and_a_wait_is_idle),
		cmocka_unit_test(all_time_is_one_or_the_other),
		cmocka_unit_test(a_look_for_packets_is_no_work),
		cmocka_unit_test(load_without_end_is_published),
		cmocka_unit_test(a_ring_in_use_is_told_until_it_is_not),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
