/* unit/test_fwd_threads.c - the control thread does all it ever does while workers forward
 *
 *   card --- rx --> worker --> tx --- card        two workers, two ports each
 *                     |  ^
 *             punts, counters, tables, ports: the control thread
 *
 * The card is no thread: it acts in the worker, in the place of fwd/idle.c, so that what is shared
 * is what the worker and the control thread share, and ThreadSanitizer speaks of nothing else.
 * Every frame that leaves must have the addresses of one next hop, whole, by its port; at the end
 * each counter is what the card and the consumer of punts have counted.
 */

#include "../test.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

#include "../../lib/base/rcu.h"
#include "../../lib/base/time.h"
#include "../../lib/fib/fib.h"
#include "../../lib/fwd/trace.h"
#include "../../lib/fwd/worker_inside.h"
#include "../../lib/m5/clock.h"
#include "../../lib/pkt/csum.h"
#include "fake_nic.h"

enum {
	WORKERS = 2,
	PORTS = 2,
	ROUTES = 32, /* 10.<route>.0.0/16 and 2001:db8:<route>::/48 */
	RUN_MS = 1200,
	PATIENCE_MS = 10000,
	SHORT_MS = 20,
};

static struct m5_clock one_clock; /* main() */
static const uint8_t port_mac[PORTS][6] = { { 2, 0, 0, 0, 0, 1 }, { 2, 0, 0, 0, 1, 1 } };

/* ---- the card of one worker: its thread only, until it has stopped ---- */

struct card {
	struct fwd_worker *w;
	struct fake_rx rx[PORTS];
	struct fake_tx tx[PORTS];
	unsigned sending; /* port, for sent() */
	uint64_t rand, offered[PORTS], sent[PORTS], wrong;
};

static struct card card[WORKERS];

/* Worker threads may not share the generator of tests/test.c. */
static uint32_t below(uint64_t *state, uint32_t n)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return (uint32_t)(*state >> 32) % n;
}

static uint32_t make_frame(uint64_t *rand, uint8_t *f, unsigned port)
{
	static const uint8_t source[] = { 2, 0x99, 0x99, 0x99, 0x99, 0x99 };
	static const uint8_t head4[] = { 0x45, 0,  0,	 46, 0, 0,   0,
					 0,    64, 0xfd, 0,  0, 172, 16 };
	static const uint8_t head6[] = { 0x60, 0,    0, 0,    0,    20,	 0x3b,
					 64,   0x20, 1, 0x0d, 0xb8, 0xff };
	bool six = below(rand, 3) == 0;
	uint8_t *ip = f + 14;
	be16_t c;

	memset(f, 0, 74);
	memcpy(f, port_mac[port], 6);
	memcpy(f + 6, source, sizeof(source));
	f[12] = six ? 0x86 : 0x08;
	f[13] = six ? 0xdd : 0;
	if (six) {
		memcpy(ip, head6, sizeof(head6));
		ip[23] = (uint8_t)below(rand, 256);
		memcpy(ip + 24, head6 + 8, 4);
		ip[29] = (uint8_t)below(rand, ROUTES + 1);
		return 74;
	}
	memcpy(ip, head4, sizeof(head4));
	ip[15] = (uint8_t)below(rand, 256);
	ip[16] = 10;
	ip[17] = (uint8_t)below(rand, ROUTES + 1);
	c = csum_of(ip, 20);
	memcpy(ip + 10, &c, 2);
	return 60;
}

/* Addresses of one next hop: its number at five places, its port at two. */
static void macs_of(uint8_t macs[12], uint8_t id, uint8_t port)
{
	memcpy(macs,
	       (const uint8_t[]){ 2, id, port, id, id, 0xaa, 2, id, port, id, 0, 1 }, 12);
}

static void sent(void *arg, const uint8_t *frame, uint32_t len)
{
	struct card *c = arg;
	uint8_t macs[12];
	bool six = frame[12] == 0x86;

	macs_of(macs, frame[1], (uint8_t)c->sending);
	c->wrong += memcmp(frame, macs, 12) || len != (six ? 74 : 60) ||
		    frame[six ? 21 : 22] != 0x3f || (!six && !csum_ip4_ok(frame + 14));
}

static void turn_of_card(struct card *c)
{
	uint8_t f[128];

	for (unsigned p = 0; p < PORTS; p++) {
		for (uint32_t n = below(&c->rand, 70); n; n--) {
			uint32_t len = make_frame(&c->rand, f, p);

			c->offered[p] += fake_rx_frame(&c->rx[p], f, len, true);
		}
		c->sending = p;
		/* One clock for both ways: not before any frame that came. */
		c->tx[p].clock = (uint64_t)c->rx[0].pi + c->rx[1].pi;
		if (below(&c->rand, 4))
			c->sent[p] += fake_tx_run(&c->tx[p], sent, c);
	}
}

