/* test/test_rss.c - hashes against published answers, and which frame is hashed by what */
#include "direct.h"

#include <arpa/inet.h>
#include <string.h>

#include "../core/dev.h"
#include "frame.h"

/* Microsoft, "Verifying the RSS Hash Calculation" */
static const struct vector {
	const char *dst, *src;
	uint16_t dport, sport;
	uint32_t ip, tcp;
} vectors[] = {
	{ "161.142.100.80", "66.9.149.187", 1766, 2794, 0x323e8fc2, 0x51ccc178 },
	{ "65.69.140.83", "199.92.111.2", 4739, 14230, 0xd718262a, 0xc626b0ea },
	{ "12.22.207.184", "24.19.198.95", 38024, 12898, 0xd2d0a5de, 0x5c2b394a },
	{ "209.142.163.6", "38.27.205.30", 2217, 48228, 0x82989176, 0xafc7327f },
	{ "202.188.127.2", "153.39.163.191", 1303, 44251, 0x5d1809c5, 0x10e828a2 },
	{ "3ffe:2501:200:3::1", "3ffe:2501:200:1fff::7", 1766, 2794, 0x2cc18cd5,
	  0x40207d3d },
	{ "ff02::1", "3ffe:501:8::260:97ff:fe40:efab", 4739, 14230, 0x0f0c461c,
	  0xdde51bbf },
	{ "fe80::200:f8ff:fe21:67cf", "3ffe:1900:4545:3:200:f8ff:fe21:67cf", 38024, 44251,
	  0x4b61e985, 0x02d1feef },
};
#define N_VECTORS (sizeof(vectors) / sizeof(vectors[0]))

enum { SIP = 1, DIP = 2, SPORT = 4, DPORT = 8, ALL = 15 };
enum { TCP = 0, UDP = 1 };

static bool is_ip6(const struct vector *v)
{
	return strchr(v->dst, ':');
}

static struct frame vector_frame(const struct vector *v, bool udp)
{
	uint8_t src[16], dst[16];
	struct frame f;

	frame_start(&f);
	assert_int_equal(inet_pton(is_ip6(v) ? AF_INET6 : AF_INET, v->src, src), 1);
	assert_int_equal(inet_pton(is_ip6(v) ? AF_INET6 : AF_INET, v->dst, dst), 1);
	if (is_ip6(v))
		frame_ip6(&f, src, dst);
	else
		frame_ip4(&f, cx_be32(src), cx_be32(dst), 0);
	if (udp)
		frame_udp(&f, v->sport, v->dport, 0);
	else
		frame_tcp(&f, v->sport, v->dport, 0x10, 0);
	frame_finish(&f);
	return f;
}

/* ---- a TIR with eight queues that nothing is delivered to ---- */

#define N_QUEUES 8
static struct cx_rq queues[N_QUEUES];

struct spread {
	struct cx_rq *rq[N_QUEUES];
	struct cx_rqt rqt;
	struct cx_tir tir;
	struct cx_pkt pkt; /* the last one picked for */
};

static void set_select(struct spread *s, unsigned fields, bool ip6, bool udp)
{
	s->tir.outer_select = fields | (ip6 ? UINT32_C(1) << 31 : 0) |
			      (udp ? 1u << 30 : 0);
}

static void spread_open(struct spread *s, enum cx_rx_hash_fn fn)
{
	memset(s, 0, sizeof(*s));
	for (unsigned i = 0; i < N_QUEUES; i++)
		s->rq[i] = &queues[i];
	s->rqt = (struct cx_rqt){ .max = N_QUEUES, .n = N_QUEUES, .rq = s->rq };
	s->tir.rqt = &s->rqt;
	s->tir.fn = fn;
	memcpy(s->tir.key, d_rss_key, sizeof(s->tir.key));
	cx_rss_prepare(&s->tir);
}

static void spread_close(struct spread *s)
{
	cx_rss_release(&s->tir);
}

/* Return: the index of the queue. */
static unsigned pick(struct spread *s, const struct frame *f)
{
	struct cx_rq *rq;

	cx_parse(&s->pkt, f->b, f->len);
	rq = cx_rss_pick(&s->tir, &s->pkt);
	assert_non_null(rq);
	return (unsigned)(rq - queues);
}

static void assert_hash(struct spread *s, const struct frame *f, uint32_t hash,
			uint8_t type)
{
	unsigned q = pick(s, f);

	assert_int_equal(s->pkt.hash, hash);
	assert_int_equal(s->pkt.hash_type, type);
	assert_int_equal(q, hash % N_QUEUES);
}

/* ---- an own Toeplitz: shift the key by one bit for each bit of input ---- */

