/* place/topo.h - which CPUs there are, what they share, and which of them are ours to use
 *
 *   node > complex > core > CPU        (NUMA node, last-level cache, core, hyper-thread)
 *
 * Complex and core are known by their lowest CPU. What the kernel does not say, or says in a
 * way that makes no sense, reads as if there were nothing to share: no node, every CPU a core.
 *
 * Source: Linux, Documentation/ABI/stable/sysfs-devices-system-cpu and sysfs-devices-node.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "cpus.h"

#define PLACE_SYSFS "/sys"

/* What a process may use. */
struct place_limits {
	cpu_set_t cpuset; /* cannot be left: cgroup */
	cpu_set_t start;  /* the affinity it was started with, which it may change */
};

struct place_cpu {
	int16_t node; /* -1 = not known */
	int16_t complex, core;
};

struct place_topo {
	char root[64]; /* of sysfs */
	struct place_limits limits;
	cpu_set_t present, online;
	cpu_set_t isolated; /* isolcpus=: the scheduler puts nothing there by itself */
	cpu_set_t nohz;	    /* nohz_full=: no tick while one thread runs */
	struct place_cpu cpu[CPU_SETSIZE];
};

/* Of the calling process; to be asked before a thread of it is pinned. Context: sleeps.
 * Return: 0, or -errno of a thread that could not be made or asked. */
int place_limits_read(struct place_limits *ret);

/* @root: PLACE_SYSFS, or a tree that looks like it. Context: sleeps. */
void place_topo_read(const char *root, const struct place_limits *limits,
		     struct place_topo *ret);

/**
 * place_topo_usable() - what "auto" may choose from: online, and inside the cpuset
 *
 * The affinity counts only if somebody narrowed it on purpose (taskset, CPUAffinity= of the
 * unit). With isolcpus= every process starts without the isolated CPUs, which are there for
 * a program like this one: that is no reason to leave them alone.
 */
void place_topo_usable(const struct place_topo *t, cpu_set_t *ret);

/* CPUs that are online and in the same core, or complex, @cpu among them. */
void place_topo_core(const struct place_topo *t, int cpu, cpu_set_t *ret);
void place_topo_complex(const struct place_topo *t, int cpu, cpu_set_t *ret);

/* "performance"; "" = the kernel does not say, as in most virtual machines. Read anew each time. */
const char *place_topo_governor(const struct place_topo *t, int cpu, char text[32]);
