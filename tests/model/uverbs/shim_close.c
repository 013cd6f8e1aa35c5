/* uverbs/shim_close.c - a program that closes everything does not close our memfds
 *
 * The library keeps one descriptor per moved range (shim_mem.c), close-on-exec and out of
 * the way of small numbers. closefrom(), close_range() and loops over close() go round them.
 */
#include "shim.h"

#include <errno.h>
#include <linux/close_range.h>
#include <stdlib.h>
#include <unistd.h>

static bool may_be_ours(int last)
{
	return __atomic_load_n(&shim_ranges.n, __ATOMIC_ACQUIRE) &&
	       last >= __atomic_load_n(&shim_ranges.lowest_fd, __ATOMIC_RELAXED);
}

int close(int fd)
{
	if (may_be_ours(fd) && shim_mem_fd(fd, fd) == fd) {
		errno = EBADF;
		return -1;
	}
	return SHIM_REAL(close)(fd);
}

int close_range(unsigned first, unsigned last, int flags)
{
	int max = last > INT_MAX ? INT_MAX : (int)last, ours;

	/* Ours are close-on-exec already. */
	if (flags & CLOSE_RANGE_CLOEXEC || !may_be_ours(max))
		return SHIM_REAL(close_range)(first, last, flags);
	while (first <= (unsigned)max) {
		ours = shim_mem_fd((int)first, max);
		if (ours < 0)
			return SHIM_REAL(close_range)(first, last, flags);
		if ((unsigned)ours > first &&
		    SHIM_REAL(close_range)(first, (unsigned)ours - 1, flags))
			return -1;
		first = (unsigned)ours + 1;
	}
	return 0;
}

void closefrom(int low)
{
	if (!may_be_ours(INT_MAX) || close_range(low > 0 ? (unsigned)low : 0, ~0U, 0))
		SHIM_REAL(closefrom)(low);
}
