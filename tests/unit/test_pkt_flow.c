/* unit/test_pkt_flow.c - one flow, one number; never a byte too far
 *
 * Every packet is hashed in memory that ends where the packet ends, so that ASan sees
 * any read past it.
 */

#include "../test.h"

#include <stdlib.h>
#include <string.h>

#include "../../lib/pkt/flow_hot.h"

enum { MAX_BYTES = 700, GRE = 47, SCTP = 132 };

static uint32_t hash_seeded(const uint8_t *ip, uint32_t bytes, uint8_t family,
			    uint64_t seed)
{
	uint8_t *exact = malloc(bytes + 2);
	uint32_t hash;

	assert_non_null(exact);
	memcpy(exact + 2, ip, bytes); /* behind a header of 14 bytes it is 2-aligned */
	hash = pkt_flow_hash(exact + 2, bytes, family, seed);
	free(exact);
	return hash;
}

struct packet {
	uint8_t data[MAX_BYTES];
	uint32_t n;
	uint8_t family;
};

static uint32_t hash(const struct packet *p)
{
	return hash_seeded(p->data, p->n, p->family, 42);
}

static void add(struct packet *p, const void *bytes, uint32_t n)
{
	assert_true(p->n + n <= MAX_BYTES);
	if (bytes)
		memcpy(p->data + p->n, bytes, n);
	else
		memset(p->data + p->n, 0, n);
	p->n += n;
}

static void put16(uint8_t *at, uint32_t v)
{
	at[0] = (uint8_t)(v >> 8);
	at[1] = (uint8_t)v;
}

/* The length in the header says what is there. */
static void set_length(struct packet *p)
{
	put16(p->data + (p->family == 4 ? 2 : 4), p->family == 4 ? p->n : p->n - 40);
}

static uint32_t addr_bytes(const struct packet *p)
{
	return p->family == 4 ? 4 : 16;
}
static uint8_t *src(struct packet *p)
{
	return p->data + (p->family == 4 ? 12 : 8);
}
static uint8_t *dst(struct packet *p)
{
	return src(p) + addr_bytes(p);
}

/* A header of random contents but what matters. */
static struct packet header(uint8_t family, uint8_t proto)
{
	struct packet p = { .family = family };

	test_fill(p.data, 40);
	p.n = family == 4 ? 20 : 40;
	p.data[0] = family == 4 ? 0x45 : 0x60;
	p.data[family == 4 ? 9 : 6] = proto;
	if (family == 4)
		put16(p.data + 6, 0x4000); /* do not fragment */
	set_length(&p);
	return p;
}

static struct packet with_ports(uint8_t family, uint8_t proto)
{
	struct packet p = header(family, proto);
	uint8_t l4[20];

	test_fill(l4, sizeof(l4));
	add(&p, l4, sizeof(l4));
	set_length(&p);
	return p;
}

static struct packet backwards(const struct packet *p)
{
	struct packet back = *p;
	uint32_t n = addr_bytes(p), l4 = p->family == 4 ? 20 : 40;

	memcpy(src(&back), p->data + (p->family == 4 ? 16 : 24), n);
	memcpy(dst(&back), p->data + (p->family == 4 ? 12 : 8), n);
	memcpy(back.data + l4, p->data + l4 + 2, 2);
	memcpy(back.data + l4 + 2, p->data + l4, 2);
	return back;
}

/* ---- known numbers ---- */

/* By a second implementation, in Python, of what flow_hot.h says. */
static void test_vectors(void **state)
{
	static const uint8_t tcp4[] = { 0x45, 0, 0, 40, 0,  1, 0x40, 0, 64, 6,	  0, 0,
					10,   0, 0, 1,	10, 0, 0,    2, 4,  0xd2, 0, 80 };
	static const uint8_t gre4[] = { 0x45, 0, 0, 24, 0,   1,	 0,   0, 64, 47, 0, 0,
					192,  0, 2, 1,	198, 51, 100, 7, 0,  0,	 8, 0 };
	static const uint8_t esp4[] = { 0x45, 0,    0,	  28,	0, 1, 0,  0, 64, 50,
					0,    0,    10,	  0,	0, 1, 10, 0, 0,	 2,
					0xde, 0xad, 0xbe, 0xef, 0, 0, 0,  1 };
	uint8_t tcp6[44] = { 0x6a, 0xba, 0xbc, 0xde, 0, 20, 6, 64, 0x20, 1, 0xd, 0xb8 };
	uint8_t udp4[24];

	(void)state;
	memcpy(udp4, tcp4, sizeof(udp4));
	udp4[9] = 17;
	memcpy(tcp6 + 24, (uint8_t[]){ 0x20, 1, 0xd, 0xb8 }, 4);
	tcp6[23] = 1;
	tcp6[39] = 2;
	put16(tcp6 + 40, 1234);
	put16(tcp6 + 42, 443);
	assert_int_equal(hash_seeded(tcp4, 24, 4, 0), 0xb93c99c9);
	assert_int_equal(hash_seeded(udp4, 24, 4, 0), 0x44498580);
	assert_int_equal(hash_seeded(gre4, 24, 4, 0x0123456789abcdef), 0x28f4e00a);
	assert_int_equal(hash_seeded(tcp6, 44, 6, 0), 0xe32689ed);
	tcp6[6] = GRE;
	assert_int_equal(hash_seeded(tcp6, 44, 6, 0), 0x95913c82);
	assert_int_equal(hash_seeded(esp4, 28, 4, 0), 0x683cf4d9);
}

