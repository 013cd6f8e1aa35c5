/* bench/fib/traffic.c - destinations to look up */

#include "traffic.h"

#include <stdlib.h>
#include <string.h>

enum { ZIPF_DESTINATIONS = 1 << 20, HOT_DESTINATIONS = 16 };

const char *traffic_name(enum traffic_kind kind)
{
	static const char *const names[TRAFFIC_COUNT] = {
		[TRAFFIC_UNIFORM] = "uniform",
		[TRAFFIC_BY_PREFIX] = "by-prefix",
		[TRAFFIC_ZIPF] = "zipf",
		[TRAFFIC_HOT] = "hot",
	};

	return names[kind];
}

static double random_unit(void) /* [0, 1) */
{
	return (double)(bench_rand() >> 11) / 9007199254740992.0;
}

/* Ascending sums of weights, and a draw by them. */
static uint32_t draw(const double *sum, uint32_t n)
{
	double u = random_unit() * sum[n - 1];
	uint32_t low = 0, high = n - 1;

	while (low < high) {
		uint32_t middle = (low + high) / 2;

		if (sum[middle] < u)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void put4(void *to, uint32_t i, const uint8_t addr[16])
{
	uint32_t w;

	memcpy(&w, addr, sizeof(w));
	((uint32_t *)to)[i] = __builtin_bswap32(w);
}

static void put(uint8_t family, void *to, uint32_t i, const uint8_t addr[16])
{
	if (family == 4)
		put4(to, i, addr);
	else
		memcpy((uint8_t *)to + (size_t)i * 16, addr, 16);
}

static void put_host(void *to, uint32_t i, const struct fib_prefix *in)
{
	uint64_t random[2] = { bench_rand(), bench_rand() };
	uint8_t addr[16], host[16];

	memcpy(addr, in->addr, sizeof(addr));
	memcpy(host, random, sizeof(host));
	for (unsigned bit = in->len; bit < 128; bit++)
		addr[bit / 8] |= host[bit / 8] & (uint8_t)(0x80 >> bit % 8);
	put(in->family, to, i, addr);
}

static void make_uniform4(struct traffic *t, const struct bench_ref *ref)
{
	uint32_t *addr = t->addr[TRAFFIC_UNIFORM];

	for (uint32_t i = 0; i < t->n;) {
		addr[i] = (uint32_t)(bench_rand() >> 32);
		i += bench_ref_answer(ref, bench_key4(addr[i])) != 0;
	}
}

static void make_uniform6(struct traffic *t, const struct bench_table *table)
{
	double *sum = bench_alloc(table->n * sizeof(*sum)), all = 0;

	for (uint32_t i = 0; i < table->n; i++) {
		unsigned len = table->route[i].prefix.len;

		all += (double)(UINT64_C(1) << (len < 48 ? 48 - len : 0));
		sum[i] = all;
	}
	for (uint32_t i = 0; i < t->n; i++)
		put_host(t->addr[TRAFFIC_UNIFORM], i,
			 &table->route[draw(sum, table->n)].prefix);
	free(sum);
}

static void make_by_prefix(void *to, uint32_t n, const struct bench_table *table)
{
	for (uint32_t i = 0; i < n; i++)
		put_host(to, i, &table->route[bench_below(table->n)].prefix);
}

static void make_zipf(struct traffic *t, const struct bench_table *table)
{
	size_t size = traffic_size(t);
	uint8_t *from = bench_alloc(ZIPF_DESTINATIONS * size);
	double *sum = bench_alloc(ZIPF_DESTINATIONS * sizeof(*sum)), all = 0;

	make_by_prefix(from, ZIPF_DESTINATIONS, table);
	for (uint32_t i = 0; i < ZIPF_DESTINATIONS; i++)
		sum[i] = all += 1.0 / (i + 1);
	for (uint32_t i = 0; i < t->n; i++)
		memcpy((uint8_t *)t->addr[TRAFFIC_ZIPF] + i * size,
		       from + draw(sum, ZIPF_DESTINATIONS) * size, size);
	free(sum);
	free(from);
}

static void make_hot(struct traffic *t)
{
	size_t size = traffic_size(t);

	for (uint32_t i = 0; i < t->n; i++)
		memcpy((uint8_t *)t->addr[TRAFFIC_HOT] + i * size,
		       traffic_at(t, TRAFFIC_BY_PREFIX, i % HOT_DESTINATIONS), size);
}

void traffic_make(struct traffic *t, const struct bench_table *table,
		  const struct bench_ref *ref, uint32_t n)
{
	*t = (struct traffic){ .family = table->family, .n = n };
	for (unsigned k = 0; k < TRAFFIC_COUNT; k++)
		t->addr[k] = bench_alloc(n * traffic_size(t));
	if (t->family == 4)
		make_uniform4(t, ref);
	else
		make_uniform6(t, table);
	make_by_prefix(t->addr[TRAFFIC_BY_PREFIX], n, table);
	make_zipf(t, table);
	make_hot(t);
}

void traffic_free(struct traffic *t)
{
	for (unsigned k = 0; k < TRAFFIC_COUNT; k++)
		free(t->addr[k]);
	*t = (struct traffic){ 0 };
}
