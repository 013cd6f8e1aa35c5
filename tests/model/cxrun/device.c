/* cxrun/device.c - join the device of a directory, or start one
 *
 * A device is live when its control socket answers: that socket is the last thing
 * it makes. If somebody else is just starting one in the same directory, ours ends
 * with status 4 (cxmodel/main.c) and we wait for theirs.
 */
#define _GNU_SOURCE 1
#include "cxrun.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <fcntl.h>
#include <time.h>
#include <unistd.h>

enum { WAIT_MS = 20000, IN_USE = 4, READY_FD = 3 };

/* ---- control socket ---- */

static int dial(const char *dir)
{
	struct sockaddr_un sa = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int r = 0;

	if (fd < 0)
		return -errno;
	if (snprintf(sa.sun_path, sizeof(sa.sun_path), "%s/ctl.sock", dir) >=
	    (int)sizeof(sa.sun_path))
		r = -ENAMETOOLONG;
	else if (connect(fd, (struct sockaddr *)&sa, sizeof(sa)) < 0)
		r = -errno;
	if (r < 0)
		close(fd);
	return r < 0 ? r : fd;
}

/* Marks in @found which of the ports the device has. */
static int ask_ports(int fd, const struct run *run, bool found[RUN_PORTS])
{
	FILE *f = fdopen(fd, "r+");
	char line[1024], name[16];

	if (!f)
		return -errno;
	fputs("ports\n", f);
	fflush(f);
	while (fgets(line, sizeof(line), f) && strcmp(line, "ok\n") != 0) {
		if (sscanf(line, "%*s name %15s", name) != 1)
			continue;
		for (unsigned i = 0; i < run->n_ports; i++) {
			size_t len = strcspn(run->port[i], "=");

			found[i] |= strlen(name) == len &&
				    !strncmp(run->port[i], name, len);
		}
	}
	fclose(f);
	return 0;
}

/* Return: 0 joined, -errno: -ECONNREFUSED or -ENOENT when none is live. */
static int join(const struct run *run, const char *dir)
{
	bool found[RUN_PORTS] = { false };
	int fd = dial(dir);

	if (fd < 0)
		return fd;
	if (ask_ports(fd, run, found) < 0) {
		close(fd);
		return -EIO;
	}
	for (unsigned i = 0; i < run->n_ports; i++) {
		if (found[i])
			continue;
		fprintf(stderr,
			"cxrun: --port %s: the live device in %s has no such port; add it "
			"with: cxmodel ctl %s port add %s\n",
			run->port[i], dir, dir, run->port[i]);
		return -ENODEV;
	}
	if (run->verbose)
		fprintf(stderr, "cxrun: joined the device in %s\n", dir);
	return 0;
}

static bool none_live(int r)
{
	return r == -ENOENT || r == -ECONNREFUSED;
}

/* Somebody else's start is under way in @dir: join when its control socket appears. */
static int join_soon(const struct run *run, const char *dir)
{
	int fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	struct pollfd p = { .fd = fd, .events = POLLIN };
	char events[4096];
	int r;

	if (fd < 0 || inotify_add_watch(fd, dir, IN_MOVED_TO | IN_CREATE) < 0)
		return -errno;
	while (none_live(r = join(run, dir))) {
		if (poll(&p, 1, WAIT_MS) <= 0)
			break;
		while (read(fd, events, sizeof(events)) > 0)
			;
	}
	close(fd);
	return r;
}

/* ---- start ---- */

static void exec_device(const struct run *run, const char *dir, const char *bin)
{
	const char *argv[2 * RUN_PORTS + 16] = { bin, "-d", dir, "--ready-fd=3" };
	const struct {
		const char *option, *value;
	} passed[] = { { "--netns", run->netns },
		       { "--poll", run->poll },
		       { "--trace", run->trace },
		       { "--script", run->script } };
	unsigned n = 4;

	for (size_t i = 0; i < sizeof(passed) / sizeof(passed[0]); i++) {
		if (!passed[i].value)
			continue;
		argv[n++] = passed[i].option;
		argv[n++] = passed[i].value;
	}
	if (run->notap)
		argv[n++] = "--notap";
	if (run->verbose)
		argv[n++] = "-v";
	for (unsigned i = 0; i < run->n_ports; i++) {
		argv[n++] = "--port";
		argv[n++] = run->port[i];
	}
	execv(bin, (char *const *)argv);
	fprintf(stderr, "cxrun: %s: %s\n", bin, strerror(errno));
	_exit(STATUS_FAILED);
}

