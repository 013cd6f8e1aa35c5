/* test/test_fault.c - the fault script: each verb, and each way to write it wrong */
#include "direct.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "../core/dev.h"

struct rig {
	struct direct *d;
	struct d_cq *cq;
	struct d_sq *sq;
};

static struct rig open_rig(void)
{
	struct rig r = { .d = d_open(NULL) };

	r.cq = d_cq(r.d, &(struct d_cq_conf){ .log_size = 6 });
	r.sq = d_sq(r.d, &(struct d_sq_conf){ .log_size = 6, .cq = r.cq });
	return r;
}

static void send_one(struct rig *r)
{
	uint8_t frame[60] = { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2,
			      0,    0,	  0,	0,    1,    0x88, 0xb5 };

	d_send(r->sq, frame, sizeof(frame));
	d_run(r->d);
}

static void fault(struct direct *d, const char *fmt, uint32_t num)
{
	char line[96];

	snprintf(line, sizeof(line), fmt, num);
	d_fault(d, line);
}

/* ---- commands ---- */

/* The third CREATE_CQ from now on fails with what was asked for; other commands do not count. */
static void test_nth_command_of_an_opcode(void **state)
{
	struct direct *d = d_open(NULL);
	struct d_cq_conf conf = { .log_size = 2 };
	struct d_cq *cq;

	(void)state;
	d_fault(d, "cmd op=0x400 nth=3 status=8 syndrome=0x123456");
	d_cq(d, &conf);
	d_pd(d);
	d_pd(d);
	d_cq(d, &conf);
	assert_int_equal(d_try_cq(d, &conf, &cq), CX_ST_LIMIT);
	assert_int_equal(d->syndrome, 0x123456);
	d_assert_log(d, "CREATE_CQ");
	assert_int_equal(cx_stats(d->dev)->cmd_refusals, 1);
	assert_int_equal(cx_obj_count(d->dev, CX_CQ), 2);
	d_cq(d, &conf);
	d_close(d);
}

static void test_any_command_several_times(void **state)
{
	struct direct *d = d_open(NULL);

	(void)state;
	d_fault(d, "cmd nth=2 status=0x0f times=2");
	d_pd(d);
	assert_int_equal(d_simple(d, D_ALLOC_PD, 0, NULL), CX_ST_NO_RES);
	assert_int_equal(d_simple(d, D_ALLOC_TD, 0, NULL), CX_ST_NO_RES);
	assert_int_equal(d->syndrome, 0);
	d_pd(d);
	d_close(d);
}

/* Two faults wait for the same command: each counts what the other let through. */
static void test_two_faults(void **state)
{
	struct direct *d = d_open(NULL);

	(void)state;
	d_fault(d, "cmd op=0x800 status=5");
	d_fault(d, "cmd op=0x800 nth=2 status=6");
	assert_int_equal(d_simple(d, D_ALLOC_PD, 0, NULL), CX_ST_BAD_RES);
	d_pd(d);
	assert_int_equal(d_simple(d, D_ALLOC_PD, 0, NULL), CX_ST_RES_BUSY);
	d_pd(d);
	d_close(d);
}

static void test_clear(void **state)
{
	struct rig r = open_rig();

	(void)state;
	d_fault(r.d, "cmd status=5 times=100");
	d_fault(r.d, "delay us=5");
	d_fault(r.d, "drop tx nth=1 times=100");
	fault(r.d, "hold cq=%u", r.cq->num);
	send_one(&r);
	d_fault(r.d, "clear");
	d_pd(r.d);
	cx_clock_advance(r.d->dev, 5000);
	d_run(r.d);
	assert_non_null(d_cq_poll(r.cq));
	send_one(&r);
	assert_int_equal(r.d->wire.n, 2);
	d_close(r.d);
}

/* ---- queues ---- */

