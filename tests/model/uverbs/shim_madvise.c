/* uverbs/shim_madvise.c - private pages promise what a memfd does not
 *
 * MADV_DONTNEED must leave zeroes: a hole is punched where the range is a moved one.
 * MADV_FREE may leave what is there, but the kernel refuses it on a memfd.
 *
 * Not looked at: process_madvise(), which takes these only from Linux 6.13 on and only for
 * the caller itself, and libc's own calls (free() gives pages back so), which do not rely
 * on zeroes.
 */
#include "shim.h"

#include <errno.h>
#include <linux/falloc.h>
#include <sys/mman.h>

#ifndef MADV_DONTNEED_LOCKED
#define MADV_DONTNEED_LOCKED 24 /* Linux 5.18 */
#endif

static bool zero_mapping(const struct shim_vma *v, uint64_t start, uint64_t end)
{
	const struct shim_range *r = shim_mem_of(v);

	if (!r || !shim_file_is(r->fd, r->dev_major, r->dev_minor, r->inode))
		return false;
	start = start > v->start ? start : v->start;
	end = end < v->end ? end : v->end;
	SYS(SYS_fallocate, r->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
	    v->offset + (start - v->start), end - start);
	return true;
}

/* Return: was any of it a moved range? */
static bool zero_range(uint64_t start, uint64_t end, bool zero)
{
	struct shim_maps maps;
	struct shim_vma v;
	bool any = false;
	sigset_t old;

	shim_mem_lock(&old);
	if (!shim_maps_open(&maps)) {
		for (uint64_t at = start;
		     at < end && !shim_maps_next(&maps, at, &v) && v.start < end;
		     at = v.end)
			any |= zero ? zero_mapping(&v, start, end)
				    : shim_mem_of(&v) != NULL;
		shim_maps_close(&maps);
	}
	shim_mem_unlock(&old);
	return any;
}

int madvise(void *addr, size_t len, int advice)
{
	int ret = SHIM_REAL(madvise)(addr, len, advice);
	uint64_t start = (uintptr_t)addr;

	if (!__atomic_load_n(&shim_ranges.n, __ATOMIC_RELAXED))
		return ret;
	if (!ret && (advice == MADV_DONTNEED || advice == MADV_DONTNEED_LOCKED))
		zero_range(start, start + len, true);
	if (ret && errno == EINVAL && advice == MADV_FREE &&
	    zero_range(start, start + len, false))
		ret = 0;
	return ret;
}
