/* unit/test_fwd_watch.c - every way to wait for a word that this processor has
 *
 * Of ways that it has not, only that they are compiled is tested, and that none is chosen.
 */

#include "../test.h"

#include <pthread.h>
#include <sched.h>

#include "../../lib/base/hot.h"
#include "../../lib/base/time.h"
#include "../../lib/fwd/watch.h"

enum { SHORT_US = 200, LONG_US = 10 * 1000 * 1000, ROUNDS = 50 };

static uint64_t ticks(uint64_t us)
{
	return us * time_ticks_per_us();
}

static void each_way(void (*test)(fwd_watch_fn *watch))
{
	for (int way = 0; way < FWD_WATCH_COUNT; way++)
		if (!fwd_watch_works((enum fwd_watch)way))
			print_message("%s: not here\n",
				      fwd_watch_name((enum fwd_watch)way));
		else
			test(fwd_watch_by[way]);
}

static void the_best_way_works_here(void **state)
{
	enum fwd_watch best = fwd_watch_best();

	(void)state;
	assert_true(fwd_watch_works(FWD_WATCH_PAUSE));
	assert_true(fwd_watch_works(best));
	assert_non_null(fwd_watch_by[best]);
	for (int way = (int)best + 1; best == FWD_WATCH_PAUSE && way < FWD_WATCH_COUNT;
	     way++)
		assert_false(fwd_watch_works((enum fwd_watch)way));
	print_message("waits by %s\n", fwd_watch_name(best));
}

/* An early end is allowed, one much too late is not: the worker has other ports. */
static void ends(fwd_watch_fn *watch)
{
	static const uint64_t word;
	uint64_t start = time_ns();

	for (int i = 0; i < ROUNDS; i++)
		watch(&word, 0, ticks(SHORT_US));
	assert_true(time_ns() - start < 2 * NS_PER_S);
}

static void a_wait_ends_when_nothing_comes(void **state)
{
	(void)state;
	each_way(ends);
}

static void knows(fwd_watch_fn *watch)
{
	static const uint64_t word = 2;
	uint64_t start = time_ns();

	for (int i = 0; i < ROUNDS; i++)
		watch(&word, 1, ticks(LONG_US));
	assert_true(time_ns() - start < LONG_US * NS_PER_US);
}

static void what_came_before_ends_it_at_once(void **state)
{
	(void)state;
	each_way(knows);
}

/* A line of its own, or the writer's other data would end the wait. */
static struct {
	uint64_t word, round;
} CACHE_ALIGNED shared;

static void *write_it(void *arg)
{
	uint64_t start;

	(void)arg;
	for (uint64_t round = 1; round <= ROUNDS; round++) {
		while (__atomic_load_n(&shared.round, __ATOMIC_ACQUIRE) != round)
			sched_yield();
		for (start = time_ns(); time_ns() - start < round * NS_PER_US;)
			;
		__atomic_store_n(&shared.word, round, __ATOMIC_RELEASE);
	}
	return NULL;
}

/* The word is written sooner or later after the last look at it. */
static void wakes(fwd_watch_fn *watch)
{
	uint64_t start = time_ns(), long_ticks = ticks(LONG_US);
	pthread_t writer;

	shared.word = shared.round = 0;
	assert_int_equal(pthread_create(&writer, NULL, write_it, NULL), 0);
	for (uint64_t round = 1; round <= ROUNDS; round++) {
		__atomic_store_n(&shared.round, round, __ATOMIC_RELEASE);
		while (__atomic_load_n(&shared.word, __ATOMIC_ACQUIRE) != round)
			watch(&shared.word, round - 1, long_ticks);
	}
	pthread_join(writer, NULL);
	assert_true(time_ns() - start < LONG_US * NS_PER_US);
}

static void a_write_ends_it(void **state)
{
	(void)state;
	each_way(wakes);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(the_best_way_works_here),
	cmocka_unit_test(a_wait_ends_when_nothing_comes),
	cmocka_unit_test(what_came_before_ends_it_at_once),
	cmocka_unit_test(a_write_ends_it),
};

int main(void)
{
	return cmocka_run_group_tests(tests, NULL, NULL);
}
