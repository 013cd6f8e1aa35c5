/* daemon/control.c - Unix socket server */

#include "control.h"

#include <grp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "../lib/base/time.h"
#include "../lib/ctl/proto.h"
#include "router.h"

enum {
	OUT_PAUSE = 64 << 10,  /* replies waiting: no more requests are read, no more streamed */
	OUT_MAX = 1 << 20,     /* one handler's replies never come near this */
	LISTEN_BACKLOG = 64,
	GROUPS_MAX = 256,
};

struct client {
	struct client *next;
	struct control *control;
	int fd;
	struct event_source *events;
	bool writer, dead, closing; /* closing: after the replies that wait */
	uint64_t last_ns;
	char in[CTL_LINE_MAX];
	size_t in_len;
	char *out;
	size_t out_len, out_at, out_room;
	bool (*stream)(struct client *c, struct router *r, void *state);
	void *stream_state;
};

struct control {
	struct router *router;
	int fd;
	struct event_source *events;
	char path[108];
	gid_t group;
	bool has_group;
	struct client *clients;
	unsigned n_clients;
};

/* ---- sending ---- */

static void out_bytes(struct client *c, const char *bytes, size_t n)
{
	char *grown;

	if (c->out_len + n > c->out_room) {
		c->out_room = c->out_len + n + OUT_PAUSE;
		grown = c->out_room > OUT_MAX ? NULL : realloc(c->out, c->out_room);
		if (!grown) {
			c->dead = true;
			return;
		}
		c->out = grown;
	}
	memcpy(c->out + c->out_len, bytes, n);
	c->out_len += n;
}

void client_object(struct client *c, json_t *object)
{
	char *text = object ? json_dumps(object, JSON_COMPACT | JSON_PRESERVE_ORDER) : NULL;

	json_decref(object);
	if (!text) {
		c->dead = true;
		return;
	}
	out_bytes(c, text, strlen(text));
	out_bytes(c, "\n", 1);
	free(text);
}

void client_ok(struct client *c) { client_object(c, json_pack("{ss}", "status", "ok")); }

void client_error(struct client *c, int r, const char *fmt, ...)
{
	char text[512], *hint;
	json_t *error;
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	hint = strstr(text, "; ");
	if (hint)
		*hint = '\0';
	error = json_pack("{ssss}", "code", err_symbol(r), "message", text);
	if (hint && error)
		json_object_set_new(error, "hint", json_string(hint + 2));
	client_object(c, json_pack("{ssso}", "status", "error", "error", error));
}

bool client_may_write(const struct client *c) { return c->writer; }

void client_stream(struct client *c, bool (*next)(struct client *c, struct router *r, void *state),
		   void *state)
{
	c->stream = next;
	c->stream_state = state;
}

static void end_stream(struct client *c)
{
	free(c->stream_state);
	c->stream = NULL;
	c->stream_state = NULL;
}

/* ---- clients ---- */

static size_t waiting(const struct client *c) { return c->out_len - c->out_at; }

static void client_free(struct client *c)
{
	struct control *ctl = c->control;
	struct client **at = &ctl->clients;

	while (*at != c)
		at = &(*at)->next;
	*at = c->next;
	ctl->n_clients--;
	request_client_gone(ctl->router, c);
	event_del(ctl->router->loop, c->events);
	end_stream(c);
	close(c->fd);
	free(c->out);
	free(c);
}

static void run_line(struct client *c, char *line)
{
	char *words[CTL_WORDS_MAX];
	int n = ctl_split(line, words);

	if (n == -E2BIG)
		client_error(c, n, "more than %d words", CTL_WORDS_MAX);
	else if (n < 0)
		client_error(c, n, "not a line of words: an open quote or a control character");
	else if (n > 0)
		request_run(c->control->router, c, words, n);
}

/* Runs whole lines while their replies do not pile up. */
static void run_lines(struct client *c)
{
	char *end, line[CTL_LINE_MAX];
	size_t n;

	while (!c->dead && !c->stream && waiting(c) < OUT_PAUSE &&
	       (end = memchr(c->in, '\n', c->in_len))) {
		n = (size_t)(end - c->in);
		memcpy(line, c->in, n);
		line[n] = '\0';
		c->in_len -= n + 1;
		memmove(c->in, end + 1, c->in_len);
		if (memchr(line, '\0', n))
			client_error(c, -EINVAL, "a request is text: it has a zero byte in it");
		else
			run_line(c, line);
	}
	if (c->in_len == sizeof(c->in) && !memchr(c->in, '\n', c->in_len)) {
		client_error(c, -E2BIG, "a request line has at most %d bytes", CTL_LINE_MAX);
		c->closing = true;
		c->in_len = 0;
	}
}

static void run_stream(struct client *c)
{
	while (c->stream && !c->dead && waiting(c) < OUT_PAUSE)
		if (!c->stream(c, c->control->router, c->stream_state))
			end_stream(c);
}

