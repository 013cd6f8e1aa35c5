/* fib/prefix.h - an address prefix of either family, as text and as bytes */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fib_prefix {
	uint8_t family;	  /* 4 or 6 */
	uint8_t len;	  /* 0..32 or 0..128 */
	uint8_t addr[16]; /* network order; bits past len are zero */
};

#define FIB_PREFIX_TEXT 64 /* bytes, with the final NUL */

/**
 * fib_prefix_parse() - read "10.0.0.0/8", "10/8", "10.1.1.1", "default", "0/0", "::/0"
 * @def_family: what "default" means: 4 or 6
 * @why: on failure, why and what to write instead ("host bits set, did you mean 10.0.0.0/8?")
 *
 * Return: 0 or -EINVAL. Host bits that are set are refused, as `ip route` does.
 */
int fib_prefix_parse(const char *text, uint8_t def_family, struct fib_prefix *ret,
		     char *why, size_t why_size);
char *fib_prefix_text(const struct fib_prefix *p, char text[FIB_PREFIX_TEXT]);
/* Orders by family, then address, then length: the order of every listing. */
int fib_prefix_compare(const struct fib_prefix *a, const struct fib_prefix *b);
bool fib_prefix_covers(const struct fib_prefix *p, const uint8_t addr[16]);
