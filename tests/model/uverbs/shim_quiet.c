/* uverbs/shim_quiet.c - keep other threads from storing to a range while it is replaced
 *
 * Between the copy and the replacement a store would be lost. Two ways, first that works:
 *
 *   uffd   userfaultfd write protection: a writer sleeps in the kernel and stores to the
 *          new page. Anonymous and huge pages only. Without CAP_SYS_PTRACE it covers
 *          stores of programs only: a read() of another thread into the range fails with
 *          EFAULT in that moment.
 *   trap   mprotect() and a SIGSEGV handler in which the writer waits. For .data and other
 *          private file pages, and where userfaultfd is forbidden. The same limit for
 *          read(); a thread that blocks SIGSEGV is killed by the store.
 *
 * Not covered: asynchronous I/O (io_uring, O_DIRECT) already under way into the range.
 * From begin() to end() the caller must not touch its own errno or thread variables: they
 * could be in the range.
 */
#include "shim.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <linux/userfaultfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/single_threaded.h>

/* newer than the headers; source: include/uapi/linux/userfaultfd.h of Linux 6.4,
 * include/uapi/asm-generic/mman-common.h of 5.14 */
#define FEATURE_WP_UNPOPULATED (UINT64_C(1) << 13)
#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

/* ---- uffd ---- */

static const struct way {
	unsigned flags;
	uint64_t features;
} ways[] = {
	{ 0, UFFD_FEATURE_WP_HUGETLBFS_SHMEM | FEATURE_WP_UNPOPULATED },
	{ 0, UFFD_FEATURE_WP_HUGETLBFS_SHMEM },
	{ 0, 0 },
	{ UFFD_USER_MODE_ONLY, UFFD_FEATURE_WP_HUGETLBFS_SHMEM | FEATURE_WP_UNPOPULATED },
	{ UFFD_USER_MODE_ONLY, UFFD_FEATURE_WP_HUGETLBFS_SHMEM },
	{ UFFD_USER_MODE_ONLY, 0 },
};

static long protect(const struct way *way, int uffd, uint64_t addr, uint64_t len)
{
	struct uffdio_api api = { .api = UFFD_API,
				  .features = UFFD_FEATURE_PAGEFAULT_FLAG_WP |
					      way->features };
	struct uffdio_register reg = { .range = { addr, len },
				       .mode = UFFDIO_REGISTER_MODE_WP };
	struct uffdio_writeprotect wp = { .range = { addr, len },
					  .mode = UFFDIO_WRITEPROTECT_MODE_WP };
	long ret = SYS(SYS_ioctl, uffd, UFFDIO_API, &api);

	/* A page that is not there yet cannot be protected by an older kernel. */
	if (!ret && !(way->features & FEATURE_WP_UNPOPULATED))
		ret = SYS(SYS_madvise, addr, len, MADV_POPULATE_WRITE);
	if (!ret)
		ret = SYS(SYS_ioctl, uffd, UFFDIO_REGISTER, &reg);
	if (!ret)
		ret = SYS(SYS_ioctl, uffd, UFFDIO_WRITEPROTECT, &wp);
	return ret;
}

static int begin_uffd(struct shim_quiet *q)
{
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		long uffd =
			SYS(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK | (int)ways[i].flags);

		if (uffd < 0)
			continue;
		if (!protect(&ways[i], (int)uffd, q->addr, q->len)) {
			q->uffd = (int)uffd;
			return 0;
		}
		SYS(SYS_close, uffd);
	}
	return -ENOTSUP;
}

static void end_uffd(struct shim_quiet *q, bool replaced)
{
	struct uffdio_range range = { q->addr, q->len };
	struct uffdio_writeprotect off = { .range = range };

	if (!replaced)
		SYS(SYS_ioctl, q->uffd, UFFDIO_WRITEPROTECT, &off);
	/* Wake the writers even if a child of vfork() holds a copy of the descriptor. */
	SYS(SYS_ioctl, q->uffd, UFFDIO_WAKE, &range);
	SYS(SYS_close, q->uffd);
}

/* ---- trap ---- */

