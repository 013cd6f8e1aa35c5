/* bench/fib/fwdwork.c - all the work on a packet but its input and output: our loop's passes
 * against DPDK's l3fwd
 *
 *   fwdwork --l3fwd PROGRAM --preload RINGPORT [--reps N] [--ms N] [--flight N]
 *           [--no-huge MIB] TABLES
 *
 * l3fwd forwards on a ring port (ringport.c), ours on a ring of descriptors (circuit.c),
 * with the same routes, the same destinations and as many packets in flight, in turn on
 * the same core: l3fwd is stopped by a signal while ours is measured. Time is the
 * forwarding thread's. TABLES is a folder as tests/bench/tables.py makes it.
 *
 * l3fwd trusts the card for the header checksum, and so do we in the figure that counts.
 */

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "circuit.h"
#include "clock.h"
#include "destinations.h"
#include "peer.h"
#include "quiet.h"
#include "report.h"
#include "ringport.h"

enum {
	REPS_MAX = 64,
	CORE = 1,
	OTHER_CORE = 0,
	PATH_BYTES = 512,
	BURST = 64,
	PATIENCE = 100
};

struct run {
	const char *l3fwd, *preload, *tables, *no_huge;
	unsigned reps, ms, flight;
};

__attribute__((noreturn)) static void die(const char *what)
{
	fprintf(stderr, "fwdwork: %s: %s\n", what, strerror(errno));
	exit(2);
}

/* ---- l3fwd ---- */

struct program {
	pid_t pid;
	int ask, tell;
};

enum mode { L3FWD_FULL, L3FWD_IO_ONLY };

static void set(const char *name, unsigned value)
{
	char text[16];

	snprintf(text, sizeof(text), "%u", value);
	setenv(name, text, 1);
}

/* The family that is measured has the full table, the other sixteen routes. */
static void become_l3fwd(const struct run *run, unsigned family, enum mode mode)
{
	char rules4[PATH_BYTES], rules6[PATH_BYTES], dst[PATH_BYTES];
	bool full = mode == L3FWD_FULL;

	snprintf(rules4, sizeof(rules4), "--rule_ipv4=%s/%s.l3fwd", run->tables,
		 full && family == 4 ? "full4" : "16v4");
	snprintf(rules6, sizeof(rules6), "--rule_ipv6=%s/%s.l3fwd", run->tables,
		 full && family == 6 ? "full6" : "16v6");
	snprintf(dst, sizeof(dst), "%s/full%u.dst", run->tables, family);
	set("RINGPORT_FAMILY", family);
	set("RINGPORT_FLIGHT", run->flight);
	set("RINGPORT_CORE", OTHER_CORE);
	setenv("RINGPORT_DST", dst, 1);
	if (!full)
		set("RINGPORT_IO_ONLY", 1);
	setenv("LD_PRELOAD", run->preload, 1);
	execl(run->l3fwd, "l3fwd", "-l", "1", "--no-pci", "--no-telemetry",
	      "--force-max-simd-bitwidth=512", "--log-level=1", "-m",
	      run->no_huge ? run->no_huge : "64",
	      run->no_huge ? "--no-huge" : "--in-memory",
	      run->no_huge ? "--no-shconf" : "--single-file-segments", "--", "-p", "1",
	      full ? "--lookup=fib" : "--lookup=lpm", "--config=(0,0,1)", rules4, rules6,
	      NULL);
}

static void start(struct program *p, const struct run *run, unsigned family,
		  enum mode mode)
{
	int ask[2], tell[2], null = open("/dev/null", O_RDWR | O_CLOEXEC);

	if (null < 0 || pipe2(ask, O_CLOEXEC) || pipe2(tell, O_CLOEXEC))
		die("pipe");
	fflush(stdout);
	p->pid = fork();
	if (p->pid < 0)
		die("fork");
	if (p->pid == 0) {
		/* Out of the way of the two numbers that are to be. */
		int from = fcntl(ask[0], F_DUPFD_CLOEXEC, 10);
		int to = fcntl(tell[1], F_DUPFD_CLOEXEC, 10);

		dup2(null, STDIN_FILENO);
		dup2(null, STDOUT_FILENO);
		dup2(from, RINGPORT_ASK);
		dup2(to, RINGPORT_TELL);
		become_l3fwd(run, family, mode);
		_exit(127);
	}
	close(ask[0]);
	close(tell[1]);
	close(null);
	p->ask = ask[1];
	p->tell = tell[0];
}

