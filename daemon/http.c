/* daemon/http.c - pages for GET and HEAD; the door to libmicrohttpd
 *
 * The library polls by an epoll descriptor of its own, which is one source of our loop;
 * connections are accepted here and handed to it, since it knows no better than to refuse
 * new ones when there are many.
 */

#include "http.h"

#include <errno.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../lib/base/hot.h"
#include "../lib/base/time.h"

enum {
	PLACES = 64,
	PLACES_OF_ADDRESS = 32,
	SILENT_S = 5,		/* without a byte either way */
	TOTAL_S = 30,		/* from accept to the last byte */
	MEMORY_BYTES = 8 << 10, /* of a request */
};

struct place {
	int fd;		      /* -1 = free */
	struct in6_addr from; /* all zero: a Unix socket */
	uint64_t since_ns;
};

struct http {
	struct event_loop *loop;
	struct MHD_Daemon *mhd;
	int listen_fd;
	struct event_source *accepting, *serving;
	http_fn fn;
	void *arg;
	struct place place[PLACES];
};

/* ---- places ---- */

static void address_of(int fd, struct in6_addr *ret)
{
	struct sockaddr_storage addr = { .ss_family = AF_UNSPEC };
	socklen_t len = sizeof(addr);

	memset(ret, 0, sizeof(*ret));
	if (getpeername(fd, (void *)&addr, &len))
		return;
	if (addr.ss_family == AF_INET6)
		*ret = ((struct sockaddr_in6 *)&addr)->sin6_addr;
	else if (addr.ss_family == AF_INET)
		memcpy(&ret->s6_addr[12], &((struct sockaddr_in *)&addr)->sin_addr, 4);
}

static struct place *place_of(struct http *h, int fd)
{
	for (unsigned i = 0; i < PLACES; i++)
		if (h->place[i].fd == fd)
			return &h->place[i];
	return NULL;
}

/* The library notices at its next run, and tells us. */
static void evict(struct place *p)
{
	shutdown(p->fd, SHUT_RDWR);
}

/* The oldest of an address, or of all (NULL), if there are @max of them. */
static struct place *oldest(struct http *h, const struct in6_addr *from, unsigned max)
{
	struct place *old = NULL;
	unsigned n = 0;

	for (unsigned i = 0; i < PLACES; i++) {
		struct place *p = &h->place[i];

		if (p->fd < 0 || (from && memcmp(&p->from, from, sizeof(*from)) != 0))
			continue;
		n++;
		if (!old || p->since_ns < old->since_ns)
			old = p;
	}
	return n >= max ? old : NULL;
}

static void make_place(struct http *h, const struct in6_addr *from)
{
	struct place *p = oldest(h, from, PLACES_OF_ADDRESS);

	if (!p)
		p = oldest(h, NULL, PLACES);
	if (!p)
		return;
	evict(p);
	MHD_run(h->mhd);
}

static void on_connection(void *arg, struct MHD_Connection *c, void **own,
			  enum MHD_ConnectionNotificationCode what)
{
	struct http *h = arg;
	struct place *p = *own;
	int fd;

	if (what == MHD_CONNECTION_NOTIFY_CLOSED) {
		if (p)
			p->fd = -1;
		return;
	}
	p = place_of(
		h, -1); /* there is one, make_place() and the library's limit see to it */
	*own = p;
	if (!p)
		return;
	fd = MHD_get_connection_info(c, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
	*p = (struct place){ .fd = fd, .since_ns = time_ns() };
	address_of(fd, &p->from);
}

static void on_accept(void *arg, uint32_t events)
{
	struct http *h = arg;
	struct sockaddr_storage addr;
	socklen_t len = sizeof(addr);
	struct in6_addr from;
	struct place *p;
	int fd = accept4(h->listen_fd, (void *)&addr, &len, SOCK_CLOEXEC | SOCK_NONBLOCK);

	(void)events;
	if (fd < 0) {
		p = errno == EMFILE || errno == ENFILE ? oldest(h, NULL, 1) : NULL;
		if (p) /* the next round accepts */
			evict(p);
		MHD_run(h->mhd);
		return;
	}
	address_of(fd, &from);
	make_place(h, &from);
	MHD_add_connection(h->mhd, fd, (void *)&addr, len); /* closes it if it fails */
	MHD_run(h->mhd);
}

static void on_serve(void *arg, uint32_t events)
{
	struct http *h = arg;

	(void)events;
	MHD_run(h->mhd);
}

void http_tick(struct http *h)
{
	uint64_t now = time_ns();

	if (!h)
		return;
	for (unsigned i = 0; i < PLACES; i++)
		if (h->place[i].fd >= 0 &&
		    now - h->place[i].since_ns > TOTAL_S * NS_PER_S)
			evict(&h->place[i]);
	MHD_run(h->mhd);
}

/* ---- requests ---- */

static enum MHD_Result answer(struct MHD_Connection *c, const struct http_page *page)
{
	struct MHD_Response *r = MHD_create_response_from_buffer(page->bytes, page->body,
								 MHD_RESPMEM_MUST_FREE);
	enum MHD_Result done;

