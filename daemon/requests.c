/* daemon/requests.c - from words to the handler */

#include "requests.h"

#include <stdio.h>
#include <string.h>

#include "../lib/base/hot.h"
#include "router.h"

static const struct request_row rows[] = {
	{ "route add", REQUEST_WRITE, 2, 8, request_route_add },
	{ "route replace", REQUEST_WRITE, 2, 8, request_route_replace },
	{ "route del", REQUEST_WRITE, 1, 8, request_route_del },
	{ "route show", REQUEST_READ, 0, 4, request_route_show },
	{ "route get", REQUEST_READ, 1, 1, request_route_get },
	{ "begin", REQUEST_WRITE, 0, 0, request_begin },
	{ "commit", REQUEST_WRITE, 0, 0, request_commit },
	{ "abort", REQUEST_WRITE, 0, 0, request_abort },
	{ "port show", REQUEST_READ, 0, 1, request_port_show },
	{ "worker show", REQUEST_READ, 0, 0, request_worker_show },
	{ "drop show", REQUEST_READ, 0, 1, request_drop_show },
	{ "status", REQUEST_READ, 0, 0, request_status },
	{ "version", REQUEST_READ, 0, 0, request_version },
};

/* Number of words of @path that the line starts with, 0 = not this one. */
static int match(const char *path, char *words[], int n)
{
	char first[32] = "", second[32] = "";
	int parts = sscanf(path, "%31s %31s", first, second);

	if (n < parts || strcmp(words[0], first))
		return 0;
	return parts == 2 && strcmp(words[1], second) ? 0 : parts;
}

void request_run(struct router *r, struct client *c, char *words[], int n)
{
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const struct request_row *row = &rows[i];
		int parts = match(row->path, words, n);
		struct request req = { r, c, words + parts, n - parts };

		if (!parts)
			continue;
		if (req.n < row->min || req.n > row->max)
			client_error(c, -EINVAL, "%s: wrong number of words", row->path);
		else if (row->need == REQUEST_WRITE && !client_may_write(c))
			client_error(c, -EACCES, "%s: you may look but not change: not root, and not in the "
				     "control group", row->path);
		else
			row->run(&req);
		return;
	}
	client_error(c, -ENOSYS, "%s%s%s: unknown request", words[0], n > 1 ? " " : "",
		     n > 1 ? words[1] : "");
}

void request_client_gone(struct router *r, struct client *c) { routes_client_gone(r, c); }
