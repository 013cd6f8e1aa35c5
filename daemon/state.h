/* daemon/state.h - files that outlive the daemon, in a folder of its own
 *
 *   # mlx5fwd routes 1                  what it is, and the version of its lines
 *   route add 10.0.0.0/8 blackhole      lines of printable ASCII, at most CTL_LINE_MAX bytes
 *   # end 1 5ac3d1f0                    how many there were, and the CRC-32 of all before
 *
 * A file is written beside the one that is there and takes its place when it is whole, so there is
 * always one of them, whatever dies when. One that is not whole, or was changed since, is refused.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "../lib/base/err.h"

/* Opens the folder, makes it if only that is missing, and locks it: one daemon has it at a time.
 * Closing the descriptor lets go of it. */
int state_open(const char *path, struct err *err, int *ret_dir);

struct state_kind {
	const char *name; /* of the file, and of what it holds: "routes" */
	unsigned version;
};

/* ---- writing; one thread at a time, any thread ---- */

struct state_writer {
	int dir; /* must stay open */
	const struct state_kind *kind;
	FILE *to; /* NULL = not begun */
	char temporary[40];
	uint64_t lines;
	uint32_t crc;
	int r; /* 0, or -errno of the first write that failed */
};

/* Return: 0 or -errno; 0: to be ended by state_publish() or state_abandon(). */
int state_begin(struct state_writer *w, int dir, const struct state_kind *kind);
void state_line(struct state_writer *w, const char *line); /* without its end */
/* @lasts: also when the machine loses its power: sleeps until the disk has it. Return: 0, or the
 * -errno of what went wrong since the beginning; then the old file is still there. */
int state_publish(struct state_writer *w, bool lasts);
void state_abandon(struct state_writer *w);
int state_remove(int dir, const struct state_kind *kind); /* 0 also if there is none */

/* ---- reading ---- */

struct state_reader {
	const struct state_kind *kind;
	/* Return: 0, or -errno with @err: refuses the file. @line may be changed. */
	int (*line)(void *arg, char *line, struct err *err);
	void *arg;
};

/**
 * state_read_file() - every line of an open file
 * @name: for @err: "NAME:LINE: what is wrong"
 *
 * Return: 0; -EBADMSG (not such a file, not whole, changed), -EIO, or what @line returned. Lines
 * may have been handed out before that is known.
 */
int state_read_file(FILE *file, const char *name, const struct state_reader *r,
		    struct err *err);
/* The same of the file in the folder, which is called @path in errors. -ENOENT: there is none. */
int state_read(int dir, const char *path, const struct state_reader *r, struct err *err);
/* Keeps a file that was refused beside, as NAME.refused, in place of an older one. */
int state_put_aside(int dir, const struct state_kind *kind);
