/* unit/test_pkt_parse.c - the verdict on every kind of frame, one row each */

#include "../test.h"

#include <stdlib.h>
#include <string.h>

#include "../../lib/pkt/parse_hot.h"
#include "../../lib/pkt/plain_hot.h"

static const uint8_t ours[6] = { 0x02, 0, 0, 0, 0, 1 }, peer[6] = { 0x02, 0, 0, 0, 0, 2 };

struct frame {
	uint8_t data[128];
	uint32_t len;
};

/* A clean packet that must be forwarded; every row spoils one thing. */
static struct frame clean4(void)
{
	struct frame f = { .len = 60 };
	uint8_t ip[20] = { 0x45, 0xb9, 0,  46, 0, 1, 0,	  0, 64, 17,
			   0,	 0,    10, 0,  0, 1, 192, 0, 2,	 1 };

	memcpy(f.data, ours, 6);
	memcpy(f.data + 6, peer, 6);
	f.data[12] = 0x08;
	memcpy(f.data + 14, ip, 20);
	return f;
}

static struct frame clean6(void)
{
	struct frame f = { .len = 62 };
	uint8_t ip[40] = { 0x6b, 0x91, 0x23, 0x45, 0,	 8, 17,	 64,   0x20, 1,
			   0xd,	 0xb8, 0,    0,	   0,	 0, 0,	 0,    0,    0,
			   0,	 0,    0,    1,	   0x20, 1, 0xd, 0xb8, 0,    1,
			   0,	 0,    0,    0,	   0,	 0, 0,	 0,    0,    1 };

	memcpy(f.data, ours, 6);
	memcpy(f.data + 6, peer, 6);
	f.data[12] = 0x86;
	f.data[13] = 0xdd;
	memcpy(f.data + 14, ip, 40);
	return f;
}

static void set_csum(struct frame *f)
{
	uint8_t *ip = f->data + 14;
	size_t n = (ip[0] & 15u) * 4;
	be16_t c;

	memset(ip + 10, 0, 2);
	c = csum_of(ip, n);
	memcpy(ip + 10, &c, 2);
}

/* Of what is plain, the full look says the same. */
static void check_plain(const uint8_t *frame, const struct frame *f, bool l3_ok,
			const struct pkt_meta *m)
{
	unsigned family = pkt_plain(frame, f->len, l3_ok, ours);

	if (!family)
		return;
	assert_int_equal(m->verdict, PKT_FORWARD);
	assert_int_equal(m->family, family);
	assert_int_equal(m->l3, 14);
	assert_int_equal(m->bytes, pkt_bytes(frame, family == 6));
}

/* Parses a copy that ends where the frame ends, so that ASan sees any read past it. Of the memory
 * of a plain frame, the least that a receive queue has is there. */
static struct pkt_meta parse(const struct frame *f, bool l3_ok)
{
	uint8_t *exact = malloc(f->len + 2), *padded = malloc(f->len + ETH_MIN);
	struct pkt_meta m;

	assert_non_null(exact);
	assert_non_null(padded);
	memcpy(exact, f->data, f->len);
	memcpy(padded, f->data, f->len);
	test_fill(padded + f->len, f->len < ETH_MIN ? ETH_MIN - f->len : 0);
	pkt_parse_full(exact, f->len, l3_ok, ours, &m);
	check_plain(padded, f, l3_ok, &m);
	free(exact);
	free(padded);
	return m;
}

enum { FWD = -1 };
struct row {
	const char *what;
	int at;		   /* first byte to change, -1 = none */
	uint8_t bytes[16]; /* what to put there */
	unsigned n;
	uint32_t len; /* of the frame, 0 = unchanged */
	enum pkt_verdict verdict;
	int reason;
	bool keep_csum; /* do not repair the checksum */
};

static void check_row(const struct row *r, struct frame f, bool is_ip4)
{
	struct pkt_meta m;

	if (r->at >= 0)
		memcpy(f.data + r->at, r->bytes, r->n);
	if (is_ip4 && !r->keep_csum)
		set_csum(&f);
	if (r->len)
		f.len = r->len;
	m = parse(&f, false);
	if (m.verdict != r->verdict ||
	    (r->verdict != PKT_FORWARD && m.reason != r->reason))
		fail_msg("%s: verdict %d reason %d, expected %d %d", r->what, m.verdict,
			 m.reason, r->verdict, r->reason);
}

#define DROP(r) PKT_DROP, PKT_DROP_##r, false
#define PUNT(r) PKT_PUNT, PKT_PUNT_##r, false

