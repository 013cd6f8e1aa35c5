/* control/save.c - a route as the command that makes it */

#include <stdio.h>

#include "../lib/ctl/saved.h"
#include "print.h"

static void put_hop(struct saved *s, const struct row *row)
{
	const struct saved_hop h = { .mac = row_text(row, "lladdr"),
				     .dev = row_text(row, "dev"),
				     .vlan = (unsigned)row_number(row, "vlan"),
				     .weight = (unsigned)row_number(row, "weight") };

	saved_hop(s, &h);
}

static void put_leg(void *arg, const struct row *leg)
{
	put_hop(arg, leg);
}

void print_saved_route(const struct print *p, const struct row *row)
{
	struct saved s;

	(void)p;
	saved_begin(&s, row_text(row, "dst"));
	if (row_has(row, "type"))
		saved_type(&s, row_text(row, "type"));
	else if (row_has(row, "lladdr"))
		put_hop(&s, row);
	row_each_row(row, "nexthops", put_leg, &s);
	saved_end(&s, (uint32_t)row_number(row, "metric"));
	puts(s.line);
}
