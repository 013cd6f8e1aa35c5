/* daemon/control.c - control socket: where it is, who may use it, how many at a time */

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
#include "peer.h"
#include "router.h"

struct control {
	struct router *router;
	struct listener listener;
	struct event_source *events;
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
	SCOPED_CLOSE int fd =
		accept4(ctl->listener.fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
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

unsigned control_clients(const struct control *ctl)
{
	return ctl->n_clients;
}

/* ---- socket ---- */

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
	struct listen_conf conf = { "control",
				    "control socket",
				    "control_socket",
				    r->conf.control_socket,
				    true,
				    find_group(r->conf.control_group) };
	struct control *ctl = calloc(1, sizeof(*ctl));
	int ret;

	if (!ctl)
		return -ENOMEM;
	ctl->router = r;
	ctl->group = conf.group;
	r->control = ctl; /* control_close() takes apart what there is */
	ret = listen_open(&conf, err, &ctl->listener);
	if (ret < 0)
		return ret;
	ret = event_add(r->loop, ctl->listener.fd, EPOLLIN, on_accept, ctl, &ctl->events);
	return ret < 0 ? err_set(err, ret, "control socket: epoll: %s", strerror(-ret))
		       : 0;
}

void control_close(struct router *r)
{
	struct control *ctl = r->control;

	if (!ctl)
		return;
	while (ctl->n_clients)
		client_close(ctl->client[0]);
	event_del(r->loop, ctl->events);
	listen_close(&ctl->listener);
	free(ctl);
	r->control = NULL;
}
