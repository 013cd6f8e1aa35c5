/* datapath/test_dp_steer.c - which frames come to our queues, which to the kernel, and to which
 * of several queues
 */

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../test.h"
#include "rig.h"

static struct rig r;
static int wire, kernel;

enum whose { NOBODY = 0, OURS = 1, KERNELS = 2, BOTH = 3 };

static int begin(void **state)
{
	rig_open(&r,
		 /* A compressed completion would have no hash. */
		 &(struct rig_conf){ .n_rxq = *state ? *(const unsigned *)*state : 1,
				     .compression = M5_COMPRESSION_OFF });
	wire = wire_open("eth1");
	kernel = wire_open("eth0");
	return 0;
}

static int end(void **state)
{
	(void)state;
	close(wire);
	close(kernel);
	rig_close(&r);
	return 0;
}

/* ---- who gets a frame ---- */

/* Of a type that no rule takes: behind it, what was sent before has arrived somewhere. */
static void make_sentinel(struct frame *f)
{
	frame_make(f, 4, 100, 0x5e47, r.mac);
	f->bytes[12] = 0x88;
	f->bytes[13] = 0xb5;
}

/* By their ends: what follows the headers says which frame it is, and a packet socket shows a
 * tagged frame without its tag. */
static bool same(const struct frame *a, const uint8_t *bytes, uint32_t len)
{
	enum { END = 32 };

	return len >= END && !memcmp(a->bytes + a->len - END, bytes + len - END, END);
}

static unsigned in_queues(const struct frame *f)
{
	struct m5_pkt pkt[8];
	unsigned n = 0;

	for (unsigned q = 0; q < r.n_rxq; q++) {
		uint32_t got = m5_rx_burst(m5_rxq_hot(r.rxq[q]), pkt, 8);

		for (uint32_t i = 0; i < got; i++) {
			assert_true(same(f, pkt[i].data, pkt[i].len));
			n++;
		}
		rig_put(r.rx, pkt, got);
	}
	return n;
}

/* The frame, then one that goes to the kernel in any case, after which there is nothing to come;
 * unless the sender changed cores between the two, so that the second overtook the first. */
static enum whose whose(const struct frame *f)
{
	unsigned ours, kernels = 0;
	struct frame sentinel, got;

	make_sentinel(&sentinel);
	wire_send(wire, f);
	wire_send(wire, &sentinel);
	for (;;) {
		assert_true(wire_receive(kernel, &got, 2000));
		if (same(&sentinel, got.bytes, got.len))
			break;
		assert_true(same(f, got.bytes, got.len));
		kernels++;
	}
	ours = in_queues(f);
	if (!ours && !kernels) {
		kernels = wire_receive(kernel, &got, 500) && same(f, got.bytes, got.len);
		ours = in_queues(f);
	}
	assert_in_range(ours, 0, 1);
	assert_in_range(kernels, 0, 1);
	return (ours ? OURS : 0) | (kernels ? KERNELS : 0);
}

/* What m5_steer_queue() says of it. */
static int said_queue(const struct frame *f, unsigned family)
{
	bool ip6 = family == 6;
	const uint8_t *ip = f->bytes + 14, *l4 = ip + (ip6 ? 40 : 20);
	struct m5_flow flow = { .family = (uint8_t)family,
				.proto = ip[ip6 ? 6 : 9],
				.ttl = ip[ip6 ? 7 : 8],
				.sport = (uint16_t)(l4[0] << 8 | l4[1]),
				.dport = (uint16_t)(l4[2] << 8 | l4[3]) };

	memcpy(flow.src, ip + (ip6 ? 8 : 12), ip6 ? 16 : 4);
	memcpy(flow.dst, ip + (ip6 ? 24 : 16), ip6 ? 16 : 4);
	return m5_steer_queue(r.steer, &flow);
}

/* ---- frames that differ from an ordinary one ---- */

static void vlan(struct frame *f, unsigned type)
{
	memmove(f->bytes + 16, f->bytes + 12, f->len - 12);
	f->len += 4;
	f->bytes[12] = (uint8_t)(type >> 8);
	f->bytes[13] = (uint8_t)type;
	f->bytes[14] = 0;
	f->bytes[15] = 5;
}

