/* m5/rxq.c - life of a receive queue; the receive path is rx_hot.h */

#include "rxq.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../base/bits.h"
#include "../prm/ctx.h"
#include "geometry.h"
#include "inside.h"
#include "rx_hot.h"

struct m5_rxq {
	struct m5_rx hot; /* first: its own cache lines */
	struct m5_dev *dev;
	struct m5_rxq_conf conf;
	struct m5_mem mem;
	struct m5_ring ring;
	struct m5_cq cq;
	struct mlx5dv_devx_uar *uar; /* for arming: receiving has no doorbell register */
	struct mlx5dv_devx_obj *counter, *obj;
	struct mlx5dv_devx_event_channel *events;
	uint32_t counter_id, num;
	struct m5_geometry geometry;
	struct m5_cq_comp comp;
	enum prm_q_state state;
};

/* ---- geometry ---- */

static int choose(struct m5_rxq *q, struct err *err)
{
	const struct m5_caps *c = &q->dev->caps;
	int r = m5_geometry_choose(c, &q->conf, err, &q->geometry);

	return r < 0 ? r
		     : m5_cq_choose(c, q->conf.compression, q->conf.mini,
				    q->geometry.striding, err, &q->comp);
}

static void fill_hot(struct m5_rxq *q)
{
	const struct m5_geometry *g = &q->geometry;
	struct m5_rx *rx = &q->hot;

	rx->striding = g->striding;
	rx->log_strides = g->log_strides;
	rx->log_stride_bytes = g->log_stride_bytes;
	rx->mask = (UINT32_C(1) << g->log_chunks) - 1;
	rx->pitch = g->pitch;
	rx->ahead = q->conf.prefetch;
	rx->layout = (uint8_t)q->comp.layout;
	if (q->comp.mini == M5_MINI_TYPE_STRIDE)
		rx->own = (uint64_t)M5_PKT_VLAN << 48;
}

static unsigned log_entry_bytes(const struct m5_geometry *g)
{
	return g->striding ? log2_ceil(sizeof(struct prm_rx_stride_wqe))
			   : log2_ceil(sizeof(struct prm_data));
}

static unsigned log_completions(const struct m5_geometry *g)
{
	/* A chunk completes once a stride at most. */
	return g->log_chunks + g->log_strides;
}

static size_t entries_bytes(const struct m5_geometry *g)
{
	return (size_t)1 << (g->log_chunks + log_entry_bytes(g));
}

/* ---- memory ---- */

uint32_t m5_rxq_frames(struct m5_dev *dev, const struct m5_rxq_conf *conf)
{
	struct m5_geometry g;
	struct err err;

	if (m5_geometry_choose(&dev->caps, conf, &err, &g) < 0)
		return 0;
	return m5_geometry_frames(&g, conf->mtu);
}

size_t m5_rxq_bytes(struct m5_dev *dev, const struct m5_rxq_conf *conf)
{
	struct m5_rxq q = { .dev = dev, .conf = *conf };
	struct err err;
	size_t devices = 1;

	if (choose(&q, &err) < 0)
		return 0;
	for (unsigned i = 0; i < conf->n_peers; i++)
		devices += conf->peers[i] != dev;
	return m5_geometry_bytes(&q.geometry) * devices +
	       m5_ring_bytes(entries_bytes(&q.geometry)) +
	       m5_cq_bytes(log_completions(&q.geometry));
}

static int open_region(struct m5_rxq *q, struct err *warn, struct err *err)
{
	const char *name = q->dev->caps.rdma_name;
	size_t bytes = m5_geometry_bytes(&q->geometry);
	int r = m5_mem_map(&q->mem, bytes, q->conf.numa_node, warn);

	if (r < 0)
		return err_set(err, r, "%s: no memory for %zu KiB of packets", name,
			       bytes >> 10);
	r = m5_mem_register(&q->mem, q->dev, err);
	for (unsigned i = 0; i < q->conf.n_peers && !r; i++)
		if (q->conf.peers[i] != q->dev)
			r = m5_mem_register(&q->mem, q->conf.peers[i], err);
	if (r < 0)
		return r;
	q->hot.region = q->mem.base;
	memcpy(q->hot.lkey, q->mem.lkey, sizeof(q->hot.lkey));
	return 0;
}

