/* test/test_wire_offload.c - frames that a local stack left half made leave whole
 *
 * Every frame that comes out is judged by an oracle that knows nothing of
 * wire/offload.c: it walks the headers, sums the checksum over the pseudo header
 * byte by byte, and joins the payloads again.
 */
#include <errno.h>
#include <linux/virtio_net.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "../wire/offload.h"

enum { TCP = 6, UDP = 17, SCTP = 132, ROOM = 70000, OUT_MAX = 64 };

struct out {
	uint8_t frame[OUT_MAX][2048];
	uint32_t len[OUT_MAX];
	unsigned n;
};

static uint8_t room[OFFLOAD_ROOM + ROOM];
static uint8_t *const in = room + OFFLOAD_ROOM;
static struct out out;

static void collect(void *arg, const uint8_t *frame, uint32_t len)
{
	struct out *o = arg;

	assert_true(o->n < OUT_MAX && len <= sizeof(o->frame[0]));
	memcpy(o->frame[o->n], frame, len);
	o->len[o->n++] = len;
}

static int finish(const struct virtio_net_hdr *hdr, uint16_t tpid, uint16_t tci,
		  uint32_t len)
{
	struct offload o = { .hdr = hdr,
			     .vlan_tpid = tpid,
			     .vlan_tci = tci,
			     .emit = collect,
			     .arg = &out };

	memset(&out, 0, sizeof(out));
	return offload_finish(&o, in, len);
}

/* ---- oracle ---- */

static uint32_t be16(const uint8_t *p)
{
	return (uint32_t)p[0] * 256 + p[1];
}

static uint32_t add_bytes(uint32_t s, const uint8_t *p, uint32_t len)
{
	for (uint32_t i = 0; i < len; i++) {
		s += i % 2 ? p[i] : (uint32_t)p[i] << 8;
		if (s > 0xffff)
			s -= 0xffff; /* end-around carry */
	}
	return s;
}

struct parsed {
	uint32_t l3, l4, payload, end;
	uint8_t proto;
};

static struct parsed parse(const uint8_t *f, uint32_t len)
{
	struct parsed p = { .l3 = 14 };

	if (be16(f + 12) == 0x8100)
		p.l3 = 18;
	if (f[p.l3] >> 4 == 4) {
		p.l4 = p.l3 + (f[p.l3] & 15) * 4u;
		p.proto = f[p.l3 + 9];
		p.end = p.l3 + be16(f + p.l3 + 2);
	} else {
		p.l4 = p.l3 + 40;
		p.proto = f[p.l3 + 6];
		p.end = p.l4 + be16(f + p.l3 + 4);
	}
	p.payload = p.l4 + (p.proto == TCP ? (f[p.l4 + 12] >> 4) * 4u : 8);
	assert_true(p.payload <= p.end && p.end <= len);
	return p;
}

/* IP and transport checksums are right. */
static struct parsed judge(const uint8_t *f, uint32_t len)
{
	struct parsed p = parse(f, len);
	uint8_t tail[4] = { 0, p.proto, 0, 0 };
	uint32_t s = 0;

	if (f[p.l3] >> 4 == 4) {
		assert_int_equal(add_bytes(0, f + p.l3, p.l4 - p.l3), 0xffff);
		s = add_bytes(s, f + p.l3 + 12, 8);
	} else {
		s = add_bytes(s, f + p.l3 + 8, 32);
	}
	tail[2] = (uint8_t)((p.end - p.l4) >> 8);
	tail[3] = (uint8_t)(p.end - p.l4);
	s = add_bytes(s, tail, 4);
	assert_int_equal(add_bytes(s, f + p.l4, p.end - p.l4), 0xffff);
	return p;
}

/* ---- frames as a stack leaves them ---- */

static void put16(uint8_t *p, uint32_t v)
{
	p[0] = (uint8_t)(v >> 8);
	p[1] = (uint8_t)v;
}

static uint32_t put_ip(unsigned ip, uint8_t proto, uint32_t l4_len)
{
	uint8_t *h = in + 14;

	put16(in + 12, ip == 4 ? 0x0800 : 0x86dd);
	if (ip == 4) {
		h[0] = 0x45;
		put16(h + 2, 20 + l4_len);
		put16(h + 4, 0xfffe); /* the identification wraps on its way */
		h[8] = 64;
		h[9] = proto;
		memcpy(h + 12, (const uint8_t[]){ 10, 0, 0, 1, 192, 168, 254, 255 }, 8);
		put16(h + 10, 0xffff - add_bytes(0, h, 20));
		return 34;
	}
	h[0] = 0x60;
	put16(h + 4, l4_len);
	h[6] = proto;
	h[7] = 64;
	for (unsigned i = 8; i < 40; i++)
		h[i] = (uint8_t)(i * 37);
	return 54;
}

/* The checksum field holds the sum of the pseudo header, not complemented: what
 * CHECKSUM_PARTIAL means (kernel, include/linux/skbuff.h). */
