/* test/test_cmd_dispatch.c - what is checked for every command; trace and coverage */
#include "direct.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../core/dev.h"

static void test_unknown_opcode(void **state)
{
	struct direct *d = d_open(NULL);

	(void)state;
	assert_int_equal(d_simple(d, 0xfff, 0, NULL), CX_ST_BAD_OP);
	d_assert_log(d, "mlx5_0: command uid");
	d_assert_log(d, "opcode: 0xfff is not known");
	assert_int_not_equal(d->syndrome, 0);
	d_close(d);
}

/* Each length from nothing to enough, in memory of exactly that length. */
static void test_input_length(void **state)
{
	static const uint8_t whole[16] = { D_ALLOC_PD >> 8, D_ALLOC_PD & 0xff };
	struct direct *d = d_open(NULL);
	uint8_t out[16];

	(void)state;
	for (size_t len = 0; len <= sizeof(whole); len++) {
		enum cx_status want = len < sizeof(whole) ? CX_ST_BAD_IN_LEN : CX_ST_OK;
		uint8_t *in = malloc(len ? len : 1);

		assert_non_null(in);
		memcpy(in, whole, len);
		memset(out, 0xff, sizeof(out));
		assert_int_equal(cx_cmd(d->dev, in, len, out, sizeof(out)), want);
		assert_int_equal(out[0], want);
		assert_true(cx_be32(out + 4) != 0 || want == CX_ST_OK);
		free(in);
	}
	d_assert_log(d, "in_len: 15 bytes, at least 16 needed");
	d_close(d);
}

/* A mailbox whose structure is longer than the header. */
static void test_input_length_of_a_create(void **state)
{
	struct direct *d = d_open(NULL);
	uint8_t in[CX_BYTES(create_cq_in)] = { 0 }, out[16];

	(void)state;
	assert_int_equal(d_cmd(d, D_CREATE_CQ, in, sizeof(in) - 1, out, sizeof(out)),
			 CX_ST_BAD_IN_LEN);
	d_close(d);
}

static void test_output_length(void **state)
{
	struct direct *d = d_open(NULL);
	uint8_t in[16] = { 0 }, out[17];
	uint32_t pds = cx_obj_count(d->dev, CX_PD);

	(void)state;
	cx_put_be16(in, D_ALLOC_PD);
	for (size_t len = 0; len < 16; len++) {
		memset(out, 0xff, sizeof(out));
		assert_int_equal(cx_cmd(d->dev, in, sizeof(in), out, len),
				 CX_ST_BAD_OUT_LEN);
		assert_int_equal(out[len], 0xff); /* nothing written past the end */
		if (len)
			assert_int_equal(out[0], CX_ST_BAD_OUT_LEN);
	}
	assert_int_equal(cx_obj_count(d->dev, CX_PD), pds);
	d_close(d);
}

/* Longer is fine as long as it is zero: a newer program's larger mailbox. */
static void test_longer_input(void **state)
{
	struct direct *d = d_open(NULL);
	uint8_t in[64] = { 0 }, out[64];

	(void)state;
	assert_int_equal(d_cmd(d, D_ALLOC_PD, in, sizeof(in), out, sizeof(out)),
			 CX_ST_OK);
	in[40] = 1;
	assert_int_equal(d_cmd(d, D_ALLOC_PD, in, sizeof(in), out, sizeof(out)),
			 CX_ST_BAD_PARAM);
	d_assert_log(d, "reserved_at_147");
	d_close(d);
}

/* ---- reserved bits ---- */

static void test_reserved_in_the_header(void **state)
{
	struct direct *d = d_open(NULL);

	(void)state;
	d_patch(d, 0, CX_PACK(0x20, 16), 1);
	assert_int_equal(d_simple(d, D_ALLOC_PD, 0, NULL), CX_ST_BAD_PARAM);
	d_assert_log(d, "ALLOC_PD uid");
	d_assert_log(d, "reserved_at_2f: a reserved bit is set");
	d_close(d);
}

