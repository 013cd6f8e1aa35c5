/* test/direct_queue.c - completion, send and receive queues; see direct.h */
#include "direct.h"

#include <endian.h>
#include <string.h>

/* ---- completion queues ---- */

#define DBREC_BYTES 64 /* doorbell record at the end of a queue's umem */

static void cq_context(const struct d_cq *cq, uint8_t *in)
{
	const struct d_cq_conf *conf = &cq->conf;
	uint8_t *ctx = CX_AT(create_cq_in, in, cq_context);

	CX_SET(create_cq_in, in, cq_umem_id, cq->umem.num);
	CX_SET(create_cq_in, in, cq_umem_valid, 1);
	CX_SET(cqc, ctx, log_cq_size, conf->log_size);
	CX_SET(cqc, ctx, cqe_sz, conf->cqe128);
	CX_SET(cqc, ctx, oi, conf->overrun_ignore);
	CX_SET(cqc, ctx, uar_page, conf->uar->num);
	CX_SET(cqc, ctx, c_eqn, cq->d->eqn);
	CX_SET(cqc, ctx, dbr_umem_valid, 1);
	CX_SET(cqc, ctx, dbr_umem_id, cq->umem.num);
	CX_SET(cqc, ctx, dbr_addr, cq->umem.len - DBREC_BYTES);
	CX_SET(cqc, ctx, cqe_comp_en, conf->comp != 0);
	CX_SET(cqc, ctx, cqe_comp_layout, conf->comp == 2);
	CX_SET(cqc, ctx, mini_cqe_res_format, conf->mini == 4 ? 0 : conf->mini);
	CX_SET(cqc, ctx, mini_cqe_res_format_ext, conf->mini == 4);
}

static struct d_cq *new_cq(struct direct *d, const struct d_cq_conf *conf)
{
	struct d_cq *cq = d_alloc(d, sizeof(*cq));
	uint64_t bytes = (UINT64_C(64) << conf->cqe128) << conf->log_size;

	cq->d = d;
	cq->conf = *conf;
	if (!cq->conf.uar)
		cq->conf.uar = d->uar;
	cq->umem = d_umem(d, bytes + DBREC_BYTES);
	cq->ring = cq->umem.p;
	memset(cq->ring, 0xff, bytes);
	cq->dbrec = (volatile uint32_t *)(void *)(cq->umem.p + bytes);
	return cq;
}

enum cx_status d_try_cq(struct direct *d, const struct d_cq_conf *conf, struct d_cq **ret)
{
	uint8_t in[CX_BYTES(create_cq_in)] = { 0 }, out[CX_BYTES(create_cq_out)] = { 0 };
	struct d_cq *cq = new_cq(d, conf);
	enum cx_status st;

	cq_context(cq, in);
	st = d_cmd(d, D_CREATE_CQ, in, sizeof(in), out, sizeof(out));
	cq->num = (uint32_t)CX_GET(create_cq_out, out, cqn);
	if (st == CX_ST_OK)
		*ret = cq;
	return st;
}

struct d_cq *d_cq(struct direct *d, const struct d_cq_conf *conf)
{
	struct d_cq *cq = NULL;

	d_assert_ok(d, d_try_cq(d, conf, &cq));
	return cq;
}

uint8_t *d_cqe_at(const struct d_cq *cq, uint32_t i)
{
	uint32_t slot = i & ((UINT32_C(1) << cq->conf.log_size) - 1);
	uint32_t bytes = UINT32_C(64) << cq->conf.cqe128;

	return cq->ring + (size_t)slot * bytes + (bytes - 64);
}

void d_cq_consume(struct d_cq *cq, uint32_t n)
{
	cq->ci += n;
	__atomic_store_n(&cq->dbrec[0], htobe32(cq->ci & 0xffffff), __ATOMIC_RELEASE);
}

