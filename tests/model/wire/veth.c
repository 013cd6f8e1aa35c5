/* wire/veth.c - a port's wire is an existing interface, by AF_PACKET
 *
 *   veth:IF[@NETNS]     NETNS as `ip netns` knows it, or a path
 *
 * Everything that arrives on the interface arrives at the port; what the port
 * sends leaves by it. Frames that the other end's kernel left half made are
 * finished (offload.h). The port's link follows the interface: administratively
 * down, without carrier or removed means link down.
 *
 * Frames are lost in three places only, and counted: the socket's receive
 * buffer (rx_lost), our send buffer while the kernel takes nothing (tx_lost), a
 * frame that is too long for the interface (tx_lost, reported).
 *
 * Source: packet(7); kernel Documentation/networking/packet_mmap.rst.
 */
#define _GNU_SOURCE 1
#include <arpa/inet.h>
#include <errno.h>
#include <linux/ethtool.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <linux/sockios.h>
#include <linux/virtio_net.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../cxmodel/model.h"
#include "link.h"
#include "netns.h"
#include "offload.h"
#include "wire.h"

enum {
	RX_BURST = 32,
	RX_BYTES = 65536 + 64, /* a merged frame with its virtio header fits */
	TX_BURST = 256,
	TX_BYTES = 1 << 20, /* waiting in the batch */
	SOCKET_BYTES =
		32 << 20,  /* receive buffer of the socket; about 40,000 small frames */
	VETH_GAP_MAX = 16, /* passes between looks at a quiet socket; see poll.c, SPINS */
};

struct rx_slot {
	struct virtio_net_hdr hdr;
	_Alignas(size_t) char control[CMSG_SPACE(sizeof(struct tpacket_auxdata))];
	uint8_t room[OFFLOAD_ROOM]; /* for the VLAN tag, directly before the frame */
	uint8_t frame[RX_BYTES];
};

struct veth {
	struct wire w;
	int fd, epoll;
	char name[16]; /* at start, for messages */
	bool gro_was_on;
	struct link link;
	unsigned gap, wait, link_wait;
	int tx_complained; /* errno of the last complaint */

	struct rx_slot slot[RX_BURST];
	struct iovec rx_iov[RX_BURST][2];
	struct mmsghdr rx_msg[RX_BURST];

	struct virtio_net_hdr no_offload; /* before each frame sent: all zero */
	struct iovec tx_iov[TX_BURST][2];
	struct mmsghdr tx_msg[TX_BURST];
	unsigned tx_sent, tx_n;
	uint32_t tx_used;
	uint8_t tx_bytes[TX_BYTES];
};

/* ---- open ---- */

struct veth_name {
	char ifname[16];
	char netns[200];
};

static int split(const char *args, struct veth_name *n, char *why, size_t why_size)
{
	const char *at = strchr(args, '@');
	size_t len = at ? (size_t)(at - args) : strlen(args);

	if (!len || len >= sizeof(n->ifname) || (at && !at[1]) ||
	    (at && strlen(at + 1) >= sizeof(n->netns))) {
		snprintf(why, why_size,
			 "wire veth:%s: not an interface name; use: veth:IF or "
			 "veth:IF@NETNS",
			 args);
		return -EINVAL;
	}
	snprintf(n->ifname, sizeof(n->ifname), "%.*s", (int)len, args);
	snprintf(n->netns, sizeof(n->netns), "%s", at ? at + 1 : "");
	return 0;
}

static int set_int(int fd, int name, int value)
{
	return setsockopt(fd, SOL_PACKET, name, &value, sizeof(value)) < 0 ? -errno : 0;
}

