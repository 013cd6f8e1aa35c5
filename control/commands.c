/* control/commands.c - one table: dispatch, usage, help, completion, manual page */

#include "commands.h"

#include <string.h>

#include "../lib/base/hot.h"
#include "../lib/ctl/proto.h"
#include "../lib/ctl/version.h"

static void add_client_version(struct row *row)
{
	row_set_text(row, "client_version", MLX5FWD_VERSION);
	if (strcmp(row_text(row, "version"), MLX5FWD_VERSION) != 0)
		fputs("mlx5fwdctl: warning: the daemon has another version; restart it\n",
		      stderr);
}

#define ROUTE \
	"<prefix> { <mac> [dev <port>] [vlan <n>] | blackhole | unreachable | prohibit | " \
	"nexthop <mac> [dev <port>] [vlan <n>] [weight <n>] nexthop ... } [metric <n>]"
#define SELECT \
	"[exact|root|match] <prefix> [proto static|kernel] [dev <port>] [lladdr <mac>] " \
	"[type blackhole|unreachable|prohibit] [family inet|inet6]"

static const struct command commands[] = {
	{ "route", "show", "[summary | " SELECT "]",
	  "routes: all, of a prefix, inside it (root), around it (match)", 0,
	  CTL_SELECT_WORDS_MAX, .selects = true, .text = print_route,
	  .columns = columns_route },
	{ "route", "get",
	  "<address> [from <address>] [iif <port>] [proto tcp|udp|icmp] [sport <n>] "
	  "[dport <n>] [ttl <n>] [bytes <n>]",
	  "what happens to such a packet, and why; from whom it is tells its leg of a group, and "
	  "with its ports the queue where the card puts it, which is that of the worker on the way "
	  "out too",
	  1, CTL_GET_WORDS_MAX, .text = print_route_get, .columns = columns_route_get },
	{ "route", "summary", "",
	  "how many routes there are, by family, origin and length; also: route show summary",
	  0, 0, .text = print_summary },
	{ "route", "add", ROUTE,
	  "add a static route; its type may come first, and it may be said as show prints it",
	  2, CTL_ROUTE_WORDS_MAX, .changes = true, .adds = true },
	{ "route", "replace", ROUTE, "add a static route or put it in the place of one",
	  2, CTL_ROUTE_WORDS_MAX, .changes = true, .adds = true },
	{ "route", "append", ROUTE,
	  "give the static route of this prefix further next hops; add it if there is none",
	  2, CTL_ROUTE_WORDS_MAX, .changes = true, .adds = true },
	{ "route", "del", "<prefix> [--missing-ok]", "delete a static route", 1, 1,
	  .changes = true, .missing_ok = true },
	{ "route", "flush", "all | " SELECT,
	  "delete all static routes that fit, as one change", 1, CTL_SELECT_WORDS_MAX,
	  .changes = true, .selects = true },
	{ "route", "save", "", "the static routes, as lines for -b and route restore", 0,
	  0, .selects = true, .ask = "route show proto static",
	  .text = print_saved_route },
	{ "route", "restore", "<file>",
	  "make the static routes those of the file (- = standard input), as one change; tells "
	  "what had to change",
	  1, 1, .kind = COMMAND_RESTORE, .text = print_counts },
	{ "nexthop", "show", "", "next hops that routes lead to, and groups of them", 0,
	  0, .text = print_nexthop, .columns = columns_nexthop },
	{ "nexthop", "get", "<id>", "one of them", 1, 1, .text = print_nexthop,
	  .columns = columns_nexthop },
	{ "port", "show", "[<port>]",
	  "ports; -s adds counters, -s -s more of them; -d how they are driven", 0, 1,
	  .text = print_port, .columns = columns_port },
	{ "port", "reset", "[<port>]",
	  "show counters of ports from here on; metrics go on as they are", 0, 1,
	  .text = NULL },
	{ "worker", "show", "",
	  "packet threads; -s adds their turns, -d their place and why", 0, 0,
	  .text = print_worker, .columns = columns_worker },
	{ "drop", "show", "[<port>]",
	  "packets dropped and punted, by reason; -s shows zeroes too", 0, 1,
	  .text = print_drop },
	{ "drop", "reset", "[<port>]", "show drops and punts from here on", 0, 1,
	  .text = NULL },
	{ "metrics", "show", "", "what Prometheus reads, now", 0, 0,
	  .text = print_sample },
	{ "monitor", "", "[route|port|drop|all]",
	  "tell what changes, until it is ended; -ts says when", 0, 4,
	  .kind = COMMAND_MONITOR, .text = print_event },
	{ "top", "", "[count <n>] [interval <seconds>]",
	  "a live screen of ports, workers, drops, rates and latency; q ends it. Not on a "
	  "terminal: one screen, or as many as count says",
	  0, 4, .kind = COMMAND_TOP },
	{ "trace", "start",
	  "[count <n>] [port <port>] [bytes <n>] [seconds <n>] [match [src <prefix>] "
	  "[dst <prefix>] [proto tcp|udp|icmp] [sport <n>] [dport <n>] "
	  "[verdict forward|punt|drop] [reason <name>]]",
	  "note what becomes of so many packets (default 100), and of each 128 bytes, or so many; "
	  "ends by itself, after 60 seconds or so many at the latest",
	  0, CTL_TRACE_WORDS_MAX, .text = NULL },
	{ "trace", "show", "",
	  "every decision on the way of each packet; -d adds its bytes", 0, 0,
	  .text = print_trace, .columns = columns_trace },
	{ "trace", "save", "<file>",
	  "the packets as pcapng, with their decisions as comments (- = standard output)",
	  1, 1, .kind = COMMAND_SAVE, .text = print_counts },
	{ "trace", "status", "", "how far it is", 0, 0, .text = print_pairs },
	{ "trace", "stop", "", "end it; what it has is kept until the next one", 0, 0,
	  .text = NULL },
	{ "config", "show", "",
	  "what runs, as a configuration file; keys at their default are comments", 0, 0,
	  .text = print_config, .columns = columns_config },
	{ "config", "diff", "",
	  "what differs between the file and what runs, and whether reload can change it",
	  0, 0, .text = print_config_diff, .columns = columns_config_diff },
	{ "config", "check", "", "say what is wrong in the daemon's configuration file",
	  0, 0, .text = NULL },
	{ "config", "reload", "", "the same as reload", 0, 0, .ask = "reload",
	  .text = print_config_diff, .columns = columns_config_diff },
	{ "reload", "", "",
	  "read the configuration file again; all of it can be changed now, or nothing is",
	  0, 0, .text = print_config_diff, .columns = columns_config_diff },
	{ "log", "level", "[error|warning|notice|info|debug]",
	  "what the daemon logs; set until the next reload that changes it", 0, 1,
	  .text = print_pairs },
	{ "status", "", "", "the daemon in a few lines", 0, 0, .text = print_pairs },
	{ "version", "", "", "versions of daemon, protocol and this tool", 0, 0,
	  .text = print_pairs, .complete = add_client_version },
};

