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
	bool stamps;	       /* -ts */
	unsigned stats;	       /* number of -s */
	bool details;	       /* -d */
	bool brief, no_legend; /* -br */
	/* what errors are about, in a batch */
	const char *file; /* NULL = no batch */
	unsigned line;	  /* 0 = no line of it */
	/* state of the array */
	unsigned count;
};

typedef void print_row(const struct print *p, const struct row *row);

/* Of a table, -br. */
struct column {
	const char *title; /* NULL: no more */
	const char *key;
	unsigned width;
	/* What stands there; NULL = the member of that key. */
	void (*text)(const struct row *row, char *text, size_t size);
};

void print_begin(struct print *p);
void print_one(struct print *p, const struct row *row, print_row *text,
	       const struct column *columns);
/* The same, of a row that is JSON text already; only with -j. */
void print_json_line(struct print *p, const char *line);
void print_end(struct print *p);

/* "mlx5fwdctl: FILE:LINE: MESSAGE (CODE); HINT" */
void print_error(const struct print *p, const struct row *error);
/* The same for an error of our own; @hint may be NULL. */
void print_failure(const struct print *p, int r, const char *hint, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/* Rows as text. */
print_row print_route, print_route_get, print_nexthop, print_port, print_worker,
	print_drop;
print_row print_sample;
print_row print_summary;
print_row print_pairs; /* name value, one a line */
print_row print_config, print_config_diff;
print_row print_event;	     /* monitor.c */
print_row print_counts;	     /* all in one line */
print_row print_saved_route; /* as a command, save.c */
print_row print_trace;	     /* trace.c */

/* brief.c */
void print_brief(const struct print *p, const struct row *row,
		 const struct column *columns);
void print_titles(const struct column *columns);
extern const struct column columns_route[], columns_route_get[], columns_nexthop[],
	columns_port[], columns_worker[], columns_config[], columns_config_diff[],
	columns_trace[];
