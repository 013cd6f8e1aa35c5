/* prm/cqe.h - completion queue entry, as the device writes it
 *
 * Source: rdma-core providers/mlx5/mlx5dv.h, struct mlx5_cqe64 and struct
 * mlx5_err_cqe; header type bits: DPDK drivers/common/mlx5/mlx5_prm.h. Offsets are
 * bytes from the start, in hex. Fields this program does not read stay reserved.
 */
#pragma once

#include <assert.h>
#include <stddef.h>

#include "../base/be.h"

#define PRM_AT(type, field, offset) \
	static_assert(offsetof(struct type, field) == (offset), #type "." #field)

struct prm_cqe {
	uint8_t tunnel; /* 0x00  PRM_CQE_TUNNELED */
	uint8_t rsvd01[11];
	be32_t hash; /* 0x0c  RSS hash result */
	uint8_t rsvd10[12];
	be32_t header;	   /* 0x1c  PRM_CQE_HDR_* */
	be32_t user_index; /* 0x20  [23:0] of the queue */
	uint8_t rsvd24[8];
	be32_t byte_cnt;  /* 0x2c  striding receive queue: PRM_CQE_BC_* */
	be64_t timestamp; /* 0x30 */
	be32_t tag_qpn;	  /* 0x38  receive: flow tag; send: opcode << 24 | queue number */
	be16_t wqe_counter; /* 0x3c  striding: index of the first stride */
	uint8_t validity;   /* 0x3e  enhanced compression: lap of the ring, 8 bits */
	uint8_t op_own;	    /* 0x3f  [7:4] opcode, [3:2] format, [0] owner */
};

/* What a compressed completion says of its own; eight are as long as an entry.
 * Source: DPDK drivers/common/mlx5/mlx5_prm.h, struct mlx5_mini_cqe8. */
struct prm_mini {
	be16_t own;	 /* 0x00  by format: checksum; header type in the first byte */
	be16_t index;	 /* 0x02  first stride, in formats that have it */
	be32_t byte_cnt; /* 0x04  as in an entry */
};
enum { PRM_MINIS = 8, PRM_MINIS_ENHANCED = 7 /* of one slot */ };

struct prm_err_cqe {
	uint8_t rsvd00[0x36];
	uint8_t vendor_syndrome; /* 0x36 */
	uint8_t syndrome;	 /* 0x37 */
	be32_t op_qpn;		 /* 0x38 */
	be16_t wqe_counter;	 /* 0x3c */
	uint8_t signature;
	uint8_t op_own; /* 0x3f */
};

static_assert(sizeof(struct prm_cqe) == 64, "the device writes 64-byte entries");
static_assert(sizeof(struct prm_err_cqe) == 64, "and so for errors");
static_assert(sizeof(struct prm_mini) * PRM_MINIS == 64, "an array fills an entry");
PRM_AT(prm_cqe, tunnel, 0x00);
PRM_AT(prm_cqe, hash, 0x0c);
PRM_AT(prm_cqe, header, 0x1c);
PRM_AT(prm_cqe, byte_cnt, 0x2c);
PRM_AT(prm_cqe, timestamp, 0x30);
PRM_AT(prm_cqe, tag_qpn, 0x38);
PRM_AT(prm_cqe, wqe_counter, 0x3c);
PRM_AT(prm_cqe, op_own, 0x3f);
PRM_AT(prm_err_cqe, syndrome, 0x37);
PRM_AT(prm_err_cqe, op_own, 0x3f);

enum { PRM_CQE_TUNNELED = 1 };
/* header, after from_be32(): what is well, and the tag that was taken out */
enum {
	PRM_CQE_HDR_L3_OK = 0x02000000,
	PRM_CQE_HDR_L4_OK = 0x04000000,
	PRM_CQE_HDR_VLAN_STRIPPED = 0x00010000,
	PRM_CQE_HDR_VLAN = 0x0000ffff,
};

/* byte_cnt of a striding receive queue, after from_be32() */
#define PRM_CQE_BC_FILLER	 UINT32_C(0x80000000) /* strides skipped, no packet */
#define PRM_CQE_BC_STRIDES	 UINT32_C(0x3fff0000) /* strides consumed */
#define PRM_CQE_BC_BYTES	 UINT32_C(0x0000ffff) /* packet length */
#define PRM_CQE_BC_STRIDES_SHIFT 16

enum prm_cqe_opcode { /* op_own >> 4 */
		      PRM_CQE_SENT = 0,
		      PRM_CQE_RECEIVED = 2,
		      PRM_CQE_SEND_ERROR = 13,
		      PRM_CQE_RECEIVE_ERROR = 14,
		      PRM_CQE_INVALID = 15,
};
enum {
	PRM_CQE_OWNER = 1,
	PRM_CQE_SOLICITED = 2,
	PRM_CQE_FORMAT_MASK = 0x0c,
	PRM_CQE_COMPRESSED = 0x0c
};
/* How software marks an entry the device has not written: whatever is tested, it is not ours. */
enum { PRM_CQE_INIT = PRM_CQE_INVALID << 4 | PRM_CQE_OWNER };

/* Syndromes of error completions that we name; source: rdma-core cq.c, mlx5_handle_error_cqe. */
const char *prm_syndrome_text(unsigned syndrome);
enum { PRM_SYNDROME_FLUSHED = 0x05 };

/* Doorbell record of a completion queue: [0] consumer index of 24 bits, [1] arm. */
enum { PRM_CQ_DBREC_CI = 0, PRM_CQ_DBREC_ARM = 1, PRM_CQ_CI_MASK = 0xffffff };
/* Arm: record and doorbell say sequence << 28 | command << 24 | ci; the doorbell (at
 * PRM_UAR_CQ_ARM of the queue's page) has the queue number in its second word.
 * Source: rdma-core cq.c, mlx5_arm_cq. */
enum { PRM_CQ_ARM_NEXT = 0 << 24, PRM_CQ_ARM_SN_SHIFT = 28 };
enum { PRM_UAR_CQ_ARM = 0x20, PRM_UAR_SEND = 0x800 };
