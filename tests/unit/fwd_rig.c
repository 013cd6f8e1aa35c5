/* unit/fwd_rig.c - a worker between fake ports */

#include "fwd_rig.h"

#include <string.h>

#include "../../lib/pkt/csum.h"
#include "../test.h"

/* In the place of fwd/idle.c: a turn that found nothing ends the test's run. */
void fwd_idle(struct fwd_worker *w)
{
	atomic_store(&w->stop, true);
}

CACHE_ALIGNED const uint32_t buckets[1 << LOG_BUCKETS] = {
	NH_TO_1, NH_TO_0, NH_BLACKHOLE, NH_TO_1, NH_SMALL, NH_NONE, NH_TO_0, NH_TO_1,
};

struct fib_nh nh[NH_COUNT] = {
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
	[NH_GROUP] = { .kind = FIB_NH_GROUP }, /* .group: open_rig() */
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

struct watched watched;

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

static const uint8_t port_mac[3][6] = { { 2, 0, 0, 0, 0, 1 },
					{ 2, 0, 0, 0, 1, 1 },
					{ 2, 0, 0, 0, 2, 1 } };

uint32_t punt_ring = 64;

void open_rig(struct rig *rig, unsigned log_chunks, unsigned log_strides,
	      unsigned log_stride_bytes, unsigned log_tx)
{
	struct fwd_conf conf = {
		.cpu = -1, .live = &live, .punt_ring = punt_ring, .punt_bytes = 1600
	};

	nh[NH_GROUP].group = (uintptr_t)buckets | LOG_BUCKETS;
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

void close_rig(struct rig *rig)
{
	fwd_worker_free(rig->w);
	for (unsigned p = 0; p < 3; p++)
		fake_tx_close(&rig->tx[p]);
	for (unsigned p = 0; p < 2; p++)
		fake_rx_close(&rig->rx[p]);
}

void run_loop(struct rig *rig)
{
	atomic_store(&rig->w->stop, false);
	rig->w->code->loop(rig->w);
}

static void keep_last(void *arg, const uint8_t *frame, uint32_t len)
{
	struct rig *rig = arg;

	memcpy(rig->last, frame, len);
	rig->last_len = len;
}

/* The card sends what is posted; another turn takes the completions. */
void run_card(struct rig *rig)
{
	for (unsigned p = 0; p < 3; p++)
		rig->sent[p] += fake_tx_run(&rig->tx[p], keep_last, rig);
	run_loop(rig);
}

void empty_punts(struct rig *rig)
{
	while (ring_peek(&rig->w->punt))
		ring_pop(&rig->w->punt);
}

/* ---- frames ---- */

uint32_t make4(uint8_t *f, unsigned port, uint8_t key, uint8_t ttl, uint32_t ip_len)
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

uint32_t make6(uint8_t *f, unsigned port, uint8_t key, uint8_t hops)
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

void check_conservation(const struct rig *rig)
{
	for (unsigned p = 0; p < 2; p++) {
		const struct fwd_port_count *c = fwd_worker_port_count(rig->w, p);

		assert_int_equal(c->received, c->forwarded[0] + c->forwarded[1] +
						      sum(c->punted, PKT_PUNT_COUNT) +
						      sum(c->dropped, PKT_DROP_COUNT));
	}
}
