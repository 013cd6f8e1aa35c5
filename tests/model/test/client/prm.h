/* test/client/prm.h - the few device structures that the client programs write themselves
 *
 * Offsets are bits from the start of the structure, as in the public headers
 * include/linux/mlx5/mlx5_ifc.h of the kernel and providers/mlx5/mlx5_ifc.h of
 * rdma-core (umem fields: drivers/common/mlx5/mlx5_prm.h of DPDK). Written for these
 * programs alone, so that they check the model's own tables.
 */
#pragma once

#include <stdint.h>
#include <string.h>

#define PRM(offset, width) ((uint32_t)(offset) << 8 | (uint32_t)(width))

enum prm_op {
	PRM_QUERY_HCA_CAP = 0x100,
	PRM_CREATE_CQ = 0x400,
	PRM_QUERY_CQ = 0x402,
	PRM_ALLOC_TD = 0x816,
	PRM_CREATE_TIR = 0x900,
	PRM_CREATE_SQ = 0x904,
	PRM_MODIFY_SQ = 0x905,
	PRM_QUERY_SQ = 0x907,
	PRM_CREATE_RQ = 0x908,
	PRM_MODIFY_RQ = 0x909,
	PRM_CREATE_TIS = 0x912,
};

/* every command */
#define PRM_OPCODE   PRM(0x00, 16)
#define PRM_OP_MOD   PRM(0x30, 16)
#define PRM_STATUS   PRM(0x00, 8)
#define PRM_SYNDROME PRM(0x20, 32)
#define PRM_NUMBER   PRM(0x48, 24) /* of the new object, and of the one asked for */

/* create_cq_in; the context is at byte 16 */
#define PRM_CQC_BYTE	    16
#define PRM_CQ_UMEM_OFFSET  PRM(0x280, 64)
#define PRM_CQ_UMEM_ID	    PRM(0x2c0, 32)
#define PRM_CREATE_CQ_BYTES (16 + 64 + 192)
/* cqc */
#define PRM_CQC_DBR_UMEM_ID PRM(0x20, 32)
#define PRM_CQC_LOG_SIZE    PRM(0x63, 5)
#define PRM_CQC_UAR_PAGE    PRM(0x68, 24)
#define PRM_CQC_EQN	    PRM(0xb8, 8)
#define PRM_CQC_DBR_ADDR    PRM(0x1c0, 64)

/* create/modify sq and rq; the context is at byte 32, its wq 48 bytes further */
#define PRM_CTX_BYTE	 32
#define PRM_CTX_WQ_BYTE	 (PRM_CTX_BYTE + 48)
#define PRM_WQ_CMD_BYTES (PRM_CTX_WQ_BYTE + 192)
#define PRM_MODIFY_STATE PRM(0x40, 4) /* the present one */
/* sqc, rqc */
#define PRM_SQC_FLUSH	   PRM(0x03, 1) /* flush_in_error_en */
#define PRM_CTX_STATE	   PRM(0x08, 4) /* the wanted one */
#define PRM_CTX_USER_INDEX PRM(0x28, 24)
#define PRM_CTX_CQN	   PRM(0x48, 24)
#define PRM_SQC_TIS_LST_SZ PRM(0x100, 16)
#define PRM_SQC_TIS_NUM	   PRM(0x168, 24)
#define PRM_RQC_VSD	   PRM(0x03, 1)
#define PRM_RQC_FLUSH	   PRM(0x0d, 1)
/* wq */
#define PRM_WQ_TYPE	   PRM(0x00, 4) /* 1 = cyclic */
#define PRM_WQ_PD	   PRM(0x48, 24)
#define PRM_WQ_UAR_PAGE	   PRM(0x68, 24)
#define PRM_WQ_DBR_ADDR	   PRM(0x80, 64)
#define PRM_WQ_LOG_STRIDE  PRM(0x10c, 4)
#define PRM_WQ_LOG_SIZE	   PRM(0x11b, 5)
#define PRM_WQ_DBR_UMEM_ID PRM(0x140, 32)
#define PRM_WQ_UMEM_ID	   PRM(0x160, 32)
#define PRM_WQ_UMEM_OFFSET PRM(0x180, 64)

/* tisc, tirc */
#define PRM_CREATE_TIS_BYTES (32 + 160)
#define PRM_TISC_TD	     PRM(0x128, 24)
#define PRM_CREATE_TIR_BYTES (32 + 240)
#define PRM_TIRC_INLINE_RQN  PRM(0xe8, 24)
#define PRM_TIRC_TD	     PRM(0x128, 24)

/* completions, 64 bytes */
#define PRM_CQE_USER_INDEX  PRM(0x108, 24)
#define PRM_CQE_BYTES	    PRM(0x160, 32)
#define PRM_CQE_SYNDROME    PRM(0x1b8, 8)
#define PRM_CQE_WQE_COUNTER PRM(0x1e0, 16)

enum { PRM_RST = 0, PRM_RDY = 1, PRM_ERR = 3 };
enum {
	PRM_CQE_REQ = 0,
	PRM_CQE_RESP_SEND = 2,
	PRM_CQE_REQ_ERR = 13,
	PRM_CQE_RESP_ERR = 14
};
enum {
	PRM_SYN_LOCAL_LENGTH = 0x01,
	PRM_SYN_LOCAL_PROTECTION = 0x04,
	PRM_SYN_FLUSHED = 0x05,
};

static inline void prm_put32(uint8_t *p, uint32_t v)
{
	p[0] = (uint8_t)(v >> 24);
	p[1] = (uint8_t)(v >> 16);
	p[2] = (uint8_t)(v >> 8);
	p[3] = (uint8_t)v;
}

static inline uint32_t prm_get32(const uint8_t *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static inline void prm_put64(uint8_t *p, uint64_t v)
{
	prm_put32(p, (uint32_t)(v >> 32));
	prm_put32(p + 4, (uint32_t)v);
}

/* A field of up to 32 bits within one 32-bit word, or one of 64 bits. */
static inline void prm_set(void *base, uint32_t field, uint64_t v)
{
	uint32_t offset = field >> 8, width = field & 0xff, shift, mask, word;
	uint8_t *p = (uint8_t *)base + offset / 32 * 4;

	if (width == 64) {
		prm_put64(p, v);
		return;
	}
	shift = 32 - width - offset % 32;
	mask = (width == 32 ? UINT32_MAX : (UINT32_C(1) << width) - 1) << shift;
	word = (prm_get32(p) & ~mask) | ((uint32_t)v << shift & mask);
	prm_put32(p, word);
}

static inline uint32_t prm_get(const void *base, uint32_t field)
{
	uint32_t offset = field >> 8, width = field & 0xff;
	uint32_t word = prm_get32((const uint8_t *)base + offset / 32 * 4);

	word >>= 32 - width - offset % 32;
	return width == 32 ? word : word & ((UINT32_C(1) << width) - 1);
}
