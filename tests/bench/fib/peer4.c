/* bench/fib/peer4.c - IPv4 tables of DPDK
 *
 * rte_fib in 2 and 4 bytes a next hop, each with scalar and with vector lookups, and
 * rte_lpm with its three lookup calls. Compiled for this very machine: some of it is
 * inline code of DPDK's headers.
 *
 * rte_lpm_add() looks at every rule of the same length: minutes for a full table. So
 * routes up to /24 are written to its first array directly, which is part of its
 * interface (rte_lpm.h), in ascending order of length; what the lookups read is the same.
 */

#include <rte_errno.h>
#include <rte_fib.h>
#include <rte_lpm.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../../lib/base/hot.h"
#include "clock.h"
#include "eal.h"
#include "peer.h"

/* rte_lpm_add() of longer routes, or nothing. */
enum { LPM_LONG_MAX = 20000, TBL8_2B_MAX = 32767, TBL8_4B_MORE = 65536 };

static struct rte_fib *fib[2];
static struct rte_lpm *lpm;

static uint32_t addr_of(const struct bench_route *r)
{
	return (uint32_t)(bench_key6(r->prefix.addr).hi >> 32);
}

/* /24s with longer routes inside. */
static uint32_t count_split(const struct bench_table *t)
{
	uint32_t n = 0, last = UINT32_MAX;

	for (uint32_t i = 0; i < t->n; i++) {
		if (t->route[i].prefix.len <= 24)
			continue;
		n += addr_of(&t->route[i]) >> 8 != last;
		last = addr_of(&t->route[i]) >> 8;
	}
	return n;
}

/* ---- rte_fib ---- */

static void fib_use(const struct peer *p)
{
	if (rte_fib_select_lookup(p->ctx, (enum rte_fib_lookup_type)p->variant) < 0) {
		fprintf(stderr, "%s: not on this machine\n", p->name);
		exit(2);
	}
}

static void fib_lookup(void *ctx, const void *addr, void *nh, unsigned n)
{
	rte_fib_lookup_bulk(ctx, (uint32_t *)(uintptr_t)addr, nh, (int)n);
}

static uint32_t fib_answer(const void *nh, unsigned i)
{
	return (uint32_t)((const uint64_t *)nh)[i];
}

static int fib_set(void *ctx, const struct bench_route *r)
{
	return rte_fib_add(ctx, addr_of(r), r->prefix.len, r->nh);
}

static int fib_del(void *ctx, const struct bench_route *r)
{
	return rte_fib_delete(ctx, addr_of(r), r->prefix.len);
}

static struct rte_fib *fib_build(const struct bench_table *t, bool wide, struct peer *p)
{
	struct rte_fib_conf conf = {
		.type = RTE_FIB_DIR24_8,
		.max_routes = (int)t->n + 65536,
		.dir24_8 = { .nh_sz = wide ? RTE_FIB_DIR24_8_4B : RTE_FIB_DIR24_8_2B },
	};
	double before = eal_heap_mib();
	uint64_t start = clock_own_ns();
	struct rte_fib *f;

	conf.dir24_8.num_tbl8 = wide ? count_split(t) + TBL8_4B_MORE : TBL8_2B_MAX;
	f = rte_fib_create(wide ? "bench 4B" : "bench 2B", 0, &conf);
	if (!f) {
		fprintf(stderr, "rte_fib_create: %s\n", rte_strerror(rte_errno));
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
		enum rte_fib_lookup_type type;
	} kinds[] = {
		{ "avx512", RTE_FIB_LOOKUP_DIR24_8_VECTOR_AVX512 },
		{ "scalar", RTE_FIB_LOOKUP_DIR24_8_SCALAR_MACRO },
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
		if (rte_fib_select_lookup(fib[wide], kinds[i].type) < 0)
			continue;
		peer[n] = first;
		peer[n].variant = (int)kinds[i].type;
		snprintf(peer[n].name, sizeof(peer[n].name), "rte_fib %s %s",
			 wide ? "4B" : "2B", kinds[i].name);
		first.mib = first.build_s = 0;
		n++;
	}
	return n;
}

