/* prm/ctx.h - contexts of queues and what binds them, with their commands
 *
 * Source: Linux include/linux/mlx5/mlx5_ifc.h; umem fields, stride fields of cyclic
 * queues, layout of compressed completions and rx_hash_symmetric: DPDK
 * drivers/common/mlx5/mlx5_prm.h.
 */
#pragma once

#include "bits.h"

/* ---- completion queue ---- */

enum { PRM_CREATE_CQ_BYTES = 272, PRM_CREATE_CQ_CTX = 0x80 /* bit */ };
#define PRM_CREATE_CQ_UMEM_OFFSET PRM_FIELD(0x280, 64)
#define PRM_CREATE_CQ_UMEM_ID	  PRM_FIELD(0x2c0, 32)
#define PRM_CREATE_CQ_UMEM_VALID  PRM_FIELD(0x2e0, 1)

#define PRM_CQC_DBREC_UMEM_VALID PRM_FIELD(0x06, 1)
#define PRM_CQC_CQE_SIZE	 PRM_FIELD(0x08, 3) /* 0 = 64 bytes */
#define PRM_CQC_OVERRUN_IGNORE	 PRM_FIELD(0x0e, 1)
#define PRM_CQC_COMP_EN		 PRM_FIELD(0x11, 1)
#define PRM_CQC_MINI_FORMAT	 PRM_FIELD(0x12, 2) /* PRM_MINI_* */
#define PRM_CQC_COMP_LAYOUT	 PRM_FIELD(0x1e, 2) /* 0 basic, 1 enhanced */
#define PRM_CQC_MINI_FORMAT_EXT	 PRM_FIELD(0x5c, 2) /* 1: header type, stride index */
#define PRM_CQC_DBREC_UMEM_ID	 PRM_FIELD(0x20, 32)
#define PRM_CQC_LOG_SIZE	 PRM_FIELD(0x63, 5)
#define PRM_CQC_UAR		 PRM_FIELD(0x68, 24)
#define PRM_CQC_EQN		 PRM_FIELD(0xb8, 8)   /* DPDK; Linux: 32 bits from 0xa0 */
#define PRM_CQC_LOG_PAGE	 PRM_FIELD(0xc3, 5)   /* log2 of page bytes, less 12 */
#define PRM_CQC_DBREC_ADDR	 PRM_FIELD(0x1c0, 64) /* offset into the umem */

enum { PRM_MINI_HASH = 0, PRM_MINI_CSUM = 1, PRM_MINI_CSUM_STRIDE = 3 };

/* ---- work queue, inside the contexts of receive and send queues ---- */

enum prm_wq_type { PRM_WQ_CYCLIC = 1, PRM_WQ_CYCLIC_STRIDING = 3 };

#define PRM_WQ_TYPE		PRM_FIELD(0x00, 4)
#define PRM_WQ_PD		PRM_FIELD(0x48, 24)
#define PRM_WQ_UAR		PRM_FIELD(0x68, 24)
#define PRM_WQ_DBREC_ADDR	PRM_FIELD(0x80, 64)
#define PRM_WQ_LOG_STRIDE	PRM_FIELD(0x10c, 4) /* log2 bytes of a work entry */
#define PRM_WQ_LOG_PAGE		PRM_FIELD(0x113, 5)
#define PRM_WQ_LOG_SIZE		PRM_FIELD(0x11b, 5)
#define PRM_WQ_DBREC_UMEM_VALID PRM_FIELD(0x120, 1)
#define PRM_WQ_UMEM_VALID	PRM_FIELD(0x121, 1)
#define PRM_WQ_LOG_STRIDES \
	PRM_FIELD(0x134, 4) /* log2 strides per entry, less 9; signed */
#define PRM_WQ_LOG_STRIDE_BYTES PRM_FIELD(0x13d, 3) /* log2 bytes per stride, less 6 */
#define PRM_WQ_DBREC_UMEM_ID	PRM_FIELD(0x140, 32)
#define PRM_WQ_UMEM_ID		PRM_FIELD(0x160, 32)
#define PRM_WQ_UMEM_OFFSET	PRM_FIELD(0x180, 64)

enum {
	PRM_LOG_STRIDES_BASE = 9,
	PRM_LOG_STRIDE_BYTES_BASE = 6,
	PRM_LOG_STRIDE_BYTES_MAX = 13
};

/* ---- receive queue ---- */

enum prm_q_state { PRM_Q_RESET = 0, PRM_Q_READY = 1, PRM_Q_ERROR = 3 };
enum { PRM_TS_FREE_RUNNING = 0, PRM_TS_DEFAULT = 1, PRM_TS_REAL_TIME = 2 };