/* Workers do not end their turn while `hold`; one that does not is `held`. */
static atomic_bool hold, held;

void fwd_idle(struct fwd_worker *w)
{
	turn_of_card(&card[w->conf.index]);
	while (atomic_load(&hold)) {
		atomic_store(&held, true);
		sched_yield();
	}
}

/* ---- the control thread ---- */

struct control {
	struct fib *fib;
	bool has[2][ROUTES]; /* a route to it, by family */
	uint64_t punts[PORTS][PKT_PUNT_COUNT], bad_punts;
	struct fwd_port_count seen[WORKERS][PORTS];
	uint64_t timed;
	struct fwd_trace *trace[WORKERS];
	uint64_t traced;
};

static struct control ctl;

static struct fib_nh some_hop(void)
{
	static const uint8_t kinds[] = { FIB_NH_BLACKHOLE, FIB_NH_UNREACHABLE,
					 FIB_NH_KERNEL };
	struct fib_nh nh = { .kind = FIB_NH_FORWARD, .mtu = 1500 };
	uint8_t id = (uint8_t)test_below(256);

	nh.port = (uint8_t)test_below(PORTS);
	macs_of(nh.macs, id, nh.port);
	if (test_below(5) == 0)
		nh = (struct fib_nh){ .kind = kinds[test_below(3)] };
	return nh;
}

/* A next hop, or two of them as a group. */
static uint32_t get_hop(void)
{
	struct fib_leg leg[2] = { { .weight = 1 }, { .weight = 2 } };
	const struct fib_group group = { .leg = leg, .n_legs = 2 };
	struct fib_nh nh = some_hop();
	uint32_t hop;

	assert_int_equal(fib_nh_get(ctl.fib, &nh, &leg[0].nh), 0);
	if (test_below(3))
		return leg[0].nh;
	nh = some_hop();
	assert_int_equal(fib_nh_get(ctl.fib, &nh, &leg[1].nh), 0);
	leg[1].down = test_below(3) == 0;
	assert_int_equal(fib_group_get(ctl.fib, &group, &hop), 0);
	fib_nh_put(ctl.fib, leg[0].nh);
	fib_nh_put(ctl.fib, leg[1].nh);
	return hop;
}

static void change_a_route(unsigned family, unsigned i)
{
	struct fib_prefix p;
	char text[64], why[128];

	snprintf(text, sizeof(text), family ? "2001:db8:%x::/48" : "10.%u.0.0/16", i);
	assert_int_equal(fib_prefix_parse(text, 0, &p, why, sizeof(why)), 0);
	if (ctl.has[family][i] && test_below(4) == 0) {
		assert_int_equal(fib_route_del(ctl.fib, &p, FIB_STATIC), 0);
		ctl.has[family][i] = false;
		return;
	}
	assert_int_equal(fib_route_replace(ctl.fib, &p, FIB_STATIC, get_hop(), 0), 0);
	ctl.has[family][i] = true;
}

static void change_routes(void)
{
	for (uint32_t n = 1 + test_below(8); n; n--) {
		unsigned family = test_below(2);

		change_a_route(family, test_below(ROUTES));
	}
	assert_int_equal(fib_commit(ctl.fib), 0);
}

/* A neighbour has another address: a next hop is another one at once. */
static bool renumber(void *arg, uint32_t index, struct fib_nh *nh)
{
	(void)index;
	if (nh->kind != FIB_NH_FORWARD || test_below(2))
		return false;
	macs_of(nh->macs, *(uint8_t *)arg, nh->port);
	return true;
}

static void change_next_hops(void)
{
	uint8_t id = (uint8_t)test_below(256);

	fib_nh_change(ctl.fib, renumber, &id);
}

static void pause_it(struct card *c)
{
	assert_int_equal(fwd_worker_pause(c->w, PATIENCE_MS), 0);
}

/* Carrier lost or found; a port given up for a while. */
static void change_ports(void)
{
	struct card *c = &card[test_below(WORKERS)];

	pause_it(c);
	for (unsigned p = 0; p < PORTS; p++) {
		struct fwd_port port = { .tx = &c->tx[p].tx,
					 .rx_event_fd = -1,
					 .clock = &one_clock };

		port.up = test_below(4) != 0;
		if (test_below(4))
			port.rx = &c->rx[p].rx;
		memcpy(port.mac, port_mac[p], 6);
		fwd_worker_set_port(c->w, p, &port);
	}
	fwd_worker_resume(c->w);
}

/* How long packets stayed; there are never fewer samples. */
static void read_latency(void)
{
	struct histogram sum = { 0 };

	for (unsigned w = 0; w < WORKERS; w++)
		for (unsigned p = 0; p < PORTS; p++)
			histogram_sum(&sum, fwd_worker_latency(card[w].w, p));
	assert_true(histogram_count(&sum) >= ctl.timed);
	ctl.timed = histogram_count(&sum);
	histogram_percentile_ns(&sum, 99);
}

