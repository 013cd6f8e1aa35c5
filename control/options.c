/* control/options.c - one table: parsing, help, completion, manual page */

#include "options.h"

#include <string.h>

#include "../lib/base/err.h"
#include "../lib/base/hot.h"
#include "../lib/base/number.h"
#include "../lib/ctl/proto.h"
#include "../lib/ctl/version.h"
#include "help.h"
#include "status.h"

#define SEE_HELP "see mlx5fwdctl --help"

enum { TIMEOUT_MAX_S = 86400 };

/* Each does what its option means. Return: OPTIONS_GO_ON or an exit status. */
typedef int take_fn(struct options *o, const char *value);

static int take_json(struct options *o, const char *value)
{
	(void)value;
	o->print.json = true;
	return OPTIONS_GO_ON;
}

static int take_pretty(struct options *o, const char *value)
{
	(void)value;
	o->print.json = o->print.pretty = true;
	return OPTIONS_GO_ON;
}

static int take_brief(struct options *o, const char *value)
{
	(void)value;
	o->print.brief = true;
	return OPTIONS_GO_ON;
}

static int take_no_legend(struct options *o, const char *value)
{
	(void)value;
	o->print.no_legend = true;
	return OPTIONS_GO_ON;
}

static int take_stats(struct options *o, const char *value)
{
	(void)value;
	o->print.stats++;
	return OPTIONS_GO_ON;
}

static int take_details(struct options *o, const char *value)
{
	(void)value;
	o->print.details = true;
	return OPTIONS_GO_ON;
}

static int take_stamps(struct options *o, const char *value)
{
	(void)value;
	o->print.stamps = true;
	return OPTIONS_GO_ON;
}

static int take_batch(struct options *o, const char *value)
{
	o->batch = value;
	return OPTIONS_GO_ON;
}

static int take_force(struct options *o, const char *value)
{
	(void)value;
	o->force = true;
	return OPTIONS_GO_ON;
}

static int take_dry_run(struct options *o, const char *value)
{
	(void)value;
	o->dry_run = true;
	return OPTIONS_GO_ON;
}

static int take_missing_ok(struct options *o, const char *value)
{
	(void)value;
	o->missing_ok = true;
	return OPTIONS_GO_ON;
}

static int take_ip4(struct options *o, const char *value)
{
	(void)value;
	o->family = "inet";
	return OPTIONS_GO_ON;
}

static int take_ip6(struct options *o, const char *value)
{
	(void)value;
	o->family = "inet6";
	return OPTIONS_GO_ON;
}

static int take_socket(struct options *o, const char *value)
{
	o->socket = value;
	return OPTIONS_GO_ON;
}

static int take_timeout(struct options *o, const char *value)
{
	uint64_t v;

	if (number_parse(value, TIMEOUT_MAX_S, &v) < 0 || !v) {
		print_failure(&o->print, -EINVAL, SEE_HELP,
			      "--timeout %s: must be 1 to %d (seconds)", value,
			      TIMEOUT_MAX_S);
		return STATUS_USAGE;
	}
	o->timeout_s = (unsigned)v;
	return OPTIONS_GO_ON;
}

static int take_version(struct options *o, const char *value)
{
	(void)o;
	(void)value;
	printf("mlx5fwdctl %s\n", MLX5FWD_VERSION);
	return STATUS_DONE;
}

static int take_help(struct options *o, const char *value)
{
	(void)o;
	(void)value;
	help_usage(stdout);
	return STATUS_DONE;
}

static int take_manual(struct options *o, const char *value)
{
	(void)o;
	(void)value;
	help_manual(stdout);
	return STATUS_DONE;
}

