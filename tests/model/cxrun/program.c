/* cxrun/program.c - the program: its namespace, its preload library, its signals, its end */
#define _GNU_SOURCE 1
#include "cxrun.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

/* Passed on to the program. SIGTSTP and the like act on both, as in any pipeline. */
static const int passed[] = {
	SIGTERM, SIGINT, SIGQUIT, SIGHUP, SIGUSR1, SIGUSR2, SIGALRM
};

static sigset_t before, ours;

void program_block_signals(void)
{
	sigemptyset(&ours);
	sigaddset(&ours, SIGCHLD);
	for (size_t i = 0; i < sizeof(passed) / sizeof(passed[0]); i++)
		sigaddset(&ours, passed[i]);
	sigprocmask(SIG_BLOCK, &ours, &before);
}

void program_unblock_signals(void)
{
	sigprocmask(SIG_SETMASK, &before, NULL);
}

/* ---- in the child ---- */

static void die(const char *what, const char *name, const char *advice)
{
	fprintf(stderr, "cxrun: %s %s: %s; %s\n", what, name, strerror(errno), advice);
	_exit(STATUS_FAILED);
}

/* As `ip netns exec` does it: /sys shows the interfaces of the namespace in which it was
 * mounted, so the program gets a mount of its own. */
static void enter_netns(const char *name)
{
	char path[256];
	int fd;

	snprintf(path, sizeof(path), strchr(name, '/') ? "%s" : "/var/run/netns/%s",
		 name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		die("--netns", name, "make it with: ip netns add");
	if (setns(fd, CLONE_NEWNET) < 0 || unshare(CLONE_NEWNS) < 0)
		die("--netns", name, "run as root");
	close(fd);
	if (mount("", "/", "none", MS_SLAVE | MS_REC, NULL) < 0)
		die("--netns", name, "cannot make the mounts private");
	umount2("/sys", MNT_DETACH);
	if (mount(name, "/sys", "sysfs", 0, NULL) < 0)
		die("--netns", name, "cannot mount /sys");
}

/* What the caller preloads (a sanitizer's runtime, say) stays in front. */
static void set_preload(const struct run *run, const char *shim)
{
	const char *old = getenv("LD_PRELOAD");
	char *all;

	if (asprintf(&all, "%s%s%s%s%s", run->preload ? run->preload : "",
		     run->preload ? ":" : "", old ? old : "", old && *old ? ":" : "",
		     shim) < 0)
		_exit(STATUS_FAILED);
	setenv("LD_PRELOAD", all, 1);
	free(all);
}

static void be_program(const struct run *run, const struct device *dev, const char *shim)
{
	char *const *argv = run->program;

	if (run->netns)
		enter_netns(run->netns);
	set_preload(run, shim);
	setenv("CXMODEL", dev->dir, 1);
	program_unblock_signals();
	execvp(argv[0], argv);
	fprintf(stderr, "cxrun: %s: %s\n", argv[0], strerror(errno));
	_exit(errno == ENOENT ? STATUS_NOT_FOUND : STATUS_CANNOT_RUN);
}

/* ---- in the parent ---- */

static bool is_passed(int sig)
{
	for (size_t i = 0; i < sizeof(passed) / sizeof(passed[0]); i++)
		if (passed[i] == sig)
			return true;
	return false;
}

/* Once: the program may go on for a while, and every SIGCHLD of it leads here. */
static void report_end(const struct device *dev)
{
	static bool reported;
	siginfo_t info = { 0 };

	if (reported ||
	    waitid(P_PID, (id_t)dev->pid, &info, WEXITED | WNOHANG | WNOWAIT) < 0 ||
	    !info.si_pid)
		return;
	reported = true;
	fprintf(stderr, "cxrun: the device ended under the program\n");
}

/* Return: true when the program has ended. */
static bool reap(const struct device *dev, pid_t program, int *status)
{
	int st;

	/* By id: the device's own end is device_close()'s to collect. */
	if (waitpid(program, &st, WNOHANG) > 0) {
		*status = WIFSIGNALED(st) ? 128 + WTERMSIG(st) : WEXITSTATUS(st);
		return true;
	}
	if (dev->pid)
		report_end(dev);
	return false;
}

static int watch(const struct device *dev, pid_t program)
{
	int status = STATUS_FAILED;
	siginfo_t info;

	while (!reap(dev, program, &status)) {
		int sig = sigwaitinfo(&ours, &info);

		/* What the terminal sent has reached the whole process group already. */
		if (sig > 0 && is_passed(sig) && info.si_code != SI_KERNEL)
			kill(program, sig);
	}
	return status;
}

int program_run(const struct run *run, const struct device *dev)
{
	char shim[4096];
	pid_t pid;

	if (beside("libcxshim.so", "CXSHIM", shim) < 0)
		return STATUS_FAILED;
	pid = fork();
	if (pid == 0)
		be_program(run, dev, shim);
	if (pid > 0)
		return watch(dev, pid);
	perror("cxrun: fork");
	return STATUS_FAILED;
}
