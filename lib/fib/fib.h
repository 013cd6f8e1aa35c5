/* fib/fib.h - forwarding tables: routes in, next hop indexes out
 *
 * The control thread changes a copy-free routing information base (every origin's
 * routes) and commits; workers look up in the published tables (lookup_hot.h).
 *
 *   fib_route_add .. fib_route_del    staged
 *   fib_commit                        visible to every worker's next burst; old memory
 *                                     goes back after a grace period (base/rcu.h)
 *
 * A commit that does not fit (memory, table full) changes nothing and returns -ENOSPC
 * or -ENOMEM; the staged changes are given up too. Nor may a route around the prefix win
 * then: the caller installs it as kernel egress. One next hop of kind KERNEL has an index
 * and memory whatever is full. Where a table has no piece left for a long prefix, one of the
 * length that its words have (24 bits in DIR-24-8, 21 in RUN21, 32 in RL6) needs none, unless
 * longer routes are inside.
 *
 * Context: control thread, unless said otherwise.
 */
#pragma once

#include "nexthop.h"
#include "prefix.h"

struct fib;
struct fib_tables; /* what workers read; lookup_hot.h */

enum fib_origin { FIB_STATIC, FIB_KERNEL, FIB_ORIGIN_COUNT }; /* in order of preference */
const char *fib_origin_name(enum fib_origin origin);	      /* "static" */

/* Instructions that lookups use; the results are the same. */
enum fib_simd {
	FIB_SIMD_BEST,
	FIB_SIMD_SCALAR,
	FIB_SIMD_AVX2,
	FIB_SIMD_AVX512,
	FIB_SIMD_COUNT
};
const char *fib_simd_name(enum fib_simd simd); /* "avx512" */

/* FIB4_RUN21: 9 MiB for a full Internet table. FIB4_DIR24: 32 MiB, less work a lookup, for
 * machines with that much cache to themselves; at most 32767 next hops and 32768 /24s with
 * longer routes. */
enum fib4_layout { FIB4_RUN21, FIB4_DIR24 };

struct fib_conf {
	uint32_t max_nexthops;	  /* 0 = 65536; groups included */
	uint32_t max_groups;	  /* 0 = 4096 */
	uint64_t max_group_bytes; /* 0 = 16 MiB: buckets and legs of all groups */
	uint64_t flow_seed; /* of the number that tells flows apart; routers in a row differ */
	enum fib4_layout layout4;
	enum fib_simd simd;
};

struct fib_route {
	struct fib_prefix prefix;
	enum fib_origin origin;
	uint32_t nh; /* index */
	uint32_t metric;
	bool active; /* this one is in the tables; a less preferred origin is not */
};

/* What a commit did, and why a change could not be made. */
enum fib_operation { FIB_ADDED, FIB_REPLACED, FIB_DELETED, FIB_OPERATION_COUNT };
enum fib_refusal { FIB_REFUSED_FULL, FIB_REFUSED_MEMORY, FIB_REFUSAL_COUNT };
const char *fib_operation_name(enum fib_operation operation); /* "add" */
const char *fib_refusal_name(enum fib_refusal refusal);	      /* "full" */
enum { FIB_LENGTHS = 33 + 129 }; /* of IPv4 prefixes, then of IPv6 ones */

struct fib_sizes {			      /* readable without a walk */
	uint32_t routes[2][FIB_ORIGIN_COUNT]; /* by family: [0] IPv4, [1] IPv6 */
	uint32_t nexthops, max_nexthops;      /* in use, groups included */
	uint32_t groups,
		max_groups; /* those included that wait for a grace period, ... */
	uint64_t group_bytes, max_group_bytes; /* ... and their memory */
	uint64_t lookup_bytes[2], rib_bytes;
	uint64_t commits, updates[2][FIB_OPERATION_COUNT];
	uint64_t refused[2][FIB_REFUSAL_COUNT];
	uint32_t lengths[FIB_LENGTHS]; /* routes of each */
};

int fib_new(const struct fib_conf *conf, struct fib **ret);
void fib_free(struct fib *fib); /* no worker may read any more */

/**
 * fib_nh_get() - a next hop like this one, shared if it is there already
 * @nh:  all fields count; no group
 * @ret: its index, with one reference
 * Return: 0, -EINVAL (a group), -ENOSPC (max_nexthops), -ENOMEM.
 */
int fib_nh_get(struct fib *fib, const struct fib_nh *nh, uint32_t *ret);
void fib_nh_ref(struct fib *fib, uint32_t index);
void fib_nh_put(struct fib *fib, uint32_t index); /* reused only after a grace period */
const struct fib_nh *fib_nh_at(const struct fib *fib, uint32_t index);
/* Every next hop in use from that index on, in ascending order; stops when @fn returns false. */
void fib_nh_each(const struct fib *fib, uint32_t from,
		 bool (*fn)(void *arg, uint32_t index, const struct fib_nh *nh),
		 void *arg);
