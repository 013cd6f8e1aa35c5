/* daemon/restore.h - a batch that says what all static routes shall be
 *
 * `begin restore`, then `route add` or `route replace` for each route there shall be, then
 * `commit`: routes that are the same already are not touched, others are added or changed, and
 * those that were not named are deleted, all in the commit of the batch.
 *
 * Context: control thread.
 */
#pragma once

#include <stddef.h>

#include "../lib/base/err.h"
#include "../lib/fib/fib.h"

struct router;
struct row;

struct prefix_list {
	struct fib_prefix *p;
	size_t n, room;
};

int prefix_list_add(struct prefix_list *l, const struct fib_prefix *p);
void prefix_list_free(struct prefix_list *l);

struct restore {
	struct prefix_list named;
	uint64_t added, changed, unchanged, deleted;
};

/* routes.c: stages a route; @words are those behind "route add". @err: what is wrong. */
int route_stage_add(struct router *r, char *const words[], int n, struct err *err);
/* Stages the deletion of static routes that were not named. */
int restore_finish(struct restore *s, struct router *r, struct err *err);
void restore_counts(const struct restore *s, struct row *row);
/* Stages the deletion of the static routes that @has. Return: how many, or -errno. */
int64_t routes_delete(struct router *r,
		      bool (*has)(void *arg, const struct fib_route *route), void *arg);
