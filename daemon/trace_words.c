/* daemon/trace_words.c - which packets `trace start` asks for */

#include "trace_words.h"

#include <string.h>

#include "../lib/base/hot.h"
#include "../lib/base/number.h"
#include "../lib/fib/prefix.h"
#include "../lib/pkt/verdict.h"
#include "packet_words.h"

enum { BYTES_MIN = 64, WHY = 200 };

/* What the words have said so far. */
struct said {
	struct trace_ask *ask;
	uint8_t reason_verdict; /* of the reason */
};

/* ---- values ---- */

typedef int take_fn(struct said *s, const char *value, struct err *err);

static int take_u32(const char *what, const char *value, uint32_t min, uint32_t max,
		    uint32_t *ret, struct err *err)
{
	uint64_t v = *ret;
	int r = packet_number(what, value, min, max, &v, err);

	*ret = (uint32_t)v;
	return r;
}

static int take_count(struct said *s, const char *value, struct err *err)
{
	return take_u32("count", value, 1, TRACE_COUNT_MAX, &s->ask->count, err);
}

static int take_bytes(struct said *s, const char *value, struct err *err)
{
	return take_u32("bytes", value, BYTES_MIN, TRACE_BYTES_MAX, &s->ask->bytes, err);
}

static int take_seconds(struct said *s, const char *value, struct err *err)
{
	return take_u32("seconds", value, 1, TRACE_SECONDS_MAX, &s->ask->seconds, err);
}

static int take_port(struct said *s, const char *value, struct err *err)
{
	(void)err;
	s->ask->port = value;
	return 0;
}

static uint64_t get_u64(const uint8_t *p)
{
	uint64_t v = 0;

	for (unsigned i = 0; i < 8; i++)
		v = v << 8 | p[i];
	return v;
}

/* The @n highest bits of 64. */
static uint64_t mask64(unsigned n)
{
	return !n ? 0 : n > 63 ? UINT64_MAX : UINT64_MAX << (64 - n);
}

/* As pkt_flow.addr has them: an IPv4 address is the last 32 bits. */
static void set_prefix(struct fwd_match *m, unsigned end, const struct fib_prefix *p)
{
	if (p->family == 4) {
		m->mask[end][1] = mask64(p->len) >> 32;
		m->addr[end][1] = get_u64(p->addr) >> 32;
		return;
	}
	m->mask[end][0] = mask64(p->len);
	m->mask[end][1] = p->len > 64 ? mask64(p->len - 64u) : 0;
	m->addr[end][0] = get_u64(p->addr);
	m->addr[end][1] = get_u64(p->addr + 8);
}

static int take_prefix(struct said *s, const char *what, const char *value, unsigned end,
		       struct err *err)
{
	struct fwd_match *m = &s->ask->match;
	struct fib_prefix p;
	char why[WHY];

	if (fib_prefix_parse(value, m->family ? m->family : 4, &p, why, sizeof(why)) < 0)
		return err_set(err, -EINVAL, "%s %s", what, why);
	if (m->family && m->family != p.family)
		return err_set(err, -EINVAL, "src and dst: one is IPv4, the other IPv6");
	m->family = p.family;
	set_prefix(m, end, &p);
	return 0;
}

static int take_src(struct said *s, const char *value, struct err *err)
{
	return take_prefix(s, "src", value, 0, err);
}

static int take_dst(struct said *s, const char *value, struct err *err)
{
	return take_prefix(s, "dst", value, 1, err);
}

static int take_proto(struct said *s, const char *value, struct err *err)
{
	struct fwd_match *m = &s->ask->match;
	uint64_t v;

	m->has_proto = true;
	if (packet_proto(value, m->proto) == 0)
		return 0;
	if (number_parse(value, UINT8_MAX, &v) < 0)
		return err_set(err, -EINVAL,
			       "proto %s: must be tcp, udp, icmp or 0 to 255", value);
	memset(m->proto, (int)v, sizeof(m->proto));
	return 0;
}

static int take_l4_port(struct said *s, const char *what, const char *value, unsigned end,
			struct err *err)
{
	uint64_t v = 0;
	int r = packet_number(what, value, 0, UINT16_MAX, &v, err);

	s->ask->match.has_port[end] = true;
	s->ask->match.port[end] = (uint16_t)v;
	return r;
}

static int take_sport(struct said *s, const char *value, struct err *err)
{
	return take_l4_port(s, "sport", value, 0, err);
}

static int take_dport(struct said *s, const char *value, struct err *err)
{
	return take_l4_port(s, "dport", value, 1, err);
}

static const char *const verdicts[] = {
	[PKT_FORWARD] = "forward", [PKT_PUNT] = "punt", [PKT_DROP] = "drop"
};

