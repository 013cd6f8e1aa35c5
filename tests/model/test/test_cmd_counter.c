/* test/test_cmd_counter.c - queue counters, flow counters one by one and in bulk */
#include "cmd_rig.h"

#include <stdlib.h>
#include <string.h>

#include "../core/dev.h"

/* ---- queue counters ---- */

static uint32_t out_of_buffer(struct rig *r, uint8_t set, bool clear)
{
	uint8_t in[CX_BYTES(query_q_counter_in)] = { 0 },
		out[CX_BYTES(query_q_counter_out)];

	CX_SET(query_q_counter_in, in, counter_set_id, set);
	CX_SET(query_q_counter_in, in, clear, clear);
	d_assert_ok(r->d,
		    d_cmd(r->d, D_QUERY_Q_COUNTER, in, sizeof(in), out, sizeof(out)));
	return (uint32_t)CX_GET(query_q_counter_out, out, out_of_buffer);
}

static enum cx_status dealloc(struct rig *r, uint8_t set)
{
	uint8_t in[16] = { 0 }, out[16];

	CX_SET(dealloc_q_counter_in, in, counter_set_id, set);
	return d_cmd(r->d, D_DEALLOC_Q_COUNTER, in, sizeof(in), out, sizeof(out));
}

/* Frames that find no buffer, counted in the set of their queue and in no other. */
static void test_out_of_buffer(void **state)
{
	struct rig *r = rig_open(NULL);
	uint8_t other = d_q_counter(r->d), frame[60];
	struct d_rq_conf conf = { .log_size = 2, .cq = r->cq, .counter = r->q_counter };
	struct d_rq *rq = d_rq(r->d, &conf);

	(void)state;
	d_all_to(r->d, d_tir(r->d, rq->num));
	d_udp4(frame, sizeof(frame), 1, 2, 3, 4, 5);
	for (int i = 0; i < 3; i++)
		assert_int_equal(cx_rx(r->d->dev, frame, sizeof(frame)), CX_RX_NO_BUFFER);
	assert_int_equal(out_of_buffer(r, r->q_counter, false), 3);
	assert_int_equal(out_of_buffer(r, other, false), 0);
	assert_int_equal(out_of_buffer(r, r->q_counter, true), 3); /* and clear */
	assert_int_equal(out_of_buffer(r, r->q_counter, false), 0);
	d_rq_post(rq, 1);
	assert_int_equal(cx_rx(r->d->dev, frame, sizeof(frame)), CX_RX_QUEUED);
	assert_int_equal(out_of_buffer(r, r->q_counter, false), 0);
	rig_close(r);
}

static void test_queue_counter_in_use(void **state)
{
	struct rig *r = rig_open(NULL);
	uint32_t rqn = rig_make(r, D_CREATE_RQ);

	(void)state;
	assert_int_equal(dealloc(r, r->q_counter), CX_ST_BAD_RES_STATE);
	d_assert_log(r->d, "dealloc_q_counter_in.counter_set_id: QCOUNTER 0x");
	d_assert_ok(r->d, d_simple(r->d, D_DESTROY_RQ, rqn, NULL));
	d_assert_ok(r->d, dealloc(r, r->q_counter));
	assert_int_equal(dealloc(r, r->q_counter), CX_ST_BAD_RES);
	assert_int_equal(dealloc(r, 0), CX_ST_BAD_RES);
	rig_close(r);
}

/* As many sets as the capability says, and never more than eight bits can number; then
 * "limits exceeded". */
static void all_queue_counters(const char *const *caps, uint32_t n)
{
	struct rig *r = rig_open(caps);
	uint8_t in[16] = { 0 }, out[16];

	while (cx_obj_count(r->d->dev, CX_QCOUNTER) < n)
		assert_int_not_equal(d_q_counter(r->d), 0);
	assert_int_equal(d_cmd(r->d, D_ALLOC_Q_COUNTER, in, sizeof(in), out, sizeof(out)),
			 CX_ST_LIMIT);
	d_assert_log(r->d, "alloc_q_counter_out.counter_set_id: no number left");
	rig_close(r);
}

