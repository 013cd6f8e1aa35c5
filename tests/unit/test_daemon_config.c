/* unit/test_daemon_config.c - the configuration file, right and wrong */

#include "../test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../daemon/config.h"

static int read_text(const char *text, size_t n, struct config *ret, struct err *err)
{
	FILE *file = fmemopen((void *)(uintptr_t)text, n, "r");
	int r;

	assert_non_null(file);
	r = config_read_file(file, "t.conf", ret, err);
	fclose(file);
	return r;
}

/* The text must be refused, with these words in the error, and nothing taken. */
static void refused_bytes(const char *text, size_t n, const char *words)
{
	struct config c, was;
	struct err err = { "" };

	memset(&c, 0x5a, sizeof(c));
	was = c;
	if (read_text(text, n, &c, &err) != -EINVAL || !strstr(err.text, words))
		fail_msg("\"%s\": error \"%s\", expected \"%s\"", text, err.text, words);
	assert_memory_equal(&c, &was, sizeof(c));
}

static void refused(const char *text, const char *words)
{
	refused_bytes(text, strlen(text), words);
}

static void accepted(const char *text, struct config *ret)
{
	struct err err = { "" };

	if (read_text(text, strlen(text), ret, &err) < 0)
		fail_msg("\"%s\": error \"%s\"", text, err.text);
}

/* ---- the rows ---- */

struct row {
	const char *section, *key, *type;
	uint64_t min, max;
};

static const struct row rows[] = {
#define KEY(section, name, type, field, min, max, def, unit, help) \
	{ #section, #name, #type, min, max },
#include "../../daemon/config_keys.h"
#undef KEY
};

/* A file with that key set, in line 3. */
static void with(char *text, size_t size, const struct row *r, const char *value)
{
	bool port = !strcmp(r->section, "port");

	snprintf(text, size, "%s\n\n%s = %s\n%s", port ? "[port eth0]" : "[daemon]",
		 r->key, value, port ? "" : "[port eth0]\n");
}

static void row_refused(const struct row *r, const char *value)
{
	char text[512], error[512];

	with(text, sizeof(text), r, value);
	snprintf(error, sizeof(error), "t.conf:3: %s = %s: must ", r->key, value);
	refused(text, error);
}

static void row_accepted(const struct row *r, const char *value, struct config *ret)
{
	char text[512];

	with(text, sizeof(text), r, value);
	accepted(text, ret);
}

static bool is_number(const struct row *r)
{
	return !strcmp(r->type, "number") || !strcmp(r->type, "pow2");
}

static void every_number_ends_where_its_row_says(void **state)
{
	struct config c;
	char value[32];

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		if (!is_number(&rows[i]))
			continue;
		snprintf(value, sizeof(value), "%llu", (unsigned long long)rows[i].min);
		row_accepted(&rows[i], value, &c);
		snprintf(value, sizeof(value), "%llu", (unsigned long long)rows[i].max);
		row_accepted(&rows[i], value, &c);
		snprintf(value, sizeof(value), "%llu",
			 (unsigned long long)rows[i].max + 1);
		row_refused(&rows[i], value);
		snprintf(value, sizeof(value), "%lld", (long long)rows[i].min - 1);
		row_refused(&rows[i], value);
	}
}

static void an_error_names_the_range(void **state)
{
	(void)state;
	refused("[daemon]\nidle_spin_us = x\n",
		"t.conf:2: idle_spin_us = x: must be 0 to 1000000 (microseconds)");
	refused("[port e]\nrx_packets = 100\n",
		"t.conf:2: rx_packets = 100: must be a power of two, 64 to 32768 (packets)");
	refused("[daemon]\nidle = fast\n",
		"t.conf:2: idle = fast: must be spin, pause, sleep or adaptive");
	refused("[daemon]\nlog_level = loud\n",
		"t.conf:2: log_level = loud: must be error, warning, notice, info or debug");
	refused("[port e]\nstriding = on\n",
		"t.conf:2: striding = on: must be yes or no");
}

static void no_number_is_anything_but_digits(void **state)
{
	static const char *const bad[] = { "",
					   "x",
					   "0x10",
					   "1e3",
					   "+64",
					   "64.",
					   "6 4",
					   "64k",
					   "-64",
					   "٦٤",
					   "99999999999999999999999" };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		for (size_t k = 0; k < ARRAY_LEN(bad) && is_number(&rows[i]); k++)
			row_refused(&rows[i], bad[k]);
}

