/* test/direct_steer.c - TIR, RQT, flow tables and frames; see direct.h */
#include "direct.h"

#include <string.h>

/* Microsoft, "Verifying the RSS hash calculation"; also in the kernel's and DPDK's tests. */
const uint8_t d_rss_key[40] = {
	0x6d, 0x5a, 0x56, 0xda, 0x25, 0x5b, 0x0e, 0xc2, 0x41, 0x67,
	0x25, 0x3d, 0x43, 0xa3, 0x8f, 0xb0, 0xd0, 0xca, 0x2b, 0xcb,
	0xae, 0x7b, 0x30, 0xb4, 0x77, 0xcb, 0x2d, 0xa3, 0x80, 0x30,
	0xf2, 0x0c, 0x6a, 0x42, 0xb7, 0x3b, 0xbe, 0xac, 0x01, 0xfa,
};

/* ---- TIR and RQT ---- */

static void tir_hash(uint8_t *ctx, const struct d_tir_conf *conf)
{
	uint8_t *outer = CX_AT(tirc, ctx, rx_hash_field_selector_outer);

	CX_SET(tirc, ctx, disp_type, 1);
	CX_SET(tirc, ctx, indirect_table, conf->rqtn);
	CX_SET(tirc, ctx, rx_hash_fn, conf->hash_fn);
	CX_SET(tirc, ctx, rx_hash_symmetric, conf->symmetric);
	if (conf->hash_fn == 2)
		memcpy(CX_AT(tirc, ctx, rx_hash_toeplitz_key),
		       conf->key ? conf->key : d_rss_key, sizeof(d_rss_key));
	CX_SET(rx_hash_field_select, outer, l3_prot_type, conf->ipv6);
	CX_SET(rx_hash_field_select, outer, l4_prot_type, conf->udp);
	CX_SET(rx_hash_field_select, outer, selected_fields, conf->fields);
}

enum cx_status d_try_tir(struct direct *d, const struct d_tir_conf *conf, uint32_t *tirn)
{
	uint8_t in[CX_BYTES(create_tir_in)] = { 0 },
		out[CX_BYTES(create_tir_out)] = { 0 };
	uint8_t *ctx = CX_AT(create_tir_in, in, ctx);
	enum cx_status st;

	CX_SET(tirc, ctx, transport_domain, d->tdn);
	if (conf->rqtn)
		tir_hash(ctx, conf);
	else
		CX_SET(tirc, ctx, inline_rqn, conf->rqn);
	st = d_cmd(d, D_CREATE_TIR, in, sizeof(in), out, sizeof(out));
	*tirn = (uint32_t)CX_GET(create_tir_out, out, tirn);
	return st;
}

uint32_t d_tir_rss(struct direct *d, const struct d_tir_conf *conf)
{
	uint32_t tirn;

	d_assert_ok(d, d_try_tir(d, conf, &tirn));
	return tirn;
}

uint32_t d_tir(struct direct *d, uint32_t rqn)
{
	return d_tir_rss(d, &(struct d_tir_conf){ .rqn = rqn });
}

enum cx_status d_try_rqt(struct direct *d, const uint32_t *rqn, uint32_t n, uint32_t max,
			 uint32_t *rqtn)
{
	size_t len = CX_BYTES(create_rqt_in) + (size_t)n * CX_BYTES(rq_num);
	uint8_t *in = d_alloc(d, len), out[CX_BYTES(create_rqt_out)] = { 0 };
	uint8_t *ctx = CX_AT(create_rqt_in, in, rqt_context);
	uint8_t *list = CX_AT(create_rqt_in, in, rq_num);
	enum cx_status st;

	CX_SET(rqtc, ctx, rqt_max_size, max);
	CX_SET(rqtc, ctx, rqt_actual_size, n);
	for (uint32_t i = 0; i < n; i++)
		CX_SET(rq_num, list + i * CX_BYTES(rq_num), rq_num, rqn[i]);
	st = d_cmd(d, D_CREATE_RQT, in, len, out, sizeof(out));
	*rqtn = (uint32_t)CX_GET(create_rqt_out, out, rqtn);
	return st;
}

uint32_t d_rqt(struct direct *d, const uint32_t *rqn, uint32_t n)
{
	uint32_t rqtn;

	d_assert_ok(d, d_try_rqt(d, rqn, n, n, &rqtn));
	return rqtn;
}

