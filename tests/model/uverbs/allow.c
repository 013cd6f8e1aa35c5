/* uverbs/allow.c - which commands a program may send, and what they name
 *
 * The kernel has a list of opcodes for each DevX method. From the mailbox it reads
 * which object is meant, and compares that with the handle. One row per opcode:
 *
 *   class     methods that let it through
 *   of        the creator of the object named, which tells its kind
 *   at, bits  where the mailbox (of a create: the answer) has the number
 *   undo      a creator's destroyer; *undo_at* where that has the number
 *
 * Source: Linux 6.1 drivers/infiniband/hw/mlx5/devx.c: devx_is_obj_create_cmd(),
 * _modify_, _query_, devx_is_general_cmd(), devx_is_whitelist_cmd(),
 * devx_get_obj_id(), devx_get_created_obj_id(), devx_obj_build_destroy_cmd(),
 * devx_set_umem_valid(); offsets include/linux/mlx5/mlx5_ifc.h.
 */
#include "uverbs.h"

#include <string.h>

#include "../core/layout.h"
#include "opcode.h"

#define C UV_CMD_CREATE
#define M UV_CMD_MODIFY
#define Q UV_CMD_QUERY
#define G UV_CMD_GENERAL

struct row {
	uint16_t opcode;
	uint8_t class;
	uint8_t at;   /* byte of the number's dword */
	uint8_t bits; /* of the number, in the low end of it */
	uint16_t of;  /* creator; 0 = the row itself creates, or names nothing */
	uint16_t undo;
	uint8_t undo_len; /* 0 = 16 bytes, number at 8 */
};

