/* uverbs/m_query.c - what the device can do, for ibv_query_device()
 *
 * All from the capabilities of the core. What the core has no row for is off, as
 * mlx5_ib shows a capability bit that is 0.
 *
 * Source: Linux 6.1 hw/mlx5/main.c, mlx5_ib_query_device(); core/uverbs_cmd.c,
 * copy_query_dev_fields(), ib_uverbs_ex_query_device().
 */
#include "uverbs.h"

#include <endian.h>
#include <errno.h>
#include <limits.h>
#include <string.h>

#define RAW_PACKET_BIT	 (1u << IB_UVERBS_QPT_RAW_PACKET)
#define MAX_SGE_RD	 30 /* MLX5_MAX_SGE_RD */
#define MAX_SQ_DESC	 512
#define DATA_SEG	 16
#define SEGS_BEFORE_DATA 32 /* control and remote address */
#define MAX_CQ_COUNT	 0xffff
#define MAX_CQ_PERIOD	 0xfff

static uint32_t cap(struct uv_call *call, const char *name)
{
	return uv_cap(call->port, name);
}

static uint32_t pow2(struct uv_call *call, const char *name)
{
	return 1u << cap(call, name);
}

static uint64_t cap_flags(struct uv_call *call)
{
	uint64_t f = IB_UVERBS_DEVICE_CHANGE_PHY_PORT |
		     IB_UVERBS_DEVICE_PORT_ACTIVE_EVENT |
		     IB_UVERBS_DEVICE_SYS_IMAGE_GUID | IB_UVERBS_DEVICE_RC_RNR_NAK_GEN;

	if (!cap(call, "hca.umr_modify_entity_size_disabled"))
		f |= IB_UVERBS_DEVICE_MEM_MGT_EXTENSIONS;
	if (cap(call, "hca.eth_net_offloads") && cap(call, "eth.csum_cap"))
		f |= IB_UVERBS_DEVICE_RAW_IP_CSUM;
	if (cap(call, "hca.eth_net_offloads") && cap(call, "eth.scatter_fcs"))
		f |= IB_UVERBS_DEVICE_RAW_SCATTER_FCS;
	if (cap(call, "ft.rx_ft_support"))
		f |= IB_UVERBS_DEVICE_MANAGED_FLOW_STEERING;
	if (cap(call, "hca.end_pad"))
		f |= IB_UVERBS_DEVICE_PCI_WRITE_END_PADDING;
	return f;
}

static uint32_t raw_packet_caps(struct uv_call *call)
{
	uint32_t f = 0;

	if (!cap(call, "hca.eth_net_offloads"))
		return 0;
	if (cap(call, "eth.csum_cap"))
		f |= IB_UVERBS_RAW_PACKET_CAP_IP_CSUM;
	if (cap(call, "eth.vlan_cap"))
		f |= IB_UVERBS_RAW_PACKET_CAP_CVLAN_STRIPPING;
	if (cap(call, "eth.scatter_fcs"))
		f |= IB_UVERBS_RAW_PACKET_CAP_SCATTER_FCS;
	if (cap(call, "hca.rq_delay_drop"))
		f |= IB_UVERBS_RAW_PACKET_CAP_DELAY_DROP;
	return f;
}

static void fill_identity(struct uv_call *call, struct ib_uverbs_query_device_resp *r)
{
	r->fw_ver = (uint64_t)UV_FW_MAJOR << 32 | UV_FW_MINOR << 16 | UV_FW_SUB;
	r->node_guid = htobe64(call->port->port->node_guid);
	r->sys_image_guid = htobe64(call->port->port->sys_image_guid);
	r->vendor_id = UV_VENDOR_ID;
	r->vendor_part_id = UV_VENDOR_PART_ID;
	r->phys_port_cnt = 1;
}

static void fill_limits(struct uv_call *call, struct ib_uverbs_query_device_resp *r)
{
	uint32_t sq_desc = UV_MIN(cap(call, "hca.max_wqe_sz_sq"), MAX_SQ_DESC);
	uint32_t rq_sge = cap(call, "hca.max_wqe_sz_rq") / DATA_SEG;

	r->max_mr_size = UINT64_MAX;
	r->page_size_cap = ~(((uint64_t)1 << cap(call, "hca.log_pg_sz")) - 1);
	r->max_qp = pow2(call, "hca.log_max_qp");
	r->max_qp_wr = pow2(call, "hca.log_max_qp_sz");
	r->device_cap_flags = (uint32_t)cap_flags(call);
	r->max_sge = UV_MIN((sq_desc - SEGS_BEFORE_DATA) / DATA_SEG, rq_sge);
	r->max_sge_rd = MAX_SGE_RD;
	r->max_cq = pow2(call, "hca.log_max_cq");
	r->max_cqe = pow2(call, "hca.log_max_cq_sz") - 1;
	r->max_mr = pow2(call, "hca.log_max_mkey");
	r->max_pd = pow2(call, "hca.log_max_pd");
	r->max_qp_rd_atom = 1;
	r->max_qp_init_rd_atom = 1;
	r->max_res_rd_atom = r->max_qp_rd_atom * r->max_qp;
	r->max_mcast_grp = 1;
	r->max_ah = INT_MAX;
	r->max_srq = pow2(call, "hca.log_max_srq");
	r->max_srq_wr = pow2(call, "hca.log_max_srq_sz") - 1;
	r->max_srq_sge = rq_sge - 1;
	r->max_pkeys = 1; /* every RoCE port has the one default key */
	r->local_ca_ack_delay = (uint8_t)cap(call, "hca.local_ca_ack_delay");
}

