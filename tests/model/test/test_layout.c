/* test/test_layout.c - bit ranges, reserved bits, walks; offsets against mlx5dv.h */
#include "direct.h"

#include <infiniband/mlx5dv.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- bits.h ---- */

/* Every place and width a field may have: what is read back, and that nothing else moved. */
static void test_set_get_all_places(void **state)
{
	(void)state;
	for (uint32_t width = 1; width <= 32; width++) {
		for (uint32_t off = 64; off + width <= 96; off++) {
			uint8_t p[16], q[16];
			uint64_t all = UINT64_MAX >> (64 - width);

			memset(p, 0xff, sizeof(p));
			memset(q, 0x00, sizeof(q));
			cx_set(p, CX_PACK(off, width), 0);
			cx_set(q, CX_PACK(off, width), UINT64_MAX);
			assert_int_equal(cx_get(p, CX_PACK(off, width)), 0);
			assert_int_equal(cx_get(q, CX_PACK(off, width)), all);
			for (unsigned i = 0; i < sizeof(p); i++)
				assert_int_equal(p[i] ^ q[i], 0xff);
		}
	}
}

static void test_bit_zero_is_most_significant(void **state)
{
	uint8_t p[8] = { 0x80, 0, 0, 0x01, 0x12, 0x34, 0x56, 0x78 };

	(void)state;
	assert_int_equal(cx_get(p, CX_PACK(0, 1)), 1);
	assert_int_equal(cx_get(p, CX_PACK(31, 1)), 1);
	assert_int_equal(cx_get(p, CX_PACK(1, 30)), 0);
	assert_int_equal(cx_get(p, CX_PACK(40, 16)), 0x3456);
	assert_true(cx_get(p, CX_PACK(0, 64)) == UINT64_C(0x8000000112345678));
}

/* ---- reserved bits ---- */

/* What the constants alone say: bits that a plain field of @s names. */
#define CLAIM(s, f, map, base) claim(map, base, CX_##s##__##f)
static void claim(uint8_t *map, uint32_t base, cx_field f)
{
	for (uint32_t i = 0; i < cx_field_width(f); i++)
		map[base + cx_field_offset(f) + i] = 1;
}

static bool reserved_bit(const struct cx_layout *l, size_t len, uint32_t bit, char *name)
{
	uint8_t p[4096] = { 0 };

	p[bit / 8] = (uint8_t)(0x80 >> bit % 8);
	return cx_layout_reserved(l, p, len, name, 64);
}

static void claim_destroy_cq_in(uint8_t *map)
{
	CLAIM(destroy_cq_in, opcode, map, 0);
	CLAIM(destroy_cq_in, uid, map, 0);
	CLAIM(destroy_cq_in, op_mod, map, 0);
	CLAIM(destroy_cq_in, cqn, map, 0);
}

static void test_each_bit_of_a_flat_mailbox(void **state)
{
	uint8_t map[CX_destroy_cq_in__SIZE_BITS] = { 0 };
	char name[64], want[64];

	(void)state;
	claim_destroy_cq_in(map);
	for (uint32_t bit = 0; bit < CX_destroy_cq_in__SIZE_BITS; bit++) {
		bool reserved = reserved_bit(&cx_layout_destroy_cq_in, 16, bit, name);

		assert_int_equal(reserved, !map[bit]);
		snprintf(want, sizeof(want), "destroy_cq_in.reserved_at_%x", bit);
		if (reserved)
			assert_string_equal(name, want);
	}
}

static const struct {
	const char *s;
	cx_field field;
} cmd_fields[] = {
#define CX_BEGIN(s, bits)
#define CX_SUB(s, f, off, sub)
#define CX_TAIL(s, f, off, sub)
#define CX_END(s)
#define CX_FIELD(s, f, off, width) { #s, CX_PACK(off, width) },
#include "../core/layout_cmd.def"
#undef CX_BEGIN
#undef CX_SUB
#undef CX_TAIL
#undef CX_END
#undef CX_FIELD
};

