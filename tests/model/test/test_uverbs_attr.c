/* test/test_uverbs_attr.c - attributes and headers are checked as the kernel checks them
 *
 * Each wrong call gets its errno, and changes nothing: the right call still works after it.
 * Source of the rules: Linux 6.1 drivers/infiniband/core/uverbs_ioctl.c.
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

/* ---- headers ---- */

/* A call that is right, to be spoiled. */
static void right(struct uvc *c, uint32_t *eqn)
{
	uvc_begin(c, MLX5_IB_OBJECT_DEVX, MLX5_IB_METHOD_DEVX_QUERY_EQN);
	uvc_u32(c, MLX5_IB_ATTR_DEVX_QUERY_EQN_USER_VEC, 0);
	uvc_out(c, MLX5_IB_ATTR_DEVX_QUERY_EQN_DEV_EQN, eqn, sizeof(*eqn));
}

static void a_right_call_works(void **state)
{
	uint32_t eqn = 0;
	struct uvc c;

	(void)state;
	right(&c, &eqn);
	assert_int_equal(uvc_run(a.fd, &c), 0);
	assert_int_not_equal(eqn, 0);
	assert_true(c.attr[1].a.flags & UVERBS_ATTR_F_VALID_OUTPUT);
}

static void headers_are_checked(void **state)
{
	uint32_t eqn;
	struct uvc c;

	(void)state;
	right(&c, &eqn);
	c.hdr.driver_id = RDMA_DRIVER_MLX4;
	assert_int_equal(uvc_run(a.fd, &c), EINVAL);
	right(&c, &eqn);
	c.hdr.reserved1 = 1;
	assert_int_equal(uvc_run(a.fd, &c), EPROTONOSUPPORT);
	right(&c, &eqn);
	c.hdr.reserved2 = 1;
	assert_int_equal(uvc_run(a.fd, &c), EPROTONOSUPPORT);
	right(&c, &eqn);
	c.hdr.num_attrs = 1;
	assert_int_equal(uvc_run(a.fd, &c), EINVAL);
	right(&c, &eqn);
	c.hdr.length = 24;
	assert_int_equal(uvc_run(a.fd, &c), EINVAL);
	right(&c, &eqn);
	c.hdr.object_id = 0x1fff;
	assert_int_equal(uvc_run(a.fd, &c), EPROTONOSUPPORT);
	right(&c, &eqn);
	c.hdr.method_id = 0x10ff;
	assert_int_equal(uvc_run(a.fd, &c), EPROTONOSUPPORT);
}

/* ---- attributes ---- */

static void a_missing_mandatory_attribute_is_refused(void **state)
{
	uint32_t eqn;
	struct uvc c;

	(void)state;
	right(&c, &eqn);
	c.n = 1;
	assert_int_equal(uvc_run(a.fd, &c), EINVAL);
}

static void an_unknown_attribute_is_ignored_unless_mandatory(void **state)
{
	uint64_t content[4] = { 0 };
	uint32_t eqn = 0;
	struct uvc c;

	(void)state;
	right(&c, &eqn);
	uvc_u64(&c, 0x10ff, 1)->a.flags = 0;
	uvc_in(&c, 0x77, content, sizeof(content))->a.flags = 0;
	assert_int_equal(uvc_run(a.fd, &c), 0);
	assert_int_not_equal(eqn, 0);
	c.attr[2].a.flags = UVERBS_ATTR_F_MANDATORY;
	assert_int_equal(uvc_run(a.fd, &c), EPROTONOSUPPORT);
}

static void an_attribute_given_twice_is_refused(void **state)
{
	uint32_t eqn;
	struct uvc c;

	(void)state;
	right(&c, &eqn);
	uvc_u32(&c, MLX5_IB_ATTR_DEVX_QUERY_EQN_USER_VEC, 0);
	assert_int_equal(uvc_run(a.fd, &c), EINVAL);
}

