/* unit/fwd_rig.h - a worker between fake ports
 *
 *   port 0 rx --> worker --> port 1 tx        routes: 10/8 and 2001:db8::/32 to port 1,
 *   port 1 rx -->        --> port 0 tx        172/8 and 2001:db9::/32 to port 0
 *
 * Port 2 is down, port 3 absent. The loop ends when it has found nothing.
 */
#pragma once

#include "../../lib/fwd/worker_inside.h"
#include "fake_nic.h"

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
extern const uint32_t buckets[1 << LOG_BUCKETS]; /* of NH_GROUP */
extern struct fib_nh nh[NH_COUNT];

extern struct watched {
	const struct fwd_worker *w; /* NULL: nobody looks */
	unsigned bursts;
	uint64_t seen; /* received, as published */
} watched;

struct rig {
	struct fwd_worker *w;
	struct fake_rx rx[2];
	struct fake_tx tx[3];
	uint32_t sent[3];
	uint8_t last[2048];
	uint32_t last_len;
};

extern uint32_t punt_ring; /* of the rigs that are opened */

void open_rig(struct rig *rig, unsigned log_chunks, unsigned log_strides,
	      unsigned log_stride_bytes, unsigned log_tx);
void close_rig(struct rig *rig);
void run_loop(struct rig *rig);
/* The card sends what is posted; another turn takes the completions. */
void run_card(struct rig *rig);
void empty_punts(struct rig *rig);
/* Frames for @port; @key: first octet of the destination, fourth of an IPv6 one. Return: length. */
uint32_t make4(uint8_t *f, unsigned port, uint8_t key, uint8_t ttl, uint32_t ip_len);
uint32_t make6(uint8_t *f, unsigned port, uint8_t key, uint8_t hops);
/* received = forwarded + punted + dropped, on every port. */
void check_conservation(const struct rig *rig);
