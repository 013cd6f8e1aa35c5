/* control/main.c - mlx5fwdctl: options, one command or a batch
 *
 * Exit status: 0 done, 1 usage, 2 the daemon said no, 3 cannot talk to the daemon,
 * 4 batch partly applied (--force).
 */

#include <stdlib.h>
#include <string.h>

#include "../lib/ctl/version.h"
#include "../lib/base/number.h"
#include "../lib/ctl/proto.h"
#include "batch.h"
#include "client.h"
#include "commands.h"
#include "status.h"

#define SEE_HELP "see mlx5fwdctl --help"

static void usage(FILE *to)
{
	fputs("Usage: mlx5fwdctl [OPTIONS] OBJECT [VERB] [ARGS]\n"
	      "       mlx5fwdctl [OPTIONS] -b FILE\n\n"
	      "Objects and verbs may be abbreviated; without a verb, show.\n\n",
	      to);
	commands_help(to, NULL);
	fputs("\n  -j, --json           JSON: an array of objects, the same keys always\n"
	      "  -p, --pretty         indented JSON\n"
	      "  -s, --stats          counters; twice: more of them\n"
	      "  -d, --details        what was chosen, and why\n"
	      "  -b, --batch FILE     commands from FILE (- = standard input), one a line, as one\n"
	      "                       change: all of them or none\n"
	      "      --force          with -b: go on after an error\n"
	      "  -S, --socket PATH    daemon's socket, default $MLX5FWD_SOCKET or\n"
	      "                       " CTL_SOCKET "\n"
	      "  -T, --timeout SEC    wait that long for an answer, default 5\n"
	      "  -V, --version        version of this program\n"
	      "  -h, --help           this text\n",
	      to);
}

struct options {
	struct print print;
	const char *socket, *batch;
	unsigned timeout_s;
	bool force;
};

/* ---- options ---- */

enum { NOT_MINE = -2, GO_ON = -1 }; /* or an enum status to exit with */

static bool is(const char *arg, const char *brief, const char *full)
{
	return !strcmp(arg, brief) || !strcmp(arg, full);
}

static int set_timeout(struct options *o, const char *value)
{
	uint64_t v;

	if (number_parse(value, 86400, &v) < 0 || !v) {
		print_failure(&o->print, -EINVAL, SEE_HELP,
			      "--timeout %s: must be 1 to 86400 (seconds)", value);
		return STATUS_USAGE;
	}
	o->timeout_s = (unsigned)v;
	return GO_ON;
}

static int take_value(struct options *o, const char *arg, const char *value)
{
	const char **text = is(arg, "-b", "--batch")	? &o->batch
			    : is(arg, "-S", "--socket") ? &o->socket
							: NULL;

	if (!text && !is(arg, "-T", "--timeout"))
		return NOT_MINE;
	if (!value) {
		print_failure(&o->print, -EINVAL, SEE_HELP, "%s: its value is missing",
			      arg);
		return STATUS_USAGE;
	}
	if (!text)
		return set_timeout(o, value);
	*text = value;
	return GO_ON;
}

static int take_flag(struct options *o, const char *arg)
{
	if (is(arg, "-j", "--json"))
		o->print.json = true;
	else if (is(arg, "-p", "--pretty"))
		o->print.json = o->print.pretty = true;
	else if (is(arg, "-s", "--stats"))
		o->print.stats++;
	else if (is(arg, "-d", "--details"))
		o->print.details = true;
	else if (!strcmp(arg, "--force"))
		o->force = true;
	else
		return NOT_MINE;
	return GO_ON;
}

/* Options that are all there is to do. */
static int take_question(const char *arg)
{
	if (is(arg, "-V", "--version"))
		printf("mlx5fwdctl %s\n", MLX5FWD_VERSION);
	else if (is(arg, "-h", "--help"))
		usage(stdout);
	else
		return NOT_MINE;
	return STATUS_DONE;
}

/* Takes options up to the first word, whose index it leaves in @ret. */
static int take_options(int argc, char **argv, struct options *o, int *ret)
{
	int i, r;

	for (i = 1; i < argc && argv[i][0] == '-'; i++) {
		r = take_flag(o, argv[i]);
		if (r == NOT_MINE)
			r = take_question(argv[i]);
		if (r == NOT_MINE) {
			r = take_value(o, argv[i], argv[i + 1]);
			i++;
		}
		if (r == NOT_MINE) {
			print_failure(&o->print, -EINVAL, SEE_HELP, "%s: unknown option",
				      argv[i - 1]);
			return STATUS_USAGE;
		}
		if (r != GO_ON)
			return r;
	}
	*ret = i;
	return GO_ON;
}

/* Flags may follow the words too: `port show -d`. Return: how many words are left. */
static int take_late_flags(char **words, int n, struct options *o)
{
	int left = 0;

	for (int i = 0; i < n; i++)
		if (take_flag(o, words[i]) == NOT_MINE)
			words[left++] = words[i];
	return left;
}

/* ---- one command ---- */

