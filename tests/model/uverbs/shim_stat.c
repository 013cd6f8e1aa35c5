/* uverbs/shim_stat.c - the uverbs node and its descriptors look like the character device
 *
 * libibverbs accepts a descriptor only when fstat() shows a character device with the
 * announced number (rdma-core, util/open_cdev.c). A context is a socket, the node in the
 * tree an empty file; both are dressed up here. Every other descriptor costs one test
 * of st_mode.
 */
#include "shim.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

/* Entry points of glibc before 2.33, for programs built then. The version number in front
 * names the layout of struct stat, which the 64-bit machines never changed. */
int __xstat(int version, const char *path, struct stat *st);
int __xstat64(int version, const char *path, struct stat64 *st);
int __lxstat(int version, const char *path, struct stat *st);
int __lxstat64(int version, const char *path, struct stat64 *st);
int __fxstat(int version, int fd, struct stat *st);
int __fxstat64(int version, int fd, struct stat64 *st);
int __fxstatat(int version, int dir, const char *path, struct stat *st, int flags);
int __fxstatat64(int version, int dir, const char *path, struct stat64 *st, int flags);

#define NODE_MODE (S_IFCHR | 0666)

static int node_of_fd(int fd, mode_t mode)
{
	unsigned n;

	return S_ISSOCK(mode) && shim_fd_is(fd, SHIM_UVERBS, &n) ? (int)n : -1;
}

static dev_t node_dev(int uverbs)
{
	return makedev(SHIM_UVERBS_MAJOR, SHIM_UVERBS_MINOR + (unsigned)uverbs);
}

/* An empty path with AT_EMPTY_PATH speaks of the descriptor; statx(2). */
static bool means_fd(const char *path, int flags)
{
	return flags & AT_EMPTY_PATH && (!path || path[0] == '\0');
}

#define DRESS(st, node) \
	do { \
		int node_ = (node); \
		if (node_ >= 0) { \
			(st)->st_mode = NODE_MODE; \
			(st)->st_rdev = node_dev(node_); \
		} \
	} while (0)

#define STAT_PATH(name, stat_type) \
	int name(const char *path, struct stat_type *st) \
	{ \
		struct shim_path p; \
		int ret = SHIM_REAL(name)(shim_path(&p, path), st); \
\
		if (!ret) \
			DRESS(st, p.uverbs); \
		return ret; \
	}

STAT_PATH(stat, stat)
STAT_PATH(stat64, stat64)
STAT_PATH(lstat, stat)
STAT_PATH(lstat64, stat64)

#define STAT_FD(name, stat_type) \
	int name(int fd, struct stat_type *st) \
	{ \
		int ret = SHIM_REAL(name)(fd, st); \
\
		if (!ret) \
			DRESS(st, node_of_fd(fd, st->st_mode)); \
		return ret; \
	}

STAT_FD(fstat, stat)
STAT_FD(fstat64, stat64)

#define STAT_AT(name, stat_type) \
	int name(int dir, const char *path, struct stat_type *st, int flags) \
	{ \
		struct shim_path p; \
		int ret = SHIM_REAL(name)(dir, shim_path(&p, path), st, flags); \
\
		if (!ret) \
			DRESS(st, means_fd(path, flags) ? node_of_fd(dir, st->st_mode) \
							: p.uverbs); \
		return ret; \
	}

STAT_AT(fstatat, stat)
STAT_AT(fstatat64, stat64)

int statx(int dir, const char *path, int flags, unsigned mask, struct statx *st)
{
	struct shim_path p;
	int ret = SHIM_REAL(statx)(dir, shim_path(&p, path), flags, mask, st), node;

	if (ret)
		return ret;
	node = means_fd(path, flags) ? node_of_fd(dir, st->stx_mode) : p.uverbs;
	if (node >= 0) {
		st->stx_mode = NODE_MODE;
		st->stx_rdev_major = SHIM_UVERBS_MAJOR;
		st->stx_rdev_minor = SHIM_UVERBS_MINOR + (unsigned)node;
	}
	return 0;
}

#define STAT_OLD(name, params, call) \
	int name params \
	{ \
		(void)version; \
		return call; \
	}

STAT_OLD(__xstat, (int version, const char *path, struct stat *st), stat(path, st))
STAT_OLD(__xstat64, (int version, const char *path, struct stat64 *st), stat64(path, st))
STAT_OLD(__lxstat, (int version, const char *path, struct stat *st), lstat(path, st))
STAT_OLD(__lxstat64, (int version, const char *path, struct stat64 *st),
	 lstat64(path, st))
STAT_OLD(__fxstat, (int version, int fd, struct stat *st), fstat(fd, st))
STAT_OLD(__fxstat64, (int version, int fd, struct stat64 *st), fstat64(fd, st))
STAT_OLD(__fxstatat, (int version, int dir, const char *path, struct stat *st, int flags),
	 fstatat(dir, path, st, flags))
STAT_OLD(__fxstatat64,
	 (int version, int dir, const char *path, struct stat64 *st, int flags),
	 fstatat64(dir, path, st, flags))
