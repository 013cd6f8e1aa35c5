/* unit/test_fib_groups.c - next hop groups: shares, steadiness, references, limits */

#include "fib_group_rig.h"

enum { HOPS = 20 };

static uint32_t before[RIG_FLOWS], after[RIG_FLOWS];

static struct fib *open_fib(const struct fib_conf *conf)
{
	struct fib *fib;

	assert_int_equal(fib_new(conf, &fib), 0);
	for (uint32_t i = 1; i <= HOPS; i++) {
		struct fib_nh nh = model_hop(i);
		uint32_t index;

		assert_int_equal(fib_nh_get(fib, &nh, &index), 0);
		assert_int_equal(index, i);
	}
	return fib;
}

static struct fib *open_plain(void)
{
	const struct fib_conf plain = { .max_nexthops = 100 };

	return open_fib(&plain);
}

/* ---- shares and movement ---- */

static void test_weights(void **state)
{
	const struct fib_leg leg[] = { LEG(1, 3), LEG(2, 1), LEG(3, 0), LEG(4, 4) };
	struct fib *fib = open_plain();
	uint32_t g;

	(void)state;
	assert_int_equal(rig_get(fib, leg, 4, 0, &g), 0);
	assert_int_equal(rig_buckets(fib, g), 256);
	rig_flows(fib, g, before);
	assert_int_equal(rig_count(before, 1), RIG_FLOWS / 8 * 3);
	assert_int_equal(rig_count(before, 2), RIG_FLOWS / 8);
	assert_int_equal(rig_count(before, 3), 0);
	assert_int_equal(rig_count(before, 4), RIG_FLOWS / 2);
	fib_free(fib);
}

/* Of 1024 flows of four legs, 256 belong to each. */
static void test_leg_goes_and_comes_back(void **state)
{
	struct fib_leg leg[] = { LEG(1, 1), LEG(2, 1), LEG(3, 1), LEG(4, 1) };
	struct fib *fib = open_plain();
	uint32_t g;

	(void)state;
	assert_int_equal(rig_get(fib, leg, 4, 0, &g), 0);
	rig_flows(fib, g, before);
	leg[2].weight = 0;
	assert_int_equal(rig_set(fib, g, leg, 4), 0);
	rig_flows(fib, g, after);
	assert_int_equal(rig_moved(before, after), 256);
	for (uint32_t flow = 0; flow < RIG_FLOWS; flow++)
		assert_true(before[flow] == 3 ? after[flow] != 3
					      : after[flow] == before[flow]);
	leg[2].weight = 1;
	assert_int_equal(rig_set(fib, g, leg, 4), 0);
	rig_flows(fib, g, before);
	assert_int_equal(rig_moved(after, before), 256);
	assert_int_equal(rig_set(fib, g, leg, 3), 0); /* not in the list any more */
	rig_flows(fib, g, after);
	assert_int_equal(rig_moved(before, after), 256);
	fib_free(fib);
}

static void test_weight_changes(void **state)
{
	struct fib_leg leg[] = { LEG(1, 1), LEG(2, 1), LEG(3, 2) };
	struct fib *fib = open_plain();
	uint32_t g;

	(void)state;
	assert_int_equal(rig_get(fib, leg, 3, 0, &g), 0);
	assert_int_equal(rig_buckets(fib, g), 128);
	rig_flows(fib, g, before);
	leg[0].weight =
		5; /* 1/4 1/4 1/2 -> 5/8 1/8 1/4: finer buckets, which move nothing */
	assert_int_equal(rig_set(fib, g, leg, 3), 0);
	assert_int_equal(rig_buckets(fib, g), 256);
	rig_flows(fib, g, after);
	assert_int_equal(rig_moved(before, after), 384);
	assert_int_equal(rig_count(after, 1), RIG_FLOWS / 8 * 5);
	for (uint32_t flow = 0; flow < RIG_FLOWS; flow++)
		assert_true(before[flow] == after[flow] || after[flow] == 1);
	leg[0].weight = 1;
	assert_int_equal(rig_set(fib, g, leg, 3), 0);
	assert_int_equal(rig_buckets(fib, g), 256);
	rig_flows(fib, g, before);
	assert_int_equal(rig_moved(after, before), 384);
	assert_int_equal(rig_set(fib, g, leg, 3), 0); /* as it is */
	rig_flows(fib, g, after);
	assert_int_equal(rig_moved(before, after), 0);
	fib_free(fib);
}

