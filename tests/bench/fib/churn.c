/* bench/fib/churn.c - changes of a table as a busy day brings them */

#include "churn.h"

#include <stdlib.h>
#include <string.h>

void churn_open(struct churn *c, const struct bench_table *base)
{
	size_t bytes = base->n * sizeof(base->route[0]);

	*c = (struct churn){ .now = *base, .base = base };
	c->now.route = bench_alloc(bytes);
	memcpy(c->now.route, base->route, bytes);
}

void churn_close(struct churn *c)
{
	free(c->now.route);
}

/* No IPv4 route longer than /24, one of a thousand: rte_fib counts its second-level tables
 * wrongly when such routes come and go, and refuses them sooner or later. */
static uint32_t pick_present(const struct churn *c)
{
	const struct bench_route *r;

	do
		r = &c->now.route[bench_below(c->now.n)];
	while (!r->nh || (c->now.family == 4 && r->prefix.len > 24));
	return (uint32_t)(r - c->now.route);
}

static uint32_t change_one(struct churn *c)
{
	uint32_t kind = bench_below(3), i;

	if (kind == 0 && c->n_gone < CHURN_GONE && c->n_gone < c->now.n / 2) {
		i = pick_present(c);
		c->gone[(c->first + c->n_gone++) % CHURN_GONE] = i;
		c->now.route[i].nh = 0;
	} else if (kind == 1 && c->n_gone) {
		i = c->gone[c->first++ % CHURN_GONE];
		c->n_gone--;
		c->now.route[i].nh = c->base->route[i].nh;
	} else {
		i = pick_present(c);
		c->now.route[i].nh = 1 + bench_below(c->now.max_nh);
	}
	return i;
}

void churn_draw(struct churn *c, struct bench_route change[], uint32_t n)
{
	for (uint32_t k = 0; k < n; k++) {
		uint32_t i = change_one(c);

		change[k] = c->now.route[i];
	}
}

uint32_t churn_restore(struct churn *c, struct bench_route change[])
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < c->now.n; i++)
		if (c->now.route[i].nh != c->base->route[i].nh)
			change[n++] = c->now.route[i] = c->base->route[i];
	c->n_gone = 0;
	return n;
}
