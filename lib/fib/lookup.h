/* fib/lookup.h - bursts of addresses to bursts of next hops: every layout, every CPU
 *
 * For each layout there is one function a level of vector instructions; all of them
 * give the same results. The level is chosen once, when a fib is made.
 */
#pragma once

#include "fib.h"

/* What lookups need of a table, side by side. */
struct fib_view {
	const void *word; /* where an address starts */
	const void *run, *wide, *node;
};

typedef void fib_lookup4_fn(const void *view, const uint32_t *addr, uint32_t *nh,
			    uint32_t n);
typedef void fib_lookup6_fn(const void *view, const uint8_t (*addr)[16], uint32_t *nh,
			    uint32_t n);

/* By enum fib_simd; NULL where this build has none. */
extern fib_lookup4_fn *const run21_lookup[FIB_SIMD_COUNT],
	*const dir24_lookup[FIB_SIMD_COUNT];
extern fib_lookup6_fn *const rl6_lookup[FIB_SIMD_COUNT];

/* Does this machine have the instructions? */
bool fib_simd_works(enum fib_simd simd);
enum fib_simd fib_simd_best(void);
