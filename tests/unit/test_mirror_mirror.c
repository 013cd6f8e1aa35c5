/* unit/test_mirror_mirror.c - links and own addresses, from made-up messages and a real kernel
 *
 * Reports are written down as text: "+link 5 eth0 up carrier mtu 1500", "-addr 10.0.0.1".
 */

#include "../test.h"

#include <arpa/inet.h>
#include <linux/if_addr.h>
#include <linux/rtnetlink.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../lib/base/hot.h"
#include "../../lib/mirror/mirror.h"

static char said[1 << 16];
static struct mirror *mirror;

__attribute__((format(printf, 1, 2))) static void say(const char *fmt, ...)
{
	size_t at = strlen(said);
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(said + at, sizeof(said) - at, fmt, ap);
	va_end(ap);
}

static void on_link(void *arg, const struct mirror_link *l, bool gone)
{
	(void)arg;
	say("%clink %d %s%s%s mtu %u mac %02x; ", gone ? '-' : '+', l->ifindex, l->name,
	    l->up ? " up" : "", l->carrier ? " carrier" : "", l->mtu, l->mac[5]);
}

static void on_addr(void *arg, uint8_t family, const uint8_t addr[16], bool added)
{
	char text[INET6_ADDRSTRLEN];

	(void)arg;
	inet_ntop(family == 4 ? AF_INET : AF_INET6, addr, text, sizeof(text));
	say("%caddr %s; ", added ? '+' : '-', text);
}

static const struct mirror_ops ops = { NULL, on_link, on_addr };

static void assert_said(const char *expected)
{
	if (strcmp(said, expected) != 0)
		fail_msg("said \"%s\", expected \"%s\"", said, expected);
	*said = '\0';
}

/* ---- messages ---- */

union message {
	struct nlmsghdr head;
	uint8_t bytes[512];
};

static void begin(union message *m, uint16_t type, size_t payload)
{
	memset(m, 0, sizeof(*m));
	m->head.nlmsg_type = type;
	m->head.nlmsg_len = (uint32_t)NLMSG_LENGTH(payload);
}

static void attr(union message *m, uint16_t type, const void *value, size_t n)
{
	struct rtattr *a = (void *)(m->bytes + NLMSG_ALIGN(m->head.nlmsg_len));

	a->rta_type = type;
	a->rta_len = (uint16_t)RTA_LENGTH(n);
	memcpy(RTA_DATA(a), value, n);
	m->head.nlmsg_len =
		(uint32_t)(NLMSG_ALIGN(m->head.nlmsg_len) + RTA_ALIGN(a->rta_len));
}

static void send_it(const union message *m)
{
	mirror_feed(mirror, m, m->head.nlmsg_len);
}

static void link_head(union message *m, uint16_t type, int ifindex, unsigned flags)
{
	struct ifinfomsg *ifi = NLMSG_DATA(&m->head);

	begin(m, type, sizeof(*ifi));
	ifi->ifi_index = ifindex;
	ifi->ifi_flags = flags;
}

static void link_message(union message *m, int ifindex, const char *name, uint32_t mtu,
			 bool up)
{
	static const uint8_t mac[6] = { 2, 0, 0, 0, 0, 0x77 };
	uint8_t carrier = up;

	link_head(m, RTM_NEWLINK, ifindex, up ? IFF_UP : 0);
	attr(m, IFLA_IFNAME, name, strlen(name) + 1);
	attr(m, IFLA_ADDRESS, mac, sizeof(mac));
	attr(m, IFLA_MTU, &mtu, sizeof(mtu));
	attr(m, IFLA_CARRIER, &carrier, sizeof(carrier));
}

static void addr_message(union message *m, uint16_t type, int ifindex, const char *text,
			 uint8_t len, const char *broadcast)
{
	struct ifaddrmsg *ifa = NLMSG_DATA(&m->head);
	uint8_t addr[16];
	bool six = strchr(text, ':');

	begin(m, type, sizeof(*ifa));
	ifa->ifa_family = six ? AF_INET6 : AF_INET;
	ifa->ifa_prefixlen = len;
	ifa->ifa_index = (uint32_t)ifindex;
	inet_pton(ifa->ifa_family, text, addr);
	attr(m, IFA_ADDRESS, addr, six ? 16 : 4);
	if (!six)
		attr(m, IFA_LOCAL, addr, 4);
	if (broadcast) {
		inet_pton(AF_INET, broadcast, addr);
		attr(m, IFA_BROADCAST, addr, 4);
	}
}

