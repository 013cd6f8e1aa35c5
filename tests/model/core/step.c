/* core/step.c - one pass over everything that may have work
 *
 *   doorbells -> ready send queues, each at most SQ_BUDGET WQEs -> open compression
 *   sessions
 *
 * A queue that used up its budget stays rung and goes on in the next pass, after
 * the others had theirs. A pass is short whatever programs post, since the caller's other
 * devices, and commands, wait for its end: when all queues together made PASS_FRAMES
 * frames, the next pass goes on with the next queue. One large send may still be 65,535
 * frames.
 */
#include "obj.h"

#include <errno.h>
#include <stdlib.h>

#define SQ_BUDGET   64
#define PASS_FRAMES 2048

/* ---- the lists ---- */

static bool room(void **list, unsigned *cap, unsigned n)
{
	unsigned want = *cap ? *cap * 2 : 16;
	void *more;

	if (n < *cap)
		return true;
	more = reallocarray(*list, want, sizeof(void *));
	if (!more)
		return false;
	*list = more;
	*cap = want;
	return true;
}

/* Out of memory: the list is short, and stays stale to be tried again. */
static bool list_uar(void *arg, struct cx_obj *obj)
{
	struct cx_dev *dev = arg;
	struct cx_uar *uar = (struct cx_uar *)obj;

	uar->n_sqs = uar->n_cqs = 0;
	if (!uar->page)
		return true;
	if (!room((void **)&dev->uars, &dev->cap_uars, dev->n_uars))
		dev->lists_stale = true;
	else
		dev->uars[dev->n_uars++] = uar;
	return true;
}

static bool list_sq(void *arg, struct cx_obj *obj)
{
	struct cx_dev *dev = arg;
	struct cx_sq *sq = (struct cx_sq *)obj;

	if (sq->uar)
		sq->uar->n_sqs++;
	if (!room((void **)&dev->sqs, &dev->cap_sqs, dev->n_sqs))
		dev->lists_stale = true;
	else
		dev->sqs[dev->n_sqs++] = sq;
	return true;
}

static bool count_cq(void *arg, struct cx_obj *obj)
{
	struct cx_cq *cq = (struct cx_cq *)obj;

	(void)arg;
	if (cq->uar)
		cq->uar->n_cqs++;
	return true;
}

void cx_lists_rebuild(struct cx_dev *dev)
{
	dev->lists_stale = false;
	dev->n_uars = dev->n_sqs = 0;
	cx_obj_each(dev, CX_UAR, list_uar, dev);
	cx_obj_each(dev, CX_SQ, list_sq, dev);
	cx_obj_each(dev, CX_CQ, count_cq, dev);
	dev->uar_turn =
		0; /* look at every page once: what was rung there is for nobody new */
}

/* ---- compression sessions ---- */

int cx_comp_add(struct cx_dev *dev, struct cx_cq *cq)
{
	for (unsigned i = 0; i < dev->n_comp_cqs; i++)
		if (dev->comp_cqs[i] == cq)
			return 0;
	if (!room((void **)&dev->comp_cqs, &dev->cap_comp_cqs, dev->n_comp_cqs))
		return -ENOMEM;
	dev->comp_cqs[dev->n_comp_cqs++] = cq;
	return 0;
}

void cx_comp_del(struct cx_dev *dev, struct cx_cq *cq)
{
	for (unsigned i = 0; i < dev->n_comp_cqs; i++)
		if (dev->comp_cqs[i] == cq)
			dev->comp_cqs[i--] = dev->comp_cqs[--dev->n_comp_cqs];
}

/* From the end, as a flush takes its queue off the list. A held queue keeps its session. */
void cx_flush(struct cx_dev *dev)
{
	for (unsigned i = dev->n_comp_cqs; i-- > 0;)
		if (i < dev->n_comp_cqs && !dev->comp_cqs[i]->held)
			cx_cq_flush(dev, dev->comp_cqs[i]);
}

/* ---- send queues ---- */

static bool delayed(const struct cx_dev *dev, const struct cx_sq *sq)
{
	return sq->not_before_ns && cx_now_ns(dev) < sq->not_before_ns;
}

