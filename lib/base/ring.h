/* base/ring.h - single-producer single-consumer ring of fixed-size entries
 *
 * One thread pushes, one other thread pops; neither waits. Each side keeps a
 * copy of the other's index and reads the shared one only when its copy says
 * full or empty, so a busy ring moves one cache line per many entries.
 */
#pragma once

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "bits.h"
#include "hot.h"

struct ring {
	/* producer's line */
	CACHE_ALIGNED atomic_uint head;
	uint32_t tail_seen;
	/* consumer's line */
	CACHE_ALIGNED atomic_uint tail;
	uint32_t head_seen;
	/* read only */
	CACHE_ALIGNED uint32_t mask;
	uint32_t entry_bytes;
	uint8_t *entry;
};

/* @n entries, a power of two. Return 0, -EINVAL, -ENOMEM. */
static inline int ring_init(struct ring *r, uint32_t n, uint32_t entry_bytes)
{
	memset(r, 0, sizeof(*r));
	if (!is_pow2(n) || !entry_bytes)
		return -EINVAL;
	r->entry = aligned_alloc(CACHE_LINE,
				 align_up((uint64_t)n * entry_bytes, CACHE_LINE));
	if (!r->entry)
		return -ENOMEM;
	r->mask = n - 1;
	r->entry_bytes = entry_bytes;
	return 0;
}

static inline void ring_fini(struct ring *r)
{
	free(r->entry);
	memset(r, 0, sizeof(*r));
}

/* Producer: where the next entry goes, NULL = full. Fill it, then ring_push(). */
static inline void *ring_slot(struct ring *r)
{
	uint32_t head = atomic_load_explicit(&r->head, memory_order_relaxed);

	if (unlikely(head - r->tail_seen > r->mask)) {
		r->tail_seen = atomic_load_explicit(&r->tail, memory_order_acquire);
		if (head - r->tail_seen > r->mask)
			return NULL;
	}
	return r->entry + (size_t)(head & r->mask) * r->entry_bytes;
}

static inline void ring_push(struct ring *r)
{
	uint32_t head = atomic_load_explicit(&r->head, memory_order_relaxed);

	atomic_store_explicit(&r->head, head + 1, memory_order_release);
}

/* Consumer: the oldest entry, NULL = empty. Use it, then ring_pop(). */
static inline void *ring_peek(struct ring *r)
{
	uint32_t tail = atomic_load_explicit(&r->tail, memory_order_relaxed);

	if (tail == r->head_seen) {
		r->head_seen = atomic_load_explicit(&r->head, memory_order_acquire);
		if (tail == r->head_seen)
			return NULL;
	}
	return r->entry + (size_t)(tail & r->mask) * r->entry_bytes;
}

static inline void ring_pop(struct ring *r)
{
	uint32_t tail = atomic_load_explicit(&r->tail, memory_order_relaxed);

	atomic_store_explicit(&r->tail, tail + 1, memory_order_release);
}
