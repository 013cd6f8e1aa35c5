/* unit/test_fib_group_readers.c - workers resolve flows while a group changes at full speed
 *
 * The writer numbers its changes. It does each in a second table first, which nobody else
 * reads, and writes down which next hop each flow shall have; then it says that the change
 * has begun, does it, and says that it is done. A reader notes what was done before its
 * burst and what had begun after it: there must be a version in between, for each flow not
 * an older one than for the flow before, that sends it where it went.
 *
 * Legs are made for a change and given up after the next. Next hops are told apart by their
 * contents, so an index, or memory of buckets, that is used again too early shows.
 */

#include "fib_group_rig.h"

#include <pthread.h>
#include <stdatomic.h>

#include "../../lib/base/time.h"

enum {
	FLOWS = 64,
	RING = 1024, /* versions that are remembered */
	MAX_LEGS = 6,
	READERS = 2,
};

static const struct fib_prefix anywhere = { .family = 4 };

static struct fib *fib, *twin;
static uint32_t group;

static uint32_t expected[RING][FLOWS]; /* written before begun says so */
static atomic_uint begun, done, bursts, wrong;
static atomic_bool stop;

static uint32_t read_expected(unsigned version, unsigned flow)
{
	return __atomic_load_n(&expected[version % RING][flow], __ATOMIC_RELAXED);
}

/* ---- readers ---- */

static void read_burst(uint32_t met[FLOWS])
{
	const struct fib_tables *t = rcu_read(*fib_live(fib));
	uint32_t addr = 0, nh;

	fib_lookup4(t, &addr, &nh, 1);
	for (uint32_t flow = 0; flow < FLOWS; flow++) {
		uint32_t leg = fib_nh_leg(&t->nh[nh], flow);

		memcpy(&met[flow], t->nh[leg].macs, sizeof(met[0]));
	}
}

static bool is_right(const uint32_t met[FLOWS], unsigned from, unsigned to)
{
	unsigned version = from;

	for (unsigned flow = 0; flow < FLOWS; flow++) {
		while (version <= to && read_expected(version, flow) != met[flow])
			version++;
		if (version > to)
			return false;
	}
	return true;
}

/* What was expected may be overwritten meanwhile. */
static void check_burst(const uint32_t met[FLOWS], unsigned from)
{
	if (!is_right(met, from, atomic_load(&begun)) &&
	    atomic_load(&begun) - from < RING - 1)
		atomic_fetch_add(&wrong, 1);
}

static void *reader(void *arg)
{
	uint32_t met[FLOWS];

	(void)arg;
	rcu_reader_start();
	while (!stop) {
		unsigned from = atomic_load(&done);

		read_burst(met);
		check_burst(met, from);
		rcu_turn();
		atomic_fetch_add(&bursts, 1);
	}
	rcu_reader_stop();
	return NULL;
}

/* ---- the writer ---- */

struct change {
	uint32_t hop[MAX_LEGS], weight[MAX_LEGS]; /* numbers of contents, not indexes */
	bool down[MAX_LEGS];
	uint32_t n;
};

/* The same steps in the same order give the same indexes in both tables. */
static void apply(struct fib *to, const struct change *c)
{
	struct fib_leg leg[MAX_LEGS];

	for (uint32_t i = 0; i < c->n; i++) {
		struct fib_nh nh = model_hop(c->hop[i]);

		assert_int_equal(fib_nh_get(to, &nh, &leg[i].nh), 0);
		leg[i].weight = c->weight[i];
		leg[i].down = c->down[i];
	}
	assert_int_equal(rig_set(to, group, leg, c->n), 0);
	for (uint32_t i = 0; i < c->n; i++)
		fib_nh_put(to, leg[i].nh);
}

static void note_expected(unsigned version)
{
	const struct fib_nh *nh = (*fib_live(twin))->nh;

	for (uint32_t flow = 0; flow < FLOWS; flow++) {
		uint32_t hop;

		memcpy(&hop, nh[fib_nh_leg(&nh[group], flow)].macs, sizeof(hop));
		__atomic_store_n(&expected[version % RING][flow], hop, __ATOMIC_RELAXED);
	}
}

static struct change pick_change(void)
{
	struct change c = { .n = 1 + test_below(MAX_LEGS) };

	for (uint32_t i = 0; i < c.n; i++) {
		c.hop[i] = 1 + test_below(200);
		c.weight[i] = 1 + test_below(4);
		c.down[i] = test_below(8) == 0;
	}
	return c;
}

static struct fib *open_group(void)
{
	const struct fib_conf conf = { .max_nexthops = 150, .max_group_bytes = 100000 };
	const struct change one = { .hop = { 1 }, .weight = { 1 }, .n = 1 };
	struct fib_nh nh = model_hop(1);
	struct fib_leg leg = LEG(0, 1);
	struct fib *f;

	assert_int_equal(fib_new(&conf, &f), 0);
	assert_int_equal(fib_nh_get(f, &nh, &leg.nh), 0);
	assert_int_equal(rig_get(f, &leg, 1, 0, &group), 0);
	fib_nh_put(f, leg.nh);
	apply(f, &one);
	assert_int_equal(fib_route_add(f, &anywhere, FIB_STATIC, group, 0), 0);
	assert_int_equal(fib_commit(f), 0);
	return f;
}

static void test_readers(void **state)
{
	uint64_t end = time_ns() + 700 * NS_PER_MS;
	pthread_t thread[READERS];
	unsigned version = 0;

	(void)state;
	twin = open_group();
	fib = open_group();
	note_expected(0);
	for (unsigned i = 0; i < READERS; i++)
		assert_int_equal(pthread_create(&thread[i], NULL, reader, NULL), 0);
	while (time_ns() < end) {
		struct change c = pick_change();

		apply(twin, &c);
		note_expected(++version);
		atomic_store(&begun, version);
		apply(fib, &c);
		atomic_store(&done, version);
	}
	stop = true;
	for (unsigned i = 0; i < READERS; i++)
		pthread_join(thread[i], NULL);
	print_message("%u changes, %u bursts\n", version, atomic_load(&bursts));
	assert_int_equal(wrong, 0);
	assert_true(version > 10 && bursts > 10);
	fib_free(fib);
	fib_free(twin);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_readers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
