/* place/huge.h - large memory on a node
 *
 * Huge pages when the machine has them free, small pages else: without them every
 * packet costs a TLB miss or two, so the caller should say so once. What would fill
 * less than half a huge page lies in small ones anyway.
 */
#pragma once

#include <stddef.h>

/**
 * place_huge_map() - zeroed memory, in place at once (no page is left to fault in)
 * @bytes: rounded up to whole pages
 * @node:  NUMA node, -1 = wherever the kernel puts it
 * @ret_page_bytes: what the mapping is made of: 2 MiB, or the small page
 *
 * Return: the mapping, NULL when there is no memory. Context: control thread, sleeps.
 */
void *place_huge_map(size_t bytes, int node, size_t *ret_page_bytes);
void place_huge_unmap(void *p, size_t bytes, size_t page_bytes);
