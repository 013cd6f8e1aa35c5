/* daemon/route_get.c - what would become of a packet
 *
 * Such a packet is made, and asked about with what workers use: the parser, the published tables
 * and the number that tells flows apart. Without "from" it is of no known flow: then a group
 * answers for its legs, and no leg is named; nor is a queue, but what would have to be known.
 */

#include <arpa/inet.h>
#include <string.h>

#include "../lib/base/number.h"
#include "../lib/pkt/flow_hot.h"
#include "../lib/pkt/parse_hot.h"
#include "packet_words.h"
#include "requests.h"
#include "router.h"
#include "show.h"

enum { L4_BYTES = 20, FRAME_MAX = sizeof(struct eth_hdr) + UINT16_MAX };

/* ---- the question ---- */

struct question {
	uint8_t family, proto, ttl;
	uint8_t dst[16], src[16];
	bool has_src, has_sport, has_dport, has_in;
	uint16_t sport, dport;
	uint32_t bytes; /* of the IP packet; 0 = as short as can be */
	const struct port *in;
};

static int take_address(const char *what, const char *text, uint8_t family,
			uint8_t addr[16], struct err *err)
{
	if (inet_pton(family == 4 ? AF_INET : AF_INET6, text, addr) == 1)
		return 0;
	return err_set(err, -EINVAL, "%s%s: not an IPv%u address", what, text, family);
}

static int take_from(struct router *r, struct question *q, const char *value,
		     struct err *err)
{
	(void)r;
	q->has_src = true;
	return take_address("from ", value, q->family, q->src, err);
}

static int take_in(struct router *r, struct question *q, const char *value,
		   struct err *err)
{
	q->in = port_by_name(r, value);
	q->has_in = true;
	return q->in ? 0
		     : err_set(err, -ENODEV, "iif %s: not a port of this router", value);
}

static int take_proto(struct router *r, struct question *q, const char *value,
		      struct err *err)
{
	uint8_t proto[2];

	(void)r;
	if (packet_proto(value, proto) < 0)
		return err_set(err, -EINVAL, "proto %s: must be tcp, udp or icmp", value);
	q->proto = proto[q->family == 6];
	return 0;
}

static int take_port_number(const char *what, const char *value, uint16_t *ret,
			    struct err *err)
{
	uint64_t v = 0;
	int r = packet_number(what, value, 0, UINT16_MAX, &v, err);

	*ret = (uint16_t)v;
	return r;
}

static int take_sport(struct router *r, struct question *q, const char *value,
		      struct err *err)
{
	(void)r;
	q->has_sport = true;
	return take_port_number("sport", value, &q->sport, err);
}

static int take_dport(struct router *r, struct question *q, const char *value,
		      struct err *err)
{
	(void)r;
	q->has_dport = true;
	return take_port_number("dport", value, &q->dport, err);
}

static int take_ttl(struct router *r, struct question *q, const char *value,
		    struct err *err)
{
	uint64_t v = 0;
	int ret = packet_number("ttl", value, 0, UINT8_MAX, &v, err);

	(void)r;
	q->ttl = (uint8_t)v;
	return ret;
}

static int take_bytes(struct router *r, struct question *q, const char *value,
		      struct err *err)
{
	unsigned min = L4_BYTES +
		       (q->family == 4 ? sizeof(struct ip4_hdr) : sizeof(struct ip6_hdr));
	uint64_t v = 0;
	int ret = packet_number("bytes", value, min, UINT16_MAX, &v, err);

	(void)r;
	q->bytes = (uint32_t)v;
	return ret;
}

static const struct {
	const char *word;
	int (*take)(struct router *r, struct question *q, const char *value,
		    struct err *err);
} words[] = {
	{ "from", take_from },	 { "iif", take_in },	  { "proto", take_proto },
	{ "sport", take_sport }, { "dport", take_dport }, { "ttl", take_ttl },
	{ "bytes", take_bytes },
};

