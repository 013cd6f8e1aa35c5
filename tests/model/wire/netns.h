/* wire/netns.h - a look into another network namespace
 *
 * Sockets and TAPs belong to the namespace in which their creator stood. Only
 * the calling thread moves, and it moves back at once.
 */
#pragma once

#include <stddef.h>

/**
 * netns_enter() - move the calling thread
 * @name: as `ip netns` knows it, or a path ("/proc/123/ns/net"); NULL or "" stays
 * @back: for netns_leave(); -1 when nothing has to be undone
 * Return: 0 or -errno with the reason in @why.
 */
int netns_enter(const char *name, int *back, char *why, size_t why_size);
/* The same with a descriptor of a namespace, which stays open. */
int netns_enter_fd(int ns, int *back);
void netns_leave(int back);
