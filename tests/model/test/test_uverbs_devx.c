/* test/test_uverbs_devx.c - what the kernel lets through to the device, and what it adds
 *
 * Source of the lists: Linux 6.1 drivers/infiniband/hw/mlx5/devx.c.
 */
#define _GNU_SOURCE 1
#include "uvrig.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "../uverbs/opcode.h"

static struct uvr_ctx a;

static int set_up(void **state)
{
	(void)state;
	uvr_start("eth0=none", NULL);
	uvr_open(&a, 0);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	uvr_close(&a);
	uvr_stop();
	return 0;
}

/* ---- objects for the tests ---- */

struct queue {
	uint8_t *mem;
	uint32_t umem, umem_num;
	uint32_t cq, cqn;
};

static uint32_t eqn_of(uint32_t vector)
{
	uint32_t eqn = 0;
	struct uvc c;

	uvc_begin(&c, MLX5_IB_OBJECT_DEVX, MLX5_IB_METHOD_DEVX_QUERY_EQN);
	uvc_u32(&c, MLX5_IB_ATTR_DEVX_QUERY_EQN_USER_VEC, vector);
	uvc_out(&c, MLX5_IB_ATTR_DEVX_QUERY_EQN_DEV_EQN, &eqn, sizeof(eqn));
	assert_int_equal(uvc_run(a.fd, &c), vector < CX_COMP_VECTORS ? 0 : ENOENT);
	return eqn;
}

static void fill_cq(const struct queue *q, uint8_t *in)
{
	uint8_t *cqc = CX_AT(create_cq_in, in, cq_context);

	memset(in, 0, CX_BYTES(create_cq_in));
	CX_SET(create_cq_in, in, opcode, CX_OP_CREATE_CQ);
	CX_SET(create_cq_in, in, cq_umem_id, q->umem_num);
	CX_SET(cqc, cqc, dbr_umem_id, q->umem_num);
	CX_SET(cqc, cqc, dbr_addr, 4096);
	CX_SET(cqc, cqc, log_cq_size, 4);
	CX_SET(cqc, cqc, uar_page, a.uar_num);
	CX_SET(cqc, cqc, c_eqn, eqn_of(0));
}

static void make_cq(struct queue *q)
{
	uint8_t in[CX_BYTES(create_cq_in)], out[16] = { 0 };

	q->mem = uvc_mem(8192);
	memset(q->mem, 0xff, 4096);
	assert_int_equal(uvr_reg_umem(a.fd, q->mem, 8192, IB_UVERBS_ACCESS_LOCAL_WRITE,
				      &q->umem, &q->umem_num),
			 0);
	fill_cq(q, in);
	assert_int_equal(uvr_create(a.fd, in, sizeof(in), out, sizeof(out), &q->cq), 0);
	q->cqn = (uint32_t)CX_GET(create_cq_out, out, cqn);
}

/* ---- the lists ---- */

/* Every opcode there can be, through each of the four methods. A command passes the kernel if
 * the device answered it, well or not. */
static bool passes(int rc)
{
	return !rc || rc == EREMOTEIO;
}

static bool is_create(uint16_t op, uint16_t op_mod)
{
	static const uint16_t list[] = {
		0xa00, 0x200, 0x400, 0x800, 0x816, 0x90c, 0x904, 0x908, 0x916,
		0x900, 0x912, 0x771, 0x930, 0x933, 0x939, 0x93d, 0x940, 0x782,
		0x827, 0x829, 0x500, 0x700, 0x705, 0x710, 0x717, 0x806, 0x80e,
	};

	for (size_t i = 0; i < sizeof(list) / sizeof(list[0]); i++)
		if (list[i] == op)
			return true;
	return op == 0x936 && op_mod == 0; /* CREATE_PSV: only of one, see below */
}

static bool is_general(uint16_t op)
{
	static const uint16_t list[] = {
		0x100, 0x762, 0x752, 0x750, 0x101, 0x10a, 0x754, 0x760, 0x76f,
		0x770, 0x80a, 0x80d, 0x822, 0x824, 0x826, 0x842, 0x740,
	};

	for (size_t i = 0; i < sizeof(list) / sizeof(list[0]); i++)
		if (list[i] == op)
			return true;
	return op >= 0xb00 && op < 0xd00;
}

