/* control/options.h - one table: parsing, help, completion, manual page */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "print.h"

struct options {
	struct print print;
	const char *socket; /* NULL = by default */
	const char *batch;
	unsigned timeout_s;
	bool force, dry_run, missing_ok;
	const char *family; /* inet or inet6; NULL: both */
};

struct option_row {
	const char *brief, *full; /* brief NULL = it has none */
	const char *value;	  /* what follows it; NULL = nothing */
	const char *help;
};

enum { OPTIONS_GO_ON = -1 }; /* or an enum status to exit with */

/**
 * options_take() - take the options out of the arguments
 * @words: what is left, in order; as many as @argc may be
 * @n:     how many
 *
 * A long option may have one dash only, as in ip(8). Options with a value come before the first
 * word, others anywhere. What is no option of ours after the first word is a word.
 */
int options_take(int argc, char **argv, struct options *o, const char *words[], int *n);
/* Row @i, NULL after the last. */
const struct option_row *options_row(unsigned i);
/* Does the next argument belong to this one? */
bool options_has_value(const char *arg);
void options_help(FILE *to);