static uint32_t reference(const uint8_t *in, unsigned n)
{
	uint8_t key[40];
	uint32_t hash = 0;

	memcpy(key, d_rss_key, sizeof(key));
	for (unsigned bit = 0; bit < n * 8; bit++) {
		if (in[bit / 8] >> (7 - bit % 8) & 1)
			hash ^= cx_be32(key);
		for (unsigned i = 0; i < 40; i++)
			key[i] = (uint8_t)(key[i] << 1 | (i < 39 ? key[i + 1] >> 7 : 0));
	}
	return hash;
}

static unsigned put(uint8_t *in, unsigned n, const uint8_t *p, unsigned bytes)
{
	memcpy(in + n, p, bytes);
	return n + bytes;
}

/* ---- Toeplitz ---- */

static void test_published_addresses(void **state)
{
	struct spread s;

	(void)state;
	spread_open(&s, CX_HASH_TOEPLITZ);
	for (size_t i = 0; i < N_VECTORS; i++) {
		struct frame f = vector_frame(&vectors[i], false);

		set_select(&s, SIP | DIP, is_ip6(&vectors[i]), TCP);
		assert_hash(&s, &f, vectors[i].ip, is_ip6(&vectors[i]) ? 0x0a : 0x05);
	}
	spread_close(&s);
}

static void test_published_ports(void **state)
{
	struct spread s;

	(void)state;
	spread_open(&s, CX_HASH_TOEPLITZ);
	for (size_t i = 0; i < N_VECTORS; i++) {
		struct frame tcp = vector_frame(&vectors[i], false);
		struct frame udp = vector_frame(&vectors[i], true);
		bool ip6 = is_ip6(&vectors[i]);

		set_select(&s, ALL, ip6, TCP);
		assert_hash(&s, &tcp, vectors[i].tcp, ip6 ? 0x5a : 0x55);
		set_select(&s, ALL, ip6, UDP);
		assert_hash(&s, &udp, vectors[i].tcp, ip6 ? 0xaa : 0xa5);
	}
	spread_close(&s);
}

/* Without memory for the table the slow way gives the same. */
static void test_without_table(void **state)
{
	struct spread s;

	(void)state;
	spread_open(&s, CX_HASH_TOEPLITZ);
	cx_rss_release(&s.tir);
	assert_null(s.tir.toeplitz);
	for (size_t i = 0; i < N_VECTORS; i++) {
		struct frame f = vector_frame(&vectors[i], false);

		set_select(&s, ALL, is_ip6(&vectors[i]), TCP);
		pick(&s, &f);
		assert_int_equal(s.pkt.hash, vectors[i].tcp);
	}
}

/* All 16 selections against the reference, fields one after the other. */
static void test_each_selection(void **state)
{
	struct frame f4 = frame_udp4(0x1234, 0xfedc, 3),
		     f6 = frame_udp6(0x1234, 0xfedc, 3);
	struct spread s;

	(void)state;
	spread_open(&s, CX_HASH_TOEPLITZ);
	for (unsigned i = 0; i < 32; i++) {
		bool ip6 = i >> 4;
		const struct frame *f = ip6 ? &f6 : &f4;
		const uint8_t *ip = f->b + f->l3 + (ip6 ? 8 : 12), *l4 = f->b + f->l4;
		unsigned bytes = ip6 ? 16 : 4, n = 0;
		uint8_t in[36];

		n = i & SIP ? put(in, n, ip, bytes) : n;
		n = i & DIP ? put(in, n, ip + bytes, bytes) : n;
		n = i & SPORT ? put(in, n, l4, 2) : n;
		n = i & DPORT ? put(in, n, l4 + 2, 2) : n;
		set_select(&s, i & ALL, ip6, UDP);
		pick(&s, f);
		assert_int_equal(s.pkt.hash, reference(in, n));
		assert_int_equal(s.pkt.hash_type & 3, i & SIP ? 1 + ip6 : 0);
		assert_int_equal(s.pkt.hash_type >> 2 & 3, i & DIP ? 1 + ip6 : 0);
		assert_int_equal(s.pkt.hash_type >> 4 & 3, i & SPORT ? 2 : 0);
		assert_int_equal(s.pkt.hash_type >> 6, i & DPORT ? 2 : 0);
	}
	spread_close(&s);
}

static void test_new_key(void **state)
{
	struct frame f = vector_frame(&vectors[0], false);
	struct spread s;

	(void)state;
	spread_open(&s, CX_HASH_TOEPLITZ);
	set_select(&s, SIP | DIP, false, TCP);
	memset(s.tir.key, 0, sizeof(s.tir.key));
	cx_rss_prepare(&s.tir);
	assert_hash(&s, &f, 0, 0x05);
	s.tir.key[0] =
		0x80; /* the first bit of input alone counts: 66 has it not, 199 has */
	cx_rss_prepare(&s.tir);
	assert_hash(&s, &f, 0, 0x05);
	f = vector_frame(&vectors[1], false);
	assert_hash(&s, &f, 0x80000000, 0x05);
	spread_close(&s);
}

