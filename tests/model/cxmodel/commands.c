/* cxmodel/commands.c - what a control line may say
 *
 * One row a command: dispatch and help come from the table. Every command runs
 * with the model's lock held, but log, which has a lock of its own, and stop.
 */
#define _GNU_SOURCE 1
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "inside.h"

enum { WORDS = 64 };

struct args {
	struct model *m;
	struct model_port *port; /* of commands that name one */
	unsigned n;		 /* words after the command's own (and the port) */
	char *word[WORDS];
	const char *rest; /* the same as one text */
	struct reply *r;
};

/* ---- the answer ---- */

static char *room_for(struct reply *r, size_t len)
{
	if (r->len + len > r->room) {
		size_t room = r->room ? r->room : 1024;
		char *text;

		while (room < r->len + len)
			room *= 2;
		text = realloc(r->text, room);
		if (!text)
			return NULL; /* the line is missing; the end of the answer still comes */
		r->text = text;
		r->room = room;
	}
	return r->text + r->len;
}

static void add_raw(struct reply *r, const char *text, size_t len)
{
	char *p = room_for(r, len + 1);

	if (!p)
		return;
	memcpy(p, text, len);
	p[len] = '\n';
	r->len += len + 1;
}

/* A line must not look like the end of the answer, and is one line. */
static void add_line(struct reply *r, const char *text)
{
	char line[4200];
	bool looks = !strcmp(text, "ok") || !strncmp(text, "error", 5);
	size_t len = (size_t)snprintf(line, sizeof(line), "%s%s", looks ? " " : "", text);

	if (len >= sizeof(line))
		len = sizeof(line) - 1;
	for (size_t i = 0; i < len; i++)
		if ((unsigned char)line[i] < 0x20)
			line[i] = ' ';
	add_raw(r, line, len);
}

void reply_line(struct reply *r, const char *fmt, ...)
{
	char line[4096];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	add_line(r, line);
}

static void add_any(void *arg, const char *text)
{
	add_line(arg, text);
}

void reply_end(struct reply *r, int result)
{
	char line[600];
	size_t len;

	if (result < 0)
		len = (size_t)snprintf(line, sizeof(line), "error %s", r->why);
	else
		len = (size_t)snprintf(line, sizeof(line), "ok");
	for (size_t i = 0; i < len; i++)
		if ((unsigned char)line[i] < 0x20)
			line[i] = ' ';
	add_raw(r, line, len);
}

void reply_free(struct reply *r)
{
	free(r->text);
	memset(r, 0, sizeof(*r));
}