static const struct row rows[] = {
	/* creators: the number is in the answer */
	{ CX_OP_CREATE_GENERAL_OBJECT, C, 8, 32, 0, CX_OP_DESTROY_GENERAL_OBJECT, 0 },
	{ CX_OP_CREATE_MKEY, C, 8, 24, 0, CX_OP_DESTROY_MKEY, 0 },
	{ CX_OP_CREATE_CQ, C, 8, 24, 0, CX_OP_DESTROY_CQ, 0 },
	{ CX_OP_ALLOC_PD, C, 8, 24, 0, CX_OP_DEALLOC_PD, 0 },
	{ CX_OP_ALLOC_TRANSPORT_DOMAIN, C, 8, 24, 0, CX_OP_DEALLOC_TRANSPORT_DOMAIN, 0 },
	{ CX_OP_CREATE_RMP, C, 8, 24, 0, CX_OP_DESTROY_RMP, 0 },
	{ CX_OP_CREATE_SQ, C, 8, 24, 0, CX_OP_DESTROY_SQ, 0 },
	{ CX_OP_CREATE_RQ, C, 8, 24, 0, CX_OP_DESTROY_RQ, 0 },
	{ CX_OP_CREATE_RQT, C, 8, 24, 0, CX_OP_DESTROY_RQT, 0 },
	{ CX_OP_CREATE_TIR, C, 8, 24, 0, CX_OP_DESTROY_TIR, 0 },
	{ CX_OP_CREATE_TIS, C, 8, 24, 0, CX_OP_DESTROY_TIS, 0 },
	{ CX_OP_ALLOC_Q_COUNTER, C, 8, 8, 0, CX_OP_DEALLOC_Q_COUNTER, 0 },
	{ CX_OP_CREATE_FLOW_TABLE, C, 8, 24, 0, CX_OP_DESTROY_FLOW_TABLE, 64 },
	{ CX_OP_CREATE_FLOW_GROUP, C, 8, 24, 0, CX_OP_DESTROY_FLOW_GROUP, 64 },
	{ CX_OP_SET_FLOW_TABLE_ENTRY, C | M, 32, 32, 0, CX_OP_DELETE_FLOW_TABLE_ENTRY,
	  64 },
	{ CX_OP_ALLOC_FLOW_COUNTER, C, 8, 32, 0, CX_OP_DEALLOC_FLOW_COUNTER, 0 },
	{ CX_OP_ALLOC_PACKET_REFORMAT, C, 8, 32, 0, CX_OP_DEALLOC_PACKET_REFORMAT, 0 },
	{ CX_OP_ALLOC_MODIFY_HEADER, C, 8, 32, 0, CX_OP_DEALLOC_MODIFY_HEADER, 0 },
	{ CX_OP_CREATE_SCHEDULING_ELEMENT, C, 16, 32, 0, CX_OP_DESTROY_SCHEDULING_ELEMENT,
	  64 },
	{ CX_OP_ADD_VXLAN_UDP_DPORT, C | M, 12, 16, CX_OP_ADD_VXLAN_UDP_DPORT,
	  CX_OP_DELETE_VXLAN_UDP_DPORT, 0 },
	{ CX_OP_SET_L2_TABLE_ENTRY, C | M, 20, 24, CX_OP_SET_L2_TABLE_ENTRY,
	  CX_OP_DELETE_L2_TABLE_ENTRY, 64 },
	{ CX_OP_CREATE_QP, C, 8, 24, 0, CX_OP_DESTROY_QP, 0 },
	{ CX_OP_CREATE_SRQ, C, 8, 24, 0, CX_OP_DESTROY_SRQ, 0 },
	{ CX_OP_CREATE_XRC_SRQ, C, 8, 24, 0, CX_OP_DESTROY_XRC_SRQ, 0 },
	{ CX_OP_CREATE_DCT, C, 8, 24, 0, CX_OP_DESTROY_DCT, 0 },
	{ CX_OP_CREATE_XRQ, C, 8, 24, 0, CX_OP_DESTROY_XRQ, 0 },
	{ CX_OP_ATTACH_TO_MCG, C, 8, 24, 0, CX_OP_DETACH_FROM_MCG, 32 },
	{ CX_OP_ALLOC_XRCD, C, 8, 24, 0, CX_OP_DEALLOC_XRCD, 0 },
	{ CX_OP_CREATE_PSV, C, 16, 24, 0, CX_OP_DESTROY_PSV, 0 },

	{ CX_OP_MODIFY_GENERAL_OBJECT, M, 8, 32, CX_OP_CREATE_GENERAL_OBJECT, 0, 0 },
	{ CX_OP_MODIFY_CQ, M, 8, 24, CX_OP_CREATE_CQ, 0, 0 },
	{ CX_OP_MODIFY_RMP, M, 8, 24, CX_OP_CREATE_RMP, 0, 0 },
	{ CX_OP_MODIFY_SQ, M, 8, 24, CX_OP_CREATE_SQ, 0, 0 },
	{ CX_OP_MODIFY_RQ, M, 8, 24, CX_OP_CREATE_RQ, 0, 0 },
	{ CX_OP_MODIFY_RQT, M, 8, 24, CX_OP_CREATE_RQT, 0, 0 },
	{ CX_OP_MODIFY_TIR, M, 8, 24, CX_OP_CREATE_TIR, 0, 0 },
	{ CX_OP_MODIFY_TIS, M, 8, 24, CX_OP_CREATE_TIS, 0, 0 },
	{ CX_OP_MODIFY_FLOW_TABLE, M, 20, 24, CX_OP_CREATE_FLOW_TABLE, 0, 0 },
	{ CX_OP_MODIFY_SCHEDULING_ELEMENT, M, 12, 32, CX_OP_CREATE_SCHEDULING_ELEMENT, 0,
	  0 },
	{ CX_OP_RST2INIT_QP, M, 8, 24, CX_OP_CREATE_QP, 0, 0 },
	{ CX_OP_INIT2RTR_QP, M, 8, 24, CX_OP_CREATE_QP, 0, 0 },
	{ CX_OP_INIT2INIT_QP, M, 8, 24, CX_OP_CREATE_QP, 0, 0 },
	{ CX_OP_RTR2RTS_QP, M, 8, 24, CX_OP_CREATE_QP, 0, 0 },
	{ CX_OP_RTS2RTS_QP, M, 8, 24, CX_OP_CREATE_QP, 0, 0 },
	{ CX_OP_SQERR2RTS_QP, M, 8, 24, CX_OP_CREATE_QP, 0, 0 },
	{ CX_OP_2ERR_QP, M, 8, 24, CX_OP_CREATE_QP, 0, 0 },
	{ CX_OP_2RST_QP, M, 8, 24, CX_OP_CREATE_QP, 0, 0 },
	{ CX_OP_ARM_XRC_SRQ, M, 8, 24, CX_OP_CREATE_XRC_SRQ, 0, 0 },
	{ CX_OP_ARM_RQ, M, 8, 24, CX_OP_CREATE_RQ, 0, 0 },
	{ CX_OP_ARM_DCT, M, 8, 24, CX_OP_CREATE_DCT, 0, 0 },
	{ CX_OP_ARM_XRQ, M, 8, 24, CX_OP_CREATE_XRQ, 0, 0 },
	{ CX_OP_SET_XRQ_DC_PARAMS, M, 8, 24, CX_OP_CREATE_XRQ, 0, 0 },
	{ CX_OP_RELEASE_XRQ_ERROR, M, 8, 24, CX_OP_CREATE_XRQ, 0, 0 },
	{ CX_OP_MODIFY_XRQ, M, 8, 24, CX_OP_CREATE_XRQ, 0, 0 },

	{ CX_OP_QUERY_GENERAL_OBJECT, Q, 8, 32, CX_OP_CREATE_GENERAL_OBJECT, 0, 0 },
	{ CX_OP_QUERY_MKEY, Q, 8, 24, CX_OP_CREATE_MKEY, 0, 0 },
	{ CX_OP_QUERY_CQ, Q, 8, 24, CX_OP_CREATE_CQ, 0, 0 },
	{ CX_OP_QUERY_RMP, Q, 8, 24, CX_OP_CREATE_RMP, 0, 0 },
	{ CX_OP_QUERY_SQ, Q, 8, 24, CX_OP_CREATE_SQ, 0, 0 },
	{ CX_OP_QUERY_RQ, Q, 8, 24, CX_OP_CREATE_RQ, 0, 0 },
	{ CX_OP_QUERY_RQT, Q, 8, 24, CX_OP_CREATE_RQT, 0, 0 },
	{ CX_OP_QUERY_TIR, Q, 8, 24, CX_OP_CREATE_TIR, 0, 0 },
	{ CX_OP_QUERY_TIS, Q, 8, 24, CX_OP_CREATE_TIS, 0, 0 },
	{ CX_OP_QUERY_Q_COUNTER, Q, 28, 8, CX_OP_ALLOC_Q_COUNTER, 0, 0 },
	{ CX_OP_QUERY_FLOW_TABLE, Q, 20, 24, CX_OP_CREATE_FLOW_TABLE, 0, 0 },
	{ CX_OP_QUERY_FLOW_GROUP, Q, 24, 32, CX_OP_CREATE_FLOW_GROUP, 0, 0 },
	{ CX_OP_QUERY_FLOW_TABLE_ENTRY, Q, 32, 32, CX_OP_SET_FLOW_TABLE_ENTRY, 0, 0 },
	{ CX_OP_QUERY_FLOW_COUNTER, Q, 28, 32, CX_OP_ALLOC_FLOW_COUNTER, 0, 0 },
	{ CX_OP_QUERY_MODIFY_HEADER, Q, 8, 32, CX_OP_ALLOC_MODIFY_HEADER, 0, 0 },
	{ CX_OP_QUERY_SCHEDULING_ELEMENT, Q, 12, 32, CX_OP_CREATE_SCHEDULING_ELEMENT, 0,
	  0 },
	{ CX_OP_QUERY_L2_TABLE_ENTRY, Q, 20, 24, CX_OP_SET_L2_TABLE_ENTRY, 0, 0 },
	{ CX_OP_QUERY_QP, Q, 8, 24, CX_OP_CREATE_QP, 0, 0 },
	{ CX_OP_QUERY_SRQ, Q, 8, 24, CX_OP_CREATE_SRQ, 0, 0 },
	{ CX_OP_QUERY_XRC_SRQ, Q, 8, 24, CX_OP_CREATE_XRC_SRQ, 0, 0 },
	{ CX_OP_QUERY_DCT, Q, 8, 24, CX_OP_CREATE_DCT, 0, 0 },
	{ CX_OP_QUERY_XRQ, Q, 8, 24, CX_OP_CREATE_XRQ, 0, 0 },
	{ CX_OP_QUERY_XRQ_DC_PARAMS, Q, 8, 24, CX_OP_CREATE_XRQ, 0, 0 },
	{ CX_OP_QUERY_XRQ_ERROR_PARAMS, Q, 8, 24, CX_OP_CREATE_XRQ, 0, 0 },
	{ CX_OP_QUERY_PACKET_REFORMAT, Q, 8, 32, CX_OP_ALLOC_PACKET_REFORMAT, 0, 0 },

	{ CX_OP_QUERY_HCA_CAP, G, 0, 0, 0, 0, 0 },
	{ CX_OP_QUERY_HCA_VPORT_CONTEXT, G, 0, 0, 0, 0, 0 },
	{ CX_OP_QUERY_ESW_VPORT_CONTEXT, G, 0, 0, 0, 0, 0 },
	{ CX_OP_QUERY_VPORT_STATE, G, 0, 0, 0, 0, 0 },
	{ CX_OP_QUERY_ADAPTER, G, 0, 0, 0, 0, 0 },
	{ CX_OP_QUERY_ISSI, G, 0, 0, 0, 0, 0 },
	{ CX_OP_QUERY_NIC_VPORT_CONTEXT, G, 0, 0, 0, 0, 0 },
	{ CX_OP_QUERY_ROCE_ADDRESS, G, 0, 0, 0, 0, 0 },
	{ CX_OP_QUERY_VNIC_ENV, G, 0, 0, 0, 0, 0 },
	{ CX_OP_QUERY_VPORT_COUNTER, G, 0, 0, 0, 0, 0 },
	{ CX_OP_GET_DROPPED_PACKET_LOG, G, 0, 0, 0, 0, 0 },
	{ CX_OP_NOP, G, 0, 0, 0, 0, 0 },
	{ CX_OP_QUERY_CONG_STATUS, G, 0, 0, 0, 0, 0 },
	{ CX_OP_QUERY_CONG_PARAMS, G, 0, 0, 0, 0, 0 },
	{ CX_OP_QUERY_CONG_STATISTICS, G, 0, 0, 0, 0, 0 },
	{ CX_OP_QUERY_LAG, G, 0, 0, 0, 0, 0 },
	{ CX_OP_QUERY_ESW_FUNCTIONS, G, 0, 0, 0, 0, 0 },
};

