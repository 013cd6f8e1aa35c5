/* test/test_fuzz.c - the fuzz targets over their corpora, and over noise; see fuzz.h */
#include "fuzz.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define INPUT_BYTES 8192

typedef int (*target)(const uint8_t *data, size_t size);

/* ---- corpora ---- */

static void replay(target run, const char *path)
{
	static uint8_t b[INPUT_BYTES];
	FILE *file = fopen(path, "rb");
	size_t len;

	assert_non_null(file);
	len = fread(b, 1, sizeof(b), file);
	fclose(file);
	run(b, len);
}

/* Beside this source file; there is no other way for a test to find its data. */
static void corpus(target run, const char *name, unsigned least)
{
	static const char file[] = __FILE__;
	int dir_len = (int)(strrchr(file, '/') - file);
	char dir[512], path[1024];
	struct dirent *e;
	unsigned n = 0;
	DIR *d;

	snprintf(dir, sizeof(dir), "%.*s/%s.in", dir_len, file, name);
	d = opendir(dir);
	assert_non_null(d);
	while ((e = readdir(d))) {
		if (e->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "%s/%s", dir, e->d_name);
		replay(run, path);
		n++;
	}
	closedir(d);
	assert_true(n >= least);
}

/* ---- noise ---- */

static uint32_t next_random(uint32_t *x)
{
	*x ^= *x << 13;
	*x ^= *x >> 17;
	*x ^= *x << 5;
	return *x;
}

static void noise(target run, unsigned rounds)
{
	static uint8_t b[2048];
	uint32_t x = 0x2545f491;

	while (rounds--) {
		uint32_t len = next_random(&x) % sizeof(b);

		for (uint32_t i = 0; i < len; i++)
			b[i] = (uint8_t)(next_random(&x) >> 8);
		run(b, len);
	}
}

static void test_cmd(void **state)
{
	(void)state;
	corpus(fuzz_cmd, "fuzz_cmd", 20);
	noise(fuzz_cmd, 100);
}

static void test_flow(void **state)
{
	(void)state;
	corpus(fuzz_flow, "fuzz_flow", 20);
	noise(fuzz_flow, 100);
}

static void test_queue(void **state)
{
	(void)state;
	corpus(fuzz_queue, "fuzz_queue", 20);
	noise(fuzz_queue, 100);
}

static void test_text(void **state)
{
	(void)state;
	corpus(fuzz_text, "fuzz_text", 10);
	noise(fuzz_text, 50);
}

static void test_parse(void **state)
{
	(void)state;
	corpus(fuzz_parse, "fuzz_parse", 10);
	noise(fuzz_parse, 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cmd),   cmocka_unit_test(test_flow),
		cmocka_unit_test(test_queue), cmocka_unit_test(test_text),
		cmocka_unit_test(test_parse),
	};

	return cmocka_run_group_tests_name("fuzz", tests, NULL, NULL);
}