static int refuse(struct args *a, int r, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

static int refuse(struct args *a, int r, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(a->r->why, sizeof(a->r->why), fmt, ap);
	va_end(ap);
	return r;
}

static void number(struct reply *r, const char *name, uint64_t value)
{
	reply_line(r, "%s %llu", name, (unsigned long long)value);
}

/* ---- stat: what is there ---- */

static unsigned entries(const char *path)
{
	DIR *d = opendir(path);
	unsigned n = 0;

	while (d && readdir(d))
		n++;
	if (d)
		closedir(d);
	return n > 2 ? n - 2 : 0; /* without . and .. */
}

static uint64_t resident_kb(void)
{
	FILE *f = fopen("/proc/self/statm", "re");
	unsigned long pages = 0;

	if (f && fscanf(f, "%*u %lu", &pages) != 1)
		pages = 0;
	if (f)
		fclose(f);
	return (uint64_t)pages * (uint64_t)sysconf(_SC_PAGESIZE) / 1024;
}

static void stat_objects(struct args *a)
{
	uint64_t all = 0;

	for (unsigned t = 0; t < CX_OBJ_TYPE_COUNT; t++) {
		uint64_t n = 0;

		for (unsigned i = 0; i < a->m->n_ports; i++)
			if (a->m->port[i].dev && (!a->port || a->port == &a->m->port[i]))
				n += cx_obj_count(a->m->port[i].dev, (enum cx_obj_type)t);
		number(a->r, cx_obj_type_name((enum cx_obj_type)t), n);
		all += n;
	}
	number(a->r, "objects", all);
}

static void stat_clients(struct args *a)
{
	struct server_stat st = { 0 };

	server_stat(a->m, &st);
	number(a->r, "clients", st.clients);
	number(a->r, "handles", st.handles);
	number(a->r, "mappings", st.mappings);
	number(a->r, "event_fds", st.event_fds);
	number(a->r, "mapped_bytes", st.mapped_bytes);
}

static void stat_process(struct args *a)
{
	struct poller_stat st;
	unsigned ports = 0;

	for (unsigned i = 0; i < a->m->n_ports; i++)
		ports += a->m->port[i].dev != NULL;
	number(a->r, "ports", ports);
	/* Without control connections and the descriptor that reads the folder. */
	number(a->r, "fds", entries("/proc/self/fd") - control_clients(a->m) - 1);
	number(a->r, "threads", entries("/proc/self/task"));
	number(a->r, "rss_kb", resident_kb());
	poller_stat(a->m, &st);
	number(a->r, "poller_passes", st.passes);
	number(a->r, "poller_busy_passes", st.busy_passes);
	number(a->r, "poller_naps", st.naps);
	number(a->r, "poller_blocks", st.blocks);
	number(a->r, "poller_cpu_us", st.cpu_us);
}

static int cmd_stat(struct args *a)
{
	if (a->n == 1) {
		a->port = port_find(a->m, a->word[0]);
		if (!a->port)
			return refuse(a, -ENODEV, "stat: no port '%s'; see: ports",
				      a->word[0]);
		stat_objects(a);
		return 0;
	}
	stat_objects(a);
	stat_clients(a);
	stat_process(a);
	return 0;
}

/* ---- stats: what happened at a port ---- */

static void stats_device(struct reply *r, const struct cx_stats *s)
{
	static const char *const verdict[CX_RX_VERDICT_COUNT] = {
		"rx_down",	"rx_kernel", "rx_rule_drop", "rx_queued",
		"rx_no_buffer", "rx_dead",   "rx_oversize",  "rx_lost",
	};
	const struct {
		const char *name;
		uint64_t value;
	} row[] = {
		{ "cmds", s->cmds },
		{ "cmd_refusals", s->cmd_refusals },
		{ "wqe_refusals", s->wqe_refusals },
		{ "doorbells", s->doorbells },
		{ "bad_doorbells", s->bad_doorbells },
		{ "arms", s->arms },
		{ "tx_frames", s->tx_frames },
		{ "tx_bytes", s->tx_bytes },
		{ "tx_wqes", s->tx_wqes },
		{ "rx_frames", s->rx_frames },
		{ "rx_bytes", s->rx_bytes },
		{ "cqes", s->cqes },
		{ "mini_cqes", s->mini_cqes },
		{ "overruns", s->overruns },
		{ "kernel_tx_frames", s->kernel_tx_frames },
		{ "tx_oversize", s->tx_oversize },
		{ "tx_lost", s->tx_lost },
	};

	for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++)
		number(r, row[i].name, row[i].value);
	for (unsigned i = 0; i < CX_RX_VERDICT_COUNT; i++)
		number(r, verdict[i] ? verdict[i] : "rx_unnamed", s->rx[i]);
}

static int cmd_stats(struct args *a)
{
	struct tap_stat t = { 0 };
	const struct wire *w = a->port->wire;

	stats_device(a->r, cx_stats(a->port->dev));
	number(a->r, "wire_tx_frames", w->tx_frames);
	number(a->r, "wire_rx_frames", w->rx_frames);
	number(a->r, "wire_tx_lost", w->tx_lost);
	number(a->r, "wire_rx_lost", w->rx_lost);
	if (a->port->tap)
		tap_stat(a->port->tap, &t);
	number(a->r, "netdev_given", t.given);
	number(a->r, "netdev_refused", t.refused);
	number(a->r, "netdev_taken", t.taken);
	return 0;
}

/* ---- ports ---- */

static int cmd_ports(struct args *a)
{
	for (unsigned i = 0; i < a->m->n_ports; i++) {
		const struct model_port *p = &a->m->port[i];
		char now[16];
		uint8_t c[6];

		if (!p->dev)
			continue;
		model_netdev(p, now);
		cx_mac_get(p->dev, c);
		reply_line(
			a->r,
			"%s name %s netdev %s pci %s mac %02x:%02x:%02x:%02x:%02x:%02x "
			"link %s carrier %s admin %s wire %s",
			p->rdma_name, p->netdev, now[0] ? now : "-", p->pci, c[0], c[1],
			c[2], c[3], c[4], c[5], cx_link_up(p->dev) ? "up" : "down",
			p->wire->carrier ? "up" : "down", p->admin_up ? "up" : "down",
			p->wire_spec);
	}
	return 0;
}

static int cmd_port_add(struct args *a)
{
	return port_plug(a->m, a->rest, a->r->why, sizeof(a->r->why));
}

