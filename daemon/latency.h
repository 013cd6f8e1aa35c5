/* daemon/latency.h - how long packets stay here, all workers together */
#pragma once

#include "../lib/metrics/count_hot.h"

struct port;
struct router;
struct row;

/* Of packets that came by this port. */
void latency_sum(const struct router *r, const struct port *p, struct histogram *ret);
const char *latency_bound_name(unsigned i); /* of HISTOGRAM_BOUNDS + 1 buckets: "1us" */
/* The same for `port show -d`. */
void latency_show(struct row *row, const struct router *r, const struct port *p);
