/* daemon/metrics.c - /metrics and its like: socket and pages */

#include "metrics.h"

#include <stdlib.h>
#include <string.h>

#include "../lib/base/cleanup.h"
#include "../lib/base/time.h"
#include "http.h"
#include "keep.h"
#include "listen.h"
#include "metrics_inside.h"
#include "peer.h"

struct metrics {
	struct listener listener;
	struct http *http;
};

/* ---- a scrape ---- */

static void look(enum collector who, int r, struct scrape *s)
{
	if (r < 0)
		s->failed |= UINT32_C(1) << who;
}

static void look_at_all(struct scrape *s)
{
	struct router *r = s->router;

	keep_fib_sizes(r, &s->fib);
	look(COLLECT_PROCESS, process_look(&s->process), s);
	for (unsigned i = 0; i < r->n_ports; i++)
		if (r->port[i].link.ifindex)
			look(COLLECT_CARD, card_look(r->port[i].link.name, &s->card[i]),
			     s);
}

char *metrics_scrape(struct router *r, enum metrics_form form, size_t *ret_bytes)
{
	struct scrape s = { .router = r, .started_ns = time_ns() };
	char *text = NULL;
	FILE *to = open_memstream(&text, ret_bytes);

	if (!to)
		return NULL;
	look_at_all(&s);
	metrics_write(to, form, metrics_table, metrics_table_rows, &s, &s.failed);
	keep_counters_told(r);
	if (fclose(to)) { /* half of it would be a lie */
		free(text);
		return NULL;
	}
	return text;
}

static void page_metrics(struct router *r, const char *accept, struct http_page *page)
{
	enum metrics_form form = metrics_accept(accept);

	page->body = metrics_scrape(r, form, &page->bytes);
	page->type = metrics_content_type(form);
}

/* ---- the other pages ---- */

static void set_text(struct http_page *page, unsigned status, const char *type,
		     const char *text)
{
	*page = (struct http_page){ .status = status,
				    .type = type,
				    .body = strdup(text),
				    .bytes = strlen(text) };
}

static void page_landing(struct router *r, const char *accept, struct http_page *page)
{
	(void)r;
	(void)accept;
	set_text(page, 200, "text/html; charset=utf-8",
		 "<!DOCTYPE html>\n<title>mlx5fwd</title>\n<h1>mlx5fwd " MLX5FWD_VERSION
		 "</h1>\n<ul>\n<li><a href=\"/metrics\">/metrics</a> for Prometheus\n"
		 "<li><a href=\"/-/healthy\">/-/healthy</a> the daemon answers\n"
		 "<li><a href=\"/-/ready\">/-/ready</a> every port forwards\n</ul>\n");
}

static void page_healthy(struct router *r, const char *accept, struct http_page *page)
{
	(void)r;
	(void)accept;
	set_text(page, 200, "text/plain; charset=utf-8", "healthy\n");
}

static void page_ready(struct router *r, const char *accept, struct http_page *page)
{
	bool ready = router_is_ready(r);

	(void)accept;
	set_text(page, ready ? 200 : 503, "text/plain; charset=utf-8",
		 ready ? "ready\n" : "not ready: a port does not forward\n");
}

static const struct {
	const char *path;
	void (*page)(struct router *r, const char *accept, struct http_page *page);
} pages[] = {
	{ "/", page_landing },
	{ "/metrics", page_metrics },
	{ "/-/healthy", page_healthy },
	{ "/-/ready", page_ready },
};

static void on_page(void *arg, const char *path, const char *accept,
		    struct http_page *page)
{
	for (size_t i = 0; i < ARRAY_LEN(pages); i++) {
		if (strcmp(path, pages[i].path) != 0)
			continue;
		pages[i].page(arg, accept, page);
		return;
	}
	set_text(page, 404, "text/plain; charset=utf-8", "there is no such page\n");
}

/* ---- life ---- */

static int start(struct router *r, struct metrics *m, struct err *err)
{
	struct listen_conf conf = { "metrics", "metrics socket", "metrics_listen",
				    r->conf.metrics_listen, .group = PEER_NO_GROUP };
	int ret = listen_open(&conf, err, &m->listener);

	if (ret < 0)
		return ret;
	ret = http_open(r->loop, m->listener.fd, on_page, r, &m->http);
	return ret < 0 ? err_set(err, ret, "metrics: HTTP: %s", strerror(-ret)) : 0;
}

int metrics_open(struct router *r, struct err *err)
{
	struct metrics *m;
	struct err why = { "" };

	if (!strcmp(r->conf.metrics_listen, "off"))
		return 0;
	m = calloc(1, sizeof(*m));
	if (!m)
		return err_set(err, -ENOMEM, "metrics: no memory");
	r->metrics = m;
	if (start(r, m, &why) < 0) {
		log_error("%s; going on without metrics", why.text);
		metrics_close(r);
	}
	return 0;
}

void metrics_close(struct router *r)
{
	if (!r->metrics)
		return;
	http_close(r->metrics->http);
	listen_close(&r->metrics->listener);
	free(r->metrics);
	r->metrics = NULL;
}

void metrics_tick(struct router *r)
{
	if (r->metrics)
		http_tick(r->metrics->http);
}
