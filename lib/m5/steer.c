/* m5/steer.c - flow rules of a port: which packets come to us
 *
 * A matcher is a priority and a mask; its rules are values under that mask:
 *
 *   priority 0   destination address of the host (one matcher a family)   -> kernel
 *   priority 1   TTL 0 and 1, where the card can match them; fragments    -> kernel
 *   priority 2   MAC, untagged, IP version, TCP or UDP                    -> TIR of the type
 *   priority 3   MAC, untagged, IP version                                -> TIR of the family
 *
 * "-> kernel" is the default-miss action: go on where the kernel's own tables begin,
 * past all rules of users (Linux 5.9, mlx5_ib fs.c). The rules are the kernel's to
 * remove when this process ends, however it ends.
 */

#include "steer.h"

#include <stdlib.h>
#include <string.h>

#include "../base/hot.h"
#include "../prm/flow.h"
#include "inside.h"
#include "rss.h"

enum { PRIO_LOCAL, PRIO_KERNEL, PRIO_TRANSIT_L4, PRIO_TRANSIT };
enum { PROTO_TCP = 6, PROTO_UDP = 17 };

/* Masks of the matchers, and which of them exist. */
enum matcher { LOCAL4, LOCAL6, TTL, FRAGMENT, TRANSIT_L4, TRANSIT, MATCHER_COUNT };

struct local {
	struct local *next;
	uint8_t family, addr[16];
	struct ibv_flow *flow;
};

enum { KERNEL_RULES = 6 };
struct m5_steer {
	struct m5_dev *dev;
	struct m5_rss rss;
	uint8_t mac[6];
	struct mlx5dv_flow_matcher *matcher[MATCHER_COUNT];
	struct ibv_flow *kernel[KERNEL_RULES];
	struct ibv_flow *transit[M5_TRAFFIC_COUNT];
	struct local *locals;
	bool on;
};

/* Room for the parameter that rdma-core wants: a length and the bytes after it. */
struct match {
	size_t bytes;
	uint32_t word[PRM_MATCH_BYTES / 4];
};

static struct mlx5dv_flow_match_parameters *params(struct match *m)
{
	m->bytes = sizeof(m->word);
	return (struct mlx5dv_flow_match_parameters *)(void *)m;
}

static_assert(offsetof(struct match, word) ==
		      offsetof(struct mlx5dv_flow_match_parameters, match_buf),
	      "same layout as the library's");

/* ---- masks and values ---- */

static void set_version(struct match *m, unsigned v)
{
	prm_set(m->word, PRM_MATCH_IP_VERSION, v);
}

static void set_address(struct match *m, uint8_t family, const uint8_t addr[16])
{
	if (family == 4)
		memcpy(prm_at(m->word, PRM_MATCH_DST_IPV4), addr, 4);
	else
		memcpy(prm_at(m->word, PRM_MATCH_DST_IP), addr, 16);
}

static void set_mac(struct match *m, const uint8_t mac[6])
{
	prm_set(m->word, PRM_MATCH_DMAC_47_16,
		(uint32_t)mac[0] << 24 | (uint32_t)mac[1] << 16 | (uint32_t)mac[2] << 8 |
			mac[3]);
	prm_set(m->word, PRM_MATCH_DMAC_15_0, (uint32_t)mac[4] << 8 | mac[5]);
}

static const uint8_t ones[16] = { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
				  0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff };

static struct match mask_of(enum matcher which)
{
	struct match m = { 0 };

	switch (which) {
	case LOCAL4:
	case LOCAL6:
		set_version(&m, 0xf);
		set_address(&m, which == LOCAL4 ? 4 : 6, ones);
		break;
	case TTL:
		set_version(&m, 0xf);
		prm_set(m.word, PRM_MATCH_TTL, 0xff);
		break;
	case FRAGMENT:
		set_version(&m, 0xf);
		prm_set(m.word, PRM_MATCH_FRAG, 1);
		break;
	case TRANSIT_L4:
		prm_set(m.word, PRM_MATCH_IP_PROTOCOL, 0xff);
		/* fall through */
	case TRANSIT:
		set_version(&m, 0xf);
		set_mac(&m, ones);
		prm_set(m.word, PRM_MATCH_CVLAN, 1);
		prm_set(m.word, PRM_MATCH_SVLAN, 1);
		break;
	case MATCHER_COUNT:
		break;
	}
	return m;
}

static const struct {
	uint16_t priority;
	const char *what; /* for error text */
} matchers[MATCHER_COUNT] = {
	[LOCAL4] = { PRIO_LOCAL, "own IPv4 addresses" },
	[LOCAL6] = { PRIO_LOCAL, "own IPv6 addresses" },
	[TTL] = { PRIO_KERNEL, "TTL" },
	[FRAGMENT] = { PRIO_KERNEL, "fragments" },
	[TRANSIT_L4] = { PRIO_TRANSIT_L4, "TCP and UDP in transit" },
	[TRANSIT] = { PRIO_TRANSIT, "packets in transit" },
};

