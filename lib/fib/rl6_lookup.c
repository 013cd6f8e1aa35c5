/* fib/rl6_lookup.c - IPv6: one word for eight /32; lookups
 *
 * HOT. A chunk of addresses goes through steps, each of which touches one kind of memory
 * for all of them: words, runs, then nodes, 8 bits of the address a step. The addresses
 * that have not arrived yet are kept in a list without gaps, so that no step has a
 * branch that depends on the data.
 */

#include "rl6.h"

#include "lookup.h"

struct list {
	uint32_t n;
	uint32_t at[LOOKUP_CHUNK +
		    16]; /* index in the chunk; vector stores go past the end */
};

struct chunk {
	const struct fib_view *v;
	const uint8_t (*addr)[16];
	uint32_t *nh;	  /* values so far */
	struct list list; /* of addresses that are at a node */
	struct list side; /* of those outside 2000::/3 */
};

ALWAYS_INLINE uint32_t first16(const uint8_t addr[16])
{
	return (uint32_t)addr[0] << 8 | addr[1];
}

ALWAYS_INLINE uint32_t first32(const uint8_t addr[16])
{
	uint32_t w;

	__builtin_memcpy(&w, addr, sizeof(w));
	return __builtin_bswap32(w);
}

/* The value of address @i; the address stays in the list if that is a node. */
ALWAYS_INLINE void arrive(const struct chunk *c, struct list *list, uint32_t i,
			  uint32_t value)
{
	c->nh[i] = value;
	node_prefetch(c->v->node, value);
	list->at[list->n] = i;
	list->n += value / VALUE_NODE;
}

ALWAYS_INLINE void step(const struct chunk *c, struct list *list, unsigned byte)
{
	uint32_t n = list->n;

	list->n = 0;
	for (uint32_t k = 0; k < n; k++) {
		uint32_t i = list->at[k];

		arrive(c, list, i, node_slot(c->v->node, c->nh[i], c->addr[i][byte]));
	}
}

/* Addresses outside 2000::/3: nodes from bit 16 on; what is left joins the others at bit 32. */
ALWAYS_INLINE void step_side(struct chunk *c)
{
	const uint32_t *word = c->v->word;
	uint32_t n = c->side.n;

	c->side.n = 0;
	for (uint32_t k = 0; k < n; k++) {
		uint32_t i = c->side.at[k];

		arrive(c, &c->side, i, WORD_LOAD(&word[RL6_SIDE + first16(c->addr[i])]));
	}
	step(c, &c->side, 2);
	step(c, &c->side, 3);
	for (uint32_t k = 0; k < c->side.n; k++)
		c->list.at[c->list.n++] = c->side.at[k];
}

ALWAYS_INLINE void step_nodes(struct chunk *c, unsigned byte)
{
	for (; c->list.n; byte++)
		step(c, &c->list, byte);
}

/* ---- one at a time ---- */

ALWAYS_INLINE void top_scalar(const struct chunk *c, uint32_t n)
{
	const uint32_t *word = c->v->word;

	for (uint32_t i = 0; i < n; i++)
		if (unlikely(!c->nh[i]))
			c->nh[i] = WORD_LOAD(&word[RL6_TOP + first16(c->addr[i])]);
}

ALWAYS_INLINE void chunk_scalar(const struct fib_view *v, const uint8_t (*addr)[16],
				uint32_t *nh, uint32_t n)
{
	const uint32_t *word = v->word, *run = v->run;
	struct chunk c;

	c.v = v;
	c.addr = addr;
	c.nh = nh;
	c.list.n = c.side.n = 0;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t top = first32(addr[i]);

		nh[i] = WORD_LOAD(&word[top >> 29 == 1 ? top << 3 >> 6 : 0]);
		__builtin_prefetch(&run[nh[i] & 0xff ? nh[i] >> 8 : 0]);
	}
	for (uint32_t i = 0; i < n; i++) {
		uint32_t top = first32(addr[i]), w = nh[i];
		uint32_t rank = (uint32_t)__builtin_popcount(w << 24 << (7 - (top & 7)));
		uint32_t value = run[rank ? (w >> 8) + rank - 1 : 0];

		c.side.at[c.side.n] = i;
		c.side.n += top >> 29 != 1;
		value = rank ? value : w >> 8;
		arrive(&c, &c.list, i, top >> 29 == 1 ? value : 0);
	}
	if (unlikely(c.side.n))
		step_side(&c);
	step_nodes(&c, 4);
	top_scalar(&c, n);
}

