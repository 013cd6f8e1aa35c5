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

ALWAYS_INLINE void drop(struct fwd_port_count *c, const struct m5_pkt *pkt,
			unsigned reason)
{
	add(&c->dropped[reason], 1);
	m5_rx_put(pkt->rx, pkt->wqe);
}

/* The frame is copied: what the kernel may keep long must not hold a receive buffer. */
COLD static void punt(struct fwd_worker *w, unsigned port, struct fwd_port_count *c,
		      const struct m5_pkt *pkt, unsigned reason)
{
	struct exc_frame *entry = ring_slot(&w->punt);

	if (!entry) {
		drop(c, pkt, PKT_DROP_PUNT_FULL);
		return;
	}
	if (pkt->len > w->conf.punt_bytes) {
		drop(c, pkt, PKT_DROP_OVERSIZE);
		return;
	}
	entry->port = (uint8_t)port;
	entry->reason = (uint8_t)reason;
	entry->len = pkt->len;
	memcpy(entry->data, pkt->data, pkt->len);
	ring_push(&w->punt);
	add(&c->punted[reason], 1);
	m5_rx_put(pkt->rx, pkt->wqe);
}

ALWAYS_INLINE void parse_all(const struct fwd_port *in, const struct m5_pkt pkt[],
			     struct pkt_meta meta[], uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		pkt_parse(pkt[i].data, pkt[i].len, pkt[i].flags & M5_PKT_L3_OK, in->mac,
			  &meta[i]);
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

/* One call a burst, and only once there has been a group. */
static __attribute__((noinline)) void pick_legs(const struct fib_tables *t,
						const struct m5_pkt pkt[],
						struct pkt_meta meta[], uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		const struct fib_nh *nh = &t->nh[meta[i].nh];
		uint32_t flow;

		if (nh->kind != FIB_NH_GROUP)
			continue;
		flow = pkt_flow_hash(pkt[i].data + meta[i].l3, meta[i].bytes,
				     meta[i].family, t->flow_seed);
		meta[i].nh = fib_nh_leg(nh, flow);
		__builtin_prefetch(&t->nh[meta[i].nh]);
	}
}

/* Only packets that go on forwarding are looked up, packed side by side. */
ALWAYS_INLINE void route_all(const struct fib_tables *t, const struct m5_pkt pkt[],
			     struct pkt_meta meta[], uint32_t n)
{
	uint8_t at4[FWD_BURST], at6[FWD_BURST];
	uint32_t dst4[FWD_BURST], nh[FWD_BURST], n4 = 0, n6 = 0;
	uint8_t dst6[FWD_BURST][16];

	for (uint32_t i = 0; i < n; i++) {
		const uint8_t *ip = pkt[i].data + meta[i].l3;

		if (unlikely(meta[i].verdict != PKT_FORWARD))
			continue;
		if (meta[i].family == 4) {
			memcpy(&dst4[n4], ip + offsetof(struct ip4_hdr, dst), 4);
			dst4[n4] = be32toh(dst4[n4]);
			at4[n4++] = (uint8_t)i;
		} else {
			memcpy(dst6[n6], ip + offsetof(struct ip6_hdr, dst), 16);
			at6[n6++] = (uint8_t)i;
		}
	}
	if (n4) {
		fib_lookup4(t, dst4, nh, n4);
		for (uint32_t i = 0; i < n4; i++)
			meta[at4[i]].nh = nh[i];
	}
	if (n6) {
		fib_lookup6(t, (const uint8_t(*)[16])dst6, nh, n6);
		for (uint32_t i = 0; i < n6; i++)
			meta[at6[i]].nh = nh[i];
	}
	for (uint32_t i = 0; i < n; i++)
		__builtin_prefetch(&t->nh[meta[i].nh]);
	if (unlikely(t->has_groups))
		pick_legs(t, pkt, meta, n);
}

/* A packet that cannot leave as it is stays as it came, for the kernel. */
ALWAYS_INLINE void rewrite_all(const struct fwd_worker *w, const struct fib_tables *t,
			       struct m5_pkt pkt[], struct pkt_meta meta[], uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		const struct fib_nh *nh = &t->nh[meta[i].nh];
		const struct fwd_port *out;

		if (unlikely(meta[i].verdict != PKT_FORWARD))
			continue;
		if (unlikely(nh->kind != FIB_NH_FORWARD || meta[i].bytes > nh->mtu)) {
			decide_odd(nh, &meta[i]);
			continue;
		}
		out = &w->port[nh->port];
		if (unlikely(!out->tx || !out->up)) {
			pkt_drop(&meta[i],
				 out->tx ? PKT_DROP_LINK_DOWN : PKT_DROP_PORT_DOWN);
			continue;
		}
		pkt[i].len = pkt_rewrite(pkt[i].data, &meta[i], nh->macs, &pkt[i].data);
	}
}

ALWAYS_INLINE void send(struct fwd_worker *w, struct fwd_port_count *in, unsigned port,
			const struct m5_pkt *pkt, const struct pkt_meta *m)
{
	struct fwd_port_count *out = &w->port_count[port];
	unsigned six = m->family == 6;
	uint16_t len = pkt->len;

	if (unlikely(!m5_tx_queue(w->port[port].tx, pkt))) {
		drop(in, pkt, PKT_DROP_TX_FULL);
		return;
	}
	add(&in->forwarded[six], 1);
	add(&in->forwarded_bytes[six], len);
	add(&out->egress, 1);
	add(&out->egress_bytes, len);
}

ALWAYS_INLINE void emit_all(struct fwd_worker *w, unsigned port,
			    const struct fib_tables *t, const struct m5_pkt pkt[],
			    const struct pkt_meta meta[], uint32_t n)
{
	struct fwd_port_count *c = &w->port_count[port];

	for (uint32_t i = 0; i < n; i++) {
		switch ((enum pkt_verdict)meta[i].verdict) {
		case PKT_FORWARD:
			send(w, c, t->nh[meta[i].nh].port, &pkt[i], &meta[i]);
			break;
		case PKT_PUNT:
			punt(w, port, c, &pkt[i], meta[i].reason);
			break;
		case PKT_DROP:
			drop(c, &pkt[i], meta[i].reason);
			break;
		}
	}
	for (unsigned p = 0; p < w->n_ports; p++)
		if (w->port[p].tx)
			m5_tx_ring(w->port[p].tx); /* one doorbell a burst and ring */
}

ALWAYS_INLINE void count_received(struct fwd_port_count *c, const struct m5_pkt pkt[],
				  uint32_t n)
{
	uint64_t bytes = 0;

	for (uint32_t i = 0; i < n; i++)
		bytes += pkt[i].len;
	add(&c->received, n);
	add(&c->received_bytes, bytes);
}

ALWAYS_INLINE uint32_t turn_port(struct fwd_worker *w, unsigned port,
				 const struct fib_tables *t)
{
	struct m5_pkt pkt[FWD_BURST];
	struct pkt_meta meta[FWD_BURST];
	uint32_t n = m5_rx_burst(w->port[port].rx, pkt, FWD_BURST);

	if (n == 0)
		return 0;
	count_received(&w->port_count[port], pkt, n);
	parse_all(&w->port[port], pkt, meta, n);
	route_all(t, pkt, meta, n);
	rewrite_all(w, t, pkt, meta, n);
	emit_all(w, port, t, pkt, meta, n);
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
