/* test/queue_unzip.c - compressed completions read the way drivers read them
 *
 * Written from what DPDK (mlx5_rx.c mlx5_rx_poll_len and rxq_cq_to_mbuf, mlx5_common.h
 * check_cqe and check_cqe_iteration) and the kernel (en_rx.c mlx5e_decompress_cqe) do with
 * the bytes, and not from the model's encoder. Offsets are byte offsets of DPDK's struct
 * mlx5_cqe and mlx5_mini_cqe8.
 *
 * Basic: slots taken are made invalid, as DPDK must. Enhanced: nothing is written; the
 * title is the last ordinary completion before, copied while it was valid.
 */
#include "queue_rig.h"

#include <string.h>

enum { FMT_COMPRESSED = 3, INVALID = 0xf0 };

static bool enhanced(const struct q_zip *z)
{
	return z->cq->conf.comp == 2;
}

static bool is_compressed(const uint8_t *cqe)
{
	return (cqe[63] >> 2 & 3) == FMT_COMPRESSED;
}

static uint8_t *slot(const struct q_zip *z, uint32_t i)
{
	return d_cqe_at(z->cq, i);
}

static bool valid(const struct q_zip *z, uint32_t ci)
{
	const uint8_t *cqe = slot(z, ci);
	uint32_t lap = ci >> z->cq->conf.log_size;

	if (cqe[63] >> 4 == 15)
		return false;
	return enhanced(z) ? cqe[62] == (lap & 0xff) : (cqe[63] & 1) == (lap & 1);
}

static struct q_cqe ordinary(const uint8_t *cqe)
{
	return (struct q_cqe){ .byte_cnt = cx_be32(cqe + 44),
			       .hash = cx_be32(cqe + 12),
			       .tag = cx_be32(cqe + 56) & 0xffffff,
			       .checksum = cx_be16(cqe + 20),
			       .wqe_counter = cx_be16(cqe + 60),
			       .hdr_type = cqe[29] };
}

/* What the mini says in the place of the title's. The kernel's rule for formats without an
 * index is to count on: @counter. */
static struct q_cqe from_mini(const struct q_zip *z, const uint8_t *title,
			      const uint8_t *mini, uint16_t counter)
{
	struct q_cqe c = ordinary(title);

	c.mini = true;
	c.byte_cnt = cx_be32(mini + 4);
	c.wqe_counter = z->cq->conf.mini >= 2 ? cx_be16(mini + 2) : counter;
	switch (z->cq->conf.mini) {
	case 0:
		c.hash = cx_be32(mini);
		break;
	case 1:
	case 3:
		c.checksum = cx_be16(mini);
		break;
	case 2: /* rxq_cq_to_mbuf: (byte_cnt_flow & 0xff) << 8 | flow_tag_high << 16, raw */
		c.tag = (uint32_t)mini[4] << 16 | (uint32_t)mini[0] << 8 | mini[1];
		c.byte_cnt &= 0xffffff;
		break;
	case 4:
		c.hdr_type = mini[0];
		break;
	}
	return c;
}

static uint16_t next_counter(const struct q_cqe *c)
{
	uint32_t strides = c->byte_cnt >> 16 & 0x3fff;

	return (uint16_t)(c->wqe_counter + (strides ? strides : 1));
}

static uint32_t mask(const struct q_zip *z)
{
	return (1u << z->cq->conf.log_size) - 1;
}

/* DPDK's vector code (rxq_cq_decompress_v) walks slots and buffers without wrapping. */
static void assert_within_lap(const struct q_zip *z, uint32_t n)
{
	assert_true((z->cq->ci & mask(z)) + n <= mask(z) + 1);
}

/* The title and its arrays at ci + 1, ci + 8, ci + 16 ... */
static unsigned basic_session(struct q_zip *z, struct q_cqe *out)
{
	uint32_t ci = z->cq->ci, n = cx_be32(slot(z, ci) + 44);
	const uint8_t *title = slot(z, ci);
	uint16_t counter = cx_be16(title + 60);

	z->titles++;
	assert_in_range(n, 2, 64);
	assert_within_lap(z, n);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t array = i < 8 ? ci + 1 : ci + (i & ~7u);

		z->arrays += i % 8 == 0;
		assert_true(array < ci + n); /* inside the slots that are ours */
		out[i] = from_mini(z, title, slot(z, array) + i % 8 * 8, counter);
		counter = next_counter(&out[i]);
	}
	for (uint32_t i = 0; i < n; i++)
		slot(z, ci + i)[63] = INVALID;
	return n;
}

static unsigned enhanced_array(struct q_zip *z, struct q_cqe *out)
{
	const uint8_t *array = slot(z, z->cq->ci);
	unsigned n = (array[63] >> 4) + 1u;
	uint16_t counter = cx_be16(array + 60); /* DPDK: zip->wqe_idx */

	z->arrays++;
	assert_in_range(n, 1, 7);
	assert_within_lap(z, n);
	assert_true(z->cq->ci & mask(z)); /* the lap has a title */
	for (unsigned i = 0; i < n; i++) {
		out[i] = from_mini(z, z->title, array + i * 8, counter);
		counter = next_counter(&out[i]);
	}
	return n;
}

static void keep_title(struct q_zip *z, const uint8_t *cqe)
{
	memcpy(z->title, cqe, 64);
}

unsigned q_unzip(struct q_zip *z, struct q_cqe *out, unsigned room)
{
	unsigned n = 0, got;

	while (valid(z, z->cq->ci) && n + 64 <= room) {
		const uint8_t *cqe = slot(z, z->cq->ci);

		if (!is_compressed(cqe)) {
			keep_title(z, cqe);
			out[n] = ordinary(cqe);
			got = 1;
		} else if (enhanced(z)) {
			got = enhanced_array(z, out + n);
		} else {
			got = basic_session(z, out + n);
		}
		n += got;
		d_cq_consume(z->cq, got);
	}
	return n;
}
