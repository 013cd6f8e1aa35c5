/* uverbs/m_vflow.c - ibv_create_flow(): rules made of headers
 *
 * A list of headers (value and mask each) and actions becomes one match; a rule for a
 * QP that receives. Sources: Linux 6.1 core/uverbs_cmd.c (ib_uverbs_ex_create_flow(),
 * ib_uverbs_kern_spec_to_ib_spec_filter()); hw/mlx5/fs.c (mlx5_ib_create_flow(),
 * parse_flow_attr(), is_valid_ethertype(), create_leftovers_rule()).
 */
#include "uverbs.h"

#include <assert.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "../core/layout.h"

/* rdma/ib_verbs.h: enum ib_flow_spec_type, ib_flow_attr_type, ib_flow_flags */
enum {
	SPEC_ETH = 0x20,
	SPEC_IPV4 = 0x30,
	SPEC_IPV6 = 0x31,
	SPEC_ESP = 0x34,
	SPEC_TCP = 0x40,
	SPEC_UDP = 0x41,
	SPEC_VXLAN_TUNNEL = 0x50,
	SPEC_GRE = 0x51,
	SPEC_MPLS = 0x60,
	SPEC_INNER = 0x100,
	SPEC_TAG = 0x1000,
	SPEC_DROP = 0x1001,
	SPEC_HANDLE = 0x1002,
	SPEC_COUNT = 0x1003,
};
enum { TYPE_NORMAL, TYPE_ALL_DEFAULT, TYPE_MC_DEFAULT, TYPE_SNIFFER };
enum { FLAG_DONT_TRAP = 2, FLAG_EGRESS = 4, FLAGS_RESERVED = 8 };
#define MAX_SPECS      10 /* IB_FLOW_SPEC_SUPPORT_LAYERS */
#define ETH_IP	       0x0800
#define ETH_IPV6       0x86dd
#define CRITERIA_OUTER 1
#define CRITERIA_MISC  2

/* Filters are at most 40 bytes here; struct ib_uverbs_flow_*_filter */
struct filter {
	uint8_t val[40], mask[40];
};

struct parse {
	struct uv_call *call;
	struct uv_flow_spec *spec;
	bool ethertype_given, ethertype_exact; /* by an Ethernet header */
	uint16_t ethertype;
	uint32_t ip; /* SPEC_IPV4, SPEC_IPV6, 0 = none */
	bool first, multicast_only;
};

static uint8_t *outer(const uint8_t *param)
{
	return CX_AT(fte_match_param, param, outer_headers);
}

static void set_field(struct parse *p, cx_field f, uint64_t value, uint64_t mask)
{
	cx_set(outer(p->spec->value), f, value);
	cx_set(outer(p->spec->mask), f, mask);
}

static void set_bytes(struct parse *p, cx_field f, size_t skip, const struct filter *x,
		      size_t at, size_t n)
{
	memcpy(cx_at(outer(p->spec->value), f) + skip, x->val + at, n);
	memcpy(cx_at(outer(p->spec->mask), f) + skip, x->mask + at, n);
}

#define FIELD(f) CX_fte_match_set_lyr_2_4__##f

/* ---- headers ---- */

static int take_eth(struct parse *p, const struct filter *x)
{
	uint16_t type = cx_be16(x->val + 12), type_mask = cx_be16(x->mask + 12);
	uint16_t vlan = cx_be16(x->val + 14), vlan_mask = cx_be16(x->mask + 14);

	set_bytes(p, FIELD(dmac_47_16), 0, x, 0, 6);
	set_bytes(p, FIELD(smac_47_16), 0, x, 6, 6);
	set_field(p, FIELD(ethertype), type, type_mask);
	if (vlan_mask) {
		set_field(p, FIELD(cvlan_tag), 1, 1);
		set_field(p, FIELD(first_vid), vlan & 0xfff, vlan_mask & 0xfff);
		set_field(p, FIELD(first_cfi), vlan >> 12 & 1, vlan_mask >> 12 & 1);
		set_field(p, FIELD(first_prio), vlan >> 13, vlan_mask >> 13);
	}
	if (type_mask) {
		p->ethertype_given = true;
		p->ethertype_exact = type_mask == 0xffff;
		p->ethertype = type;
	}
	if (p->first)
		p->multicast_only = x->mask[0] & 1 && x->val[0] & 1;
	return 0;
}

static void set_version(struct parse *p, unsigned version, uint16_t ethertype)
{
	if (uv_cap(p->call->port, "ft.rx_outer_ip_version"))
		set_field(p, FIELD(ip_version), version, 0xf);
	else
		set_field(p, FIELD(ethertype), ethertype, 0xffff);
}