static void put_pseudo(uint32_t l3, uint32_t l4, uint8_t proto, uint32_t l4_len,
		       uint32_t at)
{
	uint8_t tail[4] = { 0, proto, (uint8_t)(l4_len >> 8), (uint8_t)l4_len };
	uint32_t s = in[l3] >> 4 == 4 ? add_bytes(0, in + l3 + 12, 8)
				      : add_bytes(0, in + l3 + 8, 32);

	put16(in + l4 + at, add_bytes(s, tail, 4));
}

static uint32_t build(unsigned ip, uint8_t proto, uint32_t payload,
		      struct virtio_net_hdr *hdr)
{
	uint32_t head = proto == TCP ? 32 : 8, at = proto == TCP ? 16 : 6;
	uint32_t l4;

	memset(in, 0, ROOM);
	in[0] = in[6] = 2;
	in[5] = 1;
	in[11] = 2;
	l4 = put_ip(ip, proto, head + payload);
	put16(in + l4, 1234);
	put16(in + l4 + 2, 80);
	if (proto == TCP) {
		put16(in + l4 + 4, 0xffff); /* the sequence number wraps too */
		put16(in + l4 + 6, 0xff00);
		in[l4 + 12] = 8 << 4;
		in[l4 + 13] = 0x80 | 0x10 | 0x08 | 0x01; /* CWR ACK PSH FIN */
		in[l4 + 20] = in[l4 + 21] = 1;
	} else {
		put16(in + l4 + 4, head + payload);
	}
	for (uint32_t i = 0; i < payload; i++)
		in[l4 + head + i] = (uint8_t)(i * 7 + i / 251);
	put_pseudo(14, l4, proto, head + payload, at);
	*hdr = (struct virtio_net_hdr){ .flags = VIRTIO_NET_HDR_F_NEEDS_CSUM,
					.csum_start = (uint16_t)l4,
					.csum_offset = (uint16_t)at };
	return l4 + head + payload;
}

/* ---- tests ---- */

static void a_started_checksum_is_completed(void **state)
{
	struct virtio_net_hdr hdr;

	(void)state;
	for (unsigned ip = 4; ip <= 6; ip += 2)
		for (uint32_t payload = 100; payload < 104; payload++)
			for (unsigned i = 0; i < 2; i++) {
				uint32_t len = build(ip, i ? TCP : UDP, payload, &hdr);

				assert_int_equal(finish(&hdr, 0, 0, len), 0);
				assert_int_equal(out.n, 1);
				assert_int_equal(out.len[0], len);
				judge(out.frame[0], len);
			}
}

static void a_computed_zero_of_udp_is_sent_as_all_ones(void **state)
{
	struct virtio_net_hdr hdr;
	uint32_t len = build(4, UDP, 2, &hdr), sum;

	(void)state;
	/* Choose the two payload bytes so that the sum of everything is 0xffff. */
	put16(in + 42, 0);
	sum = add_bytes(0, in + 34, len - 34);
	put16(in + 42, 0xffff - sum);
	assert_int_equal(finish(&hdr, 0, 0, len), 0);
	assert_int_equal(be16(out.frame[0] + 40), 0xffff);
	judge(out.frame[0], out.len[0]);
}

static void an_sctp_packet_gets_its_crc(void **state)
{
	/* RFC 3720, B.4: the CRC32c of 32 bytes of zero is aa 36 91 8a in wire order. An SCTP
	 * packet of zeroes is such a string, its own field included. */
	struct virtio_net_hdr hdr = { .flags = VIRTIO_NET_HDR_F_NEEDS_CSUM,
				      .csum_start = 34,
				      .csum_offset = 8 };

	(void)state;
	memset(in, 0, ROOM);
	put_ip(4, SCTP, 32);
	memset(in + 34 + 8, 0x5a, 4);
	assert_int_equal(finish(&hdr, 0, 0, 34 + 32), 0);
	assert_memory_equal(out.frame[0] + 34 + 8, "\xaa\x36\x91\x8a", 4);
}

static void judge_segments(uint8_t proto, uint32_t payload, uint32_t mss,
			   const uint8_t *want)
{
	uint32_t done = 0;

	assert_int_equal(out.n, (payload + mss - 1) / mss);
	for (unsigned i = 0; i < out.n; i++) {
		const uint8_t *f = out.frame[i];
		struct parsed p = judge(f, out.len[i]);
		bool last = i == out.n - 1;

		assert_int_equal(p.end - p.payload, last ? payload - done : mss);
		assert_memory_equal(f + p.payload, want + done, p.end - p.payload);
		if (f[p.l3] >> 4 == 4)
			assert_int_equal(be16(f + p.l3 + 4), (0xfffe + i) & 0xffff);
		if (proto == TCP) {
			uint32_t seq = (be16(f + p.l4 + 4) << 16) + be16(f + p.l4 + 6);

			assert_int_equal(seq, (uint32_t)(0xffffff00u + done));
			assert_int_equal(f[p.l4 + 13],
					 0x10 | (last ? 0x09 : 0) | (i ? 0 : 0x80));
		} else {
			assert_int_equal(be16(f + p.l4 + 4), p.end - p.l4);
		}
		done += p.end - p.payload;
	}
	assert_int_equal(done, payload);
}

