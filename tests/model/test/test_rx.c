/* test/test_rx.c - a frame's way into the device, and the kernel's way out */
#include "flow_rig.h"

#include <stdlib.h>
#include <string.h>

#define DPORT FLOW_OUTER(udp_dport)
#define SMALL 4 /* entries of a receive queue here */

/* A port with a root table over udp_dport and one queue with SMALL buffers. */
struct rig {
	struct direct *d;
	struct d_cq *cq;
	struct d_rq *rq;
	uint32_t tirn, table, group;
};

static struct rig rig_open(void)
{
	struct rig r = { .d = d_open(NULL) };

	r.cq = d_cq(r.d, &(struct d_cq_conf){ .log_size = 8 });
	r.rq = d_rq(r.d, &(struct d_rq_conf){ .log_size = 2, .cq = r.cq });
	r.tirn = d_tir(r.d, r.rq->num);
	r.table = d_table(r.d, 0, 4);
	r.group = flow_field_group(r.d, r.table, 0, 7, DPORT);
	d_root(r.d, r.table);
	return r;
}

static enum cx_rx_verdict rx(struct rig *r, const struct frame *f)
{
	return cx_rx(r->d->dev, f->b, f->len);
}

static enum cx_rx_verdict rx_port(struct rig *r, uint16_t dport)
{
	struct frame f = frame_udp4(9, dport, 18);

	return rx(r, &f);
}

static void take_port(struct rig *r, uint32_t index, uint16_t dport, uint32_t tag)
{
	struct d_rule rule = flow_to_tir(r->tirn, tag);

	cx_set(rule.value, DPORT, dport);
	d_rule(r->d, r->table, r->group, index, &rule);
}

static uint64_t seen(const struct rig *r, enum cx_rx_verdict v)
{
	return cx_stats(r->d->dev)->rx[v];
}

/* ---- each fate ---- */

static void test_queued(void **state)
{
	struct rig r = rig_open();
	struct frame f = frame_udp4(9, 80, 18);
	const uint8_t *cqe;

	(void)state;
	take_port(&r, 0, 80, 0xabcdef);
	d_rq_post(r.rq, SMALL);
	assert_int_equal(rx(&r, &f), CX_RX_QUEUED);
	assert_memory_equal(d_rq_buf(r.rq, 0), f.b, f.len);
	cqe = d_cq_poll(r.cq);
	assert_non_null(cqe);
	assert_int_equal(CX_GET(cqe, cqe, opcode), 2);
	assert_int_equal(CX_GET(cqe, cqe, byte_cnt), f.len);
	assert_int_equal(CX_GET(cqe, cqe, tag_or_qpn), 0xabcdef);
	assert_int_equal(CX_GET(cqe, cqe, l2_ok) + CX_GET(cqe, cqe, l3_ok) +
				 CX_GET(cqe, cqe, l4_ok),
			 3);
	assert_int_equal(CX_GET(cqe, cqe, rx_hash_result), 0);
	assert_int_equal(CX_GET(cqe, cqe, rx_hash_type), 0);
	assert_int_equal(r.d->kernel.n, 0);
	assert_int_equal(seen(&r, CX_RX_QUEUED), 1);
	assert_int_equal(cx_stats(r.d->dev)->rx_frames, 1);
	assert_int_equal(cx_stats(r.d->dev)->rx_bytes, f.len);
	d_close(r.d);
}

static void test_kernel(void **state)
{
	struct rig r = rig_open();
	struct frame f = frame_udp4(9, 81, 18);

	(void)state;
	take_port(&r, 0, 80, 0);
	d_rq_post(r.rq, SMALL);
	assert_int_equal(rx(&r, &f), CX_RX_KERNEL);
	assert_int_equal(r.d->kernel.n, 1);
	assert_int_equal(r.d->kernel.at[0].len, f.len);
	assert_memory_equal(r.d->kernel.at[0].data, f.b, f.len);
	assert_null(d_cq_poll(r.cq));
	assert_int_equal(seen(&r, CX_RX_KERNEL), 1);
	d_close(r.d);
}

static void test_rule_drop(void **state)
{
	struct rig r = rig_open();
	struct d_rule rule = flow_rule(D_DROP, DPORT, 80);

	(void)state;
	d_rule(r.d, r.table, r.group, 0, &rule);
	assert_int_equal(rx_port(&r, 80), CX_RX_RULE_DROP);
	assert_int_equal(r.d->kernel.n, 0);
	assert_int_equal(seen(&r, CX_RX_RULE_DROP), 1);
	d_close(r.d);
}

