/* control/print.c - the same rows as text or as JSON */

#include "print.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "../lib/base/err.h"

/* ---- the array ---- */

void print_begin(struct print *p)
{
	p->count = 0;
}

/* The bracket opens with the first row, so that an error instead of rows stands alone. */
static void open_element(struct print *p)
{
	fputs(p->count++ ? "," : "[", stdout);
	if (p->pretty)
		putchar('\n');
}

void print_one(struct print *p, const struct row *row, print_row *text,
	       const struct column *columns)
{
	if (p->json) {
		open_element(p);
		row_print(row, stdout, p->pretty);
	} else if (p->brief && columns) {
		if (!p->count++ && !p->no_legend)
			print_titles(columns);
		print_brief(p, row, columns);
	} else {
		text(p, row);
	}
}

void print_json_line(struct print *p, const char *line)
{
	open_element(p);
	fputs(line, stdout);
}

void print_end(struct print *p)
{
	if (p->json)
		puts(!p->count ? "[]" : p->pretty ? "\n]" : "]");
}

/* ---- errors ---- */

static void print_error_json(const struct print *p, const struct row *error)
{
	struct row *row = row_new(), *inner = row_new();
	const char *hint = row_text(error, "hint");

	row_set_text(inner, "code", row_text(error, "code"));
	row_set_text(inner, "message", row_text(error, "message"));
	if (*hint)
		row_set_text(inner, "hint", hint);
	if (p->line)
		row_set_count(inner, "line", p->line);
	row_set_row(row, "error", inner);
	row_print(row, stdout, p->pretty);
	putchar('\n');
	row_free(row);
}

void print_error(const struct print *p, const struct row *error)
{
	const char *hint = row_text(error, "hint");

	fputs("mlx5fwdctl: ", stderr);
	if (p->file && p->line)
		fprintf(stderr, "%s:%u: ", p->file, p->line);
	fprintf(stderr, "%s (%s)%s%s\n", row_text(error, "message"),
		row_text(error, "code"), *hint ? "; " : "", hint);
	if (p->json)
		print_error_json(p, error);
}

void print_failure(const struct print *p, int r, const char *hint, const char *fmt, ...)
{
	struct row *error = row_new();
	char text[600];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	row_set_text(error, "code", err_symbol(r));
	row_set_text(error, "message", text);
	if (hint)
		row_set_text(error, "hint", hint);
	print_error(p, error);
	row_free(error);
}

/* ---- routes: as ip-route(8) shows them, so that eyes and scripts find their way ---- */

static void print_hop(const struct row *row)
{
	printf(" lladdr %s dev %s", row_text(row, "lladdr"), row_text(row, "dev"));
	if (row_has(row, "vlan"))
		printf(" vlan %" PRId64, row_number(row, "vlan"));
}

static void print_destination(const struct row *row)
{
	const char *type = row_text(row, "type");

	if (*type)
		printf("%s ", type);
	fputs(row_text(row, "dst"), stdout);
	if (row_has(row, "lladdr"))
		print_hop(row);
}

static void print_flag(void *arg, const char *name, const char *value)
{
	(void)arg;
	(void)name;
	printf(" %s", value);
}

static void print_leg(void *arg, const struct row *leg)
{
	(void)arg;
	fputs("\tnexthop", stdout);
	print_hop(leg);
	printf(" weight %" PRId64, row_number(leg, "weight"));
	row_each_word(leg, "flags", print_flag, NULL);
	putchar('\n');
}

void print_route(const struct print *p, const struct row *row)
{
	(void)p;
	print_destination(row);
	printf(" proto %s", row_text(row, "protocol"));
	if (row_number(row, "metric"))
		printf(" metric %" PRId64, row_number(row, "metric"));
	row_each_word(row, "flags", print_flag, NULL);
	putchar('\n');
	row_each_row(row, "nexthops", print_leg, NULL);
}

/* None when the card leaves such packets with the kernel. */
static void print_queue(const struct row *row)
{
	char needs[80];

	if (row_has(row, "queue_needs")) {
		row_member_text(row, "queue_needs", needs, sizeof(needs));
		printf("\tqueue: depends on the flow, say %s\n", needs);
	} else if (row_has(row, "queue")) {
		printf("\tqueue %" PRId64 " worker %" PRId64 "\n",
		       row_number(row, "queue"), row_number(row, "worker"));
	}
}