/* More legs than buckets: the table grows, and what stays stays. */
static void test_grows(void **state)
{
	struct fib_leg leg[FIB_GROUP_LEGS];
	const struct fib_conf conf = { .max_nexthops = 400 };
	struct fib *fib = open_fib(&conf);
	uint32_t g, n = 2;

	(void)state;
	for (uint32_t i = 0; i < FIB_GROUP_LEGS; i++) {
		struct fib_nh nh = model_hop(1000 + i);

		assert_int_equal(fib_nh_get(fib, &nh, &leg[i].nh), 0);
		leg[i].weight = 1;
		leg[i].down = false;
	}
	assert_int_equal(rig_get(fib, leg, n, 2, &g), 0);
	assert_int_equal(rig_buckets(fib, g), 2);
	for (; n <= FIB_GROUP_LEGS; n++) {
		const struct fib_group want = { .leg = leg, .n_legs = n, .buckets = 2 };
		uint32_t most = RIG_FLOWS / n, own;

		rig_flows(fib, g, before);
		assert_int_equal(fib_group_set(fib, g, &want), 0);
		rig_flows(fib, g, after);
		own = rig_count(after, leg[n - 1].nh);
		assert_true(own > 0 && own <= 2 * most);
		for (uint32_t flow = 0; flow < RIG_FLOWS; flow++)
			assert_true(before[flow] == after[flow] ||
				    after[flow] == leg[n - 1].nh);
	}
	assert_int_equal(rig_buckets(fib, g), 256);
	fib_free(fib);
}

/* All legs without a weight are as no route. */
static void test_no_weight(void **state)
{
	struct fib_leg leg[] = { LEG(1, 0), LEG(2, 0) };
	struct fib *fib = open_plain();
	uint32_t g;

	(void)state;
	assert_int_equal(rig_get(fib, leg, 2, 0, &g), 0);
	rig_flows(fib, g, before);
	assert_int_equal(rig_count(before, 0), RIG_FLOWS);
	leg[1].weight = 9;
	assert_int_equal(rig_set(fib, g, leg, 2), 0);
	rig_flows(fib, g, before);
	assert_int_equal(rig_count(before, 2), RIG_FLOWS);
	leg[1].weight = 0;
	assert_int_equal(rig_set(fib, g, leg, 2), 0);
	rig_flows(fib, g, before);
	assert_int_equal(rig_count(before, 0), RIG_FLOWS);
	fib_free(fib);
}

/* A leg that is down keeps its weight, and the group is the same for whoever asks for it. */
static void test_down(void **state)
{
	struct fib_leg leg[] = { LEG(1, 1), LEG(2, 1), LEG(3, 2) }, all[3];
	struct fib *fib = open_plain();
	struct fib_group is;
	uint32_t g, h;

	(void)state;
	memcpy(all, leg, sizeof(leg));
	assert_int_equal(rig_get(fib, leg, 3, 0, &g), 0);
	rig_flows(fib, g, before);
	leg[1].down = true;
	assert_int_equal(rig_set(fib, g, leg, 3), 0);
	rig_flows(fib, g, after);
	assert_int_equal(rig_moved(before, after), 256);
	assert_int_equal(rig_count(after, 2), 0);
	fib_group_at(fib, g, &is);
	assert_int_equal(is.n_legs, 3);
	assert_int_equal(is.leg[1].weight, 1);
	assert_true(is.leg[1].down && !is.leg[0].down);
	assert_int_equal(is.buckets, 0);
	assert_int_equal(is.n_buckets, 128);
	assert_int_equal(rig_get(fib, all, 3, 0, &h), 0);
	assert_int_equal(g, h);
	rig_flows(fib, g, before);
	assert_memory_equal(before, after, sizeof(before));
	leg[0].down = leg[2].down = true;
	assert_int_equal(fib_group_set(fib, g, &(struct fib_group){ leg, 3, 0, 0 }), 0);
	rig_flows(fib, g, before);
	assert_int_equal(rig_count(before, 0), RIG_FLOWS);
	assert_int_equal(rig_set(fib, g, all, 3), 0);
	rig_flows(fib, g, before);
	assert_int_equal(rig_count(before, 3), RIG_FLOWS / 2);
	fib_free(fib);
}

/* ---- contents and references ---- */

