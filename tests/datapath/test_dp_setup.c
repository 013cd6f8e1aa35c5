/* datapath/test_dp_setup.c - every set-up function with its k-th step failing, for every k
 *
 * A step is a command of the device (refused by the model's fault script, whoever gives it:
 * lib/m5, libmlx5 or what stands for the kernel), a call of an allocator, a mapping, or a
 * call of rdma-core. After each failure: a negated errno, a sentence that says what failed,
 * *ret untouched, and nothing left in the device. Then the same call succeeds.
 */

#include <errno.h>
#include <linux/capability.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../../lib/m5/verbs.h"
#include "../test.h"
#include "rig.h"

/* ---- what the linker puts in the place of functions that must be able to fail ---- */

struct point {
	unsigned calls, fail_at; /* 0: never */
	bool failed;
};
static struct point heap, maps, library;
static int played = ENOMEM; /* errno of a library call that fails */

static bool fails(struct point *p)
{
	if (++p->calls != p->fail_at)
		return false;
	p->failed = true;
	errno = p == &library ? played : ENOMEM;
	return true;
}

/* A function of that type and these arguments that fails with @failure when its turn has come. */
#define WRAP(point, type, name, failure, params, args) \
	type __real_##name params; \
	type __wrap_##name params; \
	type __wrap_##name params \
	{ \
		return fails(&(point)) ? (failure) : __real_##name args; \
	}

/* clang-format off */
WRAP(heap, void *, calloc, NULL, (size_t n, size_t bytes), (n, bytes))
WRAP(heap, void *, aligned_alloc, NULL, (size_t align, size_t bytes), (align, bytes))

/* Of rdma-core, one for each way to say that something failed; commands fail by the model. */
WRAP(library, struct ibv_pd *, ibv_alloc_pd, NULL, (struct ibv_context *c), (c))
WRAP(library, int, ibv_query_device, ENOMEM,
     (struct ibv_context *c, struct ibv_device_attr *a), (c, a))
WRAP(library, int, mlx5dv_init_obj, -1, (struct mlx5dv_obj *o, uint64_t t), (o, t))
WRAP(library, int, mlx5dv_devx_query_eqn, ENOMEM,
     (struct ibv_context *c, uint32_t v, uint32_t *e), (c, v, e))
WRAP(library, struct ibv_context *, mlx5dv_open_device, NULL,
     (struct ibv_device *d, struct mlx5dv_context_attr *a), (d, a))
WRAP(library, struct ibv_device **, ibv_get_device_list, NULL, (int *n), (n))
WRAP(library, struct mlx5dv_devx_uar *, mlx5dv_devx_alloc_uar, NULL,
     (struct ibv_context *c, uint32_t f), (c, f))
WRAP(library, struct mlx5dv_devx_umem *, mlx5dv_devx_umem_reg, NULL,
     (struct ibv_context *c, void *p, size_t n, uint32_t a), (c, p, n, a))
#undef ibv_reg_mr
WRAP(library, struct ibv_mr *, ibv_reg_mr, NULL,
     (struct ibv_pd *pd, void *p, size_t n, int a), (pd, p, n, a))
WRAP(library, struct mlx5dv_devx_event_channel *, mlx5dv_devx_create_event_channel, NULL,
     (struct ibv_context *c, enum mlx5dv_devx_create_event_channel_flags f), (c, f))
WRAP(library, int, mlx5dv_devx_subscribe_devx_event, -1,
     (struct mlx5dv_devx_event_channel *c, struct mlx5dv_devx_obj *o, uint16_t n, uint16_t *e,
      uint64_t k), (c, o, n, e, k))
WRAP(library, struct mlx5dv_flow_matcher *, mlx5dv_create_flow_matcher, NULL,
     (struct ibv_context *c, struct mlx5dv_flow_matcher_attr *a), (c, a))
/* clang-format on */

void *__real_mmap(void *at, size_t bytes, int prot, int flags, int fd, off_t offset);
void *__wrap_mmap(void *at, size_t bytes, int prot, int flags, int fd, off_t offset);

/* An attempt at huge pages is not counted: without them there are small ones. */
void *__wrap_mmap(void *at, size_t bytes, int prot, int flags, int fd, off_t offset)
{
	if (flags & MAP_HUGETLB ? maps.fail_at : fails(&maps)) {
		errno = ENOMEM;
		return MAP_FAILED;
	}
	return __real_mmap(at, bytes, prot, flags, fd, offset);
}

