/* fwd/loop.c - the packet loop of one worker
 *
 * HOT. No log, allocation, lock or system call; tests/static/hot_symbols.sh fails
 * the build if this object needs a symbol outside its allow-list.
 *
 * A turn takes up to conf.burst packets of each port through four passes. Each pass
 * touches one kind of memory for the whole burst, so its misses overlap:
 *
 *   look (packet)  ->  route (table)  ->  rewrite (packet)  ->  emit (rings)
 *
 * What is done for each packet is only what differs from packet to packet:
 *
 *   look      gathers what makes a frame not plain, and asks once a burst; only if there was
 *             something, the odd frames are sifted out, which odd.c handles one by one
 *   route     whole bursts; a group's packets go on by its legs
 *   rewrite   as long as packets leave by the same port and tag, they stay where they are; the
 *             others are put into a lane of their port
 *   emit      a row of packets to one ring at a time
 *
 * IPv4 and IPv6 have bodies of their own; a burst that has both is sifted into two.
 *
 * The file is built once for each set of instructions in code.c, which chooses, and once for
 * workers that have a trace (trace_inside.h).
 *
 * Every packet leaves by exactly one exit: sent, punted or dropped with a reason.
 * tests/unit/test_fwd_loop.c checks that the three add up to what was received.
 */

#include "../base/rcu.h"
#include "../base/time.h"
#include "../m5/rx_hot.h"
#include "../m5/tx_hot.h"
#include "../pkt/flow_hot.h"
#include "../pkt/plain_hot.h"
#include "../pkt/rewrite_hot.h"
#include "trace_inside.h"
#include "worker_inside.h"

/* Of a stop: full rings of the largest size many times over; microseconds without a packet. */
enum { DRAIN_TURNS = 1 << 16, QUIET_TURNS = 256 };
enum {
	PUBLISH_BURSTS =
		256 /* between two times that counters are published under load */
};

/* ---- look: which packets are plain ---- */

/* Where packets of a burst go: in network order if it is IPv6. */
union asked {
	uint32_t four[FWD_BURST_MAX];
	uint8_t six[FWD_BURST_MAX][16];
};

ALWAYS_INLINE void ask(union asked *to, uint32_t k, const uint8_t *data, bool six)
{
	const uint8_t *ip = data + sizeof(struct eth_hdr);
	be32_t dst;

	if (six) {
		memcpy(to->six[k], ip + offsetof(struct ip6_hdr, dst), 16);
		return;
	}
	memcpy(&dst, ip + offsetof(struct ip4_hdr, dst), sizeof(dst));
	to->four[k] = from_be32(dst);
}

/* @l3_ok: the card checks header checksums, as it seems by the first packet; a constant. */
ALWAYS_INLINE bool look_at_all(const uint8_t mac[6], const struct m5_pkt pkt[],
			       uint32_t n, union asked *to, bool six, bool l3_ok)
{
	struct pkt_look look = pkt_look_at(mac, six);

	for (uint32_t i = 0; i < n; i++) {
		pkt_look(&look, pkt[i].data, pkt[i].len, pkt[i].flags, six, l3_ok);
		ask(to, i, pkt[i].data, six);
	}
	return pkt_looked_plain(&look, l3_ok ? M5_PKT_L3_OK : 0, six);
}

ALWAYS_INLINE bool all_plain(const uint8_t mac[6], const struct m5_pkt pkt[], uint32_t n,
			     union asked *to, bool six)
{
	if (six || likely(pkt[0].flags & M5_PKT_L3_OK))
		return look_at_all(mac, pkt, n, to, six, true);
	return look_at_all(mac, pkt, n, to, six, false);
}

/* Plain packets move to the front, the others to @odd. No processor can foretell which is which.
 * Return: how many are plain. */
ALWAYS_INLINE uint32_t sift(const uint8_t mac[6], struct m5_pkt pkt[], uint32_t n,
			    union asked *to, struct m5_pkt odd[], bool six)
{
	const struct pkt_look none = pkt_look_at(mac, six);
	uint32_t k = 0;

	for (uint32_t i = 0; i < n; i++) {
		struct m5_pkt p = pkt[i];
		struct pkt_look look = none;

		pkt_look(&look, p.data, p.len, 0, six, false);
		pkt[k] = odd[i - k] = p;
		ask(to, k, p.data, six);
		k += pkt_looked_plain(&look, 0, six);
	}
	return k;
}