static struct {
	uint64_t start, end; /* written under the memory lock, read by the handler */
	bool active;
} window;
static struct sigaction before;

/* May the kernel store at @addr on our behalf? It stores what is there. */
static bool writable(uint64_t addr)
{
	static uint32_t nobody;
	const uint32_t or_nothing =
		(uint32_t)FUTEX_OP(FUTEX_OP_OR, 0, FUTEX_OP_CMP_EQ, 0);

	return !shim_sys_failed(SYS(SYS_futex, &nobody,
				    FUTEX_WAKE_OP | FUTEX_PRIVATE_FLAG, 0, 0,
				    addr & ~UINT64_C(3), or_nothing));
}

/* A writer may arrive here late, when the new page is already in place: then the fault is
 * over. The same address again and again is a fault of another kind (a jump into data). */
static bool over(uint64_t addr)
{
	static uint64_t last;
	static unsigned repeats;

	if (__atomic_exchange_n(&last, addr, __ATOMIC_RELAXED) != addr)
		__atomic_store_n(&repeats, 0, __ATOMIC_RELAXED);
	return __atomic_add_fetch(&repeats, 1, __ATOMIC_RELAXED) < 1000 && writable(addr);
}

static void on_fault(int sig, siginfo_t *info, void *context)
{
	uint64_t addr = (uintptr_t)info->si_addr;

	if (addr >= __atomic_load_n(&window.start, __ATOMIC_ACQUIRE) &&
	    addr < __atomic_load_n(&window.end, __ATOMIC_ACQUIRE)) {
		while (__atomic_load_n(&window.active, __ATOMIC_ACQUIRE))
			SYS(SYS_sched_yield);
	}
	if (info->si_code > 0 && over(addr))
		return;
	if (before.sa_flags & SA_SIGINFO)
		before.sa_sigaction(sig, info, context);
	else if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN)
		before.sa_handler(sig);
	else
		sigaction(SIGSEGV, &before, NULL); /* and fault once more, for good */
}

/* The handler stays: a fault of the last window may be delivered after its end. */
static int install(void)
{
	struct sigaction ours = { .sa_sigaction = on_fault,
				  .sa_flags = SA_SIGINFO | SA_ONSTACK };
	struct sigaction now;

	if (sigaction(SIGSEGV, NULL, &now))
		return -EINVAL;
	if (now.sa_flags & SA_SIGINFO && now.sa_sigaction == on_fault)
		return 0;
	before = now;
	return sigaction(SIGSEGV, &ours, NULL) ? -EINVAL : 0;
}

static int begin_trap(struct shim_quiet *q)
{
	int ret = install();

	if (ret)
		return ret;
	__atomic_store_n(&window.start, q->addr, __ATOMIC_RELEASE);
	__atomic_store_n(&window.end, q->addr + q->len, __ATOMIC_RELEASE);
	__atomic_store_n(&window.active, true, __ATOMIC_RELEASE);
	ret = (int)SYS(SYS_mprotect, q->addr, q->len, PROT_READ);
	q->trapped = true;
	if (ret)
		shim_quiet_end(q, false);
	return ret;
}

static void end_trap(struct shim_quiet *q, bool replaced)
{
	if (!replaced)
		SYS(SYS_mprotect, q->addr, q->len, q->prot);
	__atomic_store_n(&window.active, false, __ATOMIC_RELEASE);
}

/* ---- either ---- */

int shim_quiet_begin(struct shim_quiet *q, const struct shim_vma *v, uint64_t addr,
		     uint64_t len)
{
	*q = (struct shim_quiet){ .addr = addr, .len = len, .prot = v->prot, .uffd = -1 };
	if (__libc_single_threaded || !(v->prot & PROT_WRITE))
		return 0;
	return begin_uffd(q) ? begin_trap(q) : 0;
}

void shim_quiet_end(struct shim_quiet *q, bool replaced)
{
	if (q->uffd >= 0)
		end_uffd(q, replaced);
	if (q->trapped)
		end_trap(q, replaced);
	q->uffd = -1;
	q->trapped = false;
}
