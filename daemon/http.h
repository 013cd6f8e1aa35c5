/* daemon/http.h - pages for GET and HEAD; the door to libmicrohttpd
 *
 * A connection serves one request and has a bounded time for it. All places taken, or all
 * that one address may have: the oldest connection (of that address) loses its own, so
 * silent ones keep nobody out.
 *
 * Context: control thread, which nothing here makes wait.
 */
#pragma once

#include <stddef.h>

#include "event.h"

struct http;

struct http_page {
	unsigned status; /* 200 ... */
	const char *type;
	char *body; /* from malloc(3), taken over; NULL = there was no memory for it */
	size_t bytes;
};
/* @accept: the request's header of that name, or NULL. */
typedef void (*http_fn)(void *arg, const char *path, const char *accept,
			struct http_page *ret);

/* Serves what connects to @fd, a listening socket that does not block and stays the caller's. */
int http_open(struct event_loop *loop, int fd, http_fn fn, void *arg, struct http **ret);
void http_close(struct http *h); /* NULL too */
void http_tick(struct http *h);	 /* now and then: ends what takes too long */
