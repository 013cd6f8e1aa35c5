/* daemon/event.h - the control thread's loop: descriptors, signals, a tick
 *
 * Handlers run one at a time on the thread that runs event_loop(). A handler may
 * remove any source, its own too.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct event_loop;
struct event_source;

typedef void (*event_fn)(void *arg, uint32_t events); /* EPOLLIN ... */

int event_loop_new(struct event_loop **ret);
void event_loop_free(struct event_loop *l);
int event_add(struct event_loop *l, int fd, uint32_t events, event_fn fn, void *arg,
	      struct event_source **ret);
int event_change(struct event_loop *l, struct event_source *s, uint32_t events);
void event_del(struct event_loop *l,
	       struct event_source *s); /* NULL is fine; fd stays open */

/* @fn gets the signal's number; the signals are blocked in this thread and those it starts. */
int event_signals(struct event_loop *l, const int *signals, unsigned n,
		  void (*fn)(void *arg, int signal), void *arg);
int event_tick(struct event_loop *l, unsigned period_ms, void (*fn)(void *arg),
	       void *arg);

/* Runs until event_stop(). Return 0 or -errno of epoll. */
int event_loop_run(struct event_loop *l);
void event_stop(struct event_loop *l);