static void test_no_buffer(void **state)
{
	struct rig r = rig_open();

	(void)state;
	take_port(&r, 0, 80, 0);
	assert_int_equal(rx_port(&r, 80), CX_RX_NO_BUFFER);
	d_rq_post(r.rq, 2);
	assert_int_equal(rx_port(&r, 80), CX_RX_QUEUED);
	assert_int_equal(rx_port(&r, 80), CX_RX_QUEUED);
	assert_int_equal(rx_port(&r, 80), CX_RX_NO_BUFFER);
	assert_int_equal(seen(&r, CX_RX_NO_BUFFER), 2);
	assert_int_equal(r.d->kernel.n, 0);
	d_close(r.d);
}

static void test_dead_queue(void **state)
{
	struct rig r = rig_open();

	(void)state;
	take_port(&r, 0, 80, 0);
	d_rq_post(r.rq, SMALL);
	assert_int_equal(d_rq_state(r.rq, 1, 3), CX_ST_OK);
	assert_int_equal(rx_port(&r, 80), CX_RX_DEAD);
	assert_int_equal(d_rq_state(r.rq, 3, 0), CX_ST_OK);
	assert_int_equal(rx_port(&r, 80), CX_RX_DEAD);
	assert_int_equal(seen(&r, CX_RX_DEAD), 2);
	d_close(r.d);
}

static void test_link_down(void **state)
{
	struct rig r = rig_open();

	(void)state;
	cx_link_set(r.d->dev, false);
	assert_int_equal(rx_port(&r, 80), CX_RX_DOWN);
	assert_int_equal(r.d->kernel.n, 0);
	cx_link_set(r.d->dev, true);
	assert_int_equal(rx_port(&r, 80), CX_RX_KERNEL);
	d_fault(r.d, "fatal");
	assert_int_equal(rx_port(&r, 80), CX_RX_DOWN);
	assert_int_equal(seen(&r, CX_RX_DOWN), 2);
	d_close(r.d);
}

static void test_size_limits(void **state)
{
	struct rig r = rig_open();
	uint8_t b[2000] = { 2 };

	(void)state;
	assert_int_equal(cx_rx(r.d->dev, b, 1522), CX_RX_KERNEL);
	assert_int_equal(cx_rx(r.d->dev, b, 1523), CX_RX_OVERSIZE);
	assert_int_equal(cx_rx(r.d->dev, b, 14), CX_RX_KERNEL);
	assert_int_equal(cx_rx(r.d->dev, b, 13), CX_RX_LOST);
	assert_int_equal(cx_rx(r.d->dev, b, 0), CX_RX_LOST);
	cx_mtu_set(r.d->dev, 500);
	assert_int_equal(cx_rx(r.d->dev, b, 522), CX_RX_KERNEL);
	assert_int_equal(cx_rx(r.d->dev, b, 523), CX_RX_OVERSIZE);
	assert_int_equal(r.d->kernel.n, 3);
	assert_int_equal(seen(&r, CX_RX_OVERSIZE), 2);
	d_close(r.d);
}

static void test_faults_lose_frames(void **state)
{
	struct rig r = rig_open();

	(void)state;
	d_fault(r.d, "drop rx nth=2 times=2");
	assert_int_equal(rx_port(&r, 1), CX_RX_KERNEL);
	assert_int_equal(rx_port(&r, 1), CX_RX_LOST);
	assert_int_equal(rx_port(&r, 1), CX_RX_LOST);
	assert_int_equal(rx_port(&r, 1), CX_RX_KERNEL);
	assert_int_equal(r.d->kernel.n, 2);
	d_close(r.d);
}

/* ---- copies ---- */

/* The better fate of two names the frame's; both happen. */
static void test_copy_for_the_kernel(void **state)
{
	struct rig r = rig_open();
	struct d_rule rule = { .action = D_FORWARD,
			       .n_dests = 2,
			       .dest = { { D_TO_TIR, r.tirn },
					 { D_TO_TABLE, d_table(r.d, 5, 4) } } };

	(void)state;
	d_rule(r.d, r.table, r.group, 0, &rule);
	assert_int_equal(rx_port(&r, 0), CX_RX_KERNEL); /* and no buffer */
	d_rq_post(r.rq, SMALL);
	assert_int_equal(rx_port(&r, 0), CX_RX_QUEUED); /* and kernel */
	assert_int_equal(r.d->kernel.n, 2);
	assert_non_null(d_cq_poll(r.cq));
	assert_null(d_cq_poll(r.cq));
	d_close(r.d);
}

