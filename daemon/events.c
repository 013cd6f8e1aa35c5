/* daemon/events.c - what changes, told to those who watch */

#include "events.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../lib/base/time.h"
#include "../lib/ctl/proto.h"
#include "requests.h"
#include "router.h"
#include "show.h"

enum {
	EVENTS = 4096, /* in the log; and that a batch may stage, before it is a loss */
	PIECE = 64,    /* sent before other clients have their turn */
};

enum topic { ROUTE = 1, PORT = 2, DROP = 4, ALL = ROUTE | PORT | DROP };

static const struct {
	const char *word;
	unsigned topics;
} words[] = { { "route", ROUTE }, { "port", PORT }, { "drop", DROP }, { "all", ALL } };

struct event {
	unsigned topic;
	char *line;
};

struct events {
	struct event log[EVENTS]; /* by number, modulo EVENTS */
	uint64_t oldest, next;	  /* numbers of what is in it */
	char *staged[EVENTS];
	unsigned n_staged;
	bool staged_lost; /* there were more */
	struct client *client[CTL_CLIENTS_MAX];
	unsigned topics[CTL_CLIENTS_MAX], n_clients;
	/* of drops */
	uint64_t ticked_ns;
	struct fwd_port_count last[FWD_PORTS_MAX];
};

static unsigned watched(const struct router *r)
{
	const struct events *e = r->events;
	unsigned topics = 0;

	for (unsigned i = 0; e && i < e->n_clients; i++)
		topics |= e->topics[i];
	return topics;
}

/* ---- lines ---- */

static struct row *event_row(const char *what, const char *object)
{
	struct row *row = row_new();
	struct timespec now;
	char text[40];
	struct tm tm;
	size_t n;

	clock_gettime(CLOCK_REALTIME, &now);
	gmtime_r(&now.tv_sec, &tm);
	n = strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &tm);
	snprintf(text + n, sizeof(text) - n, ".%06ldZ", now.tv_nsec / 1000);
	row_set_text(row, "ts", text);
	row_set_text(row, "event", what);
	row_set_text(row, "object", object);
	return row;
}

static void forget_oldest(struct events *e)
{
	struct event *ev = &e->log[e->oldest++ % EVENTS];

	free(ev->line);
	ev->line = NULL;
}

/* Takes @line over. */
static void add_line(struct events *e, unsigned topic, char *line)
{
	if (e->next - e->oldest == EVENTS)
		forget_oldest(e);
	e->log[e->next++ % EVENTS] = (struct event){ topic, line };
}

static void wake(struct events *e, unsigned topic)
{
	for (unsigned i = 0; i < e->n_clients; i++)
		if (e->topics[i] & topic)
			client_wake(e->client[i]);
}

/* Everybody is behind: what was not kept is one event that nobody can read any more. */
static void lose_all(struct events *e)
{
	while (e->oldest < e->next)
		forget_oldest(e);
	e->oldest = ++e->next;
}

static void add_row(struct events *e, unsigned topic, struct row *row)
{
	char *line = row_line(row);

	if (line)
		add_line(e, topic, line);
	else
		lose_all(e);
	row_free(row);
	wake(e, topic);
}

/* ---- routes ---- */

/* What is staged cannot be told event by event. */
static void lose_staged(struct router *r)
{
	events_discard(r);
	r->events->staged_lost = true;
}

void events_route(struct router *r, const char *what, const struct fib_prefix *p)
{
	struct events *e = r->events;
	struct fib_route route;
	struct row *row;
	char *line;

	if (!(watched(r) & ROUTE) || !fib_route_get(r->fib, p, FIB_STATIC, &route))
		return;
	if (e->staged_lost)
		return;
	row = event_row(what, "route");
	row_set_row(row, "route", route_row(r, &route));
	line = e->n_staged < EVENTS ? row_line(row) : NULL;
	row_free(row);
	if (line)
		e->staged[e->n_staged++] = line;
	else
		lose_staged(r);
}

void events_discard(struct router *r)
{
	struct events *e = r->events;

	while (e && e->n_staged)
		free(e->staged[--e->n_staged]);
	if (e)
		e->staged_lost = false;
}

void events_publish(struct router *r)
{
	struct events *e = r->events;

	if (!e || (!e->n_staged && !e->staged_lost))
		return;
	if (e->staged_lost)
		lose_all(e);
	e->staged_lost = false;
	for (unsigned i = 0; i < e->n_staged; i++)
		add_line(e, ROUTE, e->staged[i]);
	e->n_staged = 0;
	wake(e, ROUTE);
}

/* ---- ports, drops ---- */

static struct row *port_event(const char *what, const struct port *p)
{
	struct row *row = event_row(what, "port");

	row_set_row(row, "port", port_state_row(p));
	return row;
}

void events_port(struct router *r, const struct port *p)
{
	if (watched(r) & PORT)
		add_row(r->events, PORT, port_event("change", p));
}

static void add_drops(struct router *r, const struct port *p, const char *verdict,
		      const struct pkt_reason *reason, const uint64_t *is,
		      const uint64_t *was, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct row *row;

		if (is[i] == was[i])
			continue;
		row = event_row(verdict, "drop");
		row_set_text(row, "port", p->conf->name);
		row_set_text(row, "reason", reason[i].name);
		row_set_count(row, "packets", is[i] - was[i]);
		add_row(r->events, DROP, row);
	}
}

