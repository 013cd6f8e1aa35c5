/* fwd/loop.c - the packet loop of one worker
 *
 * HOT. No log, allocation, lock or system call; tests/static/hot_symbols.sh fails
 * the build if this object needs a symbol outside its allow-list.
 *
 * A turn takes up to FWD_BURST packets of one port through four passes. Each pass
 * touches one kind of memory for the whole burst, so its misses overlap:
 *
 *   parse (packet)  ->  route (table)  ->  rewrite (packet)  ->  emit (rings)
 *
 * Route ends with next hops that are no groups: a group's packets go on by its legs.
 *
 * Every packet leaves by exactly one exit: sent, punted or dropped with a reason.
 * tests/unit/test_fwd_loop.c checks that the three add up to what was received.
 */

#include "../base/rcu.h"
#include "../base/time.h"
#include "../m5/rx_hot.h"
#include "../m5/tx_hot.h"
#include "../pkt/flow_hot.h"
#include "../pkt/parse_hot.h"
#include "../pkt/rewrite_hot.h"
#include "worker_inside.h"

/* Of a stop: full rings of the largest size many times over; microseconds without a packet. */
enum { DRAIN_TURNS = 1 << 16, QUIET_TURNS = 256 };

/* Counters have one writer; others read them at any time, so each store is whole. */
ALWAYS_INLINE void add(uint64_t *counter, uint64_t n)
{
	__atomic_store_n(counter, *counter + n, __ATOMIC_RELAXED);
}

/* Of a packet that came by this port. */
ALWAYS_INLINE void drop(struct fwd_worker *w, unsigned port, const struct m5_pkt *pkt,
			unsigned reason)
{
	add(&w->port_count[port].dropped[reason], 1);
	m5_rx_put(w->port[port].rx, pkt->wqe, 1);
}

/* The frame is copied: what the kernel may keep long must not hold a receive buffer. */
COLD static void punt(struct fwd_worker *w, unsigned port, const struct m5_pkt *pkt,
		      unsigned reason)
{
	struct exc_frame *entry = ring_slot(&w->punt);

	if (!entry) {
		drop(w, port, pkt, PKT_DROP_PUNT_FULL);
		return;
	}
	if (pkt->len > w->conf.punt_bytes) {
		drop(w, port, pkt, PKT_DROP_OVERSIZE);
		return;
	}
	entry->port = (uint8_t)port;
	entry->reason = (uint8_t)reason;
	entry->len = pkt->len;
	memcpy(entry->data, pkt->data, pkt->len);
	ring_push(&w->punt);
	add(&w->port_count[port].punted[reason], 1);
	m5_rx_put(w->port[port].rx, pkt->wqe, 1);
}

/* The packets of a burst that ask for a route: `at` says which one of the burst each is. */
struct asking {
	uint32_t n4, n6;
	uint8_t at4[FWD_BURST], at6[FWD_BURST];
	uint32_t dst4[FWD_BURST], nh4[FWD_BURST], nh6[FWD_BURST];
	uint8_t dst6[FWD_BURST][16];
};

/* Packet @i is the @k-th that asks. Return: 1. */
ALWAYS_INLINE uint32_t ask4(struct asking *a, uint32_t k, uint32_t i, const uint8_t *ip)
{
	be32_t dst;

	memcpy(&dst, ip + offsetof(struct ip4_hdr, dst), 4);
	a->at4[k] = (uint8_t)i;
	a->dst4[k] = from_be32(dst);
	return 1;
}

ALWAYS_INLINE uint32_t ask6(struct asking *a, uint32_t k, uint32_t i, const uint8_t *ip)
{
	a->at6[k] = (uint8_t)i;
	memcpy(a->dst6[k], ip + offsetof(struct ip6_hdr, dst), 16);
	return 1;
}

