/* daemon/metrics.h - /metrics for Prometheus, /-/healthy, /-/ready and a landing page
 *
 *   metrics.c          socket and pages
 *   metrics_show.c     the same samples by the control socket
 *   metrics_table.c    every metric: a row each
 *   metrics_labels.c   what labels go over
 *   metrics_read.c     values of ports, queues, workers, tables
 *   metrics_process.c  of the process
 *   metrics_card.c     of the card, as the kernel's driver counts
 *
 * Context: control thread.
 */
#pragma once

#include "../lib/base/err.h"

struct router;

/* Without a place to listen it says so in the log and goes on: forwarding comes first. */
int metrics_open(struct router *r, struct err *err);
void metrics_close(struct router *r);
void metrics_tick(struct router *r);
