/* unit/test_m5_rx.c - the receive path against a card in plain memory: long runs, odd entries */

#include <stdlib.h>
#include <string.h>

#include "../../lib/m5/rx_hot.h"
#include "../test.h"
#include "fake_nic.h"

/* ---- long runs ---- */

struct out { /* a packet that was not given back yet */
	struct m5_pkt pkt;
	uint32_t number;
};

/* Contents that say which frame it is, in the first and last bytes. */
static void make(uint8_t *frame, uint32_t len, uint32_t number)
{
	memset(frame, (int)(number * 7 & 0xff), len);
	memcpy(frame, &number, 4);
	memcpy(frame + len - 4, &number, 4);
}

static uint32_t length_of(uint32_t number, uint32_t max)
{
	return 60 + (number * UINT32_C(2654435761) >> 8) % (max - 60 + 1);
}

static void check(const struct m5_pkt *pkt, uint32_t number, uint32_t max)
{
	uint32_t first, last, len = length_of(number, max);

	assert_int_equal(pkt->len, len);
	memcpy(&first, pkt->data, 4);
	memcpy(&last, pkt->data + len - 4, 4);
	assert_int_equal(first, number);
	assert_int_equal(last, number);
	assert_int_equal(pkt->data[len / 2], number * 7 & 0xff);
}

/* As many frames as fit, then some are received, then some given back, in any order. */
static void long_run(struct fake_rx *f, uint32_t frames, uint32_t max, uint32_t held_max)
{
	struct out *out = calloc(held_max, sizeof(*out));
	uint32_t sent = 0, received = 0, n_out = 0, n;
	struct m5_pkt pkt[32];
	uint8_t frame[16384];

	assert_non_null(out);
	while (received < frames) {
		for (uint32_t i = test_below(64); i && sent < frames; i--) {
			make(frame, length_of(sent, max), sent);
			if (!fake_rx_frame(f, frame, length_of(sent, max), true))
				break;
			sent++;
		}
		n = held_max - n_out < 32 ? held_max - n_out : 1 + test_below(32);
		n = m5_rx_burst(&f->rx, pkt, n);
		for (uint32_t i = 0; i < n; i++)
			out[n_out++] = (struct out){ pkt[i], received++ };
		for (n = test_below(n_out + 1); n; n--) {
			uint32_t i = test_below(n_out);

			check(&out[i].pkt, out[i].number, max);
			m5_rx_put(&f->rx, out[i].pkt.wqe, 1);
			out[i] = out[--n_out];
		}
		assert_int_equal(fake_rx_out(f), n_out);
		assert_false(m5_rx_failed(&f->rx));
	}
	free(out);
}

/* The index of a chunk has 16 bits, for the card and for us. */
static void striding_past_64k_chunks(void **state)
{
	struct fake_rx f;

	(void)state;
	fake_rx_open(&f, 3, 3, 6); /* 8 chunks of 8 strides of 64 bytes */
	long_run(&f, 400000, 200, 20);
	assert_true(f.chunk > 2 * 65536);
	assert_true(f.rx.fillers > 1000);
	fake_rx_close(&f);
}

static void cyclic_past_64k_chunks(void **state)
{
	struct fake_rx f;

	(void)state;
	fake_rx_open(&f, 6, 0, 9);
	long_run(&f, 150000, 500, 40);
	assert_int_equal(f.rx.fillers, 0);
	fake_rx_close(&f);
}

/* A frame may be as long as a chunk. */
static void whole_chunks(void **state)
{
	struct fake_rx f;

	(void)state;
	fake_rx_open(&f, 2, 3, 9);
	long_run(&f, 50000, 4096, 2);
	fake_rx_close(&f);
}

/* The card's consumer index has 24 bits, ours 32. */
static void consumer_index_wraps(void **state)
{
	static const uint32_t starts[] = { (1u << 24) - 100, UINT32_MAX - 99 };

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		struct fake_rx f;

		fake_rx_open(&f, 3, 3, 6);
		f.pi = f.rx.cq.ci = starts[i] & ~f.rx.cq.mask;
		m5_cq_give_back(&f.rx.cq);
		/* As the lap before would have left them. */
		for (uint32_t e = 0; e <= f.rx.cq.mask; e++)
			f.rx.cq.entry[e].op_own =
				(uint8_t)(PRM_CQE_RECEIVED << 4 |
					  !(f.rx.cq.ci & (f.rx.cq.mask + 1)));
		long_run(&f, 2000, 200, 20);
		assert_true(f.pi - starts[i] < 10000);
		fake_rx_close(&f);
	}
}

