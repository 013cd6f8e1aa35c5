/* control/client.c - the daemon's socket, from outside */

#include "client.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "../lib/base/hot.h"
#include "../lib/ctl/proto.h"

struct ctl_client {
	int fd;
	FILE *in;
	char *line;
	size_t line_size;
};

static const struct {
	int r;
	const char *what, *hint;
} failures[] = {
	{ -ENOENT, "there is no daemon", "is mlx5fwd running?" },
	{ -ECONNREFUSED, "nobody listens there", "start mlx5fwd" },
	{ -EACCES, "not permitted",
	  "be root, in the control group, or, to look only, in the readers' group" },
	{ -ETIMEDOUT, "the daemon does not answer", "-T sets the time-out" },
	{ -ECONNRESET, "the daemon ended the connection", NULL },
	{ -EPIPE, "the daemon ended the connection", NULL },
};

const char *ctl_hint(int r)
{
	for (size_t i = 0; i < ARRAY_LEN(failures); i++)
		if (failures[i].r == r)
			return failures[i].hint;
	return NULL;
}

static const char *what_of(int r)
{
	for (size_t i = 0; i < ARRAY_LEN(failures); i++)
		if (failures[i].r == r)
			return failures[i].what;
	return strerror(-r);
}

/* A time-out of a socket is told as EAGAIN, socket(7), SO_RCVTIMEO. */
static int socket_error(void)
{
	return errno == EAGAIN ? -ETIMEDOUT : -errno;
}

/* ---- life ---- */

static int open_socket(struct ctl_client *c, const char *path, unsigned timeout_s)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	struct timeval tv = { .tv_sec = timeout_s };

	if (strlen(path) >= sizeof(addr.sun_path))
		return -ENAMETOOLONG;
	memcpy(addr.sun_path, path, strlen(path) + 1);
	c->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (c->fd < 0)
		return -errno;
	setsockopt(c->fd, SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof(tv));
	setsockopt(c->fd, SOL_SOCKET, SO_SNDTIMEO, &tv, sizeof(tv));
	if (connect(c->fd, (const void *)&addr, sizeof(addr)))
		return socket_error();
	c->in = fdopen(dup(c->fd), "re");
	return c->in ? 0 : -errno;
}

static int connect_to(const char *path, unsigned timeout_s, struct err *err,
		      struct ctl_client **ret)
{
	struct ctl_client *c = calloc(1, sizeof(*c));
	int r;

	if (!c)
		return err_set(err, -ENOMEM, "no memory");
	c->fd = -1;
	r = open_socket(c, path, timeout_s);
	if (r < 0) {
		ctl_close(c);
		return err_set(err, r, "%s: %s", path, what_of(r));
	}
	*ret = c;
	return 0;
}

int ctl_connect(const char *path, unsigned timeout_s, struct err *err,
		struct ctl_client **ret)
{
	int r = connect_to(path ? path : CTL_SOCKET, timeout_s, err, ret);

	/* What went wrong first is what is told. */
	if (!path && r == -EACCES &&
	    connect_to(CTL_READ_SOCKET, timeout_s, NULL, ret) == 0)
		return 0;
	return r;
}

void ctl_close(struct ctl_client *c)
{
	if (!c)
		return;
	if (c->in)
		fclose(c->in);
	if (c->fd >= 0)
		close(c->fd);
	free(c->line);
	free(c);
}

void ctl_wait_long(struct ctl_client *c)
{
	struct timeval never = { 0 };

	setsockopt(c->fd, SOL_SOCKET, SO_RCVTIMEO, &never, sizeof(never));
}

/* ---- requests and replies ---- */

static int send_bytes(int fd, const char *bytes, size_t n)
{
	while (n) {
		ssize_t sent = send(fd, bytes, n, MSG_NOSIGNAL);

		if (sent < 0 && errno == EINTR)
			continue;
		if (sent < 0)
			return socket_error();
		bytes += sent;
		n -= (size_t)sent;
	}
	return 0;
}

int ctl_send(struct ctl_client *c, const char *const words[], int n, struct err *err)
{
	char line[CTL_LINE_MAX] = "";
	size_t len;
	int r = 0;

	for (int i = 0; i < n && !r; i++)
		r = ctl_quote(line, sizeof(line) - 1, words[i]);
	if (r < 0)
		return err_set(err, r,
			       r == -E2BIG ? "a request has at most %d bytes"
					   : "a request is printable ASCII",
			       CTL_LINE_MAX);
	len = strlen(line);
	line[len++] = '\n';
	r = send_bytes(c->fd, line, len);
	return r < 0 ? err_set(err, r, "%s", what_of(r)) : 0;
}

static int no_sense(struct err *err, const char *why)
{
	return err_set(err, -EPROTO, "the daemon's answer makes no sense: %s", why);
}

int ctl_line(struct ctl_client *c, const char **ret, bool *last, struct err *err)
{
	static const char end[] = "{\"status\":"; /* proto.h: only there it comes first */
	ssize_t n;
	int r;

	errno = 0;
	n = getline(&c->line, &c->line_size, c->in);
	if (n < 0) {
		r = errno ? socket_error() : -ECONNRESET;
		return err_set(err, r, "%s", what_of(r));
	}
	if (c->line[n - 1] != '\n')
		return err_set(err, -ECONNRESET, "%s", what_of(-ECONNRESET));
	c->line[--n] = '\0';
	if (n < 2 || c->line[0] != '{' || c->line[n - 1] != '}')
		return no_sense(err, "not an object");
	*ret = c->line;
	*last = !strncmp(c->line, end, sizeof(end) - 1);
	return 0;
}

int ctl_parse(const char *line, struct row **ret, struct err *err)
{
	char why[200];
	int r = row_read(line, why, sizeof(why), ret);

	return r < 0 ? no_sense(err, why) : 0;
}

int ctl_reply(struct ctl_client *c, struct row **ret, bool *last, struct err *err)
{
	const char *line = NULL;
	int r = ctl_line(c, &line, last, err);

	return r < 0 ? r : ctl_parse(line, ret, err);
}
