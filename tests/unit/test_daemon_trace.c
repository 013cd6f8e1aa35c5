/* unit/test_daemon_trace.c - which packets `trace start` asks for; requests without a worker */

#include "control_rig.h"

#include <sys/resource.h>
#include <unistd.h>

#include "../../daemon/packet_words.h"
#include "../../daemon/trace_words.h"
#include "../../lib/ctl/proto.h"
#include "../../lib/pkt/verdict.h"

static char line[CTL_LINE_MAX];
static char *words[CTL_WORDS_MAX];

static int parse(const char *text, struct trace_ask *ask, struct err *err)
{
	int n;

	snprintf(line, sizeof(line), "%s", text);
	n = ctl_split(line, words);
	assert_true(n >= 0);
	return trace_words_parse(words, n, ask, err);
}

static struct trace_ask parsed(const char *text)
{
	struct trace_ask ask;
	struct err err = { "" };

	if (parse(text, &ask, &err) < 0)
		fail_msg("%s: %s", text, err.text);
	return ask;
}

static void refused(const char *text, const char *why)
{
	struct trace_ask ask = { .count = 42 };
	struct err err = { "" };

	assert_int_equal(parse(text, &ask, &err), -EINVAL);
	assert_string_equal(err.text, why);
	assert_int_equal(ask.count, 42); /* it was not touched */
}

static void nothing_said_means_the_defaults(void **state)
{
	static const struct fwd_match any;
	struct trace_ask ask = parsed("");

	(void)state;
	assert_int_equal(ask.count, 100);
	assert_int_equal(ask.bytes, 128);
	assert_int_equal(ask.seconds, 60);
	assert_null(ask.port);
	assert_memory_equal(&ask.match, &any, sizeof(any));
	assert_int_equal(ask.matches, 0);
}

static void every_word_has_its_place(void **state)
{
	struct trace_ask ask =
		parsed("seconds 3600 port eth0 bytes 9216 count 10000 match "
		       "dport 53 sport 65535 proto udp src 10/8 "
		       "dst 192.0.2.1 verdict punt reason ttl");

	(void)state;
	assert_int_equal(ask.count, 10000);
	assert_int_equal(ask.bytes, 9216);
	assert_int_equal(ask.seconds, 3600);
	assert_string_equal(ask.port, "eth0");
	assert_int_equal(ask.matches, 9);
	assert_int_equal(ask.match.family, 4);
	assert_true(ask.match.has_port[0] && ask.match.has_port[1]);
	assert_int_equal(ask.match.port[0], 65535);
	assert_int_equal(ask.match.port[1], 53);
	assert_int_equal(ask.match.proto[0], 17);
	assert_int_equal(ask.match.addr[0][1], 0x0a000000);
	assert_int_equal(ask.match.mask[0][1], 0xff000000);
	assert_int_equal(ask.match.addr[1][1], 0xc0000201);
	assert_int_equal(ask.match.mask[1][1], 0xffffffff);
	assert_int_equal(ask.match.verdict, PKT_PUNT);
	assert_int_equal(ask.match.reason, PKT_PUNT_TTL);
}

static void prefixes_have_their_family(void **state)
{
	struct trace_ask ask = parsed("match dst 2001:db8::/33");

	(void)state;
	assert_int_equal(ask.match.family, 6);
	assert_int_equal(ask.match.mask[1][0], 0xffffffff80000000);
	assert_int_equal(ask.match.mask[1][1], 0);
	assert_int_equal(ask.match.addr[1][0], 0x20010db800000000);
	ask = parsed("match src ::/0 dst 2001:db8::1");
	assert_int_equal(ask.match.mask[0][0] | ask.match.mask[0][1], 0);
	assert_int_equal(ask.match.mask[1][1], UINT64_MAX);
	ask = parsed("match src 2001:db8::/32 dst default"); /* as the first one */
	assert_int_equal(ask.match.family, 6);
	ask = parsed("match dst 0/0");
	assert_int_equal(ask.match.family, 4);
}

static void protocols_have_names_and_numbers(void **state)
{
	char text[4];

	(void)state;
	assert_int_equal(parsed("match proto icmp").match.proto[0], 1);
	assert_int_equal(parsed("match proto icmp").match.proto[1], 58);
	assert_int_equal(parsed("match proto 89").match.proto[1], 89);
	assert_true(parsed("match proto 0").match.has_proto);
	assert_string_equal(packet_proto_text(6, text), "tcp");
	assert_string_equal(packet_proto_text(58, text), "icmp");
	assert_string_equal(packet_proto_text(255, text), "255");
}