static void test_shared(void **state)
{
	const struct fib_leg ab[] = { LEG(1, 2), LEG(2, 1) },
			     ba[] = { LEG(2, 1), LEG(1, 2) };
	const struct fib_leg aab[] = { LEG(1, 1), LEG(2, 1), LEG(1, 1) };
	const struct fib_leg other[] = { LEG(1, 1), LEG(2, 2) };
	struct fib *fib = open_plain();
	struct fib_sizes s;
	uint32_t g, h;

	(void)state;
	assert_int_equal(rig_get(fib, ab, 2, 0, &g), 0);
	assert_int_equal(rig_get(fib, ba, 2, 0, &h), 0);
	assert_int_equal(g, h);
	assert_int_equal(rig_get(fib, aab, 3, 0, &h), 0);
	assert_int_equal(g, h);
	assert_int_equal(rig_get(fib, other, 2, 0, &h), 0);
	assert_true(g != h);
	assert_int_equal(rig_get(fib, ab, 2, 512, &h), 0);
	assert_true(g != h);
	fib_sizes(fib, &s);
	assert_int_equal(s.groups, 3);
	assert_int_equal(s.nexthops, HOPS + 3);
	/* Found by its new contents, no longer by its old. */
	assert_int_equal(rig_set(fib, g, &ab[1], 1), 0);
	assert_int_equal(rig_get(fib, &ab[1], 1, 0, &h), 0);
	assert_int_equal(g, h);
	assert_int_equal(rig_get(fib, ab, 2, 0, &h), 0);
	assert_true(g != h);
	fib_free(fib);
}

static void test_references(void **state)
{
	const struct fib_leg leg[] = { LEG(1, 1), LEG(2, 1) };
	struct fib *fib = open_plain();
	struct fib_nh nh = model_hop(77);
	struct fib_sizes s;
	uint32_t g, i, j;

	(void)state;
	assert_int_equal(rig_get(fib, leg, 2, 0, &g), 0);
	fib_nh_put(fib, 1);
	fib_nh_put(fib, 2);
	fib_reclaim(fib);
	fib_sizes(fib, &s);
	assert_int_equal(s.nexthops, HOPS + 1); /* the group holds both */
	assert_int_equal(rig_set(fib, g, leg, 1), 0);
	fib_sizes(fib, &s);
	assert_int_equal(s.nexthops, HOPS);
	assert_int_equal(fib_nh_get(fib, &nh, &i), 0);
	assert_true(i != 2); /* a worker may still be on its way there */
	fib_reclaim(fib);
	nh = model_hop(78);
	assert_int_equal(fib_nh_get(fib, &nh, &j), 0);
	assert_int_equal(j, 2);
	/* A group goes with what it holds; both are free after one grace period. */
	fib_nh_put(fib, g);
	fib_reclaim(fib);
	fib_sizes(fib, &s);
	assert_int_equal(s.groups, 0);
	assert_int_equal(s.group_bytes, 0);
	assert_int_equal(s.nexthops, HOPS);
	for (unsigned n = 0; n < 2; n++) {
		nh = model_hop(80 + n);
		assert_int_equal(fib_nh_get(fib, &nh, &i), 0);
		assert_true(i == 1 || i == g);
	}
	fib_free(fib);
}

/* Until a grace period is over, a worker may use what it has read before. */
static void test_old_buckets_stay(void **state)
{
	const struct fib_leg ab[] = { LEG(1, 1), LEG(2, 1) },
			     cd[] = { LEG(3, 1), LEG(4, 1) };
	struct fib *fib = open_plain();
	struct fib_nh held;
	uint32_t g;

	(void)state;
	assert_int_equal(rig_get(fib, ab, 2, 0, &g), 0);
	held = (*fib_live(fib))->nh[g];
	rig_flows(fib, g, before);
	assert_int_equal(rig_set(fib, g, cd, 2), 0);
	for (uint32_t flow = 0; flow < 1000; flow++)
		assert_int_equal(fib_nh_leg(&held, flow), before[flow]);
	rig_flows(fib, g, before);
	held = (*fib_live(fib))->nh[g];
	fib_nh_put(fib, g);
	for (uint32_t flow = 0; flow < 1000; flow++)
		assert_int_equal(fib_nh_leg(&held, flow), before[flow]);
	assert_int_equal(rig_get(fib, cd, 2, 0, &g), 0); /* revived */
	fib_reclaim(fib);
	rig_flows(fib, g, after);
	assert_memory_equal(before, after, sizeof(before));
	fib_free(fib);
}

/* ---- next hops and routes ---- */

static bool raise_mtu(void *arg, uint32_t index, struct fib_nh *nh)
{
	(void)arg;
	(void)index;
	assert_int_not_equal(nh->kind, FIB_NH_GROUP);
	nh->mtu = 9000;
	return true;
}

