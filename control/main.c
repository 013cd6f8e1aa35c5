/* control/main.c - mlx5fwdctl: options, one command or a batch
 *
 * Exit status: 0 done, 1 usage, 2 the daemon said no, 3 cannot talk to the daemon,
 * 4 batch partly applied (--force).
 */

#include <stdlib.h>
#include <string.h>

#include "../lib/ctl/proto.h"
#include "batch.h"
#include "client.h"
#include "commands.h"
#include "complete.h"
#include "help.h"
#include "monitor.h"
#include "options.h"
#include "status.h"
#include "top.h"
#include "trace.h"

#define SEE_HELP  "see mlx5fwdctl --help"
#define LISTS_ALL "\"mlx5fwdctl help\" lists all"

/* ---- one command ---- */

static enum status lost(const struct print *p, int r, const struct err *err)
{
	print_failure(p, r, ctl_hint(r), "%s", err->text);
	return STATUS_NO_DAEMON;
}

static void print_reply_row(const struct command *cmd, struct row *row, struct print *p)
{
	if (cmd->complete)
		cmd->complete(row);
	if (cmd->text)
		print_one(p, row, cmd->text, cmd->columns);
}

/* Rows that are printed as they came need not be understood. */
static bool as_it_came(const struct command *cmd, const struct print *p)
{
	return p->json && !p->pretty && cmd->text && !cmd->complete;
}

/* Prints the rows of one reply; @error is its end's. Return: 0 or -errno. */
static int take_rows(struct ctl_client *c, const struct command *cmd, struct print *p,
		     struct row **error, struct err *err)
{
	bool raw = as_it_came(cmd, p), last = false;
	const char *line = NULL;
	struct row *row = NULL;
	int r;

	while (!last) {
		r = ctl_line(c, &line, &last, err);
		if (!r && raw && !last) {
			print_json_line(p, line);
			continue;
		}
		if (!r)
			r = ctl_parse(line, &row, err);
		if (r < 0)
			return r;
		if (last)
			*error = row_inner(row, "error");
		else
			print_reply_row(cmd, row, p);
		row_free(row);
	}
	return 0;
}

static enum status take_reply(struct ctl_client *c, const struct command *cmd,
			      struct print *p)
{
	struct row *error = NULL;
	struct err err = { "" };
	int r;

	print_begin(p);
	r = take_rows(c, cmd, p, &error, &err);
	if (r < 0)
		return lost(p, r, &err);
	if (cmd->text && (!error || p->count))
		print_end(p);
	if (!error)
		return STATUS_DONE;
	print_error(p, error);
	row_free(error);
	return STATUS_REFUSED;
}

static enum status ask(struct ctl_client *c, const struct command *cmd,
		       const char *const words[], int n, struct print *p)
{
	struct err err = { "" };
	int r = ctl_send(c, words, n, &err);

	if (r == -E2BIG || r == -EINVAL) {
		print_failure(p, r, NULL, "%s", err.text);
		return STATUS_USAGE;
	}
	return r < 0 ? lost(p, r, &err) : take_reply(c, cmd, p);
}

/* @args: words behind object and verb. */
static enum status run_command(struct ctl_client *c, const struct command *cmd,
			       const char *const args[], int n, struct options *o)
{
	const char *words[CTL_WORDS_MAX];
	char *own[CTL_WORDS_MAX], line[80];

	if (cmd->kind == COMMAND_TOP)
		return top_run(c, args, n, &o->print);
	if (cmd->kind == COMMAND_SAVE)
		return trace_save(c, cmd, args[0], &o->print);
	if (cmd->kind == COMMAND_RESTORE)
		return batch_restore(c, args[0], o->dry_run, cmd, &o->print);
	if (cmd->ask) {
		snprintf(line, sizeof(line), "%s", cmd->ask);
		n = ctl_split(line, own);
		memcpy(words, own, (size_t)n * sizeof(*words));
	} else {
		n = command_request(cmd, args, n, o->missing_ok, words);
	}
	if (n < 0 || (o->family && n + 2 > CTL_WORDS_MAX)) {
		print_failure(&o->print, -E2BIG, NULL, "too many words");
		return STATUS_USAGE;
	}
	if (o->family) {
		words[n++] = "family";
		words[n++] = o->family;
	}
	if (cmd->kind == COMMAND_MONITOR)
		return monitor_run(c, cmd, words, n, &o->print);
	return o->dry_run ? batch_try(c, words, n, &o->print)
			  : ask(c, cmd, words, n, &o->print);
}