static void test_reserved_in_a_nested_structure(void **state)
{
	struct direct *d = d_open(NULL);
	struct d_cq *cq = d_cq(d, &(struct d_cq_conf){ .log_size = 4 });
	struct d_sq_conf conf = { .log_size = 4, .cq = cq };
	struct d_sq *sq;

	(void)state;
	d_patch(d, 0x20, CX_PACK(0x20, 8), 1); /* sqc, before user_index */
	assert_int_equal(d_try_sq(d, &conf, &sq), CX_ST_BAD_PARAM);
	d_assert_log(d, "sqc.reserved_at_27");
	d_patch(d, 0x50, CX_PACK(0x40, 8), 0x80); /* wq in sqc, before pd */
	assert_int_equal(d_try_sq(d, &conf, &sq), CX_ST_BAD_PARAM);
	d_assert_log(d, "wq.reserved_at_40");
	assert_int_equal(cx_obj_count(d->dev, CX_SQ), 0);
	d_close(d);
}

static void test_reserved_in_a_tail(void **state)
{
	struct direct *d = d_open(NULL);
	struct d_cq *cq = d_cq(d, &(struct d_cq_conf){ .log_size = 4 });
	struct d_rq *rq = d_rq(d, &(struct d_rq_conf){ .log_size = 4, .cq = cq });
	uint32_t rqn[4] = { rq->num, rq->num, rq->num, rq->num }, rqtn;

	(void)state;
	d_patch(d, CX_BYTES(create_rqt_in) + 3 * 4, CX_PACK(0, 8), 2);
	assert_int_equal(d_try_rqt(d, rqn, 4, 4, &rqtn), CX_ST_BAD_PARAM);
	d_assert_log(d, "rq_num.reserved_at_6");
	d_rqt(d, rqn, 4);
	d_close(d);
}

/* ---- who asks ---- */

static void test_unknown_uid(void **state)
{
	struct direct *d = d_open(NULL);
	uint16_t uid = d->uid;

	(void)state;
	d->uid = 0x7777;
	assert_int_equal(d_simple(d, D_ALLOC_PD, 0, NULL), CX_ST_BAD_PARAM);
	d_assert_log(d, "uid: there is no UCTX 30583");
	d->uid = 0; /* the kernel may always */
	assert_int_equal(d_simple(d, D_ALLOC_PD, 0, NULL), CX_ST_OK);
	d->uid = uid;
	d_close(d);
}

/* A number of another client is refused like one that is not there; only the log tells. */
static void test_number_of_another_client(void **state)
{
	struct direct *d = d_open(NULL);
	uint16_t mine = d->uid, other = d_uctx(d);
	struct d_cq *cq = d_cq(d, &(struct d_cq_conf){ .log_size = 4 });
	uint32_t theirs, not_there;
	char want[96];

	(void)state;
	d->uid = other;
	assert_int_equal(d_simple(d, D_DESTROY_CQ, cq->num, NULL), CX_ST_BAD_RES);
	theirs = d->syndrome;
	snprintf(want, sizeof(want), "CQ 0x%x belongs to uid %u", cq->num, mine);
	d_assert_log(d, want);
	assert_int_equal(d_simple(d, D_DESTROY_CQ, 0x777777, NULL), CX_ST_BAD_RES);
	not_there = d->syndrome;
	d_assert_log(d, "there is no CQ 0x777777");
	assert_int_equal(theirs, not_there);
	d->uid = mine;
	assert_int_equal(cx_obj_count(d->dev, CX_CQ), 1);
	assert_int_equal(d_simple(d, D_DESTROY_CQ, cq->num, NULL), CX_ST_OK);
	d_close(d);
}

