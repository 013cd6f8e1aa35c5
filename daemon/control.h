/* daemon/control.h - Unix socket server: framing, credentials, limits
 *
 * A client costs one descriptor and two bounded buffers. One that sends too much, or
 * half a line, or nothing, or reads nothing, stops nobody: reading pauses while its
 * replies wait, and when all places are taken the longest idle one loses its own.
 *
 * Context: control thread.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>

#include "../lib/base/err.h"

struct router;
struct control;
struct client;

int control_open(struct router *r, struct err *err);
void control_close(struct router *r);

/* ---- for request handlers ---- */

/* Sends one object as a line and frees it; NULL (no memory) ends the client. */
void client_object(struct client *c, json_t *object);
void client_ok(struct client *c);
/* {"status":"error","error":{"code":"EEXIST","message":"...","hint":"..."}}; the hint, what to do
 * about it, is what follows the first "; " of the text. */
void client_error(struct client *c, int r, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
bool client_may_write(const struct client *c);

/**
 * client_stream() - a reply too long to stand in memory
 * @next: called while there is room in the buffer: sends some objects; true = more to come. After
 *        the last one it has sent the status.
 * @state: freed with free() at the end, however it comes
 */
void client_stream(struct client *c, bool (*next)(struct client *c, struct router *r, void *state),
		   void *state);

/* requests.c: one request line, cut into words; answers through @c. */
void request_run(struct router *r, struct client *c, char *words[], int n);
void request_client_gone(struct router *r, struct client *c); /* gives up its batch */