/* Every counter is read whole, and never goes back. */
static void read_counters(void)
{
	for (unsigned w = 0; w < WORKERS; w++)
		for (unsigned p = 0; p < PORTS; p++) {
			const void *at = fwd_worker_port_count(card[w].w, p);
			uint64_t *was = (void *)&ctl.seen[w][p];

			for (size_t i = 0; i < sizeof(ctl.seen[w][p]) / 8; i++) {
				uint64_t is = fwd_read((const uint64_t *)at + i);

				assert_true(is >= was[i]);
				was[i] = is;
			}
			fwd_read(&fwd_worker_count(card[w].w)->turns);
		}
}

static void take_punts(void)
{
	for (unsigned w = 0; w < WORKERS; w++) {
		struct ring *ring = fwd_worker_punt(card[w].w);
		const struct exc_frame *e;

		for (; (e = ring_peek(ring)); ring_pop(ring)) {
			assert_in_range(e->port, 0, PORTS - 1);
			assert_in_range(e->reason, 0, PKT_PUNT_COUNT - 1);
			ctl.punts[e->port][e->reason]++;
			/* As it came: for the port, with its TTL. */
			ctl.bad_punts += memcmp(e->data, port_mac[e->port], 6) ||
					 e->data[e->data[12] == 0x86 ? 21 : 22] != 0x40;
		}
	}
}

/* Records are whole: what came in is told with what was done to it. */
static void take_records(struct fwd_trace *t)
{
	const struct fwd_traced *r;

	for (; (r = ring_peek(fwd_trace_ring(t))); ring_pop(fwd_trace_ring(t))) {
		assert_in_range(r->port, 0, PORTS - 1);
		assert_memory_equal(r->data, port_mac[r->port], 6);
		assert_int_equal(r->captured, r->bytes < 100 ? r->bytes : 100);
		assert_true(r->verdict != PKT_FORWARD ||
			    (r->routed && r->sent_bytes == r->bytes));
		ctl.traced++;
	}
}

static void trace_ends(unsigned w)
{
	struct fwd_trace *t = ctl.trace[w];

	fwd_worker_set_trace(card[w].w, NULL);
	take_records(t);
	while (fwd_worker_has_trace(card[w].w, t))
		sched_yield();
	take_records(t);
	fwd_trace_free(t);
	ctl.trace[w] = NULL;
}

static void traces(void)
{
	const struct fwd_trace_conf conf = { .ports = 1 + test_below(3),
					     .count = 1 + test_below(2000),
					     .bytes = 100,
					     .ring = 64 };
	unsigned w = test_below(WORKERS);

	if (ctl.trace[w]) {
		take_records(ctl.trace[w]);
		if (test_below(3) == 0)
			trace_ends(w);
		return;
	}
	assert_int_equal(fwd_trace_new(&conf, &ctl.trace[w]), 0);
	fwd_worker_set_trace(card[w].w, ctl.trace[w]);
	if (test_below(4) == 0) /* perhaps before the worker has seen it */
		trace_ends(w);
}

static void wake(void)
{
	fwd_worker_wake(card[test_below(WORKERS)].w);
}

/* ---- the test ---- */

static void open_card(struct card *c, unsigned index)
{
	struct fwd_conf conf = { .index = index,
				 .cpu = -1,
				 .burst = index ? 4 : 256,
				 .latency_sample = 1,
				 .live = fib_live(ctl.fib),
				 .punt_ring = 256,
				 .punt_bytes = 1600 };

	memset(c, 0, sizeof(*c));
	c->rand = test_rand() | 1;
	assert_int_equal(fwd_worker_new(&conf, &c->w), 0);
	for (unsigned p = 0; p < PORTS; p++) {
		struct fwd_port port = { .up = true,
					 .rx_event_fd = -1,
					 .clock = &one_clock };

		fake_rx_open(&c->rx[p], 4, 4, 7);
		fake_tx_open(&c->tx[p], 7, p);
		port.rx = &c->rx[p].rx;
		port.tx = &c->tx[p].tx;
		memcpy(port.mac, port_mac[p], 6);
		fwd_worker_set_port(c->w, p, &port);
	}
}

/* What was given to a queue that the worker had not, at the end it has. */
static void give_all_ports(struct card *c)
{
	pause_it(c);
	for (unsigned p = 0; p < PORTS; p++) {
		struct fwd_port port = { .rx = &c->rx[p].rx,
					 .tx = &c->tx[p].tx,
					 .rx_event_fd = -1,
					 .clock = &one_clock,
					 .up = true };

		memcpy(port.mac, port_mac[p], 6);
		fwd_worker_set_port(c->w, p, &port);
	}
	fwd_worker_resume(c->w);
}

