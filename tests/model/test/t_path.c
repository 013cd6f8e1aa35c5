/* test/t_path.c - every libc call that takes a path sees the model's /sys and /dev
 *
 *   t_path [NETDEV]    NETDEV: a netdev of the model in this network namespace
 *
 * The truth about the real tree comes by syscall(), which nobody intercepts.
 */
#define _GNU_SOURCE 1
#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "client/check.h"

/* Called by fortified programs and by ones built for glibc before 2.33. */
int __open_2(const char *path, int flags);
int __open64_2(const char *path, int flags);
int __openat_2(int dir, const char *path, int flags);
int __openat64_2(int dir, const char *path, int flags);
char *__realpath_chk(const char *path, char *out, size_t out_size);
ssize_t __readlink_chk(const char *path, char *out, size_t n, size_t out_size);
ssize_t __readlinkat_chk(int dir, const char *path, char *out, size_t n, size_t out_size);
int __xstat(int version, const char *path, struct stat *st);
int __xstat64(int version, const char *path, struct stat64 *st);
int __lxstat(int version, const char *path, struct stat *st);
int __lxstat64(int version, const char *path, struct stat64 *st);
int __fxstatat(int version, int dir, const char *path, struct stat *st, int flags);
int __fxstatat64(int version, int dir, const char *path, struct stat64 *st, int flags);

#define DEV   "/sys/class/infiniband/mlx5_0"
#define FILE_ DEV "/node_type"
#define NODE  "/dev/infiniband/uverbs0"

/* ---- open ---- */

static bool reads_type(int fd)
{
	char text[16] = "";
	bool ok = fd >= 0 && read(fd, text, sizeof(text) - 1) > 0 &&
		  !strcmp(text, "1: CA\n");

	if (fd >= 0)
		close(fd);
	return ok;
}

static bool stream_reads(FILE *f)
{
	char text[16] = "";
	bool ok = f && fgets(text, sizeof(text), f) && !strcmp(text, "1: CA\n");

	if (f)
		fclose(f);
	return ok;
}

static void opens(void)
{
	check(reads_type(open(FILE_, O_RDONLY)), "open");
	check(reads_type(open64(FILE_, O_RDONLY)), "open64");
	check(reads_type(openat(AT_FDCWD, FILE_, O_RDONLY)), "openat");
	check(reads_type(openat64(AT_FDCWD, FILE_, O_RDONLY)), "openat64");
	check(reads_type(__open_2(FILE_, O_RDONLY)), "__open_2");
	check(reads_type(__open64_2(FILE_, O_RDONLY)), "__open64_2");
	check(reads_type(__openat_2(AT_FDCWD, FILE_, O_RDONLY)), "__openat_2");
	check(reads_type(__openat64_2(AT_FDCWD, FILE_, O_RDONLY)), "__openat64_2");
	check(stream_reads(fopen(FILE_, "r")), "fopen");
	check(stream_reads(fopen64(FILE_, "r")), "fopen64");
	check(stream_reads(freopen(FILE_, "r", fopen("/dev/null", "r"))), "freopen");
	check(stream_reads(freopen64(FILE_, "r", fopen("/dev/null", "r"))), "freopen64");
	check(reads_type(
		      open("//sys///class/./infiniband//mlx5_0/./node_type", O_RDONLY)),
	      "a path with doubled slashes and dots");
	check(reads_type(
		      openat(open(DEV, O_RDONLY | O_DIRECTORY), "node_type", O_RDONLY)),
	      "relative to a folder of the tree");
	check(reads_type(open(DEV "/device/infiniband/mlx5_0/node_type", O_RDONLY)),
	      "through links of the tree");
	errno = 0;
	check(open(DEV "/nothing", O_RDONLY) < 0 && errno == ENOENT,
	      "a missing file is ENOENT");
	errno = 0;
	check(open("/sys/class/infinibandx", O_RDONLY) < 0 && errno == ENOENT,
	      "a longer name is another name");
}

/* ---- stat ---- */

#define IS_NODE(st) (S_ISCHR((st).st_mode) && (st).st_rdev == makedev(231, 192))

