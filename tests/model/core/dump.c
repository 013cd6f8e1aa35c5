/* core/dump.c - every object as one line of text */
#include "dev.h"

#include <stdio.h>

struct out {
	void (*line)(void *arg, const char *text);
	void *arg;
};

static const char *state_name(enum cx_q_state state)
{
	return state == CX_Q_RDY ? "RDY" : state == CX_Q_RST ? "RST" : "ERR";
}

static uint32_t num_of(const void *obj)
{
	return obj ? ((const struct cx_obj *)obj)->num : 0;
}

/* The program owns the record and writes it at any time. */
static uint32_t record(const volatile uint32_t *p)
{
	uint32_t v;

	if (!p)
		return 0;
	v = __atomic_load_n(p, __ATOMIC_RELAXED);
	return cx_be32(&v);
}

static int wq_text(char *s, size_t size, const struct cx_wq *wq, unsigned dbrec)
{
	int n = snprintf(s, size, " log_size %u log_stride %u head %u posted %u",
			 wq->log_size, wq->log_stride, wq->head,
			 record(wq->dbrec + dbrec) & 0xffff);

	if (wq->type == CX_WQ_CYCLIC_STRIDING || wq->type == CX_WQ_LINKED_STRIDING)
		n += snprintf(s + n, size - (size_t)n,
			      " strides 2^%u of 2^%u bytes, next %u", wq->log_strides,
			      wq->log_stride_bytes, wq->stride);
	return n;
}

static void cq_text(char *s, size_t size, const struct cx_cq *cq)
{
	snprintf(s, size, " log_size %u ci %u pi %u%s%s%s%s", cq->log_size,
		 record(cq->dbrec) & 0xffffff, cq->pi & 0xffffff,
		 cq->comp == CX_COMP_NONE ? "" : " compressed", cq->armed ? " armed" : "",
		 cq->held ? " held" : "", cq->error ? " error" : "");
}

static void sq_text(char *s, size_t size, const struct cx_sq *sq)
{
	int n = snprintf(s, size, " %s cq 0x%x uar 0x%x", state_name(sq->state),
			 num_of(sq->cq), num_of(sq->uar));

	wq_text(s + n, size - (size_t)n, &sq->wq, 1);
}

static void rq_text(char *s, size_t size, const struct cx_rq *rq)
{
	int n = snprintf(s, size, " %s cq 0x%x", state_name(rq->state), num_of(rq->cq));

	if (rq->rmp)
		snprintf(s + n, size - (size_t)n, " rmp 0x%x", num_of(rq->rmp));
	else
		wq_text(s + n, size - (size_t)n, &rq->wq, 0);
}

static void rmp_text(char *s, size_t size, const struct cx_rmp *rmp)
{
	int n = snprintf(s, size, " %s", state_name(rmp->state));

	wq_text(s + n, size - (size_t)n, &rmp->wq, 0);
}

static void details(char *s, size_t size, const struct cx_obj *obj)
{
	const struct cx_umem *umem = (const void *)obj;
	const struct cx_mkey *mkey = (const void *)obj;
	const struct cx_tir *tir = (const void *)obj;
	const struct cx_rqt *rqt = (const void *)obj;
	const struct cx_qcounter *qc = (const void *)obj;

	switch (obj->type) {
	case CX_UMEM:
		snprintf(s, size, " bytes %llu", (unsigned long long)umem->len);
		break;
	case CX_MKEY:
		snprintf(s, size, " key 0x%x pd 0x%x iova 0x%llx bytes %llu",
			 obj->num << 8 | mkey->variant, mkey->pdn,
			 (unsigned long long)mkey->iova, (unsigned long long)mkey->len);
		break;
	case CX_CQ:
		cq_text(s, size, (const void *)obj);
		break;
	case CX_SQ:
		sq_text(s, size, (const void *)obj);
		break;
	case CX_RQ:
		rq_text(s, size, (const void *)obj);
		break;
	case CX_RMP:
		rmp_text(s, size, (const void *)obj);
		break;
	case CX_TIR:
		snprintf(s, size, tir->rqt ? " rqt 0x%x" : " rq 0x%x",
			 tir->rqt ? num_of(tir->rqt) : num_of(tir->rq));
		break;
	case CX_RQT:
		snprintf(s, size, " entries %u of %u", rqt->n, rqt->max);
		break;
	case CX_FT:
	case CX_FG:
	case CX_FTE:
		cx_flow_text(s, size, obj);
		break;
	case CX_QCOUNTER:
		snprintf(s, size, " out_of_buffer %u", qc->out_of_buffer);
		break;
	default:
		*s = 0;
		break;
	}
}

static bool dump_one(void *arg, struct cx_obj *obj)
{
	struct out *out = arg;
	char text[256];
	int n = snprintf(text, sizeof(text), "%s 0x%x uid %u",
			 cx_obj_type_name(obj->type), obj->num, obj->uid);

	if (obj->refs)
		n += snprintf(text + n, sizeof(text) - (size_t)n, " refs %u", obj->refs);
	details(text + n, sizeof(text) - (size_t)n, obj);
	out->line(out->arg, text);
	return true;
}

void cx_dump(const struct cx_dev *dev, void (*line)(void *arg, const char *text),
	     void *arg)
{
	struct out out = { line, arg };

	for (unsigned i = 0; i < CX_OBJ_TYPE_COUNT; i++)
		cx_obj_each(dev, (enum cx_obj_type)i, dump_one, &out);
}
