/* bench/fib/peer.h - one structure that answers lookups, ours or somebody else's */
#pragma once

#include <stdbool.h>

#include "table.h"

enum { PEER_BATCH_MAX = 256, PEER_MAX = 16 };

struct peer {
	char name[32];
	void *ctx;
	void (*use)(const struct peer *p); /* before a run of lookups; may be NULL */
	/* @nh: room for PEER_BATCH_MAX results as the structure gives them, 8 bytes each */
	void (*lookup)(void *ctx, const void *addr, void *nh, unsigned n);
	uint32_t (*answer)(const void *nh, unsigned i); /* 0 = no route */
	/* A route is new, or has another next hop; and is gone. NULL: cannot be changed here. */
	int (*set)(void *ctx, const struct bench_route *r);
	int (*del)(void *ctx, const struct bench_route *r);
	int variant;
	bool rival;	     /* what our targets are measured by */
	bool ours;	     /* what a user of ours gets on this machine */
	bool other;	     /* the same with other instructions */
	uint32_t refused;    /* routes that it did not take */
	double mib, build_s; /* all memory; 0 = the same structure as the peer before */
};

/* DPDK's, by family. */
struct peers {
	unsigned (*open)(const struct bench_table *t, struct peer peer[]); /* how many */
	void (*close)(void);
};
extern const struct peers peers4, peers6;

static inline const struct peers *peers_of(uint8_t family)
{
	return family == 4 ? &peers4 : &peers6;
}

/* Ours: every layout and level of instructions that this machine has. */
struct ours {
	struct fib *fib[2]; /* by enum fib4_layout */
};
unsigned ours_open(struct ours *ours, const struct bench_table *t, struct peer peer[]);
void ours_close(struct ours *ours);
/* Next hops 1 .. n, with one reference each that no route holds. */
void ours_add_nexthops(struct fib *fib, uint32_t n);
/* Return: 0, or what refused a route or the commit. */
int ours_add_routes(struct fib *fib, const struct bench_table *t);
/* As it is published now. */
void ours_as_peer(struct peer *p, const struct fib *fib, uint8_t family);
