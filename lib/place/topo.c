/* place/topo.c - sysfs, read */

#include "topo.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "../base/cleanup.h"
#include "../base/number.h"

enum {
	TEXT_BYTES = 32768, /* a list of 8192 CPUs at its longest has 24 KiB less */
	CACHES_MAX = 16,
	SETS = 8, /* of CPU_SETSIZE: sched_getaffinity(2) refuses less than the kernel has */
};

/* ---- files ---- */

/* A whole file, as text. Return: 0, or -errno; -EFBIG: longer than anything of the kernel's. */
static int read_text(const char *path, char text[TEXT_BYTES])
{
	SCOPED_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t n = 0;
	ssize_t r;

	if (fd < 0)
		return -errno;
	do {
		r = read(fd, text + n, TEXT_BYTES - n);
		n += r > 0 ? (size_t)r : 0;
	} while (r > 0 && n < TEXT_BYTES);
	if (r < 0 || n == TEXT_BYTES)
		return r < 0 ? -errno : -EFBIG;
	text[n] = '\0';
	return strlen(text) == n ? 0 : -EINVAL;
}

__attribute__((format(printf, 3, 4))) static int
read_under(const struct place_topo *t, char text[TEXT_BYTES], const char *fmt, ...)
{
	char path[256];
	va_list ap;
	int n = snprintf(path, sizeof(path), "%s/devices/system/", t->root);

	va_start(ap, fmt);
	vsnprintf(path + n, sizeof(path) - (size_t)n, fmt, ap);
	va_end(ap);
	return read_text(path, text);
}

/* Return: false, and @ret as it was, when the file is not there or holds something else. */
static bool read_cpus(const struct place_topo *t, const char *name, cpu_set_t *ret)
{
	char text[TEXT_BYTES];

	return read_under(t, text, "%s", name) == 0 && place_cpus_parse(text, ret) == 0;
}

/* The same of a file that says with whom @cpu shares something: @cpu must be among them. */
static bool read_sharers(const struct place_topo *t, int cpu, const char *name,
			 cpu_set_t *ret)
{
	char path[100];
	cpu_set_t set;

	snprintf(path, sizeof(path), "cpu/cpu%d/%s", cpu, name);
	if (!read_cpus(t, path, &set) || !CPU_ISSET(cpu, &set))
		return false;
	*ret = set;
	return true;
}

/* ---- what is shared ---- */

static void read_nodes(struct place_topo *t)
{
	cpu_set_t nodes, cpus; /* node numbers are written like CPUs */
	char path[64];

	if (!read_cpus(t, "node/online", &nodes))
		return;
	for (int node = 0; node < CPU_SETSIZE; node++) {
		snprintf(path, sizeof(path), "node/node%d/cpulist", node);
		if (!CPU_ISSET(node, &nodes) || !read_cpus(t, path, &cpus))
			continue;
		for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
			if (CPU_ISSET(cpu, &cpus))
				t->cpu[cpu].node = (int16_t)node;
	}
}

/* Of a cache, counted from 1; 0 = there is no such file. */
static uint64_t cache_level(const struct place_topo *t, int cpu, int index)
{
	char text[TEXT_BYTES];
	uint64_t level;

	if (read_under(t, text, "cpu/cpu%d/cache/index%d/level", cpu, index) < 0)
		return 0;
	text[strcspn(text, "\n")] = '\0';
	return number_parse(text, CACHES_MAX, &level) < 0 ? 0 : level;
}

/* Who shares the last-level cache. The list says what the cache's `id` does, and is there on
 * more machines. */
static bool read_cache(const struct place_topo *t, int cpu, cpu_set_t *ret)
{
	char name[64];
	uint64_t last = 0;
	int found = -1;

	for (int i = 0; i < CACHES_MAX; i++) {
		uint64_t level = cache_level(t, cpu, i);

		if (!level)
			break;
		if (level > last) {
			last = level;
			found = i;
		}
	}
	snprintf(name, sizeof(name), "cache/index%d/shared_cpu_list", found);
	return found >= 0 && read_sharers(t, cpu, name, ret);
}

