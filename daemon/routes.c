/* daemon/routes.c - requests about routes
 *
 * Outside a batch a change is committed at once. `begin` takes the tables for one
 * client until `commit` or `abort`; meanwhile others are told EBUSY.
 */

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#include "requests.h"
#include "router.h"

static const struct client *batch_owner; /* NULL: no batch is open */

/* ---- words -> route ---- */

struct wanted {
	struct fib_prefix prefix;
	struct fib_nh nh;
	const char *mac_text, *dev;
	uint32_t metric;
	bool has_nh;
};

static const struct {
	const char *word;
	enum fib_nh_kind kind;
} special[] = {
	{ "blackhole", FIB_NH_BLACKHOLE },
	{ "unreachable", FIB_NH_UNREACHABLE },
	{ "prohibit", FIB_NH_PROHIBIT },
};

static const char *kind_word(uint8_t kind)
{
	for (size_t i = 0; i < ARRAY_LEN(special); i++)
		if (special[i].kind == kind)
			return special[i].word;
	return NULL;
}

static bool parse_mac(const char *text, uint8_t mac[6])
{
	unsigned b[6];
	char sep[5], end;

	if (sscanf(text, "%2x%c%2x%c%2x%c%2x%c%2x%c%2x%c", &b[0], &sep[0], &b[1], &sep[1], &b[2], &sep[2],
		   &b[3], &sep[3], &b[4], &sep[4], &b[5], &end) != 11 || strlen(text) != 17)
		return false;
	for (int i = 0; i < 5; i++)
		if (sep[i] != sep[0] || (sep[0] != ':' && sep[0] != '-'))
			return false;
	for (int i = 0; i < 6; i++)
		mac[i] = (uint8_t)b[i];
	return true;
}

static int parse_number(const char *text, uint32_t *ret)
{
	char *end;
	unsigned long v = strtoul(text, &end, 10);

	if (!*text || *end || text[0] == '-' || text[0] == '+' || v > UINT32_MAX)
		return -EINVAL;
	*ret = (uint32_t)v;
	return 0;
}

static int take_kind(struct wanted *w, const char *word)
{
	for (size_t i = 0; i < ARRAY_LEN(special); i++) {
		if (strcmp(word, special[i].word))
			continue;
		w->nh.kind = (uint8_t)special[i].kind;
		w->has_nh = true;
		return 0;
	}
	return -EINVAL;
}

static int take_words(struct wanted *w, char *word[], int n, struct err *err)
{
	for (int i = 0; i < n; i++) {
		const char *value = i + 1 < n ? word[i + 1] : NULL;

		if (!strcmp(word[i], "dev") || !strcmp(word[i], "metric")) {
			if (!value)
				return err_set(err, -EINVAL, "%s: its value is missing", word[i]);
			if (word[i][0] == 'd')
				w->dev = value;
			else if (parse_number(value, &w->metric) < 0)
				return err_set(err, -EINVAL, "metric %s: must be 0 to 4294967295", value);
			i++;
		} else if (!strcmp(word[i], "via")) {
			return err_set(err, -EOPNOTSUPP, "via: gateways by address need the kernel's "
				       "neighbours, which are not mirrored yet; give the gateway's MAC address");
		} else if (w->has_nh || w->mac_text) {
			return err_set(err, -EINVAL, "%s: unexpected", word[i]);
		} else if (take_kind(w, word[i]) < 0) {
			w->mac_text = word[i];
			if (!parse_mac(word[i], w->nh.macs))
				return err_set(err, -EINVAL, "%s: not a MAC address, nor blackhole, unreachable "
					       "or prohibit", word[i]);
		}
	}
	return 0;
}

static int list_ports(const struct router *r, char *text, size_t size)
{
	size_t at = 0;

	for (unsigned i = 0; i < r->n_ports && at < size; i++)
		at += (size_t)snprintf(text + at, size - at, "%s%s", i ? ", " : "", r->port[i].conf->name);
	return 0;
}

static int choose_port(struct router *r, const struct wanted *w, struct port **ret, struct err *err)
{
	char names[256] = "";

	list_ports(r, names, sizeof(names));
	if (w->dev) {
		*ret = port_by_name(r, w->dev);
		return *ret ? 0 : err_set(err, -ENODEV, "dev %s: not a port of this router; there are: %s",
					  w->dev, names);
	}
	*ret = &r->port[0];
	return r->n_ports == 1 ? 0 : err_set(err, -EINVAL, "dev: which port? There are: %s", names);
}

static int check_mac(const struct wanted *w, const struct port *p, struct err *err)
{
	static const uint8_t zero[6];

	if (w->nh.macs[0] & 1)
		return err_set(err, -EINVAL, "%s: a multicast address is no gateway", w->mac_text);
	if (!memcmp(w->nh.macs, zero, 6))
		return err_set(err, -EINVAL, "%s: no gateway has this address", w->mac_text);
	if (!memcmp(w->nh.macs, p->link.mac, 6))
		return err_set(err, -EINVAL, "%s: is port %s itself", w->mac_text, p->conf->name);
	return 0;
}

