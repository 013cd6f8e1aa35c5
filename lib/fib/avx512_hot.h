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

/* Set bits of eight words of eight nodes' maps, up to the slots'. */
AVX512 static inline __m256i count8(const void *nodes, __mmask8 m, __m256i at,
				    __m256i shift)
{
	__m512i map =
		_mm512_mask_i32gather_epi64(_mm512_setzero_si512(), m, at, nodes, 8);

	map = _mm512_sllv_epi64(map, _mm512_cvtepu32_epi64(shift));
	return _mm512_cvtepi64_epi32(_mm512_popcnt_epi64(map));
}

/* node_slot() for the lanes of @value that are nodes, with bits @slot of the address. */
AVX512 static inline __m512i node16(const void *nodes, __m512i value, __m512i slot)
{
	__mmask16 m = _mm512_movepi32_mask(value);
	__m512i base = _mm512_slli_epi32(value, 4); /* in u32; shifts VALUE_NODE out */
	__m512i w = _mm512_srli_epi32(slot, 6),
		at = _mm512_add_epi32(_mm512_srli_epi32(base, 1), w);
	__m512i shift = _mm512_andnot_si512(slot, _mm512_set1_epi32(63)), before, count;

	base = _mm512_add_epi32(base,
				_mm512_set1_epi32(offsetof(struct node, before) / 4));
	count = _mm512_castsi256_si512(count8(nodes, (__mmask8)m,
					      _mm512_castsi512_si256(at),
					      _mm512_castsi512_si256(shift)));
	count = _mm512_inserti64x4(count,
				   count8(nodes, (__mmask8)(m >> 8),
					  _mm512_extracti64x4_epi64(at, 1),
					  _mm512_extracti64x4_epi64(shift, 1)),
				   1);
	before = _mm512_mask_i32gather_epi32(_mm512_setzero_si512(), m, base, nodes, 4);
	before = _mm512_srlv_epi32(before, _mm512_slli_epi32(w, 3));
	count = _mm512_add_epi32(count,
				 _mm512_and_si512(before, _mm512_set1_epi32(0xff)));
	/* The first value follows the counts, and is counted as 1. */
	return _mm512_mask_i32gather_epi32(value, m, _mm512_add_epi32(base, count), nodes,
					   4);
}