/* Every reason there is, and its verdict without a word. */
static void reasons_are_those_of_the_tables(void **state)
{
	char text[80];

	(void)state;
	for (unsigned i = 0; i < PKT_DROP_COUNT + PKT_PUNT_COUNT; i++) {
		bool punt = i >= PKT_DROP_COUNT;
		struct fwd_match m;

		snprintf(text, sizeof(text), "match reason %s",
			 punt ? pkt_punt_reason[i - PKT_DROP_COUNT].name
			      : pkt_drop_reason[i].name);
		m = parsed(text).match;
		assert_true(m.has_reason && m.has_verdict);
		assert_int_equal(m.verdict, punt ? PKT_PUNT : PKT_DROP);
		assert_int_equal(m.reason, punt ? i - PKT_DROP_COUNT : i);
	}
	assert_string_equal(trace_verdict_name(PKT_PUNT), "punt");
}

static void what_is_wrong_is_said(void **state)
{
	(void)state;
	refused("count 1 match", "match: what?");
	refused("src 10/8", "src: must be one of count, port, bytes, seconds, match");
	refused("match src", "src: its value is missing");
	refused("match src 10/8 src 10/8", "src: once is enough");
	refused("match match",
		"match: must be one of src, dst, proto, sport, dport, verdict, "
		"reason");
	refused("match proto 256", "proto 256: must be tcp, udp, icmp or 0 to 255");
	refused("match sport 65536", "sport 65536: must be 0 to 65535");
	refused("match proto 47 sport 1", "sport, dport: only with proto tcp or udp");
	refused("match dst ::/0 src 0/0", "src and dst: one is IPv4, the other IPv6");
	refused("match reason mtu verdict forward",
		"verdict forward: the reason is one of punt");
	refused("count 4294967297", "count 4294967297: must be 1 to 10000");
}

/* There is no worker here: a trace begins, sees nothing, and ends. */
static void a_trace_begins_and_ends(void **state)
{
	int fd = dial();

	(void)state;
	assert_has(ask(fd, "trace show\n"), "\"code\":\"ENOENT\"");
	assert_string_equal(ask(fd, "trace status\n"), "{\"state\":\"none\"}");
	assert_string_equal(hear(fd), OK);
	assert_string_equal(ask(fd, "trace start count 7 port eth1 match dst 10/8\n"),
			    OK);
	assert_has(ask(fd, "trace start\n"), "\"code\":\"EBUSY\"");
	assert_string_equal(ask(fd, "trace status\n"),
			    "{\"state\":\"running\",\"packets\":0,\"count\":7,\"seen\":0,"
			    "\"lost\":0,\"bytes\":128,\"seconds\":60,\"port\":\"eth1\","
			    "\"match\":\"dst 10/8\"}");
	assert_string_equal(hear(fd), OK);
	assert_string_equal(ask(fd, "trace show\n"), OK);
	for (int i = 0; i < 12; i++) {
		assert_string_equal(ask(fd, "trace stop\n"), OK);
		assert_string_equal(ask(fd, "trace start\n"), OK);
	}
	assert_string_equal(ask(fd, "trace stop\n"), OK);
	assert_has(ask(fd, "trace status\n"), "\"ended_by\":\"stop\"");
	assert_string_equal(hear(fd), OK);
	assert_has(ask(fd, "trace start port eth7\n"), "\"code\":\"ENODEV\"");
	close(fd);
	assert_still_serves();
}

/* There is no descriptor left for its timer: nothing has begun, and the next one may. */
static void a_trace_that_cannot_tick_does_not_begin(void **state)
{
	struct rlimit was, none;
	int fd = dial(), next;

	(void)state;
	assert_has(ask(fd, "version\n"), "protocol"); /* so it was accepted */
	assert_string_equal(hear(fd), OK);
	next = dup(fd);
	assert_true(next >= 0);
	close(next);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &was), 0);
	none = (struct rlimit){ (rlim_t)next, was.rlim_max };
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	assert_has(ask(fd, "trace start\n"), "\"code\":\"EMFILE\"");
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &was), 0);
	assert_string_equal(ask(fd, "trace status\n"), "{\"state\":\"none\"}");
	assert_string_equal(hear(fd), OK);
	assert_string_equal(ask(fd, "trace start\n"), OK);
	close(fd);
	assert_still_serves();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_said_means_the_defaults),
		cmocka_unit_test(every_word_has_its_place),
		cmocka_unit_test(prefixes_have_their_family),
		cmocka_unit_test(protocols_have_names_and_numbers),
		cmocka_unit_test(reasons_are_those_of_the_tables),
		cmocka_unit_test(what_is_wrong_is_said),
		served(a_trace_begins_and_ends),
		served(a_trace_that_cannot_tick_does_not_begin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
