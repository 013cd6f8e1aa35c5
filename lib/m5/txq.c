/* m5/txq.c - life of a send queue; the send path is tx_hot.h */

#include "txq.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../base/bits.h"
#include "../prm/ctx.h"
#include "inside.h"
#include "tx_hot.h"

struct ring {
	struct m5_ring memory;
	struct m5_cq cq;
	struct mlx5dv_devx_obj *obj;
	uint32_t num;
	enum prm_q_state state;
};

struct m5_txq {
	struct m5_tx hot; /* first: its own cache lines */
	struct m5_dev *dev;
	struct m5_txq_conf conf;
	struct ring ring[M5_TX_RINGS_MAX];
	struct mlx5dv_devx_uar *uar; /* of all rings: one thread writes to it */
	struct mlx5dv_devx_obj *tis;
	uint32_t tisn;
	struct m5_txq_choice choice;
};

/* Blocks are counted in 16 bits, and full must differ from empty. A WQE of the largest size fits
 * into the smallest ring, and a completion for each of its quarters into the smallest CQ. */
enum { LOG_BLOCKS_MIN = 6, LOG_BLOCKS_MAX = 15, LOG_CQ_MIN = 6 };

static_assert(M5_COPIED_MAX_BYTES ==
		      (PRM_DS_MAX - M5_TX_HEAD_DS) * PRM_DS - sizeof(struct prm_inline),
	      "an entry alone in a WQE");
static_assert(M5_COPIED_MAX_BYTES <= (int)PRM_INLINE_MAX, "its length field");

/* ---- what to do ---- */

static uint32_t or_usual(uint32_t v, uint32_t usual)
{
	return v ? v : usual;
}

/* What the device leaves no choice about. */
static bool must_be_single(const struct m5_caps *caps, struct m5_txq_choice *c)
{
	c->min_inline_bytes = caps->min_inline;
	if (caps->min_inline)
		snprintf(
			c->reason, sizeof(c->reason),
			"the device wants %u bytes or more of each frame in its work entry",
			caps->min_inline);
	else if (!caps->enhanced_mpw)
		snprintf(c->reason, sizeof(c->reason),
			 "the device has no multi-packet work entries");
	return c->reason[0];
}

static enum m5_send choose_send(const struct m5_txq_conf *conf, struct m5_txq_choice *c)
{
	unsigned from = or_usual(conf->copied_from_queues, M5_COPIED_FROM_FORWARDER);
	unsigned n = or_usual(conf->n_queues, 1);

	if (conf->send != M5_SEND_AUTO) {
		snprintf(c->reason, sizeof(c->reason), "configured");
		return conf->send;
	}
	snprintf(c->reason, sizeof(c->reason), "auto: %u send queue%s, copied from %u on",
		 n, n == 1 ? "" : "s", from);
	return n >= from ? M5_SEND_MIXED : M5_SEND_POINTER;
}

static void choose(const struct m5_caps *caps, const struct m5_txq_conf *conf,
		   struct m5_txq_choice *c)
{
	*c = (struct m5_txq_choice){ .send = "single", .rings = 1 };
	if (must_be_single(caps, c))
		return;
	switch (choose_send(conf, c)) {
	case M5_SEND_COPIED:
		c->send = "copied";
		c->copied_up_to_bytes = M5_COPIED_MAX_BYTES;
		break;
	case M5_SEND_MIXED:
		c->send = "mixed";
		c->copied_up_to_bytes =
			or_usual(conf->copied_up_to_bytes, M5_COPIED_BYTES);
		break;
	default:
		c->send = "pointer";
		return;
	}
	c->rings = or_usual(conf->rings, M5_RINGS_FORWARDER);
}

/* By pointer: in the worst case a WQE carries one packet in one block; full ones need a quarter of
 * that. Copied: a small frame is a block and a bit; all rings together have twice the blocks. With
 * IP headers in it a WQE of one packet has two. */
static unsigned log_blocks(const struct m5_txq_conf *conf, const struct m5_txq_choice *c)
{
	unsigned log = log2_ceil(conf->packets);

	if (c->copied_up_to_bytes || c->min_inline_bytes > PRM_L2_INLINE)
		log = log + 1 - log2_ceil(c->rings);
	return log < LOG_BLOCKS_MIN   ? LOG_BLOCKS_MIN
	       : log > LOG_BLOCKS_MAX ? LOG_BLOCKS_MAX
				      : log;
}

