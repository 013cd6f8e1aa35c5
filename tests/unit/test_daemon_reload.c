/* unit/test_daemon_reload.c - configuration read again: all of a change or nothing */

#include "control_rig.h"

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../daemon/config_said.h"
#include "../../daemon/reload.h"
#include "../../lib/base/time.h"
#include "../../lib/fwd/worker_inside.h"

#define PORTS "[port eth0]\nrx_packets = 2048\n[port eth1]\n"

static char path[100];

static void write_file(const char *text)
{
	FILE *file = fopen(path, "we");

	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

/* The rig's daemon has read this file. */
static void runs_with(const char *text)
{
	struct ring *none[1] = { NULL };
	struct exc_conf conf = { .ring = none, .n_rings = 0 };
	struct err err = { "" };
	char socket[108];

	memcpy(socket, rig.router.conf.control_socket, sizeof(socket)); /* is in use */
	snprintf(path, sizeof(path), "%s/mlx5fwd.conf", rig.folder);
	write_file(text);
	rig.router.config_path = path;
	if (config_read_said(path, &rig.router.conf, &rig.router.said, &err) < 0)
		fail_msg("%s", err.text);
	memcpy(rig.router.conf.control_socket, socket, sizeof(socket));
	assert_int_equal(exc_new(&conf, &err, &rig.router.exc), 0);
	log_set_level(rig.router.conf.log_level);
}

static int end(void **state)
{
	unlink(path);
	config_said_free(rig.router.said);
	exc_free(rig.router.exc);
	return rig_stopped(state);
}
#define reloading(f) cmocka_unit_test_setup_teardown(f, rig_started, end)

static void every_key_is_shown_with_what_it_has(void **state)
{
	int fd, n = 0, said = 0;
	const char *row;

	(void)state;
	runs_with("[daemon]\nworkers=3\n log_level = debug\n" PORTS);
	fd = dial();
	assert_has(
		ask(fd, "config show\n"),
		"{\"section\":\"daemon\",\"key\":\"workers\",\"value\":\"3\",\"default\":\"1\","
		"\"said\":true,\"live\":false}");
	for (row = hear(fd); strcmp(row, OK) != 0; row = hear(fd), n++) {
		said += strstr(row, "\"said\":true") != NULL;
		if (strstr(row, "\"log_level\""))
			assert_has(
				row,
				"\"value\":\"debug\",\"default\":\"info\",\"said\":true,"
				"\"live\":true");
		if (strstr(row, "\"port\":\"eth1\",\"key\":\"rx_packets\""))
			assert_has(row, "\"value\":\"1024\"");
		if (strstr(row, "\"port\":\"eth0\",\"key\":\"rx_packets\""))
			assert_has(row, "\"value\":\"2048\"");
	}
	assert_in_range(n, 15, 200);
	assert_int_equal(said, 2);
	close(fd);
}

static void what_can_change_changes(void **state)
{
	int fd;

	(void)state;
	runs_with("[daemon]\npunt_rate = 5\n" PORTS);
	fd = dial();
	assert_string_equal(ask(fd, "config diff\n"), OK);
	write_file("[daemon]\nlog_level = warning\npunt_rate = 7\n" PORTS);
	assert_string_equal(
		ask(fd, "config diff\n"),
		"{\"section\":\"daemon\",\"key\":\"punt_rate\",\"runs\":\"5\","
		"\"file\":\"7\",\"live\":true}");
	assert_has(hear(fd),
		   "\"key\":\"log_level\",\"runs\":\"info\",\"file\":\"warning\"");
	assert_string_equal(hear(fd), OK);
	assert_int_equal(rig.router.conf.punt_rate_pps, 5); /* just compared */
	assert_has(ask(fd, "reload\n"), "punt_rate");
	assert_has(hear(fd), "log_level");
	assert_string_equal(hear(fd), OK);
	assert_int_equal(rig.router.conf.punt_rate_pps, 7);
	assert_int_equal(log_level(), LOG_LEVEL_WARNING);
	assert_string_equal(ask(fd, "config diff\n"), OK);
	assert_string_equal(ask(fd, "reload\n"), OK); /* nothing to do */
	close(fd);
}

/* A worker that stands still: of one that runs tests/operations/config.sh tells. */
static void workers_are_tuned(void **state)
{
	struct fwd_conf conf = { .cpu = -1, .punt_ring = 16, .punt_bytes = 64 };
	const struct config *c = &rig.router.conf;
	struct fwd_worker *w;
	int fd;

	(void)state;
	runs_with("[daemon]\n" PORTS);
	assert_int_equal(fwd_worker_new(&conf, &w), 0);
	rig.router.worker[0] = w;
	rig.router.n_workers = 1;
	fd = dial();
	write_file("[daemon]\nidle = sleep\nidle_spin_us = 7\nidle_pause_us = 8\n"
		   "burst = 9\nlatency_sample = 10\n" PORTS);
	for (int i = 0; i < 5; i++)
		assert_has(ask(fd, i ? "" : "reload\n"), "\"live\":true");
	assert_string_equal(hear(fd), OK);
	assert_int_equal(c->idle, FWD_IDLE_SLEEP);
	assert_int_equal(w->conf.idle, FWD_IDLE_SLEEP);
	assert_int_equal(w->conf.idle_spin_us, 7);
	assert_int_equal(w->spin_ticks, 7 * time_ticks_per_us());
	assert_int_equal(w->pause_ticks, 8 * time_ticks_per_us());
	assert_int_equal(w->conf.burst, 9);
	assert_int_equal(w->conf.latency_sample, 10);
	assert_int_equal(w->to_sample, 10);
	assert_int_equal(c->latency_sample, 10); /* which port show tells */
	write_file("[daemon]\nidle = spin\nburst = 3\n" PORTS);
	assert_has(ask(fd, "reload\n"), "burst = 3: must be 4 to 256");
	assert_int_equal(w->conf.idle, FWD_IDLE_SLEEP);
	close(fd);
	rig.router.n_workers = 0;
	fwd_worker_free(w);
}

static struct stat stat_of(const char *name)
{
	char file[120];
	struct stat st = { .st_gid = (gid_t)-1 };

	snprintf(file, sizeof(file), "%s/%s", rig.folder, name);
	if (stat(file, &st))
		st.st_ino = 0;
	return st;
}

static void groups_change_with_their_sockets(void **state)
{
	enum { USERS = 100, GAMES = 60 };
	int fd;

	(void)state;
	runs_with("[daemon]\ncontrol_group =\n" PORTS);
	snprintf(rig.router.conf.read_socket, sizeof(rig.router.conf.read_socket), "%s/r",
		 rig.folder);
	fd = dial();
	write_file("[daemon]\ncontrol_group = users\nreaders_group = games\n" PORTS);
	assert_has(ask(fd, "reload\n"), "control_group");
	assert_has(hear(fd), "readers_group");
	assert_string_equal(hear(fd), OK);
	assert_int_equal(stat_of("s").st_gid, USERS);
	assert_int_equal(stat_of("r").st_gid, GAMES);
	assert_int_equal(stat_of("r").st_mode & 07777, 0660);
	write_file("[daemon]\ncontrol_group =\n" PORTS);
	assert_has(ask(fd, "reload\n"), "control_group");
	assert_has(hear(fd), "readers_group");
	assert_string_equal(hear(fd), OK);
	assert_int_equal(stat_of("s").st_gid, getegid());
	assert_int_equal(stat_of("r").st_ino, 0);
	close(fd);
	assert_still_serves();
}

static void how_the_last_one_ended_is_known(void **state)
{
	int fd;

	(void)state;
	runs_with("[daemon]\n" PORTS);
	fd = dial();
	reload_note(&rig.router, true);
	assert_false(rig.router.configured.refused);
	rig.router.configured.read_s = 5;
	write_file("[daemon]\nworkers = 2\n" PORTS);
	assert_has(ask(fd, "reload\n"), "EOPNOTSUPP");
	assert_true(rig.router.configured.refused);
	write_file("nonsense\n");
	assert_has(ask(fd, "reload\n"), "EINVAL");
	assert_has(ask(fd, "config check\n"), "EINVAL"); /* is no reload */
	assert_true(rig.router.configured.read_s == 5);
	write_file("[daemon]\n" PORTS);
	assert_string_equal(ask(fd, "reload\n"), OK);
	assert_false(rig.router.configured.refused);
	assert_true(rig.router.configured.read_s > 1e9);
	close(fd);
}

static void what_means_the_same_is_no_change(void **state)
{
	int fd;

	(void)state;
	runs_with("[daemon]\nworkers = 2\ncpus = 1-2\n" PORTS);
	fd = dial();
	write_file("[daemon]\n; a comment\ncpus = 1, 2\nworkers = 2\npunt_rate = 1000\n"
		   "[port eth1]\n[port eth0]\nrx_packets = 2048\nstriding = yes\n");
	assert_string_equal(ask(fd, "config diff\n"), OK);
	assert_string_equal(ask(fd, "reload\n"), OK);
	close(fd);
}

/* The key that could be changed is not, either. */
static void what_cannot_change_is_named_and_nothing_does(void **state)
{
	static const struct {
		const char *file, *named;
	} is[] = {
		{ "[daemon]\nlog_level = error\nworkers = 2\n" PORTS,
		  "only a restart can change workers; nothing was changed" },
		{ "[daemon]\nlog_level = error\nworkers = 2\nmax_nexthops = 99\n"
		  "[port eth0]\n[port eth1]\n",
		  "change workers, max_nexthops, [port eth0] rx_packets; nothing" },
		{ "[daemon]\nlog_level = error\n[port eth0]\nrx_packets = 2048\n",
		  "change [port eth1]; nothing" },
		{ "[daemon]\nlog_level = error\n[port eth2]\n" PORTS,
		  "change [port eth2]; nothing" },
	};
	int fd;

	(void)state;
	runs_with("[daemon]\n" PORTS);
	fd = dial();
	for (size_t i = 0; i < ARRAY_LEN(is); i++) {
		const char *reply;

		write_file(is[i].file);
		reply = ask(fd, "reload\n");
		assert_has(reply, "\"code\":\"EOPNOTSUPP\"");
		assert_has(reply, is[i].named);
		assert_has(reply, "\\\"config diff\\\" shows what differs");
		assert_int_equal(log_level(), LOG_LEVEL_INFO);
		assert_int_equal(rig.router.conf.log_level, LOG_LEVEL_INFO);
	}
	assert_has(ask(fd, "config diff\n"), "log_level");
	assert_string_equal(hear(fd),
			    "{\"section\":\"port\",\"port\":\"eth2\",\"runs\":\"no\","
			    "\"file\":\"yes\",\"live\":false}");
	assert_string_equal(hear(fd), OK);
	close(fd);
}

static void a_file_with_an_error_changes_nothing(void **state)
{
	static const struct {
		const char *file, *code, *error;
	} is[] = {
		{ "[daemon]\nlog_level = error\npunt_rate = x\n" PORTS, "EINVAL",
		  "mlx5fwd.conf:3: punt_rate = x: must be 0 to 10000000" },
		{ "[daemon]\nlog_level = error\n", "EINVAL", "no port" },
		{ "[daemon]\nlog_level = error\nfrob = 1\n" PORTS, "EINVAL",
		  ":3: frob: unknown key" },
	};
	static const char *const requests[] = { "reload\n", "config check\n",
						"config diff\n" };
	int fd;

	(void)state;
	runs_with("[daemon]\n" PORTS);
	fd = dial();
	assert_string_equal(ask(fd, "config check\n"), OK);
	for (size_t i = 0; i < ARRAY_LEN(is); i++) {
		write_file(is[i].file);
		for (size_t k = 0; k < ARRAY_LEN(requests); k++) {
			assert_has(ask(fd, requests[k]), is[i].error);
			assert_int_equal(log_level(), LOG_LEVEL_INFO);
		}
	}
	unlink(path);
	assert_has(ask(fd, "reload\n"), "\"code\":\"ENOENT\"");
	assert_has(ask(fd, "config show\n"), "workers"); /* what runs goes on */
	close(fd);
}

static void the_log_level_is_shown_and_set(void **state)
{
	int fd;

	(void)state;
	runs_with("[daemon]\n" PORTS);
	fd = dial();
	assert_string_equal(ask(fd, "log level\n"), "{\"level\":\"info\"}");
	assert_string_equal(hear(fd), OK);
	assert_string_equal(ask(fd, "log level error\n"), OK);
	assert_int_equal(log_level(), LOG_LEVEL_ERROR);
	assert_has(ask(fd, "log level loud\n"),
		   "log level loud: must be error, warning,");
	assert_has(ask(fd, "log level\n"), "\"error\"");
	assert_string_equal(hear(fd), OK);
	close(fd);
}

static const struct CMUnitTest tests[] = {
	reloading(every_key_is_shown_with_what_it_has),
	reloading(what_can_change_changes),
	reloading(workers_are_tuned),
	reloading(groups_change_with_their_sockets),
	reloading(how_the_last_one_ended_is_known),
	reloading(what_means_the_same_is_no_change),
	reloading(what_cannot_change_is_named_and_nothing_does),
	reloading(a_file_with_an_error_changes_nothing),
	reloading(the_log_level_is_shown_and_set),
};

int main(void)
{
	return cmocka_run_group_tests(tests, NULL, NULL);
}
