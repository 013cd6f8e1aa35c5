/* test/test_sq.c - send queues: every kind of WQE, ring and index wraps, completion modes */
#include "queue_rig.h"

#include <string.h>

struct rig {
	struct direct *d;
	struct d_cq *cq;
	struct d_sq *sq;
	struct d_mem mem; /* 1 MiB, filled with a pattern */
};

static struct rig open_sized(uint8_t log_sq, uint8_t log_cq)
{
	struct rig r = { .d = d_open(NULL) };

	cx_mtu_set(r.d->dev, 9200);
	r.cq = d_cq(r.d, &(struct d_cq_conf){ .log_size = log_cq });
	r.sq = d_sq(r.d, &(struct d_sq_conf){ .log_size = log_sq, .cq = r.cq });
	r.mem = d_mem(r.d, 1 << 20);
	q_frame(r.mem.p, 1 << 20, 1);
	return r;
}

static struct rig open_rig(void)
{
	return open_sized(6, 6);
}

static void post(struct rig *r, struct d_wqe *w)
{
	d_sq_put(r->sq, w);
	d_sq_ring(r->sq);
	d_run(r->d);
}

static void add_ptr(struct rig *r, struct d_wqe *w, uint32_t at, uint32_t len)
{
	d_wqe_ptr(w, r->mem.key, r->mem.iova + at, len);
}

/* The @n-th frame on the wire is @len bytes that start with @bytes of @p and go on as zeroes. */
static void assert_frame(const struct rig *r, unsigned n, const uint8_t *p,
			 uint32_t bytes)
{
	const struct d_frame *f;
	uint32_t len = bytes < 60 ? 60 : bytes;

	assert_true(n < r->d->wire.n);
	f = &r->d->wire.at[n];
	assert_int_equal(f->len, len);
	assert_memory_equal(f->data, p, bytes);
	for (uint32_t i = bytes; i < len; i++)
		assert_int_equal(f->data[i], 0);
}

static void assert_clean(struct rig *r)
{
	for (unsigned i = 0; i < r->d->log.n; i++)
		print_error("%s\n", r->d->log.at[i]);
	assert_int_equal(r->d->log.n, 0);
	assert_int_equal(q_sq(r->sq)->state, CX_Q_RDY);
	d_close(r->d);
}

/* ---- SEND ---- */

static void test_send_every_size(void **state)
{
	struct rig r = open_rig();

	(void)state;
	for (uint32_t len = 14; len <= 9000; len += len < 200 || len > 8990 ? 1 : 37) {
		struct d_wqe w = d_wqe(r.sq, D_SEND, D_CE_ALWAYS);

		d_wqe_eth(&w, NULL, 0);
		add_ptr(&r, &w, 0, len);
		post(&r, &w);
		assert_frame(&r, 0, r.mem.p, len);
		assert_non_null(d_cq_poll(r.cq));
		d_forget(r.d);
	}
	assert_clean(&r);
}

static void test_send_of_many_segments(void **state)
{
	struct rig r = open_rig();
	uint8_t want[4096];
	uint32_t n = 0;
	struct d_wqe w = d_wqe(r.sq, D_SEND, D_CE_ALWAYS);

	(void)state;
	d_wqe_eth(&w, NULL, 0);
	while (w.ds < 63) { /* the longest: see caps.c, max_send_segs() */
		uint32_t at = w.ds * 1000, len = 1 + w.ds % 61;

		add_ptr(&r, &w, at, len);
		memcpy(want + n, r.mem.p + at, len);
		n += len;
	}
	post(&r, &w);
	assert_frame(&r, 0, want, n);
	assert_int_equal(q_sq(r.sq)->wq.head, 16);
	assert_clean(&r);
}

static void test_inline_header_every_size(void **state)
{
	struct rig r = open_rig();

	(void)state;
	for (uint32_t hdr = 1; hdr <= 800; hdr += hdr < 100 ? 1 : 13) {
		struct d_wqe w = d_wqe(r.sq, D_SEND, D_CE_ALWAYS);

		d_wqe_eth(&w, r.mem.p, hdr);
		add_ptr(&r, &w, hdr, 77);
		post(&r, &w);
		assert_frame(&r, 0, r.mem.p, hdr + 77);
		d_cq_consume(r.cq, 1);
		d_forget(r.d);
	}
	assert_clean(&r);
}

