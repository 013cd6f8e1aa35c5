/* uverbs/shim_ctx.c - a uverbs context: open, ioctl and mmap of the character device
 *
 * The descriptor is the connection itself. An ioctl or mmap is a conversation over a
 * fresh pair of sockets, so threads, copies of the descriptor and forked processes
 * never mix, and no lock is held while the device works.
 */
#include "shim.h"

#include <errno.h>
#include <fcntl.h>
#include <rdma/rdma_user_ioctl_cmds.h>
#include <stdarg.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/uio.h>

/* ---- open ---- */

static long hello(int sock, unsigned uverbs)
{
	struct cxp_hello h = { .type = CXP_HELLO,
			       .version = CXP_VERSION,
			       .uverbs = uverbs };
	struct shim_fds fds;
	long ret = shim_send(sock, &h, sizeof(h), NULL);

	if (ret)
		return ret;
	ret = shim_recv(sock, &h, sizeof(h), &fds);
	if (ret != sizeof(h) || h.type != CXP_HELLO)
		return ret < 0 ? ret : -ENXIO;
	if (h.version != CXP_VERSION) {
		shim_log(
			"cxmodel speaks version %u, this library %u; they are not of one build",
			h.version, CXP_VERSION);
		return -ENXIO;
	}
	return -h.rc;
}

int shim_ctx_open(unsigned uverbs, int flags)
{
	int sock = shim_connect(flags & O_CLOEXEC ? SOCK_CLOEXEC : 0);
	long ret;

	if (sock < 0)
		return (int)shim_ret(-ENXIO);
	ret = shim_fd_name(sock, SHIM_UVERBS, uverbs);
	if (!ret)
		ret = hello(sock, uverbs);
	if (!ret && flags & O_NONBLOCK)
		ret = SYS(SYS_fcntl, sock, F_SETFL, O_RDWR | O_NONBLOCK);
	shim_trace("open uverbs%u: descriptor %d, %s", uverbs, sock, shim_strerror(ret));
	if (!ret)
		return sock;
	SYS(SYS_close, sock);
	return (int)shim_ret(ret);
}

/* ---- buffers for answers, kept for the next call ---- */

static void *spare[4];

