/* daemon/placement.c - where workers run, and what the operator is told of it */

#include <stdlib.h>
#include <string.h>

#include "../lib/ctl/row.h"
#include "../lib/m5/rx_hot.h"
#include "../lib/place/near.h"
#include "router.h"

static_assert(ROUTER_WORKERS_MAX <= (int)PLACE_WORKERS_MAX, "a CPU for each worker");
static_assert(FWD_PORTS_MAX <= (int)PLACE_PORTS_MAX, "a node for each port");

int placement_choose(struct router *r, struct err *err)
{
	struct place_plan *p = &r->place;
	const struct config_cpus *wish = &r->conf.cpus;
	struct place_limits limits;
	struct err why = { "" };
	int ret = place_limits_read(&limits);

	if (ret < 0)
		return err_set(err, ret, "which CPUs there are: %s", strerror(-ret));
	place_topo_read(PLACE_SYSFS, &limits, &p->topo);
	p->n_workers = r->n_workers;
	p->n_ports = r->n_ports;
	for (unsigned i = 0; i < r->n_ports; i++)
		p->port[i] =
			(struct place_port){ r->port[i].conf->name,
					     m5_dev_caps(r->port[i].dev)->numa_node };
	if (!wish->n) {
		place_plan_choose(p);
		return 0;
	}
	ret = place_plan_take(p, wish->cpu, wish->n, &why);
	return ret < 0 ? err_set(err, ret, "cpus: %s", why.text) : 0;
}

/* ---- warnings ---- */

/* Of the first port with memory elsewhere: the node was full, or the kernel did not listen. */
static void warn_memory(const struct router *r, unsigned w,
			void (*fn)(void *arg, const char *text), void *arg)
{
	char text[PLACE_TEXT];
	int node = place_plan_node(&r->place, w), is;

	for (unsigned i = 0; i < r->n_ports; i++) {
		is = place_near_node(m5_rxq_hot(r->port[i].rxq[w])->region);
		if (node < 0 || is < 0 || is == node)
			continue;
		snprintf(text, sizeof(text),
			 "on node %d, and packet memory of port %s on %d", node,
			 r->port[i].conf->name, is);
		fn(arg, text);
		return;
	}
}

static void each_warning(const struct router *r, unsigned w,
			 void (*fn)(void *arg, const char *text), void *arg)
{
	place_plan_warn(&r->place, w, fn, arg);
	warn_memory(r, w, fn, arg);
}

/* ---- the log, once ---- */

enum { SAID_MAX = 64 }; /* different sentences; `worker show -d` has the rest */

struct said {
	unsigned n, worker;
	struct {
		char text[PLACE_TEXT];
		cpu_set_t workers;
	} one[SAID_MAX];
};

static void remember(void *arg, const char *text)
{
	struct said *s = arg;
	unsigned i = 0;

	while (i < s->n && strcmp(s->one[i].text, text) != 0)
		i++;
	if (i == SAID_MAX)
		return;
	if (i == s->n) {
		s->n++;
		snprintf(s->one[i].text, sizeof(s->one[i].text), "%s", text);
		CPU_ZERO(&s->one[i].workers);
	}
	CPU_SET(s->worker, &s->one[i].workers);
}

/* A sentence once, for all workers that it is true of. */
static void log_warnings(const struct router *r)
{
	struct said *s = calloc(1, sizeof(*s));
	char list[100];

	if (!s)
		return;
	for (; s->worker < r->n_workers; s->worker++)
		each_warning(r, s->worker, remember, s);
	for (unsigned i = 0; i < s->n; i++)
		log_warning("worker %s: %s",
			    place_cpus_text(&s->one[i].workers, list, sizeof(list)),
			    s->one[i].text);
	free(s);
}

void placement_log(const struct router *r)
{
	char why[PLACE_TEXT];

	for (unsigned w = 0; w < r->n_workers; w++) {
		place_plan_why(&r->place, w, why);
		if (r->place.cpu[w] < 0)
			log_info("worker %u on any CPU: %s", w, why);
		else
			log_info("worker %u on CPU %d: %s", w, r->place.cpu[w], why);
	}
	log_warnings(r);
}

/* ---- worker show -d ---- */

static void set_cpu(struct row *row, const struct place_topo *t, int cpu)
{
	cpu_set_t core, complex;
	char list[PLACE_TEXT], governor[32];

	place_topo_core(t, cpu, &core);
	CPU_CLR(cpu, &core);
	place_topo_complex(t, cpu, &complex);
	row_set_text(row, "complex", place_cpus_text(&complex, list, sizeof(list)));
	row_set_text(row, "siblings", place_cpus_text(&core, list, sizeof(list)));
	row_set_flag(row, "isolated", CPU_ISSET(cpu, &t->isolated));
	row_set_text(row, "governor", place_topo_governor(t, cpu, governor));
}

static void set_no_cpu(struct row *row)
{
	row_set_text(row, "complex", "");
	row_set_text(row, "siblings", "");
	row_set_flag(row, "isolated", false);
	row_set_text(row, "governor", "");
}

struct texts {
	char **text;
	unsigned n;
};

static void keep(void *arg, const char *text)
{
	struct texts *t = arg;
	char **more = reallocarray(t->text, t->n + 1, sizeof(*more));
	char *copy = more ? strdup(text) : NULL;

	if (more)
		t->text = more;
	if (copy)
		t->text[t->n++] = copy;
}

static void set_warnings(struct row *row, const struct router *r, unsigned w)
{
	struct texts t = { NULL, 0 };

	each_warning(r, w, keep, &t);
	row_set_words(row, "warnings", (const char *const *)t.text, t.n);
	while (t.n)
		free(t.text[--t.n]);
	free(t.text);
}

void placement_show(struct row *row, const struct router *r, unsigned w)
{
	const struct place_plan *p = &r->place;
	struct row *place = row_new();
	char why[PLACE_TEXT];

	row_set_number(place, "node", place_plan_node(p, w)); /* -1 = not known */
	if (p->cpu[w] >= 0)
		set_cpu(place, &p->topo, p->cpu[w]);
	else
		set_no_cpu(place);
	row_set_number(place, "memory_node",
		       place_near_node(m5_rxq_hot(r->port[0].rxq[w])->region));
	row_set_text(place, "why", place_plan_why(p, w, why));
	row_set_row(row, "placement", place);
	set_warnings(row, r, w);
}
