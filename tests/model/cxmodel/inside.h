/* cxmodel/inside.h - what the files of the device process tell each other
 *
 * uverbs/ and wire/ use model.h only.
 */
#pragma once

#include <stddef.h>

#include "model.h"

/* ---- log.c ---- */

/* Lines that stderr takes at once, and a second for ever. */
enum { LOG_BURST_LINES = 10000, LOG_LINES_A_S = 100 };

int log_start(struct model *m); /* 0 or -errno; before it model_log() is silent */
void log_stop(struct model *m); /* writes what waits */
/* The newest @last lines, oldest first; 0 = all that are kept. */
void log_each(struct model *m, unsigned last, void (*line)(void *arg, const char *text),
	      void *arg);

/* ---- dir.c ---- */

/**
 * dir_take() - own m->dir, which is made or taken over from a killed instance
 *
 * Makes m->dir absolute. Return: 0, -EADDRINUSE (a live process owns it),
 * -ENOTEMPTY (not ours to use), or another -errno; the reason is in @why.
 */
int dir_take(struct model *m, char *why, size_t why_size);
void dir_release(struct model *m); /* removes it */

/* ---- ports.c ---- */

/* @spec as after --port. Lock held, or before any thread runs. Return: 0 or -errno. */
int port_open(struct model *m, const char *spec, char *why, size_t why_size,
	      struct model_port **ret);
/* After all ports of a start are open: joins wires, sets netdevs up, first link state. */
int port_begin(struct model_port *p, char *why, size_t why_size);
void port_close(struct model_port *p); /* also a half-open one */
/* The same at run time, front end and sysfs included. Lock held. */
int port_plug(struct model *m, const char *spec, char *why, size_t why_size);
int port_unplug(struct model_port *p, char *why, size_t why_size);
/* By RDMA name, name at start, or present name of the netdev. */
struct model_port *port_find(struct model *m, const char *name);
/* One look at what the administrator did to the netdev. Lock held. */
void port_follow(struct model_port *p);
void port_force_down(struct model_port *p, bool down); /* `ctl link` */

/* ---- poll.c ---- */

int poller_new(struct model *m); /* before any thread; 0 or -errno */
int poller_start(struct model *m);
void poller_stop(struct model *m); /* joins */
void poller_free(struct model *m);
struct poller_stat {
	uint64_t passes, busy_passes, naps, blocks, cpu_us;
};
void poller_stat(const struct model *m, struct poller_stat *st);

/* ---- control.c ---- */

int control_start(struct model *m, char *why, size_t why_size);
void control_stop(struct model *m);
unsigned control_clients(const struct model *m);

/* ---- commands.c ---- */

/* Text of an answer; lines are added by reply_line(). */
struct reply {
	char *text;
	size_t len, room;
	char why[512]; /* of a refusal */
};
void reply_line(struct reply *r, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* The last line: ok, or error and r->why. */
void reply_end(struct reply *r, int result);
void reply_free(struct reply *r);
/* Runs one line; takes the lock itself. Return: 0, or -errno with r->why. */
int command_run(struct model *m, char *line, struct reply *r);
/* Parses "cmd,wqe" into a mask of enum cx_trace; false: *bad is the word not understood. */
bool trace_parse(const char *text, unsigned *mask, char bad[16]);

/* ---- ctl.c ---- */

int ctl_main(int argc, char **argv); /* DIR COMMAND...; exit status */
