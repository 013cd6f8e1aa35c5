/* static/prm_agree.c - lib/prm against the model's bit tables and against mlx5dv.h
 *
 * Three descriptions of the device's structures, written from public sources by different
 * hands: lib/prm for the driver, core/layout_*.def for the model, mlx5dv.h by the makers of
 * the card. Here they are compared while this file compiles; nothing in it runs. A
 * difference sends us back to the sources: find out which one is wrong, and mend that.
 *
 * prm_agree.sh sees to it that nothing of lib/prm is left out here.
 */

#include <assert.h>
#include <infiniband/mlx5dv.h>
#include <stddef.h>
#include <stdint.h>

#include "../../lib/prm/cmd.h"
#include "../../lib/prm/cqe.h"
#include "../../lib/prm/ctx.h"
#include "../../lib/prm/flow.h"
#include "../../lib/prm/wqe.h"
#include "../model/core/layout.h"
#include "../model/core/queue.h"
#include "../model/uverbs/opcode.h"

/* A field is a struct in bits.h, which no constant expression may hold. Seen from here it is
 * the number that the model has for it. */
#undef PRM_FIELD
#define PRM_FIELD(bit, width) ((bit) << 16 | (width))

/* The model's capabilities are rows of a table of their own. */
enum cap {
#define CX_GROUP(group, number, gate) CAP_GROUP_##group = (number),
#define CX_CAP(group, field, offset, width, value, mark, source) \
	CAP_##group##__##field = (offset) << 16 | (width),
#include "../model/core/caps.def"
#undef CX_GROUP
#undef CX_CAP
};

#define BIT(cx)	  ((unsigned)(cx) >> 16)
#define WIDTH(cx) ((unsigned)(cx)&0xffffu)

