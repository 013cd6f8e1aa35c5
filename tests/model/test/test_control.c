/* test/test_control.c - port specifications, control lines, and abuse of the control socket
 *
 * The process's own parts, in this process: ports without netdevs, the control
 * socket in a directory of its own.
 */
#define _GNU_SOURCE 1
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "../cxmodel/inside.h"

/* pthread_create() is in control_start(): tests/model/group.sh runs this one under TSan. */

static struct model m;
static char why[512];

/* ---- a process in a process ---- */

static int open_model(void **state)
{
	char text[] = "/tmp/test_control.XXXXXX";

	(void)state;
	memset(&m, 0, sizeof(m));
	why[0] = 0;
	m.lock_fd = -1;
	m.no_tap = true;
	pthread_mutex_init(&m.lock, NULL);
	if (!mkdtemp(text) || log_start(&m) < 0 || poller_new(&m) < 0)
		return -1;
	snprintf(m.dir, sizeof(m.dir), "%s", text);
	return dir_take(&m, why, sizeof(why));
}

static int close_model(void **state)
{
	(void)state;
	control_stop(&m);
	for (unsigned i = MODEL_PORTS; i > 0; i--)
		if (m.port[i - 1].dev) {
			server_port_del(&m.port[i - 1]);
			port_close(&m.port[i - 1]);
		}
	poller_free(&m);
	dir_release(&m);
	log_stop(&m);
	pthread_mutex_destroy(&m.lock);
	return access(m.dir, F_OK) == 0 ? -1 : 0; /* gone */
}

static struct model_port *add(const char *spec)
{
	struct model_port *p = NULL;

	if (port_open(&m, spec, why, sizeof(why), &p) < 0)
		fail_msg("%s: %s", spec, why);
	return p;
}

/* ---- port specifications ---- */

static void a_wrong_specification_is_refused_with_a_reason(void **state)
{
	static const struct {
		const char *spec, *why;
	} row[] = {
		{ "", "NAME=WIRE" },
		{ "eth0", "NAME=WIRE" },
		{ "=loop", "NAME=WIRE" },
		{ "a/b=loop", "NAME=WIRE" },
		{ "..=loop", "NAME=WIRE" },
		{ "sixteen-letters-=loop", "NAME=WIRE" },
		{ "eth0=", "no wire" },
		{ "eth0=mtu=1500", "no wire" },
		{ "eth0=loop,mtu=67", "'mtu=67'" },
		{ "eth0=loop,mtu=9979", "'mtu=9979'" },
		{ "eth0=loop,mtu=", "'mtu='" },
		{ "eth0=loop,mtu=1500x", "'mtu=1500x'" },
		{ "eth0=loop,mac=0c:42:a1:00:00", "mac=" },
		{ "eth0=loop,mac=0c:42:a1:00:00:01:02", "mac=" },
		{ "eth0=loop,mac=01:00:5e:00:00:01", "mac=" },
		{ "eth0=loop,card=32", "'card=32'" },
		{ "eth0=loop,card=-1", "'card=-1'" },
		{ "eth0=loop,up=maybe", "'up=maybe'" },
		{ "eth0=loop,cap=cqe_compression", "cap=GROUP.FIELD" },
		{ "eth0=loop,cap=hca.no_such_field=1", "cap=" },
		{ "eth0=loop,colour=blue", "colour=blue" },
		{ "eth0=string:1", "unknown kind" },
	};
	struct model_port *p = (struct model_port *)&m;

	(void)state;
	for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		why[0] = 0;
		assert_true(port_open(&m, row[i].spec, why, sizeof(why), &p) < 0);
		assert_ptr_equal(p, &m);
		if (!strstr(why, row[i].why))
			fail_msg("%s: '%s' is not in: %s", row[i].spec, row[i].why, why);
		assert_int_equal(m.n_ports, 0);
	}
}