static void set_tos(struct parse *p, uint8_t value, uint8_t mask)
{
	set_field(p, FIELD(ip_ecn), value & 3, mask & 3);
	set_field(p, FIELD(ip_dscp), value >> 2, mask >> 2);
}

static int set_proto(struct parse *p, uint8_t value, uint8_t mask)
{
	uint8_t old_mask = (uint8_t)cx_get(outer(p->spec->mask), FIELD(ip_protocol));
	uint8_t old = (uint8_t)cx_get(outer(p->spec->value), FIELD(ip_protocol));

	if (!mask)
		return 0;
	if (!old_mask)
		set_field(p, FIELD(ip_protocol), value, mask);
	else if (mask != old_mask || value != old)
		return uv_refuse(p->call, EINVAL, "flow", "two protocols: %u and %u", old,
				 value);
	return 0;
}

static int take_ipv4(struct parse *p, const struct filter *x)
{
	if (x->mask[10] || x->mask[11])
		return uv_refuse(p->call, EOPNOTSUPP, "ipv4", "ttl or flags");
	set_version(p, 4, ETH_IP);
	set_bytes(p, FIELD(src_ipv4_src_ipv6), 12, x, 0, 4);
	set_bytes(p, FIELD(dst_ipv4_dst_ipv6), 12, x, 4, 4);
	set_tos(p, x->val[9], x->mask[9]);
	p->ip = SPEC_IPV4;
	if (p->first)
		p->multicast_only = x->val[4] >> 4 == 0xe;
	return set_proto(p, x->val[8], x->mask[8]);
}

static int take_ipv6(struct parse *p, const struct filter *x)
{
	uint32_t label = cx_be32(x->val + 32), label_mask = cx_be32(x->mask + 32);
	uint8_t *misc_v = CX_AT(fte_match_param, p->spec->value, misc_parameters);
	uint8_t *misc_m = CX_AT(fte_match_param, p->spec->mask, misc_parameters);

	if (label >> 20 || label_mask >> 20)
		return uv_refuse(p->call, EINVAL, "ipv6", "flow label 0x%x", label);
	if (x->mask[38])
		return uv_refuse(p->call, EOPNOTSUPP, "ipv6", "hop limit");
	set_version(p, 6, ETH_IPV6);
	set_bytes(p, FIELD(src_ipv4_src_ipv6), 0, x, 0, 16);
	set_bytes(p, FIELD(dst_ipv4_dst_ipv6), 0, x, 16, 16);
	set_tos(p, x->val[37], x->mask[37]);
	CX_SET(fte_match_set_misc, misc_v, outer_ipv6_flow_label, label);
	CX_SET(fte_match_set_misc, misc_m, outer_ipv6_flow_label, label_mask);
	p->ip = SPEC_IPV6;
	return set_proto(p, x->val[36], x->mask[36]);
}

static int take_tcp(struct parse *p, const struct filter *x)
{
	set_field(p, FIELD(tcp_dport), cx_be16(x->val), cx_be16(x->mask));
	set_field(p, FIELD(tcp_sport), cx_be16(x->val + 2), cx_be16(x->mask + 2));
	return set_proto(p, IPPROTO_TCP, 0xff);
}

static int take_udp(struct parse *p, const struct filter *x)
{
	set_field(p, FIELD(udp_dport), cx_be16(x->val), cx_be16(x->mask));
	set_field(p, FIELD(udp_sport), cx_be16(x->val + 2), cx_be16(x->mask + 2));
	return set_proto(p, IPPROTO_UDP, 0xff);
}

static const struct header {
	uint32_t type;
	uint8_t bytes; /* of a filter, as far as the kernel knows it */
	int (*take)(struct parse *p, const struct filter *x);
} headers[] = {
	{ SPEC_ETH, 16, take_eth },   { SPEC_IPV4, 12, take_ipv4 },
	{ SPEC_IPV6, 39, take_ipv6 }, { SPEC_TCP, 4, take_tcp },
	{ SPEC_UDP, 4, take_udp },
};

static int no_header(struct uv_call *call, uint32_t type)
{
	switch (type & ~(uint32_t)SPEC_INNER) {
	case SPEC_ETH:
	case SPEC_IPV4:
	case SPEC_IPV6:
	case SPEC_TCP:
	case SPEC_UDP:
	case SPEC_ESP:
	case SPEC_GRE:
	case SPEC_MPLS:
	case SPEC_VXLAN_TUNNEL:
		return uv_refuse(call, EOPNOTSUPP, "spec",
				 "type 0x%x: no tunnels, no ESP", type);
	default:
		return uv_refuse(call, EINVAL, "spec", "type 0x%x", type);
	}
}

