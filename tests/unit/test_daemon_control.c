/* unit/test_daemon_control.c - where the control socket is, who may use it, and how many */

#include "control_rig.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../daemon/control.h"

/* All places are taken by clients that say nothing: who comes is served, the oldest go. */
static void silent_clients_keep_nobody_out(void **state)
{
	enum { SILENT = 1000 };
	static int fd[SILENT];
	struct rlimit limit = { 4096, 4096 };

	(void)state;
	setrlimit(RLIMIT_NOFILE, &limit);
	for (int i = 0; i < SILENT; i++) {
		fd[i] = dial();
		if (i % 100 == 0)
			assert_still_serves();
	}
	assert_still_serves();
	assert_string_equal(hear(fd[0]), "");
	assert_string_equal(ask(fd[SILENT - 1], "route show\n"), OK);
	for (int i = 0; i < SILENT; i++)
		close(fd[i]);
}

/* Takes every descriptor there may be. Return: the limit that makes it so. */
static int take_descriptors(int fd)
{
	struct rlimit limit;
	int top = fd;

	getrlimit(RLIMIT_NOFILE, &limit);
	limit.rlim_cur = 200;
	setrlimit(RLIMIT_NOFILE, &limit);
	for (int next = fd; next >= 0; next = dup(fd))
		top = next;
	return top;
}

static void without_descriptors_the_quietest_goes(void **state)
{
	struct rlimit was;
	int old = dial(), fd, top;

	(void)state;
	assert_string_equal(ask(old, "route show\n"), OK);
	getrlimit(RLIMIT_NOFILE, &was);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	top = take_descriptors(fd);
	dial_with(fd);
	assert_string_equal(hear(old), ""); /* had to give up its place */
	assert_string_equal(ask(fd, "route show\n"), OK);
	setrlimit(RLIMIT_NOFILE, &was);
	for (int i = fd + 1; i <= top; i++)
		close(i);
	close(fd);
	close(old);
}

static int dial_reader(void)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_true(fd >= 0);
	assert_int_equal(dial_at(fd, "r"), 0);
	return fd;
}

/* In a child: the first word of the reply's status or code to a request of that user. */
static void as_user(uid_t uid, gid_t gid, gid_t further, const char *line,
		    const char *expected)
{
	int status;
	pid_t child = fork();

	if (!child) {
		if (setgroups(further ? 1 : 0, &further) || setgid(gid) || setuid(uid))
			_exit(2);
		_exit(!strstr(ask(dial(), line), expected));
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	if (status)
		fail_msg("uid %d gid %d, %d: %s", (int)uid, (int)gid, (int)further, line);
}

static void only_members_of_the_group_may_change(void **state)
{
	enum { NOBODY = 65534, USERS = 100 };
	struct group *users = getgrnam("users");
	char path[100];
	struct stat st;

	(void)state;
	assert_non_null(users);
	assert_int_equal(users->gr_gid, USERS);
	snprintf(path, sizeof(path), "%s/s", rig.folder);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0660);
	assert_int_equal(st.st_gid, USERS);
	chmod(path, 0666); /* for readers, as a distribution might */
	as_user(NOBODY, NOBODY, 0, "route show\n", OK);
	as_user(NOBODY, NOBODY, 0, "route add 10/8 blackhole\n",
		"\"code\":\"EPERM\",\"message\":\"route add: you may look but not change\","
		"\"hint\":\"be root or in the control group, and use the control socket\"");
	as_user(NOBODY, NOBODY, 0, "begin\n", "EPERM");
	as_user(NOBODY, NOBODY, 0, "commit\n", "EPERM");
	as_user(NOBODY, USERS, 0, "route add 10/8 blackhole\n", OK);
	as_user(NOBODY, NOBODY, USERS, "route add 11/8 blackhole\n", OK);
	as_user(NOBODY, NOBODY, NOBODY, "route add 12/8 blackhole\n", "EPERM");
	as_user(0, 0, 0, "route add 12/8 blackhole\n", OK);
}

