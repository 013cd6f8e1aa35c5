/* core/match.c - match parameters: what is compared, and what a frame has there
 *
 * One row a field that the device can compare. A group whose mask needs another
 * one is refused by name, so that no rule is silently wider than it was meant.
 */
#include "steer.h"

#include <stdio.h>

#define PARAM_BYTES CX_BYTES(fte_match_param)

/* ---- what can be compared ---- */

#define MISC_BASE (CX_fte_match_param__misc_parameters & ~0xffff)
#define CAP(f)	  CX_flow_table_fields_supported__outer_##f
#define OUTER(f, cap, cap2) \
	{ \
		CX_fte_match_set_lyr_2_4__##f, CAP(cap), CAP(cap2) \
	}
#define MISC(f, cap, cap2) \
	{ \
		MISC_BASE + CX_fte_match_set_misc__##f, CAP(cap), CAP(cap2) \
	}

/* The field, and two capabilities of which one is enough. Sources name no capability for the
 * C-VLAN bits: assumed to come with the VLAN's number. */
static const struct {
	cx_field field; /* of fte_match_param */
	cx_field cap, cap2;
} fields[] = {
	OUTER(smac_47_16, smac, smac),
	OUTER(smac_15_0, smac, smac),
	OUTER(ethertype, ether_type, ether_type),
	OUTER(dmac_47_16, dmac, dmac),
	OUTER(dmac_15_0, dmac, dmac),
	OUTER(first_prio, first_prio, first_prio),
	OUTER(first_cfi, first_cfi, first_cfi),
	OUTER(first_vid, first_vid, first_vid),
	OUTER(ip_protocol, ip_protocol, ip_protocol),
	OUTER(ip_dscp, ip_dscp, ip_dscp),
	OUTER(ip_ecn, ip_ecn, ip_ecn),
	OUTER(cvlan_tag, first_vid, first_vid),
	OUTER(svlan_tag, first_svlan, first_svlan),
	OUTER(frag, frag, frag),
	OUTER(ip_version, ip_version, ip_version),
	OUTER(tcp_flags, tcp_flags, tcp_flags),
	OUTER(tcp_sport, tcp_sport, tcp_sport),
	OUTER(tcp_dport, tcp_dport, tcp_dport),
	OUTER(ttl_hoplimit, ipv4_ttl, ipv6_hop_limit),
	OUTER(udp_sport, udp_sport, udp_sport),
	OUTER(udp_dport, udp_dport, udp_dport),
	OUTER(src_ipv4_src_ipv6, sip, sip),
	OUTER(dst_ipv4_dst_ipv6, dip, dip),
	MISC(outer_second_prio, second_prio, second_prio),
	MISC(outer_second_cfi, second_cfi, second_cfi),
	MISC(outer_second_vid, second_vid, second_vid),
	MISC(outer_second_cvlan_tag, second_vid, second_vid),
	MISC(outer_second_svlan_tag, second_svlan, second_svlan),
	MISC(outer_ipv6_flow_label, ipv6_flow_label, ipv6_flow_label),
};
#define N_FIELDS (sizeof(fields) / sizeof(fields[0]))

const uint8_t *cx_flow_props(const struct cx_dev *dev, enum cx_ft_type type)
{
	const uint8_t *cap = dev->cap[CX_FLOW_TABLE_GROUP];

	return type == CX_FT_NIC_RX
		       ? CX_AT(flow_table_nic_cap, cap, flow_table_properties_nic_receive)
		       : CX_AT(flow_table_nic_cap, cap,
			       flow_table_properties_nic_transmit);
}

static void set_bits(uint8_t *p, cx_field f)
{
	uint32_t off = cx_field_offset(f), end = off + cx_field_width(f);

	for (; off < end; off++)
		p[off / 8] |= (uint8_t)(0x80 >> off % 8);
}

static void supported_mask(const struct cx_dev *dev, enum cx_ft_type type,
			   uint8_t mask[PARAM_BYTES])
{
	const uint8_t *caps =
		CX_AT(flow_table_prop_layout, cx_flow_props(dev, type), ft_field_support);

	memset(mask, 0, PARAM_BYTES);
	for (size_t i = 0; i < N_FIELDS; i++)
		if (cx_get(caps, fields[i].cap) || cx_get(caps, fields[i].cap2))
			set_bits(mask, fields[i].field);
}

/* ---- refusals ---- */