static void only_creators_create(void **state)
{
	uint8_t in[16], out[64];
	uint32_t handle;

	(void)state;
	for (unsigned op = 0; op < 0xe00; op++)
		for (uint16_t op_mod = 0; op_mod < 2; op_mod++) {
			memset(in, 0, sizeof(in));
			cx_put_be16(in, (uint16_t)op);
			cx_put_be16(in + 6, op_mod);
			int rc = uvr_create(a.fd, in, sizeof(in), out, sizeof(out),
					    &handle);

			if (op == CX_OP_CREATE_MKEY) {
				assert_int_equal(rc,
						 EINVAL); /* too short for the kernel */
				continue;
			}
			if (passes(rc) != is_create((uint16_t)op, op_mod))
				fail_msg("opcode 0x%x op_mod %u: %s", op, op_mod,
					 strerror(rc));
			if (!rc)
				assert_int_equal(uvr_devx_destroy(a.fd, handle), 0);
			else if (!passes(rc))
				assert_int_equal(rc, EINVAL);
		}
}

static void only_general_commands_are_general(void **state)
{
	uint8_t in[16], out[4112];

	(void)state;
	for (unsigned op = 0; op < 0xe00; op++) {
		memset(in, 0, sizeof(in));
		cx_put_be16(in, (uint16_t)op);
		int rc = uvr_general(a.fd, in, sizeof(in), out, sizeof(out));

		if (passes(rc) != is_general((uint16_t)op))
			fail_msg("opcode 0x%x: %s", op, strerror(rc));
	}
}

static void psvs_are_made_one_at_a_time(void **state)
{
	uint8_t in[16] = { 0 }, out[64];
	uint32_t handle;

	(void)state;
	cx_put_be16(in, CX_OP_CREATE_PSV);
	for (unsigned n = 0; n < 3; n++) {
		in[8] = (uint8_t)(n << 4);
		assert_int_equal(uvr_create(a.fd, in, sizeof(in), out, sizeof(out),
					    &handle),
				 n == 1 ? EREMOTEIO : EINVAL); /* the device has none */
	}
}

static void a_tunnel_is_refused(void **state)
{
	uint8_t in[16] = { 0 }, out[16];
	uint32_t handle;

	(void)state;
	cx_put_be16(in, CX_OP_ALLOC_PD);
	cx_put_be16(in + 4, 1);
	assert_int_equal(uvr_create(a.fd, in, sizeof(in), out, sizeof(out), &handle),
			 EINVAL);
}

/* ---- the device's answer ---- */

static void a_bad_status_comes_back_whole(void **state)
{
	uint8_t in[CX_BYTES(create_cq_in)], out[16] = { 0 };
	struct queue q;
	uint32_t handle;

	(void)state;
	make_cq(&q);
	fill_cq(&q, in);
	CX_SET(cqc, CX_AT(create_cq_in, in, cq_context), log_cq_size, 31);
	assert_int_equal(uvr_create(a.fd, in, sizeof(in), out, sizeof(out), &handle),
			 EREMOTEIO);
	assert_int_equal(out[0], CX_ST_BAD_PARAM);
	assert_int_not_equal(cx_be32(out + 4), 0);
	uvr_fault(0, "cmd op=0x800 status=8 syndrome=0x123456 times=1");
	assert_int_equal(uvr_alloc(a.fd, CX_OP_ALLOC_PD, &handle, &q.cqn), EREMOTEIO);
	assert_int_equal(uvr_alloc(a.fd, CX_OP_ALLOC_PD, &handle, &q.cqn), 0);
}

/* The answer's room is the program's to choose, and more than is written is zero. */
static void answers_may_be_long(void **state)
{
	uint8_t in[16] = { 0 }, out[4096];
	uint32_t handle;

	(void)state;
	memset(out, 0xaa, sizeof(out));
	cx_put_be16(in, CX_OP_ALLOC_PD);
	assert_int_equal(uvr_create(a.fd, in, sizeof(in), out, sizeof(out), &handle), 0);
	for (size_t i = 16; i < sizeof(out); i++)
		assert_int_equal(out[i], 0);
}

/* ---- what the kernel writes into mailboxes ---- */

