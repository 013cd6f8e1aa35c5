/* bench/fib/circuit.h - packets that go round through the passes of our loop, without a card
 *
 * A ring of descriptors is both receive and send queue, as the ring port of l3fwd is.
 * Everything between is lib/fwd/loop.c itself: parse, route, rewrite and the counters;
 * what a burst brings in and where it goes out is a copy of 16 bytes a packet.
 */
#pragma once

#include "../../../lib/fib/lookup_hot.h"

struct circuit;

/* @flight packets, a multiple of the burst; @dst: where each goes, in network order. */
struct circuit *circuit_new(struct fib_tables *const *live, unsigned family,
			    unsigned flight, const uint8_t (*dst)[16]);
void circuit_free(struct circuit *c);
/* Every packet once round. @l3_ok: the card has checked header checksums. */
void circuit_turn(struct circuit *c, bool l3_ok);
/* Every frame is what a router makes of it after @turns; then as at first. Return: how many
 * are not. */
unsigned circuit_check(struct circuit *c, unsigned turns);

uint8_t *circuit_frame(struct circuit *c, unsigned i);

enum { CIRCUIT_TURNS_MAX = 200 };

/* Next hop @i: frames that go there come from it again, so to say. */
struct fib_nh circuit_nh(uint32_t i);