static void lookup_scalar(const void *view, const uint8_t (*addr)[16], uint32_t *nh,
			  uint32_t n)
{
	for (; n > LOOKUP_CHUNK;
	     n -= LOOKUP_CHUNK, addr += LOOKUP_CHUNK, nh += LOOKUP_CHUNK)
		chunk_scalar(view, addr, nh, LOOKUP_CHUNK);
	chunk_scalar(view, addr, nh, n);
}

#if defined(__x86_64__)

#include "avx512_hot.h"

/* ---- the same with the instructions of 2013 ---- */

#define AVX2 __attribute__((target("avx2,popcnt,bmi,bmi2")))

/* Nodes cost more than words and runs, and are not for vectors: what helps is popcnt. */
AVX2 static void lookup_avx2(const void *view, const uint8_t (*addr)[16], uint32_t *nh,
			     uint32_t n)
{
	for (; n > LOOKUP_CHUNK;
	     n -= LOOKUP_CHUNK, addr += LOOKUP_CHUNK, nh += LOOKUP_CHUNK)
		chunk_scalar(view, addr, nh, LOOKUP_CHUNK);
	chunk_scalar(view, addr, nh, n);
}

/* ---- sixteen at a time ---- */

/* Bits 32 * @word .. of sixteen addresses, in host order. */
AVX512 static inline __m512i load_word(const uint8_t (*addr)[16], int word)
{
	const __m512i each =
		_mm512_setr_epi32(0, 4, 8, 12, 16, 20, 24, 28, 0, 0, 0, 0, 0, 0, 0, 0);
	const __m512i swap =
		_mm512_set4_epi32(0x0c0d0e0f, 0x08090a0b, 0x04050607, 0x00010203);
	__m512i pick = _mm512_add_epi32(each, _mm512_set1_epi32(word));
	__m512i a = _mm512_permutex2var_epi32(_mm512_loadu_si512(addr), pick,
					      _mm512_loadu_si512(addr + 4));
	__m512i b = _mm512_permutex2var_epi32(_mm512_loadu_si512(addr + 8), pick,
					      _mm512_loadu_si512(addr + 12));

	return _mm512_shuffle_epi8(_mm512_shuffle_i64x2(a, b, 0x44), swap);
}

AVX512 static inline __mmask16 is_inside(__m512i top)
{
	return _mm512_cmpeq_epi32_mask(_mm512_srli_epi32(top, 29), _mm512_set1_epi32(1));
}

AVX512 static inline __m512i word16(const struct fib_view *v, __m512i top,
				    __mmask16 inside)
{
	__m512i at = _mm512_srli_epi32(_mm512_slli_epi32(top, 3), 6);

	return gather16(inside, at, v->word, 4);
}

AVX512 static inline __m512i run16(const struct fib_view *v, __m512i top, __m512i word)
{
	__m512i slot = _mm512_andnot_si512(top, _mm512_set1_epi32(7));
	__m512i base = _mm512_srli_epi32(word, 8), rank;
	__mmask16 many = _mm512_test_epi32_mask(word, _mm512_set1_epi32(0xff));

	rank = _mm512_popcnt_epi32(_mm512_sllv_epi32(_mm512_slli_epi32(word, 24), slot));
	return _mm512_mask_i32gather_epi32(base, many, _mm512_add_epi32(base, rank),
					   (const uint32_t *)v->run - 1, 4);
}

AVX512 static inline void top_avx512(const struct chunk *c, uint32_t n)
{
	const uint32_t *word = c->v->word;

	for (uint32_t i = 0; i < n; i += 16) {
		__m512i value = _mm512_maskz_loadu_epi32(lanes(n - i), c->nh + i);
		uint32_t none = _mm512_testn_epi32_mask(value, value) & lanes(n - i);

		for (; unlikely(none); none &= none - 1) {
			uint32_t at = i + (uint32_t)__builtin_ctz(none);

			c->nh[at] = WORD_LOAD(&word[RL6_TOP + first16(c->addr[at])]);
		}
	}
}