#define UIDS 16

static void count_uids(uint32_t n[UIDS])
{
	model_lock(&uvr_m);
	for (uint16_t uid = 0; uid < UIDS; uid++)
		n[uid] = cx_obj_count_uid(uvr_dev(0), uid);
	model_unlock(&uvr_m);
}

/* Whatever a program writes there, the object is its own. */
static void the_context_number_is_the_kernels(void **state)
{
	uint32_t before[UIDS], after[UIDS], handle, changed = 0;
	uint8_t in[16] = { 0 }, out[16];
	struct uvr_ctx b;

	(void)state;
	uvr_open(&b, 0);
	count_uids(before);
	cx_put_be16(in, CX_OP_ALLOC_PD);
	for (uint16_t uid = 0; uid < UIDS; uid++) {
		cx_put_be16(in + 2, uid);
		assert_int_equal(
			uvr_create(a.fd, in, sizeof(in), out, sizeof(out), &handle), 0);
	}
	count_uids(after);
	for (unsigned uid = 0; uid < UIDS; uid++)
		if (after[uid] != before[uid]) {
			assert_int_equal(after[uid], before[uid] + UIDS);
			assert_int_not_equal(uid, 0);
			changed++;
		}
	assert_int_equal(changed, 1);
	uvr_close(&b);
}

/* No program sets the umem bits: the queue works all the same. */
static void umem_bits_are_set(void **state)
{
	uint8_t in[16] = { 0 }, out[CX_BYTES(query_cq_out)] = { 0 };
	struct queue q;

	(void)state;
	make_cq(&q);
	CX_SET(query_cq_in, in, opcode, CX_OP_QUERY_CQ);
	CX_SET(query_cq_in, in, cqn, q.cqn);
	assert_int_equal(uvr_query(a.fd, q.cq, in, sizeof(in), out, sizeof(out)), 0);
	assert_int_equal(
		CX_GET(cqc, CX_AT(query_cq_out, out, cq_context), dbr_umem_valid), 1);
}

static void an_event_queue_must_exist(void **state)
{
	uint8_t in[CX_BYTES(create_cq_in)], out[16] = { 0 };
	struct queue q;
	uint32_t handle;

	(void)state;
	make_cq(&q);
	fill_cq(&q, in);
	CX_SET(cqc, CX_AT(create_cq_in, in, cq_context), c_eqn, 0xfe);
	assert_int_equal(uvr_create(a.fd, in, sizeof(in), out, sizeof(out), &handle),
			 ENOENT);
	assert_int_not_equal(eqn_of(7), eqn_of(0));
	eqn_of(8);
}

/* ---- whose object? ---- */

static void a_number_must_be_the_handles(void **state)
{
	uint8_t in[16] = { 0 }, out[CX_BYTES(query_cq_out)] = { 0 };
	uint8_t mod[CX_BYTES(modify_cq_in)] = { 0 };
	struct queue q, r;

	(void)state;
	make_cq(&q);
	make_cq(&r);
	CX_SET(query_cq_in, in, opcode, CX_OP_QUERY_CQ);
	CX_SET(query_cq_in, in, cqn, r.cqn);
	assert_int_equal(uvr_query(a.fd, q.cq, in, sizeof(in), out, sizeof(out)), EINVAL);
	assert_int_equal(uvr_query(a.fd, r.cq, in, sizeof(in), out, sizeof(out)), 0);
	assert_int_equal(uvr_query(a.fd, a.pd, in, sizeof(in), out, sizeof(out)), EINVAL);
	assert_int_equal(uvr_modify(a.fd, r.cq, in, sizeof(in), out, sizeof(out)),
			 EINVAL);
	CX_SET(modify_cq_in, mod, opcode, CX_OP_MODIFY_CQ);
	CX_SET(modify_cq_in, mod, cqn, q.cqn);
	CX_SET(modify_cq_in, mod, modify_field_select, 1);
	CX_SET(cqc, CX_AT(modify_cq_in, mod, cq_context), cq_period, 9);
	assert_int_equal(uvr_modify(a.fd, r.cq, mod, sizeof(mod), out, sizeof(out)),
			 EINVAL);
	assert_int_equal(uvr_modify(a.fd, q.cq, mod, sizeof(mod), out, sizeof(out)), 0);
}

