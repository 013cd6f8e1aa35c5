/* fib/buckets.h - how many buckets each leg of a group has, and which
 *
 * A flow's hash picks a bucket, and what is in the bucket is the leg. A change of legs or
 * weights moves as few buckets as the new shares allow, so all other flows stay.
 *
 * Shares are by the method of Sainte-Lague: the next bucket goes to the leg with the largest
 * weight / (2 x buckets it has + 1), and the first one of each goes before all others. They
 * depend on the weights alone, not on history, and a method of this kind (Balinski and Young,
 * "Fair Representation", 1982) gives nobody less when another leg goes, and nobody but the
 * new one more when a leg comes: removing a leg moves its own flows only.
 *
 * Pure functions; legs are sorted by next hop, none twice.
 */
#pragma once

#include "fib.h"

/* Buckets for these legs that keep what rounding does to a share small: a power of two. */
uint32_t buckets_default(const struct fib_leg *leg, uint32_t n);
/* @buckets is no less than the legs with a weight. share[i]: of leg i; all 0 without weights. */
void buckets_share(const struct fib_leg *leg, uint32_t n, uint32_t buckets,
		   uint32_t *share);
/* Makes bucket[] have the shares; what it holds at first stays where it can. @share is used up. */
void buckets_fill(uint32_t *bucket, uint32_t buckets, const struct fib_leg *leg,
		  uint32_t n, uint32_t *share);
