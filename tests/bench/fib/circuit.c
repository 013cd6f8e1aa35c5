/* bench/fib/circuit.c - packets that go round through the passes of our loop */

#include "circuit.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

/* The passes are static there. */
#define FWD_CODE fwd_code_circuit /* and not one of the library's */
#include "../../../lib/fwd/loop.c"
#include "packet.h"

enum { START_TTL = 255, HEADROOM = 128, HUGE_PAGE = 2 << 20 };

struct descriptor {
	uint8_t *data;
	uint32_t wqe;
	uint16_t len;
	uint16_t reserved;
};

struct circuit {
	struct fwd_worker worker;
	struct fib_tables *const *live;
	struct m5_rx rx;
	struct descriptor *ring;
	uint32_t mask, head, tail;
	unsigned family, flight;
	uint8_t *memory;
	size_t bytes;
	const uint8_t (*dst)[16];
};

static const uint8_t our_mac[6] = { 2, 0, 0, 0, 0, 1 };

struct fib_nh circuit_nh(uint32_t i)
{
	struct fib_nh nh = { .kind = FIB_NH_FORWARD, .mtu = 1500 };

	memcpy(nh.macs, our_mac, 6);
	nh.macs[6] = 2;
	nh.macs[7] = 1;
	memcpy(nh.macs + 8, &i, sizeof(i));
	return nh;
}

__attribute__((noreturn)) static void die(const char *what)
{
	fprintf(stderr, "circuit: %s\n", what);
	exit(2);
}

static uint8_t *frame_at(const struct circuit *c, unsigned i)
{
	return c->memory + (size_t)i * (HEADROOM + PACKET_ROOM) + HEADROOM;
}

static void fill(struct circuit *c)
{
	const struct fib_nh from = circuit_nh(0);

	for (unsigned i = 0; i < c->flight; i++) {
		struct descriptor *d = &c->ring[i];

		*d = (struct descriptor){ .data = frame_at(c, i), .wqe = i };
		memcpy(d->data, from.macs, sizeof(from.macs));
		d->len = packet_make(d->data, c->family, c->dst[i], START_TTL);
	}
	c->head = 0;
	c->tail = c->flight;
}

static void *map_huge(size_t bytes)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB, -1, 0);

	if (p != MAP_FAILED)
		return p;
	fprintf(stderr, "circuit: no huge pages\n");
	p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED)
		die("no memory");
	return p;
}

struct circuit *circuit_new(struct fib_tables *const *live, unsigned family,
			    unsigned flight, const uint8_t (*dst)[16])
{
	struct circuit *c = aligned_alloc(CACHE_LINE, align_up(sizeof(*c), CACHE_LINE));

	if (!c)
		die("no memory");
	memset(c, 0, sizeof(*c));
	c->live = live;
	c->family = family;
	c->flight = flight;
	c->dst = dst;
	for (c->mask = 1; c->mask < c->flight + FWD_BURST; c->mask *= 2)
		;
	c->ring = aligned_alloc(CACHE_LINE, c->mask-- * sizeof(c->ring[0]));
	if (!c->ring)
		die("no memory");
	c->bytes = align_up((size_t)c->flight * (HEADROOM + PACKET_ROOM), HUGE_PAGE);
	c->memory = map_huge(c->bytes);
	c->worker.n_ports = 1;
	c->worker.port[0] = (struct fwd_port){ .tx = (void *)&c->rx, .up = true };
	c->worker.way_out[0] = c->worker.port[0].tx;
	memcpy(c->worker.port[0].mac, our_mac, sizeof(our_mac));
	fill(c);
	return c;
}

void circuit_free(struct circuit *c)
{
	munmap(c->memory, c->bytes);
	free(c->ring);
	free(c);
}

