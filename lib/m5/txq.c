/* m5/txq.c - life of a send queue; the send path is tx_hot.h */

#include "txq.h"

#include <stdlib.h>
#include <string.h>

#include "../base/bits.h"
#include "../prm/ctx.h"
#include "inside.h"
#include "tx_hot.h"

struct m5_txq {
	struct m5_tx hot; /* first: its own cache lines */
	struct m5_dev *dev;
	struct m5_txq_conf conf;
	struct m5_ring ring;
	struct m5_cq cq;
	struct mlx5dv_devx_uar *uar;
	struct mlx5dv_devx_obj *tis, *obj;
	uint32_t tisn, num;
	unsigned log_blocks;
	enum prm_q_state state;
};

enum { LOG_BLOCKS_MAX = 15 }; /* counted in 16 bits, and full must differ from empty */

/* In the worst case a WQE carries one packet in one block; full WQEs need a quarter of that. */
static int choose_geometry(struct m5_txq *q, struct err *err)
{
	const struct m5_caps *c = &q->dev->caps;
	unsigned log_max = c->log_max_wq_size < LOG_BLOCKS_MAX ? c->log_max_wq_size
							       : LOG_BLOCKS_MAX;

	if (!is_pow2(q->conf.packets) || q->conf.packets < 64)
		return err_set(
			err, -EINVAL,
			"send ring of %u packets: must be a power of two, 64 at least",
			q->conf.packets);
	q->log_blocks = log2_ceil(q->conf.packets);
	if (q->log_blocks > log_max)
		return err_set(err, -EINVAL,
			       "%s: send ring of %u packets: the device has at most %u",
			       c->rdma_name, q->conf.packets, 1u << log_max);
	q->hot.mask = q->hot.held_mask = q->conf.packets - 1;
	return 0;
}

static int open_memory(struct m5_txq *q, struct err *err)
{
	q->hot.held = calloc(q->conf.packets, sizeof(*q->hot.held));
	q->hot.end_of = calloc(q->conf.packets, sizeof(*q->hot.end_of));
	if (q->hot.held && q->hot.end_of)
		return 0;
	return err_set(err, -ENOMEM, "%s: no memory for a send ring of %u packets",
		       q->dev->caps.rdma_name, q->conf.packets);
}

size_t m5_txq_bytes(const struct m5_txq_conf *conf)
{
	return m5_ring_bytes((size_t)PRM_WQEBB * conf->packets) +
	       m5_cq_bytes(log2_ceil(conf->packets));
}

static int open_tis(struct m5_txq *q, struct err *err)
{
	uint32_t in[PRM_CREATE_TIS_BYTES / 4] = { 0 };

	prm_set(in, PRM_IN_OPCODE, PRM_CREATE_TIS);
	prm_set(prm_at(in, PRM_CREATE_TIS_CTX), PRM_TISC_TD, q->dev->tdn);
	return m5_devx_create(q->dev, "CREATE_TIS", in, sizeof(in), err, &q->tis,
			      &q->tisn);
}

static void fill_wq(void *wq, const struct m5_txq *q)
{
	prm_set(wq, PRM_WQ_TYPE, PRM_WQ_CYCLIC);
	prm_set(wq, PRM_WQ_PD, q->dev->pdn);
	prm_set(wq, PRM_WQ_UAR, q->uar->page_id);
	prm_set(wq, PRM_WQ_LOG_STRIDE, log2_ceil(PRM_WQEBB));
	prm_set(wq, PRM_WQ_LOG_SIZE, q->log_blocks);
	prm_set(wq, PRM_WQ_DBREC_UMEM_VALID, 1);
	prm_set(wq, PRM_WQ_DBREC_UMEM_ID, q->ring.umem->umem_id);
	prm_set(wq, PRM_WQ_DBREC_ADDR, q->ring.dbrec_offset);
	prm_set(wq, PRM_WQ_UMEM_VALID, 1);
	prm_set(wq, PRM_WQ_UMEM_ID, q->ring.umem->umem_id);
}

static int open_sq(struct m5_txq *q, struct err *err)
{
	uint32_t in[PRM_CREATE_SQ_BYTES / 4] = { 0 };
	void *ctx = prm_at(in, PRM_CREATE_SQ_CTX);

	prm_set(in, PRM_IN_OPCODE, PRM_CREATE_SQ);
	prm_set(ctx, PRM_SQC_FLUSH_IN_ERROR, 1);
	prm_set(ctx, PRM_SQC_ALLOW_MPW, 1);
	prm_set(ctx, PRM_SQC_TS_FORMAT, q->dev->caps.sq_ts_format);
	prm_set(ctx, PRM_SQC_CQN, q->cq.num);
	prm_set(ctx, PRM_SQC_TIS_COUNT, 1);
	prm_set(ctx, PRM_SQC_TIS, q->tisn);
	fill_wq(prm_at(ctx, PRM_SQC_WQ), q);
	return m5_devx_create(q->dev, "CREATE_SQ", in, sizeof(in), err, &q->obj, &q->num);
}

