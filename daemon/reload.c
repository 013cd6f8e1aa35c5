/* daemon/reload.c - the configuration file, read again while the daemon runs */

#include "reload.h"

#include <string.h>

#include "../lib/base/time.h"
#include "config_value.h"
#include "control.h"
#include "router.h"

/* ---- what can change; applying it cannot fail ---- */

static void apply_log_level(struct router *r, const struct config *c)
{
	r->conf.log_level = c->log_level;
	log_set_level(c->log_level);
}

static void apply_punt_limit(struct router *r, const struct config *c)
{
	r->conf.punt_rate_pps = c->punt_rate_pps;
	r->conf.punt_burst = c->punt_burst;
	exc_set_rate(r->exc, c->punt_rate_pps, c->punt_burst);
}

static void apply_tuning(struct router *r, const struct config *c)
{
	r->conf.idle = c->idle;
	r->conf.idle_spin_us = c->idle_spin_us;
	r->conf.idle_pause_us = c->idle_pause_us;
	r->conf.burst = c->burst;
	r->conf.latency_sample = c->latency_sample;
	workers_tune(r);
}

static void apply_control_group(struct router *r, const struct config *c)
{
	memcpy(r->conf.control_group, c->control_group, sizeof(c->control_group));
	control_set_group(r);
}

static void apply_readers_group(struct router *r, const struct config *c)
{
	memcpy(r->conf.readers_group, c->readers_group, sizeof(c->readers_group));
	control_set_readers_group(r);
}

static const struct {
	const char *key; /* of [daemon] */
	void (*apply)(struct router *r, const struct config *c);
} live[] = {
	{ "log_level", apply_log_level },
	{ "punt_rate", apply_punt_limit },
	{ "punt_burst", apply_punt_limit },
	{ "idle", apply_tuning },
	{ "idle_spin_us", apply_tuning },
	{ "idle_pause_us", apply_tuning },
	{ "burst", apply_tuning },
	{ "latency_sample", apply_tuning },
	{ "control_group", apply_control_group },
	{ "readers_group", apply_readers_group },
};
static_assert(ARRAY_LEN(live) <= 32, "struct comparison.rows has a bit each");

/* Return: its row, or ARRAY_LEN(live). */
static size_t find_row(const char *section, const char *key)
{
	size_t i = 0;

	while (i < ARRAY_LEN(live) &&
	       (strcmp(section, "daemon") != 0 || strcmp(key, live[i].key) != 0))
		i++;
	return i;
}

bool reload_knows(const char *section, const char *key)
{
	return find_row(section, key) < ARRAY_LEN(live);
}

bool reload_is_live(const struct config_key *key)
{
	return reload_knows(key->section, key->name);
}

/* ---- what differs ---- */

struct comparison {
	struct router *router;
	const struct config_said *file;
	const struct reload_ops *ops;
	uint32_t rows;	 /* of what can change and does, as bits */
	char fixed[300]; /* keys in the way, with commas between them */
};

__attribute__((format(printf, 2, 3))) static void in_the_way(struct comparison *c,
							     const char *fmt, ...)
{
	size_t n = strlen(c->fixed);
	va_list ap;

	if (n)
		n += (size_t)snprintf(c->fixed + n, sizeof(c->fixed) - n, ", ");
	if (n >= sizeof(c->fixed))
		return;
	va_start(ap, fmt);
	vsnprintf(c->fixed + n, sizeof(c->fixed) - n, fmt, ap);
	va_end(ap);
}

static void compare_key(void *arg, const struct config_line *is)
{
	struct comparison *c = arg;
	struct config_change change = { .is = *is, .live = reload_is_live(is->key) };

	if (!config_said_find(c->router->said, is, &change.was) ||
	    config_same_value(&change.was, is))
		return;
	if (change.live)
		c->rows |= UINT32_C(1) << find_row(is->key->section, is->key->name);
	else if (*is->port)
		in_the_way(c, "[port %s] %s", is->port, is->key->name);
	else
		in_the_way(c, "%s", is->key->name);
	if (c->ops && c->ops->change)
		c->ops->change(c->ops->arg, &change);
}

/* Ports of @some that @others has not. */
static void compare_ports(struct comparison *c, const struct config *some,
			  const struct config_said *others, bool come)
{
	for (unsigned i = 0; i < some->n_ports; i++) {
		if (config_said_has_port(others, some->port[i].name))
			continue;
		in_the_way(c, "[port %s]", some->port[i].name);
		if (c->ops && c->ops->port)
			c->ops->port(c->ops->arg, some->port[i].name, come);
	}
}

static void compare(struct comparison *c, const struct config *file)
{
	config_said_each(c->file, compare_key, c);
	compare_ports(c, &c->router->conf, c->file, false);
	compare_ports(c, file, c->router->said, true);
}

int reload_compare(struct router *r, const struct reload_ops *ops, struct err *err)
{
	struct comparison c = { .router = r, .ops = ops };
	struct config_said *said;
	struct config conf;
	int ret = config_read_said(r->config_path, &conf, &said, err);

	if (ret < 0)
		return ret;
	c.file = said;
	compare(&c, &conf);
	config_said_free(said);
	return 0;
}

/* ---- reload ---- */

/* What several keys have in common is done once. */
static void apply_rows(struct router *r, const struct config *conf, uint32_t rows)
{
	void (*done)(struct router *, const struct config *) = NULL;

	for (size_t i = 0; i < ARRAY_LEN(live); i++) {
		if (!(rows >> i & 1) || live[i].apply == done)
			continue;
		done = live[i].apply;
		done(r, conf);
	}
}

/* Looks first, without telling anybody, and then does. */
static int run(struct router *r, const struct config *conf, struct config_said *said,
	       const struct reload_ops *ops, struct err *err)
{
	struct comparison look = { .router = r, .file = said };
	struct comparison tell = { .router = r, .file = said, .ops = ops };

	compare(&look, conf);
	if (*look.fixed)
		return err_set(err, -EOPNOTSUPP,
			       "%s: only a restart can change %s; nothing was changed",
			       r->config_path, look.fixed);
	compare(&tell, conf);
	apply_rows(r, conf, look.rows);
	return 0;
}

static int read_and_run(struct router *r, const struct reload_ops *ops, struct err *err)
{
	struct config_said *said;
	struct config conf;
	int ret = config_read_said(r->config_path, &conf, &said, err);

	if (ret < 0)
		return ret;
	ret = run(r, &conf, said, ops, err);
	if (ret < 0) {
		config_said_free(said);
		return ret;
	}
	config_said_free(r->said);
	r->said = said;
	return 0;
}

void reload_note(struct router *r, bool done)
{
	struct timespec now;

	r->configured.refused = !done;
	if (!done)
		return;
	clock_gettime(CLOCK_REALTIME, &now);
	r->configured.read_s = (double)now.tv_sec + (double)now.tv_nsec / NS_PER_S;
}

int reload(struct router *r, const struct reload_ops *ops, struct err *err)
{
	int ret = read_and_run(r, ops, err);

	reload_note(r, !ret);
	return ret;
}
