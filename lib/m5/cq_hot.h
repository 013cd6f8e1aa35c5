/* m5/cq_hot.h - reading completions
 *
 * HOT. An entry is ours when its opcode is valid and its owner bit is that of the
 * lap: the bit turns each time the ring wraps.
 */
#pragma once

#include "../base/hot.h"
#include "../prm/cqe.h"
#include "barrier.h"

struct m5_cq_hot {
	struct prm_cqe *entry;
	be32_t *dbrec;
	uint32_t ci, mask;
};

/* The next entry, NULL = none yet. What it says may be read after this. */
ALWAYS_INLINE const struct prm_cqe *m5_cq_peek(const struct m5_cq_hot *cq)
{
	const struct prm_cqe *e = &cq->entry[cq->ci & cq->mask];
	uint8_t op_own = READ_ONCE(e->op_own);

	if ((op_own & PRM_CQE_OWNER) != !!(cq->ci & (cq->mask + 1)) ||
	    op_own >> 4 == PRM_CQE_INVALID)
		return NULL;
	m5_rmb_completion();
	return e;
}

/* Gives entries up to ci back to the device; once a burst. */
ALWAYS_INLINE void m5_cq_give_back(struct m5_cq_hot *cq)
{
	m5_wmb_consumed();
	WRITE_ONCE(cq->dbrec[PRM_CQ_DBREC_CI].raw, to_be32(cq->ci & PRM_CQ_CI_MASK).raw);
}
