/* bench/fib/lpm.c - lookups of one family: ours against DPDK's, in one process
 *
 *   lpm EAL-OPTIONS -- [--reps N] [--addresses N] [--hosts N] TABLE
 *
 * All structures hold the same routes and see the same addresses in the same bursts, one
 * structure after the other, over and over, so that the machine's moods meet all of them.
 * Time is that of the thread. All addresses are looked up once before each run: the
 * caches hold of a table what they hold when it is in use, not what its rivals left.
 *
 * A worker has just read its addresses from packets, and they are few. So they are copied
 * in small pieces to where they are looked up from, past the caches and untimed: else the
 * list of addresses would fight with the table for the third level cache.
 */

#include <getopt.h>
#include <rte_eal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../../lib/base/hot.h"
#include "clock.h"
#include "peer.h"
#include "quiet.h"
#include "report.h"
#include "traffic.h"

enum { REPS_MAX = 64, CHECKED = 1 << 17, NEXTHOPS = 200, PIECE_BYTES = 64 << 10 };

static const unsigned batches[] = { 32, 64, 256 };
enum { BATCHES = ARRAY_LEN(batches), JUDGED = 1 /* batch 64 */ };

struct run {
	unsigned reps;
	uint32_t addresses, hosts;
	const char *path;
	struct bench_table table;
	struct bench_ref ref;
	struct traffic traffic;
	struct peer peer[PEER_MAX];
	unsigned n_peers;
	double ns[PEER_MAX][TRAFFIC_COUNT][BATCHES][REPS_MAX];
};

static uint64_t result[PEER_BATCH_MAX + 8] CACHE_ALIGNED;

/* ---- answers ---- */

static uint32_t count_wrong(const struct run *r, const struct peer *p,
			    enum traffic_kind kind)
{
	uint32_t wrong = 0;

	for (uint32_t i = 0; i < CHECKED && i < r->traffic.n; i += 64) {
		p->lookup(p->ctx, traffic_at(&r->traffic, kind, i), result, 64);
		for (uint32_t k = 0; k < 64; k++)
			wrong += p->answer(result, k) !=
				 bench_ref_answer(&r->ref,
						  traffic_key(&r->traffic, kind, i + k));
	}
	return wrong;
}

/* A structure that does not hold every route is no peer. */
static void check(struct run *r)
{
	unsigned n = 0;

	for (unsigned i = 0; i < r->n_peers; i++) {
		const struct peer *p = &r->peer[i];
		uint32_t wrong = 0;

		if (p->refused) {
			printf("%s: left out: refused %u of %u routes\n", p->name,
			       p->refused, r->table.n);
			continue;
		}
		if (p->use)
			p->use(p);
		for (unsigned kind = 0; kind < TRAFFIC_COUNT; kind++)
			wrong += count_wrong(r, p, (enum traffic_kind)kind);
		if (wrong)
			report_wrong("%s: %u answers", p->name, wrong);
		r->peer[n++] = *p;
	}
	r->n_peers = n;
	printf("answers: %u structures, %u addresses each, compared with the sorted routes\n",
	       n, (CHECKED < r->traffic.n ? CHECKED : r->traffic.n) * TRAFFIC_COUNT);
}

/* ---- time ---- */

static uint8_t piece[PIECE_BYTES] CACHE_ALIGNED;

/* Prefetches of the kind "used once" leave the second and third level as they are. */
static void copy_past_caches(const uint8_t *from, size_t bytes)
{
	enum { AHEAD = 512 };

	for (size_t at = 0; at < bytes; at += CACHE_LINE) {
		__builtin_prefetch(from + at + AHEAD, 0, 0);
		memcpy(piece + at, from + at, CACHE_LINE);
	}
}

static uint64_t look_up(const struct run *r, const struct peer *p, unsigned batch,
			uint32_t n)
{
	size_t step = batch * traffic_size(&r->traffic);
	uint64_t start = clock_own_ns();

	for (uint32_t at = 0; at < n / batch; at++)
		p->lookup(p->ctx, piece + at * step, result, batch);
	return clock_own_ns() - start;
}

