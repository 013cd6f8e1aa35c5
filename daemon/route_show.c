/* daemon/route_show.c - requests that look at routes
 *
 * Keys are those of `ip -j route` where it has one, and `lladdr`: routes name the
 * gateway's MAC address. A default route is 0.0.0.0/0 or ::/0, as one listing has both
 * families, and a host route has its /32 or /128.
 */

#include <stdlib.h>
#include <string.h>

#include "../lib/base/number.h"
#include "mac.h"
#include "requests.h"
#include "route_select.h"
#include "route_words.h"
#include "router.h"
#include "show.h"

/* ---- a route as a row ---- */

static void set_nexthop(struct row *row, const struct router *r, const struct fib_nh *nh)
{
	char mac[MAC_TEXT];

	if (route_kind_word(nh->kind))
		row_set_text(row, "type", route_kind_word(nh->kind));
	if (nh->kind != FIB_NH_FORWARD)
		return;
	row_set_text(row, "lladdr", mac_text(nh->macs, mac));
	row_set_text(row, "dev", r->port[nh->port].conf->name);
	if (nh->vlan)
		row_set_count(row, "vlan", nh->vlan);
}

static int compare_legs(const void *a, const void *b)
{
	const struct fib_nh *x = ((const struct shown_leg *)a)->nh;
	const struct fib_nh *y = ((const struct shown_leg *)b)->nh;

	if (x->port != y->port)
		return x->port - y->port;
	return x->vlan != y->vlan ? x->vlan - y->vlan
				  : memcmp(x->macs, y->macs, sizeof(x->macs));
}

uint32_t legs_in_order(const struct router *r, uint32_t index,
		       struct shown_leg ret[FIB_GROUP_LEGS])
{
	struct fib_group g;

	fib_group_at(r->fib, index, &g);
	for (uint32_t i = 0; i < g.n_legs; i++)
		ret[i] = (struct shown_leg){ fib_nh_at(r->fib, g.leg[i].nh), &g.leg[i] };
	qsort(ret, g.n_legs, sizeof(*ret), compare_legs);
	return g.n_legs;
}

/* As `ip -j route` has them: a list of rows, each with its weight and flags. */
static void set_legs(struct row *row, const struct router *r, uint32_t index)
{
	static const char *const down[] = { "linkdown" };
	struct shown_leg shown[FIB_GROUP_LEGS] = { { NULL, NULL } };
	uint32_t n = legs_in_order(r, index, shown);

	for (uint32_t i = 0; i < n; i++) {
		struct row *leg = row_new();

		set_nexthop(leg, r, shown[i].nh);
		row_set_count(leg, "weight", shown[i].leg->weight);
		row_set_words(leg, "flags", down, shown[i].leg->down);
		row_add_row(row, "nexthops", leg);
	}
}

void route_set(struct row *row, const struct router *r, const struct fib_route *route)
{
	static const char *const inactive[] = { "inactive" };

	if (fib_nh_at(r->fib, route->nh)->kind == FIB_NH_GROUP)
		set_legs(row, r, route->nh);
	else
		set_nexthop(row, r, fib_nh_at(r->fib, route->nh));
	row_set_text(row, "protocol", fib_origin_name(route->origin));
	row_set_count(row, "metric", route->metric);
	row_set_words(row, "flags", inactive, route->active ? 0 : 1);
}

struct row *route_row(const struct router *r, const struct fib_route *route)
{
	struct row *row = row_new();
	char dst[FIB_PREFIX_TEXT];

	row_set_text(row, "dst", fib_prefix_text(&route->prefix, dst));
	route_set(row, r, route);
	return row;
}

/* ---- route show ---- */

enum { PIECE = 64 /* routes looked at before other clients have their turn */ };

struct listing {
	struct route_select select;
	struct fib_route last;
	bool started;
	unsigned looked_at;
	struct client *client;
	struct router *router;
};

static bool list_one(void *arg, const struct fib_route *route)
{
	struct listing *l = arg;

	l->last = *route;
	l->started = true;
	l->looked_at++;
	if (route_select_has(l->router, &l->select, route))
		client_row(l->client, route_row(l->router, route));
	return l->looked_at < PIECE;
}

static enum client_next list_piece(struct client *c, struct router *r, void *state)
{
	struct listing *l = state;
	struct fib_route after = l->last;