const uint8_t *d_cq_poll(struct d_cq *cq)
{
	uint8_t *cqe = d_cqe_at(cq, cq->ci);
	uint8_t op_own = __atomic_load_n(&cqe[63], __ATOMIC_ACQUIRE);

	if (op_own >> 4 == 15 || (op_own & 1) != (cq->ci >> cq->conf.log_size & 1))
		return NULL;
	d_cq_consume(cq, 1);
	return cqe;
}

/* Record first, then the doorbell with the same word; source: rdma-core mlx5 cq.c. */
void d_cq_arm(struct d_cq *cq, bool solicited)
{
	uint8_t value[8];
	uint32_t word = (uint32_t)(cq->arm_sn & 3) << 28 | (uint32_t)solicited << 24 |
			(cq->ci & 0xffffff);

	cx_put_be32(value, word);
	cx_put_be32(value + 4, cq->num);
	__atomic_store_n(&cq->dbrec[1], htobe32(word), __ATOMIC_RELEASE);
	d_doorbell(cq->conf.uar, 0x20, value);
	cq->arm_sn++;
}

/* ---- what both kinds of work queue share ---- */

static void wq_context(uint8_t *wq, uint8_t log_size, uint8_t log_stride, uint32_t pdn,
		       const struct d_umem *umem)
{
	CX_SET(wq, wq, wq_type, 1);
	CX_SET(wq, wq, pd, pdn);
	CX_SET(wq, wq, log_wq_sz, log_size);
	CX_SET(wq, wq, log_wq_stride, log_stride);
	CX_SET(wq, wq, wq_umem_valid, 1);
	CX_SET(wq, wq, wq_umem_id, umem->num);
	CX_SET(wq, wq, dbr_umem_valid, 1);
	CX_SET(wq, wq, dbr_umem_id, umem->num);
	CX_SET(wq, wq, dbr_addr, umem->len - DBREC_BYTES);
}

/* ---- send queues ---- */

static struct d_sq *new_sq(struct direct *d, const struct d_sq_conf *conf)
{
	struct d_sq *sq = d_alloc(d, sizeof(*sq));
	uint64_t bytes = UINT64_C(64) << conf->log_size;

	sq->d = d;
	sq->conf = *conf;
	if (!conf->uar)
		sq->conf.uar = d->uar;
	if (!conf->tisn)
		sq->conf.tisn = d->tisn;
	if (!conf->pdn)
		sq->conf.pdn = d->pdn;
	sq->reg = 0x800;
	sq->umem = d_umem(d, bytes + DBREC_BYTES);
	sq->ring = sq->umem.p;
	sq->dbrec = (volatile uint32_t *)(void *)(sq->umem.p + bytes);
	sq->mem = d_mem(d, UINT64_C(2048) << conf->log_size);
	return sq;
}

static void sq_context(const struct d_sq *sq, uint8_t *in)
{
	const struct d_sq_conf *conf = &sq->conf;
	uint8_t *ctx = CX_AT(create_sq_in, in, ctx), *wq = CX_AT(sqc, ctx, wq);

	CX_SET(sqc, ctx, flush_in_error_en, 1);
	CX_SET(sqc, ctx, allow_multi_pkt_send_wqe, !conf->no_multi_pkt);
	CX_SET(sqc, ctx, min_wqe_inline_mode, conf->min_inline);
	CX_SET(sqc, ctx, ts_format, conf->ts_format);
	CX_SET(sqc, ctx, user_index, conf->user_index);
	CX_SET(sqc, ctx, cqn, conf->cq->num);
	CX_SET(sqc, ctx, tis_lst_sz, 1);
	CX_SET(sqc, ctx, tis_num_0, conf->tisn);
	wq_context(wq, conf->log_size, 6, conf->pdn, &sq->umem);
	CX_SET(wq, wq, uar_page, conf->uar->num);
}

enum cx_status d_sq_state(struct d_sq *sq, uint8_t from, uint8_t to)
{
	uint8_t in[CX_BYTES(modify_sq_in)] = { 0 }, out[16] = { 0 };