/* ---- route ---- */

/* One call a burst, and only once there has been a group. */
static __attribute__((noinline)) void pick_legs(const struct fib_tables *t,
						const struct m5_pkt pkt[], uint32_t nh[],
						uint32_t n, uint8_t family)
{
	const uint32_t l3 = sizeof(struct eth_hdr);

	for (uint32_t k = 0; k < n; k++) {
		const struct fib_nh *group = &t->nh[nh[k]];

		if (group->kind == FIB_NH_GROUP)
			nh[k] = fib_nh_leg(group, pkt_flow_hash(pkt[k].data + l3,
								pkt[k].len - l3, family,
								t->flow_seed));
	}
}

ALWAYS_INLINE void route(struct fwd_worker *w, const struct fib_tables *t,
			 const struct m5_pkt pkt[], const union asked *to, uint32_t nh[],
			 uint32_t n, bool six)
{
	if (six)
		fib_lookup6(t, to->six, nh, n);
	else
		fib_lookup4(t, to->four, nh, n);
	if (FWD_TRACED)
		fwd_trace_route(w, pkt, nh, n);
	if (unlikely(t->has_groups))
		pick_legs(t, pkt, nh, n, six ? 6 : 4);
	if (FWD_TRACED)
		fwd_trace_leg(w, t, pkt, nh, n);
}

/* ---- rewrite and emit ---- */

/* What leaves by one port. */
struct row {
	uint32_t n;
	uint64_t bytes;
	bool tagged; /* some have a VLAN tag */
};

/* Return: its new length; 0 = it does not leave like this, and is as it came. */
ALWAYS_INLINE uint32_t rewrite(const struct m5_pkt *p, const struct fib_nh *nh, bool six)
{
	uint32_t bytes = pkt_bytes(p->data, six);

	if (unlikely(!pkt_fits(bytes, p->len, six) || bytes > nh->mtu))
		return 0;
	return pkt_rewrite(p->data, bytes, nh->macs, six);
}

ALWAYS_INLINE void set_tag(struct m5_pkt *p, uint16_t vlan)
{
	p->vlan = vlan;
	p->flags |= M5_PKT_INSERT_VLAN;
}

/* The packets up to the first that does not go the way of the first one. */
ALWAYS_INLINE struct row rewrite_row(const struct fib_nh table[], struct m5_pkt pkt[],
				     const uint32_t nh[], uint32_t n, bool six)
{
	const struct fib_nh *first = &table[nh[0]];
	uint32_t way = fib_nh_way(first), len;
	struct row row = { .tagged = first->vlan };

	if (first->kind != FIB_NH_FORWARD)
		return row;
	for (; row.n < n; row.n++) {
		const struct fib_nh *by = &table[nh[row.n]];

		if (unlikely(fib_nh_way(by) != way))
			break;
		len = rewrite(&pkt[row.n], by, six);
		if (unlikely(!len))
			break;
		pkt[row.n].len = (uint16_t)len;
		row.bytes += len;
	}
	for (uint32_t i = 0; row.tagged && i < row.n; i++)
		set_tag(&pkt[i], first->vlan);
	return row;
}

/* Ring full, or the way out is shut. Return: their bytes. */
COLD static uint64_t drop_row(struct fwd_worker *w, unsigned in, unsigned out,
			      const struct m5_pkt pkt[], uint32_t n)
{
	uint64_t bytes = 0;
	unsigned reason = w->way_out[out] ? PKT_DROP_TX_FULL : fwd_shut(w, out);

	for (uint32_t i = 0; i < n; i++) {
		bytes += pkt[i].len;
		m5_rx_put(w->port[in].rx, pkt[i].wqe, 1);
	}
	w->own[in].dropped[reason] += n;
	if (FWD_TRACED)
		fwd_trace_dropped(w, pkt, n, reason);
	return bytes;
}

ALWAYS_INLINE void emit(struct fwd_worker *w, unsigned in, unsigned out,
			const struct m5_pkt pkt[], struct row row, bool six)
{
	struct fwd_port_count *c = &w->own[in];
	struct m5_tx *tx = w->way_out[out];
	uint32_t sent = 0;

	if (likely(tx))
		sent = m5_tx_burst(tx, w->port[in].rx, pkt, row.n, row.tagged);
	if (FWD_TRACED)
		fwd_trace_sent(w, pkt, sent);
	w->to_ring |= (uint32_t)(sent != 0) << out;
	if (unlikely(sent < row.n))
		row.bytes -= drop_row(w, in, out, pkt + sent, row.n - sent);
	c->forwarded[six] += sent;
	c->forwarded_bytes[six] += row.bytes;
	w->own[out].egress[six] += sent;
	w->own[out].egress_bytes[six] += row.bytes;
}