	if (!r) {
		free(page->body);
		return MHD_NO;
	}
	MHD_add_response_header(r, "Connection", "close");
	if (page->type)
		MHD_add_response_header(r, "Content-Type", page->type);
	if (page->status == MHD_HTTP_METHOD_NOT_ALLOWED)
		MHD_add_response_header(r, "Allow", "GET, HEAD");
	done = MHD_queue_response(c, page->status, r);
	MHD_destroy_response(r);
	return done;
}

/* Called when the header is there, and again when the whole request is. */
static enum MHD_Result on_request(void *arg, struct MHD_Connection *c, const char *path,
				  const char *method, const char *version,
				  const char *upload, size_t *upload_bytes, void **own)
{
	struct http *h = arg;
	struct http_page page = { .status = MHD_HTTP_METHOD_NOT_ALLOWED };

	(void)version;
	(void)upload;
	if (strcmp(method, "GET") != 0 && strcmp(method, "HEAD") != 0)
		return answer(c, &page); /* its body is not waited for */
	if (!*own) {
		*own = h;
		return MHD_YES;
	}
	if (*upload_bytes) { /* GET with a body: it means nothing, RFC 9110, 9.3.1 */
		*upload_bytes = 0;
		return MHD_YES;
	}
	page.status = MHD_HTTP_OK;
	h->fn(h->arg, path, MHD_lookup_connection_value(c, MHD_HEADER_KIND, "Accept"),
	      &page);
	if (!page.body)
		page = (struct http_page){ .status = MHD_HTTP_INTERNAL_SERVER_ERROR };
	return answer(c, &page);
}

/* ---- life ---- */

static int start(struct http *h)
{
	const union MHD_DaemonInfo *info;
	int r;

	h->mhd = MHD_start_daemon(MHD_USE_EPOLL | MHD_USE_NO_LISTEN_SOCKET, 0, NULL, NULL,
				  on_request, h, MHD_OPTION_CONNECTION_LIMIT,
				  (unsigned)PLACES, MHD_OPTION_CONNECTION_TIMEOUT,
				  (unsigned)SILENT_S, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
				  (size_t)MEMORY_BYTES, MHD_OPTION_NOTIFY_CONNECTION,
				  on_connection, h, MHD_OPTION_SIGPIPE_HANDLED_BY_APP, 1,
				  MHD_OPTION_END);
	info = h->mhd ? MHD_get_daemon_info(h->mhd, MHD_DAEMON_INFO_EPOLL_FD) : NULL;
	if (!info)
		return -ENOMEM;
	r = event_add(h->loop, info->epoll_fd, EPOLLIN, on_serve, h, &h->serving);
	if (r < 0)
		return r;
	return event_add(h->loop, h->listen_fd, EPOLLIN, on_accept, h, &h->accepting);
}

int http_open(struct event_loop *loop, int fd, http_fn fn, void *arg, struct http **ret)
{
	struct http *h = calloc(1, sizeof(*h));
	int r;

	if (!h)
		return -ENOMEM;
	h->loop = loop;
	h->listen_fd = fd;
	h->fn = fn;
	h->arg = arg;
	for (unsigned i = 0; i < PLACES; i++)
		h->place[i].fd = -1;
	r = start(h);
	if (r < 0) {
		http_close(h);
		return r;
	}
	*ret = h;
	return 0;
}

void http_close(struct http *h)
{
	if (!h)
		return;
	event_del(h->loop, h->accepting);
	event_del(h->loop, h->serving);
	if (h->mhd)
		MHD_stop_daemon(h->mhd);
	free(h);
}
