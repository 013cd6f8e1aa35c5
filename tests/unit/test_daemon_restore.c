/* unit/test_daemon_restore.c - changes of many routes: select, flush, append, restore, dry run */

#include "control_rig.h"

#include <unistd.h>

#define B_MAC "02:00:00:00:0b:02"

static void done(int fd, const char *line)
{
	const char *reply = ask(fd, line);

	if (strcmp(reply, OK) != 0)
		fail_msg("%s: %s", line, reply);
}

/* The prefixes of `route show WORDS`, each with a blank behind it. */
static const char *prefixes(int fd, const char *words)
{
	static char text[1000];
	char line[200];
	const char *row;

	*text = '\0';
	snprintf(line, sizeof(line), "route show %s\n", words);
	for (row = ask(fd, line); strcmp(row, OK) != 0; row = hear(fd)) {
		const char *dst = strstr(row, "\"dst\":\"");

		if (!dst)
			fail_msg("%s: %s", line, row);
		dst += strlen("\"dst\":\"");
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%.*s ",
			 (int)strcspn(dst, "\""), dst);
	}
	return text;
}

static void some(int fd)
{
	done(fd, "route add 10/8 " MAC " dev eth0\n");
	done(fd, "route add 10.1/16 " B_MAC " dev eth1 metric 5\n");
	done(fd, "route add 10.1.1/24 nexthop " MAC " dev eth0 nexthop " B_MAC
		 " dev eth1 weight 2\n");
	done(fd, "route add 11/8 blackhole\n");
	done(fd, "route add 2001:db8::/32 " B_MAC " dev eth1\n");
	done(fd, "route add 2001:db8:1::/48 prohibit\n");
}

#define ALL "10.0.0.0/8 10.1.0.0/16 10.1.1.0/24 11.0.0.0/8 2001:db8::/32 2001:db8:1::/48 "

static void routes_are_selected(void **state)
{
	static const struct {
		const char *words, *prefixes;
	} is[] = {
		{ "", ALL },
		{ "all", ALL },
		{ "proto static", ALL },
		{ "proto kernel", "" },
		{ "dev eth0", "10.0.0.0/8 10.1.1.0/24 " },
		{ "dev eth1", "10.1.0.0/16 10.1.1.0/24 2001:db8::/32 " },
		{ "lladdr " MAC, "10.0.0.0/8 10.1.1.0/24 " },
		{ "lladdr 02-00-00-00-0B-02 dev eth0", "" },
		{ "type blackhole", "11.0.0.0/8 " },
		{ "type prohibit root ::/0", "2001:db8:1::/48 " },
		{ "root 10/8 dev eth1", "10.1.0.0/16 10.1.1.0/24 " },
		{ "match 10.1.1.1", "10.0.0.0/8 10.1.0.0/16 10.1.1.0/24 " },
		{ "10.1/16", "10.1.0.0/16 " },
		{ "exact 10.1/16 dev eth0", "" },
		{ "root 0/0", "10.0.0.0/8 10.1.0.0/16 10.1.1.0/24 11.0.0.0/8 " },
	};
	int fd = dial();

	(void)state;
	some(fd);
	for (size_t i = 0; i < ARRAY_LEN(is); i++)
		assert_string_equal(prefixes(fd, is[i].words), is[i].prefixes);
	close(fd);
}

/* Of both families. */
static uint64_t changed(const struct fib_sizes *s, enum fib_operation how)
{
	return s->updates[0][how] + s->updates[1][how];
}

static void what_is_selected_is_flushed_at_once(void **state)
{
	struct fib_sizes before, after;
	int fd = dial();

	(void)state;
	some(fd);
	fib_sizes(rig.router.fib, &before);
	done(fd, "route flush dev eth1\n");
	fib_sizes(rig.router.fib, &after);
	assert_int_equal(after.commits, before.commits + 1);
	assert_int_equal(changed(&after, FIB_DELETED), changed(&before, FIB_DELETED) + 3);
	assert_string_equal(prefixes(fd, ""), "10.0.0.0/8 11.0.0.0/8 2001:db8:1::/48 ");
	done(fd, "route flush proto kernel\n"); /* not ours to delete */
	done(fd, "route flush root 99/8\n");
	done(fd, "begin\n");
	done(fd, "route flush all\n");
	done(fd, "route add 12/8 blackhole\n");
	done(fd, "abort\n");
	assert_string_equal(prefixes(fd, ""), "10.0.0.0/8 11.0.0.0/8 2001:db8:1::/48 ");
	done(fd, "route flush all\n");
	assert_string_equal(prefixes(fd, ""), "");
	close(fd);
}