enum { N_COMMANDS = sizeof(commands) / sizeof(commands[0]) };

const struct command *command_at(unsigned i)
{
	return i < N_COMMANDS ? &commands[i] : NULL;
}

/* What was unique once stays so: scripts have it, and ip(8) has it too. */
static const char *const kept[] = { "route", "show", "add", "top", "monitor" };

/* Is it an abbreviation that this name has, whatever other names begin the same? */
static bool is_kept(const char *full, const char *word)
{
	for (size_t i = 0; i < ARRAY_LEN(kept); i++)
		if (!strcmp(full, kept[i]) && *word == *full && !word[1])
			return true;
	return false;
}

static bool is_name(const char *full, const char *word)
{
	return !strcmp(full, word) || is_kept(full, word);
}

static bool starts(const char *full, const char *word)
{
	return !strncmp(full, word, strlen(word));
}

const char *command_object(const char *word, struct err *err)
{
	const char *found = NULL;

	for (int i = 0; i < N_COMMANDS; i++) {
		const char *object = commands[i].object;

		if (is_name(object, word))
			return object;
		if (!starts(object, word) || (found && !strcmp(found, object)))
			continue;
		if (found) {
			err_set(err, -EINVAL, "%s: %s or %s?", word, found, object);
			return NULL;
		}
		found = object;
	}
	if (!found)
		err_set(err, -EINVAL, "%s: unknown", word);
	return found;
}

static bool begins_verb(const char *object, const char *word)
{
	for (int i = 0; i < N_COMMANDS; i++)
		if (!strcmp(commands[i].object, object) && starts(commands[i].verb, word))
			return true;
	return false;
}

