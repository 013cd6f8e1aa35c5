/* fib/run21.h - IPv4: one word for eight /24
 *
 *   word of a /21, bits 31..8          bits 7..0
 *     first run, in u16                map: bit = a run of /24s begins here; bit 0 set
 *     two next hops, 12 bits each      where the second one begins; bit 0 not set
 *     three of them, 8 bits each       the same
 *     0 | next hop                     0: the whole /21 has one next hop
 *     1 | block                        0: wide: a block of eight u32 values
 *
 * Runs are u16 next hops. Where that is too narrow, or some /24 has longer routes, the
 * word is wide: its values are next hops, or nodes over the last 8 bits (node.h).
 *
 * A full Internet table: 8 MiB of words, one of forty of them with a list, and half a MiB
 * of lists.
 *
 * The default route is a word of its own, used where the rest has next hop 0: changing
 * it does not touch two million words.
 */
#pragma once

#include "node.h"

enum {
	RUN21_WORDS = 1 << 21,
	RUN21_DEFAULT = RUN21_WORDS, /* the word after the last */
	RUN21_NEXTHOPS = 1 << 23,
	RUN21_LIST = 1, /* bit of a word: its runs are elsewhere */
	RUN21_TWO =
		12, /* bits of each of two next hops in a word, the first one lowest */
	RUN21_THREE = 8, /* of three */
};

#define RUN21_WIDE  UINT32_C(0x80000000)
#define RUN21_BLOCK (RUN21_WIDE >> 8) /* in a word without its map; no next hop has it */

ALWAYS_INLINE bool run21_is_wide(uint32_t word)
{
	return (word & (RUN21_WIDE | 0xff)) == RUN21_WIDE;
}

/* The run of /24 number @slot of the word: from 1 in a list, from 0 inside the word. */
ALWAYS_INLINE uint32_t run21_rank(uint32_t word, uint32_t slot)
{
	return (uint32_t)__builtin_popcount(word << 24 << (7 - slot));
}
