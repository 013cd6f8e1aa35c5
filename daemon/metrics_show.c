/* daemon/metrics_show.c - metrics show: what Prometheus would read, a row a sample */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "metrics_inside.h"
#include "requests.h"

struct samples {
	size_t at;
	char text[]; /* lines */
};

static enum client_next one_sample(struct client *c, struct router *r, void *state)
{
	struct samples *s = state;
	char *line = s->text + s->at, *end = strchr(line, '\n');

	(void)r;
	if (!end) {
		client_ok(c);
		return CLIENT_DONE;
	}
	*end = '\0';
	s->at = (size_t)(end + 1 - s->text);
	client_line(c, line);
	return CLIENT_MORE;
}

static struct samples *samples_now(struct router *r)
{
	size_t bytes;
	char *text = metrics_scrape(r, METRICS_ROWS, &bytes);
	struct samples *s = text ? malloc(sizeof(*s) + bytes + 1) : NULL;

	if (s) {
		s->at = 0;
		memcpy(s->text, text, bytes + 1);
	}
	free(text);
	return s;
}

void request_metrics_show(struct request *req)
{
	struct samples *s = samples_now(req->router);

	if (s)
		client_stream(req->client, one_sample, s);
	else
		client_error(req->client, -ENOMEM, NULL, "metrics show: no memory");
}