/* Verbs that ip(8) has under other names, too; abbreviated, where that means nothing else. */
static const char *verb_of(const char *object, const char *word)
{
	static const char *const names[][2] = { { "list", "show" },
						{ "lst", "show" },
						{ "delete", "del" } };

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (!strcmp(word, names[i][0]) ||
		    (starts(names[i][0], word) && !begins_verb(object, word)))
			return names[i][1];
	return word;
}

/* @said "": the object alone, if it is a command. */
static const struct command *find_verb(const char *object, const char *said,
				       struct err *err)
{
	const struct command *found = NULL;
	const char *word = verb_of(object, said);

	for (int i = 0; i < N_COMMANDS; i++) {
		const struct command *c = &commands[i];

		if (strcmp(c->object, object) != 0 || !starts(c->verb, word))
			continue;
		if (is_name(c->verb, word))
			return c;
		if (found) {
			err_set(err, -EINVAL, "%s %s: %s or %s?", object, said,
				found->verb, c->verb);
			return NULL;
		}
		found = c;
	}
	if (!found)
		err_set(err, -EINVAL, "%s %s: unknown", object, said);
	return found;
}

static bool has_verbs(const char *object)
{
	for (int i = 0; i < N_COMMANDS; i++)
		if (!strcmp(commands[i].object, object))
			return *commands[i].verb;
	return false;
}

/* "route show summary" is "route summary": NULL, if it is not that. */
static const struct command *summary_of(const struct command *c, const char *word)
{
	if (strcmp(c->verb, "show") != 0 || strcmp(word, "summary") != 0)
		return NULL;
	for (int i = 0; i < N_COMMANDS; i++)
		if (!strcmp(commands[i].object, c->object) &&
		    !strcmp(commands[i].verb, word))
			return &commands[i];
	return NULL;
}

const struct command *command_named(const char *const words[], int n, int *n_own,
				    struct err *err)
{
	const char *object = command_object(words[0], err);
	const struct command *c, *summary;

	if (!object)
		return NULL;
	*n_own = has_verbs(object) && n > 1 ? 2 : 1;
	if (!has_verbs(object))
		return find_verb(object, "", err);
	c = find_verb(object, n > 1 ? words[1] : "show", err);
	summary = c && n > 2 ? summary_of(c, words[2]) : NULL;
	*n_own += summary != NULL;
	return summary ? summary : c;
}

/* "route show [<prefix>]" */
static char *command_usage(const struct command *c, char *text, size_t size)
{
	snprintf(text, size, "%s%s%s%s%s", c->object, *c->verb ? " " : "", c->verb,
		 *c->args ? " " : "", c->args);
	return text;
}

const struct command *command_find(const char *const words[], int n, int *n_own,
				   struct err *err)
{
	const struct command *c = command_named(words, n, n_own, err);
	char usage[400];

	if (!c || (n - *n_own >= c->min && n - *n_own <= c->max))
		return c;
	err_set(err, -EINVAL, "usage: mlx5fwdctl %s",
		command_usage(c, usage, sizeof(usage)));
	return NULL;
}

static bool is_type(const char *word)
{
	return !strcmp(word, "blackhole") || !strcmp(word, "unreachable") ||
	       !strcmp(word, "prohibit");
}

int command_request(const struct command *c, const char *const args[], int n,
		    bool missing_ok, const char *words[])
{
	int k = 0;

	if (n + 3 > CTL_WORDS_MAX)
		return -E2BIG;
	words[k++] = c->object;
	if (*c->verb)
		words[k++] = c->verb;
	for (int i = 0; i < n; i++)
		words[k++] = args[i];
	if (c->adds && n > 1 && is_type(args[0])) {
		words[k - n] = args[1];
		words[k - n + 1] = args[0];
	}
	if (missing_ok && c->missing_ok)
		words[k++] = "--missing-ok";
	return k;
}

void commands_help(FILE *to, const char *object)
{
	char usage[400];

	for (int i = 0; i < N_COMMANDS; i++) {
		const struct command *c = &commands[i];

		if (!object || !strcmp(c->object, object))
			fprintf(to, "  %s\n      %s\n",
				command_usage(c, usage, sizeof(usage)), c->help);
	}
}