/* ---- what there is to set up ---- */

/* A port on which everything is open that the function under test needs. */
static struct rig w;
static struct m5_mem mem;
static const uint8_t addr[16] = { 192, 0, 2, 1 };
static const uint8_t other_mac[6] = { 2, 0, 0, 0, 0, 9 };

static int open_dev(struct err *err, void **ret)
{
	return m5_dev_open("eth0", 0, err, (struct m5_dev **)ret);
}

static int open_rxq(struct err *err, void **ret, bool striding)
{
	struct m5_rxq_conf conf = {
		.packets = 64, .mtu = 1500, .numa_node = -1, .striding = striding
	};

	return m5_rxq_open(w.dev, &conf, &w.warn, err, (struct m5_rxq **)ret);
}

static int open_rxq_striding(struct err *err, void **ret)
{
	return open_rxq(err, ret, true);
}

static int open_rxq_cyclic(struct err *err, void **ret)
{
	return open_rxq(err, ret, false);
}

static int open_txq(struct err *err, void **ret)
{
	struct m5_txq_conf conf = { .packets = 64, .numa_node = -1 };

	return m5_txq_open(w.dev, &conf, err, (struct m5_txq **)ret);
}

/* Several rings, and a page of the other kind. */
static int open_txq_copied(struct err *err, void **ret)
{
	struct m5_txq_conf conf = { .packets = 64,
				    .numa_node = -1,
				    .send = M5_SEND_COPIED,
				    .rings = 3,
				    .doorbell = M5_DOORBELL_WC };

	return m5_txq_open(w.dev, &conf, err, (struct m5_txq **)ret);
}

static int open_steer(struct err *err, void **ret)
{
	struct m5_steer_conf conf = { .mac = { 2, 0, 0, 0, 0, 8 },
				      .rxq = w.rxq,
				      .n_rxq = 1 };

	return m5_steer_open(w.dev, &conf, err, (struct m5_steer **)ret);
}

static int map_and_register(struct err *err, void **ret)
{
	struct err warn;
	int r = m5_mem_map(&mem, 4096, -1, &warn);

	(void)ret;
	if (r < 0)
		return err_set(err, r, "mapping packet memory");
	r = m5_mem_register(&mem, w.dev, err);
	if (r < 0)
		m5_mem_unmap(&mem);
	return r;
}

static int transit_on(struct err *err, void **ret)
{
	(void)ret;
	return m5_steer_transit(w.steer, true, err);
}

static int local_add(struct err *err, void **ret)
{
	(void)ret;
	return m5_steer_local_add(w.steer, 4, addr, err);
}

static int local_add6(struct err *err, void **ret)
{
	(void)ret;
	return m5_steer_local_add(w.steer, 6, addr, err);
}

static int set_mac(struct err *err, void **ret)
{
	(void)ret;
	return m5_steer_mac_set(w.steer, other_mac, err);
}

static int reset_rxq(struct err *err, void **ret)
{
	(void)ret;
	return m5_rxq_reset(w.rxq[0], err);
}

static int start_rxq(struct err *err, void **ret)
{
	(void)ret;
	return m5_rxq_start(w.rxq[0], err);
}

static int reset_txq(struct err *err, void **ret)
{
	(void)ret;
	return m5_txq_reset(w.txq, err);
}

static int start_txq(struct err *err, void **ret)
{
	(void)ret;
	return m5_txq_start(w.txq, err);
}

static void close_dev(void *p)
{
	m5_dev_close(p);
}
static void close_rxq(void *p)
{
	m5_rxq_close(p);
}
static void close_txq(void *p)
{
	m5_txq_close(p);
}
static void close_steer(void *p)
{
	m5_steer_close(p);
}
static void unmap(void *p)
{
	(void)p, m5_mem_unmap(&mem);
}
static void transit_off(void *p)
{
	(void)p, rig_ok(m5_steer_transit(w.steer, false, NULL), NULL);
}
static void local_del(void *p)
{
	(void)p, m5_steer_local_del(w.steer, 4, addr, NULL);
}
static void local_del6(void *p)
{
	(void)p, m5_steer_local_del(w.steer, 6, addr, NULL);
}
static void mac_back(void *p)
{
	(void)p, rig_ok(m5_steer_mac_set(w.steer, w.mac, NULL), NULL);
}
static void start_rxq_again(void *p)
{
	(void)p, rig_ok(m5_rxq_start(w.rxq[0], NULL), NULL);
}
static void start_txq_again(void *p)
{
	(void)p, rig_ok(m5_txq_start(w.txq, NULL), NULL);
}
static void reset_rxq_again(void *p)
{
	(void)p, rig_ok(m5_rxq_reset(w.rxq[0], NULL), NULL);
}
static void reset_txq_again(void *p)
{
	(void)p, rig_ok(m5_txq_reset(w.txq, NULL), NULL);
}

