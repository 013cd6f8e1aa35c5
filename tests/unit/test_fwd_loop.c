/* unit/test_fwd_loop.c - the packet loop between two fake ports
 *
 *   port 0 rx --> worker --> port 1 tx        routes: 10/8 and 2001:db8::/32 to port 1,
 *   port 1 rx -->        --> port 0 tx        172/8 and 2001:db9::/32 to port 0
 */

#include "../test.h"

#include <stdlib.h>
#include <string.h>

#include "../../lib/base/rcu.h"
#include "../../lib/fwd/worker_inside.h"
#include "../../lib/pkt/csum.h"
#include "../../lib/pkt/flow_hot.h"
#include "fake_nic.h"

/* In the place of fwd/idle.c: a turn that found nothing ends the test's run. */
void fwd_idle(struct fwd_worker *w)
{
	atomic_store(&w->stop, true);
}

enum {
	NH_NONE,
	NH_TO_1,
	NH_TO_0,
	NH_BLACKHOLE,
	NH_UNREACHABLE,
	NH_SMALL,
	NH_DOWN,
	NH_ABSENT,
	NH_GROUP,
	NH_TAG_1,
	NH_TAG_0,
	NH_COUNT
};

enum { LOG_BUCKETS = 3, SEED = 99 };
static CACHE_ALIGNED const uint32_t buckets[1 << LOG_BUCKETS] = {
	NH_TO_1, NH_TO_0, NH_BLACKHOLE, NH_TO_1, NH_SMALL, NH_NONE, NH_TO_0, NH_TO_1,
};

static struct fib_nh nh[NH_COUNT] = {
	[NH_NONE] = { .kind = FIB_NH_NONE },
	[NH_TO_1] = { .macs = { 2, 0, 0, 0, 1, 0xaa, 2, 0, 0, 0, 1, 1 },
		      .kind = FIB_NH_FORWARD,
		      .port = 1,
		      .mtu = 1500 },
	[NH_TO_0] = { .macs = { 2, 0, 0, 0, 0, 0xaa, 2, 0, 0, 0, 0, 1 },
		      .kind = FIB_NH_FORWARD,
		      .port = 0,
		      .mtu = 1500 },
	[NH_BLACKHOLE] = { .kind = FIB_NH_BLACKHOLE },
	[NH_UNREACHABLE] = { .kind = FIB_NH_UNREACHABLE },
	[NH_SMALL] = { .kind = FIB_NH_FORWARD, .port = 1, .mtu = 40 },
	[NH_DOWN] = { .kind = FIB_NH_FORWARD, .port = 2, .mtu = 1500 },
	[NH_ABSENT] = { .kind = FIB_NH_FORWARD, .port = 3, .mtu = 1500 },
	[NH_GROUP] = { .kind = FIB_NH_GROUP }, /* .group: main() */
	[NH_TAG_1] = { .macs = { 2, 0, 0, 0, 1, 0xbb, 2, 0, 0, 0, 1, 1 },
		       .kind = FIB_NH_FORWARD,
		       .port = 1,
		       .vlan = 100,
		       .mtu = 1500 },
	[NH_TAG_0] = { .macs = { 2, 0, 0, 0, 0, 0xbb, 2, 0, 0, 0, 0, 1 },
		       .kind = FIB_NH_FORWARD,
		       .port = 0,
		       .vlan = 4094,
		       .mtu = 1500 },
};

/* First byte of an IPv4 address, fourth of an IPv6 address -> next hop. */
static uint32_t next_hop(uint8_t key)
{
	switch (key) {
	case 10:
	case 0xb8:
		return NH_TO_1;
	case 172:
	case 0xb9:
		return NH_TO_0;
	case 20:
		return NH_BLACKHOLE;
	case 21:
		return NH_UNREACHABLE;
	case 22:
		return NH_SMALL;
	case 23:
		return NH_DOWN;
	case 24:
		return NH_ABSENT;
	case 25:
	case 0xba:
		return NH_GROUP;
	case 26:
	case 0xbb:
		return NH_TAG_1;
	case 27:
		return NH_TAG_0;
	}
	return NH_NONE;
}

static struct {
	const struct fwd_worker *w; /* NULL: nobody looks */
	unsigned bursts;
	uint64_t seen; /* received, as published */
} watched;

