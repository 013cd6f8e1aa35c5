/* test/t_fd.c - the uverbs descriptor is a descriptor: dup, fork, exec, SCM_RIGHTS, close
 *
 *   t_fd [--nobody]       all checks, from the first open on without privilege
 *   t_fd --linger         calls until the device process is gone; then EIO is right
 *   t_fd --import FD PD   (started by itself) a device imported from an inherited descriptor
 */
#define _GNU_SOURCE 1
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include "client/check.h"
#include "client/rig.h"

static const char *self;

static int status_of(pid_t pid)
{
	int status;

	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return -1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

/* Everything that needs the device: a query, a handle, memory, a doorbell page. */
static bool works(struct ibv_context *ctx)
{
	struct ibv_port_attr port;
	struct ibv_pd *pd;
	struct ibv_mr *mr;
	struct mlx5dv_devx_uar *uar;
	char *p;
	bool ok;

	if (ibv_query_port(ctx, 1, &port))
		return false;
	p = malloc(9000);
	pd = ibv_alloc_pd(ctx);
	mr = pd ? ibv_reg_mr(pd, p, 9000, IBV_ACCESS_LOCAL_WRITE) : NULL;
	uar = mlx5dv_devx_alloc_uar(ctx, MLX5DV_UAR_ALLOC_TYPE_NC);
	ok = pd && mr && uar;
	if (uar)
		mlx5dv_devx_free_uar(uar);
	ok &= mr && !ibv_dereg_mr(mr);
	ok &= pd && !ibv_dealloc_pd(pd);
	free(p);
	return ok;
}

/* ---- what it looks like ---- */

static void looks(struct ibv_context *ctx)
{
	struct pollfd p = { .fd = ctx->cmd_fd, .events = POLLIN };
	struct stat st = { 0 }, node;
	struct stat64 st64;
	struct statx sx;

	check(!fstat(ctx->cmd_fd, &st) && S_ISCHR(st.st_mode) && major(st.st_rdev) == 231,
	      "fstat() shows a character device 231:%u", minor(st.st_rdev));
	check(!stat("/dev/infiniband/uverbs0", &node) && S_ISCHR(node.st_mode) &&
		      node.st_rdev == st.st_rdev,
	      "the node has the same number");
	check(!fstat64(ctx->cmd_fd, &st64) && S_ISCHR(st64.st_mode) &&
		      st64.st_rdev == st.st_rdev,
	      "fstat64()");
	check(!fstatat(ctx->cmd_fd, "", &st, AT_EMPTY_PATH) && S_ISCHR(st.st_mode),
	      "fstatat()");
	check(!statx(ctx->cmd_fd, "", AT_EMPTY_PATH, STATX_BASIC_STATS, &sx) &&
		      S_ISCHR(sx.stx_mode) && sx.stx_rdev_major == 231,
	      "statx()");
	check((fcntl(ctx->cmd_fd, F_GETFL) & O_ACCMODE) == O_RDWR &&
		      fcntl(ctx->cmd_fd, F_GETFD) & FD_CLOEXEC,
	      "opened for reading and writing, close-on-exec");
	check(poll(&p, 1, 0) == 0, "nothing to read from it");
	check(!fstat(0, &st) || errno == EBADF, "fstat() of another descriptor");
	errno = 0;
	check(open("/dev/infiniband/uverbs99", O_RDWR) < 0 && errno == ENOENT,
	      "a node that is not there");
}

/* ---- copies ---- */

static void copies(struct ibv_context *ctx)
{
	struct ibv_pd *pd = ibv_alloc_pd(ctx), *pd2;
	struct ibv_context *ctx2 = ibv_import_device(dup(ctx->cmd_fd));
	struct ibv_context *ctx3 =
		ibv_import_device(fcntl(ctx->cmd_fd, F_DUPFD_CLOEXEC, 900));

	check(ctx2 && works(ctx2), "a device imported from dup()");
	check(ctx3 && works(ctx3), "and from fcntl(F_DUPFD_CLOEXEC)");
	pd2 = ctx2 ? ibv_import_pd(ctx2, pd->handle) : NULL;
	check(pd2, "a protection domain imported by handle: it is the same context");
	if (pd2)
		ibv_unimport_pd(pd2);
	check(!ibv_dealloc_pd(pd), "which its owner frees");
	check(!ibv_close_device(ctx), "close the first descriptor");
	check(ctx2 && works(ctx2), "the context lives on in the second");
	check(ctx2 && !fcntl(ctx2->cmd_fd, F_SETFL, O_RDWR | O_NONBLOCK) && works(ctx2),
	      "also when made non-blocking");
	check(ctx2 && !ibv_close_device(ctx2), "close that");
	check(ctx3 && works(ctx3) && !ibv_close_device(ctx3), "and the third");
}

/* ---- processes ---- */

static void wait_byte(int fd)
{
	char c;

	if (read(fd, &c, 1) != 1)
		_exit(77);
}

static void forked(struct ibv_context *ctx)
{
	int pipe_fd[2];
	pid_t pid;

	check(!pipe(pipe_fd), "pipe");
	pid = fork();
	if (!pid)
		_exit(works(ctx) && !ibv_close_device(ctx) ? 0 : 1);
	check(status_of(pid) == 0, "a forked child uses the context and closes it");
	check(works(ctx), "which stays the parent's");
	pid = fork();
	if (!pid) {
		wait_byte(pipe_fd[0]);
		_exit(works(ctx) ? 0 : 1);
	}
	check(!ibv_close_device(ctx), "the parent closes it");
	check(write(pipe_fd[1], "", 1) == 1 && status_of(pid) == 0,
	      "the child still has it");
	close(pipe_fd[0]);
	close(pipe_fd[1]);
}

static int import_main(int fd, uint32_t pd_handle)
{
	struct ibv_context *ctx = ibv_import_device(fd);
	struct ibv_pd *pd = ctx ? ibv_import_pd(ctx, pd_handle) : NULL;
	static char own[5000];

	if (!pd || !works(ctx))
		return 1;
	/* Memory of this process under a domain of the other; left to be cleaned up. */
	return ibv_reg_mr(pd, own, sizeof(own), IBV_ACCESS_LOCAL_WRITE) ? 0 : 2;
}

static void run_import(int fd, uint32_t pd_handle)
{
	char fd_text[16], pd_text[16];

	snprintf(fd_text, sizeof(fd_text), "%d", fd);
	snprintf(pd_text, sizeof(pd_text), "%u", pd_handle);
	execl(self, self, "--import", fd_text, pd_text, (char *)NULL);
	_exit(99);
}

static void inherited(struct ibv_context *ctx)
{
	struct ibv_pd *pd = ibv_alloc_pd(ctx);
	pid_t pid = fork();

	if (!pid)
		run_import(dup(ctx->cmd_fd), pd->handle); /* dup() clears close-on-exec */
	check(status_of(pid) == 0, "a program started with the descriptor imports it");
	check(works(ctx), "it is still ours");
	/* The child's memory region is in our context, which is what refuses this. */
	check(ibv_dealloc_pd(pd) == EBUSY, "what it left is still there");
}

static int send_fd(int sock, int fd)
{
	union {
		char bytes[CMSG_SPACE(sizeof(int))];
		struct cmsghdr h;
	} control = { .h = { .cmsg_len = CMSG_LEN(sizeof(int)),
			     .cmsg_level = SOL_SOCKET,
			     .cmsg_type = SCM_RIGHTS } };
	struct iovec iov = { "", 1 };
	struct msghdr m = { .msg_iov = &iov,
			    .msg_iovlen = 1,
			    .msg_control = &control,
			    .msg_controllen = sizeof(control) };

	memcpy(CMSG_DATA(&control.h), &fd, sizeof(int));
	return sendmsg(sock, &m, 0) == 1 ? 0 : -1;
}

static int recv_fd(int sock)
{
	union {
		char bytes[CMSG_SPACE(sizeof(int))];
		struct cmsghdr h;
	} control;
	char byte;
	struct iovec iov = { &byte, 1 };
	struct msghdr m = { .msg_iov = &iov,
			    .msg_iovlen = 1,
			    .msg_control = &control,
			    .msg_controllen = sizeof(control) };
	int fd = -1;

	if (recvmsg(sock, &m, 0) == 1 && CMSG_FIRSTHDR(&m))
		memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&m)), sizeof(int));
	return fd;
}

