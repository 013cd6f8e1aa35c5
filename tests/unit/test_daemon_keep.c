/* unit/test_daemon_keep.c - routes and counters of one run are there in the next */

#include "control_rig.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../daemon/counters.h"
#include "../../daemon/keep.h"
#include "../../daemon/restore.h"
#include "../../daemon/state.h"
#include "../../lib/base/time.h"
#include "../../lib/ctl/proto.h"

static char folder[64], routes[100], counters[100];

static int make_folder(void **state)
{
	(void)state;
	snprintf(folder, sizeof(folder), "/tmp/keep_XXXXXX");
	assert_non_null(mkdtemp(folder));
	snprintf(routes, sizeof(routes), "%s/routes", folder);
	snprintf(counters, sizeof(counters), "%s/counters", folder);
	return setenv("MLX5FWD_BOOT_ID", "0123-4567", 1);
}

static int remove_folder(void **state)
{
	static const char *const files[] = { "routes", "routes.refused", "counters",
					     "counters.refused" };
	char path[150];

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(files); i++) {
		snprintf(path, sizeof(path), "%s/%s", folder, files[i]);
		unlink(path);
	}
	return rmdir(folder);
}
#define keeping(f) cmocka_unit_test_setup_teardown(f, make_folder, remove_folder)

/* ---- runs ---- */

static void begin(unsigned n_workers)
{
	struct ring *none[1] = { NULL };
	struct exc_conf exc = { .ring = none, .n_rings = 0 };
	struct fwd_conf conf = { .cpu = -1, .punt_ring = 16, .punt_bytes = 64 };
	struct config *c = &rig.router.conf;
	struct err err = { "" };

	rig_make("");
	c->keep_routes = c->keep_counters = true;
	snprintf(c->state_directory, sizeof(c->state_directory), "%s", folder);
	assert_int_equal(exc_new(&exc, &err, &rig.router.exc), 0);
	for (unsigned w = 0; w < n_workers; w++)
		assert_int_equal(fwd_worker_new(&conf, &rig.router.worker[w]), 0);
	rig.router.n_workers = n_workers;
	if (keep_open(&rig.router, &err) < 0)
		fail_msg("%s", err.text);
}

static void end(void)
{
	keep_close(&rig.router);
	while (rig.router.n_workers)
		fwd_worker_free(rig.router.worker[--rig.router.n_workers]);
	exc_free(rig.router.exc);
	rig_unmake();
}

/* What stands in the files at that moment is all that there is later. */
static void end_at_once(void)
{
	static char text[1 << 16];
	FILE *file = fopen(counters, "re");
	size_t n = file ? fread(text, 1, sizeof(text), file) : 0;

	if (file)
		fclose(file);
	end();
	unlink(counters);
	if (!file)
		return;
	file = fopen(counters, "we");
	assert_non_null(file);
	assert_int_equal(fwrite(text, 1, n, file), n);
	fclose(file);
}

static void add(const char *words)
{
	char line[CTL_LINE_MAX], *word[CTL_WORDS_MAX];
	struct err err = { "" };
	int n;

	snprintf(line, sizeof(line), "%s", words);
	n = ctl_split(line, word);
	if (route_stage_add(&rig.router, word, n, &err) < 0)
		fail_msg("%s: %s", words, err.text);
	assert_int_equal(fib_commit(rig.router.fib), 0);
	keep_routes_changed(&rig.router);
}

static uint32_t n_routes(void)
{
	struct fib_sizes s;

	fib_sizes(rig.router.fib, &s);
	return s.routes[0][FIB_STATIC] + s.routes[1][FIB_STATIC];
}

static const char *text_of(const char *path)
{
	static char text[4000];
	FILE *file = fopen(path, "re");

	assert_non_null(file);
	text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
	fclose(file);
	return text;
}

static void put(const char *path, const char *text)
{
	FILE *file = fopen(path, "we");

	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	fclose(file);
}

/* ---- routes ---- */

#define LINES \
	"route add 0.0.0.0/0 unreachable\n" \
	"route add 10.0.0.0/8 02:00:00:00:0a:02 dev eth0\n" \
	"route add 10.1.0.0/16 02:00:00:00:0b:02 dev eth1 vlan 7 metric 5\n" \
	"route add 11.0.0.0/8 nexthop 02:00:00:00:0a:02 dev eth0 weight 1 nexthop " \
	"02:00:00:00:0b:02 dev eth1 vlan 9 weight 3 metric 1\n" \
	"route add 2001:db8::/32 blackhole\n" \
	"route add 2001:db8:1::/48 prohibit metric 4294967295\n"

