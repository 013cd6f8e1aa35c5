/* control/top.c - a live screen: samples, terminal
 *
 * Plain ECMA-48 sequences that every terminal of today knows; the screen is drawn over, never
 * cleared first, so that it does not flicker.
 */

#include "top.h"

#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "../lib/base/number.h"
#include "../lib/base/time.h"

enum { INTERVAL_MAX_S = 3600, COUNT_MAX = 1000000000 };

static volatile sig_atomic_t ended;

static void on_signal(int signal)
{
	ended |= signal != SIGWINCH; /* which just ends the wait */
}

/* ---- samples ---- */

static int ask(struct ctl_client *c, const char *object, struct row **rows, unsigned max,
	       unsigned *n, struct err *err)
{
	const char *const words[] = { object, "show" };
	int r = ctl_send(c, words, strcmp(object, "status") != 0 ? 2 : 1, err);
	struct row *row;
	bool last = false;

	*n = 0;
	while (!r && !last) {
		r = ctl_reply(c, &row, &last, err);
		if (r < 0)
			break;
		if (!last && *n < max)
			rows[(*n)++] = row;
		else
			row_free(row);
	}
	return r;
}

static int take(struct ctl_client *c, struct top_sample *s, struct err *err)
{
	unsigned one;
	int r;

	*s = (struct top_sample){ .ns = time_ns() };
	r = ask(c, "status", &s->status, 1, &one, err);
	if (!r)
		r = ask(c, "port", s->port, TOP_PORTS, &s->n_ports, err);
	if (!r)
		r = ask(c, "worker", s->worker, TOP_WORKERS, &s->n_workers, err);
	if (!r)
		r = ask(c, "drop", s->drop, TOP_PORTS, &s->n_drops, err);
	return r;
}

static void free_rows(struct row **rows, unsigned n)
{
	while (n)
		row_free(rows[--n]);
}

static void drop_sample(struct top_sample *s)
{
	row_free(s->status);
	free_rows(s->port, s->n_ports);
	free_rows(s->worker, s->n_workers);
	free_rows(s->drop, s->n_drops);
	*s = (struct top_sample){ .ns = 0 };
}

/* The sample as one object; its rows are given away. */
static struct row *give_row(struct top_sample *s)
{
	struct row *row = row_new();

	row_set_row(row, "status", s->status);
	for (unsigned i = 0; i < s->n_ports; i++)
		row_add_row(row, "ports", s->port[i]);
	for (unsigned i = 0; i < s->n_workers; i++)
		row_add_row(row, "workers", s->worker[i]);
	for (unsigned i = 0; i < s->n_drops; i++)
		row_add_row(row, "drops", s->drop[i]);
	*s = (struct top_sample){ .ns = 0 };
	return row;
}

/* ---- terminal ---- */

struct top {
	struct print *print;
	uint64_t count, interval_s; /* count 0 = without an end */
	bool live;		    /* on a terminal */
	struct termios was;
	bool was_saved;
};

static void terminal_open(struct top *t)
{
	struct termios raw;

	if (!t->live)
		return;
	fputs("\033[?1049h\033[?25l", stdout); /* a screen of its own, no cursor */
	if (tcgetattr(STDIN_FILENO, &t->was))
		return;
	t->was_saved = true;
	raw = t->was;
	raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
	tcsetattr(STDIN_FILENO, TCSANOW, &raw);
}

static void terminal_close(struct top *t)
{
	if (!t->live)
		return;
	if (t->was_saved)
		tcsetattr(STDIN_FILENO, TCSANOW, &t->was);
	fputs("\033[?25h\033[?1049l", stdout);
	fflush(stdout);
}

/* As much of it as fits; what stood there before goes. */
static void draw(const char *text)
{
	struct winsize size = { 0 };
	unsigned rows = 24, columns = 80;

	if (!ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) && size.ws_row && size.ws_col) {
		rows = size.ws_row;
		columns = size.ws_col;
	}
	fputs("\033[H", stdout);
	for (unsigned i = 0; *text && i + 1 < rows; i++) {
		size_t n = strcspn(text, "\n");

		printf("%.*s\033[K\n", (int)(n < columns ? n : columns), text);
		text += n + (text[n] == '\n');
	}
	fputs("\033[J", stdout);
	fflush(stdout);
}