/* ---- what counts ---- */

/* Changes byte @at: the number changes, or not. */
static void check_byte(const struct packet *p, uint32_t at, bool counts)
{
	struct packet other = *p;

	other.data[at] ^= (uint8_t)(1 + test_below(255));
	if ((hash(p) != hash(&other)) != counts)
		print_message("IPv%u protocol %u, byte %u\n", p->family,
			      p->data[p->family == 4 ? 9 : 6], at);
	assert_int_equal(hash(p) != hash(&other), counts);
}

static void check_bytes(const struct packet *p, uint32_t from, uint32_t to, bool count)
{
	for (uint32_t at = from; at < to; at++)
		check_byte(p, at, count);
}

static void check_ip4(const struct packet *p)
{
	check_byte(p, 1, false);     /* TOS */
	check_bytes(p, 4, 6, false); /* identification */
	check_byte(p, 8, false);     /* TTL */
	check_bytes(p, 10, 12, false);
	check_bytes(p, 12, 20, true);
}

static void test_fields_ip4(void **state)
{
	(void)state;
	for (unsigned round = 0; round < 50; round++) {
		struct packet p =
			with_ports(4, test_below(2) ? FLOW_PROTO_TCP : FLOW_PROTO_UDP);

		check_ip4(&p);
		check_bytes(&p, 20, 24, true);
		check_bytes(&p, 24, p.n, false);
		check_byte(&p, 9, true);
		p = with_ports(4, test_below(2) ? GRE : SCTP);
		check_ip4(&p);
		check_bytes(&p, 20, p.n, false);
		p = with_ports(4, FLOW_PROTO_ESP);
		check_bytes(&p, 20, 24, true);
		check_bytes(&p, 24, p.n, false);
		p = with_ports(4, FLOW_PROTO_AH);
		check_bytes(&p, 20, 24, false);
		check_bytes(&p, 24, 28, true);
		check_bytes(&p, 28, p.n, false);
	}
}

static void test_fields_ip6(void **state)
{
	(void)state;
	for (unsigned round = 0; round < 50; round++) {
		struct packet p = with_ports(6, FLOW_PROTO_TCP);

		check_bytes(&p, 1, 4, false); /* traffic class, label */
		check_byte(&p, 7, false);
		check_bytes(&p, 8, 44, true);
		check_bytes(&p, 44, p.n, false);
		p = with_ports(6, GRE);
		p.data[1] &= 0xf;
		check_bytes(&p, 2, 4, true); /* label */
		check_bytes(&p, 8, 40, true);
		check_bytes(&p, 40, p.n, false);
		p = with_ports(6, FLOW_PROTO_ESP);
		check_bytes(&p, 8, 44, true);
		check_bytes(&p, 44, p.n, false);
	}
}

static void test_both_directions(void **state)
{
	(void)state;
	for (unsigned round = 0; round < 500; round++) {
		struct packet p = with_ports(round & 1 ? 4 : 6, FLOW_PROTO_UDP);
		struct packet back = backwards(&p);

		assert_int_equal(hash(&p), hash(&back));
		/* The ends are pairs of address and port: half a swap is another flow. */
		memcpy(back.data + p.n - 20, p.data + p.n - 20, 4);
		assert_int_not_equal(hash(&p), hash(&back));
	}
}

/* What lies behind the packet is padding of the link. */
static void test_padding(void **state)
{
	(void)state;
	for (unsigned round = 0; round < 200; round++) {
		struct packet p = header(round & 1 ? 4 : 6, FLOW_PROTO_UDP), padded;

		padded = p;
		add(&padded, "\1\2\3\4\5\6", 6);
		assert_int_equal(hash(&p), hash(&padded));
	}
}

