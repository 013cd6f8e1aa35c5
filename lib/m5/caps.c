/* m5/caps.c - what this device can do */

#include <string.h>

#include "../prm/ctx.h"
#include "../prm/wqe.h"
#include "inside.h"

static int query(struct m5_dev *dev, enum prm_cap_group group, uint32_t *out,
		 struct err *err)
{
	uint32_t in[PRM_CAP_IN_BYTES / 4] = { 0 };

	prm_set(in, PRM_IN_OPCODE, PRM_QUERY_HCA_CAP);
	prm_set(in, PRM_IN_OP_MOD, PRM_CAP_OP_MOD((unsigned)group));
	return m5_devx_command(dev, "QUERY_HCA_CAP", in, sizeof(in), out,
			       PRM_CAP_OUT_BYTES, err);
}

/* Free-running where it is there: it does not jump when somebody sets the time. Both words are
 * said as they are, because nobody documents which one DEFAULT means.
 * Source: Linux mlx5_ifc.h, MLX5_TIMESTAMP_FORMAT_CAP_*. */
static uint8_t ts_format(const void *cap, struct prm_field which)
{
	return prm_get(cap, which) == PRM_TS_CAP_REAL_TIME ? PRM_TS_REAL_TIME
							   : PRM_TS_FREE_RUNNING;
}

static void read_general(struct m5_caps *c, const void *cap)
{
	c->log_max_cq_size = (uint8_t)prm_get(cap, PRM_CAP_LOG_MAX_CQ_SIZE);
	c->log_max_wq_size = (uint8_t)prm_get(cap, PRM_CAP_LOG_MAX_WQ_SIZE);
	c->log_max_rqt_size = (uint8_t)prm_get(cap, PRM_CAP_LOG_MAX_RQT_SIZE);
	c->striding_rq = prm_get(cap, PRM_CAP_STRIDING_RQ);
	c->ext_stride_range = prm_get(cap, PRM_CAP_EXT_STRIDE_NUM_RANGE);
	c->cqe_compression = prm_get(cap, PRM_CAP_CQE_COMP);
	c->enhanced_cqe_compression = prm_get(cap, PRM_CAP_ENHANCED_CQE_COMP);
	c->mini_stride = prm_get(cap, PRM_CAP_MINI_STRIDE);
	c->mini_type_stride = prm_get(cap, PRM_CAP_MINI_TYPE_STRIDE);
	c->ts_real_time = prm_get(cap, PRM_CAP_RQ_TS_FORMAT) != PRM_TS_CAP_FREE_RUNNING;
	c->rq_ts_format = ts_format(cap, PRM_CAP_RQ_TS_FORMAT);
	c->sq_ts_format = ts_format(cap, PRM_CAP_SQ_TS_FORMAT);
	c->clock_khz = (uint32_t)prm_get(cap, PRM_CAP_DEVICE_KHZ);
}

/* Where the device leaves it to the port: what its administrator said (devlink, inline-mode).
 * Source: DPDK mlx5_devx_cmds.c, mlx5_devx_cmd_query_nic_vport_context. */
static int vport_inline(struct m5_dev *dev, uint8_t *mode, struct err *err)
{
	uint32_t in[PRM_QUERY_NIC_VPORT_IN_BYTES / 4] = { 0 };
	uint32_t out[PRM_QUERY_NIC_VPORT_OUT_BYTES / 4];
	int r;

	prm_set(in, PRM_IN_OPCODE, PRM_QUERY_NIC_VPORT);
	r = m5_devx_command(dev, "QUERY_NIC_VPORT_CONTEXT", in, sizeof(in), out,
			    sizeof(out), err);
	if (!r)
		*mode = (uint8_t)prm_get(prm_at(out, PRM_QUERY_NIC_VPORT_CTX),
					 PRM_NIC_VPORT_MIN_INLINE);
	return r;
}

/* A send may have to hold the start of the frame. */
static int read_ethernet(struct m5_dev *dev, const void *cap, struct err *err)
{
	static const uint8_t least[] = { 0, PRM_L2_INLINE, 34, 42 }; /* of UDP in IPv4 */
	struct m5_caps *c = &dev->caps;
	uint8_t mode = PRM_MIN_INLINE_NONE;
	int r = 0;

	c->enhanced_mpw = prm_get(cap, PRM_CAP_ENHANCED_MPW);
	if (prm_get(cap, PRM_CAP_INLINE_MODE) == PRM_INLINE_L2)
		mode = PRM_MIN_INLINE_L2;
	else if (prm_get(cap, PRM_CAP_INLINE_MODE) == PRM_INLINE_VPORT)
		r = vport_inline(dev, &mode, err);
	if (r < 0)
		return r;
	if (mode >= sizeof(least))
		return err_set(
			err, -EOPNOTSUPP,
			"%s: its port wants the headers of tunnels inlined in sends: set "
			"the e-switch's inline-mode to transport or less (devlink dev "
			"eswitch set ... inline-mode none)",
			c->rdma_name);
	c->inline_mode = mode;
	c->min_inline = least[mode];
	return 0;
}

