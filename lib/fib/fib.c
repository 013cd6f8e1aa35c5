/* fib/fib.c - routes, next hops and published tables, together
 *
 * A commit prepares all words that change, in memory that no worker knows, and then
 * stores them, one by one. What a burst may see meanwhile: of each address the route
 * before the commit or the one after it, never a mixture; of two addresses one may be
 * before and the other after.
 *
 * "Short" routes (the default route of IPv4, those of up to 16 bits of IPv6) are in words
 * of their own, the second part (words.h). A commit that changes short routes and others
 * is seen as up to three, in this order: short ones that come or change, all others,
 * short ones that go. So an address that has a route before and after has one meanwhile.
 * A grace period lies between a change of one part and one of the other, since a lookup
 * may use both: commits of short routes cost that wait, others do not.
 */

#include "fib.h"

#include <stdlib.h>
#include <string.h>

#include "../base/rcu.h"
#include "dir24.h"
#include "lookup_hot.h"
#include "nexthops.h"
#include "table.h"

enum {
	DEFAULT_NEXTHOPS = 65536,
	MAX_NEXTHOPS = 1 << 22,
	DEFAULT_GROUPS = 4096,
	DEFAULT_GROUP_BYTES = 16 << 20,
	/* Pieces that wait for a grace period before we wait for one ourselves. */
	MAX_WAITING = 32768,
};