static void test_frame_all_inline(void **state)
{
	struct rig r = open_rig();

	(void)state;
	for (uint32_t len = 14; len <= 900; len += len < 100 ? 1 : 29) {
		struct d_wqe w = d_wqe(r.sq, D_SEND, D_CE_ALWAYS);

		d_wqe_eth(&w, r.mem.p, len);
		post(&r, &w);
		assert_frame(&r, 0, r.mem.p, len);
		d_cq_consume(r.cq, 1);
		d_forget(r.d);
	}
	assert_clean(&r);
}

/* As rdma-core (set_data_inl_seg) and DPDK (mlx5_tx_dseg_iptr) write them. */
static void test_inline_data_segments(void **state)
{
	struct rig r = open_rig();
	struct d_wqe w = d_wqe(r.sq, D_SEND, D_CE_ALWAYS);

	(void)state;
	d_wqe_eth(&w, r.mem.p, 18);
	d_wqe_inline(&w, r.mem.p + 18, 12);
	add_ptr(&r, &w, 30, 100);
	d_wqe_inline(&w, r.mem.p + 130, 300);
	add_ptr(&r, &w, 430, 1);
	post(&r, &w);
	assert_frame(&r, 0, r.mem.p, 431);
	assert_clean(&r);
}

static void test_vlan_insert(void **state)
{
	static const struct {
		uint16_t type, tpid;
	} kind[] = { { 0x8000, 0x8100 }, { 0x8001, 0x88a8 } };
	struct rig r = open_rig();

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct d_wqe w = d_wqe(r.sq, D_SEND, D_CE_ALWAYS);
		uint8_t want[104];

		d_wqe_eth(&w, NULL, 0);
		cx_put_be32(w.b + 16 + 12, (uint32_t)kind[i].type << 16 | 0xe123);
		add_ptr(&r, &w, 0, 100);
		post(&r, &w);
		memcpy(want, r.mem.p, 12);
		cx_put_be16(want + 12, kind[i].tpid);
		cx_put_be16(want + 14, 0xe123);
		memcpy(want + 16, r.mem.p + 12, 88);
		assert_frame(&r, (unsigned)i, want, 104);
	}
	assert_clean(&r);
}

/* ---- multi-packet ---- */

static void test_multi_pointers(void **state)
{
	struct rig r = open_rig();

	(void)state;
	for (unsigned n = 1; n <= 61; n++) { /* 63 segments less two */
		struct d_wqe w = d_wqe(r.sq, D_MPSW, D_CE_ALWAYS);
		const uint8_t *cqe;

		d_wqe_eth(&w, NULL, 0);
		for (unsigned i = 0; i < n; i++)
			add_ptr(&r, &w, i * 2000, 60 + i * 20);
		post(&r, &w);
		assert_int_equal(r.d->wire.n, n);
		for (unsigned i = 0; i < n; i++)
			assert_frame(&r, i, r.mem.p + i * 2000, 60 + i * 20);
		cqe = d_cq_poll(r.cq);
		assert_int_equal(cqe[0x38], 0x29);
		assert_int_equal(cx_be16(cqe + 0x3c), r.sq->last);
		assert_null(d_cq_poll(r.cq));
		d_forget(r.d);
	}
	assert_clean(&r);
}

/* Each size of an inline entry has another padding behind it. */
static void test_multi_inline(void **state)
{
	struct rig r = open_rig();

	(void)state;
	for (uint32_t len = 14; len < 150; len++) {
		struct d_wqe w = d_wqe(r.sq, D_MPSW, D_CE_ALWAYS);
		unsigned n = 0;

		d_wqe_eth(&w, NULL, 0);
		for (; w.ds + (4 + len + 15) / 16 <= 63; n++)
			d_wqe_inline(&w, r.mem.p + n, len);
		post(&r, &w);
		assert_int_equal(r.d->wire.n, n);
		for (unsigned i = 0; i < n; i++)
			assert_frame(&r, i, r.mem.p + i, len);
		d_cq_consume(r.cq, 1);
		d_forget(r.d);
	}
	assert_clean(&r);
}

