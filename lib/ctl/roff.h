/* ctl/roff.h - text of manual pages, as man(7) wants it */
#pragma once

#include <stdio.h>

/* A backslash and a hyphen are written as what they are. */
void roff_text(FILE *to, const char *text);
/* The same as a line of its own; what would be a request at its start is none. */
void roff_line(FILE *to, const char *text);