static void test_error_completion_on_a_send_queue(void **state)
{
	struct rig r = open_rig();
	const uint8_t *cqe;

	(void)state;
	fault(r.d, "cqe type=sq num=%u syndrome=0x22 vendor=0x51", r.sq->num);
	cqe = d_cq_poll(r.cq);
	assert_non_null(cqe);
	assert_int_equal(CX_GET(err_cqe, cqe, opcode), 13);
	assert_int_equal(CX_GET(err_cqe, cqe, syndrome), 0x22);
	assert_int_equal(CX_GET(err_cqe, cqe, vendor_syndrome), 0x51);
	send_one(&r); /* in the error state: flushed, not sent */
	assert_int_equal(r.d->wire.n, 0);
	cqe = d_cq_poll(r.cq);
	assert_non_null(cqe);
	assert_int_equal(CX_GET(err_cqe, cqe, syndrome), 0x05);
	d_close(r.d);
}

static void refused(struct direct *d, uint32_t rqn, const char *why)
{
	char line[64], said[128];

	snprintf(line, sizeof(line), "cqe type=rq num=%u syndrome=4", rqn);
	assert_int_equal(cx_fault(d->dev, line, said, sizeof(said)), -EINVAL);
	assert_non_null(strstr(said, why));
}

static void test_error_completion_on_a_receive_queue(void **state)
{
	struct rig r = open_rig();
	struct d_rq *rq = d_rq(r.d, &(struct d_rq_conf){ .log_size = 3, .cq = r.cq });
	uint8_t frame[60];
	const uint8_t *cqe;

	(void)state;
	d_all_to(r.d, d_tir(r.d, rq->num));
	refused(r.d, rq->num, "has no entry posted");
	d_rq_post(rq, 4);
	fault(r.d, "cqe type=rq num=%u syndrome=4", rq->num);
	cqe = d_cq_poll(r.cq);
	assert_non_null(cqe);
	assert_int_equal(CX_GET(err_cqe, cqe, opcode), 14);
	assert_int_equal(CX_GET(err_cqe, cqe, syndrome), 4);
	d_udp4(frame, 60, 1, 2, 3, 4, 5);
	assert_int_equal(cx_rx(r.d->dev, frame, 60), CX_RX_DEAD);
	d_close(r.d);
}

static void test_hold_and_release(void **state)
{
	struct rig r = open_rig();

	(void)state;
	fault(r.d, "hold cq=0x%x", r.cq->num);
	send_one(&r);
	send_one(&r);
	assert_null(d_cq_poll(r.cq));
	fault(r.d, "release cq=0x%x", r.cq->num);
	d_run(r.d);
	assert_non_null(d_cq_poll(r.cq));
	assert_non_null(d_cq_poll(r.cq));
	assert_null(d_cq_poll(r.cq));
	assert_int_equal(r.d->wire.n, 2); /* each frame left once */
	d_close(r.d);
}

static void test_overrun(void **state)
{
	struct rig r = open_rig();

	(void)state;
	send_one(&r);
	fault(r.d, "overrun cq=%u", r.cq->num);
	send_one(&r);
	assert_non_null(d_cq_poll(r.cq));
	assert_null(d_cq_poll(r.cq));
	assert_int_equal(cx_stats(r.d->dev)->overruns, 1);
	assert_true(r.d->events.n > 0);
	assert_int_equal(r.d->events.at[0].type, CX_EVENT_CQ_ERROR);
	assert_int_equal(r.d->events.at[0].subtype, 1);
	assert_int_equal(r.d->events.at[0].obj_num, r.cq->num);
	d_close(r.d);
}

/* ---- time and frames ---- */

static void test_delay(void **state)
{
	struct rig r = open_rig();

	(void)state;
	d_fault(r.d, "delay us=10");
	send_one(&r);
	assert_int_equal(r.d->wire.n, 0);
	cx_clock_advance(r.d->dev, 9999);
	assert_int_equal(d_run(r.d), 0);
	assert_int_equal(r.d->wire.n, 0);
	cx_clock_advance(r.d->dev, 1);
	d_run(r.d);
	assert_int_equal(r.d->wire.n, 1);
	d_fault(r.d, "delay us=0");
	send_one(&r);
	assert_int_equal(r.d->wire.n, 2);
	d_close(r.d);
}

