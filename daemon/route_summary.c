/* daemon/route_summary.c - route summary: how many there are, by family, origin and length
 *
 * Lengths that no route has are left out.
 */

#include <stdio.h>

#include "requests.h"
#include "router.h"

enum { LENGTHS_IPV4 = 33 };

static struct row *lengths_row(const uint32_t n[], unsigned count)
{
	struct row *row = row_new();
	char length[12];

	for (unsigned i = 0; i < count; i++) {
		snprintf(length, sizeof(length), "%u", i);
		if (n[i])
			row_set_count(row, length, n[i]);
	}
	return row;
}

static struct row *summary_row(const struct fib_sizes *s, bool v6)
{
	struct row *row = row_new();
	uint64_t all = 0;

	for (unsigned o = 0; o < FIB_ORIGIN_COUNT; o++)
		all += s->routes[v6][o];
	row_set_text(row, "family", v6 ? "inet6" : "inet");
	row_set_count(row, "routes", all);
	for (unsigned o = 0; o < FIB_ORIGIN_COUNT; o++)
		row_set_count(row, fib_origin_name(o), s->routes[v6][o]);
	row_set_row(row, "lengths",
		    v6 ? lengths_row(s->lengths + LENGTHS_IPV4,
				     FIB_LENGTHS - LENGTHS_IPV4)
		       : lengths_row(s->lengths, LENGTHS_IPV4));
	return row;
}

void request_route_summary(struct request *req)
{
	struct fib_sizes sizes;

	fib_sizes(req->router->fib, &sizes);
	client_row(req->client, summary_row(&sizes, false));
	client_row(req->client, summary_row(&sizes, true));
	client_ok(req->client);
}
