/* fib/avx512_hot.h - windows of 8 bits, for sixteen addresses at once
 *
 * HOT. x86-64 only; what is marked AVX512 runs only where fib_simd_works(FIB_SIMD_AVX512).
 */
#pragma once

#include <immintrin.h>

#include "node_hot.h"

#define AVX512 \
	__attribute__((target("avx2,popcnt,bmi,bmi2,avx512f,avx512bw,avx512dq,avx512vl," \
			      "avx512vpopcntdq")))

/* The lanes of sixteen that are among @left. */
AVX512 static inline __mmask16 lanes(uint32_t left)
{
	return (__mmask16)_bzhi_u32(0xffff, left);
}

/* Words of 32 bits, @scale bytes apart. A gather merges into its destination: with a mask that the
 * compiler does not know it must be zeroed, so that it does not wait for what was there before. */
#define gather16(mask, at, from, scale) \
	_mm512_mask_i32gather_epi32(_mm512_setzero_si512(), mask, at, from, scale)

AVX512 static inline __m512i load16(const uint32_t *p, uint32_t left)
{
	return _mm512_maskz_loadu_epi32(lanes(left), p);
}

/* Whole stores wherever possible: what a masked one wrote cannot be read back at once. */
AVX512 static inline void store16(uint32_t *p, uint32_t left, __m512i value)
{
	if (likely(left >= 16))
		_mm512_storeu_si512(p, value);
	else
		_mm512_mask_storeu_epi32(p, lanes(left), value);
}

/* Before a loop over the sixteens of a chunk: unrolled, its vectors stay in registers. */
#define UNROLL_CHUNK _Pragma("GCC unroll 4")
static_assert(LOOKUP_CHUNK == 4 * 16, "as the pragma says");

static_assert(NODE_BYTES / sizeof(uint16_t) == 1 << 5, "shifts of node16()");

/* node_slot() for the lanes of @value that are nodes, with bits @slot of the address. */
AVX512 static inline __m512i node16(const void *nodes, __m512i value, __m512i slot)
{
	/* slot / NODE_PART_SLOTS, of 8 bits */
	__m512i p =
		_mm512_srli_epi32(_mm512_mullo_epi16(slot, _mm512_set1_epi32(171)), 12);
	__m512i after = _mm512_sub_epi32(
		_mm512_add_epi32(_mm512_mullo_epi16(p,
						    _mm512_set1_epi32(NODE_PART_SLOTS)),
				 _mm512_set1_epi32(NODE_PART_SLOTS - 1)),
		slot);
	__mmask16 is = _mm512_movepi32_mask(value);
	__mmask16 small =
		_mm512_mask_test_epi32_mask(is, value, _mm512_set1_epi32(VALUE_SMALL));
	/* The node's line, in halves; shifts the flags out. */
	__m512i base = _mm512_srli_epi32(_mm512_slli_epi32(value, 7), 2);
	__m512i part =
		gather16(is, _mm512_add_epi32(base, _mm512_add_epi32(p, p)), nodes, 2);
	__m512i run = _mm512_and_si512(part, _mm512_set1_epi32(NODE_BEFORE));
	__m512i map = _mm512_sllv_epi32(_mm512_xor_si512(part, run), after);

	/* The first run is counted as 1. */
	run = _mm512_add_epi32(run, _mm512_popcnt_epi32(map));
	run = _mm512_sub_epi32(run, _mm512_set1_epi32(1));
	run = _mm512_mask_add_epi32(run, (__mmask16)~small, run, run);
	value = _mm512_mask_i32gather_epi32(value, is, _mm512_add_epi32(base, run),
					    (const uint32_t *)nodes + NODE_PARTS, 2);
	return _mm512_mask_and_epi32(value, small, value, _mm512_set1_epi32(UINT16_MAX));
}