static void stats(void)
{
	struct stat s;
	struct stat64 s64;
	struct statx sx;

	check(!stat(NODE, &s) && IS_NODE(s), "stat");
	check(!stat64(NODE, &s64) && IS_NODE(s64), "stat64");
	check(!lstat(NODE, &s) && IS_NODE(s), "lstat");
	check(!lstat64(NODE, &s64) && IS_NODE(s64), "lstat64");
	check(!fstatat(AT_FDCWD, NODE, &s, 0) && IS_NODE(s), "fstatat");
	check(!fstatat64(AT_FDCWD, NODE, &s64, 0) && IS_NODE(s64), "fstatat64");
	check(!__xstat(1, NODE, &s) && IS_NODE(s), "__xstat");
	check(!__xstat64(1, NODE, &s64) && IS_NODE(s64), "__xstat64");
	check(!__lxstat(1, NODE, &s) && IS_NODE(s), "__lxstat");
	check(!__lxstat64(1, NODE, &s64) && IS_NODE(s64), "__lxstat64");
	check(!__fxstatat(1, AT_FDCWD, NODE, &s, 0) && IS_NODE(s), "__fxstatat");
	check(!__fxstatat64(1, AT_FDCWD, NODE, &s64, 0) && IS_NODE(s64), "__fxstatat64");
	check(!statx(AT_FDCWD, NODE, 0, STATX_BASIC_STATS, &sx) && S_ISCHR(sx.stx_mode) &&
		      sx.stx_rdev_major == 231 && sx.stx_rdev_minor == 192,
	      "statx");
	check(!stat("/dev/char/231:192", &s) && IS_NODE(s), "by its number");
	check(!stat(FILE_, &s) && S_ISREG(s.st_mode), "a plain file stays one");
	check(!lstat(DEV, &s) && S_ISLNK(s.st_mode), "a link, too");
	check(!stat("/dev/null", &s) && s.st_rdev == makedev(1, 3),
	      "and what is not ours");
}

/* ---- names, links, rights ---- */

static bool is_link(ssize_t n, const char *text)
{
	static const char start[] = "../../devices/pci0000:00/";

	return n > (ssize_t)sizeof(start) && !strncmp(text, start, sizeof(start) - 1);
}

static bool is_device(char *path)
{
	bool ok = path && !strncmp(path, "/sys/devices/pci0000:00/", 24) &&
		  strstr(path, "/infiniband/mlx5_0");

	return ok;
}

static void links(void)
{
	char out[PATH_MAX], *p;
	struct statfs fs;
	struct statvfs vfs;
	int fd = inotify_init1(IN_CLOEXEC);

	check(is_link(readlink(DEV, out, sizeof(out)), out), "readlink");
	check(is_link(readlinkat(AT_FDCWD, DEV, out, sizeof(out)), out), "readlinkat");
	check(is_link(__readlink_chk(DEV, out, sizeof(out), sizeof(out)), out),
	      "__readlink_chk");
	check(is_link(__readlinkat_chk(AT_FDCWD, DEV, out, sizeof(out), sizeof(out)),
		      out),
	      "__readlinkat_chk");
	check(is_device(realpath(DEV, out)), "realpath");
	check(is_device(__realpath_chk(DEV, out, sizeof(out))), "__realpath_chk");
	p = canonicalize_file_name(DEV);
	check(is_device(p), "canonicalize_file_name");
	free(p);
	check(!access(FILE_, R_OK), "access");
	check(!access(NODE, R_OK | W_OK), "access to the node");
	check(!euidaccess(FILE_, R_OK) && !eaccess(FILE_, R_OK), "euidaccess, eaccess");
	check(!faccessat(AT_FDCWD, FILE_, R_OK, 0), "faccessat");
	check(!statfs(FILE_, &fs) && !statvfs(FILE_, &vfs), "statfs, statvfs");
	check(inotify_add_watch(fd, DEV, IN_MODIFY) >= 0, "inotify_add_watch");
	close(fd);
	check(!chdir(DEV) && reads_type(open("node_type", O_RDONLY)), "chdir");
	check(is_device(getcwd(out, sizeof(out))), "getcwd says where");
	check(!chdir("/"), "and back");
}

/* ---- listings ---- */

struct names {
	unsigned n;
	char name[256][256];
};

static void add_name(struct names *l, const char *name)
{
	if (name[0] != '.' && l->n < 256)
		snprintf(l->name[l->n++], sizeof(l->name[0]), "%s", name);
}

static bool has(const struct names *l, const char *name)
{
	for (unsigned i = 0; i < l->n; i++) {
		if (!strcmp(l->name[i], name))
			return true;
	}
	return false;
}

