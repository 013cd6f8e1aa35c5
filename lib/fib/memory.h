/* fib/memory.h - memory of the tables: counted, limited, refusable by a test
 *
 * An arena is a reserved range of addresses that becomes memory from its start on:
 * what is in it never moves, so readers may hold pointers while it grows. A pool cuts
 * an arena into pieces of one size, named by their number; 0 is no piece.
 *
 * Context: control thread.
 */
#pragma once

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../base/hot.h"

/* For tests: the n-th request from now is refused with -ENOMEM; 0 = none. */
extern uint64_t fib_mem_refuse;

/* Asked before memory is handed out, be it fresh or used before. */
static inline bool fib_mem_refused(void)
{
	return unlikely(fib_mem_refuse) && --fib_mem_refuse == 0;
}

struct arena {
	uint8_t *base;
	size_t used;  /* bytes handed out, from the start */
	size_t ready; /* bytes that are memory */
	size_t limit; /* bytes that may be handed out */
	size_t reserved;
	bool huge; /* in huge pages where the kernel has them */
};

int arena_open(struct arena *a, size_t limit_bytes, bool huge);
void arena_close(struct arena *a);
/**
 * arena_more() - the next @bytes of the arena, zeroed
 * @ret: offset of the first byte
 * Return: 0, -ENOSPC (the reserved range is used up), -ENOMEM.
 */
int arena_more(struct arena *a, size_t bytes, size_t *ret);
/* Nothing is in use any more; large leftovers go back to the system. */
void arena_reset(struct arena *a);

struct pool {
	struct arena arena;
	uint32_t size; /* bytes of a piece, at least 4 */
	uint32_t free; /* list through the first word of free pieces */
	uint32_t used; /* pieces */
};

int pool_open(struct pool *p, uint32_t size, uint32_t max, bool huge);
void pool_close(struct pool *p);
int pool_get(struct pool *p, uint32_t *ret); /* contents undefined; -ENOSPC, -ENOMEM */
void pool_put(struct pool *p, uint32_t piece);

static inline void *pool_at(const struct pool *p, uint32_t piece)
{
	return p->arena.base + (size_t)piece * p->size;
}
