/* unit/fib_model.h - the oracle of the table tests: routes in a list, searched in full
 *
 * Slow, and too short to be wrong. Every change goes to the table and to the list; the
 * list keeps what was committed beside what is staged, so that an abort is easy.
 */
#pragma once

#include "../test.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../../lib/base/hot.h"
#include "../../lib/base/rcu.h"
#include "../../lib/fib/lookup_hot.h"

enum { MODEL_MAX = 4096 };

struct model_route {
	struct fib_prefix prefix;
	enum fib_origin origin;
	uint32_t nh, metric;
};

struct model {
	struct fib *fib;
	size_t n, n_committed;
	struct model_route route[MODEL_MAX], committed[MODEL_MAX];
};

static inline struct fib_nh model_hop(uint32_t n)
{
	struct fib_nh nh = { .kind = FIB_NH_FORWARD, .mtu = 1500 };

	memcpy(nh.macs, &n, sizeof(n));
	return nh;
}

/* A table, an empty list and next hops 1 .. @hops, a reference on each. */
static inline struct model *model_open(const struct fib_conf *conf, uint32_t hops)
{
	struct model *m = calloc(1, sizeof(*m));

	assert_non_null(m);
	assert_int_equal(fib_new(conf, &m->fib), 0);
	for (uint32_t i = 1; i <= hops; i++) {
		struct fib_nh nh = model_hop(i);
		uint32_t index;

		assert_int_equal(fib_nh_get(m->fib, &nh, &index), 0);
		assert_int_equal(index, i);
	}
	return m;
}

static inline void model_close(struct model *m)
{
	fib_free(m->fib);
	free(m);
}

static inline unsigned model_width(uint8_t family)
{
	return family == 4 ? 32 : 128;
}

static inline void model_flip(uint8_t addr[16], unsigned bit)
{
	addr[bit / 8] ^= (uint8_t)(0x80 >> bit % 8);
}

static inline struct fib_prefix model_prefix(uint8_t family, const uint8_t addr[16],
					     unsigned len)
{
	struct fib_prefix p = { .family = family, .len = (uint8_t)len };

	for (unsigned bit = 0; bit < len; bit++)
		p.addr[bit / 8] |= addr[bit / 8] & (uint8_t)(0x80 >> bit % 8);
	return p;
}

/* ---- the list ---- */

static inline struct model_route *model_find(struct model *m, const struct fib_prefix *p,
					     enum fib_origin origin)
{
	for (size_t i = 0; i < m->n; i++)
		if (m->route[i].origin == origin &&
		    !fib_prefix_compare(&m->route[i].prefix, p))
			return &m->route[i];
	return NULL;
}

/* The longest that covers, of those the most preferred origin. */
static inline const struct model_route *model_match(const struct model_route route[],
						    size_t n, uint8_t family,
						    const uint8_t addr[16])
{
	const struct model_route *best = NULL;

	for (size_t i = 0; i < n; i++) {
		const struct model_route *r = &route[i];

		if (r->prefix.family != family || !fib_prefix_covers(&r->prefix, addr))
			continue;
		if (!best || r->prefix.len > best->prefix.len ||
		    (r->prefix.len == best->prefix.len && r->origin < best->origin))
			best = r;
	}
	return best;
}

static inline uint32_t model_lookup(const struct model *m, uint8_t family,
				    const uint8_t addr[16])
{
	const struct model_route *r =
		model_match(m->committed, m->n_committed, family, addr);

	return r ? r->nh : 0;
}

/* ---- changes ---- */

static inline void model_add(struct model *m, const struct fib_prefix *p,
			     enum fib_origin origin, uint32_t nh, uint32_t metric)
{
	struct model_route *is = model_find(m, p, origin);

	fib_nh_ref(m->fib, nh);
	assert_int_equal(fib_route_add(m->fib, p, origin, nh, metric), is ? -EEXIST : 0);
	if (is)
		fib_nh_put(m->fib, nh);
	else
		m->route[m->n++] = (struct model_route){ *p, origin, nh, metric };
}

static inline void model_replace(struct model *m, const struct fib_prefix *p,
				 enum fib_origin origin, uint32_t nh, uint32_t metric)
{
	struct model_route *is = model_find(m, p, origin);

	fib_nh_ref(m->fib, nh);
	assert_int_equal(fib_route_replace(m->fib, p, origin, nh, metric), 0);
	if (!is)
		is = &m->route[m->n++];
	*is = (struct model_route){ *p, origin, nh, metric };
}

static inline void model_del(struct model *m, const struct fib_prefix *p,
			     enum fib_origin origin)
{
	struct model_route *is = model_find(m, p, origin);

	assert_int_equal(fib_route_del(m->fib, p, origin), is ? 0 : -ESRCH);
	if (is)
		*is = m->route[--m->n];
}

static inline void model_settle(struct model *m)
{
	memcpy(m->committed, m->route, m->n * sizeof(m->route[0]));
	m->n_committed = m->n;
}

static inline void model_undo(struct model *m)
{
	memcpy(m->route, m->committed, m->n_committed * sizeof(m->route[0]));
	m->n = m->n_committed;
}

static inline void model_commit(struct model *m)
{
	assert_int_equal(fib_commit(m->fib), 0);
	model_settle(m);
}

static inline void model_abort(struct model *m)
{
	fib_abort(m->fib);
	model_undo(m);
}

