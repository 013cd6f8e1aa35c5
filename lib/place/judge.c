/* place/judge.c - what there is to say about a plan */

#include <string.h>

#include "inside.h"

/* ---- who shares what ---- */

/* The first worker but this one, of the first @n, whose CPU is in @set; -1 = none. */
static int other_in(const struct place_plan *p, unsigned worker, unsigned n,
		    const cpu_set_t *set)
{
	for (unsigned w = 0; w < n; w++)
		if (w != worker && p->cpu[w] >= 0 && CPU_ISSET(p->cpu[w], set))
			return (int)w;
	return -1;
}

/* Ports whose node is known. */
static unsigned known(const struct place_plan *p)
{
	unsigned n = 0;

	for (unsigned i = 0; i < p->n_ports; i++)
		n += p->port[i].node >= 0;
	return n;
}

static unsigned pinned(const struct place_plan *p)
{
	unsigned n = 0;

	for (unsigned w = 0; w < p->n_workers; w++)
		n += p->cpu[w] >= 0;
	return n;
}

/* ---- why ---- */

__attribute__((format(printf, 2, 3))) static void add(char text[PLACE_TEXT],
						      const char *fmt, ...)
{
	size_t n = strlen(text);
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text + n, PLACE_TEXT - n, fmt, ap);
	va_end(ap);
}

static void add_node(const struct place_plan *p, int cpu, char text[PLACE_TEXT])
{
	unsigned far = place_far(p, cpu), all = known(p);

	if (!all || p->topo.cpu[cpu].node < 0)
		return;
	add(text, "%s, ",
	    !far	? "on the ports' node"
	    : far < all ? "on the node of some ports"
			: "no CPU is left on the ports' node");
}

static void add_use(const struct place_plan *p, int cpu, char text[PLACE_TEXT])
{
	static const char *const words[] = {
		[PLACE_ISOLATED] = "isolated, ",
		[PLACE_TICKLESS] = "without a tick, ",
		[PLACE_ORDINARY] = "",
		[PLACE_KERNEL] = "the last one left, ",
	};

	add(text, "%s", words[place_use(&p->topo, cpu)]);
}

static void add_shared(const struct place_plan *p, unsigned worker, char text[PLACE_TEXT])
{
	cpu_set_t core, complex;
	int on_core, in_complex;

	place_topo_core(&p->topo, p->cpu[worker], &core);
	place_topo_complex(&p->topo, p->cpu[worker], &complex);
	/* Those that came before it. */
	on_core = other_in(p, worker, worker, &core);
	in_complex = other_in(p, worker, worker, &complex);
	if (on_core >= 0)
		add(text, "on the core of worker %d", on_core);
	else if (in_complex >= 0)
		add(text, "in the cache of worker %d", in_complex);
	else
		add(text, "the first in its cache");
}

const char *place_plan_why(const struct place_plan *p, unsigned worker,
			   char text[PLACE_TEXT])
{
	int cpu = p->cpu[worker];

	*text = '\0';
	if (cpu < 0) {
		add(text, "%u CPUs for %u workers", pinned(p), p->n_workers);
	} else if (p->named) {
		add(text, "named by cpus =");
	} else {
		add_node(p, cpu, text);
		add_use(p, cpu, text);
		add_shared(p, worker, text);
	}
	return text;
}

/* ---- warnings ---- */

struct judge {
	const struct place_plan *plan;
	unsigned worker;
	int cpu;
	void (*fn)(void *arg, const char *text);
	void *arg;
};

__attribute__((format(printf, 2, 3))) static void say(const struct judge *j,
						      const char *fmt, ...)
{
	char text[PLACE_TEXT];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	j->fn(j->arg, text);
}

static void judge_nodes(const struct judge *j)
{
	const struct place_plan *p = j->plan;
	int node = p->topo.cpu[j->cpu].node;

	for (unsigned i = 0; i < p->n_ports; i++)
		if (node >= 0 && p->port[i].node >= 0 && p->port[i].node != node)
			say(j, "on node %d, and port %s on node %d", node,
			    p->port[i].name, p->port[i].node);
}

/* What else a sibling runs is anybody's guess, and takes half of the core; on a CPU that nobody
 * isolated that is as it may be. */
static void judge_core(const struct judge *j)
{
	const struct place_topo *t = &j->plan->topo;
	cpu_set_t siblings, quiet;
	char list[64];
	int other;

	place_topo_core(t, j->cpu, &siblings);
	CPU_CLR(j->cpu, &siblings);
	other = other_in(j->plan, j->worker, j->plan->n_workers, &siblings);
	CPU_AND(&quiet, &siblings, &t->isolated);
	CPU_XOR(&siblings, &siblings, &quiet);
	if (other >= 0)
		say(j, "shares its core with worker %d", other);
	else if (CPU_ISSET(j->cpu, &t->isolated) && CPU_COUNT(&siblings))
		say(j, "isolated, but its hyper-thread sibling CPU %s is not",
		    place_cpus_text(&siblings, list, sizeof(list)));
}

/* Isolated CPUs that the process may use and no worker has. */
static void judge_isolation(const struct judge *j)
{
	const struct place_topo *t = &j->plan->topo;
	char list[64];
	cpu_set_t idle;

	if (CPU_ISSET(j->cpu, &t->isolated))
		return;
	CPU_AND(&idle, &t->isolated, &t->limits.cpuset);
	CPU_AND(&idle, &idle, &t->online);
	for (unsigned w = 0; w < j->plan->n_workers; w++)
		if (j->plan->cpu[w] >= 0)
			CPU_CLR(j->plan->cpu[w], &idle);
	if (CPU_COUNT(&idle))
		say(j, "not isolated, while isolated CPUs are free: %s",
		    place_cpus_text(&idle, list, sizeof(list)));
}

static void judge_kernel(const struct judge *j)
{
	if (place_use(&j->plan->topo, j->cpu) == PLACE_KERNEL)
		say(j, "on CPU 0, where the kernel has work that it cannot move");
}

static void judge_governor(const struct judge *j)
{
	char governor[32];

	place_topo_governor(&j->plan->topo, j->cpu, governor);
	if (*governor && strcmp(governor, "performance") != 0)
		say(j,
		    "governor %s: the first packets after a pause meet a slow clock; "
		    "set performance",
		    governor);
}

void place_plan_warn(const struct place_plan *p, unsigned worker,
		     void (*fn)(void *arg, const char *text), void *arg)
{
	static void (*const judges[])(const struct judge *j) = {
		judge_nodes, judge_core, judge_isolation, judge_kernel, judge_governor,
	};
	const struct judge j = { p, worker, p->cpu[worker], fn, arg };

	if (j.cpu < 0) {
		say(&j,
		    "not pinned: %u CPUs for %u workers, so it takes time from others; "
		    "workers = %u would do",
		    pinned(p), p->n_workers, pinned(p));
		return;
	}
	for (size_t i = 0; i < sizeof(judges) / sizeof(judges[0]); i++)
		judges[i](&j);
}