/* Completions are asked for while there is room for them. */
static unsigned log_cq(unsigned log_blocks)
{
	return log_blocks < LOG_CQ_MIN + 2 ? LOG_CQ_MIN : log_blocks - 2;
}

static int check(const struct m5_txq *q, struct err *err)
{
	const struct m5_caps *c = &q->dev->caps;
	unsigned log_max = c->log_max_wq_size < LOG_BLOCKS_MAX ? c->log_max_wq_size
							       : LOG_BLOCKS_MAX;
	uint32_t copied = q->choice.copied_up_to_bytes;

	if (!is_pow2(q->conf.packets) || q->conf.packets < 1u << LOG_BLOCKS_MIN)
		return err_set(
			err, -EINVAL,
			"send ring of %u packets: must be a power of two, 64 at least",
			q->conf.packets);
	if (log2_ceil(q->conf.packets) > log_max)
		return err_set(err, -EINVAL,
			       "%s: send ring of %u packets: the device has at most %u",
			       c->rdma_name, q->conf.packets, 1u << log_max);
	if (q->choice.rings > M5_TX_RINGS_MAX)
		return err_set(err, -EINVAL, "%u send rings of a queue: at most %u",
			       q->choice.rings, M5_TX_RINGS_MAX);
	if (copied && (copied < M5_COPIED_MIN_BYTES || copied > M5_COPIED_MAX_BYTES))
		return err_set(err, -EINVAL,
			       "frames copied up to %u bytes: must be %u to %u", copied,
			       M5_COPIED_MIN_BYTES, M5_COPIED_MAX_BYTES);
	return 0;
}

size_t m5_txq_bytes(const struct m5_dev *dev, const struct m5_txq_conf *conf)
{
	struct m5_txq_choice c;
	unsigned log;

	choose(&dev->caps, conf, &c);
	log = log_blocks(conf, &c);
	return c.rings *
	       (m5_ring_bytes((size_t)PRM_WQEBB << log) + m5_cq_bytes(log_cq(log)));
}

/* ---- making it ---- */

static int open_memory(struct m5_txq *q, struct m5_tx_ring *hot, unsigned log,
		       struct err *err)
{
	hot->mask = (1u << log) - 1;
	hot->held = calloc((size_t)1 << log, sizeof(*hot->held));
	hot->asked = calloc((size_t)1 << log, sizeof(*hot->asked));
	if (hot->held && hot->asked)
		return 0;
	return err_set(err, -ENOMEM, "%s: no memory for a send ring of %u packets",
		       q->dev->caps.rdma_name, q->conf.packets);
}

static int open_tis(struct m5_txq *q, struct err *err)
{
	uint32_t in[PRM_CREATE_TIS_BYTES / 4] = { 0 };

	prm_set(in, PRM_IN_OPCODE, PRM_CREATE_TIS);
	prm_set(prm_at(in, PRM_CREATE_TIS_CTX), PRM_TISC_TD, q->dev->tdn);
	return m5_devx_create(q->dev, "CREATE_TIS", in, sizeof(in), err, &q->tis,
			      &q->tisn);
}

static void fill_wq(void *wq, const struct m5_txq *q, const struct ring *ring,
		    unsigned log)
{
	prm_set(wq, PRM_WQ_TYPE, PRM_WQ_CYCLIC);
	prm_set(wq, PRM_WQ_PD, q->dev->pdn);
	prm_set(wq, PRM_WQ_UAR, q->uar->page_id);
	prm_set(wq, PRM_WQ_LOG_STRIDE, log2_ceil(PRM_WQEBB));
	prm_set(wq, PRM_WQ_LOG_SIZE, log);
	prm_set(wq, PRM_WQ_DBREC_UMEM_VALID, 1);
	prm_set(wq, PRM_WQ_DBREC_UMEM_ID, ring->memory.umem->umem_id);
	prm_set(wq, PRM_WQ_DBREC_ADDR, ring->memory.dbrec_offset);
	prm_set(wq, PRM_WQ_UMEM_VALID, 1);
	prm_set(wq, PRM_WQ_UMEM_ID, ring->memory.umem->umem_id);
}