static void send_addr(uint16_t type, int ifindex, const char *text, uint8_t len)
{
	union message m;

	addr_message(&m, type, ifindex, text, len, NULL);
	send_it(&m);
}

static bool has(const char *text)
{
	uint8_t addr[16] = { 0 }, family = strchr(text, ':') ? 6 : 4;

	inet_pton(family == 4 ? AF_INET : AF_INET6, text, addr);
	return mirror_addr_has(mirror, family, addr);
}

static int empty(void **state)
{
	(void)state;
	*said = '\0';
	return mirror_new(&ops, &mirror);
}

static int closed(void **state)
{
	(void)state;
	mirror_close(mirror);
	return 0;
}

/* ---- made-up messages ---- */

static void links_are_told_once_and_when_they_change(void **state)
{
	union message m;

	(void)state;
	link_message(&m, 5, "eth0", 1500, true);
	send_it(&m);
	assert_said("+link 5 eth0 up carrier mtu 1500 mac 77; ");
	send_it(&m);
	assert_said("");
	link_message(&m, 5, "eth0", 9000, true);
	send_it(&m);
	assert_said("+link 5 eth0 up carrier mtu 9000 mac 77; ");
	link_message(&m, 5, "wan", 9000, false);
	send_it(&m);
	assert_said("+link 5 wan mtu 9000 mac 77; ");
	assert_non_null(mirror_link_by_name(mirror, "wan"));
	assert_null(mirror_link_by_name(mirror, "eth0"));
	link_head(&m, RTM_DELLINK, 5, 0);
	send_it(&m);
	assert_said("-link 5 wan mtu 9000 mac 77; ");
	send_it(&m);
	assert_said("");
}

/* The kernel may leave out what a message is not about. */
static void what_a_message_leaves_out_stays(void **state)
{
	union message m;

	(void)state;
	link_message(&m, 5, "eth0", 1500, true);
	send_it(&m);
	assert_said("+link 5 eth0 up carrier mtu 1500 mac 77; ");
	link_head(&m, RTM_NEWLINK, 5, IFF_UP);
	send_it(&m);
	assert_said("");
	link_head(&m, RTM_NEWLINK, 5, 0);
	send_it(&m);
	assert_said("+link 5 eth0 carrier mtu 1500 mac 77; ");
}

static void links_of_other_families_are_not_links(void **state)
{
	struct ifinfomsg *ifi;
	union message m;

	(void)state;
	link_message(&m, 5, "eth0", 1500, true);
	ifi = NLMSG_DATA(&m.head);
	ifi->ifi_family = AF_BRIDGE;
	send_it(&m);
	assert_said("");
}

static void an_address_is_told_once_however_many_have_it(void **state)
{
	(void)state;
	send_addr(RTM_NEWADDR, 1, "10.0.0.1", 32);
	assert_said("+addr 10.0.0.1; ");
	send_addr(RTM_NEWADDR, 2, "10.0.0.1", 32);
	send_addr(RTM_NEWADDR, 2, "10.0.0.1", 32);
	send_addr(RTM_DELADDR, 1, "10.0.0.1", 32);
	assert_said("");
	assert_true(has("10.0.0.1"));
	send_addr(RTM_DELADDR, 2, "10.0.0.1", 32);
	assert_said("-addr 10.0.0.1; ");
	assert_false(has("10.0.0.1"));
	send_addr(RTM_DELADDR, 2, "10.0.0.1", 32);
	assert_said("");
}

static void a_network_has_broadcast_and_anycast_addresses(void **state)
{
	static const struct {
		const char *text;
		uint8_t len;
		const char *expected;
	} rows[] = {
		{ "10.0.0.1", 24, "+addr 10.0.0.1; +addr 10.0.0.255; " },
		{ "10.1.2.3", 9, "+addr 10.1.2.3; +addr 10.127.255.255; " },
		{ "10.2.0.1", 30, "+addr 10.2.0.1; +addr 10.2.0.3; " },
		{ "10.3.0.0", 31, "+addr 10.3.0.0; " },
		{ "10.4.0.1", 32, "+addr 10.4.0.1; " },
		{ "2001:db8::5", 64, "+addr 2001:db8::5; +addr 2001:db8::; " },
		{ "2001:db8:1:2:3::5", 61,
		  "+addr 2001:db8:1:2:3::5; +addr 2001:db8:1::; " },
		{ "2001:db8:2::", 64, "+addr 2001:db8:2::; " }, /* the same address */
		{ "2001:db8:3::1", 127, "+addr 2001:db8:3::1; " },
		{ "2001:db8:4::1", 128, "+addr 2001:db8:4::1; " },
		{ "::1", 64, "+addr ::1; " },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		send_addr(RTM_NEWADDR, 1, rows[i].text, rows[i].len);
		assert_said(rows[i].expected);
	}
}

