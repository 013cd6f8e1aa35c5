/* control/complete.c - what may come next on a command line, for the shells
 *
 * Everything comes from the tables: words of a command's usage text stand for themselves, and
 * what follows a word there says what may follow it here: "dev <port>" the names of ports, "proto
 * static|kernel" these two.
 */

#include "complete.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "client.h"
#include "commands.h"
#include "options.h"

/* Whatever happens, the shell gets its prompt back. */
enum { ALARM_S = 2, ANSWER_S = 1 };

struct completion {
	const char *begun; /* the last word, so far */
	const char *socket;
};

static void offer(const struct completion *c, const char *word)
{
	if (!strncmp(word, c->begun, strlen(c->begun)))
		puts(word);
}

static void offer_options(const struct completion *c)
{
	const struct option_row *o;

	for (unsigned i = 0; (o = options_row(i)); i++) {
		if (o->brief)
			offer(c, o->brief);
		offer(c, o->full);
	}
}

static void offer_ports(const struct completion *c)
{
	static const char *const words[] = { "port", "show" };
	struct ctl_client *client;
	struct err err;
	struct row *row;
	bool last = false;

	if (ctl_connect(c->socket, ANSWER_S, &err, &client) < 0)
		return;
	if (ctl_send(client, words, 2, &err) == 0) {
		while (!last && ctl_reply(client, &row, &last, &err) == 0) {
			if (!last)
				offer(c, row_text(row, "port"));
			row_free(row);
		}
	}
	ctl_close(client);
}

/* ---- words of a usage text ---- */

/* The next word at *@at, up to a blank or bracket; "static|kernel" is one. */
static bool next_token(const char **at, char *token, size_t size)
{
	size_t n;

	*at += strspn(*at, " []{}");
	n = strcspn(*at, " []{}");
	snprintf(token, size, "%.*s", (int)n, *at);
	*at += n;
	return n;
}

static bool is_placeholder(const char *token)
{
	return *token == '<';
}

/* "a|b": one of them; "<port>": a port; "<prefix>" and the like: nothing that is known. */
static void offer_token(const struct completion *c, const char *token)
{
	char word[40];

	if (!strcmp(token, "<port>"))
		offer_ports(c);
	if (is_placeholder(token) || !strcmp(token, "..."))
		return;
	while (*token) {
		size_t n = strcspn(token, "|");

		snprintf(word, sizeof(word), "%.*s", (int)n, token);
		if (n)
			offer(c, word);
		token += n + (token[n] == '|');
	}
}

static bool has_word(const char *token, const char *word)
{
	size_t n = strlen(word);
	const char *at = strstr(token, word);

	return n && at && (at == token || at[-1] == '|') && (!at[n] || at[n] == '|');
}

/* The value of @word, if its usage text says "word value". */
static bool offer_value(const struct completion *c, const char *args, const char *word)
{
	char token[80], next[80];
	const char *at = args;

	while (next_token(&at, token, sizeof(token))) {
		const char *after = at;

		if (!has_word(token, word) || !next_token(&after, next, sizeof(next)))
			continue;
		/* A value stands right behind its word, with no bracket between. */
		if (after - at != (int)strlen(next) + 1 ||
		    (!is_placeholder(next) && !strchr(next, '|')))
			continue;
		offer_token(c, next);
		return true;
	}
	return false;
}

/* Each word once: the table's texts name "nexthop" and the like several times. */
static void offer_words(const struct completion *c, const char *args)
{
	char token[80], earlier[80];
	const char *at = args;

	while (next_token(&at, token, sizeof(token))) {
		const char *again = args, *end = at - strlen(token);
		bool seen = false;

		while (again < end && next_token(&again, earlier, sizeof(earlier)))
			seen |= again <= end && !strcmp(earlier, token);
		if (!seen && strcmp(token, "|") != 0)
			offer_token(c, token);
	}
}

/* ---- which word it is ---- */

static void offer_objects(const struct completion *c)
{
	for (unsigned i = 0; command_at(i); i++)
		if (!i || strcmp(command_at(i)->object, command_at(i - 1)->object) != 0)
			offer(c, command_at(i)->object);
	offer(c, "help");
}

static void offer_verbs(const struct completion *c, const char *object)
{
	for (unsigned i = 0; command_at(i); i++)
		if (!strcmp(command_at(i)->object, object) && *command_at(i)->verb)
			offer(c, command_at(i)->verb);
}

static void offer_args(const struct completion *c, const char *const words[], int n)
{
	struct err err;
	int n_own;
	const struct command *cmd = command_named(words, n, &n_own, &err);

	if (!cmd)
		return;
	if (n > n_own && offer_value(c, cmd->args, words[n - 1]))
		return;
	if (n - n_own < cmd->max)
		offer_words(c, cmd->args);
}

/* @words are whole ones and no options. */
static void offer_next(const struct completion *c, const char *const words[], int n)
{
	struct err err;
	const char *object = n ? command_object(words[0], &err) : NULL;

	if (n == 0 || (n == 1 && !strcmp(words[0], "help")))
		offer_objects(c);
	else if (object && n == 1 && *command_find(&object, 1, &n, &err)->verb)
		offer_verbs(c, object);
	else if (object)
		offer_args(c, words, n);
}

void complete_words(const char *const words[], int n, const char *socket)
{
	struct completion c = { .begun = n ? words[n - 1] : "", .socket = socket };
	const char *whole[64];
	int n_whole = 0, i;

	alarm(ALARM_S);
	for (i = 0; i < n - 1 && n_whole < 64; i++) {
		if (!strcmp(words[i], "-S") || !strcmp(words[i], "--socket"))
			c.socket = words[i + 1];
		if (words[i][0] == '-')
			i += options_has_value(words[i]);
		else
			whole[n_whole++] = words[i];
	}
	if (i >= n && n) /* the value of an option: the shell knows files */
		return;
	if (*c.begun == '-')
		offer_options(&c);
	else
		offer_next(&c, whole, n_whole);
}