/* Casts: the two sides are of different enums, or of none. */
#define SAME(ours, theirs) \
	static_assert((uint64_t)(ours) == (uint64_t)(theirs), #ours " is not " #theirs)
#define FIELD(ours, s, f)   SAME(ours, CX_##s##__##f)
#define BYTES(ours, s)	    SAME(ours, CX_##s##__SIZE_BITS / 8)
#define CAP(ours, group, f) SAME(ours, CAP_##group##__##f)
/* Where something starts, without its width. */
#define AT(ours, s, f) SAME(ours, BIT(CX_##s##__##f))

/* A member of a struct: place and size as the model says, ... */
#define MEMBER(type, m, s, f) \
	static_assert(offsetof(struct type, m) * 8 == BIT(CX_##s##__##f) && \
			      sizeof(((struct type *)0)->m) * 8 == WIDTH(CX_##s##__##f), \
		      #type "." #m " is not " #s "." #f)
/* ... as mlx5dv.h says, ... */
#define DV(type, m, dv, f) \
	static_assert(offsetof(struct type, m) == offsetof(struct dv, f) && \
			      sizeof(((struct type *)0)->m) == \
				      sizeof(((struct dv *)0)->f), \
		      #type "." #m " is not " #dv "." #f)
/* ... or a part of a member, given by its mask. */
#define PART(mask, type, m, s, f) \
	static_assert((uint64_t)(mask) == \
			      (UINT64_MAX >> (64 - WIDTH(CX_##s##__##f))) \
				      << ((offsetof(struct type, m) + \
					   sizeof(((struct type *)0)->m)) * \
						  8 - \
					  BIT(CX_##s##__##f) - WIDTH(CX_##s##__##f)), \
		      #mask " is not " #s "." #f)

/* ---- commands ---- */

SAME(PRM_QUERY_HCA_CAP, CX_OP_QUERY_HCA_CAP);
SAME(PRM_CREATE_CQ, CX_OP_CREATE_CQ);
SAME(PRM_ALLOC_Q_COUNTER, CX_OP_ALLOC_Q_COUNTER);
SAME(PRM_QUERY_NIC_VPORT, CX_OP_QUERY_NIC_VPORT_CONTEXT);
SAME(PRM_QUERY_Q_COUNTER, CX_OP_QUERY_Q_COUNTER);
SAME(PRM_ALLOC_TRANSPORT_DOMAIN, CX_OP_ALLOC_TRANSPORT_DOMAIN);
SAME(PRM_CREATE_TIR, CX_OP_CREATE_TIR);
SAME(PRM_CREATE_SQ, CX_OP_CREATE_SQ);
SAME(PRM_MODIFY_SQ, CX_OP_MODIFY_SQ);
SAME(PRM_QUERY_SQ, CX_OP_QUERY_SQ);
SAME(PRM_CREATE_RQ, CX_OP_CREATE_RQ);
SAME(PRM_MODIFY_RQ, CX_OP_MODIFY_RQ);
SAME(PRM_QUERY_RQ, CX_OP_QUERY_RQ);
SAME(PRM_CREATE_TIS, CX_OP_CREATE_TIS);
SAME(PRM_CREATE_RQT, CX_OP_CREATE_RQT);

/* Headers are alike in all commands; two of each kind stand for them. */
FIELD(PRM_IN_OPCODE, create_cq_in, opcode);
FIELD(PRM_IN_OPCODE, query_q_counter_in, opcode);
FIELD(PRM_IN_OP_MOD, create_cq_in, op_mod);
FIELD(PRM_IN_OP_MOD, query_hca_cap_in, op_mod);
FIELD(PRM_OUT_STATUS, create_cq_out, status);
FIELD(PRM_OUT_STATUS, query_hca_cap_out, status);
FIELD(PRM_OUT_SYNDROME, create_cq_out, syndrome);
FIELD(PRM_OUT_SYNDROME, query_hca_cap_out, syndrome);
FIELD(PRM_OUT_NUMBER, create_cq_out, cqn);
FIELD(PRM_OUT_NUMBER, create_rq_out, rqn);
FIELD(PRM_OUT_NUMBER, create_sq_out, sqn);
FIELD(PRM_OUT_NUMBER, create_tis_out, tisn);
FIELD(PRM_OUT_NUMBER, create_tir_out, tirn);
FIELD(PRM_OUT_NUMBER, create_rqt_out, rqtn);
FIELD(PRM_OUT_NUMBER, alloc_transport_domain_out, transport_domain);
BYTES(PRM_OUT_BYTES, create_cq_out);
BYTES(PRM_OUT_BYTES, create_rq_out);
BYTES(PRM_OUT_BYTES, create_sq_out);
BYTES(PRM_OUT_BYTES, create_tis_out);
BYTES(PRM_OUT_BYTES, create_tir_out);
BYTES(PRM_OUT_BYTES, create_rqt_out);
BYTES(PRM_OUT_BYTES, alloc_q_counter_out);
BYTES(PRM_OUT_BYTES, alloc_transport_domain_out);

BYTES(PRM_CAP_IN_BYTES, query_hca_cap_in);
BYTES(PRM_CAP_OUT_BYTES, query_hca_cap_out);
AT(PRM_CAP_AT, query_hca_cap_out, capability);
SAME(PRM_CAP_OP_MOD(CAP_GROUP_hca2) >> 1, CAP_GROUP_hca2);
SAME(PRM_CAP_GENERAL, CAP_GROUP_hca);
SAME(PRM_CAP_ETHERNET, CAP_GROUP_eth);
SAME(PRM_CAP_FLOW_TABLE, CAP_GROUP_ft);
SAME(PRM_CAP_GENERAL2, CAP_GROUP_hca2);
CAP(PRM_CAP_GENERAL2_THERE, hca, hca_cap_2);
CAP(PRM_CAP_LOG_MAX_CQ_SIZE, hca, log_max_cq_sz);
CAP(PRM_CAP_NIC_FLOW_TABLE, hca, nic_flow_table);
CAP(PRM_CAP_PORT_TYPE, hca, port_type);
CAP(PRM_CAP_STRIDING_RQ, hca, striding_rq);
CAP(PRM_CAP_LOG_MAX_RQT_SIZE, hca, log_max_rqt_size);
CAP(PRM_CAP_EXT_STRIDE_NUM_RANGE, hca, ext_stride_num_range);
CAP(PRM_CAP_LOG_MAX_WQ_SIZE, hca, log_max_wq_sz);
CAP(PRM_CAP_SQ_TS_FORMAT, hca, sq_ts_format);
CAP(PRM_CAP_RQ_TS_FORMAT, hca, rq_ts_format);
CAP(PRM_CAP_DEVICE_KHZ, hca, device_frequency_khz);
CAP(PRM_CAP_ENHANCED_CQE_COMP, hca, enhanced_cqe_compression);
CAP(PRM_CAP_MINI_TYPE_STRIDE, hca, mini_cqe_resp_l3_l4_tag);
CAP(PRM_CAP_MINI_STRIDE, hca, mini_cqe_resp_stride_index);
CAP(PRM_CAP_CQE_COMP, hca, cqe_compression);
CAP(PRM_CAP_MULTI_PKT_SEND, eth, multi_pkt_send_wqe);
CAP(PRM_CAP_INLINE_MODE, eth, wqe_inline_mode);
CAP(PRM_CAP_ENHANCED_MPW, eth, enhanced_multi_pkt_send_wqe);
CAP(PRM_CAP_LOG_MIN_STRIDE_WQE, hca2, log_min_stride_wqe_sz);
CAP(PRM_CAP_FT_RX_SUPPORT, ft, rx_ft_support);
CAP(PRM_CAP_FT_RX_TTL, ft, rx_outer_ipv4_ttl);
CAP(PRM_CAP_FT_RX_HOP_LIMIT, ft, rx_outer_ipv6_hop_limit);

BYTES(PRM_ALLOC_TD_IN_BYTES, alloc_transport_domain_in);
BYTES(PRM_ALLOC_QC_IN_BYTES, alloc_q_counter_in);
FIELD(PRM_ALLOC_QC_OUT_ID, alloc_q_counter_out, counter_set_id);
BYTES(PRM_QUERY_QC_IN_BYTES, query_q_counter_in);
BYTES(PRM_QUERY_QC_OUT_BYTES, query_q_counter_out);
FIELD(PRM_QUERY_QC_IN_CLEAR, query_q_counter_in, clear);
BYTES(PRM_QUERY_NIC_VPORT_IN_BYTES, query_nic_vport_context_in);
BYTES(PRM_QUERY_NIC_VPORT_OUT_BYTES, query_nic_vport_context_out);
AT(PRM_QUERY_NIC_VPORT_CTX, query_nic_vport_context_out, nic_vport_context);
FIELD(PRM_NIC_VPORT_MIN_INLINE, nic_vport_context, min_wqe_inline_mode);
FIELD(PRM_QUERY_QC_IN_ID, query_q_counter_in, counter_set_id);
FIELD(PRM_QUERY_QC_OUT_OUT_OF_BUFFER, query_q_counter_out, out_of_buffer);

/* ---- completion queues ---- */

BYTES(PRM_CREATE_CQ_BYTES, create_cq_in);
AT(PRM_CREATE_CQ_CTX, create_cq_in, cq_context);
FIELD(PRM_CREATE_CQ_UMEM_OFFSET, create_cq_in, cq_umem_offset);
FIELD(PRM_CREATE_CQ_UMEM_ID, create_cq_in, cq_umem_id);
FIELD(PRM_CREATE_CQ_UMEM_VALID, create_cq_in, cq_umem_valid);
FIELD(PRM_CQC_DBREC_UMEM_VALID, cqc, dbr_umem_valid);
FIELD(PRM_CQC_CQE_SIZE, cqc, cqe_sz);
FIELD(PRM_CQC_OVERRUN_IGNORE, cqc, oi);
FIELD(PRM_CQC_DBREC_UMEM_ID, cqc, dbr_umem_id);
FIELD(PRM_CQC_COMP_EN, cqc, cqe_comp_en);
FIELD(PRM_CQC_MINI_FORMAT, cqc, mini_cqe_res_format);
FIELD(PRM_CQC_COMP_LAYOUT, cqc, cqe_comp_layout);
FIELD(PRM_CQC_MINI_FORMAT_EXT, cqc, mini_cqe_res_format_ext);
SAME(PRM_MINI_HASH, CX_MINI_HASH);
SAME(PRM_MINI_CSUM, CX_MINI_CSUM);
SAME(PRM_MINI_CSUM_STRIDE, CX_MINI_CSUM_STRIDE);
FIELD(PRM_CQC_LOG_SIZE, cqc, log_cq_size);
FIELD(PRM_CQC_UAR, cqc, uar_page);
FIELD(PRM_CQC_EQN, cqc, c_eqn);
FIELD(PRM_CQC_LOG_PAGE, cqc, log_page_size);
FIELD(PRM_CQC_DBREC_ADDR, cqc, dbr_addr);

/* ---- work queues ---- */

SAME(PRM_WQ_CYCLIC, CX_WQ_CYCLIC);
SAME(PRM_WQ_CYCLIC_STRIDING, CX_WQ_CYCLIC_STRIDING);
FIELD(PRM_WQ_TYPE, wq, wq_type);
FIELD(PRM_WQ_PD, wq, pd);
FIELD(PRM_WQ_UAR, wq, uar_page);
FIELD(PRM_WQ_DBREC_ADDR, wq, dbr_addr);
FIELD(PRM_WQ_LOG_STRIDE, wq, log_wq_stride);
FIELD(PRM_WQ_LOG_PAGE, wq, log_wq_pg_sz);
FIELD(PRM_WQ_LOG_SIZE, wq, log_wq_sz);
FIELD(PRM_WQ_DBREC_UMEM_VALID, wq, dbr_umem_valid);
FIELD(PRM_WQ_UMEM_VALID, wq, wq_umem_valid);
FIELD(PRM_WQ_LOG_STRIDES, wq, log_wqe_num_of_strides);
FIELD(PRM_WQ_LOG_STRIDE_BYTES, wq, log_wqe_stride_size);
FIELD(PRM_WQ_DBREC_UMEM_ID, wq, dbr_umem_id);
FIELD(PRM_WQ_UMEM_ID, wq, wq_umem_id);
FIELD(PRM_WQ_UMEM_OFFSET, wq, wq_umem_offset);

/* ---- receive and send queues ---- */

SAME(PRM_Q_RESET, CX_Q_RST);
SAME(PRM_Q_READY, CX_Q_RDY);
SAME(PRM_Q_ERROR, CX_Q_ERR);

BYTES(PRM_CREATE_RQ_BYTES, create_rq_in);
AT(PRM_CREATE_RQ_CTX, create_rq_in, ctx);
BYTES(PRM_MODIFY_RQ_BYTES, modify_rq_in);
AT(PRM_MODIFY_RQ_CTX, modify_rq_in, ctx);
FIELD(PRM_MODIFY_RQ_STATE, modify_rq_in, rq_state);
FIELD(PRM_MODIFY_RQ_RQN, modify_rq_in, rqn);
BYTES(PRM_QUERY_RQ_IN_BYTES, query_rq_in);
BYTES(PRM_QUERY_RQ_OUT_BYTES, query_rq_out);
FIELD(PRM_QUERY_RQ_RQN, query_rq_in, rqn);
AT(PRM_QUERY_RQ_CTX, query_rq_out, rq_context);
FIELD(PRM_RQC_VLAN_STRIP_OFF, rqc, vsd);
FIELD(PRM_RQC_STATE, rqc, state);
FIELD(PRM_RQC_FLUSH_IN_ERROR, rqc, flush_in_error_en);
FIELD(PRM_RQC_TS_FORMAT, rqc, ts_format);
FIELD(PRM_RQC_USER_INDEX, rqc, user_index);
FIELD(PRM_RQC_CQN, rqc, cqn);
FIELD(PRM_RQC_COUNTER, rqc, counter_set_id);
AT(PRM_RQC_WQ, rqc, wq);

BYTES(PRM_CREATE_SQ_BYTES, create_sq_in);
AT(PRM_CREATE_SQ_CTX, create_sq_in, ctx);
BYTES(PRM_MODIFY_SQ_BYTES, modify_sq_in);
AT(PRM_MODIFY_SQ_CTX, modify_sq_in, ctx);
FIELD(PRM_MODIFY_SQ_STATE, modify_sq_in, sq_state);
FIELD(PRM_MODIFY_SQ_SQN, modify_sq_in, sqn);
BYTES(PRM_QUERY_SQ_IN_BYTES, query_sq_in);
BYTES(PRM_QUERY_SQ_OUT_BYTES, query_sq_out);
FIELD(PRM_QUERY_SQ_SQN, query_sq_in, sqn);
AT(PRM_QUERY_SQ_CTX, query_sq_out, sq_context);
FIELD(PRM_SQC_FLUSH_IN_ERROR, sqc, flush_in_error_en);
FIELD(PRM_SQC_ALLOW_MPW, sqc, allow_multi_pkt_send_wqe);
FIELD(PRM_SQC_MIN_INLINE, sqc, min_wqe_inline_mode);
FIELD(PRM_SQC_STATE, sqc, state);
FIELD(PRM_SQC_TS_FORMAT, sqc, ts_format);
FIELD(PRM_SQC_USER_INDEX, sqc, user_index);
FIELD(PRM_SQC_CQN, sqc, cqn);
FIELD(PRM_SQC_TIS_COUNT, sqc, tis_lst_sz);
FIELD(PRM_SQC_TIS, sqc, tis_num_0);
AT(PRM_SQC_WQ, sqc, wq);

/* ---- transport interfaces, tables of queues ---- */

BYTES(PRM_CREATE_TIS_BYTES, create_tis_in);
AT(PRM_CREATE_TIS_CTX, create_tis_in, ctx);
FIELD(PRM_TISC_TD, tisc, transport_domain);

BYTES(PRM_CREATE_TIR_BYTES, create_tir_in);
AT(PRM_CREATE_TIR_CTX, create_tir_in, ctx);
FIELD(PRM_TIRC_DISP_TYPE, tirc, disp_type);
FIELD(PRM_TIRC_INLINE_RQN, tirc, inline_rqn);
FIELD(PRM_TIRC_HASH_SYMMETRIC, tirc, rx_hash_symmetric);
FIELD(PRM_TIRC_RQT, tirc, indirect_table);
FIELD(PRM_TIRC_HASH_FN, tirc, rx_hash_fn);
FIELD(PRM_TIRC_SELF_LB_BLOCK, tirc, self_lb_block);
FIELD(PRM_TIRC_TD, tirc, transport_domain);
AT(PRM_TIRC_HASH_KEY, tirc, rx_hash_toeplitz_key);
SAME(PRM_HASH_KEY_BYTES * 8, WIDTH(CX_tirc__rx_hash_toeplitz_key));
/* The selector is a structure of its own there. */
#define SELECTOR(ours, f) \
	SAME(ours, CX_rx_hash_field_select__##f + \
			   (BIT(CX_tirc__rx_hash_field_selector_outer) << 16))
SELECTOR(PRM_TIRC_HASH_L3_IPV6, l3_prot_type);
SELECTOR(PRM_TIRC_HASH_L4_UDP, l4_prot_type);
SELECTOR(PRM_TIRC_HASH_FIELDS, selected_fields);
SAME(PRM_HASH_TOEPLITZ, CX_HASH_TOEPLITZ);

BYTES(PRM_CREATE_RQT_BYTES, create_rqt_in);
AT(PRM_CREATE_RQT_CTX, create_rqt_in, rqt_context);
AT(PRM_CREATE_RQT_BYTES * 8, create_rqt_in, rq_num);
FIELD(PRM_RQTC_MAX_SIZE, rqtc, rqt_max_size);
FIELD(PRM_RQTC_SIZE, rqtc, rqt_actual_size);

/* ---- what a rule compares ---- */

BYTES(PRM_MATCH_BYTES, fte_match_set_lyr_2_4);
AT(0, fte_match_param, outer_headers);
FIELD(PRM_MATCH_ETHERTYPE, fte_match_set_lyr_2_4, ethertype);
FIELD(PRM_MATCH_DMAC_47_16, fte_match_set_lyr_2_4, dmac_47_16);
FIELD(PRM_MATCH_DMAC_15_0, fte_match_set_lyr_2_4, dmac_15_0);
FIELD(PRM_MATCH_IP_PROTOCOL, fte_match_set_lyr_2_4, ip_protocol);
FIELD(PRM_MATCH_CVLAN, fte_match_set_lyr_2_4, cvlan_tag);
FIELD(PRM_MATCH_SVLAN, fte_match_set_lyr_2_4, svlan_tag);
FIELD(PRM_MATCH_FRAG, fte_match_set_lyr_2_4, frag);
FIELD(PRM_MATCH_IP_VERSION, fte_match_set_lyr_2_4, ip_version);
FIELD(PRM_MATCH_TTL, fte_match_set_lyr_2_4, ttl_hoplimit);
AT(PRM_MATCH_DST_IP, fte_match_set_lyr_2_4, dst_ipv4_dst_ipv6);
/* IPv4: the last 32 of its 128 bits. */
SAME(PRM_MATCH_DST_IPV4, BIT(CX_fte_match_set_lyr_2_4__dst_ipv4_dst_ipv6) + 96);

/* ---- completions ---- */

BYTES(sizeof(struct prm_cqe), cqe);
SAME(sizeof(struct prm_cqe), sizeof(struct mlx5_cqe64));
/* Linux include/linux/mlx5/device.h: tls_outer_l3_tunneled; the others have it reserved. */
DV(prm_cqe, tunnel, mlx5_cqe64, rsvd0[0]);
SAME(PRM_CQE_TUNNELED, 1);
MEMBER(prm_cqe, hash, cqe, rx_hash_result);
SAME(offsetof(struct prm_cqe, header), offsetof(struct mlx5_cqe64, hds_ip_ext));
SAME(offsetof(struct prm_cqe, header) + 1, offsetof(struct mlx5_cqe64, l4_hdr_type_etc));
SAME(offsetof(struct prm_cqe, header) + 2, offsetof(struct mlx5_cqe64, vlan_info));
PART(PRM_CQE_HDR_L3_OK, prm_cqe, header, cqe, l3_ok);
PART(PRM_CQE_HDR_L4_OK, prm_cqe, header, cqe, l4_ok);
PART(PRM_CQE_HDR_VLAN_STRIPPED, prm_cqe, header, cqe, vlan_stripped);
PART(PRM_CQE_HDR_VLAN, prm_cqe, header, cqe, vlan_info);
SAME(PRM_CQE_HDR_L3_OK >> 24, MLX5_CQE_L3_OK);
SAME(PRM_CQE_HDR_L4_OK >> 24, MLX5_CQE_L4_OK);
PART(UINT32_C(0xffffff), prm_cqe, user_index, cqe, user_index);
DV(prm_cqe, user_index, mlx5_cqe64, srqn_uidx);
MEMBER(prm_cqe, byte_cnt, cqe, byte_cnt);
DV(prm_cqe, byte_cnt, mlx5_cqe64, byte_cnt);
MEMBER(prm_cqe, timestamp, cqe, timestamp);
DV(prm_cqe, timestamp, mlx5_cqe64, timestamp);
PART(UINT32_C(0xffffff), prm_cqe, tag_qpn, cqe, tag_or_qpn);
PART(UINT32_C(0xff000000), prm_cqe, tag_qpn, cqe, wqe_opcode);
DV(prm_cqe, tag_qpn, mlx5_cqe64, sop_drop_qpn);
MEMBER(prm_cqe, wqe_counter, cqe, wqe_counter);
DV(prm_cqe, wqe_counter, mlx5_cqe64, wqe_counter);
MEMBER(prm_cqe, validity, cqe, validity);
DV(prm_cqe, validity, mlx5_cqe64, signature);
DV(prm_cqe, op_own, mlx5_cqe64, op_own);
PART(UINT32_C(0xf0), prm_cqe, op_own, cqe, opcode);
PART(PRM_CQE_FORMAT_MASK, prm_cqe, op_own, cqe, format);
PART(PRM_CQE_OWNER, prm_cqe, op_own, cqe, owner);
PART(PRM_CQE_SOLICITED, prm_cqe, op_own, cqe, solicited);
SAME(PRM_CQE_OWNER, MLX5_CQE_OWNER_MASK);
SAME(PRM_CQE_COMPRESSED >> 2, CX_CQE_COMPRESSED);
SAME(PRM_CQE_SENT, CX_CQE_REQ);
SAME(PRM_CQE_SENT, MLX5_CQE_REQ);
SAME(PRM_CQE_RECEIVED, CX_CQE_RESP_SEND);
SAME(PRM_CQE_RECEIVED, MLX5_CQE_RESP_SEND);
SAME(PRM_CQE_SEND_ERROR, CX_CQE_REQ_ERR);
SAME(PRM_CQE_SEND_ERROR, MLX5_CQE_REQ_ERR);
SAME(PRM_CQE_RECEIVE_ERROR, CX_CQE_RESP_ERR);
SAME(PRM_CQE_RECEIVE_ERROR, MLX5_CQE_RESP_ERR);
SAME(PRM_CQE_INVALID, CX_CQE_INVALID);
SAME(PRM_CQE_INVALID, MLX5_CQE_INVALID);
SAME(PRM_CQE_INIT, MLX5_CQE_INVALID << 4 | MLX5_CQE_OWNER_MASK);

/* One struct for all formats: 16 bits of the format's own, and a slot of the enhanced layout
 * that says in place of an opcode how many minis it has. */
BYTES(sizeof(struct prm_mini), mini_csum);
MEMBER(prm_mini, own, mini_csum, checksum);
MEMBER(prm_mini, index, mini_csum, stride_index);
MEMBER(prm_mini, byte_cnt, mini_csum, byte_cnt);
MEMBER(prm_mini, index, mini_l34, stride_index);
MEMBER(prm_mini, byte_cnt, mini_l34, byte_cnt);
MEMBER(prm_mini, byte_cnt, mini_hash, byte_cnt);
SAME(offsetof(struct prm_mini, own) * 8, BIT(CX_mini_l34__hdr_type));
SAME(PRM_MINIS, sizeof(struct prm_cqe) / sizeof(struct prm_mini));
SAME(PRM_MINIS_ENHANCED, BIT(CX_mini_slot__wqe_counter) / (8 * sizeof(struct prm_mini)));
MEMBER(prm_cqe, validity, mini_slot, validity);
PART(UINT32_C(0xf0), prm_cqe, op_own, mini_slot, count_1);

/* byte_cnt of a striding receive queue */
#define BYTE_CNT(mask, f) \
	SAME(mask, \
	     (UINT32_MAX >> (32 - WIDTH(CX_cqe_byte_cnt__##f))) \
		     << (32 - BIT(CX_cqe_byte_cnt__##f) - WIDTH(CX_cqe_byte_cnt__##f)))
BYTE_CNT(PRM_CQE_BC_FILLER, filler);
BYTE_CNT(PRM_CQE_BC_STRIDES, strides);
BYTE_CNT(PRM_CQE_BC_BYTES, bytes);
SAME(PRM_CQE_BC_STRIDES >> PRM_CQE_BC_STRIDES_SHIFT & 1, 1);
SAME(PRM_CQE_BC_STRIDES_SHIFT,
     32 - BIT(CX_cqe_byte_cnt__strides) - WIDTH(CX_cqe_byte_cnt__strides));

BYTES(sizeof(struct prm_err_cqe), err_cqe);
SAME(sizeof(struct prm_err_cqe), sizeof(struct mlx5_err_cqe));
MEMBER(prm_err_cqe, vendor_syndrome, err_cqe, vendor_syndrome);
DV(prm_err_cqe, vendor_syndrome, mlx5_err_cqe, vendor_err_synd);
MEMBER(prm_err_cqe, syndrome, err_cqe, syndrome);
DV(prm_err_cqe, syndrome, mlx5_err_cqe, syndrome);
PART(UINT32_C(0xffffff), prm_err_cqe, op_qpn, err_cqe, qpn);
PART(UINT32_C(0xff000000), prm_err_cqe, op_qpn, err_cqe, wqe_opcode);
DV(prm_err_cqe, op_qpn, mlx5_err_cqe, s_wqe_opcode_qpn);
MEMBER(prm_err_cqe, wqe_counter, err_cqe, wqe_counter);
DV(prm_err_cqe, wqe_counter, mlx5_err_cqe, wqe_counter);
DV(prm_err_cqe, signature, mlx5_err_cqe, signature);
DV(prm_err_cqe, op_own, mlx5_err_cqe, op_own);
SAME(PRM_SYNDROME_FLUSHED, CX_SYND_FLUSH);
SAME(PRM_SYNDROME_FLUSHED, MLX5_CQE_SYNDROME_WR_FLUSH_ERR);

/* ---- work entries ---- */

SAME(PRM_WQEBB, MLX5_SEND_WQE_BB);
BYTES(PRM_DS, wqe_ctrl);
BYTES(PRM_DS, wqe_eth);
BYTES(PRM_DS, wqe_data);
BYTES(PRM_DS, wqe_next);
/* Of what the field can hold; source of the limit: DPDK mlx5_defs.h. */
static_assert(PRM_DS_MAX < 1 << WIDTH(CX_wqe_ctrl__ds), "PRM_DS_MAX");

BYTES(sizeof(struct prm_ctrl), wqe_ctrl);
SAME(sizeof(struct prm_ctrl), sizeof(struct mlx5_wqe_ctrl_seg));
PART(UINT32_C(0xff000000), prm_ctrl, op, wqe_ctrl, opmod);
PART(UINT32_C(0x00ffff00), prm_ctrl, op, wqe_ctrl, index);
PART(UINT32_C(0x000000ff), prm_ctrl, op, wqe_ctrl, opcode);
DV(prm_ctrl, op, mlx5_wqe_ctrl_seg, opmod_idx_opcode);
PART(UINT32_C(0xffffff00), prm_ctrl, qpn_ds, wqe_ctrl, qpn);
PART(UINT32_C(0x0000003f), prm_ctrl, qpn_ds, wqe_ctrl, ds);
DV(prm_ctrl, qpn_ds, mlx5_wqe_ctrl_seg, qpn_ds);
MEMBER(prm_ctrl, signature, wqe_ctrl, signature);
DV(prm_ctrl, signature, mlx5_wqe_ctrl_seg, signature);
DV(prm_ctrl, flags, mlx5_wqe_ctrl_seg, fm_ce_se);
PART(UINT32_C(0x0c), prm_ctrl, flags, wqe_ctrl, ce);
MEMBER(prm_ctrl, imm, wqe_ctrl, imm);
DV(prm_ctrl, imm, mlx5_wqe_ctrl_seg, imm);
SAME(PRM_OP_NOP, MLX5_OPCODE_NOP);
SAME(PRM_OP_SEND, MLX5_OPCODE_SEND);
SAME(PRM_CE_ALWAYS, MLX5_WQE_CTRL_CQ_UPDATE);

/* mlx5dv.h counts the first inline bytes as part of the segment. */
BYTES(sizeof(struct prm_eth), wqe_eth);
SAME(sizeof(struct prm_eth), offsetof(struct mlx5_wqe_eth_seg, inline_hdr));
DV(prm_eth, cs_flags, mlx5_wqe_eth_seg, cs_flags);
PART(PRM_ETH_L3_CSUM, prm_eth, cs_flags, wqe_eth, l3_csum);
PART(PRM_ETH_L4_CSUM, prm_eth, cs_flags, wqe_eth, l4_csum);
SAME(PRM_ETH_L3_CSUM, MLX5_ETH_WQE_L3_CSUM);
SAME(PRM_ETH_L4_CSUM, MLX5_ETH_WQE_L4_CSUM);
DV(prm_eth, mss, mlx5_wqe_eth_seg, mss);
PART(UINT32_C(0x3fff), prm_eth, mss, wqe_eth, mss);
MEMBER(prm_eth, metadata, wqe_eth, flow_table_metadata);
DV(prm_eth, metadata, mlx5_wqe_eth_seg, rsvd2);
DV(prm_eth, inline_bytes, mlx5_wqe_eth_seg, inline_hdr_sz);
PART(UINT32_C(0x3ff), prm_eth, inline_bytes, wqe_eth, inline_hdr_sz);
MEMBER(prm_eth, inline_start, wqe_eth, inline_start);
DV(prm_eth, inline_start, mlx5_wqe_eth_seg, inline_hdr_start);
SAME(PRM_ETH_INLINE_HERE, sizeof(((struct prm_eth *)0)->inline_start));

BYTES(sizeof(struct prm_inline), wqe_inline);
SAME(sizeof(struct prm_inline), sizeof(struct mlx5_wqe_inl_data_seg));
DV(prm_inline, bytes, mlx5_wqe_inl_data_seg, byte_count);
PART(PRM_INLINE, prm_inline, bytes, wqe_inline, inline_data);
PART(PRM_INLINE_MAX, prm_inline, bytes, wqe_inline, byte_cnt);
SAME(PRM_INLINE, MLX5_INLINE_SEG);

BYTES(sizeof(struct prm_data), wqe_data);
SAME(sizeof(struct prm_data), sizeof(struct mlx5_wqe_data_seg));
DV(prm_data, bytes, mlx5_wqe_data_seg, byte_count);
PART(UINT32_C(0x7fffffff), prm_data, bytes, wqe_data, byte_cnt);
MEMBER(prm_data, lkey, wqe_data, lkey);
DV(prm_data, lkey, mlx5_wqe_data_seg, lkey);
MEMBER(prm_data, addr, wqe_data, addr);
DV(prm_data, addr, mlx5_wqe_data_seg, addr);

SAME(sizeof(struct prm_rx_next), sizeof(struct mlx5_wqe_srq_next_seg));
MEMBER(prm_rx_next, next, wqe_next, next_index);
DV(prm_rx_next, next, mlx5_wqe_srq_next_seg, next_wqe_index);
MEMBER(prm_rx_next, signature, wqe_next, signature);
DV(prm_rx_next, signature, mlx5_wqe_srq_next_seg, signature);
SAME(sizeof(struct prm_rx_stride_wqe), sizeof(struct mlx5_mprq_wqe));
DV(prm_rx_stride_wqe, next, mlx5_mprq_wqe, nseg);
DV(prm_rx_stride_wqe, data, mlx5_mprq_wqe, dseg);

/* ---- doorbells ---- */

SAME(PRM_DBREC_RECEIVE, MLX5_RCV_DBR);
SAME(PRM_DBREC_RECEIVE, BIT(CX_wq_dbrec__rcv) / 32);
SAME(PRM_DBREC_SEND, MLX5_SND_DBR);
SAME(PRM_DBREC_SEND, BIT(CX_wq_dbrec__snd) / 32);
SAME(PRM_CQ_DBREC_CI, BIT(CX_cq_dbrec__ci) / 32);
SAME(PRM_CQ_DBREC_ARM, BIT(CX_cq_dbrec__arm_ci) / 32);
SAME(PRM_CQ_CI_MASK, UINT32_MAX >> (32 - WIDTH(CX_cq_dbrec__ci)));
SAME(PRM_CQ_ARM_NEXT, MLX5_CQ_DB_REQ_NOT);
SAME(PRM_CQ_ARM_SN_SHIFT, 32 - BIT(CX_cq_doorbell__sn) - WIDTH(CX_cq_doorbell__sn));
SAME(PRM_UAR_CQ_ARM, MLX5_CQ_DOORBELL);

/* Compared with nothing here, for want of a second public header that names them:
 *
 *   PRM_OP_ENHANCED_MPW PRM_CE_FIRST_ERROR   DPDK mlx5_prm.h; the model runs them
 *   PRM_UAR_SEND                             rdma-core mlx5.h, MLX5_BF_OFFSET
 *   PRM_L2_INLINE                            rdma-core wqe.h
 *   PRM_LOG_STRIDES_BASE PRM_LOG_STRIDE_BYTES_BASE PRM_LOG_STRIDE_BYTES_MAX
 *   PRM_TS_FREE_RUNNING PRM_TS_DEFAULT PRM_TS_REAL_TIME PRM_TS_CAP_FREE_RUNNING
 *   PRM_TS_CAP_REAL_TIME PRM_TS_CAP_BOTH PRM_PORT_ETHERNET
 *   PRM_INLINE_L2 PRM_INLINE_VPORT PRM_INLINE_NONE PRM_MIN_INLINE_NONE PRM_MIN_INLINE_L2
 *   PRM_MIN_INLINE_IP PRM_MIN_INLINE_TCP_UDP
 *   PRM_HASH_SRC_IP PRM_HASH_DST_IP PRM_HASH_SPORT PRM_HASH_DPORT
 *   PRM_SELF_LB_BLOCK_UNICAST PRM_SELF_LB_BLOCK_MULTICAST PRM_MATCH_CRITERIA_OUTER
 *                                            values of fields: Linux mlx5_ifc.h
 */