static void ip6_fragment(struct frame *f)
{
	f->bytes[14 + 6] = 44; /* RFC 8200, 4.5; the header takes the place of UDP's */
	memset(f->bytes + 54, 0, 8);
	f->bytes[54] = 17;
	f->bytes[57] = 1; /* more */
}

enum change {
	NONE,
	FOREIGN_MAC,
	MULTICAST_MAC,
	BROADCAST_MAC,
	C_VLAN,
	S_VLAN,
	TTL,
	PROTOCOL,
	MORE_FRAGMENTS,
	FRAGMENT_OFFSET,
	DO_NOT_FRAGMENT,
	ARP,
	OPTIONS,
};

static void change(struct frame *f, unsigned family, enum change what, uint8_t value)
{
	uint8_t *ip = f->bytes + 14;

	switch (what) {
	case NONE:
		break;
	case FOREIGN_MAC:
		f->bytes[5] ^= 1;
		break;
	case MULTICAST_MAC:
		memcpy(f->bytes,
		       family == 4 ? "\x01\x00\x5e\x00\x00\x01"
				   : "\x33\x33\x00\x00\x00\x01",
		       6);
		break;
	case BROADCAST_MAC:
		memset(f->bytes, 0xff, 6);
		break;
	case C_VLAN:
		vlan(f, 0x8100);
		break;
	case S_VLAN:
		vlan(f, 0x88a8);
		break;
	case TTL:
		ip[family == 4 ? 8 : 7] = value;
		break;
	case PROTOCOL:
		ip[family == 4 ? 9 : 6] = value;
		break;
	case MORE_FRAGMENTS:
		if (family == 4)
			ip[6] |= 0x20;
		else
			ip6_fragment(f);
		break;
	case FRAGMENT_OFFSET:
		ip[7] = 100;
		break;
	case DO_NOT_FRAGMENT:
		ip[6] |= 0x40;
		break;
	case ARP:
		f->bytes[13] = 6;
		break;
	case OPTIONS:
		ip[0] = 0x46;
		break;
	}
}

/* Whole, untagged and for the port, as m5_steer_queue() takes them to be. */
static bool is_plain(enum change what)
{
	return what == NONE || what == TTL || what == PROTOCOL ||
	       what == DO_NOT_FRAGMENT || what == OPTIONS;
}

static void every_kind(void **state)
{
	static const struct {
		unsigned family;
		enum change what;
		uint8_t value;
		enum whose whose;
	} rows[] = {
		{ 4, NONE, 0, OURS },
		{ 6, NONE, 0, OURS },
		{ 4, PROTOCOL, 6, OURS }, /* TCP */
		{ 6, PROTOCOL, 6, OURS },
		{ 4, PROTOCOL, 1, OURS }, /* ICMP */
		{ 6, PROTOCOL, 58, OURS },
		{ 4, PROTOCOL, 47, OURS }, /* GRE */
		{ 6, PROTOCOL, 59, OURS }, /* no next header */
		{ 4, FOREIGN_MAC, 0, KERNELS },
		{ 6, FOREIGN_MAC, 0, KERNELS },
		{ 4, MULTICAST_MAC, 0, KERNELS },
		{ 6, MULTICAST_MAC, 0, KERNELS },
		{ 4, BROADCAST_MAC, 0, KERNELS },
		{ 4, C_VLAN, 0, KERNELS },
		{ 6, C_VLAN, 0, KERNELS },
		{ 4, S_VLAN, 0, KERNELS },
		{ 4, TTL, 0, KERNELS },
		{ 4, TTL, 1, KERNELS },
		{ 4, TTL, 2, OURS },
		{ 4, TTL, 255, OURS },
		{ 6, TTL, 0, KERNELS },
		{ 6, TTL, 1, KERNELS },
		{ 6, TTL, 2, OURS },
		{ 4, MORE_FRAGMENTS, 0, KERNELS },
		{ 4, FRAGMENT_OFFSET, 0, KERNELS },
		{ 6, MORE_FRAGMENTS, 0, KERNELS },
		{ 4, DO_NOT_FRAGMENT, 0, OURS },
		{ 4, ARP, 0, KERNELS },
		{ 4, OPTIONS, 0, OURS },
	};
	struct frame f;

	(void)state;
	for (unsigned round = 0; round < 2; round++) /* the second: without transit */ {
		for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
			frame_make(&f, rows[i].family, 100, (uint32_t)i, r.mac);
			change(&f, rows[i].family, rows[i].what, rows[i].value);
			if (whose(&f) != (round ? KERNELS : rows[i].whose))
				fail_msg("row %zu of round %u", i, round);
			if (is_plain(rows[i].what) &&
			    (said_queue(&f, rows[i].family) == M5_STEER_KERNEL) !=
				    (round || rows[i].whose == KERNELS))
				fail_msg("row %zu of round %u: what is said", i, round);
		}
		rig_ok(m5_steer_transit(r.steer, false, &r.err), &r.err);
	}
}

