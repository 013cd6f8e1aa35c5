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

/* Rows of a few dozen, so that sessions have a title of either kind. */
static bool l3_ok(uint32_t number)
{
	return (number / 37 * UINT32_C(2654435761) >> 16) % 4;
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
	assert_int_equal(pkt->flags & M5_PKT_L3_OK, l3_ok(number) ? M5_PKT_L3_OK : 0);
	assert_true(pkt->flags & M5_PKT_L4_OK);
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
			if (!fake_rx_frame(f, frame, length_of(sent, max), l3_ok(sent)))
				break;
			sent++;
		}
		fake_rx_flush(f);
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

/* The same in each layout. One packet a stride, several, and fillers; sessions longer than a
 * burst, over the end of the ring and of chunks; slots that look valid from another lap. */
static void compressed(struct fake_rx *f, enum m5_cq_layout layout, unsigned session,
		       uint32_t frames, uint32_t max, uint32_t held)
{
	fake_rx_compress(f, layout, session);
	long_run(f, frames, max, held);
	assert_true(f->rx.compressed > frames / 4);
	fake_rx_close(f);
}

static void sessions_past_64k_chunks(void **state)
{
	static const struct {
		enum m5_cq_layout layout;
		unsigned session;
	} rows[] = { { M5_CQ_BASIC, 32 }, { M5_CQ_BASIC, 9 }, { M5_CQ_ENHANCED, 7 } };

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct fake_rx f;

		fake_rx_open(&f, 3, 3, 6);
		compressed(&f, rows[i].layout, rows[i].session, 400000, 200, 20);
		assert_true(f.chunk > 2 * 65536);
		assert_true(f.rx.fillers > 1000);
		fake_rx_open(&f, 6, 0, 9);
		compressed(&f, rows[i].layout, rows[i].session, 150000, 500, 40);
		fake_rx_open(&f, 5, 4,
			     7); /* more slots than a word of rx->stale has bits */
		compressed(&f, rows[i].layout, rows[i].session * (i ? 1 : 2), 200000, 128,
			   200);
	}
}

/* Fewer slots than a word of rx->stale has bits; nothing behind them is written. */
static void sessions_in_small_rings(void **state)
{
	(void)state;
	for (unsigned log = 3; log <= 5; log++) {
		struct fake_rx f;

		fake_rx_open(&f, log, 0, 9);
		compressed(&f, M5_CQ_BASIC, 1u << log, 50000, 500, 4);
	}
}

