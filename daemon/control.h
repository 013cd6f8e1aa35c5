/* daemon/control.h - control sockets: where they are, who may use them, how many at a time
 *
 * A Unix socket has one group. So there are two of them: by the control socket its group may
 * change everything, by the readers' socket nobody may change anything, whoever it is, and the
 * mode of its file says who may come.
 *
 * All places taken: the client that was quiet for longest loses its own, so silent ones
 * keep nobody out. Readers have CTL_READERS_MAX of them, and lose them to each other only.
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
/* The groups are those of r->conf now; who is connected stays. */
void control_set_group(struct router *r);
void control_set_readers_group(struct router *r);
unsigned control_clients(const struct control *ctl);
