/* daemon/routes.c - requests that change routes
 *
 * Each change is staged; outside a batch (batch.h) it is committed at once.
 */

#include <string.h>

#include "batch.h"
#include "events.h"
#include "requests.h"
#include "restore.h"
#include "route_select.h"
#include "route_words.h"
#include "router.h"

/* ---- changes ---- */

static const char *why_not(int r)
{
	switch (r) {
	case -EEXIST:
		return "exists already";
	case -ESRCH:
		return "there is no such static route";
	case -EINVAL:
		return batch_restore_takes;
	case -EOPNOTSUPP:
		return "only next hops can be several";
	case -EALREADY:
		return "has this next hop already";
	case -ENOSPC:
		return "the table is full, nothing was changed";
	}
	return strerror(-r);
}

static void answer(struct request *req, int r, const char *what)
{
	if (!r)
		client_ok(req->client);
	else
		client_error(req->client, r,
			     r == -EEXIST ? "use \"route replace\"" : NULL, "%s %s: %s",
			     what, req->arg[0], why_not(r));
}

typedef int (*put_fn)(struct fib *fib, const struct fib_prefix *p, enum fib_origin origin,
		      uint32_t nh, uint32_t metric);

static int get_group(struct router *r, const struct route_words *w, uint32_t *ret)
{
	struct fib_leg leg[CTL_LEGS_MAX];
	struct fib_group g = { .leg = leg };
	int err = 0;

	for (; g.n_legs < w->n && !err; g.n_legs += !err) {
		struct fib_leg *l = &leg[g.n_legs];

		l->weight = w->weight[g.n_legs];
		l->down = leg_is_down(r, &w->nh[g.n_legs]);
		err = fib_nh_get(r->fib, &w->nh[g.n_legs], &l->nh);
	}
	if (!err)
		err = fib_group_get(r->fib, &g, ret);
	while (g.n_legs) /* the group has its own references */
		fib_nh_put(r->fib, leg[--g.n_legs].nh);
	return err;
}

static int get_nexthop(struct router *r, const struct route_words *w, uint32_t *ret)
{
	return w->n > 1 ? get_group(r, w, ret) : fib_nh_get(r->fib, &w->nh[0], ret);
}

/* The reference on @nh is passed on or given back. */
static int stage_route(struct router *r, const struct route_words *w, uint32_t nh,
		       put_fn put)
{
	int ret = put(r->fib, &w->prefix, FIB_STATIC, nh, w->metric);

	if (ret < 0)
		fib_nh_put(r->fib, nh);
	else
		events_route(r, put == fib_route_add ? "add" : "change", &w->prefix);
	return ret;
}

/* A route that is as it shall be costs nothing, and is no change. */
static int replace_route(struct router *r, const struct route_words *w)
{
	struct fib_route is;
	bool there = fib_route_get(r->fib, &w->prefix, FIB_STATIC, &is), same;
	uint32_t nh = 0;
	int ret = get_nexthop(r, w, &nh);

	if (ret < 0)
		return ret;
	same = there && is.nh == nh && is.metric == w->metric;
	if (same)
		fib_nh_put(r->fib, nh);
	else
		ret = stage_route(r, w, nh, there ? fib_route_replace : fib_route_add);
	return ret < 0 ? ret : batch_put(r, &w->prefix, there, same);
}

static int add_route(struct router *r, const struct route_words *w)
{
	uint32_t nh = 0;
	int ret;

	if (batch_restores(r))
		return replace_route(r, w);
	ret = get_nexthop(r, w, &nh);
	return ret < 0 ? ret : stage_route(r, w, nh, fib_route_add);
}

int route_stage_add(struct router *r, char *const words[], int n, struct err *err)
{
	struct route_words w;
	int ret = route_words_parse(r, words, n, &w, err);

	if (ret < 0)
		return ret;
	ret = add_route(r, &w);
	return ret < 0 ? err_set(err, ret, "%s: %s", words[0], why_not(ret)) : 0;
}

/* ---- append: further legs ---- */

static int add_leg(struct route_words *w, const struct fib_nh *nh, uint32_t weight)
{
	if (nh->kind != FIB_NH_FORWARD)
		return -EOPNOTSUPP;
	for (unsigned i = 0; i < w->n; i++)
		if (!memcmp(&w->nh[i], nh, sizeof(*nh)))
			return -EALREADY;
	if (w->n == CTL_LEGS_MAX)
		return -E2BIG;
	w->nh[w->n] = *nh;
	w->weight[w->n++] = weight;
	return 0;
}

