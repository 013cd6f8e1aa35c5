/* fwd/publish.c - a worker's counters, for others to read
 *
 * While packets flow the worker counts in memory of its own: a line that somebody reads again
 * and again costs its writer dearly, once a burst and worker.
 */

#include "../m5/use_hot.h"
#include "worker_inside.h"

static void copy_words(uint64_t *to, const uint64_t *from, size_t n)
{
	for (size_t i = 0; i < n; i++)
		__atomic_store_n(&to[i], from[i], __ATOMIC_RELAXED);
}

static void copy(struct fwd_port_count *to, const struct fwd_port_count *from)
{
	copy_words((uint64_t *)(void *)to, (const uint64_t *)(const void *)from,
		   sizeof(*to) / sizeof(uint64_t));
}

void fwd_publish_use(struct fwd_worker *w)
{
	w->holds = false;
	w->use_at = w->mark;
	for (unsigned p = 0; p < w->n_ports; p++) {
		const struct fwd_port *port = &w->port[p];
		uint32_t receive = port->rx ? m5_rx_used(port->rx) : 0;
		uint32_t transmit = port->tx ? m5_tx_used(port->tx) : 0;

		__atomic_store_n(&w->use[p].receive, receive, __ATOMIC_RELAXED);
		__atomic_store_n(&w->use[p].transmit, transmit, __ATOMIC_RELAXED);
		w->holds |= receive || transmit;
	}
}

void fwd_publish(struct fwd_worker *w)
{
	for (unsigned p = 0; p < w->n_ports; p++)
		copy(&w->port_count[p], &w->own[p]);
	copy_words(w->count.bursts, w->bursts, FWD_BURST_SIZES);
	w->unpublished = 0;
	w->holds = true; /* perhaps; fwd_publish_use() will tell */
}

void fwd_publish_busy(struct fwd_worker *w)
{
	fwd_time_busy(w);
	fwd_publish(w);
	fwd_publish_use(w);
}
