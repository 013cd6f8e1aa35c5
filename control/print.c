/* control/print.c - the same rows as text or as JSON */

#include "print.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static size_t flags(const struct print *p)
{
	return JSON_PRESERVE_ORDER | (p->pretty ? JSON_INDENT(4) : JSON_COMPACT);
}

void print_begin(struct print *p)
{
	p->open = p->json;
	p->count = 0;
}

void print_one(struct print *p, const json_t *row, print_row text)
{
	if (!p->json) {
		text(p, row);
		return;
	}
	fputs(p->count++ ? "," : "[", stdout);
	if (p->pretty)
		fputs("\n", stdout);
	json_dumpf(row, stdout, flags(p));
}

/* The bracket opens with the first row, so that an error instead of rows stands alone. */
void print_end(struct print *p)
{
	if (p->open)
		puts(!p->count ? "[]" : p->pretty ? "\n]" : "]");
	p->open = false;
}

static const char *text_of(const json_t *row, const char *key)
{
	const char *s = json_string_value(json_object_get(row, key));

	return s ? s : "";
}

static int64_t number_of(const json_t *row, const char *key)
{
	return json_integer_value(json_object_get(row, key));
}

void print_error(const struct print *p, const char *where, unsigned line, const json_t *error)
{
	const char *hint = text_of(error, "hint");
	json_t *out;

	fprintf(stderr, "mlx5fwdctl: %s%s (%s)%s%s\n", where, text_of(error, "message"),
		text_of(error, "code"), *hint ? "; " : "", hint);
	if (!p->json)
		return;
	out = json_pack("{sO}", "error", error);
	if (line)
		json_object_set_new(json_object_get(out, "error"), "line", json_integer(line));
	json_dumpf(out, stdout, flags(p));
	puts("");
	json_decref(out);
}

/* As ip-route(8) shows them, so that eyes and scripts find their way. */
static void print_destination(const json_t *row)
{
	const char *type = text_of(row, "type");

	if (*type)
		printf("%s ", type);
	fputs(text_of(row, "dst"), stdout);
	if (json_object_get(row, "lladdr"))
		printf(" lladdr %s dev %s", text_of(row, "lladdr"), text_of(row, "dev"));
}

void print_route(const struct print *p, const json_t *row)
{
	const json_t *flag;
	size_t i;

	(void)p;
	print_destination(row);
	printf(" proto %s", text_of(row, "protocol"));
	if (number_of(row, "metric"))
		printf(" metric %" PRId64, number_of(row, "metric"));
	json_array_foreach(json_object_get(row, "flags"), i, flag)
		printf(" %s", json_string_value(flag));
	puts("");
}

void print_route_get(const struct print *p, const json_t *row)
{
	(void)p;
	print_destination(row);
	if (json_object_get(row, "prefix"))
		printf(" by %s proto %s", text_of(row, "prefix"), text_of(row, "protocol"));
	printf(" verdict %s", text_of(row, "verdict"));
	if (*text_of(row, "reason"))
		printf(" reason %s", text_of(row, "reason"));
	puts("");
}

static void print_counters(const json_t *row, const char *const keys[])
{
	for (; *keys; keys++)
		printf(" %s %" PRId64, *keys, number_of(row, *keys));
	puts("");
}

void print_port(const struct print *p, const json_t *row)
{
	static const char *const traffic[] = { "received", "forwarded", "punted", "dropped", "egress", NULL };
	static const char *const bytes[] = { "received_bytes", "egress_bytes", "forwarded_ipv4",
					     "forwarded_ipv6", NULL };
	static const char *const rest[] = { "punt_delivered", "punt_policed", "punt_failed", "out_of_buffer",
					    "receive_errors", "transmit_errors", "recoveries",
					    "carrier_changes", "doorbells", NULL };
	bool carrier = json_is_true(json_object_get(row, "carrier"));

	printf("%s: %s %s address %s mtu %" PRId64 " %s %s %s queues %" PRId64 "\n", text_of(row, "port"),
	       text_of(row, "rdma_device"), text_of(row, "pci"), text_of(row, "address"),
	       number_of(row, "mtu"), json_is_true(json_object_get(row, "up")) ? "up" : "down",
	       carrier ? "carrier" : "no-carrier", text_of(row, "state"), number_of(row, "queues"));
	if (!p->stats)
		return;
	fputs("   ", stdout);
	print_counters(row, traffic);
	fputs("   ", stdout);
	print_counters(row, bytes);
	if (p->stats < 2)
		return;
	fputs("   ", stdout);
	print_counters(row, rest);
}

void print_worker(const struct print *p, const json_t *row)
{
	static const char *const counters[] = { "received", "forwarded", NULL };
	static const char *const turns[] = { "turns", "empty_turns", "sleeps", NULL };

	printf("worker %" PRId64 " cpu ", number_of(row, "worker"));
	if (json_is_null(json_object_get(row, "cpu")))
		fputs("any", stdout);
	else
		printf("%" PRId64, number_of(row, "cpu"));
	print_counters(row, counters);
	if (!p->stats)
		return;
	fputs("   ", stdout);
	print_counters(row, turns);
}

static void print_reasons(const json_t *row, const char *what, bool zeroes)
{
	const char *name;
	json_t *value;

	json_object_foreach((json_t *)json_object_get(row, what), name, value)
		if (zeroes || json_integer_value(value))
			printf("    %-8s %-20s %" PRId64 "\n", what, name,
			       (int64_t)json_integer_value(value));
}

/* Reasons that never happened are shown with -s only. */
void print_drop(const struct print *p, const json_t *row)
{
	printf("%s:\n", text_of(row, "port"));
	print_reasons(row, "dropped", p->stats);
	print_reasons(row, "punted", p->stats);
}

void print_pairs(const struct print *p, const json_t *row)
{
	const char *name;
	json_t *value;

	(void)p;
	json_object_foreach((json_t *)row, name, value) {
		if (json_is_string(value))
			printf("%s %s\n", name, json_string_value(value));
		else
			printf("%s %" PRId64 "\n", name, (int64_t)json_integer_value(value));
	}
}
