/* m5/cq.c - a completion queue: create, destroy, what was not read */

#include <string.h>

#include "../prm/ctx.h"
#include "inside.h"

/* ---- compression ---- */

static const struct {
	const char *name;
	uint8_t format, ext;
} minis[M5_MINI_COUNT] = {
	[M5_MINI_HASH] = { "hash", PRM_MINI_HASH, 0 },
	[M5_MINI_CSUM] = { "checksum", PRM_MINI_CSUM, 0 },
	[M5_MINI_CSUM_STRIDE] = { "checksum and stride", PRM_MINI_CSUM_STRIDE, 0 },
	[M5_MINI_TYPE_STRIDE] = { "header type and stride", PRM_MINI_HASH, 1 },
};

static const char *const layout_name[M5_CQ_LAYOUT_COUNT] = { "off", "basic", "enhanced" };

const char *m5_cq_layout_name(enum m5_cq_layout layout)
{
	return layout_name[layout];
}

const char *m5_cq_mini_name(enum m5_mini mini)
{
	return minis[mini].name;
}

static bool has_mini(const struct m5_caps *c, enum m5_mini mini)
{
	return mini == M5_MINI_CSUM_STRIDE   ? c->mini_stride
	       : mini == M5_MINI_TYPE_STRIDE ? c->mini_type_stride
					     : true;
}

/* The format that Linux has in each kind of queue, else the other one with a stride index.
 * NULL: there is one; else why not. */
static const char *choose_mini(const struct m5_caps *c, bool striding, enum m5_mini *mini)
{
	if (*mini == M5_MINI_AUTO)
		*mini = !striding	 ? M5_MINI_CSUM
			: c->mini_stride ? M5_MINI_CSUM_STRIDE
					 : M5_MINI_TYPE_STRIDE;
	if (striding && *mini < M5_MINI_CSUM_STRIDE)
		return "a striding queue needs a format with a stride index";
	return has_mini(c, *mini) ? NULL : "the device has no format with a stride index";
}

/* NULL: the device can. */
static const char *lacks(const struct m5_caps *c, enum m5_cq_layout layout)
{
	if (!c->cqe_compression)
		return "the device lacks the capability cqe_compression";
	if (layout == M5_CQ_ENHANCED && !c->enhanced_cqe_compression)
		return "the device lacks the capability enhanced_cqe_compression";
	return NULL;
}

static int refuse(const struct m5_caps *c, enum m5_cq_layout layout, const char *why,
		  struct err *err)
{
	return err_set(err, -EOPNOTSUPP, "%s: %s compression of completions: %s",
		       c->rdma_name, layout_name[layout], why);
}

static enum m5_cq_layout best(const struct m5_caps *c, struct m5_cq_comp *ret)
{
	ret->why = lacks(c, M5_CQ_ENHANCED);
	if (!ret->why) {
		ret->why = "the device has it";
		return M5_CQ_ENHANCED;
	}
	if (lacks(c, M5_CQ_BASIC))
		return M5_CQ_PLAIN;
	return M5_CQ_BASIC;
}

int m5_cq_choose(const struct m5_caps *c, enum m5_compression wanted, enum m5_mini mini,
		 bool striding, struct err *err, struct m5_cq_comp *ret)
{
	static const enum m5_cq_layout layouts[M5_COMPRESSION_COUNT] = {
		[M5_COMPRESSION_BASIC] = M5_CQ_BASIC,
		[M5_COMPRESSION_ENHANCED] = M5_CQ_ENHANCED,
	};
	struct m5_cq_comp comp = { layouts[wanted], mini, "as configured" };
	const char *no;

	if (wanted == M5_COMPRESSION_AUTO)
		comp.layout = best(c, &comp);
	else if ((no = lacks(c, comp.layout)) && comp.layout != M5_CQ_PLAIN)
		return refuse(c, comp.layout, no, err);
	if (comp.layout != M5_CQ_PLAIN && (no = choose_mini(c, striding, &comp.mini))) {
		if (wanted != M5_COMPRESSION_AUTO)
			return refuse(c, comp.layout, no, err);
		comp.layout = M5_CQ_PLAIN;
		comp.why = no;
	}
	if (comp.layout == M5_CQ_PLAIN)
		comp.mini = M5_MINI_AUTO;
	*ret = comp;
	return 0;
}

/* ---- life ---- */

