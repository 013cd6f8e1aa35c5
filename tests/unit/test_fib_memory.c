/* unit/test_fib_memory.c - memory and index space that run out: refused, and nothing has changed
 *
 * Every step that needs memory is refused once, one after the other: the result is an
 * error, the routes and what workers see are as before, and trying again works.
 */

#include "fib_model.h"

#include "../../lib/fib/memory.h"

enum { HOPS = 30 };

static const struct fib_conf plain;

static int new_refused(uint64_t k)
{
	struct fib *fib = NULL;
	int r;

	fib_mem_refuse = k;
	r = fib_new(&plain, &fib);
	fib_mem_refuse = 0;
	if (r == 0)
		fib_free(fib);
	else
		assert_null(fib);
	return r;
}

static void test_new(void **state)
{
	uint64_t k = 1;

	(void)state;
	for (; new_refused(k) < 0; k++)
		assert_int_equal(new_refused(k), -ENOMEM);
	assert_true(k > 20);
}

/* ---- a batch, refused at its k-th request ---- */

struct step {
	struct fib_prefix prefix;
	uint32_t nh;
	unsigned what;
};

enum { STEPS = 12 };

static int apply(struct fib *fib, const struct step *s)
{
	int r;

	if (s->what == 0)
		return fib_route_del(fib, &s->prefix, FIB_STATIC);
	fib_nh_ref(fib, s->nh);
	r = fib_route_replace(fib, &s->prefix, FIB_STATIC, s->nh, s->what);
	if (r < 0)
		fib_nh_put(fib, s->nh);
	return r;
}

/* Return: what refused it, or 0. */
static int try_batch(struct fib *fib, const struct step step[], uint64_t k)
{
	int r = 0;

	fib_reclaim(fib); /* else a commit waits for what it lacks, and tries again */
	fib_mem_refuse = k;
	for (unsigned i = 0; i < STEPS; i++) {
		r = apply(fib, &step[i]);
		if (r == -ENOMEM)
			break;
	}
	if (r == -ENOMEM)
		fib_abort(fib);
	else
		r = fib_commit(fib);
	fib_mem_refuse = 0;
	return r;
}

static void keep_in_model(struct model *m, const struct step step[])
{
	for (unsigned i = 0; i < STEPS; i++) {
		struct model_route *is = model_find(m, &step[i].prefix, FIB_STATIC);

		if (step[i].what == 0 && is)
			*is = m->route[--m->n];
		if (step[i].what == 0)
			continue;
		if (!is)
			is = &m->route[m->n++];
		*is = (struct model_route){ step[i].prefix, FIB_STATIC, step[i].nh,
					    step[i].what };
	}
	model_settle(m);
}

static void make_steps(struct model *m, struct step step[])
{
	for (unsigned i = 0; i < STEPS; i++) {
		step[i].prefix = model_pick(m);
		if (m->n && test_below(2))
			step[i].prefix = m->route[test_below((uint32_t)m->n)].prefix;
		if (test_below(2) && step[i].prefix.family == 4 &&
		    step[i].prefix.len > 22)
			step[i].prefix.len = 32;
		step[i].nh = 1 + test_below(HOPS);
		step[i].what = test_below(3);
	}
}

static void batch_refused(const struct fib_conf *conf)
{
	struct model *m = model_open(conf, HOPS);
	struct step step[STEPS];
	struct fib_sizes before, after;
	unsigned refused = 0;

	for (unsigned round = 0; round < 5; round++) {
		make_steps(m, step);
		for (uint64_t k = 1;; k++) {
			int r;

			fib_sizes(m->fib, &before);
			r = try_batch(m->fib, step, k);
			if (!r)
				break;
			refused++;
			assert_int_equal(r, -ENOMEM);
			fib_sizes(m->fib, &after);
			assert_memory_equal(before.routes, after.routes,
					    sizeof(before.routes));
			assert_int_equal(before.commits, after.commits);
			assert_memory_equal(before.lengths, after.lengths,
					    sizeof(before.lengths));
			if (k % 8 == 0)
				model_check_walk(m);
			model_check(m, 8);
		}
		keep_in_model(m, step);
		model_check(m, MODEL_BURST);
		model_check_walk(m);
	}
	assert_true(refused > 30);
	model_close(m);
}

static void test_batch(void **state)
{
	const struct fib_conf dir24 = { .layout4 = FIB4_DIR24 };

	(void)state;
	batch_refused(&plain);
	batch_refused(&dir24);
}

