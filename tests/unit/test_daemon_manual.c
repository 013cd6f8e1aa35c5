/* unit/test_daemon_manual.c - mlx5fwd.conf(5) has every key, in its section, with its default */

#include "../test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../daemon/config.h"
#include "../../daemon/manual.h"

static const struct {
	const char *section, *name, *def;
} keys[] = {
#define KEY(section, name, type, field, min, max, def, unit, help) \
	{ #section, #name, def },
#include "../../daemon/config_keys.h"
#undef KEY
};

/* As the page writes it. */
static void escape(const char *text, char *to)
{
	for (; *text; text++) {
		if (*text == '-')
			*to++ = '\\';
		*to++ = *text;
	}
	*to = '\0';
}

static void every_key_is_there(void **state)
{
	char *page = NULL, expected[300], def[200];
	const char *ports;
	size_t size;
	FILE *to = open_memstream(&page, &size);

	(void)state;
	assert_non_null(to);
	manual_print(to);
	fclose(to);
	assert_int_equal(strncmp(page, ".TH MLX5FWD.CONF 5 ", 19), 0);
	ports = strstr(page, ".SH [port NAME]\n");
	assert_non_null(ports);
	for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
		const char *at;

		escape(*keys[i].def ? keys[i].def : "(empty)", def);
		snprintf(expected, sizeof(expected), "\n.TP\n\\fB%s\\fR = %s\n",
			 keys[i].name, def);
		at = strstr(page, expected);
		if (!at)
			fail_msg("%s is not there: %s", keys[i].name, expected);
		assert_int_equal(at > ports, !strcmp(keys[i].section, "port"));
	}
	assert_non_null(strstr(page, "\\fBlog_level\\fR = info\n"));
	free(page);
}

/* What a reload can change is said of those keys, and of no others. */
static void live_keys_are_said_to_be(void **state)
{
	static const char live[] = "Can be changed by a reload.\n";
	static const char *const names[] = { "log_level",     "punt_rate",
					     "punt_burst",    "idle",
					     "idle_spin_us",  "idle_pause_us",
					     "burst",	      "latency_sample",
					     "control_group", "readers_group" };
	char *page = NULL, start[80];
	unsigned n = 0;
	size_t size;
	FILE *to = open_memstream(&page, &size);

	(void)state;
	manual_print(to);
	fclose(to);
	for (const char *at = page; (at = strstr(at, live)); at++)
		n++;
	assert_int_equal(n, ARRAY_LEN(names));
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		const char *at, *next;

		snprintf(start, sizeof(start), "\\fB%s\\fR = ", names[i]);
		at = strstr(page, start);
		assert_non_null(at);
		next = strstr(at, ".TP\n");
		assert_non_null(next);
		assert_true(strstr(at, live) < next);
	}
	free(page);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(every_key_is_there),
	cmocka_unit_test(live_keys_are_said_to_be),
};

int main(void)
{
	return cmocka_run_group_tests(tests, NULL, NULL);
}
