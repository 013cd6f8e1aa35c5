/* cxmodel/main.c - the device process: command line, start and stop order
 *
 *   start   log, directory, ports, front end, sysfs, script, poller, control socket, "ready"
 *   stop    control socket, poller, front end (clients ended), ports, sysfs, directory
 *
 * Exit status: 0 stopped, 1 usage, 2 could not start, 4 a live instance owns the directory.
 */
#define _GNU_SOURCE 1
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "inside.h"

enum { EXIT_USAGE = 1, EXIT_START = 2, EXIT_IN_USE = 4 };

struct options {
	const char *dir, *netns, *script;
	const char *port[MODEL_PORTS];
	unsigned n_ports, trace;
	enum model_poll poll;
	bool no_tap, verbose;
	int ready_fd;
};

static const char usage_text[] =
	"use: cxmodel -d DIR [--port NAME=WIRE[,OPTION]...]... [OPTION]...\n"
	"     cxmodel ctl DIR COMMAND...          (cxmodel ctl DIR help)\n"
	"\n"
	"  -d, --dir DIR     sockets and the sysfs tree go there; made if missing\n"
	"  --port SPEC       a port: its netdev's name, its wire, and options\n"
	"                      mac=M mtu=N netns=N card=N up=yes|no inline=N cap=GROUP.FIELD=N\n"
	"                    ports with the same card= are functions of one card\n"
	"  --netns N         network namespace of netdevs without netns= of their own\n"
	"  --notap           ports have no netdev\n"
	"  --poll MODE       nap (default), spin or fifo: cxmodel/poll.c\n"
	"  --trace WHAT      cmd,wqe,cqe,rx: into the log, from the start\n"
	"  --script FILE     control lines, one a line, carried out before anything is ready:\n"
	"                    faults, for example (cxmodel ctl DIR help)\n"
	"  --ready-fd N      write a line there as well when everything listens\n"
	"  -v, --verbose     log more\n"
	"\n"
	"Wires:\n";

static void usage(FILE *out)
{
	const struct wire_class *c;

	fputs(usage_text, out);
	for (unsigned i = 0; (c = wire_class_nth(i)); i++)
		fprintf(out, "  %s%s%s\n      %s\n", c->name, *c->args ? ":" : "",
			c->args, c->help);
}

/* ---- options ---- */

static int bad(const char *option, const char *value, const char *use)
{
	fprintf(stderr, "cxmodel: %s %s: not understood; use: %s\n", option, value, use);
	return -EINVAL;
}

static int parse_poll(struct options *o, const char *v)
{
	static const char *const names[] = { "nap", "spin", "fifo" };

	for (unsigned i = 0; i < 3; i++)
		if (!strcmp(v, names[i])) {
			o->poll = (enum model_poll)i;
			return 0;
		}
	return bad("--poll", v, "nap, spin or fifo");
}

static int parse_ready(struct options *o, const char *v)
{
	char *end;
	long fd = strtol(v, &end, 10);

	if (*end || fd < 3 || fd > 1000000 || fcntl((int)fd, F_GETFD) < 0)
		return bad("--ready-fd", v,
			   "the number of an open descriptor, 3 or more");
	o->ready_fd = (int)fd;
	fcntl((int)fd, F_SETFD, FD_CLOEXEC);
	return 0;
}

static int add_port(struct options *o, const char *v)
{
	if (o->n_ports == MODEL_PORTS)
		return bad("--port", v, "at most 16 ports");
	o->port[o->n_ports++] = v;
	return 0;
}

static int take_option(struct options *o, int c, const char *v)
{
	char word[16];

	switch (c) {
	case 'd':
		o->dir = v;
		return 0;
	case 'p':
		return add_port(o, v);
	case 'N':
		o->netns = v;
		return 0;
	case 'n':
		o->no_tap = true;
		return 0;
	case 'm':
		return parse_poll(o, v);
	case 't':
		return trace_parse(v, &o->trace, word)
			       ? 0
			       : bad("--trace", word, "cmd,wqe,cqe,rx");
	case 's':
		o->script = v;
		return 0;
	case 'r':
		return parse_ready(o, v);
	case 'v':
		o->verbose = true;
		return 0;
	}
	return -EINVAL;
}

