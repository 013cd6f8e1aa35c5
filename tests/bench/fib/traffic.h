/* bench/fib/traffic.h - destinations to look up, in the order in which packets bring them
 *
 *   uniform    every routed address alike (IPv6: every address down to /48)
 *   by-prefix  a random route, a random host in it
 *   zipf       a million of those, the k-th as often as 1/k
 *   hot        sixteen of those, in turn
 */
#pragma once

#include "table.h"

enum traffic_kind {
	TRAFFIC_UNIFORM,
	TRAFFIC_BY_PREFIX,
	TRAFFIC_ZIPF,
	TRAFFIC_HOT,
	TRAFFIC_COUNT
};

struct traffic {
	uint8_t family;
	uint32_t n;		   /* addresses of each kind */
	void *addr[TRAFFIC_COUNT]; /* uint32_t in host order, or uint8_t[16] */
};

const char *traffic_name(enum traffic_kind kind);
void traffic_make(struct traffic *t, const struct bench_table *table,
		  const struct bench_ref *ref, uint32_t n);
void traffic_free(struct traffic *t);

static inline size_t traffic_size(const struct traffic *t) /* bytes of an address */
{
	return t->family == 4 ? sizeof(uint32_t) : 16;
}

static inline const void *traffic_at(const struct traffic *t, enum traffic_kind kind,
				     uint32_t i)
{
	return (const uint8_t *)t->addr[kind] + i * traffic_size(t);
}

static inline struct bench_key traffic_key(const struct traffic *t,
					   enum traffic_kind kind, uint32_t i)
{
	const void *addr = traffic_at(t, kind, i);

	return t->family == 4 ? bench_key4(*(const uint32_t *)addr) : bench_key6(addr);
}