static int take_pair(struct router *r, struct question *q, const char *word,
		     const char *value, struct err *err)
{
	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		if (!strcmp(word, words[i].word))
			return value ? words[i].take(r, q, value, err)
				     : err_set(err, -EINVAL, "%s: its value is missing",
					       word);
	return err_set(err, -EINVAL,
		       "%s: must be from, iif, proto, sport, dport, ttl or bytes", word);
}

static bool has_port_numbers(const struct question *q)
{
	return q->proto == FLOW_PROTO_TCP || q->proto == FLOW_PROTO_UDP;
}

static int parse(struct router *r, char *const arg[], int n, struct question *q,
		 struct err *err)
{
	int ret;

	*q = (struct question){ .family = strchr(arg[0], ':') ? 6 : 4,
				.ttl = 64,
				.proto = FLOW_PROTO_UDP,
				.in = &r->port[0] };
	if (inet_pton(q->family == 4 ? AF_INET : AF_INET6, arg[0], q->dst) != 1)
		return err_set(err, -EINVAL, "%s: not an IPv4 or IPv6 address", arg[0]);
	for (int i = 1; i < n; i += 2) {
		ret = take_pair(r, q, arg[i], i + 1 < n ? arg[i + 1] : NULL, err);
		if (ret < 0)
			return ret;
	}
	if ((q->has_sport || q->has_dport) && !has_port_numbers(q))
		return err_set(err, -EINVAL, "sport, dport: only with proto tcp or udp");
	return 0;
}

/* ---- the packet ---- */

/* An address that nobody has, RFC 5737 and RFC 3849, when none was given. */
static void default_source(const struct question *q, uint8_t src[16])
{
	static const uint8_t four[16] = { 192, 0, 2, 1 };
	static const uint8_t six[16] = { 0x20, 0x01, 0x0d, 0xb8, [15] = 1 };

	memcpy(src, q->has_src ? q->src : q->family == 4 ? four : six, 16);
}

static uint32_t make_ip4(const struct question *q, const uint8_t src[16], uint8_t *at)
{
	struct ip4_hdr *ip = (void *)at;
	uint32_t bytes = q->bytes ? q->bytes : sizeof(*ip) + L4_BYTES;

	*ip = (struct ip4_hdr){ .ver_ihl = 0x45,
				.total_len = to_be16((uint16_t)bytes),
				.ttl = q->ttl,
				.proto = q->proto };
	memcpy(ip->src, src, sizeof(ip->src));
	memcpy(ip->dst, q->dst, sizeof(ip->dst));
	ip->csum = csum_of(ip, sizeof(*ip));
	return bytes;
}

static uint32_t make_ip6(const struct question *q, const uint8_t src[16], uint8_t *at)
{
	struct ip6_hdr *ip = (void *)at;
	uint32_t bytes = q->bytes ? q->bytes : sizeof(*ip) + L4_BYTES;

	*ip = (struct ip6_hdr){ .ver_tc_flow = to_be32(UINT32_C(6) << 28),
				.payload_len = to_be16((uint16_t)(bytes - sizeof(*ip))),
				.next = q->proto,
				.hop_limit = q->ttl };
	memcpy(ip->src, src, sizeof(ip->src));
	memcpy(ip->dst, q->dst, sizeof(ip->dst));
	return bytes;
}

static void put_u16(uint8_t *at, uint16_t v)
{
	at[0] = (uint8_t)(v >> 8);
	at[1] = (uint8_t)v;
}

/* Return: bytes of the frame. */
static uint32_t make_frame(const struct question *q, uint8_t frame[FRAME_MAX])
{
	static const uint8_t neighbour[6] = { 2, 0, 0, 0xff, 0xff, 0xfe };
	struct eth_hdr *eth = (void *)frame;
	uint8_t *ip = frame + sizeof(*eth), *l4, src[16];
	uint32_t bytes;

	memset(frame, 0, FRAME_MAX);
	memcpy(eth->dst, q->in->link.mac, sizeof(eth->dst));
	memcpy(eth->src, neighbour, sizeof(eth->src));
	eth->type = to_be16(q->family == 4 ? ETH_TYPE_IP4 : ETH_TYPE_IP6);
	default_source(q, src);
	bytes = q->family == 4 ? make_ip4(q, src, ip) : make_ip6(q, src, ip);
	l4 = ip + (q->family == 4 ? sizeof(struct ip4_hdr) : sizeof(struct ip6_hdr));
	put_u16(l4, q->sport);
	put_u16(l4 + 2, q->dport);
	return (uint32_t)sizeof(*eth) + bytes;
}

