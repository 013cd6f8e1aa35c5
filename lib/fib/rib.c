/* fib/rib.c - every route of every origin, and what has changed since the last commit */

#include "rib.h"

#include <string.h>

#include "nexthops.h"

enum {
	MAX_NODES = 1 << 25, /* of a family */
	MAX_ROUTES = 1 << 25,
	MAX_CHANGES = 1 << 25, /* in one commit */
};

int rib_open(struct rib *rib, struct nexthops *nexthops)
{
	int r;

	memset(rib, 0, sizeof(*rib));
	rib->nexthops = nexthops;
	r = trie_open(&rib->trie[0], MAX_NODES);
	if (!r)
		r = trie_open(&rib->trie[1], MAX_NODES);
	if (!r)
		r = pool_open(&rib->routes, sizeof(struct rib_route), MAX_ROUTES, true);
	if (!r)
		r = arena_open(&rib->log, (size_t)MAX_CHANGES * sizeof(struct rib_change),
			       false);
	return r;
}

void rib_close(struct rib *rib)
{
	trie_close(&rib->trie[0]);
	trie_close(&rib->trie[1]);
	pool_close(&rib->routes);
	arena_close(&rib->log);
}

/* ---- changes ---- */

/* Where the origin's route is linked, or would be. */
static uint32_t *place(struct rib *rib, uint32_t *link, unsigned origin)
{
	while (*link && rib_at(rib, *link)->origin < origin)
		link = &rib_at(rib, *link)->next;
	return link;
}

static bool is_there(const struct rib *rib, uint32_t route, unsigned origin)
{
	return route && rib_at(rib, route)->origin == origin;
}

static int log_more(struct rib *rib, const struct fib_prefix *p, unsigned origin,
		    struct rib_change **ret)
{
	size_t at;
	int r = arena_more(&rib->log, sizeof(struct rib_change), &at);

	if (r < 0)
		return r;
	*ret = (struct rib_change *)(void *)(rib->log.base + at);
	**ret = (struct rib_change){
		.key = rib_key(p->addr),
		.family = p->family,
		.len = p->len,
		.origin = (uint8_t)origin,
	};
	return 0;
}

static void log_less(struct rib *rib)
{
	rib->log.used -= sizeof(struct rib_change);
}

static int add_new(struct rib *rib, uint32_t *head, unsigned origin, uint32_t nh,
		   uint32_t metric)
{
	uint32_t route, *link = place(rib, head, origin);
	int r = pool_get(&rib->routes, &route);

	if (r < 0)
		return r;
	*rib_at(rib, route) = (struct rib_route){ nh, metric, *link, origin };
	*link = route;
	return 0;
}

static void change(struct rib *rib, struct rib_change *c, struct rib_route *route,
		   uint32_t nh, uint32_t metric)
{
	(void)rib;
	c->action = RIB_REPLACED;
	c->nh = route->nh;
	c->metric = route->metric;
	route->nh = nh;
	route->metric = metric;
}

static int put(struct rib *rib, const struct fib_prefix *p, unsigned origin, uint32_t nh,
	       uint32_t metric, bool replace)
{
	struct trie *trie = rib_trie(rib, p->family);
	struct rib_change *c;
	uint32_t node, *head, route;
	int r = log_more(rib, p, origin, &c);

	if (r < 0)
		return r;
	r = trie_insert(trie, c->key, c->len, &node);
	if (r < 0)
		goto fail;
	head = &trie_at(trie, node)->route;
	route = *place(rib, head, origin);
	if (!is_there(rib, route, origin)) {
		r = add_new(rib, head, origin, nh, metric);
		if (r < 0) {
			trie_prune(trie, c->key, c->len);
			goto fail;
		}
		c->action = RIB_ADDED;
		rib->count[p->family == 6][origin]++;
		return 0;
	}
	if (replace) {
		change(rib, c, rib_at(rib, route), nh, metric);
		return 0;
	}
	r = -EEXIST;
fail:
	log_less(rib);
	return r;
}

int rib_add(struct rib *rib, const struct fib_prefix *p, enum fib_origin origin,
	    uint32_t nh, uint32_t metric)
{
	return put(rib, p, origin, nh, metric, false);
}

int rib_replace(struct rib *rib, const struct fib_prefix *p, enum fib_origin origin,
		uint32_t nh, uint32_t metric)
{
	return put(rib, p, origin, nh, metric, true);
}

/* The node stays until the log is settled: undoing needs it. */
int rib_del(struct rib *rib, const struct fib_prefix *p, enum fib_origin origin)
{
	struct trie *trie = rib_trie(rib, p->family);
	uint32_t node = trie_find(trie, rib_key(p->addr), p->len), *link;
	struct rib_change *c;
	int r;

	if (!node)
		return -ESRCH;
	link = place(rib, &trie_at(trie, node)->route, origin);
	if (!is_there(rib, *link, origin))
		return -ESRCH;
	r = log_more(rib, p, origin, &c);
	if (r < 0)
		return r;
	c->action = RIB_DELETED;
	c->route = *link;
	*link = rib_at(rib, *link)->next;
	rib->count[p->family == 6][origin]--;
	return 0;
}

/* ---- the end of a batch ---- */