/* Longer filters pass while the mask of what is not known is zero. */
static int take_header(struct parse *p, const struct header *h, const uint8_t *data,
		       size_t bytes)
{
	struct filter x = { 0 };

	if (!bytes || bytes % 4)
		return uv_refuse(p->call, EINVAL, "spec",
				 "type 0x%x: filter of %zu bytes", h->type, bytes);
	if (bytes > h->bytes && !uv_is_zero(data + bytes + h->bytes, bytes - h->bytes))
		return uv_refuse(p->call, EINVAL, "spec",
				 "type 0x%x: bytes after %u are set", h->type, h->bytes);
	memcpy(x.val, data, UV_MIN(bytes, h->bytes));
	memcpy(x.mask, data + bytes, UV_MIN(bytes, h->bytes));
	return h->take(p, &x);
}

/* ---- actions ---- */

static int take_tag(struct parse *p, const uint8_t *data)
{
	uint32_t tag;

	memcpy(&tag, data, sizeof(tag));
	if (tag >> 24)
		return uv_refuse(p->call, EINVAL, "tag", "0x%x", tag);
	p->spec->tag = tag;
	p->spec->has_tag = true;
	return 0;
}

static int take_action(struct parse *p, uint32_t type, const uint8_t *data, size_t bytes)
{
	size_t want = type == SPEC_DROP ? 0 : 8;

	if (type > SPEC_COUNT)
		return uv_refuse(p->call, EINVAL, "spec", "type 0x%x", type);
	if (bytes != want)
		return uv_refuse(p->call, type == SPEC_HANDLE ? EOPNOTSUPP : EINVAL,
				 "spec", "type 0x%x: %zu bytes", type, bytes);
	if (type == SPEC_TAG)
		return take_tag(p, data);
	if (type != SPEC_DROP)
		return uv_refuse(p->call, ENOENT, "spec",
				 "type 0x%x: there are no flow actions and no counters",
				 type);
	p->spec->action |= UV_ACT_DROP;
	return 0;
}

/* ---- the list ---- */

static int take_spec(struct parse *p, const struct ib_uverbs_flow_spec_hdr *h,
		     const uint8_t *data)
{
	size_t bytes = h->size - sizeof(*h);

	if (h->reserved)
		return uv_refuse(p->call, EINVAL, "spec", "reserved is set");
	if (h->type >= SPEC_TAG)
		return take_action(p, h->type, data, bytes);
	for (size_t i = 0; i < UV_COUNT(headers); i++)
		if (headers[i].type == h->type)
			return take_header(p, &headers[i], data, bytes / 2);
	return no_header(p->call, h->type);
}

static int take_specs(struct parse *p, const uint8_t *at, size_t left, unsigned n)
{
	struct ib_uverbs_flow_spec_hdr h;
	int rc;

	for (unsigned i = 0; i < n; i++) {
		if (!at || left < sizeof(h))
			return uv_refuse(p->call, EINVAL, "flow", "%u of %u specs", i, n);
		memcpy(&h, at, sizeof(h));
		if (h.size < sizeof(h) || h.size > left)
			return uv_refuse(p->call, EINVAL, "spec", "size %u of %zu",
					 h.size, left);
		p->first = !i;
		rc = take_spec(p, &h, at + sizeof(h));
		if (rc)
			return rc;
		at += h.size;
		left -= h.size;
	}
	return left ? uv_refuse(p->call, EINVAL, "flow", "%zu bytes after the last spec",
				left)
		    : 0;
}

/* is_valid_ethertype() */
static int check_ethertype(struct parse *p)
{
	uint16_t want = p->ip == SPEC_IPV4 ? ETH_IP : ETH_IPV6;

	if (!p->ethertype_given || !p->ip || (p->ethertype_exact && p->ethertype == want))
		return 0;
	return uv_refuse(p->call, EINVAL, "flow", "ethertype 0x%x with IPv%c",
			 p->ethertype, p->ip == SPEC_IPV4 ? '4' : '6');
}

static void set_criteria(struct uv_flow_spec *spec)
{
	if (!uv_is_zero(outer(spec->mask), CX_BYTES(fte_match_set_lyr_2_4)))
		spec->criteria |= CRITERIA_OUTER;
	if (!uv_is_zero(CX_AT(fte_match_param, spec->mask, misc_parameters),
			CX_BYTES(fte_match_set_misc)))
		spec->criteria |= CRITERIA_MISC;
}

/* ---- rules ---- */

