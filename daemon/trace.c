/* daemon/trace.c - one trace: asks workers, collects, ends it */

#include "trace.h"

#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "../lib/base/time.h"
#include "../lib/prm/ctx.h"
#include "requests.h"
#include "show.h"

enum {
	TICK_MS = 10,
	MEMORY = 16 << 20,	 /* of the packets, and of all workers' traces together */
	WORKER_MEMORY = 4 << 20, /* of one */
	BEFORE_MAX = 8,		 /* that began and ended while a worker did not turn */
};

/* ---- a packet ---- */

static void free_packets(struct trace *t)
{
	while (t->n)
		free(t->packet[--t->n].record);
	free(t->packet);
	t->packet = NULL;
}

static struct fwd_traced *copy_of(const struct fwd_traced *r)
{
	size_t bytes = align_up(sizeof(*r) + r->captured, CACHE_LINE);
	struct fwd_traced *copy = aligned_alloc(CACHE_LINE, bytes);

	if (copy)
		memcpy(copy, r, sizeof(*r) + r->captured);
	return copy;
}

/* A free-running clock counts from an arbitrary moment. The packet that was taken soonest after its
 * stamp tells best from which; what lies between two packets is the card's alone. */
static void set_time(struct trace *t, struct trace_packet *p)
{
	struct trace_clock *c = &t->clock[p->record->port];
	uint64_t taken_ns = p->record->taken_ns;
	int64_t ahead;

	if (p->record->stamp_kind == FWD_STAMP_NONE || !c->known)
		return;
	p->card_ns = m5_clock_ns(&c->clock, p->record->stamp, taken_ns);
	ahead = c->clock.mask ? (int64_t)(taken_ns - p->card_ns) + t->real_ns : 0;
	if (!c->seen || ahead < c->ahead_ns)
		c->ahead_ns = ahead;
	c->seen = true;
}

/* The route, unless it has changed since the worker looked. */
static void set_route(const struct router *r, struct trace_packet *p)
{
	uint8_t dst[16];

	if (!p->record->routed || !p->seen.family)
		return;
	trace_address(&p->seen, 1, dst);
	p->has_route = fib_route_match(r->fib, p->seen.family, dst, &p->route) &&
		       p->route.nh == p->record->route;
}

static void take(const struct router *r, struct trace *t, unsigned worker,
		 const struct fwd_traced *record)
{
	struct trace_packet *p = &t->packet[t->n];

	*p = (struct trace_packet){ .worker = worker, .record = copy_of(record) };
	if (!p->record) {
		t->done.lost++;
		return;
	}
	fwd_see(record->data, record->captured, &p->seen);
	set_time(t, p);
	set_route(r, p);
	t->n++;
}

/* One of each worker by turns. */
static void collect(const struct router *r, struct trace *t)
{
	for (unsigned empty = 0; empty < r->n_workers && t->n < t->ask.count;) {
		unsigned w = t->turn++ % r->n_workers;
		struct ring *ring = t->of[w] ? fwd_trace_ring(t->of[w]) : NULL;
		const struct fwd_traced *record = ring ? ring_peek(ring) : NULL;

		if (!record) {
			empty++;
			continue;
		}
		empty = 0;
		take(r, t, w, record);
		ring_pop(ring);
	}
}

/* ---- its end ---- */

static void add_count(struct fwd_trace_count *to, const struct fwd_trace_count *from)
{
	to->seen += fwd_read(&from->seen);
	to->recorded += fwd_read(&from->recorded);
	to->lost += fwd_read(&from->lost);
}

/* Until now, all workers together. */
static struct fwd_trace_count sum_count(const struct router *r, const struct trace *t)
{
	struct fwd_trace_count sum = t->done;

	for (unsigned w = 0; w < r->n_workers; w++)
		if (t->of[w])
			add_count(&sum, fwd_trace_count(t->of[w]));
	return sum;
}

static void end(const struct router *r, struct trace *t, const char *by)
{
	t->state = TRACE_ENDING;
	t->ended_by = by;
	for (unsigned w = 0; w < r->n_workers; w++)
		fwd_worker_set_trace(r->worker[w], NULL);
}

/* Frees what workers have let go. Return: whether that is all. */
static bool let_go(const struct router *r, struct trace *t)
{
	bool all = true;

	collect(r, t);
	for (unsigned w = 0; w < r->n_workers; w++) {
		if (!t->of[w])
			continue;
		if (fwd_worker_has_trace(r->worker[w], t->of[w])) {
			all = false;
			continue;
		}
		collect(r, t); /* what it told in its last turn */
		add_count(&t->done, fwd_trace_count(t->of[w]));
		fwd_trace_free(t->of[w]);
		t->of[w] = NULL;
	}
	return all;
}

static void free_trace(const struct router *r, struct trace *t)
{
	for (unsigned w = 0; t && w < r->n_workers; w++)
		fwd_trace_free(t->of[w]);
	if (t)
		free_packets(t);
	free(t);
}

