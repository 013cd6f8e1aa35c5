/* test/client/check.h - what a client program says about each thing it tried
 *
 * One line a check, "ok   what" or "FAIL what: detail"; the exit status counts.
 */
#pragma once

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* Returns @ok. errno at the time of the call is shown on failure. */
bool check(bool ok, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Gives up every privilege for good. */
bool check_become_nobody(void);
/* Last line and exit status. */
int check_end(void);
