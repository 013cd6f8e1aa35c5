/* unit/fake_nic.c - both ends of a receive and a send queue in plain memory */

#include "fake_nic.h"

#include <stdlib.h>
#include <string.h>

#include "../../lib/base/bits.h"
#include "../test.h"

enum { FAKE_KEY = 0x1234 };

static void open_cq(struct m5_cq_hot *cq, unsigned log, uint32_t *dbrec)
{
	cq->log_size = (uint8_t)log;
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
	size_t pitch = ((size_t)1 << (log_strides + log_stride_bytes)) + 64;
	size_t bytes = align_up(pitch << log_chunks, 4096);

	memset(f, 0, sizeof(*f));
	f->log_cq = log_chunks + log_strides;
	open_cq(&f->rx.cq, f->log_cq, f->cq_dbrec);
	f->rx.region = aligned_alloc(4096, bytes);
	f->rx.refs = calloc((size_t)1 << log_chunks, sizeof(*f->rx.refs));
	assert_non_null(f->rx.region);
	assert_non_null(f->rx.refs);
	f->rx.dbrec = (be32_t *)(void *)f->dbrec;
	f->rx.mask = (1u << log_chunks) - 1;
	f->rx.log_strides = (uint8_t)log_strides;
	f->rx.log_stride_bytes = (uint8_t)log_stride_bytes;
	f->rx.pitch = (uint32_t)pitch;
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
	free(f->rx.stale);
}

static bool posted(const struct fake_rx *f)
{
	return (uint16_t)f->chunk != (uint16_t)be32toh(f->dbrec[0]);
}

/* ---- how completions are written ---- */

static void put32(uint8_t *p, uint32_t v)
{
	v = htobe32(v);
	memcpy(p, &v, 4);
}

static void put16(uint8_t *p, uint16_t v)
{
	v = htobe16(v);
	memcpy(p, &v, 2);
}

static uint8_t *slot(struct fake_rx *f, uint32_t i)
{
	return (uint8_t *)&f->rx.cq.entry[(f->pi + i) & f->rx.cq.mask];
}

/* The last bytes: with the enhanced layout the lap, and an owner bit that says nothing. */
static void finish(struct fake_rx *f, uint8_t op_own, uint32_t n)
{
	uint32_t consumed = be32toh(f->rx.cq.dbrec[0].raw) & 0xffffff, lap;
	uint8_t *e = slot(f, 0);

	assert_true(((f->pi + n - 1 - consumed) & 0xffffff) <= f->rx.cq.mask);
	lap = f->pi >> f->log_cq;
	if (f->rx.layout == M5_CQ_ENHANCED) {
		e[0x3e] = (uint8_t)lap;
		lap = test_below(2);
	}
	__atomic_store_n(&e[0x3f], (uint8_t)(op_own | (lap & 1)), __ATOMIC_RELEASE);
	f->pi += n;
}

static void write_entry(struct fake_rx *f, const struct fake_completion *c,
			uint32_t byte_cnt, uint8_t format, uint32_t n)
{
	uint8_t *e = slot(f, 0);

	memset(e, 0, 62);
	put32(e + 0x2c, byte_cnt);
	put32(e + 0x34, f->pi); /* stamp */
	put16(e + 0x3c, c->index);
	e[0x1c] = c->l3_ok ? 7 : 5;
	finish(f, 2 << 4 | format, n);
}

static void write_minis(uint8_t *at, const struct fake_completion *c, unsigned n)
{
	for (unsigned i = 0; i < n; i++, at += 8) {
		put16(at, (uint16_t)test_below(65536)); /* checksum */
		put16(at + 2, c[i].index);
		put32(at + 4, c[i].byte_cnt);
	}
}

static void write_single(struct fake_rx *f, const struct fake_completion *c)
{
	write_entry(f, c, c->byte_cnt, 0, 1);
	f->title = *c;
	f->has_title = true;
}

void fake_rx_flush(struct fake_rx *f)
{
	unsigned n = f->n_held;

	f->n_held = 0;
	if (n == 1) {
		write_single(f, &f->held[0]);
	} else if (n && f->rx.layout == M5_CQ_BASIC) {
		for (unsigned i = 0; i < n; i += 8) {
			memset(slot(f, i ? i : 1), 0xa5, 64); /* all of it is written */
			write_minis(slot(f, i ? i : 1), f->held + i,
				    n - i < 8 ? n - i : 8);
		}
		write_entry(f, &f->held[0], n, 3 << 2, n);
	} else if (n) {
		write_minis(slot(f, 0), f->held, n);
		finish(f, (uint8_t)((n - 1) << 4 | 3 << 2), n);
	}
	if (n)
		f->limit = 1 + test_below(f->session_max);
}

