/* fuzz/fuzz_trace.c - `trace start`: words to a match, and what it says of any frame
 *
 * The first line is the request's words; the frame is the rest.
 */

#include "fuzz.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../../daemon/trace_words.h"
#include "../../lib/ctl/proto.h"
#include "../../lib/pkt/verdict.h"

static void check_match(const struct fwd_match *m)
{
	for (unsigned i = 0; i < 2; i++)
		for (unsigned half = 0; half < 2; half++)
			assert(!(m->addr[i][half] & ~m->mask[i][half]));
	assert(!m->family || m->family == 4 || m->family == 6);
	assert(!m->has_reason || (m->has_verdict && m->verdict != PKT_FORWARD));
	assert(!m->has_reason ||
	       m->reason < (m->verdict == PKT_DROP ? PKT_DROP_COUNT : PKT_PUNT_COUNT));
}

static void check_ask(const struct trace_ask *ask, int n)
{
	assert(ask->count >= 1 && ask->count <= TRACE_COUNT_MAX);
	assert(ask->bytes >= 64 && ask->bytes <= TRACE_BYTES_MAX);
	assert(ask->seconds >= 1 && ask->seconds <= TRACE_SECONDS_MAX);
	assert(ask->matches >= 0 && ask->matches <= n);
	check_match(&ask->match);
}

/* What a frame is, it is to a match of just that. */
static void check_frame(const struct fwd_match *m, const uint8_t *data, size_t n)
{
	struct fwd_match own = { 0 };
	struct fwd_seen seen;
	uint8_t *frame = malloc(n ? n : 1);

	assert(frame);
	memcpy(frame, data, n);
	fwd_see(frame, (uint32_t)n, &seen);
	free(frame);
	assert(!seen.family || seen.l3 + (seen.family == 4 ? 20u : 40u) <= n);
	own.family = seen.family;
	own.has_proto = seen.family;
	own.proto[1] = seen.flow.proto;
	own.proto[0] = seen.flow.proto;
	for (unsigned i = 0; i < 2; i++) {
		own.has_port[i] = seen.flow.at;
		own.port[i] = seen.flow.port[i];
		memset(own.mask[i], 0xff, sizeof(own.mask[i]));
		memcpy(own.addr[i], seen.flow.addr[i], sizeof(own.addr[i]));
	}
	assert(fwd_match_frame(&own, &seen));
	own.port[0]++;
	assert(!fwd_match_frame(&own, &seen) || !seen.flow.at);
	assert(!fwd_match_frame(m, &seen) || !m->family || m->family == seen.family);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static char line[CTL_LINE_MAX];
	const uint8_t *end = size ? memchr(data, '\n', size) : NULL;
	size_t n = end ? (size_t)(end - data) : size;
	struct trace_ask ask = { 0 };
	struct err err = { "" };
	char *words[CTL_WORDS_MAX];
	int n_words, r;

	if (n >= sizeof(line))
		return 0;
	if (n)
		memcpy(line, data, n);
	line[n] = '\0';
	n_words = ctl_split(line, words);
	if (n_words < 0)
		return 0;
	r = trace_words_parse(words, n_words, &ask, &err);
	assert(!r || (r == -EINVAL && *err.text));
	if (!r)
		check_ask(&ask, n_words);
	if (end)
		check_frame(&ask.match, end + 1, size - n - 1);
	return 0;
}
