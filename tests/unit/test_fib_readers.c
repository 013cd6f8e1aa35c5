/* unit/test_fib_readers.c - workers look up while the table changes at full speed
 *
 * The writer numbers its commits. Before each it writes down, for a set of addresses,
 * which next hop each shall have after it (found in a list searched in full), and says
 * that the commit has begun; after it, that it is done. A reader notes what was done
 * before its burst and what had begun after it: every address must have gone to the
 * next hop of some version in between. Next hops are told apart by their contents, so
 * an index that is reused too early shows, and so does half a change of one.
 *
 * A commit that changes short routes and others is three versions (fib.c says why).
 */

#include "../test.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "../../lib/base/rcu.h"
#include "../../lib/base/time.h"
#include "../../lib/fib/lookup_hot.h"

enum {
	PROBES = 32,	/* addresses of each family */
	RING = 1024,	/* versions that are remembered */
	ROUTES = 120,	/* of the writer */
	IDS = 1500,	/* contents of next hops */
	MAX_HOPS = 600, /* fewer: indexes are reused all the time */
	READERS = 2,
	WOBBLE = PROBES - 1, /* the IPv4 address whose next hop changes in place */
};

struct route {
	struct fib_prefix prefix;
	uint32_t id;
};

static struct fib *fib;
static uint8_t probe[2][PROBES][16];
static uint32_t probe4[PROBES];
static atomic_uint expected[RING][2][PROBES];
static atomic_uint begun, done, bursts, wrong;
static atomic_bool stop;

struct routes {
	size_t n;
	struct route route[ROUTES];
};

static struct routes now;

static struct fib_nh contents(uint32_t id)
{
	struct fib_nh nh = { .kind = FIB_NH_FORWARD, .mtu = 1500 };

	for (size_t i = 0; i < sizeof(nh.reserved); i += sizeof(id))
		memcpy(nh.reserved + i, &id, sizeof(id));
	return nh;
}

/* 0 for the next hop that says "no route", UINT32_MAX for one that is no whole. */
static uint32_t id_of(const struct fib_nh *nh)
{
	uint32_t id, other;

	memcpy(&id, nh->reserved, sizeof(id));
	for (size_t i = 0; i < sizeof(nh->reserved); i += sizeof(id)) {
		memcpy(&other, nh->reserved + i, sizeof(other));
		if (other != id)
			return UINT32_MAX;
	}
	return id;
}

/* ---- the reader ---- */

static bool was_right(uint32_t id, unsigned f, unsigned i, uint32_t from, uint32_t to)
{
	for (uint32_t v = from; v <= to; v++)
		if (atomic_load_explicit(&expected[v % RING][f][i],
					 memory_order_relaxed) == id)
			return true;
	return false;
}

static void burst(uint32_t id[2][PROBES])
{
	const struct fib_tables *t = rcu_read(*fib_live(fib));
	uint32_t nh[2][PROBES];

	fib_lookup4(t, probe4, nh[0], PROBES);
	fib_lookup6(t, (const uint8_t(*)[16])probe[1], nh[1], PROBES);
	for (unsigned f = 0; f < 2; f++)
		for (unsigned i = 0; i < PROBES; i++)
			id[f][i] = id_of(&t->nh[nh[f][i]]);
}

static bool wobble_is_whole(void)
{
	const struct fib_tables *t = rcu_read(*fib_live(fib));
	uint32_t nh;
	bool whole = true;

	fib_lookup4(t, &probe4[WOBBLE], &nh, 1);
	for (size_t i = 1; i < sizeof(t->nh[nh].macs); i++)
		whole &= t->nh[nh].macs[i] == t->nh[nh].macs[0];
	return whole && (t->nh[nh].mtu & 0xff) == t->nh[nh].macs[0];
}

static void check(uint32_t id[2][PROBES], uint32_t from, uint32_t to)
{
	unsigned bad = 0;

	for (unsigned f = 0; f < 2; f++)
		for (unsigned i = 0; i < PROBES; i++)
			if (f || i != WOBBLE)
				bad += !was_right(id[f][i], f, i, from, to);
	/* What is remembered may have been written over since. */
	if (atomic_load(&begun) - from < RING - 1)
		atomic_fetch_add(&wrong, bad);
}