static bool joins(const struct fake_rx *f, const struct fake_completion *c)
{
	const struct fake_completion *title = &f->held[0];

	if (f->rx.layout == M5_CQ_ENHANCED) {
		title = &f->title;
		if (!f->has_title)
			return false;
	} else if (!f->n_held) {
		return true;
	}
	return f->n_held < f->limit && (c->byte_cnt >> 31 || title->l3_ok == c->l3_ok);
}

static void write_completion(struct fake_rx *f, const struct fake_completion *c)
{
	if (f->rx.layout == M5_CQ_PLAIN) {
		write_single(f, c);
		return;
	}
	if (!joins(f, c)) {
		fake_rx_flush(f);
		if (f->rx.layout == M5_CQ_ENHANCED) {
			write_single(f, c);
			return;
		}
	}
	f->held[f->n_held++] = *c;
}

void fake_rx_compress(struct fake_rx *f, enum m5_cq_layout layout, unsigned session_max)
{
	f->rx.layout = (uint8_t)layout;
	f->session_max = session_max;
	f->limit = session_max;
	f->rx.stale = calloc((1u << f->log_cq) / 64 + 1, sizeof(*f->rx.stale));
	assert_non_null(f->rx.stale);
}

/* ---- frames ---- */

static void completion(struct fake_rx *f, uint32_t len, uint32_t strides, bool filler,
		       bool l3_ok)
{
	struct fake_completion c = { len, (uint16_t)f->chunk, l3_ok };

	if (f->rx.striding) {
		c.byte_cnt |= strides << 16 | (filler ? 0x80000000u : 0);
		c.index = (uint16_t)f->stride;
	}
	write_completion(f, &c);
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
	at = (size_t)(f->chunk & f->rx.mask) * f->rx.pitch + (size_t)f->stride * size;
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

static void open_ring(struct fake_tx *f, unsigned i)
{
	struct m5_tx_ring *r = &f->tx.ring[i];
	struct fake_tx_ring *c = &f->ring[i];
	size_t blocks = (size_t)1 << f->log_blocks;

	open_cq(&r->cq, f->log_blocks, c->cq_dbrec);
	r->base = aligned_alloc(64, 64 * blocks);
	r->held = calloc(blocks, sizeof(*r->held));
	r->asked = calloc(blocks, sizeof(*r->asked));
	assert_non_null(r->base);
	memset(r->base, 0xa5, 64 * blocks);
	r->mask = (uint32_t)blocks - 1;
	r->dbrec = (be32_t *)(void *)c->dbrec;
	r->qpn_shifted = (0x77 + i) << 8;
}

void fake_tx_open_rings(struct fake_tx *f, unsigned log_blocks, unsigned dev,
			unsigned n_rings)
{
	memset(f, 0, sizeof(*f));
	f->log_blocks = log_blocks;
	for (unsigned i = 0; i < n_rings; i++)
		open_ring(f, i);
	f->tx.n_rings = (uint8_t)n_rings;
	f->tx.held_packets = 1u << log_blocks >> 2;
	f->tx.doorbell = &f->doorbell;
	f->tx.dev = (uint16_t)dev;
	f->tx.wide = m5_tx_has_avx512();
}

void fake_tx_open(struct fake_tx *f, unsigned log_packets, unsigned dev)
{
	fake_tx_open_rings(f, log_packets, dev, 1);
}

void fake_tx_close(struct fake_tx *f)
{
	for (unsigned i = 0; i < f->tx.n_rings; i++) {
		free(f->tx.ring[i].cq.entry);
		free(f->tx.ring[i].base);
		free(f->tx.ring[i].held);
		free(f->tx.ring[i].asked);
	}
}

/* ---- work entries: the card's side ---- */

struct wqe {
	struct fake_tx *f;
	const uint8_t *base, *at; /* of the ring, of the entry */
	uint32_t bytes, off;	  /* all of it; read so far */
};

static uint32_t read32(const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, 4);
	return be32toh(v);
}

/* @n bytes from where it is read. None of ours wraps. */
static const uint8_t *take(struct wqe *w, uint32_t n)
{
	const uint8_t *p = w->at + w->off;

	w->off += n;
	assert_true(w->off <= w->bytes);
	assert_true(p + n <= w->base + ((size_t)64 << w->f->log_blocks));
	return p;
}

/* The entry's next piece of a frame behind @have bytes of f->frame. Return: its start, in the
 * packet's memory if that is all there is. */
