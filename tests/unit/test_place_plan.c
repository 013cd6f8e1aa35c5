/* unit/test_place_plan.c - the order of choice, refusals, and what is said of a plan */

#include "place_tree.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "../../lib/base/hot.h"
#include "../../lib/place/plan.h"

static struct place_plan plan;

static void set_ports(const int *node, unsigned n)
{
	static const char *const names[] = { "eth0", "eth1", "eth2" };

	plan.n_ports = n;
	for (unsigned i = 0; i < n; i++)
		plan.port[i] = (struct place_port){ names[i], node[i] };
}

/* "1,2,9": CPUs of the workers, in order; "-" = not pinned. */
static const char *chosen(void)
{
	static char text[400];
	char one[16];

	*text = '\0';
	for (unsigned w = 0; w < plan.n_workers; w++) {
		snprintf(one, sizeof(one), plan.cpu[w] < 0 ? "%s-" : "%s%d", w ? "," : "",
			 plan.cpu[w]);
		test_append(text, sizeof(text), one);
	}
	return text;
}

/* ---- the order ---- */

struct order {
	struct tree tree;
	const char *isolated, *nohz, *cpuset, *start;
	int node[2]; /* of two ports */
	unsigned workers;
	const char *cpus;
};

static void check_order(const struct order *o)
{
	tree_make(&o->tree);
	tree_write("cpu/isolated", "%s\n", o->isolated ? o->isolated : "");
	tree_write("cpu/nohz_full", "%s\n", o->nohz ? o->nohz : "(null)");
	tree_read(o->cpuset, o->start, &plan.topo);
	set_ports(o->node, 2);
	plan.n_workers = o->workers;
	place_plan_choose(&plan);
	assert_string_equal(chosen(), o->cpus);
	tree_unmake();
}

static void check_orders(const struct order *o, size_t n)
{
	for (size_t i = 0; i < n; i++)
		check_order(&o[i]);
}

static void cores_then_siblings_then_cpu_0(void **state)
{
	static const struct order rows[] = {
		/* One CPU; two; two of one core. */
		{ { 1, 1, 1, 1 }, .workers = 1, .cpus = "0" },
		{ { 1, 1, 2, 1 }, .workers = 1, .cpus = "1" },
		{ { 1, 1, 2, 1 }, .workers = 2, .cpus = "1,0" },
		{ { 1, 1, 1, 2 }, .workers = 2, .cpus = "1,0" },
		{ { 1, 1, 4, 2 }, .workers = 8, .cpus = "1,2,3,5,6,7,4,0" },
		{ { 1, 1, 2, 4 }, .workers = 8, .cpus = "1,3,5,7,2,4,6,0" },
		/* More workers than CPUs. */
		{ { 1, 1, 2, 1 }, .workers = 4, .cpus = "1,0,-,-" },
		{ { 1, 1, 4, 1 }, .cpuset = "2", .workers = 2, .cpus = "2,-" },
	};

	(void)state;
	check_orders(rows, ARRAY_LEN(rows));
}

static void one_complex_is_full_before_the_next_is_begun(void **state)
{
	static const struct order rows[] = {
		/* Three cores are left in the complex of CPU 0, so it comes last. */
		{ { 1, 3, 4, 1 }, .workers = 12, .cpus = "4,5,6,7,8,9,10,11,1,2,3,0" },
		{ { 1, 2, 3, 2 }, .workers = 12, .cpus = "3,4,5,1,2,9,7,10,8,11,6,0" },
		/* Room counts what may be used. */
		{ { 1, 3, 4, 1 },
		  .cpuset = "1-4,8-11",
		  .workers = 8,
		  .cpus = "8,9,10,11,1,2,3,4" },
	};

	(void)state;
	check_orders(rows, ARRAY_LEN(rows));
}