static void words_of_the_port_and_of_the_wire_are_told_apart(void **state)
{
	struct model_port *p;

	(void)state;
	p = add("eth7=pcap:-,mtu=9000,/dev/null,mac=0c:42:a1:01:02:03,start=ctl,card=5");
	assert_string_equal(p->netdev, "eth7");
	assert_string_equal(p->wire_spec, "pcap:-,/dev/null,start=ctl");
	assert_int_equal(p->mtu, 9000);
	assert_int_equal(p->card, 5);
	assert_memory_equal(p->mac, "\x0c\x42\xa1\x01\x02\x03", 6);
	assert_true(p->node_guid == 0x0c42a10300010203u);
	assert_string_equal(p->pci, "0000:08:00.0");
}

static void ports_of_one_card_are_its_functions(void **state)
{
	struct model_port *a, *b, *c, *p;

	(void)state;
	a = add("a=loop,card=2");
	b = add("b=loop,card=2");
	c = add("c=loop");
	assert_string_equal(a->pci, "0000:05:00.0");
	assert_string_equal(b->pci, "0000:05:00.1");
	assert_string_equal(c->pci, "0000:03:00.0");
	assert_true(a->sys_image_guid == b->sys_image_guid);
	assert_true(a->node_guid != b->node_guid && a->node_guid != c->node_guid);
	assert_true(c->sys_image_guid != a->sys_image_guid);
	assert_true(memcmp(a->mac, b->mac, 6) != 0 && memcmp(b->mac, c->mac, 6) != 0);
	assert_int_equal(port_open(&m, "d=loop,card=2", why, sizeof(why), &p), -ENOSPC);
	assert_non_null(strstr(why, "card=2"));
	assert_int_equal(port_open(&m, "a=loop", why, sizeof(why), &p), -ENOSPC);
	assert_non_null(strstr(why, "of that name"));
}

static void a_place_that_became_free_is_used_again(void **state)
{
	char spec[32];

	(void)state;
	for (unsigned i = 0; i < MODEL_PORTS; i++) {
		snprintf(spec, sizeof(spec), "p%u=none", i);
		assert_int_equal(add(spec)->index, i);
	}
	struct model_port *p;

	assert_int_equal(port_open(&m, "x=none", why, sizeof(why), &p), -ENOSPC);
	port_close(&m.port[3]);
	assert_int_equal(m.n_ports, MODEL_PORTS);
	assert_int_equal(add("x=none")->index, 3);
	port_close(&m.port[15]);
	assert_int_equal(m.n_ports, 15);
}

/* ---- lines ---- */

static struct reply answer;

/* Runs a line; the answer's text, its last line included, is in answer.text. */
static int say(const char *text)
{
	char line[1024];
	int r;

	reply_free(&answer);
	snprintf(line, sizeof(line), "%s", text);
	r = command_run(&m, line, &answer);
	reply_end(&answer, r);
	answer.text = realloc(answer.text, answer.len + 1);
	assert_non_null(answer.text);
	answer.text[answer.len] = 0;
	return r;
}

static void assert_says(const char *line, int r, const char *part)
{
	int got = say(line);

	if (got != r || !strstr(answer.text, part))
		fail_msg("'%s': %d, not %d with '%s' in: %s", line, got, r, part,
			 answer.text);
}

static unsigned long value(const char *name)
{
	char at[64];
	const char *p;

	snprintf(at, sizeof(at), "\n%s ", name);
	assert_int_equal(say("stat"), 0);
	p = strstr(answer.text, at);
	assert_non_null(p);
	return strtoul(p + strlen(at), NULL, 10);
}

