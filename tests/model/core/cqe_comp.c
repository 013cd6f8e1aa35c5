/* core/cqe_comp.c - compressed completions
 *
 * Completions that differ only in what a mini completion carries, or in what
 * compression loses, make a session:
 *
 *   basic     T a . . . . . . b . . . . . . . c ...   n slots of n completions; T: the
 *             title, format 3, byte_cnt = n; a, b, c: arrays of eight minis in the slots
 *             1, 8, 16, ... after T, a's first being T's own; "." keep what they held
 *   enhanced  T a . . . . . . a . . . ...  T: an ordinary completion; a: a slot with one
 *             to seven minis, format 3, and the count less one in place of the opcode
 *
 * In both the consumer index moves by the number of completions. Lost, because the
 * title's is taken: timestamp, and of checksum, hash, tag and header type those that
 * the format does not carry (kernel en_rx.c zeroes the hash of what it unpacked).
 *
 * Rules of this file that sources only imply:
 * - a session, title included, stays within one lap of the queue: DPDK's vector code walks it
 *   linearly, and takes the enhanced title's lap from the slot behind it;
 * - indices go up one by one, or by the strides used (kernel: mlx5e_decompress_cqe);
 * - enhanced: a slot that is skipped 256 laps running would become valid by itself, as its lap
 *   number is 8 bits; so every 128th lap is written without sessions.
 *
 * When the card's firmware compresses is nowhere written: here, whenever
 * completions of one pass allow it, within cx_comp_limits().
 *
 * Source: DPDK mlx5_rx.c (mlx5_rx_poll_len), mlx5_rxtx_vec_sse.h (rxq_cq_decompress_v),
 * mlx5_prm.h (struct mlx5_mini_cqe8); kernel en_rx.c.
 */
#include "queue.h"

#include <stdlib.h>

enum { SESSION_MAX = 64, ARRAY = 8, SLOT_MAX = 7 };

struct cx_comp {
	uint64_t mask[8];  /* what of a completion must be as in the title */
	uint8_t title[64]; /* enhanced: the last ordinary completion, if has_title */
	bool has_title;
	uint16_t next_counter; /* wqe_counter of the one to come */
	unsigned n;
	uint8_t image[SESSION_MAX][64]; /* not yet written; the last has index pi - 1 */
};

void cx_comp_limits(struct cx_dev *dev, unsigned min, unsigned max)
{
	dev->comp_min = (uint8_t)(min < SESSION_MAX ? min : SESSION_MAX);
	dev->comp_max = (uint8_t)(max < SESSION_MAX ? max : SESSION_MAX);
}

static unsigned shortest(const struct cx_dev *dev)
{
	return dev->comp_min > 2 ? dev->comp_min : 2;
}

static unsigned longest(const struct cx_dev *dev, const struct cx_cq *cq)
{
	unsigned most = cq->comp == CX_COMP_ENHANCED ? SLOT_MAX : SESSION_MAX;

	return dev->comp_max && dev->comp_max < most ? dev->comp_max : most;
}

uint32_t cx_comp_pending(const struct cx_cq *cq)
{
	return cq->session ? cq->session->n : 0;
}

/* ---- what may differ ---- */

static void ignore(uint8_t mask[64], cx_field f)
{
	memset(cx_at(mask, f), 0, cx_field_width(f) / 8);
}

struct cx_comp *cx_comp_new(enum cx_mini_format mini)
{
	struct cx_comp *comp = calloc(1, sizeof(*comp));
	uint8_t mask[64];

	if (!comp)
		return NULL;
	memset(mask, 0xff, sizeof(mask));
	ignore(mask, CX_cqe__rx_hash_result);
	ignore(mask, CX_cqe__checksum);
	ignore(mask, CX_cqe__byte_cnt);
	ignore(mask, CX_cqe__timestamp);
	ignore(mask, CX_cqe__wqe_counter);
	if (mini == CX_MINI_TAG_STRIDE)
		ignore(mask, CX_cqe__tag_or_qpn);
	if (mini == CX_MINI_L34_STRIDE)
		mask[0x1d] = 0;
	memcpy(comp->mask, mask, sizeof(mask));
	return comp;
}

static bool alike(const struct cx_comp *comp, const uint8_t a[64], const uint8_t b[64])
{
	uint64_t x, y, differ = 0;

	for (unsigned i = 0; i < 8; i++) {
		memcpy(&x, a + i * 8, 8);
		memcpy(&y, b + i * 8, 8);
		differ |= (x ^ y) & comp->mask[i];
	}
	return !differ;
}

/* Plain queues use one WQE a completion, striding ones so many strides. */
static uint16_t counter_after(const uint8_t image[64])
{
	uint16_t strides = cx_be16(CX_AT(cqe, image, byte_cnt)) & 0x3fff;

	return (uint16_t)(cx_be16(CX_AT(cqe, image, wqe_counter)) +
			  (strides ? strides : 1));
}

static bool fits(const struct cx_comp *comp, const uint8_t title[64],
		 const uint8_t image[64])
{
	return comp->next_counter == cx_be16(CX_AT(cqe, image, wqe_counter)) &&
	       alike(comp, title, image);
}

/* ---- minis ---- */

