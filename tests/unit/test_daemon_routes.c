/* unit/test_daemon_routes.c - requests about routes, and batches of them */

#include "control_rig.h"

#include <time.h>
#include <unistd.h>

#include "../../lib/base/time.h"
#include "../../lib/ctl/proto.h"

/* ---- what is asked ---- */

#define TAGGED(vlan) \
	"{\"lladdr\":\"" MAC "\",\"dev\":\"eth0\"," vlan "\"weight\":1,\"flags\":[]}"

#define TAGGED_ROUTE \
	"{\"dst\":\"11.0.0.0/8\",\"nexthops\":[" TAGGED("") "," TAGGED("\"vlan\":1,") "," TAGGED( \
		"\"vlan\":4094,") "],\"protocol\":\"static\",\"metric\":0,\"flags\":[]}"

static void routes_are_added_shown_changed_and_deleted(void **state)
{
	static const struct {
		const char *line, *reply[4];
	} talk[] = {
		{ "route show\n", { OK } },
		{ "route add 10/8 7C-C2-55-BE-F3-C7 dev eth1\n", { OK } },
		{ "route show\n",
		  { "{\"dst\":\"10.0.0.0/8\",\"lladdr\":\"7c:c2:55:be:f3:c7\",\"dev\":\"eth1\","
		    "\"protocol\":\"static\",\"metric\":0,\"flags\":[]}",
		    OK } },
		{ "route replace 10/8 vlan 100 7c:c2:55:be:f3:c7 dev eth1\n", { OK } },
		{ "route add 11/8 nexthop " MAC " dev eth0 vlan 4094 nexthop " MAC
		  " dev eth0 vlan 1 nexthop " MAC " dev eth0\n",
		  { OK } },
		{ "route show\n",
		  { "{\"dst\":\"10.0.0.0/8\",\"lladdr\":\"7c:c2:55:be:f3:c7\",\"dev\":\"eth1\","
		    "\"vlan\":100,\"protocol\":\"static\",\"metric\":0,\"flags\":[]}",
		    TAGGED_ROUTE, OK } },
		{ "route del 11/8\n", { OK } },
		{ "route replace 10/8 blackhole metric 7\n", { OK } },
		{ "route add ::/0 unreachable\n", { OK } },
		{ "route add default prohibit\n", { OK } },
		{ "route show\n",
		  { "{\"dst\":\"0.0.0.0/0\",\"type\":\"prohibit\",\"protocol\":\"static\","
		    "\"metric\":0,\"flags\":[]}",
		    "{\"dst\":\"10.0.0.0/8\",\"type\":\"blackhole\",\"protocol\":\"static\","
		    "\"metric\":7,\"flags\":[]}",
		    "{\"dst\":\"::/0\",\"type\":\"unreachable\",\"protocol\":\"static\","
		    "\"metric\":0,\"flags\":[]}",
		    OK } },
		{ "route show default\n",
		  { "{\"dst\":\"0.0.0.0/0\",\"type\":\"prohibit\",\"protocol\":\"static\","
		    "\"metric\":0,\"flags\":[]}",
		    OK } },
		{ "route show match 10.1.1.1\n",
		  { "{\"dst\":\"0.0.0.0/0\",\"type\":\"prohibit\",\"protocol\":\"static\","
		    "\"metric\":0,\"flags\":[]}",
		    "{\"dst\":\"10.0.0.0/8\",\"type\":\"blackhole\",\"protocol\":\"static\","
		    "\"metric\":7,\"flags\":[]}",
		    OK } },
		{ "route show root ::/0\n",
		  { "{\"dst\":\"::/0\",\"type\":\"unreachable\",\"protocol\":\"static\","
		    "\"metric\":0,\"flags\":[]}",
		    OK } },
		{ "route show exact 10.0.0.0/9\n", { OK } },
		{ "route del 10.0.0.0/8\n", { OK } },
		{ "route del ::/0\n", { OK } },
		{ "route del 0/0\n", { OK } },
		{ "route del 0/0 --missing-ok\n", { OK } },
		{ "route show\n", { OK } },
	};
	int fd = dial();

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(talk); i++) {
		say(fd, talk[i].line);
		for (int k = 0; k < 4 && talk[i].reply[k]; k++)
			assert_string_equal(hear(fd), talk[i].reply[k]);
	}
	close(fd);
}