static enum status lost(const struct print *p, int r, const struct err *err)
{
	print_failure(p, r, ctl_hint(r), "%s", err->text);
	return STATUS_NO_DAEMON;
}

/* Prints the rows of one reply. */
static enum status take_reply(struct ctl_client *c, const struct command *cmd,
			      struct print *p)
{
	struct row *row, *error = NULL;
	struct err err = { "" };
	bool last = false;
	int r;

	print_begin(p);
	while (!last) {
		r = ctl_reply(c, &row, &last, &err);
		if (r < 0)
			return lost(p, r, &err);
		if (last)
			error = row_inner(row, "error");
		else if (cmd->complete)
			cmd->complete(row);
		if (!last && cmd->text)
			print_one(p, row, cmd->text);
		row_free(row);
	}
	if (cmd->text && (!error || p->count))
		print_end(p);
	if (!error)
		return STATUS_DONE;
	print_error(p, error);
	row_free(error);
	return STATUS_REFUSED;
}

static enum status run_command(struct ctl_client *c, const struct command *cmd,
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

/* The words as the daemon knows them: abbreviations written out, `show` put in. Return: how many;
 * 0: they are no command, @err says why. */
static int spell_out(const char *const said[], int n, const struct command **ret,
		     const char *words[CTL_WORDS_MAX], struct err *err)
{
	const struct command *cmd;
	int n_own, k = 0;

	if (n >= CTL_WORDS_MAX) {
		err_set(err, -E2BIG, "too many words");
		return 0;
	}
	cmd = command_find(said, n, &n_own, err);
	if (!cmd)
		return 0;
	words[k++] = cmd->object;
	if (*cmd->verb)
		words[k++] = cmd->verb;
	for (int i = n_own; i < n; i++)
		words[k++] = said[i];
	*ret = cmd;
	return k;
}

/* ---- help ---- */

/* `help`, `help OBJECT`, `OBJECT help`. */
static bool asks_help(char **argv, int n)
{
	return n && n <= 2 &&
	       (!strcmp(argv[0], "help") ||
		(n == 2 && (!strcmp(argv[1], "help") || is(argv[1], "-h", "--help"))));
}

static enum status help(const struct options *o, char **argv, int n)
{
	const char *word = strcmp(argv[0], "help") != 0 ? argv[0]
			   : n == 2			? argv[1]
							: NULL;
	struct err err = { "" };
	const char *object = word ? command_object(word, &err) : NULL;

	if (!word)
		usage(stdout);
	else if (object)
		commands_help(stdout, object);
	else
		print_failure(&o->print, -EINVAL, "\"mlx5fwdctl help\" lists all", "%s",
			      err.text);
	return word && !object ? STATUS_USAGE : STATUS_DONE;
}

/* ---- */

static enum status run(struct options *o, char **argv, int n)
{
	static const char *const status[] = { "status" }; /* without a word */
	const char *words[CTL_WORDS_MAX];
	const struct command *cmd = NULL;
	struct err err = { "" };
	struct ctl_client *c;
	enum status ret;
	int r;

	if (!o->batch) {
		n = spell_out(n ? (const char *const *)argv : status, n ? n : 1, &cmd,
			      words, &err);
		if (!n) {
			print_failure(&o->print, -EINVAL, "\"mlx5fwdctl help\" lists all",
				      "%s", err.text);
			return STATUS_USAGE;
		}
	}
	r = ctl_connect(o->socket, o->timeout_s, &err, &c);
	if (r < 0)
		return lost(&o->print, r, &err);
	ret = cmd ? run_command(c, cmd, words, n, &o->print)
		  : batch_run(c, o->batch, o->force, &o->print);
	ctl_close(c);
	return ret;
}

static enum status check_options(const struct options *o, int n_words)
{
	const char *why = o->batch && n_words ? "a batch takes its commands from the file"
			  : o->force && !o->batch ? "--force: only with --batch"
						  : NULL;

	if (!why)
		return STATUS_DONE;
	print_failure(&o->print, -EINVAL, SEE_HELP, "%s", why);
	return STATUS_USAGE;
}

int main(int argc, char **argv)
{
	const char *env = getenv(CTL_SOCKET_ENV);
	struct options o = { .socket = env && *env ? env : CTL_SOCKET, .timeout_s = 5 };
	int first, n = 0, r = take_options(argc, argv, &o, &first);

	if (r == GO_ON)
		n = take_late_flags(argv + first, argc - first, &o);
	if (r == GO_ON && asks_help(argv + first, n))
		r = (int)help(&o, argv + first, n);
	if (r == GO_ON && check_options(&o, n) != STATUS_DONE)
		r = STATUS_USAGE;
	if (r == GO_ON)
		r = (int)run(&o, argv + first, n);
	if ((fflush(stdout) || ferror(stdout)) && r == STATUS_DONE) {
		print_failure(&o.print, -errno, NULL, "standard output: %s",
			      strerror(errno));
		return STATUS_USAGE;
	}
	return r;
}
