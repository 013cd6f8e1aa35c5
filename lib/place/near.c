/* place/near.c - memory policy of the calling thread; set_mempolicy(2), get_mempolicy(2) */

#include "near.h"

#include <limits.h>
#include <numaif.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

void place_near_begin(int node, struct place_near *was)
{
	enum { LONG_BITS = CHAR_BIT * (int)sizeof(unsigned long) };
	unsigned long mask[PLACE_NODES_MAX / LONG_BITS] = { 0 };

	memset(was, 0, sizeof(*was));
	if (node < 0 || node >= PLACE_NODES_MAX ||
	    get_mempolicy(&was->mode, was->nodes, PLACE_NODES_MAX, NULL, 0) < 0)
		return;
	mask[node / LONG_BITS] = 1ul << node % LONG_BITS;
	/* The number of bits, plus one for historical reasons. Not by numa_set_preferred(), which
	 * prints when it cannot. */
	was->changed = set_mempolicy(MPOL_PREFERRED, mask, PLACE_NODES_MAX + 1) == 0;
}

void place_near_end(const struct place_near *was)
{
	if (was->changed)
		set_mempolicy(was->mode, was->nodes, PLACE_NODES_MAX + 1);
}

int place_near_node(const void *p)
{
	int node = -1;

	if (get_mempolicy(&node, NULL, 0, (void *)(uintptr_t)p,
			  MPOL_F_NODE | MPOL_F_ADDR) < 0)
		return -1;
	return node;
}