static void some(void)
{
	add("2001:db8:1::/48 prohibit metric 4294967295");
	add("10.1/16 02:00:00:00:0b:02 dev eth1 vlan 7 metric 5");
	add("10/8 " MAC " dev eth0");
	add("11/8 nexthop 02:00:00:00:0b:02 dev eth1 vlan 9 weight 3 nexthop " MAC
	    " dev eth0 metric 1");
	add("default unreachable");
	add("2001:db8::/32 blackhole");
}

static void routes_are_there_again(void **state)
{
	(void)state;
	begin(0);
	assert_int_equal(n_routes(), 0);
	some();
	end();
	assert_has(text_of(routes), "# mlx5fwd routes 1\n" LINES "# end 6 ");
	for (int run = 0; run < 2; run++) { /* the second of what the first restored */
		begin(0);
		assert_int_equal(n_routes(), 6);
		if (run)
			add("99/8 blackhole");
		end();
	}
	assert_has(text_of(routes), "route add 99.0.0.0/8 blackhole\n");
	begin(0);
	assert_int_equal(n_routes(), 7);
	end();
}

/* Without an end: soon after the last change. */
static void routes_are_kept_while_it_runs(void **state)
{
	(void)state;
	begin(0);
	some();
	keep_tick(&rig.router);
	assert_int_equal(access(routes, F_OK), -1);
	for (int i = 0; i < 2000 && access(routes, F_OK) != 0; i++) {
		keep_tick(&rig.router);
		usleep(5000);
	}
	assert_has(text_of(routes), LINES);
	end();
}

static void add_many(unsigned from, unsigned n)
{
	char text[100], *word[] = { text, "blackhole" };
	struct err err = { "" };

	for (unsigned i = from; i < from + n; i++) {
		snprintf(text, sizeof(text), "10.%u.%u.%u/32", i >> 16, i >> 8 & 255,
			 i & 255);
		assert_int_equal(route_stage_add(&rig.router, word, 2, &err), 0);
	}
	assert_int_equal(fib_commit(rig.router.fib), 0);
	keep_routes_changed(&rig.router);
}

/* More than a tick writes, and a change whenever it is at that: the file has all of some moment. */
static void who_is_overtaken_again_and_again_gets_there(void **state)
{
	enum { MANY = 100000, ONE = 1 };
	unsigned n = MANY;

	(void)state;
	begin(0);
	add_many(0, MANY);
	for (int i = 0; i < 4000 && access(routes, F_OK) != 0; i++) {
		keep_tick(&rig.router);
		if (i % 3 == 0)
			add_many(n++, ONE);
		usleep(5000);
	}
	assert_int_equal(access(routes, F_OK), 0);
	end();
	begin(0);
	assert_int_equal(n_routes(), n);
	end();
}

static void aside(const char *text)
{
	char path[150];

	put(routes, text);
	begin(0);
	assert_int_equal(n_routes(), 0);
	assert_int_equal(access(routes, F_OK), -1);
	add("10/8 blackhole");
	end();
	snprintf(path, sizeof(path), "%s.refused", routes);
	assert_string_equal(text_of(path), text);
	assert_has(text_of(routes), "10.0.0.0/8");
	unlink(path);
	unlink(routes);
}

static const char *with_end(const char *lines, unsigned n)
{
	static char text[4000];
	struct state_writer w;
	char copy[4000], *at = copy, *line;
	static const struct state_kind kind = { "routes", 1 };
	int dir;
	struct err err;

	assert_int_equal(state_open(folder, &err, &dir), 0);
	assert_int_equal(state_begin(&w, dir, &kind), 0);
	snprintf(copy, sizeof(copy), "%s", lines);
	for (unsigned i = 0; i < n && (line = strsep(&at, "\n")); i++)
		state_line(&w, line);
	assert_int_equal(state_publish(&w, false), 0);
	close(dir);
	snprintf(text, sizeof(text), "%s", text_of(routes));
	return text;
}