static const struct {
	const char *line, *code, *message;
} wrong[] = {
	{ "route add 10.0.0.1/8 " MAC " dev eth0", "EINVAL",
	  "route add: 10.0.0.1/8: bits are set past the prefix length, did you mean "
	  "10.0.0.0/8?" },
	{ "route add 10/33 " MAC " dev eth0", "EINVAL", "prefix length must be 0 to 32" },
	{ "route add ::/129 " MAC " dev eth0", "EINVAL",
	  "prefix length must be 0 to 128" },
	{ "route add 10/-1 " MAC " dev eth0", "EINVAL", "prefix length must be" },
	{ "route add 10/08 " MAC " dev eth0", "EINVAL", "prefix length must be" },
	{ "route add 10/8x " MAC " dev eth0", "EINVAL", "prefix length must be" },
	{ "route add ten/8 " MAC " dev eth0", "EINVAL", "not an IPv4 or IPv6 prefix" },
	{ "route add 10/8 " MAC, "EINVAL", "dev: which port? There are: eth0, eth1" },
	{ "route add 10/8 " MAC " dev eth9", "ENODEV",
	  "dev eth9: not a port of this router; there are: eth0, eth1" },
	{ "route add 10/8 " MAC " dev", "EINVAL", "dev: its value is missing" },
	{ "route add 10/8 " MAC " dev eth0 dev eth1", "EINVAL", "dev: given twice" },
	{ "route add 10/8 dev eth0", "EINVAL",
	  "where to? Give a MAC address, blackhole, unreachable or prohibit" },
	{ "route add 10/8 zz dev eth0", "EINVAL", "zz: not a MAC address, nor" },
	{ "route add 10/8 " MAC " " MAC " dev eth0", "EINVAL", "unexpected" },
	{ "route add 10/8 " MAC " blackhole", "EINVAL", "blackhole: unexpected" },
	{ "route add 10/8 blackhole dev eth0", "EINVAL",
	  "dev eth0: a blackhole route has none" },
	{ "route add 10/8 blackhole vlan 1", "EINVAL",
	  "vlan 1: a blackhole route has none" },
	{ "route add 10/8 " MAC " dev eth0 vlan", "EINVAL",
	  "vlan: its value is missing" },
	{ "route add 10/8 " MAC " dev eth0 vlan 0", "EINVAL",
	  "vlan 0: must be 1 to 4094" },
	{ "route add 10/8 " MAC " dev eth0 vlan 4095", "EINVAL", "must be 1 to 4094" },
	{ "route add 10/8 vlan 5 nexthop " MAC " dev eth0", "EINVAL",
	  "nexthop: unexpected" },
	{ "route add 10/8 via 10.0.0.1", "EOPNOTSUPP", "give the gateway's MAC address" },
	{ "route add 10/8 blackhole metric", "EINVAL", "metric: its value is missing" },
	{ "route add 10/8 blackhole metric -1", "EINVAL",
	  "metric -1: must be 0 to 4294967295" },
	{ "route add 10/8 blackhole metric 4294967296", "EINVAL", "must be 0 to" },
	{ "route add 10/8 01:00:5e:00:00:01 dev eth0", "EINVAL",
	  "a multicast address is no gateway" },
	{ "route add 10/8 ff:ff:ff:ff:ff:ff dev eth0", "EINVAL", "multicast" },
	{ "route add 10/8 00:00:00:00:00:00 dev eth0", "EINVAL",
	  "no gateway has this address" },
	{ "route add 10/8 02:00:00:00:00:01 dev eth0", "EINVAL",
	  "is port eth0's own address" },
	{ "route add 10/8", "EINVAL", "route add: 2 to 365 words must follow, not 1" },
	{ "route add 10/8 nexthop", "EINVAL", "nexthop: its MAC address is missing" },
	{ "route add 10/8 nexthop dev eth0 nexthop " MAC " dev eth1", "EINVAL",
	  "nexthop: its MAC address is missing" },
	{ "route add 10/8 " MAC " dev eth0 nexthop " MAC " dev eth1", "EINVAL",
	  "nexthop: unexpected" },
	{ "route add 10/8 blackhole nexthop " MAC " dev eth1", "EINVAL",
	  "nexthop: unexpected" },
	{ "route add 10/8 nexthop blackhole", "EINVAL", "blackhole: not a MAC address" },
	{ "route add 10/8 nexthop " MAC " dev eth0 " MAC, "EINVAL", "unexpected" },
	{ "route add 10/8 nexthop " MAC " dev eth0 nexthop " MAC, "EINVAL",
	  "dev: which port?" },
	{ "route add 10/8 nexthop " MAC " dev eth0 weight", "EINVAL",
	  "weight: its value is missing" },
	{ "route add 10/8 nexthop " MAC " dev eth0 weight 0", "EINVAL",
	  "weight 0: must be 1 to 65536" },
	{ "route add 10/8 nexthop " MAC " dev eth0 weight 65537", "EINVAL",
	  "weight 65537: must be 1 to 65536" },
	{ "route add 10/8 " MAC " dev eth0 weight 2", "EINVAL", "weight: unexpected" },
	{ "route del 10/8", "ESRCH", "route del 10/8: there is no such static route" },
	{ "route del 10/8 --missing", "EINVAL", "--missing: unexpected" },
	{ "route show within 10/8", "EINVAL",
	  "within: must be all, exact, root, match, proto" },
	{ "route show 10/8 x", "EINVAL", "x: must be all, exact, root" },
	{ "route show 10/99", "EINVAL", "prefix length" },
	{ "route show 10/8 11/8", "EINVAL", "11/8: one prefix is enough" },
	{ "route show root", "EINVAL", "root: what follows it is missing" },
	{ "route show dev", "EINVAL", "dev: what follows it is missing" },
	{ "route show dev eth9", "ENODEV", "dev eth9: not a port of this router" },
	{ "route show proto bgp", "EINVAL", "proto bgp: must be static or kernel" },
	{ "route show lladdr zz", "EINVAL", "lladdr zz: not a MAC address" },
	{ "route show type nexthop", "EINVAL", "type nexthop: must be blackhole" },
	{ "route show family 6", "EINVAL", "family 6: must be inet or inet6" },
	{ "route add 10/8 lladdr", "EINVAL", "lladdr: its value is missing" },
	{ "route add 10/8 lladdr prohibit", "EINVAL", "lladdr prohibit: not a MAC" },
	{ "route add 10/8 " MAC " lladdr " MAC " dev eth0", "EINVAL",
	  MAC ": unexpected" },
	{ "route add 10/8 blackhole proto bgp", "EINVAL",
	  "proto bgp: routes that are added are static" },
	{ "route flush", "EINVAL", "route flush: 1 to 12 words must follow, not 0" },
	{ "route flush everything", "EINVAL", "everything: must be all, exact" },
	{ "route append 10/8", "EINVAL", "route append: 2 to" },
	{ "begin restoring", "EINVAL", "begin restoring: must be restore" },
	{ "route get 10.0.0.0/8", "EINVAL", "not an IPv4 or IPv6 address" },
	{ "route get 10", "EINVAL", "not an IPv4 or IPv6 address" },
	{ "route frob", "ENOSYS", "route frob: unknown request" },
	{ "route", "ENOSYS", "route: unknown request" },
	{ "frob it", "ENOSYS", "frob it: unknown request" },
	{ "status now", "EINVAL", "status: 0 to 0 words must follow, not 1" },
	{ "port show eth9", "ENODEV", "port show eth9: not a port of this router" },
	{ "commit", "EINVAL", "commit: no batch of yours is open" },
	{ "abort", "EINVAL", "abort: no batch of yours is open" },
};

