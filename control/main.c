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
#include "../daemon/version.h"

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

static bool is(const char *arg, const char *brief, const char *full)
{
	return !strcmp(arg, brief) || !strcmp(arg, full);
}

static int bad_option(const char *what, const char *why)
{
	fprintf(stderr, "mlx5fwdctl: %s: %s; see mlx5fwdctl --help\n", what, why);
	return 1;
}

/* -1: not one of these. */
static int take_value(struct options *o, const char *arg, const char *value)
{
	char *end;
	unsigned long v;

	if (is(arg, "-b", "--batch"))
		o->batch = value;
	else if (is(arg, "-S", "--socket"))
		o->socket = value;
	else if (is(arg, "-T", "--timeout")) {
		v = value ? strtoul(value, &end, 10) : 0;
		if (value && (*end || v < 1 || v > 86400))
			return bad_option("--timeout", "must be 1 to 86400 (seconds)");
		o->timeout_s = (unsigned)v;
	} else {
		return -1;
	}
	return value ? 0 : bad_option(arg, "its value is missing");
}

static bool take_flag(struct options *o, const char *arg)
{
	if (is(arg, "-j", "--json"))
		o->print.json = true;
	else if (is(arg, "-p", "--pretty"))
		o->print.json = o->print.pretty = true;
	else if (is(arg, "-s", "--stats"))
		o->print.stats++;
	else if (is(arg, "--force", "--force"))
		o->force = true;
	else
		return false;
	return true;
}

enum { GO_ON = -1 };

/* Takes options up to the first word, whose index it leaves in @ret. Return: GO_ON, or the exit
 * status. */
static int take_options(int argc, char **argv, struct options *o, int *ret)
{
	int i, r;

	for (i = 1; i < argc && argv[i][0] == '-' && argv[i][1]; i++) {
		if (take_flag(o, argv[i]))
			continue;
		if (is(argv[i], "-V", "--version")) {
			printf("mlx5fwdctl %s\n", MLX5FWD_VERSION);
			return 0;
		}
		if (is(argv[i], "-h", "--help")) {
			usage(stdout);
			return 0;
		}
		r = take_value(o, argv[i], argv[i + 1]);
		if (r < 0)
			return bad_option(argv[i], "unknown option");
		if (r > 0)
			return r;
		i++;
	}
	*ret = i;
	return GO_ON;
}

static int lost(const struct err *err)
{
	fprintf(stderr, "mlx5fwdctl: %s\n", err->text);
	return 3;
}

/* Prints the rows of one reply. Return: exit status. */
static int take_reply(struct ctl_client *c, const struct command *cmd, struct print *p)
{
	struct err err = { "" };
	bool last = false;
	json_t *row, *error = NULL;

	if (cmd->text)
		print_begin(p);
	while (!last) {
		if (ctl_reply(c, &row, &last, &err) < 0)
			return lost(&err);
		if (!last && cmd->text)
			print_one(p, row, cmd->text);
		else if (json_object_get(row, "error"))
			error = json_incref(json_object_get(row, "error"));
		json_decref(row);
	}
	if (!error) {
		print_end(p);
		return 0;
	}
	p->open = p->open && p->count; /* an error instead of an empty array */
	print_end(p);
	print_error(p, "", 0, error);
	json_decref(error);
	return 2;
}

static int run_command(struct ctl_client *c, const struct command *cmd, const char **words, int n,
		       struct print *p)
{
	struct err err = { "" };

	if (ctl_send(c, words, n, &err) < 0)
		return lost(&err);
	return take_reply(c, cmd, p);
}

/* The words as the daemon knows them: abbreviations written out, `show` put in. */
static int spell_out(const struct command *cmd, char **argv, int n, int n_words, const char **words)
{
	int k = 0;

	words[k++] = cmd->object;
	if (*cmd->verb)
		words[k++] = cmd->verb;
	for (int i = n_words; i < n; i++)
		words[k++] = argv[i];
	return k;
}

static int help(char **argv, int n)
{
	if (n == 1)
		usage(stdout);
	else
		commands_help(stdout, argv[1]);
	return 0;
}

static int run(struct options *o, char **argv, int n)
{
	const char *words[CTL_WORDS_MAX];
	const struct command *cmd = NULL;
	struct ctl_client *c;
	struct err err = { "" };
	char why[300];
	int n_words = 0, status;

	if (n && !strcmp(argv[0], "help"))
		return help(argv, n);
	if (!o->batch) {
		if (!n)
			return usage(stderr), 1;
		if (n >= CTL_WORDS_MAX)
			return bad_option(argv[0], "too many words");
		cmd = command_find((const char *const *)argv, n, &n_words, why, sizeof(why));
		if (!cmd)
			return fprintf(stderr, "mlx5fwdctl: %s\n", why), 1;
		n = spell_out(cmd, argv, n, n_words, words);
	}
	if (ctl_connect(o->socket, o->timeout_s, &err, &c) < 0)
		return lost(&err);
	status = cmd ? run_command(c, cmd, words, n, &o->print) : batch_run(c, o->batch, o->force, &o->print);
	ctl_close(c);
	return status;
}

int main(int argc, char **argv)
{
	const char *env = getenv(CTL_SOCKET_ENV);
	struct options o = { .socket = env && *env ? env : CTL_SOCKET, .timeout_s = 5 };
	int first, status = take_options(argc, argv, &o, &first);

	if (status != GO_ON)
		return status;
	if (o.batch && first < argc)
		return bad_option(argv[first], "a batch takes its commands from the file");
	status = run(&o, argv + first, argc - first);
	if (fflush(stdout) || ferror(stdout))
		return 1;
	return status;
}