static void test_two_queues_get_the_same(void **state)
{
	struct rig r = rig_open();
	struct d_rq *second = d_rq(r.d, &(struct d_rq_conf){ .log_size = 2, .cq = r.cq });
	struct d_rule rule = { .action = D_FORWARD, .n_dests = 2, .tag = 3 };
	struct frame f = frame_udp4(9, 0, 100);

	(void)state;
	rule.dest[0] = (struct d_dest){ D_TO_TIR, r.tirn };
	rule.dest[1] = (struct d_dest){ D_TO_TIR, d_tir(r.d, second->num) };
	d_rule(r.d, r.table, r.group, 0, &rule);
	d_rq_post(second, SMALL);
	assert_int_equal(rx(&r, &f), CX_RX_QUEUED);
	assert_memory_equal(d_rq_buf(second, 0), f.b, f.len);
	d_rq_post(r.rq, SMALL);
	assert_int_equal(rx(&r, &f), CX_RX_QUEUED);
	assert_memory_equal(d_rq_buf(second, 1), f.b, f.len);
	assert_memory_equal(d_rq_buf(r.rq, 0), f.b, f.len);
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(CX_GET(cqe, d_cq_poll(r.cq), tag_or_qpn), 3);
	assert_null(d_cq_poll(r.cq));
	d_close(r.d);
}

/* ---- the stamp ---- */

static void test_stamp(void **state)
{
	struct rig r = rig_open();

	(void)state;
	take_port(&r, 0, 80, 0);
	d_rq_post(r.rq, SMALL);
	cx_clock_advance(r.d->dev, 123456789);
	assert_int_equal(rx_port(&r, 80), CX_RX_QUEUED);
	cx_clock_advance(r.d->dev, 1000);
	assert_int_equal(CX_GET(cqe, d_cq_poll(r.cq), timestamp), 123456789);
	d_close(r.d);
}

/* ---- spreading, through commands, completions and buffers ---- */

#define QUEUES 4
#define FLOWS  200

struct spread {
	struct direct *d;
	struct d_cq *cq[QUEUES];
	struct d_rq *rq[QUEUES];
	uint32_t rqtn, seen[QUEUES];
};

static struct spread spread_open(void)
{
	struct spread s = { .d = d_open(NULL) };
	uint32_t rqn[QUEUES];

	for (unsigned i = 0; i < QUEUES; i++) {
		s.cq[i] = d_cq(s.d, &(struct d_cq_conf){ .log_size = 9 });
		s.rq[i] = d_rq(s.d, &(struct d_rq_conf){ .log_size = 8, .cq = s.cq[i] });
		d_rq_post(s.rq[i], 256);
		rqn[i] = s.rq[i]->num;
	}
	s.rqtn = d_rqt(s.d, rqn, QUEUES);
	return s;
}

static uint32_t spread_tir(struct spread *s, bool ip6, bool udp)
{
	struct d_tir_conf conf = {
		.rqtn = s->rqtn, .hash_fn = 2, .ipv6 = ip6, .udp = udp, .fields = 15
	};

	return d_tir_rss(s->d, &conf);
}

/* The frame is in the queue its hash says, and the completion tells that hash. */
static void expect(struct spread *s, const struct frame *f, uint8_t hash_type)
{
	const uint8_t *cqe;
	unsigned q;

	assert_int_equal(cx_rx(s->d->dev, f->b, f->len), CX_RX_QUEUED);
	for (q = 0; !(cqe = d_cq_poll(s->cq[q])); q++)
		assert_in_range(q, 0, QUEUES - 2);
	assert_int_equal(CX_GET(cqe, cqe, rx_hash_result) % QUEUES, q);
	assert_int_equal(CX_GET(cqe, cqe, rx_hash_type), hash_type);
	assert_memory_equal(d_rq_buf(s->rq[q], (uint16_t)s->seen[q]), f->b, f->len);
	s->seen[q]++;
}

