/* fib/lookup_hot.h - what workers call
 *
 * HOT. A burst of addresses in, a burst of next hop indexes out; 0 = no route.
 * Valid within one turn of the caller's loop (base/rcu.h).
 */
#pragma once

#include <stdint.h>

#include "fib.h"

struct fib_tables {
	const struct fib_nh *nh; /* by index */
	const void *v4, *v6;
	uint64_t flow_seed; /* for pkt_flow_hash() */
	bool has_groups;    /* an index may be that of a group: fib_nh_leg() */
	void (*lookup4)(const void *v4, const uint32_t *addr, uint32_t *nh, uint32_t n);
	void (*lookup6)(const void *v6, const uint8_t (*addr)[16], uint32_t *nh,
			uint32_t n);
};

/* @addr in host order. */
static inline void fib_lookup4(const struct fib_tables *t, const uint32_t *addr,
			       uint32_t *nh, uint32_t n)
{
	t->lookup4(t->v4, addr, nh, n);
}

/* @addr as in the packet. */
static inline void fib_lookup6(const struct fib_tables *t, const uint8_t (*addr)[16],
			       uint32_t *nh, uint32_t n)
{
	t->lookup6(t->v6, addr, nh, n);
}
