/* ctl/row.h - one JSON object, to be written or read; the door to jansson
 *
 * Replies are rows (proto.h). The daemon makes one, sends it as a line and frees it;
 * the tool reads a line, prints it as text or JSON, and frees it. So no list ever
 * stands in memory as a tree. Members keep the order in which they were set.
 *
 * Only row.c includes jansson. Every function takes NULL, a row there was no memory
 * for, and does nothing.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct row;

struct row *row_new(void); /* NULL: no memory */
void row_free(struct row *row);

/* ---- writing; text is UTF-8 ---- */

void row_set_text(struct row *row, const char *key, const char *value);
void row_set_count(struct row *row, const char *key, uint64_t value);
void row_set_number(struct row *row, const char *key, int64_t value);
void row_set_flag(struct row *row, const char *key, bool value);
void row_set_words(struct row *row, const char *key, const char *const words[],
		   unsigned n);
void row_set_row(struct row *row, const char *key, struct row *value); /* frees @value */
/* At the end of a list, which the first one makes; frees @value. */
void row_add_row(struct row *row, const char *key, struct row *value);
/* Takes the numbers of @base from those of the same name, also in rows that are members. */
void row_less(struct row *row, const struct row *base);
/* One line without its end, to be freed. NULL: no memory, now or for one of the members. */
char *row_line(const struct row *row);

/* ---- reading ---- */

/* Return: 0, -EPROTO (not an object; @why says where) or -ENOMEM. */
int row_read(const char *line, char *why, size_t why_size, struct row **ret);
bool row_has(const struct row *row, const char *key);
const char *row_text(const struct row *row, const char *key); /* "" = absent */
int64_t row_number(const struct row *row, const char *key);   /* 0 = absent */
bool row_flag(const struct row *row, const char *key);	      /* false = absent */
/* The member as text: words of a list with commas between them, flags as yes or no; "" = absent. */
void row_member_text(const struct row *row, const char *key, char *text, size_t size);
/* The row that is a member, to be freed; NULL = absent. */
struct row *row_inner(const struct row *row, const char *key);

typedef void (*row_fn)(void *arg, const char *name, const char *value);
/* Members that are text, numbers or flags, in order. */
void row_each(const struct row *row, row_fn fn, void *arg);
/* Words of a list, in order; @name is the list's. */
void row_each_word(const struct row *row, const char *key, row_fn fn, void *arg);
/* Rows of a list, in order. */
void row_each_row(const struct row *row, const char *key,
		  void (*fn)(void *arg, const struct row *inner), void *arg);
void row_print(const struct row *row, FILE *to, bool pretty);
