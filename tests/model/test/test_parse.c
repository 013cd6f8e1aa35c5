/* test/test_parse.c - what the device sees in a frame, and that it sees nothing else */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "../core/dev.h"
#include "frame.h"
#include "fuzz.h"

static struct cx_pkt parse(const struct frame *f)
{
	struct cx_pkt pkt;

	fuzz_parse(f->b, f->len);
	cx_parse(&pkt, f->b, f->len);
	return pkt;
}

static struct cx_pkt parse_finished(struct frame *f)
{
	frame_finish(f);
	return parse(f);
}

static void assert_all_ok(const struct cx_pkt *p)
{
	assert_true(p->l2_ok);
	assert_true(p->l3_ok);
	assert_true(p->l4_ok);
}

static void assert_no_l4(const struct cx_pkt *p)
{
	assert_int_equal(p->l4_off, 0);
	assert_int_equal(p->sport | p->dport | p->tcp_flags, 0);
	assert_false(p->l4_ok);
}

/* ---- Ethernet and VLAN ---- */

static void test_plain_udp4(void **state)
{
	struct frame f = frame_udp4(1111, 2222, 18);
	struct cx_pkt p = parse(&f);

	(void)state;
	assert_all_ok(&p);
	assert_ptr_equal(p.data, f.b);
	assert_int_equal(p.len, 60);
	assert_int_equal(p.eth_type, 0x0800);
	assert_int_equal(p.n_vlan, 0);
	assert_int_equal(p.l3, 4);
	assert_int_equal(p.ip_proto, 17);
	assert_int_equal(p.tos, 0xb9);
	assert_int_equal(p.ttl, 61);
	assert_int_equal(p.l3_off, 14);
	assert_int_equal(p.l4_off, 34);
	assert_int_equal(p.payload_off, 42);
	assert_int_equal(p.sport, 1111);
	assert_int_equal(p.dport, 2222);
	assert_false(p.frag | p.first_frag | p.ip_options);
}

static void test_plain_tcp6(void **state)
{
	struct frame f = frame_tcp6(1111, 2222, 0x1aa);
	struct cx_pkt p = parse(&f);

	(void)state;
	assert_all_ok(&p);
	assert_int_equal(p.eth_type, 0x86dd);
	assert_int_equal(p.l3, 6);
	assert_int_equal(p.ip_proto, 6);
	assert_int_equal(p.tos, 0xb9);
	assert_int_equal(p.ttl, 61);
	assert_int_equal(p.l4_off, 54);
	assert_int_equal(p.payload_off, 74);
	assert_int_equal(p.sport, 1111);
	assert_int_equal(p.dport, 2222);
	assert_int_equal(p.tcp_flags, 0x1aa);
}

static void test_vlan_tags(void **state)
{
	struct frame f;
	struct cx_pkt p;

	(void)state;
	frame_start(&f);
	frame_vlan(&f, 0x8100, 0xb123);
	frame_ip4(&f, 1, 2, 0);
	frame_udp(&f, 1, 2, 0);
	p = parse_finished(&f);
	assert_all_ok(&p);
	assert_int_equal(p.n_vlan, 1);
	assert_int_equal(p.vlan_tpid, 0x8100);
	assert_int_equal(p.vlan_tci, 0xb123);
	assert_int_equal(p.eth_type, 0x0800);
	assert_int_equal(p.l3_off, 18);

	frame_start(&f);
	frame_vlan(&f, 0x88a8, 0x2fff);
	frame_vlan(&f, 0x8100, 0x7001);
	frame_ip6(&f, frame_src6, frame_dst6);
	frame_udp(&f, 1, 2, 0);
	p = parse_finished(&f);
	assert_all_ok(&p);
	assert_int_equal(p.n_vlan, 2);
	assert_int_equal(p.vlan_tpid, 0x88a8);
	assert_int_equal(p.vlan_tci, 0x2fff);
	assert_int_equal(p.vlan2_tpid, 0x8100);
	assert_int_equal(p.vlan2_tci, 0x7001);
	assert_int_equal(p.l3_off, 22);
}