static void a_broadcast_address_that_was_set_counts_too(void **state)
{
	union message m;

	(void)state;
	addr_message(&m, RTM_NEWADDR, 1, "10.0.0.1", 24, "10.0.0.0");
	send_it(&m);
	assert_said("+addr 10.0.0.1; +addr 10.0.0.0; +addr 10.0.0.255; ");
}

static void count_addr(void *arg, uint8_t family, const uint8_t addr[16])
{
	unsigned *n = arg;

	assert_true(mirror_addr_has(mirror, family, addr));
	++*n;
}

static void each_address_is_listed_once(void **state)
{
	unsigned n = 0;

	(void)state;
	send_addr(RTM_NEWADDR, 1, "10.0.0.1", 24);
	send_addr(RTM_NEWADDR, 2, "10.0.0.1", 24);
	send_addr(RTM_NEWADDR, 1, "10.0.0.2", 24);
	mirror_addr_each(mirror, count_addr, &n);
	assert_int_equal(n, 3); /* and their broadcast address */
}

/* Cut off anywhere, with any length in the header: nothing is read that is not there (the
 * sanitizers watch). */
static void messages_cut_short_do_no_harm(void **state)
{
	union message m, cut;

	(void)state;
	for (int kind = 0; kind < 3; kind++) {
		if (kind == 0)
			link_message(&m, 5, "eth0", 1500, true);
		else
			addr_message(&m, RTM_NEWADDR, 1,
				     kind == 1 ? "10.0.0.1" : "2001:db8::1", 24, NULL);
		for (size_t n = 0; n <= m.head.nlmsg_len; n++) {
			uint8_t *exact = malloc((n + 4) & ~(size_t)3);

			cut = m;
			cut.head.nlmsg_len = (uint32_t)n;
			memcpy(exact, &cut, n);
			mirror_feed(mirror, exact, n);
			memcpy(exact, &m, n);
			mirror_feed(mirror, exact, n);
			free(exact);
		}
	}
}

static void attributes_of_wrong_length_are_passed_over(void **state)
{
	static const uint8_t long_name[40] = "a-name-of-more-than-fifteen-characters";
	union message m;
	uint8_t one = 1;

	(void)state;
	link_head(&m, RTM_NEWLINK, 5, IFF_UP);
	attr(&m, IFLA_IFNAME, long_name, sizeof(long_name));
	attr(&m, IFLA_ADDRESS, &one, 1);
	attr(&m, IFLA_MTU, &one, 1);
	attr(&m, IFLA_CARRIER, long_name, 4);
	send_it(&m);
	assert_said("+link 5 a-name-of-more- up mtu 0 mac 00; ");
	begin(&m, RTM_NEWADDR, sizeof(struct ifaddrmsg));
	((struct ifaddrmsg *)NLMSG_DATA(&m.head))->ifa_family = AF_INET;
	attr(&m, IFA_LOCAL, long_name, 16);
	send_it(&m);
	assert_said("");
}

/* ---- a real kernel ---- */

static int opened(void **state)
{
	struct err err = { "" };

	*state = NULL;
	*said = '\0';
	if (unshare(CLONE_NEWNET) || system("ip link set lo up"))
		return -1;
	return mirror_open(&ops, &err, &mirror);
}

static void follow_until(bool (*done)(void))
{
	for (int i = 0; i < 500 && !done(); i++) {
		struct pollfd fd = { .fd = mirror_fd(mirror), .events = POLLIN };

		poll(&fd, 1, 10);
		assert_int_equal(mirror_process(mirror), 0);
	}
	assert_true(done());
}

static bool has_all(void)
{
	return has("10.0.0.1") && has("10.0.0.255") && has("2001:db8::1") &&
	       mirror_link_by_name(mirror, "eth0") &&
	       mirror_link_by_name(mirror, "eth0")->carrier;
}

