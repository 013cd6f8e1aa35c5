/* unit/control_rig.c - the daemon's control socket, and clients for it */

#include "control_rig.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "../../daemon/control.h"
#include "../../daemon/events.h"
#include "../../daemon/trace.h"

struct rig rig;
static pthread_t thread;
static int stop_pipe[2];

/* ---- the daemon ---- */

static void no_link(void *arg, const struct mirror_link *link, bool gone)
{
	(void)arg;
	(void)link;
	(void)gone;
}

static void no_addr(void *arg, uint8_t family, const uint8_t addr[16], bool added)
{
	(void)arg;
	(void)family;
	(void)addr;
	(void)added;
}

static void on_stop(void *arg, uint32_t events)
{
	(void)events;
	event_stop(arg);
}

static void *run(void *arg)
{
	event_loop_run(arg);
	return NULL;
}

static void add_port(const char *name, uint8_t mac)
{
	unsigned i = rig.router.n_ports++;

	snprintf(rig.router.conf.port[i].name, IF_NAMESIZE, "%s", name);
	rig.router.port[i] = (struct port){ .router = &rig.router,
					    .conf = &rig.router.conf.port[i],
					    .index = i,
					    .link = { .ifindex = (int)i + 1,
						      .mac = { 2, 0, 0, 0, 0, mac },
						      .mtu = 1500,
						      .up = true,
						      .carrier = true } };
}

void rig_make(const char *group)
{
	static const struct mirror_ops ops = { NULL, no_link, no_addr };
	struct fib_conf conf = { .max_nexthops = 1024 };

	memset(&rig, 0, sizeof(rig));
	snprintf(rig.folder, sizeof(rig.folder), "/tmp/ctl_XXXXXX");
	assert_non_null(mkdtemp(rig.folder));
	chmod(rig.folder, 0755);
	snprintf(rig.router.conf.control_socket, sizeof(rig.router.conf.control_socket),
		 "%s/s", rig.folder);
	snprintf(rig.router.conf.control_group, sizeof(rig.router.conf.control_group),
		 "%s", group);
	snprintf(rig.router.conf.read_socket, sizeof(rig.router.conf.read_socket), "%s/r",
		 rig.folder);
	snprintf(rig.router.conf.readers_group, sizeof(rig.router.conf.readers_group),
		 "%s", group);
	add_port("eth0", 1);
	add_port("eth1", 2);
	assert_int_equal(event_loop_new(&rig.router.loop), 0);
	assert_int_equal(mirror_new(&ops, &rig.router.mirror), 0);
	assert_int_equal(events_open(&rig.router, NULL), 0);
	assert_int_equal(fib_new(&conf, &rig.router.fib), 0);
}

void rig_unmake(void)
{
	control_close(&rig.router);
	trace_close(&rig.router);
	events_close(&rig.router);
	mirror_close(rig.router.mirror);
	fib_free(rig.router.fib);
	event_loop_free(rig.router.loop);
	assert_int_equal(rmdir(rig.folder), 0); /* so the socket file is gone */
}

static int start(const char *group)
{
	struct event_source *source;
	struct err err = { "" };

	signal(SIGPIPE, SIG_IGN);
	rig_make(group);
	if (control_open(&rig.router, &err) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(pipe2(stop_pipe, O_CLOEXEC), 0);
	assert_int_equal(event_add(rig.router.loop, stop_pipe[0], EPOLLIN, on_stop,
				   rig.router.loop, &source),
			 0);
	return pthread_create(&thread, NULL, run, rig.router.loop);
}

int rig_started(void **state)
{
	(void)state;
	return start("");
}

int rig_started_for_users(void **state)
{
	(void)state;
	return start("users");
}

int rig_stopped(void **state)
{
	(void)state;
	assert_int_equal(write(stop_pipe[1], "x", 1), 1);
	pthread_join(thread, NULL);
	rig_unmake();
	close(stop_pipe[0]);
	close(stop_pipe[1]);
	return 0;
}

/* ---- a client ---- */

void dial_with(int fd)
{
	assert_int_equal(dial_at(fd, "s"), 0);
}

int dial_at(int fd, const char *name)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	struct timeval tv = { .tv_sec = 20 };

	snprintf(addr.sun_path, sizeof(addr.sun_path), "%s/%s", rig.folder, name);
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof(tv));
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &tv, sizeof(tv));
	return connect(fd, (const void *)&addr, sizeof(addr)) ? -errno : 0;
}

int dial(void)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_true(fd >= 0);
	dial_with(fd);
	return fd;
}

void say_bytes(int fd, const void *bytes, size_t n)
{
	assert_int_equal(send(fd, bytes, n, MSG_NOSIGNAL), n);
}

void say(int fd, const char *text)
{
	say_bytes(fd, text, strlen(text));
}

const char *hear(int fd)
{
	static char line[1 << 16];
	size_t n = 0;

	while (recv(fd, line + n, 1, 0) == 1 && line[n] != '\n')
		assert_true(++n < sizeof(line));
	line[n] = '\0';
	return line;
}

const char *ask(int fd, const char *text)
{
	say(fd, text);
	return hear(fd);
}

void assert_has(const char *text, const char *part)
{
	if (!strstr(text, part))
		fail_msg("\"%s\" lacks \"%s\"", text, part);
}

void assert_still_serves(void)
{
	int fd = dial();

	assert_has(ask(fd, "version\n"), "\"version\":");
	assert_string_equal(hear(fd), OK);
	close(fd);
}

void add_routes(int fd, unsigned n)
{
	char line[100];

	assert_string_equal(ask(fd, "begin\n"), OK);
	for (unsigned i = 0; i < n; i++) {
		snprintf(line, sizeof(line), "route add 10.%u.%u.0/24 %s dev eth%u\n",
			 i / 256, i % 256, MAC, i % 2);
		assert_string_equal(ask(fd, line), OK);
	}
	assert_string_equal(ask(fd, "commit\n"), OK);
}
