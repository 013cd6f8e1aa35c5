/* daemon/control.h - control socket: where it is, who may use it, how many at a time
 *
 * All places taken: the client that was quiet for longest loses its own, so silent ones
 * keep nobody out.
 *
 * Context: control thread.
 */
#pragma once

#include "../lib/base/err.h"

struct router;
struct control;
struct client;

int control_open(struct router *r, struct err *err);
void control_close(struct router *r);
/* A client closes itself. */
void control_client_gone(struct control *ctl, const struct client *c);
unsigned control_clients(const struct control *ctl);
