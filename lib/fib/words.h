/* fib/words.h - the words that readers start from, and what they will be
 *
 * Two arrays: `live`, which readers look at, and `next`, where a batch of changes is
 * prepared. Publishing copies what differs, word by word: each store is whole, so a
 * reader meets a word either before or after the change. Memory is only there for pages
 * that were written to; all other words read as 0.
 *
 * Words are in two parts: a lookup reads one of the first part (below n_first), and if
 * that leads to nothing, one of the second. The parts are never changed within one turn
 * of any reader (fib.c sees to it), so that a lookup never mixes old and new.
 *
 * Context: control thread; `live` is read by any thread.
 */
#pragma once

#include "memory.h"

struct words {
	void *live, *next;
	uint32_t n, n_first;
	unsigned log_bytes; /* of a word: 1 or 2 */
	size_t map_bytes;
	uint64_t *page;		    /* bit = page of live that was ever written to */
	uint32_t pages;		    /* set bits */
	struct arena dirty;	    /* of struct words_range: next may differ from live */
	bool has_first, has_second; /* ranges of that part are dirty */
};

struct words_range {
	uint32_t first, count;
};

enum { WORDS_PAGE = 1024 }; /* words that are counted together */

struct words_conf {
	uint32_t n, n_first;
	unsigned log_bytes;
	bool sparse; /* small pages; reading never faults; else huge pages, all there */
};

int words_open(struct words *w, const struct words_conf *conf);
void words_close(struct words *w);
/* Says that [first, first + count) of next is about to change. Return: 0 or -ENOMEM, -ENOSPC. */
int words_touch(struct words *w, uint32_t first, uint32_t count);
/* What is published together. The second part has two steps, so that no address is without a
 * route between the steps of a batch that changes both parts. */
enum words_step { WORDS_SECOND_SET, WORDS_FIRST, WORDS_SECOND_CLEARED, WORDS_STEP_COUNT };

bool words_has(const struct words *w,
	       enum words_step step); /* is there anything to do? */
void words_publish(struct words *w, enum words_step step);
/* After every step. */
void words_settle(struct words *w);
void words_discard(struct words *w);

static inline uint32_t words_next(const struct words *w, uint32_t at)
{
	return w->log_bytes == 1 ? ((const uint16_t *)w->next)[at]
				 : ((const uint32_t *)w->next)[at];
}

/* After words_touch(). */
static inline void words_set(struct words *w, uint32_t at, uint32_t value)
{
	if (w->log_bytes == 1)
		((uint16_t *)w->next)[at] = (uint16_t)value;
	else
		((uint32_t *)w->next)[at] = value;
}

static inline void words_prefetch(const struct words *w, uint32_t at)
{
	__builtin_prefetch((const uint8_t *)w->next + ((size_t)at << w->log_bytes), 1);
	__builtin_prefetch((const uint8_t *)w->live + ((size_t)at << w->log_bytes), 1);
}

/* No word of the page was ever anything but 0, nor will be by what is prepared. */
static inline bool words_is_blank(const struct words *w, uint32_t at)
{
	return !(w->page[at / WORDS_PAGE / 64] >> at / WORDS_PAGE % 64 & 1);
}

static inline uint64_t words_bytes(const struct words *w)
{
	return (uint64_t)w->pages * WORDS_PAGE << w->log_bytes;
}
