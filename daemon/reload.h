/* daemon/reload.h - the configuration file, read again while the daemon runs
 *
 * All or nothing: a file with a key that only a restart can change, or with an error, changes
 * nothing, and what is in the way is named. Keys that can change are rows of reload.c.
 *
 * Context: control thread.
 */
#pragma once

#include <stdbool.h>

#include "../lib/base/err.h"
#include "config_said.h"

struct router;

/* A key that differs between what runs and the file. */
struct config_change {
	struct config_line was, is;
	bool live; /* can be changed without a restart */
};

struct reload_ops {
	void *arg;
	void (*change)(void *arg, const struct config_change *c); /* NULL = nobody asks */
	void (*port)(void *arg, const char *port,
		     bool comes); /* in the file only, or gone */
};

/* What the file would change; reads nothing but the file. Return: 0, or an error in the file. */
int reload_compare(struct router *r, const struct reload_ops *ops, struct err *err);
/* @ops hears of what was changed. Return: 0, -EOPNOTSUPP (needs a restart), or an error in the
 * file; then nothing has changed. */
int reload(struct router *r, const struct reload_ops *ops, struct err *err);
/* What the metrics say of the last time: the file was taken, by the start too, or refused. */
void reload_note(struct router *r, bool done);
bool reload_is_live(const struct config_key *key);
bool reload_knows(const char *section, const char *key); /* the same */
