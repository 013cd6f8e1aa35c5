/* place/near.h - ordinary memory on a node, and where memory is
 *
 * For what is allocated in many places, such as all that a queue has: between begin and end,
 * pages that this thread is the first to touch come from the node, if it has any left. A page
 * that the heap touched before stays where it is.
 */
#pragma once

#include <stdbool.h>

enum { PLACE_NODES_MAX = 1024 };

struct place_near {
	bool changed;
	int mode; /* the thread's policy before */
	unsigned long nodes[PLACE_NODES_MAX / (8 * sizeof(unsigned long))];
};

/* @node: -1 = as before. A node that is not there, or a kernel without NUMA, changes nothing. */
void place_near_begin(int node, struct place_near *was);
void place_near_end(const struct place_near *was);

/* The node of the page at @p, which has been touched; -1 = not known. */
int place_near_node(const void *p);
