/* m5/rxq.c - life of a receive queue; the receive path is rx_hot.h */

#include "rxq.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../base/bits.h"
#include "../prm/ctx.h"
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
	unsigned log_chunks;
	enum prm_q_state state;
};

enum {
	FRAME_EXTRA = 22,    /* Ethernet header, two tags */
	LOG_MIN_CHUNKS = 2,  /* the device fills one while others are given back */
	LOG_MAX_CHUNKS = 15, /* counted in 16 bits, and full must differ from empty */
	LOG_STRIDES_WANTED = 6,
	LOG_STRIDE_BYTES_WANTED = 11, /* more would be wasted on all but jumbo frames */
};

/* ---- geometry ---- */

static unsigned log_frame(const struct m5_rxq *q)
{
	return log2_ceil(q->conf.mtu + FRAME_EXTRA);
}

/* A packet of an ordinary MTU fits a stride, a jumbo frame takes several. Many strides to a chunk
 * make few doorbells, but at least four chunks, so that one held packet does not stop the ring. */
static void choose_striding(struct m5_rxq *q)
{
	const struct m5_caps *c = &q->dev->caps;
	unsigned log_packets = log2_ceil(q->conf.packets),
		 log_strides = LOG_STRIDES_WANTED;
	unsigned log_stride = log_frame(q), log_chunk_min = c->log_min_stride_wqe_bytes;

	if (log_stride > LOG_STRIDE_BYTES_WANTED)
		log_stride = LOG_STRIDE_BYTES_WANTED;
	if (log_stride < c->log_min_stride_bytes)
		log_stride = c->log_min_stride_bytes;
	if (log_packets < log_strides + LOG_MIN_CHUNKS)
		log_strides = log_packets > LOG_MIN_CHUNKS ? log_packets - LOG_MIN_CHUNKS
							   : 0;
	if (log_strides < c->log_min_strides)
		log_strides = c->log_min_strides;
	if (log_chunk_min < log_frame(q))
		log_chunk_min = log_frame(q);
	while (log_strides + log_stride < log_chunk_min)
		log_strides++;
	q->hot.log_strides = (uint8_t)log_strides;
	q->hot.log_stride_bytes = (uint8_t)log_stride;
	q->log_chunks = log_packets > log_strides + LOG_MIN_CHUNKS
				? log_packets - log_strides
				: LOG_MIN_CHUNKS;
}

static bool fits_striding(const struct m5_rxq *q)
{
	const struct m5_caps *c = &q->dev->caps;

	return q->conf.striding && c->striding_rq &&
	       q->hot.log_strides <= c->log_max_strides &&
	       q->hot.log_stride_bytes <= c->log_max_stride_bytes &&
	       (c->ext_stride_range || q->hot.log_strides >= PRM_LOG_STRIDES_BASE);
}

static int check_conf(const struct m5_rxq_conf *conf, struct err *err)
{
	if (!is_pow2(conf->packets) || conf->packets < 8)
		return err_set(
			err, -EINVAL,
			"receive ring of %u packets: must be a power of two, 8 at least",
			conf->packets);
	/* The length in a completion has 16 bits. */
	if (conf->mtu < 68 || conf->mtu > UINT16_MAX - FRAME_EXTRA)
		return err_set(err, -EINVAL,
			       "receive ring for an MTU of %u: must be 68 to %d",
			       conf->mtu, UINT16_MAX - FRAME_EXTRA);
	return 0;
}

static int choose_geometry(struct m5_rxq *q, struct err *err)
{
	const struct m5_caps *c = &q->dev->caps;
	unsigned log_max = c->log_max_wq_size < LOG_MAX_CHUNKS ? c->log_max_wq_size
							       : LOG_MAX_CHUNKS;
	int r = check_conf(&q->conf, err);

	if (r < 0)
		return r;
	choose_striding(q);
	q->hot.striding = fits_striding(q);
	if (!q->hot.striding) {
		q->hot.log_strides = 0;
		q->hot.log_stride_bytes = (uint8_t)log_frame(q);
		q->log_chunks = log2_ceil(q->conf.packets);
	}
	q->hot.mask = (UINT32_C(1) << q->log_chunks) - 1;
	if (q->log_chunks > log_max)
		return err_set(
			err, -EINVAL,
			"%s: receive ring of %u packets: the device has at most %llu",
			c->rdma_name, q->conf.packets,
			1ull << (log_max + q->hot.log_strides));
	return 0;
}

