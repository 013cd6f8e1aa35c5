/* fwd/odd.c - packets that are not plain, or do not simply leave: one by one
 *
 * What must be punted or dropped, with its reason; the few that leave nevertheless, such as one
 * with a priority tag. The packet loop calls this once a burst, if at all. Like that it is built
 * once more for workers that have a trace.
 */

#include "../m5/rx_hot.h"
#include "../m5/tx_hot.h"
#include "../pkt/flow_hot.h"
#include "../pkt/parse_hot.h"
#include "../pkt/rewrite_hot.h"
#include "trace_inside.h"
#include "worker_inside.h"

static void drop(struct fwd_worker *w, unsigned in, const struct m5_pkt *pkt,
		 unsigned reason)
{
	w->own[in].dropped[reason]++;
	m5_rx_put(w->port[in].rx, pkt->wqe, 1);
	if (FWD_TRACED)
		fwd_trace_verdict(w, PKT_DROP, reason, 0);
}

/* The frame is copied: what the kernel may keep long must not hold a receive buffer. */
static void punt(struct fwd_worker *w, unsigned in, const struct m5_pkt *pkt,
		 unsigned reason)
{
	struct exc_frame *entry = ring_slot(&w->punt);

	if (!entry) {
		drop(w, in, pkt, PKT_DROP_PUNT_FULL);
		return;
	}
	if (pkt->len > w->conf.punt_bytes) {
		drop(w, in, pkt, PKT_DROP_OVERSIZE);
		return;
	}
	entry->port = (uint8_t)in;
	entry->reason = (uint8_t)reason;
	entry->len = pkt->len;
	memcpy(entry->data, pkt->data, pkt->len);
	ring_push(&w->punt);
	w->own[in].punted[reason]++;
	m5_rx_put(w->port[in].rx, pkt->wqe, 1);
	if (FWD_TRACED)
		fwd_trace_verdict(w, PKT_PUNT, reason, 0);
}

static const struct fib_nh *next_hop(struct fwd_worker *w, const struct fib_tables *t,
				     const uint8_t *ip, const struct pkt_meta *m)
{
	const struct fib_nh *nh;
	uint8_t six[1][16];
	uint32_t index = 0;
	be32_t four;

	if (m->family == 4) {
		memcpy(&four, ip + offsetof(struct ip4_hdr, dst), sizeof(four));
		fib_lookup4(t, &(uint32_t){ from_be32(four) }, &index, 1);
	} else {
		memcpy(six, ip + offsetof(struct ip6_hdr, dst), sizeof(six));
		fib_lookup6(t, (const uint8_t(*)[16])six, &index, 1);
	}
	nh = &t->nh[index];
	if (nh->kind == FIB_NH_GROUP)
		nh = &t->nh[fib_nh_leg(nh, pkt_flow_hash(ip, m->bytes, m->family,
							 t->flow_seed))];
	if (FWD_TRACED)
		fwd_trace_hop(w, index, nh);
	return nh;
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
			   PKT_PUNT_UNSUPPORTED_ROUTE }, /* next_hop() leaves none */
};

static void decide(const struct fwd_worker *w, const struct fib_nh *nh,
		   struct pkt_meta *m)
{
	m->verdict = fates[nh->kind].verdict;
	m->reason = fates[nh->kind].reason;
	if (m->verdict != PKT_FORWARD)
		return;
	if (m->bytes > nh->mtu)
		pkt_punt(m, PKT_PUNT_MTU);
	else if (!w->way_out[nh->port])
		pkt_drop(m, (enum pkt_drop)fwd_shut(w, nh->port));
}

/* A priority tag is taken out by moving the addresses. */
static void leave(struct fwd_worker *w, unsigned in, const struct fib_nh *nh,
		  struct m5_pkt *pkt, const struct pkt_meta *m)
{
	bool six = m->family == 6;
	struct fwd_port_count *c = &w->own[in];

	pkt->data += m->l3 - sizeof(struct eth_hdr);
	pkt->len = six ? pkt_rewrite(pkt->data, m->bytes, nh->macs, true)
		       : pkt_rewrite(pkt->data, m->bytes, nh->macs, false);
	pkt->vlan = nh->vlan;
	if (nh->vlan)
		pkt->flags |= M5_PKT_INSERT_VLAN;
	if (!m5_tx_queue(w->way_out[nh->port], w->port[in].rx, pkt)) {
		drop(w, in, pkt, PKT_DROP_TX_FULL);
		return;
	}
	c->forwarded[six]++;
	c->forwarded_bytes[six] += pkt->len;
	w->own[nh->port].egress[six]++;
	w->own[nh->port].egress_bytes[six] += pkt->len;
	w->to_ring |= UINT32_C(1) << nh->port;
	if (FWD_TRACED)
		fwd_trace_verdict(w, PKT_FORWARD, 0, pkt->len);
}

static void handle(struct fwd_worker *w, unsigned in, const struct fib_tables *t,
		   struct m5_pkt *pkt)
{
	const struct fib_nh *nh = NULL;
	struct pkt_meta m;

	if (FWD_TRACED)
		fwd_trace_alone(w, pkt);
	pkt_parse_full(pkt->data, pkt->len, pkt->flags & M5_PKT_L3_OK, w->port[in].mac,
		       &m);
	if (m.verdict == PKT_FORWARD) {
		nh = next_hop(w, t, pkt->data + m.l3, &m);
		decide(w, nh, &m);
	}
	if (m.verdict == PKT_FORWARD)
		leave(w, in, nh, pkt, &m);
	else if (m.verdict == PKT_PUNT)
		punt(w, in, pkt, m.reason);
	else
		drop(w, in, pkt, m.reason);
}

#if FWD_TRACED
#define fwd_odd fwd_odd_traced
#endif
void fwd_odd(struct fwd_worker *w, unsigned in, const struct fib_tables *t,
	     struct m5_pkt pkt[], uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		handle(w, in, t, &pkt[i]);
}