/* Packets that leave by different ports, and those that do not leave. Return: how many of those
 * there are, in @odd. */
ALWAYS_INLINE uint32_t rewrite_lanes(struct fwd_worker *w, const struct fib_nh table[],
				     struct row row[], const struct m5_pkt pkt[],
				     const uint32_t nh[], uint32_t n, struct m5_pkt odd[],
				     bool six)
{
	uint32_t n_odd = 0;

	for (uint32_t i = 0; i < n; i++) {
		const struct fib_nh *by = &table[nh[i]];
		struct row *r = &row[by->port];
		struct m5_pkt p = pkt[i];
		uint32_t len = 0;

		if (likely(by->kind == FIB_NH_FORWARD))
			len = rewrite(&p, by, six);
		if (unlikely(!len)) {
			odd[n_odd++] = p;
			continue;
		}
		p.len = (uint16_t)len;
		if (unlikely(by->vlan)) {
			set_tag(&p, by->vlan);
			r->tagged = true;
		}
		w->lane[by->port][r->n++] = p;
		r->bytes += len;
	}
	return n_odd;
}

static __attribute__((noinline)) uint32_t go_by_lanes(struct fwd_worker *w, unsigned in,
						      const struct fib_tables *t,
						      const struct m5_pkt pkt[],
						      const uint32_t nh[], uint32_t n,
						      struct m5_pkt odd[], bool six)
{
	struct row row[FWD_PORTS_MAX] = { { 0 } };
	uint32_t n_odd;

	if (six)
		n_odd = rewrite_lanes(w, t->nh, row, pkt, nh, n, odd, true);
	else
		n_odd = rewrite_lanes(w, t->nh, row, pkt, nh, n, odd, false);
	for (unsigned out = 0; out < FWD_PORTS_MAX; out++)
		if (row[out].n)
			emit(w, in, out, w->lane[out], row[out], six);
	return n_odd;
}

/* ---- a turn ---- */

/* All packets of a burst that are plain and of this family. Return: how many are not, in @odd. */
ALWAYS_INLINE uint32_t pass(struct fwd_worker *w, unsigned in, const struct fib_tables *t,
			    struct m5_pkt pkt[], uint32_t n, struct m5_pkt odd[],
			    bool six)
{
	const uint8_t *mac = w->port[in].mac;
	uint32_t nh[FWD_BURST_MAX], plain = n, n_odd;
	union asked to;
	struct row row;

	if (unlikely(w->mixed[in][six]) || unlikely(!all_plain(mac, pkt, n, &to, six)))
		plain = sift(mac, pkt, n, &to, odd, six);
	n_odd = n - plain;
	w->mixed[in][six] = n_odd != 0;
	if (unlikely(!plain))
		return n_odd;
	route(w, t, pkt, &to, nh, plain, six);
	row = rewrite_row(t->nh, pkt, nh, plain, six);
	if (likely(row.n))
		emit(w, in, t->nh[nh[0]].port, pkt, row, six);
	if (likely(row.n == plain))
		return n_odd;
	return n_odd + go_by_lanes(w, in, t, pkt + row.n, nh + row.n, plain - row.n,
				   odd + n_odd, six);
}

static __attribute__((noinline)) uint32_t pass4(struct fwd_worker *w, unsigned in,
						const struct fib_tables *t,
						struct m5_pkt pkt[], uint32_t n,
						struct m5_pkt odd[])
{
	return pass(w, in, t, pkt, n, odd, false);
}

static __attribute__((noinline)) uint32_t pass6(struct fwd_worker *w, unsigned in,
						const struct fib_tables *t,
						struct m5_pkt pkt[], uint32_t n,
						struct m5_pkt odd[])
{
	return pass(w, in, t, pkt, n, odd, true);
}