	l->looked_at = 0;
	l->client = c;
	l->router = r;
	fib_route_walk(r->fib, l->started ? &after : NULL, list_one, l);
	if (l->looked_at == PIECE)
		return CLIENT_MORE;
	client_ok(c);
	return CLIENT_DONE;
}

void request_route_show(struct request *req)
{
	struct listing *l = calloc(1, sizeof(*l));
	struct err err = { "no memory" };
	int r = -ENOMEM;

	if (l)
		r = route_select_parse(req->router, req->arg, req->n, &l->select, &err);
	if (!r) {
		client_stream(req->client, list_piece, l);
		return;
	}
	client_error(req->client, r, NULL, "route show: %s", err.text);
	free(l);
}

/* ---- nexthop show ---- */

struct nh_listing {
	uint32_t next;
	unsigned looked_at;
	struct client *client;
	struct router *router;
};

static const char *const kind_names[] = {
	[FIB_NH_FORWARD] = "forward",
	[FIB_NH_KERNEL] = "kernel",
	[FIB_NH_LOCAL] = "local",
	[FIB_NH_BLACKHOLE] = "blackhole",
	[FIB_NH_UNREACHABLE] = "unreachable",
	[FIB_NH_PROHIBIT] = "prohibit",
	[FIB_NH_NONE] = "none",
	[FIB_NH_GROUP] = "group",
};

void nexthop_set(struct row *row, const struct router *r, const struct fib_nh *nh)
{
	static const char *const down[] = { "linkdown" };
	char mac[MAC_TEXT];

	row_set_text(row, "lladdr", mac_text(nh->macs, mac));
	row_set_text(row, "dev", r->port[nh->port].conf->name);
	if (nh->vlan)
		row_set_count(row, "vlan", nh->vlan);
	row_set_text(row, "src_lladdr", mac_text(nh->macs + 6, mac));
	row_set_count(row, "mtu", nh->mtu);
	row_set_words(row, "flags", down, leg_is_down(r, nh));
}

static struct row *nexthop_row(const struct router *r, uint32_t index,
			       const struct fib_nh *nh)
{
	struct row *row = row_new();

	row_set_count(row, "id", index);
	row_set_text(row, "type", kind_names[nh->kind]);
	if (nh->kind == FIB_NH_FORWARD)
		nexthop_set(row, r, nh);
	else if (nh->kind == FIB_NH_GROUP)
		set_legs(row, r, index);
	return row;
}

static bool list_nexthop(void *arg, uint32_t index, const struct fib_nh *nh)
{
	struct nh_listing *l = arg;

	client_row(l->client, nexthop_row(l->router, index, nh));
	l->next = index + 1;
	return ++l->looked_at < PIECE;
}

static enum client_next list_nexthops(struct client *c, struct router *r, void *state)
{
	struct nh_listing *l = state;

	l->looked_at = 0;
	l->client = c;
	l->router = r;
	fib_nh_each(r->fib, l->next, list_nexthop, l);
	if (l->looked_at == PIECE)
		return CLIENT_MORE;
	client_ok(c);
	return CLIENT_DONE;
}

void request_nexthop_show(struct request *req)
{
	struct nh_listing *l = calloc(1, sizeof(*l));

	if (l)
		client_stream(req->client, list_nexthops, l);
	else
		client_error(req->client, -ENOMEM, NULL, "nexthop show: no memory");
}

/* ---- nexthop get ---- */

struct nh_wanted {
	struct router *router;
	uint64_t id;
	struct row *row; /* NULL: not found */
};

/* The first one from there on. */
static bool is_wanted(void *arg, uint32_t index, const struct fib_nh *nh)
{
	struct nh_wanted *w = arg;

	if (index == w->id)
		w->row = nexthop_row(w->router, index, nh);
	return false;
}

void request_nexthop_get(struct request *req)
{
	struct nh_wanted w = { .router = req->router };

	if (number_parse(req->arg[0], UINT32_MAX, &w.id) < 0) {
		client_error(req->client, -EINVAL, NULL, "nexthop get %s: not a number",
			     req->arg[0]);
		return;
	}
	fib_nh_each(w.router->fib, (uint32_t)w.id, is_wanted, &w);
	if (!w.row) {
		client_error(req->client, -ENOENT, NULL,
			     "nexthop get %s: there is no such next hop", req->arg[0]);
		return;
	}
	client_row(req->client, w.row);
	client_ok(req->client);
}
