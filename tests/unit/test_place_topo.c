/* unit/test_place_topo.c - what made-up machines share, and what rubbish in sysfs does */

#include "place_tree.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

#include "../../lib/base/hot.h"

static struct place_topo topo;

static void assert_set(const cpu_set_t *set, const char *list)
{
	char text[4096];

	assert_string_equal(place_cpus_text(set, text, sizeof(text)), list);
}

/* ---- lists ---- */

static void lists_are_read_as_the_kernel_writes_them(void **state)
{
	static const struct {
		const char *text;
		int r;
		const char *back;
	} rows[] = {
		{ "", 0, "" },
		{ "\n", 0, "" },
		{ "0", 0, "0" },
		{ "0\n", 0, "0" },
		{ "0-3,8\n", 0, "0-3,8" },
		{ "8,0-3", 0, "0-3,8" },
		{ "0-1,1-2,2", 0, "0-2" },
		{ "5-5", 0, "5" },
		{ "1022-1023", 0, "1022-1023" },
		{ "1023-1024,2000", 0, "1023" }, /* passed over */
		{ "0-4294967295", 0, "0-1023" },
		{ "4294967296", -ERANGE, "" },
		{ "0-4294967296", -ERANGE, "" },
		{ "99999999999999999999999", -ERANGE, "" },
		{ "3-2", -EINVAL, "" },
		{ "-1", -EINVAL, "" },
		{ "1-", -EINVAL, "" },
		{ "1,", -EINVAL, "" },
		{ "1,\n", -EINVAL, "" },
		{ ",1", -EINVAL, "" },
		{ "1,,2", -EINVAL, "" },
		{ "1 2", -EINVAL, "" },
		{ "1\n2", -EINVAL, "" },
		{ "1\n\n", -EINVAL, "" },
		{ "0-31:2/16", -EINVAL, "" }, /* of the command line only */
		{ "0x1", -EINVAL, "" },
		{ "(null)\n", -EINVAL, "" },
	};
	cpu_set_t set, seven;

	(void)state;
	CPU_ZERO(&seven);
	CPU_SET(7, &seven);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		set = seven;
		if (place_cpus_parse(rows[i].text, &set) != rows[i].r)
			fail_msg("\"%s\"", rows[i].text);
		assert_set(&set, rows[i].r ? "7" : rows[i].back);
	}
}

static void a_list_without_room_says_so(void **state)
{
	cpu_set_t set = set_of("0-3,8,10,12-15");
	char text[32];

	(void)state;
	assert_string_equal(place_cpus_text(&set, text, 20), "0-3,8,10,12-15");
	assert_string_equal(place_cpus_text(&set, text, 18), "0-3,8,10,12-15");
	assert_string_equal(place_cpus_text(&set, text, 17), "0-3,8,10...");
	assert_string_equal(place_cpus_text(&set, text, 7), "0-3...");
	assert_string_equal(place_cpus_text(&set, text, 6), "...");
	assert_string_equal(place_cpus_text(&set, text, 2), ".");
	assert_string_equal(place_cpus_text(&set, text, 1), "");
	assert_int_equal(place_cpus_first(&set), 0);
	CPU_ZERO(&set);
	assert_int_equal(place_cpus_first(&set), -1);
}

/* ---- machines ---- */

static void assert_cpu(int cpu, int node, const char *complex, const char *core)
{
	cpu_set_t set;

	assert_int_equal(topo.cpu[cpu].node, node);
	place_topo_complex(&topo, cpu, &set);
	assert_set(&set, complex);
	place_topo_core(&topo, cpu, &set);
	assert_set(&set, core);
}

static void two_sockets_two_complexes_two_threads(void **state)
{
	(void)state;
	tree_make(&(struct tree){ 2, 2, 2, 2 });
	tree_read(NULL, NULL, &topo);
	assert_set(&topo.online, "0-15");
	assert_set(&topo.isolated, "");
	assert_set(&topo.nohz, "");
	assert_cpu(0, 0, "0-1,8-9", "0,8");
	assert_cpu(9, 0, "0-1,8-9", "1,9");
	assert_cpu(3, 0, "2-3,10-11", "3,11");
	assert_cpu(4, 1, "4-5,12-13", "4,12");
	assert_cpu(15, 1, "6-7,14-15", "7,15");
	tree_unmake();
}

