/* unit/test_fib_fib.c - routes in, next hops out, against a list searched in full */

#include "fib_model.h"

#include <stdlib.h>

enum { HOPS = 40 };

static struct fib_nh hop(uint32_t n)
{
	struct fib_nh nh = { .kind = FIB_NH_FORWARD, .mtu = 1500 };

	memcpy(nh.macs, &n, sizeof(n));
	return nh;
}

static struct model *open_model(uint32_t hops)
{
	struct model *m = calloc(1, sizeof(*m));
	const struct fib_conf conf = { 0 };

	assert_non_null(m);
	assert_int_equal(fib_new(&conf, &m->fib), 0);
	for (uint32_t i = 1; i <= hops; i++) {
		struct fib_nh nh = hop(i);
		uint32_t index;

		assert_int_equal(fib_nh_get(m->fib, &nh, &index), 0);
		assert_int_equal(index, i);
	}
	return m;
}

static void close_model(struct model *m)
{
	fib_free(m->fib);
	free(m);
}

/* A prefix that has to do with the routes there are: longer, shorter, or a neighbour. */
static struct fib_prefix pick_prefix(const struct model *m)
{
	uint8_t family = test_below(2) ? 4 : 6, addr[16];
	unsigned len = test_below(model_width(family) + 1);

	model_near(m->route, m->n, family, addr);
	return model_prefix(family, addr, len);
}

static void change(struct model *m)
{
	struct fib_prefix p = pick_prefix(m);
	enum fib_origin origin = (enum fib_origin)test_below(FIB_ORIGIN_COUNT);
	uint32_t nh = 1 + test_below(HOPS), metric = test_below(5), what = test_below(4);

	if (m->n && test_below(2))
		p = m->route[test_below((uint32_t)m->n)].prefix;
	if (what == 0)
		model_replace(m, &p, origin, nh, metric);
	else if (what == 1 || m->n > 300)
		model_del(m, &p, origin);
	else
		model_add(m, &p, origin, nh, metric);
}

static void test_random_changes(void **state)
{
	struct model *m = open_model(HOPS);

	(void)state;
	for (unsigned round = 0; round < 1500; round++) {
		for (unsigned i = test_below(round % 100 ? 4 : 120); i > 0; i--)
			change(m);
		if (test_below(8) == 0)
			model_abort(m);
		else
			model_commit(m);
		model_check(m, test_below(MODEL_BURST + 1));
		if (round % 20 == 0)
			model_check_walk(m);
	}
	close_model(m);
}

/* Every length of both families, one inside the other, taken away again in random order. */
static void test_nesting(void **state)
{
	struct model *m = open_model(200);
	uint8_t addr[16];

	(void)state;
	for (uint8_t family = 4; family <= 6; family += 2) {
		test_fill(addr, sizeof(addr));
		for (unsigned len = 0; len <= model_width(family); len++) {
			struct fib_prefix p = model_prefix(family, addr, len);

			model_add(m, &p, FIB_KERNEL, 1 + len, 0);
			model_commit(m);
			model_check(m, MODEL_BURST);
		}
	}
	model_check_walk(m);
	while (m->n) {
		struct model_route r = m->route[test_below((uint32_t)m->n)];

		model_del(m, &r.prefix, r.origin);
		model_commit(m);
		model_check(m, MODEL_BURST);
	}
	close_model(m);
}

/* The less preferred origin is inactive, and comes back when the other is gone. */
static void test_origins(void **state)
{
	struct model *m = open_model(2);
	struct fib_prefix p = { .family = 4, .len = 8, .addr = { 10 } };
	struct fib_route r;

	(void)state;
	model_add(m, &p, FIB_KERNEL, 1, 20);
	model_commit(m);
	model_add(m, &p, FIB_STATIC, 2, 0);
	model_commit(m);
	assert_true(fib_route_match(m->fib, 4, p.addr, &r));
	assert_int_equal(r.nh, 2);
	assert_true(fib_route_get(m->fib, &p, FIB_KERNEL, &r));
	assert_false(r.active);
	model_check(m, MODEL_BURST);
	model_del(m, &p, FIB_STATIC);
	model_commit(m);
	assert_true(fib_route_get(m->fib, &p, FIB_KERNEL, &r));
	assert_true(r.active);
	assert_int_equal(r.metric, 20);
	assert_false(fib_route_get(m->fib, &p, FIB_STATIC, &r));
	model_check(m, MODEL_BURST);
	close_model(m);
}

/* Staged: visible to questions, not to workers; aborted: as if it had never been. */
static void test_abort(void **state)
{
	struct model *m = open_model(3);
	struct fib_prefix a = { .family = 4, .len = 8, .addr = { 10 } };
	struct fib_prefix b = { .family = 6, .len = 16, .addr = { 0x20, 0x01 } };
	struct fib_route r;

	(void)state;
	model_add(m, &a, FIB_STATIC, 1, 7);
	model_commit(m);
	model_del(m, &a, FIB_STATIC);
	assert_false(fib_route_get(m->fib, &a, FIB_STATIC, &r));
	model_add(m, &a, FIB_STATIC, 2, 8);
	model_replace(m, &a, FIB_STATIC, 3, 9);
	model_add(m, &b, FIB_STATIC, 3, 9);
	assert_true(fib_route_get(m->fib, &b, FIB_STATIC, &r));
	model_check(m, MODEL_BURST);
	model_abort(m);
	assert_true(fib_route_get(m->fib, &a, FIB_STATIC, &r));
	assert_int_equal(r.nh, 1);
	assert_int_equal(r.metric, 7);
	assert_false(fib_route_get(m->fib, &b, FIB_STATIC, &r));
	model_check(m, MODEL_BURST);
	model_check_walk(m);
	close_model(m);
}

static void test_refused(void **state)
{
	struct model *m = open_model(1);
	struct fib_prefix p = { .family = 4, .len = 8, .addr = { 10, 1 } };

	(void)state;
	assert_int_equal(fib_route_add(m->fib, &p, FIB_STATIC, 1, 0), -EINVAL);
	p.len = 33;
	assert_int_equal(fib_route_add(m->fib, &p, FIB_STATIC, 1, 0), -EINVAL);
	p.len = 16;
	assert_int_equal(fib_route_add(m->fib, &p, FIB_STATIC, 0, 0), -EINVAL);
	p.family = 5;
	assert_int_equal(fib_route_add(m->fib, &p, FIB_STATIC, 1, 0), -EINVAL);
	p.family = 6;
	assert_int_equal(fib_route_del(m->fib, &p, FIB_STATIC), -ESRCH);
	close_model(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random_changes), cmocka_unit_test(test_nesting),
		cmocka_unit_test(test_origins),	       cmocka_unit_test(test_abort),
		cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