static struct ringport_state state(const struct program *p)
{
	struct ringport_state s;

	if (write(p->ask, "?", 1) != 1 || read(p->tell, &s, sizeof(s)) != sizeof(s)) {
		errno = ECHILD;
		die("l3fwd has ended");
	}
	return s;
}

static void stop(const struct program *p)
{
	kill(p->pid, SIGKILL);
	waitpid(p->pid, NULL, 0);
	close(p->ask);
	close(p->tell);
}

static void wait_ms(unsigned ms)
{
	struct timespec t = { ms / 1000, ms % 1000 * 1000000L };

	nanosleep(&t, NULL);
}

/* ns a packet. On a busy machine it takes more time than its own until it has had its share. */
static double measure_l3fwd(const struct run *run, const struct program *p)
{
	uint64_t share = (uint64_t)run->ms * 1000000;
	struct ringport_state before, after;

	/* Its main thread forwards. This one has to come before it, to stop it. */
	quiet_set(0, SCHED_FIFO, QUIET_PRIORITY + 1);
	quiet_begin(p->pid);
	kill(p->pid, SIGCONT);
	before = after = state(p);
	for (unsigned i = 0; i < PATIENCE && after.own_ns - before.own_ns < share; i++) {
		wait_ms(run->ms);
		after = state(p);
	}
	kill(p->pid, SIGSTOP);
	quiet_end(0);
	if (after.in_ring + BURST < run->flight || after.packets == before.packets)
		report_wrong("l3fwd: %u of %u packets left", after.in_ring, run->flight);
	return (double)(after.own_ns - before.own_ns) /
	       (double)(after.packets - before.packets);
}

/* ---- ours ---- */

static struct fib *build(const struct bench_table *t)
{
	const struct fib_conf conf = { 0 };
	struct fib *fib;
	int r = fib_new(&conf, &fib);

	for (uint32_t i = 1; i <= t->max_nh && !r; i++) {
		struct fib_nh nh = circuit_nh(i);
		uint32_t index;

		r = fib_nh_get(fib, &nh, &index);
	}
	if (!r)
		r = ours_add_routes(fib, t);
	if (r < 0) {
		errno = -r;
		die("our table");
	}
	return fib;
}

/* Rounds of as many turns as a TTL lasts; what is looked at and filled between is not timed. */
static double measure_ours(const struct run *run, struct circuit *c, bool l3_ok)
{
	uint64_t spent = 0;
	double turns = 0;

	quiet_begin(0);

	for (unsigned i = 0; i < 4; i++) /* what l3fwd has pushed out of the caches */
		circuit_turn(c, l3_ok);
	circuit_check(c, 4);
	while (spent < (uint64_t)run->ms * 1000000) {
		uint64_t start = clock_own_ns();
		unsigned wrong;

		for (unsigned i = 0; i < CIRCUIT_TURNS_MAX; i++)
			circuit_turn(c, l3_ok);
		spent += clock_own_ns() - start;
		turns += CIRCUIT_TURNS_MAX;
		wrong = circuit_check(c, CIRCUIT_TURNS_MAX);
		if (wrong) {
			report_wrong("ours: %u of %u packets", wrong, run->flight);
			break;
		}
	}
	quiet_end(0);
	return (double)spent / (turns * run->flight);
}

static uint8_t (*read_destinations(const struct run *run, unsigned family))[16]
{
	uint8_t(*dst)[16] = calloc(run->flight, sizeof(*dst));
	char path[PATH_BYTES];
	FILE *list;

	snprintf(path, sizeof(path), "%s/full%u.dst", run->tables, family);
	list = fopen(path, "r");
	if (!dst || !list)
		die(path);
	for (unsigned i = 0; i < run->flight; i++)
		if (!destinations_next(list, family, dst[i]))
			die(path);
	fclose(list);
	return dst;
}

/* ---- both ---- */

struct samples {
	double passes[REPS_MAX], software_csum[REPS_MAX], l3fwd[REPS_MAX], io[REPS_MAX];
	double l3fwd_less_io[REPS_MAX];
};

