/* daemon/batch.c - several changes as one */

#include "batch.h"

#include <stdlib.h>
#include <string.h>

#include "../lib/base/time.h"
#include "../lib/ctl/proto.h"
#include "events.h"
#include "keep.h"
#include "requests.h"
#include "restore.h"
#include "router.h"

const char batch_restore_takes[] = "a restore takes route add and route replace only";

static void close_batch(struct router *r)
{
	if (r->restore)
		prefix_list_free(&r->restore->named);
	free(r->restore);
	r->restore = NULL;
	r->batch_owner = NULL;
}

bool batch_of_others(struct request *req)
{
	struct client *owner = req->router->batch_owner;

	if (!owner || owner == req->client)
		return false;
	if (client_quiet_ns(owner) < CTL_BATCH_IDLE_S * NS_PER_S) {
		client_error(req->client, -EBUSY, "try again",
			     "another client's batch is open");
		return true;
	}
	log_warning(
		"control: a client left its batch open and said nothing for %d s; its "
		"changes are given up",
		CTL_BATCH_IDLE_S);
	client_close(owner);
	return false;
}

/* Tells what came of the changes. */
static void settle(struct router *r, bool done)
{
	if (done) {
		events_publish(r);
		keep_routes_changed(r);
	} else {
		events_discard(r);
	}
}

/* Workers' next bursts see it when it is done. */
static int commit(struct router *r)
{
	size_t changes = fib_staged(r->fib);
	int ret = fib_commit(r->fib);

	if (changes && !ret)
		requested_commit(&r->requested, time_ns() - r->requested.arrived_ns);
	return ret;
}

int batch_changed(struct router *r)
{
	int ret = r->batch_owner ? 0 : commit(r);

	if (!r->batch_owner)
		settle(r, !ret);
	return ret;
}

void batch_give_up(struct router *r)
{
	fib_abort(r->fib);
	events_discard(r);
}

bool batch_restores(const struct router *r)
{
	return r->restore;
}

int batch_put(struct router *r, const struct fib_prefix *p, bool was_there, bool same)
{
	struct restore *s = r->restore;

	if (!s)
		return 0;
	if (!was_there)
		s->added++;
	else if (same)
		s->unchanged++;
	else
		s->changed++;
	return prefix_list_add(&s->named, p);
}

/* ---- requests ---- */

void request_begin(struct request *req)
{
	struct router *r = req->router;
	bool restores = req->n && !strcmp(req->arg[0], "restore");

	if (batch_of_others(req))
		return;
	if (r->batch_owner) {
		client_error(req->client, -EALREADY, NULL,
			     "begin: your batch is open already");
		return;
	}
	if (req->n && !restores) {
		client_error(req->client, -EINVAL, NULL, "begin %s: must be restore",
			     req->arg[0]);
		return;
	}
	r->restore = restores ? calloc(1, sizeof(*r->restore)) : NULL;
	if (restores && !r->restore) {
		client_error(req->client, -ENOMEM, NULL, "begin: no memory");
		return;
	}
	r->batch_owner = req->client;
	client_ok(req->client);
}

static bool is_own(struct request *req, const char *what)
{
	if (req->router->batch_owner == req->client)
		return true;
	client_error(req->client, -EINVAL, NULL, "%s: no batch of yours is open", what);
	return false;
}

static int finish(struct router *r, bool dry, struct err *err)
{
	int ret = r->restore ? restore_finish(r->restore, r, err) : 0;

	if (ret < 0)
		fib_abort(r->fib);
	else
		ret = dry ? fib_try(r->fib) : commit(r);
	settle(r, !ret && !dry);
	if (ret < 0 && !*err->text)
		err_set(err, ret, "%s", strerror(-ret));
	return ret;
}

void request_commit(struct request *req)
{
	struct router *r = req->router;
	bool dry = req->n && !strcmp(req->arg[0], "--dry-run");
	struct err err = { "" };
	struct row *counts;
	int ret;

	if (!is_own(req, "commit"))
		return;
	if (req->n && !dry) {
		client_error(req->client, -EINVAL, NULL, "commit %s: must be --dry-run",
			     req->arg[0]);
		return;
	}
	ret = finish(r, dry, &err);
	if (ret < 0) {
		client_error(req->client, ret, NULL, "commit: %s; nothing was changed",
			     err.text);
	} else {
		counts = r->restore ? row_new() : NULL;
		if (r->restore) {
			restore_counts(r->restore, counts);
			client_row(req->client, counts);
		}
		client_ok(req->client);
	}
	close_batch(r);
}

void request_abort(struct request *req)
{
	if (!is_own(req, "abort"))
		return;
	close_batch(req->router);
	batch_give_up(req->router);
	client_ok(req->client);
}

void batch_client_gone(struct router *r, const struct client *c)
{
	if (r->batch_owner != c)
		return;
	close_batch(r);
	batch_give_up(r);
}
