/* fib/run21_lookup.c - IPv4: one word for eight /24; lookups
 *
 * HOT. A chunk of addresses goes through three steps, each of which touches one kind of
 * memory for all of them: words, runs, and, rarely, wide blocks and nodes.
 */

#include "run21.h"

#include "lookup.h"

/* Addresses whose word is wide: they go on one by one. */
struct rest {
	uint32_t n;
	uint32_t at[LOOKUP_CHUNK +
		    16]; /* index in the chunk; vector stores go past the end */
};

ALWAYS_INLINE uint32_t run21_default(const struct fib_view *v)
{
	return WORD_LOAD((const uint32_t *)v->word + RUN21_DEFAULT);
}

/* nh[] holds the words of these. */
ALWAYS_INLINE void finish_wide(const struct fib_view *v, const uint32_t *addr,
			       uint32_t *nh, const struct rest *rest, uint32_t fallback)
{
	const uint32_t *wide = v->wide;

	for (uint32_t i = 0; i < rest->n; i++) {
		uint32_t *to = &nh[rest->at[i]];

		*to = wide[((*to & ~RUN21_WIDE) >> 8) * 8 + (addr[rest->at[i]] >> 8 & 7)];
		node_prefetch(v->node, *to);
	}
	for (uint32_t i = 0; i < rest->n; i++) {
		uint32_t *to = &nh[rest->at[i]];

		if (*to & VALUE_NODE)
			*to = node_slot(node_of(v->node, *to), addr[rest->at[i]] & 0xff);
		if (!*to)
			*to = fallback;
	}
}

/* ---- one at a time ---- */

ALWAYS_INLINE void chunk_scalar(const struct fib_view *v, const uint32_t *addr,
				uint32_t *nh, uint32_t n)
{
	const uint32_t *word = v->word;
	const uint16_t *run = v->run;
	uint32_t fallback = run21_default(v);
	struct rest rest;

	rest.n = 0;
	for (uint32_t i = 0; i < n; i++)
		__builtin_prefetch(&word[addr[i] >> 11]);
	for (uint32_t i = 0; i < n; i++) {
		nh[i] = WORD_LOAD(&word[addr[i] >> 11]);
		__builtin_prefetch(&run[nh[i] & 0xff ? nh[i] >> 8 : 0]);
	}
	for (uint32_t i = 0; i < n; i++) {
		uint32_t w = nh[i], rank = run21_rank(w, addr[i] >> 8 & 7), value;

		value = run[rank ? (w >> 8) + rank - 1 : 0];
		value = rank ? value : w >> 8;
		value = value ? value : fallback;
		rest.at[rest.n] = i;
		rest.n += run21_is_wide(w);
		nh[i] = run21_is_wide(w) ? w : value;
	}
	if (unlikely(rest.n))
		finish_wide(v, addr, nh, &rest, fallback);
}

static void lookup_scalar(const void *view, const uint32_t *addr, uint32_t *nh,
			  uint32_t n)
{
	for (; n > LOOKUP_CHUNK;
	     n -= LOOKUP_CHUNK, addr += LOOKUP_CHUNK, nh += LOOKUP_CHUNK)
		chunk_scalar(view, addr, nh, LOOKUP_CHUNK);
	chunk_scalar(view, addr, nh, n);
}

#if defined(__x86_64__)

#include <immintrin.h>

/* ---- eight at a time ---- */

#define AVX2 __attribute__((target("avx2,popcnt,bmi,bmi2")))

/* Set bits of the lowest byte of each lane; the others are 0. */
AVX2 static inline __m256i popcount8(__m256i x)
{
	const __m256i half = _mm256_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3,
					      4, 0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3,
					      3, 4);
	const __m256i low = _mm256_set1_epi32(15);

	return _mm256_add_epi32(_mm256_shuffle_epi8(half, _mm256_and_si256(x, low)),
				_mm256_shuffle_epi8(half, _mm256_srli_epi32(x, 4)));
}

/* Eight words to values; a bit of the result = its word is wide, and stays as it is. */
AVX2 static inline uint32_t values8(const struct fib_view *v, __m256i a, __m256i w,
				    __m256i fallback, uint32_t *nh)
{
	const __m256i byte = _mm256_set1_epi32(0xff), zero = _mm256_setzero_si256();
	__m256i slot = _mm256_and_si256(_mm256_srli_epi32(a, 8), _mm256_set1_epi32(7));
	__m256i map = _mm256_and_si256(w, byte), base = _mm256_srli_epi32(w, 8);
	__m256i plain = _mm256_cmpeq_epi32(map, zero), rank, value, wide;

	map = _mm256_sllv_epi32(map, _mm256_sub_epi32(_mm256_set1_epi32(7), slot));
	rank = popcount8(_mm256_and_si256(map, byte));
	value = _mm256_mask_i32gather_epi32(
		base, (const int *)((const uint16_t *)v->run - 1),
		_mm256_add_epi32(base, rank),
		_mm256_xor_si256(plain, _mm256_set1_epi32(-1)), 2);
	value = _mm256_blendv_epi8(_mm256_and_si256(value, _mm256_set1_epi32(0xffff)),
				   base, plain);
	value = _mm256_blendv_epi8(value, fallback, _mm256_cmpeq_epi32(value, zero));
	wide = _mm256_and_si256(plain, _mm256_srai_epi32(w, 31));
	_mm256_storeu_si256((__m256i *)(void *)nh, _mm256_blendv_epi8(value, w, wide));
	return (uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(wide));
}