/* ---- rules ---- */

static int failed(const struct m5_steer *s, int r, const char *what, struct err *err)
{
	const char *name = s->dev->caps.rdma_name;

	if (r == -EPERM || r == -EACCES)
		return err_set(
			err, r,
			"%s: flow rule for %s: not permitted; run with CAP_NET_RAW", name,
			what);
	/* The commands are the kernel's, and so is what the device said. */
	return err_set(
		err, r,
		"%s: flow rule for %s: %s (%s); the kernel's log (dmesg) may say more",
		name, what, strerror(-r), err_symbol(r));
}

static int open_matcher(struct m5_steer *s, enum matcher which, struct err *err)
{
	struct match mask = mask_of(which);
	struct mlx5dv_flow_matcher_attr attr = {
		.type = IBV_FLOW_ATTR_NORMAL,
		.priority = matchers[which].priority,
		.match_criteria_enable = PRM_MATCH_CRITERIA_OUTER,
		.match_mask = params(&mask),
	};

	errno = 0;
	s->matcher[which] = mlx5dv_create_flow_matcher(s->dev->ctx, &attr);
	return s->matcher[which] ? 0
				 : failed(s, verbs_errno(), matchers[which].what, err);
}

/* @tir NULL: to the kernel. */
static int open_rule(struct m5_steer *s, enum matcher which, struct match *value,
		     struct mlx5dv_devx_obj *tir, struct err *err, struct ibv_flow **ret)
{
	struct mlx5dv_flow_action_attr action = {
		.type = MLX5DV_FLOW_ACTION_DEFAULT_MISS
	};

	if (tir) {
		action.type = MLX5DV_FLOW_ACTION_DEST_DEVX;
		action.obj = tir;
	}
	errno = 0;
	*ret = mlx5dv_create_flow(s->matcher[which], params(value), 1, &action);
	return *ret ? 0 : failed(s, verbs_errno(), matchers[which].what, err);
}

static void close_rule(struct ibv_flow **flow)
{
	if (*flow)
		ibv_destroy_flow(*flow);
	*flow = NULL;
}

/* One field carries both, but the card says for each whether it can compare it. What it cannot
 * comes to us, and goes to the kernel by punt. */
static bool can_match_ttl(const struct m5_steer *s, unsigned version)
{
	return version == 4 ? s->dev->caps.match_ttl : s->dev->caps.match_hop_limit;
}

static int open_kernel_rules(struct m5_steer *s, struct err *err)
{
	struct ibv_flow **rule = s->kernel;
	int r = 0;

	for (unsigned version = 4; version <= 6 && !r; version += 2) {
		struct match value = { 0 };

		set_version(&value, version);
		prm_set(value.word, PRM_MATCH_FRAG, 1);
		r = open_rule(s, FRAGMENT, &value, NULL, err, rule++);
		for (unsigned ttl = 0; ttl <= 1 && !r && can_match_ttl(s, version);
		     ttl++) {
			memset(value.word, 0, sizeof(value.word));
			set_version(&value, version);
			prm_set(value.word, PRM_MATCH_TTL, ttl);
			r = open_rule(s, TTL, &value, NULL, err, rule++);
		}
	}
	return r;
}

int m5_steer_open(struct m5_dev *dev, const struct m5_steer_conf *conf, struct err *err,
		  struct m5_steer **ret)
{
	struct m5_steer *s = calloc(1, sizeof(*s));
	int r;

	if (!s)
		return err_set(err, -ENOMEM, "%s: no memory", dev->caps.rdma_name);
	s->dev = dev;
	memcpy(s->mac, conf->mac, sizeof(s->mac));
	r = m5_rss_open(&s->rss, dev, conf->rxq, conf->n_rxq, err);
	for (unsigned i = 0; i < MATCHER_COUNT && !r; i++)
		if (i != TTL || can_match_ttl(s, 4) || can_match_ttl(s, 6))
			r = open_matcher(s, (enum matcher)i, err);
	if (!r)
		r = open_kernel_rules(s, err);
	if (r < 0) {
		m5_steer_close(s);
		return r;
	}
	*ret = s;
	return 0;
}

void m5_steer_close(struct m5_steer *s)
{
	struct local *l;

	if (!s)
		return;
	m5_steer_transit(s, false, NULL);
	for (unsigned i = 0; i < KERNEL_RULES; i++)
		close_rule(&s->kernel[i]);
	while ((l = s->locals)) {
		s->locals = l->next;
		close_rule(&l->flow);
		free(l);
	}
	for (unsigned i = 0; i < MATCHER_COUNT; i++)
		if (s->matcher[i])
			mlx5dv_destroy_flow_matcher(s->matcher[i]);
	m5_rss_close(&s->rss);
	free(s);
}

