/* fib/fib.c - routes, next hops and published tables, together */

#include "fib.h"

#include <stdlib.h>
#include <string.h>

#include "../base/rcu.h"
#include "lookup_hot.h"
#include "nexthops.h"
#include "rib.h"
#include "simple.h"

enum { DEFAULT_NEXTHOPS = 65536, MAX_NEXTHOPS = 1 << 22 };

struct fib {
	struct nexthops nexthops;
	struct rib rib;
	struct simple *simple[2];
	/* One is live, the other for the next publication. */
	struct fib_tables tables[2];
	unsigned current;
	struct fib_tables *live;
	struct fib_sizes sizes; /* the counters in it */
};

const char *fib_origin_name(enum fib_origin origin)
{
	static const char *const names[FIB_ORIGIN_COUNT] = {
		[FIB_STATIC] = "static",
		[FIB_KERNEL] = "kernel",
	};

	return names[origin];
}

/* ---- publication ---- */

/* Every worker has ended a turn: what it saw before, nobody sees any more. */
static void quiesce(struct fib *fib)
{
	rcu_wait();
	nexthops_sync(&fib->nexthops);
	nexthops_reclaim(&fib->nexthops);
}

/* Points workers at the current next hops and tables. */
static void publish(struct fib *fib)
{
	struct fib_tables *t = &fib->tables[fib->current ^= 1];

	*t = (struct fib_tables){
		.nh = nexthops_line(&fib->nexthops, fib->nexthops.current, 0),
		.v4 = fib->simple[0],
		.v6 = fib->simple[1],
		.lookup4 = simple_lookup4,
		.lookup6 = simple_lookup6,
	};
	rcu_publish(fib->live, t);
}

/* ---- life ---- */

int fib_new(const struct fib_conf *conf, struct fib **ret)
{
	uint32_t max = conf->max_nexthops ? conf->max_nexthops : DEFAULT_NEXTHOPS;
	struct fib *fib;
	int r;

	if (max > MAX_NEXTHOPS)
		return -EINVAL;
	fib = fib_mem_refused() ? NULL : calloc(1, sizeof(*fib));
	if (!fib)
		return -ENOMEM;
	r = nexthops_open(&fib->nexthops, max);
	if (!r)
		r = rib_open(&fib->rib, &fib->nexthops);
	if (!r)
		r = simple_new(&fib->rib, 0, &fib->simple[0]);
	if (!r)
		r = simple_new(&fib->rib, 1, &fib->simple[1]);
	if (r < 0) {
		fib_free(fib);
		return r;
	}
	publish(fib);
	*ret = fib;
	return 0;
}

void fib_free(struct fib *fib)
{
	if (!fib)
		return;
	rib_close(&fib->rib);
	nexthops_close(&fib->nexthops);
	free(fib->simple[0]);
	free(fib->simple[1]);
	free(fib);
}

struct fib_tables *const *fib_live(const struct fib *fib) { return &fib->live; }

/* ---- next hops ---- */

int fib_nh_get(struct fib *fib, const struct fib_nh *nh, uint32_t *ret)
{
	int r = nexthops_get(&fib->nexthops, nh, ret);

	if (r != -ENOSPC || !fib->nexthops.dying)
		return r;
	quiesce(fib);
	return nexthops_get(&fib->nexthops, nh, ret);
}

void fib_nh_ref(struct fib *fib, uint32_t index) { nexthops_ref(&fib->nexthops, index); }
void fib_nh_put(struct fib *fib, uint32_t index) { nexthops_put(&fib->nexthops, index); }

const struct fib_nh *fib_nh_at(const struct fib *fib, uint32_t index)
{
	return nexthops_at(&fib->nexthops, index);
}

void fib_nh_each(const struct fib *fib,
		 bool (*fn)(void *arg, uint32_t index, const struct fib_nh *nh), void *arg)
{
	for (uint32_t i = 1; i <= fib->nexthops.top; i++)
		if (nexthops_info(&fib->nexthops, i)->refs && !fn(arg, i, fib_nh_at(fib, i)))
			return;
}