void print_route_get(const struct print *p, const struct row *row)
{
	struct row *leg = row_inner(row, "leg");

	(void)p;
	print_destination(row);
	if (row_has(row, "prefix"))
		printf(" by %s proto %s", row_text(row, "prefix"),
		       row_text(row, "protocol"));
	if (leg)
		printf(" leg lladdr %s dev %s", row_text(leg, "lladdr"),
		       row_text(leg, "dev"));
	row_free(leg);
	printf(" verdict %s", row_text(row, "verdict"));
	if (row_has(row, "reason"))
		printf(" reason %s", row_text(row, "reason"));
	putchar('\n');
	print_queue(row);
	row_each_row(row, "nexthops", print_leg, NULL);
}

void print_nexthop(const struct print *p, const struct row *row)
{
	(void)p;
	printf("id %" PRId64 " %s", row_number(row, "id"), row_text(row, "type"));
	if (row_has(row, "lladdr")) {
		print_hop(row);
		printf(" src %s mtu %" PRId64, row_text(row, "src_lladdr"),
		       row_number(row, "mtu"));
	}
	row_each_word(row, "flags", print_flag, NULL);
	putchar('\n');
	row_each_row(row, "nexthops", print_leg, NULL);
}

/* ---- details: what was chosen, and why ---- */

static void print_detail(void *arg, const char *name, const char *value)
{
	(void)arg;
	printf(" %s %s", name, *value ? value : "-");
}

static void print_warning(void *arg, const char *name, const char *value)
{
	(void)arg;
	(void)name;
	printf("    warning: %s\n", value);
}

/* Members that are rows themselves, a line each; then what the daemon warns of. */
static void print_details(const struct print *p, const struct row *row,
			  const char *const names[])
{
	if (!p->details)
		return;
	for (; *names; names++) {
		struct row *inner = row_inner(row, *names);

		if (!inner)
			continue;
		printf("    %s:", *names);
		row_each(inner, print_detail, NULL);
		putchar('\n');
		row_free(inner);
	}
	row_each_word(row, "warnings", print_warning, NULL);
}

/* ---- ports, workers ---- */

static void print_counters(const char *indent, const struct row *row,
			   const char *const keys[])
{
	fputs(indent, stdout);
	for (; *keys; keys++)
		printf(" %s %" PRId64, *keys, row_number(row, *keys));
	putchar('\n');
}

void print_port(const struct print *p, const struct row *row)
{
	static const char *const traffic[] = { "received", "forwarded", "punted",
					       "dropped",  "egress",	NULL };
	static const char *const bytes[] = { "received_bytes", "egress_bytes",
					     "forwarded_ipv4", "forwarded_ipv6", NULL };
	static const char *const rest[] = { "punt_delivered",
					    "punt_policed",
					    "punt_failed",
					    "out_of_buffer",
					    "receive_errors",
					    "transmit_errors",
					    "recoveries",
					    "carrier_changes",
					    "doorbells",
					    "compressed_completions",
					    NULL };
	static const char *const details[] = { "receive", "send", NULL };

	printf("%s: %s %s address %s mtu %" PRId64 " %s %s %s queues %" PRId64 "\n",
	       row_text(row, "port"), row_text(row, "rdma_device"), row_text(row, "pci"),
	       row_text(row, "address"), row_number(row, "mtu"),
	       row_flag(row, "up") ? "up" : "down",
	       row_flag(row, "carrier") ? "carrier" : "no-carrier",
	       row_text(row, "state"), row_number(row, "queues"));
	if (p->stats > 0) {
		print_counters("   ", row, traffic);
		print_counters("   ", row, bytes);
	}
	if (p->stats > 1)
		print_counters("   ", row, rest);
	print_details(p, row, details);
}

void print_worker(const struct print *p, const struct row *row)
{
	static const char *const traffic[] = { "received", "forwarded", NULL };
	static const char *const turns[] = { "turns", "empty_turns", "sleeps", NULL };
	static const char *const details[] = { "placement", "loop", NULL };

	printf("worker %" PRId64 " cpu ", row_number(row, "worker"));
	if (row_number(row, "cpu") < 0)
		fputs("any", stdout);
	else
		printf("%" PRId64, row_number(row, "cpu"));
	print_counters("", row, traffic);
	if (p->stats)
		print_counters("   ", row, turns);
	print_details(p, row, details);
}

