/* uverbs/shim_mem.c - every page of a range the device asks for, by descriptor
 *
 * NEED_MEM names a range. For each mapping of the program that holds a part of it, one
 * MEM with a descriptor goes back, whole pages in address order; then the last one with
 * the result. Shared mappings have a file (shim_file.c), private ones get one (shim_move.c).
 *
 * Nothing about mappings is remembered but which memfds are ours; a range that overlaps an
 * older registration meets shared mappings of such memfds and reuses them.
 *
 * The work runs on a spare stack: the range may lie on the caller's own.
 */
#include "shim.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>

struct shim_ranges shim_ranges;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *spare_stack;

/* A signal handler must not fork or register while this thread holds the lock. */
void shim_mem_lock(sigset_t *old)
{
	sigset_t all;

	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, old);
	pthread_mutex_lock(&lock);
}

void shim_mem_unlock(const sigset_t *old)
{
	pthread_mutex_unlock(&lock);
	pthread_sigmask(SIG_SETMASK, old, NULL);
}

/* ---- the memfds ---- */

struct shim_range *shim_mem_of(const struct shim_vma *v)
{
	if (!v->shared)
		return NULL;
	for (unsigned i = 0; i < shim_ranges.n; i++) {
		struct shim_range *r = &shim_ranges.r[i];

		if (r->inode == v->inode && r->dev_major == v->dev_major &&
		    r->dev_minor == v->dev_minor)
			return r;
	}
	return NULL;
}

