/* tests/test.h - what unit tests share, on top of cmocka
 *
 * Random numbers come from one seed a program. It is printed at the start, so a
 * failure is repeated by TEST_SEED=that. Draw one statement at a time: the order in
 * which arguments are evaluated differs between compilers.
 */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

uint64_t test_rand(void);
/* 0 .. n - 1 */
static inline uint32_t test_below(uint32_t n)
{
	return (uint32_t)(test_rand() % n);
}
void test_fill(void *p, size_t bytes);
/* Appends @more to what is in @text; the test fails where it does not fit. */
void test_append(char *text, size_t size, const char *more);
