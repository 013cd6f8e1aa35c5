/* test/test_uverbs_devx.c - what the kernel lets through to the device, and what it adds
 *
 * Source of the lists: Linux 6.1 drivers/infiniband/hw/mlx5/devx.c.
 */
#define _GNU_SOURCE 1
#include "uvrig.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

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
	struct uvr_dcq q;
	uint32_t handle;

	(void)state;
	uvr_dcq(&a, &q);
	uvr_dcq_fill(&a, &q, in);
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
	struct uvr_dcq q;

	(void)state;
	uvr_dcq(&a, &q);
	CX_SET(query_cq_in, in, opcode, CX_OP_QUERY_CQ);
	CX_SET(query_cq_in, in, cqn, q.cqn);
	assert_int_equal(uvr_query(a.fd, q.handle, in, sizeof(in), out, sizeof(out)), 0);
	assert_int_equal(
		CX_GET(cqc, CX_AT(query_cq_out, out, cq_context), dbr_umem_valid), 1);
}

static void an_event_queue_must_exist(void **state)
{
	uint8_t in[CX_BYTES(create_cq_in)], out[16] = { 0 };
	struct uvr_dcq q;
	uint32_t handle;

	(void)state;
	uvr_dcq(&a, &q);
	uvr_dcq_fill(&a, &q, in);
	CX_SET(cqc, CX_AT(create_cq_in, in, cq_context), c_eqn, 0xfe);
	assert_int_equal(uvr_create(a.fd, in, sizeof(in), out, sizeof(out), &handle),
			 ENOENT);
	assert_int_not_equal(uvr_eqn(a.fd, 7), uvr_eqn(a.fd, 0));
	uvr_eqn(a.fd, 8);
}

/* ---- whose object? ---- */

static void a_number_must_be_the_handles(void **state)
{
	uint8_t in[16] = { 0 }, out[CX_BYTES(query_cq_out)] = { 0 };
	uint8_t mod[CX_BYTES(modify_cq_in)] = { 0 };
	struct uvr_dcq q, r;

	(void)state;
	uvr_dcq(&a, &q);
	uvr_dcq(&a, &r);
	CX_SET(query_cq_in, in, opcode, CX_OP_QUERY_CQ);
	CX_SET(query_cq_in, in, cqn, r.cqn);
	assert_int_equal(uvr_query(a.fd, q.handle, in, sizeof(in), out, sizeof(out)),
			 EINVAL);
	assert_int_equal(uvr_query(a.fd, r.handle, in, sizeof(in), out, sizeof(out)), 0);
	assert_int_equal(uvr_query(a.fd, a.pd, in, sizeof(in), out, sizeof(out)), EINVAL);
	assert_int_equal(uvr_modify(a.fd, r.handle, in, sizeof(in), out, sizeof(out)),
			 EINVAL);
	CX_SET(modify_cq_in, mod, opcode, CX_OP_MODIFY_CQ);
	CX_SET(modify_cq_in, mod, cqn, q.cqn);
	CX_SET(modify_cq_in, mod, modify_field_select, 1);
	CX_SET(cqc, CX_AT(modify_cq_in, mod, cq_context), cq_period, 9);
	assert_int_equal(uvr_modify(a.fd, r.handle, mod, sizeof(mod), out, sizeof(out)),
			 EINVAL);
	assert_int_equal(uvr_modify(a.fd, q.handle, mod, sizeof(mod), out, sizeof(out)),
			 0);
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
	CX_SET(alloc_flow_counter_in, in, flow_counter_bulk, 4); /* 512 */
	assert_int_equal(uvr_create(a.fd, in, sizeof(in), out, sizeof(out), &handle), 0);
	first = cx_be32(out + 8);
	CX_SET(query_flow_counter_in, query, opcode, CX_OP_QUERY_FLOW_COUNTER);
	for (uint32_t i = 0; i < 514; i += i == 510 ? 1 : 255) {
		CX_SET(query_flow_counter_in, query, flow_counter_id, first + i);
		assert_int_equal(uvr_query(a.fd, handle, query, sizeof(query), answer,
					   sizeof(answer)),
				 i < 512 ? 0 : EINVAL);
	}
	assert_int_equal(uvr_devx_destroy(a.fd, handle), 0);
}

static void queues_of_verbs_too(void **state)
{
	uint8_t in[16] = { 0 }, rq_out[CX_BYTES(query_rq_out)],
		rqt_in[CX_BYTES(modify_rqt_in) + 4];
	uint8_t out[16];
	struct uvr_cq cq;
	struct uvr_wq wq, other;
	uint32_t table;

	(void)state;
	assert_int_equal(uvr_cq(&a, &cq, 64, -1), 0);
	uvr_wq_fill(&a, &wq, &cq, 64);
	assert_int_equal(uvr_wq_make(&a, &wq), 0);
	uvr_wq_fill(&a, &other, &cq, 64);
	assert_int_equal(uvr_wq_make(&a, &other), 0);
	CX_SET(query_rq_in, in, opcode, CX_OP_QUERY_RQ);
	CX_SET(query_rq_in, in, rqn, wq.num);
	assert_int_equal(
		uvr_query(a.fd, wq.handle, in, sizeof(in), rq_out, sizeof(rq_out)), 0);
	assert_int_equal(uvr_query(a.fd, other.handle, in, sizeof(in), rq_out,
				   sizeof(rq_out)),
			 EINVAL);
	assert_int_equal(uvr_table(a.fd, &wq.handle, 0, &table), 0);
	memset(rqt_in, 0, sizeof(rqt_in));
	CX_SET(modify_rqt_in, rqt_in, opcode, CX_OP_MODIFY_RQT);
	CX_SET(modify_rqt_in, rqt_in, rqtn, 0x7777);
	assert_int_equal(uvr_modify(a.fd, table, rqt_in, sizeof(rqt_in), out,
				    sizeof(out)),
			 EINVAL);
}

