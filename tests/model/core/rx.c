/* core/rx.c - a frame arrives, and a frame of the kernel leaves
 *
 *   wire -> link, size, faults -> parse -> stamp -> steer -> for each destination
 *                                                    RSS -> receive queue
 *                                                    or the kernel side
 */
#include "dev.h"

#include <stdio.h>

/* Ethernet header and two VLAN tags; cx.h says so of the port's MTU. */
#define L2_BYTES  22
#define ETH_BYTES 14

static bool fits_port(const struct cx_dev *dev, uint32_t len)
{
	return len <= (uint32_t)dev->mtu + L2_BYTES;
}

static enum cx_rx_verdict to_tir(struct cx_dev *dev, struct cx_pkt *pkt,
				 struct cx_tir *tir)
{
	struct cx_rq *rq = cx_rss_pick(tir, pkt);

	return rq ? cx_rq_deliver(dev, rq, pkt) : CX_RX_DEAD;
}

static enum cx_rx_verdict to_kernel(struct cx_dev *dev, const struct cx_pkt *pkt)
{
	if (dev->ops.kernel_rx)
		dev->ops.kernel_rx(dev->ops.arg, pkt->data, pkt->len);
	return CX_RX_KERNEL;
}

static enum cx_rx_verdict deliver(struct cx_dev *dev, struct cx_pkt *pkt,
				  const struct cx_dest *dest)
{
	pkt->flow_tag = dest->flow_tag;
	switch (dest->type) {
	case CX_DEST_TIR:
		return to_tir(dev, pkt, dest->tir);
	case CX_DEST_DROP:
		return CX_RX_RULE_DROP;
	default:
		return to_kernel(dev, pkt);
	}
}

/* Of several copies the one that got furthest names the frame's fate. */
static enum cx_rx_verdict better(enum cx_rx_verdict a, enum cx_rx_verdict b)
{
	static const uint8_t rank[CX_RX_VERDICT_COUNT] = {
		[CX_RX_QUEUED] = 5, [CX_RX_KERNEL] = 4,	   [CX_RX_NO_BUFFER] = 3,
		[CX_RX_DEAD] = 2,   [CX_RX_RULE_DROP] = 1,
	};

	return rank[b] > rank[a] ? b : a;
}

static enum cx_rx_verdict steer(struct cx_dev *dev, struct cx_pkt *pkt)
{
	struct cx_dest dest[CX_DEST_MAX];
	unsigned n = cx_steer(dev, pkt, dest);
	enum cx_rx_verdict verdict = deliver(dev, pkt, &dest[0]);

	for (unsigned i = 1; i < n; i++)
		verdict = better(verdict, deliver(dev, pkt, &dest[i]));
	return verdict;
}

static void __attribute__((noinline, cold))
trace(struct cx_dev *dev, const struct cx_pkt *pkt, enum cx_rx_verdict verdict)
{
	static const char *const name[CX_RX_VERDICT_COUNT] = {
		"down",	     "kernel", "rule drop", "queued",
		"no buffer", "dead",   "oversize",  "lost",
	};
	char title[128];

	snprintf(title, sizeof(title), "rx %u bytes, hash 0x%x type 0x%x, tag 0x%x: %s",
		 pkt->len, pkt->hash, pkt->hash_type, pkt->flow_tag, name[verdict]);
	cx_trace_hex(dev, CX_TRACE_RX, title, pkt->data, pkt->len);
}

static enum cx_rx_verdict receive(struct cx_dev *dev, struct cx_pkt *pkt,
				  const uint8_t *frame, uint32_t len)
{
	pkt->data = frame;
	pkt->len = len;
	if (!dev->up || dev->fatal)
		return CX_RX_DOWN;
	if (len < ETH_BYTES || cx_fault_drop(dev, true))
		return CX_RX_LOST;
	if (!fits_port(dev, len))
		return CX_RX_OVERSIZE;
	cx_vport_count(&dev->vport_rx, frame, len);
	cx_parse(pkt, frame, len);
	pkt->clock = cx_clock_ns(dev);
	return steer(dev, pkt);
}

enum cx_rx_verdict cx_rx(struct cx_dev *dev, const void *frame, uint32_t len)
{
	struct cx_pkt pkt = { .hash = 0 };
	enum cx_rx_verdict verdict = receive(dev, &pkt, frame, len);

	dev->stats.rx_frames++;
	dev->stats.rx_bytes += len;
	dev->stats.rx[verdict]++;
	if (dev->trace & CX_TRACE_RX)
		trace(dev, &pkt, verdict);
	return verdict;
}

/* May a frame of the kernel leave? Counts it where it may not. */
static bool kernel_may_send(struct cx_dev *dev, const uint8_t *frame, uint32_t len)
{
	if (!fits_port(dev, len)) {
		dev->stats.tx_oversize++;
		return false;
	}
	if (!dev->up || dev->fatal || len < ETH_BYTES || cx_fault_drop(dev, false)) {
		dev->stats.tx_lost++;
		return false;
	}
	return cx_steer_tx(dev, frame, len);
}

void cx_kernel_tx(struct cx_dev *dev, const void *frame, uint32_t len)
{
	if (!kernel_may_send(dev, frame, len))
		return;
	dev->stats.kernel_tx_frames++;
	cx_vport_count(&dev->vport_tx, frame, len);
	if (dev->ops.wire_tx)
		dev->ops.wire_tx(dev->ops.arg, frame, len);
}
