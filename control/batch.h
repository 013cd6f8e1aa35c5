/* control/batch.h - commands from a file, as one change */
#pragma once

#include <stdbool.h>

#include "client.h"
#include "print.h"
#include "status.h"

/**
 * batch_run() - run the lines of a file between `begin` and `commit`
 * @path:  "-" = standard input
 * @force: go on after a line that fails; the rest is applied
 *
 * A line is a command as on the command line; empty lines and those that start with # are
 * passed over. Without @force the first line that fails ends it, and nothing is applied:
 * STATUS_USAGE when the line is no command, STATUS_REFUSED when the daemon said no.
 */
enum status batch_run(struct ctl_client *c, const char *path, bool force,
		      struct print *p);
