/* daemon/keep_routes.c - static routes outlive the daemon
 *
 *   IDLE -changed, and then quiet or waited for long enough-> WALK -all seen-> DISK -done-> IDLE
 *
 * WALK: the routes are written to a file in pieces, a few milliseconds a tick. A change meanwhile
 * begins it anew, so a file never has half of one; one that was overtaken TRIES times is written in
 * one go. DISK: a thread waits for the disk, which may take its time, and puts the file in its
 * place.
 */

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../lib/base/time.h"
#include "../lib/ctl/saved.h"
#include "keep_inside.h"
#include "mac.h"
#include "restore.h"
#include "route_words.h"
#include "show.h"

#define QUIET_NS  (1 * NS_PER_S)   /* since the last change */
#define LONG_NS	  (3 * NS_PER_S)   /* since the first */
#define RETRY_NS  (10 * NS_PER_S)  /* after an error */
#define BUDGET_NS (10 * NS_PER_MS) /* of a tick */
enum { TRIES = 3, PIECE = 256 };

static const struct state_kind kind = { "routes", 1 };

struct keep_routes {
	uint64_t first_ns, last_ns; /* changes that are not on the disk; 0 = none */
	uint64_t not_before_ns;
	bool failed; /* was said */
	/* WALK */
	struct state_writer writer;
	bool walks;
	unsigned overtaken;
	struct fib_route at;
	bool begun;
	/* DISK */
	pthread_t thread;
	bool waits;
	atomic_bool done;
	int r; /* of the thread, when it is done */
};

/* ---- a route as a line ---- */

static void save_hop(struct saved *s, const struct router *r, const struct fib_nh *nh,
		     uint32_t weight)
{
	char mac[MAC_TEXT];
	const struct saved_hop h = { mac_text(nh->macs, mac),
				     r->port[nh->port].conf->name, nh->vlan, weight };

	saved_hop(s, &h);
}

static void save_legs(struct saved *s, const struct router *r, uint32_t index)
{
	struct shown_leg leg[FIB_GROUP_LEGS];
	uint32_t n = legs_in_order(r, index, leg);

	for (uint32_t i = 0; i < n; i++)
		save_hop(s, r, leg[i].nh, leg[i].leg->weight);
}

static void save(struct saved *s, const struct router *r, const struct fib_route *route)
{
	const struct fib_nh *nh = fib_nh_at(r->fib, route->nh);
	char dst[FIB_PREFIX_TEXT];

	saved_begin(s, fib_prefix_text(&route->prefix, dst));
	if (nh->kind == FIB_NH_GROUP)
		save_legs(s, r, route->nh);
	else if (nh->kind == FIB_NH_FORWARD)
		save_hop(s, r, nh, 0);
	else
		saved_type(s, route_kind_word(nh->kind));
	saved_end(s, route->metric);
}

/* ---- WALK ---- */

struct piece {
	struct router *router;
	struct keep_routes *k;
	uint64_t until_ns; /* 0 = to the end */
	unsigned n;
	bool full;
};

static bool write_route(void *arg, const struct fib_route *route)
{
	struct piece *p = arg;
	struct saved s;

	if (route->origin == FIB_STATIC) {
		save(&s, p->router, route);
		p->k->writer.r = p->k->writer.r ? p->k->writer.r : s.r;
		state_line(&p->k->writer, s.line);
	}
	p->k->at = *route;
	p->k->begun = true;
	p->full = p->until_ns && ++p->n % PIECE == 0 && time_ns() >= p->until_ns;
	return !p->full;
}

/* Return: whether that was all. */
static bool walk(struct router *r, struct keep_routes *k, uint64_t until_ns)
{
	struct piece p = { .router = r, .k = k, .until_ns = until_ns };
	struct fib_route after = k->at;

	fib_route_walk(r->fib, k->begun ? &after : NULL, write_route, &p);
	return !p.full;
}

static void settle(struct router *r, int ret)
{
	struct keep_routes *k = r->keep->routes;
	uint64_t now = time_ns();

	if (ret < 0) {
		if (!k->failed)
			log_error("%s: routes cannot be kept: %s", r->keep->folder,
				  strerror(-ret));
		k->first_ns = k->first_ns ? k->first_ns : now;
		k->not_before_ns = now + RETRY_NS;
	} else if (k->failed) {
		log_notice("%s: routes are kept again", r->keep->folder);
	}
	k->failed = ret < 0;
}