static void assert_spread(struct spread *s)
{
	uint32_t all = 0;

	for (unsigned q = 0; q < QUEUES; q++) {
		assert_in_range(s->seen[q], FLOWS / QUEUES / 2, FLOWS / QUEUES * 2);
		all += s->seen[q];
		assert_null(d_cq_poll(s->cq[q]));
	}
	assert_int_equal(all, FLOWS);
}

static void test_spread_ip4(void **state)
{
	struct spread s = spread_open();

	(void)state;
	d_all_to(s.d, spread_tir(&s, false, true));
	for (uint32_t i = 0; i < FLOWS; i++) {
		struct frame f = frame_udp4((uint16_t)(1000 + i), 80, i % 50);

		expect(&s, &f, 0xa5);
	}
	assert_spread(&s);
	d_close(s.d);
}

static void test_spread_ip6(void **state)
{
	struct spread s = spread_open();

	(void)state;
	d_all_to(s.d, spread_tir(&s, true, false));
	for (uint32_t i = 0; i < FLOWS; i++) {
		struct frame f = frame_tcp6((uint16_t)(1000 + 7 * i), 80, 0x10);

		expect(&s, &f, 0x5a);
	}
	assert_spread(&s);
	d_close(s.d);
}

/* The usual set-up of drivers: one TIR a traffic type, chosen by rules. */
static void test_spread_by_type(void **state)
{
	struct spread s = spread_open();
	uint32_t table = d_table(s.d, 0, 4), group;
	uint8_t mask[512] = { 0 };

	(void)state;
	cx_set(mask, FLOW_OUTER(ip_version), 15);
	cx_set(mask, FLOW_OUTER(ip_protocol), 255);
	group = d_group(s.d, table, 0, 3, FLOW_ENABLE_OUTER, mask);
	for (uint32_t i = 0; i < 4; i++) {
		struct d_rule r = flow_to_tir(spread_tir(&s, i & 1, i & 2), 0);

		cx_set(r.value, FLOW_OUTER(ip_version), i & 1 ? 6 : 4);
		cx_set(r.value, FLOW_OUTER(ip_protocol), i & 2 ? 17 : 6);
		d_rule(s.d, table, group, i, &r);
	}
	d_root(s.d, table);
	for (uint32_t i = 0; i < FLOWS; i++) {
		static const uint8_t types[4] = { 0x55, 0x5a, 0xa5, 0xaa };
		uint16_t port = (uint16_t)(1 + 3 * i);
		struct frame f = i % 4 == 0   ? frame_tcp4(port, 80, 0)
				 : i % 4 == 1 ? frame_tcp6(port, 80, 0)
				 : i % 4 == 2 ? frame_udp4(port, 80, 9)
					      : frame_udp6(port, 80, 9);

		expect(&s, &f, types[i % 4]);
	}
	assert_spread(&s);
	d_close(s.d);
}

/* ---- hostile frames, all the way ---- */

static void test_hostile_frames(void **state)
{
	struct spread s = spread_open();
	uint32_t x = 0x2545f491, tirn = spread_tir(&s, true, false), got = 0;

	(void)state;
	d_all_to(s.d, tirn);
	for (unsigned i = 0; i < 3000; i++) {
		struct frame f = frame_chain(i % 10);
		uint8_t *copy;

		for (unsigned k = 0; k < 4; k++) {
			x = x * 1664525 + 1013904223;
			f.b[(x >> 8) % f.len] = (uint8_t)(x >> 24);
		}
		f.len = 14 + (x >> 4) % (f.len - 13);
		copy = malloc(f.len); /* of its own size, for AddressSanitizer */
		memcpy(copy, f.b, f.len);
		got += cx_rx(s.d->dev, copy, f.len) == CX_RX_QUEUED;
		free(copy);
		for (unsigned q = 0; q < QUEUES; q++)
			while (d_cq_poll(s.cq[q]))
				d_rq_post(s.rq[q], 1);
	}
	assert_int_equal(got, 3000);
	d_close(s.d);
}

/* ---- trace ---- */

static void test_trace(void **state)
{
	struct rig r = rig_open();

	(void)state;
	take_port(&r, 0, 80, 0x77);
	d_rq_post(r.rq, SMALL);
	rx_port(&r, 80);
	assert_int_equal(r.d->trace.n, 0);
	cx_trace_set(r.d->dev, CX_TRACE_RX);
	rx_port(&r, 80);
	assert_true(r.d->trace.n > 1);
	assert_non_null(strstr(r.d->trace.at[0], "rx 60 bytes"));
	assert_non_null(strstr(r.d->trace.at[0], "tag 0x77: queued"));
	cx_trace_set(r.d->dev, 0);
	d_close(r.d);
}

