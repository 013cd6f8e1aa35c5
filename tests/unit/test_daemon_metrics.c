/* unit/test_daemon_metrics.c - how many series there may be, and what requests leave in them */

#include "../test.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "../../daemon/failure.h"
#include "../../daemon/metrics_inside.h"
#include "../../daemon/switches.h"
#include "../../lib/base/time.h"
#include "../../lib/prm/cqe.h"
#include "control_rig.h"

/* ---- series: no more than a card with every counter, and the most of everything, can have ---- */

enum { PORTS = 4, WORKERS = 16, SERIES_MAX = 1500 };

/* Of a histogram: buckets, one of them +Inf, sum and count. */
static unsigned series_of_sample(const struct metric *m)
{
	if (m->type != METRIC_HISTOGRAM)
		return 1;
	return 3 + (m->read == read_bursts    ? FWD_BURST_SIZES
		    : m->read == read_commits ? COMMIT_BOUNDS
					      : HISTOGRAM_BOUNDS);
}

static unsigned series_of(const struct metric *m, const struct scrape *s)
{
	unsigned n = series_of_sample(m);

	for (unsigned i = 0; m->label && m->label[i]; i++)
		n *= m->label[i]->count ? m->label[i]->count(s) : 1;
	if (m->read == read_fib_lengths)
		return FIB_LENGTHS;
	return n;
}

static void series_are_few_on_the_largest_router(void **state)
{
	static struct router r = { .n_ports = PORTS, .n_workers = WORKERS };
	struct scrape s = { .router = &r };
	unsigned n = 0;

	(void)state;
	for (size_t i = 0; i < metrics_table_rows; i++) {
		const struct metric *m = &metrics_table[i];

		print_message("%5u %s\n", series_of(m, &s), m->name);
		n += series_of(m, &s);
	}
	print_message("%5u series of %u ports and %u workers, at most\n", n, PORTS,
		      WORKERS);
	assert_in_range(n, 1000, SERIES_MAX);
}

/* ---- samples ---- */

/* The family of that name as text, in a buffer that the next call reuses. */
static const char *family(const char *name)
{
	static char *text;
	struct scrape s = { .router = &rig.router };
	uint32_t failed = 0;
	size_t size, n = 0;
	FILE *to;

	free(text);
	to = open_memstream(&text, &size);
	assert_non_null(to);
	fib_sizes(rig.router.fib, &s.fib);
	for (size_t i = 0; i < metrics_table_rows; i++) {
		if (strcmp(metrics_table[i].name, name) != 0)
			continue;
		metrics_write(to, METRICS_TEXT, &metrics_table[i], 1, &s, &failed);
		n++;
	}
	fclose(to);
	assert_int_equal(n, 1);
	assert_int_equal(failed, 0);
	return text;
}

static unsigned lines_of(const char *text)
{
	unsigned n = 0;

	for (; (text = strchr(text, '\n')); text++)
		n++;
	return n;
}

static void assert_sample(const char *name, const char *line)
{
	assert_has(family(name), line);
}

#define REQUESTS "mlx5fwd_control_requests"

static void requests_are_counted_by_how_they_end(void **state)
{
	unsigned lines = lines_of(family(REQUESTS));
	int fd = dial();

	(void)state;
	assert_sample(REQUESTS, "{object=\"route\",verb=\"add\",result=\"ok\"} 0\n");
	assert_sample(REQUESTS, "{object=\"other\",verb=\"\",result=\"error\"} 0\n");
	ask(fd, "route add 10/8 " MAC " dev eth0\n");
	ask(fd, "route add 10/8 " MAC " dev eth0\n");
	ask(fd, "route add\n");
	ask(fd, "begin\n");
	ask(fd, "abort\n");
	ask(fd, "abort\n");
	ask(fd, "route show\n");
	hear(fd);
	ask(fd, "an \"open quote\n"); /* no more of it */
	for (unsigned i = 0; i < 20; i++) {
		char line[40];

		snprintf(line, sizeof(line), "bogus%u word\n", i);
		ask(fd, line);
	}
	assert_sample(REQUESTS, "{object=\"route\",verb=\"add\",result=\"ok\"} 1\n");
	assert_sample(REQUESTS, "{object=\"route\",verb=\"add\",result=\"refused\"} 2\n");
	assert_sample(REQUESTS, "{object=\"route\",verb=\"add\",result=\"error\"} 0\n");
	assert_sample(REQUESTS, "{object=\"route\",verb=\"show\",result=\"ok\"} 1\n");
	assert_sample(REQUESTS, "{object=\"abort\",verb=\"\",result=\"ok\"} 1\n");
	assert_sample(REQUESTS, "{object=\"abort\",verb=\"\",result=\"refused\"} 1\n");
	assert_sample(REQUESTS, "{object=\"other\",verb=\"\",result=\"refused\"} 21\n");
	assert_int_equal(lines_of(family(REQUESTS)), lines);
	close(fd);
}

static void no_room_is_an_error_of_the_daemon(void **state)
{
	int fd = dial();
	char line[100];

	(void)state;
	for (unsigned i = 0; i < 1100; i++) {
		snprintf(line, sizeof(line),
			 "route add 2001:db8:%x::/48 02:00:00:00:%02x:%02x dev eth0\n", i,
			 i / 256, i % 256);
		if (strstr(ask(fd, line), "ENOSPC"))
			break;
	}
	assert_sample(REQUESTS, "{object=\"route\",verb=\"add\",result=\"error\"} 1\n");
	assert_sample("mlx5fwd_fib_update_failures",
		      "{family=\"ipv6\",reason=\"full\"} 1\n");
	assert_sample("mlx5fwd_fib_update_failures",
		      "{family=\"ipv4\",reason=\"full\"} 0\n");
	assert_sample("mlx5fwd_fib_update_failures",
		      "{family=\"ipv6\",reason=\"memory\"} 0\n");
	close(fd);
}