/* ---- its queue ---- */

static int queue_at(const struct port *p, const struct question *q)
{
	struct m5_flow f = { .family = q->family,
			     .proto = q->proto,
			     .ttl = q->ttl,
			     .sport = q->sport,
			     .dport = q->dport };

	if (p->lost || !p->steer)
		return M5_STEER_KERNEL;
	memcpy(f.src, q->src, sizeof(f.src));
	memcpy(f.dst, q->dst, sizeof(f.dst));
	return m5_steer_queue(p->steer, &f);
}

/* What the card spreads flows by, as far as the question lacks it. Return: how many words. */
static unsigned lacks(const struct router *r, const struct question *q,
		      const char *word[])
{
	unsigned n = 0;

	if (r->n_workers > 1 && !q->has_src)
		word[n++] = "from";
	if (r->n_workers > 1 && has_port_numbers(q) && !q->has_sport)
		word[n++] = "sport";
	if (r->n_workers > 1 && has_port_numbers(q) && !q->has_dport)
		word[n++] = "dport";
	return n;
}

/* Queues have the numbers of their workers, on the way in and out. All ports spread alike, but
 * the device of one may be lost, or its table smaller. */
static void set_queue(struct row *row, const struct router *r, const struct question *q)
{
	int queue = queue_at(q->in, q);
	bool ours = queue != M5_STEER_KERNEL, alike = true;
	const char *needs[4];
	unsigned n;

	for (unsigned i = 0; i < r->n_ports && !q->has_in; i++) {
		int other = queue_at(&r->port[i], q);

		ours |= other != M5_STEER_KERNEL;
		alike &= other == queue;
	}
	if (!ours)
		return;
	n = lacks(r, q, needs);
	if (!n && !alike)
		needs[n++] = "iif";
	if (n) {
		row_set_words(row, "queue_needs", needs, n);
		return;
	}
	row_set_count(row, "queue", (uint64_t)queue);
	row_set_count(row, "worker", (uint64_t)queue);
}

/* ---- its fate ---- */

static void set_kind(const struct fib_nh *nh, struct pkt_meta *m)
{
	switch ((enum fib_nh_kind)nh->kind) {
	case FIB_NH_FORWARD:
		break;
	case FIB_NH_BLACKHOLE:
		pkt_drop(m, PKT_DROP_BLACKHOLE);
		break;
	case FIB_NH_UNREACHABLE:
	case FIB_NH_PROHIBIT:
		pkt_punt(m, PKT_PUNT_UNREACHABLE);
		break;
	case FIB_NH_LOCAL:
		pkt_punt(m, PKT_PUNT_LOCAL);
		break;
	case FIB_NH_KERNEL:
		pkt_punt(m, PKT_PUNT_UNSUPPORTED_ROUTE);
		break;
	case FIB_NH_NONE:
	case FIB_NH_GROUP:
		pkt_punt(m, PKT_PUNT_NO_ROUTE);
		break;
	}
}

static void decide(const struct router *r, const struct fib_nh *nh, struct pkt_meta *m)
{
	const struct port *out = &r->port[nh->port];

	m->verdict = PKT_FORWARD;
	set_kind(nh, m);
	if (m->verdict != PKT_FORWARD)
		return;
	if (m->bytes > nh->mtu)
		pkt_punt(m, PKT_PUNT_MTU);
	else if (out->lost)
		pkt_drop(m, PKT_DROP_PORT_DOWN);
	else if (!out->link.up || !out->link.carrier)
		pkt_drop(m, PKT_DROP_LINK_DOWN);
}

