/* exc/tap.h - a TAP device in the place of injection
 *
 * For kernels and users that cannot inject (inject.h). The device has the port's MAC
 * address, so the kernel takes the frames for itself; they seem to come from the TAP,
 * not from the real netdev, which is why this is second best: filters by interface,
 * captures and counters see another name. It is gone with the process. Needs
 * CAP_NET_ADMIN and /dev/net/tun.
 *
 * Source: Documentation/networking/tuntap.rst.
 */
#pragma once

#include <net/if.h>
#include <stdint.h>

#include "../base/err.h"

struct exc_tap {
	int fd; /* -1 = closed */
	char name[IF_NAMESIZE];
};

/* Up, without addresses; the kernel chooses the name, "mlx5fwd0" and so on. */
int exc_tap_open(struct exc_tap *t, struct err *err);
void exc_tap_close(struct exc_tap *t);
int exc_tap_set(const struct exc_tap *t, const uint8_t mac[6], uint32_t mtu,
		struct err *err);
