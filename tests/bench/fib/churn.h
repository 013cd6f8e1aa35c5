/* bench/fib/churn.h - changes of a table as a busy day brings them
 *
 * A third withdraws a route, a third brings back what was withdrawn longest ago, a third
 * gives a route another next hop. Changes are drawn ahead: drawing costs cache misses of
 * its own.
 */
#pragma once

#include "table.h"

enum { CHURN_GONE = 1024 /* routes that are withdrawn at a time, at most */ };

struct churn {
	struct bench_table now; /* what the changes so far come to; nh 0 = withdrawn */
	const struct bench_table *base;
	uint32_t gone[CHURN_GONE], first, n_gone; /* a ring */
};

void churn_open(struct churn *c, const struct bench_table *base);
void churn_close(struct churn *c);
/* The next @n changes; nh 0 = withdraw. */
void churn_draw(struct churn *c, struct bench_route change[], uint32_t n);
/* What makes the table as it was. Return: how many changes; @change has room for all routes. */
uint32_t churn_restore(struct churn *c, struct bench_route change[]);
