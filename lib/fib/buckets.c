/* fib/buckets.c - how many buckets each leg of a group has, and which */

#include "buckets.h"

#include <string.h>

#include "../base/bits.h"

enum {
	LEAST = 64,
	MOST = 4096, /* without being asked */
	FINE = 32,   /* buckets for the smallest share: rounding is 1/64 of it */
};

static uint64_t sum_of(const struct fib_leg *leg, uint32_t n)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < n; i++)
		sum += leg[i].weight;
	return sum;
}

static uint32_t common_divisor(const struct fib_leg *leg, uint32_t n)
{
	uint32_t a = 0;

	for (uint32_t i = 0; i < n; i++)
		for (uint32_t b = leg[i].weight, rest; b; b = rest) {
			rest = a % b;
			a = b;
		}
	return a;
}

uint32_t buckets_default(const struct fib_leg *leg, uint32_t n)
{
	uint32_t divisor = common_divisor(leg, n);
	uint64_t wanted = divisor ? sum_of(leg, n) / divisor * FINE : 0;

	if (wanted < LEAST)
		wanted = LEAST;
	return wanted > MOST ? MOST : UINT32_C(1) << log2_ceil(wanted);
}

/* ---- shares ---- */

/* Has @a more of a claim than @b to one bucket more? Both have one already. */
static bool claims(const struct fib_leg *leg, const uint32_t *share, uint32_t a,
		   uint32_t b)
{
	return (uint64_t)leg[a].weight * (2 * (uint64_t)share[b] + 1) >
	       (uint64_t)leg[b].weight * (2 * (uint64_t)share[a] + 1);
}

static uint32_t next_claim(const struct fib_leg *leg, uint32_t n, const uint32_t *share)
{
	uint32_t best = 0;

	for (uint32_t i = 1; i < n; i++)
		if (claims(leg, share, i, best))
			best = i;
	return best;
}

/* The start is what each leg has in any case, so that few buckets are left for one by one. Let w be
 * its weight, W that of all n legs, B the buckets. At the end there is a divisor d so that each
 * leg has at most w/d + 1, so B <= W/d + n, and at least w/d - 1/2 >= w (B - n) / W - 1/2; being
 * an integer, at least the floor of w (B - n) / W. */
void buckets_share(const struct fib_leg *leg, uint32_t n, uint32_t buckets,
		   uint32_t *share)
{
	uint64_t sum = sum_of(leg, n);
	uint32_t left = buckets, live = 0;

	memset(share, 0, n * sizeof(share[0]));
	if (!sum)
		return;
	for (uint32_t i = 0; i < n; i++)
		live += leg[i].weight != 0;
	for (uint32_t i = 0; i < n; i++) {
		if (!leg[i].weight)
			continue;
		share[i] = (uint32_t)(leg[i].weight * (uint64_t)(buckets - live) / sum);
		share[i] += !share[i];
		left -= share[i];
	}
	for (; left; left--)
		share[next_claim(leg, n, share)]++;
}

/* ---- places ---- */

/* Where @nh is, or @n. */
static uint32_t find_leg(const struct fib_leg *leg, uint32_t n, uint32_t nh)
{
	uint32_t from = 0, to = n;

	while (from < to) {
		uint32_t middle = (from + to) / 2;

		if (leg[middle].nh < nh)
			from = middle + 1;
		else
			to = middle;
	}
	return from < n && leg[from].nh == nh ? from : n;
}

void buckets_fill(uint32_t *bucket, uint32_t buckets, const struct fib_leg *leg,
		  uint32_t n, uint32_t *share)
{
	uint32_t to = 0;

	for (uint32_t b = 0; b < buckets; b++) {
		uint32_t i = find_leg(leg, n, bucket[b]);

		if (i < n && share[i])
			share[i]--;
		else
			bucket[b] = 0;
	}
	for (uint32_t b = 0; b < buckets; b++) {
		if (bucket[b])
			continue;
		while (to < n && !share[to])
			to++;
		if (to == n) /* no leg has a weight */
			return;
		bucket[b] = leg[to].nh;
		share[to]--;
	}
}