static int open_counts(struct m5_rxq *q, struct err *err)
{
	size_t slots = (size_t)1 << log_completions(&q->geometry);

	q->hot.refs = calloc((size_t)q->hot.mask + 1, sizeof(*q->hot.refs));
	if (q->comp.layout == M5_CQ_BASIC)
		q->hot.stale = calloc(slots / 64 + 1, sizeof(*q->hot.stale));
	if (!q->hot.refs || (q->comp.layout == M5_CQ_BASIC && !q->hot.stale))
		return err_set(err, -ENOMEM, "%s: no memory", q->dev->caps.rdma_name);
	return 0;
}

/* Written once: slot i is chunk i for ever. */
static void write_entries(struct m5_rxq *q)
{
	size_t step = (size_t)1 << log_entry_bytes(&q->geometry);
	uint32_t bytes = (uint32_t)m5_geometry_chunk_bytes(&q->geometry);

	for (uint32_t i = 0; i <= q->hot.mask; i++) {
		uint8_t *entry = q->ring.base + i * step;
		struct prm_data *data = (void *)(entry + step - sizeof(*data));

		memset(entry, 0, step);
		data->bytes = to_be32(bytes);
		data->lkey = q->hot.lkey[q->dev->index];
		data->addr = to_be64((uint64_t)(uintptr_t)q->hot.region +
				     (uint64_t)i * q->hot.pitch);
	}
}

/* ---- objects ---- */

static int open_counter(struct m5_rxq *q, struct err *err)
{
	uint32_t in[PRM_ALLOC_QC_IN_BYTES / 4] = { 0 };
	uint32_t num;
	int r;

	prm_set(in, PRM_IN_OPCODE, PRM_ALLOC_Q_COUNTER);
	r = m5_devx_create(q->dev, "ALLOC_Q_COUNTER", in, sizeof(in), err, &q->counter,
			   &num);
	if (r < 0)
		return r;
	q->counter_id = num &
			0xff; /* its 8 bits are the low ones of the number's field */
	return 0;
}

static void fill_wq(void *wq, const struct m5_rxq *q)
{
	prm_set(wq, PRM_WQ_TYPE,
		q->hot.striding ? PRM_WQ_CYCLIC_STRIDING : PRM_WQ_CYCLIC);
	prm_set(wq, PRM_WQ_PD, q->dev->pdn);
	prm_set(wq, PRM_WQ_LOG_STRIDE, log_entry_bytes(&q->geometry));
	prm_set(wq, PRM_WQ_LOG_SIZE, q->geometry.log_chunks);
	prm_set(wq, PRM_WQ_DBREC_UMEM_VALID, 1);
	prm_set(wq, PRM_WQ_DBREC_UMEM_ID, q->ring.umem->umem_id);
	prm_set(wq, PRM_WQ_DBREC_ADDR, q->ring.dbrec_offset);
	prm_set(wq, PRM_WQ_UMEM_VALID, 1);
	prm_set(wq, PRM_WQ_UMEM_ID, q->ring.umem->umem_id);
	if (!q->hot.striding)
		return;
	prm_set(wq, PRM_WQ_LOG_STRIDES,
		(q->hot.log_strides - PRM_LOG_STRIDES_BASE) & 0xfu);
	prm_set(wq, PRM_WQ_LOG_STRIDE_BYTES,
		q->hot.log_stride_bytes - PRM_LOG_STRIDE_BYTES_BASE);
}

static int open_rq(struct m5_rxq *q, struct err *err)
{
	uint32_t in[PRM_CREATE_RQ_BYTES / 4] = { 0 };
	void *ctx = prm_at(in, PRM_CREATE_RQ_CTX);

	prm_set(in, PRM_IN_OPCODE, PRM_CREATE_RQ);
	prm_set(ctx, PRM_RQC_VLAN_STRIP_OFF, !q->conf.strip_vlan);
	prm_set(ctx, PRM_RQC_FLUSH_IN_ERROR, 1);
	prm_set(ctx, PRM_RQC_TS_FORMAT, q->dev->caps.rq_ts_format);
	prm_set(ctx, PRM_RQC_CQN, q->cq.num);
	prm_set(ctx, PRM_RQC_COUNTER, q->counter_id);
	fill_wq(prm_at(ctx, PRM_RQC_WQ), q);
	return m5_devx_create(q->dev, "CREATE_RQ", in, sizeof(in), err, &q->obj, &q->num);
}

