/* test/test_rq_stride.c - striding receive queues
 *
 * The expected place of each frame is computed here, from DPDK's reading of the
 * completion (mlx5_rx.c, mlx5_rx_burst_mprq): strides go up one WQE after another,
 * a filler takes the rest of one.
 */
#include "queue_rig.h"

#include <endian.h>
#include <string.h>

static struct q_rx open_rig(uint8_t log_size, uint8_t log_strides, uint8_t log_bytes,
			    bool shift)
{
	return q_rx_open((const char *[]){ "hca2.log_min_stride_wqe_sz=9", NULL },
			 &(struct d_cq_conf){ .log_size = 8 },
			 &(struct d_rq_conf){ .log_size = log_size,
					      .striding = true,
					      .log_strides = log_strides,
					      .log_stride_bytes = log_bytes,
					      .two_byte_shift = shift,
					      .user_index = 0x123456 });
}

static void assert_clean(struct q_rx *rx)
{
	for (unsigned i = 0; i < rx->d->log.n; i++)
		print_error("%s\n", rx->d->log.at[i]);
	assert_int_equal(rx->d->log.n, 0);
	assert_int_equal(q_rq(rx->rq)->state, CX_Q_RDY);
	q_rx_close(rx);
}

/* Where a driver thinks the device is. */
struct walk {
	uint16_t wqe;
	uint32_t stride;
	unsigned fillers;
};

static uint32_t strides(const struct q_rx *rx)
{
	return 1u << rx->rq->conf.log_strides;
}

static uint32_t need(const struct q_rx *rx, uint32_t len)
{
	uint32_t bytes = 1u << rx->rq->conf.log_stride_bytes;

	return (len + (rx->rq->conf.two_byte_shift ? 2 : 0) + bytes - 1) / bytes;
}

static void advance(struct q_rx *rx, struct walk *w, uint32_t n)
{
	w->stride += n;
	assert_true(w->stride <= strides(rx));
	if (w->stride < strides(rx))
		return;
	w->stride = 0;
	w->wqe++;
	d_rq_post(rx->rq, 1);
}

static void assert_filler(struct q_rx *rx, struct walk *w)
{
	const uint8_t *cqe = d_cq_poll(rx->cq);
	uint32_t rest = strides(rx) - w->stride;

	assert_non_null(cqe);
	assert_int_equal(cqe[63] >> 4, 2);
	assert_int_equal(cx_be32(cqe + 0x2c), 0x80000000 | rest << 16);
	assert_int_equal(cx_be16(cqe + 0x3c), w->stride);
	assert_int_equal(cx_be16(cqe + 0x02), w->wqe);
	w->fillers++;
	advance(rx, w, rest);
}

/* The next frame, with the filler before it if one is due. */
static void assert_got(struct q_rx *rx, struct walk *w, uint32_t len, uint32_t seed)
{
	uint32_t shift = rx->rq->conf.two_byte_shift ? 2 : 0, n = need(rx, len);
	const uint8_t *cqe, *at;
	static uint8_t want[16384];

	if (n > strides(rx) - w->stride)
		assert_filler(rx, w);
	cqe = d_cq_poll(rx->cq);
	at = d_rq_buf(rx->rq, w->wqe) + (w->stride << rx->rq->conf.log_stride_bytes);
	assert_non_null(cqe);
	assert_int_equal(cx_be32(cqe + 0x2c), n << 16 | len);
	assert_int_equal(cx_be16(cqe + 0x3c), w->stride);
	assert_int_equal(cx_be16(cqe + 0x02), w->wqe);
	assert_int_equal(cx_be32(cqe + 0x20) & 0xffffff, 0x123456);
	q_frame(want, len, seed);
	assert_memory_equal(at + shift, want, len);
	if (shift)
		assert_int_equal(cx_be16(at), 0);
	advance(rx, w, n);
}

/* ---- frames ---- */