static void test_all_queue_counters(void **state)
{
	(void)state;
	all_queue_counters(NULL, 127);
	all_queue_counters((const char *[]){ "hca.max_qp_cnt=1023", NULL }, 255);
}

/* The kernel's sets are for the queues of all programs, but nobody else may take them away. */
static void test_shared_queue_counter(void **state)
{
	struct rig *r = rig_open(NULL);
	uint16_t uid = r->d->uid;
	struct mailbox m;
	uint8_t set;

	(void)state;
	r->d->uid = CX_UID_SHARED;
	set = d_q_counter(r->d);
	r->d->uid = uid;
	rig_build(r, D_CREATE_RQ, &m);
	CX_SET(rqc, m.in + 0x20, counter_set_id, set);
	d_assert_ok(r->d, rig_cmd(r, &m));
	rig_undo(r, rig_row(D_CREATE_RQ), &m);
	assert_int_equal(out_of_buffer(r, set, false), 0);
	assert_int_equal(dealloc(r, set), CX_ST_BAD_RES);
	d_assert_log(r->d, "belongs to all");
	r->d->uid = CX_UID_SHARED;
	d_assert_ok(r->d, dealloc(r, set));
	r->d->uid = uid;
	rig_close(r);
}

/* ---- flow counters ---- */

static struct cx_fcounter *counter_of(const struct rig *r, uint32_t id)
{
	return (struct cx_fcounter *)cx_obj_get(r->d->dev, CX_FCOUNTER, id, 0);
}

static enum cx_status query(struct rig *r, uint32_t id, uint32_t n, bool clear,
			    uint8_t *out)
{
	uint8_t in[CX_BYTES(query_flow_counter_in)] = { 0 };
	uint32_t room = n ? n : 1;

	CX_SET(query_flow_counter_in, in, flow_counter_id, id);
	CX_SET(query_flow_counter_in, in, num_of_counters, n);
	CX_SET(query_flow_counter_in, in, clear, clear);
	return d_cmd(r->d, D_QUERY_FLOW_COUNTER, in, sizeof(in), out,
		     CX_BYTES(query_flow_counter_out) + room * CX_BYTES(traffic_counter));
}

static uint64_t packets_at(const uint8_t *out, uint32_t i)
{
	return CX_GET(traffic_counter, out + 16 + i * 16, packets);
}

static uint64_t octets_at(const uint8_t *out, uint32_t i)
{
	return CX_GET(traffic_counter, out + 16 + i * 16, octets);
}

static void test_every_bulk(void **state)
{
	struct rig *r =
		rig_open((const char *[]){ "hca.flow_counter_bulk_alloc=0xff", NULL });
	struct mailbox m;

	(void)state;
	for (uint32_t bit = 0; bit < 8; bit++) {
		struct cx_fcounter *c;
		uint32_t id;

		rig_build(r, D_ALLOC_FLOW_COUNTER, &m);
		CX_SET(alloc_flow_counter_in, m.in, flow_counter_bulk, 1u << bit);
		d_assert_ok(r->d, rig_cmd(r, &m));
		id = (uint32_t)CX_GET(alloc_flow_counter_out, m.out, flow_counter_id);
		c = counter_of(r, id);
		assert_int_equal(c->bulk, 128u << bit);
		assert_int_equal(id % 4, 0);
		assert_ptr_equal(counter_of(r, id + c->bulk - 1), c);
		assert_ptr_not_equal(counter_of(r, id + c->bulk), c);
		rig_undo(r, rig_row(D_ALLOC_FLOW_COUNTER), &m);
		assert_null(counter_of(r, id + 5));
	}
	rig_close(r);
}