static void flush(struct client *c)
{
	while (waiting(c)) {
		ssize_t n = send(c->fd, c->out + c->out_at, waiting(c), MSG_NOSIGNAL | MSG_DONTWAIT);

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

/* Answers until there is nothing to do or the client does not read. */
static void serve(struct client *c)
{
	size_t before;

	do {
		before = c->in_len;
		run_stream(c);
		run_lines(c);
		flush(c);
	} while (!c->dead && !waiting(c) && (c->stream || c->in_len != before));
}

static void receive(struct client *c)
{
	ssize_t n = recv(c->fd, c->in + c->in_len, sizeof(c->in) - c->in_len, MSG_DONTWAIT);

	if (n == 0)
		c->closing = true;
	else if (n < 0)
		c->dead |= errno != EAGAIN && errno != EINTR;
	else
		c->in_len += (size_t)n;
	c->last_ns = time_ns();
}

static void on_client(void *arg, uint32_t events)
{
	struct client *c = arg;
	uint32_t want;

	if (events & EPOLLIN && c->in_len < sizeof(c->in))
		receive(c);
	if (events & (EPOLLERR | EPOLLHUP) && !(events & EPOLLIN))
		c->dead = true;
	serve(c);
	if (c->dead || (c->closing && !waiting(c) && !c->stream)) {
		client_free(c);
		return;
	}
	want = waiting(c) ? EPOLLOUT : EPOLLIN;
	event_change(c->control->router->loop, c->events, want);
}

/* ---- credentials ---- */

static bool in_groups(int fd, gid_t group)
{
	gid_t groups[GROUPS_MAX];
	socklen_t len = sizeof(groups);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, groups, &len))
		return false;
	for (size_t i = 0; i < len / sizeof(groups[0]); i++)
		if (groups[i] == group)
			return true;
	return false;
}

/* Root, the daemon's own user and the control group may change things. */
static bool peer_may_write(const struct control *ctl, int fd)
{
	struct ucred cred;
	socklen_t len = sizeof(cred);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &len))
		return false;
	return cred.uid == 0 || cred.uid == geteuid() ||
	       (ctl->has_group && (cred.gid == ctl->group || in_groups(fd, ctl->group)));
}

/* ---- server ---- */

static void make_room(struct control *ctl)
{
	struct client *idle = ctl->clients;

	for (struct client *c = ctl->clients; c; c = c->next)
		if (c->last_ns < idle->last_ns)
			idle = c;
	log_info("control: all %d places are taken: closing the longest idle client", CTL_CLIENTS_MAX);
	client_free(idle);
}

static void on_accept(void *arg, uint32_t events)
{
	struct control *ctl = arg;
	int fd = accept4(ctl->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	struct client *c;

	(void)events;
	if (fd < 0)
		return;
	if (ctl->n_clients == CTL_CLIENTS_MAX)
		make_room(ctl);
	c = calloc(1, sizeof(*c));
	if (!c || event_add(ctl->router->loop, fd, EPOLLIN, on_client, c, &c->events) < 0) {
		free(c);
		close(fd);
		return;
	}
	c->control = ctl;
	c->fd = fd;
	c->writer = peer_may_write(ctl, fd);
	c->last_ns = time_ns();
	c->next = ctl->clients;
	ctl->clients = c;
	ctl->n_clients++;
}

/* A socket file that nobody listens on was left by a killed daemon. */
static int remove_stale(const struct sockaddr_un *addr, struct err *err)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), r;

	if (fd < 0)
		return -errno;
	r = connect(fd, (const void *)addr, sizeof(*addr)) ? errno : 0;
	close(fd);
	if (r == 0)
		return err_set(err, -EADDRINUSE, "%s: another daemon listens there; stop it, or give this one "
			       "its own control_socket", addr->sun_path);
	if (r == ECONNREFUSED && unlink(addr->sun_path))
		return err_set(err, -errno, "%s: %s", addr->sun_path, strerror(errno));
	return 0;
}

static int listen_at(struct control *ctl, const char *path, struct err *err)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	mode_t mask;
	int r;

	memcpy(addr.sun_path, path, strlen(path) + 1); /* at most 107 bytes, the configuration says */
	r = remove_stale(&addr, err);
	if (r < 0)
		return r;
	ctl->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (ctl->fd < 0)
		return err_set(err, -errno, "control socket: %s", strerror(errno));
	mask = umask(0117);
	r = bind(ctl->fd, (const void *)&addr, sizeof(addr)) ? -errno : 0;
	umask(mask);
	if (r < 0)
		return err_set(err, r, "control socket %s: %s", path, strerror(-r));
	memcpy(ctl->path, addr.sun_path, sizeof(ctl->path));
	if (ctl->has_group && chown(path, (uid_t)-1, ctl->group))
		log_warning("control socket %s: cannot give it to the control group: %s", path, strerror(errno));
	return listen(ctl->fd, LISTEN_BACKLOG) ? err_set(err, -errno, "%s: %s", path, strerror(errno)) : 0;
}

static void find_group(struct control *ctl, const char *name)
{
	struct group *g = *name ? getgrnam(name) : NULL;

	ctl->has_group = g;
	if (g)
		ctl->group = g->gr_gid;
	else if (*name)
		log_info("control: there is no group %s: only root may use the socket", name);
}

int control_open(struct router *r, struct err *err)
{
	struct control *ctl = calloc(1, sizeof(*ctl));
	int ret;

	if (!ctl)
		return -ENOMEM;
	ctl->router = r;
	ctl->fd = -1;
	r->control = ctl;
	find_group(ctl, r->conf.control_group);
	ret = listen_at(ctl, r->conf.control_socket, err);
	if (ret < 0)
		return ret;
	ret = event_add(r->loop, ctl->fd, EPOLLIN, on_accept, ctl, &ctl->events);
	return ret < 0 ? err_set(err, ret, "epoll: %s", strerror(-ret)) : 0;
}

void control_close(struct router *r)
{
	struct control *ctl = r->control;

	if (!ctl)
		return;
	while (ctl->clients)
		client_free(ctl->clients);
	event_del(r->loop, ctl->events);
	if (ctl->fd >= 0)
		close(ctl->fd);
	if (ctl->path[0])
		unlink(ctl->path);
	free(ctl);
	r->control = NULL;
}
