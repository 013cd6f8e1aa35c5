/* test/test_log.c - the log of the process: kept, repeated, and bounded on stderr */
#define _GNU_SOURCE 1
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "../cxmodel/inside.h"

static struct model m;
static FILE *file; /* where stderr goes */
static int own_stderr;

static int set_up(void **state)
{
	(void)state;
	file = tmpfile();
	assert_non_null(file);
	fflush(stderr);
	own_stderr = dup(STDERR_FILENO);
	dup2(fileno(file), STDERR_FILENO);
	m.verbose = false;
	assert_int_equal(log_start(&m), 0);
	return 0;
}

static void end_log(void)
{
	if (!m.log)
		return;
	log_stop(&m);
	fflush(stderr);
	dup2(own_stderr, STDERR_FILENO);
	close(own_stderr);
}

static int tear_down(void **state)
{
	(void)state;
	end_log();
	fclose(file);
	return 0;
}

/* ---- what stderr got ---- */

struct count {
	uint64_t plain;		 /* lines that hold the text */
	uint64_t slow, withheld; /* of lines that say how many were not written */
	uint64_t all;
};

static struct count written(const char *text)
{
	struct count c = { 0 };
	char *line = NULL, *at;
	size_t room = 0;

	end_log();
	rewind(file);
	for (; getline(&line, &room, file) > 0; c.all++) {
		at = strchr(line, '(');
		if (strstr(line, "stderr is slow"))
			c.slow += strtoull(at + 1, NULL, 10);
		else if (strstr(line, "lines not written: over"))
			c.withheld += strtoull(at + 1, NULL, 10);
		else if (strstr(line, text))
			c.plain++;
	}
	free(line);
	return c;
}

static void count_line(void *arg, const char *text)
{
	(void)text;
	++*(unsigned *)arg;
}

static unsigned kept(void)
{
	unsigned n = 0;

	log_each(&m, 0, count_line, &n);
	return n;
}

static int64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * INT64_C(1000) + ts.tv_nsec / 1000000;
}

/* ---- tests ---- */

static void lines_are_written_and_kept(void **state)
{
	struct count c;

	(void)state;
	for (int i = 0; i < 100; i++)
		model_log(&m, "line %d of a %s", i, "hundred");
	model_note(&m, "what happens every day");
	assert_int_equal(kept(), 101);
	c = written("of a hundred");
	assert_int_equal(c.plain, 100);
	assert_int_equal(c.all, 100);
}

static void repetitions_are_counted(void **state)
{
	struct count c;

	(void)state;
	for (int i = 0; i < 5000; i++)
		model_log(&m, "the same");
	assert_int_equal(kept(), 2);
	c = written("last line came 4999 times more");
	assert_int_equal(c.plain, 1);
	assert_int_equal(c.all, 2);
}

/* Whatever a client does, the file grows by so many lines at once and so many a second. */
static void a_flood_is_bounded(void **state)
{
	enum { FLOOD = 5 * LOG_BURST_LINES };
	int64_t start = now_ms();
	struct count c;

	(void)state;
	for (int i = 0; i < FLOOD; i++)
		model_log(&m, "flood %d", i);
	assert_int_equal(kept(), 8192);
	c = written("flood");
	assert_true(c.withheld > 0);
	/* None, if the writer got no core before the ring had gone round. */
	assert_in_range(c.plain, 0,
			LOG_BURST_LINES +
				(uint64_t)(now_ms() - start + 10) * LOG_LINES_A_S / 1000);
	/* Of every line it is told what became of it; the ring loses notes unheard of. */
	assert_true(c.plain + c.slow + c.withheld >= FLOOD);
}

static void what_time_makes_good_is_written(void **state)
{
	struct count c;
	const struct timespec ms = { .tv_nsec = 1000000 };
	int n = 0;

	(void)state;
	for (int i = 0; i < LOG_BURST_LINES + 100; i++)
		model_log(&m, "flood %d", i);
	for (; n < 300; n++) { /* one every 10 ms may go */
		nanosleep(&ms, NULL);
		model_log(&m, "later %d", n);
	}
	c = written("later");
	assert_in_range(c.plain, 1, (uint64_t)n - 1);
	assert_true(c.withheld > 0);
}

static void a_trace_is_written_whole(void **state)
{
	enum { LINES = 4000 }; /* less than the ring, which a slow stderr may lose */
	struct count c;

	(void)state;
	for (int i = 0; i < LOG_BURST_LINES + 1; i++)
		model_log(&m, "flood %d", i);
	for (int i = 0; i < LINES; i++)
		model_trace(&m, "100% trace");
	c = written("100% trace");
	assert_int_equal(c.plain, LINES);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(lines_are_written_and_kept, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(repetitions_are_counted, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(a_flood_is_bounded, set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_time_makes_good_is_written, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(a_trace_is_written_whole, set_up,
						tear_down),
	};

	return cmocka_run_group_tests_name("log", tests, NULL, NULL);
}
