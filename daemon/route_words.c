/* daemon/route_words.c - from the words of a change to a route */

#include "route_words.h"

#include <inttypes.h>
#include <string.h>

#include "../lib/base/number.h"
#include "mac.h"
#include "router.h"

enum { VLAN_MAX = 4094 }; /* 4095 is reserved: 802.1Q 9.6 */

struct said_hop {
	const char *mac, *dev, *vlan, *weight;
};

struct said {
	struct said_hop hop[CTL_LEGS_MAX];
	unsigned n; /* the last one is what words are about */
	bool legs;  /* each began with "nexthop" */
	const char *metric, *proto;
	const char *kind; /* in place of a MAC address */
	uint8_t nh_kind;
};

static const struct {
	const char *word;
	uint8_t kind;
} kinds[] = {
	{ "blackhole", FIB_NH_BLACKHOLE },
	{ "unreachable", FIB_NH_UNREACHABLE },
	{ "prohibit", FIB_NH_PROHIBIT },
};

const char *route_kind_word(uint8_t kind)
{
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
		if (kinds[i].kind == kind)
			return kinds[i].word;
	return NULL;
}

bool route_kind_parse(const char *word, uint8_t *ret)
{
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
		if (strcmp(word, kinds[i].word) != 0)
			continue;
		*ret = kinds[i].kind;
		return true;
	}
	return false;
}

/* ---- what was said ---- */

static const char **value_of(struct said *said, const char *word)
{
	struct said_hop *hop = &said->hop[said->n - 1];

	if (!strcmp(word, "dev"))
		return &hop->dev;
	if (!strcmp(word, "vlan"))
		return &hop->vlan;
	if (!strcmp(word, "weight") && said->legs)
		return &hop->weight;
	if (!strcmp(word, "proto"))
		return &said->proto;
	return !strcmp(word, "metric") ? &said->metric : NULL;
}

/* "dev PORT" and the like: a word with a value of its own. Return: words taken, 0 = none such. */
static int take_pair(struct said *said, char *const words[], int n, struct err *err)
{
	const char **value = value_of(said, words[0]);

	if (!value)
		return 0;
	if (n < 2)
		return err_set(err, -EINVAL, "%s: its value is missing", words[0]);
	if (*value)
		return err_set(err, -EINVAL, "%s: given twice", words[0]);
	*value = words[1];
	return 2;
}

/* "nexthop": what follows is about one more leg. Return: words taken, 0 = another word. */
static int take_leg(struct said *said, const char *word, struct err *err)
{
	const struct said_hop *last = &said->hop[said->n - 1];

	if (strcmp(word, "nexthop") != 0)
		return 0;
	if (said->kind || (!said->legs && (last->mac || last->dev || last->vlan)))
		return err_set(err, -EINVAL, "nexthop: unexpected");
	if (said->legs && !last->mac)
		return err_set(err, -EINVAL, "nexthop: its MAC address is missing");
	if (said->n == CTL_LEGS_MAX)
		return err_set(err, -E2BIG, "nexthop: a route has at most %d",
			       CTL_LEGS_MAX);
	said->n += said->legs;
	said->legs = true;
	return 1;
}

/* Where to: one word that is not a pair. */
static int take_target(struct said *said, const char *word, struct err *err)
{
	struct said_hop *hop = &said->hop[said->n - 1];
	uint8_t mac[6];

	if (!strcmp(word, "via"))
		return err_set(
			err, -EOPNOTSUPP,
			"via: gateways by address need the kernel's neighbours, which are "
			"not mirrored yet; give the gateway's MAC address");
	if (said->kind || hop->mac)
		return err_set(err, -EINVAL, "%s: unexpected", word);
	if (!said->legs && route_kind_parse(word, &said->nh_kind)) {
		said->kind = word;
		return 1;
	}
	if (!mac_parse(word, mac))
		return err_set(err, -EINVAL, "%s: not a MAC address%s", word,
			       said->legs ? ""
					  : ", nor blackhole, unreachable or prohibit");
	hop->mac = word;
	return 1;
}

/* "lladdr MAC", as `route show` prints it. Return: words taken, 0 = another word. */
static int take_lladdr(struct said *said, char *const words[], int n, struct err *err)
{
	uint8_t mac[6];
	int r;

	if (strcmp(words[0], "lladdr") != 0)
		return 0;
	if (n < 2)
		return err_set(err, -EINVAL, "lladdr: its value is missing");
	if (!mac_parse(words[1], mac))
		return err_set(err, -EINVAL, "lladdr %s: not a MAC address", words[1]);
	r = take_target(said, words[1], err);
	return r < 0 ? r : 2;
}