static void passed(struct ibv_context *ctx)
{
	struct ibv_pd *pd = ibv_alloc_pd(ctx);
	int pair[2];
	pid_t pid;

	check(!socketpair(AF_UNIX, SOCK_STREAM, 0, pair), "socket pair");
	pid = fork();
	if (!pid) {
		close(ctx->cmd_fd); /* what arrives by the socket is all this process has */
		run_import(recv_fd(pair[1]), pd->handle);
	}
	check(!send_fd(pair[0], ctx->cmd_fd), "pass the descriptor");
	check(status_of(pid) == 0, "a process that got it by SCM_RIGHTS imports it");
	check(works(ctx) && !ibv_close_device(ctx), "it is still ours until closed");
	close(pair[0]);
	close(pair[1]);
}

/* ---- many at once ---- */

enum { THREADS = 4, TURNS = 50 };

static void *hammer(void *arg)
{
	for (unsigned i = 0; i < TURNS; i++) {
		if (!works(arg))
			return NULL;
	}
	return arg;
}

static void threads(void)
{
	struct ibv_context *ctx[2] = { rig_open_device(0), rig_open_device(0) };
	pthread_t thread[THREADS];
	unsigned good = 0;
	void *ret;

	if (!check(ctx[0] && ctx[1] && ctx[0]->cmd_fd != ctx[1]->cmd_fd, "two contexts"))
		return;
	for (unsigned i = 0; i < THREADS; i++)
		pthread_create(&thread[i], NULL, hammer, ctx[i % 2]);
	for (unsigned i = 0; i < THREADS; i++) {
		pthread_join(thread[i], &ret);
		good += ret != NULL;
	}
	check(good == THREADS, "%u threads, %u calls each, at once", THREADS, TURNS * 8);
	check(!ibv_close_device(ctx[0]) && !ibv_close_device(ctx[1]), "close both");
}

