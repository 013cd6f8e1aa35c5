/* test/test_wire_pcap.c - capture files: what is in them arrives, what leaves is in them */
#define _GNU_SOURCE 1
#include "wire_bench.h"

#include <errno.h>
#include <signal.h>
#include <pcap/pcap.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

static char dir[64];

static const char *path(const char *name)
{
	static char text[4][128];
	static unsigned next;
	char *p = text[next++ % 4];

	snprintf(p, 128, "%s/%s", dir, name);
	return p;
}

static void fill(uint8_t *frame, uint32_t len, uint32_t nth)
{
	for (uint32_t i = 0; i < len; i++)
		frame[i] = (uint8_t)(nth * 29 + i * 3);
}

static uint32_t length(uint32_t nth)
{
	return 14 + nth * 97 % 8980;
}

/* @cut: bytes missing from each frame, as a small snaplen leaves it. */
static void write_file(const char *file, int link_type, unsigned n, uint32_t cut)
{
	pcap_t *p = pcap_open_dead(link_type, 65535);
	pcap_dumper_t *d = pcap_dump_open(p, file);
	uint8_t frame[9000];

	assert_non_null(d);
	for (unsigned i = 0; i < n; i++) {
		struct pcap_pkthdr h = { .len = length(i), .caplen = length(i) - cut };

		fill(frame, length(i), i);
		pcap_dump((u_char *)d, &h, frame);
	}
	pcap_dump_close(d);
	pcap_close(p);
}

static void every_frame_of_the_file_arrives_unchanged(void **state)
{
	struct bench b;
	struct model_port *x;
	char spec[256];

	(void)state;
	write_file(path("in"), DLT_EN10MB, 300, 0);
	snprintf(spec, sizeof(spec), "pcap:%s,times=2", path("in"));
	bench_open(&b);
	x = bench_port(&b, "x", spec);
	bench_start(&b);
	assert_int_equal(bench_run(&b), 600);
	assert_int_equal(b.got[0].n, 600);
	for (unsigned i = 0; i < 600; i++) {
		uint8_t want[9000];
		uint32_t len;
		const uint8_t *got = bench_frame(&b, x, i, &len);

		assert_int_equal(len, length(i % 300));
		fill(want, len, i % 300);
		assert_memory_equal(got, want, len);
	}
	assert_true(x->wire->class->fd(x->wire) >= 0); /* the poller may sleep now */
	bench_close(&b);
}

static void every_frame_sent_is_recorded_unchanged(void **state)
{
	struct bench b;
	struct model_port *x;
	char spec[256], text[PCAP_ERRBUF_SIZE];
	struct pcap_pkthdr *h;
	const u_char *bytes;
	struct timespec now;
	uint8_t frame[9000];
	pcap_t *p;

	(void)state;
	snprintf(spec, sizeof(spec), "pcap:-,%s", path("out"));
	bench_open(&b);
	x = bench_port(&b, "x", spec);
	bench_start(&b);
	for (unsigned i = 0; i < 300; i++) {
		fill(frame, length(i), i);
		bench_send(x, frame, length(i));
	}
	bench_run(&b); /* a quiet pass completes the file; the wire is still open */
	p = pcap_open_offline_with_tstamp_precision(path("out"),
						    PCAP_TSTAMP_PRECISION_NANO, text);
	assert_non_null(p);
	clock_gettime(CLOCK_REALTIME, &now);
	for (unsigned i = 0; i < 300; i++) {
		assert_int_equal(pcap_next_ex(p, &h, &bytes), 1);
		assert_int_equal(h->len, length(i));
		assert_int_equal(h->caplen, length(i));
		fill(frame, h->len, i);
		assert_memory_equal(bytes, frame, h->len);
		assert_in_range(h->ts.tv_sec, now.tv_sec - 60, now.tv_sec);
		assert_in_range(h->ts.tv_usec, 0, 999999999);
	}
	assert_int_equal(pcap_next_ex(p, &h, &bytes), PCAP_ERROR_BREAK);
	pcap_close(p);
	assert_int_equal(x->wire->tx_frames, 300);
	assert_int_equal(x->wire->tx_lost, 0);
	bench_close(&b);
}

static void a_replay_waits_for_its_start(void **state)
{
	struct bench b;
	struct model_port *x;
	char spec[256], reply[256] = "";

	(void)state;
	write_file(path("in"), DLT_EN10MB, 10, 0);
	snprintf(spec, sizeof(spec), "pcap:%s,start=ctl", path("in"));
	bench_open(&b);
	x = bench_port(&b, "x", spec);
	bench_start(&b);
	assert_int_equal(bench_run(&b), 0);
	assert_true(x->wire->class->fd(x->wire) >= 0);
	assert_int_equal(x->wire->class->ctl(x->wire, "start", reply, sizeof(reply)), 0);
	assert_int_equal(bench_run(&b), 10);
	assert_int_equal(x->wire->class->ctl(x->wire, "start", reply, sizeof(reply)), 0);
	assert_int_equal(bench_run(&b), 10);
	assert_int_equal(x->wire->class->ctl(x->wire, "stat", reply, sizeof(reply)), 0);
	assert_non_null(strstr(reply, "replayed 10\n"));
	assert_non_null(strstr(reply, "over 1\n"));
	assert_int_equal(x->wire->class->ctl(x->wire, "rewind", reply, sizeof(reply)),
			 -EINVAL);
	bench_close(&b);
}