/* ---- symmetric ---- */

static struct frame turned(const struct vector *v, bool udp)
{
	struct vector t = { v->src, v->dst, v->sport, v->dport, 0, 0 };

	return vector_frame(&t, udp);
}

static void test_symmetric(void **state)
{
	struct spread s;

	(void)state;
	spread_open(&s, CX_HASH_TOEPLITZ);
	s.tir.symmetric = true;
	for (size_t i = 0; i < N_VECTORS; i++) {
		struct frame f = vector_frame(&vectors[i], true),
			     t = turned(&vectors[i], true);
		bool ip6 = is_ip6(&vectors[i]);
		const uint8_t *ip = f.b + f.l3 + (ip6 ? 8 : 12), *l4 = f.b + f.l4;
		unsigned bytes = ip6 ? 16 : 4, n = 0;
		uint8_t in[36];

		for (unsigned k = 0; k < 2 * bytes; k++, n++)
			in[n] = k < bytes ? ip[k] | ip[bytes + k] : ip[k - bytes] ^ ip[k];
		for (unsigned k = 0; k < 4; k++, n++)
			in[n] = k < 2 ? l4[k] | l4[2 + k] : l4[k - 2] ^ l4[k];
		set_select(&s, ALL, ip6, UDP);
		assert_hash(&s, &f, reference(in, n), ip6 ? 0xaa : 0xa5);
		assert_int_not_equal(s.pkt.hash, vectors[i].tcp);
		assert_hash(&s, &t, reference(in, n), ip6 ? 0xaa : 0xa5);
	}
	spread_close(&s);
}

/* One of a pair has no partner to be folded with. */
static void test_symmetric_half_pairs(void **state)
{
	struct frame f = vector_frame(&vectors[0], true);
	struct spread s;

	(void)state;
	spread_open(&s, CX_HASH_TOEPLITZ);
	s.tir.symmetric = true;
	set_select(&s, SIP, false, UDP);
	assert_hash(&s, &f, reference(f.b + 26, 4), 0x01);
	set_select(&s, DIP, false, UDP);
	assert_hash(&s, &f, reference(f.b + 30, 4), 0x04);
	spread_close(&s);
}

/* ---- XOR8 ---- */

static void test_xor8(void **state)
{
	struct frame f = frame_tcp4(0x0102, 0x0408, 0);
	struct spread s;

	(void)state;
	spread_open(&s, CX_HASH_XOR8);
	assert_null(s.tir.toeplitz);
	set_select(&s, SPORT | DPORT, false, TCP);
	assert_hash(&s, &f, 0xf0f0f0f0, 0x50); /* 0x0f, its bits the other way round */
	set_select(&s, SPORT, false, TCP);
	assert_hash(&s, &f, 0xc0c0c0c0, 0x10); /* 0x03 */
	set_select(&s, SIP, false, TCP);
	assert_hash(&s, &f, 0xd6d6d6d6, 0x01); /* c0 ^ a8 ^ 01 ^ 02 = 6b */
	spread_close(&s);
}

/* ---- what is not hashed ---- */

static void test_other_layer_3(void **state)
{
	struct frame f4 = frame_tcp4(1, 2, 0), f6 = frame_tcp6(1, 2, 0), arp;
	struct spread s;

	(void)state;
	frame_start(&arp);
	frame_type(&arp, 0x0806, 46);
	spread_open(&s, CX_HASH_TOEPLITZ);
	set_select(&s, ALL, true, TCP);
	assert_hash(&s, &f4, 0, 0);
	assert_hash(&s, &arp, 0, 0);
	set_select(&s, SIP | DIP, false, TCP);
	assert_hash(&s, &f6, 0, 0);
	assert_hash(&s, &arp, 0, 0);
	spread_close(&s);
}

static void test_other_layer_4(void **state)
{
	struct frame udp = vector_frame(&vectors[0], true),
		     tcp = vector_frame(&vectors[0], false);
	struct frame icmp;
	struct spread s;

	(void)state;
	frame_start(&icmp);
	frame_ip4(&icmp, cx_be32(tcp.b + 26), cx_be32(tcp.b + 30), 0);
	frame_proto(&icmp, 1, 40);
	frame_finish(&icmp);
	spread_open(&s, CX_HASH_TOEPLITZ);
	set_select(&s, ALL, false, TCP);
	assert_hash(&s, &udp, vectors[0].ip, 0x05);
	assert_hash(&s, &icmp, vectors[0].ip, 0x05);
	set_select(&s, ALL, false, UDP);
	assert_hash(&s, &tcp, vectors[0].ip, 0x05);
	set_select(&s, SPORT | DPORT, false, UDP);
	assert_hash(&s, &tcp, 0, 0);
	spread_close(&s);
}

