/* unit/test_daemon_client.c - clients that send what is no line, that stall, and that die */

#include "control_rig.h"

#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../../daemon/control.h"
#include "../../lib/ctl/proto.h"

/* ---- lines that are none ---- */

static void a_line_may_come_in_pieces(void **state)
{
	static const char line[] =
		"route add \"10.0.0.0/8\" 'blackhole'\nroute del 10/8\n";
	int fd = dial();

	(void)state;
	for (const char *c = line; *c; c++) {
		say_bytes(fd, c, 1);
		if (c - line == 5)
			assert_still_serves(); /* half a line holds up nobody */
	}
	assert_string_equal(hear(fd), OK);
	assert_string_equal(hear(fd), OK);
	close(fd);
}

static void rubbish_is_refused_and_the_next_line_is_run(void **state)
{
	static const struct {
		const char *bytes;
		size_t n;
	} rows[] = {
#define BYTES(s) { s, sizeof(s) - 1 }
		BYTES("route\0show\n"),
		BYTES("\0\n"),
		BYTES("\xff\xfe\xfd\n"),
		BYTES("route \xc3\xa4\n"),
		BYTES("status\r\n"),
		BYTES("\x1b[2J\n"),
		BYTES("route add 'open\n"),
		BYTES("back\\slash\\\n"),
		BYTES("\x7f\n"),
	};
	int fd = dial();

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		say_bytes(fd, rows[i].bytes, rows[i].n);
		assert_has(hear(fd),
			   "\"code\":\"EINVAL\",\"message\":\"not a line of words");
	}
	assert_string_equal(ask(fd, "\n \t \nroute show\n"), OK);
	close(fd);
}

static void random_bytes_do_no_harm(void **state)
{
	uint8_t bytes[512];

	(void)state;
	for (int i = 0; i < 300; i++) {
		int fd = dial();

		test_fill(bytes, sizeof(bytes));
		for (size_t k = 0; k < sizeof(bytes) && i % 2; k++)
			bytes[k] =
				bytes[k] % 9
					? (uint8_t) "route showadd'\"\\ /10:"[bytes[k] %
									      21]
					: '\n';
		say_bytes(fd, bytes, test_below(sizeof(bytes)));
		if (i % 3)
			shutdown(fd, SHUT_WR);
		close(fd);
	}
	assert_still_serves();
}

static void a_line_may_have_4096_bytes(void **state)
{
	char line[CTL_LINE_MAX + 1];
	int fd = dial();

	(void)state;
	snprintf(line, sizeof(line), "%-*s", CTL_LINE_MAX, "route show");
	line[CTL_LINE_MAX - 1] = '\n';
	say_bytes(fd, line, CTL_LINE_MAX);
	assert_string_equal(hear(fd), OK);
	line[CTL_LINE_MAX - 1] = ' ';
	line[CTL_LINE_MAX] = '\n';
	say_bytes(fd, line, CTL_LINE_MAX + 1);
	assert_has(hear(fd),
		   "\"code\":\"E2BIG\",\"message\":\"a request line has at most 4096");
	assert_string_equal(hear(fd),
			    ""); /* closed: where the next line begins nobody knows */
	close(fd);
	assert_still_serves();
}

static void words_of_a_line_are_limited(void **state)
{
	char line[CTL_WORDS_MAX * 2 + 8] = "", expected[40];
	int fd = dial();

	(void)state;
	for (int i = 0; i < CTL_WORDS_MAX; i++)
		test_append(line, sizeof(line), "w ");
	test_append(line, sizeof(line), "\n");
	assert_has(ask(fd, line), "unknown request");
	memmove(line + 2, line, strlen(line) + 1);
	snprintf(expected, sizeof(expected), "more than %d words", CTL_WORDS_MAX);
	assert_has(ask(fd, line), expected);
	close(fd);
}

/* ---- clients that stall ---- */

/* Sends until the daemon takes no more. Return: lines sent. */
static unsigned send_until_full(int fd)
{
	static const char line[] = "route show 10/8 and then a word too many\n";
	struct pollfd p = { .fd = fd, .events = POLLOUT };
	unsigned n = 0;

	while (n < 1000000) {
		ssize_t sent =
			send(fd, line, sizeof(line) - 1, MSG_NOSIGNAL | MSG_DONTWAIT);

		if (sent < 0 && poll(&p, 1, 500) == 0)
			break;
		if (sent < 0)
			continue;
		assert_int_equal(sent, sizeof(line) - 1); /* a short one goes whole */
		n++;
	}
	return n;
}

/* It is not read from any more, so what it sends waits in its own socket; when it does read, every
 * line has its reply. */
static void who_never_reads_is_no_longer_read(void **state)
{
	int fd = dial();
	unsigned n = send_until_full(fd), replies = 0;

	(void)state;
	assert_in_range(n, 100, 200000);
	assert_still_serves();
	shutdown(fd, SHUT_WR);
	while (*hear(fd))
		replies++;
	assert_int_equal(replies, n);
	close(fd);
}