/* Whoever it is, and the mode of the file says who comes. */
static void by_the_readers_socket_nobody_may_change(void **state)
{
	static const char *const looks[] = { "route show\n", "nexthop show\n",
					     "status\n",     "version\n",
					     "log level\n",  "route get 10.0.0.1\n" };
	static const char *const changes[] = { "route add 10/8 blackhole\n",
					       "route replace 10/8 blackhole\n",
					       "route append 10/8 blackhole\n",
					       "route del 10/8\n",
					       "route flush all\n",
					       "begin\n",
					       "begin restore\n",
					       "commit\n",
					       "abort\n",
					       "reload\n",
					       "log level debug\n",
					       "port reset\n",
					       "drop reset\n" };
	struct stat st;
	char path[100];
	int fd = dial_reader();

	(void)state;
	snprintf(path, sizeof(path), "%s/r", rig.folder);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0660);
	assert_int_equal(st.st_gid, 100);
	for (size_t i = 0; i < ARRAY_LEN(looks); i++) {
		say(fd, looks[i]);
		while (strcmp(hear(fd), OK) != 0)
			;
	}
	for (size_t i = 0; i < ARRAY_LEN(changes); i++)
		assert_has(ask(fd, changes[i]), "\"code\":\"EPERM\",\"message\":\"");
	close(fd);
}

static void without_a_group_there_is_no_socket_for_readers(void **state)
{
	char path[100];
	struct stat st;

	(void)state;
	snprintf(path, sizeof(path), "%s/r", rig.folder);
	assert_int_equal(stat(path, &st), -1);
}

/* Whatever readers do, those who may change something keep their connections. */
static void readers_take_places_from_readers_only(void **state)
{
	enum { READERS = 200 };
	int fd[READERS], writer = dial();

	(void)state;
	assert_string_equal(ask(writer, "begin\n"), OK);
	for (int i = 0; i < READERS; i++)
		fd[i] = dial_reader();
	assert_string_equal(ask(fd[READERS - 1], "route show\n"), OK);
	assert_string_equal(hear(fd[0]), "");
	assert_string_equal(ask(writer, "commit\n"), OK);
	for (int i = 0; i < READERS; i++)
		close(fd[i]);
	close(writer);
}

static void without_a_group_only_root_may_change(void **state)
{
	enum { NOBODY = 65534 };
	char path[100];
	struct stat st;

	(void)state;
	snprintf(path, sizeof(path), "%s/s", rig.folder);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0660);
	chmod(path, 0666);
	as_user(NOBODY, NOBODY, 0, "route add 10/8 blackhole\n", "EPERM");
	as_user(NOBODY, 0, 0, "route add 10/8 blackhole\n", "EPERM");
	as_user(0, NOBODY, 0, "route add 10/8 blackhole\n", OK);
}

/* ---- the socket's place ---- */

static void refused_at(const char *path, int r, const char *words)
{
	struct err err = { "" };

	snprintf(rig.router.conf.control_socket, sizeof(rig.router.conf.control_socket),
		 "%s", path);
	assert_int_equal(control_open(&rig.router, &err), r);
	assert_has(err.text, words);
	assert_has(err.text, path);
	control_close(&rig.router);
}

static void a_file_that_is_no_socket_stays(void **state)
{
	char path[100];
	struct stat st;
	int fd;

	(void)state;
	rig_make("");
	snprintf(path, sizeof(path), "%s/s", rig.folder);
	fd = open(path, O_CREAT | O_RDWR | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	close(fd);
	refused_at(path, -EEXIST, "something else has this name");
	assert_int_equal(stat(path, &st), 0);
	unlink(path);
	rig_unmake();
}

/* Else a socket would be made, or removed, wherever it points. */
static void a_symbolic_link_stays(void **state)
{
	char path[100], target[110];
	struct stat st;

	(void)state;
	rig_make("");
	snprintf(path, sizeof(path), "%s/s", rig.folder);
	snprintf(target, sizeof(target), "%s2", path);
	assert_int_equal(symlink(target, path), 0);
	refused_at(path, -EEXIST, "something else has this name");
	assert_int_equal(lstat(path, &st), 0);
	assert_int_equal(lstat(target, &st), -1);
	unlink(path);
	rig_unmake();
}

/* Somebody removed ours, and another daemon started there. */
static void the_socket_of_another_stays(void **state)
{
	char path[100], ours[110];
	struct err err = { "" };
	struct control *first, *second;
	struct stat st;

	(void)state;
	rig_make("");
	snprintf(path, sizeof(path), "%s/s", rig.folder);
	snprintf(ours, sizeof(ours), "%s2", path);
	assert_int_equal(control_open(&rig.router, &err), 0);
	first = rig.router.control;
	assert_int_equal(rename(path, ours),
			 0); /* keeps its number from being used again */
	assert_int_equal(control_open(&rig.router, &err), 0);
	second = rig.router.control;
	rig.router.control = first;
	control_close(&rig.router);
	assert_int_equal(lstat(path, &st), 0);
	rig.router.control = second;
	unlink(ours);
	rig_unmake(); /* wants all gone */
}

static void a_folder_must_be_there(void **state)
{
	char path[100];

	(void)state;
	rig_make("");
	snprintf(path, sizeof(path), "%s/nowhere/s", rig.folder);
	refused_at(path, -ENOENT, "make its folder, or set control_socket");
	rig_unmake();
}

/* As a killed daemon leaves it: nobody listens. */
static void a_stale_socket_is_replaced(void **state)
{
	char path[100], kept[110];
	struct err err = { "" };

	(void)state;
	rig_make("");
	snprintf(path, sizeof(path), "%s/s", rig.folder);
	snprintf(kept, sizeof(kept), "%s2", path);
	assert_int_equal(control_open(&rig.router, &err), 0);
	assert_int_equal(link(path, kept), 0);
	control_close(&rig.router);
	assert_int_equal(rename(kept, path), 0);
	if (control_open(&rig.router, &err) < 0)
		fail_msg("%s", err.text);
	rig_unmake();
}

static int try_to_dial(void)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	snprintf(addr.sun_path, sizeof(addr.sun_path), "%s/s", rig.folder);
	if (!connect(fd, (const void *)&addr, sizeof(addr)))
		return fd;
	close(fd);
	return -1;
}