struct fib {
	struct nexthops nexthops;
	struct rib rib;
	struct table table[2]; /* [0] IPv4, [1] IPv6 */
	enum fib_simd simd;
	uint64_t flow_seed;
	bool has_groups; /* workers know that there may be some */
	/* Parts of the words that changed since the last grace period: first, second. */
	bool is_recent[2];
	/* One is live, the other for the next publication. In lines of their own, as workers read
	 * them all the time, and what else is here changes with each route. */
	CACHE_ALIGNED struct fib_tables tables[2];
	struct fib_tables *live;
	CACHE_ALIGNED unsigned current;
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

const char *fib_operation_name(enum fib_operation operation)
{
	static const char *const names[FIB_OPERATION_COUNT] = {
		[FIB_ADDED] = "add",
		[FIB_REPLACED] = "replace",
		[FIB_DELETED] = "delete",
	};

	return names[operation];
}

const char *fib_refusal_name(enum fib_refusal refusal)
{
	static const char *const names[FIB_REFUSAL_COUNT] = {
		[FIB_REFUSED_FULL] = "full",
		[FIB_REFUSED_MEMORY] = "memory",
	};

	return names[refusal];
}

/* ---- publication ---- */

/* Every worker has ended a turn: what it could reach before, nobody can any more. */
static void quiesce(struct fib *fib)
{
	rcu_wait();
	nexthops_sync(&fib->nexthops);
	nexthops_reclaim(&fib->nexthops);
	for (unsigned f = 0; f < 2; f++)
		ledger_reclaim(&fib->table[f].ledger);
	fib->is_recent[0] = fib->is_recent[1] = false;
}

/* Points workers at the current copy of the next hops. */
static void publish_nexthops(struct fib *fib)
{
	struct fib_tables *t = &fib->tables[fib->current ^= 1];

	*t = (struct fib_tables){
		.nh = nexthops_line(&fib->nexthops, fib->nexthops.current, 0),
		.v4 = &fib->table[0].view,
		.v6 = &fib->table[1].view,
		.lookup4 = fib->table[0].layout->lookup4[fib->simd],
		.lookup6 = fib->table[1].layout->lookup6[fib->simd],
		.flow_seed = fib->flow_seed,
		.has_groups = fib->has_groups,
	};
	rcu_publish(fib->live, t);
}

static bool has_step(const struct fib *fib, enum words_step step)
{
	return words_has(&fib->table[0].words, step) ||
	       words_has(&fib->table[1].words, step);
}

static void publish_words(struct fib *fib, enum words_step step)
{
	unsigned part = step != WORDS_FIRST;

	if (!has_step(fib, step))
		return;
	if (fib->is_recent[!part]) {
		rcu_wait();
		fib->is_recent[!part] = false;
	}
	words_publish(&fib->table[0].words, step);
	words_publish(&fib->table[1].words, step);
	fib->is_recent[part] = true;
}

/* ---- life ---- */

/* All of them, and the one of kind KERNEL, have indexes that the table's words can hold. */
static uint32_t limit_nexthops(const struct fib_conf *conf)
{
	uint32_t max = conf->max_nexthops ? conf->max_nexthops : DEFAULT_NEXTHOPS;

	if (conf->layout4 == FIB4_DIR24 && max > DIR24_PAGE - 2)
		return DIR24_PAGE - 2;
	return max;
}

static void limit_groups(struct groups *groups, const struct fib_conf *conf)
{
	groups->max = conf->max_groups ? conf->max_groups : DEFAULT_GROUPS;
	groups->max_bytes = conf->max_group_bytes ? conf->max_group_bytes
						  : DEFAULT_GROUP_BYTES;
}

int fib_new(const struct fib_conf *conf, struct fib **ret)
{
	const struct table_layout *v4 = conf->layout4 == FIB4_DIR24 ? &dir24_layout
								    : &run21_layout;
	uint32_t max = limit_nexthops(conf);
	struct fib *fib;
	int r;

	if (max > MAX_NEXTHOPS)
		return -EINVAL;
	if (!fib_simd_works(conf->simd))
		return -EOPNOTSUPP;
	fib = fib_mem_refused() ? NULL : aligned_alloc(CACHE_LINE, sizeof(*fib));
	if (!fib)
		return -ENOMEM;
	memset(fib, 0, sizeof(*fib));
	fib->simd = conf->simd == FIB_SIMD_BEST ? fib_simd_best() : conf->simd;
	fib->flow_seed = conf->flow_seed;
	r = nexthops_open(&fib->nexthops, max);
	limit_groups(&fib->nexthops.groups, conf);
	if (!r)
		r = rib_open(&fib->rib, &fib->nexthops);
	if (!r)
		r = table_open(&fib->table[0], v4, &fib->rib);
	if (!r)
		r = table_open(&fib->table[1], &rl6_layout, &fib->rib);
	if (r < 0) {
		fib_free(fib);
		return r;
	}
	publish_nexthops(fib);
	*ret = fib;
	return 0;
}

void fib_free(struct fib *fib)
{
	if (!fib)
		return;
	table_close(&fib->table[0]);
	table_close(&fib->table[1]);
	rib_close(&fib->rib);
	nexthops_close(&fib->nexthops);
	free(fib);
}

struct fib_tables *const *fib_live(const struct fib *fib)
{
	return &fib->live;
}

/* ---- next hops ---- */

/* Next hops or groups are waiting for a grace period. */
static bool has_dying(const struct fib *fib)
{
	return fib->nexthops.dying || fib->nexthops.groups.retired;
}

int fib_nh_get(struct fib *fib, const struct fib_nh *nh, uint32_t *ret)
{
	int r = nh->kind == FIB_NH_GROUP ? -EINVAL
					 : nexthops_get(&fib->nexthops, nh, ret);

	if (r != -ENOSPC || !has_dying(fib))
		return r;
	quiesce(fib);
	return nexthops_get(&fib->nexthops, nh, ret);
}

void fib_nh_ref(struct fib *fib, uint32_t index)
{
	nexthops_ref(&fib->nexthops, index);
}
void fib_nh_put(struct fib *fib, uint32_t index)
{
	nexthops_put(&fib->nexthops, index);
}

const struct fib_nh *fib_nh_at(const struct fib *fib, uint32_t index)
{
	return nexthops_at(&fib->nexthops, index);
}

void fib_nh_each(const struct fib *fib, uint32_t from,
		 bool (*fn)(void *arg, uint32_t index, const struct fib_nh *nh),
		 void *arg)
{
	for (uint32_t i = from ? from : 1; i <= fib->nexthops.top; i++)
		if (nexthops_in_use(&fib->nexthops, i) && !fn(arg, i, fib_nh_at(fib, i)))
			return;
}

int fib_nh_set(struct fib *fib, uint32_t index, const struct fib_nh *nh)
{
	if (!nexthops_in_use(&fib->nexthops, index))
		return -ENOENT;
	if (nh->kind == FIB_NH_GROUP || fib_nh_at(fib, index)->kind == FIB_NH_GROUP)
		return -EINVAL;
	quiesce(fib); /* the copy that is written to may still be read */
	nexthops_set(&fib->nexthops, index, nh);
	nexthops_flip(&fib->nexthops);
	publish_nexthops(fib);
	return 0;
}

void fib_nh_change(struct fib *fib,
		   bool (*fn)(void *arg, uint32_t index, struct fib_nh *nh), void *arg)
{
	bool any = false;

	quiesce(fib);
	for (uint32_t i = 1; i <= fib->nexthops.top; i++) {
		struct fib_nh nh = *fib_nh_at(fib, i);

		if (!nexthops_in_use(&fib->nexthops, i) || nh.kind == FIB_NH_GROUP ||
		    !fn(arg, i, &nh))
			continue;
		assert(nh.kind != FIB_NH_GROUP);
		nexthops_set(&fib->nexthops, i, &nh);
		any = true;
	}
	if (!any)
		return;
	nexthops_flip(&fib->nexthops);
	publish_nexthops(fib);
}

/* ---- groups ---- */

/* Workers look for groups from their next turn on; no route leads to one before. */
static void announce_groups(struct fib *fib)
{
	fib->has_groups = true;
	quiesce(fib); /* the other tables may still be read */
	publish_nexthops(fib);
	rcu_wait();
}

int fib_group_get(struct fib *fib, const struct fib_group *g, uint32_t *ret)
{
	int r = groups_get(&fib->nexthops, g, ret);

	if (r == -ENOSPC && has_dying(fib)) {
		quiesce(fib);
		r = groups_get(&fib->nexthops, g, ret);
	}
	if (!r && !fib->has_groups)
		announce_groups(fib);
	return r;
}

int fib_group_set(struct fib *fib, uint32_t index, const struct fib_group *g)
{
	int r = groups_set(&fib->nexthops, index, g);

	if (r != -ENOSPC || !has_dying(fib))
		return r;
	quiesce(fib);
	return groups_set(&fib->nexthops, index, g);
}

void fib_group_at(const struct fib *fib, uint32_t index, struct fib_group *ret)
{
	groups_at(&fib->nexthops, index, ret);
}

/* ---- routes ---- */

/* A known family, a length of it, and no bit set past the length. */
static bool is_prefix(const struct fib_prefix *p)
{
	struct tree_addr addr = rib_addr(p->addr), masked = addr_mask(addr, p->len);

	return ((p->family == 4 && p->len <= 32) || (p->family == 6 && p->len <= 128)) &&
	       addr.hi == masked.hi && addr.lo == masked.lo;
}

int fib_route_add(struct fib *fib, const struct fib_prefix *p, enum fib_origin origin,
		  uint32_t nh, uint32_t metric)
{
	return is_prefix(p) && nh ? rib_add(&fib->rib, p, origin, nh, metric) : -EINVAL;
}

int fib_route_replace(struct fib *fib, const struct fib_prefix *p, enum fib_origin origin,
		      uint32_t nh, uint32_t metric)
{
	return is_prefix(p) && nh ? rib_replace(&fib->rib, p, origin, nh, metric)
				  : -EINVAL;
}

int fib_route_del(struct fib *fib, const struct fib_prefix *p, enum fib_origin origin)
{
	return is_prefix(p) ? rib_del(&fib->rib, p, origin) : -EINVAL;
}

/* With that many changes it is less work to go through the whole table once. */
static bool is_much(const struct fib *fib, unsigned family)
{
	return rib_changes(&fib->rib) > 4096 + rib_routes(&fib->rib, family) / 4;
}

static void discard(struct fib *fib)
{
	table_discard(&fib->table[0]);
	table_discard(&fib->table[1]);
}

/* @ret_family: which one's table it was that failed. */
static int stage(struct fib *fib, uint8_t *ret_family)
{
	bool all[2] = { is_much(fib, 0), is_much(fib, 1) };
	int r = 0;

	for (size_t i = 0; i < rib_changes(&fib->rib) && !r; i++) {
		const struct rib_change *c = rib_change(&fib->rib, i);
		unsigned f = c->family == 6;

		*ret_family = c->family;
		if (!all[f])
			r = table_stage(&fib->table[f], c->key.addr, c->key.len);
	}
	for (unsigned f = 0; f < 2 && !r; f++) {
		if (!all[f])
			continue;
		*ret_family = f ? 6 : 4;
		r = fib->table[f].layout->stage_all(&fib->table[f]);
	}
	if (r < 0)
		discard(fib);
	return r;
}

static size_t waiting(const struct fib *fib)
{
	return ledger_waiting(&fib->table[0].ledger) +
	       ledger_waiting(&fib->table[1].ledger);
}

/* What earlier commits replaced may be what is missing. */
static int stage_patiently(struct fib *fib, uint8_t *ret_family)
{
	int r = stage(fib, ret_family);

	if (r < 0 && waiting(fib)) {
		quiesce(fib);
		r = stage(fib, ret_family);
	}
	return r;
}

int fib_try(struct fib *fib)
{
	uint8_t family;
	int r = stage_patiently(fib, &family);

	if (!r)
		discard(fib);
	rib_undo(&fib->rib);
	return r;
}

int fib_commit(struct fib *fib)
{
	uint8_t family;
	int r;

	if (!rib_changes(&fib->rib))
		return 0;
	r = stage_patiently(fib, &family);
	if (r < 0) {
		rib_undo(&fib->rib);
		fib_refused(fib, family, r);
		return r;
	}
	for (enum words_step step = 0; step < WORDS_STEP_COUNT; step++)
		publish_words(fib, step);
	for (unsigned f = 0; f < 2; f++) {
		words_settle(&fib->table[f].words);
		ledger_settle(&fib->table[f].ledger);
	}
	rib_settle(&fib->rib, &fib->sizes);
	fib->sizes.commits++;
	if (waiting(fib) > MAX_WAITING)
		quiesce(fib);
	return 0;
}

size_t fib_staged(const struct fib *fib)
{
	return rib_changes(&fib->rib);
}

void fib_abort(struct fib *fib)
{
	rib_undo(&fib->rib);
}
void fib_reclaim(struct fib *fib)
{
	if (waiting(fib) || has_dying(fib))
		quiesce(fib);
}

/* ---- questions ---- */

bool fib_route_get(const struct fib *fib, const struct fib_prefix *p,
		   enum fib_origin origin, struct fib_route *ret)
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

void fib_refused(struct fib *fib, uint8_t family, int r)
{
	uint64_t *refused = fib->sizes.refused[family == 6];

	refused[FIB_REFUSED_FULL] += r == -ENOSPC;
	refused[FIB_REFUSED_MEMORY] += r == -ENOMEM;
}

void fib_sizes(const struct fib *fib, struct fib_sizes *ret)
{
	*ret = fib->sizes;
	memcpy(ret->routes, fib->rib.count, sizeof(ret->routes));
	memcpy(ret->lengths, fib->rib.lengths, sizeof(ret->lengths));
	ret->nexthops = fib->nexthops.used;
	ret->groups = fib->nexthops.groups.n;
	ret->max_nexthops = fib->nexthops.max;
	ret->max_groups = fib->nexthops.groups.max;
	ret->group_bytes = fib->nexthops.groups.bytes;
	ret->max_group_bytes = fib->nexthops.groups.max_bytes;
	for (unsigned f = 0; f < 2; f++)
		ret->lookup_bytes[f] = table_bytes(&fib->table[f]);
	ret->rib_bytes = rib_bytes(&fib->rib) + nexthops_bytes(&fib->nexthops) +
			 words_bytes(&fib->table[0].words) +
			 words_bytes(&fib->table[1].words);
}
