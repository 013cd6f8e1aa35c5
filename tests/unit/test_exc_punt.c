/* unit/test_exc_punt.c - frames of the workers reach the kernel, by injection and by TAP
 *
 * In a network namespace of its own. What the kernel got is read from a packet socket.
 */

#include "../test.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/capability.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../lib/base/hot.h"
#include "../../lib/base/time.h"
#include "../../lib/exc/frame.h"
#include "../../lib/exc/punt.h"

enum { ETH_P_TEST = 0x88b5 /* IEEE 802: local experiments */, FRAME = 100 };

static const uint8_t port_mac[6] = { 2, 0, 0, 0, 0, 1 };
static struct ring ring;
static struct exc *exc;
static struct err warn;

static int in_own_namespace(void **state)
{
	(void)state;
	if (unshare(CLONE_NEWNET))
		return -1;
	return system("ip link add eth0 type veth peer name peer &&"
		      "ip link set peer up && ip link set eth0 address "
		      "02:00:00:00:00:01 up && ip link set lo up");
}

static void open_exc(uint32_t rate)
{
	struct ring *rings[] = { &ring };
	struct exc_conf conf = {
		.ring = rings, .n_rings = 1, .rate_pps = rate, .burst = 10
	};

	assert_int_equal(ring_init(&ring, 64, 4096), 0);
	warn.text[0] = '\0';
	assert_int_equal(exc_new(&conf, &warn, &exc), 0);
}

static int set_port(const char *netdev, struct err *err)
{
	struct exc_port is = { .ifindex = (int)if_nametoindex(netdev), .mtu = 1500 };

	memcpy(is.mac, port_mac, sizeof(is.mac));
	return exc_set_port(exc, 0, &is, err);
}

static void close_exc(void)
{
	exc_stop(exc);
	exc_free(exc);
	ring_fini(&ring);
}

static void push(unsigned reason, uint16_t len)
{
	struct exc_frame *f = ring_slot(&ring);
	uint16_t type = htons(ETH_P_TEST);

	assert_non_null(f);
	f->port = 0;
	f->reason = (uint8_t)reason;
	f->len = len;
	memset(f->data, 0x5a, len);
	memcpy(f->data, port_mac, 6);
	memcpy(f->data + 12, &type, sizeof(type));
	ring_push(&ring);
}

/* What the kernel receives on that interface. */
static int listen_on(const char *netdev)
{
	int fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, htons(ETH_P_TEST));
	struct sockaddr_ll addr = { .sll_family = AF_PACKET,
				    .sll_protocol = htons(ETH_P_TEST),
				    .sll_ifindex = (int)if_nametoindex(netdev) };
	struct timeval tv = { .tv_sec = 5 };

	assert_true(fd >= 0);
	assert_int_equal(bind(fd, (const void *)&addr, sizeof(addr)), 0);
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof(tv));
	return fd;
}

static void assert_arrives(int fd, uint16_t len)
{
	uint8_t frame[4096];

	assert_int_equal(recv(fd, frame, sizeof(frame), 0), len);
	assert_memory_equal(frame, port_mac, 6);
	assert_int_equal(frame[len - 1], 0x5a);
}

static uint64_t count(const uint64_t *counter)
{
	return __atomic_load_n(counter, __ATOMIC_RELAXED);
}

static void frames_arrive_on_the_real_interface(void **state)
{
	int fd = listen_on("eth0");

	(void)state;
	open_exc(0);
	assert_string_equal(warn.text, "");
	assert_true(exc_injects(exc));
	assert_int_equal(set_port("eth0", NULL), 0);
	push(PKT_PUNT_TTL, FRAME);
	push(PKT_PUNT_LOCAL, 60);
	assert_int_equal(exc_start(exc), 0);
	assert_arrives(fd, FRAME);
	assert_arrives(fd, 60);
	exc_stop(exc);
	assert_int_equal(count(&exc_port_count(exc, 0)->delivered[PKT_PUNT_TTL]), 1);
	assert_int_equal(count(&exc_port_count(exc, 0)->delivered[PKT_PUNT_LOCAL]), 1);
	close_exc();
	close(fd);
}

static void each_reason_has_a_policer(void **state)
{
	const struct exc_port_count *c;

	(void)state;
	open_exc(1);
	set_port("eth0", NULL);
	for (int i = 0; i < 30; i++)
		push(PKT_PUNT_TTL, FRAME);
	push(PKT_PUNT_MTU, FRAME);
	assert_int_equal(exc_start(exc), 0);
	exc_stop(exc); /* after what is in the ring */
	c = exc_port_count(exc, 0);
	assert_in_range(c->delivered[PKT_PUNT_TTL], 10, 11);
	assert_int_equal(c->delivered[PKT_PUNT_TTL] + c->policed[PKT_PUNT_TTL], 30);
	assert_int_equal(c->delivered[PKT_PUNT_MTU], 1);
	close_exc();
}

