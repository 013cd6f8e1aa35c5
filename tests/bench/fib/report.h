/* bench/fib/report.h - figures against peers and targets, and the verdict
 *
 *   name            ours      best peer           ratio (min-max)     target
 *   IPv4 zipf       1.62 ns   2.71 ns rte_fib 2B  1.67 (1.60-1.75)    1.50x   ok
 *
 * A figure is the median of samples that were taken in turn: sample i of both sides
 * belong together. It is too noisy when the middle half of its samples is wide and lies
 * on both sides of the target.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum report_rule {
	REPORT_ONLY,	/* no target */
	REPORT_RATIO,	/* at least so many times better than the peer */
	REPORT_AT_MOST, /* ours, whatever the peer does */
	REPORT_AT_LEAST,
};

struct report_figure {
	const char *name, *unit;
	const double *ours;
	const char *peer;     /* NULL = none */
	const double *theirs; /* as many, or NULL */
	unsigned n;
	bool more_is_better;
	enum report_rule rule;
	double target;
};

/* Of the lower two for an even number; leaves @v as it is. */
double report_median(const double v[], unsigned n);
double report_quantile(const double v[], unsigned n, unsigned percent);

/* Kept until report_end(). */
void report_add(const struct report_figure *f);
/* A check that is not a figure: wrong answers, a change that was refused. Fails the run. */
void report_wrong(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Prints all. Return: exit status of the program, 0 = all are ok. */
int report_end(void);