static void several_segments_in_one_are_cut(void **state)
{
	static uint8_t want[ROOM];
	static const struct {
		unsigned ip;
		uint8_t proto, gso;
	} row[] = {
		{ 4, TCP, VIRTIO_NET_HDR_GSO_TCPV4 },
		{ 6, TCP, VIRTIO_NET_HDR_GSO_TCPV6 },
		{ 4, TCP, VIRTIO_NET_HDR_GSO_TCPV4 | VIRTIO_NET_HDR_GSO_ECN },
		{ 4, UDP, 5 },
		{ 6, UDP, 5 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		uint32_t payload = 1448 * 3 + 1;
		struct virtio_net_hdr hdr;
		uint32_t len = build(row[i].ip, row[i].proto, payload, &hdr);

		memcpy(want, in + len - payload, payload);
		hdr.gso_type = row[i].gso;
		hdr.gso_size = 1448;
		assert_int_equal(finish(&hdr, 0, 0, len), 0);
		judge_segments(row[i].proto, payload, 1448, want);
	}
}

static void merged_frames_are_cut_without_a_started_checksum(void **state)
{
	struct virtio_net_hdr hdr;
	uint32_t len = build(4, TCP, 2000, &hdr);
	uint8_t want[2000];

	(void)state;
	memcpy(want, in + len - 2000, 2000);
	hdr = (struct virtio_net_hdr){ .gso_type = VIRTIO_NET_HDR_GSO_TCPV4,
				       .gso_size = 1000 };
	assert_int_equal(finish(&hdr, 0, 0, len), 0);
	judge_segments(TCP, 2000, 1000, want);
}

static void a_tag_that_was_taken_out_is_put_back(void **state)
{
	struct virtio_net_hdr hdr;
	uint32_t len = build(4, UDP, 200, &hdr);

	(void)state;
	assert_int_equal(finish(&hdr, 0x8100, 0xe123, len), 0);
	assert_int_equal(out.len[0], len + 4);
	assert_memory_equal(out.frame[0],
			    "\x02\x00\x00\x00\x00\x01\x02\x00\x00\x00\x00\x02"
			    "\x81\x00\xe1\x23\x08\x00",
			    18);
	judge(out.frame[0], out.len[0]);
}

static void a_short_frame_is_padded_with_zeroes(void **state)
{
	static const uint8_t zero[60];

	(void)state;
	memset(in, 0xee, ROOM);
	assert_int_equal(finish(NULL, 0, 0, 42), 0);
	assert_int_equal(out.len[0], 60);
	assert_memory_equal(out.frame[0], in, 42);
	assert_memory_equal(out.frame[0] + 42, zero, 18);
	assert_int_equal(finish(NULL, 0x8100, 1, 42), 0);
	assert_int_equal(out.len[0], 60);
}

static void a_header_that_does_not_fit_is_refused(void **state)
{
	struct virtio_net_hdr hdr;
	uint32_t len = build(4, TCP, 2000, &hdr);
	struct virtio_net_hdr bad[] = {
		{ .flags = VIRTIO_NET_HDR_F_NEEDS_CSUM, .csum_start = (uint16_t)len },
		{ .flags = VIRTIO_NET_HDR_F_NEEDS_CSUM,
		  .csum_start = (uint16_t)(len - 1),
		  .csum_offset = 0 },
		{ .gso_type = VIRTIO_NET_HDR_GSO_TCPV4, .gso_size = 0 },
		{ .gso_type = VIRTIO_NET_HDR_GSO_TCPV4,
		  .gso_size = 100,
		  .flags = VIRTIO_NET_HDR_F_NEEDS_CSUM,
		  .csum_start = 20 },
		{ .gso_type = VIRTIO_NET_HDR_GSO_TCPV4,
		  .gso_size = 100,
		  .flags = VIRTIO_NET_HDR_F_NEEDS_CSUM,
		  .csum_start = (uint16_t)(len - 4) },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(finish(&bad[i], 0, 0, len), -EINVAL);
		assert_int_equal(out.n, 0);
	}
	assert_int_equal(finish(NULL, 0, 0, 13), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_started_checksum_is_completed),
		cmocka_unit_test(a_computed_zero_of_udp_is_sent_as_all_ones),
		cmocka_unit_test(an_sctp_packet_gets_its_crc),
		cmocka_unit_test(several_segments_in_one_are_cut),
		cmocka_unit_test(merged_frames_are_cut_without_a_started_checksum),
		cmocka_unit_test(a_tag_that_was_taken_out_is_put_back),
		cmocka_unit_test(a_short_frame_is_padded_with_zeroes),
		cmocka_unit_test(a_header_that_does_not_fit_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
