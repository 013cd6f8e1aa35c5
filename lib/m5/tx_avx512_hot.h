/* m5/tx_avx512_hot.h - rows of segments, four packets or one whole frame at a time
 *
 * HOT. x86-64 only; runs only where m5_tx_has_avx512(). One call a row; what a row is
 * says tx_hot.h.
 */
#pragma once

#include <immintrin.h>
#include <stdbool.h>
#include <string.h>

#include "../base/hot.h"
#include "../prm/wqe.h"
#include "pkt.h"

#define M5_AVX512 \
	__attribute__((noinline, unused, \
		       target("bmi,bmi2,avx512f,avx512bw,avx512dq,avx512vl")))

static inline bool m5_tx_has_avx512(void)
{
	return __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("avx512f") &&
	       __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
	       __builtin_cpu_supports("avx512vl");
}

static_assert(offsetof(struct m5_pkt, data) == 0 && offsetof(struct m5_pkt, len) == 8 &&
		      offsetof(struct m5_pkt, wqe) == 10,
	      "as the shuffles say");

/* Pointers to packets of the WQE that the first is of, @n at most; behind @to there is room for
 * @room segments, and garbage beyond the last is no harm. Return: how many, not 0. */
M5_AVX512 static uint32_t m5_tx_row_avx512(uint8_t *to, uint32_t room, uint32_t lkey,
					   const struct m5_pkt pkt[], uint32_t n)
{
	/* of a packet's bytes: length backwards, nothing where the key goes, address backwards */
	const __m512i order = _mm512_broadcast_i32x4(
		_mm_setr_epi8(-1, -1, 9, 8, -1, -1, -1, -1, 7, 6, 5, 4, 3, 2, 1, 0));
	const __m512i key = _mm512_maskz_set1_epi32(
		0x2222, (int)htobe32(lkey)); /* second word of four */
	const __m512i wqe = _mm512_set1_epi16((short)pkt[0].wqe);
	const __mmask32 wqes = 0x20202020; /* the sixth 16-bit word of each packet */

	for (uint32_t i = 0; i < n; i += 4) {
		/* bzhi looks at the lowest eight bits of its index only */
		uint32_t left = n - i < 4 ? n - i : 4;
		__mmask8 in = (__mmask8)_bzhi_u32(0xff, 2 * left);
		__m512i four = likely(left == 4) ? _mm512_loadu_si512(&pkt[i])
						 : _mm512_maskz_loadu_epi64(in, &pkt[i]);
		uint32_t other = _mm512_mask_cmpneq_epu16_mask(
			(__mmask32)_bzhi_u32(wqes, 8 * left), four, wqe);

		four = _mm512_or_si512(_mm512_shuffle_epi8(four, order), key);
		if (likely(room - i >= 4))
			_mm512_storeu_si512(to + (size_t)i * PRM_DS, four);
		else
			_mm512_mask_storeu_epi64(to + (size_t)i * PRM_DS, in, four);
		if (unlikely(other))
			return i + (uint32_t)__builtin_ctz(other) / 8;
	}
	return n;
}

enum { M5_TX_WIDE_BYTES = PRM_WQEBB - sizeof(struct prm_inline) };

/* Frames of up to 60 bytes, each with its head a store of 64; same rules. @ret_bytes: written. */
M5_AVX512 static uint32_t m5_tx_row_copied_avx512(uint8_t *to, uint32_t room,
						  const struct m5_pkt pkt[], uint32_t n,
						  uint32_t *ret_bytes)
{
	const uint8_t *start = to, *last = to + (size_t)room * PRM_DS - PRM_WQEBB;
	const uint16_t wqe = pkt[0].wqe;
	uint32_t i = 0;

	do {
		uint32_t bytes = pkt[i].len;
		__m512i frame = _mm512_maskz_loadu_epi8(_bzhi_u64(UINT64_MAX, bytes),
							pkt[i].data);
		__m512i head = _mm512_set1_epi32((int)htobe32(PRM_INLINE | bytes));

		_mm512_storeu_si512(to, _mm512_alignr_epi32(frame, head, 15));
		to += (sizeof(struct prm_inline) + bytes + PRM_DS - 1) &
		      ~(size_t)(PRM_DS - 1);
		i++;
	} while (i < n && pkt[i].len <= M5_TX_WIDE_BYTES && pkt[i].wqe == wqe &&
		 to <= last);
	*ret_bytes = (uint32_t)(to - start);
	return i;
}