static void lookup4(const void *t, const uint32_t *addr, uint32_t *out, uint32_t n)
{
	(void)t;
	if (watched.w) {
		watched.bursts++;
		watched.seen = fwd_worker_port_count(watched.w, 0)->received;
	}
	for (uint32_t i = 0; i < n; i++)
		out[i] = next_hop((uint8_t)(addr[i] >> 24));
}

static void lookup6(const void *t, const uint8_t (*addr)[16], uint32_t *out, uint32_t n)
{
	(void)t;
	for (uint32_t i = 0; i < n; i++)
		out[i] = next_hop(addr[i][3]);
}

static struct fib_tables tables = { .nh = nh,
				    .lookup4 = lookup4,
				    .lookup6 = lookup6,
				    .flow_seed = SEED,
				    .has_groups = true };
static struct fib_tables *live = &tables;

/* ---- the rig ---- */

struct rig {
	struct fwd_worker *w;
	struct fake_rx rx[2];
	struct fake_tx tx[3];
	uint32_t sent[3];
	uint8_t last[2048];
	uint32_t last_len;
};

static const uint8_t port_mac[3][6] = { { 2, 0, 0, 0, 0, 1 },
					{ 2, 0, 0, 0, 1, 1 },
					{ 2, 0, 0, 0, 2, 1 } };

static uint32_t punt_ring = 64;

static void open_rig(struct rig *rig, unsigned log_chunks, unsigned log_strides,
		     unsigned log_stride_bytes, unsigned log_tx)
{
	struct fwd_conf conf = {
		.cpu = -1, .live = &live, .punt_ring = punt_ring, .punt_bytes = 1600
	};

	memset(rig, 0, sizeof(*rig));
	assert_int_equal(fwd_worker_new(&conf, &rig->w), 0);
	for (unsigned p = 0; p < 3; p++) {
		struct fwd_port port = { .up = p != 2, .rx_event_fd = -1 };

		memcpy(port.mac, port_mac[p], 6);
		fake_tx_open(&rig->tx[p], log_tx, p);
		port.tx = &rig->tx[p].tx;
		if (p < 2) {
			fake_rx_open(&rig->rx[p], log_chunks, log_strides,
				     log_stride_bytes);
			port.rx = &rig->rx[p].rx;
		}
		fwd_worker_set_port(rig->w, p, &port);
	}
}

static void close_rig(struct rig *rig)
{
	fwd_worker_free(rig->w);
	for (unsigned p = 0; p < 3; p++)
		fake_tx_close(&rig->tx[p]);
	for (unsigned p = 0; p < 2; p++)
		fake_rx_close(&rig->rx[p]);
}

static void run_loop(struct rig *rig)
{
	atomic_store(&rig->w->stop, false);
	fwd_loop(rig->w);
}

static void keep_last(void *arg, const uint8_t *frame, uint32_t len)
{
	struct rig *rig = arg;

	memcpy(rig->last, frame, len);
	rig->last_len = len;
}

/* The card sends what is posted; another turn takes the completions. */
static void run_card(struct rig *rig)
{
	for (unsigned p = 0; p < 3; p++)
		rig->sent[p] += fake_tx_run(&rig->tx[p], keep_last, rig);
	run_loop(rig);
}

static void empty_punts(struct rig *rig)
{
	while (ring_peek(&rig->w->punt))
		ring_pop(&rig->w->punt);
}

/* ---- frames ---- */

static uint32_t make4(uint8_t *f, unsigned port, uint8_t key, uint8_t ttl,
		      uint32_t ip_len)
{
	uint8_t *ip = f + 14;
	be16_t c;

	memset(f, 0, 14 + ip_len < 60 ? 60 : 14 + ip_len);
	memcpy(f, port_mac[port], 6);
	f[6] = 2;
	f[11] = 0x99;
	f[12] = 8;
	ip[0] = 0x45;
	ip[2] = (uint8_t)(ip_len >> 8);
	ip[3] = (uint8_t)ip_len;
	ip[8] = ttl;
	ip[9] = 17;
	ip[12] = 192;
	ip[15] = 1;
	ip[16] = key;
	ip[19] = 7;
	c = csum_of(ip, 20);
	memcpy(ip + 10, &c, 2);
	return 14 + ip_len < 60 ? 60 : 14 + ip_len;
}

