/* unit/fake_nic.h - both ends of a receive and a send queue in plain memory
 *
 * For tests of the packet loop that need no device: frames go in as a card would write
 * them, and what the loop posts is read back from its work entries. Offsets are
 * written out here and not taken from lib/prm, so that both must agree.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "../../lib/m5/rx_hot.h"
#include "../../lib/m5/tx_hot.h"

struct fake_completion {
	uint32_t byte_cnt;
	uint16_t index;
	bool l3_ok;
};

struct fake_rx {
	struct m5_rx rx;
	uint32_t pi;		/* completions written */
	uint32_t chunk, stride; /* where the card is */
	unsigned log_cq;
	uint32_t dbrec[2], cq_dbrec[2];
	/* compression: what waits to be written */
	unsigned session_max, n_held, limit;
	struct fake_completion held[64], title;
	bool has_title;
};

struct fake_tx_ring {
	uint16_t head; /* blocks consumed */
	uint32_t pi;   /* completions written */
	uint32_t dbrec[2], cq_dbrec[2];
};

struct fake_tx {
	struct m5_tx tx;
	struct fake_tx_ring ring[M5_TX_RINGS_MAX];
	unsigned log_blocks;
	uint64_t doorbell;
	uint64_t clock;		      /* stamp of the last completion */
	uint32_t nops, single, multi; /* work entries seen */
	uint32_t inlined;	      /* frames that were copied whole */
	uint8_t cs_flags;	      /* of the frame that is being sent */
	uint8_t frame[10240];	      /* it, when any of it stood in the work entry */
};

/* A striding queue of 1 << log_chunks chunks; log_strides 0 makes it a cyclic one. */
void fake_rx_open(struct fake_rx *f, unsigned log_chunks, unsigned log_strides,
		  unsigned log_stride_bytes);
void fake_rx_close(struct fake_rx *f);
/* false: no buffer is posted. */
bool fake_rx_frame(struct fake_rx *f, const void *frame, uint32_t len, bool l3_ok);
/* From here on completions are compressed, up to @session_max at once, and written when the session
 * is full, or by fake_rx_flush(). More general than any card: sessions go over the end of the
 * ring, and have fillers in them. */
void fake_rx_compress(struct fake_rx *f, enum m5_cq_layout layout, unsigned session_max);
void fake_rx_flush(struct fake_rx *f);
/* References that packets hold, over all chunks. */
uint32_t fake_rx_out(const struct fake_rx *f);

/* One ring, all by pointer; what tests want otherwise they set in f->tx. */
void fake_tx_open(struct fake_tx *f, unsigned log_packets, unsigned dev);
void fake_tx_open_rings(struct fake_tx *f, unsigned log_blocks, unsigned dev,
			unsigned n_rings);
void fake_tx_close(struct fake_tx *f);
/* Sends all that is posted: each frame to @sent, with a VLAN tag where one was asked for, then
 * completions for those that asked. */
uint32_t fake_tx_run(struct fake_tx *f,
		     void (*sent)(void *arg, const uint8_t *frame, uint32_t len),
		     void *arg);
