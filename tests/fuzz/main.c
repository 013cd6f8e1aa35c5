/* fuzz/main.c - runs a fuzz target on its corpus, and on what a few cuts and flips make of it
 *
 * The inputs that are made depend on TEST_SEED only; the search for new ones is libFuzzer's.
 */

#include "../test.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"

enum { INPUTS_MAX = 256, BYTES_MAX = 4096, ROUNDS = 20000 };

static struct input {
	uint8_t *bytes;
	size_t n;
} input[INPUTS_MAX];
static size_t n_inputs;

static void read_input(const char *name)
{
	char path[512];
	struct input *in = &input[n_inputs++];
	FILE *file;

	assert_true(n_inputs <= INPUTS_MAX);
	snprintf(path, sizeof(path), "%s/%s", FUZZ_CORPUS, name);
	file = fopen(path, "re");
	assert_non_null(file);
	in->bytes = malloc(BYTES_MAX);
	assert_non_null(in->bytes);
	in->n = fread(in->bytes, 1, BYTES_MAX, file);
	fclose(file);
}

static int read_corpus(void **state)
{
	DIR *dir = opendir(FUZZ_CORPUS);
	struct dirent *entry;

	(void)state;
	if (!dir)
		return -1;
	while ((entry = readdir(dir)))
		if (entry->d_name[0] != '.')
			read_input(entry->d_name);
	closedir(dir);
	return n_inputs ? 0 : -1;
}

static int free_corpus(void **state)
{
	(void)state;
	while (n_inputs)
		free(input[--n_inputs].bytes);
	return 0;
}

/* In memory of its exact size, so that a sanitizer sees the first byte too many. */
static void run(const uint8_t *bytes, size_t n)
{
	uint8_t *exact = malloc(n ? n : 1);

	assert_non_null(exact);
	if (n)
		memcpy(exact, bytes, n);
	LLVMFuzzerTestOneInput(exact, n);
	free(exact);
}

static void the_corpus_does_no_harm(void **state)
{
	(void)state;
	run(NULL, 0);
	for (size_t i = 0; i < n_inputs; i++)
		run(input[i].bytes, input[i].n);
}

static void flip(uint8_t *bytes, size_t n)
{
	if (n)
		bytes[test_below((uint32_t)n)] ^= (uint8_t)(1u << test_below(8));
}

static void overwrite(uint8_t *bytes, size_t n)
{
	static const uint8_t odd[] = {
		0, 1, 4, 0x7f, 0x80, 0xff, ' ', '\n', '/', ';', '"'
	};

	if (n)
		bytes[test_below((uint32_t)n)] = odd[test_below(sizeof(odd))];
}

/* The rest of another input from somewhere on. Return: how long it is now. */
static size_t splice(uint8_t *bytes, size_t n)
{
	const struct input *other = &input[test_below((uint32_t)n_inputs)];
	size_t at = test_below((uint32_t)n + 1);
	size_t from = test_below((uint32_t)other->n + 1), len = other->n - from;

	if (len > BYTES_MAX - at)
		len = BYTES_MAX - at;
	memcpy(bytes + at, other->bytes + from, len);
	return at + len;
}

static void what_is_made_of_it_does_no_harm(void **state)
{
	static uint8_t bytes[BYTES_MAX];

	(void)state;
	for (int round = 0; round < ROUNDS; round++) {
		const struct input *in = &input[test_below((uint32_t)n_inputs)];
		size_t n = in->n;

		memcpy(bytes, in->bytes, n);
		for (uint32_t i = test_below(4); i > 0; i--)
			flip(bytes, n);
		for (uint32_t i = test_below(3); i > 0; i--)
			overwrite(bytes, n);
		if (test_below(4) == 0)
			n = splice(bytes, n);
		if (test_below(4) == 0)
			n = test_below((uint32_t)n + 1);
		run(bytes, n);
	}
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(the_corpus_does_no_harm),
	cmocka_unit_test(what_is_made_of_it_does_no_harm),
};

int main(void)
{
	return cmocka_run_group_tests(tests, read_corpus, free_corpus);
}
