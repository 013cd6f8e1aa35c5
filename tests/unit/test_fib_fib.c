/* unit/test_fib_fib.c - routes in, next hops out, against a list searched in full */

#include "fib_model.h"

enum { HOPS = 40 };

static const struct fib_conf plain;

/* Every layout with every kind of instructions that this machine has. */
static void each_conf(void (*fn)(const struct fib_conf *conf))
{
	for (enum fib4_layout layout = FIB4_RUN21; layout <= FIB4_DIR24; layout++)
		for (enum fib_simd simd = FIB_SIMD_SCALAR; simd < FIB_SIMD_COUNT;
		     simd++) {
			struct fib_conf conf = { .layout4 = layout, .simd = simd };
			struct fib *fib;
			int r = fib_new(&conf, &fib);

			if (r == -EOPNOTSUPP)
				continue;
			assert_int_equal(r, 0);
			fib_free(fib);
			fn(&conf);
		}
}

static void random_changes(const struct fib_conf *conf)
{
	struct model *m = model_open(conf, HOPS);

	for (unsigned round = 0; round < 250; round++) {
		for (unsigned i = test_below(round % 100 ? 4 : 120); i > 0; i--)
			model_change(m, HOPS, 300);
		if (test_below(8) == 0) {
			if (test_below(2))
				assert_int_equal(fib_try(m->fib), 0);
			model_abort(m);
		} else {
			model_commit(m);
		}
		model_check(m, test_below(MODEL_BURST + 1));
		if (round % 10 == 0)
			model_check_walk(m);
	}
	model_close(m);
}

static void test_random_changes(void **state)
{
	(void)state;
	each_conf(random_changes);
}

/* Next hops on both sides of 8, 12 and 16 bits, where words and nodes take another form, in
 * a piece of the address space so small that neighbours differ. */
static void change_narrow(struct model *m, uint32_t hops)
{
	static const uint32_t hop[] = { 1,    254,   255,   256,  257,	 4094,
					4095, 65534, 65535, 4096, 65536, 65537 };
	uint8_t family = test_below(2) ? 4 : 6;
	uint8_t addr[16] = { 10 };
	struct fib_prefix p;
	unsigned from;

	if (m->n > 120 || (m->n && test_below(4) == 0)) {
		const struct model_route *gone = &m->route[test_below((uint32_t)m->n)];

		p = gone->prefix;
		model_del(m, &p, gone->origin);
		return;
	}
	from = family == 4 ? 19 : 27;
	if (family == 6)
		addr[0] = 0x20;
	for (unsigned bit = from; bit < from + 32u; bit++)
		if (bit < model_width(family) && test_below(2))
			model_flip(addr, bit);
	p = model_prefix(family, addr, from + test_below(family == 4 ? 9 : 30));
	model_replace(m, &p, FIB_STATIC, hop[test_below(hops)], 0);
}

static void widths(const struct fib_conf *conf)
{
	const struct fib_conf many = { .simd = conf->simd, .max_nexthops = 66000 };
	struct model *m;

	if (conf->layout4 == FIB4_DIR24) /* has no room for so many */
		return;
	m = model_open(&many, 65537);
	for (unsigned round = 0; round < 600; round++) {
		for (unsigned i = test_below(6); i > 0; i--)
			change_narrow(m, 1 + round * 12 / 600);
		model_commit(m);
		model_check(m, test_below(MODEL_BURST + 1));
	}
	model_close(m);
}

static void test_widths(void **state)
{
	(void)state;
	each_conf(widths);
}

/* Every length of both families, one inside the other, taken away again in random order. */
static void nesting(const struct fib_conf *conf)
{
	struct model *m = model_open(conf, 200);
	uint8_t addr[16];

	test_fill(addr, sizeof(addr));
	if (test_below(2))
		addr[0] = 0x20 | (addr[0] & 0x1f); /* where IPv6 is used */
	for (uint8_t family = 4; family <= 6; family += 2)
		for (unsigned len = 0; len <= model_width(family); len++) {
			struct fib_prefix p = model_prefix(family, addr, len);

			model_add(m, &p, FIB_KERNEL, 1 + len, 0);
			model_commit(m);
			model_check(m, MODEL_BURST);
		}
	model_check_walk(m);
	while (m->n) {
		struct model_route r = m->route[test_below((uint32_t)m->n)];

		model_del(m, &r.prefix, r.origin);
		model_commit(m);
		model_check(m, MODEL_BURST);
	}
	model_close(m);
}

static void test_nesting(void **state)
{
	(void)state;
	each_conf(nesting);
}

