/* fib/table.h - what the prefix tables are made of; for the files of fib/ only
 *
 * A table is words (words.h) that lead to pieces (slab.h). An address is resolved window
 * by window, a window being some consecutive bits of it; its slots are the values these
 * bits may have:
 *
 *   RUN21     IPv4   21 | 3 | 8              run21.h
 *   DIR-24-8  IPv4   24     | 8              dir24.h
 *   RL6       IPv6   29 | 3 | 8 | 8 | ...    rl6.h
 *
 * The first window is an array of words. Everything below a word is never changed, but
 * built anew and then reached by ONE store of the word: a reader meets all of the old
 * or all of the new. A value is a next hop, or leads to a node (node.h).
 *
 * The control thread prepares changes from the routes (rib.h) and what is there; nothing
 * is visible before table_publish().
 */
#pragma once

#include "lookup.h"
#include "rib.h"
#include "slab.h"
#include "words.h"

enum { TABLE_RUNS, TABLE_WIDE, TABLE_NODES }; /* slabs */

struct table;
struct runs;
struct change;

struct table_layout {
	const char *name;
	uint8_t family;
	unsigned floor;	  /* routes shorter than this are not in the words' first part */
	uint8_t from, to; /* the window of the first words */
	uint8_t slots_to; /* the next window ends here */
	uint32_t pieces; /* a word with none of these bits leads straight to a next hop */
	struct words_conf words;
	int (*open)(struct table *t); /* slabs and view */
	int (*stage)(struct table *t,
		     struct change *c); /* node and cover not yet known */
	int (*stage_all)(struct table *t);
	/* A word to its runs and back. */
	void (*unpack)(const struct table *t, uint32_t word, struct runs *ret);
	int (*pack)(struct table *t, const struct runs *r, uint32_t *ret);
	int (*doom)(struct table *t,
		    uint32_t word);	/* what the word leads to, but no node */
	fib_lookup4_fn *const *lookup4; /* by enum fib_simd */
	fib_lookup6_fn *const *lookup6;
};

struct table {
	CACHE_ALIGNED struct fib_view
		view; /* a line of its own: workers read it all the time */
	CACHE_ALIGNED const struct table_layout *layout;
	const struct rib *rib;
	const struct tree *tree;
	struct words words;
	struct ledger ledger;
};

extern const struct table_layout run21_layout, dir24_layout; /* IPv4 */
extern const struct table_layout rl6_layout;		     /* IPv6 */

/* A prefix whose active route may have changed. */
struct change {
	struct tree_addr addr;
	unsigned len;
	unsigned floor;	   /* routes shorter than this do not count */
	struct tree_at at; /* the first entry inside the prefix, or after it */
	uint32_t cover; /* next hop of the longest route around the prefix that counts */
};

int table_open(struct table *t, const struct table_layout *layout, const struct rib *rib);
void table_close(struct table *t);
uint64_t table_bytes(const struct table *t);

/* Prepares what a change of this prefix comes to. */
int table_stage(struct table *t, struct tree_addr addr, unsigned len);
void table_discard(struct table *t);

/* For layouts: fills in @at, and @cover if the prefix has no active route itself. */
void change_locate(struct change *c, const struct table *t);
/* For layouts: the next hop of the default route, 0 = none. */
uint32_t table_default(const struct table *t);
/* For layouts: the words of the first window that the change covers, or the one it is in. */
int table_stage_words(struct table *t, struct change *c);
/* Words that lead to no piece, before and after. */
int table_set_words(struct table *t, uint32_t first, uint32_t last, uint32_t word);
