/* test/test_match.c - every field of the match parameters, one at a time
 *
 * For each: the full mask with the right value matches, with any one bit wrong does
 * not; each bit of the mask alone, likewise.
 */
#include "flow_rig.h"

#include <string.h>

/* ---- frames ---- */

static struct frame two_vlans(void)
{
	struct frame f;

	frame_start(&f);
	frame_vlan(&f, 0x88a8, 0xb123); /* prio 5, cfi 1, vid 0x123 */
	frame_vlan(&f, 0x8100, 0x7456); /* prio 3, cfi 1, vid 0x456 */
	frame_ip4(&f, FRAME_SRC4, FRAME_DST4, 0);
	frame_udp(&f, 0x1122, 0x3344, 4);
	frame_finish(&f);
	return f;
}

/* The two types the other way round. */
static struct frame two_vlans_turned(void)
{
	struct frame f = two_vlans();

	cx_put_be16(f.b + 12, 0x8100);
	cx_put_be16(f.b + 16, 0x88a8);
	return f;
}

static struct frame tcp4(void)
{
	return frame_tcp4(0x5566, 0x7788, 0x1aa);
}
static struct frame udp6(void)
{
	return frame_udp6(0x1122, 0x3344, 4);
}
static struct frame tcp6(void)
{
	return frame_tcp6(0x5566, 0x7788, 0x055);
}

static struct frame fragment(void)
{
	struct frame f;

	frame_start(&f);
	frame_ip4(&f, FRAME_SRC4, FRAME_DST4, 0);
	frame_ip4_frag(&f, 0x2003);
	frame_proto(&f, 17, 40);
	frame_finish(&f);
	return f;
}

static struct frame arp(void)
{
	struct frame f;

	frame_start(&f);
	frame_type(&f, 0x0806, 46);
	return f;
}

/* ---- what each has in each field ---- */

struct value {
	uint8_t b[16];
};
#define V32(v) \
	{ \
		{ \
			(uint8_t)((uint32_t)(v) >> 24), (uint8_t)((v) >> 16), \
				(uint8_t)((v) >> 8), (uint8_t)(v) \
		} \
	}
#define IP6(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p) \
	{ \
		{ \
			a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p \
		} \
	}
#define IP4(a, b, c, d) IP6(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, a, b, c, d)
#define OUTER(make, f, v) \
	{ \
#make ": " #f, make, FLOW_OUTER(f), v \
	}
#define MISC(make, f, v) \
	{ \
#make ": " #f, make, FLOW_MISC(f), v \
	}