/* ---- transit ---- */

static const struct {
	uint8_t version, proto;
} traffic[M5_TRAFFIC_COUNT] = {
	[M5_IP4] = { 4, 0 },
	[M5_IP4_TCP] = { 4, PROTO_TCP },
	[M5_IP4_UDP] = { 4, PROTO_UDP },
	[M5_IP6] = { 6, 0 },
	[M5_IP6_TCP] = { 6, PROTO_TCP },
	[M5_IP6_UDP] = { 6, PROTO_UDP },
};

static int open_transit(struct m5_steer *s, const uint8_t mac[6], struct ibv_flow *flow[],
			struct err *err)
{
	int r = 0;

	for (unsigned i = 0; i < M5_TRAFFIC_COUNT && !r; i++) {
		struct match value = { 0 };

		set_version(&value, traffic[i].version);
		set_mac(&value, mac);
		if (traffic[i].proto)
			prm_set(value.word, PRM_MATCH_IP_PROTOCOL, traffic[i].proto);
		r = open_rule(s, traffic[i].proto ? TRANSIT_L4 : TRANSIT, &value,
			      s->rss.tir[i], err, &flow[i]);
	}
	for (unsigned i = 0; i < M5_TRAFFIC_COUNT && r; i++)
		close_rule(&flow[i]);
	return r;
}

int m5_steer_transit(struct m5_steer *s, bool on, struct err *err)
{
	int r = 0;

	if (on == s->on)
		return 0;
	if (on)
		r = open_transit(s, s->mac, s->transit, err);
	else
		for (unsigned i = 0; i < M5_TRAFFIC_COUNT; i++)
			close_rule(&s->transit[i]);
	if (!r)
		s->on = on;
	return r;
}

int m5_steer_mac_set(struct m5_steer *s, const uint8_t mac[6], struct err *err)
{
	struct ibv_flow *flow[M5_TRAFFIC_COUNT] = { NULL };
	int r;

	if (!memcmp(mac, s->mac, sizeof(s->mac)))
		return 0;
	if (s->on) {
		r = open_transit(s, mac, flow, err);
		if (r < 0)
			return r;
		for (unsigned i = 0; i < M5_TRAFFIC_COUNT; i++)
			close_rule(&s->transit[i]);
		memcpy(s->transit, flow, sizeof(flow));
	}
	memcpy(s->mac, mac, sizeof(s->mac));
	return 0;
}

/* ---- own addresses ---- */

static struct local **find_local(struct m5_steer *s, uint8_t family,
				 const uint8_t addr[16])
{
	struct local **l = &s->locals;

	while (*l &&
	       ((*l)->family != family || memcmp((*l)->addr, addr, family == 4 ? 4 : 16)))
		l = &(*l)->next;
	return l;
}

int m5_steer_local_add(struct m5_steer *s, uint8_t family, const uint8_t addr[16],
		       struct err *err)
{
	struct match value = { 0 };
	struct local *l;
	int r;

	if (*find_local(s, family, addr))
		return 0;
	l = calloc(1, sizeof(*l));
	if (!l)
		return err_set(err, -ENOMEM, "%s: no memory", s->dev->caps.rdma_name);
	l->family = family;
	memcpy(l->addr, addr, family == 4 ? 4 : 16);
	set_version(&value, family);
	set_address(&value, family, addr);
	r = open_rule(s, family == 4 ? LOCAL4 : LOCAL6, &value, NULL, err, &l->flow);
	if (r < 0) {
		free(l);
		return r;
	}
	l->next = s->locals;
	s->locals = l;
	return 0;
}

int m5_steer_local_del(struct m5_steer *s, uint8_t family, const uint8_t addr[16],
		       struct err *err)
{
	struct local **at = find_local(s, family, addr), *l = *at;

	(void)err;
	if (!l)
		return 0;
	*at = l->next;
	close_rule(&l->flow);
	free(l);
	return 0;
}

/* ---- the same in software ---- */

static enum m5_traffic traffic_of(const struct m5_flow *f)
{
	enum m5_traffic found = f->family == 4 ? M5_IP4 : M5_IP6;

	for (unsigned i = 0; i < M5_TRAFFIC_COUNT; i++)
		if (traffic[i].version == f->family && traffic[i].proto == f->proto)
			found = (enum m5_traffic)i;
	return found;
}

int m5_steer_queue(struct m5_steer *s, const struct m5_flow *f)
{
	if (!s->on || *find_local(s, f->family, f->dst) ||
	    (f->ttl <= 1 && can_match_ttl(s, f->family)))
		return M5_STEER_KERNEL;
	return (int)m5_rss_queue(&s->rss, traffic_of(f), f);
}
