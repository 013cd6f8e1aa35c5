/* bench/fib/destinations.h - lists of addresses, one a line */
#pragma once

#include <arpa/inet.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* The next line of a list of addresses, from the start again after the last. false: not a
 * list of addresses of that family. */
static inline bool destinations_next(FILE *list, unsigned family, uint8_t dst[16])
{
	char text[64];

	if (!fgets(text, sizeof(text), list)) {
		rewind(list);
		if (!fgets(text, sizeof(text), list))
			return false;
	}
	text[strcspn(text, "\n")] = '\0';
	return inet_pton(family == 4 ? AF_INET : AF_INET6, text, dst) == 1;
}