static void test_legs_change(void **state)
{
	const struct fib_leg leg[] = { LEG(1, 1), LEG(2, 1) },
			     both[] = { LEG(3, 1), LEG(4, 1) };
	struct fib_nh nh = model_hop(99), group = { .kind = FIB_NH_GROUP };
	struct fib *fib = open_plain();
	uint32_t g, i = 5;

	(void)state;
	assert_int_equal(rig_get(fib, leg, 2, 0, &g), 0);
	for (unsigned round = 0; round < 3; round++) { /* in either copy */
		rig_flows(fib, g, before);
		assert_int_equal(fib_nh_set(fib, 1, &nh), 0);
		rig_flows(fib, g, after);
		assert_memory_equal(before, after, sizeof(before));
		assert_int_equal(rig_set(fib, g, round & 1 ? leg : both, 2), 0);
		nh.macs[5]++;
	}
	fib_nh_change(fib, raise_mtu, NULL);
	rig_flows(fib, g, after);
	assert_int_equal(rig_count(after, 3), RIG_FLOWS / 2);
	assert_int_equal(fib_nh_set(fib, g, &nh), -EINVAL);
	assert_int_equal(fib_nh_set(fib, 1, &group), -EINVAL);
	assert_int_equal(fib_nh_get(fib, &group, &i), -EINVAL);
	assert_int_equal(i, 5);
	fib_free(fib);
}

/* Groups beyond what 16 bits can name, under routes of either family. */
static void test_routes(void **state)
{
	enum { MANY = 70000 };
	const struct fib_conf conf = { .max_nexthops = MANY + 10 };
	const struct fib_leg leg[] = { LEG(1, 1), LEG(MANY, 1) };
	struct model *m = model_open(&conf, MANY);
	uint32_t g;

	(void)state;
	assert_int_equal(rig_get(m->fib, leg, 2, 0, &g), 0);
	assert_int_equal(g, MANY + 1);
	for (unsigned round = 0; round < 300; round++) {
		struct fib_prefix p = model_pick(m);

		model_replace(m, &p, FIB_STATIC, test_below(2) ? g : 7, 0);
		if (round % 5 == 0)
			model_del(m, &m->route[test_below((uint32_t)m->n)].prefix,
				  FIB_STATIC);
		model_commit(m);
		model_check(m, 40);
	}
	rig_flows(m->fib, g, before);
	assert_int_equal(rig_count(before, 1), RIG_FLOWS / 2);
	assert_int_equal(rig_count(before, MANY), RIG_FLOWS / 2);
	assert_true((*fib_live(m->fib))->has_groups);
	model_close(m);
}

/* ---- refusals ---- */

static void test_invalid(void **state)
{
	const struct fib_leg good[] = { LEG(1, 1), LEG(2, 1) };
	struct fib *fib = open_plain();
	struct fib_leg bad[] = { LEG(1, 1), LEG(2, 1) };
	uint32_t g, i = 5;

	(void)state;
	assert_int_equal(rig_get(fib, good, 0, 0, &i), -EINVAL);
	assert_int_equal(rig_get(fib, good, 2, 0, &g), 0);
	rig_flows(fib, g, before);
	for (unsigned n = 0; n < 5; n++) {
		const struct fib_leg odd[] = { LEG(0, 1), LEG(HOPS + 2, 1), LEG(101, 1),
					       LEG(g, 1), LEG(1, FIB_WEIGHT_MAX + 1) };

		bad[1] = odd[n];
		assert_int_equal(rig_get(fib, bad, 2, 0, &i), -EINVAL);
		assert_int_equal(rig_set(fib, g, bad, 2), -EINVAL);
	}
	bad[0].weight = bad[1].weight = FIB_WEIGHT_MAX;
	bad[1].nh = bad[0].nh;
	assert_int_equal(rig_get(fib, bad, 2, 0, &i), -EINVAL);
	assert_int_equal(rig_set(fib, 1, good, 2), -ENOENT);
	assert_int_equal(rig_set(fib, 0, good, 2), -ENOENT);
	assert_int_equal(rig_set(fib, g + 1, good, 2), -ENOENT);
	assert_int_equal(i, 5);
	rig_flows(fib, g, after);
	assert_memory_equal(before, after, sizeof(before));
	fib_free(fib);
}

