/* bench/fib/ours.c - lib/fib as one of the structures that are measured */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../../lib/fib/lookup.h"
#include "../../../lib/fib/lookup_hot.h"
#include "clock.h"
#include "peer.h"

static const char *const names[] = { [FIB4_RUN21] = "RUN21", [FIB4_DIR24] = "DIR-24-8" };

static void lookup4(void *ctx, const void *addr, void *nh, unsigned n)
{
	fib_lookup4(ctx, addr, nh, n);
}

static void lookup6(void *ctx, const void *addr, void *nh, unsigned n)
{
	fib_lookup6(ctx, (const uint8_t(*)[16])addr, nh, n);
}

static uint32_t answer(const void *nh, unsigned i)
{
	return ((const uint32_t *)nh)[i];
}

void ours_add_nexthops(struct fib *fib, uint32_t n)
{
	for (uint32_t i = 1; i <= n; i++) {
		struct fib_nh nh = { .kind = FIB_NH_FORWARD, .mtu = 1500 };
		uint32_t index;

		memcpy(nh.macs, &i, sizeof(i));
		if (fib_nh_get(fib, &nh, &index) < 0 || index != i)
			abort();
	}
}

int ours_add_routes(struct fib *fib, const struct bench_table *t)
{
	int r = 0;

	for (uint32_t i = 0; i < t->n && !r; i++) {
		fib_nh_ref(fib, t->route[i].nh);
		r = fib_route_add(fib, &t->route[i].prefix, FIB_KERNEL, t->route[i].nh,
				  0);
	}
	return r < 0 ? r : fib_commit(fib);
}

/* NULL: the layout cannot hold that many routes. */
static struct fib *build(const struct bench_table *t, enum fib4_layout layout,
			 double *seconds)
{
	const struct fib_conf conf = { .layout4 = layout };
	struct fib *fib = NULL;
	uint64_t start = clock_own_ns();
	int r = fib_new(&conf, &fib);

	if (!r) {
		ours_add_nexthops(fib, t->max_nh);
		r = ours_add_routes(fib, t);
	}
	if (r == -ENOSPC) {
		fib_free(fib);
		return NULL;
	}
	if (r < 0) {
		fprintf(stderr, "our table: %s\n", strerror(-r));
		exit(2);
	}
	*seconds = clock_own_s(start);
	return fib;
}

/* The tables of a fib, with other instructions than it would choose. */
static struct fib_tables *with_simd(const struct fib *fib, enum fib4_layout layout,
				    enum fib_simd simd)
{
	struct fib_tables *t = bench_alloc(sizeof(*t));

	*t = **fib_live(fib);
	t->lookup4 = layout == FIB4_DIR24 ? dir24_lookup[simd] : run21_lookup[simd];
	t->lookup6 = rl6_lookup[simd];
	return t;
}

static unsigned add_variants(const struct bench_table *t, const struct fib *fib,
			     enum fib4_layout layout, struct peer peer[])
{
	const char *name = t->family == 4 ? names[layout] : "RL6";
	unsigned n = 0;

	for (enum fib_simd simd = FIB_SIMD_COUNT; --simd > FIB_SIMD_BEST;) {
		struct peer *p = &peer[n];

		if (!run21_lookup[simd] || !fib_simd_works(simd))
			continue;
		*p = (struct peer){
			.ctx = with_simd(fib, layout, simd),
			.lookup = t->family == 4 ? lookup4 : lookup6,
			.answer = answer,
			.ours = layout == FIB4_RUN21 && simd == fib_simd_best(),
			.other = layout == FIB4_RUN21 && simd != fib_simd_best(),
		};
		snprintf(p->name, sizeof(p->name), "%s %s", name, fib_simd_name(simd));
		n++;
	}
	return n;
}

void ours_as_peer(struct peer *p, const struct fib *fib, uint8_t family)
{
	*p = (struct peer){
		.name = "ours",
		.ctx = *fib_live(fib),
		.lookup = family == 4 ? lookup4 : lookup6,
		.answer = answer,
	};
}

static double mib(uint64_t bytes)
{
	return (double)bytes / (1 << 20);
}

unsigned ours_open(struct ours *ours, const struct bench_table *t, struct peer peer[])
{
	unsigned n = 0, layouts = t->family == 4 ? 2 : 1;

	*ours = (struct ours){ 0 };
	for (unsigned i = 0; i < layouts; i++) {
		struct peer *first = &peer[n];
		struct fib_sizes sizes;
		double build_s = 0;

		ours->fib[i] = build(t, (enum fib4_layout)i, &build_s);
		if (!ours->fib[i]) {
			printf("our %s: left out: no room for these routes\n", names[i]);
			continue;
		}
		fib_sizes(ours->fib[i], &sizes);
		n += add_variants(t, ours->fib[i], (enum fib4_layout)i, first);
		first->build_s = build_s;
		first->mib = mib(sizes.lookup_bytes[t->family == 6] + sizes.rib_bytes);
	}
	return n;
}

void ours_close(struct ours *ours)
{
	for (unsigned i = 0; i < 2; i++)
		fib_free(ours->fib[i]);
}
