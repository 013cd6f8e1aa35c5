/* bench/fib/fibupdate.c - building the tables, changing them under a reader, their memory
 *
 *   fibupdate EAL-OPTIONS -- [--slices N] [--ms N] [--builds N] TABLE4 TABLE6
 *
 * The writer is on core 0, a reader on core 1: it looks up bursts as a worker does and
 * ends a turn after each. The writer changes routes for a slice of time and rests as long;
 * what the reader loses is its speed in a slice against the rest before it.
 *
 * A commit has 64 changes, as they come from netlink, or a single one. DPDK's tables get
 * the same changes without a reader: they promise nothing to readers meanwhile.
 */

#include <errno.h>
#include <getopt.h>
#include <rte_eal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "churn.h"
#include "clock.h"
#include "peer.h"
#include "reader.h"
#include "report.h"

enum { SLICES_MAX = 64, COMMIT = 64, WRITER_CORE = 0, READER_CORE = 1 };

struct run {
	unsigned slices, builds, ms;
	struct bench_table table[2]; /* [0] IPv4, [1] IPv6 */
	struct bench_ref ref[2];
	struct fib *fib;
};

static const char *const families[] = { "IPv4", "IPv6" };

__attribute__((noreturn)) static void refused(const char *what, int r)
{
	fprintf(stderr, "%s: %s\n", what, strerror(r < 0 ? -r : r));
	exit(2);
}

/* ---- building ---- */

static double resident_mib(void)
{
	FILE *file = fopen("/proc/self/statm", "r");
	unsigned long all = 0, resident = 0;

	if (!file || fscanf(file, "%lu %lu", &all, &resident) != 2)
		refused("/proc/self/statm", -EIO);
	fclose(file);
	return (double)resident * (double)sysconf(_SC_PAGESIZE) / (1 << 20);
}

static double build(struct run *run)
{
	const struct fib_conf conf = { 0 };
	uint32_t nexthops = run->table[0].max_nh > run->table[1].max_nh
				    ? run->table[0].max_nh
				    : run->table[1].max_nh;
	uint64_t start = clock_own_ns();
	int r = fib_new(&conf, &run->fib);

	if (!r) {
		ours_add_nexthops(run->fib, nexthops);
		r = ours_add_routes(run->fib, &run->table[0]);
	}
	if (!r)
		r = ours_add_routes(run->fib, &run->table[1]);
	if (r < 0)
		refused("our tables", r);
	return clock_own_s(start);
}

static void add_lookup_memory(const struct run *run, const char *when,
			      enum report_rule rule)
{
	static const double targets[] = { 9, 5 };
	struct fib_sizes sizes;
	char name[40];

	fib_sizes(run->fib, &sizes);
	for (unsigned i = 0; i < 2; i++) {
		double value = (double)sizes.lookup_bytes[i] / (1 << 20);

		snprintf(name, sizeof(name), "%s lookup memory%s", families[i], when);
		report_add(&(struct report_figure){ .name = name,
						    .unit = "MiB",
						    .ours = &value,
						    .n = 1,
						    .rule = rule,
						    .target = targets[i] });
	}
}

static void add_memory(const struct run *run, double resident)
{
	double mib = 1 << 20, value;
	struct report_figure f = { .ours = &value, .n = 1, .unit = "MiB" };
	struct fib_sizes sizes;

	add_lookup_memory(run, "", REPORT_AT_MOST);
	fib_sizes(run->fib, &sizes);
	f.rule = REPORT_AT_MOST;
	f.name = "control side memory";
	value = (double)sizes.rib_bytes / mib;
	f.target = 120;
	report_add(&f);
	f.name = "resident, all of it";
	f.rule = REPORT_ONLY;
	value = resident;
	report_add(&f);
}

