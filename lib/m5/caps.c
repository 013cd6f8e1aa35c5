/* m5/caps.c - what this device can do */

#include <string.h>

#include "inside.h"

static int query(struct m5_dev *dev, enum prm_cap_group group, uint32_t *out, struct err *err)
{
	uint32_t in[PRM_CAP_IN_BYTES / 4] = { 0 };

	prm_set(in, PRM_IN_OPCODE, PRM_QUERY_HCA_CAP);
	prm_set(in, PRM_IN_OP_MOD, PRM_CAP_OP_MOD((unsigned)group));
	return m5_devx_command(dev, "QUERY_HCA_CAP", in, sizeof(in), out, PRM_CAP_OUT_BYTES, err);
}

static void read_general(struct m5_caps *c, const void *cap)
{
	unsigned ts = (unsigned)prm_get(cap, PRM_CAP_RQ_TS_FORMAT);

	c->log_max_cq_size = (uint8_t)prm_get(cap, PRM_CAP_LOG_MAX_CQ_SIZE);
	c->log_max_wq_size = (uint8_t)prm_get(cap, PRM_CAP_LOG_MAX_WQ_SIZE);
	c->log_max_rqt_size = (uint8_t)prm_get(cap, PRM_CAP_LOG_MAX_RQT_SIZE);
	c->striding_rq = prm_get(cap, PRM_CAP_STRIDING_RQ);
	c->ext_stride_range = prm_get(cap, PRM_CAP_EXT_STRIDE_NUM_RANGE);
	c->cqe_compression = prm_get(cap, PRM_CAP_CQE_COMP);
	c->enhanced_cqe_compression = prm_get(cap, PRM_CAP_ENHANCED_CQE_COMP);
	c->ts_real_time = ts == 1 || ts == 2;
	c->clock_khz = (uint32_t)prm_get(cap, PRM_CAP_DEVICE_KHZ);
}

/* VPORT leaves it to the port, which on a function of our own is "none" unless an administrator
 * said otherwise; a queue that must inline fails then at its first send, and says so. */
static void read_ethernet(struct m5_caps *c, const void *cap)
{
	c->enhanced_mpw = prm_get(cap, PRM_CAP_ENHANCED_MPW);
	c->min_inline = prm_get(cap, PRM_CAP_INLINE_MODE) == PRM_INLINE_L2 ? 18 : 0;
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
	c->log_min_stride_bytes = (uint8_t)dv.striding_rq_caps.min_single_stride_log_num_of_bytes;
	c->log_max_stride_bytes = (uint8_t)dv.striding_rq_caps.max_single_stride_log_num_of_bytes;
	c->log_min_strides = (uint8_t)dv.striding_rq_caps.min_single_wqe_log_num_of_strides;
	c->log_max_strides = (uint8_t)dv.striding_rq_caps.max_single_wqe_log_num_of_strides;
}

/* Group GENERAL2 is younger than the striding queue; DPDK falls back to 16 KiB without it. */
static uint8_t min_stride_wqe(struct m5_dev *dev, uint32_t *out)
{
	unsigned v = 0;

	if (query(dev, PRM_CAP_GENERAL2, out, NULL) == 0)
		v = (unsigned)prm_get(prm_at(out, PRM_CAP_AT), PRM_CAP_LOG_MIN_STRIDE_WQE);
	return v ? (uint8_t)v : 14;
}

static int require(const struct m5_caps *c, struct err *err)
{
	if (!c->enhanced_mpw)
		return err_set(err, -EOPNOTSUPP,
			       "%s (device 0x%04x) has no enhanced multi-packet send: it is older than "
			       "ConnectX-5, which is the oldest this program drives",
			       c->rdma_name, c->device_id);
	if (c->min_inline)
		return err_set(err, -EOPNOTSUPP,
			       "%s wants %u bytes of each frame inlined: it is older than ConnectX-5, or "
			       "a virtual function whose port demands it; set the e-switch's inline-mode "
			       "to none (devlink dev eswitch set ... inline-mode none)",
			       c->rdma_name, c->min_inline);
	return 0;
}

int m5_caps_read(struct m5_dev *dev, struct err *err)
{
	uint32_t out[PRM_CAP_OUT_BYTES / 4];
	struct m5_caps *c = &dev->caps;
	int r;

	r = query(dev, PRM_CAP_GENERAL, out, err);
	if (r < 0)
		return r;
	read_general(c, prm_at(out, PRM_CAP_AT));
	r = query(dev, PRM_CAP_ETHERNET, out, err);
	if (r < 0)
		return r;
	read_ethernet(c, prm_at(out, PRM_CAP_AT));
	r = query(dev, PRM_CAP_FLOW_TABLE, out, err);
	if (r < 0)
		return r;
	c->match_ttl = prm_get(prm_at(out, PRM_CAP_AT), PRM_CAP_FT_RX_TTL);
	if (c->striding_rq)
		read_striding(dev);
	c->log_min_stride_wqe_bytes = min_stride_wqe(dev, out);
	return require(c, err);
}