/* ---- extension headers ---- */

static void add_extension(struct packet *p, uint8_t *next, uint8_t proto, uint8_t eights)
{
	uint8_t ext[8 * 256];

	test_fill(ext, sizeof(ext));
	ext[0] = *next;
	ext[1] = eights;
	*next = proto;
	add(p, ext, (eights + 1u) * 8);
}

/* @n headers before ports that are always the same. */
static struct packet extended(const struct packet *plain, unsigned n)
{
	static const uint8_t kinds[] = { IP6_NEXT_HOP_BY_HOP, FLOW_PROTO_ROUTING,
					 FLOW_PROTO_OPTIONS };
	struct packet p = *plain;
	uint32_t next_at = 6;

	p.n = 40;
	for (unsigned i = 0; i < n; i++) {
		uint32_t at = p.n;

		add_extension(&p, &p.data[next_at], kinds[test_below(3)],
			      (uint8_t)test_below(4));
		next_at = at;
	}
	p.data[next_at] = plain->data[6];
	add(&p, plain->data + 40, plain->n - 40);
	set_length(&p);
	return p;
}

static void test_extensions(void **state)
{
	(void)state;
	for (unsigned round = 0; round < 300; round++) {
		struct packet plain = with_ports(6, FLOW_PROTO_TCP);
		struct packet p = extended(&plain, round % (FLOW_EXTENSIONS_MAX + 1));

		assert_int_equal(hash(&p), hash(&plain));
		p = extended(&plain,
			     FLOW_EXTENSIONS_MAX + 1); /* ports are not looked for */
		check_bytes(&p, 8, 40, true);
		check_byte(&p, p.n - 20, false);
	}
}

/* ---- fragments ---- */

static struct packet fragment4(const struct packet *p, uint32_t from, uint32_t to)
{
	struct packet f = *p;

	f.n = 20;
	add(&f, p->data + 20 + from, to - from);
	put16(f.data + 6, from / 8 | (20 + to < p->n ? 0x2000 : 0));
	set_length(&f);
	return f;
}

/* Later fragments may name any next header. */
static struct packet fragment6(const struct packet *p, uint32_t from, uint32_t to)
{
	struct packet f = *p;
	uint8_t ext[8] = { from ? (uint8_t)test_below(256) : p->data[6] };

	f.n = 40;
	put16(ext + 2, from | (40 + to < p->n));
	f.data[6] = FLOW_PROTO_FRAGMENT;
	add(&f, ext, sizeof(ext));
	add(&f, p->data + 40 + from, to - from);
	set_length(&f);
	return f;
}

static struct packet fragment(const struct packet *p, uint32_t from, uint32_t to)
{
	return p->family == 4 ? fragment4(p, from, to) : fragment6(p, from, to);
}

static struct packet datagram(uint8_t family)
{
	struct packet p = with_ports(family, FLOW_PROTO_UDP);

	add(&p, NULL, 400);
	set_length(&p);
	return p;
}

static void test_fragments(void **state)
{
	(void)state;
	for (unsigned round = 0; round < 200; round++) {
		struct packet p = datagram(round & 1 ? 4 : 6), other = datagram(p.family);
		uint32_t size = p.n - (p.family == 4 ? 20 : 40), from = 0;
		struct packet first = fragment(&p, 0, 8);

		memcpy(src(&other), src(&p), 2 * addr_bytes(&p));
		while (from < size) {
			uint32_t to = from + 8 * (1 + test_below(20));
			struct packet f = fragment(&p, from, to < size ? to : size);

			assert_int_equal(hash(&f), hash(&first));
			from = to;
		}
		/* Another datagram between the same ends goes the same way, whatever its ports. */
		other = fragment(&other, 0, 64);
		assert_int_equal(hash(&other), hash(&first));
		check_bytes(&first, p.family == 4 ? 12 : 8, p.family == 4 ? 20 : 40,
			    true);
	}
}

/* ---- ICMP errors ---- */

static const uint8_t errors4[] = { 3, 4, 5, 11, 12 }, errors6[] = { 1, 2, 3, 4 };

/* From some router on the way, to the source of @about; @quoted bytes of it. */
static struct packet error(const struct packet *about, uint32_t quoted)
{
	const uint8_t family = about->family;
	struct packet p =
		header(family, family == 4 ? FLOW_PROTO_ICMP4 : FLOW_PROTO_ICMP6);
	uint8_t icmp[8];

