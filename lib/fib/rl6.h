/* fib/rl6.h - IPv6: one word for eight /32
 *
 *   word of a /29, bits 31..8          bits 7..0
 *     first run, in u32                map: bit = a run of /32s begins here; bit 0 set
 *     next hop                         0: the whole /29 has one next hop
 *
 * Runs are u32 values: next hops, or nodes over bits 32..39, which lead to nodes over
 * the next 8 bits and so on (node.h). Words exist for 2000::/3 only: 256 MiB of
 * addresses, of which pages with routes are memory (0.3 MiB of a full Internet table).
 *
 * Elsewhere a word for each /16 leads to nodes from bit 16 on ("side").
 *
 * Routes of 16 bits and less are in a table of their own ("top"), by the first 16 bits,
 * used where the rest has next hop 0: a default route would touch every word else.
 */
#pragma once

#include "node.h"

enum {
	RL6_WORDS = 1 << 26,
	RL6_SIDE = RL6_WORDS, /* first of 65536 */
	RL6_TOP = RL6_SIDE + 65536,
	RL6_END = RL6_TOP + 65536,
	RL6_NEXTHOPS = 1 << 24,
};
