/* bench/fib/report.c - figures against peers and targets, and the verdict */

#include "report.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../../lib/base/hot.h"

enum { MAX_ROWS = 64, MAX_SAMPLES = 128, NOISE_PERCENT = 25 };
enum verdict { NO_TARGET, OK, NOISY, SHORT, VERDICT_COUNT };

struct row {
	char name[40], ours[24], peer[48], ratio[40], target[24];
	enum verdict verdict;
};

static struct row rows[MAX_ROWS];
static unsigned n_rows, n_wrong;

static int ascending(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

double report_quantile(const double v[], unsigned n, unsigned percent)
{
	double sorted[MAX_SAMPLES];

	if (n > MAX_SAMPLES)
		abort();
	memcpy(sorted, v, n * sizeof(v[0]));
	qsort(sorted, n, sizeof(sorted[0]), ascending);
	return sorted[(n - 1) * percent / 100];
}

double report_median(const double v[], unsigned n)
{
	return report_quantile(v, n, 50);
}

/* @merit: more is better. */
static enum verdict judge(const double merit[], unsigned n, double target)
{
	double low = report_quantile(merit, n, 25), high = report_quantile(merit, n, 75);
	double middle = report_median(merit, n);
	bool wide = (high - low) * 100 > (middle < 0 ? -middle : middle) * NOISE_PERCENT;

	if (wide && low < target && high >= target)
		return NOISY;
	return middle >= target ? OK : SHORT;
}

static enum verdict judge_figure(const struct report_figure *f, const double ratio[])
{
	double merit[MAX_SAMPLES];

	switch (f->rule) {
	case REPORT_RATIO:
		return judge(ratio, f->n, f->target);
	case REPORT_AT_LEAST:
		return judge(f->ours, f->n, f->target);
	case REPORT_AT_MOST:
		for (unsigned i = 0; i < f->n; i++)
			merit[i] = -f->ours[i];
		return judge(merit, f->n, -f->target);
	default:
		return NO_TARGET;
	}
}

/* Three digits that mean something. */
static const char *number(double v)
{
	static char text[4][24];
	static unsigned turn;
	char *to = text[turn++ % ARRAY_LEN(text)];

	snprintf(to, sizeof(text[0]), v < 10 ? "%.2f" : v < 100 ? "%.1f" : "%.0f", v);
	return to;
}

static void print_target(const struct report_figure *f, char *to, size_t size)
{
	switch (f->rule) {
	case REPORT_RATIO:
		snprintf(to, size, "%sx", number(f->target));
		break;
	case REPORT_AT_MOST:
		snprintf(to, size, "<= %s %s", number(f->target), f->unit);
		break;
	case REPORT_AT_LEAST:
		snprintf(to, size, ">= %s %s", number(f->target), f->unit);
		break;
	default:
		snprintf(to, size, "-");
	}
}

void report_add(const struct report_figure *f)
{
	struct row *row = &rows[n_rows++];
	double ratio[MAX_SAMPLES];

	if (n_rows > MAX_ROWS || f->n > MAX_SAMPLES)
		abort();
	snprintf(row->name, sizeof(row->name), "%s", f->name);
	snprintf(row->ours, sizeof(row->ours), "%s %s",
		 number(report_median(f->ours, f->n)), f->unit);
	snprintf(row->peer, sizeof(row->peer), "-");
	snprintf(row->ratio, sizeof(row->ratio), "-");
	print_target(f, row->target, sizeof(row->target));
	for (unsigned i = 0; f->theirs && i < f->n; i++)
		ratio[i] = f->more_is_better ? f->ours[i] / f->theirs[i]
					     : f->theirs[i] / f->ours[i];
	if (f->theirs) {
		snprintf(row->peer, sizeof(row->peer), "%s %s %s",
			 number(report_median(f->theirs, f->n)), f->unit, f->peer);
		snprintf(row->ratio, sizeof(row->ratio), "%s (%s-%s)",
			 number(report_median(ratio, f->n)),
			 number(report_quantile(ratio, f->n, 0)),
			 number(report_quantile(ratio, f->n, 100)));
	}
	row->verdict = judge_figure(f, ratio);
}

void report_wrong(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	printf("WRONG: ");
	vprintf(format, args);
	printf("\n");
	va_end(args);
	n_wrong++;
}

int report_end(void)
{
	static const char *const words[VERDICT_COUNT] = { "", "ok", "too noisy",
							  "short" };
	enum verdict worst = OK;

	printf("\n%-28s %-11s %-26s %-19s %s\n", "name", "ours", "best peer",
	       "ratio (min-max)", "target");
	for (unsigned i = 0; i < n_rows; i++) {
		const struct row *r = &rows[i];

		printf("%-28s %-11s %-26s %-19s %-14s %s\n", r->name, r->ours, r->peer,
		       r->ratio, r->target, words[r->verdict]);
		if (r->verdict > worst)
			worst = r->verdict;
	}
	if (n_wrong) {
		printf("%u wrong\n", n_wrong);
		worst = SHORT;
	}
	printf("%s\n", words[worst]);
	fflush(stdout);
	n_rows = n_wrong = 0;
	return worst != OK;
}