#undef C
#undef M
#undef Q
#undef G

static uint16_t opcode_of(const uint8_t *in)
{
	return cx_be16(in);
}

static uint16_t op_mod_of(const uint8_t *in)
{
	return cx_be16(in + 6); /* obj_type of general objects is in the same place */
}

static const struct row *row_of(uint16_t opcode)
{
	for (size_t i = 0; i < UV_COUNT(rows); i++)
		if (rows[i].opcode == opcode)
			return &rows[i];
	return NULL;
}

/* ---- may it pass? ---- */

/* SET_FLOW_TABLE_ENTRY is a create with op_mod 0 and a modify with 1; of CREATE_PSV only one
 * at a time can be undone by a handle (number in the top byte of dword 2). */
static bool fits_class(const struct row *r, const uint8_t *in, size_t in_len,
		       enum uv_cmd_class class)
{
	if (r->opcode == CX_OP_SET_FLOW_TABLE_ENTRY)
		return op_mod_of(in) == (class == UV_CMD_CREATE ? 0 : 1);
	if (r->opcode == CX_OP_CREATE_PSV)
		return in_len >= 12 && in[8] >> 4 == 1;
	return true;
}

bool uv_allowed(const uint8_t *in, size_t in_len, enum uv_cmd_class class)
{
	uint16_t opcode = opcode_of(in);
	const struct row *r = row_of(opcode);

	if (class == UV_CMD_GENERAL && opcode >= CX_OP_GENERAL_START &&
	    opcode < CX_OP_GENERAL_END)
		return true;
	return r && r->class & class && fits_class(r, in, in_len, class);
}