static const struct row rows4[] = {
	{ "clean", -1, { 0 }, 0, 0, PKT_FORWARD, FWD, false },
	{ "to another station", 0, { 2, 0, 0, 0, 0, 9 }, 6, 0, DROP(BAD_MAC) },
	{ "to broadcast", 0, { 255, 255, 255, 255, 255, 255 }, 6, 0, PUNT(BROADCAST) },
	{ "to multicast MAC", 0, { 1, 0, 0x5e, 0, 0, 1 }, 6, 0, PUNT(MULTICAST) },
	{ "from multicast MAC", 6, { 3, 0, 0, 0, 0, 2 }, 6, 0, DROP(BAD_MAC) },
	{ "from our own MAC", 6, { 2, 0, 0, 0, 0, 1 }, 6, 0, DROP(BAD_MAC) },
	{ "ARP", 12, { 8, 6 }, 2, 0, PUNT(NON_IP) },
	{ "802.3 length field", 12, { 0, 46 }, 2, 0, PUNT(NON_IP) },
	{ "VLAN 10", 12, { 0x81, 0, 0, 10, 8, 0 }, 6, 0, PKT_PUNT, PKT_PUNT_NON_IP, true },
	{ "cut inside Ethernet", -1, { 0 }, 0, 13, DROP(TRUNCATED) },
	{ "cut inside IP", -1, { 0 }, 0, 33, DROP(TRUNCATED) },
	{ "version 5", 14, { 0x55 }, 1, 0, DROP(IP_VERSION) },
	{ "version 6 under 0800", 14, { 0x60 }, 1, 0, PKT_DROP, PKT_DROP_IP_VERSION, true },
	{ "header length 4", 14, { 0x44 }, 1, 0, DROP(IP_HEADER_LENGTH) },
	{ "header length 15, not there",
	  14,
	  { 0x4f },
	  1,
	  0,
	  PKT_DROP,
	  PKT_DROP_IP_HEADER_LENGTH,
	  true },
	{ "total length past the frame", 16, { 0, 47 }, 2, 0, DROP(IP_TOTAL_LENGTH) },
	{ "total length under the header", 16, { 0, 19 }, 2, 0, DROP(IP_TOTAL_LENGTH) },
	{ "total length short of the frame", 16, { 0, 30 }, 2, 0, PKT_FORWARD, FWD, false },
	{ "checksum wrong",
	  24,
	  { 0x12, 0x34 },
	  2,
	  0,
	  PKT_DROP,
	  PKT_DROP_IP_CHECKSUM,
	  true },
	{ "options", 14, { 0x46 }, 1, 0, PUNT(OPTIONS) },
	{ "options, checksum wrong",
	  14,
	  { 0x46 },
	  1,
	  0,
	  PKT_DROP,
	  PKT_DROP_IP_CHECKSUM,
	  true },
	{ "TTL 2", 22, { 2 }, 1, 0, PKT_FORWARD, FWD, false },
	{ "TTL 1", 22, { 1 }, 1, 0, PUNT(TTL) },
	{ "TTL 0", 22, { 0 }, 1, 0, PUNT(TTL) },
	{ "more fragments", 20, { 0x20, 0 }, 2, 0, PKT_FORWARD, FWD, false },
	{ "later fragment", 20, { 0x20, 5 }, 2, 0, PKT_FORWARD, FWD, false },
	{ "reserved flag", 20, { 0x80, 0 }, 2, 0, PKT_FORWARD, FWD, false },
	{ "source 0.0.0.0", 26, { 0, 0, 0, 0 }, 4, 0, DROP(MARTIAN_SOURCE) },
	{ "source 0.1.2.3", 26, { 0, 1, 2, 3 }, 4, 0, PKT_FORWARD, FWD, false },
	{ "source 127.1.1.1", 26, { 127, 1, 1, 1 }, 4, 0, DROP(MARTIAN_SOURCE) },
	{ "source 224.0.0.5", 26, { 224, 0, 0, 5 }, 4, 0, DROP(MARTIAN_SOURCE) },
	{ "source 239.255.255.255",
	  26,
	  { 239, 255, 255, 255 },
	  4,
	  0,
	  DROP(MARTIAN_SOURCE) },
	{ "source 240.0.0.1", 26, { 240, 0, 0, 1 }, 4, 0, PKT_FORWARD, FWD, false },
	{ "source broadcast", 26, { 255, 255, 255, 255 }, 4, 0, DROP(MARTIAN_SOURCE) },
	{ "destination 0.0.0.0", 30, { 0, 0, 0, 0 }, 4, 0, DROP(MARTIAN_DESTINATION) },
	{ "destination 127.0.0.1", 30, { 127, 0, 0, 1 }, 4, 0, DROP(MARTIAN_DESTINATION) },
	{ "destination 224.0.0.5", 30, { 224, 0, 0, 5 }, 4, 0, PUNT(MULTICAST) },
	{ "destination broadcast", 30, { 255, 255, 255, 255 }, 4, 0, PUNT(BROADCAST) },
	{ "destination 240.0.0.1", 30, { 240, 0, 0, 1 }, 4, 0, PKT_FORWARD, FWD, false },
	{ "destination 0.1.2.3", 30, { 0, 1, 2, 3 }, 4, 0, PKT_FORWARD, FWD, false },
};