enum { PRM_CREATE_RQ_BYTES = 272, PRM_CREATE_RQ_CTX = 0x100 /* bit */ };
enum { PRM_MODIFY_RQ_BYTES = 272, PRM_MODIFY_RQ_CTX = 0x100 };
#define PRM_MODIFY_RQ_STATE PRM_FIELD(0x40, 4) /* the present one */
#define PRM_MODIFY_RQ_RQN   PRM_FIELD(0x48, 24)
enum {
	PRM_QUERY_RQ_IN_BYTES = 16,
	PRM_QUERY_RQ_OUT_BYTES = 272,
	PRM_QUERY_RQ_CTX = 0x100
};
#define PRM_QUERY_RQ_RQN PRM_FIELD(0x48, 24)

#define PRM_RQC_VLAN_STRIP_OFF PRM_FIELD(0x03, 1)
#define PRM_RQC_STATE	       PRM_FIELD(0x08, 4)
#define PRM_RQC_FLUSH_IN_ERROR PRM_FIELD(0x0d, 1)
#define PRM_RQC_TS_FORMAT      PRM_FIELD(0x1a, 2)
#define PRM_RQC_USER_INDEX     PRM_FIELD(0x28, 24)
#define PRM_RQC_CQN	       PRM_FIELD(0x48, 24)
#define PRM_RQC_COUNTER	       PRM_FIELD(0x60, 8)
#define PRM_RQC_WQ	       0x180 /* bit */

/* ---- send queue ---- */

enum { PRM_CREATE_SQ_BYTES = 272, PRM_CREATE_SQ_CTX = 0x100 };
enum { PRM_MODIFY_SQ_BYTES = 272, PRM_MODIFY_SQ_CTX = 0x100 };
#define PRM_MODIFY_SQ_STATE PRM_FIELD(0x40, 4)
#define PRM_MODIFY_SQ_SQN   PRM_FIELD(0x48, 24)
enum {
	PRM_QUERY_SQ_IN_BYTES = 16,
	PRM_QUERY_SQ_OUT_BYTES = 272,
	PRM_QUERY_SQ_CTX = 0x100
};
#define PRM_QUERY_SQ_SQN PRM_FIELD(0x48, 24)

#define PRM_SQC_FLUSH_IN_ERROR PRM_FIELD(0x03, 1)
#define PRM_SQC_ALLOW_MPW      PRM_FIELD(0x04, 1)
#define PRM_SQC_MIN_INLINE     PRM_FIELD(0x05, 3) /* wqe.h, PRM_MIN_INLINE_* */
#define PRM_SQC_STATE	       PRM_FIELD(0x08, 4)
#define PRM_SQC_TS_FORMAT      PRM_FIELD(0x1a, 2)
#define PRM_SQC_USER_INDEX     PRM_FIELD(0x28, 24)
#define PRM_SQC_CQN	       PRM_FIELD(0x48, 24)
#define PRM_SQC_TIS_COUNT      PRM_FIELD(0x100, 16)
#define PRM_SQC_TIS	       PRM_FIELD(0x168, 24)
#define PRM_SQC_WQ	       0x180

/* ---- transport interfaces ---- */

enum { PRM_CREATE_TIS_BYTES = 192, PRM_CREATE_TIS_CTX = 0x100 };
#define PRM_TISC_TD PRM_FIELD(0x128, 24)

enum { PRM_CREATE_TIR_BYTES = 272, PRM_CREATE_TIR_CTX = 0x100 };
#define PRM_TIRC_DISP_TYPE	PRM_FIELD(0x20, 4) /* 0 one queue, 1 table */
#define PRM_TIRC_INLINE_RQN	PRM_FIELD(0xe8, 24)
#define PRM_TIRC_HASH_SYMMETRIC PRM_FIELD(0x100, 1)
#define PRM_TIRC_RQT		PRM_FIELD(0x108, 24)
#define PRM_TIRC_HASH_FN	PRM_FIELD(0x120, 4) /* 2 = Toeplitz */
#define PRM_TIRC_SELF_LB_BLOCK	PRM_FIELD(0x126, 2)
#define PRM_TIRC_TD		PRM_FIELD(0x128, 24)
#define PRM_TIRC_HASH_KEY	0x140 /* bit; 40 bytes */
#define PRM_TIRC_HASH_L3_IPV6	PRM_FIELD(0x280, 1)
#define PRM_TIRC_HASH_L4_UDP	PRM_FIELD(0x281, 1)
#define PRM_TIRC_HASH_FIELDS	PRM_FIELD(0x282, 30)
enum { PRM_HASH_KEY_BYTES = 40, PRM_HASH_TOEPLITZ = 2 };
enum { PRM_HASH_SRC_IP = 1, PRM_HASH_DST_IP = 2, PRM_HASH_SPORT = 4, PRM_HASH_DPORT = 8 };
enum { PRM_SELF_LB_BLOCK_UNICAST = 1, PRM_SELF_LB_BLOCK_MULTICAST = 2 };

/* Followed by one 32-bit word a queue, its number in the low 24 bits. */
enum { PRM_CREATE_RQT_BYTES = 272, PRM_CREATE_RQT_CTX = 0x100 };
#define PRM_RQTC_MAX_SIZE PRM_FIELD(0xb0, 16)
#define PRM_RQTC_SIZE	  PRM_FIELD(0xd0, 16)
