/* unit/test_ctl_row.c - rows written and read */

#include "../test.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../lib/base/hot.h"
#include "../../lib/ctl/row.h"

static void members_keep_their_order_and_type(void **state)
{
	static const char *const flags[] = { "a", "b" };
	struct row *row = row_new(), *inner = row_new();
	char *line;

	(void)state;
	row_set_count(inner, "n", 0);
	row_set_text(row, "z", "text");
	row_set_count(row, "y", UINT64_C(9007199254740993)); /* no double has it */
	row_set_number(row, "x", -1);
	row_set_flag(row, "w", true);
	row_set_words(row, "v", flags, 2);
	row_set_words(row, "u", NULL, 0);
	row_set_row(row, "t", inner);
	line = row_line(row);
	assert_string_equal(line,
			    "{\"z\":\"text\",\"y\":9007199254740993,\"x\":-1,\"w\":true,"
			    "\"v\":[\"a\",\"b\"],\"u\":[],\"t\":{\"n\":0}}");
	free(line);
	row_free(row);
}

static void read_inner(void *arg, const struct row *inner)
{
	*(int64_t *)arg = 10 * *(int64_t *)arg + row_number(inner, "n");
}

static void rows_make_a_list(void **state)
{
	struct row *row = row_new(), *back;
	char *line, why[100];
	int64_t seen = 0;

	(void)state;
	row_set_number(row, "k", 7);
	for (unsigned i = 1; i <= 3; i++) {
		struct row *inner = row_new();

		row_set_count(inner, "n", i);
		row_add_row(row, "list", inner);
	}
	line = row_line(row);
	assert_string_equal(line, "{\"k\":7,\"list\":[{\"n\":1},{\"n\":2},{\"n\":3}]}");
	assert_int_equal(row_read(line, why, sizeof(why), &back), 0);
	row_each_row(back, "list", read_inner, &seen);
	assert_int_equal(seen, 123);
	row_each_row(back, "k", read_inner, &seen);
	row_each_row(back, "absent", read_inner, &seen);
	row_each_row(NULL, "list", read_inner, &seen);
	assert_int_equal(seen, 123);
	free(line);
	row_add_row(row, "list", NULL); /* there was no memory for it */
	assert_null(row_line(row));
	row_add_row(NULL, "list", row_new());
	row_free(row);
	row_free(back);
}

/* DPDK's telemetry printed these as they were (babc5214). */
static void what_would_end_a_line_or_a_text_is_escaped(void **state)
{
	struct row *row = row_new(), *back;
	char *line, why[100];

	(void)state;
	row_set_text(row, "k", "\"\\\n\r\t\x01 {}");
	line = row_line(row);
	assert_null(strchr(line, '\n'));
	assert_int_equal(row_read(line, why, sizeof(why), &back), 0);
	assert_string_equal(row_text(back, "k"), "\"\\\n\r\t\x01 {}");
	free(line);
	row_free(row);
	row_free(back);
}

static void a_row_that_lacks_a_member_makes_no_line(void **state)
{
	struct row *row = row_new();

	(void)state;
	row_set_text(row, "good", "yes");
	row_set_text(row, "bad",
		     "\xff"); /* stands for no memory: it cannot be set either */
	assert_null(row_line(row));
	row_free(row);
	row = row_new();
	row_set_row(row, "inner", NULL);
	assert_null(row_line(row));
	row_free(row);
}

static void nothing_happens_to_a_row_that_is_not_there(void **state)
{
	(void)state;
	row_set_text(NULL, "k", "v");
	row_set_count(NULL, "k", 1);
	row_set_words(NULL, "k", NULL, 0);
	row_set_row(NULL, "k", row_new());
	assert_null(row_line(NULL));
	assert_false(row_has(NULL, "k"));
	assert_string_equal(row_text(NULL, "k"), "");
	assert_int_equal(row_number(NULL, "k"), 0);
	assert_false(row_flag(NULL, "k"));
	assert_null(row_inner(NULL, "k"));
	row_each(NULL, NULL, NULL);
	row_each_word(NULL, "k", NULL, NULL);
	row_print(NULL, stdout, false);
	row_free(NULL);
}