static void the_ports_node_comes_first(void **state)
{
	static const struct order rows[] = {
		{ { 2, 1, 2, 1 }, .node = { 1, 1 }, .workers = 4, .cpus = "2,3,1,0" },
		{ { 2, 1, 2, 1 }, .node = { 0, 0 }, .workers = 4, .cpus = "1,0,2,3" },
		/* Not known, or not there. */
		{ { 2, 1, 2, 1 }, .node = { -1, -1 }, .workers = 4, .cpus = "2,3,1,0" },
		{ { 2, 1, 2, 1 }, .node = { -1, 0 }, .workers = 2, .cpus = "1,0" },
		{ { 2, 1, 2, 1 }, .node = { 7, 7 }, .workers = 2, .cpus = "2,3" },
		/* A port on each: a node is as good as the other, but both at once are not. */
		{ { 2, 2, 2, 1 }, .node = { 0, 1 }, .workers = 4, .cpus = "2,3,1,4" },
		/* Siblings before the other socket. */
		{ { 2, 1, 2, 2 },
		  .node = { 1, 1 },
		  .workers = 8,
		  .cpus = "2,3,6,7,1,5,4,0" },
	};

	(void)state;
	check_orders(rows, ARRAY_LEN(rows));
}

static void what_was_set_aside_comes_first(void **state)
{
	static const struct order rows[] = {
		{ { 1, 1, 8, 1 },
		  .isolated = "4-5",
		  .nohz = "4-7",
		  .workers = 8,
		  .cpus = "4,5,6,7,1,2,3,0" },
		/* With its siblings; the first of them is on the core of CPU 0. */
		{ { 1, 1, 4, 2 },
		  .isolated = "4-7",
		  .start = "0-3",
		  .workers = 5,
		  .cpus = "5,6,7,4,1" },
		{ { 1, 1, 4, 2 },
		  .isolated = "2-3,6-7",
		  .start = "0-1,4-5",
		  .workers = 6,
		  .cpus = "2,3,6,7,1,5" },
		/* Of the ports' node before that of the other. */
		{ { 2, 1, 4, 1 },
		  .isolated = "3,7",
		  .node = { 0, 0 },
		  .workers = 5,
		  .cpus = "3,1,2,0,7" },
		{ { 2, 1, 4, 1 },
		  .isolated = "3,7",
		  .node = { -1, -1 },
		  .workers = 3,
		  .cpus = "3,7,4" },
		/* Somebody narrowed the affinity. */
		{ { 1, 1, 8, 1 },
		  .isolated = "4-7",
		  .start = "2-3",
		  .workers = 3,
		  .cpus = "2,3,-" },
	};

	(void)state;
	check_orders(rows, ARRAY_LEN(rows));
}

/* Any machine, any limits: CPUs that may be used, each once, and all of them before none. */
static void every_choice_is_a_choice(void **state)
{
	(void)state;
	for (int round = 0; round < 30; round++) {
		const struct tree tree = { 1 + (int)test_below(2), 1 + (int)test_below(3),
					   1 + (int)test_below(3),
					   1 + (int)test_below(2) };
		int node[2] = { (int)test_below(3) - 1, (int)test_below(3) - 1 };
		unsigned isolated = test_below(6);
		cpu_set_t usable, taken;
		unsigned n;

		tree_make(&tree);
		tree_write("cpu/isolated", "%u-%u\n", isolated, isolated + test_below(4));
		tree_read(NULL, NULL, &plan.topo);
		set_ports(node, 2);
		plan.n_workers = 1 + test_below(64);
		place_plan_choose(&plan);
		place_topo_usable(&plan.topo, &usable);
		CPU_ZERO(&taken);
		n = plan.n_workers < (unsigned)CPU_COUNT(&usable)
			    ? plan.n_workers
			    : (unsigned)CPU_COUNT(&usable);
		for (unsigned w = 0; w < n; w++) {
			assert_true(CPU_ISSET(plan.cpu[w], &usable));
			assert_false(CPU_ISSET(plan.cpu[w], &taken));
			CPU_SET(plan.cpu[w], &taken);
		}
		for (unsigned w = n; w < plan.n_workers; w++)
			assert_int_equal(plan.cpu[w], -1);
		tree_unmake();
	}
}

/* ---- as wished ---- */

