/* test/test_cmd_limits.c - no number left, no memory left: refused, and nothing is lost */
#include "cmd_rig.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* ---- memory that runs out ---- */

/* Allocations of this program and of the core pass here. Armed, the n-th from now on fails,
 * once. Under ASan the real ones are its own. */
extern void *__libc_calloc(size_t n, size_t size);
extern void *__libc_realloc(void *p, size_t size);
extern void *__interceptor_calloc(size_t n, size_t size) __attribute__((weak));
extern void *__interceptor_realloc(void *p, size_t size) __attribute__((weak));

static unsigned fail_at; /* 0 = never */
static bool failed;

static bool fails(void)
{
	if (!fail_at || --fail_at)
		return false;
	failed = true;
	errno = ENOMEM;
	return true;
}

static void arm(unsigned n)
{
	fail_at = n;
	failed = false;
}

void *calloc(size_t n, size_t size)
{
	if (fails())
		return NULL;
	return __interceptor_calloc ? __interceptor_calloc(n, size)
				    : __libc_calloc(n, size);
}

void *reallocarray(void *p, size_t n, size_t size)
{
	if (fails() || (size && n > SIZE_MAX / size))
		return NULL;
	return __interceptor_realloc ? __interceptor_realloc(p, n * size)
				     : __libc_realloc(p, n * size);
}

/* The k-th allocation of a command fails, for every k. */
static unsigned each_allocation(struct rig *r, const struct rig_row *row)
{
	unsigned k = 1;

	for (;; k++) {
		uint32_t objects = rig_objects(r);
		struct mailbox m;
		enum cx_status st;

		rig_build(r, row->opcode, &m);
		d_forget(r->d);
		arm(k);
		st = rig_cmd(r, &m);
		arm(failed ? 0 : fail_at);
		if (fail_at) { /* it made fewer */
			arm(0);
			assert_int_equal(st, CX_ST_OK);
			rig_undo(r, row, &m);
			return k - 1;
		}
		if (st == CX_ST_OK) { /* it could do without */
			rig_undo(r, row, &m);
			continue;
		}
		assert_true(st == CX_ST_NO_RES || st == CX_ST_LIMIT);
		assert_int_equal(rig_objects(r), objects);
		assert_int_equal(r->d->log.n, 1);
	}
}

/* Numbers are given out in a table that grows; so fill it first. */
static void fill(struct rig *r, const struct rig_row *row, unsigned n)
{
	while (n--)
		rig_make(r, row->opcode);
}

static void test_each_allocation_of_commands(void **state)
{
	unsigned all = 0;

	(void)state;
	for (const struct rig_row *row = rig_rows; row->name; row++) {
		if (!row->made)
			continue;
		for (unsigned n = 0; n < 256; n += 85) {
			struct rig *r =
				rig_open((const char *[]){ "hca.max_qp_cnt=1023", NULL });

			if (row->opcode != D_ALLOC_Q_COUNTER || n < 255)
				fill(r, row, n);
			all += each_allocation(r, row);
			rig_close(r);
		}
	}
	assert_true(all > 50);
}

static void test_each_allocation_of_a_new_list(void **state)
{
	struct rig *r = rig_open(NULL);
	struct mailbox m;

	(void)state;
	rig_build(r, D_MODIFY_RQT, &m);
	d_forget(r->d);
	arm(1);
	assert_int_equal(rig_cmd(r, &m), CX_ST_NO_RES);
	assert_true(failed);
	d_assert_log(r->d, "memory: out of memory");
	d_assert_ok(r->d, rig_cmd(r, &m));
	rig_close(r);
}

static void test_each_allocation_of_a_device(void **state)
{
	struct cx_conf conf = { .name = "x" };
	struct cx_dev *dev = NULL;
	unsigned k = 1;

	(void)state;
	for (;; k++) {
		int rc;

		arm(k);
		rc = cx_dev_new(&conf, NULL, &dev);
		fail_at = 0;
		if (rc) {
			assert_true(failed);
			assert_null(dev);
			continue;
		}
		cx_dev_free(dev); /* nothing failed, or it could do without */
		dev = NULL;
		if (!failed)
			break;
	}
	assert_true(k > CX_COMP_VECTORS);
}

/* ---- numbers that run out ---- */

/* The rig makes the first few; the capability leaves room for no more than 2^n. */
static void test_each_limit(void **state)
{
	static const struct {
		const char *cap;
		uint16_t opcode;
		const char *log;
	} rows[] = {
		{ "hca.log_max_uctx=1", D_CREATE_UCTX,
		  "create_uctx_out.uid: no number left" },
		{ "hca.log_max_pd=0", D_ALLOC_PD, "alloc_pd_out.pd: no number left" },
		{ "hca.log_max_transport_domain=0", D_ALLOC_TD,
		  "alloc_transport_domain_out.transport_domain: no number left" },
		{ "hca.log_max_mkey=2", D_CREATE_MKEY,
		  "create_mkey_out.mkey_index: no number left" },
		{ "hca.log_max_cq=0", D_CREATE_CQ, "create_cq_out.cqn: no number left" },
		{ "hca.log_max_sq=0", D_CREATE_SQ, "create_sq_out.sqn: no number left" },
		{ "hca.log_max_rq=0", D_CREATE_RQ, "create_rq_out.rqn: no number left" },
		{ "hca.log_max_rmp=0", D_CREATE_RMP,
		  "create_rmp_out.rmpn: no number left" },
		{ "hca.log_max_tis=0", D_CREATE_TIS,
		  "create_tis_out.tisn: no number left" },
		{ "hca.log_max_tir=0", D_CREATE_TIR,
		  "create_tir_out.tirn: no number left" },
		{ "hca.log_max_rqt=0", D_CREATE_RQT,
		  "create_rqt_out.rqtn: no number left" },
	};
	struct mailbox m;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct rig *r = rig_open((const char *[]){ rows[i].cap, NULL });

		for (unsigned n = 0; n < 8; n++) {
			rig_build(r, rows[i].opcode, &m);
			if (rig_cmd(r, &m) != CX_ST_OK)
				break;
		}
		rig_refuse(r, &m, CX_ST_LIMIT, rows[i].log);
		rig_close(r);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_allocation_of_commands),
		cmocka_unit_test(test_each_allocation_of_a_new_list),
		cmocka_unit_test(test_each_allocation_of_a_device),
		cmocka_unit_test(test_each_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