/* ---- the order in which chunks go back ---- */

static uint16_t posted(const struct fake_rx *f)
{
	return (uint16_t)from_be32(f->rx.dbrec[PRM_DBREC_RECEIVE]);
}

static void oldest_chunk_first(void **state)
{
	struct m5_pkt pkt[64];
	uint8_t frame[60] = { 0 };
	struct fake_rx f;

	(void)state;
	fake_rx_open(&f, 2, 3, 6);
	assert_int_equal(posted(&f), 4);
	for (unsigned i = 0; i < 32; i++)
		assert_true(fake_rx_frame(&f, frame, sizeof(frame), true));
	assert_false(fake_rx_frame(&f, frame, sizeof(frame), true));
	assert_int_equal(m5_rx_burst(&f.rx, pkt, 64), 32);
	/* All but one of the first chunk. */
	for (unsigned i = 1; i < 32; i++)
		m5_rx_put(&f.rx, pkt[i].wqe, 1);
	assert_int_equal(m5_rx_burst(&f.rx, pkt + 32, 1), 0);
	assert_int_equal(posted(&f), 4);
	m5_rx_put(&f.rx, pkt[0].wqe, 1);
	assert_int_equal(m5_rx_burst(&f.rx, pkt, 1), 0);
	assert_int_equal(posted(&f), 8);
	fake_rx_close(&f);
}

/* A chunk that the card is still filling never goes back, though nobody holds a packet of it. */
static void half_filled(void **state)
{
	struct m5_pkt pkt[8];
	uint8_t frame[60] = { 0 };
	struct fake_rx f;

	(void)state;
	fake_rx_open(&f, 2, 3, 6);
	for (unsigned i = 0; i < 7; i++) {
		assert_true(fake_rx_frame(&f, frame, sizeof(frame), true));
		assert_int_equal(m5_rx_burst(&f.rx, pkt, 8), 1);
		m5_rx_put(&f.rx, pkt[0].wqe, 1);
		assert_int_equal(m5_rx_burst(&f.rx, pkt, 8), 0);
		assert_int_equal(posted(&f), 4);
	}
	assert_true(fake_rx_frame(&f, frame, sizeof(frame), true));
	assert_int_equal(m5_rx_burst(&f.rx, pkt, 8), 1);
	m5_rx_put(&f.rx, pkt[0].wqe, 1);
	assert_int_equal(m5_rx_burst(&f.rx, pkt, 8), 0);
	assert_int_equal(posted(&f), 5);
	fake_rx_close(&f);
}

/* ---- entries by hand ---- */

static void write_entry(struct fake_rx *f, uint32_t byte_cnt, uint16_t index,
			uint8_t op_format)
{
	struct prm_cqe *e = &f->rx.cq.entry[f->pi & f->rx.cq.mask];

	memset(e, 0, sizeof(*e));
	e->byte_cnt = to_be32(byte_cnt);
	e->wqe_counter = to_be16(index);
	e->op_own = (uint8_t)(op_format | (f->pi >> f->log_cq & 1));
	f->pi++;
}

static void write_error(struct fake_rx *f, uint8_t syndrome, uint8_t vendor)
{
	struct prm_err_cqe *e = (void *)&f->rx.cq.entry[f->pi & f->rx.cq.mask];

	memset(e, 0, sizeof(*e));
	e->syndrome = syndrome;
	e->vendor_syndrome = vendor;
	e->op_own = (uint8_t)(PRM_CQE_RECEIVE_ERROR << 4 | (f->pi >> f->log_cq & 1));
	f->pi++;
}

static void nothing_yet(void **state)
{
	struct m5_pkt pkt;
	struct fake_rx f;

	(void)state;
	fake_rx_open(&f, 2, 3, 6);
	assert_int_equal(m5_rx_burst(&f.rx, &pkt, 1), 0);
	/* Valid, but of the other lap; and of our lap, but not valid. */
	f.rx.cq.entry[0].op_own = PRM_CQE_RECEIVED << 4 | 1;
	assert_int_equal(m5_rx_burst(&f.rx, &pkt, 1), 0);
	f.rx.cq.entry[0].op_own = PRM_CQE_INVALID << 4;
	assert_int_equal(m5_rx_burst(&f.rx, &pkt, 1), 0);
	assert_int_equal(f.rx.cq.ci, 0);
	fake_rx_close(&f);
}