static void lengths_and_reserved_fields_are_checked(void **state)
{
	uint8_t wide[16] = { 0 };
	uint32_t eqn;
	struct uvc c;

	(void)state;
	uvc_begin(&c, MLX5_IB_OBJECT_DEVX, MLX5_IB_METHOD_DEVX_QUERY_EQN);
	uvc_u64(&c, MLX5_IB_ATTR_DEVX_QUERY_EQN_USER_VEC, 0); /* 8 bytes, not 4 */
	uvc_out(&c, MLX5_IB_ATTR_DEVX_QUERY_EQN_DEV_EQN, &eqn, sizeof(eqn));
	assert_int_equal(uvc_run(a.fd, &c), EINVAL);
	right(&c, &eqn);
	c.attr[0].a.attr_data.reserved = 1;
	assert_int_equal(uvc_run(a.fd, &c), EINVAL);
	uvc_begin(&c, MLX5_IB_OBJECT_DEVX, MLX5_IB_METHOD_DEVX_QUERY_EQN);
	uvc_in(&c, MLX5_IB_ATTR_DEVX_QUERY_EQN_USER_VEC, wide, sizeof(wide));
	uvc_out(&c, MLX5_IB_ATTR_DEVX_QUERY_EQN_DEV_EQN, &eqn, sizeof(eqn));
	assert_int_equal(uvc_run(a.fd, &c), EINVAL);
}

/* A longer struct of a newer program is fine while the new part is zero. */
static void bytes_behind_a_known_struct_must_be_zero(void **state)
{
	uint8_t wide[sizeof(struct ib_uverbs_qp_cap) + 8] = { 0 };
	struct uvc c;

	(void)state;
	for (unsigned last = 0; last < 2; last++) {
		wide[sizeof(wide) - 1] = (uint8_t)last;
		uvc_begin(&c, UVERBS_OBJECT_QP, UVERBS_METHOD_QP_CREATE);
		uvc_handle(&c, UVERBS_ATTR_CREATE_QP_HANDLE, 0);
		uvc_u64(&c, UVERBS_ATTR_CREATE_QP_USER_HANDLE, 0);
		uvc_in(&c, UVERBS_ATTR_CREATE_QP_CAP, wide, sizeof(wide));
		uvc_u64(&c, UVERBS_ATTR_CREATE_QP_TYPE, 99);
		assert_int_equal(uvc_run(a.fd, &c), last ? EOPNOTSUPP : EINVAL);
	}
}

static void handles_are_checked(void **state)
{
	uint32_t pd, pdn, num = 0;
	struct uvc c;

	(void)state;
	assert_int_equal(uvr_alloc_pd(a.fd, &pd, &pdn), 0);
	uvc_begin(&c, UVERBS_OBJECT_PD, MLX5_IB_METHOD_PD_QUERY);
	uvc_handle(&c, MLX5_IB_ATTR_QUERY_PD_HANDLE, pd);
	uvc_out(&c, MLX5_IB_ATTR_QUERY_PD_RESP_PDN, &num, sizeof(num));
	assert_int_equal(uvc_run(a.fd, &c), 0);
	assert_int_equal(num, pdn);
	c.attr[0].a.data = 1000;
	assert_int_equal(uvc_run(a.fd, &c), ENOENT);
	c.attr[0].a.data = UINT64_MAX;
	assert_int_equal(uvc_run(a.fd, &c), ENOENT);
	c.attr[0].a.data = a.uar; /* another kind */
	assert_int_equal(uvc_run(a.fd, &c), EINVAL);
	c.attr[0].a.data = pd;
	c.attr[0].a.len = 4;
	assert_int_equal(uvc_run(a.fd, &c), EINVAL);
	c.attr[0].a.len = 0;
	c.attr[0].a.attr_data.reserved = 1;
	assert_int_equal(uvc_run(a.fd, &c), EINVAL);
	assert_int_equal(uvr_destroy(a.fd, UVERBS_OBJECT_PD, UVERBS_METHOD_PD_DESTROY,
				     UVERBS_ATTR_DESTROY_PD_HANDLE, pd),
			 0);
	assert_int_equal(uvr_destroy(a.fd, UVERBS_OBJECT_PD, UVERBS_METHOD_PD_DESTROY,
				     UVERBS_ATTR_DESTROY_PD_HANDLE, pd),
			 ENOENT);
}

/* The lowest free number, from 0 on. */
static void handles_are_used_again(void **state)
{
	uint32_t pd[3], pdn;

	(void)state;
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(uvr_alloc_pd(a.fd, &pd[i], &pdn), 0);
	assert_int_equal(a.pd, 0);
	assert_int_equal(a.uar, 1);
	assert_int_equal(pd[0], 2);
	assert_int_equal(uvr_destroy(a.fd, UVERBS_OBJECT_PD, UVERBS_METHOD_PD_DESTROY,
				     UVERBS_ATTR_DESTROY_PD_HANDLE, pd[1]),
			 0);
	assert_int_equal(uvr_alloc_pd(a.fd, &pd[0], &pdn), 0);
	assert_int_equal(pd[0], pd[1]);
}

