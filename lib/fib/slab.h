/* fib/slab.h - pieces of a few sizes that readers look at, given back late
 *
 * A slab hands out pieces of 1 .. SLAB_SIZES units, named by the number of their first
 * unit; 0 is no piece. A ledger knows what a batch of changes took and what it will no
 * longer need, over all slabs of a table:
 *
 *   ledger_get, ledger_doom ... ledger_settle    published: the doomed wait for a grace
 *                                                period, then ledger_reclaim() frees them
 *                               ledger_discard   given up: what was taken is free again,
 *                                                nothing is doomed
 *
 * Context: control thread.
 */
#pragma once

#include "memory.h"

enum { SLAB_SIZES = 17, LEDGER_SLABS = 3 };

struct slab {
	struct arena arena;
	uint32_t unit; /* bytes, at least 4 if single units are handed out, else 2 */
	uint32_t free[SLAB_SIZES +
		      1]; /* by size in units; list through the first 4 bytes */
	size_t used;	  /* bytes of pieces that are not free */
};

struct ledger {
	struct slab slab[LEDGER_SLABS];
	struct arena fresh;  /* struct ledger_piece: taken since the batch began */
	struct arena doomed; /* of earlier batches, then of this one */
	size_t waiting;	     /* bytes of doomed that are settled */
};

struct ledger_piece {
	uint32_t first; /* unit */
	uint16_t slab, units;
};

static inline void *slab_at(const struct slab *s, uint32_t unit)
{
	return s->arena.base + (size_t)unit * s->unit;
}

/* Unit 0 is never handed out, but can be read: it is zero. */
int slab_open(struct slab *s, uint32_t unit, uint32_t max_units, bool huge);

int ledger_open(struct ledger *l);
void ledger_close(struct ledger *l); /* and its slabs */
int ledger_get(struct ledger *l, unsigned slab, unsigned units, uint32_t *ret);
int ledger_doom(struct ledger *l, unsigned slab, unsigned units, uint32_t first);
void ledger_settle(struct ledger *l);
void ledger_discard(struct ledger *l);
/* A grace period after the last settling; no batch is open. */
void ledger_reclaim(struct ledger *l);

static inline size_t ledger_waiting(const struct ledger *l)
{
	return l->waiting / sizeof(struct ledger_piece);
}