/* The engine sets rung again when it left work. */
static unsigned run_sq(struct cx_dev *dev, struct cx_sq *sq)
{
	sq->rung = false;
	sq->not_before_ns = 0;
	return cx_sq_run(dev, sq, SQ_BUDGET);
}

static unsigned run_sqs(struct cx_dev *dev)
{
	uint64_t end = dev->sent + PASS_FRAMES;
	unsigned done = 0, at = dev->sq_turn;

	dev->sq_pending = false;
	for (unsigned i = 0; i < dev->n_sqs; i++, at++) {
		struct cx_sq *sq = dev->sqs[at < dev->n_sqs ? at : (at = 0)];

		if (!sq->rung)
			continue;
		if (dev->sent >= end) {
			dev->sq_pending = true;
			break;
		}
		if (!delayed(dev, sq))
			done += run_sq(dev, sq);
		dev->sq_pending |= sq->rung;
	}
	dev->sq_turn = at < dev->n_sqs ? at : 0;
	return done;
}

unsigned cx_step(struct cx_dev *dev)
{
	unsigned work;

	if (dev->held || dev->fatal)
		return 0;
	work = cx_uar_poll(dev);
	if (dev->sq_pending)
		work += run_sqs(dev);
	if (dev->n_comp_cqs)
		cx_flush(dev);
	return work;
}

void cx_hold(struct cx_dev *dev, bool on)
{
	dev->held = on;
}

static bool stop_at_ready(void *arg, struct cx_obj *obj)
{
	bool *found = arg;

	*found = ((struct cx_sq *)obj)->state != CX_Q_RST;
	return !*found;
}

/* Completion queues count: an arm doorbell must be seen, too. */
bool cx_may_ring(const struct cx_dev *dev)
{
	bool found = false;

	if (dev->held || dev->fatal)
		return false;
	if (cx_obj_count(dev, CX_CQ))
		return true;
	cx_obj_each(dev, CX_SQ, stop_at_ready, &found);
	return found;
}

/* ---- a queue as the burst generator sees it ---- */

struct nth {
	unsigned left;
	struct cx_obj *obj;
};

static bool count_down(void *arg, struct cx_obj *obj)
{
	struct nth *n = arg;

	if (n->left--)
		return true;
	n->obj = obj;
	return false;
}

static void view_wq(struct cx_queue_view *v, const struct cx_wq *wq, unsigned dbrec)
{
	v->log_size = wq->log_size;
	v->log_stride = wq->log_stride;
	v->ring = wq->ring;
	v->dbrec = wq->dbrec + dbrec;
	v->head = wq->head;
	v->striding = wq->type == CX_WQ_CYCLIC_STRIDING ||
		      wq->type == CX_WQ_LINKED_STRIDING;
	v->log_strides = wq->log_strides;
	v->log_stride_bytes = wq->log_stride_bytes;
}

static void view_cq(struct cx_queue_view *v, const struct cx_cq *cq)
{
	v->cqn = cq->obj.num;
	v->cq_ring = cq->ring;
	v->cq_dbrec = cq->dbrec;
	v->log_cq_size = cq->log_size;
	v->cq_pi = cq->pi;
}

bool cx_queue_nth(const struct cx_dev *dev, enum cx_obj_type type, unsigned n,
		  struct cx_queue_view *v)
{
	struct nth nth = { n, NULL };

	cx_obj_each(dev, type, count_down, &nth);
	if (!nth.obj || (type != CX_SQ && type != CX_RQ))
		return false;
	*v = (struct cx_queue_view){ .num = nth.obj->num, .uid = nth.obj->uid };
	if (type == CX_SQ) {
		const struct cx_sq *sq = (struct cx_sq *)nth.obj;

		v->ready = sq->state == CX_Q_RDY;
		view_wq(v, &sq->wq, 1);
		view_cq(v, sq->cq);
	} else {
		const struct cx_rq *rq = (struct cx_rq *)nth.obj;

		v->ready = rq->state == CX_Q_RDY;
		view_wq(v, rq->rmp ? &rq->rmp->wq : &rq->wq, 0);
		view_cq(v, rq->cq);
	}
	return true;
}
