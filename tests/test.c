/* tests/test.c - seeded random numbers for unit tests */

#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static uint64_t state;

static uint64_t seed(void)
{
	const char *given = getenv("TEST_SEED");
	uint64_t s = given ? strtoull(given, NULL, 0) : (uint64_t)time(NULL);

	fprintf(stderr, "TEST_SEED=%llu\n", (unsigned long long)s);
	return s ? s : 1;
}

/* splitmix64, S. Vigna (public domain description): any state gives a full period. */
uint64_t test_rand(void)
{
	uint64_t z;

	if (!state)
		state = seed();
	state += UINT64_C(0x9e3779b97f4a7c15);
	z = state;
	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

void test_append(char *text, size_t size, const char *more)
{
	size_t at = strlen(text), n = strlen(more);

	assert_true(at + n < size);
	memcpy(text + at, more, n + 1);
}

void test_fill(void *p, size_t bytes)
{
	uint8_t *at = p;
	uint64_t r;

	for (; bytes; bytes--) {
		r = test_rand();
		*at++ = (uint8_t)r;
	}
}
