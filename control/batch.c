/* control/batch.c - commands from a file, as one change
 *
 * Requests are sent ahead of their replies, a window of them, so that a long file does
 * not wait for the daemon line by line.
 */

#include "batch.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../lib/base/cleanup.h"
#include "../lib/ctl/proto.h"
#include "commands.h"

enum { WINDOW = 256 };

struct batch {
	struct ctl_client *client;
	struct print *print;
	const char *path;
	bool force;
	unsigned line;			    /* read so far */
	unsigned sent[WINDOW], first, n_sent; /* line numbers of requests without a reply */
	unsigned failed, usage_errors;
	struct err err;
	int lost; /* -errno: the daemon is gone */
};

static void where(const struct batch *b, unsigned line, char *text, size_t size)
{
	snprintf(text, size, "%s:%u: ", b->path, line);
}

/* Reads one reply to its end. Return: whether the request was done. */
static bool take_reply(struct batch *b, unsigned line)
{
	bool last = false, good = true;
	char at[512];
	json_t *row, *error;

	while (!last && !b->lost) {
		b->lost = ctl_reply(b->client, &row, &last, &b->err);
		if (b->lost)
			return false;
		error = json_object_get(row, "error");
		if (error) {
			where(b, line, at, sizeof(at));
			print_error(b->print, line ? at : "", line, error);
			good = false;
		}
		json_decref(row);
	}
	return good;
}

static void take_oldest(struct batch *b)
{
	unsigned line = b->sent[b->first];

	b->first = (b->first + 1) % WINDOW;
	b->n_sent--;
	if (!take_reply(b, line))
		b->failed++;
}

static void take_all(struct batch *b)
{
	while (b->n_sent && !b->lost)
		take_oldest(b);
}

static void send_line(struct batch *b, char *words[], int n)
{
	while (b->n_sent == WINDOW && !b->lost)
		take_oldest(b);
	if (b->lost)
		return;
	b->lost = ctl_send(b->client, (const char *const *)words, n, &b->err);
	b->sent[(b->first + b->n_sent++) % WINDOW] = b->line;
}

static void usage_error(struct batch *b, const char *why)
{
	json_t *error = json_pack("{ssss}", "code", "EINVAL", "message", why);
	char at[512];

	where(b, b->line, at, sizeof(at));
	print_error(b->print, at, b->line, error);
	json_decref(error);
	b->usage_errors++;
}

/* Only changes make sense in one change. */
static void run_line(struct batch *b, char *line)
{
	char *words[CTL_WORDS_MAX], why[300];
	const struct command *c;
	int n = ctl_split(line, words), n_words;

	if (n == 0 || (n > 0 && words[0][0] == '#'))
		return;
	if (n < 0) {
		usage_error(b, "an open quote, a control character, or too many words");
		return;
	}
	c = command_find((const char *const *)words, n, &n_words, why, sizeof(why));
	if (!c) {
		usage_error(b, why);
		return;
	}
	if (c->text) {
		usage_error(b, "a batch holds changes only");
		return;
	}
	words[0] = (char *)(uintptr_t)c->object;
	words[1] = (char *)(uintptr_t)c->verb;
	send_line(b, words, n);
}

static bool command(struct batch *b, const char *word)
{
	if (b->lost)
		return false;
	b->lost = ctl_send(b->client, &word, 1, &b->err);
	return !b->lost && take_reply(b, 0);
}

static bool go_on(const struct batch *b)
{
	return !b->lost && (b->force || !(b->failed + b->usage_errors));
}

static int finish(struct batch *b)
{
	unsigned bad = b->failed + b->usage_errors;

	if (b->lost) {
		fprintf(stderr, "mlx5fwdctl: %s\n", b->err.text);
		return 3;
	}
	if (bad && !b->force) {
		command(b, "abort");
		return b->failed ? 2 : 1;
	}
	if (!command(b, "commit"))
		return b->lost ? 3 : 2;
	return bad ? 4 : 0;
}

int batch_run(struct ctl_client *c, const char *path, bool force, struct print *p)
{
	struct batch b = { .client = c, .print = p, .path = path, .force = force };
	SCOPED_FILE FILE *file = strcmp(path, "-") ? fopen(path, "re") : fdopen(dup(0), "re");
	SCOPED_FREE char *line = NULL;
	size_t size = 0;
	ssize_t n;

	if (!file) {
		fprintf(stderr, "mlx5fwdctl: %s: %s\n", path, strerror(errno));
		return 1;
	}
	if (!command(&b, "begin"))
		return b.lost ? finish(&b) : 2;
	while (go_on(&b) && (n = getline(&line, &size, file)) >= 0) {
		b.line++;
		if (n && line[n - 1] == '\n')
			line[n - 1] = '\0';
		run_line(&b, line);
	}
	take_all(&b);
	return finish(&b);
}
