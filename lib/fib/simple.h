/* fib/simple.h - a table for the time being: sorted ranges, searched by halves
 *
 * Built anew by every commit and swapped as a whole.
 */
#pragma once

#include "rib.h"

struct simple {
	size_t n;
	struct simple_range {
		struct trie_key start;
		uint32_t nh;
	} range[];
};

int simple_new(const struct rib *rib, unsigned family_index, struct simple **ret);
void simple_lookup4(const void *table, const uint32_t *addr, uint32_t *nh, uint32_t n);
void simple_lookup6(const void *table, const uint8_t (*addr)[16], uint32_t *nh, uint32_t n);