/* ---- where to look ---- */

/* An address in or just outside a route that we have: random addresses would almost never
 * reach a /31, and a table that ignores /31 would pass. */
static inline void model_near(const struct model_route route[], size_t n, uint8_t family,
			      uint8_t addr[16])
{
	unsigned kind = test_below(4);
	const struct fib_prefix *p;
	size_t pick;

	test_fill(addr, 16);
	if (!n || kind == 0)
		return;
	pick = test_below((uint32_t)n);
	p = &route[pick].prefix;
	if (p->family != family)
		return;
	for (unsigned bit = 0; bit < p->len; bit++)
		if ((p->addr[bit / 8] ^ addr[bit / 8]) & 0x80 >> bit % 8)
			model_flip(addr, bit);
	if (kind == 1) /* the first address, or the last */
		memset(addr, test_below(2) ? 0xff : 0, 16);
	for (unsigned bit = 0; kind == 1 && bit < p->len; bit++)
		if ((p->addr[bit / 8] ^ addr[bit / 8]) & 0x80 >> bit % 8)
			model_flip(addr, bit);
	if (kind == 2)
		model_flip(addr, test_below(model_width(family)));
}

/* A prefix that has to do with the routes there are: longer, shorter, or a neighbour. */
static inline struct fib_prefix model_pick(const struct model *m)
{
	uint8_t family = test_below(2) ? 4 : 6, addr[16];
	unsigned len = test_below(model_width(family) + 1);

	model_near(m->route, m->n, family, addr);
	return model_prefix(family, addr, len);
}

/* Add, replace or delete, of a route that is there or one that is not. */
static inline void model_change(struct model *m, uint32_t hops, size_t max_routes)
{
	struct fib_prefix p = model_pick(m);
	enum fib_origin origin = (enum fib_origin)test_below(FIB_ORIGIN_COUNT);
	uint32_t nh = 1 + test_below(hops), metric = test_below(5), what = test_below(4);

	if (m->n && test_below(2))
		p = m->route[test_below((uint32_t)m->n)].prefix;
	if (what == 0)
		model_replace(m, &p, origin, nh, metric);
	else if (what == 1 || m->n > max_routes)
		model_del(m, &p, origin);
	else
		model_add(m, &p, origin, nh, metric);
}

enum { MODEL_BURST = 70 };

/* Bursts of every length, in both tables, against the committed list. */
static inline void model_check(struct model *m, unsigned n)
{
	const struct fib_tables *t = *fib_live(m->fib);
	uint8_t addr[MODEL_BURST][16];
	uint32_t host[MODEL_BURST], nh[MODEL_BURST + 1];

	assert_in_range(n, 0, MODEL_BURST);
	for (uint8_t family = 4; family <= 6; family += 2) {
		for (unsigned i = 0; i < n; i++) {
			model_near(m->committed, m->n_committed, family, addr[i]);
			memcpy(&host[i], addr[i], 4);
			host[i] = __builtin_bswap32(host[i]);
		}
		nh[n] = 0xdeadbeef;
		if (family == 4)
			fib_lookup4(t, host, nh, n);
		else
			fib_lookup6(t, (const uint8_t(*)[16])addr, nh, n);
		assert_int_equal(nh[n], 0xdeadbeef);
		for (unsigned i = 0; i < n; i++)
			assert_int_equal(nh[i], model_lookup(m, family, addr[i]));
	}
}

/* The list of routes, what is staged included: order, contents, who is active. */
struct model_walk {
	struct model *m;
	struct fib_route last;
	size_t n;
	unsigned piece;
};

static inline bool model_walk_one(void *arg, const struct fib_route *r)
{
	struct model_walk *w = arg;
	struct model_route *is = model_find(w->m, &r->prefix, r->origin);
	int order = w->n ? fib_prefix_compare(&w->last.prefix, &r->prefix) : -1;

	assert_non_null(is);
	assert_int_equal(is->nh, r->nh);
	assert_int_equal(is->metric, r->metric);
	assert_true(order < 0 || (order == 0 && w->last.origin < r->origin));
	assert_int_equal(r->active, order < 0);
	w->last = *r;
	w->n++;
	return --w->piece;
}

static inline void model_check_lengths(const struct model *m, const struct fib_sizes *s)
{
	uint32_t lengths[FIB_LENGTHS] = { 0 };

	for (size_t i = 0; i < m->n; i++) {
		const struct fib_prefix *p = &m->route[i].prefix;

		lengths[p->family == 6 ? 33 + p->len : p->len]++;
	}
	assert_memory_equal(s->lengths, lengths, sizeof(lengths));
}

static inline void model_check_walk(struct model *m)
{
	struct model_walk w = { .m = m, .n = 0 };
	struct fib_route after;
	struct fib_sizes s;
	uint32_t count = 0;

	do {
		unsigned piece = 1 + test_below(5);

		after = w.last;
		w.piece = piece;
		fib_route_walk(m->fib, w.n ? &after : NULL, model_walk_one, &w);
	} while (w.piece == 0);
	assert_int_equal(w.n, m->n);
	fib_sizes(m->fib, &s);
	for (unsigned f = 0; f < 2; f++)
		for (unsigned o = 0; o < FIB_ORIGIN_COUNT; o++)
			count += s.routes[f][o];
	assert_int_equal(count, m->n);
	model_check_lengths(m, &s);
}
