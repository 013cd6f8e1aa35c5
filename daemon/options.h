/* daemon/options.h - command line of mlx5fwd */
#pragma once

#include <stdbool.h>

struct options {
	const char *config;
	bool check;
};

/* Prints help, version or an error itself. Return: -1 = go on, else the exit status. */
int options_parse(int argc, char **argv, struct options *ret);