static int open_sq(struct m5_txq *q, struct ring *ring, unsigned log, struct err *err)
{
	const struct m5_caps *caps = &q->dev->caps;
	uint32_t in[PRM_CREATE_SQ_BYTES / 4] = { 0 };
	void *ctx = prm_at(in, PRM_CREATE_SQ_CTX);

	prm_set(in, PRM_IN_OPCODE, PRM_CREATE_SQ);
	prm_set(ctx, PRM_SQC_FLUSH_IN_ERROR, 1);
	prm_set(ctx, PRM_SQC_ALLOW_MPW, caps->enhanced_mpw);
	prm_set(ctx, PRM_SQC_MIN_INLINE, caps->inline_mode);
	prm_set(ctx, PRM_SQC_TS_FORMAT, caps->sq_ts_format);
	prm_set(ctx, PRM_SQC_CQN, ring->cq.num);
	prm_set(ctx, PRM_SQC_TIS_COUNT, 1);
	prm_set(ctx, PRM_SQC_TIS, q->tisn);
	fill_wq(prm_at(ctx, PRM_SQC_WQ), q, ring, log);
	return m5_devx_create(q->dev, "CREATE_SQ", in, sizeof(in), err, &ring->obj,
			      &ring->num);
}

static int open_ring(struct m5_txq *q, unsigned i, struct err *err)
{
	struct m5_tx_ring *hot = &q->hot.ring[i];
	unsigned log = log_blocks(&q->conf, &q->choice);
	struct ring *ring = &q->ring[i];
	int r = open_memory(q, hot, log, err);

	if (!r)
		r = m5_cq_open(&ring->cq, q->dev, q->uar, log_cq(log), q->conf.numa_node,
			       err, &hot->cq);
	if (!r)
		r = m5_ring_map(&ring->memory, q->dev, (size_t)PRM_WQEBB << log, false,
				q->conf.numa_node, err);
	if (!r)
		r = open_sq(q, ring, log, err);
	if (r < 0)
		return r;
	hot->base = ring->memory.base;
	hot->dbrec = ring->memory.dbrec;
	hot->qpn_shifted = ring->num << 8;
	return 0;
}

/* Each ring counts its own. */
static uint32_t share_of(uint32_t packets, uint32_t rings)
{
	return rings && packets > rings ? packets / rings : 1;
}

static int open_queue(struct m5_txq *q, struct err *err)
{
	struct m5_tx *tx = &q->hot;
	int r = m5_uar_open_send(q->dev, q->conf.doorbell, err, &q->uar,
				 &tx->write_combining);

	if (!r)
		r = open_tis(q, err);
	for (unsigned i = 0; i < q->choice.rings && !r; i++)
		r = open_ring(q, i, err);
	if (r < 0)
		return r;
	q->choice.doorbell = tx->write_combining ? "write-combining" : "non-cached";
	tx->doorbell = q->uar->reg_addr;
	tx->copied_up_to = q->choice.copied_up_to_bytes;
	tx->held_packets = share_of(or_usual(q->conf.held_packets, q->conf.packets / 4),
				    q->choice.rings);
	tx->dev = (uint16_t)q->dev->index;
	tx->n_rings = (uint8_t)q->choice.rings;
	tx->wide = m5_tx_has_avx512();
	tx->single = !strcmp(q->choice.send, "single");
	tx->inline_mode = q->dev->caps.inline_mode;
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
	choose(&dev->caps, conf, &q->choice);
	r = check(q, err);
	if (!r)
		r = open_queue(q, err);
	if (r < 0)
		m5_txq_close(q);
	else
		*ret = q;
	return r;
}

/* ---- states ---- */

static int set_state(struct m5_txq *q, struct ring *ring, enum prm_q_state to,
		     struct err *err)
{
	uint32_t in[PRM_MODIFY_SQ_BYTES / 4] = { 0 };
	int r;

