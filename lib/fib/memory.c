/* fib/memory.c - reserved ranges of addresses, and pieces of them */

#include "memory.h"

#include <string.h>
#include <sys/mman.h>

#include "../base/bits.h"

enum {
	STEP = 256 << 10,
	HUGE_STEP = 2 << 20,
	/* Readable past the last piece: vector loads are wider than what they want. */
	PAD = CACHE_LINE,
};

uint64_t fib_mem_refuse;

int arena_open(struct arena *a, size_t limit_bytes, bool huge)
{
	size_t reserve = align_up(limit_bytes + PAD, HUGE_STEP);
	uint8_t *p;

	memset(a, 0, sizeof(*a));
	if (fib_mem_refused())
		return -ENOMEM;
	p = mmap(NULL, reserve + HUGE_STEP, PROT_NONE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (p == MAP_FAILED)
		return -ENOMEM;
	a->base = (uint8_t *)align_up((uintptr_t)p, HUGE_STEP);
	if (a->base != p)
		munmap(p, (size_t)(a->base - p));
	if (a->base != p + HUGE_STEP)
		munmap(a->base + reserve, (size_t)(p + HUGE_STEP - a->base));
	a->limit = limit_bytes;
	a->reserved = reserve;
	a->huge = huge;
	return 0;
}

void arena_close(struct arena *a)
{
	if (a->base)
		munmap(a->base, a->reserved);
	memset(a, 0, sizeof(*a));
}

static int make_ready(struct arena *a, size_t bytes)
{
	size_t step = a->huge ? HUGE_STEP : STEP;
	size_t more = align_up(bytes - a->ready, step);

	if (more > a->reserved - a->ready)
		more = a->reserved - a->ready;
	if (mprotect(a->base + a->ready, more, PROT_READ | PROT_WRITE) < 0)
		return -ENOMEM;
	if (a->huge)
		madvise(a->base + a->ready, more, MADV_HUGEPAGE);
	a->ready += more;
	return 0;
}

int arena_more(struct arena *a, size_t bytes, size_t *ret)
{
	int r = 0;

	if (bytes > a->limit - a->used)
		return -ENOSPC;
	if (fib_mem_refused())
		return -ENOMEM;
	if (a->used + bytes + PAD > a->ready)
		r = make_ready(a, a->used + bytes + PAD);
	if (r < 0)
		return r;
	*ret = a->used;
	a->used += bytes;
	return 0;
}

void arena_reset(struct arena *a)
{
	size_t keep = HUGE_STEP;

	if (a->used > keep) /* given back, and zero when touched again */
		madvise(a->base + keep, a->ready - keep, MADV_DONTNEED);
	a->used = 0;
}

int pool_open(struct pool *p, uint32_t size, uint32_t max, bool huge)
{
	int r = arena_open(&p->arena, ((size_t)max + 1) * size, huge);
	size_t first;

	p->size = size;
	p->free = p->used = 0;
	return r < 0 ? r : arena_more(&p->arena, size, &first);
}

void pool_close(struct pool *p)
{
	arena_close(&p->arena);
	p->free = p->used = 0;
}

int pool_get(struct pool *p, uint32_t *ret)
{
	size_t at;
	int r;

	if (p->free) {
		if (fib_mem_refused())
			return -ENOMEM;
		*ret = p->free;
		memcpy(&p->free, pool_at(p, *ret), sizeof(p->free));
		p->used++;
		return 0;
	}
	r = arena_more(&p->arena, p->size, &at);
	if (r < 0)
		return r;
	*ret = (uint32_t)(at / p->size);
	p->used++;
	return 0;
}

void pool_put(struct pool *p, uint32_t piece)
{
	memcpy(pool_at(p, piece), &p->free, sizeof(p->free));
	p->free = piece;
	p->used--;
}
