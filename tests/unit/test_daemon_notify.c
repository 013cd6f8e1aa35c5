/* unit/test_daemon_notify.c - what systemd is told, and how log lines look to the journal */

#include "../test.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>

#include "../../daemon/log.h"
#include "../../daemon/notify.h"

static int listen_as_systemd(char *path)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	snprintf(addr.sun_path, sizeof(addr.sun_path), "%s", path);
	assert_int_equal(bind(fd, (const void *)&addr, sizeof(addr)), 0);
	return fd;
}

static void assert_told(int fd, const char *expected)
{
	char text[200];
	ssize_t n = recv(fd, text, sizeof(text) - 1, 0);

	assert_true(n >= 0);
	text[n] = '\0';
	assert_string_equal(text, expected);
}

static void systemd_hears_ready_status_and_stopping(void **state)
{
	char path[] = "/tmp/test_notify_XXXXXX";
	int fd;

	(void)state;
	assert_non_null(mkdtemp(path));
	rmdir(path);
	fd = listen_as_systemd(path);
	setenv("NOTIFY_SOCKET", path, 1);
	notify_ready("forwarding on 2 ports");
	assert_told(fd, "READY=1\nSTATUS=forwarding on 2 ports");
	notify_status("port eth0 lost");
	assert_told(fd, "STATUS=port eth0 lost");
	notify_stopping();
	assert_told(fd, "STOPPING=1\nSTATUS=draining");
	unsetenv("NOTIFY_SOCKET");
	close(fd);
	unlink(path);
}

static void without_systemd_nothing_happens(void **state)
{
	(void)state;
	notify_ready("x");
	notify_status("x");
	notify_stopping();
}

/* Logs one line of each level to a file and reads it back. */
static void log_to_file(bool as_journal, enum log_level level, char *text, size_t size)
{
	FILE *file = tmpfile();
	int saved = dup(STDERR_FILENO);
	char stream[64];
	struct stat st;
	size_t n;

	assert_int_equal(fstat(fileno(file), &st), 0);
	snprintf(stream, sizeof(stream), "%llu:%llu", (unsigned long long)st.st_dev,
		 (unsigned long long)st.st_ino + !as_journal);
	setenv("JOURNAL_STREAM", stream, 1);
	dup2(fileno(file), STDERR_FILENO);
	log_open(level);
	log_error("e %d", 1);
	log_warning("w");
	log_notice("n");
	log_info("i");
	log_debug("d");
	dup2(saved, STDERR_FILENO);
	close(saved);
	unsetenv("JOURNAL_STREAM");
	rewind(file);
	n = fread(text, 1, size - 1, file);
	text[n] = '\0';
	fclose(file);
}

/* The library's, played here: an entry a line. */
static char journal[1024];

int sd_journal_sendv(const struct iovec *field, int n);
int sd_journal_sendv(const struct iovec *field, int n)
{
	char text[256];

	for (int i = 0; i < n; i++) {
		snprintf(text, sizeof(text), "%.*s%c", (int)field[i].iov_len,
			 (const char *)field[i].iov_base, i < n - 1 ? ' ' : '\n');
		test_append(journal, sizeof(journal), text);
	}
	return 0;
}

#define WHO " SYSLOG_IDENTIFIER=mlx5fwd"

static void the_journal_gets_priorities(void **state)
{
	char text[200];

	(void)state;
	journal[0] = '\0';
	log_to_file(true, LOG_LEVEL_DEBUG, text, sizeof(text));
	assert_string_equal(text, "");
	assert_string_equal(journal,
			    "MESSAGE=e 1 PRIORITY=3" WHO "\nMESSAGE=w PRIORITY=4" WHO
			    "\nMESSAGE=n PRIORITY=5" WHO "\nMESSAGE=i PRIORITY=6" WHO
			    "\nMESSAGE=d PRIORITY=7" WHO "\n");
}

static void and_whom_a_message_is_about(void **state)
{
	static const struct {
		const char *text, *field;
	} rows[] = {
		{ "port eth0: up", " MLX5FWD_PORT=eth0" },
		{ "port eth0.7: x: y", " MLX5FWD_PORT=eth0.7" },
		{ "worker 12: no turn", " MLX5FWD_WORKER=12" },
		{ "port eth0", "" },
		{ "port eth0 is: up", "" },
		{ "port : up", "" },
		{ "port ", "" },
		{ "po", "" },
		{ "", "" },
		{ "a port eth0: up", "" },
	};
	char expected[200];

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		journal[0] = '\0';
		notify_journal(6, rows[i].text);
		snprintf(expected, sizeof(expected), "MESSAGE=%s PRIORITY=6" WHO "%s\n",
			 rows[i].text, rows[i].field);
		assert_string_equal(journal, expected);
	}
}

/* $JOURNAL_STREAM is there, but names another stream. */
static void everybody_else_gets_words(void **state)
{
	char text[200];

	(void)state;
	log_to_file(false, LOG_LEVEL_WARNING, text, sizeof(text));
	assert_string_equal(text, "mlx5fwd: error: e 1\nmlx5fwd: warning: w\n");
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(systemd_hears_ready_status_and_stopping),
	cmocka_unit_test(without_systemd_nothing_happens),
	cmocka_unit_test(the_journal_gets_priorities),
	cmocka_unit_test(and_whom_a_message_is_about),
	cmocka_unit_test(everybody_else_gets_words),
};

int main(void)
{
	return cmocka_run_group_tests(tests, NULL, NULL);
}
