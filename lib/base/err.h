/* base/err.h - one error convention
 *
 * An `int` function returns 0 or a negated errno value: never -1, never errno,
 * never a positive code. `*ret` is last and written only on success. A function
 * whose failure an operator will see takes a `struct err *` and puts a sentence
 * in it: what failed, where, and what to do. lib/ never logs, prints or exits.
 */
#pragma once

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

struct err {
	char text[512]; /* "" = nothing was said */
};

/**
 * err_set() - say what went wrong
 * @err: may be NULL: nobody wants to know
 * @r:   negated errno, returned unchanged so that `return err_set(...)` reads well
 */
__attribute__((format(printf, 3, 4))) static inline int err_set(struct err *err, int r,
								const char *fmt, ...)
{
	va_list ap;

	if (!err)
		return r;
	va_start(ap, fmt);
	vsnprintf(err->text, sizeof(err->text), fmt, ap);
	va_end(ap);
	return r;
}

/* What a call that failed left in errno, negated; never 0. */
static inline int err_errno(void)
{
	return errno > 0 ? -errno : -EIO;
}

/* "EEXIST" for -EEXIST; "E?" for a number that has no name. */
const char *err_symbol(int r);