/* ---- while it runs ---- */

static void stop_ticking(struct router *r)
{
	event_del(r->loop, r->trace_ticks);
	if (r->trace_timer >= 0)
		close(r->trace_timer);
	r->trace_ticks = NULL;
	r->trace_timer = -1;
}

/* Traces before this one whose last worker has let go. Return: how many are left. */
static unsigned free_before(const struct router *r, struct trace *t)
{
	struct trace **at = &t->before;
	unsigned n = 0;

	while (*at) {
		struct trace *old = *at;

		if (let_go(r, old)) {
			*at = old->before;
			free_trace(r, old);
		} else {
			at = &old->before;
			n++;
		}
	}
	return n;
}

static void on_tick(void *arg, uint32_t events)
{
	struct router *r = arg;
	struct trace *t = r->trace;
	uint64_t times;

	(void)events;
	if (read(r->trace_timer, &times, sizeof(times)) < 0)
		return;
	free_before(r, t);
	collect(r, t);
	if (t->state == TRACE_RUNNING && t->n == t->ask.count)
		end(r, t, "count");
	else if (t->state == TRACE_RUNNING && time_ns() >= t->until_ns)
		end(r, t, "time");
	if (t->state == TRACE_ENDING && let_go(r, t))
		t->state = TRACE_ENDED;
	if (t->state == TRACE_ENDED && !t->before)
		stop_ticking(r);
}

static int start_ticking(struct router *r)
{
	const struct timespec period = { .tv_nsec = TICK_MS * (long)NS_PER_MS };
	const struct itimerspec spec = { .it_interval = period, .it_value = period };
	int ret = 0;

	if (r->trace_ticks)
		return 0;
	r->trace_timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (r->trace_timer < 0 || timerfd_settime(r->trace_timer, 0, &spec, NULL))
		ret = err_errno();
	if (!ret)
		ret = event_add(r->loop, r->trace_timer, EPOLLIN, on_tick, r,
				&r->trace_ticks);
	if (ret < 0)
		stop_ticking(r);
	return ret;
}

void trace_close(struct router *r)
{
	if (!r->trace)
		return;
	stop_ticking(r);
	free_before(r, r->trace);
	free_trace(r, r->trace);
	r->trace = NULL;
}

/* ---- its begin ---- */

/* A worker keeps so many records as fit its share, which is a full burst or more with any bytes
 * and few workers. */
static uint32_t ring_of(const struct router *r, const struct trace_ask *ask)
{
	uint64_t share = MEMORY / (r->n_workers ? r->n_workers : 1);
	struct fwd_trace_conf conf = { .bytes = ask->bytes };

	if (share > WORKER_MEMORY)
		share = WORKER_MEMORY;
	conf.ring = UINT32_C(1) << log2_ceil(ask->count);
	if (conf.ring < FWD_BURST_MAX)
		conf.ring = FWD_BURST_MAX;
	while (conf.ring > 1 && fwd_trace_bytes(&conf) > share)
		conf.ring /= 2;
	return conf.ring;
}

