/* wire/tap.c - the kernel side of a port: a TAP device that is the port's netdev
 *
 *   kernel --read--> tap_poll() --> cx_kernel_tx()       the port's send direction
 *   kernel <-write-- tap_give() <-- cx_ops.kernel_rx     frames that no rule took
 *
 * The descriptor is the netdev: it lives as long as this process holds it, and
 * goes when the process goes, however that ends.
 *
 * Source: kernel Documentation/networking/tuntap.rst; linux/if_tun.h.
 */
#define _GNU_SOURCE 1
#include <errno.h>
#include <fcntl.h>
#include <linux/ethtool.h>
#include <linux/if_tun.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../core/cx.h"
#include "link.h"
#include "netns.h"
#include "wire.h"

enum {
	TAP_FRAME_MAX = 65536 + 64,
	TAP_QUEUE = 8192,   /* frames that the kernel may be ahead of us */
	TAP_SPEED = 100000, /* Mbit/s, shown by ethtool and to DPDK */
	TAP_GAP_MAX =
		16, /* passes between looks at a quiet descriptor; see poll.c, SPINS */
};

struct tap {
	int fd, epoll;
	struct link link; /* what the administrator set, by netlink */
	uint16_t mtu;
	uint8_t mac[6];
	struct tap_stat n;
	unsigned gap, wait, follow_wait;
	uint8_t frame[TAP_FRAME_MAX];
};

/* ---- making one ---- */

static int attach(struct tap *t, const char *name, struct ifreq *ifr)
{
	t->fd = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
	if (t->fd < 0)
		return -errno;
	memset(ifr, 0, sizeof(*ifr));
	snprintf(ifr->ifr_name, sizeof(ifr->ifr_name), "%s", name);
	ifr->ifr_flags = (short)(IFF_TAP | IFF_NO_PI | IFF_TUN_EXCL);
	return ioctl(t->fd, TUNSETIFF, ifr) < 0 ? -errno : 0;
}

/* A TAP says 10 Gbit/s or less; programs that look want the card's speed. The number of mode
 * words is asked for first: linux/ethtool.h, struct ethtool_link_settings. Best effort. */
static void set_speed(int sock, const char *name)
{
	uint32_t room[sizeof(struct ethtool_link_settings) / 4 + 3 * 127] = { 0 };
	struct ethtool_link_settings *s = (void *)room;
	struct ifreq ifr = { .ifr_data = (void *)room };

	snprintf(ifr.ifr_name, sizeof(ifr.ifr_name), "%s", name);
	s->cmd = ETHTOOL_GLINKSETTINGS;
	if (ioctl(sock, SIOCETHTOOL, &ifr) < 0 || s->link_mode_masks_nwords >= 0)
		return;
	s->link_mode_masks_nwords = (int8_t)-s->link_mode_masks_nwords;
	s->cmd = ETHTOOL_GLINKSETTINGS;
	if (ioctl(sock, SIOCETHTOOL, &ifr) < 0)
		return;
	s->cmd = ETHTOOL_SLINKSETTINGS;
	s->speed = TAP_SPEED;
	s->duplex = DUPLEX_FULL;
	s->autoneg = AUTONEG_DISABLE;
	ioctl(sock, SIOCETHTOOL, &ifr);
}

static int configure(struct tap *t, const struct tap_conf *conf, struct ifreq *ifr)
{
	int sock = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	int r = 0;

	if (sock < 0)
		return -errno;
	ifr->ifr_hwaddr.sa_family = ARPHRD_ETHER;
	memcpy(ifr->ifr_hwaddr.sa_data, conf->mac, 6);
	if (ioctl(sock, SIOCSIFHWADDR, ifr) < 0)
		r = -errno;
	ifr->ifr_mtu = conf->mtu;
	if (!r && ioctl(sock, SIOCSIFMTU, ifr) < 0)
		r = -errno;
	ifr->ifr_qlen = TAP_QUEUE;
	if (!r && ioctl(sock, SIOCSIFTXQLEN, ifr) < 0)
		r = -errno;
	set_speed(sock, ifr->ifr_name);
	if (!r && ioctl(sock, SIOCGIFINDEX, ifr) < 0)
		r = -errno;
	if (!r)
		r = link_open(&t->link, ifr->ifr_ifindex);
	close(sock);
	return r;
}

static int watch(struct tap *t)
{
	struct epoll_event ev = { .events = EPOLLIN };

	if (t->epoll < 0)
		t->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (t->epoll < 0)
		return -errno;
	if (epoll_ctl(t->epoll, EPOLL_CTL_ADD, t->fd, &ev) < 0 && errno != EEXIST)
		return -errno;
	if (t->link.fd >= 0 && epoll_ctl(t->epoll, EPOLL_CTL_ADD, t->link.fd, &ev) < 0)
		return -errno;
	return 0;
}

static const char *advice(int r)
{
	switch (-r) {
	case EBUSY:
		return "the name is taken; choose another, or remove it with: ip link del";
	case ENOENT:
	case ENODEV:
		return "/dev/net/tun is missing; load it with: modprobe tun";
	case EPERM:
	case EACCES:
		return "needs CAP_NET_ADMIN; run as root, or without a kernel side (--notap)";
	default:
		return "see ip-tuntap(8)";
	}
}

