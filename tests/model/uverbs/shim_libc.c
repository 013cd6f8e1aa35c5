/* uverbs/shim_libc.c - libc calls that take a path; the stat family is in shim_stat.c
 *
 * glibc's own calls of these functions are not seen from here (its fopen() does not go
 * through a preloaded open()), hence the length of the list. Not covered: glob(), ftw(),
 * fts_open() and system calls made without libc; for such programs show the tree by an
 * overlay mount instead.
 */
#include "shim.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/inotify.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <unistd.h>

/* Called by programs built with _FORTIFY_SOURCE; no header declares them otherwise. */
int __open_2(const char *path, int flags);
int __open64_2(const char *path, int flags);
int __openat_2(int dir, const char *path, int flags);
int __openat64_2(int dir, const char *path, int flags);
char *__realpath_chk(const char *path, char *out, size_t out_size);
ssize_t __readlink_chk(const char *path, char *out, size_t n, size_t out_size);
ssize_t __readlinkat_chk(int dir, const char *path, char *out, size_t n, size_t out_size);

/* ---- open: the uverbs node becomes a connection ---- */

static mode_t mode_of(int flags, va_list args)
{
	return flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE ? va_arg(args, mode_t)
								   : 0;
}

#define OPEN(name, params, last, ...) \
	int name params \
	{ \
		struct shim_path p; \
		va_list args; \
		mode_t mode; \
\
		va_start(args, last); \
		mode = mode_of(flags, args); \
		va_end(args); \
		shim_path(&p, path); \
		if (p.uverbs >= 0) \
			return shim_ctx_open((unsigned)p.uverbs, flags); \
		return SHIM_REAL(name)(__VA_ARGS__, mode); \
	}

OPEN(open, (const char *path, int flags, ...), flags, p.use, flags)
OPEN(open64, (const char *path, int flags, ...), flags, p.use, flags)
OPEN(openat, (int dir, const char *path, int flags, ...), flags, dir, p.use, flags)
OPEN(openat64, (int dir, const char *path, int flags, ...), flags, dir, p.use, flags)

#define OPEN_2(name, params, ...) \
	int name params \
	{ \
		struct shim_path p; \
\
		shim_path(&p, path); \
		if (p.uverbs >= 0) \
			return shim_ctx_open((unsigned)p.uverbs, flags); \
		return SHIM_REAL(name)(__VA_ARGS__); \
	}

OPEN_2(__open_2, (const char *path, int flags), p.use, flags)
OPEN_2(__open64_2, (const char *path, int flags), p.use, flags)
OPEN_2(__openat_2, (int dir, const char *path, int flags), dir, p.use, flags)
OPEN_2(__openat64_2, (int dir, const char *path, int flags), dir, p.use, flags)

/* ---- the path is rewritten, nothing else ---- */

#define MAP(path) shim_path(&p, path)
#define WRAP(ret, name, params, ...) \
	ret name params \
	{ \
		struct shim_path p; \
\
		return SHIM_REAL(name)(__VA_ARGS__); \
	}

typedef int dir_filter(const struct dirent *);
typedef int dir_order(const struct dirent **, const struct dirent **);
typedef int dir64_filter(const struct dirent64 *);
typedef int dir64_order(const struct dirent64 **, const struct dirent64 **);

WRAP(FILE *, fopen, (const char *path, const char *mode), MAP(path), mode)
WRAP(FILE *, fopen64, (const char *path, const char *mode), MAP(path), mode)
WRAP(FILE *, freopen, (const char *path, const char *mode, FILE *f), MAP(path), mode, f)
WRAP(FILE *, freopen64, (const char *path, const char *mode, FILE *f), MAP(path), mode, f)
WRAP(DIR *, opendir, (const char *path), MAP(path))
WRAP(int, scandir,
     (const char *path, struct dirent ***list, dir_filter *filter, dir_order *order),
     MAP(path), list, filter, order)
WRAP(int, scandir64,
     (const char *path, struct dirent64 ***list, dir64_filter *filter,
      dir64_order *order),
     MAP(path), list, filter, order)
WRAP(int, scandirat,
     (int dir, const char *path, struct dirent ***list, dir_filter *filter,
      dir_order *order),
     dir, MAP(path), list, filter, order)
WRAP(int, scandirat64,
     (int dir, const char *path, struct dirent64 ***list, dir64_filter *filter,
      dir64_order *order),
     dir, MAP(path), list, filter, order)
WRAP(int, access, (const char *path, int mode), MAP(path), mode)
WRAP(int, euidaccess, (const char *path, int mode), MAP(path), mode)
WRAP(int, eaccess, (const char *path, int mode), MAP(path), mode)
WRAP(int, faccessat, (int dir, const char *path, int mode, int flags), dir, MAP(path),
     mode, flags)
WRAP(ssize_t, readlink, (const char *path, char *out, size_t n), MAP(path), out, n)
WRAP(ssize_t, readlinkat, (int dir, const char *path, char *out, size_t n), dir,
     MAP(path), out, n)
WRAP(ssize_t, __readlink_chk, (const char *path, char *out, size_t n, size_t size),
     MAP(path), out, n, size)
WRAP(ssize_t, __readlinkat_chk,
     (int dir, const char *path, char *out, size_t n, size_t size), dir, MAP(path), out,
     n, size)
WRAP(int, chdir, (const char *path), MAP(path))
WRAP(int, inotify_add_watch, (int fd, const char *path, uint32_t mask), fd, MAP(path),
     mask)
WRAP(int, statfs, (const char *path, struct statfs *st), MAP(path), st)
WRAP(int, statfs64, (const char *path, struct statfs64 *st), MAP(path), st)
WRAP(int, statvfs, (const char *path, struct statvfs *st), MAP(path), st)
WRAP(int, statvfs64, (const char *path, struct statvfs64 *st), MAP(path), st)

/* ---- the answer is a path, too ---- */

#define WRAP_BACK(name, params, ...) \
	char *name params \
	{ \
		struct shim_path p; \
\
		return shim_path_back(SHIM_REAL(name)(__VA_ARGS__)); \
	}

WRAP_BACK(realpath, (const char *path, char *out), MAP(path), out)
WRAP_BACK(__realpath_chk, (const char *path, char *out, size_t size), MAP(path), out,
	  size)
WRAP_BACK(canonicalize_file_name, (const char *path), MAP(path))

char *getcwd(char *out, size_t size)
{
	return shim_path_back(SHIM_REAL(getcwd)(out, size));
}