static const struct row {
	const char *name;
	struct frame (*make)(void);
	cx_field field;
	struct value value; /* up to 32 bits: big-endian in the first four bytes */
} rows[] = {
	OUTER(two_vlans, smac_47_16, V32(0x02112233)),
	OUTER(two_vlans, smac_15_0, V32(0x4455)),
	OUTER(two_vlans, dmac_47_16, V32(0x02aabbcc)),
	OUTER(two_vlans, dmac_15_0, V32(0xddee)),
	OUTER(two_vlans, ethertype, V32(0x0800)),
	OUTER(tcp4, ethertype, V32(0x0800)),
	OUTER(udp6, ethertype, V32(0x86dd)),
	OUTER(arp, ethertype, V32(0x0806)),
	OUTER(two_vlans, first_prio, V32(5)),
	OUTER(two_vlans, first_cfi, V32(1)),
	OUTER(two_vlans, first_vid, V32(0x123)),
	OUTER(two_vlans, svlan_tag, V32(1)),
	OUTER(two_vlans, cvlan_tag, V32(0)),
	OUTER(two_vlans_turned, svlan_tag, V32(0)),
	OUTER(two_vlans_turned, cvlan_tag, V32(1)),
	OUTER(two_vlans_turned, first_vid, V32(0x123)),
	MISC(two_vlans, outer_second_prio, V32(3)),
	MISC(two_vlans, outer_second_cfi, V32(1)),
	MISC(two_vlans, outer_second_vid, V32(0x456)),
	MISC(two_vlans, outer_second_cvlan_tag, V32(1)),
	MISC(two_vlans, outer_second_svlan_tag, V32(0)),
	MISC(two_vlans_turned, outer_second_cvlan_tag, V32(0)),
	MISC(two_vlans_turned, outer_second_svlan_tag, V32(1)),
	OUTER(tcp4, cvlan_tag, V32(0)),
	OUTER(tcp4, svlan_tag, V32(0)),
	OUTER(tcp4, first_vid, V32(0)),
	OUTER(two_vlans, ip_version, V32(4)),
	OUTER(tcp6, ip_version, V32(6)),
	OUTER(arp, ip_version, V32(0)),
	OUTER(two_vlans, ip_protocol, V32(17)),
	OUTER(tcp6, ip_protocol, V32(6)),
	OUTER(arp, ip_protocol, V32(0)),
	OUTER(tcp4, ip_dscp, V32(46)),
	OUTER(tcp6, ip_dscp, V32(46)),
	OUTER(tcp4, ip_ecn, V32(1)),
	OUTER(tcp6, ip_ecn, V32(1)),
	OUTER(tcp4, ttl_hoplimit, V32(61)),
	OUTER(tcp6, ttl_hoplimit, V32(61)),
	OUTER(tcp4, frag, V32(0)),
	OUTER(fragment, frag, V32(1)),
	OUTER(tcp4, src_ipv4_src_ipv6, IP4(192, 168, 1, 2)),
	OUTER(tcp4, dst_ipv4_dst_ipv6, IP4(10, 20, 30, 40)),
	OUTER(udp6, src_ipv4_src_ipv6,
	      IP6(0x20, 1, 0xd, 0xb8, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12)),
	OUTER(udp6, dst_ipv4_dst_ipv6,
	      IP6(0x20, 1, 0xd, 0xb8, 0xff, 0xfe, 0xfd, 0xfc, 0xfb, 0xfa, 0xf9, 0xf8,
		  0xf7, 0xf6, 0xf5, 0xf4)),
	OUTER(arp, dst_ipv4_dst_ipv6, IP4(0, 0, 0, 0)),
	MISC(udp6, outer_ipv6_flow_label, V32(0xabcde)),
	MISC(tcp4, outer_ipv6_flow_label, V32(0)),
	OUTER(tcp4, tcp_sport, V32(0x5566)),
	OUTER(tcp4, tcp_dport, V32(0x7788)),
	OUTER(tcp4, tcp_flags, V32(0x1aa)),
	OUTER(tcp6, tcp_flags, V32(0x055)),
	OUTER(tcp4, udp_sport, V32(0)),
	OUTER(tcp4, udp_dport, V32(0)),
	OUTER(two_vlans, udp_sport, V32(0x1122)),
	OUTER(two_vlans, udp_dport, V32(0x3344)),
	OUTER(two_vlans, tcp_dport, V32(0)),
	OUTER(udp6, udp_dport, V32(0x3344)),
	OUTER(fragment, udp_dport, V32(0)), /* later fragment: no ports */
};
#define N_ROWS (sizeof(rows) / sizeof(rows[0]))

/* ---- match parameters with one field ---- */

static void set_bit(uint8_t *param, uint32_t bit, bool on)
{
	uint8_t m = (uint8_t)(0x80 >> bit % 8);

	param[bit / 8] = (uint8_t)(on ? param[bit / 8] | m : param[bit / 8] & ~m);
}

static bool get_bit(const uint8_t *param, uint32_t bit)
{
	return param[bit / 8] >> (7 - bit % 8) & 1;
}

static void put_value(uint8_t param[512], const struct row *r)
{
	memset(param, 0, 512);
	if (cx_field_width(r->field) == 128)
		memcpy(cx_at(param, r->field), r->value.b, 16);
	else
		cx_set(param, r->field, cx_be32(r->value.b));
}

static void full_mask(uint8_t param[512], const struct row *r)
{
	uint32_t at = cx_field_offset(r->field);

	memset(param, 0, 512);
	for (uint32_t i = 0; i < cx_field_width(r->field); i++)
		set_bit(param, at + i, true);
}

static uint8_t enable_of(const struct row *r)
{
	return cx_field_offset(r->field) < 0x200 ? FLOW_ENABLE_OUTER : FLOW_ENABLE_MISC;
}

static void add_drop(struct direct *d, uint32_t table, uint32_t group, uint32_t index,
		     const uint8_t value[512])
{
	struct d_rule rule = { .action = D_DROP };

	memcpy(rule.value, value, sizeof(rule.value));
	d_rule(d, table, group, index, &rule);
}

static void assert_fate(struct direct *d, const struct row *r, enum cx_dest_type want,
			const char *when)
{
	struct frame f = r->make();
	enum cx_dest_type got = flow_steer_one(d, &f);

	if (got != want)
		fail_msg("%s: %s, %s", r->name, when,
			 got == CX_DEST_DROP ? "matched" : "missed");
}

/* ---- tests ---- */