	CX_SET(modify_sq_in, in, sqn, sq->num);
	CX_SET(modify_sq_in, in, sq_state, from);
	CX_SET(sqc, CX_AT(modify_sq_in, in, ctx), state, to);
	return d_cmd(sq->d, D_MODIFY_SQ, in, sizeof(in), out, sizeof(out));
}

enum cx_status d_try_sq(struct direct *d, const struct d_sq_conf *conf, struct d_sq **ret)
{
	uint8_t in[CX_BYTES(create_sq_in)] = { 0 }, out[CX_BYTES(create_sq_out)] = { 0 };
	struct d_sq *sq = new_sq(d, conf);
	enum cx_status st;

	sq_context(sq, in);
	st = d_cmd(d, D_CREATE_SQ, in, sizeof(in), out, sizeof(out));
	sq->num = (uint32_t)CX_GET(create_sq_out, out, sqn);
	if (st == CX_ST_OK && !conf->stay_reset)
		st = d_sq_state(sq, 0, 1);
	if (st == CX_ST_OK)
		*ret = sq;
	return st;
}

struct d_sq *d_sq(struct direct *d, const struct d_sq_conf *conf)
{
	struct d_sq *sq = NULL;

	d_assert_ok(d, d_try_sq(d, conf, &sq));
	return sq;
}

struct d_wqe d_wqe(const struct d_sq *sq, uint8_t opcode, uint8_t ce)
{
	struct d_wqe w = { .ds = 1 };

	CX_SET(wqe_ctrl, w.b, opcode, opcode);
	CX_SET(wqe_ctrl, w.b, index, sq->pi);
	CX_SET(wqe_ctrl, w.b, qpn, sq->num);
	CX_SET(wqe_ctrl, w.b, ce, ce);
	return w;
}

/* The first two inline bytes lie in the segment, the rest follows, padded to 16. */
void d_wqe_eth(struct d_wqe *w, const void *hdr, unsigned hdr_len)
{
	uint8_t *seg = w->b + w->ds * 16;

	assert_true(w->ds * 16 + 16 + hdr_len <= sizeof(w->b));
	CX_SET(wqe_eth, seg, inline_hdr_sz, hdr_len);
	if (hdr_len)
		memcpy(seg + 14, hdr, hdr_len);
	w->ds += 1 + (hdr_len > 2 ? (hdr_len - 2 + 15) / 16 : 0);
}

void d_wqe_ptr(struct d_wqe *w, uint32_t key, uint64_t addr, uint32_t len)
{
	uint8_t *seg = w->b + w->ds * 16;

	assert_true(w->ds * 16 + 16 <= sizeof(w->b));
	CX_SET(wqe_data, seg, byte_cnt, len);
	CX_SET(wqe_data, seg, lkey, key);
	CX_SET(wqe_data, seg, addr, addr);
	w->ds++;
}

void d_wqe_inline(struct d_wqe *w, const void *p, uint32_t len)
{
	uint8_t *seg = w->b + w->ds * 16;

	assert_true(w->ds * 16 + 4 + len <= sizeof(w->b));
	CX_SET(wqe_inline, seg, inline_data, 1);
	CX_SET(wqe_inline, seg, byte_cnt, len);
	memcpy(seg + 4, p, len);
	w->ds += (4 + len + 15) / 16;
}

void d_sq_put(struct d_sq *sq, struct d_wqe *w)
{
	uint32_t mask = (UINT32_C(1) << sq->conf.log_size) - 1, blocks = (w->ds + 3) / 4;

	CX_SET(wqe_ctrl, w->b, ds, w->ds);
	sq->last = sq->pi;
	for (uint32_t i = 0; i < blocks; i++)
		memcpy(sq->ring + ((sq->pi + i) & mask) * 64, w->b + i * 64, 64);
	sq->pi = (uint16_t)(sq->pi + blocks);
}

void d_sq_record(struct d_sq *sq)
{
	__atomic_store_n(&sq->dbrec[1], htobe32(sq->pi), __ATOMIC_RELEASE);
}