static bool has_none(void)
{
	return !has("10.0.0.1") && !has("10.0.0.255") && !has("2001:db8::1") &&
	       !mirror_link_by_name(mirror, "eth0");
}

static void it_follows_the_kernel(void **state)
{
	(void)state;
	assert_true(has("127.0.0.1") && has("127.255.255.255") && has("::1"));
	assert_int_equal(
		system("ip link add eth0 type veth peer name p && ip link set p up &&"
		       "ip link set eth0 up && ip addr add 10.0.0.1/24 dev eth0 &&"
		       "ip addr add 2001:db8::1/64 dev eth0 nodad"),
		0);
	follow_until(has_all);
	assert_int_equal(system("ip link del eth0"), 0);
	follow_until(has_none);
	assert_int_equal(mirror_overruns(mirror), 0);
}

static bool broadcast_stays(void)
{
	return !has("10.0.0.1") && has("10.0.0.2") && has("10.0.0.255");
}

static void a_broadcast_address_outlives_one_of_its_two(void **state)
{
	(void)state;
	assert_int_equal(
		system("ip addr add 10.0.0.1/24 dev lo && ip addr add 10.0.0.2/24 dev lo &&"
		       "sysctl -qw net.ipv4.conf.lo.promote_secondaries=1"),
		0);
	assert_int_equal(mirror_process(mirror), 0);
	assert_true(has("10.0.0.1") && has("10.0.0.2") && has("10.0.0.255"));
	assert_int_equal(system("ip addr del 10.0.0.1/24 dev lo"), 0);
	follow_until(broadcast_stays);
}

static bool calm(void)
{
	return mirror_overruns(mirror) > 0 && has("10.9.9.9") && !has("10.0.0.1");
}

/* More changes than the socket holds, while nobody reads: what was lost is asked for. */
static void an_overrun_is_made_good(void **state)
{
	FILE *batch = popen("ip -batch -", "w");

	(void)state;
	assert_non_null(batch);
	fputs("link add eth0 type veth peer name p\nlink set eth0 up\n"
	      "addr add 10.0.0.1/24 dev eth0\n",
	      batch);
	for (int i = 0; i < 10000; i++)
		fprintf(batch, "link set eth0 mtu %d\n", 1400 + i % 2);
	fputs("addr del 10.0.0.1/24 dev eth0\naddr add 10.9.9.9/32 dev eth0\n", batch);
	assert_int_equal(pclose(batch), 0);
	follow_until(calm);
}

/* Links come and go while everything is asked for, so that dumps are interrupted. */
static void a_dump_may_be_interrupted(void **state)
{
	pid_t child;
	int status;

	(void)state;
	child = fork();
	if (!child)
		_exit(system("for i in $(seq 60); do echo link add v$i type veth peer name p$i; "
			     "done | ip -batch - && "
			     "for i in $(seq 200); do echo link add x type veth peer name y; "
			     "echo addr add 10.7.7.7/32 dev x; echo link del x; done |"
			     "ip -batch -") != 0);
	while (waitpid(child, &status, WNOHANG) == 0)
		if (mirror_process(mirror) < 0)
			usleep(1000); /* given up for now: asked again at the next call */
	assert_int_equal(status, 0);
	assert_int_equal(mirror_process(mirror), 0);
	assert_non_null(mirror_link_by_name(mirror, "v60"));
	assert_null(mirror_link_by_name(mirror, "x"));
	assert_false(has("10.7.7.7"));
}

#define made_up(f) cmocka_unit_test_setup_teardown(f, empty, closed)
#define real(f)	   cmocka_unit_test_setup_teardown(f, opened, closed)
static const struct CMUnitTest tests[] = {
	made_up(links_are_told_once_and_when_they_change),
	made_up(what_a_message_leaves_out_stays),
	made_up(links_of_other_families_are_not_links),
	made_up(an_address_is_told_once_however_many_have_it),
	made_up(a_network_has_broadcast_and_anycast_addresses),
	made_up(a_broadcast_address_that_was_set_counts_too),
	made_up(each_address_is_listed_once),
	made_up(messages_cut_short_do_no_harm),
	made_up(attributes_of_wrong_length_are_passed_over),
	real(it_follows_the_kernel),
	real(a_broadcast_address_outlives_one_of_its_two),
	real(an_overrun_is_made_good),
	real(a_dump_may_be_interrupted),
};

int main(void)
{
	return cmocka_run_group_tests(tests, NULL, NULL);
}