static void transit_off_and_on(void **state)
{
	struct frame f;

	(void)state;
	frame_make(&f, 4, 100, 1, r.mac);
	for (unsigned i = 0; i < 5; i++) {
		assert_int_equal(whose(&f), OURS);
		rig_ok(m5_steer_transit(r.steer, false, &r.err), &r.err);
		rig_ok(m5_steer_transit(r.steer, false, &r.err), &r.err);
		assert_int_equal(whose(&f), KERNELS);
		rig_ok(m5_steer_transit(r.steer, true, &r.err), &r.err);
		rig_ok(m5_steer_transit(r.steer, true, &r.err), &r.err);
	}
}

/* ---- own addresses ---- */

static void set_dst(struct frame *f, unsigned family, const uint8_t addr[16])
{
	memcpy(f->bytes + 14 + (family == 4 ? 16 : 24), addr, family == 4 ? 4 : 16);
}

static void own_address(void **state)
{
	uint8_t addr[16], near[16];
	struct frame f, other;

	(void)state;
	for (unsigned family = 4; family <= 6; family += 2) {
		test_fill(addr, sizeof(addr));
		addr[0] = family == 4 ? 10 : 0x20;
		memcpy(near, addr, sizeof(near));
		near[family == 4 ? 3 : 15] ^= 1;
		frame_make(&f, family, 100, 1, r.mac);
		set_dst(&f, family, addr);
		frame_make(&other, family, 100, 2, r.mac);
		set_dst(&other, family, near);

		assert_int_equal(whose(&f), OURS);
		rig_ok(m5_steer_local_add(r.steer, (uint8_t)family, addr, &r.err),
		       &r.err);
		assert_int_equal(whose(&f), KERNELS);
		assert_int_equal(said_queue(&f, family), M5_STEER_KERNEL);
		assert_int_equal(whose(&other), OURS);
		assert_int_equal(said_queue(&other, family), 0);
		rig_ok(m5_steer_local_add(r.steer, (uint8_t)family, addr, &r.err),
		       &r.err);
		assert_int_equal(whose(&f), KERNELS);
		rig_ok(m5_steer_local_del(r.steer, (uint8_t)family, addr, &r.err),
		       &r.err);
		assert_int_equal(whose(&f), OURS);
		rig_ok(m5_steer_local_del(r.steer, (uint8_t)family, addr, &r.err),
		       &r.err);
	}
}

/* Of an IPv4 address only the first four bytes count, in the rule as in the list. */
static void rest_of_ip4_address(void **state)
{
	uint8_t addr[16] = { 10, 1, 2, 3, 0xaa, 0xbb };
	struct frame f;

	(void)state;
	frame_make(&f, 4, 100, 1, r.mac);
	set_dst(&f, 4, addr);
	rig_ok(m5_steer_local_add(r.steer, 4, addr, &r.err), &r.err);
	assert_int_equal(whose(&f), KERNELS);
	addr[5] = 0xcc;
	rig_ok(m5_steer_local_del(r.steer, 4, addr, &r.err), &r.err);
	assert_int_equal(whose(&f), OURS);
}