void events_tick(struct router *r)
{
	struct events *e = r->events;
	bool tell = watched(r) & DROP;

	if (!tell || time_ns() - e->ticked_ns < NS_PER_S)
		return;
	e->ticked_ns = time_ns();
	for (unsigned i = 0; i < r->n_ports; i++) {
		struct fwd_port_count is = port_sum(r, i), *was = &e->last[i];

		add_drops(r, &r->port[i], "drop", pkt_drop_reason, is.dropped,
			  was->dropped, PKT_DROP_COUNT);
		add_drops(r, &r->port[i], "punt", pkt_punt_reason, is.punted, was->punted,
			  PKT_PUNT_COUNT);
		*was = is;
	}
}

/* ---- monitors ---- */

struct monitor {
	unsigned topics;
	uint64_t at; /* number of the next event for it */
	bool syncing;
	bool listed_any;
	struct fib_route last; /* listed, while syncing */
	unsigned sent;
	struct client *client;
	struct router *router;
};

static bool list_route(void *arg, const struct fib_route *route)
{
	struct monitor *m = arg;
	struct row *row = event_row("is", "route");

	row_set_row(row, "route", route_row(m->router, route));
	client_row(m->client, row);
	m->last = *route;
	m->listed_any = true;
	return ++m->sent < PIECE;
}

static void begin_sync(struct monitor *m, const struct events *e)
{
	struct row *row = event_row("lost", "all");

	row_set_count(row, "events", e->oldest - m->at);
	client_row(m->client, row);
	m->at = e->next;
	m->syncing = true;
	m->listed_any = false;
}

/* A piece of what there is. */
static void sync(struct monitor *m)
{
	struct router *r = m->router;
	struct fib_route after = m->last;

	m->sent = 0;
	if (m->topics & ROUTE)
		fib_route_walk(r->fib, m->listed_any ? &after : NULL, list_route, m);
	if (m->sent == PIECE)
		return;
	for (unsigned i = 0; i < r->n_ports && m->topics & PORT; i++)
		client_row(m->client, port_event("is", &r->port[i]));
	client_row(m->client, event_row("synced", "all"));
	m->syncing = false;
}

/* Return: whether there was one. */
static bool send_event(struct monitor *m, const struct events *e)
{
	const struct event *ev = &e->log[m->at % EVENTS];

	if (m->at == e->next)
		return false;
	m->at++;
	if (ev->topic & m->topics && ev->line)
		client_line(m->client, ev->line);
	return true;
}

static enum client_next watch(struct client *c, struct router *r, void *state)
{
	const struct events *e = r->events;
	struct monitor *m = state;

	m->client = c;
	m->router = r;
	if (m->at < e->oldest && !m->syncing)
		begin_sync(m, e);
	if (m->syncing) {
		sync(m);
		return CLIENT_MORE;
	}
	for (unsigned i = 0; i < PIECE; i++)
		if (!send_event(m, e))
			return CLIENT_WAIT;
	return CLIENT_MORE;
}

static unsigned topic_of(const char *word)
{
	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		if (!strcmp(word, words[i].word))
			return words[i].topics;
	return 0;
}

static void subscribe(struct router *r, struct client *c, struct monitor *m)
{
	struct events *e = r->events;

	if (m->topics & DROP && !(watched(r) & DROP)) {
		for (unsigned i = 0; i < r->n_ports; i++)
			e->last[i] = port_sum(r, i);
		e->ticked_ns = time_ns();
	}
	/* Of the batch that is open it would hear the rest only. */
	if (m->topics & ROUTE && !(watched(r) & ROUTE) && r->batch_owner)
		e->staged_lost = true;
	m->at = e->next;
	e->client[e->n_clients] = c;
	e->topics[e->n_clients++] = m->topics;
	client_stream(c, watch, m);
}

void request_monitor(struct request *req)
{
	struct monitor *m = calloc(1, sizeof(*m));

	for (int i = 0; m && i < req->n; i++) {
		unsigned topics = topic_of(req->arg[i]);

		if (!topics) {
			client_error(req->client, -EINVAL, NULL,
				     "monitor %s: must be route, port, drop or all",
				     req->arg[i]);
			free(m);
			return;
		}
		m->topics |= topics;
	}
	if (!m) {
		client_error(req->client, -ENOMEM, NULL, "monitor: no memory");
		return;
	}
	m->topics = m->topics ? m->topics : ALL;
	subscribe(req->router, req->client, m);
}

void events_client_gone(struct router *r, const struct client *c)
{
	struct events *e = r->events;

	for (unsigned i = 0; e && i < e->n_clients; i++) {
		if (e->client[i] != c)
			continue;
		e->client[i] = e->client[--e->n_clients];
		e->topics[i] = e->topics[e->n_clients];
	}
	if (!(watched(r) & ROUTE))
		events_discard(r);
}

/* ---- life ---- */

int events_open(struct router *r, struct err *err)
{
	r->events = calloc(1, sizeof(*r->events));
	return r->events ? 0 : err_set(err, -ENOMEM, "no memory");
}

void events_close(struct router *r)
{
	struct events *e = r->events;

	if (!e)
		return;
	events_discard(r);
	while (e->oldest < e->next)
		forget_oldest(e);
	free(e);
	r->events = NULL;
}
