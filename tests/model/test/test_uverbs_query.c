/* test/test_uverbs_query.c - what a program can ask about the device, its port and itself */
#define _GNU_SOURCE 1
#include "uvrig.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

static struct uvr_ctx a;

static int set_up(void **state)
{
	(void)state;
	uvr_start("eth0=loop", NULL);
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

/* ---- the device ---- */

static int query_device(struct ib_uverbs_ex_query_device_resp *resp, size_t out_len,
			struct mlx5_ib_query_device_resp *drv, size_t drv_len)
{
	struct ib_uverbs_ex_query_device req = { 0 };
	struct uvc_write w = { .cmd = IB_USER_VERBS_EX_CMD_QUERY_DEVICE |
				      IB_USER_VERBS_CMD_FLAG_EXTENDED,
			       .in = &req,
			       .in_len = sizeof(req),
			       .out = resp,
			       .out_len = out_len,
			       .drv_out = drv,
			       .drv_out_len = drv_len };
	struct uvc c;

	memset(resp, 0xaa, sizeof(*resp));
	if (drv)
		memset(drv, 0xaa, sizeof(*drv));
	return uvc_write(a.fd, &c, &w);
}

/* Source of the numbers: Linux 6.1 hw/mlx5/main.c, mlx5_ib_query_device(). */
static void the_device_tells_what_it_can(void **state)
{
	struct ib_uverbs_query_device req = { 0 };
	struct ib_uverbs_query_device_resp old;
	struct ib_uverbs_ex_query_device_resp resp;
	struct mlx5_ib_query_device_resp drv;
	struct uvc_write w = { .cmd = IB_USER_VERBS_CMD_QUERY_DEVICE,
			       .in = &req,
			       .in_len = sizeof(req),
			       .out = &old,
			       .out_len = sizeof(old) };
	struct uvc c;

	(void)state;
	assert_int_equal(query_device(&resp, sizeof(resp), &drv, sizeof(drv)), 0);
	assert_int_equal(uvc_write(a.fd, &c, &w), 0);
	assert_memory_equal(&old, &resp.base, sizeof(old));
	assert_int_equal(resp.response_length, sizeof(resp));
	assert_int_equal(resp.base.vendor_id, 0x02c9);
	assert_int_equal(resp.base.phys_port_cnt, 1);
	assert_true(resp.base.max_qp_wr >= 4096);
	assert_true(resp.base.max_cqe >= 65535);
	assert_true(resp.rss_caps.supported_qpts & 1 << IB_UVERBS_QPT_RAW_PACKET);
	assert_int_equal(drv.response_length, /* the sum of the parts */
			 offsetof(struct mlx5_ib_query_device_resp, reserved));
	assert_true(drv.tso_caps.supported_qpts & 1 << IB_UVERBS_QPT_RAW_PACKET);
	assert_true(drv.rss_caps.rx_hash_function & MLX5_RX_HASH_FUNC_TOEPLITZ);
	assert_true(drv.cqe_comp_caps.max_num);
	assert_true(drv.striding_rq_caps.supported_qpts & 1 << IB_UVERBS_QPT_RAW_PACKET);
}

/* Programs of any age: the answer ends with what they have room for. */
static void answers_end_with_the_programs_struct(void **state)
{
	struct ib_uverbs_ex_query_device_resp resp;
	struct mlx5_ib_query_device_resp drv;
	size_t core = offsetof(struct ib_uverbs_ex_query_device_resp, rss_caps);
	size_t part = offsetof(struct mlx5_ib_query_device_resp, cqe_comp_caps);

	(void)state;
	assert_int_equal(query_device(&resp, core, &drv, part), 0);
	assert_int_equal(resp.response_length, core);
	assert_int_equal(((uint8_t *)&resp)[core], 0xaa);
	assert_int_equal(drv.response_length, part);
	assert_int_equal(((uint8_t *)&drv)[part], 0xaa);
	assert_int_equal(query_device(&resp, core, NULL, 0), 0);
	assert_int_equal(query_device(&resp, 16, NULL, 0), ENOSPC);
	assert_int_equal(query_device(&resp, core, &drv, 4), EINVAL);
}

/* ---- the port ---- */

static int query_port(uint8_t port, struct ib_uverbs_query_port_resp_ex *resp)
{
	struct uvc c;

	uvc_begin(&c, UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_PORT);
	uvc_u64(&c, UVERBS_ATTR_QUERY_PORT_PORT_NUM, port);
	uvc_out(&c, UVERBS_ATTR_QUERY_PORT_RESP, resp, sizeof(*resp));
	return uvc_run(a.fd, &c);
}

static void the_port_tells_its_state(void **state)
{
	struct ib_uverbs_query_port req = { .port_num = 1 };
	struct ib_uverbs_query_port_resp old;
	struct ib_uverbs_query_port_resp_ex resp;
	struct uvc_write w = { .cmd = IB_USER_VERBS_CMD_QUERY_PORT,
			       .in = &req,
			       .in_len = sizeof(req),
			       .out = &old,
			       .out_len = sizeof(old) };
	struct uvc c;

	(void)state;
	assert_int_equal(query_port(1, &resp), 0);
	assert_int_equal(uvc_write(a.fd, &c, &w), 0);
	assert_memory_equal(&old, &resp.legacy_resp, sizeof(old));
	assert_int_equal(old.state, 4);
	assert_int_equal(old.phys_state, 5);
	assert_int_equal(old.link_layer, 2);
	assert_int_equal(old.active_mtu, 3); /* 1500 bytes: 1024 of RoCE */
	uvr_fault(0, "link down");
	model_lock(&uvr_m);
	cx_mtu_set(uvr_dev(0), 9000);
	model_unlock(&uvr_m);
	assert_int_equal(query_port(1, &resp), 0);
	assert_int_equal(resp.legacy_resp.state, 1);
	assert_int_equal(resp.legacy_resp.phys_state, 3);
	assert_int_equal(resp.legacy_resp.active_mtu, 5);
	assert_int_equal(query_port(0, &resp), EINVAL);
	assert_int_equal(query_port(2, &resp), EINVAL);
	req.port_num = 2;
	assert_int_equal(uvc_write(a.fd, &c, &w), EINVAL);
}

static void the_mlx5_part_of_the_port_is_empty(void **state)
{
	struct mlx5_ib_uapi_query_port resp;
	struct uvc c;

	(void)state;
	memset(&resp, 0xaa, sizeof(resp));
	uvc_begin(&c, UVERBS_OBJECT_DEVICE, MLX5_IB_METHOD_QUERY_PORT);
	uvc_u32(&c, MLX5_IB_ATTR_QUERY_PORT_PORT_NUM, 1);
	uvc_out(&c, MLX5_IB_ATTR_QUERY_PORT, &resp, sizeof(resp));
	assert_int_equal(uvc_run(a.fd, &c), 0);
	assert_int_equal(resp.flags, 0);
	uvc_begin(&c, UVERBS_OBJECT_DEVICE, MLX5_IB_METHOD_QUERY_PORT);
	uvc_u32(&c, MLX5_IB_ATTR_QUERY_PORT_PORT_NUM, 3);
	uvc_out(&c, MLX5_IB_ATTR_QUERY_PORT, &resp, sizeof(resp));
	assert_int_equal(uvc_run(a.fd, &c), EINVAL);
}

/* ---- GIDs ---- */

static int gid_entry(uint64_t port, uint64_t index, struct ib_uverbs_gid_entry *e)
{
	struct uvc c;

	uvc_begin(&c, UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_GID_ENTRY);
	uvc_u64(&c, UVERBS_ATTR_QUERY_GID_ENTRY_PORT, port);
	uvc_u64(&c, UVERBS_ATTR_QUERY_GID_ENTRY_GID_INDEX, index);
	uvc_u32(&c, UVERBS_ATTR_QUERY_GID_ENTRY_FLAGS, 0);
	uvc_out(&c, UVERBS_ATTR_QUERY_GID_ENTRY_RESP_ENTRY, e, sizeof(*e));
	return uvc_run(a.fd, &c);
}

static int gid_table(uint64_t entry_size, void *entries, size_t len, uint64_t *n)
{
	struct uvc c;

	uvc_begin(&c, UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_GID_TABLE);
	uvc_u64(&c, UVERBS_ATTR_QUERY_GID_TABLE_ENTRY_SIZE, entry_size);
	uvc_out(&c, UVERBS_ATTR_QUERY_GID_TABLE_RESP_ENTRIES, entries, len);
	uvc_out(&c, UVERBS_ATTR_QUERY_GID_TABLE_RESP_NUM_ENTRIES, n, 8);
	return uvc_run(a.fd, &c);
}

static void gids_are_the_link_local_address(void **state)
{
	struct ib_uverbs_gid_entry e, table[4];
	uint8_t mac[6];
	uint64_t n;

	(void)state;
	model_lock(&uvr_m);
	cx_mac_get(uvr_dev(0), mac);
	model_unlock(&uvr_m);
	assert_int_equal(gid_table(sizeof(e), table, sizeof(table), &n), 0);
	assert_int_equal(n, 2);
	for (unsigned i = 0; i < 2; i++) {
		const uint8_t *gid = (const uint8_t *)e.gid;

		assert_int_equal(gid_entry(1, i, &e), 0);
		assert_memory_equal(&e, &table[i], sizeof(e));
		assert_int_equal(e.gid_index, i);
		assert_int_equal(gid[0], 0xfe);
		assert_int_equal(gid[8], mac[0] ^ 2);
		assert_memory_equal(gid + 13, mac + 3, 3);
	}
	assert_int_equal(gid_entry(1, 2, &e), ENODATA);
	assert_int_equal(gid_entry(1, 100000, &e), EINVAL);
	assert_int_equal(gid_entry(2, 0, &e), EINVAL);
	assert_int_equal(gid_table(sizeof(e), table, sizeof(e), &n),
			 EINVAL); /* no room */
	assert_int_equal(gid_table(0, table, sizeof(table), &n), EINVAL);
	assert_int_equal(gid_table(UINT64_MAX, table, sizeof(table), &n), EINVAL);
	assert_int_equal(gid_table(7, table, 20, &n), EINVAL);
	assert_int_equal(gid_table(8, table, 32, &n), 0); /* older programs' entries */
}

/* ---- the context ---- */

static void the_context_can_be_asked_again(void **state)
{
	struct mlx5_ib_alloc_ucontext_resp resp = { 0 };
	uint32_t vectors = 0;
	uint64_t support = 0;
	struct uvc c;

	(void)state;
	uvc_begin(&c, UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_CONTEXT);
	uvc_out(&c, UVERBS_ATTR_QUERY_CONTEXT_NUM_COMP_VECTORS, &vectors, 4);
	uvc_out(&c, UVERBS_ATTR_QUERY_CONTEXT_CORE_SUPPORT, &support, 8);
	uvc_out(&c, MLX5_IB_ATTR_QUERY_CONTEXT_RESP_UCTX, &resp, sizeof(resp));
	assert_int_equal(uvc_run(a.fd, &c), 0);
	assert_int_equal(vectors, CX_COMP_VECTORS);
	assert_true(support & IB_UVERBS_CORE_SUPPORT_OPTIONAL_MR_ACCESS);
	assert_int_equal(resp.response_length, sizeof(resp));
	assert_int_equal(resp.cqe_version, 1);
}

static void handles_can_be_listed(void **state)
{
	uint32_t list[16] = { 0 }, total = 0, pd, pdn;
	struct uvc c;

	(void)state;
	assert_int_equal(uvr_alloc_pd(a.fd, &pd, &pdn), 0);
	uvc_begin(&c, UVERBS_OBJECT_DEVICE, UVERBS_METHOD_INFO_HANDLES);
	uvc_u64(&c, UVERBS_ATTR_INFO_OBJECT_ID, UVERBS_OBJECT_PD);
	uvc_out(&c, UVERBS_ATTR_INFO_TOTAL_HANDLES, &total, 4);
	uvc_out(&c, UVERBS_ATTR_INFO_HANDLES_LIST, list, sizeof(list));
	assert_int_equal(uvc_run(a.fd, &c), 0);
	assert_int_equal(total, 2);
	assert_true((list[0] == pd && list[1] == a.pd) ||
		    (list[1] == pd && list[0] == a.pd));
	uvc_begin(&c, UVERBS_OBJECT_DEVICE, UVERBS_METHOD_INFO_HANDLES);
	uvc_u64(&c, UVERBS_ATTR_INFO_OBJECT_ID, UVERBS_OBJECT_PD);
	uvc_out(&c, UVERBS_ATTR_INFO_TOTAL_HANDLES, &total, 4);
	uvc_out(&c, UVERBS_ATTR_INFO_HANDLES_LIST, list, 4); /* only one fits */
	assert_int_equal(uvc_run(a.fd, &c), 0);
	assert_int_equal(total, 1);
	uvc_begin(&c, UVERBS_OBJECT_DEVICE, UVERBS_METHOD_INFO_HANDLES);
	uvc_u64(&c, UVERBS_ATTR_INFO_OBJECT_ID, UVERBS_OBJECT_PD);
	uvc_out(&c, UVERBS_ATTR_INFO_TOTAL_HANDLES, &total, 4);
	uvc_out(&c, UVERBS_ATTR_INFO_HANDLES_LIST, list, 6);
	assert_int_equal(uvc_run(a.fd, &c), EINVAL);
}

static void a_domain_tells_its_number(void **state)
{
	uint32_t num = 0;
	struct uvc c;

	(void)state;
	uvc_begin(&c, UVERBS_OBJECT_PD, MLX5_IB_METHOD_PD_QUERY);
	uvc_handle(&c, MLX5_IB_ATTR_QUERY_PD_HANDLE, a.pd);
	uvc_out(&c, MLX5_IB_ATTR_QUERY_PD_RESP_PDN, &num, 4);
	assert_int_equal(uvc_run(a.fd, &c), 0);
	assert_int_equal(num, a.pdn);
}

int main(void)
{
	struct CMUnitTest tests[] = {
		cmocka_unit_test(the_device_tells_what_it_can),
		cmocka_unit_test(answers_end_with_the_programs_struct),
		cmocka_unit_test(the_port_tells_its_state),
		cmocka_unit_test(the_mlx5_part_of_the_port_is_empty),
		cmocka_unit_test(gids_are_the_link_local_address),
		cmocka_unit_test(the_context_can_be_asked_again),
		cmocka_unit_test(handles_can_be_listed),
		cmocka_unit_test(a_domain_tells_its_number),
	};

	for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++) {
		tests[i].setup_func = set_up;
		tests[i].teardown_func = tear_down;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
