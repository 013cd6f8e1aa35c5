/* test/test_sq_error.c - what a send queue refuses: completion, log line, flush
 *
 * One row per broken field: how a good WQE is spoiled, and what must come of it.
 * Bits are counted from the start of the WQE, as in layout_queue.def.
 */
#include "queue_rig.h"

#include <endian.h>
#include <stdio.h>
#include <string.h>

struct rig {
	struct direct *d;
	struct d_cq *cq;
	struct d_sq *sq;
	struct d_mem mem;
};

static struct rig open_on(const char *const *caps, struct d_sq_conf conf)
{
	struct rig r = { .d = d_open(caps) };

	r.cq = d_cq(r.d, &(struct d_cq_conf){ .log_size = 6 });
	conf.log_size = 6;
	conf.cq = r.cq;
	r.sq = d_sq(r.d, &conf);
	r.mem = d_mem(r.d, 1 << 17);
	q_frame(r.mem.p, 1 << 17, 1);
	return r;
}

static struct rig open_with(struct d_sq_conf conf)
{
	return open_on(NULL, conf);
}

static struct rig open_rig(void)
{
	return open_with((struct d_sq_conf){ .min_inline = 0 });
}

static void ring(struct rig *r)
{
	d_sq_ring(r->sq);
	d_run(r->d);
}

static void put_nop(struct rig *r, uint8_t ce)
{
	struct d_wqe w = d_wqe(r->sq, D_NOP_WQE, ce);

	d_sq_put(r->sq, &w);
}

/* The error, then a flush error for each of the @n WQEs posted behind it, then silence. */
static void assert_failed(struct rig *r, uint8_t syndrome, uint8_t opcode, uint16_t bad,
			  unsigned n)
{
	static const uint8_t vendor[] = { [1] = 0x8e, [2] = 0x68, [4] = 0x52, [5] = 0xf9 };
	const uint8_t *cqe = d_cq_poll(r->cq);

	q_assert_error(cqe, (struct q_error){ 13, syndrome, vendor[syndrome], r->sq->num,
					      bad });
	assert_int_equal(cqe[0x38], opcode);
	assert_int_equal(cx_be32(cqe + 0x20), r->sq->conf.user_index);
	for (unsigned i = 0; i < n; i++)
		q_assert_error(d_cq_poll(r->cq),
			       (struct q_error){ 13, 5, 0xf9, r->sq->num,
						 (uint16_t)(r->sq->pi - n + i) });
	assert_null(d_cq_poll(r->cq));
	assert_true(q_event(r->d, CX_EVENT_WQ_CATASTROPHIC, r->sq->num));
	assert_int_equal(q_sq(r->sq)->state, CX_Q_ERR);
	assert_int_equal(cx_stats(r->d->dev)->wqe_refusals, 1);
	assert_int_equal(r->d->log.n, 1);
}

/* ---- one field at a time ---- */

struct spoil {
	const char *log; /* in the one line */
	uint8_t opcode, syndrome;
	uint32_t bit, width, value;
};

#define AT(bit, width, value) (bit), (width), (value)
enum { CTRL = 0, ETH = 128, DATA = 256 };

