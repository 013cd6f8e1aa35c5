/* daemon/route_words.h - from the words of a change to a route
 *
 *   PREFIX { MAC [dev PORT] [vlan N] | blackhole | unreachable | prohibit | LEGS } [metric N]
 *   LEGS: nexthop MAC [dev PORT] [vlan N] [weight N] nexthop ...
 */
#pragma once

#include "../lib/base/err.h"
#include "../lib/ctl/proto.h"
#include "../lib/fib/fib.h"

struct router;

struct route_words {
	struct fib_nh nh[CTL_LEGS_MAX];
	uint32_t weight[CTL_LEGS_MAX];
	unsigned n; /* 1: no group */
	struct fib_prefix prefix;
	uint32_t metric;
	bool has_metric; /* was said */
};

/* @err: what is wrong and what is allowed. */
int route_words_parse(struct router *r, char *const words[], int n,
		      struct route_words *ret, struct err *err);
/* "blackhole" and so on; NULL for a next hop that has no such word. */
const char *route_kind_word(uint8_t kind);
bool route_kind_parse(const char *word, uint8_t *ret);
