/* daemon/counters.c - counters by name */

#include "counters.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "../lib/base/number.h"
#include "../lib/ctl/proto.h"
#include "latency.h"

/* As many as an integer of JSON; at 400 Gbit/s bytes get there in six years. */
#define COUNT_MAX ((uint64_t)INT64_MAX)

enum scope { ROUTER, PORT, WORKER, QUEUE, GONE, SCOPES };

static const struct {
	const char *name;
	bool has_port, has_worker;
} scopes[] = {
	[ROUTER] = { "router", false, false }, [PORT] = { "port", true, false },
	[WORKER] = { "worker", false, true },  [QUEUE] = { "queue", true, true },
	[GONE] = { "gone", true, false },
};

/* ---- what an array goes over ---- */

static const char *family(unsigned i)
{
	return i ? "ipv6" : "ipv4";
}

static const char *drop(unsigned i)
{
	return pkt_drop_reason[i].name;
}

static const char *punt(unsigned i)
{
	return pkt_punt_reason[i].name;
}

static const char *burst(unsigned i)
{
	static const char *const up_to[] = { "1",  "2",	 "4",	"8",  "16",
					     "32", "64", "128", "256" };

	static_assert(ARRAY_LEN(up_to) == FWD_BURST_SIZES, "a name each");
	return up_to[i];
}

static const char *operation(unsigned i)
{
	return fib_operation_name(i);
}

static const char *refusal(unsigned i)
{
	return fib_refusal_name(i);
}

static const char *reset(unsigned i)
{
	return i ? "failed" : "ok";
}

static const char *failure(unsigned i)
{
	return failure_name((enum failure)i);
}

/* "" where there is no such request: it is never counted. Valid until the next call. */
static const char *request(unsigned i)
{
	static char text[80];
	unsigned kind = i / REQUEST_RESULTS;

	if (kind >= request_kinds())
		return "";
	snprintf(text, sizeof(text), "%s_%s_%s", request_object(kind), request_verb(kind),
		 request_result_name(i % REQUEST_RESULTS));
	return text;
}

static const char *commit_bound(unsigned i)
{
	static const char *const up_to[COMMIT_BOUNDS + 1] = {
		"10us", "20us",	 "50us",  "100us", "200us", "1ms",
		"10ms", "100ms", "500ms", "1s",	   "10s",   "longer"
	};

	return up_to[i];
}

/* ---- every counter ---- */

#define IN(type, field)		 offsetof(struct type, field), 1, NULL
#define EACH(type, field, n, of) offsetof(struct type, field), n, of
#define COUNT(field)		 IN(counters_queue, count.field)

static const struct counter {
	enum scope scope; /* those of QUEUE are those of GONE, too */
	const char *name;
	size_t at;
	unsigned n;
	const char *(*word)(unsigned i); /* of an array */
} table[] = {
	{ ROUTER, "fib_commits", IN(counters_router, commits) },
	{ ROUTER, "fib_ipv4",
	  EACH(counters_router, updates[0], FIB_OPERATION_COUNT, operation) },
	{ ROUTER, "fib_ipv6",
	  EACH(counters_router, updates[1], FIB_OPERATION_COUNT, operation) },
	{ ROUTER, "fib_refused_ipv4",
	  EACH(counters_router, refused[0], FIB_REFUSAL_COUNT, refusal) },
	{ ROUTER, "fib_refused_ipv6",
	  EACH(counters_router, refused[1], FIB_REFUSAL_COUNT, refusal) },
	{ ROUTER, "commit_times",
	  EACH(counters_router, commit_times, COMMIT_BOUNDS + 1, commit_bound) },
	{ ROUTER, "commit_ns", IN(counters_router, commit_ns) },
	{ ROUTER, "requests",
	  EACH(counters_router, requests, REQUEST_KINDS_MAX *REQUEST_RESULTS, request) },
	{ ROUTER, "mirror_overruns", IN(counters_router, overruns) },
	{ PORT, "carrier_changes", IN(counters_port, carrier_changes) },
	{ PORT, "receive_resets", EACH(counters_port, recoveries[RECEIVE], 2, reset) },
	{ PORT, "transmit_resets", EACH(counters_port, recoveries[TRANSMIT], 2, reset) },
	{ PORT, "receive_failures",
	  EACH(counters_port, failures[RECEIVE], FAILURE_COUNT, failure) },
	{ PORT, "transmit_failures",
	  EACH(counters_port, failures[TRANSMIT], FAILURE_COUNT, failure) },
	{ PORT, "full", IN(counters_port, full) },
	{ PORT, "out_of_buffer", IN(counters_port, out_of_buffer) },
	{ PORT, "doorbells", IN(counters_port, doorbells) },
	{ PORT, "compressed", IN(counters_port, compressed) },
	{ PORT, "delivered", EACH(counters_port, punts.delivered, PKT_PUNT_COUNT, punt) },
	{ PORT, "policed", EACH(counters_port, punts.policed, PKT_PUNT_COUNT, punt) },
	{ PORT, "failed", EACH(counters_port, punts.failed, PKT_PUNT_COUNT, punt) },
	{ WORKER, "turns", IN(counters_worker, turns) },
	{ WORKER, "empty_turns", IN(counters_worker, empty_turns) },
	{ WORKER, "sleeps", IN(counters_worker, sleeps) },
	{ WORKER, "switches", IN(counters_worker, switches) },
	{ WORKER, "busy_ns", IN(counters_worker, busy_ns) },
	{ WORKER, "idle_ns", IN(counters_worker, idle_ns) },
	{ WORKER, "bursts", EACH(counters_worker, bursts, FWD_BURST_SIZES, burst) },
	{ QUEUE, "received", COUNT(received) },
	{ QUEUE, "received_bytes", COUNT(received_bytes) },
	{ QUEUE, "forwarded", EACH(counters_queue, count.forwarded, 2, family) },
	{ QUEUE, "forwarded_bytes",
	  EACH(counters_queue, count.forwarded_bytes, 2, family) },
	{ QUEUE, "punted", EACH(counters_queue, count.punted, PKT_PUNT_COUNT, punt) },
	{ QUEUE, "dropped", EACH(counters_queue, count.dropped, PKT_DROP_COUNT, drop) },
	{ QUEUE, "egress", EACH(counters_queue, count.egress, 2, family) },
	{ QUEUE, "egress_bytes", EACH(counters_queue, count.egress_bytes, 2, family) },
	{ QUEUE, "receive_errors", IN(counters_queue, receive_errors) },
	{ QUEUE, "transmit_errors", IN(counters_queue, transmit_errors) },
	{ QUEUE, "latency",
	  EACH(counters_queue, latency.bucket, HISTOGRAM_BOUNDS + 1,
	       latency_bound_name) },
	{ QUEUE, "latency_sum_ns", IN(counters_queue, latency.sum_ns) },
	{ QUEUE, "latency_max_ns", IN(counters_queue, latency.max_ns) },
};