bool uv_allowed_without_uid(const uint8_t *in)
{
	switch (opcode_of(in)) {
	case CX_OP_QUERY_HCA_CAP:
	case CX_OP_QUERY_HCA_VPORT_CONTEXT:
	case CX_OP_QUERY_ESW_VPORT_CONTEXT:
	case CX_OP_QUERY_ESW_FUNCTIONS:
		return true;
	default:
		return false;
	}
}

/* ---- which object? ---- */

uint64_t uv_obj_code(uint32_t opcode, uint32_t num)
{
	return (uint64_t)opcode << 32 | num;
}

static uint32_t number(const struct row *r, const uint8_t *p, size_t len)
{
	if ((size_t)r->at + 4 > len)
		return 0;
	return cx_be32(p + r->at) & (UINT32_MAX >> (32 - r->bits));
}

/* The kind of a general object is part of its code. */
static uint32_t creator(const struct row *r, const uint8_t *in)
{
	uint32_t of = r->of ? r->of : r->opcode;

	return of == CX_OP_CREATE_GENERAL_OBJECT ? of | (uint32_t)op_mod_of(in) << 16
						 : of;
}

uint64_t uv_cmd_obj(const uint8_t *in, size_t in_len)
{
	const struct row *r = row_of(opcode_of(in));

	if (!r || !r->bits)
		return 0;
	return uv_obj_code(creator(r, in), number(r, in, in_len));
}

