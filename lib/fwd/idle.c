/* fwd/idle.c - what a worker does when nothing comes
 *
 *   spin      look again at once: lowest latency, a whole core
 *   pause     look again after a pause instruction: kinder to a sibling thread
 *   sleep     arm the completion queues and sleep until one has something
 *   adaptive  spin for idle_spin_us, pause for idle_pause_us, then sleep
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

enum { SLEEP_MAX_MS = 1000, PAUSES = 16 };

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
	__atomic_store_n(&w->count.sleeps, w->count.sleeps + 1, __ATOMIC_RELAXED);
	rcu_offline();
	poll(fd, n, patience_ms(w));
	rcu_online();
	take_event(&fd[n - 1]);
	for (unsigned p = 0; p < w->n_ports; p++)
		while (w->port[p].rx && take_event(&fd[p]))
			m5_rx_event(w->port[p].rx);
}

void fwd_idle(struct fwd_worker *w)
{
	uint64_t now = time_ticks(), idle;

	if (!w->idle_since)
		w->idle_since = now;
	idle = now - w->idle_since;
	switch (w->conf.idle) {
	case FWD_IDLE_SPIN:
		return;
	case FWD_IDLE_PAUSE:
		break;
	case FWD_IDLE_SLEEP:
		sleep_until_packet(w);
		return;
	case FWD_IDLE_ADAPTIVE:
		if (idle < w->spin_ticks)
			return;
		if (idle < w->spin_ticks + w->pause_ticks)
			break;
		sleep_until_packet(w);
		return;
	}
	for (int i = 0; i < PAUSES; i++)
		time_relax();
}
