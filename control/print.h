/* control/print.h - the same rows as text or as JSON
 *
 * JSON is one array, written element by element: a million routes never stand in
 * memory. Errors go to standard error as a sentence, and with -j also to standard
 * output as an object.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>

struct print {
	bool json, pretty, brief;
	unsigned stats; /* number of -s */
	/* state of the array */
	bool open;
	unsigned count;
};

typedef void (*print_row)(const struct print *p, const json_t *row);

void print_begin(struct print *p);
void print_one(struct print *p, const json_t *row, print_row text);
void print_end(struct print *p);

/* "mlx5fwdctl: MESSAGE (CODE); HINT"; @where is "FILE:LINE: " or "". */
void print_error(const struct print *p, const char *where, unsigned line, const json_t *error);

/* Rows as text. */
void print_route(const struct print *p, const json_t *row);
void print_route_get(const struct print *p, const json_t *row);
void print_port(const struct print *p, const json_t *row);
void print_worker(const struct print *p, const json_t *row);
void print_drop(const struct print *p, const json_t *row);
void print_pairs(const struct print *p, const json_t *row); /* name value, one a line */
