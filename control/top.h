/* control/top.h - a live screen: ports, workers, drops, rates, latency
 *
 *   top.c      samples, terminal      top_screen.c   text of one screen
 */
#pragma once

#include "client.h"
#include "commands.h"
#include "status.h"

enum { TOP_PORTS = 16, TOP_WORKERS = 64 };

struct top_sample {
	uint64_t ns;
	struct row *status;
	struct row *port[TOP_PORTS], *drop[TOP_PORTS], *worker[TOP_WORKERS];
	unsigned n_ports, n_drops, n_workers;
};

/* [count N] [interval S]. On a terminal until q, SIGINT or SIGTERM; elsewhere one screen, or N. */
enum status top_run(struct ctl_client *c, const char *const args[], int n,
		    struct print *p);
void top_screen(FILE *to, const struct top_sample *now, const struct top_sample *before);
