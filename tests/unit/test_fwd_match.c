/* unit/test_fwd_match.c - which packets somebody wants to see */

#include "../test.h"

#include <stdlib.h>
#include <string.h>

#include "../../lib/fwd/match.h"
#include "../../lib/pkt/verdict.h"

enum { TAGS_MAX = 3 };

struct frame {
	_Alignas(uint16_t) uint8_t bytes[128];
	uint32_t len, ip; /* where the IP header is */
};

static void begin(struct frame *f, unsigned tags, uint16_t type)
{
	uint8_t *at;

	assert_true(tags <= TAGS_MAX);
	memset(f, 0, sizeof(*f));
	at = f->bytes + 12;
	for (; tags; tags--, at += 4)
		memcpy(at,
		       (uint8_t[]){ tags == 2 ? 0x88 : 0x81, tags == 2 ? 0xa8 : 0, 0, 7 },
		       4);
	at[0] = (uint8_t)(type >> 8);
	at[1] = (uint8_t)type;
	f->ip = (uint32_t)(at + 2 - f->bytes);
}

/* 192.0.2.1:1000 to 10.1.2.3:53 */
static void make4(struct frame *f, unsigned tags, uint8_t proto)
{
	static const uint8_t head[] = { 0x45, 0, 0,   40, 0, 0, 0,  0, 64, 0,
					0,    0, 192, 0,  2, 1, 10, 1, 2,  3 };

	begin(f, tags, 0x0800);
	memcpy(f->bytes + f->ip, head, sizeof(head));
	f->bytes[f->ip + 9] = proto;
	memcpy(f->bytes + f->ip + 20, (uint8_t[]){ 3, 0xe8, 0, 53 }, 4);
	f->len = f->ip + 40;
}

/* 2001:db8::1 to 2001:db8:0:1::2, a destination options header before the protocol */
static void make6(struct frame *f, uint8_t proto)
{
	uint8_t *ip = f->bytes + 14;

	begin(f, 0, 0x86dd);
	ip[0] = 0x60;
	ip[5] = 28;
	ip[6] = 60;
	ip[7] = 5;
	memcpy(ip + 8, (uint8_t[]){ 0x20, 1, 0xd, 0xb8, [15] = 1 }, 16);
	memcpy(ip + 24, (uint8_t[]){ 0x20, 1, 0xd, 0xb8, [7] = 1, [15] = 2 }, 16);
	ip[40] = proto;
	memcpy(ip + 48, (uint8_t[]){ 3, 0xe8, 0, 53 }, 4);
	f->len = 14 + 40 + 28;
}

static bool matches(const struct fwd_match *m, const struct frame *f)
{
	struct fwd_seen seen;

	fwd_see(f->bytes, f->len, &seen);
	return fwd_match_frame(m, &seen);
}

static void a_frame_is_seen_through_two_tags(void **state)
{
	struct fwd_seen seen;
	struct frame f;

	(void)state;
	for (unsigned tags = 0; tags <= TAGS_MAX; tags++) {
		make4(&f, tags, 17);
		fwd_see(f.bytes, f.len, &seen);
		assert_int_equal(seen.family, tags <= 2 ? 4 : 0);
		if (tags > 2)
			continue;
		assert_int_equal(seen.l3, 14 + 4 * tags);
		assert_int_equal(seen.ttl, 64);
		assert_int_equal(seen.flow.proto, 17);
		assert_int_equal(seen.flow.port[0], 1000);
		assert_int_equal(seen.flow.port[1], 53);
		assert_int_equal(seen.flow.addr[0][1], 0xc0000201);
		assert_int_equal(seen.flow.addr[1][1], 0x0a010203);
	}
	make6(&f, 6);
	fwd_see(f.bytes, f.len, &seen);
	assert_int_equal(seen.family, 6);
	assert_int_equal(seen.ttl, 5);
	assert_int_equal(seen.flow.proto, 6);
	assert_int_equal(seen.flow.port[1], 53);
}

/* A sanitizer sees the first byte that is read too many: the frame ends where its memory does. */
static void a_frame_may_end_anywhere(void **state)
{
	struct fwd_seen seen;
	struct frame f;

	(void)state;
	make4(&f, 2, 17);
	for (uint32_t len = 0; len < f.len; len++) {
		uint8_t *exact = malloc(len ? len : 1);

		assert_non_null(exact);
		memcpy(exact, f.bytes, len);
		fwd_see(exact, len, &seen);
		free(exact);
		assert_int_equal(seen.family, len < f.ip + 20 ? 0 : 4);
		assert_int_equal(seen.flow.at != 0, len >= f.ip + 24);
	}
}

