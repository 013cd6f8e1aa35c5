/* test/test_rq.c - plain receive queues: scatter, completions, what is refused */
#include "queue_rig.h"

#include <endian.h>
#include <stdio.h>
#include <string.h>

#include "frame.h"

static struct q_rx open_rig(uint8_t log_size, uint8_t segs, uint32_t bytes)
{
	return q_rx_open(NULL, &(struct d_cq_conf){ .log_size = 6 },
			 &(struct d_rq_conf){ .log_size = log_size,
					      .segs = segs,
					      .buf_bytes = bytes,
					      .user_index = 0xabcdef });
}

static void assert_clean(struct q_rx *rx)
{
	for (unsigned i = 0; i < rx->d->log.n; i++)
		print_error("%s\n", rx->d->log.at[i]);
	assert_int_equal(rx->d->log.n, 0);
	assert_int_equal(q_rq(rx->rq)->state, CX_Q_RDY);
	q_rx_close(rx);
}

/* WQE @index holds the frame of that seed, and a completion says so. */
static void assert_got(struct q_rx *rx, uint16_t index, uint32_t len, uint32_t seed)
{
	const uint8_t *cqe = d_cq_poll(rx->cq), *buf = d_rq_buf(rx->rq, index);
	uint8_t want[16384];

	assert_non_null(cqe);
	assert_int_equal(cqe[63] >> 4, 2);
	assert_int_equal(cx_be32(cqe + 0x2c), len);
	assert_int_equal(cx_be16(cqe + 0x3c), index);
	assert_int_equal(cx_be32(cqe + 0x20) & 0xffffff, 0xabcdef);
	q_frame(want, len, seed);
	assert_memory_equal(buf, want, len);
}

/* ---- scatter ---- */

static void test_every_size(void **state)
{
	struct q_rx rx = open_rig(2, 1, 9216);
	uint16_t i = 0;

	(void)state;
	for (uint32_t len = 60; len <= 9000; len++, i++) {
		d_rq_post(rx.rq, 1);
		memset(d_rq_buf(rx.rq, i), 0xee, 9216);
		q_rx_send(&rx, 1, len, len);
		assert_got(&rx, i, len, len);
		assert_int_equal(d_rq_buf(rx.rq, i)[len], 0xee); /* and not a byte more */
	}
	assert_clean(&rx);
}

static void test_over_segments(void **state)
{
	struct q_rx rx = open_rig(2, 4, 500);
	uint16_t i = 0;

	(void)state;
	for (uint32_t len = 60; len <= 2000;
	     len += len % 500 < 497 && len % 500 > 3 ? 7 : 1, i++) {
		d_rq_post(rx.rq, 1);
		q_rx_send(&rx, 1, len, len);
		assert_got(&rx, i, len, len); /* its four buffers lie side by side */
	}
	assert_clean(&rx);
}

static void set_seg(const struct q_rx *rx, uint16_t wqe, unsigned seg, uint32_t bytes,
		    uint32_t key, uint64_t addr)
{
	uint8_t *p = d_rq_wqe(rx->rq, wqe) + seg * 16;

	cx_put_be32(p, bytes);
	cx_put_be32(p + 4, key);
	cx_put_be64(p + 8, addr);
}

/* rdma-core ends a short list with key 0x100, VPP fills up with segments of no bytes. */
static void test_short_lists(void **state)
{
	struct q_rx rx = open_rig(2, 4, 500);

	(void)state;
	d_rq_post(rx.rq, 2);
	set_seg(&rx, 0, 2, 0, 0x100, 0);
	set_seg(&rx, 0, 3, 0xffffffff, 0, 0); /* never looked at */
	set_seg(&rx, 1, 1, 0, rx.rq->mem.key, 0);
	set_seg(&rx, 1, 2, 500, rx.rq->mem.key, rx.rq->mem.iova + 2000 + 500);
	q_rx_send(&rx, 1, 1000, 1);
	q_rx_send(&rx, 1, 1000, 2);
	assert_got(&rx, 0, 1000, 1);
	assert_got(&rx, 1, 1000, 2);
	assert_clean(&rx);
}

