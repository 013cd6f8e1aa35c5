/* wire/options.h - "key=value,key=value", as the arguments of a wire are written */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Return 0, or -EINVAL with the reason in @why. */
typedef int (*wire_option_fn)(void *arg, const char *key, const char *value, char *why,
			      size_t why_size);

/* Calls @take for each. @kind names the wire in what is wrong: "gen: \"x\": must be key=value". */
int wire_options(const char *kind, const char *args, wire_option_fn take, void *arg,
		 char *why, size_t why_size);
