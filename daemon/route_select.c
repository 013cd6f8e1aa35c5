/* daemon/route_select.c - which routes a request is about */

#include "route_select.h"

#include <string.h>

#include "mac.h"
#include "route_words.h"
#include "router.h"

/* ---- prefixes ---- */

static bool is_exact(const struct fib_prefix *of, const struct fib_prefix *p)
{
	return !fib_prefix_compare(of, p);
}

static bool is_inside(const struct fib_prefix *of, const struct fib_prefix *p)
{
	return p->family == of->family && p->len >= of->len &&
	       fib_prefix_covers(of, p->addr);
}

static bool is_around(const struct fib_prefix *of, const struct fib_prefix *p)
{
	return p->family == of->family && p->len <= of->len &&
	       fib_prefix_covers(p, of->addr);
}

static const struct {
	const char *word;
	route_fits_fn *fits;
} places[] = {
	{ "exact", is_exact },
	{ "root", is_inside },
	{ "match", is_around },
};

static int take_prefix(struct route_select *s, const char *word, route_fits_fn *fits,
		       struct err *err)
{
	if (s->fits)
		return err_set(err, -EINVAL, "%s: one prefix is enough", word);
	s->fits = fits;
	return fib_prefix_parse(word, 4, &s->of, err->text, sizeof(err->text));
}

/* ---- a word with a value ---- */

typedef int take_fn(struct router *r, struct route_select *s, const char *value,
		    struct err *err);

static int take_origin(struct router *r, struct route_select *s, const char *value,
		       struct err *err)
{
	(void)r;
	for (unsigned o = 0; o < FIB_ORIGIN_COUNT; o++) {
		if (strcmp(value, fib_origin_name((enum fib_origin)o)) != 0)
			continue;
		s->origin = (enum fib_origin)o;
		s->has_origin = true;
		return 0;
	}
	return err_set(err, -EINVAL, "proto %s: must be static or kernel", value);
}

static int take_port(struct router *r, struct route_select *s, const char *value,
		     struct err *err)
{
	const struct port *p = port_by_name(r, value);

	if (!p)
		return err_set(err, -ENODEV, "dev %s: not a port of this router", value);
	s->port = p->index;
	s->has_port = true;
	return 0;
}

static int take_mac(struct router *r, struct route_select *s, const char *value,
		    struct err *err)
{
	(void)r;
	s->has_mac = true;
	return mac_parse(value, s->mac)
		       ? 0
		       : err_set(err, -EINVAL, "lladdr %s: not a MAC address", value);
}

static int take_kind(struct router *r, struct route_select *s, const char *value,
		     struct err *err)
{
	(void)r;
	s->has_kind = true;
	return route_kind_parse(value, &s->kind)
		       ? 0
		       : err_set(err, -EINVAL,
				 "type %s: must be blackhole, unreachable or prohibit",
				 value);
}

static int take_family(struct router *r, struct route_select *s, const char *value,
		       struct err *err)
{
	(void)r;
	if (strcmp(value, "inet") != 0 && strcmp(value, "inet6") != 0)
		return err_set(err, -EINVAL, "family %s: must be inet or inet6", value);
	s->family = value[4] ? 6 : 4;
	return 0;
}

static const struct {
	const char *word;
	take_fn *take;
} values[] = {
	{ "proto", take_origin }, { "dev", take_port },	     { "lladdr", take_mac },
	{ "type", take_kind },	  { "family", take_family },
};

static bool looks_like_prefix(const char *word)
{
	return strpbrk(word, ".:/0123456789") || !strcmp(word, "default");
}

/* A word and its value. Return: 0, -ENOENT (another word) or -EINVAL. */
static int take_value(struct router *r, struct route_select *s, const char *word,
		      const char *value, struct err *err)
{
	size_t p = 0, v = 0;

	while (p < ARRAY_LEN(places) && strcmp(word, places[p].word) != 0)
		p++;
	while (v < ARRAY_LEN(values) && strcmp(word, values[v].word) != 0)
		v++;
	if (p == ARRAY_LEN(places) && v == ARRAY_LEN(values))
		return -ENOENT;
	if (!value)
		return err_set(err, -EINVAL, "%s: what follows it is missing", word);
	return p < ARRAY_LEN(places) ? take_prefix(s, value, places[p].fits, err)
				     : values[v].take(r, s, value, err);
}

/* Return: words taken, or -errno. */
static int take_words(struct router *r, struct route_select *s, char *const words[],
		      int n, struct err *err)
{
	int ret = take_value(r, s, words[0], n > 1 ? words[1] : NULL, err);

	if (ret != -ENOENT)
		return ret < 0 ? ret : 2;
	if (!strcmp(words[0], "all"))
		return 1;
	if (!looks_like_prefix(words[0]))
		return err_set(
			err, -EINVAL,
			"%s: must be all, exact, root, match, proto, dev, lladdr, type, "
			"family or a prefix",
			words[0]);
	ret = take_prefix(s, words[0], is_exact, err);
	return ret < 0 ? ret : 1;
}

int route_select_parse(struct router *r, char *const words[], int n,
		       struct route_select *ret, struct err *err)
{
	struct route_select s = { .fits = NULL };
	int taken;

	for (int i = 0; i < n; i += taken) {
		taken = take_words(r, &s, words + i, n - i, err);
		if (taken < 0)
			return taken;
	}
	*ret = s;
	return 0;
}

/* ---- routes ---- */

static bool nexthop_fits(const struct route_select *s, const struct fib_nh *nh)
{
	if (s->has_kind && nh->kind != s->kind)
		return false;
	if ((s->has_port || s->has_mac) && nh->kind != FIB_NH_FORWARD)
		return false;
	return (!s->has_port || nh->port == s->port) &&
	       (!s->has_mac || !memcmp(nh->macs, s->mac, sizeof(s->mac)));
}

/* Of a group, any leg. */
static bool target_fits(const struct router *r, const struct route_select *s,
			uint32_t index)
{
	struct fib_group g;

	if (fib_nh_at(r->fib, index)->kind != FIB_NH_GROUP)
		return nexthop_fits(s, fib_nh_at(r->fib, index));
	fib_group_at(r->fib, index, &g);
	for (uint32_t i = 0; i < g.n_legs; i++)
		if (nexthop_fits(s, fib_nh_at(r->fib, g.leg[i].nh)))
			return true;
	return false;
}

bool route_select_has(const struct router *r, const struct route_select *s,
		      const struct fib_route *route)
{
	return (!s->fits || s->fits(&s->of, &route->prefix)) &&
	       (!s->family || route->prefix.family == s->family) &&
	       (!s->has_origin || route->origin == s->origin) &&
	       ((!s->has_port && !s->has_mac && !s->has_kind) ||
		target_fits(r, s, route->nh));
}