static void add_figures(const struct samples *s, unsigned family, unsigned n)
{
	char name[40];
	struct report_figure f = {
		.name = name,
		.unit = "ns",
		.ours = s->passes,
		.peer = "l3fwd",
		.theirs = s->l3fwd,
		.n = n,
		.rule = REPORT_RATIO,
		.target = 1.8,
	};

	snprintf(name, sizeof(name), "IPv%u packet", family);
	report_add(&f);
	f.rule = REPORT_ONLY;
	if (family == 4) {
		snprintf(name, sizeof(name), "IPv4, checksum by us");
		f.ours = s->software_csum;
		report_add(&f);
		f.ours = s->passes;
	}
	snprintf(name, sizeof(name), "IPv%u, ring port subtracted", family);
	f.peer = "l3fwd less its I/O";
	f.theirs = s->l3fwd_less_io;
	report_add(&f);
}

static void compete(const struct run *run, unsigned family)
{
	static struct samples s;
	struct bench_table table;
	struct program l3fwd, io;
	struct circuit *c;
	struct fib *fib;
	char path[PATH_BYTES];
	uint8_t(*dst)[16] = read_destinations(run, family);

	start(&l3fwd, run, family, L3FWD_FULL);
	start(&io, run, family, L3FWD_IO_ONLY);
	snprintf(path, sizeof(path), "%s/full%u.txt", run->tables, family);
	bench_table_read(&table, path);
	fib = build(&table);
	printf("IPv%u: %u routes, %u packets in flight\n", family, table.n, run->flight);
	c = circuit_new(fib_live(fib), family, run->flight, (const uint8_t(*)[16])dst);
	state(&l3fwd); /* has loaded its routes */
	kill(l3fwd.pid, SIGSTOP);
	state(&io);
	kill(io.pid, SIGSTOP);
	for (unsigned i = 0; i < run->reps; i++) {
		s.passes[i] = measure_ours(run, c, true);
		s.l3fwd[i] = measure_l3fwd(run, &l3fwd);
		s.io[i] = measure_l3fwd(run, &io);
		s.l3fwd_less_io[i] = s.l3fwd[i] - s.io[i];
		s.software_csum[i] = family == 4 ? measure_ours(run, c, false)
						 : s.passes[i];
	}
	stop(&l3fwd);
	stop(&io);
	add_figures(&s, family, run->reps);
	circuit_free(c);
	free(dst);
	fib_free(fib);
	bench_table_free(&table);
}

static void parse(struct run *run, int argc, char **argv)
{
	static const struct option options[] = {
		{ "l3fwd", required_argument, NULL, 'l' },
		{ "preload", required_argument, NULL, 'p' },
		{ "reps", required_argument, NULL, 'r' },
		{ "ms", required_argument, NULL, 'm' },
		{ "flight", required_argument, NULL, 'f' },
		{ "no-huge", required_argument, NULL, 'n' },
		{ 0 },
	};
	int c;

	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1)
		switch (c) {
		case 'l':
			run->l3fwd = optarg;
			break;
		case 'p':
			run->preload = optarg;
			break;
		case 'r':
			run->reps = (unsigned)strtoul(optarg, NULL, 10);
			break;
		case 'm':
			run->ms = (unsigned)strtoul(optarg, NULL, 10);
			break;
		case 'n':
			run->no_huge = optarg;
			break;
		case 'f':
			run->flight = (unsigned)strtoul(optarg, NULL, 10) / BURST * BURST;
			break;
		default:
			exit(2);
		}
	run->tables = argv[optind];
	if (!run->tables || !run->l3fwd || !run->preload || !run->reps ||
	    run->reps > REPS_MAX || !run->ms || !run->flight) {
		fprintf(stderr,
			"use: fwdwork --l3fwd PROGRAM --preload RINGPORT [--reps N] [--ms N] "
			"[--flight N] [--no-huge MIB] TABLES\n");
		exit(2);
	}
}

int main(int argc, char **argv)
{
	struct run run = { .reps = 15, .ms = 100, .flight = 8000 };
	cpu_set_t set;

	parse(&run, argc, argv);
	CPU_ZERO(&set);
	CPU_SET(CORE, &set);
	signal(SIGPIPE, SIG_IGN);
	if (sched_setaffinity(0, sizeof(set), &set))
		die("core 1");
	compete(&run, 4);
	compete(&run, 6);
	return report_end();
}