static void assert_unchanged(struct fib *fib, uint32_t g, const struct fib_sizes *was)
{
	struct fib_sizes is;

	rig_flows(fib, g, after);
	assert_memory_equal(before, after, sizeof(before));
	fib_sizes(fib, &is);
	assert_int_equal(is.groups, was->groups);
	assert_int_equal(is.nexthops, was->nexthops);
	assert_int_equal(is.group_bytes, was->group_bytes);
}

static void test_limits(void **state)
{
	const struct fib_conf conf = { .max_nexthops = 100,
				       .max_groups = 3,
				       .max_group_bytes = 3000 };
	static const struct fib_leg many[FIB_GROUP_LEGS + 1];
	const struct fib_leg leg[] = { LEG(1, 1), LEG(2, 1), LEG(3, 1), LEG(4, 1) };
	struct fib *fib = open_fib(&conf);
	struct fib_sizes s;
	uint32_t g, other[3], i = 5;

	(void)state;
	assert_int_equal(rig_get(fib, leg, 2, 0, &g), 0);
	assert_int_equal(rig_get(fib, leg + 1, 2, 0, &other[1]), 0);
	assert_int_equal(rig_get(fib, leg + 2, 2, 0, &other[2]), 0);
	rig_flows(fib, g, before);
	fib_sizes(fib, &s);
	assert_int_equal(s.max_groups, 3);
	assert_int_equal(s.max_nexthops, 100);
	assert_int_equal(s.max_group_bytes, 3000);
	assert_int_equal(rig_get(fib, leg, 1, 0, &i), -ENOSPC); /* groups */
	assert_int_equal(rig_get(fib, many, FIB_GROUP_LEGS + 1, 0, &i), -ENOSPC);
	assert_int_equal(rig_get(fib, leg, 1, FIB_GROUP_BUCKETS + 1, &i), -ENOSPC);
	fib_nh_put(fib, other[2]);
	fib_reclaim(fib);
	fib_sizes(fib, &s);
	assert_int_equal(rig_get(fib, leg, 2, 1024, &i), -ENOSPC); /* bytes */
	assert_unchanged(fib, g, &s);
	/* Room comes with a grace period, which is waited for. */
	for (unsigned round = 0; round < 50; round++) {
		assert_int_equal(rig_set(fib, other[1], leg + round % 2, 2), 0);
		assert_int_equal(rig_get(fib, leg + 2, 2, 0, &other[2]), 0);
		fib_nh_put(fib, other[2]);
		fib_sizes(fib, &s);
		assert_true(s.group_bytes <= 3000);
	}
	assert_int_equal(i, 5);
	fib_free(fib);
}

/* Memory that is refused at the k-th request: nothing has changed, and the next try works. */
static void test_memory(void **state)
{
	struct fib_leg leg[] = { LEG(1, 1), LEG(2, 1), LEG(3, 1) };
	struct fib *fib = open_plain();
	uint32_t g, h = 5, refused = 0;
	struct fib_sizes s;

	(void)state;
	assert_int_equal(rig_get(fib, leg, 2, 0, &g), 0);
	for (uint64_t k = 1;; k++, refused++) {
		int r;

		rig_flows(fib, g, before);
		fib_sizes(fib, &s);
		fib_mem_refuse = k;
		r = rig_get(fib, leg, 3, 0, &h);
		fib_mem_refuse = 0;
		if (!r)
			break;
		assert_int_equal(r, -ENOMEM);
		assert_int_equal(h, 5);
		assert_unchanged(fib, g, &s);
	}
	for (uint64_t k = 1;; k++, refused++) {
		int r;

		rig_flows(fib, g, before);
		fib_sizes(fib, &s);
		leg[0].weight = 6; /* more buckets, too */
		fib_mem_refuse = k;
		r = rig_set(fib, g, leg, 3);
		fib_mem_refuse = 0;
		if (!r)
			break;
		assert_int_equal(r, -ENOMEM);
		assert_unchanged(fib, g, &s);
	}
	assert_true(refused >= 3);
	fib_free(fib);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_weights),
		cmocka_unit_test(test_leg_goes_and_comes_back),
		cmocka_unit_test(test_weight_changes),
		cmocka_unit_test(test_grows),
		cmocka_unit_test(test_no_weight),
		cmocka_unit_test(test_down),
		cmocka_unit_test(test_shared),
		cmocka_unit_test(test_references),
		cmocka_unit_test(test_old_buckets_stay),
		cmocka_unit_test(test_legs_change),
		cmocka_unit_test(test_routes),
		cmocka_unit_test(test_invalid),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