	test_fill(icmp, sizeof(icmp));
	icmp[0] = family == 4 ? errors4[test_below(sizeof(errors4))]
			      : errors6[test_below(sizeof(errors6))];
	memcpy(dst(&p), about->data + (family == 4 ? 12 : 8), addr_bytes(about));
	add(&p, icmp, sizeof(icmp));
	add(&p, about->data, quoted < about->n ? quoted : about->n);
	set_length(&p);
	return p;
}

static struct packet any_flow(uint8_t family)
{
	static const uint8_t protos[] = { FLOW_PROTO_TCP, FLOW_PROTO_UDP, FLOW_PROTO_ESP,
					  GRE, FLOW_PROTO_ICMP4 };
	struct packet p = with_ports(family, protos[test_below(sizeof(protos))]);

	if (family == 6 && p.data[6] == FLOW_PROTO_ICMP4)
		p.data[6] = FLOW_PROTO_ICMP6;
	p.data[family == 4 ? 20 : 40] |= 0x80; /* no error about an error */
	if (family == 6 && test_below(3) == 0)
		p = extended(&p, 1 + test_below(3));
	return p;
}

static void test_errors(void **state)
{
	(void)state;
	for (unsigned round = 0; round < 2000; round++) {
		struct packet p = any_flow(round & 1 ? 4 : 6),
			      whole = error(&p, MAX_BYTES);
		uint32_t ip = p.family == 4 ? 20 : 40;

		assert_int_equal(hash(&whole), hash(&p));
		if (p.n ==
		    ip + 20) { /* no extension headers: 8 bytes of the rest will do */
			struct packet cut = error(&p, ip + 8);

			assert_int_equal(hash(&cut), hash(&p));
		}
		/* No more of the error itself than that it is one. */
		check_bytes(&whole, p.family == 4 ? 12 : 8, ip, false);
		check_bytes(&whole, ip + 1, ip + 8, false);
	}
}

/* Too big: the box that sent it sees the client's packets, and shall see this one. */
static void test_error_meets_the_other_direction(void **state)
{
	(void)state;
	for (unsigned round = 0; round < 300; round++) {
		struct packet sent = with_ports(round & 1 ? 4 : 6, FLOW_PROTO_TCP);
		struct packet came = backwards(&sent), p = error(&sent, MAX_BYTES);

		assert_int_equal(hash(&p), hash(&came));
	}
}

static void test_error_about_fragments(void **state)
{
	(void)state;
	for (unsigned round = 0; round < 300; round++) {
		struct packet p = datagram(round & 1 ? 4 : 6);
		struct packet f = fragment(&p, 0, 64), e = error(&f, MAX_BYTES);

		assert_int_equal(hash(&e), hash(&f));
		/* An error that is itself in fragments goes by its own addresses. */
		e = error(&p, MAX_BYTES);
		f = fragment(&e, 0, 200);
		check_bytes(&f, p.family == 4 ? 12 : 8, p.family == 4 ? 20 : 40, true);
	}
}

static void test_options_in_what_is_quoted(void **state)
{
	(void)state;
	for (unsigned round = 0; round < 100; round++) {
		struct packet p = with_ports(4, FLOW_PROTO_TCP), with = p, e;
		uint32_t words = 1 + test_below(10);

		with.n = 20;
		add(&with, NULL, 4 * words);
		add(&with, p.data + 20, 20);
		with.data[0] = (uint8_t)(0x45 + words);
		set_length(&with);
		e = error(&with, 20 + 4 * words + 8);
		assert_int_equal(hash(&with), hash(&p));
		assert_int_equal(hash(&e), hash(&p));
	}
}

/* Echo and neighbour messages quote nothing. */
static void test_other_icmp(void **state)
{
	static const uint8_t types4[] = { 0, 8, 9, 13, 43, 131 };
	static const uint8_t types6[] = { 0, 5, 128, 129, 133, 136, 34 };

	(void)state;
	for (unsigned i = 0; i < sizeof(types4) + sizeof(types6); i++) {
		bool four = i < sizeof(types4);
		struct packet about = with_ports(four ? 4 : 6, FLOW_PROTO_TCP);
		struct packet p = error(&about, MAX_BYTES);

		p.data[four ? 20 : 40] = four ? types4[i] : types6[i - sizeof(types4)];
		check_bytes(&p, four ? 12 : 8, four ? 20 : 40, true);
		check_bytes(&p, four ? 21 : 41, p.n, false);
	}
}

/* ---- lengths ---- */

static struct packet any_packet(void)
{
	uint8_t family = test_below(2) ? 4 : 6;
	struct packet p = any_flow(family);

	if (test_below(3) == 0)
		p = fragment(&p, 0, 8 * test_below(3));
	if (test_below(2))
		p = error(&p, test_below(80));
	return p;
}