/* Some numbers are chosen by the program and not in the answer. */
static bool number_is_in_request(uint16_t opcode)
{
	return opcode == CX_OP_SET_FLOW_TABLE_ENTRY ||
	       opcode == CX_OP_ADD_VXLAN_UDP_DPORT ||
	       opcode == CX_OP_SET_L2_TABLE_ENTRY || opcode == CX_OP_ATTACH_TO_MCG;
}

static void copy_dwords(uint8_t *to, const uint8_t *from, size_t from_len, size_t at,
			size_t end)
{
	if (end <= from_len)
		memcpy(to + at, from + at, end - at);
}

/* Destroyers that want more than the number. Parts common to both mailboxes have the same
 * place in both: vport at 8, table type and number at 16. */
static void complete_destroy(const struct row *r, const uint8_t *in, size_t in_len,
			     uint32_t num, uint8_t *d)
{
	switch (r->opcode) {
	case CX_OP_CREATE_FLOW_TABLE:
		copy_dwords(d, in, in_len, 8, 12);
		copy_dwords(d, in, in_len, 16, 20);
		cx_put_be32(d + 20, num);
		break;
	case CX_OP_CREATE_FLOW_GROUP:
		copy_dwords(d, in, in_len, 8, 12);
		copy_dwords(d, in, in_len, 16, 24);
		d[17] &= 0xf0; /* group_type is not in the destroyer */
		cx_put_be32(d + 24, num);
		break;
	case CX_OP_SET_FLOW_TABLE_ENTRY:
		copy_dwords(d, in, in_len, 8, 12);
		copy_dwords(d, in, in_len, 16, 24);
		cx_put_be32(d + 32, num);
		break;
	case CX_OP_CREATE_SCHEDULING_ELEMENT:
		copy_dwords(d, in, in_len, 8, 12);
		cx_put_be32(d + 12, num);
		break;
	case CX_OP_SET_L2_TABLE_ENTRY:
		cx_put_be32(d + 20, num);
		break;
	case CX_OP_ATTACH_TO_MCG:
		cx_put_be32(d + 8, num);
		copy_dwords(d, in, in_len, 16, 32);
		break;
	case CX_OP_ADD_VXLAN_UDP_DPORT:
		cx_put_be32(d + 12, num);
		break;
	default:
		cx_put_be32(d + 8, num);
	}
}

