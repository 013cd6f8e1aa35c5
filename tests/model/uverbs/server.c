/* uverbs/server.c - clients come and go
 *
 * One connection is one open of /dev/infiniband/uverbsN. A thread accepts, one
 * thread per connection serves. The connection ends when the last copy of the
 * program's descriptor is closed, however that happened; then everything it held
 * is undone, as ib_uverbs_close() does.
 */
#include "uverbs.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

struct server {
	struct model *model;
	char path[sizeof(((struct sockaddr_un *)0)->sun_path)];
	int listen, wake;
	int spare; /* given up for a moment when descriptors run out */
	pthread_t acceptor;
	bool accepting;
	atomic_bool stopping;
	struct uv_ctx *clients; /* every connection with a thread */
	struct uv_ctx *done;	/* its thread is over and wants to be joined */
};

bool uv_stopping(const struct server *s)
{
	return atomic_load(&s->stopping);
}

static void kick(int eventfd)
{
	uint64_t one = 1;
	ssize_t n = write(eventfd, &one, sizeof(one));

	(void)n; /* full means that it is already readable */
}

static void unkick(int eventfd)
{
	uint64_t count;
	ssize_t n = read(eventfd, &count, sizeof(count));

	(void)n;
}

void uv_wake(struct uv_ctx *ctx)
{
	kick(ctx->wake);
}

void uv_unwake(struct uv_ctx *ctx)
{
	unkick(ctx->wake);
}

/* ---- one connection ---- */

static struct model_port *port_of(struct model *m, uint32_t uverbs)
{
	if (uverbs >= m->n_ports || !m->port[uverbs].dev || !m->port[uverbs].server)
		return NULL;
	return &m->port[uverbs];
}

static void fill_port(const struct model_port *port, struct cxp_port *p)
{
	*p = (struct cxp_port){ .type = CXP_PORT,
				.uverbs = port->index,
				.link_up = cx_link_up(port->dev),
				.node_guid = port->node_guid,
				.sys_image_guid = port->sys_image_guid,
				.fw_ver = UV_FW_TEXT,
				.vendor_part_id = UV_VENDOR_PART_ID };
	snprintf(p->rdma_name, sizeof(p->rdma_name), "%s", port->rdma_name);
	snprintf(p->pci, sizeof(p->pci), "%s", port->pci);
	if (port->tap)
		tap_name(port->tap, p->netdev);
}

static void send_list(struct uv_ctx *ctx)
{
	struct model *m = ctx->server->model;
	struct cxp_port list[MODEL_PORTS + 1];
	unsigned n = 0;

	model_lock(m);
	for (unsigned i = 0; i < m->n_ports; i++)
		if (port_of(m, i))
			fill_port(&m->port[i], &list[n++]);
	model_unlock(m);
	list[n++] = (struct cxp_port){ .type = CXP_PORT, .last = 1 };
	for (unsigned i = 0; i < n; i++)
		if (uv_send(ctx->sock, &list[i], sizeof(list[i]), NULL, 0))
			return;
}

static int open_port(struct uv_ctx *ctx, const struct cxp_hello *h)
{
	struct model *m = ctx->server->model;
	struct model_port *port;
	int rc = 0;

	if (h->version != CXP_VERSION)
		return -EPROTO;
	model_lock(m);
	port = port_of(m, h->uverbs);
	if (port) {
		ctx->port = port->server;
		ctx->next_of_port = ctx->port->ctx;
		ctx->port->ctx = ctx;
		uv_orphans_retry(ctx->port);
	} else {
		rc = -ENODEV;
	}
	model_unlock(m);
	return rc;
}

static bool serve_hello(struct uv_ctx *ctx, struct cxp_hello *h)
{
	struct ucred cred;
	socklen_t len = sizeof(cred);
	int rc = open_port(ctx, h);

	if (!getsockopt(ctx->sock, SOL_SOCKET, SO_PEERCRED, &cred, &len))
		ctx->pid = cred.pid;
	if (rc == -EPROTO)
		model_log(ctx->server->model,
			  "uverbs%u: pid %d: HELLO: version: %u, not %d", h->uverbs,
			  ctx->pid, h->version, CXP_VERSION);
	*h = (struct cxp_hello){
		.type = CXP_HELLO, .version = CXP_VERSION, .uverbs = h->uverbs, .rc = -rc
	};
	return !uv_send(ctx->sock, h, sizeof(*h), NULL, 0) && !rc;
}