/* The family that most packets had comes first. */
ALWAYS_INLINE void pass_both(struct fwd_worker *w, unsigned in,
			     const struct fib_tables *t, struct m5_pkt pkt[], uint32_t n)
{
	struct m5_pkt other[FWD_BURST_MAX];
	bool six = w->six_first[in];
	uint32_t left = (six ? pass6 : pass4)(w, in, t, pkt, n, other);

	if (likely(!left))
		return;
	w->six_first[in] = six ^ (left > n - left);
	left = (six ? pass4 : pass6)(w, in, t, other, left, pkt);
	if (left)
		(FWD_TRACED ? fwd_odd_traced : fwd_odd)(w, in, t, pkt, left);
}

/* 1, 2, 3 to 4, 5 to 8, ... packets: the place in fwd_count.bursts. */
ALWAYS_INLINE unsigned fwd_burst_size(uint32_t n)
{
	return 31 - (unsigned)__builtin_clz(2 * n - 1);
}

ALWAYS_INLINE uint32_t turn_port(struct fwd_worker *w, unsigned in,
				 const struct fib_tables *t)
{
	struct m5_pkt pkt[FWD_BURST_MAX];
	struct m5_rx_stamp stamp;
	bool timed = w->to_sample == 1;
	uint64_t bytes = 0;
	uint32_t n;

	if (FWD_TRACED)
		n = fwd_trace_burst(w, in, pkt, &stamp);
	else if (unlikely(timed))
		n = m5_rx_burst_stamped(w->port[in].rx, pkt, w->conf.burst, &stamp);
	else
		n = m5_rx_burst(w->port[in].rx, pkt, w->conf.burst);
	if (n == 0)
		return 0;
	for (uint32_t i = 0; i < n; i++)
		bytes += pkt[i].len;
	w->bursts[fwd_burst_size(n)]++;
	w->own[in].received += n;
	w->own[in].received_bytes += bytes;
	pass_both(w, in, t, pkt, n);
	if (FWD_TRACED)
		fwd_trace_end(w);
	w->heard = in;
	w->to_sample -= w->to_sample > 1;
	if (unlikely(timed) && stamp.at < n)
		fwd_latency_start(w, in, stamp.raw);
	for (; w->to_ring; w->to_ring &= w->to_ring - 1)
		m5_tx_ring(w->port[__builtin_ctz(w->to_ring)].tx);
	return n;
}

ALWAYS_INLINE void reap(struct fwd_worker *w, unsigned out)
{
	m5_tx_reap(w->port[out].tx);
	if (unlikely(w->port[out].tx->sample == M5_TX_SAMPLE_DONE))
		fwd_latency_end(w, out);
}

/* At rest all counters are published. */
ALWAYS_INLINE void count_turn(struct fwd_worker *w, uint32_t n)
{
	count_add(&w->count.turns, 1);
	if (unlikely(n == 0)) {
		count_add(&w->count.empty_turns, 1);
		if (w->unpublished)
			fwd_publish(w);
	} else if (unlikely(++w->unpublished == PUBLISH_BURSTS)) {
		fwd_publish_busy(w);
	}
}

/* No table pointer survives a turn, so each turn ends a read-side section and old tables can be
 * freed. */
static uint32_t turn(struct fwd_worker *w)
{
	const struct fib_tables *t = rcu_read(*w->conf.live);
	uint32_t n = 0;

	/* What other ports have sent is memory of any port's: all that is free is posted before a
	 * turn can find nothing and the worker sleeps. */
	for (unsigned p = 0; p < w->n_ports; p++)
		if (w->port[p].tx)
			reap(w, p);
	for (unsigned p = 0; p < w->n_ports; p++)
		if (w->port[p].rx)
			n += turn_port(w, p, t);
	rcu_turn();
	count_turn(w, n);
	return n;
}

static void loop(struct fwd_worker *w)
{
	while (!atomic_load_explicit(&w->stop, memory_order_relaxed) &&
	       !atomic_load_explicit(&w->leave, memory_order_relaxed)) {
		if (unlikely(turn(w) == 0))
			fwd_idle(w);
		else
			w->idle_since = 0;
	}
	fwd_publish(w);
}

/* Bounded by turns and not by time: a worker that is kept from its CPU has no less to do. */
static void drain(struct fwd_worker *w)
{
	uint32_t quiet = 0;

	for (uint32_t left = DRAIN_TURNS; left && quiet < QUIET_TURNS; left--) {
		quiet = turn(w) ? 0 : quiet + 1;
		time_relax();
	}
	fwd_publish(w);
}

#ifndef FWD_CODE
#define FWD_CODE fwd_code_plain
#endif
const struct fwd_code FWD_CODE = { loop, drain };