static void the_limit_can_be_changed(void **state)
{
	const struct exc_port_count *c;

	(void)state;
	open_exc(1);
	set_port("eth0", NULL);
	for (int i = 0; i < 30; i++)
		push(PKT_PUNT_TTL, FRAME);
	exc_set_rate(exc, 1, 20);
	assert_int_equal(exc_start(exc), 0);
	exc_stop(exc);
	c = exc_port_count(exc, 0);
	assert_in_range(c->delivered[PKT_PUNT_TTL], 20, 21);
	close_exc();
}

static void what_cannot_be_delivered_is_counted(void **state)
{
	struct exc_port gone = { .ifindex = 0 };
	const struct exc_port_count *c;

	(void)state;
	open_exc(0);
	set_port("eth0", NULL);
	push(PKT_PUNT_TTL, 4000); /* more than can be injected */
	assert_int_equal(exc_start(exc), 0);
	exc_stop(exc);
	c = exc_port_count(exc, 0);
	assert_int_equal(c->failed[PKT_PUNT_TTL], 1);
	assert_int_equal(exc_set_port(exc, 0, &gone, NULL), 0);
	close_exc();

	open_exc(0);
	push(PKT_PUNT_TTL, FRAME); /* no port was ever set */
	assert_int_equal(exc_start(exc), 0);
	exc_stop(exc);
	assert_int_equal(exc_port_count(exc, 0)->failed[PKT_PUNT_TTL], 1);
	close_exc();
}

/* ---- without the privilege to inject ---- */

/* Runs @fn in a child of this process that may do all but @caps. */
static void without_caps(uint64_t caps, void (*fn)(void))
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2];
	pid_t child = fork();
	int status;

	if (!child) {
		syscall(SYS_capget, &head, data);
		for (int i = 0; i < 2; i++)
			data[i].effective = data[i].permitted &=
				~(uint32_t)(caps >> (32 * i));
		if (syscall(SYS_capset, &head, data))
			_exit(2);
		fn();
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

#define CAP(n) (UINT64_C(1) << (n))
#define NO_BPF (CAP(CAP_BPF) | CAP(CAP_SYS_ADMIN) | CAP(CAP_PERFMON))

/* In the child; a failure is its exit status. */
static void must(bool what, int line)
{
	if (what)
		return;
	fprintf(stderr, "test_exc_punt.c:%d: not so; warning \"%s\"\n", line, warn.text);
	_exit(1);
}
#define MUST(what) must(what, __LINE__)

static void by_tap(void)
{
	struct err err = { "" };
	int fd;

	open_exc(0);
	MUST(strstr(warn.text, "not permitted") && !exc_injects(exc));
	MUST(set_port("eth0", &err) == 0);
	fd = listen_on("mlx5fwd0");
	push(PKT_PUNT_TTL, FRAME);
	MUST(exc_start(exc) == 0);
	assert_arrives(fd, FRAME);
	exc_stop(exc);
	MUST(exc_port_count(exc, 0)->delivered[PKT_PUNT_TTL] == 1);
	close_exc();
	MUST(!if_nametoindex("mlx5fwd0")); /* gone with its descriptor */
}

static void a_tap_takes_the_place_of_injection(void **state)
{
	(void)state;
	without_caps(NO_BPF, by_tap);
}

static void by_nothing(void)
{
	struct err err = { "" };

	open_exc(0);
	MUST(!exc_injects(exc));
	MUST(set_port("eth0", &err) == -EPERM && strstr(err.text, "TAP device"));
	err.text[0] = '\0';
	MUST(set_port("eth0", &err) == 0 && !err.text[0]); /* said once */
	push(PKT_PUNT_TTL, FRAME);
	MUST(exc_start(exc) == 0);
	exc_stop(exc);
	MUST(exc_port_count(exc, 0)->failed[PKT_PUNT_TTL] == 1);
	close_exc();
}

static void without_either_punts_are_counted_as_failed(void **state)
{
	(void)state;
	without_caps(NO_BPF | CAP(CAP_NET_ADMIN), by_nothing);
}

static void there_are_not_more_rings_than_there_is_room_for(void **state)
{
	struct exc_conf conf = { .n_rings = EXC_WORKERS_MAX + 1 };
	struct exc *e = NULL;

	(void)state;
	assert_int_equal(exc_new(&conf, &warn, &e), -EINVAL);
	assert_null(e);
	exc_free(NULL);
	exc_stop(NULL);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(frames_arrive_on_the_real_interface),
	cmocka_unit_test(each_reason_has_a_policer),
	cmocka_unit_test(the_limit_can_be_changed),
	cmocka_unit_test(what_cannot_be_delivered_is_counted),
	cmocka_unit_test(a_tap_takes_the_place_of_injection),
	cmocka_unit_test(without_either_punts_are_counted_as_failed),
	cmocka_unit_test(there_are_not_more_rings_than_there_is_room_for),
};

int main(void)
{
	return cmocka_run_group_tests(tests, in_own_namespace, NULL);
}
