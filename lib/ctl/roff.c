/* ctl/roff.c - text of manual pages, as man(7) wants it */

#include "roff.h"

void roff_text(FILE *to, const char *text)
{
	for (; *text; text++) {
		if (*text == '-' || *text == '\\')
			fputc('\\', to);
		fputc(*text == '\\' ? 'e' : *text, to);
	}
}

void roff_line(FILE *to, const char *text)
{
	if (*text == '.' || *text == '\'')
		fputs("\\&", to);
	roff_text(to, text);
	fputc('\n', to);
}