static void be_device(const struct run *run, const char *dir, const char *bin, int ready,
		      pid_t parent)
{
	int null = open("/dev/null", O_RDWR);

	program_unblock_signals();
	/* A Ctrl-C is for the program; the device ends after it. */
	setsid();
	if (!run->keep) {
		prctl(PR_SET_PDEATHSIG, SIGTERM);
		if (getppid() != parent)
			_exit(STATUS_FAILED);
	}
	if (null >= 0) {
		dup2(null, STDIN_FILENO);
		dup2(null, STDOUT_FILENO);
	}
	if (ready == READY_FD)
		fcntl(ready, F_SETFD, 0);
	else
		dup2(ready, READY_FD);
	/* A kept device must not hold the caller's pipes open. */
	close_range(READY_FD + 1, ~0U, 0);
	exec_device(run, dir, bin);
}

/* Return: 0 ready, -EADDRINUSE, or -EIO; the device has said why on stderr. */
static int wait_ready(int fd, pid_t pid)
{
	char text[256];
	int status = 0;
	ssize_t n;

	do
		n = read(fd, text, sizeof(text));
	while (n < 0 && errno == EINTR);
	if (n > 0)
		return 0;
	waitpid(pid, &status, 0);
	return WIFEXITED(status) && WEXITSTATUS(status) == IN_USE ? -EADDRINUSE : -EIO;
}

static int start(const struct run *run, struct device *dev)
{
	char bin[4096];
	pid_t parent = getpid();
	int p[2], r;

	if (beside("cxmodel", "CXMODEL_BIN", bin) < 0)
		return -ENOENT;
	if (pipe2(p, O_CLOEXEC) < 0)
		return -errno;
	dev->pid = fork();
	if (dev->pid == 0)
		be_device(run, dev->dir, bin, p[1], parent);
	close(p[1]);
	r = dev->pid < 0 ? -errno : wait_ready(p[0], dev->pid);
	close(p[0]);
	if (r < 0)
		dev->pid = 0;
	else if (run->verbose)
		fprintf(stderr, "cxrun: started a device in %s, process %d\n", dev->dir,
			(int)dev->pid);
	return r;
}

static int own_dir(struct device *dev)
{
	const char *tmp = getenv("TMPDIR");
	int n = snprintf(dev->dir, sizeof(dev->dir), "%s/cxrun.XXXXXX",
			 tmp && *tmp ? tmp : "/tmp");

	if (n < (int)sizeof(dev->dir) && mkdtemp(dev->dir))
		return 0;
	fprintf(stderr,
		"cxrun: %s: %s; set TMPDIR to a short path of a writable folder\n",
		dev->dir, n < (int)sizeof(dev->dir) ? strerror(errno) : "too long");
	return -ENOENT;
}

static int named_dir(const char *dir, struct device *dev)
{
	size_t len = strlen(dir);

	/* The program may change its working directory. */
	char *cwd = dir[0] == '/' ? strdup("") : getcwd(NULL, 0);
	int n = cwd && len ? snprintf(dev->dir, sizeof(dev->dir), "%s%s%s", cwd,
				      *cwd ? "/" : "", dir)
			   : (int)sizeof(dev->dir);

	free(cwd);
	if (n < (int)sizeof(dev->dir))
		return 0;
	fprintf(stderr,
		"cxrun: --dir %s: not a path of at most 95 bytes; use a shorter one\n",
		dir);
	return -ENAMETOOLONG;
}

int device_open(const struct run *run, struct device *dev)
{
	int r;

	if (!run->dir) {
		r = own_dir(dev);
		r = r < 0 ? r : start(run, dev);
		if (r < 0)
			rmdir(dev->dir);
		return r;
	}
	r = named_dir(run->dir, dev);
	if (r < 0)
		return r;
	r = join(run, dev->dir);
	if (none_live(r))
		r = start(run, dev);
	if (r == -EADDRINUSE)
		r = join_soon(run, dev->dir);
	if (none_live(r))
		fprintf(stderr,
			"cxrun: the device that is starting in %s did not become ready\n",
			dev->dir);
	return r;
}

/* ---- stop ---- */

static bool ended(pid_t pid, int ms)
{
	sigset_t chld;
	struct timespec ts = { .tv_sec = ms / 1000 };

	sigemptyset(&chld);
	sigaddset(&chld, SIGCHLD);
	/* SIGCHLD is blocked: one that comes between the two calls ends the wait at once. */
	while (waitpid(pid, NULL, WNOHANG) == 0)
		if (sigtimedwait(&chld, NULL, &ts) < 0 && errno == EAGAIN)
			return waitpid(pid, NULL, WNOHANG) != 0;
	return true;
}

void device_close(const struct run *run, struct device *dev)
{
	if (!dev->pid)
		return;
	if (run->keep) {
		fprintf(stderr,
			"cxrun: the device stays; end it with: cxmodel ctl %s stop\n",
			dev->dir);
		return;
	}
	kill(dev->pid, SIGTERM);
	if (ended(dev->pid, WAIT_MS))
		return;
	fprintf(stderr, "cxrun: the device in %s does not stop; killed\n", dev->dir);
	kill(dev->pid, SIGKILL);
	waitpid(dev->pid, NULL, 0);
}