static void test_wraps(void **state)
{
	struct q_rx rx = open_rig(3, 1, 128);

	(void)state;
	for (uint32_t i = 0; i < 140000; i++) {
		d_rq_post(rx.rq, 1);
		q_rx_send(&rx, 1, 60 + i % 60, i);
		assert_got(&rx, (uint16_t)i, 60 + i % 60, i);
	}
	assert_clean(&rx);
}

/* DPDK's record goes on counting in 32 bits. */
static void test_record_of_32_bits(void **state)
{
	struct q_rx rx = open_rig(3, 1, 128);
	uint32_t i = 0;

	(void)state;
	d_rq_post(rx.rq, 8);
	for (; i < 140000; i++) {
		rx.rq->dbrec[0] = htobe32(i + 8);
		q_rx_send(&rx, 1, 60, i);
		assert_got(&rx, (uint16_t)i, 60, i);
	}
	assert_int_equal(rx.d->log.n, 0);
	rx.rq->dbrec[0] = htobe32((i + 8) ^ 0x40000); /* one bit of the upper half */
	assert_int_equal(cx_rx(rx.d->dev, d_rq_buf(rx.rq, 0), 60), CX_RX_DEAD);
	d_assert_log(rx.d, "wq_dbrec.rcv: 0x");
	q_rx_close(&rx);
}

/* ---- no buffer ---- */

static void test_out_of_buffer(void **state)
{
	struct direct *d = d_open(NULL);
	struct d_cq *cq = d_cq(d, &(struct d_cq_conf){ .log_size = 6 });
	uint8_t counter = d_q_counter(d), frame[60];
	struct d_rq *rq = d_rq(
		d, &(struct d_rq_conf){ .log_size = 2, .cq = cq, .counter = counter });

	(void)state;
	d_all_to(d, d_tir(d, rq->num));
	q_frame(frame, 60, 1);
	for (int i = 0; i < 7; i++)
		assert_int_equal(cx_rx(d->dev, frame, 60), CX_RX_NO_BUFFER);
	assert_int_equal(d_out_of_buffer(d, counter), 7);
	d_rq_post(rq, 4);
	for (int i = 0; i < 6; i++)
		assert_int_equal(cx_rx(d->dev, frame, 60),
				 i < 4 ? CX_RX_QUEUED : CX_RX_NO_BUFFER);
	assert_int_equal(d_out_of_buffer(d, counter), 9);
	assert_int_equal(d->log.n, 0);
	d_close(d);
}

static void test_held_queue_loses_frames(void **state)
{
	struct q_rx rx = open_rig(2, 1, 128);
	uint8_t frame[60];
	char line[32];

	(void)state;
	d_rq_post(rx.rq, 4);
	q_frame(frame, 60, 5);
	snprintf(line, sizeof(line), "hold cq=%u", rx.cq->num);
	d_fault(rx.d, line);
	assert_int_equal(cx_rx(rx.d->dev, frame, 60), CX_RX_NO_BUFFER);
	d_fault(rx.d, "clear");
	q_rx_send(&rx, 1, 60, 5);
	assert_got(&rx, 0, 60, 5);
	assert_clean(&rx);
}

/* ---- too long: an error, and the queue goes on ---- */

static void test_frame_longer_than_the_wqe(void **state)
{
	struct q_rx rx = open_rig(2, 2, 500);
	static uint8_t frame[1001];

	(void)state;
	d_rq_post(rx.rq, 3);
	q_frame(frame, 1001, 1);
	q_rx_send(&rx, 1, 1000, 7);
	assert_int_equal(cx_rx(rx.d->dev, frame, 1001), CX_RX_DEAD);
	q_rx_send(&rx, 1, 1000, 8);
	assert_got(&rx, 0, 1000, 7);
	q_assert_error(d_cq_poll(rx.cq), (struct q_error){ 14, 1, 0x8e, rx.rq->num, 1 });
	assert_got(&rx, 2, 1000, 8);
	d_assert_log(rx.d, "wqe_data.byte_cnt: a frame of 1001 bytes, WQE 1 holds 1000");
	assert_int_equal(q_rq(rx.rq)->state, CX_Q_RDY);
	assert_int_equal(rx.d->events.n, 0);
	assert_int_equal(cx_stats(rx.d->dev)->wqe_refusals, 1);
	q_rx_close(&rx);
}