static struct names seen(const char *path)
{
	struct names l = { 0 };
	DIR *d = opendir(path);
	struct dirent *e;

	while (d && (e = readdir(d)))
		add_name(&l, e->d_name);
	if (d)
		closedir(d);
	return l;
}

static struct names real(const char *path)
{
	struct names l = { 0 };
	int fd = (int)syscall(SYS_openat, AT_FDCWD, path,
			      O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *e;

	while (d && (e = readdir(d)))
		add_name(&l, e->d_name);
	if (d)
		closedir(d);
	return l;
}

static unsigned common(const struct names *a, const struct names *b)
{
	unsigned n = 0;

	for (unsigned i = 0; i < a->n; i++)
		n += has(b, a->name[i]);
	return n;
}

static int not_hidden(const struct dirent *e)
{
	return e->d_name[0] != '.';
}

static int not_hidden64(const struct dirent64 *e)
{
	return e->d_name[0] != '.';
}

static void scans(unsigned expected)
{
	static const char dir[] = "/sys/class/infiniband";
	struct dirent **list;
	struct dirent64 **list64;

	check(scandir(dir, &list, not_hidden, alphasort) == (int)expected, "scandir");
	check(scandir64(dir, &list64, not_hidden64, alphasort64) == (int)expected,
	      "scandir64");
	check(scandirat(AT_FDCWD, dir, &list, not_hidden, alphasort) == (int)expected,
	      "scandirat");
	check(scandirat64(AT_FDCWD, dir, &list64, not_hidden64, alphasort64) ==
		      (int)expected,
	      "scandirat64");
}

static void listings(void)
{
	struct names ours = seen("/sys/class/infiniband"), verbs, merged, there;

	check(ours.n >= 1 && has(&ours, "mlx5_0"), "opendir: %u RDMA devices", ours.n);
	scans(ours.n);
	verbs = seen("/sys/class/infiniband_verbs");
	check(verbs.n == ours.n + 1 && has(&verbs, "uverbs0") &&
		      has(&verbs, "abi_version"),
	      "their character devices");
	merged = seen("/sys/bus/pci/devices");
	there = real("/sys/bus/pci/devices");
	check(common(&there, &merged) == there.n && merged.n == there.n + ours.n,
	      "PCI bus: %u of this machine and %u of the model", there.n, ours.n);
	merged = seen("/sys/class/net");
	there = real("/sys/class/net");
	check(there.n > 0 && merged.n == there.n && common(&there, &merged) == there.n,
	      "/sys/class/net is the kernel's");
	merged = seen("/sys/devices");
	there = real("/sys/devices");
	check(there.n > 0 && merged.n == there.n, "so is /sys/devices");
}

static void real_pci(void)
{
	struct names there = real("/sys/bus/pci/devices");
	char path[320], a[16] = "", b[16] = "";
	int fd;

	if (!there.n)
		return; /* a machine without PCI */
	snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s/vendor", there.name[0]);
	fd = open(path, O_RDONLY);
	check(fd >= 0 && read(fd, a, sizeof(a) - 1) > 0,
	      "read the vendor of a real PCI device");
	close(fd);
	fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY);
	check(fd >= 0 && read(fd, b, sizeof(b) - 1) > 0 && !strcmp(a, b),
	      "it is the real one");
	close(fd);
}

/* The netdev's folder is the kernel's, but its `device` leads to the model's card. */
static void netdev(const char *name)
{
	char path[128], out[PATH_MAX], model[PATH_MAX];
	struct stat st;

	snprintf(path, sizeof(path), "/sys/class/net/%s/device", name);
	check(realpath(path, out) && realpath(DEV "/device", model), "device of %s",
	      name);
	check(!strncmp(out, "/sys/devices/pci0000:00/", 24), "is a card of the model: %s",
	      out);
	snprintf(path, sizeof(path), DEV "/device/net/%s/ifindex", name);
	check(!stat(path, &st), "and knows its netdev");
	snprintf(path, sizeof(path), "/sys/class/net/%s/address", name);
	check(!stat(path, &st) && S_ISREG(st.st_mode), "other files of %s are real",
	      name);
}

int main(int argc, char **argv)
{
	opens();
	stats();
	links();
	listings();
	real_pci();
	if (argc > 1)
		netdev(argv[1]);
	return check_end();
}
