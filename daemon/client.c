/* daemon/client.c - one connection to the control socket: lines in, rows out */

#include "client.h"

#include <assert.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../lib/base/err.h"
#include "../lib/base/time.h"
#include "../lib/ctl/proto.h"
#include "control.h"
#include "requests.h"
#include "router.h"

enum {
	OUT_PAUSE =
		64 << 10, /* bytes waiting: no more lines are run, nothing more streamed */
	OUT_MAX = 1 << 20, /* one handler's rows never come near this */
	PIECES = 64, /* of a stream in a round: one that leaves all out fills nothing */
};

struct client {
	struct router *router;
	int fd;
	struct event_source *events;
	uint32_t want; /* what it waits for, EPOLLIN or EPOLLOUT */
	bool may_write;
	bool dead;    /* nothing more can be said */
	bool closing; /* nothing more is read */
	uint64_t last_ns;
	uint64_t arrived_ns; /* what was read last */
	unsigned kind;	     /* of the request at work; requested.h */
	char in[CTL_LINE_MAX];
	size_t in_len;
	char *out;
	size_t out_len, out_at, out_room;
	client_stream_fn stream;
	bool waits; /* the stream has nothing to say now */
	void *stream_state;
};

/* ---- rows out ---- */

static size_t waiting(const struct client *c)
{
	return c->out_len - c->out_at;
}

static int make_room(struct client *c, size_t n)
{
	char *grown;

	if (c->out_at) {
		memmove(c->out, c->out + c->out_at, waiting(c));
		c->out_len = waiting(c);
		c->out_at = 0;
	}
	if (c->out_len + n <= c->out_room)
		return 0;
	if (c->out_len + n > OUT_MAX)
		return -ENOBUFS;
	grown = realloc(c->out, c->out_len + n + OUT_PAUSE);
	if (!grown)
		return -ENOMEM;
	c->out = grown;
	c->out_room = c->out_len + n + OUT_PAUSE;
	return 0;
}

void client_line(struct client *c, const char *line)
{
	size_t n = strlen(line);

	if (c->out_len + n + 1 > c->out_room && make_room(c, n + 1) < 0) {
		c->dead = true;
		return;
	}
	memcpy(c->out + c->out_len, line, n);
	c->out[c->out_len + n] = '\n';
	c->out_len += n + 1;
}

void client_row(struct client *c, struct row *row)
{
	char *line = row_line(row);

	if (line)
		client_line(c, line);
	else
		c->dead = true;
	free(line);
	row_free(row);
}

void client_begins(struct client *c, unsigned kind)
{
	c->kind = kind;
	c->router->requested.arrived_ns = c->arrived_ns;
}

/* What is answered without a request is of the last kind. */
static void count_end(struct client *c, int r)
{
	requested_ended(&c->router->requested, c->kind, r);
	c->kind = request_kinds() - 1;
}

void client_ok(struct client *c)
{
	client_line(c, "{\"status\":\"ok\"}");
	count_end(c, 0);
}

void client_error(struct client *c, int r, const char *hint, const char *fmt, ...)
{
	struct row *row = row_new(), *error = row_new();
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	row_set_text(error, "code", err_symbol(r));
	row_set_text(error, "message", text);
	if (hint)
		row_set_text(error, "hint", hint);
	row_set_text(row, "status", "error");
	row_set_row(row, "error", error);
	client_row(c, row);
	count_end(c, r);
}

bool client_may_write(const struct client *c)
{
	return c->may_write;
}

uint64_t client_quiet_ns(const struct client *c)
{
	return time_ns() - c->last_ns;
}

void client_stream(struct client *c, client_stream_fn next, void *state)
{
	c->stream = next;
	c->stream_state = state;
}

static void end_stream(struct client *c)
{
	free(c->stream_state);
	c->stream = NULL;
	c->stream_state = NULL;
	c->waits = false;
}

static void run_stream(struct client *c)
{
	for (unsigned left = PIECES;
	     left && c->stream && !c->waits && !c->dead && waiting(c) < OUT_PAUSE;
	     left--) {
		enum client_next next = c->stream(c, c->router, c->stream_state);

		if (next == CLIENT_DONE)
			end_stream(c);
		c->waits = next == CLIENT_WAIT;
	}
}

/* It has had enough. */
static void stop_waiting(struct client *c)
{
	request_stream_ended(c->router, c);
	end_stream(c);
	client_ok(c);
}

