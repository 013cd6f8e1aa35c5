/* test/test_obj.c - numbers, owners, limits and the end of everything */
#include "direct.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../core/dev.h"

static struct cx_obj *add(struct direct *d, enum cx_obj_type type, uint16_t uid)
{
	struct cx_sq *sq = calloc(1, sizeof(*sq)); /* room for any type used here */

	assert_non_null(sq);
	if (cx_obj_add(d->dev, &sq->obj, type, uid)) {
		free(sq);
		return NULL;
	}
	return &sq->obj;
}

/* A number given back is not given out again at once: a stale one must not find a successor. */
static void test_a_freed_number_rests_for_a_lap(void **state)
{
	struct direct *d = d_open(NULL);
	uint32_t first = d_pd(d), now = 0, n = 0;

	(void)state;
	assert_int_equal(d_simple(d, D_DEALLOC_PD, first, NULL), CX_ST_OK);
	for (; now != first; n++) {
		now = d_pd(d);
		assert_true(n < 100000);
		assert_int_equal(d_simple(d, D_DEALLOC_PD, now, NULL), CX_ST_OK);
	}
	assert_in_range(n, 100, 100000);
	d_close(d);
}

static void test_after_a_lap_the_lowest_comes_first(void **state)
{
	struct direct *d = d_open(NULL);
	struct cx_obj *obj[150];
	uint32_t low, num, last;

	(void)state;
	for (unsigned i = 0; i < 150; i++)
		obj[i] = add(d, CX_RMP, 0);
	low = obj[7]->num;
	num = obj[149]->num;
	cx_obj_free(d->dev, obj[90]);
	cx_obj_free(d->dev, obj[7]);
	do { /* up to the end of the table ... */
		struct cx_obj *one = add(d, CX_RMP, 0);

		last = num;
		num = one->num;
		cx_obj_free(d->dev, one);
	} while (num > last);
	assert_int_equal(num, low); /* ... and from its start */
	assert_int_equal(add(d, CX_RMP, 0)->num, low + 83);
	d_close(d);
}

/* SQ, RQ and RMP share numbers; a number of one type is nobody's of another. */
static void test_work_queues_share_a_space(void **state)
{
	struct direct *d = d_open(NULL);
	uint32_t last = 0;

	(void)state;
	for (unsigned i = 0; i < 60; i++) {
		enum cx_obj_type type = (enum cx_obj_type)(CX_SQ + i % 3);
		struct cx_obj *obj = add(d, type, 0);

		assert_true(obj->num > last);
		last = obj->num;
		for (int t = 0; t < CX_OBJ_TYPE_COUNT; t++)
			assert_true((cx_obj_get(d->dev, (enum cx_obj_type)t, last, 0) ==
				     obj) == (t == (int)type));
	}
	assert_int_equal(cx_obj_count(d->dev, CX_SQ), 20);
	assert_int_equal(cx_obj_count(d->dev, CX_RQ), 20);
	assert_int_equal(cx_obj_count(d->dev, CX_RMP), 20);
	d_close(d);
}

static void test_owner(void **state)
{
	struct direct *d = d_open(NULL);
	uint16_t other = d_uctx(d);
	uint32_t before = cx_obj_count_uid(d->dev, other);
	struct cx_obj *mine = add(d, CX_TIR, d->uid), *kernels = add(d, CX_TIR, 0);

	(void)state;
	assert_ptr_equal(cx_obj_get(d->dev, CX_TIR, mine->num, d->uid), mine);
	assert_null(cx_obj_get(d->dev, CX_TIR, mine->num, other));
	assert_ptr_equal(cx_obj_get(d->dev, CX_TIR, mine->num, 0), mine);
	assert_null(cx_obj_get(d->dev, CX_TIR, kernels->num, d->uid));
	assert_null(cx_obj_get(d->dev, CX_TIR, 0, 0));
	assert_null(cx_obj_get(d->dev, CX_TIR, UINT32_MAX, 0));
	add(d, CX_TIR, other);
	add(d, CX_RQT, other);
	assert_int_equal(cx_obj_count_uid(d->dev, other), before + 2);
	d_close(d);
}

static void test_the_capability_is_the_limit(void **state)
{
	static const char *const caps[] = { "hca.log_max_pd=3", NULL };
	struct direct *d = d_open(caps);

	(void)state;
	for (unsigned i = 1; i < 8; i++) /* d_open() made the first */
		d_pd(d);
	assert_null(add(d, CX_PD, 0));
	assert_int_not_equal(d_simple(d, D_ALLOC_PD, 0, NULL), CX_ST_OK);
	assert_int_equal(d_simple(d, D_DEALLOC_PD, d->pdn + 3, NULL), CX_ST_OK);
	d_pd(d);
	d_close(d);
}

/* counter_set_id has eight bits, whatever the capability says. */
static void test_a_narrow_field_is_a_limit(void **state)
{
	struct direct *d = d_open((const char *[]){ "hca.max_qp_cnt=1023", NULL });
	struct cx_obj *obj;
	unsigned n = 0;

	(void)state;
	while ((obj = add(d, CX_QCOUNTER, 0))) {
		assert_in_range(obj->num, 1, 0xff);
		n++;
	}
	assert_in_range(n, 200, 255);
	d_close(d);
}

static bool count_one(void *arg, struct cx_obj *obj)
{
	(void)obj;
	++*(unsigned *)arg;
	return true;
}

