/* daemon/restore.c - a batch that says what all static routes shall be */

#include "restore.h"

#include <stdlib.h>

#include "../lib/ctl/row.h"
#include "events.h"
#include "router.h"

/* ---- prefixes ---- */

int prefix_list_add(struct prefix_list *l, const struct fib_prefix *p)
{
	size_t room = l->room ? 2 * l->room : 256;
	struct fib_prefix *grown;

	if (l->n == l->room) {
		grown = realloc(l->p, room * sizeof(*l->p));
		if (!grown)
			return -ENOMEM;
		l->p = grown;
		l->room = room;
	}
	l->p[l->n++] = *p;
	return 0;
}

void prefix_list_free(struct prefix_list *l)
{
	free(l->p);
	*l = (struct prefix_list){ .p = NULL };
}

static int compare(const void *a, const void *b)
{
	return fib_prefix_compare(a, b);
}

/* ---- many routes at once ---- */

struct search {
	bool (*has)(void *arg, const struct fib_route *r);
	void *arg;
	struct prefix_list found;
	int r;
};

static bool look_at(void *arg, const struct fib_route *route)
{
	struct search *s = arg;

	if (route->origin == FIB_STATIC && s->has(s->arg, route))
		s->r = prefix_list_add(&s->found, &route->prefix);
	return !s->r;
}

/* What a walk shows must not change meanwhile, so they are looked for first. */
int64_t routes_delete(struct router *r,
		      bool (*has)(void *arg, const struct fib_route *route), void *arg)
{
	struct search s = { .has = has, .arg = arg };
	int64_t n;

	fib_route_walk(r->fib, NULL, look_at, &s);
	for (size_t i = 0; i < s.found.n && !s.r; i++) {
		events_route(r, "delete", &s.found.p[i]);
		s.r = fib_route_del(r->fib, &s.found.p[i], FIB_STATIC);
	}
	n = (int64_t)s.found.n;
	prefix_list_free(&s.found);
	return s.r ? s.r : n;
}

/* ---- the rest ---- */

struct merge {
	const struct prefix_list *named; /* in order */
	size_t at;
};

/* The walk has the same order. */
static bool was_not_named(void *arg, const struct fib_route *route)
{
	struct merge *m = arg;
	int c = -1;

	while (m->at < m->named->n &&
	       (c = fib_prefix_compare(&m->named->p[m->at], &route->prefix)) < 0)
		m->at++;
	return c != 0;
}

int restore_finish(struct restore *s, struct router *r, struct err *err)
{
	struct prefix_list *named = &s->named;
	struct merge m = { .named = named };
	char text[FIB_PREFIX_TEXT];
	int64_t n;

	if (named->n)
		qsort(named->p, named->n, sizeof(*named->p), compare);
	for (size_t i = 1; i < named->n; i++)
		if (!compare(&named->p[i - 1], &named->p[i]))
			return err_set(err, -EEXIST, "%s is there twice",
				       fib_prefix_text(&named->p[i], text));
	n = routes_delete(r, was_not_named, &m);
	if (n < 0)
		return err_set(err, (int)n, "no memory");
	s->deleted = (uint64_t)n;
	return 0;
}

void restore_counts(const struct restore *s, struct row *row)
{
	row_set_count(row, "added", s->added);
	row_set_count(row, "changed", s->changed);
	row_set_count(row, "deleted", s->deleted);
	row_set_count(row, "unchanged", s->unchanged);
}