static void flush(struct client *c)
{
	while (waiting(c)) {
		ssize_t n = send(c->fd, c->out + c->out_at, waiting(c),
				 MSG_NOSIGNAL | MSG_DONTWAIT);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			c->dead |= errno != EAGAIN;
			return;
		}
		c->out_at += (size_t)n;
		c->last_ns = time_ns();
	}
	c->out_len = c->out_at = 0;
}

/* ---- lines in ---- */

static void run_line(struct client *c, char *line, size_t n)
{
	char *words[CTL_WORDS_MAX];
	int n_words = memchr(line, '\0', n) ? -EINVAL : ctl_split(line, words);

	if (n_words == -E2BIG)
		client_error(c, n_words, NULL, "more than %d words", CTL_WORDS_MAX);
	else if (n_words < 0)
		client_error(c, n_words, NULL,
			     "not a line of words: an open quote, or a byte that is not "
			     "printable ASCII");
	else if (n_words > 0)
		request_run(c->router, c, words, n_words);
}

static char *line_end(struct client *c)
{
	return memchr(c->in, '\n', c->in_len);
}

/* Runs whole lines while their replies do not pile up. */
static void run_lines(struct client *c)
{
	char *end, line[CTL_LINE_MAX];
	size_t n;

	while (!c->dead && !c->stream && waiting(c) < OUT_PAUSE && (end = line_end(c))) {
		n = (size_t)(end - c->in);
		memcpy(line, c->in, n);
		line[n] = '\0';
		c->in_len -= n + 1;
		memmove(c->in, end + 1, c->in_len);
		run_line(c, line, n);
	}
	if (c->in_len == sizeof(c->in) && !line_end(c)) {
		client_error(c, -E2BIG, NULL, "a request line has at most %d bytes",
			     CTL_LINE_MAX);
		c->closing = true; /* where the next line begins nobody knows */
		c->in_len = 0;
	}
}

static void receive(struct client *c)
{
	ssize_t n;

	/* It was waited for, so the last round left room: a full buffer holds a line to run. */
	assert(c->in_len < sizeof(c->in));
	n = recv(c->fd, c->in + c->in_len, sizeof(c->in) - c->in_len, MSG_DONTWAIT);
	if (n == 0)
		c->closing = true;
	else if (n < 0)
		c->dead |= errno != EAGAIN && errno != EINTR;
	else
		c->in_len += (size_t)n;
	c->last_ns = c->arrived_ns = time_ns();
}

/* ---- rounds ---- */

static bool has_work(struct client *c)
{
	if (c->waits)
		return waiting(c);
	return waiting(c) || c->stream || line_end(c);
}

static void want(struct client *c, uint32_t events)
{
	if (events != c->want)
		event_change(c->router->loop, c->events, events);
	c->want = events;
}

/* A round follows; it is this client's turn or will be. */
void client_wake(struct client *c)
{
	c->waits = false;
	want(c, EPOLLOUT);
}

static void on_client(void *arg, uint32_t events)
{
	struct client *c = arg;

	if (events & EPOLLIN)
		receive(c);
	else if (events & (EPOLLERR | EPOLLHUP))
		c->dead = true;
	if (c->waits && c->in_len)
		stop_waiting(c);
	run_stream(c);
	run_lines(c);
	flush(c);
	if (c->dead || (c->closing && !has_work(c))) {
		client_close(c);
		return;
	}
	want(c, has_work(c) ? EPOLLOUT : EPOLLIN);
}

/* ---- life ---- */

int client_open(struct router *r, int fd, bool may_write, struct client **ret)
{
	struct client *c = calloc(1, sizeof(*c));
	int ret_add;

	if (!c)
		return -ENOMEM;
	c->router = r;
	c->fd = fd;
	c->may_write = may_write;
	c->want = EPOLLIN;
	c->kind = request_kinds() - 1;
	c->last_ns = time_ns();
	ret_add = event_add(r->loop, fd, c->want, on_client, c, &c->events);
	if (ret_add < 0) {
		free(c);
		return ret_add;
	}
	*ret = c;
	return 0;
}

void client_close(struct client *c)
{
	control_client_gone(c->router->control, c);
	request_client_gone(c->router, c);
	event_del(c->router->loop, c->events);
	end_stream(c);
	close(c->fd);
	free(c->out);
	free(c);
}
