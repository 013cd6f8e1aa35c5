/* bench/fib/test_bench_fib.c - the benchmarks' own parts: answers, traffic, changes, verdicts */

#include "../../test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../../lib/base/hot.h"
#include "churn.h"
#include "circuit.h"
#include "peer.h"
#include "report.h"
#include "traffic.h"

enum { ROUTES = 300 };

/* ---- tables ---- */

static void flip(uint8_t addr[16], unsigned bit)
{
	addr[bit / 8] ^= (uint8_t)(0x80 >> bit % 8);
}

/* In or beside a route that is there. */
static void near(const struct bench_table *t, uint8_t addr[16])
{
	unsigned width = t->family == 4 ? 32 : 128;

	memset(addr, 0, 16);
	if (t->n)
		memcpy(addr, t->route[test_below(t->n)].prefix.addr, 16);
	for (unsigned n = test_below(4); n > 0; n--)
		flip(addr, test_below(width));
}

static bool is_there(const struct bench_table *t, const struct fib_prefix *p)
{
	for (uint32_t i = 0; i < t->n; i++)
		if (!fib_prefix_compare(&t->route[i].prefix, p))
			return true;
	return false;
}

/* Written to a file and read from there; that sorts. */
static void make_table(struct bench_table *t, uint8_t family)
{
	struct bench_table list = { .family = family };
	char path[] = "bench-fib-XXXXXX", text[FIB_PREFIX_TEXT];
	int fd = mkstemp(path);
	FILE *file = fd < 0 ? NULL : fdopen(fd, "w");

	assert_non_null(file);
	list.route = calloc(ROUTES, sizeof(list.route[0]));
	assert_non_null(list.route);
	while (list.n < ROUTES) {
		struct bench_route r = { .prefix = { .family = family } };
		uint8_t addr[16];

		near(&list, addr);
		r.prefix.len = (uint8_t)test_below(family == 4 ? 33 : 129);
		for (unsigned bit = 0; bit < r.prefix.len; bit++)
			if (addr[bit / 8] & 0x80 >> bit % 8)
				flip(r.prefix.addr, bit);
		r.nh = 1 + test_below(20);
		if (is_there(&list, &r.prefix))
			continue;
		fprintf(file, "%s %u\n", fib_prefix_text(&r.prefix, text), r.nh);
		list.route[list.n++] = r;
	}
	fclose(file);
	free(list.route);
	bench_table_read(t, path);
	unlink(path);
	assert_int_equal(t->n, ROUTES);
}

static uint32_t search(const struct bench_table *t, const uint8_t addr[16])
{
	const struct bench_route *best = NULL;

	for (uint32_t i = 0; i < t->n; i++)
		if (fib_prefix_covers(&t->route[i].prefix, addr) &&
		    (!best || t->route[i].prefix.len >= best->prefix.len))
			best = &t->route[i];
	return best ? best->nh : 0;
}

static uint32_t answer(const struct bench_ref *ref, uint8_t family,
		       const uint8_t addr[16])
{
	uint32_t host;

	if (family == 6)
		return bench_ref_answer(ref, bench_key6(addr));
	memcpy(&host, addr, sizeof(host));
	return bench_ref_answer(ref, bench_key4(__builtin_bswap32(host)));
}

static void test_reference(void **state)
{
	(void)state;
	for (uint8_t family = 4; family <= 6; family += 2) {
		for (unsigned round = 0; round < 20; round++) {
			struct bench_table t;
			struct bench_ref ref;

			make_table(&t, family);
			bench_ref_make(&ref, &t);
			for (unsigned i = 0; i < 1000; i++) {
				uint8_t addr[16];

				near(&t, addr);
				if (i % 10 == 0)
					memset(addr, i % 20 ? 0xff : 0, sizeof(addr));
				assert_int_equal(answer(&ref, family, addr),
						 search(&t, addr));
			}
			bench_ref_free(&ref);
			bench_table_free(&t);
		}
	}
}

static void test_hosts(void **state)
{
	struct bench_table t;
	uint32_t hosts = 0;

	(void)state;
	make_table(&t, 4);
	bench_table_add_hosts(&t, 1000);
	for (uint32_t i = 0; i < t.n; i++) {
		hosts += t.route[i].prefix.len == 32;
		assert_true(!i || fib_prefix_compare(&t.route[i - 1].prefix,
						     &t.route[i].prefix) < 0);
		assert_in_range(t.route[i].nh, 1, t.max_nh);
	}
	assert_in_range(hosts, 500, 1000 + ROUTES); /* some are drawn twice */
	bench_table_free(&t);
}

/* ---- traffic ---- */

static void test_traffic(void **state)
{
	enum { N = 4096 };

	(void)state;
	for (uint8_t family = 4; family <= 6; family += 2) {
		struct bench_table t;
		struct bench_ref ref;
		struct traffic traffic;

		make_table(&t, family);
		bench_ref_make(&ref, &t);
		traffic_make(&traffic, &t, &ref, N);
		for (unsigned k = 0; k < TRAFFIC_COUNT; k++)
			for (uint32_t i = 0; i < N; i++)
				assert_int_not_equal(
					bench_ref_answer(&ref,
							 traffic_key(&traffic,
								     (enum traffic_kind)k,
								     i)),
					0);
		for (uint32_t i = 16; i < N; i++)
			assert_memory_equal(traffic_at(&traffic, TRAFFIC_HOT, i),
					    traffic_at(&traffic, TRAFFIC_HOT, i - 16),
					    traffic_size(&traffic));
		traffic_free(&traffic);
		bench_ref_free(&ref);
		bench_table_free(&t);
	}
}