static void many_addresses(void **state)
{
	enum { N = 600 };
	uint64_t before = ctl_number("stat eth0", "FTE");
	uint8_t addr[16] = { 0 };
	struct frame f;

	(void)state;
	for (unsigned i = 0; i < N; i++) {
		addr[0] = i % 2 ? 0x20 : 10;
		addr[2] = (uint8_t)(i >> 8);
		addr[3] = (uint8_t)i;
		rig_ok(m5_steer_local_add(r.steer, i % 2 ? 6 : 4, addr, &r.err), &r.err);
	}
	assert_int_equal(ctl_number("stat eth0", "FTE"), before + N);
	for (unsigned k = 0; k < 50; k++) {
		unsigned i = test_below(2 * N), family = i % 2 ? 6 : 4;

		addr[0] = i % 2 ? 0x20 : 10;
		addr[2] = (uint8_t)(i >> 8);
		addr[3] = (uint8_t)i;
		frame_make(&f, family, 100, i, r.mac);
		set_dst(&f, family, addr);
		assert_int_equal(whose(&f), i < N ? KERNELS : OURS);
	}
	m5_steer_close(r.steer); /* with all of them */
	r.steer = NULL;
	assert_int_equal(ctl_number("stat eth0", "FTE"), 0);
}

/* ---- the port's MAC ---- */

static void mac_changes(void **state)
{
	static const uint8_t other[6] = { 0x02, 0, 0, 0, 0x77, 0x01 };
	struct frame old, new;

	(void)state;
	frame_make(&old, 4, 100, 1, r.mac);
	frame_make(&new, 4, 100, 2, other);
	assert_int_equal(whose(&new), KERNELS);
	rig_ok(m5_steer_mac_set(r.steer, other, &r.err), &r.err);
	assert_int_equal(whose(&new), OURS);
	assert_int_equal(whose(&old), KERNELS);
	rig_ok(m5_steer_mac_set(r.steer, other, &r.err), &r.err);
	assert_int_equal(whose(&new), OURS);
	/* While off, too. */
	rig_ok(m5_steer_transit(r.steer, false, &r.err), &r.err);
	rig_ok(m5_steer_mac_set(r.steer, r.mac, &r.err), &r.err);
	assert_int_equal(whose(&old), KERNELS);
	rig_ok(m5_steer_transit(r.steer, true, &r.err), &r.err);
	assert_int_equal(whose(&old), OURS);
	assert_int_equal(whose(&new), KERNELS);
}

/* ---- several queues ---- */

/* RSS hash of the packet received last, from its completion. */
static uint32_t last_hash(const struct m5_rx *rx)
{
	return from_be32(rx->cq.entry[(rx->cq.ci - 1) & rx->cq.mask].hash);
}

static uint32_t queue_of(const struct frame *f, uint32_t *hash)
{
	struct m5_pkt pkt;

	wire_send(wire, f);
	for (unsigned tries = 0; tries < 20000; tries++, usleep(100))
		for (unsigned q = 0; q < r.n_rxq; q++)
			if (m5_rx_burst(m5_rxq_hot(r.rxq[q]), &pkt, 1)) {
				*hash = last_hash(m5_rxq_hot(r.rxq[q]));
				rig_put(m5_rxq_hot(r.rxq[q]), &pkt, 1);
				return q;
			}
	fail_msg("no packet");
	return 0;
}

static void put16(uint8_t *p, unsigned v)
{
	p[0] = (uint8_t)(v >> 8);
	p[1] = (uint8_t)v;
}

/* Microsoft, "Verifying the RSS Hash Calculation": addresses, ports, and the hash with and without
 * ports. */