static void test_multi_mixed(void **state)
{
	struct rig r = open_rig();
	struct d_wqe w = d_wqe(r.sq, D_MPSW, D_CE_ALWAYS);

	(void)state;
	d_wqe_eth(&w, NULL, 0);
	add_ptr(&r, &w, 0, 100);
	d_wqe_inline(&w, r.mem.p + 1, 61);
	add_ptr(&r, &w, 2, 1500);
	d_wqe_inline(&w, r.mem.p + 3, 268);
	d_wqe_inline(&w, r.mem.p + 4, 14);
	add_ptr(&r, &w, 5, 9000);
	post(&r, &w);
	assert_int_equal(r.d->wire.n, 6);
	assert_frame(&r, 0, r.mem.p, 100);
	assert_frame(&r, 1, r.mem.p + 1, 61);
	assert_frame(&r, 2, r.mem.p + 2, 1500);
	assert_frame(&r, 3, r.mem.p + 3, 268);
	assert_frame(&r, 4, r.mem.p + 4, 14);
	assert_frame(&r, 5, r.mem.p + 5, 9000);
	assert_int_equal(cx_stats(r.d->dev)->tx_frames, 6);
	assert_int_equal(cx_stats(r.d->dev)->tx_bytes, 100 + 61 + 1500 + 268 + 60 + 9000);
	assert_clean(&r);
}

/* ---- wraps ---- */

/* A ring of 16 blocks, WQEs of 1 to 16 blocks at every offset, the index past 2^16 twice. */
static void test_wraps(void **state)
{
	struct rig r = open_sized(4, 2);
	uint64_t blocks = 0;

	(void)state;
	for (unsigned round = 0; blocks < 140000; round++) {
		unsigned n = round * 7 % 61 + 1;
		struct d_wqe w = d_wqe(r.sq, D_MPSW, D_CE_ALWAYS);
		const uint8_t *cqe;

		d_wqe_eth(&w, NULL, 0);
		if (round % 3) {
			for (unsigned i = 0; i < n; i++)
				add_ptr(&r, &w, (round + i) % 4096, 60 + i);
		} else {
			n = 1;
			d_wqe_inline(&w, r.mem.p + round % 4096, 61 + round % 700);
		}
		post(&r, &w);
		blocks += (w.ds + 3) / 4;
		assert_int_equal(r.d->wire.n, n);
		if (round % 3)
			for (unsigned i = 0; i < n; i++)
				assert_frame(&r, i, r.mem.p + (round + i) % 4096, 60 + i);
		else
			assert_frame(&r, 0, r.mem.p + round % 4096, 61 + round % 700);
		cqe = d_cq_poll(r.cq);
		assert_int_equal(cx_be16(cqe + 0x3c), r.sq->last);
		d_forget(r.d);
	}
	assert_int_equal(q_sq(r.sq)->wq.head, blocks & 0xffff);
	assert_clean(&r);
}

static void test_inline_header_over_the_end(void **state)
{
	struct rig r = open_sized(2, 2);

	(void)state;
	for (unsigned start = 0; start < 4; start++) {
		struct d_wqe w;

		while ((r.sq->pi & 3) != start) {
			w = d_wqe(r.sq, D_NOP_WQE, D_CE_ERROR);
			post(&r, &w);
		}
		w = d_wqe(r.sq, D_SEND, D_CE_ERROR);
		d_wqe_eth(&w, r.mem.p, 220);
		post(&r, &w);
		assert_frame(&r, start, r.mem.p, 220);
	}
	assert_clean(&r);
}

static void test_full_ring_in_one_doorbell(void **state)
{
	struct rig r = open_sized(6, 0);

	(void)state;
	for (unsigned lap = 0; lap < 3; lap++) {
		for (unsigned i = 0; i < 64; i++) {
			struct d_wqe w = d_wqe(r.sq, D_SEND, D_CE_ERROR);

			d_wqe_eth(&w, NULL, 0);
			add_ptr(&r, &w, i, 64);
			d_sq_put(r.sq, &w);
		}
		d_sq_ring(r.sq);
		d_run(r.d);
		assert_int_equal(r.d->wire.n, 64);
		for (unsigned i = 0; i < 64; i++)
			assert_frame(&r, i, r.mem.p + i, 64);
		d_forget(r.d);
	}
	assert_clean(&r);
}