int tap_open(const struct tap_conf *conf, char *why, size_t why_size, struct tap **ret)
{
	struct tap *t = calloc(1, sizeof(*t));
	struct ifreq ifr;
	int back, r;

	if (!t)
		return -ENOMEM;
	t->fd = t->epoll = t->link.fd = -1;
	r = netns_enter(conf->netns, &back, why, why_size);
	if (r < 0)
		goto fail;
	r = attach(t, conf->name, &ifr);
	if (!r)
		r = configure(t, conf, &ifr);
	netns_leave(back);
	if (!r)
		r = watch(t);
	if (r < 0) {
		snprintf(why, why_size, "netdev %s: %s; %s", conf->name, strerror(-r),
			 advice(r));
		goto fail;
	}
	t->mtu = conf->mtu;
	memcpy(t->mac, conf->mac, 6);
	*ret = t;
	return 0;
fail:
	tap_close(t);
	return r;
}

void tap_close(struct tap *t)
{
	if (!t)
		return;
	if (t->epoll >= 0)
		close(t->epoll);
	link_close(&t->link);
	if (t->fd >= 0)
		close(t->fd);
	free(t);
}

int tap_fd(const struct tap *t)
{
	return t->epoll;
}

void tap_name(const struct tap *t, char name[16])
{
	struct ifreq ifr = { 0 };

	name[0] = 0;
	if (ioctl(t->fd, TUNGETIFF, &ifr) == 0)
		snprintf(name, 16, "%.15s", ifr.ifr_name);
}

/* ---- frames ---- */

void tap_give(struct tap *t, const void *frame, uint32_t len)
{
	ssize_t n = write(t->fd, frame, len);

	if (n == (ssize_t)len)
		t->n.given++;
	else
		t->n.refused++; /* EIO: the netdev is down */
}

/* The netdev's MTU may have been raised a moment ago: the message is already in our socket. */
static void before_long_frame(struct tap *t, struct cx_dev *dev, uint32_t len)
{
	if (len <= t->mtu + 18u)
		return;
	t->follow_wait = 0;
	tap_follow(t, dev);
}

unsigned tap_poll(struct tap *t, struct cx_dev *dev, unsigned budget)
{
	unsigned n = 0;

	if (t->wait) {
		t->wait--;
		return 0;
	}
	while (n < budget) {
		ssize_t len = read(t->fd, t->frame, sizeof(t->frame));

		if (len <= 0)
			break;
		before_long_frame(t, dev, (uint32_t)len);
		cx_kernel_tx(dev, t->frame, (uint32_t)len);
		n++;
	}
	t->n.taken += n;
	t->gap = n ? 0 : t->gap ? t->gap * 2 : 1;
	if (t->gap > TAP_GAP_MAX)
		t->gap = TAP_GAP_MAX;
	t->wait = t->gap;
	return n;
}

void tap_stat(const struct tap *t, struct tap_stat *st)
{
	*st = t->n;
}

/* ---- state ---- */

void tap_carrier(struct tap *t, bool up)
{
	int on = up;

	ioctl(t->fd, TUNSETCARRIER, &on);
}

bool tap_admin_up(const struct tap *t)
{
	return t->link.up;
}

/* An ioctl of a socket in the netdev's namespace, wherever that is by now. */
static int in_its_netns(struct tap *t,
			int (*fn)(struct tap *t, int sock, struct ifreq *ifr))
{
	int ns = ioctl(t->fd, TUNGETDEVNETNS, 0);
	struct ifreq ifr = { 0 };
	int back, sock, r;

	if (ns < 0)
		return -errno;
	r = netns_enter_fd(ns, &back);
	close(ns);
	if (r < 0)
		return r;
	tap_name(t, ifr.ifr_name);
	sock = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	r = sock < 0 ? -errno : fn(t, sock, &ifr);
	if (sock >= 0)
		close(sock);
	netns_leave(back);
	return r;
}

static int set_up(struct tap *t, int sock, struct ifreq *ifr)
{
	(void)t;
	if (ioctl(sock, SIOCGIFFLAGS, ifr) < 0)
		return -errno;
	ifr->ifr_flags |= IFF_UP;
	return ioctl(sock, SIOCSIFFLAGS, ifr) < 0 ? -errno : 0;
}

int tap_set_up(struct tap *t)
{
	int r = in_its_netns(t, set_up);

	if (!r)
		link_read(&t->link);
	return r;
}

/* `ip link set eth0 netns X`: the messages now come in the other namespace. */
static int rewatch(struct tap *t, int sock, struct ifreq *ifr)
{
	if (ioctl(sock, SIOCGIFINDEX, ifr) < 0)
		return -errno;
	return link_open(&t->link, ifr->ifr_ifindex);
}

static void moved(struct tap *t)
{
	link_close(&t->link);
	if (in_its_netns(t, rewatch) == 0)
		watch(t);
	else /* `ip link del`: a dead descriptor is always ready and would keep the poller awake */
		epoll_ctl(t->epoll, EPOLL_CTL_DEL, t->fd, NULL);
}

void tap_follow(struct tap *t, struct cx_dev *dev)
{
	if (t->follow_wait) {
		t->follow_wait--;
		return;
	}
	t->follow_wait = TAP_GAP_MAX;
	if (!link_read(&t->link))
		return;
	if (!t->link.present)
		moved(t);
	if (!t->link.present)
		return;
	if (t->link.mtu != t->mtu) {
		t->mtu = (uint16_t)(t->link.mtu > UINT16_MAX ? UINT16_MAX : t->link.mtu);
		cx_mtu_set(dev, t->mtu);
	}
	if (memcmp(t->link.mac, t->mac, 6) != 0) {
		memcpy(t->mac, t->link.mac, 6);
		cx_mac_set(dev, t->mac);
	}
}