/* ---- errors that stop the queue ---- */

/* After the error in WQE @bad: flush errors to the last one posted. */
static void assert_dead(struct q_rx *rx, uint8_t syndrome, uint8_t vendor, uint16_t bad)
{
	q_assert_error(d_cq_poll(rx->cq),
		       (struct q_error){ 14, syndrome, vendor, rx->rq->num, bad });
	for (uint16_t i = (uint16_t)(bad + 1); i != rx->rq->pi; i++)
		q_assert_error(d_cq_poll(rx->cq),
			       (struct q_error){ 14, 5, 0xf9, rx->rq->num, i });
	assert_null(d_cq_poll(rx->cq));
	assert_true(q_event(rx->d, CX_EVENT_WQ_CATASTROPHIC, rx->rq->num));
	assert_int_equal(q_rq(rx->rq)->state, CX_Q_ERR);
	assert_int_equal(rx->d->log.n, 1);
}

static void receive_dead(struct q_rx *rx)
{
	uint8_t frame[64];

	q_frame(frame, 64, 3);
	assert_int_equal(cx_rx(rx->d->dev, frame, 64), CX_RX_DEAD);
}

static void test_one_wrong_bit_in_the_key(void **state)
{
	(void)state;
	for (int bit = 0; bit < 32; bit++) {
		struct q_rx rx = open_rig(2, 1, 128);

		d_rq_post(rx.rq, 4);
		q_rx_send(&rx, 1, 64, 1);
		assert_got(&rx, 0, 64, 1);
		set_seg(&rx, 1, 0, 128, rx.rq->mem.key ^ 1u << bit, rx.rq->mem.iova);
		receive_dead(&rx);
		d_assert_log(rx.d, "wqe_data.lkey: 0x");
		assert_dead(&rx, 4, 0x52, 1);
		q_rx_close(&rx);
	}
}

static void test_keys_that_may_not(void **state)
{
	static const char *const why[] = { "key without local write",
					   "another protection domain",
					   "outside the key's range" };

	(void)state;
	for (int i = 0; i < 3; i++) {
		struct q_rx rx = open_rig(2, 1, 128);
		uint32_t pdn = i == 1 ? d_pd(rx.d) : rx.d->pdn, key;

		assert_int_equal(cx_mkey_reg(rx.d->dev, rx.d->uid, pdn, rx.rq->mem.p,
					     0x1000, 100, i != 0, &key),
				 0);
		d_rq_post(rx.rq, 4);
		set_seg(&rx, 0, 0, 128, key,
			i == 2 ? 0x1025 : 0x1000); /* 0x1024 + 64 = its end */
		receive_dead(&rx);
		d_assert_log(rx.d, why[i]);
		assert_dead(&rx, 4, 0x52, 0);
		q_rx_close(&rx);
	}
}

static void test_inline_bit(void **state)
{
	struct q_rx rx = open_rig(2, 1, 128);

	(void)state;
	d_rq_post(rx.rq, 2);
	set_seg(&rx, 0, 0, 0x80000080, rx.rq->mem.key, rx.rq->mem.iova);
	receive_dead(&rx);
	d_assert_log(rx.d, "wqe_data.inline_data: is set in a receive WQE");
	assert_dead(&rx, 2, 0x68, 0);
	q_rx_close(&rx);
}

static void test_record_too_far(void **state)
{
	struct q_rx rx = open_rig(2, 1, 128);

	(void)state;
	d_rq_post(rx.rq, 4);
	rx.rq->dbrec[0] = htobe32(5);
	receive_dead(&rx);
	d_assert_log(
		rx.d,
		"wq_dbrec.rcv: 0x00000005 is not within 4 entries of 0 (byte order?)");
	q_assert_error(d_cq_poll(rx.cq), (struct q_error){ 14, 2, 0x68, rx.rq->num, 0 });
	assert_null(d_cq_poll(rx.cq)); /* how much is posted, nobody knows */
	q_rx_close(&rx);
}