/* ---- rte_lpm ---- */

static void lpm_lookup(void *ctx, const void *addr, void *nh, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		if (rte_lpm_lookup(ctx, ((const uint32_t *)addr)[i],
				   &((uint32_t *)nh)[i]))
			((uint32_t *)nh)[i] = 0;
}

static void lpm_bulk(void *ctx, const void *addr, void *nh, unsigned n)
{
	rte_lpm_lookup_bulk(ctx, addr, nh, n);
}

static void lpm_x4(void *ctx, const void *addr, void *nh, unsigned n)
{
	for (unsigned i = 0; i < n; i += 4) {
		xmm_t four;

		memcpy(&four, (const uint32_t *)addr + i, sizeof(four));
		rte_lpm_lookupx4(ctx, four, (uint32_t *)nh + i, 0);
	}
}

static uint32_t lpm_answer(const void *nh, unsigned i)
{
	return ((const uint32_t *)nh)[i] & 0xffffff;
}

static void lpm_write(const struct bench_route *r)
{
	struct rte_lpm_tbl_entry e = {
		.next_hop = r->nh,
		.valid = 1,
		.depth = r->prefix.len,
	};

	for (uint32_t i = addr_of(r) >> 8;
	     i < (addr_of(r) >> 8) + (1u << (24 - r->prefix.len)); i++)
		lpm->tbl24[i] = e;
}

static uint32_t lpm_fill(const struct bench_table *t)
{
	uint32_t refused = 0;

	for (unsigned len = 0; len <= 24; len++)
		for (uint32_t i = 0; i < t->n; i++)
			if (t->route[i].prefix.len == len)
				lpm_write(&t->route[i]);
	for (uint32_t i = 0; i < t->n; i++)
		if (t->route[i].prefix.len > 24)
			refused += rte_lpm_add(lpm, addr_of(&t->route[i]),
					       t->route[i].prefix.len,
					       t->route[i].nh) != 0;
	return refused;
}

static unsigned lpm_open(const struct bench_table *t, struct peer peer[])
{
	static const struct {
		const char *name;
		void (*lookup)(void *ctx, const void *addr, void *nh, unsigned n);
	} kinds[] = {
		{ "rte_lpm", lpm_lookup },
		{ "rte_lpm bulk", lpm_bulk },
		{ "rte_lpm x4", lpm_x4 },
	};
	struct rte_lpm_config conf = { .max_rules = LPM_LONG_MAX + 1 };
	double before = eal_heap_mib();
	uint32_t n_long = 0, refused;

	for (uint32_t i = 0; i < t->n; i++)
		n_long += t->route[i].prefix.len > 24;
	if (n_long > LPM_LONG_MAX) {
		printf("rte_lpm: left out: adding %u routes longer than /24 takes minutes\n",
		       n_long);
		return 0;
	}
	conf.number_tbl8s = count_split(t) + 1024;
	lpm = rte_lpm_create("bench", 0, &conf);
	if (!lpm) {
		fprintf(stderr, "rte_lpm_create: %s\n", rte_strerror(rte_errno));
		exit(2);
	}
	refused = lpm_fill(t);
	for (unsigned i = 0; i < ARRAY_LEN(kinds); i++) {
		peer[i] = (struct peer){
			.ctx = lpm,
			.lookup = kinds[i].lookup,
			.answer = lpm_answer,
			.refused = refused,
			.mib = i ? 0 : eal_heap_mib() - before,
		};
		snprintf(peer[i].name, sizeof(peer[i].name), "%s", kinds[i].name);
	}
	return ARRAY_LEN(kinds);
}

static unsigned open_all(const struct bench_table *t, struct peer peer[])
{
	unsigned n = fib_open(t, false, peer);

	n += fib_open(t, true, peer + n);
	return n + lpm_open(t, peer + n);
}

static void close_all(void)
{
	rte_fib_free(fib[0]);
	rte_fib_free(fib[1]);
	rte_lpm_free(lpm);
	fib[0] = fib[1] = NULL;
	lpm = NULL;
}

const struct peers peers4 = { open_all, close_all };