static void build_all(struct run *run, double peers_s)
{
	double ours[SLICES_MAX], theirs[SLICES_MAX], resident = 0;

	for (unsigned i = 0; i < run->builds; i++) {
		fib_free(run->fib);
		resident = resident_mib();
		ours[i] = build(run);
		resident = resident_mib() - resident;
		theirs[i] = peers_s;
	}
	add_memory(run, resident);
	report_add(&(struct report_figure){ .name = "both tables built",
					    .unit = "s",
					    .ours = ours,
					    .peer = "rte_fib, rte_fib6",
					    .theirs = theirs,
					    .n = run->builds,
					    .rule = REPORT_AT_MOST,
					    .target = 0.5 });
}

/* ---- changes ---- */

static int change_ours(struct fib *fib, const struct bench_route *r)
{
	if (!r->nh)
		return fib_route_del(fib, &r->prefix, FIB_KERNEL);
	fib_nh_ref(fib, r->nh);
	return fib_route_replace(fib, &r->prefix, FIB_KERNEL, r->nh, 0);
}

/* One kind of slice: how fast the writer was, and what the reader lost of its speed. */
struct series {
	uint32_t n;	 /* changes in a slice */
	unsigned commit; /* changes in a commit */
	double max_rate; /* millions a second, not more; 0 = as fast as may be */
	double rate[SLICES_MAX];
	double loss[SLICES_MAX]; /* percent */
};

/* Return: millions of changes a second. */
static double write_ours(struct fib *fib, const struct bench_route change[],
			 const struct series *s)
{
	uint64_t start = clock_ns(CLOCK_MONOTONIC), now = start;
	uint32_t done = 0;

	while (done < s->n) {
		uint32_t end = done + s->commit < s->n ? done + s->commit : s->n;
		int r = 0;

		while (done < end && !r)
			r = change_ours(fib, &change[done++]);
		if (!r)
			r = fib_commit(fib);
		if (r < 0)
			refused("a change", r);
		do
			now = clock_ns(CLOCK_MONOTONIC);
		while (s->max_rate > 0 &&
		       (double)(now - start) * s->max_rate < done * 1e3);
	}
	return done * 1e3 / (double)(now - start);
}

static void rest(unsigned ms)
{
	struct timespec t = { ms / 1000, ms % 1000 * 1000000L };

	nanosleep(&t, NULL);
}

static void slice_ours(struct run *run, struct reader *reader, struct churn *churn,
		       struct bench_route change[], struct series *s, unsigned i)
{
	struct reader_mark mark = reader_mark(reader);
	double alone;

	rest(run->ms);
	alone = reader_speed(reader, mark);
	churn_draw(churn, change, s->n);
	mark = reader_mark(reader);
	s->rate[i] = write_ours(run->fib, change, s);
	s->loss[i] = (1 - reader_speed(reader, mark) / alone) * 100;
}

enum { FAST, PACED, SINGLE, KINDS };

struct rival {
	struct peer peer;
	struct churn churn;
	double rate[SLICES_MAX];
	bool out; /* has refused a change */
};

struct contest {
	struct churn churn;
	struct series series[KINDS];
	struct rival rival[PEER_MAX];
	unsigned n_rivals;
	struct bench_route *change;
};

/* A change that is refused ends this one's part of the contest, not ours. */
static double write_theirs(struct rival *rival, const struct bench_route change[],
			   uint32_t n)
{
	uint64_t start = clock_ns(CLOCK_MONOTONIC);
	const struct peer *p = &rival->peer;
	int r = 0;

	for (uint32_t i = 0; i < n && !r; i++)
		r = change[i].nh ? p->set(p->ctx, &change[i])
				 : p->del(p->ctx, &change[i]);
	if (r) {
		printf("%s: left out: refused a change: %s\n", p->name,
		       strerror(r < 0 ? -r : r));
		rival->out = true;
	}
	return n * 1e3 / (double)(clock_ns(CLOCK_MONOTONIC) - start);
}

