/* unit/test_fwd_idle.c - a worker waits at the next completion, however completions are laid out
 *
 * The pause is ours: it tells which word was waited at, and what was taken for its old contents. A
 * card in plain memory writes a completion before that, or while the worker waits. Laps of a small
 * ring go by until each number of a lap has been there more than once: with the enhanced layout an
 * entry is ours by that number, and its owner bit says nothing.
 */

#include <string.h>
#include <unistd.h>

#include "../../lib/fwd/worker_inside.h"
#include "../test.h"
#include "fake_nic.h"

enum { LOG_RING = 3, LAPS = 600, SESSION = 4, FRAME = 60 };

static struct fake_rx card;

/* ---- the pause ---- */

static struct {
	unsigned calls;
	const uint64_t *word;
	uint64_t seen;
	uint32_t frames; /* that come meanwhile */
} waited;

static void frames_come(uint32_t n)
{
	static const uint8_t frame[FRAME];

	for (uint32_t i = 0; i < n; i++)
		assert_true(fake_rx_frame(&card, frame, FRAME, true));
	fake_rx_flush(&card);
}

static void spy(const uint64_t *word, uint64_t seen, uint64_t ticks)
{
	assert_true(ticks > 0);
	waited.calls++;
	waited.word = word;
	waited.seen = seen;
	assert_true(*word == seen);
	if (!waited.frames)
		return;
	frames_come(waited.frames);
	assert_true(*word != seen); /* or nothing would end the wait */
}

static unsigned idle(struct fwd_worker *w, uint32_t frames)
{
	memset(&waited, 0, sizeof(waited));
	waited.frames = frames;
	fwd_idle(w);
	return waited.calls;
}

/* ---- one worker, one port ---- */

static struct fwd_worker *open_worker(enum m5_cq_layout layout)
{
	struct fwd_conf conf = {
		.cpu = -1, .idle = FWD_IDLE_PAUSE, .punt_ring = 8, .punt_bytes = 64
	};
	struct fwd_port port = { .rx = &card.rx, .rx_event_fd = -1 };
	struct fwd_worker *w;

	fake_rx_open(&card, LOG_RING, 0, 9);
	if (layout != M5_CQ_PLAIN)
		fake_rx_compress(&card, layout, SESSION);
	assert_int_equal(fwd_worker_new(&conf, &w), 0);
	fwd_worker_set_port(w, 0, &port);
	w->watch = spy;
	return w;
}

static void close_worker(struct fwd_worker *w)
{
	fwd_worker_free(w);
	fake_rx_close(&card);
}

static void take_all(uint32_t n)
{
	struct m5_pkt pkt[1 << LOG_RING];

	assert_int_equal(m5_rx_burst(&card.rx, pkt, 1 << LOG_RING), n);
	for (uint32_t i = 0; i < n; i++)
		m5_rx_put(&card.rx, pkt[i].wqe, 1);
	assert_int_equal(m5_rx_burst(&card.rx, pkt, 1), 0); /* posts them again */
}

static void for_laps(enum m5_cq_layout layout, void (*step)(struct fwd_worker *w))
{
	struct fwd_worker *w = open_worker(layout);

	while (card.rx.cq.ci >> LOG_RING < LAPS)
		step(w);
	if (layout != M5_CQ_PLAIN)
		assert_true(card.rx.compressed > LAPS);
	close_worker(w);
}

static void each_layout(void (*step)(struct fwd_worker *w))
{
	for (int layout = 0; layout < M5_CQ_LAYOUT_COUNT; layout++)
		for_laps((enum m5_cq_layout)layout, step);
}

/* ---- tests ---- */

static void nothing_then_packets(struct fwd_worker *w)
{
	uint32_t n = 1 + test_below(SESSION);

	assert_int_equal(idle(w, n), 1);
	assert_ptr_equal((const uint8_t *)waited.word,
			 (const uint8_t *)m5_cq_at(&card.rx.cq, card.rx.cq.ci) + 56);
	take_all(n);
}

static void a_completion_ends_the_wait(void **state)
{
	(void)state;
	each_layout(nothing_then_packets);
}

/* They came after the turn had found nothing. */
static void packets_at_once(struct fwd_worker *w)
{
	uint32_t n = 1 + test_below(SESSION);

	frames_come(n);
	assert_int_equal(idle(w, 0), 0);
	take_all(n);
}

static void what_is_there_is_not_waited_for(void **state)
{
	(void)state;
	each_layout(packets_at_once);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_completion_ends_the_wait),
		cmocka_unit_test(what_is_there_is_not_waited_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