static void what_is_not_set_matches_all(void **state)
{
	const struct fwd_match any = { 0 };
	struct frame f;

	(void)state;
	make4(&f, 0, 17);
	assert_true(matches(&any, &f));
	f.len = 3;
	assert_true(matches(&any, &f));
	assert_true(fwd_match_verdict(&any, PKT_DROP, PKT_DROP_TX_FULL));
}

static void addresses_match_by_prefix_and_family(void **state)
{
	const struct fwd_match four = { .family = 4,
					.addr = { { 0, 0 }, { 0, 0x0a000000 } },
					.mask = { { 0, 0 }, { 0, 0xff000000 } } };
	const struct fwd_match six = {
		.family = 6,
		.addr = { { 0x20010db800000000, 1 }, { 0x20010db800000001, 0 } },
		.mask = { { UINT64_MAX, UINT64_MAX }, { UINT64_MAX, 0 } }
	};
	struct frame f;

	(void)state;
	make4(&f, 0, 17);
	assert_true(matches(&four, &f));
	assert_false(matches(&six, &f));
	f.bytes[f.ip + 16] = 11;
	assert_false(matches(&four, &f));
	make6(&f, 17);
	assert_true(matches(&six, &f));
	assert_false(matches(&four, &f));
	f.bytes[f.ip + 23]++; /* its source */
	assert_false(matches(&six, &f));
}

static void ports_match_where_there_are_some(void **state)
{
	const struct fwd_match dns = { .has_proto = true,
				       .proto = { 17, 17 },
				       .has_port = { false, true },
				       .port = { 0, 53 } };
	const struct fwd_match from = { .has_port = { true, false },
					.port = { 1000, 0 } };
	const struct fwd_match icmp = { .has_proto = true, .proto = { 1, 58 } };
	const struct fwd_match zero = { .has_port = { true, false } };
	struct frame f;

	(void)state;
	make4(&f, 0, 17);
	assert_true(matches(&dns, &f) && matches(&from, &f));
	assert_false(matches(&icmp, &f) || matches(&zero, &f));
	make6(&f, 17);
	assert_true(matches(&dns, &f));
	make4(&f, 0, 6);
	assert_true(matches(&from, &f));
	assert_false(matches(&dns, &f));
	make4(&f, 0, 1);
	assert_true(matches(&icmp, &f));
	assert_false(matches(&from, &f) || matches(&zero, &f));
	make6(&f, 58);
	assert_true(matches(&icmp, &f));
	make4(&f, 0, 17);
	f.bytes[f.ip + 7] = 3; /* no first fragment */
	assert_false(matches(&dns, &f));
	f.len = 20; /* nothing is known of it */
	assert_false(matches(&icmp, &f) || matches(&zero, &f));
}

static void verdicts_match_with_their_reason(void **state)
{
	const struct fwd_match drop = { .has_verdict = true, .verdict = PKT_DROP };
	const struct fwd_match ttl = { .has_verdict = true,
				       .verdict = PKT_PUNT,
				       .has_reason = true,
				       .reason = PKT_PUNT_TTL };

	(void)state;
	assert_true(fwd_match_verdict(&drop, PKT_DROP, PKT_DROP_TX_FULL));
	assert_false(fwd_match_verdict(&drop, PKT_FORWARD, 0));
	assert_true(fwd_match_verdict(&ttl, PKT_PUNT, PKT_PUNT_TTL));
	assert_false(fwd_match_verdict(&ttl, PKT_PUNT, PKT_PUNT_MTU));
	assert_false(fwd_match_verdict(&ttl, PKT_DROP, PKT_PUNT_TTL));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_frame_is_seen_through_two_tags),
		cmocka_unit_test(a_frame_may_end_anywhere),
		cmocka_unit_test(what_is_not_set_matches_all),
		cmocka_unit_test(addresses_match_by_prefix_and_family),
		cmocka_unit_test(ports_match_where_there_are_some),
		cmocka_unit_test(verdicts_match_with_their_reason),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