static const struct spoil spoils[] = {
	/* control segment */
	{ "wqe_ctrl.index: 0x3, expected 0x2", D_SEND, 2, AT(CTRL + 8, 16, 3) },
	{ "wqe_ctrl.index: 0x102, expected 0x2", D_NOP_WQE, 2, AT(CTRL + 8, 16, 0x102) },
	{ "wqe_ctrl.opmod: 0x1, expected 0x0", D_SEND, 2, AT(CTRL + 0, 8, 1) },
	{ "wqe_ctrl.opmod: 0x1, expected 0x0", 0x0e, 2,
	  AT(CTRL + 0, 8, 1) },					      /* CX-4 Lx MPW */
	{ "wqe_ctrl.opcode: 0x0f is unknown", 0x0f, 2, AT(0, 0, 0) }, /* WAIT */
	{ "wqe_ctrl.opcode: 0x17 is unknown", 0x17, 2, AT(0, 0, 0) }, /* SEND_EN */
	{ "wqe_ctrl.opcode: 0x25 is unknown", 0x25, 2, AT(0, 0, 0) }, /* UMR */
	{ "wqe_ctrl.opcode: 0x08 is unknown", 0x08, 2, AT(0, 0, 0) }, /* RDMA WRITE */
	{ "wqe_eth.inline_hdr_sz: 0 bytes hold no TCP or UDP", 0x0e, 2,
	  AT(ETH + 50, 14, 100) },
	{ "wqe_ctrl.qpn: 0x7fffff, expected", D_SEND, 2, AT(CTRL + 32, 24, 0x7fffff) },
	{ "wqe_ctrl.reserved_at_38", D_SEND, 2, AT(CTRL + 56, 1, 1) },
	{ "wqe_ctrl.reserved_at_38", D_SEND, 2, AT(CTRL + 57, 1, 1) },
	{ "wqe_ctrl.ds: 0, with", D_SEND, 2, AT(CTRL + 58, 6, 0) },
	{ "wqe_ctrl.ds: 0x1 leaves no room for the Ethernet segment", D_SEND, 2,
	  AT(CTRL + 58, 6, 1) },
	{ "wqe_ctrl.ds: 0x2 leaves no frame", D_MPSW, 2, AT(CTRL + 58, 6, 2) },
	{ "wqe_ctrl.signature: 0x5a", D_SEND, 2, AT(CTRL + 64, 8, 0x5a) },
	{ "wqe_ctrl.reserved_at_48", D_SEND, 2, AT(CTRL + 72, 8, 1) },
	{ "wqe_ctrl.reserved_at_48", D_SEND, 2, AT(CTRL + 80, 8, 0x80) },
	{ "wqe_ctrl.reserved_at_48", D_SEND, 2, AT(CTRL + 91, 1, 1) },
	{ "wqe_ctrl.reserved_at_48", D_SEND, 2, AT(CTRL + 95, 1, 1) },
	{ "wqe_ctrl.fence: 5 is unknown", D_SEND, 2, AT(CTRL + 88, 3, 5) },
	/* Ethernet segment */
	{ "wqe_eth.swp_offsets: 0x1 is set", D_SEND, 2, AT(ETH + 24, 8, 1) },
	{ "wqe_eth.inner_csum: 0x1 is set", D_SEND, 2, AT(ETH + 35, 1, 1) },
	{ "wqe_eth.inner_csum: 0x2 is set", D_SEND, 2, AT(ETH + 34, 1, 1) },
	{ "wqe_eth.reserved_at_24", D_SEND, 2, AT(ETH + 36, 4, 8) },
	{ "wqe_eth.swp_flags: 0x10 is set", D_SEND, 2, AT(ETH + 40, 8, 0x10) },
	{ "wqe_eth.reserved_at_30", D_SEND, 2, AT(ETH + 48, 2, 1) },
	{ "wqe_eth.mss: 0x64 does not go with the opcode", D_SEND, 2,
	  AT(ETH + 50, 14, 100) },
	{ "wqe_eth.mss: 0x64 does not go with the opcode", D_MPSW, 2,
	  AT(ETH + 50, 14, 100) },
	{ "wqe_eth.mss: 0x0 does not go with the opcode", 0x0e, 2, AT(0, 0, 0) },
	{ "wqe_eth.insert_trailer", D_SEND, 2, AT(ETH + 97, 1, 1) },
	{ "wqe_eth.reserved_at_61", D_SEND, 2, AT(ETH + 98, 4, 1) },
	{ "wqe_eth.reserved_at_61", D_SEND, 2,
	  AT(ETH + 112, 16, 1) }, /* start bytes, size 0 */
	{ "wqe_eth.reserved_at_61", D_SEND, 2, AT(ETH + 96, 16, 0x8002) }, /* VLAN type */
	{ "wqe_eth.inline_hdr_sz: 0x13 does not fit", D_SEND, 1, AT(ETH + 102, 10, 19) },
	{ "wqe_eth.inline_hdr_sz: 0x12 or VLAN", D_MPSW, 2, AT(ETH + 102, 10, 18) },
	{ "wqe_eth.inline_hdr_sz: 0x0 or VLAN", D_MPSW, 2, AT(ETH + 96, 1, 1) },
	/* data segments */
	{ "wqe_data.byte_cnt: 0x0 is a segment of no bytes", D_SEND, 1,
	  AT(DATA + 1, 31, 0) },
	{ "wqe_data.byte_cnt: 0x0 is a segment of no bytes", D_MPSW, 1,
	  AT(DATA + 1, 31, 0) },
	{ "wqe_data.byte_cnt: 0xd bytes are no Ethernet frame", D_SEND, 1,
	  AT(DATA + 1, 31, 13) },
	{ "wqe_data.byte_cnt: 0xd bytes are no Ethernet frame", D_MPSW, 1,
	  AT(DATA + 1, 31, 13) },
	{ "wqe_data.byte_cnt: 0x10001 makes the message too long", D_SEND, 1,
	  AT(DATA + 1, 31, 65537) },
	{ "wqe_data.byte_cnt: 0x7fffffff makes the message too long", D_MPSW, 1,
	  AT(DATA + 1, 31, 0x7fffffff) },
	{ "wqe_inline.byte_cnt: 0x80000000 is a segment of no bytes", D_SEND, 1,
	  AT(DATA + 0, 32, 0x80000000) },
	{ "wqe_inline.byte_cnt: 0x8000000d does not fit", D_SEND, 1,
	  AT(DATA + 0, 32, 0x8000000d) },
	{ "wqe_inline.byte_cnt: 0x8000000d does not fit", D_MPSW, 1,
	  AT(DATA + 0, 32, 0x8000000d) },
	{ "wqe_inline.byte_cnt: 0x8000040c has reserved bits", D_SEND, 1,
	  AT(DATA + 0, 32, 0x8000040c) },
	{ "wqe_data.lkey: 0x0 for", D_SEND, 4, AT(DATA + 32, 32, 0) },
	{ "no such key", D_MPSW, 4, AT(DATA + 32, 32, 0xdead00) },
	{ "outside the key's range", D_SEND, 4, AT(DATA + 64, 32, 0xffff0000) },
};

