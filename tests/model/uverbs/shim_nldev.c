/* uverbs/shim_nldev.c - the answers of the RDMA subsystem's netlink family
 *
 * Which devices there are is asked of the device process each time. Interface indexes
 * belong to a network namespace: they are looked up by the netdev's name in the one of the
 * socket, and left out where it is not, as the kernel does.
 *
 * Source: the kernel's drivers/infiniband/core/nldev.c (attributes and errors of each
 * command) and core/netlink.c (acknowledgements). Shown are the attributes whose values the
 * model has; capability flags are left out.
 */
#include "shim.h"

#include <errno.h>
#include <linux/netlink.h>
#include <net/if.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/rdma_netlink.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/un.h>

#define PORTS_MAX 64

struct reply {
	int sock;
	uint32_t port_id;
	const struct nlmsghdr *request;
	const struct nlattr *attr[RDMA_NLDEV_ATTR_MAX]; /* of the request, NULL = absent */
	size_t len;
	union {
		struct nlmsghdr h;
		uint8_t bytes[4096];
	} m; /* one message at a time */
};

/* ---- writing ---- */

static void begin(struct reply *r, uint16_t type, uint16_t flags)
{
	memset(&r->m.h, 0, sizeof(r->m.h));
	r->m.h.nlmsg_type = type;
	r->m.h.nlmsg_flags = flags;
	r->m.h.nlmsg_seq = r->request->nlmsg_seq;
	r->m.h.nlmsg_pid = r->port_id;
	r->len = NLMSG_HDRLEN;
}

/* Fixed, small contents: 4096 bytes are never full. */
static void put(struct reply *r, uint16_t type, const void *value, size_t len)
{
	struct nlattr a = { .nla_len = (uint16_t)(NLA_HDRLEN + len), .nla_type = type };

	memset(r->m.bytes + r->len, 0, NLA_HDRLEN + NLA_ALIGN(len));
	memcpy(r->m.bytes + r->len, &a, sizeof(a));
	memcpy(r->m.bytes + r->len + NLA_HDRLEN, value, len);
	r->len += NLA_HDRLEN + NLA_ALIGN(len);
}

static void put_u8(struct reply *r, uint16_t type, uint8_t v)
{
	put(r, type, &v, sizeof(v));
}
static void put_u32(struct reply *r, uint16_t type, uint32_t v)
{
	put(r, type, &v, sizeof(v));
}
static void put_u64(struct reply *r, uint16_t type, uint64_t v)
{
	put(r, type, &v, sizeof(v));
}
static void put_text(struct reply *r, uint16_t type, const char *v)
{
	put(r, type, v, strlen(v) + 1);
}

/* The socket sends to itself. */
static int finish(struct reply *r)
{
	struct sockaddr_un self;
	socklen_t len = sizeof(self);
	long ret = SYS(SYS_getsockname, r->sock, &self, &len);

	r->m.h.nlmsg_len = (uint32_t)r->len;
	if (!ret)
		ret = SYS(SYS_sendto, r->sock, r->m.bytes, r->len,
			  MSG_DONTWAIT | MSG_NOSIGNAL, &self, len);
	return ret == -EAGAIN ? -ENOBUFS : ret < 0 ? (int)ret : 0;
}

/* ---- reading ---- */

static bool parse(struct reply *r)
{
	const uint8_t *at = NLMSG_DATA(r->request);
	const uint8_t *end = (const uint8_t *)r->request + r->request->nlmsg_len;

	memset(r->attr, 0, sizeof(r->attr));
	while (end - at >= NLA_HDRLEN) {
		const struct nlattr *a = (const void *)at;
		unsigned type = a->nla_type & NLA_TYPE_MASK;

		if (a->nla_len < NLA_HDRLEN || a->nla_len > end - at)
			return false;
		if (type < RDMA_NLDEV_ATTR_MAX)
			r->attr[type] = a;
		at += NLA_ALIGN(a->nla_len);
	}
	return true;
}

static bool get_u32(const struct reply *r, unsigned type, uint32_t *v)
{
	const struct nlattr *a = r->attr[type];

	if (!a || a->nla_len < NLA_HDRLEN + sizeof(*v))
		return false;
	memcpy(v, (const uint8_t *)a + NLA_HDRLEN, sizeof(*v));
	return true;
}

/* ---- devices ---- */

/* The device's index is its uverbs number. */
static bool find_port(uint32_t index, struct cxp_port *ret)
{
	struct cxp_port port[PORTS_MAX];
	unsigned n = shim_list(port, PORTS_MAX);

	for (unsigned i = 0; i < n; i++) {
		if (port[i].uverbs == index) {
			*ret = port[i];
			return true;
		}
	}
	return false;
}