static void words_are_taken_whole_and_in_lower_case(void **state)
{
	static const char *const bad[] = { "",	"YES",	"ye",  "yess", "true",
					   "1", "Spin", "spi", "Info", "warn" };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		for (size_t k = 0; k < ARRAY_LEN(bad); k++)
			if (!strcmp(rows[i].type, "flag") ||
			    !strcmp(rows[i].type, "idle") ||
			    !strcmp(rows[i].type, "level"))
				row_refused(&rows[i], bad[k]);
}

static void every_word_means_what_it_says(void **state)
{
	struct config c;

	(void)state;
	accepted("[daemon]\nidle = sleep\nlog_level = debug\n[port a]\nstriding = no\n",
		 &c);
	assert_int_equal(c.idle, FWD_IDLE_SLEEP);
	assert_int_equal(c.log_level, LOG_LEVEL_DEBUG);
	assert_false(c.port[0].striding);
	accepted("[daemon]\nidle = spin\nlog_level = error\n[port a]\nstriding = yes\n",
		 &c);
	assert_int_equal(c.idle, FWD_IDLE_SPIN);
	assert_int_equal(c.log_level, LOG_LEVEL_ERROR);
	assert_true(c.port[0].striding);
}

static void texts_have_the_bytes_that_fit(void **state)
{
	struct config c;
	char value[200];

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		if (strcmp(rows[i].type, "text") != 0)
			continue;
		memset(value, 'a', sizeof(value));
		value[rows[i].max] = '\0';
		row_accepted(&rows[i], value, &c);
		value[rows[i].max] = 'a';
		value[rows[i].max + 1] = '\0';
		row_refused(&rows[i], value);
		if (rows[i].min == 1)
			row_refused(&rows[i], "");
	}
}

/* ---- CPU lists ---- */

static void cpu_lists(void **state)
{
	static const struct {
		const char *text;
		int n; /* -1: refused */
		int cpu[8];
	} lists[] = {
		{ "auto", 0, { 0 } },
		{ "0", 1, { 0 } },
		{ "1023", 1, { 1023 } },
		{ "2-5,8", 5, { 2, 3, 4, 5, 8 } },
		{ "8,2-4", 4, { 8, 2, 3, 4 } },
		{ "7-7", 1, { 7 } },
		{ "1 , 3", 2, { 1, 3 } },
		{ "", -1, { 0 } },
		{ "1024", -1, { 0 } },
		{ "0-1024", -1, { 0 } },
		{ "5-2", -1, { 0 } },
		{ "1,1", -1, { 0 } },
		{ "1-3,2", -1, { 0 } },
		{ "1,", -1, { 0 } },
		{ ",1", -1, { 0 } },
		{ "1,,2", -1, { 0 } },
		{ "1-", -1, { 0 } },
		{ "-1", -1, { 0 } },
		{ "1--2", -1, { 0 } },
		{ "1-2-3", -1, { 0 } },
		{ "+1", -1, { 0 } },
		{ "1-+2", -1, { 0 } },
		{ "0x1", -1, { 0 } },
		{ "1 2", -1, { 0 } },
		{ "autos", -1, { 0 } },
		{ "0-64", -1, { 0 } }, /* one more than there is room for */
		{ "18446744073709551617", -1, { 0 } },
	};
	const struct row row = { "daemon", "cpus", "cpus", 0, 0 };
	struct config c;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(lists); i++) {
		if (lists[i].n < 0) {
			row_refused(&row, lists[i].text);
			continue;
		}
		row_accepted(&row, lists[i].text, &c);
		assert_int_equal(c.cpus.n, lists[i].n);
		for (int k = 0; k < lists[i].n; k++)
			assert_int_equal(c.cpus.cpu[k], lists[i].cpu[k]);
	}
	row_accepted(&row, "0-63", &c);
	assert_int_equal(c.cpus.n, CONFIG_CPUS_MAX);
	refused("[daemon]\nworkers = 3\ncpus = 1,2\n[port a]\n",
		"t.conf: cpus: names 2 CPUs for 3 workers");
	refused("[daemon]\ncpus = 4,1-5\n",
		"t.conf:2: cpus = 4,1-5: must not name CPU 4 twice");
	refused("[daemon]\ncpus = 0-64\n",
		"t.conf:2: cpus = 0-64: must not name more than 64 CPUs");
	refused("[daemon]\ncpus = 1 3\n",
		"t.conf:2: cpus = 1 3: must be auto or a list such as 2-5,8: CPUs 0 to 1023");
}