/* A frame of 64 bytes by pointer, spoiled; a good one before it, two behind. */
static void run_spoil(const struct spoil *s)
{
	struct rig r = open_with((struct d_sq_conf){ .user_index = 0xabcdef });
	struct d_wqe w;

	put_nop(&r, D_CE_ERROR);
	put_nop(&r, D_CE_ERROR);
	w = d_wqe(r.sq, s->opcode, D_CE_FIRST_ERROR);
	d_wqe_eth(&w, NULL, 0);
	d_wqe_ptr(&w, r.mem.key, r.mem.iova, 64);
	d_sq_put(r.sq, &w);
	if (s->width) {
		uint8_t *wqe = r.sq->ring + r.sq->last * 64;

		cx_set(wqe, CX_PACK(s->bit, s->width), s->value);
	}
	put_nop(&r, D_CE_ALWAYS);
	put_nop(&r, D_CE_ERROR);
	ring(&r);
	d_assert_log(r.d, s->log);
	assert_failed(&r, s->syndrome, s->opcode, 2, 2);
	assert_int_equal(r.d->wire.n, 0);
	d_close(r.d);
}

static void test_each_broken_field(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(spoils) / sizeof(spoils[0]); i++) {
		print_message("           %s\n", spoils[i].log);
		run_spoil(&spoils[i]);
	}
}

/* It claims all that is posted, so nothing is left to flush. */
static void test_longer_than_what_is_posted(void **state)
{
	struct rig r = open_rig();

	(void)state;
	put_nop(&r, D_CE_ALWAYS);
	put_nop(&r, D_CE_ALWAYS);
	CX_SET(wqe_ctrl, r.sq->ring, ds, 9);
	ring(&r);
	d_assert_log(r.d, "wqe_ctrl.ds: 9, with 2 blocks of 4 posted");
	assert_failed(&r, 2, D_NOP_WQE, 0, 0);
	d_close(r.d);
}

/* With the card's WQEs of 1024 bytes the six bits of ds are the limit, 63, which is where
 * test_sq.c goes to; 0 is what 64 comes to. A device of shorter WQEs says so: with 960
 * bytes, for whole blocks, 60 segments are the most, whatever the opcode. */
