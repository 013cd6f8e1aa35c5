/* uverbs/shim.h - inside of libcxshim.so, which shows the model to an unmodified program
 *
 *   shim.c          start, log, lookup of the real functions
 *   shim_path.c     which paths lie in the fake tree      shim_libc.c   libc calls with a path
 *   shim_fd.c       which sockets are ours                shim_stat.c   libc calls that stat
 *   shim_talk.c     messages to the device process        shim_ctx.c    open, ioctl, mmap
 *   shim_netlink.c  NETLINK_RDMA on a local socket        shim_nldev.c  its answers
 *   shim_mem.c      NEED_MEM: every page of a range by descriptor
 *   shim_maps.c     the kernel's list of mappings         shim_file.c   descriptor of a mapping
 *   shim_move.c     private page -> memfd, in place       shim_quiet.c  no writers meanwhile
 *   shim_stack.c    run on another stack                  shim_fork.c   private copies for children
 *   shim_close.c    closefrom() spares our descriptors     shim_madvise.c  zeroes where promised
 *
 * Environment: CXMODEL=DIR, the folder of the device process (DIR/uverbs.sock, DIR/sys, DIR/dev);
 * without it the library does nothing. CXMODEL_TRACE=1 logs what it does.
 *
 * No function here knows a verb. Nothing is remembered by descriptor number: a uverbs context is
 * one socket, recognised by the name it is bound to, so dup(), fork(), exec and SCM_RIGHTS work.
 */
#pragma once

/* The fortified variants are defined here, so the headers must not define them. */
#undef _FORTIFY_SOURCE
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "proto.h"
#include "shim_sys.h"

#pragma GCC visibility push(hidden)

/* ---- shim.c ---- */

extern const char *shim_dir; /* CXMODEL, absolute; NULL = pass everything through */

