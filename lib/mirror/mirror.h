/* mirror/mirror.h - what the kernel has: links and own addresses
 *
 * Routes, next hops and neighbours are not mirrored yet. The kernel's state is
 * dumped at start and followed by notifications; when some are lost (overrun) it is
 * dumped again, and what is gone is reported as removed. Every report is a
 * difference: nothing is said twice.
 *
 * Context: control thread.
 */
#pragma once

#include <net/if.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../base/err.h"

struct mirror;

struct mirror_link {
	int ifindex;
	char name[IF_NAMESIZE];
	uint8_t mac[6];
	uint32_t mtu;
	bool up; /* administratively */
	bool carrier;
};

struct mirror_ops {
	void *arg;
	void (*link)(void *arg, const struct mirror_link *link,
		     bool gone); /* new, changed, gone */
	/* An address of any interface: the host's own. Once, however many interfaces have it. */
	void (*addr)(void *arg, uint8_t family, const uint8_t addr[16], bool added);
};

/* Asks the kernel for everything; the operations are called before it returns. */
int mirror_open(const struct mirror_ops *ops, struct err *err, struct mirror **ret);
void mirror_close(struct mirror *m);
int mirror_fd(const struct mirror *m);
/* Reads what came, and asks again where something was lost, or could not be asked for before: call
 * it now and then even when nothing comes. Return: 0, or -errno of asking. */
int mirror_process(struct mirror *m);
uint64_t mirror_overruns(const struct mirror *m);

/* For tests: a mirror without a kernel, and one datagram of notifications for it, in memory of a
 * multiple of 4 bytes. */
int mirror_new(const struct mirror_ops *ops, struct mirror **ret);
void mirror_feed(struct mirror *m, const void *bytes, size_t n);

const struct mirror_link *mirror_link_by_name(const struct mirror *m, const char *name);
bool mirror_addr_has(const struct mirror *m, uint8_t family, const uint8_t addr[16]);
/* Each of the host's own addresses, once. */
void mirror_addr_each(const struct mirror *m,
		      void (*fn)(void *arg, uint8_t family, const uint8_t addr[16]),
		      void *arg);