static bool protocol_error(struct uv_ctx *ctx, const char *what, size_t len)
{
	model_log(ctx->server->model,
		  "uverbs: pid %d: %s: %zu bytes: not understood; closed", ctx->pid, what,
		  len);
	return false;
}

/* The first message says what the connection is. */
static bool serve_first(struct uv_ctx *ctx)
{
	union {
		uint32_t type;
		struct cxp_hello hello;
	} msg;
	size_t len;
	int fd, rc = uv_recvmsg(ctx->sock, &msg, sizeof(msg), &len, &fd);

	if (rc == -EAGAIN)
		return true;
	if (fd >= 0)
		close(fd);
	if (rc || len < sizeof(msg.type))
		return false;
	if (msg.type == CXP_HELLO && len == sizeof(msg.hello))
		return serve_hello(ctx, &msg.hello);
	if (msg.type == CXP_LIST && len == sizeof(struct cxp_list)) {
		send_list(ctx);
		return false;
	}
	return protocol_error(ctx, "first message", len);
}

static bool serve_next(struct uv_ctx *ctx)
{
	struct cxp_call msg = { 0 };
	size_t len;
	int pair, rc = uv_recvmsg(ctx->sock, &msg, sizeof(msg), &len, &pair);

	if (rc == -EAGAIN)
		return true;
	if (rc)
		return false;
	if (len != sizeof(msg) || msg.type != CXP_CALL) {
		if (pair >= 0)
			close(pair);
		return protocol_error(ctx, "CALL", len);
	}
	/* Most likely we ran out of descriptors: this call fails, as the program's end of the
	 * pair hangs up, and the context lives on. */
	if (pair < 0) {
		model_log(ctx->server->model,
			  "uverbs: pid %d: CALL without a descriptor: %s", ctx->pid,
			  strerror(EMFILE));
		return true;
	}
	uv_serve_call(ctx, pair);
	close(pair);
	return true;
}

/* ---- waiting ---- */

/* Event files are looked at for readers that left, and for room when records wait. */
static struct pollfd *poll_set(struct uv_ctx *ctx, nfds_t *n)
{
	struct pollfd *set;
	struct uv_evfile *ef;
	nfds_t i = 2;

	model_lock(ctx->server->model);
	set = calloc(2 + ctx->n_evfiles, sizeof(*set));
	if (set) {
		set[0] = (struct pollfd){ .fd = ctx->sock, .events = POLLIN };
		set[1] = (struct pollfd){ .fd = ctx->wake, .events = POLLIN };
		for (ef = ctx->evfile; ef; ef = ef->next)
			set[i++] = (struct pollfd){ .fd = ef->fd,
						    .events = ef->n_wait ? POLLOUT : 0 };
	}
	model_unlock(ctx->server->model);
	*n = i;
	return set;
}

static void tend_evfiles(struct uv_ctx *ctx, const struct pollfd *set)
{
	struct uv_evfile *ef, *next;
	nfds_t i = 2;

	model_lock(ctx->server->model);
	for (ef = ctx->evfile; ef; ef = next, i++) {
		next = ef->next;
		if (set[i].revents & (POLLERR | POLLHUP | POLLNVAL))
			uv_evfile_close(ef);
		else if (set[i].revents & POLLOUT)
			uv_evfile_flush(ef);
	}
	if (ctx->broken_map)
		uv_broken_maps(ctx);
	model_unlock(ctx->server->model);
}

/* Return: false when the connection is over. */
static bool turn(struct uv_ctx *ctx)
{
	nfds_t n;
	struct pollfd *set = poll_set(ctx, &n);
	bool go_on = set && !uv_stopping(ctx->server);

	if (go_on && poll(set, n, -1) < 0)
		go_on = errno == EINTR;
	else if (go_on) {
		if (set[1].revents)
			uv_unwake(ctx);
		if (ctx->port)
			tend_evfiles(ctx, set);
		if (set[0].revents)
			go_on = ctx->port ? serve_next(ctx) : serve_first(ctx);
	}
	free(set);
	return go_on;
}

/* ---- its end ---- */