/* The same packets, whatever the layout, the session and the bursts they are read in. */
static void layouts_agree(void **state)
{
	enum { N = 3000 };
	static struct m5_pkt all[M5_CQ_LAYOUT_COUNT][N];

	(void)state;
	for (unsigned layout = 0; layout < M5_CQ_LAYOUT_COUNT; layout++) {
		uint8_t frame[200] = { 0 };
		uint32_t n = 0, sent = 0, got;
		struct fake_rx f;

		fake_rx_open(&f, 4, 4, 6);
		if (layout)
			fake_rx_compress(&f, (enum m5_cq_layout)layout,
					 layout == 1 ? 60 : 7);
		while (n < N) {
			for (uint32_t i = test_below(40); i && sent < N; i--, sent++)
				if (!fake_rx_frame(&f, frame, length_of(sent, 200),
						   l3_ok(sent)))
					break;
			fake_rx_flush(&f);
			got = m5_rx_burst(&f.rx, all[layout] + n,
					  1 + test_below(N - n < 33 ? N - n : 33));
			for (; got; got--, n++)
				m5_rx_put(&f.rx, all[layout][n].wqe, 1);
		}
		for (uint32_t i = 0; i < N; i++)
			all[layout][i].data -= (uintptr_t)f.rx.region;
		assert_memory_equal(all[layout], all[0], sizeof(all[0]));
		fake_rx_close(&f);
	}
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
	e->signature = (uint8_t)(f->pi >> f->log_cq); /* enhanced: of this lap */
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

/* ---- what stands in a completion ---- */

static struct prm_cqe *entry_before(struct fake_rx *f)
{
	return &f->rx.cq.entry[(f->pi - 1) & f->rx.cq.mask];
}

/* An error wherever it may stand, also behind a session: what came before is received. */
static void error_in_each_position(void **state)
{
	enum { FRAMES = 24 };
	uint8_t frame[60] = { 0 };

	(void)state;
	for (unsigned layout = 0; layout < M5_CQ_LAYOUT_COUNT; layout++)
		for (uint32_t at = 0; at <= FRAMES; at++) {
			struct m5_pkt pkt[64];
			struct fake_rx f;

			fake_rx_open(&f, 2, 3, 6);
			if (layout)
				fake_rx_compress(&f, (enum m5_cq_layout)layout, 7);
			for (uint32_t i = 0; i < at; i++)
				assert_true(fake_rx_frame(&f, frame, 60, i & 8));
			fake_rx_flush(&f);
			write_error(&f, 0x04, 0x51);
			assert_int_equal(m5_rx_burst(&f.rx, pkt, 64), at);
			assert_true(m5_rx_failed(&f.rx));
			assert_int_equal(f.rx.syndrome, 0x04);
			assert_int_equal(f.rx.errors, 1);
			assert_int_equal(f.rx.out_of_step, 0);
			assert_int_equal(fake_rx_out(&f), at);
			fake_rx_close(&f);
		}
}

/* Sessions that cannot be: none of their packets is believed, those before are. */
static void sessions_out_of_step(void **state)
{
	static const struct {
		enum m5_cq_layout layout;
		uint32_t count;
		uint8_t op_format;
	} rows[] = {
		{ M5_CQ_BASIC, 0, PRM_CQE_RECEIVED << 4 | PRM_CQE_COMPRESSED },
		{ M5_CQ_BASIC, 33, PRM_CQE_RECEIVED << 4 | PRM_CQE_COMPRESSED },
		{ M5_CQ_BASIC, UINT32_MAX, PRM_CQE_RECEIVED << 4 | PRM_CQE_COMPRESSED },
		{ M5_CQ_ENHANCED, 0, 7 << 4 | PRM_CQE_COMPRESSED },
		{ M5_CQ_ENHANCED, 0, 14 << 4 | PRM_CQE_COMPRESSED },
		{ M5_CQ_BASIC, 2,
		  PRM_CQE_RECEIVED << 4 | PRM_CQE_COMPRESSED }, /* no strides */
		{ M5_CQ_ENHANCED, 0, 1 << 4 | PRM_CQE_COMPRESSED },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint8_t frame[60] = { 0 };
		struct m5_pkt pkt[8];
		struct fake_rx f;

		fake_rx_open(&f, 2, 3, 6);
		fake_rx_compress(&f, rows[i].layout, 7);
		assert_true(fake_rx_frame(&f, frame, sizeof(frame), true));
		fake_rx_flush(&f);
		memset(&f.rx.cq.entry[2], 0, sizeof(f.rx.cq.entry[2]));
		write_entry(&f, rows[i].count, 1, rows[i].op_format);
		assert_int_equal(m5_rx_burst(&f.rx, pkt, 8), 1);
		assert_true(m5_rx_failed(&f.rx));
		assert_int_equal(f.rx.out_of_step, 1);
		assert_int_equal(f.rx.stride, 1);
		fake_rx_close(&f);
	}
}

/* Which packet a stamp belongs to. The card of this test stamps with the number of the entry. */
static void stamps(void **state)
{
	uint8_t frame[60] = { 0 };
	struct m5_rx_stamp s;
	struct m5_pkt pkt[8];

	(void)state;
	for (unsigned layout = 0; layout < M5_CQ_LAYOUT_COUNT; layout++) {
		struct fake_rx f;

		fake_rx_open(&f, 2, 4, 6);
		if (layout)
			fake_rx_compress(&f, (enum m5_cq_layout)layout, 1);
		f.session_max = 7;
		f.limit = 7;
		for (uint32_t i = 0; i < 6; i++)
			assert_true(fake_rx_frame(&f, frame, sizeof(frame), true));
		fake_rx_flush(&f);
		assert_int_equal(m5_rx_burst_stamped(&f.rx, pkt, 2, &s), 2);
		assert_int_equal(s.at, 0);
		assert_int_equal(s.raw, 0);
		/* The rest: ordinary entries, or of the session whose title we had. */
		assert_int_equal(m5_rx_burst_stamped(&f.rx, pkt, 8, &s), 4);
		assert_int_equal(s.at, layout ? 4 : 0);
		if (!layout)
			assert_int_equal(s.raw, 2);
		assert_int_equal(m5_rx_burst_stamped(&f.rx, pkt, 8, &s), 0);
		assert_int_equal(s.at, 0);
		fake_rx_close(&f);
	}
}

/* Tags that the card took out, and checksums that it may not have looked at. */
static void header_words(void **state)
{
	static const struct {
		uint32_t header;
		uint8_t tunnel;
		uint16_t flags, vlan;
	} rows[] = {
		{ 0x07280000, 0, M5_PKT_L3_OK | M5_PKT_L4_OK, 0 },
		{ 0x07290123, 0, M5_PKT_L3_OK | M5_PKT_L4_OK | M5_PKT_VLAN, 0x0123 },
		{ 0x0329efff, 0, M5_PKT_L3_OK | M5_PKT_VLAN, 0xefff },
		{ 0x05280000, 0, M5_PKT_L4_OK, 0 },
		{ 0x01080000, 0, 0, 0 },
		{ 0x07280000, 1, 0, 0 }, /* the inner ones may be meant */
		{ 0x07280000, 0, M5_PKT_L3_OK | M5_PKT_L4_OK, 0 },
		{ 0x07290fff, 1, M5_PKT_VLAN, 0x0fff },
	};
	enum { N = sizeof(rows) / sizeof(rows[0]) };
	struct m5_pkt pkt[N];
	struct fake_rx f;

	(void)state;
	fake_rx_open(&f, 2, 3, 6);
	for (uint32_t i = 0; i < N; i++) {
		write_entry(&f, 1 << 16 | 60, (uint16_t)i, PRM_CQE_RECEIVED << 4);
		entry_before(&f)->header = to_be32(rows[i].header);
		entry_before(&f)->tunnel = rows[i].tunnel;
	}
	assert_int_equal(m5_rx_burst(&f.rx, pkt, N), N);
	for (unsigned i = 0; i < N; i++) {
		assert_int_equal(pkt[i].flags, rows[i].flags);
		assert_int_equal(pkt[i].vlan, rows[i].vlan);
		assert_int_equal(pkt[i].len, 60);
	}
	fake_rx_close(&f);
}

/* The solicited bit says nothing to us. */
static void solicited(void **state)
{
	struct m5_pkt pkt[2];
	struct fake_rx f;

	(void)state;
	fake_rx_open(&f, 2, 3, 6);
	write_entry(&f, 1 << 16 | 60, 0, PRM_CQE_RECEIVED << 4 | PRM_CQE_SOLICITED);
	assert_int_equal(m5_rx_burst(&f.rx, pkt, 2), 1);
	assert_false(m5_rx_failed(&f.rx));
	fake_rx_close(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(striding_past_64k_chunks),
		cmocka_unit_test(cyclic_past_64k_chunks),
		cmocka_unit_test(sessions_past_64k_chunks),
		cmocka_unit_test(sessions_in_small_rings),
		cmocka_unit_test(layouts_agree),
		cmocka_unit_test(whole_chunks),
		cmocka_unit_test(consumer_index_wraps),
		cmocka_unit_test(oldest_chunk_first),
		cmocka_unit_test(half_filled),
		cmocka_unit_test(nothing_yet),
		cmocka_unit_test(first_error_counts),
		cmocka_unit_test(entries_out_of_step),
		cmocka_unit_test(fillers_are_counted),
		cmocka_unit_test(error_in_each_position),
		cmocka_unit_test(sessions_out_of_step),
		cmocka_unit_test(stamps),
		cmocka_unit_test(header_words),
		cmocka_unit_test(solicited),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
