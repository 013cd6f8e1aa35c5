/* test/test_uverbs_mem.c - memory of clients: pieces, refusals, and files cut short
 *
 * The client's side of a registration is played by hand where it must misbehave.
 */
#define _GNU_SOURCE 1
#include "uvrig.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGE 4096u

static struct uvr_ctx a;

static int set_up(void **state)
{
	(void)state;
	uvc_on_need_mem = NULL;
	uvr_start("eth0=loop", NULL);
	uvr_open(&a, 0);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	uvc_on_need_mem = NULL;
	uvr_close(&a);
	uvr_stop();
	return 0;
}

/* The device's own view of a registered byte. */
static int peek(uint32_t key, const void *p)
{
	const uint8_t *at;
	int value = -1;

	model_lock(&uvr_m);
	at = cx_mkey_peek(uvr_dev(0), key, (uintptr_t)p, 1);
	if (at)
		value = *at;
	model_unlock(&uvr_m);
	return value;
}

/* ---- what works ---- */

static void the_device_sees_the_clients_bytes(void **state)
{
	uint8_t *p = uvc_mem(3 * PAGE);
	uint32_t handle, key;

	(void)state;
	assert_int_equal(uvr_reg_mr(&a, p + 100, 2 * PAGE, 1, &handle, &key), 0);
	p[100] = 7;
	p[100 + 2 * PAGE - 1] = 9;
	assert_int_equal(peek(key, p + 100), 7);
	assert_int_equal(peek(key, p + 100 + 2 * PAGE - 1), 9);
	assert_int_equal(peek(key, p + 99), -1); /* outside, though on the same page */
	assert_int_equal(peek(key, p + 100 + 2 * PAGE), -1);
	assert_int_equal(uvr_stat().mapped_bytes, 3 * PAGE);
	assert_int_equal(uvr_dereg_mr(a.fd, handle), 0);
	assert_int_equal(peek(key, p + 100), -1);
	assert_int_equal(uvr_stat().mapped_bytes, 0);
}