/* ---- changes ---- */

static struct bench_route *find(struct bench_table *t, const struct fib_prefix *p)
{
	for (uint32_t i = 0; i < t->n; i++)
		if (!fib_prefix_compare(&t->route[i].prefix, p))
			return &t->route[i];
	return NULL;
}

/* A withdrawn route is there, one that comes back was withdrawn: tables refuse all else. */
static void test_churn(void **state)
{
	static struct bench_route change[ROUTES * 4];
	struct bench_table t, copy;
	struct churn c;
	uint32_t n;

	(void)state;
	make_table(&t, 6);
	copy = t;
	copy.route = calloc(t.n, sizeof(t.route[0]));
	assert_non_null(copy.route);
	memcpy(copy.route, t.route, t.n * sizeof(t.route[0]));
	churn_open(&c, &t);
	for (unsigned round = 0; round < 20; round++) {
		n = round < 19 ? ROUTES * 4 : churn_restore(&c, change);
		if (round < 19)
			churn_draw(&c, change, n);
		for (uint32_t i = 0; i < n; i++) {
			struct bench_route *is = find(&copy, &change[i].prefix);

			assert_non_null(is);
			assert_true(is->nh || change[i].nh);
			is->nh = change[i].nh;
		}
	}
	assert_memory_equal(copy.route, t.route, t.n * sizeof(t.route[0]));
	churn_close(&c);
	free(copy.route);
	bench_table_free(&t);
}

/* ---- verdicts ---- */

static int verdict(enum report_rule rule, const double *ours, const double *theirs,
		   double target)
{
	report_add(&(struct report_figure){ .name = "figure",
					    .unit = "ns",
					    .ours = ours,
					    .peer = "peer",
					    .theirs = theirs,
					    .n = 5,
					    .rule = rule,
					    .target = target });
	return report_end();
}

static void test_verdicts(void **state)
{
	const double one[] = { 1, 1.01, 0.99, 1, 1 }, two[] = { 2, 2, 2.02, 1.98, 2 };
	const double wild[] = { 1, 4, 2, 3, 1.5 };

	(void)state;
	assert_int_equal(verdict(REPORT_RATIO, one, two, 1.9), 0);
	assert_int_equal(verdict(REPORT_RATIO, one, two, 2.1), 1);
	assert_int_equal(verdict(REPORT_RATIO, two, one, 1), 1);
	assert_int_equal(verdict(REPORT_RATIO, one, wild, 1.9), 1); /* too noisy */
	assert_int_equal(verdict(REPORT_RATIO, one, wild, 0.5), 0);
	assert_int_equal(verdict(REPORT_AT_MOST, one, NULL, 1.1), 0);
	assert_int_equal(verdict(REPORT_AT_MOST, two, NULL, 1.9), 1);
	assert_int_equal(verdict(REPORT_AT_LEAST, two, NULL, 1.9), 0);
	assert_int_equal(verdict(REPORT_AT_LEAST, one, NULL, 1.9), 1);
	assert_int_equal(verdict(REPORT_ONLY, two, one, 0), 0);
	report_wrong("an answer");
	assert_int_equal(verdict(REPORT_ONLY, two, one, 0), 1);
	assert_true(report_quantile(wild, 5, 0) == 1 &&
		    report_quantile(wild, 5, 100) == 4);
	assert_true(report_median(wild, 5) == 2);
}

/* ---- the circuit ---- */

static void test_circuit(void **state)
{
	enum { FLIGHT = 128, TURNS = 7 };
	const struct fib_conf conf = { 0 };

	(void)state;
	for (uint8_t family = 4; family <= 6; family += 2) {
		struct bench_route all = { .prefix = { .family = family, .len = 3 },
					   .nh = 1 };
		struct bench_table t = {
			.family = family, .n = 1, .max_nh = 1, .route = &all
		};
		uint8_t dst[FLIGHT][16];
		struct fib_nh nh = circuit_nh(1);
		struct circuit *c;
		struct fib *fib;
		uint32_t index;

		all.prefix.addr[0] = 0x20;
		for (unsigned i = 0; i < FLIGHT; i++) {
			test_fill(dst[i], sizeof(dst[i]));
			dst[i][0] = 0x20 | (dst[i][0] & 0x1f);
		}
		assert_int_equal(fib_new(&conf, &fib), 0);
		assert_int_equal(fib_nh_get(fib, &nh, &index), 0);
		assert_int_equal(ours_add_routes(fib, &t), 0);
		c = circuit_new(fib_live(fib), family, FLIGHT, (const uint8_t(*)[16])dst);
		for (unsigned i = 0; i < TURNS; i++)
			circuit_turn(c, i % 2);
		assert_int_equal(circuit_check(c, TURNS), 0);
		circuit_turn(c, true);
		assert_int_equal(circuit_check(c, 2), FLIGHT);
		circuit_turn(c, true);
		circuit_frame(c, 5)[14] ^= 1;
		assert_int_equal(circuit_check(c, 1), 1);
		dst[7][0] = 0x40; /* no route */
		circuit_check(c, 1);
		circuit_turn(c, true);
		assert_in_range(circuit_check(c, 1), 1, FLIGHT);
		circuit_free(c);
		fib_free(fib);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_reference), cmocka_unit_test(test_hosts),
		cmocka_unit_test(test_traffic),	  cmocka_unit_test(test_churn),
		cmocka_unit_test(test_verdicts),  cmocka_unit_test(test_circuit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
