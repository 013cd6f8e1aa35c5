/* unit/test_daemon_events.c - monitors hear what changes, or that they have lost something */

#include "control_rig.h"

#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../../daemon/events.h"

/* A monitor that is known to listen: it says a line before anything else is asked. */
static int monitor(const char *topics)
{
	char line[64];
	int fd = dial(), other = dial();

	snprintf(line, sizeof(line), "monitor %s\n", topics);
	say(fd, line);
	assert_string_equal(
		ask(other, "abort\n"),
		"{\"status\":\"error\",\"error\":{\"code\":\"EINVAL\",\"message\":"
		"\"abort: no batch of yours is open\"}}");
	close(other); /* both were there in the same round or before */
	return fd;
}

static void done(int fd, const char *line)
{
	assert_string_equal(ask(fd, line), OK);
}

/* The event without its time. */
static void hears(int fd, const char *event)
{
	const char *line = hear(fd), *rest = strchr(line, ',');

	assert_has(line, "{\"ts\":\"20");
	assert_non_null(rest);
	if (strncmp(rest + 1, event, strlen(event)) != 0)
		fail_msg("\"%s\" is not \"%s\"", rest + 1, event);
}

#define ROUTE(what, dst) \
	"\"event\":\"" what "\",\"object\":\"route\",\"route\":{\"dst\":\"" dst "\""

static void changes_of_routes_are_told_once_they_took_effect(void **state)
{
	int m = monitor("route"), fd = dial();

	(void)state;
	done(fd, "route add 10/8 " MAC " dev eth0\n");
	hears(m, ROUTE("add", "10.0.0.0/8") ",\"lladdr\":\"" MAC "\",\"dev\":\"eth0\"");
	done(fd, "route replace 10/8 blackhole\n");
	hears(m, ROUTE("change", "10.0.0.0/8") ",\"type\":\"blackhole\"");
	done(fd, "route replace 10/8 blackhole\n"); /* is no change */
	assert_has(ask(fd, "route add 10/8 prohibit\n"), "EEXIST");
	done(fd, "begin\n");
	done(fd, "route add 11/8 blackhole\n");
	done(fd, "abort\n");
	done(fd, "begin\n");
	done(fd, "route add 12/8 blackhole\n");
	done(fd, "commit --dry-run\n");
	done(fd, "begin\n");
	done(fd, "route add 13/8 blackhole\n");
	done(fd, "route del 10/8\n");
	done(fd, "commit\n");
	hears(m, ROUTE("add", "13.0.0.0/8"));
	hears(m, ROUTE("delete", "10.0.0.0/8") ",\"type\":\"blackhole\"");
	done(fd, "route flush all\n");
	hears(m, ROUTE("delete", "13.0.0.0/8"));
	close(fd);
	close(m);
}

static void only_what_was_asked_for_is_told(void **state)
{
	int m = monitor("port"), fd = dial();

	(void)state;
	done(fd, "route add 10/8 blackhole\n");
	assert_string_equal(ask(m, "version\n"), OK); /* ends it, and is answered */
	assert_has(hear(m), "\"version\"");
	assert_string_equal(hear(m), OK);
	done(fd, "route add 11/8 blackhole\n");
	assert_has(ask(m, "monitor frob\n"),
		   "monitor frob: must be route, port, drop or all");
	close(fd);
	close(m);
}

static void begins_in_the_middle(int m, const char *topics)
{
	(void)topics;
	hears(m, "\"event\":\"lost\",\"object\":\"all\"");
	hears(m, ROUTE("is", "10.0.0.0/8"));
	hears(m, ROUTE("is", "11.0.0.0/8"));
}

/* It would hear half of the batch: so it is told what there is. */
static void who_comes_during_a_batch_is_told_all_of_it(void **state)
{
	int fd = dial(), m;

	(void)state;
	done(fd, "begin\n");
	done(fd, "route add 10/8 blackhole\n");
	m = monitor("all");
	done(fd, "route add 11/8 blackhole\n");
	done(fd, "commit\n");
	begins_in_the_middle(m, "all");
	hears(m, "\"event\":\"is\",\"object\":\"port\",\"port\":{\"port\":\"eth0\"");
	hears(m, "\"event\":\"is\",\"object\":\"port\",\"port\":{\"port\":\"eth1\"");
	hears(m, "\"event\":\"synced\",\"object\":\"all\"");
	done(fd, "route add 12/8 blackhole\n");
	hears(m, ROUTE("add", "12.0.0.0/8"));
	close(fd);
	close(m);
}

/* Follows a monitor that lost events until it has synced. Return: routes it was told of. */
static unsigned follow_sync(int m)
{
	const char *line = hear(m);
	unsigned n = 0;

	while (!strstr(line, "\"event\":\"lost\""))
		line = hear(m);
	for (line = hear(m); !strstr(line, "\"event\":\"synced\""); line = hear(m)) {
		if (strstr(line, "\"event\":\"lost\""))
			n = 0;
		n += strstr(line, "\"event\":\"is\",\"object\":\"route\"") != NULL;
	}
	return n;
}

static void a_large_batch_is_a_loss_and_then_what_there_is(void **state)
{
	enum { N = 5000 };
	int m = monitor("route"), fd = dial();

	(void)state;
	add_routes(fd, N);
	assert_int_equal(follow_sync(m), N);
	done(fd, "route add 99/8 blackhole\n");
	hears(m, ROUTE("add", "99.0.0.0/8"));
	close(fd);
	close(m);
}

/* It reads nothing while far more happens than is kept for it. */
static void a_slow_monitor_costs_nothing_and_catches_up(void **state)
{
	enum { ROUNDS = 20000, BUFFER = 4096 };
	int m, fd = dial(), size = BUFFER;
	struct fib_prefix last;

	(void)state;
	memset(&last, 0, sizeof(last));
	m = monitor("route");
	setsockopt(m, SOL_SOCKET, SO_RCVBUF, &size, sizeof(size));
	for (unsigned i = 0; i < ROUNDS; i++) {
		char line[64];

		snprintf(line, sizeof(line), "route replace 10/8 blackhole metric %u\n",
			 i);
		done(fd, line);
	}
	assert_int_equal(follow_sync(m), 1);
	done(fd, "route add 99/8 blackhole\n");
	hears(m, ROUTE("add", "99.0.0.0/8"));
	close(fd);
	close(m);
}

static void many_monitors_come_and_go(void **state)
{
	int fd = dial(), m[20];

	(void)state;
	for (unsigned round = 0; round < 3; round++) {
		for (int i = 0; i < 20; i++)
			m[i] = monitor(i % 2 ? "route" : "all");
		done(fd, "route add 10/8 blackhole\n");
		for (int i = 0; i < 20; i += 1 + (int)round)
			hears(m[i], ROUTE("add", "10.0.0.0/8"));
		for (int i = 19; i >= 0; i--)
			close(m[i]);
		done(fd, "route del 10/8\n");
	}
	close(fd);
}

static const struct CMUnitTest tests[] = {
	served(changes_of_routes_are_told_once_they_took_effect),
	served(only_what_was_asked_for_is_told),
	served(who_comes_during_a_batch_is_told_all_of_it),
	served(a_large_batch_is_a_loss_and_then_what_there_is),
	served(a_slow_monitor_costs_nothing_and_catches_up),
	served(many_monitors_come_and_go),
};

int main(void)
{
	return cmocka_run_group_tests(tests, NULL, NULL);
}