/* Changes a next hop under every route that uses it (MAC or port changed), at once: no packet
 * leaves with half of the change. Waits for a grace period. Return: 0, -ENOENT (not in use),
 * -EINVAL (is or would be a group). */
int fib_nh_set(struct fib *fib, uint32_t index, const struct fib_nh *nh);
/* The same for all next hops, but groups, for which @fn changes *nh and returns true: one wait,
 * one switch. */
void fib_nh_change(struct fib *fib,
		   bool (*fn)(void *arg, uint32_t index, struct fib_nh *nh), void *arg);

/* ---- groups ---- */

enum {
	FIB_GROUP_LEGS = 256,
	FIB_GROUP_BUCKETS = 65536,
	FIB_WEIGHT_MAX = 65536,
};

struct fib_leg {
	uint32_t nh;	 /* index of a next hop that is no group */
	uint32_t weight; /* 0 = no flow goes there */
	bool down;	 /* nor does one while the leg is down; it is the same group */
};

struct fib_group {
	const struct fib_leg *leg;
	uint32_t n_legs;
	uint32_t buckets;   /* at least so many; 0 = as the weights ask for */
	uint32_t n_buckets; /* there are; said by fib_group_at() */
};

/**
 * fib_group_get() - a next hop that is one of several, shared if there is such a group
 * @g:   legs in any order; a next hop that is named twice has the weight of both
 * @ret: its index, with one reference; used and put like that of any next hop
 *
 * A flow goes to one leg, legs have flows by their weights: fib/buckets.h says how exactly, and
 * that no leg with a weight goes without. When no leg is left, there is no route: the kernel
 * answers. If there is such a group already, its legs stay up or down as they are. The group
 * holds its own references on the legs.
 *
 * Return: 0, -EINVAL (no legs, a leg that is not in use or a group, a weight over the
 * limit), -ENOSPC (a limit of this file or of struct fib_conf), -ENOMEM; then nothing has changed.
 */
int fib_group_get(struct fib *fib, const struct fib_group *g, uint32_t *ret);
/* Changes a group under every route that uses it, at once. Moves the fewest flows: those of a leg
 * that goes, or those that a leg comes to. Return: as above; -ENOENT (no group in use). */
int fib_group_set(struct fib *fib, uint32_t index, const struct fib_group *g);
/* Legs by ascending index; valid until the next change. */
void fib_group_at(const struct fib *fib, uint32_t index, struct fib_group *ret);

/* ---- routes ---- */

/* -EEXIST if that origin has the prefix; the reference on @nh passes to the route on success. */
int fib_route_add(struct fib *fib, const struct fib_prefix *p, enum fib_origin origin,
		  uint32_t nh, uint32_t metric);
/* Adds or replaces. */
int fib_route_replace(struct fib *fib, const struct fib_prefix *p, enum fib_origin origin,
		      uint32_t nh, uint32_t metric);
int fib_route_del(struct fib *fib, const struct fib_prefix *p,
		  enum fib_origin origin); /* -ESRCH */
int fib_commit(struct fib *fib);
size_t fib_staged(const struct fib *fib); /* changes */
void fib_abort(struct fib *fib);	  /* gives up what is staged */
/* What fib_commit() would return; gives up what is staged. */
int fib_try(struct fib *fib);
/* Gives memory and next hops back that only wait for a grace period. Commits do it now and then;
 * call it when nothing else is to be done. Waits. */
void fib_reclaim(struct fib *fib);

/* Exactly this prefix and origin, staged changes included; false if absent. */
bool fib_route_get(const struct fib *fib, const struct fib_prefix *p,
		   enum fib_origin origin, struct fib_route *ret);
/* The route that forwards this address. */
bool fib_route_match(const struct fib *fib, uint8_t family, const uint8_t addr[16],
		     struct fib_route *ret);
/* In the order of fib_prefix_compare(), then origin. Starts after @after (NULL = first), so that
 * a long listing can be cut into pieces. Stops when @fn returns false. */
void fib_route_walk(const struct fib *fib, const struct fib_route *after,
		    bool (*fn)(void *arg, const struct fib_route *route), void *arg);
void fib_sizes(const struct fib *fib, struct fib_sizes *ret);
/* A change of a route of @family, 4 or 6, was given up before a commit, by @r: counted if it was
 * for want of room or memory. A commit that fails counts itself. */
void fib_refused(struct fib *fib, uint8_t family, int r);

/* The pointer that workers follow: rcu_read(*fib_live(fib)). Stable for the fib's life. */
struct fib_tables *const *fib_live(const struct fib *fib);