static void legs_are_appended(void **state)
{
	int fd = dial();

	(void)state;
	done(fd, "route append 10/8 " MAC " dev eth0 metric 7\n"); /* the first */
	done(fd, "route append 10/8 nexthop " B_MAC " dev eth1 weight 3\n");
	assert_string_equal(
		ask(fd, "route show\n"),
		"{\"dst\":\"10.0.0.0/8\",\"nexthops\":["
		"{\"lladdr\":\"" MAC "\",\"dev\":\"eth0\",\"weight\":1,\"flags\":[]},"
		"{\"lladdr\":\"" B_MAC "\",\"dev\":\"eth1\",\"weight\":3,\"flags\":[]}],"
		"\"protocol\":\"static\",\"metric\":7,\"flags\":[]}");
	assert_string_equal(hear(fd), OK);
	assert_has(
		ask(fd, "route append 10/8 " MAC " dev eth0\n"),
		"\"EALREADY\",\"message\":\"route append 10/8: has this next hop already");
	assert_has(ask(fd, "route append 10/8 blackhole\n"), "\"EOPNOTSUPP\"");
	done(fd, "route append 10/8 " MAC " dev eth1 metric 9\n");
	assert_has(ask(fd, "route show\n"), "\"metric\":9");
	assert_string_equal(hear(fd), OK);
	close(fd);
}

static void a_route_that_is_the_same_is_no_change(void **state)
{
	struct fib_sizes before, after;
	int fd = dial();

	(void)state;
	some(fd);
	fib_sizes(rig.router.fib, &before);
	done(fd, "route replace 10/8 " MAC " dev eth0\n");
	done(fd, "route replace 10.1.1/24 nexthop " B_MAC
		 " dev eth1 weight 2 nexthop " MAC " dev eth0\n");
	done(fd, "route replace 11/8 blackhole\n");
	fib_sizes(rig.router.fib, &after);
	assert_int_equal(after.commits, before.commits);
	done(fd, "route replace 11/8 blackhole metric 1\n");
	done(fd, "route replace 10/8 " MAC " dev eth1\n");
	fib_sizes(rig.router.fib, &after);
	assert_int_equal(changed(&after, FIB_REPLACED),
			 changed(&before, FIB_REPLACED) + 2);
	close(fd);
}

#define COUNTS(a, c, d, u) \
	"{\"added\":" a ",\"changed\":" c ",\"deleted\":" d ",\"unchanged\":" u "}"

static void restored(int fd, const char *commit, const char *counts)
{
	assert_string_equal(ask(fd, commit), counts);
	assert_string_equal(hear(fd), OK);
}

static void what_is_not_named_goes_in_one_commit(void **state)
{
	struct fib_sizes before, after;
	int fd = dial();

	(void)state;
	some(fd);
	fib_sizes(rig.router.fib, &before);
	for (int round = 0; round < 2; round++) {
		done(fd, "begin restore\n");
		done(fd, "route add 11/8 blackhole\n");
		done(fd, "route replace 10/8 " MAC " dev eth0\n");
		done(fd, "route add 12/8 unreachable\n");
		done(fd, "route add 10.1/16 " B_MAC " dev eth1\n"); /* other metric */
		restored(fd, round ? "commit\n" : "commit --dry-run\n",
			 COUNTS("1", "1", "3", "2"));
		if (!round)
			assert_string_equal(prefixes(fd, ""), ALL);
	}
	fib_sizes(rig.router.fib, &after);
	assert_int_equal(after.commits, before.commits + 1);
	assert_int_equal(changed(&after, FIB_ADDED), changed(&before, FIB_ADDED) + 1);
	assert_int_equal(changed(&after, FIB_REPLACED),
			 changed(&before, FIB_REPLACED) + 1);
	assert_int_equal(changed(&after, FIB_DELETED), changed(&before, FIB_DELETED) + 3);
	assert_string_equal(prefixes(fd, ""),
			    "10.0.0.0/8 10.1.0.0/16 11.0.0.0/8 12.0.0.0/8 ");
	done(fd, "begin restore\n");
	restored(fd, "commit\n", COUNTS("0", "0", "4", "0"));
	assert_string_equal(prefixes(fd, ""), "");
	close(fd);
}

