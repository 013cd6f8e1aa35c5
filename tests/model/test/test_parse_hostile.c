/* test/test_parse_hostile.c - cut, changed and absurd frames; see fuzz_parse.c */
#include "fuzz.h"

#include <string.h>

#include "frame.h"

static const struct frame *samples(unsigned *n)
{
	static struct frame s[8];

	s[0] = frame_udp4(1, 2, 20);
	s[1] = frame_tcp4(1, 2, 3);
	s[2] = frame_udp6(1, 2, 20);
	s[3] = frame_tcp6(1, 2, 3);
	s[4] = frame_chain(3);
	s[5] = frame_chain(8);
	frame_start(&s[6]);
	frame_vlan(&s[6], 0x88a8, 1);
	frame_vlan(&s[6], 0x8100, 2);
	frame_ip6(&s[6], frame_src6, frame_dst6);
	frame_ip6_frag(&s[6], 1);
	frame_udp(&s[6], 1, 2, 3);
	frame_finish(&s[6]);
	frame_start(&s[7]);
	frame_vlan(&s[7], 0x8100, 2);
	frame_ip4(&s[7], 1, 2, 40);
	frame_tcp(&s[7], 1, 2, 3, 4);
	frame_finish(&s[7]);
	*n = 8;
	return s;
}

static void test_every_prefix(void **state)
{
	unsigned n;
	const struct frame *s = samples(&n);

	(void)state;
	for (unsigned i = 0; i < n; i++)
		for (uint32_t len = 0; len <= s[i].len; len++)
			fuzz_parse(s[i].b, len);
}

static uint32_t next_random(uint32_t *x)
{
	*x ^= *x << 13;
	*x ^= *x >> 17;
	*x ^= *x << 5;
	return *x;
}

/* Few bytes of a good frame changed: deep paths, unlike noise. Any length is cut at random. */
static void test_mutations(void **state)
{
	uint32_t x = 0x12345678;
	unsigned n;
	const struct frame *s = samples(&n);

	(void)state;
	for (unsigned i = 0; i < 20000; i++) {
		struct frame f = s[next_random(&x) % n];

		for (uint32_t k = next_random(&x) % 6; k; k--)
			f.b[next_random(&x) % f.len] = (uint8_t)next_random(&x);
		if (next_random(&x) % 4 == 0)
			f.len = next_random(&x) % (f.len + 1);
		fuzz_parse(f.b, f.len);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_prefix),
		cmocka_unit_test(test_mutations),
	};

	return cmocka_run_group_tests_name("parse_hostile", tests, NULL, NULL);
}
