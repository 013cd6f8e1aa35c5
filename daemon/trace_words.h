/* daemon/trace_words.h - which packets `trace start` asks for
 *
 *   [count N] [port PORT] [bytes N] [seconds N]
 *   [match [src PREFIX] [dst PREFIX] [proto tcp|udp|icmp|N] [sport N] [dport N]
 *          [verdict forward|punt|drop] [reason REASON]]
 */
#pragma once

#include "../lib/base/err.h"
#include "../lib/fwd/match.h"

enum {
	TRACE_COUNT_MAX = 10000,
	TRACE_BYTES_MAX = 9216, /* of a frame */
	TRACE_SECONDS_MAX = 3600,
};

struct trace_ask {
	uint32_t count, bytes, seconds;
	const char *port; /* one of the words; NULL = all */
	struct fwd_match match;
	int matches; /* index of the first word of the match; the number of words = none */
};

/* Return: 0 or -EINVAL; @err: what is wrong and what is allowed. */
int trace_words_parse(char *const arg[], int n, struct trace_ask *ret, struct err *err);
const char *trace_verdict_name(uint8_t verdict); /* "forward" */