const char *trace_verdict_name(uint8_t verdict)
{
	return verdicts[verdict];
}

static int take_verdict(struct said *s, const char *value, struct err *err)
{
	for (size_t i = 0; i < ARRAY_LEN(verdicts); i++) {
		if (strcmp(value, verdicts[i]) != 0)
			continue;
		s->ask->match.has_verdict = true;
		s->ask->match.verdict = (uint8_t)i;
		return 0;
	}
	return err_set(err, -EINVAL, "verdict %s: must be forward, punt or drop", value);
}

static bool has_reason(const struct pkt_reason reasons[], unsigned n, const char *name,
		       uint8_t *ret)
{
	for (unsigned i = 0; i < n; i++) {
		if (strcmp(reasons[i].name, name) != 0)
			continue;
		*ret = (uint8_t)i;
		return true;
	}
	return false;
}

/* No name is a reason of both. */
static int take_reason(struct said *s, const char *value, struct err *err)
{
	struct fwd_match *m = &s->ask->match;

	m->has_reason = true;
	if (has_reason(pkt_drop_reason, PKT_DROP_COUNT, value, &m->reason))
		s->reason_verdict = PKT_DROP;
	else if (has_reason(pkt_punt_reason, PKT_PUNT_COUNT, value, &m->reason))
		s->reason_verdict = PKT_PUNT;
	else
		return err_set(err, -EINVAL,
			       "reason %s: must be one of those that drop show -s lists",
			       value);
	return 0;
}

/* ---- words ---- */

static const struct {
	const char *word;
	bool of_match; /* stands behind "match" */
	take_fn *take;
} words[] = {
	{ "count", false, take_count },	 { "port", false, take_port },
	{ "bytes", false, take_bytes },	 { "seconds", false, take_seconds },
	{ "src", true, take_src },	 { "dst", true, take_dst },
	{ "proto", true, take_proto },	 { "sport", true, take_sport },
	{ "dport", true, take_dport },	 { "verdict", true, take_verdict },
	{ "reason", true, take_reason },
};

static int unknown(const char *word, bool of_match, struct err *err)
{
	char list[WHY] = "";
	size_t at = 0;

	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		if (words[i].of_match == of_match)
			at += (size_t)snprintf(list + at, sizeof(list) - at, "%s%s",
					       at ? ", " : "", words[i].word);
	return err_set(err, -EINVAL, "%s: must be one of %s%s", word, list,
		       of_match ? "" : ", match");
}

static int take_pair(struct said *s, const char *word, const char *value, bool of_match,
		     unsigned *seen, struct err *err)
{
	for (size_t i = 0; i < ARRAY_LEN(words); i++) {
		if (words[i].of_match != of_match || strcmp(word, words[i].word) != 0)
			continue;
		if (*seen >> i & 1)
			return err_set(err, -EINVAL, "%s: once is enough", word);
		*seen |= 1u << i;
		return value ? words[i].take(s, value, err)
			     : err_set(err, -EINVAL, "%s: its value is missing", word);
	}
	return unknown(word, of_match, err);
}

/* What no packet can be. */
static int check(const struct said *s, struct err *err)
{
	struct fwd_match *m = &s->ask->match;
	bool ports = m->has_port[0] || m->has_port[1];

	if (ports && m->has_proto && m->proto[0] != FLOW_PROTO_TCP &&
	    m->proto[0] != FLOW_PROTO_UDP)
		return err_set(err, -EINVAL, "sport, dport: only with proto tcp or udp");
	if (!m->has_reason)
		return 0;
	if (m->has_verdict && m->verdict != s->reason_verdict)
		return err_set(err, -EINVAL, "verdict %s: the reason is one of %s",
			       verdicts[m->verdict], verdicts[s->reason_verdict]);
	m->has_verdict = true;
	m->verdict = s->reason_verdict;
	return 0;
}

int trace_words_parse(char *const arg[], int n, struct trace_ask *ret, struct err *err)
{
	struct trace_ask ask = { .count = 100, .bytes = 128, .seconds = 60, .matches = n };
	struct said s = { .ask = &ask };
	unsigned seen = 0;
	int i = 0, r = 0;

	while (i < n && !r) {
		bool of_match = ask.matches < n;

		if (!of_match && !strcmp(arg[i], "match")) {
			ask.matches = ++i;
			if (i == n)
				return err_set(err, -EINVAL, "match: what?");
			continue;
		}
		r = take_pair(&s, arg[i], i + 1 < n ? arg[i + 1] : NULL, of_match, &seen,
			      err);
		i += 2;
	}
	if (!r)
		r = check(&s, err);
	if (!r)
		*ret = ask;
	return r;
}