static void begin(struct router *r)
{
	struct keep_routes *k = r->keep->routes;
	int ret = state_begin(&k->writer, r->keep->dir, &kind);

	k->walks = !ret;
	k->begun = false;
	if (ret < 0)
		settle(r, ret);
}

/* ---- DISK ---- */

static void *wait_for_disk(void *arg)
{
	struct keep_routes *k = arg;

	k->r = state_publish(&k->writer, true);
	atomic_store(&k->done, true);
	return NULL;
}

static void hand_over(struct router *r)
{
	struct keep_routes *k = r->keep->routes;
	int ret;

	k->walks = false;
	k->overtaken = 0;
	k->first_ns = 0;
	atomic_store(&k->done, false);
	ret = -pthread_create(&k->thread, NULL, wait_for_disk, k);
	k->waits = !ret;
	if (!ret)
		return;
	state_abandon(&k->writer);
	settle(r, ret);
}

static void join(struct router *r)
{
	struct keep_routes *k = r->keep->routes;

	pthread_join(k->thread, NULL);
	k->waits = false;
	settle(r, k->r);
}

/* ---- when ---- */

static bool is_due(const struct keep_routes *k, uint64_t now)
{
	return k->first_ns && now >= k->not_before_ns &&
	       (now - k->last_ns >= QUIET_NS || now - k->first_ns >= LONG_NS);
}

void keep_routes_tick(struct router *r)
{
	struct keep_routes *k = r->keep->routes;
	uint64_t now = time_ns();

	if (!k || (k->waits && !atomic_load(&k->done)))
		return;
	if (k->waits)
		join(r);
	if (!k->walks && is_due(k, now))
		begin(r);
	if (k->walks && walk(r, k, k->overtaken < TRIES ? now + BUDGET_NS : 0))
		hand_over(r);
}

void keep_routes_changed(struct router *r)
{
	struct keep_routes *k = r->keep ? r->keep->routes : NULL;

	if (!k)
		return;
	k->last_ns = time_ns();
	k->first_ns = k->first_ns ? k->first_ns : k->last_ns;
	if (!k->walks)
		return;
	state_abandon(&k->writer);
	k->walks = false;
	k->overtaken++;
}

/* ---- start, stop ---- */

struct restoring {
	struct router *router;
	unsigned n;
};

static int restore_line(void *arg, char *line, struct err *err)
{
	char *words[CTL_WORDS_MAX];
	struct restoring *s = arg;
	int n = ctl_split(line, words);

	s->n++;
	if (n < 4 || strcmp(words[0], "route") != 0 || strcmp(words[1], "add") != 0)
		return err_set(err, -EBADMSG, "not \"route add PREFIX ...\"");
	return route_stage_add(s->router, words + 2, n - 2, err);
}

static int restore(struct router *r, struct keep *k, unsigned *n, struct err *err)
{
	struct restoring s = { .router = r };
	const struct state_reader reader = { &kind, restore_line, &s };
	char path[150];
	int ret;

	keep_path(k, &kind, path, sizeof(path));
	ret = state_read(k->dir, path, &reader, err);
	if (!ret) {
		ret = fib_commit(r->fib);
		if (ret < 0)
			err_set(err, ret, "%s: %s", path, strerror(-ret));
	} else {
		fib_abort(r->fib);
	}
	*n = s.n;
	return ret;
}

int keep_routes_open(struct router *r, struct keep *k)
{
	struct err err = { "" };
	unsigned n;
	int ret = restore(r, k, &n, &err);

	if (!ret)
		log_notice("%u static routes of %s/%s are there again", n, k->folder,
			   kind.name);
	if (ret < 0 && ret != -ENOENT &&
	    keep_refuse(k, &kind, &err, "the router starts WITHOUT its static routes") <
		    0)
		return 0;
	k->routes = calloc(1, sizeof(*k->routes));
	return k->routes ? 0 : -ENOMEM;
}

void keep_routes_close(struct router *r)
{
	struct keep_routes *k = r->keep->routes;

	if (!k)
		return;
	if (k->waits)
		join(r);
	if (k->walks)
		state_abandon(&k->writer);
	if (k->first_ns) {
		begin(r);
		if (k->walks) {
			walk(r, k, 0);
			settle(r, state_publish(&k->writer, true));
		}
	}
	free(k);
	r->keep->routes = NULL;
}