static int parse_wanted(struct request *req, struct wanted *w, struct err *err)
{
	struct port *p;
	char why[200];
	int r;

	memset(w, 0, sizeof(*w));
	if (fib_prefix_parse(req->arg[0], 4, &w->prefix, why, sizeof(why)) < 0)
		return err_set(err, -EINVAL, "%s", why);
	r = take_words(w, req->arg + 1, req->n - 1, err);
	if (r < 0)
		return r;
	if (!w->has_nh && !w->mac_text)
		return err_set(err, -EINVAL, "where to? Give a MAC address, blackhole, unreachable or prohibit");
	if (w->has_nh)
		return w->dev ? err_set(err, -EINVAL, "dev %s: this kind of route has none", w->dev) : 0;
	r = choose_port(req->router, w, &p, err);
	if (!r)
		r = check_mac(w, p, err);
	if (r < 0)
		return r;
	w->nh.kind = FIB_NH_FORWARD;
	w->nh.port = (uint8_t)p->index;
	w->nh.mtu = (uint16_t)p->link.mtu;
	memcpy(w->nh.macs + 6, p->link.mac, 6);
	return 0;
}

/* ---- changes ---- */

static bool others_batch(struct request *req)
{
	if (!batch_owner || batch_owner == req->client)
		return false;
	client_error(req->client, -EBUSY, "another client's batch is open; try again");
	return true;
}

static int commit_now(struct request *req)
{
	return batch_owner ? 0 : fib_commit(req->router->fib);
}

static void answer(struct request *req, int r, const char *what, const char *prefix)
{
	if (r >= 0)
		client_ok(req->client);
	else if (r == -EEXIST)
		client_error(req->client, r, "%s %s: exists already; use \"route replace\"", what, prefix);
	else if (r == -ESRCH)
		client_error(req->client, r, "%s %s: there is no such static route", what, prefix);
	else if (r == -ENOSPC)
		client_error(req->client, r, "%s %s: the table is full; nothing was changed", what, prefix);
	else
		client_error(req->client, r, "%s %s: %s", what, prefix, strerror(-r));
}

typedef int (*put_fn)(struct fib *fib, const struct fib_prefix *p, enum fib_origin origin, uint32_t nh,
		      uint32_t metric);

static void put(struct request *req, const char *what, put_fn fn)
{
	struct fib *fib = req->router->fib;
	struct err err = { "" };
	struct wanted w;
	uint32_t nh;
	int r;

	if (others_batch(req))
		return;
	r = parse_wanted(req, &w, &err);
	if (r < 0) {
		client_error(req->client, r, "%s: %s", what, err.text);
		return;
	}
	r = fib_nh_get(fib, &w.nh, &nh);
	if (!r) {
		r = fn(fib, &w.prefix, FIB_STATIC, nh, w.metric);
		if (r < 0)
			fib_nh_put(fib, nh);
	}
	if (!r)
		r = commit_now(req);
	answer(req, r, what, req->arg[0]);
}

void request_route_add(struct request *req) { put(req, "route add", fib_route_add); }
void request_route_replace(struct request *req) { put(req, "route replace", fib_route_replace); }

void request_route_del(struct request *req)
{
	struct fib_prefix p;
	char why[200];
	int r;

	if (others_batch(req))
		return;
	if (fib_prefix_parse(req->arg[0], 4, &p, why, sizeof(why)) < 0) {
		client_error(req->client, -EINVAL, "route del: %s", why);
		return;
	}
	r = fib_route_del(req->router->fib, &p, FIB_STATIC);
	if (r == -ESRCH && req->n == 2 && !strcmp(req->arg[1], "--missing-ok"))
		r = 0;
	if (!r)
		r = commit_now(req);
	answer(req, r, "route del", req->arg[0]);
}

void request_begin(struct request *req)
{
	if (others_batch(req))
		return;
	if (batch_owner) {
		client_error(req->client, -EALREADY, "begin: your batch is open already");
		return;
	}
	batch_owner = req->client;
	client_ok(req->client);
}

static bool no_batch(struct request *req, const char *what)
{
	if (batch_owner == req->client)
		return false;
	client_error(req->client, -EINVAL, "%s: no batch of yours is open", what);
	return true;
}

void request_commit(struct request *req)
{
	int r;

	if (no_batch(req, "commit"))
		return;
	batch_owner = NULL;
	r = fib_commit(req->router->fib);
	if (r < 0)
		client_error(req->client, r, "commit: %s; nothing was changed", strerror(-r));
	else
		client_ok(req->client);
}

void request_abort(struct request *req)
{
	if (no_batch(req, "abort"))
		return;
	batch_owner = NULL;
	fib_abort(req->router->fib);
	client_ok(req->client);
}

