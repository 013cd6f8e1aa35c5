/* ctl/words.c - request lines: words in, words out */

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "proto.h"

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/* Printable ASCII and the tab: no control character, nothing that JSON could not carry back. */
static bool is_text(char c)
{
	return (c >= 0x20 && c < 0x7f) || c == '\t';
}

/* Copies one word down over the quotes and backslashes that it loses. Returns behind the word, NULL
 * when a quote stays open or something is met that is no text. */
static char *take_word(char *from, char *to)
{
	char quote = '\0';

	for (;; from++) {
		char c = *from;

		if (c == '\0' || (!quote && is_blank(c)))
			break;
		if (!is_text(c))
			return NULL;
		if (c == quote) {
			quote = '\0';
		} else if (!quote && (c == '\'' || c == '"')) {
			quote = c;
		} else if (c == '\\' && quote != '\'') {
			if (!is_text(*++from))
				return NULL;
			*to++ = *from;
		} else {
			*to++ = c;
		}
	}
	if (quote)
		return NULL;
	if (*from)
		*from++ = '\0';
	*to = '\0';
	return from;
}

int ctl_split(char *line, char *words[CTL_WORDS_MAX])
{
	int n = 0;

	for (;;) {
		while (is_blank(*line))
			line++;
		if (!*line)
			return n;
		if (n == CTL_WORDS_MAX)
			return -E2BIG;
		words[n++] = line;
		line = take_word(line, line);
		if (!line)
			return -EINVAL;
	}
}

static int append(char *line, size_t size, size_t *at, char c)
{
	if (*at + 1 >= size)
		return -E2BIG;
	line[(*at)++] = c;
	line[*at] = '\0';
	return 0;
}

int ctl_quote(char *line, size_t size, const char *word)
{
	size_t at = strlen(line);
	int r = 0;

	if (at)
		r = append(line, size, &at, ' ');
	if (!r)
		r = append(line, size, &at, '"');
	for (; *word && !r; word++) {
		if (!is_text(*word))
			return -EINVAL;
		if (*word == '"' || *word == '\\')
			r = append(line, size, &at, '\\');
		if (!r)
			r = append(line, size, &at, *word);
	}
	return r ? r : append(line, size, &at, '"');
}
