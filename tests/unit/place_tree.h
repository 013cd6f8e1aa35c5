/* unit/place_tree.h - a made-up sysfs, in files
 *
 * Numbered as Linux does it: one thread of every core first, socket by socket, then the others.
 */
#pragma once

#include "../test.h"

#include "../../lib/place/topo.h"

struct tree {
	int sockets, complexes, cores, threads; /* each of the one before */
};

void tree_make(const struct tree *t); /* a node and a package a socket, an L3 a complex */
void tree_unmake(void);
/* One file, below devices/system/. */
void tree_write(const char *path, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
void tree_remove(const char *path); /* a file, or a folder with all in it */

/* Lists to sets; fails the test when they are none. */
cpu_set_t set_of(const char *list);
/* The tree, read for a process that may use @cpuset (NULL = all that is online) and was started
 * on @start (NULL = all of @cpuset). */
void tree_read(const char *cpuset, const char *start, struct place_topo *ret);
