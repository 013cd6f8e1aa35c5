/* unit/test_ctl_words.c - request lines */

#include "../test.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "../../lib/base/hot.h"
#include "../../lib/ctl/proto.h"

static void lines_are_cut_as_a_shell_cuts_them(void **state)
{
	static const struct {
		const char *line;
		int n;
		const char *word[4];
	} rows[] = {
		{ "", 0, { NULL } },
		{ "   \t ", 0, { NULL } },
		{ "route show", 2, { "route", "show" } },
		{ "  route\t\tshow  ", 2, { "route", "show" } },
		{ "a 'b c' d", 3, { "a", "b c", "d" } },
		{ "a \"b c\"d", 2, { "a", "b cd" } },
		{ "''", 1, { "" } },
		{ "a\\ b", 1, { "a b" } },
		{ "\"a\\\"b\"", 1, { "a\"b" } },
		{ "'a\\b'", 1, { "a\\b" } },
		{ "\"'\" '\"'", 2, { "'", "\"" } },
		{ "'open", -EINVAL, { NULL } },
		{ "\"open", -EINVAL, { NULL } },
		{ "end\\", -EINVAL, { NULL } },
		{ "bell\a", -EINVAL, { NULL } },
		{ "'\n'", -EINVAL, { NULL } },
	};
	char line[64], *words[CTL_WORDS_MAX];

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		snprintf(line, sizeof(line), "%s", rows[i].line);
		assert_int_equal(ctl_split(line, words), rows[i].n);
		for (int k = 0; k < rows[i].n; k++)
			assert_string_equal(words[k], rows[i].word[k]);
	}
}

static void too_many_words_are_refused(void **state)
{
	char line[4 * CTL_WORDS_MAX + 8] = "", *words[CTL_WORDS_MAX];

	(void)state;
	for (int i = 0; i < CTL_WORDS_MAX; i++)
		memcpy(line + 2 * i, "w ", 3);
	assert_int_equal(ctl_split(line, words), CTL_WORDS_MAX);
	line[0] = '\0';
	for (int i = 0; i < CTL_WORDS_MAX + 1; i++)
		memcpy(line + 2 * i, "w ", 3);
	assert_int_equal(ctl_split(line, words), -E2BIG);
}

/* Whatever printable word goes in comes out again. */
static void quoting_is_the_inverse_of_cutting(void **state)
{
	char word[8][24], line[512], *words[CTL_WORDS_MAX];
	static const char odd[] = "\"'\\ \tab$;|*";

	(void)state;
	for (int round = 0; round < 2000; round++) {
		uint32_t n = 1 + test_below(8);

		line[0] = '\0';
		for (uint32_t i = 0; i < n; i++) {
			uint32_t len = test_below(20);

			for (uint32_t k = 0; k < len; k++)
				word[i][k] = odd[test_below(sizeof(odd) - 1)];
			word[i][len] = '\0';
			assert_int_equal(ctl_quote(line, sizeof(line), word[i]), 0);
		}
		assert_int_equal(ctl_split(line, words), n);
		for (uint32_t i = 0; i < n; i++)
			assert_string_equal(words[i], word[i]);
	}
}

static void a_line_that_is_full_says_so(void **state)
{
	char line[8] = "";

	(void)state;
	assert_int_equal(ctl_quote(line, sizeof(line), "abcde"), 0);
	assert_int_equal(ctl_quote(line, sizeof(line), ""), -E2BIG);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(lines_are_cut_as_a_shell_cuts_them),
	cmocka_unit_test(too_many_words_are_refused),
	cmocka_unit_test(quoting_is_the_inverse_of_cutting),
	cmocka_unit_test(a_line_that_is_full_says_so),
};

int main(void)
{
	return cmocka_run_group_tests(tests, NULL, NULL);
}
