/* unit/test_daemon_http.c - requests that are slow, split, many, too long, cut off, or silent */

#include "../test.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../../daemon/http.h"

enum { BIG = 4 << 20, TICK_MS = 20 };

static struct {
	struct event_loop *loop;
	struct http *http;
	pthread_t thread;
	int stop[2], listen_fd;
	struct sockaddr_in addr;
	unsigned pages;
	char accept[64]; /* of the last request */
} rig;

/* ---- the server ---- */

static void on_page(void *arg, const char *path, const char *accept,
		    struct http_page *ret)
{
	assert_ptr_equal(arg, &rig);
	rig.pages++;
	snprintf(rig.accept, sizeof(rig.accept), "%s", accept ? accept : "(none)");
	if (!strcmp(path, "/none"))
		return;
	ret->type = "text/plain";
	ret->bytes = strcmp(path, "/big") != 0 ? strlen(path) : BIG;
	ret->body = malloc(ret->bytes);
	if (ret->bytes == BIG)
		memset(ret->body, 'x', BIG);
	else
		memcpy(ret->body, path, ret->bytes);
	if (!strcmp(path, "/404"))
		ret->status = 404;
}

static void on_stop(void *arg, uint32_t events)
{
	(void)events;
	event_stop(arg);
}

static void on_tick(void *arg)
{
	(void)arg;
	http_tick(rig.http);
}

static void *run(void *arg)
{
	event_loop_run(arg);
	return NULL;
}

static void listen_somewhere(void)
{
	socklen_t len = sizeof(rig.addr);

	rig.addr = (struct sockaddr_in){ .sin_family = AF_INET,
					 .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	rig.listen_fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	assert_int_equal(bind(rig.listen_fd, (void *)&rig.addr, len), 0);
	assert_int_equal(listen(rig.listen_fd, 1000), 0);
	getsockname(rig.listen_fd, (void *)&rig.addr, &len);
}

static int start(void **state)
{
	struct event_source *source;

	(void)state;
	signal(SIGPIPE, SIG_IGN);
	memset(&rig, 0, sizeof(rig));
	listen_somewhere();
	assert_int_equal(event_loop_new(&rig.loop), 0);
	assert_int_equal(http_open(rig.loop, rig.listen_fd, on_page, &rig, &rig.http), 0);
	assert_int_equal(pipe2(rig.stop, O_CLOEXEC), 0);
	assert_int_equal(
		event_add(rig.loop, rig.stop[0], EPOLLIN, on_stop, rig.loop, &source), 0);
	assert_int_equal(event_tick(rig.loop, TICK_MS, on_tick, NULL), 0);
	return pthread_create(&rig.thread, NULL, run, rig.loop);
}

static int stop(void **state)
{
	(void)state;
	assert_int_equal(write(rig.stop[1], "x", 1), 1);
	pthread_join(rig.thread, NULL);
	http_close(rig.http);
	event_loop_free(rig.loop);
	close(rig.listen_fd);
	close(rig.stop[0]);
	close(rig.stop[1]);
	return 0;
}

/* ---- clients; what does not come within 30 s fails the test ---- */

static int dial_from(const char *from)
{
	struct sockaddr_in own = { .sin_family = AF_INET };
	struct timeval tv = { .tv_sec = 30 };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_true(fd >= 0);
	inet_pton(AF_INET, from, &own.sin_addr);
	assert_int_equal(bind(fd, (void *)&own, sizeof(own)), 0);
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof(tv));
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &tv, sizeof(tv));
	assert_int_equal(connect(fd, (void *)&rig.addr, sizeof(rig.addr)), 0);
	return fd;
}

static int dial(void)
{
	return dial_from("127.0.0.1");
}

static void say(int fd, const char *text)
{
	assert_int_equal(send(fd, text, strlen(text), MSG_NOSIGNAL), strlen(text));
}

/* All until the end; a reset is one, too. */
static const char *hear(int fd)
{
	static char text[BIG + 1024];
	size_t n = 0;
	ssize_t got;

	while ((got = recv(fd, text + n, sizeof(text) - 1 - n, 0)) > 0)
		n += (size_t)got;
	if (got < 0 && errno == EAGAIN)
		fail_msg("no end of the answer");
	text[n] = '\0';
	close(fd);
	return text;
}