/* All formats but the hash have 16 bits of their own, the index, and the byte count. */
static void mini_of(enum cx_mini_format format, const uint8_t image[64], uint8_t mini[8])
{
	memcpy(mini + 2, CX_AT(cqe, image, wqe_counter), 2);
	memcpy(mini + 4, CX_AT(cqe, image, byte_cnt), 4);
	switch (format) {
	case CX_MINI_HASH:
		memcpy(mini, CX_AT(cqe, image, rx_hash_result), 4);
		break;
	case CX_MINI_CSUM:
	case CX_MINI_CSUM_STRIDE:
		memcpy(mini, CX_AT(cqe, image, checksum), 2);
		break;
	case CX_MINI_TAG_STRIDE: /* 0x39 0x3a 0x3b: the tag, upper byte first */
		memcpy(mini, image + 0x3a, 2);
		mini[4] = image[0x39];
		break;
	case CX_MINI_L34_STRIDE:
		mini[0] = image[0x1d];
		mini[1] = 0;
		break;
	}
}

static void array_of(const struct cx_cq *cq, unsigned first, uint8_t array[64])
{
	const struct cx_comp *comp = cq->session;

	memset(array, 0, 64);
	for (unsigned i = 0; i < ARRAY && first + i < comp->n; i++)
		mini_of(cq->mini, comp->image[first + i], array + i * 8);
}

/* ---- writing ---- */

static void write_one(struct cx_cq *cq, uint32_t index, const uint8_t image[64])
{
	struct cx_comp *comp = cq->session;

	cx_cq_write(cq, index, image, image[63]);
	memcpy(comp->title, image, 64);
	comp->has_title = true;
}

static void write_singly(struct cx_cq *cq, uint32_t first)
{
	for (unsigned i = 0; i < cq->session->n; i++)
		write_one(cq, first + i, cq->session->image[i]);
}

/* Arrays first: the title makes them valid. */
static void write_basic(struct cx_cq *cq, uint32_t first)
{
	struct cx_comp *comp = cq->session;
	uint8_t image[64];

	for (unsigned i = 0; i < comp->n; i += ARRAY) {
		array_of(cq, i, image);
		cx_cq_write_array(cq, first + (i ? i : 1), image);
	}
	memcpy(image, comp->image[0], 64);
	cx_put_be32(CX_AT(cqe, image, byte_cnt), comp->n);
	cx_cq_write(cq, first, image, (uint8_t)(image[63] | CX_CQE_COMPRESSED << 2));
}

/* Behind the minis stands the first one's index: DPDK's out-of-order receive reads it. */
static void write_enhanced(struct cx_cq *cq, uint32_t first)
{
	struct cx_comp *comp = cq->session;
	uint8_t image[64];

	array_of(cq, 0, image);
	memcpy(CX_AT(mini_slot, image, wqe_counter),
	       CX_AT(cqe, comp->image[0], wqe_counter), 2);
	cx_cq_write(cq, first, image,
		    (uint8_t)((comp->n - 1) << 4 | CX_CQE_COMPRESSED << 2));
}

void cx_cq_flush(struct cx_dev *dev, struct cx_cq *cq)
{
	struct cx_comp *comp = cq->session;
	uint32_t first;

	if (!comp || !comp->n)
		return;
	first = cq->pi - comp->n;
	cx_comp_del(dev, cq);
	if (comp->n < shortest(dev)) {
		write_singly(cq, first);
	} else {
		(cq->comp == CX_COMP_ENHANCED ? write_enhanced : write_basic)(cq, first);
		dev->stats.mini_cqes += comp->n;
	}
	comp->n = 0;
	cx_cq_notify(dev, cq, CX_NOTICE);
}

/* ---- taking ---- */

static bool lap_starts(const struct cx_cq *cq, uint32_t index)
{
	return !(index & cx_cq_mask(cq));
}

static bool lap_refreshes(const struct cx_cq *cq, uint32_t index)
{
	return cq->comp == CX_COMP_ENHANCED && (index >> cq->log_size & 127) == 127;
}

/* The completion a new one must be like, or NULL. */
static const uint8_t *title_of(const struct cx_cq *cq)
{
	const struct cx_comp *comp = cq->session;

	if (cq->comp == CX_COMP_ENHANCED)
		return comp->has_title ? comp->title : NULL;
	return comp->n ? comp->image[0] : NULL;
}

/* May the next completion stand in a session, the open one or a new one? */
static bool joins(struct cx_dev *dev, struct cx_cq *cq, const uint8_t image[64],
		  bool compressible)
{
	struct cx_comp *comp = cq->session;
	const uint8_t *title;

	if (lap_starts(cq, cq->pi))
		comp->has_title = false;
	title = title_of(cq);
	if (!compressible || lap_refreshes(cq, cq->pi))
		return false;
	if (title && fits(comp, title, image))
		return true;
	cx_cq_flush(dev, cq);
	return cq->comp == CX_COMP_BASIC;
}

static void hold(struct cx_dev *dev, struct cx_cq *cq, const uint8_t image[64])
{
	struct cx_comp *comp = cq->session;

	memcpy(comp->image[comp->n++], image, 64);
	cq->pi++;
	if (comp->n == longest(dev, cq) || lap_starts(cq, cq->pi) ||
	    (comp->n == 1 && cx_comp_add(dev, cq)))
		cx_cq_flush(dev, cq);
}

void cx_comp_take(struct cx_dev *dev, struct cx_cq *cq, const uint8_t image[64],
		  bool compressible, enum cx_notice notice)
{
	bool joined = joins(dev, cq, image, compressible);

	cq->session->next_counter = counter_after(image);
	if (joined) {
		hold(dev, cq, image);
		return;
	}
	cx_cq_flush(dev, cq);
	write_one(cq, cq->pi++, image);
	cx_cq_notify(dev, cq, notice);
}
