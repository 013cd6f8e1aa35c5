/* bench/fib/table.h - the routes that are measured with, and the answers they give
 *
 * A table comes from a file of lines "prefix next-hop-index" (tests/bench/tables.py).
 * The reference is the list of stretches of addresses with one next hop, made from the
 * sorted routes and searched by halving: slow, short, and no code of lib/fib.
 */
#pragma once

#include "../../../lib/fib/fib.h"

struct bench_route {
	struct fib_prefix prefix;
	uint32_t nh; /* from 1 */
};

struct bench_table {
	uint8_t family;
	uint32_t n;
	uint32_t max_nh;
	struct bench_route *route; /* in the order of fib_prefix_compare() */
};

/* Prints and exits: a benchmark without its table is over. */
void bench_table_read(struct bench_table *t, const char *path);
void bench_table_free(struct bench_table *t);
/* Every route gets one of @n next hops, whatever its neighbours have. */
void bench_table_shuffle_nh(struct bench_table *t, uint32_t n);
/* Host routes inside the routes that are there: half of them crowded in few /24, the others
 * one to a random route each. IPv4 only. */
void bench_table_add_hosts(struct bench_table *t, uint32_t n);

/* Addresses of both families as numbers; IPv4 in the top 32 bits. */
struct bench_key {
	uint64_t hi, lo;
};

struct bench_stretch { /* to the next one */
	struct bench_key first;
	uint32_t nh; /* 0 = none */
};

struct bench_ref {
	uint32_t n;
	struct bench_stretch *stretch;
};

void bench_ref_make(struct bench_ref *ref, const struct bench_table *t);
void bench_ref_free(struct bench_ref *ref);
uint32_t bench_ref_answer(const struct bench_ref *ref, struct bench_key key);

static inline struct bench_key bench_key4(uint32_t addr)
{
	return (struct bench_key){ (uint64_t)addr << 32, 0 };
}

static inline struct bench_key bench_key6(const uint8_t addr[16])
{
	uint64_t w[2];

	__builtin_memcpy(w, addr, sizeof(w));
	return (struct bench_key){ __builtin_bswap64(w[0]), __builtin_bswap64(w[1]) };
}

/* A sequence that is the same in every run. */
uint64_t bench_rand(void);
static inline uint32_t bench_below(uint32_t n)
{
	return (uint32_t)((bench_rand() >> 32) * n >> 32);
}

void *bench_alloc(size_t bytes); /* on cache lines; never NULL */
