/* test/t_race.c - no store is lost when a page is registered under a writer's hands
 *
 * A thread stores to every word again and again, itself or by read() into the buffer, while
 * the buffer is registered; in the end each word holds what was stored last. Options:
 * client/mem.h.
 */
#define _GNU_SOURCE 1
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "client/mem.h"

/* Large, so that one pass takes longer than what follows the replacement of the pages: a
 * later store to the same word would hide a lost one. */
#define BYTES (16 * MIB)
#define WORDS (BYTES / sizeof(uint64_t))

struct writer {
	volatile uint64_t *word;
	int file; /* -1: plain stores; else the kernel stores for us */
	bool stop;
	uint64_t passes, refused;
	uint64_t last[WORDS]; /* what each word must hold in the end */
};

/* Word n of the file holds n. */
static bool store_by_kernel(struct writer *w, size_t i, uint64_t v)
{
	while (pread(w->file, (void *)&w->word[i], 8, (off_t)(8 * (v % 4096))) != 8) {
		w->refused++;
		if (errno != EFAULT)
			return false;
	}
	return true;
}

static bool stopped(struct writer *w)
{
	return __atomic_load_n(&w->stop, __ATOMIC_ACQUIRE);
}

static bool one_pass(struct writer *w, uint64_t v)
{
	for (size_t i = 0; i < WORDS && !stopped(w); i += w->file < 0 ? 1 : 64) {
		if (w->file < 0)
			w->word[i] = v;
		else if (!store_by_kernel(w, i, v))
			return false;
		w->last[i] = w->file < 0 ? v : v % 4096;
	}
	return true;
}

static void *write_all(void *arg)
{
	struct writer *w = arg;

	for (uint64_t v = 1; !stopped(w); v++) {
		if (!one_pass(w, v))
			return w;
		__atomic_store_n(&w->passes, v, __ATOMIC_RELEASE);
	}
	return NULL;
}

/* Registers while @w stores. Return: words that lost a store. */
static unsigned lost_in_round(struct writer *w, char *p, bool *ok)
{
	struct ibv_mr *mr;
	pthread_t thread;
	unsigned lost = 0;
	void *bad;

	w->word = (void *)p;
	w->stop = false;
	w->passes = 0;
	memset(w->last, 0, sizeof(w->last));
	pthread_create(&thread, NULL, write_all, w);
	while (!__atomic_load_n(&w->passes, __ATOMIC_ACQUIRE))
		sched_yield();
	mr = reg(p, BYTES);
	__atomic_store_n(&w->stop, true, __ATOMIC_RELEASE);
	pthread_join(thread, &bad);
	*ok &= mr && !bad;
	for (size_t i = 0; i < WORDS; i++)
		lost += w->word[i] != w->last[i];
	if (mr)
		ibv_dereg_mr(mr);
	return lost;
}

/* Private memory of BYTES: pages of a file like .data, huge pages, or plain ones. */
static char *map(int file, bool huge)
{
	int flags = MAP_PRIVATE | (file < 0 ? MAP_ANONYMOUS : 0) |
		    (huge ? MAP_HUGETLB : 0);
	char *p = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, flags, file, 0);

	return p == MAP_FAILED ? NULL : p;
}

enum { ROUNDS = SANITIZED ? 3 : 12 };

static void rounds(const char *what, int file, bool huge, int source)
{
	static struct writer w;
	unsigned lost = 0;
	bool ok = true;

	w.file = source;
	w.refused = 0;
	for (unsigned i = 0; i < ROUNDS && ok; i++) {
		char *p = map(file, huge);

		ok = p;
		if (ok)
			lost += lost_in_round(&w, p, &ok);
		munmap(p, BYTES);
	}
	check(ok && lost == 0, "%s: %u words lost in %u rounds", what, lost, ROUNDS);
	/* Without privilege a read() into the range fails for a moment; see shim_quiet.c. */
	if (privileged && file < 0)
		check(w.refused == 0, "%s: %llu reads refused", what,
		      (unsigned long long)w.refused);
}

int main(int argc, char **argv)
{
	static uint64_t numbers[4096];
	FILE *data = tmpfile(), *source = tmpfile();

	for (size_t i = 0; i < 4096; i++)
		numbers[i] = i;
	if (!mem_start(argc, argv))
		return check_end();
	if (check(data && source && !ftruncate(fileno(data), BYTES) &&
			  write(fileno(source), numbers, sizeof(numbers)) ==
				  sizeof(numbers),
		  "files")) {
		rounds("plain memory", -1, false, -1);
		rounds("private file memory", fileno(data), false, -1);
		rounds("read() into plain memory", -1, false, fileno(source));
		rounds("read() into private file memory", fileno(data), false,
		       fileno(source));
		if (want_huge) {
			rounds("huge pages", -1, true, -1);
			rounds("read() into huge pages", -1, true, fileno(source));
		}
	}
	return mem_end();
}
