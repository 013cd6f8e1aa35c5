/* test/queue_rig.h - what the tests of queue engines share
 *
 *   q_frame(b, len, seed)      a frame no other seed has
 *   struct q_rx                a device with one receive queue that takes every frame
 *   q_assert_error(...)        an error completion, field by field
 *   q_unzip()                  compressed completions made ordinary again
 */
#pragma once

#include "direct.h"

#include "../core/dev.h"

/* Ethernet header of an unknown type, then bytes that depend on place and seed. */
void q_frame(uint8_t *b, uint32_t len, uint32_t seed);

struct q_rx {
	struct direct *d;
	struct d_cq *cq;
	struct d_rq *rq;
};
/* rq.cq may be NULL: then a CQ by @cq is made. The MTU admits frames of 9000 bytes and more. */
struct q_rx q_rx_open(const char *const *caps, const struct d_cq_conf *cq,
		      const struct d_rq_conf *rq);
void q_rx_close(struct q_rx *rx);
/* Frames of @len bytes with seeds from @seed on; each must be queued. */
void q_rx_send(struct q_rx *rx, unsigned n, uint32_t len, uint32_t seed);

struct cx_sq *q_sq(const struct d_sq *sq); /* the device's side, to set counters far on */
struct cx_rq *q_rq(const struct d_rq *rq);
struct cx_cq *q_cq(const struct d_cq *cq);

struct q_error {
	uint8_t opcode, syndrome, vendor;
	uint32_t qpn;
	uint16_t wqe_counter;
};
void q_assert_error(const uint8_t *cqe, struct q_error want);
/* Has an event of that type about the object been raised? */
bool q_event(const struct direct *d, uint8_t type, uint32_t num);

/* ---- compressed completions, as a driver reads them ---- */

/* What one completion says of a packet. */
struct q_cqe {
	uint32_t byte_cnt, hash, tag;
	uint16_t checksum, wqe_counter;
	uint8_t hdr_type;
	bool mini;
};

/* A reader of one queue, by the rules of the drivers: see queue_unzip.c. */
struct q_zip {
	struct d_cq *cq;
	uint8_t title[64];
	unsigned titles, arrays; /* compressed things met so far */
};
/* Reads up to @room packets that are there and gives their slots back. Return: how many. */
unsigned q_unzip(struct q_zip *z, struct q_cqe *out, unsigned room);