static void claim_cqc(uint8_t *map, uint32_t base)
{
	for (unsigned i = 0; i < sizeof(cmd_fields) / sizeof(cmd_fields[0]); i++)
		if (!strcmp(cmd_fields[i].s, "cqc"))
			claim(map, base, cmd_fields[i].field);
}

/* A nested context: the name is the context's, the offset counts from its start. */
static void test_each_bit_of_a_nested_context(void **state)
{
	uint32_t base = cx_field_offset(CX_create_cq_in__cq_context);
	uint8_t map[CX_create_cq_in__SIZE_BITS] = { 0 };
	char name[64], want[64];
	unsigned reserved = 0;

	(void)state;
	claim_cqc(map, base);
	for (uint32_t bit = base; bit < base + CX_cqc__SIZE_BITS; bit++) {
		snprintf(want, sizeof(want), "cqc.reserved_at_%x", bit - base);
		assert_int_equal(reserved_bit(&cx_layout_create_cq_in,
					      CX_BYTES(create_cq_in), bit, name),
				 !map[bit]);
		reserved += !map[bit];
		if (!map[bit])
			assert_string_equal(name, want);
	}
	assert_in_range(reserved, 100, 400);
}

/* Names that kernel include/linux/mlx5/mlx5_ifc.h gives these places. */
static void test_known_reserved_places(void **state)
{
	char name[64];

	(void)state;
	assert_true(reserved_bit(&cx_layout_create_sq_in, CX_BYTES(create_sq_in), 0x20,
				 name));
	assert_string_equal(name, "create_sq_in.reserved_at_20");
	/* sqc at 0x100: 0x20 are the eight bits before user_index */
	assert_true(reserved_bit(&cx_layout_create_sq_in, CX_BYTES(create_sq_in), 0x120,
				 name));
	assert_string_equal(name, "sqc.reserved_at_20");
	/* two levels down: wq at 0x180 of sqc, 0x40 are the eight bits before pd */
	assert_true(reserved_bit(&cx_layout_create_sq_in, CX_BYTES(create_sq_in), 0x2c0,
				 name));
	assert_string_equal(name, "wq.reserved_at_40");
	assert_false(reserved_bit(&cx_layout_create_sq_in, CX_BYTES(create_sq_in), 0x2c8,
				  name));
}

/* Also behind bits that are named. */
static void test_reserved_bit_among_others(void **state)
{
	uint8_t p[CX_BYTES(destroy_cq_in)] = { 0x04, 0x01, 0x12, 0x34 };
	char name[64];

	(void)state;
	CX_SET(destroy_cq_in, p, op_mod, 0xffff);
	CX_SET(destroy_cq_in, p, cqn, 0xffffff);
	assert_false(
		cx_layout_reserved(&cx_layout_destroy_cq_in, p, sizeof(p), name, 64));
	p[8] = 0x10;
	assert_true(cx_layout_reserved(&cx_layout_destroy_cq_in, p, sizeof(p), name, 64));
	assert_string_equal(name, "destroy_cq_in.reserved_at_43");
}

static void test_tail_repeats_to_the_end(void **state)
{
	size_t fixed = CX_BYTES(create_rqt_in), entry = CX_BYTES(rq_num);
	uint8_t p[CX_BYTES(create_rqt_in) + 3 * CX_BYTES(rq_num)];
	char name[64];

	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		memset(p, 0, sizeof(p));
		cx_set(p + fixed + i * entry, CX_rq_num__rq_num, 0xffffff);
		assert_false(cx_layout_reserved(&cx_layout_create_rqt_in, p, sizeof(p),
						name, 64));
		p[fixed + i * entry] = 0x01;
		assert_true(cx_layout_reserved(&cx_layout_create_rqt_in, p, sizeof(p),
					       name, 64));
		assert_string_equal(name, "rq_num.reserved_at_7");
	}
}