static void *reader(void *arg)
{
	uint32_t id[2][PROBES];

	(void)arg;
	rcu_reader_start();
	while (!atomic_load(&stop)) {
		uint32_t from = atomic_load(&done), to;
		bool whole;

		burst(id);
		whole = wobble_is_whole();
		atomic_thread_fence(memory_order_seq_cst);
		to = atomic_load(&begun);
		rcu_turn();
		if (to - from < RING - 1)
			check(id, from, to);
		atomic_fetch_add(&wrong, !whole);
		atomic_fetch_add(&bursts, 1);
	}
	rcu_reader_stop();
	return NULL;
}

/* ---- the writer ---- */

static bool is_short(const struct fib_prefix *p)
{
	return p->family == 4 ? p->len == 0 : p->len <= 16;
}

/* Among the short routes, or the others. */
static uint32_t search(const struct routes *in, bool shorts, unsigned f,
		       const uint8_t addr[16])
{
	const struct route *best = NULL;

	for (size_t i = 0; i < in->n; i++)
		if (in->route[i].prefix.family == (f ? 6 : 4) &&
		    is_short(&in->route[i].prefix) == shorts &&
		    fib_prefix_covers(&in->route[i].prefix, addr) &&
		    (!best || in->route[i].prefix.len > best->prefix.len))
			best = &in->route[i];
	return best ? best->id : 0;
}

/* A word of the short ones that has a route before and after takes the one after in the first
 * step, also if that is because a longer one goes. */
static void note_version(const struct routes *others, const struct routes *shorts,
			 uint32_t version)
{
	for (unsigned f = 0; f < 2; f++)
		for (unsigned i = 0; i < PROBES; i++) {
			uint32_t id = search(others, false, f, probe[f][i]);

			if (!id)
				id = search(&now, true, f, probe[f][i]);
			if (!id)
				id = search(shorts, true, f, probe[f][i]);
			atomic_store_explicit(&expected[version % RING][f][i], id,
					      memory_order_relaxed);
		}
}

static size_t find(const struct routes *in, const struct fib_prefix *p)
{
	size_t i = 0;

	while (i < in->n && fib_prefix_compare(&in->route[i].prefix, p))
		i++;
	return i;
}

static uint32_t note_versions(const struct routes *old, uint32_t version)
{
	note_version(old, old, ++version);
	note_version(&now, old, ++version);
	note_version(&now, &now, ++version);
	atomic_store(&begun, version);
	return version;
}

static struct fib_prefix pick(void)
{
	unsigned f = test_below(2), i = test_below(PROBES), width = f ? 128 : 32;
	struct fib_prefix p = { .family = f ? 6 : 4,
				.len = (uint8_t)test_below(width + 1) };

	if (test_below(16) && is_short(&p))
		p.len = (uint8_t)(width / 2); /* they cost a grace period */
	if (test_below(16) && !f && p.len && p.len < 8)
		p.len += 8; /* the shorter, the longer it takes */
	if (!f && i == WOBBLE)
		i = 0;
	for (unsigned bit = 0; bit < p.len; bit++)
		p.addr[bit / 8] |= probe[f][i][bit / 8] & (uint8_t)(0x80 >> bit % 8);
	/* The wobbling next hop keeps its route. */
	if (!f && p.len > 8 && p.addr[0] == probe[0][WOBBLE][0])
		p.len = 0, memset(p.addr, 0, sizeof(p.addr));
	return p;
}

static void put_route(const struct fib_prefix *p, uint32_t id)
{
	struct fib_nh nh = contents(id);
	uint32_t index;

	assert_int_equal(fib_nh_get(fib, &nh, &index), 0);
	assert_int_equal(fib_route_replace(fib, p, FIB_KERNEL, index, 0), 0);
}