static bool asked_port(const struct reply *r, struct cxp_port *ret)
{
	uint32_t index;

	return get_u32(r, RDMA_NLDEV_ATTR_DEV_INDEX, &index) && find_port(index, ret);
}

static void put_handle(struct reply *r, const struct cxp_port *p)
{
	put_u32(r, RDMA_NLDEV_ATTR_DEV_INDEX, p->uverbs);
	put_text(r, RDMA_NLDEV_ATTR_DEV_NAME, p->rdma_name);
}

static void put_dev(struct reply *r, const struct cxp_port *p)
{
	put_handle(r, p);
	put_u32(r, RDMA_NLDEV_ATTR_PORT_INDEX, 1); /* number of ports */
	put_text(r, RDMA_NLDEV_ATTR_FW_VERSION, p->fw_ver);
	put_u64(r, RDMA_NLDEV_ATTR_NODE_GUID, p->node_guid);
	put_u64(r, RDMA_NLDEV_ATTR_SYS_IMAGE_GUID, p->sys_image_guid);
	put_u8(r, RDMA_NLDEV_ATTR_DEV_NODE_TYPE, 1); /* RDMA_NODE_IB_CA */
	put_u8(r, RDMA_NLDEV_ATTR_DEV_DIM, 1);	     /* mlx5_ib sets use_cq_dim */
	put_text(r, RDMA_NLDEV_ATTR_DEV_PROTOCOL, "roce");
}

/* 0 = not in this namespace */
static uint32_t ifindex(int sock, const char *name)
{
	struct ifreq ifr = { 0 };

	if (name[0] == '\0')
		return 0;
	snprintf(ifr.ifr_name, sizeof(ifr.ifr_name), "%s", name);
	return SYS(SYS_ioctl, sock, SIOCGIFINDEX, &ifr) ? 0 : (uint32_t)ifr.ifr_ifindex;
}

static void put_port(struct reply *r, const struct cxp_port *p)
{
	uint32_t index = ifindex(r->sock, p->netdev);

	put_handle(r, p);
	put_u32(r, RDMA_NLDEV_ATTR_PORT_INDEX, 1);
	/* enum ib_port_state: 1 down, 4 active; enum ib_port_phys_state: 3 disabled, 5 link up */
	put_u8(r, RDMA_NLDEV_ATTR_PORT_STATE, p->link_up ? 4 : 1);
	put_u8(r, RDMA_NLDEV_ATTR_PORT_PHYS_STATE, p->link_up ? 5 : 3);
	if (index) {
		put_u32(r, RDMA_NLDEV_ATTR_NDEV_INDEX, index);
		put_text(r, RDMA_NLDEV_ATTR_NDEV_NAME, p->netdev);
	}
}

/* ---- commands ---- */

#define NL_TYPE(op) RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, op)

static int get(struct reply *r)
{
	struct cxp_port p;

	if (!asked_port(r, &p))
		return -EINVAL;
	begin(r, NL_TYPE(RDMA_NLDEV_CMD_GET), 0);
	put_dev(r, &p);
	return finish(r);
}

static int get_dump(struct reply *r)
{
	struct cxp_port port[PORTS_MAX];
	unsigned n = shim_list(port, PORTS_MAX);
	int ret = 0;

	for (unsigned i = 0; i < n && !ret; i++) {
		begin(r, NL_TYPE(RDMA_NLDEV_CMD_GET), NLM_F_MULTI);
		put_dev(r, &port[i]);
		ret = finish(r);
	}
	return ret;
}

static int port_get(struct reply *r)
{
	struct cxp_port p;
	uint32_t number;

	if (!asked_port(r, &p) || !get_u32(r, RDMA_NLDEV_ATTR_PORT_INDEX, &number) ||
	    number != 1)
		return -EINVAL;
	begin(r, NL_TYPE(RDMA_NLDEV_CMD_GET), 0); /* so in the kernel: not PORT_GET */
	put_port(r, &p);
	return finish(r);
}

static int port_get_dump(struct reply *r)
{
	struct cxp_port p;

	if (!asked_port(r, &p))
		return -EINVAL;
	begin(r, NL_TYPE(RDMA_NLDEV_CMD_PORT_GET), NLM_F_MULTI);
	put_port(r, &p);
	return finish(r);
}

