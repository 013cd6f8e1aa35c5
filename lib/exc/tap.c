/* exc/tap.c - a TAP device in the place of injection */

#include "tap.h"

#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if_arp.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../base/cleanup.h"

static int failed(const char *what, int r, struct err *err)
{
	return err_set(err, r, "TAP device for the kernel: %s: %s (%s)", what,
		       strerror(-r), err_symbol(r));
}

/* Best effort: the kernel's presets are right on most machines. */
static void set_sysctl(const char *name, const char *family, const char *key,
		       const char *value)
{
	char path[128];
	SCOPED_CLOSE int fd = -1;

	snprintf(path, sizeof(path), "/proc/sys/net/%s/conf/%s/%s", family, name, key);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd >= 0 && write(fd, value, strlen(value)) < 0)
		return;
}

/* The sources of these frames live behind other interfaces: a strict reverse path filter, also
 * one for all interfaces, would drop them; the larger of the two numbers counts
 * (ip-sysctl.rst), and 2 is loose. The device shall have no address of its own either. */
static void settle(const char *name)
{
	set_sysctl(name, "ipv4", "rp_filter", "2");
	set_sysctl(name, "ipv6", "addr_gen_mode", "1");
	set_sysctl(name, "ipv6", "accept_ra", "0");
}

static int set_up(const char *name)
{
	SCOPED_CLOSE int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct ifreq req = { .ifr_flags = IFF_UP | IFF_NOARP };

	memcpy(req.ifr_name, name, sizeof(req.ifr_name));
	return fd < 0 || ioctl(fd, SIOCSIFFLAGS, &req) ? -errno : 0;
}

int exc_tap_open(struct exc_tap *t, struct err *err)
{
	SCOPED_CLOSE int fd = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
	struct ifreq req = { .ifr_name = "mlx5fwd%d", .ifr_flags = IFF_TAP | IFF_NO_PI };
	int r;

	t->fd = -1;
	if (fd < 0)
		return failed("/dev/net/tun", -errno, err);
	if (ioctl(fd, TUNSETIFF, &req))
		return failed("TUNSETIFF", -errno, err);
	settle(req.ifr_name);
	r = set_up(req.ifr_name);
	if (r < 0)
		return failed(req.ifr_name, r, err);
	memcpy(t->name, req.ifr_name, sizeof(t->name));
	t->fd = take_fd(&fd);
	return 0;
}

void exc_tap_close(struct exc_tap *t)
{
	if (t->fd >= 0)
		close(t->fd);
	t->fd = -1;
}

int exc_tap_set(const struct exc_tap *t, const uint8_t mac[6], uint32_t mtu,
		struct err *err)
{
	SCOPED_CLOSE int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct ifreq req = { .ifr_hwaddr.sa_family = ARPHRD_ETHER };

	memcpy(req.ifr_name, t->name, sizeof(req.ifr_name));
	memcpy(req.ifr_hwaddr.sa_data, mac, 6);
	if (fd < 0 || ioctl(fd, SIOCSIFHWADDR, &req))
		return failed("MAC address", -errno, err);
	req.ifr_mtu = (int)mtu;
	if (ioctl(fd, SIOCSIFMTU, &req))
		return failed("MTU", -errno, err);
	return 0;
}