static void fill_base(struct uv_call *call, struct ib_uverbs_query_device_resp *r)
{
	fill_identity(call, r);
	fill_limits(call, r);
}

static void fill_extended(struct uv_call *call, struct ib_uverbs_ex_query_device_resp *r)
{
	r->timestamp_mask = INT64_MAX;
	r->hca_core_clock = cap(call, "hca.device_frequency_khz");
	r->device_cap_flags_ex = cap_flags(call);
	r->rss_caps.supported_qpts = RAW_PACKET_BIT;
	r->rss_caps.max_rwq_indirection_tables = pow2(call, "hca.log_max_rqt");
	r->rss_caps.max_rwq_indirection_table_size = pow2(call, "hca.log_max_rqt_size");
	r->max_wq_type_rq = pow2(call, "hca.log_max_rq");
	r->raw_packet_caps = raw_packet_caps(call);
	if (cap(call, "hca.cq_moderation")) {
		r->cq_moderation_caps.max_cq_moderation_count = MAX_CQ_COUNT;
		r->cq_moderation_caps.max_cq_moderation_period = MAX_CQ_PERIOD;
	}
}

/* ---- what only libmlx5 asks ---- */

typedef struct mlx5_ib_query_device_resp resp_t;

static void put_tso(struct uv_call *call, resp_t *r)
{
	uint32_t max = cap(call, "eth.max_lso_cap");

	if (!max || !cap(call, "hca.eth_net_offloads"))
		return;
	r->tso_caps.max_tso = 1u << max;
	r->tso_caps.supported_qpts = RAW_PACKET_BIT;
}

static void put_rss(struct uv_call *call, resp_t *r)
{
	if (!cap(call, "hca.eth_net_offloads"))
		return;
	r->rss_caps.rx_hash_function = MLX5_RX_HASH_FUNC_TOEPLITZ;
	r->rss_caps.rx_hash_fields_mask =
		MLX5_RX_HASH_SRC_IPV4 | MLX5_RX_HASH_DST_IPV4 | MLX5_RX_HASH_SRC_IPV6 |
		MLX5_RX_HASH_DST_IPV6 | MLX5_RX_HASH_SRC_PORT_TCP |
		MLX5_RX_HASH_DST_PORT_TCP | MLX5_RX_HASH_SRC_PORT_UDP |
		MLX5_RX_HASH_DST_PORT_UDP | MLX5_RX_HASH_INNER;
}

static void put_cqe_comp(struct uv_call *call, resp_t *r)
{
	if (!cap(call, "hca.cqe_compression"))
		return;
	r->cqe_comp_caps.max_num = cap(call, "hca.cqe_compression_max_num");
	r->cqe_comp_caps.supported_format = MLX5_IB_CQE_RES_FORMAT_HASH |
					    MLX5_IB_CQE_RES_FORMAT_CSUM;
	if (cap(call, "hca.mini_cqe_resp_stride_index"))
		r->cqe_comp_caps.supported_format |= MLX5_IB_CQE_RES_FORMAT_CSUM_STRIDX;
}

static void put_mpw(struct uv_call *call, resp_t *r)
{
	if (cap(call, "eth.multi_pkt_send_wqe"))
		r->mlx5_ib_support_multi_pkt_send_wqes = MLX5_IB_ALLOW_MPW;
	if (cap(call, "eth.enhanced_multi_pkt_send_wqe"))
		r->mlx5_ib_support_multi_pkt_send_wqes |= MLX5_IB_SUPPORT_EMPW;
}

static void put_flags(struct uv_call *call, resp_t *r)
{
	if (cap(call, "hca.cqe_compression_128"))
		r->flags |= MLX5_IB_QUERY_DEV_RESP_FLAGS_CQE_128B_COMP;
	if (cap(call, "hca.cqe_128_always"))
		r->flags |= MLX5_IB_QUERY_DEV_RESP_FLAGS_CQE_128B_PAD;
	r->flags |= MLX5_IB_QUERY_DEV_RESP_FLAGS_SCAT2CQE_DCT;
}