static int open_events(struct m5_rxq *q, struct err *err)
{
	uint16_t completion = 0; /* event type */
	int r;

	errno = 0;
	q->events = mlx5dv_devx_create_event_channel(
		q->dev->ctx, MLX5DV_DEVX_CREATE_EVENT_CHANNEL_FLAGS_OMIT_EV_DATA);
	if (!q->events) {
		r = verbs_errno();
		return err_set(err, r, "%s: event channel: %s", q->dev->caps.rdma_name,
			       strerror(-r));
	}
	r = verbs_result(mlx5dv_devx_subscribe_devx_event(
		q->events, q->cq.obj, sizeof(completion), &completion, 0));
	if (r < 0)
		return err_set(err, r, "%s: subscribing to completions: %s",
			       q->dev->caps.rdma_name, strerror(-r));
	fcntl(q->events->fd, F_SETFL, fcntl(q->events->fd, F_GETFL) | O_NONBLOCK);
	return 0;
}

static int open_queue(struct m5_rxq *q, struct err *err)
{
	int r;

	r = m5_uar_open(q->dev, err, &q->uar);
	if (r < 0)
		return r;
	r = m5_cq_open_as(&q->cq, q->dev, q->uar, log_completions(&q->geometry), &q->comp,
			  q->conf.numa_node, err, &q->hot.cq);
	if (r < 0)
		return r;
	q->hot.cqn = q->cq.num;
	q->hot.arm_register =
		(uint64_t *)(void *)((uint8_t *)q->uar->base_addr + PRM_UAR_CQ_ARM);
	r = m5_ring_map(&q->ring, q->dev, entries_bytes(&q->geometry), false,
			q->conf.numa_node, err);
	if (r < 0)
		return r;
	q->hot.dbrec = q->ring.dbrec;
	write_entries(q);
	r = open_counter(q, err);
	if (r < 0)
		return r;
	r = open_rq(q, err);
	return r < 0 ? r : open_events(q, err);
}

int m5_rxq_open(struct m5_dev *dev, const struct m5_rxq_conf *conf, struct err *warn,
		struct err *err, struct m5_rxq **ret)
{
	struct m5_rxq *q = aligned_alloc(CACHE_LINE, align_up(sizeof(*q), CACHE_LINE));
	int r;

	if (!q)
		return err_set(err, -ENOMEM, "%s: no memory", dev->caps.rdma_name);
	memset(q, 0, sizeof(*q));
	q->dev = dev;
	q->conf = *conf;
	if (conf->numa_node < 0)
		q->conf.numa_node = dev->caps.numa_node;
	r = choose(q, err);
	if (r < 0)
		goto fail;
	fill_hot(q);
	r = open_region(q, warn, err);
	if (!r)
		r = open_counts(q, err);
	if (!r)
		r = open_queue(q, err);
	if (r < 0)
		goto fail;
	*ret = q;
	return 0;
fail:
	m5_rxq_close(q);
	return r;
}

static int set_state(struct m5_rxq *q, enum prm_q_state to, struct err *err)
{
	uint32_t in[PRM_MODIFY_RQ_BYTES / 4] = { 0 };
	int r;

	if (q->state == to)
		return 0;
	prm_set(in, PRM_IN_OPCODE, PRM_MODIFY_RQ);
	prm_set(in, PRM_MODIFY_RQ_STATE, q->state);
	prm_set(in, PRM_MODIFY_RQ_RQN, q->num);
	prm_set(prm_at(in, PRM_MODIFY_RQ_CTX), PRM_RQC_STATE, to);
	r = m5_devx_modify(q->dev, q->obj, "MODIFY_RQ", in, sizeof(in), err);
	if (!r)
		q->state = to;
	return r;
}

int m5_rxq_start(struct m5_rxq *q, struct err *err)
{
	int r = set_state(q, PRM_Q_READY, err);

	if (r < 0)
		return r;
	m5_rx_refill(&q->hot); /* every chunk is free now */
	return 0;
}

/* An error moves the queue without us. */
static int read_state(struct m5_rxq *q, struct err *err)
{
	uint32_t in[PRM_QUERY_RQ_IN_BYTES / 4] = { 0 }, out[PRM_QUERY_RQ_OUT_BYTES / 4];
	int r;

	prm_set(in, PRM_IN_OPCODE, PRM_QUERY_RQ);
	prm_set(in, PRM_QUERY_RQ_RQN, q->num);
	r = m5_devx_query(q->dev, q->obj, "QUERY_RQ", in, sizeof(in), out, sizeof(out),
			  err);
	if (!r)
		q->state = (enum prm_q_state)prm_get(prm_at(out, PRM_QUERY_RQ_CTX),
						     PRM_RQC_STATE);
	return r;
}