static void eight_complexes_of_eight_cores(void **state)
{
	(void)state;
	tree_make(&(struct tree){ 1, 8, 8, 2 });
	tree_read(NULL, NULL, &topo);
	assert_set(&topo.online, "0-127");
	assert_cpu(0, 0, "0-7,64-71", "0,64");
	assert_cpu(127, 0, "56-63,120-127", "63,127");
	tree_unmake();
}

static void one_cpu(void **state)
{
	(void)state;
	tree_make(&(struct tree){ 1, 1, 1, 1 });
	tree_read(NULL, NULL, &topo);
	assert_cpu(0, 0, "0", "0");
	tree_unmake();
}

/* Their files under cpuN/ are gone, and the lists of others lack them. */
static void cpus_that_are_offline(void **state)
{
	(void)state;
	tree_make(&(struct tree){ 1, 2, 2, 2 });
	tree_write("cpu/online", "0,2-5,7\n");
	tree_remove("cpu/cpu1/topology");
	tree_remove("cpu/cpu1/cache");
	tree_write("cpu/cpu5/topology/thread_siblings_list", "5\n");
	tree_write("cpu/cpu0/cache/index3/shared_cpu_list", "0,4-5\n");
	tree_read(NULL, NULL, &topo);
	assert_set(&topo.present, "0-7");
	assert_set(&topo.online, "0,2-5,7");
	assert_cpu(0, 0, "0,4-5", "0,4");
	assert_cpu(5, 0, "0,4-5", "5");
	assert_cpu(2, 0, "2-3,7", "2"); /* 6 is offline, though the lists name it */
	assert_int_equal(topo.cpu[1].core, 1);
	tree_unmake();
}

/* Cores of two kinds: only some have a third level. */
static void the_highest_level_there_is(void **state)
{
	(void)state;
	tree_make(&(struct tree){ 1, 1, 4, 1 });
	tree_remove("cpu/cpu3/cache/index3");
	tree_write("cpu/cpu3/cache/index2/shared_cpu_list", "2-3\n");
	tree_read(NULL, NULL, &topo);
	assert_int_equal(topo.cpu[3].complex, 2);
	assert_int_equal(topo.cpu[2].complex, 0);
	tree_unmake();
}

/* ---- what is missing ---- */

static void without_caches_the_socket_has_to_do(void **state)
{
	(void)state;
	tree_make(&(struct tree){ 2, 2, 1, 1 });
	for (int cpu = 0; cpu < 4; cpu++) {
		char name[64];

		snprintf(name, sizeof(name), "cpu/cpu%d/cache", cpu);
		tree_remove(name);
	}
	tree_read(NULL, NULL, &topo);
	assert_cpu(1, 0, "0-1", "1");
	assert_cpu(2, 1, "2-3", "2");
	tree_unmake();
}

static void each_file_may_be_missing(void **state)
{
	(void)state;
	tree_make(&(struct tree){ 2, 1, 2, 2 });
	tree_remove("cpu/isolated");
	tree_remove("cpu/nohz_full");
	tree_remove("cpu/present");
	tree_remove("cpu/cpu1/topology");
	tree_remove("cpu/cpu1/cache");
	tree_remove("node/node1");
	tree_read(NULL, NULL, &topo);
	assert_set(&topo.present, "0-7");
	assert_set(&topo.isolated, "");
	assert_cpu(0, 0, "0,4-5", "0,4");
	assert_cpu(1, 0, "1", "1,5"); /* so says 5 */
	assert_cpu(2, -1, "2-3,6-7", "2,6");
	tree_remove("node/online");
	tree_read(NULL, NULL, &topo);
	assert_cpu(0, -1, "0,4-5", "0,4");
	tree_unmake();
}

static void without_a_sysfs_the_cpuset_is_all(void **state)
{
	const struct place_limits limits = { set_of("1-2"), set_of("2") };

	(void)state;
	place_topo_read("/nowhere", &limits, &topo);
	assert_set(&topo.present, "1-2");
	assert_set(&topo.online, "1-2");
	assert_cpu(1, -1, "1", "1");
	assert_cpu(2, -1, "2", "2");
}

/* ---- what makes no sense ---- */

static const char *const files[] = {
	"cpu/present",
	"cpu/isolated",
	"cpu/nohz_full",
	"node/online",
	"node/node0/cpulist",
	"cpu/cpu1/topology/thread_siblings_list",
	"cpu/cpu1/topology/core_siblings_list",
	"cpu/cpu1/cache/index0/level",
	"cpu/cpu1/cache/index3/level",
	"cpu/cpu1/cache/index3/shared_cpu_list",
};