static void test_record_in_host_order(void **state)
{
	struct q_rx rx = open_rig(2, 1, 128);

	(void)state;
	d_rq_post(rx.rq, 4);
	rx.rq->dbrec[0] = 4;
	receive_dead(&rx);
	d_assert_log(rx.d, "wq_dbrec.rcv: 0x04000000 is in the wrong byte order");
	q_rx_close(&rx);
}

static void test_posted_after_the_error(void **state)
{
	struct q_rx rx = open_rig(2, 1, 128);

	(void)state;
	d_rq_post(rx.rq, 1);
	set_seg(&rx, 0, 0, 128, 0, 0);
	receive_dead(&rx);
	assert_dead(&rx, 4, 0x52, 0);
	d_rq_post(rx.rq, 2);
	receive_dead(&rx);
	for (uint16_t i = 1; i < 3; i++)
		q_assert_error(d_cq_poll(rx.cq),
			       (struct q_error){ 14, 5, 0xf9, rx.rq->num, i });
	assert_null(d_cq_poll(rx.cq));
	q_rx_close(&rx);
}

static void test_error_by_command_and_recovery(void **state)
{
	struct q_rx rx = open_rig(2, 1, 128);

	(void)state;
	d_rq_post(rx.rq, 3);
	q_rx_send(&rx, 1, 60, 1);
	assert_got(&rx, 0, 60, 1);
	assert_int_equal(d_rq_state(rx.rq, 1, 3), CX_ST_OK);
	for (uint16_t i = 1; i < 3; i++)
		q_assert_error(d_cq_poll(rx.cq),
			       (struct q_error){ 14, 5, 0xf9, rx.rq->num, i });
	receive_dead(&rx);
	assert_int_equal(d_rq_state(rx.rq, 3, 0), CX_ST_OK);
	rx.rq->pi = 0;
	rx.rq->dbrec[0] = 0;
	assert_int_equal(d_rq_state(rx.rq, 0, 1), CX_ST_OK);
	d_rq_post(rx.rq, 4);
	q_rx_send(&rx, 4, 60, 10);
	for (uint16_t i = 0; i < 4; i++)
		assert_got(&rx, i, 60, 10 + i);
	assert_clean(&rx);
}

static void test_error_by_fault_script(void **state)
{
	struct q_rx rx = open_rig(2, 1, 128);
	char line[64];

	(void)state;
	d_rq_post(rx.rq, 2);
	snprintf(line, sizeof(line), "cqe type=rq num=%u syndrome=0x04 vendor=0x51",
		 rx.rq->num);
	d_fault(rx.d, line);
	assert_dead(&rx, 4, 0x51, 0);
	assert_int_equal(cx_stats(rx.d->dev)->wqe_refusals, 0);
	q_rx_close(&rx);
}

static void test_cq_overrun_stops_the_queue(void **state)
{
	struct q_rx rx =
		q_rx_open(NULL, &(struct d_cq_conf){ .log_size = 1 },
			  &(struct d_rq_conf){ .log_size = 2, .buf_bytes = 128 });

	(void)state;
	d_rq_post(rx.rq, 4);
	q_rx_send(&rx, 2, 60, 0);
	receive_dead(&rx);
	assert_true(q_event(rx.d, CX_EVENT_CQ_ERROR, rx.cq->num));
	assert_true(q_event(rx.d, CX_EVENT_WQ_CATASTROPHIC, rx.rq->num));
	receive_dead(&rx);
	q_rx_close(&rx);
}

/* ---- VLAN and FCS ---- */

static void receive(struct q_rx *rx, const struct frame *f)
{
	assert_int_equal(cx_rx(rx->d->dev, f->b, f->len), CX_RX_QUEUED);
}

struct tags {
	uint16_t outer, inner;
	bool strip;
};

static struct frame tagged(const struct tags *t)
{
	struct frame f;

	frame_start(&f);
	if (t->outer)
		frame_vlan(&f, t->outer, 0xe123);
	if (t->inner)
		frame_vlan(&f, t->inner, 0x0456);
	frame_ip4(&f, FRAME_SRC4, FRAME_DST4, 0);
	frame_udp(&f, 1, 2, 30);
	frame_finish(&f);
	return f;
}

