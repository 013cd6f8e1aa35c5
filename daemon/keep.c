/* daemon/keep.c - what outlives the daemon: the folder, start and stop */

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "keep_inside.h"

#define FOLDER "/var/lib/mlx5fwd"

void keep_path(const struct keep *k, const struct state_kind *kind, char *path,
	       size_t size)
{
	snprintf(path, size, "%s/%s", k->folder, kind->name);
}

int keep_refuse(const struct keep *k, const struct state_kind *kind,
		const struct err *why, const char *effect)
{
	int r = state_put_aside(k->dir, kind);

	if (!r)
		log_error("%s; %s; the file is %s/%s.refused now", why->text, effect,
			  k->folder, kind->name);
	else
		log_error(
			"%s; %s; nor can it be put aside (%s), so nothing is kept of %s",
			why->text, effect, strerror(-r), kind->name);
	return r;
}

/* systemd.exec(5), StateDirectory=: several are separated by colons; ours comes first. */
static void choose_folder(const struct config *c, char folder[108])
{
	const char *theirs = getenv("STATE_DIRECTORY");
	size_t n = theirs ? strcspn(theirs, ":") : 0;

	if (strcmp(c->state_directory, "auto") != 0)
		snprintf(folder, 108, "%s", c->state_directory);
	else if (theirs && *theirs == '/' && n < 108)
		snprintf(folder, 108, "%.*s", (int)n, theirs);
	else
		snprintf(folder, 108, "%s", FOLDER);
}

int keep_open(struct router *r, struct err *err)
{
	struct err why = { "" };
	struct keep *k;
	int ret = 0;

	if (!r->conf.keep_routes && !r->conf.keep_counters)
		return 0;
	k = calloc(1, sizeof(*k));
	if (!k)
		return err_set(err, -ENOMEM, "state: no memory");
	k->dir = -1;
	r->keep = k;
	choose_folder(&r->conf, k->folder);
	if (state_open(k->folder, &why, &k->dir) < 0) {
		log_error("%s; neither routes nor counters are kept", why.text);
		return 0;
	}
	if (r->conf.keep_routes)
		ret = keep_routes_open(r, k);
	if (!ret && r->conf.keep_counters)
		ret = keep_counters_open(r, k);
	return ret < 0 ? err_set(err, ret, "state: %s", strerror(-ret)) : 0;
}

void keep_tick(struct router *r)
{
	if (!r->keep)
		return;
	keep_routes_tick(r);
	keep_counters_tick(r);
}

void keep_close(struct router *r)
{
	struct keep *k = r->keep;

	if (!k)
		return;
	keep_routes_close(r);
	keep_counters_close(r);
	if (k->dir >= 0)
		close(k->dir);
	free(k);
	r->keep = NULL;
}