/* All values that are wrong by one bit, and last the right one. */
static void full_mask_row(struct direct *d, const struct row *r)
{
	uint32_t table = d_table(d, 0, 8), at = cx_field_offset(r->field), group;
	uint32_t width = cx_field_width(r->field);
	uint8_t mask[512], value[512];

	full_mask(mask, r);
	put_value(value, r);
	group = d_group(d, table, 0, 255, enable_of(r), mask);
	d_root(d, table);
	for (uint32_t i = 0; i < width; i++) {
		set_bit(value, at + i, !get_bit(value, at + i));
		add_drop(d, table, group, i, value);
		set_bit(value, at + i, !get_bit(value, at + i));
		assert_fate(d, r, CX_DEST_KERNEL, "one bit wrong");
	}
	add_drop(d, table, group, width, value);
	assert_fate(d, r, CX_DEST_DROP, "the right value");
}

static void test_full_masks(void **state)
{
	struct direct *d = d_open(NULL);

	(void)state;
	for (size_t i = 0; i < N_ROWS; i++)
		full_mask_row(d, &rows[i]);
	d_close(d);
}

static void one_bit(struct direct *d, const struct row *r, uint32_t bit)
{
	uint32_t table = d_table(d, 0, 1), group;
	uint8_t mask[512] = { 0 }, right[512], value[512] = { 0 };

	set_bit(mask, bit, true);
	put_value(right, r);
	group = d_group(d, table, 0, 1, enable_of(r), mask);
	d_root(d, table);
	set_bit(value, bit, !get_bit(right, bit));
	add_drop(d, table, group, 0, value);
	assert_fate(d, r, CX_DEST_KERNEL, "a mask of one bit, wrong");
	set_bit(value, bit, get_bit(right, bit));
	add_drop(d, table, group, 1, value);
	assert_fate(d, r, CX_DEST_DROP, "a mask of one bit, right");
}

static void test_single_bit_masks(void **state)
{
	struct direct *d = d_open(NULL);

	(void)state;
	for (size_t i = 0; i < N_ROWS; i++)
		for (uint32_t b = 0; b < cx_field_width(rows[i].field); b++)
			one_bit(d, &rows[i], cx_field_offset(rows[i].field) + b);
	d_close(d);
}

/* All fields of a frame in one mask, outer and misc; then any one of them wrong. */
static void test_all_fields_together(void **state)
{
	struct direct *d = d_open(NULL);
	uint32_t table = d_table(d, 0, 8), group, n = 0;
	uint8_t mask[512] = { 0 }, value[512] = { 0 }, one[512];
	const struct row *last = NULL;

	(void)state;
	for (size_t i = 0; i < N_ROWS; i++) {
		if (rows[i].make != two_vlans)
			continue;
		last = &rows[i];
		full_mask(one, last);
		for (unsigned k = 0; k < 512; k++)
			mask[k] |= one[k];
		put_value(one, last);
		for (unsigned k = 0; k < 512; k++)
			value[k] |= one[k];
	}
	group = d_group(d, table, 0, 255, FLOW_ENABLE_OUTER | FLOW_ENABLE_MISC, mask);
	d_root(d, table);
	for (size_t i = 0; i < N_ROWS; i++) {
		uint32_t bit = cx_field_offset(rows[i].field);

		if (rows[i].make != two_vlans)
			continue;
		set_bit(value, bit, !get_bit(value, bit));
		add_drop(d, table, group, n++, value);
		set_bit(value, bit, !get_bit(value, bit));
	}
	assert_true(n > 15);
	assert_fate(d, last, CX_DEST_KERNEL, "one of many fields wrong");
	add_drop(d, table, group, n, value);
	assert_fate(d, last, CX_DEST_DROP, "all fields right");
	d_close(d);
}

/* Every field of fte_match_set_lyr_2_4 is in the table above or is refused by name. */
static void test_no_field_forgotten(void **state)
{
	static const char *const refused[] = { "ipv4_ihl", "l3_ok", "l4_ok",
					       "ipv4_checksum_ok", "l4_checksum_ok" };
	const struct cx_layout *l = &cx_layout_fte_match_set_lyr_2_4;

	(void)state;
	for (size_t i = 0; i < l->n_fields; i++) {
		cx_field field = CX_PACK(l->field[i].offset, l->field[i].width);
		bool known = false;

		for (size_t k = 0; k < N_ROWS; k++)
			known |= rows[k].field == field;
		for (size_t k = 0; k < sizeof(refused) / sizeof(refused[0]); k++)
			known |= !strcmp(l->field[i].name, refused[k]);
		if (!known)
			fail_msg("%s is not tested", l->field[i].name);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_full_masks),
		cmocka_unit_test(test_single_bit_masks),
		cmocka_unit_test(test_all_fields_together),
		cmocka_unit_test(test_no_field_forgotten),
	};

	return cmocka_run_group_tests_name("match", tests, NULL, NULL);
}
