/* wire/fifo.h - frames in waiting, bounded
 *
 * A byte ring of records: [ length (4) | frame | padding to 4 ]. A record never
 * wraps; the rest of the ring before it is then skipped by a length of FIFO_SKIP.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct fifo {
	uint8_t *buf;
	uint32_t size;	     /* bytes, a power of two */
	uint32_t head, tail; /* free running; read at head, write at tail */
	uint32_t frames;
};

int fifo_open(struct fifo *f, uint32_t size); /* 0 or -ENOMEM */
void fifo_close(struct fifo *f);
bool fifo_put(struct fifo *f, const void *frame, uint32_t len); /* false: no room */
/* The oldest frame, NULL when empty; it stays until fifo_drop(). */
const uint8_t *fifo_peek(struct fifo *f, uint32_t *len);
void fifo_drop(struct fifo *f);