static const uint8_t *take_piece(struct wqe *w, uint32_t have, uint32_t *len)
{
	const uint8_t *s = take(w, 16);
	uint32_t n = read32(s), there = (n & 0x3ff) < 12 ? n & 0x3ff : 12;
	uint64_t addr = (uint64_t)read32(s + 8) << 32 | read32(s + 12);
	struct fake_tx *f = w->f;

	if (n >> 31) {
		n &= 0x3ff;
		assert_int_equal(have, 0);
		memcpy(f->frame, s + 4, there);
		memcpy(f->frame + there, take(w, (4 + n + 15) / 16 * 16 - 16), n - there);
		f->inlined++;
		*len = n;
		return f->frame;
	}
	assert_int_equal(read32(s + 4), FAKE_KEY + f->tx.dev);
	assert_true(n > 0);
	*len = have + n;
	if (!have)
		return (const uint8_t *)(uintptr_t)addr;
	assert_true(*len <= sizeof(f->frame));
	memcpy(f->frame + have, (const uint8_t *)(uintptr_t)addr, n);
	return f->frame;
}

static void run_single(struct wqe *w,
		       void (*sent)(void *arg, const uint8_t *frame, uint32_t len),
		       void *arg)
{
	uint32_t have = read32(w->at + 28) >> 16, len;
	const uint8_t *frame;

	if (have) {
		assert_int_equal(have, 18);
		memcpy(w->f->frame, w->at + 30, 2);
		memcpy(w->f->frame + 2, take(w, 16), 16);
	}
	frame = take_piece(w, have, &len);
	assert_int_equal(w->off, w->bytes);
	w->f->single++;
	sent(arg, frame, len);
}

static uint32_t run_multi(struct wqe *w,
			  void (*sent)(void *arg, const uint8_t *frame, uint32_t len),
			  void *arg)
{
	uint32_t n = 0, len;

	assert_int_equal(read32(w->at + 28), 0);
	for (; w->off < w->bytes; n++) {
		const uint8_t *frame = take_piece(w, 0, &len);

		sent(arg, frame, len);
	}
	assert_true(n > 1); /* one is an ordinary SEND */
	w->f->multi++;
	return n;
}

static void answer(struct fake_tx *f, unsigned ring, const uint8_t *ctrl)
{
	struct fake_tx_ring *c = &f->ring[ring];
	uint64_t stamp = htobe64(++f->clock);
	uint16_t index = htobe16(c->head);
	uint8_t e[63] = { 0 };

	memcpy(e + 0x30, &stamp, 8);
	memcpy(e + 0x3c, &index, 2);
	if ((ctrl[11] >> 2 & 3) == 2)
		write_cqe(&f->tx.ring[ring].cq, &c->pi, f->log_blocks, e, 0);
	else
		assert_int_equal(ctrl[11] >> 2 & 3, 1);
}

static uint32_t run_wqe(struct fake_tx *f, unsigned ring,
			void (*sent)(void *arg, const uint8_t *frame, uint32_t len),
			void *arg)
{
	const struct m5_tx_ring *r = &f->tx.ring[ring];
	struct fake_tx_ring *c = &f->ring[ring];
	const uint8_t *ctrl = r->base + (size_t)(c->head & r->mask) * 64;
	uint32_t segments = read32(ctrl + 4) & 0x3f, op = read32(ctrl), n = 0;
	struct wqe w = { f, r->base, ctrl, segments * 16, 32 };

	assert_int_equal(op >> 8, c->head);
	assert_int_equal(read32(ctrl + 4) >> 8, 0x77 + ring);
	assert_in_range(segments, 1, 60);
	assert_int_equal(read32(ctrl + 12), 0);
	f->cs_flags = ctrl[20];
	if ((op & 0xff) == 0x29) {
		n = run_multi(&w, sent, arg);
	} else if ((op & 0xff) == 0x0a) {
		run_single(&w, sent, arg);
		n = 1;
	} else {
		assert_int_equal(op & 0xff, 0);
		f->nops++;
	}
	answer(f, ring, ctrl);
	c->head = (uint16_t)(c->head + (segments + 3) / 4);
	return n;
}

uint32_t fake_tx_run(struct fake_tx *f,
		     void (*sent)(void *arg, const uint8_t *frame, uint32_t len),
		     void *arg)
{
	uint32_t n = 0;

	for (unsigned i = 0; i < f->tx.n_rings; i++)
		while (f->ring[i].head != (uint16_t)be32toh(f->ring[i].dbrec[1]))
			n += run_wqe(f, i, sent, arg);
	return n;
}