/* The same holds for parts of objects that verbs made. */
static void verbs_objects_can_be_asked_about(void **state)
{
	uint8_t in[16] = { 0 }, out[CX_BYTES(query_sq_out)] = { 0 };
	struct uvr_cq cq;
	struct uvr_qp qp;

	(void)state;
	assert_int_equal(uvr_cq(&a, &cq, 16, -1), 0);
	assert_int_equal(uvr_qp(&a, &qp, &cq, 16, 16), 0);
	CX_SET(query_sq_in, in, opcode, CX_OP_QUERY_SQ);
	CX_SET(query_sq_in, in, sqn, qp.resp.sqn);
	assert_int_equal(uvr_query(a.fd, qp.handle, in, sizeof(in), out, sizeof(out)), 0);
	assert_int_equal(CX_GET(sqc, CX_AT(query_sq_out, out, sq_context), cqn), cq.cqn);
	CX_SET(query_sq_in, in, sqn, qp.resp.sqn + 1);
	assert_int_equal(uvr_query(a.fd, qp.handle, in, sizeof(in), out, sizeof(out)),
			 EINVAL);
	memset(in, 0, sizeof(in));
	CX_SET(query_cq_in, in, opcode, CX_OP_QUERY_CQ);
	CX_SET(query_cq_in, in, cqn, cq.cqn);
	assert_int_equal(uvr_query(a.fd, cq.handle, in, sizeof(in), out, 272), 0);
}

static void counters_made_in_bulk_have_many_numbers(void **state)
{
	uint8_t in[16] = { 0 }, out[16] = { 0 }, query[32] = { 0 }, answer[32];
	uint32_t handle, first;

	(void)state;
	CX_SET(alloc_flow_counter_in, in, opcode, CX_OP_ALLOC_FLOW_COUNTER);
	CX_SET(alloc_flow_counter_in, in, flow_counter_bulk, 1); /* 128 */
	assert_int_equal(uvr_create(a.fd, in, sizeof(in), out, sizeof(out), &handle), 0);
	first = cx_be32(out + 8);
	CX_SET(query_flow_counter_in, query, opcode, CX_OP_QUERY_FLOW_COUNTER);
	for (uint32_t i = 0; i < 130; i += i == 126 ? 1 : 63) {
		CX_SET(query_flow_counter_in, query, flow_counter_id, first + i);
		assert_int_equal(uvr_query(a.fd, handle, query, sizeof(query), answer,
					   sizeof(answer)),
				 i < 128 ? 0 : EINVAL);
	}
	assert_int_equal(uvr_devx_destroy(a.fd, handle), 0);
}

/* ---- destroying ---- */

static void what_is_in_use_stays(void **state)
{
	struct queue q;

	(void)state;
	make_cq(&q);
	assert_int_equal(uvr_dereg_umem(a.fd, q.umem), EBUSY);
	assert_int_equal(uvr_devx_destroy(a.fd, q.cq), 0);
	assert_int_equal(uvr_devx_destroy(a.fd, q.cq), ENOENT);
	assert_int_equal(uvr_dereg_umem(a.fd, q.umem), 0);
}

static void what_the_device_keeps_stays_with_its_handle(void **state)
{
	uint32_t handle, num;

	(void)state;
	assert_int_equal(uvr_alloc(a.fd, CX_OP_ALLOC_PD, &handle, &num), 0);
	uvr_fault(0, "cmd op=0x801 status=6 times=1");
	assert_int_equal(uvr_devx_destroy(a.fd, handle), EBUSY);
	assert_int_equal(uvr_devx_destroy(a.fd, handle), 0);
}