static void test_query_and_clear(void **state)
{
	struct rig *r = rig_open(NULL);
	struct cx_fcounter *c = counter_of(r, r->flow_counter);
	uint8_t out[16 + 16 * 128];

	(void)state;
	for (uint32_t i = 0; i < 128; i++) {
		c->packets[i] = UINT64_C(0x100000000) + i;
		c->bytes[i] = UINT64_C(0x200000000) + i;
	}
	d_assert_ok(r->d, query(r, r->flow_counter + 7, 0, false, out));
	assert_int_equal(packets_at(out, 0), UINT64_C(0x100000007));
	assert_int_equal(octets_at(out, 0), UINT64_C(0x200000007));
	d_assert_ok(r->d, query(r, r->flow_counter, 128, false, out));
	for (uint32_t i = 0; i < 128; i++)
		assert_int_equal(packets_at(out, i), UINT64_C(0x100000000) + i);
	d_assert_ok(r->d, query(r, r->flow_counter + 4, 4, true, out)); /* and clear */
	assert_int_equal(octets_at(out, 3), UINT64_C(0x200000007));
	assert_int_equal(c->packets[3], UINT64_C(0x100000003));
	assert_int_equal(c->packets[4] | c->bytes[7], 0);
	assert_int_equal(c->packets[8], UINT64_C(0x100000008));
	d_assert_ok(r->d, query(r, r->flow_counter + 5, 0, false, out));
	assert_int_equal(packets_at(out, 0), 0);
	rig_close(r);
}

/* The kernel asks for ranges that pass over numbers of others and of nobody (fs_counters.c,
 * mlx5_fc_stats_query_counter_range); a program may not. */
static void test_range_over_nobody(void **state)
{
	struct rig *r = rig_open(NULL);
	uint32_t past = r->flow_counter + 512;
	uint16_t uid = r->d->uid;
	uint8_t out[16 + 16 * 8];

	(void)state;
	counter_of(r, past - 1)->packets[511] = 9;
	assert_null(counter_of(r, past));
	assert_int_equal(query(r, past - 4, 8, true, out), CX_ST_BAD_RES);
	assert_int_equal(counter_of(r, past - 1)->packets[511],
			 9); /* not cleared either */
	r->d->uid = 0;
	d_assert_ok(r->d, query(r, past - 4, 8, false, out));
	assert_int_equal(packets_at(out, 3), 9);
	assert_int_equal(packets_at(out, 4), 0);
	r->d->uid = uid;
	rig_close(r);
}

static const struct refusal alloc_rows[] = {
	{ 0, CX_alloc_flow_counter_in__flow_counter_bulk, 3, CX_ST_BAD_PARAM,
	  "alloc_flow_counter_in.flow_counter_bulk: 0x3: more than one bit" },
	{ 0, CX_alloc_flow_counter_in__flow_counter_bulk_log_size, 1, CX_ST_BAD_PARAM,
	  "alloc_flow_counter_in.flow_counter_bulk_log_size: 0x1: capability" },
	{ 0, CX_alloc_flow_counter_in__pd, 1, CX_ST_BAD_PARAM,
	  "alloc_flow_counter_in.pd: 0x1: capability hca.alloc_flow_counter_pd is 0" },
	{ 0 },
};

static const struct refusal query_rows[] = {
	{ 0, CX_query_flow_counter_in__dump_to_memory, 1, CX_ST_BAD_PARAM,
	  "query_flow_counter_in.dump_to_memory: 0x1: capability hca.flow_counters_dump is 0" },
	{ 0, CX_query_flow_counter_in__mkey, 1, CX_ST_BAD_PARAM,
	  "query_flow_counter_in.mkey: 0x1" },
	{ 0, CX_query_flow_counter_in__address, 1, CX_ST_BAD_PARAM,
	  "query_flow_counter_in.address: 0x1" },
	{ 0, CX_query_flow_counter_in__num_of_counters, 32769, CX_ST_BAD_PARAM,
	  "query_flow_counter_in.num_of_counters: 32769 is over 2^15" },
	{ 0, CX_query_flow_counter_in__num_of_counters, 5, CX_ST_BAD_OUT_LEN,
	  "out_len: 80 bytes have no room for 5 counters" },
	{ 0, CX_query_flow_counter_in__flow_counter_id, 0x501, CX_ST_BAD_PARAM,
	  "query_flow_counter_in.flow_counter_id: 0x501 is not a multiple of 4" },
	{ 0 },
};

