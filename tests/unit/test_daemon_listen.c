/* unit/test_daemon_listen.c - sockets that others connect to: systemd's, or our own */

#include "../test.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../daemon/listen.h"
#include "../../daemon/notify.h"
#include "../../daemon/peer.h"

static const struct {
	const char *text, *is; /* NULL: refused */
} addresses[] = {
	{ "127.0.0.1:15350", "127.0.0.1 15350" },
	{ "0.0.0.0:1", "0.0.0.0 1" },
	{ "[::1]:65535", "::1 65535" },
	{ "[2001:db8::ffff:10.0.0.1]:80", "2001:db8::ffff:a00:1 80" },
	{ "/run/x", "/run/x" },
	{ "/run/x:80", "/run/x:80" },
	{ "", NULL },
	{ ":80", NULL },
	{ "127.0.0.1", NULL },
	{ "127.0.0.1:", NULL },
	{ "127.0.0.1:0", NULL },
	{ "127.0.0.1:65536", NULL },
	{ "127.0.0.1:-1", NULL },
	{ "127.0.0.1:80x", NULL },
	{ "127.0.0:80", NULL },
	{ "localhost:80", NULL },
	{ "::1:80", NULL },
	{ "[::1]80", NULL },
	{ "[::1:80", NULL },
	{ "::1]:80", NULL },
	{ "[]:80", NULL },
	{ "[:80", NULL },
	{ "[127.0.0.1]:80", NULL },
	{ "[0000:0000:0000:0000:0000:0000:0000:0000:0000:0000:0000]:80", NULL },
	{ "run/x", NULL },
};

static void text_of(const struct listen_address *a, char *text, size_t size)
{
	const struct sockaddr_in *in = (const void *)&a->addr;
	const struct sockaddr_in6 *in6 = (const void *)&a->addr;
	char host[INET6_ADDRSTRLEN];

	if (a->addr.ss_family == AF_UNIX)
		snprintf(text, size, "%s", ((const struct sockaddr_un *)in)->sun_path);
	else if (a->addr.ss_family == AF_INET)
		snprintf(text, size, "%s %u",
			 inet_ntop(AF_INET, &in->sin_addr, host, sizeof(host)),
			 ntohs(in->sin_port));
	else
		snprintf(text, size, "%s %u",
			 inet_ntop(AF_INET6, &in6->sin6_addr, host, sizeof(host)),
			 ntohs(in6->sin6_port));
}

static void addresses_are_read(void **state)
{
	struct listen_address a;
	char text[200];

	(void)state;
	for (size_t i = 0; i < sizeof(addresses) / sizeof(addresses[0]); i++) {
		int r = listen_parse(addresses[i].text, &a);

		if ((r == 0) != (addresses[i].is != NULL))
			fail_msg("%s: %d", addresses[i].text, r);
		if (r)
			continue;
		text_of(&a, text, sizeof(text));
		assert_string_equal(text, addresses[i].is);
	}
}

static void a_path_of_107_bytes_is_the_longest(void **state)
{
	char path[200] = "/";
	struct listen_address a;

	(void)state;
	memset(path + 1, 'x', 106);
	assert_int_equal(listen_parse(path, &a), 0);
	path[107] = 'x';
	assert_int_equal(listen_parse(path, &a), -EINVAL);
}

static struct listen_conf conf = { "metrics", "metrics socket", "metrics_listen", NULL,
				   false,     PEER_NO_GROUP };

static void assert_listens(int fd)
{
	int on = 0;
	socklen_t len = sizeof(on);

	assert_int_equal(getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &on, &len), 0);
	assert_int_equal(on, 1);
	assert_true(fcntl(fd, F_GETFL) & O_NONBLOCK);
}