static void what_is_wrong_is_refused_with_its_reason(void **state)
{
	char expected[64];
	int fd = dial();

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
		const char *reply;

		say(fd, wrong[i].line);
		reply = ask(fd, "\n");
		snprintf(expected, sizeof(expected),
			 "{\"status\":\"error\",\"error\":{\"code\":\"%s\",",
			 wrong[i].code);
		assert_has(reply, expected);
		assert_has(reply, wrong[i].message);
	}
	assert_string_equal(ask(fd, "route show\n"), OK); /* nothing came of it */
	close(fd);
}

static void a_second_add_says_what_to_do_instead(void **state)
{
	int fd = dial();

	(void)state;
	assert_string_equal(ask(fd, "route add 10/8 blackhole\n"), OK);
	assert_string_equal(ask(fd, "route add 10/8 prohibit\n"),
			    "{\"status\":\"error\",\"error\":{\"code\":\"EEXIST\","
			    "\"message\":\"route add 10/8: exists already\","
			    "\"hint\":\"use \\\"route replace\\\"\"}}");
	assert_has(ask(fd, "route show\n"), "blackhole");
	assert_string_equal(hear(fd), OK);
	close(fd);
}

static void route_get_says_what_a_packet_meets(void **state)
{
	int fd = dial();

	(void)state;
	assert_string_equal(ask(fd, "route add 10/8 " MAC " dev eth1\n"), OK);
	assert_string_equal(ask(fd, "route add 10.1/16 blackhole\n"), OK);
	assert_string_equal(ask(fd, "route add 2001:db8::/32 unreachable\n"), OK);
	assert_string_equal(
		ask(fd, "route get 10.2.3.4\n"),
		"{\"dst\":\"10.2.3.4\",\"prefix\":\"10.0.0.0/8\",\"lladdr\":\"" MAC
		"\",\"dev\":\"eth1\",\"protocol\":\"static\",\"metric\":0,"
		"\"flags\":[],\"verdict\":\"forward\"}");
	assert_string_equal(hear(fd), OK);
	assert_has(ask(fd, "route get 10.1.3.4\n"),
		   "\"verdict\":\"drop\",\"reason\":\"blackhole\"");
	assert_string_equal(hear(fd), OK);
	assert_has(ask(fd, "route get 2001:db8::1\n"),
		   "\"verdict\":\"punt\",\"reason\":\"unreachable\"");
	assert_string_equal(hear(fd), OK);
	assert_string_equal(
		ask(fd, "route get 192.0.2.1\n"),
		"{\"dst\":\"192.0.2.1\",\"verdict\":\"punt\",\"reason\":\"no_route\"}");
	assert_string_equal(hear(fd), OK);
	close(fd);
}

