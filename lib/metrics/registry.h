/* metrics/registry.h - what a metric is: a row of a table
 *
 * A row names a family of samples, its labels, and who reads a value. Each label has its
 * set of values, and the family's samples are the product of them: all are there from the
 * first scrape on, zero or not, so that an alert sees the first event.
 *
 * Text that belongs to another label (the PCI address of a port) is a label with one
 * value, which looks at the values before it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { METRIC_LABELS_MAX = 8, METRIC_TEXT = 256, METRIC_BUCKETS_MAX = 20 };

enum metric_type { METRIC_COUNTER, METRIC_GAUGE, METRIC_INFO, METRIC_HISTOGRAM };

struct metric_label {
	const char *name;
	unsigned (*count)(const void *of); /* values there are; NULL = one */
	/* Value @at[i] as text, this label being the i-th of its family; constant, or in @room. */
	const char *(*text)(const void *of, const unsigned at[], unsigned i,
			    char room[METRIC_TEXT]);
};

struct metric_histogram {
	unsigned n; /* bounds, ascending; +Inf comes after them */
	double bound[METRIC_BUCKETS_MAX];
	uint64_t count[METRIC_BUCKETS_MAX + 1]; /* of this bucket alone */
	double sum;
};

struct metric_value {
	bool is_real;
	uint64_t whole;
	double real;
	struct metric_histogram histogram;
};

struct metric {
	const char *name; /* without the _total of a counter and the _info of an info */
	enum metric_type type;
	const char *unit; /* the end of the name, or "" */
	const char *help;
	const struct metric_label *const *label; /* ends with NULL; NULL = none */
	unsigned collector; /* 0 .. 31: who is to blame for a failure */
	/* @at: an index a label. Return: 0, -ENODATA (there is no such sample here: it is
	 * left out), else -errno: the collector failed. */
	int (*read)(const void *of, const struct metric *m, const unsigned at[],
		    struct metric_value *ret);
	size_t where; /* for read() */
};

static inline int metric_whole(struct metric_value *ret, uint64_t v)
{
	ret->is_real = false;
	ret->whole = v;
	return 0;
}

static inline int metric_real(struct metric_value *ret, double v)
{
	ret->is_real = true;
	ret->real = v;
	return 0;
}