static void only_an_object_is_a_row(void **state)
{
	static const char *const bad[] = { "",	"[]",	"1",	    "null",
					   "{", "{}{}", "{\"a\":}", "\xff" };
	char why[100];
	struct row *row = NULL;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		*why = '\0';
		assert_int_equal(row_read(bad[i], why, sizeof(why), &row), -EPROTO);
		assert_true(*why);
		assert_null(row);
	}
}

static void collect(void *arg, const char *name, const char *value)
{
	char *text = arg;

	sprintf(text + strlen(text), "%s=%s ", name, value);
}

static void members_are_read_as_what_they_are(void **state)
{
	char why[100], text[200] = "";
	struct row *row, *inner;

	(void)state;
	assert_int_equal(
		row_read("{\"t\":\"x\",\"n\":-5,\"f\":true,\"l\":[\"a\",1,\"b\"],"
			 "\"o\":{\"k\":9223372036854775807},\"z\":null}",
			 why, sizeof(why), &row),
		0);
	assert_string_equal(row_text(row, "t"), "x");
	assert_string_equal(row_text(row, "n"), "");
	assert_int_equal(row_number(row, "n"), -5);
	assert_int_equal(row_number(row, "t"), 0);
	assert_true(row_flag(row, "f"));
	assert_false(row_flag(row, "t"));
	assert_true(row_has(row, "z"));
	assert_null(row_inner(row, "l"));
	row_each(row, collect, text);
	row_each_word(row, "l", collect, text);
	inner = row_inner(row, "o");
	row_each(inner, collect, text);
	assert_string_equal(text, "t=x n=-5 f=yes l=a l=b k=9223372036854775807 ");
	row_free(row);
	row_free(inner); /* outlives the row it was in */
}

static struct row *read_line(const char *line)
{
	struct row *row = NULL;
	char why[200];

	assert_int_equal(row_read(line, why, sizeof(why), &row), 0);
	return row;
}

static void numbers_are_taken_from_a_base(void **state)
{
	struct row *row = read_line(
		"{\"a\":9007199254740993,\"t\":\"x\",\"o\":{\"b\":5,\"c\":7},\"d\":3}");
	struct row *base = read_line("{\"a\":1,\"t\":9,\"o\":{\"b\":5},\"z\":2}");
	char *line;

	(void)state;
	row_less(row, base);
	row_less(row, NULL);
	row_less(NULL, base);
	line = row_line(row);
	assert_string_equal(
		line,
		"{\"a\":9007199254740992,\"t\":\"x\",\"o\":{\"b\":0,\"c\":7},\"d\":3}");
	free(line);
	row_free(row);
	row_free(base);
}

static void a_member_is_text(void **state)
{
	struct row *row = read_line("{\"t\":\"x\",\"n\":-5,\"f\":true,\"g\":false,"
				    "\"l\":[\"a\",\"b\"],\"e\":[],\"o\":{}}");
	static const char *const is[][2] = { { "t", "x" },   { "n", "-5" },
					     { "f", "yes" }, { "g", "no" },
					     { "l", "a,b" }, { "e", "" },
					     { "o", "" },    { "z", "" } };
	char text[40], little[3];

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(is); i++) {
		row_member_text(row, is[i][0], text, sizeof(text));
		assert_string_equal(text, is[i][1]);
	}
	row_member_text(row, "l", little, sizeof(little));
	assert_string_equal(little, "a,");
	row_free(row);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(numbers_are_taken_from_a_base),
	cmocka_unit_test(a_member_is_text),
	cmocka_unit_test(members_keep_their_order_and_type),
	cmocka_unit_test(rows_make_a_list),
	cmocka_unit_test(what_would_end_a_line_or_a_text_is_escaped),
	cmocka_unit_test(a_row_that_lacks_a_member_makes_no_line),
	cmocka_unit_test(nothing_happens_to_a_row_that_is_not_there),
	cmocka_unit_test(only_an_object_is_a_row),
	cmocka_unit_test(members_are_read_as_what_they_are),
};

int main(void)
{
	return cmocka_run_group_tests(tests, NULL, NULL);
}