static void route_get_knows_what_the_parser_and_the_port_say(void **state)
{
	static const struct {
		const char *words, *answer;
	} is[] = {
		{ "10.2.3.4 ttl 1", "\"verdict\":\"punt\",\"reason\":\"ttl\"" },
		{ "10.2.3.4 ttl 2", "\"verdict\":\"forward\"" },
		{ "10.2.3.4 from 127.0.0.1", "\"drop\",\"reason\":\"martian_source\"" },
		{ "127.0.0.1", "\"drop\",\"reason\":\"martian_destination\"" },
		{ "224.0.0.1", "\"punt\",\"reason\":\"multicast\"" },
		{ "255.255.255.255", "\"punt\",\"reason\":\"broadcast\"" },
		{ "fe80::1", "\"punt\",\"reason\":\"link_local\"" },
		{ "10.2.3.4 bytes 1500", "\"verdict\":\"forward\"" },
		{ "10.2.3.4 bytes 1501", "\"punt\",\"reason\":\"mtu\"" },
		{ "2001:db8::9 from 2001:db8:1::1 proto tcp sport 1 dport 80 iif eth1",
		  "\"verdict\":\"forward\"" },
		{ "2001:db8::9 from ::1", "\"drop\",\"reason\":\"martian_source\"" },
	};
	static const struct {
		const char *words, *error;
	} wrong_words[] = {
		{ "10.2.3.4 from ::1", "from ::1: not an IPv4 address" },
		{ "10.2.3.4 iif eth9", "iif eth9: not a port of this router" },
		{ "10.2.3.4 proto sctp", "proto sctp: must be tcp, udp or icmp" },
		{ "10.2.3.4 proto icmp sport 1", "only with proto tcp or udp" },
		{ "10.2.3.4 sport 65536", "sport 65536: must be 0 to 65535" },
		{ "10.2.3.4 bytes 39", "bytes 39: must be 40 to 65535" },
		{ "10.2.3.4 dport", "dport: its value is missing" },
		{ "10.2.3.4 tos 1", "tos: must be from, iif, proto" },
	};
	char line[200];
	int fd = dial();

	(void)state;
	assert_string_equal(ask(fd, "route add 10/8 " MAC " dev eth1\n"), OK);
	assert_string_equal(ask(fd, "route add 2001:db8::/32 " MAC " dev eth0\n"), OK);
	for (size_t i = 0; i < ARRAY_LEN(is); i++) {
		snprintf(line, sizeof(line), "route get %s\n", is[i].words);
		assert_has(ask(fd, line), is[i].answer);
		assert_string_equal(hear(fd), OK);
	}
	for (size_t i = 0; i < ARRAY_LEN(wrong_words); i++) {
		snprintf(line, sizeof(line), "route get %s\n", wrong_words[i].words);
		assert_has(ask(fd, line), wrong_words[i].error);
	}
	rig.router.port[1].link.carrier = false;
	assert_has(ask(fd, "route get 10.2.3.4\n"), "\"drop\",\"reason\":\"link_down\"");
	assert_string_equal(hear(fd), OK);
	rig.router.port[1].link.carrier = true;
	close(fd);
}