/* Though it accepts nobody, and its queue of connections is full. */
static void a_living_daemon_keeps_its_socket(void **state)
{
	struct control *first;
	char path[100];
	struct stat st;
	struct err err = { "" };
	int fd[100], n = 0;

	(void)state;
	rig_make("");
	snprintf(path, sizeof(path), "%s/s", rig.folder);
	assert_int_equal(control_open(&rig.router, &err), 0);
	first = rig.router.control;
	while (n < 100 && (fd[n] = try_to_dial()) >= 0)
		n++;
	assert_in_range(n, 10, 99); /* so it is full */
	rig.router.control = NULL;
	refused_at(path, -EADDRINUSE, "another daemon listens there");
	assert_int_equal(stat(path, &st), 0);
	rig.router.control = first;
	while (n)
		close(fd[--n]);
	rig_unmake();
}

static void a_path_may_have_107_bytes(void **state)
{
	struct sockaddr_un addr;
	struct err err = { "" };
	char *path[] = { rig.router.conf.control_socket, rig.router.conf.read_socket };
	struct stat st;

	(void)state;
	rig_make("users");
	for (int i = 0; i < 2; i++) {
		memset(path[i] + strlen(path[i]), 's' - i, 107 - strlen(path[i]));
		path[i][107] = '\0';
	}
	assert_int_equal(sizeof(addr.sun_path), 108);
	if (control_open(&rig.router, &err) < 0)
		fail_msg("%s", err.text);
	for (int i = 0; i < 2; i++)
		assert_int_equal(stat(path[i], &st), 0);
	rig_unmake();
}

/* Nobody needs it to change something. */
static void without_a_place_for_readers_it_goes_on(void **state)
{
	struct err err = { "" };
	struct stat st;

	(void)state;
	rig_make("users");
	snprintf(rig.router.conf.read_socket, sizeof(rig.router.conf.read_socket),
		 "/proc/none/r");
	assert_int_equal(control_open(&rig.router, &err), 0);
	assert_int_equal(stat(rig.router.conf.control_socket, &st), 0);
	rig_unmake();
}

static const struct CMUnitTest tests[] = {
	served(silent_clients_keep_nobody_out),
	served(without_descriptors_the_quietest_goes),
	cmocka_unit_test_setup_teardown(only_members_of_the_group_may_change,
					rig_started_for_users, rig_stopped),
	served(without_a_group_only_root_may_change),
	cmocka_unit_test_setup_teardown(by_the_readers_socket_nobody_may_change,
					rig_started_for_users, rig_stopped),
	served(without_a_group_there_is_no_socket_for_readers),
	cmocka_unit_test_setup_teardown(readers_take_places_from_readers_only,
					rig_started_for_users, rig_stopped),
	cmocka_unit_test(a_file_that_is_no_socket_stays),
	cmocka_unit_test(a_symbolic_link_stays),
	cmocka_unit_test(the_socket_of_another_stays),
	cmocka_unit_test(a_folder_must_be_there),
	cmocka_unit_test(a_stale_socket_is_replaced),
	cmocka_unit_test(a_living_daemon_keeps_its_socket),
	cmocka_unit_test(a_path_may_have_107_bytes),
	cmocka_unit_test(without_a_place_for_readers_it_goes_on),
};

int main(void)
{
	return cmocka_run_group_tests(tests, NULL, NULL);
}
