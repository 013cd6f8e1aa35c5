/* control/monitor.h - what changes, until somebody ends it */
#pragma once

#include "client.h"
#include "commands.h"
#include "status.h"

/* SIGINT and SIGTERM end it with status 0. */
enum status monitor_run(struct ctl_client *c, const struct command *cmd,
			const char *const words[], int n, struct print *p);
