/* wire/link.h - what the kernel says about one network interface
 *
 * A route netlink socket bound to RTMGRP_LINK, in the namespace of the
 * interface: link_open() asks for the state once, later changes come by
 * themselves. Messages about other interfaces are skipped.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct link {
	int fd; /* readable when something may have changed; -1 = not open */
	int ifindex;
	bool present; /* false: removed, or moved to another namespace */
	bool up;      /* administratively */
	bool carrier; /* up and connected */
	uint32_t mtu;
	uint8_t mac[6];
	char name[16];
};

/* In the calling thread's namespace; the state is filled in on return. Return: 0 or -errno. */
int link_open(struct link *l, int ifindex);
void link_close(struct link *l);
/* Takes in what has arrived; does not block. Return: true when anything in *l is different. */
bool link_read(struct link *l);
