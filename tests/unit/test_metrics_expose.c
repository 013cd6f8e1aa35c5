/* unit/test_metrics_expose.c - a table of metrics in both forms, to the letter */

#include "../test.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../../lib/metrics/expose.h"

enum { A, B };

/* ---- what is read ---- */

static const char *const colours[] = { "red", "green \"leaf\"\\\n" };

static unsigned two(const void *of)
{
	(void)of;
	return 2;
}
static unsigned none(const void *of)
{
	(void)of;
	return 0;
}
static const char *colour(const void *of, const unsigned at[], unsigned i,
			  char room[METRIC_TEXT])
{
	(void)of;
	(void)room;
	return colours[at[i]];
}
static const char *number(const void *of, const unsigned at[], unsigned i,
			  char room[METRIC_TEXT])
{
	(void)of;
	snprintf(room, METRIC_TEXT, "%u", at[i]);
	return room;
}
/* Belongs to the label before it. */
static const char *fact(const void *of, const unsigned at[], unsigned i,
			char room[METRIC_TEXT])
{
	(void)of;
	(void)i;
	snprintf(room, METRIC_TEXT, "of %u", at[0]);
	return room;
}

/* As interfaces can be called. */
static const char *strange(const void *of, const unsigned at[], unsigned i,
			   char room[METRIC_TEXT])
{
	(void)of;
	(void)at;
	(void)i;
	(void)room;
	return "a\x01\tb";
}

static const struct metric_label label_strange = { "port", NULL, strange };
static const struct metric_label label_colour = { "colour", two, colour };
static const struct metric_label label_number = { "number", two, number };
static const struct metric_label label_none = { "none", none, number };
static const struct metric_label label_fact = { "fact", NULL, fact };
#define LABELS(...) ((const struct metric_label *const[]){ __VA_ARGS__, NULL })

static int read_index(const void *of, const struct metric *m, const unsigned at[],
		      struct metric_value *ret)
{
	(void)of;
	return metric_whole(ret, m->where + at[0] * 10 + (m->label[1] ? at[1] : 0));
}
static int read_big(const void *of, const struct metric *m, const unsigned at[],
		    struct metric_value *ret)
{
	(void)of;
	(void)m;
	(void)at;
	return metric_whole(ret, UINT64_MAX);
}
static int read_real(const void *of, const struct metric *m, const unsigned at[],
		     struct metric_value *ret)
{
	(void)at;
	return metric_real(ret, ((const double *)of)[m->where]);
}
static int read_some(const void *of, const struct metric *m, const unsigned at[],
		     struct metric_value *ret)
{
	(void)of;
	return at[0] ? metric_whole(ret, 1) : -(int)m->where;
}
static int read_histogram(const void *of, const struct metric *m, const unsigned at[],
			  struct metric_value *ret)
{
	static const struct metric_histogram h = { .n = 4,
						   .bound = { 1e-6, 0.001, 1, 256 },
						   .count = { 3, 0, 2, 0, 1 },
						   .sum = 12.5 };
	(void)of;
	(void)m;
	(void)at;
	ret->histogram = h;
	return 0;
}

static uint32_t failed;

static const char *text_of(enum metrics_form form, const struct metric *m, size_t n,
			   const void *of)
{
	static char text[8192];
	FILE *to = fmemopen(text, sizeof(text), "w");

	failed = 0;
	metrics_write(to, form, m, n, of, &failed);
	assert_int_equal(fclose(to), 0);
	return text;
}

#define assert_texts(m, of, plain, open) \
	do { \
		size_t n = sizeof(m) / sizeof((m)[0]); \
		assert_string_equal(text_of(METRICS_TEXT, m, n, of), plain); \
		assert_string_equal(text_of(METRICS_OPENMETRICS, m, n, of), \
				    open "# EOF\n"); \
	} while (0)

/* ---- tests ---- */

