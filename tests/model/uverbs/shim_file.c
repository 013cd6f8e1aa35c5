/* uverbs/shim_file.c - a descriptor for what a shared mapping maps
 *
 * DPDK's hugepages, shm_open() and the like are shared already; the device only needs the
 * file. Looked for in this order:
 *
 *   memfds of earlier registrations           ours
 *   descriptors the program has open          /proc/self/fd
 *   the mapping itself                        /proc/self/map_files, privileged
 *   the file by its name, if it is still that file
 */
#include "shim.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

bool shim_file_is(int fd, uint32_t dev_major, uint32_t dev_minor, uint64_t inode)
{
	struct stat st = { 0 };

	return !SYS(SYS_fstat, fd, &st) && st.st_ino == inode &&
	       major(st.st_dev) == dev_major && minor(st.st_dev) == dev_minor;
}

static bool is(int fd, const struct shim_vma *v)
{
	return fd >= 0 && shim_file_is(fd, v->dev_major, v->dev_minor, v->inode);
}

/* The mapping may be writable although this descriptor is not. */
static int for_writing(int fd, bool *close_it)
{
	long flags = SYS(SYS_fcntl, fd, F_GETFL);
	char path[32];

	if (flags >= 0 && (flags & O_ACCMODE) == O_RDWR && !(flags & O_PATH))
		return fd;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	*close_it = true;
	return (int)SYS(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC);
}

/* The first descriptor of the program that is this file, -1 = none. */
static int search(const struct shim_vma *v)
{
	char buf[4096] __attribute__((aligned(8))) = "";
	long dir = SYS(SYS_openat, AT_FDCWD, "/proc/self/fd",
		       O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	long n;
	int found = -1;

	if (dir < 0)
		return -1;
	while (found < 0 && (n = SYS(SYS_getdents64, dir, buf, sizeof(buf))) > 0) {
		for (long at = 0; at < n && found < 0;) {
			const struct dirent64 *d = (void *)(buf + at);
			int fd = d->d_name[0] == '.' ? -1 : atoi(d->d_name);

			if (is(fd, v))
				found = fd;
			at += d->d_reclen;
		}
	}
	SYS(SYS_close, dir);
	return found;
}

static int by_program(const struct shim_vma *v, bool *close_it)
{
	static int hint; /* neighbours in memory tend to have neighbouring descriptors */
	int fd = is(hint, v) ? hint : is(hint + 1, v) ? hint + 1 : search(v);

	if (fd < 0)
		return -ENOENT;
	hint = fd;
	return for_writing(fd, close_it);
}

static int by_mapping(const struct shim_vma *v)
{
	char path[80];

	snprintf(path, sizeof(path), "/proc/self/map_files/%lx-%lx",
		 (unsigned long)v->start, (unsigned long)v->end);
	return (int)SYS(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC);
}

static int by_name(struct shim_maps *m, const struct shim_vma *v)
{
	char name[PATH_MAX];
	int fd;

	shim_maps_name(m, v, name, sizeof(name));
	if (name[0] != '/')
		return -ENOENT;
	fd = (int)SYS(SYS_openat, AT_FDCWD, name, O_RDWR | O_CLOEXEC | O_NONBLOCK);
	if (fd >= 0 && !is(fd, v)) {
		SYS(SYS_close, fd);
		return -ENOENT;
	}
	return fd;
}

int shim_file(struct shim_maps *m, const struct shim_vma *v, bool *close_it)
{
	const struct shim_range *r = shim_mem_of(v);
	int fd;

	*close_it = false;
	if (r && is(r->fd, v)) /* a closefrom() of the program may have closed it */
		return r->fd;
	fd = by_program(v, close_it);
	if (fd >= 0)
		return fd;
	*close_it = true;
	fd = by_mapping(v);
	if (fd < 0)
		fd = by_name(m, v);
	if (fd >= 0)
		return fd;
	shim_log(
		"shared memory 0x%llx-0x%llx: no descriptor leads to it. %s",
		(unsigned long long)v->start, (unsigned long long)v->end,
		r ? "The program closed the library's one; do not closefrom() after registering"
		  : "Keep the one it was mapped with open, or run with CAP_SYS_ADMIN");
	return -EFAULT;
}