static void assert_sane(void)
{
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		assert_in_range(topo.cpu[cpu].node + 1, 0, CPU_SETSIZE);
		assert_in_range(topo.cpu[cpu].core, 0, cpu);
		assert_in_range(topo.cpu[cpu].complex, 0, cpu);
	}
	assert_cpu(7, 1, "4-7", "7"); /* nobody touched */
}

/* Each file with each rubbish; what the others say stays. */
static void rubbish_is_as_good_as_nothing(void **state)
{
	static const char *const rubbish[] = {
		"",
		"\n",
		"x",
		"-",
		"-1",
		"9-1",
		"0-",
		"1,,2",
		"0-4294967296",
		"0-4294967295",
		"1023",
		"65536",
		"1\n1\n",
		"\xff\xfe",
		"2147483648",
		"0x3",
		"(null)",
		"0-3:1/2",
		" 0",
	};

	(void)state;
	for (size_t f = 0; f < ARRAY_LEN(files); f++) {
		tree_make(&(struct tree){ 2, 1, 4, 1 });
		for (size_t i = 0; i < ARRAY_LEN(rubbish); i++) {
			tree_write(files[f], "%s", rubbish[i]);
			if (strcmp(files[f], "node/online") != 0) {
				tree_read(NULL, NULL, &topo);
				assert_sane();
				continue;
			}
			tree_read(NULL, NULL, &topo);
			assert_cpu(7, topo.cpu[7].node, "4-7", "7");
		}
		tree_unmake();
	}
}

/* 100 KiB of a list that would be good; a zero byte in the middle; a folder. */
static void too_long_zero_bytes_folders(void **state)
{
	static char text[100000];

	(void)state;
	for (size_t at = 0; at + 5 < sizeof(text); at += 4)
		memcpy(text + at, "0-3,", 5);
	text[sizeof(text) - 6] = '\0';
	for (size_t f = 0; f < ARRAY_LEN(files); f++) {
		char below[100];

		if (!strcmp(files[f], "node/online"))
			continue;
		tree_make(&(struct tree){ 2, 1, 4, 1 });
		tree_write(files[f], "%s", text);
		tree_read(NULL, NULL, &topo);
		assert_sane();
		tree_write(files[f], "0%c-3\n", '\0');
		tree_read(NULL, NULL, &topo);
		assert_sane();
		tree_remove(files[f]);
		snprintf(below, sizeof(below), "%s/folder", files[f]);
		tree_write(below, "%s", "");
		tree_read(NULL, NULL, &topo);
		assert_sane();
		tree_unmake();
	}
}

/* A list of others: it cannot be about this CPU. */
static void sharers_without_oneself(void **state)
{
	(void)state;
	tree_make(&(struct tree){ 1, 1, 2, 2 });
	tree_write("cpu/cpu1/topology/thread_siblings_list", "0,2\n");
	tree_write("cpu/cpu1/cache/index3/shared_cpu_list", "0,2\n");
	tree_write("cpu/cpu1/topology/core_siblings_list", "0,2\n");
	tree_read(NULL, NULL, &topo);
	assert_cpu(0, 0, "0,2-3", "0,2");
	assert_cpu(1, 0, "1", "1,3"); /* so says 3 */
	tree_unmake();
}

static void a_machine_with_more_than_we_count(void **state)
{
	(void)state;
	tree_make(&(struct tree){ 1, 1, 1, 1 });
	tree_write("cpu/online", "0-4095\n");
	tree_write("cpu/present", "0-8191\n");
	tree_read(NULL, NULL, &topo);
	assert_set(&topo.online, "0-1023");
	assert_cpu(1023, -1, "1023", "1023");
	tree_unmake();
}

/* ---- what may be used ---- */

