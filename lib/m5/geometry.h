/* m5/geometry.h - how the memory of a receive queue is cut
 *
 *   region = chunks x pitch;  chunk = strides x stride;  a frame = one stride, or several
 *
 * Ring depth is in packets that fit a stride. What decides:
 *
 *   stride   a frame of the MTU, 2 KiB at most (a jumbo frame takes several). While all chunks
 *            together are more than conf.bytes_max it is halved, down to 256 bytes: the depth
 *            stays, in smaller packets, and large ones take several strides.
 *   strides  16 to a chunk, so that a doorbell record is written once in 16 packets; more where
 *            the device wants larger chunks, fewer to a short ring, which needs chunks to
 *            fill while others are given back.
 *   pitch    two cache lines more than a chunk: frames start at equal offsets in their chunks, and
 *            without it a burst of them would meet in two of the 64 sets of a first-level
 *            cache.
 *
 * A queue that is not striding has chunks of one frame.
 */
#pragma once

#include "rxq.h"

struct m5_geometry {
	bool striding;
	uint8_t log_chunks, log_strides, log_stride_bytes;
	uint32_t pitch; /* bytes from chunk to chunk */
};

/* -EINVAL with what is allowed. */
int m5_geometry_choose(const struct m5_caps *caps, const struct m5_rxq_conf *conf,
		       struct err *err, struct m5_geometry *ret);

/* Frames of the longest kind that the ring holds: none reaches from chunk to chunk. */
uint32_t m5_geometry_frames(const struct m5_geometry *g, uint16_t mtu);

/* What the device may write of a chunk, and what all of them take. */
static inline size_t m5_geometry_chunk_bytes(const struct m5_geometry *g)
{
	return (size_t)1 << (g->log_strides + g->log_stride_bytes);
}
static inline size_t m5_geometry_bytes(const struct m5_geometry *g)
{
	return (size_t)g->pitch << g->log_chunks;
}