static int get_chardev(struct reply *r)
{
	const struct nlattr *type = r->attr[RDMA_NLDEV_ATTR_CHARDEV_TYPE];
	struct cxp_port p;
	char name[32];
	uint64_t minor;

	if (!type || !asked_port(r, &p))
		return -EINVAL;
	if (type->nla_len < NLA_HDRLEN + sizeof("uverbs") ||
	    memcmp((const char *)type + NLA_HDRLEN, "uverbs", sizeof("uverbs")) != 0)
		return -EOPNOTSUPP; /* umad, issm, rdma_cm */
	minor = SHIM_UVERBS_MINOR + p.uverbs;
	begin(r, NL_TYPE(RDMA_NLDEV_CMD_GET_CHARDEV), 0);
	put_u32(r, RDMA_NLDEV_ATTR_UVERBS_DRIVER_ID, RDMA_DRIVER_MLX5);
	/* huge_encode_dev() of the kernel */
	put_u64(r, RDMA_NLDEV_ATTR_CHARDEV,
		(minor & 0xff) | SHIM_UVERBS_MAJOR << 8 |
			(minor & ~UINT64_C(0xff)) << 12);
	put_u64(r, RDMA_NLDEV_ATTR_CHARDEV_ABI, 1); /* MLX5_IB_UVERBS_ABI_VERSION */
	snprintf(name, sizeof(name), "uverbs%u", p.uverbs);
	put_text(r, RDMA_NLDEV_ATTR_CHARDEV_NAME, name);
	return finish(r);
}

static int sys_get(struct reply *r)
{
	begin(r, NL_TYPE(RDMA_NLDEV_CMD_SYS_GET), 0);
	put_u8(r, RDMA_NLDEV_SYS_ATTR_NETNS_MODE, 1);	/* shared, the default */
	put_u8(r, RDMA_NLDEV_SYS_ATTR_COPY_ON_FORK, 1); /* shim_fork.c */
	return finish(r);
}

static const struct command {
	uint16_t op;
	int (*doit)(struct reply *r); /* NULL: EINVAL, as in the kernel */
	int (*dump)(struct reply *r);
} commands[] = {
	{ RDMA_NLDEV_CMD_GET, get, get_dump },
	{ RDMA_NLDEV_CMD_PORT_GET, port_get, port_get_dump },
	{ RDMA_NLDEV_CMD_GET_CHARDEV, get_chardev, NULL },
	{ RDMA_NLDEV_CMD_SYS_GET, sys_get, NULL },
};

static const struct command *find_command(uint16_t type)
{
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		if (RDMA_NL_GET_CLIENT(type) == RDMA_NL_NLDEV &&
		    RDMA_NL_GET_OP(type) == commands[i].op)
			return &commands[i];
	}
	shim_log("netlink: RDMA client %u command %u is not modelled",
		 RDMA_NL_GET_CLIENT(type), RDMA_NL_GET_OP(type));
	return NULL;
}

/* ---- acknowledgements ---- */

static int acknowledge(struct reply *r, int error)
{
	struct nlmsgerr e = { .error = error, .msg = *r->request };
	/* An error carries the whole request back, a success its header only; netlink(7). */
	size_t rest = error ? r->request->nlmsg_len - NLMSG_HDRLEN : 0;

	begin(r, NLMSG_ERROR, 0);
	memcpy(r->m.bytes + r->len, &e, sizeof(e));
	r->len += sizeof(e);
	if (rest > sizeof(r->m) - r->len)
		rest = sizeof(r->m) - r->len;
	memcpy(r->m.bytes + r->len, NLMSG_DATA(r->request), rest);
	r->len += NLMSG_ALIGN(rest);
	return finish(r);
}

static int end_dump(struct reply *r, int error)
{
	begin(r, NLMSG_DONE, NLM_F_MULTI);
	memcpy(r->m.bytes + r->len, &error, sizeof(error));
	r->len += sizeof(error);
	return finish(r);
}

static int serve(struct reply *r)
{
	const struct nlmsghdr *q = r->request;
	const struct command *c = NULL;
	int error = 0;

	if (q->nlmsg_flags & NLM_F_REQUEST && q->nlmsg_type >= NLMSG_MIN_TYPE) {
		c = find_command(q->nlmsg_type);
		error = c && parse(r) ? 0 : -EINVAL;
	}
	if (!error && c && q->nlmsg_flags & NLM_F_DUMP) {
		if (c->dump)
			return end_dump(r, c->dump(r));
		error = -EINVAL;
	} else if (!error && c) {
		error = c->doit(r);
	}
	shim_trace("netlink type 0x%x flags 0x%x: %s", q->nlmsg_type, q->nlmsg_flags,
		   shim_strerror(error));
	return error || q->nlmsg_flags & NLM_F_ACK ? acknowledge(r, error) : 0;
}

int shim_nldev(int sock, uint32_t port_id, const void *request, size_t len)
{
	struct reply r = { .sock = sock, .port_id = port_id };
	const uint8_t *at = request;
	int ret = 0;

	while (!ret && len >= NLMSG_HDRLEN) {
		size_t step;

		r.request = (const void *)at;
		if (r.request->nlmsg_len < NLMSG_HDRLEN || r.request->nlmsg_len > len)
			break;
		ret = serve(&r);
		step = NLMSG_ALIGN(r.request->nlmsg_len);
		step = step < len ? step : len;
		at += step;
		len -= step;
	}
	return ret;
}
