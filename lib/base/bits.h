/* base/bits.h - powers of two, masks, alignment */
#pragma once

#include <stdbool.h>
#include <stdint.h>

static inline bool is_pow2(uint64_t v)
{
	return v && !(v & (v - 1));
}

/* Smallest n with (1 << n) >= v; 0 for v <= 1. */
static inline unsigned log2_ceil(uint64_t v)
{
	return v <= 1 ? 0 : 64 - (unsigned)__builtin_clzll(v - 1);
}

static inline uint64_t align_up(uint64_t v, uint64_t pow2)
{
	return (v + pow2 - 1) & ~(pow2 - 1);
}

/* The n highest bits of 32, n 0..32: a netmask in host order. */
static inline uint32_t mask32(unsigned n)
{
	return n ? UINT32_MAX << (32 - n) : 0;
}
