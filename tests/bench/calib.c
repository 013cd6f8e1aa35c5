/* bench/calib.c - is this machine quiet enough to measure on, and what machine is it?
 *
 *   calib CORE   ->   clock_ghz 3.45 l2_ns 4.1 l3_ns 18.0 mem_ns 190.0
 *
 * Three figures that a noisy neighbour moves first: the core's clock (a chain of
 * dependent additions), and the latency of dependent loads over 512 KiB (second
 * level) and 4 MiB (third level). The fourth, over 64 MiB, tells whether large tables
 * are in memory or in a very large third level. Runs under SCHED_FIFO, so that only the host
 * can disturb it. Best of several, since disturbance only ever adds.
 */

#define _GNU_SOURCE 1
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

enum { LINE = 64, HUGE_BYTES = 2 << 20, STEPS = 50000, ADDS = 100000 };

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static double clock_ghz(void)
{
	double best = 0;

	for (int round = 0; round < 20; round++) {
		uint64_t start = now_ns(), x = 1;

		for (int i = 0; i < ADDS; i++) {
			x++;
			__asm__ volatile("" : "+r"(x));
		}
		double ghz = (double)ADDS / (double)(now_ns() - start);

		best = ghz > best ? ghz : best;
	}
	return best;
}

static void *map(size_t bytes)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB, -1, 0);

	if (p != MAP_FAILED)
		return p;
	p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return p == MAP_FAILED ? NULL : p;
}

/* A random cycle through every line: no prefetcher can follow it. */
static void link_cycle(char *base, size_t lines)
{
	uint32_t *order = malloc(lines * sizeof(*order));

	if (!order)
		exit(1);
	for (size_t i = 0; i < lines; i++)
		order[i] = (uint32_t)i;
	for (size_t i = lines - 1; i; i--) {
		size_t j = ((uint64_t)rand() << 16 ^ (uint64_t)rand()) % i;
		uint32_t t = order[i];

		order[i] = order[j];
		order[j] = t;
	}
	for (size_t i = 0; i < lines; i++)
		*(char **)(base + (size_t)order[i] * LINE) =
			base + (size_t)order[(i + 1) % lines] * LINE;
	free(order);
}

static double chase_ns(size_t bytes)
{
	size_t mapped = bytes < HUGE_BYTES ? HUGE_BYTES : bytes;
	char *base = map(mapped);
	double best = 1e9;
	void **p;

	if (!base)
		return -1;
	link_cycle(base, bytes / LINE);
	p = (void **)base;
	for (int round = 0; round < 3; round++) {
		uint64_t start = now_ns();

		for (int i = 0; i < STEPS; i++)
			p = *p;
		__asm__ volatile("" : : "r"(p));
		double ns = (double)(now_ns() - start) / STEPS;

		best = ns < best ? ns : best;
	}
	munmap(base, mapped);
	return best;
}

int main(int argc, char **argv)
{
	struct sched_param fifo = { .sched_priority = 50 };
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(argc > 1 ? atoi(argv[1]) : 1, &set);
	if (sched_setaffinity(0, sizeof(set), &set)) {
		perror("calib: sched_setaffinity");
		return 1;
	}
	if (sched_setscheduler(0, SCHED_FIFO, &fifo))
		fprintf(stderr,
			"calib: no SCHED_FIFO: figures include our own machine's other work\n");
	printf("clock_ghz %.2f l2_ns %.1f l3_ns %.1f ", clock_ghz(), chase_ns(512 << 10),
	       chase_ns(4 << 20));
	printf("mem_ns %.1f\n", chase_ns(64 << 20));
	return 0;
}