static void test_third_tag_is_payload(void **state)
{
	struct frame f;
	struct cx_pkt p;

	(void)state;
	frame_start(&f);
	for (unsigned i = 0; i < 3; i++)
		frame_vlan(&f, 0x8100, (uint16_t)i);
	frame_ip4(&f, 1, 2, 0);
	frame_udp(&f, 1, 2, 0);
	p = parse_finished(&f);
	assert_int_equal(p.n_vlan, 2);
	assert_int_equal(p.eth_type, 0x8100);
	assert_int_equal(p.payload_off, 22);
	assert_int_equal(p.l3, 0);
}

static void test_other_ethertypes(void **state)
{
	static const uint16_t types[] = { 0x0806, 0x0026, 0x9100, 0x8847, 0x0801, 0xffff };

	(void)state;
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		struct frame f;
		struct cx_pkt p;

		frame_start(&f);
		frame_type(&f, types[i], 46);
		p = parse(&f);
		assert_true(p.l2_ok);
		assert_int_equal(p.eth_type, types[i]);
		assert_int_equal(p.payload_off, 14);
		assert_int_equal(p.l3, 0);
		assert_false(p.l3_ok | p.l4_ok);
	}
}

/* ---- IPv4 ---- */

static void test_ip4_options(void **state)
{
	(void)state;
	for (uint32_t bytes = 4; bytes <= 40; bytes += 4) {
		struct frame f;
		struct cx_pkt p;

		frame_start(&f);
		frame_ip4(&f, FRAME_SRC4, FRAME_DST4, bytes);
		frame_tcp(&f, 5, 6, 2, 7);
		p = parse_finished(&f);
		assert_all_ok(&p);
		assert_true(p.ip_options);
		assert_int_equal(p.l4_off, 34 + bytes);
		assert_int_equal(p.sport, 5);
	}
}

static void test_ip4_header_sum(void **state)
{
	(void)state;
	for (unsigned bit = 0; bit < 20 * 8; bit++) {
		struct frame f = frame_udp4(1, 2, 10);
		struct cx_pkt p;

		f.b[14 + bit / 8] ^= (uint8_t)(0x80 >> bit % 8);
		p = parse(&f);
		assert_false(p.l3_ok);
	}
}

/* Bits of the length fields may make the frame absurd, or shorter; never good. */
static void test_l4_sum_covers_all(void **state)
{
	const struct frame good[] = { frame_udp4(1, 2, 11), frame_udp6(1, 2, 11),
				      frame_tcp4(1, 2, 0x10), frame_tcp6(1, 2, 0x10) };

	(void)state;
	for (unsigned i = 0; i < 4; i++) {
		for (unsigned bit = good[i].l4 * 8; bit < good[i].len * 8; bit++) {
			struct frame f = good[i];
			struct cx_pkt p;

			f.b[bit / 8] ^= (uint8_t)(0x80 >> bit % 8);
			p = parse(&f);
			assert_true(p.l3_ok);
			assert_false(p.l4_ok);
		}
	}
}

static void test_l4_sum_covers_addresses(void **state)
{
	struct frame f = frame_udp6(1, 2, 4);
	struct cx_pkt p;

	(void)state;
	for (unsigned bit = 22 * 8; bit < 54 * 8; bit++) {
		f.b[bit / 8] ^= (uint8_t)(0x80 >> bit % 8);
		p = parse(&f);
		assert_false(p.l4_ok);
		f.b[bit / 8] ^= (uint8_t)(0x80 >> bit % 8);
	}
	f = frame_tcp4(1, 2, 0);
	f.b[29] ^= 4; /* source address; header checksum made right again */
	frame_ip4_sum(&f);
	p = parse(&f);
	assert_true(p.l3_ok);
	assert_false(p.l4_ok);
}

/* Padding to 60 bytes belongs to no checksum. */
static void test_padding(void **state)
{
	struct frame v4 = frame_udp4(1, 2, 3), v6 = frame_tcp6(1, 2, 0);
	struct cx_pkt p;

	(void)state;
	memset(v4.b + v4.len, 0x5a, 20);
	v4.len += 20;
	p = parse(&v4);
	assert_all_ok(&p);
	memset(v6.b + v6.len, 0x5a, 3);
	v6.len += 3;
	p = parse(&v6);
	assert_all_ok(&p);
}

