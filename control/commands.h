/* control/commands.h - one table: dispatch, usage, help
 *
 * A command is an object and a verb; both may be abbreviated to what is unique, and
 * `show` may be left out.
 */
#pragma once

#include <stdio.h>

#include "print.h"

struct command {
	const char *object, *verb; /* verb "" = the object alone */
	const char *args;	   /* usage text; <> required, [] optional */
	const char *help;	   /* one line, lower case, no full stop */
	int min, max;		   /* words after them */
	print_row text;		   /* how a row of the reply looks; NULL = there are none */
};

/* NULL: @why has the reason, and @n_words how many words were the command's. */
const struct command *command_find(const char *const words[], int n, int *n_words, char *why,
				   size_t why_size);
void commands_help(FILE *to, const char *object); /* object NULL = all */
