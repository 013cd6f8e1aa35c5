/* m5/cq.c - a completion queue: create, destroy */

#include <string.h>

#include "../prm/ctx.h"
#include "inside.h"

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
}

static void invalidate(struct m5_cq_hot *hot)
{
	for (uint32_t i = 0; i <= hot->mask; i++)
		hot->entry[i].op_own = PRM_CQE_INIT;
}

int m5_cq_open(struct m5_cq *cq, struct m5_dev *dev, struct mlx5dv_devx_uar *uar,
	       unsigned log_size, int numa_node, struct err *err, struct m5_cq_hot *hot)
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
	r = m5_ring_map(&cq->ring, dev, sizeof(struct prm_cqe) << log_size, true,
			numa_node, err);
	if (r < 0)
		return r;
	hot->entry = (struct prm_cqe *)(void *)cq->ring.base;
	hot->dbrec = cq->ring.dbrec;
	hot->mask = (UINT32_C(1) << log_size) - 1;
	hot->ci = 0;
	invalidate(hot);
	fill_context(in, cq, dev);
	return m5_devx_create(dev, "CREATE_CQ", in, sizeof(in), err, &cq->obj, &cq->num);
}

size_t m5_cq_bytes(unsigned log_size)
{
	return m5_ring_bytes(sizeof(struct prm_cqe) << log_size);
}

/* The queue that writes here is in reset, so what is there now is all there will be. */
void m5_cq_drop(struct m5_cq_hot *hot)
{
	while (m5_cq_peek(hot))
		hot->ci++;
	m5_cq_give_back(hot);
}

void m5_cq_close(struct m5_cq *cq)
{
	m5_devx_destroy(&cq->obj);
	m5_ring_unmap(&cq->ring);
}