static const char *body_of(const char *answer)
{
	const char *end = strstr(answer, "\r\n\r\n");

	return end ? end + 4 : "";
}

static void assert_status(const char *answer, const char *status)
{
	char line[40];

	snprintf(line, sizeof(line), "HTTP/1.1 %s ", status);
	if (strncmp(answer, line, strlen(line)) != 0)
		fail_msg("not %s: %.60s", status, answer);
}

static const char *ask(const char *request)
{
	int fd = dial();

	say(fd, request);
	return hear(fd);
}

#define GET(path) "GET " path " HTTP/1.1\r\nHost: x\r\n\r\n"

static void assert_serves(void)
{
	const char *answer = ask(GET("/a"));

	assert_status(answer, "200");
	assert_string_equal(body_of(answer), "/a");
}

/* ---- tests ---- */

static void pages_come_with_type_length_and_the_end(void **state)
{
	const char *answer = ask(GET("/a"));

	(void)state;
	assert_status(answer, "200");
	assert_non_null(strstr(answer, "\r\nContent-Type: text/plain\r\n"));
	assert_non_null(strstr(answer, "\r\nContent-Length: 2\r\n"));
	assert_non_null(strstr(answer, "\r\nConnection: close\r\n"));
	assert_string_equal(rig.accept, "(none)");
	answer = ask("GET /404 HTTP/1.1\r\nHost: x\r\naccept: a/b;q=1\r\n\r\n");
	assert_status(answer, "404");
	assert_string_equal(body_of(answer), "/404");
	assert_string_equal(rig.accept, "a/b;q=1");
	assert_status(ask(GET("/none")), "500");
	assert_int_equal(strlen(body_of(ask(GET("/big")))), BIG);
	assert_string_equal(body_of(ask("GET /old HTTP/1.0\r\n\r\n")), "/old");
}

static void head_has_no_body(void **state)
{
	const char *answer = ask("HEAD /abc HTTP/1.1\r\nHost: x\r\n\r\n");

	(void)state;
	assert_status(answer, "200");
	assert_non_null(strstr(answer, "\r\nContent-Length: 4\r\n"));
	assert_string_equal(body_of(answer), "");
}

/* Of a long one the body is not waited for. */
static void nothing_else_is_allowed(void **state)
{
	static const char *const methods[] = { "POST",	"PUT", "DELETE", "OPTIONS",
					       "TRACE", "get", "FROB" };
	char request[100];

	(void)state;
	for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); i++) {
		const char *answer;

		snprintf(request, sizeof(request),
			 "%s /a HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n",
			 methods[i]);
		answer = ask(request);
		assert_status(answer, "405");
		assert_non_null(strstr(answer, "\r\nAllow: GET, HEAD\r\n"));
	}
	assert_int_equal(rig.pages, 0);
}

static void a_request_may_come_byte_by_byte(void **state)
{
	static const char request[] = GET("/a");
	int fd = dial(), one = 1;

	(void)state;
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	for (size_t i = 0; i < sizeof(request) - 1; i++) {
		char byte[2] = { request[i], '\0' };

		say(fd, byte);
		if (i == 10)
			assert_serves(); /* others meanwhile */
	}
	assert_string_equal(body_of(hear(fd)), "/a");
}

static void of_several_at_once_the_first_is_answered(void **state)
{
	const char *answer = ask(GET("/1") GET("/2") GET("/3"));

	(void)state;
	assert_status(answer, "200");
	assert_memory_equal(body_of(answer), "/1", 2);
	assert_serves();
}

static void what_is_too_long_is_refused(void **state)
{
	static char path[40000], header[40000];

	(void)state;
	snprintf(path, sizeof(path), "GET /%030000d HTTP/1.1\r\nHost: x\r\n\r\n", 0);
	snprintf(header, sizeof(header),
		 "GET / HTTP/1.1\r\nHost: x\r\nA: %030000d\r\n\r\n", 0);
	for (int i = 0; i < 2; i++) {
		int fd = dial();
		const char *answer, *text = i ? header : path;

		/* The server may be gone before all is sent. */
		(void)!send(fd, text, strlen(text), MSG_NOSIGNAL);
		answer = hear(fd);
		if (*answer && strncmp(answer, "HTTP/1.1 4", 10) != 0)
			fail_msg("%.60s", answer);
	}
	assert_int_equal(rig.pages, 0);
	assert_serves();
}