static int make_room(struct shim_ranges *l)
{
	unsigned size = l->size ? 2 * l->size : 128;
	long p;

	if (l->n < l->size)
		return 0;
	p = l->r ? SYS(SYS_mremap, l->r, l->size * sizeof(*l->r), size * sizeof(*l->r),
		       MREMAP_MAYMOVE)
		 : SYS(SYS_mmap, NULL, size * sizeof(*l->r), PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (shim_sys_failed(p))
		return (int)p;
	l->r = (void *)p;
	l->size = size;
	return 0;
}

/* The descriptor may have become another file of the program's meanwhile, by dup2(). */
static bool still_ours(const struct shim_range *r)
{
	return shim_file_is(r->fd, r->dev_major, r->dev_minor, r->inode);
}

static void drop(struct shim_range *r)
{
	if (still_ours(r))
		SYS(SYS_close, r->fd);
}

void shim_mem_forget(void)
{
	for (unsigned i = 0; i < shim_ranges.n; i++)
		drop(&shim_ranges.r[i]);
	__atomic_store_n(&shim_ranges.n, 0, __ATOMIC_RELAXED);
}

/* Closes each memfd that no mapping shows any more: its pages are freed. */
static void collect(struct shim_maps *maps)
{
	struct shim_ranges *l = &shim_ranges;
	struct shim_vma v;
	unsigned kept = 0;

	for (unsigned i = 0; i < l->n; i++)
		l->r[i].seen = false;
	for (uint64_t at = 0; !shim_maps_next(maps, at, &v); at = v.end) {
		struct shim_range *r = shim_mem_of(&v);

		if (r)
			r->seen = true;
	}
	for (unsigned i = 0; i < l->n; i++) {
		if (l->r[i].seen)
			l->r[kept++] = l->r[i];
		else
			drop(&l->r[i]);
	}
	shim_trace("memory: %u of %u memfds still mapped", kept, l->n);
	__atomic_store_n(&l->n, kept, __ATOMIC_RELAXED);
}

int shim_mem_fd(int first, int last)
{
	sigset_t old;
	int fd = -1;

	shim_mem_lock(&old);
	for (unsigned i = 0; i < shim_ranges.n; i++) {
		const struct shim_range *r = &shim_ranges.r[i];

		if (r->fd >= first && r->fd <= last && still_ours(r))
			fd = last = r->fd;
	}
	shim_mem_unlock(&old);
	return fd;
}

/* Nobody tells us of an munmap() (free() calls it inside libc), so this looks now and then:
 * after so many calls, new memfds or new bytes. What a program unmaps after its last call is
 * freed at its end. */
static struct {
	unsigned calls, moves;
	uint64_t bytes;
} since;

void shim_mem_after_call(void)
{
	struct shim_maps maps;
	sigset_t old;

	if (!__atomic_load_n(&shim_ranges.n, __ATOMIC_RELAXED))
		return;
	if (__atomic_add_fetch(&since.calls, 1, __ATOMIC_RELAXED) < 256 &&
	    __atomic_load_n(&since.moves, __ATOMIC_RELAXED) < 64 &&
	    __atomic_load_n(&since.bytes, __ATOMIC_RELAXED) < UINT64_C(64) << 20)
		return;
	shim_mem_lock(&old);
	if (!shim_maps_open(&maps)) {
		collect(&maps);
		shim_maps_close(&maps);
	}
	__atomic_store_n(&since.calls, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&since.moves, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&since.bytes, 0, __ATOMIC_RELAXED);
	shim_mem_unlock(&old);
}

/* ---- one range ---- */

struct share {
	int sock, rc;
	uint64_t addr, len;
	struct shim_maps maps;
};

/* The thread's own control block (pthread_t, rseq area, robust list) is written by the kernel
 * at any time and waited on by pthread_join(): it cannot change its page. It lies at the upper
 * end of a thread's stack. */
static bool holds_thread(uint64_t start, uint64_t end)
{
	uint64_t self = (uintptr_t)pthread_self();

	return start < self + 2304 && end > (self & ~UINT64_C(4095));
}

static int add_range(const struct shim_vma *v, uint64_t start, uint64_t len)
{
	struct shim_range *r;
	int ret = make_room(&shim_ranges);

	if (ret)
		return ret;
	r = &shim_ranges.r[shim_ranges.n];
	ret = shim_move(v, start, len, r);
	if (ret)
		return ret;
	if (shim_ranges.n == 0 || r->fd < shim_ranges.lowest_fd)
		__atomic_store_n(&shim_ranges.lowest_fd, r->fd, __ATOMIC_RELAXED);
	__atomic_store_n(&shim_ranges.n, shim_ranges.n + 1, __ATOMIC_RELEASE);
	__atomic_add_fetch(&since.moves, 1, __ATOMIC_RELAXED);
	__atomic_add_fetch(&since.bytes, len, __ATOMIC_RELAXED);
	shim_trace("memory 0x%llx + 0x%llx moved to memfd %d", (unsigned long long)start,
		   (unsigned long long)len, r->fd);
	return r->fd;
}

static int make_file(struct share *s, const struct shim_vma *v, uint64_t start,
		     uint64_t len)
{
	int ret;

	if (holds_thread(start, start + len)) {
		shim_log(
			"memory 0x%llx + 0x%llx is on the page of the calling thread's control "
			"block; register memory that is not on the stack of a thread",
			(unsigned long long)start, (unsigned long long)len);
		return -EFAULT;
	}
	ret = add_range(v, start, len);
	if (ret == -ENOMEM || ret == -EMFILE) {
		/* Pages and descriptors of what the program unmapped may be enough. */
		shim_maps_again(&s->maps);
		collect(&s->maps);
		ret = add_range(v, start, len);
	}
	if (ret < 0)
		shim_move_failed(v, start, len, ret);
	return ret;
}

/* The part of the range that lies in mapping @v, which holds @at. */
static int share_piece(struct share *s, const struct shim_vma *v, uint64_t at,
		       uint64_t end, uint64_t *next)
{
	uint64_t mask = v->page_bytes - 1, start = at & ~mask;
	uint64_t stop = ((end < v->end ? end : v->end) + mask) & ~mask;
	struct cxp_mem msg = { .type = CXP_MEM,
			       .page_bytes = (uint32_t)v->page_bytes,
			       .addr = start,
			       .len = stop - start };
	bool close_it = false;
	int fd, ret;

	if (v->shared) {
		msg.offset = v->offset + (start - v->start);
		fd = shim_file(&s->maps, v, &close_it);
	} else {
		fd = make_file(s, v, start, stop - start);
	}
	if (fd < 0)
		return fd;
	ret = (int)shim_send(s->sock, &msg, sizeof(msg), &fd);
	if (close_it)
		SYS(SYS_close, fd);
	*next = stop;
	return ret;
}

static int share_pieces(struct share *s)
{
	uint64_t at = s->addr, end = s->addr + (s->len ? s->len : 1);
	struct shim_vma v;
	int ret = 0;

	if (end < at)
		return -EFAULT;
	while (!ret && at < end) {
		if (shim_maps_next(&s->maps, at, &v) || v.start > at ||
		    !(v.prot & PROT_READ)) {
			shim_log(
				"memory 0x%llx + 0x%llx: nothing readable is mapped at 0x%llx",
				(unsigned long long)s->addr, (unsigned long long)s->len,
				(unsigned long long)at);
			return -EFAULT;
		}
		ret = share_piece(s, &v, at, end, &at);
	}
	return ret;
}

static void share(void *arg)
{
	struct share *s = arg;

	s->rc = share_pieces(s);
}

/* ---- a range on the stack of the main thread ---- */

/* The kernel grows that stack only while its lowest mapping is the stack itself. A moved page
 * must not become the lowest one, so the stack grows by a page before. The kernel touches the
 * page, reading it as a path name: where nothing grows that is EFAULT and no crash. */
static void keep_stack_growing(struct share *s)
{
	struct shim_vma v, below;

	if (shim_maps_next(&s->maps, s->addr, &v) || v.start > s->addr ||
	    s->addr >= v.start + 4096)
		return;
	if (!shim_maps_next(&s->maps, v.start - 1, &below) && below.start == v.start)
		SYS(SYS_faccessat, AT_FDCWD, v.start - 1, 0);
}

/* ---- the service ---- */

static int serve(int sock, const struct cxp_need_mem *need)
{
	/* Not on the stack: its page may be the one that is replaced. */
	static struct share s;
	int ret;

	if (!spare_stack)
		spare_stack = shim_stack_new();
	if (!spare_stack)
		return -ENOMEM;
	s = (struct share){ .sock = sock, .addr = need->addr, .len = need->len };
	ret = shim_maps_open(&s.maps);
	if (ret)
		return ret;
	keep_stack_growing(&s);
	shim_stack_call(spare_stack, share, &s);
	shim_maps_close(&s.maps);
	return s.rc;
}

void shim_mem_serve(int sock, const struct cxp_need_mem *need)
{
	struct cxp_mem last = { .type = CXP_MEM, .last = 1 };
	sigset_t old;

	shim_mem_lock(&old);
	last.rc = -serve(sock, need);
	shim_mem_unlock(&old);
	shim_trace("memory 0x%llx + 0x%llx: %s", (unsigned long long)need->addr,
		   (unsigned long long)need->len, shim_strerror(-last.rc));
	shim_send(sock, &last, sizeof(last), NULL);
}