/* A second doorbell does not put off what the first one started. */
static void test_delay_counts_from_the_first_doorbell(void **state)
{
	struct rig r = open_rig();

	(void)state;
	d_fault(r.d, "delay us=10");
	send_one(&r);
	cx_clock_advance(r.d->dev, 6000);
	send_one(&r);
	cx_clock_advance(r.d->dev, 4000);
	d_run(r.d);
	assert_int_equal(r.d->wire.n, 2);
	d_close(r.d);
}

static void test_drop_tx(void **state)
{
	struct rig r = open_rig();

	(void)state;
	d_fault(r.d, "drop tx nth=2 times=2");
	for (unsigned i = 0; i < 5; i++)
		send_one(&r);
	assert_int_equal(r.d->wire.n, 3);
	for (unsigned i = 0; i < 5; i++) /* the program cannot tell */
		assert_int_equal(CX_GET(cqe, d_cq_poll(r.cq), opcode), 0);
	d_close(r.d);
}

static void test_drop_rx(void **state)
{
	struct rig r = open_rig();
	uint8_t frame[60] = { 0 };

	(void)state;
	d_fault(r.d, "drop rx nth=1");
	cx_rx(r.d->dev, frame, sizeof(frame));
	assert_int_equal(r.d->kernel.n, 0);
	cx_rx(r.d->dev, frame, sizeof(frame));
	assert_int_equal(r.d->kernel.n, 1);
	d_close(r.d);
}

/* ---- the port and the device ---- */

static void test_link(void **state)
{
	struct rig r = open_rig();

	(void)state;
	d_fault(r.d, "link down");
	assert_false(cx_link_up(r.d->dev));
	assert_int_equal(r.d->events.n, 1);
	d_fault(r.d, "link up");
	assert_true(cx_link_up(r.d->dev));
	assert_int_equal(r.d->events.n, 2);
	d_close(r.d);
}

/* A dead device moves nothing and answers only what takes away. */
static void test_fatal(void **state)
{
	struct rig r = open_rig();
	uint32_t pdn = d_pd(r.d);

	(void)state;
	d_fault(r.d, "fatal");
	d_fault(r.d, "fatal"); /* once is enough */
	assert_int_equal(r.d->events.n, 1);
	assert_int_equal(r.d->events.at[0].type, CX_EVENT_INTERNAL_ERROR);
	send_one(&r);
	assert_int_equal(r.d->wire.n, 0);
	assert_null(d_cq_poll(r.cq));
	assert_int_equal(d_simple(r.d, D_ALLOC_PD, 0, NULL), CX_ST_INTERNAL);
	d_assert_log(r.d, "fatal state");
	assert_int_equal(d_simple(r.d, D_DEALLOC_PD, pdn, NULL), CX_ST_OK);
	assert_int_equal(d_simple(r.d, D_DESTROY_SQ, r.sq->num, NULL), CX_ST_OK);
	d_close(r.d);
}

/* ---- the language ---- */

