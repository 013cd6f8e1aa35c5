/* unit/test_daemon_conf_example.c - etc/mlx5fwd.conf says what config_keys.h says
 *
 * Each key stands in its section once, as a comment ";key = default", under a comment
 * that is its help, then its range.
 */

#include "../test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../daemon/config.h"

#define EXAMPLE TEST_TOP "/etc/mlx5fwd.conf"
enum { BIG = 16384 };

struct row {
	const char *section, *key, *type;
	unsigned min, max;
	const char *def, *unit, *help;
};

static const struct row rows[] = {
#define KEY(section, name, type, field, min, max, def, unit, help) \
	{ #section, #name, #type, min, max, def, unit, help },
#include "../../daemon/config_keys.h"
#undef KEY
};

static void range_text(const struct row *r, char *text, size_t size)
{
	if (!strcmp(r->type, "flag"))
		snprintf(text, size, " yes or no");
	else if (!strcmp(r->type, "cpus"))
		snprintf(text, size, " CPUs %u to %u, each once", r->min, r->max);
	else if (*r->unit)
		snprintf(text, size, " %s%u to %u %s",
			 !strcmp(r->type, "pow2") ? "a power of two, " : "", r->min,
			 r->max, r->unit);
	else
		*text = '\0';
}

/* What the file should say above the key, in one line. */
static void comment_of(const struct row *r, char *text, size_t size)
{
	char range[200];

	range_text(r, range, sizeof(range));
	snprintf(text, size, "%s%s", r->help, range);
}

static FILE *open_example(void)
{
	FILE *file = fopen(EXAMPLE, "re");

	if (!file)
		fail_msg("%s cannot be opened", EXAMPLE);
	return file;
}

/* The keys of the file, in order, must be the rows, in order. */
static void every_key_stands_once_with_its_help_range_and_default(void **state)
{
	char line[200], section[64] = "", comment[1000] = "", expected[1000];
	FILE *file = open_example();
	size_t n = 0;

	(void)state;
	while (fgets(line, sizeof(line), file)) {
		line[strcspn(line, "\n")] = '\0';
		if (*line == '[') {
			sscanf(line, "[%63[a-z]", section);
		} else if (!strncmp(line, "; ", 2)) {
			test_append(comment, sizeof(comment), *comment ? " " : "");
			test_append(comment, sizeof(comment), line + 2);
		} else if (*line == ';') {
			assert_true(n < ARRAY_LEN(rows));
			assert_string_equal(section, rows[n].section);
			comment_of(&rows[n], expected, sizeof(expected));
			assert_string_equal(comment, expected);
			snprintf(expected, sizeof(expected), ";%s = %s", rows[n].key,
				 rows[n].def);
			assert_string_equal(line, expected);
			*comment = '\0';
			n++;
		} else {
			assert_true(*line == '\0' || *line == '#');
		}
	}
	fclose(file);
	assert_int_equal(n, ARRAY_LEN(rows));
}

/* The example with its keys in force must be the same as a file that only names the port. */
static void in_force_it_is_the_default(void **state)
{
	static char text[BIG];
	static char bare[] = "[port eth0]\n";
	struct config is, expected;
	struct err err = { "" };
	FILE *example = open_example(), *file;
	char line[200];

	(void)state;
	while (fgets(line, sizeof(line), example))
		test_append(text, sizeof(text),
			    line[0] == ';' && line[1] != ' ' ? line + 1 : line);
	fclose(example);
	file = fmemopen(text, strlen(text), "r");
	if (config_read_file(file, EXAMPLE, &is, &err) < 0)
		fail_msg("%s", err.text);
	fclose(file);
	file = fmemopen(bare, strlen(bare), "r");
	assert_int_equal(config_read_file(file, "bare", &expected, &err), 0);
	fclose(file);
	assert_memory_equal(&is, &expected, sizeof(is));
}

static void as_it_is_it_can_be_read(void **state)
{
	struct config c;
	struct err err = { "" };

	(void)state;
	if (config_read(EXAMPLE, &c, &err) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(c.n_ports, 1);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(every_key_stands_once_with_its_help_range_and_default),
	cmocka_unit_test(in_force_it_is_the_default),
	cmocka_unit_test(as_it_is_it_can_be_read),
};

int main(void)
{
	return cmocka_run_group_tests(tests, NULL, NULL);
}
