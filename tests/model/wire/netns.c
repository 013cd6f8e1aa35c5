/* wire/netns.c - see netns.h */
#define _GNU_SOURCE 1
#include "netns.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Where iproute2 keeps the names; source: ip-netns(8). */
#define NETNS_DIR "/var/run/netns"

int netns_enter_fd(int ns, int *back)
{
	int self = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
	int r;

	if (self < 0)
		return -errno;
	if (setns(ns, CLONE_NEWNET) < 0) {
		r = -errno;
		close(self);
		return r;
	}
	*back = self;
	return 0;
}

int netns_enter(const char *name, int *back, char *why, size_t why_size)
{
	char path[256];
	int ns, r;

	*back = -1;
	if (!name || !*name)
		return 0;
	if (strchr(name, '/'))
		snprintf(path, sizeof(path), "%s", name);
	else
		snprintf(path, sizeof(path), NETNS_DIR "/%s", name);
	ns = open(path, O_RDONLY | O_CLOEXEC);
	r = ns < 0 ? -errno : netns_enter_fd(ns, back);
	if (r < 0)
		snprintf(why, why_size,
			 "network namespace %s: %s; make it with: ip netns add %s", name,
			 strerror(-r), name);
	if (ns >= 0)
		close(ns);
	return r;
}

/* A thread left in the wrong namespace would make every later socket there. */
void netns_leave(int back)
{
	if (back < 0)
		return;
	if (setns(back, CLONE_NEWNET) < 0) {
		perror("cxmodel: cannot return to the own network namespace");
		abort();
	}
	close(back);
}
