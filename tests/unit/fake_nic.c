/* unit/fake_nic.c - both ends of a receive and a send queue in plain memory */

#include "fake_nic.h"

#include <stdlib.h>
#include <string.h>

#include "../test.h"

enum { FAKE_KEY = 0x1234 };

static void open_cq(struct m5_cq_hot *cq, unsigned log, uint32_t *dbrec)
{
	cq->entry = aligned_alloc(64, (size_t)64 << log);
	assert_non_null(cq->entry);
	memset(cq->entry, 0xff, (size_t)64 << log);
	cq->mask = (1u << log) - 1;
	cq->dbrec = (be32_t *)(void *)dbrec;
}

/* Byte 63: opcode in the high half, owner in bit 0; written last. */
static void write_cqe(struct m5_cq_hot *cq, uint32_t *pi, unsigned log,
		      const uint8_t bytes[63], unsigned opcode)
{
	uint8_t *e = (uint8_t *)&cq->entry[*pi & cq->mask];
	uint32_t consumed = be32toh(cq->dbrec[0].raw) & 0xffffff;

	assert_true(((*pi - consumed) & 0xffffff) <= cq->mask); /* overrun */
	memcpy(e, bytes, 63);
	__atomic_store_n(&e[63], (uint8_t)(opcode << 4 | (*pi >> log & 1)),
			 __ATOMIC_RELEASE);
	(*pi)++;
}

void fake_rx_open(struct fake_rx *f, unsigned log_chunks, unsigned log_strides,
		  unsigned log_stride_bytes)
{
	size_t bytes = (size_t)1 << (log_chunks + log_strides + log_stride_bytes);

	memset(f, 0, sizeof(*f));
	f->log_cq = log_chunks + log_strides;
	open_cq(&f->rx.cq, f->log_cq, f->cq_dbrec);
	f->rx.region = aligned_alloc(4096, bytes < 4096 ? 4096 : bytes);
	f->rx.refs = calloc((size_t)1 << log_chunks, sizeof(*f->rx.refs));
	assert_non_null(f->rx.region);
	assert_non_null(f->rx.refs);
	f->rx.dbrec = (be32_t *)(void *)f->dbrec;
	f->rx.mask = (1u << log_chunks) - 1;
	f->rx.log_strides = (uint8_t)log_strides;
	f->rx.log_stride_bytes = (uint8_t)log_stride_bytes;
	f->rx.striding = log_strides != 0;
	for (unsigned i = 0; i < M5_DEVS_MAX; i++)
		f->rx.lkey[i] = to_be32(FAKE_KEY + i);
	m5_rx_refill(&f->rx);
}

void fake_rx_close(struct fake_rx *f)
{
	free(f->rx.cq.entry);
	free(f->rx.region);
	free(f->rx.refs);
}

static bool posted(const struct fake_rx *f)
{
	return (uint16_t)f->chunk != (uint16_t)be32toh(f->dbrec[0]);
}

static void completion(struct fake_rx *f, uint32_t len, uint32_t strides, bool filler,
		       bool l3_ok)
{
	uint8_t e[63] = { 0 };
	uint32_t count = len;
	uint16_t index = htobe16((uint16_t)f->stride);

	if (f->rx.striding)
		count |= strides << 16 | (filler ? 0x80000000u : 0);
	else
		index = htobe16((uint16_t)f->chunk);
	count = htobe32(count);
	memcpy(e + 0x2c, &count, 4);
	memcpy(e + 0x3c, &index, 2);
	e[0x1c] = l3_ok ? 7 : 5;
	write_cqe(&f->rx.cq, &f->pi, f->log_cq, e, 2);
	f->stride += strides;
	if (f->stride >> f->rx.log_strides) {
		f->stride = 0;
		f->chunk++;
	}
}