/* ---- help ---- */

static bool is_help(const char *word)
{
	return !strcmp(word, "help") || !strcmp(word, "-h") || !strcmp(word, "--help");
}

/* `help`, `help OBJECT`, `OBJECT help`. */
static bool asks_help(const char *const words[], int n)
{
	return n && n <= 2 &&
	       (!strcmp(words[0], "help") || (n == 2 && is_help(words[1])));
}

static enum status help(const struct options *o, const char *const words[], int n)
{
	const char *word = strcmp(words[0], "help") != 0 ? words[0]
			   : n == 2			 ? words[1]
							 : NULL;
	struct err err = { "" };
	const char *object = word ? command_object(word, &err) : NULL;

	if (!word)
		help_usage(stdout);
	else if (object)
		commands_help(stdout, object);
	else
		print_failure(&o->print, -EINVAL, LISTS_ALL, "%s", err.text);
	return word && !object ? STATUS_USAGE : STATUS_DONE;
}

/* ---- */

static enum status usage_error(const struct options *o, const char *hint, const char *why)
{
	print_failure(&o->print, -EINVAL, hint, "%s", why);
	return STATUS_USAGE;
}

/* NULL: the options go together with the command (NULL = a batch). */
static const char *what_is_wrong(const struct options *o, const struct command *cmd)
{
	bool restores = cmd && cmd->kind == COMMAND_RESTORE;

	if (o->force && !o->batch)
		return "--force: only with --batch";
	if (o->dry_run && cmd && !cmd->changes && !restores)
		return "--dry-run: only with changes of routes";
	if (o->print.stamps && (!cmd || cmd->kind != COMMAND_MONITOR))
		return "--timestamp: only with monitor";
	if (o->missing_ok && cmd && !cmd->missing_ok)
		return "--missing-ok: only with route del";
	if (o->family && (!cmd || !cmd->selects))
		return "-4, -6: only with route show, save and flush";
	return NULL;
}

static enum status run(struct options *o, const char *const said[], int n)
{
	static const char *const status[] = { "status" }; /* without a word */
	const struct command *cmd = NULL;
	struct err err = { "" };
	struct ctl_client *c;
	const char *wrong;
	enum status ret;
	int n_own = 0, r;

	if (!n)
		said = status;
	if (o->batch && n)
		return usage_error(o, SEE_HELP,
				   "a batch takes its commands from the file");
	if (!o->batch)
		cmd = command_find(said, n ? n : 1, &n_own, &err);
	if (!o->batch && !cmd)
		return usage_error(o, LISTS_ALL, err.text);
	wrong = what_is_wrong(o, cmd);
	if (wrong)
		return usage_error(o, SEE_HELP, wrong);
	r = ctl_connect(o->socket, o->timeout_s, &err, &c);
	if (r < 0)
		return lost(&o->print, r, &err);
	ret = cmd ? run_command(c, cmd, said + n_own, n ? n - n_own : 0, o)
		  : batch_run(c, o, &o->print);
	ctl_close(c);
	return ret;
}

int main(int argc, char **argv)
{
	const char *env = getenv(CTL_SOCKET_ENV), **words;
	struct options o = { .socket = env && *env ? env : NULL, .timeout_s = 5 };
	int n, r;

	if (argc > 1 && !strcmp(argv[1], "--complete")) {
		complete_words((const char *const *)argv + 2, argc - 2, o.socket);
		return STATUS_DONE;
	}
	words = calloc((size_t)argc + 1, sizeof(*words));
	if (!words)
		return STATUS_USAGE;
	r = options_take(argc, argv, &o, words, &n);
	if (r == OPTIONS_GO_ON)
		r = asks_help(words, n) ? (int)help(&o, words, n)
					: (int)run(&o, words, n);
	free(words);
	if ((fflush(stdout) || ferror(stdout)) && r == STATUS_DONE) {
		print_failure(&o.print, -errno, NULL, "standard output: %s",
			      strerror(errno));
		return STATUS_USAGE;
	}
	return r;
}
