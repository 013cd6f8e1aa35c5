/* daemon/client.h - one connection to the control socket: lines in, rows out
 *
 * A client costs one descriptor and two bounded buffers. It is served in rounds: a
 * round runs lines, or goes on with a long reply, until some replies wait; then other
 * clients have their turn. While replies wait nothing is read from it. So one that
 * sends too much, half a line, or nothing, or that reads nothing, stops nobody.
 *
 * Context: control thread.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "../lib/ctl/row.h"

struct router;
struct client;

/* ---- for request handlers ---- */

/* Sends a row and frees it; NULL (no memory) ends the client. */
void client_row(struct client *c, struct row *row);
void client_line(struct client *c, const char *line); /* a row that is text already */
void client_ok(struct client *c);
/* {"status":"error","error":{"code":"EEXIST","message":"...","hint":"..."}}; @hint is what to do
 * about it, or NULL. */
void client_error(struct client *c, int r, const char *hint, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
/* What is answered from now on is a request of this kind: requested.h. */
void client_begins(struct client *c, unsigned kind);
bool client_may_write(const struct client *c);
uint64_t client_quiet_ns(const struct client *c); /* since something came or went */

enum client_next {
	CLIENT_DONE, /* the status was sent */
	CLIENT_MORE, /* there are more rows */
	CLIENT_WAIT, /* there may be, after client_wake() */
};

typedef enum client_next (*client_stream_fn)(struct client *c, struct router *r,
					     void *state);
/**
 * client_stream() - a reply too long to stand in memory, or without an end
 * @next:  called while there is room: sends some rows. One that waits is ended, with a status, by
 *         anything that the client says.
 * @state: freed with free() at the end, however it comes
 */
void client_stream(struct client *c, client_stream_fn next, void *state);
void client_wake(struct client *c);

/* ---- for control.c ---- */

/* Takes @fd over on success. */
int client_open(struct router *r, int fd, bool may_write, struct client **ret);
/* Tells @control (control_client_gone()) and requests (request_client_gone()). */
void client_close(struct client *c);
