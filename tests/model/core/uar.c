/* core/uar.c - doorbell pages
 *
 *   0x020        arm a completion queue
 *   0x040 0x048  event queues: the kernel's, taken and forgotten
 *   0x800 0x900 0xa00 0xb00  send doorbells: two BlueFlame registers of two halves
 *
 * Source: kernel include/linux/mlx5/doorbell.h, cq.h and core/eq.c; rdma-core
 * providers/mlx5/qp.c rings the halves in turn. A BlueFlame copy of up to 256 bytes
 * starts with the same eight bytes; the rest of it is never looked at.
 *
 * A register is plain memory here: it is empty when 0, and taken by an atomic
 * exchange, so that ringing the same value twice counts twice. Two queues that share a
 * page may overwrite each other's value before it is seen; a good value is then
 * only a hint, and every queue of the page looks at its own record.
 *
 * A doorbell on another page than the queue's own does nothing on the card (comment
 * in kernel drivers/infiniband/hw/mlx5/devx.c); here it is also reported.
 */
#include "obj.h"

#include <endian.h>
#include <errno.h>

enum { REG_CQ_ARM = 0x20, REG_EQ_ARM = 0x40, REG_EQ_CI = 0x48 };
static const uint16_t send_regs[] = { 0x800, 0x900, 0xa00, 0xb00 };

/* Pages without a queue are looked at every so many passes: only mistakes ring there. */
#define SELDOM 64

int cx_uar_attach(struct cx_dev *dev, uint32_t uar, void *page)
{
	struct cx_uar *u = (struct cx_uar *)cx_obj_get(dev, CX_UAR, uar, 0);

	if (!u)
		return -ENOENT;
	if ((uintptr_t)page % sizeof(uint64_t))
		return -EINVAL;
	u->page = page;
	dev->lists_stale = true;
	return 0;
}

static inline uint64_t take(const struct cx_uar *uar, uint32_t reg)
{
	uint64_t *p = (uint64_t *)((uintptr_t)uar->page + reg);

	if (__builtin_expect(!__atomic_load_n(p, __ATOMIC_RELAXED), 1))
		return 0;
	return be64toh(__atomic_exchange_n(p, 0, __ATOMIC_ACQUIRE));
}

/* ---- send doorbells ---- */

static void ring(struct cx_dev *dev, struct cx_sq *sq)
{
	uint64_t delay = cx_fault_delay_ns(dev);

	if (sq->state == CX_Q_RST)
		return;
	if (delay && !sq->rung)
		sq->not_before_ns = cx_now_ns(dev) + delay;
	sq->rung = true;
	dev->sq_pending = true;
}

static void ring_page(struct cx_dev *dev, const struct cx_uar *uar)
{
	for (unsigned i = 0; i < dev->n_sqs; i++)
		if (dev->sqs[i]->uar == uar)
			ring(dev, dev->sqs[i]);
}

/* The queue a good doorbell speaks of, or NULL after one line in the log. */
static struct cx_sq *rung_sq(struct cx_dev *dev, const struct cx_uar *uar, uint64_t value)
{
	uint32_t num = (uint32_t)value >> 8;
	struct cx_obj *obj = cx_space_at(dev->objs, CX_SPACE_WQ, num);
	struct cx_sq *sq = (struct cx_sq *)obj;

	if (!obj || obj->type != CX_SQ)
		cx_log(dev, "UAR 0x%x: doorbell.qpn: there is no SQ 0x%x (value %016llx)",
		       uar->obj.num, num, (unsigned long long)value);
	else if (sq->uar != uar)
		cx_log(dev,
		       "SQ 0x%x: doorbell.page: rung on UAR 0x%x, its own is 0x%x: ignored",
		       num, uar->obj.num, sq->uar->obj.num);
	else if (sq->state == CX_Q_RST)
		cx_log(dev, "SQ 0x%x: doorbell.state: rung in state RST: ignored", num);
	else
		return sq;
	cx_cover("refuse", "doorbell");
	dev->stats.bad_doorbells++;
	return NULL;
}

static void send_doorbell(struct cx_dev *dev, const struct cx_uar *uar, uint64_t value)
{
	struct cx_sq *sq = rung_sq(dev, uar, value);

	dev->stats.doorbells++;
	if (!sq)
		return;
	sq->named = true;
	if (uar->n_sqs > 1)
		ring_page(dev, uar);
	else
		ring(dev, sq);
}

/* ---- one pass ---- */

static inline unsigned poll_send(struct cx_dev *dev, const struct cx_uar *uar)
{
	unsigned seen = 0;

	for (unsigned i = 0; i < sizeof(send_regs) / sizeof(send_regs[0]); i++) {
		uint64_t value = take(uar, send_regs[i]);

		if (!value)
			continue;
		send_doorbell(dev, uar, value);
		seen++;
	}
	return seen;
}

static inline unsigned poll_arm(struct cx_dev *dev, struct cx_uar *uar)
{
	uint64_t value = take(uar, REG_CQ_ARM);

	if (!value)
		return 0;
	dev->stats.arms++;
	cx_cq_arm(dev, uar, value);
	return 1;
}

unsigned cx_uar_poll(struct cx_dev *dev)
{
	bool all;
	unsigned seen = 0;

	cx_lists_refresh(dev);
	all = dev->uar_turn++ % SELDOM == 0;
	for (unsigned i = 0; i < dev->n_uars; i++) {
		struct cx_uar *uar = dev->uars[i];

		if (uar->n_sqs || all)
			seen += poll_send(dev, uar);
		if (uar->n_cqs || all)
			seen += poll_arm(dev, uar);
		if (all)
			seen += !!take(uar, REG_EQ_ARM) + !!take(uar, REG_EQ_CI);
	}
	return seen;
}