static void change(void)
{
	struct fib_prefix p = pick();
	uint32_t id = 1 + test_below(IDS);
	size_t i = find(&now, &p);

	if (i == ROUTES || (now.n && test_below(3) == 0)) { /* delete any */
		i = test_below((uint32_t)now.n);
		assert_int_equal(fib_route_del(fib, &now.route[i].prefix, FIB_KERNEL), 0);
		now.route[i] = now.route[--now.n];
		return;
	}
	put_route(&p, id);
	now.n += i == now.n;
	now.route[i] = (struct route){ p, id };
}

static void wobble(uint32_t index)
{
	struct fib_nh nh = *fib_nh_at(fib, index);
	uint8_t byte = (uint8_t)test_rand();

	memset(nh.macs, byte, sizeof(nh.macs));
	nh.mtu = (uint16_t)(0x100 | byte);
	assert_int_equal(fib_nh_set(fib, index, &nh), 0);
}

static uint32_t open_table(const struct fib_conf *conf)
{
	struct fib_prefix p = { .family = 4, .len = 32 };
	struct fib_nh nh = { .kind = FIB_NH_FORWARD };
	uint32_t index;

	assert_int_equal(fib_new(conf, &fib), 0);
	for (unsigned i = 0; i < PROBES; i++) {
		test_fill(probe[0][i], 16);
		test_fill(probe[1][i], 16);
		if (test_below(4)) /* where IPv6 is used */
			probe[1][i][0] = 0x20;
		if (i && test_below(2)) { /* neighbours share their words */
			memcpy(probe[0][i], probe[0][i - 1], 3);
			memcpy(probe[1][i], probe[1][i - 1], test_below(16));
		}
	}
	probe[0][WOBBLE][0] = 203;
	for (unsigned i = 0; i < PROBES; i++) {
		memcpy(&probe4[i], probe[0][i], 4);
		probe4[i] = __builtin_bswap32(probe4[i]);
	}
	memcpy(p.addr, probe[0][WOBBLE], 4);
	assert_int_equal(fib_nh_get(fib, &nh, &index), 0);
	assert_int_equal(fib_route_add(fib, &p, FIB_STATIC, index, 0), 0);
	assert_int_equal(fib_commit(fib), 0);
	wobble(index);
	return index;
}

/* Busy machines and sanitizers are slow: some commits there must be. */
static void write_for(uint64_t ns, uint32_t wobbling)
{
	uint64_t start = time_ns();
	uint32_t version = 0;
	struct routes old;

	while (time_ns() - start < ns ||
	       (version < 3 * 150 && time_ns() - start < 20 * ns)) {
		unsigned changes = test_below(16) ? 1 : test_below(30);

		old = now;
		while (changes--)
			change();
		version = note_versions(&old, version);
		assert_int_equal(fib_commit(fib), 0);
		atomic_store(&done, version);
		if (test_below(64) == 0)
			wobble(wobbling);
	}
	print_message("%u commits, %u bursts\n", version / 3, atomic_load(&bursts));
}

static void run(const struct fib_conf *conf)
{
	pthread_t thread[READERS];
	uint32_t wobbling = open_table(conf);

	now.n = 0;
	memset(expected, 0, sizeof(expected));
	begun = done = bursts = wrong = 0;
	stop = false;
	for (unsigned i = 0; i < READERS; i++)
		assert_int_equal(pthread_create(&thread[i], NULL, reader, NULL), 0);
	write_for(500 * NS_PER_MS, wobbling);
	stop = true;
	for (unsigned i = 0; i < READERS; i++)
		pthread_join(thread[i], NULL);
	assert_int_equal(wrong, 0);
	assert_true(bursts > 10);
	fib_free(fib);
}

static void test_best(void **state)
{
	const struct fib_conf conf = { .max_nexthops = MAX_HOPS };

	(void)state;
	run(&conf);
}

static void test_scalar(void **state)
{
	const struct fib_conf conf = { .max_nexthops = MAX_HOPS,
				       .simd = FIB_SIMD_SCALAR };

	(void)state;
	run(&conf);
}

static void test_dir24(void **state)
{
	const struct fib_conf conf = { .max_nexthops = MAX_HOPS, .layout4 = FIB4_DIR24 };

	(void)state;
	run(&conf);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_best),
		cmocka_unit_test(test_scalar),
		cmocka_unit_test(test_dir24),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
