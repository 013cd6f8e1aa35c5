/* ctl/row.c - one JSON object, to be written or read; the door to jansson */

#include "row.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

struct row {
	json_t *json;
	bool broken; /* a member is missing for want of memory */
};

static struct row *row_around(json_t *json)
{
	struct row *row = json ? malloc(sizeof(*row)) : NULL;

	if (!row) {
		json_decref(json);
		return NULL;
	}
	*row = (struct row){ .json = json };
	return row;
}

struct row *row_new(void)
{
	return row_around(json_object());
}

void row_free(struct row *row)
{
	if (!row)
		return;
	json_decref(row->json);
	free(row);
}

/* ---- writing ---- */

static void set(struct row *row, const char *key, json_t *value)
{
	if (!row)
		json_decref(value);
	else if (json_object_set_new(row->json, key, value))
		row->broken = true;
}

void row_set_text(struct row *row, const char *key, const char *value)
{
	set(row, key, json_string(value));
}

void row_set_count(struct row *row, const char *key, uint64_t value)
{
	set(row, key, json_integer((json_int_t)value));
}

void row_set_number(struct row *row, const char *key, int64_t value)
{
	set(row, key, json_integer(value));
}

void row_set_flag(struct row *row, const char *key, bool value)
{
	set(row, key, json_boolean(value));
}

void row_set_words(struct row *row, const char *key, const char *const words[],
		   unsigned n)
{
	json_t *list = json_array();

	for (unsigned i = 0; i < n; i++) {
		if (json_array_append_new(list, json_string(words[i])) && row)
			row->broken = true;
	}
	set(row, key, list);
}

void row_set_row(struct row *row, const char *key, struct row *value)
{
	set(row, key, value && !value->broken ? json_incref(value->json) : NULL);
	row_free(value);
}

void row_add_row(struct row *row, const char *key, struct row *value)
{
	json_t *list = row ? json_object_get(row->json, key) : NULL;

	if (row && !list) {
		set(row, key, json_array());
		list = json_object_get(row->json, key);
	}
	if (row && (!value || value->broken ||
		    json_array_append_new(list, json_incref(value->json))))
		row->broken = true;
	row_free(value);
}

static void subtract(json_t *from, const json_t *base)
{
	json_t *is, *was;
	const char *key;

	json_object_foreach((json_t *)(uintptr_t)base, key, was)
	{
		is = json_object_get(from, key);
		if (json_is_integer(is) && json_is_integer(was))
			json_integer_set(is, json_integer_value(is) -
						     json_integer_value(was));
		else if (json_is_object(is) && json_is_object(was))
			subtract(is, was);
	}
}

void row_less(struct row *row, const struct row *base)
{
	if (row && base)
		subtract(row->json, base->json);
}

char *row_line(const struct row *row)
{
	return row && !row->broken ? json_dumps(row->json, JSON_COMPACT) : NULL;
}

/* ---- reading ---- */

int row_read(const char *line, char *why, size_t why_size, struct row **ret)
{
	json_error_t error;
	json_t *json = json_loads(line, 0, &error);
	struct row *row;

	if (!json_is_object(json)) {
		snprintf(why, why_size, "%s", json ? "not an object" : error.text);
		json_decref(json);
		return -EPROTO;
	}
	row = row_around(json);
	if (!row)
		return -ENOMEM;
	*ret = row;
	return 0;
}

static json_t *member(const struct row *row, const char *key)
{
	return row ? json_object_get(row->json, key) : NULL;
}

bool row_has(const struct row *row, const char *key)
{
	return member(row, key);
}

const char *row_text(const struct row *row, const char *key)
{
	const char *text = json_string_value(member(row, key));

	return text ? text : "";
}

int64_t row_number(const struct row *row, const char *key)
{
	return json_integer_value(member(row, key));
}

bool row_flag(const struct row *row, const char *key)
{
	return json_is_true(member(row, key));
}

static void append_text(char *text, size_t size, const char *more)
{
	size_t n = strlen(text);

	snprintf(text + n, size - n, "%s%s", n ? "," : "", more);
}

void row_member_text(const struct row *row, const char *key, char *text, size_t size)
{
	json_t *value = member(row, key), *word;
	size_t i;

	*text = '\0';
	if (json_is_string(value))
		append_text(text, size, json_string_value(value));
	else if (json_is_integer(value))
		snprintf(text, size, "%" PRId64, (int64_t)json_integer_value(value));
	else if (json_is_boolean(value))
		append_text(text, size, json_is_true(value) ? "yes" : "no");
	json_array_foreach(value, i, word)
	{
		if (json_is_string(word))
			append_text(text, size, json_string_value(word));
	}
}

struct row *row_inner(const struct row *row, const char *key)
{
	json_t *json = member(row, key);

	return json_is_object(json) ? row_around(json_incref(json)) : NULL;
}

void row_each(const struct row *row, row_fn fn, void *arg)
{
	char number[24];
	const char *key;
	json_t *value;

	if (!row)
		return;
	json_object_foreach(row->json, key, value)
	{
		if (json_is_string(value)) {
			fn(arg, key, json_string_value(value));
		} else if (json_is_integer(value)) {
			snprintf(number, sizeof(number), "%" PRId64,
				 (int64_t)json_integer_value(value));
			fn(arg, key, number);
		} else if (json_is_boolean(value)) {
			fn(arg, key, json_is_true(value) ? "yes" : "no");
		}
	}
}

void row_each_word(const struct row *row, const char *key, row_fn fn, void *arg)
{
	json_t *value;
	size_t i;

	json_array_foreach(member(row, key), i, value)
	{
		if (json_is_string(value))
			fn(arg, key, json_string_value(value));
	}
}

void row_each_row(const struct row *row, const char *key,
		  void (*fn)(void *arg, const struct row *inner), void *arg)
{
	json_t *value;
	size_t i;

	json_array_foreach(member(row, key), i, value)
	{
		const struct row inner = { .json = value };

		if (json_is_object(value))
			fn(arg, &inner);
	}
}

void row_print(const struct row *row, FILE *to, bool pretty)
{
	if (row)
		json_dumpf(row->json, to, pretty ? JSON_INDENT(4) : JSON_COMPACT);
}
