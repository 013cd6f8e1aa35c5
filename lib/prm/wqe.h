/* prm/wqe.h - work queue entries, as the device reads them
 *
 * Source: rdma-core providers/mlx5/mlx5dv.h (segments), wqe.h; enhanced multi-packet
 * send: DPDK drivers/common/mlx5/mlx5_prm.h.
 */
#pragma once

#include <assert.h>
#include <stddef.h>

#include "../base/be.h"

enum { PRM_WQEBB = 64, PRM_DS = 16, PRM_DS_MAX = 60 /* of the 63 that fit the field */ };

struct prm_ctrl {      /* control segment, the start of a send WQE */
	be32_t op;     /* [31:24] modifier, [23:8] index of the WQE, [7:0] opcode */
	be32_t qpn_ds; /* [31:8] queue number, [5:0] 16-byte segments */
	uint8_t signature, rsvd[2];
	uint8_t flags; /* [3:2] completion: PRM_CE_* */
	be32_t imm;
};

struct prm_eth { /* Ethernet segment, after the control segment */
	be32_t rsvd0;
	uint8_t cs_flags, rsvd1;
	be16_t mss;
	be32_t metadata;
	be16_t inline_bytes; /* of header: two here, the rest in the segments that follow */
	uint8_t inline_start[2];
};
enum { PRM_ETH_INLINE_HERE = 2 };
enum { /* eth.cs_flags */
       PRM_ETH_L3_CSUM = 1 << 6,
       PRM_ETH_L4_CSUM = 1 << 7,
};
/* What a port that wants layer 2 inlined wants: two addresses, a VLAN tag, a type. Source:
 * rdma-core wqe.h, MLX5_ETH_L2_INLINE_HEADER_SIZE. */
enum { PRM_L2_INLINE = 18 };
/* What it may want: all up to the end of that header; above 3, of tunnels. Source: kernel device.h,
 * MLX5_INLINE_MODE_*. */
enum {
	PRM_MIN_INLINE_NONE = 0,
	PRM_MIN_INLINE_L2 = 1,
	PRM_MIN_INLINE_IP = 2,
	PRM_MIN_INLINE_TCP_UDP = 3
};

struct prm_data { /* pointer segment; in an enhanced multi-packet send: one packet */
	be32_t bytes;
	be32_t lkey;
	be64_t addr;
};

/* In the place of a pointer: the bytes themselves, from the fifth on, padded to whole segments. */
struct prm_inline {
	be32_t bytes; /* [31] PRM_INLINE, [9:0] how many */
};
#define PRM_INLINE UINT32_C(0x80000000)
enum { PRM_INLINE_MAX = 0x3ff };

struct prm_rx_next { /* start of a striding receive WQE */
	uint8_t rsvd0[2];
	be16_t next; /* linked lists only */
	uint8_t signature;
	uint8_t rsvd5[11];
};

struct prm_rx_stride_wqe {
	struct prm_rx_next next;
	struct prm_data data;
};

static_assert(sizeof(struct prm_ctrl) == PRM_DS, "a segment");
static_assert(sizeof(struct prm_eth) == PRM_DS, "a segment");
static_assert(sizeof(struct prm_data) == PRM_DS, "a segment");
static_assert(sizeof(struct prm_rx_next) == PRM_DS, "a segment");
static_assert(offsetof(struct prm_ctrl, flags) == 11, "fm_ce_se");
static_assert(offsetof(struct prm_eth, cs_flags) == 4, "in front of mss");
static_assert(offsetof(struct prm_eth, inline_bytes) == 12,
	      "and its first two bytes follow");

enum prm_wqe_opcode { PRM_OP_NOP = 0x00, PRM_OP_SEND = 0x0a, PRM_OP_ENHANCED_MPW = 0x29 };
enum { /* ctrl.flags: when to write a completion */
       PRM_CE_FIRST_ERROR = 1 << 2,
       PRM_CE_ALWAYS = 2 << 2,
};

/* Doorbell record of a queue: [0] receive, [1] send; 16-bit index. */
enum { PRM_DBREC_RECEIVE = 0, PRM_DBREC_SEND = 1 };