/* Each flow has one leg, the legs have flows by their weight, and one that is down has none. */
static void route_get_names_the_leg_of_a_flow(void **state)
{
	unsigned n[2] = { 0 };
	char line[200], first[1000];
	int fd = dial();

	(void)state;
	assert_string_equal(ask(fd, "route add 10/8 nexthop " MAC " dev eth0 nexthop " MAC
				    " dev eth1 weight 3\n"),
			    OK);
	for (unsigned port = 1000; port < 1400; port++) {
		const char *row;

		snprintf(
			line, sizeof(line),
			"route get 10.1.1.1 from 192.0.2.7 proto udp sport %u dport 53\n",
			port);
		snprintf(first, sizeof(first), "%s", ask(fd, line));
		assert_string_equal(hear(fd), OK);
		row = ask(fd, line);
		assert_string_equal(row, first);
		assert_has(row, "\"leg\":{\"lladdr\":\"" MAC "\",\"dev\":\"eth");
		n[strstr(row, "\"leg\":{\"lladdr\":\"" MAC "\",\"dev\":\"eth1\"") !=
		  NULL]++;
		assert_string_equal(hear(fd), OK);
	}
	assert_in_range(n[1], 2 * n[0], 5 * n[0]);
	rig.router.port[1].link.carrier = false;
	legs_follow(&rig.router);
	for (unsigned port = 1000; port < 1020; port++) {
		snprintf(line, sizeof(line),
			 "route get 10.1.1.1 from 192.0.2.7 sport %u\n", port);
		assert_has(ask(fd, line),
			   "\"leg\":{\"lladdr\":\"" MAC "\",\"dev\":\"eth0\"");
		assert_string_equal(hear(fd), OK);
	}
	rig.router.port[1].link.carrier = true;
	close(fd);
}

/* ---- batches ---- */

#define LEG(mac, dev, weight, flags) \
	"{\"lladdr\":\"" mac "\",\"dev\":\"" dev "\",\"weight\":" weight \
	",\"flags\":[" flags "]}"
#define TWO_LEGS(flags) \
	"\"nexthops\":[" LEG(MAC, "eth0", "1", "") "," LEG(MAC, "eth1", "3", flags) "]"