static void close_all(void)
{
	struct ibv_context *ctx = rig_open_device(0);
	struct ibv_port_attr port;

	check(ctx && works(ctx), "one more context");
	check(!close_range(3, ~0U, 0), "close_range() takes it away");
	check(ctx && ibv_query_port(ctx, 1, &port), "then calls fail");
	ctx = rig_open_device(0);
	check(ctx && works(ctx) && !ibv_close_device(ctx), "and a new open works");
}

static int linger(void)
{
	struct ibv_context *ctx = rig_open_device(0);
	struct ibv_port_attr port;
	int ret;

	if (!check(ctx && works(ctx), "open") || !ctx)
		return check_end();
	printf("ready\n");
	fflush(stdout);
	while (!(ret = ibv_query_port(ctx, 1, &port)))
		sched_yield();
	errno = ret;
	check(ret == EIO, "the device process is gone: EIO");
	ibv_close_device(ctx);
	return check_end();
}

int main(int argc, char **argv)
{
	struct ibv_context *ctx;

	self = argv[0];
	if (argc == 4 && !strcmp(argv[1], "--import"))
		return import_main(atoi(argv[2]), (uint32_t)strtoul(argv[3], NULL, 10));
	if (argc == 2 && !strcmp(argv[1], "--linger"))
		return linger();
	if (argc == 2 && !strcmp(argv[1], "--nobody") && !check_become_nobody())
		return check_end();
	ctx = rig_open_device(0);
	if (!check(ctx, "open"))
		return check_end();
	looks(ctx);
	copies(ctx);
	ctx = rig_open_device(0);
	if (check(ctx, "open again"))
		forked(ctx);
	ctx = rig_open_device(0);
	if (check(ctx, "open again")) {
		inherited(ctx);
		passed(ctx);
	}
	threads();
	close_all();
	return check_end();
}