/* More than one step's budget, and a record that moves without a doorbell. */
static void test_record_alone_does_nothing(void **state)
{
	struct rig r = open_rig();
	struct d_wqe w = d_wqe(r.sq, D_NOP_WQE, D_CE_ALWAYS);

	(void)state;
	d_sq_put(r.sq, &w);
	d_sq_record(r.sq);
	d_run(r.d);
	assert_null(d_cq_poll(r.cq));
	d_sq_ring(r.sq);
	d_run(r.d);
	assert_non_null(d_cq_poll(r.cq));
	assert_clean(&r);
}

/* ---- completion modes of WQEs that succeed ---- */

static void test_completion_modes(void **state)
{
	static const uint8_t opcodes[] = { D_NOP_WQE, D_SEND, D_MPSW };
	struct rig r = open_rig();

	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		for (uint8_t ce = 0; ce < 4; ce++) {
			struct d_wqe w = d_wqe(r.sq, opcodes[i], ce);

			if (opcodes[i] != D_NOP_WQE) {
				d_wqe_eth(&w, NULL, 0);
				add_ptr(&r, &w, 0, 60);
			}
			post(&r, &w);
			if (ce < 2)
				assert_null(d_cq_poll(r.cq));
			else
				assert_int_equal(d_cq_poll(r.cq)[0x38], opcodes[i]);
			assert_null(d_cq_poll(r.cq));
			assert_int_equal(r.d->events.n, ce == 3);
			d_forget(r.d);
		}
	}
	assert_clean(&r);
}

/* DPDK asks once in many WQEs, and learns of all before by the index. */
static void test_one_completion_for_many(void **state)
{
	struct rig r = open_sized(6, 0);

	(void)state;
	for (unsigned i = 0; i < 1000; i++) {
		struct d_wqe w = d_wqe(r.sq, D_NOP_WQE,
				       i % 32 == 31 ? D_CE_ALWAYS : D_CE_FIRST_ERROR);

		post(&r, &w);
		if (i % 32 == 31)
			assert_int_equal(cx_be16(d_cq_poll(r.cq) + 0x3c), i);
		else
			assert_null(d_cq_poll(r.cq));
	}
	assert_clean(&r);
}

static void test_timestamp_formats(void **state)
{
	static const uint64_t want[] = { UINT64_C(123456789012), UINT64_C(123456789012),
					 UINT64_C(123) << 32 | 456789012 };

	(void)state;
	for (uint8_t format = 0; format < 3; format++) {
		struct direct *d = d_open(NULL);
		struct d_cq *cq = d_cq(d, &(struct d_cq_conf){ .log_size = 2 });
		struct d_sq *sq = d_sq(d, &(struct d_sq_conf){ .log_size = 2,
							       .cq = cq,
							       .ts_format = format });
		struct d_wqe w;

		cx_clock_advance(d->dev, UINT64_C(123456789012));
		w = d_wqe(sq, D_NOP_WQE, D_CE_ALWAYS);
		d_sq_put(sq, &w);
		d_sq_ring(sq);
		d_run(d);
		assert_true(cx_be64(d_cq_poll(cq) + 0x30) == want[format]);
		d_close(d);
	}
}

/* ---- the port ---- */

static void test_oversize_is_dropped_and_counted(void **state)
{
	struct rig r = open_rig();

	(void)state;
	cx_mtu_set(r.d->dev, 1500);
	for (uint32_t len = 1520; len <= 1524; len++) {
		struct d_wqe w = d_wqe(r.sq, D_SEND, D_CE_ALWAYS);

		d_wqe_eth(&w, NULL, 0);
		add_ptr(&r, &w, 0, len);
		post(&r, &w);
		assert_int_equal(d_cq_poll(r.cq)[63] >> 4,
				 0); /* a success all the same */
	}
	assert_int_equal(r.d->wire.n, 3);
	assert_int_equal(cx_stats(r.d->dev)->tx_oversize, 2);
	assert_clean(&r);
}