/* ---- changes ---- */

#define COMMITS "mlx5fwd_fib_commit_duration_seconds"
#define LENGTHS "mlx5fwd_fib_prefix_routes"
#define UPDATES "mlx5fwd_fib_updates"

static void a_commit_is_one_however_many_changes_it_has(void **state)
{
	int fd = dial();

	(void)state;
	assert_sample(COMMITS, "_count 0\n");
	add_routes(fd, 30);
	assert_sample(COMMITS, "_count 1\n");
	assert_sample(COMMITS, "le=\"10.0\"} 1\n");
	assert_sample(LENGTHS, "{family=\"ipv4\",length=\"24\"} 30\n");
	ask(fd, "route add 2001:db8::/127 " MAC " dev eth0\n");
	ask(fd, "route del 10.0.1.0/24\n");
	ask(fd, "route flush proto kernel\n"); /* there is none: no commit */
	assert_sample(COMMITS, "_count 3\n");
	assert_sample(LENGTHS, "{family=\"ipv4\",length=\"24\"} 29\n");
	assert_sample(LENGTHS, "{family=\"ipv4\",length=\"32\"} 0\n");
	assert_sample(LENGTHS, "{family=\"ipv6\",length=\"127\"} 1\n");
	assert_sample(LENGTHS, "{family=\"ipv6\",length=\"128\"} 0\n");
	assert_int_equal(lines_of(family(LENGTHS)), 2 + FIB_LENGTHS);
	assert_sample(UPDATES, "{family=\"ipv4\",operation=\"add\"} 30\n");
	assert_sample(UPDATES, "{family=\"ipv4\",operation=\"delete\"} 1\n");
	assert_sample(UPDATES, "{family=\"ipv6\",operation=\"add\"} 1\n");
	ask(fd, "begin\n");
	ask(fd, "route add 11/8 " MAC " dev eth0\n");
	ask(fd, "commit --dry-run\n");
	assert_sample(COMMITS, "_count 3\n");
	close(fd);
}

static void a_commit_is_in_the_bucket_of_its_time(void **state)
{
	struct requested q = { 0 };

	(void)state;
	requested_commit(&q, 0);
	for (unsigned i = 0; i < COMMIT_BOUNDS; i++) {
		requested_commit(&q, commit_bound_ns[i]);
		requested_commit(&q, commit_bound_ns[i] + 1);
	}
	assert_int_equal(q.commits[0], 2);
	for (unsigned i = 1; i < COMMIT_BOUNDS; i++) {
		assert_int_equal(q.commits[i], 2);
		assert_true(commit_bound_ns[i] > commit_bound_ns[i - 1]);
	}
	assert_int_equal(q.commits[COMMIT_BOUNDS], 1);
}

/* ---- names ---- */

/* All that we name has text too; what a connection only can have is "other". */
static void every_syndrome_has_a_name(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 256; i++) {
		enum failure f = failure_of(i);

		assert_true(f <= FAILURE_OTHER && *failure_name(f));
		assert_true(f == FAILURE_OTHER ||
			    strcmp(prm_syndrome_text(i), prm_syndrome_text(0)) != 0);
	}
	assert_int_equal(failure_of(0x04), FAILURE_LOCAL_PROTECTION);
	assert_int_equal(failure_of(0x05), FAILURE_FLUSHED);
	assert_int_equal(failure_of(0x15), FAILURE_OTHER);
	assert_string_equal(failure_name(FAILURE_OUT_OF_STEP), "out_of_step");
}

static void *want_the_cpu(void *until)
{
	while (!atomic_load((atomic_bool *)until))
		time_relax();
	return NULL;
}

/* Two threads want one CPU: sooner or later it is taken from this one. */
static void switches_of_a_thread_are_those_it_did_not_want(void **state)
{
	uint64_t before, now, end = time_ns() + 60 * NS_PER_S;
	atomic_bool until = false;
	cpu_set_t all, one;
	pthread_t other;

	(void)state;
	assert_int_equal(switches_of_thread(1 << 30, &now), -ENOENT);
	assert_int_equal(sched_getaffinity(0, sizeof(all), &all), 0);
	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
	assert_int_equal(switches_of_thread(gettid(), &before), 0);
	assert_int_equal(pthread_create(&other, NULL, want_the_cpu, &until), 0);
	do
		assert_int_equal(switches_of_thread(gettid(), &now), 0);
	while (now == before && time_ns() < end);
	atomic_store(&until, true);
	pthread_join(other, NULL);
	assert_true(now > before);
	assert_int_equal(sched_setaffinity(0, sizeof(all), &all), 0);
}

#define WITH_RIG(test) cmocka_unit_test_setup_teardown(test, rig_started, rig_stopped)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(series_are_few_on_the_largest_router),
		WITH_RIG(requests_are_counted_by_how_they_end),
		WITH_RIG(no_room_is_an_error_of_the_daemon),
		WITH_RIG(a_commit_is_one_however_many_changes_it_has),
		cmocka_unit_test(a_commit_is_in_the_bucket_of_its_time),
		cmocka_unit_test(every_syndrome_has_a_name),
		cmocka_unit_test(switches_of_a_thread_are_those_it_did_not_want),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