/* Of each structure one, however many ways there are to look up in it. */
static void open_rivals(struct contest *c, const struct bench_table *t)
{
	struct peer peer[PEER_MAX];
	unsigned n = peers_of(t->family)->open(t, peer);

	for (unsigned i = 0; i < n; i++) {
		struct rival *last = c->n_rivals ? &c->rival[c->n_rivals - 1] : NULL;

		if (!peer[i].set || peer[i].refused ||
		    (last && last->peer.ctx == peer[i].ctx))
			continue;
		last = &c->rival[c->n_rivals++];
		last->peer = peer[i];
		churn_open(&last->churn, t);
	}
}

static void compete(struct run *run, struct contest *c, struct reader *reader)
{
	for (unsigned i = 0; i < run->slices; i++) {
		for (unsigned k = 0; k < KINDS; k++)
			slice_ours(run, reader, &c->churn, c->change, &c->series[k], i);
		for (unsigned k = 0; k < c->n_rivals; k++) {
			struct rival *r = &c->rival[k];

			if (r->out)
				continue;
			churn_draw(&r->churn, c->change, c->series[FAST].n);
			r->rate[i] = write_theirs(r, c->change, c->series[FAST].n);
		}
	}
}

/* ---- answers ---- */

static uint32_t count_wrong(const struct traffic *t, const struct bench_ref *ref,
			    const struct peer *p)
{
	static uint64_t nh[COMMIT];
	uint32_t wrong = 0;

	for (uint32_t at = 0; at < t->n; at += COMMIT) {
		p->lookup(p->ctx, traffic_at(t, TRAFFIC_BY_PREFIX, at), nh, COMMIT);
		for (uint32_t i = 0; i < COMMIT; i++)
			wrong += p->answer(nh, i) !=
				 bench_ref_answer(ref, traffic_key(t, TRAFFIC_BY_PREFIX,
								   at + i));
	}
	return wrong;
}

/* With every route as it was, the answers must be, too. */
static void restore(struct run *run, struct contest *c, const struct traffic *t,
		    const struct bench_ref *ref)
{
	struct series all = { .commit = COMMIT };
	struct peer ours;
	uint32_t wrong;

	all.n = churn_restore(&c->churn, c->change);
	write_ours(run->fib, c->change, &all);
	ours_as_peer(&ours, run->fib, t->family);
	wrong = count_wrong(t, ref, &ours);
	if (wrong)
		report_wrong("after the changes: %u answers of ours", wrong);
	for (unsigned k = 0; k < c->n_rivals; k++) {
		struct rival *r = &c->rival[k];

		if (!r->out)
			write_theirs(r, c->change, churn_restore(&r->churn, c->change));
		if (r->out)
			continue;
		wrong = count_wrong(t, ref, &r->peer);
		if (wrong)
			report_wrong("after the changes: %u answers of %s", wrong,
				     r->peer.name);
	}
}

/* ---- figures ---- */

static const struct rival *best_rival(const struct contest *c, unsigned slices)
{
	const struct rival *best = NULL;

	for (unsigned k = 0; k < c->n_rivals; k++)
		if (!c->rival[k].out &&
		    (!best || report_median(c->rival[k].rate, slices) >
				      report_median(best->rate, slices)))
			best = &c->rival[k];
	return best;
}

static void add_figures(const struct contest *c, const char *family, unsigned slices,
			double target)
{
	const struct rival *best = best_rival(c, slices);
	char name[40];
	struct report_figure f = {
		.name = name,
		.unit = "M/s",
		.ours = c->series[FAST].rate,
		.peer = best ? best->peer.name : NULL,
		.theirs = best ? best->rate : NULL,
		.n = slices,
		.more_is_better = true,
		.rule = REPORT_AT_LEAST,
		.target = target,
	};

	snprintf(name, sizeof(name), "%s changes, 64 a commit", family);
	report_add(&f);
	snprintf(name, sizeof(name), "%s changes, 1 a commit", family);
	f.ours = c->series[SINGLE].rate;
	f.rule = REPORT_ONLY;
	report_add(&f);
	f = (struct report_figure){ .name = name, .unit = "%", .n = slices, .target = 5 };
	snprintf(name, sizeof(name), "%s reader's loss, %.1f M/s", family, target);
	f.ours = c->series[PACED].loss;
	f.rule = REPORT_AT_MOST;
	report_add(&f);
	snprintf(name, sizeof(name), "%s reader's loss, full speed", family);
	f.ours = c->series[FAST].loss;
	f.rule = REPORT_ONLY;
	report_add(&f);
}