static void test_ip4_lengths(void **state)
{
	static const uint16_t bad[] = { 0, 19, 39, 0xffff };
	struct frame f;
	struct cx_pkt p;

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		f = frame_udp4(1, 2, 10);
		cx_put_be16(f.b + 16, bad[i] == 39 ? (uint16_t)(f.len - 14 + 1) : bad[i]);
		frame_ip4_sum(&f);
		p = parse(&f);
		assert_int_equal(p.l3, 4);
		assert_false(p.l3_ok);
		assert_no_l4(&p);
	}
	f = frame_udp4(1, 2, 10);
	cx_put_be16(f.b + 16, 27); /* seven bytes of UDP header */
	frame_ip4_sum(&f);
	p = parse(&f);
	assert_true(p.l3_ok);
	assert_int_equal(p.ip_proto, 17);
	assert_no_l4(&p);
}

static void test_ip4_without_payload(void **state)
{
	struct frame f;
	struct cx_pkt p;

	(void)state;
	frame_start(&f);
	frame_ip4(&f, 1, 2, 0);
	frame_proto(&f, 17, 0);
	p = parse_finished(&f);
	assert_true(p.l3_ok);
	assert_int_equal(p.ip_proto, 17);
	assert_int_equal(p.payload_off, 34);
	assert_no_l4(&p);
}

static void test_ip4_broken_start(void **state)
{
	static const uint8_t first[] = { 0x44, 0x40, 0x65, 0x05, 0x55 };

	(void)state;
	for (size_t i = 0; i < sizeof(first); i++) {
		struct frame f = frame_udp4(1, 2, 10);
		struct cx_pkt p;

		f.b[14] = first[i];
		p = parse(&f);
		assert_int_equal(p.l3, 0);
		assert_false(p.l3_ok);
		assert_int_equal(p.eth_type, 0x0800);
	}
}

/* ---- fragments ---- */

