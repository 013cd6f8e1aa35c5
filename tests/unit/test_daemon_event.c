/* unit/test_daemon_event.c - the control thread's loop */

#include "../test.h"

#include <errno.h>
#include <signal.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "../../daemon/event.h"

struct side { /* one end of a pipe that is read */
	struct event_loop *loop;
	struct event_source *source;
	struct side *other;
	int fd[2];
	unsigned calls;
};

static void open_side(struct side *s, struct event_loop *l, event_fn fn)
{
	*s = (struct side){ .loop = l };
	assert_int_equal(pipe(s->fd), 0);
	assert_int_equal(event_add(l, s->fd[0], EPOLLIN, fn, s, &s->source), 0);
	assert_int_equal(write(s->fd[1], "x", 1), 1);
}

static void close_side(struct side *s)
{
	event_del(s->loop, s->source);
	close(s->fd[0]);
	close(s->fd[1]);
}

static void stop(void *arg)
{
	event_stop(arg);
}

/* Runs until nothing has happened for a while. */
static void run(struct event_loop *l)
{
	assert_int_equal(event_tick(l, 20, stop, l), 0);
	assert_int_equal(event_loop_run(l), 0);
}

static void remove_both(void *arg, uint32_t events)
{
	struct side *s = arg;

	assert_true(events & EPOLLIN);
	s->calls++;
	event_del(s->loop, s->source);
	event_del(s->loop, s->other->source);
	s->source = s->other->source = NULL;
}

/* Both are ready in one round; the first that runs removes itself and the other. */
static void a_handler_may_remove_any_source(void **state)
{
	struct event_loop *l;
	struct side a, b;

	(void)state;
	assert_int_equal(event_loop_new(&l), 0);
	open_side(&a, l, remove_both);
	open_side(&b, l, remove_both);
	a.other = &b;
	b.other = &a;
	run(l);
	assert_int_equal(a.calls + b.calls, 1);
	close_side(&a);
	close_side(&b);
	event_loop_free(l);
}

static void count_and_mute(void *arg, uint32_t events)
{
	struct side *s = arg;

	(void)events;
	s->calls++;
	assert_int_equal(event_change(s->loop, s->source, 0), 0);
}

static void what_is_not_waited_for_is_not_told(void **state)
{
	struct event_loop *l;
	struct side a;

	(void)state;
	assert_int_equal(event_loop_new(&l), 0);
	open_side(&a, l, count_and_mute);
	run(l); /* still readable, but muted */
	assert_int_equal(a.calls, 1);
	close_side(&a);
	event_loop_free(l);
}

static int got;

static void on_signal(void *arg, int signal)
{
	got = signal;
	event_stop(arg);
}

static void signals_come_through_the_loop(void **state)
{
	static const int signals[] = { SIGTERM, SIGINT };
	struct event_loop *l;

	(void)state;
	assert_int_equal(event_loop_new(&l), 0);
	assert_int_equal(event_signals(l, signals, 2, on_signal, l), 0);
	raise(SIGINT);
	assert_int_equal(event_loop_run(l), 0);
	assert_int_equal(got, SIGINT);
	raise(SIGTERM);
	assert_int_equal(event_loop_run(l), 0);
	assert_int_equal(got, SIGTERM);
	event_loop_free(l);
}

static unsigned ticks;

static void three_ticks(void *arg)
{
	if (++ticks == 3)
		event_stop(arg);
}

static void it_ticks(void **state)
{
	struct event_loop *l;

	(void)state;
	assert_int_equal(event_loop_new(&l), 0);
	assert_int_equal(event_tick(l, 1, three_ticks, l), 0);
	assert_int_equal(event_loop_run(l), 0);
	assert_int_equal(ticks, 3);
	event_loop_free(l);
}

static void a_descriptor_that_cannot_be_waited_for_is_refused(void **state)
{
	struct event_source *s = NULL;
	struct event_loop *l;

	(void)state;
	assert_int_equal(event_loop_new(&l), 0);
	assert_int_equal(event_add(l, -1, EPOLLIN, remove_both, NULL, &s), -EBADF);
	assert_null(s);
	event_del(l, NULL);
	event_loop_free(l);
	event_loop_free(NULL);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(a_handler_may_remove_any_source),
	cmocka_unit_test(what_is_not_waited_for_is_not_told),
	cmocka_unit_test(signals_come_through_the_loop),
	cmocka_unit_test(it_ticks),
	cmocka_unit_test(a_descriptor_that_cannot_be_waited_for_is_refused),
};

int main(void)
{
	return cmocka_run_group_tests(tests, NULL, NULL);
}
