/* place/plan.h - a CPU for each worker, and what there is to say about it
 *
 * Chosen one after the other; the first difference decides:
 *
 *   1. on the node of the most ports: packets and their completions are written into its cache
 *   2. set aside: isolated, then without a tick, then the rest, last CPU 0, where the kernel
 *      keeps work that it cannot move; of equal ones, not on the core of CPU 0
 *   3. a core of its own: hyper-threads of a core that has a worker come after the other cores
 *   4. the node, then the cache complex, of workers that are there already, so that one is full
 *      before the next is begun: they share tables, and doorbell pages, which cost much more
 *      when they are written from two caches
 *   5. the complex with the most room
 *   6. the lowest number
 *
 * So what was set aside is used to its last hyper-thread before a worker runs where the rest of
 * the system does, and the ports' node before the other, whose every packet comes from afar.
 * When all CPUs are taken the other workers are not pinned: they run where the scheduler finds
 * time, and the plan warns of them.
 *
 * Context: control thread.
 */
#pragma once

#include "../base/err.h"
#include "topo.h"

enum { PLACE_WORKERS_MAX = 64, PLACE_PORTS_MAX = 16, PLACE_TEXT = 200 };

struct place_port {
	const char *name;
	int node; /* -1 = not known */
};

struct place_plan {
	struct place_topo topo;
	struct place_port port[PLACE_PORTS_MAX];
	unsigned n_ports, n_workers;
	bool named;		    /* the CPUs are somebody's wish */
	int cpu[PLACE_WORKERS_MAX]; /* -1 = not pinned */
};

/* topo, ports and n_workers are there. */
void place_plan_choose(struct place_plan *p);

/* As wished: CPU @cpu[n] for worker n. Return: 0, or -EINVAL: @err says which CPU is not there,
 * offline, outside the cpuset or named twice, or that there are too few. */
int place_plan_take(struct place_plan *p, const int *cpu, unsigned n, struct err *err);

/* The worker's node; -1 = not known, or not pinned. */
int place_plan_node(const struct place_plan *p, unsigned worker);

/* Why it is there, in words for people. Return: @text. */
const char *place_plan_why(const struct place_plan *p, unsigned worker,
			   char text[PLACE_TEXT]);

/* What is bad about it, a sentence each; the same words for the same flaw of another worker.
 * Governors are read anew. */
void place_plan_warn(const struct place_plan *p, unsigned worker,
		     void (*fn)(void *arg, const char *text), void *arg);
