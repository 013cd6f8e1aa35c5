/* m5/geometry.c - how the memory of a receive queue is cut */

#include "geometry.h"

#include <errno.h>

#include "../base/bits.h"
#include "../base/hot.h"
#include "../prm/ctx.h"

enum {
	FRAME_EXTRA = 22,    /* Ethernet header, two tags */
	LOG_MIN_CHUNKS = 2,  /* the device fills one while others are given back */
	LOG_MAX_CHUNKS = 15, /* counted in 16 bits, and full must differ from empty */
	LOG_STRIDES_WANTED = 4,
	LOG_STRIDE_BYTES_MAX = 11, /* more would be wasted on all but jumbo frames */
	LOG_STRIDE_BYTES_MIN = 8,
	LINES_BETWEEN_CHUNKS = 2,
};

static unsigned min_of(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

static unsigned max_of(unsigned a, unsigned b)
{
	return a > b ? a : b;
}

static unsigned log_frame(const struct m5_rxq_conf *conf)
{
	return log2_ceil(conf->mtu + FRAME_EXTRA);
}

static unsigned choose_stride(const struct m5_caps *c, const struct m5_rxq_conf *conf)
{
	unsigned log = min_of(log_frame(conf), LOG_STRIDE_BYTES_MAX);
	unsigned least = min_of(log, LOG_STRIDE_BYTES_MIN);

	while (log > least && conf->bytes_max &&
	       (size_t)conf->packets << log > conf->bytes_max)
		log--;
	return max_of(log, c->log_min_stride_bytes);
}

static unsigned choose_strides(const struct m5_caps *c, const struct m5_rxq_conf *conf,
			       unsigned log_stride_bytes)
{
	unsigned log_packets = log2_ceil(conf->packets), log = LOG_STRIDES_WANTED;
	unsigned log_chunk = max_of(c->log_min_stride_wqe_bytes, log_frame(conf));

	if (log_packets < log + LOG_MIN_CHUNKS)
		log = log_packets > LOG_MIN_CHUNKS ? log_packets - LOG_MIN_CHUNKS : 0;
	log = max_of(log, c->log_min_strides);
	return log_stride_bytes < log_chunk ? max_of(log, log_chunk - log_stride_bytes)
					    : log;
}

static void choose_striding(const struct m5_caps *c, const struct m5_rxq_conf *conf,
			    struct m5_geometry *g)
{
	unsigned log_packets = log2_ceil(conf->packets);

	g->log_stride_bytes = (uint8_t)choose_stride(c, conf);
	g->log_strides = (uint8_t)choose_strides(c, conf, g->log_stride_bytes);
	g->log_chunks = log_packets > (unsigned)g->log_strides + LOG_MIN_CHUNKS
				? (uint8_t)(log_packets - g->log_strides)
				: LOG_MIN_CHUNKS;
	g->striding = conf->striding && c->striding_rq &&
		      g->log_strides <= c->log_max_strides &&
		      g->log_stride_bytes <= c->log_max_stride_bytes &&
		      (c->ext_stride_range || g->log_strides >= PRM_LOG_STRIDES_BASE);
}

static int check_conf(const struct m5_rxq_conf *conf, struct err *err)
{
	if (!is_pow2(conf->packets) || conf->packets < 8)
		return err_set(
			err, -EINVAL,
			"receive ring of %u packets: must be a power of two, 8 at least",
			conf->packets);
	/* The length in a completion has 16 bits. */
	if (conf->mtu < 68 || conf->mtu > UINT16_MAX - FRAME_EXTRA)
		return err_set(err, -EINVAL,
			       "receive ring for an MTU of %u: must be 68 to %d",
			       conf->mtu, UINT16_MAX - FRAME_EXTRA);
	return 0;
}

int m5_geometry_choose(const struct m5_caps *c, const struct m5_rxq_conf *conf,
		       struct err *err, struct m5_geometry *ret)
{
	unsigned log_max = min_of(c->log_max_wq_size, LOG_MAX_CHUNKS);
	struct m5_geometry g;
	int r = check_conf(conf, err);

	if (r < 0)
		return r;
	choose_striding(c, conf, &g);
	if (!g.striding) {
		g.log_strides = 0;
		g.log_stride_bytes = (uint8_t)log_frame(conf);
		g.log_chunks = (uint8_t)log2_ceil(conf->packets);
	}
	if (g.log_chunks > log_max)
		return err_set(
			err, -EINVAL,
			"%s: receive ring of %u packets: the device has at most %llu",
			c->rdma_name, conf->packets, 1ull << (log_max + g.log_strides));
	g.pitch =
		(uint32_t)m5_geometry_chunk_bytes(&g) + LINES_BETWEEN_CHUNKS * CACHE_LINE;
	*ret = g;
	return 0;
}

uint32_t m5_geometry_frames(const struct m5_geometry *g, uint16_t mtu)
{
	uint32_t stride = UINT32_C(1) << g->log_stride_bytes;
	uint32_t strides = (mtu + FRAME_EXTRA + stride - 1) / stride;

	return ((UINT32_C(1) << g->log_strides) / strides) << g->log_chunks;
}
