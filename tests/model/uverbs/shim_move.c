/* uverbs/shim_move.c - private pages become a memfd, at the same address
 *
 * The device process reaches the program's memory by mapping the same pages, and only
 * files can be passed to it. So the bytes are copied to a fresh memfd, which is then
 * mapped over the old pages; other threads that store meanwhile wait (shim_quiet.c).
 *
 * One memfd per range, so that munmap() of the program can free its pages. Its size is the
 * range's and much more (a hole, which costs nothing): realloc() enlarges a mapping in place
 * by mremap(), and the new part must be there.
 * Lost on the way: transparent huge pages, mlock() of just this range, MADV_DONTFORK.
 */
#include "shim.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/memfd.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#define SMALL_PAGE   4096
#define ROOM_TO_GROW (UINT64_C(1) << 40)

static bool huge(const struct shim_vma *v)
{
	return v->page_bytes > SMALL_PAGE;
}

/* Huge pages are taken from the pool now: a shortage must be an error, not a SIGBUS in
 * the middle of the copy. */
static int new_file(const struct shim_vma *v, uint64_t len)
{
	unsigned flags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
	long fd, ret;

	if (huge(v))
		flags |= MFD_HUGETLB | (unsigned)__builtin_ctzll(v->page_bytes)
					       << MFD_HUGE_SHIFT;
	fd = SYS(SYS_memfd_create, "cxmodel", flags);
	if (fd < 0)
		return (int)fd;
	ret = SYS(SYS_ftruncate, fd, huge(v) ? len : len + ROOM_TO_GROW);
	if (!ret && huge(v))
		ret = SYS(SYS_fallocate, fd, 0, 0, len);
	if (!ret)
		return (int)fd;
	SYS(SYS_close, fd);
	return ret == -ENOSPC ? -ENOMEM : (int)ret;
}

/* write() reads the pages in the kernel: a page that cannot be read is EFAULT here. */
static long copy_small(int fd, uint64_t addr, uint64_t len)
{
	for (uint64_t done = 0; done < len;) {
		long n = SYS(SYS_pwrite64, fd, addr + done, len - done, done);

		if (n == -EINTR)
			continue;
		if (n <= 0)
			return n == -ENOSPC || n == 0 ? -ENOMEM : n;
		done += (uint64_t)n;
	}
	return 0;
}

/* Not memcpy(): that may need the dynamic linker, and sanitizers look at what it copies. */
void shim_copy(void *to, const void *from, uint64_t len)
{
	const volatile uint64_t *f = from;
	volatile uint64_t *t = to;

	for (uint64_t i = 0; i < len / sizeof(*t); i++)
		t[i] = f[i];
}

/* hugetlbfs has no write(). */
static long copy_huge(int fd, uint64_t addr, uint64_t len)
{
	long p = SYS(SYS_mmap, NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (shim_sys_failed(p))
		return p;
	shim_copy((void *)p, (void *)(uintptr_t)addr, len);
	SYS(SYS_munmap, p, len);
	return 0;
}

static long replace(const struct shim_vma *v, int fd, uint64_t addr, uint64_t len)
{
	const int flags = MAP_SHARED | MAP_FIXED | MAP_POPULATE;
	long ret = SYS(SYS_mmap, addr, len, v->prot, flags, fd, 0);

	if (ret == -EAGAIN) {
		/* mlockall(): the limit counts the old pages and the new ones. */
		SYS(SYS_munlock, addr, len);
		ret = SYS(SYS_mmap, addr, len, v->prot, flags, fd, 0);
	}
	return shim_sys_failed(ret) ? ret : 0;
}

static long move_quietly(const struct shim_vma *v, int fd, uint64_t addr, uint64_t len)
{
	struct shim_quiet q;
	long ret = shim_quiet_begin(&q, v, addr, len);

	if (ret)
		return ret;
	ret = huge(v) ? copy_huge(fd, addr, len) : copy_small(fd, addr, len);
	if (!ret)
		ret = replace(v, fd, addr, len);
	shim_quiet_end(&q, !ret);
	return ret;
}

int shim_move(const struct shim_vma *v, uint64_t addr, uint64_t len,
	      struct shim_range *ret)
{
	int fd = new_file(v, len);
	struct stat st = { 0 };
	long rc;

	if (fd < 0)
		return fd;
	rc = move_quietly(v, fd, addr, len);
	if (!rc)
		rc = SYS(SYS_fstat, fd, &st);
	if (rc) {
		SYS(SYS_close, fd);
		return (int)rc;
	}
	/* The device must not meet a hole behind its mapping. */
	SYS(SYS_fcntl, fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW);
	*ret = (struct shim_range){
		.addr = addr,
		.len = len,
		.inode = st.st_ino,
		.page_bytes = v->page_bytes,
		.dev_major = major(st.st_dev),
		.dev_minor = minor(st.st_dev),
		.fd = shim_fd_hide(fd),
	};
	return 0;
}

void shim_move_failed(const struct shim_vma *v, uint64_t addr, uint64_t len, int why)
{
	const char *what_to_do = "";

	if (why == -EMFILE)
		what_to_do =
			"; each registered range takes a descriptor, raise `ulimit -n`";
	else if (why == -EAGAIN)
		what_to_do = "; raise `ulimit -l`";
	else if (why == -ENOMEM && huge(v))
		what_to_do =
			"; private huge pages take as many free ones for a moment, raise "
			"vm.nr_hugepages or map them shared";
	shim_log("memory 0x%llx + 0x%llx cannot be shared with the device: %s%s",
		 (unsigned long long)addr, (unsigned long long)len, shim_strerror(why),
		 what_to_do);
}
