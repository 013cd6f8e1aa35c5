/* daemon/requests.c - from words to the handler */

#include "requests.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "../lib/base/hot.h"
#include "../lib/ctl/proto.h"
#include "events.h"
#include "requested.h"

enum need {
	READ,
	WRITE,
	READ_ALONE, /* with a word behind it, it changes something */
};

static const struct entry {
	const char *object, *verb; /* verb NULL: the object alone */
	enum need need;
	int min, max; /* words after them */
	void (*run)(struct request *req);
} requests[] = {
	{ "route", "add", WRITE, 2, CTL_ROUTE_WORDS_MAX, request_route_add },
	{ "route", "replace", WRITE, 2, CTL_ROUTE_WORDS_MAX, request_route_replace },
	{ "route", "append", WRITE, 2, CTL_ROUTE_WORDS_MAX, request_route_append },
	{ "route", "del", WRITE, 1, 2, request_route_del },
	{ "route", "flush", WRITE, 1, CTL_SELECT_WORDS_MAX, request_route_flush },
	{ "route", "show", READ, 0, CTL_SELECT_WORDS_MAX, request_route_show },
	{ "route", "summary", READ, 0, 0, request_route_summary },
	{ "route", "get", READ, 1, CTL_GET_WORDS_MAX, request_route_get },
	{ "nexthop", "show", READ, 0, 0, request_nexthop_show },
	{ "nexthop", "get", READ, 1, 1, request_nexthop_get },
	{ "begin", NULL, WRITE, 0, 1, request_begin },
	{ "commit", NULL, WRITE, 0, 1, request_commit },
	{ "abort", NULL, WRITE, 0, 0, request_abort },
	{ "config", "show", READ, 0, 0, request_config_show },
	{ "config", "diff", READ, 0, 0, request_config_diff },
	{ "config", "check", READ, 0, 0, request_config_check },
	{ "reload", NULL, WRITE, 0, 0, request_reload },
	{ "log", "level", READ_ALONE, 0, 1, request_log_level },
	{ "port", "show", READ, 0, 1, request_port_show },
	{ "port", "reset", WRITE, 0, 1, request_port_reset },
	{ "worker", "show", READ, 0, 0, request_worker_show },
	{ "drop", "show", READ, 0, 1, request_drop_show },
	{ "drop", "reset", WRITE, 0, 1, request_drop_reset },
	{ "metrics", "show", READ, 0, 0, request_metrics_show },
	{ "monitor", NULL, READ, 0, 4, request_monitor },
	/* Packets of others are not for all who may look. */
	{ "trace", "start", WRITE, 0, CTL_TRACE_WORDS_MAX, request_trace_start },
	{ "trace", "show", WRITE, 0, 0, request_trace_show },
	{ "trace", "status", READ, 0, 0, request_trace_status },
	{ "trace", "stop", WRITE, 0, 0, request_trace_stop },
	{ "status", NULL, READ, 0, 0, request_status },
	{ "version", NULL, READ, 0, 0, request_version },
};

static_assert(ARRAY_LEN(requests) < REQUEST_KINDS_MAX,
	      "and one for what is none of them");

unsigned request_kinds(void)
{
	return ARRAY_LEN(requests) + 1;
}

const char *request_object(unsigned kind)
{
	return kind < ARRAY_LEN(requests) ? requests[kind].object : "other";
}

const char *request_verb(unsigned kind)
{
	const char *verb = kind < ARRAY_LEN(requests) ? requests[kind].verb : NULL;

	return verb ? verb : "";
}

static const struct entry *find(char *const words[], int n)
{
	for (size_t i = 0; i < ARRAY_LEN(requests); i++) {
		const struct entry *e = &requests[i];

		if (strcmp(words[0], e->object) != 0)
			continue;
		if (!e->verb || (n > 1 && !strcmp(words[1], e->verb)))
			return e;
	}
	return NULL;
}

/* The request's own words as one text. */
static const char *name(char *const words[], int own, char *text, size_t size)
{
	snprintf(text, size, "%s%s%s", words[0], own > 1 ? " " : "",
		 own > 1 ? words[1] : "");
	return text;
}

static bool changes(const struct entry *e, const struct request *req)
{
	return e->need == WRITE || (e->need == READ_ALONE && req->n);
}

void request_run(struct router *r, struct client *c, char *words[], int n)
{
	const struct entry *e = find(words, n);
	int own = n > 1 && (!e || e->verb) ? 2 : 1;
	struct request req = { r, c, words + own, n - own };
	char text[200];

	name(words, own, text, sizeof(text));
	client_begins(c, e ? (unsigned)(e - requests) : ARRAY_LEN(requests));
	if (!e)
		client_error(c, -ENOSYS, NULL, "%s: unknown request", text);
	else if (req.n < e->min || req.n > e->max)
		client_error(c, -EINVAL, NULL, "%s: %d to %d words must follow, not %d",
			     text, e->min, e->max, req.n);
	else if (changes(e, &req) && !client_may_write(c))
		client_error(
			c, -EPERM,
			"be root or in the control group, and use the control socket",
			"%s: you may look but not change", text);
	else
		e->run(&req);
}

void request_client_gone(struct router *r, const struct client *c)
{
	batch_client_gone(r, c);
	events_client_gone(r, c);
}

void request_stream_ended(struct router *r, const struct client *c)
{
	events_client_gone(r, c);
}
