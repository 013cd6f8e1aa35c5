/* cxrun/cxrun.h - run a program on a modelled device
 *
 *   main.c      command line, order of things, exit status
 *   device.c    joins the device of a directory, or starts one and waits until it is ready
 *   program.c   the program: its namespace, its preload library, its signals, its end
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define RUN_PORTS 16

struct run {
	const char *dir;   /* NULL: a new one below $TMPDIR */
	const char *netns; /* of the program, and of netdevs without one of their own */
	const char *port[RUN_PORTS];
	unsigned n_ports;
	const char *poll, *trace, *script;
	const char *preload; /* before libcxshim.so */
	bool keep, notap, verbose;
	char **program;
};

struct device {
	char dir[96];
	pid_t pid; /* 0: joined, somebody else's */
};

/* A file that lies beside cxrun, or what @env names. Return: 0, or -ENOENT after a message. */
int beside(const char *name, const char *env, char path[4096]);

/* Return: 0, or -errno after a message. */
int device_open(const struct run *run, struct device *dev);
/* Stops it if we started it and it is not to be kept. */
void device_close(const struct run *run, struct device *dev);

/* Blocks the signals that are passed on; before any child is made. */
void program_block_signals(void);
void program_unblock_signals(void); /* in a child */
/* Return: exit status for cxrun: the program's own, or 128 + the signal that ended it. */
int program_run(const struct run *run, const struct device *dev);

enum {
	STATUS_FAILED = 125,
	STATUS_CANNOT_RUN = 126,
	STATUS_NOT_FOUND = 127
}; /* as env(1) */
