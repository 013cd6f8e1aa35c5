/* control/save.c - a route as the command that makes it */

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "../lib/ctl/proto.h"
#include "print.h"

/* Names of interfaces may have quotes and the like. */
static void put_word(const char *word)
{
	char quoted[CTL_LINE_MAX] = "";

	if (strpbrk(word, "\"'\\#") && ctl_quote(quoted, sizeof(quoted), word) == 0)
		word = quoted;
	printf(" %s", word);
}

static void put_hop(const struct row *row)
{
	put_word(row_text(row, "lladdr"));
	fputs(" dev", stdout);
	put_word(row_text(row, "dev"));
	if (row_has(row, "vlan"))
		printf(" vlan %" PRId64, row_number(row, "vlan"));
}

static void put_leg(void *arg, const struct row *leg)
{
	(void)arg;
	fputs(" nexthop", stdout);
	put_hop(leg);
	printf(" weight %" PRId64, row_number(leg, "weight"));
}

void print_saved_route(const struct print *p, const struct row *row)
{
	(void)p;
	printf("route add %s", row_text(row, "dst"));
	if (row_has(row, "type"))
		put_word(row_text(row, "type"));
	else if (row_has(row, "lladdr"))
		put_hop(row);
	row_each_row(row, "nexthops", put_leg, NULL);
	if (row_number(row, "metric"))
		printf(" metric %" PRId64, row_number(row, "metric"));
	putchar('\n');
}
