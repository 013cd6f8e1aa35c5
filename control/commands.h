/* control/commands.h - one table: dispatch, usage, help
 *
 * A command is an object and a verb; both may be abbreviated to what is unique, and
 * `show` may be left out.
 */
#pragma once

#include <stdio.h>

#include "../lib/base/err.h"
#include "print.h"

struct command {
	const char *object, *verb; /* verb "" = the object alone */
	const char *args;	   /* usage text; <> required, [] optional */
	const char *help;	   /* one line, lower case, no full stop */
	int min, max;		   /* words after them */
	print_row text; /* how a row of the reply looks; NULL = there are none */
	void (*complete)(struct row *row); /* adds what the tool knows; NULL = nothing */
};

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
void commands_help(FILE *to, const char *object); /* object NULL = all */