/* Named inside a mailbox, too: a queue on another client's completion queue, page, domain. */
static void test_objects_of_another_client_in_a_mailbox(void **state)
{
	struct direct *d = d_open(NULL);
	struct d_cq *theirs = d_cq(d, &(struct d_cq_conf){ .log_size = 4 }), *mine;
	struct d_uar *uar = d->uar;
	uint32_t pdn = d->pdn, tisn = d->tisn;
	struct d_sq *sq;

	(void)state;
	d->uid = d_uctx(d);
	d->pdn = d_pd(d);
	d->tdn = d_td(d);
	d->tisn = d_tis(d);
	d->uar = d_uar(d);
	mine = d_cq(d, &(struct d_cq_conf){ .log_size = 4 });
	assert_int_equal(d_try_sq(d, &(struct d_sq_conf){ .log_size = 4, .cq = theirs },
				  &sq),
			 CX_ST_BAD_RES);
	assert_int_equal(
		d_try_sq(d, &(struct d_sq_conf){ .log_size = 4, .cq = mine, .uar = uar },
			 &sq),
		CX_ST_BAD_RES);
	assert_int_equal(
		d_try_sq(d, &(struct d_sq_conf){ .log_size = 4, .cq = mine, .pdn = pdn },
			 &sq),
		CX_ST_BAD_RES);
	assert_int_equal(
		d_try_sq(d,
			 &(struct d_sq_conf){ .log_size = 4, .cq = mine, .tisn = tisn },
			 &sq),
		CX_ST_BAD_RES);
	d_patch(d, 0x20 + 0x30, CX_wq__wq_umem_id, theirs->umem.num); /* wq in sqc */
	assert_int_equal(d_try_sq(d, &(struct d_sq_conf){ .log_size = 4, .cq = mine },
				  &sq),
			 CX_ST_BAD_RES);
	assert_int_equal(cx_obj_count(d->dev, CX_SQ), 0);
	d_sq(d, &(struct d_sq_conf){ .log_size = 4, .cq = mine });
	d_close(d);
}

/* ---- answers ---- */

static void test_refused_answers_hold_nothing_else(void **state)
{
	struct direct *d = d_open(NULL);
	uint8_t in[CX_BYTES(create_cq_in)] = { 0 }, out[16];

	(void)state;
	memset(out, 0xff, sizeof(out));
	assert_int_not_equal(d_cmd(d, D_CREATE_CQ, in, sizeof(in), out, sizeof(out)),
			     CX_ST_OK);
	assert_int_equal(cx_be32(out) & 0xffffff, 0);
	assert_true(cx_be32(out + 4) > 0 && cx_be32(out + 4) <= 0xffffff);
	assert_int_equal(cx_be64(out + 8), 0);
	d_close(d);
}

/* Another field, another syndrome; the same field, the same. */
static void test_syndrome_tells_fields_apart(void **state)
{
	struct direct *d = d_open(NULL);
	struct d_cq_conf conf = { .log_size = 2 };
	struct d_cq *cq;
	uint32_t uar, size;

	(void)state;
	d_patch(d, 0x10, CX_cqc__uar_page, 0x777777);
	d_try_cq(d, &conf, &cq);
	uar = d->syndrome;
	d_patch(d, 0x10, CX_cqc__log_cq_size, 31);
	d_try_cq(d, &conf, &cq);
	size = d->syndrome;
	assert_int_not_equal(uar, size);
	d_patch(d, 0x10, CX_cqc__log_cq_size, 30);
	d_try_cq(d, &conf, &cq);
	assert_int_equal(d->syndrome, size);
	d_close(d);
}

static void test_figures(void **state)
{
	struct direct *d = d_open(NULL);
	uint64_t before = cx_stats(d->dev)->cmds;

	(void)state;
	d_pd(d);
	d_simple(d, 0xfff, 0, NULL);
	assert_int_equal(cx_stats(d->dev)->cmds, before + 2);
	assert_int_equal(cx_stats(d->dev)->cmd_refusals, 1);
	d_close(d);
}

/* ---- trace ---- */

static bool traced(const struct direct *d, const char *text)
{
	for (unsigned i = 0; i < d->trace.n; i++)
		if (strstr(d->trace.at[i], text))
			return true;
	return false;
}