void d_sq_ring(struct d_sq *sq)
{
	uint32_t mask = (UINT32_C(1) << sq->conf.log_size) - 1;

	d_sq_record(sq);
	d_doorbell(sq->conf.uar, sq->reg, sq->ring + (sq->last & mask) * 64);
	sq->reg ^= 0x100;
}

void d_send(struct d_sq *sq, const void *frame, uint32_t len)
{
	uint32_t mask = (UINT32_C(1) << sq->conf.log_size) - 1;
	uint64_t at = (uint64_t)(sq->pi & mask) * 2048;
	struct d_wqe w = d_wqe(sq, D_SEND, D_CE_ALWAYS);

	assert_true(len <= 2048);
	memcpy(sq->mem.p + at, frame, len);
	d_wqe_eth(&w, NULL, 0);
	d_wqe_ptr(&w, sq->mem.key, sq->mem.iova + at, len);
	d_sq_put(sq, &w);
	d_sq_ring(sq);
}

/* ---- receive queues ---- */

static uint8_t log2_up(uint32_t n)
{
	uint8_t log = 0;

	while (UINT32_C(1) << log < n)
		log++;
	return log;
}

static void rq_presets(struct d_rq *rq)
{
	struct d_rq_conf *conf = &rq->conf;

	if (!conf->pdn)
		conf->pdn = rq->d->pdn;
	if (!conf->segs)
		conf->segs = 1;
	if (!conf->buf_bytes)
		conf->buf_bytes = 2048;
	if (conf->striding && !conf->log_strides)
		conf->log_strides = 6;
	if (conf->striding && !conf->log_stride_bytes)
		conf->log_stride_bytes = 8;
}

static struct d_rq *new_rq(struct direct *d, const struct d_rq_conf *conf)
{
	struct d_rq *rq = d_alloc(d, sizeof(*rq));
	uint64_t bytes;

	rq->d = d;
	rq->conf = *conf;
	rq_presets(rq);
	conf = &rq->conf;
	rq->log_stride = log2_up(conf->striding ? 32 : conf->segs * 16u);
	rq->wqe_bytes = conf->striding
				? UINT32_C(1)
					  << (conf->log_strides + conf->log_stride_bytes)
				: conf->segs * conf->buf_bytes;
	bytes = UINT64_C(1) << (conf->log_size + rq->log_stride);
	rq->umem = d_umem(d, bytes + DBREC_BYTES);
	rq->ring = rq->umem.p;
	rq->dbrec = (volatile uint32_t *)(void *)(rq->umem.p + bytes);
	rq->mem = d_mem(d, (uint64_t)rq->wqe_bytes << conf->log_size);
	return rq;
}

/* Strides per WQE are counted in 512 * 2^n, n signed; bytes per stride in 64 * 2^n. */
static void rq_context(const struct d_rq *rq, uint8_t *in)
{
	const struct d_rq_conf *conf = &rq->conf;
	uint8_t *ctx = CX_AT(create_rq_in, in, ctx), *wq = CX_AT(rqc, ctx, wq);

	CX_SET(rqc, ctx, vsd, !conf->strip_vlan);
	CX_SET(rqc, ctx, flush_in_error_en, 1);
	CX_SET(rqc, ctx, ts_format, conf->ts_format);
	CX_SET(rqc, ctx, user_index, conf->user_index);
	CX_SET(rqc, ctx, cqn, conf->cq->num);
	CX_SET(rqc, ctx, counter_set_id, conf->counter);
	if (conf->rmpn) {
		CX_SET(rqc, ctx, mem_rq_type, 1);
		CX_SET(rqc, ctx, rmpn, conf->rmpn);
		return;
	}
	wq_context(wq, conf->log_size, (uint8_t)rq->log_stride, conf->pdn, &rq->umem);
	if (!conf->striding)
		return;
	CX_SET(wq, wq, wq_type, 3);
	CX_SET(wq, wq, log_wqe_num_of_strides, (uint32_t)(conf->log_strides - 9) & 0xf);
	CX_SET(wq, wq, log_wqe_stride_size, (uint32_t)(conf->log_stride_bytes - 6));
	CX_SET(wq, wq, two_byte_shift_en, conf->two_byte_shift);
}