static uint64_t sum(const uint64_t *v, size_t n)
{
	uint64_t s = 0;

	for (size_t i = 0; i < n; i++)
		s += v[i];
	return s;
}

static void check_card(struct card *c, uint64_t punted[PORTS])
{
	for (unsigned p = 0; p < PORTS; p++) {
		const struct fwd_port_count *n = fwd_worker_port_count(c->w, p);

		c->sending = p;
		for (unsigned i = 0; i < 4;
		     i++) { /* the last are asked for when it is quiet */
			c->sent[p] += fake_tx_run(&c->tx[p], sent, c);
			m5_tx_reap(&c->tx[p].tx);
		}
		assert_int_equal(n->received, c->offered[p]);
		assert_int_equal(fwd_read_both(n->egress), c->sent[p]);
		assert_int_equal(n->received, sum(n->forwarded, 2) +
						      sum(n->punted, PKT_PUNT_COUNT) +
						      sum(n->dropped, PKT_DROP_COUNT));
		punted[p] += sum(n->punted, PKT_PUNT_COUNT);
		assert_true(m5_tx_idle(&c->tx[p].tx));
		assert_true(c->sent[p] > 1000);
	}
	for (unsigned p = 0; p < PORTS; p++)
		assert_int_equal(fake_rx_out(&c->rx[p]), 0);
	assert_int_equal(c->wrong, 0);
}

static void close_card(struct card *c)
{
	fwd_worker_free(c->w);
	for (unsigned p = 0; p < PORTS; p++) {
		fake_tx_close(&c->tx[p]);
		fake_rx_close(&c->rx[p]);
	}
}

static void (*const acts[])(void) = {
	change_routes, change_next_hops, change_ports, read_counters,
	read_latency,  take_punts,	 wake,	       traces,
};

static void control_and_workers(void **state)
{
	uint64_t punted[PORTS] = { 0 }, end;

	(void)state;
	assert_int_equal(fib_new(&(struct fib_conf){ .max_nexthops = 2000 }, &ctl.fib),
			 0);
	change_routes();
	for (unsigned w = 0; w < WORKERS; w++)
		open_card(&card[w], w);
	for (unsigned w = 0; w < WORKERS; w++)
		assert_int_equal(fwd_worker_start(card[w].w), 0);
	end = time_ns() + RUN_MS * NS_PER_MS;
	while (time_ns() < end)
		acts[test_below(sizeof(acts) / sizeof(acts[0]))]();
	for (unsigned w = 0; w < WORKERS; w++)
		if (ctl.trace[w])
			trace_ends(w);
	assert_true(ctl.traced > 0);
	for (unsigned w = 0; w < WORKERS; w++)
		give_all_ports(&card[w]);
	for (unsigned w = 0; w < WORKERS; w++)
		fwd_worker_stop(card[w].w);
	take_punts();
	for (unsigned w = 0; w < WORKERS; w++)
		check_card(&card[w], punted);
	for (unsigned p = 0; p < PORTS; p++)
		assert_int_equal(sum(ctl.punts[p], PKT_PUNT_COUNT), punted[p]);
	assert_int_equal(ctl.bad_punts, 0);
	read_latency();
	assert_true(ctl.timed > 0);
	for (unsigned w = 0; w < WORKERS; w++)
		close_card(&card[w]);
	fib_free(ctl.fib);
}

/* It is told so, may ask again, and the worker goes on as if nothing had been. */
static void no_end_of_a_turn_is_waited_for_in_vain(void **state)
{
	struct card *c = &card[0];
	uint64_t start;

	(void)state;
	assert_int_equal(fib_new(&(struct fib_conf){ .max_nexthops = 2000 }, &ctl.fib),
			 0);
	open_card(c, 0);
	assert_int_equal(fwd_worker_pause(c->w, 0), 0); /* it has not begun */
	fwd_worker_resume(c->w);
	assert_int_equal(fwd_worker_start(c->w), 0);
	atomic_store(&hold, true);
	while (!atomic_load(&held))
		sched_yield();
	start = time_ns();
	assert_int_equal(fwd_worker_pause(c->w, SHORT_MS), -ETIMEDOUT);
	assert_true(time_ns() - start >= SHORT_MS * NS_PER_MS);
	assert_int_equal(fwd_worker_pause(c->w, SHORT_MS), -ETIMEDOUT);
	atomic_store(&hold, false);
	pause_it(c);
	pause_it(c); /* it is */
	fwd_worker_resume(c->w);
	fwd_worker_stop(c->w);
	close_card(c);
	fib_free(ctl.fib);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(control_and_workers),
		cmocka_unit_test(no_end_of_a_turn_is_waited_for_in_vain),
	};

	m5_clock_init(&one_clock, PRM_TS_FREE_RUNNING, 1000000, 64);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
