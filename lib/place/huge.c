/* place/huge.c - large memory on a node */

#include "huge.h"

#include <errno.h>
#include <limits.h>
#include <numaif.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../base/bits.h"

#define MAP_2MB (21 << MAP_HUGE_SHIFT)

enum { NODES_MAX = 1024, LONG_BITS = CHAR_BIT * (int)sizeof(unsigned long) };

/* Set before the first touch, so that the pages come from there. A preference, as far memory works
 * too: a machine without NUMA, or a node that is full or not there, is no failure. Not by
 * numa_tonode_memory(), which binds strictly and prints when it cannot. */
static void prefer(void *p, size_t bytes, int node)
{
	unsigned long mask[NODES_MAX / LONG_BITS] = { 0 };

	if (node < 0 || node >= NODES_MAX)
		return;
	mask[node / LONG_BITS] = 1ul << node % LONG_BITS;
	/* mbind(2) takes the number of bits, plus one for historical reasons. */
	mbind(p, bytes, MPOL_PREFERRED, mask, NODES_MAX + 1, 0);
}

/* What MADV_POPULATE_WRITE does, for kernels before 5.14. */
static void touch(uint8_t *p, size_t bytes, size_t page_bytes)
{
	for (size_t at = 0; at < bytes; at += page_bytes)
		*(volatile uint8_t *)(p + at) = 0;
}

/* MAP_POPULATE would touch before prefer(). Return: false when the kernel has no page left, which
 * would otherwise show as SIGBUS at the first access. */
static bool populate(void *p, size_t bytes, size_t page_bytes)
{
	if (madvise(p, bytes, MADV_POPULATE_WRITE) == 0)
		return true;
	if (errno != EINVAL)
		return false;
	touch(p, bytes, page_bytes);
	return true;
}

static void *map(size_t bytes, int node, size_t page_bytes, int flags)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);

	if (p == MAP_FAILED)
		return NULL;
	prefer(p, bytes, node);
	if (populate(p, bytes, page_bytes))
		return p;
	munmap(p, bytes);
	return NULL;
}

void *place_huge_map(size_t bytes, int node, size_t *ret_page_bytes)
{
	size_t small = (size_t)sysconf(_SC_PAGESIZE);
	void *p = NULL;

	if (bytes >= PLACE_HUGE_MIN_BYTES)
		p = map(align_up(bytes, PLACE_HUGE_PAGE_BYTES), node,
			PLACE_HUGE_PAGE_BYTES, MAP_HUGETLB | MAP_2MB);
	*ret_page_bytes = p ? PLACE_HUGE_PAGE_BYTES : small;
	return p ? p : map(align_up(bytes, small), node, small, 0);
}

void place_huge_unmap(void *p, size_t bytes, size_t page_bytes)
{
	if (p)
		munmap(p, align_up(bytes, page_bytes));
}