/* More replies than all buffers hold, and nothing read until all lines are sent. */
static void who_reads_late_misses_nothing(void **state)
{
	enum { LINES = 4000 };
	static const char line[] = "route show 10/8 x\n";
	size_t n = sizeof(line) - 1;
	char *lines = malloc(LINES * n);
	int fd = dial();

	(void)state;
	for (int i = 0; i < LINES; i++)
		memcpy(lines + (size_t)i * n, line, n);
	for (int round = 0; round < 5; round++) {
		say_bytes(fd, lines, LINES * n);
		for (int i = 0; i < LINES; i++)
			assert_has(hear(fd), "route show: x: must be all, exact");
	}
	free(lines);
	close(fd);
}

static void who_reads_a_long_list_slowly_gets_it_all(void **state)
{
	enum { ROUTES = 20000 };
	char expected[64];
	int fd = dial();

	(void)state;
	add_routes(fd, ROUTES);
	say(fd, "route show\nversion\n");
	for (unsigned i = 0; i < ROUTES; i++) {
		snprintf(expected, sizeof(expected), "{\"dst\":\"10.%u.%u.0/24\",",
			 i / 256, i % 256);
		assert_has(hear(fd), expected);
		if (i % 1000 == 0)
			assert_still_serves();
	}
	assert_string_equal(hear(fd), OK);
	assert_has(hear(fd), "\"version\"");
	assert_string_equal(hear(fd), OK);
	close(fd);
}

static unsigned descriptors(void)
{
	unsigned n = 0;

	for (int fd = 0; fd < 1024; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

static void who_dies_in_the_middle_of_a_list_leaves_nothing(void **state)
{
	unsigned before;
	int fd = dial();

	(void)state;
	add_routes(fd, 5000);
	assert_still_serves();
	before = descriptors();
	for (int i = 0; i < 20; i++) {
		int dying = dial();

		say(dying, "route show\n");
		hear(dying);
		close(dying);
	}
	for (int i = 0; i < 500 && descriptors() > before; i++)
		usleep(10000);
	assert_in_range(descriptors(), before - 1, before);
	assert_string_equal(ask(fd, "route show 192.0.2.0/24\n"), OK);
	close(fd);
}

static void a_half_closed_client_is_answered(void **state)
{
	int fd = dial();

	(void)state;
	say(fd,
	    "route add 10/8 blackhole\nroute show\nroute del 10/8\nrest without an end");
	shutdown(fd, SHUT_WR);
	assert_string_equal(hear(fd), OK);
	assert_has(hear(fd), "blackhole");
	assert_string_equal(hear(fd), OK);
	assert_string_equal(hear(fd), OK);
	assert_string_equal(hear(fd), "");
	close(fd);
}

/* ---- many routes, of which none is asked for ---- */

enum { LEFT_OUT = 1 << 16, ROUNDS = 10 };

static void end_round(void *arg, uint32_t events)
{
	(void)events;
	event_stop(arg);
}

static void add_many(struct fib *fib)
{
	const struct fib_nh nh = { .kind = FIB_NH_BLACKHOLE };
	uint32_t index;

	assert_int_equal(fib_nh_get(fib, &nh, &index), 0);
	for (unsigned i = 0; i < LEFT_OUT; i++) {
		struct fib_prefix p = { .family = 4, .len = 32 };

		p.addr[0] = 10;
		p.addr[2] = (uint8_t)(i >> 8);
		p.addr[3] = (uint8_t)i;
		assert_int_equal(fib_route_add(fib, &p, FIB_STATIC, index, 0), 0);
	}
	fib_nh_put(fib, index);
	assert_int_equal(fib_commit(fib), 0);
}

/* In each round of the loop all others have their turn. */
static void a_listing_that_finds_nothing_takes_turns(void **state)
{
	int always = eventfd(1, EFD_CLOEXEC), fd;
	struct event_source *source;
	struct err err = { "" };
	struct pollfd answer;
	unsigned rounds = 0;

	(void)state;
	rig_make("");
	add_many(rig.router.fib);
	assert_int_equal(control_open(&rig.router, &err), 0);
	assert_int_equal(event_add(rig.router.loop, always, EPOLLIN, end_round,
				   rig.router.loop, &source),
			 0);
	fd = dial();
	say(fd, "route show root 192.0.2.0/24\n");
	answer = (struct pollfd){ fd, POLLIN, 0 };
	for (; !poll(&answer, 1, 0); rounds++)
		assert_int_equal(event_loop_run(rig.router.loop), 0);
	assert_string_equal(hear(fd), OK);
	assert_true(rounds > ROUNDS);
	close(fd);
	event_del(rig.router.loop, source);
	close(always);
	rig_unmake();
}

static const struct CMUnitTest tests[] = {
	served(a_line_may_come_in_pieces),
	served(rubbish_is_refused_and_the_next_line_is_run),
	served(random_bytes_do_no_harm),
	served(a_line_may_have_4096_bytes),
	served(words_of_a_line_are_limited),
	served(who_never_reads_is_no_longer_read),
	served(who_reads_late_misses_nothing),
	served(who_reads_a_long_list_slowly_gets_it_all),
	served(who_dies_in_the_middle_of_a_list_leaves_nothing),
	served(a_half_closed_client_is_answered),
	cmocka_unit_test(a_listing_that_finds_nothing_takes_turns),
};

int main(void)
{
	return cmocka_run_group_tests(tests, NULL, NULL);
}