/* ---- memory ---- */

static int umem_with(uint8_t *p, uint16_t id, uint64_t value)
{
	uint32_t num;
	struct uvc c;

	uvc_begin(&c, MLX5_IB_OBJECT_DEVX_UMEM, MLX5_IB_METHOD_DEVX_UMEM_REG);
	uvc_handle(&c, MLX5_IB_ATTR_DEVX_UMEM_REG_HANDLE, 0);
	uvc_u64(&c, MLX5_IB_ATTR_DEVX_UMEM_REG_ADDR, (uintptr_t)p);
	uvc_u64(&c, MLX5_IB_ATTR_DEVX_UMEM_REG_LEN, 16384);
	uvc_u32(&c, MLX5_IB_ATTR_DEVX_UMEM_REG_ACCESS, 1);
	uvc_u64(&c, id, value);
	uvc_out(&c, MLX5_IB_ATTR_DEVX_UMEM_REG_OUT_ID, &num, sizeof(num));
	return uvc_run(a.fd, &c);
}

static void some_page_size_must_fit(void **state)
{
	uint8_t *p = uvc_mem(16384);

	(void)state;
	assert_int_equal(
		umem_with(p, MLX5_IB_ATTR_DEVX_UMEM_REG_PGSZ_BITMAP, ~0ull << 12), 0);
	assert_int_equal(umem_with(p, MLX5_IB_ATTR_DEVX_UMEM_REG_PGSZ_BITMAP, 1 << 13),
			 0);
	assert_int_equal(umem_with(p, MLX5_IB_ATTR_DEVX_UMEM_REG_PGSZ_BITMAP, 1 << 20),
			 EINVAL);
	assert_int_equal(umem_with(p, MLX5_IB_ATTR_DEVX_UMEM_REG_PGSZ_BITMAP, 1 << 11),
			 EINVAL);
	assert_int_equal(umem_with(p, MLX5_IB_ATTR_DEVX_UMEM_REG_PGSZ_BITMAP, 0), EINVAL);
}

/* ---- doorbell pages ---- */

static int uar_of(uint64_t type)
{
	uint32_t num, length;
	uint64_t offset;
	struct uvc c;

	uvc_begin(&c, MLX5_IB_OBJECT_UAR, MLX5_IB_METHOD_UAR_OBJ_ALLOC);
	uvc_handle(&c, MLX5_IB_ATTR_UAR_OBJ_ALLOC_HANDLE, 0);
	uvc_u64(&c, MLX5_IB_ATTR_UAR_OBJ_ALLOC_TYPE, type);
	uvc_out(&c, MLX5_IB_ATTR_UAR_OBJ_ALLOC_PAGE_ID, &num, sizeof(num));
	uvc_out(&c, MLX5_IB_ATTR_UAR_OBJ_ALLOC_MMAP_LENGTH, &length, sizeof(length));
	uvc_out(&c, MLX5_IB_ATTR_UAR_OBJ_ALLOC_MMAP_OFFSET, &offset, sizeof(offset));
	return uvc_run(a.fd, &c);
}

static void pages_of_either_kind(void **state)
{
	uint32_t page;
	struct uvc c;

	(void)state;
	assert_int_equal(uar_of(MLX5_IB_UAPI_UAR_ALLOC_TYPE_BF), 0);
	assert_int_equal(uar_of(MLX5_IB_UAPI_UAR_ALLOC_TYPE_NC), 0);
	assert_int_equal(uar_of(7), EOPNOTSUPP);
	assert_int_equal(uar_of(UINT64_MAX), EINVAL);
	uvc_begin(&c, MLX5_IB_OBJECT_DEVX, MLX5_IB_METHOD_DEVX_QUERY_UAR);
	uvc_u32(&c, MLX5_IB_ATTR_DEVX_QUERY_UAR_USER_IDX, 0);
	uvc_out(&c, MLX5_IB_ATTR_DEVX_QUERY_UAR_DEV_IDX, &page, sizeof(page));
	assert_int_equal(uvc_run(a.fd, &c), EINVAL); /* none are given with a context */
}

/* ---- destroying ---- */

static void what_is_in_use_stays(void **state)
{
	struct uvr_dcq q;

	(void)state;
	uvr_dcq(&a, &q);
	assert_int_equal(uvr_dereg_umem(a.fd, q.umem), EBUSY);
	assert_int_equal(uvr_devx_destroy(a.fd, q.handle), 0);
	assert_int_equal(uvr_devx_destroy(a.fd, q.handle), ENOENT);
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
		cmocka_unit_test(queues_of_verbs_too),
		cmocka_unit_test(some_page_size_must_fit),
		cmocka_unit_test(pages_of_either_kind),
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