static uint32_t make6(uint8_t *f, unsigned port, uint8_t key, uint8_t hops)
{
	uint8_t *ip = f + 14;

	memset(f, 0, 74);
	memcpy(f, port_mac[port], 6);
	f[6] = 2;
	f[11] = 0x99;
	f[12] = 0x86;
	f[13] = 0xdd;
	ip[0] = 0x60;
	ip[5] = 20;
	ip[6] = 59;
	ip[7] = hops;
	memcpy(ip + 8, (uint8_t[]){ 0x20, 1, 0xd, 0xb8 }, 4);
	memcpy(ip + 24, (uint8_t[]){ 0x20, 1, 0xd, key }, 4);
	ip[39] = 1;
	return 74;
}

/* ---- tests ---- */

static uint64_t sum(const uint64_t *v, size_t n)
{
	uint64_t s = 0;

	for (size_t i = 0; i < n; i++)
		s += v[i];
	return s;
}

static void check_conservation(const struct rig *rig)
{
	for (unsigned p = 0; p < 2; p++) {
		const struct fwd_port_count *c = fwd_worker_port_count(rig->w, p);

		assert_int_equal(c->received, c->forwarded[0] + c->forwarded[1] +
						      sum(c->punted, PKT_PUNT_COUNT) +
						      sum(c->dropped, PKT_DROP_COUNT));
	}
}

static void ip4_goes_through(void **state)
{
	struct rig rig;
	uint8_t f[128];
	uint32_t len;

	(void)state;
	open_rig(&rig, 4, 4, 7, 6);
	len = make4(f, 0, 10, 64, 50);
	assert_true(fake_rx_frame(&rig.rx[0], f, len, true));
	run_loop(&rig);
	run_card(&rig);
	assert_int_equal(rig.sent[1], 1);
	assert_int_equal(rig.last_len, 64);
	assert_memory_equal(rig.last, nh[NH_TO_1].macs, 12);
	assert_int_equal(rig.last[22], 63);
	assert_true(csum_ip4_ok(rig.last + 14));
	assert_int_equal(fwd_worker_port_count(rig.w, 0)->forwarded[0], 1);
	assert_int_equal(fwd_worker_port_count(rig.w, 1)->egress, 1);
	assert_int_equal(fake_rx_out(&rig.rx[0]), 0);
	close_rig(&rig);
}

static void ip6_goes_through_and_hairpins(void **state)
{
	struct rig rig;
	uint8_t f[128];

	(void)state;
	open_rig(&rig, 4, 0, 11, 6);
	fake_rx_frame(&rig.rx[1], f, make6(f, 1, 0xb9, 9), false);
	fake_rx_frame(&rig.rx[1], f, make6(f, 1, 0xb8, 9), false);
	run_loop(&rig);
	run_card(&rig);
	assert_int_equal(rig.sent[0], 1);
	assert_int_equal(rig.sent[1], 1);
	assert_int_equal(rig.last[21], 8);
	assert_int_equal(fwd_worker_port_count(rig.w, 1)->forwarded[1], 2);
	close_rig(&rig);
}

static void every_kind_of_next_hop_has_its_exit(void **state)
{
	static const struct {
		uint8_t key;
		int punt, drop;
	} rows[] = {
		{ 99, PKT_PUNT_NO_ROUTE, -1 },	  { 20, -1, PKT_DROP_BLACKHOLE },
		{ 21, PKT_PUNT_UNREACHABLE, -1 }, { 22, PKT_PUNT_MTU, -1 },
		{ 23, -1, PKT_DROP_LINK_DOWN },	  { 24, -1, PKT_DROP_PORT_DOWN },
	};
	const struct fwd_port_count *c;
	struct rig rig;
	uint8_t f[128];

	(void)state;
	open_rig(&rig, 4, 4, 7, 6);
	c = fwd_worker_port_count(rig.w, 0);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		uint32_t len = make4(f, 0, rows[i].key, 64, 50);

		assert_true(fake_rx_frame(&rig.rx[0], f, len, true));
		run_loop(&rig);
		if (rows[i].drop >= 0) {
			assert_int_equal(c->dropped[rows[i].drop], 1);
			assert_null(ring_peek(&rig.w->punt));
			continue;
		}
		assert_int_equal(c->punted[rows[i].punt], 1);
		/* For the kernel it is as it came. */
		assert_memory_equal(((struct exc_frame *)ring_peek(&rig.w->punt))->data,
				    f, len);
		ring_pop(&rig.w->punt);
	}
	check_conservation(&rig);
	assert_int_equal(fake_rx_out(&rig.rx[0]), 0);
	close_rig(&rig);
}