static void a_wish_is_obeyed_or_refused_with_the_reason(void **state)
{
	static const struct {
		int cpu[4];
		unsigned n;
		const char *why; /* NULL: obeyed */
	} rows[] = {
		{ { 5, 1 }, 2, NULL },
		{ { 1, 5, 4, 0 }, 4, NULL }, /* more than needed */
		{ { 5 }, 1, "1 CPUs are too few for 2 workers" },
		{ { 5, 9 }, 2, "there is no CPU 9, but 0-7" },
		{ { 5, -1 }, 2, "there is no CPU -1, but 0-7" },
		{ { 5, 1024 }, 2, "there is no CPU 1024, but 0-7" },
		{ { 6, 5 }, 2, "CPU 6 is offline" },
		{ { 5, 7 },
		  2,
		  "CPU 7 is outside the cpuset of this process, 0-5 (AllowedCPUs= of its "
		  "unit, or cpuset.cpus of its cgroup)" },
		{ { 5, 5 }, 2, "CPU 5 is named twice" },
		{ { 5, 1, 5 }, 3, "CPU 5 is named twice" },
		{ { 5, 1, 9 }, 3, "there is no CPU 9, but 0-7" },
	};

	(void)state;
	tree_make(&(struct tree){ 1, 1, 8, 1 });
	tree_write("cpu/online", "0-5,7\n");
	tree_read("0-5", "0", &plan.topo); /* the start affinity is no limit */
	plan.n_workers = 2;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct err err = { "" };
		int r = place_plan_take(&plan, rows[i].cpu, rows[i].n, &err);

		assert_int_equal(r, rows[i].why ? -EINVAL : 0);
		assert_string_equal(err.text, rows[i].why ? rows[i].why : "");
		if (!r)
			assert_memory_equal(plan.cpu, rows[i].cpu, 2 * sizeof(int));
	}
	tree_unmake();
}

/* ---- what is said ---- */

static char said[2000];

static void hear(void *arg, const char *text)
{
	(void)arg;
	test_append(said, sizeof(said), *said ? "; " : "");
	test_append(said, sizeof(said), text);
}

static void assert_said(unsigned worker, const char *why, const char *warnings)
{
	char text[PLACE_TEXT];

	assert_string_equal(place_plan_why(&plan, worker, text), why);
	*said = '\0';
	place_plan_warn(&plan, worker, hear, NULL);
	assert_string_equal(said, warnings);
}

static void choose(unsigned workers)
{
	plan.n_workers = workers;
	tree_read(NULL, NULL, &plan.topo);
	place_plan_choose(&plan);
}

static void take(const char *list, unsigned n)
{
	cpu_set_t set = set_of(list);
	struct err err = { "" };
	int cpu[8];

	tree_read(NULL, NULL, &plan.topo);
	for (unsigned i = 0; i < n; i++) {
		cpu[i] = place_cpus_first(&set);
		CPU_CLR(cpu[i], &set);
	}
	plan.n_workers = n;
	if (place_plan_take(&plan, cpu, n, &err) < 0)
		fail_msg("%s", err.text);
}

static void of_a_good_plan_nothing_is_bad(void **state)
{
	(void)state;
	tree_make(&(struct tree){ 2, 2, 2, 2 });
	set_ports((int[]){ 1, 1 }, 2);
	tree_write("cpu/isolated", "4-7,12-15\n");
	choose(4);
	assert_string_equal(chosen(), "4,5,6,7");
	assert_said(0, "on the ports' node, isolated, the first in its cache", "");
	assert_said(1, "on the ports' node, isolated, in the cache of worker 0", "");
	assert_said(2, "on the ports' node, isolated, the first in its cache", "");
	assert_int_equal(place_plan_node(&plan, 3), 1);
	tree_unmake();
}