/* All fragments of a datagram must meet in one queue. */
static void test_fragments(void **state)
{
	static const uint16_t words[] = { 0x2000, 0x2005, 0x0005 };
	struct spread s;

	(void)state;
	spread_open(&s, CX_HASH_TOEPLITZ);
	for (unsigned i = 0; i < 3; i++) {
		struct frame f = vector_frame(&vectors[0], true);

		frame_ip4_frag(&f, words[i]);
		frame_ip4_sum(&f);
		set_select(&s, ALL, false, UDP);
		assert_hash(&s, &f, vectors[0].ip, 0x05);
	}
	spread_close(&s);
}

/* Ports alone: the addresses' version does not matter. */
static void test_ports_alone_ignore_layer_3(void **state)
{
	struct frame f4 = frame_udp4(0x1234, 0x5678, 0),
		     f6 = frame_udp6(0x1234, 0x5678, 0);
	uint32_t hash = reference(f4.b + f4.l4, 4);
	struct spread s;

	(void)state;
	spread_open(&s, CX_HASH_TOEPLITZ);
	for (unsigned ip6 = 0; ip6 < 2; ip6++) {
		set_select(&s, SPORT | DPORT, ip6, UDP);
		assert_hash(&s, &f4, hash, 0xa0);
		assert_hash(&s, &f6, hash, 0xa0);
	}
	spread_close(&s);
}

/* ---- which queue ---- */

static void test_direct(void **state)
{
	struct frame f = vector_frame(&vectors[0], false);
	struct cx_tir tir = { .rq = &queues[5], .outer_select = ALL };
	struct cx_pkt pkt;

	(void)state;
	cx_parse(&pkt, f.b, f.len);
	pkt.hash = 99;
	pkt.hash_type = 99;
	assert_ptr_equal(cx_rss_pick(&tir, &pkt), &queues[5]);
	assert_int_equal(pkt.hash, 0);
	assert_int_equal(pkt.hash_type, 0);
}

static void test_table_sizes(void **state)
{
	struct frame f = vector_frame(&vectors[1], false); /* ... 2a = 101010 */
	struct spread s;

	(void)state;
	spread_open(&s, CX_HASH_TOEPLITZ);
	set_select(&s, SIP | DIP, false, TCP);
	s.rqt.n = 1;
	assert_int_equal(pick(&s, &f), 0);
	s.rqt.n = 2;
	assert_int_equal(pick(&s, &f), 0);
	s.rqt.n = 4;
	assert_int_equal(pick(&s, &f), 2);
	s.rqt.n = 0;
	assert_null(cx_rss_pick(&s.tir, &s.pkt));
	spread_close(&s);
}

/* Many flows over eight queues: none far from an eighth. IPv4 by address, IPv6 by port. */
static void test_even(void **state)
{
	unsigned n[2][N_QUEUES] = { { 0 }, { 0 } };
	struct spread s;

	(void)state;
	spread_open(&s, CX_HASH_TOEPLITZ);
	for (unsigned i = 0; i < 8000; i++) {
		struct frame f4 = frame_udp4(1, 2, 0);
		struct frame f6 = frame_udp6((uint16_t)(i * 7), (uint16_t)(i / 7), 0);

		cx_put_be32(f4.b + 26, 0x0a000000 + i);
		set_select(&s, ALL, false, UDP);
		n[0][pick(&s, &f4)]++;
		set_select(&s, ALL, true, UDP);
		n[1][pick(&s, &f6)]++;
	}
	for (unsigned i = 0; i < N_QUEUES; i++) {
		assert_in_range(n[0][i], 800, 1200);
		assert_in_range(n[1][i], 800, 1200);
	}
	spread_close(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_published_addresses),
		cmocka_unit_test(test_published_ports),
		cmocka_unit_test(test_without_table),
		cmocka_unit_test(test_each_selection),
		cmocka_unit_test(test_new_key),
		cmocka_unit_test(test_symmetric),
		cmocka_unit_test(test_symmetric_half_pairs),
		cmocka_unit_test(test_xor8),
		cmocka_unit_test(test_other_layer_3),
		cmocka_unit_test(test_other_layer_4),
		cmocka_unit_test(test_fragments),
		cmocka_unit_test(test_ports_alone_ignore_layer_3),
		cmocka_unit_test(test_direct),
		cmocka_unit_test(test_table_sizes),
		cmocka_unit_test(test_even),
	};

	return cmocka_run_group_tests_name("rss", tests, NULL, NULL);
}