struct set_up {
	const char *name;
	int (*open)(struct err *err, void **ret);
	void (*close)(void *p);
	unsigned least; /* device commands that it takes, so that the test does test something */
	bool alone;    /* no port is open meanwhile */
	unsigned most; /* not 0: those behind remove the old, which never fails on a card */
};

#define EACH(X) \
	X(open_dev, close_dev, 6, true, 0) \
	X(open_rxq_striding, close_rxq, 3, false, 0) \
	X(open_rxq_cyclic, close_rxq, 3, false, 0) \
	X(open_txq, close_txq, 3, false, 0) \
	X(open_txq_copied, close_txq, 7, false, 0) \
	X(open_steer, close_steer, 13, false, 0) \
	X(map_and_register, unmap, 0, false, 0) \
	X(transit_on, transit_off, 6, false, 0) \
	X(local_add, local_del, 1, false, 0) \
	X(local_add6, local_del6, 1, false, 0) \
	X(set_mac, mac_back, 6, false, 6) \
	X(reset_rxq, start_rxq_again, 3, false, 0) \
	X(reset_txq, start_txq_again, 3, false, 0) \
	X(start_rxq, reset_rxq_again, 1, false, 0) \
	X(start_txq, reset_txq_again, 1, false, 0)

#define ROW(open, close, least, alone, most) { #open, open, close, least, alone, most },
static const struct set_up set_ups[] = { EACH(ROW) };
#define INDEX(open, close, least, alone, most) INDEX_##open,
enum { EACH(INDEX) };

/* ---- the check ---- */

/* The library keeps a write-combining page until the device is closed: it is there before. */
static void keep_page(void)
{
	void *q = NULL;
	struct err err;

	rig_ok(open_txq_copied(&err, &q), &err);
	close_txq(q);
}

static void begin(const struct set_up *s)
{
	memset(&w, 0, sizeof(w));
	if (!s->alone)
		rig_open(&w, &(struct rig_conf){ .rx_packets = 64, .tx_packets = 64 });
	if (s->open == transit_on)
		transit_off(NULL);
	if (s->open == open_txq_copied)
		keep_page();
	if (s->open ==
	    open_steer) { /* equal rules would be shared, and cost no command */
		m5_steer_close(w.steer);
		w.steer = NULL;
	}
	if (s->open == start_rxq)
		reset_rxq_again(NULL);
	if (s->open == start_txq)
		reset_txq_again(NULL);
}

static int end(void **state)
{
	(void)state;
	ctl("fault eth0 clear");
	heap.fail_at = maps.fail_at = library.fail_at = 0;
	played = ENOMEM;
	rig_close(&w); /* also what a failed test left */
	return 0;
}

/* The device's own words where lib/m5 gave the command; what was to be made where libmlx5 or the
 * kernel gave it and an errno is all they tell. */
static void check_sentence(const char *text)
{
	static const char *const others[] = {
		"no memory",	 "packet memory",  "queue memory",  "flow rule for ",
		"doorbell page", "ALLOC_PD",	   "event channel", "subscribing",
		"may not open",	 "cannot open",	   "has no DevX",   "QUERY_DEVICE",
		"number of the", "no RDMA device",
	};

	if (strstr(text, "(status 0x0f, syndrome 0x123456)")) {
		assert_non_null(
			strstr(text, " on mlx5_0: the device says no resources left "));
		return;
	}
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (strstr(text, others[i]))
			return;
	fail_msg("what failed? \"%s\"", text);
}

static void check_failed(int r, const struct err *err, const void *ret)
{
	assert_in_range(-r, 1, 4095);
	check_sentence(err->text);
	assert_ptr_equal(ret, &w);
}

