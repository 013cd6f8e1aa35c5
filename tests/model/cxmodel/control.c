/* cxmodel/control.c - control socket: one text line in, text out
 *
 *   -> stat\n          <- objects 14\n ... ok\n
 *   -> fault eth0 x\n  <- error fault: ...\n
 *
 * Any number of lines on one connection, one answer each, in order. One thread
 * serves all connections and waits for none: a client that sends half a line, or
 * does not read its answer, holds a buffer and nothing else. When all places are
 * taken, the client that was silent longest loses its own to the newest.
 */
#define _GNU_SOURCE 1
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "inside.h"

enum {
	CLIENTS = 64,
	LINE_BYTES = 1024, /* longer lines are refused */
};

struct client {
	bool used;
	int fd;
	uint64_t touched; /* number of the last round in which it did something */
	char in[LINE_BYTES];
	size_t n_in;
	struct reply out;
	size_t sent;
	bool last; /* close when the answer is out */
};

struct control {
	struct model *m;
	pthread_t thread;
	int listener, wake;
	atomic_bool stop;
	atomic_uint n_clients;
	uint64_t round;
	struct client client[CLIENTS];
};

/* ---- one client ---- */

static void drop(struct control *c, struct client *cl)
{
	close(cl->fd);
	reply_free(&cl->out);
	memset(cl, 0, sizeof(*cl));
	atomic_fetch_sub(&c->n_clients, 1);
}

static bool answering(const struct client *cl)
{
	return cl->sent < cl->out.len;
}

/* Writes as much as fits. Return: false when the client is gone. */
static bool send_some(struct control *c, struct client *cl)
{
	while (answering(cl)) {
		ssize_t n = send(cl->fd, cl->out.text + cl->sent, cl->out.len - cl->sent,
				 MSG_NOSIGNAL | MSG_DONTWAIT);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return errno == EAGAIN;
		cl->sent += (size_t)n;
		cl->touched = c->round;
	}
	reply_free(&cl->out);
	cl->sent = 0;
	return !cl->last;
}

/* A line that cannot be a command also makes the rest doubtful: answer and hang up. */
static void give_up(struct client *cl, const char *why)
{
	snprintf(cl->out.why, sizeof(cl->out.why), "%s", why);
	reply_end(&cl->out, -EINVAL);
	cl->last = true;
	cl->n_in = 0;
}

static bool is_text(const char *line, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if ((unsigned char)line[i] < 0x20 ? line[i] != '\t' && line[i] != '\r'
						  : (unsigned char)line[i] >= 0x7f)
			return false;
	return true;
}

/* Runs the first whole line. Return: false when there is none. */
static bool run_line(struct control *c, struct client *cl)
{
	char *end = memchr(cl->in, '\n', cl->n_in);
	char line[LINE_BYTES];
	size_t len;

	if (!end) {
		if (cl->n_in == sizeof(cl->in))
			give_up(cl, "line is over 1023 bytes long; send shorter ones");
		return false;
	}
	len = (size_t)(end - cl->in);
	if (!is_text(cl->in, len)) {
		give_up(cl, "line is not ASCII text; send for example: help");
		return false;
	}
	memcpy(line, cl->in, len);
	line[len && line[len - 1] == '\r' ? len - 1 : len] = 0;
	cl->n_in -= len + 1;
	memmove(cl->in, end + 1, cl->n_in);
	reply_end(&cl->out, command_run(c->m, line, &cl->out));
	return true;
}

/* Return: false when the client is gone. */
static bool receive(struct control *c, struct client *cl)
{
	ssize_t n =
		recv(cl->fd, cl->in + cl->n_in, sizeof(cl->in) - cl->n_in, MSG_DONTWAIT);

	if (n > 0) {
		cl->n_in += (size_t)n;
		cl->touched = c->round;
	}
	return n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR));
}

/* ---- all of them ---- */

static struct client *longest_silent(struct control *c)
{
	struct client *oldest = NULL;

	for (unsigned i = 0; i < CLIENTS; i++) {
		struct client *cl = &c->client[i];

		if (cl->used && (!oldest || cl->touched < oldest->touched))
			oldest = cl;
	}
	return oldest;
}

static struct client *place(struct control *c)
{
	struct client *cl;

	for (unsigned i = 0; i < CLIENTS; i++)
		if (!c->client[i].used)
			return &c->client[i];
	cl = longest_silent(c);
	drop(c, cl);
	return cl;
}

/* Out of descriptors, and the one who knocks would be told again and again. */
static void make_room(struct control *c)
{
	const struct timespec moment = { .tv_nsec = 10000000 };
	struct client *cl = longest_silent(c);

	if (cl)
		drop(c, cl);
	else
		nanosleep(&moment, NULL);
}