static void test_each_refusal(void **state)
{
	struct rig *r = rig_open(NULL);
	struct mailbox m;

	(void)state;
	rig_refusals(r, D_ALLOC_FLOW_COUNTER, alloc_rows);
	rig_refusals(r, D_QUERY_FLOW_COUNTER, query_rows);
	rig_build(r, D_DEALLOC_FLOW_COUNTER, &m);
	CX_SET(dealloc_flow_counter_in, m.in, flow_counter_id, r->flow_counter + 1);
	rig_refuse(r, &m, CX_ST_BAD_RES, "dealloc_flow_counter_in.flow_counter_id: 0x");
	d_assert_log(r->d, "is inside the bulk that starts at");
	rig_close(r);
}

static void test_flow_counter_in_use(void **state)
{
	struct rig *r = rig_open(NULL);
	uint32_t id = d_flow_counter(r->d), table;
	struct d_rule rule = { .action = D_DROP | D_COUNT, .counter = id };
	uint8_t in[16] = { 0 }, out[32], frame[60];

	(void)state;
	table = d_table(r->d, 0, 4);
	d_root(r->d, table);
	d_rule(r->d, table, d_group(r->d, table, 0, 3, 0, NULL), 0, &rule);
	d_udp4(frame, sizeof(frame), 1, 2, 3, 4, 5);
	assert_int_equal(cx_rx(r->d->dev, frame, sizeof(frame)), CX_RX_RULE_DROP);
	d_assert_ok(r->d, query(r, id, 0, false, out));
	assert_int_equal(packets_at(out, 0), 1);
	CX_SET(dealloc_flow_counter_in, in, flow_counter_id, id);
	assert_int_equal(d_cmd(r->d, D_DEALLOC_FLOW_COUNTER, in, sizeof(in), out, 16),
			 CX_ST_BAD_RES_STATE);
	d_assert_ok(r->d, d_rule_del(r->d, table, 0));
	d_assert_ok(r->d, d_cmd(r->d, D_DEALLOC_FLOW_COUNTER, in, sizeof(in), out, 16));
	rig_close(r);
}

static void test_limit_of_flow_counters(void **state)
{
	struct rig *r = rig_open((const char *[]){
		"hca.max_flow_counter_31_16=0", "hca.max_flow_counter_15_0=1024", NULL });
	struct mailbox m;

	(void)state;
	rig_build(r, D_ALLOC_FLOW_COUNTER, &m);
	d_assert_ok(r->d, rig_cmd(r, &m)); /* the second 512 */
	rig_refuse(r, &m, CX_ST_LIMIT, "512 more than 1024 of 1024");
	CX_SET(alloc_flow_counter_in, m.in, flow_counter_bulk, 0);
	rig_refuse(r, &m, CX_ST_LIMIT, "1 more than 1024 of 1024");
	rig_close(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_out_of_buffer),
		cmocka_unit_test(test_queue_counter_in_use),
		cmocka_unit_test(test_all_queue_counters),
		cmocka_unit_test(test_shared_queue_counter),
		cmocka_unit_test(test_every_bulk),
		cmocka_unit_test(test_query_and_clear),
		cmocka_unit_test(test_range_over_nobody),
		cmocka_unit_test(test_each_refusal),
		cmocka_unit_test(test_flow_counter_in_use),
		cmocka_unit_test(test_limit_of_flow_counters),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