static size_t chunk_bytes(const struct m5_rxq *q)
{
	return (size_t)1 << (q->hot.log_strides + q->hot.log_stride_bytes);
}

static unsigned log_entry_bytes(const struct m5_rxq *q)
{
	return q->hot.striding ? log2_ceil(sizeof(struct prm_rx_stride_wqe))
			       : log2_ceil(sizeof(struct prm_data));
}

static unsigned log_completions(const struct m5_rxq *q)
{
	/* A chunk completes once a stride at most. */
	return q->log_chunks + q->hot.log_strides;
}

static size_t entries_bytes(const struct m5_rxq *q)
{
	return ((size_t)q->hot.mask + 1) << log_entry_bytes(q);
}

/* ---- memory ---- */

size_t m5_rxq_bytes(struct m5_dev *dev, const struct m5_rxq_conf *conf)
{
	struct m5_rxq q = { .dev = dev, .conf = *conf };
	struct err err;
	size_t devices = 1;

	if (choose_geometry(&q, &err) < 0)
		return 0;
	for (unsigned i = 0; i < conf->n_peers; i++)
		devices += conf->peers[i] != dev;
	return (chunk_bytes(&q) << q.log_chunks) * devices +
	       m5_ring_bytes(entries_bytes(&q)) + m5_cq_bytes(log_completions(&q));
}

static int open_region(struct m5_rxq *q, struct err *warn, struct err *err)
{
	const char *name = q->dev->caps.rdma_name;
	size_t bytes = chunk_bytes(q) << q->log_chunks;
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
	q->hot.refs = calloc((size_t)q->hot.mask + 1, sizeof(*q->hot.refs));
	return q->hot.refs ? 0 : err_set(err, -ENOMEM, "%s: no memory", name);
}

/* Written once: slot i is chunk i for ever. */
static void write_entries(struct m5_rxq *q)
{
	size_t step = (size_t)1 << log_entry_bytes(q);

	for (uint32_t i = 0; i <= q->hot.mask; i++) {
		uint8_t *entry = q->ring.base + i * step;
		struct prm_data *data = (void *)(entry + step - sizeof(*data));

		memset(entry, 0, step);
		data->bytes = to_be32((uint32_t)chunk_bytes(q));
		data->lkey = q->hot.lkey[q->dev->index];
		data->addr =
			to_be64((uint64_t)(uintptr_t)q->hot.region + i * chunk_bytes(q));
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
	prm_set(wq, PRM_WQ_LOG_STRIDE, log_entry_bytes(q));
	prm_set(wq, PRM_WQ_LOG_SIZE, q->log_chunks);
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
	prm_set(ctx, PRM_RQC_VLAN_STRIP_OFF, 1);
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
	r = m5_cq_open(&q->cq, q->dev, q->uar, log_completions(q), q->conf.numa_node, err,
		       &q->hot.cq);
	if (r < 0)
		return r;
	q->hot.cqn = q->cq.num;
	q->hot.arm_register =
		(uint64_t *)(void *)((uint8_t *)q->uar->base_addr + PRM_UAR_CQ_ARM);
	r = m5_ring_map(&q->ring, q->dev, entries_bytes(q), false, q->conf.numa_node,
			err);
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
	r = choose_geometry(q, err);
	if (r < 0)
		goto fail;
	r = open_region(q, warn, err);
	if (r < 0)
		goto fail;
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
	m5_cq_drop(&rx->cq);
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
	return UINT32_C(1) << (q->log_chunks + q->hot.log_strides);
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
