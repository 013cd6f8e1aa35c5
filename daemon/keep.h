/* daemon/keep.h - static routes and counters outlive the daemon, if the configuration says so
 *
 *   keep.c            the folder, start and stop
 *   keep_routes.c     `routes`: written soon after a change, beside the loop, and at the end
 *   keep_counters.c   `counters`: written before anybody is told a number, and at the end
 *   state.h           what such a file is
 *   counters.h        what is in that of counters
 *
 * Nothing of it keeps the router from starting or forwarding: what cannot be read or written is
 * an error in the log. A file that is damaged, or names what is not there any more, is refused as a
 * whole and kept beside as NAME.refused.
 *
 * Context: control thread.
 */
#pragma once

#include <stdint.h>

#include "../lib/base/err.h"

struct fib_sizes;
struct port;
struct router;

/* Ports and workers are there, and nothing runs yet: routes come back, counters go on. */
int keep_open(struct router *r, struct err *err);
/* After the workers have stopped: the last word. */
void keep_close(struct router *r);
void keep_tick(struct router *r);
void keep_routes_changed(struct router *r);

/* Somebody will be told counters at once, and may never see less: they are in the file before. */
void keep_counters_told(struct router *r);
/* The same within a tick: for what can be asked for all the time. */
void keep_counters_shown(struct router *r);

/* Counts with those of earlier runs in them. */
void keep_fib_sizes(const struct router *r, struct fib_sizes *ret);
uint64_t keep_overruns(const struct router *r);
/* Of all queues of a port, which are asked. Return: 0, -ENODATA (the port is lost), -errno. */
int keep_out_of_buffer(const struct port *p, uint64_t *ret);
/* Times that a worker's CPU was taken from it. Return: 0, -errno. */
int keep_switches(struct router *r, unsigned worker, uint64_t *ret);