/* Two routes over the same legs have one group; a leg is down while its port is. */
static void a_route_has_several_next_hops(void **state)
{
	static const char legs[] = "nexthop " MAC " dev eth0 nexthop " MAC
				   " dev eth1 weight 3";
	static const char kinds[] = "\"protocol\":\"static\",\"metric\":7,\"flags\":[]";
	struct fib_sizes s;
	char line[300];
	int fd = dial();

	(void)state;
	snprintf(line, sizeof(line), "route add 10/8 %s metric 7\n", legs);
	assert_string_equal(ask(fd, line), OK);
	snprintf(line, sizeof(line), "route add 11/8 metric 7 %s\n", legs);
	assert_string_equal(ask(fd, line), OK);
	snprintf(line, sizeof(line), "{\"dst\":\"10.0.0.0/8\"," TWO_LEGS("") ",%s}",
		 kinds);
	assert_string_equal(ask(fd, "route show 10/8\n"), line);
	assert_string_equal(hear(fd), OK);
	fib_sizes(rig.router.fib, &s);
	assert_int_equal(s.groups, 1);
	assert_has(ask(fd, "route get 11.0.0.1\n"), "\"verdict\":\"forward\"");
	assert_string_equal(hear(fd), OK);
	rig.router.port[1].link.carrier = false;
	legs_follow(&rig.router);
	assert_has(ask(fd, "route show 11/8\n"), TWO_LEGS("\"linkdown\""));
	assert_string_equal(hear(fd), OK);
	assert_has(ask(fd, "route get 11.0.0.1\n"), "\"verdict\":\"forward\"");
	assert_string_equal(hear(fd), OK);
	rig.router.port[0].link.up = false;
	legs_follow(&rig.router);
	assert_has(ask(fd, "route get 11.0.0.1\n"), "\"reason\":\"no_route\"");
	assert_string_equal(hear(fd), OK);
	rig.router.port[0].link.up = rig.router.port[1].link.carrier = true;
	legs_follow(&rig.router);
	assert_has(ask(fd, "route show 11/8\n"), TWO_LEGS(""));
	assert_string_equal(hear(fd), OK);
	assert_string_equal(ask(fd, "route replace 10/8 nexthop " MAC " dev eth1\n"), OK);
	assert_has(ask(fd, "route show 10/8\n"),
		   "\"lladdr\":\"" MAC "\",\"dev\":\"eth1\",");
	assert_string_equal(hear(fd), OK);
	assert_string_equal(ask(fd, "route del 10/8\n"), OK);
	assert_string_equal(ask(fd, "route del 11/8\n"), OK);
	fib_reclaim(rig.router.fib);
	fib_sizes(rig.router.fib, &s);
	assert_int_equal(s.groups, 0);
	assert_int_equal(s.nexthops, 0);
	close(fd);
}

/* As many as there may be, and not one more. */
static void legs_have_a_limit(void **state)
{
	char line[CTL_LINE_MAX] = "route add 10/8";
	int fd = dial();

	(void)state;
	for (unsigned i = 0; i < CTL_LEGS_MAX; i++) {
		char leg[80];

		snprintf(leg, sizeof(leg),
			 " nexthop 02:00:00:00:0b:%02x dev eth1 weight 2", i);
		test_append(line, sizeof(line), leg);
	}
	say(fd, line);
	assert_string_equal(ask(fd, "\n"), OK);
	assert_has(ask(fd, "route show\n"), "\"lladdr\":\"02:00:00:00:0b:27\"");
	assert_string_equal(hear(fd), OK);
	assert_string_equal(ask(fd, "route del 10/8\n"), OK);
	test_append(line, sizeof(line), " nexthop " MAC);
	say(fd, line);
	assert_has(ask(fd, "\n"), "a route has at most 40");
	close(fd);
}