static void test_vlan(void **state)
{
	static const struct tags tags[] = {
		{ 0, 0, false },	  { 0x8100, 0, true },	     { 0x88a8, 0, false },
		{ 0x8100, 0x8100, true }, { 0x88a8, 0x8100, false },
	};

	(void)state;
	for (int vsd = 0; vsd < 2; vsd++) {
		struct q_rx rx = q_rx_open(NULL, &(struct d_cq_conf){ .log_size = 6 },
					   &(struct d_rq_conf){ .log_size = 3,
								.strip_vlan = !vsd });

		d_rq_post(rx.rq, 8);
		for (unsigned i = 0; i < sizeof(tags) / sizeof(tags[0]); i++) {
			struct frame f = tagged(&tags[i]);
			bool gone = !vsd && tags[i].strip;
			const uint8_t *cqe, *got = d_rq_buf(rx.rq, (uint16_t)i);

			receive(&rx, &f);
			cqe = d_cq_poll(rx.cq);
			assert_int_equal(cqe[0x1d] & 1, gone);
			assert_int_equal(cx_be16(cqe + 0x1e), gone ? 0xe123 : 0);
			assert_int_equal(cx_be32(cqe + 0x2c), f.len - (gone ? 4 : 0));
			assert_memory_equal(got, f.b, 12);
			assert_memory_equal(got + 12, f.b + (gone ? 16 : 12),
					    f.len - (gone ? 16 : 12));
		}
		assert_clean(&rx);
	}
}

/* One bit at a time, as IEEE 802.3 has it. */
static uint32_t slow_fcs(const uint8_t *p, uint32_t len)
{
	uint32_t crc = 0xffffffff;

	for (uint32_t i = 0; i < len * 8; i++) {
		bool low = (crc ^ p[i / 8] >> (i % 8)) & 1;

		crc = crc >> 1 ^ (low ? 0xedb88320 : 0);
	}
	return ~crc;
}

static void test_scatter_fcs(void **state)
{
	struct direct *d = d_open(NULL);
	struct q_rx rx = { .d = d, .cq = d_cq(d, &(struct d_cq_conf){ .log_size = 6 }) };

	(void)state;
	d_patch(d, CX_create_rq_in__ctx >> 16 >> 3, CX_rqc__scatter_fcs, 1);
	assert_int_equal(d_try_rq(d,
				  &(struct d_rq_conf){ .log_size = 6,
						       .cq = rx.cq,
						       .segs = 2,
						       .buf_bytes = 97,
						       .strip_vlan = true,
						       .stay_reset = true },
				  &rx.rq),
			 CX_ST_OK);
	assert_int_equal(d_rq_state(rx.rq, 0, 1), CX_ST_OK);
	d_all_to(d, d_tir(d, rx.rq->num));
	d_rq_post(rx.rq, 64);
	for (uint16_t i = 0; i < 60;
	     i++) { /* the FCS before, over and behind the boundary */
		struct frame f = tagged(&(struct tags){ i & 1 ? 0x8100 : 0, 0, true });
		uint32_t fcs, bytes;

		f.len += i;
		receive(&rx, &f);
		bytes = cx_be32(d_cq_poll(rx.cq) + 0x2c);
		assert_int_equal(bytes, f.len + 4 - (i & 1 ? 4 : 0));
		memcpy(&fcs, d_rq_buf(rx.rq, i) + bytes - 4, 4);
		assert_int_equal(le32toh(fcs), slow_fcs(f.b, f.len));
	}
	assert_clean(&rx);
}

/* ---- the fields of the completion ---- */

static uint16_t slow_sum(const uint8_t *p, uint32_t len)
{
	uint32_t sum = 0;

	for (uint32_t i = 0; i < len; i++)
		sum += (uint32_t)p[i] << (i & 1 ? 0 : 8);
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)sum;
}