static uint64_t look_up_all(const struct run *r, const struct peer *p,
			    enum traffic_kind kind, unsigned batch)
{
	uint32_t each = PIECE_BYTES / (uint32_t)traffic_size(&r->traffic);
	uint64_t spent = 0;

	for (uint32_t at = 0; at < r->traffic.n; at += each) {
		copy_past_caches(traffic_at(&r->traffic, kind, at), PIECE_BYTES);
		spent += look_up(r, p, batch, each);
	}
	return spent;
}

static double measure(const struct run *r, const struct peer *p, enum traffic_kind kind,
		      unsigned batch)
{
	uint64_t spent;

	if (p->use)
		p->use(p);
	quiet_begin(0);
	look_up_all(r, p, kind, batch);
	spent = look_up_all(r, p, kind, batch);
	quiet_end(0);
	return (double)spent / r->traffic.n;
}

static void measure_all(struct run *r)
{
	for (unsigned rep = 0; rep < r->reps; rep++)
		for (unsigned kind = 0; kind < TRAFFIC_COUNT; kind++)
			for (unsigned b = 0; b < BATCHES; b++)
				for (unsigned k = 0; k < r->n_peers; k++) {
					unsigned i = (k + rep) % r->n_peers;

					r->ns[i][kind][b][rep] = measure(
						r, &r->peer[i], (enum traffic_kind)kind,
						batches[b]);
				}
}

/* ---- report ---- */

static void print_row(const struct run *r, unsigned i)
{
	const struct peer *p = &r->peer[i];

	printf("%-18s", p->name);
	if (p->mib > 0)
		printf(" %7.1f", p->mib);
	else
		printf(" %7s", "");
	if (p->build_s > 0)
		printf(" %7.2f", p->build_s);
	else
		printf(" %7s", "");
	for (unsigned kind = 0; kind < TRAFFIC_COUNT; kind++) {
		printf("  ");
		for (unsigned b = 0; b < BATCHES; b++)
			printf("%s%5.2f", b ? " " : "",
			       report_median(r->ns[i][kind][b], r->reps));
	}
	printf("\n");
}

static void print_matrix(const struct run *r)
{
	printf("ns a lookup, median of %u, batches of 32, 64 and 256; MiB with all it keeps\n",
	       r->reps);
	printf("%-18s %7s %7s", "structure", "MiB", "build s");
	for (unsigned kind = 0; kind < TRAFFIC_COUNT; kind++)
		printf("  %-17s", traffic_name((enum traffic_kind)kind));
	printf("\n");
	for (unsigned i = 0; i < r->n_peers; i++)
		print_row(r, i);
}

/* The quickest of ours or of the rivals; n_peers if there is none. */
static unsigned best_of(const struct run *r, enum traffic_kind kind, bool ours)
{
	unsigned best = r->n_peers;
	double best_ns = 0;

	for (unsigned i = 0; i < r->n_peers; i++) {
		double ns = report_median(r->ns[i][kind][JUDGED], r->reps);

		if (!(ours ? r->peer[i].ours : r->peer[i].rival))
			continue;
		if (best == r->n_peers || ns < best_ns) {
			best = i;
			best_ns = ns;
		}
	}
	return best;
}

static double target_of(uint8_t family, enum traffic_kind kind)
{
	static const double targets[2][TRAFFIC_COUNT] = {
		{ [TRAFFIC_UNIFORM] = 2.5,
		  [TRAFFIC_BY_PREFIX] = 1.5,
		  [TRAFFIC_ZIPF] = 1.5,
		  [TRAFFIC_HOT] = 1 / 1.5 },
		{ [TRAFFIC_BY_PREFIX] = 3, [TRAFFIC_ZIPF] = 3 },
	};

	return targets[family == 6][kind];
}