/* A packet may meet any leg; one that forwards is what is told. */
static void decide_any(const struct router *r, uint32_t index, struct pkt_meta *m)
{
	struct fib_group g;

	fib_group_at(r->fib, index, &g);
	pkt_punt(m, PKT_PUNT_NO_ROUTE);
	for (uint32_t i = 0; i < g.n_legs && m->verdict != PKT_FORWARD; i++)
		if (g.leg[i].weight && !g.leg[i].down)
			decide(r, fib_nh_at(r->fib, g.leg[i].nh), m);
}

/* What workers would find. Nobody frees tables but this thread. */
static uint32_t look_up(const struct fib_tables *t, const struct question *q)
{
	uint32_t nh = 0, four;
	uint8_t six[1][16];

	memcpy(six[0], q->dst, 16);
	memcpy(&four, q->dst, 4);
	if (q->family == 4)
		fib_lookup4(t, &(uint32_t){ ntohl(four) }, &nh, 1);
	else
		fib_lookup6(t, (const uint8_t(*)[16])six, &nh, 1);
	return nh;
}

static void set_leg(struct row *row, const struct router *r, const struct fib_nh *nh)
{
	struct row *leg = row_new();

	nexthop_set(leg, r, nh);
	row_set_row(row, "leg", leg);
}

static void follow_route(struct row *row, const struct router *r,
			 const struct question *q, const uint8_t *frame,
			 struct pkt_meta *m)
{
	const struct fib_tables *t = *fib_live(r->fib);
	uint32_t index = look_up(t, q);
	const struct fib_nh *nh = &t->nh[index];

	if (nh->kind == FIB_NH_GROUP && !q->has_src) {
		decide_any(r, index, m);
		return;
	}
	if (nh->kind == FIB_NH_GROUP) {
		nh = &t->nh[fib_nh_leg(nh, pkt_flow_hash(frame + m->l3, m->bytes,
							 m->family, t->flow_seed))];
		if (nh->kind == FIB_NH_FORWARD)
			set_leg(row, r, nh);
	}
	decide(r, nh, m);
}

static struct row *answer_for(const struct router *r, const char *text,
			      const struct question *q)
{
	static uint8_t frame[FRAME_MAX];
	static const char *const verdicts[] = {
		[PKT_FORWARD] = "forward", [PKT_PUNT] = "punt", [PKT_DROP] = "drop"
	};
	uint32_t len = make_frame(q, frame);
	struct row *row = row_new();
	char prefix[FIB_PREFIX_TEXT];
	struct fib_route route;
	struct pkt_meta m;

	row_set_text(row, "dst", text);
	pkt_parse_full(frame, len, true, q->in->link.mac, &m);
	if (mirror_addr_has(r->mirror, q->family, q->dst)) {
		pkt_punt(&m, PKT_PUNT_LOCAL);
	} else if (m.verdict == PKT_FORWARD) {
		if (fib_route_match(r->fib, q->family, q->dst, &route)) {
			row_set_text(row, "prefix",
				     fib_prefix_text(&route.prefix, prefix));
			route_set(row, r, &route);
		}
		follow_route(row, r, q, frame, &m);
	}
	row_set_text(row, "verdict", verdicts[m.verdict]);
	if (m.verdict != PKT_FORWARD)
		row_set_text(row, "reason",
			     m.verdict == PKT_PUNT ? pkt_punt_reason[m.reason].name
						   : pkt_drop_reason[m.reason].name);
	set_queue(row, r, q);
	return row;
}

void request_route_get(struct request *req)
{
	struct err err = { "" };
	struct question q;
	int r = parse(req->router, req->arg, req->n, &q, &err);

	if (r < 0) {
		client_error(req->client, r, NULL, "route get: %s", err.text);
		return;
	}
	client_row(req->client, answer_for(req->router, req->arg[0], &q));
	client_ok(req->client);
}