/* ---- drops, and what is a list of pairs ---- */

struct reasons {
	const char *what;
	bool zeroes;
};

static void print_reason(void *arg, const char *name, const char *value)
{
	const struct reasons *r = arg;

	if (r->zeroes || strcmp(value, "0") != 0)
		printf("    %-8s %-20s %s\n", r->what, name, value);
}

/* Reasons that never happened are shown with -s only. */
void print_drop(const struct print *p, const struct row *row)
{
	static const char *const what[] = { "dropped", "punted" };

	printf("%s:\n", row_text(row, "port"));
	for (size_t i = 0; i < sizeof(what) / sizeof(what[0]); i++) {
		struct reasons reasons = { what[i], p->stats > 0 };
		struct row *inner = row_inner(row, what[i]);

		row_each(inner, print_reason, &reasons);
		row_free(inner);
	}
}

static void print_length(void *arg, const char *name, const char *value)
{
	(void)arg;
	printf(" /%s %s", name, value);
}

/* "inet routes 3 static 3 kernel 0", and below "/8 1 /24 2" */
void print_summary(const struct print *p, const struct row *row)
{
	static const char *const keys[] = { "routes", "static", "kernel" };
	struct row *lengths = row_inner(row, "lengths");

	(void)p;
	fputs(row_text(row, "family"), stdout);
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		printf(" %s %lld", keys[i], (long long)row_number(row, keys[i]));
	if (row_number(row, "routes"))
		fputs("\n   ", stdout);
	row_each(lengths, print_length, NULL);
	putchar('\n');
	row_free(lengths);
}

static void put_label_value(const char *text)
{
	for (; *text; text++) {
		if (*text == '\n')
			fputs("\\n", stdout);
		else if (*text == '\\' || *text == '"')
			printf("\\%c", *text);
		else
			putchar(*text);
	}
}

static void print_label(void *arg, const char *name, const char *value)
{
	const char **before = arg;

	printf("%s%s=\"", *before, name);
	put_label_value(value);
	putchar('"');
	*before = ",";
}

void print_sample(const struct print *p, const struct row *row)
{
	struct row *labels = row_inner(row, "labels");
	const char *before = "{";

	(void)p;
	fputs(row_text(row, "name"), stdout);
	row_each(labels, print_label, &before);
	printf("%s %s\n", *before == ',' ? "}" : "", row_text(row, "value"));
	row_free(labels);
}

static void print_pair(void *arg, const char *name, const char *value)
{
	(void)arg;
	printf("%s %s\n", name, value);
}

void print_pairs(const struct print *p, const struct row *row)
{
	(void)p;
	row_each(row, print_pair, NULL);
}

static void print_count(void *arg, const char *name, const char *value)
{
	bool *first = arg;

	printf("%s%s %s", *first ? "" : " ", name, value);
	*first = false;
}

void print_counts(const struct print *p, const struct row *row)
{
	bool first = true;

	(void)p;
	row_each(row, print_count, &first);
	putchar('\n');
}

/* ---- the configuration ---- */

static void print_section(const struct row *row, const char *after)
{
	printf("[%s%s%s]%s", row_text(row, "section"), row_has(row, "port") ? " " : "",
	       row_text(row, "port"), after);
}

/* A file that says the same. */
void print_config(const struct print *p, const struct row *row)
{
	static char last[64];
	char section[64];

	(void)p;
	snprintf(section, sizeof(section), "%s %s", row_text(row, "section"),
		 row_text(row, "port"));
	if (strcmp(section, last) != 0)
		print_section(row, "\n");
	memcpy(last, section, sizeof(last));
	printf("%s%s = %s\n", row_flag(row, "said") ? "" : ";", row_text(row, "key"),
	       row_text(row, "value"));
}

void print_config_diff(const struct print *p, const struct row *row)
{
	(void)p;
	print_section(row, "");
	if (row_has(row, "key"))
		printf(" %s", row_text(row, "key"));
	printf(": %s -> %s%s\n", row_text(row, "runs"), row_text(row, "file"),
	       row_flag(row, "live") ? "" : ", by a restart");
}