static void of_an_ordinary_machine(void **state)
{
	(void)state;
	tree_make(&(struct tree){ 1, 1, 2, 1 });
	tree_write("cpu/nohz_full", "1\n");
	set_ports((int[]){ -1 }, 1);
	choose(3);
	assert_said(0, "without a tick, the first in its cache", "");
	assert_said(1, "the last one left, in the cache of worker 0",
		    "on CPU 0, where the kernel has work that it cannot move");
	assert_said(2, "2 CPUs for 3 workers",
		    "not pinned: 2 CPUs for 3 workers, so it takes time from others; "
		    "workers = 2 would do");
	assert_int_equal(place_plan_node(&plan, 0), 0);
	assert_int_equal(place_plan_node(&plan, 2), -1);
	tree_unmake();
}

static void a_far_node(void **state)
{
	(void)state;
	tree_make(&(struct tree){ 2, 1, 2, 1 });
	set_ports((int[]){ 0, 1, 1 }, 3);
	choose(4);
	assert_string_equal(chosen(), "2,3,1,0");
	assert_said(0, "on the node of some ports, the first in its cache",
		    "on node 1, and port eth0 on node 0");
	assert_said(
		2, "on the node of some ports, the first in its cache",
		"on node 0, and port eth1 on node 1; on node 0, and port eth2 on node 1");
	set_ports((int[]){ 1, 1, -1 }, 3);
	choose(3);
	assert_said(0, "on the ports' node, the first in its cache", "");
	assert_said(
		2, "no CPU is left on the ports' node, the first in its cache",
		"on node 0, and port eth0 on node 1; on node 0, and port eth1 on node 1");
	tree_unmake();
}

static void a_core_for_two(void **state)
{
	(void)state;
	tree_make(&(struct tree){ 1, 1, 4, 2 });
	set_ports((int[]){ -1 }, 1);
	choose(4);
	assert_string_equal(chosen(), "1,2,3,5");
	assert_said(0, "the first in its cache", "shares its core with worker 3");
	assert_said(1, "in the cache of worker 0", "");
	assert_said(3, "on the core of worker 0", "shares its core with worker 0");
	tree_write("cpu/isolated", "2-3,6\n");
	take("2,3", 2);
	assert_said(0, "named by cpus =", "");
	assert_said(1, "named by cpus =",
		    "isolated, but its hyper-thread sibling CPU 7 is not");
	tree_unmake();
}

static void isolated_ones_left_alone(void **state)
{
	(void)state;
	tree_make(&(struct tree){ 1, 1, 8, 1 });
	set_ports((int[]){ -1 }, 1);
	tree_write("cpu/isolated", "5-7,900\n");
	take("3,5", 2);
	assert_said(0,
		    "named by cpus =", "not isolated, while isolated CPUs are free: 6-7");
	assert_said(1, "named by cpus =", "");
	take("3,5,6,7", 4);
	assert_said(0, "named by cpus =", "");
	tree_unmake();
}

static void a_governor_that_saves(void **state)
{
	(void)state;
	tree_make(&(struct tree){ 1, 1, 2, 1 });
	set_ports((int[]){ -1 }, 1);
	choose(1);
	assert_said(0, "the first in its cache", "");
	tree_write("cpu/cpu1/cpufreq/scaling_governor", "schedutil\n");
	assert_said(
		0, "the first in its cache",
		"governor schedutil: the first packets after a pause meet a slow clock; "
		"set performance");
	tree_write("cpu/cpu1/cpufreq/scaling_governor", "performance\n");
	assert_said(0, "the first in its cache", "");
	tree_unmake();
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(cores_then_siblings_then_cpu_0),
	cmocka_unit_test(one_complex_is_full_before_the_next_is_begun),
	cmocka_unit_test(the_ports_node_comes_first),
	cmocka_unit_test(what_was_set_aside_comes_first),
	cmocka_unit_test(every_choice_is_a_choice),
	cmocka_unit_test(a_wish_is_obeyed_or_refused_with_the_reason),
	cmocka_unit_test(of_a_good_plan_nothing_is_bad),
	cmocka_unit_test(of_an_ordinary_machine),
	cmocka_unit_test(a_far_node),
	cmocka_unit_test(a_core_for_two),
	cmocka_unit_test(isolated_ones_left_alone),
	cmocka_unit_test(a_governor_that_saves),
};

int main(void)
{
	return cmocka_run_group_tests(tests, NULL, NULL);
}
