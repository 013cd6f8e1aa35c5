/* control/client.c - the daemon's socket, from outside */

#include "client.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "../lib/ctl/proto.h"

struct ctl_client {
	int fd;
	FILE *in;
	char *line;
	size_t line_size;
};

static int connect_failed(const char *path, int r, struct err *err)
{
	if (r == -ENOENT)
		return err_set(err, r, "%s: no daemon (ENOENT); is mlx5fwd running?", path);
	if (r == -ECONNREFUSED)
		return err_set(err, r, "%s: nobody listens there (ECONNREFUSED); start mlx5fwd", path);
	if (r == -EACCES)
		return err_set(err, r, "%s: not permitted (EACCES); be root or in the control group", path);
	return err_set(err, r, "%s: %s (%s)", path, strerror(-r), err_symbol(r));
}

static int open_socket(struct ctl_client *c, const char *path, unsigned timeout_s, struct err *err)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	struct timeval tv = { .tv_sec = timeout_s };

	if (strlen(path) >= sizeof(addr.sun_path))
		return err_set(err, -ENAMETOOLONG, "%s: a socket's path has at most %zu bytes", path,
			       sizeof(addr.sun_path) - 1);
	memcpy(addr.sun_path, path, strlen(path) + 1);
	c->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (c->fd < 0)
		return connect_failed(path, -errno, err);
	setsockopt(c->fd, SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof(tv));
	setsockopt(c->fd, SOL_SOCKET, SO_SNDTIMEO, &tv, sizeof(tv));
	if (connect(c->fd, (const void *)&addr, sizeof(addr)))
		return connect_failed(path, -errno, err);
	c->in = fdopen(dup(c->fd), "re");
	return c->in ? 0 : connect_failed(path, -errno, err);
}

int ctl_connect(const char *path, unsigned timeout_s, struct err *err, struct ctl_client **ret)
{
	struct ctl_client *c = calloc(1, sizeof(*c));
	int r;

	if (!c)
		return -ENOMEM;
	c->fd = -1;
	r = open_socket(c, path, timeout_s, err);
	if (r < 0) {
		ctl_close(c);
		return r;
	}
	*ret = c;
	return 0;
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

static int lost(int r, struct err *err)
{
	if (r == -EAGAIN)
		return err_set(err, -ETIMEDOUT, "the daemon does not answer (ETIMEDOUT); -T sets the time-out");
	return err_set(err, r, "the daemon is gone: %s (%s)", strerror(-r), err_symbol(r));
}

int ctl_send(struct ctl_client *c, const char *const words[], int n, struct err *err)
{
	char line[CTL_LINE_MAX] = "";
	size_t len, at = 0;

	for (int i = 0; i < n; i++)
		if (ctl_quote(line, sizeof(line) - 1, words[i]) < 0)
			return err_set(err, -E2BIG, "request of more than %d bytes", CTL_LINE_MAX);
	len = strlen(line);
	line[len++] = '\n';
	while (at < len) {
		ssize_t sent = send(c->fd, line + at, len - at, MSG_NOSIGNAL);

		if (sent < 0 && errno == EINTR)
			continue;
		if (sent < 0)
			return lost(-errno, err);
		at += (size_t)sent;
	}
	return 0;
}

int ctl_reply(struct ctl_client *c, json_t **ret, bool *last, struct err *err)
{
	json_error_t why;
	ssize_t n;

	errno = 0;
	n = getline(&c->line, &c->line_size, c->in);
	if (n < 0)
		return lost(errno ? -errno : -ECONNRESET, err);
	*ret = json_loads(c->line, 0, &why);
	if (!json_is_object(*ret))
		return err_set(err, -EPROTO, "the daemon's answer makes no sense: %s", why.text);
	*last = json_object_get(*ret, "status");
	return 0;
}