static const struct row rows6[] = {
	{ "clean", -1, { 0 }, 0, 0, PKT_FORWARD, FWD, false },
	{ "version 7", 14, { 0x70 }, 1, 0, DROP(IP_VERSION) },
	{ "version 4", 14, { 0x45 }, 1, 0, DROP(IP_VERSION) },
	{ "payload past the frame", 18, { 0, 9 }, 2, 0, DROP(IP_TOTAL_LENGTH) },
	{ "payload 65535", 18, { 0xff, 0xff }, 2, 0, DROP(IP_TOTAL_LENGTH) },
	{ "payload short of the frame", 18, { 0, 1 }, 2, 0, PKT_FORWARD, FWD, false },
	{ "no payload", 18, { 0, 0 }, 2, 0, PKT_FORWARD, FWD, false },
	{ "cut header", -1, { 0 }, 0, 53, DROP(TRUNCATED) },
	{ "hop limit 2", 21, { 2 }, 1, 0, PKT_FORWARD, FWD, false },
	{ "hop limit 1", 21, { 1 }, 1, 0, PUNT(TTL) },
	{ "hop limit 0", 21, { 0 }, 1, 0, PUNT(TTL) },
	{ "hop-by-hop options", 20, { 0 }, 1, 0, PUNT(HOP_BY_HOP) },
	{ "fragment header", 20, { 44 }, 1, 0, PKT_FORWARD, FWD, false },
	{ "unknown next header", 20, { 253 }, 1, 0, PKT_FORWARD, FWD, false },
	{ "source ::", 22, { 0 }, 16, 0, DROP(MARTIAN_SOURCE) },
	{ "source ::1",
	  22,
	  { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1 },
	  16,
	  0,
	  DROP(MARTIAN_SOURCE) },
	{ "source ::2",
	  22,
	  { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2 },
	  16,
	  0,
	  PKT_FORWARD,
	  FWD,
	  false },
	{ "source multicast", 22, { 0xff, 2 }, 2, 0, DROP(MARTIAN_SOURCE) },
	{ "source link-local", 22, { 0xfe, 0x80 }, 2, 0, PUNT(LINK_LOCAL) },
	{ "source febf::", 22, { 0xfe, 0xbf }, 2, 0, PUNT(LINK_LOCAL) },
	{ "source fec0::", 22, { 0xfe, 0xc0 }, 2, 0, PKT_FORWARD, FWD, false },
	{ "destination multicast", 38, { 0xff, 0x0e }, 2, 0, PUNT(MULTICAST) },
	{ "destination link-local", 38, { 0xfe, 0x80 }, 2, 0, PUNT(LINK_LOCAL) },
	{ "destination ::1",
	  38,
	  { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1 },
	  16,
	  0,
	  DROP(MARTIAN_DESTINATION) },
	{ "to another station", 0, { 2, 0, 0, 0, 0, 9 }, 6, 0, DROP(BAD_MAC) },
};

static void every_kind_of_ip4_frame_gets_its_verdict(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows4); i++)
		check_row(&rows4[i], clean4(), true);
}

static void every_kind_of_ip6_frame_gets_its_verdict(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows6); i++)
		check_row(&rows6[i], clean6(), false);
}

static void the_cards_word_on_the_checksum_is_taken(void **state)
{
	struct frame f = clean4();

	(void)state;
	f.data[24] = 0x12;
	assert_int_equal(parse(&f, true).verdict, PKT_FORWARD);
	assert_int_equal(parse(&f, false).verdict, PKT_DROP);
}

