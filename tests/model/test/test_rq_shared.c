/* test/test_rq_shared.c - receive queues that share memory (RMP)
 *
 * As DPDK makes them for a shared receive queue: one ring, and for each port a queue
 * with a user index of its own (mlx5_common_devx.c, mlx5_devx_rq_shared_create).
 */
#include "queue_rig.h"

#include <endian.h>
#include <string.h>

enum { ENTRIES = 4, BYTES = 256 };

struct rig {
	struct direct *d;
	struct d_cq *cq;
	struct d_umem ring;
	struct d_mem mem;
	uint32_t rmpn;
	struct d_rq *rq[2];
	uint16_t posted;
};

static uint32_t create_rmp(struct rig *r)
{
	uint8_t in[CX_BYTES(create_rmp_in)] = { 0 }, out[CX_BYTES(create_rmp_out)];
	uint8_t *ctx = CX_AT(create_rmp_in, in, ctx), *wq = CX_AT(rmpc, ctx, wq);

	CX_SET(rmpc, ctx, state, 1);
	CX_SET(rmpc, ctx, basic_cyclic_rcv_wqe, 1);
	CX_SET(wq, wq, wq_type, 1);
	CX_SET(wq, wq, pd, r->d->pdn);
	CX_SET(wq, wq, log_wq_sz, 2);
	CX_SET(wq, wq, log_wq_stride, 4);
	CX_SET(wq, wq, wq_umem_valid, 1);
	CX_SET(wq, wq, wq_umem_id, r->ring.num);
	CX_SET(wq, wq, dbr_umem_valid, 1);
	CX_SET(wq, wq, dbr_umem_id, r->ring.num);
	CX_SET(wq, wq, dbr_addr, 64);
	assert_int_equal(d_cmd(r->d, D_CREATE_RMP, in, sizeof(in), out, sizeof(out)),
			 CX_ST_OK);
	return (uint32_t)CX_GET(create_rmp_out, out, rmpn);
}

static struct rig open_rig(void)
{
	struct rig r = { .d = d_open((const char *[]){ "hca.mem_rq_rmp=1",
						       "hca.basic_cyclic_rcv_wqe=1",
						       NULL }) };

	r.cq = d_cq(r.d, &(struct d_cq_conf){ .log_size = 5 });
	r.ring = d_umem(r.d, 128);
	r.mem = d_mem(r.d, ENTRIES * BYTES);
	r.rmpn = create_rmp(&r);
	for (uint32_t i = 0; i < 2; i++)
		r.rq[i] = d_rq(r.d, &(struct d_rq_conf){ .cq = r.cq,
							 .rmpn = r.rmpn,
							 .user_index = 10 + i });
	return r;
}

static void post(struct rig *r, unsigned n)
{
	for (; n; n--, r->posted++) {
		uint8_t *seg = r->ring.p + r->posted % ENTRIES * 16;

		cx_put_be32(seg, BYTES);
		cx_put_be32(seg + 4, r->mem.key);
		cx_put_be64(seg + 8, r->mem.iova + r->posted % ENTRIES * BYTES);
	}
	cx_put_be32(r->ring.p + 64, r->posted);
}

static enum cx_rx_verdict receive(struct rig *r, unsigned queue, uint32_t len,
				  uint32_t seed)
{
	uint8_t frame[1024];
	struct cx_pkt pkt;

	q_frame(frame, len, seed);
	cx_parse(&pkt, frame, len);
	return cx_rq_deliver(r->d->dev, q_rq(r->rq[queue]), &pkt);
}

static void test_entries_in_order_of_arrival(void **state)
{
	struct rig r = open_rig();

	(void)state;
	post(&r, ENTRIES);
	for (uint32_t i = 0; i < 1000; i++) {
		unsigned queue = i * 7 / 3 % 2;
		uint8_t want[200];
		const uint8_t *cqe;

		assert_int_equal(receive(&r, queue, 60 + i % 140, i), CX_RX_QUEUED);
		cqe = d_cq_poll(r.cq);
		assert_int_equal(cx_be32(cqe + 0x20) & 0xffffff, 10 + queue);
		assert_int_equal(cx_be16(cqe + 0x3c), i);
		q_frame(want, 60 + i % 140, i);
		assert_memory_equal(r.mem.p + i % ENTRIES * BYTES, want, 60 + i % 140);
		post(&r, 1);
	}
	assert_int_equal(r.d->log.n, 0);
	d_close(r.d);
}

static void test_empty_for_both(void **state)
{
	struct rig r = open_rig();

	(void)state;
	post(&r, 1);
	assert_int_equal(receive(&r, 0, 60, 1), CX_RX_QUEUED);
	assert_int_equal(receive(&r, 1, 60, 1), CX_RX_NO_BUFFER);
	d_close(r.d);
}

/* One queue dies of a bad entry and takes it along; the other goes on with the next. */
static void test_an_error_is_one_queues(void **state)
{
	struct rig r = open_rig();

	(void)state;
	post(&r, ENTRIES);
	cx_put_be32(r.ring.p + 4, 0);
	assert_int_equal(receive(&r, 0, 60, 1), CX_RX_DEAD);
	q_assert_error(d_cq_poll(r.cq), (struct q_error){ 14, 4, 0x52, r.rq[0]->num, 0 });
	assert_null(d_cq_poll(r.cq)); /* what is posted is not its own: no flush */
	assert_int_equal(receive(&r, 0, 60, 1), CX_RX_DEAD);
	assert_int_equal(receive(&r, 1, 60, 1), CX_RX_QUEUED);
	assert_int_equal(cx_be16(d_cq_poll(r.cq) + 0x3c), 1);
	d_close(r.d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_entries_in_order_of_arrival),
		cmocka_unit_test(test_empty_for_both),
		cmocka_unit_test(test_an_error_is_one_queues),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
