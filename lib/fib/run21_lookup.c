/* fib/run21_lookup.c - IPv4: one word for eight /24; lookups
 *
 * HOT. Words, runs, and, rarely, wide blocks and nodes. Until the last step a wide word
 * is in the place of its address's next hop, without its map: RUN21_BLOCK and the block.
 */

#include "run21.h"

#include "lookup.h"

ALWAYS_INLINE uint32_t run21_default(const struct fib_view *v)
{
	return WORD_LOAD((const uint32_t *)v->word + RUN21_DEFAULT);
}

/* Blocks, then nodes: each of them for the whole chunk. */
ALWAYS_INLINE void finish_wide(const struct fib_view *v, const uint32_t *addr,
			       uint32_t *nh, uint32_t n, uint32_t fallback)
{
	uint32_t at[LOOKUP_CHUNK], left = 0;
	const uint32_t *wide = v->wide;

	for (uint32_t i = 0; i < n; i++) {
		at[left] = i;
		left += nh[i] / RUN21_BLOCK;
	}
	for (uint32_t k = 0; k < left; k++) {
		uint32_t i = at[k], block = nh[i] & ~RUN21_BLOCK;

		nh[i] = wide[block * 8 + (addr[i] >> 8 & 7)];
		node_prefetch(v->node, nh[i]);
	}
	for (uint32_t k = 0; k < left; k++) {
		uint32_t i = at[k];

		if (nh[i] & VALUE_NODE)
			nh[i] = node_slot(v->node, nh[i], addr[i] & 0xff);
		nh[i] = nh[i] ? nh[i] : fallback;
	}
}

/* ---- one at a time ---- */

#define ONES(name) ((1 << RUN21_##name) - 1)

/* Where a next hop is inside a word: by four times the bits set in its map, and the run. */
static const int inside_shift[16] = {
	[4] = 0, RUN21_TWO, [8] = 0, RUN21_THREE, 2 * RUN21_THREE,
};
static const int inside_mask[16] = {
	[0] = -1, [4] = ONES(TWO), ONES(TWO), [8] = ONES(THREE), ONES(THREE), ONES(THREE),
};

/* The first run of the word, or 0, which can be read, too. */
ALWAYS_INLINE uint32_t run21_first(uint32_t word)
{
	return word >> 8 & -(word & RUN21_LIST);
}

/* Without a branch: no processor can foretell what kind a word is. */
ALWAYS_INLINE uint32_t run21_value(const uint16_t *run, uint32_t word, uint32_t slot)
{
	uint32_t rank = run21_rank(word, slot), list = -(word & RUN21_LIST);
	uint32_t map = word & 0xff, set = (map != 0) + ((map & (map - 1)) != 0);
	uint32_t kind = (set * 4 + rank) & 15; /* no more than two bits are set inside */
	uint32_t listed = run[run21_first(word) + ((rank - 1) & list)];

	return (listed & list) |
	       (word >> 8 >> inside_shift[kind] & (uint32_t)inside_mask[kind] & ~list);
}

ALWAYS_INLINE void chunk_scalar(const struct fib_view *v, const uint32_t *addr,
				uint32_t *nh, uint32_t n)
{
	const uint32_t *word = v->word;
	const uint16_t *run = v->run;
	uint32_t fallback = run21_default(v), any = 0;

	for (uint32_t i = 0; i < n; i++)
		__builtin_prefetch(&word[addr[i] >> 11]);
	for (uint32_t i = 0; i < n; i++) {
		nh[i] = WORD_LOAD(&word[addr[i] >> 11]);
		__builtin_prefetch(&run[run21_first(nh[i])]);
	}
	for (uint32_t i = 0; i < n; i++) {
		nh[i] = run21_value(run, nh[i], addr[i] >> 8 & 7);
		nh[i] = nh[i] ? nh[i] : fallback;
		any |= nh[i];
	}
	if (unlikely(any & RUN21_BLOCK))
		finish_wide(v, addr, nh, n, fallback);
}

static void lookup_scalar(const void *view, const uint32_t *addr, uint32_t *nh,
			  uint32_t n)
{
	for (uint32_t i = 0; i < n; i += LOOKUP_CHUNK)
		chunk_scalar(view, addr + i, nh + i,
			     n - i < LOOKUP_CHUNK ? n - i : LOOKUP_CHUNK);
}

#if defined(__x86_64__)

#include "avx512_hot.h"

/* ---- eight at a time ---- */

#define AVX2 __attribute__((target("avx2,popcnt,bmi,bmi2")))

