/* control/batch.c - commands from a file, as one change
 *
 * Requests are sent ahead of their replies, a window of them, so that a long file does
 * not wait for the daemon line by line.
 */

#include "batch.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../lib/base/cleanup.h"
#include "../lib/ctl/proto.h"
#include "commands.h"

enum { WINDOW = 256 };

struct batch {
	struct ctl_client *client;
	struct print *print;
	bool force, dry_run, missing_ok;
	const struct command *restore;	      /* NULL = just changes */
	unsigned line;			      /* read so far */
	unsigned sent[WINDOW], first, n_sent; /* lines whose replies are to come */
	unsigned usage_errors, refused;
	int lost; /* -errno: the daemon is gone */
	struct err err;
};

/* Without --force only the first error counts: what follows it is given up anyhow. */
static bool tell(const struct batch *b)
{
	return b->force || !(b->usage_errors + b->refused);
}

static bool go_on(const struct batch *b)
{
	return !b->lost && tell(b);
}

/* ---- replies ---- */

/* Reads one reply to its end. Return: whether the request was done. */
static bool take_reply(struct batch *b, unsigned line)
{
	struct row *row, *error;
	bool last = false, good = true;

	while (!last && !b->lost) {
		b->lost = ctl_reply(b->client, &row, &last, &b->err);
		if (b->lost)
			return false;
		error = row_inner(row, "error");
		b->print->line = line;
		if (!last && b->restore)
			print_one(b->print, row, b->restore->text, NULL);
		if (error && tell(b))
			print_error(b->print, error);
		good = good && !error;
		row_free(error);
		row_free(row);
	}
	return good;
}

static void take_oldest(struct batch *b)
{
	unsigned line = b->sent[b->first];

	b->first = (b->first + 1) % WINDOW;
	b->n_sent--;
	if (!take_reply(b, line))
		b->refused++;
}

static void take_all(struct batch *b)
{
	while (b->n_sent && !b->lost)
		take_oldest(b);
}

/* ---- lines ---- */

static void usage_error(struct batch *b, int r, const char *why)
{
	take_all(b); /* errors are told in the order of lines */
	b->print->line = b->line;
	if (tell(b))
		print_failure(b->print, r, NULL, "%s", why);
	b->usage_errors++;
}

static void send_line(struct batch *b, const char *const words[], int n)
{
	int r;

	while (b->n_sent == WINDOW && !b->lost)
		take_oldest(b);
	if (b->lost)
		return;
	r = ctl_send(b->client, words, n, &b->err);
	if (r == -E2BIG || r == -EINVAL)
		usage_error(b, r, b->err.text);
	else if (r < 0)
		b->lost = r;
	else
		b->sent[(b->first + b->n_sent++) % WINDOW] = b->line;
}

/* Only changes make sense in one change. */
static void run_words(struct batch *b, const char *words[], int n)
{
	const char *request[CTL_WORDS_MAX];
	struct err err = { "" };
	int n_own;
	const struct command *c = command_find(words, n, &n_own, &err);

	if (!c) {
		usage_error(b, -EINVAL, err.text);
		return;
	}
	if (!c->changes) {
		usage_error(b, -EINVAL, "a batch holds changes only");
		return;
	}
	n = command_request(c, words + n_own, n - n_own, b->missing_ok, request);
	if (n < 0)
		usage_error(b, n, "too many words");
	else
		send_line(b, request, n);
}

static void run_line(struct batch *b, char *line, size_t len)
{
	char *words[CTL_WORDS_MAX];
	const char *said[CTL_WORDS_MAX];
	int n = memchr(line, '\0', len) ? -EINVAL : ctl_split(line, words);

	if (n == -E2BIG) {
		usage_error(b, n, "too many words");
		return;
	}
	if (n < 0) {
		usage_error(b, n, "an open quote, or a byte that is not printable ASCII");
		return;
	}
	if (n == 0 || words[0][0] == '#')
		return;
	for (int i = 0; i < n; i++)
		said[i] = words[i];
	run_words(b, said, n);
}

static bool is_comment(const char *line)
{
	return line[strspn(line, " \t")] == '#';
}

/* Return: 0 or -errno of reading. */
static int run_file(struct batch *b, FILE *file)
{
	SCOPED_FREE char *line = NULL;
	size_t size = 0;
	ssize_t n;

	while (go_on(b) && (n = getline(&line, &size, file)) >= 0) {
		b->line++;
		if (n && line[n - 1] == '\n')
			line[--n] = '\0';
		if (!is_comment(line)) /* which may be in any language */
			run_line(b, line, (size_t)n);
	}
	return go_on(b) && !feof(file) ? -errno : 0;
}

/* ---- the whole ---- */

/* @more: a second word, or NULL. */
static bool command(struct batch *b, const char *word, const char *more)
{
	const char *words[] = { word, more };

	if (!b->lost)
		b->lost = ctl_send(b->client, words, more ? 2 : 1, &b->err);
	return !b->lost && take_reply(b, 0);
}

static bool commit(struct batch *b)
{
	bool done;

	print_begin(b->print);
	done = command(b, "commit", b->dry_run ? "--dry-run" : NULL);
	if (done && b->restore)
		print_end(b->print);
	return done;
}

static enum status finish(struct batch *b)
{
	bool bad = b->usage_errors + b->refused;

	if (bad && !b->force && !b->lost)
		command(b, "abort", NULL);
	else if (!b->lost && !commit(b) && !b->lost)
		return STATUS_REFUSED;
	if (b->lost) {
		b->print->line = 0;
		print_failure(b->print, b->lost, ctl_hint(b->lost), "%s", b->err.text);
		return STATUS_NO_DAEMON;
	}
	if (bad && b->force)
		return STATUS_PARTLY;
	return b->refused ? STATUS_REFUSED : bad ? STATUS_USAGE : STATUS_DONE;
}

static FILE *open_file(const char *path)
{
	return strcmp(path, "-") != 0 ? fopen(path, "re")
				      : fdopen(dup(STDIN_FILENO), "re");
}

static enum status run(struct batch *b, const char *path)
{
	struct print *p = b->print;
	SCOPED_FILE FILE *file = open_file(path);
	int r = file ? 0 : -errno;

	p->file = path;
	if (!r && !command(b, "begin", b->restore ? "restore" : NULL))
		return b->lost ? finish(b) : STATUS_REFUSED;
	if (!r)
		r = run_file(b, file);
	if (r < 0) { /* closing the connection gives up what was begun */
		p->line = 0;
		print_failure(p, r, NULL, "%s: %s", path, strerror(-r));
		return STATUS_USAGE;
	}
	take_all(b);
	return finish(b);
}

enum status batch_run(struct ctl_client *c, const struct options *o, struct print *p)
{
	struct batch b = { .client = c,
			   .print = p,
			   .force = o->force,
			   .dry_run = o->dry_run,
			   .missing_ok = o->missing_ok };

	return run(&b, o->batch);
}

enum status batch_restore(struct ctl_client *c, const char *path, bool dry_run,
			  const struct command *cmd, struct print *p)
{
	struct batch b = { .client = c, .print = p, .dry_run = dry_run, .restore = cmd };

	return run(&b, path);
}

enum status batch_try(struct ctl_client *c, const char *const words[], int n,
		      struct print *p)
{
	struct batch b = { .client = c, .print = p, .dry_run = true };

	if (!command(&b, "begin", NULL))
		return b.lost ? finish(&b) : STATUS_REFUSED;
	send_line(&b, words, n);
	take_all(&b);
	return finish(&b);
}