static int64_t real_at_zero(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (int64_t)((uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec -
			 time_ns());
}

/* Where stamps have no format of their own, we do not know which. */
static void set_clocks(const struct router *r, struct trace *t)
{
	for (unsigned i = 0; i < r->n_ports; i++) {
		const struct port *p = &r->port[i];

		t->clock[i].clock = p->clock;
		t->clock[i].known = p->dev &&
				    m5_dev_caps(p->dev)->rq_ts_format != PRM_TS_DEFAULT;
	}
}

static int make(const struct router *r, const struct trace_ask *ask, int port,
		struct trace **ret)
{
	struct fwd_trace_conf conf = { .match = ask->match,
				       .ports = port < 0 ? UINT32_MAX
							 : UINT32_C(1) << port,
				       .count = ask->count,
				       .bytes = ask->bytes,
				       .ring = ring_of(r, ask) };
	struct trace *t = calloc(1, sizeof(*t));
	int made = 0;

	if (!t)
		return -ENOMEM;
	t->ask = *ask;
	t->port = port;
	t->packet = calloc(ask->count, sizeof(*t->packet));
	if (!t->packet)
		made = -ENOMEM;
	for (unsigned w = 0; w < r->n_workers && !made; w++)
		made = fwd_trace_new(&conf, &t->of[w]);
	if (made < 0) {
		free_trace(r, t);
		return made;
	}
	set_clocks(r, t);
	*ret = t;
	return 0;
}

/* Takes the place of the last one, which workers may still have in use. */
static void begin(struct router *r, struct trace *t)
{
	static uint64_t ids;

	t->id = ++ids;
	t->real_ns = real_at_zero();
	t->until_ns = time_ns() + t->ask.seconds * NS_PER_S;
	t->before = r->trace;
	r->trace = t;
	for (unsigned w = 0; w < r->n_workers; w++)
		fwd_worker_set_trace(r->worker[w], t->of[w]);
}

static void keep_words(struct trace *t, char *const arg[], int n)
{
	size_t at = 0;

	for (int i = t->ask.matches; i < n && at < sizeof(t->match); i++)
		at += (size_t)snprintf(t->match + at, sizeof(t->match) - at, "%s%s",
				       at ? " " : "", arg[i]);
	t->ask.port = NULL; /* the words end with the request */
}

/* ---- requests ---- */

static int parse(struct router *r, struct request *req, struct trace_ask *ask, int *port,
		 struct err *err)
{
	int ret = trace_words_parse(req->arg, req->n, ask, err);
	const struct port *p;

	*port = -1;
	if (ret < 0)
		return ret;
	if ((uint64_t)ask->count * (sizeof(struct fwd_traced) + ask->bytes) > MEMORY)
		return err_set(err, -EINVAL,
			       "count %u of %u bytes: more than %d MiB; ask for less",
			       ask->count, ask->bytes, MEMORY >> 20);
	if (!ask->port)
		return 0;
	p = port_by_name(r, ask->port);
	if (!p)
		return err_set(err, -ENODEV, "port %s: not a port of this router",
			       ask->port);
	*port = (int)p->index;
	return 0;
}

static bool is_busy(const struct router *r)
{
	struct trace *t = r->trace;

	return t && (t->state == TRACE_RUNNING || free_before(r, t) >= BEFORE_MAX);
}

static int start(struct request *req, const struct trace_ask *ask, int port)
{
	struct router *r = req->router;
	struct trace *t;
	int ret = make(r, ask, port, &t);

	if (ret < 0)
		return ret;
	ret = start_ticking(r);
	if (ret < 0) {
		free_trace(r, t);
		return ret;
	}
	keep_words(t, req->arg, req->n);
	begin(r, t);
	return 0;
}

void request_trace_start(struct request *req)
{
	struct router *r = req->router;
	struct trace_ask ask = { 0 };
	struct err err = { "" };
	int port = -1, ret = parse(r, req, &ask, &port, &err);

	if (!ret && is_busy(r)) {
		client_error(req->client, -EBUSY, "end it by \"trace stop\"",
			     "trace start: a trace runs already");
		return;
	}
	if (!ret)
		ret = start(req, &ask, port);
	if (ret < 0)
		client_error(req->client, ret, NULL, "trace start: %s",
			     err.text[0] ? err.text : strerror(-ret));
	else
		client_ok(req->client);
}

/* One that has ended already is no error: it may have done so just now. */
void request_trace_stop(struct request *req)
{
	struct trace *t = req->router->trace;

	if (t)
		collect(req->router, t);
	if (t && t->state == TRACE_RUNNING)
		end(req->router, t, "stop");
	client_ok(req->client);
}

void request_trace_status(struct request *req)
{
	static const char *const states[] = {
		[TRACE_RUNNING] = "running", [TRACE_ENDING] = "ending", [TRACE_ENDED] = "ended"
	};
	const struct router *r = req->router;
	struct trace *t = r->trace;
	struct row *row = row_new();
	struct fwd_trace_count count;

	row_set_text(row, "state", t ? states[t->state] : "none");
	if (t) {
		collect(r, t);
		count = sum_count(r, t);
		if (t->ended_by)
			row_set_text(row, "ended_by", t->ended_by);
		row_set_count(row, "packets", t->n);
		row_set_count(row, "count", t->ask.count);
		row_set_count(row, "seen", count.seen);
		row_set_count(row, "lost", count.lost);
		row_set_count(row, "bytes", t->ask.bytes);
		row_set_count(row, "seconds", t->ask.seconds);
		row_set_text(row, "port",
			     t->port < 0 ? "all" : r->port[t->port].conf->name);
		row_set_text(row, "match", *t->match ? t->match : "all");
	}
	client_row(req->client, row);
	client_ok(req->client);
}

/* ---- show ---- */

struct showing {
	uint64_t id;
	uint32_t next, n;
};

/* One packet; a row may be long. */
static enum client_next show_one(struct client *c, struct router *r, void *state)
{
	struct showing *s = state;

	if (s->next < s->n && r->trace->id != s->id) {
		client_error(c, -ESTALE, NULL, "trace show: a new trace was started");
		return CLIENT_DONE;
	}
	if (s->next == s->n) {
		client_ok(c);
		return CLIENT_DONE;
	}
	client_row(c, trace_row(r, r->trace, s->next++));
	return CLIENT_MORE;
}

void request_trace_show(struct request *req)
{
	struct trace *t = req->router->trace;
	struct showing *s;

	if (!t) {
		client_error(req->client, -ENOENT, "begin one by \"trace start\"",
			     "trace show: there is no trace");
		return;
	}
	s = calloc(1, sizeof(*s));
	if (!s) {
		client_error(req->client, -ENOMEM, NULL, "trace show: no memory");
		return;
	}
	collect(req->router, t);
	*s = (struct showing){ .id = t->id, .n = t->n };
	client_stream(req->client, show_one, s);
}
