/* control/monitor.c - what changes, until somebody ends it
 *
 * Every event is one line, or one JSON object in a line, and is written at once.
 */

#include "monitor.h"

#include <inttypes.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

/* Lines are written whole, so nothing is cut off. */
static void end(int signal)
{
	(void)signal;
	_exit(STATUS_DONE);
}

/* ---- events as text ---- */

static void print_object(const struct print *p, const struct row *row, const char *name,
			 print_row *text)
{
	struct row *inner = row_inner(row, name);

	if (inner)
		text(p, inner);
	else
		putchar('\n');
	row_free(inner);
}

static void print_link(const struct print *p, const struct row *row)
{
	(void)p;
	printf("%s address %s mtu %" PRId64 " %s %s %s\n", row_text(row, "port"),
	       row_text(row, "address"), row_number(row, "mtu"),
	       row_flag(row, "up") ? "up" : "down",
	       row_flag(row, "carrier") ? "carrier" : "no-carrier",
	       row_text(row, "state"));
}

void print_event(const struct print *p, const struct row *row)
{
	const char *object = row_text(row, "object");

	if (p->stamps)
		printf("[%s] ", row_text(row, "ts"));
	printf("%s %s ", object, row_text(row, "event"));
	if (!strcmp(object, "route"))
		print_object(p, row, "route", print_route);
	else if (!strcmp(object, "port"))
		print_object(p, row, "port", print_link);
	else if (!strcmp(object, "drop"))
		printf("%s %s %" PRId64 "\n", row_text(row, "port"),
		       row_text(row, "reason"), row_number(row, "packets"));
	else if (row_has(row, "events"))
		printf("%" PRId64 ": what follows is what there is\n",
		       row_number(row, "events"));
	else
		puts("from here on what changes");
}

/* ---- */

static void print_one_event(struct print *p, const struct command *cmd,
			    const struct row *row)
{
	if (p->json) {
		row_print(row, stdout, p->pretty);
		putchar('\n');
	} else {
		cmd->text(p, row);
	}
	fflush(stdout);
}

enum status monitor_run(struct ctl_client *c, const struct command *cmd,
			const char *const words[], int n, struct print *p)
{
	struct row *row, *error = NULL;
	struct err err = { "" };
	bool last = false;
	int r = ctl_send(c, words, n, &err);

	signal(SIGINT, end);
	signal(SIGTERM, end);
	ctl_wait_long(c);
	while (!r && !last) {
		r = ctl_reply(c, &row, &last, &err);
		if (r)
			break;
		if (last)
			error = row_inner(row, "error");
		else
			print_one_event(p, cmd, row);
		row_free(row);
		if (ferror(stdout)) /* nobody reads any more */
			break;
	}
	if (r < 0) {
		print_failure(p, r, ctl_hint(r), "%s", err.text);
		return STATUS_NO_DAEMON;
	}
	if (error)
		print_error(p, error);
	row_free(error);
	return error ? STATUS_REFUSED : STATUS_DONE;
}