static void counters_have_every_combination_of_their_labels(void **state)
{
	const struct metric m[] = {
		{ "x_packets", METRIC_COUNTER, "", "Packets", NULL, A, read_big, 0 },
		{ "x_bytes", METRIC_COUNTER, "bytes", "A \\ and \"quotes\"",
		  LABELS(&label_number, &label_colour), A, read_index, 7 },
	};
	(void)state;
	assert_texts(
		m, NULL,
		"# HELP x_packets_total Packets\n"
		"# TYPE x_packets_total counter\n"
		"x_packets_total 18446744073709551615\n"
		"# HELP x_bytes_total A \\\\ and \"quotes\"\n"
		"# TYPE x_bytes_total counter\n"
		"x_bytes_total{number=\"0\",colour=\"red\"} 7\n"
		"x_bytes_total{number=\"0\",colour=\"green \\\"leaf\\\"\\\\\\n\"} 8\n"
		"x_bytes_total{number=\"1\",colour=\"red\"} 17\n"
		"x_bytes_total{number=\"1\",colour=\"green \\\"leaf\\\"\\\\\\n\"} 18\n",
		"# HELP x_packets Packets\n"
		"# TYPE x_packets counter\n"
		"x_packets_total 18446744073709551615\n"
		"# HELP x_bytes A \\\\ and \\\"quotes\\\"\n"
		"# TYPE x_bytes counter\n"
		"# UNIT x_bytes bytes\n"
		"x_bytes_total{number=\"0\",colour=\"red\"} 7\n"
		"x_bytes_total{number=\"0\",colour=\"green \\\"leaf\\\"\\\\\\n\"} 8\n"
		"x_bytes_total{number=\"1\",colour=\"red\"} 17\n"
		"x_bytes_total{number=\"1\",colour=\"green \\\"leaf\\\"\\\\\\n\"} 18\n");
	assert_string_equal(
		text_of(METRICS_ROWS, m, 2, NULL),
		"{\"name\":\"x_packets_total\",\"labels\":{},\"value\":\"18446744073709551615\"}\n"
		"{\"name\":\"x_bytes_total\",\"labels\":{\"number\":\"0\",\"colour\":\"red\"},"
		"\"value\":\"7\"}\n"
		"{\"name\":\"x_bytes_total\",\"labels\":{\"number\":\"0\","
		"\"colour\":\"green \\\"leaf\\\"\\\\\\n\"},\"value\":\"8\"}\n"
		"{\"name\":\"x_bytes_total\",\"labels\":{\"number\":\"1\",\"colour\":\"red\"},"
		"\"value\":\"17\"}\n"
		"{\"name\":\"x_bytes_total\",\"labels\":{\"number\":\"1\","
		"\"colour\":\"green \\\"leaf\\\"\\\\\\n\"},\"value\":\"18\"}\n");
}

static void an_info_is_a_gauge_of_one_to_the_older_form(void **state)
{
	const struct metric m[] = {
		{ "x", METRIC_INFO, "", "Facts", LABELS(&label_number, &label_fact), A,
		  read_index, 1 },
	};
	(void)state;
	assert_texts(m, NULL,
		     "# HELP x_info Facts\n# TYPE x_info gauge\n"
		     "x_info{number=\"0\",fact=\"of 0\"} 1\n"
		     "x_info{number=\"1\",fact=\"of 1\"} 11\n",
		     "# HELP x Facts\n# TYPE x info\n"
		     "x_info{number=\"0\",fact=\"of 0\"} 1\n"
		     "x_info{number=\"1\",fact=\"of 1\"} 11\n");
}

static void real_numbers_keep_all_their_digits(void **state)
{
	static const double v[] = { 0.1,	1.0 / 3,	  1e300,
				    -2,		(double)INFINITY, -(double)INFINITY,
				    (double)NAN };
	static const char *const written[] = { "0.10000000000000001",
					       "0.33333333333333331",
					       "1.0000000000000001e+300",
					       "-2",
					       "+Inf",
					       "-Inf",
					       "NaN" };
	char expected[200];

	(void)state;
	for (size_t i = 0; i < sizeof(v) / sizeof(v[0]); i++) {
		struct metric m = { "x", METRIC_GAUGE, "", "X", NULL, A, read_real, i };

		snprintf(expected, sizeof(expected), "# HELP x X\n# TYPE x gauge\nx %s\n",
			 written[i]);
		assert_string_equal(text_of(METRICS_TEXT, &m, 1, v), expected);
	}
}