AVX512 static inline void append(struct list *list, __mmask16 which, uint32_t i)
{
	const __m512i count =
		_mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
	__m512i at = _mm512_add_epi32(count, _mm512_set1_epi32((int)i));

	_mm512_storeu_si512(list->at + list->n, _mm512_maskz_compress_epi32(which, at));
	list->n += (uint32_t)__builtin_popcount(which);
}

/* Those that are outside of 2000::/3, and those at nodes past bit 64: one by one. */
AVX512 COLD static void rest_avx512(struct chunk *c, uint32_t n)
{
	c->list.n = c->side.n = 0;
	for (uint32_t i = 0; i < n; i += 16) {
		__mmask16 outside = (__mmask16)~is_inside(load_word(c->addr + i, 0));

		append(&c->side, outside, i);
		append(&c->list, _mm512_movepi32_mask(_mm512_loadu_si512(c->nh + i)), i);
	}
	step_nodes(c, 8);
	if (c->side.n) {
		step_side(c);
		step_nodes(c, 4);
	}
}

/* Nodes over bits 32 .. 63. Return: is any address at a node still? */
ALWAYS_INLINE AVX512 bool nodes_avx512(const struct chunk *c, __m512i value[], uint32_t n)
{
	__m512i tail[LOOKUP_CHUNK / 16];
	uint32_t any = 1;

	UNROLL_CHUNK
	for (uint32_t i = 0; i < n; i += 16)
		tail[i / 16] = load_word(c->addr + i, 1);
	for (unsigned byte = 0; byte < 4 && any; byte++) {
		any = 0;
		UNROLL_CHUNK
		for (uint32_t i = 0; i < n; i += 16) {
			value[i / 16] = node16(c->v->node, value[i / 16],
					       _mm512_srli_epi32(tail[i / 16], 24));
			tail[i / 16] = _mm512_slli_epi32(tail[i / 16], 8);
			any |= _mm512_movepi32_mask(value[i / 16]);
		}
	}
	return any;
}

/* @n is a multiple of 16. Between the first word and the last node nothing is stored: a
 * load waits for an older store whose address is the same in its lowest 12 bits. */
ALWAYS_INLINE AVX512 void chunk_avx512(const struct fib_view *v,
				       const uint8_t (*addr)[16], uint32_t *nh,
				       uint32_t n)
{
	const struct fib_view local = *v; /* stays in registers */
	__m512i value[LOOKUP_CHUNK / 16], top[LOOKUP_CHUNK / 16];
	__mmask16 inside[LOOKUP_CHUNK / 16];
	uint32_t outside = 0;
	struct chunk c;
	bool more;

	c.v = &local;
	c.addr = addr;
	c.nh = nh;
	UNROLL_CHUNK
	for (uint32_t i = 0; i < n; i += 16) {
		top[i / 16] = load_word(addr + i, 0);
		inside[i / 16] = is_inside(top[i / 16]);
		outside |= (uint16_t)~inside[i / 16];
		value[i / 16] = word16(&local, top[i / 16], inside[i / 16]);
	}
	UNROLL_CHUNK
	for (uint32_t i = 0; i < n; i += 16)
		value[i / 16] = run16(&local, top[i / 16], value[i / 16]);
	more = nodes_avx512(&c, value, n);
	UNROLL_CHUNK
	for (uint32_t i = 0; i < n; i += 16)
		_mm512_storeu_si512(nh + i, value[i / 16]);
	if (unlikely(more || outside))
		rest_avx512(&c, n);
	top_avx512(&c, n);
}

AVX512 static void lookup_avx512(const void *view, const uint8_t (*addr)[16],
				 uint32_t *nh, uint32_t n)
{
	uint32_t i = 0, whole = n & ~15u;

	for (; i + LOOKUP_CHUNK <= n; i += LOOKUP_CHUNK)
		chunk_avx512(view, addr + i, nh + i, LOOKUP_CHUNK);
	if (i < whole)
		chunk_avx512(view, addr + i, nh + i, whole - i);
	if (whole < n)
		chunk_scalar(view, addr + whole, nh + whole, n - whole);
}

#endif

fib_lookup6_fn *const rl6_lookup[FIB_SIMD_COUNT] = {
	[FIB_SIMD_SCALAR] = lookup_scalar,
#if defined(__x86_64__)
	[FIB_SIMD_AVX2] = lookup_avx2,
	[FIB_SIMD_AVX512] = lookup_avx512,
#endif
};