/* So many changes in one commit that the whole table is gone through, twice. */
static void much_at_once(const struct fib_conf *conf)
{
	struct model *m = model_open(conf, HOPS);
	struct fib_prefix p = { .len = 0 };
	uint32_t n;

	for (unsigned i = 0; i < 300; i++)
		model_change(m, HOPS, 300);
	model_commit(m);
	for (unsigned round = 0; round < 2; round++) {
		for (unsigned i = 0; i < 100; i++)
			model_change(m, HOPS, 300);
		for (n = 0; n < 5000;
		     n++) { /* added and deleted again: no change, but counted */
			p = model_pick(m);
			if (model_find(m, &p, FIB_KERNEL))
				continue;
			model_add(m, &p, FIB_KERNEL, 1, 0);
			model_del(m, &p, FIB_KERNEL);
		}
		model_commit(m);
		for (unsigned i = 0; i < 20; i++)
			model_check(m, MODEL_BURST);
	}
	model_check_walk(m);
	model_close(m);
}

static void test_much_at_once(void **state)
{
	const struct fib_conf run21 = { .layout4 = FIB4_RUN21 },
			      dir24 = { .layout4 = FIB4_DIR24 };

	(void)state;
	much_at_once(&run21);
	much_at_once(&dir24);
}

/* The less preferred origin is inactive, and comes back when the other is gone. */
static void test_origins(void **state)
{
	struct model *m = model_open(&plain, 2);
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
	model_close(m);
}

/* Staged: visible to questions, not to workers; aborted: as if it had never been. */
static void test_abort(void **state)
{
	struct model *m = model_open(&plain, 3);
	struct fib_prefix a = { .family = 4, .len = 8, .addr = { 10 } };
	struct fib_prefix b = { .family = 6, .len = 16, .addr = { 0x20, 0x01 } };
	struct fib_route r;

	(void)state;
	model_add(m, &a, FIB_STATIC, 1, 7);
	model_commit(m);
	model_del(m, &a, FIB_STATIC);
	assert_false(fib_route_get(m->fib, &a, FIB_STATIC, &r));
	assert_false(fib_route_match(m->fib, 4, a.addr, &r));
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
	model_close(m);
}

static void test_refused(void **state)
{
	struct model *m = model_open(&plain, 1);
	struct fib_prefix p = { .family = 4, .len = 8, .addr = { 10, 1 } };
	const struct fib_conf too_many = { .max_nexthops = UINT32_MAX };
	struct fib *fib = NULL;

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
	assert_int_equal(fib_commit(m->fib), 0);
	assert_int_equal(fib_new(&too_many, &fib), -EINVAL);
	assert_null(fib);
	model_close(m);
}

/* By family and reason; what no room and no memory would help is no refusal. */
static void test_refusals(void **state)
{
	struct model *m = model_open(&plain, 1);
	struct fib_sizes s;

	(void)state;
	fib_refused(m->fib, 4, -ENOSPC);
	fib_refused(m->fib, 6, -ENOMEM);
	fib_refused(m->fib, 6, -ENOMEM);
	fib_refused(m->fib, 4, -EEXIST);
	fib_sizes(m->fib, &s);
	assert_int_equal(s.refused[0][FIB_REFUSED_FULL], 1);
	assert_int_equal(s.refused[0][FIB_REFUSED_MEMORY], 0);
	assert_int_equal(s.refused[1][FIB_REFUSED_FULL], 0);
	assert_int_equal(s.refused[1][FIB_REFUSED_MEMORY], 2);
	model_close(m);
}

static void test_counts(void **state)
{
	struct model *m = model_open(&plain, 2);
	struct fib_prefix p = { .family = 4, .len = 8, .addr = { 10 } };
	struct fib_sizes s;

	(void)state;
	model_add(m, &p, FIB_STATIC, 1, 0);
	model_commit(m);
	model_replace(m, &p, FIB_STATIC, 2, 0);
	model_commit(m);
	model_commit(m); /* nothing is staged: no commit */
	model_del(m, &p, FIB_STATIC);
	model_add(m, &p, FIB_KERNEL, 2, 0);
	assert_int_equal(fib_staged(m->fib), 2);
	fib_sizes(m->fib, &s);
	assert_int_equal(s.lengths[8], 1);
	assert_int_equal(s.routes[0][FIB_STATIC], 0);
	assert_int_equal(s.routes[0][FIB_KERNEL], 1);
	model_commit(m);
	fib_sizes(m->fib, &s);
	assert_int_equal(s.commits, 3);
	assert_int_equal(s.updates[0][FIB_ADDED], 2);
	assert_int_equal(s.updates[0][FIB_REPLACED], 1);
	assert_int_equal(s.updates[0][FIB_DELETED], 1);
	assert_int_equal(s.updates[1][FIB_ADDED], 0);
	assert_int_equal(s.refused[0][FIB_REFUSED_FULL], 0);
	assert_int_equal(s.nexthops, 2);
	assert_true(s.lookup_bytes[0] && s.rib_bytes);
	model_close(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random_changes),
		cmocka_unit_test(test_widths),
		cmocka_unit_test(test_nesting),
		cmocka_unit_test(test_much_at_once),
		cmocka_unit_test(test_origins),
		cmocka_unit_test(test_abort),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_counts),
		cmocka_unit_test(test_refusals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
