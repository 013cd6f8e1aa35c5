/* daemon/events.h - what changes, told to those who watch
 *
 *   change -> staged (a batch's, until its commit) -> log of the last EVENTS -> monitors
 *
 * A monitor reads the log at its own pace and costs no memory of its own. One that is so slow that
 * the log has gone on without it is told how many events it lost, and then what there is now:
 *
 *   {"ts":"...","event":"lost","object":"all","events":5000}
 *   {"ts":"...","event":"is","object":"route","route":{...}}     every route
 *   {"ts":"...","event":"is","object":"port","port":{...}}       every port
 *   {"ts":"...","event":"synced","object":"all"}
 *
 * and then what has changed since. Nothing is made while nobody watches.
 *
 * Context: control thread.
 */
#pragma once

#include "../lib/base/err.h"
#include "../lib/fib/fib.h"

struct client;
struct events;
struct port;
struct router;

int events_open(struct router *r, struct err *err);
void events_close(struct router *r);
/* @what: "add", "change" or "delete"; the static route of that prefix as it is staged. */
void events_route(struct router *r, const char *what, const struct fib_prefix *p);
void events_publish(struct router *r); /* what was staged has taken effect */
void events_discard(struct router *r); /* ... was given up */
void events_port(struct router *r, const struct port *p); /* may have changed */
void events_tick(struct router *r);			  /* drops of the last second */
void events_client_gone(struct router *r, const struct client *c);