static void wrong_lines_are_refused_with_a_reason(void **state)
{
	(void)state;
	add("eth0=loop");
	assert_says("", -EINVAL, "not a command");
	assert_says("   ", -EINVAL, "not a command");
	assert_says("fly", -EINVAL, "error 'fly': not a command; try: help");
	assert_says("port", -EINVAL, "not a command");
	assert_says("port move eth0", -EINVAL, "not a command");
	assert_says("link eth0", -EINVAL, "use: link PORT up|down");
	assert_says("link", -EINVAL, "wrong number of words");
	assert_says("link eth0 up now", -EINVAL, "wrong number of words");
	assert_says("link eth0 sideways", -EINVAL, "'sideways'");
	assert_says("clock eth0 -5", -EINVAL, "'-5' is not a number of nanoseconds");
	assert_says("clock eth0 1h", -EINVAL, "'1h' is not a number of nanoseconds");
	assert_says("link eth9 up", -ENODEV, "no port 'eth9'");
	assert_says("stat eth9", -ENODEV, "no port 'eth9'");
	assert_says("trace eth0 cmd,cqx", -EINVAL, "'cqx'");
	assert_says("log many", -EINVAL, "'many'");
	assert_says("fault eth0 nonsense", -EINVAL, "error ");
	assert_says("wire eth0 start", -EOPNOTSUPP, "loop takes no control lines");
	assert_says("port add eth0=loop", -ENOSPC, "of that name");
}

static void ports_are_found_by_either_name(void **state)
{
	(void)state;
	add("eth0=loop");
	assert_says("stats mlx5_0", 0, "wire_tx_frames 0\n");
	assert_says("stats eth0", 0, "\nok\n");
	assert_says("ports", 0, "mlx5_0 name eth0 netdev - pci 0000:03:00.0 ");
	assert_says("stat eth0", 0, "CQ 0\n");
	assert_says("dump", 0, "mlx5_0\n");
	assert_says("help", 0, "port add NAME=WIRE");
	assert_says("coverage", 0, "ok\n");
}

static void the_link_is_down_while_somebody_holds_it_down(void **state)
{
	struct model_port *p;

	(void)state;
	p = add("eth0=loop");
	assert_int_equal(port_begin(p, why, sizeof(why)), 0);
	assert_true(cx_link_up(p->dev));
	assert_says("link eth0 down", 0, "ok\n");
	assert_false(cx_link_up(p->dev));
	port_link_update(p); /* another cause is looked at: still down */
	assert_false(cx_link_up(p->dev));
	assert_says("fault eth0 link up", 0, "ok\n");
	assert_true(cx_link_up(p->dev));
	assert_says("fault eth0 link down", 0, "ok\n");
	assert_says("link eth0 up", 0, "ok\n");
	assert_true(cx_link_up(p->dev));
	assert_says("log", 0, "eth0: link down");
}

static void ports_come_and_go(void **state)
{
	unsigned long fds, objects;

	(void)state;
	fds = value("fds");
	objects = value("objects");
	m.running = true; /* so that the second port of a pair may come later */
	for (unsigned i = 0; i < 50; i++) {
		assert_says("port add a=pair:b", 0, "ok\n");
		assert_false(cx_link_up(m.port[0].dev));
		assert_says("port add b=pair:a", 0, "ok\n");
		assert_true(cx_link_up(m.port[0].dev) && cx_link_up(m.port[1].dev));
		assert_int_equal(value("ports"), 2);
		assert_says("port del a", 0, "ok\n");
		assert_false(cx_link_up(m.port[1].dev));
		assert_says("port del b", 0, "ok\n");
	}
	assert_says("port del b", -ENODEV, "no port 'b'");
	assert_int_equal(value("ports"), 0);
	assert_int_equal(value("fds"), fds);
	assert_int_equal(value("objects"), objects);
}

static void a_line_never_looks_like_the_end_of_an_answer(void **state)
{
	struct reply r = { 0 };

	(void)state;
	reply_line(&r, "ok");
	reply_line(&r, "error 1");
	reply_line(&r, "two\nlines");
	snprintf(r.why, sizeof(r.why), "reason\nok");
	reply_end(&r, -EINVAL);
	assert_int_equal(r.len, strlen(" ok\n error 1\ntwo lines\nerror reason ok\n"));
	assert_memory_equal(r.text, " ok\n error 1\ntwo lines\nerror reason ok\n", r.len);
	reply_free(&r);
}