static void welcome(struct control *c)
{
	for (unsigned i = 0; i < CLIENTS; i++) {
		int fd = accept4(c->listener, NULL, NULL, SOCK_CLOEXEC);
		struct client *cl;

		if (fd < 0 && (errno == EMFILE || errno == ENFILE))
			make_room(c);
		if (fd < 0)
			return;
		cl = place(c);
		cl->used = true;
		cl->fd = fd;
		cl->touched = c->round;
		atomic_fetch_add(&c->n_clients, 1);
	}
}

static unsigned collect(struct control *c, struct pollfd p[CLIENTS + 2],
			struct client *who[CLIENTS + 2])
{
	unsigned n = 2;

	p[0] = (struct pollfd){ .fd = c->wake, .events = POLLIN };
	p[1] = (struct pollfd){ .fd = c->listener, .events = POLLIN };
	for (unsigned i = 0; i < CLIENTS; i++) {
		struct client *cl = &c->client[i];

		if (!cl->used)
			continue;
		who[n] = cl;
		p[n++] = (struct pollfd){ .fd = cl->fd,
					  .events = answering(cl) ? POLLOUT : POLLIN };
	}
	return n;
}

/* Ends and bytes first, commands after: a program that has just closed its connection is
 * no longer counted when the next one asks for numbers. */
static void read_all(struct control *c, const struct pollfd *p, struct client **who,
		     unsigned n)
{
	for (unsigned i = 2; i < n; i++) {
		struct client *cl = who[i];
		bool alive = true;

		if (p[i].revents & POLLOUT)
			alive = send_some(c, cl);
		else if (p[i].revents & (POLLIN | POLLHUP | POLLERR))
			alive = receive(c, cl);
		if (!alive)
			drop(c, cl);
	}
}

static void answer_all(struct control *c)
{
	for (unsigned i = 0; i < CLIENTS; i++) {
		struct client *cl = &c->client[i];

		while (cl->used && !answering(cl) && !cl->last && run_line(c, cl))
			if (!send_some(c, cl))
				drop(c, cl);
		if (cl->used && answering(cl) && !send_some(c, cl))
			drop(c, cl);
	}
}

static void *serve(void *arg)
{
	struct control *c = arg;
	struct client *who[CLIENTS + 2];
	struct pollfd p[CLIENTS + 2];

	pthread_setname_np(pthread_self(), "control");
	while (!atomic_load(&c->stop)) {
		unsigned n = collect(c, p, who);

		if (poll(p, n, -1) < 0)
			continue;
		c->round++;
		read_all(c, p, who, n);
		if (p[1].revents)
			welcome(c);
		answer_all(c);
	}
	return NULL;
}

/* ---- start and stop ---- */

/* Under another name first: whoever finds the socket finds it listening. */
static int listen_at(const char *dir)
{
	struct sockaddr_un sa = { .sun_family = AF_UNIX };
	char path[sizeof(sa.sun_path)];
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	int r = 0;

	if (fd < 0)
		return -errno;
	snprintf(path, sizeof(path), "%.96s/ctl.sock", dir);
	snprintf(sa.sun_path, sizeof(sa.sun_path), "%.96s/ctl.sock.n", dir);
	unlink(sa.sun_path);
	if (bind(fd, (struct sockaddr *)&sa, sizeof(sa)) < 0 ||
	    chmod(sa.sun_path, 0600) < 0 || listen(fd, 128) < 0 ||
	    rename(sa.sun_path, path) < 0)
		r = -errno;
	if (r < 0)
		close(fd);
	return r < 0 ? r : fd;
}

int control_start(struct model *m, char *why, size_t why_size)
{
	struct control *c = calloc(1, sizeof(*c));
	int r;

	if (!c)
		return -ENOMEM;
	c->m = m;
	c->wake = eventfd(0, EFD_CLOEXEC);
	c->listener = r = listen_at(m->dir);
	m->control = c;
	if (r >= 0)
		r = -pthread_create(&c->thread, NULL, serve, c);
	if (r < 0) {
		snprintf(why, why_size, "%s/ctl.sock: %s", m->dir, strerror(-r));
		if (c->listener >= 0)
			close(c->listener);
		close(c->wake);
		free(c);
		m->control = NULL;
	}
	return r;
}

void control_stop(struct model *m)
{
	struct control *c = m->control;
	uint64_t one = 1;

	if (!c)
		return;
	atomic_store(&c->stop, true);
	if (write(c->wake, &one, sizeof(one)) == sizeof(one))
		pthread_join(c->thread, NULL);
	for (unsigned i = 0; i < CLIENTS; i++)
		if (c->client[i].used)
			drop(c, &c->client[i]);
	close(c->listener);
	close(c->wake);
	m->control = NULL;
	free(c);
}

unsigned control_clients(const struct model *m)
{
	return m->control ? atomic_load(&m->control->n_clients) : 0;
}
