/* prm/bits.h - fields of command mailboxes and contexts
 *
 * A field is given as the manuals give it: bit offset from the start of its
 * structure (0 = most significant bit of the first byte) and width. A mailbox is
 * an array of big-endian 32-bit words; a field of up to 32 bits lies in one word,
 * a 64-bit field fills two.
 */
#pragma once

#include <stdint.h>
#include <string.h>

#include "../base/be.h"

struct prm_field {
	uint16_t bit, width;
};

#define PRM_FIELD(bit, width) ((struct prm_field){ (bit), (width) })

static inline uint64_t prm_get(const void *p, struct prm_field f)
{
	const be32_t *w = (const be32_t *)p + f.bit / 32;
	uint64_t high = from_be32(w[0]);

	if (f.width == 64)
		return high << 32 | from_be32(w[1]);
	return high >> (32 - f.bit % 32 - f.width) & (UINT64_MAX >> (64 - f.width));
}

static inline void prm_set(void *p, struct prm_field f, uint64_t v)
{
	be32_t *w = (be32_t *)p + f.bit / 32;
	unsigned shift = 32u - f.bit % 32u - f.width;
	uint32_t mask;

	if (f.width == 64) {
		w[0] = to_be32((uint32_t)(v >> 32));
		w[1] = to_be32((uint32_t)v);
		return;
	}
	mask = (uint32_t)(UINT64_MAX >> (64 - f.width)) << shift;
	w[0] = to_be32((from_be32(w[0]) & ~mask) | ((uint32_t)v << shift & mask));
}

/* A structure inside another: where it starts. */
static inline void *prm_at(void *p, unsigned bit)
{
	return (uint8_t *)p + bit / 8;
}
