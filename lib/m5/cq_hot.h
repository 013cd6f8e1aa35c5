/* m5/cq_hot.h - reading completions
 *
 * HOT. An entry is ours when its opcode is valid and its owner bit is that of the
 * lap: the bit turns each time the ring wraps. With enhanced compression it is ours when
 * its validity byte is the number of the lap; the owner bit says nothing then.
 * Source: DPDK drivers/common/mlx5/mlx5_common.h, check_cqe and check_cqe_iteration.
 */
#pragma once

#include <stdbool.h>

#include "../base/hot.h"
#include "../prm/cqe.h"
#include "barrier.h"

/* How completions may be compressed; rx_burst.c says how each is read. */
enum m5_cq_layout { M5_CQ_PLAIN, M5_CQ_BASIC, M5_CQ_ENHANCED, M5_CQ_LAYOUT_COUNT };

struct m5_cq_hot {
	struct prm_cqe *entry;
	be32_t *dbrec;
	uint32_t ci, mask;
	uint8_t log_size;
};

ALWAYS_INLINE struct prm_cqe *m5_cq_at(const struct m5_cq_hot *cq, uint32_t ci)
{
	return &cq->entry[ci & cq->mask];
}

ALWAYS_INLINE uint8_t m5_cq_owner(const struct m5_cq_hot *cq)
{
	return !!(cq->ci & (cq->mask + 1));
}

/* validity << 8 | op_own, which the device writes together. */
ALWAYS_INLINE uint16_t m5_cq_last_bytes(const struct prm_cqe *e)
{
	typedef uint16_t __attribute__((may_alias)) both_t;

	return be16toh(*(const volatile both_t *)(const void *)&e->validity);
}

ALWAYS_INLINE bool m5_cq_is_ours(const struct m5_cq_hot *cq, const struct prm_cqe *e,
				 enum m5_cq_layout layout)
{
	uint16_t last;
	uint8_t op_own;

	if (layout == M5_CQ_ENHANCED) {
		last = m5_cq_last_bytes(e);
		return last >> 8 == (cq->ci >> cq->log_size & 0xff) &&
		       (last >> 4 & 0xf) != PRM_CQE_INVALID;
	}
	op_own = READ_ONCE(e->op_own);
	return (op_own & PRM_CQE_OWNER) == m5_cq_owner(cq) &&
	       op_own >> 4 != PRM_CQE_INVALID;
}

/* The next entry, NULL = none yet. What it says may be read after this. */
ALWAYS_INLINE const struct prm_cqe *m5_cq_peek_as(const struct m5_cq_hot *cq,
						  enum m5_cq_layout layout)
{
	const struct prm_cqe *e = m5_cq_at(cq, cq->ci);

	if (!m5_cq_is_ours(cq, e, layout))
		return NULL;
	m5_rmb_completion();
	return e;
}

ALWAYS_INLINE const struct prm_cqe *m5_cq_peek(const struct m5_cq_hot *cq)
{
	return m5_cq_peek_as(cq, M5_CQ_PLAIN);
}

/* Gives entries up to ci back to the device; once a burst. */
ALWAYS_INLINE void m5_cq_give_back(struct m5_cq_hot *cq)
{
	m5_wmb_consumed();
	WRITE_ONCE(cq->dbrec[PRM_CQ_DBREC_CI].raw, to_be32(cq->ci & PRM_CQ_CI_MASK).raw);
}