static void run_sizes(uint8_t log_strides, uint8_t log_bytes, bool shift)
{
	struct q_rx rx = open_rig(2, log_strides, log_bytes, shift);
	uint32_t most = 1u << (log_strides + log_bytes);
	struct walk w = { 0, 0, 0 };

	d_rq_post(rx.rq, 4);
	for (uint32_t len = 60; len <= 9000 && len + (shift ? 2 : 0) <= most; len++) {
		q_rx_send(&rx, 1, len, len);
		assert_got(&rx, &w, len, len);
		assert_null(d_cq_poll(rx.cq));
	}
	assert_true(w.fillers > 0);
	assert_clean(&rx);
}

/* DPDK's default (64 x 2048), and the ends of what may be asked for. */
static void test_every_size(void **state)
{
	(void)state;
	run_sizes(6, 11, false);
	run_sizes(9, 6, false);
	run_sizes(9, 6, true);
	run_sizes(3, 13, false);
	run_sizes(6, 8, true);
}

static void test_many_in_one_wqe(void **state)
{
	struct q_rx rx = open_rig(1, 6, 8, false);
	struct walk w = { 0, 0, 0 };

	(void)state;
	d_rq_post(rx.rq, 2);
	for (unsigned round = 0; round < 20; round++) {
		q_rx_send(&rx, 128, 60 + round * 9, round);
		for (unsigned i = 0; i < 128; i++)
			assert_got(&rx, &w, 60 + round * 9, round + i);
	}
	assert_int_equal(w.wqe, 20 * 2);
	assert_int_equal(w.fillers, 0);
	assert_clean(&rx);
}

/* Past 2^16 WQEs; sizes such that fillers, whole WQEs and single strides all occur. */
static void test_wraps(void **state)
{
	struct q_rx rx = open_rig(2, 3, 8, false);
	struct walk w = { 0, 0, 0 };

	(void)state;
	d_rq_post(rx.rq, 4);
	for (uint32_t i = 0, wqes = 0; wqes < 70000; i++) {
		uint32_t len = 60 + i * 7919 % 1980;
		uint16_t before = w.wqe;

		q_rx_send(&rx, 1, len, i);
		assert_got(&rx, &w, len, i);
		wqes += (uint16_t)(w.wqe - before);
	}
	assert_true(w.fillers > 1000);
	assert_clean(&rx);
}

/* ---- fillers and buffers ---- */

static void test_filler_without_another_wqe(void **state)
{
	struct q_rx rx = open_rig(2, 3, 8, false);
	static uint8_t frame[1500];
	struct walk w = { 0, 0, 0 };

	(void)state;
	q_frame(frame, 1500, 5);
	d_rq_post(rx.rq, 1);
	q_rx_send(&rx, 1, 1500, 5); /* six of eight strides */
	assert_got(&rx, &w, 1500, 5);
	assert_int_equal(cx_rx(rx.d->dev, frame, 1500), CX_RX_NO_BUFFER);
	assert_filler(&rx, &w); /* it gives the WQE back: posts one more */
	q_rx_send(&rx, 1, 1500, 5);
	assert_got(&rx, &w, 1500, 5);
	assert_clean(&rx);
}

static void test_small_frame_still_fits(void **state)
{
	struct q_rx rx = open_rig(2, 3, 8, false);
	struct walk w = { 0, 0, 0 };

	(void)state;
	d_rq_post(rx.rq, 1);
	q_rx_send(&rx, 1, 1500, 1);
	q_rx_send(&rx, 1, 512, 2); /* just the two strides that are left */
	assert_got(&rx, &w, 1500, 1);
	assert_got(&rx, &w, 512, 2);
	assert_int_equal(w.fillers, 0);
	assert_clean(&rx);
}

static void test_out_of_buffer(void **state)
{
	struct direct *d =
		d_open((const char *[]){ "hca2.log_min_stride_wqe_sz=9", NULL });
	struct d_cq *cq = d_cq(d, &(struct d_cq_conf){ .log_size = 6 });
	uint8_t counter = d_q_counter(d), frame[60];
	struct d_rq *rq = d_rq(d, &(struct d_rq_conf){ .log_size = 1,
						       .cq = cq,
						       .striding = true,
						       .log_strides = 3,
						       .counter = counter });

	(void)state;
	d_all_to(d, d_tir(d, rq->num));
	q_frame(frame, 60, 1);
	d_rq_post(rq, 2);
	for (int i = 0; i < 20; i++)
		assert_int_equal(cx_rx(d->dev, frame, 60),
				 i < 16 ? CX_RX_QUEUED : CX_RX_NO_BUFFER);
	assert_int_equal(d_out_of_buffer(d, counter), 4);
	assert_int_equal(d->log.n, 0);
	d_close(d);
}