/* Succeeds, and undoes it: what failed before left nothing in the way. */
static void check_works(const struct set_up *s)
{
	struct err err = { "" };
	void *ret = &w;

	rig_ok(s->open(&err, &ret), &err);
	s->close(ret);
}

static void each_command(void **state)
{
	const struct set_up *s = *state;
	char before[1024];
	uint64_t refused;
	unsigned k;

	begin(s);
	check_works(s);
	ctl_census(before, !s->alone);
	for (k = 1; k < 200 && (!s->most || k <= s->most); k++) {
		struct err err = { "" };
		void *ret = &w;
		int r;

		refused = ctl_number("stats eth0", "cmd_refusals");
		ctl("fault eth0 cmd nth=%u status=0x0f syndrome=0x123456", k);
		r = s->open(&err, &ret);
		ctl("fault eth0 clear");
		if (ctl_number("stats eth0", "cmd_refusals") == refused) {
			rig_ok(r, &err);
			s->close(ret);
			break; /* it takes fewer */
		}
		if (!r) {
			/* Something that the library can do without. */
			print_message("%s: goes on without command %u\n", s->name, k);
			s->close(ret);
		} else {
			print_message("%s, command %u: %s\n", s->name, k, err.text);
			check_failed(r, &err, ret);
		}
		ctl_same_census(before);
	}
	assert_in_range(k, s->least + 1, 199);
	check_works(s);
	ctl_same_census(before);
}

/* Return: how many calls it takes. */
static unsigned each_call(const struct set_up *s, struct point *p)
{
	char before[1024];
	unsigned k;

	ctl_census(before, !s->alone);
	for (k = 1; k < 100; k++) {
		struct err err = { "" };
		void *ret = &w;
		int r;

		*p = (struct point){ .fail_at = k };
		r = s->open(&err, &ret);
		p->fail_at = 0;
		if (!p->failed) {
			rig_ok(r, &err);
			s->close(ret);
			break;
		}
		print_message("%s, call %u: %s\n", s->name, k, err.text);
		check_failed(r, &err, ret);
		ctl_same_census(before);
	}
	check_works(s);
	ctl_same_census(before);
	return k - 1;
}

static void each_heap_allocation(void **state)
{
	begin(*state);
	each_call(*state, &heap);
}

static void each_mapping(void **state)
{
	const struct set_up *s = *state;
	unsigned n;

	begin(s);
	n = each_call(s, &maps);
	if (s->close == close_rxq)
		assert_int_equal(n, 3); /* region, ring, ring of completions */
	if (s->close == close_txq)
		assert_int_equal(n, s->open == open_txq ? 2 : 6);
}

static void each_library_call(void **state)
{
	const struct set_up *s = *state;
	unsigned n;

	begin(s);
	n = each_call(s, &library);
	if (s->close == close_dev)
		assert_int_equal(n, 6);
	if (s->close == close_rxq)
		assert_int_equal(
			n, 6); /* key, doorbell page, two rings, channel, subscription */
	if (s->close == close_txq)
		assert_int_equal(n, s->open == open_txq ? 3 : 7);
	if (s->close == unmap)
		assert_int_equal(n, 1);
}

/* Each status in words, with the errno that libmlx5 makes of it. */
static void each_status(void **state)
{
	static const struct {
		unsigned status;
		const char *words;
	} rows[] = {
		{ 0x01, "internal error" },
		{ 0x02, "unknown operation" },
		{ 0x03, "bad parameter" },
		{ 0x05, "bad resource number" },
		{ 0x06, "resource busy" },
		{ 0x08, "limit exceeded" },
		{ 0x09, "resource in a wrong state" },
		{ 0x0a, "bad index" },
		{ 0x0f, "no resources left" },
		{ 0x10, "queue in a wrong state" },
		{ 0x50, "input too short" },
		{ 0x51, "output too short" },
		{ 0x77, "unknown status" },
	};
	char want[160];

	(void)state;
	begin(&set_ups[1]);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct err err = { "" };
		void *ret = &w;

		ctl("fault eth0 cmd op=0x904 status=0x%x syndrome=0xabcdef",
		    rows[i].status);
		assert_in_range(-open_txq(&err, &ret), 1, 4095);
		snprintf(want, sizeof(want),
			 "CREATE_SQ on mlx5_0: the device says %s (status 0x%02x, "
			 "syndrome 0xabcdef)",
			 rows[i].words, rows[i].status);
		assert_string_equal(err.text, want);
	}
}