static void a_full_punt_ring_drops_and_counts(void **state)
{
	struct rig rig;
	uint8_t f[128];

	(void)state;
	open_rig(&rig, 4, 4, 7, 6);
	for (int i = 0; i < 100; i++)
		assert_true(fake_rx_frame(&rig.rx[0], f, make4(f, 0, 99, 64, 50), true));
	run_loop(&rig);
	assert_int_equal(fwd_worker_port_count(rig.w, 0)->punted[PKT_PUNT_NO_ROUTE], 64);
	assert_int_equal(fwd_worker_port_count(rig.w, 0)->dropped[PKT_DROP_PUNT_FULL],
			 36);
	assert_int_equal(fake_rx_out(&rig.rx[0]), 0);
	close_rig(&rig);
}

/* The egress card does not send: its ring fills, the rest is dropped, the other port goes on. */
static void a_full_send_ring_drops_and_blocks_nobody(void **state)
{
	struct rig rig;
	uint8_t f[128];
	const struct fwd_port_count *c;

	(void)state;
	open_rig(&rig, 4, 5, 7, 6);
	c = fwd_worker_port_count(rig.w, 0);
	for (int i = 0; i < 400; i++)
		assert_true(fake_rx_frame(&rig.rx[0], f, make4(f, 0, 10, 64, 50), true));
	assert_true(fake_rx_frame(&rig.rx[1], f, make4(f, 1, 172, 64, 50), true));
	run_loop(&rig);
	/* A block holds four packets, less what WQEs begin with. */
	assert_in_range(c->forwarded[0], 3 * 64, 4 * 64);
	assert_int_equal(c->dropped[PKT_DROP_TX_FULL], 400 - c->forwarded[0]);
	assert_int_equal(c->forwarded_bytes[0], 64 * c->forwarded[0]);
	assert_int_equal(fwd_worker_port_count(rig.w, 1)->forwarded[0], 1);
	run_card(&rig);
	assert_int_equal(rig.sent[1], c->forwarded[0]);
	assert_int_equal(rig.sent[0], 1);
	assert_int_equal(fake_rx_out(&rig.rx[0]), 0);
	check_conservation(&rig);
	close_rig(&rig);
}

static void a_tagged_next_hop_tags(void **state)
{
	static const uint8_t keys[] = { 26, 27, 10, 26, 26 };
	struct rig rig;
	uint8_t f[128];

	(void)state;
	open_rig(&rig, 4, 4, 7, 6);
	/* Alone, after others, in a row. */
	for (size_t i = 0; i < ARRAY_LEN(keys); i++)
		assert_true(
			fake_rx_frame(&rig.rx[0], f, make4(f, 0, keys[i], 64, 50), true));
	run_loop(&rig);
	run_card(&rig);
	assert_int_equal(rig.sent[0], 1);
	assert_int_equal(rig.sent[1], 4);
	assert_int_equal(rig.last_len, 68);
	assert_memory_equal(rig.last, nh[NH_TAG_1].macs, 12);
	assert_memory_equal(rig.last + 12, ((uint8_t[]){ 0x81, 0, 0, 100, 8, 0 }), 6);
	assert_true(csum_ip4_ok(rig.last + 18));
	fake_rx_frame(&rig.rx[1], f, make6(f, 1, 0xbb, 9), false);
	run_loop(&rig);
	run_card(&rig);
	assert_memory_equal(rig.last + 12, ((uint8_t[]){ 0x81, 0, 0, 100, 0x86, 0xdd }),
			    6);
	check_conservation(&rig);
	close_rig(&rig);
}

/* ---- company ---- */

/* What became of a packet: where it went, and with what bytes. */
struct fate {
	enum { NOWHERE, SENT, PUNTED } exit;
	unsigned where; /* port or reason */
	uint32_t len;
	uint8_t bytes[512];
};

