/* test/t_fork.c - registered memory, fork() and stacks
 *
 * A child gets its own copy of registered memory, the parent keeps sharing with the device,
 * and a buffer may lie on a stack. Options: client/mem.h.
 */
#define _GNU_SOURCE 1
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "client/mem.h"

/* ---- fork ---- */

static void wait_byte(int fd)
{
	char c;

	if (read(fd, &c, 1) != 1)
		_exit(77);
}

static void send_byte(int fd)
{
	if (write(fd, "", 1) != 1)
		_exit(78);
}

/* In the child: its pages are its own, both ways; it can register memory itself. */
static int child_of_fork(char *p, char *heap_block, int from_parent, int to_parent)
{
	struct ibv_mr *mr;
	uint64_t bytes;
	int lowest;

	p[0] = 22;
	snprintf(heap_block, 100, "child");
	send_byte(to_parent);
	wait_byte(from_parent); /* the parent has stored, too */
	if (p[0] != 22 || strcmp(heap_block, "child") != 0 || p[PAGE] != 33)
		return 1;
	if (kept(&bytes, &lowest))
		return 2;
	mr = reg(p, PAGE);
	if (!mr || p[0] != 22)
		return 3;
	return ibv_dereg_mr(mr) ? 4 : 0;
}

static void forks(void)
{
	char *p = pages(4), *block = malloc(100);
	struct ibv_mr *mr = reg(p, 4 * PAGE), *mr2 = reg(block, 100);
	int down[2] = { -1, -1 }, up[2] = { -1, -1 };
	pid_t pid;

	check(!pipe(down) && !pipe(up), "pipes");
	p[0] = 11;
	p[PAGE] = 33;
	snprintf(block, 100, "parent");
	pid = fork();
	if (!pid)
		_exit(child_of_fork(p, block, down[0], up[1]));
	wait_byte(up[0]);
	check(p[0] == 11 && !strcmp(block, "parent"),
	      "the child's stores stay in the child");
	p[0] = 44;
	p[PAGE] = 55;
	send_byte(down[1]);
	check(status_of(pid) == 0,
	      "the parent's stores stay in the parent; the child registers");
	check(same(mr, p) && same(mr2, block), "the parent still shares with the device");
	for (int i = 0; i < 2; i++) {
		close(down[i]);
		close(up[i]);
	}
	ibv_dereg_mr(mr);
	ibv_dereg_mr(mr2);
	munmap(p, 4 * PAGE);
	free(block);
}

static void fork_of_fork(void)
{
	char *p = pages(1);
	struct ibv_mr *mr = reg(p, PAGE);
	pid_t pid;

	p[0] = 1;
	pid = fork();
	if (!pid) {
		p[0] = 2;
		pid = fork();
		if (!pid) {
			p[0] = 3;
			_exit(0);
		}
		_exit(status_of(pid) || p[0] != 2);
	}
	check(status_of(pid) == 0 && p[0] == 1, "a grandchild has its own copy");
	ibv_dereg_mr(mr);
	munmap(p, PAGE);
}

/* The frame that fork() returns to is in the registered page. */
static __attribute__((noinline)) void fork_on_stack(void)
{
	char buf[3000];
	struct ibv_mr *mr = reg(buf, sizeof(buf));
	volatile int local = 1;
	pid_t pid;

	check(mr && same(mr, buf), "a buffer on the stack");
	snprintf(buf, sizeof(buf), "parent");
	pid = fork();
	if (!pid) {
		local = 2;
		snprintf(buf, sizeof(buf), "child");
		_exit(local != 2 || strcmp(buf, "child") != 0);
	}
	check(status_of(pid) == 0 && local == 1 && !strcmp(buf, "parent"),
	      "fork() with the stack registered");
	check(mr && same(mr, buf), "which is still shared with the device");
	check(system("exit 7") == 7 << 8, "system() with the stack registered");
	ibv_dereg_mr(mr);
}

