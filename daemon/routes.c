/* daemon/routes.c - requests that change routes
 *
 * Outside a batch a change is committed at once. `begin` takes the tables for one
 * client until `commit` or `abort`; meanwhile others are told EBUSY.
 */

#include <string.h>

#include "../lib/base/time.h"
#include "../lib/ctl/proto.h"
#include "requests.h"
#include "route_words.h"
#include "router.h"

/* ---- batches ---- */

/* The tables are not this client's to change: says so. A batch whose owner sleeps is given up. */
static bool others_batch(struct request *req)
{
	struct client *owner = req->router->batch_owner;

	if (!owner || owner == req->client)
		return false;
	if (client_quiet_ns(owner) < CTL_BATCH_IDLE_S * NS_PER_S) {
		client_error(req->client, -EBUSY, "try again",
			     "another client's batch is open");
		return true;
	}
	log_warning(
		"control: a client left its batch open and said nothing for %d s; its "
		"changes are given up",
		CTL_BATCH_IDLE_S);
	client_close(owner);
	return false;
}

void request_begin(struct request *req)
{
	if (others_batch(req))
		return;
	if (req->router->batch_owner) {
		client_error(req->client, -EALREADY, NULL,
			     "begin: your batch is open already");
		return;
	}
	req->router->batch_owner = req->client;
	client_ok(req->client);
}

/* The end of a batch of this client; otherwise says that there is none. */
static bool end_batch(struct request *req, const char *what)
{
	if (req->router->batch_owner != req->client) {
		client_error(req->client, -EINVAL, NULL, "%s: no batch of yours is open",
			     what);
		return false;
	}
	req->router->batch_owner = NULL;
	return true;
}

void request_commit(struct request *req)
{
	int r;

	if (!end_batch(req, "commit"))
		return;
	r = fib_commit(req->router->fib);
	if (r < 0)
		client_error(req->client, r, NULL, "commit: %s; nothing was changed",
			     strerror(-r));
	else
		client_ok(req->client);
}

void request_abort(struct request *req)
{
	if (!end_batch(req, "abort"))
		return;
	fib_abort(req->router->fib);
	client_ok(req->client);
}

void routes_client_gone(struct router *r, const struct client *c)
{
	if (r->batch_owner != c)
		return;
	r->batch_owner = NULL;
	fib_abort(r->fib);
}

/* ---- changes ---- */

static void answer(struct request *req, int r, const char *what)
{
	const char *hint = NULL, *why = strerror(-r);

	switch (r) {
	case 0:
		client_ok(req->client);
		return;
	case -EEXIST:
		why = "exists already";
		hint = "use \"route replace\"";
		break;
	case -ESRCH:
		why = "there is no such static route";
		break;
	case -ENOSPC:
		why = "the table is full, nothing was changed";
		break;
	}
	client_error(req->client, r, hint, "%s %s: %s", what, req->arg[0], why);
}

/* The change is staged; in a batch it waits for `commit`. */
static int commit_now(struct router *r)
{
	return r->batch_owner ? 0 : fib_commit(r->fib);
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

static int put_route(struct router *r, const struct route_words *w, put_fn put)
{
	uint32_t nh;
	int ret = w->n > 1 ? get_group(r, w, &nh) : fib_nh_get(r->fib, &w->nh[0], &nh);

	if (ret)
		return ret;
	ret = put(r->fib, &w->prefix, FIB_STATIC, nh, w->metric);
	if (ret < 0)
		fib_nh_put(r->fib, nh);
	return ret < 0 ? ret : commit_now(r);
}

static void put(struct request *req, const char *what, put_fn fn)
{
	struct err err = { "" };
	struct route_words w;
	int r;

	if (others_batch(req))
		return;
	r = route_words_parse(req->router, req->arg, req->n, &w, &err);
	if (r < 0)
		client_error(req->client, r, NULL, "%s: %s", what, err.text);
	else
		answer(req, put_route(req->router, &w, fn), what);
}

void request_route_add(struct request *req)
{
	put(req, "route add", fib_route_add);
}

void request_route_replace(struct request *req)
{
	put(req, "route replace", fib_route_replace);
}

static int delete_route(struct router *r, const struct fib_prefix *p, bool missing_ok)
{
	int ret = fib_route_del(r->fib, p, FIB_STATIC);

	if (ret == -ESRCH && missing_ok)
		return 0;
	return ret < 0 ? ret : commit_now(r);
}

void request_route_del(struct request *req)
{
	bool missing_ok = req->n == 2 && !strcmp(req->arg[1], "--missing-ok");
	struct fib_prefix p;
	char why[200];

	if (others_batch(req))
		return;
	if (fib_prefix_parse(req->arg[0], 4, &p, why, sizeof(why)) < 0)
		client_error(req->client, -EINVAL, NULL, "route del: %s", why);
	else if (req->n == 2 && !missing_ok)
		client_error(req->client, -EINVAL, NULL, "route del: %s: unexpected",
			     req->arg[1]);
	else
		answer(req, delete_route(req->router, &p, missing_ok), "route del");
}