static void add_figures(const struct run *r, const char *what, bool judged)
{
	for (unsigned kind = 0; kind < TRAFFIC_COUNT; kind++) {
		unsigned ours = best_of(r, (enum traffic_kind)kind, true);
		unsigned peer = best_of(r, (enum traffic_kind)kind, false);
		double target = target_of(r->table.family, (enum traffic_kind)kind);
		char name[64];
		struct report_figure f = { .name = name, .unit = "ns", .n = r->reps };

		if (ours == r->n_peers || peer == r->n_peers) {
			report_wrong("%s: nothing to compare", what);
			return;
		}
		snprintf(name, sizeof(name), "%s%s",
			 traffic_name((enum traffic_kind)kind), what);
		f.ours = r->ns[ours][kind][JUDGED];
		f.theirs = r->ns[peer][kind][JUDGED];
		f.peer = r->peer[peer].name;
		f.rule = judged && target > 0 ? REPORT_RATIO : REPORT_ONLY;
		f.target = target;
		report_add(&f);
	}
}

/* The instructions that were chosen for this machine against the others that it has. */
static void add_choice(const struct run *r)
{
	unsigned chosen = best_of(r, TRAFFIC_BY_PREFIX, true);

	for (unsigned i = 0; i < r->n_peers; i++) {
		char name[64];
		struct report_figure f = {
			.name = name,
			.unit = "ns",
			.n = r->reps,
			.ours = r->ns[chosen][TRAFFIC_BY_PREFIX][JUDGED],
			.theirs = r->ns[i][TRAFFIC_BY_PREFIX][JUDGED],
			.peer = r->peer[i].name,
			.rule = REPORT_RATIO,
			.target = 0.95,
		};

		if (!r->peer[i].other || i == chosen)
			continue;
		snprintf(name, sizeof(name), "choice of %s", r->peer[chosen].name);
		report_add(&f);
	}
}

/* ---- one table after the other ---- */

static void run_table(struct run *r, const char *what, const char *suffix, bool judged)
{
	struct ours ours;

	bench_ref_make(&r->ref, &r->table);
	printf("\n%s: %u routes, %u stretches of addresses with one next hop\n", what,
	       r->table.n, r->ref.n);
	traffic_make(&r->traffic, &r->table, &r->ref, r->addresses);
	r->n_peers = ours_open(&ours, &r->table, r->peer);
	r->n_peers += peers_of(r->table.family)->open(&r->table, r->peer + r->n_peers);
	check(r);
	measure_all(r);
	print_matrix(r);
	add_figures(r, suffix, judged);
	if (judged)
		add_choice(r);
	fflush(stdout);
	peers_of(r->table.family)->close();
	ours_close(&ours);
	traffic_free(&r->traffic);
	bench_ref_free(&r->ref);
}

static void parse(struct run *r, int argc, char **argv)
{
	static const struct option options[] = {
		{ "reps", required_argument, NULL, 'r' },
		{ "addresses", required_argument, NULL, 'a' },
		{ "hosts", required_argument, NULL, 'h' },
		{ 0 },
	};
	int c;

	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1)
		switch (c) {
		case 'r':
			r->reps = (unsigned)strtoul(optarg, NULL, 10);
			break;
		case 'a':
			r->addresses = (uint32_t)strtoul(optarg, NULL, 10) / PIECE_BYTES *
				       PIECE_BYTES;
			break;
		case 'h':
			r->hosts = (uint32_t)strtoul(optarg, NULL, 10);
			break;
		default:
			exit(2);
		}
	r->path = argv[optind];
	if (!r->path || !r->reps || r->reps > REPS_MAX || !r->addresses) {
		fprintf(stderr,
			"use: lpm EAL-OPTIONS -- [--reps N] [--addresses N] [--hosts N] TABLE\n");
		exit(2);
	}
}

int main(int argc, char **argv)
{
	static struct run r = { .reps = 9, .hosts = 200000, .addresses = 1 << 20 };
	int n = rte_eal_init(argc, argv);

	if (n < 0)
		return 2;
	optind = 1;
	parse(&r, argc - n, argv + n);
	bench_table_read(&r.table, r.path);
	run_table(&r, "per-AS next hops", "", true);
	if (r.table.family == 4) {
		bench_table_add_hosts(&r.table, r.hosts);
		run_table(&r, "the same and host routes", ", with hosts", false);
		bench_table_free(&r.table);
		bench_table_read(&r.table, r.path);
	}
	bench_table_shuffle_nh(&r.table, NEXTHOPS);
	run_table(&r, "random next hops", ", random", false);
	bench_table_free(&r.table);
	return report_end();
}