static void rubbish_does_no_harm(void **state)
{
	static const char start_of_one[] = "GET /a HTTP/1.1\r\n";
	char bytes[2000];

	(void)state;
	for (int i = 0; i < 200; i++) {
		int fd = dial();

		test_fill(bytes, sizeof(bytes));
		if (i % 2)
			memcpy(bytes, start_of_one, sizeof(start_of_one) - 1);
		(void)!send(fd, bytes, test_below(sizeof(bytes)), MSG_NOSIGNAL);
		close(fd);
	}
	assert_serves();
}

/* Before, in the middle of, and after the request, and in the middle of the answer. */
static void clients_may_go_at_any_time(void **state)
{
	static const char request[] = GET("/big");
	struct linger reset = { 1, 0 };
	char some[1000];

	(void)state;
	for (size_t n = 0; n <= sizeof(request); n++) {
		int fd = dial();

		(void)!send(fd, request, n < sizeof(request) ? n : sizeof(request) - 1,
			    MSG_NOSIGNAL);
		if (n == sizeof(request))
			assert_true(recv(fd, some, sizeof(some), 0) > 0);
		if (n % 2)
			setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
		close(fd);
	}
	assert_serves();
}

/* One that does not read its answer keeps its memory and nobody else. */
static void a_slow_reader_gets_all_in_the_end(void **state)
{
	int fd = dial();

	(void)state;
	say(fd, GET("/big"));
	for (int i = 0; i < 10; i++)
		assert_serves();
	assert_int_equal(strlen(body_of(hear(fd))), BIG);
}

static unsigned open_descriptors(void)
{
	DIR *dir = opendir("/proc/self/fd");
	unsigned n = 0;

	while (readdir(dir))
		n++;
	closedir(dir);
	return n;
}

/* The oldest of an address go; other addresses keep their places. */
static void silent_connections_keep_nobody_out(void **state)
{
	enum { SILENT = 1000, PLACES = 32 };
	static int fd[SILENT];
	struct rlimit limit = { 4096, 4096 };
	int other, before;

	(void)state;
	setrlimit(RLIMIT_NOFILE, &limit);
	assert_serves();
	other = dial_from("127.0.0.2");
	say(other, "GET /other HTTP/1.1\r\n");
	before = (int)open_descriptors();
	for (int i = 0; i < SILENT; i++) {
		fd[i] = dial();
		if (i % 100 == 0)
			assert_serves();
	}
	assert_serves();
	/* Ours and the server's ends of them. */
	assert_in_range(open_descriptors() - (unsigned)before, SILENT, SILENT + PLACES);
	assert_string_equal(hear(fd[0]), "");
	say(other, "Host: x\r\n\r\n");
	assert_string_equal(body_of(hear(other)), "/other");
	say(fd[SILENT - 1], GET("/last"));
	assert_string_equal(body_of(hear(fd[SILENT - 1])), "/last");
	for (int i = 1; i < SILENT - 1; i++)
		close(fd[i]);
}

static void silence_ends(void **state)
{
	int fd = dial(), half = dial();

	(void)state;
	say(half, "GET /a HT");
	assert_string_equal(hear(fd), "");
	hear(half); /* may have been told why */
	assert_int_equal(rig.pages, 0);
}

#define served(f) cmocka_unit_test_setup_teardown(f, start, stop)
static const struct CMUnitTest tests[] = {
	served(pages_come_with_type_length_and_the_end),
	served(head_has_no_body),
	served(nothing_else_is_allowed),
	served(a_request_may_come_byte_by_byte),
	served(of_several_at_once_the_first_is_answered),
	served(what_is_too_long_is_refused),
	served(rubbish_does_no_harm),
	served(clients_may_go_at_any_time),
	served(a_slow_reader_gets_all_in_the_end),
	served(silent_connections_keep_nobody_out),
	served(silence_ends),
};

int main(void)
{
	return cmocka_run_group_tests(tests, NULL, NULL);
}