/* Bit 7 fragment, 6:4 layer 4, 3:2 layer 3, 1 options: rdma-core mlx5dv.h, DPDK mlx5_prm.h */
static void test_header_types_and_flags(void **state)
{
	struct q_rx rx = q_rx_open(NULL, &(struct d_cq_conf){ .log_size = 6 },
				   &(struct d_rq_conf){ .log_size = 4 });
	struct {
		struct frame f;
		uint8_t type, ok;
	} c[16];
	unsigned n = 0;

	(void)state;
	c[n].f = frame_udp4(1, 2, 31), c[n].type = 0x28, c[n++].ok = 7;
	c[n].f = frame_udp6(1, 2, 30), c[n].type = 0x24, c[n++].ok = 7;
	c[n].f = frame_tcp4(1, 2, 0x02), c[n].type = 0x18, c[n++].ok = 7;
	c[n].f = frame_tcp6(1, 2, 0x02), c[n].type = 0x14, c[n++].ok = 7;
	frame_start(&c[n].f); /* ACK without data, then with */
	frame_ip4(&c[n].f, 1, 2, 0);
	frame_tcp(&c[n].f, 1, 2, 0x10, 0);
	frame_finish(&c[n].f), c[n].type = 0x38, c[n++].ok = 7;
	frame_start(&c[n].f);
	frame_ip6(&c[n].f, frame_src6, frame_dst6);
	frame_tcp(&c[n].f, 1, 2, 0x18, 1);
	frame_finish(&c[n].f), c[n].type = 0x44, c[n++].ok = 7;
	frame_start(&c[n].f); /* options */
	frame_ip4(&c[n].f, 1, 2, 4);
	frame_udp(&c[n].f, 1, 2, 9);
	frame_finish(&c[n].f), c[n].type = 0x2a, c[n++].ok = 7;
	frame_start(&c[n].f); /* a fragment */
	frame_ip4(&c[n].f, 1, 2, 0);
	frame_ip4_frag(&c[n].f, 0x2000);
	frame_udp(&c[n].f, 1, 2, 8);
	frame_finish(&c[n].f), c[n].type = 0x88, c[n++].ok = 3;
	c[n].f = frame_udp4(1, 2, 31), c[n].f.b[c[n].f.l3 + 10] ^= 1, c[n].type = 0x28;
	c[n++].ok = 5; /* wrong header checksum */
	c[n].f = frame_udp4(1, 2, 31), c[n].f.b[c[n].f.len - 1] ^= 1, c[n].type = 0x28;
	c[n++].ok = 3; /* wrong UDP checksum */
	frame_start(&c[n].f);
	frame_type(&c[n].f, 0x88b5, 50);
	frame_finish(&c[n].f), c[n].type = 0, c[n++].ok = 1;
	d_rq_post(rx.rq, n);
	for (unsigned i = 0; i < n; i++) {
		const uint8_t *cqe;

		receive(&rx, &c[i].f);
		cqe = d_cq_poll(rx.cq);
		assert_int_equal(cqe[0x1d], c[i].type);
		assert_int_equal(cqe[0x1c], c[i].ok);
		assert_int_equal(cx_be16(cqe + 0x14),
				 c[i].f.l3 ? slow_sum(c[i].f.b + c[i].f.l3,
						      c[i].f.len - c[i].f.l3)
					   : 0);
	}
	assert_clean(&rx);
}

static uint16_t sum_in(struct q_rx *rx, const struct frame *f)
{
	receive(rx, f);
	return cx_be16(d_cq_poll(rx->cq) + 0x14);
}

/* What kernel en_rx.c makes of the sum: with cqe_checksum_full it is taken as it is, without
 * it tags and padding are added. */
