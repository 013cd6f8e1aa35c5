/* daemon/listen.c - sockets that others connect to: systemd's, or our own */

#include "listen.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "../lib/base/cleanup.h"
#include "../lib/base/number.h"
#include "log.h"
#include "notify.h"
#include "peer.h"

enum { BACKLOG = 64 };

/* ---- addresses ---- */

static int parse_path(const char *text, struct listen_address *ret)
{
	struct sockaddr_un *un = (void *)&ret->addr;
	size_t n = strlen(text);

	if (n >= sizeof(un->sun_path))
		return -EINVAL;
	un->sun_family = AF_UNIX;
	memcpy(un->sun_path, text, n + 1);
	ret->bytes = sizeof(*un);
	return 0;
}

static int parse_host(const char *host, bool in_brackets, uint16_t port,
		      struct listen_address *ret)
{
	struct sockaddr_in *in = (void *)&ret->addr;
	struct sockaddr_in6 *in6 = (void *)&ret->addr;

	if (in_brackets && inet_pton(AF_INET6, host, &in6->sin6_addr) == 1) {
		in6->sin6_family = AF_INET6;
		in6->sin6_port = htons(port);
		ret->bytes = sizeof(*in6);
		return 0;
	}
	if (!in_brackets && inet_pton(AF_INET, host, &in->sin_addr) == 1) {
		in->sin_family = AF_INET;
		in->sin_port = htons(port);
		ret->bytes = sizeof(*in);
		return 0;
	}
	return -EINVAL;
}

int listen_parse(const char *text, struct listen_address *ret)
{
	const char *colon = strrchr(text, ':');
	bool in_brackets = *text == '[' && colon && colon[-1] == ']';
	char host[INET6_ADDRSTRLEN + 2];
	uint64_t port;
	size_t n;

	memset(ret, 0, sizeof(*ret));
	if (*text == '/')
		return parse_path(text, ret);
	if (!colon || number_parse(colon + 1, UINT16_MAX, &port) < 0 || !port)
		return -EINVAL;
	n = (size_t)(colon - text) - 2 * in_brackets;
	if (n >= sizeof(host))
		return -EINVAL;
	memcpy(host, text + in_brackets, n);
	host[n] = '\0';
	return parse_host(host, in_brackets, (uint16_t)port, ret);
}

/* ---- a Unix socket's file ---- */

/* A socket that nobody listens on was left by a killed daemon. Anything else stays. */
static int remove_stale(const struct listen_conf *c, const struct sockaddr_un *addr,
			struct err *err)
{
	SCOPED_CLOSE int fd = -1;
	struct stat st;

	if (lstat(addr->sun_path, &st))
		return 0;
	if (!S_ISSOCK(st.st_mode))
		return err_set(
			err, -EEXIST,
			"%s %s: something else has this name; remove it, or set %s",
			c->what, c->where, c->key);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return err_set(err, -errno, "%s: %s", c->what, strerror(errno));
	/* Also EAGAIN, a full backlog, means that somebody listens. */
	if (!connect(fd, (const void *)addr, sizeof(*addr)) || errno != ECONNREFUSED)
		return err_set(err, -EADDRINUSE,
			       "%s %s: another daemon listens there; stop it, or set %s",
			       c->what, c->where, c->key);
	if (unlink(addr->sun_path))
		return err_set(err, -errno, "%s %s: %s", c->what, c->where,
			       strerror(errno));
	return 0;
}

static void remember_file(struct listener *l, const char *path)
{
	struct stat st;

	if (lstat(path, &st))
		return;
	l->path = path;
	l->device = st.st_dev;
	l->inode = st.st_ino;
}

void listen_set_group(const struct listener *l, const char *what, gid_t group)
{
	gid_t nobody_else = getegid();

	if (l->path &&
	    chown(l->path, (uid_t)-1, group == PEER_NO_GROUP ? nobody_else : group))
		log_warning("%s %s: cannot be given to its group: %s", what, l->path,
			    strerror(errno));
}

/* ---- sockets ---- */

static int bind_failed(const struct listen_conf *c, int r, struct err *err)
{
	if (r == -ENOENT)
		return err_set(err, r, "%s %s: %s; make its folder, or set %s", c->what,
			       c->where, strerror(-r), c->key);
	return err_set(err, r, "%s %s: %s", c->what, c->where, strerror(-r));
}

/* Nobody but root may use a Unix socket until its group has it. */
static int bind_to(struct listener *l, const struct listen_conf *c,
		   const struct listen_address *a, struct err *err)
{
	bool is_unix = a->addr.ss_family == AF_UNIX;
	int on = 1, r = is_unix ? remove_stale(c, (const void *)&a->addr, err) : 0;
	mode_t mask;

	if (r < 0)
		return r;
	setsockopt(l->fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	mask = umask(0117);
	r = bind(l->fd, (const void *)&a->addr, a->bytes) ? -errno : 0;
	umask(mask);
	if (r < 0)
		return bind_failed(c, r, err);
	if (is_unix) {
		remember_file(l, c->where);
		if (c->group != PEER_NO_GROUP)
			listen_set_group(l, c->what, c->group);
	}
	return 0;
}

static int open_own(struct listener *l, const struct listen_conf *c, struct err *err)
{
	struct listen_address a = { .bytes = 0 };
	int r = c->is_path ? parse_path(c->where, &a) : listen_parse(c->where, &a);

	if (r < 0)
		return err_set(err, r, "%s %s: neither ADDRESS:PORT nor /path", c->what,
			       c->where);
	l->fd = socket(a.addr.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (l->fd < 0)
		return err_set(err, -errno, "%s: %s", c->what, strerror(errno));
	r = bind_to(l, c, &a, err);
	if (!r && listen(l->fd, BACKLOG))
		r = err_set(err, -errno, "%s %s: %s", c->what, c->where, strerror(errno));
	return r;
}

int listen_open(const struct listen_conf *c, struct err *err, struct listener *ret)
{
	int r;

	*ret = (struct listener){ .fd = notify_socket(c->name) };
	if (ret->fd >= 0) {
		fcntl(ret->fd, F_SETFL, fcntl(ret->fd, F_GETFL) | O_NONBLOCK);
		return 0;
	}
	r = open_own(ret, c, err);
	if (r < 0)
		listen_close(ret);
	return r;
}

/* Somebody may have removed the file, and another daemon put its own there. */
void listen_close(struct listener *l)
{
	struct stat st;

	if (l->path && !lstat(l->path, &st) && st.st_dev == l->device &&
	    st.st_ino == l->inode)
		unlink(l->path);
	if (l->fd >= 0)
		close(l->fd);
	*l = (struct listener){ .fd = -1 };
}
