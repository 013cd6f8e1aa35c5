/* place/huge.c - large memory on a node */

#include "huge.h"

#include <numa.h>
#include <numaif.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../base/bits.h"

#define HUGE_PAGE ((size_t)2 << 20)
#define MAP_2MB (21 << MAP_HUGE_SHIFT)

/* The policy is set before the first touch, so that the pages come from there. A machine without
 * NUMA, or a node that is full, is no failure: far memory works too. */
static void prefer(void *p, size_t bytes, int node)
{
	if (node >= 0 && numa_available() >= 0 && node <= numa_max_node())
		numa_tonode_memory(p, bytes, node);
}

/* MAP_POPULATE would touch before prefer(). Return: false when the kernel has no page left, which
 * would otherwise show as SIGBUS at the first access. */
static bool populate(void *p, size_t bytes)
{
	return madvise(p, bytes, MADV_POPULATE_WRITE) == 0;
}

static void *map(size_t bytes, int node, int flags)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);

	if (p == MAP_FAILED)
		return NULL;
	prefer(p, bytes, node);
	if (populate(p, bytes))
		return p;
	munmap(p, bytes);
	return NULL;
}

void *place_huge_map(size_t bytes, int node, size_t *ret_page_bytes)
{
	size_t small = (size_t)sysconf(_SC_PAGESIZE);
	void *p = NULL;

	*ret_page_bytes = HUGE_PAGE;
	if (bytes > HUGE_PAGE / 2)
		p = map(align_up(bytes, HUGE_PAGE), node, MAP_HUGETLB | MAP_2MB);
	if (p)
		return p;
	*ret_page_bytes = small;
	return map(align_up(bytes, small), node, 0);
}

void place_huge_unmap(void *p, size_t bytes, size_t page_bytes)
{
	if (p)
		munmap(p, align_up(bytes, page_bytes));
}