static void test_link_down_and_drops(void **state)
{
	struct rig r = open_rig();
	uint8_t frame[60];

	(void)state;
	q_frame(frame, 60, 1);
	cx_link_set(r.d->dev, false);
	d_send(r.sq, frame, 60);
	d_run(r.d);
	assert_non_null(d_cq_poll(r.cq));
	assert_int_equal(r.d->wire.n, 0);
	cx_link_set(r.d->dev, true);
	d_fault(r.d, "drop tx nth=2");
	for (int i = 0; i < 3; i++)
		d_send(r.sq, frame, 60);
	d_run(r.d);
	assert_int_equal(r.d->wire.n, 2);
	assert_int_equal(cx_stats(r.d->dev)->tx_lost, 2);
	assert_clean(&r);
}

/* ---- the record after a reset; several queues on one page ---- */

static void test_reset_forgets_the_old_record(void **state)
{
	struct rig r = open_rig();
	struct d_sq *other = d_sq(r.d, &(struct d_sq_conf){ .log_size = 6, .cq = r.cq });
	struct d_wqe w;

	(void)state;
	for (int i = 0; i < 3; i++) {
		w = d_wqe(r.sq, D_NOP_WQE, D_CE_ALWAYS);
		post(&r, &w);
	}
	assert_int_equal(d_sq_state(r.sq, 1, 0), CX_ST_OK);
	assert_int_equal(d_sq_state(r.sq, 0, 1), CX_ST_OK);
	d_cq_consume(r.cq, 3);
	w = d_wqe(other, D_NOP_WQE,
		  D_CE_ALWAYS); /* rings the page: the old record still says 3 */
	d_sq_put(other, &w);
	d_sq_ring(other);
	d_run(r.d);
	assert_non_null(d_cq_poll(r.cq));
	assert_null(d_cq_poll(r.cq));
	r.sq->pi = 0;
	for (int i = 0; i < 3; i++) { /* and says 3 again, rightly */
		w = d_wqe(r.sq, D_NOP_WQE, D_CE_ALWAYS);
		d_sq_put(r.sq, &w);
	}
	d_sq_ring(r.sq);
	d_run(r.d);
	for (int i = 0; i < 3; i++)
		assert_int_equal(cx_be16(d_cq_poll(r.cq) + 0x3c), i);
	assert_clean(&r);
}

static void test_delay(void **state)
{
	struct rig r = open_rig();
	struct d_wqe w = d_wqe(r.sq, D_NOP_WQE, D_CE_ALWAYS);

	(void)state;
	d_fault(r.d, "delay us=10");
	post(&r, &w);
	assert_null(d_cq_poll(r.cq));
	cx_clock_advance(r.d->dev, 9999);
	d_run(r.d);
	assert_null(d_cq_poll(r.cq));
	cx_clock_advance(r.d->dev, 1);
	d_run(r.d);
	assert_non_null(d_cq_poll(r.cq));
	assert_clean(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_send_every_size),
		cmocka_unit_test(test_send_of_many_segments),
		cmocka_unit_test(test_inline_header_every_size),
		cmocka_unit_test(test_frame_all_inline),
		cmocka_unit_test(test_inline_data_segments),
		cmocka_unit_test(test_vlan_insert),
		cmocka_unit_test(test_multi_pointers),
		cmocka_unit_test(test_multi_inline),
		cmocka_unit_test(test_multi_mixed),
		cmocka_unit_test(test_wraps),
		cmocka_unit_test(test_inline_header_over_the_end),
		cmocka_unit_test(test_full_ring_in_one_doorbell),
		cmocka_unit_test(test_record_alone_does_nothing),
		cmocka_unit_test(test_completion_modes),
		cmocka_unit_test(test_one_completion_for_many),
		cmocka_unit_test(test_timestamp_formats),
		cmocka_unit_test(test_oversize_is_dropped_and_counted),
		cmocka_unit_test(test_link_down_and_drops),
		cmocka_unit_test(test_reset_forgets_the_old_record),
		cmocka_unit_test(test_delay),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