static void test_ip4_fragments(void **state)
{
	static const struct {
		uint16_t word;
		bool frag, first;
	} row[] = {
		{ 0x0000, false, false }, { 0x4000, false, false }, /* don't fragment */
		{ 0x8000, false, false },			    /* reserved bit */
		{ 0x2000, true, true },	  { 0x2001, true, false },
		{ 0x0001, true, false },  { 0x1fff, true, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		struct frame f;
		struct cx_pkt p;

		frame_start(&f);
		frame_ip4(&f, FRAME_SRC4, FRAME_DST4, 0);
		frame_ip4_frag(&f, row[i].word);
		frame_udp(&f, 7, 8, 16);
		p = parse_finished(&f);
		assert_true(p.l3_ok);
		assert_int_equal(p.frag, row[i].frag);
		assert_int_equal(p.first_frag, row[i].first);
		assert_int_equal(p.l4_ok, !row[i].frag);
		assert_int_equal(p.dport, !row[i].frag || row[i].first ? 8 : 0);
		assert_int_equal(p.ip_proto, 17);
	}
}

static void test_ip6_fragments(void **state)
{
	static const struct {
		uint16_t word;
		bool frag, first;
	} row[] = {
		{ 0x0000, false, false }, /* atomic: RFC 6946 */
		{ 0x0006, false, false }, /* reserved bits */
		{ 0x0001, true, true },	  { 0x0009, true, false },
		{ 0x0008, true, false },  { 0xfff8, true, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		struct frame f;
		struct cx_pkt p;

		frame_start(&f);
		frame_ip6(&f, frame_src6, frame_dst6);
		frame_ip6_frag(&f, row[i].word);
		frame_tcp(&f, 7, 8, 0x18, 16);
		p = parse_finished(&f);
		assert_true(p.l3_ok);
		assert_int_equal(p.frag, row[i].frag);
		assert_int_equal(p.first_frag, row[i].first);
		assert_int_equal(p.l4_ok, !row[i].frag);
		assert_int_equal(p.dport, !row[i].frag || row[i].first ? 8 : 0);
		assert_int_equal(p.ip_proto, 6);
	}
}

/* The data of a later fragment may look like anything, extension headers too. */
static void test_ip6_later_fragment_is_data(void **state)
{
	struct frame f;
	struct cx_pkt p;

	(void)state;
	frame_start(&f);
	frame_ip6(&f, frame_src6, frame_dst6);
	frame_ip6_frag(&f, 0x0008);
	frame_ext(&f, 60, 8);
	frame_udp(&f, 7, 8, 0);
	p = parse_finished(&f);
	assert_int_equal(p.ip_proto, 60);
	assert_true(p.frag);
	assert_no_l4(&p);
}

/* ---- IPv6 extension headers ---- */

static void test_each_extension(void **state)
{
	static const uint8_t protos[] = { 0, 43, 60, 51 };

	(void)state;
	for (size_t i = 0; i < sizeof(protos); i++) {
		for (uint32_t bytes = 8; bytes <= 64; bytes += 8) {
			struct frame f;
			struct cx_pkt p;

			frame_start(&f);
			frame_ip6(&f, frame_src6, frame_dst6);
			frame_ext(&f, protos[i], bytes);
			frame_udp(&f, 7, 8, 5);
			p = parse_finished(&f);
			assert_all_ok(&p);
			assert_int_equal(p.ip_proto, 17);
			assert_int_equal(p.l4_off, 54 + bytes);
			assert_int_equal(p.dport, 8);
		}
	}
}

static void test_chains(void **state)
{
	(void)state;
	for (unsigned n = 0; n <= 12; n++) {
		struct frame f = frame_chain(n);
		struct cx_pkt p = parse(&f);

		if (n <= 8) {
			assert_all_ok(&p);
			assert_int_equal(p.ip_proto, 6);
			assert_int_equal(p.dport, 8);
		} else {
			assert_true(p.l3_ok);
			assert_int_not_equal(p.ip_proto, 6);
			assert_no_l4(&p);
		}
	}
}

static void test_extension_longer_than_packet(void **state)
{
	struct frame f = frame_chain(2);
	struct cx_pkt p;

	(void)state;
	f.b[54 + 16 + 1] = 200;
	p = parse(&f);
	assert_true(p.l3_ok);
	assert_int_equal(p.ip_proto, 60);
	assert_no_l4(&p);
	f = frame_chain(1);
	f.b[54 + 1] = 255;
	p = parse(&f);
	assert_int_equal(p.ip_proto, 0);
	assert_no_l4(&p);
}

static void test_no_next_header(void **state)
{
	struct frame f;
	struct cx_pkt p;

	(void)state;
	frame_start(&f);
	frame_ip6(&f, frame_src6, frame_dst6);
	frame_ext(&f, 0, 8);
	frame_proto(&f, 59, 20);
	p = parse_finished(&f);
	assert_true(p.l3_ok);
	assert_int_equal(p.ip_proto, 59);
	assert_no_l4(&p);
}

static void test_ip6_lengths(void **state)
{
	struct frame f = frame_udp6(1, 2, 10);
	struct cx_pkt p;

	(void)state;
	cx_put_be16(f.b + 18, (uint16_t)(f.len - 54 + 1));
	p = parse(&f);
	assert_int_equal(p.l3, 6);
	assert_false(p.l3_ok);
	assert_no_l4(&p);
	cx_put_be16(f.b + 18, 0);
	p = parse(&f);
	assert_true(p.l3_ok);
	assert_int_equal(p.ip_proto, 17);
	assert_no_l4(&p);
	f.b[14] = 0x4b;
	p = parse(&f);
	assert_int_equal(p.l3, 0);
}

/* ---- layer 4 ---- */

static void test_udp_without_sum(void **state)
{
	struct frame v4 = frame_udp4(1, 2, 9), v6 = frame_udp6(1, 2, 9);
	struct cx_pkt p;

	(void)state;
	cx_put_be16(v4.b + v4.l4 + 6, 0);
	p = parse(&v4);
	assert_true(p.l4_ok);
	cx_put_be16(v6.b + v6.l4 + 6, 0);
	p = parse(&v6);
	assert_false(p.l4_ok);
	assert_int_equal(p.dport, 2);
}

static void test_udp_length(void **state)
{
	static const uint16_t bad[] = { 0, 7, 28, 0xffff };

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		struct frame f = frame_udp4(1, 2, 19);
		struct cx_pkt p;

		cx_put_be16(f.b + f.l4 + 6, 0);
		cx_put_be16(f.b + f.l4 + 4, bad[i]);
		p = parse(&f);
		assert_true(p.l3_ok);
		assert_false(p.l4_ok);
		assert_int_equal(p.dport, 2);
	}
}

static void test_tcp_data_offset(void **state)
{
	(void)state;
	for (unsigned words = 0; words < 16; words++) {
		struct frame f = frame_tcp4(3, 4, 0x12);
		struct cx_pkt p;

		f.b[f.l4 + 12] = (uint8_t)(words << 4);
		p = parse(&f);
		if (words < 5 || words * 4 > f.len - f.l4) {
			assert_no_l4(&p);
		} else {
			assert_int_equal(p.dport, 4);
			assert_int_equal(p.payload_off, f.l4 + words * 4);
		}
	}
}

static void test_other_protocols(void **state)
{
	static const uint8_t protos[] = { 1, 2, 47, 50, 58, 89, 132, 255 };

	(void)state;
	for (size_t i = 0; i < sizeof(protos); i++) {
		struct frame f;
		struct cx_pkt p;

		frame_start(&f);
		frame_ip4(&f, 1, 2, 0);
		frame_proto(&f, protos[i], 40);
		p = parse_finished(&f);
		assert_true(p.l3_ok);
		assert_int_equal(p.ip_proto, protos[i]);
		assert_int_equal(p.payload_off, 34);
		assert_no_l4(&p);
	}
}

static void test_ip4_has_no_extensions(void **state)
{
	struct frame f;
	struct cx_pkt p;

	(void)state;
	frame_start(&f);
	frame_ip4(&f, 1, 2, 0);
	frame_ext(&f, 60, 8);
	frame_udp(&f, 1, 2, 0);
	p = parse_finished(&f);
	assert_int_equal(p.ip_proto, 60);
	assert_no_l4(&p);
}

static void test_large_frame(void **state)
{
	static uint8_t b[70000];
	struct frame f = frame_udp4(1, 2, 10);
	struct cx_pkt p;

	(void)state;
	memcpy(b, f.b, f.len);
	cx_parse(&p, b, sizeof(b));
	assert_all_ok(&p);
	assert_int_equal(p.len, sizeof(b));
	cx_put_be16(b + 16, 0xffff); /* past offset 65535, which 16 bits do not reach */
	cx_parse(&p, b, sizeof(b));
	assert_false(p.l3_ok);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_plain_udp4),
		cmocka_unit_test(test_plain_tcp6),
		cmocka_unit_test(test_vlan_tags),
		cmocka_unit_test(test_third_tag_is_payload),
		cmocka_unit_test(test_other_ethertypes),
		cmocka_unit_test(test_ip4_options),
		cmocka_unit_test(test_ip4_header_sum),
		cmocka_unit_test(test_l4_sum_covers_all),
		cmocka_unit_test(test_l4_sum_covers_addresses),
		cmocka_unit_test(test_padding),
		cmocka_unit_test(test_ip4_lengths),
		cmocka_unit_test(test_ip4_without_payload),
		cmocka_unit_test(test_ip4_broken_start),
		cmocka_unit_test(test_ip4_fragments),
		cmocka_unit_test(test_ip6_fragments),
		cmocka_unit_test(test_ip6_later_fragment_is_data),
		cmocka_unit_test(test_each_extension),
		cmocka_unit_test(test_chains),
		cmocka_unit_test(test_extension_longer_than_packet),
		cmocka_unit_test(test_no_next_header),
		cmocka_unit_test(test_ip6_lengths),
		cmocka_unit_test(test_udp_without_sum),
		cmocka_unit_test(test_udp_length),
		cmocka_unit_test(test_tcp_data_offset),
		cmocka_unit_test(test_other_protocols),
		cmocka_unit_test(test_ip4_has_no_extensions),
		cmocka_unit_test(test_large_frame),
	};

	return cmocka_run_group_tests_name("parse", tests, NULL, NULL);
}