static bool is_of(const struct counter *row, enum scope scope)
{
	return row->scope == scope || (row->scope == QUEUE && scope == GONE);
}

static uint64_t *counter_of(const struct counter *row, void *base, unsigned i)
{
	return (uint64_t *)(void *)((char *)base + row->at) + i;
}

static void *base_of(struct counters *c, enum scope scope, unsigned port, unsigned worker)
{
	switch (scope) {
	case ROUTER:
		return &c->router;
	case PORT:
		return &c->port[port];
	case WORKER:
		return &c->worker[worker];
	case QUEUE:
		return &c->queue[port][worker];
	case GONE:
		return &c->port[port].gone;
	case SCOPES:
		break;
	}
	return NULL;
}

struct counters *counters_new(void)
{
	size_t n = align_up(sizeof(struct counters), CACHE_LINE);
	struct counters *c = aligned_alloc(CACHE_LINE, n);

	if (c)
		memset(c, 0, n);
	return c;
}

void counters_add(struct counters_queue *to, const struct counters_queue *from)
{
	uint64_t max_ns = to->latency.max_ns;

	if (from->latency.max_ns > max_ns)
		max_ns = from->latency.max_ns;
	for (size_t k = 0; k < ARRAY_LEN(table); k++)
		for (unsigned i = 0; is_of(&table[k], QUEUE) && i < table[k].n; i++)
			*counter_of(&table[k], to, i) +=
				*counter_of(&table[k], (void *)(uintptr_t)from, i);
	to->latency.max_ns = max_ns;
}

/* ---- as lines ---- */

struct printer {
	void (*line)(void *arg, const char *line);
	void *arg;
};

__attribute__((format(printf, 2, 3))) static void put(const struct printer *p,
						      const char *fmt, ...)
{
	char line[200];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	p->line(p->arg, line);
}

/* @who: "port eth0" */
static void put_all(const struct printer *p, enum scope scope, const char *who,
		    void *base)
{
	for (size_t k = 0; k < ARRAY_LEN(table); k++) {
		const struct counter *row = &table[k];

		for (unsigned i = 0; is_of(row, scope) && i < row->n; i++)
			if (*counter_of(row, base, i))
				put(p, "%s %s%s%s %" PRIu64, who, row->name,
				    row->word ? "." : "", row->word ? row->word(i) : "",
				    *counter_of(row, base, i));
	}
}

static void put_port(const struct printer *p, struct counters *c, unsigned port,
		     unsigned n_workers)
{
	const char *name = c->port[port].name;
	char who[60];

	snprintf(who, sizeof(who), "port %s", name);
	put_all(p, PORT, who, &c->port[port]);
	snprintf(who, sizeof(who), "gone %s", name);
	put_all(p, GONE, who, &c->port[port].gone);
	for (unsigned w = 0; w < n_workers; w++) {
		snprintf(who, sizeof(who), "queue %s %u", name, w);
		put_all(p, QUEUE, who, &c->queue[port][w]);
	}
}