static void *buffer_get(void)
{
	void *p;
	long ret;

	for (size_t i = 0; i < sizeof(spare) / sizeof(spare[0]); i++) {
		p = __atomic_exchange_n(&spare[i], NULL, __ATOMIC_ACQ_REL);
		if (p)
			return p;
	}
	ret = SYS(SYS_mmap, NULL, CXP_MAX, PROT_READ | PROT_WRITE,
		  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return shim_sys_failed(ret) ? NULL : (void *)ret;
}

static void buffer_put(void *p)
{
	for (size_t i = 0; i < sizeof(spare) / sizeof(spare[0]); i++) {
		void *empty = NULL;

		if (__atomic_compare_exchange_n(&spare[i], &empty, p, false,
						__ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
			return;
	}
	SYS(SYS_munmap, p, CXP_MAX);
}

/* ---- ioctl ---- */

/* Attributes of at most 8 bytes are in attr.data itself; source: rdma_user_ioctl_cmds.h. */
static bool by_pointer(const struct ib_uverbs_attr *attr)
{
	return attr->len > sizeof(attr->data);
}

/* The kernel gathers the program's bytes and says EFAULT for a wrong pointer, as uverbs does. */
static long send_ioctl(int sock, const struct ib_uverbs_ioctl_hdr *hdr)
{
	struct cxp_ioctl msg = { .type = CXP_IOCTL,
				 .n_attrs = hdr->num_attrs,
				 .pid = (uint32_t)SYS(SYS_getpid) };
	struct iovec iov[2 + CXP_ATTRS] = {
		{ &msg, sizeof(msg) },
		{ (void *)hdr->attrs, hdr->num_attrs * sizeof(hdr->attrs[0]) },
	};
	size_t total = iov[0].iov_len + iov[1].iov_len;
	unsigned n = 2;

	_Static_assert(sizeof(msg.hdr) == sizeof(*hdr), "ioctl header");
	memcpy(msg.hdr, hdr, sizeof(msg.hdr));
	for (unsigned i = 0; i < hdr->num_attrs; i++) {
		if (!by_pointer(&hdr->attrs[i]))
			continue;
		iov[n].iov_base = (void *)(uintptr_t)hdr->attrs[i].data;
		iov[n++].iov_len = hdr->attrs[i].len;
		total += hdr->attrs[i].len;
	}
	if (total > CXP_MAX) {
		shim_log(
			"ioctl object 0x%x method 0x%x: %zu bytes of attributes, the limit is %u",
			hdr->object_id, hdr->method_id, total, CXP_MAX);
		return -E2BIG;
	}
	return shim_sendv(sock, iov, n, NULL);
}

static void serve_fd(int sock, const struct cxp_need_fd *need)
{
	struct cxp_fd msg = { .type = CXP_FD };

	if (shim_sys_failed(SYS(SYS_fcntl, need->fd, F_GETFD)))
		msg.rc = EBADF;
	shim_send(sock, &msg, sizeof(msg), msg.rc ? NULL : &need->fd);
}

/* Puts one attribute of the reply where the program expects it. Return: bytes of blob used,
 * or -EIO when the reply makes no sense. */
static long take_attr(struct ib_uverbs_attr *attr, const struct ib_uverbs_attr *got,
		      const struct cxp_out *out, uint8_t *blob, size_t left,
		      struct shim_fds *fds, unsigned *fd)
{
	size_t len = out->blob ? attr->len : 0;

	if (len > left || (out->fd && *fd >= fds->n))
		return -EIO;
	if (out->fd == 2) {
		if (out->fd_off + sizeof(int) > len)
			return -EIO;
		memcpy(blob + out->fd_off, &fds->fd[(*fd)++], sizeof(int));
	}
	if (out->blob) {
		memcpy((void *)(uintptr_t)attr->data, blob, len);
		attr->flags = got->flags;
	}
	if (out->fd == 1)
		attr->data_s64 = fds->fd[(*fd)++];
	if (out->handle)
		attr->data = got->data;
	return (long)len;
}

static long take_reply(struct ib_uverbs_ioctl_hdr *hdr, uint8_t *msg, size_t len,
		       struct shim_fds *fds)
{
	const struct cxp_reply *r = (void *)msg;
	const struct ib_uverbs_attr *got = (void *)(r + 1);
	const struct cxp_out *out = (void *)(got + hdr->num_attrs);
	size_t at = sizeof(*r) + hdr->num_attrs * (sizeof(*got) + sizeof(*out));
	unsigned fd = 0;

	if (len < at || r->n_attrs != hdr->num_attrs || r->n_fds != fds->n)
		return -EIO;
	for (unsigned i = 0; i < hdr->num_attrs; i++) {
		long used = take_attr(&hdr->attrs[i], &got[i], &out[i], msg + at,
				      len - at, fds, &fd);

		if (used < 0)
			return used;
		at += (size_t)used;
	}
	if (fd < fds->n)
		return -EIO; /* a descriptor for nobody */
	return -r->rc;
}

/* Answers what the device asks until it replies. */
static long converse(int sock, struct ib_uverbs_ioctl_hdr *hdr, uint8_t *msg)
{
	struct shim_fds fds;
	uint32_t type;
	long ret;

	for (;;) {
		ret = shim_recv(sock, msg, CXP_MAX, &fds);
		if (ret < (long)sizeof(type))
			return ret == -EMFILE ? ret : -EIO;
		memcpy(&type, msg, sizeof(type));
		if (type == CXP_NEED_MEM && ret == sizeof(struct cxp_need_mem))
			shim_mem_serve(sock, (void *)msg);
		else if (type == CXP_NEED_FD && ret == sizeof(struct cxp_need_fd))
			serve_fd(sock, (void *)msg);
		else
			break;
		shim_fds_close(&fds, 0);
	}
	ret = type == CXP_REPLY ? take_reply(hdr, msg, (size_t)ret, &fds) : -EIO;
	if (ret == -EIO)
		shim_fds_close(&fds, 0);
	return ret;
}

static long verbs_ioctl(int ctx, struct ib_uverbs_ioctl_hdr *hdr)
{
	void *buffer;
	long ret;
	int sock;

	/* ib_uverbs_ioctl() of the kernel checks the length first. */
	if (hdr->length != sizeof(*hdr) + hdr->num_attrs * sizeof(hdr->attrs[0]))
		return -EINVAL;
	if (hdr->num_attrs > CXP_ATTRS) {
		shim_log("ioctl object 0x%x method 0x%x: %u attributes, the limit is %u",
			 hdr->object_id, hdr->method_id, hdr->num_attrs, CXP_ATTRS);
		return -E2BIG;
	}
	buffer = buffer_get();
	if (!buffer)
		return -ENOMEM;
	sock = shim_call(ctx);
	ret = sock;
	if (sock >= 0) {
		ret = send_ioctl(sock, hdr);
		if (!ret)
			ret = converse(sock, hdr, buffer);
		SYS(SYS_close, sock);
	}
	buffer_put(buffer);
	shim_mem_after_call();
	/* The device process is gone: what a removed device gives. */
	return ret == -EPIPE || ret == -ECONNRESET || ret == -ENOTCONN ? -EIO : ret;
}

int ioctl(int fd, unsigned long request, ...)
{
	unsigned uverbs;
	va_list args;
	void *arg;
	long ret;

	va_start(args, request);
	arg = va_arg(args, void *);
	va_end(args);
	if (request != RDMA_VERBS_IOCTL || !shim_fd_is(fd, SHIM_UVERBS, &uverbs))
		return SHIM_REAL(ioctl)(fd, request, arg);
	ret = verbs_ioctl(fd, arg);
	shim_trace("ioctl uverbs%u object 0x%x method 0x%x: %s", uverbs,
		   ((struct ib_uverbs_ioctl_hdr *)arg)->object_id,
		   ((struct ib_uverbs_ioctl_hdr *)arg)->method_id, shim_strerror(ret));
	return (int)shim_ret(ret);
}

/* ---- mmap ---- */

static long ask_mapping(int ctx, const struct cxp_mmap *ask, struct cxp_mapped *got,
			struct shim_fds *fds)
{
	int sock = shim_call(ctx);
	long ret;

	if (sock < 0)
		return -EIO;
	fds->n = 0;
	ret = shim_send(sock, ask, sizeof(*ask), NULL);
	if (!ret)
		ret = shim_recv(sock, got, sizeof(*got), fds);
	SYS(SYS_close, sock);
	if (ret != sizeof(*got) || got->type != CXP_MAPPED || (!got->rc && fds->n != 1)) {
		shim_fds_close(fds, 0);
		return -EIO;
	}
	return -got->rc;
}

static long map_ctx(int ctx, void *addr, size_t len, int prot, int flags, off_t offset)
{
	struct cxp_mmap ask = { .type = CXP_MMAP,
				.prot = (uint32_t)prot,
				.offset = (uint64_t)offset,
				.len = len };
	struct cxp_mapped got = { 0 };
	struct shim_fds fds;
	long ret;

	if ((flags & MAP_TYPE) == MAP_PRIVATE)
		return -EINVAL; /* rdma_user_mmap_io() of the kernel */
	ret = ask_mapping(ctx, &ask, &got, &fds);
	if (ret)
		return ret;
	ret = SYS(SYS_mmap, addr, len, prot, flags, fds.fd[0], got.offset);
	shim_fds_close(&fds, 0);
	return ret;
}

/* A socket cannot be mapped: ENODEV is where ours are found, at no cost to any other mmap. */
static void *map(int before, void *real, void *addr, size_t len, int prot, int flags,
		 int fd, off_t offset)
{
	unsigned uverbs;
	long ret;

	if (real != MAP_FAILED || errno != ENODEV || flags & MAP_ANONYMOUS ||
	    !shim_fd_is(fd, SHIM_UVERBS, &uverbs))
		return real;
	errno = before;
	ret = map_ctx(fd, addr, len, prot, flags, offset);
	shim_trace("mmap uverbs%u offset 0x%lx length %zu: %s", uverbs,
		   (unsigned long)offset, len,
		   shim_strerror(shim_sys_failed(ret) ? ret : 0));
	return (void *)shim_ret(ret);
}

void *mmap(void *addr, size_t len, int prot, int flags, int fd, off_t offset)
{
	int before = errno;
	void *real = SHIM_REAL(mmap)(addr, len, prot, flags, fd, offset);

	return map(before, real, addr, len, prot, flags, fd, offset);
}

void *mmap64(void *addr, size_t len, int prot, int flags, int fd, off64_t offset)
{
	int before = errno;
	void *real = SHIM_REAL(mmap64)(addr, len, prot, flags, fd, offset);

	return map(before, real, addr, len, prot, flags, fd, offset);
}