static int cmd_port_del(struct args *a)
{
	return port_unplug(a->port, a->r->why, sizeof(a->r->why));
}

static int cmd_link(struct args *a)
{
	bool down = !strcmp(a->word[0], "down");

	if (!down && strcmp(a->word[0], "up") != 0)
		return refuse(a, -EINVAL, "link: '%s' is not a state; use: up or down",
			      a->word[0]);
	port_force_down(a->port, down);
	return 0;
}

static int cmd_clock(struct args *a)
{
	char *end;
	unsigned long long ns;

	errno = 0;
	ns = strtoull(a->word[0], &end, 10);
	if (*a->word[0] < '0' || *a->word[0] > '9' || *end || errno)
		return refuse(a, -EINVAL, "clock: '%s' is not a number of nanoseconds",
			      a->word[0]);
	cx_clock_advance(a->port->dev, ns);
	return 0;
}

static int cmd_fault(struct args *a)
{
	/* The link has other reasons to be down as well; port_link_update() knows all. */
	if (a->n == 2 && !strcmp(a->word[0], "link")) {
		a->word[0] = a->word[1];
		return cmd_link(a);
	}
	return cx_fault(a->port->dev, a->rest, a->r->why, sizeof(a->r->why));
}

static int cmd_wire(struct args *a)
{
	const struct wire_class *c = a->port->wire->class;
	char text[65536] = "", *save, *line;
	int r;

	if (!c->ctl)
		return refuse(a, -EOPNOTSUPP, "wire: %s takes no control lines", c->name);
	r = c->ctl(a->port->wire, a->rest, text, sizeof(text));
	if (r < 0)
		return refuse(a, r, "wire: %s: %.400s", c->name,
			      text[0] ? text : strerror(-r));
	for (line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
		add_line(a->r, line);
	return 0;
}

/* ---- looking inside ---- */

static const struct {
	const char *name;
	unsigned mask;
} traces[] = {
	{ "cmd", CX_TRACE_CMD },
	{ "wqe", CX_TRACE_WQE },
	{ "cqe", CX_TRACE_CQE },
	{ "rx", CX_TRACE_RX },
	{ "all", CX_TRACE_CMD | CX_TRACE_WQE | CX_TRACE_CQE | CX_TRACE_RX },
	{ "off", 0 },
};

bool trace_parse(const char *text, unsigned *mask, char bad[16])
{
	*mask = 0;
	while (*text) {
		size_t len = strcspn(text, ","), i = 0,
		       n = sizeof(traces) / sizeof(traces[0]);

		snprintf(bad, 16, "%.*s", (int)(len < 15 ? len : 15), text);
		while (i < n && strcmp(traces[i].name, bad) != 0)
			i++;
		if (i == n)
			return false;
		*mask |= traces[i].mask;
		text += len + (text[len] == ',');
	}
	return true;
}

static int cmd_trace(struct args *a)
{
	unsigned mask;
	char bad[16];

	if (!trace_parse(a->word[0], &mask, bad))
		return refuse(a, -EINVAL,
			      "trace: '%s' is not known; use: cmd,wqe,cqe,rx or off",
			      bad);
	cx_trace_set(a->port->dev, mask);
	return 0;
}

static int cmd_dump(struct args *a)
{
	for (unsigned i = 0; i < a->m->n_ports; i++) {
		if (!a->m->port[i].dev)
			continue;
		reply_line(a->r, "%s", a->m->port[i].rdma_name);
		cx_dump(a->m->port[i].dev, add_any, a->r);
	}
	return 0;
}

static int cmd_coverage(struct args *a)
{
	cx_coverage(add_any, a->r);
	return 0;
}

static int cmd_log(struct args *a)
{
	char *end = "";
	unsigned long last = a->n ? strtoul(a->word[0], &end, 10) : 0;

	if (*end || last > 1000000)
		return refuse(a, -EINVAL, "log: '%s' is not a number of lines",
			      a->word[0]);
	log_each(a->m, (unsigned)last, add_any, a->r);
	return 0;
}

static int cmd_stop(struct args *a)
{
	(void)a;
	return kill(getpid(), SIGTERM) < 0 ? -errno : 0; /* main() waits for it */
}

static int cmd_help(struct args *a);

/* ---- the table ---- */

static const struct command {
	const char *path; /* one or two words */
	const char *args, *help;
	bool port;	  /* the next word names one */
	uint8_t min, max; /* words after that */
	int (*run)(struct args *a);
} commands[] = {
	{ "help", "", "this list", false, 0, 0, cmd_help },
	{ "stat", "[PORT]", "how many objects, clients, descriptors there are", false, 0,
	  1, cmd_stat },
	{ "stats", "PORT", "what the port, its wire and its netdev counted", true, 0, 0,
	  cmd_stats },
	{ "ports", "", "one line per port", false, 0, 0, cmd_ports },
	{ "port add", "NAME=WIRE[,OPTION]...", "a new port, as by --port", false, 1, 1,
	  cmd_port_add },
	{ "port del", "PORT", "remove a port that no program has open", true, 0, 0,
	  cmd_port_del },
	{ "link", "PORT up|down", "pull the cable out, or back in", true, 1, 1,
	  cmd_link },
	{ "clock", "PORT NS", "sets the clock of stamps ahead", true, 1, 1, cmd_clock },
	{ "fault", "PORT LINE", "one line of a fault script, see cx_fault() in core/cx.h",
	  true, 1, WORDS, cmd_fault },
	{ "wire", "PORT LINE", "a line for the port's wire", true, 1, WORDS, cmd_wire },
	{ "trace", "PORT cmd,wqe,cqe,rx|all|off", "trace into the log", true, 1, 1,
	  cmd_trace },
	{ "dump", "", "every object, one a line", false, 0, 0, cmd_dump },
	{ "log", "[LINES]", "the newest log lines", false, 0, 1, cmd_log },
	{ "coverage", "", "commands, fields and refusals exercised so far", false, 0, 0,
	  cmd_coverage },
	{ "stop", "", "end this process orderly", false, 0, 0, cmd_stop },
};
#define N_COMMANDS (sizeof(commands) / sizeof(commands[0]))

static int cmd_help(struct args *a)
{
	for (size_t i = 0; i < N_COMMANDS; i++)
		reply_line(a->r, "%s%s%s - %s", commands[i].path,
			   *commands[i].args ? " " : "", commands[i].args,
			   commands[i].help);
	return 0;
}

/* Cuts "link eth0 up" into words; @rest gets each word's place in the uncut line. */
static unsigned cut(char *line, const char *copy, char *word[WORDS],
		    const char *rest[WORDS + 1])
{
	unsigned n = 0;
	char *save, *w;

	for (w = strtok_r(line, " \t", &save); w && n < WORDS;
	     w = strtok_r(NULL, " \t", &save)) {
		rest[n] = copy + (w - line);
		word[n++] = w;
	}
	rest[n] = "";
	return n;
}

static const struct command *find(char *const word[], unsigned n, unsigned *used)
{
	for (size_t i = 0; i < N_COMMANDS; i++) {
		char two[32];

		*used = strchr(commands[i].path, ' ') ? 2 : 1;
		if (n < *used)
			continue;
		snprintf(two, sizeof(two), "%.14s%s%.14s", word[0], *used == 2 ? " " : "",
			 *used == 2 ? word[1] : "");
		if (!strcmp(two, commands[i].path))
			return &commands[i];
	}
	return NULL;
}

static int run_locked(const struct command *c, struct args *a, const char *port)
{
	int r;

	if (c->run == cmd_log || c->run == cmd_stop)
		return c->run(a);
	model_lock(a->m);
	a->port = port ? port_find(a->m, port) : NULL;
	if (port && !a->port)
		r = refuse(a, -ENODEV, "%s: no port '%.40s'; see: ports", c->path, port);
	else
		r = c->run(a);
	model_unlock(a->m);
	return r;
}

int command_run(struct model *m, char *line, struct reply *r)
{
	char copy[1024], *word[WORDS];
	const char *rest[WORDS + 1], *port = NULL;
	struct args a = { .m = m, .r = r };
	const struct command *c;
	unsigned n, used;

	r->why[0] = 0;
	snprintf(copy, sizeof(copy), "%s", line);
	n = cut(line, copy, word, rest);
	c = find(word, n, &used);
	if (!c)
		return refuse(&a, -EINVAL, "'%.60s': not a command; try: help", copy);
	if (c->port && n > used)
		port = word[used++];
	a.n = n - used;
	if ((c->port && !port) || a.n < c->min || a.n > c->max)
		return refuse(&a, -EINVAL, "%s: wrong number of words; use: %s %s",
			      c->path, c->path, c->args);
	memcpy(a.word, word + used, a.n * sizeof(word[0]));
	a.rest = rest[used];
	return run_locked(c, &a, port);
}