/* One line on stderr; errno survives. */
void shim_log(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void shim_trace(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
const char *shim_strerror(long sys_ret); /* of a SYS() result */

/* libc's own function: what a program calls must stay a cancellation point. */
void *shim_real(void **cache, const char *name);
#define SHIM_REAL(name) \
	__extension__({ \
		static void *cache_; \
		(__typeof__(&(name)))shim_real(&cache_, #name); \
	})

/* libc's convention from the kernel's: -errno -> -1 and errno */
long shim_ret(long sys_ret);

/* ---- shim_path.c ---- */

struct shim_path {
	const char *use; /* what to hand to libc */
	int uverbs;	 /* N of /dev/infiniband/uverbsN, else -1 */
	char buf[PATH_MAX];
};
/* Fills @p for @path (any, also NULL). Return: p->use. */
const char *shim_path(struct shim_path *p, const char *path);
/* A path that libc made: takes the fake tree's folder off its start, in place. */
char *shim_path_back(char *path);

/* ---- shim_fd.c ---- */

#define SHIM_UVERBS_MAJOR \
	231 /* what the kernel uses; drivers/infiniband/core/uverbs_main.c */
#define SHIM_UVERBS_MINOR 192

enum shim_kind { SHIM_UVERBS, SHIM_NETLINK };
int shim_fd_name(int fd, enum shim_kind kind, unsigned n); /* gives a socket its name */
/* The number it was named with: uverbs N or netlink port id. False when fd is not ours. */
bool shim_fd_is(int fd, enum shim_kind kind, unsigned *n);
bool shim_addr_is_netlink(const void *addr, size_t len); /* a sender's address */
int shim_fd_hide(int fd); /* moves a descriptor of our own out of the program's way */

/* ---- shim_talk.c ---- */

struct shim_fds {
	int fd[CXP_FDS];
	unsigned n;
};

int shim_connect(unsigned flags); /* to DIR/uverbs.sock; SOCK_CLOEXEC or 0 */
struct iovec;
long shim_sendv(int sock, const struct iovec *iov, unsigned n_iov, const int *fd);
long shim_send(int sock, const void *msg, size_t len, const int *fd); /* fd NULL = none */
long shim_recv(int sock, void *msg, size_t size, struct shim_fds *fds);
void shim_fds_close(struct shim_fds *fds, unsigned from);
/* Starts a conversation on an open context. Return: our end of its pair, or -errno. */
int shim_call(int ctx);
/* Asks the device process for its ports. Return: number, at most @max; 0 when it is not there. */
unsigned shim_list(struct cxp_port *port, unsigned max);

/* ---- shim_ctx.c ---- */

int shim_ctx_open(unsigned uverbs, int flags); /* descriptor, or -1 and errno */

/* ---- shim_nldev.c ---- */

/* One netlink request; answers go to @sock itself. Return: 0 or -errno of the send. */
int shim_nldev(int sock, uint32_t port_id, const void *request, size_t len);

/* ---- shim_maps.c ---- */

struct shim_vma {
	uint64_t start, end, offset, inode, page_bytes;
	uint32_t dev_major, dev_minor;
	int prot; /* PROT_* */
	bool shared;
};
struct shim_maps {
	int fd;
	char *text; /* without PROCMAP_QUERY: the whole file */
	size_t text_len, text_size;
	const char *cursor; /* line of the last answer, and where its mapping starts */
	uint64_t cursor_start;
};
int shim_maps_open(struct shim_maps *m);  /* a snapshot at least as new as this call */
int shim_maps_again(struct shim_maps *m); /* a new snapshot */
void shim_maps_close(struct shim_maps *m);
/* The first mapping that ends after @addr; it may start after it, too. -ENOENT: none. */
int shim_maps_next(struct shim_maps *m, uint64_t addr, struct shim_vma *v);
/* Name of the file behind the mapping, "" when it has none. */
void shim_maps_name(struct shim_maps *m, const struct shim_vma *v, char *name,
		    size_t size);

/* ---- shim_mem.c ---- */

struct shim_range { /* private memory that became a memfd */
	uint64_t addr, len, inode, page_bytes;
	uint32_t dev_major, dev_minor;
	int fd;
	bool seen; /* scratch of collect() */
};
struct shim_ranges {
	struct shim_range *r;
	unsigned n, size;
	int lowest_fd; /* of them */
};
extern struct shim_ranges shim_ranges;

void shim_mem_lock(sigset_t *old); /* the list, the spare stack; signals are blocked */
void shim_mem_unlock(const sigset_t *old);
void shim_mem_serve(int sock, const struct cxp_need_mem *need);
void shim_mem_after_call(void); /* gives back what the program unmapped; now and then */
void shim_mem_forget(void);	/* a forked child: every range is private again */
/* The range that is mapped there, NULL = none of ours. Lock held. */
struct shim_range *shim_mem_of(const struct shim_vma *v);
/* The lowest descriptor of ours within [first, last], -1 = none. */
int shim_mem_fd(int first, int last);

/* ---- shim_move.c, shim_file.c ---- */

/* Makes pages [addr, addr + len) of a private mapping a memfd. Return: 0 or -errno. */
int shim_move(const struct shim_vma *v, uint64_t addr, uint64_t len,
	      struct shim_range *ret);
/* Says why not, and what to do. */
void shim_move_failed(const struct shim_vma *v, uint64_t addr, uint64_t len, int why);
void shim_copy(void *to, const void *from, uint64_t len); /* whole pages */
/* Opens what a shared mapping maps, for reading and writing. Return: descriptor or -errno. */
int shim_file(struct shim_maps *m, const struct shim_vma *v, bool *close_it);
bool shim_file_is(int fd, uint32_t dev_major, uint32_t dev_minor, uint64_t inode);

/* ---- shim_quiet.c ---- */

/* No store of another thread gets through to the range until end(). */
struct shim_quiet {
	uint64_t addr, len;
	int prot;
	int uffd;
	bool trapped;
};
int shim_quiet_begin(struct shim_quiet *q, const struct shim_vma *v, uint64_t addr,
		     uint64_t len);
/* @replaced: the pages are new ones; otherwise the old ones become writable again. */
void shim_quiet_end(struct shim_quiet *q, bool replaced);

/* ---- shim_stack.c ---- */

#define SHIM_STACK_BYTES (256 * 1024)
/* Calls fn(arg) on @stack, so that the caller's own stack can be replaced meanwhile. */
void shim_stack_call(void *stack, void (*fn)(void *arg), void *arg);
void *shim_stack_new(void); /* NULL on failure */
void shim_stack_free(void *stack);

#pragma GCC visibility pop
