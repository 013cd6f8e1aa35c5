/* datapath/test_dp_idle.c - workers that sleep are woken by every packet
 *
 * lib/fwd's own worker threads on real queues. A worker's longest sleep is stretched from a second
 * to half a minute (poll(2) is ours), so that an event that got lost is not made good by a timer:
 * the packet is then not received in time and the test fails.
 *
 *   kernel --- eth1 ---- cable ---- eth0 --- worker: IPv4 dropped, IPv6 sent back
 */

#include <poll.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../../lib/base/rcu.h"
#include "../../lib/base/time.h"
#include "../../lib/fwd/worker_inside.h"
#include "../test.h"
#include "rig.h"

enum { WORKER_SLEEP_MS = 1000, STRETCHED_MS = 30000, PATIENCE_MS = 10000, TURN_MS = 400 };

int __real_poll(struct pollfd *fds, nfds_t nfds, int timeout);
int __wrap_poll(struct pollfd *fds, nfds_t nfds, int timeout);
int __wrap_poll(struct pollfd *fds, nfds_t nfds, int timeout)
{
	return __real_poll(fds, nfds,
			   timeout == WORKER_SLEEP_MS ? STRETCHED_MS : timeout);
}

/* ---- routes: by family ---- */

enum { NH_DROP, NH_BACK };

static const struct fib_nh nh[] = {
	[NH_DROP] = { .kind = FIB_NH_BLACKHOLE },
	[NH_BACK] = { .macs = { 2, 0, 0, 0, 0, 0xaa, 2, 0, 0, 0, 0, 1 },
		      .kind = FIB_NH_FORWARD,
		      .mtu = 1500 },
};

static void lookup4(const void *t, const uint32_t *addr, uint32_t *out, uint32_t n)
{
	(void)t;
	(void)addr;
	for (uint32_t i = 0; i < n; i++)
		out[i] = NH_DROP;
}

static void lookup6(const void *t, const uint8_t (*addr)[16], uint32_t *out, uint32_t n)
{
	(void)t;
	(void)addr;
	for (uint32_t i = 0; i < n; i++)
		out[i] = NH_BACK;
}

static struct fib_tables tables = { .nh = nh, .lookup4 = lookup4, .lookup6 = lookup6 };
static struct fib_tables *live = &tables;

/* ---- workers ---- */

static int wire;

struct kind {
	enum fwd_idle idle;
	uint32_t spin_us, pause_us;
	bool cyclic;
	unsigned workers;
	enum m5_compression compression;
};

struct crew {
	struct rig rig;
	struct fwd_worker *w[RIG_QUEUES];
	unsigned n;
	uint64_t sent;
};

static void open_worker(struct crew *c, unsigned i, const struct kind *k)
{
	struct fwd_conf conf = { .index = i,
				 .cpu = -1,
				 .idle = k->idle,
				 .idle_spin_us = k->spin_us,
				 .idle_pause_us = k->pause_us,
				 .live = &live,
				 .punt_ring = 8,
				 .punt_bytes = 1600 };
	struct fwd_port port = { .rx = m5_rxq_hot(c->rig.rxq[i]),
				 .rx_event_fd = m5_rxq_event_fd(c->rig.rxq[i]),
				 .up = true };

	if (i == 0) /* the rig has one send queue */
		port.tx = c->rig.tx;
	memcpy(port.mac, c->rig.mac, sizeof(port.mac));
	assert_int_equal(fwd_worker_new(&conf, &c->w[i]), 0);
	fwd_worker_set_port(c->w[i], 0, &port);
	assert_int_equal(fwd_worker_start(c->w[i]), 0);
}

static void open_crew(struct crew *c, const struct kind *k)
{
	struct rig_conf conf = { .cyclic = k->cyclic,
				 .n_rxq = k->workers,
				 .compression = k->compression };

	memset(c, 0, sizeof(*c));
	rig_open(&c->rig, &conf);
	c->n = k->workers;
	for (unsigned i = 0; i < c->n; i++)
		open_worker(c, i, k);
}

static void close_crew(struct crew *c)
{
	for (unsigned i = 0; i < c->n; i++) {
		fwd_worker_stop(c->w[i]);
		fwd_worker_free(c->w[i]);
	}
	rig_sent(c->rig.tx);
	rig_close(&c->rig);
}

static uint64_t received(const struct crew *c)
{
	uint64_t n = 0;

	for (unsigned i = 0; i < c->n; i++)
		n += fwd_read(&fwd_worker_port_count(c->w[i], 0)->received);
	return n;
}

static uint64_t slept(const struct crew *c, unsigned i)
{
	return fwd_read(&fwd_worker_count(c->w[i])->sleeps);
}