static void send_segments(uint8_t opcode, unsigned ds, bool good)
{
	const char *const caps[] = { "hca.max_wqe_sz_sq=960", NULL };
	struct rig r = open_on(caps, (struct d_sq_conf){ .min_inline = 0 });
	struct d_wqe w = d_wqe(r.sq, opcode, D_CE_ALWAYS);

	d_wqe_eth(&w, NULL, 0);
	while (w.ds < ds)
		d_wqe_ptr(&w, r.mem.key, r.mem.iova, 20);
	d_sq_put(r.sq, &w);
	ring(&r);
	if (good) {
		assert_int_equal(r.d->log.n, 0);
		assert_int_equal(r.d->wire.n, opcode == D_SEND ? 1 : ds - 2);
	} else {
		d_assert_log(r.d, "but capability hca.max_wqe_sz_sq lets 60 in");
		assert_failed(&r, 2, opcode, 0, 0);
		assert_int_equal(r.d->wire.n, 0);
	}
	d_close(r.d);
}

static void test_segment_limit(void **state)
{
	(void)state;
	for (unsigned ds = 59; ds <= 63; ds++) {
		send_segments(D_SEND, ds, ds <= 60);
		send_segments(D_MPSW, ds, ds <= 60);
	}
}

static void test_vlan_without_the_capability(void **state)
{
	const char *const caps[] = { "eth.wqe_vlan_insert=0", NULL };
	struct rig r = open_on(caps, (struct d_sq_conf){ .min_inline = 0 });
	struct d_wqe w = d_wqe(r.sq, D_SEND, D_CE_ALWAYS);

	(void)state;
	d_wqe_eth(&w, NULL, 0);
	CX_SET(wqe_eth, w.b + 16, insert_vlan, 1);
	d_wqe_ptr(&w, r.mem.key, r.mem.iova, 64);
	d_sq_put(r.sq, &w);
	ring(&r);
	d_assert_log(r.d,
		     "wqe_eth.insert_vlan: 0x1 but capability eth.wqe_vlan_insert is 0");
	assert_failed(&r, 2, D_SEND, 0, 0);
	d_close(r.d);
}

/* A message can be too long only in sum. */
static void test_too_long_in_sum(void **state)
{
	struct rig r = open_rig();
	struct d_wqe w = d_wqe(r.sq, D_SEND, D_CE_ALWAYS);

	(void)state;
	d_wqe_eth(&w, NULL, 0);
	for (int i = 0; i < 2; i++)
		d_wqe_ptr(&w, r.mem.key, r.mem.iova, 40000);
	d_sq_put(r.sq, &w);
	ring(&r);
	d_assert_log(r.d, "wqe_data.byte_cnt: 0x9c40 makes the message too long");
	assert_failed(&r, 1, D_SEND, 0, 0);
	d_close(r.d);
}

/* ---- keys ---- */

static void send_with_key(struct rig *r, uint32_t key, uint64_t addr, uint32_t len)
{
	struct d_wqe w = d_wqe(r->sq, D_SEND, D_CE_FIRST_ERROR);

	d_wqe_eth(&w, NULL, 0);
	d_wqe_ptr(&w, key, addr, len);
	d_sq_put(r->sq, &w);
	ring(r);
}

static void test_one_wrong_bit_in_the_key(void **state)
{
	(void)state;
	for (int bit = 0; bit < 32; bit++) {
		struct rig r = open_rig();

		send_with_key(&r, r.mem.key ^ 1u << bit, r.mem.iova, 64);
		d_assert_log(r.d, "wqe_data.lkey");
		assert_failed(&r, 4, D_SEND, 0, 0);
		assert_int_equal(r.d->wire.n, 0);
		d_close(r.d);
	}
}

