/* uverbs/shim_fork.c - a child gets private copies of what was private
 *
 * Moved ranges are shared mappings, which fork() does not copy. So before the parent goes
 * on, the child replaces each by a copy of its own; the device keeps the parent's pages,
 * as it does with pinned pages on a real machine. Memory that the program itself shares
 * stays shared.
 *
 *   fork()     here: moves to a spare stack, because the stack may be a moved range
 *   prepare    takes the memory lock, makes a pipe
 *   child      copies, forgets its descriptors, closes the pipe
 *   parent     waits for the pipe
 *
 * Limits. The copy is made just after the fork: what another thread of the parent stores in
 * these milliseconds may be in it. _Fork() and raw clone() are not seen. A fork inside libc
 * (daemon(), forkpty()) cannot change the stack and stops the program if that is a moved
 * range. posix_spawn(), system(), popen() and vfork() share all memory and need nothing.
 */
#include "shim.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static int done[2]; /* pipe; valid when `copying` */
static bool copying;
static sigset_t mask;

/* ---- prepare ---- */

/* Frames of the calls to come are some KiB below, the caller's above. */
static bool stack_is_moved(void)
{
	struct shim_maps maps;
	struct shim_vma v;
	uint64_t here = (uintptr_t)&v, at = here - 32768;
	bool moved = false;

	if (shim_maps_open(&maps))
		return false;
	while (!moved && at < here + 4096 && !shim_maps_next(&maps, at, &v)) {
		moved = v.start < here + 4096 && shim_mem_of(&v);
		at = v.end;
	}
	shim_maps_close(&maps);
	return moved;
}

static void prepare(void)
{
	shim_mem_lock(&mask);
	copying = false;
	if (!shim_ranges.n)
		return;
	if (stack_is_moved()) {
		shim_log(
			"fork() inside libc while a buffer on this stack is registered: parent "
			"and child would share the stack. Keep registered buffers off the stack");
		abort();
	}
	copying = !SYS(SYS_pipe2, done, O_CLOEXEC);
	if (!copying)
		shim_log(
			"fork: no descriptor for a pipe; the child shares registered memory");
}

static void parent(void)
{
	char byte;

	if (copying) {
		SYS(SYS_close, done[1]);
		while (SYS(SYS_read, done[0], &byte, 1) == -EINTR)
			;
		SYS(SYS_close, done[0]);
	}
	shim_mem_unlock(&mask);
}

/* ---- child ---- */

static long new_pages(const struct shim_vma *v)
{
	int flags = MAP_PRIVATE | MAP_ANONYMOUS, huge = 0;
	uint64_t len = v->end - v->start;
	long p;

	if (v->page_bytes > 4096)
		huge = MAP_HUGETLB | __builtin_ctzll(v->page_bytes) << MAP_HUGE_SHIFT;
	p = SYS(SYS_mmap, NULL, len, PROT_READ | PROT_WRITE, flags | huge | MAP_POPULATE,
		-1, 0);
	/* The pool may be empty; small pages serve a child as well. */
	if (huge && shim_sys_failed(p))
		p = SYS(SYS_mmap, NULL, len, PROT_READ | PROT_WRITE, flags, -1, 0);
	return p;
}

static long own_copy(const struct shim_vma *v)
{
	uint64_t len = v->end - v->start;
	long p = new_pages(v), ret;

	if (shim_sys_failed(p))
		return p;
	if (!(v->prot & PROT_READ))
		SYS(SYS_mprotect, v->start, len, PROT_READ);
	shim_copy((void *)p, (void *)(uintptr_t)v->start, len);
	SYS(SYS_mprotect, p, len, v->prot);
	ret = SYS(SYS_mremap, p, len, len, MREMAP_MAYMOVE | MREMAP_FIXED, v->start);
	if (!shim_sys_failed(ret))
		return 0;
	SYS(SYS_munmap, p, len);
	return ret;
}

/* Better a child that cannot use the page than one that writes to its parent's. */
static void take_away(const struct shim_vma *v, long why)
{
	shim_log(
		"fork: no memory for the child's copy of 0x%llx-0x%llx: %s; it will crash if it "
		"uses it",
		(unsigned long long)v->start, (unsigned long long)v->end,
		shim_strerror(why));
	SYS(SYS_mmap, v->start, v->end - v->start, PROT_NONE,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
}

static void copy_all(void)
{
	struct shim_maps maps;
	struct shim_vma v;

	if (shim_maps_open(&maps))
		return;
	for (uint64_t at = 0; !shim_maps_next(&maps, at, &v); at = v.end) {
		long ret = shim_mem_of(&v) ? own_copy(&v) : 0;

		if (ret)
			take_away(&v, ret);
	}
	shim_maps_close(&maps);
}

static void child(void)
{
	if (copying) {
		copy_all();
		shim_mem_forget();
		SYS(SYS_close, done[0]);
		SYS(SYS_close, done[1]);
	}
	shim_mem_unlock(&mask);
}

__attribute__((constructor)) static void start(void)
{
	pthread_atfork(prepare, parent, child);
}

/* ---- fork() on a spare stack ---- */

struct job {
	pid_t pid;
	int err;
};

static void run(void *arg)
{
	struct job *job = arg;

	job->pid = SHIM_REAL(fork)();
	job->err = errno;
}

pid_t fork(void)
{
	struct job job = { 0 };
	void *stack;

	if (!__atomic_load_n(&shim_ranges.n, __ATOMIC_RELAXED))
		return SHIM_REAL(fork)();
	stack = shim_stack_new();
	if (!stack) {
		errno = ENOMEM;
		return -1;
	}
	/* Neither process touches the old stack before the child's copy is made. */
	shim_stack_call(stack, run, &job);
	shim_stack_free(stack);
	errno = job.err;
	return job.pid;
}
