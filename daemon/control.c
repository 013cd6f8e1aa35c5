/* daemon/control.c - control socket: where it is, who may use it, how many at a time */

#include "control.h"

#include <grp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "../lib/base/cleanup.h"
#include "../lib/ctl/proto.h"
#include "client.h"
#include "peer.h"
#include "router.h"

enum { LISTEN_BACKLOG = 64 };

struct control {
	struct router *router;
	int fd;
	struct event_source *events;
	const char *path; /* of the socket file, once it is ours */
	dev_t device;	  /* which file that is */
	ino_t inode;
	gid_t group;
	struct client *client[CTL_CLIENTS_MAX];
	unsigned n_clients;
};

/* ---- clients ---- */

static void close_quietest(struct control *ctl)
{
	struct client *quietest = ctl->client[0];

	for (unsigned i = 1; i < ctl->n_clients; i++)
		if (client_quiet_ns(ctl->client[i]) > client_quiet_ns(quietest))
			quietest = ctl->client[i];
	log_debug("control: no place for a new client: closing the quietest one");
	client_close(quietest);
}

static void on_accept(void *arg, uint32_t events)
{
	struct control *ctl = arg;
	SCOPED_CLOSE int fd = accept4(ctl->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	bool exhausted = fd < 0 && (errno == EMFILE || errno == ENFILE);

	(void)events;
	if (ctl->n_clients == CTL_CLIENTS_MAX || (exhausted && ctl->n_clients))
		close_quietest(ctl); /* exhausted: the next round accepts */
	if (fd < 0 || client_open(ctl->router, fd, peer_may_write(fd, ctl->group),
				  &ctl->client[ctl->n_clients]) < 0)
		return;
	ctl->n_clients++;
	take_fd(&fd);
}

void control_client_gone(struct control *ctl, const struct client *c)
{
	for (unsigned i = 0; i < ctl->n_clients; i++) {
		if (ctl->client[i] != c)
			continue;
		ctl->client[i] = ctl->client[--ctl->n_clients];
		return;
	}
}

/* ---- socket ---- */

/* A socket that nobody listens on was left by a killed daemon. Anything else stays. */
static int remove_stale(const struct sockaddr_un *addr, struct err *err)
{
	SCOPED_CLOSE int fd = -1;
	struct stat st;

	if (lstat(addr->sun_path, &st))
		return 0;
	if (!S_ISSOCK(st.st_mode))
		return err_set(
			err, -EEXIST,
			"control socket %s: something else has this name; remove it, or "
			"set control_socket",
			addr->sun_path);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return err_set(err, -errno, "control socket: %s", strerror(errno));
	/* Also EAGAIN, a full backlog, means that somebody listens. */
	if (!connect(fd, (const void *)addr, sizeof(*addr)) || errno != ECONNREFUSED)
		return err_set(
			err, -EADDRINUSE,
			"control socket %s: another daemon listens there; stop it, or set "
			"control_socket",
			addr->sun_path);
	if (unlink(addr->sun_path))
		return err_set(err, -errno, "control socket %s: %s", addr->sun_path,
			       strerror(errno));
	return 0;
}

static int bind_failed(const char *path, int r, struct err *err)
{
	return err_set(err, r, "control socket %s: %s%s", path, strerror(-r),
		       r == -ENOENT ? "; make its folder, or set control_socket" : "");
}

/* Nobody but root until the group has it. */
static int bind_at(struct control *ctl, const char *path, struct err *err)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	struct stat st;
	mode_t mask;
	int r;

	memcpy(addr.sun_path, path,
	       strlen(path) + 1); /* the configuration allows no longer one */
	r = remove_stale(&addr, err);
	if (r < 0)
		return r;
	mask = umask(0117);
	r = bind(ctl->fd, (const void *)&addr, sizeof(addr)) ? -errno : 0;
	umask(mask);
	if (r < 0)
		return bind_failed(path, r, err);
	if (!lstat(path, &st)) {
		ctl->path = path;
		ctl->device = st.st_dev;
		ctl->inode = st.st_ino;
	}
	if (ctl->group != PEER_NO_GROUP && chown(path, (uid_t)-1, ctl->group))
		log_warning(
			"control socket %s: only root may use it: cannot give it to the "
			"control group: %s",
			path, strerror(errno));
	return 0;
}

static int open_socket(struct control *ctl, const char *path, struct err *err)
{
	int r;

	ctl->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (ctl->fd < 0)
		return err_set(err, -errno, "control socket: %s", strerror(errno));
	r = bind_at(ctl, path, err);
	if (r < 0)
		return r;
	if (listen(ctl->fd, LISTEN_BACKLOG))
		return err_set(err, -errno, "control socket %s: %s", path,
			       strerror(errno));
	r = event_add(ctl->router->loop, ctl->fd, EPOLLIN, on_accept, ctl, &ctl->events);
	return r < 0 ? err_set(err, r, "control socket: epoll: %s", strerror(-r)) : 0;
}

static gid_t find_group(const char *name)
{
	const struct group *g = *name ? getgrnam(name) : NULL;

	if (*name && !g)
		log_info("control: there is no group %s: only root may use the socket",
			 name);
	return g ? g->gr_gid : PEER_NO_GROUP;
}

int control_open(struct router *r, struct err *err)
{
	struct control *ctl = calloc(1, sizeof(*ctl));

	if (!ctl)
		return -ENOMEM;
	ctl->router = r;
	ctl->fd = -1;
	ctl->group = find_group(r->conf.control_group);
	r->control = ctl; /* control_close() takes apart what there is */
	return open_socket(ctl, r->conf.control_socket, err);
}

/* Somebody may have removed it, and another daemon put its own there. */
static void remove_own(const struct control *ctl)
{
	struct stat st;

	if (ctl->path && !lstat(ctl->path, &st) && st.st_dev == ctl->device &&
	    st.st_ino == ctl->inode)
		unlink(ctl->path);
}

void control_close(struct router *r)
{
	struct control *ctl = r->control;

	if (!ctl)
		return;
	while (ctl->n_clients)
		client_close(ctl->client[0]);
	event_del(r->loop, ctl->events);
	remove_own(ctl);
	if (ctl->fd >= 0)
		close(ctl->fd);
	free(ctl);
	r->control = NULL;
}