static void unlink_ctx(struct uv_ctx **list, struct uv_ctx *ctx, bool of_port)
{
	struct uv_ctx **p = list;

	while (*p && *p != ctx)
		p = of_port ? &(*p)->next_of_port : &(*p)->next;
	if (*p)
		*p = of_port ? ctx->next_of_port : ctx->next;
}

static void close_ctx(struct uv_ctx *ctx)
{
	struct model *m = ctx->server->model;

	if (ctx->port) {
		uv_ctx_close(ctx);
		uv_unmap_now(ctx);
		model_lock(m);
		uv_uars_close(ctx);
		unlink_ctx(&ctx->port->ctx, ctx, true);
		uv_orphans_retry(ctx->port);
		model_unlock(m);
	}
	close(ctx->sock);
}

static void *ctx_main(void *arg)
{
	struct uv_ctx *ctx = arg;
	struct server *s = ctx->server;

	while (turn(ctx))
		;
	close_ctx(ctx);
	model_lock(s->model);
	unlink_ctx(&s->clients, ctx, false); /* nobody finds it any more */
	close(ctx->wake);
	ctx->wake = -1;
	ctx->next = s->done;
	s->done = ctx;
	kick(s->wake); /* with the lock: the server must not be gone before */
	model_unlock(s->model);
	return NULL;
}

static void free_ctx(struct uv_ctx *ctx)
{
	if (ctx->wake >= 0)
		close(ctx->wake);
	free(ctx->in);
	free(ctx->out);
	free(ctx->handle);
	free(ctx);
}

static void join_done(struct server *s)
{
	struct uv_ctx *ctx, *next;

	model_lock(s->model);
	ctx = s->done;
	s->done = NULL;
	model_unlock(s->model);
	for (; ctx; ctx = next) {
		next = ctx->next;
		pthread_join(ctx->thread, NULL);
		free_ctx(ctx);
	}
}

/* ---- accepting ---- */

/* Signals are for main(); faults must reach the thread that made them. */
static int start_thread(pthread_t *thread, void *(*fn)(void *), void *arg)
{
	sigset_t all, old;
	int rc;

	sigfillset(&all);
	sigdelset(&all, SIGBUS);
	sigdelset(&all, SIGSEGV);
	sigdelset(&all, SIGFPE);
	sigdelset(&all, SIGILL);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	rc = pthread_create(thread, NULL, fn, arg);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return -rc;
}

static struct uv_ctx *new_ctx(struct server *s, int sock)
{
	struct uv_ctx *ctx = calloc(1, sizeof(*ctx));

	if (!ctx)
		return NULL;
	ctx->server = s;
	ctx->sock = sock;
	ctx->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	ctx->in = malloc(CXP_MAX);
	ctx->out = malloc(CXP_MAX);
	if (ctx->wake >= 0 && ctx->in && ctx->out)
		return ctx;
	free_ctx(ctx);
	return NULL;
}

static void serve(struct server *s, int sock)
{
	struct uv_ctx *ctx = new_ctx(s, sock);
	int rc = -ENOMEM;

	if (ctx) {
		model_lock(s->model);
		ctx->next = s->clients;
		s->clients = ctx;
		rc = start_thread(&ctx->thread, ctx_main, ctx);
		if (rc)
			unlink_ctx(&s->clients, ctx, false);
		model_unlock(s->model);
	}
	if (!rc)
		return;
	model_log(s->model, "uverbs: a client is turned away: %s", strerror(-rc));
	if (ctx)
		free_ctx(ctx);
	close(sock);
}

static void turn_away(struct server *s, int sock)
{
	if (sock >= 0)
		close(sock);
	model_log(s->model, "uverbs: a client is turned away: out of descriptors");
}

/* Out of descriptors: the client must not wait in the queue for ever, nor we spin. */
static void turn_away_next(struct server *s)
{
	close(s->spare);
	turn_away(s, accept4(s->listen, NULL, NULL, SOCK_CLOEXEC));
	s->spare = open("/dev/null", O_RDONLY | O_CLOEXEC);
}

/* Calls of contexts that are open need descriptors for a moment, and so do control
 * connections. Descriptors are given out lowest first. */
bool uv_is_reserve(int fd)
{
	enum { RESERVE = 64 };
	struct rlimit l;

	if (getrlimit(RLIMIT_NOFILE, &l))
		return false;
	return (rlim_t)fd >= l.rlim_cur - UV_MIN(RESERVE, l.rlim_cur / 4);
}