static int take_words(struct said *said, char *const words[], int n, struct err *err)
{
	int r;

	for (int i = 0; i < n; i += r) {
		r = take_pair(said, words + i, n - i, err);
		if (!r)
			r = take_leg(said, words[i], err);
		if (!r)
			r = take_lladdr(said, words + i, n - i, err);
		if (!r)
			r = take_target(said, words[i], err);
		if (r < 0)
			return r;
	}
	if (said->legs && !said->hop[said->n - 1].mac)
		return err_set(err, -EINVAL, "nexthop: its MAC address is missing");
	if (said->proto && strcmp(said->proto, "static") != 0)
		return err_set(err, -EINVAL, "proto %s: routes that are added are static",
			       said->proto);
	if (!said->kind && !said->hop[0].mac)
		return err_set(
			err, -EINVAL,
			"where to? Give a MAC address, blackhole, unreachable or prohibit");
	if (said->kind && said->hop[0].dev)
		return err_set(err, -EINVAL, "dev %s: a %s route has none",
			       said->hop[0].dev, said->kind);
	if (said->kind && said->hop[0].vlan)
		return err_set(err, -EINVAL, "vlan %s: a %s route has none",
			       said->hop[0].vlan, said->kind);
	return 0;
}

/* ---- what it means ---- */

static void list_ports(const struct router *r, char *text, size_t size)
{
	int at = 0;

	for (unsigned i = 0; i < r->n_ports && (size_t)at < size; i++)
		at += snprintf(text + at, size - (size_t)at, "%s%s", i ? ", " : "",
			       r->port[i].conf->name);
}

static int check_mac(const uint8_t mac[6], const struct port *p, const char *text,
		     struct err *err)
{
	static const uint8_t zero[6];

	if (mac[0] & 1)
		return err_set(err, -EINVAL, "%s: a multicast address is no gateway",
			       text);
	if (!memcmp(mac, zero, sizeof(zero)))
		return err_set(err, -EINVAL, "%s: no gateway has this address", text);
	if (!memcmp(mac, p->link.mac, sizeof(p->link.mac)))
		return err_set(err, -EINVAL, "%s: is port %s's own address", text,
			       p->conf->name);
	return 0;
}

static int number(const char *what, const char *text, uint64_t min, uint64_t max,
		  uint32_t *ret, struct err *err)
{
	uint64_t v;

	if (number_parse(text, max, &v) < 0 || v < min)
		return err_set(err, -EINVAL, "%s %s: must be %" PRIu64 " to %" PRIu64,
			       what, text, min, max);
	*ret = (uint32_t)v;
	return 0;
}

static int make_nexthop(struct router *r, const struct said_hop *said, struct fib_nh *nh,
			struct err *err)
{
	char names[FWD_PORTS_MAX * (IF_NAMESIZE + 2)] = "";
	const struct port *p = said->dev ? port_by_name(r, said->dev) : &r->port[0];

	list_ports(r, names, sizeof(names));
	if (!said->dev && r->n_ports != 1)
		return err_set(err, -EINVAL, "dev: which port? There are: %s", names);
	if (!p)
		return err_set(err, -ENODEV,
			       "dev %s: not a port of this router; there are: %s",
			       said->dev, names);
	nh->kind = FIB_NH_FORWARD;
	nh->port = (uint8_t)p->index;
	mac_parse(said->mac, nh->macs);
	port_set_nexthop(p, nh);
	if (said->vlan) {
		uint32_t vlan;
		int ret = number("vlan", said->vlan, 1, VLAN_MAX, &vlan, err);

		if (ret < 0)
			return ret;
		nh->vlan = (uint16_t)vlan;
	}
	return check_mac(nh->macs, p, said->mac, err);
}

static int make_hops(struct router *r, const struct said *said, struct route_words *w,
		     struct err *err)
{
	int ret = 0;

	w->n = said->n;
	if (said->kind) {
		w->nh[0].kind = said->nh_kind;
		return 0;
	}
	for (unsigned i = 0; i < said->n && !ret; i++) {
		w->weight[i] = 1;
		ret = make_nexthop(r, &said->hop[i], &w->nh[i], err);
		if (!ret && said->hop[i].weight)
			ret = number("weight", said->hop[i].weight, 1, FIB_WEIGHT_MAX,
				     &w->weight[i], err);
	}
	return ret;
}

int route_words_parse(struct router *r, char *const words[], int n,
		      struct route_words *ret, struct err *err)
{
	struct said said = { .n = 1 };
	int ret_words;

	memset(ret, 0, sizeof(*ret)); /* next hops are compared as bytes */
	if (fib_prefix_parse(words[0], 4, &ret->prefix, err->text, sizeof(err->text)) < 0)
		return -EINVAL;
	ret_words = take_words(&said, words + 1, n - 1, err);
	if (ret_words < 0)
		return ret_words;
	ret->has_metric = said.metric;
	if (said.metric)
		ret_words =
			number("metric", said.metric, 0, UINT32_MAX, &ret->metric, err);
	return ret_words < 0 ? ret_words : make_hops(r, &said, ret, err);
}