/* Past the end of the structure all is reserved; past @len nothing is looked at. */
static void test_length(void **state)
{
	uint8_t p[32] = { 0 };
	char name[64];

	(void)state;
	p[16] = 0x40;
	assert_true(
		cx_layout_reserved(&cx_layout_destroy_cq_in, p, 17, name, sizeof(name)));
	assert_string_equal(name, "destroy_cq_in.reserved_at_81");
	assert_false(
		cx_layout_reserved(&cx_layout_destroy_cq_in, p, 16, name, sizeof(name)));
	assert_false(
		cx_layout_reserved(&cx_layout_destroy_cq_in, p, 0, name, sizeof(name)));
}

/* ---- walk ---- */

struct seen {
	char name[16][64];
	uint64_t value[16];
	unsigned n;
};

static void note(void *arg, const char *field, uint64_t value)
{
	struct seen *s = arg;

	assert_true(s->n < 16);
	snprintf(s->name[s->n], sizeof(s->name[0]), "%s", field);
	s->value[s->n++] = value;
}

static uint64_t value_of(const struct seen *s, const char *name)
{
	for (unsigned i = 0; i < s->n; i++)
		if (!strcmp(s->name[i], name))
			return s->value[i];
	fail_msg("%s was not seen", name);
	return 0;
}

static void test_walk_sees_what_is_set(void **state)
{
	uint8_t in[CX_BYTES(create_tir_in)] = { 0 }, *ctx = CX_AT(create_tir_in, in, ctx);
	struct seen s = { .n = 0 };

	(void)state;
	CX_SET(create_tir_in, in, opcode, 0x900);
	CX_SET(tirc, ctx, inline_rqn, 0x123456);
	CX_SET(rx_hash_field_select, CX_AT(tirc, ctx, rx_hash_field_selector_outer),
	       selected_fields, 0xf);
	memset(CX_AT(tirc, ctx, rx_hash_toeplitz_key) + 39, 0x5a, 1);
	cx_layout_walk(&cx_layout_create_tir_in, in, sizeof(in), note, &s);
	assert_int_equal(s.n, 4);
	assert_int_equal(value_of(&s, "create_tir_in.opcode"), 0x900);
	assert_int_equal(value_of(&s, "tirc.inline_rqn"), 0x123456);
	assert_int_equal(value_of(&s, "rx_hash_field_select.selected_fields"), 0xf);
	assert_int_equal(value_of(&s, "tirc.rx_hash_toeplitz_key"), 1);
}

static void test_walk_tail(void **state)
{
	uint8_t p[CX_BYTES(create_rqt_in) + 5 * CX_BYTES(rq_num)] = { 0 };
	struct seen s = { .n = 0 };

	(void)state;
	for (unsigned i = 0; i < 5; i++)
		CX_SET(rq_num, p + CX_BYTES(create_rqt_in) + i * CX_BYTES(rq_num), rq_num,
		       i);
	cx_layout_walk(&cx_layout_create_rqt_in, p, sizeof(p), note, &s);
	assert_int_equal(s.n, 4); /* number 0 is not seen */
	assert_string_equal(s.name[3], "rq_num.rq_num");
	assert_int_equal(s.value[3], 4);
}

/* A field that the end cuts through is not read: the sanitizer watches the exact length. */
static void test_walk_keeps_to_the_length(void **state)
{
	(void)state;
	for (size_t len = 1; len <= 12; len++) {
		uint8_t *p = malloc(len);
		struct seen s = { .n = 0 };

		assert_non_null(p);
		memset(p, 0xff, len);
		cx_layout_walk(&cx_layout_destroy_cq_in, p, len, note, &s);
		/* opcode and uid; op_mod; cqn */
		assert_int_equal(s.n, len < 4 ? 0 : len / 4 + 1);
		free(p);
	}
}

/* ---- against a header written by others ---- */