static const struct vector {
	unsigned family;
	uint8_t src[16], dst[16];
	unsigned sport, dport;
	uint32_t with_ports, addresses;
} vectors[] = {
	{ 4,
	  { 66, 9, 149, 187 },
	  { 161, 142, 100, 80 },
	  2794,
	  1766,
	  0x51ccc178,
	  0x323e8fc2 },
	{ 4,
	  { 199, 92, 111, 2 },
	  { 65, 69, 140, 83 },
	  14230,
	  4739,
	  0xc626b0ea,
	  0xd718262a },
	{ 4,
	  { 24, 19, 198, 95 },
	  { 12, 22, 207, 184 },
	  12898,
	  38024,
	  0x5c2b394a,
	  0xd2d0a5de },
	{ 4,
	  { 38, 27, 205, 30 },
	  { 209, 142, 163, 6 },
	  48228,
	  2217,
	  0xafc7327f,
	  0x82989176 },
	{ 4,
	  { 153, 39, 163, 191 },
	  { 202, 188, 127, 2 },
	  44251,
	  1303,
	  0x10e828a2,
	  0x5d1809c5 },
	{ 6,
	  { 0x3f, 0xfe, 0x25, 0x01, 0x02, 0x00, 0x1f, 0xff, 0, 0, 0, 0, 0, 0, 0, 7 },
	  { 0x3f, 0xfe, 0x25, 0x01, 0x02, 0x00, 0, 3, 0, 0, 0, 0, 0, 0, 0, 1 },
	  2794,
	  1766,
	  0x40207d3d,
	  0x2cc18cd5 },
};

static void make_vector(struct frame *f, const struct vector *v, uint8_t protocol)
{
	unsigned ip6 = v->family == 6, addr = ip6 ? 16 : 4;
	uint8_t *ip = f->bytes + 14;

	frame_make(f, v->family, 100, 1, r.mac);
	memcpy(ip + (ip6 ? 8 : 12), v->src, addr);
	memcpy(ip + (ip6 ? 24 : 16), v->dst, addr);
	ip[ip6 ? 6 : 9] = protocol;
	put16(ip + (ip6 ? 40 : 20), v->sport);
	put16(ip + (ip6 ? 42 : 22), v->dport);
	if (protocol == 6) /* data offset of TCP */
		ip[(ip6 ? 40 : 20) + 12] = 0x50;
}

static void known_hashes(void **state)
{
	static const uint8_t protocols[] = { 6, 17, 1 };
	uint32_t hash, q, want;
	struct frame f;

	(void)state;
	for (size_t i = 0; i < sizeof(vectors) / sizeof(vectors[0]); i++)
		for (size_t k = 0; k < sizeof(protocols); k++) {
			make_vector(&f, &vectors[i], protocols[k]);
			q = queue_of(&f, &hash);
			want = k < 2 ? vectors[i].with_ports : vectors[i].addresses;
			assert_int_equal(hash, want);
			/* 64 slots, filled in turn. */
			assert_int_equal(q, want % 64 % r.n_rxq);
			assert_int_equal(q, said_queue(&f, vectors[i].family));
		}
}

/* Each flow has one queue, and every queue its share, with IPv6 as with IPv4. */
static void spreads(void **state)
{
	uint32_t hash, again, count[2][RIG_QUEUES] = { { 0 } };
	struct frame f;

	(void)state;
	for (uint32_t i = 0; i < 600; i++) {
		uint32_t q;

		frame_make(&f, i % 2 ? 6 : 4, 100, i * 77, r.mac);
		q = queue_of(&f, &hash);
		assert_int_equal(queue_of(&f, &again), q);
		assert_int_equal(again, hash);
		count[i % 2][q]++;
	}
	for (unsigned six = 0; six < 2; six++)
		for (unsigned q = 0; q < r.n_rxq; q++)
			assert_in_range(count[six][q], 300 / r.n_rxq / 2,
					300 / r.n_rxq * 2);
}

static const unsigned three = 3, four = 4;

#define TEST(f) cmocka_unit_test_setup_teardown(f, begin, end)
#define TEST_QUEUES(f, n) \
	{ \
#f ", " #n, f, begin, end, (void *)(uintptr_t) & (n) \
	}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(every_kind),
		TEST(transit_off_and_on),
		TEST(own_address),
		TEST(rest_of_ip4_address),
		TEST(many_addresses),
		TEST(mac_changes),
		TEST_QUEUES(known_hashes, three),
		TEST_QUEUES(known_hashes, four),
		TEST_QUEUES(spreads, three),
		TEST_QUEUES(spreads, four),
		TEST_QUEUES(every_kind, four),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