bool fake_rx_frame(struct fake_rx *f, const void *frame, uint32_t len, bool l3_ok)
{
	uint32_t all = 1u << f->rx.log_strides, size = 1u << f->rx.log_stride_bytes;
	uint32_t strides = (len + size - 1) / size;
	size_t at;

	assert_true(strides <= all);
	if (!posted(f))
		return false;
	if (strides > all - f->stride) {
		completion(f, 0, all - f->stride, true, false);
		if (!posted(f))
			return false;
	}
	at = (((size_t)(f->chunk & f->rx.mask) << f->rx.log_strides) + f->stride) * size;
	memcpy(f->rx.region + at, frame, len);
	completion(f, len, strides, false, l3_ok);
	return true;
}

uint32_t fake_rx_out(const struct fake_rx *f)
{
	uint32_t sum = 0;

	for (uint32_t i = 0; i <= f->rx.mask; i++)
		sum += f->rx.refs[i];
	/* One for each chunk that the card may write to. */
	return sum - (uint16_t)(f->rx.post - f->rx.fill);
}

void fake_tx_open(struct fake_tx *f, unsigned log_packets, unsigned dev)
{
	memset(f, 0, sizeof(*f));
	f->log_blocks = log_packets;
	open_cq(&f->tx.cq, log_packets, f->cq_dbrec);
	f->tx.ring = aligned_alloc(64, (size_t)64 << log_packets);
	f->tx.held = calloc((size_t)1 << log_packets, sizeof(*f->tx.held));
	f->tx.end_of = calloc((size_t)1 << log_packets, sizeof(*f->tx.end_of));
	assert_non_null(f->tx.ring);
	f->tx.mask = f->tx.held_mask = (1u << log_packets) - 1;
	f->tx.dbrec = (be32_t *)(void *)f->dbrec;
	f->tx.doorbell = &f->doorbell;
	f->tx.qpn_shifted = 0x77 << 8;
	f->tx.dev = (uint16_t)dev;
}

void fake_tx_close(struct fake_tx *f)
{
	free(f->tx.cq.entry);
	free(f->tx.ring);
	free(f->tx.held);
	free(f->tx.end_of);
}

static const uint8_t *segment(const struct fake_tx *f, unsigned i)
{
	return f->tx.ring + ((size_t)(f->head + i / 4) & f->tx.mask) * 64 +
	       (size_t)(i % 4) * 16;
}

static uint32_t read32(const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, 4);
	return be32toh(v);
}

static uint32_t run_wqe(struct fake_tx *f,
			void (*sent)(void *arg, const uint8_t *frame, uint32_t len),
			void *arg)
{
	const uint8_t *ctrl = segment(f, 0);
	uint32_t segments = read32(ctrl + 4) & 0x3f, n = 0;
	uint8_t e[63] = { 0 };
	uint16_t index = htobe16(f->head);

	assert_int_equal(read32(ctrl), (uint32_t)f->head << 8 | 0x29);
	assert_int_equal(read32(ctrl + 4) >> 8, 0x77);
	assert_in_range(segments, 3, 60);
	for (unsigned i = 2; i < segments; i++, n++) {
		const uint8_t *s = segment(f, i);
		uint64_t addr = (uint64_t)read32(s + 8) << 32 | read32(s + 12);

		assert_int_equal(read32(s + 4), FAKE_KEY + f->tx.dev);
		assert_true(read32(s) > 0);
		sent(arg, (const uint8_t *)(uintptr_t)addr, read32(s));
	}
	memcpy(e + 0x3c, &index, 2);
	if ((ctrl[11] >> 2 & 3) == 2)
		write_cqe(&f->tx.cq, &f->pi, f->log_blocks, e, 0);
	else
		assert_int_equal(ctrl[11] >> 2 & 3, 1);
	f->head = (uint16_t)(f->head + (segments + 3) / 4);
	return n;
}

uint32_t fake_tx_run(struct fake_tx *f,
		     void (*sent)(void *arg, const uint8_t *frame, uint32_t len),
		     void *arg)
{
	uint32_t n = 0;

	while (f->head != (uint16_t)be32toh(f->dbrec[1]))
		n += run_wqe(f, sent, arg);
	return n;
}