/* A port that is no more, a word that means nothing, the same twice, half a file: never a part. */
static void a_file_that_is_not_whole_is_kept_aside(void **state)
{
	(void)state;
	aside(with_end("route add 11/8 blackhole\nroute add 12/8 " MAC " dev eth2", 2));
	aside(with_end("route add 11/8 blackhole\nroute add 12/8 frob", 2));
	aside(with_end("route add 11/8 blackhole\nroute del 12/8 blackhole", 2));
	aside(with_end("route add 11/8 blackhole\nroute add 11/8 prohibit", 2));
	aside(with_end("route add 11/8 blackhole\nroute add", 2));
	aside("# mlx5fwd routes 1\nroute add 11/8 blackhole\n");
	aside("# mlx5fwd routes 2\n");
	aside("");
}

/* ---- counters ---- */

static void count(unsigned w, unsigned port, uint64_t base)
{
	struct fwd_port_count c;
	struct histogram h = { .bucket = { base + 1, base + 2 },
			       .sum_ns = base + 3,
			       .max_ns = base + 4 };
	uint64_t *v = (uint64_t *)(void *)&c;

	for (size_t i = 0; i < sizeof(c) / sizeof(*v); i++)
		v[i] = base + i;
	fwd_worker_set_port_counts(rig.router.worker[w], port, &c, &h);
}

/* Every counter of every kind is another number. */
static void count_all(void)
{
	struct exc_port_count punts;
	uint64_t *v = (uint64_t *)(void *)&punts;

	for (unsigned p = 0; p < 2; p++) {
		for (unsigned w = 0; w < rig.router.n_workers; w++)
			count(w, p, 1000 * (p + 1) + 100 * w);
		for (size_t i = 0; i < sizeof(punts) / sizeof(*v); i++)
			v[i] = 5000 + 100 * p + i;
		exc_set_port_count(rig.router.exc, p, &punts);
		rig.router.port[p].carrier_changes = 70 + p;
		for (unsigned d = 0; d < DIRECTIONS; d++) {
			rig.router.port[p].recoveries[d][0] = 80 + 2 * p + d;
			rig.router.port[p].recoveries[d][1] = 85 + 2 * p + d;
			rig.router.port[p].failures[d][FAILURE_FLUSHED] = 60 + 2 * p + d;
		}
	}
	rig.router.requested.count[1][REQUEST_REFUSED] = 41;
	rig.router.requested.count[request_kinds() - 1][REQUEST_ERROR] = 42;
	rig.router.requested.commits[COMMIT_BOUNDS] = 43;
	rig.router.requested.commits_ns = 44;
	for (unsigned w = 0; w < rig.router.n_workers; w++) {
		struct fwd_count c = { .turns = 91 + w,
				       .empty_turns = 92,
				       .sleeps = 93,
				       .busy_ticks = UINT64_C(1) << 50,
				       .idle_ticks = 7,
				       .bursts = { 94, 95 } };

		c.bursts[FWD_BURST_SIZES - 1] = 96;
		rig.router.kept_worker[w].switches_told = 97;
		fwd_worker_set_counts(rig.router.worker[w], &c);
	}
}

static void check_queue(unsigned w, unsigned port, uint64_t base)
{
	const struct fwd_port_count *c =
		fwd_worker_port_count(rig.router.worker[w], port);
	const struct histogram *h = fwd_worker_latency(rig.router.worker[w], port);
	const uint64_t *v = (const uint64_t *)(const void *)c;

	/* Padding is not kept. */
	for (size_t i = 0; i <= offsetof(struct fwd_port_count, egress_bytes[1]) / 8; i++)
		assert_int_equal(v[i], base + i);
	assert_int_equal(h->bucket[0], base + 1);
	assert_int_equal(h->bucket[1], base + 2);
	assert_int_equal(h->bucket[2], 0);
	assert_int_equal(h->sum_ns, base + 3);
	assert_int_equal(h->max_ns, base + 4);
}