enum { COMPANY = 3000, ID_AT4 = 14 + 4, ID_AT6 = 14 + 22 };

static struct fate fates_alone[COMPANY], fates_among[COMPANY];
static struct {
	struct fate *fate;
	unsigned port;
} keeping;

static void keep(const uint8_t *frame, uint32_t len, unsigned exit, unsigned where)
{
	const uint8_t *ip = frame + (frame[12] == 0x81 ? 4 : 0);
	const uint8_t *id = ip + (ip[12] == 8 ? ID_AT4 : ID_AT6);
	uint32_t i = (uint32_t)id[0] << 8 | id[1];
	struct fate *fate;

	assert_in_range(i, 0, COMPANY - 1);
	fate = &keeping.fate[i];
	assert_int_equal(fate->exit, NOWHERE); /* once */
	*fate = (struct fate){ .exit = exit, .where = where, .len = len };
	assert_in_range(len, 1, sizeof(fate->bytes));
	memcpy(fate->bytes, frame, len);
}

static void keep_sent(void *arg, const uint8_t *frame, uint32_t len)
{
	(void)arg;
	keep(frame, len, SENT, keeping.port);
}

static void keep_all(struct rig *rig)
{
	const struct exc_frame *e;

	run_loop(rig);
	for (keeping.port = 0; keeping.port < 3; keeping.port++)
		rig->sent[keeping.port] +=
			fake_tx_run(&rig->tx[keeping.port], keep_sent, NULL);
	run_loop(rig);
	for (; (e = ring_peek(&rig->w->punt)); ring_pop(&rig->w->punt))
		keep(e->data, e->len, PUNTED, e->reason);
}

/* Nearly all that a burst may have; what tells packets apart is in each. */
static uint32_t make_any(uint8_t *f, uint32_t id)
{
	static const uint8_t keys4[] = {
		10, 10, 172, 26, 27, 25, 20, 22, 23, 24, 240, 99
	};
	static const uint8_t keys6[] = { 0xb8, 0xb8, 0xb9, 0xba, 0xbb, 0xbc };
	bool six = test_below(3) == 0;
	uint32_t len = six ? make6(f, 0, keys6[test_below(sizeof(keys6))], 64)
			   : make4(f, 0, keys4[test_below(sizeof(keys4))], 64,
				   20 + test_below(90));
	uint8_t *at = f + (six ? ID_AT6 : ID_AT4);
	be16_t c = { 0 };

	at[0] = (uint8_t)(id >> 8);
	at[1] = (uint8_t)id;
	switch (test_below(40)) {
	case 1:
		f[six ? 21 : 22] = 1; /* TTL */
		break;
	case 2:
		f[5] ^= 1; /* for another station */
		break;
	case 3:
		f[six ? 19 : 17]++; /* longer than it is, or not */
		break;
	}
	if (!six) {
		memcpy(f + 24, &c, 2);
		c = csum_of(f + 14, 20);
		memcpy(f + 24, &c, 2);
	}
	if (test_below(40))
		return len;
	memmove(f + 16, f + 12, len - 12);
	memcpy(f + 12, "\x81\0\xe0\0", 4); /* priority tag */
	return len + 4;
}

/* The same packets, one by one and in bursts of every size among all others. */
static void a_packets_fate_is_not_its_companys(void **state)
{
	static uint8_t frames[COMPANY][128];
	static uint32_t len[COMPANY];
	struct rig alone, among;
	uint32_t i = 0;

	(void)state;
	memset(fates_alone, 0, sizeof(fates_alone));
	memset(fates_among, 0, sizeof(fates_among));
	punt_ring = 512;
	open_rig(&alone, 6, 4, 7, 9);
	open_rig(&among, 6, 4, 7, 9);
	punt_ring = 64;
	keeping.fate = fates_alone;
	for (i = 0; i < COMPANY; i++) {
		len[i] = make_any(frames[i], i);
		assert_true(fake_rx_frame(&alone.rx[0], frames[i], len[i], i & 1));
		keep_all(&alone);
	}
	keeping.fate = fates_among;
	for (i = 0; i < COMPANY;) {
		uint32_t n = 1 + test_below(300);

		among.w->conf.burst = 4 + test_below(FWD_BURST_MAX - 3);
		for (; n && i < COMPANY; n--, i++)
			assert_true(fake_rx_frame(&among.rx[0], frames[i], len[i],
						  test_below(20) != 0));
		keep_all(&among);
	}
	for (i = 0; i < 4; i++) /* the last completions come when nothing else does */
		keep_all(&among);
	for (i = 0; i < COMPANY; i++)
		assert_memory_equal(&fates_alone[i], &fates_among[i],
				    sizeof(struct fate));
	for (unsigned p = 0; p < 2; p++)
		assert_memory_equal(fwd_worker_port_count(alone.w, p),
				    fwd_worker_port_count(among.w, p),
				    sizeof(struct fwd_port_count));
	assert_true(alone.sent[0] > 100 && alone.sent[1] > 100);
	check_conservation(&among);
	assert_int_equal(fake_rx_out(&among.rx[0]), 0);
	close_rig(&alone);
	close_rig(&among);
}