static void flags_and_constants_are_checked(void **state)
{
	uint32_t handle, num;
	uint64_t offset;
	struct uvc c;
	void *p = uvc_mem(4096);

	(void)state;
	assert_int_equal(uvr_reg_umem(a.fd, p, 4096, 1u << 5, &handle, &num), EINVAL);
	assert_int_equal(uvr_reg_umem(a.fd, p, 4096, IB_UVERBS_ACCESS_REMOTE_WRITE,
				      &handle, &num),
			 EINVAL);
	uvc_begin(&c, MLX5_IB_OBJECT_UAR, MLX5_IB_METHOD_UAR_OBJ_ALLOC);
	uvc_handle(&c, MLX5_IB_ATTR_UAR_OBJ_ALLOC_HANDLE, 0);
	uvc_u64(&c, MLX5_IB_ATTR_UAR_OBJ_ALLOC_TYPE, 7);
	uvc_out(&c, MLX5_IB_ATTR_UAR_OBJ_ALLOC_PAGE_ID, &num, sizeof(num));
	uvc_out(&c, MLX5_IB_ATTR_UAR_OBJ_ALLOC_MMAP_LENGTH, &num, sizeof(num));
	uvc_out(&c, MLX5_IB_ATTR_UAR_OBJ_ALLOC_MMAP_OFFSET, &offset, sizeof(offset));
	assert_int_equal(uvc_run(a.fd, &c), EOPNOTSUPP);
}

static void an_enum_selects_what_belongs_to_it(void **state)
{
	struct uvr_match m = { { 0 }, { 0 } };
	struct uvc_attr *type;
	uint8_t criteria = 0;
	struct uvc c;

	(void)state;
	for (unsigned value = 0; value < 5; value++) {
		uvc_begin(&c, MLX5_IB_OBJECT_FLOW_MATCHER,
			  MLX5_IB_METHOD_FLOW_MATCHER_CREATE);
		uvc_handle(&c, MLX5_IB_ATTR_FLOW_MATCHER_CREATE_HANDLE, 0);
		uvc_in(&c, MLX5_IB_ATTR_FLOW_MATCHER_MATCH_MASK, m.mask, sizeof(m.mask));
		type = uvc_in(&c, MLX5_IB_ATTR_FLOW_MATCHER_FLOW_TYPE, "", 0);
		type->a.attr_data.enum_data.elem_id = (uint8_t)value;
		uvc_in(&c, MLX5_IB_ATTR_FLOW_MATCHER_MATCH_CRITERIA, &criteria, 1);
		/* 0 needs a priority; 1 to 3 need nothing; 4 is none */
		assert_int_equal(uvc_run(a.fd, &c), value == 0	? EINVAL
						    : value < 4 ? 0
								: EOPNOTSUPP);
	}
}

/* ---- before the context ---- */

static void nothing_works_before_get_context(void **state)
{
	uint32_t handle, num, eqn;
	uint64_t offset, at;
	int fd = uvc_open(0), file;
	struct uvc c;

	(void)state;
	assert_int_equal(uvr_alloc_pd(fd, &handle, &num), EINVAL);
	assert_int_equal(uvr_alloc_uar(fd, &handle, &num, &offset), EINVAL);
	assert_int_equal(uvc_map(fd, 0, 4096, &file, &at), EINVAL);
	right(&c, &eqn);
	assert_int_equal(uvc_run(fd, &c), EINVAL);
	assert_int_equal(uvr_get_context(fd, MLX5_IB_ALLOC_UCTX_DEVX), 0);
	assert_int_equal(uvr_get_context(fd, MLX5_IB_ALLOC_UCTX_DEVX), EINVAL); /* once */
	assert_int_equal(uvr_alloc_pd(fd, &handle, &num), 0);
	close(fd);
}