/* Return: seconds that the best of the peers needed to be built. */
static double change_all(struct run *run, unsigned family, double target)
{
	static struct contest c;
	const struct bench_table *t = &run->table[family];
	struct traffic traffic;
	struct reader reader = { .live = fib_live(run->fib), .traffic = &traffic };
	uint32_t n = (uint32_t)(run->ms * 1000 * target);
	double build_s;

	c = (struct contest){ 0 };
	traffic_make(&traffic, t, &run->ref[family], 1 << 18);
	c.change = bench_alloc((t->n > n ? t->n : n) * sizeof(c.change[0]));
	for (unsigned k = 0; k < KINDS; k++)
		c.series[k] = (struct series){ .n = n,
					       .commit = k == SINGLE ? 1 : COMMIT,
					       .max_rate = k == PACED ? target : 0 };
	churn_open(&c.churn, t);
	open_rivals(&c, t);
	build_s = c.rival[0].peer.build_s;
	reader.core = READER_CORE;
	reader_start(&reader);
	compete(run, &c, &reader);
	reader_stop(&reader);
	restore(run, &c, &traffic, &run->ref[family]);
	add_figures(&c, families[family], run->slices, target);
	for (unsigned k = 0; k < c.n_rivals; k++) {
		build_s = c.rival[k].peer.build_s < build_s ? c.rival[k].peer.build_s
							    : build_s;
		churn_close(&c.rival[k].churn);
	}
	churn_close(&c.churn);
	peers_of(t->family)->close();
	free(c.change);
	traffic_free(&traffic);
	return build_s;
}

static void parse(struct run *run, int argc, char **argv)
{
	static const struct option options[] = {
		{ "slices", required_argument, NULL, 's' },
		{ "builds", required_argument, NULL, 'b' },
		{ "ms", required_argument, NULL, 'm' },
		{ 0 },
	};
	int c;

	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1)
		switch (c) {
		case 's':
			run->slices = (unsigned)strtoul(optarg, NULL, 10);
			break;
		case 'b':
			run->builds = (unsigned)strtoul(optarg, NULL, 10);
			break;
		case 'm':
			run->ms = (unsigned)strtoul(optarg, NULL, 10);
			break;
		default:
			exit(2);
		}
	if (argc - optind != 2 || !run->slices || run->slices > SLICES_MAX ||
	    !run->builds || run->builds > SLICES_MAX || !run->ms) {
		fprintf(stderr,
			"use: fibupdate EAL-OPTIONS -- [--slices N] [--builds N] [--ms N] "
			"TABLE4 TABLE6\n");
		exit(2);
	}
	for (unsigned i = 0; i < 2; i++) {
		bench_table_read(&run->table[i], argv[optind + (int)i]);
		bench_ref_make(&run->ref[i], &run->table[i]);
		printf("%s: %u routes\n", families[i], run->table[i].n);
	}
}

int main(int argc, char **argv)
{
	static struct run run = { .slices = 21, .builds = 5, .ms = 50 };
	int n = rte_eal_init(argc, argv);
	double peers_s = 0;

	if (n < 0)
		return 2;
	optind = 1;
	parse(&run, argc - n, argv + n);
	reader_own_core(WRITER_CORE);
	build(&run);
	peers_s += change_all(&run, 0, 1.0);
	peers_s += change_all(&run, 1, 0.5);
	fib_reclaim(run.fib);
	add_lookup_memory(&run, ", then", REPORT_ONLY);
	build_all(&run, peers_s);
	fib_free(run.fib);
	return report_end();
}