static void buckets_are_cumulative_and_bounds_canonical(void **state)
{
	const struct metric m[] = {
		{ "x_seconds", METRIC_HISTOGRAM, "seconds", "Time", LABELS(&label_fact),
		  A, read_histogram, 0 },
		{ "y", METRIC_HISTOGRAM, "", "No label", NULL, A, read_histogram, 0 },
	};
#define SAMPLES \
	"x_seconds_bucket{fact=\"of 0\",le=\"1e-06\"} 3\n" \
	"x_seconds_bucket{fact=\"of 0\",le=\"0.001\"} 3\n" \
	"x_seconds_bucket{fact=\"of 0\",le=\"1.0\"} 5\n" \
	"x_seconds_bucket{fact=\"of 0\",le=\"256.0\"} 5\n" \
	"x_seconds_bucket{fact=\"of 0\",le=\"+Inf\"} 6\n" \
	"x_seconds_sum{fact=\"of 0\"} 12.5\n" \
	"x_seconds_count{fact=\"of 0\"} 6\n" \
	"# HELP y No label\n# TYPE y histogram\n" \
	"y_bucket{le=\"1e-06\"} 3\ny_bucket{le=\"0.001\"} 3\ny_bucket{le=\"1.0\"} 5\n" \
	"y_bucket{le=\"256.0\"} 5\ny_bucket{le=\"+Inf\"} 6\ny_sum 12.5\ny_count 6\n"
	(void)state;
	assert_texts(m, NULL,
		     "# HELP x_seconds Time\n# TYPE x_seconds histogram\n" SAMPLES,
		     "# HELP x_seconds Time\n# TYPE x_seconds histogram\n"
		     "# UNIT x_seconds seconds\n" SAMPLES);
}

static void what_is_not_there_is_left_out_and_what_fails_is_blamed(void **state)
{
	const struct metric m[] = {
		{ "absent", METRIC_GAUGE, "", "X", LABELS(&label_none), A, read_index,
		  0 },
		{ "without", METRIC_GAUGE, "", "X", LABELS(&label_number), A, read_some,
		  ENODATA },
		{ "fails", METRIC_GAUGE, "", "X", LABELS(&label_number), B, read_some,
		  EIO },
	};
	(void)state;
	assert_texts(m, NULL,
		     "# HELP without X\n# TYPE without gauge\nwithout{number=\"1\"} 1\n"
		     "# HELP fails X\n# TYPE fails gauge\nfails{number=\"1\"} 1\n",
		     "# HELP without X\n# TYPE without gauge\nwithout{number=\"1\"} 1\n"
		     "# HELP fails X\n# TYPE fails gauge\nfails{number=\"1\"} 1\n");
	assert_int_equal(failed, 1 << B);
}

/* JSON text has none, the other forms have them as they are. */
static void rows_escape_control_characters(void **state)
{
	const struct metric m = { "x", METRIC_GAUGE, "", "X", LABELS(&label_strange),
				  A,   read_index,   3 };

	(void)state;
	assert_string_equal(
		text_of(METRICS_ROWS, &m, 1, NULL),
		"{\"name\":\"x\",\"labels\":{\"port\":\"a\\u0001\\u0009b\"},\"value\":\"3\"}\n");
	assert_string_equal(text_of(METRICS_TEXT, &m, 1, NULL),
			    "# HELP x X\n# TYPE x gauge\nx{port=\"a\x01\tb\"} 3\n");
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(counters_have_every_combination_of_their_labels),
	cmocka_unit_test(an_info_is_a_gauge_of_one_to_the_older_form),
	cmocka_unit_test(real_numbers_keep_all_their_digits),
	cmocka_unit_test(rows_escape_control_characters),
	cmocka_unit_test(buckets_are_cumulative_and_bounds_canonical),
	cmocka_unit_test(what_is_not_there_is_left_out_and_what_fails_is_blamed),
};

int main(void)
{
	return cmocka_run_group_tests(tests, NULL, NULL);
}
