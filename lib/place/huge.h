/* place/huge.h - large memory on a node
 *
 * Huge pages when the machine has them free, small pages else: without them every
 * packet costs a TLB miss or two, so the caller should say so once. What would not fill
 * half a huge page lies in small ones anyway.
 */
#pragma once

#include <stddef.h>

#define PLACE_HUGE_PAGE_BYTES ((size_t)2 << 20)
#define PLACE_HUGE_MIN_BYTES \
	(PLACE_HUGE_PAGE_BYTES / 2) /* from here on huge pages are asked for */

/**
 * place_huge_map() - zeroed memory, in place at once (no page is left to fault in)
 * @bytes: rounded up to whole pages
 * @node:  NUMA node, -1 = wherever the kernel puts it
 * @ret_page_bytes: what the mapping is made of: PLACE_HUGE_PAGE_BYTES, or the small page
 *
 * Return: the mapping, NULL when there is no memory. Context: control thread, sleeps.
 */
void *place_huge_map(size_t bytes, int node, size_t *ret_page_bytes);
void place_huge_unmap(void *p, size_t bytes, size_t page_bytes);