static void test_sum_of_tags_and_padding(void **state)
{
	const char *const full[] = { "eth.cqe_checksum_full=1", NULL };
	struct d_cq_conf cq = { .log_size = 6 };
	struct q_rx keeps = q_rx_open(full, &cq, &(struct d_rq_conf){ .log_size = 4 });
	struct q_rx strips = q_rx_open(
		full, &cq, &(struct d_rq_conf){ .log_size = 4, .strip_vlan = true });
	struct q_rx bare = q_rx_open(NULL, &cq, &(struct d_rq_conf){ .log_size = 4 });
	struct frame f;

	(void)state;
	frame_start(&f);
	frame_vlan(&f, 0x8100, 0x2345);
	frame_ip4(&f, 1, 2, 0);
	frame_udp(&f, 1, 2, 9);
	frame_finish(&f);
	memset(f.b + f.len, 0x77, 7); /* padding need not be zeroes */
	d_rq_post(keeps.rq, 1);
	d_rq_post(strips.rq, 1);
	d_rq_post(bare.rq, 1);
	f.len += 7;
	assert_int_equal(sum_in(&keeps, &f), slow_sum(f.b + 14, f.len - 14));
	assert_int_equal(sum_in(&strips, &f), slow_sum(f.b + 18, f.len - 18));
	assert_int_equal(sum_in(&bare, &f), slow_sum(f.b + 18, f.len - 18 - 7));
	assert_clean(&keeps);
	assert_clean(&strips);
	assert_clean(&bare);
}

static void test_every_field(void **state)
{
	struct q_rx rx = open_rig(2, 1, 2048);
	struct cx_pkt pkt;
	uint8_t frame[100], want[64] = { 0 };

	(void)state;
	d_udp4(frame, sizeof(frame), 1, 2, 3, 4, 5);
	cx_parse(&pkt, frame, sizeof(frame));
	pkt.hash = 0x11223344;
	pkt.hash_type = 0xab;
	pkt.flow_tag = 0x556677;
	pkt.metadata = 0x8899aabb;
	pkt.clock = UINT64_C(0x1ffffffffff); /* 41 bits */
	d_rq_post(rx.rq, 1);
	assert_int_equal(cx_rq_deliver(rx.d->dev, q_rq(rx.rq), &pkt), CX_RX_QUEUED);
	cx_put_be32(want + 0x0c, 0x11223344);
	want[0x10] = 0xab;
	cx_put_be16(want + 0x14, slow_sum(frame + 14, 86));
	want[0x1c] = 7;
	want[0x1d] = 0x28;
	cx_put_be32(want + 0x20, 0x01abcdef);
	cx_put_be32(want + 0x24, 0x8899aabb);
	cx_put_be32(want + 0x2c, 100);
	cx_put_be64(want + 0x30, UINT64_C(0x1ffffffffff));
	cx_put_be32(want + 0x38, 0x556677);
	want[0x3f] = 0x20;
	assert_memory_equal(d_cqe_at(rx.cq, 0), want, 64);
	assert_clean(&rx);
}

static void test_real_time_stamp(void **state)
{
	struct q_rx rx = open_rig(2, 1, 2048);

	(void)state;
	cx_clock_advance(rx.d->dev, UINT64_C(5000000000007)); /* past 41 bits */
	q_rq(rx.rq)->ts_format = 2;
	d_rq_post(rx.rq, 1);
	q_rx_send(&rx, 1, 60, 0);
	assert_true(cx_be64(d_cq_poll(rx.cq) + 0x30) == (UINT64_C(5000) << 32 | 7));
	assert_clean(&rx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_size),
		cmocka_unit_test(test_over_segments),
		cmocka_unit_test(test_short_lists),
		cmocka_unit_test(test_wraps),
		cmocka_unit_test(test_record_of_32_bits),
		cmocka_unit_test(test_out_of_buffer),
		cmocka_unit_test(test_held_queue_loses_frames),
		cmocka_unit_test(test_frame_longer_than_the_wqe),
		cmocka_unit_test(test_one_wrong_bit_in_the_key),
		cmocka_unit_test(test_keys_that_may_not),
		cmocka_unit_test(test_inline_bit),
		cmocka_unit_test(test_record_too_far),
		cmocka_unit_test(test_record_in_host_order),
		cmocka_unit_test(test_posted_after_the_error),
		cmocka_unit_test(test_error_by_command_and_recovery),
		cmocka_unit_test(test_error_by_fault_script),
		cmocka_unit_test(test_cq_overrun_stops_the_queue),
		cmocka_unit_test(test_vlan),
		cmocka_unit_test(test_scatter_fcs),
		cmocka_unit_test(test_header_types_and_flags),
		cmocka_unit_test(test_sum_of_tags_and_padding),
		cmocka_unit_test(test_every_field),
		cmocka_unit_test(test_real_time_stamp),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
