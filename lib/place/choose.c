/* place/choose.c - which CPU is the next */

#include <string.h>

#include "inside.h"

/* ---- what a CPU is worth ---- */

unsigned place_far(const struct place_plan *p, int cpu)
{
	int node = p->topo.cpu[cpu].node;
	unsigned far = 0;

	for (unsigned i = 0; i < p->n_ports; i++)
		far += node >= 0 && p->port[i].node >= 0 && p->port[i].node != node;
	return far;
}

enum place_use place_use(const struct place_topo *t, int cpu)
{
	if (cpu == 0)
		return PLACE_KERNEL;
	if (CPU_ISSET(cpu, &t->isolated))
		return PLACE_ISOLATED;
	return CPU_ISSET(cpu, &t->nohz) ? PLACE_TICKLESS : PLACE_ORDINARY;
}

/* Workers, of the first @n, that share something with a CPU. */
static unsigned on_core(const struct place_plan *p, unsigned n, int cpu)
{
	unsigned sum = 0;

	for (unsigned w = 0; w < n; w++)
		sum += p->topo.cpu[p->cpu[w]].core == p->topo.cpu[cpu].core;
	return sum;
}

static bool in_complex(const struct place_plan *p, unsigned n, int cpu)
{
	for (unsigned w = 0; w < n; w++)
		if (p->topo.cpu[p->cpu[w]].complex == p->topo.cpu[cpu].complex)
			return true;
	return false;
}

static bool on_node(const struct place_plan *p, unsigned n, int cpu)
{
	for (unsigned w = 0; w < n; w++)
		if (p->topo.cpu[p->cpu[w]].node == p->topo.cpu[cpu].node)
			return true;
	return false;
}

/* 1 to 3 of plan.h; less is better. */
static uint64_t tier(const struct place_plan *p, unsigned n, int cpu)
{
	uint64_t v = place_far(p, cpu);

	v = v << 8 | (uint64_t)place_use(&p->topo, cpu);
	v = v << 1 | (p->topo.cpu[cpu].core == p->topo.cpu[0].core);
	return v << 16 | on_core(p, n, cpu);
}

/* 4 to 6; @room of the CPU's complex, in CPUs of this tier. */
static uint64_t rank(const struct place_plan *p, unsigned n, int cpu, unsigned room)
{
	uint64_t v = !on_node(p, n, cpu);

	v = v << 1 | !in_complex(p, n, cpu);
	v = v << 16 | (CPU_SETSIZE - room);
	return v << 16 | (uint64_t)cpu;
}

/* ---- the next one ---- */

/* Leaves those of the best tier in @from, and counts them by complex. */
static void keep_best(const struct place_plan *p, unsigned n, cpu_set_t *from,
		      uint16_t room[CPU_SETSIZE])
{
	uint64_t of[CPU_SETSIZE], best = UINT64_MAX;

	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		of[cpu] = CPU_ISSET(cpu, from) ? tier(p, n, cpu) : UINT64_MAX;
		if (of[cpu] < best)
			best = of[cpu];
	}
	memset(room, 0, CPU_SETSIZE * sizeof(*room));
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (of[cpu] != best)
			CPU_CLR(cpu, from);
		else if (CPU_ISSET(cpu, from))
			room[p->topo.cpu[cpu].complex]++;
}

/* For worker @n, the ones before it having theirs. */
static int next(const struct place_plan *p, unsigned n, cpu_set_t from)
{
	uint16_t room[CPU_SETSIZE];
	uint64_t best = UINT64_MAX;
	int found = -1;

	keep_best(p, n, &from, room);
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		uint64_t v;

		if (!CPU_ISSET(cpu, &from))
			continue;
		v = rank(p, n, cpu, room[p->topo.cpu[cpu].complex]);
		if (v < best) {
			best = v;
			found = cpu;
		}
	}
	return found;
}

void place_plan_choose(struct place_plan *p)
{
	cpu_set_t left;
	unsigned n = 0;

	p->named = false;
	place_topo_usable(&p->topo, &left);
	for (; n < p->n_workers && CPU_COUNT(&left); n++) {
		p->cpu[n] = next(p, n, left);
		CPU_CLR(p->cpu[n], &left);
	}
	for (; n < p->n_workers; n++)
		p->cpu[n] = -1;
}

/* ---- as wished ---- */

static int check_cpu(const struct place_topo *t, int cpu, struct err *err)
{
	char list[PLACE_TEXT];

	if (cpu < 0 || cpu >= CPU_SETSIZE || !CPU_ISSET(cpu, &t->present))
		return err_set(err, -EINVAL, "there is no CPU %d, but %s", cpu,
			       place_cpus_text(&t->present, list, sizeof(list)));
	if (!CPU_ISSET(cpu, &t->online))
		return err_set(err, -EINVAL, "CPU %d is offline", cpu);
	if (!CPU_ISSET(cpu, &t->limits.cpuset))
		return err_set(err, -EINVAL,
			       "CPU %d is outside the cpuset of this process, %s "
			       "(AllowedCPUs= of its unit, or cpuset.cpus of its cgroup)",
			       cpu,
			       place_cpus_text(&t->limits.cpuset, list, sizeof(list)));
	return 0;
}

int place_plan_take(struct place_plan *p, const int *cpu, unsigned n, struct err *err)
{
	cpu_set_t taken;
	int r;

	CPU_ZERO(&taken);
	if (n < p->n_workers)
		return err_set(err, -EINVAL, "%u CPUs are too few for %u workers", n,
			       p->n_workers);
	for (unsigned w = 0; w < n; w++) {
		r = check_cpu(&p->topo, cpu[w], err);
		if (r < 0)
			return r;
		if (CPU_ISSET(cpu[w], &taken))
			return err_set(err, -EINVAL, "CPU %d is named twice", cpu[w]);
		CPU_SET(cpu[w], &taken);
	}
	p->named = true;
	memcpy(p->cpu, cpu, p->n_workers * sizeof(*cpu));
	return 0;
}

int place_plan_node(const struct place_plan *p, unsigned worker)
{
	return p->cpu[worker] < 0 ? -1 : p->topo.cpu[p->cpu[worker]].node;
}