int fib_nh_set(struct fib *fib, uint32_t index, const struct fib_nh *nh)
{
	if (!index || index > fib->nexthops.top || !nexthops_info(&fib->nexthops, index)->refs)
		return -ENOENT;
	quiesce(fib); /* the copy that is to be written may still be read */
	nexthops_set(&fib->nexthops, index, nh);
	nexthops_flip(&fib->nexthops);
	publish(fib);
	return 0;
}

/* ---- routes ---- */

/* A known family, a length of it, and no bit set past the length. */
static bool is_prefix(const struct fib_prefix *p)
{
	struct trie_key key = rib_key(p->addr), masked = trie_mask(key, p->len);

	return ((p->family == 4 && p->len <= 32) || (p->family == 6 && p->len <= 128)) &&
	       key.hi == masked.hi && key.lo == masked.lo;
}

int fib_route_add(struct fib *fib, const struct fib_prefix *p, enum fib_origin origin, uint32_t nh,
		  uint32_t metric)
{
	return is_prefix(p) && nh ? rib_add(&fib->rib, p, origin, nh, metric) : -EINVAL;
}

int fib_route_replace(struct fib *fib, const struct fib_prefix *p, enum fib_origin origin,
		      uint32_t nh, uint32_t metric)
{
	return is_prefix(p) && nh ? rib_replace(&fib->rib, p, origin, nh, metric) : -EINVAL;
}

int fib_route_del(struct fib *fib, const struct fib_prefix *p, enum fib_origin origin)
{
	return is_prefix(p) ? rib_del(&fib->rib, p, origin) : -EINVAL;
}

int fib_commit(struct fib *fib)
{
	struct simple *next[2] = { NULL, NULL };
	int r;

	if (!rib_changes(&fib->rib))
		return 0;
	r = simple_new(&fib->rib, 0, &next[0]);
	if (!r)
		r = simple_new(&fib->rib, 1, &next[1]);
	if (r < 0) {
		free(next[0]);
		rib_undo(&fib->rib);
		fib->sizes.failures++;
		return r;
	}
	quiesce(fib);
	for (unsigned f = 0; f < 2; f++) {
		struct simple *was = fib->simple[f];

		fib->simple[f] = next[f];
		next[f] = was;
	}
	publish(fib);
	rib_settle(&fib->rib, &fib->sizes);
	quiesce(fib);
	free(next[0]);
	free(next[1]);
	fib->sizes.commits++;
	return 0;
}

void fib_abort(struct fib *fib) { rib_undo(&fib->rib); }

bool fib_route_get(const struct fib *fib, const struct fib_prefix *p, enum fib_origin origin,
		   struct fib_route *ret)
{
	return rib_get(&fib->rib, p, origin, ret);
}

bool fib_route_match(const struct fib *fib, uint8_t family, const uint8_t addr[16],
		     struct fib_route *ret)
{
	return rib_match(&fib->rib, family, addr, ret);
}

void fib_route_walk(const struct fib *fib, const struct fib_route *after,
		    bool (*fn)(void *arg, const struct fib_route *route), void *arg)
{
	rib_walk(&fib->rib, after, fn, arg);
}

void fib_sizes(const struct fib *fib, struct fib_sizes *ret)
{
	*ret = fib->sizes;
	memcpy(ret->routes, fib->rib.count, sizeof(ret->routes));
	ret->nexthops = fib->nexthops.used;
	for (unsigned f = 0; f < 2; f++)
		ret->lookup_bytes[f] = sizeof(*fib->simple[f]) +
				       fib->simple[f]->n * sizeof(fib->simple[f]->range[0]);
	ret->rib_bytes = rib_bytes(&fib->rib) + nexthops_bytes(&fib->nexthops);
}