static void check_all(void)
{
	uint64_t n;

	for (unsigned p = 0; p < 2; p++) {
		const struct exc_port_count *punts = exc_port_count(rig.router.exc, p);
		const uint64_t *v = (const uint64_t *)(const void *)punts;

		for (unsigned w = 0; w < rig.router.n_workers; w++)
			check_queue(w, p, 1000 * (p + 1) + 100 * w);
		for (size_t i = 0; i < sizeof(*punts) / sizeof(*v); i++)
			assert_int_equal(v[i], 5000 + 100 * p + i);
		assert_int_equal(rig.router.port[p].carrier_changes, 70 + p);
		for (unsigned d = 0; d < DIRECTIONS; d++) {
			assert_int_equal(rig.router.port[p].recoveries[d][0],
					 80 + 2 * p + d);
			assert_int_equal(rig.router.port[p].recoveries[d][1],
					 85 + 2 * p + d);
			assert_int_equal(rig.router.port[p].failures[d][FAILURE_FLUSHED],
					 60 + 2 * p + d);
		}
	}
	assert_int_equal(rig.router.requested.count[1][REQUEST_REFUSED], 41);
	assert_int_equal(rig.router.requested.count[request_kinds() - 1][REQUEST_ERROR],
			 42);
	assert_int_equal(rig.router.requested.commits[COMMIT_BOUNDS], 43);
	assert_int_equal(rig.router.requested.commits_ns, 44);
	for (unsigned w = 0; w < rig.router.n_workers; w++) {
		const struct fwd_count *c = fwd_worker_count(rig.router.worker[w]);

		assert_int_equal(c->turns, 91 + w);
		assert_int_equal(c->empty_turns, 92);
		assert_int_equal(c->sleeps, 93);
		/* Some microseconds more, and never less. */
		assert_in_range(c->busy_ticks - (UINT64_C(1) << 50), 0,
				10 * time_ticks_per_us());
		assert_in_range(c->idle_ticks - 7, 0, 10 * time_ticks_per_us());
		assert_int_equal(c->bursts[0], 94);
		assert_int_equal(c->bursts[1], 95);
		assert_int_equal(c->bursts[FWD_BURST_SIZES - 1], 96);
		assert_int_equal(keep_switches(&rig.router, w, &n), 0);
		assert_int_equal(n, 97);
	}
}

static void counters_go_on(void **state)
{
	struct fib_sizes s;

	(void)state;
	begin(3);
	count_all();
	add("10/8 blackhole");
	end();
	assert_has(text_of(counters), "\nclosed yes\n");
	setenv("MLX5FWD_BOOT_ID", "89ab", 1); /* a closed file outlives that, too */
	for (int run = 0; run < 2; run++) {
		begin(3);
		assert_has(text_of(counters), "\nboot 89ab\nclosed no\n");
		check_all();
		keep_fib_sizes(&rig.router, &s);
		assert_int_equal(s.updates[0][FIB_ADDED],
				 2 + run); /* those that come back are added, too */
		end();
	}
}

/* Killed: what was told is there, and what was not told need not. */
static void what_was_told_is_not_taken_back(void **state)
{
	(void)state;
	begin(2);
	count_all();
	keep_counters_told(&rig.router);
	count(0, 0, 999999);
	end_at_once();
	begin(2);
	check_all();
	count(0, 0, 5000);
	keep_counters_shown(&rig.router);
	keep_tick(&rig.router);
	count(0, 0, 999999);
	end_at_once();
	begin(2);
	check_queue(0, 0, 5000);
	end();
}

static void after_a_loss_of_power_they_begin_at_0(void **state)
{
	(void)state;
	begin(1);
	count_all();
	keep_counters_told(&rig.router);
	end_at_once();
	setenv("MLX5FWD_BOOT_ID", "89ab-cdef", 1);
	begin(1);
	assert_int_equal(fwd_worker_count(rig.router.worker[0])->turns, 0);
	assert_int_equal(fwd_worker_port_count(rig.router.worker[0], 0)->received, 0);
	end_at_once();
	/* Nor is it known where nobody says which boot it is. */
	setenv("MLX5FWD_BOOT_ID", "", 1);
	for (int run = 0; run < 2; run++) {
		begin(1);
		assert_int_equal(fwd_worker_count(rig.router.worker[0])->turns, 0);
		count_all();
		keep_counters_told(&rig.router);
		end_at_once();
	}
}

/* Sums of a port stay what they were, whoever counted. */
static void workers_that_are_no_more_count(void **state)
{
	const struct kept *k = &rig.router.kept[1];

	(void)state;
	begin(3);
	count_all();
	end();
	for (int run = 0; run < 2; run++) {
		begin(1);
		check_queue(0, 1, 2000);
		assert_int_equal(k->count.received, 2100 + 2200);
		assert_int_equal(k->count.egress_bytes[1],
				 2 * fwd_worker_port_count(rig.router.worker[0], 1)
							 ->egress_bytes[1] +
					 300);
		assert_int_equal(k->latency.bucket[1], 2102 + 2202);
		assert_int_equal(k->latency.max_ns, 2204);
		end();
	}
	begin(4); /* they do not come back: nobody knows which ones these are */
	assert_int_equal(k->count.received, 2100 + 2200);
	assert_int_equal(fwd_worker_port_count(rig.router.worker[1], 1)->received, 0);
	end();
}