enum cx_status d_rq_state(struct d_rq *rq, uint8_t from, uint8_t to)
{
	uint8_t in[CX_BYTES(modify_rq_in)] = { 0 }, out[16] = { 0 };

	CX_SET(modify_rq_in, in, rqn, rq->num);
	CX_SET(modify_rq_in, in, rq_state, from);
	CX_SET(rqc, CX_AT(modify_rq_in, in, ctx), state, to);
	return d_cmd(rq->d, D_MODIFY_RQ, in, sizeof(in), out, sizeof(out));
}

enum cx_status d_try_rq(struct direct *d, const struct d_rq_conf *conf, struct d_rq **ret)
{
	uint8_t in[CX_BYTES(create_rq_in)] = { 0 }, out[CX_BYTES(create_rq_out)] = { 0 };
	struct d_rq *rq = new_rq(d, conf);
	enum cx_status st;

	rq_context(rq, in);
	st = d_cmd(d, D_CREATE_RQ, in, sizeof(in), out, sizeof(out));
	rq->num = (uint32_t)CX_GET(create_rq_out, out, rqn);
	if (st == CX_ST_OK && !conf->stay_reset)
		st = d_rq_state(rq, 0, 1);
	if (st == CX_ST_OK)
		*ret = rq;
	return st;
}

struct d_rq *d_rq(struct direct *d, const struct d_rq_conf *conf)
{
	struct d_rq *rq = NULL;

	d_assert_ok(d, d_try_rq(d, conf, &rq));
	return rq;
}

uint8_t *d_rq_wqe(const struct d_rq *rq, uint16_t i)
{
	uint32_t slot = i & ((UINT32_C(1) << rq->conf.log_size) - 1);

	return rq->ring + ((size_t)slot << rq->log_stride);
}

uint8_t *d_rq_buf(const struct d_rq *rq, uint16_t i)
{
	uint32_t slot = i & ((UINT32_C(1) << rq->conf.log_size) - 1);

	return rq->mem.p + (size_t)slot * rq->wqe_bytes;
}

static void fill_seg(uint8_t *seg, uint32_t len, uint32_t key, uint64_t addr)
{
	memset(seg, 0, 16);
	CX_SET(wqe_data, seg, byte_cnt, len);
	CX_SET(wqe_data, seg, lkey, key);
	CX_SET(wqe_data, seg, addr, addr);
}

/* A list shorter than the entry ends with length 0 and the key nobody has, 0x100. */
static void fill_wqe(const struct d_rq *rq, uint16_t i)
{
	uint8_t *wqe = d_rq_wqe(rq, i);
	uint64_t addr = rq->mem.iova + (uint64_t)(d_rq_buf(rq, i) - rq->mem.p);
	uint32_t room = (UINT32_C(1) << rq->log_stride) / 16;

	if (rq->conf.striding) {
		memset(wqe, 0, 16);
		fill_seg(wqe + 16, rq->wqe_bytes, rq->mem.key, addr);
		return;
	}
	for (uint32_t s = 0; s < room; s++) {
		if (s < rq->conf.segs)
			fill_seg(wqe + s * 16, rq->conf.buf_bytes, rq->mem.key,
				 addr + (uint64_t)s * rq->conf.buf_bytes);
		else
			fill_seg(wqe + s * 16, 0, 0x100, 0);
	}
}

void d_rq_post(struct d_rq *rq, unsigned n)
{
	while (n--)
		fill_wqe(rq, rq->pi++);
	__atomic_store_n(&rq->dbrec[0], htobe32(rq->pi), __ATOMIC_RELEASE);
}
