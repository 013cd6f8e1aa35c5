/* bench/fib/peer6.c - IPv6 tables of DPDK
 *
 * rte_fib6 in 2 and 4 bytes a next hop, each with scalar and with vector lookups, and
 * rte_lpm6. Two bytes leave 15 bits to number second-level tables: too few for a full
 * Internet table.
 */

#include <rte_errno.h>
#include <rte_fib6.h>
#include <rte_lpm6.h>
#include <stdio.h>
#include <stdlib.h>

#include "../../../lib/base/hot.h"
#include "clock.h"
#include "eal.h"
#include "peer.h"

enum { TBL8_2B_MAX = 32767, TBL8_EACH = 2 /* lower tables a route */, TBL8_MORE = 8192 };

static struct rte_fib6 *fib[2];
static struct rte_lpm6 *lpm;

/* DPDK's arguments lack a const. */
static uint8_t *addr_of(const struct bench_route *r)
{
	return (uint8_t *)(uintptr_t)r->prefix.addr;
}

/* ---- rte_fib6 ---- */

static void fib_use(const struct peer *p)
{
	if (rte_fib6_select_lookup(p->ctx, (enum rte_fib6_lookup_type)p->variant) < 0) {
		fprintf(stderr, "%s: not on this machine\n", p->name);
		exit(2);
	}
}

static void fib_lookup(void *ctx, const void *addr, void *nh, unsigned n)
{
	rte_fib6_lookup_bulk(ctx, (uint8_t(*)[16])(uintptr_t)addr, nh, (int)n);
}

static uint32_t fib_answer(const void *nh, unsigned i)
{
	return (uint32_t)((const uint64_t *)nh)[i];
}

static int fib_set(void *ctx, const struct bench_route *r)
{
	return rte_fib6_add(ctx, addr_of(r), r->prefix.len, r->nh);
}

static int fib_del(void *ctx, const struct bench_route *r)
{
	return rte_fib6_delete(ctx, addr_of(r), r->prefix.len);
}

static struct rte_fib6 *fib_build(const struct bench_table *t, bool wide, struct peer *p)
{
	struct rte_fib6_conf conf = {
		.type = RTE_FIB6_TRIE,
		.max_routes = (int)t->n + 65536,
		.trie = { .nh_sz = wide ? RTE_FIB6_TRIE_4B : RTE_FIB6_TRIE_2B },
	};
	double before = eal_heap_mib();
	uint64_t start = clock_own_ns();
	struct rte_fib6 *f;

	conf.trie.num_tbl8 = wide ? t->n * TBL8_EACH + TBL8_MORE : TBL8_2B_MAX;
	f = rte_fib6_create(wide ? "bench 4B" : "bench 2B", 0, &conf);
	if (!f) {
		fprintf(stderr, "rte_fib6_create: %s\n", rte_strerror(rte_errno));
		exit(2);
	}
	for (uint32_t i = 0; i < t->n; i++)
		p->refused += fib_set(f, &t->route[i]) != 0;
	p->build_s = clock_own_s(start);
	p->mib = eal_heap_mib() - before;
	return f;
}

static unsigned fib_open(const struct bench_table *t, bool wide, struct peer peer[])
{
	static const struct {
		const char *name;
		enum rte_fib6_lookup_type type;
	} kinds[] = {
		{ "avx512", RTE_FIB6_LOOKUP_TRIE_VECTOR_AVX512 },
		{ "scalar", RTE_FIB6_LOOKUP_TRIE_SCALAR },
	};
	struct peer first = {
		.lookup = fib_lookup,
		.answer = fib_answer,
		.use = fib_use,
		.set = fib_set,
		.del = fib_del,
	};
	unsigned n = 0;

	first.ctx = fib[wide] = fib_build(t, wide, &first);
	first.rival = first.refused == 0;
	for (unsigned i = 0; i < ARRAY_LEN(kinds); i++) {
		if (rte_fib6_select_lookup(fib[wide], kinds[i].type) < 0)
			continue;
		peer[n] = first;
		peer[n].variant = (int)kinds[i].type;
		snprintf(peer[n].name, sizeof(peer[n].name), "rte_fib6 %s %s",
			 wide ? "4B" : "2B", kinds[i].name);
		first.mib = first.build_s = 0;
		n++;
	}
	return n;
}

/* ---- rte_lpm6 ---- */

static void lpm_lookup(void *ctx, const void *addr, void *nh, unsigned n)
{
	rte_lpm6_lookup_bulk_func(ctx, (uint8_t(*)[16])(uintptr_t)addr, nh, n);
}

static uint32_t lpm_answer(const void *nh, unsigned i)
{
	int32_t value = ((const int32_t *)nh)[i];

	return value < 0 ? 0 : (uint32_t)value;
}

static int lpm_set(void *ctx, const struct bench_route *r)
{
	return rte_lpm6_add(ctx, addr_of(r), r->prefix.len, r->nh);
}

static int lpm_del(void *ctx, const struct bench_route *r)
{
	return rte_lpm6_delete(ctx, addr_of(r), r->prefix.len);
}

static unsigned lpm_open(const struct bench_table *t, struct peer peer[])
{
	struct rte_lpm6_config conf = {
		.max_rules = t->n + 1024,
		.number_tbl8s = t->n * TBL8_EACH + TBL8_MORE,
	};
	double before = eal_heap_mib();
	uint64_t start = clock_own_ns();

	lpm = rte_lpm6_create("bench", 0, &conf);
	if (!lpm) {
		fprintf(stderr, "rte_lpm6_create: %s\n", rte_strerror(rte_errno));
		exit(2);
	}
	*peer = (struct peer){
		.name = "rte_lpm6 bulk",
		.ctx = lpm,
		.lookup = lpm_lookup,
		.answer = lpm_answer,
		.set = lpm_set,
		.del = lpm_del,
	};
	for (uint32_t i = 0; i < t->n; i++)
		peer->refused += lpm_set(lpm, &t->route[i]) != 0;
	peer->build_s = clock_own_s(start);
	peer->mib = eal_heap_mib() - before;
	return 1;
}

static unsigned open_all(const struct bench_table *t, struct peer peer[])
{
	unsigned n = fib_open(t, false, peer);

	n += fib_open(t, true, peer + n);
	return n + lpm_open(t, peer + n);
}

static void close_all(void)
{
	rte_fib6_free(fib[0]);
	rte_fib6_free(fib[1]);
	rte_lpm6_free(lpm);
	fib[0] = fib[1] = NULL;
	lpm = NULL;
}

const struct peers peers6 = { open_all, close_all };
