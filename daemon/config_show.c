/* daemon/config_show.c - requests about the configuration */

#include <string.h>

#include "config_said.h"
#include "config_value.h"
#include "log.h"
#include "reload.h"
#include "requests.h"
#include "router.h"

static void set_section(struct row *row, const char *section, const char *port)
{
	row_set_text(row, "section", section);
	if (*port)
		row_set_text(row, "port", port);
}

/* ---- config show, check, diff ---- */

static void show_line(void *arg, const struct config_line *line)
{
	struct row *row = row_new();

	set_section(row, line->section, line->port);
	row_set_text(row, "key", line->key->name);
	row_set_text(row, "value", line->value);
	row_set_text(row, "default", line->key->def);
	row_set_flag(row, "said", line->said);
	row_set_flag(row, "live", reload_is_live(line->key));
	client_row(arg, row);
}

void request_config_show(struct request *req)
{
	config_said_each(req->router->said, show_line, req->client);
	client_ok(req->client);
}

static void diff_key(void *arg, const struct config_change *c)
{
	struct row *row = row_new();

	set_section(row, c->is.section, c->is.port);
	row_set_text(row, "key", c->is.key->name);
	row_set_text(row, "runs", c->was.value);
	row_set_text(row, "file", c->is.value);
	row_set_flag(row, "live", c->live);
	client_row(arg, row);
}

static void diff_port(void *arg, const char *port, bool comes)
{
	struct row *row = row_new();

	set_section(row, "port", port);
	row_set_text(row, "runs", comes ? "no" : "yes");
	row_set_text(row, "file", comes ? "yes" : "no");
	row_set_flag(row, "live", false);
	client_row(arg, row);
}

static void answer(struct request *req, int r, const struct err *err, const char *hint)
{
	if (r < 0)
		client_error(req->client, r, hint, "%s", err->text);
	else
		client_ok(req->client);
}

void request_config_diff(struct request *req)
{
	struct reload_ops ops = { req->client, diff_key, diff_port };
	struct err err = { "no memory" };

	answer(req, reload_compare(req->router, &ops, &err), &err, NULL);
}

void request_config_check(struct request *req)
{
	struct err err = { "no memory" };
	struct config_said *said;
	struct config conf;
	int r = config_read_said(req->router->config_path, &conf, &said, &err);

	if (!r)
		config_said_free(said);
	answer(req, r, &err, NULL);
}

/* ---- reload, log level ---- */

void request_reload(struct request *req)
{
	struct reload_ops ops = { req->client, diff_key, diff_port };
	struct err err = { "no memory" };
	int r = reload(req->router, &ops, &err);

	log_notice("reload: %s", r < 0 ? err.text : "done");
	answer(req, r, &err,
	       r == -EOPNOTSUPP ? "\"config diff\" shows what differs" : NULL);
}

void request_log_level(struct request *req)
{
	enum log_level level;
	struct row *row;

	if (!req->n) {
		row = row_new();
		row_set_text(row, "level", log_level_name(log_level()));
		client_row(req->client, row);
		client_ok(req->client);
	} else if (!log_level_parse(req->arg[0], &level)) {
		client_error(
			req->client, -EINVAL, NULL,
			"log level %s: must be error, warning, notice, info or debug",
			req->arg[0]);
	} else {
		log_set_level(level); /* until it is set again, or a restart */
		log_notice("log level: %s", log_level_name(level));
		client_ok(req->client);
	}
}
