/* control/print.h - the same rows as text or as JSON
 *
 * JSON is one array, written element by element: a million routes never stand in
 * memory. Errors go to standard error as a sentence, and with -j also to standard
 * output as an object.
 */
#pragma once

#include <stdbool.h>

#include "../lib/ctl/row.h"

struct print {
	bool json, pretty;
	unsigned stats; /* number of -s */
	bool details;	/* -d */
	/* what errors are about, in a batch */
	const char *file; /* NULL = no batch */
	unsigned line;	  /* 0 = no line of it */
	/* state of the array */
	unsigned count;
};

typedef void (*print_row)(const struct print *p, const struct row *row);

void print_begin(struct print *p);
void print_one(struct print *p, const struct row *row, print_row text);
void print_end(struct print *p);

/* "mlx5fwdctl: FILE:LINE: MESSAGE (CODE); HINT" */
void print_error(const struct print *p, const struct row *error);
/* The same for an error of our own; @hint may be NULL. */
void print_failure(const struct print *p, int r, const char *hint, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/* Rows as text. */
void print_route(const struct print *p, const struct row *row);
void print_route_get(const struct print *p, const struct row *row);
void print_port(const struct print *p, const struct row *row);
void print_worker(const struct print *p, const struct row *row);
void print_drop(const struct print *p, const struct row *row);
void print_pairs(const struct print *p,
		 const struct row *row); /* name value, one a line */
