/* exc/inject.c - hand a frame to the kernel as received on the real netdev */

#include "inject.h"

#include <linux/bpf.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../base/cleanup.h"

enum { PROBE_BYTES = 64 };

static int bpf(int cmd, union bpf_attr *attr)
{
	long r = syscall(SYS_bpf, cmd, attr, sizeof(*attr));

	return r < 0 ? -errno : (int)r;
}

/* A program that returns @action, whatever the frame. Return: its descriptor or -errno. */
static int load(int action)
{
	const struct bpf_insn program[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K,
		  .dst_reg = BPF_REG_0,
		  .imm = action },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.prog_type = BPF_PROG_TYPE_XDP;
	attr.insns = (uint64_t)(uintptr_t)program;
	attr.insn_cnt = sizeof(program) / sizeof(program[0]);
	attr.license = (uint64_t)(uintptr_t) "Dual MIT/GPL";
	memcpy(attr.prog_name, "mlx5fwd_punt", sizeof("mlx5fwd_punt"));
	return bpf(BPF_PROG_LOAD, &attr);
}

/* @ctx NULL: as if received on the loopback device. */
static int run(int prog_fd, const struct xdp_md *ctx, const void *frame, uint32_t len)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.test.prog_fd = (uint32_t)prog_fd;
	attr.test.data_in = (uint64_t)(uintptr_t)frame;
	attr.test.data_size_in = len;
	attr.test.ctx_in = (uint64_t)(uintptr_t)ctx;
	attr.test.ctx_size_in = ctx ? sizeof(*ctx) : 0;
	attr.test.repeat = 1;
	attr.test.flags = BPF_F_TEST_XDP_LIVE_FRAMES;
	return bpf(BPF_PROG_TEST_RUN, &attr);
}

/* An old kernel loads the program all the same; what it cannot is live frames. One that the
 * program drops shows it. */
static int probe(void)
{
	static const uint8_t frame[PROBE_BYTES];
	SCOPED_CLOSE int fd = load(XDP_DROP);

	return fd < 0 ? fd : run(fd, NULL, frame, sizeof(frame));
}

static int open_failed(int r, struct err *err)
{
	if (r == -EPERM)
		return err_set(
			err, r,
			"injection of frames into the kernel: not permitted; CAP_BPF and "
			"CAP_NET_ADMIN are needed (EPERM)");
	return err_set(
		err, r,
		"injection of frames into the kernel: bpf(2): %s (%s); Linux 5.18 or newer "
		"is needed",
		strerror(-r), err_symbol(r));
}

int exc_inject_open(struct exc_inject *in, struct err *err)
{
	int r = probe();

	in->prog_fd = -1;
	if (r < 0)
		return open_failed(r, err);
	r = load(XDP_PASS);
	if (r < 0)
		return open_failed(r, err);
	in->prog_fd = r;
	return 0;
}

void exc_inject_close(struct exc_inject *in)
{
	if (in->prog_fd >= 0)
		close(in->prog_fd);
	in->prog_fd = -1;
}

int exc_inject_frame(const struct exc_inject *in, int ifindex, const void *frame,
		     uint32_t len)
{
	struct xdp_md ctx = { .data_end = len, .ingress_ifindex = (uint32_t)ifindex };

	if (len > EXC_INJECT_BYTES_MAX)
		return -EMSGSIZE;
	return run(in->prog_fd, &ctx, frame, len);
}