static void accept_one(struct server *s)
{
	int sock = accept4(s->listen, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	if (sock >= 0 && uv_is_reserve(sock))
		turn_away(s, sock);
	else if (sock >= 0)
		serve(s, sock);
	else if (errno == EMFILE || errno == ENFILE)
		turn_away_next(s);
}

static void *accept_main(void *arg)
{
	struct server *s = arg;
	struct pollfd set[2] = { { .fd = s->listen, .events = POLLIN },
				 { .fd = s->wake, .events = POLLIN } };

	while (!uv_stopping(s)) {
		if (poll(set, 2, -1) < 0)
			continue;
		if (set[1].revents) {
			unkick(s->wake);
			join_done(s);
		}
		if (set[0].revents && !uv_stopping(s))
			accept_one(s);
	}
	return NULL;
}

/* ---- start and stop ---- */

static int listen_at(struct server *s)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	int n = snprintf(s->path, sizeof(s->path), "%s/uverbs.sock", s->model->dir);

	if (n < 0 || (size_t)n >= sizeof(s->path))
		return -ENAMETOOLONG;
	memcpy(a.sun_path, s->path, (size_t)n + 1);
	unlink(s->path);
	s->listen = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (s->listen < 0 || bind(s->listen, (struct sockaddr *)&a, sizeof(a)) ||
	    listen(s->listen, 128))
		return -errno;
	return 0;
}

/* Who may open the device is checked per call (CAP_NET_RAW), as with /dev/infiniband/uverbs*,
 * which distributions make mode 0666. */
static int open_files(struct server *s)
{
	int rc = listen_at(s);

	if (rc)
		return rc;
	if (chmod(s->path, 0666))
		return -errno;
	s->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	s->spare = open("/dev/null", O_RDONLY | O_CLOEXEC);
	return s->wake < 0 || s->spare < 0 ? -errno : 0;
}

static int add_ports(struct server *s)
{
	struct model *m = s->model;
	int rc = 0;

	model_lock(m);
	for (unsigned i = 0; i < m->n_ports && !rc; i++)
		if (m->port[i].dev)
			rc = server_port_add(&m->port[i]);
	model_unlock(m);
	return rc;
}

static void stop_clients(struct server *s)
{
	struct model *m = s->model;
	bool any;

	model_lock(m);
	for (struct uv_ctx *ctx = s->clients; ctx; ctx = ctx->next)
		kick(ctx->wake);
	any = s->clients;
	model_unlock(m);
	while (any) {
		struct pollfd set = { .fd = s->wake, .events = POLLIN };

		poll(&set, 1, -1);
		unkick(s->wake);
		join_done(s);
		model_lock(m);
		any = s->clients;
		model_unlock(m);
	}
	join_done(s);
}

void server_stop(struct server *s)
{
	struct model *m;

	if (!s)
		return;
	m = s->model;
	atomic_store(&s->stopping, true);
	if (s->accepting) {
		kick(s->wake);
		pthread_join(s->acceptor, NULL);
		stop_clients(s);
	}
	model_lock(m);
	for (unsigned i = 0; i < m->n_ports; i++)
		if (m->port[i].dev && m->port[i].server)
			server_port_del(&m->port[i]);
	model_unlock(m);
	for (unsigned i = 0; i < 3; i++) {
		int fd = i == 0 ? s->listen : i == 1 ? s->wake : s->spare;

		if (fd >= 0)
			close(fd);
	}
	if (s->path[0])
		unlink(s->path);
	free(s);
}

int server_start(struct model *m, struct server **ret)
{
	struct server *s = calloc(1, sizeof(*s));
	int rc;

	if (!s)
		return -ENOMEM;
	s->model = m;
	s->listen = s->wake = s->spare = -1;
	uv_mem_init();
	signal(SIGPIPE, SIG_IGN); /* readers of event files leave when they like */
	rc = add_ports(s);
	if (!rc)
		rc = open_files(s);
	if (!rc)
		rc = start_thread(&s->acceptor, accept_main, s);
	if (rc) {
		server_stop(s);
		return rc;
	}
	s->accepting = true;
	*ret = s;
	return 0;
}