static void put_swp(struct uv_call *call, resp_t *r)
{
	if (!cap(call, "eth.swp"))
		return;
	r->sw_parsing_caps.sw_parsing_offloads = MLX5_IB_SW_PARSING;
	r->sw_parsing_caps.supported_qpts = RAW_PACKET_BIT;
}

/* enum mlx5_ib_... of hw/mlx5/mlx5_ib.h: bytes of a stride 2^6 .. 2^13, strides 2^9 .. 2^16,
 * with the extended range from 2^3. */
static void put_striding(struct uv_call *call, resp_t *r)
{
	struct mlx5_ib_striding_rq_caps *c = &r->striding_rq_caps;

	if (!cap(call, "hca.striding_rq"))
		return;
	c->min_single_stride_log_num_of_bytes = 6;
	c->max_single_stride_log_num_of_bytes = 13;
	c->min_single_wqe_log_num_of_strides = cap(call, "hca.ext_stride_num_range") ? 3
										     : 9;
	c->max_single_wqe_log_num_of_strides = 16;
	c->supported_qpts = RAW_PACKET_BIT;
}

static void put_tunnels(struct uv_call *call, resp_t *r)
{
	if (cap(call, "eth.tunnel_stateless_vxlan"))
		r->tunnel_offloads_caps |= MLX5_IB_TUNNELED_OFFLOADS_VXLAN;
	if (cap(call, "eth.tunnel_stateless_geneve_rx"))
		r->tunnel_offloads_caps |= MLX5_IB_TUNNELED_OFFLOADS_GENEVE;
	if (cap(call, "eth.tunnel_stateless_gre"))
		r->tunnel_offloads_caps |= MLX5_IB_TUNNELED_OFFLOADS_GRE;
}

static void put_nothing(struct uv_call *call, resp_t *r)
{
	(void)call;
	(void)r;
}

/* In the order of the struct: a part is given when there is room for all of it. */
#define PART(member, fn) \
	{ \
		UV_END_OF(resp_t, member), sizeof(((resp_t *)0)->member), fn \
	}
static const struct {
	size_t end, size;
	void (*put)(struct uv_call *call, resp_t *r);
} parts[] = {
	PART(tso_caps, put_tso),
	PART(rss_caps, put_rss),
	PART(cqe_comp_caps, put_cqe_comp),
	PART(packet_pacing_caps, put_nothing),
	PART(mlx5_ib_support_multi_pkt_send_wqes, put_mpw),
	PART(flags, put_flags),
	PART(sw_parsing_caps, put_swp),
	PART(striding_rq_caps, put_striding),
	PART(tunnel_offloads_caps, put_tunnels),
	PART(dci_streams_caps, put_nothing),
};
#undef PART

static int answer_driver(struct uv_call *call)
{
	size_t in_len, out_len = uv_uhw_out_len(call);
	const uint8_t *in = uv_uhw(call, &in_len);
	resp_t r = { .response_length = UV_END_OF(resp_t, response_length) };

	if (out_len && out_len < r.response_length)
		return uv_refuse(call, EINVAL, "driver data", "room for %zu bytes",
				 out_len);
	if (!uv_is_zero(in, in_len))
		return uv_refuse(call, EINVAL, "driver data", "not zero");
	for (size_t i = 0; i < UV_COUNT(parts); i++)
		if (parts[i].end <= out_len) {
			parts[i].put(call, &r);
			r.response_length += (uint32_t)parts[i].size;
		}
	if (out_len)
		uv_uhw_out(call, &r, r.response_length);
	return 0;
}

/* ---- the two commands ---- */

int uv_query_device(struct uv_call *call)
{
	struct ib_uverbs_query_device req;
	struct ib_uverbs_query_device_resp resp = { 0 };
	int rc = uv_need_context(call);

	if (!rc)
		rc = uv_req(call, &req, sizeof(req));
	if (rc)
		return rc;
	fill_base(call, &resp);
	return uv_resp(call, &resp, sizeof(resp));
}

int uv_ex_query_device(struct uv_call *call)
{
	struct ib_uverbs_ex_query_device req;
	struct ib_uverbs_ex_query_device_resp resp = { 0 };
	int rc = uv_need_context(call);

	if (!rc)
		rc = uv_req(call, &req, sizeof(req));
	if (rc)
		return rc;
	if (req.comp_mask || req.reserved)
		return uv_refuse(call, EINVAL, "comp_mask", "0x%x", req.comp_mask);
	rc = answer_driver(call);
	if (rc)
		return rc;
	fill_base(call, &resp.base);
	fill_extended(call, &resp);
	resp.response_length = uv_resp_len(call, sizeof(resp));
	return uv_resp(call, &resp, sizeof(resp));
}