static void a_paced_replay_keeps_its_rate(void **state)
{
	struct bench b;
	char spec[256];
	struct timespec t0, t1;
	double s;

	(void)state;
	write_file(path("in"), DLT_EN10MB, 200, 0);
	snprintf(spec, sizeof(spec), "pcap:%s,rate=2000", path("in"));
	bench_open(&b);
	bench_port(&b, "x", spec);
	bench_start(&b);
	clock_gettime(CLOCK_MONOTONIC, &t0);
	while (b.got[0].n < 200)
		bench_run(&b);
	clock_gettime(CLOCK_MONOTONIC, &t1);
	s = (double)(t1.tv_sec - t0.tv_sec) + (double)(t1.tv_nsec - t0.tv_nsec) / 1e9;
	assert_true(s >=
		    0.099); /* never faster; how much slower is the machine's affair */
	bench_close(&b);
}

static void assert_refused(const char *spec, const char *why)
{
	struct bench b;

	bench_open(&b);
	assert_true(bench_refused(&b, "x", spec) < 0);
	if (!strstr(b.why, why))
		fail_msg("%s: '%s' is not in: %s", spec, why, b.why);
	bench_close(&b);
}

static void bad_files_and_options_are_refused_with_a_reason(void **state)
{
	static const struct {
		const char *spec, *why;
	} row[] = {
		{ "pcap:", "no file" },
		{ "pcap:-", "no file" },
		{ "pcap:-,-", "no file" },
		{ "pcap:/nonexistent/file", "/nonexistent/file" },
		{ "pcap:-,/nonexistent/file", "/nonexistent/file" },
		{ "pcap:-,/dev/null,third", "'third'" },
		{ "pcap:-,/dev/null,rate=0", "'rate=0'" },
		{ "pcap:-,/dev/null,rate=-1", "'rate=-1'" },
		{ "pcap:-,/dev/null,times=1x", "'times=1x'" },
		{ "pcap:-,/dev/null,start=later", "'start=later'" },
		{ "pcap:-,/dev/null,speed=1", "'speed=1'" },
		{ "pcap:/dev/null", "pcap" },
	};
	char spec[256];

	(void)state;
	for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++)
		assert_refused(row[i].spec, row[i].why);
	write_file(path("cut"), DLT_EN10MB, 3, 2);
	snprintf(spec, sizeof(spec), "pcap:%s", path("cut"));
	assert_refused(spec, "frame 1 is cut short");
	write_file(path("raw"), DLT_RAW, 3, 0);
	snprintf(spec, sizeof(spec), "pcap:%s", path("raw"));
	assert_refused(spec, "not Ethernet");
	write_file(path("short"), DLT_EN10MB, 3, 0);
	assert_int_equal(truncate(path("short"), 24 + 2 * 16 + 14 + 50), 0);
	snprintf(spec, sizeof(spec), "pcap:%s", path("short"));
	assert_refused(spec, "after frame 1");
}

/* A limit on the size of files stands for a disk that fills up later. */
static void a_full_disk_is_counted(void **state)
{
	enum { SENT = 100, LEN = 1500 };
	struct rlimit old, small;
	struct bench b;
	struct model_port *x;
	uint8_t frame[LEN];
	char spec[256];

	(void)state;
	snprintf(spec, sizeof(spec), "pcap:-,%s", path("out"));
	bench_open(&b);
	assert_true(bench_refused(&b, "x", "pcap:-,/dev/full") < 0); /* seen at once */
	x = bench_port(&b, "x", spec);
	bench_start(&b);
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
	small = old;
	small.rlim_cur = SENT / 2 * (16 + LEN);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	for (unsigned i = 0; i < SENT; i++) {
		fill(frame, LEN, i);
		bench_send(x, frame, LEN);
	}
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
	assert_int_equal(x->wire->tx_frames + x->wire->tx_lost, SENT);
	/* What was in libc's buffer at that moment had been counted as sent. */
	assert_in_range(x->wire->tx_lost, SENT / 2 - 8, SENT / 2);
	bench_close(&b);
}

static int make_dir(void **state)
{
	(void)state;
	snprintf(dir, sizeof(dir), "/tmp/test_wire_pcap.XXXXXX");
	return mkdtemp(dir) ? 0 : -1;
}

static int remove_dir(void **state)
{
	static const char *const names[] = { "in", "out", "cut", "raw", "short" };

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		unlink(path(names[i]));
	return rmdir(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_frame_of_the_file_arrives_unchanged),
		cmocka_unit_test(every_frame_sent_is_recorded_unchanged),
		cmocka_unit_test(a_replay_waits_for_its_start),
		cmocka_unit_test(a_paced_replay_keeps_its_rate),
		cmocka_unit_test(bad_files_and_options_are_refused_with_a_reason),
		cmocka_unit_test(a_full_disk_is_counted),
	};

	return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
