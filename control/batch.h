/* control/batch.h - commands from a file, as one change */
#pragma once

#include <stdbool.h>

#include "client.h"
#include "print.h"

/**
 * batch_run() - run the lines of a file between `begin` and `commit`
 * @path:  "-" = standard input
 * @force: go on after a line that fails; the rest is applied
 *
 * A line is a command as on the command line; empty lines and those that start with # are
 * passed over. Return: exit status: 0 all applied, 1 or 2 nothing applied (a line that is no
 * command, one that the daemon refused), 3 no daemon, 4 partly applied.
 */
int batch_run(struct ctl_client *c, const char *path, bool force, struct print *p);