static void test_range_of_the_key(void **state)
{
	static const struct {
		int64_t at;
		uint32_t len;
		bool good;
	} cases[] = {
		{ (1 << 17) - 64, 64, true },
		{ (1 << 17) - 64, 65, false },
		{ -1, 64, false },
		{ 0, 1400, true },
		{ (1 << 17), 64, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct rig r = open_rig();

		send_with_key(&r, r.mem.key, r.mem.iova + (uint64_t)cases[i].at,
			      cases[i].len);
		assert_int_equal(r.d->wire.n, cases[i].good);
		if (!cases[i].good)
			assert_failed(&r, 4, D_SEND, 0, 0);
		d_close(r.d);
	}
}

static void test_key_of_another_domain(void **state)
{
	struct rig r = open_rig();
	uint32_t pdn = d_pd(r.d), key;

	(void)state;
	assert_int_equal(
		cx_mkey_reg(r.d->dev, r.d->uid, pdn, r.mem.p, 0x1000, 4096, 1, &key), 0);
	send_with_key(&r, key, 0x1000, 64);
	d_assert_log(r.d, "key of another protection domain");
	assert_failed(&r, 4, D_SEND, 0, 0);
	d_close(r.d);
}

/* ---- the doorbell record ---- */

static void ring_with_record(struct rig *r, uint32_t raw)
{
	r->sq->dbrec[1] = raw;
	d_doorbell(r->sq->conf.uar, 0x800, r->sq->ring);
	d_run(r->d);
}

static void test_record_in_host_order(void **state)
{
	struct rig r = open_rig();

	(void)state;
	put_nop(&r, D_CE_ALWAYS);
	ring_with_record(&r, 1);
	d_assert_log(r.d, "wq_dbrec.snd: 0x01000000 is in the wrong byte order");
	q_assert_error(d_cq_poll(r.cq), (struct q_error){ 13, 2, 0x68, r.sq->num, 0 });
	assert_null(d_cq_poll(r.cq));
	d_close(r.d);
}

static void test_record_too_far(void **state)
{
	(void)state;
	for (uint32_t ahead = 64; ahead <= 65; ahead++) {
		struct rig r = open_rig();

		for (unsigned i = 0; i < 64; i++)
			put_nop(&r, D_CE_ERROR);
		ring_with_record(&r, htobe32(ahead));
		if (ahead == 64) {
			assert_int_equal(r.d->log.n, 0);
			assert_int_equal(q_sq(r.sq)->wq.head, 64);
		} else {
			d_assert_log(
				r.d,
				"wq_dbrec.snd: 0x00000041 is not within 64 blocks of 0 "
				"(byte order?)");
			q_assert_error(d_cq_poll(r.cq),
				       (struct q_error){ 13, 2, 0x68, r.sq->num, 0 });
		}
		d_close(r.d);
	}
}

static void test_record_goes_back(void **state)
{
	struct rig r = open_rig();

	(void)state;
	for (unsigned i = 0; i < 8; i++)
		put_nop(&r, D_CE_ERROR);
	ring(&r);
	assert_int_equal(q_sq(r.sq)->wq.head, 8);
	ring_with_record(&r, htobe32(7));
	d_assert_log(r.d, "wq_dbrec.snd: 0x00000007 is not within 64 blocks of 8");
	d_close(r.d);
}

/* ---- min inline ---- */

static void send_inline(struct rig *r, uint32_t bytes)
{
	struct d_wqe w = d_wqe(r->sq, D_SEND, D_CE_FIRST_ERROR);
	uint8_t frame[100];

	d_udp4(frame, sizeof(frame), 1, 2, 3, 4, 0);
	memcpy(r->mem.p, frame, sizeof(frame));
	d_wqe_eth(&w, frame, bytes);
	if (bytes < sizeof(frame))
		d_wqe_ptr(&w, r->mem.key, r->mem.iova + bytes,
			  (uint32_t)sizeof(frame) - bytes);
	d_sq_put(r->sq, &w);
	ring(r);
}

/* 18 for L2, 34 with IPv4, 42 with UDP; one less is too little. */
static void test_min_inline(void **state)
{
	static const uint32_t need[] = { 0, 18, 34, 42 };

	(void)state;
	for (uint8_t mode = 1; mode < 4; mode++) {
		for (uint32_t less = 0; less < 2; less++) {
			struct rig r =
				open_with((struct d_sq_conf){ .min_inline = mode });

			send_inline(&r, need[mode] - less);
			assert_int_equal(r.d->wire.n, !less);
			if (less) {
				d_assert_log(r.d, "wqe_eth.inline_hdr_sz");
				assert_failed(&r, 1, D_SEND, 0, 0);
			}
			d_close(r.d);
		}
	}
}

static void test_multi_packet_must_be_allowed(void **state)
{
	struct rig r = open_with((struct d_sq_conf){ .no_multi_pkt = true });
	struct d_wqe w = d_wqe(r.sq, D_MPSW, D_CE_ALWAYS);

	(void)state;
	d_wqe_eth(&w, NULL, 0);
	d_wqe_ptr(&w, r.mem.key, r.mem.iova, 64);
	d_sq_put(r.sq, &w);
	ring(&r);
	d_assert_log(r.d, "wqe_ctrl.opcode: 0x29 without allow_multi_pkt_send_wqe");
	assert_failed(&r, 2, D_MPSW, 0, 0);
	d_close(r.d);
}

/* Frames before the bad entry are out already. */
static void test_bad_entry_in_the_middle(void **state)
{
	struct rig r = open_rig();
	struct d_wqe w = d_wqe(r.sq, D_MPSW, D_CE_ALWAYS);

	(void)state;
	d_wqe_eth(&w, NULL, 0);
	for (unsigned i = 0; i < 5; i++)
		d_wqe_ptr(&w, i == 3 ? r.mem.key ^ 1 : r.mem.key, r.mem.iova + i, 64);
	d_sq_put(r.sq, &w);
	ring(&r);
	assert_int_equal(r.d->wire.n, 3);
	assert_failed(&r, 4, D_MPSW, 0, 0);
	d_close(r.d);
}

/* ---- flushing ---- */

/* Mode 1 is silent after the first error, every other mode tells of each WQE. */
static void test_flush_by_completion_mode(void **state)
{
	struct rig r = open_rig();

	(void)state;
	put_nop(&r, D_CE_ALWAYS);
	put_nop(&r, D_CE_FIRST_ERROR);
	r.sq->ring[64 + 3] = 0x3f; /* its opcode */
	put_nop(&r, D_CE_FIRST_ERROR);
	put_nop(&r, D_CE_ERROR);
	put_nop(&r, D_CE_ALWAYS);
	put_nop(&r, D_CE_SOLICITED);
	put_nop(&r, D_CE_FIRST_ERROR);
	ring(&r);
	assert_int_equal(d_cq_poll(r.cq)[63] >> 4, 0);
	q_assert_error(d_cq_poll(r.cq), (struct q_error){ 13, 2, 0x68, r.sq->num, 1 });
	for (uint16_t i = 3; i < 6; i++)
		q_assert_error(d_cq_poll(r.cq),
			       (struct q_error){ 13, 5, 0xf9, r.sq->num, i });
	assert_null(d_cq_poll(r.cq));
	put_nop(&r, D_CE_ALWAYS); /* posted later: flushed, too */
	put_nop(&r, D_CE_FIRST_ERROR);
	ring(&r);
	q_assert_error(d_cq_poll(r.cq), (struct q_error){ 13, 5, 0xf9, r.sq->num, 7 });
	assert_null(d_cq_poll(r.cq));
	assert_int_equal(cx_stats(r.d->dev)->wqe_refusals, 1);
	d_close(r.d);
}

/* WQEs of several blocks are stepped over whole. */
static void test_flush_long_wqes(void **state)
{
	struct rig r = open_rig();
	struct d_wqe w;
	uint16_t at[3];

	(void)state;
	put_nop(&r, D_CE_ERROR);
	r.sq->ring[3] = 0x3f;
	for (unsigned i = 0; i < 3; i++) {
		w = d_wqe(r.sq, D_SEND, D_CE_ERROR);
		d_wqe_eth(&w, NULL, 0);
		for (unsigned s = 0; s <= i * 6; s++)
			d_wqe_ptr(&w, r.mem.key, r.mem.iova, 64);
		d_sq_put(r.sq, &w);
		at[i] = r.sq->last;
	}
	ring(&r);
	q_assert_error(d_cq_poll(r.cq), (struct q_error){ 13, 2, 0x68, r.sq->num, 0 });
	for (unsigned i = 0; i < 3; i++)
		q_assert_error(d_cq_poll(r.cq),
			       (struct q_error){ 13, 5, 0xf9, r.sq->num, at[i] });
	assert_null(d_cq_poll(r.cq));
	assert_int_equal(q_sq(r.sq)->wq.head, r.sq->pi);
	d_close(r.d);
}

static void test_error_by_command(void **state)
{
	struct rig r = open_rig();

	(void)state;
	put_nop(&r, D_CE_FIRST_ERROR);
	put_nop(&r, D_CE_FIRST_ERROR);
	put_nop(&r, D_CE_ALWAYS);
	d_sq_record(r.sq);
	assert_int_equal(d_sq_state(r.sq, 1, 3), CX_ST_OK);
	q_assert_error(d_cq_poll(r.cq), (struct q_error){ 13, 5, 0xf9, r.sq->num, 0 });
	q_assert_error(d_cq_poll(r.cq), (struct q_error){ 13, 5, 0xf9, r.sq->num, 2 });
	assert_null(d_cq_poll(r.cq));
	d_close(r.d);
}

static void test_error_by_fault_script(void **state)
{
	struct rig r = open_rig();
	char line[64];

	(void)state;
	put_nop(&r, D_CE_ALWAYS);
	ring(&r);
	assert_non_null(d_cq_poll(r.cq));
	snprintf(line, sizeof(line), "cqe type=sq num=%u syndrome=0x22 vendor=0x77",
		 r.sq->num);
	d_fault(r.d, line);
	q_assert_error(d_cq_poll(r.cq), (struct q_error){ 13, 0x22, 0x77, r.sq->num, 1 });
	assert_null(d_cq_poll(r.cq));
	assert_int_equal(q_sq(r.sq)->state, CX_Q_ERR);
	d_close(r.d);
}

static void test_recovery(void **state)
{
	struct rig r = open_rig();
	uint8_t frame[64];

	(void)state;
	q_frame(frame, 64, 9);
	for (int round = 0; round < 5; round++) {
		put_nop(&r, D_CE_FIRST_ERROR);
		r.sq->ring[3] = 0x3f;
		ring(&r);
		q_assert_error(d_cq_poll(r.cq),
			       (struct q_error){ 13, 2, 0x68, r.sq->num, 0 });
		assert_int_equal(d_sq_state(r.sq, 3, 0), CX_ST_OK);
		assert_int_equal(d_sq_state(r.sq, 0, 1), CX_ST_OK);
		r.sq->pi = 0;
		d_send(r.sq, frame, 64);
		d_run(r.d);
		assert_int_equal(r.d->wire.n, round + 1);
		assert_int_equal(d_cq_poll(r.cq)[63] >> 4, 0);
		assert_int_equal(d_sq_state(r.sq, 1, 0), CX_ST_OK);
		assert_int_equal(d_sq_state(r.sq, 0, 1), CX_ST_OK);
		r.sq->pi = 0;
	}
	d_close(r.d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_broken_field),
		cmocka_unit_test(test_longer_than_what_is_posted),
		cmocka_unit_test(test_segment_limit),
		cmocka_unit_test(test_vlan_without_the_capability),
		cmocka_unit_test(test_too_long_in_sum),
		cmocka_unit_test(test_one_wrong_bit_in_the_key),
		cmocka_unit_test(test_range_of_the_key),
		cmocka_unit_test(test_key_of_another_domain),
		cmocka_unit_test(test_record_in_host_order),
		cmocka_unit_test(test_record_too_far),
		cmocka_unit_test(test_record_goes_back),
		cmocka_unit_test(test_min_inline),
		cmocka_unit_test(test_multi_packet_must_be_allowed),
		cmocka_unit_test(test_bad_entry_in_the_middle),
		cmocka_unit_test(test_flush_by_completion_mode),
		cmocka_unit_test(test_flush_long_wqes),
		cmocka_unit_test(test_error_by_command),
		cmocka_unit_test(test_error_by_fault_script),
		cmocka_unit_test(test_recovery),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
