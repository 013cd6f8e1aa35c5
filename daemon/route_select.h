/* daemon/route_select.h - which routes a request is about
 *
 *   all | [exact|root|match] PREFIX   [proto static|kernel] [dev PORT] [lladdr MAC] [type KIND]
 *   [family inet|inet6]
 *
 * As ip-route(8) has them: exact is also meant without the word, root is what is inside a
 * prefix, match is what is around it. Everything that is named must fit.
 */
#pragma once

#include "../lib/base/err.h"
#include "../lib/fib/fib.h"

struct router;

typedef bool route_fits_fn(const struct fib_prefix *of, const struct fib_prefix *p);

struct route_select {
	route_fits_fn *fits; /* NULL: any prefix */
	struct fib_prefix of;
	bool has_origin, has_port, has_mac, has_kind;
	uint8_t family; /* 4 or 6; 0: both */
	enum fib_origin origin;
	unsigned port;
	uint8_t mac[6];
	uint8_t kind; /* enum fib_nh_kind */
};

/* @err: what is wrong and what is allowed. */
int route_select_parse(struct router *r, char *const words[], int n,
		       struct route_select *ret, struct err *err);
bool route_select_has(const struct router *r, const struct route_select *s,
		      const struct fib_route *route);