/* "match_criteria.outer_headers.first_vid" for bit 0x74 */
static void field_name(const struct cx_layout *l, uint32_t bit, char *name, size_t size)
{
	for (size_t i = 0; i < l->n_fields; i++) {
		const struct cx_layout_field *f = &l->field[i];
		int n;

		if (bit < f->offset || bit - f->offset >= f->width)
			continue;
		n = snprintf(name, size, ".%s", f->name);
		if (f->sub && n > 0 && (size_t)n < size)
			field_name(f->sub, bit - f->offset, name + n, size - (size_t)n);
		return;
	}
	snprintf(name, size, ".reserved_at_%x", bit);
}

static enum cx_status refuse_bit(struct cx_call *call, const char *what, uint32_t bit,
				 const char *why)
{
	char path[128];
	int n = snprintf(path, sizeof(path), "%s", what);

	field_name(&cx_layout_fte_match_param, bit, path + n, sizeof(path) - (size_t)n);
	return cx_refuse(call, CX_ST_BAD_PARAM, path, "%s", why);
}

/* The first bit of @p that @allowed has not; UINT32_MAX = none. */
static uint32_t first_outside(const uint8_t *p, const uint8_t *allowed)
{
	for (uint32_t i = 0; i < PARAM_BYTES; i++) {
		unsigned bad = p[i] & ~allowed[i] & 0xff;

		if (bad)
			return i * 8 + (uint32_t)__builtin_clz(bad) - 24;
	}
	return UINT32_MAX;
}

/* Bit i of the enable mask stands for the i-th set of the parameters; source: kernel
 * MLX5_CREATE_FLOW_GROUP_IN_MATCH_CRITERIA_ENABLE_* and mlx5_ifc.h. */
static enum cx_status check_enable(struct cx_call *call, const uint8_t *mask,
				   uint8_t enable)
{
	const struct cx_layout *l = &cx_layout_fte_match_param;

	for (unsigned i = 0; i < l->n_fields; i++) {
		const uint8_t *set = mask + i * CX_MATCH_OUTER_BYTES;
		bool used = false;

		for (unsigned k = 0; k < CX_MATCH_OUTER_BYTES; k++)
			used |= set[k] != 0;
		if (used && !(enable >> i & 1))
			return cx_refuse(call, CX_ST_BAD_PARAM,
					 "create_flow_group_in.match_criteria_enable",
					 "0x%x is without %s, whose mask is not zero",
					 enable, l->field[i].name);
	}
	if (enable >> l->n_fields)
		return cx_refuse(call, CX_ST_BAD_PARAM,
				 "create_flow_group_in.match_criteria_enable",
				 "0x%x enables sets that do not exist", enable);
	return CX_ST_OK;
}

enum cx_status cx_match_check_mask(struct cx_call *call, enum cx_ft_type type,
				   const uint8_t *mask, uint8_t enable)
{
	uint8_t allowed[PARAM_BYTES];
	uint32_t bit;

	supported_mask(call->dev, type, allowed);
	bit = first_outside(mask, allowed);
	if (bit != UINT32_MAX)
		return refuse_bit(call, "match_criteria", bit,
				  "this device does not compare this field");
	return check_enable(call, mask, enable);
}

/* The kernel refuses it itself (fs_core.c, check_valid_spec). */
enum cx_status cx_match_check_value(struct cx_call *call, const struct cx_match *mask,
				    const uint8_t *value)
{
	uint8_t allowed[PARAM_BYTES] = { 0 };
	uint32_t bit;

	cx_match_unpack(mask, allowed);
	bit = first_outside(value, allowed);
	if (bit != UINT32_MAX)
		return refuse_bit(call, "match_value", bit,
				  "a bit is set that is not in the group's mask");
	return CX_ST_OK;
}

/* ---- parameters <-> words ---- */

void cx_match_pack(struct cx_match *m, const uint8_t *param)
{
	uint8_t *key = (uint8_t *)m->word;

	memcpy(key, param, CX_MATCH_OUTER_BYTES);
	memcpy(key + CX_MATCH_OUTER_BYTES, CX_AT(fte_match_param, param, misc_parameters),
	       CX_MATCH_MISC_BYTES);
}