static void test_a_range_is_one_object(void **state)
{
	struct direct *d = d_open(NULL);
	struct cx_fcounter *f = calloc(1, sizeof(*f)), *g = calloc(1, sizeof(*g));
	unsigned n = 0;

	(void)state;
	assert_int_equal(cx_obj_add_range(d->dev, &f->obj, CX_FCOUNTER, 0, 300), 0);
	assert_int_equal(cx_obj_add_range(d->dev, &g->obj, CX_FCOUNTER, 0, 1), 0);
	assert_int_equal(g->obj.num, f->obj.num + 300);
	for (uint32_t i = 0; i < 300; i++)
		assert_ptr_equal(cx_obj_get(d->dev, CX_FCOUNTER, f->obj.num + i, 0), f);
	assert_int_equal(cx_obj_count(d->dev, CX_FCOUNTER), 2);
	cx_obj_each(d->dev, CX_FCOUNTER, count_one, &n);
	assert_int_equal(n, 2);
	cx_obj_free(d->dev, &f->obj);
	assert_int_equal(cx_obj_count(d->dev, CX_FCOUNTER), 1);
	assert_ptr_equal(cx_obj_get(d->dev, CX_FCOUNTER, g->obj.num, 0), g);
	assert_null(cx_obj_get(d->dev, CX_FCOUNTER, g->obj.num - 1, 0));
	d_close(d);
}

struct ascending {
	uint32_t last, n;
};

static bool check_ascending(void *arg, struct cx_obj *obj)
{
	struct ascending *a = arg;

	assert_true(obj->num > a->last);
	a->last = obj->num;
	return ++a->n < 3000;
}

/* The table grows far past its first size; order and stop of the walk. */
static void test_many(void **state)
{
	struct direct *d = d_open(NULL);
	struct ascending a = { 0, 0 };

	(void)state;
	for (unsigned i = 0; i < 5000; i++)
		assert_non_null(add(d, CX_TIS, 0));
	assert_int_equal(cx_obj_count(d->dev, CX_TIS), 5001); /* d_open() made one */
	cx_obj_each(d->dev, CX_TIS, check_ascending, &a);
	assert_int_equal(a.n, 3000);
	d_close(d);
}

/* A device that cannot start leaves nothing behind, not even its pointer. */
static void test_a_device_that_cannot_start(void **state)
{
	static const char *const caps[] = { "hca.no_such_value=1", NULL };
	struct cx_conf conf = { .name = "mlx5_0", .mac = { 2 }, .caps = caps };
	struct cx_dev *dev = NULL;

	(void)state;
	assert_int_equal(cx_dev_new(&conf, NULL, &dev), -EINVAL);
	assert_null(dev);
}

/* The device ends with everything still there; the leak check is the judge. */
static void test_free_with_one_of_each(void **state)
{
	struct direct *d = d_open(NULL);
	struct d_cq *cq = d_cq(d, &(struct d_cq_conf){ .log_size = 6, .comp = 1 });
	struct d_rq *rq = d_rq(d, &(struct d_rq_conf){ .log_size = 4,
						       .cq = cq,
						       .counter = d_q_counter(d) });
	uint32_t rqn[2] = { rq->num, rq->num }, tirn;
	uint8_t frame[60];

	(void)state;
	d_sq(d, &(struct d_sq_conf){ .log_size = 4, .cq = cq });
	tirn = d_tir_rss(d, &(struct d_tir_conf){ .rqtn = d_rqt(d, rqn, 2),
						  .hash_fn = 2,
						  .fields = 3 });
	d_all_to(d, tirn);
	d_flow_counter(d);
	d_fault(d, "cmd op=1 status=1");
	cx_cqe_withhold(d->dev, true);
	d_rq_post(rq, 8);
	d_udp4(frame, sizeof(frame), 1, 2, 3, 4, 5);
	assert_int_equal(cx_rx(d->dev, frame, sizeof(frame)), CX_RX_QUEUED);
	d_close(d); /* in the middle of a session */
}

struct text {
	char all[8192];
	size_t n;
};

static void gather(void *arg, const char *line)
{
	struct text *t = arg;
	int n = snprintf(t->all + t->n, sizeof(t->all) - t->n, "%s\n", line);

	assert_true(n > 0 && (size_t)n < sizeof(t->all) - t->n);
	t->n += (size_t)n;
}

static void test_dump_names_what_is_there(void **state)
{
	struct direct *d = d_open(NULL);
	struct d_cq *cq = d_cq(d, &(struct d_cq_conf){ .log_size = 4 });
	struct d_sq *sq = d_sq(d, &(struct d_sq_conf){ .log_size = 3, .cq = cq });
	struct text t = { .n = 0 };
	char want[128];

	(void)state;
	d_cq_consume(cq, 3);
	cx_dump(d->dev, gather, &t);
	snprintf(want, sizeof(want), "CQ 0x%x uid %u refs 1 log_size 4 ci 3 pi 0\n",
		 cq->num, d->uid);
	assert_non_null(strstr(t.all, want));
	snprintf(want, sizeof(want), "SQ 0x%x uid %u RDY cq 0x%x uar 0x%x log_size 3",
		 sq->num, d->uid, cq->num, d->uar->num);
	assert_non_null(strstr(t.all, want));
	d_close(d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_freed_number_rests_for_a_lap),
		cmocka_unit_test(test_after_a_lap_the_lowest_comes_first),
		cmocka_unit_test(test_work_queues_share_a_space),
		cmocka_unit_test(test_owner),
		cmocka_unit_test(test_the_capability_is_the_limit),
		cmocka_unit_test(test_a_narrow_field_is_a_limit),
		cmocka_unit_test(test_a_range_is_one_object),
		cmocka_unit_test(test_many),
		cmocka_unit_test(test_a_device_that_cannot_start),
		cmocka_unit_test(test_free_with_one_of_each),
		cmocka_unit_test(test_dump_names_what_is_there),
	};

	return cmocka_run_group_tests_name("obj", tests, NULL, NULL);
}
