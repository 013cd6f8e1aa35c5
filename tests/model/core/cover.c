/* core/cover.c - which commands, fields and refusals were ever exercised
 *
 * One set of strings for the whole process, kept to its end: it is the test
 * suite's closing figure and belongs to no device. A lock, because devices that
 * no wire joins may run in different threads.
 */
#include "dev.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

static struct {
	atomic_flag lock;
	char **slot; /* open addressing, a power of two */
	size_t size, n;
} set = { .lock = ATOMIC_FLAG_INIT };

static void lock(void)
{
	while (atomic_flag_test_and_set_explicit(&set.lock, memory_order_acquire))
		;
}

static void unlock(void)
{
	atomic_flag_clear_explicit(&set.lock, memory_order_release);
}

static uint64_t fnv(uint64_t hash, const char *s)
{
	while (*s)
		hash = (hash ^ (uint8_t)*s++) * UINT64_C(0x100000001b3);
	return hash;
}

/* FNV-1a of "kind what". */
static uint64_t hash_of(const char *kind, const char *what)
{
	return fnv(fnv(fnv(UINT64_C(0xcbf29ce484222325), kind), " "), what);
}

static bool same(const char *text, const char *kind, const char *what)
{
	size_t n = strlen(kind);

	return !strncmp(text, kind, n) && text[n] == ' ' && !strcmp(text + n + 1, what);
}

/* The slot that holds the pair, or the empty one where it belongs. */
static char **find(char **slot, size_t size, const char *kind, const char *what)
{
	size_t i = hash_of(kind, what) & (size - 1);

	while (slot[i] && !same(slot[i], kind, what))
		i = (i + 1) & (size - 1);
	return &slot[i];
}

static size_t free_slot(char **slot, size_t size, const char *text)
{
	size_t i = fnv(UINT64_C(0xcbf29ce484222325), text) & (size - 1);

	while (slot[i])
		i = (i + 1) & (size - 1);
	return i;
}

static bool grow(void)
{
	size_t size = set.size ? set.size * 2 : 1024;
	char **slot = calloc(size, sizeof(*slot));

	if (!slot)
		return false;
	for (size_t i = 0; i < set.size; i++)
		if (set.slot[i])
			slot[free_slot(slot, size, set.slot[i])] = set.slot[i];
	free(set.slot);
	set.slot = slot;
	set.size = size;
	return true;
}

static char *join(const char *kind, const char *what)
{
	size_t size = strlen(kind) + strlen(what) + 2;
	char *text = malloc(size);

	if (text)
		snprintf(text, size, "%s %s", kind, what);
	return text;
}

/* Out of memory: the figure is short by one, nothing else. */
void cx_cover(const char *kind, const char *what)
{
	char **at;

	lock();
	if (set.n * 2 < set.size || grow()) {
		at = find(set.slot, set.size, kind, what);
		if (!*at)
			set.n += (*at = join(kind, what)) != NULL;
	}
	unlock();
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* A sorted copy of the pointers; the strings stay. NULL when out of memory. */
static char **snapshot(size_t *n)
{
	char **list;

	*n = 0;
	lock();
	list = calloc(set.n + 1, sizeof(*list));
	for (size_t i = 0; list && i < set.size; i++)
		if (set.slot[i])
			list[(*n)++] = set.slot[i];
	unlock();
	return list;
}

void cx_coverage(void (*line)(void *arg, const char *text), void *arg)
{
	size_t n;
	char **list = snapshot(&n);

	if (!list)
		return;
	qsort(list, n, sizeof(*list), by_text);
	for (size_t i = 0; i < n; i++)
		line(arg, list[i]);
	free(list);
}