void cx_match_unpack(const struct cx_match *m, uint8_t *param)
{
	const uint8_t *key = (const uint8_t *)m->word;

	memcpy(param, key, CX_MATCH_OUTER_BYTES);
	memcpy(CX_AT(fte_match_param, param, misc_parameters), key + CX_MATCH_OUTER_BYTES,
	       CX_MATCH_MISC_BYTES);
}

/* ---- frame -> words: once for each frame ---- */

#define SET_OUTER(key, f, v) CX_SET(fte_match_set_lyr_2_4, key, f, v)
#define SET_MISC(key, f, v)  CX_SET(fte_match_set_misc, (key) + CX_MATCH_OUTER_BYTES, f, v)
#define OUTER_AT(key, f)     CX_AT(fte_match_set_lyr_2_4, key, f)

enum { TPID_CVLAN = 0x8100, TPID_SVLAN = 0x88a8 };

/* ethertype is that of what the tags carry: DPDK (flow_dv_translate_item_vlan) and the kernel
 * (mlx5_ib, en_tc) write the inner type there. "first" is the outermost tag. */
static void frame_l2(uint8_t *key, const struct cx_pkt *pkt)
{
	memcpy(OUTER_AT(key, dmac_47_16), pkt->data, 6);
	memcpy(OUTER_AT(key, smac_47_16), pkt->data + 6, 6);
	SET_OUTER(key, ethertype, pkt->eth_type);
	if (!pkt->n_vlan)
		return;
	SET_OUTER(key, first_prio, pkt->vlan_tci >> 13);
	SET_OUTER(key, first_cfi, pkt->vlan_tci >> 12);
	SET_OUTER(key, first_vid, pkt->vlan_tci);
	SET_OUTER(key, cvlan_tag, pkt->vlan_tpid == TPID_CVLAN);
	SET_OUTER(key, svlan_tag, pkt->vlan_tpid == TPID_SVLAN);
	if (pkt->n_vlan < 2)
		return;
	SET_MISC(key, outer_second_prio, pkt->vlan2_tci >> 13);
	SET_MISC(key, outer_second_cfi, pkt->vlan2_tci >> 12);
	SET_MISC(key, outer_second_vid, pkt->vlan2_tci);
	SET_MISC(key, outer_second_cvlan_tag, pkt->vlan2_tpid == TPID_CVLAN);
	SET_MISC(key, outer_second_svlan_tag, pkt->vlan2_tpid == TPID_SVLAN);
}

static void frame_l3(uint8_t *key, const struct cx_pkt *pkt)
{
	const uint8_t *ip = pkt->data + pkt->l3_off;

	SET_OUTER(key, ip_protocol, pkt->ip_proto);
	SET_OUTER(key, ip_dscp, pkt->tos >> 2);
	SET_OUTER(key, ip_ecn, pkt->tos);
	SET_OUTER(key, frag, pkt->frag);
	SET_OUTER(key, ip_version, pkt->l3);
	SET_OUTER(key, ttl_hoplimit, pkt->ttl);
	if (pkt->l3 == 4) {
		memcpy(OUTER_AT(key, src_ipv4_src_ipv6) + 12, ip + 12, 4);
		memcpy(OUTER_AT(key, dst_ipv4_dst_ipv6) + 12, ip + 16, 4);
	} else {
		memcpy(OUTER_AT(key, src_ipv4_src_ipv6), ip + 8, 16);
		memcpy(OUTER_AT(key, dst_ipv4_dst_ipv6), ip + 24, 16);
		SET_MISC(key, outer_ipv6_flow_label, cx_be32(ip));
	}
}

/* A first fragment has its ports; assumed that the device compares them, too. */
static void frame_l4(uint8_t *key, const struct cx_pkt *pkt)
{
	if (pkt->ip_proto == 6) {
		SET_OUTER(key, tcp_sport, pkt->sport);
		SET_OUTER(key, tcp_dport, pkt->dport);
		SET_OUTER(key, tcp_flags, pkt->tcp_flags);
	} else {
		SET_OUTER(key, udp_sport, pkt->sport);
		SET_OUTER(key, udp_dport, pkt->dport);
	}
}

void cx_match_frame(struct cx_match *m, const struct cx_pkt *pkt)
{
	uint8_t *key;

	memset(m, 0, sizeof(*m));
	key = (uint8_t *)m->word;
	if (pkt->l2_ok)
		frame_l2(key, pkt);
	if (pkt->l3)
		frame_l3(key, pkt);
	if (pkt->l4_off)
		frame_l4(key, pkt);
}