static void a_priority_tag_is_looked_through(void **state)
{
	struct frame f = clean4(), tagged = { .len = 64 };
	struct pkt_meta m;

	(void)state;
	set_csum(&f);
	memcpy(tagged.data, f.data, 12);
	tagged.data[12] = 0x81;
	tagged.data[14] = 0xe0; /* priority 7, VLAN 0 */
	memcpy(tagged.data + 16, f.data + 12, 48);
	m = parse(&tagged, false);
	assert_int_equal(m.verdict, PKT_FORWARD);
	assert_int_equal(m.l3, 18);
	assert_int_equal(m.bytes, 46);
}

/* A plain_hot.h that calls nothing plain would be right, and slow. */
static void what_is_common_is_plain(void **state)
{
	struct frame four = clean4(), six = clean6();

	(void)state;
	set_csum(&four);
	for (int i = 0; i < 20000; i++) {
		uint8_t *ip = four.data + 14;
		uint32_t src, dst;

		test_fill(four.data + 6, 6);
		four.data[6] &= 0xfe;
		test_fill(ip + 1, 1);
		test_fill(ip + 4, 6); /* id, fragment, TTL, protocol */
		test_fill(ip + 12, 8);
		memcpy(&src, ip + 12, 4);
		memcpy(&dst, ip + 16, 4);
		src = be32toh(src);
		dst = be32toh(dst);
		set_csum(&four);
		if (ip[8] > 1 && src >> 24 && dst >> 24 && src >> 24 != 127 &&
		    dst >> 24 != 127 && src >> 29 != 7 && dst >> 29 != 7)
			assert_int_equal(pkt_plain(four.data, four.len, i & 1, ours), 4);
		test_fill(six.data + 15, 3);
		six.data[20] = (uint8_t)(1 + test_below(255));
		six.data[21] = (uint8_t)(2 + test_below(254));
		test_fill(six.data + 23, 15);
		six.data[22] = six.data[38] = (uint8_t)(1 + test_below(0xfd));
		test_fill(six.data + 39, 15);
		assert_int_equal(pkt_plain(six.data, six.len, i & 1, ours), 6);
	}
}

/* One look at many frames says what looks at each one say. */
static void a_burst_is_plain_if_each_frame_is(void **state)
{
	enum { BURST = 6 };
	unsigned all = 0;

	(void)state;
	for (int i = 0; i < 20000; i++) {
		bool six = i & 1, plain = true;
		struct pkt_look together = pkt_look_at(ours, six);

		for (int k = 0; k < BURST; k++) {
			struct frame f = six ? clean6() : clean4();
			struct pkt_look alone = pkt_look_at(ours, six);
			uint32_t at = test_below(8) ? 54 : test_below(54);

			f.data[at] = (uint8_t)test_rand();
			if (test_below(50) == 0)
				f.len = test_below(60);
			pkt_look(&alone, f.data, f.len, test_below(20) ? 1 : 0, six,
				 true);
			plain &= pkt_looked_plain(&alone, 0, six);
			pkt_look(&together, f.data, f.len, 1, six, true);
		}
		all += plain;
		assert_int_equal(pkt_looked_plain(&together, 1, six), plain);
	}
	assert_in_range(all, 2000, 18000);
}

/* Nothing is read outside the frame, whatever is in it and wherever it ends. */
static void random_frames_of_every_length_stay_inside(void **state)
{
	struct frame f;
	struct pkt_meta m;

	(void)state;
	for (int i = 0; i < 50000; i++) {
		f = i & 1 ? clean4() : clean6();
		for (int k = 0; k < 4; k++) {
			uint32_t at = test_below(sizeof(f.data));

			f.data[at] = (uint8_t)test_rand();
		}
		f.len = test_below(sizeof(f.data));
		m = parse(&f, false);
		assert_true(m.verdict != PKT_FORWARD ||
			    (m.l3 + (uint32_t)m.bytes <= f.len));
		assert_true(m.verdict != PKT_DROP || m.reason < PKT_DROP_COUNT);
		assert_true(m.verdict != PKT_PUNT || m.reason < PKT_PUNT_COUNT);
	}
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(every_kind_of_ip4_frame_gets_its_verdict),
	cmocka_unit_test(every_kind_of_ip6_frame_gets_its_verdict),
	cmocka_unit_test(the_cards_word_on_the_checksum_is_taken),
	cmocka_unit_test(a_priority_tag_is_looked_through),
	cmocka_unit_test(what_is_common_is_plain),
	cmocka_unit_test(a_burst_is_plain_if_each_frame_is),
	cmocka_unit_test(random_frames_of_every_length_stay_inside),
};

int main(void)
{
	return cmocka_run_group_tests(tests, NULL, NULL);
}
