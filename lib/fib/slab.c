/* fib/slab.c - pieces of a few sizes that readers look at, given back late */

#include "slab.h"

#include <string.h>

enum { MAX_PIECES = 1 << 26 };

int slab_open(struct slab *s, uint32_t unit, uint32_t max_units, bool huge)
{
	size_t zero;
	int r = arena_open(&s->arena, ((size_t)max_units + 1) * unit, huge);

	s->unit = unit;
	s->used = 0;
	memset(s->free, 0, sizeof(s->free));
	return r < 0 ? r : arena_more(&s->arena, unit, &zero);
}

static int slab_get(struct slab *s, unsigned units, uint32_t *ret)
{
	size_t at;
	int r;

	if (s->free[units]) {
		if (fib_mem_refused())
			return -ENOMEM;
		*ret = s->free[units];
		memcpy(&s->free[units], slab_at(s, *ret), sizeof(uint32_t));
	} else {
		r = arena_more(&s->arena, (size_t)units * s->unit, &at);
		if (r < 0)
			return r;
		*ret = (uint32_t)(at / s->unit);
	}
	s->used += (size_t)units * s->unit;
	return 0;
}

static void slab_put(struct slab *s, unsigned units, uint32_t first)
{
	memcpy(slab_at(s, first), &s->free[units], sizeof(uint32_t));
	s->free[units] = first;
	s->used -= (size_t)units * s->unit;
}

int ledger_open(struct ledger *l)
{
	int r = arena_open(&l->fresh, MAX_PIECES * sizeof(struct ledger_piece), false);

	return r < 0 ? r
		     : arena_open(&l->doomed, MAX_PIECES * sizeof(struct ledger_piece),
				  false);
}

void ledger_close(struct ledger *l)
{
	for (unsigned i = 0; i < LEDGER_SLABS; i++)
		arena_close(&l->slab[i].arena);
	arena_close(&l->fresh);
	arena_close(&l->doomed);
}

static int note(struct arena *list, unsigned slab, unsigned units,
		struct ledger_piece **ret)
{
	size_t at;
	int r = arena_more(list, sizeof(struct ledger_piece), &at);

	if (r < 0)
		return r;
	*ret = (struct ledger_piece *)(void *)(list->base + at);
	(*ret)->slab = (uint16_t)slab;
	(*ret)->units = (uint16_t)units;
	return 0;
}

int ledger_get(struct ledger *l, unsigned slab, unsigned units, uint32_t *ret)
{
	struct ledger_piece *p;
	int r = note(&l->fresh, slab, units, &p);

	if (r < 0)
		return r;
	r = slab_get(&l->slab[slab], units, &p->first);
	if (r < 0)
		l->fresh.used -= sizeof(*p);
	else
		*ret = p->first;
	return r;
}

int ledger_doom(struct ledger *l, unsigned slab, unsigned units, uint32_t first)
{
	struct ledger_piece *p;
	int r = note(&l->doomed, slab, units, &p);

	if (!r)
		p->first = first;
	return r;
}

void ledger_settle(struct ledger *l)
{
	arena_reset(&l->fresh);
	l->waiting = l->doomed.used;
}

static void put_all(struct ledger *l, const struct arena *list, size_t bytes)
{
	const struct ledger_piece *p = (const void *)list->base;

	for (size_t i = 0; i < bytes / sizeof(*p); i++)
		slab_put(&l->slab[p[i].slab], p[i].units, p[i].first);
}

void ledger_discard(struct ledger *l)
{
	put_all(l, &l->fresh, l->fresh.used);
	arena_reset(&l->fresh);
	l->doomed.used = l->waiting;
}

void ledger_reclaim(struct ledger *l)
{
	put_all(l, &l->doomed, l->waiting);
	arena_reset(&l->doomed);
	l->waiting = 0;
}
