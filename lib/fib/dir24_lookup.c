/* fib/dir24_lookup.c - IPv4: one word of 16 bits for each /24; lookups
 *
 * HOT.
 */

#include "dir24.h"

#include "lookup.h"
#include "node_hot.h"

ALWAYS_INLINE uint32_t one(const struct fib_view *v, uint32_t addr, uint32_t fallback)
{
	const uint16_t *word = v->word, *page = v->wide;
	uint32_t value = WORD_LOAD(&word[addr >> 8]);

	if (unlikely(value & DIR24_PAGE))
		value = page[(value & ~(uint32_t)DIR24_PAGE) << 8 | (addr & 0xff)];
	return value ? value : fallback;
}

static void lookup_scalar(const void *view, const uint32_t *addr, uint32_t *nh,
			  uint32_t n)
{
	const struct fib_view *v = view;
	const uint16_t *word = v->word;
	uint32_t fallback = WORD_LOAD(&word[DIR24_DEFAULT]);

	for (uint32_t i = 0; i < n; i++)
		nh[i] = one(v, addr[i], fallback);
}

#if defined(__x86_64__)

#include "avx512_hot.h"

/* ---- eight at a time ---- */

#define AVX2 __attribute__((target("avx2,popcnt,bmi,bmi2")))

AVX2 static inline __m256i lookup8(const struct fib_view *v, __m256i a, __m256i fallback)
{
	const __m256i low = _mm256_set1_epi32(0xffff),
		      flag = _mm256_set1_epi32(DIR24_PAGE);
	__m256i value, deep, at;

	value = _mm256_and_si256(low, _mm256_i32gather_epi32(v->word,
							     _mm256_srli_epi32(a, 8), 2));
	deep = _mm256_cmpeq_epi32(_mm256_and_si256(value, flag), flag);
	if (unlikely(!_mm256_testz_si256(deep, deep))) {
		at = _mm256_or_si256(_mm256_slli_epi32(_mm256_andnot_si256(flag, value),
						       8),
				     _mm256_and_si256(a, _mm256_set1_epi32(0xff)));
		at = _mm256_mask_i32gather_epi32(value, v->wide, at, deep, 2);
		value = _mm256_blendv_epi8(value, _mm256_and_si256(at, low), deep);
	}
	return _mm256_blendv_epi8(value, fallback,
				  _mm256_cmpeq_epi32(value, _mm256_setzero_si256()));
}

AVX2 static void lookup_avx2(const void *view, const uint32_t *addr, uint32_t *nh,
			     uint32_t n)
{
	const struct fib_view *v = view;
	uint32_t fallback = WORD_LOAD((const uint16_t *)v->word + DIR24_DEFAULT), i = 0;

	for (; i + 8 <= n; i += 8) {
		__m256i a = _mm256_loadu_si256((const __m256i *)(const void *)(addr + i));

		_mm256_storeu_si256((__m256i *)(void *)(nh + i),
				    lookup8(v, a, _mm256_set1_epi32((int)fallback)));
	}
	for (; i < n; i++)
		nh[i] = one(v, addr[i], fallback);
}

/* ---- sixteen at a time ---- */

AVX512 static inline __m512i lookup16(const struct fib_view *v, __m512i a,
				      __m512i fallback, uint32_t left)
{
	const __m512i low = _mm512_set1_epi32(0xffff),
		      flag = _mm512_set1_epi32(DIR24_PAGE);
	__m512i value = gather16(lanes(left), _mm512_srli_epi32(a, 8), v->word, 2), at;
	__mmask16 deep;

	value = _mm512_and_si512(low, value);
	deep = _mm512_test_epi32_mask(value, flag);
	if (unlikely(deep)) {
		at = _mm512_or_si512(_mm512_slli_epi32(_mm512_andnot_si512(flag, value),
						       8),
				     _mm512_and_si512(a, _mm512_set1_epi32(0xff)));
		at = _mm512_mask_i32gather_epi32(value, deep, at, v->wide, 2);
		value = _mm512_mask_and_epi32(value, deep, at, low);
	}
	return _mm512_mask_mov_epi32(value, _mm512_testn_epi32_mask(value, value),
				     fallback);
}

AVX512 static void lookup_avx512(const void *view, const uint32_t *addr, uint32_t *nh,
				 uint32_t n)
{
	const struct fib_view local =
		*(const struct fib_view *)view; /* stays in registers */
	uint32_t fallback = WORD_LOAD((const uint16_t *)local.word + DIR24_DEFAULT);

	for (uint32_t i = 0; i < n; i += 16) {
		__m512i a = load16(addr + i, n - i);

		store16(nh + i, n - i,
			lookup16(&local, a, _mm512_set1_epi32((int)fallback), n - i));
	}
}

#endif

fib_lookup4_fn *const dir24_lookup[FIB_SIMD_COUNT] = {
	[FIB_SIMD_SCALAR] = lookup_scalar,
#if defined(__x86_64__)
	[FIB_SIMD_AVX2] = lookup_avx2,
	[FIB_SIMD_AVX512] = lookup_avx512,
#endif
};
