/* cxmodel/dir.c - the directory of an instance
 *
 *   lock         pid of the owner, who holds flock() on it: live or killed is not guessed
 *   ctl.sock     control.c          uverbs.sock   ../uverbs/server.c
 *   sys, dev     ../uverbs/sysfs.c
 *
 * A directory that holds anything else and has no lock file is not ours.
 */
#define _GNU_SOURCE 1
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "inside.h"

/* sun_path holds 108 bytes. */
_Static_assert(sizeof(((struct model *)0)->dir) - 1 + sizeof("/uverbs.sock") <= 108,
	       "a socket's path must fit");

static const char *const leftovers[] = { "ctl.sock", "ctl.sock.n", "uverbs.sock" };

static int make(struct model *m, char *why, size_t why_size)
{
	char *abs = NULL;
	int r = 0;

	if (mkdir(m->dir, 0755) == 0 || errno == EEXIST)
		abs = realpath(m->dir, NULL);
	if (!abs) {
		r = -errno;
		snprintf(why, why_size, "-d %s: %s; give a folder whose parent exists",
			 m->dir, strerror(-r));
	} else if (snprintf(m->dir, sizeof(m->dir), "%s", abs) >= (int)sizeof(m->dir)) {
		r = -ENAMETOOLONG;
		snprintf(why, why_size,
			 "-d %s: path is over %zu bytes long; use a shorter one", abs,
			 sizeof(m->dir) - 1);
	}
	free(abs);
	return r;
}

static bool foreign(const char *dir)
{
	DIR *d = opendir(dir);
	bool lock = false, other = false;
	struct dirent *e;

	if (!d)
		return true;
	while ((e = readdir(d))) {
		if (!strcmp(e->d_name, "lock"))
			lock = true;
		else if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
			other = true;
	}
	closedir(d);
	return other && !lock;
}

/* The file may have been removed between open and flock by an owner who ended just then. */
static bool still_there(int fd, const char *path)
{
	struct stat a, b;

	return fstat(fd, &a) == 0 && stat(path, &b) == 0 && a.st_dev == b.st_dev &&
	       a.st_ino == b.st_ino;
}

static int lock(const char *path, pid_t *owner)
{
	char text[32] = "";

	for (;;) {
		int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
		int r = 0;

		if (fd < 0)
			return -errno;
		if (flock(fd, LOCK_EX | LOCK_NB) < 0)
			r = errno == EWOULDBLOCK ? -EADDRINUSE : -errno;
		if (!r && !still_there(fd, path)) {
			close(fd);
			continue;
		}
		*owner = pread(fd, text, sizeof(text) - 1, 0) > 0 ? atoi(text) : 0;
		if (!r)
			return fd;
		close(fd);
		return r;
	}
}

static void say(int r, const struct model *m, pid_t owner, char *why, size_t why_size)
{
	if (r == -EADDRINUSE)
		snprintf(why, why_size,
			 "-d %s: in use by process %d; stop that one with "
			 "`cxmodel ctl %s stop`, or use another folder",
			 m->dir, (int)owner, m->dir);
	else
		snprintf(why, why_size, "-d %s: %s; give a folder you may write to",
			 m->dir, strerror(-r));
}

static void clean(const struct model *m)
{
	char path[160];

	for (size_t i = 0; i < sizeof(leftovers) / sizeof(leftovers[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", m->dir, leftovers[i]);
		unlink(path);
	}
	sysfs_remove(m);
}

int dir_take(struct model *m, char *why, size_t why_size)
{
	char path[160];
	pid_t owner = 0;
	int r;

	m->lock_fd = -1;
	r = make(m, why, why_size);
	if (r < 0)
		return r;
	if (foreign(m->dir)) {
		snprintf(why, why_size,
			 "-d %s: holds files that are not a device's; "
			 "give an empty or a new folder",
			 m->dir);
		return -ENOTEMPTY;
	}
	snprintf(path, sizeof(path), "%s/lock", m->dir);
	r = lock(path, &owner);
	if (r < 0) {
		say(r, m, owner, why, why_size);
		return r;
	}
	m->lock_fd = r;
	if (owner)
		model_log(m, "%s: taken over from process %d, which did not stop orderly",
			  m->dir, (int)owner);
	clean(m);
	if (ftruncate(m->lock_fd, 0) == 0)
		dprintf(m->lock_fd, "%d\n", (int)getpid());
	return 0;
}

void dir_release(struct model *m)
{
	char path[160];

	if (m->lock_fd < 0)
		return;
	clean(m);
	snprintf(path, sizeof(path), "%s/lock", m->dir);
	unlink(path);
	/* Fails if somebody put a file of his own there; then it is his. */
	rmdir(m->dir);
	close(m->lock_fd);
	m->lock_fd = -1;
}
