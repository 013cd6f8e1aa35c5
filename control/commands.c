/* control/commands.c - one table: dispatch, usage, help */

#include "commands.h"

#include <stdbool.h>
#include <string.h>

static const struct command commands[] = {
	{ "route", "show", "[[root] <prefix>]", "the forwarding table, or what lies within a prefix", 0, 2,
	  print_route },
	{ "route", "get", "<address>", "what happens to a packet for this address", 1, 1, print_route_get },
	{ "route", "add", "<prefix> { <mac> [dev <port>] | blackhole | unreachable | prohibit } [metric <n>]",
	  "add a static route", 2, 8, NULL },
	{ "route", "replace",
	  "<prefix> { <mac> [dev <port>] | blackhole | unreachable | prohibit } [metric <n>]",
	  "add a static route or put it in the place of one", 2, 8, NULL },
	{ "route", "del", "<prefix> [--missing-ok]", "delete a static route", 1, 2, NULL },
	{ "port", "show", "[<port>]", "ports; -s adds counters, -s -s more of them", 0, 1, print_port },
	{ "worker", "show", "", "packet threads; -s adds their turns", 0, 0, print_worker },
	{ "drop", "show", "[<port>]", "packets dropped and punted, by reason; -s shows zeroes too", 0, 1,
	  print_drop },
	{ "status", "", "", "the daemon in a few lines", 0, 0, print_pairs },
	{ "version", "", "", "versions of daemon and protocol", 0, 0, print_pairs },
};

enum { N = sizeof(commands) / sizeof(commands[0]) };

static bool starts(const char *full, const char *word) { return !strncmp(full, word, strlen(word)); }

/* The object that @word means: exactly, or by a prefix that only one has. */
static const char *find_object(const char *word, char *why, size_t why_size)
{
	const char *found = NULL;

	for (int i = 0; i < N; i++) {
		const char *object = commands[i].object;

		if (!strcmp(object, word))
			return object;
		if (!starts(object, word) || (found && !strcmp(found, object)))
			continue;
		if (found) {
			snprintf(why, why_size, "%s: %s or %s?", word, found, object);
			return NULL;
		}
		found = object;
	}
	if (!found)
		snprintf(why, why_size, "%s: unknown; `mlx5fwdctl help` lists all", word);
	return found;
}

static const struct command *find_verb(const char *object, const char *word, char *why, size_t why_size)
{
	const struct command *found = NULL;

	for (int i = 0; i < N; i++) {
		const struct command *c = &commands[i];

		if (strcmp(c->object, object) || !*c->verb || !starts(c->verb, word))
			continue;
		if (!strcmp(c->verb, word))
			return c;
		if (found) {
			snprintf(why, why_size, "%s %s: %s or %s?", object, word, found->verb, c->verb);
			return NULL;
		}
		found = c;
	}
	if (!found)
		snprintf(why, why_size, "%s %s: unknown; `mlx5fwdctl help %s` lists all", object, word, object);
	return found;
}

static const struct command *alone(const char *object)
{
	for (int i = 0; i < N; i++)
		if (!strcmp(commands[i].object, object) && !*commands[i].verb)
			return &commands[i];
	return NULL;
}

const struct command *command_find(const char *const words[], int n, int *n_words, char *why,
				   size_t why_size)
{
	const char *object = find_object(words[0], why, why_size);
	const struct command *c = object ? alone(object) : NULL;

	if (!object)
		return NULL;
	*n_words = c ? 1 : n > 1 ? 2 : 1;
	if (!c)
		c = find_verb(object, n > 1 ? words[1] : "show", why, why_size);
	if (c && (n - *n_words < c->min || n - *n_words > c->max)) {
		snprintf(why, why_size, "usage: mlx5fwdctl %s%s%s %s", c->object, *c->verb ? " " : "", c->verb,
			 c->args);
		return NULL;
	}
	return c;
}

void commands_help(FILE *to, const char *object)
{
	for (int i = 0; i < N; i++) {
		const struct command *c = &commands[i];

		if (object && strcmp(c->object, object))
			continue;
		fprintf(to, "  %s%s%s%s%s\n      %s\n", c->object, *c->verb ? " " : "", c->verb,
			*c->args ? " " : "", c->args, c->help);
	}
}