/* What m5_rx_burst() leaves behind. */
ALWAYS_INLINE void receive(struct circuit *c, struct m5_pkt pkt[], bool l3_ok)
{
	for (uint32_t i = 0; i < FWD_BURST; i++) {
		const struct descriptor *d = &c->ring[c->head++ & c->mask];

		pkt[i].data = d->data;
		__builtin_prefetch(d->data);
		pkt[i].wqe = (uint16_t)d->wqe;
		pkt[i].len = d->len;
		pkt[i].vlan = 0;
		pkt[i].flags = l3_ok ? M5_PKT_L3_OK : 0;
	}
}

/* emit() with this ring for a send queue; what does not go out is missed at the end. */
ALWAYS_INLINE void transmit(struct circuit *c, const struct m5_pkt pkt[], struct row row,
			    bool six)
{
	struct fwd_port_count *n = &c->worker.own[0];

	for (uint32_t i = 0; i < row.n; i++) {
		struct descriptor *d = &c->ring[c->tail++ & c->mask];

		d->data = pkt[i].data;
		d->wqe = pkt[i].wqe;
		d->len = pkt[i].len;
	}
	n->forwarded[six] += row.n;
	n->forwarded_bytes[six] += row.bytes;
	n->egress[six] += row.n;
	n->egress_bytes[six] += row.bytes;
}

/* turn_port() and pass() of packets that are all plain and all leave. */
ALWAYS_INLINE void burst(struct circuit *c, const struct fib_tables *t, bool l3_ok,
			 bool six)
{
	const uint8_t *mac = c->worker.port[0].mac;
	struct m5_pkt pkt[FWD_BURST];
	uint32_t nh[FWD_BURST];
	uint64_t bytes = 0;
	union asked to;

	receive(c, pkt, l3_ok);
	for (uint32_t i = 0; i < FWD_BURST; i++)
		bytes += pkt[i].len;
	c->worker.own[0].received += FWD_BURST;
	c->worker.own[0].received_bytes += bytes;
	if (!all_plain(mac, pkt, FWD_BURST, &to, six))
		return;
	route(NULL, t, pkt, &to, nh, FWD_BURST, six);
	transmit(c, pkt, rewrite_row(t->nh, pkt, nh, FWD_BURST, six), six);
}

static __attribute__((noinline)) void burst4(struct circuit *c,
					     const struct fib_tables *t, bool l3_ok)
{
	burst(c, t, l3_ok, false);
}

static __attribute__((noinline)) void burst6(struct circuit *c,
					     const struct fib_tables *t, bool l3_ok)
{
	burst(c, t, l3_ok, true);
}

void circuit_turn(struct circuit *c, bool l3_ok)
{
	for (unsigned n = 0; n < c->flight; n += FWD_BURST)
		(c->family == 6 ? burst6 : burst4)(c, rcu_read(*c->live), l3_ok);
}

/* ---- is it right? ---- */

static bool is_right(const struct circuit *c, const struct fib_tables *t, unsigned i,
		     unsigned turns)
{
	uint8_t expected[PACKET_BYTES6 + 2] = { 0 };
	const uint8_t *dst = c->dst[i];
	uint32_t host, nh;

	memcpy(&host, dst, sizeof(host));
	host = be32toh(host);
	if (c->family == 4)
		t->lookup4(t->v4, &host, &nh, 1);
	else
		t->lookup6(t->v6, (const uint8_t(*)[16])dst, &nh, 1);
	memcpy(expected, t->nh[nh].macs, 12);
	return nh && !memcmp(frame_at(c, i), expected,
			     packet_make(expected, c->family, dst,
					 (uint8_t)(START_TTL - turns)));
}

uint8_t *circuit_frame(struct circuit *c, unsigned i)
{
	return frame_at(c, i);
}

unsigned circuit_check(struct circuit *c, unsigned turns)
{
	unsigned wrong = c->tail - c->head != c->flight;

	for (unsigned i = 0; i < c->flight; i++)
		wrong += !is_right(c, *c->live, i, turns);
	fill(c);
	return wrong;
}