/* Others see what was counted also when there is no end of packets. */
static void counters_are_published_under_load(void **state)
{
	enum { BURST = 4, BURSTS = 300 };
	struct rig rig;
	uint8_t f[128];

	(void)state;
	open_rig(&rig, 7, 4, 7, 11);
	rig.w->conf.burst = BURST;
	for (unsigned i = 0; i < BURST * BURSTS; i++)
		assert_true(fake_rx_frame(&rig.rx[0], f, make4(f, 0, 10, 64, 50), true));
	watched.w = rig.w;
	watched.bursts = 0;
	run_loop(&rig);
	watched.w = NULL;
	assert_int_equal(watched.bursts, BURSTS);
	assert_int_equal(watched.seen, BURST * 256);
	assert_int_equal(fwd_worker_port_count(rig.w, 0)->received, BURST * BURSTS);
	close_rig(&rig);
}

/* Random traffic over many laps of every ring and of the 16-bit indexes. */
static void run_random(unsigned log_chunks, unsigned log_strides,
		       unsigned log_stride_bytes)
{
	static const uint8_t keys[] = { 10, 172, 25, 172, 20, 21, 22, 23, 24, 99 };
	struct rig rig;
	uint8_t f[2048];
	uint64_t in = 0, handled;

	open_rig(&rig, log_chunks, log_strides, log_stride_bytes, 7);
	while (in < 150000) {
		uint32_t burst = 1 + test_below(100);

		for (uint32_t i = 0; i < burst; i++) {
			unsigned port = test_below(2);
			uint8_t key = keys[test_below(sizeof(keys))];
			uint32_t len =
				test_below(4)
					? make4(f, port, key, 64, 20 + test_below(400))
					: make6(f, port, 0xb8 + (uint8_t)test_below(4),
						64);

			if (test_below(50) == 0)
				f[test_below(34)] ^= (uint8_t)(1u << test_below(8));
			in += fake_rx_frame(&rig.rx[port], f, len, false);
		}
		run_loop(&rig);
		if (test_below(3))
			run_card(&rig);
		empty_punts(&rig);
	}
	for (unsigned i = 0; i < 4;
	     i++) /* the last completions are asked for when all is quiet */
		run_card(&rig);
	handled = fwd_worker_port_count(rig.w, 0)->received +
		  fwd_worker_port_count(rig.w, 1)->received;
	assert_int_equal(handled, in);
	check_conservation(&rig);
	for (unsigned p = 0; p < 2; p++) {
		assert_int_equal(fake_rx_out(&rig.rx[p]), 0);
		assert_int_equal(rig.rx[p].rx.out_of_step, 0);
		assert_int_equal(rig.sent[p], fwd_worker_port_count(rig.w, p)->egress);
	}
	close_rig(&rig);
}

static void striding_queues_survive_laps(void **state)
{
	(void)state;
	run_random(4, 5, 7); /* packets of up to four strides: fillers too */
}

static void cyclic_queues_survive_laps(void **state)
{
	(void)state;
	run_random(8, 0, 9);
}