static int packet_socket(int ifindex, int *ret)
{
	struct sockaddr_ll sa = { .sll_family = AF_PACKET,
				  .sll_protocol = htons(ETH_P_ALL),
				  .sll_ifindex = ifindex };
	struct packet_mreq promisc = { .mr_ifindex = ifindex,
				       .mr_type = PACKET_MR_PROMISC };
	int bytes = SOCKET_BYTES;
	int fd, r;

	/* Protocol 0: nothing is received before the socket is set up and bound. */
	fd = *ret = socket(AF_PACKET, SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	if ((r = set_int(fd, PACKET_VNET_HDR, 1)) < 0 ||
	    (r = set_int(fd, PACKET_AUXDATA, 1)) < 0 ||
	    (r = set_int(fd, PACKET_IGNORE_OUTGOING, 1)) < 0)
		return r;
	if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof(bytes)) < 0)
		setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof(bytes));
	if (setsockopt(fd, SOL_PACKET, PACKET_ADD_MEMBERSHIP, &promisc, sizeof(promisc)) <
	    0)
		return -errno;
	return bind(fd, (struct sockaddr *)&sa, sizeof(sa)) < 0 ? -errno : 0;
}

/* Merging on receipt would change frames; our answer to merged ones is only a fallback. */
static int gro(struct veth *v, uint32_t cmd, uint32_t value)
{
	struct ethtool_value ev = { .cmd = cmd, .data = value };
	struct ifreq ifr = { .ifr_ifindex = v->link.ifindex };

	if (ioctl(v->fd, SIOCGIFNAME, &ifr) < 0)
		return -errno;
	ifr.ifr_data = (void *)&ev;
	if (ioctl(v->fd, SIOCETHTOOL, &ifr) < 0)
		return -errno;
	return (int)ev.data;
}

static void prepare_batches(struct veth *v)
{
	for (unsigned i = 0; i < RX_BURST; i++) {
		struct rx_slot *s = &v->slot[i];

		v->rx_iov[i][0] = (struct iovec){ &s->hdr, sizeof(s->hdr) };
		v->rx_iov[i][1] = (struct iovec){ s->frame, sizeof(s->frame) };
		v->rx_msg[i].msg_hdr.msg_iov = v->rx_iov[i];
		v->rx_msg[i].msg_hdr.msg_iovlen = 2;
	}
	for (unsigned i = 0; i < TX_BURST; i++) {
		v->tx_iov[i][0] = (struct iovec){ &v->no_offload, sizeof(v->no_offload) };
		v->tx_msg[i].msg_hdr.msg_iov = v->tx_iov[i];
		v->tx_msg[i].msg_hdr.msg_iovlen = 2;
	}
}

static int watch(struct veth *v)
{
	struct epoll_event ev = { .events = EPOLLIN };

	v->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (v->epoll < 0 || epoll_ctl(v->epoll, EPOLL_CTL_ADD, v->fd, &ev) < 0 ||
	    epoll_ctl(v->epoll, EPOLL_CTL_ADD, v->link.fd, &ev) < 0)
		return -errno;
	return 0;
}

static int plug(struct veth *v)
{
	int ifindex = (int)if_nametoindex(v->name);
	int r = ifindex ? packet_socket(ifindex, &v->fd) : -errno;

	if (!r)
		r = link_open(&v->link, ifindex);
	if (!r)
		r = watch(v);
	if (r < 0)
		return r;
	v->gro_was_on = gro(v, ETHTOOL_GGRO, 0) > 0 && gro(v, ETHTOOL_SGRO, 0) >= 0;
	v->w.carrier = v->link.carrier;
	return 0;
}

static const char *advice(int r)
{
	switch (-r) {
	case ENODEV:
		return "make it with: ip link add IF type veth peer name OTHER";
	case EPERM:
		return "needs CAP_NET_RAW; run as root";
	default:
		return "see packet(7)";
	}
}

static void veth_close(struct wire *w)
{
	struct veth *v = (struct veth *)w;

	if (v->gro_was_on)
		gro(v, ETHTOOL_SGRO, 1);
	if (v->epoll >= 0)
		close(v->epoll);
	link_close(&v->link);
	if (v->fd >= 0)
		close(v->fd);
	free(v);
}