static int add_rule(struct uv_call *call, unsigned prio, struct uv_flow_spec *spec)
{
	struct uv_rule *rule;
	const char *why;
	int rc;

	set_criteria(spec);
	rc = uv_rule_add(call->port, prio, spec, &why, &rule);
	if (rc)
		return uv_refuse(call, -rc, "rule", "%s", why);
	uv_undo_push(call->fresh, UV_UNDO_RULE, 0, 0, rule);
	return 0;
}

static int to_qp(struct uv_call *call, struct uv_flow_spec *spec, const struct uv_obj *qp)
{
	if (!qp->qp.rq_entries && !qp->qp.rss)
		return uv_refuse(call, EINVAL, "qp_handle", "%u has no receive queue",
				 qp->handle);
	spec->action |= UV_ACT_FWD;
	spec->dest[0].type = UV_DEST_TIR;
	spec->dest[0].id = qp->qp.tirn;
	spec->n_dests = 1;
	return 0;
}

static int add_normal(struct uv_call *call, const struct ib_uverbs_flow_attr *attr,
		      const struct parse *p, const struct uv_obj *qp)
{
	bool dont_trap = attr->flags & FLAG_DONT_TRAP;
	unsigned prio = attr->priority * 2u + !dont_trap;
	int rc;

	if (p->multicast_only && !dont_trap)
		prio = UV_PRIO_MCAST;
	if (!(p->spec->action & UV_ACT_DROP)) {
		rc = to_qp(call, p->spec, qp);
		if (rc)
			return rc;
		if (dont_trap)
			p->spec->action |= UV_ACT_NEXT_PRIO;
	}
	return add_rule(call, prio, p->spec);
}

/* One rule for group addresses, and for everything also one for the others. Any header in the
 * list was checked and is not used. */
static int add_leftovers(struct uv_call *call, bool all, struct uv_flow_spec *spec,
			 const struct uv_obj *qp)
{
	int rc;

	memset(spec, 0, sizeof(*spec));
	rc = to_qp(call, spec, qp);
	if (rc)
		return rc;
	*cx_at(outer(spec->mask), FIELD(dmac_47_16)) = 1;
	*cx_at(outer(spec->value), FIELD(dmac_47_16)) = 1;
	rc = add_rule(call, UV_PRIO_LEFTOVERS, spec);
	if (rc || !all)
		return rc;
	*cx_at(outer(spec->value), FIELD(dmac_47_16)) = 0;
	return add_rule(call, UV_PRIO_LEFTOVERS, spec);
}

/* ---- the command ---- */

static int check_attr(struct uv_call *call, const struct ib_uverbs_create_flow *req)
{
	const struct ib_uverbs_flow_attr *a = &req->flow_attr;
	bool leftovers = a->type == TYPE_ALL_DEFAULT || a->type == TYPE_MC_DEFAULT;

	if (req->comp_mask)
		return uv_refuse(call, EINVAL, "comp_mask", "0x%x", req->comp_mask);
	if (!uv_capable(call, UV_CAP_NET_RAW))
		return uv_refuse(call, EPERM, "caller", "without CAP_NET_RAW");
	if (a->flags >= FLAGS_RESERVED || (a->flags & FLAG_DONT_TRAP && leftovers))
		return uv_refuse(call, EINVAL, "flags", "0x%x with type %u", a->flags,
				 a->type);
	if (a->num_of_specs > MAX_SPECS ||
	    a->size > a->num_of_specs * sizeof(struct ib_uverbs_flow_spec_ipv6))
		return uv_refuse(call, EINVAL, "num_of_specs", "%u in %u bytes",
				 a->num_of_specs, a->size);
	if (a->reserved[0] || a->reserved[1])
		return uv_refuse(call, EINVAL, "flow_attr", "reserved is set");
	return 0;
}

/* The bytes of the list; behind them only zeroes. */
static int find_specs(struct uv_call *call, size_t bytes, const uint8_t **specs)
{
	size_t len, at = sizeof(struct ib_uverbs_create_flow);
	const uint8_t *p = uv_req_bytes(call, &len);

	if (len - at < bytes)
		return uv_refuse(call, ENOSPC, "flow_attr", "size %zu, %zu bytes", bytes,
				 len - at);
	if (!uv_is_zero(p + at + bytes, len - at - bytes))
		return uv_refuse(call, EOPNOTSUPP, "flow_attr", "something follows");
	*specs = p + at;
	return 0;
}