static void ports_are_known_by_name(void **state)
{
	(void)state;
	begin(1);
	count_all();
	snprintf(rig.router.conf.port[0].name, IF_NAMESIZE, "eth7");
	end();
	begin(1); /* eth0 is new, eth1 is as it was */
	assert_int_equal(fwd_worker_port_count(rig.router.worker[0], 0)->received, 0);
	check_queue(0, 1, 2000);
	end();
}

static void a_file_that_is_damaged_is_kept_aside(void **state)
{
	char path[150];

	(void)state;
	snprintf(path, sizeof(path), "%s.refused", counters);
	put(counters, "# mlx5fwd counters 1\nworker 0 turns 7\n");
	begin(1);
	assert_int_equal(fwd_worker_count(rig.router.worker[0])->turns, 0);
	assert_has(text_of(path), "turns 7");
	end();
}

/* A folder that nobody can write to: neither is kept, nor taken from there. */
static void where_nothing_can_be_written_it_begins_at_0(void **state)
{
	char path[150];

	(void)state;
	begin(1);
	count_all();
	end();
	snprintf(path, sizeof(path), "%s.new", counters);
	assert_int_equal(mkdir(path, 0700), 0);
	begin(1);
	assert_int_equal(fwd_worker_count(rig.router.worker[0])->turns, 0);
	assert_int_equal(access(counters, F_OK), -1); /* or it would be believed later */
	rmdir(path);
	count_all();
	keep_counters_told(&rig.router); /* it can again */
	assert_int_equal(mkdir(path, 0700), 0);
	keep_counters_told(&rig.router);
	assert_int_equal(access(counters, F_OK), -1);
	rmdir(path);
	end();
	begin(1);
	check_all();
	end();
}

static void what_is_not_to_be_kept_is_not(void **state)
{
	struct err err = { "" };

	(void)state;
	rig_make("");
	assert_int_equal(keep_open(&rig.router, &err), 0);
	assert_null(rig.router.keep);
	keep_tick(&rig.router);
	keep_routes_changed(&rig.router);
	keep_counters_told(&rig.router);
	keep_counters_shown(&rig.router);
	keep_close(&rig.router);
	rig_unmake();
	assert_int_equal(access(routes, F_OK), -1);
	assert_int_equal(access(counters, F_OK), -1);
}

static void who_has_no_folder_goes_on(void **state)
{
	struct router *r = &rig.router;
	struct err err = { "" };

	(void)state;
	rig_make("");
	r->conf.keep_routes = r->conf.keep_counters = true;
	snprintf(r->conf.state_directory, sizeof(r->conf.state_directory),
		 "/proc/none/here");
	assert_int_equal(keep_open(r, &err), 0);
	add("10/8 blackhole");
	keep_tick(r);
	keep_counters_told(r);
	keep_close(r);
	rig_unmake();
}

static void the_folder_is_systemd_s_or_ours(void **state)
{
	struct router *r = &rig.router;
	struct err err = { "" };
	char two[200];

	(void)state;
	rig_make("");
	r->conf.keep_routes = true;
	snprintf(r->conf.state_directory, sizeof(r->conf.state_directory), "auto");
	snprintf(two, sizeof(two), "%s:/nowhere", folder);
	setenv("STATE_DIRECTORY", two, 1);
	assert_int_equal(keep_open(r, &err), 0);
	add("10/8 blackhole");
	keep_close(r);
	rig_unmake();
	unsetenv("STATE_DIRECTORY");
	assert_has(text_of(routes), "10.0.0.0/8");
}

static const struct CMUnitTest tests[] = {
	keeping(routes_are_there_again),
	keeping(routes_are_kept_while_it_runs),
	keeping(who_is_overtaken_again_and_again_gets_there),
	keeping(a_file_that_is_not_whole_is_kept_aside),
	keeping(counters_go_on),
	keeping(what_was_told_is_not_taken_back),
	keeping(after_a_loss_of_power_they_begin_at_0),
	keeping(workers_that_are_no_more_count),
	keeping(ports_are_known_by_name),
	keeping(a_file_that_is_damaged_is_kept_aside),
	keeping(where_nothing_can_be_written_it_begins_at_0),
	keeping(what_is_not_to_be_kept_is_not),
	keeping(who_has_no_folder_goes_on),
	keeping(the_folder_is_systemd_s_or_ours),
};

int main(void)
{
	return cmocka_run_group_tests(tests, NULL, NULL);
}