/* Two mappings of the client that lie side by side, of different files: one range here. */
static void pieces_become_one_range(void **state)
{
	uint8_t *room =
		mmap(NULL, 2 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint8_t *one = uvc_mem(PAGE), *two = uvc_mem(PAGE);
	uint32_t handle, key;

	(void)state;
	/* move both to neighbours; the table of regions must know them there */
	uint8_t *m1 = mmap(room, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
			   uvc_mem_fd(one), 0);
	uint8_t *m2 = mmap(room + PAGE, PAGE, PROT_READ | PROT_WRITE,
			   MAP_SHARED | MAP_FIXED, uvc_mem_fd(two), 0);

	assert_true(m1 == room && m2 == room + PAGE);
	uvc_mem_alias(one, m1);
	uvc_mem_alias(two, m2);
	assert_int_equal(uvr_reg_mr(&a, room, 2 * PAGE, 1, &handle, &key), 0);
	room[0] = 1;
	room[2 * PAGE - 1] = 2;
	assert_int_equal(peek(key, room), 1);
	assert_int_equal(peek(key, room + 2 * PAGE - 1), 2);
	assert_int_equal(one[0], 1);
	assert_int_equal(two[PAGE - 1], 2);
	assert_int_equal(uvr_dereg_mr(a.fd, handle), 0);
	uvc_mem_alias(one, one);
	uvc_mem_alias(two, two);
	munmap(room, 2 * PAGE);
}

static void many_registrations_of_one_place_are_independent(void **state)
{
	uint8_t *p = uvc_mem(PAGE);
	uint32_t handle[8], key[8];

	(void)state;
	for (unsigned i = 0; i < 8; i++)
		assert_int_equal(uvr_reg_mr(&a, p, PAGE, 1, &handle[i], &key[i]), 0);
	p[5] = 0x55;
	for (unsigned i = 0; i < 8; i++) {
		assert_int_equal(peek(key[i], p + 5), 0x55);
		assert_int_equal(uvr_dereg_mr(a.fd, handle[i]), 0);
	}
	assert_int_equal(uvr_stat().mappings, 0);
}

/* ---- what is refused ---- */

static void ranges_that_cannot_be_are_refused(void **state)
{
	uint8_t *p = uvc_mem(PAGE);
	uint32_t handle, key;

	(void)state;
	assert_int_equal(uvr_reg_mr(&a, p, 0, 1, &handle, &key), EINVAL);
	assert_int_equal(uvr_reg_mr(&a, p, SIZE_MAX, 1, &handle, &key), EINVAL);
	assert_int_equal(uvr_reg_mr(&a, (void *)(UINTPTR_MAX - 100), 50, 1, &handle,
				    &key),
			 EINVAL);
	assert_int_equal(uvr_reg_mr(&a, (void *)(UINTPTR_MAX & ~(PAGE - 1ul)), PAGE * 2,
				    1, &handle, &key),
			 EINVAL);
	assert_int_equal(uvr_reg_mr(&a, p, PAGE + 1, 1, &handle, &key),
			 EFAULT); /* not ours */
	assert_int_equal(uvr_reg_mr(&a, p, (size_t)1 << 60, 1, &handle, &key), ENOMEM);
	assert_int_equal(uvr_reg_mr(&a, p, PAGE, 1, &handle, &key), 0);
	assert_int_equal(uvr_dereg_mr(a.fd, handle), 0);
}

static void other_offsets_than_the_addresss_are_refused(void **state)
{
	struct ib_uverbs_reg_mr req = { .length = PAGE,
					.pd_handle = a.pd,
					.access_flags = 1 };
	struct ib_uverbs_reg_mr_resp resp;
	struct uvc_write w = { .cmd = IB_USER_VERBS_CMD_REG_MR,
			       .in = &req,
			       .in_len = sizeof(req),
			       .out = &resp,
			       .out_len = sizeof(resp) };
	uint8_t *p = uvc_mem(PAGE);
	struct uvc c;

	(void)state;
	req.start = (uintptr_t)p;
	req.hca_va = 0x1000;
	assert_int_equal(uvc_write(a.fd, &c, &w), 0);
	assert_int_equal(peek(resp.lkey, (void *)0x1fff), 0); /* at its own addresses */
	assert_int_equal(peek(resp.lkey, p), -1);
	req.hca_va = 0x1008;
	assert_int_equal(uvc_write(a.fd, &c, &w), EINVAL);
}

/* ---- a client that answers wrongly ---- */

static struct cxp_mem pieces[3]; /* the last one ends the answer */
static int piece_fds[3];
static unsigned n_pieces;

static bool scripted(int pair, const struct cxp_need_mem *need)
{
	(void)need;
	for (unsigned i = 0; i < n_pieces; i++)
		uvc_send(pair, &pieces[i], sizeof(pieces[i]), piece_fds[i]);
	return true;
}

static void script(const uint8_t *p, struct cxp_mem piece)
{
	piece.type = CXP_MEM;
	pieces[0] = piece;
	piece_fds[0] = uvc_mem_fd(p);
	pieces[1] = (struct cxp_mem){ .type = CXP_MEM, .last = 1 };
	piece_fds[1] = -1;
	n_pieces = 2;
}

static void pieces_are_checked(void **state)
{
	uint8_t *p = uvc_mem(4 * PAGE);
	uint64_t at = (uintptr_t)p;
	const struct cxp_mem wrong[] = {
		{ .page_bytes = PAGE, .addr = at + 1, .len = PAGE },
		{ .page_bytes = PAGE, .addr = at, .len = 0 },
		{ .page_bytes = PAGE, .addr = at, .len = 100 },
		{ .page_bytes = 0, .addr = at, .len = PAGE },
		{ .page_bytes = 6000, .addr = at, .len = 6000 },
		{ .page_bytes = PAGE, .addr = at, .len = PAGE, .offset = 8 },
		{ .page_bytes = PAGE, .addr = at, .len = PAGE, .offset = 4 * PAGE },
		{ .page_bytes = PAGE,
		  .addr = at,
		  .len = PAGE,
		  .offset = UINT64_MAX - PAGE + 1 },
		{ .page_bytes = PAGE, .addr = at, .len = 1ull << 62 },
		{ .page_bytes = PAGE, .addr = at + PAGE, .len = PAGE }, /* beside it */
		{ .page_bytes = PAGE, .addr = 0, .len = PAGE },
		{ .page_bytes = PAGE, .addr = UINT64_MAX - PAGE + 1, .len = PAGE },
	};
	uint32_t handle, key;

	(void)state;
	uvc_on_need_mem = scripted;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		script(p, wrong[i]);
		if (uvr_reg_mr(&a, p, PAGE, 1, &handle, &key) != EFAULT)
			fail_msg("piece %zu was taken", i);
	}
	script(p, (struct cxp_mem){ .page_bytes = PAGE, .addr = at, .len = PAGE });
	assert_int_equal(uvr_reg_mr(&a, p, PAGE, 1, &handle, &key), 0);
	pieces[1].rc = EACCES;
	assert_int_equal(uvr_reg_mr(&a, p, PAGE, 1, &handle, &key), EACCES);
	assert_int_equal(uvr_stat().mappings, 1);
}

