/* daemon/legs.c - legs of groups go down and come up with their ports
 *
 * The flows of a leg that is down go on by the others, and come back with it; those of the
 * others stay where they are (fib/buckets.h).
 */

#include <string.h>

#include "router.h"

bool leg_is_down(const struct router *r, const struct fib_nh *nh)
{
	const struct port *p = &r->port[nh->port];

	return nh->kind == FIB_NH_FORWARD && (p->lost || !p->link.up || !p->link.carrier);
}

static bool follow_group(void *arg, uint32_t index, const struct fib_nh *nh)
{
	struct router *r = arg;
	struct fib_leg leg[FIB_GROUP_LEGS];
	struct fib_group g;
	int ret;

	if (nh->kind != FIB_NH_GROUP)
		return true;
	fib_group_at(r->fib, index, &g);
	memcpy(leg, g.leg, g.n_legs * sizeof(leg[0]));
	g.leg = leg;
	for (uint32_t i = 0; i < g.n_legs; i++)
		leg[i].down = leg_is_down(r, fib_nh_at(r->fib, leg[i].nh));
	ret = fib_group_set(r->fib, index, &g);
	if (ret < 0)
		log_error("routes with several next hops: %s; flows over a port that is "
			  "down are dropped until its next change",
			  strerror(-ret));
	return true;
}

void legs_follow(struct router *r)
{
	fib_nh_each(r->fib, 1, follow_group, r);
}