static void an_error_completion_stops_only_its_queue(void **state)
{
	struct rig rig;
	uint8_t f[128], *e;

	(void)state;
	open_rig(&rig, 4, 4, 7, 6);
	e = (uint8_t *)&rig.rx[0].rx.cq.entry[0];
	memset(e, 0, 63);
	e[54] = 0x51;
	e[55] = 0x04;
	e[63] = 14 << 4;
	assert_true(fake_rx_frame(&rig.rx[1], f, make4(f, 1, 172, 64, 50), true));
	run_loop(&rig);
	assert_true(m5_rx_failed(&rig.rx[0].rx));
	assert_int_equal(rig.rx[0].rx.syndrome, 0x04);
	assert_int_equal(rig.rx[0].rx.vendor_syndrome, 0x51);
	assert_int_equal(fwd_worker_port_count(rig.w, 1)->forwarded[0], 1);
	close_rig(&rig);
}

/* One of many flows to the group, or a packet that has nothing to do with it; *ret_leg is the
 * next hop it must meet. */
static uint32_t make_flow(uint8_t *f, uint32_t i, uint32_t *ret_leg)
{
	bool six = i % 3 == 0;
	uint32_t len = six ? make6(f, 0, 0xba, 9) : make4(f, 0, 25, 64, 46);
	uint8_t *ip = f + 14;
	be16_t sum = { 0 };

	*ret_leg = NH_TO_0;
	if (i % 7 == 0)
		return make4(f, 0, 172, 64, 46);
	ip[six ? 23 : 15] = (uint8_t)i;	       /* source */
	ip[six ? 40 : 21] = (uint8_t)(i >> 4); /* no header that we know; a port */
	if (!six) {
		memcpy(ip + 10, &sum, 2);
		sum = csum_of(ip, 20);
		memcpy(ip + 10, &sum, 2);
	}
	*ret_leg = buckets[pkt_flow_hash(ip, six ? 60 : 46, six ? 6 : 4, SEED) %
			   ARRAY_LEN(buckets)];
	return len;
}

/* Each packet meets what the leg of its flow does, alone or among others. */
static void a_group_sends_each_flow_to_its_leg(void **state)
{
	const struct fwd_port_count *c;
	uint32_t met[NH_COUNT] = { 0 }, leg;
	struct rig rig;
	uint8_t f[128];

	(void)state;
	open_rig(&rig, 6, 4, 7, 9);
	c = fwd_worker_port_count(rig.w, 0);
	for (uint32_t i = 0; i < 400; i++) {
		uint32_t len = make_flow(f, i, &leg);

		met[leg]++;
		assert_true(fake_rx_frame(&rig.rx[0], f, len, false));
		if (i % 50)
			continue;
		run_loop(&rig);
		run_card(&rig);
		empty_punts(&rig);
	}
	run_loop(&rig);
	run_card(&rig);
	assert_int_equal(rig.sent[1], met[NH_TO_1]);
	assert_int_equal(rig.sent[0], met[NH_TO_0]);
	assert_int_equal(c->dropped[PKT_DROP_BLACKHOLE], met[NH_BLACKHOLE]);
	assert_int_equal(c->punted[PKT_PUNT_MTU], met[NH_SMALL]);
	assert_int_equal(c->punted[PKT_PUNT_NO_ROUTE], met[NH_NONE]);
	for (leg = 0; leg < NH_UNREACHABLE; leg++)
		assert_true(met[leg] > 20);
	check_conservation(&rig);
	close_rig(&rig);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(ip4_goes_through),
	cmocka_unit_test(ip6_goes_through_and_hairpins),
	cmocka_unit_test(every_kind_of_next_hop_has_its_exit),
	cmocka_unit_test(a_group_sends_each_flow_to_its_leg),
	cmocka_unit_test(a_full_punt_ring_drops_and_counts),
	cmocka_unit_test(a_full_send_ring_drops_and_blocks_nobody),
	cmocka_unit_test(a_tagged_next_hop_tags),
	cmocka_unit_test(a_packets_fate_is_not_its_companys),
	cmocka_unit_test(counters_are_published_under_load),
	cmocka_unit_test(striding_queues_survive_laps),
	cmocka_unit_test(cyclic_queues_survive_laps),
	cmocka_unit_test(an_error_completion_stops_only_its_queue),
};

int main(void)
{
	int r;

	nh[NH_GROUP].group = (uintptr_t)buckets | LOG_BUCKETS;
	rcu_reader_start();
	r = cmocka_run_group_tests(tests, NULL, NULL);
	rcu_reader_stop();
	return r;
}