static void show(const struct top *t, const struct top_sample *now,
		 const struct top_sample *before)
{
	char *text = NULL;
	size_t size;
	FILE *to = open_memstream(&text, &size);

	if (!to)
		return;
	top_screen(to, now, before);
	fclose(to);
	if (t->live)
		draw(text);
	else
		printf("%s\n", text);
	fflush(stdout);
	free(text);
}

/* Until it is time for the next sample, or a key says that this was enough. A window that has
 * changed its size is drawn again at once. */
static void wait_for_next(const struct top *t, const struct top_sample *now,
			  const struct top_sample *before)
{
	struct pollfd in = { t->was_saved ? STDIN_FILENO : -1, POLLIN, 0 };
	uint64_t until = time_ns() + t->interval_s * NS_PER_S;

	while (!ended && time_ns() < until) {
		int ms = (int)((until - time_ns()) / NS_PER_MS) + 1;
		int n = poll(&in, 1, ms);
		char key = 0;

		if (n > 0 && (read(STDIN_FILENO, &key, 1) <= 0 || key == 'q'))
			ended = 1;
		else if (n < 0 && before->status)
			show(t, now, before);
	}
}

/* ---- */

static int run(struct ctl_client *c, struct top *t, struct err *err)
{
	struct top_sample before = { .ns = 0 }, now = { .ns = 0 };
	int r = take(c, &now, err);

	for (uint64_t shown = 0; !r && !ended && (!t->count || shown < t->count);
	     shown++) {
		wait_for_next(t, &now, &before);
		drop_sample(&before);
		before = now;
		r = take(c, &now, err);
		if (!r && !ended)
			show(t, &now, &before);
	}
	drop_sample(&before);
	drop_sample(&now);
	return r;
}

static int run_json(struct ctl_client *c, struct top *t, struct err *err)
{
	struct top_sample s = { .ns = 0 };
	int r = 0;

	print_begin(t->print);
	for (uint64_t shown = 0; !r && !ended && (!t->count || shown < t->count);
	     shown++) {
		struct row *row;

		if (shown)
			wait_for_next(t, &s, &s);
		r = take(c, &s, err);
		if (r < 0)
			break;
		row = give_row(&s);
		print_one(t->print, row, NULL, NULL);
		row_free(row);
	}
	drop_sample(&s);
	if (!r)
		print_end(t->print);
	return r;
}

static enum status parse(struct top *t, const char *const args[], int n)
{
	for (int i = 0; i < n; i += 2) {
		bool count = !strcmp(args[i], "count");
		uint64_t *to = count ? &t->count : &t->interval_s;
		uint64_t max = count ? COUNT_MAX : INTERVAL_MAX_S;

		if ((count || !strcmp(args[i], "interval")) && i + 1 < n &&
		    number_parse(args[i + 1], max, to) == 0 && *to)
			continue;
		print_failure(
			t->print, -EINVAL, NULL,
			"top %s: must be count or interval, and a number of at least 1",
			args[i]);
		return STATUS_USAGE;
	}
	return STATUS_DONE;
}

enum status top_run(struct ctl_client *c, const char *const args[], int n,
		    struct print *p)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGWINCH };
	struct sigaction act = { .sa_handler = on_signal, .sa_flags = SA_RESTART };
	struct top t = { .print = p, .interval_s = 1, .live = isatty(STDOUT_FILENO) };
	struct err err = { "" };
	int r;

	t.live = t.live && !p->json;
	t.count = t.live ? 0 : 1;
	if (parse(&t, args, n) != STATUS_DONE)
		return STATUS_USAGE;
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		sigaction(signals[i], &act, NULL);
	terminal_open(&t);
	r = p->json ? run_json(c, &t, &err) : run(c, &t, &err);
	terminal_close(&t);
	if (!r)
		return STATUS_DONE;
	print_failure(p, r, ctl_hint(r), "%s", err.text);
	return STATUS_NO_DAEMON;
}
