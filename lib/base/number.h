/* base/number.h - decimal numbers that people type
 *
 * Digits and nothing else: no sign, blank, base or fraction, which strtoul(3) would
 * read or pass over.
 */
#pragma once

#include <errno.h>
#include <stdint.h>

/* Reads digits up to the first other character, to which @at moves. Return: 0, -EINVAL (no digit),
 * -ERANGE (over @max). */
static inline int number_take(const char **at, uint64_t max, uint64_t *ret)
{
	const char *c = *at;
	uint64_t v = 0;

	if (*c < '0' || *c > '9')
		return -EINVAL;
	for (; *c >= '0' && *c <= '9'; c++) {
		unsigned digit = (unsigned)(*c - '0');

		if (v > (max - digit) / 10 || digit > max)
			return -ERANGE;
		v = v * 10 + digit;
	}
	*at = c;
	*ret = v;
	return 0;
}

/* The whole text is a number of at most @max. */
static inline int number_parse(const char *text, uint64_t max, uint64_t *ret)
{
	uint64_t v;
	int r = number_take(&text, max, &v);

	if (r < 0)
		return r;
	if (*text)
		return -EINVAL;
	*ret = v;
	return 0;
}
