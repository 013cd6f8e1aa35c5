/* daemon/control.c - control sockets: where they are, who may use them, how many at a time */

#include "control.h"

#include <grp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "../lib/base/cleanup.h"
#include "../lib/ctl/proto.h"
#include "client.h"
#include "listen.h"
#include "notify.h"
#include "peer.h"
#include "router.h"

enum { CHANGE, LOOK, DOORS };

struct door {
	struct control *control;
	bool looks_only;
	struct listener listener; /* fd -1 = there is none */
	struct event_source *events;
};

struct place {
	struct client *client;
	const struct door *door;
};

struct control {
	struct router *router;
	struct door door[DOORS];
	gid_t group;
	struct place place[CTL_CLIENTS_MAX];
	unsigned n_clients;
};

/* ---- clients ---- */

static unsigned clients_by(const struct control *ctl, const struct door *door)
{
	unsigned n = 0;

	for (unsigned i = 0; i < ctl->n_clients; i++)
		n += ctl->place[i].door == door;
	return n;
}

/* @door: of those who came by it; NULL = of all. */
static void close_quietest(struct control *ctl, const struct door *door)
{
	struct client *quietest = NULL;

	for (unsigned i = 0; i < ctl->n_clients; i++) {
		const struct place *p = &ctl->place[i];

		if (door && p->door != door)
			continue;
		if (!quietest || client_quiet_ns(p->client) > client_quiet_ns(quietest))
			quietest = p->client;
	}
	if (!quietest)
		return;
	log_debug("control: no place for a new client: closing the quietest one");
	client_close(quietest);
}

/* Those who only look take no place from others, but a descriptor if there is no other one. */
static void make_room(struct door *door, bool exhausted)
{
	struct control *ctl = door->control;
	unsigned n = clients_by(ctl, door);

	if (!door->looks_only && (exhausted || ctl->n_clients == CTL_CLIENTS_MAX))
		close_quietest(ctl, NULL);
	else if (n && (exhausted || ctl->n_clients == CTL_CLIENTS_MAX ||
		       (door->looks_only && n == CTL_READERS_MAX)))
		close_quietest(ctl, door);
	else if (exhausted)
		close_quietest(ctl, NULL);
}

static bool may_write(const struct door *door, int fd)
{
	return !door->looks_only && peer_may_write(fd, door->control->group);
}

static void on_accept(void *arg, uint32_t events)
{
	struct door *door = arg;
	struct control *ctl = door->control;
	SCOPED_CLOSE int fd =
		accept4(door->listener.fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	struct place *p;

	(void)events;
	/* Without descriptors the next round accepts. */
	make_room(door, fd < 0 && (errno == EMFILE || errno == ENFILE));
	if (fd < 0 || ctl->n_clients == CTL_CLIENTS_MAX)
		return;
	p = &ctl->place[ctl->n_clients];
	if (client_open(ctl->router, fd, may_write(door, fd), &p->client) < 0)
		return;
	p->door = door;
	ctl->n_clients++;
	take_fd(&fd);
}

void control_client_gone(struct control *ctl, const struct client *c)
{
	for (unsigned i = 0; i < ctl->n_clients; i++) {
		if (ctl->place[i].client != c)
			continue;
		ctl->place[i] = ctl->place[--ctl->n_clients];
		return;
	}
}

unsigned control_clients(const struct control *ctl)
{
	return ctl->n_clients;
}

/* ---- sockets ---- */

static gid_t find_group(const char *name, const char *effect)
{
	const struct group *g = *name ? getgrnam(name) : NULL;

	if (*name && !g)
		log_info("control: there is no group %s: %s", name, effect);
	return g ? g->gr_gid : PEER_NO_GROUP;
}

static int open_door(struct control *ctl, unsigned which, const struct listen_conf *conf,
		     struct err *err)
{
	struct door *door = &ctl->door[which];
	int r = listen_open(conf, err, &door->listener);

	door->control = ctl;
	door->looks_only = which == LOOK;
	if (r < 0)
		return r;
	r = event_add(ctl->router->loop, door->listener.fd, EPOLLIN, on_accept, door,
		      &door->events);
	return r < 0 ? err_set(err, r, "%s: epoll: %s", conf->what, strerror(-r)) : 0;
}

static void close_door(struct control *ctl, unsigned which)
{
	struct door *door = &ctl->door[which];

	event_del(ctl->router->loop, door->events);
	door->events = NULL;
	listen_close(&door->listener);
}

static int open_for_changes(struct control *ctl, struct err *err)
{
	const struct config *c = &ctl->router->conf;
	struct listen_conf conf = { "control",	      "control socket",
				    "control_socket", c->control_socket,
				    .is_path = true,  .group = PEER_NO_GROUP };

	ctl->group = find_group(c->control_group, "only root may use the socket");
	conf.group = ctl->group;
	return open_door(ctl, CHANGE, &conf, err);
}

/* Nobody who must change something needs it, so the daemon goes on without. */
static void open_for_looks(struct control *ctl)
{
	const struct config *c = &ctl->router->conf;
	struct listen_conf conf = {
		"read",
		"readers' socket",
		"read_socket",
		c->read_socket,
		.is_path = true,
		.group = find_group(c->readers_group, "there is no socket for readers")
	};
	struct err err = { "no memory" };

	if (conf.group == PEER_NO_GROUP && notify_socket(conf.name) < 0)
		return;
	if (open_door(ctl, LOOK, &conf, &err) < 0) {
		log_error("%s; going on without it", err.text);
		close_door(ctl, LOOK);
	}
}

void control_set_group(struct router *r)
{
	struct control *ctl = r->control;

	ctl->group = find_group(r->conf.control_group, "only root may use the socket");
	listen_set_group(&ctl->door[CHANGE].listener, "control socket", ctl->group);
}

void control_set_readers_group(struct router *r)
{
	close_door(r->control, LOOK);
	open_for_looks(r->control);
}

int control_open(struct router *r, struct err *err)
{
	struct control *ctl = calloc(1, sizeof(*ctl));
	int ret;

	if (!ctl)
		return -ENOMEM;
	ctl->router = r;
	for (unsigned i = 0; i < DOORS; i++)
		ctl->door[i].listener.fd = -1;
	r->control = ctl; /* control_close() takes apart what there is */
	ret = open_for_changes(ctl, err);
	if (!ret)
		open_for_looks(ctl);
	return ret;
}

void control_close(struct router *r)
{
	struct control *ctl = r->control;

	if (!ctl)
		return;
	while (ctl->n_clients)
		client_close(ctl->place[0].client);
	for (unsigned i = 0; i < DOORS; i++)
		close_door(ctl, i);
	free(ctl);
	r->control = NULL;
}