/* The first error is the cause; what follows are flushes. */
static void first_error_counts(void **state)
{
	struct m5_pkt pkt[8];
	struct fake_rx f;

	(void)state;
	fake_rx_open(&f, 2, 3, 6);
	write_entry(&f, 1 << 16 | 60, 0, PRM_CQE_RECEIVED << 4);
	write_error(&f, 0x04, 0x51);
	write_error(&f, PRM_SYNDROME_FLUSHED, 0xf5);
	assert_int_equal(m5_rx_burst(&f.rx, pkt, 8), 1);
	assert_true(m5_rx_failed(&f.rx));
	assert_int_equal(f.rx.syndrome, 0x04);
	assert_int_equal(f.rx.vendor_syndrome, 0x51);
	assert_int_equal(m5_rx_burst(&f.rx, pkt, 8), 0);
	assert_int_equal(f.rx.syndrome, 0x04);
	fake_rx_close(&f);
}

/* What contradicts our count stops the queue before it does harm. */
static void entries_out_of_step(void **state)
{
	static const struct {
		uint32_t byte_cnt;
		uint16_t index;
		uint8_t op_format;
	} rows[] = {
		{ 1u << 16 | 60, 1, PRM_CQE_RECEIVED << 4 }, /* skips a stride */
		{ 0u << 16 | 60, 0, PRM_CQE_RECEIVED << 4 }, /* takes none */
		{ 9u << 16 | 60, 0, PRM_CQE_RECEIVED << 4 }, /* takes nine of eight */
		{ 0x3fffu << 16 | 60, 0, PRM_CQE_RECEIVED << 4 },
		{ 1u << 16 | 60, 0,
		  PRM_CQE_RECEIVED << 4 | PRM_CQE_COMPRESSED },	    /* not asked for */
		{ UINT32_C(0x80090000), 0, PRM_CQE_RECEIVED << 4 }, /* filler of nine */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct m5_pkt pkt[8];
		struct fake_rx f;

		fake_rx_open(&f, 2, 3, 6);
		write_entry(&f, rows[i].byte_cnt, rows[i].index, rows[i].op_format);
		assert_int_equal(m5_rx_burst(&f.rx, pkt, 8), 0);
		assert_true(m5_rx_failed(&f.rx));
		assert_int_equal(f.rx.out_of_step, 1);
		assert_int_equal(fake_rx_out(&f), 0);
		assert_int_equal(f.rx.stride, 0);
		fake_rx_close(&f);
	}
}

/* Strides that are only skipped: at the end of a chunk, or a whole one. */
static void fillers_are_counted(void **state)
{
	struct m5_pkt pkt[8];
	struct fake_rx f;

	(void)state;
	fake_rx_open(&f, 2, 3, 6);
	write_entry(&f, 3u << 16 | 150, 0, PRM_CQE_RECEIVED << 4);
	write_entry(&f, UINT32_C(0x80050000), 3, PRM_CQE_RECEIVED << 4);
	write_entry(&f, UINT32_C(0x80080000), 0, PRM_CQE_RECEIVED << 4);
	write_entry(&f, 8u << 16 | 512, 0, PRM_CQE_RECEIVED << 4);
	assert_int_equal(m5_rx_burst(&f.rx, pkt, 8), 2);
	assert_int_equal(f.rx.fillers, 2);
	assert_int_equal(pkt[0].wqe, 0);
	assert_int_equal(pkt[1].wqe, 2);
	assert_ptr_equal(pkt[1].data, f.rx.region + 2 * (size_t)f.rx.pitch);
	assert_int_equal(f.rx.fill, 3);
	assert_int_equal(fake_rx_out(&f), 2);
	fake_rx_close(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(striding_past_64k_chunks),
		cmocka_unit_test(cyclic_past_64k_chunks),
		cmocka_unit_test(whole_chunks),
		cmocka_unit_test(consumer_index_wraps),
		cmocka_unit_test(oldest_chunk_first),
		cmocka_unit_test(half_filled),
		cmocka_unit_test(nothing_yet),
		cmocka_unit_test(first_error_counts),
		cmocka_unit_test(entries_out_of_step),
		cmocka_unit_test(fillers_are_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
