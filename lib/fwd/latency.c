/* fwd/latency.c - how long packets stay here, by the card's clock
 *
 * Of one burst in conf.latency_sample: from the stamp that the card gave a packet as it arrived
 * to that of the completion of the doorbell by which its burst left. Both stamps must be of one
 * clock: fwd_port.clock. A burst that leaves by several ports is passed over, and the next one
 * is looked at; so is one of a session of compressed completions that has no stamp of its own.
 *
 * A sample is the ingress port's, as what is forwarded is counted: waiting for us is its largest
 * part. Each send queue has one under way at most.
 */

#include "../m5/clock.h"
#include "../m5/tx_hot.h"
#include "worker_inside.h"

/* Return: false = by several ports, or one that has a sample under way. */
static bool start(struct fwd_worker *w, unsigned in, uint64_t stamp)
{
	const struct m5_clock *clock = w->port[in].clock;
	unsigned out;

	if (!w->to_ring || w->to_ring & (w->to_ring - 1))
		return false;
	out = (unsigned)__builtin_ctz(w->to_ring);
	if (!clock || clock != w->port[out].clock)
		return true;
	if (!m5_tx_sample(w->port[out].tx, stamp))
		return false;
	w->sampled_in[out] = (uint8_t)in;
	return true;
}

void fwd_latency_start(struct fwd_worker *w, unsigned in, uint64_t stamp)
{
	w->to_sample = start(w, in, stamp) ? w->conf.latency_sample : 1;
}

void fwd_latency_end(struct fwd_worker *w, unsigned out)
{
	unsigned in = w->sampled_in[out];
	const struct m5_clock *clock = w->port[in].clock;
	uint64_t from, to;
	int64_t ns;

	if (!m5_tx_sampled(w->port[out].tx, &from, &to))
		return;
	if (!clock || clock != w->port[out].clock)
		return; /* a port was lost meanwhile */
	ns = m5_clock_between_ns(clock, from, to);
	if (ns >= 0)
		histogram_add(&w->latency[in], (uint64_t)ns);
}
