/* test/test_cmd_reserved.c - every bit of every command's mailbox
 *
 * Each bit that no field names is set alone and must be refused; each bit that a
 * field names is turned over alone and must be survived. Then lengths, op_mod and
 * numbers, of every command.
 */
#include "cmd_rig.h"

#include <stdio.h>
#include <string.h>

static bool is_named(const struct cx_layout *l, uint32_t bit)
{
	for (size_t i = 0; i < l->n_fields; i++) {
		const struct cx_layout_field *f = &l->field[i];

		if (bit < f->offset || (!f->tail && bit >= f->offset + f->width))
			continue;
		return !f->sub || is_named(f->sub, (bit - f->offset) % f->width);
	}
	return false;
}

static void turn(struct mailbox *m, uint32_t bit)
{
	m->in[bit / 8] ^= (uint8_t)(0x80 >> bit % 8);
}

static bool destroys(const struct rig_row *row)
{
	return strstr(row->name, "destroy") || strstr(row->name, "dealloc");
}

/* ---- reserved bits ---- */

static uint32_t each_reserved_bit(struct rig *r, const struct rig_row *row)
{
	struct mailbox m;
	uint32_t n = 0;

	rig_build(r, row->opcode, &m);
	for (uint32_t bit = 0; bit < m.in_len * 8; bit++) {
		if (is_named(row->in, bit))
			continue;
		turn(&m, bit);
		rig_refuse(r, &m, CX_ST_BAD_PARAM, "a reserved bit is set");
		d_assert_log(r->d, "reserved_at_");
		turn(&m, bit);
		n++;
	}
	assert_int_equal(rig_cmd(r, &m), CX_ST_OK); /* only the bit was wrong */
	rig_undo(r, row, &m);
	return n;
}

static void test_each_reserved_bit(void **state)
{
	struct rig *r = rig_open(NULL);
	uint32_t n = 0, commands = 0;

	(void)state;
	for (const struct rig_row *row = rig_rows; row->name; row++, commands++)
		n += each_reserved_bit(r, row);
	printf("%u reserved bits of %u commands refused\n", n, commands);
	assert_true(n > 20000);
	rig_close(r);
}

/* ---- named bits ---- */

/* Numbers may by chance be those of other objects, which a destroyer would take. */
static bool leave_alone(const struct rig_row *row, uint32_t bit)
{
	uint32_t from = cx_field_offset(row->num), width = cx_field_width(row->num);

	if (bit < 32) /* opcode, uid */
		return true;
	return destroys(row) && bit >= from && bit < from + width;
}

static void one_turned_bit(struct rig *r, const struct rig_row *row, uint32_t bit)
{
	struct mailbox m;

	rig_build(r, row->opcode, &m);
	turn(&m, bit);
	d_forget(r->d);
	if (rig_cmd(r, &m) == CX_ST_OK) {
		rig_undo(r, row, &m);
		return;
	}
	assert_int_not_equal(r->d->syndrome, 0);
	assert_true(r->d->log.n > 0);
	turn(&m, bit);
	if (destroys(row))
		assert_int_equal(rig_cmd(r, &m), CX_ST_OK);
}

static void test_each_named_bit_is_survived(void **state)
{
	struct rig *r = rig_open(NULL);
	uint32_t n = 0;

	(void)state;
	for (const struct rig_row *row = rig_rows; row->name; row++) {
		uint32_t objects = rig_objects(r);

		for (uint32_t bit = 0; bit < row->in->bits; bit++) {
			if (!is_named(row->in, bit) || leave_alone(row, bit))
				continue;
			one_turned_bit(r, row, bit);
			n++;
		}
		assert_int_equal(rig_objects(r), objects);
	}
	printf("%u bits of fields turned over\n", n);
	assert_true(n > 5000);
	rig_close(r);
}

/* ---- lengths, op_mod, numbers ---- */

static void test_each_length(void **state)
{
	struct rig *r = rig_open(NULL);
	struct mailbox m;

	(void)state;
	for (const struct rig_row *row = rig_rows; row->name; row++) {
		rig_build(r, row->opcode, &m);
		m.in_len = row->in->bits / 8 - 1; /* of 15 not even the opcode is read */
		assert_int_equal(rig_cmd(r, &m), CX_ST_BAD_IN_LEN);
		d_assert_log(r->d, "in_len: ");
		m.in_len = row->in->bits / 8;
		m.out_len = 15;
		rig_refuse(r, &m, CX_ST_BAD_OUT_LEN, "out_len: 15 bytes");
	}
	rig_close(r);
}

static void test_each_op_mod(void **state)
{
	struct rig *r = rig_open(NULL);
	struct mailbox m;

	(void)state;
	for (const struct rig_row *row = rig_rows; row->name; row++) {
		rig_build(r, row->opcode, &m);
		cx_put_be16(m.in + 6, 0x7000);
		rig_refuse(r, &m, CX_ST_BAD_PARAM, "op_mod: ");
	}
	rig_close(r);
}

static void test_each_missing_number(void **state)
{
	struct rig *r = rig_open(NULL);
	struct mailbox m;
	uint32_t n = 0;

	(void)state;
	for (const struct rig_row *row = rig_rows; row->name; row++) {
		if (!row->num)
			continue;
		rig_build(r, row->opcode, &m);
		cx_set(m.in, row->num,
		       UINT32_MAX >> (32 - cx_field_width(row->num)) & ~3u);
		rig_refuse(r, &m, CX_ST_BAD_RES, "there is no ");
		n++;
	}
	assert_true(n >= 30);
	rig_close(r);
}

/* What belongs to another program is not there; the log says whose it is. */
static void test_each_foreign_number(void **state)
{
	struct rig *r = rig_open(NULL);
	uint16_t uid = r->d->uid;
	struct mailbox m;

	(void)state;
	for (const struct rig_row *row = rig_rows; row->name; row++) {
		if (!row->num || row->kernel)
			continue;
		rig_build(r, row->opcode, &m);
		r->d->uid = r->other;
		rig_refuse(r, &m, CX_ST_BAD_RES, "belongs to uid ");
		r->d->uid = uid;
	}
	rig_close(r);
}

/* The kernel's own commands, from a program. */
static void test_each_command_of_the_kernel(void **state)
{
	struct rig *r = rig_open(NULL);
	struct mailbox m;

	(void)state;
	for (const struct rig_row *row = rig_rows; row->name; row++) {
		if (!row->kernel)
			continue;
		rig_build(r, row->opcode, &m);
		assert_int_equal(d_cmd(r->d, m.opcode, m.in, m.in_len, m.out, m.out_len),
				 CX_ST_BAD_PARAM);
		d_assert_log(r->d, "uid: the kernel's command");
	}
	rig_close(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_reserved_bit),
		cmocka_unit_test(test_each_named_bit_is_survived),
		cmocka_unit_test(test_each_length),
		cmocka_unit_test(test_each_op_mod),
		cmocka_unit_test(test_each_missing_number),
		cmocka_unit_test(test_each_foreign_number),
		cmocka_unit_test(test_each_command_of_the_kernel),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