/* Without caches in sysfs the socket has to do. */
static void read_cpu(struct place_topo *t, int cpu)
{
	struct place_cpu *c = &t->cpu[cpu];
	cpu_set_t set;

	if (read_sharers(t, cpu, "topology/thread_siblings_list", &set))
		c->core = (int16_t)place_cpus_first(&set);
	if (read_cache(t, cpu, &set) ||
	    read_sharers(t, cpu, "topology/core_siblings_list", &set))
		c->complex = (int16_t)place_cpus_first(&set);
}

void place_topo_read(const char *root, const struct place_limits *limits,
		     struct place_topo *ret)
{
	struct place_topo *t = ret;

	memset(t, 0, sizeof(*t));
	snprintf(t->root, sizeof(t->root), "%s", root);
	t->limits = *limits;
	if (!read_cpus(t, "cpu/online", &t->online))
		t->online = limits->cpuset;
	if (!read_cpus(t, "cpu/present", &t->present))
		t->present = t->online;
	read_cpus(t, "cpu/isolated", &t->isolated);
	read_cpus(t, "cpu/nohz_full", &t->nohz); /* "(null)" = none, in some kernels */
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
		t->cpu[cpu] = (struct place_cpu){ -1, (int16_t)cpu, (int16_t)cpu };
	read_nodes(t);
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, &t->online))
			read_cpu(t, cpu);
}

/* ---- what may be used ---- */

/* A mask of all CPUs is cut by the kernel to the cpuset, of whichever kind of cgroup; source:
 * sched_setaffinity(2), "silently restricted". Where that is forbidden nobody can be pinned, and
 * the start mask is all there is. */
static void *ask_limits(void *arg)
{
	struct place_limits *l = arg;
	cpu_set_t mask[SETS];

	if (sched_getaffinity(0, sizeof(mask), mask) < 0)
		return (void *)(intptr_t)-errno;
	l->start = l->cpuset = mask[0];
	memset(mask, 0xff, sizeof(mask));
	if (sched_setaffinity(0, sizeof(mask), mask) == 0 &&
	    sched_getaffinity(0, sizeof(mask), mask) == 0)
		l->cpuset = mask[0];
	return NULL;
}

/* By a thread, whose affinity goes with it. */
int place_limits_read(struct place_limits *ret)
{
	struct place_limits l;
	pthread_t thread;
	void *answer;
	int r = pthread_create(&thread, NULL, ask_limits, &l);

	if (r)
		return -r;
	pthread_join(thread, &answer);
	r = (int)(intptr_t)answer;
	if (!r)
		*ret = l;
	return r;
}

void place_topo_usable(const struct place_topo *t, cpu_set_t *ret)
{
	const struct place_limits *l = &t->limits;
	cpu_set_t rest, both;

	CPU_AND(&both, &l->cpuset, &t->isolated);
	CPU_XOR(&rest, &l->cpuset, &both);
	if (CPU_EQUAL(&l->start, &rest))
		CPU_AND(ret, &l->cpuset, &t->online);
	else
		CPU_AND(ret, &l->start, &t->online);
}

/* ---- looking at it ---- */

void place_topo_core(const struct place_topo *t, int cpu, cpu_set_t *ret)
{
	CPU_ZERO(ret);
	for (int i = 0; i < CPU_SETSIZE; i++)
		if (CPU_ISSET(i, &t->online) && t->cpu[i].core == t->cpu[cpu].core)
			CPU_SET(i, ret);
}

void place_topo_complex(const struct place_topo *t, int cpu, cpu_set_t *ret)
{
	CPU_ZERO(ret);
	for (int i = 0; i < CPU_SETSIZE; i++)
		if (CPU_ISSET(i, &t->online) && t->cpu[i].complex == t->cpu[cpu].complex)
			CPU_SET(i, ret);
}

const char *place_topo_governor(const struct place_topo *t, int cpu, char text[32])
{
	char all[TEXT_BYTES] = "";
	size_t n = 0;

	if (read_under(t, all, "cpu/cpu%d/cpufreq/scaling_governor", cpu) == 0)
		while (n < 31 && (isalnum((unsigned char)all[n]) || all[n] == '_'))
			n++;
	snprintf(text, 32, "%.*s", (int)n, all);
	return text;
}
