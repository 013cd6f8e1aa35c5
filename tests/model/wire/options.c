/* wire/options.c - "key=value,key=value" */
#define _GNU_SOURCE 1
#include "options.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int wire_options(const char *kind, const char *args, wire_option_fn take, void *arg,
		 char *why, size_t why_size)
{
	char *copy = strdup(args), *save = NULL, *word, *value;
	int r = copy ? 0 : -ENOMEM;

	for (word = copy ? strtok_r(copy, ",", &save) : NULL; word && !r;
	     word = strtok_r(NULL, ",", &save)) {
		value = strchr(word, '=');
		if (!value) {
			snprintf(why, why_size, "%s: \"%s\": must be key=value", kind,
				 word);
			r = -EINVAL;
			break;
		}
		*value++ = '\0';
		r = take(arg, word, value, why, why_size);
	}
	free(copy);
	return r;
}