/* ---- what is refused ---- */

static void test_frame_longer_than_a_wqe(void **state)
{
	struct q_rx rx = open_rig(2, 3, 8, false);
	static uint8_t frame[2049];
	const uint8_t *cqe;
	struct walk w = { 0, 0, 0 };

	(void)state;
	q_frame(frame, 2049, 1);
	d_rq_post(rx.rq, 3);
	q_rx_send(&rx, 1, 300, 1);
	assert_got(&rx, &w, 300, 1);
	assert_int_equal(cx_rx(rx.d->dev, frame, 2049), CX_RX_DEAD);
	cqe = d_cq_poll(rx.cq);
	q_assert_error(cqe, (struct q_error){ 14, 1, 0x8e, rx.rq->num, 2 });
	assert_int_equal(cx_be16(cqe + 2), 0);		 /* the WQE */
	assert_int_equal(cx_be32(cqe + 0x2c), 6u << 16); /* the strides it gives back */
	advance(&rx, &w, 6);
	q_rx_send(&rx, 1, 2048, 2);
	assert_got(&rx, &w, 2048, 2);
	assert_int_equal(q_rq(rx.rq)->state, CX_Q_RDY);
	q_rx_close(&rx);
}

/* A driver and a device that count strides differently by one bit. */
static void test_stride_count_off_by_one_bit(void **state)
{
	static const int8_t off[] = { -1, 1 };

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct q_rx rx = open_rig(2, 6, 8, false);
		uint8_t frame[60];

		q_frame(frame, 60, 1);
		d_rq_post(rx.rq, 4);
		cx_put_be32(d_rq_wqe(rx.rq, 0) + 16, 1u << (6 + 8 + off[i]));
		assert_int_equal(cx_rx(rx.d->dev, frame, 60), CX_RX_DEAD);
		d_assert_log(rx.d, "wqe_data.byte_cnt: 0x");
		d_assert_log(rx.d, "bytes are not those of all strides");
		for (uint16_t n = 0; n < 4; n++) {
			const uint8_t *cqe = d_cq_poll(rx.cq);

			q_assert_error(cqe,
				       (struct q_error){ 14, n ? 5 : 2, n ? 0xf9 : 0x68,
							 rx.rq->num, 0 });
			assert_int_equal(cx_be16(cqe + 2), n);
			assert_int_equal(cx_be32(cqe + 0x2c), 64u << 16);
		}
		assert_null(d_cq_poll(rx.cq));
		assert_int_equal(q_rq(rx.rq)->state, CX_Q_ERR);
		q_rx_close(&rx);
	}
}

static void test_one_wrong_bit_in_the_key(void **state)
{
	(void)state;
	for (int bit = 0; bit < 32; bit++) {
		struct q_rx rx = open_rig(2, 6, 8, false);
		uint8_t frame[60], *key = d_rq_wqe(rx.rq, 0) + 20;

		q_frame(frame, 60, 1);
		d_rq_post(rx.rq, 1);
		q_rx_send(&rx, 1, 60, 1);
		d_cq_consume(rx.cq, 1);
		cx_put_be32(key, cx_be32(key) ^ 1u << bit);
		assert_int_equal(cx_rx(rx.d->dev, frame, 60), CX_RX_DEAD);
		d_assert_log(rx.d, "wqe_data.lkey: 0x");
		q_assert_error(d_cq_poll(rx.cq),
			       (struct q_error){ 14, 4, 0x52, rx.rq->num, 1 });
		assert_null(d_cq_poll(rx.cq));
		q_rx_close(&rx);
	}
}