static int add_legs_of(struct router *r, struct route_words *w, uint32_t index)
{
	const struct fib_nh *nh = fib_nh_at(r->fib, index);
	struct fib_group g;
	int ret = 0;

	if (nh->kind != FIB_NH_GROUP)
		return add_leg(w, nh, 1);
	fib_group_at(r->fib, index, &g);
	for (uint32_t i = 0; i < g.n_legs && !ret; i++)
		ret = add_leg(w, fib_nh_at(r->fib, g.leg[i].nh), g.leg[i].weight);
	return ret;
}

/* As `ip -6 route append` does: the prefix has one route, which gets the legs of this one too. */
static int append_route(struct router *r, const struct route_words *w)
{
	struct route_words sum = { .prefix = w->prefix, .metric = w->metric };
	struct fib_route is;
	int ret;

	if (batch_restores(r))
		return -EINVAL;
	if (!fib_route_get(r->fib, &w->prefix, FIB_STATIC, &is))
		return add_route(r, w);
	if (!w->has_metric)
		sum.metric = is.metric;
	ret = add_legs_of(r, &sum, is.nh);
	for (unsigned i = 0; i < w->n && !ret; i++)
		ret = add_leg(&sum, &w->nh[i], w->weight[i]);
	return ret < 0 ? ret : replace_route(r, &sum);
}

static void put(struct request *req, const char *what,
		int (*stage)(struct router *r, const struct route_words *w))
{
	struct router *router = req->router;
	struct err err = { "" };
	struct route_words w;
	int r;

	if (batch_of_others(req))
		return;
	r = route_words_parse(router, req->arg, req->n, &w, &err);
	if (r < 0) {
		client_error(req->client, r, NULL, "%s: %s", what, err.text);
		return;
	}
	r = stage(router, &w);
	fib_refused(router->fib, w.prefix.family, r);
	answer(req, r < 0 ? r : batch_changed(router), what);
}

void request_route_add(struct request *req)
{
	put(req, "route add", add_route);
}

void request_route_replace(struct request *req)
{
	put(req, "route replace", replace_route);
}

void request_route_append(struct request *req)
{
	put(req, "route append", append_route);
}

/* ---- del, flush ---- */

static int delete_route(struct router *r, const struct fib_prefix *p, bool missing_ok)
{
	int ret = -EINVAL;

	if (!batch_restores(r)) {
		events_route(r, "delete", p);
		ret = fib_route_del(r->fib, p, FIB_STATIC);
	}
	if (ret == -ESRCH && missing_ok)
		return 0;
	return ret < 0 ? ret : batch_changed(r);
}

void request_route_del(struct request *req)
{
	bool missing_ok = req->n == 2 && !strcmp(req->arg[1], "--missing-ok");
	struct fib_prefix p;
	char why[200];

	if (batch_of_others(req))
		return;
	if (fib_prefix_parse(req->arg[0], 4, &p, why, sizeof(why)) < 0)
		client_error(req->client, -EINVAL, NULL, "route del: %s", why);
	else if (req->n == 2 && !missing_ok)
		client_error(req->client, -EINVAL, NULL, "route del: %s: unexpected",
			     req->arg[1]);
	else
		answer(req, delete_route(req->router, &p, missing_ok), "route del");
}

struct flush {
	struct router *router;
	struct route_select select;
};

static bool is_selected(void *arg, const struct fib_route *route)
{
	const struct flush *f = arg;

	return route_select_has(f->router, &f->select, route);
}

void request_route_flush(struct request *req)
{
	struct router *router = req->router;
	struct flush f = { .router = router };
	struct err err = { "" };
	int64_t n;
	int r;

	if (batch_of_others(req))
		return;
	r = route_select_parse(router, req->arg, req->n, &f.select, &err);
	if (!r && batch_restores(router))
		r = err_set(&err, -EINVAL, "%s", batch_restore_takes);
	if (r < 0) {
		client_error(req->client, r, NULL, "route flush: %s", err.text);
		return;
	}
	n = routes_delete(router, is_selected, &f);
	if (n < 0 && !router->batch_owner)
		batch_give_up(router);
	answer(req, n < 0 ? (int)n : batch_changed(router), "route flush");
}