/* ---- sections, keys, lines ---- */

static void what_is_no_line_of_a_file_is_refused(void **state)
{
	static const struct {
		const char *text, *error;
	} files[] = {
		{ "", "t.conf: no port: add a section such as [port eth0]" },
		{ "[daemon]\nworkers = 2\n", "t.conf: no port" },
		{ "workers = 2\n[port a]\n",
		  "t.conf:1: workers: before the first section" },
		{ "[deamon]\n",
		  "t.conf:1: [deamon]: unknown section; there are [daemon] and" },
		{ "[Daemon]\n", "t.conf:1: [Daemon]: unknown section" },
		{ "[ports]\n", "t.conf:1: [ports]: unknown section" },
		{ "[]\n", "t.conf:1: []: unknown section" },
		{ "[port]\n", "t.conf:1: [port]: unknown section" },
		{ "[port ]\n", "t.conf:1: [port ]: must name a network interface" },
		{ "[port  a]\n", "must name a network interface, 1 to 15 characters" },
		{ "[port a/b]\n", "must name a network interface" },
		{ "[port ..]\n", "must name a network interface" },
		{ "[port a\303\244]\n", "must name a network interface" },
		{ "[port sixteenletters16]\n", "must name a network interface" },
		{ "[port a\n", "t.conf:1: must be a section alone in its line" },
		{ "[port a] workers = 2\n",
		  "t.conf:1: must be a section alone in its line" },
		{ "[daemon]\nworker = 2\n", "t.conf:2: worker: unknown key in [daemon]" },
		{ "[daemon]\nrx_packets = 64\n",
		  "t.conf:2: rx_packets: unknown key in [daemon]" },
		{ "[port a]\nworkers = 2\n",
		  "t.conf:2: workers: unknown key in [port a]" },
		{ "[daemon]\nworkers = 2\nworkers = 2\n",
		  "t.conf:3: workers: given twice" },
		{ "[port a]\nstriding=no\n[port b]\n[port a]\nstriding=no\n",
		  "t.conf:5: striding: given twice" },
		{ "[daemon]\nworkers\n", "t.conf:2: neither [section] nor key = value" },
		{ "[daemon]\nworkers ; = 2\n[port a]\n", "t.conf:2: neither" },
		{ "[daemon]\nworkers 2\nnonsense = 3\n", "t.conf:2: neither" },
		{ "[daemon]\nworkers =\n", "t.conf:2: workers = : must be 1 to 64" },
		{ "[daemon]\n = 2\n", "t.conf:2: : unknown key in [daemon]" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(files); i++)
		refused(files[i].text, files[i].error);
}

static void layout_means_nothing(void **state)
{
	struct config c;

	(void)state;
	accepted("# a comment\n; another\n\n  [daemon]  ; here too\r\n"
		 "\tworkers=3\n  idle_spin_us : 7 ; and here\n[port a]\n[port a]\n"
		 "  rx_packets = 64\n[daemon]\n   idle_pause_us =   9   \n[port b]",
		 &c);
	assert_int_equal(c.workers, 3);
	assert_int_equal(c.idle_spin_us, 7);
	assert_int_equal(c.idle_pause_us, 9);
	assert_int_equal(c.n_ports, 2);
	assert_string_equal(c.port[0].name, "a");
	assert_int_equal(c.port[0].rx_packets, 64);
	assert_string_equal(c.port[1].name, "b");
	assert_int_equal(c.port[1].rx_packets, 1024);
}

static void a_line_may_have_199_characters(void **state)
{
	char text[400] = "[port a]\n[daemon]\ncontrol_group = g ;";
	size_t start = strlen("[port a]\n[daemon]\n"), at = strlen(text);
	struct config c;

	(void)state;
	memset(text + at, 'x', start + 199 - at);
	accepted(text, &c); /* the file ends without a line feed */
	test_append(text, sizeof(text), "\n");
	accepted(text, &c);
	assert_string_equal(c.control_group, "g");
	text[start + 199] = 'x';
	refused(text, "t.conf:3: line of more than 199 characters");
	test_append(text, sizeof(text), "\n");
	refused(text, "t.conf:3: line of more than 199 characters");
}

static void a_zero_byte_hides_nothing(void **state)
{
	static const char middle[] = "[port a]\n[daemon]\nworkers = 2\0 nonsense\n";
	static const char last[] = "[port a]\n[daemon]\nworkers = 2\0";

	(void)state;
	refused_bytes(middle, sizeof(middle) - 1,
		      "t.conf:3: there is a zero byte in the line");
	refused_bytes(last, sizeof(last) - 1,
		      "t.conf:3: there is a zero byte in the line");
}

static void there_are_sixteen_ports_at_most(void **state)
{
	char text[600] = "";
	struct config c;

	(void)state;
	for (int i = 0; i < FWD_PORTS_MAX; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "[port p%d]\n",
			 i);
	accepted(text, &c);
	assert_int_equal(c.n_ports, FWD_PORTS_MAX);
	assert_string_equal(c.port[FWD_PORTS_MAX - 1].name, "p15");
	test_append(text, sizeof(text), "[port one-more]\n");
	refused(text, "t.conf:17: [port one-more]: more than 16 ports");
}

/* ---- files ---- */

static void what_cannot_be_read_is_an_error_with_its_reason(void **state)
{
	FILE *folder = fopen("/", "re");
	struct config c;
	struct err err = { "" };

	(void)state;
	assert_int_equal(config_read("/nonexistent/t.conf", &c, &err), -ENOENT);
	assert_string_equal(err.text, "/nonexistent/t.conf: No such file or directory");
	assert_int_equal(config_read("/", &c, &err), -EINVAL);
	assert_string_equal(err.text, "/: not a file");
	assert_non_null(folder);
	assert_int_equal(config_read_file(folder, "/", &c, &err), -EIO);
	assert_string_equal(err.text, "/: cannot be read: Is a directory");
	fclose(folder);
}

/* Nobody writes to the pipe, and nothing ends the device. */
static void what_never_ends_is_not_waited_for(void **state)
{
	char folder[] = "/tmp/test_config_XXXXXX", path[40];
	struct config c;
	struct err err = { "" };

	(void)state;
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/pipe", folder);
	assert_int_equal(mkfifo(path, 0600), 0);
	alarm(20);
	assert_int_equal(config_read(path, &c, &err), -EINVAL);
	assert_int_equal(config_read("/dev/zero", &c, &err), -EINVAL);
	assert_string_equal(err.text, "/dev/zero: not a file");
	alarm(0);
	unlink(path);
	rmdir(folder);
}

static void a_file_is_read(void **state)
{
	char path[] = "/tmp/test_config_XXXXXX";
	int fd = mkstemp(path);
	struct config c;
	struct err err = { "" };

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(write(fd, "[port eth7]\n", 12), 12);
	close(fd);
	assert_int_equal(config_read(path, &c, &err), 0);
	assert_string_equal(c.port[0].name, "eth7");
	unlink(path);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(every_number_ends_where_its_row_says),
	cmocka_unit_test(an_error_names_the_range),
	cmocka_unit_test(no_number_is_anything_but_digits),
	cmocka_unit_test(words_are_taken_whole_and_in_lower_case),
	cmocka_unit_test(every_word_means_what_it_says),
	cmocka_unit_test(texts_have_the_bytes_that_fit),
	cmocka_unit_test(cpu_lists),
	cmocka_unit_test(what_is_no_line_of_a_file_is_refused),
	cmocka_unit_test(layout_means_nothing),
	cmocka_unit_test(a_line_may_have_199_characters),
	cmocka_unit_test(a_zero_byte_hides_nothing),
	cmocka_unit_test(there_are_sixteen_ports_at_most),
	cmocka_unit_test(what_cannot_be_read_is_an_error_with_its_reason),
	cmocka_unit_test(what_never_ends_is_not_waited_for),
	cmocka_unit_test(a_file_is_read),
};

int main(void)
{
	return cmocka_run_group_tests(tests, NULL, NULL);
}