/* Cut anywhere: no byte past the end is read, and what is behind the cut does not count. */
static void test_cut(void **state)
{
	(void)state;
	for (unsigned round = 0; round < 300; round++) {
		struct packet p = any_packet();

		for (uint32_t n = 0; n <= p.n; n++) {
			struct packet cut = p, padded;

			cut.n = n;
			hash(&cut);
			if (n < (p.family == 4 ? 20u : 40u))
				continue;
			set_length(&cut);
			padded = cut;
			padded.n = p.n;
			assert_int_equal(hash(&cut), hash(&padded));
		}
	}
}

/* Lengths, versions and next headers that lie. */
static void test_spoilt(void **state)
{
	(void)state;
	for (unsigned round = 0; round < 40000; round++) {
		struct packet p = any_packet();

		for (unsigned i = 0; i <= round % 4; i++)
			p.data[test_below(p.n)] = (uint8_t)test_rand();
		if (round & 1)
			p.n = test_below(p.n + 1);
		hash(&p);
	}
}

/* ---- quality ---- */

/* Any bit that counts changes each bit of the result about every other time. */
static void test_avalanche(void **state)
{
	enum { ROUNDS = 400 };

	(void)state;
	for (uint8_t family = 4; family <= 6; family += 2) {
		uint32_t from = family == 4 ? 12 : 8, to = family == 4 ? 24 : 44;

		for (uint32_t bit = 8 * from; bit < 8 * to; bit++) {
			uint32_t flips[32] = { 0 };

			for (unsigned round = 0; round < ROUNDS; round++) {
				struct packet p = with_ports(family, FLOW_PROTO_TCP);
				uint32_t was = hash(&p), diff;

				p.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
				diff = was ^ hash(&p);
				for (unsigned b = 0; b < 32; b++)
					flips[b] += diff >> b & 1;
			}
			/* 200 +- 10 (sigma): 8 of them. */
			for (unsigned b = 0; b < 32; b++)
				assert_in_range(flips[b], ROUNDS / 2 - 80,
						ROUNDS / 2 + 80);
		}
	}
}

/* 64 buckets, N in each if even; the sum of squares of 64 differences over N is about 63 +- 11. */
static void check_even(const uint32_t count[64], uint32_t n)
{
	double chi = 0;

	for (unsigned b = 0; b < 64; b++)
		chi += ((double)count[b] - n) * ((double)count[b] - n) / n;
	if (chi > 160)
		print_message("chi squared %.0f\n", chi);
	assert_true(chi < 160);
}

/* Neighbours in address and port space, as hosts and their connections are. */
static void test_even(void **state)
{
	enum { FLOWS = 64 * 512 };

	(void)state;
	for (unsigned kind = 0; kind < 8; kind++) {
		struct packet p = with_ports(kind & 1 ? 4 : 6, FLOW_PROTO_TCP);
		uint8_t *ports = p.data + p.n - 20;
		uint32_t count[64] = { 0 }, chosen[64] = { 0 }, n_chosen = 0;

		for (uint32_t i = 0; i < FLOWS; i++) {
			uint32_t h;

			put16(kind < 2	 ? ports
			      : kind < 4 ? ports + 2
			      : kind < 6 ? dst(&p) - 2
					 : ports,
			      i);
			if (kind >= 6) /* both ends count up together */
				put16(dst(&p) + addr_bytes(&p) - 2, i);
			h = hash(&p);
			count[h & 63]++;
			/* What one router sends to one leg, the next spreads, with another seed. */
			if ((h & 63) >= 32)
				continue;
			n_chosen++;
			chosen[hash_seeded(p.data, p.n, p.family, 4711) & 63]++;
		}
		check_even(count, FLOWS / 64);
		check_even(chosen, n_chosen / 64);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_vectors),
		cmocka_unit_test(test_fields_ip4),
		cmocka_unit_test(test_fields_ip6),
		cmocka_unit_test(test_both_directions),
		cmocka_unit_test(test_padding),
		cmocka_unit_test(test_extensions),
		cmocka_unit_test(test_fragments),
		cmocka_unit_test(test_errors),
		cmocka_unit_test(test_error_meets_the_other_direction),
		cmocka_unit_test(test_error_about_fragments),
		cmocka_unit_test(test_options_in_what_is_quoted),
		cmocka_unit_test(test_other_icmp),
		cmocka_unit_test(test_cut),
		cmocka_unit_test(test_spoilt),
		cmocka_unit_test(test_avalanche),
		cmocka_unit_test(test_even),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
