/* control/commands.c - one table: dispatch, usage, help */

#include "commands.h"

#include <stdbool.h>
#include <string.h>

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
	"<prefix> { <mac> [dev <port>] | blackhole | unreachable | prohibit | " \
	"nexthop <mac> [dev <port>] [weight <n>] nexthop ... } [metric <n>]"

static const struct command commands[] = {
	{ "route", "show", "[[exact|root|match] <prefix>]",
	  "routes: all, of a prefix, inside it (root), around it (match)", 0, 2,
	  print_route, NULL },
	{ "route", "get", "<address>", "what happens to a packet for this address", 1, 1,
	  print_route_get, NULL },
	{ "route", "add", ROUTE, "add a static route", 2, CTL_ROUTE_WORDS_MAX, NULL,
	  NULL },
	{ "route", "replace", ROUTE, "add a static route or put it in the place of one",
	  2, CTL_ROUTE_WORDS_MAX, NULL, NULL },
	{ "route", "del", "<prefix> [--missing-ok]", "delete a static route", 1, 2, NULL,
	  NULL },
	{ "port", "show", "[<port>]",
	  "ports; -s adds counters, -s -s more of them; -d how they are driven", 0, 1,
	  print_port, NULL },
	{ "worker", "show", "",
	  "packet threads; -s adds their turns, -d their place and why", 0, 0,
	  print_worker, NULL },
	{ "drop", "show", "[<port>]",
	  "packets dropped and punted, by reason; -s shows zeroes too", 0, 1, print_drop,
	  NULL },
	{ "status", "", "", "the daemon in a few lines", 0, 0, print_pairs, NULL },
	{ "version", "", "", "versions of daemon, protocol and this tool", 0, 0,
	  print_pairs, add_client_version },
};

enum { N_COMMANDS = sizeof(commands) / sizeof(commands[0]) };

static bool starts(const char *full, const char *word)
{
	return !strncmp(full, word, strlen(word));
}

const char *command_object(const char *word, struct err *err)
{
	const char *found = NULL;

	for (int i = 0; i < N_COMMANDS; i++) {
		const char *object = commands[i].object;

		if (!strcmp(object, word))
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

/* @word "": the object alone, if it is a command. */
static const struct command *find_verb(const char *object, const char *word,
				       struct err *err)
{
	const struct command *found = NULL;

	for (int i = 0; i < N_COMMANDS; i++) {
		const struct command *c = &commands[i];

		if (strcmp(c->object, object) != 0 || !starts(c->verb, word))
			continue;
		if (!strcmp(c->verb, word))
			return c;
		if (found) {
			err_set(err, -EINVAL, "%s %s: %s or %s?", object, word,
				found->verb, c->verb);
			return NULL;
		}
		found = c;
	}
	if (!found)
		err_set(err, -EINVAL, "%s %s: unknown", object, word);
	return found;
}

static bool has_verbs(const char *object)
{
	for (int i = 0; i < N_COMMANDS; i++)
		if (!strcmp(commands[i].object, object))
			return *commands[i].verb;
	return false;
}

const struct command *command_find(const char *const words[], int n, int *n_own,
				   struct err *err)
{
	const char *object = command_object(words[0], err);
	const struct command *c;

	if (!object)
		return NULL;
	*n_own = has_verbs(object) && n > 1 ? 2 : 1;
	if (!has_verbs(object))
		c = find_verb(object, "", err);
	else
		c = find_verb(object, n > 1 ? words[1] : "show", err);
	if (!c || (n - *n_own >= c->min && n - *n_own <= c->max))
		return c;
	err_set(err, -EINVAL, "usage: mlx5fwdctl %s%s%s%s%s", c->object,
		*c->verb ? " " : "", c->verb, *c->args ? " " : "", c->args);
	return NULL;
}

void commands_help(FILE *to, const char *object)
{
	for (int i = 0; i < N_COMMANDS; i++) {
		const struct command *c = &commands[i];

		if (object && strcmp(c->object, object) != 0)
			continue;
		fprintf(to, "  %s%s%s%s%s\n      %s\n", c->object, *c->verb ? " " : "",
			c->verb, *c->args ? " " : "", c->args, c->help);
	}
}