/* Limits of the striding receive queue come by verbs, which knows the card's quirks. */
static void read_striding(struct m5_dev *dev)
{
	struct mlx5dv_context dv = { .comp_mask = MLX5DV_CONTEXT_MASK_STRIDING_RQ };
	struct m5_caps *c = &dev->caps;

	if (mlx5dv_query_device(dev->ctx, &dv) ||
	    !(dv.comp_mask & MLX5DV_CONTEXT_MASK_STRIDING_RQ) ||
	    !dv.striding_rq_caps.max_single_wqe_log_num_of_strides) {
		c->striding_rq = false;
		return;
	}
	c->log_min_stride_bytes =
		(uint8_t)dv.striding_rq_caps.min_single_stride_log_num_of_bytes;
	c->log_max_stride_bytes =
		(uint8_t)dv.striding_rq_caps.max_single_stride_log_num_of_bytes;
	c->log_min_strides =
		(uint8_t)dv.striding_rq_caps.min_single_wqe_log_num_of_strides;
	c->log_max_strides =
		(uint8_t)dv.striding_rq_caps.max_single_wqe_log_num_of_strides;
}

/* Group GENERAL2 is younger than the striding queue; without it, or with 0 there, it is 16 KiB.
 * Source: DPDK mlx5_devx_cmds.c (hca_cap_2), mlx5_prm.h (MLX5_MPRQ_LOG_MIN_STRIDE_WQE_SIZE). */
static uint8_t min_stride_wqe(struct m5_dev *dev, bool there, uint32_t *out)
{
	unsigned v = 0;

	if (there && query(dev, PRM_CAP_GENERAL2, out, NULL) == 0)
		v = (unsigned)prm_get(prm_at(out, PRM_CAP_AT),
				      PRM_CAP_LOG_MIN_STRIDE_WQE);
	return v ? (uint8_t)v : 14;
}

/* ---- without these nothing works ---- */

static int require_general(const struct m5_caps *c, const void *cap, struct err *err)
{
	if (prm_get(cap, PRM_CAP_PORT_TYPE) != PRM_PORT_ETHERNET)
		return err_set(err, -EOPNOTSUPP,
			       "%s: its port is InfiniBand; make it Ethernet (mlxconfig, "
			       "LINK_TYPE_P1=2)",
			       c->rdma_name);
	if (!prm_get(cap, PRM_CAP_NIC_FLOW_TABLE))
		return err_set(
			err, -EOPNOTSUPP,
			"%s: lacks the capability nic_flow_table: no packets can be steered to "
			"this program",
			c->rdma_name);
	return 0;
}

static int require_steering(const struct m5_caps *c, const void *cap, struct err *err)
{
	if (prm_get(cap, PRM_CAP_FT_RX_SUPPORT))
		return 0;
	return err_set(
		err, -EOPNOTSUPP,
		"%s: lacks the capability flow_table_properties_nic_receive.ft_support: no "
		"packets can be steered to this program",
		c->rdma_name);
}

int m5_caps_read(struct m5_dev *dev, struct err *err)
{
	uint32_t out[PRM_CAP_OUT_BYTES / 4];
	void *cap = prm_at(out, PRM_CAP_AT);
	struct m5_caps *c = &dev->caps;
	bool general2;
	int r;

	r = query(dev, PRM_CAP_GENERAL, out, err);
	if (!r)
		r = require_general(c, cap, err);
	if (r < 0)
		return r;
	read_general(c, cap);
	general2 = prm_get(cap, PRM_CAP_GENERAL2_THERE);
	r = query(dev, PRM_CAP_ETHERNET, out, err);
	if (r < 0)
		return r;
	r = read_ethernet(dev, cap, err);
	if (!r)
		r = query(dev, PRM_CAP_FLOW_TABLE, out, err);
	if (!r)
		r = require_steering(c, cap, err);
	if (r < 0)
		return r;
	c->match_ttl = prm_get(cap, PRM_CAP_FT_RX_TTL);
	c->match_hop_limit = prm_get(cap, PRM_CAP_FT_RX_HOP_LIMIT);
	if (c->striding_rq)
		read_striding(dev);
	c->log_min_stride_wqe_bytes = min_stride_wqe(dev, general2, out);
	return 0;
}