static int veth_open(struct model_port *port, const char *args, char *why,
		     size_t why_size, struct wire **ret)
{
	struct veth_name name;
	struct veth *v;
	int back, r;

	r = split(args, &name, why, why_size);
	if (r < 0)
		return r;
	v = calloc(1, sizeof(*v));
	if (!v)
		return -ENOMEM;
	v->w.class = &wire_veth;
	v->w.port = port;
	v->fd = v->epoll = v->link.fd = -1;
	memcpy(v->name, name.ifname, sizeof(v->name));
	prepare_batches(v);
	r = netns_enter(name.netns, &back, why, why_size);
	if (!r) {
		r = plug(v);
		netns_leave(back);
		if (r < 0)
			snprintf(why, why_size, "wire veth:%s: %s; %s", args,
				 strerror(-r), advice(r));
	}
	if (r < 0) {
		veth_close(&v->w);
		return r;
	}
	*ret = &v->w;
	return 0;
}

/* ---- state ---- */

static const char *state_text(const struct veth *v)
{
	if (!v->link.present)
		return "is gone: plug in another wire, or restart";
	if (!v->link.up)
		return "is down: ip link set up it";
	return v->link.carrier ? "has carrier" : "has no carrier: is its other end up?";
}

static void take_link(struct veth *v)
{
	bool was_present = v->link.present;

	if (v->link_wait) {
		v->link_wait--;
		return;
	}
	v->link_wait = VETH_GAP_MAX;
	if (!link_read(&v->link))
		return;
	if (v->link.present == was_present && v->w.carrier == v->link.carrier)
		return;
	v->w.carrier = v->link.carrier;
	model_note(v->w.port->model, "%s: wire %s %s", v->w.port->netdev, v->name,
		   state_text(v));
	port_link_update(v->w.port);
}

static int veth_start(struct wire *w, char *why, size_t why_size)
{
	struct veth *v = (struct veth *)w;

	(void)why, (void)why_size;
	if (!w->carrier)
		model_log(w->port->model, "%s: wire %s %s", w->port->netdev, v->name,
			  state_text(v));
	return 0;
}

static void take_losses(struct veth *v)
{
	struct tpacket_stats st; /* the kernel's counters restart with each look */
	socklen_t len = sizeof(st);

	if (getsockopt(v->fd, SOL_PACKET, PACKET_STATISTICS, &st, &len) == 0)
		v->w.rx_lost += st.tp_drops;
}

/* ---- in ---- */

static void arrived(void *arg, const uint8_t *frame, uint32_t len)
{
	struct veth *v = arg;

	v->w.rx_frames++;
	cx_rx(v->w.port->dev, frame, len);
}

static void find_tag(struct msghdr *m, struct offload *o)
{
	for (struct cmsghdr *c = CMSG_FIRSTHDR(m); c; c = CMSG_NXTHDR(m, c)) {
		struct tpacket_auxdata aux;

		if (c->cmsg_level != SOL_PACKET || c->cmsg_type != PACKET_AUXDATA)
			continue;
		memcpy(&aux, CMSG_DATA(c), sizeof(aux));
		if (!(aux.tp_status & TP_STATUS_VLAN_VALID))
			continue;
		o->vlan_tci = aux.tp_vlan_tci;
		o->vlan_tpid = aux.tp_status & TP_STATUS_VLAN_TPID_VALID
				       ? aux.tp_vlan_tpid
				       : ETH_P_8021Q;
	}
}

static void take_frame(struct veth *v, unsigned i)
{
	struct offload o = { .hdr = &v->slot[i].hdr, .emit = arrived, .arg = v };
	struct msghdr *m = &v->rx_msg[i].msg_hdr;
	uint32_t len = v->rx_msg[i].msg_len;

	if (m->msg_flags & MSG_TRUNC || len < sizeof(*o.hdr)) {
		v->w.rx_lost++;
		return;
	}
	find_tag(m, &o);
	if (offload_finish(&o, v->slot[i].frame, len - (uint32_t)sizeof(*o.hdr)) < 0)
		v->w.rx_lost++;
}