static void tcp_is_refused_where_somebody_listens(void **state)
{
	struct listener first, second;
	struct err err = { "" };
	char where[40];
	uint32_t port;

	(void)state;
	conf.where = where;
	for (port = 20000 + test_below(10000);; port++) {
		snprintf(where, sizeof(where), "127.0.0.1:%u", port);
		if (!listen_open(&conf, &err, &first))
			break;
		assert_in_range(port, 20000, 30100);
	}
	assert_listens(first.fd);
	assert_int_equal(listen_open(&conf, &err, &second), -EADDRINUSE);
	assert_int_equal(second.fd, -1);
	assert_non_null(strstr(err.text, "metrics socket 127.0.0.1:"));
	listen_close(&first);
	assert_int_equal(listen_open(&conf, &err, &second), 0);
	listen_close(&second);
	listen_close(&second); /* no harm */
}

static void a_unix_socket_goes_with_its_file(void **state)
{
	char folder[] = "/tmp/listen_XXXXXX", path[64];
	struct listener l;
	struct err err = { "" };
	struct stat st;

	(void)state;
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/s", folder);
	conf.where = path;
	assert_int_equal(listen_open(&conf, &err, &l), 0);
	assert_listens(l.fd);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0660);
	listen_close(&l);
	assert_int_equal(rmdir(folder), 0);
	assert_int_equal(listen_open(&conf, &err, &l), -ENOENT);
	assert_non_null(strstr(err.text, "make its folder, or set metrics_listen"));
}

/* ---- systemd's, sd_listen_fds(3) ---- */

/* In a child, since the descriptors have fixed numbers. */
static int in_child(int (*test)(void))
{
	pid_t child = fork();
	int status;

	if (!child)
		_exit(test());
	waitpid(child, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void hand_over(const char *names, const char *n)
{
	char pid[20];

	snprintf(pid, sizeof(pid), "%d", getpid());
	setenv("LISTEN_PID", pid, 1);
	setenv("LISTEN_FDS", n, 1);
	setenv("LISTEN_FDNAMES", names, 1);
}

static int finds_them_by_name(void)
{
	int tcp = socket(AF_INET, SOCK_STREAM, 0), tcp2 = socket(AF_INET, SOCK_STREAM, 0);
	struct listener l;

	listen(tcp, 1);
	listen(tcp2, 1);
	dup2(tcp, 13);
	dup2(tcp2, 14);
	dup2(13, 3);
	dup2(14, 4);
	hand_over("control:metrics", "2");
	conf.where = "/nowhere/s"; /* not even tried */
	if (listen_open(&conf, NULL, &l) || l.fd != 4 || l.path ||
	    !(fcntl(4, F_GETFL) & O_NONBLOCK))
		return 1;
	return notify_socket("control") == 3 && notify_socket("other") == -1 ? 0 : 2;
}

/* A socket that does not listen is none of them; nor is one of another process. */
static int takes_no_other(void)
{
	int udp = socket(AF_INET, SOCK_DGRAM, 0), tcp = socket(AF_INET, SOCK_STREAM, 0);

	dup2(udp, 13);
	dup2(tcp, 14);
	dup2(13, 3);
	dup2(14, 4);
	hand_over("metrics:metrics", "2");
	if (notify_socket("metrics") != -1)
		return 1;
	listen(4, 1);
	if (notify_socket("metrics") != 4)
		return 2;
	setenv("LISTEN_PID", "1", 1);
	return notify_socket("metrics") == -1 ? 0 : 3;
}

static void sockets_of_systemd_come_first(void **state)
{
	(void)state;
	assert_int_equal(notify_socket("metrics"), -1);
	assert_int_equal(in_child(finds_them_by_name), 0);
	assert_int_equal(in_child(takes_no_other), 0);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(addresses_are_read),
	cmocka_unit_test(a_path_of_107_bytes_is_the_longest),
	cmocka_unit_test(tcp_is_refused_where_somebody_listens),
	cmocka_unit_test(a_unix_socket_goes_with_its_file),
	cmocka_unit_test(sockets_of_systemd_come_first),
};

int main(void)
{
	return cmocka_run_group_tests(tests, NULL, NULL);
}
