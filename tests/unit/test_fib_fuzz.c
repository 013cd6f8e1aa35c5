/* unit/test_fib_fuzz.c - replays the corpus of change sequences, and some new ones
 *
 * The corpus is in fib_corpus/ beside this file. To look for more (clang):
 *
 *   clang -g -O1 -D_GNU_SOURCE -DFUZZ -fsanitize=fuzzer,address,undefined -o fuzz_fib \
 *       tests/unit/test_fib_fuzz.c tests/test.c lib/fib/[a-z]*.c -lurcu-qsbr -lcmocka
 *   ./fuzz_fib -len_control=0 -max_len=300 tests/unit/fib_corpus
 */

#include "fib_fuzz.h"

#include <dirent.h>
#include <libgen.h>
#include <stdio.h>

#ifdef FUZZ

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct model *m;

	if (!m)
		m = fuzz_open();
	fuzz_one(m, data, size);
	return 0;
}

#else

enum { MAX_BYTES = 4096 };

static void replay(struct model *m, const char *path)
{
	uint8_t data[MAX_BYTES];
	FILE *f = fopen(path, "rb");
	size_t n;

	assert_non_null(f);
	n = fread(data, 1, sizeof(data), f);
	fclose(f);
	fuzz_one(m, data, n);
}

static void test_corpus(void **state)
{
	struct model *m = fuzz_open();
	char dir[512], path[1024];
	const struct dirent *e;
	unsigned n = 0;
	DIR *d;

	(void)state;
	snprintf(path, sizeof(path), "%s", __FILE__);
	snprintf(dir, sizeof(dir), "%s/fib_corpus", dirname(path));
	d = opendir(dir);
	assert_non_null(d);
	while ((e = readdir(d))) {
		if (e->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "%s/%s", dir, e->d_name);
		replay(m, path);
		n++;
	}
	closedir(d);
	model_close(m);
	assert_true(n > 20);
}

static void test_random(void **state)
{
	struct model *m = fuzz_open();
	uint8_t data[600];

	(void)state;
	for (unsigned i = 0; i < 40; i++) {
		test_fill(data, sizeof(data));
		fuzz_one(m, data, 1 + test_below(sizeof(data)));
	}
	model_close(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_corpus),
		cmocka_unit_test(test_random),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

#endif
