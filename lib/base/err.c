/* base/err.c - names of errno values */

#include "err.h"

#include <string.h>

const char *err_symbol(int r)
{
	/* strerrorname_np() is glibc's (2.32), not async-signal-safe, thread-safe. */
	const char *name = strerrorname_np(r < 0 ? -r : r);

	return name ? name : "E?";
}