int m5_rxq_reset(struct m5_rxq *q, struct err *err)
{
	struct m5_rx *rx = &q->hot;
	int r = read_state(q, err);

	if (!r && q->state == PRM_Q_READY)
		r = set_state(q, PRM_Q_ERROR, err);
	if (!r)
		r = set_state(q, PRM_Q_RESET, err);
	if (r < 0)
		return r;
	rx->cq.ci += rx->minis; /* of a session that was not read to its end */
	rx->minis = rx->in_array = 0;
	m5_cq_drop_as(&rx->cq, q->comp.layout);
	if (rx->stale)
		memset(rx->stale, 0, (rx->cq.mask / 64 + 1) * sizeof(*rx->stale));
	memset(rx->refs, 0, ((size_t)rx->mask + 1) * sizeof(*rx->refs));
	rx->dbrec[PRM_DBREC_RECEIVE] = to_be32(0);
	rx->fill = rx->post = 0;
	rx->stride = 0;
	rx->failed = false;
	return 0;
}

void m5_rxq_close(struct m5_rxq *q)
{
	if (!q)
		return;
	/* The queue first: the device may write to the region until it is gone. */
	m5_devx_destroy(&q->obj);
	m5_devx_destroy(&q->counter);
	if (q->events)
		mlx5dv_devx_destroy_event_channel(q->events);
	m5_cq_close(&q->cq);
	m5_ring_unmap(&q->ring);
	m5_uar_close(&q->uar);
	m5_mem_unmap(&q->mem);
	free(q->hot.refs);
	free(q->hot.stale);
	free(q);
}

struct m5_rx *m5_rxq_hot(struct m5_rxq *q)
{
	return &q->hot;
}
uint32_t m5_rxq_num(const struct m5_rxq *q)
{
	return q->num;
}
int m5_rxq_event_fd(const struct m5_rxq *q)
{
	return q->events->fd;
}

uint32_t m5_rxq_packets(const struct m5_rxq *q)
{
	return UINT32_C(1) << log_completions(&q->geometry);
}

void m5_rxq_info(const struct m5_rxq *q, struct m5_rxq_info *ret)
{
	const struct m5_geometry *g = &q->geometry;

	*ret = (struct m5_rxq_info){
		.striding = g->striding,
		.chunks = UINT32_C(1) << g->log_chunks,
		.strides = UINT32_C(1) << g->log_strides,
		.stride_bytes = UINT32_C(1) << g->log_stride_bytes,
		.prefetch = q->conf.prefetch,
		.bytes = m5_geometry_bytes(g),
		.compression = m5_cq_layout_name(q->comp.layout),
		.mini = q->comp.mini ? m5_cq_mini_name(q->comp.mini) : "none",
		.why = q->comp.why,
	};
}

int m5_rxq_out_of_buffer(struct m5_rxq *q, uint64_t *ret)
{
	uint32_t in[PRM_QUERY_QC_IN_BYTES / 4] = { 0 }, out[PRM_QUERY_QC_OUT_BYTES / 4];
	int r;

	prm_set(in, PRM_IN_OPCODE, PRM_QUERY_Q_COUNTER);
	prm_set(in, PRM_QUERY_QC_IN_ID, q->counter_id);
	r = m5_devx_query(q->dev, q->counter, "QUERY_Q_COUNTER", in, sizeof(in), out,
			  sizeof(out), NULL);
	if (!r)
		*ret = prm_get(out, PRM_QUERY_QC_OUT_OUT_OF_BUFFER);
	return r;
}

void m5_rxq_event_clear(struct m5_rxq *q)
{
	uint64_t cookie;

	while (read(q->events->fd, &cookie, sizeof(cookie)) > 0)
		m5_rx_event(&q->hot);
}

void m5_rx_arm(struct m5_rx *rx)
{
	uint32_t word = (rx->arm_sn & 3) << PRM_CQ_ARM_SN_SHIFT | PRM_CQ_ARM_NEXT |
			(rx->cq.ci & PRM_CQ_CI_MASK);
	uint64_t doorbell = (uint64_t)word << 32 | rx->cqn;

	rx->cq.dbrec[PRM_CQ_DBREC_ARM] = to_be32(word);
	m5_wmb_doorbell();
	WRITE_ONCE(*rx->arm_register, htobe64(doorbell));
}