uint32_t uv_created(const uint8_t *in, size_t in_len, const uint8_t *out, size_t out_len,
		    uint8_t *destroy, size_t *destroy_len)
{
	const struct row *r = row_of(opcode_of(in));
	uint32_t num = number_is_in_request(r->opcode) ? number(r, in, in_len)
						       : number(r, out, out_len);

	*destroy_len = r->undo_len ? r->undo_len : 16;
	memset(destroy, 0, *destroy_len);
	cx_put_be16(destroy, r->undo);
	if (r->opcode == CX_OP_CREATE_GENERAL_OBJECT)
		cx_put_be16(destroy + 6, op_mod_of(in));
	complete_destroy(r, in, in_len, num, destroy);
	return num;
}

uint32_t uv_creator_code(const uint8_t *in)
{
	const struct row *r = row_of(opcode_of(in));

	return r ? creator(r, in) : 0;
}

/* ---- what the kernel sets for the program ---- */

static void set_bit(uint8_t *in, size_t in_len, cx_field base, cx_field f)
{
	uint32_t bit = cx_field_offset(base) + cx_field_offset(f);

	if (bit / 8 < in_len)
		in[bit / 8] |= (uint8_t)(0x80 >> bit % 8);
}

static const struct {
	uint16_t opcode;
	cx_field base[2], field; /* places of the structures it is in, added up */
} umem_valid[] = {
	{ CX_OP_CREATE_MKEY, { 0, 0 }, CX_create_mkey_in__mkey_umem_valid },
	{ CX_OP_CREATE_CQ, { 0, 0 }, CX_create_cq_in__cq_umem_valid },
	{ CX_OP_CREATE_CQ, { CX_create_cq_in__cq_context, 0 }, CX_cqc__dbr_umem_valid },
	{ CX_OP_MODIFY_CQ, { 0, 0 }, CX_modify_cq_in__cq_umem_valid },
	{ CX_OP_CREATE_RQ, { CX_create_rq_in__ctx, CX_rqc__wq }, CX_wq__dbr_umem_valid },
	{ CX_OP_CREATE_RQ, { CX_create_rq_in__ctx, CX_rqc__wq }, CX_wq__wq_umem_valid },
	{ CX_OP_CREATE_SQ, { CX_create_sq_in__ctx, CX_sqc__wq }, CX_wq__dbr_umem_valid },
	{ CX_OP_CREATE_SQ, { CX_create_sq_in__ctx, CX_sqc__wq }, CX_wq__wq_umem_valid },
	{ CX_OP_CREATE_RMP,
	  { CX_create_rmp_in__ctx, CX_rmpc__wq },
	  CX_wq__dbr_umem_valid },
	{ CX_OP_CREATE_RMP, { CX_create_rmp_in__ctx, CX_rmpc__wq }, CX_wq__wq_umem_valid },
};

/* mkc: KLM (2) and KSM (3) keys refer to other keys, not to a umem. */
static bool indirect_mkey(const uint8_t *in)
{
	const uint8_t *mkc = CX_AT(create_mkey_in, in, memory_key_mkey_entry);
	unsigned mode = (unsigned)CX_GET(mkc, mkc, access_mode_1_0) |
			(unsigned)CX_GET(mkc, mkc, access_mode_4_2) << 2;

	return mode == 2 || mode == 3;
}

void uv_set_umem_valid(uint8_t *in, size_t in_len)
{
	uint16_t opcode = opcode_of(in);

	if (opcode == CX_OP_CREATE_MKEY && indirect_mkey(in))
		return;
	for (size_t i = 0; i < UV_COUNT(umem_valid); i++) {
		cx_field at = CX_PACK(cx_field_offset(umem_valid[i].base[0]) +
					      cx_field_offset(umem_valid[i].base[1]),
				      0);

		if (umem_valid[i].opcode == opcode)
			set_bit(in, in_len, at, umem_valid[i].field);
	}
}
