/* daemon/keep_inside.h - for the files of keep.h only */
#pragma once

#include "keep.h"
#include "router.h"
#include "state.h"

struct keep_counters;
struct keep_routes;

struct keep {
	int dir;
	char folder[108];
	struct keep_routes *routes;	/* NULL: not kept */
	struct keep_counters *counters; /* NULL: not kept */
};

/* Refuses a file, loudly. @effect: what follows of it. Return: 0, or -errno: it is still there, and
 * must not be written over. */
int keep_refuse(const struct keep *k, const struct state_kind *kind,
		const struct err *why, const char *effect);
/* "/var/lib/mlx5fwd/routes" */
void keep_path(const struct keep *k, const struct state_kind *kind, char *path,
	       size_t size);

int keep_routes_open(struct router *r, struct keep *k);
void keep_routes_tick(struct router *r);
void keep_routes_close(struct router *r); /* NULL routes is fine */

int keep_counters_open(struct router *r, struct keep *k);
void keep_counters_tick(struct router *r);
void keep_counters_close(struct router *r); /* NULL counters is fine */