static int check_driver(struct uv_call *call)
{
	struct mlx5_ib_create_flow d;
	size_t len, known = offsetof(struct mlx5_ib_create_flow, data);
	const uint8_t *p = uv_uhw(call, &len);

	if (!len)
		return 0;
	if (len < known)
		return uv_refuse(call, EOPNOTSUPP, "driver data", "%zu bytes", len);
	memcpy(&d, p, known);
	if (d.ncounters_data > 1)
		return uv_refuse(call, EINVAL, "driver data", "%u counters",
				 d.ncounters_data);
	if (!uv_is_zero(p + known, len - known))
		return uv_refuse(call, EOPNOTSUPP, "driver data", "counters");
	return 0;
}

static int check_kind(struct uv_call *call, const struct ib_uverbs_flow_attr *a)
{
	if (a->priority > UV_LAST_USER_PRIO)
		return uv_refuse(call, ENOMEM, "priority", "%u", a->priority);
	if (a->flags & FLAG_EGRESS &&
	    (a->type == TYPE_ALL_DEFAULT || a->type == TYPE_MC_DEFAULT))
		return uv_refuse(call, EINVAL, "flags", "egress with type %u", a->type);
	if (a->flags & FLAG_EGRESS || a->type == TYPE_SNIFFER)
		return uv_refuse(call, EOPNOTSUPP, "type",
				 "%u, flags 0x%x: neither sniffers nor transmit tables",
				 a->type, a->flags);
	if (a->type > TYPE_SNIFFER)
		return uv_refuse(call, EOPNOTSUPP, "type", "%u", a->type);
	return 0;
}

static int find_qp(struct uv_call *call, const struct ib_uverbs_create_flow *req,
		   struct uv_obj **qp)
{
	if (req->flow_attr.port != 1)
		return uv_refuse(call, EINVAL, "port", "%u", req->flow_attr.port);
	return uv_get(call, UVERBS_OBJECT_QP, req->qp_handle, "qp_handle", qp);
}

static int make_flow(struct uv_call *call, const struct ib_uverbs_create_flow *req,
		     const uint8_t *specs, struct uv_flow_spec *spec)
{
	const struct ib_uverbs_flow_attr *a = &req->flow_attr;
	struct parse p = { .call = call, .spec = spec };
	struct uv_obj *qp = NULL;
	int rc = find_qp(call, req, &qp);

	if (!rc)
		rc = take_specs(&p, specs, a->size, a->num_of_specs);
	if (!rc)
		rc = check_driver(call);
	if (!rc)
		rc = check_kind(call, a);
	if (!rc)
		rc = check_ethertype(&p);
	if (rc)
		return rc;
	assert(qp);
	uv_obj_use(call->fresh, qp);
	if (a->type == TYPE_NORMAL)
		return add_normal(call, a, &p, qp);
	return add_leftovers(call, a->type == TYPE_ALL_DEFAULT, spec, qp);
}

static int ex_create_flow(struct uv_call *call)
{
	struct ib_uverbs_create_flow_resp resp = { 0 };
	struct ib_uverbs_create_flow req;
	struct uv_flow_spec *spec;
	const uint8_t *specs = NULL;
	struct uv_obj *flow;
	size_t len;
	int rc;

	memcpy(&req, uv_req_bytes(call, &len), sizeof(req));
	rc = check_attr(call, &req);
	if (!rc)
		rc = find_specs(call, req.flow_attr.num_of_specs ? req.flow_attr.size : 0,
				&specs);
	if (!rc)
		rc = uv_new(call, UVERBS_OBJECT_FLOW, &flow);
	if (rc)
		return rc;
	spec = calloc(1, sizeof(*spec));
	if (!spec)
		return -ENOMEM;
	rc = make_flow(call, &req, specs, spec);
	free(spec);
	if (rc)
		return rc;
	resp.flow_handle = flow->handle;
	return uv_resp(call, &resp, sizeof(resp));
}

static int ex_destroy_flow(struct uv_call *call)
{
	struct ib_uverbs_destroy_flow req;
	int rc = uv_req(call, &req, sizeof(req));

	if (!rc && req.comp_mask)
		rc = uv_refuse(call, EINVAL, "comp_mask", "0x%x", req.comp_mask);
	return rc ? rc : uv_destroy(call, UVERBS_OBJECT_FLOW, req.flow_handle, NULL);
}

const struct uv_write uv_writes_flow[] = {
	{ UV_EX(CREATE_FLOW), "EX_CREATE_FLOW",
	  UV_END_OF(struct ib_uverbs_create_flow, flow_attr),
	  UV_END_OF(struct ib_uverbs_create_flow_resp, flow_handle), ex_create_flow },
	{ UV_EX(DESTROY_FLOW), "EX_DESTROY_FLOW", sizeof(struct ib_uverbs_destroy_flow),
	  0, ex_destroy_flow },
	{ .name = NULL },
};