static void fill_context(void *in, const struct m5_cq *cq, const struct m5_dev *dev)
{
	void *ctx = prm_at(in, PRM_CREATE_CQ_CTX);

	prm_set(in, PRM_IN_OPCODE, PRM_CREATE_CQ);
	prm_set(in, PRM_CREATE_CQ_UMEM_ID, cq->ring.umem->umem_id);
	prm_set(in, PRM_CREATE_CQ_UMEM_VALID, 1);
	prm_set(ctx, PRM_CQC_DBREC_UMEM_VALID, 1);
	prm_set(ctx, PRM_CQC_DBREC_UMEM_ID, cq->ring.umem->umem_id);
	prm_set(ctx, PRM_CQC_DBREC_ADDR, cq->ring.dbrec_offset);
	prm_set(ctx, PRM_CQC_LOG_SIZE, cq->log_size);
	prm_set(ctx, PRM_CQC_UAR, cq->uar->page_id);
	prm_set(ctx, PRM_CQC_EQN, dev->eqn);
	if (cq->comp.layout == M5_CQ_PLAIN)
		return;
	prm_set(ctx, PRM_CQC_COMP_EN, 1);
	prm_set(ctx, PRM_CQC_COMP_LAYOUT, cq->comp.layout == M5_CQ_ENHANCED);
	prm_set(ctx, PRM_CQC_MINI_FORMAT, minis[cq->comp.mini].format);
	prm_set(ctx, PRM_CQC_MINI_FORMAT_EXT, minis[cq->comp.mini].ext);
}

/* Of no lap, whatever is tested: the first is lap 0. */
static void invalidate(struct m5_cq_hot *hot)
{
	for (uint32_t i = 0; i <= hot->mask; i++) {
		hot->entry[i].validity = UINT8_MAX;
		hot->entry[i].op_own = PRM_CQE_INIT;
	}
}

int m5_cq_open_as(struct m5_cq *cq, struct m5_dev *dev, struct mlx5dv_devx_uar *uar,
		  unsigned log_size, const struct m5_cq_comp *comp, int numa_node,
		  struct err *err, struct m5_cq_hot *hot)
{
	uint32_t in[PRM_CREATE_CQ_BYTES / 4] = { 0 };
	int r;

	memset(cq, 0, sizeof(*cq));
	if (log_size > dev->caps.log_max_cq_size)
		return err_set(
			err, -EINVAL,
			"%s: a completion queue of 2^%u entries: the device has at most "
			"2^%u",
			dev->caps.rdma_name, log_size, dev->caps.log_max_cq_size);
	cq->log_size = log_size;
	cq->uar = uar;
	cq->comp = *comp;
	r = m5_ring_map(&cq->ring, dev, sizeof(struct prm_cqe) << log_size, true,
			numa_node, err);
	if (r < 0)
		return r;
	hot->entry = (struct prm_cqe *)(void *)cq->ring.base;
	hot->dbrec = cq->ring.dbrec;
	hot->mask = (UINT32_C(1) << log_size) - 1;
	hot->log_size = (uint8_t)log_size;
	hot->ci = 0;
	invalidate(hot);
	fill_context(in, cq, dev);
	return m5_devx_create(dev, "CREATE_CQ", in, sizeof(in), err, &cq->obj, &cq->num);
}

int m5_cq_open(struct m5_cq *cq, struct m5_dev *dev, struct mlx5dv_devx_uar *uar,
	       unsigned log_size, int numa_node, struct err *err, struct m5_cq_hot *hot)
{
	static const struct m5_cq_comp none;

	return m5_cq_open_as(cq, dev, uar, log_size, &none, numa_node, err, hot);
}

size_t m5_cq_bytes(unsigned log_size)
{
	return m5_ring_bytes(sizeof(struct prm_cqe) << log_size);
}

void m5_cq_close(struct m5_cq *cq)
{
	m5_devx_destroy(&cq->obj);
	m5_ring_unmap(&cq->ring);
}

/* ---- after an error: the queue that writes here is in reset, so what is there now is all ---- */

/* Completions that an entry stands for. */
static uint32_t completions(const struct prm_cqe *e, enum m5_cq_layout layout,
			    uint32_t most)
{
	uint32_t n;

	if (layout == M5_CQ_PLAIN ||
	    (e->op_own & PRM_CQE_FORMAT_MASK) != PRM_CQE_COMPRESSED)
		return 1;
	n = layout == M5_CQ_BASIC ? from_be32(e->byte_cnt) : (e->op_own >> 4) + 1u;
	return n && n <= most ? n : 1;
}

void m5_cq_drop_as(struct m5_cq_hot *hot, enum m5_cq_layout layout)
{
	const struct prm_cqe *e;

	while ((e = m5_cq_peek_as(hot, layout)))
		hot->ci += completions(e, layout, hot->mask + 1);
	if (layout == M5_CQ_BASIC) /* slots in sessions may look valid two laps later */
		invalidate(hot);
	m5_cq_give_back(hot);
}

void m5_cq_drop(struct m5_cq_hot *hot)
{
	m5_cq_drop_as(hot, M5_CQ_PLAIN);
}