/* Only next_wqe_index may be set: VPP sets it, and the device ignores it. */
static void test_next_segment(void **state)
{
	(void)state;
	for (int byte = 0; byte < 16; byte++) {
		struct q_rx rx = open_rig(2, 6, 8, false);
		uint8_t frame[60];
		bool index = byte == 2 || byte == 3;

		q_frame(frame, 60, 1);
		d_rq_post(rx.rq, 1);
		d_rq_wqe(rx.rq, 0)[byte] = 0x10;
		assert_int_equal(cx_rx(rx.d->dev, frame, 60),
				 index ? CX_RX_QUEUED : CX_RX_DEAD);
		if (!index)
			d_assert_log(rx.d, "wqe_next: 0x");
		q_rx_close(&rx);
	}
}

/* ---- one data segment per stride, as VPP's rdma plug-in has them ---- */

enum { VPP_STRIDES = 8, VPP_BYTES = 2048, VPP_WQE = 256 };

static void vpp_wqe(const struct d_rq *rq, unsigned wqe, const struct d_mem *mem)
{
	uint8_t *p = rq->ring + wqe * VPP_WQE;

	memset(p, 0, VPP_WQE);
	cx_put_be16(p + 2, (uint16_t)(wqe + 1)); /* next_wqe_index */
	for (unsigned i = 0; i < 2 * VPP_STRIDES - 1; i++) {
		uint8_t *seg = p + 16 + i * 16;

		cx_put_be32(seg, i < VPP_STRIDES ? VPP_BYTES : 0);
		cx_put_be32(seg + 4, mem->key);
		/* buffers from the end, so that strides do not lie side by side */
		if (i < VPP_STRIDES)
			cx_put_be64(seg + 8,
				    mem->iova + mem->len -
					    (wqe * VPP_STRIDES + i + 1) * UINT64_C(4096));
	}
}

static void test_segment_per_stride(void **state)
{
	struct direct *d = d_open(NULL);
	struct d_cq *cq = d_cq(d, &(struct d_cq_conf){ .log_size = 6 });
	uint32_t wq = (CX_create_rq_in__ctx >> 16 >> 3) + (CX_rqc__wq >> 16 >> 3);
	struct d_mem mem = d_mem(d, 4 * VPP_STRIDES * 4096);
	static uint8_t frame[9000];
	struct d_rq *rq;

	(void)state;
	cx_mtu_set(d->dev, 9200);
	d_patch(d, wq, CX_wq__log_wq_stride,
		8); /* 256 bytes instead of 32: 4 WQEs, not 32 */
	d_patch(d, wq, CX_wq__log_wq_sz, 2);
	rq = d_rq(d, &(struct d_rq_conf){ .log_size = 5,
					  .cq = cq,
					  .striding = true,
					  .log_strides = 3,
					  .log_stride_bytes = 11 });
	d_all_to(d, d_tir(d, rq->num));
	for (unsigned i = 0; i < 4; i++)
		vpp_wqe(rq, i, &mem);
	rq->dbrec[0] = htobe32(4);
	for (unsigned n = 0; n < 8; n++) { /* two of four strides each */
		q_frame(frame, 8000, n);
		assert_int_equal(cx_rx(d->dev, frame, 8000), CX_RX_QUEUED);
		assert_int_equal(cx_be32(d_cq_poll(cq) + 0x2c), 4u << 16 | 8000);
		for (unsigned s = 0; s < 4; s++)
			assert_memory_equal(mem.p + mem.len - (n * 4 + s + 1) * 4096,
					    frame + s * VPP_BYTES,
					    s < 3 ? 2048 : 8000 - 3 * 2048);
	}
	assert_int_equal(d->log.n, 0);
	d_close(d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_size),
		cmocka_unit_test(test_many_in_one_wqe),
		cmocka_unit_test(test_wraps),
		cmocka_unit_test(test_filler_without_another_wqe),
		cmocka_unit_test(test_small_frame_still_fits),
		cmocka_unit_test(test_out_of_buffer),
		cmocka_unit_test(test_frame_longer_than_a_wqe),
		cmocka_unit_test(test_stride_count_off_by_one_bit),
		cmocka_unit_test(test_one_wrong_bit_in_the_key),
		cmocka_unit_test(test_next_segment),
		cmocka_unit_test(test_segment_per_stride),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