/* What a failed commit took is free again: the table does not grow by failing. */
static void test_no_leak(void **state)
{
	struct model *m = model_open(&plain, HOPS);
	struct fib_sizes s, first;
	struct step step[STEPS];

	(void)state;
	for (unsigned i = 0; i < 100; i++)
		model_change(m, HOPS, 300);
	model_commit(m);
	make_steps(m, step);
	for (unsigned i = 0; i < 150; i++) {
		if (!try_batch(m->fib, step, 40)) {
			keep_in_model(m, step);
			make_steps(m, step);
			i = 0;
			continue;
		}
		fib_reclaim(m->fib);
		fib_sizes(m->fib, &s);
		if (i == 100)
			first = s;
		if (i > 100) {
			assert_int_equal(s.lookup_bytes[0], first.lookup_bytes[0]);
			assert_int_equal(s.lookup_bytes[1], first.lookup_bytes[1]);
			assert_int_equal(s.rib_bytes, first.rib_bytes);
		}
	}
	model_check(m, MODEL_BURST);
	model_close(m);
}

/* ---- limits ---- */

/* DIR-24-8 has 32767 pages: one more is refused, and all of its commit with it. */
static void test_pages(void **state)
{
	const struct fib_conf conf = { .layout4 = FIB4_DIR24 };
	struct fib_prefix p = { .family = 4, .len = 25 };
	struct fib_prefix last = { .family = 4, .len = 8, .addr = { 99 } };
	const struct fib_nh kernel = { .kind = FIB_NH_KERNEL };
	struct model *m = model_open(&conf, 2);
	struct fib_sizes s;
	uint32_t at = 0, nh;

	(void)state;
	for (uint32_t i = 0; i < 32767; i++) {
		p.addr[0] = (uint8_t)(10 + (i >> 16));
		p.addr[1] = (uint8_t)(i >> 8);
		p.addr[2] = (uint8_t)i;
		fib_nh_ref(m->fib, 1);
		assert_int_equal(fib_route_add(m->fib, &p, FIB_STATIC, 1, 0), 0);
	}
	assert_int_equal(fib_commit(m->fib), 0);
	for (unsigned i = 0; i < 3; i++) {
		p = (struct fib_prefix){ .family = 4, .len = 25, .addr = { 77 } };
		fib_nh_ref(m->fib, 2);
		assert_int_equal(fib_route_add(m->fib, &last, FIB_STATIC, 2, 0), 0);
		fib_nh_ref(m->fib, 1);
		assert_int_equal(fib_route_add(m->fib, &p, FIB_STATIC, 1, 0), 0);
		assert_int_equal(i == 1 ? fib_try(m->fib) : fib_commit(m->fib), -ENOSPC);
		at = UINT32_C(99) << 24;
		fib_lookup4(*fib_live(m->fib), &at, &nh, 1);
		assert_int_equal(nh, 0);
		at = UINT32_C(10) << 24;
		fib_lookup4(*fib_live(m->fib), &at, &nh, 1);
		assert_int_equal(nh, 1);
	}
	fib_sizes(m->fib, &s);
	assert_int_equal(s.refused[0][FIB_REFUSED_FULL], 2); /* a try is no change */
	/* What the caller does then: a prefix that needs no page, as kernel egress. */
	p.len = 24;
	assert_int_equal(fib_nh_get(m->fib, &kernel, &nh), 0);
	assert_int_equal(fib_route_add(m->fib, &p, FIB_STATIC, nh, 0), 0);
	assert_int_equal(fib_commit(m->fib), 0);
	at = UINT32_C(77) << 24 | 1;
	fib_lookup4(*fib_live(m->fib), &at, &at, 1);
	assert_int_equal(at, nh);
	/* One page less in use, and it fits: what waits for a grace period is taken back. */
	p = (struct fib_prefix){ .family = 4, .len = 25, .addr = { 10 } };
	assert_int_equal(fib_route_del(m->fib, &p, FIB_STATIC), 0);
	assert_int_equal(fib_commit(m->fib), 0);
	p.addr[0] = 77;
	fib_nh_ref(m->fib, 2);
	assert_int_equal(fib_route_add(m->fib, &p, FIB_STATIC, 2, 0), 0);
	assert_int_equal(fib_commit(m->fib), 0);
	at = UINT32_C(77) << 24;
	fib_lookup4(*fib_live(m->fib), &at, &nh, 1);
	assert_int_equal(nh, 2);
	model_close(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_new),
		cmocka_unit_test(test_batch),
		cmocka_unit_test(test_no_leak),
		cmocka_unit_test(test_pages),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