AVX2 static inline __m256i load8(const uint32_t *p)
{
	return _mm256_loadu_si256((const __m256i *)(const void *)p);
}

AVX2 static inline void store8(uint32_t *p, __m256i value)
{
	_mm256_storeu_si256((__m256i *)(void *)p, value);
}

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

/* By the number of bits set in a map: shift a run, mask. */
AVX2 static inline __m256i inside8(__m256i w, __m256i set, __m256i rank)
{
	const __m256i width = _mm256_setr_epi32(0, RUN21_TWO, RUN21_THREE, 0, 0, 0, 0, 0);
	const __m256i mask = _mm256_setr_epi32(-1, ONES(TWO), ONES(THREE), 0, 0, 0, 0, 0);
	__m256i shift = _mm256_madd_epi16(_mm256_permutevar8x32_epi32(width, set), rank);

	return _mm256_and_si256(_mm256_srlv_epi32(_mm256_srli_epi32(w, 8), shift),
				_mm256_permutevar8x32_epi32(mask, set));
}

AVX2 static inline __m256i value8(const struct fib_view *v, __m256i a, __m256i w,
				  __m256i fallback)
{
	const __m256i byte = _mm256_set1_epi32(0xff), zero = _mm256_setzero_si256();
	__m256i slot = _mm256_and_si256(_mm256_srli_epi32(a, 8), _mm256_set1_epi32(7));
	__m256i map = _mm256_and_si256(w, byte), rank, value;
	__m256i list = _mm256_srai_epi32(_mm256_slli_epi32(w, 31), 31);

	rank = _mm256_sllv_epi32(map, _mm256_sub_epi32(_mm256_set1_epi32(7), slot));
	rank = popcount8(_mm256_and_si256(rank, byte));
	value = _mm256_mask_i32gather_epi32(
		zero, (const int *)((const uint16_t *)v->run - 1),
		_mm256_add_epi32(_mm256_srli_epi32(w, 8), rank), list, 2);
	value = _mm256_and_si256(value, _mm256_set1_epi32(0xffff));
	value = _mm256_blendv_epi8(inside8(w, popcount8(map), rank), value, list);
	return _mm256_blendv_epi8(value, fallback, _mm256_cmpeq_epi32(value, zero));
}

/* @n is a multiple of 8. */
AVX2 static inline void chunk_avx2(const struct fib_view *v, const uint32_t *addr,
				   uint32_t *nh, uint32_t n)
{
	const __m256i block = _mm256_set1_epi32(RUN21_BLOCK);
	const struct fib_view local = *v; /* stays in registers */
	uint32_t fallback = run21_default(v);
	__m256i any = _mm256_setzero_si256();

	for (uint32_t i = 0; i < n; i += 8) {
		__m256i at = _mm256_srli_epi32(load8(addr + i), 11);

		store8(nh + i, _mm256_i32gather_epi32(local.word, at, 4));
	}
	for (uint32_t i = 0; i < n; i += 8) {
		__m256i value = value8(&local, load8(addr + i), load8(nh + i),
				       _mm256_set1_epi32((int)fallback));

		store8(nh + i, value);
		any = _mm256_or_si256(any, value);
	}
	if (unlikely(!_mm256_testz_si256(any, block)))
		finish_wide(&local, addr, nh, n, fallback);
}

AVX2 static void lookup_avx2(const void *view, const uint32_t *addr, uint32_t *nh,
			     uint32_t n)
{
	uint32_t whole = n & ~7u;

	for (uint32_t i = 0; i < whole; i += LOOKUP_CHUNK)
		chunk_avx2(view, addr + i, nh + i,
			   whole - i < LOOKUP_CHUNK ? whole - i : LOOKUP_CHUNK);
	if (n > whole)
		chunk_scalar(view, addr + whole, nh + whole, n - whole);
}

/* ---- sixteen at a time ---- */

AVX512 static inline __m512i or_fallback(__m512i value, __m512i fallback)
{
	return _mm512_mask_mov_epi32(value, _mm512_testn_epi32_mask(value, value),
				     fallback);
}

/* @set: bits of the maps of words; 0 .. 2 of those that are looked at. */
AVX512 static inline __m512i inside16(__m512i w, __m512i set, __m512i rank)
{
	const __m512i shift = _mm512_loadu_si512(inside_shift);
	const __m512i mask = _mm512_loadu_si512(inside_mask);
	__m512i kind = _mm512_add_epi32(_mm512_slli_epi32(set, 2), rank);

	return _mm512_and_si512(_mm512_srlv_epi32(_mm512_srli_epi32(w, 8),
						  _mm512_permutexvar_epi32(kind, shift)),
				_mm512_permutexvar_epi32(kind, mask));
}

