/* core/bits.h - bit ranges of big-endian device memory
 *
 * A field is a bit offset from the start of its structure, counted as the
 * device's manuals count (bit 0 = most significant bit of the first byte), and
 * a width. Fields of up to 32 bits never cross a 32-bit boundary; 64-bit fields
 * start on one. Wider fields are blobs: use cx_at().
 */
#pragma once

#include <stdint.h>
#include <string.h>

/* One packed constant per field: offset and width in bits. */
typedef uint32_t cx_field;

#define CX_PACK(offset, width) ((cx_field)((uint32_t)(offset) << 16 | (uint32_t)(width)))

static inline uint32_t cx_field_offset(cx_field f)
{
	return f >> 16;
}
static inline uint32_t cx_field_width(cx_field f)
{
	return f & 0xffff;
}

static inline uint32_t cx_be32(const void *p)
{
	const uint8_t *b = p;

	return (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
}

static inline void cx_put_be32(void *p, uint32_t v)
{
	uint8_t *b = p;

	b[0] = (uint8_t)(v >> 24);
	b[1] = (uint8_t)(v >> 16);
	b[2] = (uint8_t)(v >> 8);
	b[3] = (uint8_t)v;
}

static inline uint16_t cx_be16(const void *p)
{
	const uint8_t *b = p;

	return (uint16_t)(b[0] << 8 | b[1]);
}

static inline void cx_put_be16(void *p, uint16_t v)
{
	uint8_t *b = p;

	b[0] = (uint8_t)(v >> 8);
	b[1] = (uint8_t)v;
}

static inline uint64_t cx_be64(const void *p)
{
	return (uint64_t)cx_be32(p) << 32 | cx_be32((const uint8_t *)p + 4);
}

static inline void cx_put_be64(void *p, uint64_t v)
{
	cx_put_be32(p, (uint32_t)(v >> 32));
	cx_put_be32((uint8_t *)p + 4, (uint32_t)v);
}

static inline uint64_t cx_get(const void *p, cx_field f)
{
	uint32_t off = cx_field_offset(f), width = cx_field_width(f);
	const uint8_t *dword = (const uint8_t *)p + off / 32 * 4;

	if (width == 64)
		return cx_be64(dword);
	return cx_be32(dword) >> (32 - width - off % 32) & (UINT32_MAX >> (32 - width));
}

static inline void cx_set(void *p, cx_field f, uint64_t v)
{
	uint32_t off = cx_field_offset(f), width = cx_field_width(f);
	uint8_t *dword = (uint8_t *)p + off / 32 * 4;
	uint32_t shift, mask;

	if (width == 64) {
		cx_put_be64(dword, v);
		return;
	}
	shift = 32 - width - off % 32;
	mask = (UINT32_MAX >> (32 - width)) << shift;
	cx_put_be32(dword, (cx_be32(dword) & ~mask) | ((uint32_t)v << shift & mask));
}

/* A nested structure or blob; it starts on a byte. */
static inline uint8_t *cx_at(const void *p, cx_field f)
{
	return (uint8_t *)(uintptr_t)p + cx_field_offset(f) / 8;
}

/* CX_GET(cqc, ctx, log_cq_size), CX_SET(cqc, ctx, log_cq_size, 10), CX_AT(...) */
#define CX_GET(s, p, f)	   cx_get((p), CX_##s##__##f)
#define CX_SET(s, p, f, v) cx_set((p), CX_##s##__##f, (v))
#define CX_AT(s, p, f)	   cx_at((p), CX_##s##__##f)