static int parse(struct options *o, int argc, char **argv)
{
	static const struct option known[] = {
		{ "dir", required_argument, NULL, 'd' },
		{ "port", required_argument, NULL, 'p' },
		{ "netns", required_argument, NULL, 'N' },
		{ "notap", no_argument, NULL, 'n' },
		{ "poll", required_argument, NULL, 'm' },
		{ "trace", required_argument, NULL, 't' },
		{ "script", required_argument, NULL, 's' },
		{ "ready-fd", required_argument, NULL, 'r' },
		{ "verbose", no_argument, NULL, 'v' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	int c, r = 0;

	*o = (struct options){ .ready_fd = -1 };
	while (!r && (c = getopt_long(argc, argv, "d:vh", known, NULL)) != -1) {
		if (c == 'h') {
			usage(stdout);
			exit(0);
		}
		r = take_option(o, c, optarg);
	}
	if (!r && optind < argc)
		r = bad("argument", argv[optind], "options only; see cxmodel --help");
	if (!r && (!o->dir || strlen(o->dir) >= sizeof(((struct model *)0)->dir)))
		r = bad("-d", o->dir ? o->dir : "missing", "-d DIR, of at most 95 bytes");
	return r;
}

/* ---- the process ---- */

static void mutex_init(struct model *m)
{
	pthread_mutexattr_t a;

	pthread_mutexattr_init(&a);
	/* A client's thread that holds the lock must not wait behind a real-time poller. */
	if (m->poll == MODEL_POLL_FIFO)
		pthread_mutexattr_setprotocol(&a, PTHREAD_PRIO_INHERIT);
	pthread_mutex_init(&m->lock, &a);
	pthread_mutexattr_destroy(&a);
}

/* Every client costs a few descriptors, and the usual 1024 are soon gone. */
static void raise_limits(void)
{
	struct rlimit l;

	if (getrlimit(RLIMIT_NOFILE, &l) < 0)
		return;
	l.rlim_cur = l.rlim_max;
	setrlimit(RLIMIT_NOFILE, &l);
}

/* 0, 1 and 2 are open, so that no socket of ours ends up as somebody's stderr. */
static void keep_std_fds(void)
{
	int fd = open("/dev/null", O_RDWR);

	while (fd >= 0 && fd < 2)
		fd = dup(fd);
	if (fd > 2)
		close(fd);
}

static int start_ports(struct model *m, const struct options *o, char *why,
		       size_t why_size)
{
	struct model_port *p;
	int r = 0;

	for (unsigned i = 0; i < o->n_ports && !r; i++) {
		r = port_open(m, o->port[i], why, why_size, &p);
		if (!r)
			cx_trace_set(p->dev, o->trace);
	}
	for (unsigned i = 0; i < m->n_ports && !r; i++)
		r = port_begin(&m->port[i], why, why_size);
	return r;
}

static int run_line(struct model *m, const char *file, unsigned nth, char *line,
		    char *why, size_t why_size)
{
	struct reply reply = { 0 };
	int r = 0;

	line[strcspn(line, "\r\n")] = 0;
	if (line[strspn(line, " \t")] && *line != '#')
		r = command_run(m, line, &reply);
	if (r < 0)
		snprintf(why, why_size, "%.60s:%u: %.400s", file, nth, reply.why);
	reply_free(&reply);
	return r;
}

static int run_script(struct model *m, const char *file, char *why, size_t why_size)
{
	FILE *f = file ? fopen(file, "re") : NULL;
	char line[1024];
	int r = 0;

	if (file && !f) {
		r = -errno;
		snprintf(why, why_size, "--script %s: %s; give a file of control lines",
			 file, strerror(errno));
	}
	for (unsigned i = 1; f && !r && fgets(line, sizeof(line), f); i++)
		r = run_line(m, file, i, line, why, why_size);
	if (f)
		fclose(f);
	return r;
}

static int start(struct model *m, const struct options *o, char *why, size_t why_size)
{
	int r = start_ports(m, o, why, why_size);

	if (!r)
		r = poller_new(m);
	m->running = true;
	if (!r && (r = server_start(m, &m->server)) < 0)
		snprintf(why, why_size, "%s/uverbs.sock: %s", m->dir, strerror(-r));
	if (!r)
		r = sysfs_build(m, why, why_size);
	if (!r)
		r = run_script(m, o->script, why, why_size);
	if (!r)
		r = poller_start(m);
	if (!r)
		r = control_start(m, why, why_size);
	return r;
}

/* What this process exercised, for the test suite's sum: one file per process. */
static void save_line(void *arg, const char *text)
{
	fprintf(arg, "%s\n", text);
}

static void save_coverage(struct model *m)
{
	const char *dir = getenv("CX_COVERAGE_DIR");
	char path[512];
	FILE *f;

	if (!dir)
		return;
	snprintf(path, sizeof(path), "%s/cxmodel.%d", dir, (int)getpid());
	f = fopen(path, "we");
	if (!f) {
		model_log(m, "CX_COVERAGE_DIR: %s: %s", path, strerror(errno));
		return;
	}
	cx_coverage(save_line, f);
	fclose(f);
}

static void stop(struct model *m)
{
	control_stop(m);
	poller_stop(m);
	if (m->server)
		server_stop(m->server);
	m->server = NULL;
	for (unsigned i = m->n_ports; i > 0; i--)
		if (m->port[i - 1].dev)
			port_close(&m->port[i - 1]);
	poller_free(m);
	save_coverage(m);
	dir_release(m);
	log_stop(m);
	pthread_mutex_destroy(&m->lock);
}

static void say_ready(const struct model *m, int fd)
{
	printf("ready %s\n", m->dir);
	fflush(stdout);
	if (fd < 0)
		return;
	dprintf(fd, "ready %s\n", m->dir);
	close(fd);
}

static int run(struct model *m, const struct options *o, const sigset_t *ends)
{
	char why[512] = "";
	int sig, r;

	r = log_start(m);
	if (!r)
		r = dir_take(m, why, sizeof(why));
	if (!r)
		r = start(m, o, why, sizeof(why));
	if (r < 0) {
		bool owner = m->lock_fd >= 0;

		stop(m);
		fprintf(stderr, "cxmodel: %s\n", why[0] ? why : strerror(-r));
		return r == -EADDRINUSE && !owner ? EXIT_IN_USE : EXIT_START;
	}
	say_ready(m, o->ready_fd);
	while (sigwait(ends, &sig) != 0)
		;
	model_note(m, "stopping: %s", strsignal(sig));
	stop(m);
	return 0;
}

int main(int argc, char **argv)
{
	static struct model m;
	struct options o;
	sigset_t ends;

	keep_std_fds();
	if (argc > 1 && !strcmp(argv[1], "ctl"))
		return ctl_main(argc - 2, argv + 2);
	if (parse(&o, argc, argv) < 0) {
		fprintf(stderr, "cxmodel: see cxmodel --help\n");
		return EXIT_USAGE;
	}
	/* Before any thread: they inherit it, and only sigwait() above takes them. */
	sigemptyset(&ends);
	sigaddset(&ends, SIGTERM);
	sigaddset(&ends, SIGINT);
	sigaddset(&ends, SIGHUP);
	pthread_sigmask(SIG_BLOCK, &ends, NULL);
	signal(SIGPIPE, SIG_IGN);
	raise_limits();
	snprintf(m.dir, sizeof(m.dir), "%s", o.dir);
	m.poll = o.poll;
	m.no_tap = o.no_tap;
	m.netns = o.netns;
	m.verbose = o.verbose;
	m.lock_fd = -1;
	mutex_init(&m);
	return run(&m, &o, &ends);
}