AVX512 static inline __m512i value16(const struct fib_view *v, __m512i a, __m512i w)
{
	__m512i slot = _mm512_andnot_si512(_mm512_srli_epi32(a, 8), _mm512_set1_epi32(7));
	__mmask16 list = _mm512_test_epi32_mask(w, _mm512_set1_epi32(RUN21_LIST));
	__m512i map = _mm512_slli_epi32(w, 24), rank, value;

	rank = _mm512_popcnt_epi32(_mm512_sllv_epi32(map, slot));
	value = _mm512_mask_i32gather_epi32(
		inside16(w, _mm512_popcnt_epi32(map), rank), list,
		_mm512_add_epi32(_mm512_srli_epi32(w, 8), rank),
		(const uint16_t *)v->run - 1, 2);
	return _mm512_mask_and_epi32(value, list, value, _mm512_set1_epi32(0xffff));
}

/* finish_wide() */
AVX512 static inline void finish_avx512(const struct fib_view *v, const uint32_t *addr,
					uint32_t *nh, uint32_t n, __m512i fallback)
{
	const __m512i block = _mm512_set1_epi32(RUN21_BLOCK);
	__m512i value[LOOKUP_CHUNK / 16];

	for (uint32_t i = 0; i < n; i += 16) {
		__m512i slot = _mm512_srli_epi32(load16(addr + i, n - i), 8);
		__m512i is = load16(nh + i, n - i), at;
		__mmask16 wide = _mm512_test_epi32_mask(is, block);

		slot = _mm512_and_si512(slot, _mm512_set1_epi32(7));
		at = _mm512_slli_epi32(_mm512_andnot_si512(block, is), 3);
		at = _mm512_add_epi32(at, slot);
		value[i / 16] = _mm512_mask_i32gather_epi32(is, wide, at, v->wide, 4);
	}
	for (uint32_t i = 0; i < n; i += 16) {
		__m512i slot =
			_mm512_and_si512(load16(addr + i, n - i), _mm512_set1_epi32(255));

		store16(nh + i, n - i,
			or_fallback(node16(v->node, value[i / 16], slot), fallback));
	}
}

/* All words before the first run, and nothing stored between: a load waits for an older
 * store whose address is the same in its lowest 12 bits. */
ALWAYS_INLINE AVX512 void chunk_avx512(const struct fib_view *v, const uint32_t *addr,
				       uint32_t *nh, uint32_t n)
{
	const __m512i block = _mm512_set1_epi32(RUN21_BLOCK);
	const __m512i fallback = _mm512_set1_epi32((int)run21_default(v));
	const struct fib_view local = *v; /* stays in registers */
	__m512i value[LOOKUP_CHUNK / 16], any = _mm512_setzero_si512();

	UNROLL_CHUNK
	for (uint32_t i = 0; i < n; i += 16) {
		__m512i a = load16(addr + i, n - i);

		value[i / 16] =
			gather16(lanes(n - i), _mm512_srli_epi32(a, 11), local.word, 4);
	}
	UNROLL_CHUNK
	for (uint32_t i = 0; i < n; i += 16) {
		__m512i a = load16(addr + i, n - i);

		value[i / 16] = or_fallback(value16(&local, a, value[i / 16]), fallback);
		any = _mm512_or_si512(any, value[i / 16]);
	}
	UNROLL_CHUNK
	for (uint32_t i = 0; i < n; i += 16)
		store16(nh + i, n - i, value[i / 16]);
	if (unlikely(_mm512_test_epi32_mask(any, block)))
		finish_avx512(&local, addr, nh, n, fallback);
}

AVX512 static void lookup_avx512(const void *view, const uint32_t *addr, uint32_t *nh,
				 uint32_t n)
{
	uint32_t i = 0;

	for (; i + LOOKUP_CHUNK <= n; i += LOOKUP_CHUNK)
		chunk_avx512(view, addr + i, nh + i, LOOKUP_CHUNK);
	if (i < n)
		chunk_avx512(view, addr + i, nh + i, n - i);
}

#endif

fib_lookup4_fn *const run21_lookup[FIB_SIMD_COUNT] = {
	[FIB_SIMD_SCALAR] = lookup_scalar,
#if defined(__x86_64__)
	[FIB_SIMD_AVX2] = lookup_avx2,
	[FIB_SIMD_AVX512] = lookup_avx512,
#endif
};