static void get_context_checks_what_the_library_says(void **state)
{
	struct mlx5_ib_alloc_ucontext_req_v2 req;
	struct uvc c;
	int fd = uvc_open(0);
	static const struct {
		uint32_t flags, comp_mask, low, bfregs;
		uint64_t lib_caps;
		size_t len;
		int rc;
	} row[] = {
		{ 0, 0, 4, 16, MLX5_LIB_CAP_DYN_UAR, 4, EINVAL },
		{ 2, 0, 4, 16, MLX5_LIB_CAP_DYN_UAR, sizeof(req), EOPNOTSUPP },
		{ 1, 1, 4, 16, MLX5_LIB_CAP_DYN_UAR, sizeof(req), EOPNOTSUPP },
		{ 1, 0, 17, 16, MLX5_LIB_CAP_DYN_UAR, sizeof(req), EINVAL },
		{ 1, 0, 4, 16, 0, sizeof(req), EOPNOTSUPP },
		{ 1, 0, 4, 16, MLX5_LIB_CAP_DYN_UAR, sizeof(req), 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		req = (struct mlx5_ib_alloc_ucontext_req_v2){
			.total_num_bfregs = row[i].bfregs,
			.num_low_latency_bfregs = row[i].low,
			.flags = row[i].flags,
			.comp_mask = row[i].comp_mask,
			.lib_caps = row[i].lib_caps,
		};
		uvc_begin(&c, UVERBS_OBJECT_DEVICE, UVERBS_METHOD_GET_CONTEXT);
		uvc_in(&c, UVERBS_ATTR_UHW_IN, &req, row[i].len);
		assert_int_equal(uvc_run(fd, &c), row[i].rc);
	}
	close(fd);
}

/* ---- older commands ---- */

static void older_commands_are_checked(void **state)
{
	struct ib_uverbs_query_device req = { 0 };
	struct ib_uverbs_query_device_resp resp;
	struct ib_uverbs_dealloc_pd wide[2] = { { .pd_handle = a.pd },
						{ .pd_handle = 1 } };
	struct uvc_write w = { .cmd = IB_USER_VERBS_CMD_QUERY_DEVICE };
	struct uvc c;

	(void)state;
	assert_int_equal(uvc_write(a.fd, &c, &w), ENOSPC); /* libibverbs asks so */
	w.in = &req;
	w.in_len = sizeof(req);
	w.out = &resp;
	w.out_len = sizeof(resp) - 1;
	assert_int_equal(uvc_write(a.fd, &c, &w), ENOSPC);
	w.out_len = sizeof(resp);
	assert_int_equal(uvc_write(a.fd, &c, &w), 0);
	assert_int_equal(resp.vendor_part_id, 0x101d);
	w.cmd = IB_USER_VERBS_CMD_POLL_CQ;
	assert_int_equal(uvc_write(a.fd, &c, &w), EOPNOTSUPP);
	w.cmd = 1u << 20;
	assert_int_equal(uvc_write(a.fd, &c, &w), EINVAL);
	w = (struct uvc_write){ .cmd = IB_USER_VERBS_CMD_DEALLOC_PD,
				.in = wide,
				.in_len = sizeof(wide) };
	assert_int_equal(uvc_write(a.fd, &c, &w), EOPNOTSUPP); /* something follows */
	wide[1].pd_handle = 0;
	wide[0].pd_handle = 999;
	assert_int_equal(uvc_write(a.fd, &c, &w), ENOENT);
}

static void every_refusal_says_why(void **state)
{
	uint32_t eqn;
	struct uvc c;

	(void)state;
	right(&c, &eqn);
	c.n = 1;
	assert_int_equal(uvc_run(a.fd, &c), EINVAL);
	assert_int_equal(uvr_logged("DEVX_QUERY_EQN: attribute: 0x1001: missing: EINVAL"),
			 1);
}

int main(void)
{
	struct CMUnitTest tests[] = {
		cmocka_unit_test(a_right_call_works),
		cmocka_unit_test(headers_are_checked),
		cmocka_unit_test(a_missing_mandatory_attribute_is_refused),
		cmocka_unit_test(an_unknown_attribute_is_ignored_unless_mandatory),
		cmocka_unit_test(an_attribute_given_twice_is_refused),
		cmocka_unit_test(lengths_and_reserved_fields_are_checked),
		cmocka_unit_test(bytes_behind_a_known_struct_must_be_zero),
		cmocka_unit_test(handles_are_checked),
		cmocka_unit_test(flags_and_constants_are_checked),
		cmocka_unit_test(an_enum_selects_what_belongs_to_it),
		cmocka_unit_test(nothing_works_before_get_context),
		cmocka_unit_test(get_context_checks_what_the_library_says),
		cmocka_unit_test(older_commands_are_checked),
		cmocka_unit_test(handles_are_used_again),
		cmocka_unit_test(every_refusal_says_why),
	};

	for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++) {
		tests[i].setup_func = set_up;
		tests[i].teardown_func = tear_down;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