/* ---- the socket ---- */

static int dial(void)
{
	struct sockaddr_un sa = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_true(fd >= 0);
	snprintf(sa.sun_path, sizeof(sa.sun_path), "%.90s/ctl.sock", m.dir);
	assert_int_equal(connect(fd, (struct sockaddr *)&sa, sizeof(sa)), 0);
	return fd;
}

/* Reads up to the end of the connection, or to @n ends of answers. Return: bytes. */
static size_t hear(int fd, char *text, size_t size, unsigned n)
{
	size_t len = 0;

	while (n && len + 1 < size) {
		struct pollfd p = { .fd = fd, .events = POLLIN };
		ssize_t got;

		if (poll(&p, 1, 20000) <= 0)
			fail_msg("no answer in 20 s");
		got = recv(fd, text + len, 1, 0);
		if (got <= 0)
			break;
		len++;
		text[len] = 0;
		if (text[len - 1] != '\n')
			continue;
		if ((len == 3 && !memcmp(text, "ok\n", 3)) ||
		    (len > 3 && !memcmp(text + len - 4, "\nok\n", 4)) ||
		    strstr(text, "error "))
			n--;
	}
	text[len] = 0;
	return len;
}

static void put(int fd, const void *bytes, size_t len)
{
	assert_int_equal(send(fd, bytes, len, MSG_NOSIGNAL), len);
}

/* The socket still serves an honest client. */
static void assert_serves(void)
{
	char text[4096];
	int fd = dial();

	put(fd, "help\n", 5);
	hear(fd, text, sizeof(text), 1);
	assert_non_null(strstr(text, "\nok\n"));
	close(fd);
}

static void start_control(void)
{
	if (control_start(&m, why, sizeof(why)) < 0)
		fail_msg("%s", why);
}

static void lines_may_come_in_pieces_or_in_a_heap(void **state)
{
	char text[65536];
	int fd;

	(void)state;
	start_control();
	fd = dial();
	put(fd, "he", 2);
	assert_serves();
	put(fd, "lp\r\nnothing\n", 12);
	hear(fd, text, sizeof(text), 1);
	assert_non_null(strstr(text, "this list"));
	hear(fd, text, sizeof(text), 1);
	assert_string_equal(text, "error 'nothing': not a command; try: help\n");
	put(fd, "ports\nports\nports\n", 18);
	hear(fd, text, sizeof(text), 1);
	hear(fd, text, sizeof(text), 1);
	hear(fd, text, sizeof(text), 1);
	assert_string_equal(text, "ok\n");
	put(fd, "por", 3);
	close(fd); /* half a line, and gone */
	assert_serves();
}

static void rubbish_is_answered_once_and_hung_up_on(void **state)
{
	static const struct {
		const char *bytes;
		size_t len;
		const char *why;
	} row[] = {
		{ "\0\0\0\0\n", 5, "not ASCII text" },
		{ "st\xc3\xa4t\n", 6, "not ASCII text" },
		{ "\x1b[2J\nstat\nstat\n", 15, "not ASCII text" },
		{ "\x16\x03\x01\x02\n\x01", 6, "not ASCII text" },
	};
	char text[4096], big[4096];

	(void)state;
	start_control();
	for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		int fd = dial();

		put(fd, row[i].bytes, row[i].len);
		hear(fd, text, sizeof(text), 9);
		assert_non_null(strstr(text, row[i].why));
		assert_null(
			strstr(text, "objects")); /* nothing after it was carried out */
		close(fd);
	}
	memset(big, 'x', sizeof(big));
	for (size_t len = 1024; len <= sizeof(big); len *= 2) {
		int fd = dial();

		put(fd, big, len);
		hear(fd, text, sizeof(text), 9);
		assert_non_null(strstr(text, "over 1023 bytes"));
		close(fd);
	}
	assert_serves();
}