static void a_restore_that_fails_changes_nothing(void **state)
{
	int fd = dial();

	(void)state;
	some(fd);
	done(fd, "begin restore\n");
	assert_has(ask(fd, "route del 10/8\n"),
		   "a restore takes route add and route replace only");
	assert_has(ask(fd, "route flush all\n"), "a restore takes");
	assert_has(ask(fd, "route append 10/8 " MAC " dev eth1\n"), "a restore takes");
	done(fd, "route add 11/8 blackhole\n");
	done(fd, "route add 12/8 blackhole\n");
	done(fd, "route add 11/8 prohibit\n");
	assert_has(ask(fd, "commit\n"), "commit: 11.0.0.0/8 is there twice; nothing was");
	assert_string_equal(prefixes(fd, ""), ALL);
	assert_has(ask(fd, "commit\n"), "no batch of yours is open");
	done(fd, "begin restore\n");
	done(fd, "route add 12/8 blackhole\n");
	done(fd, "abort\n");
	done(fd, "begin\n"); /* an ordinary one again */
	done(fd, "route add 13/8 blackhole\n");
	done(fd, "commit\n");
	assert_string_equal(prefixes(fd, "root 0/0"),
			    "10.0.0.0/8 10.1.0.0/16 10.1.1.0/24 11.0.0.0/8 13.0.0.0/8 ");
	close(fd);
}

static void a_dry_run_says_what_would_be_refused(void **state)
{
	int fd = dial();

	(void)state;
	done(fd, "route add 10/8 blackhole\n");
	done(fd, "begin\n");
	assert_has(ask(fd, "route add 10/8 prohibit\n"), "EEXIST");
	done(fd, "route add 11/8 prohibit\n");
	assert_has(ask(fd, "commit --now\n"), "commit --now: must be --dry-run");
	done(fd, "commit --dry-run\n");
	assert_string_equal(prefixes(fd, ""), "10.0.0.0/8 ");
	done(fd, "route add 11/8 prohibit\n");
	close(fd);
}

static void a_dead_client_s_restore_is_given_up(void **state)
{
	int a = dial(), b = dial();

	(void)state;
	some(a);
	done(a, "begin restore\n");
	done(a, "route add 11/8 blackhole\n");
	close(a);
	for (int i = 0; i < 500 && strcmp(ask(b, "begin\n"), OK) != 0; i++)
		usleep(10000);
	done(b, "commit\n");
	assert_string_equal(prefixes(b, ""), ALL);
	close(b);
}

/* More than are listed in one piece. */
static void next_hops_are_listed(void **state)
{
	enum { N = 200 };
	unsigned forward = 0, group = 0;
	const char *row;
	char line[100];
	int fd = dial();

	(void)state;
	for (unsigned i = 0; i < N; i++) {
		snprintf(line, sizeof(line),
			 "route add 10.0.%u.0/24 02:00:00:00:ee:%02x dev eth0\n", i, i);
		done(fd, line);
	}
	done(fd, "route add 11/8 nexthop " MAC " dev eth0 nexthop " MAC " dev eth1\n");
	done(fd, "route add 12/8 blackhole\n");
	for (row = ask(fd, "nexthop show\n"); strcmp(row, OK) != 0; row = hear(fd)) {
		forward += strstr(row, "\"type\":\"forward\"") != NULL;
		group += strstr(row, "\"type\":\"group\"") != NULL;
		if (strstr(row, "\"type\":\"forward\""))
			assert_has(row, "\"src_lladdr\":\"02:00:00:00:00:0");
	}
	assert_int_equal(forward, N + 2);
	assert_int_equal(group, 1);
	close(fd);
}

static const struct CMUnitTest tests[] = {
	served(routes_are_selected),
	served(what_is_selected_is_flushed_at_once),
	served(legs_are_appended),
	served(a_route_that_is_the_same_is_no_change),
	served(what_is_not_named_goes_in_one_commit),
	served(a_restore_that_fails_changes_nothing),
	served(a_dry_run_says_what_would_be_refused),
	served(a_dead_client_s_restore_is_given_up),
	served(next_hops_are_listed),
};

int main(void)
{
	return cmocka_run_group_tests(tests, NULL, NULL);
}