static void gaps_and_overlaps_are_refused(void **state)
{
	uint8_t *p = uvc_mem(4 * PAGE);
	uint32_t handle, key;
	const struct cxp_mem first = {
		.type = CXP_MEM, .page_bytes = PAGE, .addr = (uintptr_t)p, .len = PAGE
	};

	(void)state;
	uvc_on_need_mem = scripted;
	n_pieces = 3;
	piece_fds[0] = piece_fds[1] = uvc_mem_fd(p);
	piece_fds[2] = -1;
	pieces[2] = (struct cxp_mem){ .type = CXP_MEM, .last = 1 };
	for (int shift = 0; shift < 3;
	     shift++) { /* the same page, the next, the one after */
		pieces[0] = pieces[1] = first;
		pieces[1].addr += (uint64_t)shift * PAGE;
		pieces[1].offset = (uint64_t)shift * PAGE;
		assert_int_equal(uvr_reg_mr(&a, p, 2 * PAGE, 1, &handle, &key),
				 shift == 1 ? 0 : EFAULT);
	}
}

/* Not memory at all: a pipe, a device. Or no descriptor where one must be. */
static void only_memory_can_be_mapped(void **state)
{
	uint8_t *p = uvc_mem(PAGE);
	uint32_t handle, key;
	int ends[2], zero = open("/dev/zero", O_RDWR | O_CLOEXEC);

	(void)state;
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	uvc_on_need_mem = scripted;
	script(p,
	       (struct cxp_mem){ .page_bytes = PAGE, .addr = (uintptr_t)p, .len = PAGE });
	piece_fds[0] = ends[0];
	assert_int_equal(uvr_reg_mr(&a, p, PAGE, 1, &handle, &key), EFAULT);
	piece_fds[0] = zero;
	assert_int_equal(uvr_reg_mr(&a, p, PAGE, 1, &handle, &key), EFAULT);
	piece_fds[0] = -1;
	assert_int_equal(uvr_reg_mr(&a, p, PAGE, 1, &handle, &key),
			 -1); /* nonsense: hung up */
	close(ends[0]);
	close(ends[1]);
	close(zero);
	uvc_on_need_mem = NULL;
	assert_int_equal(uvr_reg_mr(&a, p, PAGE, 1, &handle, &key),
			 0); /* the context lives */
}

static void what_a_client_may_only_read_it_cannot_have_written(void **state)
{
	uint8_t *p = uvc_mem(PAGE);
	char path[32];
	uint32_t handle, key;
	int fd;

	(void)state;
	p[0] = 3;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", uvc_mem_fd(p));
	fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	uvc_on_need_mem = scripted;
	script(p,
	       (struct cxp_mem){ .page_bytes = PAGE, .addr = (uintptr_t)p, .len = PAGE });
	piece_fds[0] = fd;
	assert_int_equal(uvr_reg_mr(&a, p, PAGE, IB_UVERBS_ACCESS_LOCAL_WRITE, &handle,
				    &key),
			 EFAULT);
	assert_int_equal(uvr_reg_mr(&a, p, PAGE, 0, &handle, &key), 0);
	assert_int_equal(peek(key, p), 3);
	close(fd);
}

/* ---- files that are cut short under a registration ---- */

static bool said_so(void *arg)
{
	(void)arg;
	return uvr_logged("took its memory away") > 0;
}