static void an_affinity_counts_if_somebody_narrowed_it(void **state)
{
	static const struct {
		const char *isolated, *cpuset, *start, *usable;
	} rows[] = {
		{ "", "0-7", "0-7", "0-7" },
		{ "", "0-7", "2-3", "2-3" },	/* taskset */
		{ "4-7", "0-7", "0-3", "0-7" }, /* as all processes start */
		{ "4-7", "0-7", "0-7", "0-7" },
		{ "4-7", "0-7", "4-5", "4-5" }, /* CPUAffinity= */
		{ "4-7", "0-7", "2-3", "2-3" },
		{ "4-7", "2-5", "2-3", "2-5" }, /* AllowedCPUs= */
		{ "4-7", "4-7", "4-7", "4-7" },
		{ "4-7", "4-7", "6", "6" },
		{ "0-7", "0-7", "3", "3" },
		{ "", "0-7", "0-3,900", "0-3" }, /* not online */
	};
	cpu_set_t set;

	(void)state;
	tree_make(&(struct tree){ 1, 1, 8, 1 });
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		tree_write("cpu/isolated", "%s\n", rows[i].isolated);
		tree_read(rows[i].cpuset, rows[i].start, &topo);
		place_topo_usable(&topo, &set);
		assert_set(&set, rows[i].usable);
	}
	tree_unmake();
}

/* Of this process: a thread is narrowed to one CPU, and stays so when the limits are read. */
static void the_cpuset_is_more_than_the_affinity(void **state)
{
	struct place_limits all, narrow;
	cpu_set_t one, is;

	(void)state;
	assert_int_equal(place_limits_read(&all), 0);
	assert_true(CPU_EQUAL(&all.cpuset, &all.start));
	CPU_ZERO(&one);
	CPU_SET(place_cpus_first(&all.start), &one);
	assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
	assert_int_equal(place_limits_read(&narrow), 0);
	assert_true(CPU_EQUAL(&narrow.start, &one));
	assert_true(CPU_EQUAL(&narrow.cpuset, &all.cpuset));
	assert_int_equal(sched_getaffinity(0, sizeof(is), &is), 0);
	assert_true(CPU_EQUAL(&is, &one));
	assert_int_equal(sched_setaffinity(0, sizeof(is), &all.start), 0);
}

static void the_real_machine(void **state)
{
	struct place_limits limits;
	cpu_set_t set, all;

	(void)state;
	assert_int_equal(place_limits_read(&limits), 0);
	place_topo_read(PLACE_SYSFS, &limits, &topo);
	place_topo_usable(&topo, &set);
	assert_true(CPU_COUNT(&set) > 0);
	CPU_AND(&all, &set, &topo.present);
	assert_true(CPU_EQUAL(&all, &set));
}

/* ---- governors ---- */

static void governors_are_read_anew(void **state)
{
	char text[32];

	(void)state;
	tree_make(&(struct tree){ 1, 1, 2, 1 });
	tree_read(NULL, NULL, &topo);
	assert_string_equal(place_topo_governor(&topo, 1, text), "");
	tree_write("cpu/cpu1/cpufreq/scaling_governor", "powersave\n");
	assert_string_equal(place_topo_governor(&topo, 1, text), "powersave");
	tree_write("cpu/cpu1/cpufreq/scaling_governor", "performance\n");
	assert_string_equal(place_topo_governor(&topo, 1, text), "performance");
	tree_write("cpu/cpu1/cpufreq/scaling_governor", "\x1b[31m\n");
	assert_string_equal(place_topo_governor(&topo, 1, text), "");
	tree_write("cpu/cpu1/cpufreq/scaling_governor", "%0100d", 0);
	assert_int_equal(strlen(place_topo_governor(&topo, 1, text)), 31);
	tree_unmake();
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(lists_are_read_as_the_kernel_writes_them),
	cmocka_unit_test(a_list_without_room_says_so),
	cmocka_unit_test(two_sockets_two_complexes_two_threads),
	cmocka_unit_test(eight_complexes_of_eight_cores),
	cmocka_unit_test(one_cpu),
	cmocka_unit_test(cpus_that_are_offline),
	cmocka_unit_test(the_highest_level_there_is),
	cmocka_unit_test(without_caches_the_socket_has_to_do),
	cmocka_unit_test(each_file_may_be_missing),
	cmocka_unit_test(without_a_sysfs_the_cpuset_is_all),
	cmocka_unit_test(rubbish_is_as_good_as_nothing),
	cmocka_unit_test(too_long_zero_bytes_folders),
	cmocka_unit_test(sharers_without_oneself),
	cmocka_unit_test(a_machine_with_more_than_we_count),
	cmocka_unit_test(an_affinity_counts_if_somebody_narrowed_it),
	cmocka_unit_test(the_cpuset_is_more_than_the_affinity),
	cmocka_unit_test(the_real_machine),
	cmocka_unit_test(governors_are_read_anew),
};

int main(void)
{
	return cmocka_run_group_tests(tests, NULL, NULL);
}