static const struct {
	struct option_row row;
	take_fn *take;
} options[] = {
	{ { "-j", "--json", NULL,
	    "JSON: an array of objects; all keys, with or without -s and -d" },
	  take_json },
	{ { "-p", "--pretty", NULL, "indented JSON" }, take_pretty },
	{ { "-br", "--brief", NULL, "a table: one line an object, fixed columns" },
	  take_brief },
	{ { NULL, "--no-legend", NULL, "with -br: no line of titles" }, take_no_legend },
	{ { "-s", "--stats", NULL, "counters; twice: more of them" }, take_stats },
	{ { "-d", "--details", NULL, "what was chosen, and why" }, take_details },
	{ { "-ts", "--timestamp", NULL, "with monitor: the time before each line" },
	  take_stamps },
	{ { "-b", "--batch", "FILE",
	    "commands from FILE (- = standard input), one a line, as one change: all of them or "
	    "none" },
	  take_batch },
	{ { NULL, "--force", NULL, "with -b: go on after an error" }, take_force },
	{ { NULL, "--dry-run", NULL,
	    "say what would be refused, change nothing: route changes, -b, route restore" },
	  take_dry_run },
	{ { NULL, "--missing-ok", NULL,
	    "with route del: what is gone already is no error" },
	  take_missing_ok },
	{ { "-4", "--ipv4", NULL,
	    "with route show, save and flush: of IPv4 only; short for family inet" },
	  take_ip4 },
	{ { "-6", "--ipv6", NULL, "the same, of IPv6" }, take_ip6 },
	{ { "-S", "--socket", "PATH",
	    "daemon's socket, default $" CTL_SOCKET_ENV " or " CTL_SOCKET
	    ", or, to look only, " CTL_READ_SOCKET },
	  take_socket },
	{ { "-T", "--timeout", "SEC", "wait that long for an answer, default 5" },
	  take_timeout },
	{ { "-V", "--version", NULL, "version of this program" }, take_version },
	{ { "-h", "--help", NULL, "this text" }, take_help },
	{ { NULL, "--manual", NULL, "print the manual page, as man(7) source" },
	  take_manual },
};

const struct option_row *options_row(unsigned i)
{
	return i < ARRAY_LEN(options) ? &options[i].row : NULL;
}

/* Return: its row's number, or ARRAY_LEN(options). */
static size_t find(const char *arg)
{
	size_t i = 0;

	while (i < ARRAY_LEN(options) && strcmp(arg, options[i].row.full) != 0 &&
	       strcmp(arg, options[i].row.full + 1) != 0 &&
	       (!options[i].row.brief || strcmp(arg, options[i].row.brief) != 0))
		i++;
	return i;
}

bool options_has_value(const char *arg)
{
	size_t i = find(arg);

	return i < ARRAY_LEN(options) && options[i].row.value;
}

static int refuse(const struct options *o, const char *arg, const char *why)
{
	print_failure(&o->print, -EINVAL, SEE_HELP, "%s: %s", arg, why);
	return STATUS_USAGE;
}

/* Takes options up to the first word, whose index it leaves in @ret. */
static int take_first(int argc, char **argv, struct options *o, int *ret)
{
	int i, r = OPTIONS_GO_ON;

	for (i = 1; i < argc && argv[i][0] == '-' && r == OPTIONS_GO_ON; i++) {
		const char *arg = argv[i];
		size_t k = find(arg);

		if (k == ARRAY_LEN(options))
			return refuse(o, arg, "unknown option");
		if (options[k].row.value && ++i == argc)
			return refuse(o, arg, "its value is missing");
		r = options[k].take(o, argv[i]);
	}
	*ret = i;
	return r;
}

static bool asks_help(size_t k)
{
	return k < ARRAY_LEN(options) && options[k].take == take_help;
}

int options_take(int argc, char **argv, struct options *o, const char *words[], int *n)
{
	int i = 0, r = take_first(argc, argv, o, &i);

	*n = 0;
	for (; i < argc && r == OPTIONS_GO_ON; i++) {
		size_t k = find(argv[i]);

		/* OBJECT -h is about the object. */
		if (k == ARRAY_LEN(options) || options[k].row.value || asks_help(k))
			words[(*n)++] = argv[i];
		else
			r = options[k].take(o, NULL);
	}
	return r;
}

/* ---- help ---- */

enum { HELP_AT = 23, HELP_WIDTH = 90 };

static void print_wrapped(FILE *to, const char *text)
{
	int at = HELP_AT;

	while (*text) {
		int n = (int)strcspn(text, " ");

		if (at + 1 + n > HELP_WIDTH) {
			fprintf(to, "\n%*s", HELP_AT, "");
			at = HELP_AT;
		}
		at += fprintf(to, "%s%.*s", at > HELP_AT ? " " : "", n, text);
		text += n;
		text += strspn(text, " ");
	}
	fputc('\n', to);
}

void options_help(FILE *to)
{
	char text[64];

	for (size_t i = 0; i < ARRAY_LEN(options); i++) {
		const struct option_row *r = &options[i].row;

		snprintf(text, sizeof(text), "  %3s%s %s%s%s", r->brief ? r->brief : "",
			 r->brief ? "," : " ", r->full, r->value ? " " : "",
			 r->value ? r->value : "");
		fprintf(to, "%-*s", HELP_AT, text);
		if (strlen(text) >= HELP_AT)
			fprintf(to, " ");
		print_wrapped(to, r->help);
	}
}