static void a_batch_is_one_change_and_keeps_others_out(void **state)
{
	int a = dial(), b = dial();

	(void)state;
	assert_string_equal(ask(a, "begin\n"), OK);
	assert_has(ask(a, "begin\n"), "EALREADY");
	assert_string_equal(ask(a, "route add 10/8 blackhole\n"), OK);
	assert_has(ask(b, "route add 11/8 blackhole\n"),
		   "\"code\":\"EBUSY\",\"message\":\"another client's batch is open\","
		   "\"hint\":\"try again\"");
	assert_has(ask(b, "route del 11/8\n"), "EBUSY");
	assert_has(ask(b, "begin\n"), "EBUSY");
	assert_has(ask(b, "commit\n"), "EINVAL");
	assert_has(ask(a, "route add 10/8 blackhole\n"), "EEXIST");
	assert_string_equal(ask(a, "commit\n"), OK);
	assert_string_equal(ask(b, "route add 11/8 blackhole\n"), OK);
	assert_string_equal(ask(b, "begin\n"), OK);
	assert_string_equal(ask(b, "route del 10/8\n"), OK);
	assert_string_equal(ask(b, "abort\n"), OK);
	assert_has(ask(a, "route show\n"), "10.0.0.0/8");
	assert_has(hear(a), "11.0.0.0/8");
	assert_string_equal(hear(a), OK);
	close(a);
	close(b);
}

static void a_dead_client_s_batch_is_given_up(void **state)
{
	int a = dial(), b = dial();

	(void)state;
	assert_string_equal(ask(a, "begin\n"), OK);
	assert_string_equal(ask(a, "route add 10/8 blackhole\n"), OK);
	close(a);
	for (int i = 0; i < 500; i++) {
		if (!strcmp(ask(b, "route add 11/8 blackhole\n"), OK))
			break;
		usleep(10000);
	}
	assert_has(ask(b, "route show\n"), "11.0.0.0/8");
	assert_string_equal(hear(b), OK);
	close(b);
}

static _Atomic uint64_t ahead_ns; /* of the clock */

int __real_clock_gettime(clockid_t clock, struct timespec *t);
int __wrap_clock_gettime(clockid_t clock, struct timespec *t);
int __wrap_clock_gettime(clockid_t clock, struct timespec *t)
{
	int r = __real_clock_gettime(clock, t);
	uint64_t ns = (uint64_t)t->tv_nsec + ahead_ns;

	t->tv_sec += (time_t)(ns / NS_PER_S);
	t->tv_nsec = (long)(ns % NS_PER_S);
	return r;
}

static void a_sleeping_client_s_batch_is_given_up_when_it_is_in_the_way(void **state)
{
	const uint64_t idle_ns = CTL_BATCH_IDLE_S * NS_PER_S;
	int a = dial(), b = dial();

	(void)state;
	assert_string_equal(ask(a, "begin\n"), OK);
	assert_string_equal(ask(a, "route add 10/8 blackhole\n"), OK);
	assert_string_not_equal(ask(b, "route add 11/8 blackhole\n"), OK);
	ahead_ns = idle_ns / 2;
	assert_string_not_equal(ask(b, "route add 11/8 blackhole\n"), OK);
	ahead_ns = idle_ns;
	assert_string_equal(ask(b, "route add 11/8 blackhole\n"), OK);
	assert_string_equal(hear(a),
			    ""); /* never to be taken for changes outside a batch */
	assert_has(ask(b, "route show\n"), "11.0.0.0/8");
	assert_string_equal(hear(b), OK);
	close(a);
	close(b);
	ahead_ns = 0;
}

static const struct CMUnitTest tests[] = {
	served(routes_are_added_shown_changed_and_deleted),
	served(what_is_wrong_is_refused_with_its_reason),
	served(a_second_add_says_what_to_do_instead),
	served(route_get_says_what_a_packet_meets),
	served(route_get_knows_what_the_parser_and_the_port_say),
	served(route_get_names_the_leg_of_a_flow),
	served(a_route_has_several_next_hops),
	served(legs_have_a_limit),
	served(a_batch_is_one_change_and_keeps_others_out),
	served(a_dead_client_s_batch_is_given_up),
	served(a_sleeping_client_s_batch_is_given_up_when_it_is_in_the_way),
};

int main(void)
{
	return cmocka_run_group_tests(tests, NULL, NULL);
}
