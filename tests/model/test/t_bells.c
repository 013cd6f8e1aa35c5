/* test/t_bells.c - counts the doorbells of a running program, each one
 *
 *   t_bells PID      prints "watching pages N threads N"; after a line on standard input
 *                    "doorbells N arms N", since then
 *
 * The device looks at a doorbell page from time to time and sees the last value in each
 * register, so cx_stats.doorbells is less than what was rung. Here the processor counts: a
 * watchpoint (perf_event_open(2), PERF_TYPE_BREAKPOINT) on the registers of each page, in
 * every thread. There are four watchpoints: two pages with both send registers, or one
 * with the one that arms completion queues as well. A hit costs a trap, microseconds to tens of
 * them, so the program is slowed down; its bursts are as they were.
 *
 * Exit status: 0, 1 usage or no such program, 77 no watchpoints on this machine (or not for us).
 */
#define _GNU_SOURCE 1
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { PAGES = 64, THREADS = 256, WATCHES = 4, SKIP = 77 };
enum { REG_ARM = 0x20, REG_SEND = 0x800, REG_SEND_2 = 0x900 };

struct watch {
	uint64_t addr;
	bool arm;
};

struct bells {
	int pid;
	uint64_t page[PAGES];
	unsigned n_pages;
	struct watch watch[WATCHES];
	unsigned n_watches;
	int fd[THREADS * WATCHES];
	unsigned n_fds, n_threads;
};

/* ---- what to watch ---- */

/* The library maps them from a file of this name: ../uverbs/uar.c. */
static int find_pages(struct bells *b)
{
	char path[64], line[512];
	uint64_t from, to;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/maps", b->pid);
	f = fopen(path, "re");
	if (!f)
		return -errno;
	while (fgets(line, sizeof(line), f)) {
		if (!strstr(line, "/memfd:cx-uar") ||
		    sscanf(line, "%" SCNx64 "-%" SCNx64, &from, &to) != 2)
			continue;
		for (; from < to && b->n_pages < PAGES; from += 4096)
			b->page[b->n_pages++] = from;
	}
	fclose(f);
	return 0;
}

static void add_watch(struct bells *b, unsigned page, uint32_t reg)
{
	b->watch[b->n_watches++] = (struct watch){ b->page[page] + reg, reg == REG_ARM };
}

static void choose(struct bells *b)
{
	for (unsigned i = 0; i < b->n_pages && i < 2; i++) {
		add_watch(b, i, REG_SEND);
		add_watch(b, i, REG_SEND_2);
	}
	if (b->n_pages == 1)
		add_watch(b, 0, REG_ARM);
}

/* ---- watching ---- */

static int watch_thread(struct bells *b, int tid, uint64_t addr)
{
	struct perf_event_attr attr = { .type = PERF_TYPE_BREAKPOINT,
					.size = sizeof(attr),
					.bp_type = HW_BREAKPOINT_W,
					.bp_addr = addr,
					.bp_len = HW_BREAKPOINT_LEN_8,
					.exclude_kernel = 1,
					.inherit = 1 };
	long fd = syscall(SYS_perf_event_open, &attr, tid, -1, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd < 0)
		return errno == ESRCH ? 0 : -errno; /* it has just ended */
	b->fd[b->n_fds++] = (int)fd;
	return 0;
}

static int watch_all(struct bells *b)
{
	char path[64];
	struct dirent *e;
	DIR *d;
	int rc = 0;

	snprintf(path, sizeof(path), "/proc/%d/task", b->pid);
	d = opendir(path);
	if (!d)
		return -errno;
	while (!rc && (e = readdir(d))) {
		if (*e->d_name == '.' || b->n_threads == THREADS)
			continue;
		b->n_threads++;
		for (unsigned i = 0; i < b->n_watches && !rc; i++)
			rc = watch_thread(b, atoi(e->d_name), b->watch[i].addr);
	}
	closedir(d);
	return rc;
}

/* Threads that ended meanwhile may be missing, so a watch is found by its turn only when none
 * did: the sum of arms is right as long as all were there at the start. */
static void sum(const struct bells *b, uint64_t *sends, uint64_t *arms)
{
	for (unsigned i = 0; i < b->n_fds; i++) {
		uint64_t n = 0;

		if (read(b->fd[i], &n, sizeof(n)) != sizeof(n))
			continue;
		*(b->watch[i % b->n_watches].arm ? arms : sends) += n;
	}
}

/* No such unit in the processor or kernel, all watchpoints taken, or a container's filter. */
static bool no_watchpoints(int error)
{
	static const int errors[] = { ENOENT, EOPNOTSUPP, EINVAL, ENOSYS,
				      ENOSPC, EBUSY,	  EPERM,  EACCES };

	for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++)
		if (errors[i] == error)
			return true;
	return false;
}

/* Return: exit status. */
static int begin(struct bells *b)
{
	int rc = find_pages(b);

	choose(b);
	if (!rc && b->n_watches)
		rc = watch_all(b);
	if (!rc && b->n_fds)
		return 0;
	fprintf(stderr, "t_bells: %d: %s\n", b->pid,
		rc ? strerror(-rc) : "has no doorbell page");
	return b->n_watches && no_watchpoints(-rc) ? SKIP : 1;
}

int main(int argc, char **argv)
{
	static struct bells b;
	uint64_t sends = 0, arms = 0;
	int rc;

	b.pid = argc == 2 ? atoi(argv[1]) : 0;
	if (b.pid <= 0) {
		fprintf(stderr, "use: t_bells PID\n");
		return 1;
	}
	rc = begin(&b);
	if (rc)
		return rc;
	printf("watching pages %u threads %u\n", b.n_pages, b.n_threads);
	fflush(stdout);
	while ((rc = getchar()) != EOF && rc != '\n')
		;
	sum(&b, &sends, &arms);
	printf("doorbells %" PRIu64 " arms %" PRIu64 "\n", sends, arms);
	return 0;
}