static int open_queue(struct m5_txq *q, struct err *err)
{
	int r;

	r = m5_uar_open(q->dev, err, &q->uar);
	if (r < 0)
		return r;
	/* Every WQE could complete, with an error at least. */
	r = m5_cq_open(&q->cq, q->dev, q->uar, q->log_blocks, q->conf.numa_node, err,
		       &q->hot.cq);
	if (r < 0)
		return r;
	r = m5_ring_map(&q->ring, q->dev, (size_t)PRM_WQEBB << q->log_blocks, false,
			q->conf.numa_node, err);
	if (r < 0)
		return r;
	r = open_tis(q, err);
	if (r < 0)
		return r;
	r = open_sq(q, err);
	if (r < 0)
		return r;
	q->hot.ring = q->ring.base;
	q->hot.dbrec = q->ring.dbrec;
	q->hot.doorbell = q->uar->reg_addr;
	q->hot.qpn_shifted = q->num << 8;
	q->hot.dev = (uint16_t)q->dev->index;
	return 0;
}

int m5_txq_open(struct m5_dev *dev, const struct m5_txq_conf *conf, struct err *err,
		struct m5_txq **ret)
{
	struct m5_txq *q = aligned_alloc(CACHE_LINE, align_up(sizeof(*q), CACHE_LINE));
	int r;

	if (!q)
		return err_set(err, -ENOMEM, "%s: no memory", dev->caps.rdma_name);
	memset(q, 0, sizeof(*q));
	q->dev = dev;
	q->conf = *conf;
	if (conf->numa_node < 0)
		q->conf.numa_node = dev->caps.numa_node;
	r = choose_geometry(q, err);
	if (r < 0)
		goto fail;
	r = open_memory(q, err);
	if (r < 0)
		goto fail;
	r = open_queue(q, err);
	if (r < 0)
		goto fail;
	*ret = q;
	return 0;
fail:
	m5_txq_close(q);
	return r;
}

static int set_state(struct m5_txq *q, enum prm_q_state to, struct err *err)
{
	uint32_t in[PRM_MODIFY_SQ_BYTES / 4] = { 0 };
	int r;

	if (q->state == to)
		return 0;
	prm_set(in, PRM_IN_OPCODE, PRM_MODIFY_SQ);
	prm_set(in, PRM_MODIFY_SQ_STATE, q->state);
	prm_set(in, PRM_MODIFY_SQ_SQN, q->num);
	prm_set(prm_at(in, PRM_MODIFY_SQ_CTX), PRM_SQC_STATE, to);
	r = m5_devx_modify(q->dev, q->obj, "MODIFY_SQ", in, sizeof(in), err);
	if (!r)
		q->state = to;
	return r;
}

int m5_txq_start(struct m5_txq *q, struct err *err)
{
	return set_state(q, PRM_Q_READY, err);
}

/* An error moves the queue without us. */
static int read_state(struct m5_txq *q, struct err *err)
{
	uint32_t in[PRM_QUERY_SQ_IN_BYTES / 4] = { 0 }, out[PRM_QUERY_SQ_OUT_BYTES / 4];
	int r;

	prm_set(in, PRM_IN_OPCODE, PRM_QUERY_SQ);
	prm_set(in, PRM_QUERY_SQ_SQN, q->num);
	r = m5_devx_query(q->dev, q->obj, "QUERY_SQ", in, sizeof(in), out, sizeof(out),
			  err);
	if (!r)
		q->state = (enum prm_q_state)prm_get(prm_at(out, PRM_QUERY_SQ_CTX),
						     PRM_SQC_STATE);
	return r;
}

int m5_txq_reset(struct m5_txq *q, struct err *err)
{
	struct m5_tx *tx = &q->hot;
	int r = read_state(q, err);

	if (!r && q->state == PRM_Q_READY)
		r = set_state(q, PRM_Q_ERROR, err);
	if (!r)
		r = set_state(q, PRM_Q_RESET, err);
	if (r < 0)
		return r;
	m5_cq_drop(&tx->cq);
	m5_tx_let_go(tx, tx->held_next);
	tx->dbrec[PRM_DBREC_SEND] = to_be32(0);
	tx->next = tx->done = tx->rung = tx->last = tx->ds = 0;
	tx->failed = false;
	return 0;
}

void m5_txq_abandon(struct m5_txq *q)
{
	m5_tx_let_go(&q->hot, q->hot.held_next);
	q->hot.failed = true; /* takes no more */
}

void m5_txq_close(struct m5_txq *q)
{
	if (!q)
		return;
	m5_devx_destroy(&q->obj);
	m5_devx_destroy(&q->tis);
	m5_cq_close(&q->cq);
	m5_ring_unmap(&q->ring);
	m5_uar_close(&q->uar);
	free(q->hot.held);
	free(q->hot.end_of);
	free(q);
}

struct m5_tx *m5_txq_hot(struct m5_txq *q)
{
	return &q->hot;
}
uint32_t m5_txq_num(const struct m5_txq *q)
{
	return q->num;
}
uint32_t m5_txq_packets(const struct m5_txq *q)
{
	return q->conf.packets;
}