void counters_print(const struct counters *c, unsigned n_workers,
		    void (*line)(void *arg, const char *line), void *arg)
{
	struct counters *from = (void *)(uintptr_t)c; /* which is read only */
	const struct printer p = { line, arg };
	char who[60];

	if (*c->boot)
		put(&p, "boot %s", c->boot);
	put(&p, "closed %s", c->closed ? "yes" : "no");
	put_all(&p, ROUTER, scopes[ROUTER].name, &from->router);
	for (unsigned w = 0; w < n_workers; w++) {
		snprintf(who, sizeof(who), "worker %u", w);
		put_all(&p, WORKER, who, &from->worker[w]);
	}
	for (unsigned i = 0; i < c->n_ports; i++)
		put_port(&p, from, i, n_workers);
}

/* ---- from lines ---- */

static int take_boot(struct counters *c, const char *text, struct err *err)
{
	if (strlen(text) >= sizeof(c->boot))
		return err_set(err, -EBADMSG, "boot: more than %zu bytes",
			       sizeof(c->boot) - 1);
	memcpy(c->boot, text, strlen(text) + 1);
	return 0;
}

static int take_closed(struct counters *c, const char *text, struct err *err)
{
	if (strcmp(text, "yes") != 0 && strcmp(text, "no") != 0)
		return err_set(err, -EBADMSG, "closed %s: must be yes or no", text);
	c->closed = *text == 'y';
	return 0;
}

static int find_port(struct counters *c, const char *name, unsigned *ret, struct err *err)
{
	for (*ret = 0; *ret < c->n_ports; (*ret)++)
		if (!strcmp(c->port[*ret].name, name))
			return 0;
	if (!*name || strlen(name) >= sizeof(c->port[0].name))
		return err_set(err, -EBADMSG, "%s: no name of a port", name);
	if (c->n_ports == FWD_PORTS_MAX)
		return err_set(err, -EBADMSG, "more than %d ports", FWD_PORTS_MAX);
	memcpy(c->port[c->n_ports++].name, name, strlen(name) + 1);
	return 0;
}

/* NULL: not one of ours. */
static uint64_t *find_counter(enum scope scope, void *base, const char *name)
{
	size_t n = strcspn(name, ".");

	for (size_t k = 0; k < ARRAY_LEN(table); k++) {
		const struct counter *row = &table[k];

		if (!is_of(row, scope) || strlen(row->name) != n ||
		    strncmp(row->name, name, n) != 0 || !row->word != !name[n])
			continue;
		for (unsigned i = 0; i < row->n; i++)
			if (!row->word || !strcmp(row->word(i), name + n + 1))
				return counter_of(row, base, i);
	}
	return NULL;
}

/* Behind the scope's name: port, worker, counter, value, as it has them. */
static int take_counter(struct counters *c, enum scope scope, char *words[], int n,
			struct err *err)
{
	uint64_t worker = 0, value, *counter;
	unsigned port = 0;
	int r = 0;

	if (n != 2 + scopes[scope].has_port + scopes[scope].has_worker)
		return err_set(err, -EBADMSG, "%s: so many words make no counter",
			       scopes[scope].name);
	if (scopes[scope].has_port)
		r = find_port(c, *words++, &port, err);
	if (r < 0)
		return r;
	if (scopes[scope].has_worker &&
	    number_parse(*words++, ROUTER_WORKERS_MAX - 1, &worker) < 0)
		return err_set(err, -EBADMSG, "worker %s: must be 0 to %d", words[-1],
			       ROUTER_WORKERS_MAX - 1);
	if (number_parse(words[1], COUNT_MAX, &value) < 0)
		return err_set(err, -EBADMSG, "%s %s: must be a number below 2^63",
			       words[0], words[1]);
	counter =
		find_counter(scope, base_of(c, scope, port, (unsigned)worker), words[0]);
	if (!counter)
		return 0;
	if (*counter)
		return err_set(err, -EBADMSG, "%s: given twice", words[0]);
	*counter = value;
	return 0;
}

int counters_take(struct counters *c, char *line, struct err *err)
{
	char *words[CTL_WORDS_MAX];
	int n = ctl_split(line, words);

	if (n == 2 && !strcmp(words[0], "boot"))
		return take_boot(c, words[1], err);
	if (n == 2 && !strcmp(words[0], "closed"))
		return take_closed(c, words[1], err);
	for (enum scope s = 0; s < SCOPES && n > 0; s++)
		if (!strcmp(words[0], scopes[s].name))
			return take_counter(c, s, words + 1, n - 1, err);
	return err_set(err, -EBADMSG, "neither boot, closed nor a counter");
}