AVX2 static inline void chunk_avx2(const struct fib_view *v, const uint32_t *addr,
				   uint32_t *nh, uint32_t n)
{
	uint32_t fallback = run21_default(v);
	struct rest rest;

	rest.n = 0;
	for (uint32_t i = 0; i < n; i += 8) {
		__m256i a = _mm256_loadu_si256((const __m256i *)(const void *)(addr + i));

		_mm256_storeu_si256((__m256i *)(void *)(nh + i),
				    _mm256_i32gather_epi32(v->word,
							   _mm256_srli_epi32(a, 11), 4));
	}
	for (uint32_t i = 0; i < n; i += 8) {
		__m256i a = _mm256_loadu_si256((const __m256i *)(const void *)(addr + i));
		__m256i w = _mm256_loadu_si256((const __m256i *)(const void *)(nh + i));
		uint32_t wide =
			values8(v, a, w, _mm256_set1_epi32((int)fallback), nh + i);

		for (; unlikely(wide); wide &= wide - 1)
			rest.at[rest.n++] = i + (uint32_t)__builtin_ctz(wide);
	}
	if (unlikely(rest.n))
		finish_wide(v, addr, nh, &rest, fallback);
}

AVX2 static void lookup_avx2(const void *view, const uint32_t *addr, uint32_t *nh,
			     uint32_t n)
{
	for (; n > LOOKUP_CHUNK;
	     n -= LOOKUP_CHUNK, addr += LOOKUP_CHUNK, nh += LOOKUP_CHUNK)
		chunk_avx2(view, addr, nh, LOOKUP_CHUNK);
	chunk_avx2(view, addr, nh, n & ~7u);
	if (n & 7)
		chunk_scalar(view, addr + (n & ~7u), nh + (n & ~7u), n & 7);
}

/* ---- sixteen at a time ---- */

#define AVX512 \
	__attribute__((target( \
		"avx2,popcnt,bmi,bmi2,avx512f,avx512bw,avx512dq,avx512vl,avx512vpopcntdq")))

/* Sixteen words to values; a bit of the result = its word is wide, and stays as it is. */
AVX512 static inline __mmask16 values16(const struct fib_view *v, __m512i a, __m512i w,
					__m512i fallback, __m512i *ret)
{
	__m512i slot = _mm512_andnot_si512(_mm512_srli_epi32(a, 8), _mm512_set1_epi32(7));
	__m512i base = _mm512_srli_epi32(w, 8), rank, value;
	__mmask16 many = _mm512_test_epi32_mask(w, _mm512_set1_epi32(0xff));
	__mmask16 wide = _mm512_movepi32_mask(w) & (__mmask16)~many;

	rank = _mm512_popcnt_epi32(_mm512_sllv_epi32(_mm512_slli_epi32(w, 24), slot));
	value = _mm512_mask_i32gather_epi32(base, many, _mm512_add_epi32(base, rank),
					    (const uint16_t *)v->run - 1, 2);
	value = _mm512_mask_and_epi32(base, many, value, _mm512_set1_epi32(0xffff));
	value = _mm512_mask_mov_epi32(value, _mm512_testn_epi32_mask(value, value),
				      fallback);
	*ret = _mm512_mask_mov_epi32(value, wide, w);
	return wide;
}

/* Sixteen addresses, of which those of @valid count. */
AVX512 static inline __m512i sixteen(const struct fib_view *v, __m512i a,
				     __m512i fallback, __mmask16 valid, uint32_t i,
				     struct rest *rest)
{
	const __m512i count =
		_mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
	__m512i word = _mm512_i32gather_epi32(_mm512_srli_epi32(a, 11), v->word, 4),
		value, at;
	__mmask16 wide = values16(v, a, word, fallback, &value) & valid;

	if (unlikely(wide)) {
		at = _mm512_add_epi32(count, _mm512_set1_epi32((int)i));
		_mm512_storeu_si512(rest->at + rest->n,
				    _mm512_maskz_compress_epi32(wide, at));
		rest->n += (uint32_t)__builtin_popcount(wide);
	}
	return value;
}

/* Whole stores wherever possible: what a masked one wrote cannot be read back at once. */
AVX512 static inline void chunk_avx512(const struct fib_view *v, const uint32_t *addr,
				       uint32_t *nh, uint32_t n)
{
	const struct fib_view local = *v; /* stays in registers */
	uint32_t fallback = run21_default(v), i = 0;
	__m512i none = _mm512_set1_epi32((int)fallback), a;
	struct rest rest;

	rest.n = 0;
	for (; i + 16 <= n; i += 16) {
		a = _mm512_loadu_si512(addr + i);
		_mm512_storeu_si512(nh + i, sixteen(&local, a, none, 0xffff, i, &rest));
	}
	if (i < n) {
		__mmask16 valid = (__mmask16)((1u << (n - i)) - 1);

		a = _mm512_maskz_loadu_epi32(valid, addr + i);
		_mm512_mask_storeu_epi32(nh + i, valid,
					 sixteen(&local, a, none, valid, i, &rest));
	}
	if (unlikely(rest.n))
		finish_wide(v, addr, nh, &rest, fallback);
}

AVX512 static void lookup_avx512(const void *view, const uint32_t *addr, uint32_t *nh,
				 uint32_t n)
{
	for (; n > LOOKUP_CHUNK;
	     n -= LOOKUP_CHUNK, addr += LOOKUP_CHUNK, nh += LOOKUP_CHUNK)
		chunk_avx512(view, addr, nh, LOOKUP_CHUNK);
	chunk_avx512(view, addr, nh, n);
}

#endif

fib_lookup4_fn *const run21_lookup[FIB_SIMD_COUNT] = {
	[FIB_SIMD_SCALAR] = lookup_scalar,
#if defined(__x86_64__)
	[FIB_SIMD_AVX2] = lookup_avx2,
	[FIB_SIMD_AVX512] = lookup_avx512,
#endif
};