	if (ring->state == to)
		return 0;
	prm_set(in, PRM_IN_OPCODE, PRM_MODIFY_SQ);
	prm_set(in, PRM_MODIFY_SQ_STATE, ring->state);
	prm_set(in, PRM_MODIFY_SQ_SQN, ring->num);
	prm_set(prm_at(in, PRM_MODIFY_SQ_CTX), PRM_SQC_STATE, to);
	r = m5_devx_modify(q->dev, ring->obj, "MODIFY_SQ", in, sizeof(in), err);
	if (!r)
		ring->state = to;
	return r;
}

int m5_txq_start(struct m5_txq *q, struct err *err)
{
	int r = 0;

	for (unsigned i = 0; i < q->choice.rings && !r; i++)
		r = set_state(q, &q->ring[i], PRM_Q_READY, err);
	return r;
}

/* An error moves the queue without us. */
static int read_state(struct m5_txq *q, struct ring *ring, struct err *err)
{
	uint32_t in[PRM_QUERY_SQ_IN_BYTES / 4] = { 0 }, out[PRM_QUERY_SQ_OUT_BYTES / 4];
	int r;

	prm_set(in, PRM_IN_OPCODE, PRM_QUERY_SQ);
	prm_set(in, PRM_QUERY_SQ_SQN, ring->num);
	r = m5_devx_query(q->dev, ring->obj, "QUERY_SQ", in, sizeof(in), out, sizeof(out),
			  err);
	if (!r)
		ring->state = (enum prm_q_state)prm_get(prm_at(out, PRM_QUERY_SQ_CTX),
							PRM_SQC_STATE);
	return r;
}

static int stop_ring(struct m5_txq *q, struct ring *ring, struct err *err)
{
	int r = read_state(q, ring, err);

	if (!r && ring->state == PRM_Q_READY)
		r = set_state(q, ring, PRM_Q_ERROR, err);
	return r ? r : set_state(q, ring, PRM_Q_RESET, err);
}

/* The device has let go of it. */
static void empty_ring(struct m5_tx_ring *hot)
{
	m5_cq_drop(&hot->cq);
	m5_tx_let_go(hot, hot->held_next);
	hot->dbrec[PRM_DBREC_SEND] = to_be32(0);
	hot->next = hot->done = hot->rung = hot->covered = hot->last = 0;
	hot->asked_out = 0;
	hot->packets_new = hot->held_new = 0;
	hot->pen = (struct m5_tx_pen){ .packets = 0 };
}

int m5_txq_reset(struct m5_txq *q, struct err *err)
{
	int r = 0;

	for (unsigned i = 0; i < q->choice.rings && !r; i++)
		r = stop_ring(q, &q->ring[i], err);
	if (r < 0)
		return r;
	for (unsigned i = 0; i < q->choice.rings; i++)
		empty_ring(&q->hot.ring[i]);
	q->hot.sample = M5_TX_SAMPLE_NONE;
	q->hot.now = 0;
	q->hot.failed = false;
	return 0;
}

void m5_txq_abandon(struct m5_txq *q)
{
	for (unsigned i = 0; i < q->choice.rings; i++)
		m5_tx_let_go(&q->hot.ring[i], q->hot.ring[i].held_next);
	q->hot.failed = true; /* takes no more */
}

void m5_txq_close(struct m5_txq *q)
{
	if (!q)
		return;
	for (unsigned i = 0; i < M5_TX_RINGS_MAX; i++)
		m5_devx_destroy(&q->ring[i].obj);
	m5_devx_destroy(&q->tis);
	for (unsigned i = 0; i < M5_TX_RINGS_MAX; i++) {
		m5_cq_close(&q->ring[i].cq);
		m5_ring_unmap(&q->ring[i].memory);
		free(q->hot.ring[i].held);
		free(q->hot.ring[i].asked);
	}
	m5_uar_close(&q->uar);
	free(q);
}

struct m5_tx *m5_txq_hot(struct m5_txq *q)
{
	return &q->hot;
}
uint32_t m5_txq_num(const struct m5_txq *q, unsigned ring)
{
	return q->ring[ring].num;
}
uint32_t m5_txq_packets(const struct m5_txq *q)
{
	return q->conf.packets;
}
void m5_txq_choice(const struct m5_txq *q, struct m5_txq_choice *ret)
{
	*ret = q->choice;
}
