/* control/brief.c - rows as lines of a table, for eyes and awk(1): no field has a blank */

#include <inttypes.h>
#include <string.h>

#include "print.h"

/* "7c:c2:55:be:f3:c7", or what else becomes of the packets. */
static void append(char *text, size_t size, const char *more)
{
	size_t n = strlen(text);

	snprintf(text + n, size - n, "%s", more);
}

/* MAC@PORT, MAC@PORT.VLAN */
static void hop_text(const struct row *row, char *text, size_t size)
{
	char vlan[24] = "";

	if (row_has(row, "vlan"))
		snprintf(vlan, sizeof(vlan), ".%" PRId64, row_number(row, "vlan"));
	snprintf(text, size, "%s@%s%s", row_text(row, "lladdr"), row_text(row, "dev"),
		 vlan);
}

struct target {
	char *text;
	size_t size;
};

static void add_leg(void *arg, const struct row *leg)
{
	struct target *t = arg;
	char one[64], hop[48];

	hop_text(leg, hop, sizeof(hop));
	snprintf(one, sizeof(one), "%s%s*%" PRId64, *t->text ? "," : "", hop,
		 row_number(leg, "weight"));
	append(t->text, t->size, one);
}

/* A hop, HOP*WEIGHT of each leg, or the type of the route. */
static void target_text(const struct row *row, char *text, size_t size)
{
	struct target t = { text, size };

	*text = '\0';
	row_each_row(row, "nexthops", add_leg, &t);
	if (row_has(row, "lladdr"))
		hop_text(row, text, size);
	else if (!*text)
		append(text, size, row_text(row, "type"));
}

static void state_text(const struct row *row, char *text, size_t size)
{
	snprintf(text, size, "%s",
		 strcmp(row_text(row, "state"), "forwarding") != 0
			 ? row_text(row, "state")
		 : !row_flag(row, "up")	     ? "down"
		 : !row_flag(row, "carrier") ? "no-carrier"
					     : "up");
}

const struct column columns_route[] = {
	{ "PREFIX", "dst", 18, NULL },	  { "TO", NULL, 26, target_text },
	{ "PROTO", "protocol", 7, NULL }, { "METRIC", "metric", 7, NULL },
	{ "FLAGS", "flags", 0, NULL },	  { NULL, NULL, 0, NULL },
};

const struct column columns_route_get[] = {
	{ "ADDRESS", "dst", 15, NULL },	 { "PREFIX", "prefix", 18, NULL },
	{ "TO", NULL, 26, target_text }, { "VERDICT", "verdict", 8, NULL },
	{ "QUEUE", "queue", 6, NULL },	 { "REASON", "reason", 0, NULL },
	{ NULL, NULL, 0, NULL },
};

const struct column columns_nexthop[] = {
	{ "ID", "id", 6, NULL },	 { "TYPE", "type", 12, NULL },
	{ "TO", NULL, 26, target_text }, { "MTU", "mtu", 6, NULL },
	{ "FLAGS", "flags", 0, NULL },	 { NULL, NULL, 0, NULL },
};

const struct column columns_port[] = {
	{ "PORT", "port", 12, NULL },
	{ "STATE", NULL, 11, state_text },
	{ "ADDRESS", "address", 18, NULL },
	{ "RECEIVED", "received", 15, NULL },
	{ "FORWARDED", "forwarded", 15, NULL },
	{ "PUNTED", "punted", 11, NULL },
	{ "DROPPED", "dropped", 11, NULL },
	{ "EGRESS", "egress", 0, NULL },
	{ NULL, NULL, 0, NULL },
};

const struct column columns_worker[] = {
	{ "WORKER", "worker", 7, NULL },      { "CPU", "cpu", 5, NULL },
	{ "RECEIVED", "received", 15, NULL }, { "FORWARDED", "forwarded", 15, NULL },
	{ "TURNS", "turns", 15, NULL },	      { "EMPTY", "empty_turns", 15, NULL },
	{ "SLEEPS", "sleeps", 0, NULL },      { NULL, NULL, 0, NULL },
};

/* "daemon", or the port's name. */
static void section_text(const struct row *row, char *text, size_t size)
{
	snprintf(text, size, "%s",
		 row_has(row, "port") ? row_text(row, "port") : row_text(row, "section"));
}

const struct column columns_config[] = {
	{ "SECTION", NULL, 15, section_text },
	{ "KEY", "key", 18, NULL },
	{ "LIVE", "live", 5, NULL },
	{ "VALUE", "value", 0, NULL },
	{ NULL, NULL, 0, NULL },
};

const struct column columns_config_diff[] = {
	{ "SECTION", NULL, 15, section_text }, { "KEY", "key", 18, NULL },
	{ "LIVE", "live", 5, NULL },	       { "RUNS", "runs", 26, NULL },
	{ "FILE", "file", 0, NULL },	       { NULL, NULL, 0, NULL },
};

const struct column columns_trace[] = {
	{ "NUMBER", "number", 6, NULL }, { "TIME", "ts", 30, NULL },
	{ "PORT", "port", 12, NULL },	 { "FROM", "src", 15, NULL },
	{ "TO", "dst", 15, NULL },	 { "PROTO", "proto", 5, NULL },
	{ "BYTES", "bytes", 5, NULL },	 { "VERDICT", "verdict", 8, NULL },
	{ "OUT", "out", 12, NULL },	 { "REASON", "reason", 0, NULL },
	{ NULL, NULL, 0, NULL },
};

/* ---- lines ---- */

static void put(const struct column *c, const char *text)
{
	bool last = !c[1].title;

	printf("%-*s%s", last ? 0 : (int)c->width, text, last ? "\n" : " ");
}

void print_titles(const struct column *columns)
{
	for (; columns->title; columns++)
		put(columns, columns->title);
}

void print_brief(const struct print *p, const struct row *row,
		 const struct column *columns)
{
	char text[2600]; /* 40 legs */

	(void)p;
	for (; columns->title; columns++) {
		if (columns->text)
			columns->text(row, text, sizeof(text));
		else
			row_member_text(row, columns->key, text, sizeof(text));
		put(columns, *text ? text : "-");
	}
}