/* Each way in which the kernel refuses to open a device. */
static void open_refused(void **state)
{
	static const struct {
		int played, r;
		const char *says;
	} rows[] = {
		{ EACCES, -EACCES,
		  "mlx5_0: may not open /dev/infiniband/uverbs0: run as root, or as a user that it "
		  "belongs to" },
		{ EPERM, -EPERM,
		  "mlx5_0: may not open /dev/infiniband/uverbs0: run as root, or as a user that it "
		  "belongs to" },
		{ EOPNOTSUPP, -EOPNOTSUPP,
		  "mlx5_0: has no DevX: Linux 5.10 or newer with mlx5_ib is needed, and a "
		  "ConnectX-5 or newer with its firmware up to date" },
		{ EINVAL, -EOPNOTSUPP,
		  "mlx5_0: has no DevX: Linux 5.10 or newer with mlx5_ib is needed, and a "
		  "ConnectX-5 or newer with its firmware up to date" },
		{ EIO, -EIO, "mlx5_0: cannot open with DevX: Input/output error (EIO)" },
		{ 0, -EIO, "mlx5_0: cannot open with DevX: Input/output error (EIO)" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct err err = { "" };
		void *ret = &w;

		played = rows[i].played;
		library =
			(struct point){ .fail_at = 2 }; /* the first lists the devices */
		assert_int_equal(open_dev(&err, &ret), rows[i].r);
		assert_string_equal(err.text, rows[i].says);
		assert_ptr_equal(ret, &w);
	}
}

/* ---- the memlock limit ---- */

static void drop_ipc_lock(struct __user_cap_data_struct data[2])
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct now[2];

	assert_return_code(syscall(SYS_capget, &head, data), 0);
	memcpy(now, data, sizeof(now));
	now[0].effective &= ~(1u << CAP_IPC_LOCK);
	assert_return_code(syscall(SYS_capset, &head, now), 0);
}

static void get_back(const struct __user_cap_data_struct data[2])
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };

	assert_return_code(syscall(SYS_capset, &head, data), 0);
}

/* The sentence of a receive queue whose n-th registration meets the limit. The model pins no
 * memory, so the kernel's -ENOMEM is played. */
static const char *meets_limit(unsigned call)
{
	static struct err err;
	void *ret = &w;

	library = (struct point){ .fail_at = call };
	assert_int_equal(open_rxq_striding(&err, &ret), -ENOMEM);
	library.fail_at = 0;
	return err.text;
}

static void memlock_limit(void **state)
{
	struct __user_cap_data_struct caps[2];
	struct rlimit before, low;

	(void)state;
	begin(&set_ups[INDEX_open_rxq_striding]);
	assert_return_code(getrlimit(RLIMIT_MEMLOCK, &before), 0);
	low = before;
	low.rlim_cur = 65536;
	assert_return_code(setrlimit(RLIMIT_MEMLOCK, &low), 0);
	/* Whom the limit does not hold for has met something else. */
	assert_string_equal(meets_limit(1),
			    "mlx5_0: registering 128 KiB of packet memory: Cannot "
			    "allocate memory (ENOMEM)");
	drop_ipc_lock(caps);
	assert_string_equal(
		meets_limit(1),
		"mlx5_0: registering 128 KiB of packet memory: the memlock limit is 64 "
		"KiB, and with this 128 KiB are needed, more with further queues and "
		"ports: raise it (ulimit -l unlimited; LimitMEMLOCK=infinity in the unit)");
	assert_non_null(strstr(meets_limit(3),
			       "registering 8 KiB of queue memory: the memlock limit "
			       "is 64 KiB, and with this 8 KiB are needed"));
	get_back(caps);
	assert_return_code(setrlimit(RLIMIT_MEMLOCK, &before), 0);
}

#define TEST(test, open) \
	{ #test ", " #open, test, NULL, end, (void *)(uintptr_t)&set_ups[INDEX_##open] },
#define TESTS(open, close, least, alone, most) \
	TEST(each_command, open) \
	TEST(each_heap_allocation, open) \
	TEST(each_mapping, open) \
	TEST(each_library_call, open)

int main(void)
{
	const struct CMUnitTest tests[] = {
		EACH(TESTS) cmocka_unit_test_teardown(each_status, end),
		cmocka_unit_test_teardown(open_refused, end),
		cmocka_unit_test_teardown(memlock_limit, end)
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
