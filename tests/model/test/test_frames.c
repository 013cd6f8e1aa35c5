/* test/test_frames.c - what a routed test frame must be: next hops of destinations, legs */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../wire/frames.h"

static const uint8_t own[6] = { 2, 0, 0, 0, 0xcc, 1 }, hop[6] = { 2, 0, 0, 1, 0, 7 },
		     usual[6] = { 2, 0, 0, 1, 0, 1 };

/* A list of destinations, of which the second has a next hop of its own. */
static void list(char path[32], const char *text)
{
	int fd;

	snprintf(path, 32, "/tmp/frames.XXXXXX");
	fd = mkstemp(path);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
}

static struct frames *open_routed(const char *path, unsigned legs)
{
	struct frames_conf conf = frames_defaults(3, own);
	struct frames *f;
	char why[128];

	conf.check = FRAMES_ROUTED;
	conf.legs = legs;
	memcpy(conf.routed_dmac, usual, 6);
	memcpy(conf.routed_smac, own, 6);
	snprintf(conf.dst_file, sizeof(conf.dst_file), "%s", path);
	assert_return_code(frames_new(&conf, why, sizeof(why), &f), 0);
	return f;
}

/* Frame @n as a router would send it to @dmac: RFC 1624's other way, header summed anew. */
static enum frames_verdict route(const struct frames *f, uint32_t n,
				 const uint8_t dmac[6])
{
	uint8_t frame[FRAMES_LEN_MAX];
	uint32_t len = frames_build(f, n, frame), sum = 0, is, at;
	enum frames_verdict verdict;

	memcpy(frame, dmac, 6);
	memcpy(frame + 6, own, 6);
	frame[14 + 8]--;
	frame[14 + 10] = frame[14 + 11] = 0;
	for (int i = 14; i < 34; i += 2)
		sum += (uint32_t)frame[i] << 8 | frame[i + 1];
	sum = (sum & 0xffff) + (sum >> 16);
	sum = ~((sum & 0xffff) + (sum >> 16));
	frame[14 + 10] = (uint8_t)(sum >> 8);
	frame[14 + 11] = (uint8_t)sum;
	verdict = frames_verify(f, frame, len, &is, &at);
	assert_int_equal(is, n);
	if (verdict == FRAMES_BAD)
		assert_int_equal(at, 5); /* it is the address */
	return verdict;
}

static void test_next_hop_of_a_destination(void **state)
{
	struct frames *f;
	char path[32];

	(void)state;
	list(path, "198.51.100.1\n198.51.100.2 02:00:00:01:00:07\n");
	f = open_routed(path, 0);
	assert_int_equal(route(f, 0, usual), FRAMES_GOOD);
	assert_int_equal(route(f, 0, hop), FRAMES_BAD);
	assert_int_equal(route(f, 1, hop), FRAMES_GOOD);
	assert_int_equal(route(f, 1, usual), FRAMES_BAD);
	assert_int_equal(route(f, 2, usual), FRAMES_GOOD);
	frames_free(f);
	unlink(path);
}

static void test_any_of_so_many_legs(void **state)
{
	struct frames *f = open_routed("", 7);
	const uint8_t before[6] = { 2, 0, 0, 1, 0, 0 }, beyond[6] = { 2, 0, 0, 1, 0, 8 };

	(void)state;
	assert_int_equal(route(f, 5, usual), FRAMES_GOOD);
	assert_int_equal(route(f, 5, hop), FRAMES_GOOD);
	assert_int_equal(route(f, 5, before), FRAMES_BAD);
	assert_int_equal(route(f, 5, beyond), FRAMES_BAD);
	frames_free(f);
}

static void test_a_line_that_is_wrong(void **state)
{
	static const char *const lines[] = { "198.51.100.256\n", "198.51.100.1 02:00\n",
					     "198.51.100.1 \n" };
	struct frames_conf conf = frames_defaults(3, own);
	struct frames *f;
	char why[256], path[32];

	(void)state;
	for (unsigned i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		list(path, lines[i]);
		snprintf(conf.dst_file, sizeof(conf.dst_file), "%s", path);
		assert_int_equal(frames_new(&conf, why, sizeof(why), &f), -22);
		assert_non_null(strstr(why, ":1: \"198.51.100."));
		unlink(path);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_next_hop_of_a_destination),
		cmocka_unit_test(test_any_of_so_many_legs),
		cmocka_unit_test(test_a_line_that_is_wrong),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
