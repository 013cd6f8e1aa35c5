/* wire/fifo.c - see fifo.h */
#include "fifo.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FIFO_SKIP UINT32_MAX
#define HEAD	  sizeof(uint32_t)

static uint32_t record(uint32_t len)
{
	return (uint32_t)((HEAD + len + 3) & ~(size_t)3);
}

static void store(struct fifo *f, uint32_t at, uint32_t value)
{
	memcpy(f->buf + (at & (f->size - 1)), &value, HEAD);
}

static uint32_t load(const struct fifo *f, uint32_t at)
{
	uint32_t value;

	memcpy(&value, f->buf + (at & (f->size - 1)), HEAD);
	return value;
}

int fifo_open(struct fifo *f, uint32_t size)
{
	memset(f, 0, sizeof(*f));
	f->buf = malloc(size);
	f->size = size;
	return f->buf ? 0 : -ENOMEM;
}

void fifo_close(struct fifo *f)
{
	free(f->buf);
	memset(f, 0, sizeof(*f));
}

bool fifo_put(struct fifo *f, const void *frame, uint32_t len)
{
	uint32_t to_end = f->size - (f->tail & (f->size - 1));
	uint32_t need = record(len);
	uint32_t skip = need > to_end ? to_end : 0;

	if (need > f->size || f->size - (f->tail - f->head) < skip + need)
		return false;
	if (skip)
		store(f, f->tail, FIFO_SKIP);
	f->tail += skip;
	store(f, f->tail, len);
	memcpy(f->buf + (f->tail & (f->size - 1)) + HEAD, frame, len);
	f->tail += need;
	f->frames++;
	return true;
}

const uint8_t *fifo_peek(struct fifo *f, uint32_t *len)
{
	if (!f->frames)
		return NULL;
	if (load(f, f->head) == FIFO_SKIP)
		f->head += f->size - (f->head & (f->size - 1));
	*len = load(f, f->head);
	return f->buf + (f->head & (f->size - 1)) + HEAD;
}

void fifo_drop(struct fifo *f)
{
	uint32_t len;

	if (!fifo_peek(f, &len))
		return;
	f->head += record(len);
	f->frames--;
}