/* Flow tables want more than a number to be destroyed. */
static void tables_groups_and_entries_can_be_destroyed(void **state)
{
	uint8_t ft[CX_BYTES(create_flow_table_in)] = { 0 };
	static uint8_t fg[CX_BYTES(create_flow_group_in)], fte[CX_BYTES(set_fte_in)];
	uint8_t out[CX_BYTES(create_flow_group_out)];
	uint32_t table, group, entry, table_id, group_id;

	(void)state;
	CX_SET(create_flow_table_in, ft, opcode, CX_OP_CREATE_FLOW_TABLE);
	CX_SET(flow_table_context, CX_AT(create_flow_table_in, ft, flow_table_context),
	       level, 60);
	CX_SET(flow_table_context, CX_AT(create_flow_table_in, ft, flow_table_context),
	       log_size, 2);
	assert_int_equal(uvr_create(a.fd, ft, sizeof(ft), out, sizeof(out), &table), 0);
	table_id = (uint32_t)CX_GET(create_flow_table_out, out, table_id);
	CX_SET(create_flow_group_in, fg, opcode, CX_OP_CREATE_FLOW_GROUP);
	CX_SET(create_flow_group_in, fg, table_id, table_id);
	CX_SET(create_flow_group_in, fg, end_flow_index, 3);
	assert_int_equal(uvr_create(a.fd, fg, sizeof(fg), out, sizeof(out), &group), 0);
	group_id = (uint32_t)CX_GET(create_flow_group_out, out, group_id);
	CX_SET(set_fte_in, fte, opcode, CX_OP_SET_FLOW_TABLE_ENTRY);
	CX_SET(set_fte_in, fte, table_id, table_id);
	CX_SET(set_fte_in, fte, flow_index, 2);
	CX_SET(flow_context, CX_AT(set_fte_in, fte, flow_context), group_id, group_id);
	CX_SET(flow_context, CX_AT(set_fte_in, fte, flow_context), action, 2); /* drop */
	assert_int_equal(uvr_create(a.fd, fte, sizeof(fte), out, sizeof(out), &entry), 0);
	assert_int_equal(uvr_count(0, CX_FTE), 1);
	assert_int_not_equal(uvr_devx_destroy(a.fd, table), 0);
	assert_int_equal(uvr_devx_destroy(a.fd, entry), 0);
	assert_int_equal(uvr_count(0, CX_FTE), 0);
	assert_int_equal(uvr_devx_destroy(a.fd, group), 0);
	assert_int_equal(uvr_devx_destroy(a.fd, table), 0);
}

/* ---- without DevX ---- */

static void a_context_without_devx_may_only_ask_for_capabilities(void **state)
{
	uint8_t in[16] = { 0 }, out[4112];
	uint32_t handle, num;
	int fd = uvc_open(0);
	void *p = uvc_mem(4096);

	(void)state;
	assert_int_equal(uvr_get_context(fd, 0), 0);
	assert_int_equal(uvr_alloc(fd, CX_OP_ALLOC_PD, &handle, &num), EINVAL);
	assert_int_equal(uvr_reg_umem(fd, p, 4096, 1, &handle, &num), EINVAL);
	cx_put_be16(in, CX_OP_NOP);
	assert_int_equal(uvr_general(fd, in, sizeof(in), out, sizeof(out)), EINVAL);
	cx_put_be16(in, CX_OP_QUERY_HCA_CAP);
	assert_int_equal(uvr_general(fd, in, sizeof(in), out, sizeof(out)), 0);
	close(fd);
}

int main(void)
{
	struct CMUnitTest tests[] = {
		cmocka_unit_test(only_creators_create),
		cmocka_unit_test(only_general_commands_are_general),
		cmocka_unit_test(psvs_are_made_one_at_a_time),
		cmocka_unit_test(a_tunnel_is_refused),
		cmocka_unit_test(a_bad_status_comes_back_whole),
		cmocka_unit_test(answers_may_be_long),
		cmocka_unit_test(the_context_number_is_the_kernels),
		cmocka_unit_test(umem_bits_are_set),
		cmocka_unit_test(an_event_queue_must_exist),
		cmocka_unit_test(a_number_must_be_the_handles),
		cmocka_unit_test(verbs_objects_can_be_asked_about),
		cmocka_unit_test(counters_made_in_bulk_have_many_numbers),
		cmocka_unit_test(what_is_in_use_stays),
		cmocka_unit_test(what_the_device_keeps_stays_with_its_handle),
		cmocka_unit_test(tables_groups_and_entries_can_be_destroyed),
		cmocka_unit_test(a_context_without_devx_may_only_ask_for_capabilities),
	};

	for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++) {
		tests[i].setup_func = set_up;
		tests[i].teardown_func = tear_down;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