static void test_trace(void **state)
{
	struct direct *d = d_open(NULL);
	struct d_cq *cq;
	char want[64];

	(void)state;
	d_cq(d, &(struct d_cq_conf){ .log_size = 5 });
	assert_int_equal(d->trace.n, 0); /* off by default */
	cx_trace_set(d->dev, CX_TRACE_CMD);
	cq = d_cq(d, &(struct d_cq_conf){ .log_size = 5 });
	assert_true(traced(d, "CREATE_CQ uid"));
	assert_true(traced(d, "cqc.log_cq_size=0x5"));
	snprintf(want, sizeof(want), "cqn=0x%x", cq->num);
	assert_true(traced(d, want));
	d_forget(d);
	assert_int_equal(d_simple(d, D_DESTROY_CQ, 0x777777, NULL), CX_ST_BAD_RES);
	assert_true(traced(d, "status 0x5"));
	d_forget(d);
	cx_trace_set(d->dev, CX_TRACE_RX); /* another kind */
	d_pd(d);
	assert_int_equal(d->trace.n, 0);
	cx_trace_hex(d->dev, CX_TRACE_WQE, "not wanted", want, 4);
	assert_int_equal(d->trace.n, 0);
	cx_trace_hex(d->dev, CX_TRACE_RX, "wanted", "\x01\x02\x03\x04\x05", 5);
	assert_int_equal(d->trace.n, 1);
	assert_string_equal(d->trace.at[0], "wanted 0x000: 01020304 05");
	d_close(d);
}

/* ---- coverage ---- */

struct find {
	const char *text;
	unsigned n, lines;
	char last[160];
	bool sorted;
};

static void find_line(void *arg, const char *text)
{
	struct find *f = arg;

	f->n += !strcmp(text, f->text);
	f->sorted &= strcmp(f->last, text) < 0;
	snprintf(f->last, sizeof(f->last), "%s", text);
	f->lines++;
}

static struct find covered(const char *text)
{
	struct find f = { .text = text, .sorted = true };

	cx_coverage(find_line, &f);
	return f;
}

static void test_coverage(void **state)
{
	struct direct *d = d_open(NULL);
	unsigned lines;
	char what[32];

	(void)state;
	assert_int_equal(covered("cmd QUERY_CQ").n, 0);
	assert_int_not_equal(d_simple(d, D_QUERY_CQ, 0x777777, NULL), CX_ST_OK);
	assert_int_equal(d_simple(d, 0xfff, 0, NULL), CX_ST_BAD_OP);
	assert_int_equal(covered("refuse opcode").n, 1);
	assert_int_equal(covered("cmd QUERY_CQ").n, 1);
	assert_int_equal(covered("field alloc_pd_in.opcode").n, 1);
	lines = covered("").lines;
	assert_int_not_equal(d_simple(d, D_QUERY_CQ, 0x777777, NULL), CX_ST_OK);
	assert_int_equal(covered("").lines, lines); /* each once */
	for (unsigned i = 0; i < 5000; i++) {	    /* the set grows */
		snprintf(what, sizeof(what), "t%u", i);
		cx_cover("test", what);
	}
	assert_int_equal(covered("test t4999").n, 1);
	assert_int_equal(covered("").lines, lines + 5000);
	assert_true(covered("").sorted);
	d_close(d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_unknown_opcode),
		cmocka_unit_test(test_input_length),
		cmocka_unit_test(test_input_length_of_a_create),
		cmocka_unit_test(test_output_length),
		cmocka_unit_test(test_longer_input),
		cmocka_unit_test(test_reserved_in_the_header),
		cmocka_unit_test(test_reserved_in_a_nested_structure),
		cmocka_unit_test(test_reserved_in_a_tail),
		cmocka_unit_test(test_unknown_uid),
		cmocka_unit_test(test_number_of_another_client),
		cmocka_unit_test(test_objects_of_another_client_in_a_mailbox),
		cmocka_unit_test(test_refused_answers_hold_nothing_else),
		cmocka_unit_test(test_syndrome_tells_fields_apart),
		cmocka_unit_test(test_figures),
		cmocka_unit_test(test_trace),
		cmocka_unit_test(test_coverage),
	};

	return cmocka_run_group_tests_name("cmd_dispatch", tests, NULL, NULL);
}
