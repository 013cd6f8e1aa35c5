/* daemon/show.h - rows and sums that several requests show
 *
 * Context: control thread.
 */
#pragma once

#include "../lib/ctl/row.h"
#include "../lib/fib/fib.h"
#include "../lib/fwd/worker.h"

struct port;
struct router;

/* A leg of a group. */
struct shown_leg {
	const struct fib_nh *nh;
	const struct fib_leg *leg;
};
/* By port and address, so that the order tells nothing of the past. Valid until the next change. */
uint32_t legs_in_order(const struct router *r, uint32_t index,
		       struct shown_leg ret[FIB_GROUP_LEGS]);

struct row *route_row(const struct router *r, const struct fib_route *route);
/* What a route has behind its prefix. */
void route_set(struct row *row, const struct router *r, const struct fib_route *route);
/* Of a next hop that forwards: addresses, port, MTU, linkdown. */
void nexthop_set(struct row *row, const struct router *r, const struct fib_nh *nh);
/* Of all workers. */
struct fwd_port_count port_sum(const struct router *r, unsigned port);
/* Name and state of its link. */
struct row *port_state_row(const struct port *p);