static void test_mistakes_are_named(void **state)
{
	static const struct {
		const char *line, *why;
	} bad[] = {
		{ "frob", "frob: no such fault" },
		{ "cmd", "cmd: status is missing" },
		{ "cmd status=0", "cmd: status=0 is out of range 1 .. 255" },
		{ "cmd status=256", "cmd: status=256 is out of range 1 .. 255" },
		{ "cmd status=8 nth=0", "cmd: nth=0 is out of range" },
		{ "cmd status=8 times=0", "cmd: times=0 is out of range" },
		{ "cmd status=8 op=0x", "cmd: op=0x is not a number" },
		{ "cmd status=8 op=-1", "cmd: op=-1 is not a number" },
		{ "cmd status=8 status=9", "cmd: status is there twice" },
		{ "cmd status=8 cq=1", "cmd: cq=1 is not known here" },
		{ "cmd status=8 nonsense", "cmd: nonsense is not known here" },
		{ "cmd status=", "cmd: status= is not a number" },
		{ "cmd status=99999999999999999999",
		  "cmd: status=99999999999999999999 is not" },
		{ "delay us=x", "delay: us=x is not a number" },
		{ "delay", "delay: us is missing" },
		{ "link", "link: up or down must follow" },
		{ "link sideways", "link: up or down must follow" },
		{ "drop nth=1", "drop: rx or tx must follow" },
		{ "drop rx", "drop: nth is missing" },
		{ "hold cq=0x777777", "hold: there is no CQ 0x777777" },
		{ "release cq=0x777777", "release: there is no CQ 0x777777" },
		{ "overrun cq=0x777777", "overrun: there is no CQ 0x777777" },
		{ "cqe type=qp num=1 syndrome=1", "cqe: type=qp is neither sq nor rq" },
		{ "cqe type=sq num=0x777777 syndrome=1", "cqe: there is no SQ 0x777777" },
		{ "cqe type=rq num=1", "cqe: syndrome is missing" },
		{ "fatal now", "fatal: now is not known here" },
	};
	struct direct *d = d_open(NULL);
	char why[128];

	(void)state;
	for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(cx_fault(d->dev, bad[i].line, why, sizeof(why)),
				 -EINVAL);
		if (strncmp(why, bad[i].why, strlen(bad[i].why)))
			fail_msg("%s: \"%s\", not \"%s\"", bad[i].line, why, bad[i].why);
	}
	d_pd(d); /* none of them left anything behind */
	assert_true(cx_link_up(d->dev));
	d_close(d);
}

static void test_script_lines_that_say_nothing(void **state)
{
	struct direct *d = d_open(NULL);
	char why[8] = "x", line[400];

	(void)state;
	d_fault(d, "");
	d_fault(d, "   \t");
	d_fault(d, "# a comment");
	assert_int_equal(cx_fault(d->dev, "unknown verb", why, sizeof(why)), -EINVAL);
	assert_string_equal(why, "unknown"); /* cut, and ended */
	assert_int_equal(cx_fault(d->dev, "unknown verb", NULL, 0), -EINVAL);
	memset(line, 'a', sizeof(line) - 1);
	line[sizeof(line) - 1] = 0;
	assert_int_equal(cx_fault(d->dev, line, why, sizeof(why)), -EINVAL);
	d_close(d);
}

static void test_too_many(void **state)
{
	struct direct *d = d_open(NULL);
	char why[128];
	unsigned n = 0;

	(void)state;
	while (n < 1000 && !cx_fault(d->dev, "cmd op=1 status=1", why, sizeof(why)))
		n++;
	assert_in_range(n, 10, 999);
	assert_non_null(strstr(why, "waiting already"));
	d_fault(d, "clear");
	d_fault(d, "cmd op=1 status=1");
	d_close(d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nth_command_of_an_opcode),
		cmocka_unit_test(test_any_command_several_times),
		cmocka_unit_test(test_two_faults),
		cmocka_unit_test(test_clear),
		cmocka_unit_test(test_error_completion_on_a_send_queue),
		cmocka_unit_test(test_error_completion_on_a_receive_queue),
		cmocka_unit_test(test_hold_and_release),
		cmocka_unit_test(test_overrun),
		cmocka_unit_test(test_delay),
		cmocka_unit_test(test_delay_counts_from_the_first_doorbell),
		cmocka_unit_test(test_drop_tx),
		cmocka_unit_test(test_drop_rx),
		cmocka_unit_test(test_link),
		cmocka_unit_test(test_fatal),
		cmocka_unit_test(test_mistakes_are_named),
		cmocka_unit_test(test_script_lines_that_say_nothing),
		cmocka_unit_test(test_too_many),
	};

	return cmocka_run_group_tests_name("fault", tests, NULL, NULL);
}
