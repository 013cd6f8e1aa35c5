/* control/batch.h - commands from a file, as one change */
#pragma once

#include <stdbool.h>

#include "client.h"
#include "commands.h"
#include "options.h"
#include "status.h"

/**
 * batch_run() - run the lines of a file between `begin` and `commit`
 * @o: batch, the file, "-" = standard input; force: go on after a line that fails, the rest is
 *     applied; dry_run; missing_ok
 *
 * A line is a command as on the command line; empty lines and those that start with # are
 * passed over. Without force the first line that fails ends it, and nothing is applied:
 * STATUS_USAGE when the line is no command, STATUS_REFUSED when the daemon said no.
 */
enum status batch_run(struct ctl_client *c, const struct options *o, struct print *p);
/* The lines of the file are the static routes there shall be; prints what that came to. */
enum status batch_restore(struct ctl_client *c, const char *path, bool dry_run,
			  const struct command *cmd, struct print *p);
/* Says whether this change would be refused. */
enum status batch_try(struct ctl_client *c, const char *const words[], int n,
		      struct print *p);