/* Frames of the burst that are not plain, after the others. */
static __attribute__((noinline)) void parse_rest(const struct fwd_port *in,
						 const struct m5_pkt pkt[],
						 struct pkt_meta meta[], struct asking *a,
						 const uint8_t at[], uint32_t n)
{
	for (uint32_t k = 0; k < n; k++) {
		const struct m5_pkt *p = &pkt[at[k]];
		struct pkt_meta *m = &meta[at[k]];

		pkt_parse_full(p->data, p->len, p->flags & M5_PKT_L3_OK, in->mac, m);
		if (m->verdict != PKT_FORWARD)
			continue;
		if (m->family == 4)
			a->n4 += ask4(a, a->n4, at[k], p->data + m->l3);
		else
			a->n6 += ask6(a, a->n6, at[k], p->data + m->l3);
	}
}

/* Return: bytes of all frames. */
ALWAYS_INLINE uint64_t parse_all(const struct fwd_port *in, const struct m5_pkt pkt[],
				 struct pkt_meta meta[], struct asking *a, uint32_t n)
{
	be64_t own = pkt_mac(in->mac);
	uint64_t bytes = 0;
	uint32_t n4 = 0, n6 = 0, n_rest = 0; /* in registers */
	uint8_t rest[FWD_BURST];

	for (uint32_t i = 0; i < n; i++) {
		const uint8_t *data = pkt[i].data;
		bool l3_ok = pkt[i].flags & M5_PKT_L3_OK;
		uint32_t len = pkt[i].len;

		bytes += len;
		switch (pkt_plain(data, len, l3_ok, own, &meta[i])) {
		case 4:
			n4 += ask4(a, n4, i, data + sizeof(struct eth_hdr));
			break;
		case 6:
			n6 += ask6(a, n6, i, data + sizeof(struct eth_hdr));
			break;
		default:
			rest[n_rest++] = (uint8_t)i;
		}
	}
	a->n4 = n4;
	a->n6 = n6;
	if (unlikely(n_rest))
		parse_rest(in, pkt, meta, a, rest, n_rest);
	return bytes;
}

/* What a next hop that does not forward does with a packet. */
static const struct {
	uint8_t verdict, reason;
} fates[] = {
	[FIB_NH_FORWARD] = { PKT_FORWARD, 0 },
	[FIB_NH_KERNEL] = { PKT_PUNT, PKT_PUNT_UNSUPPORTED_ROUTE },
	[FIB_NH_LOCAL] = { PKT_PUNT, PKT_PUNT_LOCAL },
	[FIB_NH_BLACKHOLE] = { PKT_DROP, PKT_DROP_BLACKHOLE },
	[FIB_NH_UNREACHABLE] = { PKT_PUNT, PKT_PUNT_UNREACHABLE },
	[FIB_NH_PROHIBIT] = { PKT_PUNT, PKT_PUNT_UNREACHABLE },
	[FIB_NH_NONE] = { PKT_PUNT, PKT_PUNT_NO_ROUTE },
	[FIB_NH_GROUP] = { PKT_PUNT,
			   PKT_PUNT_UNSUPPORTED_ROUTE }, /* pick_legs() leaves none */
};

COLD static void decide_odd(const struct fib_nh *nh, struct pkt_meta *m)
{
	m->verdict = fates[nh->kind].verdict;
	m->reason = fates[nh->kind].reason;
	if (m->verdict == PKT_FORWARD)
		pkt_punt(m, PKT_PUNT_MTU);
}

/* One call a burst and family, and only once there has been a group. */
static __attribute__((noinline)) void
pick_legs(const struct fib_tables *t, const struct m5_pkt pkt[],
	  const struct pkt_meta meta[], const uint8_t at[], uint32_t nh[], uint32_t n)
{
	for (uint32_t k = 0; k < n; k++) {
		const struct fib_nh *group = &t->nh[nh[k]];
		const struct pkt_meta *m = &meta[at[k]];
		uint32_t flow;

		if (group->kind != FIB_NH_GROUP)
			continue;
		flow = pkt_flow_hash(pkt[at[k]].data + m->l3, m->bytes, m->family,
				     t->flow_seed);
		nh[k] = fib_nh_leg(group, flow);
		__builtin_prefetch(&t->nh[nh[k]]);
	}
}

