/* unit/test_place_near.c - memory on a node, and threads on a CPU, of the machine that runs this */

#include "../test.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <numaif.h>
#include <sched.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../lib/base/hot.h"
#include "../../lib/place/huge.h"
#include "../../lib/place/near.h"
#include "../../lib/place/pin.h"
#include "../../lib/place/topo.h"

static int policy(unsigned long nodes[])
{
	int mode = -1;

	memset(nodes, 0, PLACE_NODES_MAX / 8);
	assert_int_equal(get_mempolicy(&mode, nodes, PLACE_NODES_MAX, NULL, 0), 0);
	return mode;
}

/* The node that a page comes from which is touched now. */
static int node_of_a_new_page(void)
{
	char *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
		       -1, 0);
	int node;

	assert_ptr_not_equal(p, MAP_FAILED);
	*(volatile char *)p = 1;
	node = place_near_node(p);
	munmap(p, 4096);
	return node;
}

static void memory_comes_from_the_node_that_is_asked_for(void **state)
{
	unsigned long nodes[PLACE_NODES_MAX / 64];
	struct place_near was;

	(void)state;
	place_near_begin(0, &was);
	assert_true(was.changed);
	assert_int_equal(policy(nodes), MPOL_PREFERRED);
	assert_int_equal(nodes[0], 1);
	assert_int_equal(node_of_a_new_page(), 0);
	place_near_end(&was);
	assert_int_equal(policy(nodes), MPOL_DEFAULT);
}

/* A policy that numactl or the unit gave it comes back. */
static void the_policy_before_comes_back(void **state)
{
	unsigned long node0 = 1, nodes[PLACE_NODES_MAX / 64];
	struct place_near was;

	(void)state;
	assert_int_equal(set_mempolicy(MPOL_BIND, &node0, 2), 0);
	place_near_begin(0, &was);
	assert_int_equal(policy(nodes), MPOL_PREFERRED);
	place_near_end(&was);
	assert_int_equal(policy(nodes), MPOL_BIND);
	assert_int_equal(nodes[0], 1);
	assert_int_equal(set_mempolicy(MPOL_DEFAULT, NULL, 0), 0);
}

static void a_node_that_is_not_there_is_no_failure(void **state)
{
	static const int absent[] = {
		-1, 63, 700, PLACE_NODES_MAX - 1, PLACE_NODES_MAX, 1 << 30, INT32_MIN
	};
	unsigned long nodes[PLACE_NODES_MAX / 64];
	struct place_near was;
	size_t page;
	void *p;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(absent); i++) {
		place_near_begin(absent[i], &was);
		assert_false(was.changed);
		assert_int_equal(node_of_a_new_page(), 0);
		place_near_end(&was);
		assert_int_equal(policy(nodes), MPOL_DEFAULT);
		p = place_huge_map(8192, absent[i], &page);
		assert_non_null(p);
		assert_int_equal(place_near_node(p), 0);
		place_huge_unmap(p, 8192, page);
	}
}

static void of_no_memory_there_is_no_node(void **state)
{
	(void)state;
	assert_int_equal(place_near_node(NULL), -1);
	assert_int_equal(place_near_node((void *)16), -1);
}

/* ---- threads ---- */

static void *where_am_i(void *arg)
{
	assert_int_equal(sched_getaffinity(0, sizeof(cpu_set_t), arg), 0);
	return NULL;
}

static void a_thread_is_pinned_from_the_start(void **state)
{
	cpu_set_t all, is;
	pthread_t thread;

	(void)state;
	assert_int_equal(sched_getaffinity(0, sizeof(all), &all), 0);
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		if (!CPU_ISSET(cpu, &all))
			continue;
		assert_int_equal(place_thread_start(cpu, where_am_i, &is, &thread), 0);
		pthread_join(thread, NULL);
		assert_int_equal(CPU_COUNT(&is), 1);
		assert_true(CPU_ISSET(cpu, &is));
	}
	assert_int_equal(place_thread_start(-1, where_am_i, &is, &thread), 0);
	pthread_join(thread, NULL);
	assert_true(CPU_EQUAL(&is, &all));
}

static void a_cpu_that_is_not_there_is_refused(void **state)
{
	pthread_t thread;
	cpu_set_t is;

	(void)state;
	assert_int_equal(place_thread_start(CPU_SETSIZE - 1, where_am_i, &is, &thread),
			 -EINVAL);
	assert_int_equal(place_thread_start(CPU_SETSIZE, where_am_i, &is, &thread),
			 -EINVAL);
}

/* ---- where the host forbids it ---- */

/* Return: what @fn returned, 0 to 255, in a process that gets EPERM for that system call. */
static int forbidden(unsigned call, int (*fn)(void))
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { ARRAY_LEN(filter), filter };
	int status;
	pid_t child = fork();

	assert_true(child >= 0);
	if (!child) {
		if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
		    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
			_exit(99);
		_exit(fn());
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static int limits_are_the_start(void)
{
	struct place_limits l;

	if (place_limits_read(&l) < 0)
		return 1;
	return !CPU_COUNT(&l.start) || !CPU_EQUAL(&l.cpuset, &l.start);
}

static int limits_fail(void)
{
	struct place_limits l;

	return -place_limits_read(&l);
}

static int pinning_fails(void)
{
	pthread_t thread;
	cpu_set_t is;

	return -place_thread_start(0, where_am_i, &is, &thread);
}

static int memory_is_as_before(void)
{
	struct place_near was;

	place_near_begin(0, &was);
	place_near_end(&was);
	return was.changed || node_of_a_new_page() > 0;
}

static void what_is_forbidden_is_said_or_done_without(void **state)
{
	(void)state;
	assert_int_equal(forbidden(SYS_sched_setaffinity, limits_are_the_start), 0);
	assert_int_equal(forbidden(SYS_sched_setaffinity, pinning_fails), EPERM);
	assert_int_equal(forbidden(SYS_sched_getaffinity, limits_fail), EPERM);
	assert_int_equal(forbidden(SYS_set_mempolicy, memory_is_as_before), 0);
	assert_int_equal(forbidden(SYS_get_mempolicy, memory_is_as_before), 0);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(memory_comes_from_the_node_that_is_asked_for),
	cmocka_unit_test(the_policy_before_comes_back),
	cmocka_unit_test(a_node_that_is_not_there_is_no_failure),
	cmocka_unit_test(of_no_memory_there_is_no_node),
	cmocka_unit_test(a_thread_is_pinned_from_the_start),
	cmocka_unit_test(a_cpu_that_is_not_there_is_refused),
	cmocka_unit_test(what_is_forbidden_is_said_or_done_without),
};

int main(void)
{
	return cmocka_run_group_tests(tests, NULL, NULL);
}