static void prune_all(struct rib *rib)
{
	for (size_t i = 0; i < rib_changes(rib); i++) {
		const struct rib_change *c = rib_change(rib, i);

		if (c->action != RIB_REPLACED)
			trie_prune(rib_trie(rib, c->family), c->key, c->len);
	}
	arena_reset(&rib->log);
}

static void free_route(struct rib *rib, uint32_t route)
{
	nexthops_put(rib->nexthops, rib_at(rib, route)->nh);
	pool_put(&rib->routes, route);
}

void rib_settle(struct rib *rib, struct fib_sizes *sizes)
{
	for (size_t i = 0; i < rib_changes(rib); i++) {
		const struct rib_change *c = rib_change(rib, i);

		switch ((enum rib_action)c->action) {
		case RIB_ADDED:
			sizes->adds++;
			break;
		case RIB_REPLACED:
			sizes->replaces++;
			nexthops_put(rib->nexthops, c->nh);
			break;
		case RIB_DELETED:
			sizes->deletes++;
			free_route(rib, c->route);
			break;
		}
	}
	prune_all(rib);
}

static void undo(struct rib *rib, const struct rib_change *c)
{
	struct trie *trie = rib_trie(rib, c->family);
	uint32_t node = trie_find(trie, c->key, c->len);
	uint32_t *link = place(rib, &trie_at(trie, node)->route, c->origin),
		 route = *link;

	switch ((enum rib_action)c->action) {
	case RIB_ADDED:
		*link = rib_at(rib, route)->next;
		free_route(rib, route);
		rib->count[c->family == 6][c->origin]--;
		break;
	case RIB_REPLACED:
		nexthops_put(rib->nexthops, rib_at(rib, route)->nh);
		rib_at(rib, route)->nh = c->nh;
		rib_at(rib, route)->metric = c->metric;
		break;
	case RIB_DELETED:
		*link = c->route; /* its next is as it was: everything later is undone */
		rib->count[c->family == 6][c->origin]++;
		break;
	}
}

void rib_undo(struct rib *rib)
{
	/* No node goes before all is undone: an older change may need it. */
	for (size_t i = rib_changes(rib); i-- > 0;)
		undo(rib, rib_change(rib, i));
	prune_all(rib);
}

/* ---- questions ---- */

static struct fib_route describe(const struct rib *rib, const struct trie_node *node,
				 uint8_t family, uint32_t route)
{
	const struct rib_route *is = rib_at(rib, route);
	struct fib_route d = {
		.prefix = { .family = family, .len = node->len },
		.origin = (enum fib_origin)is->origin,
		.nh = is->nh,
		.metric = is->metric,
		.active = route == node->route,
	};
	uint64_t w[2] = { __builtin_bswap64(node->key.hi),
			  __builtin_bswap64(node->key.lo) };

	memcpy(d.prefix.addr, w, sizeof(w));
	return d;
}

bool rib_get(const struct rib *rib, const struct fib_prefix *p, enum fib_origin origin,
	     struct fib_route *ret)
{
	const struct trie *trie = &rib->trie[p->family == 6];
	uint32_t node = trie_find(trie, rib_key(p->addr), p->len), route;

	for (route = node ? trie_at(trie, node)->route : 0; route;
	     route = rib_at(rib, route)->next) {
		if (rib_at(rib, route)->origin != origin)
			continue;
		*ret = describe(rib, trie_at(trie, node), p->family, route);
		return true;
	}
	return false;
}

bool rib_match(const struct rib *rib, uint8_t family, const uint8_t addr[16],
	       struct fib_route *ret)
{
	const struct trie *trie = &rib->trie[family == 6];
	struct trie_key key = rib_key(addr);
	uint32_t node;

	if (family == 4)
		key = trie_mask(key, 32);
	node = trie_match(trie, key, 129);
	if (!node)
		return false;
	*ret = describe(rib, trie_at(trie, node), family, trie_at(trie, node)->route);
	return true;
}

struct walk {
	const struct rib *rib;
	uint8_t family;
	bool stopped;
	const struct fib_route *after;
	bool (*fn)(void *arg, const struct fib_route *route);
	void *arg;
};

static bool walk_node(void *arg, const struct trie_node *node)
{
	struct walk *w = arg;

	for (uint32_t route = node->route; route; route = rib_at(w->rib, route)->next) {
		struct fib_route d = describe(w->rib, node, w->family, route);

		if (w->after && !fib_prefix_compare(&d.prefix, &w->after->prefix) &&
		    d.origin <= w->after->origin)
			continue;
		if (!w->fn(w->arg, &d)) {
			w->stopped = true;
			return false;
		}
	}
	return true;
}

void rib_walk(const struct rib *rib, const struct fib_route *after,
	      bool (*fn)(void *arg, const struct fib_route *route), void *arg)
{
	struct walk w = { rib, 4, false, after, fn, arg };

	for (; w.family <= 6 && !w.stopped; w.family += 2) {
		struct trie_key from = { 0, 0 };
		unsigned len = 0;

		if (after && after->prefix.family > w.family)
			continue;
		if (after && after->prefix.family == w.family) {
			from = rib_key(after->prefix.addr);
			len = after->prefix.len;
		}
		trie_walk(&rib->trie[w.family == 6], from, len, walk_node, &w);
	}
}

uint64_t rib_bytes(const struct rib *rib)
{
	return rib->trie[0].nodes.arena.used + rib->trie[1].nodes.arena.used +
	       rib->routes.arena.used + rib->log.used;
}
