/* daemon/recover.c - queues in error are reset and filled anew
 *
 * All queues of a worker are looked at together: a packet that was received on one port
 * may wait in the send queue of another, and its memory must not be given to the device
 * before that has let go of it.
 */

#include "../lib/base/time.h"
#include "../lib/m5/rx_hot.h"
#include "../lib/m5/tx_hot.h"
#include "router.h"
#include "watchdog.h"

enum { FLUSH_MS = 20 };

static bool rx_failed(const struct port *p, unsigned w)
{
	return !p->lost && READ_ONCE(m5_rxq_hot(p->rxq[w])->failed);
}

static bool tx_failed(const struct port *p, unsigned w)
{
	return !p->lost && READ_ONCE(m5_txq_hot(p->txq[w])->failed);
}

static bool any(const struct router *r, unsigned w,
		bool (*failed)(const struct port *p, unsigned w))
{
	for (unsigned i = 0; i < r->n_ports; i++)
		if (failed(&r->port[i], w))
			return true;
	return false;
}

static void say(const struct port *p, unsigned w, const char *which, unsigned syndrome,
		unsigned vendor)
{
	log_warning(
		"port %s: %s queue of worker %u in error: %s (0x%02x, vendor 0x%02x); "
		"resetting it",
		p->conf->name, which, w, prm_syndrome_text(syndrome), syndrome, vendor);
}

static int reset_tx(struct port *p, unsigned w, struct err *err)
{
	const struct m5_tx *tx = m5_txq_hot(p->txq[w]);
	int r;

	if (tx->failed) {
		say(p, w, "send", tx->syndrome, tx->vendor_syndrome);
		p->failures[TRANSMIT][failure_of(tx->syndrome)]++;
	}
	r = m5_txq_reset(p->txq[w], err);
	if (r >= 0)
		r = m5_txq_start(p->txq[w], err);
	p->recoveries[TRANSMIT][r < 0]++;
	return r;
}

static enum failure rx_failure(struct port *p, unsigned w)
{
	const struct m5_rx *rx = m5_rxq_hot(p->rxq[w]);

	if (rx->out_of_step == p->out_of_step[w])
		return failure_of(rx->syndrome);
	p->out_of_step[w] = rx->out_of_step;
	return FAILURE_OUT_OF_STEP;
}

static int reset_rx(struct port *p, unsigned w, struct err *err)
{
	const struct m5_rx *rx = m5_rxq_hot(p->rxq[w]);
	int r;

	say(p, w, "receive", rx->syndrome, rx->vendor_syndrome);
	p->failures[RECEIVE][rx_failure(p, w)]++;
	r = m5_rxq_reset(p->rxq[w], err);
	if (r >= 0)
		r = m5_rxq_start(p->rxq[w], err);
	p->recoveries[RECEIVE][r < 0]++;
	return r;
}

uint64_t recover_count(const struct port *p)
{
	uint64_t sum = 0;

	for (unsigned d = 0; d < DIRECTIONS; d++)
		sum += p->recoveries[d][0] + p->recoveries[d][1];
	return sum;
}

/* A healthy send queue keeps its packets unless they will not leave and a receive queue needs their
 * memory. */
static bool must_reset_tx(const struct port *p, unsigned w, bool rx_needs_memory)
{
	return tx_failed(p, w) ||
	       (rx_needs_memory && !p->lost && !m5_tx_idle(m5_txq_hot(p->txq[w])));
}

/* Return: a bit for each port whose device will not do it. */
static uint32_t reset_queues(struct router *r, unsigned w)
{
	bool rx = any(r, w, rx_failed);
	struct err err[FWD_PORTS_MAX] = { { "" } };
	uint32_t bad = 0;

	workers_flush(r, w, time_ns() + FLUSH_MS * NS_PER_MS);
	for (unsigned i = 0; i < r->n_ports; i++) {
		if (!must_reset_tx(&r->port[i], w, rx) ||
		    reset_tx(&r->port[i], w, &err[i]) >= 0)
			continue;
		bad |= 1u << i;
		/* Nor may its packets be let go of when their queue has begun anew. */
		m5_txq_abandon(r->port[i].txq[w]);
	}
	for (unsigned i = 0; i < r->n_ports; i++)
		if (!(bad & 1u << i) && rx_failed(&r->port[i], w) &&
		    reset_rx(&r->port[i], w, &err[i]) < 0)
			bad |= 1u << i;
	for (unsigned i = 0; i < r->n_ports; i++)
		if (bad & 1u << i)
			log_error("port %s: %s", r->port[i].conf->name, err[i].text);
	return bad;
}

void recover_tick(struct router *r)
{
	for (unsigned w = 0; w < r->n_workers; w++) {
		uint32_t bad;

		if (!any(r, w, rx_failed) && !any(r, w, tx_failed))
			continue;
		watchdog_pause(r, w);
		bad = reset_queues(r, w);
		fwd_worker_resume(r->worker[w]);
		for (unsigned i = 0; i < r->n_ports; i++)
			if (bad & 1u << i)
				port_give_up(&r->port[i]);
	}
}