static void slept_through(const struct crew *c)
{
	print_message("eth0:\n%s", ctl("stats eth0"));
	print_message("%s", ctl("dump"));
	for (unsigned i = 0; i < c->n; i++)
		print_message("worker %u: %llu sleeps\n", i,
			      (unsigned long long)slept(c, i));
	fail_msg("%llu packets of %llu within %d ms", (unsigned long long)received(c),
		 (unsigned long long)c->sent, PATIENCE_MS);
}

static void all_received(const struct crew *c)
{
	uint64_t end = time_ns() + PATIENCE_MS * NS_PER_MS;

	while (received(c) < c->sent && time_ns() < end)
		sched_yield();
	if (received(c) != c->sent)
		slept_through(c);
}

static void send_some(struct crew *c, unsigned family, uint32_t n)
{
	struct frame f;

	for (uint32_t i = 0; i < n; i++) {
		frame_make(&f, family, 100, (uint32_t)c->sent++, c->rig.mac);
		wire_send(wire, &f);
	}
}

static void wait_us(uint32_t us)
{
	uint64_t end = time_ns() + us * NS_PER_US;

	while (time_ns() < end)
		time_relax();
}

/* ---- tests ---- */

/* A packet comes at every moment of going to sleep: while the worker looks for the last time, arms,
 * has armed, sleeps, or is woken by somebody else at the same time. */
static void none_is_slept_through(void **state)
{
	const struct kind *k = *state;
	struct crew c;
	uint64_t end;

	open_crew(&c, k);
	end = time_ns() + TURN_MS * NS_PER_MS;
	while (time_ns() < end || c.sent < 100) {
		uint32_t family = test_below(8) ? 4 : 6, n = test_below(8) ? 1 : 3;

		if (k->workers > 1) /* only the first can send */
			family = 4;
		wait_us(test_below(150));
		if (test_below(4) == 0)
			fwd_worker_wake(c.w[test_below(c.n)]);
		send_some(&c, family, n);
		all_received(&c);
	}
	for (unsigned i = 0; i < c.n; i++)
		assert_true(slept(&c, i) > 0);
	close_crew(&c);
}

static void wait_asleep(const struct crew *c, uint64_t since)
{
	uint64_t end = time_ns() + PATIENCE_MS * NS_PER_MS;

	while (slept(c, 0) == since && time_ns() < end)
		sched_yield();
	assert_true(slept(c, 0) > since);
}

/* All was queued, and its completions have been seen. */
static bool has_left(const struct crew *c)
{
	return fwd_read_both(fwd_worker_port_count(c->w[0], 0)->egress) == c->sent &&
	       m5_tx_idle(c->rig.tx);
}

/* The last send's completion raises no event; the receive buffer comes back nevertheless, and then
 * the worker sleeps long. */
static void what_was_sent_is_reaped(void **state)
{
	struct crew c;
	uint64_t end;

	open_crew(&c, *state);
	for (unsigned i = 0; i < 20; i++) {
		send_some(&c, 6, 1 + test_below(20));
		all_received(&c);
		end = time_ns() + PATIENCE_MS * NS_PER_MS;
		while (!has_left(&c) && time_ns() < end)
			sched_yield();
		assert_true(has_left(&c));
	}
	close_crew(&c);
}

/* Paused for a reset of its queue as daemon/recover.c does it, asleep or not. */
static void a_reset_does_not_deafen(void **state)
{
	struct crew c;
	uint64_t since;

	open_crew(&c, *state);
	for (unsigned i = 0; i < 20; i++) {
		since = slept(&c, 0);
		send_some(&c, 4, 1);
		all_received(&c);
		if (i % 2)
			wait_asleep(&c, since);
		assert_int_equal(fwd_worker_pause(c.w[0], PATIENCE_MS), 0);
		rig_ok(m5_rxq_reset(c.rig.rxq[0], &c.rig.err), &c.rig.err);
		rig_ok(m5_rxq_start(c.rig.rxq[0], &c.rig.err), &c.rig.err);
		fwd_worker_resume(c.w[0]);
	}
	send_some(&c, 4, 1);
	all_received(&c);
	close_crew(&c);
}

static void sleepers_hear_the_control_thread(void **state)
{
	uint64_t start, since = 0;
	struct crew c;

	open_crew(&c, *state);
	start = time_ns();
	for (unsigned i = 0; i < 50; i++) {
		wait_asleep(&c, since);
		since = slept(&c, 0);
		if (i % 2) {
			assert_int_equal(fwd_worker_pause(c.w[0], PATIENCE_MS), 0);
			fwd_worker_resume(c.w[0]);
		} else {
			fwd_worker_wake(c.w[0]);
		}
	}
	wait_asleep(&c, since);
	close_crew(&c);
	assert_true(time_ns() - start < STRETCHED_MS * NS_PER_MS);
}