void routes_client_gone(struct router *r, const struct client *c)
{
	if (batch_owner != c)
		return;
	batch_owner = NULL;
	fib_abort(r->fib);
}

/* ---- listing ---- */

static void add_nexthop(json_t *o, const struct router *r, const struct fib_nh *nh)
{
	char mac[18];

	if (kind_word(nh->kind))
		json_object_set_new(o, "type", json_string(kind_word(nh->kind)));
	if (nh->kind != FIB_NH_FORWARD)
		return;
	snprintf(mac, sizeof(mac), "%02x:%02x:%02x:%02x:%02x:%02x", nh->macs[0], nh->macs[1], nh->macs[2],
		 nh->macs[3], nh->macs[4], nh->macs[5]);
	json_object_set_new(o, "lladdr", json_string(mac));
	json_object_set_new(o, "dev", json_string(r->port[nh->port].conf->name));
}

static json_t *route_object(const struct router *r, const struct fib_route *route)
{
	char dst[FIB_PREFIX_TEXT];
	json_t *o = json_object(), *flags = json_array();

	fib_prefix_text(&route->prefix, dst);
	json_object_set_new(o, "dst", json_string(dst));
	add_nexthop(o, r, fib_nh_at(r->fib, route->nh));
	json_object_set_new(o, "protocol", json_string(fib_origin_name(route->origin)));
	json_object_set_new(o, "metric", json_integer(route->metric));
	if (!route->active)
		json_array_append_new(flags, json_string("inactive"));
	json_object_set_new(o, "flags", flags);
	return o;
}

struct listing {
	struct fib_route last;
	struct fib_prefix within; /* only prefixes inside; family 0 = all */
	bool started;
	unsigned sent;
	struct client *client;
	struct router *router;
};

enum { PIECE = 64 };

static bool inside(const struct listing *l, const struct fib_prefix *p)
{
	if (!l->within.family)
		return true;
	return p->family == l->within.family && p->len >= l->within.len &&
	       fib_prefix_covers(&l->within, p->addr);
}

static bool list_one(void *arg, const struct fib_route *route)
{
	struct listing *l = arg;

	l->last = *route;
	l->started = true;
	l->sent++;
	if (inside(l, &route->prefix))
		client_object(l->client, route_object(l->router, route));
	return l->sent < PIECE;
}

static bool list_piece(struct client *c, struct router *r, void *state)
{
	struct listing *l = state;
	struct fib_route after = l->last;

	l->sent = 0;
	l->client = c;
	l->router = r;
	fib_route_walk(r->fib, l->started ? &after : NULL, list_one, l);
	if (l->sent == PIECE)
		return true;
	client_ok(c);
	return false;
}

void request_route_show(struct request *req)
{
	struct listing *l = calloc(1, sizeof(*l));
	char why[200];
	int at = req->n == 2 && !strcmp(req->arg[0], "root") ? 1 : 0;

	if (!l) {
		client_error(req->client, -ENOMEM, "route show: no memory");
		return;
	}
	if (req->n > at && fib_prefix_parse(req->arg[at], 4, &l->within, why, sizeof(why)) < 0) {
		client_error(req->client, -EINVAL, "route show: %s", why);
		free(l);
		return;
	}
	client_stream(req->client, list_piece, l);
}

/* What a packet to this address meets: the words of `mlx5fwdctl route get`. */
static const char *fate(const struct fib_nh *nh)
{
	static const char *const words[] = {
		[FIB_NH_FORWARD] = "forward", [FIB_NH_KERNEL] = "punt",	   [FIB_NH_LOCAL] = "punt",
		[FIB_NH_BLACKHOLE] = "drop",  [FIB_NH_UNREACHABLE] = "punt", [FIB_NH_PROHIBIT] = "punt",
		[FIB_NH_NONE] = "punt",
	};

	return words[nh->kind];
}

void request_route_get(struct request *req)
{
	uint8_t addr[16] = { 0 };
	uint8_t family = strchr(req->arg[0], ':') ? 6 : 4;
	struct fib_route route;
	json_t *o;

	if (inet_pton(family == 4 ? AF_INET : AF_INET6, req->arg[0], addr) != 1) {
		client_error(req->client, -EINVAL, "route get: %s: not an IPv4 or IPv6 address", req->arg[0]);
		return;
	}
	if (!fib_route_match(req->router->fib, family, addr, &route)) {
		o = json_pack("{ssssss}", "dst", req->arg[0], "verdict", "punt", "reason", "no_route");
	} else {
		o = route_object(req->router, &route);
		json_object_set_new(o, "prefix", json_incref(json_object_get(o, "dst")));
		json_object_set_new(o, "dst", json_string(req->arg[0]));
		json_object_set_new(o, "verdict", json_string(fate(fib_nh_at(req->router->fib, route.nh))));
	}
	client_object(req->client, o);
	client_ok(req->client);
}