ALWAYS_INLINE void route_all(const struct fib_tables *t, const struct m5_pkt pkt[],
			     const struct pkt_meta meta[], struct asking *a)
{
	if (a->n4)
		fib_lookup4(t, a->dst4, a->nh4, a->n4);
	if (a->n6)
		fib_lookup6(t, (const uint8_t(*)[16])a->dst6, a->nh6, a->n6);
	for (uint32_t k = 0; k < a->n4; k++)
		__builtin_prefetch(&t->nh[a->nh4[k]]);
	for (uint32_t k = 0; k < a->n6; k++)
		__builtin_prefetch(&t->nh[a->nh6[k]]);
	if (unlikely(t->has_groups)) {
		pick_legs(t, pkt, meta, a->at4, a->nh4, a->n4);
		pick_legs(t, pkt, meta, a->at6, a->nh6, a->n6);
	}
}

/* The way out is shut. */
COLD static void decide_shut(const struct fwd_port *out, struct pkt_meta *m)
{
	pkt_drop(m, out->tx ? PKT_DROP_LINK_DOWN : PKT_DROP_PORT_DOWN);
}

/* A packet that cannot leave as it is stays as it came, for the kernel. */
ALWAYS_INLINE bool may_leave(const struct fwd_worker *w, const struct fib_nh *nh,
			     struct pkt_meta *m)
{
	if (unlikely(nh->kind != FIB_NH_FORWARD || m->bytes > nh->mtu)) {
		decide_odd(nh, m);
		return false;
	}
	if (unlikely(!w->way_out[nh->port])) {
		decide_shut(&w->port[nh->port], m);
		return false;
	}
	m->port = nh->port;
	return true;
}

ALWAYS_INLINE void rewrite_all(const struct fwd_worker *w, const struct fib_tables *t,
			       struct m5_pkt pkt[], struct pkt_meta meta[],
			       const struct asking *a)
{
	const struct fib_nh *table = t->nh;
	uint32_t n4 = a->n4, n6 = a->n6;

	for (uint32_t k = 0; k < n4; k++) {
		const struct fib_nh *nh = &table[a->nh4[k]];
		struct m5_pkt *p = &pkt[a->at4[k]];
		struct pkt_meta *m = &meta[a->at4[k]];

		if (likely(may_leave(w, nh, m)))
			p->len = pkt_rewrite4(p->data, m, nh->macs, &p->data);
	}
	for (uint32_t k = 0; k < n6; k++) {
		const struct fib_nh *nh = &table[a->nh6[k]];
		struct m5_pkt *p = &pkt[a->at6[k]];
		struct pkt_meta *m = &meta[a->at6[k]];

		if (likely(may_leave(w, nh, m)))
			p->len = pkt_rewrite6(p->data, m, nh->macs, &p->data);
	}
}

/* What a burst forwards, kept in registers: counters are written once a burst, and those of the
 * way out once for each row of packets that leave by the same port. */
struct tally {
	uint64_t packets, bytes, packets6, bytes6;
	uint64_t row_packets, row_bytes; /* where the row began */
	unsigned port;			 /* of the row */
};

ALWAYS_INLINE void end_row(struct fwd_worker *w, struct tally *y)
{
	struct fwd_port_count *out = &w->port_count[y->port];

	add(&out->egress, y->packets - y->row_packets);
	add(&out->egress_bytes, y->bytes - y->row_bytes);
	y->row_packets = y->packets;
	y->row_bytes = y->bytes;
}

/* This packet leaves; called after its way out is the row's. @any6: the burst has IPv6, a
 * constant. */
ALWAYS_INLINE void count_sent(struct tally *y, const struct pkt_meta *m, uint32_t len,
			      bool any6)
{
	uint64_t six = any6 && m->family == 6;

	y->packets++;
	y->bytes += len;
	y->packets6 += six;
	y->bytes6 += len & -six;
}

ALWAYS_INLINE void end_tally(struct fwd_worker *w, struct fwd_port_count *in,
			     struct tally *y)
{
	end_row(w, y);
	add(&in->forwarded[0], y->packets - y->packets6);
	add(&in->forwarded_bytes[0], y->bytes - y->bytes6);
	add(&in->forwarded[1], y->packets6);
	add(&in->forwarded_bytes[1], y->bytes6);
}