/* ---- what leaves ---- */

static void test_kernel_sends(void **state)
{
	struct rig r = rig_open();
	struct frame f = frame_udp4(1, 2, 30);
	uint8_t b[2000] = { 2 };

	(void)state;
	cx_kernel_tx(r.d->dev, f.b, f.len);
	assert_int_equal(r.d->wire.n, 1);
	assert_memory_equal(r.d->wire.at[0].data, f.b, f.len);
	cx_kernel_tx(r.d->dev, b, 1522);
	cx_kernel_tx(r.d->dev, b, 1523);
	cx_kernel_tx(r.d->dev, b, 13);
	assert_int_equal(r.d->wire.n, 2);
	d_fault(r.d, "drop tx nth=1");
	cx_kernel_tx(r.d->dev, f.b, f.len);
	assert_int_equal(r.d->wire.n, 2);
	cx_link_set(r.d->dev, false);
	cx_kernel_tx(r.d->dev, f.b, f.len);
	assert_int_equal(r.d->wire.n, 2);
	assert_int_equal(cx_stats(r.d->dev)->kernel_tx_frames, 2);
	assert_int_equal(cx_stats(r.d->dev)->tx_oversize, 1);
	assert_int_equal(cx_stats(r.d->dev)->tx_lost, 3);
	d_close(r.d);
}

/* A transmit rule stops the kernel's frames and those of queues; the queue's send completes. */
static void test_transmit_rules(void **state)
{
	struct rig r = rig_open();
	struct d_sq *sq = d_sq(r.d, &(struct d_sq_conf){ .log_size = 4, .cq = r.cq });
	uint32_t tx = flow_table(r.d,
				 &(struct flow_table){ .type = FLOW_TX, .log_size = 4 }),
		 group;
	struct d_rule drop = flow_rule(D_DROP, DPORT, 80);
	struct frame bad = frame_udp4(1, 80, 30), good = frame_udp4(1, 81, 30);

	(void)state;
	d_patch(r.d, 0, (cx_field)CX_create_flow_group_in__table_type, FLOW_TX);
	group = flow_field_group(r.d, tx, 0, 7, DPORT);
	d_patch(r.d, 0, (cx_field)CX_set_fte_in__table_type, FLOW_TX);
	d_rule(r.d, tx, group, 0, &drop);
	assert_int_equal(flow_try_root(r.d, FLOW_TX, tx), CX_ST_OK);
	cx_kernel_tx(r.d->dev, bad.b, bad.len);
	assert_int_equal(r.d->wire.n, 0);
	cx_kernel_tx(r.d->dev, good.b, good.len);
	assert_int_equal(r.d->wire.n, 1);
	d_send(sq, bad.b, bad.len);
	d_send(sq, good.b, good.len);
	d_run(r.d);
	assert_int_equal(r.d->wire.n, 2);
	assert_memory_equal(r.d->wire.at[1].data, good.b, good.len);
	assert_int_equal(CX_GET(cqe, d_cq_poll(r.cq), opcode), 0);
	assert_int_equal(CX_GET(cqe, d_cq_poll(r.cq), opcode), 0);
	d_close(r.d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_queued),
		cmocka_unit_test(test_kernel),
		cmocka_unit_test(test_rule_drop),
		cmocka_unit_test(test_no_buffer),
		cmocka_unit_test(test_dead_queue),
		cmocka_unit_test(test_link_down),
		cmocka_unit_test(test_size_limits),
		cmocka_unit_test(test_faults_lose_frames),
		cmocka_unit_test(test_copy_for_the_kernel),
		cmocka_unit_test(test_two_queues_get_the_same),
		cmocka_unit_test(test_stamp),
		cmocka_unit_test(test_spread_ip4),
		cmocka_unit_test(test_spread_ip6),
		cmocka_unit_test(test_spread_by_type),
		cmocka_unit_test(test_hostile_frames),
		cmocka_unit_test(test_trace),
		cmocka_unit_test(test_kernel_sends),
		cmocka_unit_test(test_transmit_rules),
	};

	return cmocka_run_group_tests_name("rx", tests, NULL, NULL);
}
