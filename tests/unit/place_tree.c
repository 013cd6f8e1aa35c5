/* unit/place_tree.c - a made-up sysfs, in files */

#include "place_tree.h"

#include <ftw.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char tree_root[64];

/* ---- files ---- */

static void path_of(char path[300], const char *name)
{
	snprintf(path, 300, "%s/devices/system/%s", tree_root, name);
}

static void make_folders(char *path)
{
	for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(path, 0755);
		*slash = '/';
	}
}

void tree_write(const char *name, const char *fmt, ...)
{
	char path[300];
	va_list ap;
	FILE *file;

	path_of(path, name);
	make_folders(path);
	file = fopen(path, "we");
	assert_non_null(file);
	va_start(ap, fmt);
	vfprintf(file, fmt, ap);
	va_end(ap);
	assert_int_equal(fclose(file), 0);
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

static void remove_all(const char *path)
{
	assert_int_equal(nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS), 0);
}

void tree_remove(const char *name)
{
	char path[300];

	path_of(path, name);
	remove_all(path);
}

void tree_unmake(void)
{
	remove_all(tree_root);
}

/* ---- the machine ---- */

static int core_of(const struct tree *t, int cpu)
{
	return cpu % (t->sockets * t->complexes * t->cores);
}

static int complex_of(const struct tree *t, int cpu)
{
	return core_of(t, cpu) / t->cores;
}

static int socket_of(const struct tree *t, int cpu)
{
	return complex_of(t, cpu) / t->complexes;
}

static int count(const struct tree *t)
{
	return t->sockets * t->complexes * t->cores * t->threads;
}

/* A list of the CPUs for which @of says the same as for @cpu. */
__attribute__((format(printf, 4, 5))) static void
write_sharers(const struct tree *t, int cpu, int (*of)(const struct tree *t, int cpu),
	      const char *fmt, ...)
{
	char name[100], list[4096];
	cpu_set_t set;
	va_list ap;

	CPU_ZERO(&set);
	for (int i = 0; i < count(t); i++)
		if (of(t, i) == of(t, cpu))
			CPU_SET(i, &set);
	va_start(ap, fmt);
	vsnprintf(name, sizeof(name), fmt, ap);
	va_end(ap);
	tree_write(name, "%s\n", place_cpus_text(&set, list, sizeof(list)));
}

/* L1 for data and instructions, L2, L3, as processors have them. */
static void write_caches(const struct tree *t, int cpu)
{
	static const int level[] = { 1, 1, 2, 3 };
	char name[100];

	for (int i = 0; i < 4; i++) {
		snprintf(name, sizeof(name), "cpu/cpu%d/cache/index%d/level", cpu, i);
		tree_write(name, "%d\n", level[i]);
		write_sharers(t, cpu, level[i] == 3 ? complex_of : core_of,
			      "cpu/cpu%d/cache/index%d/shared_cpu_list", cpu, i);
	}
}

void tree_make(const struct tree *t)
{
	snprintf(tree_root, sizeof(tree_root), "/tmp/tree_XXXXXX");
	assert_non_null(mkdtemp(tree_root));
	tree_write("cpu/present", "0-%d\n", count(t) - 1);
	tree_write("cpu/online", "0-%d\n", count(t) - 1);
	tree_write("cpu/isolated", "\n");
	tree_write("cpu/nohz_full", "(null)\n");
	tree_write("node/online", "0-%d\n", t->sockets - 1);
	for (int i = 0; i < t->sockets; i++)
		write_sharers(t, i * t->complexes * t->cores, socket_of,
			      "node/node%d/cpulist", i);
	for (int cpu = 0; cpu < count(t); cpu++) {
		write_sharers(t, cpu, core_of, "cpu/cpu%d/topology/thread_siblings_list",
			      cpu);
		write_sharers(t, cpu, socket_of, "cpu/cpu%d/topology/core_siblings_list",
			      cpu);
		write_caches(t, cpu);
	}
}

/* ---- reading it ---- */

cpu_set_t set_of(const char *list)
{
	cpu_set_t set;

	if (place_cpus_parse(list, &set) < 0)
		fail_msg("\"%s\" is no list", list);
	return set;
}

void tree_read(const char *cpuset, const char *start, struct place_topo *ret)
{
	static const struct place_limits none;
	struct place_limits limits;

	place_topo_read(tree_root, &none, ret);
	limits.cpuset = cpuset ? set_of(cpuset) : ret->online;
	limits.start = start ? set_of(start) : limits.cpuset;
	place_topo_read(tree_root, &limits, ret);
}