/* ---- flow tables ---- */

/* Flow tables are the kernel's: programs reach them through it. */
static enum cx_status kernel_cmd(struct direct *d, uint16_t opcode, void *in,
				 size_t in_len, void *out, size_t out_len)
{
	uint16_t uid = d->uid;
	enum cx_status st;

	d->uid = 0;
	st = d_cmd(d, opcode, in, in_len, out, out_len);
	d->uid = uid;
	return st;
}

uint32_t d_table(struct direct *d, uint8_t level, uint8_t log_size)
{
	uint8_t in[CX_BYTES(create_flow_table_in)] = { 0 };
	uint8_t out[CX_BYTES(create_flow_table_out)] = { 0 };
	uint8_t *ctx = CX_AT(create_flow_table_in, in, flow_table_context);

	CX_SET(flow_table_context, ctx, level, level);
	CX_SET(flow_table_context, ctx, log_size, log_size);
	d_assert_ok(d,
		    kernel_cmd(d, D_CREATE_FLOW_TABLE, in, sizeof(in), out, sizeof(out)));
	return (uint32_t)CX_GET(create_flow_table_out, out, table_id);
}

void d_root(struct direct *d, uint32_t table)
{
	uint8_t in[CX_BYTES(set_flow_table_root_in)] = { 0 }, out[16] = { 0 };

	CX_SET(set_flow_table_root_in, in, table_id, table);
	d_assert_ok(d, kernel_cmd(d, D_SET_FLOW_TABLE_ROOT, in, sizeof(in), out,
				  sizeof(out)));
}

enum cx_status d_try_group(struct direct *d, uint32_t table, uint32_t first,
			   uint32_t last, uint8_t enable, const uint8_t *mask,
			   uint32_t *group)
{
	uint8_t in[CX_BYTES(create_flow_group_in)] = { 0 };
	uint8_t out[CX_BYTES(create_flow_group_out)] = { 0 };
	enum cx_status st;

	CX_SET(create_flow_group_in, in, table_id, table);
	CX_SET(create_flow_group_in, in, start_flow_index, first);
	CX_SET(create_flow_group_in, in, end_flow_index, last);
	CX_SET(create_flow_group_in, in, match_criteria_enable, enable);
	if (mask)
		memcpy(CX_AT(create_flow_group_in, in, match_criteria), mask,
		       CX_BYTES(fte_match_param));
	st = kernel_cmd(d, D_CREATE_FLOW_GROUP, in, sizeof(in), out, sizeof(out));
	*group = (uint32_t)CX_GET(create_flow_group_out, out, group_id);
	return st;
}

uint32_t d_group(struct direct *d, uint32_t table, uint32_t first, uint32_t last,
		 uint8_t enable, const uint8_t *mask)
{
	uint32_t group;

	d_assert_ok(d, d_try_group(d, table, first, last, enable, mask, &group));
	return group;
}

static void flow_lists(uint8_t *list, const struct d_rule *rule)
{
	for (unsigned i = 0; i < rule->n_dests;
	     i++, list += CX_BYTES(dest_format_struct)) {
		CX_SET(dest_format_struct, list, destination_type, rule->dest[i].type);
		CX_SET(dest_format_struct, list, destination_id, rule->dest[i].id);
	}
	if (rule->action & D_COUNT)
		CX_SET(flow_counter_list, list, flow_counter_id, rule->counter);
}

enum cx_status d_try_rule(struct direct *d, uint32_t table, uint32_t group,
			  uint32_t index, const struct d_rule *rule)
{
	uint8_t in[CX_BYTES(set_fte_in) + 9 * CX_BYTES(dest_format_struct)] = { 0 },
					      out[16] = { 0 };
	uint8_t *ctx = CX_AT(set_fte_in, in, flow_context);
	unsigned n = rule->n_dests + !!(rule->action & D_COUNT);

	CX_SET(set_fte_in, in, table_id, table);
	CX_SET(set_fte_in, in, flow_index, index);
	CX_SET(flow_context, ctx, group_id, group);
	CX_SET(flow_context, ctx, flow_tag, rule->tag);
	CX_SET(flow_context, ctx, action, rule->action);
	CX_SET(flow_context, ctx, destination_list_size, rule->n_dests);
	CX_SET(flow_context, ctx, flow_counter_list_size, !!(rule->action & D_COUNT));
	memcpy(CX_AT(flow_context, ctx, match_value), rule->value,
	       CX_BYTES(fte_match_param));
	flow_lists(CX_AT(set_fte_in, in, destination), rule);
	return kernel_cmd(d, D_SET_FTE, in,
			  CX_BYTES(set_fte_in) + n * CX_BYTES(dest_format_struct), out,
			  sizeof(out));
}