static void a_file_cut_short_ends_its_key_and_nothing_else(void **state)
{
	static const uint8_t mac[6] = { 2, 0, 0, 0, 0, 1 };
	struct uvr_match match;
	struct uvr_rule rule = { .match = &match };
	struct uvr_cq cq;
	struct uvr_qp qp;
	uint8_t *p = uvc_mem(PAGE), *other = uvc_mem(PAGE), frame[64];
	const uint8_t *cqe;
	uint32_t handle, key, other_handle, other_key, flow;

	(void)state;
	uvr_catch_sigbus();
	assert_int_equal(uvr_cq(&a, &cq, 16, -1), 0);
	assert_int_equal(uvr_qp(&a, &qp, &cq, 0, 16), 0);
	assert_int_equal(uvr_modify_qp(a.fd, qp.handle, 0x21, 1), 0);
	uvr_match_mac(&match, mac);
	assert_int_equal(uvr_matcher(a.fd, &match, 1, 0, &rule.matcher), 0);
	rule.qp = &qp.handle;
	assert_int_equal(uvr_flow(a.fd, &rule, &flow), 0);
	assert_int_equal(uvr_reg_mr(&a, p, PAGE, 1, &handle, &key), 0);
	assert_int_equal(uvr_reg_mr(&a, other, PAGE, 1, &other_handle, &other_key), 0);
	uvr_post_recv(&qp, other_key, other, PAGE);
	uvr_post_recv(&qp, key, p, PAGE);
	uvr_post_recv(&qp, other_key, other, PAGE);
	uvr_frame(frame, mac);
	assert_int_equal(uvr_rx(0, frame, sizeof(frame)), CX_RX_QUEUED);
	assert_memory_equal(other, frame, sizeof(frame));

	assert_int_equal(ftruncate(uvc_mem_fd(p), 0), 0);
	uvr_rx(0, frame, sizeof(frame)); /* writes to pages that are gone */
	uvr_until(said_so, NULL, "the log says that memory went away");
	assert_int_equal(peek(key, p), -1); /* the key is gone */
	assert_int_equal(peek(other_key, other), frame[0]);
	cqe = uvr_poll(&cq);
	assert_non_null(cqe);
	assert_int_equal(uvr_dereg_mr(a.fd, handle),
			 0); /* its handle is as good as ever */
	assert_int_equal(uvr_dereg_mr(a.fd, other_handle), 0);
}

static void any_of_many_regions_may_be_cut_short(void **state)
{
	enum { N = 600 };
	static uint32_t handle[N], key[N];
	uint8_t *p[3] = { NULL };
	unsigned n = 0;

	(void)state;
	uvr_catch_sigbus();
	for (unsigned i = 0; i < N; i++) {
		if (i % 250 == 0)
			p[n++] = uvc_mem(PAGE);
		assert_int_equal(uvr_reg_mr(&a, p[n - 1], PAGE, 1, &handle[i], &key[i]),
				 0);
	}
	for (unsigned i = 0; i < n; i++) {
		assert_int_equal(peek(key[i * 250], p[i]), 0);
		assert_int_equal(ftruncate(uvc_mem_fd(p[i]), 0), 0);
		assert_int_equal(peek(key[i * 250], p[i]), 0); /* reads as zeroes */
	}
	uvr_until(said_so, NULL, "the log says that memory went away");
	for (unsigned i = 0; i < N; i++)
		assert_int_equal(uvr_dereg_mr(a.fd, handle[i]), 0);
}

/* Of a queue's own memory: the device reads zeroes, and lives. */
static void a_ring_cut_short_does_no_harm(void **state)
{
	static const uint8_t mac[6] = { 2, 0, 0, 0, 0, 1 };
	struct uvr_match match;
	struct uvr_rule rule = { .match = &match };
	struct uvr_cq cq;
	struct uvr_qp qp;
	uint8_t *p = uvc_mem(PAGE), frame[64];
	uint32_t handle, key, flow;

	(void)state;
	uvr_catch_sigbus();
	assert_int_equal(uvr_cq(&a, &cq, 16, -1), 0);
	assert_int_equal(uvr_qp(&a, &qp, &cq, 0, 16), 0);
	assert_int_equal(uvr_modify_qp(a.fd, qp.handle, 0x21, 1), 0);
	uvr_match_mac(&match, mac);
	assert_int_equal(uvr_matcher(a.fd, &match, 1, 0, &rule.matcher), 0);
	rule.qp = &qp.handle;
	assert_int_equal(uvr_flow(a.fd, &rule, &flow), 0);
	assert_int_equal(uvr_reg_mr(&a, p, PAGE, 1, &handle, &key), 0);
	uvr_post_recv(&qp, key, p, PAGE);
	assert_int_equal(ftruncate(uvc_mem_fd(qp.rq), 0), 0);
	uvr_frame(frame, mac);
	uvr_rx(0, frame, sizeof(frame));
	assert_int_equal(ftruncate(uvc_mem_fd(cq.ring), 0), 0);
	uvr_rx(0, frame, sizeof(frame));
	uvr_until(said_so, NULL, "the log says that memory went away");
}