/* daemon() forks inside libc, where the stack cannot be changed. The child registers in a
 * context of its own, so that nothing of it stays in the parent's. */
static __attribute__((noinline)) void child_of_daemon(void)
{
	struct ibv_context *ctx = rig_open_device(0);
	struct ibv_pd *pd = ctx ? ibv_alloc_pd(ctx) : NULL;
	struct rlimit none = { 0 };
	char buf[64];

	setrlimit(RLIMIT_CORE, &none);
	if (!pd || !ibv_reg_mr(pd, buf, sizeof(buf), IBV_ACCESS_LOCAL_WRITE))
		_exit(1);
	_exit(daemon(1, 1) ? 2 : 3);
}

static void daemon_on_stack(void)
{
	pid_t pid = fork();

	if (!pid)
		child_of_daemon();
	check(status_of(pid) == 1000 + SIGABRT,
	      "a fork inside libc on a registered stack is refused");
}

/* ---- stacks ---- */

static __attribute__((noinline)) int deep(unsigned n)
{
	volatile char room[16 * 1024];

	room[0] = (char)n;
	room[sizeof(room) - 1] = (char)n;
	return n ? deep(n - 1) + room[0] : room[sizeof(room) - 1];
}

/* Start of the run of mappings without a gap that holds this frame. */
static void *lowest_of_stack(void)
{
	FILE *f = fopen("/proc/self/maps", "r");
	uintptr_t start, end, run = 0, run_end = 0, here = (uintptr_t)&start;
	char line[512];

	while (f && run_end <= here && fgets(line, sizeof(line), f) &&
	       sscanf(line, "%lx-%lx", &start, &end) == 2) {
		if (start != run_end)
			run = start;
		run_end = end;
	}
	if (f)
		fclose(f);
	return run_end > here ? (void *)run : NULL;
}

static void main_stack(void)
{
	char buf[3000], *low;
	struct ibv_mr *mr, *mr2;

	memset(buf, 3, sizeof(buf));
	mr = reg(buf, sizeof(buf));
	check(mr && buf[0] == 3 && buf[2999] == 3 && same(mr, buf),
	      "main thread's stack");
	low = lowest_of_stack();
	mr2 = low ? reg(low, PAGE) : NULL;
	check(mr2 && same(mr2, low), "and its lowest page");
	check(deep(200) != -1, "it still grows");
	ibv_dereg_mr(mr);
	if (mr2)
		ibv_dereg_mr(mr2);
}

static void *on_thread(void *arg)
{
	char far[64 * 1024];
	struct ibv_mr *mr;

	memset(far, 3, sizeof(far));
	/* Its lowest byte shares a page with the frames of the calls below. */
	mr = reg(far, 2000);
	check(mr && far[0] == 3 && far[2000] == 3 && same(mr, far),
	      "another thread's stack");
	if (mr)
		ibv_dereg_mr(mr);
	errno = 0;
	mr = reg((void *)((uintptr_t)pthread_self() & ~(uintptr_t)(PAGE - 1)), 64);
	check(!mr && errno == EFAULT,
	      "the page of the thread's control block is refused");
	return arg;
}

static void thread_stack(void)
{
	pthread_t thread;
	void *ret = NULL;

	check(!pthread_create(&thread, NULL, on_thread, &rig) &&
		      !pthread_join(thread, &ret) && ret == &rig,
	      "a thread with a registered stack ends and is joined");
}

static const struct {
	const char *name;
	void (*run)(void);
} cases[] = {
	{ "fork", forks },
	{ "fork in a child", fork_of_fork },
	{ "stack of main", main_stack },
	{ "stack of a thread", thread_stack },
	{ "fork on a registered stack", fork_on_stack },
	{ "fork inside libc", daemon_on_stack },
};

int main(int argc, char **argv)
{
	if (!mem_start(argc, argv))
		return check_end();
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		printf("-- %s\n", cases[i].name);
		cases[i].run();
	}
	return mem_end();
}
