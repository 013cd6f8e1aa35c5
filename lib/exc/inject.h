/* exc/inject.h - hand a frame to the kernel as received on the real netdev
 *
 * bpf(2) BPF_PROG_TEST_RUN of a program that says XDP_PASS, in live-frame mode: the
 * kernel takes the frame up its receive path as if the interface had received it
 * (Linux 5.18). Source: Documentation/bpf/bpf_prog_run.rst. Needs CAP_BPF and
 * CAP_NET_ADMIN, frames up to about 3400 bytes. The netdev's counters do not move.
 */
#pragma once

#include <stdint.h>

#include "../base/err.h"

struct exc_inject {
	int prog_fd; /* -1 = closed */
};

enum { EXC_INJECT_BYTES_MAX = 3400 };

/* Loads the program, once live frames are known to work; else closed. @err says what is missing
 * (privilege, kernel). */
int exc_inject_open(struct exc_inject *in, struct err *err);
void exc_inject_close(struct exc_inject *in);
/* Return: 0, -EMSGSIZE, -ENODEV (no such interface), or what the kernel answered. Any thread. */
int exc_inject_frame(const struct exc_inject *in, int ifindex, const void *frame,
		     uint32_t len);