#define AT(s, f, type, member) \
	assert_int_equal(cx_field_offset(CX_##s##__##f) / 8, \
			 offsetof(struct type, member))

static void test_completion_agrees_with_mlx5dv(void **state)
{
	(void)state;
	assert_int_equal(CX_BYTES(cqe), sizeof(struct mlx5_cqe64));
	AT(cqe, wqe_id, mlx5_cqe64, wqe_id);
	AT(cqe, l4_hdr_type, mlx5_cqe64, l4_hdr_type_etc);
	AT(cqe, l3_ok, mlx5_cqe64, hds_ip_ext);
	AT(cqe, vlan_info, mlx5_cqe64, vlan_info);
	AT(cqe, flow_table_metadata, mlx5_cqe64, imm_inval_pkey);
	AT(cqe, byte_cnt, mlx5_cqe64, byte_cnt);
	AT(cqe, timestamp, mlx5_cqe64, timestamp);
	AT(cqe, wqe_opcode, mlx5_cqe64, sop_drop_qpn);
	AT(cqe, wqe_counter, mlx5_cqe64, wqe_counter);
	AT(cqe, validity, mlx5_cqe64, signature);
	AT(cqe, opcode, mlx5_cqe64, op_own);
	/* 24 of the 32 bits of srqn_uidx */
	assert_int_equal(cx_field_offset(CX_cqe__user_index) / 8,
			 offsetof(struct mlx5_cqe64, srqn_uidx) + 1);
}

static void test_send_segments_agree_with_mlx5dv(void **state)
{
	struct mlx5_wqe_ctrl_seg seg;
	uint8_t wqe[sizeof(seg)];

	(void)state;
	assert_int_equal(CX_BYTES(wqe_ctrl), sizeof(struct mlx5_wqe_ctrl_seg));
	assert_int_equal(CX_BYTES(wqe_data), sizeof(struct mlx5_wqe_data_seg));
	AT(wqe_data, lkey, mlx5_wqe_data_seg, lkey);
	AT(wqe_data, addr, mlx5_wqe_data_seg, addr);
	AT(wqe_eth, l4_csum, mlx5_wqe_eth_seg, cs_flags);
	AT(wqe_eth, mss, mlx5_wqe_eth_seg, mss);
	AT(wqe_eth, inline_start, mlx5_wqe_eth_seg, inline_hdr_start);
	mlx5dv_set_ctrl_seg(&seg, 0x1234, 0x29, 0x01, 0xabcdef, MLX5_WQE_CTRL_CQ_UPDATE,
			    60, 0, 0);
	memcpy(wqe, &seg, sizeof(wqe));
	assert_int_equal(CX_GET(wqe_ctrl, wqe, index), 0x1234);
	assert_int_equal(CX_GET(wqe_ctrl, wqe, opcode), 0x29);
	assert_int_equal(CX_GET(wqe_ctrl, wqe, opmod), 0x01);
	assert_int_equal(CX_GET(wqe_ctrl, wqe, qpn), 0xabcdef);
	assert_int_equal(CX_GET(wqe_ctrl, wqe, ce), 2);
	assert_int_equal(CX_GET(wqe_ctrl, wqe, ds), 60);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_set_get_all_places),
		cmocka_unit_test(test_bit_zero_is_most_significant),
		cmocka_unit_test(test_each_bit_of_a_flat_mailbox),
		cmocka_unit_test(test_each_bit_of_a_nested_context),
		cmocka_unit_test(test_known_reserved_places),
		cmocka_unit_test(test_reserved_bit_among_others),
		cmocka_unit_test(test_tail_repeats_to_the_end),
		cmocka_unit_test(test_length),
		cmocka_unit_test(test_walk_sees_what_is_set),
		cmocka_unit_test(test_walk_tail),
		cmocka_unit_test(test_walk_keeps_to_the_length),
		cmocka_unit_test(test_completion_agrees_with_mlx5dv),
		cmocka_unit_test(test_send_segments_agree_with_mlx5dv),
	};

	return cmocka_run_group_tests_name("layout", tests, NULL, NULL);
}