/* However long ago the worker looked for the last time. */
static void a_stop_takes_what_was_received(void **state)
{
	struct crew c;
	uint64_t before;

	open_crew(&c, *state);
	assert_int_equal(fwd_worker_pause(c.w[0], PATIENCE_MS), 0);
	before = ctl_number("stats eth0", "rx_queued");
	send_some(&c, 6, 200);
	ctl_wait("stats eth0", "rx_queued", before + c.sent);
	assert_int_equal(received(&c), 0);
	fwd_worker_stop(c.w[0]);
	assert_int_equal(received(&c), c.sent);
	rig_sent(c.rig.tx);
	assert_true(has_left(&c));
	close_crew(&c);
}

/* ---- what each strategy costs ---- */

enum {
	REST_MS = 300,
	PACKETS = 100,
	GAP_US = 2500 /* longer than adaptive stays awake */
};

static uint64_t own_ns(const struct fwd_worker *w)
{
	struct timespec t;
	clockid_t clock;

	assert_int_equal(pthread_getcpuclockid(w->thread, &clock), 0);
	assert_int_equal(clock_gettime(clock, &t), 0);
	return (uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_nsec;
}

/* Of a core, in hundredths of a percent. */
static unsigned share_at_rest(const struct crew *c)
{
	const struct timespec rest = { 0, REST_MS * (long)NS_PER_MS };
	uint64_t own = own_ns(c->w[0]), start = time_ns();

	nanosleep(&rest, NULL);
	return (unsigned)((own_ns(c->w[0]) - own) * 10000 / (time_ns() - start));
}

static int compare(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* From the wire to the counter: the model's share is the same in each. */
static unsigned median_us(struct crew *c)
{
	static uint64_t ns[PACKETS];

	for (unsigned i = 0; i < PACKETS; i++) {
		wait_us(GAP_US);
		ns[i] = time_ns();
		send_some(c, 4, 1);
		all_received(c);
		ns[i] = time_ns() - ns[i];
	}
	qsort(ns, PACKETS, sizeof(ns[0]), compare);
	return (unsigned)(ns[PACKETS / 2] / NS_PER_US);
}

static void rest_costs_what_it_says(void **state)
{
	const struct kind *k = *state;
	bool sleeps = k->idle == FWD_IDLE_SLEEP || k->idle == FWD_IDLE_ADAPTIVE;
	unsigned share, us;
	struct crew c;

	open_crew(&c, k);
	if (sleeps)
		wait_asleep(&c, 0);
	share = share_at_rest(&c);
	us = median_us(&c);
	print_message(
		"%u.%02u %% of a core at rest, %u us from the wire to the counter\n",
		share / 100, share % 100, us);
	if (sleeps)
		assert_in_range(share, 0, 100);
	close_crew(&c);
}

static int set_up(void **state)
{
	(void)state;
	wire = wire_open("eth1");
	return 0;
}

/* Each layout of completions; unless named, the enhanced one (M5_COMPRESSION_AUTO). */
static struct kind sleeping = { .idle = FWD_IDLE_SLEEP, .workers = 1 };
static struct kind cyclic = { .idle = FWD_IDLE_SLEEP,
			      .cyclic = true,
			      .workers = 1,
			      .compression = M5_COMPRESSION_BASIC };
static struct kind adaptive = { .idle = FWD_IDLE_ADAPTIVE,
				.spin_us = 20,
				.pause_us = 60,
				.workers = 1,
				.compression = M5_COMPRESSION_ENHANCED };
static struct kind adaptive_default = {
	.idle = FWD_IDLE_ADAPTIVE, .spin_us = 50, .pause_us = 1000, .workers = 1
};
static struct kind spinning = { .idle = FWD_IDLE_SPIN, .workers = 1 };
static struct kind pausing = { .idle = FWD_IDLE_PAUSE, .workers = 1 };
static struct kind several = { .idle = FWD_IDLE_SLEEP,
			       .workers = RIG_QUEUES,
			       .compression = M5_COMPRESSION_OFF };

#define WITH(kind, test) \
	{ \
#test ", " #kind, test, NULL, NULL, &(kind) \
	}

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH(sleeping, none_is_slept_through),
		WITH(cyclic, none_is_slept_through),
		WITH(adaptive, none_is_slept_through),
		WITH(several, none_is_slept_through),
		WITH(sleeping, what_was_sent_is_reaped),
		WITH(sleeping, a_reset_does_not_deafen),
		WITH(sleeping, sleepers_hear_the_control_thread),
		WITH(sleeping, a_stop_takes_what_was_received),
		WITH(spinning, rest_costs_what_it_says),
		WITH(pausing, rest_costs_what_it_says),
		WITH(sleeping, rest_costs_what_it_says),
		WITH(adaptive_default, rest_costs_what_it_says),
	};

	return cmocka_run_group_tests(tests, set_up, NULL);
}
