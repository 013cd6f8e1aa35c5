/* fib/dir24.h - IPv4: one word of 16 bits for each /24
 *
 *   bit 15 = 0   next hop
 *            1   number of a page: 256 next hops of 16 bits, for longer routes
 *
 * 32 MiB. The least work a lookup, where the cache holds that much. The default route is
 * a word of its own, as in run21.h.
 */
#pragma once

#include "window.h"

enum {
	DIR24_WORDS = 1 << 24,
	DIR24_DEFAULT = DIR24_WORDS, /* the word after the last */
	DIR24_PAGE = 0x8000,
	DIR24_SLOTS = 256,
};
