/* fwd/idle.c - what a worker does when nothing comes
 *
 *   spin      look again at once: lowest latency, a whole core
 *   pause     wait at the line of the next completion (watch.h): kinder to a sibling thread,
 *             and to the power bill where the processor can rest
 *   sleep     arm the completion queues and sleep until one has something
 *   adaptive  spin for idle_spin_us, pause for idle_pause_us, then sleep
 *
 * Only one line can be watched: that of the port that had the last packet. A packet of another
 * port, a table that waits for the end of our turn, and a send's completion wait for the end of
 * the pause: FWD_WATCH_MANY_US or, with one port, FWD_WATCH_ONE_US.
 *
 * A completion between the last look and the arming raises the event at once
 * (m5_rx_arm()), so none is slept through. A sleeper is offline for RCU: nobody waits
 * for it.
 */

#include <poll.h>
#include <unistd.h>

#include "../base/rcu.h"
#include "../base/time.h"
#include "../m5/rx_hot.h"
#include "../m5/tx_hot.h"
#include "worker_inside.h"

enum { SLEEP_MAX_MS = 1000 };

/* The end of the next completion is written last, and never with what was there before: one bit
 * of it turns with each lap. */
static const uint64_t *next_word(const struct m5_rx *rx)
{
	const uint64_t *entry = (const void *)&rx->cq.entry[rx->cq.ci & rx->cq.mask];

	return &entry[sizeof(struct prm_cqe) / sizeof(*entry) - 1];
}

/* What comes after the word was read makes it another, what came before is seen at once. */
static void pause_until_packet(struct fwd_worker *w)
{
	const struct m5_rx *rx = w->port[w->heard].rx;
	const uint64_t *word = next_word(rx);
	uint64_t seen = __atomic_load_n(word, __ATOMIC_ACQUIRE);

	if (!m5_cq_peek_as(&rx->cq, rx->layout))
		w->watch(word, seen, w->watch_ticks);
}

static bool take_event(const struct pollfd *fd)
{
	uint64_t word;

	return fd->revents && read(fd->fd, &word, sizeof(word)) > 0;
}

/* Sends that are under way end by themselves, but their completions free receive buffers: look
 * again soon while there are some. */
static int patience_ms(const struct fwd_worker *w)
{
	for (unsigned p = 0; p < w->n_ports; p++)
		if (w->port[p].tx && !m5_tx_idle(w->port[p].tx))
			return 1;
	return SLEEP_MAX_MS;
}

static void sleep_until_packet(struct fwd_worker *w)
{
	struct pollfd fd[FWD_PORTS_MAX + 1];
	unsigned n = w->n_ports;

	for (unsigned p = 0; p < n; p++) {
		/* poll(2) passes over a negative descriptor. */
		fd[p] = (struct pollfd){ .fd = w->port[p].rx ? w->port[p].rx_event_fd
							     : -1,
					 .events = POLLIN };
		if (w->port[p].rx)
			m5_rx_arm(w->port[p].rx);
	}
	fd[n++] = (struct pollfd){ .fd = w->wake_fd, .events = POLLIN };
	if (w->holds)
		fwd_publish_use(w);
	__atomic_store_n(&w->count.sleeps, w->count.sleeps + 1, __ATOMIC_RELAXED);
	rcu_offline();
	poll(fd, n, patience_ms(w));
	rcu_online();
	take_event(&fd[n - 1]);
	for (unsigned p = 0; p < w->n_ports; p++)
		while (w->port[p].rx && take_event(&fd[p]))
			m5_rx_event(w->port[p].rx);
}

/* Return: false = not at all. */
static bool wait(struct fwd_worker *w, uint64_t idle)
{
	switch (w->conf.idle) {
	case FWD_IDLE_SPIN:
		return false;
	case FWD_IDLE_PAUSE:
		break;
	case FWD_IDLE_SLEEP:
		sleep_until_packet(w);
		return true;
	case FWD_IDLE_ADAPTIVE:
		if (idle < w->spin_ticks)
			return false;
		if (idle < w->spin_ticks + w->pause_ticks)
			break;
		sleep_until_packet(w);
		return true;
	}
	if (!w->port[w->heard].rx)
		return false;
	pause_until_packet(w);
	return true;
}

void fwd_idle(struct fwd_worker *w)
{
	uint64_t now = time_ticks();

	fwd_time_nothing(w, now);
	if (w->holds && now - w->use_at > w->use_ticks)
		fwd_publish_use(w);
	if (wait(w, now - w->idle_since))
		fwd_time_waited(w);
}
