/* control/trace.h - packets of a trace, in a file */
#pragma once

#include "client.h"
#include "commands.h"
#include "status.h"

/* Writes what `trace show` has to @path as pcapng; "-" = standard output, if that is no terminal.
 * Prints how many, unless that is where they go. */
enum status trace_save(struct ctl_client *c, const struct command *cmd, const char *path,
		       struct print *p);
