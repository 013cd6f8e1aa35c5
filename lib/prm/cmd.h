/* prm/cmd.h - commands: opcodes, headers, status
 *
 * Source: Linux include/linux/mlx5/mlx5_ifc.h (mailboxes) and device.h (status);
 * umem fields: DPDK drivers/common/mlx5/mlx5_prm.h.
 */
#pragma once

#include "bits.h"

enum prm_opcode {
	PRM_QUERY_HCA_CAP = 0x100,
	PRM_CREATE_CQ = 0x400,
	PRM_QUERY_NIC_VPORT = 0x754,
	PRM_ALLOC_Q_COUNTER = 0x771,
	PRM_QUERY_Q_COUNTER = 0x773,
	PRM_ALLOC_TRANSPORT_DOMAIN = 0x816,
	PRM_CREATE_TIR = 0x900,
	PRM_CREATE_SQ = 0x904,
	PRM_MODIFY_SQ = 0x905,
	PRM_QUERY_SQ = 0x907,
	PRM_CREATE_RQ = 0x908,
	PRM_MODIFY_RQ = 0x909,
	PRM_QUERY_RQ = 0x90b,
	PRM_CREATE_TIS = 0x912,
	PRM_CREATE_RQT = 0x916,
};

/* Every input starts so ... */
#define PRM_IN_OPCODE PRM_FIELD(0x00, 16)
#define PRM_IN_OP_MOD PRM_FIELD(0x30, 16)
/* ... and every output so. */
#define PRM_OUT_STATUS	 PRM_FIELD(0x00, 8)
#define PRM_OUT_SYNDROME PRM_FIELD(0x20, 32)
/* Most creating commands answer with a number here, ALLOC_Q_COUNTER with 8 bits at its end. */
#define PRM_OUT_NUMBER PRM_FIELD(0x48, 24)
#define PRM_OUT_BYTES  16

/* QUERY_HCA_CAP: op_mod = group << 1 | current */
#define PRM_CAP_OP_MOD(group) ((group) << 1 | 1)
enum prm_cap_group {
	PRM_CAP_GENERAL = 0,
	PRM_CAP_ETHERNET = 1,
	PRM_CAP_FLOW_TABLE = 7,
	PRM_CAP_GENERAL2 = 0x20
};
enum {
	PRM_CAP_IN_BYTES = 16,
	PRM_CAP_OUT_BYTES = 16 + 4096,
	PRM_CAP_AT = 0x80 /* bit */
};

/* group GENERAL */
#define PRM_CAP_GENERAL2_THERE	     PRM_FIELD(0x020, 1)
#define PRM_CAP_LOG_MAX_CQ_SIZE	     PRM_FIELD(0x0c8, 8)
#define PRM_CAP_NIC_FLOW_TABLE	     PRM_FIELD(0x1a6, 1)
#define PRM_CAP_PORT_TYPE	     PRM_FIELD(0x1b6, 2) /* PRM_PORT_ETHERNET */
#define PRM_CAP_STRIDING_RQ	     PRM_FIELD(0x201, 1)
#define PRM_CAP_LOG_MAX_RQT_SIZE     PRM_FIELD(0x393, 5)
#define PRM_CAP_EXT_STRIDE_NUM_RANGE PRM_FIELD(0x3a0, 1)
#define PRM_CAP_LOG_MAX_WQ_SIZE	     PRM_FIELD(0x3db, 5)
#define PRM_CAP_SQ_TS_FORMAT	     PRM_FIELD(0x440, 2) /* PRM_TS_CAP_* */
#define PRM_CAP_RQ_TS_FORMAT	     PRM_FIELD(0x442, 2)
#define PRM_CAP_DEVICE_KHZ	     PRM_FIELD(0x4e0, 32)
#define PRM_CAP_ENHANCED_CQE_COMP    PRM_FIELD(0x5b0, 1)
#define PRM_CAP_MINI_TYPE_STRIDE     PRM_FIELD(0x5b9, 1) /* DPDK's header only */
#define PRM_CAP_MINI_STRIDE	     PRM_FIELD(0x5bc, 1)
#define PRM_CAP_CQE_COMP	     PRM_FIELD(0x5bf, 1)
/* group ETHERNET */
#define PRM_CAP_MULTI_PKT_SEND PRM_FIELD(0x10, 2)
#define PRM_CAP_INLINE_MODE    PRM_FIELD(0x12, 2)
#define PRM_CAP_ENHANCED_MPW   PRM_FIELD(0x1a, 1)
/* group GENERAL2; DPDK's header only */
#define PRM_CAP_LOG_MIN_STRIDE_WQE PRM_FIELD(0x0c3, 5)
/* group FLOW_TABLE: properties of the receive tables start at 0x200, the fields they can
 * compare 0x100 later; the hop limit's bit is in rdma-core's mlx5_ifc.h only */
#define PRM_CAP_FT_RX_SUPPORT	PRM_FIELD(0x200, 1)
#define PRM_CAP_FT_RX_TTL	PRM_FIELD(0x200 + 0x100 + 0x07, 1)
#define PRM_CAP_FT_RX_HOP_LIMIT PRM_FIELD(0x200 + 0x100 + 0x59, 1)

enum { PRM_PORT_ETHERNET = 1 };
/* QUERY_NIC_VPORT_CONTEXT, of the function's own port */
enum {
	PRM_QUERY_NIC_VPORT_IN_BYTES = 16,
	PRM_QUERY_NIC_VPORT_OUT_BYTES = 272,
	PRM_QUERY_NIC_VPORT_CTX = 0x80
};
#define PRM_NIC_VPORT_MIN_INLINE PRM_FIELD(0x05, 3) /* wqe.h, PRM_MIN_INLINE_* */

/* PRM_CAP_INLINE_MODE */
enum { PRM_INLINE_L2 = 0, PRM_INLINE_VPORT = 1, PRM_INLINE_NONE = 2 };
/* PRM_CAP_SQ_TS_FORMAT, PRM_CAP_RQ_TS_FORMAT */
enum { PRM_TS_CAP_FREE_RUNNING = 0, PRM_TS_CAP_REAL_TIME = 1, PRM_TS_CAP_BOTH = 2 };

/* ALLOC_TRANSPORT_DOMAIN */
enum { PRM_ALLOC_TD_IN_BYTES = 16 };
/* ALLOC_Q_COUNTER */
enum { PRM_ALLOC_QC_IN_BYTES = 16 };
#define PRM_ALLOC_QC_OUT_ID PRM_FIELD(0x58, 8)
/* QUERY_Q_COUNTER */
enum { PRM_QUERY_QC_IN_BYTES = 32, PRM_QUERY_QC_OUT_BYTES = 256 };
#define PRM_QUERY_QC_IN_CLEAR	       PRM_FIELD(0xc0, 1)
#define PRM_QUERY_QC_IN_ID	       PRM_FIELD(0xf8, 8)
#define PRM_QUERY_QC_OUT_OUT_OF_BUFFER PRM_FIELD(0x180, 32)

/* "bad parameter" for 0x03; "unknown status" else. */
const char *prm_status_text(unsigned status);
