/* ctl/saved.h - a route as the command that makes it
 *
 *   route add 10.0.0.0/8 nexthop 02:00:00:00:0a:02 dev eth0 weight 1 nexthop ... metric 5
 *
 * What `mlx5fwdctl route save` prints, and what the daemon keeps over a restart. A line is made by
 * saved_begin(), then saved_type() or its hops, then saved_end().
 */
#pragma once

#include <stdint.h>

#include "proto.h"

struct saved {
	char line[CTL_LINE_MAX]; /* without its end */
	int r;			 /* 0, or -E2BIG or -EINVAL: no such line can be said */
};

struct saved_hop {
	const char *mac, *dev;
	unsigned vlan;	 /* 0 = none */
	unsigned weight; /* of a leg; 0: the only hop there is */
};

void saved_begin(struct saved *s, const char *dst);
void saved_type(struct saved *s, const char *type); /* "blackhole" */
void saved_hop(struct saved *s, const struct saved_hop *h);
void saved_end(struct saved *s, uint32_t metric);