static int receive(struct veth *v, unsigned budget)
{
	unsigned n = budget < RX_BURST ? budget : RX_BURST;
	int got;

	for (unsigned i = 0; i < n; i++) {
		v->rx_msg[i].msg_hdr.msg_control = v->slot[i].control;
		v->rx_msg[i].msg_hdr.msg_controllen = sizeof(v->slot[i].control);
	}
	got = recvmmsg(v->fd, v->rx_msg, n, MSG_DONTWAIT, NULL);
	for (int i = 0; i < got; i++)
		take_frame(v, (unsigned)i);
	return got;
}

/* ---- out ---- */

/* The frame at tx_sent cannot go; say why once per kind of error. */
static void lose(struct veth *v, int err)
{
	uint32_t len = (uint32_t)v->tx_iov[v->tx_sent][1].iov_len;

	v->tx_sent++;
	v->w.tx_lost++;
	if (err == v->tx_complained || err == ENETDOWN || err == ENXIO)
		return; /* the link state has told already */
	v->tx_complained = err;
	model_log(v->w.port->model, "%s: wire %s: frame of %u bytes not sent: %s%s",
		  v->w.port->netdev, v->name, len, strerror(err),
		  err == EMSGSIZE ? "; raise the interface's MTU" : "");
}

static void flush(struct veth *v)
{
	while (v->tx_sent < v->tx_n) {
		int r = sendmmsg(v->fd, v->tx_msg + v->tx_sent, v->tx_n - v->tx_sent,
				 MSG_DONTWAIT);

		if (r > 0) {
			v->tx_sent += (unsigned)r;
			v->w.tx_frames += (unsigned)r;
		} else if (errno == EAGAIN || errno == ENOBUFS) {
			return; /* tried again at the next pass */
		} else if (errno != EINTR) {
			lose(v, errno);
		}
	}
	v->tx_sent = v->tx_n = 0;
	v->tx_used = 0;
}

static void veth_tx(struct wire *w, const void *frame, uint32_t len)
{
	struct veth *v = (struct veth *)w;

	if (v->tx_n == TX_BURST || len > TX_BYTES - v->tx_used)
		flush(v);
	if (v->tx_n == TX_BURST || len > TX_BYTES - v->tx_used) {
		w->tx_lost++;
		return;
	}
	v->tx_iov[v->tx_n++][1] = (struct iovec){ v->tx_bytes + v->tx_used, len };
	memcpy(v->tx_bytes + v->tx_used, frame, len);
	v->tx_used += len;
}

static unsigned veth_poll(struct wire *w, unsigned budget)
{
	struct veth *v = (struct veth *)w;
	unsigned n = 0;
	int got;

	if (v->tx_n)
		flush(v);
	take_link(v);
	if (v->wait) {
		v->wait--;
		return v->tx_n; /* what still waits is work: the poller must not sleep */
	}
	do {
		got = receive(v, budget - n);
		n += got > 0 ? (unsigned)got : 0;
	} while (got == RX_BURST && n < budget);
	if (n)
		v->gap = 0;
	else if (!v->gap)
		take_losses(v); /* once after each burst */
	if (!n)
		v->gap = v->gap ? v->gap * 2 : 1;
	if (v->gap > VETH_GAP_MAX)
		v->gap = VETH_GAP_MAX;
	v->wait = v->gap;
	return n + v->tx_n;
}

static int veth_fd(const struct wire *w)
{
	return ((const struct veth *)w)->epoll;
}

const struct wire_class wire_veth = {
	.name = "veth",
	.args = "IF[@NETNS]",
	.help = "an existing interface, by AF_PACKET",
	.open = veth_open,
	.start = veth_start,
	.tx = veth_tx,
	.poll = veth_poll,
	.fd = veth_fd,
	.close = veth_close,
};