static void silent_clients_cost_nothing(void **state)
{
	enum { SILENT = 1000 };
	static int fd[SILENT];
	struct rlimit l;
	unsigned long before;

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &l), 0);
	l.rlim_cur = l.rlim_max;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &l), 0);
	start_control();
	before = value("fds");
	for (unsigned i = 0; i < SILENT; i++) {
		fd[i] = dial();
		if (i % 3 == 0)
			put(fd[i], "sta", 3);
		if (i % 100 == 0)
			assert_serves();
	}
	assert_serves();
	assert_in_range(control_clients(&m), 1, 64);
	for (unsigned i = 0; i < SILENT; i++)
		close(fd[i]);
	assert_serves();
	while (control_clients(&m)) /* the thread notices each end by itself */
		sched_yield();
	assert_int_equal(value("fds"), before);
}

static void a_client_that_does_not_read_holds_up_nobody(void **state)
{
	enum { LINES = 20000 };
	int fd;
	unsigned sent = 0;

	(void)state;
	start_control();
	fd = dial();
	/* Its answers fill the socket; then its lines do, and it is no longer listened to. */
	while (sent < LINES && send(fd, "help\n", 5, MSG_NOSIGNAL | MSG_DONTWAIT) == 5)
		sent++;
	assert_in_range(sent, 10, LINES - 1);
	for (unsigned i = 0; i < 100; i++)
		assert_serves();
	close(fd);
	assert_serves();
}

/* ---- the directory ---- */

static void a_live_directory_is_refused(void **state)
{
	struct model other = { .lock_fd = -1 };

	(void)state;
	memcpy(other.dir, m.dir, sizeof(other.dir));
	assert_int_equal(dir_take(&other, why, sizeof(why)), -EADDRINUSE);
	assert_non_null(strstr(why, "in use by process"));
	dir_release(&other);
	assert_int_equal(access(m.dir, F_OK), 0);
}

static void a_directory_of_somebody_else_is_refused(void **state)
{
	struct model other = { .lock_fd = -1 };
	char path[128];
	FILE *f;

	(void)state;
	snprintf(other.dir, sizeof(other.dir), "%.80s/sub", m.dir);
	assert_int_equal(dir_take(&other, why, sizeof(why)), 0);
	snprintf(path, sizeof(path), "%.90s/precious", other.dir);
	f = fopen(path, "w");
	assert_non_null(f);
	fclose(f);
	dir_release(&other); /* takes only what is its own */
	assert_int_equal(access(path, F_OK), 0);
	assert_int_equal(dir_take(&other, why, sizeof(why)), -ENOTEMPTY);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(dir_take(&other, why, sizeof(why)), 0);
	dir_release(&other);
	assert_int_not_equal(access(other.dir, F_OK), 0);
}

#define ON_MODEL(test) cmocka_unit_test_setup_teardown(test, open_model, close_model)

static int last(void **state)
{
	(void)state;
	reply_free(&answer);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		ON_MODEL(a_wrong_specification_is_refused_with_a_reason),
		ON_MODEL(words_of_the_port_and_of_the_wire_are_told_apart),
		ON_MODEL(ports_of_one_card_are_its_functions),
		ON_MODEL(a_place_that_became_free_is_used_again),
		ON_MODEL(wrong_lines_are_refused_with_a_reason),
		ON_MODEL(ports_are_found_by_either_name),
		ON_MODEL(the_link_is_down_while_somebody_holds_it_down),
		ON_MODEL(ports_come_and_go),
		ON_MODEL(a_line_never_looks_like_the_end_of_an_answer),
		ON_MODEL(lines_may_come_in_pieces_or_in_a_heap),
		ON_MODEL(rubbish_is_answered_once_and_hung_up_on),
		ON_MODEL(silent_clients_cost_nothing),
		ON_MODEL(a_client_that_does_not_read_holds_up_nobody),
		ON_MODEL(a_live_directory_is_refused),
		ON_MODEL(a_directory_of_somebody_else_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, last);
}
