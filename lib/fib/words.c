/* fib/words.c - the words that readers start from, and what they will be */

#include "words.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "../base/bits.h"

#ifndef MADV_POPULATE_READ /* Linux 5.14 */
#define MADV_POPULATE_READ  22
#define MADV_POPULATE_WRITE 23
#endif

enum {
	HUGE_BYTES = 2 << 20,
	SMALL_PAGE = 64 << 10 /* the largest there is */,
	MAX_RANGES = 1 << 23
};

static void *map(size_t bytes, bool sparse)
{
	size_t more = align_up(bytes, HUGE_BYTES) + HUGE_BYTES;
	uint8_t *p, *at;

	if (fib_mem_refused())
		return NULL;
	p = mmap(NULL, more, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (p == MAP_FAILED)
		return NULL;
	at = (uint8_t *)align_up((uintptr_t)p, HUGE_BYTES);
	if (at != p)
		munmap(p, (size_t)(at - p));
	munmap(at + bytes, (size_t)(p + more - at) - bytes);
	if (sparse)
		madvise(at, bytes, MADV_NOHUGEPAGE);
	else
		madvise(at, bytes / HUGE_BYTES * HUGE_BYTES, MADV_HUGEPAGE);
	return at;
}

int words_open(struct words *w, const struct words_conf *conf)
{
	size_t pages = conf->n / WORDS_PAGE + 1;

	memset(w, 0, sizeof(*w));
	w->n = conf->n;
	w->n_first = conf->n_first;
	w->log_bytes = conf->log_bytes;
	w->map_bytes = align_up(pages * WORDS_PAGE << conf->log_bytes, SMALL_PAGE);
	w->live = map(w->map_bytes, conf->sparse);
	w->next = map(w->map_bytes, conf->sparse);
	w->page = fib_mem_refused() ? NULL : calloc(pages / 64 + 1, sizeof(uint64_t));
	if (!w->live || !w->next || !w->page)
		return -ENOMEM;
	/* So that no reader ever faults; sparse, every page is the kernel's page of zeroes. */
	madvise(w->live, w->map_bytes,
		conf->sparse ? MADV_POPULATE_READ : MADV_POPULATE_WRITE);
	return arena_open(&w->dirty, (size_t)MAX_RANGES * sizeof(struct words_range),
			  false);
}

void words_close(struct words *w)
{
	if (w->live)
		munmap(w->live, w->map_bytes);
	if (w->next)
		munmap(w->next, w->map_bytes);
	free(w->page);
	arena_close(&w->dirty);
	memset(w, 0, sizeof(*w));
}

static void mark_pages(struct words *w, uint32_t first, uint32_t count)
{
	for (uint32_t page = first / WORDS_PAGE; page <= (first + count - 1) / WORDS_PAGE;
	     page++) {
		uint64_t bit = UINT64_C(1) << page % 64;

		w->pages += !(w->page[page / 64] & bit);
		w->page[page / 64] |= bit;
	}
}

int words_touch(struct words *w, uint32_t first, uint32_t count)
{
	size_t at;
	int r = arena_more(&w->dirty, sizeof(struct words_range), &at);

	if (r < 0)
		return r;
	*(struct words_range *)(void *)(w->dirty.base + at) =
		(struct words_range){ first, count };
	if (first < w->n_first)
		w->has_first = true;
	else
		w->has_second = true;
	mark_pages(w, first, count);
	return 0;
}

static const struct words_range *ranges(const struct words *w, size_t *ret_n)
{
	*ret_n = w->dirty.used / sizeof(struct words_range);
	return (const struct words_range *)(const void *)w->dirty.base;
}

static void copy(struct words *w, const struct words_range *r)
{
	const uint16_t *next2 = w->next;
	const uint32_t *next4 = w->next;
	uint16_t *live2 = w->live;
	uint32_t *live4 = w->live;

	for (uint32_t at = r->first; w->log_bytes == 1 && at < r->first + r->count; at++)
		__atomic_store_n(&live2[at], next2[at], __ATOMIC_RELEASE);
	for (uint32_t at = r->first; w->log_bytes == 2 && at < r->first + r->count; at++)
		__atomic_store_n(&live4[at], next4[at], __ATOMIC_RELEASE);
}

/* A range is of one part and holds one value if it is of the second (table_set_words()). */
static enum words_step step_of(const struct words *w, const struct words_range *r)
{
	if (r->first < w->n_first)
		return WORDS_FIRST;
	return words_next(w, r->first) ? WORDS_SECOND_SET : WORDS_SECOND_CLEARED;
}

bool words_has(const struct words *w, enum words_step step)
{
	size_t n;
	const struct words_range *range = ranges(w, &n);

	if (step == WORDS_FIRST)
		return w->has_first;
	if (!w->has_second)
		return false;
	for (size_t i = 0; i < n; i++)
		if (step_of(w, &range[i]) == step)
			return true;
	return false;
}

void words_publish(struct words *w, enum words_step step)
{
	size_t n;
	const struct words_range *range = ranges(w, &n);

	for (size_t i = 0; i < n; i++)
		if (step_of(w, &range[i]) == step)
			copy(w, &range[i]);
}

void words_settle(struct words *w)
{
	arena_reset(&w->dirty);
	w->has_first = w->has_second = false;
}

void words_discard(struct words *w)
{
	size_t n;
	const struct words_range *range = ranges(w, &n);

	for (size_t i = 0; i < n; i++) {
		size_t at = (size_t)range[i].first << w->log_bytes;

		memcpy((uint8_t *)w->next + at, (const uint8_t *)w->live + at,
		       (size_t)range[i].count << w->log_bytes);
	}
	words_settle(w);
}
