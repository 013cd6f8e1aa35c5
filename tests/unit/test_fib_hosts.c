/* unit/test_fib_hosts.c - host routes by the hundred thousand, in every layout
 *
 * Host number i has an address that a permutation gives, all different, and next hop
 * 1 + i % HOPS. Too many for the list of fib_model.h, but what an address must get follows
 * from its number: of a host its next hop, of any other that of the route around them.
 */

#include "fib_model.h"

#ifdef BUILT_FOR_TSAN /* one thread: it only costs time */
enum { HOSTS = 100000 };
#else
enum { HOSTS = 200000 };
#endif
enum { HOPS = 200, AROUND = HOPS + 1, BURST = 64 };

static struct fib *fib;

/* 24 bits: odd multiplier and shift, so one to one. */
static uint32_t scatter(uint32_t i)
{
	i = i * 0x5bd1e5u & 0xffffff;
	i ^= i >> 11;
	return i * 0x27d4ebu & 0xffffff;
}

/* 10.x.y.z; 2001:db8::x:yz:0:0:0 + 1, so that they are in many /48s and /64s */
static struct fib_prefix host(uint8_t family, uint32_t i)
{
	struct fib_prefix p = { .family = family, .len = family == 4 ? 32 : 128 };
	uint32_t at = scatter(i);

	if (family == 4) {
		p.addr[0] = 10;
		p.addr[1] = (uint8_t)(at >> 16);
		p.addr[2] = (uint8_t)(at >> 8);
		p.addr[3] = (uint8_t)at;
		return p;
	}
	memcpy(p.addr, (uint8_t[]){ 0x20, 1, 0xd, 0xb8 }, 4);
	p.addr[5] = (uint8_t)(at >> 16);
	p.addr[7] = (uint8_t)(at >> 8);
	p.addr[9] = (uint8_t)at;
	p.addr[15] = 1;
	return p;
}

static void put(const struct fib_prefix *p, uint32_t nh)
{
	fib_nh_ref(fib, nh);
	assert_int_equal(fib_route_add(fib, p, FIB_KERNEL, nh, 0), 0);
}

static void open_hosts(uint8_t family, const struct fib_conf *conf)
{
	struct fib_prefix around = { .family = family, .len = family == 4 ? 8 : 32 };

	assert_int_equal(fib_new(conf, &fib), 0);
	for (uint32_t i = 1; i <= AROUND; i++) {
		struct fib_nh nh = model_hop(i);
		uint32_t index;

		assert_int_equal(fib_nh_get(fib, &nh, &index), 0);
		assert_int_equal(index, i);
	}
	memcpy(around.addr, host(family, 0).addr, family == 4 ? 1 : 4);
	put(&around, AROUND);
	for (uint32_t i = 0; i < HOSTS; i++) {
		struct fib_prefix p = host(family, i);

		put(&p, 1 + i % HOPS);
		if (i % 1000 == 0)
			assert_int_equal(fib_commit(fib), 0);
	}
	assert_int_equal(fib_commit(fib), 0);
}

/* Hosts [from, from + BURST), and after them as many that are none. */
static void look(uint8_t family, uint32_t from, uint32_t *nh)
{
	const struct fib_tables *t = *fib_live(fib);
	uint8_t addr[2 * BURST][16];
	uint32_t four[2 * BURST];

	for (uint32_t i = 0; i < 2 * BURST; i++) {
		struct fib_prefix p =
			host(family, i < BURST ? from + i : HOSTS + from + i - BURST);

		memcpy(addr[i], p.addr, 16);
		memcpy(&four[i], p.addr, 4);
		four[i] = __builtin_bswap32(four[i]);
	}
	if (family == 4)
		fib_lookup4(t, four, nh, 2 * BURST);
	else
		fib_lookup6(t, (const uint8_t(*)[16])addr, nh, 2 * BURST);
}

/* Every @step-th host has been deleted; 0 = none. */
static void check_all(uint8_t family, uint32_t step)
{
	uint32_t nh[2 * BURST];

	for (uint32_t from = 0; from + BURST <= HOSTS; from += BURST) {
		look(family, from, nh);
		for (uint32_t i = 0; i < 2 * BURST; i++) {
			bool is = i < BURST && !(step && (from + i) % step == 0);

			assert_int_equal(nh[i], is ? 1 + (from + i) % HOPS : AROUND);
		}
	}
}

static bool count_one(void *arg, const struct fib_route *route)
{
	(void)route;
	++*(uint32_t *)arg;
	return true;
}

static void run(uint8_t family, enum fib4_layout layout)
{
	const struct fib_conf conf = { .layout4 = layout };
	struct fib_sizes s;
	uint32_t n = 0;

	open_hosts(family, &conf);
	check_all(family, 0);
	fib_sizes(fib, &s);
	assert_int_equal(s.routes[family == 6][FIB_KERNEL], HOSTS + 1);
	for (uint32_t i = 0; i < HOSTS; i += 3) {
		struct fib_prefix p = host(family, i);

		assert_int_equal(fib_route_del(fib, &p, FIB_KERNEL), 0);
	}
	assert_int_equal(fib_commit(fib), 0); /* so many at once take another way */
	check_all(family, 3);
	for (uint32_t i = 0; i < HOSTS; i += 3) {
		struct fib_prefix p = host(family, i);

		put(&p, 1 + i % HOPS);
	}
	fib_abort(fib);
	check_all(family, 3);
	fib_route_walk(fib, NULL, count_one, &n);
	fib_sizes(fib, &s);
	assert_int_equal(n, s.routes[family == 6][FIB_KERNEL]);
	assert_int_equal(n, HOSTS - (HOSTS + 2) / 3 + 1);
	fib_free(fib);
}

static void test_run21(void **state)
{
	(void)state;
	run(4, FIB4_RUN21);
}

static void test_rl6(void **state)
{
	(void)state;
	run(6, FIB4_RUN21);
}

/* It has pages for 32767 /24s, and these hosts are in more: refused, the last commit stands. */
static void test_dir24(void **state)
{
	const struct fib_conf conf = { .layout4 = FIB4_DIR24 };
	uint32_t i = 0, good = 0, nh[2 * BURST];
	int r = 0;

	(void)state;
	assert_int_equal(fib_new(&conf, &fib), 0);
	for (uint32_t n = 1; n <= HOPS; n++) {
		struct fib_nh hop = model_hop(n);
		uint32_t index;

		assert_int_equal(fib_nh_get(fib, &hop, &index), 0);
	}
	while (!r && i < HOSTS) {
		good = i;
		for (; i < good + BURST; i++) {
			struct fib_prefix p = host(4, i);

			put(&p, 1 + i % HOPS);
		}
		r = fib_commit(fib);
	}
	assert_int_equal(r, -ENOSPC);
	assert_true(good > 32767);
	for (uint32_t from = 0; from <= good; from += BURST) {
		look(4, from, nh);
		for (uint32_t k = 0; k < BURST; k++)
			assert_int_equal(nh[k], from < good ? 1 + (from + k) % HOPS : 0);
	}
	fib_free(fib);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_run21),
		cmocka_unit_test(test_rl6),
		cmocka_unit_test(test_dir24),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