static __attribute__((noinline)) void leave_otherwise(struct fwd_worker *w, unsigned port,
						      const struct m5_pkt *pkt,
						      const struct pkt_meta *m)
{
	if (m->verdict == PKT_PUNT)
		punt(w, port, pkt, m->reason);
	else
		drop(w, port, pkt, m->reason);
}

ALWAYS_INLINE void emit_burst(struct fwd_worker *w, unsigned port,
			      const struct m5_pkt pkt[], const struct pkt_meta meta[],
			      uint32_t n, bool any6)
{
	struct fwd_port_count *in = &w->port_count[port];
	struct m5_rx *rx = w->port[port].rx;
	struct tally y = { 0 };

	for (uint32_t i = 0; i < n; i++) {
		const struct pkt_meta *m = &meta[i];

		if (unlikely(m->verdict != PKT_FORWARD)) {
			leave_otherwise(w, port, &pkt[i], m);
			continue;
		}
		if (m->port != y.port) {
			end_row(w, &y);
			y.port = m->port;
		}
		if (unlikely(!m5_tx_queue(w->way_out[m->port], rx, &pkt[i])))
			drop(w, port, &pkt[i], PKT_DROP_TX_FULL);
		else
			count_sent(&y, m, pkt[i].len, any6);
	}
	end_tally(w, in, &y);
}

ALWAYS_INLINE void emit_all(struct fwd_worker *w, unsigned port,
			    const struct m5_pkt pkt[], const struct pkt_meta meta[],
			    const struct asking *a, uint32_t n)
{
	if (a->n6)
		emit_burst(w, port, pkt, meta, n, true);
	else
		emit_burst(w, port, pkt, meta, n, false);
	for (unsigned p = 0; p < w->n_ports; p++)
		if (w->port[p].tx)
			m5_tx_ring(w->port[p].tx); /* one doorbell a burst and ring */
}

ALWAYS_INLINE uint32_t turn_port(struct fwd_worker *w, unsigned port,
				 const struct fib_tables *t)
{
	struct m5_pkt pkt[FWD_BURST];
	struct pkt_meta meta[FWD_BURST];
	struct asking asking;
	struct fwd_port_count *c = &w->port_count[port];
	uint32_t n = m5_rx_burst(w->port[port].rx, pkt, FWD_BURST);
	uint64_t bytes;

	if (n == 0)
		return 0;
	bytes = parse_all(&w->port[port], pkt, meta, &asking, n);
	add(&c->received, n);
	add(&c->received_bytes, bytes);
	route_all(t, pkt, meta, &asking);
	rewrite_all(w, t, pkt, meta, &asking);
	emit_all(w, port, pkt, meta, &asking, n);
	return n;
}

/* No table pointer survives a turn, so each turn ends a read-side section and old tables can be
 * freed. */
static uint32_t turn(struct fwd_worker *w)
{
	const struct fib_tables *t = rcu_read(*w->conf.live);
	uint32_t n = 0;

	for (unsigned p = 0; p < w->n_ports; p++) {
		if (w->port[p].tx)
			m5_tx_reap(w->port[p].tx);
		if (w->port[p].rx)
			n += turn_port(w, p, t);
	}
	rcu_turn();
	add(&w->count.turns, 1);
	if (unlikely(n == 0))
		add(&w->count.empty_turns, 1);
	return n;
}

void fwd_loop(struct fwd_worker *w)
{
	while (!atomic_load_explicit(&w->stop, memory_order_relaxed) &&
	       !atomic_load_explicit(&w->pause, memory_order_relaxed)) {
		if (unlikely(turn(w) == 0))
			fwd_idle(w);
		else
			w->idle_since = 0;
	}
}

/* Bounded by turns and not by time: a worker that is kept from its CPU has no less to do. */
void fwd_drain(struct fwd_worker *w)
{
	uint32_t quiet = 0;

	for (uint32_t left = DRAIN_TURNS; left && quiet < QUIET_TURNS; left--) {
		quiet = turn(w) ? 0 : quiet + 1;
		time_relax();
	}
}