/* ---- doorbell pages ---- */

static void pages_are_named_by_offset(void **state)
{
	uint32_t handle[20], num[20];
	uint64_t offset[20], at[20];
	int fd;

	(void)state;
	for (unsigned i = 0; i < 20; i++) {
		assert_int_equal(uvr_alloc_uar(a.fd, &handle[i], &num[i], &offset[i]), 0);
		assert_int_equal(uvc_map(a.fd, offset[i], PAGE, &fd, &at[i]), 0);
		close(fd);
		for (unsigned k = 0; k < i; k++) {
			assert_int_not_equal(offset[i], offset[k]);
			assert_int_not_equal(at[i], at[k]);
			assert_int_not_equal(num[i], num[k]);
		}
	}
	assert_int_equal(uvc_map(a.fd, offset[3] + 8, PAGE, &fd, &at[3]), EINVAL);
	assert_int_equal(uvc_map(a.fd, offset[3], 2 * PAGE, &fd, &at[3]), EINVAL);
	assert_int_equal(uvr_destroy(a.fd, MLX5_IB_OBJECT_UAR,
				     MLX5_IB_METHOD_UAR_OBJ_DESTROY,
				     MLX5_IB_ATTR_UAR_OBJ_DESTROY_HANDLE, handle[3]),
			 0);
	assert_int_equal(uvc_map(a.fd, offset[3], PAGE, &fd, &at[3]), EINVAL);
	assert_int_equal(uvc_map(a.fd, 0, PAGE, &fd, &at[3]), EINVAL);
	assert_int_equal(uvc_map(a.fd, 5ull << 20, PAGE, &fd, &at[3]),
			 EOPNOTSUPP); /* clock */
}

/* A program that keeps a stale mapping must not ring anything with it. */
static void a_page_is_never_given_twice(void **state)
{
	uint32_t handle, num;
	uint64_t offset, at, before;
	int fd;

	(void)state;
	assert_int_equal(uvr_alloc_uar(a.fd, &handle, &num, &offset), 0);
	assert_int_equal(uvc_map(a.fd, offset, PAGE, &fd, &before), 0);
	close(fd);
	assert_int_equal(uvr_destroy(a.fd, MLX5_IB_OBJECT_UAR,
				     MLX5_IB_METHOD_UAR_OBJ_DESTROY,
				     MLX5_IB_ATTR_UAR_OBJ_DESTROY_HANDLE, handle),
			 0);
	assert_int_equal(uvr_alloc_uar(a.fd, &handle, &num, &offset), 0);
	assert_int_equal(uvc_map(a.fd, offset, PAGE, &fd, &at), 0);
	assert_int_not_equal(at, before);
	assert_int_not_equal(ftruncate(fd, 0),
			     0); /* sealed: no program can cut it short */
	close(fd);
}

int main(void)
{
	struct CMUnitTest tests[] = {
		cmocka_unit_test(the_device_sees_the_clients_bytes),
		cmocka_unit_test(pieces_become_one_range),
		cmocka_unit_test(many_registrations_of_one_place_are_independent),
		cmocka_unit_test(ranges_that_cannot_be_are_refused),
		cmocka_unit_test(other_offsets_than_the_addresss_are_refused),
		cmocka_unit_test(pieces_are_checked),
		cmocka_unit_test(gaps_and_overlaps_are_refused),
		cmocka_unit_test(only_memory_can_be_mapped),
		cmocka_unit_test(what_a_client_may_only_read_it_cannot_have_written),
		cmocka_unit_test(a_file_cut_short_ends_its_key_and_nothing_else),
		cmocka_unit_test(any_of_many_regions_may_be_cut_short),
		cmocka_unit_test(a_ring_cut_short_does_no_harm),
		cmocka_unit_test(pages_are_named_by_offset),
		cmocka_unit_test(a_page_is_never_given_twice),
	};

	for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++) {
		tests[i].setup_func = set_up;
		tests[i].teardown_func = tear_down;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
