/* control/commands.h - one table: dispatch, usage, help, completion, manual page
 *
 * A command is an object and a verb; both may be abbreviated to what is unique, and
 * `show` may be left out.
 */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "../lib/base/err.h"
#include "print.h"

enum command_kind {
	COMMAND_ASK,	 /* one request, its rows are printed */
	COMMAND_RESTORE, /* a file of routes, all there shall be */
	COMMAND_MONITOR, /* rows without an end */
	COMMAND_TOP,	 /* a live screen */
	COMMAND_SAVE,	 /* packets, into a file */
};

struct command {
	const char *object, *verb; /* verb "" = the object alone */
	const char *args;	   /* usage text; <> stands for something, [] optional */
	const char *help;	   /* one line, lower case, no full stop */
	int min, max;		   /* words after them */
	enum command_kind kind;
	bool changes;	 /* routes: may stand in a batch, and be tried */
	bool adds;	 /* a route: its type may stand before its prefix */
	bool selects;	 /* routes: knows -4 and -6 */
	bool missing_ok; /* knows --missing-ok */
	const char *ask; /* the request, if it is not object and verb */
	print_row *text; /* how a row of the reply looks; NULL = there are none */
	const struct column *columns;	   /* with -br; NULL = as without */
	void (*complete)(struct row *row); /* adds what the tool knows; NULL = nothing */
};

/* Command @i, NULL after the last. */
const struct command *command_at(unsigned i);
/* The object that @word means: exactly, or by a prefix that only one has; NULL: @err says why. */
const char *command_object(const char *word, struct err *err);
/**
 * command_find() - the command that words mean
 * @n:     at least 1
 * @n_own: how many of the words named it; the rest are its arguments
 * Return: NULL: @err says why.
 */
const struct command *command_find(const char *const words[], int n, int *n_own,
				   struct err *err);
/* The same, whatever follows; for completion. */
const struct command *command_named(const char *const words[], int n, int *n_own,
				    struct err *err);
/* What the daemon is asked: @c and its @n arguments, in the daemon's order. Return: number of
 * words, at most CTL_WORDS_MAX, or -E2BIG. */
int command_request(const struct command *c, const char *const args[], int n,
		    bool missing_ok, const char *words[]);
void commands_help(FILE *to, const char *object); /* object NULL = all */