void d_rule(struct direct *d, uint32_t table, uint32_t group, uint32_t index,
	    const struct d_rule *rule)
{
	d_assert_ok(d, d_try_rule(d, table, group, index, rule));
}

enum cx_status d_rule_del(struct direct *d, uint32_t table, uint32_t index)
{
	uint8_t in[CX_BYTES(delete_fte_in)] = { 0 }, out[16] = { 0 };

	CX_SET(delete_fte_in, in, table_id, table);
	CX_SET(delete_fte_in, in, flow_index, index);
	return kernel_cmd(d, D_DELETE_FTE, in, sizeof(in), out, sizeof(out));
}

uint32_t d_all_to(struct direct *d, uint32_t tirn)
{
	struct d_rule rule = { .action = D_FORWARD,
			       .dest = { { D_TO_TIR, tirn } },
			       .n_dests = 1 };
	uint32_t table = d_table(d, 0, 4), group = d_group(d, table, 0, 15, 0, NULL);

	d_root(d, table);
	d_rule(d, table, group, 0, &rule);
	return table;
}

/* ---- frames ---- */

static uint32_t sum16(const uint8_t *p, uint32_t len, uint32_t sum)
{
	for (uint32_t i = 0; i + 1 < len; i += 2)
		sum += cx_be16(p + i);
	return len & 1 ? sum + ((uint32_t)p[len - 1] << 8) : sum;
}

/* RFC 1071; never 0, as RFC 768 wants it for UDP and nothing forbids it for IPv4. */
static uint16_t fold(uint32_t sum)
{
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return sum == 0xffff ? 0xffff : (uint16_t)~sum;
}

static void ethernet(uint8_t *frame, uint16_t type)
{
	static const uint8_t macs[12] = { 2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2 };

	memcpy(frame, macs, sizeof(macs));
	cx_put_be16(frame + 12, type);
}

/* The addresses stand before the UDP header, in both versions. */
static void udp(uint8_t *h, uint32_t len, uint32_t addr_bytes, uint16_t sport,
		uint16_t dport, uint8_t seed)
{
	cx_put_be16(h, sport);
	cx_put_be16(h + 2, dport);
	cx_put_be16(h + 4, (uint16_t)len);
	cx_put_be16(h + 6, 0);
	for (uint32_t i = 8; i < len; i++)
		h[i] = (uint8_t)(seed + i - 8);
	cx_put_be16(h + 6, fold(sum16(h - addr_bytes, len + addr_bytes, 17 + len)));
}

void d_udp4(uint8_t *frame, uint32_t len, uint32_t src, uint32_t dst, uint16_t sport,
	    uint16_t dport, uint8_t seed)
{
	uint8_t *ip = frame + 14;

	assert_true(len >= 42);
	memset(frame, 0, len);
	ethernet(frame, 0x0800);
	ip[0] = 0x45;
	cx_put_be16(ip + 2, (uint16_t)(len - 14));
	ip[8] = 64;
	ip[9] = 17;
	cx_put_be32(ip + 12, src);
	cx_put_be32(ip + 16, dst);
	cx_put_be16(ip + 10, fold(sum16(ip, 20, 0)));
	udp(ip + 20, len - 34, 8, sport, dport, seed);
}

void d_udp6(uint8_t *frame, uint32_t len, const uint8_t src[16], const uint8_t dst[16],
	    uint16_t sport, uint16_t dport, uint8_t seed)
{
	uint8_t *ip = frame + 14;

	assert_true(len >= 62);
	memset(frame, 0, len);
	ethernet(frame, 0x86dd);
	ip[0] = 0x60;
	cx_put_be16(ip + 4, (uint16_t)(len - 54));
	ip[6] = 17;
	ip[7] = 64;
	memcpy(ip + 8, src, 16);
	memcpy(ip + 24, dst, 16);
	udp(ip + 40, len - 54, 32, sport, dport, seed);
}
